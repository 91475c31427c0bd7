/* SPDX-License-Identifier: MIT
 *
 * Which 16-byte element a load of work=dram takes: the one definition, in the common
 * subset of C11 and CUDA C. The kernel calls it, the law replays it; verification and
 * reference kernel do not (they have formulas of their own).
 *
 * A block reads one chunk from end to end: the threads side by side, the loads that are
 * in flight together behind each other, then the next round. Chunks are those of a ring
 * that is far larger than the L2, and blocks take them in turn, from launch to launch. */
#ifndef UB_GRID_ACCESS_H
#define UB_GRID_ACCESS_H

#include "micro/grid/geometry.h"

#ifdef __CUDACC__
#define GRID_BOTH static __host__ __device__ __forceinline__
#else
#define GRID_BOTH static inline
#endif

/* The first element of a thread in round 0. Load i of a round is i x threads further on,
 * the next round GRID_LOADS x threads. `chunks` is a power of two. */
GRID_BOTH uint64_t grid_first(uint32_t rounds, uint32_t threads, uint32_t chunks, uint32_t ticket, uint32_t thread)
{
    return (uint64_t)(ticket & (chunks - 1)) * rounds * GRID_LOADS * threads + thread;
}

#endif
