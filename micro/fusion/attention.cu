/* SPDX-License-Identifier: MIT
 *
 * Attention, in `fusion`: with its scores in global memory between three kernels, and in one that
 * keeps tiles of them in shared memory. */
#include "micro/fusion/access.h"
#include "micro/fusion/device.h"
#include "micro/fusion/kernels.h"

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

/* ---- reference kernel ------------------------------------------------------------------- */

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

/* Queries, keys, values stand behind each other. */
static const float4 *part(const fusion_geometry &g, const ub_launch &launch, int which)
{
    return (const float4 *)launch.buffers->pointers[0] + which * fusion_matrix_row(g.rows, FUSION_DIM);
}

static void launch(const fusion_geometry &g, const ub_launch &launch)
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
    fusion_kept_row(g)<<<g.rows, FUSION_BLOCK, 0, stream>>>(all, all, g.length, scale);
    weighted_values<<<tiles, FUSION_BLOCK, 0, stream>>>(all, values, result, g.seq);
}

static void check(const fusion_geometry &g, const ub_launch &launch, unsigned long long *mismatches)
{
    reference_attention<<<dim3(g.seq, g.heads), REFERENCE_BLOCK, g.seq * sizeof(float), (cudaStream_t)launch.stream>>>(
        (const float *)part(g, launch, 0), (const float *)part(g, launch, 1), (const float *)part(g, launch, 2),
        (const float *)launch.buffers->pointers[1], g.seq, fusion_bound(&g), mismatches);
}

static void describe(const fusion_geometry &g, ub_kernel *out)
{
    const bool split = g.variant == FUSION_SPLIT;
    out->function = split ? (const void *)scores : (const void *)attention;
    out->grid[0] = g.tiles;
    out->grid[1] = split ? g.tiles : g.heads;
    out->grid[2] = split ? g.heads : 1;
}

const fusion_kernels fusion_attention = {launch, check, describe};
