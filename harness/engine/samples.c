/* SPDX-License-Identifier: MIT */
#include "harness/engine/samples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double throttle_share = 0.95; /* of the median clock */

/* Fewer samples of one mode often have such a gap: of 5574 points with ten samples each on an
 * H200, 373 had one. */
enum { MODES_NEED = 20 };

double ub_throttle_limit_mhz(const double *clocks_mhz, size_t count)
{
    double *stamped = malloc((count + 1) * sizeof *stamped);
    size_t n = 0;
    for (size_t i = 0; stamped && i < count; i++)
        if (!isnan(clocks_mhz[i]))
            stamped[n++] = clocks_mhz[i];
    const double limit_mhz = n > 0 ? throttle_share * ub_median(stamped, n) : NAN;
    free(stamped);
    return limit_mhz;
}

/* A worker flags a slow clock against the samples before it; here all are known, so the
 * first few are judged as well. */
void ub_flag_throttled(struct ub_time *time)
{
    double *clocks_mhz = malloc((time->n + 1) * sizeof *clocks_mhz);
    for (size_t i = 0; clocks_mhz && i < time->n; i++)
        clocks_mhz[i] = time->samples[i].clock_mhz;
    const double limit_mhz = clocks_mhz ? ub_throttle_limit_mhz(clocks_mhz, time->n) : NAN;
    for (size_t i = 0; i < time->n; i++)
        if (time->samples[i].clock_mhz < limit_mhz)
            time->samples[i].flags |= UB_FLAG_THROTTLED;
    free(clocks_mhz);
}

void ub_sample_warnings(const struct ub_time *time, const struct ub_summary *summary,
                        struct ub_sample_warning warnings[UB_SAMPLE_WARNINGS])
{
    struct ub_sample_warning *clock = &warnings[0], *modes = &warnings[1], *outliers = &warnings[2];
    const bool many = summary->outliers * 10 > (int)time->n;
    int throttled = 0;
    for (size_t i = 0; i < time->n; i++)
        throttled += (time->samples[i].flags & UB_FLAG_THROTTLED) != 0;
    *clock = (struct ub_sample_warning){.code = "unstable-clock", .due = throttled > 0, .holds = throttled > 0};
    snprintf(clock->text, sizeof clock->text,
             "%d of %zu samples had an SM clock more than 5 %% under the point's median", throttled, time->n);
    *modes = (struct ub_sample_warning){
        .code = "two-modes", .due = summary->two_modes && time->n >= MODES_NEED, .holds = summary->two_modes};
    snprintf(modes->text, sizeof modes->text, "the samples fall into two groups, round %.6g and %.6g ns",
             summary->mode_low, summary->mode_high);
    *outliers = (struct ub_sample_warning){.code = "outliers", .due = many, .holds = many};
    snprintf(outliers->text, sizeof outliers->text, "%d of %zu samples are far from the median", summary->outliers,
             time->n);
}
