/* SPDX-License-Identifier: MIT
 *
 * The rule `reduce` as data: axes, sweeps, counters, metrics, chart and texts. */
#include "micro/reduce/rule.h"

#include <math.h>
#include <stdio.h>

#include "harness/contract/record.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const works[] = {"sum", "block", NULL}; /* enum reduce_work */
static const char *const types[] = {"int", "float", NULL}; /* enum reduce_type */

/* enum reduce_variant */
static const char *const variants[] = {
    "shared_interleaved",
    "shared_strided",
    "shared",
    "shuffle",
    "redux",
    "atomic_shared",
    "atomic_thread",
    "atomic_warp",
    "two_kernels",
    "last_block",
    "reuse",
    "missing_barrier",
    NULL,
};

static const struct ub_axis axes[REDUCE_AXES] = {
    [REDUCE_WORK] = {.name = "work",
                     .unit = "",
                     .help = "sum: of the whole array; block: what a block does with the sums of its threads, alone, "
                             "again and again in one block",
                     .kind = UB_AXIS_WORD,
                     .words = works,
                     .initial = "sum"},
    [REDUCE_VARIANT] = {.name = "variant",
                        .unit = "",
                        .help = "how the sums of threads and blocks are brought together; missing_barrier is wrong on "
                                "purpose",
                        .kind = UB_AXIS_WORD,
                        .words = variants,
                        .initial = "shuffle"},
    [REDUCE_N] = {.name = "n",
                  .unit = "element",
                  .help = "of the array, 4 bytes each; auto: at least 1 GiB and 20 times L2 (work=sum)",
                  .kind = UB_AXIS_INTEGER,
                  .minimum = 1,
                  .maximum = INT64_C(1) << 38,
                  .zero_word = "auto",
                  .initial = "auto"},
    [REDUCE_BLOCK] = {.name = "block",
                      .unit = "thread",
                      .help = "of a block: a power of two from 32 on",
                      .kind = UB_AXIS_INTEGER,
                      .minimum = 1,
                      .maximum = REDUCE_BLOCK_MAX,
                      .initial = "256"},
    [REDUCE_TYPE] = {.name = "type",
                     .unit = "",
                     .help = "of an element: whole numbers of 32 bits, which wrap round, or floats",
                     .kind = UB_AXIS_WORD,
                     .words = types,
                     .initial = "int"},
    [REDUCE_BYTES] = {.name = "bytes",
                      .unit = "byte",
                      .help = "of a load of a thread: 4 or 16 (work=sum)",
                      .kind = UB_AXIS_INTEGER,
                      .minimum = 1,
                      .maximum = 16,
                      .initial = "16"},
    [REDUCE_LOADS] =
        {.name = "loads",
         .unit = "load",
         .help = "of a thread before it adds its sum to those of others; reuse, missing_barrier: rows (work=sum)",
         .kind = UB_AXIS_INTEGER,
         .minimum = 1,
         .maximum = REDUCE_LOADS_MAX,
         .initial = "4"},
};

static const struct ub_sweep sweeps[] = {
    {"ladder", UB_SUITE_DEFAULT | UB_SUITE_FULL,
     "variant=shared_interleaved,shared_strided,shared,shuffle,redux,atomic_shared,atomic_thread,atomic_warp,two_"
     "kernels,last_block,reuse "
     "bytes=4 loads=1",
     "one element a thread, as in textbooks: what each way costs there"},
    {"wide", UB_SUITE_DEFAULT | UB_SUITE_FULL, "variant=all bytes=16 loads=16",
     "64 elements a thread: where it does not matter any more, and the race that verification finds"},
    {"loads", UB_SUITE_DEFAULT | UB_SUITE_FULL, "variant=shuffle bytes=4,16 loads=1..16*2",
     "how many loads of a thread it takes to reach DRAM's ceiling"},
    {"n", UB_SUITE_DEFAULT | UB_SUITE_FULL,
     "variant=shuffle,two_kernels,last_block n=1,1009,65537,1Mi,4Mi,8Mi,64Mi,256Mi loads=8",
     "from one element to 1 GiB"},
    {"atomics", UB_SUITE_DEFAULT | UB_SUITE_FULL,
     "variant=atomic_thread,atomic_warp,shuffle type=float n=16Mi loads=1,4", "floats, whose atomics nothing merges"},
    {"phase", UB_SUITE_DEFAULT | UB_SUITE_FULL,
     "work=block variant=shared_interleaved,shared_strided,shared,shuffle,redux,atomic_shared block=32..1024*2",
     "what a block does with the sums of its threads, alone on an SM"},
    {"shapes", UB_SUITE_FULL, "variant=shuffle block=128..1024*2 bytes=4,16 loads=1,4,16 type=float",
     "blocks of every size: small ones have to be launched, large ones wait for each other"},
    {"race", UB_SUITE_FULL, "variant=missing_barrier block=64..1024*2 bytes=4,16 loads=2,16 n=16Mi",
     "the missing barrier in blocks of every size"},
    {"ragged", UB_SUITE_FULL,
     "variant=shared,shuffle,atomic_warp,two_kernels,last_block,reuse n=31,1009,104729 bytes=4,16 loads=3",
     "arrays that fill neither chunks nor warps nor blocks"},
    {"phase_float", UB_SUITE_FULL, "work=block variant=shuffle,atomic_shared type=float block=32..1024*2",
     "floats: shuffles, and a loop of compare-and-swap"},
    {"quick", UB_SUITE_QUICK, "variant=shared,shuffle,missing_barrier loads=16", "DRAM's ceiling, and the race"},
    {"quick_phase", UB_SUITE_QUICK, "work=block variant=shared,shuffle,redux", "the block phase alone"},
};

static const char *const counters[] = {
    "global_load_requests",  "global_load_sectors",         "global_load_bytes",      "global_store_requests",
    "shared_load_requests",  "shared_store_requests",       "shared_load_wavefronts", "shared_store_wavefronts",
    "shared_atomics",        "global_reductions",           "global_atomics",         "blocks_launched",
    "warps_launched",        "branches_divergent",          "branches_uniform",       "warp_instructions",
    "thread_instructions",   "thread_instructions_pred_on", "dram_read_bytes",        "stall_barrier",
    "stall_long_scoreboard",
};

static const char *const needs[] = {
    "clock_mhz",    "dram_load_ceiling", "l2_load_ceiling", "launch_floor_ns", "block_launch_ns",
    "load_wait_ns", "l2_latency_ns",     "l2_crossing_ns",  "red_int_ns",      "red_float_ns",
};

static const struct ub_provides provides[] = {
    {"red_int_ns", "variant=atomic_warp type=int bytes=4 loads=1 n=16Mi", "reduction_ns"},
    {"red_float_ns", "variant=atomic_warp type=float bytes=4 loads=1 n=16Mi", "reduction_ns"},
};

static const char *const metric_keys[] = {
    "useful_bandwidth",      "ceiling_share",     "phase_cycles", "reduction_ns",
    "instructions_per_warp", "shared_wavefronts", "active_lanes", "barrier_wait",
};

/* ---- functions ---------------------------------------------------------------- */

static enum ub_timer timer(const struct ub_point *point)
{
    return point->values[REDUCE_WORK] == REDUCE_BLOCK_PHASE ? UB_TIMER_SM_CLOCK : UB_TIMER_EVENT;
}

static const char *supported(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct reduce_geometry g;
    return reduce_resolve(gpu, point, &g);
}

static const char *mistake(const struct ub_gpu *gpu, const struct ub_point *point)
{
    (void)gpu;
    return point->values[REDUCE_VARIANT] == REDUCE_MISSING_BARRIER ? "no barrier before the second use of shared memory"
                                                                   : NULL;
}

/* In the order that kernel.cu takes them in. */
static void footprint(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_footprint *out)
{
    struct reduce_geometry g;
    *out = (struct ub_footprint){0};
    if (reduce_resolve(gpu, point, &g) != NULL)
        return;
    out->buffers[out->count++] =
        (struct ub_buffer_spec){"source", UB_DEVICE_MEMORY, g.type == REDUCE_INT ? UB_FILL_RANDOM : UB_FILL_FLOAT,
                                false, g.n * REDUCE_ELEMENT_BYTES};
    out->buffers[out->count++] =
        (struct ub_buffer_spec){"sum", UB_DEVICE_MEMORY, UB_FILL_POISON, true, REDUCE_ELEMENT_BYTES};
    if (reduce_clears(g.variant))
        return;
    out->buffers[out->count++] = (struct ub_buffer_spec){"block_sums", UB_DEVICE_MEMORY, UB_FILL_POISON, true,
                                                         (uint64_t)g.blocks * REDUCE_ELEMENT_BYTES};
    out->buffers[out->count++] =
        (struct ub_buffer_spec){"ticket", UB_DEVICE_MEMORY, UB_FILL_ZERO, false, REDUCE_ELEMENT_BYTES};
}

static void metrics(const struct ub_facts *facts, struct ub_metrics *out)
{
    struct reduce_geometry g;
    out->count = 0;
    if (reduce_resolve(facts->gpu, facts->point, &g) != NULL)
        return;
    const bool sums = g.work == REDUCE_SUM;
    const double bandwidth = sums ? (double)g.n * REDUCE_ELEMENT_BYTES / facts->time_ns * 1e9 : NAN;
    ub_metric_add(out, "useful_bandwidth", "B/s", bandwidth);
    ub_metric_add(out, "ceiling_share", "1", bandwidth / ub_constant_value(facts->constants, "dram_load_ceiling"));
    const double warps = ub_fact(facts, "warps_launched"), instructions = ub_fact(facts, "warp_instructions");
    const double wavefronts = ub_fact(facts, "shared_load_wavefronts") + ub_fact(facts, "shared_store_wavefronts");
    const double reductions = ub_fact(facts, "global_reductions");
    const bool per_atomic = sums && (g.variant == REDUCE_ATOMIC_THREAD || g.variant == REDUCE_ATOMIC_WARP);
    ub_metric_add(out, "reduction_ns", "ns", per_atomic ? facts->time_ns / reductions : NAN);
    ub_metric_add(out, "instructions_per_warp", "instruction", instructions / warps);
    ub_metric_add(out, "shared_wavefronts", "wavefront/block", wavefronts / g.blocks);
    ub_metric_add(out, "active_lanes", "lane", ub_fact(facts, "thread_instructions_pred_on") / instructions);
    ub_metric_add(out, "barrier_wait", "cycle", ub_fact(facts, "stall_barrier") / warps);
    ub_metric_add(out, "phase_cycles", "cycle", sums ? NAN : facts->time_ns * ub_fact_clock_mhz(facts) * 1e-3);
}

/* ---- chart and texts ------------------------------------------------------------ */

static size_t marks(const struct ub_gpu *gpu, const struct ub_point *point, size_t axis,
                    struct ub_mark out[UB_MAX_MARKS])
{
    (void)point;
    if (axis != REDUCE_N)
        return 0;
    out[0] = (struct ub_mark){.at = (double)gpu->l2_bytes / REDUCE_ELEMENT_BYTES};
    snprintf(out[0].label, sizeof out[0].label, "L2 holds %d MiB", (int)(gpu->l2_bytes >> 20));
    return 1;
}

static const struct ub_chart_text chart_texts[] = {
    {"ladder", "One element a thread: atomics and block phases show", NULL},
    {"wide", "64 elements a thread: DRAM hides how a block adds them up", NULL},
    {"loads", "Enough loads a thread, not the way to add, reach DRAM's ceiling", "DRAM, waiting and atomics together"},
    {"n", "Small sums take the launches' time, large ones that of their loads", "launches + a block + loads"},
    {"atomics", "An atomic of floats takes 1.8 ns after the one before, whoever does it", NULL},
    {"phase", "Alone, a block of 256 threads adds up by shuffles in half the time of a tree",
     "steps × (latency + warps × issue)"},
    {"phase_float", "Alone, a block adds floats by shuffles, not by a loop of compare-and-swap", NULL},
    {"variant", "Ways to add up differ in a block, seldom in a whole sum", NULL},
    {"", "What it takes to add up an array", NULL},
};

const struct ub_micro ub_micro_reduce = {
    .name = "reduce",
    .rule = "The sum of a long array takes as long as its loads; how it is added up shows only where threads have "
            "little to load, or where everybody adds to the same word.",
    .text =
        {
            .law =
                "Time = what all launches take alone + the larger of two. (1) The SMs: loads at DRAM's ceiling; "
                "blocks x (their loads' wait + their block phase + 272 ns + 6.1 ns a warp) / blocks that all SMs hold "
                "at a time; instructions / issue slots; launches at 0.6 ns: together, the fourth root of the sum of "
                "fourth powers, because neither hides all of another that takes about as long (a fit, 6 %). (2) The "
                "part of L2 that holds the result: atomics to one word are done one after the other, 1.76 ns each in "
                "floats, 0.76 ns in whole numbers, but 1.76 where a load from DRAM came in between; square root of "
                "the sum of squares with the loads. A block phase alone takes steps x (latency + slots x warps): a "
                "tree in shared memory log2(threads) steps of 57 cycles + 3.3 a warp, and 150; shuffles 380 + 3 a "
                "warp, two levels of five; redux.sync 176 + 3. Loads, sectors, wavefronts of shared memory, atomics "
                "and blocks follow from n and the shape. The tree of every second thread and that of conflicting "
                "words take the same number of wavefronts: idle lanes cost what conflicts cost.",
            .breaks =
                "Between 3/4 and 1.05 times L2 no time is predicted: which part of the array is left there is not "
                "modelled. How often loads come between two atomics of whole numbers changes with where the result "
                "lies and from run to run: the same point took 919 us in the record, 931 and 1021 in earlier runs. "
                "With two loads of 4 bytes a thread the samples fell into two groups: 1461 us, as by the law, and "
                "1278, as if atomics took nothing. With one, the tree with the remainder takes 10 % longer than by "
                "the law, that with conflicts 12 %. Row by row with 16 rows takes 7 % longer. Just above L2's size, "
                "with an atomic a warp, a sum takes 7 % less. Atomics of floats in shared memory are a loop of "
                "compare-and-swap: no law. What was fitted is an H200's; on other cards it is assumed.",
            .consequence =
                "Give each thread 64 bytes in flight and 128 to 256 in all, then take whatever is easiest to get "
                "right: with 64 elements a thread all six block phases took the same time within 0.3 % on an H200, "
                "4.59 TB/s on this card and 4.69 on another, all that DRAM gave (BabelStream's dot: 4.41). One "
                "element a thread takes 4 times as long with two kernels, 5 times with shuffles and an atomic a "
                "block, 12 times with the textbook's first tree, 28 times with an atomic a warp, 2000 times with an "
                "atomic for each float. Below a million elements a sum takes 2 to 3 us whatever is done. A launch "
                "more costs 0.5 us; a ticket between two fences costs more than that.",
            .folk =
                "\"Within a warp no barrier is needed\" (Harris 2007, the last steps of the tree): wrong since Volta, "
                "whose lanes go on one by one. Use shuffles with a mask, or __syncwarp().\n"
                "\"The interleaved tree is slow because its warps diverge\": nvcc makes no branch of it; 0 divergent "
                "branches are counted. It takes 28 instructions a step instead of 10 for its remainder, three of them "
                "in the unit for special functions, and no warp drops out of the first five steps: 2.3 times the "
                "sequential tree's cycles at 256 threads.\n"
                "\"Shuffles are many times faster than shared memory\": a block phase of 256 threads takes 401 cycles "
                "instead of 810, of 32 threads 386 instead of 455; redux.sync takes 197. A sum that waits for DRAM "
                "takes the same time with any of them.\n"
                "\"Atomics in shared memory are slow\": of whole numbers they are the fastest block phase, 141 cycles "
                "at 256 threads, because the compiler adds up each warp by redux.sync first. Of floats they are the "
                "slowest, 22000 cycles.\n"
                "\"An atomic for each thread is 32 times slower than one for each warp\": in whole numbers it takes "
                "the same time within 0.1 %, the compiler makes one of them a warp. In floats it does take 32 times "
                "as long.\n"
                "\"One launch is faster than two\": with fences and a ticket it took 2.5 us for one element, two "
                "kernels 2.5, clearing and an atomic 2.1; and for 2 GiB 6 to 7 % longer than these.\n"
                "\"A missing barrier would show\": it need not. Here, with the next row on its way, it gave a wrong "
                "sum at each of 21 shapes; compute-sanitizer's racecheck names the two accesses, and finds nothing in "
                "the other variants.",
            .sources =
                "Harris: Optimizing Parallel Reduction in CUDA, NVIDIA, 2007: the trees, and what is wrong since "
                "2017\n"
                "CUDA C++ Programming Guide: \"Independent Thread Scheduling\", \"Warp Shuffle Functions\", \"Warp "
                "Reduce Functions\", \"Memory Fence Functions\" (the sum by the last block)\n"
                "Luitjens: Faster Parallel Reductions on Kepler, NVIDIA blog, 2014: shuffles, one atomic a block\n"
                "BabelStream, dot, on an H200: 4410 GB/s\n"
                "Measured: two H200 whose DRAM differs by 2 %, driver 580, CUDA 13.0; all numbers that are called "
                "fits, and 80 parts of L2, are fitted to them",
        },
    .axis_count = REDUCE_AXES,
    .axes = axes,
    .owners = &reduce_owners,
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
            .metric = "useful_bandwidth",
            .metric_label = "bandwidth of the sum  [GB/s]",
            .metric_scale = 1e-9,
            .other_metric = "phase_cycles",
            .other_label = "cycles of a block",
            .other_scale = 1,
            .share_metric = "ceiling_share",
            .share_label = "share of DRAM's ceiling",
            .panel_metric = "instructions_per_warp",
            .panel_label = "instructions / warp",
            .panel_counter = "counter: warp instructions / warps",
            .marks = marks,
            .text_count = COUNT(chart_texts),
            .texts = chart_texts,
        },
    .timer = timer,
    .supported = supported,
    .mistake = mistake,
    .footprint = footprint,
    .law = reduce_law,
    .metrics = metrics,
    .small = reduce_small,
    .verify = reduce_verify,
};
