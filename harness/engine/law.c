/* SPDX-License-Identifier: MIT
 *
 * Prediction against measurement. The prediction is written into the record first,
 * beside whatever was measured; the verdict then reads the record alone, so that a
 * saved file can be judged again from what stands in it. Measured values are never
 * mixed with predicted ones in one metric. */
#include "harness/engine/law.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/contract/counters.h"
#include "harness/engine/plan.h"
#include "harness/model/gpu.h"

const char *ub_counter_unit(const char *key)
{
    for (size_t i = 0; i < ub_counters.key_count; i++)
        if (strcmp(ub_counters.keys[i].key, key) == 0)
            return ub_counters.keys[i].unit;
    return NULL;
}

bool ub_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static struct ub_record_counter *counter_of(struct ub_record_point *record, const char *key)
{
    for (size_t i = 0; i < record->counter_count; i++)
        if (strcmp(record->counters[i].key, key) == 0)
            return &record->counters[i];
    const char *unit = ub_counter_unit(key);
    return ub_point_add_counter(record, key, unit ? unit : "");
}

/* Whether the kernel that ran is not the one that the law knows the machine code of. */
static bool is_other_code(const struct ub_law *law, const struct ub_record_point *record)
{
    const struct ub_static *ran = &record->static_;
    return law->has_code && record->has_static &&
           (ran->registers != law->code_registers || ran->local_bytes != law->code_local_bytes);
}

/* Takes back what the law says of another machine code than the one that ran. */
static void forget_other_code(struct ub_law *law)
{
    static const char reason[] = "another compiler made the kernel: registers or local memory are not those of the "
                                 "machine code that the law knows";
    for (size_t i = 0; i < law->counter_count; i++)
        if (law->counters[i].class_ == UB_SASS) {
            law->counters[i].known = false;
            law->counters[i].reason = reason;
        }
    law->tolerance = 0;
    law->note = reason;
}

static void apply_counter(const struct ub_law_counter *law, struct ub_record_point *record)
{
    struct ub_record_counter *counter = counter_of(record, law->key);
    if (!counter)
        return;
    counter->class_ = law->class_;
    counter->has_predicted = law->known;
    counter->predicted = law->known ? law->predicted : 0;
    counter->tolerance = law->class_ == UB_ESTIMATE ? law->tolerance : NAN;
    /* Why a measured value is absent says more than why it would be an estimate. */
    if (!counter->reason)
        ub_set_string(&counter->reason, law->reason);
}

static void clear_terms(struct ub_record_point *record)
{
    for (size_t i = 0; i < record->term_count; i++)
        free(record->terms[i].name);
    record->term_count = 0;
}

static void clear_metrics(struct ub_record_metric *metrics, size_t *count)
{
    for (size_t i = 0; i < *count; i++) {
        free(metrics[i].key);
        free(metrics[i].unit);
    }
    *count = 0;
}

/* What a metric may use: the rule's own counters, measured or predicted. */
struct known_counters {
    size_t count;
    const char *keys[UB_MAX_COUNTERS];
    uint64_t values[UB_MAX_COUNTERS];
};

static void collect_counters(const struct ub_micro *micro, const struct ub_record_point *record, bool predicted,
                             struct known_counters *out)
{
    out->count = 0;
    for (size_t i = 0; i < micro->counter_count && i < UB_MAX_COUNTERS; i++) {
        const struct ub_record_counter *counter = ub_point_counter(record, micro->counters[i]);
        if (!counter || !(predicted ? counter->has_predicted : counter->has_measured))
            continue;
        out->keys[out->count] = counter->key;
        out->values[out->count++] = predicted ? counter->predicted : counter->measured;
    }
}

/* The rule's metrics of the prediction, or of the measurement. */
static void derive_metrics(const struct ub_micro *micro, const struct ub_gpu *gpu, const struct ub_constants *constants,
                           const struct ub_point *point, const struct ub_record_point *record, bool predicted,
                           struct ub_metrics *out)
{
    struct known_counters known;
    collect_counters(micro, record, predicted, &known);
    const struct ub_facts facts = {.gpu = gpu,
                                   .constants = constants,
                                   .point = point,
                                   .time_ns = predicted ? record->predicted_ns : record->time.median,
                                   .counter_count = known.count,
                                   .counter_keys = known.keys,
                                   .counter_values = known.values,
                                   .predicted = predicted,
                                   .attributes = !predicted && record->has_static ? &record->static_ : NULL,
                                   .time = !predicted ? &record->time : NULL};
    *out = (struct ub_metrics){0};
    micro->metrics(&facts, out);
}

static void apply_predicted_metrics(const struct ub_micro *micro, const struct ub_gpu *gpu,
                                    const struct ub_constants *constants, const struct ub_point *point,
                                    struct ub_record_point *record)
{
    struct ub_metrics metrics;
    derive_metrics(micro, gpu, constants, point, record, true, &metrics);
    clear_metrics(record->predicted_metrics, &record->predicted_metric_count);
    for (size_t i = 0; i < metrics.count; i++)
        ub_point_add_predicted_metric(record, metrics.items[i].key, metrics.items[i].unit, metrics.items[i].value);
}

/* What the launch moves for its threads: the bandwidth that a rule calls useful, times
 * the time that goes with it. */
static void set_useful_bytes(struct ub_record_point *record)
{
    const struct ub_record_metric *useful = ub_point_predicted_metric(record, "useful_bandwidth");
    if (useful && isfinite(useful->value) && isfinite(record->predicted_ns))
        record->useful_bytes = round(useful->value * record->predicted_ns * 1e-9);
}

/* A point that measures a constant of the law (ub_micro.provides) agrees with it by
 * construction: its time proves nothing. */
static bool measures_a_constant(const struct ub_micro *micro, const struct ub_point *point)
{
    for (size_t i = 0; i < micro->provide_count; i++) {
        struct ub_point source;
        if (ub_point_parse(micro, micro->provides[i].axes, &source, NULL) &&
            memcmp(source.values, point->values, micro->axis_count * sizeof source.values[0]) == 0)
            return true;
    }
    return false;
}

void ub_law_apply(const struct ub_micro *micro, const struct ub_gpu *gpu, const struct ub_constants *constants,
                  const struct ub_point *point, struct ub_record_point *record)
{
    struct ub_law law = {.time_ns = NAN};
    micro->law(gpu, constants, point, &law);
    if (is_other_code(&law, record))
        forget_other_code(&law);
    /* The rule's own order first, so that records of one rule line up. */
    for (size_t i = 0; i < micro->counter_count; i++)
        counter_of(record, micro->counters[i]);
    for (size_t i = 0; i < law.counter_count; i++)
        apply_counter(&law.counters[i], record);
    clear_terms(record);
    for (size_t i = 0; i < law.term_count; i++)
        ub_point_add_term(record, law.terms[i].name, law.terms[i].time_ns);
    record->predicted_ns = law.time_ns;
    if (measures_a_constant(micro, point)) {
        law.tolerance = 0;
        law.note = law.note ? law.note : "this point measures a constant of the law: its time is not tested";
    }
    record->time_tolerance = law.tolerance > 0 ? law.tolerance : NAN;
    ub_set_string(&record->bottleneck, law.bottleneck);
    ub_set_string(&record->note, law.note);
    ub_set_string(&record->level, law.level);
    apply_predicted_metrics(micro, gpu, constants, point, record);
    set_useful_bytes(record);
}

bool ub_law_excepts(const struct ub_record *record, size_t index)
{
    for (size_t i = 0; i < record->warning_count; i++)
        if (record->warnings[i].point == (long)index && ub_same_text(record->warnings[i].code, "not-pinned"))
            return true;
    return false;
}

void ub_law_except(const struct ub_record *record, size_t index, struct ub_record_point *point)
{
    if (!ub_law_excepts(record, index))
        return;
    point->time_tolerance = NAN;
    ub_set_string(&point->note, "its host memory could not be pinned: the law's time is that of pinned memory");
}

bool ub_counter_is_exact(const struct ub_record_counter *counter, bool jit)
{
    return counter->class_ == UB_STRUCTURAL || (counter->class_ == UB_SASS && !jit);
}

enum ub_counter_verdict ub_counter_verdict_of(const struct ub_record_point *record, bool jit)
{
    enum ub_counter_verdict verdict = UB_COUNTERS_NOT_TESTED;
    if (!jit && ub_resident_differs(record))
        return UB_COUNTERS_BROKEN;
    for (size_t i = 0; i < record->counter_count; i++) {
        const struct ub_record_counter *counter = &record->counters[i];
        if (!counter->has_measured || !counter->has_predicted || !ub_counter_is_exact(counter, jit))
            continue;
        if (counter->measured != counter->predicted)
            return UB_COUNTERS_BROKEN;
        verdict = UB_COUNTERS_HOLD;
    }
    return verdict;
}

enum ub_time_verdict ub_time_verdict_of(const struct ub_record_point *record)
{
    if (isnan(record->residual) || !(record->time_tolerance > 0))
        return UB_TIME_NOT_TESTED;
    return fabs(record->residual) <= record->time_tolerance ? UB_TIME_HOLDS : UB_TIME_DEVIATES;
}

void ub_law_warn_estimates(struct ub_record *record, size_t index)
{
    for (size_t i = 0; i < record->points[index].counter_count; i++) {
        const struct ub_record_counter *counter = &record->points[index].counters[i];
        if (ub_estimate_deviates(counter))
            ub_record_warn(record, "estimate", (long)index,
                           "%s: measured %" PRIu64 ", estimated %" PRIu64 " +- %g %% (%s)", counter->key,
                           counter->measured, counter->predicted, 100 * counter->tolerance,
                           counter->reason ? counter->reason : "an estimate");
    }
}

void ub_law_judge(const struct ub_micro *micro, const struct ub_gpu *gpu, const struct ub_constants *constants,
                  const struct ub_point *point, bool jit, enum ub_source source, struct ub_record_point *record)
{
    const bool predicted = source == UB_PREDICTED;
    clear_metrics(record->metrics, &record->metric_count);
    record->residual = NAN;
    record->counter_verdict = UB_COUNTERS_NOT_TESTED;
    record->time_verdict = UB_TIME_NOT_TESTED;
    /* A point that did not run, or whose answer was wrong, has nothing to be judged by. */
    if (record->status == UB_POINT_SKIPPED || record->status == UB_POINT_FAILED)
        return;
    struct ub_metrics metrics;
    derive_metrics(micro, gpu, constants, point, record, predicted, &metrics);
    for (size_t i = 0; i < metrics.count; i++)
        ub_point_add_metric(record, metrics.items[i].key, metrics.items[i].unit, metrics.items[i].value);
    if (predicted)
        return;
    if (record->predicted_ns > 0)
        record->residual = record->time.median / record->predicted_ns - 1;
    record->counter_verdict = ub_counter_verdict_of(record, jit);
    record->time_verdict = ub_time_verdict_of(record);
}

/* ---- what a measured time means ----------------------------------------- */

double ub_tick_of(const struct ub_constants *constants, const struct ub_record_point *point)
{
    const double tick_ns = ub_constant_value(constants, "event_tick_ns");
    if (point->timer != UB_TIMER_EVENT || !(tick_ns > 0))
        return 0;
    return tick_ns / (point->time.batch > 0 ? point->time.batch : 1);
}

/* The rule's metric `key` if a launch took `time_ns`; NULL: the rule gives none. */
static const struct ub_metric *metric_at(const struct ub_micro *micro, const char *key, const struct ub_facts *facts,
                                         struct ub_metrics *metrics)
{
    *metrics = (struct ub_metrics){0};
    micro->metrics(facts, metrics);
    for (size_t i = 0; i < metrics->count; i++)
        if (strcmp(metrics->items[i].key, key) == 0)
            return &metrics->items[i];
    return NULL;
}

bool ub_constant_of(const struct ub_micro *micro, const struct ub_gpu *gpu, const struct ub_constants *constants,
                    const struct ub_provides *provides, const struct ub_point *point, const struct ub_time *time,
                    struct ub_constant *out)
{
    const double times_ns[] = {time->median, time->ci_hi, time->ci_lo};
    double values[3] = {NAN, NAN, NAN};
    *out = (struct ub_constant){0};
    for (size_t i = 0; i < 3; i++) {
        const struct ub_facts facts = {
            .gpu = gpu, .constants = constants, .point = point, .time_ns = times_ns[i], .time = time};
        struct ub_metrics metrics;
        const struct ub_metric *metric = metric_at(micro, provides->metric, &facts, &metrics);
        if (!metric)
            return false;
        values[i] = metric->value;
        snprintf(out->unit, sizeof out->unit, "%s", metric->unit);
    }
    snprintf(out->name, sizeof out->name, "%s", provides->constant);
    snprintf(out->origin, sizeof out->origin, "measured in this run: %s %s", micro->name, provides->axes);
    out->value = values[0];
    /* A shorter time is a larger rate: the interval's ends may have changed places. */
    out->lo = fmin(values[1], values[2]);
    out->hi = fmax(values[1], values[2]);
    return isfinite(out->value);
}

/* ---- from a record back to the law's arguments --------------------------- */

static bool value_of_word(const struct ub_axis *axis, const char *word, int64_t *value)
{
    if (axis->zero_word && word && strcmp(word, axis->zero_word) == 0) {
        *value = 0;
        return true;
    }
    for (int64_t i = 0; axis->kind == UB_AXIS_WORD && word && axis->words[i]; i++)
        if (strcmp(word, axis->words[i]) == 0) {
            *value = i;
            return true;
        }
    return false;
}

static bool axis_from_record(const struct ub_micro *micro, const struct ub_axis *axis,
                             const struct ub_axis_value *stored, int64_t *value, struct ub_error *err)
{
    if (stored->word || axis->kind == UB_AXIS_WORD) {
        if (value_of_word(axis, stored->word, value))
            return true;
        return ub_fail(err, UB_BAD_DATA, "%s has no %s \"%s\"", micro->name, axis->name,
                       stored->word ? stored->word : "(a number)");
    }
    *value = stored->number;
    if (*value >= axis->minimum && *value <= axis->maximum)
        return true;
    return ub_fail(err, UB_BAD_DATA, "%s=%" PRId64 " is outside %" PRId64 "..%" PRId64 " of %s", axis->name, *value,
                   axis->minimum, axis->maximum, micro->name);
}

static const struct ub_axis *axis_named(const struct ub_micro *micro, const char *name, size_t *index)
{
    for (*index = 0; *index < micro->axis_count; ++*index)
        if (strcmp(micro->axes[*index].name, name) == 0)
            return &micro->axes[*index];
    return NULL;
}

bool ub_point_from_record(const struct ub_micro *micro, const struct ub_record_point *record, struct ub_point *out,
                          struct ub_error *err)
{
    /* An axis that a rule gained after the record was written has its initial value. */
    if (!ub_point_parse(micro, "", out, err))
        return false;
    for (size_t i = 0; i < record->axis_count; i++) {
        size_t index;
        const struct ub_axis *axis = axis_named(micro, record->axes[i].name, &index);
        if (!axis)
            return ub_fail(err, UB_BAD_DATA, "%s has no axis \"%s\"", micro->name, record->axes[i].name);
        if (!axis_from_record(micro, axis, &record->axes[i], &out->values[index], err))
            return false;
    }
    return true;
}

static uint64_t whole_or_zero(double value)
{
    return value >= 1 && value < 0x1p63 ? (uint64_t)value : 0;
}

static int int_or_zero(double value)
{
    return value >= 1 && value <= INT32_MAX ? (int)value : 0;
}

void ub_gpu_of_record(const struct ub_record *record, struct ub_gpu *out)
{
    const struct ub_device_info *device = &record->device;
    const struct ub_gpu *row = device->slug ? ub_gpu_find(device->slug) : NULL;
    const struct ub_gpu_attributes attributes = {
        .name = row ? row->name : device->name,
        .cc_major = device->cc_major > 0 ? device->cc_major
                    : row                ? row->cc_major
                                         : 0,
        .cc_minor = device->cc_major > 0 ? device->cc_minor
                    : row                ? row->cc_minor
                                         : 0,
        .sms = device->sms > 0 ? device->sms : 0,
        .warps_per_sm = int_or_zero(device->warps_per_sm),
        .registers_per_sm = int_or_zero(device->registers_per_sm),
        .shared_per_sm_bytes = whole_or_zero(device->shared_per_sm_bytes),
        .l2_bytes = whole_or_zero(device->l2_bytes),
        .memory_bytes = whole_or_zero(device->memory_bytes),
        .clock_max_mhz = device->clock_max_mhz,
        .memory_clock_mhz = device->memory_clock_mhz,
        .memory_bus_bits = int_or_zero(device->memory_bus_bits),
        .has_copy_engines = device->copy_engines >= 0,
        .copy_engines = device->copy_engines,
    };
    ub_gpu_from_attributes(&attributes, out);
}
