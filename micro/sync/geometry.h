/* SPDX-License-Identifier: MIT
 *
 * What a point of `sync` means in numbers: who waits for whom, how many there are, what is
 * launched. Law, kernel and verification agree on these.
 *
 * A party is what a barrier waits for: warps of a block, lanes of a warp, blocks of a cluster or
 * of a grid. In a checked launch each party leaves a number before the barrier and the others
 * read it after it; who reads whom stands in access.h alone. */
#ifndef UB_SYNC_GEOMETRY_H
#define UB_SYNC_GEOMETRY_H

#include "harness/contract/micro.h"
#include "harness/model/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Index of each axis in ub_point.values. */
enum sync_axis {
    SYNC_OP,
    SYNC_BLOCK,
    SYNC_RESIDENT,
    SYNC_GROUPS,
    SYNC_CLUSTER,
    SYNC_BLOCKS,
    SYNC_LAUNCHES,
    SYNC_BARRIER,
    SYNC_AXES
};

/* The first ones run in a kernel, by the SM's clock; from SYNC_STREAM on the host waits. */
enum sync_op {
    SYNC_OP_BLOCK,
    SYNC_OP_NAMED,
    SYNC_OP_WARP,
    SYNC_OP_SHUFFLE,
    SYNC_OP_VOTE,
    SYNC_OP_CLUSTER,
    SYNC_OP_CLUSTER_RELAXED,
    SYNC_OP_GRID,
    SYNC_OP_FENCE_BLOCK,
    SYNC_OP_FENCE_DEVICE,
    SYNC_OP_FENCE_SYSTEM,
    SYNC_DEVICE_OPS,
    SYNC_OP_STREAM = SYNC_DEVICE_OPS,
    SYNC_OP_DEVICE,
    SYNC_OP_EVENT_SPIN,
    SYNC_OP_EVENT_BLOCK,
    SYNC_OP_LAUNCH,
    SYNC_OP_GRAPH,
    SYNC_OPS
};

enum sync_barrier { SYNC_KEPT, SYNC_LEFT_OUT };

enum {
    SYNC_LANES = 32,
    SYNC_BLOCK_MOST = 1024,
    SYNC_GROUPS_MOST = 16, /* named barriers of a block */
    SYNC_CLUSTER_MOST = 16,
    SYNC_CLUSTER_AUTO = 2,
    SYNC_REGISTERS = 32, /* of a thread, at most */
    /* Operations of one iteration: the difference of both loops. */
    SYNC_STEPS_BLOCK = 64, /* block, named */
    SYNC_STEPS_WARP = 32,
    SYNC_STEPS_LANES = 16, /* shuffle, vote */
    SYNC_STEPS_CLUSTER = 8,
    SYNC_STEPS_GRID = 4,
    SYNC_STEPS_FENCE = 8,
    SYNC_ROUNDS = 3, /* of each of the two loops, in a checked launch */
    SYNC_LOOPS = 2,  /* one with twice as many operations as the other */
    SYNC_DELAY_SHARED_CYCLES = 4000,
    SYNC_DELAY_GLOBAL_CYCLES = 40000,
    SYNC_LAUNCHES_MANY = 256, /* by which the host's time for one more is measured */
    SYNC_HOST_WORDS = 2       /* of the buffer of answers, where the host waits */
};

/* Words in global memory by which a fence is checked: what is written, that it is, that it was
 * read. A line each. */
enum sync_fence_word { SYNC_FENCE_DATA = 0, SYNC_FENCE_FLAG = 32, SYNC_FENCE_READ = 64, SYNC_FENCE_WORDS = 96 };

/* What all lanes vote on first: bit i of it is the vote of lane i - 1 in the next. */
#define SYNC_VOTES UINT32_C(0x2545F491)

/* Words of the buffer of answers, where the host waits. */
enum sync_host_word { SYNC_HOST_CHAIN, SYNC_HOST_DONE };

struct sync_geometry {
    uint32_t op;
    bool left_out;       /* the barrier is */
    uint32_t threads;    /* of a block */
    uint32_t resident;   /* blocks on each SM */
    uint32_t groups;     /* of a block, each with a barrier of its own */
    uint32_t cluster;    /* blocks of a cluster */
    uint32_t blocks;     /* of the grid */
    uint32_t launches;   /* of the host */
    uint32_t operations; /* of one iteration: the difference of both loops */
    uint32_t parties;    /* that wait for each other */
    uint32_t shared_bytes;
};

/* Which axes count where. */
extern const struct ub_axis_owners sync_owners;

/* Fills `out`. Returns NULL, or why the point cannot run (static text). */
const char *sync_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct sync_geometry *out);

bool sync_is_host(const struct sync_geometry *geometry);
/* Whether the barrier is between warps of a block: block, named. */
bool sync_is_barrier_unit(const struct sync_geometry *geometry);
/* Both kinds of barriers of a cluster. */
bool sync_is_cluster(const struct sync_geometry *geometry);
bool sync_is_fence(const struct sync_geometry *geometry);
/* Whether several barriers are at work on an SM, not all of which are served alike. */
bool sync_is_crowded(const struct sync_geometry *geometry);
/* Warps of a block. */
uint32_t sync_warps(const struct sync_geometry *geometry);
/* Blocks of so many threads that an SM holds, of a kernel with few registers. */
uint32_t sync_resident_most(const struct ub_gpu *gpu, uint32_t threads);
/* Shared memory in which the threads of a block leave numbers, in two rows. */
uint64_t sync_slots_bytes(uint32_t threads);
/* 64-bit words of answers, 32-bit words in global memory in which parties leave numbers. */
uint64_t sync_answers(const struct sync_geometry *geometry);
uint64_t sync_slots(const struct sync_geometry *geometry);

#ifdef __cplusplus
}
#endif
#endif
