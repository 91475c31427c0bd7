/* SPDX-License-Identifier: MIT
 *
 * What a point of `divergence` means in numbers: how many blocks, rows and steps.
 * Law, kernel and verification agree on these; which path a thread takes stands in
 * access.h alone. */
#ifndef UB_DIVERGENCE_GEOMETRY_H
#define UB_DIVERGENCE_GEOMETRY_H

#include "harness/contract/micro.h"
#include "harness/model/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Index of each axis in ub_point.values. */
enum divergence_axis {
    DIVERGENCE_VARIANT,
    DIVERGENCE_WAYS,
    DIVERGENCE_BODY,
    DIVERGENCE_BLOCK,
    DIVERGENCE_BLOCKS,
    DIVERGENCE_AXES
};

/* The words of the axis `variant`. */
enum divergence_variant {
    DIVERGENCE_SELECT_THREAD, /* a = 100 or b = 200, by thread: a select */
    DIVERGENCE_SELECT_WARP,   /* the same by warp */
    DIVERGENCE_THREAD,        /* branch on the lane */
    DIVERGENCE_WARP,          /* branch on the warp */
    DIVERGENCE_BLOCK_ID,      /* branch on the block */
    DIVERGENCE_LOOP,          /* trip count by lane */
    DIVERGENCE_SWITCH,        /* switch on the lane */
    DIVERGENCE_TABLE,         /* the paths' numbers looked up in shared memory, no branch */
    DIVERGENCE_CONSTANT,      /* look-ups in constant memory at `ways` indices a warp */
    DIVERGENCE_DATA,          /* branch on random data */
    DIVERGENCE_SORTED,        /* the same data in order */
    DIVERGENCE_TAIL,          /* no branch, but the last warp of a block is not full */
    DIVERGENCE_VARIANTS
};

enum {
    DIVERGENCE_LANES = 32,
    DIVERGENCE_PATHS = 32, /* code paths of the kernels: ways at most */
    DIVERGENCE_STEPS = 32, /* steps of one trip of a path's loop */
    DIVERGENCE_ROWS = 16   /* elements a thread branches on (data, sorted) */
};

struct divergence_geometry {
    uint32_t variant;
    uint32_t ways;                        /* paths that there are */
    uint32_t body;                        /* steps in a path: FMAs, selects or look-ups */
    uint32_t block, blocks;               /* threads of a block, grid */
    uint32_t rows;                        /* branches a thread takes one after the other */
    uint32_t first[DIVERGENCE_PATHS + 1]; /* sorted: see divergence_sort() in access.h; else 0 */
};

/* Fills `out`, first[] aside. Returns NULL, or why the point cannot run (static text). */
const char *divergence_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct divergence_geometry *out);

#ifdef __cplusplus
}
#endif
#endif
