/* SPDX-License-Identifier: MIT
 *
 * What a point of `transpose` means in numbers: the matrix, the tiles it is cut into,
 * the threads of a block and what each of them moves. Law, kernel and verification
 * agree on these; which element an access touches stands in access.h alone. */
#ifndef UB_TRANSPOSE_GEOMETRY_H
#define UB_TRANSPOSE_GEOMETRY_H

#include "harness/contract/micro.h"
#include "harness/model/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Index of each axis in ub_point.values. */
enum transpose_axis {
    TRANSPOSE_VARIANT,
    TRANSPOSE_N,
    TRANSPOSE_M,
    TRANSPOSE_TILE_SIDE,
    TRANSPOSE_PAD,
    TRANSPOSE_BYTES,
    TRANSPOSE_ROWS,
    TRANSPOSE_ORDER,
    TRANSPOSE_AXES
};

/* The words of the axis `variant`. */
enum transpose_variant {
    TRANSPOSE_COPY,        /* 16 bytes a thread, same index on both sides: the ceiling */
    TRANSPOSE_COPY_SHARED, /* a copy through tiles in shared memory: what tile and barrier cost */
    TRANSPOSE_NAIVE_READ,  /* a warp reads along a row, writes along a column of the result */
    TRANSPOSE_NAIVE_WRITE, /* a warp reads along a column, writes along a row of the result */
    TRANSPOSE_TILE,        /* through a tile in shared memory: both along rows, but the tile has bank conflicts */
    TRANSPOSE_PADDED,      /* the rows of the tile are `pad` elements longer */
    TRANSPOSE_SWIZZLE,     /* no pad: column x of row y of the tile lies at x xor y */
    TRANSPOSE_VECTOR,      /* as padded, with 16 bytes an access to global memory */
    TRANSPOSE_VARIANTS
};

/* The words of the axis `order`: which tile a block takes. */
enum transpose_order {
    TRANSPOSE_AUTO_ORDER, /* the one in which neighbouring blocks write neighbouring addresses */
    TRANSPOSE_BY_ROW,     /* along the rows of the source */
    TRANSPOSE_BY_COLUMN,  /* along its columns, which are the rows of the result */
    TRANSPOSE_DIAGONAL,   /* along its columns, each column of tiles shifted by one */
    TRANSPOSE_ORDERS
};

enum {
    TRANSPOSE_ACCESS_BYTES = 16, /* of a thread's access: copy, vector */
    TRANSPOSE_COPY_THREADS = 256,
    TRANSPOSE_PASSES_MAX = 8, /* accesses of a thread on each side: of more, the compiler holds some back */
    TRANSPOSE_SIDE_MAX = 64   /* of a tile, elements */
};

struct transpose_geometry {
    uint32_t variant, order;
    uint32_t bytes, bytes_log2; /* of an element */
    uint32_t n, m;              /* columns and rows of the source */
    uint32_t vector;            /* elements of one access to global memory */
    uint32_t tile, pitch;       /* side of a tile; elements from one of its rows to the next in shared memory */
    uint32_t threads, passes;   /* of a block; accesses of a thread to each side */
    uint32_t tiles_x, tiles_y;  /* 0 for copy */
    uint32_t blocks;
};

/* Fills `out`. Returns NULL, or why the values of the axes contradict each other; `out` is then unspecified. */
const char *transpose_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct transpose_geometry *out);

/* Whether blocks go through a tile in shared memory, and how large it is (0: none). */
bool transpose_has_tile(const struct transpose_geometry *geometry);
uint32_t transpose_shared_bytes(const struct transpose_geometry *geometry);

/* Elements of the matrix; bytes of one matrix in memory, rounded up to 256. */
uint64_t transpose_elements(const struct transpose_geometry *geometry);
uint64_t transpose_region_bytes(const struct transpose_geometry *geometry);

#ifdef __cplusplus
}
#endif
#endif
