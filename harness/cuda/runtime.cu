/* SPDX-License-Identifier: MIT
 *
 * The harness's own kernels: seeded fill, clock stamps, spin. None is ever inside
 * a timed interval. */
#include <cuda_runtime.h>

#include "harness/cuda/fill.h"
#include "harness/cuda/runtime.h"

static __global__ void fill_words(enum ub_fill fill, uint64_t *words, uint64_t count, uint64_t seed)
{
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        words[i] = ub_fill_word(fill, i, seed);
}

static __device__ unsigned long long globaltimer_ns(void)
{
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

static __global__ void stamp(unsigned long long *out)
{
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    if (sm != 0)
        return;
    out[0] = (unsigned long long)clock64();
    out[1] = globaltimer_ns();
}

static __global__ void globaltimer_tick(unsigned long long *out)
{
    unsigned long long smallest = ~0ull;
    unsigned long long last = globaltimer_ns();
    for (int steps = 0; steps < 64;) {
        unsigned long long now = globaltimer_ns();
        if (now == last)
            continue;
        if (now - last < smallest)
            smallest = now - last;
        last = now;
        steps++;
    }
    out[0] = smallest;
}

static __global__ void read_all(const unsigned long long *words, unsigned long long count, unsigned long long *sink)
{
    unsigned long long every = ~0ull;
    unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        every &= words[i];
    if (every == ~0ull)
        *sink = every; /* never: no input byte is 0xFF */
}

static __global__ void empty(void)
{
}

static __global__ void spin(unsigned long long cycles)
{
    unsigned long long start = (unsigned long long)clock64();
    while ((unsigned long long)clock64() - start < cycles) {
    }
}

extern "C" int ub_runtime_version(void)
{
    return CUDART_VERSION;
}

extern "C" int ub_runtime_fill(void *pointer, uint64_t size_bytes, enum ub_fill fill, uint64_t seed, void *stream)
{
    cudaStream_t in = (cudaStream_t)stream;
    if (fill == UB_FILL_POISON || fill == UB_FILL_ZERO)
        return (int)cudaMemsetAsync(pointer, fill == UB_FILL_POISON ? 0xFF : 0, size_bytes, in);
    fill_words<<<4096, 256, 0, in>>>(fill, (uint64_t *)pointer, size_bytes / 8, seed);
    return (int)cudaGetLastError();
}

extern "C" int ub_runtime_stamp(unsigned long long *out, int sms, void *stream)
{
    stamp<<<(unsigned)sms, 1, 0, (cudaStream_t)stream>>>(out);
    return (int)cudaGetLastError();
}

extern "C" int ub_runtime_globaltimer_tick(unsigned long long *out, void *stream)
{
    globaltimer_tick<<<1, 1, 0, (cudaStream_t)stream>>>(out);
    return (int)cudaGetLastError();
}

extern "C" int ub_runtime_read(const void *pointer, uint64_t size_bytes, unsigned long long *sink, void *stream)
{
    read_all<<<1024, 256, 0, (cudaStream_t)stream>>>((const unsigned long long *)pointer, size_bytes / 8, sink);
    return (int)cudaGetLastError();
}

extern "C" int ub_runtime_empty(void *stream)
{
    empty<<<1, 32, 0, (cudaStream_t)stream>>>();
    return (int)cudaGetLastError();
}

extern "C" int ub_runtime_spin(unsigned long long cycles, int sms, void *stream)
{
    spin<<<(unsigned)sms * 2, 256, 0, (cudaStream_t)stream>>>(cycles);
    return (int)cudaGetLastError();
}

extern "C" int ub_runtime_attributes(const struct ub_kernel *kernel, int *registers, int *local_bytes,
                                     int *shared_bytes, int *resident_blocks, int *binary_version, int *ptx_version)
{
    cudaFuncAttributes attributes;
    cudaError_t code = cudaFuncGetAttributes(&attributes, kernel->function);
    if (code != cudaSuccess)
        return (int)code;
    *registers = attributes.numRegs;
    *local_bytes = (int)attributes.localSizeBytes;
    *shared_bytes = (int)(attributes.sharedSizeBytes + kernel->dynamic_shared_bytes);
    *binary_version = attributes.binaryVersion;
    *ptx_version = attributes.ptxVersion;
    int threads = (int)(kernel->block[0] * kernel->block[1] * kernel->block[2]);
    return (int)cudaOccupancyMaxActiveBlocksPerMultiprocessor(resident_blocks, kernel->function, threads,
                                                              kernel->dynamic_shared_bytes);
}

extern "C" const char *ub_runtime_error_name(int code)
{
    return cudaGetErrorName((cudaError_t)code);
}
