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
#include "plots/script.h"
#include "plots/select.h"
#include "plots/text.h"

enum {
    WIDTH = 900,
    EDGE = 27,  /* px left and right of all */
    BELOW = 64, /* px: axis and its label */
    KEY = 30,   /* px: the row of keys */
    LINE = 18,  /* px: a line of conditions */
    HEAD = 44,  /* px: title */
    ROW_MOST = 58,
    ROW_LEAST = 24,
    ROWS_PX = 440, /* what many rows share */
    STAGES = 6,    /* colours; all further stages have the last one */
    ROWS = UB_MAX_TIMELINE_STREAMS + 1,
    TICKS = 9,
    DUMB_ABOVE = 9 /* lines besides the rows */
};

static const struct ub_measure small = {.size_px = 12.7}, heading = {.size_px = 17.3, .bold = true};
static const char *const stage_colours[STAGES] = {"c_s1", "c_s3", "c_s2", "c_s4", "c_s5", "c_mut"};

/* One point, ready to be drawn. */
struct timeline {
    const struct ub_record_point *point;
    const struct ub_span *spans; /* what is drawn in full */
    size_t count;
    struct ub_timeline *law; /* beside what was measured; empty: none */
    bool measured;
    size_t row_count;
    int rows[ROWS]; /* the stream of each, from above; the default stream is last */
    size_t stage_count;
    const char *stages[STAGES];
    double end_ns, scale; /* ns x scale is drawn */
    const char *unit;
    double row_px;
    char title[UB_LINE_BYTES];
    struct ub_lines below;
};

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

static bool choose(const struct ub_record *record, const struct ub_plot_options *options, struct ub_selected *chosen,
                   const struct ub_micro **micro, struct ub_error *err)
{
    struct ub_plot_options wanted = *options;
    struct ub_selected *points = NULL;
    size_t count = 0, with = 0;
    double most = -1;
    wanted.rule = rule_of(record, options->rule);
    if (!wanted.rule)
        return ub_fail(err, UB_BAD_DATA, "nothing to draw: no point of this record has a timeline");
    if (!ub_select_all(record, &wanted, micro, &points, &count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct ub_record_point *point = points[i].record;
        const double overlap = overlap_of(point->spans, point->span_count);
        if (point->span_count == 0)
            continue;
        with++;
        if (overlap > most) {
            most = overlap;
            *chosen = points[i];
        }
    }
    free(points);
    return with > 0 || ub_fail(err, UB_BAD_DATA, "nothing to draw: no point that was asked for has a timeline");
}

/* ---- rows, stages, words ------------------------------------------------------ */

static bool has_row(const struct timeline *t, int stream)
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

static void add_row(struct timeline *t, const struct ub_span *span)
{
    if (!has_row(t, span->stream) && t->row_count < ROWS)
        t->rows[t->row_count++] = span->stream;
}

/* From 1 on; a stage beyond those that have a colour has the last one. */
static size_t stage_of(struct timeline *t, const char *name)
{
    for (size_t i = 0; i < t->stage_count; i++)
        if (strcmp(t->stages[i], name) == 0)
            return i + 1;
    if (t->stage_count < STAGES)
        t->stages[t->stage_count++] = name;
    return t->stage_count;
}

static void make_rows(struct timeline *t)
{
    for (size_t i = 0; i < t->count; i++) {
        add_row(t, &t->spans[i]);
        stage_of(t, t->spans[i].stage);
    }
    for (size_t i = 0; i < t->law->count; i++) {
        add_row(t, &t->law->spans[i]);
        stage_of(t, t->law->spans[i].stage);
    }
    qsort(t->rows, t->row_count, sizeof t->rows[0], compare_rows);
    t->row_px = fmin(ROW_MOST, fmax(ROW_LEAST, ROWS_PX / (double)t->row_count));
}

/* Rows are counted from below: y = 1 is the last. */
static size_t place_of(const struct timeline *t, int stream)
{
    for (size_t i = 0; i < t->row_count; i++)
        if (t->rows[i] == stream)
            return t->row_count - i;
    return 1;
}

static void name_row(int stream, char *text, size_t size)
{
    if (stream == UB_DEFAULT_STREAM)
        ub_text_set(text, size, "default stream");
    else
        ub_text_set(text, size, "stream %d", stream);
}

static void choose_unit(struct timeline *t)
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

static void make_title(struct timeline *t)
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
    ub_text_shorten(t->title, sizeof t->title, WIDTH - 2 * EDGE, heading);
}

static void make_conditions(struct timeline *t, const struct ub_record *record, const struct ub_micro *micro,
                            const struct ub_point *values)
{
    char text[2 * UB_LINE_BYTES], name[200];
    ub_text_clean(record->device.name, name, sizeof name);
    ub_text_set(text, sizeof text, "%s · %s", *name ? name : "an unknown GPU", micro->name);
    for (size_t axis = 0; axis < micro->axis_count; axis++) {
        char phrase[80];
        ub_caption_axis(&micro->axes[axis], values->values[axis], false, phrase, sizeof phrase);
        ub_text_append(text, sizeof text, " · %s", phrase);
    }
    ub_text_append(text, sizeof text, " · %s",
                   t->measured ? "one launch, from events between its operations" : "predicted, not measured");
    ub_text_wrap(text, WIDTH - 2 * EDGE, small, 3, &t->below);
}

static bool make(const struct ub_record *record, const struct ub_plot_options *options, struct timeline *out,
                 struct ub_error *err)
{
    struct ub_selected chosen = {0};
    const struct ub_micro *micro = NULL;
    struct ub_gpu gpu;
    if (!refuse_options(options, err) || !choose(record, options, &chosen, &micro, err))
        return false;
    out->point = chosen.record;
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

/* ---- the script --------------------------------------------------------------- */

/* Label of text from outside: `rest` gives alignment, font and colour. */
static void write_label(FILE *stream, const char *text, const char *place, const char *rest)
{
    fputs("set label ", stream);
    ub_text_quote(stream, text);
    fprintf(stream, " at %s noenhanced %s\n", place, rest);
}

static void write_spans(FILE *stream, struct timeline *t, const char *name, const struct ub_span *spans, size_t count)
{
    fprintf(stream, "# begin  end  place  stage\n%s << EOD\n", name);
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%.9g %.9g %zu %zu\n", spans[i].begin_ns * t->scale, spans[i].end_ns * t->scale,
                place_of(t, spans[i].stream), stage_of(t, spans[i].stage));
    /* A datablock with no row at all would stop gnuplot, even one that nothing draws. */
    fprintf(stream, "%sEOD\n", count ? "" : "0 0 0 0\n");
}

/* The number of its segment in each bar that has room for it. */
static void write_numbers(FILE *stream, const struct timeline *t, double px, double x_hi)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct ub_span *span = &t->spans[i];
        char text[16], place[80];
        snprintf(text, sizeof text, "%d", span->segment);
        if ((span->end_ns - span->begin_ns) * t->scale / x_hi * px < ub_text_width(text, small) + 3)
            continue;
        snprintf(place, sizeof place, "%.9g,%.4g", (span->begin_ns + span->end_ns) / 2 * t->scale,
                 (double)place_of(t, span->stream) + (t->law->count ? 0.12 : 0));
        write_label(stream, text, place, "center front font \"\".F(8.5) tc rgb c_bg");
    }
}

static void write_names(FILE *stream, const struct timeline *t, double right)
{
    for (size_t i = 0; i < t->row_count; i++) {
        char name[40], place[80];
        name_row(t->rows[i], name, sizeof name);
        snprintf(place, sizeof place, "screen %.6f,first %zu", right / WIDTH, place_of(t, t->rows[i]));
        write_label(stream, name, place, "right tc rgb c_fg font \"\".F(9.5)");
    }
}

/* A symbol (NULL: none) with its meaning; returns where the next begins. */
static double write_key(FILE *stream, double x, double y, const char *symbol, const char *text)
{
    char place[64];
    const double width = symbol ? 14 : 0;
    if (symbol)
        fprintf(stream, "set label '' at screen %.6f,%.6f %s front\n", (x + 5) / WIDTH, y, symbol);
    snprintf(place, sizeof place, "screen %.6f,%.6f", (x + width) / WIDTH, y);
    write_label(stream, text, place, "left tc rgb c_mut font \"\".F(9.5)");
    return x + width + ub_text_width(text, small) + 22;
}

static void write_keys(FILE *stream, const struct timeline *t, double left, double y)
{
    double x = left;
    for (size_t i = 0; i < t->stage_count; i++) {
        char symbol[80], name[UB_STAGE_BYTES * 4];
        ub_text_clean(t->stages[i], name, sizeof name);
        snprintf(symbol, sizeof symbol, "point pt 5 ps P*1.4 lc rgb %s", stage_colours[i]);
        x = write_key(stream, x, y, symbol, name);
    }
    x = write_key(stream, x, y, NULL, "number: the segment");
    if (t->law->count)
        write_key(stream, x, y, "point pt 4 ps P*1.2 lc rgb c_mut", "below: by the law");
}

static void write_ticks(FILE *stream, const struct ub_scale *scale)
{
    fputs("set xtics (", stream);
    for (size_t i = 0; i < scale->tick_count; i++) {
        fputs(i ? ", " : "", stream);
        ub_text_quote(stream, scale->ticks[i].label);
        fprintf(stream, " %.12g", scale->ticks[i].at);
    }
    fputs(") noenhanced\n", stream);
}

static double names_width(const struct timeline *t)
{
    double widest = 0;
    for (size_t i = 0; i < t->row_count; i++) {
        char name[40];
        name_row(t->rows[i], name, sizeof name);
        widest = fmax(widest, ub_text_width(name, small));
    }
    return widest;
}

static void write_words(FILE *stream, const struct timeline *t, double height)
{
    char place[64];
    snprintf(place, sizeof place, "screen %.6f,%.6f", (double)EDGE / WIDTH, 1 - 30 / height);
    write_label(stream, t->title, place, "left font FB(13) tc rgb c_fg");
    for (size_t i = 0; i < t->below.count; i++) {
        snprintf(place, sizeof place, "screen %.6f,%.6f", (double)EDGE / WIDTH,
                 1 - (HEAD + 12 + LINE * (double)i) / height);
        write_label(stream, t->below.text[i], place, "left font \"\".F(9.5) tc rgb c_mut");
    }
}

/* A label of its own: where gnuplot puts an xlabel differs from terminal to terminal. */
static void write_unit(FILE *stream, const struct timeline *t, double x, double y)
{
    char label[40], place[64];
    snprintf(label, sizeof label, "time  [%s]", t->unit);
    snprintf(place, sizeof place, "screen %.6f,%.6f", x, y);
    write_label(stream, label, place, "center font \"\".F(9.5) tc rgb c_fg");
}

static bool write_picture(FILE *stream, struct timeline *t, const struct ub_term *term,
                          const struct ub_plot_options *options, const char *output, struct ub_error *err)
{
    const double above = HEAD + LINE * (double)t->below.count + KEY + 8;
    const double height = above + t->row_px * (double)t->row_count + BELOW;
    const double left = EDGE + names_width(t) + 14, right = WIDTH - EDGE;
    struct ub_scale scale = {0};
    ub_scale_linear(&scale, 0, t->end_ns * t->scale, 0, 0.01, TICKS, false);
    ub_script_head(stream, term->terminal, options->dark, WIDTH, height, output);
    if (!ub_script_template(stream, "style.gp", err))
        return false;
    write_spans(stream, t, "$bars", t->spans, t->count);
    write_spans(stream, t, "$law", t->law->spans, t->law->count);
    fprintf(stream, "LM = %.6f; RM = %.6f; TM = %.6f; BM = %.6f; ROWS = %zu; X_HI = %.9g\n", left / WIDTH,
            right / WIDTH, 1 - above / height, BELOW / height, t->row_count, scale.hi);
    fprintf(stream, "N_LAW = %d; LOW = %g; HIGH = %g\n", t->law->count > 0, t->law->count ? -0.12 : -0.34,
            t->law->count ? 0.38 : 0.34);
    write_ticks(stream, &scale);
    write_unit(stream, t, (left + right) / 2 / WIDTH, 14 / height);
    write_words(stream, t, height);
    write_keys(stream, t, left, 1 - (above - KEY / 2.0 - 4) / height);
    write_names(stream, t, left - 12);
    write_numbers(stream, t, right - left, scale.hi);
    if (!ub_script_template(stream, "timeline.gp", err))
        return false;
    fputs("unset output\n", stream);
    return true;
}

/* ---- in characters --------------------------------------------------------------- */

/* The letter of a stage: the first one of its last word ("copy in": i). */
static char letter_of(const char *stage)
{
    const char *space = strrchr(stage, ' ');
    const char letter = space && space[1] ? space[1] : stage[0];
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ? letter : '?';
}

/* What the stream does in the middle of each cell. */
static void draw_row(const struct timeline *t, int stream, double end_ns, char *cells, size_t count)
{
    memset(cells, '.', count);
    cells[count] = 0;
    for (size_t i = 0; i < t->count; i++)
        for (size_t c = 0; t->spans[i].stream == stream && c < count; c++) {
            const double at_ns = ((double)c + 0.5) / (double)count * end_ns;
            if (at_ns >= t->spans[i].begin_ns && at_ns < t->spans[i].end_ns)
                cells[c] = letter_of(t->spans[i].stage);
        }
}

static void make_legend(const struct timeline *t, char *text, size_t size)
{
    *text = 0;
    for (size_t i = 0; i < t->stage_count; i++) {
        char name[UB_STAGE_BYTES * 4];
        ub_text_clean(t->stages[i], name, sizeof name);
        ub_text_append(text, size, "%s%c %s", i ? ", " : "", letter_of(t->stages[i]), name);
    }
    ub_text_append(text, size, ", . nothing");
}

static bool write_dumb(FILE *stream, struct timeline *t, const struct ub_term *term,
                       const struct ub_plot_options *options, const char *output, struct ub_error *err)
{
    enum { NAME_CELLS = 16, MOST_CELLS = 240 };
    const int columns = ub_plot_columns(options);
    const struct ub_measure cells = {.cells = true};
    const int room = columns - NAME_CELLS - 4;
    const size_t count = (size_t)(room < 10 ? 10 : room > MOST_CELLS ? MOST_CELLS : room);
    char title[UB_LINE_BYTES], legend[300], row[MOST_CELLS + 1];
    struct ub_scale scale = {0};
    ub_scale_linear(&scale, 0, t->end_ns * t->scale, 0, 0, TICKS / 2, false);
    ub_script_head(stream, term->terminal, options->dark, columns, (double)t->row_count + DUMB_ABOVE, output);
    if (!ub_script_template(stream, "style.gp", err))
        return false;
    snprintf(title, sizeof title, "%s", t->title);
    ub_text_to_ascii(title);
    ub_text_shorten(title, sizeof title, columns - 4, cells);
    ub_text_to_ascii(title);
    make_legend(t, legend, sizeof legend);
    ub_text_to_ascii(legend);
    write_label(stream, title, "character 1,character H-2", "left");
    write_label(stream, legend, "character 1,character H-3", "left");
    fputs("set ytics (", stream);
    for (size_t i = 0; i < t->row_count; i++) {
        char name[40];
        name_row(t->rows[i], name, sizeof name);
        fputs(i ? ", " : "", stream);
        ub_text_quote(stream, name);
        fprintf(stream, " %zu", place_of(t, t->rows[i]));
    }
    fprintf(stream, ") noenhanced\nset lmargin %d\nROWS = %zu; X_HI = %.9g\n", NAME_CELLS, t->row_count,
            t->end_ns * t->scale);
    for (size_t i = 0; i < t->row_count; i++) {
        char place[64];
        draw_row(t, t->rows[i], t->end_ns, row, count);
        snprintf(place, sizeof place, "graph 0,first %zu", place_of(t, t->rows[i]));
        write_label(stream, row, place, "left");
    }
    write_ticks(stream, &scale);
    char label[40];
    snprintf(label, sizeof label, "time  [%s]", strcmp(t->unit, "µs") == 0 ? "us" : t->unit);
    fputs("set xlabel ", stream);
    ub_text_quote(stream, label);
    fputs(" noenhanced\n", stream);
    return ub_script_template(stream, "timeline_dumb.gp", err);
}

static bool open_timeline(const struct ub_record *record, const struct ub_plot_options *options, struct timeline **out,
                          struct ub_error *err)
{
    struct timeline *t = *out = calloc(1, sizeof *t);
    struct ub_timeline *law = calloc(1, sizeof *law);
    if (t)
        t->law = law;
    return (t && law) ? make(record, options, t, err) : ub_fail(err, UB_INTERNAL, "out of memory while making a chart");
}

static void close_timeline(struct timeline *t)
{
    if (t)
        free(t->law);
    free(t);
}

bool ub_timeline_describe(const struct ub_record *record, const struct ub_plot_options *options, char *title,
                          size_t title_size, char *words, size_t words_size, struct ub_error *err)
{
    struct timeline *t;
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
    struct timeline *t = NULL;
    const bool ok =
        term && open_timeline(subject, options, &t, err) &&
        (strcmp(term->name, "dumb") == 0 ? write_dumb : write_picture)(stream, t, term, options, output, err);
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
