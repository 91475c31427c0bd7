/* SPDX-License-Identifier: MIT
 *
 * What a point of `fusion` means in numbers. Law, kernel and verification agree on these;
 * which element a thread accesses stands in access.h alone. */
#ifndef UB_FUSION_GEOMETRY_H
#define UB_FUSION_GEOMETRY_H

#include "harness/contract/micro.h"
#include "harness/model/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Index of each axis in ub_point.values. */
enum fusion_axis {
    FUSION_WORK,
    FUSION_VARIANT,
    FUSION_OP,
    FUSION_STEPS,
    FUSION_N,
    FUSION_LENGTH,
    FUSION_ROWS,
    FUSION_SEQ,
    FUSION_HEADS,
    FUSION_AXES
};

/* The words of the axis `work`. */
enum fusion_work { FUSION_ELEMENTWISE, FUSION_SOFTMAX, FUSION_ATTENTION, FUSION_WORKS };

/* The words of the axis `variant`: where what is needed again stays meanwhile. */
enum fusion_variant {
    FUSION_SPLIT,  /* a kernel for each step; all of it in global memory */
    FUSION_PASSES, /* softmax: one kernel, which reads a row three times */
    FUSION_ONLINE, /* softmax: one kernel, which reads a row twice */
    FUSION_FUSED,  /* one kernel; in registers and shared memory */
    FUSION_VARIANTS
};

/* The words of the axis `op`: what an element-wise step does. */
enum fusion_op { FUSION_FMA, FUSION_EXP, FUSION_OPS };

enum {
    FUSION_BLOCK = 256,
    FUSION_GROUP = 4, /* floats of one access: 16 bytes */
    FUSION_GROUP_BYTES = FUSION_GROUP * 4,
    FUSION_STEPS_MAX = 1024,
    FUSION_KEPT_GROUPS_MAX = 16, /* that a thread keeps of a row: 64 registers */
    FUSION_KEPT_MAX = FUSION_KEPT_GROUPS_MAX * FUSION_BLOCK * FUSION_GROUP,
    FUSION_DIM = 64,     /* of a query, a key, a value */
    FUSION_TILE = 64,    /* queries, and keys, that a block works on at a time */
    FUSION_THREADS = 16, /* along either side of a tile of 64 x 64; each has 4 x 4 */
    FUSION_TILE_FLOATS = FUSION_TILE * FUSION_TILE
};

/* Factor of what softmax takes the exponential of: numbers of [-16, 16), so that a wrong
 * maximum shows. Attention: 1 / sqrt(64). */
static const float fusion_softmax_scale = 16, fusion_attention_scale = 0.125f;

struct fusion_geometry {
    uint32_t work, variant, op, steps;
    uint64_t elements;          /* element-wise, softmax: floats; attention: floats of all scores */
    uint32_t length, rows;      /* softmax, and the scores of attention */
    uint32_t kept_groups;       /* groups of 4 floats that a thread keeps of a row: 1, 2, 4, 8, 16 */
    uint32_t seq, heads, tiles; /* attention */
    uint32_t kernels;           /* of one launch */
};

/* Which axes count where. */
extern const struct ub_axis_owners fusion_owners;

/* Fills `out`. Returns NULL, or why the point cannot run (static text). */
const char *fusion_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct fusion_geometry *out);

/* How far a result may be from that in double precision, of a softmax relative to it: verify.c
 * says why. 0 where it must be the same. */
double fusion_bound(const struct fusion_geometry *geometry);

/* Bytes of what comes in, of the result, and of what is in between. */
uint64_t fusion_source_bytes(const struct fusion_geometry *geometry);
uint64_t fusion_target_bytes(const struct fusion_geometry *geometry);
uint64_t fusion_scratch_bytes(const struct fusion_geometry *geometry);

#ifdef __cplusplus
}
#endif
#endif
