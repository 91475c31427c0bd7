/* SPDX-License-Identifier: MIT
 *
 * What the parts of `spill` share beyond the geometry. */
#ifndef UB_SPILL_RULE_H
#define UB_SPILL_RULE_H

#include "micro/spill/geometry.h"

/* What a kernel does with local memory, a thread. */
struct spill_code {
    uint32_t loads, stores;           /* in a trip */
    uint32_t once_loads, once_stores; /* before and after all trips */
    uint32_t wide_loads, wide_stores; /* those of the latter that move 8 bytes */
    uint32_t local_bytes;             /* of the frame */
};

/* The machine code of the kernel on this GPU; NULL: it is not known. */
const struct spill_code *spill_code(const struct ub_gpu *gpu, const struct spill_geometry *geometry);

/* Values of a warp that are not in a register all the time, in bytes. */
double spill_bytes_of_warp(const struct spill_code *code);

/* Share of the reloads that L1 still has. */
double spill_l1_hits(const struct ub_gpu *gpu, const struct spill_geometry *geometry, const struct spill_code *code);

void spill_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
               struct ub_law *out);

/* Bytes of the buffer of results, one word a thread, and of the one of zeroes. */
uint64_t spill_out_bytes(const struct spill_geometry *geometry);
uint64_t spill_zeroes_bytes(const struct spill_geometry *geometry);

bool spill_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out);
bool spill_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host, uint64_t seed,
                  uint64_t checksum, struct ub_error *err);

#endif
