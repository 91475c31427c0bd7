/* SPDX-License-Identifier: MIT
 *
 * The device side of `grid`: blocks of equal work, one kernel for multiply-adds
 * (few warps of it wait, many fill the lanes) and one for loads. */
#include <cuda_runtime.h>

#include "micro/grid/access.h"

enum { WARP = 32, REFERENCE_BLOCK = 256, REFERENCE_BLOCKS = 2048 };

/* Adds `value` of every lane to *sum. */
static __device__ void add_warp(unsigned long long *sum, unsigned long long value)
{
    for (uint32_t apart = WARP / 2; apart > 0; apart /= 2)
        value += __shfl_down_sync(0xFFFFFFFFu, value, apart);
    if (threadIdx.x % WARP == 0)
        atomicAdd(sum, value);
}

/* ---- the work of a block ------------------------------------------------------- */

/* Under the lens: FFMA, one chain a thread, each needs its last result for the next.
 * Factor and addend are arguments (1 and 1), so that the compiler can neither shorten the
 * chain nor replace it, and the end is exact: it has counted its own multiply-adds. */
static __global__ void __maxnreg__(GRID_REGISTERS)
    multiply_add(uint32_t rounds, float factor, float addend, uint32_t *sink, unsigned long long *sum)
{
    float value = (float)(threadIdx.x % WARP);
#pragma unroll 1
    for (uint32_t left = rounds; left != 0; left--)
#pragma unroll
        for (int i = 0; i < GRID_FMAS; i++)
            value = __fmaf_rn(value, factor, addend);
    const uint32_t counted = __float2uint_rn(value);
    if (counted == 0xFFFFFFFFu) /* never, which the compiler does not know */
        *sink = 1;
    if (sum != NULL)
        add_warp(sum, counted);
}

static __device__ uint32_t number_of(uint4 v)
{
    return v.x + 3 * v.y + 5 * v.z + 7 * v.w;
}

/* Under the lens: LDG.128, GRID_LOADS of them in flight, and then none until all have
 * come: the next addresses depend on what was loaded, by a comparison that is never true
 * (no input is all ones; micro.h, UB_FILL_RANDOM). A block takes the next chunk of the
 * ring, so that no launch finds in the L2 what one before it has read. */
static __global__ void __maxnreg__(GRID_REGISTERS)
    load(const uint4 *__restrict__ ring, uint32_t rounds, uint32_t chunks, uint32_t *next, uint32_t *sink,
         unsigned long long *sum)
{
    extern __shared__ uint32_t ticket[]; /* of the shared memory that decides how many blocks an SM holds */
    if (threadIdx.x == 0)
        *ticket = atomicAdd(next, 1);
    __syncthreads();
    uint64_t element = grid_first(rounds, blockDim.x, chunks, *ticket, threadIdx.x);
    unsigned long long total = 0;
#pragma unroll 1
    for (uint32_t left = rounds; left != 0; left--) {
        uint4 values[GRID_LOADS];
        uint32_t every = 0xFFFFFFFFu;
#pragma unroll
        for (int i = 0; i < GRID_LOADS; i++)
            values[i] = ring[element + i * blockDim.x];
#pragma unroll
        for (int i = 0; i < GRID_LOADS; i++)
            every &= values[i].x;
#pragma unroll
        for (int i = 0; i < GRID_LOADS; i++) /* always: a check runs the same machine code */
            total += (unsigned long long)number_of(values[i]) * (2 * (uint32_t)(element + i * blockDim.x) + 1);
        element += GRID_LOADS * blockDim.x + (every == 0xFFFFFFFFu);
    }
    if (total == ~0ull) /* as good as never */
        *sink = 1;
    if (sum != NULL)
        add_warp(sum, total);
}

/* ---- the reference -------------------------------------------------------------- */

/* What all chains together must have counted to: their multiply-adds, and what each began
 * with. */
static __global__ void count_up(uint64_t threads, uint32_t steps, unsigned long long *expected)
{
    unsigned long long sum = 0;
    for (uint64_t t = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; t < threads;
         t += (uint64_t)gridDim.x * blockDim.x)
        sum += t % WARP + steps;
    add_warp(expected, sum);
}

/* The chunks that the launch before took end where the counter stands: `elements` words
 * of 16 bytes backwards from there, round the ring. */
static __global__ void walk_back(const uint32_t *words, uint64_t elements, uint64_t chunk, uint64_t ring,
                                 const uint32_t *next, unsigned long long *expected)
{
    unsigned long long sum = 0;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < elements;
         i += (uint64_t)gridDim.x * blockDim.x) {
        const uint64_t element = (*next * chunk + ring * ((elements + ring - 1) / ring) - 1 - i) % ring;
        uint32_t number = 0;
        for (uint32_t w = 0; w < 4; w++)
            number += words[4 * element + w] * (2 * w + 1);
        sum += (unsigned long long)number * (uint32_t)(2 * element + 1);
    }
    add_warp(expected, sum);
}

/* ---- launch ---------------------------------------------------------------------- */

static const void *function_of(const grid_geometry &g)
{
    return g.work == GRID_DRAM ? (const void *)load : (const void *)multiply_add;
}

/* Allows the kernel all that the card allows, whatever this point needs: graphs of other
 * points hold the same kernel. */
static cudaError_t opt_in(const void *function)
{
    int device = 0, most = 0;
    cudaError_t code = cudaGetDevice(&device);
    if (code == cudaSuccess)
        code = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (code == cudaSuccess)
        code = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
    return code;
}

static int launch(const ub_launch *launch)
{
    grid_geometry g;
    if (grid_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    const cudaError_t code = opt_in(function_of(g));
    if (code != cudaSuccess)
        return (int)code;
    cudaStream_t stream = (cudaStream_t)launch->stream;
    void *const *buffers = launch->buffers->pointers;
    unsigned long long *sum = launch->checked ? launch->results + UB_RESULT_CHECKSUM : NULL;
    uint32_t *sink = (uint32_t *)buffers[0], *next = (uint32_t *)buffers[1];
    if (g.work == GRID_DRAM)
        load<<<g.blocks, g.threads, g.shared_bytes, stream>>>((const uint4 *)buffers[2], g.rounds, g.chunks, next, sink,
                                                              sum);
    else
        multiply_add<<<g.blocks, g.threads, g.shared_bytes, stream>>>(g.rounds, 1, 1, sink, sum);
    return (int)cudaGetLastError();
}

static int check(const ub_launch *launch)
{
    grid_geometry g;
    if (grid_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    cudaStream_t stream = (cudaStream_t)launch->stream;
    void *const *buffers = launch->buffers->pointers;
    unsigned long long *expected = launch->results + UB_RESULT_EXPECTED;
    const uint64_t chunk = grid_chunk_elements(&g);
    if (g.work == GRID_DRAM)
        walk_back<<<REFERENCE_BLOCKS, REFERENCE_BLOCK, 0, stream>>>((const uint32_t *)buffers[2], g.blocks * chunk,
                                                                    chunk, g.chunks * chunk,
                                                                    (const uint32_t *)buffers[1], expected);
    else
        count_up<<<REFERENCE_BLOCKS, REFERENCE_BLOCK, 0, stream>>>((uint64_t)g.blocks * g.threads, g.rounds * GRID_FMAS,
                                                                   expected);
    return (int)cudaGetLastError();
}

static void describe(const ub_gpu *gpu, const ub_point *point, ub_kernel *out)
{
    grid_geometry g;
    *out = ub_kernel();
    if (grid_resolve(gpu, point, &g) != NULL)
        return;
    out->function = function_of(g);
    out->name = g.work == GRID_DRAM ? "load" : "multiply_add";
    out->grid[0] = g.blocks;
    out->block[0] = g.threads;
    out->grid[1] = out->grid[2] = out->block[1] = out->block[2] = 1;
    out->dynamic_shared_bytes = g.shared_bytes;
}

extern "C" {
extern const struct ub_code ub_code_grid;
const struct ub_code ub_code_grid = {launch, check, describe};
}
