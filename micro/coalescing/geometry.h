/* SPDX-License-Identifier: MIT
 *
 * What a point of `coalescing` means in numbers: how many accesses, cut into
 * which blocks, over how large a region. Law, kernel and verification agree on
 * these; which element an access touches stands in access.h alone. */
#ifndef UB_COALESCING_GEOMETRY_H
#define UB_COALESCING_GEOMETRY_H

#include "harness/contract/micro.h"
#include "harness/model/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Index of each axis in ub_point.values. */
enum coalescing_axis {
    COALESCING_STRIDE,
    COALESCING_OFFSET,
    COALESCING_BYTES,
    COALESCING_OP,
    COALESCING_PATTERN,
    COALESCING_FIELDS,
    COALESCING_BLOCK,
    COALESCING_SHAPE,
    COALESCING_PER_THREAD,
    COALESCING_SIZE,
    COALESCING_AXES
};

enum coalescing_op { COALESCING_LOAD, COALESCING_STORE, COALESCING_COPY, COALESCING_OPS };

/* The words of the axis `pattern`, then the one that a 2D shape makes of `stride`. */
enum coalescing_pattern {
    COALESCING_BY_STRIDE,
    COALESCING_RANDOM,
    COALESCING_REVERSE,
    COALESCING_BROADCAST,
    COALESCING_AOS,
    COALESCING_SOA,
    COALESCING_TILE,
    COALESCING_PATTERNS
};

enum {
    COALESCING_WIDTHS = 5,             /* 1, 2, 4, 8, 16 bytes */
    COALESCING_PER_THREAD_MAX = 16,    /* accesses in flight a thread */
    COALESCING_ROW_LOG2 = 12,          /* a 2D block walks a row-major matrix 4096 elements wide */
    COALESCING_TILE_THREADS = 256,     /* threads of a 2D block */
    COALESCING_SINK_BYTES = 256,       /* the buffer that a load-only kernel never writes */
    COALESCING_ACCESSES_MIN = 4 << 20, /* of a point with size=auto */
    COALESCING_RANDOM_MAX = 16 << 20   /* accesses of pattern=random: the law replays each */
};

struct coalescing_geometry {
    uint32_t op, pattern;
    uint32_t bytes, bytes_log2; /* of one access */
    uint32_t stride, offset;    /* elements */
    uint32_t fields;            /* elements that each access number touches (aos, soa), else 1 */
    uint32_t block, per_thread; /* threads of a block, access numbers of a thread */
    uint32_t blocks;            /* grid */
    uint32_t accesses;          /* access numbers: blocks * block * per_thread, below 2^32 */
    uint32_t step;              /* what access k + 1 of a thread adds to access k */
    uint32_t mask;              /* random: elements of the region - 1 */
    uint32_t tile_width_log2;   /* tile: columns of a block */
    uint64_t elements;          /* length of the region: highest element that can be touched + 1 */
};

/* Which axes count where. */
extern const struct ub_axis_owners coalescing_owners;

/* Fills `out`. Returns NULL, or why the point cannot run (static text). */
const char *coalescing_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct coalescing_geometry *out);

/* Bytes of the region, a multiple of 256. */
uint64_t coalescing_region_bytes(const struct coalescing_geometry *geometry);

/* Bytes that loads and stores bring into the L2 at least once, in grains of DRAM
 * (loads) and sectors (stores): what decides in which level the footprint sits. */
uint64_t coalescing_touched_bytes(const struct ub_gpu *gpu, const struct coalescing_geometry *geometry);

#ifdef __cplusplus
}
#endif
#endif
