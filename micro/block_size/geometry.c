/* SPDX-License-Identifier: MIT
 *
 * From the axis values of a point to numbers. */
#include "micro/block_size/geometry.h"

#include "harness/model/occupancy.h"

/* Automatic vectors: 512 MiB each, and all three 20 L2 caches at least, so that what a
 * cache keeps from launch to launch is below 5 %. */
static const uint64_t numbers_min = 1ull << 27;
static const uint64_t blocks_max = INT32_MAX; /* of a grid (CUDA C++ Programming Guide) */
enum { L2_CACHES = 20, WARP = 32 };

static uint64_t numbers_auto(const struct ub_gpu *gpu)
{
    uint64_t numbers = numbers_min;
    while (numbers * BLOCK_SIZE_VECTORS * BLOCK_SIZE_WORD_BYTES < L2_CACHES * gpu->l2_bytes)
        numbers *= 2;
    return numbers;
}

static uint32_t resident_of(const struct ub_gpu *gpu, uint32_t threads)
{
    struct ub_sm_limits limits;
    struct ub_occupancy occupancy;
    const struct ub_occupancy_request request = {
        .threads = (int)threads, .registers = BLOCK_SIZE_REGISTERS, .carveout_percent = -1};
    ub_sm_limits_of_gpu(gpu, &limits);
    ub_occupancy_solve(&limits, &request, &occupancy);
    return (uint32_t)occupancy.blocks;
}

const char *block_size_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct block_size_geometry *out)
{
    const int64_t *v = point->values;
    struct block_size_geometry g = {
        .work = (uint32_t)v[BLOCK_SIZE_WORK],
        .bytes = v[BLOCK_SIZE_BYTES] == 0 ? 4 : 16, /* the words of the axis */
        .numbers = v[BLOCK_SIZE_N] > 0 ? (uint64_t)v[BLOCK_SIZE_N] : numbers_auto(gpu),
        .threads = (uint32_t)v[BLOCK_SIZE_BLOCK],
    };
    const uint64_t in_element = g.bytes / BLOCK_SIZE_WORD_BYTES;
    g.elements = g.numbers / in_element;
    const uint64_t blocks = (g.elements + g.threads - 1) / g.threads;
    g.warps = (g.threads + WARP - 1) / WARP;
    g.blocks = (uint32_t)(blocks <= blocks_max ? blocks : blocks_max);
    g.resident = resident_of(gpu, g.threads);
    *out = g;
    const char *refused = ub_gpu_block_refused(gpu, g.threads, 0, 0);
    if (refused != NULL)
        return refused;
    if (g.numbers % in_element != 0)
        return "a thread with bytes=16 adds four numbers: n must be a multiple of 4";
    if (blocks > blocks_max)
        return "a grid has 2^31 - 1 blocks at most: larger blocks or fewer numbers are needed";
    return NULL;
}

uint64_t block_size_vector_bytes(const struct block_size_geometry *geometry)
{
    return geometry->numbers * BLOCK_SIZE_WORD_BYTES;
}
