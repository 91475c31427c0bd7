/* SPDX-License-Identifier: MIT
 *
 * Theoretical occupancy: how many blocks of a launch an SM holds at a time, what each
 * of its resources alone would allow, and which of them decides. The law is that of
 * NVIDIA's cuda_occupancy.h (CUDA 13.0), which a test compares it with; pure. Not
 * modelled: partitioned global caching (an option of CC 5.2 and 6.1 only) and the
 * "virtual resources" of CC 10 to 12, which no document explains. */
#ifndef UB_MODEL_OCCUPANCY_H
#define UB_MODEL_OCCUPANCY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ub_gpu; /* harness/model/gpu.h */

enum { UB_CARVEOUTS = 10 };

/* What an SM has to share among its blocks, and in which pieces it gives it away. */
struct ub_sm_limits {
    int cc_major, cc_minor;
    int warps, blocks, threads_per_block;
    int registers, registers_per_block, register_unit_per_warp, registers_per_thread;
    int partitions; /* each has its own part of the registers and of the warps */
    int barriers;
    bool barriers_limit; /* before CC 9.0 nothing is known to be limited by them */
    /* Most that a block may have without and with opting in; what the driver takes of
     * each block for itself; pieces in which shared memory is given away. */
    uint64_t shared_bytes, shared_per_block_bytes, shared_per_block_optin_bytes, shared_reserved_bytes;
    uint64_t shared_unit_bytes;
    /* How much of L1 can be shared memory, ascending; none: L1 is apart. */
    size_t carveout_count;
    uint64_t carveouts_bytes[UB_CARVEOUTS];
};

/* Of a card (CC 7.0 and later). */
void ub_sm_limits_of_gpu(const struct ub_gpu *gpu, struct ub_sm_limits *out);
/* Of a compute capability from 3.5 on; false: not known. */
bool ub_sm_limits_of_cc(int cc_major, int cc_minor, struct ub_sm_limits *out);
/* The `index`th compute capability that is known; false: there are fewer. */
bool ub_sm_limits_cc_at(size_t index, int *cc_major, int *cc_minor);

/* What a launch asks for. */
struct ub_occupancy_request {
    int threads;           /* of a block */
    int registers;         /* of a thread, as the compiler reports them; 0: none */
    uint64_t shared_bytes; /* of a block, static and dynamic; without the driver's reserve */
    int barriers;          /* of a block; __syncthreads() alone is 1 */
    bool opt_in;           /* cudaFuncAttributeMaxDynamicSharedMemorySize was raised far enough */
    int carveout_percent;  /* cudaFuncAttributePreferredSharedMemoryCarveout; -1: the default */
};

enum ub_sm_resource { UB_SM_REGISTERS, UB_SM_SHARED, UB_SM_WARPS, UB_SM_BLOCKS, UB_SM_BARRIERS, UB_SM_RESOURCES };

extern const char *const ub_sm_resource_names[]; /* registers, shared memory, warps, blocks, barriers */

enum { UB_BLOCKS_UNLIMITED = INT_MAX };

struct ub_occupancy {
    int limits[UB_SM_RESOURCES]; /* blocks that each resource alone allows; UB_BLOCKS_UNLIMITED */
    unsigned limiting;           /* bit 1 << resource: it decides */
    int blocks;                  /* of an SM, the least of the limits; 0: a launch is refused */
    int warps_per_block, warps;  /* whole warps; of a block, of an SM */
    double share;                /* warps of an SM / the most that it holds */
    int registers_per_warp;      /* allocated: rounded up */
    uint64_t shared_bytes;       /* allocated for a block: with the reserve, rounded up */
    uint64_t carveout_bytes;     /* shared memory of the SM under this launch */
};

/* `request->threads` is 1 or more. */
void ub_occupancy_solve(const struct ub_sm_limits *limits, const struct ub_occupancy_request *request,
                        struct ub_occupancy *out);

/* The name of the error that a launch of this ends with, or NULL where a block fits:
 * cudaErrorInvalidValue (1) for too many threads or too much shared memory, whatever the
 * registers; else cudaErrorLaunchOutOfResources (701) for too many registers. Measured on
 * an H200 with CUDA 13.0 and driver 580; driver_types.h describes the first as
 * cudaErrorInvalidConfiguration (9), which it was not. */
const char *ub_occupancy_refusal(const struct ub_sm_limits *limits, const struct ub_occupancy_request *request);

/* The most of one resource that leaves room for `blocks` blocks of an SM, all else as in
 * `request`; -1: not even the least does. What other resources allow is not looked at. */
int ub_occupancy_most_registers(const struct ub_sm_limits *limits, const struct ub_occupancy_request *request,
                                int blocks);
int64_t ub_occupancy_most_shared(const struct ub_sm_limits *limits, const struct ub_occupancy_request *request,
                                 int blocks);

#ifdef __cplusplus
}
#endif
#endif
