/* SPDX-License-Identifier: MIT */
#include "plots/caption.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/engine/axis.h"
#include "harness/engine/plan.h"
#include "plots/scale.h"

enum { NAME_CELLS = 40, REASON_CELLS = 90, SERIES_CELLS = 60, LISTED_VALUES = 6 };

/* Only words have a plural: no "%", no "B/s". */
static void plural(const char *unit, bool one, char *text, size_t size)
{
    const size_t length = strlen(unit);
    const bool is_word = length > 0 && isalpha((unsigned char)unit[length - 1]) && !strchr(unit, '/');
    const bool hisses = ub_text_ends(unit, "ss") || ub_text_ends(unit, "ch") || ub_text_ends(unit, "sh");
    const bool as_it_is = one || !is_word || (unit[length - 1] == 's' && !hisses);
    ub_text_set(text, size, "%s%s", unit, as_it_is ? "" : hisses ? "es" : "s");
}

/* Whether the axis is named after its unit: "bytes" of "byte". */
static bool named_by_unit(const struct ub_axis *axis)
{
    const size_t length = axis->unit ? strlen(axis->unit) : 0;
    return length > 0 && strncmp(axis->name, axis->unit, length) == 0;
}

/* Words of an axis that has a unit are numbers ("4" of "byte"). */
static bool is_word(const struct ub_axis *axis, int64_t value)
{
    const bool unit = axis->unit && *axis->unit;
    return (axis->kind == UB_AXIS_WORD && !unit) || (axis->zero_word && value == 0);
}

/* "2 GiB" where that is a whole number of at least two. */
static bool binary_bytes(int64_t value, char *text, size_t size)
{
    static const struct {
        int shift;
        const char *unit;
    } rows[] = {{30, "GiB"}, {20, "MiB"}, {10, "KiB"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (value >= (INT64_C(1) << rows[i].shift) && value % (INT64_C(1) << rows[i].shift) == 0) {
            ub_text_set(text, size, "%" PRId64 " %s", value >> rows[i].shift, rows[i].unit);
            return true;
        }
    return false;
}

/* Whether the value is written with a unit of its own. */
static bool is_binary(const struct ub_axis *axis, int64_t value, char *text, size_t size)
{
    return axis->kind == UB_AXIS_INTEGER && axis->unit && strcmp(axis->unit, "byte") == 0 &&
           binary_bytes(value, text, size);
}

void ub_caption_value(const struct ub_axis *axis, int64_t value, char *text, size_t size)
{
    if (is_word(axis, value) || !is_binary(axis, value, text, size))
        ub_axis_text(axis, value, text, size);
}

void ub_caption_axis(const struct ub_axis *axis, int64_t value, bool brief, char *text, size_t size)
{
    char number[48], unit[48] = "";
    ub_caption_value(axis, value, number, sizeof number);
    if (is_word(axis, value)) {
        ub_text_set(text, size, "%s%s%s", brief ? "" : axis->name, brief ? "" : " ", number);
        return;
    }
    char binary[48];
    if (axis->unit && !is_binary(axis, value, binary, sizeof binary))
        plural(axis->unit, strcmp(number, "1") == 0, unit, sizeof unit);
    const bool bare = named_by_unit(axis);
    ub_text_set(text, size, "%s%s%s%s%s", bare ? "" : axis->name, bare ? "" : " ", number, *unit ? " " : "", unit);
}

void ub_caption_x(const struct ub_axis *axis, char *text, size_t size)
{
    ub_text_set(text, size, "%s", axis->name);
    for (char *c = text; *c; c++)
        if (*c == '_')
            *c = ' ';
    if (!axis->unit || !*axis->unit || named_by_unit(axis))
        return;
    char unit[48];
    plural(axis->unit, false, unit, sizeof unit);
    ub_text_append(text, size, "  [%s]", unit);
}

void ub_caption_x_metric(const char *name, const char *unit, char *text, size_t size)
{
    char clean[48], units[48];
    ub_text_clean(unit, clean, sizeof clean);
    plural(clean, false, units, sizeof units);
    ub_text_clean(name, text, size);
    if (*units)
        ub_text_append(text, size, "  [%s]", units);
}

void ub_caption_series(const struct ub_selection *selection, size_t series, char *text, size_t size)
{
    *text = 0;
    for (size_t n = 0; n < selection->series_axis_count; n++) {
        const int axis = selection->series_axes[n];
        char phrase[80];
        ub_caption_axis(&selection->micro->axes[axis], selection->series[series].values[axis], true, phrase,
                        sizeof phrase);
        ub_text_append(text, size, "%s%s", *text ? ", " : "", phrase);
    }
}

static const struct ub_chart_text *find_text(const struct ub_micro *micro, const char *name)
{
    for (size_t i = 0; name && i < micro->chart.text_count; i++)
        if (strcmp(micro->chart.texts[i].axis, name) == 0)
            return &micro->chart.texts[i];
    return NULL;
}

static bool is_series_axis(const struct ub_selection *selection, int axis)
{
    for (size_t n = 0; n < selection->series_axis_count; n++)
        if (selection->series_axes[n] == axis)
            return true;
    return false;
}

static bool holds_all(const struct ub_values *values, const struct ub_selection *selection, size_t axis)
{
    for (size_t i = 0; i < selection->count; i++) {
        size_t at = 0;
        while (at < values->count && values->values[at] != selection->points[i].values.values[axis])
            at++;
        if (at == values->count)
            return false;
    }
    return true;
}

/* What is said of words side by side may be about an axis of which the sweep goes through many
 * values: the chart has it beside them, or it is another chart. */
static bool shows_all(const struct ub_values *ranges, const struct ub_selection *selection)
{
    enum { MANY = 4 };
    const bool words = selection->micro->axes[selection->x].kind == UB_AXIS_WORD;
    for (size_t i = 0; words && i < selection->micro->axis_count; i++)
        if (ranges[i].count >= MANY && (int)i != selection->x && !is_series_axis(selection, (int)i))
            return false;
    return true;
}

/* Along x numbers may go on beyond the sweep's; words are those of the sweep, or others. */
static bool fits(const struct ub_values *ranges, const struct ub_selection *selection, size_t axis)
{
    const bool held = holds_all(&ranges[axis], selection, axis);
    if ((int)axis == selection->x)
        return held || selection->micro->axes[axis].kind != UB_AXIS_WORD;
    return held && ranges[axis].count <= ranges[selection->x].count;
}

/* Whether the sweep is about what the chart has along x, the axis that it varies most, and has
 * what the chart has beside it. */
static bool has_its_like(const struct ub_selection *selection, const struct ub_sweep *sweep)
{
    struct ub_values ranges[UB_MAX_AXES];
    if (!ub_ranges_parse(selection->micro, sweep->axes, ranges, NULL))
        return false;
    bool like = ranges[selection->x].count > 1 && shows_all(ranges, selection);
    for (size_t i = 0; like && i < selection->micro->axis_count; i++)
        like = fits(ranges, selection, i);
    ub_ranges_free(ranges);
    return like;
}

/* The sentences of a rule are of its sweeps. One typed on the command line may hold something
 * else fixed, of which they are not true: it has those of a sweep that is like it. NULL: none is. */
static const char *sweep_of(const struct ub_selection *selection)
{
    const struct ub_micro *micro = selection->micro;
    const char *name = selection->count > 0 ? selection->points[0].record->sweep : NULL; /* all are of one */
    for (size_t i = 0; name && i < micro->sweep_count; i++)
        if (strcmp(micro->sweeps[i].name, name) == 0)
            return name;
    for (size_t i = 0; i < micro->sweep_count; i++)
        if (has_its_like(selection, &micro->sweeps[i]))
            return micro->sweeps[i].name;
    return NULL;
}

/* Whether the chart has what the rule has where nothing is said, but along x and beside it. */
static bool is_initial(const struct ub_selection *selection)
{
    const struct ub_micro *micro = selection->micro;
    struct ub_point initial;
    if (!ub_point_parse(micro, "", &initial, NULL))
        return false;
    for (size_t axis = 0; axis < micro->axis_count; axis++) {
        const struct ub_values one = {1, &initial.values[axis]};
        if ((int)axis != selection->x && !is_series_axis(selection, (int)axis) && !holds_all(&one, selection, axis))
            return false;
    }
    return true;
}

/* The text of an axis is of the sweep of that name and of its like, where there is one. */
static bool is_of_axis(const struct ub_selection *selection, const char *axis)
{
    const struct ub_micro *micro = selection->micro;
    bool named = false;
    for (size_t i = 0; i < micro->sweep_count; i++) {
        if (strcmp(micro->sweeps[i].name, axis) != 0)
            continue;
        if (has_its_like(selection, &micro->sweeps[i]))
            return true;
        named = true;
    }
    return !named && is_initial(selection);
}

/* Of the sweep, else of the axis, else what is true of any chart of the rule. NULL: none is meant for
 * this chart. */
static const struct ub_chart_text *text_of(const struct ub_selection *selection)
{
    const struct ub_micro *micro = selection->micro;
    const char *axis = micro->axes[selection->x].name, *sweep = sweep_of(selection);
    const struct ub_chart_text *text = sweep ? find_text(micro, sweep) : NULL;
    if (sweep && !text && is_of_axis(selection, axis))
        text = find_text(micro, axis);
    if (sweep && !text)
        text = find_text(micro, "");
    return text;
}

/* Title where the rule says none: "Coalescing: useful bandwidth over stride". */
static void plain_title(const struct ub_selection *selection, const struct ub_figure *figure, char *text, size_t size)
{
    const struct ub_axis *axis = &selection->micro->axes[selection->x];
    char label[160];
    ub_text_set(label, sizeof label, "%s", figure->y_label);
    char *bracket = strstr(label, "  [");
    if (bracket)
        *bracket = 0;
    ub_text_set(text, size, "%s: %s ", selection->micro->name, label);
    text[0] = (char)toupper((unsigned char)text[0]);
    if (selection->varies)
        ub_text_append(text, size, "over %s", axis->name);
    else if (selection->count > 0) {
        char phrase[80];
        ub_caption_axis(axis, selection->points[0].x, false, phrase, sizeof phrase);
        ub_text_append(text, size, "at %s", phrase);
    }
    for (char *c = text; *c; c++)
        if (*c == '_')
            *c = ' ';
}

/* A value that says nothing: the initial one where that is zero or its word ("auto"). */
static bool says_nothing(const struct ub_axis *axis, int64_t value)
{
    return axis->kind == UB_AXIS_INTEGER && value == 0;
}

/* At some point: with steps in one kernel or many the length of rows is nobody's. */
static bool counts(const struct ub_selection *selection, size_t axis)
{
    for (size_t i = 0; i < selection->count; i++)
        if (ub_axis_counts(selection->micro->owners, &selection->points[i].values, axis))
            return true;
    return false;
}

/* The axes that do not vary in the chart, in words. */
static void append_fixed_axes(const struct ub_selection *selection, char *text, size_t size)
{
    bool first = true;
    for (size_t axis = 0; axis < selection->micro->axis_count; axis++) {
        const int64_t value = selection->series[0].values[axis];
        const struct ub_axis *described = &selection->micro->axes[axis];
        const bool narrowed = selection->shown[axis] < selection->present[axis];
        if ((int)axis == selection->x || is_series_axis(selection, (int)axis) ||
            (says_nothing(described, value) && !narrowed) || !counts(selection, axis))
            continue;
        char phrase[80];
        ub_caption_axis(described, value, false, phrase, sizeof phrase);
        ub_text_append(text, size, "%s%s", first ? " · " : ", ", phrase);
        if (narrowed)
            ub_text_append(text, size, " (one of %zu)", selection->present[axis]);
        first = false;
    }
    for (size_t n = 0; n < selection->series_axis_count; n++) {
        const int axis = selection->series_axes[n];
        if (selection->shown[axis] < selection->present[axis])
            ub_text_append(text, size, " · %zu of %zu values of %s", selection->shown[axis], selection->present[axis],
                           selection->micro->axes[axis].name);
    }
}

static void count_samples(const struct ub_record *record, const struct ub_selection *selection,
                          struct ub_figure *figure)
{
    for (size_t i = 0; i < selection->count && record->source == UB_MEASURED; i++) {
        const size_t n = selection->points[i].record->time.n;
        if (n > 0 && (figure->fewest_samples == 0 || n < figure->fewest_samples))
            figure->fewest_samples = n;
        figure->most_samples = n > figure->most_samples ? n : figure->most_samples;
    }
}

void ub_caption_samples(struct ub_figure *figure)
{
    const size_t fewest = figure->fewest_samples, most = figure->most_samples;
    if (most == 0)
        return;
    if (fewest == most)
        ub_text_append(figure->conditions, sizeof figure->conditions, " · median of %zu sample%s", most,
                       most == 1 ? "" : "s");
    else
        ub_text_append(figure->conditions, sizeof figure->conditions, " · median of %zu to %zu samples", fewest, most);
}

static void device_name(const struct ub_record *record, const struct ub_figure *figure, char *text, size_t size)
{
    ub_text_clean(record->device.name, text, size);
    ub_text_shorten(text, size, NAME_CELLS, (struct ub_measure){.cells = true});
    if (*text == 0)
        ub_text_set(text, size, "%s", figure->source == UB_PREDICTED ? "model GPU" : "unnamed GPU");
}

static void write_conditions(const struct ub_record *record, const struct ub_selection *selection,
                             struct ub_figure *figure)
{
    static const char *const lead[] = {"", "predicted, not measured · ", "published figures · "};
    char name[200];
    device_name(record, figure, name, sizeof name);
    ub_text_set(figure->conditions, sizeof figure->conditions, "%s%s", lead[record->source], name);
    figure->subject_bytes = strlen(figure->conditions);
    append_fixed_axes(selection, figure->conditions, sizeof figure->conditions);
    figure->settings_bytes = strlen(figure->conditions);
    count_samples(record, selection, figure);
    ub_caption_samples(figure);
}

void ub_caption_figure(const struct ub_record *record, const struct ub_plot_options *options,
                       const struct ub_selection *selection, const struct ub_quantity *quantity,
                       struct ub_figure *figure)
{
    const struct ub_chart *chart = &selection->micro->chart;
    const struct ub_axis *axis = &selection->micro->axes[selection->x];
    const struct ub_chart_text *text = text_of(selection);
    if (quantity->is_main && !options->y && selection->varies && text && text->finding)
        ub_text_clean(text->finding, figure->title, sizeof figure->title);
    else
        plain_title(selection, figure, figure->title, sizeof figure->title);
    write_conditions(record, selection, figure);
    ub_caption_x(axis, figure->x_label, sizeof figure->x_label);
    const bool formula = selection->varies && text && text->law;
    char law[160] = "law";
    if (formula)
        ub_text_set(law, sizeof law, "law: %s", text->law);
    /* The formula is that of the counter: with a panel below it stands there. */
    const bool bare = figure->has_panel || (formula && !quantity->is_main);
    ub_text_clean(bare ? "law" : law, figure->law_label, sizeof figure->law_label);
    ub_text_clean(law, figure->panel_law_label, sizeof figure->panel_law_label);
    ub_text_clean(record->source == UB_PREDICTED ? "predicted"
                  : chart->panel_counter         ? chart->panel_counter
                                                 : "counter",
                  figure->panel_dot_label, sizeof figure->panel_dot_label);
    ub_text_clean(chart->panel_label, figure->panel_label, sizeof figure->panel_label);
    ub_text_clean(chart->share_label ? chart->share_label : "share of the ceiling", figure->share_label,
                  sizeof figure->share_label);
    ub_text_clean(chart->second_label, figure->second_label, sizeof figure->second_label);
    ub_text_clean(chart->second_gap, figure->gap_label, sizeof figure->gap_label);
}

static char *add_note(struct ub_figure *figure)
{
    if (figure->note_count == UB_FIGURE_NOTES)
        return NULL;
    figure->notes[figure->note_count][0] = 0;
    return figure->notes[figure->note_count++];
}

/* Why a point is not drawn; NULL: it is. Its own reason may be absent. */
static const char *loss(const struct ub_record *record, const struct ub_quantity *quantity,
                        const struct ub_record_point *point, const char **reason)
{
    *reason = point->reason;
    if (point->status != UB_POINT_OK)
        return ub_status_names[point->status];
    if (isfinite(ub_quantity_of_point(quantity, record->source, point)))
        return NULL;
    const struct ub_record_counter *counter =
        quantity->kind == UB_QUANTITY_COUNTER ? ub_point_counter(point, quantity->key) : NULL;
    *reason = counter ? counter->reason : NULL;
    return ub_quantity_is_absurd(quantity, record->source, point) ? "value out of any scale" : "no value";
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool is_lost_alike(const struct ub_record *record, const struct ub_quantity *quantity,
                          const struct ub_selected *point, const char *kind, const char *reason)
{
    const char *other_reason, *other = loss(record, quantity, point->record, &other_reason);
    return other && strcmp(other, kind) == 0 && same_text(other_reason, reason);
}

static int compare_values(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* "24, 28": each place once, whatever the number of series that lost it. Returns how many. */
static size_t name_places(const struct ub_axis *axis, int64_t *values, size_t count, char *text, size_t size)
{
    size_t distinct = 0;
    qsort(values, count, sizeof *values, compare_values);
    *text = 0;
    for (size_t i = 0; i < count; i++) {
        char value[48];
        if (i > 0 && values[i] == values[i - 1])
            continue;
        if (distinct++ < LISTED_VALUES)
            ub_text_append(text, size, "%s%s", distinct > 1 ? ", " : "",
                           ub_axis_text(axis, values[i], value, sizeof value));
    }
    if (distinct > LISTED_VALUES)
        ub_text_append(text, size, " and %zu more", distinct - LISTED_VALUES);
    return distinct;
}

/* "4 bytes, load; 8 bytes, load: " unless all series are concerned. Returns how many are. */
static size_t name_series(const struct ub_figure *figure, const bool concerned[UB_CHART_SERIES], char *text,
                          size_t size)
{
    size_t count = 0;
    *text = 0;
    for (size_t s = 0; s < figure->series_count; s++)
        count += concerned[s];
    for (size_t s = 0; s < figure->series_count && count < figure->series_count; s++)
        if (concerned[s])
            ub_text_append(text, size, "%s%s", *text ? "; " : "", figure->series[s].label);
    ub_text_shorten(text, size, SERIES_CELLS, (struct ub_measure){.cells = true});
    if (*text)
        ub_text_append(text, size, ": ");
    return count;
}

/* "failed: out of memory (8 bytes: stride 24, 28)" for all points lost as point `first` is. */
static bool note_loss(const struct ub_record *record, const struct ub_selection *selection,
                      const struct ub_quantity *quantity, size_t first, struct ub_figure *figure, char *note,
                      size_t size)
{
    const struct ub_axis *axis = &selection->micro->axes[selection->x];
    const char *reason, *kind = loss(record, quantity, selection->points[first].record, &reason);
    char clean[400], places[300], series[300];
    bool concerned[UB_CHART_SERIES] = {false};
    size_t count = 0;
    int64_t *values = malloc(selection->count * sizeof *values);
    if (!values)
        return false;
    for (size_t i = first; i < selection->count; i++) {
        const struct ub_selected *point = &selection->points[i];
        if (!is_lost_alike(record, quantity, point, kind, reason))
            continue;
        values[count++] = point->x;
        concerned[point->series] = true;
    }
    const size_t places_of = name_places(axis, values, count, places, sizeof places);
    const size_t series_of = name_series(figure, concerned, series, sizeof series);
    const char *in_part = count < places_of * series_of ? "some of " : "";
    free(values);
    ub_text_clean(reason, clean, sizeof clean);
    ub_text_shorten(clean, sizeof clean, REASON_CELLS, (struct ub_measure){.cells = true});
    ub_text_set(note, size, "× %s%s%s  (%s%s%s %s)", kind, *clean ? ": " : "", clean, series, in_part, axis->name,
                places);
    return true;
}

static bool told_already(const struct ub_record *record, const struct ub_selection *selection,
                         const struct ub_quantity *quantity, size_t index, const char *kind, const char *reason)
{
    for (size_t i = 0; i < index; i++)
        if (is_lost_alike(record, quantity, &selection->points[i], kind, reason))
            return true;
    return false;
}

bool ub_caption_lost(const struct ub_record *record, const struct ub_selection *selection,
                     const struct ub_quantity *quantity, struct ub_figure *figure)
{
    enum { TOLD = 4 };
    size_t reasons = 0;
    for (size_t i = 0; i < selection->count && reasons <= TOLD; i++) {
        const char *reason, *kind = loss(record, quantity, selection->points[i].record, &reason);
        if (!kind || told_already(record, selection, quantity, i, kind, reason))
            continue;
        char *note = reasons++ < TOLD ? add_note(figure) : NULL;
        if (note && !note_loss(record, selection, quantity, i, figure, note, sizeof figure->notes[0]))
            return false;
    }
    char *more = reasons > TOLD ? add_note(figure) : NULL;
    if (more)
        ub_text_set(more, sizeof figure->notes[0], "× more points without a value: see the record");
    bool counted = !figure->has_panel || record->source != UB_MEASURED, dots = false;
    for (size_t s = 0; s < figure->series_count; s++)
        for (size_t i = 0; i < figure->series[s].dot_count; i++) {
            dots = true;
            counted = counted || isfinite(figure->series[s].dots[i].panel);
        }
    char *note = dots && !counted ? add_note(figure) : NULL;
    char why[300];
    ub_text_clean(record->run.counters, why, sizeof why);
    ub_text_shorten(why, sizeof why, REASON_CELLS, (struct ub_measure){.cells = true});
    if (note)
        ub_text_set(note, sizeof figure->notes[0], "the lower panel shows the law alone: no counters%s%s",
                    *why ? ": " : "", why);
    return true;
}

/* "[GB/s]" of an axis label as " GB/s". */
static void unit_of_label(const char *label, char *unit, size_t size)
{
    const char *open = strchr(label, '['), *close = open ? strchr(open, ']') : NULL;
    *unit = 0;
    if (close)
        ub_text_set(unit, size, " %.*s", (int)(close - open - 1), open + 1);
}

/* "dram_load_ceiling" as "DRAM load ceiling". */
static void constant_in_words(const char *name, char *text, size_t size)
{
    static const char *const abbreviations[][2] = {{"dram", "DRAM"}, {"l2", "L2"}, {"l1", "L1"}};
    *text = 0;
    char word[48];
    for (const char *at = name; *at;) {
        const size_t length = strcspn(at, "_");
        ub_text_set(word, sizeof word, "%.*s", (int)length, at);
        for (size_t i = 0; i < sizeof abbreviations / sizeof abbreviations[0]; i++)
            if (strcmp(word, abbreviations[i][0]) == 0)
                ub_text_set(word, sizeof word, "%s", abbreviations[i][1]);
        ub_text_append(text, size, "%s%s", *text ? " " : "", word);
        at += length + (at[length] == '_');
    }
}

/* "measured DRAM load ceiling": after the constant that has the value; one of the model
 * table was not measured here. */
static void name_ceiling(const struct ub_record *record, double ceiling, double scale, char *text, size_t size)
{
    static const char this_run[] = "measured in this run";
    ub_text_set(text, size, "ceiling");
    for (size_t i = 0; i < record->constants.count; i++) {
        const struct ub_constant *constant = &record->constants.items[i];
        if (!(fabs(constant->value * scale / ceiling - 1) < 1e-6))
            continue;
        char words[100], clean[100];
        ub_text_clean(constant->name, clean, sizeof clean);
        constant_in_words(clean, words, sizeof words);
        ub_text_set(text, size, "%s%s", strncmp(constant->origin, this_run, strlen(this_run)) == 0 ? "measured " : "",
                    words);
        return;
    }
}

void ub_caption_ceiling(const struct ub_record *record, const struct ub_quantity *quantity, struct ub_figure *figure)
{
    enum { NAMED = 3 };
    char number[48], unit[48], name[120], before[120] = "";
    unit_of_label(figure->y_label, unit, sizeof unit);
    for (size_t i = 0; i < figure->ceiling_count; i++) {
        name_ceiling(record, figure->ceilings[i], quantity->scale, name, sizeof name);
        const bool here = strncmp(name, "measured ", strlen("measured ")) == 0;
        ub_text_set(figure->ceiling_names[i], sizeof figure->ceiling_names[i], "%s",
                    here ? name + strlen("measured ") : name);
    }
    for (size_t i = 0; i < figure->ceiling_count && i < NAMED; i++) {
        name_ceiling(record, figure->ceilings[i], quantity->scale, name, sizeof name);
        const double ceiling = figure->ceilings[i];
        ub_number_text(ceiling < 100 ? round(10 * ceiling) / 10 : round(ceiling), number, sizeof number);
        /* "measured DRAM load ceiling 4680, DRAM copy ceiling 4270 GB/s": said once what is common. */
        const bool again = i > 0 && strncmp(name, "measured ", strlen("measured ")) == 0;
        const char *own = again ? name + strlen("measured ") : name;
        ub_text_append(figure->ceiling_label, sizeof figure->ceiling_label, "%s%s%s%s", i ? ", " : "",
                       strcmp(own, before) == 0 ? "" : own, strcmp(own, before) == 0 ? "" : " ", number);
        ub_text_set(before, sizeof before, "%s", own);
    }
    ub_text_append(figure->ceiling_label, sizeof figure->ceiling_label, "%s", unit);
    if (!isfinite(figure->data_sheet))
        return;
    ub_number_text(round(figure->data_sheet), number, sizeof number);
    ub_text_append(figure->ceiling_label, sizeof figure->ceiling_label, " · data sheet %s", number);
}
