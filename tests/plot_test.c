/* SPDX-License-Identifier: MIT
 *
 * Charts: what a script says of a record. Pure, but for the runs of gnuplot at the
 * end, which take a stand-in program. The rule is one of the test's own (`strided`),
 * so that expected values can be worked out by hand.
 *
 * With UB_CHART_FOLDER=DIR in the environment the program draws every variant into
 * DIR instead and lists what each must show; charts/sweep_test.sh looks at them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/contract/record.h"
#include "harness/engine/axis.h"
#include "harness/engine/law.h"
#include "harness/model/gpu.h"
#include "plots/figure.h"
#include "plots/gnuplot.h"
#include "plots/place.h"
#include "plots/render.h"
#include "plots/scale.h"
#include "plots/text.h"

/* ---- a rule ---------------------------------------------------------------- */

enum { STRIDE, OFFSET, BYTES, OP, PATTERN, BLOCK, SIZE, AXES };
enum { ACCESSES = 1 << 22 };

static const char *const ops[] = {"load", "store", "copy", NULL};
static const char *const patterns[] = {"stride", "random", "reverse", "broadcast", "aos", "soa", NULL};
static const struct ub_axis axes[AXES] = {
    {"stride", "element", "distance", UB_AXIS_INTEGER, 1, 1 << 27, NULL, NULL, "1", NULL},
    {"offset", "element", "shift", UB_AXIS_INTEGER, 0, 127, NULL, NULL, "0", NULL},
    {"bytes", "byte", "width", UB_AXIS_INTEGER, 1, 16, NULL, NULL, "4", NULL},
    {"op", "", "operation", UB_AXIS_WORD, 0, 0, NULL, ops, "load", NULL},
    {"pattern", "", "order", UB_AXIS_WORD, 0, 0, NULL, patterns, "stride", NULL},
    {"block", "thread", "threads of a block", UB_AXIS_INTEGER, 32, 1024, NULL, NULL, "256", NULL},
    {"size", "byte", "footprint", UB_AXIS_INTEGER, 1, INT64_C(1) << 40, "auto", NULL, "auto", NULL},
};
static const char *const counter_keys[] = {"global_load_requests", "global_load_sectors"};
static const char *const metric_keys[] = {"useful_bandwidth", "ceiling_share", "sectors_per_request"};
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

static const struct ub_micro strided = {
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
static const struct ub_micro plain = {
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

static const struct ub_micro stairs = {
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

static const struct ub_micro holed = {
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

static const struct ub_micro folded = {
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

static const struct ub_micro roofed = {
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

/* ---- records ----------------------------------------------------------------- */

/* A device name that would do harm wherever text is not only text. */
static const char hostile_name[] =
    "`touch hacked` $(touch hacked) \"touch\" 'x' _a^b {c} @ ~ & <b> % %d \\n \xff Gerät 中";

static void init_record(struct ub_record *record, enum ub_source source)
{
    *record = (struct ub_record){.source = source};
    ub_device_info_init(&record->device);
    ub_set_string(&record->device.name, "NVIDIA H200");
    ub_set_string(&record->device.slug, "h200");
    ub_set_string(&record->run.counters, "cupti");
    ub_constant_set(&record->constants, "dram_load_ceiling", 4.68e12, 4.67e12, 4.69e12, "B/s", "measured in this run");
    ub_constant_set(&record->constants, "dram_store_ceiling", 4.69e12, 4.68e12, 4.7e12, "B/s", "measured in this run");
    ub_constant_set(&record->constants, "dram_copy_ceiling", 4.27e12, 4.26e12, 4.28e12, "B/s", "measured in this run");
}

static struct ub_point initial_point(void)
{
    return (struct ub_point){.values = {[STRIDE] = 1, [BYTES] = 4, [BLOCK] = 256}};
}

static void set_axes(struct ub_record_point *record, const struct ub_point *point)
{
    for (size_t a = 0; a < AXES; a++) {
        char text[32];
        const bool word = axes[a].kind == UB_AXIS_WORD || (axes[a].zero_word && point->values[a] == 0);
        ub_point_add_axis(record, axes[a].name,
                          word ? ub_axis_text(&axes[a], point->values[a], text, sizeof text) : NULL, point->values[a]);
    }
}

/* Times that scatter about the law by less than 1 %, with an interval of `width` either side. */
static void set_time(struct ub_record_point *record, double law_ns, double width)
{
    const double median = law_ns * (1.004 + 0.004 * sin((double)record->axis_count + 7 * law_ns));
    record->time = (struct ub_time){.n = 0,
                                    .median = median,
                                    .ci_lo = median * (1 - width),
                                    .ci_hi = median * (1 + width),
                                    .min = median,
                                    .p05 = median,
                                    .p95 = median,
                                    .batch = 8};
    for (int i = 0; i < 30; i++)
        ub_point_add_sample(record, (struct ub_sample){.time_ns = median, .clock_mhz = 1980});
}

static struct ub_record_point *add_point(struct ub_record *record, const struct ub_micro *micro, const char *sweep,
                                         const struct ub_point *point, double width)
{
    struct ub_gpu gpu;
    ub_gpu_of_record(record, &gpu);
    struct ub_law law;
    micro->law(&gpu, &record->constants, point, &law);
    struct ub_record_point *added = ub_record_add_point(record);
    assert_non_null(added);
    ub_set_string(&added->rule, micro->name);
    ub_set_string(&added->sweep, sweep);
    set_axes(added, point);
    if (record->source == UB_MEASURED) {
        set_time(added, law.time_ns, width);
        for (size_t i = 0; i < law.counter_count; i++) {
            struct ub_record_counter *counter = ub_point_add_counter(added, law.counters[i].key, "sector");
            counter->has_measured = true;
            counter->measured = law.counters[i].predicted;
        }
    }
    ub_law_apply(micro, &gpu, &record->constants, point, added);
    ub_law_judge(micro, &gpu, &record->constants, point, false, record->source, added);
    return added;
}

static void lose_point(struct ub_record_point *point, enum ub_point_status status, const char *reason)
{
    point->status = status;
    ub_set_string(&point->reason, reason);
    point->time = (struct ub_time){.samples = point->time.samples, .median = NAN, .ci_lo = NAN, .ci_hi = NAN};
    for (size_t i = 0; i < point->metric_count; i++)
        point->metrics[i].value = NAN;
}

static void add_strides(struct ub_record *record, const struct ub_micro *micro, int64_t last, struct ub_point point,
                        double width)
{
    for (int64_t stride = 1; stride <= last; stride++) {
        point.values[STRIDE] = stride;
        add_point(record, micro, "stride", &point, width);
    }
}

static void make_stride(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    add_strides(record, &strided, 32, initial_point(), 0.001);
}

static void make_predicted(struct ub_record *record)
{
    init_record(record, UB_PREDICTED);
    add_strides(record, &strided, 32, initial_point(), 0);
}

static void make_wide_interval(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    add_strides(record, &strided, 32, initial_point(), 0.12);
}

static void make_one(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    struct ub_point point = initial_point();
    point.values[STRIDE] = 8;
    add_point(record, &strided, "command", &point, 0.01);
}

static void make_two(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    struct ub_point point = initial_point();
    add_point(record, &strided, "command", &point, 0.01);
    point.values[STRIDE] = 2;
    add_point(record, &strided, "command", &point, 0.01);
}

static void make_offset(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    for (int64_t offset = 0; offset < 32; offset++)
        for (int64_t bytes = 4; bytes <= 8; bytes *= 2) {
            struct ub_point point = initial_point();
            point.values[OFFSET] = offset;
            point.values[BYTES] = bytes;
            add_point(record, &strided, "offset", &point, 0.002);
        }
}

static void make_equal(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    for (int64_t block = 32; block <= 1024; block *= 2) {
        struct ub_point point = initial_point();
        point.values[BLOCK] = block;
        add_point(record, &plain, "block", &point, 0.002);
    }
}

static void make_patterns(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    for (int64_t pattern = 0; patterns[pattern]; pattern++)
        for (int64_t op = 0; op < 2; op++) {
            struct ub_point point = initial_point();
            point.values[PATTERN] = pattern;
            point.values[OP] = op;
            add_point(record, &strided, "pattern", &point, 0.002);
        }
}

static void make_pattern(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    for (int64_t pattern = 0; patterns[pattern]; pattern++) {
        struct ub_point point = initial_point();
        point.values[PATTERN] = pattern;
        add_point(record, &strided, "pattern", &point, 0.002);
    }
}

static void make_bytes_series(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    for (int64_t bytes = 4; bytes <= 16; bytes *= 2) {
        struct ub_point point = initial_point();
        point.values[BYTES] = bytes;
        add_strides(record, &strided, 32, point, 0.002);
    }
}

static void make_six_series(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    for (int64_t op = 0; op < 2; op++)
        for (int64_t bytes = 4; bytes <= 16; bytes *= 2) {
            struct ub_point point = initial_point();
            point.values[BYTES] = bytes;
            point.values[OP] = op == 0 ? 0 : 2;
            add_strides(record, &strided, 32, point, 0.002);
        }
}

static void make_many_series(struct ub_record *record)
{
    init_record(record, UB_PREDICTED);
    for (int64_t block = 32; block <= 1024; block += 64)
        for (int64_t bytes = 4; bytes <= 16; bytes *= 2) {
            struct ub_point point = initial_point();
            point.values[BLOCK] = block;
            point.values[BYTES] = bytes;
            add_strides(record, &strided, 64, point, 0.002);
        }
}

static void make_lost(struct ub_record *record)
{
    make_stride(record);
    lose_point(&record->points[11], UB_POINT_TIMEOUT, "no answer within 10 s");
    lose_point(&record->points[12], UB_POINT_TIMEOUT, "no answer within 10 s");
    lose_point(&record->points[19], UB_POINT_FAILED, "CUDA error 700: an illegal memory access was encountered");
    lose_point(&record->points[27], UB_POINT_SKIPPED, "the footprint of 96 GiB is above the 79.2 GiB that are free");
    record->points[4].metrics[0].value = NAN;
}

static void make_all_lost(struct ub_record *record)
{
    make_stride(record);
    for (size_t i = 0; i < record->point_count; i++)
        lose_point(&record->points[i], UB_POINT_FAILED, "CUDA error 2: out of memory");
}

static void make_no_counters(struct ub_record *record)
{
    make_stride(record);
    ub_set_string(&record->run.counters, "the driver allows counters to administrators only (ERR_NVGPUCTRPERM)");
    for (size_t i = 0; i < record->point_count; i++) {
        for (size_t c = 0; c < record->points[i].counter_count; c++)
            record->points[i].counters[c].has_measured = false;
        record->points[i].metrics[2].value = NAN;
    }
}

static void make_plain(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    add_strides(record, &plain, 32, initial_point(), 0.001);
}

static void make_4096(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    add_strides(record, &strided, 4096, initial_point(), 0.01);
}

static void make_hostile(struct ub_record *record)
{
    make_lost(record);
    char name[301];
    snprintf(name, sizeof name, "%s", hostile_name);
    memset(name + strlen(name), 'N', sizeof name - 1 - strlen(name));
    name[300] = 0;
    ub_set_string(&record->device.name, name);
    ub_set_string(&record->points[11].reason, hostile_name);
    ub_set_string(&record->points[12].reason, hostile_name);
}

static void make_size(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    for (int64_t size = 1 << 16; size <= INT64_C(1) << 33; size *= 2) {
        struct ub_point point = initial_point();
        point.values[SIZE] = size;
        add_point(record, &strided, "size", &point, 0.03);
    }
}

static void make_auto(struct ub_record *record)
{
    make_size(record);
    struct ub_point point = initial_point();
    add_point(record, &strided, "size", &point, 0.03);
}

/* Not bytes, but as many powers of two. */
static void make_counts(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    for (int64_t stride = 1; stride <= INT64_C(1) << 27; stride *= 8) {
        struct ub_point point = initial_point();
        point.values[STRIDE] = stride;
        add_point(record, &strided, "stride", &point, 0.03);
    }
}

/* Sizes on a linear axis. */
static void make_sizes(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    for (int64_t kib = 64; kib <= 160; kib += 8) {
        struct ub_point point = initial_point();
        point.values[SIZE] = kib << 10;
        add_point(record, &strided, "size", &point, 0.03);
    }
}

/* ---- variants ------------------------------------------------------------------ */

static const struct ub_axis_option bytes_4_copy[] = {{"bytes", "4", false}, {"op", "copy", false}};
static const struct ub_axis_option bytes_8[] = {{"bytes", "8", false}};
static const struct ub_axis_option bytes_x[] = {{"bytes", "x", false}};
static const struct ub_axis_option bites_4[] = {{"bites", "4", false}};

/* What one chart must show: points in the main panel, and texts (of which some may be
 * broken over two lines: they are then named in parts). */
struct variant {
    const char *name;
    void (*make)(struct ub_record *record);
    struct ub_plot_options options;
    int dots;
    const char *texts[6];
};

static const struct variant variants[] = {
    {"stride",
     make_stride,
     {0},
     32,
     {"Coalescing: useful bandwidth falls as 1/stride, then floors", "NVIDIA H200", "median of 30 samples",
      "measured DRAM load ceiling 4680 GB/s", "law: min(4s, 32)", "measured"}},
    {"predicted", make_predicted, {0}, 32, {"predicted, not measured", "predicted", "law: min(4s, 32)"}},
    {"wide-interval", make_wide_interval, {0}, 32, {"bars: 95 % CI"}},
    {"one", make_one, {0}, 1, {"Strided: useful bandwidth at stride 8 elements", "NVIDIA H200"}},
    {"two", make_two, {0}, 2, {"stride  [elements]"}},
    {"offset", make_offset, {0}, 64, {"4 bytes", "8 bytes", "offset  [elements]"}},
    {"equal", make_equal, {0}, 6, {"Plain: useful bandwidth over block", "block  [threads]"}},
    {"patterns", make_patterns, {0}, 12, {"load", "store", "broadcast", "pattern"}},
    {"pattern", make_pattern, {0}, 6, {"broadcast", "reverse", "pattern"}},
    {"bytes-series", make_bytes_series, {0}, 96, {"4 bytes", "8 bytes", "16 bytes"}},
    {"six-series", make_six_series, {0}, 192, {"4 bytes, load", "16 bytes, copy"}},
    {"six-filtered",
     make_six_series,
     {.axis_count = 2, .axes = bytes_4_copy},
     32,
     {"4 bytes, op copy", "copy ceiling 4270 GB/s"}},
    {"many-series", make_many_series, {0}, 192, {"4 bytes", "block 32 threads (one of 16)"}},
    {"lost",
     make_lost,
     {0},
     27,
     {"timeout: no answer within 10 s  (stride 12, 13)", "failed: CUDA error 700", "skipped: the footprint of 96 GiB"}},
    {"all-lost", make_all_lost, {0}, 0, {"failed: CUDA error 2: out of memory", "and 26 more"}},
    {"no-counters", make_no_counters, {0}, 32, {"the lower panel shows the law alone: no counters"}},
    {"plain", make_plain, {0}, 32, {"Plain: useful bandwidth over stride", "a capacity of 12"}},
    {"4096", make_4096, {0}, 4096, {"stride  [elements]"}},
    {"hostile", make_hostile, {0}, 27, {"`touch hacked` $(touch hacked)"}},
    {"size", make_size, {0}, 18, {"64 Ki", "size"}},
    {"auto", make_auto, {0}, 19, {"auto"}},
    {"sizes", make_sizes, {0}, 13, {"80 Ki", "160 Ki"}},
    {"counts", make_counts, {0}, 10, {"128 Mi", "256 Ki", "stride  [elements]"}},
    {"counter", make_stride, {.y = "global_load_sectors"}, 32, {"Strided: global load sectors over stride"}},
    {"time", make_bytes_series, {.y = "time", .series = "bytes"}, 96, {"time  [µs]"}},
};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

/* ---- drawing for the shell test --------------------------------------------------- */

static int draw_variant(const char *folder, const struct variant *variant, FILE *expected)
{
    static const char *const kinds[] = {".svg", "-dark.svg", ".png", "-dark.png", ".pdf", ".txt"};
    struct ub_record record;
    variant->make(&record);
    int failures = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        char path[1024];
        struct ub_plot_options options = variant->options;
        struct ub_error err = {0};
        options.dark = strstr(kinds[k], "dark") != NULL;
        options.keep_script = k == 0;
        snprintf(path, sizeof path, "%s/%s%s", folder, variant->name, kinds[k]);
        if (!ub_plot(&record, &options, path, &err)) {
            fprintf(stderr, "%s: %s\n", path, err.text);
            failures++;
        }
    }
    fprintf(expected, "%s\t%d", variant->name, variant->dots);
    for (size_t t = 0; t < 6 && variant->texts[t]; t++)
        fprintf(expected, "\t%s", variant->texts[t]);
    fputc('\n', expected);
    ub_record_free(&record);
    return failures;
}

static int draw_all(const char *folder)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/expected.tsv", folder);
    FILE *expected = fopen(path, "w");
    if (!expected) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return 1;
    }
    const char *only = getenv("UB_CHART_ONLY");
    int failures = 0;
    for (size_t i = 0; i < VARIANTS; i++)
        if (!only || strcmp(only, variants[i].name) == 0)
            failures += draw_variant(folder, &variants[i], expected);
    fclose(expected);
    return failures;
}

/* ---- text ------------------------------------------------------------------------- */

static void test_clean(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {NULL, ""},
        {"NVIDIA H200", "NVIDIA H200"},
        {"a\nb\tc\x7f", "a b c "},
        {"\xff\xc3", "\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xc0\xaf", "\xEF\xBF\xBD\xEF\xBF\xBD"},                 /* an overlong '/' */
        {"\xed\xa0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"}, /* a surrogate */
        {"\xe2\x80\xae"
         "abc",
         " abc"}, /* right-to-left override */
        {"Gerät 中", "Gerät 中"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[64];
        ub_text_clean(rows[i].text, out, sizeof out);
        assert_string_equal(out, rows[i].expected);
    }
    char small[4];
    ub_text_clean("ab中", small, sizeof small);
    assert_string_equal(small, "ab");
}

static void test_shorten(void **state)
{
    (void)state;
    const struct ub_measure cells = {.cells = true};
    char text[64] = "0123456789";
    ub_text_shorten(text, sizeof text, 10, cells);
    assert_string_equal(text, "0123456789");
    ub_text_shorten(text, sizeof text, 6, cells);
    assert_string_equal(text, "01234…");
    char wide[64] = "中中中中";
    ub_text_shorten(wide, sizeof wide, 5, cells);
    assert_string_equal(wide, "中中…");
    char ascii[64] = "a · b × c… é";
    ub_text_to_ascii(ascii);
    assert_string_equal(ascii, "a | b x c~ ?");
}

static void test_wrap(void **state)
{
    (void)state;
    const struct ub_measure cells = {.cells = true};
    struct ub_lines lines;
    ub_text_wrap("aaaa bbbb cccc", 9, cells, 3, &lines);
    assert_int_equal(lines.count, 2);
    assert_string_equal(lines.text[0], "aaaa bbbb");
    assert_string_equal(lines.text[1], "cccc");
    /* A mark is the better place. */
    ub_text_wrap("aaaa bb · cc dddd", 12, cells, 3, &lines);
    assert_string_equal(lines.text[0], "aaaa bb");
    assert_string_equal(lines.text[1], "cc dddd");
    ub_text_wrap("aaaa bbbb cccc", 5, cells, 2, &lines);
    assert_int_equal(lines.count, 2);
    assert_string_equal(lines.text[1], "bbbb…");
    ub_text_wrap("", 5, cells, 2, &lines);
    assert_int_equal(lines.count, 0);
}

static void test_width(void **state)
{
    (void)state;
    /* Advance widths of DejaVu Sans: 0.636 em a digit, 0.318 em a blank. */
    const struct ub_measure font = {.size_px = 10};
    assert_true(fabs(ub_text_width("10 1", font) - (3 * 6.36 + 3.18)) < 1e-9);
    assert_true(ub_text_width("10 1", (struct ub_measure){.size_px = 10, .bold = true}) > ub_text_width("10 1", font));
}

/* ---- scales and places --------------------------------------------------------------- */

static void assert_ticks(const struct ub_scale *scale, const char *expected)
{
    char text[512] = "";
    for (size_t i = 0; i < scale->tick_count; i++)
        ub_text_append(text, sizeof text, "%s%s", i ? " " : "", scale->ticks[i].label);
    assert_string_equal(text, expected);
}

static void test_scales(void **state)
{
    (void)state;
    struct ub_scale scale;
    ub_scale_log2(&scale, 1, 32, 0, 0, 8);
    assert_ticks(&scale, "1 2 4 8 16 32");
    assert_true(fabs(ub_scale_fraction(&scale, 4) - 0.4) < 1e-12);
    ub_scale_log2(&scale, 0.25, 4, 0, 0, 8);
    assert_ticks(&scale, "0.25 0.5 1 2 4");
    ub_scale_log2(&scale, 1, 1 << 20, 0, 0, 8);
    assert_ticks(&scale, "1 8 64 512 4096 32768 262144");
    ub_scale_linear(&scale, 0, 32, 0, 0.1, 5, false);
    assert_ticks(&scale, "0 8 16 24 32");
    ub_scale_linear(&scale, 0, 4680, 0, 0.1, 8, false);
    assert_ticks(&scale, "0 1000 2000 3000 4000 5000");
    assert_true(fabs(ub_scale_fraction(&scale, scale.hi) - 1) < 1e-12);
    ub_scale_linear(&scale, 0, 31, 0, 0, 12, true);
    assert_ticks(&scale, "0 5 10 15 20 25 30");
    ub_scale_linear(&scale, 7, 7, 0, 0, 5, false); /* all values equal */
    assert_true(scale.lo < 7 && scale.hi > 7 && scale.tick_count >= 2);
    ub_scale_linear(&scale, 0, 0, 0, 0, 5, false);
    assert_true(scale.hi > scale.lo);
    ub_scale_category(&scale, 3);
    assert_true(fabs(ub_scale_fraction(&scale, 1) - 0.5) < 1e-12);
}

static void test_places(void **state)
{
    (void)state;
    struct ub_place place;
    assert_true(ub_place_init(&place, 100, 50, 400, 200));
    struct ub_spot line[] = {{100, 150}, {500, 150}}, far_line[] = {{100, 60}, {500, 60}};
    const struct ub_path own = {.joined = true, .count = 2, .spots = line};
    const struct ub_path other = {.joined = true, .count = 2, .spots = far_line};
    ub_place_line(&place, line[0], line[1]);
    struct ub_spot corner;
    assert_true(ub_place_near(&place, 60, 14, 30, &own, 1, &other, &corner));
    /* Beside the line, not on it, and inside. */
    assert_true(corner.y + 14 < 150 || corner.y > 150);
    assert_true(fabs(corner.y + 7 - 150) < 7 + 12);
    assert_true(corner.x >= 100 && corner.x + 60 <= 500);
    /* A label belongs to the curve that is nearest. */
    ub_place_box(&place, 100, 70, 400, 180);
    assert_false(ub_place_near(&place, 60, 14, 300, &own, 1, &other, &corner));
    ub_place_box(&place, 100, 50, 400, 200);
    assert_false(ub_place_near(&place, 60, 14, 300, &own, 0, NULL, &corner));
    ub_place_free(&place);

    /* No curve runs over a break, so that nothing there can be named after it. */
    assert_true(ub_place_init(&place, 0, 0, 600, 200));
    struct ub_spot broken[] = {{0, 100}, {100, 100}, {NAN, NAN}, {500, 100}, {600, 100}};
    const struct ub_path pieces = {.joined = true, .count = 5, .spots = broken};
    ub_place_box(&place, 0, 0, 180, 200);
    ub_place_box(&place, 420, 0, 180, 200);
    assert_false(ub_place_near(&place, 60, 14, 30, &pieces, 0, NULL, &corner));
    assert_true(ub_place_near(&place, 60, 14, 90, &pieces, 0, NULL, &corner));
    ub_place_free(&place);

    assert_true(ub_place_init(&place, 0, 0, 400, 200));
    struct ub_spot upper[] = {{0, 20}, {400, 20}}, lower[] = {{0, 100}, {400, 100}};
    const struct ub_path above = {.joined = true, .count = 2, .spots = upper};
    const struct ub_path below = {.joined = true, .count = 2, .spots = lower};
    assert_true(ub_place_between(&place, 50, 14, &above, &below, &corner));
    assert_true(fabs(corner.y + 7 - 60) < 3); /* in the middle of the gap */
    assert_false(ub_place_between(&place, 50, 90, &above, &below, &corner));
    ub_place_free(&place);
}

/* ---- scripts -------------------------------------------------------------------------- */

static char *script_of(const struct ub_record *record, const struct ub_plot_options *options, const char *output)
{
    char *text = NULL;
    size_t size = 0;
    struct ub_error err = {0};
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    if (!ub_plot_script(stream, record, options, output, &err))
        fail_msg("%s", err.text);
    fclose(stream);
    /* gcc 12 at -O3 takes a memstream's text for a dangling pointer once it leaves here. */
    char *script = strdup(text);
    free(text);
    assert_non_null(script);
    return script;
}

/* Takes out what stands in single quotes and after #. */
static void drop_quoted(char *script)
{
    bool quoted = false, comment = false, doubled = false;
    char *to = script;
    for (const char *c = script; *c; c++) {
        if (*c == '\n')
            quoted = comment = doubled = false;
        else if (*c == '#' && !quoted && !doubled)
            comment = true;
        else if (*c == '"' && !quoted && !comment)
            doubled = !doubled;
        else if (*c == '\'' && !comment && !doubled)
            quoted = !quoted;
        if (!quoted && !comment)
            *to++ = *c;
    }
    *to = 0;
}

/* Rows of a datablock that begin with a number. */
static int rows_of(const char *script, const char *block)
{
    char start[64];
    snprintf(start, sizeof start, "%s << EOD\n", block);
    const char *line = strstr(script, start);
    assert_non_null(line);
    int rows = 0;
    for (line = strchr(line, '\n') + 1; strncmp(line, "EOD", 3) != 0; line = strchr(line, '\n') + 1)
        rows += *line == '-' || (*line >= '0' && *line <= '9');
    return rows;
}

static void test_scripts(void **state)
{
    (void)state;
    static const char *const outputs[] = {"chart.svg", "chart.txt"};
    for (size_t i = 0; i < VARIANTS; i++)
        for (size_t o = 0; o < 2; o++) {
            struct ub_record record;
            variants[i].make(&record);
            char *script = script_of(&record, &variants[i].options, outputs[o]);
            assert_non_null(strstr(script, "OUT = './chart."));
            if (o == 0 && variants[i].dots > 0)
                assert_int_equal(rows_of(script, "$dots"), variants[i].dots);
            drop_quoted(script);
            /* Nothing from outside is left where gnuplot would read it. */
            static const char *const forbidden[] = {"nan\n", "nan ", "inf\n", "inf ", "`", "touch", "hacked", "Gerät"};
            for (size_t f = 0; f < sizeof forbidden / sizeof forbidden[0]; f++)
                if (strstr(script, forbidden[f]))
                    fail_msg("%s: the script has \"%s\"", variants[i].name, forbidden[f]);
            free(script);
            ub_record_free(&record);
        }
}

/* A law in stairs is drawn on linear axes, however far it rises; the same law without
 * stairs is not. */
static void test_stairs(void **state)
{
    (void)state;
    static const struct {
        const struct ub_micro *micro;
        int64_t farthest; /* one more stride */
        const char *x, *y;
    } rows[] = {{&stairs, 65, "X_LOG = 0;", "Y_LOG = 0\n"},
                {&strided, 65, "X_LOG = 1;", "Y_LOG = 1\n"},
                {&stairs, 4000, "X_LOG = 1;", "Y_LOG = 1\n"}}; /* a linear axis would show the last alone */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ub_record record;
        init_record(&record, UB_MEASURED);
        add_strides(&record, rows[i].micro, 64, initial_point(), 0.001);
        struct ub_point point = initial_point();
        point.values[STRIDE] = rows[i].farthest;
        add_point(&record, rows[i].micro, "stride", &point, 0.001);
        char *script = script_of(&record, &(struct ub_plot_options){0}, "chart.svg");
        assert_non_null(strstr(script, rows[i].x));
        assert_non_null(strstr(script, rows[i].y));
        free(script);
        ub_record_free(&record);
    }
}

/* How many rows of a datablock follow on each other, of each piece: "8 2 6". */
static void pieces_of(const char *script, const char *block, char *text, size_t size)
{
    char start[64];
    snprintf(start, sizeof start, "%s << EOD\n", block);
    const char *line = strstr(script, start);
    assert_non_null(line);
    *text = 0;
    for (int rows = 0; strncmp(line, "EOD\n", 4) != 0;) {
        line = strchr(line, '\n') + 1;
        rows += *line != '\n' && strncmp(line, "EOD", 3) != 0;
        if (*line == '\n' && rows > 0) {
            ub_text_append(text, size, "%s%d", *text ? " " : "", rows);
            rows = 0;
        }
    }
}

static void make_holed(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    add_strides(record, &holed, 20, initial_point(), 0.001);
}

/* Widths that no launch can have lie between those swept. */
static void make_widths(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    for (int64_t bytes = 1; bytes <= 16; bytes *= 2) {
        struct ub_point point = initial_point();
        point.values[BYTES] = bytes;
        add_point(record, &strided, "bytes", &point, 0.001);
    }
}

static void make_refused_width(struct ub_record *record)
{
    make_widths(record);
    struct ub_point point = initial_point();
    point.values[BYTES] = 6;
    lose_point(add_point(record, &strided, "bytes", &point, 0.001), UB_POINT_SKIPPED, "an access is 4 or 8 bytes");
}

static void make_roofed(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    for (int64_t pattern = 0; patterns[pattern]; pattern++) {
        struct ub_point point = initial_point();
        point.values[PATTERN] = pattern;
        add_point(record, &roofed, "roofed", &point, 0.001);
    }
}

/* Where the law has no value its line breaks, and a value alone is a dash of two rows; what lies
 * between the values of an axis, and the spots of a roof, break nothing. */
static void test_breaks(void **state)
{
    (void)state;
    static const struct {
        void (*make)(struct ub_record *record);
        const char *block, *pieces;
    } rows[] = {
        {make_holed, "$law", "8 2 6"},       {make_holed, "$panel_law", "20"},
        {make_widths, "$law", "5"},          {make_widths, "$panel_law", "5"},
        {make_refused_width, "$law", "3 2"}, {make_refused_width, "$panel_law", "3 2"},
        {make_roofed, "$law", "5"},          {make_roofed, "$second", "132"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ub_record record;
        char pieces[200];
        rows[i].make(&record);
        char *script = script_of(&record, &(struct ub_plot_options){0}, "chart.svg");
        pieces_of(script, rows[i].block, pieces, sizeof pieces);
        if (strcmp(pieces, rows[i].pieces) != 0)
            fail_msg("row %zu: %s has %s rows, not %s", i, rows[i].block, pieces, rows[i].pieces);
        free(script);
        ub_record_free(&record);
    }
}

/* In a terminal too no dot of the law stands where it says nothing, and all between values of an axis do. */
static void test_breaks_in_characters(void **state)
{
    (void)state;
    static const struct {
        void (*make)(struct ub_record *record);
        double from, to;
        bool empty;
    } rows[] = {{make_holed, 8.01, 12.9, true},
                {make_holed, 13.1, 14.9, true},
                {make_holed, 15.01, 19.9, false},
                {make_widths, 8.1, 15.9, false},
                {make_refused_width, 4.01, 7.9, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ub_record record;
        bool empty = true;
        rows[i].make(&record);
        char *script = script_of(&record, &(struct ub_plot_options){0}, "chart.txt");
        const char *line = strchr(strstr(script, "$law << EOD\n"), '\n') + 1;
        for (; strncmp(line, "EOD", 3) != 0; line = strchr(line, '\n') + 1)
            if (*line != '\n' && strtod(line, NULL) > rows[i].from && strtod(line, NULL) < rows[i].to)
                empty = false;
        if (empty != rows[i].empty)
            fail_msg("row %zu: %s", i, empty ? "nothing is drawn" : "something is drawn");
        free(script);
        ub_record_free(&record);
    }
}

/* The law is a function of the record's constants: a ceiling half as high halves it. */
static void test_law_follows_constants(void **state)
{
    (void)state;
    double value[2];
    for (int i = 0; i < 2; i++) {
        struct ub_record record;
        make_stride(&record);
        if (i == 1)
            ub_constant_set(&record.constants, "dram_load_ceiling", 2.34e12, 0, 0, "B/s", "half");
        char *script = script_of(&record, &(struct ub_plot_options){0}, "chart.svg");
        const char *row = strstr(strstr(script, "$law << EOD\n"), "\n32 ");
        assert_non_null(row);
        value[i] = strtod(row + 4, NULL);
        /* 4194304 x 4 bytes in 3 us + 4194304 x 64 bytes / ceiling, in GB/s */
        const double ceiling = i == 0 ? 4.68e12 : 2.34e12, time = 3e-6 + 4194304.0 * 64 / ceiling;
        assert_true(fabs(value[i] / (4194304.0 * 4 / time * 1e-9) - 1) < 1e-6);
        free(script);
        ub_record_free(&record);
    }
    assert_true(value[0] > 1.9 * value[1]);
}

/* A point that stands in several sweeps is drawn once, as the chosen sweep measured it. */
static void test_one_sweep_only(void **state)
{
    (void)state;
    struct ub_record record;
    make_stride(&record); /* its stride=1 is also offset=0 */
    for (int64_t offset = 0; offset < 8; offset++) {
        struct ub_point point = initial_point();
        point.values[OFFSET] = offset;
        add_point(&record, &strided, "offset", &point, 0.001);
    }
    char *script = script_of(&record, &(struct ub_plot_options){.x = "offset"}, "chart.svg");
    assert_int_equal(rows_of(script, "$dots"), 8);
    free(script);
    ub_record_free(&record);
}

/* Points stand at a metric of theirs: series that it makes alike share their places. */
static void test_place_by_metric(void **state)
{
    (void)state;
    struct ub_record record;
    init_record(&record, UB_MEASURED);
    for (int64_t bytes = 4; bytes <= 8; bytes += 4)
        for (int64_t stride = 1; stride <= 64; stride *= 2) {
            struct ub_point point = initial_point();
            point.values[STRIDE] = stride;
            point.values[BYTES] = bytes;
            add_point(&record, &folded, "stride", &point, 0.001);
        }
    char *script = script_of(&record, &(struct ub_plot_options){0}, "chart.svg");
    const char *dots = strstr(script, "$dots << EOD\n"), *law = strstr(script, "$law << EOD\n");
    const char *second = strstr(dots, "\n\n") + 3;
    assert_int_equal(rows_of(script, "$dots"), 14);
    assert_true(strtod(strchr(dots, '\n') + 1, NULL) == 4096);
    assert_true(strtod(second, NULL) == 8192); /* 8 bytes at stride 1: as 4 bytes at stride 2 */
    assert_true(strtod(strchr(law, '\n') + 1, NULL) == 4096);
    assert_non_null(strstr(script, "in flight  [bytes]"));
    assert_non_null(strstr(script, "4 Ki"));
    assert_null(strstr(script, "stride  [elements]"));
    free(script);
    ub_record_free(&record);
}

/* Words stand at their metric in the sweep that asks for it, each with its name beside it; the one
 * without a place is left out; the roof has its bend. In any other sweep they are words. */
static void test_words_under_a_roof(void **state)
{
    (void)state;
    for (int named = 0; named < 2; named++) {
        struct ub_record record;
        struct ub_figure figure;
        struct ub_error err = {0};
        init_record(&record, UB_MEASURED);
        for (int64_t pattern = 0; pattern < 6; pattern++) {
            struct ub_point point = initial_point();
            point.values[PATTERN] = pattern;
            add_point(&record, &roofed, named ? "roofed" : "words", &point, 0.001);
        }
        const struct ub_plot_options options = {0};
        assert_true(ub_figure_make(&record, &options, &figure, &err));
        assert_int_equal(figure.words, !named);
        assert_int_equal(figure.has_roof, named);
        assert_int_equal(figure.series[0].dot_count, named ? 5 : 6);
        assert_int_equal(figure.word_count, named ? 5 : 6);
        for (size_t i = 0; i < 5 && named; i++)
            assert_string_equal(figure.word[i], patterns[i + 1]);
        double highest = 0, before = 0;
        size_t predicted = 0;
        for (size_t i = 0; i < figure.series[0].law_count && named; i++) {
            const struct ub_law_spot *spot = &figure.series[0].law[i];
            assert_true(spot->x >= before);
            assert_true(fabs(spot->second / (1e3 * fmin(spot->x, 8)) - 1) < 1e-9);
            before = spot->x;
            highest = fmax(highest, spot->second);
            predicted += isfinite(spot->y);
        }
        assert_true(!named || (predicted == 5 && fabs(highest - 8e3) < 1e-6 && figure.has_second));
        ub_figure_free(&figure);
        ub_record_free(&record);
    }
}

static void test_marks(void **state)
{
    (void)state;
    struct ub_record record;
    make_plain(&record);
    char *script = script_of(&record, &(struct ub_plot_options){0}, "chart.svg");
    assert_non_null(strstr(script, "$mark << EOD\n12\nEOD\nN_MARK = 1\n"));
    assert_non_null(strstr(script, "'a capacity of 12'"));
    assert_null(strstr(script, "far"));
    free(script);
    ub_record_free(&record);
    make_stride(&record); /* a rule that marks nothing */
    script = script_of(&record, &(struct ub_plot_options){0}, "chart.svg");
    assert_non_null(strstr(script, "N_MARK = 0\n"));
    free(script);
    ub_record_free(&record);
}

/* Whose the points without a value are is said where not all series have them, each place once. */
static void test_lost_of_series(void **state)
{
    (void)state;
    static const struct {
        size_t lost[5]; /* of three series with 32 points each, in the order of the record; 0 ends */
        const char *note;
    } rows[] = {
        {{4, 5}, "'× failed: broken  (4 bytes: stride 5, 6)'"},
        {{68, 36, 37}, "'× failed: broken  (8 bytes; 16 bytes: stride 5, 6)'"},
        {{4, 36, 68}, "'× failed: broken  (stride 5)'"},
        {{68, 4, 38}, "'× failed: broken  (stride 5, 7)'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ub_record record;
        make_bytes_series(&record);
        for (size_t n = 0; rows[i].lost[n]; n++)
            lose_point(&record.points[rows[i].lost[n]], UB_POINT_FAILED, "broken");
        char *script = script_of(&record, &(struct ub_plot_options){0}, "chart.svg");
        if (!strstr(script, rows[i].note))
            fail_msg("row %zu: no %s", i, rows[i].note);
        free(script);
        ub_record_free(&record);
    }
}

static void test_other_metric(void **state)
{
    (void)state;
    struct ub_record record;
    init_record(&record, UB_MEASURED);
    for (int64_t op = 0; op <= 2; op += 2)
        for (int64_t stride = 1; stride <= 8; stride++) {
            struct ub_point point = initial_point();
            point.values[STRIDE] = stride;
            point.values[OP] = op;
            add_point(&record, &folded, op ? "copies" : "loads", &point, 0.001);
        }
    char *loads = script_of(&record, &(struct ub_plot_options){.sweep = "loads"}, "chart.svg");
    char *copies = script_of(&record, &(struct ub_plot_options){.sweep = "copies"}, "chart.svg");
    assert_non_null(strstr(loads, "bandwidth  [GB/s]"));
    assert_null(strstr(loads, "accesses"));
    assert_non_null(strstr(copies, "accesses  [10⁶/s]"));
    assert_int_equal(rows_of(copies, "$dots"), 8);
    free(loads);
    free(copies);
    ub_record_free(&record);
}

/* What nobody counted is missed below the chart; what does not exist there is not. */
static void test_panel(void **state)
{
    (void)state;
    struct ub_record record;
    make_no_counters(&record);
    char *missed = script_of(&record, &(struct ub_plot_options){0}, "chart.svg");
    assert_non_null(strstr(missed, "the lower panel shows the law alone"));
    for (size_t i = 0; i < record.point_count; i++)
        for (size_t k = 0; k < record.points[i].predicted_metric_count; k++)
            if (strcmp(record.points[i].predicted_metrics[k].key, metric_keys[2]) == 0)
                record.points[i].predicted_metrics[k].value = NAN;
    char *absent = script_of(&record, &(struct ub_plot_options){0}, "chart.svg");
    assert_null(strstr(absent, "lower panel"));
    free(missed);
    free(absent);
    ub_record_free(&record);
}

static void test_many_points(void **state)
{
    (void)state;
    struct ub_record record;
    make_4096(&record);
    char *script = script_of(&record, &(struct ub_plot_options){0}, "chart.svg");
    assert_int_equal(rows_of(script, "$dots"), 4096);
    free(script);
    ub_record_free(&record);
}

static void test_locale(void **state)
{
    (void)state;
    struct ub_record record;
    make_bytes_series(&record);
    char *plain_script = script_of(&record, &(struct ub_plot_options){0}, "chart.svg");
    /* A locale with a decimal comma, where the system has one. */
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8"};
    bool comma = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !comma; i++)
        comma = setlocale(LC_ALL, names[i]) != NULL;
    if (comma) {
        char number[16];
        snprintf(number, sizeof number, "%.1f", 0.5);
        assert_string_equal(number, "0,5");
        char *script = script_of(&record, &(struct ub_plot_options){0}, "chart.svg");
        assert_string_equal(script, plain_script);
        free(script);
        setlocale(LC_ALL, "C");
    }
    free(plain_script);
    ub_record_free(&record);
    if (!comma)
        skip(); /* charts/sweep_test.sh makes itself such a locale */
}

/* ---- mistakes ------------------------------------------------------------------------- */

static void test_mistakes(void **state)
{
    (void)state;
    static const struct {
        struct ub_plot_options options;
        const char *output;
        enum ub_status status;
        const char *parts[3];
    } rows[] = {
        {{.rule = "stride"}, "a.svg", UB_USAGE, {"stride", "strided, plain, stairs, holed, folded, roofed"}},
        {{.rule = "plain"}, "a.svg", UB_USAGE, {"no points", "plain"}},
        {{.sweep = "ofset"}, "a.svg", UB_USAGE, {"--sweep ofset", "stride"}},
        {{.x = "strid"}, "a.svg", UB_USAGE, {"--x strid", "stride, offset, bytes, op, pattern, block, size"}},
        {{.series = "width"}, "a.svg", UB_USAGE, {"--series width", "stride, offset"}},
        {{.y = "bandwidth"}, "a.svg", UB_USAGE, {"--y bandwidth", "useful_bandwidth", "global_load_sectors"}},
        {{.axis_count = 1, .axes = bites_4}, "a.svg", UB_USAGE, {"--bites"}},
        {{.axis_count = 1, .axes = bytes_x}, "a.svg", UB_USAGE, {"x"}},
        {{.axis_count = 1, .axes = bytes_8}, "a.svg", UB_BAD_DATA, {"nothing to draw", "--bytes 8"}},
        {{.term = "gif"}, "a.svg", UB_USAGE, {"--term gif", "svg, png, pdf or dumb"}},
        {{0}, "a.gif", UB_USAGE, {"a.gif", ".svg, .png, .pdf or .txt"}},
        {{0}, "svg", UB_USAGE, {"svg: the ending"}},
        {{0}, "a\nb.svg", UB_USAGE, {"control character"}},
    };
    struct ub_record record;
    make_stride(&record);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ub_error err = {0};
        FILE *stream = fopen("/dev/null", "w");
        assert_non_null(stream);
        assert_false(ub_plot_script(stream, &record, &rows[i].options, rows[i].output, &err));
        fclose(stream);
        assert_int_equal(err.status, rows[i].status);
        for (size_t p = 0; p < 3 && rows[i].parts[p]; p++)
            if (!strstr(err.text, rows[i].parts[p]))
                fail_msg("row %zu: \"%s\" lacks \"%s\"", i, err.text, rows[i].parts[p]);
    }
    ub_record_free(&record);
}

static void test_nothing_to_draw(void **state)
{
    (void)state;
    struct ub_record record = {0};
    struct ub_error err = {0};
    FILE *stream = fopen("/dev/null", "w");
    assert_non_null(stream);
    assert_false(ub_plot_script(stream, &record, &(struct ub_plot_options){0}, "a.svg", &err));
    assert_int_equal(err.status, UB_BAD_DATA);
    assert_non_null(strstr(err.text, "nothing to draw"));
    /* No point has a value, and without its ceiling the law says nothing either. */
    make_all_lost(&record);
    record.constants.count = 0;
    assert_false(ub_plot_script(stream, &record, &(struct ub_plot_options){0}, "a.svg", &err));
    assert_int_equal(err.status, UB_BAD_DATA);
    assert_non_null(strstr(err.text, "out of memory"));
    fclose(stream);
    ub_record_free(&record);
}

/* ---- running gnuplot: stand-ins that fail in every way ------------------------------------ */

/* A folder with a program `gnuplot` made of `body`, named by UBENCH_GNUPLOT. */
struct stand_in {
    char folder[64], program[128], chart[128];
};

static void make_stand_in(struct stand_in *in, const char *body)
{
    snprintf(in->folder, sizeof in->folder, "/tmp/ubench-plot-test-XXXXXX");
    assert_non_null(mkdtemp(in->folder));
    snprintf(in->program, sizeof in->program, "%s/gnuplot", in->folder);
    snprintf(in->chart, sizeof in->chart, "%s/chart.svg", in->folder);
    FILE *file = fopen(in->program, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\nif [ \"$1\" = --version ]; then %s\n",
            strstr(body, "--version") ? body : "echo 'gnuplot 5.4 patchlevel 4'; exit; fi");
    /* The picture's name stands in the script's second line. */
    fprintf(file, "out=$(sed -n \"s/^OUT = '\\(.*\\)'$/\\1/p\" \"$2\")\n%s\n", strstr(body, "--version") ? "" : body);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(in->program, 0755), 0);
    setenv("UBENCH_GNUPLOT", in->program, 1);
}

static int files_in(const char *folder)
{
    int count = 0;
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing));)
        count += entry->d_name[0] != '.';
    closedir(listing);
    return count;
}

static void remove_stand_in(struct stand_in *in)
{
    unlink(in->chart);
    unlink(in->program);
    assert_int_equal(rmdir(in->folder), 0);
    unsetenv("UBENCH_GNUPLOT");
}

static void test_stand_ins(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        enum ub_status status; /* UB_OK: drawn */
        const char *part;
    } rows[] = {
        {"printf '<?xml version=\"1.0\"?><svg></svg>\\n' > \"$out\"", UB_OK, ""},
        {"printf '<?xml version=\"1.0\"?><svg></svg>\\n' > \"$out\"; echo 'Fontconfig error: no cache' >&2", UB_OK, ""},
        {"printf '<?xml version=\"1.0\"?><svg></svg>\\n' > \"$out\"; exit 3", UB_CANNOT_WRITE, "exit status 3"},
        {"printf '<?xml version=\"1.0\"?><svg></svg>\\n' > \"$out\"; echo 'warning: odd' >&2", UB_CANNOT_WRITE,
         "warning: odd"},
        {"printf '<?xml version=\"1.0\"?><svg>' > \"$out\"", UB_CANNOT_WRITE, "no complete svg"},
        {": > \"$out\"", UB_CANNOT_WRITE, "no complete svg"},
        {"rm -f \"$out\"", UB_CANNOT_WRITE, "no complete svg"},
        {"kill -9 $$", UB_CANNOT_WRITE, "signal 9"},
        {"echo 'ubench: missing terminal svg' >&2", UB_MISSING_PROGRAM, "terminal svg is missing"},
        {"echo 'gnuplot 5.0 patchlevel 1'; exit; fi # --version", UB_MISSING_PROGRAM, "5.2 or later"},
        {"echo 'something else'; exit; fi # --version", UB_MISSING_PROGRAM, "no gnuplot"},
    };
    struct ub_record record;
    make_stride(&record);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct stand_in in;
        struct ub_error err = {0};
        make_stand_in(&in, rows[i].body);
        const bool drawn = ub_plot(&record, &(struct ub_plot_options){0}, in.chart, &err);
        if (drawn != (rows[i].status == UB_OK) || (!drawn && err.status != rows[i].status) ||
            (!drawn && !strstr(err.text, rows[i].part)))
            fail_msg("row %zu: drawn %d, status %d, \"%s\"", i, drawn, err.status, err.text);
        /* The program, and the chart only if it is whole. */
        assert_int_equal(files_in(in.folder), drawn ? 2 : 1);
        remove_stand_in(&in);
    }
    ub_record_free(&record);
}

static void test_hanging(void **state)
{
    (void)state;
    struct stand_in in;
    struct ub_error err = {0};
    make_stand_in(&in, "exec tail -f /dev/null");
    assert_false(ub_gnuplot_draw("script.gp", in.chart, ub_term_find("svg", in.chart, NULL), 100, &err));
    assert_int_equal(err.status, UB_CANNOT_WRITE);
    assert_non_null(strstr(err.text, "did not end within 100 ms"));
    remove_stand_in(&in);
}

/* A chart is written to a pipe or a device, never put in its place; a link is followed. */
static void test_targets(void **state)
{
    (void)state;
    static const char good[] = "printf '<?xml version=\"1.0\"?><svg></svg>\\n' > \"$out\"";
    struct stand_in in;
    struct ub_record record;
    struct ub_error err = {0};
    struct stat status;
    struct ub_plot_options options = {.term = "svg", .keep_script = true};
    char said[80] = "", target[160];
    make_stride(&record);
    make_stand_in(&in, good);
    setenv("TMPDIR", in.folder, 1);
    assert_int_equal(mkfifo(in.chart, 0600), 0);
    const int reader = open(in.chart, O_RDONLY | O_NONBLOCK);
    assert_true(ub_plot(&record, &options, in.chart, &err));
    assert_true(read(reader, said, sizeof said - 1) > 0);
    assert_string_equal(said, "<?xml version=\"1.0\"?><svg></svg>\n");
    close(reader);
    assert_int_equal(stat(in.chart, &status), 0);
    assert_true(S_ISFIFO(status.st_mode));
    assert_int_equal(files_in(in.folder), 2);
    unlink(in.chart);
    /* The device that is always full: written into by way of a link of our own. */
    assert_int_equal(symlink("/dev/full", in.chart), 0);
    if (access("/dev/full", W_OK) == 0) {
        assert_false(ub_plot(&record, &options, in.chart, &err));
        assert_int_equal(err.status, UB_CANNOT_WRITE);
        assert_non_null(strstr(err.text, "No space left"));
        assert_int_equal(files_in(in.folder), 2);
    }
    unlink(in.chart);
    /* The file behind a link is replaced, the link stays. */
    snprintf(target, sizeof target, "%s/behind", in.folder);
    fclose(fopen(target, "w"));
    assert_int_equal(symlink("behind", in.chart), 0);
    assert_false(ub_plot(&record, &options, in.chart, &err));
    options = (struct ub_plot_options){.force = true};
    assert_true(ub_plot(&record, &options, in.chart, &err));
    assert_int_equal(lstat(in.chart, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(stat(target, &status), 0);
    assert_int_equal(status.st_size, (off_t)strlen(said));
    unlink(target);
    assert_false(ub_plot(&record, &options, in.chart, &err)); /* now it hangs in the air */
    assert_int_equal(err.status, UB_CANNOT_WRITE);
    unsetenv("TMPDIR");
    remove_stand_in(&in);
    ub_record_free(&record);
}

static void test_check(void **state)
{
    (void)state;
    struct stand_in in;
    char script[160], missing[160];
    make_stand_in(&in, "exit 1");
    snprintf(script, sizeof script, "%s/chart.gp", in.folder);
    snprintf(missing, sizeof missing, "%s/none/chart.svg", in.folder);
    fclose(fopen(in.chart, "w"));
    fclose(fopen(script, "w"));
    char other[160];
    snprintf(other, sizeof other, "%s/chart.png", in.folder);
    const struct {
        struct ub_plot_options options;
        const char *path;
        enum ub_status status; /* UB_OK: it could be drawn */
        const char *part;
    } rows[] = {
        {{0}, in.chart, UB_CANNOT_WRITE, "chart.svg exists; --force overwrites it"},
        {{.force = true}, in.chart, UB_OK, ""},
        {{0}, other, UB_OK, ""},
        {{.keep_script = true}, other, UB_CANNOT_WRITE, "chart.gp exists; --force overwrites it"},
        {{.keep_script = true, .force = true}, other, UB_OK, ""},
        {{.keep_script = true, .force = true, .term = "svg"}, script, UB_USAGE, "in the place of the chart"},
        {{.keep_script = true}, "-", UB_OK, ""},
        {{0}, missing, UB_CANNOT_WRITE, "none: No such file"},
        {{.term = "svg", .force = true}, in.folder, UB_CANNOT_WRITE, "it is a folder"},
        {{.term = "gif"}, other, UB_USAGE, "--term gif"},
        {{0}, "a.gif", UB_USAGE, ".svg, .png, .pdf or .txt"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ub_error err = {0};
        const bool good = ub_plot_check(&rows[i].options, rows[i].path, &err);
        if (good != (rows[i].status == UB_OK) ||
            (!good && (err.status != rows[i].status || !strstr(err.text, rows[i].part))))
            fail_msg("row %zu: %d, status %d, \"%s\"", i, good, err.status, err.text);
    }
    struct ub_error err = {0};
    struct ub_record record;
    struct stat status;
    make_stride(&record);
    assert_false(ub_plot(&record, &(struct ub_plot_options){0}, in.chart, &err));
    assert_false(ub_plot(&record, &(struct ub_plot_options){.keep_script = true}, other, &err));
    assert_int_equal(stat(in.chart, &status) + stat(script, &status), 0);
    assert_int_equal(status.st_size, 0);
    assert_int_equal(files_in(in.folder), 3);
    unlink(script);
    remove_stand_in(&in);
    ub_record_free(&record);
}

/* No value of a record makes a scale overflow, and the chart says which points lack one. */
static void test_absurd(void **state)
{
    (void)state;
    static const double values[] = {1e308, -1e308, 1e31, INFINITY};
    static const char *const outputs[] = {"chart.svg", "chart.txt"};
    for (size_t v = 0; v < sizeof values / sizeof values[0]; v++)
        for (size_t o = 0; o < 2; o++) {
            struct ub_record record;
            make_stride(&record);
            for (size_t m = 0; m < record.points[4].metric_count; m++)
                record.points[4].metrics[m].value = values[v];
            record.points[5].metrics[0].value = 1e-310;
            record.points[7].time.ci_hi = 1e308;
            char *script = script_of(&record, &(struct ub_plot_options){0}, outputs[o]);
            assert_non_null(strstr(script, "value out of any scale  (stride 5)"));
            if (o == 0)
                assert_int_equal(rows_of(script, "$dots"), 31);
            drop_quoted(script);
            assert_null(strstr(script, "inf"));
            assert_null(strstr(script, "nan"));
            assert_null(strstr(script, "e+2"));
            assert_null(strstr(script, "e+3"));
            free(script);
            /* The same constant in the law. */
            ub_constant_set(&record.constants, "dram_load_ceiling", 1e308, 0, 0, "B/s", "absurd");
            script = script_of(&record, &(struct ub_plot_options){0}, outputs[o]);
            drop_quoted(script);
            assert_null(strstr(script, "inf"));
            assert_null(strstr(script, "nan"));
            assert_null(strstr(script, "e+2"));
            assert_null(strstr(script, "e+3"));
            free(script);
            ub_record_free(&record);
        }
}

/* A record's text in a message moves no cursor. */
static void test_harmless_messages(void **state)
{
    (void)state;
    struct ub_record record;
    make_stride(&record);
    ub_set_string(&record.points[0].sweep, "a\033[2Jb\r\n");
    ub_set_string(&record.points[1].sweep, "\033]0;title\a");
    FILE *stream = fopen("/dev/null", "w");
    assert_non_null(stream);
    for (int foreign = 0; foreign < 2; foreign++) {
        struct ub_error err = {0};
        const struct ub_plot_options options = {.sweep = foreign ? NULL : "none"};
        if (foreign) /* a word that the rule's axis does not have */
            ub_set_string(&record.points[2].axes[OP].word, "\033[2Jload");
        assert_false(ub_plot_script(stream, &record, &options, "a.svg", &err));
        assert_true(strlen(err.text) > 10);
        for (const char *c = err.text; *c; c++)
            assert_true((unsigned char)*c >= 0x20);
    }
    fclose(stream);
    ub_record_free(&record);
}

static void test_missing(void **state)
{
    (void)state;
    char text[80];
    struct ub_error err = {0};
    setenv("UBENCH_GNUPLOT", "/nonexistent/gnuplot", 1);
    assert_false(ub_gnuplot_version(text, sizeof text, &err));
    assert_int_equal(err.status, UB_MISSING_PROGRAM);
    assert_non_null(strstr(err.text, "apt install gnuplot-nox"));
    unsetenv("UBENCH_GNUPLOT");
}

static void test_no_folder(void **state)
{
    (void)state;
    struct stand_in in;
    struct ub_record record;
    struct ub_error err = {0};
    make_stride(&record);
    make_stand_in(&in, "exit 1");
    assert_false(ub_plot(&record, &(struct ub_plot_options){0}, "/nonexistent/folder/chart.svg", &err));
    assert_int_equal(err.status, UB_CANNOT_WRITE);
    assert_non_null(
        strstr(err.text, "/nonexistent/folder/chart.svg: the folder /nonexistent/folder: No such file or directory"));
    remove_stand_in(&in);
    ub_record_free(&record);
}

int main(void)
{
    setlocale(LC_ALL, "");
    const char *folder = getenv("UB_CHART_FOLDER");
    if (folder)
        return draw_all(folder) > 0;
    setlocale(LC_ALL, "C");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_shorten),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_width),
        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_scripts),
        cmocka_unit_test(test_stairs),
        cmocka_unit_test(test_breaks),
        cmocka_unit_test(test_breaks_in_characters),
        cmocka_unit_test(test_law_follows_constants),
        cmocka_unit_test(test_one_sweep_only),
        cmocka_unit_test(test_place_by_metric),
        cmocka_unit_test(test_words_under_a_roof),
        cmocka_unit_test(test_lost_of_series),
        cmocka_unit_test(test_other_metric),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_panel),
        cmocka_unit_test(test_many_points),
        cmocka_unit_test(test_locale),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_nothing_to_draw),
        cmocka_unit_test(test_stand_ins),
        cmocka_unit_test(test_hanging),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_absurd),
        cmocka_unit_test(test_harmless_messages),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_no_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
