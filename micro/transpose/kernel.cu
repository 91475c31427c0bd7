/* SPDX-License-Identifier: MIT
 *
 * The device side of `transpose`: a copy, one kernel for all variants that move tiles,
 * of which variant, element, tile and passes are compile-time constants, and a reference
 * kernel that knows only what a transpose is. */
#include <cuda_runtime.h>

#include "micro/transpose/access.h"

enum { WARP = 32, REFERENCE_BLOCK = 256, REFERENCE_BLOCKS = 4096 };

/* An element, and 16 bytes of them as one access. */
template <int log2_bytes> struct types;
template <> struct types<2> {
    typedef unsigned int element;
    typedef uint4 wide;
};
template <> struct types<3> {
    typedef unsigned long long element;
    typedef ulonglong2 wide;
};

static __device__ void load(unsigned int (&values)[1], const unsigned int *from)
{
    values[0] = *from;
}
static __device__ void load(unsigned long long (&values)[1], const unsigned long long *from)
{
    values[0] = *from;
}
static __device__ void load(unsigned int (&values)[4], const unsigned int *from)
{
    const uint4 all = *(const uint4 *)from;
    values[0] = all.x;
    values[1] = all.y;
    values[2] = all.z;
    values[3] = all.w;
}
static __device__ void load(unsigned long long (&values)[2], const unsigned long long *from)
{
    const ulonglong2 all = *(const ulonglong2 *)from;
    values[0] = all.x;
    values[1] = all.y;
}

static __device__ void store(unsigned int *to, const unsigned int (&values)[1])
{
    *to = values[0];
}
static __device__ void store(unsigned long long *to, const unsigned long long (&values)[1])
{
    *to = values[0];
}
static __device__ void store(unsigned int *to, const unsigned int (&values)[4])
{
    *(uint4 *)to = make_uint4(values[0], values[1], values[2], values[3]);
}
static __device__ void store(unsigned long long *to, const unsigned long long (&values)[2])
{
    *(ulonglong2 *)to = make_ulonglong2(values[0], values[1]);
}

/* ---- tiles --------------------------------------------------------------------- */

/* The same value, of which the compiler knows nothing: what depends on it is computed
 * where it is used, instead of being kept in registers while the loads are on their way
 * (the addresses of eight stores are 16 registers: a quarter of the warps of an SM). */
static __device__ uint32_t opaque(uint32_t value)
{
    asm volatile("" : "+r"(value));
    return value;
}

/* What is fixed at compile time of a variant's kernel. */
template <int log2_bytes, int variant, int side, int passes_> struct shape {
    static constexpr int bytes = 1 << log2_bytes, passes = passes_, tile = side;
    static constexpr int vector = variant == TRANSPOSE_VECTOR ? TRANSPOSE_ACCESS_BYTES / bytes : 1;
    static constexpr int rows = tile / passes, along = tile / vector, threads = along * rows;
    static constexpr bool shared = variant != TRANSPOSE_NAIVE_READ && variant != TRANSPOSE_NAIVE_WRITE;
    /* the blocks that transpose_resolve() lets through */
    static constexpr bool possible = passes <= tile && threads >= WARP && threads <= 1024;
};

/* Brings the elements of a vector into the order in which a lane takes them (transpose_nth),
 * or back. No register is indexed by a variable: it would be in memory then. */
template <typename element, int vector> static __device__ void turn(element (&values)[vector], uint32_t along)
{
    const bool halves = vector > 1 && transpose_nth(vector, along, 0) != 0;
#pragma unroll
    for (int j = 0; j < vector / 2; j++) {
        const element lower = values[j], upper = values[j + vector / 2];
        values[j] = halves ? upper : lower;
        values[j + vector / 2] = halves ? lower : upper;
    }
}

/* The instructions under the lens: `passes` loads from global memory, all issued before the
 * first value is needed; stores to the tile, barrier, loads from the tile; stores to global
 * memory (tests/sass looks at them). The compiler can neither merge nor widen the accesses of
 * a thread, because no two are neighbours, and drops none, because the result is the answer.
 * Accesses to the tile stand under the guards of the accesses to global memory: else the
 * compiler would decide whether lanes outside the matrix make them, and no law could count
 * them at the edges. */
template <int log2_bytes, int variant, int tile, int passes>
static __global__ void __launch_bounds__((shape<log2_bytes, variant, tile, passes>::threads))
    move_tiles(const void *__restrict__ source_bytes, void *__restrict__ destination_bytes, const transpose_geometry g)
{
    typedef shape<log2_bytes, variant, tile, passes> fixed;
    typedef typename types<log2_bytes>::element element;
    extern __shared__ __align__(16) unsigned char shared_bytes[];
    element *shared = (element *)shared_bytes;
    const element *__restrict__ source = (const element *)source_bytes;
    element *__restrict__ destination = (element *)destination_bytes;
    const transpose_place corner = transpose_tile_of(&g, blockIdx.x);
    const uint32_t x0 = corner.x * tile, y0 = corner.y * tile;
    element values[passes][fixed::vector];

#pragma unroll
    for (int k = 0; k < passes; k++) {
        const transpose_place from =
            transpose_read(variant, transpose_lane(tile, fixed::vector, fixed::rows, threadIdx.x, k));
        const uint32_t x = x0 + from.x, y = y0 + from.y;
        if (x < g.n && y < g.m)
            load(values[k], source + (uint64_t)y * g.n + x);
    }
    if (fixed::shared) {
#pragma unroll
        for (int k = 0; k < passes; k++) {
            const transpose_place from =
                transpose_read(variant, transpose_lane(tile, fixed::vector, fixed::rows, threadIdx.x, k));
            if (x0 + from.x < g.n && y0 + from.y < g.m) {
                turn(values[k], from.x);
#pragma unroll
                for (int j = 0; j < fixed::vector; j++)
                    shared[transpose_slot(variant, g.pitch, transpose_along_x(from, fixed::vector, j))] = values[k][j];
            }
        }
        __syncthreads();
    }
    const uint32_t right = opaque(x0), below = opaque(y0), thread = opaque(threadIdx.x);
#pragma unroll
    for (int k = 0; k < passes; k++) {
        const transpose_place to =
            transpose_write(variant, transpose_lane(tile, fixed::vector, fixed::rows, thread, k));
        if (fixed::shared && right + to.x < g.n && below + to.y < g.m) {
#pragma unroll
            for (int j = 0; j < fixed::vector; j++)
                values[k][j] = shared[transpose_slot(variant, g.pitch, transpose_along_y(to, fixed::vector, j))];
            turn(values[k], to.y);
        }
    }
#pragma unroll
    for (int k = 0; k < passes; k++) {
        const transpose_place to =
            transpose_write(variant, transpose_lane(tile, fixed::vector, fixed::rows, thread, k));
        const uint32_t x = right + to.x, y = below + to.y;
        if (x < g.n && y < g.m)
            store(destination + transpose_result(variant, g.n, g.m, x, y), values[k]);
    }
}

/* ---- copy ------------------------------------------------------------------------ */

/* 16 bytes a thread, which reaches DRAM's ceiling (rule coalescing); what does not fill
 * 16 bytes at the end is copied by one thread an element. */
template <int log2_bytes>
static __global__ void __launch_bounds__(TRANSPOSE_COPY_THREADS)
    copy_matrix(const void *__restrict__ source, void *__restrict__ destination, const transpose_geometry g)
{
    typedef typename types<log2_bytes>::element element;
    typedef typename types<log2_bytes>::wide wide;
    const uint64_t i = (uint64_t)blockIdx.x * TRANSPOSE_COPY_THREADS + threadIdx.x;
    const transpose_span span = transpose_copied((uint64_t)g.n * g.m, TRANSPOSE_ACCESS_BYTES >> log2_bytes, i);
    const element *from = (const element *)source + span.element;
    element *to = (element *)destination + span.element;
    if (span.count > 1)
        *(wide *)to = *(const wide *)from;
    else if (span.count == 1)
        *to = *from;
}

/* ---- the reference ------------------------------------------------------------------ */

/* From the result back to the source: row x, column y of the result is row y, column x of
 * the source. What lies behind the matrix must still be poisoned. */
template <int log2_bytes>
static __global__ void reference(const void *source_bytes, const void *destination_bytes, uint64_t columns,
                                 uint64_t rows, uint64_t all, bool copies, unsigned long long *mismatches)
{
    typedef typename types<log2_bytes>::element element;
    const element *source = (const element *)source_bytes;
    const element *destination = (const element *)destination_bytes;
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    unsigned long long wrong = 0;
    for (uint64_t e = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; e < all; e += step) {
        element should = ~(element)0;
        if (e < columns * rows)
            should = source[copies ? e : e % rows * columns + e / rows];
        wrong += destination[e] != should;
    }
    if (wrong != 0)
        atomicAdd(mismatches, wrong);
}

/* ---- launch -------------------------------------------------------------------------- */

typedef void (*transpose_kernel)(const void *, void *, const transpose_geometry);

template <int log2_bytes, int variant, int tile, int passes> static transpose_kernel kernel_at()
{
    if constexpr (shape<log2_bytes, variant, tile, passes>::possible)
        return move_tiles<log2_bytes, variant, tile, passes>;
    else
        return NULL;
}

template <int log2_bytes, int variant, int tile> static transpose_kernel kernel_with(uint32_t passes)
{
    switch (passes) {
    case 1:
        return kernel_at<log2_bytes, variant, tile, 1>();
    case 2:
        return kernel_at<log2_bytes, variant, tile, 2>();
    case 4:
        return kernel_at<log2_bytes, variant, tile, 4>();
    case 8:
        return kernel_at<log2_bytes, variant, tile, 8>();
    }
    return NULL;
}

template <int log2_bytes, int variant> static transpose_kernel kernel_for(const transpose_geometry &g)
{
    switch (g.tile) {
    case 8:
        return kernel_with<log2_bytes, variant, 8>(g.passes);
    case 16:
        return kernel_with<log2_bytes, variant, 16>(g.passes);
    case 32:
        return kernel_with<log2_bytes, variant, 32>(g.passes);
    case 64:
        return kernel_with<log2_bytes, variant, 64>(g.passes);
    }
    return NULL;
}

template <int log2_bytes> static transpose_kernel kernel_of_width(const transpose_geometry &g)
{
    switch (g.variant) {
    case TRANSPOSE_COPY:
        return copy_matrix<log2_bytes>;
    case TRANSPOSE_COPY_SHARED:
        return kernel_for<log2_bytes, TRANSPOSE_COPY_SHARED>(g);
    case TRANSPOSE_NAIVE_READ:
        return kernel_for<log2_bytes, TRANSPOSE_NAIVE_READ>(g);
    case TRANSPOSE_NAIVE_WRITE:
        return kernel_for<log2_bytes, TRANSPOSE_NAIVE_WRITE>(g);
    case TRANSPOSE_TILE:
    case TRANSPOSE_PADDED: /* the same code: the pitch is an argument */
        return kernel_for<log2_bytes, TRANSPOSE_TILE>(g);
    case TRANSPOSE_SWIZZLE:
        return kernel_for<log2_bytes, TRANSPOSE_SWIZZLE>(g);
    case TRANSPOSE_VECTOR:
        return kernel_for<log2_bytes, TRANSPOSE_VECTOR>(g);
    }
    return NULL;
}

static transpose_kernel kernel_of(const transpose_geometry &g)
{
    return g.bytes_log2 == 2 ? kernel_of_width<2>(g) : kernel_of_width<3>(g);
}

/* Buffers in the order of the footprint: source, destination. */
static int launch(const ub_launch *launch)
{
    transpose_geometry g;
    if (transpose_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    const transpose_kernel kernel = kernel_of(g);
    if (kernel == NULL)
        return (int)cudaErrorInvalidDeviceFunction;
    kernel<<<g.blocks, g.threads, transpose_shared_bytes(&g), (cudaStream_t)launch->stream>>>(
        launch->buffers->pointers[0], launch->buffers->pointers[1], g);
    return (int)cudaGetLastError();
}

static int launch_reference(const ub_launch *launch)
{
    transpose_geometry g;
    if (transpose_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    const bool copies = g.variant == TRANSPOSE_COPY || g.variant == TRANSPOSE_COPY_SHARED;
    (g.bytes_log2 == 2 ? reference<2>
                       : reference<3>)<<<REFERENCE_BLOCKS, REFERENCE_BLOCK, 0, (cudaStream_t)launch->stream>>>(
        launch->buffers->pointers[0], launch->buffers->pointers[1], g.n, g.m, transpose_region_bytes(&g) / g.bytes,
        copies, launch->results + UB_RESULT_MISMATCHES);
    return (int)cudaGetLastError();
}

static void describe(const ub_gpu *gpu, const ub_point *point, ub_kernel *out)
{
    *out = ub_kernel();
    transpose_geometry g;
    if (transpose_resolve(gpu, point, &g) != NULL)
        return;
    out->function = (const void *)kernel_of(g);
    out->name = g.variant == TRANSPOSE_COPY ? "copy_matrix" : "move_tiles";
    out->grid[0] = g.blocks;
    out->grid[1] = out->grid[2] = 1;
    out->block[0] = g.threads;
    out->block[1] = out->block[2] = 1;
    out->dynamic_shared_bytes = transpose_shared_bytes(&g);
}

extern "C" {
extern const struct ub_code ub_code_transpose;
const struct ub_code ub_code_transpose = {launch, launch_reference, describe};
}
