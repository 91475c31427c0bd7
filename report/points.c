/* SPDX-License-Identifier: MIT */
#include "report/points.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "harness/io/table.h"
#include "harness/io/text.h"
#include "report/html.h"

enum { COLUMNS = UB_MAX_AXES + 2 * UB_MAX_METRICS + 8, TITLE_BYTES = 160, CELL_BYTES = 200 };

struct points;
struct column;

/* The number of a point in a column, in the unit of the record; NaN: none. */
typedef double (*value_of)(const struct column *column, const struct ub_record_point *point);
/* Or its words. */
typedef void (*words_of)(const struct points *points, const struct column *column, const struct ub_record_point *point,
                         char *text, size_t size);

struct column {
    char title[TITLE_BYTES], unit[40];
    const char *key;
    value_of value;
    words_of words;
    bool left, is_signed;
    double scale;
    int decimals; /* -1: as many as four digits need */
};

struct points {
    const struct ub_record *record;
    struct ub_table table;
    size_t count;
    struct column columns[COLUMNS];
    char common[CELL_BYTES]; /* what the columns of words would say at every point */
};

/* ---- values ---------------------------------------------------------------------- */

static double time_value(const struct column *column, const struct ub_record_point *point)
{
    (void)column;
    return point->time.n ? point->time.median : NAN;
}

static double interval_value(const struct column *column, const struct ub_record_point *point)
{
    (void)column;
    return point->time.n ? 0.5 * (point->time.ci_hi - point->time.ci_lo) / point->time.median : NAN;
}

static double law_value(const struct column *column, const struct ub_record_point *point)
{
    (void)column;
    return point->predicted_ns;
}

static double residual_value(const struct column *column, const struct ub_record_point *point)
{
    (void)column;
    return point->residual;
}

static double metric_value(const struct column *column, const struct ub_record_point *point)
{
    const struct ub_record_metric *metric = ub_point_metric(point, column->key);
    return metric ? metric->value : NAN;
}

static double predicted_value(const struct column *column, const struct ub_record_point *point)
{
    const struct ub_record_metric *metric = ub_point_predicted_metric(point, column->key);
    return metric ? metric->value : NAN;
}

static void axis_words(const struct points *points, const struct column *column, const struct ub_record_point *point,
                       char *text, size_t size)
{
    (void)points;
    const struct ub_axis_value *axis = ub_point_axis(point, column->key);
    *text = 0;
    if (axis)
        ub_axis_cell(axis, true, text, size);
}

static const char *shown(const char *verdict)
{
    return strcmp(verdict, "not-tested") == 0 ? "not tested" : verdict;
}

static void counters_words(const struct points *points, const struct column *column,
                           const struct ub_record_point *point, char *text, size_t size)
{
    (void)points;
    (void)column;
    snprintf(text, size, "%s", shown(ub_counter_verdict_names[point->counter_verdict]));
}

static void time_words(const struct points *points, const struct column *column, const struct ub_record_point *point,
                       char *text, size_t size)
{
    (void)points;
    (void)column;
    snprintf(text, size, "%s", shown(ub_time_verdict_names[point->time_verdict]));
}

/* The codes of the warnings that the record has of this point. */
static void warning_words(const struct points *points, const struct column *column, const struct ub_record_point *point,
                          char *text, size_t size)
{
    (void)column;
    const struct ub_record *record = points->record;
    size_t used = 0;
    *text = 0;
    for (size_t i = 0; i < record->warning_count && used < size; i++)
        if (record->warnings[i].point == point - record->points)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     record->warnings[i].code ? record->warnings[i].code : "?");
}

/* ---- units ----------------------------------------------------------------------- */

struct unit {
    const char *of; /* the record's unit */
    double size;
    const char *name;
};

/* The last row of a unit is its smallest. */
static const struct unit units[] = {
    {"ns", 1e9, "s"},
    {"ns", 1e6, "ms"},
    {"ns", 1e3, "\u00B5s"},
    {"ns", 1, "ns"},
    {"B/s", 1e12, "TB/s"},
    {"B/s", 1e9, "GB/s"},
    {"B/s", 1e6, "MB/s"},
    {"B/s", 1, "B/s"},
    {"byte", 0x1p30, "GiB"},
    {"byte", 0x1p20, "MiB"},
    {"byte", 0x1p10, "KiB"},
    {"byte", 1, "B"},
    {"FLOP/s", 1e12, "TFLOP/s"},
    {"FLOP/s", 1e9, "GFLOP/s"},
    {"FLOP/s", 1, "FLOP/s"},
    {"1", 0.01, "%"},
};

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The column's finite values without their signs, ascending. Returns how many; the caller
 * frees them. */
static size_t sizes_of(const struct points *points, const struct column *column, double **sizes)
{
    size_t count = 0;
    *sizes = malloc((points->table.point_count + 1) * sizeof **sizes);
    for (size_t i = 0; *sizes && i < points->table.point_count; i++) {
        const struct ub_record_point *point = points->table.points[i];
        const double value = point->status == UB_POINT_OK ? column->value(column, point) : NAN;
        if (isfinite(value))
            (*sizes)[count++] = fabs(value);
    }
    if (count > 0)
        qsort(*sizes, count, sizeof **sizes, compare_doubles);
    return count;
}

/* The unit in which the middle value of the column is at least 1. */
static void choose_unit(struct column *column, const char *unit, double middle)
{
    const struct unit *chosen = NULL;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(units[i].of, unit) == 0 && (!chosen || middle < chosen->size))
            chosen = &units[i];
    column->scale = chosen ? 1 / chosen->size : 1;
    snprintf(column->unit, sizeof column->unit, "%s", chosen ? chosen->name : unit);
}

/* The decimals that give the largest value four digits, unless the smallest would lose its
 * own; whole numbers have none. */
static int choose_decimals(const double *sizes, size_t count, double scale)
{
    bool whole = true;
    double least = INFINITY;
    for (size_t i = 0; i < count; i++) {
        whole = whole && sizes[i] * scale == floor(sizes[i] * scale);
        least = sizes[i] > 0 ? fmin(least, sizes[i] * scale) : least;
    }
    const double most = sizes[count - 1] * scale;
    if (whole && most < 1e15)
        return 0;
    const int decimals = most < 1e-3 || most >= 1e9 ? -1 : most < 1 ? 4 : (int)fmax(0, 3 - floor(log10(most)));
    return decimals >= 0 && least < 10 * pow(10, -decimals) ? -1 : decimals;
}

/* ---- columns --------------------------------------------------------------------- */

/* "sectors_per_request" as "sectors / request". */
static void title_of_key(const char *key, const char *after, char *title, size_t size)
{
    char plain[TITLE_BYTES];
    ub_text_plain(plain, sizeof plain, key, 60, true);
    for (char *c = plain; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    char *per = strstr(plain, " per ");
    if (per)
        snprintf(title, size, "%.*s / %s%s", (int)(per - plain), plain, per + strlen(" per "), after);
    else
        snprintf(title, size, "%s%s", plain, after);
}

static struct column *add(struct points *points, struct column column, const char *title)
{
    if (points->count == COLUMNS)
        return NULL;
    snprintf(column.title, sizeof column.title, "%s", title);
    points->columns[points->count] = column;
    return &points->columns[points->count++];
}

/* A column of numbers, unless no point has one. `decimals` -2: chosen. */
static void add_numbers(struct points *points, struct column column, const char *title, const char *unit, int decimals)
{
    double *sizes = NULL;
    const size_t count = sizes_of(points, &column, &sizes);
    if (count > 0) {
        choose_unit(&column, unit ? unit : "", sizes[count / 2]);
        column.decimals = decimals == -2 ? choose_decimals(sizes, count, column.scale) : decimals;
        if (decimals == -2 && column.decimals >= 0 && strcmp(column.unit, "%") == 0)
            column.decimals = 2; /* shares are compared by their hundredths */
        add(points, column, title);
    }
    free(sizes);
}

/* A column of words. One that would say the same at every point says it in the caption. */
static void add_words(struct points *points, struct column column, const char *title)
{
    char text[CELL_BYTES], first[CELL_BYTES] = "";
    bool same = true, begun = false;
    for (size_t i = 0; i < points->table.point_count; i++) {
        if (points->table.points[i]->status != UB_POINT_OK)
            continue;
        column.words(points, &column, points->table.points[i], text, sizeof text);
        same = same && (!begun || strcmp(text, first) == 0);
        if (!begun)
            memcpy(first, text, sizeof first);
        begun = true;
    }
    column.left = true;
    if (!same)
        add(points, column, title);
    else if (*first)
        snprintf(points->common + strlen(points->common), sizeof points->common - strlen(points->common), "; %s: %s",
                 title, first);
}

static bool is_fixed(const struct ub_table *table, const char *name)
{
    for (size_t i = 0; i < table->fixed_count; i++)
        if (strcmp(table->fixed[i], name) == 0)
            return true;
    return false;
}

static const char *unit_of_axis(const struct ub_table *table, const char *name)
{
    for (size_t i = 0; i < ub_entry_count; i++) {
        const struct ub_micro *micro = ub_entries[i].micro;
        for (size_t a = 0; a < micro->axis_count && strcmp(micro->name, table->rule) == 0; a++)
            if (strcmp(micro->axes[a].name, name) == 0)
                return micro->axes[a].unit;
    }
    return "";
}

static void add_axes(struct points *points)
{
    const struct ub_record_point *model = points->table.points[0];
    for (size_t i = 0; i < model->axis_count; i++) {
        const char *name = model->axes[i].name;
        if (is_fixed(&points->table, name))
            continue;
        struct column *column = add(points, (struct column){.key = name, .words = axis_words}, name);
        if (!column)
            return;
        title_of_key(name, "", column->title, sizeof column->title);
        snprintf(column->unit, sizeof column->unit, "%s", unit_of_axis(&points->table, name));
        column->left = model->axes[i].word != NULL;
    }
}

static bool equals_law(const struct points *points, const char *key)
{
    const struct column column = {.key = key};
    for (size_t i = 0; i < points->table.point_count; i++) {
        const struct ub_record_point *point = points->table.points[i];
        const double value = metric_value(&column, point), law = predicted_value(&column, point);
        if (point->status == UB_POINT_OK && !(fabs(value - law) <= 1e-9 * fabs(law)) && !(isnan(value) && isnan(law)))
            return false;
    }
    return true;
}

static void add_metric(struct points *points, const struct ub_record_metric *metric)
{
    char title[TITLE_BYTES], key[TITLE_BYTES];
    const bool ratio = ub_metric_is_ratio(metric), measured = points->record->source == UB_MEASURED;
    const bool equal = ratio && measured && equals_law(points, metric->key);
    const char *unit = ratio ? "" : metric->unit;
    ub_text_plain(key, sizeof key, metric->key, 60, true);
    const size_t length = strlen(key);
    if (length > 3 && strcmp(key + length - 3, "_ns") == 0 && strcmp(unit, "ns") == 0)
        key[length - 3] = 0; /* the unit stands in the heading */
    title_of_key(key, equal ? " = law" : "", title, sizeof title);
    add_numbers(points, (struct column){.key = metric->key, .value = metric_value}, title, unit, -2);
    if (!ratio || equal || !measured)
        return;
    title_of_key(key, ", law", title, sizeof title);
    add_numbers(points, (struct column){.key = metric->key, .value = predicted_value}, title, unit, -2);
}

/* Metrics of the first point that has any. */
static void add_metrics(struct points *points)
{
    for (size_t i = 0; i < points->table.point_count; i++) {
        const struct ub_record_point *point = points->table.points[i];
        if (point->metric_count == 0 || point->status != UB_POINT_OK)
            continue;
        for (size_t m = 0; m < point->metric_count; m++)
            if (strcmp(point->metrics[m].key, "time_ns") != 0) /* that column stands already */
                add_metric(points, &point->metrics[m]);
        return;
    }
}

static void add_columns(struct points *points)
{
    add_axes(points);
    add_numbers(points, (struct column){.value = time_value}, "time", "ns", -2);
    add_numbers(points, (struct column){.value = interval_value}, "\u00B1", "1", 2);
    add_numbers(points, (struct column){.value = law_value}, "time, law", "ns", -2);
    add_numbers(points, (struct column){.value = residual_value, .is_signed = true}, "off by", "1", 1);
    add_metrics(points);
    add_words(points, (struct column){.words = counters_words}, "counters against the law");
    add_words(points, (struct column){.words = time_words}, "time against the law");
    add_words(points, (struct column){.words = warning_words}, "warnings");
}

/* ---- writing --------------------------------------------------------------------- */

static void cell_text(const struct points *points, const struct column *column, const struct ub_record_point *point,
                      char *text, size_t size)
{
    char number[60];
    if (column->words) {
        column->words(points, column, point, text, size);
        return;
    }
    const double value = column->value(column, point) * column->scale;
    if (!isfinite(value)) {
        snprintf(text, size, "\u2013");
        return;
    }
    if (column->decimals < 0 || fabs(value) >= 1e15)
        ub_number(number, sizeof number, 4, value);
    else
        ub_fixed(number, sizeof number, column->decimals, value);
    const bool zero = strspn(number, "-0.") == strlen(number); /* "-0.0" */
    snprintf(text, size, "%s%s", column->is_signed && value > 0 && !zero ? "+" : "", number + (zero && *number == '-'));
}

static bool is_axis(const struct column *column)
{
    return column->words == axis_words;
}

/* The row's first cell names the point. */
static void write_cell(FILE *out, const struct points *points, size_t index, const struct ub_record_point *point)
{
    const struct column *column = &points->columns[index];
    const bool names = index == 0 && is_axis(column);
    char text[CELL_BYTES];
    cell_text(points, column, point, text, sizeof text);
    fputs(names ? "<th scope=\"row\"" : "<td", out);
    ub_html(out, column->left ? " class=\"l\">%s" : ">%s", text);
    fputs(names ? "</th>" : "</td>", out);
}

/* A point without a result says why. */
static void write_lost(FILE *out, const struct points *points, size_t axes, const struct ub_record_point *point)
{
    ub_html(out, "<td class=\"l\" colspan=\"%zu\">%s%s%s</td>", points->count - axes, ub_status_names[point->status],
            point->reason ? ": " : "", point->reason);
}

static void write_row(FILE *out, const struct points *points, const struct ub_record_point *point)
{
    size_t axes = 0;
    while (axes < points->count && is_axis(&points->columns[axes]))
        axes++;
    const bool lost = point->status != UB_POINT_OK && axes < points->count;
    const bool off = point->counter_verdict == UB_COUNTERS_BROKEN || point->time_verdict == UB_TIME_DEVIATES;
    fputs(off ? "<tr class=\"off\">" : "<tr>", out);
    for (size_t i = 0; i < (lost ? axes : points->count); i++)
        write_cell(out, points, i, point);
    if (lost)
        write_lost(out, points, axes, point);
    fputs("</tr>\n", out);
}

static void write_head(FILE *out, const struct points *points)
{
    fputs("<thead><tr>", out);
    for (size_t i = 0; i < points->count; i++) {
        const struct column *column = &points->columns[i];
        fputs(column->left ? "<th scope=\"col\" class=\"l\">" : "<th scope=\"col\">", out);
        ub_html(out, "%s", column->title);
        if (*column->unit)
            ub_html(out, " <span>[%s]</span>", column->unit);
        fputs("</th>", out);
    }
    fputs("</tr></thead>\n", out);
}

/* What all points have in common. */
static void write_caption(FILE *out, const struct points *points)
{
    static const size_t common[] = {offsetof(struct ub_record_point, cache), offsetof(struct ub_record_point, data),
                                    offsetof(struct ub_record_point, level)};
    static const char *const before[] = {"caches ", "data ", "footprint in "};
    const struct ub_table *table = &points->table;
    char origin[300];
    ub_origin_text(points->record, true, origin, sizeof origin);
    ub_html(out, "<caption>%s, sweep %s, %s", table->rule, table->sweep, origin);
    for (size_t i = 0; i < table->fixed_count; i++) {
        char value[CELL_BYTES];
        ub_axis_cell(ub_point_axis(table->points[0], table->fixed[i]), true, value, sizeof value);
        ub_html(out, "; %s %s", table->fixed[i], value);
    }
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++) {
        const char *word = ub_table_common(table, common[i]);
        if (word && strcmp(word, "none") != 0)
            ub_html(out, "; %s%s", before[i], word);
    }
    ub_html(out, "%s</caption>\n", points->common);
}

bool ub_points_write(FILE *out, const struct ub_record *record, size_t first, struct ub_error *err)
{
    struct points *points = calloc(1, sizeof *points);
    if (!points)
        return ub_fail(err, UB_INTERNAL, "out of memory while writing a table");
    points->record = record;
    const bool ok = ub_table_build(&points->table, record, first, true, false, err);
    if (ok) {
        add_columns(points);
        const size_t rows = points->table.point_count;
        ub_html(out, "<details><summary>Table of %zu point%s</summary>\n", rows, rows == 1 ? "" : "s");
        fputs("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"table\"><table class=\"points\">\n",
              out);
        write_caption(out, points);
        write_head(out, points);
        fputs("<tbody>\n", out);
        for (size_t i = 0; i < rows; i++)
            write_row(out, points, points->table.points[i]);
        fputs("</tbody></table></div></details>\n", out);
        ub_table_free(&points->table);
    }
    free(points);
    return ok;
}
