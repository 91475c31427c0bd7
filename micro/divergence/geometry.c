/* SPDX-License-Identifier: MIT
 *
 * From the axis values of a point to numbers. */
#include "micro/divergence/geometry.h"

/* Why the values contradict each other, or NULL. */
static const char *contradiction(const struct divergence_geometry *g)
{
    const bool select = g->variant == DIVERGENCE_SELECT_THREAD || g->variant == DIVERGENCE_SELECT_WARP;
    if (select && g->ways != 2)
        return "the textbook's a = 100 / b = 200 has two ways: it needs ways=2";
    if (g->variant == DIVERGENCE_TAIL && g->ways != 1)
        return "variant=tail has one path, in warps that are not full: it needs ways=1";
    if (g->variant == DIVERGENCE_TAIL && g->block % DIVERGENCE_LANES == 0)
        return "variant=tail needs a block that is not a multiple of 32 threads";
    if (g->body % DIVERGENCE_STEPS != 0)
        return "the loop of a path has 32 steps a trip: body is a multiple of 32";
    return NULL;
}

const char *divergence_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct divergence_geometry *out)
{
    const int64_t *v = point->values;
    struct divergence_geometry g = {0};
    g.variant = (uint32_t)v[DIVERGENCE_VARIANT];
    g.ways = (uint32_t)v[DIVERGENCE_WAYS];
    g.body = (uint32_t)v[DIVERGENCE_BODY];
    g.block = (uint32_t)v[DIVERGENCE_BLOCK];
    g.blocks = v[DIVERGENCE_BLOCKS] != 0 ? (uint32_t)v[DIVERGENCE_BLOCKS] : (uint32_t)gpu->sms;
    g.rows = g.variant == DIVERGENCE_DATA || g.variant == DIVERGENCE_SORTED ? DIVERGENCE_ROWS : 1;
    *out = g;
    const char *refused = ub_gpu_block_refused(gpu, g.block, DIVERGENCE_PATHS * sizeof(float[2]), 0);
    return refused != NULL ? refused : contradiction(&g);
}
