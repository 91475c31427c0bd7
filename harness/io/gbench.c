/* SPDX-License-Identifier: MIT
 *
 * Google Benchmark's JSON, schema 1, so far as its readers (compare.py,
 * github-action-benchmark, Bencher, Conbench) look at it. Every row has a time,
 * because compare.py stops at one that lacks it: points without one are listed
 * apart. What the record does not know (the host's name and CPUs) is left out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/io/fields.h"
#include "harness/io/formats.h"
#include "harness/io/text.h"

struct writer {
    struct ub_emit emit;
    const struct ub_record *record;
    const char *separator; /* before the next row */
};

/* Where a point stands: the sort keys of compare.py. */
struct place {
    size_t family, instance;
};

static double time_of(const struct ub_record *record, const struct ub_record_point *point)
{
    if (record->source == UB_PREDICTED)
        return point->predicted_ns;
    return point->time.n > 0 ? point->time.median : NAN;
}

static bool exported(const struct ub_record *record, const struct ub_record_point *point)
{
    return point->status == UB_POINT_OK && isfinite(time_of(record, point));
}

/* "coalescing/stride:8/op:load/manual_time" and a suffix; the caller frees it. */
static char *make_name(const struct ub_record_point *point, const char *suffix)
{
    char *name = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&name, &size);
    if (!stream)
        return NULL;
    fputs(point->rule, stream);
    for (size_t i = 0; i < point->axis_count; i++) {
        const struct ub_axis_value *axis = &point->axes[i];
        if (axis->word)
            fprintf(stream, "/%s:%s", axis->name, axis->word);
        else
            fprintf(stream, "/%s:%lld", axis->name, (long long)axis->number);
    }
    fprintf(stream, "/manual_time%s", suffix);
    return fclose(stream) == 0 ? name : NULL;
}

static void string_member(const struct ub_emit *emit, const char *key, const char *value)
{
    ub_emit(emit, ",\n      ");
    ub_emit_key(emit, key);
    ub_emit_string(emit, value);
}

static void number_member(const struct ub_emit *emit, const char *key, double value)
{
    if (!isfinite(value)) /* most parsers refuse NaN: the key is left out */
        return;
    ub_emit(emit, ",\n      ");
    ub_emit_key(emit, key);
    ub_emit_real(emit, value);
}

/* What rows of both types have; the name is the first member. False: no memory. */
static bool begin_row(struct writer *writer, const struct ub_record_point *point, struct place place,
                      const char *suffix, const char *type)
{
    const struct ub_emit *emit = &writer->emit;
    char *name = make_name(point, suffix), *run_name = make_name(point, "");
    bool good = name && run_name;
    if (good) {
        ub_emit(emit, writer->separator);
        ub_emit(emit, "    {\n      \"name\": ");
        ub_emit_string(emit, name);
        number_member(emit, "family_index", (double)place.family);
        number_member(emit, "per_family_instance_index", (double)place.instance);
        string_member(emit, "run_name", run_name);
        string_member(emit, "run_type", type);
        writer->separator = ",\n";
    }
    free(name);
    free(run_name);
    return good;
}

static void write_time(const struct ub_emit *emit, double value)
{
    number_member(emit, "real_time", value);
    number_member(emit, "cpu_time", value);
    string_member(emit, "time_unit", "ns");
}

/* A name of our own must not hide one of Google's. */
static bool is_reserved(const char *key)
{
    static const char *const reserved[] = {"name",
                                           "family_index",
                                           "per_family_instance_index",
                                           "run_name",
                                           "run_type",
                                           "repetitions",
                                           "repetition_index",
                                           "threads",
                                           "iterations",
                                           "real_time",
                                           "cpu_time",
                                           "time_unit",
                                           "label",
                                           "aggregate_name",
                                           "aggregate_unit",
                                           "error_occurred",
                                           "error_message",
                                           "skipped",
                                           "skip_message",
                                           "bytes_per_second",
                                           "clock_mhz"};
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (strcmp(key, reserved[i]) == 0)
            return true;
    return false;
}

/* Counters are the same in every row of a point; Google calls such members user counters. */
static void write_counters(const struct writer *writer, const struct ub_record_point *point)
{
    bool predicted = writer->record->source == UB_PREDICTED;
    for (size_t i = 0; i < point->counter_count; i++) {
        const struct ub_record_counter *counter = &point->counters[i];
        if (is_reserved(counter->key) || ub_point_counter(point, counter->key) != counter)
            continue;
        if (predicted ? counter->has_predicted : counter->has_measured)
            number_member(&writer->emit, counter->key, (double)(predicted ? counter->predicted : counter->measured));
    }
}

static bool write_iteration(struct writer *writer, const struct ub_record_point *point, struct place place,
                            size_t repetitions, size_t index, const struct ub_sample *sample)
{
    const struct ub_emit *emit = &writer->emit;
    if (!begin_row(writer, point, place, "", "iteration"))
        return false;
    number_member(emit, "repetitions", (double)repetitions);
    number_member(emit, "repetition_index", (double)index);
    number_member(emit, "threads", 1);
    number_member(emit, "iterations", point->time.batch > 0 ? point->time.batch : 1);
    write_time(emit, sample->time_ns);
    if (point->useful_bytes > 0)
        number_member(emit, "bytes_per_second", point->useful_bytes / sample->time_ns * 1e9);
    number_member(emit, "clock_mhz", sample->clock_mhz);
    write_counters(writer, point);
    if (writer->record->source != UB_MEASURED)
        string_member(emit, "label", ub_source_names[writer->record->source]);
    ub_emit(emit, "\n    }");
    return true;
}

struct aggregate {
    const char *name, *unit;
    double value;
};

static bool write_aggregate(struct writer *writer, const struct ub_record_point *point, struct place place,
                            const struct aggregate *aggregate)
{
    const struct ub_emit *emit = &writer->emit;
    char suffix[32];
    if (!isfinite(aggregate->value))
        return true;
    snprintf(suffix, sizeof suffix, "_%s", aggregate->name);
    if (!begin_row(writer, point, place, suffix, "aggregate"))
        return false;
    number_member(emit, "repetitions", (double)point->time.n);
    number_member(emit, "threads", 1);
    string_member(emit, "aggregate_name", aggregate->name);
    string_member(emit, "aggregate_unit", aggregate->unit);
    number_member(emit, "iterations", (double)point->time.n);
    write_time(emit, aggregate->value);
    ub_emit(emit, "\n    }");
    return true;
}

/* Mean and sample standard deviation, as Google computes them (statistics.cc). */
static void moments(const struct ub_time *time, double *mean, double *deviation)
{
    double sum = 0, squares = 0, n = (double)time->n;
    for (size_t i = 0; i < time->n; i++)
        sum += time->samples[i].time_ns;
    *mean = sum / n;
    for (size_t i = 0; i < time->n; i++)
        squares += (time->samples[i].time_ns - *mean) * (time->samples[i].time_ns - *mean);
    *deviation = sqrt(squares / (n - 1));
}

static bool write_aggregates(struct writer *writer, const struct ub_record_point *point, struct place place)
{
    const struct ub_time *time = &point->time;
    double mean = NAN, deviation = NAN;
    if (time->n < 2)
        return true;
    if (time->samples)
        moments(time, &mean, &deviation);
    const struct aggregate aggregates[] = {
        {"mean", "time", mean},        {"median", "time", time->median},
        {"stddev", "time", deviation}, {"cv", "percentage", deviation / mean},
        {"min", "time", time->min},    {"mad", "time", time->mad},
    };
    for (size_t i = 0; i < sizeof aggregates / sizeof aggregates[0]; i++)
        if (!write_aggregate(writer, point, place, &aggregates[i]))
            return false;
    return true;
}

/* One row a sample; a prediction, or a record without samples, has one row. */
static bool write_point(struct writer *writer, const struct ub_record_point *point, struct place place)
{
    const struct ub_time *time = &point->time;
    bool samples = writer->record->source != UB_PREDICTED && time->samples;
    const struct ub_sample only = {.time_ns = time_of(writer->record, point), .clock_mhz = NAN};
    if (!samples)
        return write_iteration(writer, point, place, 1, 0, &only);
    for (size_t i = 0; i < time->n; i++)
        if (isfinite(time->samples[i].time_ns) && !write_iteration(writer, point, place, time->n, i, &time->samples[i]))
            return false;
    return write_aggregates(writer, point, place);
}

static void context_member(const struct ub_emit *emit, const char *key, const char *value)
{
    if (!value)
        return;
    ub_emit(emit, ",\n    ");
    ub_emit_key(emit, key);
    ub_emit_string(emit, value);
}

static void write_context(const struct ub_emit *emit, const struct ub_record *record)
{
    char schema[16];
    snprintf(schema, sizeof schema, "%d", UB_SCHEMA);
    ub_emit(emit, "  \"context\": {\n    \"caches\": []");
    context_member(emit, "date", record->run.started);
    context_member(emit, "executable", "ubench");
    context_member(emit, "library_version", record->run.version);
    ub_emit(emit, ",\n    \"json_schema_version\": 1");
    context_member(emit, "ubench_schema", schema);
    context_member(emit, "ubench_source", ub_source_names[record->source]);
    context_member(emit, "gpu", record->device.name);
    context_member(emit, "driver", record->device.driver);
    ub_emit(emit, "\n  },\n");
}

/* Points without a time, with the reason: a 0 would become an infinite regression. */
static bool write_failed(const struct ub_emit *emit, const struct ub_record *record)
{
    const char *separator = "\n";
    ub_emit(emit, "  \"ubench\": {\n    \"failed\": [");
    for (size_t i = 0; i < record->point_count; i++) {
        const struct ub_record_point *point = &record->points[i];
        if (exported(record, point))
            continue;
        char *name = make_name(point, "");
        if (!name)
            return false;
        ub_emit(emit, separator);
        ub_emit(emit, "      {\"name\": ");
        ub_emit_string(emit, name);
        ub_emit(emit, ", \"status\": ");
        ub_emit_string(emit, ub_status_names[point->status]);
        ub_emit(emit, ", \"reason\": ");
        ub_emit_string(emit, point->reason ? point->reason : "the point has no time");
        ub_emit(emit, "}");
        free(name);
        separator = ",\n";
    }
    ub_emit(emit, "]\n  }\n");
    return true;
}

/* All points of the rule of point number `first`. */
static bool write_family(struct writer *writer, size_t first, size_t family)
{
    const struct ub_record *record = writer->record;
    struct place place = {family, 0};
    for (size_t i = first; i < record->point_count; i++) {
        if (strcmp(record->points[i].rule, record->points[first].rule) != 0)
            continue;
        if (exported(record, &record->points[i]) && !write_point(writer, &record->points[i], place))
            return false;
        place.instance++;
    }
    return true;
}

static bool is_first_of_rule(const struct ub_record *record, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(record->points[i].rule, record->points[index].rule) == 0)
            return false;
    return true;
}

static bool write_benchmarks(struct writer *writer)
{
    size_t family = 0;
    ub_emit(&writer->emit, "  \"benchmarks\": [");
    for (size_t i = 0; i < writer->record->point_count; i++)
        if (is_first_of_rule(writer->record, i) && !write_family(writer, i, family++))
            return false;
    ub_emit(&writer->emit, "\n  ],\n");
    return true;
}

bool ub_write_gbench(FILE *stream, const struct ub_record *record, struct ub_error *err)
{
    struct writer writer = {.emit = {.stream = stream, .digits = 17}, .record = record, .separator = "\n"};
    ub_emit(&writer.emit, "{\n");
    write_context(&writer.emit, record);
    if (!write_benchmarks(&writer) || !write_failed(&writer.emit, record))
        return ub_fail(err, UB_INTERNAL, "out of memory");
    ub_emit(&writer.emit, "}\n");
    return ub_stream_done(stream, err);
}
