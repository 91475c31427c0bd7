/* SPDX-License-Identifier: MIT
 *
 * What a point of `block_size` means in numbers: how the vectors are cut into threads,
 * warps and blocks, and how many of these an SM holds. Law, kernel and verification agree
 * on these; which element a thread takes stands in access.h alone. */
#ifndef UB_BLOCK_SIZE_GEOMETRY_H
#define UB_BLOCK_SIZE_GEOMETRY_H

#include "harness/contract/micro.h"
#include "harness/model/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Index of each axis in ub_point.values. */
enum block_size_axis { BLOCK_SIZE_WORK, BLOCK_SIZE_BLOCK, BLOCK_SIZE_BYTES, BLOCK_SIZE_N, BLOCK_SIZE_AXES };

enum block_size_work { BLOCK_SIZE_ADD, BLOCK_SIZE_EMPTY };

enum {
    BLOCK_SIZE_WORD_BYTES = 4, /* of a number of the vectors */
    BLOCK_SIZE_VECTORS = 3,    /* two are read, one is written */
    /* Of a thread, at most: an SM holds as many threads of them as it holds threads. */
    BLOCK_SIZE_REGISTERS = 32
};

struct block_size_geometry {
    uint32_t work, bytes;       /* bytes: of an access of a thread */
    uint64_t numbers, elements; /* of a vector: 4-byte numbers, and in pieces of `bytes` */
    uint32_t threads, warps;    /* of a block; the last warp may have lanes left over */
    uint32_t blocks;            /* of the launch */
    uint32_t resident;          /* blocks that an SM holds at a time */
};

/* Fills `out`. Returns NULL, or why the axis values contradict each other (static text). */
const char *block_size_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct block_size_geometry *out);

/* Of one vector. */
uint64_t block_size_vector_bytes(const struct block_size_geometry *geometry);

#ifdef __cplusplus
}
#endif
#endif
