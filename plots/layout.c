/* SPDX-License-Identifier: MIT */
#include "plots/layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/place.h"

/* px of the picture; the look is that of 900 px width (harness.md 3.2, 12). */
enum {
    WIDTH = 900,
    EDGE = 14,          /* free at the left and right edge */
    MAIN_HEIGHT = 320,  /* with a panel below */
    ALONE_HEIGHT = 400, /* without */
    LOWER_HEIGHT = 150,
    BETWEEN = 34, /* between both panels */
    TITLE_LINE = 24,
    SMALL_LINE = 18,
    KEY_LINE = 22,
    TICK_PX = 16, /* tick mark and its distance to the label */
    REACH = 26,   /* how far from its curve a label may stand */
    PATH_SPOTS = 80
};

static const struct ub_measure fonts[] = {
    [UB_FONT_TITLE] = {.size_px = 13 * 4 / 3.0, .bold = true},
    [UB_FONT_BODY] = {.size_px = 11 * 4 / 3.0},
    [UB_FONT_SMALL] = {.size_px = 9.5 * 4 / 3.0},
    [UB_FONT_ITALIC] = {.size_px = 9.5 * 4 / 3.0},
    [UB_FONT_BOLD] = {.size_px = 10 * 4 / 3.0, .bold = true},
};

/* A curve's or a series' spots in the panel, allocated once for each. */
struct trace {
    size_t count;
    struct ub_spot *spots; /* owned */
};

static struct ub_label *add_label(struct ub_layout *out, enum ub_font font, enum ub_align align, const char *colour,
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

/* ---- scales -------------------------------------------------------------- */

struct range {
    double min, max;
};

static void widen(struct range *range, double value)
{
    if (!isfinite(value))
        return;
    range->min = fmin(range->min, value);
    range->max = fmax(range->max, value);
}

static struct range empty_range(void)
{
    return (struct range){.min = INFINITY, .max = -INFINITY};
}

static struct range main_range(const struct ub_figure *figure)
{
    struct range range = empty_range();
    for (size_t s = 0; s < figure->series_count; s++) {
        const struct ub_series *series = &figure->series[s];
        for (size_t i = 0; i < series->dot_count; i++) {
            widen(&range, series->dots[i].y);
            widen(&range, series->dots[i].lo);
            widen(&range, series->dots[i].hi);
        }
        for (size_t i = 0; i < series->law_count; i++) {
            widen(&range, series->law[i].y);
            if (figure->has_second)
                widen(&range, series->law[i].second);
        }
    }
    for (size_t i = 0; i < figure->ceiling_count; i++)
        widen(&range, figure->ceilings[i]);
    widen(&range, figure->data_sheet);
    return range;
}

static struct range lower_range(const struct ub_figure *figure)
{
    struct range range = empty_range();
    for (size_t s = 0; s < figure->series_count; s++) {
        for (size_t i = 0; i < figure->series[s].dot_count; i++)
            widen(&range, figure->series[s].dots[i].panel);
        for (size_t i = 0; i < figure->series[s].law_count; i++)
            widen(&range, figure->series[s].law[i].panel);
    }
    return range;
}

static struct range x_range(const struct ub_figure *figure)
{
    struct range range = empty_range();
    for (size_t s = 0; s < figure->series_count; s++) {
        for (size_t i = 0; i < figure->series[s].dot_count; i++)
            widen(&range, figure->series[s].dots[i].x);
        for (size_t i = 0; i < figure->series[s].law_count; i++)
            widen(&range, figure->series[s].law[i].x);
    }
    for (size_t i = 0; i < figure->lost_count; i++)
        widen(&range, figure->lost[i]);
    return range;
}

/* A stair: a fifth more or less within a twentieth of x. */
static bool is_jump(const struct ub_law_spot *before, const struct ub_law_spot *after, double from, double to)
{
    return fabs(log(to / from)) > log(1.2) && fabs(log(after->x / before->x)) < log(1.05);
}

/* A law that looks like a power of x: it only rises or only falls (1 % of noise apart),
 * without stairs, and by at least a factor of two. On log axes it is then a straight line
 * with knees. */
static bool is_power_like(const struct ub_series *series, bool panel)
{
    bool rises = true, falls = true, jumps = false;
    struct range range = empty_range();
    const struct ub_law_spot *before = NULL;
    double last = NAN;
    for (size_t i = 0; i < series->law_count; i++) {
        const struct ub_law_spot *spot = &series->law[i];
        const double value = ub_law_spot_value(spot, panel ? UB_CURVE_PANEL : UB_CURVE_LAW);
        if (!isfinite(value))
            continue;
        rises = rises && !(value < last * 0.99);
        falls = falls && !(value > last * 1.01);
        jumps = jumps || (before && is_jump(before, spot, last, value));
        widen(&range, value);
        last = value;
        before = spot;
    }
    return (rises || falls) && !jumps && range.min > 0 && range.max >= 2 * range.min;
}

/* Points that double from one to the next ask for a log axis whatever the law. */
static bool is_geometric(const struct ub_series *series)
{
    if (series->dot_count < 4)
        return false;
    for (size_t i = 1; i < series->dot_count; i++)
        if (series->dots[i].x < 1.5 * series->dots[i - 1].x)
            return false;
    return true;
}

/* Beyond this ratio of its ends a linear axis shows nothing but its last points. */
enum { LINEAR_MOST = 2048 };

static bool x_is_log(const struct ub_figure *figure, struct range range)
{
    if (figure->words || range.min <= 0 || range.max < 8 * range.min)
        return false;
    if (figure->has_roof || range.max >= LINEAR_MOST * range.min)
        return true;
    const struct ub_series *first = &figure->series[0];
    return is_power_like(first, false) || (figure->has_panel && is_power_like(first, true)) || is_geometric(first);
}

/* 65536 as "64 Ki". */
static void binary_tick(struct ub_tick *tick)
{
    static const struct {
        double factor;
        const char *unit;
    } rows[] = {{0x1p30, "Gi"}, {0x1p20, "Mi"}, {0x1p10, "Ki"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (tick->at >= rows[i].factor && fmod(tick->at, rows[i].factor) == 0) {
            snprintf(tick->label, sizeof tick->label, "%.0f %s", tick->at / rows[i].factor, rows[i].unit);
            return;
        }
}

/* Memory is cut into powers of two: ticks at 16 Ki, 32 Ki instead of 10000, 20000. */
static void binary_steps(struct ub_scale *scale, size_t ticks)
{
    const double step = exp2(ceil(log2((scale->hi - scale->lo) / (double)ticks)));
    scale->tick_count = 0;
    for (double n = ceil(scale->lo / step - 1e-9); n * step <= scale->hi; n++)
        ub_scale_tick(scale, n == 0 ? 0 : n * step, NULL);
}

static void word_ticks(const struct ub_figure *figure, size_t limit, struct ub_scale *scale)
{
    ub_scale_category(scale, figure->word_count);
    const size_t most = limit < UB_MAX_TICKS ? limit : UB_MAX_TICKS;
    const size_t step = (figure->word_count + most - 1) / most;
    for (size_t i = 0; i < figure->word_count; i += step)
        ub_scale_tick(scale, (double)i, figure->word[i]);
}

static void make_x_scale(const struct ub_figure *figure, size_t ticks, struct ub_scale *scale)
{
    const struct range range = x_range(figure);
    if (figure->words)
        word_ticks(figure, 4 * ticks, scale);
    else if (x_is_log(figure, range))
        ub_scale_log2(scale, range.min, range.max, 0.03, 0.03, ticks);
    else
        ub_scale_linear(scale, range.min, range.max, 0.03, 0.03, ticks, true);
    if (figure->bytes_x && scale->kind == UB_SCALE_LINEAR && scale->hi - scale->lo >= 8192)
        binary_steps(scale, ticks);
    /* 134217728 is as hard to read where it counts something else */
    const bool binary = figure->bytes_x || (scale->kind == UB_SCALE_LOG2 && range.max >= 0x1p20);
    for (size_t i = 0; i < scale->tick_count && binary && !figure->words; i++)
        binary_tick(&scale->ticks[i]);
}

/* The main axis is log where the values span a factor of four on a log x, of sixteen on a
 * linear one, or of sixty-four over words; else, and for shares of a whole, it starts at
 * zero, because only then lengths compare. */
static void make_y_scale(const struct ub_figure *figure, struct range range, bool on_log_x, size_t ticks,
                         struct ub_scale *scale)
{
    const double span = on_log_x ? 4 : figure->words ? 64 : 16;
    if (range.min > 0 && range.max >= span * range.min && !figure->share_y)
        ub_scale_log2(scale, range.min, range.max, 0.09, figure->ceiling_count ? 0.10 : 0.08, ticks);
    else
        ub_scale_linear(scale, fmin(0, range.min), fmax(0, range.max), range.min < 0 ? 0.08 : 0,
                        figure->ceiling_count ? 0.13 : 0.12, ticks, figure->whole_y);
}

/* The same range in per cent of the ceiling. */
static void make_share_scale(const struct ub_figure *figure, const struct ub_scale *y, size_t ticks,
                             struct ub_scale *share)
{
    *share = (struct ub_scale){.kind = y->kind};
    share->lo = y->lo / figure->ceilings[0] * 100;
    share->hi = y->hi / figure->ceilings[0] * 100;
    for (double at = 100; y->kind == UB_SCALE_LOG2 && at >= share->lo && share->tick_count < ticks + 2; at /= 2) {
        char label[48];
        snprintf(label, sizeof label, at >= 10 || at == floor(at) ? "%.4g %%" : "%.3g %%", at);
        ub_scale_tick(share, at, label);
    }
    for (int quarter = 0; y->kind == UB_SCALE_LINEAR && quarter <= 4; quarter++) {
        char label[48];
        snprintf(label, sizeof label, "%d %%", quarter * 25);
        if (quarter * 25 >= share->lo && quarter * 25 <= share->hi)
            ub_scale_tick(share, quarter * 25, label);
    }
}

void ub_layout_scales(const struct ub_figure *figure, size_t x_ticks, size_t ticks, struct ub_layout *out)
{
    make_x_scale(figure, x_ticks, &out->x);
    make_y_scale(figure, main_range(figure), out->x.kind == UB_SCALE_LOG2, ticks, &out->main.y);
    if (figure->has_share)
        make_share_scale(figure, &out->main.y, ticks, &out->share);
    const struct range lower = lower_range(figure);
    out->has_lower = figure->has_panel && lower.max >= lower.min;
    if (out->has_lower) {
        /* Over words the labels stand on top: between stems there may be no room. */
        ub_scale_linear(&out->lower.y, fmin(0, lower.min), fmax(0, lower.max), 0, figure->words ? 0.25 : 0.13, 5,
                        false);
    }
}

/* ---- frame --------------------------------------------------------------- */

static double widest_tick(const struct ub_scale *scale, enum ub_font font)
{
    double widest = 0;
    for (size_t i = 0; i < scale->tick_count; i++)
        widest = fmax(widest, ub_text_width(scale->ticks[i].label, fonts[font]));
    return widest;
}

/* Left and right margins from the widest tick labels. */
static void make_margins(const struct ub_figure *figure, struct ub_layout *out)
{
    const double line = fonts[UB_FONT_BODY].size_px * 1.25;
    double ticks = widest_tick(&out->main.y, UB_FONT_BODY);
    if (out->has_lower)
        ticks = fmax(ticks, widest_tick(&out->lower.y, UB_FONT_BODY));
    double left = EDGE + line + 8 + ticks + TICK_PX;
    double right = EDGE + 12;
    if (figure->has_share)
        right = EDGE + line + 8 + widest_tick(&out->share, UB_FONT_BODY) + TICK_PX;
    out->main.left = fmax(84, left);
    out->main.width = WIDTH - out->main.left - right;
    out->lower.left = out->main.left;
    out->lower.width = out->main.width;
}

/* Tick labels of words that do not fit beside each other are turned. */
static double x_tick_height(struct ub_layout *out)
{
    const double slot = out->main.width / fmax(1, (double)out->x.tick_count);
    const double widest = widest_tick(&out->x, UB_FONT_BODY);
    out->rotated_ticks = out->x.kind == UB_SCALE_CATEGORY && widest + 8 > slot;
    return out->rotated_ticks ? widest * 0.5 + 24 : 24;
}

static double px_x(const struct ub_layout *layout, double value)
{
    return layout->main.left + layout->main.width * ub_scale_fraction(&layout->x, value);
}

static double px_y(const struct ub_panel *panel, double value)
{
    return panel->top + panel->height * (1 - ub_scale_fraction(&panel->y, value));
}

/* ---- obstacles and traces -------------------------------------------------- */

static double dot_value(const struct ub_dot *dot, bool lower)
{
    return lower ? dot->panel : dot->y;
}

/* Over words nothing is joined, so that nothing breaks. */
static void add_break(const struct ub_figure *figure, struct trace *trace)
{
    if (!figure->words && trace->count > 0 && !isnan(trace->spots[trace->count - 1].x))
        trace->spots[trace->count++] = (struct ub_spot){NAN, NAN};
}

static bool trace_curve(const struct ub_layout *layout, const struct ub_figure *figure, size_t s, enum ub_curve curve,
                        struct trace *out)
{
    const struct ub_series *series = &figure->series[s];
    const struct ub_panel *panel = curve == UB_CURVE_PANEL ? &layout->lower : &layout->main;
    *out = (struct trace){.spots = calloc(series->law_count + 1, sizeof *out->spots)};
    if (!out->spots)
        return false;
    for (size_t i = 0; i < series->law_count; i++) {
        const double value = ub_law_spot_value(&series->law[i], curve);
        const bool shown = curve != UB_CURVE_SECOND || !(fabs(value / series->law[i].y - 1) <= 0.005);
        if (!isfinite(value) && ub_law_spot_is_of(&series->law[i], curve))
            add_break(figure, out);
        if (isfinite(value) && shown)
            out->spots[out->count++] =
                (struct ub_spot){px_x(layout, series->law[i].x + ub_layout_dodge(figure, s)), px_y(panel, value)};
    }
    return true;
}

static bool trace_dots(const struct ub_layout *layout, const struct ub_figure *figure, size_t s, bool lower,
                       struct trace *out)
{
    const struct ub_series *series = &figure->series[s];
    *out = (struct trace){.spots = calloc(series->dot_count + 1, sizeof *out->spots)};
    if (!out->spots)
        return false;
    for (size_t i = 0; i < series->dot_count; i++)
        if (isfinite(dot_value(&series->dots[i], lower)))
            out->spots[out->count++] =
                (struct ub_spot){px_x(layout, series->dots[i].x + ub_layout_dodge(figure, s)),
                                 px_y(lower ? &layout->lower : &layout->main, dot_value(&series->dots[i], lower))};
    return true;
}

/* Thins a trace to what the search for a place can afford. */
static struct ub_path path_of(struct trace *trace, bool joined)
{
    const size_t step = trace->count / PATH_SPOTS + 1;
    size_t kept = 0;
    for (size_t i = 0; i < trace->count; i++)
        if (i % step == 0 || i + 1 == trace->count || isnan(trace->spots[i].x))
            trace->spots[kept++] = trace->spots[i];
    trace->count = kept;
    return (struct ub_path){.joined = joined, .count = kept, .spots = trace->spots};
}

static void block_curve(struct ub_place *place, const struct ub_figure *figure, const struct trace *trace)
{
    for (size_t i = 0; i < trace->count; i++) {
        const struct ub_spot spot = trace->spots[i];
        const bool from = i > 0 && !isnan(trace->spots[i - 1].x),
                   on = i + 1 < trace->count && !isnan(trace->spots[i + 1].x);
        if (isnan(spot.x))
            continue;
        if (figure->words)
            ub_place_box(place, spot.x - 26, spot.y - 2, 52, 4);
        else if (on)
            ub_place_line(place, spot, trace->spots[i + 1]);
        else if (!from)
            ub_place_box(place, spot.x - UB_LONE_LAW_PX / 2.0, spot.y - 1, UB_LONE_LAW_PX, 2);
    }
}

static void block_dots(struct ub_place *place, const struct ub_figure *figure, const struct ub_layout *layout,
                       const struct trace *trace, const struct ub_panel *panel)
{
    const double radius = 3 + 2.5 * layout->dot_size;
    for (size_t i = 0; i < trace->count; i++) {
        ub_place_box(place, trace->spots[i].x - radius, trace->spots[i].y - radius, 2 * radius, 2 * radius);
        if (figure->words)
            ub_place_box(place, trace->spots[i].x - 3, trace->spots[i].y, 6, panel->top + panel->height);
    }
}

static void block_intervals(struct ub_place *place, const struct ub_layout *layout, const struct ub_figure *figure,
                            size_t s)
{
    for (size_t i = 0; i < figure->series[s].dot_count && layout->draws_ci; i++) {
        const struct ub_dot *dot = &figure->series[s].dots[i];
        const double x = px_x(layout, dot->x + ub_layout_dodge(figure, s));
        if (isfinite(dot->lo) && isfinite(dot->hi))
            ub_place_line(place, (struct ub_spot){x, px_y(&layout->main, dot->hi)},
                          (struct ub_spot){x, px_y(&layout->main, dot->lo)});
    }
}

/* ---- labels -------------------------------------------------------------- */

/* A label that names a curve: where it may stand, or its sample in the key row. */
struct caption {
    const char *text;
    enum ub_font font;
    char colour[12];
    struct ub_key key;
};

static void put_at(struct ub_layout *out, struct ub_place *place, const struct caption *caption, struct ub_spot corner,
                   double width, double height)
{
    struct ub_label *label =
        add_label(out, caption->font, UB_LEFT, caption->colour, corner.x, corner.y + height / 2, caption->text);
    if (label)
        label->boxed = true;
    ub_place_box(place, corner.x - 4, corner.y - 2, width + 8, height + 4);
}

static bool put_near(struct ub_layout *out, struct ub_place *place, const struct caption *caption, double reach,
                     const struct ub_path *own, size_t other_count, const struct ub_path *others)
{
    const double width = ub_text_width(caption->text, fonts[caption->font]);
    const double height = fonts[caption->font].size_px * 1.2;
    struct ub_spot corner;
    if (own->count == 0 || !ub_place_near(place, width, height, reach, own, other_count, others, &corner))
        return false;
    put_at(out, place, caption, corner, width, height);
    return true;
}

/* Texts of the key row, in order; NULL text ends. */
struct key_row {
    size_t count;
    struct caption captions[UB_MAX_KEYS];
};

static void to_key(struct key_row *row, const struct caption *caption)
{
    if (row->count < UB_MAX_KEYS && *caption->text)
        row->captions[row->count++] = *caption;
}

static struct caption caption_of(const char *text, enum ub_font font, const char *colour, enum ub_key_kind kind,
                                 size_t series)
{
    struct caption caption = {.text = text, .font = font, .key = {.kind = kind, .series = series}};
    snprintf(caption.colour, sizeof caption.colour, "%s", colour);
    return caption;
}

/* The label of the area between both curves: in it, broken into two lines if need be. */
static bool put_gap(struct ub_layout *out, struct ub_place *place, const struct ub_figure *figure,
                    const struct ub_path *law, const struct ub_path *second)
{
    const struct ub_measure font = fonts[UB_FONT_ITALIC];
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
            add_label(out, UB_FONT_ITALIC, UB_CENTRE, "c_mut", corner.x + width / 2,
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
    const double top = px_y(&out->main, highest);
    struct ub_spot line[] = {{out->main.left + out->main.width / 2, top}, {out->main.left + out->main.width, top}};
    const struct ub_path path = {.joined = true, .count = 2, .spots = line};
    const struct caption caption = caption_of(figure->ceiling_label, UB_FONT_SMALL, "c_mut", UB_KEY_LINE, 0);
    if (!put_near(out, place, &caption, 40, &path, 0, NULL))
        put_near(out, place, &caption, 200, &path, 0, NULL);
}

static void block_level(struct ub_place *place, const struct ub_layout *out, double value)
{
    const double y = px_y(&out->main, value);
    ub_place_line(place, (struct ub_spot){out->main.left, y}, (struct ub_spot){out->main.left + out->main.width, y});
}

static void block_ceilings(struct ub_place *place, const struct ub_layout *out, const struct ub_figure *figure)
{
    for (size_t i = 0; i < figure->ceiling_count; i++)
        block_level(place, out, figure->ceilings[i]);
    if (isfinite(figure->data_sheet))
        block_level(place, out, figure->data_sheet);
}

static void block_lost(struct ub_place *place, const struct ub_layout *out, const struct ub_figure *figure)
{
    const double bottom = out->main.top + out->main.height;
    for (size_t i = 0; i < figure->lost_count; i++)
        ub_place_box(place, px_x(out, figure->lost[i]) - 6, bottom - 14, 12, 14);
}

static struct ub_path mark_line(const struct ub_layout *out, double at, struct ub_spot line[2])
{
    line[0] = (struct ub_spot){px_x(out, at), out->main.top};
    line[1] = (struct ub_spot){px_x(out, at), out->main.top + out->main.height};
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
        const double height = ub_text_width(figure->marks[i].label, fonts[UB_FONT_SMALL]),
                     width = fonts[UB_FONT_SMALL].size_px * 1.2;
        if (!ub_place_near(place, width, height, REACH, &path, 0, NULL, &corner))
            continue;
        struct ub_label *label = add_label(out, UB_FONT_SMALL, UB_CENTRE, "c_mut", corner.x + width / 2,
                                           corner.y + height / 2, figure->marks[i].label);
        if (label)
            label->upright = true;
        ub_place_box(place, corner.x - 2, corner.y - 4, width + 4, height + 8);
    }
}

/* Labels of the only series: measured, law, second curve, gap. */
static void label_curves(struct ub_layout *out, struct ub_place *place, const struct ub_figure *figure,
                         struct trace *law, struct trace *second, struct trace *dots, struct key_row *row)
{
    const struct ub_path paths[] = {path_of(law, !figure->words), path_of(second, !figure->words),
                                    path_of(dots, !figure->words)};
    const bool gap = figure->has_second && *figure->gap_label;
    const struct caption law_caption = caption_of(figure->law_label, UB_FONT_SMALL, "c_law", UB_KEY_LINE, 0);
    const struct caption dot_caption = caption_of(ub_layout_dot_name(figure), UB_FONT_BOLD, "c_s1", UB_KEY_DOT, 0);
    const struct caption second_caption = caption_of(figure->second_label, UB_FONT_SMALL, "c_second", UB_KEY_SECOND, 0);
    const struct caption gap_caption = caption_of(figure->gap_label, UB_FONT_ITALIC, "c_mut", UB_KEY_GAP, 0);
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
        const struct caption caption = caption_of(figure->series[s].label, UB_FONT_BOLD, colour, UB_KEY_SERIES, s);
        if (!put_near(out, place, &caption, REACH, &paths[s], other_count, others))
            return false;
    }
    return true;
}

/* Labels the series where they are; if one finds no place, whichever label is placed first, all
 * go to the key row. */
static void label_series(struct ub_layout *out, const struct ub_place *place, const struct ub_figure *figure,
                         struct trace *traces, struct key_row *row)
{
    struct ub_path paths[UB_CHART_SERIES];
    const size_t before = out->label_count;
    for (size_t s = 0; s < figure->series_count; s++)
        paths[s] = path_of(&traces[s], !figure->words);
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
        const struct caption caption = caption_of(figure->series[s].label, UB_FONT_SMALL, "c_fg", UB_KEY_SERIES, s);
        to_key(row, &caption);
    }
}

struct traces {
    struct trace law[UB_CHART_SERIES], dots[UB_CHART_SERIES], second, panel[UB_CHART_SERIES],
        panel_dots[UB_CHART_SERIES];
};

static bool trace_all(const struct ub_layout *out, const struct ub_figure *figure, struct traces *traces)
{
    bool ok = trace_curve(out, figure, 0, UB_CURVE_SECOND, &traces->second);
    for (size_t s = 0; s < figure->series_count && ok; s++)
        ok = trace_curve(out, figure, s, UB_CURVE_LAW, &traces->law[s]) &&
             trace_dots(out, figure, s, false, &traces->dots[s]) &&
             (!out->has_lower || (trace_curve(out, figure, s, UB_CURVE_PANEL, &traces->panel[s]) &&
                                  trace_dots(out, figure, s, true, &traces->panel_dots[s])));
    return ok;
}

static void free_traces(struct traces *traces)
{
    free(traces->second.spots);
    for (size_t s = 0; s < UB_CHART_SERIES; s++) {
        free(traces->law[s].spots);
        free(traces->dots[s].spots);
        free(traces->panel[s].spots);
        free(traces->panel_dots[s].spots);
    }
}

/* The words of single dots. */
static void label_dots(struct ub_layout *out, struct ub_place *place, const struct ub_figure *figure,
                       const struct trace *dots)
{
    for (size_t i = 0; i < figure->word_count && i < dots->count && !figure->words; i++) {
        const struct ub_path own = {.joined = false, .count = 1, .spots = &dots->spots[i]};
        const struct caption caption = caption_of(figure->word[i], UB_FONT_BOLD, "c_s1", UB_KEY_DOT, 0);
        put_near(out, place, &caption, 2 * REACH, &own, 0, NULL);
    }
}

static bool label_main(struct ub_layout *out, const struct ub_figure *figure, struct traces *traces,
                       struct key_row *row)
{
    struct ub_place place;
    if (!ub_place_init(&place, out->main.left, out->main.top, out->main.width, out->main.height))
        return false;
    for (size_t s = 0; s < figure->series_count; s++) {
        block_curve(&place, figure, &traces->law[s]);
        block_dots(&place, figure, out, &traces->dots[s], &out->main);
        block_intervals(&place, out, figure, s);
    }
    block_curve(&place, figure, &traces->second);
    block_lost(&place, out, figure);
    if (figure->ceiling_count > 0) {
        block_ceilings(&place, out, figure);
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

static bool label_lower(struct ub_layout *out, const struct ub_figure *figure, struct traces *traces)
{
    struct ub_place place;
    if (!ub_place_init(&place, out->lower.left, out->lower.top, out->lower.width, out->lower.height))
        return false;
    for (size_t s = 0; s < figure->series_count; s++) {
        block_curve(&place, figure, &traces->panel[s]);
        block_dots(&place, figure, out, &traces->panel_dots[s], &out->lower);
    }
    const bool one = figure->series_count == 1;
    const struct ub_path law = path_of(&traces->panel[0], !figure->words),
                         dots = path_of(&traces->panel_dots[0], !figure->words);
    const struct caption captions[] = {
        caption_of(figure->panel_law_label, UB_FONT_SMALL, one ? "c_law" : "c_mut", UB_KEY_LINE, 0),
        caption_of(figure->panel_dot_label, UB_FONT_SMALL, one ? "c_s1" : "c_mut", UB_KEY_DOT, 0)};
    /* Without a place near the curve a label may stand anywhere in its panel. */
    if (!put_near(out, &place, &captions[1], REACH, &dots, 0, NULL))
        put_near(out, &place, &captions[1], WIDTH, &dots, 0, NULL);
    if (!put_near(out, &place, &captions[0], REACH, &law, 0, NULL))
        put_near(out, &place, &captions[0], WIDTH, &law, 0, NULL);
    ub_place_free(&place);
    return true;
}

static double key_width(const struct caption *caption)
{
    return UB_KEY_SAMPLE_PX + 8 + ub_text_width(caption->text, fonts[caption->font]);
}

/* Sets the samples of the key column after column, in as few lines as they need; returns
 * their height. */
static double set_key_row(struct ub_layout *out, const struct key_row *row, double top)
{
    enum { BETWEEN_COLUMNS = 22 };
    double column = 0;
    for (size_t i = 0; i < row->count; i++)
        column = fmax(column, key_width(&row->captions[i]) + BETWEEN_COLUMNS);
    if (row->count == 0)
        return 0;
    const double room = WIDTH - EDGE - out->main.left + BETWEEN_COLUMNS;
    const size_t most =
        fmax(1, floor(room / column)) < (double)row->count ? (size_t)fmax(1, floor(room / column)) : row->count;
    const size_t lines = (row->count + most - 1) / most;
    for (size_t i = 0; i < row->count; i++) {
        const struct caption *caption = &row->captions[i];
        const double x = out->main.left + column * (double)(i / lines),
                     y = top + KEY_LINE * ((double)(i % lines) + 0.5);
        struct ub_key *key = &out->keys[out->key_count++];
        *key = caption->key;
        key->x = x;
        key->y = y;
        add_label(out, caption->font, UB_LEFT, caption->colour, x + UB_KEY_SAMPLE_PX + 8, y, caption->text);
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
    ub_text_wrap(text, WIDTH - EDGE - out->main.left, fonts[font], limit, &lines);
    for (size_t i = 0; i < lines.count; i++)
        add_label(out, font, UB_LEFT, colour, out->main.left, top + line * ((double)i + 0.5), lines.text[i]);
    return line * (double)lines.count;
}

/* Whether some interval is taller than its dot. */
static bool intervals_show(const struct ub_layout *out, const struct ub_figure *figure)
{
    for (size_t s = 0; s < figure->series_count; s++)
        for (size_t i = 0; i < figure->series[s].dot_count; i++) {
            const struct ub_dot *dot = &figure->series[s].dots[i];
            if (isfinite(dot->lo) && px_y(&out->main, dot->lo) - px_y(&out->main, dot->hi) > 9 * out->dot_size)
                return true;
        }
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
    if (figure->series_count > 1)
        ub_text_append(text, size, " · %s: %s, %s: law", figure->words ? "symbols" : "points",
                       ub_layout_dot_name(figure), figure->words ? "bars" : "lines");
}

/* Title, conditions and key row over the panels; returns their height. */
static double set_head(struct ub_layout *out, const struct ub_figure *figure, const struct key_row *row)
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
    add_label(out, UB_FONT_BODY, UB_CENTRE, "c_fg", centre, top + 20, figure->x_label);
    top += 36;
    const struct {
        const struct ub_panel *panel;
        const char *text;
        double x;
    } titles[] = {{&out->main, figure->y_label, EDGE + 8},
                  {&out->main, figure->has_share ? figure->share_label : "", WIDTH - EDGE - 8},
                  {&out->lower, out->has_lower ? figure->panel_label : "", EDGE + 8}};
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) {
        struct ub_label *label = add_label(out, UB_FONT_BODY, UB_CENTRE, "c_fg", titles[i].x,
                                           titles[i].panel->top + titles[i].panel->height / 2, titles[i].text);
        if (!label)
            continue;
        label->upright = true;
        ub_text_shorten(label->text, sizeof label->text, titles[i].panel->height + BETWEEN, fonts[UB_FONT_BODY]);
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
    *out = (struct ub_layout){.width = WIDTH};
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
    struct traces traces = {0};
    struct key_row row = {0};
    const bool ok = trace_all(out, figure, &traces) && label_main(out, figure, &traces, &row) &&
                    (!out->has_lower || label_lower(out, figure, &traces));
    free_traces(&traces);
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
