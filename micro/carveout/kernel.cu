/* SPDX-License-Identifier: MIT
 *
 * The device side of `carveout`: one block, at most a warp for each scheduler, loads of
 * whole lines, each of which must wait for the one before.
 *
 * Under the lens: LDG.E, as a plain load or `ld.global.ca` of one's own kernel is (asked
 * for in inline assembly, .ca becomes LDG.E.STRONG.SM), and LDG.E.STRONG.GPU for
 * `ld.global.cg`, which passes L1 by. The address has the value loaded before in it, cut
 * to nothing by `none`, an argument that is always 0 and that only the caller knows. The
 * next line is worked out while the load is under way. */
#include <cuda_runtime.h>

#include "micro/carveout/access.h"

template <int load> static __device__ __forceinline__ uint32_t load_word(const char *address)
{
    uint32_t value;
    if (load == CARVEOUT_CA)
        asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(address));
    else
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(address));
    return value;
}

/* Brings every line in once, then loads by the order: CARVEOUT_WARM times out of the
 * clock, and CARVEOUT_UNROLL times an iteration between two readings of it. `cycles` gets
 * the mean of the warps: their last would be a little too slow. The registers leave room for
 * as many blocks as the warps of an SM do, on which the carve-out depends that the driver
 * chooses. */
template <int order, int load>
static __global__ void __launch_bounds__(CARVEOUT_WARPS *CARVEOUT_LANES, 64 / CARVEOUT_WARPS)
    walk(const uint32_t *__restrict__ source, uint32_t lines, uint32_t warm, uint32_t iterations, uint32_t none,
         unsigned long long *cycles, unsigned long long *sum)
{
    const uint32_t warp = threadIdx.x / CARVEOUT_LANES, warps = blockDim.x / CARVEOUT_LANES;
    const char *base = (const char *)(source + threadIdx.x % CARVEOUT_LANES);
    unsigned long long total = 0;
    uint32_t value = 0;
#pragma unroll 4
    for (uint32_t line = warp; line < lines; line += warps) {
        const uint32_t filled = load_word<load>(base + line * CARVEOUT_LINE_BYTES);
        total += filled;
        value |= filled;
    }
    uint32_t place = carveout_start(order, warp);
    uint32_t offset = carveout_line(order, place, lines) * CARVEOUT_LINE_BYTES;
    __syncthreads();
#pragma unroll 1
    for (uint32_t k = 0; k < warm; k++) {
        value = load_word<load>(base + (offset | (value & none)));
        place = carveout_next(order, place, lines);
        offset = carveout_line(order, place, lines) * CARVEOUT_LINE_BYTES;
        total += value;
    }
    __syncthreads();
    const long long start = clock64();
#pragma unroll 1
    do {
#pragma unroll
        for (uint32_t k = 0; k < CARVEOUT_UNROLL; k++) {
            value = load_word<load>(base + (offset | (value & none)));
            place = carveout_next(order, place, lines);
            offset = carveout_line(order, place, lines) * CARVEOUT_LINE_BYTES;
            total += value;
        }
    } while (--iterations > 0);
    const long long stop = clock64();
    if (threadIdx.x % CARVEOUT_LANES == 0)
        atomicAdd(cycles, (unsigned long long)(stop - start) / warps);
    if (sum != NULL)
        atomicAdd(sum, total);
}

/* ---- launch ------------------------------------------------------------------ */

typedef void (*walk_kernel)(const uint32_t *, uint32_t, uint32_t, uint32_t, uint32_t, unsigned long long *,
                            unsigned long long *);

static const walk_kernel kernels[CARVEOUT_ORDERS][CARVEOUT_LOADS] = {
    {walk<CARVEOUT_RANDOM, CARVEOUT_CA>, walk<CARVEOUT_RANDOM, CARVEOUT_CG>},
    {walk<CARVEOUT_CYCLIC, CARVEOUT_CA>, walk<CARVEOUT_CYCLIC, CARVEOUT_CG>},
};

/* Both attributes belong to the function, not to the launch, and points share functions:
 * they are set before every launch, which reads them when it is put into the stream. */
static cudaError_t set_attributes(const carveout_geometry &g, const void *function)
{
    const int preferred = g.ask == CARVEOUT_ASK_FUNCTION ? (int)g.percent : (int)cudaSharedmemCarveoutDefault;
    cudaError_t code = cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout, preferred);
    if (code == cudaSuccess)
        code = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)g.shared_bytes);
    return code;
}

static int launch(const ub_launch *launch)
{
    carveout_geometry g;
    if (carveout_resolve(launch->gpu, launch->point, &g) != NULL || launch->iterations == 0 ||
        launch->iterations > UINT32_MAX)
        return (int)cudaErrorInvalidValue;
    const walk_kernel kernel = kernels[g.order][g.load];
    const cudaError_t code = set_attributes(g, (const void *)kernel);
    if (code != cudaSuccess)
        return (int)code;
    cudaLaunchAttribute preference = {};
    preference.id = cudaLaunchAttributePreferredSharedMemoryCarveout;
    preference.val.sharedMemCarveout = g.percent;
    cudaLaunchConfig_t config = {};
    config.gridDim = 1;
    config.blockDim = g.threads;
    config.dynamicSmemBytes = g.shared_bytes;
    config.stream = (cudaStream_t)launch->stream;
    config.attrs = &preference;
    config.numAttrs = g.ask == CARVEOUT_ASK_LAUNCH ? 1 : 0;
    return (int)cudaLaunchKernelEx(&config, kernel, (const uint32_t *)launch->buffers->pointers[0], g.lines,
                                   (uint32_t)CARVEOUT_WARM, (uint32_t)launch->iterations, 0u,
                                   launch->results + UB_RESULT_CYCLES,
                                   launch->checked ? launch->results + UB_RESULT_CHECKSUM : NULL);
}

static void describe(const ub_gpu *gpu, const ub_point *point, ub_kernel *out)
{
    *out = ub_kernel();
    carveout_geometry g;
    if (carveout_resolve(gpu, point, &g) != NULL)
        return;
    out->function = (const void *)kernels[g.order][g.load];
    out->name = g.load == CARVEOUT_CA ? "walk through L1" : "walk past L1";
    out->grid[0] = out->grid[1] = out->grid[2] = 1;
    out->block[0] = g.threads;
    out->block[1] = out->block[2] = 1;
    out->dynamic_shared_bytes = g.shared_bytes;
}

extern "C" {
extern const struct ub_code ub_code_carveout;
const struct ub_code ub_code_carveout = {launch, NULL, describe};
}
