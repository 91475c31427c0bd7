/* SPDX-License-Identifier: MIT
 *
 * What a point of `reduce` means in numbers. Law, kernel and verification agree on these;
 * which elements a thread adds up stands in access.h alone. */
#ifndef UB_REDUCE_GEOMETRY_H
#define UB_REDUCE_GEOMETRY_H

#include "harness/contract/micro.h"
#include "harness/model/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Index of each axis in ub_point.values. */
enum reduce_axis {
    REDUCE_WORK,
    REDUCE_VARIANT,
    REDUCE_N,
    REDUCE_BLOCK,
    REDUCE_TYPE,
    REDUCE_BYTES,
    REDUCE_LOADS,
    REDUCE_AXES
};

/* The words of the axis `work`: the sum of the array; or what a block does once each of its
 * threads has a sum, alone, again and again in one block. */
enum reduce_work { REDUCE_SUM, REDUCE_BLOCK_PHASE, REDUCE_WORKS };

/* The words of the axis `variant`. The first six differ in what a block does with the sums of
 * its threads (and may be alone: REDUCE_PHASES); the next four in how what is left is brought
 * together; the last two add up row by row with the same shared memory. */
enum reduce_variant {
    REDUCE_INTERLEAVED,   /* tree in shared memory, thread t % 2s == 0 adds its neighbour s away */
    REDUCE_STRIDED,       /* the same tree by the first threads: element 2st */
    REDUCE_SEQUENTIAL,    /* the first s threads add what is s away */
    REDUCE_SHUFFLE,       /* warps by shuffles, then one value a warp through shared memory */
    REDUCE_REDUX,         /* the same with redux.sync */
    REDUCE_ATOMIC_SHARED, /* one atomic in shared memory a thread */
    REDUCE_PHASES,
    REDUCE_ATOMIC_THREAD = REDUCE_PHASES, /* one atomic in global memory a thread */
    REDUCE_ATOMIC_WARP,                   /* shuffles, then one a warp */
    REDUCE_TWO_KERNELS,                   /* one sum a block is stored, a second launch adds them up */
    REDUCE_LAST_BLOCK,                    /* the same by the block that is done last */
    REDUCE_REUSE,                         /* row by row: each load is a tree of its own */
    REDUCE_MISSING_BARRIER,               /* the same without the barrier between two rows */
    REDUCE_VARIANTS
};

/* The words of the axis `type`. */
enum reduce_type { REDUCE_INT, REDUCE_FLOAT, REDUCE_TYPES };

enum {
    REDUCE_LANES = 32,
    REDUCE_ELEMENT_BYTES = 4,
    REDUCE_BLOCK_MAX = 1024,
    REDUCE_FINAL_BLOCK = 1024, /* of the second launch: one block */
    REDUCE_AHEAD = 4,          /* loads of a thread that are on their way at a time */
    REDUCE_FINAL_AHEAD = 8,    /* the same of block sums */
    REDUCE_TAIL_ELEMENTS = 64, /* what REDUCE_REUSE leaves to the first warp */
    REDUCE_LOADS_MAX = 4096,
    /* Numbers of UB_FILL_FLOAT are multiples of 2^-10 in [-1, 1). */
    REDUCE_UNITS_OF_ONE = 1024
};

struct reduce_geometry {
    uint32_t work, variant, type;
    uint32_t block, warps; /* threads and warps of a block */
    uint32_t bytes, words; /* of a load */
    uint32_t loads;        /* of a thread */
    uint32_t blocks;
    uint32_t block_elements; /* of a block that has all of its elements */
    uint64_t n;
};

/* Which axes count where. */
extern const struct ub_axis_owners reduce_owners;

/* Fills `out`. Returns NULL, or why the point cannot run on this GPU (static text). */
const char *reduce_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct reduce_geometry *out);

/* How far a sum of floats may be from the exact one; 0: it has to be exact. See geometry.c. */
double reduce_bound(const struct reduce_geometry *geometry);

/* Whether the block sums are added to the result by atomics, and a first launch sets it to 0. */
static inline bool reduce_clears(uint32_t variant)
{
    return variant != REDUCE_TWO_KERNELS && variant != REDUCE_LAST_BLOCK;
}

static inline bool reduce_has_rows(uint32_t variant)
{
    return variant == REDUCE_REUSE || variant == REDUCE_MISSING_BARRIER;
}

#ifdef __cplusplus
}
#endif
#endif
