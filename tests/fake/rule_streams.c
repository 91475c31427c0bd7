/* SPDX-License-Identifier: MIT
 *
 * `streams` over the fake device: the operations of the plan one after the other. Only small
 * instances are computed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "micro/streams/rule.h"
#include "tests/fake/fake.h"

extern const struct ub_micro ub_micro_streams;
extern const struct ub_code fake_code_streams;

enum { INVALID_VALUE = 1, COMPUTED_WORK = 256 };

static const uint64_t computed_bytes = UINT64_C(1) << 20;

static void execute_op(const struct streams_geometry *g, char *const at[STREAMS_BUFFERS], const struct streams_op *op)
{
    const uint64_t offset = op->segment * g->segment_bytes;
    if (op->stage == STREAMS_IN)
        memcpy(at[STREAMS_DEVICE_IN] + offset, at[STREAMS_HOST_IN] + offset, g->segment_bytes);
    if (op->stage == STREAMS_OUT)
        memcpy(at[STREAMS_HOST_OUT] + offset, at[STREAMS_DEVICE_OUT] + offset, g->segment_bytes);
    for (uint64_t i = 0; op->stage == STREAMS_KERNEL && i < g->segment_bytes; i += sizeof(float)) {
        float x;
        memcpy(&x, at[STREAMS_DEVICE_IN] + offset + i, sizeof x);
        for (uint32_t n = 0; n < g->work; n++)
            x = fmaf(x, x, -1.90625f);
        memcpy(at[STREAMS_DEVICE_OUT] + offset + i, &x, sizeof x);
    }
}

static int launch(const struct ub_launch *launch)
{
    struct streams_geometry g;
    struct streams_op ops[STREAMS_MAX_OPS];
    char *at[STREAMS_BUFFERS];
    bool execute = false;
    if (streams_resolve(launch->gpu, launch->point, &g) != NULL || !launch->state)
        return INVALID_VALUE;
    const int code = fake_begin(&ub_micro_streams, launch, &execute);
    if (code != 0 || !execute || !launch->checked || g.size_bytes > computed_bytes || g.work > COMPUTED_WORK)
        return code;
    for (int i = 0; i < STREAMS_BUFFERS; i++) {
        const int index = streams_buffer_index(&g, (enum streams_buffer)i);
        at[i] = index < 0 ? NULL : launch->buffers->pointers[index];
    }
    const uint32_t count = streams_plan(&g, ops);
    for (uint32_t i = 0; i < count; i++)
        execute_op(&g, at, &ops[i]);
    if (fake_fault_at("wrong", &ub_micro_streams, launch->point))
        at[g.has_out ? STREAMS_HOST_OUT : g.has_kernel ? STREAMS_DEVICE_OUT : STREAMS_DEVICE_IN][0] ^= 1;
    return 0;
}

static int reference(const struct ub_launch *launch)
{
    (void)launch;
    return 0;
}

static void describe(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_kernel *out)
{
    struct streams_geometry g;
    *out = (struct ub_kernel){.function = &ub_micro_streams, .name = "stage"};
    if (streams_resolve(gpu, point, &g) != NULL)
        return;
    fake_shape(out, streams_blocks(&g), STREAMS_BLOCK);
}

static int prepare(const struct ub_launch *launch, struct ub_prepared *out)
{
    (void)launch;
    out->state = malloc(1);
    return out->state ? 0 : 2;
}

/* As the law has it. */
static int timeline(const struct ub_launch *launch, struct ub_timeline *out)
{
    struct ub_constants constants;
    if (fake_fault_at("timeline", &ub_micro_streams, launch->point))
        return 9; /* cudaErrorInvalidConfiguration */
    ub_gpu_constants(launch->gpu, &constants);
    streams_timeline(launch->gpu, &constants, launch->point, out);
    return 0;
}

const struct ub_code fake_code_streams = {.launch = launch,
                                          .reference = reference,
                                          .kernel = describe,
                                          .prepare = prepare,
                                          .release = free,
                                          .timeline = timeline};
