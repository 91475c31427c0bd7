/* SPDX-License-Identifier: MIT
 *
 * C = A*B in fp32 on the ordinary pipes, as fast as they go: the tiles of later steps are
 * copied to shared memory by cp.async while the warps multiply, and the operands of the
 * next multiply-adds are loaded into registers while these run. */
#include <cuda_runtime.h>

#include "micro/gemm/async.h"
#include "micro/gemm/copies.h"
#include "micro/gemm/kernels.h"

/* A target without cp.async gets an empty kernel with a launch bound of one warp, by which
 * cudaFuncGetAttributes tells it. */
#define BOUND(threads) (GEMM_HAVE_CP_ASYNC ? (threads) : 32)

enum {
    M = GEMM_ASYNC_M,
    N = GEMM_ASYNC_N,
    K = GEMM_ASYNC_K,
    STAGES = GEMM_ASYNC_STAGES,
    THREADS = GEMM_ASYNC_THREADS,
    OWN_M = GEMM_ASYNC_OWN_M,
    OWN_N = GEMM_ASYNC_OWN_N,
    WORDS = GEMM_ASYNC_WORDS,
    WORD_BYTES = 4,
    STAGE_BYTES = GEMM_ASYNC_STAGE * WORD_BYTES,
    SHARED_BYTES = STAGES * STAGE_BYTES
};

#if GEMM_HAVE_CP_ASYNC
/* What a thread copies: of A single elements, of B `width`. The place of thread t's copy number c is that
 * of its first copy and that of thread 0's copy c, added up, and of the second all is known to
 * the compiler. */
template <bool whole, int width> struct mover {
    static constexpr uint32_t copies_of_b = K * N / width / THREADS, copies = GEMM_ASYNC_COPIES_OF_A + copies_of_b;

    const float *a, *b;    /* the thread's first elements of the next step */
    int a_rows, a_columns; /* how many there are from these elements on; below 1: none */
    int b_rows, b_columns;
    uint32_t a_slot, b_slot, first, to; /* in shared memory, bytes: within a stage, of stages */
    uint32_t k, n;

    __device__ __forceinline__ mover(const float *all_a, const float *all_b, const float *shared,
                                     struct gemm_place corner, uint32_t m, uint32_t n_, uint32_t k_)
        : first(gemm_shared(shared)), to(first), k(k_), n(n_)
    {
        const struct gemm_place in_a = gemm_async_a(threadIdx.x, 0), in_b = gemm_async_b(width, threadIdx.x, 0);
        a = all_a + (size_t)(corner.row + in_a.row) * k + in_a.column;
        b = all_b + (size_t)in_b.row * n + corner.column + in_b.column;
        a_rows = (int)(m - corner.row - in_a.row);
        a_columns = (int)(k - in_a.column);
        b_rows = (int)(k - in_b.row);
        b_columns = (int)(n - corner.column - in_b.column);
        a_slot = gemm_async_slot_of_a(in_a) * WORD_BYTES;
        b_slot = gemm_async_slot_of_b(in_b) * WORD_BYTES;
    }
    __device__ __forceinline__ void start_a(uint32_t copy) const
    {
        const struct gemm_place on = gemm_async_a(0, copy);
        gemm_copy<WORD_BYTES>(to + a_slot + gemm_async_slot_of_a(on) * WORD_BYTES, a + (size_t)on.row * k + on.column,
                              whole || ((int)on.row < a_rows && (int)on.column < a_columns));
    }
    __device__ __forceinline__ void start_b(uint32_t copy) const
    {
        const struct gemm_place on = gemm_async_b(width, 0, copy);
        gemm_copy<width * WORD_BYTES>(to + b_slot + (gemm_async_slot_of_b(on) - GEMM_ASYNC_B) * WORD_BYTES,
                                      b + (size_t)on.row * n + on.column,
                                      whole || ((int)on.row < b_rows && (int)on.column < b_columns));
    }
    /* Copies of a step from number `begin` on to before `end`. */
    __device__ __forceinline__ void start(uint32_t begin, uint32_t end) const
    {
#pragma unroll
        for (uint32_t i = begin; i < end; i++)
            if (i < GEMM_ASYNC_COPIES_OF_A)
                start_a(i);
            else
                start_b(i - GEMM_ASYNC_COPIES_OF_A);
    }
    __device__ __forceinline__ void next(void)
    {
        gemm_end_group();
        a += K;
        b += (size_t)K * n;
        a_columns -= K;
        b_rows -= K;
        to = to + STAGE_BYTES == first + SHARED_BYTES ? first : to + STAGE_BYTES;
    }
    /* Whether there is such a step: the same answer in all threads, also those that bring only zeros. */
    __device__ __forceinline__ bool more(uint32_t step) const
    {
        return step * K < k;
    }
};

/* `count` words, four from each place; `apart` is what the lanes of a warp take together. */
template <int count>
static __device__ __forceinline__ void load_words(float (&into)[count], const float *from, int apart)
{
#pragma unroll
    for (int i = 0; i < count / WORDS; i++) {
        const float4 four = *(const float4 *)(from + i * apart);
        into[WORDS * i] = four.x;
        into[WORDS * i + 1] = four.y;
        into[WORDS * i + 2] = four.z;
        into[WORDS * i + 3] = four.w;
    }
}

/* Operands of 8 x 16 multiply-adds: of a column of A's tile and a row of B's. */
struct operands {
    float a[OWN_M], b[OWN_N];
    __device__ __forceinline__ void load(const float *stage, struct gemm_place own, uint32_t k)
    {
        const struct gemm_place in_a = gemm_place_of(own.row, k), in_b = gemm_place_of(k, own.column);
        load_words(a, stage + gemm_async_slot_of_a(in_a), (int)gemm_async_result(0, WORDS, 0).row);
        load_words(b, stage + gemm_async_slot_of_b(in_b), (int)gemm_async_result(0, 0, WORDS).column);
    }
};

/* Columns (or rows) to and fro: two multiply-adds that follow on each other share a factor, which then comes from
 * the scheduler's operand cache. There are two register banks, and a multiply-add has three operands:
 * by rows 30 % of them ask one bank for two (in the machine code), and on an H200 a scheduler issues in
 * 84.6 % of its cycles, waiting mostly for its dispatcher; by columns 15 %, and 87.4 %. But by
 * columns more registers are needed, which those kernels that copy single elements of B lack. */
template <bool by_columns>
static __device__ __forceinline__ void multiply(float (&sums)[OWN_M][OWN_N], const struct operands &now)
{
    constexpr int lines = by_columns ? OWN_N : OWN_M, length = by_columns ? OWN_M : OWN_N;
#pragma unroll
    for (int line = 0; line < lines; line++)
#pragma unroll
        for (int step = 0; step < length; step++) {
            const int at = line % 2 ? length - 1 - step : step;
            const int i = by_columns ? at : line, j = by_columns ? line : at;
            sums[i][j] = __fmaf_rn(now.a[i], now.b[j], sums[i][j]);
        }
}

template <bool whole, int width>
static __device__ __forceinline__ void store(const float (&sums)[OWN_M][OWN_N], float *c, struct gemm_place corner,
                                             uint32_t m, uint32_t n)
{
#pragma unroll
    for (int i = 0; i < OWN_M; i++) {
        const uint32_t row = corner.row + gemm_async_result(threadIdx.x, i, 0).row;
        if (!whole && row >= m)
            continue;
#pragma unroll
        for (int j = 0; j < OWN_N; j += width) {
            const uint32_t column = corner.column + gemm_async_result(threadIdx.x, i, j).column;
            float *to = c + (size_t)row * n + column;
            if (!whole && column >= n)
                continue;
            if constexpr (width == WORDS)
                *(float4 *)to = make_float4(sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]);
            else
                *to = sums[i][j];
        }
    }
}
#endif

/* Under the lens: FFMA, LDS.128 and LDGSTS, of which FFMA are nine in ten. `whole`: no tile reaches over an
 * edge, and nothing is compared; else zeros are multiplied there. The copies of a step are spread
 * over the multiply-adds of the second step before it, into the stage that was read last: at
 * the last barrier all warps had loaded its last operands. After the last step operands are
 * loaded that nobody uses, because there is one loop and no end that differs. */
template <bool whole, int width>
static __global__ void __launch_bounds__(BOUND(THREADS), 1)
    product_async(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, uint32_t m,
                  uint32_t n, uint32_t k)
{
#if GEMM_HAVE_CP_ASYNC
    extern __shared__ __align__(16) float shared[];
    const struct gemm_place tile = gemm_tile_of(gemm_up(m, M), gemm_up(n, N), GEMM_ASYNC_BAND, blockIdx.x);
    const struct gemm_place corner = gemm_place_of(tile.row * M, tile.column * N);
    const struct gemm_place own = gemm_async_result(threadIdx.x, 0, 0);
    mover<whole, width> move(a, b, shared, corner, m, n, k);
    constexpr uint32_t copies = mover<whole, width>::copies, parts = K - 1;
    float sums[OWN_M][OWN_N] = {};
    struct operands now[2];
    const float *stage = shared;
    uint32_t ahead = 0; /* the step that is copied next */

#pragma unroll
    for (; ahead < STAGES - 1; ahead++) {
        if (move.more(ahead))
            move.start(0, copies);
        move.next();
    }
    gemm_wait_groups<STAGES - 2>();
    __syncthreads();
    now[0].load(stage, own, 0);
#pragma unroll 1
    for (uint32_t left = gemm_up(k, K); left != 0; left--, ahead++) {
        const bool more = move.more(ahead);
#pragma unroll
        for (uint32_t i = 0; i < K; i++) {
            if (i == K - 1) {
                gemm_wait_groups<STAGES - 2>();
                __syncthreads();
                stage =
                    stage + GEMM_ASYNC_STAGE == shared + STAGES * GEMM_ASYNC_STAGE ? shared : stage + GEMM_ASYNC_STAGE;
            }
            now[(i + 1) % 2].load(stage, own, (i + 1) % K);
            if (more && i < parts)
                move.start(i * copies / parts, (i + 1) * copies / parts);
            if (i == parts - 1)
                move.next();
            multiply<width == WORDS>(sums, now[i % 2]);
        }
    }
    store<whole, width>(sums, c, corner, m, n);
#endif
}

/* ---- launch ------------------------------------------------------------------------ */

typedef void (*product)(const float *, const float *, float *, uint32_t, uint32_t, uint32_t);

/* Rows of B and C begin at 16 bytes where n is a multiple of 4; A's are copied by elements. */
static product choose(const gemm_shape *shape)
{
    if (shape->n % WORDS != 0)
        return product_async<false, 1>;
    const bool whole = shape->m % M == 0 && shape->n % N == 0 && shape->k % K == 0;
    return whole ? product_async<true, WORDS> : product_async<false, WORDS>;
}

static uint32_t blocks_of(const gemm_shape *shape)
{
    return gemm_up((uint32_t)shape->m, M) * gemm_up((uint32_t)shape->n, N);
}

extern "C" int gemm_async_launch(const gemm_shape *shape, const float *a, const float *b, float *c, void *stream)
{
    const product function = choose(shape);
    cudaFuncAttributes attributes;
    cudaError_t error = cudaFuncGetAttributes(&attributes, (const void *)function);
    if (error == cudaSuccess && attributes.maxThreadsPerBlock < THREADS)
        error = cudaErrorNoKernelImageForDevice;
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute((const void *)function, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
    if (error != cudaSuccess)
        return (int)error;
    function<<<blocks_of(shape), THREADS, SHARED_BYTES, (cudaStream_t)stream>>>(a, b, c, (uint32_t)shape->m,
                                                                                (uint32_t)shape->n, (uint32_t)shape->k);
    return (int)cudaGetLastError();
}

extern "C" void gemm_async_kernel(const gemm_shape *shape, ub_kernel *out)
{
    *out = ub_kernel();
    out->function = (const void *)choose(shape);
    out->name = "gemm async";
    out->grid[0] = blocks_of(shape);
    out->block[0] = THREADS;
    out->grid[1] = out->grid[2] = out->block[1] = out->block[2] = 1;
    out->dynamic_shared_bytes = SHARED_BYTES;
}
