/* SPDX-License-Identifier: MIT
 *
 * What a comparison says, as sentences and tables; how they look is up to the printers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/io/compare.h"
#include "harness/io/text.h"

enum { TEXT = 120 };

/* ---- numbers -------------------------------------------------------------------- */

/* "0.968", "32.4", "1e-05", "-". */
static const char *ratio_text(double ratio, char *text)
{
    if (!isfinite(ratio))
        snprintf(text, TEXT, "-");
    else if (ratio >= 0.001 && ratio < 10)
        ub_fixed(text, TEXT, 3, ratio);
    else
        ub_number(text, TEXT, 4, ratio);
    return text;
}

static const char *range_text(double lo, double hi, char *text)
{
    char low[TEXT], high[TEXT];
    if (isfinite(lo) && isfinite(hi))
        snprintf(text, TEXT, "%.40s to %.40s", ratio_text(lo, low), ratio_text(hi, high));
    else
        snprintf(text, TEXT, "%s", "");
    return text;
}

static const char *time_text(double time_ns, char *text)
{
    ub_format_time(time_ns, text, TEXT);
    return text;
}

static const char *share_text(double share, char *text)
{
    if (isfinite(share))
        ub_value_cell(share, "1", text, TEXT);
    else
        *text = 0;
    return text;
}

static const char *error_text(double error, char *text)
{
    char number[TEXT];
    if (isfinite(error))
        snprintf(text, TEXT, "%s%.40s %%", error < 0 ? "" : "+", ub_fixed(number, sizeof number, 1, 100 * error));
    else
        snprintf(text, TEXT, "-");
    return text;
}

static const char *probability_text(double p, char *text)
{
    if (isfinite(p))
        ub_number(text, TEXT, 2, p);
    else
        *text = 0;
    return text;
}

/* ---- who is who ------------------------------------------------------------------ */

/* "A", or "A h200" where the cards differ. */
static const char *run_title(const struct ub_comparison *comparison, size_t run, char *text)
{
    const char *slug = comparison->runs[run].record->device.slug;
    const bool predicted = comparison->runs[run].record->source == UB_PREDICTED;
    const bool card = !comparison->one_card && slug;
    snprintf(text, TEXT, "%c%s%.40s%s", ub_run_letter(run), card ? " " : "", card ? slug : "",
             predicted ? " pred." : "");
    return text;
}

void ub_compare_legend(const struct ub_comparison *comparison, ub_sentence print, void *user)
{
    for (size_t run = 0; run < comparison->run_count; run++) {
        const struct ub_record *record = comparison->runs[run].record;
        char text[1200], name[400], origin[300], facts[400];
        ub_text_plain(name, sizeof name, comparison->runs[run].name, 90, true);
        ub_origin_text(record, true, origin, sizeof origin);
        snprintf(text, sizeof text, "%c  %s: %s, %zu point%s", ub_run_letter(run), name, origin, record->point_count,
                 record->point_count == 1 ? "" : "s");
        snprintf(facts, sizeof facts, ", %.40s, ubench %.60s%s", record->run.started ? record->run.started : "no date",
                 record->run.version ? record->run.version : "?", record->run.complete ? "" : ", INCOMPLETE");
        if (record->source == UB_MEASURED)
            strncat(text, facts, sizeof text - strlen(text) - 1);
        print(user, record->source == UB_MEASURED && !record->run.complete ? UB_TONE_DOUBTFUL : UB_TONE_PLAIN, text);
    }
}

/* ---- groups: rule and sweep -------------------------------------------------------- */

/* What the laws say stands beside what was measured, where cards differ. */
static bool shows_laws(const struct ub_comparison *comparison)
{
    return !comparison->one_card && comparison->measured;
}

static const struct {
    enum ub_change change;
    enum ub_tone tone;
} counted[] = {{UB_CHANGE_SLOWER, UB_TONE_BAD},
               {UB_CHANGE_FASTER, UB_TONE_GOOD},
               {UB_CHANGE_SAME, UB_TONE_PLAIN},
               {UB_CHANGE_UNSURE, UB_TONE_DOUBTFUL}};

enum { COUNTED = sizeof counted / sizeof counted[0] };

static void group_titles(const struct ub_comparison *comparison, size_t run, struct ub_sheet *out)
{
    const bool pair = comparison->run_count == 2;
    char title[TEXT];
    const char letter[] = {ub_run_letter(run), pair ? 0 : ' ', 0}, *before = pair ? "" : letter;
    for (size_t k = 0; k < COUNTED && comparison->tested && comparison->one_card; k++)
        ub_sheet_column(out, false, "%s%s", before, ub_change_names[counted[k].change]);
    ub_sheet_column(out, false, pair ? "%s / A, mean" : "%s / A", run_title(comparison, run, title));
    if (pair)
        ub_sheet_column(out, true, "range");
    if (shows_laws(comparison))
        ub_sheet_column(out, false, "%sby the laws", before);
}

static void group_cells(const struct ub_comparison *comparison, size_t run, size_t first, struct ub_sheet *out)
{
    struct ub_spread spread;
    char text[TEXT];
    ub_compared_spread(comparison, run, first, &spread);
    for (size_t k = 0; k < COUNTED && comparison->tested && comparison->one_card; k++)
        ub_sheet_cell(out, spread.changes[counted[k].change] ? counted[k].tone : UB_TONE_PLAIN, "%zu",
                      spread.changes[counted[k].change]);
    ub_sheet_cell(out, UB_TONE_PLAIN, "%s", ratio_text(spread.mean, text));
    if (comparison->run_count == 2)
        ub_sheet_cell(out, UB_TONE_PLAIN, "%s", range_text(spread.least, spread.most, text));
    if (shows_laws(comparison))
        ub_sheet_cell(out, UB_TONE_PLAIN, "%s", ratio_text(spread.predicted, text));
}

void ub_compare_groups(const struct ub_comparison *comparison, struct ub_sheet *out)
{
    ub_sheet_column(out, true, "rule");
    ub_sheet_column(out, true, "sweep");
    ub_sheet_column(out, false, "points");
    for (size_t run = 1; run < comparison->run_count; run++)
        group_titles(comparison, run, out);
    for (size_t i = 0; i < comparison->point_count; i++) {
        struct ub_spread spread;
        if (!ub_compared_begins_group(comparison, i))
            continue;
        ub_compared_spread(comparison, 1, i, &spread);
        ub_sheet_cell(out, UB_TONE_PLAIN, "%s", ub_compared_first(comparison, i)->rule);
        ub_sheet_cell(out, UB_TONE_PLAIN, "%s", ub_compared_first(comparison, i)->sweep);
        ub_sheet_cell(out, UB_TONE_PLAIN, "%zu", spread.points);
        for (size_t run = 1; run < comparison->run_count; run++)
            group_cells(comparison, run, i, out);
    }
}

/* ---- the summary ---------------------------------------------------------------------- */

static void say_changes(const struct ub_comparison *comparison, size_t run, ub_sentence print, void *user)
{
    struct ub_change_counts counts;
    char text[600], clock[160] = "", untested[80] = "";
    ub_change_count(comparison, run, &counts);
    if (counts.by_clock)
        snprintf(clock, sizeof clock, " (%zu by the clock alone: as many cycles as before)", counts.by_clock);
    if (counts.changes[UB_CHANGE_UNTESTED])
        snprintf(untested, sizeof untested, ", %zu not tested", counts.changes[UB_CHANGE_UNTESTED]);
    snprintf(text, sizeof text, "%c against A: of %zu points %zu slower%s, %zu faster, %zu the same, %zu unsure%s",
             ub_run_letter(run), comparison->point_count, counts.changes[UB_CHANGE_SLOWER], clock,
             counts.changes[UB_CHANGE_FASTER], counts.changes[UB_CHANGE_SAME], counts.changes[UB_CHANGE_UNSURE],
             untested);
    print(user,
          counts.changes[UB_CHANGE_SLOWER]   ? UB_TONE_BAD
          : counts.changes[UB_CHANGE_UNSURE] ? UB_TONE_DOUBTFUL
                                             : UB_TONE_GOOD,
          text);
}

static void say_spread(const struct ub_comparison *comparison, size_t run, ub_sentence print, void *user)
{
    struct ub_spread spread;
    char text[400], mean[TEXT], range[TEXT], law[TEXT];
    ub_compared_spread(comparison, run, SIZE_MAX, &spread);
    const int used = snprintf(
        text, sizeof text, "%c against A: %zu points, throughput ratio %.20s in the geometric mean (%.90s)",
        ub_run_letter(run), spread.points, ratio_text(spread.mean, mean), range_text(spread.least, spread.most, range));
    if (shows_laws(comparison) && isfinite(spread.predicted))
        snprintf(text + used, sizeof text - (size_t)used, ", by the laws %.20s", ratio_text(spread.predicted, law));
    print(user, UB_TONE_PLAIN, text);
}

/* Throughputs, not times, wherever the size was chosen to suit the card. */
static bool any_by_work(const struct ub_comparison *comparison)
{
    for (size_t i = 0; i < comparison->point_count; i++)
        for (size_t run = 1; run < comparison->run_count; run++)
            if (comparison->points[i].contrasts[run].by_work)
                return true;
    return false;
}

static void say_method(const struct ub_comparison *comparison, ub_sentence print, void *user)
{
    char text[700], margin[TEXT];
    ub_number(margin, sizeof margin, 4, 100 * comparison->margin);
    const int used = snprintf(text, sizeof text, "ratio: throughput of the run / of A, above 1 it is faster%s",
                              any_by_work(comparison) ? " (sizes differ: per byte or operation)" : "");
    if (comparison->tested)
        snprintf(text + used, sizeof text - (size_t)used,
                 "; of medians, with a 95 %% bootstrap interval; less than %.20s %% is the same%s", margin,
                 comparison->one_card ? "" : "; the cards differ, so no word is a test of a change");
    print(user, UB_TONE_PLAIN, text);
}

static void say_left_out(const struct ub_comparison *comparison, ub_sentence print, void *user)
{
    char text[200];
    if (comparison->lost_count) {
        snprintf(text, sizeof text, "%zu point%s no result in any run", comparison->lost_count,
                 comparison->lost_count == 1 ? " has" : "s have");
        print(user, UB_TONE_DOUBTFUL, text);
    }
    if (comparison->repeated_count) {
        snprintf(text, sizeof text, "%zu repetition%s of a point left out: the other run has it less often",
                 comparison->repeated_count, comparison->repeated_count == 1 ? "" : "s");
        print(user, UB_TONE_PLAIN, text);
    }
}

static bool both_measured(const struct ub_comparison *comparison, size_t run)
{
    return comparison->runs[0].record->source == UB_MEASURED && comparison->runs[run].record->source == UB_MEASURED;
}

void ub_compare_summary(const struct ub_comparison *comparison, ub_sentence print, void *user)
{
    if (comparison->point_count == 0)
        return;
    for (size_t run = 1; run < comparison->run_count; run++) {
        if (comparison->one_card && both_measured(comparison, run))
            say_changes(comparison, run, print, user);
        else
            say_spread(comparison, run, print, user);
    }
    say_method(comparison, print, user);
    say_left_out(comparison, print, user);
}

/* ---- rows --------------------------------------------------------------------------------- */

bool ub_compare_is_news(const struct ub_comparison *comparison, size_t index)
{
    for (size_t run = 1; run < comparison->run_count; run++)
        if (comparison->points[index].contrasts[run].change != UB_CHANGE_SAME)
            return true;
    return false;
}

static enum ub_tone change_tone(enum ub_change change)
{
    static const enum ub_tone tones[UB_CHANGES] = {UB_TONE_PLAIN, UB_TONE_PLAIN, UB_TONE_GOOD, UB_TONE_BAD,
                                                   UB_TONE_DOUBTFUL};
    return tones[change];
}

/* "clock", or what would settle it. */
static const char *why_text(const struct ub_contrast *contrast, char *text)
{
    if (contrast->because == UB_BECAUSE_PREDICTED)
        snprintf(text, TEXT, "%s", "");
    else if (contrast->because == UB_BECAUSE_SPREAD && isfinite(contrast->more_rounds))
        snprintf(text, TEXT, "%.0f more round%s would tell", contrast->more_rounds,
                 contrast->more_rounds > 1 ? "s" : "");
    else if (contrast->because == UB_BECAUSE_SPREAD)
        snprintf(text, TEXT, "at the margin: more rounds would not tell");
    else if (contrast->because == UB_BECAUSE_NOTHING && contrast->from_summaries)
        snprintf(text, TEXT, "no samples: interval of the medians'");
    else
        snprintf(text, TEXT, "%s", ub_change_reason_texts[contrast->because]);
    return text;
}

/* What one run adds to a row: its titles, and its cells. */
struct column {
    const char *title; /* '@' stands for the run, '#' for its letter */
    bool left, only_tested, only_cards, only_laws, only_explained, not_first;
    void (*cell)(const struct ub_compared_point *point, size_t run, struct ub_sheet *out);
};

static void cell_time(const struct ub_compared_point *point, size_t run, struct ub_sheet *out)
{
    char text[TEXT];
    ub_sheet_cell(out, UB_TONE_PLAIN, "%s", time_text(point->sides[run].time_ns, text));
}

static void cell_share(const struct ub_compared_point *point, size_t run, struct ub_sheet *out)
{
    char text[TEXT];
    ub_sheet_cell(out, UB_TONE_PLAIN, "%s", share_text(point->sides[run].share, text));
}

static void cell_ratio(const struct ub_compared_point *point, size_t run, struct ub_sheet *out)
{
    char text[TEXT];
    ub_sheet_cell(out, UB_TONE_PLAIN, "%s", ratio_text(point->contrasts[run].ratio, text));
}

static void cell_interval(const struct ub_compared_point *point, size_t run, struct ub_sheet *out)
{
    char text[TEXT];
    ub_sheet_cell(out, UB_TONE_PLAIN, "%s", range_text(point->contrasts[run].lo, point->contrasts[run].hi, text));
}

static void cell_law(const struct ub_compared_point *point, size_t run, struct ub_sheet *out)
{
    char text[TEXT];
    ub_sheet_cell(out, UB_TONE_PLAIN, "%s", ratio_text(point->contrasts[run].predicted, text));
}

static void cell_change(const struct ub_compared_point *point, size_t run, struct ub_sheet *out)
{
    const enum ub_change change = point->contrasts[run].change;
    ub_sheet_cell(out, change_tone(change), "%s", change == UB_CHANGE_UNTESTED ? "" : ub_change_names[change]);
}

static void cell_why(const struct ub_compared_point *point, size_t run, struct ub_sheet *out)
{
    char text[TEXT];
    ub_sheet_cell(out, UB_TONE_PLAIN, "%s", why_text(&point->contrasts[run], text));
}

static void cell_cycles(const struct ub_compared_point *point, size_t run, struct ub_sheet *out)
{
    const struct ub_contrast *contrast = &point->contrasts[run];
    char ratio[TEXT], range[TEXT];
    if (isfinite(contrast->cycles))
        ub_sheet_cell(out, UB_TONE_PLAIN, "%s [%s]", ratio_text(contrast->cycles, ratio),
                      range_text(contrast->cycles_lo, contrast->cycles_hi, range));
    else
        ub_sheet_cell(out, UB_TONE_PLAIN, "%s", "");
}

static void cell_shift(const struct ub_compared_point *point, size_t run, struct ub_sheet *out)
{
    char text[TEXT];
    const double shift = point->contrasts[run].shift;
    ub_sheet_cell(out, UB_TONE_PLAIN, "%s", isfinite(shift) ? ratio_text(shift, text) : "");
}

static void cell_p(const struct ub_compared_point *point, size_t run, struct ub_sheet *out)
{
    char text[TEXT];
    ub_sheet_cell(out, UB_TONE_PLAIN, "%s", probability_text(point->contrasts[run].p, text));
}

static void cell_rate(const struct ub_compared_point *point, size_t run, struct ub_sheet *out)
{
    char text[TEXT];
    ub_sheet_cell(out, UB_TONE_PLAIN, "%s", probability_text(point->contrasts[run].rate, text));
}

/* Times of all runs first, then what each comes to. */
static const struct column columns[] = {
    {.title = "@", .cell = cell_time},
    {.title = "# of its ceiling", .only_cards = true, .cell = cell_share},
    {.title = "# / A", .not_first = true, .cell = cell_ratio},
    {.title = "95 % interval", .left = true, .only_tested = true, .not_first = true, .cell = cell_interval},
    {.title = "by the laws", .only_laws = true, .not_first = true, .cell = cell_law},
    {.title = "verdict", .left = true, .only_tested = true, .not_first = true, .cell = cell_change},
    {.title = "why", .left = true, .not_first = true, .cell = cell_why},
    {.title = "in cycles", .left = true, .only_explained = true, .not_first = true, .cell = cell_cycles},
    {.title = "Hodges-Lehmann", .only_explained = true, .not_first = true, .cell = cell_shift},
    {.title = "Mann-Whitney p", .only_explained = true, .not_first = true, .cell = cell_p},
    {.title = "false discovery", .only_explained = true, .not_first = true, .cell = cell_rate},
};

enum { COLUMNS = sizeof columns / sizeof columns[0], TIMES = 2 /* columns that the first run has too */ };

static bool is_wanted(const struct ub_comparison *comparison, const struct column *column, size_t run, bool explain)
{
    return (!column->only_tested || comparison->tested) && (!column->only_cards || !comparison->one_card) &&
           (!column->only_laws || shows_laws(comparison)) && (!column->only_explained || explain) &&
           (!column->not_first || run > 0);
}

/* Calls for each column of a row, in order. */
static void for_columns(const struct ub_comparison *comparison, bool explain,
                        void (*call)(const struct ub_comparison *, const struct column *, size_t run, size_t index,
                                     struct ub_sheet *),
                        size_t index, struct ub_sheet *out)
{
    for (size_t k = 0; k < TIMES; k++)
        for (size_t run = 0; run < comparison->run_count; run++)
            if (is_wanted(comparison, &columns[k], run, explain))
                call(comparison, &columns[k], run, index, out);
    for (size_t run = 1; run < comparison->run_count; run++)
        for (size_t k = TIMES; k < COLUMNS; k++)
            if (is_wanted(comparison, &columns[k], run, explain))
                call(comparison, &columns[k], run, index, out);
}

static void add_title(const struct ub_comparison *comparison, const struct column *column, size_t run, size_t index,
                      struct ub_sheet *out)
{
    char name[TEXT], title[2 * TEXT] = "";
    (void)index;
    run_title(comparison, run, name);
    for (const char *c = column->title; *c; c++) {
        const char letter[] = {*c == '#' ? ub_run_letter(run) : *c, 0};
        strncat(title, *c == '@' ? name : letter, sizeof title - strlen(title) - 1);
    }
    ub_sheet_column(out, column->left, "%s", title);
}

static void add_cell(const struct ub_comparison *comparison, const struct column *column, size_t run, size_t index,
                     struct ub_sheet *out)
{
    column->cell(&comparison->points[index], run, out);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool one_sweep(const struct ub_comparison *comparison)
{
    for (size_t i = 1; i < comparison->point_count; i++)
        if (!same_text(ub_compared_first(comparison, i)->sweep, ub_compared_first(comparison, 0)->sweep))
            return false;
    return true;
}

void ub_compare_rows(const struct ub_comparison *comparison, bool explain,
                     bool (*choose)(const struct ub_comparison *, size_t index), struct ub_sheet *out)
{
    const bool sweeps = !one_sweep(comparison);
    ub_sheet_column(out, true, "rule");
    if (sweeps)
        ub_sheet_column(out, true, "sweep");
    ub_sheet_column(out, true, "point");
    for_columns(comparison, explain, add_title, 0, out);
    for (size_t i = 0; i < comparison->point_count; i++) {
        const struct ub_record_point *point = ub_compared_first(comparison, i);
        if (choose && !choose(comparison, i))
            continue;
        ub_sheet_cell(out, UB_TONE_PLAIN, "%s", point->rule);
        if (sweeps)
            ub_sheet_cell(out, UB_TONE_PLAIN, "%s", point->sweep);
        ub_sheet_cell(out, UB_TONE_PLAIN, "%s", comparison->points[i].label);
        for_columns(comparison, explain, add_cell, i, out);
    }
}

/* ---- constants, figures, what has no partner -------------------------------------------------- */

/* The first words of an origin: what kind of value it is. */
static const char *kind_of_origin(const char *origin)
{
    static const struct {
        const char *begins, *kind;
    } kinds[] = {{"measured in this run", "measured"},
                 {"empty kernels", "measured"},
                 {"measured", "table"},
                 {"assumed", "assumed"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strncmp(origin, kinds[i].begins, strlen(kinds[i].begins)) == 0)
            return kinds[i].kind;
    return "";
}

void ub_compare_constants(const struct ub_comparison *comparison, bool origins, struct ub_sheet *out)
{
    char text[UB_CELL_SIZE];
    ub_sheet_column(out, true, "constant");
    for (size_t run = 0; run < comparison->run_count; run++) {
        ub_sheet_column(out, false, "%s", run_title(comparison, run, text));
        ub_sheet_column(out, true, "%s", "");
        if (run > 0)
            ub_sheet_column(out, false, "%c / A", ub_run_letter(run));
    }
    for (size_t i = 0; i < comparison->constant_count; i++) {
        const struct ub_compared_constant *row = &comparison->constants[i];
        ub_sheet_cell(out, UB_TONE_PLAIN, "%s", row->name);
        for (size_t run = 0; run < comparison->run_count; run++) {
            const struct ub_constant *value = row->values[run];
            if (value)
                ub_value_cell(value->value, value->unit, text, sizeof text);
            ub_sheet_cell(out, UB_TONE_PLAIN, "%s", value ? text : "-");
            ub_sheet_cell(out, UB_TONE_PLAIN, "%s",
                          !value    ? ""
                          : origins ? value->origin
                                    : kind_of_origin(value->origin));
            if (run > 0)
                ub_sheet_cell(out, UB_TONE_PLAIN, "%s",
                              value && row->values[0] ? ratio_text(value->value / row->values[0]->value, text) : "-");
        }
    }
}

void ub_compare_figures(const struct ub_comparison *comparison, bool sources, struct ub_sheet *out)
{
    static const char *const titles[] = {
        "card",        "figure",   "published",        "kind",       "the model", "error",
        "it rests on", "measured", "of the published", "conditions", "source"};
    const size_t count = sizeof titles / sizeof titles[0] - (sources ? 0 : 2);
    for (size_t i = 0; i < count; i++)
        ub_sheet_column(out, i != 2 && i != 4 && i != 5 && i != 7 && i != 8, "%s", titles[i]);
    for (size_t i = 0; i < comparison->published_count; i++) {
        const struct ub_published_figure *figure = &comparison->published[i];
        const struct ub_publication *from = &figure->point->published;
        const char *card = figure->record->device.name;
        char label[400], text[UB_CELL_SIZE];
        ub_point_label(figure->point, label, sizeof label);
        ub_sheet_cell(out, UB_TONE_PLAIN, "%s", card ? card : "?");
        ub_sheet_cell(out, UB_TONE_PLAIN, "%s: %s", label, figure->metric->key);
        ub_value_cell(figure->metric->value, figure->metric->unit, text, sizeof text);
        ub_sheet_cell(out, UB_TONE_PLAIN, "%s", text);
        ub_sheet_cell(out, UB_TONE_PLAIN, "%s", from->kind ? from->kind : "?");
        ub_value_cell(figure->predicted, figure->metric->unit, text, sizeof text);
        ub_sheet_cell(out, UB_TONE_PLAIN, "%s", text);
        ub_sheet_cell(out, UB_TONE_PLAIN, "%s", error_text(figure->error, text));
        if (*figure->why)
            ub_sheet_cell(out, UB_TONE_PLAIN, "%s", figure->why);
        else
            ub_sheet_cell(out, UB_TONE_PLAIN, "%s%s%s", figure->rests_on.name, *figure->rests_on.name ? ", " : "",
                          figure->rests_on.origin);
        ub_value_cell(figure->measured, figure->metric->unit, text, sizeof text);
        ub_sheet_cell(out, UB_TONE_PLAIN, "%s", isfinite(figure->measured) ? text : "");
        ub_sheet_cell(out, UB_TONE_PLAIN, "%s",
                      isfinite(figure->measured) ? share_text(figure->measured / figure->metric->value, text) : "");
        if (sources) {
            ub_sheet_cell(out, UB_TONE_PLAIN, "%s", from->conditions ? from->conditions : "");
            ub_sheet_cell(out, UB_TONE_PLAIN, "%s", from->source ? from->source : "?");
        }
    }
}

void ub_compare_unmatched(const struct ub_comparison *comparison, size_t most, struct ub_sheet *out)
{
    char label[600];
    ub_sheet_column(out, true, "run");
    ub_sheet_column(out, true, "point");
    ub_sheet_column(out, true, "not compared");
    for (size_t i = 0; i < comparison->unmatched_count && (most == 0 || i < most); i++) {
        const struct ub_unmatched *item = &comparison->unmatched[i];
        ub_point_label(item->point, label, sizeof label);
        ub_sheet_cell(out, UB_TONE_PLAIN, "%c", ub_run_letter(item->run));
        ub_sheet_cell(out, UB_TONE_PLAIN, "%s", label);
        ub_sheet_cell(out, UB_TONE_DOUBTFUL, "%s", item->why);
    }
}
