/* SPDX-License-Identifier: MIT
 *
 * What the parts of `gemm` share beyond the geometry. */
#ifndef UB_GEMM_RULE_H
#define UB_GEMM_RULE_H

#include "harness/model/coalesce.h"
#include "micro/gemm/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Accesses of warps to shared memory. */
struct gemm_shared {
    uint64_t requests;
    uint64_t wavefronts; /* as NVIDIA's instrumented counter has them */
    uint64_t turns;      /* of the hardware, which merges more of them */
};

/* What all warps of a launch do, but for the variants of a library. */
struct gemm_counts {
    uint64_t multiply_adds;                  /* of threads, with those on zeroes beyond the matrices */
    uint64_t matrix_instructions;            /* of warps */
    struct ub_traffic loads, stores, copies; /* copies: from global to shared memory (cp.async) */
    uint64_t copy_wavefronts;                /* of copies in shared memory */
    uint64_t load_turns;                     /* of L1's banks, to gather what global loads ask for */
    double load_cycles;                      /* of L1, for global loads that find their data there */
    struct gemm_shared shared_loads, shared_stores;
};

/* Of the pipe that L1 and shared memory have in common. */
uint64_t gemm_turns(const struct gemm_counts *counts);

void gemm_count(const struct gemm_geometry *geometry, struct gemm_counts *out);

/* Useful ones: m n k. */
double gemm_multiply_adds(const struct gemm_geometry *geometry);
/* Bytes of A, B and C. */
double gemm_matrix_bytes(const struct gemm_geometry *geometry);
/* Operations a second of all multiply-add units that the variant uses; NaN: not known. */
double gemm_peak(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct gemm_geometry *geometry);

void gemm_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
              struct ub_law *out);

bool gemm_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out);
bool gemm_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host, uint64_t seed,
                 uint64_t checksum, struct ub_error *err);

/* The sum of `k` products, worked out in whatever order in the precision of the variant, is off
 * by this times the sum of their absolute values at most. */
double gemm_error_bound(const struct gemm_geometry *geometry);

#ifdef __cplusplus
}
#endif

#endif
