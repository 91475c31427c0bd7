/* SPDX-License-Identifier: MIT
 *
 * The device side of `occupancy`: two loops, of which the number of independent
 * operations in flight and the number of registers are compile-time constants. */
#include <cuda_runtime.h>

#include "micro/occupancy/access.h"

enum { WARP = 32, REFERENCE_BLOCK = 256, REFERENCE_BLOCKS = 2048 };

/* No loop counts down from this number (geometry.h); the compiler does not know. */
static const uint32_t never = 0xFFFFFFFFu;

/* ---- registers that are held ------------------------------------------------- */

/* Registers are taken by values that live from before the loop until after it. Each
 * time round, a branch that is never taken would change all of them, so that none can
 * be computed again when it is needed, and a store that is never reached needs them
 * all. Both conditions compare with an argument, hence cost an integer comparison and
 * a uniform branch a round. What a thread starts with depends on the thread: else the
 * values could live in the registers that a warp has in common. */
template <int count> struct held {
    uint32_t values[count];

    __device__ explicit held(uint32_t key)
    {
#pragma unroll
        for (int i = 0; i < count; i++)
            values[i] = (key + threadIdx.x) * (2 * i + 1);
    }
    __device__ void change()
    {
#pragma unroll
        for (int i = 0; i < count; i++)
            values[i] = values[i] * 0x9E3779B1u + values[(i + 1) % count];
    }
    __device__ uint32_t fold() const
    {
        uint32_t all = 0;
#pragma unroll
        for (int i = 0; i < count; i++)
            all = all * 3 + values[i];
        return all;
    }
};
template <> struct held<0> {
    __device__ explicit held(uint32_t)
    {
    }
    __device__ void change()
    {
    }
    __device__ uint32_t fold() const
    {
        return 0;
    }
};

/* How many a kernel must hold to have `registers`, less what its loop needs itself. */
static __host__ __device__ constexpr int held_of(int registers, int own)
{
    return registers > own ? registers - own : 0;
}

/* ---- tickets ------------------------------------------------------------------ */

/* Where a warp gets its tickets: `count` of them lie in each of `piles`, and are as many
 * apart as there are piles, so that what is taken at the same time is side by side. */
struct tickets {
    uint32_t piles, count, last;

    __device__ uint32_t pile() const
    {
        return blockIdx.x % piles;
    }
    __device__ uint32_t number(uint32_t ticket) const
    {
        return ticket * piles + pile();
    }
    /* Asks for the next ticket; only lane 0 gets it. To be asked for a ticket ahead,
     * since the answer takes as long as a load. Each warp ends with one ticket beyond the
     * last of its pile, and the highest of these, `last`, puts the counter back to 0 for
     * the next launch: that is what atomicInc() does (and nvcc, which would make one
     * atomicAdd() for all lanes and wait for its answer, leaves it alone). */
    __device__ uint32_t ask(uint32_t *counters) const
    {
        uint32_t ticket = 0;
        if (threadIdx.x % WARP == 0)
            ticket = atomicInc(&counters[pile() * (OCCUPANCY_COUNTER_BYTES / sizeof(uint32_t))], last);
        return ticket;
    }
};

static __device__ uint32_t share(uint32_t ticket)
{
    return __shfl_sync(0xFFFFFFFFu, ticket, 0);
}

/* Adds `value` of every lane to *sum. */
static __device__ void add_warp(unsigned long long *sum, unsigned long long value)
{
    for (uint32_t apart = WARP / 2; apart > 0; apart /= 2)
        value += __shfl_down_sync(0xFFFFFFFFu, value, apart);
    if (threadIdx.x % WARP == 0)
        atomicAdd(sum, value);
}

/* ---- the two kinds of work ----------------------------------------------------- */

/* Under the lens: FFMA. `ilp` chains, each of which needs its last result for the next;
 * the factor and the addend are arguments (1 and 1), so that the compiler can neither
 * shorten a chain nor replace it, and the end is exact: a chain has counted its own
 * multiply-adds. `closed` makes a second kernel, which never opts in to more than 48
 * KiB of shared memory. */
template <int registers, int ilp, bool closed>
static __global__ void __maxnreg__(registers < 255 ? registers : 255)
    compute(const tickets tickets, float factor, float addend, uint32_t stop, uint32_t key, uint32_t *counters,
            uint32_t *sink, unsigned long long *sum)
{
    held<held_of(registers, 13 + ilp)> others(key);
    float chains[ilp];
#pragma unroll
    for (int c = 0; c < ilp; c++)
        chains[c] = (float)(threadIdx.x % WARP + c); /* else equal chains would be one */
    uint32_t ticket = share(tickets.ask(counters));
    while (ticket < tickets.count) {
        const uint32_t following = tickets.ask(counters);
#pragma unroll 1
        for (uint32_t left = OCCUPANCY_ROUNDS; left != 0; left--) {
#pragma unroll
            for (int i = 0; i < OCCUPANCY_FMAS / ilp; i++)
#pragma unroll
                for (int c = 0; c < ilp; c++)
                    chains[c] = __fmaf_rn(chains[c], factor, addend);
            if (__builtin_expect(left == stop, 0)) {
                others.change();
                addend = -addend; /* so that it stays in a register: reloaded, it is late each round */
            }
        }
        ticket = share(following);
    }
    unsigned long long total = 0;
#pragma unroll
    for (int c = 0; c < ilp; c++)
        total += __float2uint_rn(chains[c]);
    if (stop == 0)
        *sink = others.fold() + (uint32_t)total;
    if (sum != NULL)
        add_warp(sum, total);
}

/* Under the lens: LDG, `ilp` of them in flight, and then none until all have come: the
 * next addresses depend on what was loaded. They do so by a comparison that is never
 * true (no input is all ones; micro.h, UB_FILL_RANDOM), so that the walk is known, but
 * not to the compiler. */
template <int registers, int ilp>
static __global__ void __maxnreg__(registers < 255 ? registers : 255)
    latency(const uint32_t *__restrict__ source, const tickets tickets, uint32_t stop, uint32_t key, uint32_t *counters,
            uint32_t *sink, unsigned long long *sum)
{
    held<held_of(registers, 21 + ilp + ilp / 4)> others(key);
    unsigned long long total = 0;
    uint32_t ticket = share(tickets.ask(counters));
    while (ticket < tickets.count) {
        const uint32_t following = tickets.ask(counters);
        const uint32_t number = tickets.number(ticket);
        uint64_t element = occupancy_first(ilp, number, threadIdx.x % WARP);
        const uint32_t step = occupancy_step(ilp, number, tickets.count * tickets.piles);
#pragma unroll 1
        for (uint32_t left = OCCUPANCY_LOADS / ilp; left != 0; left--) {
            uint32_t values[ilp], every = 0xFFFFFFFFu;
#pragma unroll
            for (int c = 0; c < ilp; c++)
                values[c] = source[element + c * WARP];
#pragma unroll
            for (int c = 0; c < ilp; c++)
                every &= values[c];
#pragma unroll
            for (int c = 0; c < ilp; c++) /* always: a check runs the same machine code */
                total += (uint64_t)values[c] * (uint32_t)(2 * (element + c * WARP) + 1);
            element += step + (every == 0xFFFFFFFFu);
            if (__builtin_expect(left == stop, 0))
                others.change();
        }
        ticket = share(following);
    }
    if (stop == 0)
        *sink = others.fold() + (uint32_t)total;
    if (sum != NULL)
        add_warp(sum, total);
}

/* ---- the reference -------------------------------------------------------------- */

/* What the chains of all threads together must have counted to: the multiply-adds of all
 * tickets, and what each chain began with. */
static __global__ void count_up(uint32_t tickets, uint32_t warps, uint32_t ilp, unsigned long long *expected)
{
    const uint32_t first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    unsigned long long sum = 0;
    for (uint32_t ticket = first; ticket < tickets; ticket += step)
        sum += OCCUPANCY_ROUNDS * OCCUPANCY_FMAS * WARP;
    for (uint32_t chain = first; chain < warps * WARP * ilp; chain += step)
        sum += chain / ilp % WARP + chain % ilp;
    add_warp(expected, sum);
}

/* Goes through the region from end to end: each element counts once. */
static __global__ void walk_through(const uint32_t *source, uint64_t elements, unsigned long long *expected)
{
    unsigned long long sum = 0;
    for (uint64_t e = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; e < elements;
         e += (uint64_t)gridDim.x * blockDim.x)
        sum += (uint64_t)source[e] * (uint32_t)(2 * e + 1);
    add_warp(expected, sum);
}

/* ---- launch ---------------------------------------------------------------------- */

typedef void (*compute_kernel)(tickets, float, float, uint32_t, uint32_t, uint32_t *, uint32_t *, unsigned long long *);
typedef void (*latency_kernel)(const uint32_t *, tickets, uint32_t, uint32_t, uint32_t *, uint32_t *,
                               unsigned long long *);

#define UB_COMPUTE(registers)                                                                                          \
    {                                                                                                                  \
        compute<registers, 1, false>, compute<registers, 2, false>, compute<registers, 4, false>,                      \
            compute<registers, 8, false>                                                                               \
    }
#define UB_LATENCY(registers)                                                                                          \
    {                                                                                                                  \
        latency<registers, 1>, latency<registers, 2>, latency<registers, 4>, latency<registers, 8>                     \
    }
#define UB_VARIANTS(kernel)                                                                                            \
    {                                                                                                                  \
        kernel(32), kernel(40), kernel(48), kernel(64), kernel(72), kernel(96), kernel(128), kernel(168), kernel(256)  \
    }

static const compute_kernel computes[OCCUPANCY_VARIANTS][OCCUPANCY_ILPS] = UB_VARIANTS(UB_COMPUTE);
static const latency_kernel latencies[OCCUPANCY_VARIANTS][OCCUPANCY_ILPS] = UB_VARIANTS(UB_LATENCY);

static compute_kernel compute_of(const occupancy_geometry &g)
{
    return g.opt_in ? computes[g.variant][g.ilp_log2] : compute<32, 1, true>;
}

static const void *function_of(const occupancy_geometry &g)
{
    if (g.work == OCCUPANCY_COMPUTE)
        return (const void *)compute_of(g);
    return (const void *)latencies[g.variant][g.ilp_log2];
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

static uint32_t key_of(uint64_t seed)
{
    return (uint32_t)(seed ^ (seed >> 32));
}

static int launch(const ub_launch *launch)
{
    occupancy_geometry g;
    if (occupancy_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    cudaError_t code = g.opt_in ? opt_in(function_of(g)) : cudaSuccess;
    if (code != cudaSuccess)
        return (int)code;
    cudaStream_t stream = (cudaStream_t)launch->stream;
    unsigned long long *sum = launch->checked ? launch->results + UB_RESULT_CHECKSUM : NULL;
    uint32_t *sink = (uint32_t *)launch->buffers->pointers[0], *counters = (uint32_t *)launch->buffers->pointers[1];
    const uint32_t key = key_of(launch->seed);
    const tickets tickets = {g.piles, g.tickets / g.piles, (g.tickets + g.warps) / g.piles - 1};
    if (g.work == OCCUPANCY_COMPUTE)
        compute_of(g)<<<g.blocks, g.block, g.shared_bytes, stream>>>(tickets, 1, 1, never, key, counters, sink, sum);
    else
        latencies[g.variant][g.ilp_log2]<<<g.blocks, g.block, g.shared_bytes, stream>>>(
            (const uint32_t *)launch->buffers->pointers[2], tickets, never, key, counters, sink, sum);
    return (int)cudaGetLastError();
}

static int check(const ub_launch *launch)
{
    occupancy_geometry g;
    if (occupancy_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    cudaStream_t stream = (cudaStream_t)launch->stream;
    unsigned long long *expected = launch->results + UB_RESULT_EXPECTED;
    if (g.work == OCCUPANCY_COMPUTE)
        count_up<<<REFERENCE_BLOCKS, REFERENCE_BLOCK, 0, stream>>>(g.tickets, g.warps, g.ilp, expected);
    else
        walk_through<<<REFERENCE_BLOCKS, REFERENCE_BLOCK, 0, stream>>>((const uint32_t *)launch->buffers->pointers[2],
                                                                       occupancy_elements(&g), expected);
    return (int)cudaGetLastError();
}

static void describe(const ub_gpu *gpu, const ub_point *point, ub_kernel *out)
{
    occupancy_geometry g;
    *out = ub_kernel();
    if (occupancy_resolve(gpu, point, &g) != NULL)
        return;
    out->function = function_of(g);
    out->name = g.work == OCCUPANCY_COMPUTE ? "compute" : "latency";
    out->grid[0] = g.blocks;
    out->block[0] = g.block;
    out->grid[1] = out->grid[2] = out->block[1] = out->block[2] = 1;
    out->dynamic_shared_bytes = g.shared_bytes;
}

extern "C" {
extern const struct ub_code ub_code_occupancy;
const struct ub_code ub_code_occupancy = {launch, check, describe};
}
