/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "harness/io/compare.h"
#include "harness/io/fields.h"
#include "harness/io/text.h"

enum { VERSION = 1, DIGITS = 12 };

static void write_text(const struct ub_emit *emit, const char *separator, const char *key, const char *text)
{
    ub_emit(emit, separator);
    ub_emit_key(emit, key);
    if (text)
        ub_emit_string(emit, text);
    else
        ub_emit(emit, "null");
}

static void write_number(const struct ub_emit *emit, const char *separator, const char *key, double value)
{
    ub_emit(emit, separator);
    ub_emit_key(emit, key);
    ub_emit_real(emit, value);
}

static void write_count(const struct ub_emit *emit, const char *separator, const char *key, size_t value)
{
    ub_emit(emit, separator);
    ub_emit_key(emit, key);
    ub_emit_u64(emit, value);
}

static void write_flag(const struct ub_emit *emit, const char *separator, const char *key, bool value)
{
    ub_emit(emit, separator);
    ub_emit_key(emit, key);
    ub_emit(emit, value ? "true" : "false");
}

static void write_interval(const struct ub_emit *emit, const char *key, double value, double lo, double hi)
{
    ub_emit(emit, ", ");
    ub_emit_key(emit, key);
    write_number(emit, "{", "value", value);
    write_number(emit, ", ", "lo", lo);
    write_number(emit, ", ", "hi", hi);
    ub_emit(emit, "}");
}

/* Rule, axes, data and cache: what a point is recognised by. */
static void write_point(const struct ub_emit *emit, const struct ub_record_point *point)
{
    write_text(emit, "", "rule", point->rule);
    write_text(emit, ", ", "sweep", point->sweep);
    ub_emit(emit, ", ");
    ub_emit_key(emit, "axes");
    ub_emit(emit, "{");
    for (size_t i = 0; i < point->axis_count; i++) {
        const struct ub_axis_value *axis = &point->axes[i];
        if (axis->word)
            write_text(emit, i ? ", " : "", axis->name, axis->word);
        else
            write_number(emit, i ? ", " : "", axis->name, (double)axis->number);
    }
    ub_emit(emit, "}");
    write_text(emit, ", ", "data", point->data);
    write_text(emit, ", ", "cache", point->cache);
}

static void write_runs(const struct ub_emit *emit, const struct ub_comparison *comparison)
{
    ub_emit(emit, "  \"runs\": [");
    for (size_t run = 0; run < comparison->run_count; run++) {
        const struct ub_record *record = comparison->runs[run].record;
        struct ub_change_counts counts;
        ub_change_count(comparison, run, &counts);
        write_text(emit, run ? ",\n    {" : "\n    {", "name", comparison->runs[run].name);
        write_text(emit, ", ", "source", ub_source_names[record->source]);
        write_text(emit, ", ", "device", record->device.name);
        write_text(emit, ", ", "slug", record->device.slug);
        write_text(emit, ", ", "started", record->run.started);
        write_text(emit, ", ", "version", record->run.version);
        write_text(emit, ", ", "code_hash", record->run.code_hash);
        write_flag(emit, ", ", "complete", record->run.complete);
        write_count(emit, ", ", "points", record->point_count);
        for (size_t change = UB_CHANGE_SAME; run > 0 && change < UB_CHANGES; change++)
            write_count(emit, ", ", ub_change_names[change], counts.changes[change]);
        if (run > 0)
            write_count(emit, ", ", "slower_by_the_clock_alone", counts.by_clock);
        ub_emit(emit, "}");
    }
    ub_emit(emit, "\n  ],\n");
}

static void write_side(const struct ub_emit *emit, const struct ub_side *side)
{
    write_interval(emit, "time_ns", side->time_ns, side->lo_ns, side->hi_ns);
    write_count(emit, ", ", "n", side->point->time.n);
    write_number(emit, ", ", "predicted_ns", side->point->predicted_ns);
    write_number(emit, ", ", "share_of_ceiling", side->share);
    write_number(emit, ", ", "useful_bytes", side->point->useful_bytes);
}

static void write_contrast(const struct ub_emit *emit, const struct ub_contrast *contrast)
{
    write_interval(emit, "ratio", contrast->ratio, contrast->lo, contrast->hi);
    write_flag(emit, ", ", "per_work", contrast->by_work);
    write_interval(emit, "cycles_ratio", contrast->cycles, contrast->cycles_lo, contrast->cycles_hi);
    write_number(emit, ", ", "predicted_ratio", contrast->predicted);
    write_number(emit, ", ", "hodges_lehmann_ratio", contrast->shift);
    write_number(emit, ", ", "mann_whitney_p", contrast->p);
    write_number(emit, ", ", "false_discovery_rate", contrast->rate);
    write_text(emit, ", ", "verdict", ub_change_names[contrast->change]);
    write_text(emit, ", ", "because", contrast->because ? ub_change_reason_names[contrast->because] : NULL);
    write_number(emit, ", ", "more_rounds", contrast->more_rounds);
}

static void write_points(const struct ub_emit *emit, const struct ub_comparison *comparison)
{
    ub_emit(emit, "  \"points\": [");
    for (size_t i = 0; i < comparison->point_count; i++) {
        const struct ub_compared_point *point = &comparison->points[i];
        ub_emit(emit, i ? ",\n    {" : "\n    {");
        write_point(emit, point->sides[0].point);
        ub_emit(emit, ", \"runs\": [");
        for (size_t run = 0; run < comparison->run_count; run++) {
            ub_emit(emit, run ? ",\n      " : "\n      ");
            if (!point->sides[run].point) {
                ub_emit(emit, "null");
                continue;
            }
            write_count(emit, "{", "run", run);
            write_side(emit, &point->sides[run]);
            if (run > 0)
                write_contrast(emit, &point->contrasts[run]);
            ub_emit(emit, "}");
        }
        ub_emit(emit, "]}");
    }
    ub_emit(emit, "\n  ],\n");
}

static void write_unmatched(const struct ub_emit *emit, const struct ub_comparison *comparison)
{
    ub_emit(emit, "  \"unmatched\": [");
    for (size_t i = 0; i < comparison->unmatched_count; i++) {
        const struct ub_unmatched *item = &comparison->unmatched[i];
        write_count(emit, i ? ",\n    {" : "\n    {", "run", item->run);
        ub_emit(emit, ", ");
        write_point(emit, item->point);
        write_text(emit, ", ", "why", item->why);
        ub_emit(emit, "}");
    }
    ub_emit(emit, "\n  ],\n");
}

static void write_constants(const struct ub_emit *emit, const struct ub_comparison *comparison)
{
    ub_emit(emit, "  \"constants\": [");
    for (size_t i = 0; i < comparison->constant_count; i++) {
        const struct ub_compared_constant *row = &comparison->constants[i];
        write_text(emit, i ? ",\n    {" : "\n    {", "name", row->name);
        write_text(emit, ", ", "unit", row->unit);
        ub_emit(emit, ", \"runs\": [");
        for (size_t run = 0; run < comparison->run_count; run++) {
            const struct ub_constant *value = row->values[run];
            ub_emit(emit, run ? ", " : "");
            if (!value) {
                ub_emit(emit, "null");
                continue;
            }
            write_number(emit, "{", "value", value->value);
            write_number(emit, ", ", "lo", value->lo);
            write_number(emit, ", ", "hi", value->hi);
            write_text(emit, ", ", "origin", value->origin);
            ub_emit(emit, "}");
        }
        ub_emit(emit, "]}");
    }
    ub_emit(emit, "\n  ],\n");
}

static void write_figures(const struct ub_emit *emit, const struct ub_comparison *comparison)
{
    ub_emit(emit, "  \"published\": [");
    for (size_t i = 0; i < comparison->published_count; i++) {
        const struct ub_published_figure *figure = &comparison->published[i];
        const bool measured = figure->measured_by < comparison->run_count;
        write_text(emit, i ? ",\n    {" : "\n    {", "device", figure->record->device.name);
        write_text(emit, ", ", "slug", figure->record->device.slug);
        ub_emit(emit, ", ");
        write_point(emit, figure->point);
        write_text(emit, ", ", "metric", figure->metric->key);
        write_text(emit, ", ", "unit", figure->metric->unit);
        write_number(emit, ", ", "published", figure->metric->value);
        write_text(emit, ", ", "kind", figure->point->published.kind);
        write_text(emit, ", ", "conditions", figure->point->published.conditions);
        write_text(emit, ", ", "published_by", figure->point->published.source);
        write_number(emit, ", ", "predicted", figure->predicted);
        write_number(emit, ", ", "error", figure->error);
        write_text(emit, ", ", "rests_on", *figure->rests_on.name ? figure->rests_on.name : NULL);
        write_text(emit, ", ", "origin", *figure->rests_on.name ? figure->rests_on.origin : NULL);
        write_text(emit, ", ", "why", *figure->why ? figure->why : NULL);
        write_number(emit, ", ", "measured", figure->measured);
        write_text(emit, ", ", "measured_by", measured ? comparison->runs[figure->measured_by].name : NULL);
        ub_emit(emit, "}");
    }
    ub_emit(emit, "\n  ]\n");
}

bool ub_compare_json(FILE *stream, const struct ub_comparison *comparison, struct ub_error *err)
{
    const struct ub_emit emit = {.stream = stream, .digits = DIGITS};
    write_count(&emit, "{\n  ", "ubench_compare", VERSION);
    write_number(&emit, ",\n  ", "margin", comparison->margin);
    write_number(&emit, ",\n  ", "confidence", comparison->confidence);
    write_count(&emit, ",\n  ", "seed", comparison->seed);
    write_flag(&emit, ",\n  ", "one_card", comparison->one_card);
    write_count(&emit, ",\n  ", "points_without_a_result", comparison->lost_count);
    write_count(&emit, ",\n  ", "repetitions_left_out", comparison->repeated_count);
    ub_emit(&emit, ",\n");
    write_runs(&emit, comparison);
    write_points(&emit, comparison);
    write_unmatched(&emit, comparison);
    write_constants(&emit, comparison);
    write_figures(&emit, comparison);
    ub_emit(&emit, "}\n");
    return ub_stream_done(stream, err);
}
