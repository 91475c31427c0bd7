/* SPDX-License-Identifier: MIT
 *
 * The device side of `block_size`: c = a + b, one element a thread, and a kernel that does
 * nothing in a grid of the same shape. */
#include <cuda_runtime.h>

#include "micro/block_size/access.h"

enum { REFERENCE_BLOCK = 256, REFERENCE_BLOCKS = 2048 };

static __device__ uint32_t sum_of(uint32_t a, uint32_t b)
{
    return a + b;
}

static __device__ uint4 sum_of(uint4 a, uint4 b)
{
    return make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/* Under the lens: how many threads a block has. Both loads are in flight together. The
 * numbers are integers, so that every sum is exact, whatever the random bytes are. */
template <typename element>
static __global__ void __maxnreg__(BLOCK_SIZE_REGISTERS)
    add(const element *__restrict__ a, const element *__restrict__ b, element *__restrict__ c, uint64_t elements)
{
    const uint64_t i = block_size_element(blockDim.x, blockIdx.x, threadIdx.x);
    if (i < elements)
        c[i] = sum_of(a[i], b[i]);
}

static __global__ void __maxnreg__(BLOCK_SIZE_REGISTERS) nothing(void)
{
}

/* The numbers one by one, whatever the width of an access was. */
static __global__ void compare(const uint32_t *a, const uint32_t *b, const uint32_t *c, uint64_t numbers,
                               unsigned long long *mismatches)
{
    unsigned long long wrong = 0;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < numbers;
         i += (uint64_t)gridDim.x * blockDim.x)
        wrong += c[i] - a[i] != b[i];
    if (wrong != 0)
        atomicAdd(mismatches, wrong);
}

static const void *function_of(const block_size_geometry &g)
{
    if (g.work == BLOCK_SIZE_EMPTY)
        return (const void *)nothing;
    return g.bytes == sizeof(uint4) ? (const void *)add<uint4> : (const void *)add<uint32_t>;
}

static int launch(const ub_launch *launch)
{
    block_size_geometry g;
    if (block_size_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    cudaStream_t stream = (cudaStream_t)launch->stream;
    void *const *vectors = launch->buffers->pointers;
    if (g.work == BLOCK_SIZE_EMPTY)
        nothing<<<g.blocks, g.threads, 0, stream>>>();
    else if (g.bytes == sizeof(uint4))
        add<<<g.blocks, g.threads, 0, stream>>>((const uint4 *)vectors[0], (const uint4 *)vectors[1],
                                                (uint4 *)vectors[2], g.elements);
    else
        add<<<g.blocks, g.threads, 0, stream>>>((const uint32_t *)vectors[0], (const uint32_t *)vectors[1],
                                                (uint32_t *)vectors[2], g.elements);
    return (int)cudaGetLastError();
}

static int check(const ub_launch *launch)
{
    block_size_geometry g;
    if (block_size_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    void *const *vectors = launch->buffers->pointers;
    if (g.work == BLOCK_SIZE_ADD)
        compare<<<REFERENCE_BLOCKS, REFERENCE_BLOCK, 0, (cudaStream_t)launch->stream>>>(
            (const uint32_t *)vectors[0], (const uint32_t *)vectors[1], (const uint32_t *)vectors[2], g.numbers,
            launch->results + UB_RESULT_MISMATCHES);
    return (int)cudaGetLastError();
}

static void describe(const ub_gpu *gpu, const ub_point *point, ub_kernel *out)
{
    block_size_geometry g;
    *out = ub_kernel();
    if (block_size_resolve(gpu, point, &g) != NULL)
        return;
    out->function = function_of(g);
    out->name = g.work == BLOCK_SIZE_EMPTY ? "nothing" : "add";
    out->grid[0] = g.blocks;
    out->block[0] = g.threads;
    out->grid[1] = out->grid[2] = out->block[1] = out->block[2] = 1;
}

extern "C" {
extern const struct ub_code ub_code_block_size;
const struct ub_code ub_code_block_size = {launch, check, describe};
}
