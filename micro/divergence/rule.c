/* SPDX-License-Identifier: MIT
 *
 * The rule `divergence`: what is swept, counted and said about it. */
#include "micro/divergence/rule.h"

#include "harness/contract/record.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* In the order of enum divergence_variant. */
static const char *const variants[] = {"select_thread", "select_warp", "thread", "warp",   "block", "loop", "switch",
                                       "table",         "constant",    "data",   "sorted", "tail",  NULL};

static const struct ub_axis axes[DIVERGENCE_AXES] = {
    [DIVERGENCE_VARIANT] = {.name = "variant",
                            .unit = "",
                            .help =
                                "what decides the path: lane, warp, block, data; a select, switch, loop or look-up; "
                                "tail: warps that are not full",
                            .kind = UB_AXIS_WORD,
                            .words = variants,
                            .initial = "thread"},
    [DIVERGENCE_WAYS] = {.name = "ways",
                         .unit = "path",
                         .help = "different paths (loop: trip counts; constant: indices), dealt out in turn",
                         .kind = UB_AXIS_INTEGER,
                         .minimum = 1,
                         .maximum = DIVERGENCE_PATHS,
                         .initial = "2"},
    [DIVERGENCE_BODY] = {.name = "body",
                         .unit = "step",
                         .help = "dependent FMAs of a path (selects, look-ups); a multiple of 32",
                         .kind = UB_AXIS_INTEGER,
                         .minimum = DIVERGENCE_STEPS,
                         .maximum = 1024,
                         .initial = "64"},
    [DIVERGENCE_BLOCK] = {.name = "block",
                          .unit = "thread",
                          .help = "threads of a block; 128: one warp a scheduler",
                          .kind = UB_AXIS_INTEGER,
                          .minimum = 32,
                          .maximum = 1024,
                          .initial = "128"},
    [DIVERGENCE_BLOCKS] = {.name = "blocks",
                           .unit = "block",
                           .help = "grid; auto: one block an SM",
                           .kind = UB_AXIS_INTEGER,
                           .minimum = 1,
                           .maximum = 1024,
                           .zero_word = "auto",
                           .initial = "auto"},
};

static const struct ub_sweep sweeps[] = {
    {"ways", UB_SUITE_DEFAULT | UB_SUITE_FULL, "ways=1..32 variant=thread,warp",
     "the rule itself: 1 to 32 paths, within a warp and between warps"},
    {"ways_quick", UB_SUITE_QUICK, "ways=1,2,8,32 variant=thread,warp", "the rule at a few numbers of paths"},
    {"variant", UB_SUITE_DEFAULT | UB_SUITE_QUICK | UB_SUITE_FULL,
     "variant=select_thread,select_warp,thread,warp,block,loop,switch,table,constant,data,sorted body=128",
     "two ways to go, written in eleven ways"},
    {"data", UB_SUITE_DEFAULT | UB_SUITE_FULL, "ways=2,4,8,16,32 variant=data,sorted",
     "random data against the same data in order"},
    {"instead", UB_SUITE_DEFAULT | UB_SUITE_FULL, "ways=1,2,4,8,16,32 variant=table,constant",
     "look-ups instead of branches: shared memory, constant memory"},
    {"other", UB_SUITE_DEFAULT | UB_SUITE_FULL, "ways=1,2,4,8,16,32 variant=loop,switch",
     "trip counts and a switch diverge like an if"},
    {"body", UB_SUITE_DEFAULT | UB_SUITE_FULL, "body=32..1024*2 variant=thread,warp",
     "the length of a path: how time and instructions grow with it"},
    {"block", UB_SUITE_DEFAULT | UB_SUITE_FULL, "block=32,64,128,256,512,1024 variant=thread,warp",
     "more warps a scheduler: divergence costs issue slots, which other warps want"},
    {"tail", UB_SUITE_DEFAULT | UB_SUITE_FULL, "block=33,48,80,100,127 ways=1 variant=tail",
     "lanes that do not exist are idle, yet nothing diverges"},
    {"ways_all", UB_SUITE_FULL, "ways=1..8,12,16..32:4 variant=block,loop,switch,table,constant,data,sorted",
     "every number of paths for all that has paths"},
    {"partial", UB_SUITE_FULL, "block=33,100,1000 ways=2,32 variant=thread,warp,loop,switch,data,sorted",
     "branches in blocks whose last warp is not full"},
};

static const char *const counters[] = {
    "branches_divergent", "branches_uniform",    "ffma",
    "warp_instructions",  "thread_instructions", "thread_instructions_pred_on",
};

static const char *const needs[] = {"fma_step_ns", "select_step_ns", "constant_step_ns", "clock_mhz"};

static const struct ub_provides provides[] = {
    {"fma_step_ns", "variant=warp ways=1", "step_ns"},
    {"select_step_ns", "variant=select_warp", "step_ns"},
    {"constant_step_ns", "variant=constant ways=1", "step_ns"},
};

static const char *const metric_keys[] = {
    "slowdown", "step_ns", "divergent_branches", "branch_efficiency", "average_active_lanes", "predicated_off",
};

/* ---- functions -------------------------------------------------------------------- */

static const char *supported(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct divergence_geometry g;
    return divergence_resolve(gpu, point, &g);
}

static void footprint(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_footprint *out)
{
    struct divergence_geometry g;
    *out = (struct ub_footprint){0};
    if (divergence_resolve(gpu, point, &g) != NULL)
        return;
    out->buffers[out->count++] =
        (struct ub_buffer_spec){"results", UB_DEVICE_MEMORY, UB_FILL_POISON, true, divergence_out_bytes(&g)};
}

static void metrics(const struct ub_facts *facts, struct ub_metrics *out)
{
    struct divergence_geometry g;
    out->count = 0;
    if (divergence_resolve(facts->gpu, facts->point, &g) != NULL)
        return;
    const double steps = (double)g.rows * g.body;
    const double one_path_ns = steps * ub_constant_value(facts->constants, divergence_step_constant(g.variant));
    const double warps = (double)g.blocks * ((g.block + DIVERGENCE_LANES - 1) / DIVERGENCE_LANES);
    const double divergent = ub_fact(facts, "branches_divergent"), uniform = ub_fact(facts, "branches_uniform");
    const double threads = ub_fact(facts, "thread_instructions"), on = ub_fact(facts, "thread_instructions_pred_on");
    ub_metric_add(out, "slowdown", "x", facts->time_ns / one_path_ns);
    ub_metric_add(out, "step_ns", "ns", facts->time_ns / steps);
    /* each time that a warp comes to them */
    ub_metric_add(out, "divergent_branches", "branch/warp", divergent / (warps * g.rows));
    /* The loop around the steps branches too, so that a select shows 100 %; a launch without
     * any branch would have no efficiency (0 / 0), neither 0 nor 100 %. */
    ub_metric_add(out, "branch_efficiency", "1", uniform / (uniform + divergent));
    ub_metric_add(out, "average_active_lanes", "lane", threads / ub_fact(facts, "warp_instructions"));
    ub_metric_add(out, "predicated_off", "1", 1 - on / threads);
}

/* ---- chart and texts -------------------------------------------------------------- */

static const struct ub_chart_text chart_texts[] = {
    {"ways", "Divergence: a warp takes as long as the sum of the paths its lanes take", "paths that a warp takes"},
    {"variant", "Only branches that split a warp cost time", NULL},
    {"body", "However long the paths are, each costs its whole length", NULL},
    {"block", "Divergent warps fill issue slots that other warps want", NULL},
    {"", "Divergence: a warp takes as long as the sum of the paths its lanes take", NULL},
};

const struct ub_micro ub_micro_divergence = {
    .name = "divergence",
    .rule = "A warp executes, one after the other, every path that at least one of its lanes takes.",
    .text =
        {
            .law =
                "Time of a warp = sum over the paths that at least one of its lanes takes; lanes off the path idle. k "
                "equally long paths in a warp: k times; k paths in different warps or blocks: once. A loop takes as "
                "long as its longest lane. Divergent branch executions of a warp: as many as it takes paths, if two "
                "or more (if-chain: one test a path); paths - 1 for trip counts and for a switch that became a tree "
                "of two-way branches. A select has no branch: both values are there, one is taken. A look-up in "
                "constant memory takes one turn for each distinct index of the warp. With more warps than schedulers "
                "the same holds for issue slots: an instruction takes a whole slot for one lane as for 32.",
            .breaks =
                "Paths of a few instructions become selects or predicated instructions: nothing diverges, but both "
                "sides issue. Time here is a slope over the length of the paths: the branch itself (compare, branch, "
                "reconvergence) comes on top, which decides for short paths. Where a loop lies in the instruction "
                "cache shifts a path by 1 to 2 % on an H200. With two to four warps a scheduler neither latency nor "
                "issue decides alone: up to 7 % more than the law. Paths that wait for memory are not measured here. "
                "What a compiler makes of an if or a switch is its own matter: counters of those two are tested only "
                "with the code that was looked at (sm_90).",
            .consequence =
                "Let the 32 threads of a warp agree: branch on threadIdx.x / 32, on the block, or sort the work. On "
                "an H200 two paths in a warp take twice as long as one and 32 paths 32 times (measured within 0.1 %); "
                "between warps nothing is lost. A branch on random data takes 2 times as long at two ways and 21 "
                "times at 32; the same data in order 1.06 and 1.75 times. If paths differ in numbers only, look the "
                "numbers up: from shared memory that costs one path. From constant memory each look-up takes 34 "
                "cycles, and 11 more for each further index: 375 for 32.",
            .folk =
                "\"a = 100 for even threads, b = 200 for odd ones, shows 50 % branch efficiency\": it compiles to a "
                "select; by thread and by warp it takes the same time, and no branch diverges.\n"
                "\"Branch efficiency says what divergence costs\": at 32 paths, 32 times slower, it reads two thirds, "
                "because loops count as uniform branches. Average active lanes (about 3 of 32) says it. A select has "
                "no branch of its own and shows the loop's: 100 %.\n"
                "\"Predicated branches cost nothing\": nothing diverges, but both sides take their issue slots.\n"
                "\"A block that is not a multiple of 32 diverges\": lanes that do not exist are idle (16.5 of 32 "
                "active for 33 threads); no branch diverges and nothing takes longer.\n"
                "\"Sorting helps branch prediction\": a GPU has none; it makes the lanes of a warp agree.",
            .sources =
                "CUDA C++ Programming Guide, \"SIMT architecture\": paths of a warp are executed one after the other\n"
                "CUDA C++ Best Practices Guide, \"Branching and divergence\", \"Branch predication\"\n"
                "Cheng, Grossman, McKercher, Professional CUDA C Programming, chapter 3: a = 100 / b = 200\n"
                "Stack Overflow 12539762, 55302014: what branch efficiency counts, and what compilers leave of it\n"
                "Jia et al. 2018, 2019; Luo et al. 2024: an FMA waits 4 cycles for the one before\n"
                "Measured: an H200, driver 580, CUDA 13.0; branch counters equal to ncu's at 30 points",
        },
    .axis_count = DIVERGENCE_AXES,
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
            .metric = "slowdown",
            .metric_label = "time / time of one path",
            .metric_scale = 1,
            .panel_metric = "divergent_branches",
            .panel_label = "divergent / warp",
            .panel_counter = "counter: divergent branch executions per warp",
            .text_count = COUNT(chart_texts),
            .texts = chart_texts,
        },
    .timer = ub_timer_sm_clock,
    .supported = supported,
    .footprint = footprint,
    .law = divergence_law,
    .metrics = metrics,
    .small = divergence_small,
    .verify = divergence_verify,
};
