/* SPDX-License-Identifier: MIT
 *
 * From the axis values of a point to numbers. */
#include "micro/gemm/geometry.h"

#include <stddef.h>

#include "micro/gemm/async.h"
#include "micro/gemm/tensor.h"

enum { TILED_AUTO = 32, REGISTER_AUTO = 8 };

static const uint64_t blocks_limit = 0x7FFFFFFF; /* of a grid along x */

static void set_block(struct gemm_geometry *g, uint32_t tile_m, uint32_t tile_n, uint32_t tile_k, uint32_t threads)
{
    g->tile_m = tile_m;
    g->tile_n = tile_n;
    g->tile_k = tile_k;
    g->threads = threads;
}

/* The tiles of the kernels in kernel.cu and of those with files of their own. */
static void set_tiles(struct gemm_geometry *g, uint32_t tile, uint32_t per_thread)
{
    g->side = 1;
    switch ((enum gemm_variant)g->variant) {
    case GEMM_NAIVE_COL:
        set_block(g, GEMM_NAIVE_ALONG, GEMM_NAIVE_ACROSS, GEMM_NAIVE_STEP, GEMM_NAIVE_ALONG * GEMM_NAIVE_ACROSS);
        break;
    case GEMM_NAIVE_ROW:
        set_block(g, GEMM_NAIVE_ACROSS, GEMM_NAIVE_ALONG, GEMM_NAIVE_STEP, GEMM_NAIVE_ALONG * GEMM_NAIVE_ACROSS);
        break;
    case GEMM_TILED:
        set_block(g, tile, tile, tile, tile * tile);
        break;
    case GEMM_REGISTER:
        g->side = per_thread;
        set_block(g, 16 * per_thread, 16 * per_thread, per_thread == 8 ? 8 : 16, GEMM_REGISTER_THREADS);
        break;
    case GEMM_ASYNC:
        set_block(g, GEMM_ASYNC_M, GEMM_ASYNC_N, GEMM_ASYNC_K, GEMM_ASYNC_THREADS);
        break;
    case GEMM_TENSOR:
        if (g->wgmma)
            set_block(g, GEMM_WGMMA_M, GEMM_WGMMA_N, GEMM_WGMMA_K, GEMM_TENSOR_THREADS);
        else
            set_block(g, GEMM_MMA_M, GEMM_MMA_N, GEMM_MMA_K, GEMM_TENSOR_THREADS);
        break;
    case GEMM_LIBRARY:
    case GEMM_LIBRARY_TENSOR:
    case GEMM_VARIANTS:
        break;
    }
}

/* Whether rows begin at 16 bytes. async copies A by single elements, because it turns it. */
static bool has_vectors(const struct gemm_geometry *g)
{
    const uint64_t elements = g->half ? 8 : 4, n = g->shape.n, k = g->shape.k;
    return n % elements == 0 && (g->variant == GEMM_ASYNC || k % elements == 0);
}

static const char *set_blocks(struct gemm_geometry *g)
{
    if (gemm_is_library(g))
        return NULL;
    g->blocks_m = (g->shape.m + g->tile_m - 1) / g->tile_m;
    g->blocks_n = (g->shape.n + g->tile_n - 1) / g->tile_n;
    g->steps = (g->shape.k + g->tile_k - 1) / g->tile_k;
    if (g->blocks_m * g->blocks_n > blocks_limit)
        return "C has more tiles than a grid has blocks (2^31 - 1): choose larger tiles or a smaller matrix";
    return NULL;
}

/* Bytes of shared memory that a block has beside what it asks for at launch. */
static uint64_t static_bytes(const struct gemm_geometry *g)
{
    enum { FLOAT_BYTES = 4, HALVES = 2 };
    if (g->variant == GEMM_TILED)
        return UINT64_C(2) * g->tile_m * g->tile_k * FLOAT_BYTES;
    if (g->variant == GEMM_REGISTER)
        return UINT64_C(1) * HALVES * g->tile_k * (g->tile_m + GEMM_CHUNK + g->tile_n) * FLOAT_BYTES;
    return 0;
}

static uint64_t dynamic_bytes(const struct gemm_geometry *g)
{
    enum { FLOAT_BYTES = 4, HALF_BYTES = 2, WGMMA_ATOM_BYTES = 1024 };
    if (g->variant == GEMM_ASYNC)
        return UINT64_C(1) * GEMM_ASYNC_STAGES * GEMM_ASYNC_STAGE * FLOAT_BYTES;
    if (g->variant != GEMM_TENSOR)
        return 0;
    if (g->wgmma)
        return UINT64_C(1) * GEMM_WGMMA_STAGES * GEMM_WGMMA_K * (GEMM_WGMMA_M + GEMM_WGMMA_N) * HALF_BYTES +
               WGMMA_ATOM_BYTES;
    return UINT64_C(1) * GEMM_MMA_STAGES *
           (GEMM_MMA_M * GEMM_MMA_PITCH_OF_A_BYTES + GEMM_MMA_K * GEMM_MMA_PITCH_OF_B_BYTES);
}

static const char *check_gpu(const struct ub_gpu *gpu, const struct gemm_geometry *g)
{
    if ((g->variant == GEMM_ASYNC || g->variant == GEMM_TENSOR) && gpu->cc_major < 8)
        return "asynchronous copies and these matrix instructions need compute capability 8.0 or later";
    if (g->variant == GEMM_LIBRARY_TENSOR && gpu->cc_major < 7)
        return "matrix instructions need compute capability 7.0 or later";
    return ub_gpu_block_refused(gpu, g->threads, static_bytes(g), dynamic_bytes(g));
}

static const char *check_axes(const struct ub_point *point)
{
    const int64_t variant = point->values[GEMM_VARIANT], tile = point->values[GEMM_TILE];
    const int64_t per_thread = point->values[GEMM_PER_THREAD];
    if (tile != 0 && variant != GEMM_TILED)
        return "tile applies to variant=tiled";
    if (tile != 0 && tile != 8 && tile != 16 && tile != 32)
        return "tile is 8, 16 or 32";
    if (per_thread != 0 && variant != GEMM_REGISTER)
        return "per_thread applies to variant=register";
    if (per_thread != 0 && per_thread != 4 && per_thread != 8)
        return "per_thread is 4 or 8";
    return NULL;
}

const char *gemm_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct gemm_geometry *out)
{
    const int64_t *v = point->values;
    struct gemm_geometry g = {.variant = (uint32_t)v[GEMM_VARIANT]};
    g.shape.n = (uint64_t)v[GEMM_N];
    g.shape.m = v[GEMM_M] != 0 ? (uint64_t)v[GEMM_M] : g.shape.n;
    g.shape.k = v[GEMM_K] != 0 ? (uint64_t)v[GEMM_K] : g.shape.n;
    g.half = g.variant == GEMM_TENSOR || g.variant == GEMM_LIBRARY_TENSOR;
    g.wgmma = g.variant == GEMM_TENSOR && gpu->cc_major == 9 && gpu->cc_minor == 0;
    g.vector = has_vectors(&g);
    const char *reason = check_axes(point);
    if (reason == NULL) {
        set_tiles(&g, v[GEMM_TILE] != 0 ? (uint32_t)v[GEMM_TILE] : TILED_AUTO,
                  v[GEMM_PER_THREAD] != 0 ? (uint32_t)v[GEMM_PER_THREAD] : REGISTER_AUTO);
        reason = set_blocks(&g);
    }
    if (reason == NULL)
        reason = check_gpu(gpu, &g);
    *out = g;
    return reason;
}
