/* SPDX-License-Identifier: MIT
 *
 * The rule `latency` as data: axes, sweeps, counters, metrics, chart and texts. */
#include <math.h>
#include <stdio.h>

#include "harness/contract/record.h"
#include "micro/latency/rule.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const ops[] = {"load", "fma", "add", "mad", "fp64", "shuffle", "atomic", "shared_atomic", NULL};
static const char *const levels[] = {"l1", "l2", "dram", "shared", "constant", "local", NULL};

static const struct ub_axis axes[LATENCY_AXES] = {
    [LATENCY_OP] = {.name = "op",
                    .unit = "",
                    .help = "what each link of the chain does",
                    .kind = UB_AXIS_WORD,
                    .words = ops,
                    .initial = "load"},
    [LATENCY_LEVEL] = {.name = "level",
                       .unit = "",
                       .help = "where loads go; l1: through all caches, l2 and dram: past L1",
                       .kind = UB_AXIS_WORD,
                       .words = levels,
                       .initial = "l1"},
    [LATENCY_FOOTPRINT] = {.name = "footprint",
                           .unit = "byte",
                           .help = "among which the loads wander at random; auto: well inside the level",
                           .kind = UB_AXIS_INTEGER,
                           .minimum = 64,
                           .maximum = INT64_C(1) << 40,
                           .zero_word = "auto",
                           .initial = "auto"},
    [LATENCY_BYTES] = {.name = "bytes",
                       .unit = "byte",
                       .help = "that a lane loads from shared memory: 4, 8, 16; auto: 4, elsewhere the width of a link",
                       .kind = UB_AXIS_INTEGER,
                       .minimum = 4,
                       .maximum = 16,
                       .zero_word = "auto",
                       .initial = "auto"},
    [LATENCY_WAYS] = {.name = "ways",
                      .unit = "way",
                      .help = "of bank conflict: distinct words that a warp wants of a bank (level=shared)",
                      .kind = UB_AXIS_INTEGER,
                      .minimum = 1,
                      .maximum = 32,
                      .initial = "1"},
    [LATENCY_SM] = {.name = "sm",
                    .unit = "number",
                    .help = "the SM that runs the chain",
                    .kind = UB_AXIS_INTEGER,
                    .minimum = 0,
                    .maximum = 1023,
                    .initial = "0"},
};

static const struct ub_sweep sweeps[] = {
    {"footprint", UB_SUITE_DEFAULT | UB_SUITE_FULL,
     "footprint=4Ki..128Ki*2,192Ki,224Ki,240Ki,256Ki,288Ki,320Ki,384Ki,512Ki..16Mi*2,24Mi,28Mi,32Mi,36Mi,40Mi,48Mi,"
     "56Mi,64Mi,80Mi,128Mi..64Gi*2,96Gi,128Gi",
     "the staircase: L1, L2, DRAM, pages that the GPU must look up"},
    {"footprint_quick", UB_SUITE_QUICK, "footprint=4Ki,32Ki,192Ki,1Mi,8Mi,48Mi,256Mi,4Gi",
     "one step of the staircase each"},
    {"level", UB_SUITE_DEFAULT | UB_SUITE_QUICK | UB_SUITE_FULL, "level=all", "each kind of memory, well inside it"},
    {"op", UB_SUITE_DEFAULT | UB_SUITE_QUICK | UB_SUITE_FULL, "op=fma,add,mad,fp64,shuffle,atomic,shared_atomic",
     "what is not a load"},
    {"ways", UB_SUITE_DEFAULT | UB_SUITE_FULL, "level=shared bytes=4,8,16 ways=1,2,3,4,8,16,32",
     "bank conflicts and wide loads, as latency"},
    {"ways_quick", UB_SUITE_QUICK, "level=shared bytes=4,8,16 ways=1,4", "uniform loads of each width, and a conflict"},
    {"constant", UB_SUITE_DEFAULT | UB_SUITE_FULL, "level=constant footprint=256,1Ki,2Ki,2304,2560,4Ki..64Ki*2",
     "the caches of constants"},
    {"sm", UB_SUITE_DEFAULT, "level=l2 sm=0..131:6", "how far L2 is from every sixth SM"},
    {"home", UB_SUITE_DEFAULT, "op=atomic footprint=128 sm=0..131:6", "which SMs have one line's home in their half"},
    {"sm_all", UB_SUITE_FULL, "level=l2 sm=0..131", "how far L2 is from each SM"},
    {"home_all", UB_SUITE_FULL, "op=atomic footprint=128 sm=0..131", "one line, from each SM"},
    {"past_l1", UB_SUITE_FULL, "level=l2 footprint=4Ki..64Mi*2", "the staircase without its first step"},
    {"bends", UB_SUITE_FULL, "footprint=244Ki,248Ki,252Ki,264Ki,272Ki,26Mi,30Mi,34Mi,60Mi,62Mi,66Mi,72Mi,112Gi",
     "between the steps"},
};

static const char *const counters[] = {
    "global_load_requests", "global_load_sectors",    "global_store_requests", "global_store_sectors",
    "shared_load_requests", "shared_load_wavefronts", "local_loads",           "ffma",
    "global_atomics",       "shared_atomics",         "l1_load_sectors",       "l1_load_hits",
};

static const char *const needs[] = {
    "clock_mhz", "l1_latency_cycles", "l2_latency_ns", "l2_crossing_ns", "dram_latency_ns", "shared_latency_cycles",
};

static const struct ub_provides provides[] = {
    {"l1_latency_cycles", "level=l1", "latency_cycles"},
    {"l2_latency_ns", "level=l2", "latency_ns"},
    {"dram_latency_ns", "level=dram", "latency_ns"},
    {"shared_latency_cycles", "level=shared", "latency_cycles"},
};

static const char *const metric_keys[] = {"latency_cycles", "latency_ns", "l1_hit_share"};

/* ---- functions ------------------------------------------------------------------- */

static const char *supported(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct latency_geometry g;
    return latency_resolve(gpu, point, &g);
}

static void footprint(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_footprint *out)
{
    struct latency_geometry g;
    *out = (struct ub_footprint){0};
    if (latency_resolve(gpu, point, &g) != NULL)
        return;
    const uint64_t chain_bytes = !latency_has_chain(&g)  ? LATENCY_NODE_BYTES
                                 : latency_in_buffer(&g) ? g.footprint_bytes
                                                         : g.units * LATENCY_NODE_BYTES;
    out->buffers[0] = (struct ub_buffer_spec){"answers", UB_DEVICE_MEMORY, UB_FILL_POISON, true, 8 * LATENCY_OUT_WORDS};
    out->buffers[1] = (struct ub_buffer_spec){"chain", UB_DEVICE_MEMORY, UB_FILL_POISON, true, chain_bytes};
    out->count = 2;
}

static void metrics(const struct ub_facts *facts, struct ub_metrics *out)
{
    struct latency_geometry g;
    out->count = 0;
    if (latency_resolve(facts->gpu, facts->point, &g) != NULL)
        return;
    const double ns = facts->time_ns / g.operations;
    const double sectors = ub_fact(facts, "l1_load_sectors");
    ub_metric_add(out, "latency_cycles", "cycle", ns * ub_fact_clock_mhz(facts) * 1e-3);
    ub_metric_add(out, "latency_ns", "ns", ns);
    ub_metric_add(out, "l1_hit_share", "1", sectors > 0 ? ub_fact(facts, "l1_load_hits") / sectors : NAN);
}

/* ---- chart and texts --------------------------------------------------------------- */

static void add_mark(struct ub_mark *marks, size_t *count, double at, const char *name, const char *unit, double value)
{
    marks[*count].at = at;
    snprintf(marks[(*count)++].label, sizeof marks->label, "%s %.4g %s", name, value, unit);
}

static size_t marks(const struct ub_gpu *gpu, const struct ub_point *point, size_t axis,
                    struct ub_mark marks[UB_MAX_MARKS])
{
    const double kib = 1024, mib = 1024 * kib;
    const double l1 = (double)gpu->l1_bytes, l2 = (double)gpu->l2_bytes;
    const int64_t level = point->values[LATENCY_LEVEL];
    size_t count = 0;
    if (axis != LATENCY_FOOTPRINT || level > LATENCY_CONSTANT || level == LATENCY_SHARED)
        return 0;
    if (level == LATENCY_CONSTANT) {
        add_mark(marks, &count, 2 * kib, "constant cache", "KiB", 2);
        return count;
    }
    if (level == LATENCY_L1 && l1 > 0)
        add_mark(marks, &count, l1, "L1", "KiB", l1 / kib);
    if (ub_gpu_has_l2_halves(gpu) && l2 > 0)
        add_mark(marks, &count, l2 / 2, "half of L2", "MiB", l2 / 2 / mib);
    if (l2 > 0)
        add_mark(marks, &count, l2, "L2", "MiB", l2 / mib);
    return count;
}

static const struct ub_chart_text chart_texts[] = {
    {"footprint", "Latency climbs by steps: L1, the near half of L2, far L2 and DRAM mixed, DRAM", NULL},
    {"constant", "Indexed constants: 28 cycles up to 2 KiB, 102 from the cache behind", NULL},
    {"level", "Shared memory is nearest, then constants, local memory, L1; DRAM is twenty times as far", NULL},
    {"op", "Arithmetic answers in 4 cycles, fp64 in 8, what leaves its lanes in 26 and more", NULL},
    {"ways", "Each turn of the banks delays a load of shared memory by two cycles", "21 + 2 turns (4 bytes)"},
    {"home", "One line is near to half of the SMs and far from the others", NULL},
    {"home_all", "One line is near to half of the SMs and far from the others", NULL},
    {"bytes", "Wide uniform loads of shared memory come as fast as narrow ones, almost", NULL},
    {"sm", "How far L2 is depends on where the SM sits", NULL},
    {"sm_all", "How far L2 is depends on where the SM sits", NULL},
    {"", "Latency: what a thread waits for the result of the operation before", NULL},
};

const struct ub_micro ub_micro_latency = {
    .name = "latency",
    .rule = "A thread that needs a value waits for the level that has it: tens of cycles for L1 and shared memory, "
            "hundreds for L2, more for DRAM; arithmetic answers in four.",
    .text =
        {
            .law =
                "A chain in which each operation needs the result of the one before takes operations x latency, and "
                "nothing hides it. Loads that wander at random through a footprint have the latency of the level that "
                "holds it: L1 up to 15/16 of its SRAM (for this kernel: no shared memory, one block of 1024 threads; "
                "see carveout); L2 up to half of it where it is in two halves (GA100, GH100, GB100), since an SM asks "
                "the near half only, which keeps copies of the other's lines; from there to all of L2 half of the "
                "lines come from DRAM and half from the far half, (l2 + dram) / 2 + crossing / 4; then DRAM; beyond "
                "64 GiB, 1 - 64 GiB / footprint of the loads walk page tables as well (+ 47 ns). Shared memory: 21 "
                "cycles + 2 for each turn of the banks (+ 1 for each phase of a wide load but the first). Constants: "
                "28 cycles from 8 sets of 4 lines of 64 bytes, 102 from the cache behind. FMA, add, integer "
                "multiply-add: 4; fp64: 8. Measured on an H200 and tested there only against themselves: shuffles "
                "(26), atomics on shared memory (26), local memory (29), what an atomic in L2 adds (11 ns), page "
                "walks, and the cycles of shared memory and of constants.",
            .breaks =
                "The order must be random: in order, open DRAM pages make it shorter. In the bends between the steps "
                "of L2 the replacement of lines decides, and no time is tested; that of L1 is a fit (the record is "
                "9.6 % off at 252 KiB, 8.4 % at 272, 4.4 % at 320; an earlier run with 5 rounds 14 %). L2 is a mesh: "
                "in the mean of many lines the 132 SMs of an H200 saw 272 to 295 cycles (median 282), and 654 to 680 "
                "from DRAM in an earlier run. Sessions on an H200, perhaps on different cards, differed by 2 % (L2, "
                "DRAM); two runs of one by 0.3 %. An atomic goes to the home of its line: a line was near to 66 SMs "
                "(267 to 320 cycles) and far from 66 (470 to 526). Where page tables begin and what they cost was "
                "fitted to the points that show it. Under load DRAM takes longer: see occupancy. Footprints beyond "
                "twice L2 are visited in part: as many random lines as twice L2 holds.",
            .consequence =
                "On an H200 (1980 MHz) a dependent load waits 32 cycles for L1, 23 for shared memory, 282 for near "
                "L2, 514 for L2 beyond its half, 667 for DRAM, 715 at 128 GiB: 167 FMAs for one miss. Keep what is "
                "chased (lists, trees, indices of indices) under 240 KiB an SM (with one block of 1024 threads; 217 "
                "where small blocks run, see carveout) or 26 MiB in all; a table of 40 MiB \"fits into L2\" and still "
                "waits three quarters as long as for DRAM. Indexed constants beyond 2 KiB take 102 cycles: put such a "
                "table into shared memory.",
            .folk = "\"An FMA takes 20 cycles\" (Fermi): 4 since Volta.\n"
                    "\"L1 and shared memory are the same SRAM, so equally fast\": 32 and 23 cycles.\n"
                    "\"L2 takes 200 cycles\": of which footprint? Near L2 282, over its half 514.\n"
                    "\"Constant memory is as fast as a register\": an operand c[0][x] is; an indexed one waits 28 "
                    "cycles, and 102 once 2 KiB are exceeded.\n"
                    "\"TLB misses make large arrays slow\": not below 64 GiB on an H200; 44 cycles more at 128 GiB.",
            .sources = "RRZE-HPC/gpu-benches gpu-latency: pointer chase by size, V100 to GH200\n"
                       "Luo et al. 2025, arXiv:2501.12084, Table 4: near and far L2 and DRAM, A100 and H800\n"
                       "Sun et al. 2023, arXiv:2206.02874, Table 10: latency of bank conflicts, A100\n"
                       "Abdelkhalik et al. 2022, arXiv:2208.11174; Arafa et al. 2019, arXiv:1905.08778: instructions\n"
                       "Chips and Cheese, Nvidia's H100, B200: L2 halves, latency by size\n"
                       "Measured, an H200 (driver 580): capacities, bends, shared memory, constants, local memory, "
                       "shuffles, atomics, page tables",
        },
    .axis_count = LATENCY_AXES,
    .axes = axes,
    .owners = &latency_owners,
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
            .metric = "latency_cycles",
            .metric_label = "latency  [SM cycles]",
            .metric_scale = 1,
            .marks = marks,
            .text_count = COUNT(chart_texts),
            .texts = chart_texts,
        },
    .timer = ub_timer_sm_clock,
    .supported = supported,
    .footprint = footprint,
    .law = latency_law,
    .metrics = metrics,
    .small = latency_small,
    .verify = latency_verify,
};
