/* SPDX-License-Identifier: MIT
 *
 * Where curves and dots run in their panel, in px, and what they cover there. */
#include <math.h>
#include <stdlib.h>

#include "plots/layout_parts.h"

enum { PATH_SPOTS = 80 };

/* ---- traces ----------------------------------------------------------------- */

static double dot_value(const struct ub_dot *dot, bool lower)
{
    return lower ? dot->panel : dot->y;
}

/* Over words nothing is joined, so that nothing breaks. */
static void add_break(const struct ub_figure *figure, struct ub_trace *trace)
{
    if (!figure->words && trace->count > 0 && !isnan(trace->spots[trace->count - 1].x))
        trace->spots[trace->count++] = (struct ub_spot){NAN, NAN};
}

static bool trace_curve(const struct ub_layout *layout, const struct ub_figure *figure, size_t s, enum ub_curve curve,
                        struct ub_trace *out)
{
    const struct ub_series *series = &figure->series[s];
    const struct ub_panel *panel = curve == UB_CURVE_PANEL ? &layout->lower : &layout->main;
    *out = (struct ub_trace){.spots = calloc(series->law_count + 1, sizeof *out->spots)};
    if (!out->spots)
        return false;
    for (size_t i = 0; i < series->law_count; i++) {
        const double value = ub_law_spot_value(&series->law[i], curve);
        const bool shown = curve != UB_CURVE_SECOND || !(fabs(value / series->law[i].y - 1) <= 0.005);
        if (!isfinite(value) && ub_law_spot_is_of(&series->law[i], curve))
            add_break(figure, out);
        if (isfinite(value) && shown)
            out->spots[out->count++] = (struct ub_spot){
                ub_layout_px_x(layout, series->law[i].x + ub_layout_dodge(figure, s)), ub_layout_px_y(panel, value)};
    }
    return true;
}

static bool trace_dots(const struct ub_layout *layout, const struct ub_figure *figure, size_t s, bool lower,
                       struct ub_trace *out)
{
    const struct ub_series *series = &figure->series[s];
    *out = (struct ub_trace){.spots = calloc(series->dot_count + 1, sizeof *out->spots)};
    if (!out->spots)
        return false;
    for (size_t i = 0; i < series->dot_count; i++)
        if (isfinite(dot_value(&series->dots[i], lower)))
            out->spots[out->count++] = (struct ub_spot){
                ub_layout_px_x(layout, series->dots[i].x + ub_layout_dodge(figure, s)),
                ub_layout_px_y(lower ? &layout->lower : &layout->main, dot_value(&series->dots[i], lower))};
    return true;
}

struct ub_path ub_trace_path(struct ub_trace *trace, bool joined)
{
    const size_t step = trace->count / PATH_SPOTS + 1;
    size_t kept = 0;
    for (size_t i = 0; i < trace->count; i++)
        if (i % step == 0 || i + 1 == trace->count || isnan(trace->spots[i].x))
            trace->spots[kept++] = trace->spots[i];
    trace->count = kept;
    return (struct ub_path){.joined = joined, .count = kept, .spots = trace->spots};
}

bool ub_traces_make(const struct ub_layout *out, const struct ub_figure *figure, struct ub_traces *traces)
{
    bool ok = trace_curve(out, figure, 0, UB_CURVE_SECOND, &traces->second);
    for (size_t s = 0; s < figure->series_count && ok; s++)
        ok = trace_curve(out, figure, s, UB_CURVE_LAW, &traces->law[s]) &&
             trace_dots(out, figure, s, false, &traces->dots[s]) &&
             (!out->has_lower || (trace_curve(out, figure, s, UB_CURVE_PANEL, &traces->panel[s]) &&
                                  trace_dots(out, figure, s, true, &traces->panel_dots[s])));
    return ok;
}

void ub_traces_free(struct ub_traces *traces)
{
    free(traces->second.spots);
    for (size_t s = 0; s < UB_CHART_SERIES; s++) {
        free(traces->law[s].spots);
        free(traces->dots[s].spots);
        free(traces->panel[s].spots);
        free(traces->panel_dots[s].spots);
    }
}

/* ---- obstacles -------------------------------------------------------------- */

void ub_block_curve(struct ub_place *place, const struct ub_figure *figure, const struct ub_trace *trace)
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

void ub_block_dots(struct ub_place *place, const struct ub_figure *figure, const struct ub_layout *layout,
                   const struct ub_trace *trace, const struct ub_panel *panel)
{
    const double radius = 3 + 2.5 * layout->dot_size;
    for (size_t i = 0; i < trace->count; i++) {
        ub_place_box(place, trace->spots[i].x - radius, trace->spots[i].y - radius, 2 * radius, 2 * radius);
        if (figure->words)
            ub_place_box(place, trace->spots[i].x - 3, trace->spots[i].y, 6, panel->top + panel->height);
    }
}

void ub_block_intervals(struct ub_place *place, const struct ub_layout *layout, const struct ub_figure *figure,
                        size_t s)
{
    for (size_t i = 0; i < figure->series[s].dot_count && layout->draws_ci; i++) {
        const struct ub_dot *dot = &figure->series[s].dots[i];
        const double x = ub_layout_px_x(layout, dot->x + ub_layout_dodge(figure, s));
        if (isfinite(dot->lo) && isfinite(dot->hi))
            ub_place_line(place, (struct ub_spot){x, ub_layout_px_y(&layout->main, dot->hi)},
                          (struct ub_spot){x, ub_layout_px_y(&layout->main, dot->lo)});
    }
}

static void block_level(struct ub_place *place, const struct ub_layout *out, double value)
{
    const double y = ub_layout_px_y(&out->main, value);
    ub_place_line(place, (struct ub_spot){out->main.left, y}, (struct ub_spot){out->main.left + out->main.width, y});
}

void ub_block_ceilings(struct ub_place *place, const struct ub_layout *out, const struct ub_figure *figure)
{
    for (size_t i = 0; i < figure->ceiling_count; i++)
        block_level(place, out, figure->ceilings[i]);
    if (isfinite(figure->data_sheet))
        block_level(place, out, figure->data_sheet);
}

void ub_block_lost(struct ub_place *place, const struct ub_layout *out, const struct ub_figure *figure)
{
    const double bottom = out->main.top + out->main.height;
    for (size_t i = 0; i < figure->lost_count; i++)
        ub_place_box(place, ub_layout_px_x(out, figure->lost[i]) - 6, bottom - 14, 12, 14);
}
