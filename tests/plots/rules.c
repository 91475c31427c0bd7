/* SPDX-License-Identifier: MIT
 *
 * Rules whose values can be worked out by hand, in the place of the real ones. */
#include <math.h>
#include <string.h>

#include "harness/engine/plan.h"
#include "tests/plots/plots.h"

enum { ACCESSES = 1 << 22 };

static const char *const ops[] = {"load", "store", "copy", NULL};
const char *const patterns[] = {"stride", "random", "reverse", "broadcast", "aos", "soa", NULL};
const struct ub_axis axes[AXES] = {
    {"stride", "element", "distance", UB_AXIS_INTEGER, 1, 1 << 27, NULL, NULL, "1", NULL},
    {"offset", "element", "shift", UB_AXIS_INTEGER, 0, 127, NULL, NULL, "0", NULL},
    {"bytes", "byte", "width", UB_AXIS_INTEGER, 1, 16, NULL, NULL, "4", NULL},
    {"op", "", "operation", UB_AXIS_WORD, 0, 0, NULL, ops, "load", NULL},
    {"pattern", "", "order", UB_AXIS_WORD, 0, 0, NULL, patterns, "stride", NULL},
    {"block", "thread", "threads of a block", UB_AXIS_INTEGER, 32, 1024, NULL, NULL, "256", NULL},
    {"size", "byte", "footprint", UB_AXIS_INTEGER, 1, INT64_C(1) << 40, "auto", NULL, "auto", NULL},
};
static const char *const counter_keys[] = {"global_load_requests", "global_load_sectors"};
const char *const metric_keys[] = {"useful_bandwidth", "ceiling_share", "sectors_per_request"};
static const struct ub_sweep sweeps[] = {{"stride", UB_SUITE_DEFAULT, "stride=1..32", "the sweep"}};

static double ceiling_of(const struct ub_constants *constants, const struct ub_point *point)
{
    static const char *const names[] = {"dram_load_ceiling", "dram_store_ceiling", "dram_copy_ceiling"};
    return ub_constant_value(constants, names[point->values[OP]]);
}

static int64_t step_of(const struct ub_point *point)
{
    static const int64_t by_pattern[] = {0, 4096, 0, 0, 4, 1};
    const int64_t steps = by_pattern[point->values[PATTERN]];
    return (steps ? steps : point->values[STRIDE]) * point->values[BYTES];
}

static uint64_t sectors_of(const struct ub_point *point)
{
    const int64_t bytes = point->values[BYTES], step = step_of(point);
    if (point->values[PATTERN] == 3)
        return 1;
    if (step >= 32)
        return 32;
    return (uint64_t)((point->values[OFFSET] * bytes % 32 + 31 * step + bytes + 31) / 32);
}

static void strided_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                        struct ub_law *out)
{
    (void)gpu;
    const double step = (double)step_of(point), chunk = step < 64 ? step : 64;
    *out = (struct ub_law){.level = "dram", .bottleneck = "dram", .tolerance = 0.05, .counter_count = 2};
    out->time_ns = 3000 + ACCESSES * chunk / ceiling_of(constants, point) * 1e9;
    out->counters[0] = (struct ub_law_counter){
        .key = counter_keys[0], .class_ = UB_STRUCTURAL, .known = true, .predicted = ACCESSES / 32};
    out->counters[1] = (struct ub_law_counter){
        .key = counter_keys[1], .class_ = UB_STRUCTURAL, .known = true, .predicted = ACCESSES / 32 * sectors_of(point)};
}

static void strided_metrics(const struct ub_facts *facts, struct ub_metrics *out)
{
    const double rate = ACCESSES * (double)facts->point->values[BYTES] / facts->time_ns * 1e9;
    double requests = NAN, sectors = NAN;
    for (size_t i = 0; i < facts->counter_count; i++) {
        if (strcmp(facts->counter_keys[i], counter_keys[0]) == 0)
            requests = (double)facts->counter_values[i];
        if (strcmp(facts->counter_keys[i], counter_keys[1]) == 0)
            sectors = (double)facts->counter_values[i];
    }
    *out = (struct ub_metrics){.count = 3};
    out->items[0] = (struct ub_metric){metric_keys[0], "B/s", rate};
    out->items[1] = (struct ub_metric){metric_keys[1], "1", rate / ceiling_of(facts->constants, facts->point)};
    out->items[2] = (struct ub_metric){metric_keys[2], "sector/request", sectors / requests};
}

/* What would be reached if DRAM were read in sectors of 32 bytes. */
static double strided_second(const struct ub_gpu *gpu, const struct ub_constants *constants,
                             const struct ub_point *point)
{
    (void)gpu;
    const double step = (double)step_of(point), chunk = step < 32 ? step : 32;
    if (point->values[PATTERN] != 0)
        return NAN;
    return (double)point->values[BYTES] / (3e-6 / ACCESSES + chunk / ceiling_of(constants, point));
}

static enum ub_timer strided_timer(const struct ub_point *point)
{
    (void)point;
    return UB_TIMER_EVENT;
}

static const char *strided_supported(const struct ub_gpu *gpu, const struct ub_point *point)
{
    (void)gpu;
    const int64_t bytes = point->values[BYTES];
    return (bytes & (bytes - 1)) == 0 ? NULL : "an access is 1, 2, 4, 8 or 16 bytes wide";
}

static const struct ub_chart_text texts[] = {
    {"stride", "Coalescing: useful bandwidth falls as 1/stride, then floors", "min(4s, 32)"},
    {"offset", "Coalescing: a shifted warp touches one sector more, and time does not notice", "4 or 5 sectors"},
    {"pattern", "Coalescing: what counts is which sectors a warp touches, not in which order", NULL},
};

const struct ub_micro strided = {
    .name = "strided",
    .rule = "A warp pays for the sectors that it touches.",
    .axis_count = AXES,
    .axes = axes,
    .sweep_count = 1,
    .sweeps = sweeps,
    .counter_count = 2,
    .counters = counter_keys,
    .metric_count = 3,
    .metric_keys = metric_keys,
    .chart = {.kind = "sweep",
              .metric = "useful_bandwidth",
              .metric_label = "useful bandwidth  [GB/s]",
              .metric_scale = 1e-9,
              .share_metric = "ceiling_share",
              .share_label = "share of the ceiling",
              .panel_metric = "sectors_per_request",
              .panel_label = "sectors / request",
              .panel_counter = "counter: L1 sectors per load request",
              .second = strided_second,
              .second_label = "if DRAM came in 32-byte sectors",
              .second_gap = "lost to the second half of each 64-byte access",
              .text_count = sizeof texts / sizeof texts[0],
              .texts = texts},
    .timer = strided_timer,
    .supported = strided_supported,
    .law = strided_law,
    .metrics = strided_metrics,
};

/* Two capacities, of which the second lies beyond all points. */
static size_t plain_marks(const struct ub_gpu *gpu, const struct ub_point *point, size_t axis,
                          struct ub_mark marks[UB_MAX_MARKS])
{
    (void)gpu;
    (void)point;
    if (axis != STRIDE)
        return 0;
    marks[0] = (struct ub_mark){12, "a capacity of 12"};
    marks[1] = (struct ub_mark){2000, "a far capacity"};
    return 2;
}

/* A rule whose chart has one panel, no ceiling and no second curve, but capacities. */
const struct ub_micro plain = {
    .name = "plain",
    .rule = "As strided, with a smaller chart.",
    .axis_count = AXES,
    .axes = axes,
    .counter_count = 2,
    .counters = counter_keys,
    .metric_count = 3,
    .metric_keys = metric_keys,
    .chart = {.metric = "useful_bandwidth",
              .metric_label = "useful bandwidth  [GB/s]",
              .metric_scale = 1e-9,
              .marks = plain_marks},
    .timer = strided_timer,
    .law = strided_law,
    .metrics = strided_metrics,
};

/* Twice as long from each 24th stride on to the next, three times. */
static void stairs_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                       struct ub_law *out)
{
    strided_law(gpu, constants, point, out);
    out->time_ns = 3000 * exp2(fmin(3, (double)(point->values[STRIDE] / 24)));
}

const struct ub_micro stairs = {
    .name = "stairs",
    .rule = "As strided, in steps.",
    .axis_count = AXES,
    .axes = axes,
    .counter_count = 2,
    .counters = counter_keys,
    .metric_count = 3,
    .metric_keys = metric_keys,
    .chart = {.metric = "useful_bandwidth", .metric_label = "useful bandwidth  [GB/s]", .metric_scale = 1e-9},
    .timer = strided_timer,
    .law = stairs_law,
    .metrics = strided_metrics,
};

/* A law that says nothing of strides 9 to 12 and 14. */
static void holed_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                      struct ub_law *out)
{
    const int64_t stride = point->values[STRIDE];
    strided_law(gpu, constants, point, out);
    if ((stride >= 9 && stride <= 12) || stride == 14)
        out->time_ns = NAN;
}

const struct ub_micro holed = {
    .name = "holed",
    .rule = "As strided, as far as is known.",
    .axis_count = AXES,
    .axes = axes,
    .counter_count = 2,
    .counters = counter_keys,
    .metric_count = 3,
    .metric_keys = metric_keys,
    .chart = {.metric = "useful_bandwidth",
              .metric_label = "useful bandwidth  [GB/s]",
              .metric_scale = 1e-9,
              .panel_metric = "sectors_per_request",
              .panel_label = "sectors / request"},
    .timer = strided_timer,
    .supported = strided_supported,
    .law = holed_law,
    .metrics = strided_metrics,
};

/* A rule whose points stand where their metric says, and which has a second quantity
 * where its points do other work (op=copy). */
static const char *const folded_keys[] = {"bandwidth", "rate", "in_flight"};

static void folded_metrics(const struct ub_facts *facts, struct ub_metrics *out)
{
    const int64_t *v = facts->point->values;
    const double per_second = ACCESSES / facts->time_ns * 1e9;
    out->count = 0;
    ub_metric_add(out, folded_keys[0], "B/s", v[OP] == 2 ? NAN : per_second * (double)v[BYTES]);
    ub_metric_add(out, folded_keys[1], "access/s", v[OP] == 2 ? per_second : NAN);
    ub_metric_add(out, folded_keys[2], "byte", 1024.0 * (double)(v[STRIDE] * v[BYTES]));
}

const struct ub_micro folded = {
    .name = "folded",
    .rule = "Width and distance count alike.",
    .axis_count = AXES,
    .axes = axes,
    .metric_count = 3,
    .metric_keys = folded_keys,
    .chart = {.metric = "bandwidth",
              .metric_label = "bandwidth  [GB/s]",
              .metric_scale = 1e-9,
              .other_metric = "rate",
              .other_label = "accesses  [10⁶/s]",
              .other_scale = 1e-6,
              .x_axis = "stride",
              .x_metric = "in_flight",
              .x_label = "in flight"},
    .timer = strided_timer,
    .law = strided_law,
    .metrics = folded_metrics,
};

/* A rule whose words stand where their metric says, under a roof, in one of its sweeps. */
static void roofed_metrics(const struct ub_facts *facts, struct ub_metrics *out)
{
    static const double places[] = {NAN, 1, 16, 64, 4, 0.25}; /* by pattern */
    folded_metrics(facts, out);
    out->items[2].value = places[facts->point->values[PATTERN]];
}

static double roof_at(const struct ub_gpu *gpu, const struct ub_constants *constants, double x)
{
    (void)gpu, (void)constants;
    return 1e12 * fmin(x, 8);
}

static const struct ub_sweep roofed_sweeps[] = {{"roofed", UB_SUITE_DEFAULT, "pattern=all", "the sweep"}};

const struct ub_micro roofed = {
    .name = "roofed",
    .rule = "As folded, by words.",
    .axis_count = AXES,
    .axes = axes,
    .sweep_count = 1,
    .sweeps = roofed_sweeps,
    .metric_count = 3,
    .metric_keys = folded_keys,
    .chart = {.metric = "bandwidth",
              .metric_label = "bandwidth  [GB/s]",
              .metric_scale = 1e-9,
              .second_label = "roof",
              .x_axis = "pattern",
              .x_metric = "in_flight",
              .x_label = "in flight",
              .x_sweep = "roofed",
              .roof = roof_at},
    .timer = strided_timer,
    .law = strided_law,
    .metrics = roofed_metrics,
};

const struct ub_entry ub_entries[] = {{&strided, NULL}, {&plain, NULL},  {&stairs, NULL},
                                      {&holed, NULL},   {&folded, NULL}, {&roofed, NULL}};
const size_t ub_entry_count = sizeof ub_entries / sizeof ub_entries[0];
