/* SPDX-License-Identifier: MIT
 *
 * What a point of `latency_hiding` means in numbers: how the warps of an SM are cut into
 * blocks, and how much work the launch has. Law, kernel and verification agree on these;
 * which element a load takes stands in access.h alone. */
#ifndef UB_LATENCY_HIDING_GEOMETRY_H
#define UB_LATENCY_HIDING_GEOMETRY_H

#include "harness/contract/micro.h"
#include "harness/model/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Index of each axis in ub_point.values. */
enum hiding_axis { HIDING_WORK, HIDING_WARPS, HIDING_ILP, HIDING_BYTES, HIDING_LENGTH, HIDING_AXES };

enum hiding_work { HIDING_MEMORY, HIDING_ARITHMETIC, HIDING_WORKS };

enum {
    HIDING_ILPS = 4,   /* 1, 2, 4, 8 */
    HIDING_WIDTHS = 3, /* 4, 8, 16 bytes */
    HIDING_LANES = 32,
    /* A ticket of work=arithmetic: multiply-adds of a thread each time round the loop, all
     * chains together, and times round it. */
    HIDING_FMAS = 1024,
    HIDING_LOOPS = 4,
    HIDING_COUNTER_BYTES = 256, /* the buffer that holds the number of the next ticket */
    /* A thread counts its multiply-adds in a float, exactly up to 4096 tickets. At this
     * length, or with one warp an SM and the usual work, it takes a fourth of that. */
    HIDING_LENGTH_MAX = 1000
};

struct hiding_geometry {
    uint32_t work, ilp, ilp_log2;
    uint32_t bytes, width;       /* of an access; index of its word */
    uint32_t warps;              /* of an SM */
    uint32_t resident;           /* blocks of an SM */
    uint32_t block, block_warps; /* threads and warps of a block */
    uint32_t blocks, all_warps;  /* of the launch */
    uint32_t shared_bytes;       /* dynamic, of a block: an SM holds `resident` of them and not one more */
    /* A step starts `ilp` operations and waits for all. work=memory: steps of each warp.
     * work=arithmetic: steps of a ticket, and tickets of the launch. */
    uint32_t steps, tickets;
};

/* Registers of a thread that a kernel may have which loads so many words at once: room for
 * all of them and for what else it needs. With 40 for 32 words the compiler let the last
 * load wait for the first, whose register it took: in flight were then half as many (an
 * H200 waited 790 ns instead of 499); a test looks at the machine code. A macro, since the
 * kernels name it at compile time. */
#define HIDING_REGISTERS(words) ((words) <= 16 ? 32 : 48)

/* Fills `out`. Returns NULL, or why the point cannot run on this card (static text). */
const char *hiding_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct hiding_geometry *out);

/* Bytes that the launch loads, multiply-adds of all its threads; 0 where it does other work. */
uint64_t hiding_bytes(const struct hiding_geometry *geometry);
uint64_t hiding_fmas(const struct hiding_geometry *geometry);

/* Steps of all warps together. */
uint64_t hiding_steps(const struct hiding_geometry *geometry);

/* What an SM has in flight where all its warps wait: bytes, or multiply-adds of threads. */
uint64_t hiding_in_flight(const struct hiding_geometry *geometry);

#ifdef __cplusplus
}
#endif
#endif
