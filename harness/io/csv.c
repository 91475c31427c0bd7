/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/io/formats.h"
#include "harness/io/text.h"

enum { DIGITS = 12 };

/* Names of all axes of a record, in the order of their first point; borrowed. */
struct axes {
    size_t count;
    const char **names;
};

/* One line: what is said of a point. */
struct row {
    const char *quantity, *kind, *unit;
    const char *value, *lo, *hi; /* numbers as text; "" is nothing */
    size_t n;                    /* 0: nothing */
};

static bool known(const struct axes *axes, const char *name)
{
    for (size_t i = 0; i < axes->count; i++)
        if (strcmp(axes->names[i], name) == 0)
            return true;
    return false;
}

static bool collect_axes(const struct ub_record *record, struct axes *axes)
{
    for (size_t i = 0; i < record->point_count; i++) {
        for (size_t k = 0; k < record->points[i].axis_count; k++) {
            const char *name = record->points[i].axes[k].name;
            if (known(axes, name))
                continue;
            const char **names = realloc(axes->names, (axes->count + 1) * sizeof *names);
            if (!names)
                return false;
            axes->names = names;
            axes->names[axes->count++] = name;
        }
    }
    return true;
}

/* A field of text. A spreadsheet takes one that begins with = + - @ or a control
 * character for a formula; an apostrophe in front makes it text again (OWASP, "CSV
 * Injection"). */
static void write_text(FILE *stream, const char *text)
{
    if (!text)
        return;
    bool formula = *text && strchr("=+-@\t\r\n", *text);
    bool quoted = strpbrk(text, "\",\r\n") != NULL;
    fputs(quoted ? "\"" : "", stream);
    fputs(formula ? "'" : "", stream);
    struct ub_char c;
    while (ub_next_char(&text, &c)) {
        if (c.code == '"')
            fputc('"', stream);
        fwrite(c.bytes, 1, c.length, stream);
    }
    fputs(quoted ? "\"" : "", stream);
}

static const char *number(double value, char *text, size_t size)
{
    return isfinite(value) ? ub_number(text, size, DIGITS, value) : "";
}

static void write_axis(FILE *stream, const struct ub_axis_value *axis)
{
    if (axis && axis->word)
        write_text(stream, axis->word);
    else if (axis)
        fprintf(stream, "%" PRId64, axis->number);
}

static void write_row(FILE *stream, const struct axes *axes, const struct ub_record_point *point, const struct row *row)
{
    write_text(stream, point->rule);
    fputc(',', stream);
    write_text(stream, point->sweep);
    for (size_t i = 0; i < axes->count; i++) {
        fputc(',', stream);
        write_axis(stream, ub_point_axis(point, axes->names[i]));
    }
    fputc(',', stream);
    write_text(stream, row->quantity);
    fprintf(stream, ",%s,", row->kind);
    write_text(stream, row->unit);
    fprintf(stream, ",%s,%s,%s,", row->value, row->lo, row->hi);
    if (row->n > 0)
        fprintf(stream, "%zu", row->n);
    fprintf(stream, ",%s,", ub_status_names[point->status]);
    write_text(stream, point->reason);
    fputs("\r\n", stream);
}

static void write_header(FILE *stream, const struct axes *axes)
{
    static const char *const fixed[] = {"rule", "sweep", "quantity", "kind",   "unit",  "value",
                                        "lo",   "hi",    "n",        "status", "reason"};
    fputs("rule,sweep", stream);
    for (size_t i = 0; i < axes->count; i++) {
        bool taken = false;
        for (size_t k = 0; k < sizeof fixed / sizeof fixed[0]; k++)
            taken |= strcmp(fixed[k], axes->names[i]) == 0;
        /* A rule may call an axis "n"; each name stands for one column only. */
        fputs(taken ? ",axis_" : ",", stream);
        write_text(stream, axes->names[i]);
    }
    fputs(",quantity,kind,unit,value,lo,hi,n,status,reason\r\n", stream);
}

static void write_times(FILE *stream, const struct axes *axes, const struct ub_record_point *point, const char *kind)
{
    char value[40], lo[40], hi[40];
    const struct ub_time *time = &point->time;
    if (time->n > 0) {
        struct row row = {"time",
                          kind,
                          "ns",
                          number(time->median, value, sizeof value),
                          number(time->ci_lo, lo, sizeof lo),
                          number(time->ci_hi, hi, sizeof hi),
                          time->n};
        write_row(stream, axes, point, &row);
    }
    if (isfinite(point->predicted_ns)) {
        struct row row = {"time", "predicted", "ns", number(point->predicted_ns, value, sizeof value), "", "", 0};
        write_row(stream, axes, point, &row);
    }
}

static void write_metrics(FILE *stream, const struct axes *axes, const struct ub_record_point *point, const char *kind,
                          const struct ub_record_metric *metrics, size_t count)
{
    char value[40];
    for (size_t i = 0; i < count; i++) {
        struct row row = {
            metrics[i].key, kind, metrics[i].unit, number(metrics[i].value, value, sizeof value), "", "", 0};
        if (isfinite(metrics[i].value))
            write_row(stream, axes, point, &row);
    }
}

static void write_counter(FILE *stream, const struct axes *axes, const struct ub_record_point *point, const char *kind,
                          const struct ub_record_counter *counter, uint64_t count)
{
    char value[40];
    snprintf(value, sizeof value, "%" PRIu64, count);
    struct row row = {counter->key, kind, counter->unit, value, "", "", 0};
    write_row(stream, axes, point, &row);
}

static void write_point(FILE *stream, const struct axes *axes, const struct ub_record *record,
                        const struct ub_record_point *point)
{
    const char *kind = ub_source_names[record->source];
    bool predicted = record->source == UB_PREDICTED;
    if (point->status != UB_POINT_OK) {
        struct row row = {"", "", "", "", "", "", 0};
        write_row(stream, axes, point, &row);
        return;
    }
    write_times(stream, axes, point, kind);
    /* A predicted record may have the same values under both names. */
    if (!predicted || point->predicted_metric_count == 0)
        write_metrics(stream, axes, point, kind, point->metrics, point->metric_count);
    write_metrics(stream, axes, point, "predicted", point->predicted_metrics, point->predicted_metric_count);
    for (size_t i = 0; i < point->counter_count; i++) {
        const struct ub_record_counter *counter = &point->counters[i];
        if (counter->has_measured)
            write_counter(stream, axes, point, kind, counter, counter->measured);
        if (counter->has_predicted)
            write_counter(stream, axes, point, "predicted", counter, counter->predicted);
    }
}

bool ub_write_csv(FILE *stream, const struct ub_record *record, struct ub_error *err)
{
    struct axes axes = {0};
    bool good = collect_axes(record, &axes);
    if (good) {
        write_header(stream, &axes);
        for (size_t i = 0; i < record->point_count; i++)
            write_point(stream, &axes, record, &record->points[i]);
    }
    free(axes.names);
    return good ? ub_stream_done(stream, err) : ub_fail(err, UB_INTERNAL, "out of memory");
}
