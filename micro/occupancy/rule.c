/* SPDX-License-Identifier: MIT
 *
 * The rule `occupancy` as data: axes, sweeps, counters, metrics, chart and texts. */
#include "micro/occupancy/rule.h"

#include <math.h>

#include "harness/contract/record.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const works[] = {"latency", "compute", NULL}; /* enum occupancy_work */
static const char *const ilps[] = {"1", "2", "4", "8", NULL};
static const char *const variants[] = {"32", "40", "48", "64", "72", "96", "128", "168", "255", NULL};
static const char *const optins[] = {"yes", "no", NULL}; /* enum occupancy_optin */

static const struct ub_axis axes[OCCUPANCY_AXES] = {
    [OCCUPANCY_WORK] = {.name = "work",
                        .unit = "",
                        .help = "latency: loads from DRAM that wait; compute: chains of multiply-adds",
                        .kind = UB_AXIS_WORD,
                        .words = works,
                        .initial = "compute"},
    [OCCUPANCY_ILP] = {.name = "ilp",
                       .unit = "operation",
                       .help = "independent operations of a thread in flight: loads, or chains of multiply-adds",
                       .kind = UB_AXIS_WORD,
                       .words = ilps,
                       .initial = "1"},
    [OCCUPANCY_RESIDENT] = {.name = "resident",
                            .unit = "block",
                            .help = "blocks that an SM is to hold: the shared memory is chosen so; auto: what fits",
                            .kind = UB_AXIS_INTEGER,
                            .minimum = 1,
                            .maximum = 32,
                            .zero_word = "auto",
                            .initial = "auto"},
    [OCCUPANCY_BLOCK] = {.name = "block",
                         .unit = "thread",
                         .help = "threads of a block, a multiple of 32; more than 1024 are refused",
                         .kind = UB_AXIS_INTEGER,
                         .minimum = 32,
                         .maximum = 2048,
                         .initial = "256"},
    [OCCUPANCY_REGISTERS] = {.name = "registers",
                             .unit = "register",
                             .help = "of a thread: kernels that hold so many, up to 7 fewer",
                             .kind = UB_AXIS_WORD,
                             .words = variants,
                             .initial = "32"},
    [OCCUPANCY_SHARED] = {.name = "shared",
                          .unit = "byte",
                          .help = "dynamic shared memory of a block, which nobody uses",
                          .kind = UB_AXIS_INTEGER,
                          .minimum = 0,
                          .maximum = 256 << 10,
                          .initial = "0"},
    [OCCUPANCY_OPTIN] = {.name = "optin",
                         .unit = "",
                         .help = "whether the kernel was allowed more than 48 KiB of shared memory",
                         .kind = UB_AXIS_WORD,
                         .words = optins,
                         .initial = "yes"},
    [OCCUPANCY_TICKETS] = {.name = "tickets",
                           .unit = "ticket",
                           .help = "pieces of work an SM, which its warps take in turn; auto: a millisecond or more",
                           .kind = UB_AXIS_INTEGER,
                           .minimum = 1,
                           .maximum = OCCUPANCY_TICKETS_MAX,
                           .zero_word = "auto",
                           .initial = "auto"},
};

enum { ALWAYS = UB_SUITE_DEFAULT | UB_SUITE_QUICK | UB_SUITE_FULL };

static const struct ub_sweep sweeps[] = {
    {"compute", UB_SUITE_DEFAULT, "work=compute ilp=1,8 block=128 resident=1..4,6,8,12,16",
     "how many warps and independent multiply-adds fill the FP32 lanes"},
    {"compute", UB_SUITE_FULL, "work=compute ilp=all block=128 resident=1..16",
     "how many warps and independent multiply-adds fill the FP32 lanes"},
    {"latency", UB_SUITE_DEFAULT, "work=latency ilp=1,8 block=128 resident=1..4,6,8,12,16",
     "how many warps and independent loads fill DRAM's ceiling"},
    {"latency", UB_SUITE_FULL, "work=latency ilp=all block=128 resident=1..16",
     "how many warps and independent loads fill DRAM's ceiling"},
    {"quick", UB_SUITE_QUICK, "work=latency,compute ilp=1,8 block=128 resident=1,2,4,8,16",
     "both kinds of work at powers of two"},
    {"registers", UB_SUITE_DEFAULT, "work=latency registers=all", "registers as the limit: a staircase"},
    {"registers", UB_SUITE_FULL, "work=latency,compute registers=all", "registers as the limit: a staircase"},
    {"ilp", UB_SUITE_DEFAULT, "work=latency registers=255 ilp=all",
     "eight warps an SM, which 255 registers leave: independent operations stand in for the rest"},
    {"ilp", UB_SUITE_FULL, "work=latency,compute registers=255 ilp=all",
     "eight warps an SM, which 255 registers leave: independent operations stand in for the rest"},
    {"shared", UB_SUITE_DEFAULT, "work=latency shared=0..112Ki:16Ki",
     "shared memory as the limit: a staircase of other steps"},
    {"shared", UB_SUITE_FULL, "work=latency shared=0..112Ki:8Ki",
     "shared memory as the limit: a staircase of other steps"},
    {"block", UB_SUITE_DEFAULT, "work=latency block=64..1024:64", "what is left over where blocks do not divide an SM"},
    {"block", UB_SUITE_FULL, "work=latency block=32..1024:32", "what is left over where blocks do not divide an SM"},
    {"refused_threads", ALWAYS, "block=1024,1056", "the last block size that is launched, and the first that is not"},
    {"refused_registers", ALWAYS, "block=896,1024 registers=64,72",
     "registers x threads: 72 x 896 are launched, 72 x 1024 are not"},
    {"refused_shared", ALWAYS, "shared=227Ki,232449,228Ki block=128",
     "the last size of shared memory that is launched, and the first two not (CC 9.0)"},
    {"refused_optin", ALWAYS, "shared=48Ki,49153 optin=no", "48 KiB need no opting in, a byte more does"},
    {"limiters", UB_SUITE_FULL, "work=compute registers=all block=64,192,384,640,1024",
     "registers against block size: the heat map of `ubench occupancy`, measured"},
};

static const char *const counters[] = {
    "blocks_launched", "warps_launched", "ffma",         "global_load_requests", "global_load_sectors",
    "global_atomics",  "local_loads",    "local_stores", "warps_active",         "sm_cycles_active",
};

static const char *const needs[] = {"clock_mhz", "dram_load_ceiling", "load_wait_ns", "launch_floor_ns"};

static const struct ub_provides provides[] = {
    {"load_wait_ns", "work=latency ilp=1 block=128 resident=1", "wait_ns"},
};

static const char *const metric_keys[] = {
    "peak_share", "achieved_occupancy", "theoretical_occupancy", "resident_blocks", "flops", "useful_bandwidth",
    "wait_ns",
};

/* ---- functions ---------------------------------------------------------------- */

static const char *supported(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct occupancy_geometry g;
    return occupancy_resolve(gpu, point, &g);
}

static void footprint(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_footprint *out)
{
    struct occupancy_geometry g;
    *out = (struct ub_footprint){0};
    if (occupancy_resolve(gpu, point, &g) != NULL)
        return;
    out->buffers[out->count++] =
        (struct ub_buffer_spec){"sink", UB_DEVICE_MEMORY, UB_FILL_ZERO, false, OCCUPANCY_SINK_BYTES};
    out->buffers[out->count++] = (struct ub_buffer_spec){"counters", UB_DEVICE_MEMORY, UB_FILL_ZERO, false,
                                                         (uint64_t)g.piles * OCCUPANCY_COUNTER_BYTES};
    if (g.work == OCCUPANCY_LATENCY && g.resident > 0)
        out->buffers[out->count++] = (struct ub_buffer_spec){"source", UB_DEVICE_MEMORY, UB_FILL_RANDOM, false,
                                                             occupancy_elements(&g) * sizeof(uint32_t)};
}

/* What the driver says of the kernel, or what the law says; never one for the other. */
static double resident_blocks(const struct ub_facts *facts, const struct occupancy_geometry *g)
{
    if (facts->predicted)
        return g->resident;
    return facts->attributes != NULL ? (double)facts->attributes->resident_blocks : NAN;
}

static void metrics(const struct ub_facts *facts, struct ub_metrics *out)
{
    struct occupancy_geometry g;
    out->count = 0;
    if (occupancy_resolve(facts->gpu, facts->point, &g) != NULL)
        return;
    const bool loads = g.work == OCCUPANCY_LATENCY;
    const double done = (double)(loads ? occupancy_bytes(&g) : occupancy_fmas(&g));
    const double per_second = done / facts->time_ns * 1e9;
    const double warps_per_sm = facts->gpu->warps_per_sm, resident = resident_blocks(facts, &g);
    ub_metric_add(out, "peak_share", "1", per_second / occupancy_peak(facts->gpu, facts->constants, &g));
    ub_metric_add(out, "achieved_occupancy", "1",
                  ub_fact(facts, "warps_active") / ub_fact(facts, "sm_cycles_active") / warps_per_sm);
    ub_metric_add(out, "theoretical_occupancy", "1", resident * g.warps_per_block / warps_per_sm);
    ub_metric_add(out, "resident_blocks", "block", resident);
    ub_metric_add(out, "flops", "FLOP/s", loads ? NAN : 2 * per_second);
    ub_metric_add(out, "useful_bandwidth", "B/s", loads ? per_second : NAN);
    ub_metric_add(out, "wait_ns", "ns", loads ? facts->time_ns / occupancy_steps(&g) : NAN);
}

/* ---- chart and texts ------------------------------------------------------------ */

static const struct ub_chart_text chart_texts[] = {
    {"resident", "Warps and independent operations fill a card alike", "blocks x warps of a block / 64"},
    {"compute", "Warps and independent operations fill a card alike", "blocks x warps of a block / 64"},
    {"latency", "Warps and independent operations fill a card alike", "blocks x warps of a block / 64"},
    {"registers", "Registers take warps away in steps", "floor(16384 / registers a warp) warps a partition"},
    {"shared", "Shared memory takes blocks away in steps", "floor(228 KiB / (shared + 1 KiB)) blocks"},
    {"block", "Blocks that do not divide an SM leave warps out", "floor(64 / warps of a block) blocks"},
    {"ilp", "Independent operations stand in for warps", NULL},
    {"", "Occupancy is what there is to hide latency with", NULL},
};

const struct ub_micro ub_micro_occupancy = {
    .name = "occupancy",
    .rule = "An SM holds as many blocks as its scarcest resource allows; their warps, times the independent operations "
            "of each, are what hides latency.",
    .text =
        {
            .law = "blocks of an SM = least of what each resource allows:\n"
                   "  registers      floor(floor(of a partition / of a warp) x partitions / warps)\n"
                   "  shared memory  floor(carve-out / (static + dynamic + reserve))\n"
                   "  warps          floor(warps of an SM / warps of a block)\n"
                   "  blocks, and from CC 9.0 on barriers\n"
                   "with 32 x registers rounded up to 256 a warp and shared memory to 128 bytes (256 before CC 8.0). "
                   "occupancy = blocks x warps of a block / warps of an SM. Compute: an SM does min(warps x ilp / 4 "
                   "cycles, lanes / 32) multiply-add instructions a cycle, and a round of 1024 costs a warp 76 cycles "
                   "more. Latency: a step takes wait + 9.5 ns x (ilp - 1) while few wait, bytes / DRAM's ceiling when "
                   "many do, and near the ceiling the 3-norm of both.",
            .breaks =
                "Achieved occupancy is less than theoretical where warps do not all live as long: a launch that is "
                "too small or has a last wave that is not full, blocks that end early. A scheduler that is full "
                "serves its oldest warps first: where each warp has a share of its own, five warps on one (ilp=1, an "
                "H200) took as long as eight, because the fifth had hardly begun when the four ended; so that here "
                "warps take their work in tickets and stay to the end. One counter of tickets for all warps would be "
                "a limit of its own (one in 2.6 ns), so that loads have a counter for each SM. A wait is 5 % longer "
                "than the law says where 64 warps have one load each, and 64 warps with eight get 95 % of DRAM's "
                "ceiling, less than with four. A preference for L1 (carve-out) leaves less shared memory than the "
                "calculator's default assumes.",
            .consequence =
                "Count warps x independent operations, not occupancy: of an H200's FP32 peak, 4 warps an SM with one "
                "chain reach 24.6 %, 8 warps with eight chains (12.5 % occupancy) 96.5 %, and 64 warps 98.2 %. Loads "
                "of 4 bytes a thread: 64 warps with one in flight get 2.49 TB/s, 16 warps with eight 3.73 TB/s, 64 "
                "with four 4.52 TB/s, of 4.62. `ubench occupancy --regs R --threads T --smem S` says what limits a "
                "kernel and what gains a step.",
            .folk =
                "\"Above 75 % (or 50 %) occupancy does not matter\": there is no such threshold. With one load in "
                "flight an H200 gains to the last warp; with eight chains of multiply-adds it is full at 12.5 %.\n"
                "\"65536 registers / (64 x 512) = 2 blocks\": right, but by luck: registers are given to warps, "
                "partition by partition. With 96 registers 5 warps fit each of four partitions, 20 in all, not "
                "floor(65536 / 3072) = 21.\n"
                "\"Too large a block fails with cudaErrorInvalidConfiguration\": not here. CUDA 13.0 and driver 580 "
                "answer cudaErrorInvalidValue (1) to more than 1024 threads, to dynamic shared memory above 48 KiB "
                "without opting in and above 227 KiB with it, whatever the registers; 1024 threads x 65 registers are "
                "cudaErrorLaunchOutOfResources (701). None of these spoils the context.\n"
                "\"16 KiB of shared memory fit six times into 100 KiB\": five times; since CC 8.0 the driver keeps 1 "
                "KiB of each block.",
            .sources =
                "cuda_occupancy.h of CUDA 13.0: the law, compared on 100000 random launches of each generation\n"
                "CUDA C++ Programming Guide, compute capabilities: limits of an SM\n"
                "Volkov, Better Performance at Lower Occupancy, GTC 2010: instructions in flight instead of warps\n"
                "Abdelkhalik et al. 2022; Chips and Cheese: 4 cycles from a multiply-add to the next\n"
                "driver_types.h of CUDA 13.0, cudaErrorInvalidConfiguration and cudaErrorLaunchOutOfResources\n"
                "Measured for the constants of law.c and the errors: an H200, driver 580, CUDA 13.0; before the "
                "record of reports/h200",
        },
    .axis_count = OCCUPANCY_AXES,
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
            .metric = "peak_share",
            .metric_label = "share of the peak  [%]",
            .metric_scale = 100,
            .panel_metric = "achieved_occupancy",
            .panel_label = "occupancy",
            .panel_counter = "counter: active warps / cycles / 64",
            .text_count = COUNT(chart_texts),
            .texts = chart_texts,
        },
    .timer = ub_timer_event,
    .supported = supported,
    .refusal = occupancy_refusal,
    .footprint = footprint,
    .law = occupancy_law,
    .metrics = metrics,
    .small = occupancy_small,
    .verify = occupancy_verify,
};
