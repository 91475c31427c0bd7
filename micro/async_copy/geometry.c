/* SPDX-License-Identifier: MIT
 *
 * From the axis values of a point to numbers. */
#include "micro/async_copy/geometry.h"

#include <stddef.h>

enum { SIZE_L2_CACHES = 16, WARPS = COPY_BLOCK / 32 };

static const uint64_t size_min_bytes = UINT64_C(1) << 30;

/* So many tiles that next to nothing of the source is left in L2 from one launch to the
 * next. */
static uint32_t tiles_auto(const struct ub_gpu *gpu, const struct copy_geometry *g)
{
    const uint64_t of_l2 = SIZE_L2_CACHES * gpu->l2_bytes;
    const uint64_t size = of_l2 > size_min_bytes ? of_l2 : size_min_bytes;
    const uint64_t round = (uint64_t)g->blocks * g->tile_bytes;
    return (uint32_t)((size + round - 1) / round);
}

/* The shared memory of a block: its ring and its barriers, and, so that no more than
 * `resident` blocks are on an SM, as much as keeps out one more. */
static uint32_t shared_bytes(const struct ub_gpu *gpu, const struct copy_geometry *g)
{
    const uint64_t needed = copy_places(g) * (g->tile_bytes + (uint64_t)COPY_BARRIER_BYTES);
    const uint64_t share = gpu->shared_per_sm_bytes / (g->resident + 1);
    const uint64_t padded = share > gpu->shared_reserved_bytes ? share - gpu->shared_reserved_bytes : 0;
    const uint64_t bytes = needed > padded ? needed : padded + 1;
    return (uint32_t)((bytes + gpu->shared_unit_bytes - 1) / gpu->shared_unit_bytes * gpu->shared_unit_bytes);
}

static const char *refused(const struct ub_gpu *gpu, const struct copy_geometry *g)
{
    const int cc = gpu->cc_major * 10 + gpu->cc_minor;
    if (g->fmas % COPY_FMAS_STEP != 0)
        return "fmas must be a multiple of 16: so many stand between two branches";
    if (g->tile_bytes % COPY_UNIT_BYTES != 0 || (g->chunks & (g->chunks - 1)) != 0)
        return "tile must be 4, 8 or 16 KiB: 1, 2 or 4 chunks of 16 bytes for each of 256 threads";
    if (g->resident * g->chunks > COPY_RESIDENT_MAX)
        return "resident x tile is 32 KiB at most: a thread needs a register for each 4 bytes that it works on";
    if (g->way == COPY_REGISTERS && g->stages != 2)
        return "registers is two stages, one in shared memory and one in registers: only stages=2";
    if (g->way == COPY_CP_ASYNC && cc < 80)
        return "cp.async needs compute capability 8.0 or later";
    if (g->way >= COPY_BULK && cc < 90)
        return "bulk copies (TMA) need compute capability 9.0 or later";
    const char *no_block = ub_gpu_block_refused(gpu, COPY_BLOCK, 0, 0);
    if (no_block != NULL)
        return no_block;
    if (g->shared_bytes > gpu->shared_per_block_optin_bytes)
        return "a block may not have as much shared memory as the stages need, or as keeps other blocks out";
    if (g->resident * (g->shared_bytes + gpu->shared_reserved_bytes) > gpu->shared_per_sm_bytes)
        return "the stages of so many resident blocks are more than the shared memory of an SM";
    if (g->resident * WARPS > (uint32_t)gpu->warps_per_sm)
        return "an SM has not so many warps: choose fewer resident blocks";
    return NULL;
}

const char *copy_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct copy_geometry *out)
{
    const int64_t *v = point->values;
    struct copy_geometry g = {
        .way = (uint32_t)v[COPY_WAY],
        .stages = (uint32_t)v[COPY_STAGES],
        .fmas = (uint32_t)v[COPY_FMAS],
        .tile_bytes = (uint32_t)v[COPY_TILE],
        .chunks = (uint32_t)v[COPY_TILE] / COPY_UNIT_BYTES,
        .resident = (uint32_t)v[COPY_RESIDENT],
        .blocks = (uint32_t)(v[COPY_RESIDENT] * gpu->sms),
    };
    g.tiles = v[COPY_TILES] != 0 ? (uint32_t)v[COPY_TILES] : tiles_auto(gpu, &g);
    g.shared_bytes = shared_bytes(gpu, &g);
    g.size_bytes = copy_tiles(&g) * g.tile_bytes;
    *out = g;
    return refused(gpu, &g);
}
