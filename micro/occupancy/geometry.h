/* SPDX-License-Identifier: MIT
 *
 * What a point of `occupancy` means in numbers: how many blocks an SM holds, what the
 * launch does with them, and for how long. Law, kernel and verification agree on these;
 * which element a load takes stands in access.h alone. */
#ifndef UB_OCCUPANCY_GEOMETRY_H
#define UB_OCCUPANCY_GEOMETRY_H

#include "harness/contract/micro.h"
#include "harness/model/gpu.h"
#include "harness/model/occupancy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Index of each axis in ub_point.values. */
enum occupancy_axis {
    OCCUPANCY_WORK,
    OCCUPANCY_ILP,
    OCCUPANCY_RESIDENT,
    OCCUPANCY_BLOCK,
    OCCUPANCY_REGISTERS,
    OCCUPANCY_SHARED,
    OCCUPANCY_OPTIN,
    OCCUPANCY_TICKETS,
    OCCUPANCY_AXES
};

enum occupancy_work { OCCUPANCY_LATENCY, OCCUPANCY_COMPUTE, OCCUPANCY_WORKS };
enum occupancy_optin { OCCUPANCY_OPTIN_YES, OCCUPANCY_OPTIN_NO };

/* Work is cut into tickets, which the warps of the launch take one after another until
 * none of their pile is left. All of them stay to the end, so that an SM holds the same warps all the
 * time: with a share for each warp instead, a scheduler that is full serves its oldest
 * warps first, they end long before the others, and the rest runs with half the warps.
 * work=compute takes them from one pile for that reason. A single counter gives away no
 * more than one in 2.6 ns once warps queue for it (an H200), which loads that DRAM could
 * bring faster would wait for: work=latency has as many piles as there are SMs, and block
 * b takes from pile b modulo their number. */
enum {
    OCCUPANCY_ILPS = 4,            /* 1, 2, 4, 8 */
    OCCUPANCY_VARIANTS = 9,        /* kernels that differ in their registers */
    OCCUPANCY_FMAS = 1024,         /* of a thread each time round the loop, all chains together */
    OCCUPANCY_ROUNDS = 4,          /* round the loop, of a ticket of work=compute */
    OCCUPANCY_LOADS = 64,          /* of a thread, of a ticket of work=latency */
    OCCUPANCY_SINK_BYTES = 256,    /* the buffer that no kernel ever writes */
    OCCUPANCY_COUNTER_BYTES = 128, /* from one pile's counter of tickets to the next */
    /* Tickets an SM. A thread that took all of them would have counted to 4095 x 4096,
     * just what a float still counts exactly. */
    OCCUPANCY_TICKETS_MAX = 4095
};

struct occupancy_geometry {
    uint32_t work, ilp, ilp_log2;
    uint32_t variant;                               /* which kernel: index of the word of the axis registers */
    uint32_t registers;                             /* that it has, rounded up to the 8 that are given away at a time */
    uint32_t block, warps_per_block, blocks, warps; /* blocks and warps: of the launch */
    uint32_t resident;                              /* blocks of an SM; 0: the launch is refused */
    uint32_t shared_bytes;                          /* dynamic, of a block */
    bool opt_in;
    uint32_t tickets; /* of the launch */
    uint32_t piles;   /* that they lie in: as many tickets and as many warps each */
};

/* Fills `out`. Returns NULL, or why the axis values contradict each other (static
 * text); a launch that the card refuses is no contradiction. */
const char *occupancy_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct occupancy_geometry *out);

/* The same for the law: what each resource of the SM allows. */
void occupancy_limits(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_occupancy *out);

/* Name of the error with which the launch is refused, or NULL. */
const char *occupancy_refusal(const struct ub_gpu *gpu, const struct ub_point *point);

/* 4-byte elements of the region that work=latency walks. */
uint64_t occupancy_elements(const struct occupancy_geometry *geometry);

#ifdef __cplusplus
}
#endif
#endif
