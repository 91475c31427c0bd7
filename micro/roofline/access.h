/* SPDX-License-Identifier: MIT
 *
 * Which chunk of 16 bytes a thread loads: the one definition, in the common subset of C11
 * and CUDA C. The kernel calls it, the law replays it; verification and reference kernel
 * do not: they go through the source from end to end.
 *
 * The lanes of a warp stand side by side, the warps of a block behind each other, then
 * the chunks of a step, then the steps of the block. */
#ifndef UB_ROOFLINE_ACCESS_H
#define UB_ROOFLINE_ACCESS_H

#include "micro/roofline/geometry.h"

#ifdef __CUDACC__
#define ROOFLINE_BOTH static __host__ __device__ __forceinline__
#else
#define ROOFLINE_BOTH static inline
#endif

/* The first chunk of a thread. Chunk c of a step stands ROOFLINE_BLOCK x c further on. */
ROOFLINE_BOTH uint64_t roofline_first(uint32_t block, uint32_t thread)
{
    return (uint64_t)block * (ROOFLINE_BLOCK * ROOFLINE_CHUNKS * ROOFLINE_STEPS) + thread;
}

/* From one step to the next. */
ROOFLINE_BOTH uint32_t roofline_step(void)
{
    return ROOFLINE_BLOCK * ROOFLINE_CHUNKS;
}

#endif
