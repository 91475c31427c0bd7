/* SPDX-License-Identifier: MIT
 *
 * The parts of the rule `carveout`: law.c predicts, verify.c checks answers, rule.c puts
 * them together. */
#ifndef UB_CARVEOUT_RULE_H
#define UB_CARVEOUT_RULE_H

#include "harness/contract/micro.h"
#include "micro/carveout/geometry.h"

/* How the SM's memory is divided while the kernel runs. */
struct carveout_division {
    uint64_t shared_bytes; /* the carve-out, one of the sizes of the generation */
    uint64_t l1_bytes;     /* what is left to cache global loads */
};

void carveout_divide(const struct ub_gpu *gpu, const struct carveout_geometry *geometry, struct carveout_division *out);

/* Loads of all warps in one launch of one iteration, without those that bring lines in. */
uint64_t carveout_loads(const struct carveout_geometry *geometry);

/* Share of those that are found in L1, where that is known; else NaN. */
double carveout_hit_rate(const struct ub_gpu *gpu, const struct carveout_geometry *geometry);

void carveout_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                  struct ub_law *out);

bool carveout_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host,
                     uint64_t seed, uint64_t checksum, struct ub_error *err);

#endif
