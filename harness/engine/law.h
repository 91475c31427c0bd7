/* SPDX-License-Identifier: MIT
 *
 * Prediction against measurement. Pure. */
#ifndef UB_ENGINE_LAW_H
#define UB_ENGINE_LAW_H

#include "harness/contract/record.h"

/* Puts what the rule predicts into the point: predicted counters (with class,
 * tolerance, reason), time terms, predicted metrics, level. */
void ub_law_apply(const struct ub_micro *micro, const struct ub_gpu *gpu, const struct ub_constants *constants,
                  const struct ub_point *point, struct ub_record_point *record);

/* Whether a point ran on pageable memory though it asks for pinned (its warning says so): it
 * tests no law of time, and what it measures is no constant. */
bool ub_law_excepts(const struct ub_record *record, size_t index);
/* Takes back what an applied law says of the time of point `index` where the record has a
 * warning of it that another launch ran than the law is of ("not-pinned"). */
void ub_law_except(const struct ub_record *record, size_t index, struct ub_record_point *point);

/* Derives the metrics of a measured point from what was measured (a predicted
 * record: from the prediction), and sets both verdicts. Structural counters must
 * be equal; sass ones too, unless the code was compiled at load time (`jit`: then
 * they are not tested); estimates within their tolerance do not count as broken,
 * outside they are reported by a warning, never as a broken law. */
void ub_law_judge(const struct ub_micro *micro, const struct ub_gpu *gpu, const struct ub_constants *constants,
                  const struct ub_point *point, bool jit, enum ub_source source, struct ub_record_point *record);

/* The parts of the judgement that need no rule, only what stands in the record.
 * Exact: structural, and sass where the code was not compiled at load time. */
bool ub_counter_is_exact(const struct ub_record_counter *counter, bool jit);
enum ub_counter_verdict ub_counter_verdict_of(const struct ub_record_point *record, bool jit);
enum ub_time_verdict ub_time_verdict_of(const struct ub_record_point *record); /* from residual and tolerance */

/* The tick that the interval of a point's time is widened by, ns per launch: that of the
 * record's events over the launches of a sample. 0: the timer has none, or it is not known. */
double ub_tick_of(const struct ub_constants *constants, const struct ub_record_point *point);

/* What a point measured of a constant that its rule provides, with interval and origin.
 * False: the point has no value of that metric. */
bool ub_constant_of(const struct ub_micro *micro, const struct ub_gpu *gpu, const struct ub_constants *constants,
                    const struct ub_provides *provides, const struct ub_point *point, const struct ub_time *time,
                    struct ub_constant *out);

/* The unit of a counter key; NULL: no such key (a raw metric name). */
const char *ub_counter_unit(const char *key);
/* Equal strings, or both absent. */
bool ub_same_text(const char *a, const char *b);

/* Adds a warning ("estimate") for each estimate of a judged point that lies
 * outside its tolerance. */
void ub_law_warn_estimates(struct ub_record *record, size_t index);

/* The point of a record as values of the rule's axes; false: the record has an axis
 * or a word that the rule lacks. */
bool ub_point_from_record(const struct ub_micro *micro, const struct ub_record_point *record, struct ub_point *out,
                          struct ub_error *err);

/* Recomputes every law of a saved record from its own device and constants, and
 * compares. Each problem is one call of `report` with one line that begins with
 * the point's label; returns their number. Problems: an exact counter whose measured
 * value is not the recomputed prediction; a stored prediction that differs from the
 * recomputed one; a stored verdict, summary (median, interval), metric or constant that
 * the record's own data contradict; a flag (throttled) or a warning of samples that they do not
 * bear out, or lack; another timer, footprint or useful bytes than the rule's; a counter without
 * value and reason where others were read; a measured value in a predicted record, at a point
 * that failed or was skipped, or in a run without counters. Doubles may differ by 1e-9.
 * A point of a rule, an axis or a word that this build lacks is untestable: its
 * summary and verdicts are checked from the record alone, its law is not. */
struct ub_check_counts {
    size_t points;
    size_t counters; /* exact counters compared with the recomputed law */
    size_t broken;   /* of those, the ones that differ */
    size_t
        refuted; /* problems by which the card contradicts a law (the broken ones among them), not the record itself */
    size_t holding;    /* points whose time is within the law's tolerance */
    size_t deviating;  /* points whose time is not (a fact, no problem) */
    size_t not_tested; /* points without any exact counter compared */
    size_t uncounted;  /* exact counters that the law predicts, of points that ran, and nobody measured */
    size_t estimates;  /* estimated counters outside their tolerance (a fact, no problem) */
    size_t untestable; /* points that this build cannot recompute */
    char why[256];     /* why the first of those cannot be */
};
typedef void (*ub_check_report)(void *user, const char *text);
size_t ub_check_record(const struct ub_record *record, struct ub_check_counts *counts, ub_check_report report,
                       void *user);
/* The same of the points of one rule, and of the constants, on which all rest. */
size_t ub_check_rule(const struct ub_record *record, const char *rule, struct ub_check_counts *counts,
                     ub_check_report report, void *user);

/* The GPU that a record is about: by slug, else from its attributes. */
void ub_gpu_of_record(const struct ub_record *record, struct ub_gpu *out);

#endif
