/* SPDX-License-Identifier: MIT */
#include "plots/describe.h"

#include <math.h>
#include <string.h>

#include "plots/layout.h"
#include "plots/scale.h"

static const double nearly_equal = 1e-9;

/* "useful bandwidth  [GB/s]" into its name and its unit. */
static void split_label(const char *label, char *name, size_t name_size, char *unit, size_t unit_size)
{
    const char *open = strstr(label, "  ["), *close = open ? strchr(open, ']') : NULL;
    ub_text_set(name, name_size, "%.*s", open ? (int)(open - label) : (int)strlen(label), label);
    ub_text_set(unit, unit_size, "%.*s", close ? (int)(close - open - 3) : 0, close ? open + 3 : "");
}

/* "stride 8" or, of words, "random". */
static void place_text(const struct ub_figure *figure, double x, char *text, size_t size)
{
    char name[160], unit[48], number[48];
    if (figure->words) {
        const size_t place = x >= 0 && x < (double)figure->word_count ? (size_t)x : 0;
        ub_text_set(text, size, "%s", figure->word_count ? figure->word[place] : "");
        return;
    }
    split_label(figure->x_label, name, sizeof name, unit, sizeof unit);
    ub_number_text(x, number, sizeof number);
    ub_text_set(text, size, "%s %s", name, number);
}

static void append_value(const struct ub_figure *figure, const struct ub_dot *dot, const char *before, char *text,
                         size_t size)
{
    char number[48], place[160];
    ub_number_text(dot->y, number, sizeof number);
    place_text(figure, dot->x, place, sizeof place);
    ub_text_append(text, size, "%s%s at %s", before, number, place);
}

/* The highest (or lowest) point between first and last, where it is well beyond both. */
static const struct ub_dot *inner_extreme(const struct ub_series *series, bool highest)
{
    const double sign = highest ? 1 : -1;
    const struct ub_dot *best = &series->dots[0], *last = &series->dots[series->dot_count - 1];
    for (size_t i = 1; i < series->dot_count; i++)
        if (sign * series->dots[i].y > sign * best->y)
            best = &series->dots[i];
    const double edge = highest ? fmax(series->dots[0].y, last->y) : fmin(series->dots[0].y, last->y);
    return fabs(best->y - edge) > 0.05 * fabs(edge) ? best : NULL;
}

static void append_series(const struct ub_figure *figure, const struct ub_series *series, char *text, size_t size)
{
    if (series->dot_count == 0)
        return;
    ub_text_append(text, size, "%s%s", *series->label ? " " : "", series->label);
    append_value(figure, &series->dots[0], *series->label ? ": " : " ", text, size);
    const struct ub_dot *high = inner_extreme(series, true), *low = inner_extreme(series, false);
    if (high)
        append_value(figure, high, ", up to ", text, size);
    if (low)
        append_value(figure, low, ", down to ", text, size);
    if (series->dot_count > 1)
        append_value(figure, &series->dots[series->dot_count - 1], ", ", text, size);
    ub_text_append(text, size, ";");
}

static const struct ub_law_spot *law_at(const struct ub_series *series, double x)
{
    for (size_t i = 0; i < series->law_count; i++)
        if (fabs(series->law[i].x - x) <= nearly_equal * fmax(1, fabs(x)))
            return &series->law[i];
    return NULL;
}

/* "3.1", "310": per cent of a share, without an exponent. */
static void percent_text(double share, char *text, size_t size)
{
    static const double smallest = 0.01;
    const double percent = 100 * share;
    ub_text_set(text, size, percent >= 99.5 ? "%.0f" : "%.2g", percent > smallest ? percent : smallest);
}

/* The largest share by which a point lies off the law; NaN: there is no law. `panel`: of
 * the lower panel. Those whose time is not tested are no part of it, only counted. */
static double largest_gap(const struct ub_figure *figure, bool panel, size_t *left_out)
{
    double gap = NAN;
    *left_out = 0;
    for (size_t s = 0; s < figure->series_count; s++)
        for (size_t i = 0; i < figure->series[s].dot_count; i++) {
            const struct ub_dot *dot = &figure->series[s].dots[i];
            const struct ub_law_spot *spot = law_at(&figure->series[s], dot->x);
            const double value = panel ? dot->panel : dot->y, law = !spot ? NAN : panel ? spot->panel : spot->y;
            const double off = law == 0 && value == 0 ? 0 : fabs(value / law - 1);
            const bool skipped = isfinite(off) && dot->untested && !panel;
            *left_out += skipped;
            if (!skipped && isfinite(off) && !(off <= gap))
                gap = off;
        }
    return gap;
}

void ub_figure_describe_law(const struct ub_figure *figure, char *text, size_t size)
{
    size_t left_out, none;
    const double main = largest_gap(figure, false, &left_out);
    const double lower = figure->has_panel ? largest_gap(figure, true, &none) : NAN;
    char name[160], unit[48], percent[48];
    *text = 0;
    if (figure->source == UB_PREDICTED && !figure->mixed) {
        ub_text_set(text, size, "All of it follows from the law; nothing was measured.");
        return;
    }
    split_label(figure->y_label, name, sizeof name, unit, sizeof unit);
    const bool time = strcmp(name, "time") == 0;
    percent_text(main, percent, sizeof percent);
    if (isfinite(main))
        ub_text_append(text, size, "The points lie within %s %% of the law%s%s", percent, time ? "" : " (",
                       time ? "" : name);
    if (isfinite(main) && !time)
        ub_text_append(text, size, ")");
    if (left_out > 0)
        ub_text_append(text, size, "%s%zu point%s whose time is not tested",
                       *text ? "; left out: " : "Shown: ", left_out, left_out == 1 ? "" : "s");
    if (*text)
        ub_text_append(text, size, ".");
    percent_text(lower, percent, sizeof percent);
    if (isfinite(lower))
        ub_text_append(text, size, "%sLower panel: %s ", *text ? " " : "", figure->panel_label);
    if (isfinite(lower) && lower <= nearly_equal)
        ub_text_append(text, size, "equals the law at every point.");
    else if (isfinite(lower))
        ub_text_append(text, size, "lies within %s %% of the law.", percent);
}

void ub_figure_describe(const struct ub_figure *figure, char *text, size_t size)
{
    char name[160], unit[48];
    split_label(figure->y_label, name, sizeof name, unit, sizeof unit);
    ub_text_set(text, size, "%s. %s. %s%s%s, %s:", figure->title, figure->conditions, name, *unit ? " in " : "", unit,
                ub_layout_dot_name(figure));
    for (size_t s = 0; s < figure->series_count; s++)
        append_series(figure, &figure->series[s], text, size);
    const size_t length = strlen(text);
    text[length - 1] = '.'; /* it was ':' or ';' */
    char law[UB_LINE_BYTES];
    ub_figure_describe_law(figure, law, sizeof law);
    ub_text_append(text, size, "%s%s", *law ? " " : "", law);
    for (size_t i = 0; i < figure->note_count; i++)
        ub_text_append(text, size, " %s.", figure->notes[i]);
}
