/* SPDX-License-Identifier: MIT */
#include "harness/engine/two_samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/engine/stats.h"

static bool is_usable(const double *sorted, size_t n)
{
    return n > 0 && !isnan(sorted[n - 1]);
}

/* ---- the bootstrap ----------------------------------------------------------- */

/* The places of the two middle values of a draw, of which `counts` says how often it
 * took each place. */
static struct ub_middle middle_of(const uint32_t *counts, size_t n)
{
    struct ub_middle middle = {0, 0};
    size_t seen = counts[0], place = 0;
    while (seen <= (n - 1) / 2)
        seen += counts[++place];
    middle.lower = (uint32_t)place;
    while (seen <= n / 2)
        seen += counts[++place];
    middle.upper = (uint32_t)place;
    return middle;
}

/* Gives the next place of a draw. */
typedef uint32_t (*next_place)(void *source, size_t n);

static bool resample(size_t n, size_t count, next_place next, void *source, struct ub_resamples *out)
{
    *out = (struct ub_resamples){.n = n, .count = count};
    if (n == 0 || n > (size_t)1 << 31)
        return false;
    out->middles = calloc(count ? count : 1, sizeof *out->middles);
    uint32_t *counts = malloc(n * sizeof *counts);
    for (size_t r = 0; counts && out->middles && r < count; r++) {
        memset(counts, 0, n * sizeof *counts);
        for (size_t i = 0; i < n; i++)
            counts[next(source, n)]++;
        out->middles[r] = middle_of(counts, n);
    }
    const bool ok = counts && out->middles;
    free(counts);
    if (!ok)
        ub_resamples_free(out);
    return ok;
}

static uint32_t place_given(void *source, size_t n)
{
    const uint32_t **places = source;
    (void)n;
    return *(*places)++;
}

static uint32_t place_drawn(void *source, size_t n)
{
    return (uint32_t)ub_random_below(source, n);
}

bool ub_resamples_from(const uint32_t *places, size_t n, size_t count, struct ub_resamples *out)
{
    return resample(n, count, place_given, &places, out);
}

bool ub_resamples_draw(size_t n, size_t count, uint64_t seed, uint64_t stream, struct ub_resamples *out)
{
    struct ub_random random;
    ub_random_seed(&random, seed);
    /* A seed of its own for each stream, far from those of neighbouring seeds. */
    ub_random_seed(&random, ub_random_next(&random) + stream);
    return resample(n, count, place_drawn, &random, out);
}

void ub_resamples_free(struct ub_resamples *resamples)
{
    free(resamples->middles);
    *resamples = (struct ub_resamples){0};
}

/* Hoare's selection: afterwards values[k] is the one that sorting would put there, and
 * none behind it is smaller. */
static double select_place(double *values, size_t n, size_t k)
{
    size_t first = 0, last = n - 1;
    while (first < last) {
        const double pivot = values[first + (last - first) / 2];
        size_t i = first, j = last;
        for (;;) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i >= j)
                break;
            const double held = values[i];
            values[i++] = values[j];
            values[j--] = held;
        }
        /* i == j: values[j] is the pivot's equal. */
        const size_t split = i == j ? j : i - 1;
        if (k <= split)
            last = split;
        else
            first = split + 1;
    }
    return values[k];
}

/* Quantile of type 7, as ub_quantile_sorted(), of values in any order; moves them. */
static double quantile(double *values, size_t n, double p)
{
    const double position = p * (double)(n - 1);
    const size_t below = (size_t)position;
    const double share = position - (double)below, low = select_place(values, n, below);
    if (share == 0)
        return low;
    double high = values[below + 1];
    for (size_t i = below + 2; i < n; i++)
        high = values[i] < high ? values[i] : high;
    return low == high ? low : low + share * (high - low);
}

static double middle_value(const double *sorted, struct ub_middle middle)
{
    const double lower = sorted[middle.lower], upper = sorted[middle.upper];
    return lower == upper ? lower : lower + 0.5 * (upper - lower);
}

struct ub_interval ub_ratio_of_medians(const double *a, const struct ub_resamples *draws_a, const double *b,
                                       const struct ub_resamples *draws_b, double confidence, double *room)
{
    const size_t count = draws_a->count < draws_b->count ? draws_a->count : draws_b->count;
    struct ub_interval ratio = {NAN, NAN, NAN};
    if (!is_usable(a, draws_a->n) || !is_usable(b, draws_b->n) || count == 0)
        return ratio;
    ratio.value = ub_quantile_sorted(a, draws_a->n, 0.5) / ub_quantile_sorted(b, draws_b->n, 0.5);
    for (size_t r = 0; r < count; r++) {
        room[r] = middle_value(a, draws_a->middles[r]) / middle_value(b, draws_b->middles[r]);
        if (isnan(room[r])) /* 0 / 0 */
            return ratio;
    }
    const double tail = (1 - confidence) / 2;
    ratio.lo = quantile(room, count, tail);
    ratio.hi = quantile(room, count, 1 - tail);
    return ratio;
}

/* ---- Mann-Whitney ------------------------------------------------------------- */

enum { MOST_EXACT_PAIRS = 400 };

/* Sum of the ranks of a among both samples, ties sharing theirs; `ties` gets the sum of
 * t^3 - t over the groups of t equal values. */
static double rank_sum(const double *a, size_t n, const double *b, size_t m, double *ties)
{
    double sum = 0;
    *ties = 0;
    for (size_t i = 0, j = 0; i < n || j < m;) {
        const double value = j == m || (i < n && a[i] < b[j]) ? a[i] : b[j];
        const size_t before = i + j;
        size_t of_a = 0;
        for (; i < n && a[i] == value; i++)
            of_a++;
        while (j < m && b[j] == value)
            j++;
        const double group = (double)(i + j - before);
        sum += (double)of_a * ((double)before + (group + 1) / 2);
        *ties += group * group * group - group;
    }
    return sum;
}

/* P(U >= u) where all orders are equally likely. The numbers of orders for each U are the
 * coefficients of the Gaussian binomial, the product of (1 - q^(m+i)) / (1 - q^i) for i =
 * 1..n: whole numbers that a double holds. */
static double exact_tail(size_t n, size_t m, double u)
{
    const size_t top = n * m;
    double orders = 1, tail = 0, *ways = calloc(top + 1, sizeof *ways);
    if (!ways)
        return NAN;
    ways[0] = 1;
    for (size_t i = 1; i <= n; i++) {
        for (size_t k = top; k >= m + i; k--)
            ways[k] -= ways[k - m - i];
        for (size_t k = i; k <= top; k++)
            ways[k] += ways[k - i];
        orders = orders * (double)(m + i) / (double)i;
    }
    for (size_t k = (size_t)ceil(u); k <= top; k++)
        tail += ways[k];
    free(ways);
    return tail / round(orders);
}

static double normal_tail(double n, double m, double u, double ties)
{
    const double both = n + m;
    const double variance = n * m / 12 * (both + 1 - ties / (both * (both - 1)));
    if (!(variance > 0))
        return 0.5; /* no order to be seen */
    return 0.5 * erfc((u - n * m / 2 - 0.5) / sqrt(variance) / sqrt(2));
}

struct ub_mann_whitney ub_mann_whitney_by(const double *a, size_t n, const double *b, size_t m, bool exact)
{
    struct ub_mann_whitney test = {NAN, NAN, exact};
    if (!is_usable(a, n) || !is_usable(b, m))
        return test;
    double ties;
    const double ranks = rank_sum(a, n, b, m, &ties), pairs = (double)n * (double)m;
    test.u = ranks - (double)n * ((double)n + 1) / 2;
    const double larger = fmax(test.u, pairs - test.u);
    const double tail = exact ? exact_tail(n, m, larger) : normal_tail((double)n, (double)m, larger, ties);
    test.p = fmin(1, 2 * tail);
    return test;
}

struct ub_mann_whitney ub_mann_whitney(const double *a, size_t n, const double *b, size_t m)
{
    double ties = 0;
    if (is_usable(a, n) && is_usable(b, m))
        rank_sum(a, n, b, m, &ties);
    return ub_mann_whitney_by(a, n, b, m, ties == 0 && n <= MOST_EXACT_PAIRS && n * m <= MOST_EXACT_PAIRS);
}

/* ---- Hodges-Lehmann ------------------------------------------------------------ */

/* Doubles in their order as whole numbers, and back. */
static uint64_t key_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static double value_of(uint64_t key)
{
    const uint64_t bits = key >> 63 ? key & ~((uint64_t)1 << 63) : ~key;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* How many differences a[i] - b[j] are at most `limit`. They grow with i and fall with j. */
static uint64_t differences_up_to(const double *a, size_t n, const double *b, size_t m, double limit)
{
    uint64_t count = 0;
    size_t j = 0;
    for (size_t i = 0; i < n; i++) {
        while (j < m && a[i] - b[j] > limit)
            j++;
        count += m - j;
    }
    return count;
}

/* The k-th smallest difference, k from 1: bisects the doubles between the ends. */
static double difference(const double *a, size_t n, const double *b, size_t m, uint64_t k)
{
    uint64_t low = key_of(a[0] - b[m - 1]), high = key_of(a[n - 1] - b[0]);
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (differences_up_to(a, n, b, m, value_of(middle)) >= k)
            high = middle;
        else
            low = middle + 1;
    }
    return value_of(low);
}

double ub_hodges_lehmann(const double *a, size_t n, const double *b, size_t m)
{
    if (!is_usable(a, n) || !is_usable(b, m) || !isfinite(a[0] - b[m - 1]) || !isfinite(a[n - 1] - b[0]))
        return NAN;
    const uint64_t pairs = (uint64_t)n * m;
    const double lower = difference(a, n, b, m, (pairs + 1) / 2);
    if (pairs % 2 == 1 || differences_up_to(a, n, b, m, lower) >= pairs / 2 + 1)
        return lower;
    return lower + 0.5 * (difference(a, n, b, m, pairs / 2 + 1) - lower);
}

/* ---- many tests ----------------------------------------------------------------- */

struct numbered {
    double p;
    size_t index;
};

static int by_p(const void *left, const void *right)
{
    const struct numbered *a = left, *b = right;
    return (a->p > b->p) - (a->p < b->p);
}

bool ub_false_discovery_rates(const double *p, size_t count, double *rates)
{
    struct numbered *tests = malloc((count ? count : 1) * sizeof *tests);
    size_t n = 0;
    if (!tests)
        return false;
    for (size_t i = 0; i < count; i++) {
        rates[i] = NAN;
        if (!isnan(p[i]))
            tests[n++] = (struct numbered){p[i], i};
    }
    qsort(tests, n, sizeof *tests, by_p);
    double least = 1;
    for (size_t rank = n; rank > 0; rank--) {
        least = fmin(least, tests[rank - 1].p * (double)n / (double)rank);
        rates[tests[rank - 1].index] = least;
    }
    free(tests);
    return true;
}
