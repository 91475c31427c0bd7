/* SPDX-License-Identifier: MIT
 *
 * The parts of the rule `coalescing`: law.c predicts, verify.c checks answers,
 * rule.c puts them together. */
#ifndef UB_COALESCING_RULE_H
#define UB_COALESCING_RULE_H

#include "harness/contract/micro.h"
#include "harness/model/coalesce.h"
#include "micro/coalescing/geometry.h"

/* Traffic of one direction (loads, or stores) of a whole launch: replays one period
 * of the pattern, warp by warp, and multiplies. */
void coalescing_traffic(const struct coalescing_geometry *geometry, struct ub_traffic *out);

/* Slices (a slice is access k of all threads of a block) after which all addresses
 * have moved by a multiple of 128 bytes, so that the traffic repeats; the number of
 * slices of the whole launch where the pattern never repeats. */
uint64_t coalescing_period(const struct coalescing_geometry *geometry);

void coalescing_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                    struct ub_law *out);

/* Distinct bytes that lanes of a launch ask for; a copy counts both sides. Lanes of
 * a warp that share an element (broadcast) count it once. */
double coalescing_useful_bytes(const struct coalescing_geometry *geometry);

/* Useful bandwidth that a load would have if DRAM delivered `grain_bytes` at a time
 * and nothing else limited it, B/s; NaN for other operations, and where accesses are
 * so close that each grain is used whole. */
double coalescing_bandwidth_by_grain(const struct ub_gpu *gpu, const struct ub_constants *constants,
                                     const struct ub_point *point, int grain_bytes);

/* The constant of the ceiling of each operation, by enum coalescing_op. */
extern const char *const coalescing_ceilings[COALESCING_OPS];

bool coalescing_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out);
bool coalescing_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host,
                       uint64_t seed, uint64_t checksum, struct ub_error *err);

#endif
