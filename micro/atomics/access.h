/* SPDX-License-Identifier: MIT
 *
 * To which address (a number of 0..addresses - 1) a lane adds: the one definition, in the
 * common subset of C11 and CUDA C. The kernels call it, the law replays it; verification and
 * reference kernel do not.
 *
 * A warp takes `lanes` addresses side by side, lane l the one of number l % lanes of them; the
 * next warp takes the next `lanes`, and so on, round and round (addresses are a multiple of lanes); a step of all warps
 * goes on where the step before has ended (all in 32 bits: of a division in 64, a call, the compiler no longer sees
 * that its result is the same for a whole block). Warps of one number of all blocks come first, then those of the next:
 * with lanes=1 and as many addresses as blocks each block has its own address, with as many as warps each warp its own,
 * and with lanes=32 and enough of them each thread. */
#ifndef UB_ATOMICS_ACCESS_H
#define UB_ATOMICS_ACCESS_H

#include "micro/atomics/geometry.h"

#ifdef __CUDACC__
#define ATOMICS_BOTH static __host__ __device__ __forceinline__
#else
#define ATOMICS_BOTH static inline
#endif

/* The number of a warp among those that share the addresses. */
ATOMICS_BOTH uint32_t atomics_warp(uint32_t block, uint32_t blocks, uint32_t warp)
{
    return warp * blocks + block;
}

/* The address of a lane in step 0. */
ATOMICS_BOTH uint32_t atomics_first(uint32_t warp, uint32_t lane, uint32_t lanes, uint32_t addresses)
{
    return (warp * lanes + lane % lanes) % addresses;
}

/* From one step to the next: so many further on, round and round. */
ATOMICS_BOTH uint32_t atomics_step(uint32_t warps, uint32_t lanes, uint32_t addresses)
{
    return warps * lanes % addresses;
}

ATOMICS_BOTH uint32_t atomics_next(uint32_t address, uint32_t step, uint32_t addresses)
{
    const uint32_t next = address + step;
    return next < addresses ? next : next - addresses;
}

#endif
