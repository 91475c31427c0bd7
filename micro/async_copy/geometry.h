/* SPDX-License-Identifier: MIT
 *
 * What a point of `async_copy` means in numbers. Law, kernel and verification agree on
 * these; which chunk a thread copies and which it works on stands in access.h alone. */
#ifndef UB_ASYNC_COPY_GEOMETRY_H
#define UB_ASYNC_COPY_GEOMETRY_H

#include "harness/contract/micro.h"
#include "harness/model/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Index of each axis in ub_point.values. */
enum copy_axis { COPY_WAY, COPY_STAGES, COPY_FMAS, COPY_TILE, COPY_RESIDENT, COPY_TILES, COPY_AXES };

/* The words of the axis `way`: how a tile gets from global to shared memory. */
enum copy_way {
    COPY_SYNCHRONOUS, /* ld and st, then a barrier: nothing else happens meanwhile */
    COPY_REGISTERS,   /* ld of the next tile before the work on this one, st behind it */
    COPY_CP_ASYNC,    /* cp.async: each thread copies 16 bytes past its registers */
    COPY_BULK,        /* cp.async.bulk.tensor: one thread asks for a tile of a tensor (TMA) */
    COPY_BULK_1D,     /* cp.async.bulk: the same without a tensor */
    COPY_WAYS
};

enum {
    COPY_BLOCK = 256,
    COPY_CHUNK_BYTES = 16, /* of one load of a thread */
    COPY_ELEMENT_BYTES = 4,
    COPY_UNIT_BYTES = COPY_BLOCK * COPY_CHUNK_BYTES, /* a chunk for each thread */
    COPY_CHUNKS_MAX = 4,                             /* of a thread in a tile */
    COPY_STAGES_MAX = 4,
    COPY_RESIDENT_MAX = 8, /* blocks x chunks: what an SM has registers for */
    COPY_FMAS_STEP = 16,   /* multiply-adds between two branches */
    COPY_FMAS_MAX = 1024,
    COPY_BARRIER_BYTES = 8,
    COPY_ROW_BYTES = 1024 /* of the tensor: 256 elements, as wide as a box can be */
};

struct copy_geometry {
    uint32_t way, stages, fmas;
    uint32_t tile_bytes;
    uint32_t chunks; /* of a thread in a tile */
    uint32_t resident, blocks;
    uint32_t tiles; /* of a block */
    uint32_t shared_bytes;
    uint64_t size_bytes; /* of the source */
};

/* Fills `out`. Returns NULL, or why the point cannot run on this GPU (static text). */
const char *copy_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct copy_geometry *out);

static inline uint64_t copy_tiles(const struct copy_geometry *g)
{
    return (uint64_t)g->blocks * g->tiles;
}

static inline uint64_t copy_elements(const struct copy_geometry *g)
{
    return g->size_bytes / COPY_ELEMENT_BYTES;
}

/* Tiles that have a place in shared memory: of `registers` the second one has none. */
static inline uint32_t copy_places(const struct copy_geometry *g)
{
    return g->way == COPY_REGISTERS ? 1 : g->stages;
}

/* Whether the next tile is on its way while there is work on this one. */
static inline bool copy_overlaps(const struct copy_geometry *g)
{
    return g->way != COPY_SYNCHRONOUS && g->stages > 1;
}

/* 0, 1, 2: the tile is 4, 8, 16 KiB. */
static inline uint32_t copy_width(const struct copy_geometry *g)
{
    return g->chunks / 2;
}

#ifdef __cplusplus
}
#endif
#endif
