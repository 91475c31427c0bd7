/* SPDX-License-Identifier: MIT
 *
 * The device side of `coalescing`: one kernel, of which width, operation, pattern
 * and accesses a thread are compile-time constants, and a reference kernel that
 * walks elements instead of accesses. Both agree only if every access touched
 * exactly the element it should. */
#include <cuda_runtime.h>

#include "micro/coalescing/access.h"

enum { WARP = 32, REFERENCE_BLOCK = 256, REFERENCE_BLOCKS = 4096 };

/* A value of 2^log2_bytes bytes as 32-bit words; what one vector access moves. */
template <int log2_bytes> struct vector;
template <> struct vector<0> {
    typedef unsigned char type;
};
template <> struct vector<1> {
    typedef unsigned short type;
};
template <> struct vector<2> {
    typedef unsigned int type;
};
template <> struct vector<3> {
    typedef uint2 type;
};
template <> struct vector<4> {
    typedef uint4 type;
};

/* The bits of all words together: equals ones<T>() only if every bit is set. */
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

/* One number in which every word counts differently. */
static __device__ unsigned long long fold(uint32_t v)
{
    return v;
}
static __device__ unsigned long long fold(uint2 v)
{
    return v.x + ((unsigned long long)v.y << 32);
}
static __device__ unsigned long long fold(uint4 v)
{
    return fold(make_uint2(v.x, v.y)) + 3 * fold(make_uint2(v.z, v.w));
}

/* What a store writes into element e: never 0xFF in any byte that counts as
 * "not written" (the top bit of each word is 0), and a function of the element
 * alone, so that lanes of a broadcast agree. */
static __device__ uint32_t word(uint64_t element, uint32_t key, uint32_t number)
{
    return ((uint32_t)element * 0x9E3779B9u + key + number * 0x85EBCA6Bu) & 0x7FFFFFFFu;
}
static __device__ void make(unsigned char *v, uint64_t element, uint32_t key)
{
    *v = (unsigned char)(word(element, key, 0) >> 24);
}
static __device__ void make(unsigned short *v, uint64_t element, uint32_t key)
{
    *v = (unsigned short)(word(element, key, 0) >> 16);
}
static __device__ void make(unsigned int *v, uint64_t element, uint32_t key)
{
    *v = word(element, key, 0);
}
static __device__ void make(uint2 *v, uint64_t element, uint32_t key)
{
    *v = make_uint2(word(element, key, 0), word(element, key, 1));
}
static __device__ void make(uint4 *v, uint64_t element, uint32_t key)
{
    *v = make_uint4(word(element, key, 0), word(element, key, 1), word(element, key, 2), word(element, key, 3));
}

/* Adds `value` of every lane to *sum with one atomic operation a warp. Every thread of
 * the block calls it; the last warp may hold fewer lanes, from 0 up. The mask is
 * computed, not asked for: after a branch the lanes need not be together yet. */
static __device__ void add_warp(unsigned long long *sum, unsigned long long value, uint32_t thread, uint32_t threads)
{
    const uint32_t lane = thread % WARP;
    const uint32_t left = threads - (thread - lane);
    const uint32_t lanes = left < WARP ? left : WARP;
    const uint32_t active = lanes < WARP ? (1u << lanes) - 1 : 0xFFFFFFFFu;
    __syncwarp(active);
    for (uint32_t apart = WARP / 2; apart > 0; apart /= 2) {
        const unsigned long long other = __shfl_down_sync(active, value, apart);
        if (lane + apart < lanes)
            value += other;
    }
    if (lane == 0)
        atomicAdd(sum, value);
}

/* The number of an access weighs what it loaded, so the sum notices an access
 * that touched another's element. */
static __device__ unsigned long long weight(const coalescing_geometry &g, uint64_t access, uint32_t field)
{
    return 2 * (access * g.fields + field) + 1;
}

/* The same value, of which the compiler knows nothing: addresses that depend on it
 * are computed where they are used, instead of being kept in registers from one
 * use to the next (16 addresses are 32 registers: half of the warps of an SM). */
static __device__ uint64_t opaque(uint64_t value)
{
    asm volatile("" : "+l"(value));
    return value;
}

/* Registers a thread: 32 leave an SM all of its warps. Where many narrow values, or
 * fields, are not found by stride, a few more are needed so that none is spilled to
 * memory: 40 leave three quarters of the warps, 48 five eighths. */
static constexpr int registers(int log2_bytes, int pattern, int per_thread)
{
    const bool many = per_thread >= (log2_bytes < 2 ? 4 : 8); /* narrow fields are loaded four at a time as well */
    if (pattern == COALESCING_AOS)
        return many ? 48 : 40;
    return per_thread >= 8 && pattern != COALESCING_BY_STRIDE ? 40 : 32;
}

/* Fields of a structure that are accessed back to back, as code that uses a structure
 * does; the fields of a structure of arrays come one array after the other. A thread
 * of pattern=aos that has 16 bytes of accesses without that has one field (geometry.c). */
static __host__ __device__ constexpr int fields_at_once(int log2_bytes, int pattern, int per_thread)
{
    const bool one_field = per_thread > 1 && per_thread << log2_bytes == 16;
    if (pattern != COALESCING_AOS || one_field)
        return 1;
    return per_thread > 4 ? 16 / per_thread : 4;
}

/* All accesses of a thread are independent and issued before the first value is
 * needed: per_thread * bytes = 16 bytes in flight a thread reach DRAM's ceiling
 * (Little's law, rules.md section 5). What is loaded must be compared with
 * all-ones, which it never is (micro.h, UB_FILL_RANDOM): the compiler can neither
 * drop a load nor know that the store is never reached. `sum` is NULL but in a
 * checked launch; the machine code is the same. */
template <int log2_bytes, int op, int pattern, int per_thread>
static __global__ void __maxnreg__(registers(log2_bytes, pattern, per_thread))
    coalesce(const void *__restrict__ source_bytes, void *__restrict__ destination_bytes, const coalescing_geometry g,
             uint32_t key, unsigned long long *sum)
{
    typedef typename vector<log2_bytes>::type element;
    const element *__restrict__ source = (const element *)source_bytes;
    element *__restrict__ destination = (element *)destination_bytes;
    const uint32_t thread = pattern == COALESCING_TILE ? threadIdx.y * blockDim.x + threadIdx.x : threadIdx.x;
    const coalescing_pattern walk = (coalescing_pattern)pattern;
    const bool has_fields = pattern == COALESCING_AOS || pattern == COALESCING_SOA;
    const uint32_t fields = has_fields ? g.fields : 1;
    constexpr int batch = fields_at_once(log2_bytes, pattern, per_thread);
    const uint32_t ones = log2_bytes < 2 ? (1u << (8 << log2_bytes)) - 1 : 0xFFFFFFFFu;

#pragma unroll 1
    for (uint32_t field = 0; field < fields; field += batch) {
        element values[batch][per_thread];
        const uint64_t base = coalescing_base(&g, walk, blockIdx.x, thread, field), reader = opaque(base);
        if (op != COALESCING_STORE) {
#pragma unroll
            for (int f = 0; f < batch; f++)
#pragma unroll
                for (int k = 0; k < per_thread; k++)
                    if (f == 0 || field + f < fields)
                        values[f][k] = source[coalescing_element(&g, walk, reader + f, k)];
        }
        if (op != COALESCING_LOAD) {
            const uint64_t writer = opaque(base);
#pragma unroll
            for (int f = 0; f < batch; f++)
#pragma unroll
                for (int k = 0; k < per_thread; k++)
                    if (f == 0 || field + f < fields) {
                        const uint64_t e = coalescing_element(&g, walk, writer + f, k);
                        if (op == COALESCING_STORE)
                            make(&values[f][k], e, key);
                        destination[e] = values[f][k];
                    }
            continue;
        }
        uint32_t every = 0xFFFFFFFFu;
#pragma unroll
        for (int f = 0; f < batch; f++)
#pragma unroll
            for (int k = 0; k < per_thread; k++)
                if (f == 0 || field + f < fields)
                    every &= common(values[f][k]);
        if (every == ones)
            destination[0] = values[0][0];
        if (sum != NULL) {
            unsigned long long total = 0;
            const uint64_t first = opaque(blockIdx.x * (per_thread * g.block) + thread);
#pragma unroll
            for (int f = 0; f < batch; f++)
#pragma unroll
                for (int k = 0; k < per_thread; k++)
                    if (f == 0 || field + f < fields)
                        total += fold(values[f][k]) * weight(g, first + k * g.block, field + f);
            add_warp(sum, total, thread, g.block);
        }
    }
}

/* ---- the reference: from the element back to the access -------------------- */

/* Which accesses touch an element: `count` of them, numbered from `access` on. */
struct touch {
    uint64_t access;
    uint32_t count, field;
};

/* Undoes the bijection of pattern=random step by step: the multipliers are the
 * inverses modulo 2^32 of access.h's, each xor-shift is undone by repeating it. */
static __device__ uint32_t gather(uint32_t x, uint32_t mask)
{
    x ^= x >> 16;
    x = (x * 0x7ED1B41Du) & mask;
    x ^= (x >> 13) ^ (x >> 26);
    x = (x * 0xA5CB9243u) & mask;
    x ^= (x >> 15) ^ (x >> 30);
    return (x * 0x0E8B2F51u) & mask;
}

/* The linear patterns: access n of the walk stands at offset + n * stride. */
static __device__ touch touch_of_line(const coalescing_geometry &g, uint64_t element)
{
    touch none = {0, 0, 0};
    if (element < g.offset || (element - g.offset) % g.stride != 0)
        return none;
    const uint64_t n = (element - g.offset) / g.stride;
    if (n >= g.accesses)
        return none;
    touch found = {n, 1, 0};
    if (g.pattern == COALESCING_REVERSE)
        found.access = g.accesses - 1 - n;
    if (g.pattern == COALESCING_BROADCAST) {
        const uint32_t thread = (uint32_t)(n % g.block);
        const uint32_t rest = g.block - thread; /* lanes of the last warp may be missing */
        found.count = thread % WARP != 0 ? 0 : rest < WARP ? rest : WARP;
    }
    return found;
}

static __device__ touch touch_of_tile(const coalescing_geometry &g, uint64_t element)
{
    touch none = {0, 0, 0};
    if (element < g.offset)
        return none;
    const uint64_t row_length = 1 << COALESCING_ROW_LOG2;
    const uint64_t width = 1 << g.tile_width_log2, height = g.block / width;
    const uint64_t row = (element - g.offset) / row_length, column = (element - g.offset) % row_length;
    const uint64_t tile = row / height * (row_length / width) + column / width;
    const uint64_t access = tile * g.block + row % height * width + column % width;
    touch found = {access, access < g.accesses ? 1u : 0u, 0};
    return found;
}

static __device__ touch touch_of(const coalescing_geometry &g, uint64_t element)
{
    touch found = {0, 1, 0};
    switch (g.pattern) {
    case COALESCING_TILE:
        return touch_of_tile(g, element);
    case COALESCING_RANDOM:
        found.access = gather((uint32_t)element, g.mask);
        found.count = found.access < g.accesses;
        return found;
    case COALESCING_AOS:
        found.access = element / g.fields;
        found.field = (uint32_t)(element % g.fields);
        return found;
    case COALESCING_SOA:
        found.access = element % g.accesses;
        found.field = (uint32_t)(element / g.accesses);
        return found;
    default:
        return touch_of_line(g, element);
    }
}

template <typename element> static __device__ bool same(const element &a, const element &b)
{
    return fold(a) == fold(b);
}
template <> __device__ bool same<uint4>(const uint4 &a, const uint4 &b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
}

static __device__ void poison(unsigned char *v)
{
    *v = 0xFF;
}
static __device__ void poison(unsigned short *v)
{
    *v = 0xFFFF;
}
static __device__ void poison(unsigned int *v)
{
    *v = 0xFFFFFFFFu;
}
static __device__ void poison(uint2 *v)
{
    *v = make_uint2(0xFFFFFFFFu, 0xFFFFFFFFu);
}
static __device__ void poison(uint4 *v)
{
    *v = make_uint4(0xFFFFFFFFu, 0xFFFFFFFFu, 0xFFFFFFFFu, 0xFFFFFFFFu);
}

/* Loads: the expected sum. Stores and copies: elements of the region that are not
 * what they should be, untouched ones (still poisoned) included. */
template <int log2_bytes>
static __global__ void reference(const void *source_bytes, const void *destination_bytes, const coalescing_geometry g,
                                 uint32_t key, unsigned long long *expected, unsigned long long *mismatches)
{
    typedef typename vector<log2_bytes>::type element;
    const element *source = (const element *)source_bytes;
    const element *destination = (const element *)destination_bytes;
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    unsigned long long sum = 0, wrong = 0;
    for (uint64_t e = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; e < g.elements; e += step) {
        const touch by = touch_of(g, e);
        if (g.op == COALESCING_LOAD) {
            /* weights of consecutive accesses are odd numbers: their sum is closed */
            if (by.count != 0)
                sum += fold(source[e]) * (by.count * (weight(g, by.access, by.field) + by.count - 1));
            continue;
        }
        element should;
        poison(&should);
        if (by.count != 0 && g.op == COALESCING_STORE)
            make(&should, e, key);
        else if (by.count != 0)
            should = source[e];
        wrong += !same(should, destination[e]);
    }
    add_warp(expected, sum, threadIdx.x, blockDim.x);
    add_warp(mismatches, wrong, threadIdx.x, blockDim.x);
}

/* ---- launch ------------------------------------------------------------------ */

typedef void (*coalesce_kernel)(const void *, void *, coalescing_geometry, uint32_t, unsigned long long *);
typedef void (*reference_kernel)(const void *, const void *, coalescing_geometry, uint32_t, unsigned long long *,
                                 unsigned long long *);

/* Most patterns have as many accesses a thread as make 16 bytes, */
#define UB_PATTERNS(bytes, op, per_thread)                                                                             \
    {                                                                                                                  \
        NULL, coalesce<bytes, op, COALESCING_RANDOM, per_thread>, coalesce<bytes, op, COALESCING_REVERSE, per_thread>, \
            coalesce<bytes, op, COALESCING_BROADCAST, per_thread>, NULL,                                               \
            coalesce<bytes, op, COALESCING_SOA, per_thread>, coalesce<bytes, op, COALESCING_TILE, per_thread>          \
    }
/* the others have 1, 2, 4 ... up to that. */
#define UB_UP_TO_1(bytes, op, pattern)  coalesce<bytes, op, pattern, 1>
#define UB_UP_TO_2(bytes, op, pattern)  UB_UP_TO_1(bytes, op, pattern), coalesce<bytes, op, pattern, 2>
#define UB_UP_TO_4(bytes, op, pattern)  UB_UP_TO_2(bytes, op, pattern), coalesce<bytes, op, pattern, 4>
#define UB_UP_TO_8(bytes, op, pattern)  UB_UP_TO_4(bytes, op, pattern), coalesce<bytes, op, pattern, 8>
#define UB_UP_TO_16(bytes, op, pattern) UB_UP_TO_8(bytes, op, pattern), coalesce<bytes, op, pattern, 16>
#define UB_CHOSEN(bytes, op, per_thread)                                                                               \
    {                                                                                                                  \
        {UB_UP_TO_##per_thread(bytes, op, COALESCING_BY_STRIDE)},                                                      \
        {                                                                                                              \
            UB_UP_TO_##per_thread(bytes, op, COALESCING_AOS)                                                           \
        }                                                                                                              \
    }

#define UB_OPS(what, bytes, per_thread)                                                                                \
    {                                                                                                                  \
        what(bytes, COALESCING_LOAD, per_thread), what(bytes, COALESCING_STORE, per_thread),                           \
            what(bytes, COALESCING_COPY, per_thread)                                                                   \
    }
#define UB_WIDTHS(what)                                                                                                \
    {                                                                                                                  \
        UB_OPS(what, 0, 16), UB_OPS(what, 1, 8), UB_OPS(what, 2, 4), UB_OPS(what, 3, 2), UB_OPS(what, 4, 1)            \
    }

static const coalesce_kernel by_pattern[COALESCING_WIDTHS][COALESCING_OPS][COALESCING_PATTERNS] =
    UB_WIDTHS(UB_PATTERNS);
static const coalesce_kernel chosen[COALESCING_WIDTHS][COALESCING_OPS][2][COALESCING_WIDTHS] = UB_WIDTHS(UB_CHOSEN);

static const reference_kernel references[COALESCING_WIDTHS] = {reference<0>, reference<1>, reference<2>, reference<3>,
                                                               reference<4>};

static unsigned log2_of(uint32_t power)
{
    unsigned log2 = 0;
    while (power >>= 1)
        log2++;
    return log2;
}

static coalesce_kernel kernel_of(const coalescing_geometry &g)
{
    if (g.pattern == COALESCING_BY_STRIDE || g.pattern == COALESCING_AOS)
        return chosen[g.bytes_log2][g.op][g.pattern == COALESCING_AOS][log2_of(g.per_thread)];
    return by_pattern[g.bytes_log2][g.op][g.pattern];
}

static dim3 block_of(const coalescing_geometry &g)
{
    if (g.pattern != COALESCING_TILE)
        return dim3(g.block);
    return dim3(1u << g.tile_width_log2, g.block >> g.tile_width_log2);
}

/* The run's seed as the 32 bits that stores mix in. */
static uint32_t key_of(uint64_t seed)
{
    return (uint32_t)(seed ^ (seed >> 32));
}

/* Buffers in the order of the footprint: load {source, sink}, store {destination},
 * copy {source, destination}. */
static void *destination_of(const ub_launch *launch, const coalescing_geometry &g)
{
    return launch->buffers->pointers[g.op == COALESCING_STORE ? 0 : 1];
}

static int launch(const ub_launch *launch)
{
    coalescing_geometry g;
    if (coalescing_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    unsigned long long *sum = launch->checked ? launch->results + UB_RESULT_CHECKSUM : NULL;
    kernel_of(g)<<<g.blocks, block_of(g), 0, (cudaStream_t)launch->stream>>>(
        launch->buffers->pointers[0], destination_of(launch, g), g, key_of(launch->seed), sum);
    return (int)cudaGetLastError();
}

static int launch_reference(const ub_launch *launch)
{
    coalescing_geometry g;
    if (coalescing_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    references[g.bytes_log2]<<<REFERENCE_BLOCKS, REFERENCE_BLOCK, 0, (cudaStream_t)launch->stream>>>(
        launch->buffers->pointers[0], destination_of(launch, g), g, key_of(launch->seed),
        launch->results + UB_RESULT_EXPECTED, launch->results + UB_RESULT_MISMATCHES);
    return (int)cudaGetLastError();
}

static void describe(const ub_gpu *gpu, const ub_point *point, ub_kernel *out)
{
    *out = ub_kernel();
    coalescing_geometry g;
    if (coalescing_resolve(gpu, point, &g) != NULL)
        return;
    const dim3 block = block_of(g);
    out->function = (const void *)kernel_of(g);
    out->name = "coalesce";
    out->grid[0] = g.blocks;
    out->grid[1] = out->grid[2] = 1;
    out->block[0] = block.x;
    out->block[1] = block.y;
    out->block[2] = block.z;
}

extern "C" {
extern const struct ub_code ub_code_coalescing;
const struct ub_code ub_code_coalescing = {launch, launch_reference, describe};
}
