/* SPDX-License-Identifier: MIT
 *
 * What a point of `atomics` means in numbers: how many warps add, to how many addresses, how
 * often, and which value. Law, kernel and verification agree on these; which address a lane
 * takes stands in access.h alone. */
#ifndef UB_ATOMICS_GEOMETRY_H
#define UB_ATOMICS_GEOMETRY_H

#include "harness/contract/micro.h"
#include "harness/model/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Index of each axis in ub_point.values. */
enum atomics_axis {
    ATOMICS_SPACE,
    ATOMICS_WAY,
    ATOMICS_TYPE,
    ATOMICS_RESULT,
    ATOMICS_ADDRESSES,
    ATOMICS_LANES,
    ATOMICS_APART,
    ATOMICS_WARPS,
    ATOMICS_LENGTH,
    ATOMICS_AXES
};

enum atomics_space { ATOMICS_GLOBAL, ATOMICS_SHARED, ATOMICS_SPACES };

/* plain: atomicAdd() at an address that the compiler does not know to be the same for all
 * lanes. one: the same, of the constant 1. cas: a loop round atomicCAS(). compiler: atomicAdd()
 * at an address that the compiler sees to be the block's: it adds up the lanes of a warp first.
 * private: each block adds in shared memory and at last its sums in global memory. */
enum atomics_way { ATOMICS_PLAIN, ATOMICS_ONE, ATOMICS_CAS, ATOMICS_COMPILER, ATOMICS_PRIVATE, ATOMICS_WAYS };

enum atomics_type { ATOMICS_INT, ATOMICS_LONG, ATOMICS_FLOAT, ATOMICS_DOUBLE, ATOMICS_HALF2, ATOMICS_TYPES };

enum atomics_result { ATOMICS_UNUSED, ATOMICS_USED };

enum {
    ATOMICS_WARP = 32,
    ATOMICS_WARPS_MAX = 32,
    ATOMICS_ADDRESSES_MAX = 1 << 22,
    ATOMICS_APART_MAX = 4096,
    ATOMICS_LENGTH_MAX = 4096,
    ATOMICS_VALUES = 7, /* lane l adds 1 + l % 7, or 1 where the numbers would not be exact else */
    ATOMICS_UNROLL = 4  /* steps each time round the loop */
};

struct atomics_geometry {
    uint32_t space, way, type, used;
    uint32_t bytes;     /* of a number */
    uint32_t addresses; /* distinct ones: of the launch; space=shared: of a block */
    uint32_t lanes;     /* distinct ones of a warp's instruction */
    uint32_t apart;     /* bytes from an address to the next */
    uint32_t block_warps, blocks;
    uint32_t warps;  /* that share the addresses: of the launch, or of a block */
    uint32_t steps;  /* adds of a thread */
    uint32_t copies; /* of the addresses in the buffer: one, or one a block */
    uint32_t shared_bytes;
    bool varied; /* lanes add different values */
};

/* Fills `out`. Returns NULL, or why the point cannot run on this card (static text). */
const char *atomics_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct atomics_geometry *out);

/* Whether the adds are done in shared memory. */
bool atomics_in_shared(const struct atomics_geometry *geometry);

/* Whether a number is added by a loop round compare-and-swap: the rule's own, or the compiler's
 * (shared memory adds nothing but 32-bit integers by itself). */
bool atomics_loops(const struct atomics_geometry *geometry);

/* Adds of all threads of the launch. */
uint64_t atomics_adds(const struct atomics_geometry *geometry);

/* Bytes of one copy of the addresses, and of the buffer. */
uint64_t atomics_copy_bytes(const struct atomics_geometry *geometry);
uint64_t atomics_buffer_bytes(const struct atomics_geometry *geometry);

#ifdef __cplusplus
}
#endif
#endif
