/* SPDX-License-Identifier: MIT
 *
 * From the axis values of a point to numbers and to the order of issue. */
#include "micro/streams/geometry.h"

#include <stddef.h>

const char *const streams_stage_names[STREAMS_STAGE_COUNT] = {
    [STREAMS_IN] = "copy in", [STREAMS_KERNEL] = "kernel", [STREAMS_OUT] = "copy out", [STREAMS_BARRIER] = "barrier"};

static const uint64_t size_auto_bytes = UINT64_C(64) << 20;

static const struct {
    bool in, kernel, out;
} stages_have[] = {
    [STREAMS_PIPELINE] = {true, true, true},      [STREAMS_ONLY_IN] = {true, false, false},
    [STREAMS_ONLY_OUT] = {false, false, true},    [STREAMS_BOTH_WAYS] = {true, false, true},
    [STREAMS_ONLY_KERNEL] = {false, true, false},
};

/* One stage alone is issued in the same order either way, and only a kernel works. */
static const struct ub_axis_owner owners[] = {
    {STREAMS_ORDER, STREAMS_DEPTH, STREAMS_STAGES, 1u << STREAMS_PIPELINE | 1u << STREAMS_BOTH_WAYS,
     "order is of stages=pipeline and stages=both only: one stage has but one order (leave it at depth)"},
    {STREAMS_WORK, 64, STREAMS_STAGES, 1u << STREAMS_PIPELINE | 1u << STREAMS_ONLY_KERNEL,
     "work is of stages=pipeline and stages=kernel only: copies compute nothing (leave it at 64)"},
};
const struct ub_axis_owners streams_owners = {sizeof owners / sizeof owners[0], owners};

static const char *why_not(const struct ub_gpu *gpu, const struct streams_geometry *g)
{
    const char *refused = g->has_kernel ? ub_gpu_block_refused(gpu, STREAMS_BLOCK, 0, 0) : NULL;
    if (refused != NULL)
        return refused;
    const uint64_t unit = g->has_kernel ? STREAMS_BLOCK_BYTES : STREAMS_CHUNK_BYTES;
    if (g->size_bytes % (unit * g->segments) != 0)
        return g->has_kernel ? "segments are whole blocks: size must be a multiple of segments x 4 KiB"
                             : "segments are whole chunks: size must be a multiple of segments x 16 bytes";
    if (g->has_kernel && g->streams > g->segments)
        return "a stream without a segment does nothing: choose at least as many segments as streams";
    if (g->stages == STREAMS_BOTH_WAYS && (g->streams < 2 || g->streams % 2 != 0))
        return "stages=both halves the streams, one half a direction: choose an even number of them";
    if (g->barriers && g->stages != STREAMS_PIPELINE)
        return "between=kernel needs stages=pipeline";
    return NULL;
}

const char *streams_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct streams_geometry *out)
{
    const int64_t *v = point->values;
    struct streams_geometry g = {
        .stages = (enum streams_stages)v[STREAMS_STAGES],
        .host = (enum streams_host)v[STREAMS_HOST],
        .order = (enum streams_order)v[STREAMS_ORDER],
        .queue = (enum streams_queue)v[STREAMS_QUEUE],
        .barriers = v[STREAMS_BETWEEN] == STREAMS_EMPTY_KERNEL,
        .streams = (uint32_t)v[STREAMS_STREAMS],
        .segments = (uint32_t)(v[STREAMS_SEGMENTS] != 0 ? v[STREAMS_SEGMENTS] : v[STREAMS_STREAMS]),
        .work = (uint32_t)v[STREAMS_WORK],
        .size_bytes = v[STREAMS_SIZE] != 0 ? (uint64_t)v[STREAMS_SIZE] : size_auto_bytes,
    };
    g.has_in = stages_have[g.stages].in;
    g.has_kernel = stages_have[g.stages].kernel;
    g.has_out = stages_have[g.stages].out;
    g.segment_bytes = g.size_bytes / g.segments;
    *out = g;
    const char *ignored = ub_axis_ignored(&streams_owners, point);
    return ignored != NULL ? ignored : why_not(gpu, &g);
}

int streams_buffer_index(const struct streams_geometry *g, enum streams_buffer buffer)
{
    const bool present[STREAMS_BUFFERS] = {
        [STREAMS_HOST_IN] = g->has_in,
        [STREAMS_DEVICE_IN] = g->has_in || g->has_kernel,
        [STREAMS_DEVICE_OUT] = g->has_out || g->has_kernel,
        [STREAMS_HOST_OUT] = g->has_out,
    };
    int index = 0;
    for (int i = 0; i < (int)buffer; i++)
        index += present[i];
    return present[buffer] ? index : -1;
}

/* In the legacy default stream all the others are one. */
static uint16_t stream_of(const struct streams_geometry *g, uint32_t segment, enum streams_stage stage)
{
    if (g->queue == STREAMS_LEGACY)
        return STREAMS_DEFAULT_STREAM;
    if (g->stages != STREAMS_BOTH_WAYS)
        return (uint16_t)(segment % g->streams);
    const uint32_t half = g->streams / 2;
    return (uint16_t)(segment % half + (stage == STREAMS_OUT ? half : 0));
}

static uint32_t add(const struct streams_geometry *g, enum streams_stage stage, uint32_t segment,
                    struct streams_op *ops, uint32_t count)
{
    const bool present[] = {[STREAMS_IN] = g->has_in, [STREAMS_KERNEL] = g->has_kernel, [STREAMS_OUT] = g->has_out};
    if (!present[stage])
        return count;
    ops[count] = (struct streams_op){(uint16_t)stage, (uint16_t)segment, stream_of(g, segment, stage)};
    return count + 1;
}

/* Depth first: all of a segment, then the next. Breadth first: as many segments as there are
 * streams go together, stage by stage. */
uint32_t streams_plan(const struct streams_geometry *g, struct streams_op *ops)
{
    const uint32_t together = g->order == STREAMS_BREADTH ? g->streams : 1;
    uint32_t count = 0;
    for (uint32_t first = 0; first < g->segments; first += together) {
        const uint32_t end = first + together < g->segments ? first + together : g->segments;
        for (int stage = STREAMS_IN; stage <= STREAMS_OUT; stage++)
            for (uint32_t segment = first; segment < end; segment++)
                count = add(g, (enum streams_stage)stage, segment, ops, count);
        if (g->barriers)
            ops[count++] = (struct streams_op){STREAMS_BARRIER, (uint16_t)(end - 1), STREAMS_DEFAULT_STREAM};
    }
    return count;
}

uint32_t streams_blocks(const struct streams_geometry *g)
{
    return g->has_kernel ? (uint32_t)(g->segment_bytes / STREAMS_BLOCK_BYTES) : 0;
}
