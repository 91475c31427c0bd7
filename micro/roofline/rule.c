/* SPDX-License-Identifier: MIT
 *
 * The rule `roofline` as data: axes, sweeps, counters, metrics, chart and texts. */
#include "micro/roofline/rule.h"

#include <math.h>

#include "harness/contract/record.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const types[] = {"fp32", "fp64", "half2", NULL}; /* enum roofline_type */

static const struct ub_axis axes[ROOFLINE_AXES] = {
    [ROOFLINE_TYPE] = {.name = "type",
                       .unit = "",
                       .help = "what an element is; half2: two halves, worked on by one instruction",
                       .kind = UB_AXIS_WORD,
                       .words = types,
                       .initial = "fp32"},
    [ROOFLINE_FMAS] = {.name = "fmas",
                       .unit = "multiply-add",
                       .help = "for each element that is loaded, one after the other",
                       .kind = UB_AXIS_INTEGER,
                       .minimum = 0,
                       .maximum = ROOFLINE_FMAS_MAX,
                       .initial = "32"},
    [ROOFLINE_SIZE] = {.name = "size",
                       .unit = "byte",
                       .help = "of the source, a multiple of 32 KiB; auto: at least 1 GiB and 20 times L2",
                       .kind = UB_AXIS_INTEGER,
                       .minimum = 1,
                       .maximum = INT64_C(1) << 40,
                       .zero_word = "auto",
                       .initial = "auto"},
};

#define NUMBERS "1,2,4,8,12,16,20,24,28,32,40,48,64,128,256,1024"

static const struct ub_sweep sweeps[] = {
    {"roofline", UB_SUITE_DEFAULT | UB_SUITE_FULL, "fmas=" NUMBERS " type=all",
     "the two roofs and the ridge between them, for each type"},
    {"load", UB_SUITE_DEFAULT | UB_SUITE_FULL, "fmas=0 type=all", "no arithmetic at all"},
    {"quick", UB_SUITE_QUICK, "fmas=1,16,28,64,256 type=all", "both roofs, and near the ridge"},
    {"ridge", UB_SUITE_FULL, "fmas=20..40 type=fp32", "every number of multiply-adds round the ridge"},
    {"l2", UB_SUITE_FULL, "fmas=" NUMBERS " size=16Mi", "a source that L2 holds: the ridge moves down"},
};

static const char *const counters[] = {
    "ffma",
    "dfma",
    "hfma2",
    "global_load_requests",
    "global_load_sectors",
    "global_load_bytes",
    "local_loads",
    "local_stores",
    "dram_read_bytes",
    "warp_instructions",
};

static const char *const needs[] = {"clock_mhz", "dram_load_ceiling", "launch_floor_ns"};

static const char *const metric_keys[] = {
    "flops",         "roof_share", "peak_share", "useful_bandwidth",
    "ceiling_share", "intensity",  "ridge_fmas", "other_instructions",
};

/* ---- functions ---------------------------------------------------------------- */

static const char *supported(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct roofline_geometry g;
    return roofline_resolve(gpu, point, &g);
}

static void footprint(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_footprint *out)
{
    struct roofline_geometry g;
    *out = (struct ub_footprint){0};
    if (roofline_resolve(gpu, point, &g) != NULL)
        return;
    out->buffers[out->count++] =
        (struct ub_buffer_spec){"source", UB_DEVICE_MEMORY, UB_FILL_RANDOM, false, g.size_bytes};
}

/* Operations for each byte that is loaded. */
static double intensity_of(const struct roofline_geometry *g)
{
    return (double)g->fmas * g->flops / g->element_bytes;
}

/* The lower of both roofs at the point's intensity. */
static double roof(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct roofline_geometry *g)
{
    const double peak = roofline_peak(gpu, constants, g), slope = roofline_bandwidth(constants) * intensity_of(g);
    return isfinite(peak) ? fmin(peak, slope) : NAN;
}

static double roof_of_point(const struct ub_gpu *gpu, const struct ub_constants *constants,
                            const struct ub_point *point)
{
    struct roofline_geometry g;
    return roofline_resolve(gpu, point, &g) == NULL ? roof(gpu, constants, &g) : NAN;
}

/* Of a warp for each element: all instructions but the multiply-adds. */
static double other_instructions(const struct ub_facts *facts, const struct roofline_geometry *g)
{
    const double elements = (double)roofline_elements(g) / UB_WARP_LANES;
    return ub_fact(facts, "warp_instructions") / elements - g->fmas;
}

static void metrics(const struct ub_facts *facts, struct ub_metrics *out)
{
    struct roofline_geometry g;
    out->count = 0;
    if (roofline_resolve(facts->gpu, facts->point, &g) != NULL)
        return;
    const double flops = (double)roofline_elements(&g) * g.fmas * g.flops / facts->time_ns * 1e9;
    const double bandwidth = (double)g.size_bytes / facts->time_ns * 1e9;
    const double peak = roofline_peak(facts->gpu, facts->constants, &g), ceiling = roofline_bandwidth(facts->constants);
    ub_metric_add(out, "flops", "FLOP/s", flops);
    ub_metric_add(out, "roof_share", "1",
                  g.fmas > 0 ? flops / roof(facts->gpu, facts->constants, &g) : bandwidth / ceiling);
    ub_metric_add(out, "peak_share", "1", flops / peak);
    ub_metric_add(out, "useful_bandwidth", "B/s", bandwidth);
    ub_metric_add(out, "ceiling_share", "1", bandwidth / ceiling);
    ub_metric_add(out, "intensity", "FLOP/B", intensity_of(&g));
    ub_metric_add(out, "ridge_fmas", "multiply-add", peak / ceiling * g.element_bytes / g.flops);
    ub_metric_add(out, "other_instructions", "instruction", other_instructions(facts, &g));
}

/* ---- chart and texts ------------------------------------------------------------ */

static const struct ub_chart_text chart_texts[] = {
    {"fmas", "Roofline: up to the ridge DRAM decides, beyond it the arithmetic units",
     "roofs less the loop's other instructions"},
    {"load", "Without arithmetic every type loads at DRAM's ceiling", NULL},
    {"type", "Half the bytes and twice the operations: each type has its roof", NULL},
    {"", "Roofline: arithmetic against bytes", NULL},
};

const struct ub_micro ub_micro_roofline = {
    .name = "roofline",
    .rule = "A kernel runs at the lower of two roofs: what the arithmetic units do, or its operations for each byte "
            "times what DRAM delivers.",
    .text =
        {
            .law = "FLOP/s = min(peak, intensity x bandwidth). peak = multiply-adds a cycle x 2 (half2: x 4) x SMs x "
                   "clock; bandwidth = DRAM's ceiling of loads; intensity = operations for each byte that is loaded. "
                   "The ridge, where both roofs meet, lies at peak / bandwidth; multiply-adds for each element there "
                   "= lanes x SMs x clock x bytes of an element / bandwidth: a prediction. What a record has of it is "
                   "where both measured roofs cross (1 and 1024 multiply-adds): 28.4 in fp32 and half2, 28.7 in fp64. "
                   "Time = max(bytes / bandwidth, multiply-adds at the rate of their lanes + what the loop is made of "
                   "beside them: 58, 28 and 54 cycles of a scheduler for 1024 bytes of a warp, in fp32, fp64 and "
                   "half2). These three were fitted to points beyond the ridge in earlier runs and are taken as "
                   "constant, which they are not: by its own clock the record has 56 (40 multiply-adds), 69 (256) and "
                   "104 (1024) in fp32, 27, 25 and 17 in fp64, 52, 64 and 106 in half2.",
            .breaks =
                "Only with enough on its way, in DRAM's queues and in the units: here 64 warps an SM, each with a "
                "step loaded ahead and 4 or 8 chains. Other instructions lower the upper roof of every kernel: here "
                "by a fifth at the ridge (fp64: a seventh), by 4 % (2 %) at 256 multiply-adds. A source that a cache "
                "holds has a roof of its own, above DRAM's. Multiply and add that are not fused reach half the peak. "
                "Tensor cores have another roof: that of FP16 is 15 times the one of FP32 on an H200. At the ridge "
                "DRAM and units both draw their power: an H200 lowered its clock there. In half2 it had 1848 MHz at "
                "20 multiply-adds, where it takes 2.4 % longer than by the law, and 1894 at 24, where it takes 5.8 % "
                "longer, the most of all points (far from the ridge 1960, of nominal 1980). The machine code is known "
                "of CC 9.0 only.",
            .consequence =
                "By the law 29.0 multiply-adds for each element that is loaded balance an H200, whatever the type: an "
                "SM's units take 512 bytes of elements a cycle, as fp32, fp64 or half2 (14.5, 7.2, 29.0 FLOP/B). Up "
                "to 16 of them cost nothing: 4.60 TB/s with 16, 4.61 with 1. With 1024 an H200 did 65.5 TFLOP/s in "
                "fp32, 33.0 in fp64 and 131 in half2: 98, 99 and 98 % of its peak. Left of the ridge save bytes (a "
                "smaller type, reuse), right of it save instructions; a faster formula does nothing on the left.",
            .folk =
                "\"The peak cannot be reached without libraries\": a loop of multiply-adds in CUDA C++ does 98 % of "
                "it; mixbench did 59.9 TFLOP/s on an H200 (90 %), with less on its way.\n"
                "\"Half precision doubles the speed\": of both roofs, with half2. The ridge stays at the same number "
                "of multiply-adds for each 4 bytes.\n"
                "\"FP64 is 64 times slower\": on a GeForce. On an H200 it is half of FP32, and a kernel left of the "
                "ridge pays for its bytes only.\n"
                "\"A profiler's count of half-precision operations is of half precision\": nvcc makes constants with "
                "HFMA2, two a thread of the fp32 kernel, and the counter counts them.",
            .sources =
                "Williams, Waterman, Patterson: Roofline, an Insightful Visual Performance Model, CACM 52(4), 2009\n"
                "CUDA C++ Programming Guide, arithmetic instructions: results a cycle of each generation\n"
                "ekondis/mixbench: the same measurement with elements in registers\n"
                "Measured for the cycles beside multiply-adds, which are fits: an H200, driver 580, CUDA 13.0, these "
                "kernels",
        },
    .axis_count = ROOFLINE_AXES,
    .axes = axes,
    .sweep_count = COUNT(sweeps),
    .sweeps = sweeps,
    .counter_count = COUNT(counters),
    .counters = counters,
    .need_count = COUNT(needs),
    .needs = needs,
    .metric_count = COUNT(metric_keys),
    .metric_keys = metric_keys,
    .chart =
        {
            .kind = "sweep",
            .metric = "flops",
            .metric_label = "performance  [TFLOP/s]",
            .metric_scale = 1e-12,
            .x_axis = "fmas",
            .x_metric = "intensity",
            .x_label = "arithmetic intensity",
            .share_metric = "peak_share",
            .share_label = "share of the peak",
            .second = roof_of_point,
            .second_label = "roof: min(peak, intensity × DRAM)",
            .text_count = COUNT(chart_texts),
            .texts = chart_texts,
        },
    .timer = ub_timer_event,
    .supported = supported,
    .footprint = footprint,
    .law = roofline_law,
    .metrics = metrics,
    .small = roofline_small,
    .verify = roofline_verify,
};
