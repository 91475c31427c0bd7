/* SPDX-License-Identifier: MIT
 *
 * Names beside curves, dots, ceilings and marks, where there is room; else in the key row. */
#include <math.h>
#include <stdio.h>

#include "plots/layout_parts.h"

enum { REACH = 26 }; /* px: how far from its curve a label may stand */

static void put_at(struct ub_layout *out, struct ub_place *place, const struct ub_label_caption *caption,
                   struct ub_spot corner, double width, double height)
{
    struct ub_label *label = ub_layout_add_label(out, caption->font, UB_LEFT, caption->colour, corner.x,
                                                 corner.y + height / 2, caption->text);
    if (label)
        label->boxed = true;
    ub_place_box(place, corner.x - 4, corner.y - 2, width + 8, height + 4);
}

static bool put_near(struct ub_layout *out, struct ub_place *place, const struct ub_label_caption *caption,
                     double reach, const struct ub_path *own, size_t other_count, const struct ub_path *others)
{
    const double width = ub_text_width(caption->text, ub_layout_fonts[caption->font]);
    const double height = ub_layout_fonts[caption->font].size_px * 1.2;
    struct ub_spot corner;
    if (own->count == 0 || !ub_place_near(place, width, height, reach, own, other_count, others, &corner))
        return false;
    put_at(out, place, caption, corner, width, height);
    return true;
}

static void to_key(struct ub_key_row *row, const struct ub_label_caption *caption)
{
    if (row->count < UB_MAX_KEYS && *caption->text)
        row->captions[row->count++] = *caption;
}

static struct ub_label_caption caption_of(const char *text, enum ub_font font, const char *colour,
                                          enum ub_key_kind kind, size_t series)
{
    struct ub_label_caption caption = {.text = text, .font = font, .key = {.kind = kind, .series = series}};
    snprintf(caption.colour, sizeof caption.colour, "%s", colour);
    return caption;
}

/* The label of the area between both curves: in it, broken into two lines if need be. */
static bool put_gap(struct ub_layout *out, struct ub_place *place, const struct ub_figure *figure,
                    const struct ub_path *law, const struct ub_path *second)
{
    const struct ub_measure font = ub_layout_fonts[UB_FONT_ITALIC];
    const double height = font.size_px * 1.25, whole = ub_text_width(figure->gap_label, font);
    for (size_t lines = 1; lines <= 3; lines++) {
        struct ub_lines broken;
        ub_text_wrap(figure->gap_label, lines == 1 ? whole : whole / (double)lines * 1.15, font, UB_WRAP_LINES,
                     &broken);
        double width = 0;
        for (size_t i = 0; i < broken.count; i++)
            width = fmax(width, ub_text_width(broken.text[i], font));
        struct ub_spot corner;
        if (broken.count != lines || (!ub_place_between(place, width, height * (double)lines, second, law, &corner) &&
                                      !ub_place_between(place, width, height * (double)lines, law, second, &corner)))
            continue;
        for (size_t i = 0; i < broken.count; i++)
            ub_layout_add_label(out, UB_FONT_ITALIC, UB_CENTRE, "c_mut", corner.x + width / 2,
                                corner.y + height * ((double)i + 0.5), broken.text[i]);
        ub_place_box(place, corner.x - 2, corner.y - 2, width + 4, height * (double)lines + 4);
        return true;
    }
    return false;
}

/* The ceiling's label above its line, as far right as there is room. */
static void put_ceiling(struct ub_layout *out, struct ub_place *place, const struct ub_figure *figure)
{
    const double highest = fmax(figure->ceilings[0], isfinite(figure->data_sheet) ? figure->data_sheet : 0);
    const double top = ub_layout_px_y(&out->main, highest);
    struct ub_spot line[] = {{out->main.left + out->main.width / 2, top}, {out->main.left + out->main.width, top}};
    const struct ub_path path = {.joined = true, .count = 2, .spots = line};
    const struct ub_label_caption caption = caption_of(figure->ceiling_label, UB_FONT_SMALL, "c_mut", UB_KEY_LINE, 0);
    if (!put_near(out, place, &caption, 40, &path, 0, NULL))
        put_near(out, place, &caption, 200, &path, 0, NULL);
}

static struct ub_path mark_line(const struct ub_layout *out, double at, struct ub_spot line[2])
{
    line[0] = (struct ub_spot){ub_layout_px_x(out, at), out->main.top};
    line[1] = (struct ub_spot){ub_layout_px_x(out, at), out->main.top + out->main.height};
    return (struct ub_path){.joined = true, .count = 2, .spots = line};
}

/* The name of a mark stands upright beside its line. */
static void put_marks(struct ub_layout *out, struct ub_place *place, const struct ub_figure *figure)
{
    struct ub_spot line[2], corner;
    for (size_t i = 0; i < figure->mark_count; i++) {
        mark_line(out, figure->marks[i].at, line);
        ub_place_line(place, line[0], line[1]);
    }
    for (size_t i = 0; i < figure->mark_count; i++) {
        const struct ub_path path = mark_line(out, figure->marks[i].at, line);
        const double height = ub_text_width(figure->marks[i].label, ub_layout_fonts[UB_FONT_SMALL]),
                     width = ub_layout_fonts[UB_FONT_SMALL].size_px * 1.2;
        if (!ub_place_near(place, width, height, REACH, &path, 0, NULL, &corner))
            continue;
        struct ub_label *label = ub_layout_add_label(out, UB_FONT_SMALL, UB_CENTRE, "c_mut", corner.x + width / 2,
                                                     corner.y + height / 2, figure->marks[i].label);
        if (label)
            label->upright = true;
        ub_place_box(place, corner.x - 2, corner.y - 4, width + 4, height + 8);
    }
}

/* Labels of the only series: measured, law, second curve, gap. */
static void label_curves(struct ub_layout *out, struct ub_place *place, const struct ub_figure *figure,
                         struct ub_trace *law, struct ub_trace *second, struct ub_trace *dots, struct ub_key_row *row)
{
    const struct ub_path paths[] = {ub_trace_path(law, !figure->words), ub_trace_path(second, !figure->words),
                                    ub_trace_path(dots, !figure->words)};
    const bool gap = figure->has_second && *figure->gap_label;
    const struct ub_label_caption law_caption = caption_of(figure->law_label, UB_FONT_SMALL, "c_law", UB_KEY_LINE, 0);
    const struct ub_label_caption dot_caption =
        caption_of(ub_layout_dot_name(figure), UB_FONT_BOLD, "c_s1", UB_KEY_DOT, 0);
    const struct ub_label_caption second_caption =
        caption_of(figure->second_label, UB_FONT_SMALL, "c_second", UB_KEY_SECOND, 0);
    const struct ub_label_caption gap_caption = caption_of(figure->gap_label, UB_FONT_ITALIC, "c_mut", UB_KEY_GAP, 0);
    const bool gap_placed = gap && put_gap(out, place, figure, &paths[0], &paths[1]);
    if (paths[2].count > 0 && !put_near(out, place, &dot_caption, REACH, &paths[2], 1, &paths[1]))
        to_key(row, &dot_caption);
    if (paths[0].count > 0 && !put_near(out, place, &law_caption, REACH, &paths[0], 1, &paths[1]))
        to_key(row, &law_caption);
    if (figure->has_second && !put_near(out, place, &second_caption, REACH, &paths[1], 1, &paths[0]))
        to_key(row, &second_caption);
    if (gap && !gap_placed)
        to_key(row, &gap_caption);
}

/* One label a series beside its curve, placed in the order first, first + 1, ...; false:
 * one of them finds no place. */
static bool try_series(struct ub_layout *out, struct ub_place *place, const struct ub_figure *figure,
                       const struct ub_path paths[UB_CHART_SERIES], size_t first)
{
    for (size_t n = 0; n < figure->series_count; n++) {
        const size_t s = (first + n) % figure->series_count;
        struct ub_path others[UB_CHART_SERIES];
        size_t other_count = 0;
        for (size_t o = 0; o < figure->series_count; o++)
            if (o != s)
                others[other_count++] = paths[o];
        char colour[12];
        ub_layout_series_colour(figure, s, colour, sizeof colour);
        const struct ub_label_caption caption =
            caption_of(figure->series[s].label, UB_FONT_BOLD, colour, UB_KEY_SERIES, s);
        if (!put_near(out, place, &caption, REACH, &paths[s], other_count, others))
            return false;
    }
    return true;
}

/* Labels the series where they are; if one finds no place, whichever label is placed first, all
 * go to the key row. */
static void label_series(struct ub_layout *out, const struct ub_place *place, const struct ub_figure *figure,
                         struct ub_trace *traces, struct ub_key_row *row)
{
    struct ub_path paths[UB_CHART_SERIES];
    const size_t before = out->label_count;
    for (size_t s = 0; s < figure->series_count; s++)
        paths[s] = ub_trace_path(&traces[s], !figure->words);
    bool all = false;
    for (size_t first = 0; first < figure->series_count && !figure->words && !all; first++) {
        struct ub_place attempt;
        out->label_count = before;
        if (ub_place_copy(place, &attempt))
            all = try_series(out, &attempt, figure, paths, first);
        ub_place_free(&attempt);
    }
    if (all)
        return;
    out->label_count = before;
    for (size_t s = 0; s < figure->series_count; s++) {
        const struct ub_label_caption caption =
            caption_of(figure->series[s].label, UB_FONT_SMALL, "c_fg", UB_KEY_SERIES, s);
        to_key(row, &caption);
    }
}

/* ---- panels ----------------------------------------------------------------- */

/* The words of single dots. */
static void label_dots(struct ub_layout *out, struct ub_place *place, const struct ub_figure *figure,
                       const struct ub_trace *dots)
{
    for (size_t i = 0; i < figure->word_count && i < dots->count && !figure->words; i++) {
        const struct ub_path own = {.joined = false, .count = 1, .spots = &dots->spots[i]};
        const struct ub_label_caption caption = caption_of(figure->word[i], UB_FONT_BOLD, "c_s1", UB_KEY_DOT, 0);
        put_near(out, place, &caption, 2 * REACH, &own, 0, NULL);
    }
}

bool ub_label_main(struct ub_layout *out, const struct ub_figure *figure, struct ub_traces *traces,
                   struct ub_key_row *row)
{
    struct ub_place place;
    if (!ub_place_init(&place, out->main.left, out->main.top, out->main.width, out->main.height))
        return false;
    for (size_t s = 0; s < figure->series_count; s++) {
        ub_block_curve(&place, figure, &traces->law[s]);
        ub_block_dots(&place, figure, out, &traces->dots[s], &out->main);
        ub_block_intervals(&place, out, figure, s);
    }
    ub_block_curve(&place, figure, &traces->second);
    ub_block_lost(&place, out, figure);
    if (figure->ceiling_count > 0) {
        ub_block_ceilings(&place, out, figure);
        put_ceiling(out, &place, figure);
    }
    put_marks(out, &place, figure);
    label_dots(out, &place, figure, &traces->dots[0]);
    if (figure->series_count == 1)
        label_curves(out, &place, figure, &traces->law[0], &traces->second, &traces->dots[0], row);
    else
        label_series(out, &place, figure, traces->law[0].count ? traces->law : traces->dots, row);
    ub_place_free(&place);
    return true;
}

bool ub_label_lower(struct ub_layout *out, const struct ub_figure *figure, struct ub_traces *traces)
{
    struct ub_place place;
    if (!ub_place_init(&place, out->lower.left, out->lower.top, out->lower.width, out->lower.height))
        return false;
    for (size_t s = 0; s < figure->series_count; s++) {
        ub_block_curve(&place, figure, &traces->panel[s]);
        ub_block_dots(&place, figure, out, &traces->panel_dots[s], &out->lower);
    }
    const bool one = figure->series_count == 1;
    const struct ub_path law = ub_trace_path(&traces->panel[0], !figure->words),
                         dots = ub_trace_path(&traces->panel_dots[0], !figure->words);
    const struct ub_label_caption captions[] = {
        caption_of(figure->panel_law_label, UB_FONT_SMALL, one ? "c_law" : "c_mut", UB_KEY_LINE, 0),
        caption_of(figure->panel_dot_label, UB_FONT_SMALL, one ? "c_s1" : "c_mut", UB_KEY_DOT, 0)};
    /* Without a place near the curve a label may stand anywhere in its panel. */
    if (!put_near(out, &place, &captions[1], REACH, &dots, 0, NULL))
        put_near(out, &place, &captions[1], UB_LAYOUT_WIDTH, &dots, 0, NULL);
    if (!put_near(out, &place, &captions[0], REACH, &law, 0, NULL))
        put_near(out, &place, &captions[0], UB_LAYOUT_WIDTH, &law, 0, NULL);
    ub_place_free(&place);
    return true;
}
