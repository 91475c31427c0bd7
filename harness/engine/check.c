/* SPDX-License-Identifier: MIT
 *
 * A saved record is believed only as far as it can be computed again: every law
 * from the record's own device and constants, every summary from its samples,
 * every verdict and metric from both. The recomputation is the code that wrote the
 * record (ub_law_apply, ub_law_judge) on a fresh point that holds only what was
 * measured; whatever differs is named with its point. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/engine/law.h"
#include "harness/engine/plan.h"
#include "harness/engine/stats.h"
#include "harness/model/gpu.h"

/* Doubles go through decimal text; what they are computed from is exact. */
static const double tolerance = 1e-9;

struct checker {
    const struct ub_record *record;
    const struct ub_record_point *point; /* the one being checked; NULL: none, but the run */
    struct ub_gpu gpu;
    bool jit;
    struct ub_check_counts *counts;
    ub_check_report report;
    void *user;
    size_t problems;
};

static void UB_PRINTF(2, 3) problem(struct checker *check, const char *format, ...)
{
    char label[512] = "constants", what[1024], text[sizeof label + sizeof what + 2];
    if (check->point)
        ub_point_label(check->point, label, sizeof label);
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    snprintf(text, sizeof text, "%s: %s", label, what);
    check->report(check->user, text);
    check->problems++;
}

/* `scale` is the size that an error is relative to, where the value itself may be near 0. */
static bool same_within(double a, double b, double scale)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    return a == b || fabs(a - b) <= tolerance * fmax(scale, fmax(fabs(a), fabs(b)));
}

static const char *text_or_null(const char *text)
{
    return text ? text : "null";
}

struct pair {
    const char *name;
    double stored, computed, scale;
};

static void compare_pairs(struct checker *check, const struct pair *pairs, size_t count, const char *computed_from)
{
    for (size_t i = 0; i < count; i++)
        if (!same_within(pairs[i].stored, pairs[i].computed, pairs[i].scale))
            problem(check, "%s is %.12g in the record, %.12g %s", pairs[i].name, pairs[i].stored, pairs[i].computed,
                    computed_from);
}

/* ---- the summary from its samples ---------------------------------------- */

/* What the summary does not depend on can still be impossible. */
static void check_samples(struct checker *check)
{
    const struct ub_time *time = &check->point->time;
    if (time->batch < 1)
        problem(check, "batch is %d: a sample has one launch at least", time->batch);
    for (size_t i = 0; i < time->n; i++)
        if (!isnan(time->samples[i].clock_mhz) && !(time->samples[i].clock_mhz > 0))
            problem(check, "clock_mhz of sample %zu is %.12g: no clock stands still or runs backwards", i,
                    time->samples[i].clock_mhz);
}

static void check_summary(struct checker *check)
{
    const struct ub_time *time = &check->point->time;
    if (time->n == 0 || !time->samples)
        return;
    double *values = malloc(time->n * sizeof *values);
    if (!values) {
        problem(check, "its summary was not checked: out of memory");
        return;
    }
    check_samples(check);
    for (size_t i = 0; i < time->n; i++)
        values[i] = time->samples[i].time_ns;
    struct ub_summary s;
    ub_summarise(values, time->n, ub_tick_of(&check->record->constants, check->point), &s);
    free(values);
    const struct pair pairs[] = {
        {"median", time->median, s.median, 0}, {"ci_lo", time->ci_lo, s.ci_lo, 0}, {"ci_hi", time->ci_hi, s.ci_hi, 0},
        {"min", time->min, s.min, 0},          {"p05", time->p05, s.p05, 0},       {"p95", time->p95, s.p95, 0},
        {"mad", time->mad, s.mad, s.median},   {"cv", time->cv, s.cv, 1},          {"drift", time->drift, s.drift, 1},
    };
    compare_pairs(check, pairs, sizeof pairs / sizeof pairs[0], "from its samples");
    if (time->outliers != s.outliers)
        problem(check, "outliers is %d in the record, %d from its samples", time->outliers, s.outliers);
}

/* ---- verdicts ------------------------------------------------------------ */

static void compare_verdicts(struct checker *check, const struct ub_record_point *computed)
{
    const struct ub_record_point *stored = check->point;
    const struct pair residual = {"residual", stored->residual, computed->residual, 1};
    compare_pairs(check, &residual, 1, "from its own time and prediction");
    if (stored->counter_verdict != computed->counter_verdict)
        problem(check, "the verdict on counters is \"%s\" in the record, \"%s\" by its values",
                ub_counter_verdict_names[stored->counter_verdict], ub_counter_verdict_names[computed->counter_verdict]);
    if (stored->time_verdict != computed->time_verdict)
        problem(check, "the verdict on time is \"%s\" in the record, \"%s\" by its values",
                ub_time_verdict_names[stored->time_verdict], ub_time_verdict_names[computed->time_verdict]);
}

static bool is_judged(const struct checker *check)
{
    return check->record->source != UB_PREDICTED && check->point->status != UB_POINT_SKIPPED &&
           check->point->status != UB_POINT_FAILED;
}

/* Of a point that no law of this build covers: what its own values say. */
static void check_without_law(struct checker *check)
{
    struct ub_record_point computed = *check->point;
    computed.residual = NAN;
    computed.counter_verdict = UB_COUNTERS_NOT_TESTED;
    computed.time_verdict = UB_TIME_NOT_TESTED;
    if (is_judged(check)) {
        if (computed.predicted_ns > 0)
            computed.residual = computed.time.median / computed.predicted_ns - 1;
        computed.counter_verdict = ub_counter_verdict_of(&computed, check->jit);
        computed.time_verdict = ub_time_verdict_of(&computed);
    }
    compare_verdicts(check, &computed);
}

/* ---- the law again ------------------------------------------------------- */

/* What was measured, without what was said of it. False: out of memory. */
static bool copy_measured(const struct ub_record_point *stored, struct ub_record_point *fresh)
{
    ub_record_point_init(fresh);
    fresh->status = stored->status;
    fresh->has_static = stored->has_static;
    fresh->static_ = stored->static_;
    fresh->time = stored->time;
    fresh->time.samples = NULL; /* those are the record's: a copy */
    if (stored->time.samples) {
        fresh->time.samples = malloc((stored->time.n + 1) * sizeof *stored->time.samples);
        if (!fresh->time.samples)
            return false;
        memcpy(fresh->time.samples, stored->time.samples, stored->time.n * sizeof *stored->time.samples);
    }
    for (size_t i = 0; i < stored->counter_count; i++) {
        const struct ub_record_counter *from = &stored->counters[i];
        struct ub_record_counter *to = ub_point_add_counter(fresh, from->key, from->unit);
        if (!to)
            return false;
        to->has_measured = from->has_measured;
        to->measured = from->measured;
    }
    return true;
}

static bool has_predictions(const struct ub_record_point *point)
{
    bool any = !isnan(point->predicted_ns);
    for (size_t i = 0; i < point->counter_count; i++)
        any = any || point->counters[i].has_predicted;
    return any;
}

static void compare_prediction(struct checker *check, const struct ub_record_counter *stored,
                               const struct ub_record_counter *fresh)
{
    if (!stored->has_predicted && fresh->has_predicted)
        problem(check, "%s has no prediction in the record, the law says %" PRIu64, fresh->key, fresh->predicted);
    else if (stored->has_predicted && !fresh->has_predicted)
        problem(check, "%s is predicted as %" PRIu64 " in the record, the law predicts none", fresh->key,
                stored->predicted);
    else if (stored->predicted != fresh->predicted && fresh->has_predicted)
        problem(check, "%s is predicted as %" PRIu64 " in the record, the law says %" PRIu64, fresh->key,
                stored->predicted, fresh->predicted);
    if (stored->class_ != fresh->class_)
        problem(check, "%s is of class %s in the record, of class %s by the law", fresh->key,
                ub_class_names[stored->class_], ub_class_names[fresh->class_]);
    const struct pair allowed = {"tolerance", stored->tolerance, fresh->tolerance, 0};
    if (fresh->class_ == UB_ESTIMATE && fresh->has_predicted)
        compare_pairs(check, &allowed, 1, "by the law");
}

/* Returns whether the counter could prove or break the law. */
static bool test_measured(struct checker *check, const struct ub_record_counter *fresh)
{
    check->counts->estimates += ub_estimate_deviates(fresh);
    if (!fresh->has_measured || !fresh->has_predicted || !ub_counter_is_exact(fresh, check->jit))
        return false;
    check->counts->counters++;
    if (fresh->measured != fresh->predicted) {
        check->counts->broken++;
        check->counts->refuted++;
        problem(check, "%s measured %" PRIu64 ", the law says %" PRIu64, fresh->key, fresh->measured, fresh->predicted);
    }
    return true;
}

static bool is_uncounted(const struct checker *check, const struct ub_record_counter *fresh)
{
    return check->point->status == UB_POINT_OK && fresh->has_predicted && !fresh->has_measured &&
           ub_counter_is_exact(fresh, check->jit);
}

/* A fresh point holds the counters of the record and then those that only the law has. */
static void compare_counters(struct checker *check, const struct ub_record_point *fresh, bool predictions)
{
    bool tested = false;
    for (size_t i = 0; i < fresh->counter_count; i++) {
        const struct ub_record_counter *now = &fresh->counters[i];
        const struct ub_record_counter *stored = ub_point_counter(check->point, now->key);
        check->counts->uncounted += is_uncounted(check, now);
        if (!stored && predictions && now->has_predicted)
            problem(check, "the record lacks the counter %s, the law says %" PRIu64, now->key, now->predicted);
        if (!stored)
            continue;
        if (predictions)
            compare_prediction(check, stored, now);
        if (is_judged(check) && test_measured(check, now))
            tested = true;
    }
    if (!tested)
        check->counts->not_tested++;
}

static void compare_metrics(struct checker *check, const char *kind, const struct ub_record_metric *fresh, size_t count,
                            const struct ub_record_metric *(*find)(const struct ub_record_point *, const char *))
{
    for (size_t i = 0; i < count; i++) {
        const struct ub_record_metric *stored = find(check->point, fresh[i].key);
        const double value = stored ? stored->value : NAN;
        if (!same_within(value, fresh[i].value, 0))
            problem(check, "%s %s is %.12g in the record, %.12g recomputed", kind, fresh[i].key, value, fresh[i].value);
    }
}

static void compare_terms(struct checker *check, const struct ub_record_point *fresh)
{
    const struct ub_record_point *stored = check->point;
    if (stored->term_count != fresh->term_count)
        problem(check, "the record has %zu terms of time, the law %zu", stored->term_count, fresh->term_count);
    for (size_t i = 0; i < stored->term_count && i < fresh->term_count; i++)
        if (!ub_same_text(stored->terms[i].name, fresh->terms[i].name) ||
            !same_within(stored->terms[i].time_ns, fresh->terms[i].time_ns, 0))
            problem(check, "the term %s is %.12g ns in the record, the law says %s %.12g ns", stored->terms[i].name,
                    stored->terms[i].time_ns, fresh->terms[i].name, fresh->terms[i].time_ns);
}

static void compare_time_law(struct checker *check, const struct ub_record_point *fresh)
{
    const struct ub_record_point *stored = check->point;
    const struct pair pairs[] = {
        {"predicted_ns", stored->predicted_ns, fresh->predicted_ns, 0},
        {"the tolerance of time", stored->time_tolerance, fresh->time_tolerance, 0},
    };
    compare_pairs(check, pairs, sizeof pairs / sizeof pairs[0], "by the law");
    compare_terms(check, fresh);
    const struct {
        const char *name, *stored, *fresh;
    } words[] = {{"the bottleneck", stored->bottleneck, fresh->bottleneck}, {"the level", stored->level, fresh->level}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!ub_same_text(words[i].stored, words[i].fresh))
            problem(check, "%s is %s in the record, %s by the law", words[i].name, text_or_null(words[i].stored),
                    text_or_null(words[i].fresh));
}

static void check_law(struct checker *check, const struct ub_micro *micro, const struct ub_point *point)
{
    const struct ub_record *record = check->record;
    struct ub_record_point fresh;
    if (!copy_measured(check->point, &fresh)) {
        problem(check, "was not checked: out of memory");
        ub_record_point_free(&fresh);
        return;
    }
    ub_law_apply(micro, &check->gpu, &record->constants, point, &fresh);
    ub_law_except(record, (size_t)(check->point - record->points), &fresh);
    ub_law_judge(micro, &check->gpu, &record->constants, point, check->jit, record->source, &fresh);
    /* A point that never ran may have been left without predictions. */
    const bool predictions = check->point->status == UB_POINT_OK || has_predictions(check->point);
    compare_counters(check, &fresh, predictions);
    if (predictions) {
        compare_time_law(check, &fresh);
        compare_metrics(check, "the predicted", fresh.predicted_metrics, fresh.predicted_metric_count,
                        ub_point_predicted_metric);
        compare_metrics(check, "the", fresh.metrics, fresh.metric_count, ub_point_metric);
        compare_verdicts(check, &fresh);
    } else {
        check_without_law(check);
    }
    if (!check->jit && ub_resident_differs(&fresh)) {
        check->counts->refuted++;
        problem(check, "the driver says that an SM holds %d blocks, the law says %.12g", fresh.static_.resident_blocks,
                ub_point_predicted_metric(&fresh, "resident_blocks")->value);
    }
    check->counts->holding += fresh.time_verdict == UB_TIME_HOLDS;
    check->counts->deviating += fresh.time_verdict == UB_TIME_DEVIATES;
    ub_record_point_free(&fresh);
}

/* Whether a reason names the error: "refused: NAME (1), as the law says", "refused: NAME, ..." */
static bool names(const char *reason, const char *error)
{
    const size_t length = strlen(error);
    return strncmp(reason, error, length) == 0 && strchr(" ,", reason[length]) != NULL;
}

/* A launch that the card must refuse has no values, only its reason, which names the error
 * (engine/worker.c, ub_task_refused). */
static void check_refusal(struct checker *check, const struct ub_micro *micro, const struct ub_point *point)
{
    static const char mark[] = "refused: ";
    const struct ub_record_point *stored = check->point;
    const char *law = micro->refusal ? micro->refusal(&check->gpu, point) : NULL;
    const char *reason = stored->reason ? stored->reason : "";
    const bool refused = stored->status == UB_POINT_SKIPPED && strncmp(reason, mark, strlen(mark)) == 0;
    if (law && stored->status == UB_POINT_OK && check->record->source != UB_PREDICTED) {
        check->counts->refuted++;
        problem(check, "was launched, but the law says that %s refuses it", law);
    } else if (refused && !law)
        problem(check, "is \"%s\", but the law says that it is launched", reason);
    else if (refused && !names(reason + strlen(mark), law))
        problem(check, "is \"%s\", but the law names %s", reason, law);
}

/* A kernel that is wrong on purpose has no time: its answers are not to be had. */
static void check_mistake(struct checker *check, const struct ub_micro *micro, const struct ub_point *point)
{
    const char *mistake = micro->mistake ? micro->mistake(&check->gpu, point) : NULL;
    if (mistake && check->point->status == UB_POINT_OK)
        problem(check, "has values, but its kernel is wrong on purpose (%s)", mistake);
}

/* ---- timelines ------------------------------------------------------------ */

/* A stream does one thing after the other; the events that say so tick in half microseconds. */
static void check_order(struct checker *check)
{
    static const double tick_ns = 1000;
    double ends_ns[UB_MAX_TIMELINE_STREAMS + 1] = {0};
    for (size_t i = 0; i < check->point->span_count; i++) {
        const struct ub_span *span = &check->point->spans[i];
        double *end_ns = &ends_ns[span->stream - UB_DEFAULT_STREAM];
        if (span->begin_ns < *end_ns - tick_ns) {
            problem(check,
                    "operation %zu of its timeline begins at %.12g ns, before the one ahead of it in its stream "
                    "has ended (%.12g ns)",
                    i, span->begin_ns, *end_ns);
            return;
        }
        *end_ns = fmax(*end_ns, span->end_ns);
    }
}

/* What the law says, where it stands in the place of timestamps. */
static bool same_operation(const struct ub_span *a, const struct ub_span *b)
{
    return a->stream == b->stream && a->segment == b->segment && strcmp(a->stage, b->stage) == 0;
}

/* Takes one such operation out of the law's; false: it has none left. */
static bool take_operation(struct ub_timeline *law, const struct ub_span *span)
{
    for (size_t i = 0; i < law->count; i++)
        if (same_operation(&law->spans[i], span)) {
            law->spans[i] = law->spans[--law->count];
            return true;
        }
    return false;
}

/* A measured timeline has the operations of the law, each once; when they ran is the card's
 * affair (docs/method.md). */
static void check_measured_timeline(struct checker *check, const struct ub_micro *micro, const struct ub_point *point)
{
    const struct ub_record_point *stored = check->point;
    struct ub_timeline *law = calloc(1, sizeof *law);
    if (law && micro->timeline)
        micro->timeline(&check->gpu, &check->record->constants, point, law);
    const size_t wanted = law ? law->count : 0;
    bool known = true;
    for (size_t i = 0; i < stored->span_count; i++)
        known = known && law && take_operation(law, &stored->spans[i]);
    if (!law)
        problem(check, "its timeline was not checked: out of memory");
    else if (!micro->timeline)
        problem(check, "has a timeline, and %s has none", micro->name);
    else if (wanted > 0 && (!known || law->count > 0))
        problem(check, "its timeline has other operations than the launch of the law");
    free(law);
}

static void check_predicted_timeline(struct checker *check, const struct ub_micro *micro, const struct ub_point *point)
{
    const struct ub_record_point *stored = check->point;
    struct ub_timeline *law = calloc(1, sizeof *law);
    if (law && micro->timeline)
        micro->timeline(&check->gpu, &check->record->constants, point, law);
    if (!law)
        problem(check, "its timeline was not checked: out of memory");
    else if (stored->span_count != law->count)
        problem(check, "its timeline has %zu operations, by the law %zu", stored->span_count, law->count);
    for (size_t i = 0; law && stored->span_count == law->count && i < law->count; i++) {
        const struct ub_span *a = &stored->spans[i], *b = &law->spans[i];
        if (!same_operation(a, b) || !same_within(a->begin_ns, b->begin_ns, b->end_ns) ||
            !same_within(a->end_ns, b->end_ns, b->end_ns)) {
            problem(check, "operation %zu of its timeline is not what the law says", i);
            break;
        }
    }
    free(law);
}

/* ---- one point, all points ----------------------------------------------- */

static void check_unmeasured(struct checker *check)
{
    if (check->point->time.n > 0)
        problem(check, "has a measured time in a predicted record");
    for (size_t i = 0; i < check->point->counter_count; i++)
        if (check->point->counters[i].has_measured)
            problem(check, "%s is measured in a predicted record", check->point->counters[i].key);
}

/* A point that did not run to its end has a reason, and no values. */
static void check_failed(struct checker *check)
{
    const struct ub_record_point *point = check->point;
    const char *status = ub_status_names[point->status];
    if (point->time.n > 0)
        problem(check, "is %s, yet it has a measured time", status);
    if (point->metric_count > 0)
        problem(check, "is %s, yet it has the metric %s", status, point->metrics[0].key);
    for (size_t i = 0; i < point->counter_count; i++)
        if (point->counters[i].has_measured)
            problem(check, "is %s, yet %s is measured", status, point->counters[i].key);
}

static const struct ub_micro *micro_of(const struct ub_record_point *point, struct ub_error *err)
{
    const struct ub_entry *entry = point->rule ? ub_registry_find(point->rule, NULL) : NULL;
    if (!entry)
        ub_fail(err, UB_BAD_DATA, "this build has no rule \"%s\"", text_or_null(point->rule));
    return entry ? entry->micro : NULL;
}

/* The card of a prediction is a row of the table; one from a file is not in the record. */
static bool has_card(const struct ub_record *record, struct ub_error *err)
{
    if (record->source != UB_PREDICTED || (record->device.slug && ub_gpu_find(record->device.slug)))
        return true;
    return ub_fail(err, UB_BAD_DATA, "its card came from a file (--device model:FILE), which the record does not hold");
}

/* A figure of others proves no law; but it must be of a point and a metric that the rule has. */
static void check_figure(struct checker *check)
{
    struct ub_error why = {0};
    struct ub_point point;
    const struct ub_micro *micro = micro_of(check->point, &why);
    if (!micro || !ub_point_from_record(micro, check->point, &point, &why)) {
        if (check->counts->untestable++ == 0)
            snprintf(check->counts->why, sizeof check->counts->why, "%.255s", why.text);
        return;
    }
    for (size_t i = 0; i < check->point->metric_count; i++) {
        const char *key = check->point->metrics[i].key;
        size_t known = 0;
        while (known < micro->metric_count && strcmp(micro->metric_keys[known], key) != 0)
            known++;
        if (known == micro->metric_count)
            problem(check, "%s has no metric \"%s\"", micro->name, key);
    }
}

static void check_point(struct checker *check)
{
    if (check->record->source == UB_PUBLISHED) {
        check_figure(check);
        return;
    }
    check_summary(check);
    check_order(check);
    if (check->record->source == UB_PREDICTED)
        check_unmeasured(check);
    else if (check->point->status == UB_POINT_FAILED || check->point->status == UB_POINT_SKIPPED)
        check_failed(check);
    struct ub_error why = {0};
    struct ub_point point;
    const struct ub_micro *micro = has_card(check->record, &why) ? micro_of(check->point, &why) : NULL;
    if (micro && ub_point_from_record(micro, check->point, &point, &why)) {
        check_law(check, micro, &point);
        check_refusal(check, micro, &point);
        check_mistake(check, micro, &point);
        if (check->record->source == UB_PREDICTED && check->point->status == UB_POINT_OK)
            check_predicted_timeline(check, micro, &point);
        else if (check->record->source == UB_MEASURED && check->point->span_count > 0)
            check_measured_timeline(check, micro, &point);
        return;
    }
    if (check->counts->untestable++ == 0)
        snprintf(check->counts->why, sizeof check->counts->why, "%.255s", why.text);
    check_without_law(check);
}

/* ---- constants ----------------------------------------------------------- */

/* The point of the record that measured a constant; NULL: none did. */
static const struct ub_record_point *point_of_constant(const struct ub_record *record, const struct ub_micro *micro,
                                                       const struct ub_point *wanted)
{
    for (size_t i = 0; i < record->point_count; i++) {
        const struct ub_record_point *point = &record->points[i];
        struct ub_point values;
        if (point->status == UB_POINT_OK && point->time.n > 0 && ub_same_text(point->sweep, "ceiling") &&
            ub_same_text(point->rule, micro->name) && !ub_law_excepts(record, i) &&
            ub_point_from_record(micro, point, &values, NULL) &&
            memcmp(values.values, wanted->values, micro->axis_count * sizeof values.values[0]) == 0)
            return point;
    }
    return NULL;
}

static void compare_constant(struct checker *check, const struct ub_constant *stored, const struct ub_constant *fresh)
{
    char names[3][80];
    const char *const ends[] = {"", ", lower end,", ", upper end,"};
    for (size_t i = 0; i < 3; i++)
        snprintf(names[i], sizeof names[i], "%s%s", fresh->name, ends[i]);
    const struct pair pairs[] = {{names[0], stored->value, fresh->value, 0},
                                 {names[1], stored->lo, fresh->lo, 0},
                                 {names[2], stored->hi, fresh->hi, 0}};
    compare_pairs(check, pairs, sizeof pairs / sizeof pairs[0], "by the point that measured it");
    if (!ub_same_text(stored->origin, fresh->origin) || !ub_same_text(stored->unit, fresh->unit))
        problem(check, "%s is in \"%s\", \"%s\", in the record; a point of it says \"%s\", \"%s\"", fresh->name,
                stored->unit, stored->origin, fresh->unit, fresh->origin);
}

static void check_provided(struct checker *check, const struct ub_micro *micro, const struct ub_provides *provides)
{
    const struct ub_record *record = check->record;
    const struct ub_constant *stored = ub_constant_find(&record->constants, provides->constant);
    struct ub_point wanted;
    if (!ub_point_parse(micro, provides->axes, &wanted, NULL))
        return; /* ub_registry_check() has refused such a rule */
    const struct ub_record_point *point =
        record->source == UB_PREDICTED ? NULL : point_of_constant(record, micro, &wanted);
    struct ub_constant fresh;
    if (point && ub_constant_of(micro, &check->gpu, &record->constants, provides, &wanted, &point->time, &fresh)) {
        if (stored)
            compare_constant(check, stored, &fresh);
        else
            problem(check, "%s is missing, a point measured %.12g", fresh.name, fresh.value);
        return;
    }
    char claim[sizeof stored->origin];
    snprintf(claim, sizeof claim, "measured in this run: %s %s", micro->name, provides->axes);
    /* A record that has nothing of the rule is a part of its run (`ubench show --rule`). */
    if (stored && strcmp(stored->origin, claim) == 0 && ub_record_has_rule(record, micro->name))
        problem(check, "%s is \"%s\", but the record has no such point", stored->name, stored->origin);
}

/* Constants that points of the record measured. Of the others only their effects can be
 * checked: the tick in each interval, the rest in what the laws predict. */
static void check_constants(struct checker *check)
{
    check->point = NULL;
    for (size_t i = 0; i < check->record->constants.count; i++) {
        const struct ub_constant *constant = &check->record->constants.items[i];
        if (constant->value < constant->lo || constant->value > constant->hi)
            problem(check, "%s is %.12g, outside its own interval %.12g..%.12g", constant->name, constant->value,
                    constant->lo, constant->hi);
    }
    for (size_t i = 0; i < ub_entry_count; i++)
        for (size_t j = 0; j < ub_entries[i].micro->provide_count; j++)
            check_provided(check, ub_entries[i].micro, &ub_entries[i].micro->provides[j]);
}

/* `rule` NULL: any. */
static bool is_of(const struct ub_record_point *point, const char *rule)
{
    return !rule || ub_same_text(point->rule, rule);
}

/* ---- evidence counts once ------------------------------------------------- */

struct named {
    char name[600];
    const struct ub_record_point *point;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* A point that stands twice in a sweep, with the same data and cache, would prove as much
 * as two. */
static void check_copies(struct checker *check, const char *rule)
{
    const struct ub_record *record = check->record;
    struct named *named = calloc(record->point_count + 1, sizeof *named);
    check->point = NULL;
    if (!named) {
        problem(check, "were not searched for copies of points: out of memory");
        return;
    }
    for (size_t i = 0; i < record->point_count; i++) {
        const struct ub_record_point *point = &record->points[i];
        char label[512];
        ub_point_label(point, label, sizeof label);
        snprintf(named[i].name, sizeof named[i].name, "%s %s %s %s", label, text_or_null(point->sweep),
                 text_or_null(point->data), text_or_null(point->cache));
        named[i].point = point;
    }
    qsort(named, record->point_count, sizeof *named, by_name);
    for (size_t i = 1; i < record->point_count; i++)
        if (strcmp(named[i].name, named[i - 1].name) == 0 && is_of(named[i].point, rule)) {
            check->point = named[i].point;
            problem(check, "stands twice in the sweep %s", text_or_null(check->point->sweep));
        }
    free(named);
}

/* `rule` NULL: all points. */
static size_t check_points(const struct ub_record *record, const char *rule, struct ub_check_counts *counts,
                           ub_check_report report, void *user)
{
    struct checker check = {
        .record = record, .jit = record->run.jit == 1, .counts = counts, .report = report, .user = user};
    *counts = (struct ub_check_counts){0};
    ub_gpu_of_record(record, &check.gpu);
    check_constants(&check);
    for (size_t i = 0; i < record->point_count; i++) {
        if (!is_of(&record->points[i], rule))
            continue;
        counts->points++;
        check.point = &record->points[i];
        check_point(&check);
    }
    if (record->source != UB_PUBLISHED) /* where several authors may say something of one point */
        check_copies(&check, rule);
    return check.problems;
}

size_t ub_check_record(const struct ub_record *record, struct ub_check_counts *counts, ub_check_report report,
                       void *user)
{
    return check_points(record, NULL, counts, report, user);
}

size_t ub_check_rule(const struct ub_record *record, const char *rule, struct ub_check_counts *counts,
                     ub_check_report report, void *user)
{
    return check_points(record, rule, counts, report, user);
}
