/* SPDX-License-Identifier: MIT
 *
 * Which elements (of `bytes` bytes) a warp loads: the one definition, in the common subset
 * of C11 and CUDA C. The kernel calls it, the law replays it; verification and reference
 * kernel do not.
 *
 * A load of a warp is 32 elements side by side: one to four whole lines. The `ilp` loads of
 * a step stand side by side, those of the warps of a block behind each other, and the next
 * step behind all of them: a block walks through a region of its own from end to end, and
 * its warps, which work at about the same time, read what lies together. Of five orders
 * that were tried on an H200 (groups of 64 warps, all warps of the launch side by side,
 * blocks, tickets of 4 and of 16 KiB dealt to warps) this one is within 3 % of the best
 * everywhere, and bandwidth depends least on how the bytes in flight are cut into warps
 * and loads. What is slow: loads of one warp that lie far apart (a fifth less where DRAM
 * waits), and a counter in memory that all warps ask for work (its slice of L2 is then
 * what the loads wait for). No element is read twice. */
#ifndef UB_LATENCY_HIDING_ACCESS_H
#define UB_LATENCY_HIDING_ACCESS_H

#include "micro/latency_hiding/geometry.h"

#ifdef __CUDACC__
#define HIDING_BOTH static __host__ __device__ __forceinline__
#else
#define HIDING_BOTH static inline
#endif

/* The first element of a lane: load 0 of step 0. Load c is 32 c further on. */
HIDING_BOTH uint64_t hiding_first(uint32_t ilp, uint32_t steps, uint32_t block, uint32_t block_warps, uint32_t warp,
                                  uint32_t lane)
{
    return ((uint64_t)block * steps * block_warps + warp) * (HIDING_LANES * ilp) + lane;
}

/* From one step to the next: over the loads of all warps of the block. */
HIDING_BOTH uint32_t hiding_step(uint32_t ilp, uint32_t block_warps)
{
    return HIDING_LANES * ilp * block_warps;
}

#endif
