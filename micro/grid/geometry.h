/* SPDX-License-Identifier: MIT
 *
 * What a point of `grid` means in numbers: how many blocks, of what size, how many of
 * them an SM holds, and how long each is at work. Law, kernel and verification agree on
 * these; which element a load takes stands in access.h alone. */
#ifndef UB_GRID_GEOMETRY_H
#define UB_GRID_GEOMETRY_H

#include "harness/contract/micro.h"
#include "harness/model/gpu.h"
#include "harness/model/occupancy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Index of each axis in ub_point.values. */
enum grid_axis { GRID_WORK, GRID_BLOCKS, GRID_PER_SM, GRID_SIDE, GRID_RESIDENT, GRID_LENGTH, GRID_SIZE, GRID_AXES };

enum grid_work { GRID_LATENCY, GRID_THROUGHPUT, GRID_DRAM, GRID_WORKS };
enum grid_side { GRID_BELOW, GRID_AT, GRID_ABOVE };

enum {
    GRID_FMAS = 1024,     /* of a thread in a round, each needs the one before */
    GRID_FMA_CYCLES = 4,  /* from one to the next that needs it, Volta to Blackwell (rules.md 5) */
    GRID_LOADS = 4,       /* of 16 bytes, of a thread in a round, in flight together */
    GRID_LOAD_BYTES = 16, /* of a thread, each */
    GRID_REGISTERS = 32,  /* of a thread, at most: never what limits resident blocks */
    GRID_RESIDENT_MAX = 16,
    GRID_SINK_BYTES = 256,    /* the buffer that no kernel ever writes */
    GRID_COUNTER_BYTES = 256, /* the one that holds the number of the next chunk */
    /* A chain counts its multiply-adds in a float, which is exact up to 2^24. */
    GRID_LENGTH_MAX = 8192
};

struct grid_geometry {
    uint32_t work, threads, warps; /* warps: of a block */
    uint32_t blocks;               /* of the launch */
    uint32_t resident;             /* blocks that an SM holds at a time */
    uint32_t shared_bytes;         /* dynamic, of a block: so chosen that no more than `resident` fit */
    uint32_t rounds;
    uint32_t chunks; /* of the ring, a power of two; 0: nothing is loaded */
};

/* Which axes count where. */
extern const struct ub_axis_owners grid_owners;

/* Fills `out`. Returns NULL, or why the axis values contradict each other or what this
 * card has (static text). */
const char *grid_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct grid_geometry *out);

/* SM cycles in which the FP32 lanes of a scheduler take one multiply-add of a warp. */
uint32_t grid_busy_cycles(const struct ub_gpu *gpu);

/* 16-byte elements of a chunk, which one block reads. */
uint64_t grid_chunk_elements(const struct grid_geometry *geometry);

/* Bytes of all chunks; 0: nothing is loaded. */
uint64_t grid_ring_bytes(const struct grid_geometry *geometry);

#ifdef __cplusplus
}
#endif
#endif
