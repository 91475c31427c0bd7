/* SPDX-License-Identifier: MIT
 *
 * What the parts of `reduce` share beyond the geometry. */
#ifndef UB_REDUCE_RULE_H
#define UB_REDUCE_RULE_H

#include "harness/model/coalesce.h"
#include "micro/reduce/geometry.h"

/* What a launch asks of shared memory, and which atomics it does. */
struct reduce_shared {
    uint64_t load_requests, store_requests;
    uint64_t load_wavefronts, store_wavefronts;
    uint64_t atomics;
};

/* Loads of the elements by all blocks, the last of which may lack some. */
void reduce_traffic(const struct reduce_geometry *geometry, struct ub_traffic *out);
/* Of one block up to its sum. */
void reduce_shared_of_block(const struct reduce_geometry *geometry, struct reduce_shared *out);

void reduce_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                struct ub_law *out);

bool reduce_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out);
bool reduce_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host, uint64_t seed,
                   uint64_t checksum, struct ub_error *err);

#endif
