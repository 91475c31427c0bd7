/* SPDX-License-Identifier: MIT
 *
 * The device side of `bank_conflict`: one block, 32 warps, nothing but accesses to
 * shared memory between two readings of the SM clock.
 *
 * Under the lens: LDS, LDS.64, LDS.128; STS, STS.64, STS.128; LDSM.1, .2, .4. The
 * compiler would merge equal accesses and take loads out of the loop (ptxas does so
 * even with `asm volatile`, for which a shared load is a plain load: a first version
 * measured 0.33 cycles at any stride). Here it cannot: the accesses of an iteration
 * have different addresses, and from one iteration to the next the address grows by
 * `step`, an argument that is always 0 and that only the caller knows. What is loaded
 * is summed and the sums are stored; what is stored is copied out. There is no
 * reference kernel: the launch is so small that the host checks all of it (verify.c). */
#include <cuda_runtime.h>

#include "micro/bank_conflict/access.h"

static __device__ __forceinline__ uint32_t shared_address(const void *pointer)
{
    return (uint32_t)__cvta_generic_to_shared(pointer);
}

/* One access at a byte address of shared memory: loads fill `v`, stores write it. */
template <int op, int words> struct access;

template <> struct access<BANK_CONFLICT_LOAD, 1> {
    static __device__ __forceinline__ void at(uint32_t address, uint32_t *v)
    {
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v[0]) : "r"(address) : "memory");
    }
};
template <> struct access<BANK_CONFLICT_LOAD, 2> {
    static __device__ __forceinline__ void at(uint32_t address, uint32_t *v)
    {
        asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(v[0]), "=r"(v[1]) : "r"(address) : "memory");
    }
};
template <> struct access<BANK_CONFLICT_LOAD, 4> {
    static __device__ __forceinline__ void at(uint32_t address, uint32_t *v)
    {
        asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                     : "r"(address)
                     : "memory");
    }
};
template <> struct access<BANK_CONFLICT_STORE, 1> {
    static __device__ __forceinline__ void at(uint32_t address, const uint32_t *v)
    {
        asm volatile("st.shared.u32 [%0], %1;" : : "r"(address), "r"(v[0]) : "memory");
    }
};
template <> struct access<BANK_CONFLICT_STORE, 2> {
    static __device__ __forceinline__ void at(uint32_t address, const uint32_t *v)
    {
        asm volatile("st.shared.v2.u32 [%0], {%1, %2};" : : "r"(address), "r"(v[0]), "r"(v[1]) : "memory");
    }
};
template <> struct access<BANK_CONFLICT_STORE, 4> {
    static __device__ __forceinline__ void at(uint32_t address, const uint32_t *v)
    {
        asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};"
                     :
                     : "r"(address), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])
                     : "memory");
    }
};
template <> struct access<BANK_CONFLICT_LDMATRIX, 1> {
    static __device__ __forceinline__ void at(uint32_t address, uint32_t *v)
    {
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(v[0]) : "r"(address) : "memory");
    }
};
template <> struct access<BANK_CONFLICT_LDMATRIX, 2> {
    static __device__ __forceinline__ void at(uint32_t address, uint32_t *v)
    {
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                     : "=r"(v[0]), "=r"(v[1])
                     : "r"(address)
                     : "memory");
    }
};
template <> struct access<BANK_CONFLICT_LDMATRIX, 4> {
    static __device__ __forceinline__ void at(uint32_t address, uint32_t *v)
    {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                     : "r"(address)
                     : "memory");
    }
};

/* Loading kernels fill shared memory from `source` and leave in `out` the sums of each
 * thread, one for each word of an access. Storing kernels fill it with all-ones, write
 * key + (number of the word) into every word of their elements and copy all of it to
 * `out`. Cycles are those of the slowest warp: thread 0 waits for all before it reads
 * the clock. */
template <int op, int words>
static __global__ void __launch_bounds__(BANK_CONFLICT_THREADS)
    conflict(const uint32_t *__restrict__ source, uint32_t *__restrict__ out, const bank_conflict_geometry g,
             uint32_t iterations, uint32_t step, uint32_t key, unsigned long long *cycles)
{
    extern __shared__ __align__(128) uint32_t memory[];
    const uint32_t thread = threadIdx.x, region_words = g.region_bytes / 4;
#pragma unroll 1
    for (uint32_t word = thread; word < region_words; word += BANK_CONFLICT_THREADS)
        memory[word] = op == BANK_CONFLICT_STORE ? 0xFFFFFFFFu : source[word];

    const uint32_t element = bank_conflict_element(&g, thread / BANK_CONFLICT_LANES, thread % BANK_CONFLICT_LANES);
    uint32_t address = shared_address(memory) + element * g.unit_bytes;
    const uint32_t first_value = key + element * g.unit_bytes / 4;
    uint32_t sums[words] = {0};
    __syncthreads();
    const long long start = clock64();
#pragma unroll 1
    do {
#pragma unroll
        for (uint32_t k = 0; k < BANK_CONFLICT_UNROLL; k++) {
            uint32_t v[words];
            if (op == BANK_CONFLICT_STORE) {
#pragma unroll
                for (uint32_t i = 0; i < words; i++)
                    v[i] = first_value + k * (BANK_CONFLICT_APART_BYTES / 4) + i;
            }
            access<op, words>::at(address + k * BANK_CONFLICT_APART_BYTES, v);
            if (op != BANK_CONFLICT_STORE) {
#pragma unroll
                for (uint32_t i = 0; i < words; i++)
                    sums[i] += v[i];
            }
        }
        address += step;
    } while (--iterations > 0);
    __syncthreads();
    const long long stop = clock64();

    if (thread == 0)
        *cycles = (unsigned long long)(stop - start);
    if constexpr (op == BANK_CONFLICT_STORE) {
#pragma unroll 1
        for (uint32_t word = thread; word < region_words; word += BANK_CONFLICT_THREADS)
            out[word] = memory[word];
    } else {
#pragma unroll
        for (uint32_t i = 0; i < words; i++)
            out[thread * BANK_CONFLICT_SUMS + i] = sums[i];
    }
}

/* ---- launch ------------------------------------------------------------------ */

typedef void (*conflict_kernel)(const uint32_t *, uint32_t *, bank_conflict_geometry, uint32_t, uint32_t, uint32_t,
                                unsigned long long *);

static const conflict_kernel kernels[BANK_CONFLICT_OPS][BANK_CONFLICT_WIDTHS] = {
    {conflict<BANK_CONFLICT_LOAD, 1>, conflict<BANK_CONFLICT_LOAD, 2>, conflict<BANK_CONFLICT_LOAD, 4>},
    {conflict<BANK_CONFLICT_STORE, 1>, conflict<BANK_CONFLICT_STORE, 2>, conflict<BANK_CONFLICT_STORE, 4>},
    {conflict<BANK_CONFLICT_LDMATRIX, 1>, conflict<BANK_CONFLICT_LDMATRIX, 2>, conflict<BANK_CONFLICT_LDMATRIX, 4>},
};

static const char *const names[BANK_CONFLICT_OPS] = {"shared load", "shared store", "ldmatrix"};

static conflict_kernel kernel_of(const bank_conflict_geometry &g)
{
    return kernels[g.op][g.bytes_log2 - 2];
}

/* Buffers in the order of the footprint: store {out}, else {source, out}. */
static int launch(const ub_launch *launch)
{
    bank_conflict_geometry g;
    if (bank_conflict_resolve(launch->gpu, launch->point, &g) != NULL || launch->iterations == 0 ||
        launch->iterations > UINT32_MAX)
        return (int)cudaErrorInvalidValue;
    const bool stores = g.op == BANK_CONFLICT_STORE;
    const uint32_t *source = stores ? NULL : (const uint32_t *)launch->buffers->pointers[0];
    uint32_t *out = (uint32_t *)launch->buffers->pointers[stores ? 0 : 1];
    kernel_of(g)<<<1, BANK_CONFLICT_THREADS, g.region_bytes, (cudaStream_t)launch->stream>>>(
        source, out, g, (uint32_t)launch->iterations, 0, bank_conflict_key(launch->seed),
        launch->results + UB_RESULT_CYCLES);
    return (int)cudaGetLastError();
}

static void describe(const ub_gpu *gpu, const ub_point *point, ub_kernel *out)
{
    *out = ub_kernel();
    bank_conflict_geometry g;
    if (bank_conflict_resolve(gpu, point, &g) != NULL)
        return;
    out->function = (const void *)kernel_of(g);
    out->name = names[g.op];
    out->grid[0] = out->grid[1] = out->grid[2] = 1;
    out->block[0] = BANK_CONFLICT_THREADS;
    out->block[1] = out->block[2] = 1;
    out->dynamic_shared_bytes = g.region_bytes;
}

extern "C" {
extern const struct ub_code ub_code_bank_conflict;
const struct ub_code ub_code_bank_conflict = {launch, NULL, describe};
}
