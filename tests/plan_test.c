/* SPDX-License-Identifier: MIT
 *
 * The plan: which points a run has, in which order, and what it refuses. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/engine/plan.h"
#include "tests/fake_rule.h"

static const struct ub_entry entry = {&fake_micro, &fake_code};
static const struct ub_gpu gpu = {.slug = "none"};

/* One line a point: "sweep stride offset op size". */
static void plan_text(const struct ub_plan *plan, char *text, size_t size)
{
    size_t length = 0;
    text[0] = 0;
    for (size_t i = 0; i < plan->count && length < size; i++) {
        const struct ub_planned *planned = &plan->points[i];
        length += (size_t)snprintf(text + length, size - length, "%s", planned->sweep);
        for (size_t axis = 0; axis < planned->micro->axis_count; axis++)
            length += (size_t)snprintf(text + length, size - length, " %" PRId64, planned->point.values[axis]);
        length += (size_t)snprintf(text + length, size - length, "%s\n", planned->skip ? " skip" : "");
    }
}

static void expect_plan(const struct ub_plan *plan, const char *expected)
{
    char text[4096];
    plan_text(plan, text, sizeof text);
    assert_string_equal(text, expected);
}

static void test_command(void **state)
{
    (void)state;
    struct ub_plan plan = {0};
    struct ub_error err = {0};
    struct ub_axis_option options[] = {{"op", "load,copy", false}, {"stride", "4,1", false}, {"nothing", "1", false}};
    assert_true(ub_plan_add(&plan, &entry, &gpu, UB_SUITE_DEFAULT, options, 3, false, false, &err));
    /* The first axis varies fastest, in the order of the text. */
    expect_plan(&plan, "command 4 0 0 0\ncommand 1 0 0 0\ncommand 4 0 2 0\ncommand 1 0 2 0\n");
    assert_true(options[0].used);
    assert_true(options[1].used);
    assert_false(options[2].used);
    assert_ptr_equal(plan.points[0].micro, &fake_micro);
    assert_ptr_equal(plan.points[0].code, &fake_code);
    assert_null(plan.points[0].provides);
    ub_plan_free(&plan);
    assert_null(plan.points);
}

/* An axis that no option names has its values for that, where it has some. */
static void test_on_command(void **state)
{
    (void)state;
    struct ub_axis axes[sizeof fake_axes / sizeof fake_axes[0]];
    memcpy(axes, fake_axes, sizeof axes);
    axes[2].on_command = "all";
    struct ub_micro micro = fake_micro;
    micro.axes = axes;
    const struct ub_entry own = {&micro, &fake_code};
    struct ub_plan plan = {0};
    struct ub_error err = {0};
    struct ub_axis_option options[] = {{"stride", "4", false}, {"op", "store", false}};
    assert_true(ub_plan_add(&plan, &own, &gpu, UB_SUITE_DEFAULT, options, 1, false, false, &err));
    expect_plan(&plan, "command 4 0 0 0\ncommand 4 0 1 0\ncommand 4 0 2 0\n");
    ub_plan_free(&plan);
    plan = (struct ub_plan){0};
    assert_true(ub_plan_add(&plan, &own, &gpu, UB_SUITE_DEFAULT, options, 2, false, false, &err));
    expect_plan(&plan, "command 4 0 1 0\n");
    ub_plan_free(&plan);
    plan = (struct ub_plan){0};
    assert_true(ub_plan_add(&plan, &own, &gpu, UB_SUITE_QUICK, NULL, 0, false, false, &err)); /* no command */
    expect_plan(&plan, "few 1 0 0 0\n");
    ub_plan_free(&plan);
}

static void test_skip(void **state)
{
    (void)state;
    struct ub_plan plan = {0};
    struct ub_error err = {0};
    struct ub_axis_option options[] = {{"op", "all", false}, {"offset", "0,3", false}};
    assert_true(ub_plan_add(&plan, &entry, &gpu, UB_SUITE_DEFAULT, options, 2, false, false, &err));
    expect_plan(&plan, "command 1 0 0 0\ncommand 1 3 0 0\ncommand 1 0 1 0\ncommand 1 3 1 0\n"
                       "command 1 0 2 0\ncommand 1 3 2 0 skip\n");
    assert_string_equal(plan.points[5].skip, "copies have no offset");
    ub_plan_free(&plan);
}

static size_t count_sweep(const struct ub_plan *plan, const char *sweep)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->count; i++)
        count += strcmp(plan->points[i].sweep, sweep) == 0;
    return count;
}

static void test_suites(void **state)
{
    (void)state;
    const struct {
        unsigned suite;
        size_t stride, offset, few;
    } rows[] = {
        {UB_SUITE_DEFAULT, 64, 0, 0},
        {UB_SUITE_FULL, 64, 32, 0}, /* stride 1 is also offset 0: each sweep has its baseline */
        {UB_SUITE_QUICK, 0, 0, 1},
        {UB_SUITE_DEFAULT | UB_SUITE_QUICK, 64, 0, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ub_plan plan = {0};
        struct ub_error err = {0};
        assert_true(ub_plan_add(&plan, &entry, &gpu, rows[i].suite, NULL, 0, false, false, &err));
        assert_int_equal(count_sweep(&plan, "stride"), rows[i].stride);
        assert_int_equal(count_sweep(&plan, "offset"), rows[i].offset);
        assert_int_equal(count_sweep(&plan, "few"), rows[i].few);
        assert_int_equal(plan.count, rows[i].stride + rows[i].offset + rows[i].few);
        /* What a sweep has already is not added to it again. */
        const size_t count = plan.count;
        assert_true(ub_plan_add(&plan, &entry, &gpu, rows[i].suite, NULL, 0, false, false, &err));
        assert_int_equal(plan.count, count);
        ub_plan_free(&plan);
    }
}

/* An option for other rules leaves this one its named sweeps. */
static void test_foreign_option(void **state)
{
    (void)state;
    struct ub_plan plan = {0};
    struct ub_error err = {0};
    struct ub_axis_option options[] = {{"ways", "1..32", false}};
    assert_true(ub_plan_add(&plan, &entry, &gpu, UB_SUITE_QUICK, options, 1, false, false, &err));
    expect_plan(&plan, "few 1 0 0 0\n");
    assert_false(options[0].used);
    ub_plan_free(&plan);
}

/* Ceilings come first, once, and take no point out of a sweep. */
static void test_ceilings(void **state)
{
    (void)state;
    struct ub_plan plan = {0};
    struct ub_error err = {0};
    struct ub_axis_option options[] = {{"stride", "1,2", false}};
    assert_true(ub_plan_add(&plan, &entry, &gpu, UB_SUITE_DEFAULT, options, 1, true, false, &err));
    expect_plan(&plan, "ceiling 1 0 0 0\nceiling 1 0 2 0\ncommand 1 0 0 0\ncommand 2 0 0 0\n");
    assert_string_equal(plan.points[0].provides->constant, "dram_load_ceiling");
    assert_string_equal(plan.points[1].provides->constant, "dram_copy_ceiling");
    assert_true(ub_plan_add(&plan, &entry, &gpu, UB_SUITE_DEFAULT, options, 1, true, false, &err));
    assert_int_equal(plan.count, 4); /* nothing is added twice */
    ub_plan_free(&plan);
}

/* Two rules may have equal points: each keeps its own. */
static void test_two_rules(void **state)
{
    (void)state;
    struct ub_micro other = fake_micro;
    other.name = "other";
    const struct ub_entry second = {&other, NULL};
    struct ub_plan plan = {0};
    struct ub_error err = {0};
    struct ub_axis_option options[] = {{"stride", "1..3", false}};
    assert_true(ub_plan_add(&plan, &entry, &gpu, UB_SUITE_DEFAULT, options, 1, false, false, &err));
    assert_true(ub_plan_add(&plan, &second, &gpu, UB_SUITE_DEFAULT, options, 1, false, false, &err));
    assert_int_equal(plan.count, 6);
    assert_ptr_equal(plan.points[3].micro, &other);
    ub_plan_free(&plan);
}

/* A rule without axes has one point. */
static void test_no_axes(void **state)
{
    (void)state;
    static const struct ub_sweep sweeps[] = {{"point", UB_SUITE_DEFAULT, "", "the one point"}};
    struct ub_micro bare = fake_micro;
    bare.axis_count = 0;
    bare.axes = NULL;
    bare.sweep_count = 1;
    bare.sweeps = sweeps;
    const struct ub_entry only = {&bare, NULL};
    struct ub_plan plan = {0};
    struct ub_error err = {0};
    assert_true(ub_plan_add(&plan, &only, &gpu, UB_SUITE_DEFAULT, NULL, 0, false, false, &err));
    assert_int_equal(plan.count, 1);
    ub_plan_free(&plan);
}

static void test_limit(void **state)
{
    (void)state;
    struct ub_plan plan = {0};
    struct ub_error err = {0};
    struct ub_axis_option options[] = {
        {"stride", "1..1024", false}, {"offset", "0..127", false}, {"op", "load", false}};
    assert_false(ub_plan_add(&plan, &entry, &gpu, UB_SUITE_DEFAULT, options, 3, false, false, &err));
    assert_int_equal(err.status, UB_USAGE);
    assert_string_equal(err.text, "fake, sweep command: stride 1024 x offset 128 = 131072 points, 0 planned before: "
                                  "the limit is 10000 (--force allows more)");
    assert_true(ub_plan_add(&plan, &entry, &gpu, UB_SUITE_DEFAULT, options, 3, false, true, &err));
    assert_int_equal(plan.count, 131072);
    ub_plan_free(&plan);
    options[2].spec = "all";
    struct ub_axis_option sizes = {"size", "4096..8192", false};
    struct ub_axis_option many[] = {options[0], options[1], options[2], sizes};
    assert_false(ub_plan_add(&plan, &entry, &gpu, UB_SUITE_DEFAULT, many, 4, false, true, &err));
    assert_non_null(strstr(err.text, "--force does not allow more"));
    ub_plan_free(&plan);
}

/* 10,000 points, then all of them again: nothing is added, and it does not take minutes. */
static void test_many(void **state)
{
    (void)state;
    struct ub_plan plan = {0};
    struct ub_error err = {0};
    struct ub_axis_option options[] = {{"stride", "1..100", false}, {"offset", "0..99", false}};
    assert_true(ub_plan_add(&plan, &entry, &gpu, UB_SUITE_DEFAULT, options, 2, false, false, &err));
    assert_int_equal(plan.count, UB_PLAN_LIMIT);
    assert_true(ub_plan_add(&plan, &entry, &gpu, UB_SUITE_DEFAULT, options, 2, false, true, &err));
    assert_int_equal(plan.count, UB_PLAN_LIMIT);
    options[1].spec = "0..100";
    assert_true(ub_plan_add(&plan, &entry, &gpu, UB_SUITE_DEFAULT, options, 2, false, true, &err));
    assert_int_equal(plan.count, UB_PLAN_LIMIT + 100);
    assert_int_equal(plan.points[UB_PLAN_LIMIT].point.values[1], 100);
    ub_plan_free(&plan);
}

/* A plan that cannot be made longer stays as it was. */
static void test_failure_keeps_plan(void **state)
{
    (void)state;
    const struct {
        const char *stride, *size, *message;
    } rows[] = {
        {"1..", "auto", "the upper end is missing"},
        {"1", "64K", "write 64Ki (65536) or 64k (64000)"},
        {"1..1024", "4096..8192", "--force allows more"},
    };
    struct ub_plan plan = {0};
    struct ub_error err = {0};
    struct ub_axis_option first[] = {{"stride", "1..3", false}};
    assert_true(ub_plan_add(&plan, &entry, &gpu, UB_SUITE_DEFAULT, first, 1, false, false, &err));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ub_axis_option options[] = {{"stride", rows[i].stride, false}, {"size", rows[i].size, false}};
        assert_false(ub_plan_add(&plan, &entry, &gpu, UB_SUITE_DEFAULT, options, 2, true, false, &err));
        assert_non_null(strstr(err.text, rows[i].message));
        expect_plan(&plan, "command 1 0 0 0\ncommand 2 0 0 0\ncommand 3 0 0 0\n");
    }
    ub_plan_free(&plan);
}

static void test_option_twice(void **state)
{
    (void)state;
    struct ub_plan plan = {0};
    struct ub_error err = {0};
    struct ub_axis_option options[] = {{"stride", "1", false}, {"stride", "2", false}};
    assert_false(ub_plan_add(&plan, &entry, &gpu, UB_SUITE_DEFAULT, options, 2, false, false, &err));
    assert_string_equal(err.text, "--stride given twice");
    ub_plan_free(&plan);
}

static void test_point_parse(void **state)
{
    (void)state;
    const struct {
        const char *axes, *message; /* message NULL: values */
        int64_t values[4];
    } rows[] = {
        {"", NULL, {1, 0, 0, 0}},
        {"op=copy stride=8", NULL, {8, 0, 2, 0}},
        {"  size=64Ki   offset=max ", NULL, {1, 127, 0, 65536}},
        {"stride=1..2", "'stride=1..2' is not one point: stride has 2 values", {0}},
        {"stride", "'stride' is not AXIS=RANGE", {0}},
        {"bytes=4", "fake has no axis bytes", {0}},
        {"stride=1 stride=2", "stride is given twice", {0}},
        {"stride=", "--stride : a value is missing", {0}},
        {"=4", "fake has no axis ", {0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ub_point point;
        struct ub_error err = {0};
        const bool ok = ub_point_parse(&fake_micro, rows[i].axes, &point, &err);
        assert_int_equal(ok, rows[i].message == NULL);
        if (ok)
            assert_memory_equal(point.values, rows[i].values, sizeof rows[i].values);
        else if (strncmp(err.text, rows[i].message, strlen(rows[i].message)) != 0)
            fail_msg("%s: %s", rows[i].axes, err.text);
    }
}

static void test_ranges(void **state)
{
    (void)state;
    struct ub_values ranges[UB_MAX_AXES];
    struct ub_error err = {0};
    assert_true(ub_ranges_parse(&fake_micro, "stride=1..32 op=load,store", ranges, &err));
    assert_int_equal(ranges[0].count, 32);
    assert_int_equal(ranges[1].count, 1);
    assert_int_equal(ranges[2].count, 2);
    assert_int_equal(ub_ranges_points(&fake_micro, ranges), 64);
    ub_ranges_free(ranges);
    assert_false(ub_ranges_parse(&fake_micro, "stride=1..32 op=sore", ranges, &err));
    assert_null(ranges[0].values);
}

/* The product of sixteen axes of a million values each does not fit 64 bits. */
static void test_points_saturate(void **state)
{
    (void)state;
    struct ub_values ranges[UB_MAX_AXES];
    struct ub_micro wide = fake_micro;
    wide.axis_count = UB_MAX_AXES;
    for (size_t i = 0; i < UB_MAX_AXES; i++)
        ranges[i] = (struct ub_values){.count = 1000000};
    assert_true(ub_ranges_points(&wide, ranges) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_command),
        cmocka_unit_test(test_on_command),
        cmocka_unit_test(test_skip),
        cmocka_unit_test(test_suites),
        cmocka_unit_test(test_foreign_option),
        cmocka_unit_test(test_ceilings),
        cmocka_unit_test(test_two_rules),
        cmocka_unit_test(test_no_axes),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_failure_keeps_plan),
        cmocka_unit_test(test_option_twice),
        cmocka_unit_test(test_point_parse),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_points_saturate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
