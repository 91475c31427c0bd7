/* SPDX-License-Identifier: MIT
 *
 * What a point of `spill` means in numbers: which kernel runs, and how many of its warps
 * an SM holds. Law, kernel and verification agree on these. */
#ifndef UB_SPILL_GEOMETRY_H
#define UB_SPILL_GEOMETRY_H

#include "harness/contract/micro.h"
#include "harness/model/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Index of each axis in ub_point.values. */
enum spill_axis { SPILL_CAP, SPILL_USE, SPILL_WARPS, SPILL_TRIPS, SPILL_AXES };

/* What a trip does with each value. */
enum spill_use { SPILL_CHANGED, SPILL_READ, SPILL_USES };

enum {
    SPILL_CAPS = 14,
    /* Values that a thread works on at the same time, each in a register if there is one. */
    SPILL_VALUES = 96,
    SPILL_SUMS = 8, /* use=read: the values are added up in so many sums */
    /* From this cap on nothing is spilled, whatever the compiler: beside the values and the
     * sums the kernel has a count, an addend, a clock and an address to keep. */
    SPILL_ENOUGH = 128,
    SPILL_LANES = 32,
    SPILL_BLOCK_WARPS = 32, /* of a block, at most */
    SPILL_TRIPS_MAX = 1024
};

struct spill_geometry {
    uint32_t variant; /* which kernel: index of the word of the axis cap */
    uint32_t cap;     /* registers that it may have */
    uint32_t use;
    uint32_t warps;                          /* of an SM */
    uint32_t trips;                          /* of the first iteration; each further one is one trip */
    uint32_t blocks_of_sm, block;            /* threads of a block */
    uint32_t blocks, threads, warps_of_grid; /* of the launch */
};

/* Fills `out`. Returns NULL, or why the point cannot run on this GPU (static text). */
const char *spill_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct spill_geometry *out);

#ifdef __cplusplus
}
#endif
#endif
