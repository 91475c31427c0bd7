/* SPDX-License-Identifier: MIT
 *
 * The device side of `divergence`. Under the lens: the conditional branch (BRA) in
 * front of each path of `branches`. A path is a loop whose trip count only the launch
 * knows, of FMAs each of which needs the one before, with numbers of its own: no
 * compiler can predicate it away, unroll it to the end, or merge two of them (an FMA
 * rounds once, so none may be reordered). Which path a thread takes is data: the
 * variants thread, warp, block, data, sorted and tail are the same machine code. */
#include <cuda_runtime.h>

#include "micro/divergence/access.h"

enum { REFERENCE_BLOCK = 256, MOST_THREADS = 1024 };

/* The same value, of which the compiler knows nothing: what it found out about the
 * value before (the path was 0, so it is not 1) is not true of this one. */
static __device__ uint32_t opaque(uint32_t value)
{
    asm volatile("" : "+r"(value));
    return value;
}
static __device__ float opaque(float value)
{
    asm volatile("" : "+f"(value));
    return value;
}

/* Path p is x = x * multiplier(p) + addend(p), again and again, with 1 - (p + 1) / 4096 and
 * (p + 1)(p + 3) / 4096: exact numbers, towards p + 3 so slowly that a step too many or
 * too few shows in the result. Products only: a sum would become one more FMA. */
static __host__ __device__ constexpr float multiplier(uint32_t path)
{
    return (float)(4095 - path) * (1.0f / 4096);
}
static __host__ __device__ constexpr float addend(uint32_t path)
{
    return (float)((path + 1) * (path + 3)) * (1.0f / 4096);
}

static __device__ float start_of(uint32_t thread)
{
    return (float)(thread % 64);
}

/* What only the launch knows. */
struct unknown {
    uint32_t trips;
    uint32_t apart; /* 2 */
    float one;      /* 1 */
};

/* The body of every path. Not unrolled further, so that each trip costs the same: 32 FMAs
 * and the loop's subtraction, comparison and branch, hidden behind the FMAs. The product
 * with an unknown 1 keeps the factor in a register; a constant would be loaded anew in
 * each trip, which costs 5 to 12 cycles (H200). */
static __device__ __forceinline__ float walk(float x, float factor, float plus, uint32_t trips, const unknown &u)
{
    const float by = __fmul_rn(factor, u.one);
#pragma unroll 1
    do {
#pragma unroll
        for (int i = 0; i < DIVERGENCE_STEPS; i++)
            x = __fmaf_rn(x, by, plus);
    } while (--trips != 0);
    return x;
}

/* if (path == 0) ...; if (path == 1) ...; up to 31: each `if` is one branch that a warp
 * executes whole, whether any of its lanes takes the path or not. */
template <int paths> static __device__ __forceinline__ float chain(float x, uint32_t path, const unknown &u)
{
    x = chain<paths - 1>(x, path, u);
    if (opaque(path) == paths - 1)
        x = walk(x, multiplier(paths - 1), addend(paths - 1), u.trips, u);
    return x;
}
template <> __device__ __forceinline__ float chain<0>(float x, uint32_t, const unknown &)
{
    return x;
}

#define CASE(path)                                                                                                     \
    case path:                                                                                                         \
        return walk(x, multiplier(path), addend(path), u.trips, u);
#define CASES(path) CASE(path) CASE(path + 1) CASE(path + 2) CASE(path + 3)

static __device__ __forceinline__ float choose(float x, uint32_t path, const unknown &u)
{
    switch (path) {
        CASES(0)
        CASES(4)
        CASES(8)
        CASES(12)
        CASES(16)
        CASES(20)
        CASES(24)
        CASES(28)
    }
    return x;
}

/* Cycles of the slowest warp of all. Each warp reads the clock when it has ended itself:
 * on sm_90 a clock read behind __syncthreads() does not wait for the other warps (measured:
 * it gave warp 0's time to four digits). Every lane reports, because the branch round a
 * single one would diverge and be counted. What is fixed (the barrier, the report) does
 * not show in the slope over the number of iterations. */
struct stopwatch {
    long long start;
    __device__ void begin()
    {
        __syncthreads();
        start = clock64();
    }
    __device__ void end(unsigned long long *cycles)
    {
        atomicMax(cycles, (unsigned long long)(clock64() - start));
    }
};

static __device__ uint32_t number()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

static __global__ void __launch_bounds__(MOST_THREADS)
    branches(const divergence_geometry g, const unknown u, float *out, unsigned long long *cycles)
{
    stopwatch watch;
    float x = start_of(number());
    watch.begin();
    x = opaque(x);
#pragma unroll 1
    for (uint32_t row = 0; row < g.rows; row++)
        x = chain<DIVERGENCE_PATHS>(x, divergence_path(&g, blockIdx.x, threadIdx.x, row), u);
    x = opaque(x);
    watch.end(cycles);
    out[number()] = x;
}

static __global__ void __launch_bounds__(MOST_THREADS)
    switches(const divergence_geometry g, const unknown u, float *out, unsigned long long *cycles)
{
    stopwatch watch;
    float x = start_of(number());
    watch.begin();
    x = choose(opaque(x), divergence_lane_path(&g, threadIdx.x), u);
    x = opaque(x);
    watch.end(cycles);
    out[number()] = x;
}

/* One code path, of which a lane of path p makes p + 1 times the trips. */
static __global__ void __launch_bounds__(MOST_THREADS)
    loops(const divergence_geometry g, const unknown u, float *out, unsigned long long *cycles)
{
    stopwatch watch;
    float x = start_of(number());
    watch.begin();
    const uint32_t times = divergence_lane_path(&g, threadIdx.x) + 1;
    x = opaque(walk(opaque(x), multiplier(0), addend(0), u.trips * times, u));
    watch.end(cycles);
    out[number()] = x;
}

/* The paths differ in two numbers only: looked up, there is nothing to branch for. */
static __global__ void __launch_bounds__(MOST_THREADS)
    tables(const divergence_geometry g, const unknown u, float *out, unsigned long long *cycles)
{
    __shared__ float2 numbers[DIVERGENCE_PATHS];
    stopwatch watch;
    if (threadIdx.x < DIVERGENCE_PATHS)
        numbers[threadIdx.x] = make_float2(multiplier(threadIdx.x), addend(threadIdx.x));
    float x = start_of(number());
    watch.begin();
    const float2 mine = numbers[divergence_lane_path(&g, threadIdx.x)];
    x = opaque(walk(opaque(x), mine.x, mine.y, u.trips, u));
    watch.end(cycles);
    out[number()] = x;
}

/* The textbook's kernel: a = 100 or b = 200, then a + b; by thread or by warp, in the
 * same machine code. `apart` is even and the launch alone knows it: it changes no
 * parity, but the test cannot be made once and kept (nor every second one, which a
 * compiler that sees the addition finds out). */
static __global__ void __launch_bounds__(MOST_THREADS)
    selects(const divergence_geometry g, const unknown u, float *out, unsigned long long *cycles)
{
    stopwatch watch;
    uint32_t id = g.variant == DIVERGENCE_SELECT_WARP ? threadIdx.x / DIVERGENCE_LANES : threadIdx.x;
    uint32_t trips = u.trips;
    float sum = 0;
    watch.begin();
    sum = opaque(sum);
#pragma unroll 1
    do {
#pragma unroll
        for (int i = 0; i < DIVERGENCE_STEPS; i++) {
            float a = 0, b = 0;
            asm volatile("add.u32 %0, %0, %1;" : "+r"(id) : "r"(u.apart));
            if (id % 2 == 0)
                a = 100;
            else
                b = 200;
            sum += a + b;
        }
    } while (--trips != 0);
    sum = opaque(sum);
    watch.end(cycles);
    out[number()] = sum;
}

/* Constant memory answers one address at a time. A lane goes round the ring from its
 * own place, so each look-up needs the one before and a warp's indices stay apart. */
static __constant__ uint32_t ring[DIVERGENCE_PATHS] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                                                       17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 0};

static __global__ void __launch_bounds__(MOST_THREADS)
    constants(const divergence_geometry g, const unknown u, float *out, unsigned long long *cycles)
{
    stopwatch watch;
    uint32_t trips = u.trips, place = divergence_lane_path(&g, threadIdx.x);
    watch.begin();
    place = opaque(place);
#pragma unroll 1
    do {
#pragma unroll
        for (int i = 0; i < DIVERGENCE_STEPS; i++)
            place = ring[place];
    } while (--trips != 0);
    place = opaque(place);
    watch.end(cycles);
    out[number()] = (float)place;
}

/* ---- the reference: no access.h, no paths ------------------------------------- */

/* As many steps as the path has, with its numbers as numbers. */
static __device__ float steps(float x, uint32_t path, uint32_t count)
{
    const float by = (4095.0f - path) * (1.0f / 4096), plus = (path * path + 4 * path + 3) * (1.0f / 4096);
    for (uint32_t i = 0; i < count; i++)
        x = fmaf(x, by, plus);
    return x;
}

static __device__ uint32_t random_path(uint32_t element, uint32_t ways)
{
    uint64_t x = (element + 1ull) * 2654435761u % (1ull << 32);
    x = (x ^ (x / 32768)) * 2246822507u % (1ull << 32);
    return (uint32_t)((x ^ (x / 8192)) / 16 % ways);
}

static __device__ float expected(const divergence_geometry &g, const uint32_t *of_path, uint32_t thread)
{
    const uint32_t inside = thread % g.block, lane = inside & 31, warp = inside >> 5;
    float x = (float)(thread & 63);
    switch (g.variant) {
    case DIVERGENCE_SELECT_THREAD:
        return (float)(g.body * (inside & 1 ? 200 : 100));
    case DIVERGENCE_SELECT_WARP:
        return (float)(g.body * (warp & 1 ? 200 : 100));
    case DIVERGENCE_WARP:
        return steps(x, warp % g.ways, g.body);
    case DIVERGENCE_BLOCK_ID:
        return steps(x, thread / g.block % g.ways, g.body);
    case DIVERGENCE_LOOP:
        return steps(x, 0, g.body * (lane % g.ways + 1));
    case DIVERGENCE_CONSTANT:
        return (float)((lane % g.ways + g.body) & 31);
    case DIVERGENCE_DATA:
    case DIVERGENCE_SORTED:
        for (uint32_t element = inside; element < g.rows * g.block; element += g.block) {
            uint32_t path = 0, upto = of_path[0];
            while (g.variant == DIVERGENCE_SORTED && element >= upto)
                upto += of_path[++path];
            x = steps(x, g.variant == DIVERGENCE_SORTED ? path : random_path(element, g.ways), g.body);
        }
        return x;
    case DIVERGENCE_TAIL:
        return steps(x, 0, g.body);
    default:
        return steps(x, lane % g.ways, g.body);
    }
}

static __global__ void reference(const divergence_geometry g, const float *out, unsigned long long *mismatches)
{
    __shared__ uint32_t of_path[DIVERGENCE_PATHS]; /* elements of each path in the data of a block */
    if (threadIdx.x < DIVERGENCE_PATHS)
        of_path[threadIdx.x] = 0;
    __syncthreads();
    for (uint32_t element = threadIdx.x; element < g.rows * g.block; element += blockDim.x)
        atomicAdd(&of_path[random_path(element, g.ways)], 1);
    __syncthreads();
    const uint32_t thread = number();
    if (thread < g.blocks * g.block && __float_as_uint(out[thread]) != __float_as_uint(expected(g, of_path, thread)))
        atomicAdd(mismatches, 1);
}

/* ---- launch ------------------------------------------------------------------- */

typedef void (*divergence_kernel)(const divergence_geometry, const unknown, float *, unsigned long long *);

static const divergence_kernel kernels[DIVERGENCE_VARIANTS] = {
    selects, selects, branches, branches, branches, loops, switches, tables, constants, branches, branches, branches,
};
static const char *const names[DIVERGENCE_VARIANTS] = {
    "selects",  "selects", "branches",  "branches", "branches", "loops",
    "switches", "tables",  "constants", "branches", "branches", "branches",
};

static int launch(const ub_launch *launch)
{
    divergence_geometry g;
    if (divergence_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    if (g.variant == DIVERGENCE_SORTED)
        divergence_sort(&g);
    const uint64_t trips = g.body / DIVERGENCE_STEPS * launch->iterations;
    if (trips * DIVERGENCE_PATHS > UINT32_MAX)
        return (int)cudaErrorInvalidValue;
    const unknown u = {(uint32_t)trips, 2, 1};
    kernels[g.variant]<<<g.blocks, g.block, 0, (cudaStream_t)launch->stream>>>(
        g, u, (float *)launch->buffers->pointers[0], launch->results + UB_RESULT_CYCLES);
    return (int)cudaGetLastError();
}

static int launch_reference(const ub_launch *launch)
{
    divergence_geometry g;
    if (divergence_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    const uint32_t blocks = (g.blocks * g.block + REFERENCE_BLOCK - 1) / REFERENCE_BLOCK;
    reference<<<blocks, REFERENCE_BLOCK, 0, (cudaStream_t)launch->stream>>>(
        g, (const float *)launch->buffers->pointers[0], launch->results + UB_RESULT_MISMATCHES);
    return (int)cudaGetLastError();
}

static void describe(const ub_gpu *gpu, const ub_point *point, ub_kernel *out)
{
    *out = ub_kernel();
    divergence_geometry g;
    if (divergence_resolve(gpu, point, &g) != NULL)
        return;
    out->function = (const void *)kernels[g.variant];
    out->name = names[g.variant];
    out->grid[0] = g.blocks;
    out->grid[1] = out->grid[2] = 1;
    out->block[0] = g.block;
    out->block[1] = out->block[2] = 1;
}

extern "C" {
extern const struct ub_code ub_code_divergence;
const struct ub_code ub_code_divergence = {launch, launch_reference, describe};
}
