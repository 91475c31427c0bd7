/* SPDX-License-Identifier: MIT
 *
 * What the parts of `atomics` share beyond the geometry. */
#ifndef UB_ATOMICS_RULE_H
#define UB_ATOMICS_RULE_H

#include "micro/atomics/geometry.h"

/* What the adds of a launch are cut into: sums over all atomic instructions of its warps, those
 * that flush way=private left out. Of a loop round compare-and-swap: if each try were one add. */
struct atomics_cost {
    uint64_t sectors;        /* distinct sectors of an instruction */
    uint64_t packets;        /* that L1 sends to L2: one line, each address once */
    uint64_t single_packets; /* those of one address */
    uint64_t parts;          /* sectors of all packets */
    uint64_t full_parts;     /* those of which every byte is added to */
    uint64_t long_parts;     /* those of more than two addresses */
    uint64_t turns;          /* of shared memory */
};

/* The addresses of a warp in ascending order, each once, and how many lanes share it. */
struct atomics_warp_addresses {
    uint32_t count;
    uint64_t bytes[ATOMICS_WARP];
    uint32_t lanes[ATOMICS_WARP];
};

/* Of one instruction (cost.c), and of the launch (law.c). */
void atomics_cost_of_warp(const struct atomics_geometry *geometry, const struct atomics_warp_addresses *warp,
                          struct atomics_cost *out);
void atomics_cost(const struct atomics_geometry *geometry, struct atomics_cost *out);

/* Atomic instructions of all warps, each try of a loop left out. */
uint64_t atomics_instructions(const struct atomics_geometry *geometry);

/* Lanes of a warp that share an address. */
uint32_t atomics_sharing(const struct atomics_geometry *geometry);

/* Whether two warps may add to one address at the same time. */
bool atomics_contended(const struct atomics_geometry *geometry);

void atomics_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                 struct ub_law *out);

bool atomics_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out);
bool atomics_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host,
                    uint64_t seed, uint64_t checksum, struct ub_error *err);

#endif
