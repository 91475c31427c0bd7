/* SPDX-License-Identifier: MIT */
#include "plots/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/engine/axis.h"
#include "harness/engine/law.h"
#include "plots/caption.h"
#include "plots/gnuplot.h"
#include "plots/scale.h"
#include "plots/select.h"
#include "plots/timeline_parts.h"

/* Beyond these a picture is a pattern: a bar has no room for the number of its segment, a row none
 * for its bars. */
enum { READABLE_BARS = 12, READABLE_ROWS = 8 };

static const struct ub_measure small = {.size_px = 12.7}, heading = {.size_px = 17.3, .bold = true};

/* ---- which point ------------------------------------------------------------ */

static double end_of(const struct ub_span *spans, size_t count)
{
    double end_ns = 0;
    for (size_t i = 0; i < count; i++)
        end_ns = fmax(end_ns, spans[i].end_ns);
    return end_ns;
}

static double work_of(const struct ub_span *spans, size_t count)
{
    double work_ns = 0;
    for (size_t i = 0; i < count; i++)
        work_ns += spans[i].end_ns - spans[i].begin_ns;
    return work_ns;
}

/* How many operations run at the same time, in the mean. */
static double overlap_of(const struct ub_span *spans, size_t count)
{
    const double end_ns = end_of(spans, count);
    return end_ns > 0 ? work_of(spans, count) / end_ns : 0;
}

/* The rule of the first point that has a timeline, where none is named. */
static const char *rule_of(const struct ub_record *record, const char *wanted)
{
    for (size_t i = 0; i < record->point_count && !wanted; i++)
        if (record->points[i].span_count > 0)
            wanted = record->points[i].rule;
    return wanted;
}

static bool refuse_options(const struct ub_plot_options *options, struct ub_error *err)
{
    const struct {
        const char *name, *value;
    } rows[] = {{"x", options->x}, {"y", options->y}, {"series", options->series}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].value)
            return ub_fail(err, UB_USAGE, "--%s belongs to charts of sweeps: a timeline shows one point", rows[i].name);
    return true;
}

/* By how many bars the fullest row, and by how many rows the picture, is above what can be read. */
static size_t crowding_of(const struct ub_span *spans, size_t count)
{
    size_t bars[UB_TIMELINE_ROWS] = {0}, rows = 0, fullest = 0;
    for (size_t i = 0; i < count; i++) {
        size_t *row = &bars[spans[i].stream == UB_DEFAULT_STREAM ? UB_TIMELINE_ROWS - 1 : spans[i].stream];
        rows += *row == 0;
        fullest = ++*row > fullest ? *row : fullest;
    }
    return (fullest > READABLE_BARS ? fullest - READABLE_BARS : 0) + (rows > READABLE_ROWS ? rows - READABLE_ROWS : 0);
}

/* A reader wants to follow a segment from stage to stage and see which stages run at once. Overlap is
 * most where segments are many and small, and there neither can be seen: of the points that can be
 * read the one with most overlap is shown, and where none can, of the least crowded ones. The axes
 * name any other. */
static bool is_better(const struct ub_record_point *point, const struct ub_record_point *than)
{
    const size_t crowding = crowding_of(point->spans, point->span_count),
                 other = crowding_of(than->spans, than->span_count);
    if (crowding != other)
        return crowding < other;
    return overlap_of(point->spans, point->span_count) > overlap_of(than->spans, than->span_count);
}

static bool choose(const struct ub_record *record, const struct ub_plot_options *options, struct ub_selected *chosen,
                   const struct ub_micro **micro, struct ub_error *err)
{
    struct ub_plot_options wanted = *options;
    struct ub_selected *points = NULL;
    size_t count = 0;
    wanted.rule = rule_of(record, options->rule);
    if (!wanted.rule)
        return ub_fail(err, UB_BAD_DATA, "nothing to draw: no point of this record has a timeline");
    if (!ub_select_all(record, &wanted, micro, &points, &count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (points[i].record->span_count > 0 && (!chosen->record || is_better(points[i].record, chosen->record)))
            *chosen = points[i];
    free(points);
    return chosen->record || ub_fail(err, UB_BAD_DATA, "nothing to draw: no point that was asked for has a timeline");
}

/* ---- rows, stages, words ------------------------------------------------------ */

static bool has_row(const struct ub_timeline_chart *t, int stream)
{
    for (size_t i = 0; i < t->row_count; i++)
        if (t->rows[i] == stream)
            return true;
    return false;
}

/* Streams by number, the default stream below them. */
static int compare_rows(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    if ((x == UB_DEFAULT_STREAM) != (y == UB_DEFAULT_STREAM))
        return x == UB_DEFAULT_STREAM ? 1 : -1;
    return (x > y) - (x < y);
}

static void add_row(struct ub_timeline_chart *t, const struct ub_span *span)
{
    if (!has_row(t, span->stream) && t->row_count < UB_TIMELINE_ROWS)
        t->rows[t->row_count++] = span->stream;
}

size_t ub_timeline_stage(const struct ub_timeline_chart *t, const char *name)
{
    size_t i = 0;
    while (i < t->stage_count && strcmp(t->stages[i], name) != 0)
        i++;
    return i < t->stage_count ? i + 1 : UB_TIMELINE_STAGES + 1;
}

static void add_stage(struct ub_timeline_chart *t, const char *name)
{
    if (ub_timeline_stage(t, name) <= t->stage_count)
        return;
    if (t->stage_count < UB_TIMELINE_STAGES)
        t->stages[t->stage_count++] = name;
    else
        t->has_further = true;
}

void ub_timeline_stage_name(const struct ub_timeline_chart *t, size_t index, double width, struct ub_measure measure,
                            char *text, size_t size)
{
    ub_text_clean(t->stages[index], text, size);
    ub_text_shorten(text, size, width, measure);
}

static void add_spans(struct ub_timeline_chart *t, const struct ub_span *spans, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add_row(t, &spans[i]);
        add_stage(t, spans[i].stage);
    }
}

static void make_rows(struct ub_timeline_chart *t)
{
    add_spans(t, t->spans, t->count);
    add_spans(t, t->law->spans, t->law->count);
    qsort(t->rows, t->row_count, sizeof t->rows[0], compare_rows);
}

size_t ub_timeline_place(const struct ub_timeline_chart *t, int stream)
{
    for (size_t i = 0; i < t->row_count; i++)
        if (t->rows[i] == stream)
            return t->row_count - i;
    return 1;
}

static void choose_unit(struct ub_timeline_chart *t)
{
    static const struct {
        double above_ns;
        const char *unit;
    } rows[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {0, "ns"}};
    t->end_ns = fmax(end_of(t->spans, t->count), end_of(t->law->spans, t->law->count));
    /* The title has the work too, which is longer: three digits of it are to be told. */
    const double longest_ns = fmax(t->end_ns, work_of(t->spans, t->count));
    size_t i = 0;
    while (longest_ns < rows[i].above_ns)
        i++;
    t->unit = rows[i].unit;
    t->scale = rows[i].above_ns > 0 ? 1 / rows[i].above_ns : 1;
}

static void make_title(struct ub_timeline_chart *t)
{
    const double end_ns = end_of(t->spans, t->count), overlap = overlap_of(t->spans, t->count);
    const char *unit = t->unit;
    if (overlap > 1.05)
        ub_text_set(t->title, sizeof t->title,
                    "%.3g operations at the same time in the mean: %.3g %s of work in %.3g %s", overlap,
                    work_of(t->spans, t->count) * t->scale, unit, end_ns * t->scale, unit);
    else
        ub_text_set(t->title, sizeof t->title, "One operation after the other: %.3g %s of work in %.3g %s",
                    work_of(t->spans, t->count) * t->scale, unit, end_ns * t->scale, unit);
    ub_text_shorten(t->title, sizeof t->title, UB_TIMELINE_WIDTH - 2 * UB_TIMELINE_EDGE, heading);
}

static void make_conditions(struct ub_timeline_chart *t, const struct ub_record *record, const struct ub_micro *micro,
                            const struct ub_point *values)
{
    char text[2 * UB_LINE_BYTES], name[200];
    ub_text_clean(record->device.name, name, sizeof name);
    ub_text_set(text, sizeof text, "%s · %s", *name ? name : "an unknown GPU", micro->name);
    for (size_t axis = 0; axis < micro->axis_count; axis++) {
        char phrase[80];
        if (!ub_axis_counts(micro->owners, values, axis))
            continue;
        ub_caption_axis(&micro->axes[axis], values->values[axis], false, phrase, sizeof phrase);
        ub_text_append(text, sizeof text, " · %s", phrase);
    }
    ub_text_append(text, sizeof text, " · %s",
                   t->measured ? "one launch, from events between its operations" : "predicted, not measured");
    ub_text_wrap(text, UB_TIMELINE_WIDTH - 2 * UB_TIMELINE_EDGE, small, 3, &t->below);
}

static bool make(const struct ub_record *record, const struct ub_plot_options *options, struct ub_timeline_chart *out,
                 struct ub_error *err)
{
    struct ub_selected chosen = {0};
    const struct ub_micro *micro = NULL;
    struct ub_gpu gpu;
    if (!refuse_options(options, err) || !choose(record, options, &chosen, &micro, err))
        return false;
    out->spans = chosen.record->spans;
    out->count = chosen.record->span_count;
    out->measured = record->source != UB_PREDICTED;
    out->law->count = 0;
    ub_gpu_of_record(record, &gpu);
    if (out->measured && micro->timeline)
        micro->timeline(&gpu, &record->constants, &chosen.values, out->law);
    make_rows(out);
    choose_unit(out);
    make_title(out);
    make_conditions(out, record, micro, &chosen.values);
    return true;
}

/* ---- what both ways to draw share ------------------------------------------------- */

void ub_timeline_label(FILE *stream, const char *text, const char *place, const char *rest)
{
    fputs("set label ", stream);
    ub_text_quote(stream, text);
    fprintf(stream, " at %s noenhanced %s\n", place, rest);
}

void ub_timeline_ticks(FILE *stream, const struct ub_timeline_chart *t, double pad, size_t ticks, double *x_hi)
{
    struct ub_scale scale = {0};
    ub_scale_linear(&scale, 0, t->end_ns * t->scale, 0, pad, ticks, false);
    fputs("set xtics (", stream);
    for (size_t i = 0; i < scale.tick_count; i++) {
        fputs(i ? ", " : "", stream);
        ub_text_quote(stream, scale.ticks[i].label);
        fprintf(stream, " %.12g", scale.ticks[i].at);
    }
    fputs(") noenhanced\n", stream);
    *x_hi = scale.hi;
}

/* ---- for others ---------------------------------------------------------------- */

static bool open_timeline(const struct ub_record *record, const struct ub_plot_options *options,
                          struct ub_timeline_chart **out, struct ub_error *err)
{
    struct ub_timeline_chart *t = *out = calloc(1, sizeof *t);
    struct ub_timeline *law = calloc(1, sizeof *law);
    if (t)
        t->law = law;
    return (t && law) ? make(record, options, t, err) : ub_fail(err, UB_INTERNAL, "out of memory while making a chart");
}

static void close_timeline(struct ub_timeline_chart *t)
{
    if (t)
        free(t->law);
    free(t);
}

bool ub_timeline_describe(const struct ub_record *record, const struct ub_plot_options *options, char *title,
                          size_t title_size, char *words, size_t words_size, struct ub_error *err)
{
    struct ub_timeline_chart *t;
    const bool ok = open_timeline(record, options, &t, err);
    if (ok) {
        ub_text_set(title, title_size, "%s", t->title);
        ub_text_set(words, words_size, "Timeline of one launch: %s. %zu operations on %zu streams", t->title, t->count,
                    t->row_count);
        for (size_t i = 0; i < t->below.count; i++)
            ub_text_append(words, words_size, "%s%s", i ? " " : "; ", t->below.text[i]);
        if (t->law->count > 0)
            ub_text_append(words, words_size, "; by the law it ends at %.3g %s",
                           end_of(t->law->spans, t->law->count) * t->scale, t->unit);
    }
    close_timeline(t);
    return ok;
}

static bool write_chart(FILE *stream, const void *subject, const struct ub_plot_options *options, const char *output,
                        struct ub_error *err)
{
    const struct ub_term *term = ub_term_find(options->term, output, err);
    struct ub_timeline_chart *t = NULL;
    const bool ok = term && open_timeline(subject, options, &t, err) &&
                    (strcmp(term->name, "dumb") == 0
                         ? ub_timeline_write_dumb(stream, t, term, ub_plot_columns(options), output, err)
                         : ub_timeline_write_picture(stream, t, term, options->dark, output, err));
    close_timeline(t);
    return ok && (!ferror(stream) || ub_fail(err, UB_CANNOT_WRITE, "cannot write the script of a chart"));
}

bool ub_plot_timeline_script(FILE *stream, const struct ub_record *record, const struct ub_plot_options *options,
                             const char *output, struct ub_error *err)
{
    return write_chart(stream, record, options, output, err);
}

bool ub_plot_timeline(const struct ub_record *record, const struct ub_plot_options *options, const char *path,
                      struct ub_error *err)
{
    return ub_plot_with(write_chart, record, options, path, err);
}
