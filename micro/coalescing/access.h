/* SPDX-License-Identifier: MIT
 *
 * Which element an access touches: the one definition of every pattern, in the
 * common subset of C11 and CUDA C. The kernel calls it, the law replays it;
 * verification and reference kernel do not (they have formulas of their own). */
#ifndef UB_COALESCING_ACCESS_H
#define UB_COALESCING_ACCESS_H

#include "micro/coalescing/geometry.h"

#ifdef __CUDACC__
#define COALESCING_BOTH static __host__ __device__ __forceinline__
#else
#define COALESCING_BOTH static inline
#endif

/* A bijection of 0..mask (mask = 2^k - 1): multiplications by odd numbers and
 * xor-shifts, each of which can be undone (the finaliser of MurmurHash3, cut to k
 * bits). Its constants are fixed, not drawn from the run's seed, so that counters
 * of two runs can be compared. */
COALESCING_BOTH uint32_t coalescing_scatter(uint32_t i, uint32_t mask)
{
    uint32_t x = (i * 0x9E3779B1u) & mask;
    x ^= x >> 15;
    x = (x * 0x85EBCA6Bu) & mask;
    x ^= x >> 13;
    x = (x * 0xC2B2AE35u) & mask;
    return x ^ (x >> 16);
}

/* Element of access i of a 2D block: width x height threads cover a tile of a
 * row-major matrix; the next block, and the next access of a thread, take the tile
 * to the right. */
COALESCING_BOTH uint64_t coalescing_tile(const struct coalescing_geometry *g, uint32_t i)
{
    const uint32_t tile = i / COALESCING_TILE_THREADS, thread = i % COALESCING_TILE_THREADS;
    const uint32_t width_log2 = g->tile_width_log2, tiles_log2 = COALESCING_ROW_LOG2 - width_log2;
    const uint32_t column = ((tile & ((1u << tiles_log2) - 1)) << width_log2) + (thread & ((1u << width_log2) - 1));
    const uint32_t row = (tile >> tiles_log2) * (COALESCING_TILE_THREADS >> width_log2) + (thread >> width_log2);
    return ((uint64_t)row << COALESCING_ROW_LOG2) + column + g->offset;
}

/* An access has a number i, 0 .. n - 1, which runs through block, then k (the
 * accesses of one thread), then thread:
 *     i = (block * per_thread + k) * threads + thread
 * so that the lanes of a warp hold consecutive numbers. The element is found in
 * two steps, because in all patterns but one k adds the same distance in every
 * thread: what depends on the thread is computed once (i is 32 bits wide, the
 * result 64), and one addition an access is all that remains. */

/* Where the accesses of a thread to field `field` begin: an element, or for random
 * the access number. */
COALESCING_BOTH uint64_t coalescing_base(const struct coalescing_geometry *g, enum coalescing_pattern pattern,
                                         uint32_t block, uint32_t thread, uint32_t field)
{
    const uint32_t first = block * (g->per_thread * g->block) + thread;
    switch (pattern) {
    case COALESCING_BY_STRIDE:
        return (uint64_t)first * g->stride + g->offset;
    case COALESCING_REVERSE: /* n - 1 - i */
        return (uint64_t)(g->accesses - 1 - first) * g->stride + g->offset;
    case COALESCING_BROADCAST: /* every lane takes the element of its warp's first lane */
        return (uint64_t)(first - thread % 32) * g->stride + g->offset;
    case COALESCING_AOS: /* i * fields + field */
        return (uint64_t)first * g->fields + field;
    case COALESCING_SOA: /* field * n + i */
        return (uint64_t)field * g->accesses + first;
    case COALESCING_TILE:
        return coalescing_tile(g, first);
    case COALESCING_RANDOM:
    case COALESCING_PATTERNS:
        break;
    }
    return first;
}

/* The element of access k of a thread whose accesses begin at `base`. */
COALESCING_BOTH uint64_t coalescing_element(const struct coalescing_geometry *g, enum coalescing_pattern pattern,
                                            uint64_t base, uint32_t k)
{
    if (pattern == COALESCING_RANDOM)
        return coalescing_scatter((uint32_t)base + k * g->step, g->mask);
    if (pattern == COALESCING_REVERSE)
        return base - k * g->step;
    return base + k * g->step;
}

#endif
