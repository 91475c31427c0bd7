/* SPDX-License-Identifier: MIT
 *
 * The coalescer: what one warp's memory instruction costs. Law (CUDA C++ Best
 * Practices Guide, "Coalesced access to global memory"; rules.md 1): a request
 * touches as many 32-byte sectors as cover the bytes of its active lanes;
 * duplicates are free, the order of lanes is irrelevant. Checked against the
 * counters of an H200 for accesses of 1 to 16 bytes. */
#ifndef UB_MODEL_COALESCE_H
#define UB_MODEL_COALESCE_H

#include <stdint.h>

enum { UB_WARP_LANES = 32, UB_SECTOR_BYTES = 32, UB_LINE_BYTES = 128 };

/* Sums over requests. */
struct ub_traffic {
    uint64_t requests; /* warps with at least one active lane */
    uint64_t sectors;  /* distinct 32-byte sectors of each request */
    uint64_t lines;    /* distinct 128-byte lines of each request */
    uint64_t bytes;    /* distinct bytes of each request */
};

/* Adds one warp: lane i accesses `access_bytes` (1, 2, 4, 8, 16) bytes at
 * addresses_bytes[i] where bit i of `active` is set. Addresses need not be aligned. */
void ub_coalesce_warp(const uint64_t addresses_bytes[UB_WARP_LANES], uint32_t active, unsigned access_bytes,
                      struct ub_traffic *traffic);

/* traffic += times x period. */
void ub_traffic_add(struct ub_traffic *traffic, const struct ub_traffic *period, uint64_t times);

#endif
