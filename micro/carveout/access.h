/* SPDX-License-Identifier: MIT
 *
 * Which line a warp takes next: the one definition of both orders, in the common subset
 * of C11 and CUDA C. The kernel calls it, the law's tests replay it; verification does not
 * (it has formulas of its own).
 *
 * random: each load draws one of all lines, whatever was loaded before. The numbers are
 * those of a linear congruential generator, of which the high bits choose: two
 * multiplications, which fit under the latency of a hit. cyclic: the lines in turn, from the
 * first to the last, again and again. */
#ifndef UB_CARVEOUT_ACCESS_H
#define UB_CARVEOUT_ACCESS_H

#include "micro/carveout/geometry.h"

#ifdef __CUDACC__
#define CARVEOUT_BOTH static __host__ __device__ __forceinline__
#else
#define CARVEOUT_BOTH static inline
#endif

/* The place of a warp in its order: before the first load. */
CARVEOUT_BOTH uint32_t carveout_start(uint32_t order, uint32_t warp)
{
    return order == CARVEOUT_RANDOM ? (warp + 1) * 0x9E3779B1u : 0;
}

/* The line to load at a place. */
CARVEOUT_BOTH uint32_t carveout_line(uint32_t order, uint32_t place, uint32_t lines)
{
    return order == CARVEOUT_RANDOM ? (uint32_t)((uint64_t)place * lines >> 32) : place;
}

/* The place after it. */
CARVEOUT_BOTH uint32_t carveout_next(uint32_t order, uint32_t place, uint32_t lines)
{
    if (order == CARVEOUT_RANDOM)
        return place * 1664525u + 1013904223u; /* Numerical Recipes, chapter 7 */
    return place + 1 < lines ? place + 1 : 0;
}

#endif
