/* SPDX-License-Identifier: MIT
 *
 * Which element a thread adds: the one definition, in the common subset of C11 and CUDA
 * C. The kernel calls it, the law replays it; verification and reference kernel do not.
 *
 * The index that everybody writes, block after block. An element is 4 bytes, or 16 with
 * bytes=16; the thread has nothing to do where its element is beyond the last. */
#ifndef UB_BLOCK_SIZE_ACCESS_H
#define UB_BLOCK_SIZE_ACCESS_H

#include "micro/block_size/geometry.h"

#ifdef __CUDACC__
#define BLOCK_SIZE_BOTH static __host__ __device__ __forceinline__
#else
#define BLOCK_SIZE_BOTH static inline
#endif

BLOCK_SIZE_BOTH uint64_t block_size_element(uint32_t threads, uint32_t block, uint32_t thread)
{
    return (uint64_t)block * threads + thread;
}

#endif
