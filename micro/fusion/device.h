/* SPDX-License-Identifier: MIT
 *
 * What the kernels of `fusion` share on the device: arithmetic of numbers, and what is wrong
 * with an answer. */
#ifndef UB_FUSION_DEVICE_H
#define UB_FUSION_DEVICE_H

#include <cuda_runtime.h>

#include "micro/fusion/geometry.h"

enum { WARP = 32, WARPS = FUSION_BLOCK / WARP, REFERENCE_BLOCK = 256 };

static const float log2_e = 1.44269504f;

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

/* ---- reference kernels ------------------------------------------------------------------ */

static __device__ void count_wrong(unsigned long long *mismatches, bool wrong)
{
    if (wrong)
        atomicAdd(mismatches, 1ull);
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

#endif
