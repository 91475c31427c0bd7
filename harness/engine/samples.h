/* SPDX-License-Identifier: MIT
 *
 * What the samples of one point say of themselves: which had a slow clock, and what a
 * reader has to be warned of. Pure; the run writes it, `check` finds it again. */
#ifndef UB_ENGINE_SAMPLES_H
#define UB_ENGINE_SAMPLES_H

#include "harness/contract/record.h"
#include "harness/engine/stats.h"

/* So many samples a worker has before it calls the clock of the next one slow. */
enum { UB_CLOCKS_NEED = 5 };

/* The SM clock under which a sample is throttled, from those of samples (NaN: not stamped).
 * NaN: none was stamped, or there is no memory. */
double ub_throttle_limit_mhz(const double *clocks_mhz, size_t count);

/* Flags the samples whose clock is under the limit of all. */
void ub_flag_throttled(struct ub_time *time);

/* A warning that follows from a point's own samples. */
struct ub_sample_warning {
    const char *code; /* "outliers" */
    bool due;         /* a run gives it */
    bool holds;       /* it is true: it may be there */
    char text[160];
};
enum { UB_SAMPLE_WARNINGS = 3 };

/* All kinds there are, due or not, from flags and summary. */
void ub_sample_warnings(const struct ub_time *time, const struct ub_summary *summary,
                        struct ub_sample_warning warnings[UB_SAMPLE_WARNINGS]);

#endif
