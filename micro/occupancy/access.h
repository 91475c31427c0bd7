/* SPDX-License-Identifier: MIT
 *
 * Which element a load of work=latency takes: the one definition, in the common subset
 * of C11 and CUDA C. The kernel calls it, the law replays it; verification and
 * reference kernel do not (they have formulas of their own).
 *
 * A warp takes whole lines of 32 elements, so that a load is one request of four
 * sectors. The `ilp` lines of one step stand side by side, the tickets of a group behind
 * each other, and the next step behind all of them, so that warps that work at the same
 * time read what lies together, as they do in most kernels. No line is read twice. */
#ifndef UB_OCCUPANCY_ACCESS_H
#define UB_OCCUPANCY_ACCESS_H

#include "micro/occupancy/geometry.h"

#ifdef __CUDACC__
#define OCCUPANCY_BOTH static __host__ __device__ __forceinline__
#else
#define OCCUPANCY_BOTH static inline
#endif

enum { OCCUPANCY_LANES = 32, OCCUPANCY_GROUP = 64 };

/* The first element of a lane: chain 0 of step 0. Chain c is 32 c further on. */
OCCUPANCY_BOTH uint64_t occupancy_first(uint32_t ilp, uint32_t ticket, uint32_t lane)
{
    const uint64_t before = (uint64_t)(ticket / OCCUPANCY_GROUP) * (OCCUPANCY_GROUP * OCCUPANCY_LOADS);
    return (before + ticket % OCCUPANCY_GROUP * ilp) * OCCUPANCY_LANES + lane;
}

/* From one step to the next: over the tickets of the group, of which the last has fewer. */
OCCUPANCY_BOTH uint32_t occupancy_step(uint32_t ilp, uint32_t ticket, uint32_t tickets)
{
    const uint32_t left = tickets - ticket / OCCUPANCY_GROUP * OCCUPANCY_GROUP;
    return OCCUPANCY_LANES * ilp * (left < OCCUPANCY_GROUP ? left : (uint32_t)OCCUPANCY_GROUP);
}

#endif
