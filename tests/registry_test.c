/* SPDX-License-Identifier: MIT
 *
 * A rule with a missing part is refused, and the message names rule and part. Each
 * row takes one part away from a rule that is complete. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/contract/counters.h"
#include "harness/engine/plan.h"
#include "tests/fake_rule.h"

/* A rule that can be changed. */
struct rule {
    struct ub_micro micro;
    struct ub_code code;
    struct ub_axis axes[4];
    struct ub_sweep sweeps[3];
    struct ub_provides provides[2];
    struct ub_chart_text texts[2];
    const char *counters[2];
    const char *needs[2];
    const char *metric_keys[2];
};

static void make_rule(struct rule *rule)
{
    *rule = (struct rule){.micro = fake_micro, .code = fake_code};
    memcpy(rule->axes, fake_axes, sizeof rule->axes);
    memcpy(rule->sweeps, fake_sweeps, sizeof rule->sweeps);
    memcpy(rule->provides, fake_provides, sizeof rule->provides);
    memcpy(rule->texts, fake_texts, sizeof rule->texts);
    memcpy(rule->counters, fake_counters, sizeof rule->counters);
    memcpy(rule->metric_keys, fake_metric_keys, sizeof rule->metric_keys);
    rule->needs[0] = rule->needs[1] = "dram_load_ceiling";
    rule->micro.axes = rule->axes;
    rule->micro.sweeps = rule->sweeps;
    rule->micro.provides = rule->provides;
    rule->micro.chart.texts = rule->texts;
    rule->micro.counters = rule->counters;
    rule->micro.needs = rule->needs;
    rule->micro.metric_keys = rule->metric_keys;
}

static const char *const no_words[] = {NULL};
static const char *const word_twice[] = {"load", "store", "load", NULL};
static const char *const word_all[] = {"load", "all", NULL};
static const char *const word_comma[] = {"load", "a,b", NULL};
static const char *const word_range[] = {"load", "a..b", NULL};

static int prepare_nothing(const struct ub_launch *launch, struct ub_prepared *out)
{
    (void)launch;
    (void)out;
    return 0;
}

#define FAULT(name, change)                                                                                            \
    static void name(struct rule *rule)                                                                                \
    {                                                                                                                  \
        change;                                                                                                        \
    }

FAULT(no_name, rule->micro.name = NULL)
FAULT(bad_name, rule->micro.name = "Bank Conflict")
FAULT(no_rule, rule->micro.rule = "")
FAULT(no_law_text, rule->micro.text.law = NULL)
FAULT(no_breaks, rule->micro.text.breaks = "")
FAULT(no_consequence, rule->micro.text.consequence = "")
FAULT(no_folk, rule->micro.text.folk = NULL)
FAULT(no_sources, rule->micro.text.sources = "")
FAULT(too_many_axes, rule->micro.axis_count = UB_MAX_AXES + 1)
FAULT(axes_null, rule->micro.axes = NULL)
FAULT(axis_name, rule->axes[1].name = "Offset")
FAULT(axis_no_name, rule->axes[1].name = NULL)
FAULT(axis_twice, rule->axes[1].name = "stride")
FAULT(axis_no_unit, rule->axes[0].unit = "")
FAULT(axis_null_unit, rule->axes[2].unit = NULL)
FAULT(axis_no_help, rule->axes[2].help = "")
FAULT(axis_no_initial, rule->axes[0].initial = NULL)
FAULT(axis_bad_initial, rule->axes[0].initial = "2000")
FAULT(axis_bad_on_command, rule->axes[0].on_command = "0")
FAULT(axis_list_initial, rule->axes[0].initial = "1..4")
FAULT(axis_limits, rule->axes[0].minimum = 2000)
FAULT(axis_zero_word, rule->axes[1].zero_word = "none")
FAULT(axis_zero_number, rule->axes[3].zero_word = "0")
FAULT(axis_no_words, rule->axes[2].words = no_words)
FAULT(axis_null_words, rule->axes[2].words = NULL)
FAULT(axis_word_twice, rule->axes[2].words = word_twice)
FAULT(axis_word_all, rule->axes[2].words = word_all)
FAULT(axis_word_comma, rule->axes[2].words = word_comma)
FAULT(axis_word_range, rule->axes[2].words = word_range)
FAULT(no_sweeps, rule->micro.sweep_count = 0)
FAULT(sweep_no_name, rule->sweeps[1].name = "")
FAULT(sweep_reserved, rule->sweeps[1].name = "ceiling")
FAULT(sweep_twice, rule->sweeps[1].name = "stride")
FAULT(sweep_other_points, (rule->sweeps[2].name = "stride", rule->sweeps[2].axes = "offset=1"))
FAULT(sweep_no_help, rule->sweeps[1].help = NULL)
FAULT(sweep_no_axes, rule->sweeps[1].axes = NULL)
FAULT(sweep_bad_range, rule->sweeps[1].axes = "offset=0..128")
FAULT(sweep_unknown_axis, rule->sweeps[1].axes = "ofset=0..3")
FAULT(sweep_too_many, rule->sweeps[1].axes = "offset=0..127 stride=1..1024")
FAULT(sweep_no_suite, rule->sweeps[1].suites = 0)
FAULT(sweep_bad_suite, rule->sweeps[1].suites = 8)
FAULT(no_default_sweep, rule->sweeps[0].suites = UB_SUITE_FULL)
FAULT(counter_twice, rule->counters[1] = rule->counters[0])
FAULT(counter_empty, rule->counters[1] = "")
FAULT(counters_null, rule->micro.counters = NULL)
FAULT(too_many_counters, rule->micro.counter_count = UB_MAX_COUNTERS + 1)
FAULT(need_twice, rule->micro.need_count = 2)
FAULT(provides_null, rule->micro.provides = NULL)
FAULT(provides_no_name, rule->provides[1].constant = "")
FAULT(provides_twice, rule->provides[1].constant = rule->provides[0].constant)
FAULT(provides_many, rule->provides[1].axes = "op=copy,load")
FAULT(provides_no_axis, rule->provides[1].axes = "bytes=16")
FAULT(provides_no_metric, rule->provides[1].metric = "bandwidth")
FAULT(no_metrics, rule->micro.metric_count = 0)
FAULT(metric_twice, rule->metric_keys[1] = rule->metric_keys[0])
FAULT(chart_no_kind, rule->micro.chart.kind = NULL)
FAULT(chart_metric, rule->micro.chart.metric = "bandwidth")
FAULT(chart_no_metric, rule->micro.chart.metric = NULL)
FAULT(chart_no_label, rule->micro.chart.metric_label = "")
FAULT(chart_no_scale, rule->micro.chart.metric_scale = 0)
FAULT(chart_other,
      (rule->micro.chart.other_metric = "x", rule->micro.chart.other_label = "x", rule->micro.chart.other_scale = 1))
FAULT(chart_other_label, rule->micro.chart.other_metric = "useful_bandwidth")
FAULT(chart_x_metric,
      (rule->micro.chart.x_metric = "x", rule->micro.chart.x_label = "x", rule->micro.chart.x_axis = "stride"))
FAULT(chart_x_axis, (rule->micro.chart.x_metric = "useful_bandwidth", rule->micro.chart.x_label = "x",
                     rule->micro.chart.x_axis = "bytes"))
FAULT(chart_x_label, rule->micro.chart.x_metric = "useful_bandwidth")
FAULT(chart_share, rule->micro.chart.share_metric = "useful_bandwidth")
FAULT(chart_share_key, (rule->micro.chart.share_metric = "x", rule->micro.chart.share_label = "x"))
FAULT(chart_panel, rule->micro.chart.panel_metric = "x")
FAULT(chart_panel_label, rule->micro.chart.panel_label = NULL)
FAULT(chart_no_texts, rule->micro.chart.text_count = 0)
FAULT(chart_text_axis, rule->texts[0].axis = "bytes")
FAULT(chart_text_empty, rule->texts[1].finding = "")
FAULT(no_timer, rule->micro.timer = NULL)
FAULT(no_supported, rule->micro.supported = NULL)
FAULT(no_footprint, rule->micro.footprint = NULL)
FAULT(no_law, rule->micro.law = NULL)
FAULT(no_metrics_function, rule->micro.metrics = NULL)
FAULT(no_small, rule->micro.small = NULL)
FAULT(no_verify, rule->micro.verify = NULL)
FAULT(no_launch, rule->code.launch = NULL)
FAULT(no_kernel, rule->code.kernel = NULL)
FAULT(no_release, rule->code.prepare = prepare_nothing)

static const struct {
    void (*break_it)(struct rule *rule);
    const char *message;
} faults[] = {
    {no_name, "a rule's name '' is not a name"},
    {bad_name, "a rule's name 'Bank Conflict' is not a name"},
    {no_rule, "rule (the sentence) is missing"},
    {no_law_text, "text.law is missing"},
    {no_breaks, "text.breaks is missing"},
    {no_consequence, "text.consequence is missing"},
    {no_folk, "text.folk is missing"},
    {no_sources, "text.sources is missing"},
    {too_many_axes, "17 axes, at most 16 are possible"},
    {axes_null, "axes is missing"},
    {axis_name, "axis 1: 'Offset' is not a name"},
    {axis_no_name, "axis 1: '' is not a name"},
    {axis_twice, "axis stride stands twice"},
    {axis_no_unit, "axis stride: unit is missing"},
    {axis_null_unit, "axis op: unit is missing"},
    {axis_no_help, "axis op: help is missing"},
    {axis_no_initial, "axis stride: initial is missing"},
    {axis_bad_initial, "axis stride: initial: --stride 2000: 2000 is above this axis's limit of 1024"},
    {axis_bad_on_command, "axis stride: on_command: --stride 0: 0 is below this axis's limit of 1"},
    {axis_list_initial, "axis stride: initial: '1..4' is not one value"},
    {axis_limits, "axis stride: its limits 2000..1024 run backwards"},
    {axis_zero_word, "axis offset: 0 is inside its limits, so none cannot stand for it"},
    {axis_zero_number, "axis size: '0' cannot stand for 0"},
    {axis_no_words, "axis op: words is missing"},
    {axis_null_words, "axis op: words is missing"},
    {axis_word_twice, "axis op: load stands twice"},
    {axis_word_all, "axis op: 'all' cannot be a word of an axis"},
    {axis_word_comma, "axis op: 'a,b' cannot be a word of an axis"},
    {axis_word_range, "axis op: 'a..b' cannot be a word of an axis"},
    {no_sweeps, "sweeps is missing"},
    {sweep_no_name, "sweep 1: '' cannot be its name"},
    {sweep_reserved, "sweep 1: 'ceiling' cannot be its name"},
    {sweep_twice, "sweep stride stands twice in a suite"},
    {sweep_other_points, "sweep stride has other points in one suite than in another"},
    {sweep_no_help, "sweep offset: help is missing"},
    {sweep_no_axes, "sweep offset: axes is missing"},
    {sweep_bad_range, "sweep offset: --offset 0..128: 128 is above this axis's limit of 127"},
    {sweep_unknown_axis, "sweep offset: fake has no axis ofset"},
    {sweep_too_many, "sweep offset: 131072 points are more than a plan takes (10000)"},
    {sweep_no_suite, "sweep offset: suites 0x0 is no set of UB_SUITE_*"},
    {sweep_bad_suite, "sweep offset: suites 0x8 is no set of UB_SUITE_*"},
    {no_default_sweep, "no sweep is in the default suite"},
    {counter_twice, "counters: global_load_sectors stands twice"},
    {counter_empty, "counters: number 1 is empty"},
    {counters_null, "the list of counters is missing"},
    {too_many_counters, "25 counters, at most 24 are possible"},
    {need_twice, "needs: dram_load_ceiling stands twice"},
    {provides_null, "provides is missing"},
    {provides_no_name, "provides, number 1: its constant or axes is missing"},
    {provides_twice, "provides: dram_load_ceiling stands twice"},
    {provides_many, "provides dram_copy_ceiling: 'op=copy,load' is not one point: op has 2 values"},
    {provides_no_axis, "provides dram_copy_ceiling: fake has no axis bytes"},
    {provides_no_metric, "provides dram_copy_ceiling: metric: 'bandwidth' is none of the rule's metrics"},
    {no_metrics, "metric_keys is missing"},
    {metric_twice, "metric_keys: useful_bandwidth stands twice"},
    {chart_no_kind, "chart.kind is missing"},
    {chart_metric, "chart.metric: 'bandwidth' is none of the rule's metrics"},
    {chart_no_metric, "chart.metric: '' is none of the rule's metrics"},
    {chart_no_label, "chart.metric_label is missing"},
    {chart_no_scale, "chart.metric_scale is missing"},
    {chart_other, "chart.other_metric: 'x' is none of the rule's metrics"},
    {chart_other_label, "chart.other_label is missing"},
    {chart_x_metric, "chart.x_metric: 'x' is none of the rule's metrics"},
    {chart_x_axis, "chart.x_axis is missing"},
    {chart_x_label, "chart.x_label is missing"},
    {chart_share, "chart.share_label is missing"},
    {chart_share_key, "chart.share_metric: 'x' is none of the rule's metrics"},
    {chart_panel, "chart.panel_metric: 'x' is none of the rule's metrics"},
    {chart_panel_label, "chart.panel_label is missing"},
    {chart_no_texts, "chart.texts is missing"},
    {chart_text_axis, "chart: text 0 is for 'bytes', which is neither an axis nor a sweep"},
    {chart_text_empty, "chart: the finding of text 1 is missing"},
    {no_timer, "timer() is missing"},
    {no_supported, "supported() is missing"},
    {no_footprint, "footprint() is missing"},
    {no_law, "law() is missing"},
    {no_metrics_function, "metrics() is missing"},
    {no_small, "small() is missing"},
    {no_verify, "verify() is missing"},
    {no_launch, "code.launch() is missing"},
    {no_kernel, "code.kernel() is missing"},
    {no_release, "code.release() is missing"},
};

static void test_complete(void **state)
{
    (void)state;
    struct rule rule;
    struct ub_error err = {0};
    make_rule(&rule);
    const struct ub_entry entry = {&rule.micro, &rule.code};
    if (!ub_entry_check(&entry, &err))
        fail_msg("%s", err.text);
    const struct ub_entry without_nvcc = {&rule.micro, NULL};
    assert_true(ub_entry_check(&without_nvcc, &err));
}

static void test_faults(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct rule rule;
        struct ub_error err = {0};
        make_rule(&rule);
        faults[i].break_it(&rule);
        const struct ub_entry entry = {&rule.micro, &rule.code};
        if (ub_entry_check(&entry, &err))
            fail_msg("accepted although: %s", faults[i].message);
        assert_int_equal(err.status, UB_INTERNAL);
        if (!strstr(err.text, faults[i].message))
            fail_msg("%s\nexpected: %s", err.text, faults[i].message);
        if (rule.micro.name && strcmp(rule.micro.name, "fake") == 0)
            assert_ptr_equal(strstr(err.text, "rule fake is incomplete: "), err.text);
    }
    const struct ub_entry nothing = {NULL, NULL};
    assert_false(ub_entry_check(&nothing, NULL));
}

/* What two rules cannot share. */
static void test_pairs(void **state)
{
    (void)state;
    struct rule one, two;
    struct ub_error err = {0};
    make_rule(&one);
    make_rule(&two);
    const struct ub_entry entries[] = {{&one.micro, NULL}, {&two.micro, NULL}};
    assert_false(ub_entries_check(2, entries, &err));
    assert_string_equal(err.text, "rule fake stands twice in the list");
    two.micro.name = "other";
    two.provides[0].constant = "another_ceiling";
    assert_false(ub_entries_check(2, entries, &err));
    assert_int_equal(err.status, UB_INTERNAL);
    assert_string_equal(err.text, "rules fake and other both provide dram_copy_ceiling");
    two.provides[1].constant = "one_more_ceiling";
    assert_true(ub_entries_check(2, entries, &err));
}

/* The rules of the program itself. */
static void test_own_rules(void **state)
{
    (void)state;
    struct ub_error err = {0};
    assert_true(ub_entry_count > 0);
    if (!ub_registry_check(&err))
        fail_msg("%s", err.text);
}

/* The engine cannot look at the provider's table (includes point one way), so a
 * misspelt counter of a rule is found here. */
static void test_counter_keys(void **state)
{
    (void)state;
    for (size_t i = 0; i < ub_entry_count; i++)
        for (size_t j = 0; j < ub_entries[i].micro->counter_count; j++) {
            const char *key = ub_entries[i].micro->counters[j];
            bool found = false;
            for (size_t k = 0; k < ub_counters.key_count && !found; k++)
                found = strcmp(ub_counters.keys[k].key, key) == 0;
            if (!found)
                fail_msg("%s: there is no counter %s", ub_entries[i].micro->name, key);
        }
}

static void test_find(void **state)
{
    (void)state;
    struct ub_error err = {0};
    for (size_t i = 0; i < ub_entry_count; i++)
        assert_ptr_equal(ub_registry_find(ub_entries[i].micro->name, &err), &ub_entries[i]);
    assert_null(ub_registry_find("colaescing", &err));
    assert_int_equal(err.status, UB_USAGE);
    assert_string_equal(err.text, "unknown rule 'colaescing'; did you mean coalescing?");
    assert_null(ub_registry_find("", &err));
    assert_string_equal(err.text, "unknown rule '' (ubench list shows all rules)");
    assert_null(ub_registry_find("Coalescing", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_complete),  cmocka_unit_test(test_faults),       cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_own_rules), cmocka_unit_test(test_counter_keys), cmocka_unit_test(test_find),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
