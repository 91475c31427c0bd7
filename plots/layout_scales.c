/* SPDX-License-Identifier: MIT
 *
 * Ranges, log or linear, and ticks of the axes, from the data alone. */
#include <math.h>
#include <stdio.h>

#include "plots/layout.h"

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
