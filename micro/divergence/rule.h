/* SPDX-License-Identifier: MIT
 *
 * The parts of the rule `divergence` that rule.c puts together. */
#ifndef UB_DIVERGENCE_RULE_H
#define UB_DIVERGENCE_RULE_H

#include "micro/divergence/geometry.h"

/* What one launch of one iteration costs, by replay. */
struct divergence_count {
    uint64_t warps;     /* of the whole grid */
    uint64_t divergent; /* branch executions whose lanes go different ways, whole grid */
    uint64_t ffma;      /* fused multiply-adds, whole grid, a thread each */
    /* Paths that warps of one block execute, one after the other, in units of the body. */
    uint64_t longest_warp;      /* of the warp that executes most */
    uint64_t busiest_scheduler; /* summed over the warps of one scheduler */
};

/* Replays one block; all blocks of a launch cost the same. */
void divergence_replay(const struct ub_gpu *gpu, const struct divergence_geometry *geometry,
                       struct divergence_count *out);

/* Name of the constant that is the time of one step of the variant where a warp takes
 * one path ("fma_step_ns"). */
const char *divergence_step_constant(uint32_t variant);

void divergence_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                    struct ub_law *out);

bool divergence_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out);
bool divergence_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host,
                       uint64_t seed, uint64_t checksum, struct ub_error *err);

/* Bytes of the buffer of results: one word a thread. */
uint64_t divergence_out_bytes(const struct divergence_geometry *geometry);

#endif
