/* SPDX-License-Identifier: MIT
 *
 * What the parts of `fusion` share beyond the geometry. */
#ifndef UB_FUSION_RULE_H
#define UB_FUSION_RULE_H

#include "harness/model/coalesce.h"
#include "micro/fusion/geometry.h"

/* What all kernels of a launch ask of global memory. */
struct fusion_traffic {
    struct ub_traffic loads, stores;
};
void fusion_count(const struct fusion_geometry *geometry, struct fusion_traffic *out);

void fusion_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                struct ub_law *out);

bool fusion_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out);
bool fusion_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host, uint64_t seed,
                   uint64_t checksum, struct ub_error *err);

#endif
