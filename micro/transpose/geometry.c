/* SPDX-License-Identifier: MIT
 *
 * From the axis values of a point to numbers, with what is chosen where nothing is
 * said: found on an H200, each choice with the times that decided it. */
#include "micro/transpose/geometry.h"

enum {
    WARP = 32,
    THREADS_MIN = 64, /* of an automatic block: 32 resident blocks then fill a Hopper SM's warps */
    THREADS_MAX = 512,
    THREADS_LIMIT = 1024
};

/* Rows of a tile are 256 bytes long: H200, padded, in column order, tiles of 16 KiB 522 us,
 * of 4 KiB (128-byte rows) 545 us for 2 GiB. Kernels without shared memory take the textbook's
 * 32: what matters there is how many rows one warp touches. */
enum { TILE_ROW_BYTES = 256, NAIVE_SIDE = 32 };

/* A thread has 32 bytes in flight where it must wait for its block before it can store, 16
 * where not (Little's law). H200, padded, tile=32: 16 bytes 584 us, 32 bytes 545 us. */
enum { WAITING_BYTES = 32, FREE_BYTES = 16 };

/* Source and result together are 2 GiB and 20 L2 caches at least, so that what a cache keeps
 * from launch to launch is below 5 %. */
static const uint64_t both_min_bytes = 2ull << 30;
enum { BOTH_L2_CACHES = 20 };

static const uint64_t blocks_limit = 0x7FFFFFFF; /* of a grid along x */

bool transpose_has_tile(const struct transpose_geometry *geometry)
{
    return geometry->variant == TRANSPOSE_COPY_SHARED || geometry->variant >= TRANSPOSE_TILE;
}

uint32_t transpose_shared_bytes(const struct transpose_geometry *geometry)
{
    return transpose_has_tile(geometry) ? geometry->tile * geometry->pitch * geometry->bytes : 0;
}

uint64_t transpose_elements(const struct transpose_geometry *geometry)
{
    return (uint64_t)geometry->n * geometry->m;
}

uint64_t transpose_region_bytes(const struct transpose_geometry *geometry)
{
    return (transpose_elements(geometry) * geometry->bytes + 255) / 256 * 256;
}

/* A square matrix whose side is a power of two: the case that most programs have, and the worst
 * one for banks and cache sets. */
static uint32_t side_auto(const struct ub_gpu *gpu, uint32_t bytes)
{
    uint64_t least = BOTH_L2_CACHES * gpu->l2_bytes;
    if (least < both_min_bytes)
        least = both_min_bytes;
    uint32_t side = 1;
    while (2ull * side * side * bytes < least)
        side *= 2;
    return side;
}

static bool pads(const struct transpose_geometry *g)
{
    return g->variant == TRANSPOSE_PADDED || g->variant == TRANSPOSE_VECTOR;
}

/* Threads of a block one below the other. Powers of two. */
static uint32_t rows_auto(const struct transpose_geometry *g)
{
    const uint32_t in_flight = transpose_has_tile(g) ? WAITING_BYTES : FREE_BYTES;
    const uint32_t along = g->tile / g->vector, passes = in_flight / (g->vector * g->bytes);
    uint32_t rows = g->tile / passes;
    while (rows < g->tile && rows * along < THREADS_MIN)
        rows *= 2;
    while (rows * along > THREADS_MAX)
        rows /= 2;
    return rows;
}

static const char *set_block(const struct ub_point *point, struct transpose_geometry *g)
{
    const int64_t *v = point->values;
    const uint32_t tile_auto = transpose_has_tile(g) ? TILE_ROW_BYTES / g->bytes : NAIVE_SIDE;
    g->tile = v[TRANSPOSE_TILE_SIDE] != 0 ? (uint32_t)v[TRANSPOSE_TILE_SIDE] : tile_auto;
    if ((g->tile & (g->tile - 1)) != 0)
        return "tile is 8, 16, 32 or 64";
    g->pitch = g->tile + (pads(g) ? (uint32_t)v[TRANSPOSE_PAD] : 0);
    const uint32_t rows = v[TRANSPOSE_ROWS] != 0 ? (uint32_t)v[TRANSPOSE_ROWS] : rows_auto(g);
    if ((rows & (rows - 1)) != 0 || rows > g->tile || g->tile / rows > TRANSPOSE_PASSES_MAX)
        return "rows is a power of two, not more than tile, and tile / rows (accesses of a thread) is 8 at most";
    g->threads = g->tile / g->vector * rows;
    g->passes = g->tile / rows;
    if (g->threads >= WARP && g->threads <= THREADS_LIMIT)
        return NULL;
    if (g->vector > 1)
        return "a block has 32 to 1024 threads: choose other rows, or a tile of another size (with bytes=4 it needs "
               "tile=16 at least)";
    return "a block has 32 to 1024 threads: choose other rows, or a tile of another size";
}

static const char *set_tiles(struct transpose_geometry *g)
{
    const uint64_t tiles_x = (g->n + g->tile - 1) / g->tile, tiles_y = (g->m + g->tile - 1) / g->tile;
    if (tiles_x * tiles_y > blocks_limit)
        return "the matrix has more tiles than a grid has blocks (2^31 - 1): choose a larger tile or a smaller matrix";
    g->tiles_x = (uint32_t)tiles_x;
    g->tiles_y = (uint32_t)tiles_y;
    g->blocks = (uint32_t)(tiles_x * tiles_y);
    return NULL;
}

/* One access of 16 bytes a thread; the elements that are left over are single accesses. */
static const char *set_copy(const struct ub_point *point, struct transpose_geometry *g)
{
    const int64_t *v = point->values;
    if (v[TRANSPOSE_TILE_SIDE] != 0 || v[TRANSPOSE_ROWS] != 0 || v[TRANSPOSE_ORDER] != TRANSPOSE_AUTO_ORDER)
        return "variant=copy has no tiles: tile, rows and order apply to the other variants";
    const uint64_t elements = transpose_elements(g), accesses = elements / g->vector + elements % g->vector;
    const uint64_t blocks = (accesses + TRANSPOSE_COPY_THREADS - 1) / TRANSPOSE_COPY_THREADS;
    if (blocks > blocks_limit)
        return "the matrix needs more blocks than a grid has (2^31 - 1): choose a smaller one";
    g->threads = TRANSPOSE_COPY_THREADS;
    g->passes = 1;
    g->blocks = (uint32_t)blocks;
    return NULL;
}

static uint32_t order_of(const struct ub_point *point, const struct transpose_geometry *g)
{
    const uint32_t order = (uint32_t)point->values[TRANSPOSE_ORDER];
    if (order != TRANSPOSE_AUTO_ORDER)
        return order;
    return g->variant <= TRANSPOSE_COPY_SHARED ? TRANSPOSE_BY_ROW : TRANSPOSE_BY_COLUMN;
}

/* Only cards of one's own are as small: those of the table hold every block. */
static const char *beyond(const struct ub_gpu *gpu, const struct transpose_geometry *g)
{
    if (g->threads > (uint32_t)gpu->threads_per_block)
        return "this card's blocks have fewer threads";
    if (transpose_shared_bytes(g) > (uint64_t)gpu->shared_per_block_bytes)
        return "this card's blocks have less shared memory";
    return NULL;
}

const char *transpose_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct transpose_geometry *out)
{
    const int64_t *v = point->values;
    struct transpose_geometry g = {0};
    g.variant = (uint32_t)v[TRANSPOSE_VARIANT];
    g.bytes_log2 = (uint32_t)v[TRANSPOSE_BYTES] + 2; /* the words are 4 and 8 */
    g.bytes = 1u << g.bytes_log2;
    g.n = v[TRANSPOSE_N] != 0 ? (uint32_t)v[TRANSPOSE_N] : side_auto(gpu, g.bytes);
    g.m = v[TRANSPOSE_M] != 0 ? (uint32_t)v[TRANSPOSE_M] : g.n;
    g.order = order_of(point, &g);
    const bool wide = g.variant == TRANSPOSE_COPY || g.variant == TRANSPOSE_VECTOR;
    g.vector = wide ? TRANSPOSE_ACCESS_BYTES / g.bytes : 1;
    const char *reason = NULL;
    if (!pads(&g) && v[TRANSPOSE_PAD] != 1)
        reason = "pad applies to variant=padded and variant=vector (variant=tile is padded with pad=0)";
    else if (g.variant == TRANSPOSE_COPY)
        reason = set_copy(point, &g);
    else if (g.n % g.vector != 0 || g.m % g.vector != 0)
        reason = "variant=vector accesses 16 bytes at a time: n and m are multiples of 16 / bytes";
    else
        reason = set_block(point, &g);
    if (reason == NULL && g.variant != TRANSPOSE_COPY)
        reason = set_tiles(&g);
    if (reason == NULL)
        reason = beyond(gpu, &g);
    *out = g;
    return reason;
}
