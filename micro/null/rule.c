/* SPDX-License-Identifier: MIT
 *
 * The rule `null`: the floor of the instrument. Whatever another rule measures
 * contains what an empty kernel takes under the same timer; two constants that
 * every law of time needs are measured here. */
#include "micro/null/rule.h"

#include <math.h>

#include "harness/contract/record.h"
#include "harness/model/time.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Blocks of the point that measures block_launch_ns: 0.6 ms on an H200, of which the
 * floor of a launch is a thousandth. */
enum { MANY_BLOCKS = 1 << 20 };

static const char *const timers[] = {"event", "sm_clock", "host", NULL}; /* in the order of enum ub_timer */

static const struct ub_axis axes[NULL_AXES] = {
    [NULL_TIMER] = {.name = "timer",
                    .unit = "",
                    .help = "event: a launch in a CUDA graph; sm_clock: an iteration of a loop; host: launch and wait",
                    .kind = UB_AXIS_WORD,
                    .words = timers,
                    .initial = "event"},
    [NULL_GRID] = {.name = "grid",
                   .unit = "block",
                   .help = "blocks of 32 threads (timer=event, host)",
                   .kind = UB_AXIS_INTEGER,
                   .minimum = 1,
                   .maximum = 1 << 24,
                   .initial = "1"},
};

static const struct ub_sweep sweeps[] = {
    {"timer", UB_SUITE_DEFAULT | UB_SUITE_QUICK | UB_SUITE_FULL, "timer=all",
     "what each timer reads where nothing happens"},
    {"grid", UB_SUITE_DEFAULT | UB_SUITE_FULL, "grid=1..1048576*4", "how fast blocks are launched"},
};

static const char *const counters[] = {
    "blocks_launched",
    "warps_launched",
    "global_load_requests",
    "global_store_requests",
};
static const char *const needs[] = {"launch_floor_ns", "block_launch_ns"};
static const char *const metric_keys[] = {"time_ns", "time_per_block_ns"};

static const struct ub_provides provides[] = {
    {"launch_floor_ns", "timer=event grid=1", "time_ns"},
    {"block_launch_ns", "timer=event grid=1048576", "time_per_block_ns"},
};

static enum ub_timer timer(const struct ub_point *point)
{
    return (enum ub_timer)point->values[NULL_TIMER];
}

static const char *supported(const struct ub_gpu *gpu, const struct ub_point *point)
{
    (void)gpu;
    if (timer(point) == UB_TIMER_SM_CLOCK && point->values[NULL_GRID] != 1)
        return "timer=sm_clock reads the clock of one block: it needs grid=1";
    return NULL;
}

static void footprint(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_footprint *out)
{
    (void)gpu;
    (void)point;
    *out = (struct ub_footprint){0};
}

static void add_counter(struct ub_law *law, const char *key, uint64_t predicted)
{
    law->counters[law->counter_count++] =
        (struct ub_law_counter){.key = key, .class_ = UB_STRUCTURAL, .known = true, .predicted = predicted};
}

static void event_law(const struct ub_constants *constants, int64_t grid, struct ub_law *out)
{
    const double floor_ns = ub_constant_value(constants, "launch_floor_ns");
    ub_time_term(out, "block_launch", (double)grid * ub_constant_value(constants, "block_launch_ns"));
    ub_time_bottleneck(out, floor_ns);
    if (grid == 1 || grid == MANY_BLOCKS)
        out->note = "this point measures a constant of the law: nothing is left to test";
    else if (isfinite(out->time_ns))
        out->tolerance = 0.1;
}

static void law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                struct ub_law *out)
{
    (void)gpu;
    const int64_t grid = point->values[NULL_GRID];
    const bool clocked = timer(point) == UB_TIMER_SM_CLOCK;
    *out = (struct ub_law){.time_ns = NAN, .level = "none"};
    add_counter(out, "blocks_launched", (uint64_t)grid);
    add_counter(out, "warps_launched", (uint64_t)grid); /* blocks of one warp */
    add_counter(out, "global_load_requests", 0);
    add_counter(out, "global_store_requests", clocked ? 1 : 0); /* the cycles that were read */
    if (timer(point) == UB_TIMER_EVENT)
        event_law(constants, grid, out);
    else
        out->note = clocked
                        ? "the cycles of a loop follow from the machine code: they are measured, not predicted"
                        : "the host's part of a launch depends on driver and processor: it is measured, not predicted";
}

static void metrics(const struct ub_facts *facts, struct ub_metrics *out)
{
    const double blocks = (double)facts->point->values[NULL_GRID];
    out->count = 0;
    ub_metric_add(out, "time_ns", "ns", facts->time_ns);
    ub_metric_add(out, "time_per_block_ns", "ns", facts->time_ns / blocks);
}

static bool small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out)
{
    (void)gpu;
    (void)point;
    (void)out;
    return false; /* an empty kernel has no answer */
}

static bool verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host, uint64_t seed,
                   uint64_t checksum, struct ub_error *err)
{
    (void)gpu;
    (void)point;
    (void)host;
    (void)seed;
    (void)checksum;
    return ub_fail(err, UB_INTERNAL, "null has no answer to verify: small() says so");
}

static const struct ub_chart_text chart_texts[] = {
    {"timer", "What a launch costs when the kernel does nothing", NULL},
    {"grid", "Blocks are launched one after another, whatever they do", "floor + blocks x block launch"},
    {"", "The floor of the instrument", NULL},
};

const struct ub_micro ub_micro_null = {
    .name = "null",
    .rule = "A launch costs a floor and a time a block, even if the kernel does nothing.",
    .text =
        {
            .law =
                "time of a launch in a graph = launch_floor_ns + blocks x block_launch_ns. No global access is made.",
            .breaks =
                "The floor is that of launches back to back in one CUDA graph on one stream; a launch from the host "
                "(timer=host) adds the driver's time and the wait. Blocks of 1024 threads are launched up to 13 % "
                "slower than smaller ones on an H200. The time of a loop iteration is a matter of the machine code.",
            .consequence =
                "A kernel of less than 5 microseconds is mostly launch: fuse it, or put it into a graph. An H200 "
                "launches one block every 0.60 ns, whatever its size up to 512 threads: with 32 threads and one "
                "4-byte load a thread that is 0.2 TB/s at most, of 4.6 that DRAM can give.",
            .folk = "\"Launch overhead is 5 to 10 microseconds\": from the host, synchronised, that is about right; "
                    "back to back in a graph it is 0.50 microseconds on an H200.\n"
                    "\"More blocks are free\": each has its time of launch, which decides once a block does little.",
            .sources = "CUDA C++ Programming Guide, CUDA Graphs: launches without the host's part\n"
                       "RRZE-HPC/gpu-benches gpu-small-kernels: 1.26 us a launch in a graph, H200\n"
                       "Measured for block_launch_ns: an H200, driver 580, grids of 65536 and 1048576 empty blocks",
        },
    .axis_count = NULL_AXES,
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
            .metric = "time_ns",
            .metric_label = "time  [ns]",
            .metric_scale = 1,
            .text_count = COUNT(chart_texts),
            .texts = chart_texts,
        },
    .timer = timer,
    .supported = supported,
    .footprint = footprint,
    .law = law,
    .metrics = metrics,
    .small = small,
    .verify = verify,
};
