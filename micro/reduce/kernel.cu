/* SPDX-License-Identifier: MIT
 *
 * The device side of `reduce`: each thread adds up its elements, a block its threads, and
 * something the blocks. */
#include <cuda_runtime.h>

#include "micro/reduce/access.h"

enum { REFERENCE_BLOCK = 256, REFERENCE_BLOCKS = 1024 };

/* ---- elements of a thread ------------------------------------------------------------ */

template <typename T> static __device__ __forceinline__ T number(uint32_t bits);
template <> __device__ __forceinline__ uint32_t number<uint32_t>(uint32_t bits)
{
    return bits;
}
template <> __device__ __forceinline__ float number<float>(uint32_t bits)
{
    return __uint_as_float(bits);
}

template <int words> struct chunk_of;
template <> struct chunk_of<1> {
    typedef uint32_t type;
    template <typename T> static __device__ __forceinline__ T sum(type x)
    {
        return number<T>(x);
    }
};
template <> struct chunk_of<4> {
    typedef uint4 type;
    template <typename T> static __device__ __forceinline__ T sum(const type &x)
    {
        return (number<T>(x.x) + number<T>(x.y)) + (number<T>(x.z) + number<T>(x.w));
    }
};

/* What one load of a thread brings, where the array may end: whole if all of it is there,
 * else element by element. */
template <typename T, int words>
static __device__ T load_guarded(const uint32_t *__restrict__ source, uint64_t element, uint64_t n)
{
    typedef chunk_of<words> chunk;
    if (element + words <= n)
        return chunk::template sum<T>(*(const typename chunk::type *)(source + element));
    T sum = 0;
#pragma unroll 1
    for (; element < n; element++)
        sum += number<T>(source[element]);
    return sum;
}

/* All elements of a thread. REDUCE_AHEAD loads are on their way at a time. */
template <typename T, int words>
static __device__ __forceinline__ T load_all(const uint32_t *__restrict__ source, uint64_t n, uint32_t loads,
                                             uint32_t block_elements)
{
    typedef chunk_of<words> chunk;
    const uint32_t threads = blockDim.x;
    T sum = 0;
    if (reduce_whole(blockIdx.x, block_elements, n)) {
        const typename chunk::type *at =
            (const typename chunk::type *)(source +
                                           reduce_element(blockIdx.x, threadIdx.x, 0, threads, words, block_elements));
        uint32_t left = loads;
#pragma unroll 1
        for (; left >= REDUCE_AHEAD; left -= REDUCE_AHEAD) {
            typename chunk::type x[REDUCE_AHEAD];
#pragma unroll
            for (int i = 0; i < REDUCE_AHEAD; i++)
                x[i] = at[(size_t)i * threads];
#pragma unroll
            for (int i = 0; i < REDUCE_AHEAD; i++)
                sum += chunk::template sum<T>(x[i]);
            at += (size_t)REDUCE_AHEAD * threads;
        }
#pragma unroll 1
        for (; left != 0; left--, at += threads)
            sum += chunk::template sum<T>(*at);
        return sum;
    }
#pragma unroll 1
    for (uint32_t load = 0; load < loads; load++)
        sum += load_guarded<T, words>(source,
                                      reduce_element(blockIdx.x, threadIdx.x, load, threads, words, block_elements), n);
    return sum;
}

/* ---- threads of a block ---------------------------------------------------------------- */

/* The sum of a warp, in its first lane. */
template <typename T> static __device__ __forceinline__ T warp_sum(T value)
{
#pragma unroll
    for (int apart = REDUCE_LANES / 2; apart > 0; apart /= 2)
        value += __shfl_down_sync(0xFFFFFFFFu, value, apart);
    return value;
}

template <int phase, typename T> static __device__ __forceinline__ T warp_sum_by(T value)
{
#if __CUDA_ARCH__ >= 800
    if constexpr (phase == REDUCE_REDUX)
        return __reduce_add_sync(0xFFFFFFFFu, value);
#endif
    return warp_sum(value);
}

/* The three trees of textbooks, a barrier each step; the sum is then in shared[0]. */
template <int phase, typename T> static __device__ __forceinline__ void tree(T value, T *shared)
{
    const uint32_t thread = threadIdx.x, threads = blockDim.x;
    shared[thread] = value;
    __syncthreads();
    if constexpr (phase == REDUCE_SEQUENTIAL) {
#pragma unroll 1
        for (uint32_t apart = threads / 2; apart > 0; apart /= 2) {
            if (reduce_adds_sequential(thread, apart))
                shared[thread] += shared[thread + apart];
            __syncthreads();
        }
    } else {
#pragma unroll 1
        for (uint32_t apart = 1; apart < threads; apart *= 2) {
            const uint32_t word = phase == REDUCE_STRIDED ? reduce_word_strided(thread, apart) : thread;
            if (phase == REDUCE_STRIDED ? word < threads : reduce_adds_interleaved(thread, apart))
                shared[word] += shared[word + apart];
            __syncthreads();
        }
    }
}

/* Warps one by one, then the first warp with the sums of all. */
template <int phase, typename T> static __device__ __forceinline__ T two_level_sum(T value, T *shared)
{
    const uint32_t lane = threadIdx.x % REDUCE_LANES, warp = threadIdx.x / REDUCE_LANES;
    value = warp_sum_by<phase>(value);
    if (lane == 0)
        shared[warp] = value;
    __syncthreads();
    if (warp == 0)
        value = warp_sum_by<phase>(lane < blockDim.x / REDUCE_LANES ? shared[lane] : T(0));
    return value;
}

/* One atomic a thread; the sum is then in shared[0]. */
template <typename T> static __device__ __forceinline__ void add_atomically(T value, T *shared)
{
    if (threadIdx.x == 0)
        shared[0] = 0;
    __syncthreads();
    atomicAdd(shared, value);
    __syncthreads();
}

/* The sum of a block: of the two that are returned and left in shared[0], block_result()
 * chooses the right one. Only the first thread calls that. */
template <int phase, typename T> static __device__ __forceinline__ T block_sum(T value, T *shared)
{
    if constexpr (phase == REDUCE_INTERLEAVED || phase == REDUCE_STRIDED || phase == REDUCE_SEQUENTIAL)
        tree<phase>(value, shared);
    else if constexpr (phase == REDUCE_ATOMIC_SHARED)
        add_atomically(value, shared);
    else
        return two_level_sum<phase>(value, shared);
    return 0;
}

template <int phase, typename T> static __device__ __forceinline__ T block_result(T sum, const T *shared)
{
    /* volatile: else the compiler reads it in every warp before it knows whose it is */
    return phase == REDUCE_SHUFFLE || phase == REDUCE_REDUX ? sum : *(const volatile T *)shared;
}

/* Row by row: each load of the threads is a tree of its own in the same shared memory, of
 * which the first warp does the last part while the others go on. Between its reading and
 * their next writing there has to be a barrier: `guarded`. The next row is on its way
 * meanwhile, so that the others need not wait for it. */
template <typename T, int words, bool guarded>
static __device__ __forceinline__ T row_sums(const uint32_t *__restrict__ source, uint64_t n, uint32_t loads,
                                             uint32_t block_elements, T *shared)
{
    const uint32_t thread = threadIdx.x, threads = blockDim.x;
    T total = 0;
    T next = load_guarded<T, words>(source, reduce_element(blockIdx.x, thread, 0, threads, words, block_elements), n);
#pragma unroll 1
    for (uint32_t load = 0; load < loads; load++) {
        shared[thread] = next;
        if (load + 1 < loads)
            next = load_guarded<T, words>(
                source, reduce_element(blockIdx.x, thread, load + 1, threads, words, block_elements), n);
        __syncthreads();
#pragma unroll 1
        for (uint32_t apart = threads / 2; apart >= REDUCE_TAIL_ELEMENTS; apart /= 2) {
            if (thread < apart)
                shared[thread] += shared[thread + apart];
            __syncthreads();
        }
        if (thread < REDUCE_LANES) {
            T value = shared[thread];
            if (threads >= REDUCE_TAIL_ELEMENTS)
                value += shared[thread + REDUCE_LANES];
            total += warp_sum(value);
        }
        if (guarded)
            __syncthreads();
    }
    return total;
}

/* ---- blocks of the grid ------------------------------------------------------------------ */

/* The sums of all blocks, by one block: REDUCE_FINAL_AHEAD of a thread are on their way at a time. */
template <typename T> static __device__ __forceinline__ T partials_sum(const T *partials, uint32_t count, T *shared)
{
    const uint32_t threads = blockDim.x;
    T sum = 0;
    uint32_t i = threadIdx.x;
#pragma unroll 1
    for (; i + (REDUCE_FINAL_AHEAD - 1) * threads < count; i += REDUCE_FINAL_AHEAD * threads) {
        T x[REDUCE_FINAL_AHEAD];
#pragma unroll
        for (int a = 0; a < REDUCE_FINAL_AHEAD; a++)
            x[a] = __ldcg(partials + i + a * threads);
#pragma unroll
        for (int a = 0; a < REDUCE_FINAL_AHEAD; a++)
            sum += x[a];
    }
#pragma unroll 1
    for (; i < count; i += threads)
        sum += __ldcg(partials + i);
    return two_level_sum<REDUCE_SHUFFLE>(sum, shared);
}

/* Whether this block is the last to come here: all others' sums are then to be seen. */
static __device__ __forceinline__ bool is_last(uint32_t *ticket, bool *last)
{
    if (threadIdx.x == 0) {
        __threadfence();
        *last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1; /* back to 0 for the next launch */
        __threadfence();
    }
    __syncthreads();
    return *last;
}

/* Words of shared memory: one a thread, or one a warp. */
static constexpr __host__ __device__ int shared_words(int variant)
{
    return variant <= REDUCE_SEQUENTIAL || variant == REDUCE_REUSE || variant == REDUCE_MISSING_BARRIER
               ? REDUCE_BLOCK_MAX
               : REDUCE_LANES;
}

/* Under the lens: SHFL, REDUX, LDS and STS, ATOMS, RED, BAR. What makes variants differ is
 * known at compile time; all else is the same. */
template <int variant, typename T, int words>
static __global__ void __launch_bounds__(REDUCE_BLOCK_MAX)
    reduce(const uint32_t *__restrict__ source, uint64_t n, uint32_t loads, uint32_t block_elements, T *out,
           T *partials, uint32_t *ticket)
{
    __shared__ T shared[shared_words(variant)];
    if constexpr (variant == REDUCE_REUSE || variant == REDUCE_MISSING_BARRIER) {
        const T sum = row_sums<T, words, variant == REDUCE_REUSE>(source, n, loads, block_elements, shared);
        if (threadIdx.x == 0)
            atomicAdd(out, sum);
        return;
    }
    T sum = load_all<T, words>(source, n, loads, block_elements);
    if constexpr (variant == REDUCE_ATOMIC_THREAD) {
        atomicAdd(out, sum);
    } else if constexpr (variant == REDUCE_ATOMIC_WARP) {
        sum = warp_sum(sum);
        if (threadIdx.x % REDUCE_LANES == 0)
            atomicAdd(out, sum);
    } else if constexpr (variant == REDUCE_TWO_KERNELS) {
        sum = two_level_sum<REDUCE_SHUFFLE>(sum, shared);
        if (threadIdx.x == 0)
            partials[blockIdx.x] = sum;
    } else if constexpr (variant == REDUCE_LAST_BLOCK) {
        __shared__ bool last;
        sum = two_level_sum<REDUCE_SHUFFLE>(sum, shared);
        if (threadIdx.x == 0)
            partials[blockIdx.x] = sum;
        if (is_last(ticket, &last)) {
            sum = partials_sum(partials, gridDim.x, shared);
            if (threadIdx.x == 0)
                *out = sum;
        }
    } else {
        sum = block_sum<variant>(sum, shared);
        if (threadIdx.x == 0)
            atomicAdd(out, block_result<variant>(sum, shared));
    }
}

template <typename T> static __global__ void clear(T *out)
{
    *out = 0;
}

template <typename T>
static __global__ void __launch_bounds__(REDUCE_FINAL_BLOCK) add_partials(const T *partials, uint32_t count, T *out)
{
    __shared__ T shared[REDUCE_LANES];
    const T sum = partials_sum(partials, count, shared);
    if (threadIdx.x == 0)
        *out = sum;
}

/* The block phase alone, in one block, over and over: with the barrier that using the same
 * shared memory again asks for. */
template <int phase, typename T>
static __global__ void __launch_bounds__(REDUCE_BLOCK_MAX)
    block_phase(const uint32_t *__restrict__ source, T *out, uint32_t iterations, unsigned long long *cycles)
{
    __shared__ T shared[shared_words(phase)];
    const T value = number<T>(source[threadIdx.x]);
    T total = 0;
    __syncthreads();
    const long long start = clock64();
#pragma unroll 1
    do {
        const T sum = block_sum<phase>(value, shared);
        if (threadIdx.x == 0)
            total += block_result<phase>(sum, shared);
        __syncthreads();
    } while (--iterations > 0);
    const long long stop = clock64();
    if (threadIdx.x == 0) {
        *cycles = (unsigned long long)(stop - start);
        *out = total;
    }
}

/* ---- reference --------------------------------------------------------------------------- */

static __device__ long long units(uint32_t bits, bool whole)
{
    return whole ? (long long)bits : (long long)(__uint_as_float(bits) * REDUCE_UNITS_OF_ONE);
}

/* The exact sum, of floats in units of 2^-10, from end to end. */
static __global__ void exact_sum(const uint32_t *source, uint64_t n, bool whole, unsigned long long *sum)
{
    long long mine = 0;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (uint64_t)gridDim.x * blockDim.x)
        mine += units(source[i], whole);
    atomicAdd(sum, (unsigned long long)mine);
}

/* Both sums as the bits of an element; one within the bound is taken for right. */
static __global__ void compare(const uint32_t *out, bool whole, double bound, unsigned long long *results)
{
    const long long exact = (long long)results[UB_RESULT_EXPECTED];
    const double right = (double)exact / REDUCE_UNITS_OF_ONE;
    results[UB_RESULT_CHECKSUM] = *out;
    if (whole)
        results[UB_RESULT_EXPECTED] = (uint32_t)exact;
    else if (fabs((double)__uint_as_float(*out) - right) <= bound)
        results[UB_RESULT_EXPECTED] = *out;
    else
        results[UB_RESULT_EXPECTED] = __float_as_uint((float)right);
}

/* ---- launch ------------------------------------------------------------------------------ */

/* In the order of the footprint. */
enum { SOURCE, OUT, PARTIALS, TICKET };

template <typename T> struct launcher {
    typedef void (*kernel)(const uint32_t *, uint64_t, uint32_t, uint32_t, T *, T *, uint32_t *);
    typedef void (*phase_kernel)(const uint32_t *, T *, uint32_t, unsigned long long *);

    template <int words> static kernel of(uint32_t variant)
    {
        static const kernel kernels[REDUCE_VARIANTS] = {
            reduce<REDUCE_INTERLEAVED, T, words>,
            reduce<REDUCE_STRIDED, T, words>,
            reduce<REDUCE_SEQUENTIAL, T, words>,
            reduce<REDUCE_SHUFFLE, T, words>,
            redux<words>(T()),
            reduce<REDUCE_ATOMIC_SHARED, T, words>,
            reduce<REDUCE_ATOMIC_THREAD, T, words>,
            reduce<REDUCE_ATOMIC_WARP, T, words>,
            reduce<REDUCE_TWO_KERNELS, T, words>,
            reduce<REDUCE_LAST_BLOCK, T, words>,
            reduce<REDUCE_REUSE, T, words>,
            reduce<REDUCE_MISSING_BARRIER, T, words>,
        };
        return kernels[variant];
    }
    static kernel kernel_of(const reduce_geometry &g)
    {
        return g.words == 4 ? of<4>(g.variant) : of<1>(g.variant);
    }
    static phase_kernel phase_of(uint32_t variant)
    {
        static const phase_kernel kernels[REDUCE_PHASES] = {
            block_phase<REDUCE_INTERLEAVED, T>,
            block_phase<REDUCE_STRIDED, T>,
            block_phase<REDUCE_SEQUENTIAL, T>,
            block_phase<REDUCE_SHUFFLE, T>,
            redux_phase(T()),
            block_phase<REDUCE_ATOMIC_SHARED, T>,
        };
        return kernels[variant];
    }
    /* There is none for floats: such points are refused. */
    template <int words> static kernel redux(uint32_t)
    {
        return reduce<REDUCE_REDUX, uint32_t, words>;
    }
    template <int words> static kernel redux(float)
    {
        return NULL;
    }
    static phase_kernel redux_phase(uint32_t)
    {
        return block_phase<REDUCE_REDUX, uint32_t>;
    }
    static phase_kernel redux_phase(float)
    {
        return NULL;
    }

    static void launch(const reduce_geometry &g, const ub_launch &launch)
    {
        const cudaStream_t stream = (cudaStream_t)launch.stream;
        void *const *pointers = launch.buffers->pointers;
        const uint32_t *source = (const uint32_t *)pointers[SOURCE];
        T *out = (T *)pointers[OUT], *partials = (T *)pointers[PARTIALS];
        if (g.work == REDUCE_BLOCK_PHASE) {
            phase_of(g.variant)<<<1, g.block, 0, stream>>>(source, out, (uint32_t)launch.iterations,
                                                           launch.results + UB_RESULT_CYCLES);
            return;
        }
        if (reduce_clears(g.variant))
            clear<T><<<1, 1, 0, stream>>>(out);
        kernel_of(g)<<<g.blocks, g.block, 0, stream>>>(source, g.n, g.loads, g.block_elements, out, partials,
                                                       (uint32_t *)pointers[TICKET]);
        if (g.variant == REDUCE_TWO_KERNELS)
            add_partials<T><<<1, REDUCE_FINAL_BLOCK, 0, stream>>>(partials, g.blocks, out);
    }
    static const void *function(const reduce_geometry &g)
    {
        return g.work == REDUCE_BLOCK_PHASE ? (const void *)phase_of(g.variant) : (const void *)kernel_of(g);
    }
};

static int launch(const ub_launch *launch)
{
    reduce_geometry g;
    if (reduce_resolve(launch->gpu, launch->point, &g) != NULL || launch->iterations == 0 ||
        launch->iterations > UINT32_MAX)
        return (int)cudaErrorInvalidValue;
    if (g.type == REDUCE_INT)
        launcher<uint32_t>::launch(g, *launch);
    else
        launcher<float>::launch(g, *launch);
    return (int)cudaGetLastError();
}

static int check(const ub_launch *launch)
{
    reduce_geometry g;
    if (reduce_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    const cudaStream_t stream = (cudaStream_t)launch->stream;
    const bool whole = g.type == REDUCE_INT;
    exact_sum<<<REFERENCE_BLOCKS, REFERENCE_BLOCK, 0, stream>>>((const uint32_t *)launch->buffers->pointers[SOURCE],
                                                                g.n, whole, launch->results + UB_RESULT_EXPECTED);
    compare<<<1, 1, 0, stream>>>((const uint32_t *)launch->buffers->pointers[OUT], whole, reduce_bound(&g),
                                 launch->results);
    return (int)cudaGetLastError();
}

static void describe(const ub_gpu *gpu, const ub_point *point, ub_kernel *out)
{
    reduce_geometry g;
    *out = ub_kernel();
    if (reduce_resolve(gpu, point, &g) != NULL)
        return;
    out->function = g.type == REDUCE_INT ? launcher<uint32_t>::function(g) : launcher<float>::function(g);
    out->name = g.work == REDUCE_BLOCK_PHASE ? "block_phase" : "reduce";
    out->grid[0] = g.blocks;
    out->block[0] = g.block;
    out->grid[1] = out->grid[2] = out->block[1] = out->block[2] = 1;
}

extern "C" {
extern const struct ub_code ub_code_reduce;
const struct ub_code ub_code_reduce = {launch, check, describe};
}
