/* SPDX-License-Identifier: MIT
 *
 * The parts of the rule `sync`: law.c predicts, verify.c checks answers, rule.c puts them
 * together. */
#ifndef UB_SYNC_RULE_H
#define UB_SYNC_RULE_H

#include "harness/contract/micro.h"
#include "micro/sync/geometry.h"

void sync_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
              struct ub_law *out);

/* What one operation takes by the law; NaN: it does not say. */
double sync_each_ns(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point);

/* Barriers of a block that a warp passes in a launch of one iteration. */
uint64_t sync_barriers(const struct sync_geometry *geometry);

bool sync_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out);

bool sync_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host, uint64_t seed,
                 uint64_t checksum, struct ub_error *err);

#endif
