/* SPDX-License-Identifier: MIT
 *
 * Which path a thread takes: the one definition, in the common subset of C11 and
 * CUDA C. The kernel calls it, the law replays it; verification and reference
 * kernel do not (they have formulas of their own). */
#ifndef UB_DIVERGENCE_ACCESS_H
#define UB_DIVERGENCE_ACCESS_H

#include "micro/divergence/geometry.h"

#ifdef __CUDACC__
#define DIVERGENCE_BOTH static __host__ __device__ __forceinline__
#else
#define DIVERGENCE_BOTH static inline
#endif

/* The random data of variant=data: two rounds of multiplication and xor-shift (as in
 * the finaliser of MurmurHash3). Fixed, not drawn from the run's seed, so that the
 * counters of two runs can be compared and the law knows them. */
DIVERGENCE_BOTH uint32_t divergence_random_path(uint32_t element, uint32_t ways)
{
    uint32_t x = (element + 1) * 0x9E3779B1u;
    x ^= x >> 15;
    x *= 0x85EBCA6Bu;
    x ^= x >> 13;
    return (x >> 4) % ways;
}

/* Counts the data of a block: path p has the elements first[p] .. first[p + 1] - 1 once
 * they are in order. */
DIVERGENCE_BOTH void divergence_sort(struct divergence_geometry *g)
{
    for (uint32_t path = 0; path <= DIVERGENCE_PATHS; path++)
        g->first[path] = 0;
    for (uint32_t element = 0; element < g->rows * g->block; element++)
        for (uint32_t path = divergence_random_path(element, g->ways); path < DIVERGENCE_PATHS; path++)
            g->first[path + 1]++;
}

/* Element `element` of the same data in order. */
DIVERGENCE_BOTH uint32_t divergence_sorted_path(const struct divergence_geometry *g, uint32_t element)
{
    uint32_t path = 0;
    for (uint32_t k = 1; k < DIVERGENCE_PATHS; k++)
        path += element >= g->first[k];
    return path;
}

/* Variants that branch on the lane. */
DIVERGENCE_BOTH uint32_t divergence_lane_path(const struct divergence_geometry *g, uint32_t thread)
{
    return thread % DIVERGENCE_LANES % g->ways;
}

/* Row `row` of a thread. The elements of a row lie side by side, so a warp branches on
 * 32 consecutive ones. */
DIVERGENCE_BOTH uint32_t divergence_path(const struct divergence_geometry *g, uint32_t block, uint32_t thread,
                                         uint32_t row)
{
    switch (g->variant) {
    case DIVERGENCE_WARP:
        return thread / DIVERGENCE_LANES % g->ways;
    case DIVERGENCE_BLOCK_ID:
        return block % g->ways;
    case DIVERGENCE_DATA:
        return divergence_random_path(row * g->block + thread, g->ways);
    case DIVERGENCE_SORTED:
        return divergence_sorted_path(g, row * g->block + thread);
    case DIVERGENCE_TAIL:
        return 0;
    default:
        return divergence_lane_path(g, thread);
    }
}

#endif
