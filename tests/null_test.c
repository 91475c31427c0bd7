/* SPDX-License-Identifier: MIT
 *
 * The rule `null`: counts of an empty launch, and the time that its two constants
 * give. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "harness/contract/record.h"
#include "micro/null/rule.h"

extern const struct ub_micro ub_micro_null;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct ub_point point_of(enum ub_timer timer, int64_t grid)
{
    struct ub_point point = {{0}};
    point.values[NULL_TIMER] = timer;
    point.values[NULL_GRID] = grid;
    return point;
}

static struct ub_constants constants(void)
{
    struct ub_constants constants = {0};
    assert_true(ub_constant_set(&constants, "launch_floor_ns", 500, 490, 510, "ns", "test"));
    assert_true(ub_constant_set(&constants, "block_launch_ns", 0.6, 0.59, 0.61, "ns", "test"));
    return constants;
}

static struct ub_law law_of(enum ub_timer timer, int64_t grid, const struct ub_constants *constants)
{
    const struct ub_point point = point_of(timer, grid);
    struct ub_law law;
    ub_micro_null.law(NULL, constants, &point, &law);
    return law;
}

static void words_of_the_axis_are_timers(void **state)
{
    (void)state;
    static const char *const words[] = {"event", "sm_clock", "host"};
    for (size_t i = 0; i < COUNT(words); i++) {
        const struct ub_point point = point_of((enum ub_timer)i, 1);
        assert_string_equal(ub_micro_null.axes[NULL_TIMER].words[i], words[i]);
        assert_int_equal(ub_micro_null.timer(&point), i);
    }
    assert_null(ub_micro_null.axes[NULL_TIMER].words[COUNT(words)]);
}

static void an_empty_kernel_is_counted(void **state)
{
    static const struct {
        enum ub_timer timer;
        int64_t grid;
        uint64_t stores;
    } cases[] = {{UB_TIMER_EVENT, 1, 0}, {UB_TIMER_EVENT, 4096, 0}, {UB_TIMER_HOST, 1, 0}, {UB_TIMER_SM_CLOCK, 1, 1}};
    (void)state;
    const struct ub_constants none = {0};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct ub_law law = law_of(cases[i].timer, cases[i].grid, &none);
        const uint64_t expected[] = {(uint64_t)cases[i].grid, (uint64_t)cases[i].grid, 0, cases[i].stores};
        assert_int_equal(law.counter_count, ub_micro_null.counter_count);
        for (size_t j = 0; j < law.counter_count; j++) {
            assert_string_equal(law.counters[j].key, ub_micro_null.counters[j]);
            assert_int_equal(law.counters[j].class_, UB_STRUCTURAL);
            assert_true(law.counters[j].known);
            assert_int_equal(law.counters[j].predicted, expected[j]);
        }
    }
}

/* floor + blocks x block launch; what measures these two is not tested by them. */
static void time_is_floor_and_blocks(void **state)
{
    static const struct {
        int64_t grid;
        double time_ns;
        bool tested;
    } cases[] = {{1, 500.6, false}, {1000, 1100, true}, {65536, 39821.6, true}, {1 << 20, 629645.6, false}};
    (void)state;
    const struct ub_constants both = constants();
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct ub_law law = law_of(UB_TIMER_EVENT, cases[i].grid, &both);
        assert_true(fabs(law.time_ns - cases[i].time_ns) < 1e-6);
        assert_string_equal(law.bottleneck, "block_launch");
        assert_int_equal(law.tolerance > 0, cases[i].tested);
        assert_int_equal(law.note == NULL, cases[i].tested);
    }
}

static void other_timers_predict_no_time(void **state)
{
    (void)state;
    const struct ub_constants both = constants();
    const struct ub_constants none = {0};
    const struct ub_law laws[] = {law_of(UB_TIMER_SM_CLOCK, 1, &both), law_of(UB_TIMER_HOST, 1, &both),
                                  law_of(UB_TIMER_EVENT, 8, &none)};
    for (size_t i = 0; i < COUNT(laws); i++) {
        assert_true(isnan(laws[i].time_ns));
        assert_true(laws[i].tolerance == 0);
        assert_string_equal(laws[i].level, "none");
    }
}

static void clock_is_read_by_one_block(void **state)
{
    (void)state;
    struct ub_point point = point_of(UB_TIMER_SM_CLOCK, 2);
    assert_non_null(ub_micro_null.supported(NULL, &point));
    point = point_of(UB_TIMER_SM_CLOCK, 1);
    assert_null(ub_micro_null.supported(NULL, &point));
    point = point_of(UB_TIMER_EVENT, 1 << 20);
    assert_null(ub_micro_null.supported(NULL, &point));
}

static void metrics_are_time_and_time_a_block(void **state)
{
    (void)state;
    const struct ub_point point = point_of(UB_TIMER_EVENT, 1000);
    const struct ub_facts facts = {.point = &point, .time_ns = 1100};
    struct ub_metrics metrics;
    ub_micro_null.metrics(&facts, &metrics);
    assert_int_equal(metrics.count, ub_micro_null.metric_count);
    assert_string_equal(metrics.items[0].key, "time_ns");
    assert_true(metrics.items[0].value == 1100);
    assert_string_equal(metrics.items[1].key, "time_per_block_ns");
    assert_true(fabs(metrics.items[1].value - 1.1) < 1e-12);
}

static void there_is_nothing_to_verify(void **state)
{
    (void)state;
    const struct ub_point point = point_of(UB_TIMER_EVENT, 1);
    struct ub_footprint footprint;
    struct ub_point small;
    struct ub_error err;
    ub_micro_null.footprint(NULL, &point, &footprint);
    assert_int_equal(footprint.count, 0);
    assert_false(ub_micro_null.small(NULL, &point, &small));
    assert_false(ub_micro_null.verify(NULL, &point, NULL, 0, 0, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_the_axis_are_timers), cmocka_unit_test(an_empty_kernel_is_counted),
        cmocka_unit_test(time_is_floor_and_blocks),     cmocka_unit_test(other_timers_predict_no_time),
        cmocka_unit_test(clock_is_read_by_one_block),   cmocka_unit_test(metrics_are_time_and_time_a_block),
        cmocka_unit_test(there_is_nothing_to_verify),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
