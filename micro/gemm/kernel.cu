/* SPDX-License-Identifier: MIT
 *
 * The device side of `gemm`: C = A*B by a ladder of kernels, each one idea further than the
 * one before. Without a library: naive_col, naive_row, tiled, register here, async and tensor
 * in files of their own. */
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdio.h>

#include "micro/gemm/access.h"
#include "micro/gemm/library.h"
#include "micro/gemm/rule.h"
#include "micro/gemm/tensor.h"

/* Bounds are 64 bits wide only where an index is worked out. */
struct sides {
    uint32_t m, n, k;
};

/* ---- one result a thread --------------------------------------------------------- */

/* Two loads a multiply-add, nothing kept on purpose. */
template <bool turned>
static __global__ void __launch_bounds__(GEMM_NAIVE_ALONG *GEMM_NAIVE_ACROSS)
    naive(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, sides s, uint32_t blocks_n)
{
    const gemm_place place = gemm_result_of(turned, GEMM_NAIVE_ALONG, threadIdx.x);
    const uint32_t row = blockIdx.x / blocks_n * (turned ? GEMM_NAIVE_ALONG : GEMM_NAIVE_ACROSS) + place.row;
    const uint32_t column = blockIdx.x % blocks_n * (turned ? GEMM_NAIVE_ACROSS : GEMM_NAIVE_ALONG) + place.column;
    if (row >= s.m || column >= s.n)
        return;
    const float *from_a = a + (uint64_t)row * s.k, *from_b = b + column;
    float sum = 0;
#pragma unroll 8
    for (uint32_t i = 0; i < s.k; i++)
        sum = fmaf(from_a[i], from_b[(uint64_t)i * s.n], sum);
    c[(uint64_t)row * s.n + column] = sum;
}

/* The textbook's: tiles of A and B, side x side, in shared memory. Four elements of A's row are
 * read at a time, as nvcc does of its own accord where it may. */
template <uint32_t side>
static __global__ void __launch_bounds__(side *side)
    tiled(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, sides s, uint32_t blocks_n)
{
    __shared__ __align__(16) float tile_a[side][side], tile_b[side][side];
    const gemm_place place = gemm_result_of(false, side, threadIdx.x);
    const uint32_t row = blockIdx.x / blocks_n * side + place.row;
    const uint32_t column = blockIdx.x % blocks_n * side + place.column;
    float sum = 0;
    for (uint32_t first = 0; first < s.k; first += side) {
        const uint32_t along = first + place.column, down = first + place.row;
        float from_a = 0, from_b = 0;
        if (row < s.m && along < s.k)
            from_a = a[(uint64_t)row * s.k + along];
        if (down < s.k && column < s.n)
            from_b = b[(uint64_t)down * s.n + column];
        tile_a[place.row][place.column] = from_a;
        tile_b[place.row][place.column] = from_b;
        __syncthreads();
#pragma unroll
        for (uint32_t i = 0; i < side; i += GEMM_CHUNK) {
            const float4 four = *(const float4 *)&tile_a[place.row][i];
            sum = fmaf(four.x, tile_b[i][place.column], sum);
            sum = fmaf(four.y, tile_b[i + 1][place.column], sum);
            sum = fmaf(four.z, tile_b[i + 2][place.column], sum);
            sum = fmaf(four.w, tile_b[i + 3][place.column], sum);
        }
        __syncthreads();
    }
    if (row < s.m && column < s.n)
        c[(uint64_t)row * s.n + column] = sum;
}

/* ---- side x side results a thread --------------------------------------------------- */

/* Four elements of a row from `column` on, zero beyond the matrix. Without `vector` rows
 * need not begin at 16 bytes, and nothing is known of where they end. */
template <bool vector>
static __device__ __forceinline__ float4 load_chunk(const float *matrix, uint32_t rows, uint32_t columns, uint32_t row,
                                                    uint32_t column)
{
    float4 chunk = make_float4(0, 0, 0, 0);
    const float *from = matrix + (uint64_t)row * columns + column;
    if constexpr (vector) {
        if (row < rows && column < columns)
            chunk = *(const float4 *)from;
    } else {
#pragma unroll
        for (uint32_t i = 0; i < GEMM_CHUNK; i++)
            if (row < rows && column + i < columns)
                (&chunk.x)[i] = from[i];
    }
    return chunk;
}

template <bool vector>
static __device__ __forceinline__ void store_chunk(float *matrix, uint32_t rows, uint32_t columns, uint32_t row,
                                                   uint32_t column, const float4 &chunk)
{
    float *to = matrix + (uint64_t)row * columns + column;
    if constexpr (vector) {
        if (row < rows && column < columns)
            *(float4 *)to = chunk;
    } else {
#pragma unroll
        for (uint32_t i = 0; i < GEMM_CHUNK; i++)
            if (row < rows && column + i < columns)
                to[i] = (&chunk.x)[i];
    }
}

template <uint32_t side_> struct register_shape {
    static constexpr uint32_t side = side_, tile_m = 16 * side, tile_n = 16 * side, tile_k = side == 8 ? 8 : 16;
    static constexpr uint32_t corners = side / GEMM_CHUNK;
};

/* Keeps a step's tiles in shared memory. The next step's are on their way to registers
 * meanwhile, and go to the other half of shared memory: one barrier a step. */
template <uint32_t side, bool vector>
static __global__ void __launch_bounds__(GEMM_REGISTER_THREADS, 2)
    registers(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, sides s,
              uint32_t blocks_n)
{
    typedef register_shape<side> shape;
    __shared__ __align__(16) float tile_a[2][shape::tile_k * (shape::tile_m + GEMM_CHUNK)];
    __shared__ __align__(16) float tile_b[2][shape::tile_k * shape::tile_n];
    const uint32_t top = blockIdx.x / blocks_n * shape::tile_m, left = blockIdx.x % blocks_n * shape::tile_n;
    const gemm_place chunk_a = gemm_chunk_of_a(shape::tile_m, threadIdx.x);
    const gemm_place chunk_b = gemm_chunk_of_b(shape::tile_n, threadIdx.x);
    const gemm_place corner = gemm_corner_of(side, threadIdx.x, 0, 0);
    float sums[side][side] = {};
    float4 from_a, from_b;
    uint32_t half = 0;

    from_a = load_chunk<vector>(a, s.m, s.k, top + chunk_a.row, chunk_a.column);
    from_b = load_chunk<vector>(b, s.k, s.n, chunk_b.row, left + chunk_b.column);
#pragma unroll 1
    for (uint32_t first = 0; first < s.k; first += shape::tile_k) {
        float *to_a = tile_a[half] + gemm_slot_of_a(shape::tile_m, chunk_a);
#pragma unroll
        for (uint32_t i = 0; i < GEMM_CHUNK; i++)
            to_a[i * gemm_pitch_of_a(shape::tile_m)] = (&from_a.x)[i];
        *(float4 *)(tile_b[half] + gemm_slot_of_b(shape::tile_n, chunk_b)) = from_b;
        __syncthreads();
        const uint32_t next = first + shape::tile_k;
        if (next < s.k) {
            from_a = load_chunk<vector>(a, s.m, s.k, top + chunk_a.row, next + chunk_a.column);
            from_b = load_chunk<vector>(b, s.k, s.n, next + chunk_b.row, left + chunk_b.column);
        }
#pragma unroll
        for (uint32_t i = 0; i < shape::tile_k; i++) {
            float4 column[shape::corners], row[shape::corners];
#pragma unroll
            for (uint32_t j = 0; j < shape::corners; j++) {
                const gemm_place at = {corner.row + j * 16, i}, bt = {i, corner.column + j * 32};
                column[j] = *(const float4 *)(tile_a[half] + gemm_slot_of_a(shape::tile_m, at));
                row[j] = *(const float4 *)(tile_b[half] + gemm_slot_of_b(shape::tile_n, bt));
            }
#pragma unroll
            for (uint32_t y = 0; y < side; y++)
#pragma unroll
                for (uint32_t x = 0; x < side; x++)
                    sums[y][x] = fmaf((&column[y / 4].x)[y % 4], (&row[x / 4].x)[x % 4], sums[y][x]);
        }
        half ^= 1;
    }
#pragma unroll
    for (uint32_t y = 0; y < side; y++)
#pragma unroll
        for (uint32_t j = 0; j < shape::corners; j++) {
            const gemm_place to = gemm_corner_of(side, threadIdx.x, y / 4, j);
            store_chunk<vector>(
                c, s.m, s.n, top + to.row + y % 4, left + to.column,
                make_float4(sums[y][4 * j], sums[y][4 * j + 1], sums[y][4 * j + 2], sums[y][4 * j + 3]));
        }
}

/* ---- the reference ------------------------------------------------------------------ */

enum { REFERENCE_BLOCK = 256 };

/* Products that the reference works out at most, in fp64: all elements of C up to 2048 x 2048 x
 * 2048, of larger ones every so many rows. */
static const uint64_t reference_products = UINT64_C(1) << 33;

static __device__ double number(float x)
{
    return x;
}
static __device__ double number(__half x)
{
    return __half2float(x);
}

/* One element of a sampled row: the i-th is row i x step + i mod step, so that all places of a
 * tile occur. What stays of the poison in rows that are not sampled is no number. */
template <typename element>
static __global__ void reference(const element *a, const element *b, const float *c, uint64_t m, uint64_t n, uint64_t k,
                                 uint64_t step, double bound, unsigned long long *mismatches)
{
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x, sampled = (m + step - 1) / step;
    unsigned long long wrong = 0;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < sampled * n; i += threads) {
        const uint64_t nth = i / n, column = i % n, place = nth * step + nth % step, row = place < m ? place : m - 1;
        double sum = 0, absolute = 0;
        for (uint64_t j = 0; j < k; j++) {
            const double product = number(a[row * k + j]) * number(b[j * n + column]);
            sum += product;
            absolute += fabs(product);
        }
        wrong += !(fabs((double)c[row * n + column] - sum) <= bound * absolute);
    }
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; step > 1 && i < m * n; i += threads)
        wrong += isnan(c[i]);
    if (wrong != 0)
        atomicAdd(mismatches, wrong);
}

/* What lies behind C must still be poisoned. */
static __global__ void reference_rest(const uint32_t *c, uint64_t first, uint64_t end, unsigned long long *mismatches)
{
    for (uint64_t i = first + threadIdx.x; i < end; i += blockDim.x)
        if (c[i] != 0xFFFFFFFFu)
            atomicAdd(mismatches, 1ull);
}

/* ---- launch -------------------------------------------------------------------------- */

typedef void (*gemm_kernel)(const float *, const float *, float *, sides, uint32_t);

static gemm_kernel kernel_of(const gemm_geometry &g)
{
    switch ((enum gemm_variant)g.variant) {
    case GEMM_NAIVE_COL:
        return naive<true>;
    case GEMM_NAIVE_ROW:
        return naive<false>;
    case GEMM_TILED:
        return g.tile_k == 8 ? tiled<8> : g.tile_k == 16 ? tiled<16> : tiled<32>;
    case GEMM_REGISTER:
        if (g.side == 4)
            return g.vector ? registers<4, true> : registers<4, false>;
        return g.vector ? registers<8, true> : registers<8, false>;
    default:
        return NULL;
    }
}

/* Buffers in the order of the footprint: A, B, C. */
static int launch(const ub_launch *launch)
{
    gemm_geometry g;
    if (gemm_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    const void *a = launch->buffers->pointers[0], *b = launch->buffers->pointers[1];
    float *c = (float *)launch->buffers->pointers[2];
    switch ((enum gemm_variant)g.variant) {
    case GEMM_ASYNC:
        return gemm_async_launch(&g.shape, (const float *)a, (const float *)b, c, launch->stream);
    case GEMM_TENSOR:
        return gemm_tensor_launch(&g.shape, a, b, c, launch->stream);
    case GEMM_LIBRARY:
        return gemm_library_fp32((gemm_library *)launch->state, &g.shape, a, b, c, launch->stream);
    case GEMM_LIBRARY_TENSOR:
        return gemm_library_fp16((gemm_library *)launch->state, &g.shape, a, b, c, launch->stream);
    default:
        break;
    }
    const sides s = {(uint32_t)g.shape.m, (uint32_t)g.shape.n, (uint32_t)g.shape.k};
    kernel_of(g)<<<(uint32_t)(g.blocks_m * g.blocks_n), g.threads, 0, (cudaStream_t)launch->stream>>>(
        (const float *)a, (const float *)b, c, s, (uint32_t)g.blocks_n);
    return (int)cudaGetLastError();
}

static int check(const ub_launch *launch)
{
    gemm_geometry g;
    if (gemm_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    const uint64_t m = g.shape.m, n = g.shape.n, k = g.shape.k;
    const uint64_t rows = reference_products / n / k + 1, step = (m + rows - 1) / rows, checked = (m + step - 1) / step;
    const void *a = launch->buffers->pointers[0], *b = launch->buffers->pointers[1];
    const float *c = (const float *)launch->buffers->pointers[2];
    unsigned long long *mismatches = launch->results + UB_RESULT_MISMATCHES;
    const uint64_t blocks = (checked * n + REFERENCE_BLOCK - 1) / REFERENCE_BLOCK;
    const uint32_t grid = (uint32_t)(blocks < 65536 ? blocks : 65536);
    if (g.half)
        reference<<<grid, REFERENCE_BLOCK, 0, (cudaStream_t)launch->stream>>>(
            (const __half *)a, (const __half *)b, c, m, n, k, step, gemm_error_bound(&g), mismatches);
    else
        reference<<<grid, REFERENCE_BLOCK, 0, (cudaStream_t)launch->stream>>>(
            (const float *)a, (const float *)b, c, m, n, k, step, gemm_error_bound(&g), mismatches);
    reference_rest<<<1, REFERENCE_BLOCK, 0, (cudaStream_t)launch->stream>>>(
        (const uint32_t *)c, m * n, launch->buffers->sizes_bytes[2] / sizeof(float), mismatches);
    return (int)cudaGetLastError();
}

static void describe(const ub_gpu *gpu, const ub_point *point, ub_kernel *out)
{
    gemm_geometry g;
    *out = ub_kernel();
    if (gemm_resolve(gpu, point, &g) != NULL || gemm_is_library(&g))
        return;
    if (g.variant == GEMM_ASYNC || g.variant == GEMM_TENSOR) {
        (g.variant == GEMM_ASYNC ? gemm_async_kernel : gemm_tensor_kernel)(&g.shape, out);
        return;
    }
    out->function = (const void *)kernel_of(g);
    out->name = g.variant == GEMM_TILED ? "tiled" : g.variant == GEMM_REGISTER ? "registers" : "naive";
    out->grid[0] = (uint32_t)(g.blocks_m * g.blocks_n);
    out->block[0] = g.threads;
    out->grid[1] = out->grid[2] = out->block[1] = out->block[2] = 1;
}

/* A kernel whose instructions a target lacks is compiled empty there, with a bound of one warp. */
static bool is_empty(const ub_kernel &kernel)
{
    cudaFuncAttributes attributes;
    const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel.function);
    (void)cudaGetLastError();
    return error != cudaSuccess || attributes.maxThreadsPerBlock < (int)kernel.block[0];
}

/* What only this machine knows: whether it has the library, and which code the driver took. */
static int prepare(const ub_launch *launch, ub_prepared *out)
{
    gemm_geometry g;
    if (gemm_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    ub_kernel kernel;
    describe(launch->gpu, launch->point, &kernel);
    if (gemm_is_library(&g))
        out->state = gemm_library_open(out->skip, sizeof out->skip);
    else if ((g.variant == GEMM_ASYNC || g.variant == GEMM_TENSOR) && is_empty(kernel))
        snprintf(out->skip, sizeof out->skip,
                 "this program has no code for this GPU that has such instructions: "
                 "build it on this machine");
    else if (g.wgmma && !gemm_tensor_has_wgmma())
        snprintf(out->skip, sizeof out->skip,
                 "this program has no code for sm_90a, which alone has wgmma: "
                 "build it on this machine");
    return (int)cudaSuccess;
}

static void release(void *state)
{
    gemm_library_close((gemm_library *)state);
}

extern "C" {
extern const struct ub_code ub_code_gemm;
const struct ub_code ub_code_gemm = {launch, check, describe, prepare, release};
}
