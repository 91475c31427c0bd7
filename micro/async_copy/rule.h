/* SPDX-License-Identifier: MIT
 *
 * What the parts of `async_copy` share beyond the geometry. */
#ifndef UB_ASYNC_COPY_RULE_H
#define UB_ASYNC_COPY_RULE_H

#include "harness/model/coalesce.h"
#include "micro/async_copy/geometry.h"

/* Of one tile, alone on its SM: from the request until its slowest line is there; its
 * multiply-adds at the rate of the lanes; what stands beside them. NaN: not known. */
double copy_load_ns(const struct ub_constants *constants, const struct copy_geometry *geometry);
double copy_fmas_ns(const struct ub_gpu *gpu, const struct ub_constants *constants,
                    const struct copy_geometry *geometry);
double copy_beside_ns(const struct ub_constants *constants, const struct copy_geometry *geometry);

/* From a tile that an SM is through with to the next: as the law has it, and if one block did
 * one thing after the other. */
double copy_period_ns(const struct ub_gpu *gpu, const struct ub_constants *constants,
                      const struct copy_geometry *geometry);
double copy_sum_ns(const struct ub_gpu *gpu, const struct ub_constants *constants,
                   const struct copy_geometry *geometry);

/* Names of the constants that are measured for a tile of 4 KiB, by way: load and what stands
 * beside the multiply-adds, the latter alone. */
extern const char *const copy_wait_names[COPY_WAYS];
extern const char *const copy_beside_names[COPY_WAYS];

/* What the threads' own copies ask for (no bulk copy). */
void copy_traffic(const struct copy_geometry *geometry, struct ub_traffic *out);

void copy_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
              struct ub_law *out);

/* What a checked launch over `source` must add up to. */
uint32_t copy_sum(const struct copy_geometry *geometry, const void *source);

bool copy_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out);
bool copy_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host, uint64_t seed,
                 uint64_t checksum, struct ub_error *err);

#endif
