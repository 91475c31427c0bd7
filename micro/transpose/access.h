/* SPDX-License-Identifier: MIT
 *
 * Which element an access touches: the one definition of every variant, in the common
 * subset of C11 and CUDA C. The kernel calls it, the law replays it; verification and
 * reference kernel do not (they know only that the result is the transpose). */
#ifndef UB_TRANSPOSE_ACCESS_H
#define UB_TRANSPOSE_ACCESS_H

#include "micro/transpose/geometry.h"

#ifdef __CUDACC__
#define TRANSPOSE_BOTH static __host__ __device__ __forceinline__
#else
#define TRANSPOSE_BOTH static inline
#endif

/* A place in the matrix or in a tile: column x, row y of the source. */
struct transpose_place {
    uint32_t x, y;
};

/* The tile that a block takes. */
TRANSPOSE_BOTH struct transpose_place transpose_tile_of(const struct transpose_geometry *g, uint32_t block)
{
    struct transpose_place tile;
    if (g->order == TRANSPOSE_BY_ROW) {
        tile.y = block / g->tiles_x;
        tile.x = block - tile.y * g->tiles_x;
        return tile;
    }
    tile.x = block / g->tiles_y;
    tile.y = block - tile.x * g->tiles_y;
    if (g->order == TRANSPOSE_DIAGONAL)
        tile.x = (tile.x + tile.y) % g->tiles_x;
    return tile;
}

/* The (first) element that a thread accesses in pass k, as a place along and across a
 * row of whatever is accessed by rows: lanes lie along the row, as many as it has room
 * for. `tile`, `vector` and `rows` are constants in a kernel, so that nothing is divided
 * there. */
TRANSPOSE_BOTH struct transpose_place transpose_lane(uint32_t tile, uint32_t vector, uint32_t rows, uint32_t thread,
                                                     uint32_t k)
{
    const uint32_t along = tile / vector;
    struct transpose_place place;
    place.x = vector * (thread % along);
    place.y = thread / along + k * rows;
    return place;
}

TRANSPOSE_BOTH struct transpose_place transpose_turned(struct transpose_place place)
{
    const struct transpose_place turned = {place.y, place.x};
    return turned;
}

/* Where in the tile that element is read: along a row of the source, but for naive_write. */
TRANSPOSE_BOTH struct transpose_place transpose_read(uint32_t variant, struct transpose_place lane)
{
    return variant == TRANSPOSE_NAIVE_WRITE ? transpose_turned(lane) : lane;
}

/* ... and written: along a row of the result, which is a column of the source, but for the
 * variants that write what they read without exchanging it (naive_read) or do not transpose. */
TRANSPOSE_BOTH struct transpose_place transpose_write(uint32_t variant, struct transpose_place lane)
{
    return variant == TRANSPOSE_NAIVE_READ || variant == TRANSPOSE_COPY_SHARED ? lane : transpose_turned(lane);
}

/* Index in shared memory of an element of the tile. */
TRANSPOSE_BOTH uint32_t transpose_slot(uint32_t variant, uint32_t pitch, struct transpose_place place)
{
    return place.y * pitch + (variant == TRANSPOSE_SWIZZLE ? place.x ^ place.y : place.x);
}

/* Index of an element in the result. */
TRANSPOSE_BOTH uint64_t transpose_result(uint32_t variant, uint32_t n, uint32_t m, uint32_t x, uint32_t y)
{
    return variant == TRANSPOSE_COPY_SHARED ? (uint64_t)y * n + x : (uint64_t)x * m + y;
}

/* Access i of variant=copy, of a matrix of `elements`: `count` elements from `element` on.
 * What does not fill `vector` elements at the end is left to single accesses. */
struct transpose_span {
    uint64_t element;
    uint32_t count; /* vector, 1, or 0: no access */
};
TRANSPOSE_BOTH struct transpose_span transpose_copied(uint64_t elements, uint32_t vector, uint64_t i)
{
    const uint64_t whole = elements / vector;
    struct transpose_span span;
    span.element = i < whole ? i * vector : whole * vector + (i - whole);
    span.count = i < whole ? vector : span.element < elements ? 1 : 0;
    return span;
}

/* The elements of a vector access lie along the row that is accessed, and go to or come from
 * the tile one after the other. Lanes 8 * vector elements apart would meet on a bank (8 lanes
 * with 4 words each fill all 32), so every other group of 8 lanes begins in the middle of its
 * vector: element j of these is the one half a vector further, around. */
TRANSPOSE_BOTH uint32_t transpose_nth(uint32_t vector, uint32_t along, uint32_t j)
{
    return (j + vector / 2 * (along / vector / 8)) % vector;
}
TRANSPOSE_BOTH struct transpose_place transpose_along_x(struct transpose_place place, uint32_t vector, uint32_t j)
{
    place.x += transpose_nth(vector, place.x, j);
    return place;
}
TRANSPOSE_BOTH struct transpose_place transpose_along_y(struct transpose_place place, uint32_t vector, uint32_t j)
{
    place.y += transpose_nth(vector, place.y, j);
    return place;
}

#endif
