/* SPDX-License-Identifier: MIT
 *
 * The device side of `sync`: loops of nothing but barriers between two readings of the SM's
 * clock, and kernels that do nothing, for whose end the host waits.
 *
 * Two loops run one after the other, of which the first has twice as many barriers an
 * iteration: their difference is the barriers alone, without counter and jump. In a checked
 * launch each party leaves a number before the barriers of an iteration, one of them late, and
 * reads that of another after them. The same barriers run in both cases.
 *
 * Several blocks, or groups, on an SM are not served alike: those that came first are ahead.
 * There all of the time counts, until the last has ended. */
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#include "micro/sync/access.h"

/* What one operation needs, and what it changes. */
struct operand {
    uint32_t value; /* shuffle, vote: handed on */
    uint32_t a, b;  /* named: barrier, threads; shuffle: lane; vote: bit; fence: what is written */
    uint32_t *data; /* fence: where */
};

template <int op, bool kept> static __device__ __forceinline__ void operate(operand &o)
{
    if (!kept)
        return;
    if (op == SYNC_OP_BLOCK)
        __syncthreads();
    if (op == SYNC_OP_NAMED)
        asm volatile("bar.sync %0, %1;" : : "r"(o.a), "r"(o.b) : "memory");
    if (op == SYNC_OP_WARP)
        __syncwarp();
    if (op == SYNC_OP_SHUFFLE)
        o.value = __shfl_sync(0xFFFFFFFFu, o.value, (int)o.a);
    if (op == SYNC_OP_VOTE)
        o.value = __ballot_sync(0xFFFFFFFFu, (o.value & o.a) != 0);
#if __CUDA_ARCH__ >= 900
    if (op == SYNC_OP_CLUSTER)
        asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" : : : "memory");
    if (op == SYNC_OP_CLUSTER_RELAXED)
        asm volatile("barrier.cluster.arrive.relaxed.aligned;\n\tbarrier.cluster.wait.aligned;" : : : "memory");
#endif
    if (op == SYNC_OP_GRID)
        cooperative_groups::this_grid().sync();
    if (op >= SYNC_OP_FENCE_BLOCK && op <= SYNC_OP_FENCE_SYSTEM)
        asm volatile("st.global.u32 [%0], %1;" : : "l"(o.data), "r"(o.b) : "memory");
    if (op == SYNC_OP_FENCE_BLOCK)
        __threadfence_block();
    if (op == SYNC_OP_FENCE_DEVICE)
        __threadfence();
    if (op == SYNC_OP_FENCE_SYSTEM)
        __threadfence_system();
}

static __device__ __forceinline__ void wait_cycles(uint32_t cycles)
{
    const long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

/* Who a thread is among those that a barrier waits for, and where they leave their numbers. */
struct place {
    volatile uint32_t *slots;
    uint32_t party, parties, lane, late_cycles;
    bool speaks; /* for its party */
};

template <int op> static __device__ __forceinline__ void leave(const place &p, uint32_t time)
{
    if (sync_is_late(p.party, p.parties, time))
        wait_cycles(p.late_cycles);
    if (p.speaks)
        p.slots[sync_slot(p.party, p.parties, time)] = sync_number(p.party, p.parties, time);
    if (op == SYNC_OP_CLUSTER_RELAXED) /* whose arrival orders no memory */
        __threadfence();
}

static __device__ __forceinline__ uint32_t read(const place &p, uint32_t time)
{
    return p.slots[sync_slot(sync_peer(p.party, p.parties, p.lane), p.parties, time)];
}

/* `checked`: all ones in a checked launch, else 0. */
template <int op, bool kept, int operations>
static __device__ __forceinline__ long long loop(operand &o, const place &p, uint32_t iterations, uint32_t checked,
                                                 uint32_t &time, unsigned long long &sum)
{
    const long long start = clock64();
#pragma unroll 1
    do {
        if ((iterations & checked) != 0)
            leave<op>(p, time);
#pragma unroll
        for (int i = 0; i < operations; i++)
            operate<op, kept>(o);
        if ((iterations & checked) != 0)
            sum += read(p, time++);
    } while (--iterations > 0);
    return clock64() - start;
}

struct job {
    uint32_t groups, parties, late_cycles, iterations, checked;
    bool crowded;                /* several barriers on an SM */
    uint32_t *slots;             /* in global memory */
    unsigned long long *answers; /* a word for each thread */
    unsigned long long *cycles;
};

template <int op> static __device__ __forceinline__ place place_of(const job &j, uint32_t *shared)
{
    const uint32_t warp = threadIdx.x / SYNC_LANES, lane = threadIdx.x % SYNC_LANES;
    place p = {shared, warp, j.parties, lane, j.late_cycles, lane == 0};
    if (op == SYNC_OP_NAMED) {
        p.party = warp % j.parties;
        p.slots = shared + warp / j.parties * 2 * j.parties;
    }
    if (op == SYNC_OP_WARP || op == SYNC_OP_SHUFFLE || op == SYNC_OP_VOTE) {
        p.party = lane;
        p.lane = 0;
        p.slots = shared + warp * 2 * SYNC_LANES;
        p.speaks = true;
    }
    if (op >= SYNC_OP_CLUSTER) {
        p.slots = j.slots;
        p.party = blockIdx.x;
        p.speaks = threadIdx.x == 0;
    }
    return p;
}

template <int op> static __device__ __forceinline__ operand operand_of(const job &j)
{
    operand o = {threadIdx.x + 1, 0, 0, NULL};
    if (op == SYNC_OP_NAMED) {
        o.a = threadIdx.x / SYNC_LANES / j.parties;
        o.b = j.parties * SYNC_LANES;
    }
    if (op == SYNC_OP_SHUFFLE)
        o.a = (threadIdx.x + 1) % SYNC_LANES;
    if (op == SYNC_OP_VOTE) {
        o.value = SYNC_VOTES;
        o.a = 1u << (threadIdx.x + 1) % SYNC_LANES;
    }
    return o;
}

template <int op> struct steps {
    enum {
        count = op == SYNC_OP_GRID                            ? SYNC_STEPS_GRID
                : op >= SYNC_OP_CLUSTER                       ? SYNC_STEPS_CLUSTER
                : op == SYNC_OP_SHUFFLE || op == SYNC_OP_VOTE ? SYNC_STEPS_LANES
                : op == SYNC_OP_WARP                          ? SYNC_STEPS_WARP
                                                              : SYNC_STEPS_BLOCK
    };
};

/* Under the lens: BAR.SYNC, NOP, SHFL, VOTE, UCGABAR, or what grid.sync() is made of. */
template <int op, bool kept> static __global__ void __launch_bounds__(SYNC_BLOCK_MOST) synchronise(const job j)
{
    extern __shared__ uint32_t shared[];
    const int operations = steps<op>::count;
    const place p = place_of<op>(j, shared);
    operand o = operand_of<op>(j);
    if (op < SYNC_OP_CLUSTER) { /* what another kernel left there is nothing */
        shared[threadIdx.x] = shared[blockDim.x + threadIdx.x] = 0;
        __syncthreads();
    }
    /* Never so. ptxas counts a barrier whose number is in a register as barrier 0 alone: this one
     * makes a block ask for all sixteen. */
    if (op == SYNC_OP_NAMED && j.groups > SYNC_GROUPS_MOST)
        asm volatile("bar.sync 15;" : : : "memory");
    uint32_t time = 0;
    unsigned long long sum = 0;
    const long long two = loop<op, kept, 2 * operations>(o, p, j.iterations, j.checked, time, sum);
    const long long one = loop<op, kept, operations>(o, p, j.iterations, j.checked, time, sum);
    if (op == SYNC_OP_SHUFFLE || op == SYNC_OP_VOTE)
        sum = o.value;
    j.answers[blockIdx.x * blockDim.x + threadIdx.x] = sum;
    if (op == SYNC_OP_NAMED ? p.party == 0 && p.lane == 0 : threadIdx.x == 0)
        asm volatile("red.global.max.u64 [%0], %1;"
                     :
                     : "l"(j.cycles), "l"((unsigned long long)(j.crowded ? (two + one) / 3 : two - one))
                     : "memory");
}

/* ---- fences ------------------------------------------------------------------------ */

/* The other side of a checked launch: waits until the writer says that it has written, and
 * reads what. Its own fence stands between both reads. */
static __device__ __forceinline__ void read_along(const job &j)
{
    volatile uint32_t *slots = j.slots;
    unsigned long long sum = 0;
    for (uint32_t time = 0; time < SYNC_LOOPS * SYNC_ROUNDS; time++) {
        while (slots[SYNC_FENCE_FLAG] != time + 1) {
        }
        __threadfence_system();
        sum += slots[SYNC_FENCE_DATA + threadIdx.x % SYNC_LANES];
        __syncwarp();
        slots[SYNC_FENCE_READ] = time + 1;
    }
    j.answers[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static __device__ __forceinline__ void hand_over(const job &j, operand &o, uint32_t time)
{
    volatile uint32_t *slots = j.slots;
    slots[SYNC_FENCE_FLAG] = time + 1;
    while (slots[SYNC_FENCE_READ] != time + 1) {
    }
    o.b += SYNC_LANES;
}

template <int op, int operations>
static __device__ __forceinline__ long long loop_fences(const job &j, operand &o, uint32_t &time)
{
    uint32_t iterations = j.iterations;
    const long long start = clock64();
#pragma unroll 1
    do {
#pragma unroll
        for (int i = 0; i < operations; i++)
            operate<op, true>(o);
        if ((iterations & j.checked) != 0)
            hand_over(j, o, time++);
    } while (--iterations > 0);
    return clock64() - start;
}

/* Under the lens: a store and MEMBAR. The first warp of the first block writes; in a checked
 * launch its second warp (fence_block), or the first warp of the other block, reads. */
template <int op> static __global__ void __launch_bounds__(SYNC_BLOCK_MOST) fence(const job j)
{
    const uint32_t warp = threadIdx.x / SYNC_LANES, lane = threadIdx.x % SYNC_LANES;
    const bool reads = op == SYNC_OP_FENCE_BLOCK ? blockIdx.x == 0 && warp == 1 : blockIdx.x == 1 && warp == 0;
    if (reads && j.checked != 0)
        read_along(j);
    if (blockIdx.x != 0 || warp != 0)
        return;
    operand o = {0, 0, lane + 1, j.slots + SYNC_FENCE_DATA + lane};
    uint32_t time = 0;
    const long long two = loop_fences<op, 2 * SYNC_STEPS_FENCE>(j, o, time);
    const long long one = loop_fences<op, SYNC_STEPS_FENCE>(j, o, time);
    j.answers[threadIdx.x] = time;
    if (threadIdx.x == 0)
        *j.cycles = (unsigned long long)(two - one);
}

/* ---- the host -------------------------------------------------------------------------- */

/* Nothing, or in a checked launch one link of a chain that shows in which order and how often
 * this ran, late enough that a host that does not wait comes too early. */
static __global__ void empty(unsigned long long *chain, uint32_t number)
{
    if (chain != NULL && threadIdx.x == 0) {
        wait_cycles(SYNC_DELAY_GLOBAL_CYCLES);
        *chain = *chain * 3 + number;
    }
}

/* What the host found after it had waited. */
static __global__ void note(unsigned long long *done, unsigned long long value)
{
    *done = value;
}

struct host_state {
    cudaEvent_t event;
    cudaGraphExec_t graphs[2]; /* [checked] */
};

static cudaError_t launch_empty(const sync_geometry &g, unsigned long long *chain, cudaStream_t stream)
{
    for (uint32_t i = 0; i < g.launches; i++)
        empty<<<1, g.threads, 0, stream>>>(chain, i + 1);
    return cudaGetLastError();
}

static cudaError_t make_graph(const sync_geometry &g, unsigned long long *chain, cudaStream_t stream,
                              cudaGraphExec_t *out)
{
    cudaGraph_t graph = NULL;
    cudaError_t code = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (code != cudaSuccess)
        return code;
    const cudaError_t launched = launch_empty(g, chain, stream);
    code = cudaStreamEndCapture(stream, &graph); /* must end in any case */
    if (code == cudaSuccess)
        code = launched != cudaSuccess ? launched : cudaGraphInstantiate(out, graph, 0);
    if (graph != NULL)
        cudaGraphDestroy(graph);
    return code;
}

static cudaError_t wait_for(const sync_geometry &g, const host_state *state, cudaStream_t stream)
{
    cudaError_t code;
    if (g.left_out)
        return cudaSuccess;
    switch (g.op) {
    case SYNC_OP_DEVICE:
        return cudaDeviceSynchronize();
    case SYNC_OP_EVENT_SPIN:
    case SYNC_OP_EVENT_BLOCK:
        code = cudaEventRecord(state->event, stream);
        return code != cudaSuccess ? code : cudaEventSynchronize(state->event);
    default:
        return cudaStreamSynchronize(stream);
    }
}

static cudaError_t launch_host(const ub_launch *launch, const sync_geometry &g)
{
    const host_state *state = (const host_state *)launch->state;
    unsigned long long *answers = (unsigned long long *)launch->buffers->pointers[0];
    cudaStream_t stream = (cudaStream_t)launch->stream;
    unsigned long long *chain = launch->checked ? answers + SYNC_HOST_CHAIN : NULL;
    cudaError_t code = g.op == SYNC_OP_GRAPH ? cudaGraphLaunch(state->graphs[launch->checked], stream)
                                             : launch_empty(g, chain, stream);
    if (code == cudaSuccess)
        code = wait_for(g, state, stream);
    if (code != cudaSuccess || !launch->checked)
        return code;
    const cudaError_t left = cudaStreamQuery(stream);
    if (left != cudaSuccess && left != cudaErrorNotReady)
        return left;
    note<<<1, 1, 0, stream>>>(answers + SYNC_HOST_DONE, left == cudaSuccess);
    return cudaGetLastError();
}

/* ---- launch ------------------------------------------------------------------------------ */

typedef void (*kernel_function)(job);

static const kernel_function kernels[SYNC_DEVICE_OPS][2] = {
    {synchronise<SYNC_OP_BLOCK, true>, synchronise<SYNC_OP_BLOCK, false>},
    {synchronise<SYNC_OP_NAMED, true>, synchronise<SYNC_OP_NAMED, false>},
    {synchronise<SYNC_OP_WARP, true>, NULL},
    {synchronise<SYNC_OP_SHUFFLE, true>, NULL},
    {synchronise<SYNC_OP_VOTE, true>, NULL},
    {synchronise<SYNC_OP_CLUSTER, true>, synchronise<SYNC_OP_CLUSTER, false>},
    {synchronise<SYNC_OP_CLUSTER_RELAXED, true>, NULL},
    {synchronise<SYNC_OP_GRID, true>, synchronise<SYNC_OP_GRID, false>},
    {fence<SYNC_OP_FENCE_BLOCK>, NULL},
    {fence<SYNC_OP_FENCE_DEVICE>, NULL},
    {fence<SYNC_OP_FENCE_SYSTEM>, NULL},
};

static const char *const names[SYNC_OPS] = {
    "block barrier",
    "named barrier",
    "warp barrier",
    "shuffle",
    "vote",
    "cluster barrier",
    "relaxed cluster barrier",
    "grid barrier",
    "block fence",
    "device fence",
    "system fence",
    "stream wait",
    "device wait",
    "event spin",
    "event block",
    "launches",
    "graph",
};

static const void *function_of(const sync_geometry &g)
{
    return sync_is_host(&g) ? (const void *)empty : (const void *)kernels[g.op][g.left_out];
}

/* Grid, block, shared memory, and the attributes that make a launch cooperative or of clusters. */
static void configure(const sync_geometry &g, cudaLaunchConfig_t *config, cudaLaunchAttribute *attribute)
{
    *config = cudaLaunchConfig_t();
    config->gridDim = g.blocks;
    config->blockDim = g.threads;
    config->dynamicSmemBytes = g.shared_bytes;
    config->attrs = attribute;
    if (g.op == SYNC_OP_GRID) {
        attribute->id = cudaLaunchAttributeCooperative;
        attribute->val.cooperative = 1;
        config->numAttrs = 1;
    }
    if (sync_is_cluster(&g)) {
        attribute->id = cudaLaunchAttributeClusterDimension;
        attribute->val.clusterDim.x = g.cluster;
        attribute->val.clusterDim.y = attribute->val.clusterDim.z = 1;
        config->numAttrs = 1;
    }
}

/* What the kernel may have beyond the defaults: all of the shared memory, clusters of 16. */
static cudaError_t allow(const ub_gpu *gpu, const sync_geometry &g)
{
    cudaError_t code = cudaSuccess;
    if (g.shared_bytes > 0) {
        code = cudaFuncSetAttribute(function_of(g), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    (int)gpu->shared_per_block_optin_bytes);
        if (code == cudaSuccess)
            code = cudaFuncSetAttribute(function_of(g), cudaFuncAttributePreferredSharedMemoryCarveout,
                                        cudaSharedmemCarveoutMaxShared);
    }
    if (sync_is_cluster(&g) && code == cudaSuccess)
        code = cudaFuncSetAttribute(function_of(g), cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    return code;
}

static int launch(const ub_launch *launch)
{
    sync_geometry g;
    if (sync_resolve(launch->gpu, launch->point, &g) != NULL || launch->iterations == 0 ||
        launch->iterations > UINT32_MAX)
        return (int)cudaErrorInvalidValue;
    if (sync_is_host(&g))
        return (int)launch_host(launch, g);
    cudaError_t code = allow(launch->gpu, g);
    if (code != cudaSuccess)
        return (int)code;
    job j = {g.groups,
             g.parties,
             g.op < SYNC_OP_CLUSTER ? (uint32_t)SYNC_DELAY_SHARED_CYCLES : (uint32_t)SYNC_DELAY_GLOBAL_CYCLES,
             launch->checked ? (uint32_t)SYNC_ROUNDS : (uint32_t)launch->iterations,
             launch->checked ? UINT32_MAX : 0,
             sync_is_crowded(&g),
             (uint32_t *)launch->buffers->pointers[1],
             (unsigned long long *)launch->buffers->pointers[0],
             launch->results + UB_RESULT_CYCLES};
    void *arguments[] = {&j};
    cudaLaunchConfig_t config;
    cudaLaunchAttribute attribute;
    configure(g, &config, &attribute);
    config.stream = (cudaStream_t)launch->stream;
    code = cudaLaunchKernelExC(&config, function_of(g), arguments);
    if (code != cudaSuccess)
        cudaGetLastError(); /* a refusal must not be found by the next call */
    return (int)code;
}

/* ---- what only the machine knows ----------------------------------------------------------- */

static void say(ub_prepared *out, const char *text)
{
    snprintf(out->skip, sizeof out->skip, "%s", text);
}

static cudaError_t prepare_grid(ub_prepared *out)
{
    int device = 0, can = 1;
    cudaError_t code = cudaGetDevice(&device);
    if (code == cudaSuccess)
        code = cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, device);
    if (code == cudaSuccess && !can)
        say(out, "the driver launches no cooperative grids on this GPU");
    return code;
}

/* What was compiled for older architectures has no barrier of a cluster in it. */
static cudaError_t prepare_cluster(const ub_gpu *gpu, const sync_geometry &g, ub_prepared *out)
{
    enum { FIRST_VERSION = 90 };
    cudaFuncAttributes attributes;
    cudaLaunchConfig_t config;
    cudaLaunchAttribute attribute;
    int clusters = 0;
    cudaError_t code = cudaFuncGetAttributes(&attributes, function_of(g));
    if (code == cudaSuccess && attributes.ptxVersion < FIRST_VERSION) {
        say(out, "this build has no code with clusters for this GPU: build for its own architecture");
        return code;
    }
    if (code == cudaSuccess)
        code = allow(gpu, g);
    configure(g, &config, &attribute);
    if (code == cudaSuccess)
        code = cudaOccupancyMaxActiveClusters(&clusters, function_of(g), &config);
    if (code == cudaErrorInvalidClusterSize || (code == cudaSuccess && clusters == 0)) {
        cudaGetLastError();
        say(out, "no cluster of so many of these blocks fits into this GPU");
        return cudaSuccess;
    }
    return code;
}

static cudaError_t prepare_device(const ub_gpu *gpu, const sync_geometry &g, ub_prepared *out)
{
    if (g.op == SYNC_OP_GRID)
        return prepare_grid(out);
    return sync_is_cluster(&g) ? prepare_cluster(gpu, g, out) : cudaSuccess;
}

static void release(void *state)
{
    host_state *s = (host_state *)state;
    if (s == NULL)
        return;
    if (s->event != NULL)
        cudaEventDestroy(s->event);
    for (int i = 0; i < 2; i++)
        if (s->graphs[i] != NULL)
            cudaGraphExecDestroy(s->graphs[i]);
    free(s);
}

static cudaError_t prepare_host(const ub_launch *launch, const sync_geometry &g, ub_prepared *out)
{
    unsigned long long *answers = (unsigned long long *)launch->buffers->pointers[0];
    cudaStream_t stream = (cudaStream_t)launch->stream;
    host_state *s = (host_state *)calloc(1, sizeof *s);
    if (s == NULL)
        return cudaErrorMemoryAllocation;
    cudaError_t code = cudaSuccess;
    if (g.op == SYNC_OP_EVENT_SPIN || g.op == SYNC_OP_EVENT_BLOCK)
        code = cudaEventCreateWithFlags(&s->event, cudaEventDisableTiming |
                                                       (g.op == SYNC_OP_EVENT_BLOCK ? cudaEventBlockingSync : 0));
    if (g.op == SYNC_OP_GRAPH)
        code = make_graph(g, NULL, stream, &s->graphs[0]);
    if (g.op == SYNC_OP_GRAPH && code == cudaSuccess)
        code = make_graph(g, answers + SYNC_HOST_CHAIN, stream, &s->graphs[1]);
    out->state = s;
    if (code != cudaSuccess)
        release(s);
    return code;
}

static int prepare(const ub_launch *launch, ub_prepared *out)
{
    sync_geometry g;
    *out = ub_prepared();
    if (sync_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    return (int)(sync_is_host(&g) ? prepare_host(launch, g, out) : prepare_device(launch->gpu, g, out));
}

/* ---- the reference --------------------------------------------------------------------------- */

/* Of all times 0..5: what each thread must have added up. Knows the parties by their rank only. */
static __global__ void check_sums(const unsigned long long *answers, uint64_t threads, uint32_t block, uint32_t op,
                                  uint32_t parties, unsigned long long *wrong)
{
    const uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i >= threads)
        return;
    const uint32_t lane = (uint32_t)(i % SYNC_LANES), warp = (uint32_t)(i % block) / SYNC_LANES;
    unsigned long long rank = op >= SYNC_OP_CLUSTER ? i / block + 1 + lane : warp + 1 + lane;
    if (op == SYNC_OP_WARP)
        rank = lane + 1;
    unsigned long long sum = 0;
    for (unsigned long long first = 1; first <= 5ull * parties + 1; first += parties)
        sum += first + rank % parties;
    if (op == SYNC_OP_SHUFFLE)
        sum = warp * SYNC_LANES + (lane + 16) % SYNC_LANES + 1;
    if (op == SYNC_OP_VOTE)
        sum = SYNC_VOTES >> 16 | (SYNC_VOTES & 0xFFFF) << 16;
    if (answers[i] != sum)
        atomicAdd(wrong, 1);
}

/* Of a fence: the writer counts the times, the reader adds up what was written. */
static __global__ void check_fence(const unsigned long long *writer, const unsigned long long *reader,
                                   unsigned long long *wrong)
{
    const unsigned long long lane = threadIdx.x;
    if (writer[lane] != 6 || reader[lane] != 6 * (lane + 1) + 15 * SYNC_LANES)
        atomicAdd(wrong, 1);
}

/* Of kernels that the host waited for: each ran once, in order, before the wait was over. */
static __global__ void check_host(const unsigned long long *answers, uint32_t launches, unsigned long long *wrong)
{
    unsigned long long chain = ~0ull; /* poison */
    for (uint32_t i = 0; i < launches; i++)
        chain = chain + chain + chain + i + 1;
    *wrong = (answers[SYNC_HOST_CHAIN] != chain) + (answers[SYNC_HOST_DONE] != 1);
}

static int check(const ub_launch *launch)
{
    sync_geometry g;
    if (sync_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    cudaStream_t stream = (cudaStream_t)launch->stream;
    const unsigned long long *answers = (const unsigned long long *)launch->buffers->pointers[0];
    unsigned long long *wrong = launch->results + UB_RESULT_MISMATCHES;
    const uint64_t threads = sync_answers(&g);
    if (sync_is_host(&g))
        check_host<<<1, 1, 0, stream>>>(answers, g.launches, wrong);
    else if (sync_is_fence(&g))
        check_fence<<<1, SYNC_LANES, 0, stream>>>(
            answers, answers + (g.op == SYNC_OP_FENCE_BLOCK ? (uint32_t)SYNC_LANES : g.threads), wrong);
    else
        check_sums<<<(unsigned)((threads + 255) / 256), 256, 0, stream>>>(answers, threads, g.threads, g.op, g.parties,
                                                                          wrong);
    return (int)cudaGetLastError();
}

static void describe(const ub_gpu *gpu, const ub_point *point, ub_kernel *out)
{
    *out = ub_kernel();
    sync_geometry g;
    if (sync_resolve(gpu, point, &g) != NULL)
        return;
    out->function = function_of(g);
    out->name = names[g.op];
    out->grid[0] = sync_is_host(&g) ? 1 : g.blocks;
    out->block[0] = g.threads;
    out->grid[1] = out->grid[2] = out->block[1] = out->block[2] = 1;
    out->dynamic_shared_bytes = g.shared_bytes;
}

extern "C" {
extern const struct ub_code ub_code_sync;
const struct ub_code ub_code_sync = {launch, check, describe, prepare, release};
}
