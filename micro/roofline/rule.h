/* SPDX-License-Identifier: MIT
 *
 * What the parts of `roofline` share beyond the geometry. */
#ifndef UB_ROOFLINE_RULE_H
#define UB_ROOFLINE_RULE_H

#include "harness/model/coalesce.h"
#include "micro/roofline/geometry.h"

/* What all loads of the launch ask for. */
void roofline_traffic(const struct roofline_geometry *geometry, struct ub_traffic *out);

/* The two roofs: floating-point operations a second of the arithmetic units (NaN: this
 * generation's are not known), bytes a second of DRAM. */
double roofline_peak(const struct ub_gpu *gpu, const struct ub_constants *constants,
                     const struct roofline_geometry *geometry);
double roofline_bandwidth(const struct ub_constants *constants);

void roofline_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                  struct ub_law *out);

/* What a checked launch over `source` must add up to. */
uint64_t roofline_sum(const struct roofline_geometry *geometry, const void *source);

bool roofline_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out);
bool roofline_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host,
                     uint64_t seed, uint64_t checksum, struct ub_error *err);

#endif
