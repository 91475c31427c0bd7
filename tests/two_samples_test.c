/* SPDX-License-Identifier: MIT
 *
 * Statistics of two samples against numpy and scipy (golden/two_samples_scipy.h), and
 * properties that hold for any samples. */
#include "harness/engine/two_samples.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/engine/stats.h"

enum { LARGEST_SET = 32 };

struct golden {
    const char *name;
    size_t n, m;
    double a[LARGEST_SET], b[LARGEST_SET];
    double ratio, lo, hi, u, exact, approximate, shift;
};

#include "tests/golden/two_samples_scipy.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void expect(const char *set, const char *what, double got, double wanted)
{
    const bool same = isnan(got) || isnan(wanted) ? isnan(got) && isnan(wanted)
                                                  : fabs(got - wanted) <= 1e-12 * fmax(fabs(got), fabs(wanted));
    if (!same)
        fail_msg("%s of \"%s\": got %.17g, wanted %.17g", what, set, got, wanted);
}

static struct ub_interval ratio_of(const double *a, size_t n, const double *b, size_t m, uint64_t seed)
{
    double room[GOLDEN_DRAWS];
    struct ub_resamples of_a, of_b;
    assert_true(ub_resamples_draw(n, GOLDEN_DRAWS, seed, 0, &of_a));
    assert_true(ub_resamples_draw(m, GOLDEN_DRAWS, seed, 1, &of_b));
    const struct ub_interval ratio = ub_ratio_of_medians(a, &of_a, b, &of_b, 0.95, room);
    ub_resamples_free(&of_a);
    ub_resamples_free(&of_b);
    return ratio;
}

static void ratios_equal_numpy_on_the_same_draws(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(golden_pairs); i++) {
        const struct golden *g = &golden_pairs[i];
        const struct ub_interval ratio = ratio_of(g->a, g->n, g->b, g->m, GOLDEN_SEED);
        expect(g->name, "ratio", ratio.value, g->ratio);
        expect(g->name, "lower end", ratio.lo, g->lo);
        expect(g->name, "upper end", ratio.hi, g->hi);
    }
}

static void tests_equal_scipy(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(golden_pairs); i++) {
        const struct golden *g = &golden_pairs[i];
        const struct ub_mann_whitney exact = ub_mann_whitney_by(g->a, g->n, g->b, g->m, true);
        const struct ub_mann_whitney approximate = ub_mann_whitney_by(g->a, g->n, g->b, g->m, false);
        expect(g->name, "U", exact.u, g->u);
        if (!isnan(g->exact)) /* not defined with ties */
            expect(g->name, "exact p", exact.p, g->exact);
        expect(g->name, "p", approximate.p, g->approximate);
        expect(g->name, "shift", ub_hodges_lehmann(g->a, g->n, g->b, g->m), g->shift);
    }
}

static void few_pairs_without_ties_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool exact;
    } rows[] = {{"small", true}, {"twenty", true}, {"twenty and one more", false}, {"thirty", false},
                {"ties", false}, {"equal", false}, {"same twice", false},          {"one each", true}};
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t j = 0; j < COUNT(golden_pairs); j++) {
            const struct golden *g = &golden_pairs[j];
            if (strcmp(g->name, rows[i].name) != 0)
                continue;
            const struct ub_mann_whitney test = ub_mann_whitney(g->a, g->n, g->b, g->m);
            assert_int_equal(test.exact, rows[i].exact);
            expect(g->name, "p", test.p, rows[i].exact ? g->exact : g->approximate);
        }
}

static void rates_equal_benjamini_and_hochberg(void **state)
{
    (void)state;
    double p[COUNT(golden_p) + 1], rates[COUNT(golden_p) + 1];
    for (size_t i = 0; i < COUNT(golden_p); i++)
        p[i] = golden_p[i][0];
    p[COUNT(golden_p)] = NAN; /* is no test */
    assert_true(ub_false_discovery_rates(p, COUNT(p), rates));
    for (size_t i = 0; i < COUNT(golden_p); i++)
        expect("p", "rate", rates[i], golden_p[i][1]);
    assert_true(isnan(rates[COUNT(golden_p)]));
    assert_true(ub_false_discovery_rates(NULL, 0, NULL));
}

/* Draws that a person can follow: values 1, 2, 4, 8; their medians by hand. */
static void given_draws_have_their_medians(void **state)
{
    (void)state;
    static const double a[] = {1, 2, 4, 8}, b[] = {1};
    static const uint32_t places[][4] = {{0, 1, 2, 3}, {0, 0, 0, 0}, {3, 3, 3, 0}, {2, 0, 2, 0}, {3, 1, 3, 1}};
    static const uint32_t ones[COUNT(places)] = {0};
    static const double medians[] = {3, 1, 8, 2.5, 5};
    struct ub_resamples draws, single;
    assert_true(ub_resamples_from(&places[0][0], 4, COUNT(places), &draws));
    assert_true(ub_resamples_from(ones, 1, COUNT(places), &single));
    for (size_t i = 0; i < COUNT(places); i++)
        expect("by hand", "median", (a[draws.middles[i].lower] + a[draws.middles[i].upper]) / 2, medians[i]);
    double room[COUNT(places)];
    const struct ub_interval all = ub_ratio_of_medians(a, &draws, b, &single, 1, room);
    assert_true(all.value == 3 && all.lo == 1 && all.hi == 8);
    const struct ub_interval half = ub_ratio_of_medians(a, &draws, b, &single, 0.5, room);
    assert_true(half.lo == 2.5 && half.hi == 5); /* of 1 2.5 3 5 8 */
    ub_resamples_free(&draws);
    ub_resamples_free(&single);
}

static void draws_depend_on_seed_and_stream(void **state)
{
    (void)state;
    struct ub_resamples first, again, seed, stream;
    assert_true(ub_resamples_draw(30, 100, 7, 0, &first) && ub_resamples_draw(30, 100, 7, 0, &again));
    assert_true(ub_resamples_draw(30, 100, 8, 0, &seed) && ub_resamples_draw(30, 100, 7, 1, &stream));
    assert_memory_equal(first.middles, again.middles, 100 * sizeof *first.middles);
    assert_memory_not_equal(first.middles, seed.middles, 100 * sizeof *first.middles);
    assert_memory_not_equal(first.middles, stream.middles, 100 * sizeof *first.middles);
    ub_resamples_free(&first);
    ub_resamples_free(&again);
    ub_resamples_free(&seed);
    ub_resamples_free(&stream);
    assert_false(ub_resamples_draw(0, 100, 1, 0, &first));
    ub_resamples_free(&first);
}

static int ascending(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void fill(struct ub_random *random, double *values, size_t n, uint64_t range)
{
    for (size_t i = 0; i < n; i++)
        values[i] = (double)ub_random_below(random, range) / 64;
    qsort(values, n, sizeof *values, ascending);
}

/* The definitions, pair by pair. */
static void definitions_hold_for_any_samples(void **state)
{
    (void)state;
    struct ub_random random;
    ub_random_seed(&random, 3);
    for (size_t round = 0; round < 200; round++) {
        enum { MOST = 17 };
        double a[MOST], b[MOST], differences[MOST * MOST];
        const size_t n = 1 + ub_random_below(&random, MOST), m = 1 + ub_random_below(&random, MOST);
        fill(&random, a, n, round % 2 ? 8 : 1 << 20);
        fill(&random, b, m, round % 2 ? 8 : 1 << 20);
        double u = 0;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < m; j++) {
                differences[i * m + j] = a[i] - b[j];
                u += a[i] > b[j] ? 1 : a[i] == b[j] ? 0.5 : 0;
            }
        expect("random", "U", ub_mann_whitney(a, n, b, m).u, u);
        expect("random", "U, turned round", ub_mann_whitney(b, m, a, n).u, (double)(n * m) - u);
        expect("random", "p, turned round", ub_mann_whitney(b, m, a, n).p, ub_mann_whitney(a, n, b, m).p);
        expect("random", "shift", ub_hodges_lehmann(a, n, b, m), ub_median(differences, n * m));
    }
}

static void the_interval_holds_the_ratio_and_scales(void **state)
{
    (void)state;
    struct ub_random random;
    ub_random_seed(&random, 5);
    for (size_t n = 2; n < 40; n++) {
        double a[40], b[40], larger[40];
        fill(&random, a, n, 1 << 20);
        fill(&random, b, n, 1 << 20);
        for (size_t i = 0; i < n; i++) {
            a[i] += 1000;
            b[i] += 1000;
            larger[i] = 4 * a[i];
        }
        const struct ub_interval ratio = ratio_of(a, n, b, n, n), scaled = ratio_of(larger, n, b, n, n);
        assert_true(ratio.lo <= ratio.value && ratio.value <= ratio.hi);
        expect("random", "scaled ratio", scaled.value, 4 * ratio.value);
        expect("random", "scaled lower end", scaled.lo, 4 * ratio.lo);
        expect("random", "scaled upper end", scaled.hi, 4 * ratio.hi);
    }
}

static void nothing_and_nan_give_nan(void **state)
{
    (void)state;
    static const double good[] = {1, 2, 3}, bad[] = {1, 2, NAN}, zero[] = {0, 0, 0};
    assert_true(isnan(ratio_of(good, 3, bad, 3, 1).value) && isnan(ratio_of(bad, 3, good, 3, 1).lo));
    assert_true(isnan(ratio_of(zero, 3, zero, 3, 1).value));
    assert_true(isinf(ratio_of(good, 3, zero, 3, 1).value));
    assert_true(isnan(ub_mann_whitney(good, 3, bad, 3).p) && isnan(ub_mann_whitney(good, 0, good, 3).p));
    assert_true(isnan(ub_hodges_lehmann(good, 3, bad, 3)) && isnan(ub_hodges_lehmann(good, 3, good, 0)));
}

/* More pairs than memory would hold: 4e8 differences. */
static void large_samples_need_no_memory(void **state)
{
    (void)state;
    enum { N = 20000 };
    double *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
    assert_non_null(a);
    assert_non_null(b);
    for (int i = 0; i < N; i++) {
        a[i] = i + 3;
        b[i] = i;
    }
    assert_true(ub_hodges_lehmann(a, N, b, N) == 3);
    assert_true(ub_mann_whitney(a, N, b, N).p > 0.9);
    free(a);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ratios_equal_numpy_on_the_same_draws),
        cmocka_unit_test(tests_equal_scipy),
        cmocka_unit_test(few_pairs_without_ties_are_exact),
        cmocka_unit_test(rates_equal_benjamini_and_hochberg),
        cmocka_unit_test(given_draws_have_their_medians),
        cmocka_unit_test(draws_depend_on_seed_and_stream),
        cmocka_unit_test(definitions_hold_for_any_samples),
        cmocka_unit_test(the_interval_holds_the_ratio_and_scales),
        cmocka_unit_test(nothing_and_nan_give_nan),
        cmocka_unit_test(large_samples_need_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
