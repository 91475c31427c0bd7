/* SPDX-License-Identifier: MIT */
#include "plots/script.h"

#include <math.h>
#include <string.h>

#include "plots/templates.h"

bool ub_script_template(FILE *stream, const char *name, struct ub_error *err)
{
    for (const struct ub_template *t = ub_templates; t->name; t++)
        if (strcmp(t->name, name) == 0) {
            fwrite(t->text, 1, t->size, stream);
            return true;
        }
    return ub_fail(err, UB_INTERNAL, "this build of ubench lacks the chart template %s", name);
}

/* ---- ticks --------------------------------------------------------------- */

/* A tick's label is a format: % stands doubled. */
static void write_tick_label(FILE *stream, const char *label)
{
    char doubled[2 * sizeof((struct ub_tick *)0)->label];
    size_t used = 0;
    for (const char *c = label; *c && used + 3 < sizeof doubled; c++) {
        if (*c == '%')
            doubled[used++] = '%';
        doubled[used++] = *c;
    }
    doubled[used] = 0;
    ub_text_quote(stream, doubled);
}

static void write_ticks(FILE *stream, const char *axis, const struct ub_scale *scale, bool labelled, const char *rest)
{
    fprintf(stream, "set %stics (", axis);
    for (size_t i = 0; i < scale->tick_count; i++) {
        fputs(i ? ", " : "", stream);
        write_tick_label(stream, labelled ? scale->ticks[i].label : "");
        fprintf(stream, " %.12g", scale->ticks[i].at);
    }
    fprintf(stream, ") noenhanced %s\n", rest);
}

/* ---- symbols and lines ------------------------------------------------------ */

/* gnuplot's point type and size, so that coinciding series nest: dot in square in triangle. */
struct symbol {
    int type;
    double size, line;
};

static struct symbol symbol_of(const struct ub_figure *figure, const struct ub_layout *layout, size_t series)
{
    static const struct {
        int filled, hollow;
        double size;
    } rows[UB_CHART_SERIES] = {{7, 6, 0.75}, {5, 4, 1.25}, {9, 8, 1.9}, {13, 12, 2.3}, {11, 10, 2.6}, {7, 6, 2.8}};
    const size_t row = figure->series[series].shape % UB_CHART_SERIES;
    const bool several = figure->series_count > 1;
    const bool pairs = several && !figure->of_runs && figure->series[figure->series_count - 1].variant > 0;
    bool filled = figure->series[series].source != UB_PREDICTED && (!several || row == 0 || pairs);
    if (figure->series[series].variant > 0)
        filled = false;
    const double shrink = layout->dot_size / 0.7;
    const double size = pairs ? 0.75 + 0.25 * (double)row : rows[row].size;
    return (struct symbol){.type = filled ? rows[row].filled : rows[row].hollow,
                           .size = (several ? size : layout->dot_size) * (several ? shrink : 1) *
                                   (!several && !filled ? 1.3 : 1),
                           .line = filled ? 1 : 1.4};
}

static const char *dash_of(const struct ub_figure *figure, size_t series)
{
    static const char *const dashes[] = {"solid", "(8,5)", "(2,3)", "(8,3,2,3)", "(14,4)", "(4,2)"};
    return dashes[figure->series[series].variant % (sizeof dashes / sizeof dashes[0])];
}

static void series_colour(const struct ub_figure *figure, size_t series, bool law, char *text, size_t size)
{
    if (law && figure->series_count == 1)
        snprintf(text, size, "c_law");
    else
        ub_layout_series_colour(figure, series, text, size);
}

static void write_styles(FILE *stream, const struct ub_figure *figure, const struct ub_layout *layout)
{
    for (size_t s = 0; s < figure->series_count; s++) {
        char colour[12];
        const struct symbol symbol = symbol_of(figure, layout, s);
        series_colour(figure, s, true, colour, sizeof colour);
        fprintf(stream, "set style line %zu lc rgb %s lw %g dt %s\n", 11 + s, colour,
                figure->series_count == 1 ? 1.7 : 1.3, dash_of(figure, s));
        series_colour(figure, s, false, colour, sizeof colour);
        fprintf(stream, "set style line %zu lc rgb %s pt %d ps P*%.3g lw %g\n", 21 + s, colour, symbol.type,
                symbol.size, symbol.line);
    }
}

/* ---- datablocks ------------------------------------------------------------ */

/* One column set of the series; returns false where this row has no value. */
typedef bool (*row_writer)(FILE *stream, const struct ub_figure *figure, size_t series, size_t row);

static bool write_dot(FILE *stream, const struct ub_figure *figure, size_t s, size_t row)
{
    const struct ub_dot *dot = &figure->series[s].dots[row];
    fprintf(stream, "%.9g %.9g\n", dot->x + ub_layout_dodge(figure, s), dot->y);
    return true;
}

static bool write_interval(FILE *stream, const struct ub_figure *figure, size_t s, size_t row)
{
    const struct ub_dot *dot = &figure->series[s].dots[row];
    if (!isfinite(dot->lo) || !isfinite(dot->hi))
        return false;
    fprintf(stream, "%.9g %.9g %.9g %.9g\n", dot->x + ub_layout_dodge(figure, s), dot->y, dot->lo, dot->hi);
    return true;
}

static bool write_panel_dot(FILE *stream, const struct ub_figure *figure, size_t s, size_t row)
{
    const struct ub_dot *dot = &figure->series[s].dots[row];
    if (!isfinite(dot->panel))
        return false;
    fprintf(stream, "%.9g %.9g\n", dot->x + ub_layout_dodge(figure, s), dot->panel);
    return true;
}

static bool write_dots(FILE *stream, const struct ub_figure *figure, size_t s, row_writer write)
{
    bool any = false;
    for (size_t row = 0; row < figure->series[s].dot_count; row++)
        any = write(stream, figure, s, row) || any;
    return any;
}

/* ---- curves ---------------------------------------------------------------- */

/* What is drawn of the law: one of its curves, or the area between two. */
struct curve {
    enum ub_curve curve, other; /* the same: a line */
};

static bool has_value(const struct ub_law_spot *spot, const struct curve *curve)
{
    return isfinite(ub_law_spot_value(spot, curve->curve)) && isfinite(ub_law_spot_value(spot, curve->other));
}

static bool is_of(const struct ub_law_spot *spot, const struct curve *curve)
{
    return ub_law_spot_is_of(spot, curve->curve) && ub_law_spot_is_of(spot, curve->other);
}

/* Whether a line comes to this spot from the one before it (step -1) or goes on to the next (1). */
static bool is_joined(const struct ub_series *series, size_t row, int step, const struct curve *curve)
{
    for (size_t i = row + (size_t)step; i < series->law_count; i += (size_t)step) /* below 0 it is huge */
        if (is_of(&series->law[i], curve))
            return has_value(&series->law[i], curve);
    return false;
}

/* A value that stands alone would make no line: it becomes a dash. */
static void write_dash(FILE *stream, const struct ub_layout *layout, double x, double y)
{
    const double at = ub_scale_fraction(&layout->x, x), half = UB_LONE_LAW_PX / 2.0 / layout->main.width;
    fprintf(stream, "%.9g %.9g\n%.9g %.9g\n", ub_scale_value(&layout->x, fmax(0, at - half)), y,
            ub_scale_value(&layout->x, fmin(1, at + half)), y);
}

static void write_spot(FILE *stream, const struct ub_figure *figure, const struct ub_layout *layout, size_t s,
                       size_t row, const struct curve *curve)
{
    const struct ub_series *series = &figure->series[s];
    const double x = series->law[row].x + ub_layout_dodge(figure, s);
    const double y = ub_law_spot_value(&series->law[row], curve->curve);
    if (curve->other != curve->curve)
        fprintf(stream, "%.9g %.9g %.9g\n", x, y, ub_law_spot_value(&series->law[row], curve->other));
    else if (!figure->words && !is_joined(series, row, -1, curve) && !is_joined(series, row, 1, curve))
        write_dash(stream, layout, x, y);
    else
        fprintf(stream, "%.9g %.9g\n", x, y);
}

/* An empty line stands wherever the curve breaks: gnuplot joins what no line parts. (Two of them would begin the
 * next index.) */
static bool write_curve(FILE *stream, const struct ub_figure *figure, const struct ub_layout *layout, size_t s,
                        const struct curve *curve)
{
    const struct ub_series *series = &figure->series[s];
    bool any = false, breaks = false;
    for (size_t row = 0; row < series->law_count; row++) {
        if (!is_of(&series->law[row], curve))
            continue;
        if (!has_value(&series->law[row], curve)) {
            breaks = any;
            continue;
        }
        fputs(breaks ? "\n" : "", stream);
        write_spot(stream, figure, layout, s, row, curve);
        any = true;
        breaks = false;
    }
    return any;
}

/* ---- blocks ---------------------------------------------------------------- */

struct block {
    const char *name, *count; /* $dots and N_DOTS */
    const char *styles;       /* DOT_LS: which style each index of the block has; NULL: none */
    row_writer write;         /* NULL: a curve of the law */
    struct curve curve;
};

/* Writes the series that have rows as indices of one datablock, and which they are. */
static void write_block(FILE *stream, const struct ub_figure *figure, const struct ub_layout *layout,
                        const struct block *block, bool wanted)
{
    size_t used[UB_CHART_SERIES], count = 0;
    fprintf(stream, "%s << EOD\n", block->name);
    for (size_t s = 0; s < figure->series_count && wanted; s++) {
        if (!(block->write ? write_dots(stream, figure, s, block->write)
                           : write_curve(stream, figure, layout, s, &block->curve)))
            continue;
        fputs("\n\n", stream);
        used[count++] = s + 1;
    }
    /* A datablock with no row at all would stop gnuplot, even one that nothing draws. */
    fprintf(stream, "%sEOD\n%s = %zu\n", count ? "" : "0 0 0 0\n", block->count, count);
    if (!block->styles)
        return;
    fprintf(stream, "array %s[%zu] = [", block->styles, count ? count : 1);
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%s%zu", i ? "," : "", used[i]);
    fputs(count ? "]\n" : "0]\n", stream);
}

/* Horizontal lines over the whole width, one an index. */
static void write_levels(FILE *stream, const char *name, const char *count_name, const struct ub_layout *layout,
                         const double *values, size_t count)
{
    fprintf(stream, "%s << EOD\n", name);
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%.9g %.9g\n%.9g %.9g\n\n\n", layout->x.lo, values[i], layout->x.hi, values[i]);
    fprintf(stream, "%sEOD\n%s = %zu\n", count ? "" : "0 0\n", count_name, count);
}

static void write_marks(FILE *stream, const struct ub_figure *figure)
{
    fputs("$mark << EOD\n", stream);
    for (size_t i = 0; i < figure->mark_count; i++)
        fprintf(stream, "%.9g\n", figure->marks[i].at);
    fprintf(stream, "%sEOD\nN_MARK = %d\n", figure->mark_count ? "" : "0\n", figure->mark_count > 0);
}

static void write_lost(FILE *stream, const struct ub_figure *figure)
{
    fputs("$lost << EOD\n", stream);
    for (size_t i = 0; i < figure->lost_count; i++)
        fprintf(stream, "%.9g\n", figure->lost[i]);
    fprintf(stream, "%sEOD\nN_LOST = %d\n", figure->lost_count ? "" : "0\n", figure->lost_count > 0);
}

static void write_blocks(FILE *stream, const struct ub_figure *figure, const struct ub_layout *layout)
{
    const struct {
        struct block block;
        bool wanted;
    } rows[] = {
        {{"$dots", "N_DOTS", "DOT_LS", write_dot, {0}}, true},
        {{"$interval", "N_CI", NULL, write_interval, {0}}, layout->draws_ci},
        {{"$law", "N_LAW", "LAW_LS", NULL, {UB_CURVE_LAW, UB_CURVE_LAW}}, true},
        {{"$second", "N_SECOND", NULL, NULL, {UB_CURVE_SECOND, UB_CURVE_SECOND}}, figure->has_second},
        {{"$gap", "N_GAP", NULL, NULL, {UB_CURVE_LAW, UB_CURVE_SECOND}}, figure->has_second && *figure->gap_label},
        {{"$panel_dots", "N_PANEL_DOTS", "PANEL_DOTS_LS", write_panel_dot, {0}}, layout->has_lower},
        {{"$panel_law", "N_PANEL_LAW", "PANEL_LAW_LS", NULL, {UB_CURVE_PANEL, UB_CURVE_PANEL}}, layout->has_lower},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        write_block(stream, figure, layout, &rows[i].block, rows[i].wanted);
    write_levels(stream, "$ceiling", "N_CEILING", layout, figure->ceilings, figure->ceiling_count);
    write_levels(stream, "$sheet", "N_SHEET", layout, &figure->data_sheet, isfinite(figure->data_sheet));
    write_marks(stream, figure);
    write_lost(stream, figure);
}

/* ---- labels and keys -------------------------------------------------------- */

static void write_screen(FILE *stream, const struct ub_layout *layout, double x, double y)
{
    fprintf(stream, "screen %.6f,%.6f", x / layout->width, 1 - y / layout->height);
}

static void write_label(FILE *stream, const struct ub_layout *layout, const struct ub_label *label)
{
    static const char *const fonts[] = {"FB(13)", "F(11)", "F(9.5)", "FI(9.5)", "FB(10)"};
    static const char *const aligns[] = {"left", "center", "right"};
    fputs("set label ", stream);
    ub_text_quote(stream, label->text);
    fputs(" at ", stream);
    write_screen(stream, layout, label->x, label->y);
    fprintf(stream, " %s font \"\".%s tc rgb %s noenhanced front%s%s\n", aligns[label->align], fonts[label->font],
            label->colour, label->upright ? " rotate by 90" : "", label->boxed ? " boxed" : "");
}

static bool is_below_main(const struct ub_layout *layout, const struct ub_label *label)
{
    return layout->has_lower && label->y > layout->main.top + layout->main.height;
}

static void write_labels(FILE *stream, const struct ub_layout *layout, bool below)
{
    for (size_t i = 0; i < layout->label_count; i++)
        if (is_below_main(layout, &layout->labels[i]) == below)
            write_label(stream, layout, &layout->labels[i]);
}

static void write_key(FILE *stream, const struct ub_figure *figure, const struct ub_layout *layout,
                      const struct ub_key *key)
{
    const double right = key->x + UB_KEY_SAMPLE_PX;
    if (key->kind == UB_KEY_GAP) {
        fputs("set object rectangle from ", stream);
        write_screen(stream, layout, key->x, key->y + 6);
        fputs(" to ", stream);
        write_screen(stream, layout, right, key->y - 6);
        fputs(" fc rgb c_law fs transparent solid 0.10 noborder front\n", stream);
        return;
    }
    if (key->kind != UB_KEY_DOT) {
        fputs("set arrow from ", stream);
        write_screen(stream, layout, key->x, key->y);
        fputs(" to ", stream);
        write_screen(stream, layout, right, key->y);
        if (key->kind == UB_KEY_SECOND)
            fputs(" nohead lc rgb c_second lw 1.6 dt (8,5) front\n", stream);
        else
            fprintf(stream, " nohead ls %zu front\n", 11 + key->series);
    }
    if (key->kind != UB_KEY_DOT && key->kind != UB_KEY_SERIES)
        return;
    char colour[12];
    const struct symbol symbol = symbol_of(figure, layout, key->series);
    series_colour(figure, key->series, false, colour, sizeof colour);
    fputs("set label '' at ", stream);
    write_screen(stream, layout, key->x + UB_KEY_SAMPLE_PX / 2.0, key->y);
    fprintf(stream, " point pt %d ps P*%.3g lw %g lc rgb %s front\n", symbol.type, symbol.size, symbol.line, colour);
}

/* ---- the script -------------------------------------------------------------- */

void ub_script_head(FILE *stream, const char *terminal, bool dark, double width, double height, const char *output)
{
    fputs("# A chart of ubench. Run it with `gnuplot -d FILE`; -d keeps a personal ~/.gnuplot out.\nOUT = ", stream);
    ub_text_quote(stream, output);
    fprintf(stream, "\nTERM = '%s'; DARK = %d; W = %.0f; H = %.0f\n\n", terminal, dark, width, height);
}

/* Half the length of a law's dash over a word: most of the word's room, at most 24 px. */
static double dash_width(const struct ub_figure *figure, const struct ub_layout *layout)
{
    const double px = layout->main.width / (layout->x.hi - layout->x.lo);
    return fmin(0.28 / (double)figure->series_count, 24 / px);
}

static void write_frame(FILE *stream, const struct ub_figure *figure, const struct ub_layout *layout)
{
    const struct ub_panel *main = &layout->main, *lower = &layout->lower;
    const double w = layout->width, h = layout->height;
    fprintf(stream, "LM = %.6f; RM = %.6f; T1 = %.6f; B1 = %.6f\n", main->left / w, (main->left + main->width) / w,
            1 - main->top / h, 1 - (main->top + main->height) / h);
    fprintf(stream, "X_LO = %.9g; X_HI = %.9g; X_LOG = %d; Y_LO = %.9g; Y_HI = %.9g; Y_LOG = %d\n", layout->x.lo,
            layout->x.hi, layout->x.kind == UB_SCALE_LOG2, main->y.lo, main->y.hi, main->y.kind == UB_SCALE_LOG2);
    fprintf(stream, "HAS_SHARE = %d; S_LO = %.9g; S_HI = %.9g\n", figure->has_share,
            figure->has_share ? layout->share.lo : 0, figure->has_share ? layout->share.hi : 1);
    /* Crosses stand 7 px over the x axis. */
    const double up = 7 / main->height;
    const double lost = main->y.kind == UB_SCALE_LOG2 ? main->y.lo * pow(main->y.hi / main->y.lo, up)
                                                      : main->y.lo + (main->y.hi - main->y.lo) * up;
    fprintf(stream, "Y_LOST = %.9g; WORDS = %d; DASH = %.4g; HALO = %d; STEMS = %d; DOT = %g; DOT_NAME = '%s'\n", lost,
            figure->words, dash_width(figure, layout), layout->halo, figure->words && main->y.kind == UB_SCALE_LINEAR,
            layout->dot_size, ub_layout_dot_name(figure));
    if (layout->has_lower)
        fprintf(stream, "T2 = %.6f; B2 = %.6f; P_LO = %.9g; P_HI = %.9g\n", 1 - lower->top / h,
                1 - (lower->top + lower->height) / h, lower->y.lo, lower->y.hi);
}

static void write_x_ticks(FILE *stream, const struct ub_layout *layout, bool labelled)
{
    write_ticks(stream, "x", &layout->x, labelled, layout->rotated_ticks ? "rotate by 30 right" : "offset 0,XT");
}

bool ub_script_write(FILE *stream, const struct ub_figure *figure, const struct ub_layout *layout, const char *terminal,
                     bool dark, const char *output, struct ub_error *err)
{
    ub_script_head(stream, terminal, dark, layout->width, layout->height, output);
    if (!ub_script_template(stream, "style.gp", err))
        return false;
    fputs("\n# This chart: its data, its frame, its labels.\n", stream);
    write_blocks(stream, figure, layout);
    write_frame(stream, figure, layout);
    write_styles(stream, figure, layout);
    write_x_ticks(stream, layout, !layout->has_lower);
    write_ticks(stream, "y", &layout->main.y, true, "");
    if (figure->has_share)
        write_ticks(stream, "y2", &layout->share, true, "nomirror out scale 0.5 tc rgb c_fg");
    write_labels(stream, layout, false);
    for (size_t i = 0; i < layout->key_count; i++)
        write_key(stream, figure, layout, &layout->keys[i]);
    fputc('\n', stream);
    if (!ub_script_template(stream, "sweep.gp", err))
        return false;
    if (layout->has_lower) {
        fputs("\nunset label; unset arrow; unset object\n", stream);
        write_x_ticks(stream, layout, true);
        write_ticks(stream, "y", &layout->lower.y, true, "");
        write_labels(stream, layout, true);
        fputc('\n', stream);
        if (!ub_script_template(stream, "sweep_lower.gp", err))
            return false;
    }
    fputs("unset multiplot\nunset output\n", stream);
    return !ferror(stream) || ub_fail(err, UB_CANNOT_WRITE, "cannot write the script of a chart");
}
