/* SPDX-License-Identifier: MIT
 *
 * The device side of `fusion`: element-wise steps, softmax and attention, each as kernels
 * that hand their results on through global memory, and as one that keeps them. */
#include <cuda_runtime.h>

#include "micro/fusion/access.h"

enum { WARP = 32, WARPS = FUSION_BLOCK / WARP, REFERENCE_BLOCK = 256, REFERENCE_BLOCKS = 4096 };

/* Blocks of an SM where warps are what limits them: the law counts on it. */
enum { RESIDENT = 8 };

/* 2^x: one MUFU.EX2. */
static __device__ __forceinline__ float power_of_two(float x)
{
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

/* 1 / x: one MUFU.RCP. */
static __device__ __forceinline__ float reciprocal(float x)
{
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

/* ---- element-wise steps ------------------------------------------------------------ */

/* A step of the four floats of a thread. `one` (1) and `tick` (2^-10) are arguments: the
 * compiler can neither shorten a chain of steps nor leave one out. */
struct fma_step {
    static __device__ __forceinline__ void run(float (&x)[FUSION_GROUP], float one, float tick, float &)
    {
#pragma unroll
        for (int i = 0; i < FUSION_GROUP; i++)
            x[i] = __fmaf_rn(x[i], one, tick);
    }
};

/* The exponential forgets where it began: what it adds grows with each step, so that the
 * last one tells how many there were. */
struct exp_step {
    static __device__ __forceinline__ void run(float (&x)[FUSION_GROUP], float, float tick, float &addend)
    {
#pragma unroll
        for (int i = 0; i < FUSION_GROUP; i++)
            x[i] = __fadd_rn(power_of_two(-x[i]), addend);
        addend = __fadd_rn(addend, tick);
    }
};

template <typename step, int count>
static __device__ __forceinline__ void run(float (&x)[FUSION_GROUP], float one, float tick, float &addend)
{
#pragma unroll
    for (int i = 0; i < count; i++)
        step::run(x, one, tick, addend);
}

/* Under the lens: one LDG.128 and one STG.128, and `steps` steps between them. Split, the
 * same machine code runs once for each step, with steps = 1: what differs is where the
 * intermediate results are. */
template <typename step>
static __global__ void __launch_bounds__(FUSION_BLOCK)
    elementwise(const float4 *__restrict__ source, float4 *__restrict__ target, uint64_t groups, uint32_t steps,
                float one, float tick, float addend)
{
    const uint64_t group = fusion_group(blockIdx.x, threadIdx.x);
    if (group >= groups)
        return;
    const float4 from = source[group];
    float x[FUSION_GROUP] = {from.x, from.y, from.z, from.w};
#pragma unroll 1
    for (uint32_t left = steps / 8; left != 0; left--)
        run<step, 8>(x, one, tick, addend);
    if (steps & 4)
        run<step, 4>(x, one, tick, addend);
    if (steps & 2)
        run<step, 2>(x, one, tick, addend);
    if (steps & 1)
        run<step, 1>(x, one, tick, addend);
    target[group] = make_float4(x[0], x[1], x[2], x[3]);
}

/* ---- softmax of a row ---------------------------------------------------------------- */

static __device__ __forceinline__ float largest(float4 x)
{
    return fmaxf(fmaxf(x.x, x.y), fmaxf(x.z, x.w));
}

static __device__ __forceinline__ float sum_of(float4 x)
{
    return (x.x + x.y) + (x.z + x.w);
}

/* 2^(x scale - shift), of which shift is the row's maximum x scale. */
static __device__ __forceinline__ float4 powers(float4 x, float scale, float shift)
{
    return make_float4(power_of_two(fmaf(x.x, scale, -shift)), power_of_two(fmaf(x.y, scale, -shift)),
                       power_of_two(fmaf(x.z, scale, -shift)), power_of_two(fmaf(x.w, scale, -shift)));
}

static __device__ __forceinline__ float4 times(float4 x, float factor)
{
    return make_float4(x.x * factor, x.y * factor, x.z * factor, x.w * factor);
}

struct maximum {
    static __device__ float of(float a, float b)
    {
        return fmaxf(a, b);
    }
};

struct sum {
    static __device__ float of(float a, float b)
    {
        return a + b;
    }
};

/* Of all threads of the block, for all of them. */
template <typename operation> static __device__ __forceinline__ float all_threads(float value)
{
    __shared__ float of_warps[WARPS];
    for (uint32_t apart = WARP / 2; apart > 0; apart /= 2)
        value = operation::of(value, __shfl_xor_sync(0xFFFFFFFFu, value, apart));
    __syncthreads(); /* what was there before has been read */
    if (threadIdx.x % WARP == 0)
        of_warps[threadIdx.x / WARP] = value;
    __syncthreads();
    value = of_warps[0];
#pragma unroll
    for (int warp = 1; warp < WARPS; warp++)
        value = operation::of(value, of_warps[warp]);
    return value;
}

/* A pass of a thread over its part of a row: four groups are on their way before the first one
 * is used. There are turns in which all threads of the block have a group, and one more in
 * which only the first ones do: all lanes of a warp make as many, however the compiler cuts
 * the loops. */
template <typename task>
static __device__ __forceinline__ void each_group(const float4 *__restrict__ row, uint32_t groups, task use)
{
    enum { AHEAD = 4 };
    uint32_t left = groups / FUSION_BLOCK;
    uint64_t i = threadIdx.x; /* does not wrap: the places of four groups are one address and constants */
#pragma unroll 1
    for (; left >= AHEAD; left -= AHEAD, i += AHEAD * FUSION_BLOCK) {
        float4 x[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            x[k] = row[i + k * FUSION_BLOCK];
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            use(i + k * FUSION_BLOCK, x[k]);
    }
#pragma unroll 1
    for (; left != 0; left--, i += FUSION_BLOCK)
        use(i, row[i]);
    if (i < groups)
        use(i, row[i]);
}

static __device__ __forceinline__ float pass_maximum(const float4 *__restrict__ row, uint32_t groups)
{
    float result = -INFINITY;
    each_group(row, groups, [&](uint64_t, float4 x) { result = fmaxf(result, largest(x)); });
    return result;
}

static __device__ __forceinline__ float pass_sum(const float4 *__restrict__ row, uint32_t groups, float scale,
                                                 float shift)
{
    float result = 0;
    each_group(row, groups, [&](uint64_t, float4 x) { result += sum_of(powers(x, scale, shift)); });
    return result;
}

static __device__ __forceinline__ void pass_divide(const float4 *__restrict__ row, float4 *__restrict__ target,
                                                   uint32_t groups, float scale, float shift, float total)
{
    const float factor = reciprocal(total);
    each_group(row, groups, [&](uint64_t i, float4 x) { target[i] = times(powers(x, scale, shift), factor); });
}

/* A maximum, and a sum that is put right when it grows. */
struct running {
    float highest, total;

    __device__ __forceinline__ void add(float4 x, float scale)
    {
        const float higher = fmaxf(highest, largest(x));
        total = total * power_of_two((highest - higher) * scale) + sum_of(powers(x, scale, higher * scale));
        highest = higher;
    }
};

static __device__ __forceinline__ running pass_online(const float4 *__restrict__ row, uint32_t groups, float scale)
{
    running result = {-INFINITY, 0};
    each_group(row, groups, [&](uint64_t, float4 x) { result.add(x, scale); });
    return result;
}

/* One number of a row, for warps that have a part of it. */
static __device__ __forceinline__ float number_of(const float *__restrict__ numbers, uint32_t groups)
{
    return threadIdx.x / WARP * WARP < groups ? numbers[blockIdx.x] : 0;
}

/* Three kernels: the row is read by each, its maximum and sum go through global memory. */
static __global__ void __launch_bounds__(FUSION_BLOCK, RESIDENT)
    split_maximum(const float4 *__restrict__ source, float *__restrict__ maxima, uint32_t length)
{
    const float4 *row = source + fusion_row(length, blockIdx.x);
    const float result = all_threads<maximum>(pass_maximum(row, length / FUSION_GROUP));
    if (threadIdx.x == 0)
        maxima[blockIdx.x] = result;
}

static __global__ void __launch_bounds__(FUSION_BLOCK, RESIDENT)
    split_sum(const float4 *__restrict__ source, const float *__restrict__ maxima, float *__restrict__ sums,
              uint32_t length, float scale)
{
    const float4 *row = source + fusion_row(length, blockIdx.x);
    const uint32_t groups = length / FUSION_GROUP;
    const float shift = number_of(maxima, groups) * scale;
    const float result = all_threads<sum>(pass_sum(row, groups, scale, shift));
    if (threadIdx.x == 0)
        sums[blockIdx.x] = result;
}

static __global__ void __launch_bounds__(FUSION_BLOCK, RESIDENT)
    split_divide(const float4 *__restrict__ source, float4 *__restrict__ target, const float *__restrict__ maxima,
                 const float *__restrict__ sums, uint32_t length, float scale)
{
    const uint64_t first = fusion_row(length, blockIdx.x);
    const uint32_t groups = length / FUSION_GROUP;
    pass_divide(source + first, target + first, groups, scale, number_of(maxima, groups) * scale,
                number_of(sums, groups));
}

/* The same three passes in one kernel. */
static __global__ void __launch_bounds__(FUSION_BLOCK, RESIDENT)
    three_passes(const float4 *__restrict__ source, float4 *__restrict__ target, uint32_t length, float scale)
{
    const uint64_t first = fusion_row(length, blockIdx.x);
    const uint32_t groups = length / FUSION_GROUP;
    const float shift = all_threads<maximum>(pass_maximum(source + first, groups)) * scale;
    const float total = all_threads<sum>(pass_sum(source + first, groups, scale, shift));
    pass_divide(source + first, target + first, groups, scale, shift, total);
}

/* Two passes: maximum and sum in one. */
static __global__ void __launch_bounds__(FUSION_BLOCK, RESIDENT)
    online(const float4 *__restrict__ source, float4 *__restrict__ target, uint32_t length, float scale)
{
    const uint64_t first = fusion_row(length, blockIdx.x);
    const uint32_t groups = length / FUSION_GROUP;
    const float4 *row = source + first;
    const running mine = pass_online(row, groups, scale);
    const float shift = all_threads<maximum>(mine.highest) * scale;
    /* a thread without a group has no maximum, and a sum of 0 */
    const float total = all_threads<sum>(mine.total * power_of_two(fmaf(mine.highest, scale, -shift)));
    pass_divide(row, target + first, groups, scale, shift, total);
}

/* One pass: the row stays in registers. `source` and `target` may be the same. */
template <int kept>
static __global__ void __launch_bounds__(FUSION_BLOCK)
    kept_row(const float4 *source, float4 *target, uint32_t length, float scale)
{
    const uint64_t first = fusion_row(length, blockIdx.x);
    const uint32_t groups = length / FUSION_GROUP;
    float4 x[kept];
    float highest = -INFINITY, total = 0;
#pragma unroll
    for (int k = 0; k < kept; k++) {
        const uint32_t i = k * FUSION_BLOCK + threadIdx.x;
        x[k] = i < groups ? source[first + i] : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
    }
#pragma unroll
    for (int k = 0; k < kept; k++)
        highest = fmaxf(highest, largest(x[k]));
    const float shift = all_threads<maximum>(highest) * scale;
#pragma unroll
    for (int k = 0; k < kept; k++) {
        x[k] = powers(x[k], scale, shift);
        total += sum_of(x[k]);
    }
    const float factor = reciprocal(all_threads<sum>(total));
#pragma unroll
    for (int k = 0; k < kept; k++) {
        const uint32_t i = k * FUSION_BLOCK + threadIdx.x;
        if (i < groups)
            target[first + i] = times(x[k], factor);
    }
}

/* ---- attention ------------------------------------------------------------------------ */

/* A tile of 64 x 64 floats in shared memory. Its columns are swapped by the row, so that a
 * transposed tile is written without sixteen lanes waiting for one bank. */
struct tile {
    float floats[FUSION_TILE_FLOATS];

    static __device__ __forceinline__ uint32_t place(uint32_t row, uint32_t column)
    {
        return row * FUSION_TILE + (column ^ (row / FUSION_GROUP * FUSION_GROUP % FUSION_TILE));
    }
    __device__ __forceinline__ float4 *four(uint32_t row, uint32_t column)
    {
        return (float4 *)(floats + place(row, column));
    }
};

/* Rows of a matrix `width` floats wide, from row `first` and float `column` on. */
static __device__ __forceinline__ void load_tile(float4 (&loaded)[FUSION_GROUP], const float4 *matrix, uint64_t first,
                                                 uint32_t width, uint32_t column)
{
#pragma unroll
    for (int k = 0; k < FUSION_GROUP; k++)
        loaded[k] = matrix[fusion_matrix_row(first + fusion_tile_row(threadIdx.x, k), width) + column / FUSION_GROUP +
                           fusion_tile_column(threadIdx.x)];
}

static __device__ __forceinline__ void put_transposed(tile &to, const float4 (&loaded)[FUSION_GROUP])
{
    const uint32_t column = fusion_tile_column(threadIdx.x) * FUSION_GROUP;
#pragma unroll
    for (int k = 0; k < FUSION_GROUP; k++) {
        const uint32_t row = fusion_tile_row(threadIdx.x, k);
        to.floats[tile::place(column + 0, row)] = loaded[k].x;
        to.floats[tile::place(column + 1, row)] = loaded[k].y;
        to.floats[tile::place(column + 2, row)] = loaded[k].z;
        to.floats[tile::place(column + 3, row)] = loaded[k].w;
    }
}

static __device__ __forceinline__ void put(tile &to, const float4 (&loaded)[FUSION_GROUP])
{
#pragma unroll
    for (int k = 0; k < FUSION_GROUP; k++)
        *to.four(fusion_tile_row(threadIdx.x, k), fusion_tile_column(threadIdx.x) * FUSION_GROUP) = loaded[k];
}

/* The 4 x 4 of a thread of a product, += transposed(left) x right. */
static __device__ __forceinline__ void multiply(float4 (&product)[FUSION_GROUP], tile &left, tile &right, uint32_t y,
                                                uint32_t x)
{
#pragma unroll 8
    for (uint32_t k = 0; k < FUSION_TILE; k++) {
        const float4 a = *left.four(k, y), b = *right.four(k, x);
        const float rows[FUSION_GROUP] = {a.x, a.y, a.z, a.w};
#pragma unroll
        for (int i = 0; i < FUSION_GROUP; i++) {
            product[i].x = fmaf(rows[i], b.x, product[i].x);
            product[i].y = fmaf(rows[i], b.y, product[i].y);
            product[i].z = fmaf(rows[i], b.z, product[i].z);
            product[i].w = fmaf(rows[i], b.w, product[i].w);
        }
    }
}

static __device__ __forceinline__ uint32_t own_row()
{
    return fusion_own_row(threadIdx.x);
}

static __device__ __forceinline__ uint32_t own_column()
{
    return fusion_own_column(threadIdx.x) * FUSION_GROUP;
}

static __device__ __forceinline__ void store_own(float4 *matrix, uint64_t first, uint32_t width, uint32_t column,
                                                 const float4 (&values)[FUSION_GROUP])
{
#pragma unroll
    for (int i = 0; i < FUSION_GROUP; i++)
        matrix[fusion_matrix_row(first + own_row() + i, width) + column / FUSION_GROUP +
               fusion_own_column(threadIdx.x)] = values[i];
}

/* A tile of the scores: queries x transposed(keys). */
static __global__ void __launch_bounds__(FUSION_BLOCK)
    scores(const float4 *__restrict__ queries, const float4 *__restrict__ keys, float4 *__restrict__ result,
           uint32_t seq)
{
    __shared__ __align__(16) tile query, key;
    const uint64_t head = (uint64_t)blockIdx.z * seq, row = head + blockIdx.y * FUSION_TILE;
    float4 loaded[FUSION_GROUP], product[FUSION_GROUP] = {};
    load_tile(loaded, queries, row, FUSION_DIM, 0);
    put_transposed(query, loaded);
    load_tile(loaded, keys, head + blockIdx.x * FUSION_TILE, FUSION_DIM, 0);
    put_transposed(key, loaded);
    __syncthreads();
    multiply(product, query, key, own_row(), own_column());
    store_own(result, row, seq, blockIdx.x * FUSION_TILE, product);
}

/* 64 rows of the result: weights x values. */
static __global__ void __launch_bounds__(FUSION_BLOCK)
    weighted_values(const float4 *__restrict__ weights, const float4 *__restrict__ values, float4 *__restrict__ result,
                    uint32_t seq)
{
    __shared__ __align__(16) tile weight, value;
    const uint64_t head = (uint64_t)blockIdx.y * seq, row = head + blockIdx.x * FUSION_TILE;
    float4 loaded[FUSION_GROUP], product[FUSION_GROUP] = {};
#pragma unroll 1
    for (uint32_t first = 0; first < seq; first += FUSION_TILE) {
        load_tile(loaded, weights, row, seq, first);
        __syncthreads(); /* the tiles before have been multiplied */
        put_transposed(weight, loaded);
        load_tile(loaded, values, head + first, FUSION_DIM, 0);
        put(value, loaded);
        __syncthreads();
        multiply(product, weight, value, own_row(), own_column());
    }
    store_own(result, row, FUSION_DIM, 0, product);
}

/* Of the sixteen threads that have a row's parts. */
template <typename operation> static __device__ __forceinline__ float all_of_row(float value)
{
#pragma unroll
    for (int apart = FUSION_THREADS / 2; apart > 0; apart /= 2)
        value = operation::of(value, __shfl_xor_sync(0xFFFFFFFFu, value, apart));
    return value;
}

/* All three in one: the scores of 64 queries and 64 keys become weights in shared memory;
 * what the keys before gave is put right when the maximum grows. Keys and values take turns
 * in one tile. */
static __global__ void __launch_bounds__(FUSION_BLOCK)
    attention(const float4 *__restrict__ queries, const float4 *__restrict__ keys, const float4 *__restrict__ values,
              float4 *__restrict__ result, uint32_t seq, float scale)
{
    __shared__ __align__(16) tile query, key_or_value, weight;
    const uint64_t head = (uint64_t)blockIdx.y * seq, row = head + blockIdx.x * FUSION_TILE;
    float4 loaded[FUSION_GROUP], product[FUSION_GROUP] = {};
    float highest[FUSION_GROUP], total[FUSION_GROUP];
#pragma unroll
    for (int i = 0; i < FUSION_GROUP; i++) {
        highest[i] = -INFINITY;
        total[i] = 0;
    }
    load_tile(loaded, queries, row, FUSION_DIM, 0);
    put_transposed(query, loaded);
#pragma unroll 1
    for (uint32_t first = 0; first < seq; first += FUSION_TILE) {
        float4 score[FUSION_GROUP] = {};
        load_tile(loaded, keys, head + first, FUSION_DIM, 0);
        __syncthreads(); /* the values before have been multiplied */
        put_transposed(key_or_value, loaded);
        __syncthreads();
        multiply(score, query, key_or_value, own_row(), own_column());
        load_tile(loaded, values, head + first, FUSION_DIM, 0);
#pragma unroll
        for (int i = 0; i < FUSION_GROUP; i++) {
            const float higher = fmaxf(highest[i], all_of_row<maximum>(largest(score[i])));
            const float before = power_of_two((highest[i] - higher) * scale);
            highest[i] = higher;
            score[i] = powers(score[i], scale, higher * scale);
            total[i] = total[i] * before + sum_of(score[i]);
            product[i] = times(product[i], before);
        }
        __syncthreads(); /* the keys have been multiplied */
        put(key_or_value, loaded);
        const uint32_t y = own_row(), x = own_column();
        *weight.four(x + 0, y) = make_float4(score[0].x, score[1].x, score[2].x, score[3].x);
        *weight.four(x + 1, y) = make_float4(score[0].y, score[1].y, score[2].y, score[3].y);
        *weight.four(x + 2, y) = make_float4(score[0].z, score[1].z, score[2].z, score[3].z);
        *weight.four(x + 3, y) = make_float4(score[0].w, score[1].w, score[2].w, score[3].w);
        __syncthreads();
        multiply(product, weight, key_or_value, y, x);
    }
#pragma unroll
    for (int i = 0; i < FUSION_GROUP; i++)
        product[i] = times(product[i], reciprocal(all_of_row<sum>(total[i])));
    store_own(result, row, FUSION_DIM, 0, product);
}

/* ---- reference kernels ------------------------------------------------------------------ */

static __device__ void count_wrong(unsigned long long *mismatches, bool wrong)
{
    if (wrong)
        atomicAdd(mismatches, 1ull);
}

static __global__ void reference_elementwise(const float *source, const float *target, uint64_t elements,
                                             uint32_t steps, bool exponential, double bound,
                                             unsigned long long *mismatches)
{
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < elements;
         i += (uint64_t)gridDim.x * blockDim.x) {
        double x = source[i];
        if (!exponential)
            x += steps / 1024.0;
        for (uint32_t step = 0; step < steps && exponential; step++)
            x = exp2(-x) + step / 1024.0;
        count_wrong(mismatches, !(fabs(target[i] - x) <= bound));
    }
}

/* Adds up in double precision over the block; all threads get it. */
static __device__ double block_total(double value)
{
    __shared__ double parts[REFERENCE_BLOCK];
    __syncthreads();
    parts[threadIdx.x] = value;
    __syncthreads();
    double total = 0;
    for (int i = 0; i < REFERENCE_BLOCK; i++)
        total += parts[i];
    return total;
}

/* Without a maximum: e^16 times a million is no danger to a double. */
static __global__ void reference_softmax(const float *source, const float *target, uint32_t length, double bound,
                                         unsigned long long *mismatches)
{
    const float *row = source + (uint64_t)blockIdx.x * length, *result = target + (uint64_t)blockIdx.x * length;
    double total = 0;
    for (uint32_t i = threadIdx.x; i < length; i += REFERENCE_BLOCK)
        total += exp(row[i] * (double)fusion_softmax_scale);
    total = block_total(total);
    for (uint32_t i = threadIdx.x; i < length; i += REFERENCE_BLOCK) {
        const double expected = exp(row[i] * (double)fusion_softmax_scale) / total;
        count_wrong(mismatches, !(fabs(result[i] - expected) <= bound * expected));
    }
}

/* A block has a query; `weights` of it are in shared memory. */
static __global__ void reference_attention(const float *queries, const float *keys, const float *values,
                                           const float *result, uint32_t seq, double bound,
                                           unsigned long long *mismatches)
{
    extern __shared__ float weights[];
    __shared__ double parts[REFERENCE_BLOCK];
    const uint64_t head = (uint64_t)blockIdx.y * seq * FUSION_DIM, own = head + (uint64_t)blockIdx.x * FUSION_DIM;
    double total = 0;
    for (uint32_t key = threadIdx.x; key < seq; key += REFERENCE_BLOCK) {
        double product = 0;
        for (uint32_t d = 0; d < FUSION_DIM; d++)
            product += (double)queries[own + d] * keys[head + (uint64_t)key * FUSION_DIM + d];
        weights[key] = (float)exp(product * (double)fusion_attention_scale);
        total += weights[key];
    }
    total = block_total(total);
    double mine = 0;
    for (uint32_t key = threadIdx.x / FUSION_DIM; key < seq; key += REFERENCE_BLOCK / FUSION_DIM)
        mine += (double)weights[key] * values[head + (uint64_t)key * FUSION_DIM + threadIdx.x % FUSION_DIM];
    parts[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x < FUSION_DIM) {
        double expected = 0;
        for (uint32_t part = threadIdx.x; part < REFERENCE_BLOCK; part += FUSION_DIM)
            expected += parts[part];
        count_wrong(mismatches, !(fabs(result[own + threadIdx.x] - expected / total) <= bound));
    }
}

/* ---- launch ------------------------------------------------------------------------------- */

static const float log2_e = 1.44269504f;

static uint32_t blocks_of(const fusion_geometry &g)
{
    const uint64_t threads = g.elements / FUSION_GROUP;
    return (uint32_t)((threads + FUSION_BLOCK - 1) / FUSION_BLOCK);
}

typedef void (*elementwise_kernel)(const float4 *, float4 *, uint64_t, uint32_t, float, float, float);

static elementwise_kernel elementwise_of(const fusion_geometry &g)
{
    return g.op == FUSION_EXP ? elementwise<exp_step> : elementwise<fma_step>;
}

/* The steps write two arrays in turn, the last one the target. */
static void launch_elementwise(const fusion_geometry &g, const ub_launch &launch)
{
    const float tick = 1.0f / 1024;
    void *const *p = launch.buffers->pointers;
    const uint32_t steps = g.steps / g.kernels;
    const float4 *from = (const float4 *)p[0];
    for (uint32_t kernel = 0; kernel < g.kernels; kernel++) {
        float4 *to = (float4 *)p[(g.kernels - kernel) % 2 == 1 ? 1 : 2];
        elementwise_of(g)<<<blocks_of(g), FUSION_BLOCK, 0, (cudaStream_t)launch.stream>>>(
            from, to, g.elements / FUSION_GROUP, steps, 1.0f, tick, (float)kernel * tick);
        from = to;
    }
}

typedef void (*row_kernel)(const float4 *, float4 *, uint32_t, float);

static row_kernel kept_row_of(const fusion_geometry &g)
{
    switch (g.kept_groups) {
    case 1:
        return kept_row<1>;
    case 2:
        return kept_row<2>;
    case 4:
        return kept_row<4>;
    case 8:
        return kept_row<8>;
    default:
        return kept_row<16>;
    }
}

static row_kernel row_kernel_of(const fusion_geometry &g)
{
    return g.variant == FUSION_PASSES ? three_passes : g.variant == FUSION_ONLINE ? online : kept_row_of(g);
}

static void launch_softmax(const fusion_geometry &g, const ub_launch &launch)
{
    const float scale = fusion_softmax_scale * log2_e;
    cudaStream_t stream = (cudaStream_t)launch.stream;
    const float4 *source = (const float4 *)launch.buffers->pointers[0];
    float4 *target = (float4 *)launch.buffers->pointers[1];
    if (g.variant != FUSION_SPLIT) {
        row_kernel_of(g)<<<g.rows, FUSION_BLOCK, 0, stream>>>(source, target, g.length, scale);
        return;
    }
    float *maxima = (float *)launch.buffers->pointers[2], *sums = maxima + g.rows;
    split_maximum<<<g.rows, FUSION_BLOCK, 0, stream>>>(source, maxima, g.length);
    split_sum<<<g.rows, FUSION_BLOCK, 0, stream>>>(source, maxima, sums, g.length, scale);
    split_divide<<<g.rows, FUSION_BLOCK, 0, stream>>>(source, target, maxima, sums, g.length, scale);
}

/* Queries, keys, values stand behind each other. */
static const float4 *part(const fusion_geometry &g, const ub_launch &launch, int which)
{
    return (const float4 *)launch.buffers->pointers[0] + which * fusion_matrix_row(g.rows, FUSION_DIM);
}

static void launch_attention(const fusion_geometry &g, const ub_launch &launch)
{
    const float scale = fusion_attention_scale * log2_e;
    cudaStream_t stream = (cudaStream_t)launch.stream;
    const float4 *queries = part(g, launch, 0), *keys = part(g, launch, 1), *values = part(g, launch, 2);
    float4 *result = (float4 *)launch.buffers->pointers[1];
    const dim3 tiles(g.tiles, g.heads);
    if (g.variant == FUSION_FUSED) {
        attention<<<tiles, FUSION_BLOCK, 0, stream>>>(queries, keys, values, result, g.seq, scale);
        return;
    }
    float4 *all = (float4 *)launch.buffers->pointers[2];
    scores<<<dim3(g.tiles, g.tiles, g.heads), FUSION_BLOCK, 0, stream>>>(queries, keys, all, g.seq);
    kept_row_of(g)<<<g.rows, FUSION_BLOCK, 0, stream>>>(all, all, g.length, scale);
    weighted_values<<<tiles, FUSION_BLOCK, 0, stream>>>(all, values, result, g.seq);
}

static int launch(const ub_launch *launch)
{
    static void (*const launches[FUSION_WORKS])(const fusion_geometry &, const ub_launch &) = {
        launch_elementwise, launch_softmax, launch_attention};
    fusion_geometry g;
    if (fusion_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    launches[g.work](g, *launch);
    return (int)cudaGetLastError();
}

static int check(const ub_launch *launch)
{
    fusion_geometry g;
    if (fusion_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    cudaStream_t stream = (cudaStream_t)launch->stream;
    const float *source = (const float *)launch->buffers->pointers[0], *target = (float *)launch->buffers->pointers[1];
    unsigned long long *mismatches = launch->results + UB_RESULT_MISMATCHES;
    if (g.work == FUSION_ELEMENTWISE)
        reference_elementwise<<<REFERENCE_BLOCKS, REFERENCE_BLOCK, 0, stream>>>(
            source, target, g.elements, g.steps, g.op == FUSION_EXP, fusion_bound(&g), mismatches);
    else if (g.work == FUSION_SOFTMAX)
        reference_softmax<<<g.rows, REFERENCE_BLOCK, 0, stream>>>(source, target, g.length, fusion_bound(&g),
                                                                  mismatches);
    else
        reference_attention<<<dim3(g.seq, g.heads), REFERENCE_BLOCK, g.seq * sizeof(float), stream>>>(
            source, (const float *)part(g, *launch, 1), (const float *)part(g, *launch, 2), target, g.seq,
            fusion_bound(&g), mismatches);
    return (int)cudaGetLastError();
}

/* Of several kernels the one that stands for the others: that which has the most to do. */
static void describe(const ub_gpu *gpu, const ub_point *point, ub_kernel *out)
{
    fusion_geometry g;
    *out = ub_kernel();
    if (fusion_resolve(gpu, point, &g) != NULL)
        return;
    const bool split = g.variant == FUSION_SPLIT;
    out->name = "fusion";
    out->grid[0] = g.rows;
    out->grid[1] = out->grid[2] = out->block[1] = out->block[2] = 1;
    out->block[0] = FUSION_BLOCK;
    if (g.work == FUSION_ELEMENTWISE) {
        out->function = (const void *)elementwise_of(g);
        out->grid[0] = blocks_of(g);
    } else if (g.work == FUSION_SOFTMAX) {
        out->function = split ? (const void *)split_divide : (const void *)row_kernel_of(g);
    } else {
        out->function = split ? (const void *)scores : (const void *)attention;
        out->grid[0] = g.tiles;
        out->grid[1] = split ? g.tiles : g.heads;
        out->grid[2] = split ? g.heads : 1;
    }
}

extern "C" {
extern const struct ub_code ub_code_fusion;
const struct ub_code ub_code_fusion = {launch, check, describe, nullptr, nullptr};
}
