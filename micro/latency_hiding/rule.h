/* SPDX-License-Identifier: MIT
 *
 * What the parts of `latency_hiding` share beyond the geometry. */
#ifndef UB_LATENCY_HIDING_RULE_H
#define UB_LATENCY_HIDING_RULE_H

#include "harness/model/coalesce.h"
#include "micro/latency_hiding/geometry.h"

void hiding_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                struct ub_law *out);

/* What the loads of work=memory ask for, all warps of the launch together. */
void hiding_traffic(const struct hiding_geometry *geometry, struct ub_traffic *out);

/* ns that a step takes of a warp that has the memory, or its scheduler, for itself. */
double hiding_wait_ns(const struct ub_constants *constants, const struct hiding_geometry *geometry);

/* What the card does at most of the point's work: bytes or multiply-adds a second. */
double hiding_ceiling(const struct ub_gpu *gpu, const struct ub_constants *constants,
                      const struct hiding_geometry *geometry);

/* Warps of an SM, loading or multiplying like the point's, with which the law reaches 90 %
 * of the ceiling. */
double hiding_knee_warps(const struct ub_gpu *gpu, const struct ub_constants *constants,
                         const struct hiding_geometry *geometry);

/* The constants that points of this rule measure (ub_provides.constant). */
extern const char *const hiding_wait_names[HIDING_WIDTHS][HIDING_ILPS];

bool hiding_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out);
bool hiding_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host, uint64_t seed,
                   uint64_t checksum, struct ub_error *err);

#endif
