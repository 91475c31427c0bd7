/* SPDX-License-Identifier: MIT */
#include "harness/io/json.h"

#include <math.h>
#include <string.h>

#include "harness/io/columns.h"
#include "harness/io/record_fields.h"
#include "harness/io/text.h"

enum { DIGITS = 12 }; /* of a double; a timer resolves fewer */

struct writer {
    struct ub_emit emit;
    bool samples;
};

/* One name of a list that becomes an object: the first of equal names counts, as in
 * the ub_point_...() functions, because a reader refuses a key that stands twice. */
typedef const char *(*name_of)(const void *items, size_t index);

static bool is_first(const void *items, size_t index, name_of name)
{
    const char *key = name(items, index);
    for (size_t i = 0; key && i < index; i++)
        if (name(items, i) && strcmp(name(items, i), key) == 0)
            return false;
    return key != NULL;
}

static const char *axis_name(const void *items, size_t index)
{
    return ((const struct ub_axis_value *)items)[index].name;
}

static const char *metric_name(const void *items, size_t index)
{
    return ((const struct ub_record_metric *)items)[index].key;
}

static const char *counter_name(const void *items, size_t index)
{
    return ((const struct ub_record_counter *)items)[index].key;
}

static const char *term_name(const void *items, size_t index)
{
    return ((const struct ub_record_term *)items)[index].name;
}

static void write_axes(const struct ub_emit *emit, const struct ub_record_point *point)
{
    const char *separator = "";
    ub_emit_key(emit, "axes");
    ub_emit(emit, "{");
    for (size_t i = 0; i < point->axis_count; i++) {
        const struct ub_axis_value *axis = &point->axes[i];
        if (!is_first(point->axes, i, axis_name))
            continue;
        ub_emit(emit, separator);
        ub_emit_key(emit, axis->name);
        if (axis->word)
            ub_emit_string(emit, axis->word);
        else
            fprintf(emit->stream, "%lld", (long long)axis->number);
        separator = ", ";
    }
    ub_emit(emit, "}");
}

static void write_metrics(const struct ub_emit *emit, const char *key, const struct ub_record_metric *metrics,
                          size_t count)
{
    const char *separator = "";
    ub_emit_key(emit, key);
    ub_emit(emit, "{");
    for (size_t i = 0; i < count; i++) {
        if (!is_first(metrics, i, metric_name))
            continue;
        ub_emit(emit, separator);
        ub_emit_key(emit, metrics[i].key);
        ub_emit(emit, "{");
        ub_emit_members(emit, ub_metric_fields, &metrics[i], ", ");
        ub_emit(emit, "}");
        separator = ", ";
    }
    ub_emit(emit, "}");
}

static void write_counters(const struct ub_emit *emit, const struct ub_record_point *point)
{
    const char *separator = "\n          ";
    ub_emit_key(emit, "counters");
    ub_emit(emit, "{");
    for (size_t i = 0; i < point->counter_count; i++) {
        if (!is_first(point->counters, i, counter_name))
            continue;
        ub_emit(emit, separator);
        ub_emit_key(emit, point->counters[i].key);
        ub_emit(emit, "{");
        ub_emit_members(emit, ub_counter_fields, &point->counters[i], ", ");
        ub_emit(emit, "}");
        separator = ",\n          ";
    }
    ub_emit(emit, point->counter_count ? "\n        }" : "}");
}

static void write_times(const struct ub_emit *emit, const struct ub_time *time)
{
    ub_emit(emit, "[");
    for (size_t i = 0; i < time->n; i++) {
        ub_emit(emit, i ? ", " : "");
        ub_emit_real(emit, time->samples[i].time_ns);
    }
    ub_emit(emit, "]");
}

static void write_clocks(const struct ub_emit *emit, const struct ub_time *time)
{
    bool stamped = false;
    for (size_t i = 0; i < time->n; i++)
        stamped |= isfinite(time->samples[i].clock_mhz);
    ub_emit(emit, stamped ? "[" : "null");
    for (size_t i = 0; stamped && i < time->n; i++) {
        ub_emit(emit, i ? ", " : "");
        ub_emit_real(emit, time->samples[i].clock_mhz);
    }
    ub_emit(emit, stamped ? "]" : "");
}

/* [{"sample": 3, "is": ["throttled"]}]: only samples with a flag. */
static void write_flags(const struct ub_emit *emit, const struct ub_time *time)
{
    const char *separator = "";
    ub_emit(emit, "[");
    for (size_t i = 0; i < time->n; i++) {
        unsigned flags = time->samples[i].flags;
        const char *comma = "";
        if (flags == 0)
            continue;
        fprintf(emit->stream, "%s{\"sample\": %zu, \"is\": [", separator, i);
        for (unsigned bit = 0; ub_flag_names[bit]; bit++) {
            if (!(flags >> bit & 1))
                continue;
            ub_emit(emit, comma);
            ub_emit_string(emit, ub_flag_names[bit]);
            comma = ", ";
        }
        ub_emit(emit, "]}");
        separator = ", ";
    }
    ub_emit(emit, "]");
}

static void write_time(const struct writer *writer, const struct ub_time *time)
{
    static const struct part {
        const char *before;
        void (*write)(const struct ub_emit *, const struct ub_time *);
    } parts[] = {{",\n          \"samples\": ", write_times},
                 {",\n          \"clock_mhz\": ", write_clocks},
                 {",\n          \"flags\": ", write_flags}};
    const struct ub_emit *emit = &writer->emit;
    ub_emit_key(emit, "time_ns");
    if (time->n == 0) {
        ub_emit(emit, "null");
        return;
    }
    fprintf(emit->stream, "{\"n\": %zu, ", time->n);
    ub_emit_members(emit, ub_time_fields, time, ", ");
    const bool kept = writer->samples && time->samples;
    if (!kept && isfinite(ub_time_clock_mhz(time))) { /* metrics in cycles rest on it */
        fputs(", ", emit->stream);
        ub_emit_key(emit, "mean_clock_mhz");
        ub_emit_real(emit, ub_time_clock_mhz(time));
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        ub_emit(emit, parts[i].before);
        if (kept)
            parts[i].write(emit, time);
        else
            ub_emit(emit, "null");
    }
    ub_emit(emit, "}");
}

static void write_law(const struct ub_emit *emit, const struct ub_record_point *point)
{
    const char *separator = "";
    ub_emit_key(emit, "law");
    ub_emit(emit, "{");
    ub_emit_members(emit, ub_law_counter_fields, point, ", ");
    ub_emit(emit, ", \"time\": {");
    ub_emit_members(emit, ub_law_prediction_fields, point, ", ");
    ub_emit(emit, ", \"terms\": {");
    for (size_t i = 0; i < point->term_count; i++) {
        if (!is_first(point->terms, i, term_name))
            continue;
        ub_emit(emit, separator);
        ub_emit_key(emit, point->terms[i].name);
        ub_emit_real(emit, point->terms[i].time_ns);
        separator = ", ";
    }
    ub_emit(emit, "}, ");
    ub_emit_members(emit, ub_law_verdict_fields, point, ", ");
    ub_emit(emit, "}}");
}

static void write_static(const struct ub_emit *emit, const struct ub_record_point *point)
{
    ub_emit_key(emit, "static");
    ub_emit(emit, point->has_static ? "{" : "null");
    if (!point->has_static)
        return;
    ub_emit_members(emit, ub_static_fields, &point->static_, ", ");
    ub_emit(emit, "}");
}

/* Most points have one operation, and nothing to show. */
static void write_timeline(const struct ub_emit *emit, const struct ub_record_point *point, const char *next)
{
    if (point->span_count == 0)
        return;
    ub_emit_key(emit, "timeline");
    ub_emit(emit, "[");
    for (size_t i = 0; i < point->span_count; i++) {
        ub_emit(emit, i ? ",\n          {" : "\n          {");
        ub_emit_members(emit, ub_span_fields, &point->spans[i], ", ");
        ub_emit(emit, "}");
    }
    ub_emit(emit, "\n        ]");
    ub_emit(emit, next);
}

/* Only published figures are from somewhere else. */
static void write_publication(const struct ub_emit *emit, const struct ub_record_point *point, const char *next)
{
    if (!point->published.source)
        return;
    ub_emit_key(emit, "published");
    ub_emit(emit, "{");
    ub_emit_members(emit, ub_publication_fields, &point->published, ", ");
    ub_emit(emit, "}");
    ub_emit(emit, next);
}

/* One line for what belongs together, so that a diff shows what changed. */
static void write_point(const struct writer *writer, const struct ub_record_point *point)
{
    static const char next[] = ",\n        ";
    const struct ub_emit *emit = &writer->emit;
    ub_emit(emit, "      {\n        ");
    ub_emit_members(emit, ub_point_name_fields, point, ", ");
    ub_emit(emit, next);
    write_axes(emit, point);
    ub_emit(emit, next);
    ub_emit_members(emit, ub_point_state_fields, point, ", ");
    ub_emit(emit, next);
    ub_emit_members(emit, ub_point_setting_fields, point, ", ");
    ub_emit(emit, next);
    write_publication(emit, point, next);
    write_static(emit, point);
    ub_emit(emit, next);
    write_time(writer, &point->time);
    ub_emit(emit, next);
    write_timeline(emit, point, next);
    write_metrics(emit, "metrics", point->metrics, point->metric_count);
    ub_emit(emit, next);
    write_metrics(emit, "predicted_metrics", point->predicted_metrics, point->predicted_metric_count);
    ub_emit(emit, next);
    write_counters(emit, point);
    ub_emit(emit, next);
    write_law(emit, point);
    ub_emit(emit, "\n      }");
}

static void write_section(const struct ub_emit *emit, const char *key, const struct ub_field *fields, const void *base)
{
    ub_emit(emit, "    ");
    ub_emit_key(emit, key);
    ub_emit(emit, "{\n      ");
    ub_emit_members(emit, fields, base, ",\n      ");
    ub_emit(emit, "\n    },\n");
}

static void write_constants(const struct ub_emit *emit, const struct ub_constants *constants)
{
    ub_emit(emit, "    \"constants\": [");
    for (size_t i = 0; i < constants->count; i++) {
        ub_emit(emit, i ? ",\n      {" : "\n      {");
        ub_emit_members(emit, ub_constant_fields, &constants->items[i], ", ");
        ub_emit(emit, "}");
    }
    ub_emit(emit, constants->count ? "\n    ],\n" : "],\n");
}

static void write_points(const struct writer *writer, const struct ub_record *record)
{
    ub_emit(&writer->emit, "    \"points\": [");
    for (size_t i = 0; i < record->point_count; i++) {
        ub_emit(&writer->emit, i ? ",\n" : "\n");
        write_point(writer, &record->points[i]);
    }
    ub_emit(&writer->emit, record->point_count ? "\n    ],\n" : "],\n");
}

struct columns_of {
    struct writer writer;
    const struct ub_record *record;
};

static void write_item(FILE *stream, const void *user, size_t index)
{
    struct columns_of of = *(const struct columns_of *)user;
    of.writer.emit.stream = stream;
    write_point(&of.writer, &of.record->points[index]);
}

/* What the points of a rule have in common is written once. */
static bool write_tables(const struct writer *writer, const struct ub_record *record, struct ub_error *err)
{
    static const char *const together[] = {"/rule", NULL};
    const struct columns_of of = {*writer, record};
    ub_emit(&writer->emit, "    \"tables\": ");
    const bool ok = ub_columns_write(writer->emit.stream, record->point_count, write_item, &of, together, err);
    ub_emit(&writer->emit, ",\n");
    return ok;
}

static void write_warnings(const struct ub_emit *emit, const struct ub_record *record)
{
    ub_emit(emit, "    \"warnings\": [");
    for (size_t i = 0; i < record->warning_count; i++) {
        ub_emit(emit, i ? ",\n      {" : "\n      {");
        ub_emit_members(emit, ub_warning_fields, &record->warnings[i], ", ");
        ub_emit(emit, "}");
    }
    ub_emit(emit, record->warning_count ? "\n    ]\n" : "]\n");
}

bool ub_json_write(FILE *stream, const struct ub_record *record, const struct ub_json_options *options,
                   struct ub_error *err)
{
    bool redact = options && options->redact;
    const char *uuid = record->device.uuid && *record->device.uuid ? record->device.uuid : NULL;
    const struct writer writer = {.emit = {.stream = stream, .digits = DIGITS, .redact = redact, .uuid = uuid},
                                  .samples = !(options && options->no_samples)};
    fprintf(stream, "{\n  \"ubench\": {\n    \"schema\": %d,\n    \"source\": \"%s\",\n", UB_SCHEMA,
            ub_source_names[record->source]);
    write_section(&writer.emit, "run", ub_run_fields, &record->run);
    write_section(&writer.emit, "device", ub_device_fields, &record->device);
    write_constants(&writer.emit, &record->constants);
    if (options && options->columns && !write_tables(&writer, record, err))
        return false;
    if (!options || !options->columns)
        write_points(&writer, record);
    write_warnings(&writer.emit, record);
    ub_emit(&writer.emit, "  }\n}\n");
    return ub_stream_done(stream, err);
}
