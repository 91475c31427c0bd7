/* SPDX-License-Identifier: MIT
 *
 * OpenMetrics 1.0 text: gauges in base units, the samples of a family together,
 * "# EOF" at the end. For node_exporter's textfile collector. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "harness/io/formats.h"
#include "harness/io/text.h"

struct writer {
    FILE *stream;
    const struct ub_record *record;
};

static void write_value(FILE *stream, const char *text)
{
    struct ub_char c;
    while (ub_next_char(&text, &c)) {
        if (c.code == '\n')
            fputs("\\n", stream);
        else if (c.code == '"' || c.code == '\\')
            fprintf(stream, "\\%c", (int)c.code);
        else if (ub_char_is_control(c.code))
            fputc('?', stream);
        else
            fwrite(c.bytes, 1, c.length, stream);
    }
}

/* A label's name has only [a-zA-Z0-9_] and must not be one of ours. */
static void write_axis_name(FILE *stream, const char *name)
{
    static const char *const ours[] = {"rule", "sweep", "gpu", "source", "stat", "key",
                                       "unit", "kind",  "law", "status", "le",   "quantile"};
    bool prefixed = !((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z'));
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        prefixed |= strcmp(name, ours[i]) == 0;
    fputs(prefixed ? "axis_" : "", stream);
    for (; *name; name++) {
        bool plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') || (*name >= '0' && *name <= '9');
        fputc(plain ? *name : '_', stream);
    }
}

static void write_label(FILE *stream, const char *name, const char *value)
{
    fprintf(stream, ",%s=\"", name);
    write_value(stream, value ? value : "");
    fputc('"', stream);
}

/* `family{rule=...,axes...`, open for more labels. */
static void begin(const struct writer *writer, const char *family, const struct ub_record_point *point)
{
    FILE *stream = writer->stream;
    fprintf(stream, "%s{rule=\"", family);
    write_value(stream, point->rule);
    fputc('"', stream);
    write_label(stream, "sweep", point->sweep);
    write_label(stream, "gpu", writer->record->device.name);
    write_label(stream, "source", ub_source_names[writer->record->source]);
    for (size_t i = 0; i < point->axis_count; i++) {
        const struct ub_axis_value *axis = &point->axes[i];
        fputc(',', stream);
        write_axis_name(stream, axis->name);
        fputs("=\"", stream);
        if (axis->word)
            write_value(stream, axis->word);
        else
            fprintf(stream, "%" PRId64, axis->number);
        fputc('"', stream);
    }
}

static void end(const struct writer *writer, double value)
{
    char text[40];
    fprintf(writer->stream, "} %s\n", ub_number(text, sizeof text, 12, value));
}

static void write_times(const struct writer *writer, const char *family, const struct ub_record_point *point)
{
    const struct {
        const char *stat;
        double time_ns;
    } stats[] = {{"median", point->time.median},
                 {"ci_lo", point->time.ci_lo},
                 {"ci_hi", point->time.ci_hi},
                 {"min", point->time.min}};
    for (size_t i = 0; i < sizeof stats / sizeof stats[0] && point->time.n > 0; i++) {
        if (!isfinite(stats[i].time_ns))
            continue;
        begin(writer, family, point);
        write_label(writer->stream, "stat", stats[i].stat);
        end(writer, stats[i].time_ns * 1e-9);
    }
}

static void write_prediction(const struct writer *writer, const char *family, const struct ub_record_point *point)
{
    if (!isfinite(point->predicted_ns))
        return;
    begin(writer, family, point);
    end(writer, point->predicted_ns * 1e-9);
}

static void write_metrics(const struct writer *writer, const char *family, const struct ub_record_point *point)
{
    for (size_t i = 0; i < point->metric_count; i++) {
        const struct ub_record_metric *metric = &point->metrics[i];
        if (!isfinite(metric->value) || ub_point_metric(point, metric->key) != metric)
            continue;
        begin(writer, family, point);
        write_label(writer->stream, "key", metric->key);
        write_label(writer->stream, "unit", metric->unit);
        end(writer, metric->value);
    }
}

static void write_count(const struct writer *writer, const char *family, const struct ub_record_point *point,
                        const struct ub_record_counter *counter, const char *kind, uint64_t value)
{
    begin(writer, family, point);
    write_label(writer->stream, "key", counter->key);
    write_label(writer->stream, "kind", kind);
    fprintf(writer->stream, "} %" PRIu64 "\n", value);
}

static void write_counters(const struct writer *writer, const char *family, const struct ub_record_point *point)
{
    for (size_t i = 0; i < point->counter_count; i++) {
        const struct ub_record_counter *counter = &point->counters[i];
        if (ub_point_counter(point, counter->key) != counter)
            continue;
        if (counter->has_measured)
            write_count(writer, family, point, counter, "measured", counter->measured);
        if (counter->has_predicted)
            write_count(writer, family, point, counter, "predicted", counter->predicted);
    }
}

static void write_verdicts(const struct writer *writer, const char *family, const struct ub_record_point *point)
{
    const struct {
        const char *law;
        bool tested, holds;
    } laws[] = {
        {"counters", point->counter_verdict != UB_COUNTERS_NOT_TESTED, point->counter_verdict == UB_COUNTERS_HOLD},
        {"time", point->time_verdict != UB_TIME_NOT_TESTED, point->time_verdict == UB_TIME_HOLDS}};
    for (size_t i = 0; i < sizeof laws / sizeof laws[0]; i++) {
        if (!laws[i].tested || writer->record->source == UB_PREDICTED)
            continue;
        begin(writer, family, point);
        write_label(writer->stream, "law", laws[i].law);
        end(writer, laws[i].holds);
    }
}

static void write_status(const struct writer *writer, const char *family, const struct ub_record_point *point)
{
    begin(writer, family, point);
    write_label(writer->stream, "status", ub_status_names[point->status]);
    end(writer, point->status == UB_POINT_OK);
}

static const struct family {
    const char *name, *unit, *help;
    bool all; /* also points without a result */
    void (*write)(const struct writer *, const char *family, const struct ub_record_point *);
} families[] = {
    {"ubench_time_seconds", "seconds", "Time of one launch.", false, write_times},
    {"ubench_predicted_time_seconds", "seconds", "Time of one launch as the law predicts it.", false, write_prediction},
    {"ubench_metric", NULL, "Value of a metric in the unit of its label.", false, write_metrics},
    {"ubench_counter_value", NULL, "Hardware counter of one launch.", false, write_counters},
    {"ubench_law_holds", NULL, "1 where the law holds, 0 where it does not; laws not tested are absent.", false,
     write_verdicts},
    {"ubench_point_ok", NULL, "1 for a point with a result, 0 for one without.", true, write_status},
};

bool ub_write_openmetrics(FILE *stream, const struct ub_record *record, struct ub_error *err)
{
    const struct writer writer = {stream, record};
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        const struct family *family = &families[i];
        fprintf(stream, "# TYPE %s gauge\n", family->name);
        if (family->unit)
            fprintf(stream, "# UNIT %s %s\n", family->name, family->unit);
        fprintf(stream, "# HELP %s %s\n", family->name, family->help);
        for (size_t k = 0; k < record->point_count; k++)
            if (family->all || record->points[k].status == UB_POINT_OK)
                family->write(&writer, family->name, &record->points[k]);
    }
    fputs("# EOF\n", stream);
    return ub_stream_done(stream, err);
}
