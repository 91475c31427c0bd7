/* SPDX-License-Identifier: MIT */
#include "plots/overlay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/engine/axis.h"
#include "harness/engine/law.h"
#include "plots/caption.h"
#include "plots/scale.h"

enum { SPEC_BYTES = 256, NAME_CELLS = 30, OPTION_LIMIT = 2 * UB_MAX_AXES };

/* What all runs show: options that were chosen by the first one. */
struct common {
    struct ub_plot_options options;
    size_t axis_count;
    struct ub_axis_option axes[OPTION_LIMIT];
    char specs[UB_MAX_AXES][SPEC_BYTES];
};

static bool out_of_memory(struct ub_error *err)
{
    return ub_fail(err, UB_INTERNAL, "out of memory while laying runs over each other");
}

/* ---- what is common -------------------------------------------------------------- */

static bool is_among(const struct ub_selection *first, size_t series, size_t axis)
{
    for (size_t s = 0; s < series; s++)
        if (first->series[s].values[axis] == first->series[series].values[axis])
            return true;
    return false;
}

/* "4,8": the values of an axis that the first run's series have. */
static void write_spec(const struct ub_selection *first, size_t axis, char *spec)
{
    *spec = 0;
    for (size_t s = 0; s < first->series_count; s++) {
        char value[48];
        if (is_among(first, s, axis))
            continue;
        ub_axis_text(&first->micro->axes[axis], first->series[s].values[axis], value, sizeof value);
        ub_text_append(spec, SPEC_BYTES, "%s%s", *spec ? "," : "", value);
    }
}

/* All axes but x hold the values that the first run shows. */
static bool find_common(const struct ub_runs *runs, const struct ub_plot_options *options, struct common *out,
                        struct ub_error *err)
{
    struct ub_selection first;
    out->options = *options;
    out->options.overlaid = true;
    out->options.series_limit = UB_CHART_SERIES / runs->count;
    if (!ub_select(runs->records[0], &out->options, &first, err))
        return false;
    for (size_t i = 0; i < options->axis_count && i < OPTION_LIMIT - UB_MAX_AXES; i++)
        out->axes[out->axis_count++] = options->axes[i];
    for (size_t axis = 0; axis < first.micro->axis_count; axis++) {
        if ((int)axis == first.x)
            continue;
        write_spec(&first, axis, out->specs[axis]);
        out->axes[out->axis_count++] =
            (struct ub_axis_option){.name = first.micro->axes[axis].name, .spec = out->specs[axis]};
    }
    if (first.series_axis_count > 0)
        out->options.series = first.micro->axes[first.series_axes[0]].name;
    out->options.rule = first.micro->name;
    out->options.x = first.micro->axes[first.x].name;
    out->options.axes = out->axes;
    out->options.axis_count = out->axis_count;
    ub_selection_free(&first);
    return true;
}

/* ---- names ------------------------------------------------------------------------ */

static void name_of(const struct ub_record *record, char *text, size_t size)
{
    ub_text_clean(record->device.name ? record->device.name : record->device.slug, text, size);
    ub_text_shorten(text, size, NAME_CELLS, (struct ub_measure){.cells = true});
    if (*text == 0)
        ub_text_set(text, size, "unnamed GPU");
}

static bool same_gpu(const struct ub_record *a, const struct ub_record *b)
{
    return strcmp(a->device.name ? a->device.name : "", b->device.name ? b->device.name : "") == 0;
}

/* Number of the run's GPU among the different ones. */
static size_t gpu_number(const struct ub_runs *runs, size_t run)
{
    size_t number = 0;
    for (size_t i = 0; i < run; i++) {
        bool first = true;
        for (size_t earlier = 0; earlier < i; earlier++)
            first = first && !same_gpu(runs->records[earlier], runs->records[i]);
        if (same_gpu(runs->records[i], runs->records[run]))
            return number;
        number += first;
    }
    return number;
}

/* "NVIDIA H200", "NVIDIA A100 (predicted)", "NVIDIA H200, run 2". */
static void name_run(const struct ub_runs *runs, size_t run, char *text, size_t size)
{
    static const char *const kinds[] = {"", " (predicted)", " (published)"};
    const struct ub_record *record = runs->records[run];
    size_t number = 0, equal = 0;
    name_of(record, text, size);
    for (size_t i = 0; i < runs->count; i++) {
        const bool again = same_gpu(runs->records[i], record) && runs->records[i]->source == record->source;
        equal += again;
        number += again && i <= run;
    }
    ub_text_append(text, size, "%s", kinds[record->source]);
    if (equal > 1)
        ub_text_append(text, size, ", run %zu", number);
}

/* ---- one figure out of several -------------------------------------------------------- */

static size_t place_of_word(struct ub_figure *figure, const char *word)
{
    size_t place = 0;
    while (place < figure->word_count && strcmp(figure->word[place], word) != 0)
        place++;
    return place;
}

/* Adds the words that the figure lacks. */
static bool join_words(struct ub_figure *out, const struct ub_figure *from)
{
    for (size_t i = 0; i < from->word_count; i++) {
        const size_t place = place_of_word(out, from->word[i]);
        if (place < out->word_count)
            continue;
        void *grown = realloc(out->word, (out->word_count + 1) * sizeof *out->word);
        if (!grown)
            return false;
        out->word = grown;
        memcpy(out->word[out->word_count++], from->word[i], sizeof *out->word);
    }
    return true;
}

/* Places among the words of `from` become places among those of `out`. */
static void move_words(struct ub_figure *out, struct ub_figure *from)
{
    for (size_t s = 0; s < from->series_count; s++) {
        for (size_t i = 0; i < from->series[s].dot_count; i++)
            from->series[s].dots[i].x = (double)place_of_word(out, from->word[(size_t)from->series[s].dots[i].x]);
        for (size_t i = 0; i < from->series[s].law_count; i++)
            from->series[s].law[i].x = (double)place_of_word(out, from->word[(size_t)from->series[s].law[i].x]);
    }
    for (size_t i = 0; i < from->lost_count; i++)
        from->lost[i] = (double)place_of_word(out, from->word[(size_t)from->lost[i]]);
}

/* Takes the series over, in the colour of their GPU and behind its name. */
static void take_series(struct ub_figure *out, struct ub_figure *from, const struct ub_runs *runs, size_t run)
{
    const size_t colour = gpu_number(runs, run);
    char name[96];
    name_run(runs, run, name, sizeof name);
    for (size_t s = 0; s < from->series_count && out->series_count < UB_CHART_SERIES; s++) {
        struct ub_series series = from->series[s];
        from->series[s] = (struct ub_series){0};
        series.colour = colour;
        series.variant = 0;
        series.shape = out->series_count;
        for (size_t o = 0; o < out->series_count; o++)
            series.variant += out->series[o].colour == colour;
        char label[sizeof series.label];
        ub_text_set(label, sizeof label, "%s%s%s", name, *series.label ? ", " : "", series.label);
        memcpy(series.label, label, sizeof label);
        out->series[out->series_count++] = series;
    }
}

static bool take_lost(struct ub_figure *out, const struct ub_figure *from)
{
    double *grown = realloc(out->lost, (out->lost_count + from->lost_count + 1) * sizeof *grown);
    if (!grown)
        return false;
    out->lost = grown;
    memcpy(out->lost + out->lost_count, from->lost, from->lost_count * sizeof *grown);
    out->lost_count += from->lost_count;
    return true;
}

static void take_notes(struct ub_figure *out, const struct ub_figure *from, const char *name)
{
    for (size_t i = 0; i < from->note_count && out->note_count < UB_FIGURE_NOTES; i++)
        ub_text_set(out->notes[out->note_count++], sizeof out->notes[0], "%s: %s", name, from->notes[i]);
}

/* "GB/s" of an axis label "useful bandwidth  [GB/s]". */
static void unit_of_label(const char *label, char *unit, size_t size)
{
    const char *open = strchr(label, '['), *close = open ? strchr(open, ']') : NULL;
    ub_text_set(unit, size, "%s%.*s", close ? " in " : "", close ? (int)(close - open - 1) : 0, close ? open + 1 : "");
}

/* "ceilings in GB/s: NVIDIA H200 DRAM load ceiling 4618, NVIDIA A100 (predicted) DRAM load ceiling
 * 1774": each with its run and its own name. One that stands there already is named as the same. */
static void take_ceilings(struct ub_figure *out, const struct ub_figure *from, const char *name)
{
    char *label = out->ceiling_label;
    const size_t size = sizeof out->ceiling_label;
    bool same = false;
    for (size_t i = 0; i < from->ceiling_count; i++) {
        const size_t before = out->ceiling_count;
        char number[48], unit[48];
        if (before < UB_CHART_SERIES)
            ub_figure_add_ceiling(out, from->ceilings[i]);
        if (out->ceiling_count == before) {
            same = true;
            continue;
        }
        unit_of_label(out->y_label, unit, sizeof unit);
        ub_number_text(round(from->ceilings[i]), number, sizeof number);
        if (*label == 0)
            ub_text_set(label, size, "ceilings%s: ", unit);
        ub_text_append(label, size, "%s%s %s %s", before ? ", " : "", name, from->ceiling_names[i], number);
    }
    if (same)
        ub_text_append(label, size, ", %s the same", name);
}

/* Series that the first run shows and this one has no point of. */
static void note_missing_series(struct ub_figure *out, const struct ub_figure *first, const struct ub_figure *from,
                                const char *name)
{
    char missing[200] = "";
    for (size_t s = 0; s < first->series_count; s++) {
        bool found = false;
        for (size_t i = 0; i < from->series_count; i++)
            found = found || strcmp(from->series[i].label, first->series[s].label) == 0;
        if (!found && *first->series[s].label)
            ub_text_append(missing, sizeof missing, "%s%s", *missing ? "; " : "", first->series[s].label);
    }
    if (*missing && out->note_count < UB_FIGURE_NOTES)
        ub_text_set(out->notes[out->note_count++], sizeof out->notes[0], "%s has no points of: %s", name, missing);
}

/* ---- what the first run lacks ----------------------------------------------------- */

enum { MOST_VALUES = 64, NAMED_VALUES = 4 };

/* The distinct values of an axis among a record's points of the rule. */
static size_t values_of(const struct ub_record *record, const struct ub_micro *micro, size_t axis,
                        int64_t values[MOST_VALUES])
{
    size_t count = 0;
    for (size_t i = 0; i < record->point_count && count < MOST_VALUES; i++) {
        struct ub_point point;
        size_t k = 0;
        if (!ub_same_text(record->points[i].rule, micro->name) ||
            !ub_point_from_record(micro, &record->points[i], &point, NULL))
            continue;
        while (k < count && values[k] != point.values[axis])
            k++;
        values[count] = point.values[axis];
        count += k == count;
    }
    return count;
}

static bool is_filtered(const struct ub_plot_options *options, const char *axis)
{
    for (size_t i = 0; i < options->axis_count; i++)
        if (strcmp(options->axes[i].name, axis) == 0)
            return true;
    return false;
}

/* Curves that only this run has: the first one decides what is drawn. */
static void note_further_series(struct ub_figure *out, const struct ub_runs *runs, size_t run,
                                const struct ub_plot_options *asked, const struct common *common)
{
    struct ub_error none = {.text = ""};
    const struct ub_entry *entry = ub_registry_find(common->options.rule, &none);
    for (size_t axis = 0; entry && axis < entry->micro->axis_count; axis++) {
        const struct ub_axis *described = &entry->micro->axes[axis];
        int64_t first[MOST_VALUES], other[MOST_VALUES];
        char name[96], list[200] = "";
        size_t count = 0;
        if (strcmp(described->name, common->options.x) == 0 || is_filtered(asked, described->name))
            continue;
        const size_t had = values_of(runs->records[0], entry->micro, axis, first);
        const size_t has = values_of(runs->records[run], entry->micro, axis, other);
        for (size_t i = 0; i < has && had < MOST_VALUES; i++) {
            char value[48];
            size_t k = 0;
            while (k < had && first[k] != other[i])
                k++;
            if (k == had && count++ < NAMED_VALUES)
                ub_text_append(list, sizeof list, "%s%s", *list ? ", " : "",
                               ub_axis_text(described, other[i], value, sizeof value));
        }
        if (count > NAMED_VALUES)
            ub_text_append(list, sizeof list, " and %zu more", count - NAMED_VALUES);
        name_run(runs, run, name, sizeof name);
        if (count > 0 && out->note_count < UB_FIGURE_NOTES)
            ub_text_set(out->notes[out->note_count++], sizeof out->notes[0], "not drawn, because only %s has it: %s %s",
                        name, described->name, list);
    }
}

static bool join(struct ub_figure *out, struct ub_figure *from, const struct ub_runs *runs, size_t run)
{
    char name[96];
    name_run(runs, run, name, sizeof name);
    if (out->words) {
        if (!join_words(out, from))
            return false;
        move_words(out, from);
    }
    take_series(out, from, runs, run);
    take_notes(out, from, name);
    take_ceilings(out, from, name);
    out->has_panel = out->has_panel && from->has_panel;
    out->has_ci = out->has_ci || from->has_ci;
    out->mixed = out->mixed || from->source != out->source;
    return take_lost(out, from);
}

/* The first figure's words and frame, without what belongs to its run alone. */
static void begin_with(struct ub_figure *out, const struct ub_figure *first)
{
    *out = *first;
    out->series_count = out->lost_count = out->word_count = out->note_count = out->ceiling_count = 0;
    memset(out->series, 0, sizeof out->series);
    out->lost = NULL;
    out->word = NULL;
    out->data_sheet = NAN;
    out->has_share = out->has_second = out->has_ci = false;
    out->of_runs = true;
    out->mark_count = 0; /* each GPU has its own */
    *out->ceiling_label = 0;
}

/* "NVIDIA H200, NVIDIA A100 (predicted) · 4 bytes, op load" */
static void name_conditions(struct ub_figure *out, const struct ub_figure *first, const struct ub_runs *runs)
{
    *out->conditions = 0;
    for (size_t run = 0; run < runs->count; run++) {
        char name[96];
        name_run(runs, run, name, sizeof name);
        ub_text_append(out->conditions, sizeof out->conditions, "%s%s", run ? ", " : "", name);
    }
    out->subject_bytes = strlen(out->conditions);
    ub_text_append(out->conditions, sizeof out->conditions, "%.*s", (int)(first->settings_bytes - first->subject_bytes),
                   first->conditions + first->subject_bytes);
    out->settings_bytes = strlen(out->conditions);
    ub_caption_samples(out);
}

/* All along y in the unit of the figure with the largest values. */
static void use_one_scale(struct ub_figure *figures, size_t count)
{
    const struct ub_figure *coarsest = &figures[0];
    for (size_t i = 1; i < count; i++)
        if (figures[i].scale < coarsest->scale)
            coarsest = &figures[i];
    for (size_t i = 0; i < count; i++) {
        if (figures[i].scale != coarsest->scale)
            ub_figure_scale(&figures[i], coarsest->scale / figures[i].scale);
        if (&figures[i] != coarsest)
            memcpy(figures[i].y_label, coarsest->y_label, sizeof figures[i].y_label);
    }
}

static void join_samples(struct ub_figure *out, const struct ub_figure *from)
{
    if (from->fewest_samples > 0 && (out->fewest_samples == 0 || from->fewest_samples < out->fewest_samples))
        out->fewest_samples = from->fewest_samples;
    if (from->most_samples > out->most_samples)
        out->most_samples = from->most_samples;
}

static bool combine(const struct ub_runs *runs, struct ub_figure *figures, struct ub_figure *out, struct ub_error *err)
{
    use_one_scale(figures, runs->count);
    begin_with(out, &figures[0]);
    for (size_t run = 1; run < runs->count; run++)
        join_samples(out, &figures[run]);
    name_conditions(out, &figures[0], runs);
    for (size_t run = 1; run < runs->count; run++) {
        char name[96];
        name_run(runs, run, name, sizeof name);
        note_missing_series(out, &figures[0], &figures[run], name);
    }
    bool ok = true;
    for (size_t run = 0; run < runs->count && ok; run++)
        ok = join(out, &figures[run], runs, run);
    if (!ok)
        ub_figure_free(out);
    return ok || out_of_memory(err);
}

/* ---- the runs ------------------------------------------------------------------------- */

static bool make_one(const struct ub_runs *runs, size_t run, const struct ub_plot_options *options,
                     struct ub_figure *out, struct ub_error *err)
{
    char name[96];
    if (ub_figure_make(runs->records[run], options, out, err))
        return true;
    name_run(runs, run, name, sizeof name);
    return ub_fail_in(err, "%s", name);
}

/* A word along x in one run ("auto") makes words of all. */
static bool make_all(const struct ub_runs *runs, struct common *common, struct ub_figure *figures, struct ub_error *err)
{
    bool words = false, numbers = false;
    for (size_t run = 0; run < runs->count; run++) {
        if (!make_one(runs, run, &common->options, &figures[run], err))
            return false;
        words = words || figures[run].words;
        numbers = numbers || !figures[run].words;
    }
    if (!words || !numbers)
        return true;
    common->options.words = true;
    for (size_t run = 0; run < runs->count; run++) {
        ub_figure_free(&figures[run]);
        if (!make_one(runs, run, &common->options, &figures[run], err))
            return false;
    }
    return true;
}

static bool overlay(const struct ub_runs *runs, const struct ub_plot_options *options, struct ub_figure *out,
                    struct ub_error *err)
{
    struct common *common = calloc(1, sizeof *common);
    struct ub_figure *figures = calloc(runs->count, sizeof *figures);
    const bool ok = ((common && figures) || out_of_memory(err)) && find_common(runs, options, common, err) &&
                    make_all(runs, common, figures, err) && combine(runs, figures, out, err);
    for (size_t run = 1; ok && run < runs->count; run++)
        note_further_series(out, runs, run, options, common);
    for (size_t run = 0; figures && run < runs->count; run++)
        ub_figure_free(&figures[run]);
    free(figures);
    free(common);
    return ok;
}

bool ub_figure_of_runs(const struct ub_runs *runs, const struct ub_plot_options *options, struct ub_figure *out,
                       struct ub_error *err)
{
    *out = (struct ub_figure){0};
    if (runs->count == 1)
        return ub_figure_make(runs->records[0], options, out, err);
    if (runs->count == 0 || runs->count > UB_CHART_SERIES)
        return ub_fail(err, UB_USAGE, "a chart shows 1 to %d runs, and these are %zu", UB_CHART_SERIES, runs->count);
    return overlay(runs, options, out, err);
}
