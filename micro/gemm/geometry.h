/* SPDX-License-Identifier: MIT
 *
 * What a point of `gemm` means in numbers: the matrices, the tiles of C that blocks
 * compute, what a block's step along k takes. Law, kernel and verification agree on
 * these; which elements a thread touches stands in access.h alone. */
#ifndef UB_GEMM_GEOMETRY_H
#define UB_GEMM_GEOMETRY_H

#include "harness/contract/micro.h"
#include "harness/model/gpu.h"
#include "micro/gemm/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Index of each axis in ub_point.values. */
enum gemm_axis { GEMM_VARIANT, GEMM_N, GEMM_M, GEMM_K, GEMM_TILE, GEMM_PER_THREAD, GEMM_AXES };

/* The words of the axis `variant`. */
enum gemm_variant {
    GEMM_NAIVE_COL,      /* a result a thread, a warp's lanes along a column of C */
    GEMM_NAIVE_ROW,      /* a result a thread, a warp's lanes along a row of C */
    GEMM_TILED,          /* a result a thread, tiles of A and B in shared memory */
    GEMM_REGISTER,       /* 4 x 4 or 8 x 8 results a thread */
    GEMM_ASYNC,          /* the same, tiles copied to shared memory asynchronously (cp.async) */
    GEMM_TENSOR,         /* fp16 inputs, matrix instructions that add up in fp32 */
    GEMM_LIBRARY,        /* cuBLAS, fp32 */
    GEMM_LIBRARY_TENSOR, /* cuBLAS, fp16 inputs, sums in fp32 */
    GEMM_VARIANTS
};

enum {
    GEMM_SIDE_MAX = 1 << 20,
    GEMM_NAIVE_ALONG = 32,  /* results of a naive block, along the lanes of a warp */
    GEMM_NAIVE_ACROSS = 32, /* and across: its warps */
    GEMM_NAIVE_STEP = 8,    /* multiply-adds that the law takes together: a sector of a row of A */
    GEMM_REGISTER_THREADS = 256,
    GEMM_CHUNK = 4 /* elements of a 16-byte access */
};

struct gemm_geometry {
    uint32_t variant;
    struct gemm_shape shape;
    uint32_t tile_m, tile_n, tile_k; /* of a block: its part of C, its step along k; 0: the library's */
    uint32_t side;                   /* results of a thread: side x side */
    uint32_t threads;                /* of a block */
    bool vector;                     /* rows allow accesses of 16 bytes */
    bool half;                       /* A and B are fp16 */
    bool wgmma;                      /* matrix instructions of a warpgroup, which Hopper alone has */
    uint64_t blocks_m, blocks_n;     /* tiles of C down and along; ragged ones count whole */
    uint64_t steps;                  /* along k */
};

/* Fills `out`. Returns NULL, or why the point cannot run on this GPU (static text). */
const char *gemm_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct gemm_geometry *out);

static inline bool gemm_is_library(const struct gemm_geometry *g)
{
    return g->variant == GEMM_LIBRARY || g->variant == GEMM_LIBRARY_TENSOR;
}

#ifdef __cplusplus
}
#endif
#endif
