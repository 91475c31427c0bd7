/* SPDX-License-Identifier: MIT
 *
 * A complete rule that measures nothing, for the tests of plan, registry and options.
 * Tests copy it and take parts away. */
#ifndef UB_TESTS_FAKE_RULE_H
#define UB_TESTS_FAKE_RULE_H

#include <string.h>

#include "harness/contract/micro.h"
#include "harness/model/gpu.h"

static const char *const fake_ops[] = {"load", "store", "copy", NULL};

static const struct ub_axis fake_axes[] = {
    {.name = "stride",
     .unit = "element",
     .help = "distance of neighbours",
     .minimum = 1,
     .maximum = 1024,
     .initial = "1"},
    {.name = "offset", .unit = "element", .help = "of the first access", .minimum = 0, .maximum = 127, .initial = "0"},
    {.name = "op", .unit = "", .help = "what is done", .kind = UB_AXIS_WORD, .words = fake_ops, .initial = "load"},
    {.name = "size",
     .unit = "byte",
     .help = "footprint",
     .minimum = 4096,
     .maximum = INT64_C(1) << 40,
     .zero_word = "auto",
     .initial = "auto"},
};

static const struct ub_sweep fake_sweeps[] = {
    {.name = "stride",
     .suites = UB_SUITE_DEFAULT | UB_SUITE_FULL,
     .axes = "stride=1..32 op=load,store",
     .help = "the law"},
    {.name = "offset", .suites = UB_SUITE_FULL, .axes = "offset=0..31", .help = "misalignment"},
    {.name = "few", .suites = UB_SUITE_QUICK, .axes = "", .help = "one point"},
};

static const struct ub_provides fake_provides[] = {
    {"dram_load_ceiling", "op=load stride=1", "useful_bandwidth"},
    {"dram_copy_ceiling", "op=copy", "useful_bandwidth"},
};

static const char *const fake_counters[] = {"global_load_sectors", "global_load_requests"};
static const char *const fake_needs[] = {"dram_load_ceiling"};
static const char *const fake_metric_keys[] = {"useful_bandwidth", "sectors_per_request"};
static const struct ub_chart_text fake_texts[] = {{"stride", "strides cost", "4s"}, {"", "it varies", NULL}};

static enum ub_timer fake_timer(const struct ub_point *point)
{
    (void)point;
    return UB_TIMER_EVENT;
}

/* Copies with an offset cannot run. */
static const char *fake_supported(const struct ub_gpu *gpu, const struct ub_point *point)
{
    (void)gpu;
    return point->values[2] == 2 && point->values[1] != 0 ? "copies have no offset" : NULL;
}

static void fake_footprint(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_footprint *out)
{
    (void)gpu;
    (void)point;
    memset(out, 0, sizeof *out);
}

static void fake_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                     struct ub_law *out)
{
    (void)gpu;
    (void)constants;
    (void)point;
    memset(out, 0, sizeof *out);
}

static void fake_metrics(const struct ub_facts *facts, struct ub_metrics *out)
{
    (void)facts;
    out->count = 0;
}

static bool fake_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out)
{
    (void)gpu;
    *out = *point;
    return false;
}

static bool fake_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host,
                        uint64_t seed, uint64_t checksum, struct ub_error *err)
{
    (void)gpu;
    (void)point;
    (void)host;
    (void)seed;
    (void)checksum;
    (void)err;
    return true;
}

static const struct ub_micro fake_micro = {
    .name = "fake",
    .rule = "A rule that measures nothing.",
    .text = {"law", "breaks", "consequence", "folk", "sources"},
    .axis_count = 4,
    .axes = fake_axes,
    .sweep_count = 3,
    .sweeps = fake_sweeps,
    .counter_count = 2,
    .counters = fake_counters,
    .need_count = 1,
    .needs = fake_needs,
    .provide_count = 2,
    .provides = fake_provides,
    .metric_count = 2,
    .metric_keys = fake_metric_keys,
    .chart =
        {
            .kind = "sweep",
            .metric = "useful_bandwidth",
            .metric_label = "useful bandwidth  [GB/s]",
            .metric_scale = 1e-9,
            .panel_metric = "sectors_per_request",
            .panel_label = "sectors / request",
            .panel_counter = "counter: sectors per request",
            .text_count = 2,
            .texts = fake_texts,
        },
    .timer = fake_timer,
    .supported = fake_supported,
    .footprint = fake_footprint,
    .law = fake_law,
    .metrics = fake_metrics,
    .small = fake_small,
    .verify = fake_verify,
};

static int fake_launch(const struct ub_launch *launch)
{
    (void)launch;
    return 0;
}

static void fake_kernel(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_kernel *out)
{
    (void)gpu;
    (void)point;
    memset(out, 0, sizeof *out);
}

static const struct ub_code fake_code = {.launch = fake_launch, .kernel = fake_kernel};

#endif
