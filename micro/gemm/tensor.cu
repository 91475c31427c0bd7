/* SPDX-License-Identifier: MIT
 *
 * C = A*B with fp16 inputs on the matrix units, sums in fp32: wgmma where the code was
 * compiled for sm_90a, mma.sync on every other GPU from 8.0 on. */
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "micro/gemm/copies.h"
#include "micro/gemm/kernels.h"
#include "micro/gemm/tensor.h"

/* A kernel whose instructions the target lacks is compiled empty, with a launch bound of
 * one warp: cudaFuncGetAttributes tells by it which code the driver took. */
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define HAVE_WGMMA 1
#else
#define HAVE_WGMMA 0
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define HAVE_MMA 1
#else
#define HAVE_MMA 0
#endif
#define BOUND(have, threads) ((have) ? (threads) : 32)

enum {
    WARP = 32,
    GROUP = 4 * WARP,
    THREADS = GEMM_TENSOR_THREADS,
    CHUNK = GEMM_TENSOR_CHUNK,
    CHUNK_BYTES = GEMM_TENSOR_CHUNK_BYTES
};

/* Brings `CHUNK` halves to shared memory, of which the first `left` exist. Rows that do not
 * begin at 16 bytes cannot be copied in the background. */
template <bool aligned> static __device__ __forceinline__ void bring(uint32_t to, const __half *from, int left)
{
    if constexpr (aligned) {
        gemm_copy<CHUNK_BYTES>(to, from, left > 0);
    } else {
        uint32_t words[CHUNK / 2];
#pragma unroll
        for (int i = 0; i < CHUNK / 2; i++) {
            const uint32_t low = 2 * i < left ? __half_as_ushort(from[2 * i]) : 0;
            const uint32_t high = 2 * i + 1 < left ? __half_as_ushort(from[2 * i + 1]) : 0;
            words[i] = low | high << 16;
        }
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(words[0]), "r"(words[1]), "r"(words[2]),
                     "r"(words[3])
                     : "memory");
    }
}

/* Brings a tile of `height` rows and `width` halves of a matrix of `rows` x `columns`, whose first element
 * is at `corner`; `slot` says where a chunk of it goes. The place of thread t's copy number c is that of
 * its first copy and that of thread 0's copy c, added up. */
template <bool aligned, int height, int width, typename layout>
static __device__ __forceinline__ void bring_tile(uint32_t to, layout slot, const __half *matrix, uint32_t rows,
                                                  uint32_t columns, struct gemm_place corner)
{
    constexpr int copies = height * width / CHUNK / THREADS;
    const struct gemm_place first = gemm_tensor_chunk(width, threadIdx.x, 0);
    const uint32_t row = corner.row + first.row, column = corner.column + first.column;
    const __half *from = matrix + (size_t)row * columns + column;
#pragma unroll(aligned ? copies : 1)
    for (int i = 0; i < copies; i++) {
        const uint32_t down = gemm_tensor_chunk(width, 0, i).row;
        const int left = row + down < rows ? (int)(columns - column) : 0;
        bring<aligned>(to + slot(gemm_place_of(first.row + down, first.column)), from + (size_t)down * columns, left);
    }
}

/* Of A m x k, of B k x n, of C m x n. */
struct gemm_sides {
    uint32_t m, n, k;
};

/* Two neighbours of a row of C. */
template <bool aligned>
static __device__ __forceinline__ void put(float *row, uint32_t column, uint32_t n, float x, float y)
{
    if (aligned && column < n)
        *(float2 *)(row + column) = make_float2(x, y);
    if (!aligned && column < n)
        row[column] = x;
    if (!aligned && column + 1 < n)
        row[column + 1] = y;
}

/* First row and column of the block's tile. */
template <int tile_m, int tile_n>
static __device__ __forceinline__ struct gemm_place corner_of(const struct gemm_sides &sides)
{
    const struct gemm_place tile =
        gemm_tile_of(gemm_up(sides.m, tile_m), gemm_up(sides.n, tile_n), GEMM_TENSOR_BAND, blockIdx.x);
    return gemm_place_of(tile.row * tile_m, tile.column * tile_n);
}

/* ---- wgmma ------------------------------------------------------------------------ */

/* A step's tiles are in shared memory in rows of 128 bytes, of which eight make an atom, with the 16-byte
 * chunks of row r at their number xor r mod 8 (the "128-byte swizzle"): neither copies nor matrix
 * units meet a bank conflict. Of A a row is a row of the tile (64 of k, "K-major"), of B a quarter of a
 * row of the tile (64 of n, "MN-major"): four panels of 64 rows of k. */
struct wgmma_tile {
    static constexpr int m = GEMM_WGMMA_M, n = GEMM_WGMMA_N, k = GEMM_WGMMA_K, k_of_one = GEMM_WGMMA_K_OF_ONE;
    static constexpr int row_bytes = 128, row_halves = row_bytes / 2, atom_bytes = 8 * row_bytes;
    static constexpr int panel_bytes = k * row_bytes, stages = GEMM_WGMMA_STAGES;
    static constexpr int a_bytes = m * row_bytes, b_bytes = n / row_halves * panel_bytes;
    static constexpr int stage_bytes = a_bytes + b_bytes;
    static constexpr int shared_bytes = stages * stage_bytes + atom_bytes; /* atoms are aligned to their size */
};

#if HAVE_WGMMA
/* Byte of a chunk in a tile whose rows are `row_bytes`; of B's, one panel after the other. */
static __device__ __forceinline__ uint32_t swizzled(struct gemm_place place)
{
    const uint32_t panel = place.column / wgmma_tile::row_halves;
    const uint32_t chunk = place.column % wgmma_tile::row_halves / CHUNK;
    return panel * wgmma_tile::panel_bytes + place.row * wgmma_tile::row_bytes +
           (chunk ^ (place.row % 8)) * CHUNK_BYTES;
}

/* PTX ISA, "Matrix-descriptor": where the operand starts, what lies between two panels (of a
 * K-major operand: nothing that is used), between two atoms, and which swizzle. */
static __device__ __forceinline__ uint64_t descriptor(uint32_t start, uint32_t panel_bytes)
{
    return (uint64_t)(start >> 4) | (uint64_t)(panel_bytes >> 4) << 16 | (uint64_t)(wgmma_tile::atom_bytes >> 4) << 32 |
           (uint64_t)1 << 62;
}

#define SUM1(i) "+f"(sums[i])
#define SUM8(i) SUM1(i), SUM1(i + 1), SUM1(i + 2), SUM1(i + 3), SUM1(i + 4), SUM1(i + 5), SUM1(i + 6), SUM1(i + 7)
#define SUM64(i)                                                                                                       \
    SUM8(i), SUM8(i + 8), SUM8(i + 16), SUM8(i + 24), SUM8(i + 32), SUM8(i + 40), SUM8(i + 48), SUM8(i + 56)

/* sums += A*B for 64 x 16 and 16 x 256 elements; B's operand is turned (last 1). It only starts:
 * the sums are not to be touched before wgmma_wait(). */
static __device__ __forceinline__ void wgmma(float (&sums)[GEMM_WGMMA_RESULTS], uint64_t a, uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
                 "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
                 "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
                 "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
                 "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
                 "}, %128, %129, 1, 1, 1, 0, 1;"
                 : SUM64(0), SUM64(64)
                 : "l"(a), "l"(b));
}
template <int left> static __device__ __forceinline__ void wgmma_wait(void)
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory");
}
/* What copies have written is there for the matrix units, which read through another path ("proxy"). */
static __device__ __forceinline__ void show_to_matrix_units(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* One step: the products of a warpgroup for a stage of shared memory. */
static __device__ __forceinline__ void wgmma_step(float (&sums)[GEMM_WGMMA_RESULTS], uint32_t stage)
{
    typedef wgmma_tile tile;
    const uint32_t group = threadIdx.x / GROUP;
    const uint64_t a = descriptor(stage + group * (tile::a_bytes / 2), CHUNK_BYTES);
    const uint64_t b = descriptor(stage + tile::a_bytes, tile::panel_bytes);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int i = 0; i < tile::k / tile::k_of_one; i++)
        wgmma(sums, a + i * (tile::k_of_one * 2 >> 4), b + i * (tile::k_of_one * tile::row_bytes >> 4));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <bool aligned>
static __device__ __forceinline__ void wgmma_bring(uint32_t stage, const __half *a, const __half *b,
                                                   struct gemm_place corner, const struct gemm_sides &sides,
                                                   uint32_t step)
{
    typedef wgmma_tile tile;
    const auto slot = [](struct gemm_place place) { return swizzled(place); };
    bring_tile<aligned, tile::m, tile::k>(stage, slot, a, sides.m, sides.k, gemm_place_of(corner.row, step * tile::k));
    bring_tile<aligned, tile::k, tile::n>(stage + tile::a_bytes, slot, b, sides.k, sides.n,
                                          gemm_place_of(step * tile::k, corner.column));
}

template <bool aligned>
static __device__ __forceinline__ void wgmma_store(const float (&sums)[GEMM_WGMMA_RESULTS], float *c,
                                                   struct gemm_place corner, const struct gemm_sides &sides)
{
#pragma unroll
    for (int first = 0; first < 4; first += 2) { /* rows 8 apart */
        const uint32_t row = corner.row + gemm_wgmma_result(threadIdx.x, first).row;
        if (row >= sides.m)
            continue;
#pragma unroll
        for (int i = first; i < GEMM_WGMMA_RESULTS; i += 4)
            put<aligned>(c + (size_t)row * sides.n, corner.column + gemm_wgmma_result(threadIdx.x, i).column, sides.n,
                         sums[i], sums[i + 1]);
    }
}
#endif

/* While the matrix units work at step t, the tiles of step t + 2 are on their way into the stage that
 * step t - 2 has read: at the barrier of step t both warpgroups have waited for the products of t - 2. */
template <bool aligned>
static __global__ void __launch_bounds__(BOUND(HAVE_WGMMA, THREADS), 1)
    product_wgmma(const __half *__restrict__ a, const __half *__restrict__ b, float *__restrict__ c,
                  const struct gemm_sides sides)
{
#if HAVE_WGMMA
    typedef wgmma_tile tile;
    extern __shared__ unsigned char shared_bytes[];
    const uint32_t first = (gemm_shared(shared_bytes) + tile::atom_bytes - 1) / tile::atom_bytes * tile::atom_bytes;
    const uint32_t end = first + tile::stages * tile::stage_bytes;
    const struct gemm_place corner = corner_of<tile::m, tile::n>(sides);
    const uint32_t steps = gemm_up(sides.k, tile::k);
    constexpr int ahead = tile::stages - 2;
    float sums[GEMM_WGMMA_RESULTS] = {};
    uint32_t to = first, from = first;

    for (uint32_t step = 0; step < ahead; step++) {
        if (step < steps)
            wgmma_bring<aligned>(to, a, b, corner, sides, step);
        gemm_end_group();
        to += tile::stage_bytes;
    }
#pragma unroll 1
    for (uint32_t step = 0; step < steps; step++) {
        gemm_wait_groups<ahead - 1>();
        show_to_matrix_units();
        __syncthreads();
        wgmma_step(sums, from);
        if (step + ahead < steps)
            wgmma_bring<aligned>(to, a, b, corner, sides, step + ahead);
        gemm_end_group();
        to = to + tile::stage_bytes == end ? first : to + tile::stage_bytes;
        from = from + tile::stage_bytes == end ? first : from + tile::stage_bytes;
        wgmma_wait<1>();
    }
    wgmma_wait<0>();
    wgmma_store<aligned>(sums, c, corner, sides);
#endif
}

/* ---- mma.sync --------------------------------------------------------------------- */

/* Rows of the tiles are 16 bytes longer than needed: eight of them, one below the other, are then 128 bytes
 * of different banks, which is what ldmatrix reads at once. */
struct mma_tile {
    static constexpr int m = GEMM_MMA_M, n = GEMM_MMA_N, k = GEMM_MMA_K, k_of_one = GEMM_MMA_K_OF_ONE;
    static constexpr int down = GEMM_MMA_WARP_M / 16, across = GEMM_MMA_WARP_N / 8, stages = GEMM_MMA_STAGES;
    static constexpr int a_pitch_bytes = GEMM_MMA_PITCH_OF_A_BYTES, b_pitch_bytes = GEMM_MMA_PITCH_OF_B_BYTES;
    static constexpr int a_bytes = m * a_pitch_bytes, b_bytes = k * b_pitch_bytes, stage_bytes = a_bytes + b_bytes;
    static constexpr int shared_bytes = stages * stage_bytes;
};

#if HAVE_MMA
struct mma_sums {
    float of[mma_tile::down][mma_tile::across][4];
};

/* Four matrices of 8 x 8 halves; lane l names a row of matrix l / 8. */
static __device__ __forceinline__ void load_matrices(uint32_t (&into)[4], uint32_t row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(into[0]), "=r"(into[1]), "=r"(into[2]), "=r"(into[3])
                 : "r"(row));
}
static __device__ __forceinline__ void load_matrices_turned(uint32_t (&into)[4], uint32_t row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(into[0]), "=r"(into[1]), "=r"(into[2]), "=r"(into[3])
                 : "r"(row));
}
static __device__ __forceinline__ void mma(float (&sums)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ __forceinline__ void mma_step(struct mma_sums &sums, uint32_t stage)
{
    typedef mma_tile tile;
    const struct gemm_place part = gemm_mma_part(threadIdx.x);
    const uint32_t lane = threadIdx.x % WARP, row = lane % 16, chunk = lane / 16;
    const uint32_t a = stage + (part.row + row) * tile::a_pitch_bytes + chunk * CHUNK_BYTES;
    const uint32_t b = stage + tile::a_bytes + row * tile::b_pitch_bytes + part.column * 2 + chunk * CHUNK_BYTES;
#pragma unroll
    for (int k = 0; k < tile::k; k += tile::k_of_one) {
        uint32_t as[tile::down][4], bs[tile::across / 2][4];
#pragma unroll
        for (int i = 0; i < tile::down; i++)
            load_matrices(as[i], a + i * 16 * tile::a_pitch_bytes + 2 * k);
#pragma unroll
        for (int j = 0; j < tile::across / 2; j++)
            load_matrices_turned(bs[j], b + k * tile::b_pitch_bytes + j * 2 * CHUNK_BYTES);
#pragma unroll
        for (int i = 0; i < tile::down; i++)
#pragma unroll
            for (int j = 0; j < tile::across; j++)
                mma(sums.of[i][j], as[i], bs[j / 2][j % 2 * 2], bs[j / 2][j % 2 * 2 + 1]);
    }
}

template <bool aligned>
static __device__ __forceinline__ void mma_bring(uint32_t stage, const __half *a, const __half *b,
                                                 struct gemm_place corner, const struct gemm_sides &sides,
                                                 uint32_t step)
{
    typedef mma_tile tile;
    const auto slot_a = [](struct gemm_place place) { return place.row * tile::a_pitch_bytes + place.column * 2; };
    const auto slot_b = [](struct gemm_place place) { return place.row * tile::b_pitch_bytes + place.column * 2; };
    bring_tile<aligned, tile::m, tile::k>(stage, slot_a, a, sides.m, sides.k,
                                          gemm_place_of(corner.row, step * tile::k));
    bring_tile<aligned, tile::k, tile::n>(stage + tile::a_bytes, slot_b, b, sides.k, sides.n,
                                          gemm_place_of(step * tile::k, corner.column));
}

template <bool aligned>
static __device__ __forceinline__ void mma_store(const struct mma_sums &sums, float *c, struct gemm_place corner,
                                                 const struct gemm_sides &sides)
{
#pragma unroll
    for (int i = 0; i < mma_tile::down * 2; i++) {
        const int down = i / 2, first = i % 2 * 2;
        const uint32_t row = corner.row + gemm_mma_result(threadIdx.x, down, 0, first).row;
        if (row >= sides.m)
            continue;
#pragma unroll
        for (int j = 0; j < mma_tile::across; j++)
            put<aligned>(c + (size_t)row * sides.n, corner.column + gemm_mma_result(threadIdx.x, down, j, first).column,
                         sides.n, sums.of[down][j][first], sums.of[down][j][first + 1]);
    }
}
#endif

/* While the warps work at step t, the tiles of step t + 3 are on their way into the stage that step
 * t - 1 has read: all have at the barrier of step t. */
template <bool aligned>
static __global__ void __launch_bounds__(BOUND(HAVE_MMA, THREADS))
    product_mma(const __half *__restrict__ a, const __half *__restrict__ b, float *__restrict__ c,
                const struct gemm_sides sides)
{
#if HAVE_MMA
    typedef mma_tile tile;
    extern __shared__ __align__(16) unsigned char shared_bytes[];
    const uint32_t first = gemm_shared(shared_bytes), end = first + tile::stages * tile::stage_bytes;
    const struct gemm_place corner = corner_of<tile::m, tile::n>(sides);
    const uint32_t steps = gemm_up(sides.k, tile::k);
    constexpr int ahead = tile::stages - 1;
    struct mma_sums sums = {};
    uint32_t to = first, from = first;

    for (uint32_t step = 0; step < ahead; step++) {
        if (step < steps)
            mma_bring<aligned>(to, a, b, corner, sides, step);
        gemm_end_group();
        to += tile::stage_bytes;
    }
#pragma unroll 1
    for (uint32_t step = 0; step < steps; step++) {
        gemm_wait_groups<ahead - 1>();
        __syncthreads();
        if (step + ahead < steps)
            mma_bring<aligned>(to, a, b, corner, sides, step + ahead);
        gemm_end_group();
        mma_step(sums, from);
        to = to + tile::stage_bytes == end ? first : to + tile::stage_bytes;
        from = from + tile::stage_bytes == end ? first : from + tile::stage_bytes;
    }
    mma_store<aligned>(sums, c, corner, sides);
#endif
}

/* ---- launch ------------------------------------------------------------------------ */

typedef void (*product)(const __half *, const __half *, float *, struct gemm_sides);

struct choice {
    product function;
    const char *name;
    uint32_t tile_m, tile_n;
    int shared_bytes;
};

static bool compiled(product function)
{
    cudaFuncAttributes attributes;
    const bool known = cudaFuncGetAttributes(&attributes, (const void *)function) == cudaSuccess;
    (void)cudaGetLastError();
    return known && attributes.maxThreadsPerBlock >= THREADS;
}

extern "C" bool gemm_tensor_has_wgmma(void)
{
    return compiled(product_wgmma<true>);
}

/* Rows of both matrices begin at 16 bytes where k and n are multiples of 8. */
static choice choose(const gemm_shape *shape)
{
    const bool aligned = shape->k % CHUNK == 0 && shape->n % CHUNK == 0;
    if (gemm_tensor_has_wgmma())
        return {aligned ? product_wgmma<true> : product_wgmma<false>, "gemm tensor (wgmma)", wgmma_tile::m,
                wgmma_tile::n, wgmma_tile::shared_bytes};
    return {aligned ? product_mma<true> : product_mma<false>, "gemm tensor (mma)", mma_tile::m, mma_tile::n,
            mma_tile::shared_bytes};
}

static uint32_t blocks_of(const choice &chosen, const gemm_shape *shape)
{
    return gemm_up((uint32_t)shape->m, chosen.tile_m) * gemm_up((uint32_t)shape->n, chosen.tile_n);
}

extern "C" int gemm_tensor_launch(const gemm_shape *shape, const void *a_half, const void *b_half, float *c,
                                  void *stream)
{
    const choice chosen = choose(shape);
    const gemm_sides sides = {(uint32_t)shape->m, (uint32_t)shape->n, (uint32_t)shape->k};
    if (!compiled(chosen.function))
        return (int)cudaErrorNoKernelImageForDevice;
    const cudaError_t error = cudaFuncSetAttribute((const void *)chosen.function,
                                                   cudaFuncAttributeMaxDynamicSharedMemorySize, chosen.shared_bytes);
    if (error != cudaSuccess)
        return (int)error;
    chosen.function<<<blocks_of(chosen, shape), THREADS, chosen.shared_bytes, (cudaStream_t)stream>>>(
        (const __half *)a_half, (const __half *)b_half, c, sides);
    return (int)cudaGetLastError();
}

extern "C" void gemm_tensor_kernel(const gemm_shape *shape, ub_kernel *out)
{
    const choice chosen = choose(shape);
    *out = ub_kernel();
    out->function = (const void *)chosen.function;
    out->name = chosen.name;
    out->grid[0] = blocks_of(chosen, shape);
    out->block[0] = THREADS;
    out->grid[1] = out->grid[2] = out->block[1] = out->block[2] = 1;
    out->dynamic_shared_bytes = (uint32_t)chosen.shared_bytes;
}
