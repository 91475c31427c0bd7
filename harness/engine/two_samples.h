/* SPDX-License-Identifier: MIT
 *
 * Statistics of two samples (harness.md 1.3): how large a difference is, and whether
 * there is one. Pure, our own (the free library is GPL); golden values from scipy in the
 * tests. Every array of values must be sorted in ascending order; where one is empty or
 * has a NaN in its last place the result is NaN. */
#ifndef UB_ENGINE_TWO_SAMPLES_H
#define UB_ENGINE_TWO_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the bootstrap of a ratio of medians ----------------------------------- */

enum { UB_RESAMPLES = 2000 };

/* Draws of n values out of n, with repetition, as what their medians need: the places of
 * the two middle values among the sorted n (equal places where n is odd). All samples of
 * a size share the same draws, so that a comparison of many points draws once, and two
 * points with the same values get the same interval. */
struct ub_resamples {
    size_t n, count;
    struct ub_middle {
        uint32_t lower, upper; /* 0-based */
    } * middles;               /* owned */
};

/* From given draws: places[r * n + i] < n is the place of the i-th value of draw r. */
bool ub_resamples_from(const uint32_t *places, size_t n, size_t count, struct ub_resamples *out);
/* From the generator of stats.h. `stream` tells apart the draws of the two samples, which
 * must not be the same. False: no memory, or n is 0 or above 2^31. */
bool ub_resamples_draw(size_t n, size_t count, uint64_t seed, uint64_t stream, struct ub_resamples *out);
void ub_resamples_free(struct ub_resamples *resamples);

struct ub_interval {
    double value, lo, hi;
};

/* median(a) / median(b) with its percentile interval (type 7 quantiles of the resampled
 * ratios) that covers `confidence`. `room`: at least as many doubles as there are draws. */
struct ub_interval ub_ratio_of_medians(const double *a, const struct ub_resamples *draws_a, const double *b,
                                       const struct ub_resamples *draws_b, double confidence, double *room);

/* ---- tests ------------------------------------------------------------------ */

/* The Mann-Whitney U of a (pairs in which a's value is larger, ties half) and its
 * two-sided p: exact where n m <= 400 and no two values are equal, else by the normal
 * approximation with corrections for ties and continuity. All values equal: p is 1. */
struct ub_mann_whitney {
    double u, p;
    bool exact;
};
struct ub_mann_whitney ub_mann_whitney(const double *a, size_t n, const double *b, size_t m);
/* Either way of computing p, whatever the sizes are. `exact` ignores ties. */
struct ub_mann_whitney ub_mann_whitney_by(const double *a, size_t n, const double *b, size_t m, bool exact);

/* Hodges and Lehmann's shift: the median of all n m differences a[i] - b[j]. Needs no
 * memory and n + m steps for each bit of a double. */
double ub_hodges_lehmann(const double *a, size_t n, const double *b, size_t m);

/* Benjamini and Hochberg: the false discovery rate at which each of `count` tests would
 * be called significant. NaN stays NaN and does not count as a test. False: no memory. */
bool ub_false_discovery_rates(const double *p, size_t count, double *rates);

#endif
