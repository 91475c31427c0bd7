/* SPDX-License-Identifier: MIT
 *
 * Which group of four floats (16 bytes) a thread accesses: the one definition, in the
 * common subset of C11 and CUDA C. The kernels call it, the law replays it; verification
 * and reference kernels do not: they know what a softmax is. */
#ifndef UB_FUSION_ACCESS_H
#define UB_FUSION_ACCESS_H

#include "micro/fusion/geometry.h"

#ifdef __CUDACC__
#define FUSION_BOTH static __host__ __device__ __forceinline__
#else
#define FUSION_BOTH static inline
#endif

/* Element-wise: one group a thread. */
FUSION_BOTH uint64_t fusion_group(uint32_t block, uint32_t thread)
{
    return (uint64_t)block * FUSION_BLOCK + thread;
}

/* Softmax: a block has a row, of which a thread takes every 256th group. */
FUSION_BOTH uint64_t fusion_row(uint32_t length, uint32_t block)
{
    return (uint64_t)block * (length / FUSION_GROUP);
}

/* Attention: 16 threads take the 16 groups of a row of a tile, one load after the other
 * takes the tile's rows 16 further on. */
FUSION_BOTH uint32_t fusion_tile_column(uint32_t thread)
{
    return thread % FUSION_THREADS;
}

FUSION_BOTH uint32_t fusion_tile_row(uint32_t thread, uint32_t load)
{
    return thread / FUSION_THREADS + FUSION_THREADS * load;
}

/* A thread has 4 x 4 floats of a product of tiles: the first of its rows, and its group. */
FUSION_BOTH uint32_t fusion_own_row(uint32_t thread)
{
    return thread / FUSION_THREADS * FUSION_GROUP;
}

FUSION_BOTH uint32_t fusion_own_column(uint32_t thread)
{
    return thread % FUSION_THREADS;
}

/* Group at which row `row` of a matrix begins whose rows have `width` floats. */
FUSION_BOTH uint64_t fusion_matrix_row(uint64_t row, uint32_t width)
{
    return row * (width / FUSION_GROUP);
}

#endif
