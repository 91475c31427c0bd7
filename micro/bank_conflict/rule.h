/* SPDX-License-Identifier: MIT
 *
 * The parts of the rule `bank_conflict`: law.c predicts, verify.c checks answers,
 * rule.c puts them together. */
#ifndef UB_BANK_CONFLICT_RULE_H
#define UB_BANK_CONFLICT_RULE_H

#include "harness/contract/micro.h"
#include "micro/bank_conflict/geometry.h"

/* What the accesses under the lens cost, one iteration. */
struct bank_conflict_cost {
    uint64_t requests;
    uint64_t wavefronts; /* of the hardware */
    uint64_t counted;    /* wavefronts as the instrumented counter works them out */
    uint64_t unmerged;   /* wavefronts if nothing were merged */
    uint64_t bytes;      /* distinct ones of each request */
};

void bank_conflict_cost(const struct bank_conflict_geometry *geometry, struct bank_conflict_cost *out);

/* Wavefronts of an access without any conflict: its bytes / 128. */
unsigned bank_conflict_least(const struct bank_conflict_geometry *geometry);

/* Requests of 4 bytes a lane, each one wavefront, that fill shared memory before the
 * accesses, or copy it out after them. */
uint64_t bank_conflict_passes(const struct bank_conflict_geometry *geometry);

void bank_conflict_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                       struct ub_law *out);

bool bank_conflict_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host,
                          uint64_t seed, uint64_t checksum, struct ub_error *err);

#endif
