/* SPDX-License-Identifier: MIT
 *
 * What the parts of `block_size` share beyond the geometry. */
#ifndef UB_BLOCK_SIZE_RULE_H
#define UB_BLOCK_SIZE_RULE_H

#include "harness/model/coalesce.h"
#include "micro/block_size/geometry.h"

/* What the accesses to one vector ask for. */
void block_size_traffic(const struct block_size_geometry *geometry, struct ub_traffic *out);

/* Bytes a second that DRAM can move for this: two vectors in, one out. */
double block_size_ceiling(const struct ub_constants *constants);

void block_size_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                    struct ub_law *out);

bool block_size_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out);
bool block_size_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host,
                       uint64_t seed, uint64_t checksum, struct ub_error *err);

#endif
