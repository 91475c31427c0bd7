/* SPDX-License-Identifier: MIT
 *
 * The parts of the rule `transpose`: law.c predicts, verify.c checks answers, rule.c
 * puts them together. */
#ifndef UB_TRANSPOSE_RULE_H
#define UB_TRANSPOSE_RULE_H

#include "harness/contract/micro.h"
#include "harness/model/coalesce.h"
#include "micro/transpose/geometry.h"

/* Accesses to shared memory: warps with an active lane, the turns that they take, and the
 * turns that their active lanes would take without any conflict. */
struct transpose_shared {
    uint64_t requests, wavefronts, least;
};

/* Everything that a launch accesses. */
struct transpose_counts {
    struct ub_traffic loads, stores; /* of global memory */
    struct transpose_shared shared_loads, shared_stores;
    uint64_t load_sectors_least, store_sectors_least; /* if the active lanes of a request lay side by side */
    uint64_t load_turns; /* that the banks of L1 need for the loads of global memory, if they hit */
};

/* Counts a whole launch: tiles that differ neither in alignment nor in what of them lies
 * inside the matrix are replayed once, warp by warp. */
void transpose_count(const struct transpose_geometry *geometry, struct transpose_counts *out);

void transpose_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                   struct ub_law *out);

/* Bandwidth that a copy of the same size would have: measured by variant=copy in this run,
 * else the ceiling of copies that is known of the card; B/s. */
double transpose_ceiling(const struct ub_constants *constants);

/* Bytes read plus bytes written. */
double transpose_moved_bytes(const struct transpose_geometry *geometry);

bool transpose_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out);
bool transpose_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host,
                      uint64_t seed, uint64_t checksum, struct ub_error *err);

#endif
