/* SPDX-License-Identifier: MIT
 *
 * The picture of a timeline: where rows, bars, keys and words stand, in px. */
#include <math.h>
#include <string.h>

#include "plots/scale.h"
#include "plots/script.h"
#include "plots/timeline_parts.h"

enum {
    WIDTH = UB_TIMELINE_WIDTH,
    EDGE = UB_TIMELINE_EDGE,
    BELOW = 64, /* px: axis and its label */
    KEY = 30,   /* px: the first row of keys */
    LINE = 18,  /* px: a line of conditions, a further row of keys */
    HEAD = 44,  /* px: title */
    ROW_MOST = 58,
    ROW_LEAST = 24,
    ROWS_PX = 440, /* what many rows share */
    COLOURS = 6,
    NAME_PX = 120,                /* the most of a stage's name */
    KEYS = UB_TIMELINE_STAGES + 3 /* further stages, the numbers, the law */
};

static const struct ub_measure small = {.size_px = 12.7};
static const char *const stage_colours[COLOURS] = {"c_s1", "c_s3", "c_s2", "c_s4", "c_s5", "c_mut"};

static size_t colour_of(size_t stage)
{
    return stage < COLOURS ? stage : COLOURS;
}

/* Where stages share the last colour a letter before the number tells them apart; 0: none is needed. */
static char letter_of(const struct ub_timeline_chart *t, size_t stage)
{
    if (stage < COLOURS || t->stage_count <= COLOURS)
        return 0;
    return stage > UB_TIMELINE_STAGES ? '+' : (char)('a' + stage - COLOURS);
}

static void write_spans(FILE *stream, const struct ub_timeline_chart *t, const char *name, const struct ub_span *spans,
                        size_t count)
{
    fprintf(stream, "# begin  end  place  colour\n%s << EOD\n", name);
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%.9g %.9g %zu %zu\n", spans[i].begin_ns * t->scale, spans[i].end_ns * t->scale,
                ub_timeline_place(t, spans[i].stream), colour_of(ub_timeline_stage(t, spans[i].stage)));
    /* A datablock with no row at all would stop gnuplot, even one that nothing draws. */
    fprintf(stream, "%sEOD\n", count ? "" : "0 0 0 0\n");
}

/* The number of its segment in each bar that has room for it. */
static void write_numbers(FILE *stream, const struct ub_timeline_chart *t, double px, double x_hi)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct ub_span *span = &t->spans[i];
        const char letter[2] = {letter_of(t, ub_timeline_stage(t, span->stage)), 0};
        char text[16], place[80];
        snprintf(text, sizeof text, "%s%d", letter, span->segment);
        if ((span->end_ns - span->begin_ns) * t->scale / x_hi * px < ub_text_width(text, small) + 3)
            continue;
        snprintf(place, sizeof place, "%.9g,%.4g", (span->begin_ns + span->end_ns) / 2 * t->scale,
                 (double)ub_timeline_place(t, span->stream) + (t->law->count ? 0.12 : 0));
        ub_timeline_label(stream, text, place, "center front font \"\".F(8.5) tc rgb c_bg");
    }
}

/* ---- names of rows ---------------------------------------------------------- */

static void name_row(int stream, char *text, size_t size)
{
    if (stream == UB_DEFAULT_STREAM)
        ub_text_set(text, size, "default stream");
    else
        ub_text_set(text, size, "stream %d", stream);
}

static void write_names(FILE *stream, const struct ub_timeline_chart *t, double right)
{
    for (size_t i = 0; i < t->row_count; i++) {
        char name[40], place[80];
        name_row(t->rows[i], name, sizeof name);
        snprintf(place, sizeof place, "screen %.6f,first %zu", right / WIDTH, ub_timeline_place(t, t->rows[i]));
        ub_timeline_label(stream, name, place, "right tc rgb c_fg font \"\".F(9.5)");
    }
}

static double names_width(const struct ub_timeline_chart *t)
{
    double widest = 0;
    for (size_t i = 0; i < t->row_count; i++) {
        char name[40];
        name_row(t->rows[i], name, sizeof name);
        widest = fmax(widest, ub_text_width(name, small));
    }
    return widest;
}

/* ---- keys ------------------------------------------------------------------- */

/* A symbol ("": none) with its meaning, in one of the rows of keys. */
struct key {
    char symbol[80], text[UB_STAGE_BYTES * 4 + 40];
    double x;
    size_t row;
};

struct keys {
    size_t count, rows;
    struct key items[KEYS];
};

/* Behind the one before it, or in a new row where it would leave the picture. */
static struct key *add_key(struct keys *keys, double left, const char *text)
{
    struct key *key = &keys->items[keys->count];
    const struct key *before = keys->count > 0 ? key - 1 : NULL;
    const double symbol = 14, between = 22, width = symbol + ub_text_width(text, small);
    ub_text_set(key->text, sizeof key->text, "%s", text);
    key->x = before ? before->x + (*before->symbol ? symbol : 0) + ub_text_width(before->text, small) + between : left;
    key->row = before ? before->row : 0;
    if (before && key->x + width > WIDTH - EDGE) {
        key->x = left;
        key->row++;
    }
    keys->count++;
    keys->rows = key->row + 1;
    return key;
}

static void add_stage_key(struct keys *keys, const struct ub_timeline_chart *t, double left, size_t stage)
{
    const char letter[3] = {letter_of(t, stage), ' ', 0};
    char name[UB_STAGE_BYTES * 4] = "further stages", text[sizeof name + 4];
    if (stage <= UB_TIMELINE_STAGES)
        ub_timeline_stage_name(t, stage - 1, NAME_PX, small, name, sizeof name);
    ub_text_set(text, sizeof text, "%s%s", letter, name);
    struct key *key = add_key(keys, left, text);
    snprintf(key->symbol, sizeof key->symbol, "point pt 5 ps P*1.4 lc rgb %s", stage_colours[colour_of(stage) - 1]);
}

static void make_keys(const struct ub_timeline_chart *t, double left, struct keys *keys)
{
    *keys = (struct keys){0};
    for (size_t i = 0; i < t->stage_count; i++)
        add_stage_key(keys, t, left, i + 1);
    if (t->has_further)
        add_stage_key(keys, t, left, UB_TIMELINE_STAGES + 1);
    add_key(keys, left, t->stage_count > COLOURS ? "letter: the stage, number: the segment" : "number: the segment");
    if (t->law->count) {
        struct key *key = add_key(keys, left, "below: by the law");
        snprintf(key->symbol, sizeof key->symbol, "point pt 4 ps P*1.2 lc rgb c_mut");
    }
}

static void write_keys(FILE *stream, const struct keys *keys, double top, double height)
{
    for (size_t i = 0; i < keys->count; i++) {
        const struct key *key = &keys->items[i];
        const double y = 1 - (top + LINE * (double)key->row) / height;
        char place[64];
        if (*key->symbol)
            fprintf(stream, "set label '' at screen %.6f,%.6f %s front\n", (key->x + 5) / WIDTH, y, key->symbol);
        snprintf(place, sizeof place, "screen %.6f,%.6f", (key->x + (*key->symbol ? 14 : 0)) / WIDTH, y);
        ub_timeline_label(stream, key->text, place, "left tc rgb c_mut font \"\".F(9.5)");
    }
}

/* ---- the picture ------------------------------------------------------------- */

static void write_words(FILE *stream, const struct ub_timeline_chart *t, double height)
{
    char place[64];
    snprintf(place, sizeof place, "screen %.6f,%.6f", (double)EDGE / WIDTH, 1 - 30 / height);
    ub_timeline_label(stream, t->title, place, "left font FB(13) tc rgb c_fg");
    for (size_t i = 0; i < t->below.count; i++) {
        snprintf(place, sizeof place, "screen %.6f,%.6f", (double)EDGE / WIDTH,
                 1 - (HEAD + 12 + LINE * (double)i) / height);
        ub_timeline_label(stream, t->below.text[i], place, "left font \"\".F(9.5) tc rgb c_mut");
    }
}

/* A label of its own: where gnuplot puts an xlabel differs from terminal to terminal. */
static void write_unit(FILE *stream, const struct ub_timeline_chart *t, double x, double y)
{
    char label[40], place[64];
    snprintf(label, sizeof label, "time  [%s]", t->unit);
    snprintf(place, sizeof place, "screen %.6f,%.6f", x, y);
    ub_timeline_label(stream, label, place, "center font \"\".F(9.5) tc rgb c_fg");
}

bool ub_timeline_write_picture(FILE *stream, const struct ub_timeline_chart *t, const struct ub_term *term, bool dark,
                               const char *output, struct ub_error *err)
{
    const double left = EDGE + names_width(t) + 14, right = WIDTH - EDGE;
    struct keys keys;
    make_keys(t, left, &keys);
    const double keys_top = HEAD + LINE * (double)t->below.count + 4 + KEY / 2.0;
    const double above = HEAD + LINE * (double)t->below.count + KEY + LINE * (double)(keys.rows - 1) + 8;
    const double row_px = fmin(ROW_MOST, fmax(ROW_LEAST, ROWS_PX / (double)t->row_count));
    const double height = above + row_px * (double)t->row_count + BELOW;
    double x_hi = 0;
    ub_script_head(stream, term->terminal, dark, WIDTH, height, output);
    if (!ub_script_template(stream, "style.gp", err))
        return false;
    write_spans(stream, t, "$bars", t->spans, t->count);
    write_spans(stream, t, "$law", t->law->spans, t->law->count);
    ub_timeline_ticks(stream, t, 0.01, UB_TIMELINE_TICKS, &x_hi);
    fprintf(stream, "LM = %.6f; RM = %.6f; TM = %.6f; BM = %.6f; ROWS = %zu; X_HI = %.9g\n", left / WIDTH,
            right / WIDTH, 1 - above / height, BELOW / height, t->row_count, x_hi);
    fprintf(stream, "N_LAW = %d; LOW = %g; HIGH = %g\n", t->law->count > 0, t->law->count ? -0.12 : -0.34,
            t->law->count ? 0.38 : 0.34);
    write_unit(stream, t, (left + right) / 2 / WIDTH, 14 / height);
    write_words(stream, t, height);
    write_keys(stream, &keys, keys_top, height);
    write_names(stream, t, left - 12);
    write_numbers(stream, t, right - left, x_hi);
    if (!ub_script_template(stream, "timeline.gp", err))
        return false;
    fputs("unset output\n", stream);
    return true;
}
