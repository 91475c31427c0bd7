/* SPDX-License-Identifier: MIT */
#include "plots/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plots/text.h"

static const char *unit_in_record(const struct ub_record *record, const struct ub_micro *micro, const char *key,
                                  bool counter)
{
    for (size_t i = 0; i < record->point_count; i++) {
        const struct ub_record_point *point = &record->points[i];
        if (!point->rule || strcmp(point->rule, micro->name) != 0)
            continue;
        const struct ub_record_metric *metric = counter ? NULL : ub_point_metric(point, key);
        const struct ub_record_counter *found = counter ? ub_point_counter(point, key) : NULL;
        if (metric || found)
            return metric ? metric->unit : found->unit;
    }
    return NULL;
}

/* The key of a counter that some point of the rule has under this key or raw name. */
static const char *counter_in_record(const struct ub_record *record, const struct ub_micro *micro, const char *name)
{
    for (size_t i = 0; i < record->point_count; i++) {
        const struct ub_record_point *point = &record->points[i];
        if (!point->rule || strcmp(point->rule, micro->name) != 0)
            continue;
        for (size_t c = 0; c < point->counter_count; c++)
            if (strcmp(point->counters[c].key, name) == 0 ||
                (point->counters[c].raw && strcmp(point->counters[c].raw, name) == 0))
                return point->counters[c].key;
    }
    return NULL;
}

static bool is_metric(const struct ub_micro *micro, const char *key)
{
    for (size_t i = 0; i < micro->metric_count; i++)
        if (strcmp(micro->metric_keys[i], key) == 0)
            return true;
    return false;
}

static bool unknown(const struct ub_micro *micro, const char *wanted, struct ub_error *err)
{
    char metrics[400] = "", counters[500] = "";
    for (size_t i = 0; i < micro->metric_count; i++)
        ub_text_append(metrics, sizeof metrics, "%s%s", i ? ", " : "", micro->metric_keys[i]);
    for (size_t i = 0; i < micro->counter_count; i++)
        ub_text_append(counters, sizeof counters, "%s%s", i ? ", " : "", micro->counters[i]);
    return ub_fail(err, UB_USAGE,
                   "--y %s: %s has no metric or counter of that name\n  metrics: time, %s\n  counters: %s", wanted,
                   micro->name, metrics, *counters ? counters : "none");
}

bool ub_quantity_find(const struct ub_record *record, const struct ub_micro *micro, const char *wanted,
                      struct ub_quantity *out, struct ub_error *err)
{
    const struct ub_chart *chart = &micro->chart;
    const char *key = wanted ? wanted : chart->metric;
    *out = (struct ub_quantity){.kind = UB_QUANTITY_METRIC, .key = key};
    if (is_metric(micro, key)) {
        out->is_main = chart->metric && strcmp(key, chart->metric) == 0;
        if (out->is_main) {
            out->name = chart->metric_label;
            out->scale = chart->metric_scale;
        }
        if (chart->other_metric && strcmp(key, chart->other_metric) == 0) {
            out->is_main = true;
            out->name = chart->other_label;
            out->scale = chart->other_scale;
        }
        if (chart->panel_metric && strcmp(key, chart->panel_metric) == 0) {
            out->name = chart->panel_label;
            out->scale = 1;
        }
    } else if (strcmp(key, "time") == 0) {
        out->kind = UB_QUANTITY_TIME;
        snprintf(out->unit, sizeof out->unit, "ns");
        return true;
    } else {
        out->kind = UB_QUANTITY_COUNTER;
        out->key = counter_in_record(record, micro, key);
        if (!out->key)
            return unknown(micro, key, err);
    }
    ub_text_clean(unit_in_record(record, micro, out->key, out->kind == UB_QUANTITY_COUNTER), out->unit,
                  sizeof out->unit);
    return true;
}

void ub_predict(const struct ub_micro *micro, const struct ub_gpu *gpu, const struct ub_constants *constants,
                const struct ub_point *point, struct ub_prediction *out)
{
    memset(out, 0, sizeof *out);
    micro->law(gpu, constants, point, &out->law);
    const char *keys[UB_MAX_COUNTERS];
    uint64_t values[UB_MAX_COUNTERS];
    struct ub_facts facts = {.gpu = gpu,
                             .constants = constants,
                             .point = point,
                             .time_ns = out->law.time_ns,
                             .counter_keys = keys,
                             .counter_values = values};
    for (size_t i = 0; i < out->law.counter_count; i++)
        if (out->law.counters[i].known) {
            keys[facts.counter_count] = out->law.counters[i].key;
            values[facts.counter_count++] = out->law.counters[i].predicted;
        }
    micro->metrics(&facts, &out->metrics);
}

double ub_drawable(double value)
{
    static const double MOST = 1e30, LEAST = 1e-30;
    if (fabs(value) < LEAST)
        return 0;
    return fabs(value) <= MOST ? value : NAN;
}

static double value_of_point(const struct ub_quantity *quantity, enum ub_source source,
                             const struct ub_record_point *point)
{
    if (quantity->kind == UB_QUANTITY_TIME)
        return source == UB_PREDICTED ? point->predicted_ns : point->time.median;
    if (quantity->kind == UB_QUANTITY_METRIC) {
        const struct ub_record_metric *metric = ub_point_metric(point, quantity->key);
        return metric ? metric->value : NAN;
    }
    const struct ub_record_counter *counter = ub_point_counter(point, quantity->key);
    if (source == UB_PREDICTED)
        return counter && counter->has_predicted ? (double)counter->predicted : NAN;
    return counter && counter->has_measured ? (double)counter->measured : NAN;
}

double ub_quantity_of_point(const struct ub_quantity *quantity, enum ub_source source,
                            const struct ub_record_point *point)
{
    return ub_drawable(value_of_point(quantity, source, point));
}

bool ub_quantity_is_absurd(const struct ub_quantity *quantity, enum ub_source source,
                           const struct ub_record_point *point)
{
    const double value = value_of_point(quantity, source, point);
    return !isnan(value) && isnan(ub_drawable(value));
}

double ub_metric_of_prediction(const struct ub_prediction *prediction, const char *key)
{
    for (size_t i = 0; i < prediction->metrics.count; i++)
        if (strcmp(prediction->metrics.items[i].key, key) == 0)
            return ub_drawable(prediction->metrics.items[i].value);
    return NAN;
}

double ub_quantity_of_prediction(const struct ub_quantity *quantity, const struct ub_prediction *prediction)
{
    if (quantity->kind == UB_QUANTITY_TIME)
        return ub_drawable(prediction->law.time_ns);
    if (quantity->kind == UB_QUANTITY_METRIC)
        return ub_metric_of_prediction(prediction, quantity->key);
    for (size_t i = 0; i < prediction->law.counter_count; i++)
        if (strcmp(prediction->law.counters[i].key, quantity->key) == 0 && prediction->law.counters[i].known)
            return (double)prediction->law.counters[i].predicted;
    return NAN;
}

/* The metric as it would be had the launch taken `time_ns`, with the counters of the point. */
static double metric_at_time(const struct ub_quantity *quantity, const struct ub_micro *micro, const struct ub_gpu *gpu,
                             const struct ub_constants *constants, const struct ub_point *values,
                             const struct ub_record_point *point, double time_ns)
{
    const char *keys[UB_MAX_COUNTERS];
    uint64_t counts[UB_MAX_COUNTERS];
    struct ub_facts facts = {.gpu = gpu,
                             .constants = constants,
                             .point = values,
                             .time_ns = time_ns,
                             .counter_keys = keys,
                             .counter_values = counts,
                             .time = &point->time};
    for (size_t i = 0; i < point->counter_count && facts.counter_count < UB_MAX_COUNTERS; i++)
        if (point->counters[i].has_measured) {
            keys[facts.counter_count] = point->counters[i].key;
            counts[facts.counter_count++] = point->counters[i].measured;
        }
    struct ub_prediction derived = {0};
    micro->metrics(&facts, &derived.metrics);
    return ub_metric_of_prediction(&derived, quantity->key);
}

void ub_quantity_interval(const struct ub_quantity *quantity, const struct ub_micro *micro, const struct ub_gpu *gpu,
                          const struct ub_constants *constants, const struct ub_point *values,
                          const struct ub_record_point *point, double *lo, double *hi)
{
    *lo = *hi = NAN;
    const double ends[] = {point->time.ci_lo, point->time.ci_hi};
    if (quantity->kind == UB_QUANTITY_COUNTER || !isfinite(ends[0]) || !isfinite(ends[1]))
        return;
    double drawn[2];
    for (size_t i = 0; i < 2; i++)
        drawn[i] = quantity->kind == UB_QUANTITY_TIME
                       ? ends[i]
                       : metric_at_time(quantity, micro, gpu, constants, values, point, ends[i]);
    /* fmin() and fmax() would take the other end for one that is NaN. */
    if (isnan(ub_drawable(drawn[0])) || isnan(ub_drawable(drawn[1])))
        return;
    *lo = fmin(drawn[0], drawn[1]);
    *hi = fmax(drawn[0], drawn[1]);
}

/* Units that are drawn with a prefix: the first row of the unit whose limit the largest
 * value reaches. Rows of a unit stand from large to small. */
static const struct {
    const char *unit;
    double at_least, scale;
    const char *drawn;
} prefixes[] = {
    {"B/s", 0, 1e-9, "GB/s"},         {"ns", 1e6, 1e-6, "ms"},
    {"ns", 1e3, 1e-3, "µs"},          {"ns", 0, 1, "ns"},
    {"byte", 0x1p30, 0x1p-30, "GiB"}, {"byte", 0x1p20, 0x1p-20, "MiB"},
    {"byte", 0x1p10, 0x1p-10, "KiB"}, {"1", 0, 100, "%"},
};

/* Bytes span many powers of two (16 KiB to 16 MiB): the unit suits the least of them, so that none
 * is 3.052e-05, as long as the largest keeps six digits. */
static double size_to_suit(const struct ub_quantity *quantity, double least, double largest)
{
    if (strcmp(quantity->unit, "byte") != 0)
        return largest;
    return fmin(largest, fmax(8 * least, largest / 0x1p19));
}

static void choose_unit(struct ub_quantity *quantity, double least, double largest, char *text, size_t size)
{
    const double suited = size_to_suit(quantity, least, largest);
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strcmp(prefixes[i].unit, quantity->unit) == 0 && suited >= prefixes[i].at_least) {
            quantity->scale = prefixes[i].scale;
            snprintf(text, size, "%s", prefixes[i].drawn);
            return;
        }
    const bool billions = largest >= 1e9, millions = largest >= 1e6;
    quantity->scale = billions ? 1e-9 : millions ? 1e-6 : 1;
    snprintf(text, size, "%s%s", billions ? "10⁹ " : millions ? "million " : "", quantity->unit);
}

/* "time_per_block_ns" in words: "time per block", for the unit stands behind it. */
static void key_in_words(const char *key, const char *unit, char *text, size_t size)
{
    static const char *const ends[][2] = {{"ns", "_ns"}, {"byte", "_bytes"}};
    ub_text_clean(key, text, size);
    const size_t length = strlen(text);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const size_t end = strlen(ends[i][1]);
        if (strcmp(unit, ends[i][0]) == 0 && length > end && strcmp(text + length - end, ends[i][1]) == 0)
            text[length - end] = 0;
    }
    for (char *c = text; *c; c++)
        if (*c == '_')
            *c = ' ';
}

void ub_quantity_label(struct ub_quantity *quantity, double least, double largest, char *text, size_t size)
{
    if (quantity->name) {
        ub_text_clean(quantity->name, text, size);
        return;
    }
    char unit[48];
    choose_unit(quantity, least, largest, unit, sizeof unit);
    key_in_words(quantity->key, quantity->unit, text, size);
    if (*unit)
        ub_text_append(text, size, "  [%s]", unit);
}
