/* SPDX-License-Identifier: MIT
 *
 * The device side of `streams`: copies in, kernels and copies out on streams that prepare()
 * made, and the reference that compares what came back with what went out. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "micro/streams/schedule.h"

enum {
    RESIDENT = 8,
    REFERENCE_BLOCK = 256,
    REFERENCE_BLOCKS = 4096,
    UNROLLED = STREAMS_UNROLLED,
    PART_BYTES = 4 << 20
};

/* x becomes x * x + addend, `work` times. With -61/32 the map is chaotic and stays within
 * [-61/32, 1.73]: each step changes every bit of what follows, so that none can be left out.
 * The addend is an argument, or the compiler would know too much. */
static const float addend = -1.90625f;

static __device__ __forceinline__ void step(float4 &x, float c)
{
    x.x = __fmaf_rn(x.x, x.x, c);
    x.y = __fmaf_rn(x.y, x.y, c);
    x.z = __fmaf_rn(x.z, x.z, c);
    x.w = __fmaf_rn(x.w, x.w, c);
}

/* Under the lens: a kernel that takes as long as one likes for each byte that is copied. A
 * thread loads 16 bytes, makes four chains of multiply-adds of them and stores 16 bytes. */
static __global__ void __launch_bounds__(STREAMS_BLOCK, RESIDENT)
    stage(const float4 *__restrict__ in, float4 *__restrict__ out, uint32_t work, float c)
{
    const size_t at = (size_t)blockIdx.x * STREAMS_BLOCK + threadIdx.x;
    float4 x = in[at];
#pragma unroll 1
    for (uint32_t left = work / UNROLLED; left != 0; left--)
#pragma unroll
        for (int i = 0; i < UNROLLED; i++)
            step(x, c);
#pragma unroll 1
    for (uint32_t left = work % UNROLLED; left != 0; left--)
        step(x, c);
    out[at] = x;
}

/* What the host puts between segments: nothing, but into the legacy default stream. */
static __global__ void nothing(void)
{
}

/* Element by element, one after the other. */
static __global__ void reference(const float *in, const float *out, uint64_t elements, uint32_t work, float c,
                                 unsigned long long *mismatches)
{
    unsigned long long wrong = 0;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < elements;
         i += (uint64_t)gridDim.x * blockDim.x) {
        float x = in[i];
        for (uint32_t n = 0; n < work; n++)
            x = __fmaf_rn(x, x, c);
        wrong += __float_as_uint(x) != __float_as_uint(out[i]);
    }
    if (wrong != 0)
        atomicAdd(mismatches, wrong);
}

/* ---- streams ------------------------------------------------------------------------ */

/* What prepare() makes: streams, the event at which all begin and those at which each ends
 * (the last is that of the legacy default stream). */
struct state {
    uint32_t count;
    cudaStream_t streams[STREAMS_MAX_STREAMS];
    cudaEvent_t begin, end[STREAMS_MAX_STREAMS + 1];
};

static void release(void *user)
{
    state *s = (state *)user;
    for (uint32_t i = 0; i < STREAMS_MAX_STREAMS; i++)
        if (s->streams[i])
            cudaStreamDestroy(s->streams[i]);
    for (uint32_t i = 0; i <= STREAMS_MAX_STREAMS; i++)
        if (s->end[i])
            cudaEventDestroy(s->end[i]);
    if (s->begin)
        cudaEventDestroy(s->begin);
    free(s);
}

static cudaError_t make(state *s, const streams_geometry &g)
{
    const unsigned flags = g.queue == STREAMS_BLOCKING ? cudaStreamDefault : cudaStreamNonBlocking;
    s->count = g.queue == STREAMS_LEGACY ? 0 : g.streams;
    cudaError_t code = cudaEventCreateWithFlags(&s->begin, cudaEventDisableTiming);
    for (uint32_t i = 0; i < s->count && code == cudaSuccess; i++)
        code = cudaStreamCreateWithFlags(&s->streams[i], flags);
    for (uint32_t i = 0; i <= STREAMS_MAX_STREAMS && code == cudaSuccess; i++)
        if (i < s->count || i == STREAMS_DEFAULT_STREAM)
            code = cudaEventCreateWithFlags(&s->end[i], cudaEventDisableTiming);
    return code;
}

static int prepare(const ub_launch *launch, ub_prepared *out)
{
    streams_geometry g;
    if (streams_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    state *s = (state *)calloc(1, sizeof *s);
    if (!s)
        return (int)cudaErrorMemoryAllocation;
    const cudaError_t code = make(s, g);
    if (code != cudaSuccess)
        release(s);
    else
        out->state = s;
    return (int)code;
}

/* ---- one launch ----------------------------------------------------------------------- */

/* The buffers of a launch; NULL: the point has none. */
struct places {
    char *at[STREAMS_BUFFERS];
};

static places places_of(const ub_launch &launch, const streams_geometry &g)
{
    places p;
    for (int i = 0; i < STREAMS_BUFFERS; i++) {
        const int index = streams_buffer_index(&g, (streams_buffer)i);
        p.at[i] = index < 0 ? NULL : (char *)launch.buffers->pointers[index];
    }
    return p;
}

static cudaStream_t stream_of(const state &s, uint32_t stream)
{
    return stream == STREAMS_DEFAULT_STREAM ? cudaStreamLegacy : s.streams[stream];
}

static cudaError_t issue(const streams_geometry &g, const places &p, const streams_op &op, cudaStream_t stream)
{
    const uint64_t at = op.segment * g.segment_bytes;
    switch (op.stage) {
    case STREAMS_IN:
        return cudaMemcpyAsync(p.at[STREAMS_DEVICE_IN] + at, p.at[STREAMS_HOST_IN] + at, g.segment_bytes,
                               cudaMemcpyHostToDevice, stream);
    case STREAMS_OUT:
        return cudaMemcpyAsync(p.at[STREAMS_HOST_OUT] + at, p.at[STREAMS_DEVICE_OUT] + at, g.segment_bytes,
                               cudaMemcpyDeviceToHost, stream);
    case STREAMS_KERNEL:
        stage<<<streams_blocks(&g), STREAMS_BLOCK, 0, stream>>>(
            (const float4 *)(p.at[STREAMS_DEVICE_IN] + at), (float4 *)(p.at[STREAMS_DEVICE_OUT] + at), g.work, addend);
        return cudaGetLastError();
    default:
        nothing<<<1, 1, 0, stream>>>();
        return cudaGetLastError();
    }
}

static bool uses_default_stream(const streams_geometry &g)
{
    return g.queue == STREAMS_LEGACY || g.barriers;
}

/* All streams wait for what was launched before. */
static cudaError_t fork(const state &s, const streams_geometry &g, cudaStream_t from)
{
    cudaError_t code = cudaEventRecord(s.begin, from);
    for (uint32_t i = 0; i < s.count && code == cudaSuccess; i++)
        code = cudaStreamWaitEvent(s.streams[i], s.begin, 0);
    if (code == cudaSuccess && uses_default_stream(g))
        code = cudaStreamWaitEvent(cudaStreamLegacy, s.begin, 0);
    return code;
}

static cudaError_t join_one(cudaStream_t stream, cudaEvent_t end, cudaStream_t to)
{
    const cudaError_t code = cudaEventRecord(end, stream);
    return code != cudaSuccess ? code : cudaStreamWaitEvent(to, end, 0);
}

static cudaError_t join(const state &s, const streams_geometry &g, cudaStream_t to)
{
    cudaError_t code = cudaSuccess;
    for (uint32_t i = 0; i < s.count && code == cudaSuccess; i++)
        code = join_one(s.streams[i], s.end[i], to);
    if (code == cudaSuccess && uses_default_stream(g))
        code = join_one(cudaStreamLegacy, s.end[STREAMS_DEFAULT_STREAM], to);
    return code;
}

/* `marks`: two events an operation, recorded round it; NULL: none. */
static cudaError_t run(const ub_launch &launch, const streams_geometry &g, const streams_op *ops, uint32_t count,
                       const cudaEvent_t *marks)
{
    const state &s = *(const state *)launch.state;
    const places p = places_of(launch, g);
    cudaError_t code = fork(s, g, (cudaStream_t)launch.stream);
    for (uint32_t i = 0; i < count && code == cudaSuccess; i++) {
        const cudaStream_t stream = stream_of(s, ops[i].stream);
        if (marks)
            code = cudaEventRecord(marks[2 * i], stream);
        if (code == cudaSuccess)
            code = issue(g, p, ops[i], stream);
        if (marks && code == cudaSuccess)
            code = cudaEventRecord(marks[2 * i + 1], stream);
    }
    return code != cudaSuccess ? code : join(s, g, (cudaStream_t)launch.stream);
}

static int launch(const ub_launch *launch)
{
    streams_geometry g;
    streams_op ops[STREAMS_MAX_OPS];
    if (streams_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    return (int)run(*launch, g, ops, streams_plan(&g, ops), NULL);
}

/* ---- the timeline --------------------------------------------------------------------- */

enum { SHOWN_OPS = 256 };

static void fill(const streams_op &op, double begin_ns, double end_ns, ub_span *out)
{
    out->stream = op.stream == STREAMS_DEFAULT_STREAM ? (int)UB_DEFAULT_STREAM : op.stream;
    out->segment = op.segment;
    out->begin_ns = begin_ns;
    out->end_ns = end_ns;
    snprintf(out->stage, sizeof out->stage, "%s", streams_stage_names[op.stage]);
}

static cudaError_t read(const cudaEvent_t *marks, const streams_op *ops, uint32_t count, ub_timeline *out)
{
    cudaError_t code = cudaSuccess;
    for (uint32_t i = 0; i < count && code == cudaSuccess; i++) {
        float begin_ms = 0, end_ms = 0;
        code = cudaEventElapsedTime(&begin_ms, marks[0], marks[2 * i]);
        if (code == cudaSuccess)
            code = cudaEventElapsedTime(&end_ms, marks[0], marks[2 * i + 1]);
        const double begin_ns = begin_ms > 0 ? begin_ms * 1e6 : 0, end_ns = end_ms * 1e6;
        fill(ops[i], begin_ns, end_ns > begin_ns ? end_ns : begin_ns, &out->spans[out->count++]);
    }
    streams_take_turns(out);
    return code;
}

/* Twice: the first time pays for what is done for the first time. */
static cudaError_t show(const ub_launch &launch, const streams_geometry &g, const streams_op *ops, uint32_t count,
                        const cudaEvent_t *marks, ub_timeline *out)
{
    cudaError_t code = cudaSuccess;
    for (int i = 0; i < 2 && code == cudaSuccess; i++) {
        code = run(launch, g, ops, count, marks);
        const cudaError_t waited = cudaStreamSynchronize((cudaStream_t)launch.stream);
        code = code != cudaSuccess ? code : waited;
    }
    return code != cudaSuccess ? code : read(marks, ops, count, out);
}

static int timeline(const ub_launch *launch, ub_timeline *out)
{
    streams_geometry g;
    streams_op ops[STREAMS_MAX_OPS];
    cudaEvent_t marks[2 * SHOWN_OPS] = {};
    if (streams_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    const uint32_t count = streams_plan(&g, ops);
    if (g.stages != STREAMS_PIPELINE || count > SHOWN_OPS)
        return 0;
    cudaError_t code = cudaSuccess;
    for (uint32_t i = 0; i < 2 * count && code == cudaSuccess; i++)
        code = cudaEventCreate(&marks[i]);
    if (code == cudaSuccess)
        code = show(*launch, g, ops, count, marks, out);
    for (uint32_t i = 0; i < 2 * count; i++)
        if (marks[i])
            cudaEventDestroy(marks[i]);
    return (int)code;
}

/* ---- the answer ----------------------------------------------------------------------- */

/* Fetches what stands on the device part by part and counts the words that differ from the
 * host's; copies only, so that the host can compare. */
static cudaError_t compare(const char *host, const char *device, uint64_t bytes, cudaStream_t stream,
                           unsigned long long *wrong)
{
    uint32_t *part = (uint32_t *)malloc(PART_BYTES);
    cudaError_t code = part ? cudaSuccess : cudaErrorMemoryAllocation;
    for (uint64_t at = 0; at < bytes && code == cudaSuccess; at += PART_BYTES) {
        const uint64_t size = bytes - at < PART_BYTES ? bytes - at : (uint64_t)PART_BYTES;
        code = cudaMemcpyAsync(part, device + at, size, cudaMemcpyDeviceToHost, stream);
        if (code == cudaSuccess)
            code = cudaStreamSynchronize(stream);
        if (code != cudaSuccess || memcmp(part, host + at, size) == 0)
            continue;
        for (uint64_t i = 0; i < size / sizeof *part; i++)
            *wrong += memcmp(&part[i], host + at + i * sizeof *part, sizeof *part) != 0;
    }
    free(part);
    return code;
}

static cudaError_t check_copies(const ub_launch &launch, const streams_geometry &g)
{
    const places p = places_of(launch, g);
    const cudaStream_t stream = (cudaStream_t)launch.stream;
    unsigned long long wrong = 0;
    cudaError_t code = cudaSuccess;
    if (g.has_in)
        code = compare(p.at[STREAMS_HOST_IN], p.at[STREAMS_DEVICE_IN], g.size_bytes, stream, &wrong);
    if (code == cudaSuccess && g.has_out)
        code = compare(p.at[STREAMS_HOST_OUT], p.at[STREAMS_DEVICE_OUT], g.size_bytes, stream, &wrong);
    if (code == cudaSuccess)
        code = cudaMemcpyAsync(launch.results + UB_RESULT_MISMATCHES, &wrong, sizeof wrong, cudaMemcpyHostToDevice,
                               stream);
    return code != cudaSuccess ? code : cudaStreamSynchronize(stream);
}

/* What went out and what came back are copied to the device anew, each in one piece. */
static cudaError_t check_kernel(const ub_launch &launch, const streams_geometry &g)
{
    const places p = places_of(launch, g);
    const cudaStream_t stream = (cudaStream_t)launch.stream;
    cudaError_t code = cudaSuccess;
    if (g.has_in)
        code = cudaMemcpyAsync(p.at[STREAMS_DEVICE_IN], p.at[STREAMS_HOST_IN], g.size_bytes, cudaMemcpyHostToDevice,
                               stream);
    if (g.has_out && code == cudaSuccess)
        code = cudaMemcpyAsync(p.at[STREAMS_DEVICE_OUT], p.at[STREAMS_HOST_OUT], g.size_bytes, cudaMemcpyHostToDevice,
                               stream);
    if (code != cudaSuccess)
        return code;
    reference<<<REFERENCE_BLOCKS, REFERENCE_BLOCK, 0, stream>>>(
        (const float *)p.at[STREAMS_DEVICE_IN], (const float *)p.at[STREAMS_DEVICE_OUT], g.size_bytes / sizeof(float),
        g.work, addend, launch.results + UB_RESULT_MISMATCHES);
    return cudaGetLastError();
}

static int check(const ub_launch *launch)
{
    streams_geometry g;
    if (streams_resolve(launch->gpu, launch->point, &g) != NULL)
        return (int)cudaErrorInvalidValue;
    return (int)(g.has_kernel ? check_kernel(*launch, g) : check_copies(*launch, g));
}

static void describe(const ub_gpu *gpu, const ub_point *point, ub_kernel *out)
{
    streams_geometry g;
    *out = ub_kernel();
    if (streams_resolve(gpu, point, &g) != NULL || !g.has_kernel)
        return;
    out->function = (const void *)stage;
    out->name = "stage";
    out->grid[0] = streams_blocks(&g);
    out->block[0] = STREAMS_BLOCK;
    out->grid[1] = out->grid[2] = out->block[1] = out->block[2] = 1;
}

extern "C" {
extern const struct ub_code ub_code_streams;
const struct ub_code ub_code_streams = {launch, check, describe, prepare, release, timeline};
}
