/* SPDX-License-Identifier: MIT
 *
 * A comparison: the same points in two or more runs. Filled once (by engine/compare),
 * then only read: by the printers and the chart. Records and their points are borrowed;
 * numbers that are not known are NaN. `= {0}` is a valid empty comparison. */
#ifndef UB_CONTRACT_COMPARISON_H
#define UB_CONTRACT_COMPARISON_H

#include "harness/contract/record.h"

enum { UB_MAX_COMPARED = 16 };

/* One argument of `ubench compare`. */
struct ub_compared_run {
    const char *name; /* as it was given: "a.json", "model:a100"; borrowed */
    const struct ub_record *record;
};

/* What a point of one run comes to. A predicted run has the law's time and no interval. */
struct ub_side {
    const struct ub_record_point *point; /* NULL: the run has no such point */
    double time_ns, lo_ns, hi_ns;
    double share; /* of the card's own ceiling */
};

enum ub_change { UB_CHANGE_UNTESTED, UB_CHANGE_SAME, UB_CHANGE_FASTER, UB_CHANGE_SLOWER, UB_CHANGE_UNSURE, UB_CHANGES };
extern const char *const ub_change_names[]; /* "not-tested", "same", "faster", "slower", "unsure" */

/* Why a change is what it is, or is not tested. */
enum ub_change_reason {
    UB_BECAUSE_NOTHING,
    UB_BECAUSE_CLOCK,     /* the time differs, the cycles do not */
    UB_BECAUSE_SPREAD,    /* the interval is too wide to tell */
    UB_BECAUSE_FEW,       /* too few samples for an interval */
    UB_BECAUSE_HOST,      /* timed by the host, and no larger than its times scatter */
    UB_BECAUSE_PREDICTED, /* one of the two times is a law's */
    UB_BECAUSE_ABSENT,    /* one of the runs lacks the point */
    UB_BECAUSE_ZERO,      /* a time is 0 */
    UB_BECAUSE_NO_TIME,   /* ... is not there */
    UB_BECAUSE_TIMER,     /* they were timed in different ways */
    UB_BECAUSE_SIZES,     /* one card, different work */
    UB_REASONS
};
extern const char *const ub_change_reason_names[]; /* "", "clock", "spread", ... */
extern const char *const ub_change_reason_texts[]; /* a sentence's part each */

/* A run against the first. Ratios are throughput new / old: above 1 the run is faster. */
struct ub_contrast {
    enum ub_change change;
    enum ub_change_reason because;
    bool by_work;                        /* the sizes differ: throughputs are compared, not times */
    bool from_summaries;                 /* the record has no samples: the interval is made from the medians' */
    double ratio, lo, hi;                /* of medians */
    double cycles, cycles_lo, cycles_hi; /* the same in SM cycles */
    double predicted;                    /* what the laws say */
    double shift;                        /* Hodges-Lehmann, as a ratio */
    double p, rate;                      /* Mann-Whitney; false discovery rate over all points of the run */
    double more_rounds;                  /* that would settle what is unsure; NaN: none, INFINITY: no number would */
};

struct ub_compared_point {
    size_t group;                  /* the first point of its rule and sweep */
    char *label;                   /* its axes that vary in its group: "stride=8 op=load"; owned */
    struct ub_side *sides;         /* one a run; owned by the comparison */
    struct ub_contrast *contrasts; /* one a run, that of the first is empty; owned */
};

struct ub_unmatched {
    size_t run;
    const struct ub_record_point *point;
    char *why; /* owned */
};

/* A constant of the laws of the rules compared, in each run. */
struct ub_compared_constant {
    const char *name, *unit;
    const struct ub_constant *values[UB_MAX_COMPARED]; /* NULL: that run has none */
};

/* A figure that others published, beside what the model says of the same card. */
struct ub_published_figure {
    const struct ub_record *record;
    const struct ub_record_point *point;
    const struct ub_record_metric *metric;
    double predicted, error;     /* error = predicted / published - 1 */
    struct ub_constant rests_on; /* the constant that the prediction depends on most; no name: none */
    size_t measured_by;          /* index of a run of the same card that measured it; SIZE_MAX: none */
    double measured;
    char why[160]; /* why there is no prediction, or "" */
};

struct ub_comparison {
    size_t run_count;
    struct ub_compared_run runs[UB_MAX_COMPARED]; /* without those of published figures */
    double margin, confidence;
    uint64_t seed;
    bool one_card; /* all runs are of cards of the same name */
    bool measured; /* some run is */
    bool tested;   /* some contrast is of two measured times */
    size_t point_count;
    struct ub_compared_point *points;
    struct ub_side *sides;         /* of all points */
    struct ub_contrast *contrasts; /* of all points */
    size_t unmatched_count;
    struct ub_unmatched *unmatched;
    size_t repeated_count; /* points that a run has more often than the other */
    size_t lost_count;     /* points that ended without a result in every run */
    size_t constant_count;
    struct ub_compared_constant constants[2 * UB_MAX_CONSTANTS];
    size_t published_count;
    struct ub_published_figure *published;
};

void ub_comparison_free(struct ub_comparison *comparison);

/* "A" is the first run, "B" the second. */
char ub_run_letter(size_t run);
/* The point of the first run: rule and sweep of a row are its. */
const struct ub_record_point *ub_compared_first(const struct ub_comparison *comparison, size_t index);

/* How many points of run `run` changed in each way; by_clock: of the slower ones, those
 * that are so by the clock alone. */
struct ub_change_counts {
    size_t changes[UB_CHANGES], by_clock;
};
void ub_change_count(const struct ub_comparison *comparison, size_t run, struct ub_change_counts *out);

/* Points of one rule and sweep are a group. Whether point `index` is the first of its. */
bool ub_compared_begins_group(const struct ub_comparison *comparison, size_t index);

/* What the ratios of several points come to. Means are geometric; NaN: no point has one. */
struct ub_spread {
    size_t points, ratios;
    double mean, least, most, predicted; /* predicted: mean of what the laws say */
    size_t changes[UB_CHANGES];
};
/* Of a run, over the group of point `first`; SIZE_MAX: over all points. */
void ub_compared_spread(const struct ub_comparison *comparison, size_t run, size_t first, struct ub_spread *out);

#endif
