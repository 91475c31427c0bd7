/* SPDX-License-Identifier: MIT
 *
 * Softmax of rows, in `fusion`: in three kernels, in three passes or two of one, and with the row
 * in registers. */
#include "micro/fusion/access.h"
#include "micro/fusion/device.h"
#include "micro/fusion/kernels.h"

/* Blocks of an SM where warps are what limits them: the law counts on it. */
enum { RESIDENT = 8 };

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

/* ---- reference kernel ------------------------------------------------------------------- */

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

/* ---- launch ------------------------------------------------------------------------------- */

fusion_row_kernel fusion_kept_row(const fusion_geometry &g)
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

static fusion_row_kernel row_kernel_of(const fusion_geometry &g)
{
    return g.variant == FUSION_PASSES ? three_passes : g.variant == FUSION_ONLINE ? online : fusion_kept_row(g);
}

static void launch(const fusion_geometry &g, const ub_launch &launch)
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

static void check(const fusion_geometry &g, const ub_launch &launch, unsigned long long *mismatches)
{
    void *const *p = launch.buffers->pointers;
    reference_softmax<<<g.rows, REFERENCE_BLOCK, 0, (cudaStream_t)launch.stream>>>(
        (const float *)p[0], (const float *)p[1], g.length, fusion_bound(&g), mismatches);
}

static void describe(const fusion_geometry &g, ub_kernel *out)
{
    out->function = g.variant == FUSION_SPLIT ? (const void *)split_divide : (const void *)row_kernel_of(g);
}

const fusion_kernels fusion_softmax = {launch, check, describe};
