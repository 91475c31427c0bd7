/* SPDX-License-Identifier: MIT
 *
 * What the counts of both kinds of kernels share: the part of a launch that is replayed, and
 * accesses of a warp. */
#ifndef UB_GEMM_LAW_COUNT_H
#define UB_GEMM_LAW_COUNT_H

#include "micro/gemm/rule.h"

/* One kind of block, at one kind of step. */
struct gemm_part {
    const struct gemm_geometry *g;
    uint64_t top, left, first; /* row and column of C, place along k */
    struct gemm_counts *out;
};

/* One access of a warp to a matrix, lane by lane. */
struct gemm_access {
    uint64_t addresses[UB_WARP_LANES];
    uint32_t active;
};

struct gemm_matrix {
    uint64_t rows, columns;
    unsigned element_bytes;
};

/* A lane accesses an element, if there is one at that place. */
void gemm_lane_at(struct gemm_access *access, uint32_t lane, const struct gemm_matrix *matrix, uint64_t row,
                  uint64_t column);
struct gemm_matrix gemm_matrix_a(const struct gemm_geometry *geometry);
struct gemm_matrix gemm_matrix_b(const struct gemm_geometry *geometry);
struct gemm_matrix gemm_matrix_c(const struct gemm_geometry *geometry);

/* Turns of the 32 banks of L1 that gather what a load asks for: the rule of shared memory. */
unsigned gemm_turns_of(const struct gemm_access *access, unsigned bytes);
/* `bytes` of each lane. */
void gemm_add_load(struct gemm_counts *out, const struct gemm_access *access, unsigned bytes, uint64_t times);
void gemm_add_store(struct gemm_counts *out, const struct gemm_access *access, unsigned bytes);
/* The same of a whole warp in shared memory, at byte addresses. */
void gemm_add_shared_load(struct gemm_shared *out, const uint32_t addresses[UB_WARP_LANES], unsigned bytes,
                          uint64_t times);
void gemm_add_shared_store(struct gemm_shared *out, const uint32_t addresses[UB_WARP_LANES], unsigned bytes);

/* What the block at the part's place does at one step, and once. */
void gemm_count_step(const struct gemm_part *part);
void gemm_count_results(const struct gemm_part *part);

/* law_fast.c: the kernels that copy in the background. */
void gemm_async_step(const struct gemm_part *part);
void gemm_async_results(const struct gemm_part *part);
void gemm_tensor_step(const struct gemm_part *part);
void gemm_tensor_results(const struct gemm_part *part);

#endif
