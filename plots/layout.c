/* SPDX-License-Identifier: MIT */
#include "plots/layout.h"

#include <math.h>
#include <string.h>

#include "plots/layout_parts.h"

/* px; the look is that of a picture 900 px wide. */
enum {
    EDGE = 14,          /* free at the left and right edge */
    MAIN_HEIGHT = 320,  /* with a panel below */
    ALONE_HEIGHT = 400, /* without */
    LOWER_HEIGHT = 150,
    BETWEEN = 34, /* between both panels */
    TITLE_LINE = 24,
    SMALL_LINE = 18,
    KEY_LINE = 22,
    TICK_PX = 16 /* tick mark and its distance to the label */
};

const struct ub_measure ub_layout_fonts[] = {
    [UB_FONT_TITLE] = {.size_px = 13 * 4 / 3.0, .bold = true},
    [UB_FONT_BODY] = {.size_px = 11 * 4 / 3.0},
    [UB_FONT_SMALL] = {.size_px = 9.5 * 4 / 3.0},
    [UB_FONT_ITALIC] = {.size_px = 9.5 * 4 / 3.0},
    [UB_FONT_BOLD] = {.size_px = 10 * 4 / 3.0, .bold = true},
};

struct ub_label *ub_layout_add_label(struct ub_layout *out, enum ub_font font, enum ub_align align, const char *colour,
                                     double x, double y, const char *text)
{
    if (out->label_count == UB_MAX_LABELS || *text == 0)
        return NULL;
    struct ub_label *label = &out->labels[out->label_count++];
    *label = (struct ub_label){.x = x, .y = y, .align = align, .font = font};
    snprintf(label->colour, sizeof label->colour, "%s", colour);
    snprintf(label->text, sizeof label->text, "%s", text);
    return label;
}

const char *ub_layout_dot_name(const struct ub_figure *figure)
{
    static const char *const names[] = {"measured", "predicted", "published"};
    return figure->mixed ? "values" : names[figure->source];
}

void ub_layout_series_colour(const struct ub_figure *figure, size_t series, char *text, size_t size)
{
    snprintf(text, size, "c_s%zu", figure->series[series].colour % UB_CHART_SERIES + 1);
}

double ub_layout_dodge(const struct ub_figure *figure, size_t series)
{
    if (!figure->words || figure->series_count < 2)
        return 0;
    const double step = 0.7 / (double)figure->series_count;
    return ((double)series - (double)(figure->series_count - 1) / 2) * step;
}

/* ---- frame --------------------------------------------------------------- */

static double widest_tick(const struct ub_scale *scale, enum ub_font font)
{
    double widest = 0;
    for (size_t i = 0; i < scale->tick_count; i++)
        widest = fmax(widest, ub_text_width(scale->ticks[i].label, ub_layout_fonts[font]));
    return widest;
}

/* Left and right margins from the widest tick labels. */
static void make_margins(const struct ub_figure *figure, struct ub_layout *out)
{
    const double line = ub_layout_fonts[UB_FONT_BODY].size_px * 1.25;
    double ticks = widest_tick(&out->main.y, UB_FONT_BODY);
    if (out->has_lower)
        ticks = fmax(ticks, widest_tick(&out->lower.y, UB_FONT_BODY));
    double left = EDGE + line + 8 + ticks + TICK_PX;
    double right = EDGE + 12;
    if (figure->has_share)
        right = EDGE + line + 8 + widest_tick(&out->share, UB_FONT_BODY) + TICK_PX;
    out->main.left = fmax(84, left);
    out->main.width = UB_LAYOUT_WIDTH - out->main.left - right;
    out->lower.left = out->main.left;
    out->lower.width = out->main.width;
}

/* A turned label ends at its tick and begins left of it, at worst left of the picture:
 * the panels move to the right by what it lacks. */
static void make_room_for_turned(struct ub_layout *out)
{
    const double along = 0.87; /* cosine of 30 degrees */
    double lack = 0;
    for (size_t i = 0; i < out->x.tick_count; i++) {
        const double fraction = ub_scale_fraction(&out->x, out->x.ticks[i].at);
        const double begins = out->main.left + out->main.width * fraction -
                              along * ub_text_width(out->x.ticks[i].label, ub_layout_fonts[UB_FONT_BODY]) - TICK_PX;
        lack = fmax(lack, (EDGE / 2.0 - begins) / fmax(1 - fraction, 0.5));
    }
    out->main.left += lack;
    out->main.width -= lack;
    out->lower.left = out->main.left;
    out->lower.width = out->main.width;
}

/* Tick labels of words that do not fit beside each other are turned. */
static double x_tick_height(struct ub_layout *out)
{
    const double slot = out->main.width / fmax(1, (double)out->x.tick_count);
    const double widest = widest_tick(&out->x, UB_FONT_BODY);
    out->rotated_ticks = out->x.kind == UB_SCALE_CATEGORY && widest + 8 > slot;
    if (out->rotated_ticks)
        make_room_for_turned(out);
    return out->rotated_ticks ? widest * 0.5 + 24 : 24;
}

double ub_layout_px_x(const struct ub_layout *layout, double value)
{
    return layout->main.left + layout->main.width * ub_scale_fraction(&layout->x, value);
}

double ub_layout_px_y(const struct ub_panel *panel, double value)
{
    return panel->top + panel->height * (1 - ub_scale_fraction(&panel->y, value));
}

/* ---- words around the panels -------------------------------------------------- */

static double key_width(const struct ub_label_caption *caption)
{
    return UB_KEY_SAMPLE_PX + 8 + ub_text_width(caption->text, ub_layout_fonts[caption->font]);
}

/* Sets the samples of the key column after column, in as few lines as they need; returns
 * their height. */
static double set_key_row(struct ub_layout *out, const struct ub_key_row *row, double top)
{
    enum { BETWEEN_COLUMNS = 22 };
    double column = 0;
    for (size_t i = 0; i < row->count; i++)
        column = fmax(column, key_width(&row->captions[i]) + BETWEEN_COLUMNS);
    if (row->count == 0)
        return 0;
    const double room = UB_LAYOUT_WIDTH - EDGE - out->main.left + BETWEEN_COLUMNS;
    const size_t most =
        fmax(1, floor(room / column)) < (double)row->count ? (size_t)fmax(1, floor(room / column)) : row->count;
    const size_t lines = (row->count + most - 1) / most;
    for (size_t i = 0; i < row->count; i++) {
        const struct ub_label_caption *caption = &row->captions[i];
        const double x = out->main.left + column * (double)(i / lines),
                     y = top + KEY_LINE * ((double)(i % lines) + 0.5);
        struct ub_key *key = &out->keys[out->key_count++];
        *key = caption->key;
        key->x = x;
        key->y = y;
        ub_layout_add_label(out, caption->font, UB_LEFT, caption->colour, x + UB_KEY_SAMPLE_PX + 8, y, caption->text);
    }
    return KEY_LINE * (double)lines;
}

static void shift_labels(struct ub_layout *out, double down)
{
    for (size_t i = 0; i < out->label_count; i++)
        out->labels[i].y += down;
}

static double add_lines(struct ub_layout *out, enum ub_font font, const char *colour, const char *text, size_t limit,
                        double line, double top)
{
    struct ub_lines lines;
    ub_text_wrap(text, UB_LAYOUT_WIDTH - EDGE - out->main.left, ub_layout_fonts[font], limit, &lines);
    for (size_t i = 0; i < lines.count; i++)
        ub_layout_add_label(out, font, UB_LEFT, colour, out->main.left, top + line * ((double)i + 0.5), lines.text[i]);
    return line * (double)lines.count;
}

/* Whether some interval is taller than its dot. */
static bool intervals_show(const struct ub_layout *out, const struct ub_figure *figure)
{
    for (size_t s = 0; s < figure->series_count; s++)
        for (size_t i = 0; i < figure->series[s].dot_count; i++) {
            const struct ub_dot *dot = &figure->series[s].dots[i];
            if (isfinite(dot->lo) &&
                ub_layout_px_y(&out->main, dot->lo) - ub_layout_px_y(&out->main, dot->hi) > 9 * out->dot_size)
                return true;
        }
    return false;
}

/* Of some chart the law says nothing at all. */
static bool shows_law(const struct ub_figure *figure)
{
    for (size_t s = 0; s < figure->series_count; s++)
        for (size_t i = 0; i < figure->series[s].law_count; i++)
            for (int curve = UB_CURVE_LAW; curve <= UB_CURVE_PANEL; curve++)
                if (isfinite(ub_law_spot_value(&figure->series[s].law[i], (enum ub_curve)curve)))
                    return true;
    return false;
}

/* Fewer samples have no interval. */
enum { LEAST_OF_INTERVAL = 6 };

static void complete_conditions(const struct ub_layout *out, const struct ub_figure *figure, char *text, size_t size)
{
    snprintf(text, size, "%s", figure->conditions);
    if (figure->has_ci)
        ub_text_append(text, size, "%s%s", out->draws_ci ? ", bars: 95 % CI" : ", 95 % CI smaller than the dots",
                       figure->fewest_samples < LEAST_OF_INTERVAL ? " (of 6 samples or more)" : "");
    if (figure->series_count > 1 && shows_law(figure))
        ub_text_append(text, size, " · %s: %s, %s: law", figure->words ? "symbols" : "points",
                       ub_layout_dot_name(figure), figure->words ? "bars" : "lines");
}

/* Title, conditions and key row over the panels; returns their height. */
static double set_head(struct ub_layout *out, const struct ub_figure *figure, const struct ub_key_row *row)
{
    char conditions[3 * UB_LINE_BYTES];
    double top = 16;
    complete_conditions(out, figure, conditions, sizeof conditions);
    top += add_lines(out, UB_FONT_TITLE, "c_fg", figure->title, 2, TITLE_LINE, top) + 2;
    top += add_lines(out, UB_FONT_SMALL, "c_mut", conditions, 3, SMALL_LINE, top) + 6;
    top += set_key_row(out, row, top);
    return top + 8;
}

/* Axis titles, notes; returns the height of the whole picture. */
static double set_foot(struct ub_layout *out, const struct ub_figure *figure, double tick_height)
{
    const struct ub_panel *last = out->has_lower ? &out->lower : &out->main;
    const double centre = out->main.left + out->main.width / 2;
    double top = last->top + last->height + tick_height;
    ub_layout_add_label(out, UB_FONT_BODY, UB_CENTRE, "c_fg", centre, top + 20, figure->x_label);
    top += 36;
    const struct {
        const struct ub_panel *panel;
        const char *text;
        double x;
    } titles[] = {{&out->main, figure->y_label, EDGE + 8},
                  {&out->main, figure->has_share ? figure->share_label : "", UB_LAYOUT_WIDTH - EDGE - 8},
                  {&out->lower, out->has_lower ? figure->panel_label : "", EDGE + 8}};
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) {
        struct ub_label *label =
            ub_layout_add_label(out, UB_FONT_BODY, UB_CENTRE, "c_fg", titles[i].x,
                                titles[i].panel->top + titles[i].panel->height / 2, titles[i].text);
        if (!label)
            continue;
        label->upright = true;
        ub_text_shorten(label->text, sizeof label->text, titles[i].panel->height + BETWEEN,
                        ub_layout_fonts[UB_FONT_BODY]);
    }
    for (size_t i = 0; i < figure->note_count; i++)
        top += add_lines(out, UB_FONT_SMALL, "c_mut", figure->notes[i], 2, SMALL_LINE, top);
    return top + 10;
}

static size_t count_dots(const struct ub_figure *figure)
{
    size_t count = 0;
    for (size_t s = 0; s < figure->series_count; s++)
        count += figure->series[s].dot_count;
    return count;
}

bool ub_layout_make(const struct ub_figure *figure, struct ub_layout *out, struct ub_error *err)
{
    *out = (struct ub_layout){.width = UB_LAYOUT_WIDTH};
    const size_t dots = count_dots(figure);
    out->dot_size = dots > 400 ? 0.35 : dots > 160 ? 0.5 : 0.7;
    out->halo = dots <= 160 && figure->series_count == 1;
    ub_layout_scales(figure, 12, 8, out);
    make_margins(figure, out);
    out->main.height = out->has_lower ? MAIN_HEIGHT : ALONE_HEIGHT;
    out->lower.height = LOWER_HEIGHT;
    out->lower.top = out->main.height + BETWEEN;
    out->draws_ci = figure->has_ci && intervals_show(out, figure);
    /* The panels stand at 0 while their labels are placed: the height of the head
     * depends on which labels find no place and go to the key row. */
    struct ub_traces traces = {0};
    struct ub_key_row row = {0};
    const bool ok = ub_traces_make(out, figure, &traces) && ub_label_main(out, figure, &traces, &row) &&
                    (!out->has_lower || ub_label_lower(out, figure, &traces));
    ub_traces_free(&traces);
    if (!ok)
        return ub_fail(err, UB_INTERNAL, "out of memory while laying out a chart");
    const size_t placed = out->label_count;
    const double tick_height = x_tick_height(out);
    struct ub_layout head = *out;
    head.label_count = head.key_count = 0;
    const double top = set_head(&head, figure, &row);
    shift_labels(out, top);
    for (size_t i = 0; i < head.label_count && placed + i < UB_MAX_LABELS; i++)
        out->labels[out->label_count++] = head.labels[i];
    memcpy(out->keys, head.keys, sizeof out->keys);
    out->key_count = head.key_count;
    out->main.top = top;
    out->lower.top += top;
    out->height = ceil(set_foot(out, figure, tick_height));
    return true;
}
