/* SPDX-License-Identifier: MIT
 *
 * Which tile a block takes, which chunk of 16 bytes a thread copies and which it works on:
 * the one definition, in the common subset of C11 and CUDA C. The kernel calls it, the law
 * replays it; verification and reference kernel do not: they go through the source from end
 * to end.
 *
 * The blocks take their tiles in turn. In a tile the threads stand side by side. A thread
 * works on what another has copied, counted from the other end: a copy that is not waited
 * for shows. */
#ifndef UB_ASYNC_COPY_ACCESS_H
#define UB_ASYNC_COPY_ACCESS_H

#include "micro/async_copy/geometry.h"

#ifdef __CUDACC__
#define COPY_BOTH static __host__ __device__ __forceinline__
#else
#define COPY_BOTH static inline
#endif

/* The step-th tile of a block. */
COPY_BOTH uint32_t copy_tile(uint32_t block, uint32_t step, uint32_t blocks)
{
    return step * blocks + block;
}

/* Chunk `c` that a thread copies, counted from the start of the tile. */
COPY_BOTH uint32_t copy_written(uint32_t thread, uint32_t c)
{
    return c * COPY_BLOCK + thread;
}

/* Chunk `c` that it works on. */
COPY_BOTH uint32_t copy_read(uint32_t thread, uint32_t c, uint32_t chunks)
{
    return (chunks - c) * COPY_BLOCK - 1 - thread;
}

#endif
