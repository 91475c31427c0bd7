/* SPDX-License-Identifier: MIT
 *
 * The reduced chart of a terminal. gnuplot's dumb terminal draws the panels; every
 * line of text stands at a character position that is computed here. */
#include <math.h>
#include <string.h>

#include "plots/script.h"
#include "plots/templates.h"

enum {
    NARROWEST = 40,
    WIDEST = 160,
    MAIN_ROWS = 15,
    LOWER_ROWS = 7,
    TEXT_ROWS = 24,
    BYTES = 4 * WIDEST + 1 /* of one row: a character has at most four */
};

struct text_row {
    int row; /* from the top */
    int column;
    char text[BYTES];
};

struct page {
    int columns, rows;
    bool utf8;
    int left;                /* column of the y axis */
    int main_top, lower_top; /* first row of each panel's frame */
    size_t count;
    struct text_row lines[TEXT_ROWS];
};

/* A symbol in UTF-8 and its stand-in. */
struct sign {
    const char *utf8, *ascii;
};
static const struct sign law_sign = {"·", "."}, ceiling_sign = {"╌", "-"}, lost_sign = {"×", "x"};
static const struct sign dot_signs[2][UB_CHART_SERIES] = {
    {{"●", "o"}, {"□", "+"}, {"△", "#"}, {"◇", "@"}, {"▽", "%"}, {"○", "&"}},
    {{"○", "o"}, {"□", "+"}, {"△", "#"}, {"◇", "@"}, {"▽", "%"}, {"●", "&"}},
};

static const char *sign_text(const struct page *page, const struct sign *sign)
{
    return page->utf8 ? sign->utf8 : sign->ascii;
}

static const struct sign *dot_sign(const struct ub_figure *figure, size_t series)
{
    return &dot_signs[figure->series[series].source == UB_PREDICTED][series % UB_CHART_SERIES];
}

static void add_text(struct page *page, int row, int column, const char *text)
{
    if (page->count == TEXT_ROWS || *text == 0)
        return;
    struct text_row *line = &page->lines[page->count++];
    line->row = row;
    line->column = column;
    ub_text_set(line->text, sizeof line->text, "%s", text);
    for (char *bound; (bound = strstr(line->text, "\u00A0"));) {
        *bound = ' ';
        memmove(bound + 1, bound + 2, strlen(bound + 2) + 1);
    }
    if (!page->utf8)
        ub_text_to_ascii(line->text);
}

/* Adds a paragraph from `row` on; returns the first row after it. */
static int add_paragraph(struct page *page, int row, const char *text, size_t limit)
{
    struct ub_lines lines;
    ub_text_wrap(text, page->columns, (struct ub_measure){.cells = true}, limit, &lines);
    for (size_t i = 0; i < lines.count; i++)
        add_text(page, row++, 0, lines.text[i]);
    return row;
}

/* Adds "SIGN text" to the legend. Its blanks are no-break spaces, so that lines are broken
 * between items; add_text() makes them plain. */
static void add_item(char *text, size_t size, const char *sign, const char *name)
{
    char item[2 * UB_LINE_BYTES] = "";
    ub_text_append(item, sizeof item, "%s%s%s", sign, *sign ? " " : "", name);
    if (*text)
        ub_text_append(text, size, "   ");
    for (const char *word = item; *word; word += strcspn(word, " ")) {
        if (*word == ' ')
            ub_text_append(text, size, "\u00A0");
        word += *word == ' ';
        ub_text_append(text, size, "%.*s", (int)strcspn(word, " "), word);
    }
}

static void write_legend(const struct page *page, const struct ub_figure *figure, char *text, size_t size)
{
    *text = 0;
    for (size_t s = 0; s < figure->series_count; s++)
        add_item(text, size, sign_text(page, dot_sign(figure, s)),
                 figure->series_count > 1 ? figure->series[s].label : ub_layout_dot_name(figure));
    if (figure->series_count > 1 && !figure->mixed)
        add_item(text, size, "", figure->source == UB_PREDICTED ? "(predicted)" : "(measured)");
    add_item(text, size, sign_text(page, &law_sign), "law");
    if (figure->ceiling_count > 0) {
        char label[sizeof figure->ceiling_label];
        ub_text_set(label, sizeof label, "%s", figure->ceiling_label);
        ub_text_shorten(label, sizeof label, page->columns - 3, (struct ub_measure){.cells = true});
        add_item(text, size, sign_text(page, &ceiling_sign), label);
    }
}

static double widest_tick(const struct ub_scale *scale)
{
    double widest = 0;
    for (size_t i = 0; i < scale->tick_count; i++)
        widest = fmax(widest, ub_text_width(scale->ticks[i].label, (struct ub_measure){.cells = true}));
    return widest;
}

/* Words that would run into each other are cut; where that leaves too little of them,
 * only every second, fourth ... stands. */
static void fit_words(const struct page *page, struct ub_scale *scale)
{
    enum { LEAST = 5 };
    const double room = page->columns - page->left - 2;
    size_t step = 1;
    while (scale->kind == UB_SCALE_CATEGORY && (double)step * room / (double)scale->tick_count < LEAST + 1)
        step *= 2;
    const double width = (double)step * room / (double)scale->tick_count - 1;
    size_t kept = 0;
    for (size_t i = 0; i < scale->tick_count; i += step) {
        scale->ticks[kept] = scale->ticks[i];
        if (scale->kind == UB_SCALE_CATEGORY)
            ub_text_shorten(scale->ticks[kept].label, sizeof scale->ticks[kept].label, width,
                            (struct ub_measure){.cells = true});
        kept++;
    }
    scale->tick_count = kept;
}

static void make_page(const struct ub_figure *figure, struct ub_layout *layout, struct page *page)
{
    char legend[2 * UB_LINE_BYTES];
    int row = add_paragraph(page, 0, figure->title, 2);
    row = add_paragraph(page, row, figure->conditions, 3) + 1;
    double widest = widest_tick(&layout->main.y);
    if (layout->has_lower)
        widest = fmax(widest, widest_tick(&layout->lower.y));
    page->left = (int)widest + 1;
    fit_words(page, &layout->x);
    add_text(page, row++, 0, figure->y_label);
    page->main_top = row;
    row += MAIN_ROWS + (layout->has_lower ? 1 : 2);
    if (layout->has_lower) {
        char label[UB_LINE_BYTES];
        snprintf(label, sizeof label, "%s   (%s)", figure->panel_label, figure->panel_law_label);
        ub_text_shorten(label, sizeof label, page->columns, (struct ub_measure){.cells = true});
        add_text(page, row++, 0, label);
        page->lower_top = row;
        row += LOWER_ROWS + 2;
    }
    const double width = ub_text_width(figure->x_label, (struct ub_measure){.cells = true});
    add_text(page, row++, page->left + (int)fmax(0, (page->columns - page->left - width) / 2), figure->x_label);
    write_legend(page, figure, legend, sizeof legend);
    row = add_paragraph(page, row, legend, 3);
    for (size_t i = 0; i < figure->note_count; i++)
        row = add_paragraph(page, row, figure->notes[i], 2);
    page->rows = row;
}

/* ---- data -------------------------------------------------------------------- */

/* The next spot of the curve after `row`; NULL: none. */
static const struct ub_law_spot *spot_after(const struct ub_series *series, size_t row, enum ub_curve curve)
{
    while (++row < series->law_count)
        if (ub_law_spot_is_of(&series->law[row], curve))
            return &series->law[row];
    return NULL;
}

/* The law in steps of one column, straight between its spots. */
static bool write_dense_law(FILE *stream, const struct page *page, const struct ub_figure *figure, size_t index,
                            const struct ub_layout *layout, bool lower)
{
    const struct ub_series *series = &figure->series[index];
    const enum ub_curve curve = lower ? UB_CURVE_PANEL : UB_CURVE_LAW;
    const double aside = ub_layout_dodge(figure, index);
    const struct ub_scale *y = lower ? &layout->lower.y : &layout->main.y;
    bool any = false;
    for (size_t i = 0; i < series->law_count; i++) {
        const struct ub_law_spot *a = &series->law[i], *b = spot_after(series, i, curve);
        const double from = ub_law_spot_value(a, curve), to = b ? ub_law_spot_value(b, curve) : NAN;
        if (!isfinite(from))
            continue;
        const bool joined = !figure->words && isfinite(to);
        const double ax = ub_scale_fraction(&layout->x, a->x + aside),
                     bx = joined ? ub_scale_fraction(&layout->x, b->x) : ax;
        const double ay = ub_scale_fraction(y, from), by = joined ? ub_scale_fraction(y, to) : ay;
        const int steps = 1 + (int)((bx - ax) * page->columns);
        for (int s = 0; s < steps; s++) {
            const double t = (double)s / steps;
            fprintf(stream, "%.9g %.9g\n", ub_scale_value(&layout->x, ax + (bx - ax) * t),
                    ub_scale_value(y, ay + (by - ay) * t));
        }
        any = true;
    }
    return any;
}

static bool write_dots(FILE *stream, const struct ub_figure *figure, size_t s, bool lower)
{
    bool any = false;
    for (size_t i = 0; i < figure->series[s].dot_count; i++) {
        const struct ub_dot *dot = &figure->series[s].dots[i];
        const double value = lower ? dot->panel : dot->y;
        if (!isfinite(value))
            continue;
        fprintf(stream, "%.9g %.9g\n", dot->x + ub_layout_dodge(figure, s), value);
        any = true;
    }
    return any;
}

static void write_law_block(FILE *stream, const struct page *page, const struct ub_figure *figure,
                            const struct ub_layout *layout, bool lower)
{
    size_t count = 0;
    fputs("$law << EOD\n", stream);
    for (size_t s = 0; s < figure->series_count; s++)
        if (write_dense_law(stream, page, figure, s, layout, lower)) {
            fputs("\n\n", stream);
            count++;
        }
    fprintf(stream, "%sEOD\nN_LAW = %zu; PT_LAW = '%s'\n", count ? "" : "0 0\n", count, sign_text(page, &law_sign));
}

static void write_dot_block(FILE *stream, const struct page *page, const struct ub_figure *figure, bool lower)
{
    size_t used[UB_CHART_SERIES], count = 0;
    fputs("$dots << EOD\n", stream);
    for (size_t s = 0; s < figure->series_count; s++)
        if (write_dots(stream, figure, s, lower)) {
            fputs("\n\n", stream);
            used[count++] = s;
        }
    fprintf(stream, "%sEOD\nN_DOTS = %zu; DOT_NAME = '%s'\narray DOT_PT[%zu] = [", count ? "" : "0 0\n", count,
            ub_layout_dot_name(figure), count ? count : 1);
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%s'%s'", i ? "," : "", sign_text(page, dot_sign(figure, used[i])));
    fputs(count ? "]\n" : "'']\n", stream);
}

static void write_ceiling_block(FILE *stream, const struct page *page, const struct ub_figure *figure,
                                const struct ub_layout *layout, bool wanted)
{
    const size_t count = wanted ? figure->ceiling_count : 0;
    fputs("$ceiling << EOD\n", stream);
    for (size_t i = 0; i < count; i++)
        for (int column = 0; column <= page->columns; column++)
            fprintf(stream, "%.9g %.9g\n", ub_scale_value(&layout->x, (double)column / page->columns),
                    figure->ceilings[i]);
    fprintf(stream, "%sEOD\nN_CEILING = %d; PT_CEILING = '%s'\n", count ? "" : "0 0\n", count > 0,
            sign_text(page, &ceiling_sign));
}

static void write_lost_block(FILE *stream, const struct page *page, const struct ub_figure *figure, bool wanted)
{
    const size_t count = wanted ? figure->lost_count : 0;
    fputs("$lost << EOD\n", stream);
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%.9g\n", figure->lost[i]);
    fprintf(stream, "%sEOD\nN_LOST = %d; PT_LOST = '%s'\n", count ? "" : "0\n", count > 0, sign_text(page, &lost_sign));
}

static void write_ticks(FILE *stream, const char *axis, const struct ub_scale *scale, bool labelled)
{
    fprintf(stream, "set %stics (", axis);
    for (size_t i = 0; i < scale->tick_count; i++) {
        fputs(i ? ", " : "", stream);
        char label[2 * sizeof scale->ticks[0].label] = "";
        for (const char *c = labelled ? scale->ticks[i].label : ""; *c; c++)
            ub_text_append(label, sizeof label, *c == '%' ? "%%%%" : "%c", *c);
        ub_text_quote(stream, label);
        fprintf(stream, " %.12g", scale->ticks[i].at);
    }
    fputs(") noenhanced\n", stream);
}

/* ---- the script ---------------------------------------------------------------- */

/* The screen coordinate of a row as an upper or lower margin: gnuplot 5.4 multiplies an
 * upper one by the last row, a lower one by their number, and cuts off, so that a little
 * more than a whole number is on the safe side. */
static double screen_row(const struct page *page, int row, bool upper)
{
    return (page->rows - 1 - row + 0.3) / (page->rows - upper);
}

static bool write_panel(FILE *stream, const struct page *page, const struct ub_figure *figure,
                        const struct ub_layout *layout, bool lower, struct ub_error *err)
{
    const struct ub_scale *y = lower ? &layout->lower.y : &layout->main.y;
    const int top = lower ? page->lower_top : page->main_top, rows = lower ? LOWER_ROWS : MAIN_ROWS;
    write_law_block(stream, page, figure, layout, lower);
    write_dot_block(stream, page, figure, lower);
    write_ceiling_block(stream, page, figure, layout, !lower);
    write_lost_block(stream, page, figure, !lower);
    fprintf(stream, "R_LO = %.9g; R_HI = %.9g; R_LOG = %d\n", y->lo, y->hi, y->kind == UB_SCALE_LOG2);
    fprintf(stream, "set tmargin at screen %.6f; set bmargin at screen %.6f\n", screen_row(page, top, true),
            screen_row(page, top + rows, false));
    write_ticks(stream, "x", &layout->x, lower || !layout->has_lower);
    write_ticks(stream, "y", y, true);
    fputc('\n', stream);
    return ub_script_template(stream, "sweep_dumb.gp", err);
}

bool ub_script_write_dumb(FILE *stream, const struct ub_figure *figure, int columns, bool utf8, const char *output,
                          struct ub_error *err)
{
    struct page page = {.columns = columns < NARROWEST ? NARROWEST : columns > WIDEST ? WIDEST : columns, .utf8 = utf8};
    struct ub_layout layout = {0};
    ub_layout_scales(figure, (size_t)page.columns / 8, MAIN_ROWS / 2, &layout);
    make_page(figure, &layout, &page);
    fputs("# A chart of ubench in characters. Run it with `gnuplot -d FILE`.\nOUT = ", stream);
    ub_text_quote(stream, output);
    fprintf(stream, "\nTERM = 'dumb'; DARK = 0; W = %d; H = %d\n\n", page.columns, page.rows);
    if (!ub_script_template(stream, "style.gp", err))
        return false;
    fprintf(stream, "\nX_LO = %.9g; X_HI = %.9g; X_LOG = %d\n", layout.x.lo, layout.x.hi,
            layout.x.kind == UB_SCALE_LOG2);
    fprintf(stream, "set lmargin at screen %.6f; set rmargin at screen %.6f\n", (double)page.left / (page.columns - 1),
            1 - 1.0 / (page.columns - 1));
    for (size_t i = 0; i < page.count; i++) {
        fputs("set label ", stream);
        ub_text_quote(stream, page.lines[i].text);
        fprintf(stream, " at character %d,%d left noenhanced\n", page.lines[i].column,
                page.rows - 1 - page.lines[i].row);
    }
    fputs("set multiplot\n", stream);
    if (!write_panel(stream, &page, figure, &layout, false, err))
        return false;
    fputs("\nunset label\n", stream);
    if (layout.has_lower && !write_panel(stream, &page, figure, &layout, true, err))
        return false;
    fputs("unset multiplot\nunset output\n", stream);
    return !ferror(stream) || ub_fail(err, UB_CANNOT_WRITE, "cannot write the script of a chart");
}
