/* SPDX-License-Identifier: MIT
 *
 * The rule `latency_hiding` as data: axes, sweeps, counters, metrics, chart and texts. */
#include "micro/latency_hiding/rule.h"

#include <math.h>

#include "harness/contract/record.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const works[] = {"memory", "arithmetic", NULL}; /* enum hiding_work */
static const char *const ilps[] = {"1", "2", "4", "8", NULL};
static const char *const widths[] = {"4", "8", "16", NULL};

static const struct ub_axis axes[HIDING_AXES] = {
    [HIDING_WORK] = {.name = "work",
                     .unit = "",
                     .help = "memory: loads from DRAM; arithmetic: chains of multiply-adds",
                     .kind = UB_AXIS_WORD,
                     .words = works,
                     .initial = "memory"},
    [HIDING_WARPS] = {.name = "warps",
                      .unit = "warp",
                      .help = "that an SM holds",
                      .kind = UB_AXIS_INTEGER,
                      .minimum = 1,
                      .maximum = 64,
                      .initial = "16"},
    [HIDING_ILP] = {.name = "ilp",
                    .unit = "operation",
                    .help = "independent operations of a thread in flight: loads, or chains of multiply-adds",
                    .kind = UB_AXIS_WORD,
                    .words = ilps,
                    .initial = "1"},
    [HIDING_BYTES] = {.name = "bytes",
                      .unit = "byte",
                      .help = "of a load of a thread; work=arithmetic: 4",
                      .kind = UB_AXIS_WORD,
                      .words = widths,
                      .initial = "4"},
    [HIDING_LENGTH] = {.name = "length",
                       .unit = "step",
                       .help = "of the launch: steps of each warp, or tickets for each (work=arithmetic); auto: a "
                               "millisecond or so",
                       .kind = UB_AXIS_INTEGER,
                       .minimum = 1,
                       .maximum = HIDING_LENGTH_MAX,
                       .zero_word = "auto",
                       .initial = "auto"},
};

enum { USUAL = UB_SUITE_DEFAULT | UB_SUITE_FULL };

static const struct ub_sweep sweeps[] = {
    {"wide", USUAL, "work=memory ilp=all bytes=16 warps=2,4,6,8,10,12,16,20,24,32,36,40",
     "loads of 16 bytes: what is in flight decides, not in how many warps or loads it is"},
    {"wide_many", USUAL, "work=memory ilp=1,2,4 bytes=16 warps=44,48,64",
     "the same with more warps than eight leave room for"},
    {"narrow", USUAL, "work=memory ilp=all bytes=4 warps=8,16,24,32,40,48,64",
     "loads of 4 bytes: with one or two in flight even all the warps of an SM are too few"},
    {"middle", USUAL, "work=memory ilp=all bytes=8 warps=8,12,16,24,32,48", "loads of 8 bytes"},
    {"arithmetic", USUAL, "work=arithmetic ilp=all warps=3,4,5,6,8,12,16,32,64",
     "how many warps and chains of multiply-adds fill the FP32 lanes"},
    {"quick", UB_SUITE_QUICK, "work=memory ilp=1,4 bytes=16 warps=4,16", "loads, at four points"},
    {"quick_arithmetic", UB_SUITE_QUICK, "work=arithmetic ilp=1 warps=8,16", "multiply-adds, half and full"},
    {"every", UB_SUITE_FULL, "work=memory ilp=all bytes=all warps=1,2,3,5,7,10,14,20,30",
     "all widths, warps in small steps"},
    {"every_arithmetic", UB_SUITE_FULL, "work=arithmetic ilp=all warps=1..16,20..64:4", "warps in small steps"},
};

/* Of these the last eight come out of the hardware and not out of instrumented code; on
 * GH100, and where SMs have 64 lanes for FP32, all eight come from one run of the kernel
 * (tests/cupti_chips_test.c), so that they can be added up. More stall reasons would need
 * another run. */
static const char *const counters[] = {
    "ffma",           "global_load_requests", "global_load_sectors",   "global_atomics", "local_loads",
    "local_stores",   "blocks_launched",      "dram_read_bytes",       "warps_active",   "sm_cycles_active",
    "warps_eligible", "issue_active",         "stall_long_scoreboard", "stall_wait",
};

static const char *const needs[] = {
    "clock_mhz",           "launch_floor_ns",      "load_wait_ns",      "fma_step_ns",       "dram_load_ceiling",
    "steady_load_ceiling", "steady_flops_ceiling", "fma_wait_ns",       "load_wait_1x4_ns",  "load_wait_2x4_ns",
    "load_wait_4x4_ns",    "load_wait_8x4_ns",     "load_wait_1x8_ns",  "load_wait_2x8_ns",  "load_wait_4x8_ns",
    "load_wait_8x8_ns",    "load_wait_1x16_ns",    "load_wait_2x16_ns", "load_wait_4x16_ns", "load_wait_8x16_ns",
};

static const struct ub_provides provides[] = {
    {"steady_load_ceiling", "work=memory ilp=4 bytes=16 warps=32", "useful_bandwidth"},
    {"steady_flops_ceiling", "work=arithmetic ilp=4 warps=32", "flops"},
    {"fma_wait_ns", "work=arithmetic ilp=1 warps=4", "latency_ns"},
    {"load_wait_1x4_ns", "work=memory ilp=1 bytes=4 warps=1", "latency_ns"},
    {"load_wait_2x4_ns", "work=memory ilp=2 bytes=4 warps=1", "latency_ns"},
    {"load_wait_4x4_ns", "work=memory ilp=4 bytes=4 warps=1", "latency_ns"},
    {"load_wait_8x4_ns", "work=memory ilp=8 bytes=4 warps=1", "latency_ns"},
    {"load_wait_1x8_ns", "work=memory ilp=1 bytes=8 warps=1", "latency_ns"},
    {"load_wait_2x8_ns", "work=memory ilp=2 bytes=8 warps=1", "latency_ns"},
    {"load_wait_4x8_ns", "work=memory ilp=4 bytes=8 warps=1", "latency_ns"},
    {"load_wait_8x8_ns", "work=memory ilp=8 bytes=8 warps=1", "latency_ns"},
    {"load_wait_1x16_ns", "work=memory ilp=1 bytes=16 warps=1", "latency_ns"},
    {"load_wait_2x16_ns", "work=memory ilp=2 bytes=16 warps=1", "latency_ns"},
    {"load_wait_4x16_ns", "work=memory ilp=4 bytes=16 warps=1", "latency_ns"},
    {"load_wait_8x16_ns", "work=memory ilp=8 bytes=16 warps=1", "latency_ns"},
};

static const char *const metric_keys[] = {
    "useful_bandwidth", "flops",          "ceiling_share",  "in_flight",        "latency_ns",  "step_cycles",
    "issue_slots_used", "eligible_warps", "waits_for_data", "waits_for_result", "states_told", "knee_warps",
};

/* ---- functions ---------------------------------------------------------------- */

static const char *supported(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct hiding_geometry g;
    return hiding_resolve(gpu, point, &g);
}

static void footprint(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_footprint *out)
{
    struct hiding_geometry g;
    *out = (struct ub_footprint){0};
    if (hiding_resolve(gpu, point, &g) != NULL)
        return;
    out->buffers[out->count++] =
        g.work == HIDING_MEMORY
            ? (struct ub_buffer_spec){"source", UB_DEVICE_MEMORY, UB_FILL_RANDOM, false, hiding_bytes(&g)}
            : (struct ub_buffer_spec){"counter", UB_DEVICE_MEMORY, UB_FILL_ZERO, false, HIDING_COUNTER_BYTES};
}

/* What the warps did with their cycles: each is ready (and of those of a scheduler one is
 * issued), or stalled; the reasons told are the two that matter here. */
static void add_states(const struct ub_facts *facts, const struct hiding_geometry *g, struct ub_metrics *out)
{
    const double active = ub_fact(facts, "warps_active"), eligible = ub_fact(facts, "warps_eligible");
    const double data = ub_fact(facts, "stall_long_scoreboard"), result = ub_fact(facts, "stall_wait");
    const double slots = ub_fact(facts, "sm_cycles_active") * facts->gpu->schedulers_per_sm;
    ub_metric_add(out, "step_cycles", "cycle", active / (double)hiding_steps(g));
    ub_metric_add(out, "issue_slots_used", "1", ub_fact(facts, "issue_active") / slots);
    ub_metric_add(out, "eligible_warps", "warp", eligible / slots);
    ub_metric_add(out, "waits_for_data", "1", data / active);
    ub_metric_add(out, "waits_for_result", "1", result / active);
    ub_metric_add(out, "states_told", "1", (eligible + data + result) / active);
}

static void metrics(const struct ub_facts *facts, struct ub_metrics *out)
{
    struct hiding_geometry g;
    out->count = 0;
    if (hiding_resolve(facts->gpu, facts->point, &g) != NULL)
        return;
    const bool loads = g.work == HIDING_MEMORY;
    const double per_second = (double)(loads ? hiding_bytes(&g) : hiding_fmas(&g)) / facts->time_ns * 1e9;
    const double in_flight = (double)hiding_in_flight(&g);
    ub_metric_add(out, "useful_bandwidth", "B/s", loads ? per_second : NAN);
    ub_metric_add(out, "flops", "FLOP/s", loads ? NAN : 2 * per_second);
    ub_metric_add(out, "ceiling_share", "1", per_second / hiding_ceiling(facts->gpu, facts->constants, &g));
    ub_metric_add(out, "in_flight", loads ? "byte" : "operation", in_flight);
    /* Little's law, read backwards */
    ub_metric_add(out, "latency_ns", "ns", in_flight * facts->gpu->sms / per_second * 1e9);
    add_states(facts, &g, out);
    ub_metric_add(out, "knee_warps", "warp",
                  facts->predicted ? hiding_knee_warps(facts->gpu, facts->constants, &g) : NAN);
}

/* ---- chart and texts ------------------------------------------------------------ */

/* The law without its soft minimum. */
static double hard_minimum(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point)
{
    struct hiding_geometry g;
    if (hiding_resolve(gpu, point, &g) != NULL || g.work != HIDING_MEMORY)
        return NAN;
    return fmin((double)hiding_in_flight(&g) * gpu->sms / hiding_wait_ns(constants, &g) * 1e9,
                hiding_ceiling(gpu, constants, &g));
}

static const struct ub_chart_text chart_texts[] = {
    {"arithmetic", "Latency hiding: warps and chains count alike, until the lanes are full",
     "Little's law up to full lanes"},
    {"narrow", "Latency hiding: with one narrow load a thread a full SM is not enough",
     "Little's law up to the ceiling"},
    {"warps", "Latency hiding: throughput is what is in flight ÷ latency, until the card is full",
     "Little's law up to the ceiling"},
    {"wide", "Latency hiding: throughput is what is in flight ÷ latency, until the card is full",
     "Little's law up to the ceiling"},
    {"ilp", "Latency hiding: independent operations stand in for warps", NULL},
    {"bytes", "Latency hiding: wide loads stand in for warps", NULL},
    {"", "Latency hiding: throughput is what is in flight ÷ latency", NULL},
};

const struct ub_micro ub_micro_latency_hiding = {
    .name = "latency_hiding",
    .rule =
        "Throughput is what is in flight divided by latency, until a pipe or the memory is full: warps, independent "
        "operations and bytes of an access count alike.",
    .text =
        {
            .law = "what is in flight = throughput x latency (Little), so that an SM with `warps` warps reaches\n"
                   "warps x 32 x ilp (x bytes) / latency, until a pipe or the memory is full.\n"
                   "Memory: throughput = ((in flight / wait)^-2.6 + ceiling^-2.6)^(-1/2.6). The wait is that of the "
                   "same loads with one warp an SM; it, and the ceiling, are measured in the run. 90 % of the ceiling "
                   "(the knee) take 1.56 x ceiling x wait in flight. Arithmetic: a scheduler with 32 lanes does "
                   "min(warps x ilp / 4 cycles, 1) multiply-add instructions a cycle.\n"
                   "Warps that an SM needs for the knee with one load of 4 bytes a thread, one of 16 bytes, and one "
                   "chain of multiply-adds:\n"
                   "V100 42, 11 and 8; T4 28, 8 and 8; A100 79, 21 and 8; A40 32, 9 and 15; L40S 19, 5 and 15; H100 "
                   "99, 26 and 15; H200 173, 45 and 15; B200 240, 62 and 15\n"
                   "(the law with ceilings and waits of the model table; an SM holds 64, of A40 and L40S 48, of T4 "
                   "32; with what an H200 measured itself the law says 43 for 16 bytes, and 40 were seen to do). "
                   "Divide by the loads or chains in flight.",
            .breaks =
                "Loads that a program writes side by side are not in flight together if their registers do not "
                "suffice: with 40 registers for eight loads of 16 bytes the compiler let the eighth wait for the "
                "first, and a step of a lone warp took 790 ns instead of 498 (an H200; the 790 are of an earlier run; "
                "ilp is what the machine code has, not the source). Far beyond the knee loads wait for room in the SM "
                "as well (stall_lg_throttle: 25 % of the warps' cycles with 64 warps of eight 4-byte loads, 21 % with "
                "40 of eight 16-byte loads), without loss, since DRAM is full by then. A warp issues one instruction "
                "a cycle: a fifth chain adds nothing, and fewer warps than schedulers leave some idle. The eligible "
                "warps and both waits that are told are all states of a warp but for a few per cent, except where "
                "that queue is full, and with few warps of four chains or more, which wait for instructions (8, 13 "
                "and 15 % at 5, 6 and 8 warps, 7 % at 12; of two chains 7 % at 12, 8 % at 20). Their counters come "
                "from one run of the kernel on V100, T4, A100, Hopper and B200, from two on A10, A40, L40S, RTX 30 to "
                "50: there the sum is only nearly one. What other cards wait with wide loads is assumed from the H200.",
            .consequence =
                "Measured on an H200: the memory is full (90 %) with 20 to 25 KiB in flight an SM: 11 bytes a thread "
                "with 64 warps, 180 with four. Full occupancy with one 4-byte load in flight reaches 55 % of what "
                "loads can do (2.53 of 4.57 TB/s), with four of them, or one of 16 bytes, 97 %; a quarter of the "
                "warps with four loads of 16 bytes just as much. For multiply-adds 16 warps with one chain, or 4 with "
                "four, reach 97 % and more of the 64.8 TFLOP/s of 32 warps.",
            .folk =
                "\"Latency is hidden by occupancy\": by what is in flight. Warps are one factor of three; 12 warps of "
                "64 with four 16-byte loads do what 40 warps with one do (92 and 90 % of the ceiling, measured on an "
                "H200).\n"
                "\"Half the occupancy is enough\" (or 75 %): no such threshold. Four-byte loads, one at a time, gain "
                "to the last warp; multiply-adds with four chains are full at 6 %.\n"
                "\"Bandwidth is in flight / latency\": with the latency of an idle memory that is up to a third too "
                "much near the knee, where loads queue; the latency grows with the load, to three times at twice the "
                "knee.\n"
                "\"An SM needs 20 warps to hide arithmetic latency\": of Fermi. From Volta on a multiply-add takes 4 "
                "cycles: 16 warps where an SM has 128 lanes, 8 where it has 64.\n"
                "\"More loads in flight are always better\": beyond the knee they only wait longer.",
            .sources = "Little, A Proof for the Queuing Formula L = lambda W, Operations Research 9 (1961)\n"
                       "Volkov, Better Performance at Lower Occupancy, GTC 2010; Understanding Latency Hiding on "
                       "GPUs, Berkeley 2016\n"
                       "CUDA C++ Programming Guide, \"Multiprocessor Level\": warps that hide a latency\n"
                       "Abdelkhalik et al. 2022; Chips and Cheese: 4 cycles from a multiply-add to the next\n"
                       "RRZE-HPC/gpu-benches, te42kyfo/gpu-benches, markdewing/AI_kernels: pointer chases, of the "
                       "table's waits\n"
                       "Measured for the exponent and the figures above: an H200, driver 580, CUDA 13.0, by these "
                       "kernels",
        },
    .axis_count = HIDING_AXES,
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
            .metric = "useful_bandwidth",
            .metric_label = "bandwidth  [GB/s]",
            .metric_scale = 1e-9,
            .other_metric = "flops",
            .other_label = "multiply-adds  [TFLOP/s]",
            .other_scale = 1e-12,
            .x_axis = "warps",
            .x_metric = "in_flight",
            .x_label = "in flight in an SM",
            .share_metric = "ceiling_share",
            .share_label = "share of the ceiling",
            .panel_metric = "step_cycles",
            .panel_label = "cycles / step",
            .panel_counter = "counter: active warps x cycles / steps",
            .second = hard_minimum,
            .second_label = "without queueing",
            .second_gap = "queueing: near the knee the latency itself grows",
            .text_count = COUNT(chart_texts),
            .texts = chart_texts,
        },
    .timer = ub_timer_event,
    .supported = supported,
    .footprint = footprint,
    .law = hiding_law,
    .metrics = metrics,
    .small = hiding_small,
    .verify = hiding_verify,
};
