/* SPDX-License-Identifier: MIT
 *
 * The device side of `latency`: a chain of operations each of which needs the result of
 * the one before, and nothing else between two readings of the SM clock.
 *
 * A block for each SM is launched; all but the one that finds itself on the wanted SM
 * leave at once. Its 1024 threads lay the chain and walk it once, in its order, so that
 * every cache holds what it would hold after a walk; then one warp goes on alone. */
#include <cuda_runtime.h>

#include "micro/latency/access.h"

struct node {
    uint64_t next;  /* address (constant memory: offset) of the next node */
    uint64_t label; /* number of this one in the walk */
};

struct outcome {
    uint64_t *out;                /* LATENCY_OUT_WORDS */
    unsigned long long *cycles;   /* of all iterations */
    unsigned long long *arrivals; /* blocks on the wanted SM, where the launch is checked */
};

static __device__ __forceinline__ uint32_t own_sm()
{
    uint32_t sm;
    asm("mov.u32 %0, %%smid;" : "=r"(sm));
    return sm;
}

/* 0, of the one thread that goes on, which no compiler knows: an offset that might be
 * another for each lane is looked up with LDC, not with ULDC, in constant memory. */
static __device__ __forceinline__ uint32_t own_lane()
{
    uint32_t lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

/* Whether this block is the one. No shared memory is used for it: that would come off L1. */
static __device__ __forceinline__ bool is_chosen(const latency_geometry &g, const outcome &o)
{
    const bool chosen = own_sm() == g.sm;
    if (chosen && threadIdx.x == 0 && o.arrivals != NULL)
        atomicAdd(o.arrivals, 1);
    return chosen;
}

static __device__ __forceinline__ void finish(const outcome &o, long long cycles, uint64_t end)
{
    *o.cycles = (unsigned long long)cycles;
    o.out[LATENCY_OUT_END] = end;
    o.out[LATENCY_OUT_SM] = own_sm();
}

/* ---- global memory -------------------------------------------------------------- */

/* From an address to the address that stands there. Past L1: .cg; with L1: a plain load
 * (with .ca ptxas makes it a strong one); by an atomic that adds nothing. */
enum how { THROUGH_L1, PAST_L1, ATOMIC };

template <how access> static __device__ __forceinline__ void follow(uint64_t &address, uint64_t nothing)
{
    if (access == THROUGH_L1)
        asm volatile("ld.global.u64 %0, [%0];" : "+l"(address) : : "memory");
    if (access == PAST_L1)
        asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(address) : : "memory");
    if (access == ATOMIC)
        asm volatile("atom.global.add.u64 %0, [%0], %1;" : "+l"(address) : "l"(nothing) : "memory");
}

/* All threads, in the order of the walk. `base`: the address, or offset, of unit 0. */
static __device__ __forceinline__ void lay(char *chain, uint64_t base, const latency_geometry &g)
{
#pragma unroll 1
    for (uint64_t i = threadIdx.x; i < g.cycle; i += LATENCY_BLOCK)
        *(ulonglong2 *)(chain + latency_unit(&g, i) * g.unit_bytes) =
            make_ulonglong2(base + latency_next(&g, i) * g.unit_bytes, i);
}

/* Under the lens: LDG.64 or ATOMG.64, whose result is the address of the next. `nothing`
 * is 0. */
template <how access>
static __global__ void __launch_bounds__(LATENCY_BLOCK)
    chase_global(char *chain, const latency_geometry g, uint64_t nothing, uint32_t iterations, const outcome o)
{
    const how first_walk = access == THROUGH_L1 ? THROUGH_L1 : PAST_L1;
    if (!is_chosen(g, o))
        return;
    const uint64_t base = (uint64_t)chain;
    lay(chain, base, g);
    __syncthreads();
    uint64_t every = 0;
#pragma unroll 4
    for (uint64_t i = threadIdx.x; i < g.cycle; i += LATENCY_BLOCK) {
        uint64_t address = base + latency_unit(&g, i) * g.unit_bytes;
        follow<first_walk>(address, nothing);
        every |= address;
    }
    /* The barrier needs what was loaded: nothing of the first walk is still on its way. */
    if (__syncthreads_or(every == 1) || threadIdx.x != 0)
        return;
    /* The first hop is not timed: an address that comes from memory lies in a pair of
     * registers, where it stays from round to round of the loop; a sum would be moved. */
    uint64_t address = base + latency_unit(&g, 0) * g.unit_bytes;
    follow<first_walk>(address, nothing);
    const long long start = clock64();
#pragma unroll 1
    do {
#pragma unroll
        for (int hop = 0; hop < LATENCY_HOPS; hop++)
            follow<access>(address, nothing);
    } while (--iterations > 0);
    const long long stop = clock64();
    finish(o, stop - start, (address - base) / LATENCY_ROW_BYTES);
}

/* ---- constant memory ------------------------------------------------------------- */

static __constant__ uint32_t constants[LATENCY_CONSTANT_BYTES / 4];

static __global__ void __launch_bounds__(LATENCY_BLOCK) lay_constants(char *chain, const latency_geometry g)
{
    lay(chain, 0, g);
}

/* Under the lens: LDC, whose result is the offset of the next. */
static __global__ void __launch_bounds__(LATENCY_BLOCK)
    chase_constant(const latency_geometry g, uint32_t iterations, const outcome o)
{
    if (!is_chosen(g, o) || threadIdx.x != 0)
        return;
    const char *base = (const char *)constants;
    uint32_t offset = (uint32_t)latency_unit(&g, 0) * g.unit_bytes + own_lane();
#pragma unroll 1
    for (uint64_t i = 0; i < g.cycle; i++)
        offset = *(const uint32_t *)(base + offset);
    const long long start = clock64();
#pragma unroll 1
    do {
#pragma unroll
        for (int hop = 0; hop < LATENCY_HOPS; hop++)
            offset = *(const uint32_t *)(base + offset);
    } while (--iterations > 0);
    const long long stop = clock64();
    finish(o, stop - start, offset / LATENCY_CONSTANT_UNIT_BYTES);
}

/* ---- local memory ---------------------------------------------------------------- */

/* Under the lens: LDL, whose result is the address of the next. */
static __global__ void __launch_bounds__(LATENCY_BLOCK)
    chase_local(ulonglong2 *laid, const latency_geometry g, uint32_t iterations, const outcome o)
{
    if (!is_chosen(g, o) || threadIdx.x != 0)
        return;
    uint32_t words[LATENCY_LOCAL_WORDS];
    const uint32_t base = (uint32_t)__cvta_generic_to_local(words);
#pragma unroll 1
    for (uint32_t i = 0; i < (uint32_t)g.cycle; i++) {
        const uint32_t next = (uint32_t)latency_next(&g, i), here = (uint32_t)latency_unit(&g, i);
        asm volatile("st.local.u32 [%0], %1;" : : "r"(base + 4 * here), "r"(base + 4 * next) : "memory");
        if (o.arrivals != NULL)
            laid[here] = make_ulonglong2(next, i);
    }
    uint32_t address = base + 4 * (uint32_t)latency_unit(&g, 0);
#pragma unroll 1
    for (uint64_t i = 0; i < g.cycle; i++)
        asm volatile("ld.local.u32 %0, [%0];" : "+r"(address) : : "memory");
    const long long start = clock64();
#pragma unroll 1
    do {
#pragma unroll
        for (int hop = 0; hop < LATENCY_HOPS; hop++)
            asm volatile("ld.local.u32 %0, [%0];" : "+r"(address) : : "memory");
    } while (--iterations > 0);
    const long long stop = clock64();
    finish(o, stop - start, (address - base) / 4);
}

/* ---- shared memory ---------------------------------------------------------------- */

/* Loads `words` words, of which the first is the address of the next node and the others
 * go nowhere: volatile, or ptxas would not load them. */
template <int words> static __device__ __forceinline__ void follow_shared(uint32_t &address)
{
    if (words == 1)
        asm volatile("ld.shared.u32 %0, [%0];" : "+r"(address) : : "memory");
    if (words == 2)
        asm volatile("{ .reg .u32 a; ld.volatile.shared.v2.u32 {%0, a}, [%0]; }" : "+r"(address) : : "memory");
    if (words == 4)
        asm volatile("{ .reg .u32 a, b, c; ld.volatile.shared.v4.u32 {%0, a, b, c}, [%0]; }"
                     : "+r"(address)
                     :
                     : "memory");
}

/* Under the lens: LDS, LDS.64, LDS.128 of a whole warp. */
template <int words>
static __global__ void __launch_bounds__(LATENCY_BLOCK)
    chase_shared(ulonglong2 *laid, const latency_geometry g, uint32_t iterations, const outcome o)
{
    extern __shared__ __align__(128) char memory[];
    if (!is_chosen(g, o))
        return;
    const uint32_t base = (uint32_t)__cvta_generic_to_shared(memory);
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < (uint32_t)g.cycle; i += LATENCY_BLOCK) {
        const uint32_t next = (uint32_t)latency_next(&g, i), here = (uint32_t)latency_unit(&g, i);
        for (uint32_t way = 0; way < g.ways; way++)
            *(uint4 *)(memory + here * g.unit_bytes + latency_row(&g, way)) =
                make_uint4(base + next * g.unit_bytes + latency_row(&g, way), 0, 0, 0);
        if (o.arrivals != NULL)
            laid[here] = make_ulonglong2(next, i);
    }
    __syncthreads();
    if (threadIdx.x >= LATENCY_LANES)
        return;
    uint32_t address = base + (uint32_t)latency_unit(&g, 0) * g.unit_bytes + latency_row(&g, threadIdx.x);
    const long long start = clock64();
#pragma unroll 1
    do {
#pragma unroll
        for (int hop = 0; hop < LATENCY_HOPS; hop++)
            follow_shared<words>(address);
    } while (--iterations > 0);
    const long long stop = clock64();
    if (threadIdx.x == 0)
        finish(o, stop - start, (address - base) / g.unit_bytes);
}

/* ---- operations -------------------------------------------------------------------- */

/* Ones and a zero of which only the caller knows what they are, so that the compiler
 * cannot work out the chain. */
struct operands {
    float one_float;
    double one_double;
    uint32_t one, nothing;
};

template <int op> struct step;
template <> struct step<LATENCY_FMA> {
    typedef float type;
    static __device__ __forceinline__ void on(float &x, const operands &v)
    {
        x = __fmaf_rn(x, v.one_float, v.one_float);
    }
};
template <> struct step<LATENCY_ADD> {
    typedef float type;
    static __device__ __forceinline__ void on(float &x, const operands &v)
    {
        x = __fadd_rn(x, v.one_float);
    }
};
template <> struct step<LATENCY_MAD> {
    typedef uint32_t type;
    static __device__ __forceinline__ void on(uint32_t &x, const operands &v)
    {
        x = x * v.one + v.one;
    }
};
template <> struct step<LATENCY_FP64> {
    typedef double type;
    static __device__ __forceinline__ void on(double &x, const operands &v)
    {
        x = __fma_rn(x, v.one_double, v.one_double);
    }
};

/* `count` operations, then a shuffle that gives each lane its own value back. */
template <int op, int count>
static __device__ __forceinline__ long long loop(typename step<op>::type &x, const operands &v, uint32_t iterations)
{
    const uint32_t lane = threadIdx.x + v.nothing;
    const long long start = clock64();
#pragma unroll 1
    do {
#pragma unroll
        for (int i = 0; i < count; i++)
            step<op>::on(x, v);
        x = __shfl_sync(0xFFFFFFFFu, x, lane);
    } while (--iterations > 0);
    return clock64() - start;
}

/* Under the lens: FFMA, FADD, IMAD, DFMA. At the end of a loop stands a jump, which takes
 * longer than one of these, and how much longer depends on where the code lies: it is
 * hidden behind a shuffle. Then the time of a loop with half as many operations, which
 * has everything else as well, is taken away. */
template <int op>
static __global__ void __launch_bounds__(LATENCY_BLOCK)
    arithmetic(const latency_geometry g, const operands v, uint32_t iterations, const outcome o)
{
    if (!is_chosen(g, o) || threadIdx.x >= LATENCY_LANES)
        return;
    typename step<op>::type x = threadIdx.x;
    const long long two = loop<op, 2 * LATENCY_STEPS>(x, v, iterations);
    const long long one = loop<op, LATENCY_STEPS>(x, v, iterations);
    if (threadIdx.x == 0)
        finish(o, two - one, (uint64_t)x);
}

/* Under the lens: SHFL. Each lane takes the value of the next. */
static __global__ void __launch_bounds__(LATENCY_BLOCK)
    shuffle(const latency_geometry g, const operands v, uint32_t iterations, const outcome o)
{
    if (!is_chosen(g, o) || threadIdx.x >= LATENCY_LANES)
        return;
    uint32_t x = threadIdx.x;
    const uint32_t next = threadIdx.x + v.one;
    const long long start = clock64();
#pragma unroll 1
    do {
#pragma unroll
        for (int i = 0; i < LATENCY_HOPS; i++)
            x = __shfl_sync(0xFFFFFFFFu, x, next);
    } while (--iterations > 0);
    const long long stop = clock64();
    if (threadIdx.x == 0)
        finish(o, stop - start, x);
}

/* Under the lens: ATOMS of one thread, at a cell that holds its own address, to which
 * nothing is added. */
static __global__ void __launch_bounds__(LATENCY_BLOCK)
    shared_atomic(const latency_geometry g, const operands v, uint32_t iterations, const outcome o)
{
    __shared__ uint32_t cell;
    if (!is_chosen(g, o) || threadIdx.x != 0)
        return;
    *(volatile uint32_t *)&cell = (uint32_t)__cvta_generic_to_shared(&cell);
    uint32_t address = *(volatile uint32_t *)&cell;
    const long long start = clock64();
#pragma unroll 1
    do {
#pragma unroll
        for (int i = 0; i < LATENCY_HOPS; i++)
            asm volatile("atom.shared.add.u32 %0, [%0], %1;" : "+r"(address) : "r"(v.nothing) : "memory");
    } while (--iterations > 0);
    const long long stop = clock64();
    finish(o, stop - start, address != *(volatile uint32_t *)&cell);
}

/* ---- the reference ------------------------------------------------------------------ */

/* What is wrong with a chain in a buffer: each node must be followed by that of the next
 * number, there must be `cycle` of them, one block must have come, and the walk must have
 * ended where it should. Added to the number of arrivals: 0 if all is well. */
static __global__ void check_chain(const char *chain, uint64_t base, const latency_geometry g, const outcome o)
{
    const uint64_t first = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    long long wrong = 0;
    for (uint64_t unit = first; unit < g.units; unit += (uint64_t)gridDim.x * blockDim.x) {
        const node *here = (const node *)(chain + unit * g.unit_bytes);
        if (here->label == UINT64_MAX) /* poison: the walk does not come here */
            continue;
        const uint64_t offset = here->next - base;
        const bool inside = here->label < g.cycle && offset % g.unit_bytes == 0 && offset / g.unit_bytes < g.units;
        wrong += 1; /* less the cycle below */
        wrong += !inside || ((const node *)(chain + offset))->label != (here->label + 1) % g.cycle ? 2 * g.units : 0;
    }
    if (first == 0) {
        const uint64_t end = o.out[LATENCY_OUT_END];
        wrong -= (long long)g.cycle + 1; /* and one arrival */
        wrong += end >= g.units || ((const node *)(chain + end * g.unit_bytes))->label != latency_end(&g, 1);
    }
    if (wrong != 0)
        atomicAdd(o.arrivals, (unsigned long long)wrong);
}

/* Elsewhere the host checks all of the answer: one block must have come. */
static __global__ void check_arrival(const outcome o)
{
    *o.arrivals -= 1;
}

/* ---- launch ------------------------------------------------------------------------- */

typedef void (*operation_kernel)(latency_geometry, operands, uint32_t, outcome);
typedef void (*global_kernel)(char *, latency_geometry, uint64_t, uint32_t, outcome);
typedef void (*laid_kernel)(ulonglong2 *, latency_geometry, uint32_t, outcome);

static const operation_kernel operations[LATENCY_OPS] = {
    NULL, arithmetic<LATENCY_FMA>, arithmetic<LATENCY_ADD>, arithmetic<LATENCY_MAD>, arithmetic<LATENCY_FP64>, shuffle,
    NULL, shared_atomic,
};
static const char *const operation_names[LATENCY_OPS] = {
    "", "fma", "add", "mad", "fp64", "shuffle", "global atomic", "shared atomic",
};
static const char *const level_names[LATENCY_LEVELS] = {
    "global load", "global load past L1", "global load past L1", "shared load", "constant load", "local load",
};

static global_kernel global_of(const latency_geometry &g)
{
    if (g.op == LATENCY_ATOMIC)
        return chase_global<ATOMIC>;
    return g.level == LATENCY_L1 ? chase_global<THROUGH_L1> : chase_global<PAST_L1>;
}

static laid_kernel laid_of(const latency_geometry &g)
{
    if (g.level == LATENCY_LOCAL)
        return chase_local;
    return g.bytes == 4 ? chase_shared<1> : g.bytes == 8 ? chase_shared<2> : chase_shared<4>;
}

static const void *function_of(const latency_geometry &g)
{
    if (!latency_has_chain(&g))
        return (const void *)operations[g.op];
    if (g.level == LATENCY_CONSTANT)
        return (const void *)chase_constant;
    return g.level <= LATENCY_DRAM ? (const void *)global_of(g) : (const void *)laid_of(g);
}

static uint32_t shared_bytes(const latency_geometry &g)
{
    return latency_has_chain(&g) && g.level == LATENCY_SHARED ? (uint32_t)g.footprint_bytes : 0;
}

/* All of the SRAM to L1, or as much shared memory as the chain needs. */
static cudaError_t prepare(const latency_geometry &g)
{
    if (shared_bytes(g) > 0)
        return cudaFuncSetAttribute(function_of(g), cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes(g));
    return cudaFuncSetAttribute(function_of(g), cudaFuncAttributePreferredSharedMemoryCarveout, 0);
}

static outcome outcome_of(const ub_launch *launch, bool checked)
{
    outcome o;
    o.out = (uint64_t *)launch->buffers->pointers[0];
    o.cycles = launch->results + UB_RESULT_CYCLES;
    o.arrivals = checked ? launch->results + UB_RESULT_MISMATCHES : NULL;
    return o;
}

static cudaError_t launch_constant(const ub_launch *launch, const latency_geometry &g)
{
    cudaStream_t stream = (cudaStream_t)launch->stream;
    char *chain = (char *)launch->buffers->pointers[1];
    lay_constants<<<1, LATENCY_BLOCK, 0, stream>>>(chain, g);
    cudaError_t code =
        cudaMemcpyToSymbolAsync(constants, chain, g.footprint_bytes, 0, cudaMemcpyDeviceToDevice, stream);
    if (code == cudaSuccess)
        chase_constant<<<launch->gpu->sms, LATENCY_BLOCK, 0, stream>>>(g, (uint32_t)launch->iterations,
                                                                       outcome_of(launch, launch->checked));
    return code;
}

static int launch(const ub_launch *launch)
{
    latency_geometry g;
    if (latency_resolve(launch->gpu, launch->point, &g) != NULL || launch->iterations == 0 ||
        launch->iterations > UINT32_MAX)
        return (int)cudaErrorInvalidValue;
    cudaError_t code = prepare(g);
    if (code != cudaSuccess)
        return (int)code;
    cudaStream_t stream = (cudaStream_t)launch->stream;
    const uint32_t iterations = (uint32_t)launch->iterations;
    const int blocks = launch->gpu->sms;
    const outcome o = outcome_of(launch, launch->checked);
    void *chain = launch->buffers->pointers[1];
    if (!latency_has_chain(&g)) {
        const operands v = {1, 1, 1, 0};
        operations[g.op]<<<blocks, LATENCY_BLOCK, 0, stream>>>(g, v, iterations, o);
    } else if (g.level == LATENCY_CONSTANT) {
        code = launch_constant(launch, g);
    } else if (g.level <= LATENCY_DRAM) {
        global_of(g)<<<blocks, LATENCY_BLOCK, 0, stream>>>((char *)chain, g, 0, iterations, o);
    } else {
        laid_of(g)<<<blocks, LATENCY_BLOCK, shared_bytes(g), stream>>>((ulonglong2 *)chain, g, iterations, o);
    }
    return (int)(code == cudaSuccess ? cudaGetLastError() : code);
}

static int check(const ub_launch *launch)
{
    latency_geometry g;
    if (latency_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    cudaStream_t stream = (cudaStream_t)launch->stream;
    const outcome o = outcome_of(launch, true);
    if (latency_in_buffer(&g)) {
        const char *chain = (const char *)launch->buffers->pointers[1];
        check_chain<<<16 * launch->gpu->sms, 256, 0, stream>>>(chain, g.level == LATENCY_CONSTANT ? 0 : (uint64_t)chain,
                                                               g, o);
    } else {
        check_arrival<<<1, 1, 0, stream>>>(o);
    }
    return (int)cudaGetLastError();
}

static void describe(const ub_gpu *gpu, const ub_point *point, ub_kernel *out)
{
    *out = ub_kernel();
    latency_geometry g;
    if (latency_resolve(gpu, point, &g) != NULL)
        return;
    out->function = function_of(g);
    out->name = g.op == LATENCY_LOAD ? level_names[g.level] : operation_names[g.op];
    out->grid[0] = (uint32_t)gpu->sms;
    out->block[0] = LATENCY_BLOCK;
    out->grid[1] = out->grid[2] = out->block[1] = out->block[2] = 1;
    out->dynamic_shared_bytes = shared_bytes(g);
}

extern "C" {
extern const struct ub_code ub_code_latency;
const struct ub_code ub_code_latency = {launch, check, describe};
}
