/* SPDX-License-Identifier: MIT
 *
 * Statistics against scipy (golden/stats_scipy.h), properties that hold for any
 * sample, and the generator against its authors' published sequence. */
#include "harness/engine/samples.h"
#include "harness/engine/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LARGEST_SET = 32 };

struct golden {
    const char *name;
    size_t n;
    double values[LARGEST_SET];
    double median, ci_lo, ci_hi, min, p05, p95, mad, cv, drift;
    int outliers;
};

struct golden_ranks {
    size_t n, lower, upper;
    double coverage;
};

#include "tests/golden/stats_scipy.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool same(double got, double wanted)
{
    if (isnan(got) || isnan(wanted))
        return isnan(got) && isnan(wanted);
    return fabs(got - wanted) <= 1e-12 * fmax(fabs(got), fabs(wanted));
}

static void expect(const char *set, const char *what, double got, double wanted)
{
    if (!same(got, wanted))
        fail_msg("%s of \"%s\": got %.17g, wanted %.17g", what, set, got, wanted);
}

static void summaries_equal_scipy(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(golden_sets); i++) {
        const struct golden *g = &golden_sets[i];
        struct ub_summary s;
        ub_summarise(g->values, g->n, 0, &s);
        assert_int_equal(s.n, g->n);
        expect(g->name, "median", s.median, g->median);
        expect(g->name, "lower end", s.ci_lo, g->ci_lo);
        expect(g->name, "upper end", s.ci_hi, g->ci_hi);
        expect(g->name, "minimum", s.min, g->min);
        expect(g->name, "5 % quantile", s.p05, g->p05);
        expect(g->name, "95 % quantile", s.p95, g->p95);
        expect(g->name, "MAD", s.mad, g->mad);
        expect(g->name, "coefficient of variation", s.cv, g->cv);
        expect(g->name, "drift", s.drift, g->drift);
        assert_int_equal(s.outliers, g->outliers);
        expect(g->name, "ub_median", ub_median(g->values, g->n), g->median);
        expect(g->name, "ub_kendall_order", ub_kendall_order(g->values, g->n), g->drift);
    }
}

static void interval_ranks_equal_the_binomial(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(golden_ranks); i++) {
        const struct golden_ranks *g = &golden_ranks[i];
        size_t lower = 0, upper = 0;
        double coverage = 0;
        assert_true(ub_median_ci_ranks(g->n, &lower, &upper, &coverage));
        assert_int_equal(lower, g->lower);
        assert_int_equal(upper, g->upper);
        if (fabs(coverage - g->coverage) > 1e-12)
            fail_msg("coverage for n = %zu: got %.17g, wanted %.17g", g->n, coverage, g->coverage);
    }
    size_t lower, upper;
    double coverage;
    for (size_t n = 0; n < 6; n++)
        assert_false(ub_median_ci_ranks(n, &lower, &upper, &coverage));
    /* A binomial term of 2^-100000 underflows; the sum from the middle does not. */
    assert_true(ub_median_ci_ranks(100000, &lower, &upper, &coverage));
    assert_in_range(lower, 49680, 49700);
    assert_true(coverage >= 0.95 && coverage < 0.952);
}

static void quantiles_interpolate(void **state)
{
    (void)state;
    static const struct {
        double p, wanted;
    } rows[] = {{0, 1}, {0.25, 1.75}, {0.5, 2.5}, {0.75, 3.25}, {0.9, 3.7}, {1, 4}, {-0.1, NAN}, {1.1, NAN}};
    static const double sorted[] = {1, 2, 3, 4};
    for (size_t i = 0; i < COUNT(rows); i++)
        expect("1..4", "quantile", ub_quantile_sorted(sorted, 4, rows[i].p), rows[i].wanted);
    expect("1..4", "quantile NaN", ub_quantile_sorted(sorted, 4, NAN), NAN);
    expect("one", "quantile", ub_quantile_sorted(sorted, 1, 0.3), 1);
    static const double infinite[] = {1, INFINITY, INFINITY};
    assert_true(isinf(ub_quantile_sorted(infinite, 3, 0.75)));
}

static void nothing_and_nan_give_nan(void **state)
{
    (void)state;
    static const double bad[] = {3, 1, NAN, 2, 5, 4, 6};
    static const size_t sizes[] = {0, COUNT(bad)};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct ub_summary s;
        ub_summarise(bad, sizes[i], 1, &s);
        assert_int_equal(s.n, sizes[i]);
        const double all[] = {s.median, s.ci_lo, s.ci_hi, s.min, s.p05, s.p95, s.mad, s.cv, s.drift, s.mode_low};
        for (size_t j = 0; j < COUNT(all); j++)
            assert_true(isnan(all[j]));
        assert_int_equal(s.outliers, 0);
        assert_false(s.two_modes);
        assert_true(isnan(ub_median(bad, sizes[i])));
    }
    assert_true(isnan(ub_kendall_order(bad, COUNT(bad))));
    assert_true(isnan(ub_quantile_sorted(bad, 0, 0.5)));
    assert_true(ub_kendall_order(bad, 0) == 0 && ub_kendall_order(bad, 1) == 0);
}

static void a_tick_widens_the_interval(void **state)
{
    (void)state;
    static const double values[] = {10, 10, 10, 10, 11, 10, 10, 10, 13, 10};
    struct ub_summary s;
    ub_summarise(values, COUNT(values), 0, &s);
    assert_true(s.ci_lo == 10 && s.ci_hi == 11 && s.outliers == 2);
    ub_summarise(values, COUNT(values), 1, &s);
    assert_true(s.ci_lo == 9.5 && s.ci_hi == 11.5);
    assert_int_equal(s.outliers, 1); /* 11 is one tick away: no outlier */
}

static void two_modes_are_seen(void **state)
{
    (void)state;
    static const struct {
        double values[10];
        size_t n;
        bool two;
        double low, high;
    } rows[] = {
        {{1, 9, 1.5, 9.5, 2, 1, 9, 10, 1, 9}, 10, true, 1, 9},
        {{1, 9, 1, 9, 1, 9, 1, 9, 1, 9}, 10, true, 1, 9},
        {{1, 1, 1, 1, 1, 1, 1, 1, 9, 9}, 10, true, 1, 9},       /* exactly a fifth */
        {{1, 1, 1, 1, 1, 1, 1, 1, 1, 9}, 10, false, NAN, NAN},  /* an outlier is no mode */
        {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 10, false, NAN, NAN}, /* no gap */
        {{4, 4, 4, 4, 4, 4, 4, 4, 4, 4}, 10, false, NAN, NAN},  /* no range */
        {{1, 1, 1, 3, 3, 3, 5, 5, 5, 5}, 10, false, NAN, NAN},  /* a gap of just half the range */
        {{1, 1, 9, 9, 9, 0, 0, 0, 0, 0}, 5, false, NAN, NAN},   /* too few */
        {{1, 9, 9, 9, 9, 9, 0, 0, 0, 0}, 6, false, NAN, NAN},
        {{9, 1, 1, 1, 1, 1, 0, 0, 0, 0}, 6, false, NAN, NAN},        /* a sixth */
        {{100, 1, 100, 1, 1, 100, 0, 0, 0, 0}, 6, true, 1.0, 100.0}, /* order does not matter */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ub_summary s;
        ub_summarise(rows[i].values, rows[i].n, 0, &s);
        assert_int_equal(s.two_modes, rows[i].two);
        expect("modes", "low", s.mode_low, rows[i].low);
        expect("modes", "high", s.mode_high, rows[i].high);
    }
}

/* Values that double arithmetic adds and doubles without rounding. */
static void fill(struct ub_random *random, double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = (double)ub_random_below(random, 1u << 20) / 64;
}

static void shift_and_scale_go_through(void **state)
{
    (void)state;
    struct ub_random random;
    ub_random_seed(&random, 7);
    for (size_t n = 2; n < 60; n++) {
        double values[60], shifted[60], scaled[60];
        fill(&random, values, n);
        for (size_t i = 0; i < n; i++) {
            shifted[i] = values[i] + 1024;
            scaled[i] = values[i] * 4;
        }
        struct ub_summary a, b, c;
        ub_summarise(values, n, 0, &a);
        ub_summarise(shifted, n, 0, &b);
        ub_summarise(scaled, n, 0, &c);
        const double origin[] = {a.median, a.ci_lo, a.ci_hi, a.min, a.p05, a.p95};
        const double moved[] = {b.median, b.ci_lo, b.ci_hi, b.min, b.p05, b.p95};
        const double larger[] = {c.median, c.ci_lo, c.ci_hi, c.min, c.p05, c.p95};
        for (size_t i = 0; i < COUNT(origin); i++) {
            expect("random", "shifted", moved[i], origin[i] + 1024);
            expect("random", "scaled", larger[i], origin[i] * 4);
        }
        expect("random", "MAD, shifted", b.mad, a.mad);
        expect("random", "MAD, scaled", c.mad, 4 * a.mad);
        expect("random", "cv, scaled", c.cv, a.cv);
        expect("random", "drift, shifted", b.drift, a.drift);
        assert_int_equal(a.outliers, b.outliers);
        assert_int_equal(a.two_modes, c.two_modes);
    }
}

static void order_matters_to_drift_alone(void **state)
{
    (void)state;
    struct ub_random random;
    ub_random_seed(&random, 11);
    for (size_t n = 1; n < 60; n++) {
        double values[60], permuted[60];
        size_t order[60];
        fill(&random, values, n);
        for (size_t i = 0; i < n; i++)
            order[i] = i;
        ub_shuffle(&random, order, n);
        for (size_t i = 0; i < n; i++)
            permuted[i] = values[order[i]];
        struct ub_summary a, b;
        ub_summarise(values, n, 0.5, &a);
        ub_summarise(permuted, n, 0.5, &b);
        const double left[] = {a.median, a.ci_lo, a.ci_hi, a.min, a.p05, a.p95, a.mad, a.cv, a.mode_low};
        const double right[] = {b.median, b.ci_lo, b.ci_hi, b.min, b.p05, b.p95, b.mad, b.cv, b.mode_low};
        for (size_t i = 0; i < COUNT(left); i++)
            expect("random", "permuted", right[i], left[i]);
        for (size_t i = 0; i < n; i++)
            permuted[i] = values[n - 1 - i];
        expect("random", "reversed drift", ub_kendall_order(permuted, n), -ub_kendall_order(values, n));
    }
}

/* The definition, pair by pair, against the merge sort. */
static void kendall_equals_its_definition(void **state)
{
    (void)state;
    struct ub_random random;
    ub_random_seed(&random, 3);
    for (size_t n = 2; n < 50; n++) {
        double values[50];
        for (size_t i = 0; i < n; i++)
            values[i] = (double)ub_random_below(&random, 1 + n / 2);
        double balance = 0, untied = 0;
        for (size_t i = 0; i < n; i++)
            for (size_t j = i + 1; j < n; j++) {
                balance += (values[j] > values[i]) - (values[j] < values[i]);
                untied += values[i] != values[j];
            }
        const double all = (double)n * (double)(n - 1) / 2;
        const double wanted = untied == 0 ? 0 : balance / sqrt(all * untied);
        if (fabs(ub_kendall_order(values, n) - wanted) > 1e-12)
            fail_msg("tau for n = %zu: got %.17g, wanted %.17g", n, ub_kendall_order(values, n), wanted);
    }
}

static void generator_gives_the_published_sequence(void **state)
{
    (void)state;
    /* splitmix64 from 1234567, and xoshiro256** from the state 1, 2, 3, 4: as the
     * authors' C code prints them (prng.di.unimi.it). */
    static const uint64_t seeded[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                      4593380528125082431u};
    static const uint64_t sequence[] = {11520u,
                                        0u,
                                        1509978240u,
                                        1215971899390074240u,
                                        1216172134540287360u,
                                        607988272756665600u,
                                        16172922978634559625u,
                                        8476171486693032832u,
                                        10595114339597558777u,
                                        2904607092377533576u};
    struct ub_random random;
    ub_random_seed(&random, 1234567);
    assert_memory_equal(random.state, seeded, sizeof seeded);
    random = (struct ub_random){{1, 2, 3, 4}};
    for (size_t i = 0; i < COUNT(sequence); i++)
        assert_true(ub_random_next(&random) == sequence[i]);
    ub_random_seed(&random, 0);
    assert_true(random.state[0] != 0);
}

static void below_is_even(void **state)
{
    (void)state;
    struct ub_random random;
    ub_random_seed(&random, 42);
    assert_int_equal(ub_random_below(&random, 0), 0);
    assert_int_equal(ub_random_below(&random, 1), 0);
    /* Chi-square with 9 degrees of freedom: 27.9 is the 0.1 % limit. */
    enum { BINS = 10, DRAWS = 100000 };
    int bins[BINS] = {0};
    for (int i = 0; i < DRAWS; i++)
        bins[ub_random_below(&random, BINS)]++;
    double chi_square = 0;
    for (int i = 0; i < BINS; i++)
        chi_square += (bins[i] - DRAWS / BINS) * (double)(bins[i] - DRAWS / BINS) / (DRAWS / BINS);
    assert_true(chi_square < 27.9);
    /* With n = 3 x 2^62 a plain remainder would land below 2^62 twice as often: half of
     * the draws instead of a third. */
    const uint64_t third = (uint64_t)1 << 62, n = 3 * third;
    int low = 0;
    for (int i = 0; i < 30000; i++) {
        const uint64_t value = ub_random_below(&random, n);
        assert_true(value < n);
        low += value < third;
    }
    assert_in_range(low, 9600, 10400);
}

static void shuffle_permutes_evenly(void **state)
{
    (void)state;
    struct ub_random random;
    ub_random_seed(&random, 5);
    int seen[6] = {0};
    for (int round = 0; round < 6000; round++) {
        size_t items[] = {0, 1, 2};
        ub_shuffle(&random, items, 3);
        assert_int_equal(items[0] + items[1] + items[2], 3);
        assert_true(items[0] != items[1] && items[1] != items[2] && items[0] != items[2]);
        seen[items[0] * 2 + (items[1] > items[2])]++;
    }
    for (int i = 0; i < 6; i++) /* 1000 +- 5 standard deviations */
        assert_in_range(seen[i], 855, 1145);
    struct ub_random again;
    size_t first[50], second[50];
    for (size_t i = 0; i < 50; i++)
        first[i] = second[i] = i;
    ub_random_seed(&random, 99);
    ub_random_seed(&again, 99);
    ub_shuffle(&random, first, 50);
    ub_shuffle(&again, second, 50);
    assert_memory_equal(first, second, sizeof first);
    ub_shuffle(&random, first, 0);
}

/* Two groups of few samples are seen, but nobody is warned of them; records of others may have it. */
static void few_samples_give_no_warning_of_two_modes(void **state)
{
    static const struct {
        size_t n;
        bool two_modes, due, holds;
    } rows[] = {{10, true, false, true}, {19, true, false, true}, {20, true, true, true}, {40, false, false, false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ub_sample samples[40] = {{.time_ns = 1}};
        const struct ub_time time = {.n = rows[i].n, .samples = samples};
        const struct ub_summary summary = {.two_modes = rows[i].two_modes};
        struct ub_sample_warning warnings[UB_SAMPLE_WARNINGS];
        ub_sample_warnings(&time, &summary, warnings);
        assert_string_equal(warnings[1].code, "two-modes");
        assert_int_equal(warnings[1].due, rows[i].due);
        assert_int_equal(warnings[1].holds, rows[i].holds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_samples_give_no_warning_of_two_modes),
        cmocka_unit_test(summaries_equal_scipy),
        cmocka_unit_test(interval_ranks_equal_the_binomial),
        cmocka_unit_test(quantiles_interpolate),
        cmocka_unit_test(nothing_and_nan_give_nan),
        cmocka_unit_test(a_tick_widens_the_interval),
        cmocka_unit_test(two_modes_are_seen),
        cmocka_unit_test(shift_and_scale_go_through),
        cmocka_unit_test(order_matters_to_drift_alone),
        cmocka_unit_test(kendall_equals_its_definition),
        cmocka_unit_test(generator_gives_the_published_sequence),
        cmocka_unit_test(below_is_even),
        cmocka_unit_test(shuffle_permutes_evenly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
