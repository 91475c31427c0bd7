/* SPDX-License-Identifier: MIT
 *
 * The part of `check` that needs nothing but the samples of a point: its summary, which of
 * them were throttled, and the warnings that follow. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/engine/check_private.h"
#include "harness/engine/samples.h"
#include "harness/engine/stats.h"

/* ---- the summary ------------------------------------------------------------ */

/* What the summary does not depend on can still be impossible. */
static void check_possible(struct ub_checker *check)
{
    const struct ub_time *time = &check->point->time;
    if (time->batch < 1)
        ub_check_problem(check, "batch is %d: a sample has one launch at least", time->batch);
    for (size_t i = 0; i < time->n; i++)
        if (!isnan(time->samples[i].clock_mhz) && !(time->samples[i].clock_mhz > 0))
            ub_check_problem(check, "clock_mhz of sample %zu is %.12g: no clock stands still or runs backwards", i,
                             time->samples[i].clock_mhz);
}

static void check_summary(struct ub_checker *check, const struct ub_summary *s)
{
    const struct ub_time *time = &check->point->time;
    const struct ub_check_pair pairs[] = {
        {"median", time->median, s->median, 0}, {"ci_lo", time->ci_lo, s->ci_lo, 0},
        {"ci_hi", time->ci_hi, s->ci_hi, 0},    {"min", time->min, s->min, 0},
        {"p05", time->p05, s->p05, 0},          {"p95", time->p95, s->p95, 0},
        {"mad", time->mad, s->mad, s->median},  {"cv", time->cv, s->cv, 1},
        {"drift", time->drift, s->drift, 1},
    };
    ub_check_pairs(check, pairs, sizeof pairs / sizeof pairs[0], "from its samples");
    if (time->outliers != s->outliers)
        ub_check_problem(check, "outliers is %d in the record, %d from its samples", time->outliers, s->outliers);
}

/* ---- flags ------------------------------------------------------------------ */

/* At the limit itself, decimal text may have put a clock on the other side. */
static bool is_slow(double clock_mhz, double limit_mhz)
{
    return clock_mhz < limit_mhz && !ub_check_same(clock_mhz, limit_mhz, 0);
}

static bool is_at_most(double clock_mhz, double limit_mhz)
{
    return clock_mhz < limit_mhz || (!isnan(clock_mhz) && ub_check_same(clock_mhz, limit_mhz, 0));
}

/* By all clocks of the point, or by those before it, as its worker saw it. */
static bool may_be_throttled(const double *clocks_mhz, size_t i, double limit_mhz)
{
    return is_at_most(clocks_mhz[i], limit_mhz) ||
           (i >= UB_CLOCKS_NEED && is_at_most(clocks_mhz[i], ub_throttle_limit_mhz(clocks_mhz, i)));
}

/* Which samples are throttled follows from the clocks; `time` is left with those that are. Which
 * were measured again does not. */
static void check_flags(struct ub_checker *check, const double *clocks_mhz, struct ub_time *time)
{
    const double limit_mhz = ub_throttle_limit_mhz(clocks_mhz, time->n);
    for (size_t i = 0; i < time->n; i++) {
        const bool flagged = (time->samples[i].flags & UB_FLAG_THROTTLED) != 0;
        if (!flagged && is_slow(clocks_mhz[i], limit_mhz)) {
            ub_check_problem(check, "sample %zu lacks the flag throttled: its clock is %.12g MHz, under %.12g", i,
                             clocks_mhz[i], limit_mhz);
            time->samples[i].flags |= UB_FLAG_THROTTLED;
        } else if (flagged && !may_be_throttled(clocks_mhz, i, limit_mhz)) {
            ub_check_problem(check, "sample %zu is flagged throttled: its clock is %.12g MHz, not under %.12g", i,
                             clocks_mhz[i], limit_mhz);
            time->samples[i].flags &= ~(unsigned)UB_FLAG_THROTTLED;
        }
    }
}

/* ---- warnings --------------------------------------------------------------- */

static bool has_warning(const struct ub_checker *check, const char *code)
{
    const struct ub_record *record = check->record;
    const long index = (long)(check->point - record->points);
    for (size_t i = 0; i < record->warning_count; i++)
        if (record->warnings[i].point == index && ub_same_text(record->warnings[i].code, code))
            return true;
    return false;
}

static void check_warnings(struct ub_checker *check, const struct ub_time *time, const struct ub_summary *summary)
{
    struct ub_sample_warning warnings[UB_SAMPLE_WARNINGS];
    ub_sample_warnings(time, summary, warnings);
    for (size_t i = 0; i < UB_SAMPLE_WARNINGS; i++) {
        const bool there = has_warning(check, warnings[i].code);
        if (warnings[i].due && !there)
            ub_check_problem(check, "the record lacks the warning %s: %s", warnings[i].code, warnings[i].text);
        else if (!warnings[i].holds && there)
            ub_check_problem(check, "the record has the warning %s, its samples give none", warnings[i].code);
    }
}

/* ---- all of it -------------------------------------------------------------- */

/* `time` has samples of its own; `values` has room for one number of each. */
static void check_measured(struct ub_checker *check, struct ub_time *time, double *values)
{
    struct ub_summary summary;
    check_possible(check);
    for (size_t i = 0; i < time->n; i++)
        values[i] = time->samples[i].time_ns;
    ub_summarise(values, time->n, ub_tick_of(&check->record->constants, check->point), &summary);
    check_summary(check, &summary);
    for (size_t i = 0; i < time->n; i++)
        values[i] = time->samples[i].clock_mhz;
    check_flags(check, values, time);
    check_warnings(check, time, &summary);
}

void ub_check_samples(struct ub_checker *check)
{
    struct ub_time time = check->point->time;
    if (time.n == 0) {
        check_warnings(check, &time, &(struct ub_summary){0});
        return;
    }
    if (!time.samples)
        return; /* a page leaves them out */
    double *values = malloc(time.n * sizeof *values);
    time.samples = malloc(time.n * sizeof *time.samples);
    if (values && time.samples) {
        memcpy(time.samples, check->point->time.samples, time.n * sizeof *time.samples);
        check_measured(check, &time, values);
    } else {
        ub_check_problem(check, "its samples were not checked: out of memory");
    }
    free(time.samples);
    free(values);
}
