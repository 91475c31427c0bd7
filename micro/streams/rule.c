/* SPDX-License-Identifier: MIT
 *
 * The rule `streams` as data: axes, sweeps, counters, metrics, chart and texts. */
#include "micro/streams/rule.h"

#include <math.h>

#include "harness/contract/record.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const stages[] = {"pipeline", "in", "out", "both", "kernel", NULL}; /* enum streams_stages */
static const char *const hosts[] = {"pinned", "pageable", NULL};
static const char *const orders[] = {"depth", "breadth", NULL};
static const char *const queues[] = {"nonblocking", "blocking", "legacy", NULL};
static const char *const betweens[] = {"nothing", "kernel", NULL};

static const struct ub_axis axes[STREAMS_AXES] = {
    [STREAMS_STAGES] = {.name = "stages",
                        .unit = "",
                        .help = "copy in, kernel and copy out, or only one of them, or both copies at once",
                        .kind = UB_AXIS_WORD,
                        .words = stages,
                        .initial = "pipeline"},
    [STREAMS_HOST] = {.name = "host",
                      .unit = "",
                      .help = "the host's memory: pinned (cudaHostAlloc) or pageable (malloc)",
                      .kind = UB_AXIS_WORD,
                      .words = hosts,
                      .initial = "pinned"},
    [STREAMS_STREAMS] = {.name = "streams",
                         .unit = "stream",
                         .help = "among which the segments are dealt out in turn",
                         .kind = UB_AXIS_INTEGER,
                         .minimum = 1,
                         .maximum = STREAMS_MAX_STREAMS,
                         .initial = "4"},
    [STREAMS_SEGMENTS] = {.name = "segments",
                          .unit = "segment",
                          .help = "into which the data are cut, each copied in, computed and copied out for itself; "
                                  "auto: one a stream",
                          .kind = UB_AXIS_INTEGER,
                          .minimum = 1,
                          .maximum = STREAMS_MAX_SEGMENTS,
                          .zero_word = "auto",
                          .initial = "16"},
    [STREAMS_ORDER] = {.name = "order",
                       .unit = "",
                       .help = "of issue: depth, all of a segment and then the next; breadth, each stage for all "
                               "streams (stages=pipeline, both)",
                       .kind = UB_AXIS_WORD,
                       .words = orders,
                       .initial = "depth"},
    [STREAMS_WORK] = {.name = "work",
                      .unit = "multiply-add",
                      .help = "for each element of 4 bytes: what the kernel takes (stages=pipeline, kernel)",
                      .kind = UB_AXIS_INTEGER,
                      .minimum = 0,
                      .maximum = STREAMS_MAX_WORK,
                      .initial = "64"},
    [STREAMS_QUEUE] = {.name = "queue",
                       .unit = "",
                       .help = "what the streams are: non-blocking, blocking (cudaStreamCreate), or all of them the "
                               "legacy default stream",
                       .kind = UB_AXIS_WORD,
                       .words = queues,
                       .initial = "nonblocking"},
    [STREAMS_BETWEEN] = {.name = "between",
                         .unit = "",
                         .help = "what goes into the legacy default stream behind each segment (breadth: each round): "
                                 "nothing, or an empty kernel",
                         .kind = UB_AXIS_WORD,
                         .words = betweens,
                         .initial = "nothing"},
    [STREAMS_SIZE] = {.name = "size",
                      .unit = "byte",
                      .help = "each way; auto: 64 MiB",
                      .kind = UB_AXIS_INTEGER,
                      .minimum = STREAMS_CHUNK_BYTES,
                      .maximum = INT64_C(1) << 36,
                      .zero_word = "auto",
                      .initial = "auto"},
};

static const struct ub_sweep sweeps[] = {
    {"streams", UB_SUITE_DEFAULT, "streams=1,2,4,8 work=64,2048,6144",
     "more streams, bound by copies, by nothing in particular, by the kernel"},
    {"streams", UB_SUITE_FULL, "streams=1,2,3,4,8 work=64,2048,6144",
     "more streams, bound by copies, by nothing in particular, by the kernel"},
    {"order", UB_SUITE_DEFAULT | UB_SUITE_FULL, "streams=4 order=breadth work=64,2048", "the other order of issue"},
    {"segments", UB_SUITE_DEFAULT | UB_SUITE_FULL, "segments=4,8,16,32,64",
     "shorter segments: less is exposed at both ends, more is paid for each"},
    {"default_stream", UB_SUITE_DEFAULT | UB_SUITE_FULL, "queue=all between=all work=2048",
     "what the legacy default stream stops"},
    {"pageable", UB_SUITE_DEFAULT, "host=all streams=4 segments=4 work=2048 size=16Mi",
     "the same pipeline without pinned memory"},
    {"pageable", UB_SUITE_FULL, "host=all streams=4 segments=4 order=all work=2048 size=16Mi",
     "the same pipeline without pinned memory"},
    {"size", UB_SUITE_DEFAULT, "stages=in,out host=all streams=2 segments=1 size=4Ki,256Ki,2Mi,16Mi",
     "how fast one copy is, by size"},
    {"size", UB_SUITE_FULL, "stages=in,out,both host=all streams=2 segments=1 size=4Ki..16Mi*8",
     "how fast one copy is, and one each way at the same time, by size"},
    {"kernel", UB_SUITE_DEFAULT | UB_SUITE_FULL, "stages=kernel streams=1 segments=1 work=64,1024,6144",
     "the kernel alone"},
    {"quick", UB_SUITE_QUICK, "streams=1,4 segments=4 work=64,6144 size=16Mi", "without and with overlap"},
    {"equal", UB_SUITE_FULL, "streams=1,2,3,4,5,6,8,9,10,12,15,16 segments=auto work=64,2048 size=45Mi",
     "as many segments as streams"},
    {"work", UB_SUITE_FULL, "work=0,64,512,1024,1536,2048,2560,3072,4096,8192",
     "from bound by copies to bound by kernels"},
    {"large", UB_SUITE_FULL, "segments=16,32,64 work=64,2048 size=256Mi", "more data: the ends weigh less"},
    {"pageable_size", UB_SUITE_FULL, "stages=in,out host=pageable streams=1 segments=1 size=8Mi..256Mi*2",
     "pageable memory that the host's caches hold, and do not"},
};

static const char *const counters[] = {
    "ffma",        "global_load_requests", "global_load_sectors", "global_store_requests", "global_store_sectors",
    "local_loads", "warp_instructions"};

static const char *const needs[] = {
    "clock_mhz",
    "dram_copy_ceiling",
    "launch_floor_ns",
    "copy_latency_ns",
    "copy_cost_ns",
    "kernel_latency_ns",
    "copy_in_bandwidth",
    "copy_out_bandwidth",
    "copy_both_bandwidth",
    "copy_cost_both_ns",
    "issue_ns",
    "hop_ns",
    "barrier_ns",
    "pageable_latency_ns",
    "pageable_in_bandwidth",
    "pageable_out_bandwidth",
};

/* In this order, because the later ones are worked out with the earlier. */
static const struct ub_provides provides[] = {
    {"copy_latency_ns", "stages=in streams=1 segments=1 size=4Ki", "operation_time"},
    {"copy_cost_ns", "stages=in streams=1 segments=64 size=256Ki", "operation_time"},
    {"kernel_latency_ns", "stages=kernel streams=1 segments=1 size=4Ki work=0", "operation_time"},
    {"issue_ns", "streams=4 segments=64 size=256Ki work=0", "operation_time"},
    {"copy_in_bandwidth", "stages=in streams=1 segments=1", "link_bandwidth"},
    {"copy_out_bandwidth", "stages=out streams=1 segments=1", "link_bandwidth"},
    {"copy_both_bandwidth", "stages=both streams=2 segments=1", "link_bandwidth"},
    {"copy_cost_both_ns", "stages=both streams=2 segments=64", "copy_cost"},
    {"hop_ns", "streams=1 work=0", "hop_time"},
    {"barrier_ns", "queue=blocking between=kernel work=0", "barrier_time"},
    {"pageable_latency_ns", "stages=out host=pageable streams=1 segments=1 size=4Ki", "operation_time"},
    {"pageable_in_bandwidth", "stages=in host=pageable streams=1 segments=1 size=16Mi", "link_bandwidth"},
    {"pageable_out_bandwidth", "stages=out host=pageable streams=1 segments=1 size=16Mi", "link_bandwidth"},
};

static const char *const metric_keys[] = {
    "pipeline_time",  "bound_share",    "shared_bound_share", "speedup",   "bound_time", "copy_bandwidth",
    "link_bandwidth", "operation_time", "kernel_flops",       "copy_cost", "hop_time",   "barrier_time",
};

/* ---- functions ---------------------------------------------------------------- */

static const char *supported(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct streams_geometry g;
    return streams_resolve(gpu, point, &g);
}

static void footprint(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_footprint *out)
{
    struct streams_geometry g;
    *out = (struct ub_footprint){0};
    if (streams_resolve(gpu, point, &g) != NULL)
        return;
    const enum ub_memory host = g.host == STREAMS_PINNED ? UB_PINNED_MEMORY : UB_PAGEABLE_MEMORY;
    const bool written[] = {[STREAMS_DEVICE_IN] = g.has_in, [STREAMS_DEVICE_OUT] = g.has_kernel};
    const struct ub_buffer_spec specs[STREAMS_BUFFERS] = {
        [STREAMS_HOST_IN] = {"host in", host, UB_FILL_FLOAT, false, g.size_bytes},
        [STREAMS_DEVICE_IN] = {"device in", UB_DEVICE_MEMORY,
                               written[STREAMS_DEVICE_IN] ? UB_FILL_POISON : UB_FILL_FLOAT, written[STREAMS_DEVICE_IN],
                               g.size_bytes},
        [STREAMS_DEVICE_OUT] = {"device out", UB_DEVICE_MEMORY,
                                written[STREAMS_DEVICE_OUT] ? UB_FILL_POISON : UB_FILL_FLOAT,
                                written[STREAMS_DEVICE_OUT], g.size_bytes},
        [STREAMS_HOST_OUT] = {"host out", host, UB_FILL_POISON, true, g.size_bytes},
    };
    for (int i = 0; i < STREAMS_BUFFERS; i++)
        if (streams_buffer_index(&g, (enum streams_buffer)i) >= 0)
            out->buffers[out->count++] = specs[i];
}

/* Below this a copy is more latency than bytes. */
static const uint64_t link_bytes = UINT64_C(1) << 20;

/* What is left of a time when what is known of it is taken away, for each of `count`; NaN: a
 * time that is shorter than that tells nothing. */
static double share_of_rest(double rest_ns, uint32_t count)
{
    return rest_ns > 0 ? rest_ns / count : NAN;
}

/* As it is seen, and without what a launch that is one small copy takes. */
static void add_copy_metrics(const struct ub_facts *facts, const struct streams_geometry *g, struct ub_metrics *out)
{
    const double bytes = (double)g->size_bytes * (g->has_in + g->has_out);
    const double beside_ns = ub_constant_value(facts->constants, "copy_latency_ns");
    const double alone_ns = facts->time_ns - beside_ns;
    const bool tells = g->size_bytes >= link_bytes && alone_ns > beside_ns;
    ub_metric_add(out, "copy_bandwidth", "B/s", bytes / facts->time_ns * 1e9);
    ub_metric_add(out, "link_bandwidth", "B/s", tells ? bytes / alone_ns * 1e9 : NAN);
    if (g->stages == STREAMS_BOTH_WAYS && g->segments > 1)
        ub_metric_add(out, "copy_cost", "ns",
                      share_of_rest(alone_ns - bytes * 1e9 / ub_constant_value(facts->constants, "copy_both_bandwidth"),
                                    g->segments));
}

/* What a segment takes beside its stages where all goes one after the other. */
static void add_serial_metrics(const struct ub_facts *facts, const struct streams_geometry *g, double serial_ns,
                               struct ub_metrics *out)
{
    const double beside_ns = facts->time_ns - serial_ns - ub_constant_value(facts->constants, "copy_latency_ns");
    if (g->barriers && g->queue == STREAMS_BLOCKING)
        ub_metric_add(out, "barrier_time", "ns",
                      share_of_rest(beside_ns, g->segments) - 3 * ub_constant_value(facts->constants, "hop_ns"));
    else if (g->streams == 1 && !g->barriers)
        ub_metric_add(out, "hop_time", "ns", share_of_rest(beside_ns, 3 * g->segments));
}

static void add_pipeline_metrics(const struct ub_facts *facts, const struct streams_geometry *g, struct ub_metrics *out)
{
    struct streams_stage_times times;
    streams_stage_times(facts->gpu, facts->constants, g, &times);
    const double serial_ns = streams_serial_ns(&times), bound_ns = streams_bound_ns(&times);
    ub_metric_add(out, "pipeline_time", "ns", facts->time_ns);
    ub_metric_add(out, "bound_share", "1", bound_ns / facts->time_ns);
    ub_metric_add(out, "shared_bound_share", "1",
                  streams_shared_bound_ns(facts->constants, g, &times) / facts->time_ns);
    ub_metric_add(out, "speedup", "times", serial_ns / facts->time_ns);
    ub_metric_add(out, "bound_time", "ns", bound_ns);
    if (g->host == STREAMS_PINNED)
        add_serial_metrics(facts, g, serial_ns, out);
}

static void metrics(const struct ub_facts *facts, struct ub_metrics *out)
{
    struct streams_geometry g;
    struct streams_op ops[STREAMS_MAX_OPS];
    out->count = 0;
    if (streams_resolve(facts->gpu, facts->point, &g) != NULL)
        return;
    if (g.stages == STREAMS_PIPELINE)
        add_pipeline_metrics(facts, &g, out);
    else if (!g.has_kernel)
        add_copy_metrics(facts, &g, out);
    else
        ub_metric_add(out, "kernel_flops", "FLOP/s",
                      2 * (double)g.size_bytes / sizeof(float) * g.work / facts->time_ns * 1e9);
    ub_metric_add(out, "operation_time", "ns", facts->time_ns / streams_plan(&g, ops));
}

/* ---- chart and texts ------------------------------------------------------------ */

/* What no schedule beats. */
static double bound_of_point(const struct ub_gpu *gpu, const struct ub_constants *constants,
                             const struct ub_point *point)
{
    struct streams_geometry g;
    struct streams_stage_times times;
    if (streams_resolve(gpu, point, &g) != NULL || g.stages != STREAMS_PIPELINE)
        return NAN;
    streams_stage_times(gpu, constants, &g, &times);
    return streams_bound_ns(&times);
}

static const struct ub_chart_text chart_texts[] = {
    {"streams", "Where the stages may overlap, streams leave the longest of them", "list schedule"},
    {"segments", "Shorter segments expose less at both ends, until their costs show", "list schedule"},
    {"size", "A copy needs megabytes to reach the link's rate, and pinned memory",
     "bytes / (latency + bytes / bandwidth)"},
    {"default_stream", "An empty kernel in the default stream stops blocking streams only", "list schedule"},
    {"pageable", "From pageable memory the host copies itself, and streams overlap nothing", "list schedule"},
    {"", "Copies and kernels, in streams or alone", "list schedule"},
};

const struct ub_micro ub_micro_streams = {
    .name = "streams",
    .rule = "Copies and kernels of different streams run at the same time; what remains is the longest of the three "
            "stages, and the first and last segment's way.",
    .text =
        {
            .law =
                "T = that of a list schedule: the host issues one operation after the other, operations of a stream "
                "keep their order, and an engine that falls free takes, of those that may begin, the one issued "
                "first. Engines: one for copies in, one for copies out, the SMs (asyncEngineCount 1: one engine for "
                "both ways; 0: one thing at a time). With n equal segments on enough streams T = (in + kernel + out) "
                "/ n + (n - 1) / n x max(in, kernel, out), and nothing beats max(in, kernel, out), the bound. in, out "
                "= bytes / bandwidth of the link; both ways at once each has only its share of what both have "
                "together. Costs of an operation, measured in the same run: to issue it (host), to begin a copy "
                "(engine), to hand over from one engine to another. kernel = multiply-adds at the rate of their lanes "
                "+ 0.42 x its DRAM time, a fit. One copy: T = latency + bytes / bandwidth. An operation in the legacy "
                "default stream waits for all that was issued before it to blocking streams, and they for it; "
                "non-blocking streams do neither. Pageable memory: the host makes the copy itself, through a pinned "
                "buffer, and issues nothing meanwhile.",
            .breaks =
                "On an H200 a pipeline in 4 to 16 segments took 2 % less to 3 % longer than by the law on up to 8 "
                "streams, 3.7 % longer in 32 segments and 7.9 % in 64, of 1 MiB each; why is not known. Single copies "
                "of 32 and 256 KiB are 4 to 16 % off, pageable ones up to 30 %. Which of the streams that wait an "
                "engine takes is the driver's choice: an H200 copied segment 2 before segment 1. A segment must fill "
                "the card, at least a block an SM, or kernels of several streams run together (no time is tested). "
                "More than 8 streams share hardware queues (CUDA_DEVICE_MAX_CONNECTIONS). Pageable memory is as fast "
                "as the host: 16 MiB came at 9.4 GB/s in and 13.5 out, 64 MiB at 7.8 and 13.9, samples differ by 15 "
                "%, and beyond 16 MiB no time is tested. Events of a timeline say when a stream came to an operation; "
                "one that waits for its engine is shown from the end of the one before, and the events themselves "
                "lengthen the launch by 8 %. Cards with one copy engine or none are predicted, none was measured. "
                "Where the host cannot pin memory, the record says so and the law is not tested.",
            .consequence =
                "64 MiB in, 64 MiB out, in 16 segments on an H200 behind PCIe 5 x16: with next to no kernel 2.79 ms "
                "on one stream, 1.54 on three; with a kernel nearly as long as a copy 3.84 and 1.60; with one of 3.1 "
                "ms 6.01 and 3.33, 94 % of the bound. Three streams are enough, one for each stage; eight are no "
                "faster. Where copies decide, 79 % of the bound is what is left: both ways at once the link gives "
                "each 87 %. Of the bound at that rate it is 91 %, of 256 MiB 96. 8 to 16 segments are best here: each "
                "one more, up to 64, costs 5 us, and 1/n of two "
                "stages is never hidden. Pin what is copied: 16 MiB each way on four streams took 0.50 ms, from "
                "pageable memory 3.9.",
            .folk =
                "\"Streams run at the same time\": those of cudaStreamCreate wait for the legacy default stream. One "
                "empty kernel in it after each segment: 4.10 ms instead of 1.61. With cudaStreamNonBlocking: 1.61.\n"
                "\"cudaMemcpyAsync is asynchronous\": not from or to pageable memory; four streams then overlap "
                "nothing.\n"
                "\"Issue breadth first\" (or depth first): advice for Fermi's one queue. 1.56 ms with either order.\n"
                "\"Overlap makes it three times as fast\": only if all three stages are equal and n is large; here "
                "2.4 times with a kernel nearly as long as a copy.\n"
                "\"PCIe is full duplex\": 95.7 GB/s both ways, where one way has 55.\n"
                "\"Pinned memory is twice as fast\": 4 to 7 times on this host, 2.4 to 5.2 on others: name the host.",
            .sources =
                "CUDA C++ Programming Guide, \"Asynchronous Concurrent Execution\": conditions of overlap, streams\n"
                "CUDA Runtime API, \"API synchronization behavior\", \"Stream synchronization behavior\"\n"
                "Harris 2012, How to Overlap Data Transfers in CUDA C/C++ (NVIDIA blog): order of issue, one and two "
                "engines\n"
                "nvbandwidth README and logs: DGX A100, HGX H100, both ways; RRZE-HPC cuda-memcpy: latency + bytes / "
                "bandwidth on PCIe 3\n"
                "deviceQuery logs: copy engines of each card\n"
                "Measured: an H200 (driver 580, CUDA 13.0) behind PCIe 5 x16, a virtual machine with 16 cores of an "
                "Intel Xeon whose model it does not tell",
        },
    .axis_count = STREAMS_AXES,
    .axes = axes,
    .owners = &streams_owners,
    .sweep_count = COUNT(sweeps),
    .sweeps = sweeps,
    .counter_count = COUNT(counters),
    .counters = counters,
    .need_count = COUNT(needs),
    .needs = needs,
    .provide_count = COUNT(provides),
    .provides = provides,
    .metric_count = COUNT(metric_keys),
    .metric_keys = metric_keys,
    .chart =
        {
            .kind = "sweep",
            .metric = "pipeline_time",
            .metric_label = "time  [ms]",
            .metric_scale = 1e-6,
            .other_metric = "copy_bandwidth",
            .other_label = "copy bandwidth  [GB/s]",
            .other_scale = 1e-9,
            .second = bound_of_point,
            .second_label = "bound: the longest stage",
            .text_count = COUNT(chart_texts),
            .texts = chart_texts,
        },
    .timer = ub_timer_host,
    .supported = supported,
    .footprint = footprint,
    .law = streams_law,
    .metrics = metrics,
    .timeline = streams_timeline,
    .small = streams_small,
    .verify = streams_verify,
};
