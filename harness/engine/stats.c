/* SPDX-License-Identifier: MIT
 *
 * Statistics of one point's samples: robust location and spread, an interval of
 * the median that assumes nothing about the distribution, and a generator whose
 * sequence is published, so that a seed in a record gives the same order anywhere.
 *
 * A NaN among the values makes every result NaN (or 0 for a count): a sample that
 * is no number is a mistake, and leaving it out would hide it. An empty set has no
 * median: NaN. Where memory is out the result is NaN too, which the record shows
 * as absent. */
#include "harness/engine/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Makes the MAD of a normal distribution its standard deviation. */
static const double mad_scale = 1.4826;
static const double outlier_mads = 5.0;
/* An interval, and a claim of two modes, need at least so many samples: 2 x 0.5^n <= 0.05. */
enum { SMALLEST_INTERVAL = 6 };

/* NaN sorts behind every number, so that a sorted array shows it in its last place. */
static int compare_doubles(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

static double *sorted_copy(const double *values, size_t n)
{
    double *sorted = n == 0 ? NULL : malloc(n * sizeof *sorted);
    if (!sorted)
        return NULL;
    memcpy(sorted, values, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_doubles);
    return sorted;
}

double ub_quantile_sorted(const double *sorted, size_t n, double p)
{
    if (n == 0 || isnan(sorted[n - 1]) || !(p >= 0 && p <= 1))
        return NAN;
    const double position = p * (double)(n - 1);
    const size_t below = (size_t)position;
    const double share = position - (double)below;
    /* Equal neighbours first: two infinities have no difference. */
    if (share == 0 || sorted[below] == sorted[below + 1])
        return sorted[below];
    return sorted[below] + share * (sorted[below + 1] - sorted[below]);
}

double ub_median(const double *values, size_t n)
{
    double *sorted = sorted_copy(values, n);
    const double median = sorted ? ub_quantile_sorted(sorted, n, 0.5) : NAN;
    free(sorted);
    return median;
}

static double mad_around(const double *values, size_t n, double median)
{
    double *distances = n == 0 ? NULL : malloc(n * sizeof *distances);
    if (!distances)
        return NAN;
    for (size_t i = 0; i < n; i++)
        distances[i] = fabs(values[i] - median);
    qsort(distances, n, sizeof *distances, compare_doubles);
    const double mad = mad_scale * ub_quantile_sorted(distances, n, 0.5);
    free(distances);
    return mad;
}

/* The number of values below the true median is binomial (n, 1/2); the interval
 * from rank l to rank n + 1 - l covers the median if that number is in l .. n - l.
 * The sum starts at the middle, which does not underflow for any n. */
bool ub_median_ci_ranks(size_t n, size_t *lower, size_t *upper, double *coverage)
{
    if (n < SMALLEST_INTERVAL)
        return false;
    size_t rank = n / 2;
    double term = 1; /* C(n, rank) / 2^n */
    for (size_t i = 1; i <= rank; i++)
        term *= (double)(2 * i - 1) / (double)(2 * i);
    if (n % 2 == 1)
        term *= (double)n / (double)(2 * (rank + 1));
    double sum = n % 2 == 1 ? 2 * term : term;
    while (sum < 0.95 && rank > 1) {
        term *= (double)rank / (double)(n - rank + 1);
        rank--;
        sum += 2 * term;
    }
    *lower = rank;
    *upper = n + 1 - rank;
    *coverage = sum;
    return true;
}

/* Sorts values[0..n) with the help of `spare` and returns how many pairs stood in
 * the wrong order: a merge passes each element that is smaller by all that wait. */
static uint64_t sort_counting_inversions(double *values, double *spare, size_t n)
{
    if (n < 2)
        return 0;
    const size_t half = n / 2;
    uint64_t inversions = sort_counting_inversions(values, spare, half);
    inversions += sort_counting_inversions(values + half, spare, n - half);
    size_t left = 0, right = half;
    for (size_t out = 0; out < n; out++) {
        const bool take_right = left == half || (right < n && values[right] < values[left]);
        inversions += take_right ? half - left : 0;
        spare[out] = take_right ? values[right++] : values[left++];
    }
    memcpy(values, spare, n * sizeof *values);
    return inversions;
}

static double pairs_of(double n)
{
    return n * (n - 1) / 2;
}

/* Pairs of equal values in a sorted array. */
static double tied_pairs(const double *sorted, size_t n)
{
    double ties = 0;
    size_t run = 1;
    for (size_t i = 1; i <= n; i++) {
        if (i < n && sorted[i] == sorted[i - 1]) {
            run++;
            continue;
        }
        ties += pairs_of((double)run);
        run = 1;
    }
    return ties;
}

double ub_kendall_order(const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isnan(values[i]))
            return NAN;
    if (n < 2)
        return 0;
    double *room = malloc(2 * n * sizeof *room);
    if (!room)
        return NAN;
    memcpy(room, values, n * sizeof *room);
    const double discordant = (double)sort_counting_inversions(room, room + n, n);
    const double all = pairs_of((double)n), untied = all - tied_pairs(room, n);
    free(room);
    /* The order itself has no ties: tau-b = (concordant - discordant) / sqrt(all x untied). */
    return untied == 0 ? 0 : (untied - 2 * discordant) / sqrt(all * untied);
}

/* Sample standard deviation / mean. */
static double coefficient_of_variation(const double *values, size_t n)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    const double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return n < 2 || mean == 0 ? NAN : sqrt(squares / (double)(n - 1)) / mean;
}

/* A timer that ticks makes a MAD of 0 common; then a value must also be further
 * than one tick from the median. Distances are multiples of half a tick, hence 1.25. */
static int count_outliers(const double *values, size_t n, double median, double mad, double tick)
{
    const double limit = fmax(outlier_mads * mad, 1.25 * tick);
    int outliers = 0;
    for (size_t i = 0; i < n; i++)
        outliers += fabs(values[i] - median) > limit;
    return outliers;
}

/* The largest gap of the sorted sample: over half of the range, with at least a
 * fifth of the samples on either side (and never a single one of so few). */
static void find_modes(const double *sorted, size_t n, struct ub_summary *out)
{
    if (n < SMALLEST_INTERVAL)
        return;
    size_t split = 1;
    for (size_t i = 2; i < n; i++)
        if (sorted[i] - sorted[i - 1] > sorted[split] - sorted[split - 1])
            split = i;
    const double gap = sorted[split] - sorted[split - 1], range = sorted[n - 1] - sorted[0];
    /* A gap of just half, as ticks make it, must not depend on the last digit of a record. */
    const double rounding = 1e-9 * fabs(sorted[n - 1]);
    if (!(gap > range / 2 + rounding) || 5 * split < n || 5 * (n - split) < n)
        return;
    out->two_modes = true;
    out->mode_low = ub_quantile_sorted(sorted, split, 0.5);
    out->mode_high = ub_quantile_sorted(sorted + split, n - split, 0.5);
}

void ub_summarise(const double *values, size_t n, double tick, struct ub_summary *out)
{
    *out = (struct ub_summary){.n = n,
                               .median = NAN,
                               .ci_lo = NAN,
                               .ci_hi = NAN,
                               .min = NAN,
                               .p05 = NAN,
                               .p95 = NAN,
                               .mad = NAN,
                               .cv = NAN,
                               .drift = NAN,
                               .mode_low = NAN,
                               .mode_high = NAN};
    double *sorted = sorted_copy(values, n);
    if (!sorted || isnan(sorted[n - 1])) {
        free(sorted);
        return;
    }
    out->median = ub_quantile_sorted(sorted, n, 0.5);
    out->min = sorted[0];
    out->p05 = ub_quantile_sorted(sorted, n, 0.05);
    out->p95 = ub_quantile_sorted(sorted, n, 0.95);
    out->mad = mad_around(values, n, out->median);
    out->cv = coefficient_of_variation(values, n);
    out->drift = ub_kendall_order(values, n);
    out->outliers = count_outliers(values, n, out->median, out->mad, tick);
    size_t lower, upper;
    double coverage;
    if (ub_median_ci_ranks(n, &lower, &upper, &coverage)) {
        out->ci_lo = sorted[lower - 1] - tick / 2;
        out->ci_hi = sorted[upper - 1] + tick / 2;
    }
    find_modes(sorted, n, out);
    free(sorted);
}

/* ---- random numbers: Blackman and Vigna, prng.di.unimi.it, public domain ---- */

void ub_random_seed(struct ub_random *random, uint64_t seed)
{
    for (int i = 0; i < 4; i++) { /* splitmix64: never leaves the state all zero */
        seed += 0x9e3779b97f4a7c15u;
        uint64_t mixed = seed;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
        random->state[i] = mixed ^ (mixed >> 31);
    }
}

static uint64_t rotate_left(uint64_t word, int by)
{
    return (word << by) | (word >> (64 - by));
}

uint64_t ub_random_next(struct ub_random *random)
{
    uint64_t *s = random->state;
    const uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    const uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t ub_random_below(struct ub_random *random, uint64_t n)
{
    if (n < 2)
        return 0;
    /* The lowest 2^64 mod n words are drawn again: what is left divides evenly. */
    const uint64_t unfair = (UINT64_MAX - n + 1) % n;
    uint64_t word;
    do
        word = ub_random_next(random);
    while (word < unfair);
    return word % n;
}

void ub_shuffle(struct ub_random *random, size_t *items, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        const size_t other = (size_t)ub_random_below(random, i);
        const size_t held = items[i - 1];
        items[i - 1] = items[other];
        items[other] = held;
    }
}
