/* SPDX-License-Identifier: MIT
 *
 * The device side of `roofline`: elements are loaded, each goes through a number of
 * multiply-adds, and the next ones are on their way meanwhile. */
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "micro/roofline/access.h"

enum { WARP = 32, REFERENCE_BLOCK = 256, REFERENCE_BLOCKS = 4096, RESIDENT = 8 };

/* What the registers of 16 loaded bytes are, and what becomes of them. `bits` gives, of
 * every NaN, the same: which of them a multiply-add returns is nobody's promise. */
struct fp32 {
    typedef float type;
    enum { PER_CHUNK = 4 };
    static __device__ type get(const uint4 &chunk, int i)
    {
        return __uint_as_float((&chunk.x)[i]);
    }
    static __device__ type fma(type x, type one)
    {
        return __fmaf_rn(x, one, one);
    }
    static __device__ uint32_t all_ones(type x)
    {
        return __float_as_uint(x);
    }
    static __device__ unsigned long long bits(type x)
    {
        return isnan(x) ? 1 : __float_as_uint(x);
    }
};

struct fp64 {
    typedef double type;
    enum { PER_CHUNK = 2 };
    static __device__ type get(const uint4 &chunk, int i)
    {
        return __hiloint2double((int)(&chunk.x)[2 * i + 1], (int)(&chunk.x)[2 * i]);
    }
    static __device__ type fma(type x, type one)
    {
        return __fma_rn(x, one, one);
    }
    static __device__ uint32_t all_ones(type x)
    {
        return (uint32_t)(__double2loint(x) & __double2hiint(x));
    }
    static __device__ unsigned long long bits(type x)
    {
        return isnan(x) ? 1 : (unsigned long long)__double_as_longlong(x);
    }
};

/* Two halves in a register. */
struct half2s {
    typedef uint32_t type;
    enum { PER_CHUNK = 4 };
    static __device__ type get(const uint4 &chunk, int i)
    {
        return (&chunk.x)[i];
    }
    static __device__ type fma(type x, type one)
    {
        type result;
        asm("fma.rn.f16x2 %0, %1, %2, %2;" : "=r"(result) : "r"(x), "r"(one));
        return result;
    }
    static __device__ uint32_t all_ones(type x)
    {
        return x;
    }
    static __device__ unsigned long long bits(type x)
    {
        const uint32_t low = x & 0xFFFFu, high = x >> 16;
        return (unsigned long long)((low & 0x7FFFu) > 0x7C00u ? 1 : low) + ((high & 0x7FFFu) > 0x7C00u ? 1 : high);
    }
};

template <typename element, int count, int fmas>
static __device__ __forceinline__ void run(typename element::type (&x)[count], typename element::type one)
{
#pragma unroll
    for (int i = 0; i < fmas; i++)
#pragma unroll
        for (int c = 0; c < count; c++)
            x[c] = element::fma(x[c], one);
}

/* `more` multiply-adds for each of `count` elements, which are independent of each other:
 * 64 at a time, and what is left in pieces that are powers of two. The branches are those
 * of a whole launch. */
template <typename element, int count>
static __device__ __forceinline__ void run_more(typename element::type (&x)[count], uint32_t more,
                                                typename element::type one)
{
#pragma unroll 1
    for (uint32_t left = more / 64; left != 0; left--)
        run<element, count, 64>(x, one);
    if (more & 32)
        run<element, count, 32>(x, one);
    if (more & 16)
        run<element, count, 16>(x, one);
    if (more & 8)
        run<element, count, 8>(x, one);
    if (more & 4)
        run<element, count, 4>(x, one);
    if (more & 2)
        run<element, count, 2>(x, one);
    if (more & 1)
        run<element, count, 1>(x, one);
}

static __device__ void add_warp(unsigned long long *sum, unsigned long long value)
{
    for (uint32_t apart = WARP / 2; apart > 0; apart /= 2)
        value += __shfl_down_sync(0xFFFFFFFFu, value, apart);
    if (threadIdx.x % WARP == 0)
        atomicAdd(sum, value);
}

/* Under the lens: LDG.128, and FFMA, DFMA or HFMA2. Factor and addend are
 * one argument (1): the compiler can neither shorten a chain of multiply-adds nor replace
 * it, and no multiply-add reads three registers of its own, which DFMA does at nine tenths
 * of its rate (H200: banks of the register file). No result is stored; each is compared with all ones, which no input
 * is (micro.h, UB_FILL_RANDOM) nor becomes, so that nothing can be left out. `report` is all ones in a checked launch
 * and 0 otherwise; the machine code is the same. The first multiply-add of each element frees the registers that the
 * next step is loaded into, and fmas=0 is a kernel of its own: `some` is false. */
template <typename element, bool some>
static __global__ void __launch_bounds__(ROOFLINE_BLOCK, RESIDENT)
    roofline(const uint4 *__restrict__ source, uint32_t fmas, typename element::type one, uint32_t report,
             unsigned long long *sum)
{
    constexpr int per_chunk = element::PER_CHUNK, count = ROOFLINE_CHUNKS * per_chunk;
    const uint4 *at = source + roofline_first(blockIdx.x, threadIdx.x);
    uint4 chunks[ROOFLINE_CHUNKS];
#pragma unroll
    for (int c = 0; c < ROOFLINE_CHUNKS; c++)
        chunks[c] = at[c * ROOFLINE_BLOCK];
#pragma unroll 1
    for (int left = ROOFLINE_STEPS; left != 0; left--) {
        typename element::type x[count];
#pragma unroll
        for (int i = 0; i < count; i++) {
            x[i] = element::get(chunks[i / per_chunk], i % per_chunk);
            if (some)
                x[i] = element::fma(x[i], one);
        }
        at += roofline_step();
        if (left != 1)
#pragma unroll
            for (int c = 0; c < ROOFLINE_CHUNKS; c++)
                chunks[c] = at[c * ROOFLINE_BLOCK];
        if (some)
            run_more<element, count>(x, fmas - 1, one);
        uint32_t every = 0xFFFFFFFFu;
#pragma unroll
        for (int i = 0; i < count; i++)
            every &= element::all_ones(x[i]);
        if ((every | report) == 0xFFFFFFFFu) {
            unsigned long long mine = 0;
#pragma unroll
            for (int i = 0; i < count; i++)
                mine += element::bits(x[i]);
            add_warp(sum, mine);
        }
    }
}

/* The same sum, element by element through the source from end to end. */
template <typename element>
static __global__ void reference(const uint4 *source, uint64_t chunks, uint32_t fmas, typename element::type one,
                                 unsigned long long *expected)
{
    unsigned long long sum = 0;
    for (uint64_t chunk = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; chunk < chunks;
         chunk += (uint64_t)gridDim.x * blockDim.x)
        for (int i = 0; i < element::PER_CHUNK; i++) {
            typename element::type x = element::get(source[chunk], i);
            for (uint32_t n = 0; n < fmas; n++)
                x = element::fma(x, one);
            sum += element::bits(x);
        }
    add_warp(expected, sum);
}

/* ---- launch ---------------------------------------------------------------------- */

static const uint32_t half2_one = 0x3C003C00u;

template <typename element> struct launcher {
    static const void *function(const roofline_geometry &g)
    {
        return g.fmas > 0 ? (const void *)roofline<element, true> : (const void *)roofline<element, false>;
    }
    static void launch(const roofline_geometry &g, const ub_launch &launch, typename element::type one)
    {
        const uint32_t report = launch.checked ? 0xFFFFFFFFu : 0;
        (g.fmas > 0 ? roofline<element, true>
                    : roofline<element, false>)<<<g.blocks, ROOFLINE_BLOCK, 0, (cudaStream_t)launch.stream>>>(
            (const uint4 *)launch.buffers->pointers[0], g.fmas, one, report, launch.results + UB_RESULT_CHECKSUM);
    }
    static void check(const roofline_geometry &g, const ub_launch &launch, typename element::type one)
    {
        reference<element><<<REFERENCE_BLOCKS, REFERENCE_BLOCK, 0, (cudaStream_t)launch.stream>>>(
            (const uint4 *)launch.buffers->pointers[0], g.size_bytes / ROOFLINE_CHUNK_BYTES, g.fmas, one,
            launch.results + UB_RESULT_EXPECTED);
    }
};

static int launch(const ub_launch *launch)
{
    roofline_geometry g;
    if (roofline_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    switch (g.type) {
    case ROOFLINE_FP32:
        launcher<fp32>::launch(g, *launch, 1);
        break;
    case ROOFLINE_FP64:
        launcher<fp64>::launch(g, *launch, 1);
        break;
    default:
        launcher<half2s>::launch(g, *launch, half2_one);
    }
    return (int)cudaGetLastError();
}

static int check(const ub_launch *launch)
{
    roofline_geometry g;
    if (roofline_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    switch (g.type) {
    case ROOFLINE_FP32:
        launcher<fp32>::check(g, *launch, 1);
        break;
    case ROOFLINE_FP64:
        launcher<fp64>::check(g, *launch, 1);
        break;
    default:
        launcher<half2s>::check(g, *launch, half2_one);
    }
    return (int)cudaGetLastError();
}

static void describe(const ub_gpu *gpu, const ub_point *point, ub_kernel *out)
{
    roofline_geometry g;
    *out = ub_kernel();
    if (roofline_resolve(gpu, point, &g) != NULL)
        return;
    out->function = g.type == ROOFLINE_FP32   ? launcher<fp32>::function(g)
                    : g.type == ROOFLINE_FP64 ? launcher<fp64>::function(g)
                                              : launcher<half2s>::function(g);
    out->name = "roofline";
    out->grid[0] = g.blocks;
    out->block[0] = ROOFLINE_BLOCK;
    out->grid[1] = out->grid[2] = out->block[1] = out->block[2] = 1;
}

extern "C" {
extern const struct ub_code ub_code_roofline;
const struct ub_code ub_code_roofline = {launch, check, describe};
}
