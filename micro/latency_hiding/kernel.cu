/* SPDX-License-Identifier: MIT
 *
 * The device side of `latency_hiding`: two loops, of which the number of independent
 * operations in flight and their width are compile-time constants. */
#include <cuda_runtime.h>

#include "micro/latency_hiding/access.h"

enum { WARP = HIDING_LANES, REFERENCE_BLOCK = 256, REFERENCE_BLOCKS = 2048 };

/* Adds `value` of every lane to *sum, modulo 2^32: what is added up does then not depend
 * on which thread had it. */
static __device__ void add_warp(uint32_t *sum, uint32_t value)
{
    for (uint32_t apart = WARP / 2; apart > 0; apart /= 2)
        value += __shfl_down_sync(0xFFFFFFFFu, value, apart);
    if (threadIdx.x % WARP == 0)
        atomicAdd(sum, value);
}

/* ---- work=memory ---------------------------------------------------------------- */

/* What a load brings: the bits that all its words have, and their sum. */
static __device__ uint32_t common(uint32_t v)
{
    return v;
}
static __device__ uint32_t common(uint2 v)
{
    return v.x & v.y;
}
static __device__ uint32_t common(uint4 v)
{
    return v.x & v.y & v.z & v.w;
}
static __device__ uint32_t total(uint32_t v)
{
    return v;
}
static __device__ uint32_t total(uint2 v)
{
    return v.x + v.y;
}
static __device__ uint32_t total(uint4 v)
{
    return v.x + v.y + v.z + v.w;
}

/* Under the lens: LDG, `ilp` of them in flight, and then none until all have come: the
 * next address depends on what was loaded. It does so by a comparison that is never true
 * (no input is all ones; micro.h, UB_FILL_RANDOM), so that the walk is known, but not to
 * the compiler. Every warp makes as many steps as any other: they wait together for the
 * same memory, and end together. */
template <typename type, int ilp>
static __global__ void __maxnreg__(HIDING_REGISTERS(ilp * sizeof(type) / 4))
    memory(const type *__restrict__ source, uint32_t steps, uint32_t *sum)
{
    const uint32_t block_warps = blockDim.x / WARP;
    const type *at = source + hiding_first(ilp, steps, blockIdx.x, block_warps, threadIdx.x / WARP, threadIdx.x % WARP);
    const uint32_t step = hiding_step(ilp, block_warps);
    uint32_t all = 0;
#pragma unroll 1
    for (uint32_t left = steps; left != 0; left--) {
        type values[ilp];
        uint32_t every = 0xFFFFFFFFu;
#pragma unroll
        for (int c = 0; c < ilp; c++)
            values[c] = at[c * WARP];
#pragma unroll
        for (int c = 0; c < ilp; c++)
            every &= common(values[c]);
#pragma unroll
        for (int c = 0; c < ilp; c++) /* always: a check runs the same machine code */
            all += total(values[c]);
        at += step + (every == 0xFFFFFFFFu);
    }
    if (sum != NULL)
        add_warp(sum, all);
}

/* ---- work=arithmetic -------------------------------------------------------------- */

/* Asks for the next ticket; only lane 0 gets it. */
static __device__ uint32_t ask(uint32_t *next, uint32_t last)
{
    uint32_t ticket = 0;
    if (threadIdx.x % WARP == 0)
        ticket = atomicInc(next, last);
    return ticket;
}

static __device__ uint32_t share(uint32_t ticket)
{
    return __shfl_sync(0xFFFFFFFFu, ticket, 0);
}

/* Under the lens: FFMA. `ilp` chains, each of which needs its last result for the next; the
 * factor, which is the addend too, is an argument (1), so that the compiler can neither
 * shorten a chain nor replace it, and the end is exact: a chain has counted its own
 * multiply-adds. One register for both: with three that happen to lie in the same bank of
 * the register file a multiply-add takes two cycles (seen on an H200).
 *
 * Warps take their work in tickets: with a share for each of them, a scheduler that is full
 * serves its oldest warps first, which end before the others (the rule occupancy). A warp
 * asks for a ticket ahead, since the answer takes as long as a load. Each ends with one
 * ticket beyond the last, and the highest of these, `last`, puts the counter back to 0 for
 * the next launch: that is what atomicInc() does (and the compiler, which would make one
 * atomicAdd() for all lanes and wait for its answer, leaves it alone). A counter for each
 * block would not do: of two blocks of an SM the older is served first as well. */
template <int ilp>
static __global__ void __maxnreg__(HIDING_REGISTERS(1))
    arithmetic(uint32_t tickets, uint32_t last, float one, uint32_t *next, uint32_t *sum)
{
    float chains[ilp];
#pragma unroll
    for (int c = 0; c < ilp; c++)
        chains[c] = (float)(threadIdx.x % WARP + c); /* else equal chains would be one */
    uint32_t ticket = share(ask(next, last));
    while (ticket < tickets) {
        const uint32_t following = ask(next, last);
#pragma unroll 1
        for (uint32_t left = HIDING_LOOPS; left != 0; left--) {
#pragma unroll
            for (int i = 0; i < HIDING_FMAS / ilp; i++)
#pragma unroll
                for (int c = 0; c < ilp; c++)
                    chains[c] = __fmaf_rn(chains[c], one, one);
        }
        ticket = share(following);
    }
    uint32_t all = 0;
#pragma unroll
    for (int c = 0; c < ilp; c++)
        all += __float2uint_rn(chains[c]);
    if (sum != NULL)
        add_warp(sum, all);
}

/* ---- the reference -------------------------------------------------------------- */

/* Goes through the region from end to end: each word counts once. */
static __global__ void walk_through(const uint32_t *source, uint64_t words, uint32_t *expected)
{
    uint32_t sum = 0;
    for (uint64_t w = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; w < words; w += (uint64_t)gridDim.x * blockDim.x)
        sum += source[w];
    add_warp(expected, sum);
}

/* What the chains of all threads together must have counted to: what each began with, and
 * the multiply-adds of all tickets. */
static __global__ void count_up(uint32_t tickets, uint32_t chains, uint32_t ilp, uint32_t *expected)
{
    const uint32_t first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    uint32_t sum = 0;
    for (uint32_t ticket = first; ticket < tickets; ticket += step)
        sum += HIDING_LOOPS * HIDING_FMAS * WARP;
    for (uint32_t chain = first; chain < chains; chain += step)
        sum += chain / ilp % WARP + chain % ilp;
    add_warp(expected, sum);
}

/* ---- launch ---------------------------------------------------------------------- */

typedef void (*arithmetic_kernel)(uint32_t, uint32_t, float, uint32_t *, uint32_t *);

static const arithmetic_kernel arithmetics[HIDING_ILPS] = {arithmetic<1>, arithmetic<2>, arithmetic<4>, arithmetic<8>};

/* The kernels of one width, and how one of them is launched. */
template <typename type> struct loads {
    typedef void (*kernel)(const type *, uint32_t, uint32_t *);

    static kernel of(const hiding_geometry &g)
    {
        static const kernel kernels[HIDING_ILPS] = {memory<type, 1>, memory<type, 2>, memory<type, 4>, memory<type, 8>};
        return kernels[g.ilp_log2];
    }
    static void launch(const hiding_geometry &g, const void *source, uint32_t *sum, cudaStream_t stream)
    {
        of(g)<<<g.blocks, g.block, g.shared_bytes, stream>>>((const type *)source, g.steps, sum);
    }
};

static const void *function_of(const hiding_geometry &g)
{
    if (g.work == HIDING_ARITHMETIC)
        return (const void *)arithmetics[g.ilp_log2];
    return g.bytes == 4   ? (const void *)loads<uint32_t>::of(g)
           : g.bytes == 8 ? (const void *)loads<uint2>::of(g)
                          : (const void *)loads<uint4>::of(g);
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
    hiding_geometry g;
    if (hiding_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    const cudaError_t code = opt_in(function_of(g));
    if (code != cudaSuccess)
        return (int)code;
    cudaStream_t stream = (cudaStream_t)launch->stream;
    uint32_t *sum = launch->checked ? (uint32_t *)(launch->results + UB_RESULT_CHECKSUM) : NULL;
    void *source = launch->buffers->pointers[0]; /* or the counter of tickets */
    if (g.work == HIDING_ARITHMETIC)
        arithmetics[g.ilp_log2]<<<g.blocks, g.block, g.shared_bytes, stream>>>(g.tickets, g.tickets + g.all_warps - 1,
                                                                               1, (uint32_t *)source, sum);
    else if (g.bytes == 4)
        loads<uint32_t>::launch(g, source, sum, stream);
    else if (g.bytes == 8)
        loads<uint2>::launch(g, source, sum, stream);
    else
        loads<uint4>::launch(g, source, sum, stream);
    return (int)cudaGetLastError();
}

static int check(const ub_launch *launch)
{
    hiding_geometry g;
    if (hiding_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    cudaStream_t stream = (cudaStream_t)launch->stream;
    uint32_t *expected = (uint32_t *)(launch->results + UB_RESULT_EXPECTED);
    if (g.work == HIDING_ARITHMETIC)
        count_up<<<REFERENCE_BLOCKS, REFERENCE_BLOCK, 0, stream>>>(g.tickets, g.all_warps * WARP * g.ilp, g.ilp,
                                                                   expected);
    else
        walk_through<<<REFERENCE_BLOCKS, REFERENCE_BLOCK, 0, stream>>>((const uint32_t *)launch->buffers->pointers[0],
                                                                       hiding_bytes(&g) / 4, expected);
    return (int)cudaGetLastError();
}

static void describe(const ub_gpu *gpu, const ub_point *point, ub_kernel *out)
{
    hiding_geometry g;
    *out = ub_kernel();
    if (hiding_resolve(gpu, point, &g) != NULL)
        return;
    out->function = function_of(g);
    out->name = g.work == HIDING_ARITHMETIC ? "arithmetic" : "memory";
    out->grid[0] = g.blocks;
    out->block[0] = g.block;
    out->grid[1] = out->grid[2] = out->block[1] = out->block[2] = 1;
    out->dynamic_shared_bytes = g.shared_bytes;
}

extern "C" {
extern const struct ub_code ub_code_latency_hiding;
const struct ub_code ub_code_latency_hiding = {launch, check, describe};
}
