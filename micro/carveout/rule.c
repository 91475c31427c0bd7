/* SPDX-License-Identifier: MIT
 *
 * The rule `carveout` as data: axes, sweeps, counters, metrics, chart and texts. */
#include <math.h>

#include "harness/contract/record.h"
#include "micro/carveout/rule.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const asks[] = {"launch", "function", "nothing", NULL}; /* enum carveout_ask */
static const char *const orders[] = {"random", "cyclic", NULL};            /* enum carveout_order */
static const char *const loads[] = {"ca", "cg", NULL};                     /* enum carveout_load */

static const struct ub_axis axes[CARVEOUT_AXES] = {
    [CARVEOUT_PERCENT] = {.name = "carveout",
                          .unit = "%",
                          .help = "of the most shared memory that an SM can have: the preference that is stated",
                          .kind = UB_AXIS_INTEGER,
                          .minimum = 0,
                          .maximum = 100,
                          .initial = "0"},
    [CARVEOUT_FOOTPRINT] = {.name = "footprint",
                            .unit = "byte",
                            .help = "that the block reads again and again, a multiple of 128",
                            .kind = UB_AXIS_INTEGER,
                            .minimum = CARVEOUT_LEAST_BYTES,
                            .maximum = CARVEOUT_MOST_BYTES,
                            .initial = "320Ki"},
    [CARVEOUT_SHARED] = {.name = "shared",
                         .unit = "byte",
                         .help = "dynamic shared memory of the block, which nobody uses",
                         .kind = UB_AXIS_INTEGER,
                         .minimum = 0,
                         .maximum = 256 << 10,
                         .initial = "0"},
    [CARVEOUT_ASK] = {.name = "ask",
                      .unit = "",
                      .help = "who states the preference: an attribute of the launch, one of the function, nobody",
                      .kind = UB_AXIS_WORD,
                      .words = asks,
                      .initial = "launch"},
    [CARVEOUT_ORDER] = {.name = "order",
                        .unit = "",
                        .help = "random: each load draws its line anew; cyclic: from the first to the last, again",
                        .kind = UB_AXIS_WORD,
                        .words = orders,
                        .initial = "random"},
    [CARVEOUT_LOAD] = {.name = "load",
                       .unit = "",
                       .help = "ca: cached in L1, as loads are; cg: past L1",
                       .kind = UB_AXIS_WORD,
                       .words = loads,
                       .initial = "ca"},
};

enum { USUAL = UB_SUITE_DEFAULT | UB_SUITE_FULL };

static const struct ub_sweep sweeps[] = {
    {"carveout", USUAL, "carveout=0,4,7,14,15,22,28,29,36,43,44,50,57,58,64,71,72,78,85,86,93,100",
     "the rule itself: what a preference leaves to L1, in steps"},
    {"footprint", USUAL, "carveout=0,28,57,100 footprint=16Ki,32Ki,64Ki,96Ki,128Ki,160Ki,192Ki,224Ki,256Ki,320Ki,384Ki",
     "where a footprint stops to fit, and how loads fare beyond"},
    {"shared", USUAL,
     "ask=launch,nothing "
     "shared=0,1Ki,4Ki,8Ki,16Ki,32Ki,48Ki,64Ki,80Ki,96Ki,112Ki,128Ki,144Ki,160Ki,176Ki,192Ki,208Ki,224Ki",
     "shared memory that a kernel asks for is taken from L1, preference or not"},
    {"ask", USUAL, "ask=launch,function carveout=0,50,100 shared=0,3Ki,16Ki",
     "an attribute of the launch against one of the function"},
    {"order", USUAL, "carveout=57 order=random,cyclic footprint=64Ki..160Ki:8Ki",
     "the order in which lines come back decides what L1 keeps"},
    {"edge", USUAL, "carveout=100 footprint=20Ki..22Ki:128", "line by line over the edge of what fits"},
    {"quick", UB_SUITE_QUICK, "carveout=0,50,100 footprint=16Ki,128Ki,320Ki", "three carve-outs, three footprints"},
    {"percent", UB_SUITE_FULL, "carveout=0..100", "every preference"},
    {"fine", UB_SUITE_FULL, "carveout=0,7,14,28,43,57,71,85,100 footprint=32Ki..512Ki:32Ki",
     "every carve-out, footprints of 16 to 512 KiB"},
    {"need", UB_SUITE_FULL, "ask=launch,nothing shared=0..224Ki:8Ki,227Ki", "shared memory in small steps"},
};

static const char *const counters[] = {
    "global_load_requests", "global_load_sectors", "global_load_bytes", "global_lines",
    "l1_load_sectors",      "l1_load_hits",        "l2_read_sectors",
};

static const char *const needs[] = {"clock_mhz", "carveout_hit_ns", "carveout_miss_ns"};

static const struct ub_provides provides[] = {
    {"carveout_hit_ns", "footprint=16Ki", "load_ns"},
    {"carveout_miss_ns", "load=cg", "load_ns"},
};

static const char *const metric_keys[] = {
    "held_bytes", "hit_rate", "hit_rate_by_time", "cycles_per_load", "load_ns",
};

/* ---- functions ------------------------------------------------------------------- */

static const char *supported(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct carveout_geometry g;
    return carveout_resolve(gpu, point, &g);
}

static void footprint(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_footprint *out)
{
    struct carveout_geometry g;
    *out = (struct ub_footprint){0};
    if (carveout_resolve(gpu, point, &g) != NULL)
        return;
    out->buffers[0] = (struct ub_buffer_spec){"source", UB_DEVICE_MEMORY, UB_FILL_RANDOM, false,
                                              (uint64_t)g.lines * CARVEOUT_LINE_BYTES};
    out->count = 1;
}

static void metrics(const struct ub_facts *facts, struct ub_metrics *out)
{
    struct carveout_geometry g;
    out->count = 0;
    if (carveout_resolve(facts->gpu, facts->point, &g) != NULL)
        return;
    const double hit_ns = ub_constant_value(facts->constants, "carveout_hit_ns");
    const double miss_ns = ub_constant_value(facts->constants, "carveout_miss_ns");
    const double load_ns = facts->time_ns / CARVEOUT_UNROLL;
    /* What goes past L1 says nothing of it; and where lines are taken in turn and do not fit,
     * the parts of a lap differ, so that the slope over some of them is no mean. */
    const bool is_mean = g.load == CARVEOUT_CA && isfinite(carveout_hit_rate(facts->gpu, &g));
    const double by_time = is_mean ? (miss_ns - load_ns) / (miss_ns - hit_ns) : NAN;
    const double draws = (double)carveout_loads(&g);
    /* The fill is out of it: its lines had to be missed. */
    const double drawn = ub_fact(facts, "l1_load_sectors") * draws / (draws + g.lines);
    ub_metric_add(out, "held_bytes", "B", by_time * (double)g.lines * CARVEOUT_LINE_BYTES);
    ub_metric_add(out, "hit_rate", "1", ub_fact(facts, "l1_load_hits") / drawn);
    ub_metric_add(out, "hit_rate_by_time", "1", by_time);
    ub_metric_add(out, "cycles_per_load", "cycle", load_ns * ub_constant_value(facts->constants, "clock_mhz") * 1e-3);
    ub_metric_add(out, "load_ns", "ns", load_ns);
}

/* The point is small: all of it is checked. */
static bool small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out)
{
    *out = *point;
    return supported(gpu, point) == NULL;
}

/* ---- chart and texts --------------------------------------------------------------- */

static const struct ub_chart_text chart_texts[] = {
    {"carveout", "What shared memory gets, L1 loses: the carve-out moves in steps",
     "min(1, (249 KiB - carve-out) / footprint)"},
    {"footprint", "L1 holds a footprint up to 249 KiB less the carve-out", "min(1, (249 KiB - carve-out) / footprint)"},
    {"shared", "Shared memory that a kernel asks for is taken from L1", "min(1, (249 KiB - carve-out) / footprint)"},
    {"ask", "A preference of the launch is one of the function", NULL},
    {"order", "The order in which lines come back decides what L1 keeps", NULL},
    {"", "L1 and shared memory share one memory", NULL},
};

const struct ub_micro ub_micro_carveout = {
    .name = "carveout",
    .rule = "L1 and shared memory are one memory: what the carve-out gives to blocks, the working set in L1 loses.",
    .text =
        {
            .law =
                "L1 = 249 KiB - carve-out (CC 9.0: 256 KiB, 7 of which cache no loads; seen to the line at 21 KiB). "
                "The carve-out is what was preferred, a percentage of the most shared memory that an SM can have, "
                "rounded up to a size that the generation has: 0, 8, 16, 32, 64, 100, 132, 164, 196, 228 KiB on 9.0 "
                "and 10.x, the same up to 164 on 8.0 and 8.7 and up to 100 on 8.6, 8.9 and 12.0; 32 or 64 on 7.5. One "
                "block always fits, with its reserved KiB. Three things are in no document: the percentage is of "
                "shared memory that blocks can use (as many blocks as fit it get their reserved KiB on top); a kernel "
                "without shared memory gets 32 KiB at least, if its blocks are small (128 threads here); without a "
                "preference the driver makes room for all blocks that an SM can hold, and under half of the memory "
                "for twice as many, whether they come or not. Lines drawn at random from a footprint are in L1 with "
                "the probability min(1, L1 / footprint), whatever the cache replaces; a load takes hit rate x hit + "
                "(1 - hit rate) x miss.",
            .breaks =
                "The order decides. Taken in turn, a footprint that is too large by a little should never be found "
                "again if the least recently used line were replaced; of 128 KiB in 117 an H200 finds 66 % (random "
                "draws: 91 %), of 160 KiB 19 % (73 %), and it changes from lap to lap: neither the oldest line nor "
                "any is replaced, and nothing is predicted there. The preference is a hint: a block that needs more "
                "gets more. The 32 KiB of kernels without shared memory are of small blocks: 128 threads in the "
                "record, 32 to 256 in earlier runs. The rule latency, one block of 1024 threads, no shared memory and "
                "a preference of 0, finds all of 240 KiB in L1, so that its carve-out is 8 KiB at most; why is not "
                "known (16 blocks of 128 threads, as many as are resident, would need 16 KiB, not 32). L1's capacity "
                "was seen to the line at 21 KiB and, in earlier runs, at 117; of draws from 320 KiB the times say 3 "
                "KiB less at 185 KiB and 1 to 1.5 less at 149, 217 and 241; the counters say 2 to 2.5 KiB less at "
                "185, 1 to 1.5 at 233 and 241. Latencies are those of one warp a scheduler with one load in flight, "
                "and 46.6 cycles of a hit are more than the 32 of the rule latency; bandwidth is another story. A "
                "CUDA graph keeps the preference that its kernels had when they were captured, as it keeps that of "
                "the launch. What L1 lacks and how the driver chooses is assumed on other generations.",
            .consequence =
                "State a preference where the working set is worth more than occupancy. An H200 that runs a kernel of "
                "128 threads with 16 KiB of shared memory makes room for 13 blocks: L1 is left with 21 KiB, and a "
                "load from 320 KiB takes 284 cycles; with cudaFuncAttributePreferredSharedMemoryCarveout = 0 it has "
                "217 KiB and takes 129. From 128 KiB it is 260 cycles at 100 %, 46.6 at 0. Shared memory in small "
                "pieces is dear: at 50 %, 3 KiB a block take 164 KiB, 16 KiB a block 132. A kernel with 1 to 7 KiB of "
                "shared memory a block can have the most L1, 241 KiB; one with none has 217 if its blocks are of 128 "
                "threads, and at least 240 with blocks of 1024.",
            .folk =
                "\"An H100 has 256 KiB of L1\": at most 241 here (mt4g: 249), and 21 if a kernel asks for all of "
                "shared memory.\n"
                "\"A carve-out of 0 leaves all to L1\": 32 KiB are kept where small blocks have no shared memory, 8 "
                "where they have a little.\n"
                "\"Shared memory that I allocate and do not use costs only occupancy\": it is taken from L1.\n"
                "\"The default suits everyone\": it suits occupancy. With 4 KiB of shared memory a block of 128 "
                "threads it leaves 117 KiB of L1 where 241 would do.\n"
                "\"L1 replaces the least recently used line\": not on an H200, see where the law breaks.",
            .sources =
                "CUDA C++ Programming Guide, compute capabilities 7.x to 10.x: sizes, rounding up, 1 KiB a block\n"
                "cuda_occupancy.h of CUDA 13.0, cudaOccAlignUpShmemSizeVoltaPlus: sizes of the carve-out\n"
                "driver_types.h of CUDA 13.0, cudaLaunchAttributePreferredSharedMemoryCarveout: takes precedence over "
                "the function's\n"
                "Chips and Cheese: H100 PCIe 208 KiB, B200 216, 112 and 16 KiB of L1 at three preferences\n"
                "caps-tum/mt4g: H100 233 and 249 KiB, A100 172, RTX 2080 Ti 61.5\n"
                "Measured for law.c: an H200, driver 580, CUDA 13.0: 101 percentages, 180 pairs of percentage and "
                "shared memory, 228 sizes without a preference",
        },
    .axis_count = CARVEOUT_AXES,
    .axes = axes,
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
            .metric = "held_bytes",
            .metric_label = "held by L1  [KiB]",
            .metric_scale = 1.0 / 1024,
            .panel_metric = "hit_rate",
            .panel_label = "hit rate",
            .panel_counter = "counter: L1 hits / sectors",
            .text_count = COUNT(chart_texts),
            .texts = chart_texts,
        },
    .timer = ub_timer_sm_clock,
    .supported = supported,
    .footprint = footprint,
    .law = carveout_law,
    .metrics = metrics,
    .small = small,
    .verify = carveout_verify,
};
