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

#include "harness/engine/check_private.h"
#include "harness/engine/plan.h"

/* Doubles go through decimal text; what they are computed from is exact. */
static const double tolerance = 1e-9;

void ub_check_problem(struct ub_checker *check, const char *format, ...)
{
    char label[512], what[1024], text[sizeof label + sizeof what + 2];
    snprintf(label, sizeof label, "%s", check->part);
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

bool ub_check_same(double a, double b, double scale)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    return a == b || fabs(a - b) <= tolerance * fmax(scale, fmax(fabs(a), fabs(b)));
}

void ub_check_pairs(struct ub_checker *check, const struct ub_check_pair *pairs, size_t count,
                    const char *computed_from)
{
    for (size_t i = 0; i < count; i++)
        if (!ub_check_same(pairs[i].stored, pairs[i].computed, pairs[i].scale))
            ub_check_problem(check, "%s is %.12g in the record, %.12g %s", pairs[i].name, pairs[i].stored,
                             pairs[i].computed, computed_from);
}

static const char *text_or_null(const char *text)
{
    return text ? text : "null";
}

/* ---- verdicts ------------------------------------------------------------ */

static void compare_verdicts(struct ub_checker *check, const struct ub_record_point *computed)
{
    const struct ub_record_point *stored = check->point;
    const struct ub_check_pair residual = {"residual", stored->residual, computed->residual, 1};
    ub_check_pairs(check, &residual, 1, "from its own time and prediction");
    if (stored->counter_verdict != computed->counter_verdict)
        ub_check_problem(check, "the verdict on counters is \"%s\" in the record, \"%s\" by its values",
                         ub_counter_verdict_names[stored->counter_verdict],
                         ub_counter_verdict_names[computed->counter_verdict]);
    if (stored->time_verdict != computed->time_verdict)
        ub_check_problem(check, "the verdict on time is \"%s\" in the record, \"%s\" by its values",
                         ub_time_verdict_names[stored->time_verdict], ub_time_verdict_names[computed->time_verdict]);
}

static bool is_judged(const struct ub_checker *check)
{
    return check->record->source != UB_PREDICTED && check->point->status != UB_POINT_SKIPPED &&
           check->point->status != UB_POINT_FAILED;
}

/* Of a point that no law of this build covers: what its own values say. */
static void check_without_law(struct ub_checker *check)
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

static void compare_prediction(struct ub_checker *check, const struct ub_record_counter *stored,
                               const struct ub_record_counter *fresh)
{
    if (!stored->has_predicted && fresh->has_predicted)
        ub_check_problem(check, "%s has no prediction in the record, the law says %" PRIu64, fresh->key,
                         fresh->predicted);
    else if (stored->has_predicted && !fresh->has_predicted)
        ub_check_problem(check, "%s is predicted as %" PRIu64 " in the record, the law predicts none", fresh->key,
                         stored->predicted);
    else if (stored->predicted != fresh->predicted && fresh->has_predicted)
        ub_check_problem(check, "%s is predicted as %" PRIu64 " in the record, the law says %" PRIu64, fresh->key,
                         stored->predicted, fresh->predicted);
    if (stored->class_ != fresh->class_)
        ub_check_problem(check, "%s is of class %s in the record, of class %s by the law", fresh->key,
                         ub_class_names[stored->class_], ub_class_names[fresh->class_]);
    const struct ub_check_pair allowed = {"tolerance", stored->tolerance, fresh->tolerance, 0};
    if (fresh->class_ == UB_ESTIMATE && fresh->has_predicted)
        ub_check_pairs(check, &allowed, 1, "by the law");
}

/* Returns whether the counter could prove or break the law. */
static bool test_measured(struct ub_checker *check, const struct ub_record_counter *fresh)
{
    check->counts->estimates += ub_estimate_deviates(fresh);
    if (!fresh->has_measured || !fresh->has_predicted || !ub_counter_is_exact(fresh, check->jit))
        return false;
    check->counts->counters++;
    if (fresh->measured != fresh->predicted) {
        check->counts->broken++;
        check->counts->refuted++;
        ub_check_problem(check, "%s measured %" PRIu64 ", the law says %" PRIu64, fresh->key, fresh->measured,
                         fresh->predicted);
    }
    return true;
}

static bool is_uncounted(const struct ub_checker *check, const struct ub_record_counter *fresh)
{
    return check->point->status == UB_POINT_OK && fresh->has_predicted && !fresh->has_measured &&
           ub_counter_is_exact(fresh, check->jit);
}

/* A fresh point holds the counters of the record and then those that only the law has. */
static void compare_counters(struct ub_checker *check, const struct ub_record_point *fresh, bool predictions)
{
    bool tested = false;
    for (size_t i = 0; i < fresh->counter_count; i++) {
        const struct ub_record_counter *now = &fresh->counters[i];
        const struct ub_record_counter *stored = ub_point_counter(check->point, now->key);
        check->counts->uncounted += is_uncounted(check, now);
        if (!stored && predictions && now->has_predicted)
            ub_check_problem(check, "the record lacks the counter %s, the law says %" PRIu64, now->key, now->predicted);
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

static void compare_metrics(struct ub_checker *check, const char *kind, const struct ub_record_metric *fresh,
                            size_t count,
                            const struct ub_record_metric *(*find)(const struct ub_record_point *, const char *))
{
    for (size_t i = 0; i < count; i++) {
        const struct ub_record_metric *stored = find(check->point, fresh[i].key);
        const double value = stored ? stored->value : NAN;
        if (!ub_check_same(value, fresh[i].value, 0))
            ub_check_problem(check, "%s %s is %.12g in the record, %.12g recomputed", kind, fresh[i].key, value,
                             fresh[i].value);
    }
}

static void compare_terms(struct ub_checker *check, const struct ub_record_point *fresh)
{
    const struct ub_record_point *stored = check->point;
    if (stored->term_count != fresh->term_count)
        ub_check_problem(check, "the record has %zu terms of time, the law %zu", stored->term_count, fresh->term_count);
    for (size_t i = 0; i < stored->term_count && i < fresh->term_count; i++)
        if (!ub_same_text(stored->terms[i].name, fresh->terms[i].name) ||
            !ub_check_same(stored->terms[i].time_ns, fresh->terms[i].time_ns, 0))
            ub_check_problem(check, "the term %s is %.12g ns in the record, the law says %s %.12g ns",
                             stored->terms[i].name, stored->terms[i].time_ns, fresh->terms[i].name,
                             fresh->terms[i].time_ns);
}

static void compare_time_law(struct ub_checker *check, const struct ub_record_point *fresh)
{
    const struct ub_record_point *stored = check->point;
    const struct ub_check_pair pairs[] = {
        {"predicted_ns", stored->predicted_ns, fresh->predicted_ns, 0},
        {"the tolerance of time", stored->time_tolerance, fresh->time_tolerance, 0},
        {"useful_bytes", stored->useful_bytes, fresh->useful_bytes, 0},
    };
    ub_check_pairs(check, pairs, sizeof pairs / sizeof pairs[0], "by the law");
    compare_terms(check, fresh);
    const struct {
        const char *name, *stored, *fresh;
    } words[] = {{"the bottleneck", stored->bottleneck, fresh->bottleneck}, {"the level", stored->level, fresh->level}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!ub_same_text(words[i].stored, words[i].fresh))
            ub_check_problem(check, "%s is %s in the record, %s by the law", words[i].name,
                             text_or_null(words[i].stored), text_or_null(words[i].fresh));
}

static void check_law(struct ub_checker *check, const struct ub_micro *micro, const struct ub_point *point)
{
    const struct ub_record *record = check->record;
    struct ub_record_point fresh;
    if (!copy_measured(check->point, &fresh)) {
        ub_check_problem(check, "was not checked: out of memory");
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
        ub_check_problem(check, "the driver says that an SM holds %d blocks, the law says %.12g",
                         fresh.static_.resident_blocks, ub_point_predicted_metric(&fresh, "resident_blocks")->value);
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
static void check_refusal(struct ub_checker *check, const struct ub_micro *micro, const struct ub_point *point)
{
    static const char mark[] = "refused: ";
    const struct ub_record_point *stored = check->point;
    const char *law = micro->refusal ? micro->refusal(&check->gpu, point) : NULL;
    const char *reason = stored->reason ? stored->reason : "";
    const bool refused = stored->status == UB_POINT_SKIPPED && strncmp(reason, mark, strlen(mark)) == 0;
    if (law && stored->status == UB_POINT_OK && check->record->source != UB_PREDICTED) {
        check->counts->refuted++;
        ub_check_problem(check, "was launched, but the law says that %s refuses it", law);
    } else if (refused && !law)
        ub_check_problem(check, "is \"%s\", but the law says that it is launched", reason);
    else if (refused && !names(reason + strlen(mark), law))
        ub_check_problem(check, "is \"%s\", but the law names %s", reason, law);
}

/* A kernel that is wrong on purpose has no time: its answers are not to be had. */
static void check_mistake(struct ub_checker *check, const struct ub_micro *micro, const struct ub_point *point)
{
    const char *mistake = micro->mistake ? micro->mistake(&check->gpu, point) : NULL;
    if (mistake && check->point->status == UB_POINT_OK)
        ub_check_problem(check, "has values, but its kernel is wrong on purpose (%s)", mistake);
}

/* ---- what the rule says of a point before it runs -------------------------- */

static void check_settings(struct ub_checker *check, const struct ub_micro *micro, const struct ub_point *point)
{
    const struct ub_record_point *stored = check->point;
    const enum ub_timer timer = micro->timer(point);
    if (stored->timer != timer)
        ub_check_problem(check, "its timer is %s in the record, %s by the rule", ub_timer_names[stored->timer],
                         ub_timer_names[timer]);
    const struct ub_check_pair footprint = {"footprint_bytes", stored->footprint_bytes,
                                            ub_footprint_bytes(micro, &check->gpu, point), 0};
    /* A point that cannot run on the card has none. */
    if (stored->status != UB_POINT_SKIPPED || !isnan(stored->footprint_bytes))
        ub_check_pairs(check, &footprint, 1, "by the rule");
}

/* ---- counters that are not there ------------------------------------------- */

static bool counters_were_read(const struct ub_record *record)
{
    return record->source == UB_MEASURED && ub_same_text(record->run.counters, "cupti");
}

/* Where others were read, a counter that was not says why. */
static void check_absent(struct ub_checker *check)
{
    if (!counters_were_read(check->record) || check->point->status != UB_POINT_OK)
        return;
    for (size_t i = 0; i < check->point->counter_count; i++) {
        const struct ub_record_counter *counter = &check->point->counters[i];
        if (!counter->has_measured && (!counter->reason || !counter->reason[0]))
            ub_check_problem(check, "%s was not measured, and no reason says why", counter->key);
    }
}

/* What the run says of its counters, against those that its points have. */
static void check_run(struct ub_checker *check)
{
    const struct ub_record *record = check->record;
    size_t measured = 0;
    for (size_t i = 0; i < record->point_count; i++)
        for (size_t j = 0; j < record->points[i].counter_count; j++)
            measured += record->points[i].counters[j].has_measured;
    check->point = NULL;
    check->part = "run";
    if (record->source == UB_MEASURED && record->run.counters && !counters_were_read(record) && measured > 0)
        ub_check_problem(check, "its counters are \"%s\" in the record, yet %zu are measured", record->run.counters,
                         measured);
}

/* ---- one point, all points ----------------------------------------------- */

static void check_unmeasured(struct ub_checker *check)
{
    if (check->point->time.n > 0)
        ub_check_problem(check, "has a measured time in a predicted record");
    for (size_t i = 0; i < check->point->counter_count; i++)
        if (check->point->counters[i].has_measured)
            ub_check_problem(check, "%s is measured in a predicted record", check->point->counters[i].key);
}

/* A point that did not run to its end has a reason, and no values. */
static void check_failed(struct ub_checker *check)
{
    const struct ub_record_point *point = check->point;
    const char *status = ub_status_names[point->status];
    if (point->time.n > 0)
        ub_check_problem(check, "is %s, yet it has a measured time", status);
    if (point->metric_count > 0)
        ub_check_problem(check, "is %s, yet it has the metric %s", status, point->metrics[0].key);
    for (size_t i = 0; i < point->counter_count; i++)
        if (point->counters[i].has_measured)
            ub_check_problem(check, "is %s, yet %s is measured", status, point->counters[i].key);
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
static void check_figure(struct ub_checker *check)
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
            ub_check_problem(check, "%s has no metric \"%s\"", micro->name, key);
    }
}

static void check_point(struct ub_checker *check)
{
    if (check->record->source == UB_PUBLISHED) {
        check_figure(check);
        return;
    }
    ub_check_samples(check);
    ub_check_order(check);
    check_absent(check);
    if (check->record->source == UB_PREDICTED)
        check_unmeasured(check);
    else if (check->point->status == UB_POINT_FAILED || check->point->status == UB_POINT_SKIPPED)
        check_failed(check);
    struct ub_error why = {0};
    struct ub_point point;
    const struct ub_micro *micro = has_card(check->record, &why) ? micro_of(check->point, &why) : NULL;
    if (micro && ub_point_from_record(micro, check->point, &point, &why)) {
        check_settings(check, micro, &point);
        check_law(check, micro, &point);
        check_refusal(check, micro, &point);
        check_mistake(check, micro, &point);
        if (check->record->source == UB_PREDICTED && check->point->status == UB_POINT_OK)
            ub_check_predicted_timeline(check, micro, &point);
        else if (check->record->source == UB_MEASURED && check->point->span_count > 0)
            ub_check_measured_timeline(check, micro, &point);
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

static void compare_constant(struct ub_checker *check, const struct ub_constant *stored,
                             const struct ub_constant *fresh)
{
    char names[3][80];
    const char *const ends[] = {"", ", lower end,", ", upper end,"};
    for (size_t i = 0; i < 3; i++)
        snprintf(names[i], sizeof names[i], "%s%s", fresh->name, ends[i]);
    const struct ub_check_pair pairs[] = {{names[0], stored->value, fresh->value, 0},
                                          {names[1], stored->lo, fresh->lo, 0},
                                          {names[2], stored->hi, fresh->hi, 0}};
    ub_check_pairs(check, pairs, sizeof pairs / sizeof pairs[0], "by the point that measured it");
    if (!ub_same_text(stored->origin, fresh->origin) || !ub_same_text(stored->unit, fresh->unit))
        ub_check_problem(check, "%s is in \"%s\", \"%s\", in the record; a point of it says \"%s\", \"%s\"",
                         fresh->name, stored->unit, stored->origin, fresh->unit, fresh->origin);
}

static void check_provided(struct ub_checker *check, const struct ub_micro *micro, const struct ub_provides *provides)
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
            ub_check_problem(check, "%s is missing, a point measured %.12g", fresh.name, fresh.value);
        return;
    }
    char claim[sizeof stored->origin];
    snprintf(claim, sizeof claim, "measured in this run: %s %s", micro->name, provides->axes);
    /* A record that has nothing of the rule is a part of its run (`ubench show --rule`). */
    if (stored && strcmp(stored->origin, claim) == 0 && ub_record_has_rule(record, micro->name))
        ub_check_problem(check, "%s is \"%s\", but the record has no such point", stored->name, stored->origin);
}

/* Constants that points of the record measured. Of the others only their effects can be
 * checked: the tick in each interval, the rest in what the laws predict. */
static void check_constants(struct ub_checker *check)
{
    check->point = NULL;
    check->part = "constants";
    for (size_t i = 0; i < check->record->constants.count; i++) {
        const struct ub_constant *constant = &check->record->constants.items[i];
        if (constant->value < constant->lo || constant->value > constant->hi)
            ub_check_problem(check, "%s is %.12g, outside its own interval %.12g..%.12g", constant->name,
                             constant->value, constant->lo, constant->hi);
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
static void check_copies(struct ub_checker *check, const char *rule)
{
    const struct ub_record *record = check->record;
    struct named *named = calloc(record->point_count + 1, sizeof *named);
    check->point = NULL;
    check->part = "points";
    if (!named) {
        ub_check_problem(check, "were not searched for copies of points: out of memory");
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
            ub_check_problem(check, "stands twice in the sweep %s", text_or_null(check->point->sweep));
        }
    free(named);
}

/* `rule` NULL: all points. */
static size_t check_points(const struct ub_record *record, const char *rule, struct ub_check_counts *counts,
                           ub_check_report report, void *user)
{
    struct ub_checker check = {
        .record = record, .jit = record->run.jit == 1, .counts = counts, .report = report, .user = user};
    *counts = (struct ub_check_counts){0};
    ub_gpu_of_record(record, &check.gpu);
    check_run(&check);
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
