/* SPDX-License-Identifier: MIT
 *
 * A place in a matrix or a tile, and what marks a function that kernels and the law share. */
#ifndef UB_GEMM_PLACE_H
#define UB_GEMM_PLACE_H

#include <stdint.h>

#ifdef __CUDACC__
#define GEMM_BOTH static __host__ __device__ __forceinline__
#else
#define GEMM_BOTH static inline
#endif

struct gemm_place {
    uint32_t row, column;
};

GEMM_BOTH struct gemm_place gemm_place_of(uint32_t row, uint32_t column)
{
    struct gemm_place place;
    place.row = row;
    place.column = column;
    return place;
}

GEMM_BOTH uint32_t gemm_up(uint32_t count, uint32_t by)
{
    return (count + by - 1) / by;
}

/* Blocks that run at the same time take tiles of `band` rows of tiles, column by column, and not
 * one row of tiles from end to end: together they then read few rows of A and few columns
 * of B, which stay in L2. Of `rows` x `columns` tiles, the one that `block` takes. */
GEMM_BOTH struct gemm_place gemm_tile_of(uint32_t rows, uint32_t columns, uint32_t band, uint32_t block)
{
    const uint32_t first = block / (band * columns) * band, within = block % (band * columns);
    const uint32_t height = rows - first < band ? rows - first : band;
    return gemm_place_of(first + within % height, within / height);
}

#endif
