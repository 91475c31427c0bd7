/* SPDX-License-Identifier: MIT
 *
 * From the axis values of a point to numbers. */
#include "micro/fusion/geometry.h"

#include <math.h>
#include <stddef.h>

/* Source and result together are 16 L2 caches at least, and 1 GiB: next to nothing of them
 * is left in L2 from one launch to the next. */
enum { AUTO_L2_CACHES = 8, FLOAT_BYTES = 4 };
static const uint64_t auto_min_bytes = UINT64_C(512) << 20;

/* Scores of attention: four L2 caches at least, and 256 MiB. */
enum { SCORES_L2_CACHES = 4 };
static const uint64_t scores_min_bytes = UINT64_C(256) << 20;

static const uint64_t elements_max = UINT64_C(1) << 38;

/* Which work each axis is for. */
static const struct ub_axis_owner owners[] = {
    {FUSION_OP, FUSION_FMA, FUSION_WORK, 1u << FUSION_ELEMENTWISE, "op is of work=elementwise only (leave it at fma)"},
    {FUSION_STEPS, 8, FUSION_WORK, 1u << FUSION_ELEMENTWISE, "steps is of work=elementwise only (leave it at 8)"},
    {FUSION_N, 0, FUSION_WORK, 1u << FUSION_ELEMENTWISE, "n is of work=elementwise only (leave it at auto)"},
    {FUSION_LENGTH, 4096, FUSION_WORK, 1u << FUSION_SOFTMAX, "length is of work=softmax only (leave it at 4096)"},
    {FUSION_ROWS, 0, FUSION_WORK, 1u << FUSION_SOFTMAX, "rows is of work=softmax only (leave it at auto)"},
    {FUSION_SEQ, 2048, FUSION_WORK, 1u << FUSION_ATTENTION, "seq is of work=attention only (leave it at 2048)"},
    {FUSION_HEADS, 0, FUSION_WORK, 1u << FUSION_ATTENTION, "heads is of work=attention only (leave it at auto)"},
};
const struct ub_axis_owners fusion_owners = {sizeof owners / sizeof owners[0], owners};

static uint64_t power_of_two_from(uint64_t least, uint64_t bytes)
{
    while (least < bytes)
        least *= 2;
    return least;
}

static uint64_t auto_elements(const struct ub_gpu *gpu)
{
    return power_of_two_from(auto_min_bytes, AUTO_L2_CACHES * gpu->l2_bytes) / FLOAT_BYTES;
}

static const char *resolve_elementwise(const struct ub_gpu *gpu, const struct ub_point *point,
                                       struct fusion_geometry *g)
{
    const int64_t n = point->values[FUSION_N];
    g->elements = n != 0 ? (uint64_t)n : auto_elements(gpu);
    g->kernels = g->variant == FUSION_SPLIT ? g->steps : 1;
    if (g->variant != FUSION_SPLIT && g->variant != FUSION_FUSED)
        return "element-wise steps are split or fused: the other variants are of softmax";
    if (g->elements % FUSION_GROUP != 0)
        return "a thread takes four floats at a time: n must be a multiple of 4";
    return NULL;
}

/* Shared memory of a block: tiles of queries, keys or values, and weights; else one float a warp. */
static uint64_t shared_bytes(const struct fusion_geometry *g)
{
    enum { TILES_FUSED = 3, TILES_SPLIT = 2, WARPS = FUSION_BLOCK / 32 };
    const uint64_t tiles = g->variant == FUSION_FUSED ? TILES_FUSED : TILES_SPLIT;
    return g->work == FUSION_ATTENTION ? tiles * FUSION_TILE_FLOATS * FLOAT_BYTES : WARPS * (uint64_t)FLOAT_BYTES;
}

static void set_row(struct fusion_geometry *g, uint32_t length)
{
    const uint64_t row_groups = length / FUSION_GROUP;
    g->length = length;
    g->kept_groups = (uint32_t)power_of_two_from(1, (row_groups + FUSION_BLOCK - 1) / FUSION_BLOCK);
}

static const char *resolve_softmax(const struct ub_gpu *gpu, const struct ub_point *point, struct fusion_geometry *g)
{
    const uint64_t length = (uint64_t)point->values[FUSION_LENGTH], rows = (uint64_t)point->values[FUSION_ROWS];
    const uint64_t many = auto_elements(gpu) / length;
    set_row(g, (uint32_t)length);
    g->rows = (uint32_t)(rows != 0 ? rows : many > INT32_MAX ? INT32_MAX : many > 0 ? many : 1);
    g->elements = (uint64_t)g->rows * length;
    g->kernels = g->variant == FUSION_SPLIT ? 3 : 1;
    if (length % FUSION_GROUP != 0)
        return "a thread takes four floats at a time: length must be a multiple of 4";
    if (g->variant == FUSION_FUSED && length > FUSION_KEPT_MAX)
        return "256 threads keep a row of 16384 floats at most in their registers: choose variant=online";
    return NULL;
}

static const char *resolve_attention(const struct ub_gpu *gpu, const struct ub_point *point, struct fusion_geometry *g)
{
    const uint64_t seq = (uint64_t)point->values[FUSION_SEQ], heads = (uint64_t)point->values[FUSION_HEADS];
    const uint64_t scores =
        power_of_two_from(scores_min_bytes, SCORES_L2_CACHES * gpu->l2_bytes) / FLOAT_BYTES / seq / seq;
    g->seq = (uint32_t)seq;
    g->heads = (uint32_t)(heads != 0 ? heads : scores == 0 ? 1 : scores < UINT16_MAX ? scores : UINT16_MAX);
    g->tiles = g->seq / FUSION_TILE;
    set_row(g, g->seq);
    g->rows = g->seq * g->heads;
    g->elements = (uint64_t)g->rows * seq;
    g->kernels = g->variant == FUSION_SPLIT ? 3 : 1;
    if (g->variant != FUSION_SPLIT && g->variant != FUSION_FUSED)
        return "attention is split or fused: the other variants are of softmax";
    if (seq % FUSION_TILE != 0)
        return "blocks work on tiles of 64 x 64: seq must be a multiple of 64";
    return NULL;
}

const char *fusion_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct fusion_geometry *out)
{
    static const char *(*const resolve[FUSION_WORKS])(const struct ub_gpu *, const struct ub_point *,
                                                      struct fusion_geometry *) = {resolve_elementwise, resolve_softmax,
                                                                                   resolve_attention};
    const int64_t *v = point->values;
    *out = (struct fusion_geometry){
        .work = (uint32_t)v[FUSION_WORK],
        .variant = (uint32_t)v[FUSION_VARIANT],
        .op = (uint32_t)v[FUSION_OP],
        .steps = (uint32_t)v[FUSION_STEPS],
    };
    const char *reason = ub_axis_ignored(&fusion_owners, point);
    const char *cannot = resolve[out->work](gpu, point, out);
    if (reason == NULL)
        reason = cannot;
    if (reason == NULL && out->elements > elements_max)
        return "more than 2^38 floats: choose fewer";
    if (reason == NULL)
        reason = ub_gpu_block_refused(gpu, FUSION_BLOCK, shared_bytes(out), 0);
    return reason;
}

double fusion_bound(const struct fusion_geometry *g)
{
    if (g->work == FUSION_ELEMENTWISE)
        return g->op == FUSION_EXP ? 2e-6 : 0;
    return g->work == FUSION_ATTENTION ? 2e-6 : 1e-5 + sqrt(g->length) * ldexp(1, -24);
}

uint64_t fusion_source_bytes(const struct fusion_geometry *g)
{
    if (g->work == FUSION_ATTENTION) /* queries, keys, values */
        return UINT64_C(3) * g->rows * FUSION_DIM * FLOAT_BYTES;
    return g->elements * FLOAT_BYTES;
}

uint64_t fusion_target_bytes(const struct fusion_geometry *g)
{
    if (g->work == FUSION_ATTENTION)
        return UINT64_C(1) * g->rows * FUSION_DIM * FLOAT_BYTES;
    return g->elements * FLOAT_BYTES;
}

/* Element-wise: the other of two arrays that the steps write in turn, the last one the target.
 * Softmax: maximum and sum of each row. Attention: the scores. */
uint64_t fusion_scratch_bytes(const struct fusion_geometry *g)
{
    if (g->variant != FUSION_SPLIT)
        return 0;
    if (g->work == FUSION_SOFTMAX)
        return UINT64_C(2) * g->rows * FLOAT_BYTES;
    return g->work == FUSION_ELEMENTWISE && g->steps == 1 ? 0 : g->elements * FLOAT_BYTES;
}
