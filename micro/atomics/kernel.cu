/* SPDX-License-Identifier: MIT
 *
 * The device side of `atomics`: one loop of adds, for each way of adding, kind of memory and
 * type a kernel of its own. */
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "micro/atomics/access.h"

enum { WARP = ATOMICS_WARP, BLOCK_MAX = WARP * ATOMICS_WARPS_MAX, REFERENCE_BLOCK = 256, REFERENCE_BLOCKS = 2048 };

/* ---- numbers --------------------------------------------------------------------- */

static __device__ __forceinline__ void set(uint32_t *number, uint32_t value)
{
    *number = value;
}
static __device__ __forceinline__ void set(unsigned long long *number, uint32_t value)
{
    *number = value;
}
static __device__ __forceinline__ void set(float *number, uint32_t value)
{
    *number = (float)value;
}
static __device__ __forceinline__ void set(double *number, uint32_t value)
{
    *number = (double)value;
}
static __device__ __forceinline__ void set(__half2 *number, uint32_t value)
{
    *number = __half2half2(__uint2half_rn(value));
}

/* What an atomic has returned, modulo 2^32. */
static __device__ __forceinline__ uint32_t whole(uint32_t number)
{
    return number;
}
static __device__ __forceinline__ uint32_t whole(unsigned long long number)
{
    return (uint32_t)number;
}
static __device__ __forceinline__ uint32_t whole(float number)
{
    return __float2uint_rn(number);
}
static __device__ __forceinline__ uint32_t whole(double number)
{
    return __double2uint_rn(number);
}

/* ---- ways of adding one -------------------------------------------------------------- */

/* Under the lens: REDG or ATOMG in global memory; in shared memory ATOMS.ADD, or, for all but
 * 32-bit integers, the compiler's loop round ATOMS.CAST.SPIN. */
template <int way, typename type> struct adding {
    static __device__ __forceinline__ type one(type *at, type value)
    {
        return atomicAdd(at, value);
    }
};

/* atomicAdd() of a pair of halves looks at run time whether its address is in shared memory,
 * and asks for the old value that nobody wants; PTX has the reduction. */
template <> struct adding<ATOMICS_PLAIN, __half2> {
    static __device__ __forceinline__ void one(__half2 *at, __half2 value)
    {
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        asm volatile("red.global.add.noftz.f16x2 [%0], %1;" : : "l"(at), "r"(bits) : "memory");
    }
};

/* In shared memory ATOMS.POPC.INC. */
template <typename type> struct adding<ATOMICS_ONE, type> {
    static __device__ __forceinline__ type one(type *at, type)
    {
        return atomicAdd(at, 1u);
    }
};

/* The loop that one writes where the hardware lacks an atomic. Of floats it would measure
 * nothing: after 2^24 adds of 1, many launches later, a sum does not change any more, and every
 * try finds what it expects (seen on an H200: 160 times as fast). */
template <> struct adding<ATOMICS_CAS, uint32_t> {
    static __device__ __forceinline__ uint32_t one(uint32_t *at, uint32_t value)
    {
        uint32_t old = *(volatile uint32_t *)at, expected;
        do {
            expected = old;
            old = atomicCAS(at, expected, expected + value);
        } while (old != expected);
        return old;
    }
};

/* ---- the loop -------------------------------------------------------------------------- */

/* Adds `value` of every lane to *sum, modulo 2^32. */
static __device__ void add_warp(uint32_t *sum, uint32_t value)
{
    for (uint32_t apart = WARP / 2; apart > 0; apart /= 2)
        value += __shfl_down_sync(0xFFFFFFFFu, value, apart);
    if (threadIdx.x % WARP == 0)
        atomicAdd(sum, value);
}

static __device__ void clear(uint32_t *words, uint32_t count)
{
    for (uint32_t word = threadIdx.x; word < count; word += blockDim.x)
        words[word] = 0;
    __syncthreads();
}

/* The steps of a thread, `size` bytes of addresses from `memory` on. Returns the sum of the
 * squares of what came back: whatever the order, it is that of 0, 1, 2, ... if each add of 1
 * was done once. The offset is in bytes; it never leaves 32 bits. */
template <int way, typename type, bool used>
static __device__ __forceinline__ uint32_t add(char *memory, uint32_t offset, uint32_t step, uint32_t size, type value,
                                               uint32_t steps)
{
    uint32_t squares = 0;
#pragma unroll 1
    for (uint32_t left = steps / ATOMICS_UNROLL; left != 0; left--) {
#pragma unroll
        for (int i = 0; i < ATOMICS_UNROLL; i++) {
            type *at = (type *)(memory + offset);
            if constexpr (used) {
                const uint32_t old = whole(adding<way, type>::one(at, value));
                squares += old * old;
            } else {
                adding<way, type>::one(at, value);
            }
            offset = atomics_next(offset, step, size);
        }
    }
    return squares;
}

template <int space, int way, typename type, bool used>
static __global__ void __launch_bounds__(BLOCK_MAX) add_all(char *buffer, const atomics_geometry g, uint32_t *sum)
{
    extern __shared__ __align__(16) char shared[];
    constexpr bool inside = space == ATOMICS_SHARED || way == ATOMICS_PRIVATE;
    const uint32_t lane = threadIdx.x % WARP, size = g.addresses * g.apart;
    /* way=compiler: the warps of a block take what its first warp takes, and that is seen */
    const uint32_t in_block = way == ATOMICS_COMPILER ? 0 : threadIdx.x / WARP;
    const uint32_t slot = way == ATOMICS_COMPILER ? 0 : lane;
    const uint32_t warp = space == ATOMICS_SHARED ? in_block : atomics_warp(blockIdx.x, gridDim.x, in_block);
    const uint32_t first = atomics_first(warp, slot, g.lanes, g.addresses);
    const uint32_t step = atomics_step(g.warps, g.lanes, g.addresses);
    type value;
    set(&value, g.varied ? 1 + lane % ATOMICS_VALUES : 1);
    if constexpr (inside)
        clear((uint32_t *)shared, size / 4);

    char *memory = inside ? shared : buffer;
    const uint32_t squares = add<way, type, used>(memory, first * g.apart, step * g.apart, size, value, g.steps);

    if constexpr (inside)
        __syncthreads();
    if constexpr (space == ATOMICS_SHARED) {
        uint32_t *copy = (uint32_t *)(buffer + (uint64_t)blockIdx.x * size);
        for (uint32_t word = threadIdx.x; word < size / 4; word += blockDim.x)
            copy[word] = ((uint32_t *)shared)[word];
    } else if constexpr (way == ATOMICS_PRIVATE) {
        for (uint32_t a = threadIdx.x; a < g.addresses; a += blockDim.x)
            atomicAdd((type *)(buffer + (uint64_t)a * g.apart), *(type *)(shared + a * g.apart));
    }
    if (used && sum != NULL)
        add_warp(sum, squares);
}

/* ---- the reference ----------------------------------------------------------------------- */

/* Whether a number in memory is this integer; every type here holds it exactly. */
static __device__ bool is_number(uint32_t type, const char *at, uint64_t value)
{
    switch (type) {
    case ATOMICS_INT:
        return *(const uint32_t *)at == (uint32_t)value;
    case ATOMICS_LONG:
        return *(const unsigned long long *)at == value;
    case ATOMICS_FLOAT:
        return *(const float *)at == (float)value;
    case ATOMICS_DOUBLE:
        return *(const double *)at == (double)value;
    default:
        return __low2float(*(const __half2 *)at) == (float)value && __high2float(*(const __half2 *)at) == (float)value;
    }
}

static __device__ uint64_t add_block(uint64_t value)
{
    __shared__ unsigned long long sum;
    __syncthreads();
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    atomicAdd(&sum, (unsigned long long)value);
    __syncthreads();
    return sum;
}

/* All warps of a copy together take the numbers 0, 1, 2, ... steps x warps x lanes - 1, each
 * modulo the addresses: what one address must have got is the sum over those that are its own.
 * A block an address. */
static __global__ void add_up(const atomics_geometry g, const char *buffer, unsigned long long *mismatches,
                              uint32_t *squares)
{
    const uint64_t numbers = (uint64_t)g.warps * g.steps * g.lanes;
    for (uint32_t a = blockIdx.x; a < g.addresses; a += gridDim.x) {
        uint64_t sum = 0, count = 0;
        for (uint64_t n = a + (uint64_t)threadIdx.x * g.addresses; n < numbers; n += (uint64_t)blockDim.x * g.addresses)
            for (uint32_t lane = (uint32_t)(n % g.lanes); lane < WARP; lane += g.lanes) {
                sum += g.varied ? 1 + lane % ATOMICS_VALUES : 1;
                count += 1;
            }
        sum = add_block(sum);
        count = add_block(count);
        uint32_t all = 0;
        for (uint64_t old = threadIdx.x; g.used && old < count; old += blockDim.x)
            all += (uint32_t)(old * old);
        if (g.used)
            atomicAdd(squares, all * g.copies);
        for (uint32_t copy = threadIdx.x; copy < g.copies; copy += blockDim.x)
            if (!is_number(g.type, buffer + ((uint64_t)copy * g.addresses + a) * g.apart, sum))
                atomicAdd(mismatches, 1ull);
    }
}

/* ---- launch -------------------------------------------------------------------------------- */

typedef void (*add_kernel)(char *, atomics_geometry, uint32_t *);

struct kernel_row {
    atomics_way way;
    atomics_type type;
    add_kernel kernels[ATOMICS_SPACES][2]; /* result unused, used; NULL: there is none */
};

#define BOTH(space, type)                                                                                              \
    {                                                                                                                  \
        add_all<space, ATOMICS_PLAIN, type, false>, add_all<space, ATOMICS_PLAIN, type, true>                          \
    }
#define PLAIN(name, type)                                                                                              \
    {                                                                                                                  \
        ATOMICS_PLAIN, name,                                                                                           \
        {                                                                                                              \
            BOTH(ATOMICS_GLOBAL, type), BOTH(ATOMICS_SHARED, type)                                                     \
        }                                                                                                              \
    }
#define IN_EACH(way, name, type)                                                                                       \
    {                                                                                                                  \
        way, name,                                                                                                     \
        {                                                                                                              \
            {add_all<ATOMICS_GLOBAL, way, type, false>, NULL},                                                         \
            {                                                                                                          \
                add_all<ATOMICS_SHARED, way, type, false>, NULL                                                        \
            }                                                                                                          \
        }                                                                                                              \
    }
#define IN_GLOBAL(way, name, type)                                                                                     \
    {                                                                                                                  \
        way, name,                                                                                                     \
        {                                                                                                              \
            {add_all<ATOMICS_GLOBAL, way, type, false>, NULL},                                                         \
            {                                                                                                          \
                NULL, NULL                                                                                             \
            }                                                                                                          \
        }                                                                                                              \
    }
#define IN_SHARED(way, name, type)                                                                                     \
    {                                                                                                                  \
        way, name,                                                                                                     \
        {                                                                                                              \
            {NULL, NULL},                                                                                              \
            {                                                                                                          \
                add_all<ATOMICS_SHARED, way, type, false>, NULL                                                        \
            }                                                                                                          \
        }                                                                                                              \
    }

static const kernel_row kernel_rows[] = {
    PLAIN(ATOMICS_INT, uint32_t),
    PLAIN(ATOMICS_LONG, unsigned long long),
    PLAIN(ATOMICS_FLOAT, float),
    PLAIN(ATOMICS_DOUBLE, double),
    IN_GLOBAL(ATOMICS_PLAIN, ATOMICS_HALF2, __half2),
    IN_SHARED(ATOMICS_ONE, ATOMICS_INT, uint32_t),
    IN_EACH(ATOMICS_CAS, ATOMICS_INT, uint32_t),
    IN_EACH(ATOMICS_COMPILER, ATOMICS_INT, uint32_t),
    IN_GLOBAL(ATOMICS_PRIVATE, ATOMICS_INT, uint32_t),
    IN_GLOBAL(ATOMICS_PRIVATE, ATOMICS_LONG, unsigned long long),
    IN_GLOBAL(ATOMICS_PRIVATE, ATOMICS_FLOAT, float),
    IN_GLOBAL(ATOMICS_PRIVATE, ATOMICS_DOUBLE, double),
};

static add_kernel kernel_of(const atomics_geometry &g)
{
    for (const kernel_row &row : kernel_rows)
        if (row.way == (atomics_way)g.way && row.type == (atomics_type)g.type)
            return row.kernels[g.space][g.used];
    return NULL;
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
    atomics_geometry g;
    if (atomics_resolve(launch->gpu, launch->point, &g) != NULL || kernel_of(g) == NULL)
        return (int)cudaErrorInvalidValue;
    cudaStream_t stream = (cudaStream_t)launch->stream;
    char *buffer = (char *)launch->buffers->pointers[0];
    uint32_t *sum = launch->checked ? (uint32_t *)(launch->results + UB_RESULT_CHECKSUM) : NULL;
    cudaError_t code = opt_in((const void *)kernel_of(g));
    if (code == cudaSuccess && launch->checked) /* else each launch adds to what the last has left */
        code = cudaMemsetAsync(buffer, 0, atomics_buffer_bytes(&g), stream);
    if (code != cudaSuccess)
        return (int)code;
    kernel_of(g)<<<g.blocks, g.block_warps * WARP, g.shared_bytes, stream>>>(buffer, g, sum);
    return (int)cudaGetLastError();
}

static int check(const ub_launch *launch)
{
    atomics_geometry g;
    if (atomics_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    add_up<<<REFERENCE_BLOCKS, REFERENCE_BLOCK, 0, (cudaStream_t)launch->stream>>>(
        g, (const char *)launch->buffers->pointers[0], launch->results + UB_RESULT_MISMATCHES,
        (uint32_t *)(launch->results + UB_RESULT_EXPECTED));
    return (int)cudaGetLastError();
}

static void describe(const ub_gpu *gpu, const ub_point *point, ub_kernel *out)
{
    atomics_geometry g;
    *out = ub_kernel();
    if (atomics_resolve(gpu, point, &g) != NULL)
        return;
    out->function = (const void *)kernel_of(g);
    out->name = "add_all";
    out->grid[0] = g.blocks;
    out->block[0] = g.block_warps * WARP;
    out->grid[1] = out->grid[2] = out->block[1] = out->block[2] = 1;
    out->dynamic_shared_bytes = g.shared_bytes;
}

extern "C" {
extern const struct ub_code ub_code_atomics;
const struct ub_code ub_code_atomics = {launch, check, describe, NULL, NULL};
}
