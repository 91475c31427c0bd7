/* SPDX-License-Identifier: MIT */
#include "harness/contract/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const ub_source_names[] = {"measured", "predicted", "published", NULL};
const char *const ub_status_names[] = {"ok", "skipped", "failed", "timeout", NULL};
const char *const ub_class_names[] = {"structural", "sass", "estimate", NULL};
const char *const ub_counter_verdict_names[] = {"holds", "broken", "not-tested", NULL};
const char *const ub_time_verdict_names[] = {"holds", "deviates", "not-tested", NULL};
const char *const ub_timer_names[] = {"event", "sm_clock", "host", NULL};

/* Makes room for one more item: capacity is the next power of two. */
static void *grow(void *items, size_t count, size_t item_size)
{
    if (count != 0 && (count & (count - 1)) != 0)
        return items;
    size_t capacity = count == 0 ? 1 : count * 2;
    return realloc(items, capacity * item_size);
}

/* Appends a zeroed item to *items; NULL: no memory, *items is as it was. */
static void *append(void *items_pointer, size_t *count, size_t item_size)
{
    void **items = items_pointer;
    void *grown = grow(*items, *count, item_size);
    if (!grown)
        return NULL;
    *items = grown;
    char *item = (char *)grown + *count * item_size;
    memset(item, 0, item_size);
    *count += 1;
    return item;
}

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

void ub_set_string(char **where, const char *text)
{
    char *fresh = copy(text);
    free(*where);
    *where = fresh;
}

void ub_device_info_init(struct ub_device_info *device)
{
    *device = (struct ub_device_info){
        .cc_major = -1,
        .cc_minor = -1,
        .sms = -1,
        .l2_bytes = NAN,
        .memory_bytes = NAN,
        .memory_bus_bits = NAN,
        .memory_clock_mhz = NAN,
        .clock_max_mhz = NAN,
        .shared_per_sm_bytes = NAN,
        .registers_per_sm = NAN,
        .warps_per_sm = NAN,
        .power_limit_w = NAN,
        .temperature_c = NAN,
        .power_w = NAN,
        .clock_idle_mhz = NAN,
        .clock_load_mhz = NAN,
        .copy_engines = -1,
        .ecc = -1,
        .mig = -1,
    };
}

double ub_time_clock_mhz(const struct ub_time *time)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; time->samples && i < time->n; i++)
        if (isfinite(time->samples[i].clock_mhz)) {
            sum += time->samples[i].clock_mhz;
            count++;
        }
    if (count > 0)
        return sum / (double)count;
    return !time->samples && time->mean_clock_mhz > 0 ? time->mean_clock_mhz : NAN;
}

void ub_record_point_init(struct ub_record_point *point)
{
    *point = (struct ub_record_point){
        .status = UB_POINT_OK,
        .counter_verdict = UB_COUNTERS_NOT_TESTED,
        .time_verdict = UB_TIME_NOT_TESTED,
        .footprint_bytes = NAN,
        .useful_bytes = NAN,
        .predicted_ns = NAN,
        .residual = NAN,
        .time_tolerance = NAN,
        .time = {.median = NAN,
                 .ci_lo = NAN,
                 .ci_hi = NAN,
                 .min = NAN,
                 .p05 = NAN,
                 .p95 = NAN,
                 .mad = NAN,
                 .cv = NAN,
                 .drift = NAN},
        .static_ = {.registers = -1, .shared_bytes = -1, .local_bytes = -1, .resident_blocks = -1},
    };
}

struct ub_record_point *ub_record_add_point(struct ub_record *record)
{
    struct ub_record_point *point = append(&record->points, &record->point_count, sizeof *point);
    if (point)
        ub_record_point_init(point);
    return point;
}

void ub_record_warn(struct ub_record *record, const char *code, long point, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct ub_warning *warning = append(&record->warnings, &record->warning_count, sizeof *warning);
    if (!warning)
        return;
    warning->code = copy(code);
    warning->point = point;
    warning->text = copy(text);
}

static bool is_of(const struct ub_record_point *point, const char *rule)
{
    return point->rule && strcmp(point->rule, rule) == 0;
}

bool ub_record_has_rule(const struct ub_record *record, const char *rule)
{
    for (size_t i = 0; i < record->point_count; i++)
        if (is_of(&record->points[i], rule))
            return true;
    return false;
}

/* Warnings of points that go, go too; those of points that stay follow them to their place. */
static void keep_warnings(struct ub_record *record, const char *rule)
{
    size_t kept = 0;
    for (size_t i = 0; i < record->warning_count; i++) {
        struct ub_warning *warning = &record->warnings[i];
        const bool of_point = warning->point >= 0 && (size_t)warning->point < record->point_count;
        if (of_point && !is_of(&record->points[warning->point], rule)) {
            free(warning->code);
            free(warning->text);
            continue;
        }
        long place = of_point ? 0 : -1;
        for (long before = 0; before < warning->point && of_point; before++)
            place += is_of(&record->points[before], rule);
        warning->point = place;
        record->warnings[kept++] = *warning;
    }
    record->warning_count = kept;
}

/* Nothing was lost of a point: it has its time and its counters, or the reason why it was skipped. */
static bool is_done(const struct ub_record_point *point)
{
    bool done = point->status == UB_POINT_SKIPPED || (point->status == UB_POINT_OK && point->time.n > 0);
    for (size_t i = 0; i < point->counter_count && point->status == UB_POINT_OK; i++)
        done = done && point->counters[i].has_measured;
    return done;
}

size_t ub_record_keep_rule(struct ub_record *record, const char *rule)
{
    size_t kept = 0;
    keep_warnings(record, rule);
    for (size_t i = 0; i < record->point_count; i++) {
        if (is_of(&record->points[i], rule))
            record->points[kept++] = record->points[i];
        else
            ub_record_point_free(&record->points[i]);
    }
    record->point_count = kept;
    bool done = kept > 0;
    for (size_t i = 0; i < kept; i++)
        done = done && is_done(&record->points[i]);
    record->run.complete = record->run.complete || done;
    return kept;
}

struct ub_axis_value *ub_point_add_axis(struct ub_record_point *point, const char *name, const char *word,
                                        int64_t number)
{
    struct ub_axis_value *axis = append(&point->axes, &point->axis_count, sizeof *axis);
    if (axis)
        *axis = (struct ub_axis_value){.name = copy(name), .word = copy(word), .number = number};
    return axis;
}

struct ub_record_metric *ub_point_add_metric(struct ub_record_point *point, const char *key, const char *unit,
                                             double value)
{
    struct ub_record_metric *metric = append(&point->metrics, &point->metric_count, sizeof *metric);
    if (metric)
        *metric = (struct ub_record_metric){.key = copy(key), .unit = copy(unit), .value = value};
    return metric;
}

struct ub_record_metric *ub_point_add_predicted_metric(struct ub_record_point *point, const char *key, const char *unit,
                                                       double value)
{
    struct ub_record_metric *metric = append(&point->predicted_metrics, &point->predicted_metric_count, sizeof *metric);
    if (metric)
        *metric = (struct ub_record_metric){.key = copy(key), .unit = copy(unit), .value = value};
    return metric;
}

struct ub_record_counter *ub_point_add_counter(struct ub_record_point *point, const char *key, const char *unit)
{
    struct ub_record_counter *counter = append(&point->counters, &point->counter_count, sizeof *counter);
    if (counter)
        *counter = (struct ub_record_counter){.key = copy(key), .unit = copy(unit), .tolerance = NAN};
    return counter;
}

struct ub_record_term *ub_point_add_term(struct ub_record_point *point, const char *name, double time_ns)
{
    struct ub_record_term *term = append(&point->terms, &point->term_count, sizeof *term);
    if (term)
        *term = (struct ub_record_term){.name = copy(name), .time_ns = time_ns};
    return term;
}

bool ub_point_add_sample(struct ub_record_point *point, struct ub_sample sample)
{
    struct ub_sample *added = append(&point->time.samples, &point->time.n, sizeof *added);
    if (added)
        *added = sample;
    return added != NULL;
}

bool ub_point_add_span(struct ub_record_point *point, const struct ub_span *span)
{
    struct ub_span *added =
        point->span_count < UB_MAX_SPANS ? append(&point->spans, &point->span_count, sizeof *added) : NULL;
    if (added)
        *added = *span;
    return added != NULL;
}

static const double longest_ns = 1e15; /* no launch lasts so long, and sums of such times are finite */

const char *ub_span_wrong(const struct ub_span *span)
{
    if (span->stream < UB_DEFAULT_STREAM || span->stream >= UB_MAX_TIMELINE_STREAMS)
        return "there is no such stream";
    if (span->segment < 0)
        return "there is no such segment";
    if (!span->stage[0])
        return "the stage has no name";
    if (!(span->begin_ns >= 0 && span->end_ns >= span->begin_ns && span->end_ns <= longest_ns))
        return "it must begin at 0 or later, end no earlier than it begins, and within 12 days";
    return NULL;
}

const struct ub_axis_value *ub_point_axis(const struct ub_record_point *point, const char *name)
{
    for (size_t i = 0; i < point->axis_count; i++)
        if (strcmp(point->axes[i].name, name) == 0)
            return &point->axes[i];
    return NULL;
}

static const struct ub_record_metric *find_metric(const struct ub_record_metric *metrics, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(metrics[i].key, key) == 0)
            return &metrics[i];
    return NULL;
}

const struct ub_record_metric *ub_point_metric(const struct ub_record_point *point, const char *key)
{
    return find_metric(point->metrics, point->metric_count, key);
}

const struct ub_record_metric *ub_point_predicted_metric(const struct ub_record_point *point, const char *key)
{
    return find_metric(point->predicted_metrics, point->predicted_metric_count, key);
}

const struct ub_record_counter *ub_point_counter(const struct ub_record_point *point, const char *key)
{
    for (size_t i = 0; i < point->counter_count; i++)
        if (strcmp(point->counters[i].key, key) == 0)
            return &point->counters[i];
    return NULL;
}

bool ub_estimate_deviates(const struct ub_record_counter *counter)
{
    if (counter->class_ != UB_ESTIMATE || !counter->has_measured || !counter->has_predicted)
        return false;
    const double measured = (double)counter->measured, predicted = (double)counter->predicted;
    return fabs(measured - predicted) > counter->tolerance * predicted;
}

void ub_point_label(const struct ub_record_point *point, char *text, size_t size)
{
    int used = snprintf(text, size, "%s", point->rule ? point->rule : "?");
    for (size_t i = 0; i < point->axis_count && used >= 0 && (size_t)used < size; i++) {
        const struct ub_axis_value *axis = &point->axes[i];
        used += axis->word ? snprintf(text + used, size - (size_t)used, " %s=%s", axis->name, axis->word)
                           : snprintf(text + used, size - (size_t)used, " %s=%" PRId64, axis->name, axis->number);
    }
}

const struct ub_constant *ub_constant_find(const struct ub_constants *constants, const char *name)
{
    for (size_t i = 0; i < constants->count; i++)
        if (strcmp(constants->items[i].name, name) == 0)
            return &constants->items[i];
    return NULL;
}

double ub_constant_value(const struct ub_constants *constants, const char *name)
{
    const struct ub_constant *constant = ub_constant_find(constants, name);
    return constant ? constant->value : NAN;
}

bool ub_constant_set(struct ub_constants *constants, const char *name, double value, double lo, double hi,
                     const char *unit, const char *origin_format, ...)
{
    struct ub_constant *constant = NULL;
    for (size_t i = 0; i < constants->count && !constant; i++)
        if (strcmp(constants->items[i].name, name) == 0)
            constant = &constants->items[i];
    if (!constant) {
        if (constants->count == UB_MAX_CONSTANTS)
            return false;
        constant = &constants->items[constants->count++];
    }
    *constant = (struct ub_constant){.value = value, .lo = lo, .hi = hi};
    snprintf(constant->name, sizeof constant->name, "%s", name);
    snprintf(constant->unit, sizeof constant->unit, "%s", unit);
    va_list args;
    va_start(args, origin_format);
    vsnprintf(constant->origin, sizeof constant->origin, origin_format, args);
    va_end(args);
    return true;
}

static void free_metrics(struct ub_record_metric *metrics, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(metrics[i].key);
        free(metrics[i].unit);
    }
    free(metrics);
}

void ub_record_point_free(struct ub_record_point *point)
{
    for (size_t i = 0; i < point->axis_count; i++) {
        free(point->axes[i].name);
        free(point->axes[i].word);
    }
    for (size_t i = 0; i < point->counter_count; i++) {
        free(point->counters[i].key);
        free(point->counters[i].unit);
        free(point->counters[i].raw);
        free(point->counters[i].reason);
    }
    for (size_t i = 0; i < point->term_count; i++)
        free(point->terms[i].name);
    free_metrics(point->metrics, point->metric_count);
    free_metrics(point->predicted_metrics, point->predicted_metric_count);
    free(point->axes);
    free(point->counters);
    free(point->terms);
    free(point->time.samples);
    free(point->spans);
    char *strings[] = {point->rule,
                       point->sweep,
                       point->reason,
                       point->level,
                       point->cache,
                       point->data,
                       point->bottleneck,
                       point->note,
                       point->published.source,
                       point->published.conditions,
                       point->published.kind};
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++)
        free(strings[i]);
    *point = (struct ub_record_point){0};
}

static void device_info_free(struct ub_device_info *device)
{
    char *strings[] = {device->name,    device->uuid,  device->pci,
                       device->chip,    device->slug,  device->driver,
                       device->runtime, device->vbios, device->throttle_reasons};
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++)
        free(strings[i]);
}

static void run_info_free(struct ub_run_info *run)
{
    for (int i = 0; i < run->argc; i++)
        free(run->argv[i]);
    free(run->argv);
    char *strings[] = {run->id,    run->started,   run->finished, run->version, run->nvcc,
                       run->archs, run->code_hash, run->counters, run->host_cpu};
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++)
        free(strings[i]);
}

void ub_record_free(struct ub_record *record)
{
    for (size_t i = 0; i < record->point_count; i++)
        ub_record_point_free(&record->points[i]);
    free(record->points);
    for (size_t i = 0; i < record->warning_count; i++) {
        free(record->warnings[i].code);
        free(record->warnings[i].text);
    }
    free(record->warnings);
    device_info_free(&record->device);
    run_info_free(&record->run);
    *record = (struct ub_record){0};
}

bool ub_resident_differs(const struct ub_record_point *point)
{
    const struct ub_record_metric *law = ub_point_predicted_metric(point, "resident_blocks");
    return law && isfinite(law->value) && point->has_static && point->static_.resident_blocks >= 0 &&
           point->static_.resident_blocks != law->value;
}
