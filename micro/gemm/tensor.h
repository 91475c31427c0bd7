/* SPDX-License-Identifier: MIT
 *
 * Variant `tensor`: the tiles of its two kernels, and which elements a thread copies and
 * stores. Common subset of C11 and CUDA C: the kernels call it, the law replays it. */
#ifndef UB_GEMM_TENSOR_H
#define UB_GEMM_TENSOR_H

#include <stdbool.h>

#include "micro/gemm/place.h"

#ifdef __cplusplus
extern "C" {
#endif
/* tensor.cu: whether the code that the driver takes on this machine has wgmma. Only code for
 * sm_90a has; without it, mma.sync is used, at about half of such a GPU's rate. */
bool gemm_tensor_has_wgmma(void);
#ifdef __cplusplus
}
#endif

enum {
    GEMM_TENSOR_THREADS = 256,
    GEMM_TENSOR_BAND = 8,  /* gemm_tile_of() */
    GEMM_TENSOR_CHUNK = 8, /* halves in 16 bytes: a copy, and the unit in which rows must begin */
    GEMM_TENSOR_CHUNK_BYTES = 16
};

/* wgmma: a block makes 128 x 256 results, each of its two warpgroups 64 rows of them, in steps of 64
 * along k, 16 an instruction. */
enum {
    GEMM_WGMMA_M = 128,
    GEMM_WGMMA_N = 256,
    GEMM_WGMMA_K = 64,
    GEMM_WGMMA_STAGES = 4,
    GEMM_WGMMA_K_OF_ONE = 16,
    GEMM_WGMMA_RESULTS = 128 /* of a thread */
};

/* mma.sync: a block makes 128 x 128 results, each of its eight warps 64 x 32, in steps of 32 along k;
 * an instruction makes 16 x 8, 16 along k. */
enum {
    GEMM_MMA_M = 128,
    GEMM_MMA_N = 128,
    GEMM_MMA_K = 32,
    GEMM_MMA_STAGES = 4,
    GEMM_MMA_K_OF_ONE = 16,
    GEMM_MMA_WARP_M = 64,
    GEMM_MMA_WARP_N = 32,
    GEMM_MMA_PITCH_OF_A_BYTES = 2 * GEMM_MMA_K + GEMM_TENSOR_CHUNK_BYTES,
    GEMM_MMA_PITCH_OF_B_BYTES = 2 * GEMM_MMA_N + GEMM_TENSOR_CHUNK_BYTES
};

/* Chunk number `copy` of a thread, of a tile that is `width` elements wide; `column` counts elements. */
GEMM_BOTH struct gemm_place gemm_tensor_chunk(uint32_t width, uint32_t thread, uint32_t copy)
{
    const uint32_t across = width / GEMM_TENSOR_CHUNK;
    return gemm_place_of(copy * (GEMM_TENSOR_THREADS / across) + thread / across, thread % across * GEMM_TENSOR_CHUNK);
}
GEMM_BOTH uint32_t gemm_tensor_copies(uint32_t height, uint32_t width)
{
    return height * width / GEMM_TENSOR_CHUNK / GEMM_TENSOR_THREADS;
}

/* Result number i of a thread: two neighbours, then two eight rows below. */
GEMM_BOTH struct gemm_place gemm_wgmma_result(uint32_t thread, uint32_t i)
{
    return gemm_place_of(thread / 32 * 16 + i / 2 % 2 * 8 + thread % 32 / 4, i / 4 * 8 + thread % 4 * 2 + i % 2);
}
/* The first of a warp, and result i of the instruction that makes the 16 x 8 at (down, across). */
GEMM_BOTH struct gemm_place gemm_mma_part(uint32_t thread)
{
    const uint32_t along = GEMM_MMA_N / GEMM_MMA_WARP_N;
    return gemm_place_of(thread / 32 / along * GEMM_MMA_WARP_M, thread / 32 % along * GEMM_MMA_WARP_N);
}
GEMM_BOTH struct gemm_place gemm_mma_result(uint32_t thread, uint32_t down, uint32_t across, uint32_t i)
{
    const struct gemm_place part = gemm_mma_part(thread);
    return gemm_place_of(part.row + down * 16 + i / 2 * 8 + thread % 32 / 4,
                         part.column + across * 8 + thread % 4 * 2 + i % 2);
}

#endif
