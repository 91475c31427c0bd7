/* SPDX-License-Identifier: MIT
 *
 * Comparisons: which points go together, what a verdict says of samples made by hand, and
 * what is named instead where there is nothing to compare. */
#include "harness/engine/compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- records by hand ----------------------------------------------------------- */

static void new_record(struct ub_record *record, enum ub_source source, const char *slug)
{
    *record = (struct ub_record){.source = source, .run = {.jit = -1, .complete = true}};
    ub_device_info_init(&record->device);
    ub_set_string(&record->device.name, slug);
    ub_set_string(&record->device.slug, slug);
}

/* A point of coalescing. Its samples are evenly spread, `spread` wide relative to the middle. */
static struct ub_record_point *add(struct ub_record *record, const char *sweep, int64_t stride, double time_ns,
                                   double spread, size_t n)
{
    struct ub_record_point *point = ub_record_add_point(record);
    ub_set_string(&point->rule, "coalescing");
    ub_set_string(&point->sweep, sweep);
    ub_set_string(&point->data, "random");
    ub_set_string(&point->cache, "hot");
    ub_point_add_axis(point, "stride", NULL, stride);
    for (size_t i = 0; i < n; i++) {
        const double place = n > 1 ? (double)i / (double)(n - 1) - 0.5 : 0;
        ub_point_add_sample(point, (struct ub_sample){time_ns * (1 + spread * place), 1980, 0});
    }
    point->time.n = n;
    point->time.median = n > 0 ? time_ns : NAN;
    point->time.ci_lo = time_ns * (1 - spread / 4);
    point->time.ci_hi = time_ns * (1 + spread / 4);
    point->time.mad = time_ns * spread / 4 * 1.4826;
    point->time.batch = 1;
    point->predicted_ns = time_ns;
    return point;
}

struct pair {
    struct ub_record a, b;
    struct ub_comparison comparison;
    struct ub_error err;
};

static void new_pair(struct pair *pair)
{
    *pair = (struct pair){0};
    new_record(&pair->a, UB_MEASURED, "h200");
    new_record(&pair->b, UB_MEASURED, "h200");
}

static bool try_compare(struct pair *pair)
{
    const struct ub_compare_request request = {
        .run_count = 2, .runs = {{"a.json", &pair->a}, {"b.json", &pair->b}}, .margin = 0.02, .seed = 1};
    return ub_compare(&request, &pair->comparison, &pair->err);
}

static const struct ub_contrast *compare_pair(struct pair *pair)
{
    if (!try_compare(pair))
        fail_msg("%s", pair->err.text);
    return pair->comparison.point_count ? &pair->comparison.points[0].contrasts[1] : NULL;
}

static void free_pair(struct pair *pair)
{
    ub_comparison_free(&pair->comparison);
    ub_record_free(&pair->a);
    ub_record_free(&pair->b);
}

static void expect_near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("got %.17g, wanted %.17g", got, wanted);
}

/* ---- verdicts -------------------------------------------------------------------- */

static void verdicts_follow_ratio_and_interval(void **state)
{
    (void)state;
    static const struct {
        double factor, spread; /* of the second run's time */
        size_t n;
        enum ub_change change;
        enum ub_change_reason because;
    } rows[] = {
        {1, 0.002, 30, UB_CHANGE_SAME, UB_BECAUSE_NOTHING},
        {1.03, 0.002, 30, UB_CHANGE_SLOWER, UB_BECAUSE_NOTHING},
        {0.97, 0.002, 30, UB_CHANGE_FASTER, UB_BECAUSE_NOTHING},
        {1.01, 0.002, 30, UB_CHANGE_SAME, UB_BECAUSE_NOTHING}, /* surely there, and too small */
        {1.03, 0.3, 10, UB_CHANGE_UNSURE, UB_BECAUSE_SPREAD},
        {1, 0.3, 10, UB_CHANGE_UNSURE, UB_BECAUSE_SPREAD},
        {1, 0.002, 6, UB_CHANGE_SAME, UB_BECAUSE_NOTHING},
        {1, 0.002, 5, UB_CHANGE_UNSURE, UB_BECAUSE_FEW},
        {2, 0, 1, UB_CHANGE_UNSURE, UB_BECAUSE_FEW},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct pair pair;
        new_pair(&pair);
        add(&pair.a, "stride", 8, 1000, rows[i].spread, rows[i].n);
        add(&pair.b, "stride", 8, 1000 * rows[i].factor, rows[i].spread, rows[i].n);
        const struct ub_contrast *c = compare_pair(&pair);
        expect_near(c->ratio, 1 / rows[i].factor);
        if (c->change != rows[i].change || c->because != rows[i].because)
            fail_msg("row %zu: %s, %s", i, ub_change_names[c->change], ub_change_reason_names[c->because]);
        if (rows[i].n >= 6)
            assert_true(c->lo <= c->ratio && c->ratio <= c->hi);
        else
            expect_near(c->more_rounds, 6 - (double)rows[i].n);
        free_pair(&pair);
    }
}

/* So many more rounds do settle it, if the samples go on as they are. */
static void rounds_that_are_missing_are_enough(void **state)
{
    (void)state;
    static const double factors[] = {1, 1.005, 1.04, 0.96};
    for (size_t i = 0; i < COUNT(factors); i++) {
        struct pair pair;
        new_pair(&pair);
        add(&pair.a, "stride", 8, 1000, 0.2, 20);
        add(&pair.b, "stride", 8, 1000 * factors[i], 0.2, 20);
        const struct ub_contrast *c = compare_pair(&pair);
        assert_int_equal(c->change, UB_CHANGE_UNSURE);
        assert_true(c->more_rounds >= 1 && c->more_rounds < 5000);
        const size_t n = 20 + (size_t)(1.3 * c->more_rounds); /* the estimate is one */
        free_pair(&pair);
        new_pair(&pair);
        add(&pair.a, "stride", 8, 1000, 0.2, n);
        add(&pair.b, "stride", 8, 1000 * factors[i], 0.2, n);
        c = compare_pair(&pair);
        if (c->change == UB_CHANGE_UNSURE)
            fail_msg("factor %g: still unsure with %zu rounds", factors[i], n);
        free_pair(&pair);
    }
}

static void the_clock_is_named(void **state)
{
    (void)state;
    struct pair pair;
    struct ub_change_counts counts;
    new_pair(&pair);
    add(&pair.a, "stride", 8, 1000, 0.002, 30);
    struct ub_record_point *slow = add(&pair.b, "stride", 8, 1100, 0.002, 30);
    for (size_t i = 0; i < 30; i++)
        slow->time.samples[i].clock_mhz = 1800;
    const struct ub_contrast *c = compare_pair(&pair);
    assert_int_equal(c->change, UB_CHANGE_SLOWER);
    assert_int_equal(c->because, UB_BECAUSE_CLOCK);
    expect_near(c->cycles, 1);
    ub_change_count(&pair.comparison, 1, &counts);
    assert_int_equal(counts.by_clock, 1);
    free_pair(&pair);
    /* Without a clock at every sample there is no second opinion. */
    new_pair(&pair);
    add(&pair.a, "stride", 8, 1000, 0.002, 30)->time.samples[7].clock_mhz = NAN;
    add(&pair.b, "stride", 8, 1100, 0.002, 30);
    c = compare_pair(&pair);
    assert_true(c->change == UB_CHANGE_SLOWER && c->because == UB_BECAUSE_NOTHING && isnan(c->cycles));
    free_pair(&pair);
}

static void a_host_scatters_and_shifts(void **state)
{
    (void)state;
    static const struct {
        double factor;
        enum ub_change change;
    } rows[] = {{1.09, UB_CHANGE_UNSURE}, {2, UB_CHANGE_SLOWER}, {0.4, UB_CHANGE_FASTER}, {1, UB_CHANGE_SAME}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct pair pair;
        new_pair(&pair);
        const double spread = rows[i].factor == 1 ? 0.01 : 0.2;
        add(&pair.a, "stride", 8, 1000, spread, 100)->timer = UB_TIMER_HOST;
        add(&pair.b, "stride", 8, 1000 * rows[i].factor, spread, 100)->timer = UB_TIMER_HOST;
        const struct ub_contrast *c = compare_pair(&pair);
        assert_int_equal(c->change, rows[i].change);
        assert_int_equal(c->because == UB_BECAUSE_HOST, rows[i].change == UB_CHANGE_UNSURE);
        free_pair(&pair);
    }
}

static void ticks_and_missing_samples_widen(void **state)
{
    (void)state;
    struct pair pair;
    new_pair(&pair);
    add(&pair.a, "stride", 8, 1000, 0, 30);
    add(&pair.b, "stride", 8, 1000, 0, 30);
    ub_constant_set(&pair.a.constants, "event_tick_ns", 32, 32, 32, "ns", "here");
    ub_constant_set(&pair.b.constants, "event_tick_ns", 32, 32, 32, "ns", "here");
    const struct ub_contrast *c = compare_pair(&pair);
    expect_near(c->lo, 1 - 0.032);
    expect_near(c->hi, 1 + 0.032);
    assert_int_equal(c->change, UB_CHANGE_UNSURE);
    free_pair(&pair);

    new_pair(&pair);
    struct ub_record_point *point = add(&pair.a, "stride", 8, 1000, 0.004, 30);
    add(&pair.b, "stride", 8, 1000, 0.004, 30);
    free(point->time.samples);
    point->time.samples = NULL;
    c = compare_pair(&pair);
    assert_true(c->from_summaries && c->change == UB_CHANGE_SAME);
    expect_near(c->lo, 0.999 / 1.001);
    free_pair(&pair);
}

static void what_cannot_be_tested_says_why(void **state)
{
    (void)state;
    enum { ZERO, NO_TIME, TIMER, SIZES, CASES };
    static const enum ub_change_reason wanted[CASES] = {UB_BECAUSE_ZERO, UB_BECAUSE_NO_TIME, UB_BECAUSE_TIMER,
                                                        UB_BECAUSE_SIZES};
    for (int i = 0; i < CASES; i++) {
        struct pair pair;
        new_pair(&pair);
        struct ub_record_point *a = add(&pair.a, "stride", 8, 1000, 0, 30);
        struct ub_record_point *b = add(&pair.b, "stride", 8, i == ZERO ? 0 : 1000, 0, i == NO_TIME ? 0 : 30);
        a->footprint_bytes = 1024;
        b->footprint_bytes = i == SIZES ? 2048 : 1024;
        b->timer = i == TIMER ? UB_TIMER_SM_CLOCK : UB_TIMER_EVENT;
        const struct ub_contrast *c = compare_pair(&pair);
        assert_int_equal(c->change, UB_CHANGE_UNTESTED);
        assert_int_equal(c->because, wanted[i]);
        assert_true(isnan(c->ratio));
        free_pair(&pair);
    }
}

static void sizes_that_suit_the_card_are_divided_out(void **state)
{
    (void)state;
    struct pair pair;
    new_pair(&pair);
    ub_set_string(&pair.b.device.slug, "a100");
    struct ub_record_point *a = add(&pair.a, "stride", 8, 1000, 0.002, 30);
    struct ub_record_point *b = add(&pair.b, "stride", 8, 1000, 0.002, 30);
    a->useful_bytes = 2048;
    b->useful_bytes = 1024;
    const struct ub_contrast *c = compare_pair(&pair);
    assert_true(c->by_work);
    expect_near(c->ratio, 0.5);
    expect_near(c->predicted, 0.5);
    assert_true(c->lo < 0.5 && c->hi > 0.5);
    free_pair(&pair);
    /* Without useful bytes: what a rate times its time makes. */
    new_pair(&pair);
    a = add(&pair.a, "stride", 8, 1000, 0.002, 30);
    b = add(&pair.b, "stride", 8, 1000, 0.002, 30);
    ub_point_add_predicted_metric(a, "flops", "FLOP/s", 3e12);
    ub_point_add_predicted_metric(b, "flops", "FLOP/s", 1e12);
    expect_near(compare_pair(&pair)->ratio, 1.0 / 3);
    free_pair(&pair);
}

/* ---- cards and models ------------------------------------------------------------ */

static void two_cards_are_not_tested(void **state)
{
    (void)state;
    struct pair pair;
    new_pair(&pair);
    ub_set_string(&pair.b.device.slug, "h100");
    add(&pair.a, "stride", 8, 1000, 0.002, 30);
    struct ub_record_point *b = add(&pair.b, "stride", 8, 1400, 0.002, 30);
    b->predicted_ns = 1500;
    ub_point_add_metric(b, "ceiling_share", "1", 0.9);
    ub_constant_set(&pair.a.constants, "dram_load_ceiling", 4.6e12, 4.5e12, 4.7e12, "B/s", "measured in this run: x");
    ub_constant_set(&pair.b.constants, "dram_load_ceiling", 3.0e12, 2.9e12, 3.1e12, "B/s", "assumed: y");
    ub_constant_set(&pair.b.constants, "nobody_needs_it", 1, 1, 1, "1", "z");
    const struct ub_contrast *c = compare_pair(&pair);
    assert_false(pair.comparison.one_card);
    assert_true(isnan(c->p) && isnan(c->cycles) && isnan(c->shift));
    expect_near(c->ratio, 1000.0 / 1400);
    expect_near(c->predicted, 1000.0 / 1500);
    assert_true(pair.comparison.points[0].sides[1].share == 0.9);
    assert_true(isnan(pair.comparison.points[0].sides[0].share));
    assert_int_equal(pair.comparison.constant_count, 1);
    assert_string_equal(pair.comparison.constants[0].name, "dram_load_ceiling");
    assert_true(pair.comparison.constants[0].values[1]->value == 3.0e12);
    free_pair(&pair);
}

static void a_law_has_no_interval(void **state)
{
    (void)state;
    struct pair pair;
    new_pair(&pair);
    pair.b.source = UB_PREDICTED;
    add(&pair.a, "stride", 8, 1000, 0.002, 30);
    add(&pair.b, "stride", 8, 1250, 0, 0);
    const struct ub_contrast *c = compare_pair(&pair);
    assert_true(c->change == UB_CHANGE_UNTESTED && c->because == UB_BECAUSE_PREDICTED && isnan(c->lo));
    expect_near(c->ratio, 0.8);
    assert_true(pair.comparison.measured && !pair.comparison.tested);
    free_pair(&pair);
}

/* ---- matching ----------------------------------------------------------------------- */

static const char *why_of(const struct ub_comparison *comparison, size_t run, int64_t stride)
{
    for (size_t i = 0; i < comparison->unmatched_count; i++)
        if (comparison->unmatched[i].run == run &&
            ub_point_axis(comparison->unmatched[i].point, "stride")->number == stride)
            return comparison->unmatched[i].why;
    return "(matched)";
}

static void what_has_no_partner_is_named(void **state)
{
    (void)state;
    struct pair pair;
    new_pair(&pair);
    add(&pair.a, "stride", 1, 1000, 0, 30);
    add(&pair.a, "stride", 2, 1000, 0, 30);
    add(&pair.a, "stride", 3, 1000, 0, 30);
    add(&pair.a, "stride", 4, 1000, 0, 30);
    add(&pair.a, "stride", 5, 1000, 0, 0)->status = UB_POINT_SKIPPED;
    add(&pair.b, "stride", 5, 1000, 0, 0)->status = UB_POINT_SKIPPED;
    add(&pair.b, "stride", 9, 1000, 0, 30);
    struct ub_record_point *failed = add(&pair.b, "stride", 4, 1000, 0, 0);
    failed->status = UB_POINT_FAILED;
    ub_set_string(&failed->reason, "a wrong sum");
    ub_set_string(&add(&pair.b, "stride", 3, 1000, 0, 30)->cache, "cold");
    ub_set_string(&add(&pair.b, "stride", 2, 1000, 0, 30)->data, "zeros");
    add(&pair.b, "stride", 1, 1000, 0, 30);
    compare_pair(&pair);
    const struct ub_comparison *comparison = &pair.comparison;
    assert_int_equal(comparison->point_count, 1);
    assert_string_equal(why_of(comparison, 0, 1), "(matched)");
    assert_string_equal(why_of(comparison, 0, 2), "data random; in b.json zeros");
    assert_string_equal(why_of(comparison, 1, 2), "data zeros; in a.json random");
    assert_string_equal(why_of(comparison, 0, 3), "cache hot; in b.json cold");
    assert_string_equal(why_of(comparison, 1, 4), "failed: a wrong sum");
    assert_string_equal(why_of(comparison, 1, 9), "not in a.json");
    assert_int_equal(comparison->lost_count, 1);
    assert_int_equal(comparison->unmatched_count, 6);
    free_pair(&pair);
}

/* A point may stand in several sweeps: equal names go together, the rest in order. */
static void sweeps_of_one_name_go_together(void **state)
{
    (void)state;
    struct pair pair;
    new_pair(&pair);
    add(&pair.a, "ceiling", 1, 1000, 0, 30);
    add(&pair.a, "stride", 1, 2000, 0, 30);
    add(&pair.b, "stride", 1, 2000, 0, 30);
    add(&pair.b, "command", 1, 1000, 0, 30);
    add(&pair.b, "more", 1, 7000, 0, 30);
    compare_pair(&pair);
    assert_int_equal(pair.comparison.point_count, 2);
    for (size_t i = 0; i < 2; i++)
        expect_near(pair.comparison.points[i].contrasts[1].ratio, 1);
    assert_int_equal(pair.comparison.repeated_count, 1);
    assert_int_equal(pair.comparison.unmatched_count, 0);
    assert_int_equal(pair.comparison.points[0].group, 0);
    assert_int_equal(pair.comparison.points[1].group, 1);
    free_pair(&pair);
}

static void records_of_other_versions_match(void **state)
{
    (void)state;
    struct pair pair;
    new_pair(&pair);
    /* An axis that the rule gained has its initial value: bytes is 4. */
    add(&pair.a, "stride", 8, 1000, 0, 30);
    ub_point_add_axis(add(&pair.b, "stride", 8, 1000, 0, 30), "bytes", "4", 0);
    ub_point_add_axis(add(&pair.b, "stride", 8, 1000, 0, 30), "bytes", "8", 0);
    /* A rule that this build lacks is recognised by its words. */
    ub_set_string(&add(&pair.a, "x", 1, 1000, 0, 30)->rule, "rule_of_tomorrow");
    ub_set_string(&add(&pair.b, "x", 1, 1000, 0, 30)->rule, "rule_of_tomorrow");
    compare_pair(&pair);
    assert_int_equal(pair.comparison.point_count, 2);
    assert_int_equal(pair.comparison.unmatched_count, 1);
    assert_string_equal(pair.comparison.points[0].label, "");
    free_pair(&pair);
}

static void labels_hold_what_varies(void **state)
{
    (void)state;
    struct pair pair;
    new_pair(&pair);
    for (int64_t stride = 1; stride <= 3; stride++) {
        ub_point_add_axis(add(&pair.a, "stride", stride, 1000, 0, 30), "bytes", "4", 0);
        ub_point_add_axis(add(&pair.b, "stride", stride, 1000, 0, 30), "bytes", "4", 0);
    }
    compare_pair(&pair);
    assert_string_equal(pair.comparison.points[2].label, "stride=3");
    free_pair(&pair);
}

static void nothing_in_common_is_an_error(void **state)
{
    (void)state;
    struct pair pair;
    new_pair(&pair);
    add(&pair.a, "stride", 1, 1000, 0, 30);
    add(&pair.b, "stride", 2, 1000, 0, 30);
    assert_false(try_compare(&pair));
    assert_int_equal(pair.err.status, UB_BAD_DATA);
    assert_non_null(strstr(pair.err.text, "a.json has 1 point of coalescing"));
    free_pair(&pair);
    new_pair(&pair); /* empty records */
    assert_false(try_compare(&pair));
    assert_non_null(strstr(pair.err.text, "b.json has 0 points"));
    free_pair(&pair);
    new_pair(&pair);
    add(&pair.a, "stride", 1, 1000, 0, 0)->status = UB_POINT_SKIPPED;
    add(&pair.b, "stride", 1, 1000, 0, 0)->status = UB_POINT_SKIPPED;
    assert_false(try_compare(&pair));
    assert_non_null(strstr(pair.err.text, "no point that the runs share has a result"));
    free_pair(&pair);
}

static void many_runs_are_compared_with_the_first(void **state)
{
    (void)state;
    struct ub_record records[4];
    struct ub_compare_request request = {.run_count = 4, .margin = 0.02, .seed = 1};
    for (size_t i = 0; i < 4; i++) {
        new_record(&records[i], UB_MEASURED, "h200");
        request.runs[i] = (struct ub_compared_run){"r.json", &records[i]};
        add(&records[i], "stride", 1, 1000 + 100 * (double)i, 0.002, 30);
        if (i != 2)
            add(&records[i], "stride", 2, 1000, 0.002, 30);
    }
    struct ub_comparison comparison;
    struct ub_error err;
    assert_true(ub_compare(&request, &comparison, &err));
    assert_int_equal(comparison.point_count, 2);
    expect_near(comparison.points[0].contrasts[3].ratio, 1000.0 / 1300);
    assert_int_equal(comparison.points[1].contrasts[2].because, UB_BECAUSE_ABSENT);
    assert_int_equal(comparison.points[1].contrasts[3].change, UB_CHANGE_SAME);
    struct ub_spread spread;
    ub_compared_spread(&comparison, 3, SIZE_MAX, &spread);
    expect_near(spread.mean, sqrt(1000.0 / 1300));
    assert_int_equal(spread.changes[UB_CHANGE_SLOWER], 1);
    ub_comparison_free(&comparison);
    for (size_t i = 0; i < 4; i++)
        ub_record_free(&records[i]);
}

/* ---- published figures ------------------------------------------------------------------ */

static void published_figures_stand_beside_the_model(void **state)
{
    (void)state;
    struct pair pair;
    new_pair(&pair);
    pair.b.source = UB_PUBLISHED;
    static const char *const rules[] = {"coalescing", "coalescing", "rule_of_tomorrow"};
    for (size_t i = 0; i < COUNT(rules); i++) {
        struct ub_record_point *point = add(&pair.b, "published", 1, 0, 0, 0);
        ub_set_string(&point->rule, rules[i]);
        ub_point_add_axis(point, "bytes", "16", 0);
        ub_point_add_metric(point, i == 1 ? "no_metric" : "useful_bandwidth", "B/s", 4e12);
    }
    struct ub_record_point *own = add(&pair.a, "stride", 1, 1000, 0, 30);
    ub_point_add_axis(own, "bytes", "16", 0);
    ub_point_add_metric(own, "useful_bandwidth", "B/s", 4.5e12);
    compare_pair(&pair);
    const struct ub_comparison *comparison = &pair.comparison;
    assert_int_equal(comparison->run_count, 1);
    assert_int_equal(comparison->published_count, 3);
    const struct ub_published_figure *figure = &comparison->published[0];
    assert_true(figure->predicted > 4.5e12 && figure->predicted < 4.8e12);
    expect_near(figure->error, figure->predicted / 4e12 - 1);
    assert_string_equal(figure->rests_on.name, "dram_load_ceiling");
    assert_int_equal(figure->measured_by, 0);
    assert_true(figure->measured == 4.5e12);
    assert_string_equal(comparison->published[1].why, "the law says nothing of it");
    assert_string_equal(comparison->published[2].why, "this build has no rule of that name");
    ub_comparison_free(&pair.comparison);
    ub_set_string(&pair.b.device.slug, NULL);
    ub_set_string(&pair.b.device.name, "NVIDIA Unknown");
    compare_pair(&pair);
    assert_string_equal(pair.comparison.published[0].why, "the model table has no such card");
    assert_true(isnan(pair.comparison.published[0].predicted));
    assert_true(pair.comparison.published[0].measured_by == SIZE_MAX);
    free_pair(&pair);
}

static void seeds_decide_on_the_interval_alone(void **state)
{
    (void)state;
    struct pair pair;
    new_pair(&pair);
    add(&pair.a, "stride", 8, 1000, 0.01, 30);
    add(&pair.b, "stride", 8, 1000, 0.01, 30);
    const struct ub_contrast first = *compare_pair(&pair);
    ub_comparison_free(&pair.comparison);
    const struct ub_contrast again = *compare_pair(&pair);
    assert_true(first.lo == again.lo && first.hi == again.hi);
    free_pair(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_follow_ratio_and_interval),
        cmocka_unit_test(rounds_that_are_missing_are_enough),
        cmocka_unit_test(the_clock_is_named),
        cmocka_unit_test(a_host_scatters_and_shifts),
        cmocka_unit_test(ticks_and_missing_samples_widen),
        cmocka_unit_test(what_cannot_be_tested_says_why),
        cmocka_unit_test(sizes_that_suit_the_card_are_divided_out),
        cmocka_unit_test(two_cards_are_not_tested),
        cmocka_unit_test(a_law_has_no_interval),
        cmocka_unit_test(what_has_no_partner_is_named),
        cmocka_unit_test(sweeps_of_one_name_go_together),
        cmocka_unit_test(records_of_other_versions_match),
        cmocka_unit_test(labels_hold_what_varies),
        cmocka_unit_test(nothing_in_common_is_an_error),
        cmocka_unit_test(many_runs_are_compared_with_the_first),
        cmocka_unit_test(published_figures_stand_beside_the_model),
        cmocka_unit_test(seeds_decide_on_the_interval_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
