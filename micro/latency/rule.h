/* SPDX-License-Identifier: MIT
 *
 * The parts of the rule `latency`: law.c predicts, verify.c checks answers, rule.c puts
 * them together. */
#ifndef UB_LATENCY_RULE_H
#define UB_LATENCY_RULE_H

#include "harness/contract/micro.h"
#include "micro/latency/geometry.h"

void latency_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                 struct ub_law *out);

/* A point with few nodes that the same kernel runs; false: the point cannot run. */
bool latency_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out);

bool latency_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host,
                    uint64_t seed, uint64_t checksum, struct ub_error *err);

#endif
