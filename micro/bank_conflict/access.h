/* SPDX-License-Identifier: MIT
 *
 * Which element of shared memory a lane takes: the one definition of every pattern,
 * in the common subset of C11 and CUDA C. The kernel calls it, the law replays it;
 * verification does not (it has formulas of its own). */
#ifndef UB_BANK_CONFLICT_ACCESS_H
#define UB_BANK_CONFLICT_ACCESS_H

#include "micro/bank_conflict/geometry.h"

#ifdef __CUDACC__
#define BANK_CONFLICT_BOTH static __host__ __device__ __forceinline__
#else
#define BANK_CONFLICT_BOTH static inline
#endif

/* The finaliser of MurmurHash3, cut to the window. Its constants are fixed, not drawn
 * from the run's seed, so that counters of two runs can be compared. */
BANK_CONFLICT_BOTH uint32_t bank_conflict_scatter(uint32_t i)
{
    uint32_t x = i * 0x9E3779B1u;
    x ^= x >> 15;
    x *= 0x85EBCA6Bu;
    x ^= x >> 13;
    return x & (BANK_CONFLICT_WINDOW - 1);
}

/* The number of a group of lanes that differ in the bits of `share` only: the lane's
 * number without those bits. */
BANK_CONFLICT_BOTH uint32_t bank_conflict_group(uint32_t lane, uint32_t share)
{
    uint32_t group = 0, place = 0;
    for (uint32_t bit = 0; bit < 5; bit++)
        if (!(share >> bit & 1))
            group |= (lane >> bit & 1) << place++;
    return group;
}

/* Access k of an iteration takes what lies k * BANK_CONFLICT_APART_BYTES behind it. */
BANK_CONFLICT_BOTH uint32_t bank_conflict_element(const struct bank_conflict_geometry *g, uint32_t warp, uint32_t lane)
{
    const uint32_t i = lane * g->stride;
    switch ((enum bank_conflict_pattern)g->pattern) {
    case BANK_CONFLICT_PADDED: /* `pad` elements are left out behind each row of 32 */
        return i + i / BANK_CONFLICT_ROW * g->pad;
    case BANK_CONFLICT_XOR: /* the row's number turns the columns of the row round */
        return i ^ (i / BANK_CONFLICT_ROW % BANK_CONFLICT_ROW);
    case BANK_CONFLICT_COLUMN: /* a warp walks a column of a row-major tile */
        return lane * (BANK_CONFLICT_ROW + g->pad) + warp;
    case BANK_CONFLICT_RANDOM:
        return bank_conflict_scatter(warp * BANK_CONFLICT_LANES + lane);
    case BANK_CONFLICT_BROADCAST:
        return warp;
    case BANK_CONFLICT_MULTICAST: /* the groups lie side by side */
        return bank_conflict_group(lane, g->share);
    case BANK_CONFLICT_BY_STRIDE:
    case BANK_CONFLICT_PATTERNS:
        break;
    }
    return i;
}

#endif
