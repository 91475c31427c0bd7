/* SPDX-License-Identifier: MIT
 *
 * One axis of a panel: its range, its ticks and where a value lies on it. Pure. */
#ifndef UB_PLOTS_SCALE_H
#define UB_PLOTS_SCALE_H

#include <stdbool.h>
#include <stddef.h>

enum { UB_MAX_TICKS = 64 };

enum ub_scale_kind { UB_SCALE_LINEAR, UB_SCALE_LOG2, UB_SCALE_CATEGORY };

struct ub_tick {
    double at;
    char label[48];
};

struct ub_scale {
    enum ub_scale_kind kind;
    double lo, hi; /* drawn range */
    size_t tick_count;
    struct ub_tick ticks[UB_MAX_TICKS];
};

/* "512", "0.25", "1e+12": a plain number of few digits. */
void ub_number_text(double value, char *text, size_t size);

/* Where `value` lies: 0 at lo, 1 at hi. */
double ub_scale_fraction(const struct ub_scale *scale, double value);
/* And back: the value at a fraction. */
double ub_scale_value(const struct ub_scale *scale, double fraction);

/* A linear axis over min..max with at most `ticks` ticks at round values. `whole`: only
 * integers. pad_lo and pad_hi widen the range, in shares of it. */
void ub_scale_linear(struct ub_scale *scale, double min, double max, double pad_lo, double pad_hi, size_t ticks,
                     bool whole);
/* Log2, ticks at powers of two. min > 0. */
void ub_scale_log2(struct ub_scale *scale, double min, double max, double pad_lo, double pad_hi, size_t ticks);
/* 0 .. count-1, half a step of room either side, no ticks. */
void ub_scale_category(struct ub_scale *scale, size_t count);

/* Appends a tick; one that the table has no room for is left out. */
void ub_scale_tick(struct ub_scale *scale, double at, const char *label);

#endif
