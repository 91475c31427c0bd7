/* SPDX-License-Identifier: MIT
 *
 * The device side of `async_copy`: tiles go from global to shared memory in one of five
 * ways, and every thread works on what others have copied. */
#include <cuda.h> /* CUtensorMap: types only, the driver's function is asked for at run time */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#include "micro/async_copy/access.h"

enum { REFERENCE_BLOCK = 256, REFERENCE_BLOCKS = 4096 };

/* ---- the work ---------------------------------------------------------------------- */

/* Under the lens: FFMA, in four chains for each chunk. Factor and addend are one argument (1):
 * the compiler can neither shorten a chain nor replace it. */
template <int chunks> static __device__ __forceinline__ uint32_t work(const float4 *tile, uint32_t fmas, float one)
{
    float x[chunks][4];
#pragma unroll
    for (int c = 0; c < chunks; c++) {
        const float4 chunk = tile[copy_read(threadIdx.x, c, chunks)];
        x[c][0] = chunk.x, x[c][1] = chunk.y, x[c][2] = chunk.z, x[c][3] = chunk.w;
    }
#pragma unroll 1
    for (uint32_t left = fmas; left != 0; left -= COPY_FMAS_STEP)
#pragma unroll
        for (int i = 0; i < COPY_FMAS_STEP; i++)
#pragma unroll
            for (int n = 0; n < chunks * 4; n++)
                x[n / 4][n % 4] = __fmaf_rn(x[n / 4][n % 4], one, one);
    uint32_t all = 0;
#pragma unroll
    for (int n = 0; n < chunks * 4; n++)
        all += __float_as_uint(x[n / 4][n % 4]);
    return all;
}

/* ---- the ways ------------------------------------------------------------------------ */

/* A load that stays where it is written, whatever follows. */
static __device__ __forceinline__ uint4 load(const uint4 *at)
{
    uint4 value;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                 : "l"(at)
                 : "memory");
    return value;
}

static __device__ __forceinline__ uint32_t shared_address(const void *pointer)
{
    return (uint32_t)__cvta_generic_to_shared(pointer);
}

/* What all kernels are given. `report` is all ones in a checked launch and 0 otherwise; the
 * machine code is the same. */
struct copy_arguments {
    const uint4 *source;
    uint32_t tiles; /* of a block */
    uint32_t stages;
    uint32_t fmas;
    float one;
    uint32_t report;
    uint32_t *sum;
};

/* Of a tile. */
template <int chunks> struct tile_of {
    enum { CHUNKS = chunks * COPY_BLOCK, BYTES = CHUNKS * COPY_CHUNK_BYTES };
};

/* Where the tile of a step begins. */
template <int chunks> static __device__ __forceinline__ const uint4 *tile_at(const copy_arguments &a, uint32_t step)
{
    return a.source + (uint64_t)copy_tile(blockIdx.x, step, gridDim.x) * tile_of<chunks>::CHUNKS;
}

/* Modulo 2^32: it does not matter which thread had what. Without a check nothing is reported,
 * but for a sum that happens to be all ones, which nobody reads then: the compiler cannot
 * leave anything out. */
static __device__ __forceinline__ void report(const copy_arguments &a, uint32_t all)
{
    if ((all | a.report) == 0xFFFFFFFFu)
        atomicAdd(a.sum, all);
}

extern __shared__ __align__(128) uint4 ring[];

/* Under the lens: LDG, and STS that waits for it. With more than one stage the next tile
 * has a place of its own, which spares one barrier of two. */
template <int chunks>
static __global__ void __launch_bounds__(COPY_BLOCK, COPY_RESIDENT_MAX / chunks) synchronous(const copy_arguments a)
{
    uint32_t all = 0, stage = 0;
#pragma unroll 1
    for (uint32_t step = 0; step < a.tiles; step++) {
        uint4 *tile = ring + stage * tile_of<chunks>::CHUNKS;
        const uint4 *from = tile_at<chunks>(a, step);
        uint4 values[chunks];
#pragma unroll
        for (int c = 0; c < chunks; c++)
            values[c] = load(from + copy_written(threadIdx.x, c));
#pragma unroll
        for (int c = 0; c < chunks; c++)
            tile[copy_written(threadIdx.x, c)] = values[c];
        __syncthreads();
        all += work<chunks>((const float4 *)tile, a.fmas, a.one);
        if (a.stages == 1)
            __syncthreads();
        stage = stage + 1 == a.stages ? 0 : stage + 1;
    }
    report(a, all);
}

/* Under the lens: the same, the loads of the next tile before the work on this one: they
 * are on their way meanwhile, and the registers that they fill are taken. */
template <int chunks>
static __global__ void __launch_bounds__(COPY_BLOCK, COPY_RESIDENT_MAX / chunks) registers(const copy_arguments a)
{
    uint32_t all = 0;
    uint4 values[chunks];
#pragma unroll
    for (int c = 0; c < chunks; c++)
        values[c] = load(tile_at<chunks>(a, 0) + copy_written(threadIdx.x, c));
#pragma unroll 1
    for (uint32_t step = 0; step < a.tiles; step++) {
#pragma unroll
        for (int c = 0; c < chunks; c++)
            ring[copy_written(threadIdx.x, c)] = values[c];
        __syncthreads();
        if (step + 1 < a.tiles)
#pragma unroll
            for (int c = 0; c < chunks; c++)
                values[c] = load(tile_at<chunks>(a, step + 1) + copy_written(threadIdx.x, c));
        all += work<chunks>((const float4 *)ring, a.fmas, a.one);
        __syncthreads();
    }
    report(a, all);
}

template <int chunks>
static __device__ __forceinline__ void copy_async(const copy_arguments &a, uint32_t step, const uint4 *tile)
{
    const uint4 *from = tile_at<chunks>(a, step);
#pragma unroll
    for (int c = 0; c < chunks; c++) {
        const uint32_t at = copy_written(threadIdx.x, c), to = shared_address(tile + at);
#if __CUDA_ARCH__ >= 800
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from + at) : "memory");
#else
        (void)from, (void)to;
#endif
    }
}

static __device__ __forceinline__ void commit()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* All groups have come but the last `left`. */
template <int left> static __device__ __forceinline__ void wait_group()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
#endif
}

/* Under the lens: LDGSTS. A tile is a group, empty ones included, so that the number of groups
 * that may be on their way is the same at every step. As soon as all threads are through
 * with a tile, its place is filled anew. */
template <int chunks, int stages>
static __global__ void __launch_bounds__(COPY_BLOCK, COPY_RESIDENT_MAX / chunks) cp_async(const copy_arguments a)
{
    uint32_t all = 0, stage = 0;
#pragma unroll
    for (uint32_t s = 0; s < stages; s++) {
        if (s < a.tiles)
            copy_async<chunks>(a, s, ring + s * tile_of<chunks>::CHUNKS);
        commit();
    }
#pragma unroll 1
    for (uint32_t step = 0; step < a.tiles; step++) {
        uint4 *tile = ring + stage * tile_of<chunks>::CHUNKS;
        wait_group<stages - 1>();
        __syncthreads();
        all += work<chunks>((const float4 *)tile, a.fmas, a.one);
        __syncthreads();
        if (step + stages < a.tiles)
            copy_async<chunks>(a, step + stages, tile);
        commit();
        stage = stage + 1 == stages ? 0 : stage + 1;
    }
    report(a, all);
}

/* ---- bulk copies ---------------------------------------------------------------------- */

static __device__ __forceinline__ void barrier_init(uint64_t *barrier)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
#endif
}

/* The copies, which do not see memory as threads do, see the barriers. */
static __device__ __forceinline__ void barriers_ready()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/* The phase ends when so many bytes have come. */
static __device__ __forceinline__ void expect(uint64_t *barrier, uint32_t bytes)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
#endif
}

static __device__ __forceinline__ void wait_for(uint64_t *barrier, uint32_t phase)
{
#if __CUDA_ARCH__ >= 900
    uint32_t done = 0;
    do
        asm volatile("{\n\t.reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(done)
                     : "r"(shared_address(barrier)), "r"(phase)
                     : "memory");
    while (done == 0);
#endif
}

/* One thread asks for a whole tile. */
template <int chunks, bool tensor>
static __device__ __forceinline__ void copy_bulk(const copy_arguments &a, const CUtensorMap &map, uint32_t step,
                                                 const uint4 *tile, uint64_t *barrier)
{
    const uint32_t to = shared_address(tile), counts = shared_address(barrier), bytes = tile_of<chunks>::BYTES;
    const uint32_t row = copy_tile(blockIdx.x, step, gridDim.x) * (bytes / COPY_ROW_BYTES);
    expect(barrier, bytes);
#if __CUDA_ARCH__ >= 900
    if (tensor)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                     "l"(&map), "r"(0), "r"(row), "r"(counts)
                     : "memory");
    else
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
            "l"(tile_at<chunks>(a, step)), "r"(bytes), "r"(counts)
            : "memory");
#else
    (void)a, (void)map, (void)to, (void)counts, (void)row;
#endif
}

/* Under the lens: UTMALDG or UBLKCP, and SYNCS. All threads wait at the barrier of the stage, which
 * counts bytes; behind the work, one __syncthreads() says that its place is free. */
template <int chunks, bool tensor>
static __global__ void __launch_bounds__(COPY_BLOCK, COPY_RESIDENT_MAX / chunks)
    bulk(const copy_arguments a, const __grid_constant__ CUtensorMap map)
{
    uint64_t *barriers = (uint64_t *)(ring + a.stages * tile_of<chunks>::CHUNKS);
    uint32_t all = 0, stage = 0, phase = 0;
    if (threadIdx.x == 0) {
#pragma unroll 1
        for (uint32_t s = 0; s < a.stages; s++)
            barrier_init(barriers + s);
        barriers_ready();
#pragma unroll 1
        for (uint32_t s = 0; s < a.stages && s < a.tiles; s++)
            copy_bulk<chunks, tensor>(a, map, s, ring + s * tile_of<chunks>::CHUNKS, barriers + s);
    }
    __syncthreads();
#pragma unroll 1
    for (uint32_t step = 0; step < a.tiles; step++) {
        uint4 *tile = ring + stage * tile_of<chunks>::CHUNKS;
        wait_for(barriers + stage, phase);
        all += work<chunks>((const float4 *)tile, a.fmas, a.one);
        __syncthreads();
        if (threadIdx.x == 0 && step + a.stages < a.tiles)
            copy_bulk<chunks, tensor>(a, map, step + a.stages, tile, barriers + stage);
        stage++;
        if (stage == a.stages) {
            stage = 0;
            phase ^= 1;
        }
    }
    report(a, all);
}

/* ---- the reference ---------------------------------------------------------------------- */

/* The same sum, element by element through the source from end to end. */
static __global__ void walk_through(const float *source, uint64_t elements, uint32_t fmas, float one,
                                    uint32_t *expected)
{
    uint32_t sum = 0;
    for (uint64_t e = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; e < elements;
         e += (uint64_t)gridDim.x * blockDim.x) {
        float x = source[e];
        for (uint32_t i = 0; i < fmas; i++)
            x = __fmaf_rn(x, one, one);
        sum += __float_as_uint(x);
    }
    atomicAdd(expected, sum);
}

/* ---- launch ------------------------------------------------------------------------------ */

/* All kernels with so many chunks: of a way, and for cp.async of so many stages. */
template <int chunks> static const void *function_of_width(const copy_geometry &g)
{
    static const void *const copies[COPY_STAGES_MAX] = {
        (const void *)cp_async<chunks, 1>, (const void *)cp_async<chunks, 2>, (const void *)cp_async<chunks, 3>,
        (const void *)cp_async<chunks, 4>};
    switch (g.way) {
    case COPY_SYNCHRONOUS:
        return (const void *)synchronous<chunks>;
    case COPY_REGISTERS:
        return (const void *)registers<chunks>;
    case COPY_CP_ASYNC:
        return copies[g.stages - 1];
    case COPY_BULK:
        return (const void *)bulk<chunks, true>;
    default:
        return (const void *)bulk<chunks, false>;
    }
}

static const void *function_of(const copy_geometry &g)
{
    switch (g.chunks) {
    case 1:
        return function_of_width<1>(g);
    case 2:
        return function_of_width<2>(g);
    default:
        return function_of_width<4>(g);
    }
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

typedef decltype(&cuTensorMapEncodeTiled) encode_function;

/* The driver's function, of which the runtime has no other form; NULL: the driver has none. */
static encode_function find_encode()
{
    enum { SINCE = 12000 };
    void *found = NULL;
    cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, SINCE, cudaEnableDefault, &result) !=
            cudaSuccess ||
        result != cudaDriverEntryPointSuccess) {
        (void)cudaGetLastError();
        return NULL;
    }
    return (encode_function)found;
}

/* The source as a tensor of rows of 256 elements, of which a tile is a box, row after row. */
static CUresult encode(encode_function function, const copy_geometry &g, void *source, CUtensorMap *out)
{
    const cuuint64_t size[] = {COPY_ROW_BYTES / COPY_ELEMENT_BYTES, g.size_bytes / COPY_ROW_BYTES};
    const cuuint64_t apart_bytes[] = {COPY_ROW_BYTES};
    const cuuint32_t box[] = {COPY_ROW_BYTES / COPY_ELEMENT_BYTES, g.tile_bytes / COPY_ROW_BYTES}, each[] = {1, 1};
    return function(out, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, source, size, apart_bytes, box, each,
                    CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static int prepare(const ub_launch *launch, ub_prepared *out)
{
    copy_geometry g;
    if (copy_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    const cudaError_t code = opt_in(function_of(g));
    if (code != cudaSuccess || g.way != COPY_BULK)
        return (int)code;
    const encode_function function = find_encode();
    if (function == NULL) {
        snprintf(out->skip, sizeof out->skip, "the driver has no cuTensorMapEncodeTiled()");
        return (int)cudaSuccess;
    }
    CUtensorMap *map = (CUtensorMap *)aligned_alloc(alignof(CUtensorMap), sizeof(CUtensorMap));
    if (map == NULL)
        return (int)cudaErrorMemoryAllocation;
    const CUresult refused = encode(function, g, launch->buffers->pointers[0], map);
    if (refused != CUDA_SUCCESS) {
        snprintf(out->skip, sizeof out->skip, "cuTensorMapEncodeTiled() says %d", (int)refused);
        free(map);
        return (int)cudaSuccess;
    }
    out->state = map;
    return (int)cudaSuccess;
}

static int launch(const ub_launch *launch)
{
    copy_geometry g;
    if (copy_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    copy_arguments a = {(const uint4 *)launch->buffers->pointers[0],
                        g.tiles,
                        g.stages,
                        g.fmas,
                        1,
                        launch->checked ? 0xFFFFFFFFu : 0,
                        (uint32_t *)(launch->results + UB_RESULT_CHECKSUM)};
    CUtensorMap unused = CUtensorMap();
    void *arguments[] = {&a, launch->state != NULL ? launch->state : &unused}; /* the second only of bulk<> */
    return (int)cudaLaunchKernel(function_of(g), dim3(g.blocks), dim3(COPY_BLOCK), arguments, g.shared_bytes,
                                 (cudaStream_t)launch->stream);
}

static int check(const ub_launch *launch)
{
    copy_geometry g;
    if (copy_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    walk_through<<<REFERENCE_BLOCKS, REFERENCE_BLOCK, 0, (cudaStream_t)launch->stream>>>(
        (const float *)launch->buffers->pointers[0], copy_elements(&g), g.fmas, 1,
        (uint32_t *)(launch->results + UB_RESULT_EXPECTED));
    return (int)cudaGetLastError();
}

static void describe(const ub_gpu *gpu, const ub_point *point, ub_kernel *out)
{
    static const char *const names[COPY_WAYS] = {"synchronous", "registers", "cp_async", "bulk", "bulk"};
    copy_geometry g;
    *out = ub_kernel();
    if (copy_resolve(gpu, point, &g) != NULL)
        return;
    out->function = function_of(g);
    out->name = names[g.way];
    out->grid[0] = g.blocks;
    out->block[0] = COPY_BLOCK;
    out->grid[1] = out->grid[2] = out->block[1] = out->block[2] = 1;
    out->dynamic_shared_bytes = g.shared_bytes;
}

extern "C" {
extern const struct ub_code ub_code_async_copy;
const struct ub_code ub_code_async_copy = {launch, check, describe, prepare, free};
}
