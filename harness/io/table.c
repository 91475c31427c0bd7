/* SPDX-License-Identifier: MIT */
#include "harness/io/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/io/formats.h"
#include "harness/io/text.h"

static const char nothing[] = "-";

/* ---- texts of single values ---------------------------------------------- */

void ub_axis_cell(const struct ub_axis_value *axis, bool utf8, char *text, size_t size)
{
    if (axis->word)
        ub_text_plain(text, size, axis->word, UB_CELL_COLUMNS, utf8);
    else
        snprintf(text, size, "%" PRId64, axis->number);
}

/* A share as a number of per cent; one beyond 15 digits as a power of ten. */
static char *per_cent(double share, int decimals, char *number, size_t size)
{
    double value = 100 * share;
    if (isinf(value) && isfinite(share))
        snprintf(number, size, value > 0 ? "> 1e+308" : "< -1e+308");
    else if (fabs(value) >= 1e15)
        ub_number(number, size, 4, value);
    else
        ub_fixed(number, size, decimals, value);
    return number;
}

static void format_share(double value, char *text, size_t size)
{
    char number[40];
    snprintf(text, size, "%s %%", per_cent(value, 1, number, sizeof number));
}

static void format_seconds(double value, char *text, size_t size)
{
    char number[40];
    if (fabs(value) < 1e15)
        ub_format_time(value * 1e9, text, size);
    else
        snprintf(text, size, "%s s", ub_number(number, sizeof number, 4, value));
}

void ub_value_cell(double value, const char *unit, char *text, size_t size)
{
    static const struct {
        const char *unit;
        void (*format)(double value, char *text, size_t size);
    } known[] = {{"B/s", ub_format_rate},   {"1", format_share},    {"B", ub_format_bytes},
                 {"byte", ub_format_bytes}, {"ns", ub_format_time}, {"s", format_seconds}};
    char number[40], plain[40];
    if (!isfinite(value)) {
        snprintf(text, size, "%s", nothing);
        return;
    }
    for (size_t i = 0; unit && i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(unit, known[i].unit) == 0) {
            known[i].format(value, text, size);
            return;
        }
    }
    ub_number(number, sizeof number, 4, value);
    ub_text_plain(plain, sizeof plain, unit ? unit : "", 24, false);
    snprintf(text, size, "%s%s%s", number, *plain ? " " : "", plain);
}

void ub_origin_text(const struct ub_record *record, bool utf8, char *text, size_t size)
{
    static const char *const formats[] = {"measured on %s", "PREDICTED for %s (no measurement)",
                                          "PUBLISHED by others for %s"};
    char name[200];
    const char *known = record->device.name ? record->device.name : record->device.slug;
    ub_text_plain(name, sizeof name, known ? known : "an unknown GPU", 60, utf8);
    snprintf(text, size, formats[record->source], name);
}

/* ---- cells --------------------------------------------------------------- */

/* A record that nothing was measured for has its values under `metrics`; where
 * they are missing, what the law says of them. */
static const struct ub_record_metric *value_of(const struct ub_table *table, const struct ub_record_point *point,
                                               const char *key)
{
    const struct ub_record_metric *metric = ub_point_metric(point, key);
    if (metric || table->record->source != UB_PREDICTED)
        return metric;
    return ub_point_predicted_metric(point, key);
}

static void axis_cell(const struct ub_table *table, const struct ub_column *column, const struct ub_record_point *point,
                      char *text, size_t size)
{
    const struct ub_axis_value *axis = ub_point_axis(point, column->key);
    if (axis)
        ub_axis_cell(axis, table->utf8, text, size);
    else
        snprintf(text, size, "%s", nothing);
}

/* Half of the interval relative to the median, in per cent. */
static void interval(const struct ub_time *time, const char *sign, char *text, size_t size)
{
    double half = 0.5 * (time->ci_hi - time->ci_lo) / time->median;
    char number[40];
    if (isfinite(half))
        snprintf(text, size, " %s%s %%", sign, per_cent(half, half < 0.09995 ? 2 : 0, number, sizeof number));
    else
        snprintf(text, size, " n=%zu", time->n);
}

static void time_cell(const struct ub_table *table, const struct ub_column *column, const struct ub_record_point *point,
                      char *text, size_t size)
{
    (void)column;
    char time[40], half[60];
    if (table->record->source == UB_PREDICTED) {
        ub_format_time(point->predicted_ns, time, sizeof time);
        snprintf(text, size, isfinite(point->predicted_ns) && !table->brief ? "%s pred." : "%s", time);
        return;
    }
    ub_format_time(point->time.n ? point->time.median : NAN, time, sizeof time);
    interval(&point->time, table->utf8 ? "\u00B1" : "+-", half, sizeof half);
    snprintf(text, size, "%s%s", time, point->time.n && !table->brief ? half : "");
}

static void metric_cell(const struct ub_table *table, const struct ub_column *column,
                        const struct ub_record_point *point, char *text, size_t size)
{
    const struct ub_record_metric *metric = value_of(table, point, column->key);
    ub_value_cell(metric ? metric->value : NAN, metric ? metric->unit : NULL, text, size);
}

double ub_column_share(const struct ub_table *table, const struct ub_column *column,
                       const struct ub_record_point *point)
{
    const struct ub_record_metric *metric = value_of(table, point, column->key);
    return metric ? metric->value : NAN;
}

static bool nearly(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* A ratio of exact counters is the law's where no counter is broken. One that is not, then, is
 * of estimates: about the law's if all of them are. */
static bool is_about(const struct ub_record_point *point)
{
    bool about = point->counter_verdict != UB_COUNTERS_BROKEN;
    for (size_t i = 0; i < point->counter_count; i++)
        about = about && !ub_estimate_deviates(&point->counters[i]);
    return about;
}

static const char *sign_of(const struct ub_table *table, const struct ub_record_point *point, double measured,
                           double law)
{
    if (nearly(measured, law))
        return "=";
    if (is_about(point))
        return table->utf8 ? "\u2248" : "~";
    return table->utf8 ? "\u2260" : "!=";
}

/* "32 = 32": measured, and what the law says. The unit stands in the title. */
static void compare(const struct ub_table *table, const struct ub_record_point *point, double measured, double law,
                    char *text, size_t size)
{
    char left[40], right[40];
    ub_number(left, sizeof left, 4, measured);
    ub_number(right, sizeof right, 4, law);
    if (isfinite(measured) && isfinite(law))
        snprintf(text, size, "%s %s %s", left, sign_of(table, point, measured, law), right);
    else if (isfinite(measured))
        snprintf(text, size, "%s", left);
    else
        snprintf(text, size, isfinite(law) ? "law %s" : "-", right);
}

static void ratio_cell(const struct ub_table *table, const struct ub_column *column,
                       const struct ub_record_point *point, char *text, size_t size)
{
    const struct ub_record_metric *metric = value_of(table, point, column->key);
    const struct ub_record_metric *law = ub_point_predicted_metric(point, column->key);
    if (table->record->source == UB_PREDICTED) {
        ub_value_cell(metric ? metric->value : NAN, "", text, size);
        return;
    }
    compare(table, point, metric ? metric->value : NAN, law ? law->value : NAN, text, size);
}

/* Counters are integers: compared as such, printed whole. */
static void counter_cell(const struct ub_table *table, const struct ub_column *column,
                         const struct ub_record_point *point, char *text, size_t size)
{
    const struct ub_record_counter *counter = ub_point_counter(point, column->key);
    bool measured = counter && counter->has_measured, predicted = counter && counter->has_predicted;
    const char *sign = measured && predicted && counter->measured == counter->predicted ? "=" : "!=";
    if (counter && counter->class_ == UB_ESTIMATE)
        sign = table->utf8 ? "\u2248" : "~";
    if (table->record->source == UB_PREDICTED)
        measured = false;
    if (measured && predicted)
        snprintf(text, size, "%" PRIu64 " %s %" PRIu64, counter->measured, sign, counter->predicted);
    else if (measured)
        snprintf(text, size, "%" PRIu64, counter->measured);
    else if (predicted)
        snprintf(text, size, table->record->source == UB_PREDICTED ? "%" PRIu64 : "law %" PRIu64, counter->predicted);
    else
        snprintf(text, size, "%s", nothing);
}

static const char *verdict_word(const char *name)
{
    return strcmp(name, "not-tested") == 0 ? "not tested" : name;
}

static void counters_cell(const struct ub_table *table, const struct ub_column *column,
                          const struct ub_record_point *point, char *text, size_t size)
{
    (void)table;
    (void)column;
    bool tested = point->counter_verdict != UB_COUNTERS_NOT_TESTED;
    for (size_t i = 0; i < point->counter_count; i++)
        tested |= point->counters[i].has_measured;
    snprintf(text, size, "%s", tested ? verdict_word(ub_counter_verdict_names[point->counter_verdict]) : nothing);
}

static enum ub_tone counters_tone(const struct ub_record_point *point)
{
    static const enum ub_tone tones[] = {UB_TONE_GOOD, UB_TONE_BAD, UB_TONE_PLAIN};
    return tones[point->counter_verdict];
}

static void format_residual(double residual, char *text, size_t size)
{
    char number[40];
    if (isfinite(residual))
        snprintf(text, size, "%s%s %%", residual < 0 ? "" : "+", per_cent(residual, 1, number, sizeof number));
    else
        snprintf(text, size, "%s", nothing);
}

static void law_cell(const struct ub_table *table, const struct ub_column *column, const struct ub_record_point *point,
                     char *text, size_t size)
{
    (void)table;
    (void)column;
    char residual[60];
    format_residual(point->residual, residual, sizeof residual);
    if (isfinite(point->residual) || point->time_verdict != UB_TIME_NOT_TESTED)
        snprintf(text, size, "%8s %s", residual, verdict_word(ub_time_verdict_names[point->time_verdict]));
    else
        snprintf(text, size, "%s", nothing);
}

static enum ub_tone law_tone(const struct ub_record_point *point)
{
    static const enum ub_tone tones[] = {UB_TONE_GOOD, UB_TONE_DOUBTFUL, UB_TONE_PLAIN};
    return tones[point->time_verdict];
}

static void bottleneck_cell(const struct ub_table *table, const struct ub_column *column,
                            const struct ub_record_point *point, char *text, size_t size)
{
    (void)column;
    ub_text_plain(text, size, point->bottleneck ? point->bottleneck : nothing, 24, table->utf8);
}

static void term_cell(const struct ub_table *table, const struct ub_column *column, const struct ub_record_point *point,
                      char *text, size_t size)
{
    (void)table;
    snprintf(text, size, "%s", nothing);
    for (size_t i = 0; i < point->term_count; i++)
        if (strcmp(point->terms[i].name, column->key) == 0)
            ub_format_time(point->terms[i].time_ns, text, size);
}

/* ---- columns ------------------------------------------------------------- */

/* "sectors_per_request" -> "sectors/request", "useful_bandwidth" -> "useful bandwidth". */
static void make_title(const struct ub_table *table, const char *key, const char *suffix, char *title, size_t size)
{
    char plain[UB_CELL_SIZE];
    ub_text_plain(plain, sizeof plain, key, 32, table->utf8);
    char *per = strstr(plain, "_per_");
    if (per) {
        *per = '/';
        memmove(per + 1, per + 5, strlen(per + 5) + 1);
    }
    for (char *c = plain; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    snprintf(title, size, "%.120s%s", plain, suffix);
}

/* Adds the column unless no point has anything to say in it. The column of the time
 * always stands: a lost point says there why. */
static void add(struct ub_table *table, struct ub_column column, const char *title, const char *suffix)
{
    char text[UB_CELL_SIZE];
    bool filled = column.rank == UB_RANK_TIME;
    for (size_t i = 0; i < table->point_count && !filled; i++) {
        if (table->points[i]->status != UB_POINT_OK && column.rank > 0)
            continue;
        column.cell(table, &column, table->points[i], text, sizeof text);
        filled = strcmp(text, nothing) != 0;
    }
    if (!filled || table->column_count == UB_TABLE_COLUMNS)
        return;
    make_title(table, title, suffix, column.title, sizeof column.title);
    table->columns[table->column_count++] = column;
}

static bool has_column(const struct ub_table *table, const char *key)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].key && strcmp(table->columns[i].key, key) == 0)
            return true;
    return false;
}

static bool same_axis(const struct ub_axis_value *a, const struct ub_axis_value *b)
{
    if (!a || !b)
        return a == b;
    if (a->word && b->word)
        return strcmp(a->word, b->word) == 0;
    return !a->word && !b->word && a->number == b->number;
}

static bool varies(const struct ub_table *table, const char *axis)
{
    const struct ub_axis_value *first = ub_point_axis(table->points[0], axis);
    for (size_t i = 1; i < table->point_count; i++)
        if (!same_axis(first, ub_point_axis(table->points[i], axis)))
            return true;
    return false;
}

const char *ub_table_common(const struct ub_table *table, size_t offset)
{
    const char *first = NULL;
    for (size_t i = 0; i < table->point_count; i++) {
        const void *at = (const char *)table->points[i] + offset;
        const char *word = *(char *const *)at;
        if (word && first && strcmp(first, word) != 0)
            return NULL;
        first = word ? word : first;
    }
    return first;
}

/* The axes of the first point stand for all: a rule's points have the same axes. */
static void add_axes(struct ub_table *table)
{
    const struct ub_record_point *point = table->points[0];
    for (size_t i = 0; i < point->axis_count; i++) {
        const char *name = point->axes[i].name;
        if (has_column(table, name))
            continue;
        if (varies(table, name))
            add(table, (struct ub_column){.key = name, .cell = axis_cell, .left = point->axes[i].word != NULL}, name,
                "");
        else if (table->fixed_count < UB_MAX_AXES)
            table->fixed[table->fixed_count++] = name;
    }
}

static bool is_share(const struct ub_record_metric *metric)
{
    return metric->unit && strcmp(metric->unit, "1") == 0;
}

bool ub_metric_is_ratio(const struct ub_record_metric *metric)
{
    return metric->unit && strchr(metric->unit, '/') && !strstr(metric->unit, "/s") && !strstr(metric->unit, "/cycle");
}

/* Metrics of the first point that has any: headline, first share, ratios, others. */
static const struct ub_record_point *point_with_metrics(const struct ub_table *table, size_t *count,
                                                        const struct ub_record_metric **metrics)
{
    for (size_t i = 0; i < table->point_count; i++) {
        const struct ub_record_point *point = table->points[i];
        bool own = point->metric_count > 0;
        *metrics = own ? point->metrics : point->predicted_metrics;
        *count = own ? point->metric_count : point->predicted_metric_count;
        if (*count > 0 && point->status == UB_POINT_OK)
            return point;
    }
    *count = 0;
    return NULL;
}

static void add_headline(struct ub_table *table)
{
    size_t count = 0;
    const struct ub_record_metric *metrics = NULL;
    if (!point_with_metrics(table, &count, &metrics))
        return;
    add(table, (struct ub_column){.key = metrics[0].key, .cell = metric_cell, .rank = UB_RANK_HEADLINE}, metrics[0].key,
        "");
    for (size_t i = 1; i < count; i++) {
        struct ub_column column = {.key = metrics[i].key, .cell = metric_cell, .rank = UB_RANK_SHARE, .bar = true};
        if (is_share(&metrics[i])) {
            add(table, column, metrics[i].key, "");
            return;
        }
    }
}

static void add_ratios(struct ub_table *table)
{
    size_t count = 0;
    const struct ub_record_metric *metrics = NULL;
    bool predicted = table->record->source == UB_PREDICTED;
    if (!point_with_metrics(table, &count, &metrics))
        return;
    for (size_t i = 1, ratios = 0; i < count; i++) {
        struct ub_column column = {.key = metrics[i].key, .cell = ratio_cell, .rank = UB_RANK_RATIO};
        if (!ub_metric_is_ratio(&metrics[i]) || has_column(table, metrics[i].key))
            continue;
        column.rank = ratios++ ? UB_RANK_MORE : UB_RANK_RATIO;
        add(table, column, metrics[i].key, predicted ? "" : " = law");
    }
    for (size_t i = 1; i < count; i++)
        if (!has_column(table, metrics[i].key))
            add(table, (struct ub_column){.key = metrics[i].key, .cell = metric_cell, .rank = UB_RANK_MORE},
                metrics[i].key, "");
}

/* Counters as such only where no ratio speaks for them, or all with -v. */
static void add_counters(struct ub_table *table)
{
    bool predicted = table->record->source == UB_PREDICTED, has_ratio = false;
    for (size_t i = 0; i < table->column_count; i++)
        has_ratio |= table->columns[i].cell == ratio_cell;
    size_t wanted = table->verbose ? SIZE_MAX : has_ratio ? 0 : 1;
    const struct ub_record_point *point = table->points[0];
    for (size_t i = 0; i < point->counter_count && i < wanted; i++) {
        struct ub_column column = {.key = point->counters[i].key, .cell = counter_cell, .rank = UB_RANK_LEAST};
        if (!has_column(table, column.key))
            add(table, column, column.key, predicted ? "" : " = law");
    }
}

static void add_terms(struct ub_table *table)
{
    const struct ub_record_point *point = table->points[0];
    for (size_t i = 0; table->verbose && i < point->term_count; i++)
        add(table, (struct ub_column){.key = point->terms[i].name, .cell = term_cell, .rank = UB_RANK_LEAST},
            point->terms[i].name, " term");
}

static void add_columns(struct ub_table *table)
{
    bool predicted = table->record->source == UB_PREDICTED;
    add_axes(table);
    add(table, (struct ub_column){.cell = time_cell, .rank = UB_RANK_TIME}, predicted ? "predicted time" : "time", "");
    add_headline(table);
    add_ratios(table);
    if (!predicted) {
        add(table,
            (struct ub_column){.cell = counters_cell, .tone = counters_tone, .rank = UB_RANK_VERDICT, .left = true},
            "counters", "");
        add(table, (struct ub_column){.cell = law_cell, .tone = law_tone, .rank = UB_RANK_LAW, .left = true},
            "time against law", "");
    }
    if (!ub_table_common(table, offsetof(struct ub_record_point, bottleneck)))
        add(table,
            (struct ub_column){.cell = bottleneck_cell, .rank = predicted ? UB_RANK_LAW : UB_RANK_LEAST, .left = true},
            "limited by", "");
    add_counters(table);
    add_terms(table);
}

/* ---- tables -------------------------------------------------------------- */

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static bool same_group(const struct ub_record_point *a, const struct ub_record_point *b)
{
    return strcmp(or_empty(a->rule), or_empty(b->rule)) == 0 && strcmp(or_empty(a->sweep), or_empty(b->sweep)) == 0;
}

bool ub_table_begins(const struct ub_record *record, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (same_group(&record->points[i], &record->points[index]))
            return false;
    return true;
}

bool ub_table_build(struct ub_table *table, const struct ub_record *record, size_t first, bool utf8, bool verbose,
                    struct ub_error *err)
{
    const struct ub_record_point *model = &record->points[first];
    *table = (struct ub_table){.record = record,
                               .rule = or_empty(model->rule),
                               .sweep = or_empty(model->sweep),
                               .utf8 = utf8,
                               .verbose = verbose};
    table->points = calloc(record->point_count - first, sizeof(const struct ub_record_point *));
    if (!table->points)
        return ub_fail(err, UB_INTERNAL, "out of memory");
    for (size_t i = first; i < record->point_count; i++)
        if (same_group(&record->points[i], model))
            table->points[table->point_count++] = &record->points[i];
    add_columns(table);
    return true;
}

void ub_table_free(struct ub_table *table)
{
    free(table->points);
    *table = (struct ub_table){0};
}

/* ---- totals -------------------------------------------------------------- */

void ub_totals_of(const struct ub_record *record, struct ub_totals *totals)
{
    *totals = (struct ub_totals){.points = record->point_count};
    for (size_t i = 0; i < record->point_count; i++) {
        const struct ub_record_point *point = &record->points[i];
        totals->status[point->status]++;
        if (point->status != UB_POINT_OK)
            continue;
        totals->counters[point->counter_verdict]++;
        totals->time[point->time_verdict]++;
        if (point->time_verdict == UB_TIME_DEVIATES && isfinite(point->residual) &&
            (!totals->worst || fabs(point->residual) > fabs(totals->worst->residual)))
            totals->worst = point;
    }
}

typedef void (*print_sentence)(void *user, enum ub_tone tone, const char *sentence);

static void tell_points(const struct ub_totals *totals, print_sentence print, void *user)
{
    char text[200];
    size_t used = (size_t)snprintf(text, sizeof text, "%zu point%s", totals->points, totals->points == 1 ? "" : "s");
    const char *separator = ": ";
    for (size_t i = 0; i < sizeof totals->status / sizeof totals->status[0]; i++) {
        if (totals->status[i] == 0)
            continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%zu %s", separator, totals->status[i],
                                 ub_status_names[i]);
        separator = ", ";
    }
    bool lost = totals->status[UB_POINT_FAILED] + totals->status[UB_POINT_TIMEOUT] > 0;
    print(user, lost ? UB_TONE_BAD : UB_TONE_PLAIN, text);
}

static void tell_counters(const struct ub_totals *totals, print_sentence print, void *user)
{
    char text[200];
    snprintf(text, sizeof text, "counters: the law holds at %zu, is broken at %zu, not tested at %zu",
             totals->counters[UB_COUNTERS_HOLD], totals->counters[UB_COUNTERS_BROKEN],
             totals->counters[UB_COUNTERS_NOT_TESTED]);
    bool tested = totals->counters[UB_COUNTERS_HOLD] > 0;
    print(user, totals->counters[UB_COUNTERS_BROKEN] ? UB_TONE_BAD : tested ? UB_TONE_GOOD : UB_TONE_PLAIN, text);
}

static void tell_time(const struct ub_totals *totals, bool utf8, print_sentence print, void *user)
{
    char text[700], worst[500] = "", residual[60], label[300], plain[300];
    if (totals->worst) {
        ub_point_label(totals->worst, label, sizeof label);
        format_residual(totals->worst->residual, residual, sizeof residual);
        snprintf(worst, sizeof worst, " (most: %s at %s)", residual,
                 ub_text_plain(plain, sizeof plain, label, 100, utf8));
    }
    snprintf(text, sizeof text, "time: the law holds at %zu, deviates at %zu%s, not tested at %zu",
             totals->time[UB_TIME_HOLDS], totals->time[UB_TIME_DEVIATES], worst, totals->time[UB_TIME_NOT_TESTED]);
    bool tested = totals->time[UB_TIME_HOLDS] > 0;
    print(user, totals->time[UB_TIME_DEVIATES] ? UB_TONE_DOUBTFUL : tested ? UB_TONE_GOOD : UB_TONE_PLAIN, text);
}

void ub_totals_text(const struct ub_record *record, const struct ub_totals *totals, bool utf8, print_sentence print,
                    void *user)
{
    tell_points(totals, print, user);
    if (record->source == UB_PREDICTED) {
        print(user, UB_TONE_PLAIN, "all values follow from the laws; nothing was measured, no law was tested");
        return;
    }
    tell_counters(totals, print, user);
    tell_time(totals, utf8, print, user);
    if (!record->run.complete && record->source == UB_MEASURED)
        print(user, UB_TONE_BAD, "the run ended early: this record is incomplete (--resume goes on with it)");
}
