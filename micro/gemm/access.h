/* SPDX-License-Identifier: MIT
 *
 * Which elements a thread touches: the one definition of every variant of kernel.cu, in
 * the common subset of C11 and CUDA C. The kernel calls it, the law replays it;
 * verification and reference kernel do not (they know what a product of matrices is). */
#ifndef UB_GEMM_ACCESS_H
#define UB_GEMM_ACCESS_H

#include "micro/gemm/geometry.h"
#include "micro/gemm/place.h"

/* naive, tiled: the result of a thread within its block's tile, `along` of which are lanes
 * or rows of threads that lie side by side. naive_col turns it. */
GEMM_BOTH struct gemm_place gemm_result_of(bool turned, uint32_t along, uint32_t thread)
{
    const uint32_t first = thread / along, second = thread % along;
    struct gemm_place place;
    place.row = turned ? second : first;
    place.column = turned ? first : second;
    return place;
}

/* register: the four elements of A and of B that a thread brings to shared memory in a step.
 * Two threads take 32 bytes of a row of A, a sector; a row of B is taken whole. */
GEMM_BOTH struct gemm_place gemm_chunk_of_a(uint32_t tile_m, uint32_t thread)
{
    struct gemm_place place;
    place.row = thread / 2 % tile_m;
    place.column = GEMM_CHUNK * (thread / (2 * tile_m) * 2 + thread % 2);
    return place;
}
GEMM_BOTH struct gemm_place gemm_chunk_of_b(uint32_t tile_n, uint32_t thread)
{
    const uint32_t chunks = tile_n / GEMM_CHUNK;
    struct gemm_place place;
    place.row = thread / chunks;
    place.column = GEMM_CHUNK * (thread % chunks);
    return place;
}

/* register: index in shared memory. A's tile is kept turned, each of its columns 4 words longer:
 * the two chunks of a row then go to different banks. */
GEMM_BOTH uint32_t gemm_pitch_of_a(uint32_t tile_m)
{
    return tile_m + GEMM_CHUNK;
}
GEMM_BOTH uint32_t gemm_slot_of_a(uint32_t tile_m, struct gemm_place place)
{
    return place.column * gemm_pitch_of_a(tile_m) + place.row;
}
GEMM_BOTH uint32_t gemm_slot_of_b(uint32_t tile_n, struct gemm_place place)
{
    return place.row * tile_n + place.column;
}

/* register: the result (4 i, 4 j) of a thread within its block's tile; each is the corner of
 * 4 x 4. A warp has 4 x 8 threads. The bits of the lane are dealt out so that lanes n and n ^ 1
 * need the same of A, n and n ^ 2 the same of B: a 16-byte load from shared memory then takes
 * two turns and not four (harness/model/bank.c). */
GEMM_BOTH struct gemm_place gemm_corner_of(uint32_t side, uint32_t thread, uint32_t i, uint32_t j)
{
    const uint32_t warp = thread / 32, lane = thread % 32;
    const uint32_t down = (lane >> 1 & 1) | (lane >> 3 & 1) << 1;
    const uint32_t along = (lane & 1) | (lane >> 2 & 1) << 1 | lane >> 4 << 2;
    struct gemm_place place;
    place.row = warp / 2 * (4 * side) + i * 16 + GEMM_CHUNK * down;
    place.column = warp % 2 * (8 * side) + j * 32 + GEMM_CHUNK * along;
    return place;
}

#endif
