/* SPDX-License-Identifier: MIT
 *
 * Variant `async`: its tile, and which elements a thread copies, loads and stores. Common
 * subset of C11 and CUDA C: the kernel calls it, the law replays it. */
#ifndef UB_GEMM_ASYNC_H
#define UB_GEMM_ASYNC_H

#include "micro/gemm/place.h"

/* A block makes 128 x 256 results, each of its eight warps 64 x 64, each thread 8 x 16, in steps of 16
 * along k, of which three are in shared memory. For a column of A and a row of B, 128
 * multiply-adds, a thread loads 8 + 16 words by six instructions: 1 in 22 of those that its
 * scheduler can start, one a cycle. */
enum {
    GEMM_ASYNC_M = 128,
    GEMM_ASYNC_N = 256,
    GEMM_ASYNC_K = 16,
    GEMM_ASYNC_STAGES = 3,
    GEMM_ASYNC_THREADS = 256,
    GEMM_ASYNC_BAND = 8,  /* gemm_tile_of() */
    GEMM_ASYNC_OWN_M = 8, /* results of a thread */
    GEMM_ASYNC_OWN_N = 16,
    GEMM_ASYNC_WORDS = 4, /* of a load from shared memory: 16 bytes */
    /* A stage: A's tile by columns, each four words longer than needed, then B's by rows. */
    GEMM_ASYNC_PITCH_OF_A = GEMM_ASYNC_M + GEMM_ASYNC_WORDS,
    GEMM_ASYNC_B = GEMM_ASYNC_K * GEMM_ASYNC_PITCH_OF_A,
    GEMM_ASYNC_STAGE = GEMM_ASYNC_B + GEMM_ASYNC_K * GEMM_ASYNC_N
};

/* Copies of A in a step, for each thread: an element each, because the tile is turned. A warp takes 8
 * elements of 4 rows: 4 whole sectors, which go to 32 banks. */
enum {
    GEMM_ASYNC_ACROSS = 8,
    GEMM_ASYNC_DOWN = GEMM_ASYNC_THREADS / GEMM_ASYNC_ACROSS,
    GEMM_ASYNC_COPIES_OF_A = GEMM_ASYNC_M * GEMM_ASYNC_K / GEMM_ASYNC_THREADS
};
GEMM_BOTH struct gemm_place gemm_async_a(uint32_t thread, uint32_t copy)
{
    const uint32_t below = GEMM_ASYNC_M / GEMM_ASYNC_DOWN;
    return gemm_place_of(copy % below * GEMM_ASYNC_DOWN + thread / GEMM_ASYNC_ACROSS,
                         copy / below * GEMM_ASYNC_ACROSS + thread % GEMM_ASYNC_ACROSS);
}
GEMM_BOTH uint32_t gemm_async_slot_of_a(struct gemm_place place)
{
    return place.column * GEMM_ASYNC_PITCH_OF_A + place.row;
}

/* Copies of B: `width` elements each, 4 (16 bytes) where the rows of B begin at 16 bytes, else 1.
 * A row of the tile is 64 or 256 copies, side by side. */
GEMM_BOTH uint32_t gemm_async_copies_of_b(uint32_t width)
{
    return GEMM_ASYNC_K * GEMM_ASYNC_N / width / GEMM_ASYNC_THREADS;
}
GEMM_BOTH struct gemm_place gemm_async_b(uint32_t width, uint32_t thread, uint32_t copy)
{
    const uint32_t across = GEMM_ASYNC_N / width;
    return gemm_place_of(copy * (GEMM_ASYNC_THREADS / across) + thread / across, thread % across * width);
}
GEMM_BOTH uint32_t gemm_async_slot_of_b(struct gemm_place place)
{
    return GEMM_ASYNC_B + place.row * GEMM_ASYNC_N + place.column;
}

/* Result (i, j) of a thread, and so what it loads: rows i of A's tile and columns j of B's, four at
 * a time. Lanes n and n^1 have the same rows, n and n^2 the same columns: with either, the 16-byte loads of
 * a warp take two wavefronts instead of four (the rule bank_conflict). */
GEMM_BOTH struct gemm_place gemm_async_result(uint32_t thread, uint32_t i, uint32_t j)
{
    const uint32_t lane = thread % 32, warp = thread / 32;
    const uint32_t down = lane / 2 % 8, across = lane % 2 + lane / 16 * 2;
    return gemm_place_of(warp / 4 * 64 + i / 4 * 32 + down * 4 + i % 4,
                         warp % 4 * 64 + j / 4 * 16 + across * 4 + j % 4);
}

#endif
