/* SPDX-License-Identifier: MIT
 *
 * Shared-memory banks: how many wavefronts (turns of the data pipe, one cycle
 * each) a warp's access takes. 32 banks, each one 4-byte word wide and one word
 * a turn; lanes that touch the same word share it. Pure functions of addresses
 * (rules.md section 2); they equal the counters of an H200 at all of 3393 address
 * patterns with full and partial warps (tests/golden/bank_h200.csv). The banks
 * are those of compute capability 5.0 and up. */
#ifndef UB_MODEL_BANK_H
#define UB_MODEL_BANK_H

#include <stdint.h>

enum {
    UB_BANK_COUNT = 32,
    UB_BANK_BYTES = 4,
    UB_MATRIX_ROWS = 8,      /* of one matrix of ldmatrix, */
    UB_MATRIX_ROW_BYTES = 16 /* each row at the address that one lane gives */
};

/* Wavefronts of one shared load of a warp: lane i reads `access_bytes` (4, 8 or
 * 16) bytes at addresses_bytes[i], aligned to that, where bit i of `active` is
 * set. 0 where no lane is active; the address of an inactive lane is not looked at. */
unsigned ub_bank_wavefronts(const uint32_t addresses_bytes[32], uint32_t active, unsigned access_bytes);

/* The same for a store: two lanes that write the same word do not conflict, and
 * nothing is merged. */
unsigned ub_bank_wavefronts_store(const uint32_t addresses_bytes[32], uint32_t active, unsigned access_bytes);

/* What NVIDIA's instrumented counter of shared loads (smsp__sass_..._op_ld) says.
 * It imitates the merging of 8- and 16-byte loads only in part, so it can be above
 * or below what the hardware takes. Exact for full warps, and for partial ones up
 * to 8 bytes; one partial warp in six of 16-byte loads is counted otherwise. */
unsigned ub_bank_wavefronts_counted(const uint32_t addresses_bytes[32], uint32_t active, unsigned access_bytes);

/* ldmatrix of `matrices` (1, 2 or 4) 8 x 16-byte matrices; lane i gives the address of
 * row i % 8 of matrix i / 8. The lanes beyond 8 * matrices are not looked at. */
unsigned ub_bank_wavefronts_matrix(const uint32_t row_addresses_bytes[32], unsigned matrices);

#endif
