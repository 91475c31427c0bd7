/* SPDX-License-Identifier: MIT
 *
 * What the parts of `grid` share beyond the geometry. */
#ifndef UB_GRID_RULE_H
#define UB_GRID_RULE_H

#include "harness/model/coalesce.h"
#include "micro/grid/geometry.h"

/* What the loads of work=dram ask for, all blocks together. */
void grid_traffic(const struct grid_geometry *geometry, struct ub_traffic *out);

/* Multiply-adds of the launch: threads x FMAs. */
uint64_t grid_fmas(const struct grid_geometry *geometry);

/* Blocks that are over before the next ones count: those that the card holds (latency), or
 * one of each SM (throughput, dram). */
uint32_t grid_wave_blocks(const struct ub_gpu *gpu, const struct grid_geometry *geometry);

/* What a launch takes beside its waves, and what a full wave takes. */
double grid_start_ns(const struct ub_constants *constants, const struct grid_geometry *geometry);
double grid_wave_ns(const struct ub_gpu *gpu, const struct ub_constants *constants,
                    const struct grid_geometry *geometry);

void grid_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
              struct ub_law *out);

bool grid_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out);
bool grid_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host, uint64_t seed,
                 uint64_t checksum, struct ub_error *err);

#endif
