/* SPDX-License-Identifier: MIT */
#include "harness/contract/comparison.h"

#include <math.h>
#include <stdlib.h>

const char *const ub_change_names[] = {"not-tested", "same", "faster", "slower", "unsure", NULL};

const char *const ub_change_reason_names[] = {"",       "clock", "spread",  "few-samples", "host",  "predicted",
                                              "absent", "zero",  "no-time", "timer",       "sizes", NULL};

const char *const ub_change_reason_texts[] = {
    "",
    "the clock: as many cycles as before",
    "the interval is too wide",
    "fewer than 6 samples have no interval",
    "the host's times scatter as much, and differ from process to process",
    "predicted, nothing to test",
    "not in this run",
    "a time of zero",
    "no time",
    "timed in different ways",
    "of different sizes",
    NULL,
};

void ub_comparison_free(struct ub_comparison *comparison)
{
    for (size_t i = 0; i < comparison->unmatched_count; i++)
        free(comparison->unmatched[i].why);
    free(comparison->unmatched);
    for (size_t i = 0; i < comparison->point_count; i++)
        free(comparison->points[i].label);
    free(comparison->points);
    free(comparison->sides);
    free(comparison->contrasts);
    free(comparison->published);
    *comparison = (struct ub_comparison){0};
}

char ub_run_letter(size_t run)
{
    return (char)('A' + run);
}

const struct ub_record_point *ub_compared_first(const struct ub_comparison *comparison, size_t index)
{
    return comparison->points[index].sides[0].point;
}

void ub_change_count(const struct ub_comparison *comparison, size_t run, struct ub_change_counts *out)
{
    *out = (struct ub_change_counts){0};
    for (size_t i = 0; i < comparison->point_count; i++) {
        const struct ub_contrast *contrast = &comparison->points[i].contrasts[run];
        out->changes[contrast->change]++;
        out->by_clock += contrast->change == UB_CHANGE_SLOWER && contrast->because == UB_BECAUSE_CLOCK;
    }
}

/* ---- groups ---------------------------------------------------------------- */

bool ub_compared_begins_group(const struct ub_comparison *comparison, size_t index)
{
    return comparison->points[index].group == index;
}

static bool is_ratio(double value)
{
    return value > 0 && isfinite(value);
}

void ub_compared_spread(const struct ub_comparison *comparison, size_t run, size_t first, struct ub_spread *out)
{
    double logs = 0, predicted_logs = 0;
    size_t predictions = 0;
    *out = (struct ub_spread){.mean = NAN, .least = NAN, .most = NAN, .predicted = NAN};
    for (size_t i = 0; i < comparison->point_count; i++) {
        const struct ub_contrast *contrast = &comparison->points[i].contrasts[run];
        if (first != SIZE_MAX && comparison->points[i].group != comparison->points[first].group)
            continue;
        out->points++;
        out->changes[contrast->change]++;
        if (is_ratio(contrast->predicted)) {
            predicted_logs += log(contrast->predicted);
            predictions++;
        }
        if (!is_ratio(contrast->ratio))
            continue;
        logs += log(contrast->ratio);
        out->ratios++;
        out->least = fmin(out->least, contrast->ratio); /* fmin passes a NaN over */
        out->most = fmax(out->most, contrast->ratio);
    }
    if (out->ratios)
        out->mean = exp(logs / (double)out->ratios);
    if (predictions)
        out->predicted = exp(predicted_logs / (double)predictions);
}
