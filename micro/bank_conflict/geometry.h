/* SPDX-License-Identifier: MIT
 *
 * What a point of `bank_conflict` means in numbers: which instruction, how many
 * bytes a lane, how large a piece of shared memory. Law, kernel and verification
 * agree on these; which element a lane takes stands in access.h alone.
 *
 * An element is what one lane accesses: `bytes` wide, and for ldmatrix a row of
 * 16 bytes (there `bytes` is what a lane receives: 4 bytes of each matrix). */
#ifndef UB_BANK_CONFLICT_GEOMETRY_H
#define UB_BANK_CONFLICT_GEOMETRY_H

#include "harness/contract/micro.h"
#include "harness/model/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Index of each axis in ub_point.values. */
enum bank_conflict_axis {
    BANK_CONFLICT_STRIDE,
    BANK_CONFLICT_BYTES,
    BANK_CONFLICT_OP,
    BANK_CONFLICT_PATTERN,
    BANK_CONFLICT_PAD,
    BANK_CONFLICT_SHARE,
    BANK_CONFLICT_AXES
};

enum bank_conflict_op { BANK_CONFLICT_LOAD, BANK_CONFLICT_STORE, BANK_CONFLICT_LDMATRIX, BANK_CONFLICT_OPS };

enum bank_conflict_pattern {
    BANK_CONFLICT_BY_STRIDE,
    BANK_CONFLICT_PADDED,
    BANK_CONFLICT_XOR,
    BANK_CONFLICT_COLUMN,
    BANK_CONFLICT_RANDOM,
    BANK_CONFLICT_BROADCAST,
    BANK_CONFLICT_MULTICAST,
    BANK_CONFLICT_PATTERNS
};

enum {
    BANK_CONFLICT_WIDTHS = 3, /* 4, 8, 16 bytes */
    BANK_CONFLICT_LANES = 32,
    BANK_CONFLICT_WARPS = 32, /* of the one block: enough to keep the data pipe busy */
    BANK_CONFLICT_THREADS = BANK_CONFLICT_LANES * BANK_CONFLICT_WARPS,
    BANK_CONFLICT_UNROLL = 8,        /* accesses of a warp in an iteration, */
    BANK_CONFLICT_APART_BYTES = 128, /* each this far behind the one before: the same banks, other words */
    BANK_CONFLICT_ROW = 32,          /* elements of a row of the matrix of padded, xor, column */
    BANK_CONFLICT_WINDOW = 1024,     /* elements among which pattern=random chooses */
    BANK_CONFLICT_REGION_UNIT_BYTES = 4 * BANK_CONFLICT_THREADS, /* a word a thread: filled without a rest */
    BANK_CONFLICT_SUMS = 4,                                      /* words that a thread of a loading kernel leaves */
    BANK_CONFLICT_STORED_MAX = 0x3FFFFFFF                        /* of the run's part of a stored word */
};

struct bank_conflict_geometry {
    uint32_t op, pattern;
    uint32_t bytes, bytes_log2; /* that a lane moves in one access */
    uint32_t words;             /* bytes / 4; for ldmatrix: matrices */
    uint32_t unit_bytes;        /* of an element */
    uint32_t stride, pad, share;
    uint32_t region_bytes; /* of shared memory */
};

/* Which axes count where. */
extern const struct ub_axis_owners bank_conflict_owners;

/* Fills `out`. Returns NULL, or why the point cannot run (static text). */
const char *bank_conflict_resolve(const struct ub_gpu *gpu, const struct ub_point *point,
                                  struct bank_conflict_geometry *out);

/* Accesses (warp instructions under the lens) of one iteration. */
uint64_t bank_conflict_accesses(void);

/* What stores mix into each word they write, from the run's seed. */
uint32_t bank_conflict_key(uint64_t seed);

#ifdef __cplusplus
}
#endif
#endif
