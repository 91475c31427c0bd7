/* SPDX-License-Identifier: MIT
 *
 * The device side of `spill`: one loop that works on 96 values, compiled with ever fewer
 * registers. Under the lens: LDL and STL, with which ptxas puts aside, in local memory,
 * the values for which there is no register. */
#include <cuda_runtime.h>

#include "micro/spill/geometry.h"

enum { REFERENCE_BLOCK = 256, PREFER_L1 = 0 };

/* use=changed: every value is needed in every trip and changes in it, so that it can
 * neither be computed anew nor be dropped: it is in a register all the time, or it is
 * loaded and stored once a trip. use=read: the values stay what they are, and a trip
 * adds them to sums; they depend on what is loaded from `zeroes`, else ptxas would compute
 * them again instead of keeping them. The factor and the addend (1 and 1) are arguments:
 * the compiler can neither shorten a chain of multiply-adds nor replace it, and a value
 * counts its own. */
template <int cap, int use>
static __global__ void __maxnreg__(cap)
    spill(uint32_t trips, float factor, float addend, const float *zeroes, uint32_t *out, unsigned long long *cycles)
{
    float values[SPILL_VALUES], sums[SPILL_SUMS];
#pragma unroll
    for (int i = 0; i < SPILL_VALUES; i++)
        values[i] = (float)(threadIdx.x + i) + (use == SPILL_READ ? zeroes[i * blockDim.x + threadIdx.x] : 0);
#pragma unroll
    for (int i = 0; i < SPILL_SUMS; i++)
        sums[i] = (float)i;
    __syncthreads();
    const long long start = clock64();
#pragma unroll 1
    for (uint32_t left = trips; left != 0; left--) {
#pragma unroll
        for (int i = 0; i < SPILL_VALUES; i++) {
            if (use == SPILL_CHANGED)
                values[i] = __fmaf_rn(values[i], factor, addend);
            else
                sums[i % SPILL_SUMS] = __fmaf_rn(sums[i % SPILL_SUMS], factor, values[i]);
        }
    }
    /* Each warp when it has ended itself; every lane, because a branch round one of them
     * would be one more thing to count. */
    atomicMax(cycles, (unsigned long long)(clock64() - start));
    uint32_t all = 0;
#pragma unroll
    for (int i = 0; i < (use == SPILL_CHANGED ? SPILL_VALUES : SPILL_SUMS); i++)
        all = all * 3 + __float_as_uint(use == SPILL_CHANGED ? values[i] : sums[i]);
    out[blockIdx.x * blockDim.x + threadIdx.x] = all;
}

/* What a thread has at the end, in whole numbers and without an array: value i began with
 * its thread's number + i and has counted the trips; sum j has gained, each trip, the
 * twelve values j, j + 8, ..., j + 88. */
static __device__ uint32_t expected(const spill_geometry &g, uint32_t thread)
{
    const uint32_t each = SPILL_VALUES / SPILL_SUMS;
    uint32_t all = 0;
    if (g.use == SPILL_CHANGED)
        for (uint32_t i = 0; i < SPILL_VALUES; i++)
            all = 3 * all + __float_as_uint((float)(thread + i + g.trips));
    else
        for (uint32_t j = 0; j < SPILL_SUMS; j++)
            all = 3 * all + __float_as_uint((float)(j + g.trips * (each * (thread + j) + 528)));
    return all;
}

static __global__ void reference(const spill_geometry g, const uint32_t *out, unsigned long long *mismatches)
{
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= g.threads)
        return;
    if (expected(g, thread % g.block) != out[thread])
        atomicAdd(mismatches, 1);
}

typedef void (*spill_kernel)(uint32_t, float, float, const float *, uint32_t *, unsigned long long *);

#define UB_USES(cap)                                                                                                   \
    {                                                                                                                  \
        spill<cap, SPILL_CHANGED>, spill<cap, SPILL_READ>                                                              \
    }
/* In the order of the axis cap (geometry.c). */
static const spill_kernel kernels[SPILL_CAPS][SPILL_USES] = {
    UB_USES(32), UB_USES(40), UB_USES(48),  UB_USES(56),  UB_USES(64),  UB_USES(72),  UB_USES(80),
    UB_USES(88), UB_USES(96), UB_USES(100), UB_USES(103), UB_USES(104), UB_USES(112), UB_USES(128),
};

static int launch(const ub_launch *launch)
{
    spill_geometry g;
    const uint64_t most = UINT32_MAX;
    if (spill_resolve(launch->gpu, launch->point, &g) != NULL || launch->iterations > most - g.trips)
        return (int)cudaErrorInvalidValue;
    const spill_kernel kernel = kernels[g.variant][g.use];
    const cudaError_t code = cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, PREFER_L1);
    if (code != cudaSuccess)
        return (int)code;
    kernel<<<g.blocks, g.block, 0, (cudaStream_t)launch->stream>>>(
        (uint32_t)(g.trips - 1 + launch->iterations), 1, 1, (const float *)launch->buffers->pointers[1],
        (uint32_t *)launch->buffers->pointers[0], launch->results + UB_RESULT_CYCLES);
    return (int)cudaGetLastError();
}

static int check(const ub_launch *launch)
{
    spill_geometry g;
    if (spill_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    reference<<<(g.threads + REFERENCE_BLOCK - 1) / REFERENCE_BLOCK, REFERENCE_BLOCK, 0,
                (cudaStream_t)launch->stream>>>(g, (const uint32_t *)launch->buffers->pointers[0],
                                                launch->results + UB_RESULT_MISMATCHES);
    return (int)cudaGetLastError();
}

static void describe(const ub_gpu *gpu, const ub_point *point, ub_kernel *out)
{
    spill_geometry g;
    *out = ub_kernel();
    if (spill_resolve(gpu, point, &g) != NULL)
        return;
    out->function = (const void *)kernels[g.variant][g.use];
    out->name = "spill";
    out->grid[0] = g.blocks;
    out->block[0] = g.block;
    out->grid[1] = out->grid[2] = out->block[1] = out->block[2] = 1;
}

extern "C" {
extern const struct ub_code ub_code_spill;
const struct ub_code ub_code_spill = {launch, check, describe};
}
