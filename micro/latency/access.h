/* SPDX-License-Identifier: MIT
 *
 * In which order the nodes are visited, and what the lanes of a warp do with one: the
 * one definition, in the common subset of C11 and CUDA C. The kernel calls it, the law
 * replays it; verification does not: it walks the chain that the kernel has laid. */
#ifndef UB_LATENCY_ACCESS_H
#define UB_LATENCY_ACCESS_H

#include "micro/latency/geometry.h"

#ifdef __CUDACC__
#define LATENCY_BOTH static __host__ __device__ __forceinline__
#else
#define LATENCY_BOTH static inline
#endif

/* The finaliser of MurmurHash3. Its constants are fixed, not drawn from the run's seed, so
 * that two runs walk alike. */
LATENCY_BOTH uint32_t latency_mix(uint32_t x)
{
    x = (x ^ x >> 16) * 0x85EBCA6Bu;
    x = (x ^ x >> 13) * 0xC2B2AE35u;
    return x ^ x >> 16;
}

/* The unit of node i: a permutation of all units, so that the nodes 0, 1, 2, ... are a
 * random walk that visits none twice. A Feistel network permutes all numbers of so many
 * bits, whatever it mixes in; those beyond the last unit are permuted again, until one is
 * not (Black and Rogaway 2002, "cycle walking"). */
LATENCY_BOTH uint64_t latency_unit(const struct latency_geometry *g, uint64_t i)
{
    const uint32_t low_mask = (1u << g->low_bits) - 1, high_mask = (1u << g->high_bits) - 1;
    uint32_t high = (uint32_t)(i >> g->low_bits), low = (uint32_t)i & low_mask;
    do {
        high ^= latency_mix(low + 0x9E3779B1u) & high_mask;
        low ^= latency_mix(high + 0x3C6EF362u) & low_mask;
        high ^= latency_mix(low + 0xDAA66D2Bu) & high_mask;
        low ^= latency_mix(high + 0x78DDE6C4u) & low_mask;
        i = (uint64_t)high << g->low_bits | low;
    } while (i >= g->units);
    return i;
}

/* The node after node i. */
LATENCY_BOTH uint64_t latency_next(const struct latency_geometry *g, uint64_t i)
{
    return latency_unit(g, i + 1 == g->cycle ? 0 : i + 1);
}

/* Shared memory: where in the unit a lane reads. Lanes of one row read one word; two
 * rows are two words of one bank. */
LATENCY_BOTH uint32_t latency_row(const struct latency_geometry *g, uint32_t lane)
{
    return lane % g->ways * LATENCY_ROW_BYTES;
}

#endif
