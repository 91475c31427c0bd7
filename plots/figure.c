/* SPDX-License-Identifier: MIT */
#include "plots/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/engine/law.h"
#include "plots/caption.h"
#include "plots/quantity.h"

/* What the steps below share. */
struct work {
    const struct ub_record *record;
    const struct ub_plot_options *options;
    struct ub_selection selection;
    struct ub_quantity quantity, panel;
    const char *x_metric; /* of the chart, where it decides on the place along x; else NULL */
    struct ub_gpu gpu;
    struct ub_figure *figure;
    int64_t *values; /* what each word stands for; NULL: x is numeric */
};

enum { ROOF_SPOTS = 128 };

double ub_law_spot_value(const struct ub_law_spot *spot, enum ub_curve curve)
{
    return curve == UB_CURVE_PANEL ? spot->panel : curve == UB_CURVE_SECOND ? spot->second : spot->y;
}

bool ub_law_spot_is_of(const struct ub_law_spot *spot, enum ub_curve curve)
{
    return !spot->roof_only || curve == UB_CURVE_SECOND;
}

static bool out_of_memory(struct ub_error *err)
{
    return ub_fail(err, UB_INTERNAL, "out of memory while making a chart");
}

/* Whether the rule has points stand at a metric's value where this axis is along x. */
static bool has_x_metric(const struct ub_selection *selection)
{
    const struct ub_chart *chart = &selection->micro->chart;
    if (!chart->x_metric || strcmp(chart->x_axis, selection->micro->axes[selection->x].name) != 0)
        return false;
    return !chart->x_sweep || (selection->count > 0 && selection->points[0].record->sweep &&
                               strcmp(selection->points[0].record->sweep, chart->x_sweep) == 0);
}

/* Whether x is drawn as words: an axis of words, a value that has a word ("auto"), or a
 * single value, which spans no axis. */
static bool draws_words(const struct ub_selection *selection, const struct ub_plot_options *options)
{
    const struct ub_axis *axis = &selection->micro->axes[selection->x];
    if ((axis->kind == UB_AXIS_WORD && !has_x_metric(selection)) || options->words ||
        (!selection->varies && !options->overlaid))
        return true;
    for (size_t i = 0; i < selection->count; i++)
        if (axis->zero_word && selection->points[i].x == 0)
            return true;
    return false;
}

static int compare_values(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static size_t sort_unique(int64_t *values, size_t count)
{
    size_t kept = 0;
    qsort(values, count, sizeof *values, compare_values);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || values[kept - 1] != values[i])
            values[kept++] = values[i];
    return kept;
}

/* The distinct values along x of all points, ascending. */
static int64_t *swept_values(const struct ub_selection *selection, size_t room, size_t *count)
{
    int64_t *values = malloc((selection->count + room + 1) * sizeof *values);
    if (!values)
        return NULL;
    for (size_t i = 0; i < selection->count; i++)
        values[i] = selection->points[i].x;
    *count = sort_unique(values, selection->count);
    return values;
}

static bool make_words(struct work *work, struct ub_error *err)
{
    struct ub_figure *figure = work->figure;
    work->values = swept_values(&work->selection, 0, &figure->word_count);
    figure->word = calloc(figure->word_count + 1, sizeof *figure->word);
    if (!work->values || !figure->word)
        return out_of_memory(err);
    for (size_t i = 0; i < figure->word_count; i++) {
        char text[48];
        ub_caption_value(&work->selection.micro->axes[work->selection.x], work->values[i], text, sizeof text);
        ub_text_clean(text, figure->word[i], sizeof figure->word[i]);
    }
    return true;
}

static double metric_of_point(const struct work *work, const struct ub_point *point, const char *key)
{
    struct ub_prediction prediction;
    ub_predict(work->selection.micro, &work->gpu, &work->record->constants, point, &prediction);
    return ub_metric_of_prediction(&prediction, key);
}

/* Place of a point along x: the value of its axis, or the number of that among the words,
 * or the metric that the chart has in its place. */
static double place_of(const struct work *work, const struct ub_point *point)
{
    const int64_t value = point->values[work->selection.x];
    if (work->x_metric)
        return metric_of_point(work, point, work->x_metric);
    for (size_t i = 0; work->values && i < work->figure->word_count; i++)
        if (work->values[i] == value)
            return (double)i;
    return (double)value;
}

static double panel_of_point(const struct work *work, const struct ub_record_point *point)
{
    return work->figure->has_panel ? ub_quantity_of_point(&work->panel, work->record->source, point) : NAN;
}

static bool make_dots(struct work *work, struct ub_error *err)
{
    struct ub_figure *figure = work->figure;
    figure->lost = calloc(work->selection.count + 1, sizeof *figure->lost);
    if (!figure->lost)
        return out_of_memory(err);
    for (size_t i = 0; i < work->selection.count; i++) {
        const struct ub_selected *selected = &work->selection.points[i];
        struct ub_series *series = &figure->series[selected->series];
        if (!series->dots)
            series->dots = calloc(work->selection.count, sizeof *series->dots);
        if (!series->dots)
            return out_of_memory(err);
        const double x = place_of(work, &selected->values);
        const double y = ub_quantity_of_point(&work->quantity, figure->source, selected->record);
        if (selected->record->status != UB_POINT_OK || !isfinite(y) || !isfinite(x)) {
            if (isfinite(x))
                figure->lost[figure->lost_count++] = x;
            continue;
        }
        struct ub_dot *dot = &series->dots[series->dot_count++];
        *dot = (struct ub_dot){.x = x, .y = y, .panel = panel_of_point(work, selected->record)};
        dot->untested = figure->source == UB_MEASURED && work->quantity.kind != UB_QUANTITY_COUNTER &&
                        selected->record->time_verdict == UB_TIME_NOT_TESTED;
        ub_quantity_interval(&work->quantity, work->selection.micro, &work->gpu, &work->record->constants,
                             &selected->values, selected->record, &dot->lo, &dot->hi);
        if (figure->source == UB_MEASURED && isfinite(dot->lo) && isfinite(dot->hi))
            figure->has_ci = true;
        else
            dot->lo = dot->hi = NAN;
    }
    return true;
}

/* The words of the dots of the only series, of an axis of words along which these are not places. */
static bool name_dots(struct work *work, struct ub_error *err)
{
    struct ub_figure *figure = work->figure;
    if (figure->series_count != 1)
        return true;
    figure->word = calloc(work->selection.count + 1, sizeof *figure->word);
    if (!figure->word)
        return out_of_memory(err);
    for (size_t i = 0; i < work->selection.count; i++) {
        const struct ub_selected *selected = &work->selection.points[i];
        char text[48];
        const double y = ub_quantity_of_point(&work->quantity, figure->source, selected->record);
        if (selected->record->status != UB_POINT_OK || !isfinite(y) || !isfinite(place_of(work, &selected->values)))
            continue; /* as in make_dots() */
        ub_caption_value(&work->selection.micro->axes[work->selection.x], selected->x, text, sizeof text);
        ub_text_clean(text, figure->word[figure->word_count], sizeof figure->word[0]);
        figure->word_count++;
    }
    return true;
}

/* The values of x at which the law is drawn: those swept and, of a numeric axis, every
 * integer between them, thinned where there are more than the limit allows. */
static int64_t *law_values(const struct work *work, size_t *count)
{
    const size_t limit = UB_FIGURE_EVALUATIONS / work->figure->series_count;
    int64_t *values = swept_values(&work->selection, limit, count);
    if (!values || work->figure->words || work->selection.micro->axes[work->selection.x].kind == UB_AXIS_WORD ||
        *count < 2)
        return values;
    const int64_t first = values[0], last = values[*count - 1];
    const double span = (double)last - (double)first;
    const size_t steps = span < (double)limit ? (size_t)span : limit - 1;
    const bool by_ratio = first > 0 && last / first >= 8 && span >= (double)limit;
    if (*count > limit)
        return values;
    for (size_t i = 1; i < steps; i++) {
        const double t = (double)i / (double)steps;
        const double x = by_ratio ? (double)first * pow((double)last / (double)first, t) : (double)first + span * t;
        values[(*count)++] = (int64_t)llround(x);
    }
    *count = sort_unique(values, *count);
    return values;
}

static bool is_swept(const struct ub_selection *selection, size_t series, int64_t x)
{
    for (size_t i = 0; i < selection->count; i++)
        if (selection->points[i].series == series && selection->points[i].x == x)
            return true;
    return false;
}

/* Between the values of an axis of multiples or powers of two no launch is possible: the law is no
 * curve there that could break. It breaks at a launch that was asked for all the same. */
static bool is_no_place(const struct work *work, const struct ub_point *point, size_t series)
{
    const struct ub_micro *micro = work->selection.micro;
    return micro->supported && micro->supported(&work->gpu, point) &&
           !is_swept(&work->selection, series, point->values[work->selection.x]);
}

static struct ub_law_spot law_at(struct work *work, const struct ub_point *point, double x, struct ub_series *series)
{
    const struct ub_micro *micro = work->selection.micro;
    const struct ub_chart *chart = &micro->chart;
    struct ub_law_spot spot = {.x = x, .y = NAN, .second = NAN, .panel = NAN};
    if (micro->supported && micro->supported(&work->gpu, point))
        return spot;
    struct ub_prediction prediction;
    ub_predict(micro, &work->gpu, &work->record->constants, point, &prediction);
    spot.y = ub_quantity_of_prediction(&work->quantity, &prediction);
    if (work->figure->has_panel)
        spot.panel = ub_quantity_of_prediction(&work->panel, &prediction);
    if (!work->quantity.is_main)
        return spot;
    if (chart->second && work->figure->series_count == 1)
        spot.second = ub_drawable(chart->second(&work->gpu, &work->record->constants, point));
    const double share = chart->share_metric ? ub_metric_of_prediction(&prediction, chart->share_metric) : NAN;
    const double ceiling = ub_drawable(spot.y / share);
    if (isfinite(ceiling) && !isfinite(series->ceiling))
        series->ceiling = ceiling;
    if (isfinite(ceiling) && fabs(ceiling / series->ceiling - 1) > 1e-6)
        series->ceiling = INFINITY; /* not one ceiling for all of x: none is drawn */
    return spot;
}

static int compare_spots(const void *a, const void *b)
{
    const struct ub_law_spot *first = a, *second = b;
    return (first->x > second->x) - (first->x < second->x);
}

/* A law over a metric goes from left to right, whatever the order along the axis, and leaves
 * out what has no place; the roof over it has spots of its own. The array has room for them. */
static void arrange_law(const struct work *work, struct ub_series *series)
{
    const struct ub_chart *chart = &work->selection.micro->chart;
    size_t kept = 0;
    for (size_t i = 0; i < series->law_count; i++)
        if (isfinite(series->law[i].x))
            series->law[kept++] = series->law[i];
    series->law_count = kept;
    qsort(series->law, kept, sizeof *series->law, compare_spots);
    if (!chart->roof || !work->quantity.is_main || work->figure->series_count != 1 || kept < 2 ||
        !(series->law[0].x > 0))
        return;
    work->figure->has_roof = true;
    const double first = series->law[0].x, last = series->law[kept - 1].x;
    for (size_t i = 0; i < kept; i++)
        series->law[i].second = ub_drawable(chart->roof(&work->gpu, &work->record->constants, series->law[i].x));
    for (size_t i = 1; i < ROOF_SPOTS; i++) {
        const double x = first * pow(last / first, (double)i / ROOF_SPOTS);
        const double roof = ub_drawable(chart->roof(&work->gpu, &work->record->constants, x));
        series->law[series->law_count++] =
            (struct ub_law_spot){.x = x, .y = NAN, .second = roof, .panel = NAN, .roof_only = true};
    }
    qsort(series->law, series->law_count, sizeof *series->law, compare_spots);
}

static bool make_law(struct work *work, struct ub_error *err)
{
    size_t count = 0;
    int64_t *values = law_values(work, &count);
    if (!values)
        return out_of_memory(err);
    bool ok = true;
    for (size_t s = 0; s < work->figure->series_count && ok; s++) {
        struct ub_series *series = &work->figure->series[s];
        series->ceiling = NAN;
        series->law = calloc(count + 1 + ROOF_SPOTS, sizeof *series->law);
        ok = series->law != NULL || out_of_memory(err);
        for (size_t i = 0; i < count && ok; i++) {
            struct ub_point point = work->selection.series[s];
            point.values[work->selection.x] = values[i];
            if (!is_no_place(work, &point, s))
                series->law[series->law_count++] = law_at(work, &point, place_of(work, &point), series);
        }
        if (ok && work->x_metric)
            arrange_law(work, series);
    }
    free(values);
    return ok;
}

/* The second curve says something only where it is not the law again. */
static bool second_differs(const struct ub_figure *figure)
{
    for (size_t i = 0; i < figure->series[0].law_count; i++) {
        const struct ub_law_spot *spot = &figure->series[0].law[i];
        if (isfinite(spot->second) && isfinite(spot->y) && fabs(spot->second / spot->y - 1) > 0.01)
            return true;
    }
    return false;
}

static bool level_is_dram(const struct ub_selection *selection)
{
    for (size_t i = 0; i < selection->count; i++) {
        const char *level = selection->points[i].record->level;
        if (!level || strcmp(level, "dram") != 0)
            return false;
    }
    return selection->count > 0;
}

static bool near_to(double a, double b)
{
    return fabs(a / b - 1) < 1e-6;
}

void ub_figure_add_ceiling(struct ub_figure *figure, double ceiling)
{
    size_t place = 0;
    for (size_t i = 0; i < figure->ceiling_count; i++) {
        if (near_to(figure->ceilings[i], ceiling))
            return;
        place += figure->ceilings[i] > ceiling;
    }
    for (size_t i = figure->ceiling_count++; i > place; i--)
        figure->ceilings[i] = figure->ceilings[i - 1];
    figure->ceilings[place] = ceiling;
}

/* The ceilings of all series; one that holds for all gives the right-hand axis. */
static void find_ceilings(struct work *work)
{
    struct ub_figure *figure = work->figure;
    bool all = true;
    for (size_t s = 0; s < figure->series_count; s++) {
        const double ceiling = figure->series[s].ceiling;
        const bool known = isfinite(ceiling) && ceiling > 0;
        all = all && known;
        if (known)
            ub_figure_add_ceiling(figure, ceiling);
    }
    figure->has_share = all && figure->ceiling_count == 1;
    const bool rate = strcmp(work->quantity.unit, "B/s") == 0;
    if (figure->ceiling_count > 0 && rate && work->gpu.dram_bandwidth_bps > 0 && level_is_dram(&work->selection))
        figure->data_sheet = ub_drawable(work->gpu.dram_bandwidth_bps);
}

/* Above zero; infinite: none. */
static double least_value(const struct ub_figure *figure)
{
    double least = INFINITY;
    for (size_t s = 0; s < figure->series_count; s++) {
        for (size_t i = 0; i < figure->series[s].dot_count; i++)
            if (figure->series[s].dots[i].y > 0)
                least = fmin(least, figure->series[s].dots[i].y);
        for (size_t i = 0; i < figure->series[s].law_count; i++)
            if (figure->series[s].law[i].y > 0)
                least = fmin(least, figure->series[s].law[i].y);
    }
    return least;
}

static double largest_value(const struct ub_figure *figure)
{
    double largest = 0;
    for (size_t s = 0; s < figure->series_count; s++) {
        for (size_t i = 0; i < figure->series[s].dot_count; i++)
            largest = fmax(largest, figure->series[s].dots[i].y);
        for (size_t i = 0; i < figure->series[s].law_count; i++)
            largest = fmax(largest, figure->series[s].law[i].y);
    }
    return largest;
}

void ub_figure_scale(struct ub_figure *figure, double scale)
{
    figure->scale *= scale;
    for (size_t s = 0; s < figure->series_count; s++) {
        for (size_t i = 0; i < figure->series[s].dot_count; i++) {
            struct ub_dot *dot = &figure->series[s].dots[i];
            dot->y *= scale;
            dot->lo *= scale;
            dot->hi *= scale;
        }
        for (size_t i = 0; i < figure->series[s].law_count; i++) {
            figure->series[s].law[i].y *= scale;
            figure->series[s].law[i].second *= scale;
        }
    }
    for (size_t i = 0; i < figure->ceiling_count; i++)
        figure->ceilings[i] *= scale;
    figure->data_sheet *= scale;
}

static void make_series(struct work *work)
{
    struct ub_figure *figure = work->figure;
    const struct ub_selection *selection = &work->selection;
    figure->series_count = selection->series_count;
    size_t variants = 1;
    for (size_t n = 1; n < selection->series_axis_count; n++)
        variants *= selection->shown[selection->series_axes[n]];
    for (size_t s = 0; s < figure->series_count; s++) {
        char label[96];
        ub_caption_series(selection, s, label, sizeof label);
        ub_text_clean(label, figure->series[s].label, sizeof figure->series[s].label);
        figure->series[s].source = figure->source;
        figure->series[s].colour = figure->series[s].shape = s / variants;
        figure->series[s].variant = s % variants;
    }
}

/* Series without a point (a sweep that is not a full product) are left out. */
static void drop_empty_series(struct ub_selection *selection)
{
    size_t kept = 0;
    for (size_t s = 0; s < selection->series_count; s++) {
        bool any = false;
        for (size_t i = 0; i < selection->count; i++)
            any = any || selection->points[i].series == s;
        if (!any)
            continue;
        for (size_t i = 0; i < selection->count; i++)
            if (selection->points[i].series == s)
                selection->points[i].series = kept;
        selection->series[kept++] = selection->series[s];
    }
    selection->series_count = kept;
}

/* What the rule marks along x, as far as points reach. */
static void make_marks(struct work *work)
{
    struct ub_figure *figure = work->figure;
    const struct ub_selection *selection = &work->selection;
    struct ub_mark marks[UB_MAX_MARKS];
    if (!selection->micro->chart.marks || figure->words)
        return;
    const size_t count = selection->micro->chart.marks(&work->gpu, &selection->series[0], (size_t)selection->x, marks);
    for (size_t i = 0; i < count; i++) {
        bool below = false, above = false;
        for (size_t p = 0; p < selection->count; p++) {
            below = below || (double)selection->points[p].x <= marks[i].at;
            above = above || (double)selection->points[p].x >= marks[i].at;
        }
        if (below && above)
            figure->marks[figure->mark_count++] = marks[i];
    }
}

static bool draws_anything(const struct ub_figure *figure)
{
    for (size_t s = 0; s < figure->series_count; s++) {
        if (figure->series[s].dot_count > 0)
            return true;
        for (size_t i = 0; i < figure->series[s].law_count; i++)
            if (isfinite(figure->series[s].law[i].y))
                return true;
    }
    return false;
}

static bool any_has(const struct work *work, const char *metric)
{
    for (size_t i = 0; i < work->selection.count; i++) {
        const struct ub_record_metric *found = ub_point_metric(work->selection.points[i].record, metric);
        if (found && isfinite(found->value))
            return true;
    }
    return false;
}

/* Whether any point has it or is foretold to: where none does, there is nothing to show below. */
static bool any_could_have(const struct work *work, const char *metric)
{
    for (size_t i = 0; i < work->selection.count; i++) {
        const struct ub_record_metric *found = ub_point_predicted_metric(work->selection.points[i].record, metric);
        if (found && isfinite(found->value))
            return true;
    }
    return any_has(work, metric);
}

static bool choose_quantities(struct work *work, struct ub_error *err)
{
    const struct ub_micro *micro = work->selection.micro;
    const struct ub_chart *chart = &micro->chart;
    const char *panel = chart->panel_metric, *wanted = work->options->y;
    if (!wanted && chart->other_metric && !any_has(work, chart->metric) && any_has(work, chart->other_metric))
        wanted = chart->other_metric;
    if (!ub_quantity_find(work->record, micro, wanted, &work->quantity, err))
        return false;
    const bool wants_panel = panel && work->quantity.kind != UB_QUANTITY_COUNTER &&
                             strcmp(work->quantity.key, panel) != 0 && any_could_have(work, panel);
    work->figure->has_panel = wants_panel && ub_quantity_find(work->record, micro, panel, &work->panel, NULL);
    return true;
}

/* The unit of the metric along x, as the first point says that has it. */
static const char *unit_along_x(const struct work *work)
{
    for (size_t i = 0; i < work->selection.count; i++) {
        const struct ub_record_metric *found = ub_point_metric(work->selection.points[i].record, work->x_metric);
        if (found && found->unit)
            return found->unit;
    }
    return "";
}

static bool fill(struct work *work, struct ub_error *err)
{
    struct ub_figure *figure = work->figure;
    const struct ub_axis *axis = &work->selection.micro->axes[work->selection.x];
    const struct ub_chart *chart = &work->selection.micro->chart;
    make_series(work);
    figure->words = draws_words(&work->selection, work->options);
    if (!figure->words && has_x_metric(&work->selection))
        work->x_metric = chart->x_metric;
    if ((figure->words && !make_words(work, err)) || !make_dots(work, err) || !make_law(work, err))
        return false;
    if (work->x_metric && axis->kind == UB_AXIS_WORD && !name_dots(work, err))
        return false;
    make_marks(work);
    if (!ub_caption_lost(work->record, &work->selection, &work->quantity, figure))
        return out_of_memory(err);
    char key[160];
    ub_text_clean(work->quantity.key, key, sizeof key);
    if (!draws_anything(figure))
        return ub_fail(err, UB_BAD_DATA, "nothing to draw: no point of %s has a value of %s; %s",
                       work->selection.micro->name, key,
                       figure->note_count ? figure->notes[0] + strlen("× ") : "the record says no reason");
    const char *unit = work->x_metric ? unit_along_x(work) : axis->unit;
    figure->bytes_x = unit && strcmp(unit, "byte") == 0;
    find_ceilings(work);
    ub_quantity_label(&work->quantity, least_value(figure), largest_value(figure), figure->y_label,
                      sizeof figure->y_label);
    ub_figure_scale(figure, work->quantity.scale);
    figure->whole_y = work->quantity.kind == UB_QUANTITY_COUNTER && figure->scale == 1;
    figure->share_y = work->quantity.scale == 100 && strcmp(work->quantity.unit, "1") == 0;
    figure->has_second = figure->series_count == 1 && !figure->words && second_differs(figure);
    ub_caption_figure(work->record, work->options, &work->selection, &work->quantity, figure);
    if (work->x_metric)
        ub_caption_x_metric(chart->x_label, unit, figure->x_label, sizeof figure->x_label);
    if (figure->ceiling_count > 0)
        ub_caption_ceiling(work->record, &work->quantity, figure);
    return true;
}

bool ub_figure_make(const struct ub_record *record, const struct ub_plot_options *options, struct ub_figure *out,
                    struct ub_error *err)
{
    *out = (struct ub_figure){.source = record->source, .scale = 1, .data_sheet = NAN};
    struct work work = {.record = record, .options = options, .figure = out};
    ub_gpu_of_record(record, &work.gpu);
    if (!ub_select(record, options, &work.selection, err))
        return false;
    drop_empty_series(&work.selection);
    const bool ok = choose_quantities(&work, err) && fill(&work, err);
    ub_selection_free(&work.selection);
    free(work.values);
    if (!ok)
        ub_figure_free(out);
    return ok;
}

void ub_figure_free(struct ub_figure *figure)
{
    for (size_t s = 0; s < UB_CHART_SERIES; s++) {
        free(figure->series[s].dots);
        free(figure->series[s].law);
    }
    free(figure->word);
    free(figure->lost);
    *figure = (struct ub_figure){0};
}
