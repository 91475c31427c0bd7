/* SPDX-License-Identifier: MIT
 *
 * Statistics of one point's samples (harness.md 1.3). Pure, our own (the free
 * library is GPL); golden values from scipy in the tests. A NaN among the values
 * makes the results NaN (counts 0), as does an empty set. */
#ifndef UB_ENGINE_STATS_H
#define UB_ENGINE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Quantile of a sorted array, type 7 (numpy's and R's default); p in 0..1. */
double ub_quantile_sorted(const double *sorted, size_t n, double p);
double ub_median(const double *values, size_t n);
/* Ranks (1-based) of the distribution-free 95 % interval of the median and its true
 * coverage; false below n = 6, where none exists. */
bool ub_median_ci_ranks(size_t n, size_t *lower, size_t *upper, double *coverage);
/* Kendall's tau-b of values against their order; 0 for n < 2 or all equal. */
double ub_kendall_order(const double *values, size_t n);

struct ub_summary {
    size_t n;
    double median, ci_lo, ci_hi, min, p05, p95, mad, cv, drift; /* mad: from the median, x 1.4826 */
    int outliers;                                               /* beyond 5 scaled MADs, and by more than one tick */
    bool two_modes;             /* n >= 6, the largest gap is over half the range, 20 % on either side */
    double mode_low, mode_high; /* their medians */
};

/* `tick` widens the interval by half a tick either side (0: none). ci is NaN below n = 6. */
void ub_summarise(const double *values, size_t n, double tick, struct ub_summary *out);

/* xoshiro256** with splitmix64 seeding. */
struct ub_random {
    uint64_t state[4];
};
void ub_random_seed(struct ub_random *random, uint64_t seed);
uint64_t ub_random_next(struct ub_random *random);
/* 0 .. n-1 without bias. */
uint64_t ub_random_below(struct ub_random *random, uint64_t n);
/* Fisher-Yates. */
void ub_shuffle(struct ub_random *random, size_t *items, size_t n);

#endif
