/* SPDX-License-Identifier: MIT
 *
 * From the axis values of a point to numbers. */
#include "micro/roofline/geometry.h"

#include <stddef.h>

enum { SIZE_L2_CACHES = 20 };

static const uint64_t size_min_bytes = UINT64_C(1) << 30;

static const struct {
    uint32_t bytes, flops;
} elements[ROOFLINE_TYPES] = {
    [ROOFLINE_FP32] = {4, 2},
    [ROOFLINE_FP64] = {8, 2},
    [ROOFLINE_HALF2] = {4, 4},
};

/* A power of two, so far beyond L2 that next to nothing is left in it from one launch to
 * the next. */
static uint64_t size_auto(const struct ub_gpu *gpu)
{
    uint64_t size = size_min_bytes;
    while (size < SIZE_L2_CACHES * gpu->l2_bytes)
        size *= 2;
    return size;
}

const char *roofline_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct roofline_geometry *out)
{
    const int64_t *v = point->values;
    struct roofline_geometry g = {
        .type = (uint32_t)v[ROOFLINE_TYPE],
        .element_bytes = elements[v[ROOFLINE_TYPE]].bytes,
        .flops = elements[v[ROOFLINE_TYPE]].flops,
        .fmas = (uint32_t)v[ROOFLINE_FMAS],
        .size_bytes = v[ROOFLINE_SIZE] != 0 ? (uint64_t)v[ROOFLINE_SIZE] : size_auto(gpu),
    };
    const uint64_t blocks = g.size_bytes / ROOFLINE_BLOCK_BYTES;
    g.blocks = (uint32_t)blocks;
    *out = g;
    const char *refused = ub_gpu_block_refused(gpu, ROOFLINE_BLOCK, 0, 0);
    if (refused != NULL)
        return refused;
    if (g.size_bytes % ROOFLINE_BLOCK_BYTES != 0)
        return "blocks are whole: size must be a multiple of 32 KiB";
    if (blocks > INT32_MAX)
        return "a grid has 2^31 - 1 blocks at most: choose a smaller size";
    if (g.type == ROOFLINE_HALF2 && gpu->cc_major * 10 + gpu->cc_minor < 53)
        return "half2 arithmetic needs compute capability 5.3 or later";
    return NULL;
}
