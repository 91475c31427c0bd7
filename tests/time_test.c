/* SPDX-License-Identifier: MIT
 *
 * The time model: the largest term decides, the floor is added. */
#include "harness/model/time.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void the_largest_term_decides(void **state)
{
    (void)state;
    struct ub_law law = {0};
    ub_time_term(&law, "issue", 200);
    ub_time_term(&law, "dram", 450);
    ub_time_term(&law, "block_launch", 300);
    ub_time_bottleneck(&law, 50);
    assert_int_equal(law.term_count, 3);
    assert_string_equal(law.terms[1].name, "dram");
    assert_string_equal(law.bottleneck, "dram");
    assert_true(law.time_ns == 500);
}

static void of_equal_terms_the_first_is_named(void **state)
{
    (void)state;
    struct ub_law law = {0};
    ub_time_term(&law, "dram", 100);
    ub_time_term(&law, "l2", 100);
    ub_time_bottleneck(&law, 0);
    assert_string_equal(law.bottleneck, "dram");
    assert_true(law.time_ns == 100);
}

static void terms_that_are_no_time_are_left_out(void **state)
{
    (void)state;
    static const double no_times[] = {NAN, INFINITY, -INFINITY, 0, -1};
    struct ub_law law = {0};
    for (size_t i = 0; i < sizeof no_times / sizeof no_times[0]; i++)
        ub_time_term(&law, "odd", no_times[i]);
    assert_int_equal(law.term_count, 0);
    ub_time_bottleneck(&law, 1000);
    assert_true(isnan(law.time_ns));
    assert_null(law.bottleneck);
}

static void an_unknown_floor_makes_the_time_unknown(void **state)
{
    (void)state;
    struct ub_law law = {0};
    ub_time_term(&law, "dram", 100);
    ub_time_bottleneck(&law, NAN);
    assert_true(isnan(law.time_ns));
    assert_string_equal(law.bottleneck, "dram");
}

static void all_terms_fit(void **state)
{
    (void)state;
    struct ub_law law = {0};
    for (int i = 1; i <= UB_MAX_TERMS; i++)
        ub_time_term(&law, "term", i);
    ub_time_bottleneck(&law, 0);
    assert_int_equal(law.term_count, UB_MAX_TERMS);
    assert_true(law.time_ns == UB_MAX_TERMS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_term_decides),
        cmocka_unit_test(of_equal_terms_the_first_is_named),
        cmocka_unit_test(terms_that_are_no_time_are_left_out),
        cmocka_unit_test(an_unknown_floor_makes_the_time_unknown),
        cmocka_unit_test(all_terms_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
