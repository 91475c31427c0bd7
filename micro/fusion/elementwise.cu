/* SPDX-License-Identifier: MIT
 *
 * Element-wise steps of `fusion`: as kernels that hand their results on through global memory,
 * and as one that keeps them in registers. */
#include "micro/fusion/access.h"
#include "micro/fusion/device.h"
#include "micro/fusion/kernels.h"

enum { REFERENCE_BLOCKS = 4096 };

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

/* ---- reference kernel ------------------------------------------------------------------- */

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

/* ---- launch ------------------------------------------------------------------------------- */

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
static void launch(const fusion_geometry &g, const ub_launch &launch)
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

static void check(const fusion_geometry &g, const ub_launch &launch, unsigned long long *mismatches)
{
    void *const *p = launch.buffers->pointers;
    reference_elementwise<<<REFERENCE_BLOCKS, REFERENCE_BLOCK, 0, (cudaStream_t)launch.stream>>>(
        (const float *)p[0], (const float *)p[1], g.elements, g.steps, g.op == FUSION_EXP, fusion_bound(&g),
        mismatches);
}

static void describe(const fusion_geometry &g, ub_kernel *out)
{
    out->function = (const void *)elementwise_of(g);
    out->grid[0] = blocks_of(g);
}

const fusion_kernels fusion_elementwise = {launch, check, describe};
