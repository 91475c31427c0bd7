/* SPDX-License-Identifier: MIT
 *
 * What the parts of `occupancy` share beyond the geometry. */
#ifndef UB_OCCUPANCY_RULE_H
#define UB_OCCUPANCY_RULE_H

#include "harness/model/coalesce.h"
#include "micro/occupancy/geometry.h"

/* What the loads of work=latency ask for, all warps of the launch together. */
void occupancy_traffic(const struct occupancy_geometry *geometry, struct ub_traffic *out);

void occupancy_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                   struct ub_law *out);

/* Multiply-adds of the launch (threads x FMAs), bytes that its loads bring in. */
uint64_t occupancy_fmas(const struct occupancy_geometry *geometry);
uint64_t occupancy_bytes(const struct occupancy_geometry *geometry);

/* Times that a warp waits for its `ilp` loads, one after another, on average. */
double occupancy_steps(const struct occupancy_geometry *geometry);

/* What the card does at most of the point's work: multiply-adds or bytes a second. */
double occupancy_peak(const struct ub_gpu *gpu, const struct ub_constants *constants,
                      const struct occupancy_geometry *geometry);

bool occupancy_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out);
bool occupancy_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host,
                      uint64_t seed, uint64_t checksum, struct ub_error *err);

#endif
