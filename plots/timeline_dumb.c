/* SPDX-License-Identifier: MIT
 *
 * The timeline of a terminal: a letter for what a stream does in the middle of each cell. */
#include <math.h>
#include <string.h>

#include "plots/scale.h"
#include "plots/script.h"
#include "plots/timeline_parts.h"

enum {
    NARROWEST = 40, /* columns; below, lines are broken by the terminal anyway */
    MOST_CELLS = 240,
    NAME_CELLS = 16, /* the most of a stage's name */
    AROUND = 7       /* lines besides rows, title and legend */
};

static const struct ub_measure cells = {.cells = true};

/* ---- letters ------------------------------------------------------------------ */

struct letters {
    char of[UB_TIMELINE_STAGES + 2]; /* by the number of the stage */
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool take_letter(struct letters *letters, size_t stage, char letter)
{
    if (!is_letter(letter) || memchr(letters->of, letter, sizeof letters->of))
        return false;
    letters->of[stage] = letter;
    return true;
}

/* The first letter of the last word ("copy in": i); where another stage has it, the next of the name that is
 * free, else of the alphabet. */
static void choose_letter(struct letters *letters, size_t stage, const char *name)
{
    const char *space = strrchr(name, ' '), *alphabet = "abcdefghijklmnopqrstuvwxyz";
    bool found = take_letter(letters, stage, space && space[1] ? space[1] : name[0]);
    for (const char *c = name; *c && !found; c++)
        found = take_letter(letters, stage, *c);
    for (const char *c = alphabet; *c && !found; c++)
        found = take_letter(letters, stage, *c);
}

static void choose_letters(const struct ub_timeline_chart *t, struct letters *letters)
{
    *letters = (struct letters){.of = {[UB_TIMELINE_STAGES + 1] = '+'}};
    for (size_t i = 0; i < t->stage_count; i++)
        choose_letter(letters, i + 1, t->stages[i]);
}

/* ---- rows ---------------------------------------------------------------------- */

static void name_row(int stream, char *text, size_t size)
{
    if (stream == UB_DEFAULT_STREAM)
        ub_text_set(text, size, "default");
    else
        ub_text_set(text, size, "stream %d", stream);
}

static int widest_name(const struct ub_timeline_chart *t)
{
    double widest = 0;
    for (size_t i = 0; i < t->row_count; i++) {
        char name[40];
        name_row(t->rows[i], name, sizeof name);
        widest = fmax(widest, ub_text_width(name, cells));
    }
    return (int)widest;
}

/* Draws over `row`; returns in how many cells it is seen. */
static size_t draw_span(const struct ub_span *span, double end_ns, char letter, char *row, size_t count)
{
    size_t drawn = 0;
    for (size_t c = 0; c < count; c++) {
        const double at_ns = ((double)c + 0.5) / (double)count * end_ns;
        if (at_ns < span->begin_ns || at_ns >= span->end_ns)
            continue;
        row[c] = letter;
        drawn++;
    }
    return drawn;
}

/* Returns how many operations fall between the middles of two cells. */
static size_t draw_row(const struct ub_timeline_chart *t, const struct letters *letters, int stream, char *row,
                       size_t count)
{
    size_t unseen = 0;
    memset(row, '.', count);
    row[count] = 0;
    for (size_t i = 0; i < t->count; i++)
        if (t->spans[i].stream == stream)
            unseen += draw_span(&t->spans[i], t->end_ns, letters->of[ub_timeline_stage(t, t->spans[i].stage)], row,
                                count) == 0;
    return unseen;
}

static size_t count_unseen(const struct ub_timeline_chart *t, const struct letters *letters, size_t count)
{
    size_t unseen = 0;
    char row[MOST_CELLS + 1];
    for (size_t i = 0; i < t->row_count; i++)
        unseen += draw_row(t, letters, t->rows[i], row, count);
    return unseen;
}

static void write_rows(FILE *stream, const struct ub_timeline_chart *t, const struct letters *letters, size_t count)
{
    for (size_t i = 0; i < t->row_count; i++) {
        char place[64], row[MOST_CELLS + 1];
        draw_row(t, letters, t->rows[i], row, count);
        snprintf(place, sizeof place, "graph 0,first %zu", ub_timeline_place(t, t->rows[i]));
        ub_timeline_label(stream, row, place, "left");
    }
}

static void write_names(FILE *stream, const struct ub_timeline_chart *t)
{
    fputs("set ytics (", stream);
    for (size_t i = 0; i < t->row_count; i++) {
        char name[40];
        name_row(t->rows[i], name, sizeof name);
        fputs(i ? ", " : "", stream);
        ub_text_quote(stream, name);
        fprintf(stream, " %zu", ub_timeline_place(t, t->rows[i]));
    }
    fputs(") noenhanced\n", stream);
}

/* ---- words --------------------------------------------------------------------- */

/* Adds "i copy in". Its blanks are no-break spaces, so that lines are broken between items. */
static void add_item(char *text, size_t size, char letter, const char *name)
{
    ub_text_append(text, size, "%s%c", *text ? ", " : "", letter);
    for (const char *word = name; *word; word += strcspn(word, " ")) {
        word += *word == ' ';
        ub_text_append(text, size, "\u00A0%.*s", (int)strcspn(word, " "), word);
    }
}

static void make_legend(const struct ub_timeline_chart *t, const struct letters *letters, double width, size_t unseen,
                        struct ub_lines *lines)
{
    char text[UB_LINE_BYTES * 2] = "";
    for (size_t i = 0; i < t->stage_count; i++) {
        char name[UB_STAGE_BYTES * 4];
        ub_timeline_stage_name(t, i, NAME_CELLS, cells, name, sizeof name);
        add_item(text, sizeof text, letters->of[i + 1], name);
    }
    if (t->has_further)
        add_item(text, sizeof text, '+', "further stages");
    add_item(text, sizeof text, '.', "nothing");
    if (unseen > 0)
        ub_text_append(text, sizeof text, "; %zu operation%s too\u00A0short for a letter", unseen,
                       unseen == 1 ? "" : "s");
    ub_text_wrap(text, width, cells, UB_WRAP_LINES, lines);
}

static void write_lines(FILE *stream, const struct ub_lines *lines, size_t row)
{
    for (size_t i = 0; i < lines->count; i++) {
        char text[UB_LINE_BYTES], place[64];
        snprintf(text, sizeof text, "%s", lines->text[i]);
        ub_text_to_ascii(text);
        snprintf(place, sizeof place, "character 1,character H-%zu", row + i + 2);
        ub_timeline_label(stream, text, place, "left");
    }
}

static void write_unit(FILE *stream, const struct ub_timeline_chart *t)
{
    char label[40];
    snprintf(label, sizeof label, "time  [%s]", strcmp(t->unit, "µs") == 0 ? "us" : t->unit);
    fputs("set xlabel ", stream);
    ub_text_quote(stream, label);
    fputs(" noenhanced\n", stream);
}

/* ---- the script ------------------------------------------------------------------- */

bool ub_timeline_write_dumb(FILE *stream, const struct ub_timeline_chart *t, const struct ub_term *term, int columns,
                            const char *output, struct ub_error *err)
{
    const int width = columns < NARROWEST ? NARROWEST : columns, left = widest_name(t) + 2, room = width - left - 4;
    const size_t count = (size_t)(room > MOST_CELLS ? MOST_CELLS : room);
    double x_hi = 0;
    struct letters letters;
    struct ub_lines title, legend;
    choose_letters(t, &letters);
    make_legend(t, &letters, width - 3, count_unseen(t, &letters, count), &legend);
    ub_text_wrap(t->title, width - 3, cells, 2, &title);
    const size_t above = title.count + legend.count;
    ub_script_head(stream, term->terminal, false, width, (double)(t->row_count + above + AROUND), output);
    if (!ub_script_template(stream, "style.gp", err))
        return false;
    write_lines(stream, &title, 0);
    write_lines(stream, &legend, title.count);
    write_names(stream, t);
    write_rows(stream, t, &letters, count);
    ub_timeline_ticks(stream, t, 0, count < 48 ? UB_TIMELINE_TICKS / 3 : UB_TIMELINE_TICKS / 2, &x_hi);
    fprintf(stream, "set lmargin %d; set tmargin %zu\nROWS = %zu; X_HI = %.9g\n", left, above + 2, t->row_count,
            t->end_ns * t->scale);
    write_unit(stream, t);
    return ub_script_template(stream, "timeline_dumb.gp", err);
}
