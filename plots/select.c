/* SPDX-License-Identifier: MIT */
#include "plots/select.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "harness/engine/axis.h"
#include "harness/engine/law.h"
#include "plots/text.h"

/* All points of the rule, before the choice. */
struct pool {
    size_t count;
    struct ub_selected *points;
};

/* Distinct values of one axis, in the order of the record. */
struct distinct {
    size_t count;
    int64_t *values;
};

static bool out_of_memory(struct ub_error *err)
{
    return ub_fail(err, UB_INTERNAL, "out of memory while choosing the points of a chart");
}

static const struct ub_entry *find_entry(const char *name, struct ub_error *err)
{
    char names[512] = "";
    for (size_t i = 0; i < ub_entry_count; i++) {
        if (strcmp(ub_entries[i].micro->name, name) == 0)
            return &ub_entries[i];
        ub_text_append(names, sizeof names, "%s%s", i ? ", " : "", ub_entries[i].micro->name);
    }
    ub_fail(err, UB_USAGE, "no rule is called %s; there are: %s", name, names);
    return NULL;
}

static bool has_rule(const struct ub_record *record, const char *rule)
{
    for (size_t i = 0; i < record->point_count; i++)
        if (record->points[i].rule && strcmp(record->points[i].rule, rule) == 0)
            return true;
    return false;
}

/* The rule asked for, else the first of the record that has a chart. */
static const struct ub_micro *choose_rule(const struct ub_record *record, const char *wanted, struct ub_error *err)
{
    if (wanted) {
        const struct ub_entry *entry = find_entry(wanted, err);
        if (entry && has_rule(record, wanted))
            return entry->micro;
        if (entry)
            ub_fail(err, UB_USAGE, "this record has no points of the rule %s", wanted);
        return NULL;
    }
    for (size_t i = 0; i < record->point_count; i++) {
        const char *rule = record->points[i].rule;
        const struct ub_entry *entry = rule ? find_entry(rule, err) : NULL;
        if (entry && entry->micro->chart.metric && entry->micro->axis_count > 0)
            return entry->micro;
    }
    ub_fail(err, UB_BAD_DATA, "nothing to draw: this record has no point of a rule that has a chart");
    return NULL;
}

static bool known_axis(const struct ub_micro *micro, const char *option, const char *name, int *index,
                       struct ub_error *err)
{
    *index = ub_axis_index(micro, name);
    if (*index >= 0)
        return true;
    char names[512] = "";
    for (size_t i = 0; i < micro->axis_count; i++)
        ub_text_append(names, sizeof names, "%s%s", i ? ", " : "", micro->axes[i].name);
    return ub_fail(err, UB_USAGE, "%s%s: %s has no axis of that name; its axes are: %s", option, name, micro->name,
                   names);
}

static bool holds(const struct ub_values *values, int64_t value)
{
    for (size_t i = 0; i < values->count; i++)
        if (values->values[i] == value)
            return true;
    return false;
}

/* Keeps the points whose value of one axis is among those of the option. */
static bool filter(struct pool *pool, const struct ub_micro *micro, const struct ub_axis_option *option,
                   struct ub_error *err)
{
    int axis = -1;
    if (!known_axis(micro, "--", option->name, &axis, err))
        return false;
    struct ub_values values = {0};
    if (!ub_axis_parse(&micro->axes[axis], option->spec, &values, err))
        return false;
    size_t kept = 0;
    for (size_t i = 0; i < pool->count; i++)
        if (holds(&values, pool->points[i].values.values[axis]))
            pool->points[kept++] = pool->points[i];
    pool->count = kept;
    ub_values_free(&values);
    if (kept == 0)
        return ub_fail(err, UB_BAD_DATA, "nothing to draw: this record has no point of %s with --%s %s", micro->name,
                       option->name, option->spec);
    return true;
}

static bool collect(const struct ub_record *record, const struct ub_micro *micro, const struct ub_plot_options *options,
                    struct pool *pool, struct ub_error *err)
{
    pool->points = calloc(record->point_count, sizeof *pool->points);
    if (!pool->points)
        return out_of_memory(err);
    for (size_t i = 0; i < record->point_count; i++) {
        const struct ub_record_point *point = &record->points[i];
        if (!point->rule || strcmp(point->rule, micro->name) != 0)
            continue;
        struct ub_selected *selected = &pool->points[pool->count++];
        selected->record = point;
        struct ub_error foreign = {0};
        if (!ub_point_from_record(micro, point, &selected->values, &foreign)) {
            char clean[sizeof foreign.text];
            ub_text_clean(foreign.text, clean, sizeof clean);
            return ub_fail(err, foreign.status, "%s", clean);
        }
    }
    for (size_t i = 0; i < options->axis_count; i++)
        if (!filter(pool, micro, &options->axes[i], err))
            return false;
    return true;
}

static int compare_values(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The distinct values of an axis among the points of one sweep, ascending. */
static bool list_values(const struct pool *pool, const char *sweep, int axis, struct distinct *out,
                        struct ub_error *err)
{
    *out = (struct distinct){.values = malloc((pool->count + 1) * sizeof *out->values)};
    if (!out->values)
        return out_of_memory(err);
    size_t count = 0;
    for (size_t i = 0; i < pool->count; i++) {
        const char *name = pool->points[i].record->sweep;
        if (strcmp(name ? name : "", sweep) == 0)
            out->values[count++] = pool->points[i].values.values[axis];
    }
    qsort(out->values, count, sizeof *out->values, compare_values);
    for (size_t i = 0; i < count; i++)
        if (out->count == 0 || out->values[out->count - 1] != out->values[i])
            out->values[out->count++] = out->values[i];
    return true;
}

/* How many values each axis has in one sweep. */
static bool count_values(const struct pool *pool, const char *sweep, const struct ub_micro *micro,
                         size_t counts[UB_MAX_AXES], struct ub_error *err)
{
    for (size_t axis = 0; axis < micro->axis_count; axis++) {
        struct distinct values;
        if (!list_values(pool, sweep, (int)axis, &values, err))
            return false;
        counts[axis] = values.count;
        free(values.values);
    }
    return true;
}

/* The axis with most values; of equals the first. */
static int widest_axis(const size_t counts[UB_MAX_AXES], size_t axis_count)
{
    int widest = 0;
    for (size_t axis = 1; axis < axis_count; axis++)
        if (counts[axis] > counts[widest])
            widest = (int)axis;
    return widest;
}

/* True the first time that a sweep's name stands in the pool. */
static bool is_first_of_sweep(const struct pool *pool, size_t index)
{
    const char *name = pool->points[index].record->sweep;
    for (size_t i = 0; i < index; i++) {
        const char *earlier = pool->points[i].record->sweep;
        if (strcmp(earlier ? earlier : "", name ? name : "") == 0)
            return false;
    }
    return true;
}

static bool wanted_sweep(const struct pool *pool, const char *wanted, struct ub_error *err)
{
    char names[512] = "";
    for (size_t i = 0; i < pool->count; i++) {
        const char *name = pool->points[i].record->sweep;
        if (name && strcmp(name, wanted) == 0)
            return true;
        char clean[120];
        ub_text_clean(name, clean, sizeof clean);
        if (name && is_first_of_sweep(pool, i))
            ub_text_append(names, sizeof names, "%s%s", *names ? ", " : "", clean);
    }
    return ub_fail(err, UB_USAGE, "--sweep %s: this record has no sweep of that name; it has: %s", wanted, names);
}

/* The first sweep that gives `x` (x < 0: any axis) values enough for a curve: a rule's sweeps stand
 * in the order of its table, the one that shows its law first. Else the one that gives it most;
 * "ceiling" only where there is no other. */
static bool choose_sweep(const struct pool *pool, const struct ub_micro *micro, int x, const char **sweep,
                         struct ub_error *err)
{
    enum { ENOUGH = 4 };
    size_t most = 0;
    *sweep = NULL;
    for (size_t i = 0; i < pool->count && most < ENOUGH; i++) {
        const char *name = pool->points[i].record->sweep ? pool->points[i].record->sweep : "";
        if (!is_first_of_sweep(pool, i))
            continue;
        size_t counts[UB_MAX_AXES] = {0};
        if (!count_values(pool, name, micro, counts, err))
            return false;
        size_t values = counts[x >= 0 ? x : widest_axis(counts, micro->axis_count)];
        if (strcmp(name, "ceiling") == 0)
            values = *sweep ? 0 : 1;
        const bool only_ceiling = *sweep && strcmp(*sweep, "ceiling") == 0;
        if (!*sweep || only_ceiling || values > most) {
            *sweep = name;
            most = values;
        }
    }
    return true;
}

/* Adds the axes that vary, widest first, while the series stay few enough to tell apart. */
static void choose_series_axes(struct ub_selection *out, const size_t counts[UB_MAX_AXES], int wanted, size_t limit)
{
    bool taken[UB_MAX_AXES] = {false};
    size_t product = 1;
    taken[out->x] = true;
    if (wanted >= 0 && wanted != out->x) {
        out->series_axes[out->series_axis_count++] = wanted;
        product = counts[wanted] < limit ? counts[wanted] : limit;
        taken[wanted] = true;
    }
    for (;;) {
        int best = -1;
        for (size_t axis = 0; axis < out->micro->axis_count; axis++)
            if (!taken[axis] && counts[axis] > 1 && product * counts[axis] <= limit &&
                (best < 0 || counts[axis] > counts[best]))
                best = (int)axis;
        if (best < 0)
            break;
        taken[best] = true;
        out->series_axes[out->series_axis_count++] = best;
        product *= counts[best];
    }
    /* An axis with many values still makes series, of a few that are spread over it. */
    for (size_t axis = 0; axis < out->micro->axis_count && out->series_axis_count == 0; axis++)
        if (!taken[axis] && counts[axis] > limit && limit > 1)
            out->series_axes[out->series_axis_count++] = (int)axis;
}

/* Index of the value of series axis `number` that stands in place `place`: all of a few
 * values, else a few spread evenly from the first to the last. */
static size_t spread(size_t place, size_t shown, size_t present)
{
    return shown == present || shown < 2 ? place : place * (present - 1) / (shown - 1);
}

/* Makes out->series: the product of the shown values of the series axes over `base`. */
static bool make_series(struct ub_selection *out, const struct pool *pool, const char *sweep,
                        const struct ub_point *base, size_t limit, struct ub_error *err)
{
    out->series_count = 1;
    out->series[0] = *base;
    for (size_t n = 0; n < out->series_axis_count; n++) {
        const int axis = out->series_axes[n];
        struct distinct values;
        if (!list_values(pool, sweep, axis, &values, err))
            return false;
        const size_t room = limit / out->series_count;
        const size_t shown = values.count < room ? values.count : room;
        out->shown[axis] = shown;
        out->present[axis] = values.count;
        struct ub_point fresh[UB_CHART_SERIES];
        size_t count = 0;
        for (size_t s = 0; s < out->series_count; s++)
            for (size_t v = 0; v < shown; v++) {
                fresh[count] = out->series[s];
                fresh[count++].values[axis] = values.values[spread(v, shown, values.count)];
            }
        memcpy(out->series, fresh, count * sizeof fresh[0]);
        out->series_count = count;
        free(values.values);
    }
    return true;
}

static bool belongs(const struct ub_selection *selection, const struct ub_point *point, size_t series)
{
    for (size_t axis = 0; axis < selection->micro->axis_count; axis++)
        if ((int)axis != selection->x && point->values[axis] != selection->series[series].values[axis])
            return false;
    return true;
}

static int compare_selected(const void *a, const void *b)
{
    const struct ub_selected *x = a, *y = b;
    if (x->series != y->series)
        return x->series < y->series ? -1 : 1;
    return (x->x > y->x) - (x->x < y->x);
}

static bool in_sweep(const struct ub_selected *point, const char *sweep)
{
    return strcmp(point->record->sweep ? point->record->sweep : "", sweep) == 0;
}

/* Takes the points of the sweep that lie on a series. */
static bool keep(struct ub_selection *out, const struct pool *pool, const char *sweep, struct ub_error *err)
{
    out->points = calloc(pool->count + 1, sizeof *out->points);
    if (!out->points)
        return out_of_memory(err);
    for (size_t i = 0; i < pool->count; i++)
        for (size_t series = 0; series < out->series_count; series++)
            if (in_sweep(&pool->points[i], sweep) && belongs(out, &pool->points[i].values, series)) {
                out->points[out->count] = pool->points[i];
                out->points[out->count].x = pool->points[i].values.values[out->x];
                out->points[out->count++].series = series;
            }
    return true;
}

static bool choose(const struct ub_plot_options *options, const struct pool *pool, struct ub_selection *out,
                   struct ub_error *err)
{
    int x = -1, series = -1;
    const size_t limit = options->series_limit ? options->series_limit : UB_CHART_SERIES;
    if ((options->x && !known_axis(out->micro, "--x ", options->x, &x, err)) ||
        (options->series && !known_axis(out->micro, "--series ", options->series, &series, err)) ||
        (options->sweep && !wanted_sweep(pool, options->sweep, err)))
        return false;
    if (x >= 0 && x == series)
        return ub_fail(err, UB_USAGE, "--series %s is --x: the curves of a chart are the values of another axis",
                       options->series);
    const char *sweep = options->sweep;
    size_t counts[UB_MAX_AXES] = {0};
    if ((!sweep && !choose_sweep(pool, out->micro, x, &sweep, err)) ||
        !count_values(pool, sweep, out->micro, counts, err))
        return false;
    out->x = x >= 0 ? x : widest_axis(counts, out->micro->axis_count);
    if (out->x == series)
        return ub_fail(err, UB_USAGE, "--series %s: that axis is drawn along x; --x AXIS chooses another one",
                       options->series);
    out->varies = counts[out->x] > 1;
    choose_series_axes(out, counts, series, limit);
    const struct ub_point *base = NULL;
    for (size_t i = 0; i < pool->count && !base; i++)
        if (in_sweep(&pool->points[i], sweep))
            base = &pool->points[i].values;
    for (size_t axis = 0; axis < out->micro->axis_count; axis++) {
        out->shown[axis] = 1;
        out->present[axis] = counts[axis];
    }
    return base && make_series(out, pool, sweep, base, limit, err) && keep(out, pool, sweep, err);
}

bool ub_select(const struct ub_record *record, const struct ub_plot_options *options, struct ub_selection *out,
               struct ub_error *err)
{
    *out = (struct ub_selection){.micro = choose_rule(record, options->rule, err)};
    if (!out->micro)
        return false;
    struct pool pool = {0};
    const bool ok = collect(record, out->micro, options, &pool, err) && choose(options, &pool, out, err);
    free(pool.points);
    if (ok)
        qsort(out->points, out->count, sizeof *out->points, compare_selected);
    else
        ub_selection_free(out);
    return ok;
}

bool ub_select_all(const struct ub_record *record, const struct ub_plot_options *options, const struct ub_micro **micro,
                   struct ub_selected **points, size_t *count, struct ub_error *err)
{
    struct pool pool = {0};
    *micro = choose_rule(record, options->rule, err);
    if (!*micro || !collect(record, *micro, options, &pool, err) ||
        (options->sweep && !wanted_sweep(&pool, options->sweep, err))) {
        free(pool.points);
        return false;
    }
    *points = pool.points;
    *count = 0;
    for (size_t i = 0; i < pool.count; i++)
        if (!options->sweep || in_sweep(&pool.points[i], options->sweep))
            pool.points[(*count)++] = pool.points[i];
    return true;
}

void ub_selection_free(struct ub_selection *selection)
{
    free(selection->points);
    selection->points = NULL;
    selection->count = 0;
}
