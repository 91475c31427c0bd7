/* SPDX-License-Identifier: MIT
 *
 * What a point of `carveout` means in numbers: how many lines are walked, and what the
 * launch asks of the SM's memory. Law, kernel and verification agree on these; which line
 * a warp takes next stands in access.h alone. */
#ifndef UB_CARVEOUT_GEOMETRY_H
#define UB_CARVEOUT_GEOMETRY_H

#include "harness/contract/micro.h"
#include "harness/model/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Index of each axis in ub_point.values. */
enum carveout_axis {
    CARVEOUT_PERCENT,
    CARVEOUT_FOOTPRINT,
    CARVEOUT_SHARED,
    CARVEOUT_ASK,
    CARVEOUT_ORDER,
    CARVEOUT_LOAD,
    CARVEOUT_AXES
};

/* Who states the preference. */
enum carveout_ask { CARVEOUT_ASK_LAUNCH, CARVEOUT_ASK_FUNCTION, CARVEOUT_ASK_NOTHING, CARVEOUT_ASKS };
enum carveout_order { CARVEOUT_RANDOM, CARVEOUT_CYCLIC, CARVEOUT_ORDERS };
enum carveout_load { CARVEOUT_CA, CARVEOUT_CG, CARVEOUT_LOADS };

/* One block, whose warps have a load each in flight and a scheduler each: what a load
 * takes is its latency. Two warps a scheduler would already wait for each other where all
 * loads hit (53.5 instead of 46.6 cycles on an H200). Turns are taken by one warp: of several,
 * one whose lines are there outruns the others, and keeps them. */
enum {
    CARVEOUT_LANES = 32,
    CARVEOUT_WARPS = 4,
    CARVEOUT_LINE_BYTES = 128, /* a load of a warp: one line, four sectors */
    CARVEOUT_LINE_WORDS = CARVEOUT_LINE_BYTES / 4,
    CARVEOUT_UNROLL = 16, /* loads of a warp in an iteration */
    CARVEOUT_WARM = 4096, /* loads of a warp before the clock is read: what counters see most of */
    CARVEOUT_LEAST_BYTES = CARVEOUT_WARPS * CARVEOUT_LINE_BYTES,
    CARVEOUT_MOST_BYTES = 1 << 20 /* of the footprint: in the L2 cache of every card of the table */
};

struct carveout_geometry {
    uint32_t ask, order, load;
    uint32_t percent;
    uint32_t warps, threads; /* of the block */
    uint32_t lines;          /* of the footprint */
    uint32_t shared_bytes;   /* dynamic, of the block */
};

/* Fills `out`. Returns NULL, or why the point cannot run (static text). */
const char *carveout_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct carveout_geometry *out);

#ifdef __cplusplus
}
#endif
#endif
