/* SPDX-License-Identifier: MIT
 *
 * What a point of `latency` means in numbers: which chain of operations, where its nodes
 * lie, how many there are. Law, kernel and verification agree on these; in which order
 * the nodes are visited stands in access.h alone.
 *
 * A unit is the room of one node: a line of 128 bytes of global memory, 64 bytes of
 * constant memory, a word of a thread's local memory (32 threads' words are one line), a
 * row of the 32 banks for each way of the conflict in shared memory. */
#ifndef UB_LATENCY_GEOMETRY_H
#define UB_LATENCY_GEOMETRY_H

#include "harness/contract/micro.h"
#include "harness/model/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Index of each axis in ub_point.values. */
enum latency_axis {
    LATENCY_OP,
    LATENCY_LEVEL,
    LATENCY_FOOTPRINT,
    LATENCY_BYTES,
    LATENCY_WAYS,
    LATENCY_SM,
    LATENCY_AXES
};

enum latency_op {
    LATENCY_LOAD,
    LATENCY_FMA,
    LATENCY_ADD,
    LATENCY_MAD,
    LATENCY_FP64,
    LATENCY_SHUFFLE,
    LATENCY_ATOMIC,
    LATENCY_SHARED_ATOMIC,
    LATENCY_OPS
};

/* Where the loads go. l1: through every cache there is; l2, dram: past L1. */
enum latency_level {
    LATENCY_L1,
    LATENCY_L2,
    LATENCY_DRAM,
    LATENCY_SHARED,
    LATENCY_CONSTANT,
    LATENCY_LOCAL,
    LATENCY_LEVELS
};

enum {
    LATENCY_LANES = 32,
    LATENCY_BLOCK = 1024, /* threads: they lay the chain and walk it once, then one warp goes on */
    LATENCY_HOPS = 16,    /* operations of one iteration: loads, shuffles, atomics */
    LATENCY_STEPS = 64,   /* operations of one iteration: arithmetic */
    LATENCY_ROW_BYTES = 128,
    LATENCY_CONSTANT_UNIT_BYTES = 64,
    LATENCY_CONSTANT_BYTES = 65536, /* all that a kernel has */
    LATENCY_LOCAL_WORDS = 128,      /* of the array in local memory */
    LATENCY_NODE_BYTES = 16,        /* where the next one is, the number of this one */
    LATENCY_OUT_WORDS = 32          /* 64-bit words of the buffer of answers */
};

/* Words of the buffer of answers. */
enum latency_out { LATENCY_OUT_END, LATENCY_OUT_SM };

struct latency_geometry {
    uint32_t op, level;
    uint32_t bytes;               /* of a load */
    uint32_t ways;                /* rows of shared memory among which the lanes of a warp divide */
    uint32_t sm;                  /* that runs the chain */
    uint32_t unit_bytes;          /* of a node */
    uint32_t low_bits, high_bits; /* of the number of a unit: see access.h */
    uint32_t operations;          /* of one iteration */
    uint64_t footprint_bytes;
    uint64_t units, cycle; /* units of the footprint; nodes of the walk, fewer in a large footprint */
};

/* Which axes count where. */
extern const struct ub_axis_owners latency_owners;

/* Fills `out`. Returns NULL, or why the point cannot run (static text). */
const char *latency_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct latency_geometry *out);

/* Whether there are nodes: loads and atomics wander, operations stay in registers. */
bool latency_has_chain(const struct latency_geometry *geometry);
/* Whether the nodes of the walk lie in a buffer, a unit apart: global and constant memory. */
bool latency_in_buffer(const struct latency_geometry *geometry);

/* The node where a chain of loads or atomics ends. In global memory its first hop is not
 * timed. */
#ifdef __CUDACC__
static __host__ __device__ __forceinline__
#else
static inline
#endif
    uint64_t
    latency_end(const struct latency_geometry *g, uint64_t iterations)
{
    return (iterations * LATENCY_HOPS + (g->level <= LATENCY_DRAM)) % g->cycle;
}

#ifdef __cplusplus
}
#endif
#endif
