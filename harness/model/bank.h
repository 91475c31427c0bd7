/* SPDX-License-Identifier: MIT
 *
 * Shared-memory banks: how many wavefronts (turns of the data pipe, one cycle
 * each) a warp's access takes. 32 banks, each one 4-byte word wide. Pure
 * functions of the addresses; the same for every card of compute capability 5.0
 * and up as far as documents say, checked against the counters of an H200. */
#ifndef UB_MODEL_BANK_H
#define UB_MODEL_BANK_H

#include <stdint.h>

enum { UB_BANK_COUNT = 32, UB_BANK_BYTES = 4 };

/* Wavefronts of one shared load of a warp: lane i reads `access_bytes` (4, 8 or
 * 16) bytes at addresses_bytes[i], aligned to that, where bit i of `active` is
 * set. 0 where no lane is active. */
unsigned ub_bank_wavefronts(const uint32_t addresses_bytes[32], uint32_t active, unsigned access_bytes);

/* The same for a store; two lanes that write the same word do not conflict. */
unsigned ub_bank_wavefronts_store(const uint32_t addresses_bytes[32], uint32_t active, unsigned access_bytes);

#endif
