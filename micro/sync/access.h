/* SPDX-License-Identifier: MIT
 *
 * What a party leaves for the others and whose number a thread reads: the one definition, in
 * the common subset of C11 and CUDA C. Kernel and fake call it; the host's check and the
 * reference kernel have formulas of their own. */
#ifndef UB_SYNC_ACCESS_H
#define UB_SYNC_ACCESS_H

#include "micro/sync/geometry.h"

#ifdef __CUDACC__
#define SYNC_BOTH static __host__ __device__ __forceinline__
#else
#define SYNC_BOTH static inline
#endif

/* What `party` leaves at `time`: it grows with time, so that a number of before is smaller. */
SYNC_BOTH uint32_t sync_number(uint32_t party, uint32_t parties, uint32_t time)
{
    return time * parties + party + 1;
}

/* Where: in one of two rows in turn, so that a fast party does not overwrite what a slow one
 * still reads. */
SYNC_BOTH uint32_t sync_slot(uint32_t party, uint32_t parties, uint32_t time)
{
    return (time & 1) * parties + party;
}

/* Whose number a lane reads: that of the next party, the one after it, ... */
SYNC_BOTH uint32_t sync_peer(uint32_t party, uint32_t parties, uint32_t lane)
{
    return (party + 1 + lane) % parties;
}

/* Whether this party comes late at `time`. */
SYNC_BOTH bool sync_is_late(uint32_t party, uint32_t parties, uint32_t time)
{
    return time % parties == party;
}

#endif
