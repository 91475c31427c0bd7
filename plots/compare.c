/* SPDX-License-Identifier: MIT */
#include "plots/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/engine/law.h"
#include "plots/gnuplot.h"
#include "plots/scale.h"
#include "plots/script.h"
#include "plots/text.h"

enum {
    WIDTH = 900,
    EDGE = 27,        /* px left of all */
    NAMES_MOST = 330, /* px: room for names */
    WORDS = 238,      /* px: room for numbers and verdicts */
    ABOVE = 104,      /* px: title, conditions, key */
    BELOW = 44,       /* px: axis */
    ROW_MOST = 38,
    ROW_LEAST = 19,
    ROWS_PX = 420,  /* what few rows share */
    DUMB_ABOVE = 8, /* lines besides the points */
    TICKS = 8,
    COLOURS = 6
};

static const struct ub_measure small = {.size_px = 12.7}, heading = {.size_px = 17.3, .bold = true};

/* A ratio of a row. */
struct dot {
    double ratio, lo, hi, predicted;
    enum ub_change change;
    enum ub_change_reason because;
};

/* A point, or the points of a sweep. */
struct row {
    size_t index;  /* of the (first) point */
    double weight; /* what changed most stays */
    struct dot dots[UB_MAX_COMPARED];
};

struct forest {
    const struct ub_comparison *comparison;
    size_t row_count, total;
    struct row rows[UB_FOREST_ROWS];
    bool sweeps;    /* a row is a sweep: its mean, and the range of its points */
    bool predicted; /* what the laws say is drawn as well */
    double names_px, row_px;
    struct ub_scale scale;
    char title[UB_LINE_BYTES], below[UB_LINE_BYTES];
};

/* No card is a billion times another; a scale with room for that shows nothing else. */
static bool is_drawn(double ratio)
{
    return ratio > 1e-9 && ratio < 1e9;
}

/* Two runs have their numbers and verdicts beside the points, more have a colour each. */
static bool is_pair(const struct forest *forest)
{
    return forest->comparison->run_count == 2;
}

/* ---- rows ------------------------------------------------------------------------- */

static double weight_of(const struct ub_comparison *comparison, const struct row *row)
{
    static const double news[UB_CHANGES] = {0, 0, 1e6, 1e6, 1e3};
    double weight = -1;
    for (size_t run = 1; run < comparison->run_count; run++)
        if (is_drawn(row->dots[run].ratio))
            weight = fmax(weight,
                          fabs(log(row->dots[run].ratio)) + (comparison->one_card ? news[row->dots[run].change] : 0));
    return weight;
}

static void keep_heaviest(struct forest *forest, const struct row *row)
{
    struct row *lightest = &forest->rows[0];
    if (row->weight < 0)
        return;
    forest->total++;
    if (forest->row_count < UB_FOREST_ROWS) {
        forest->rows[forest->row_count++] = *row;
        return;
    }
    for (size_t i = 1; i < forest->row_count; i++)
        if (forest->rows[i].weight < lightest->weight)
            lightest = &forest->rows[i];
    if (row->weight > lightest->weight)
        *lightest = *row;
}

static int by_ratio(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    const double x = is_drawn(a->dots[1].ratio) ? a->dots[1].ratio : 0;
    const double y = is_drawn(b->dots[1].ratio) ? b->dots[1].ratio : 0;
    if (x != y)
        return (x < y) - (x > y);
    return (a->index > b->index) - (a->index < b->index);
}

static void make_point_row(const struct ub_comparison *comparison, size_t index, struct row *out)
{
    *out = (struct row){.index = index};
    for (size_t run = 1; run < comparison->run_count; run++) {
        const struct ub_contrast *c = &comparison->points[index].contrasts[run];
        out->dots[run] = (struct dot){c->ratio, c->lo, c->hi, c->predicted, c->change, c->because};
    }
}

static void make_sweep_row(const struct ub_comparison *comparison, size_t index, struct row *out)
{
    *out = (struct row){.index = index};
    for (size_t run = 1; run < comparison->run_count; run++) {
        struct ub_spread spread;
        ub_compared_spread(comparison, run, index, &spread);
        /* Ranges of several runs would hide each other. */
        const bool range = comparison->run_count == 2;
        out->dots[run] = (struct dot){.ratio = spread.mean,
                                      .lo = range ? spread.least : NAN,
                                      .hi = range ? spread.most : NAN,
                                      .predicted = spread.predicted};
    }
}

static void make_rows(struct forest *forest)
{
    const struct ub_comparison *comparison = forest->comparison;
    /* Between cards hundreds of points have one ratio: there a sweep is a row. */
    forest->sweeps = comparison->point_count > UB_FOREST_ROWS && !(comparison->one_card && comparison->tested);
    for (size_t i = 0; comparison->run_count > 1 && i < comparison->point_count; i++) {
        struct row row;
        if (forest->sweeps && !ub_compared_begins_group(comparison, i))
            continue;
        (forest->sweeps ? make_sweep_row : make_point_row)(comparison, i, &row);
        row.weight = weight_of(comparison, &row);
        keep_heaviest(forest, &row);
    }
    qsort(forest->rows, forest->row_count, sizeof forest->rows[0], by_ratio);
}

/* ---- words -------------------------------------------------------------------------- */

static bool has_several_sweeps(const struct ub_comparison *comparison, const struct ub_record_point *point)
{
    for (size_t i = 0; i < comparison->point_count; i++)
        if (ub_same_text(ub_compared_first(comparison, i)->rule, point->rule) &&
            !ub_same_text(ub_compared_first(comparison, i)->sweep, point->sweep))
            return true;
    return false;
}

/* "coalescing ceiling: op=load"; the sweep where a rule has several and it has a name. */
static void name_row(const struct forest *forest, size_t row, char *text, size_t size)
{
    const struct ub_comparison *comparison = forest->comparison;
    const struct ub_record_point *point = ub_compared_first(comparison, forest->rows[row].index);
    const char *label = forest->sweeps ? NULL : comparison->points[forest->rows[row].index].label;
    const bool sweep = has_several_sweeps(comparison, point) && !ub_same_text(point->sweep, "command");
    char raw[900];
    snprintf(raw, sizeof raw, "%s%s%s%s%s", point->rule ? point->rule : "?", sweep ? " " : "",
             sweep && point->sweep ? point->sweep : "", label && *label ? ": " : "", label ? label : "");
    ub_text_clean(raw, text, size);
    ub_text_shorten(text, size, NAMES_MOST, small);
}

/* "H200": without the maker. */
static void card_of(const struct ub_comparison *comparison, size_t run, char *text, size_t size)
{
    static const char maker[] = "NVIDIA ";
    const char *name = comparison->runs[run].record->device.name;
    if (name && strncmp(name, maker, sizeof maker - 1) == 0)
        name += sizeof maker - 1;
    ub_text_clean(name ? name : "an unknown GPU", text, size);
    ub_text_shorten(text, size, 260, heading);
}

/* The rule that has most of the points with a change, and how many; NULL: there are none. */
static const char *most_changed(const struct ub_comparison *comparison, enum ub_change change, size_t *count)
{
    const char *most = NULL;
    *count = 0;
    for (size_t i = 0; i < comparison->point_count; i++) {
        const char *rule = ub_compared_first(comparison, i)->rule;
        size_t same = 0;
        if (!ub_compared_begins_group(comparison, i))
            continue;
        for (size_t k = 0; k < comparison->point_count; k++)
            same += comparison->points[k].contrasts[1].change == change &&
                    ub_same_text(ub_compared_first(comparison, k)->rule, rule);
        if (same > *count) {
            *count = same;
            most = rule;
        }
    }
    return most;
}

static void title_changes(const struct forest *forest, char *title, size_t size)
{
    struct ub_change_counts counts;
    ub_change_count(forest->comparison, 1, &counts);
    const size_t slower = counts.changes[UB_CHANGE_SLOWER], faster = counts.changes[UB_CHANGE_FASTER];
    const size_t changed = slower ? slower : faster;
    if (changed == 0) {
        ub_text_set(title, size, "Nothing changed: %zu of %zu points are the same", counts.changes[UB_CHANGE_SAME],
                    forest->comparison->point_count);
        if (counts.changes[UB_CHANGE_UNSURE])
            ub_text_append(title, size, ", %zu unsure", counts.changes[UB_CHANGE_UNSURE]);
        return;
    }
    const char *word = slower ? "slower" : "faster";
    if (changed > 1 && changed == forest->comparison->point_count) {
        ub_text_set(title, size, "All %zu points are %s", changed, word);
        return;
    }
    size_t of_rule;
    char name[80];
    const char *rule = most_changed(forest->comparison, slower ? UB_CHANGE_SLOWER : UB_CHANGE_FASTER, &of_rule);
    ub_text_clean(rule, name, sizeof name);
    ub_text_set(title, size, "%zu of %zu points %s %s", changed, forest->comparison->point_count,
                changed == 1 ? "is" : "are", word);
    if (of_rule == changed)
        ub_text_append(title, size, ", all of %s", name);
    else
        ub_text_append(title, size, ", %zu of them of %s", of_rule, name);
    if (slower && faster)
        ub_text_append(title, size, "; %zu faster", faster);
}

static void make_title(struct forest *forest)
{
    const struct ub_comparison *comparison = forest->comparison;
    struct ub_spread spread;
    char first[200], second[200];
    card_of(comparison, 0, first, sizeof first);
    card_of(comparison, 1, second, sizeof second);
    ub_compared_spread(comparison, 1, SIZE_MAX, &spread);
    if (!is_pair(forest))
        ub_text_set(forest->title, sizeof forest->title, "%zu runs against %s", comparison->run_count - 1, first);
    else if (comparison->one_card && comparison->tested)
        title_changes(forest, forest->title, sizeof forest->title);
    else if (comparison->one_card)
        ub_text_set(forest->title, sizeof forest->title, "%s, %s against %s: %.3g times the throughput in the mean",
                    first, ub_source_names[comparison->runs[1].record->source],
                    ub_source_names[comparison->runs[0].record->source], spread.mean);
    else
        ub_text_set(forest->title, sizeof forest->title, "%s against %s: %.3g times the throughput in the mean", second,
                    first, spread.mean);
    ub_text_shorten(forest->title, sizeof forest->title, WIDTH - 2 * EDGE, heading);
}

static bool one_source(const struct ub_comparison *comparison)
{
    for (size_t run = 1; run < comparison->run_count; run++)
        if (comparison->runs[run].record->source != comparison->runs[0].record->source)
            return false;
    return true;
}

static void append_kinds(struct forest *forest)
{
    static const char *const kinds[] = {"measured", "predicted, not measured", "published figures"};
    const struct ub_comparison *comparison = forest->comparison;
    if (one_source(comparison)) {
        ub_text_append(forest->below, sizeof forest->below, " · all %s", kinds[comparison->runs[0].record->source]);
        return;
    }
    for (size_t run = 0; run < comparison->run_count; run++)
        ub_text_append(forest->below, sizeof forest->below, " · %c %s", ub_run_letter(run),
                       kinds[comparison->runs[run].record->source]);
}

static void make_conditions(struct forest *forest)
{
    const struct ub_comparison *comparison = forest->comparison;
    ub_text_set(forest->below, sizeof forest->below, "ratio of %sthroughputs%s", comparison->tested ? "median " : "",
                is_pair(forest) ? " (B ÷ A)" : "");
    append_kinds(forest);
    if (forest->sweeps)
        ub_text_append(forest->below, sizeof forest->below, " · geometric mean of each sweep's points%s",
                       is_pair(forest) ? ", and their range" : "");
    else if (comparison->tested)
        ub_text_append(forest->below, sizeof forest->below, " · 95 %% bootstrap interval");
    if (comparison->tested)
        ub_text_append(forest->below, sizeof forest->below, " · grey: ±%.3g %%", 100 * comparison->margin);
    if (forest->row_count < forest->total)
        ub_text_append(forest->below, sizeof forest->below, " · the %zu of %zu that differ most", forest->row_count,
                       forest->total);
    ub_text_shorten(forest->below, sizeof forest->below, WIDTH - 2 * EDGE, small);
}

/* ---- the scale ------------------------------------------------------------------------ */

/* "same", "−5 %", "×2". */
static void tick_label(double ratio, bool per_cent, char *text, size_t size)
{
    if (ratio == 1)
        snprintf(text, size, "same");
    else if (per_cent)
        snprintf(text, size, "%s%.3g %%", ratio < 1 ? "\u2212" : "+", 100 * fabs(ratio - 1));
    else
        snprintf(text, size, "\u00D7%.3g", ratio);
}

/* The closest ticks of which at most TICKS lie in the range. */
static void make_ticks(struct ub_scale *scale)
{
    static const double per_cents[] = {0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50};
    for (size_t i = 0; scale->hi < 2.2 && scale->lo > 0.45 && i < sizeof per_cents / sizeof per_cents[0]; i++) {
        const double step = per_cents[i] / 100;
        const double first = ceil((scale->lo - 1) / step), last = floor((scale->hi - 1) / step);
        if (last - first + 1 > TICKS)
            continue;
        for (double k = first; k <= last; k++) {
            char label[32];
            tick_label(k == 0 ? 1 : 1 + k * step, true, label, sizeof label);
            ub_scale_tick(scale, k == 0 ? 1 : 1 + k * step, label);
        }
        return;
    }
    const double octaves = log2(scale->hi / scale->lo), step = fmax(1, ceil(octaves / TICKS));
    for (double k = step * ceil(log2(scale->lo) / step); exp2(k) <= scale->hi; k += step) {
        char label[32];
        tick_label(exp2(k), false, label, sizeof label);
        ub_scale_tick(scale, exp2(k), label);
    }
}

static void widen(struct ub_scale *scale, double ratio)
{
    if (!is_drawn(ratio))
        return;
    scale->lo = fmin(scale->lo, ratio);
    scale->hi = fmax(scale->hi, ratio);
}

static void make_scale(struct forest *forest)
{
    const double margin = forest->comparison->margin;
    struct ub_scale *scale = &forest->scale;
    *scale = (struct ub_scale){.kind = UB_SCALE_LOG2, .lo = 1 - margin, .hi = 1 + margin};
    for (size_t row = 0; row < forest->row_count; row++)
        for (size_t run = 1; run < forest->comparison->run_count; run++) {
            const struct dot *dot = &forest->rows[row].dots[run];
            widen(scale, dot->ratio);
            widen(scale, dot->lo);
            widen(scale, dot->hi);
            if (forest->predicted)
                widen(scale, dot->predicted);
        }
    const double room = pow(scale->hi / scale->lo, 0.07) * 1.002;
    scale->lo /= room;
    scale->hi *= room;
    make_ticks(scale);
}

static bool make_forest(const struct ub_comparison *comparison, struct forest *out, struct ub_error *err)
{
    *out = (struct forest){.comparison = comparison};
    make_rows(out);
    if (out->row_count == 0)
        return ub_fail(err, UB_BAD_DATA, "nothing to draw: no point has a ratio between 1e-9 and 1e9");
    out->predicted = !comparison->one_card && comparison->measured;
    for (size_t row = 0; row < out->row_count; row++) {
        char name[300];
        name_row(out, row, name, sizeof name);
        out->names_px = fmax(out->names_px, ub_text_width(name, small));
    }
    out->row_px = fmin(ROW_MOST, fmax(ROW_LEAST, ROWS_PX / (double)out->row_count));
    make_scale(out);
    make_title(out);
    make_conditions(out);
    return true;
}

/* ---- the script --------------------------------------------------------------------------- */

/* Rows are counted from below: y = 1 is the last. */
static size_t place_of(const struct forest *forest, size_t row)
{
    return forest->row_count - row;
}

/* Label of text from outside: `rest` gives alignment, font and colour. */
static void write_label(FILE *stream, const char *text, const char *place, const char *rest)
{
    fputs("set label ", stream);
    ub_text_quote(stream, text);
    fprintf(stream, " at %s noenhanced %s\n", place, rest);
}

/* Colour of a dot: the verdict's, or the run's where there are several. */
static int colour_of(const struct forest *forest, const struct dot *dot, size_t run)
{
    static const int verdicts[UB_CHANGES] = {2, 1, 3, 4, 5}; /* of the template's COLOUR */
    if (!is_pair(forest))
        return 6 + (int)((run - 1) % COLOURS);
    return verdicts[dot->change];
}

static void write_points(FILE *stream, const struct forest *forest)
{
    const size_t runs = forest->comparison->run_count;
    size_t predicted = 0, intervals = 0;
    fputs("# place  ratio  lo  hi  colour\n$dots << EOD\n", stream);
    for (size_t row = 0; row < forest->row_count; row++)
        for (size_t run = 1; run < runs; run++) {
            const struct dot *c = &forest->rows[row].dots[run];
            if (!is_drawn(c->ratio))
                continue;
            const bool has = is_drawn(c->lo) && is_drawn(c->hi);
            intervals += has;
            fprintf(stream, "%zu %.9g %.9g %.9g %d\n", place_of(forest, row), c->ratio, has ? c->lo : c->ratio,
                    has ? c->hi : c->ratio, colour_of(forest, c, run));
        }
    fputs("EOD\n$law << EOD\n", stream);
    for (size_t row = 0; row < forest->row_count && forest->predicted; row++)
        for (size_t run = 1; run < runs; run++) {
            const struct dot *c = &forest->rows[row].dots[run];
            if (!is_drawn(c->predicted))
                continue;
            predicted++;
            fprintf(stream, "%zu %.9g\n", place_of(forest, row), c->predicted);
        }
    fprintf(stream, "%sEOD\nN_LAW = %d; N_CI = %d; HOLLOW = %d\n", predicted ? "" : "0 1\n", predicted > 0,
            intervals > 0, !forest->comparison->tested);
}

static void write_ticks(FILE *stream, const struct forest *forest, double width)
{
    double last = -INFINITY;
    fputs("set xtics (", stream);
    for (size_t i = 0; i < forest->scale.tick_count; i++) {
        const struct ub_tick *tick = &forest->scale.ticks[i];
        const double at = ub_scale_fraction(&forest->scale, tick->at) * width;
        char label[2 * sizeof tick->label];
        size_t used = 0;
        for (const char *c = tick->label; *c; c++) { /* a label is a format */
            if (*c == '%')
                label[used++] = '%';
            label[used++] = *c;
        }
        label[used] = 0;
        const double half = ub_text_width(tick->label, small) / 2 + 4;
        const bool fits = at - half > last;
        if (fits)
            last = at + half;
        fputs(i ? ", " : "", stream);
        ub_text_quote(stream, fits ? label : "");
        fprintf(stream, " %.12g", tick->at);
    }
    fputs(") noenhanced\n", stream);
}

static void write_names(FILE *stream, const struct forest *forest, double right)
{
    for (size_t row = 0; row < forest->row_count; row++) {
        char name[300], place[80];
        name_row(forest, row, name, sizeof name);
        snprintf(place, sizeof place, "screen %.6f,first %zu", right / WIDTH, place_of(forest, row));
        write_label(stream, name, place, "right tc rgb c_fg font \"\".F(9.5)");
    }
}

/* "0.968  [0.965, 0.971]  slower" beside each row. */
static void write_words(FILE *stream, const struct forest *forest, double left)
{
    static const char *const colours[UB_CHANGES] = {"c_mut", "c_mut", "c_s1", "c_s5", "c_s3"};
    for (size_t row = 0; row < forest->row_count; row++) {
        const struct dot *c = &forest->rows[row].dots[1];
        char text[120], place[80], rest[80];
        if (!is_drawn(c->ratio))
            continue;
        ub_text_set(text, sizeof text, c->ratio < 10 ? "%.3f" : "%.4g", c->ratio);
        if (is_drawn(c->lo) && is_drawn(c->hi))
            ub_text_append(text, sizeof text,
                           c->hi < 10 ? (forest->sweeps ? "  %.3f to %.3f" : "  [%.3f, %.3f]") : "  [%.4g, %.4g]",
                           c->lo, c->hi);
        snprintf(place, sizeof place, "screen %.6f,first %zu", left / WIDTH, place_of(forest, row));
        write_label(stream, text, place, "left tc rgb c_fg font \"\".F(9.5)");
        if (c->change == UB_CHANGE_UNTESTED)
            continue;
        snprintf(place, sizeof place, "screen %.6f,first %zu", (left + WORDS - 72) / WIDTH, place_of(forest, row));
        snprintf(rest, sizeof rest, "left tc rgb %s font FB(9.5)", colours[c->change]);
        write_label(stream, c->because == UB_BECAUSE_CLOCK ? "clock" : ub_change_names[c->change], place, rest);
    }
}

/* A symbol with its meaning; returns where the next begins. */
static double write_key(FILE *stream, double x, double y, const char *symbol, const char *text)
{
    char place[64];
    fprintf(stream, "set label '' at screen %.6f,%.6f %s front\n", (x + 5) / WIDTH, y, symbol);
    snprintf(place, sizeof place, "screen %.6f,%.6f", (x + 14) / WIDTH, y);
    write_label(stream, text, place, "left tc rgb c_mut font \"\".F(9.5)");
    return x + 14 + ub_text_width(text, small) + 22;
}

/* As the last ones of the template's COLOUR. */
static const char *const run_colours[COLOURS] = {"c_s1", "c_s2", "c_s4", "c_s3", "c_s5", "c_s6"};

static void write_keys(FILE *stream, const struct forest *forest, double left, double y)
{
    double x = left;
    for (size_t run = 1; run < forest->comparison->run_count && !is_pair(forest); run++) {
        char card[200], text[260], symbol[80];
        card_of(forest->comparison, run, card, sizeof card);
        ub_text_shorten(card, sizeof card, 130, small);
        snprintf(text, sizeof text, "%c %s", ub_run_letter(run), card);
        snprintf(symbol, sizeof symbol, "point pt %d ps P*0.8 lw 1.4 lc rgb %s", forest->comparison->tested ? 7 : 6,
                 run_colours[(run - 1) % COLOURS]);
        x = write_key(stream, x, y, symbol, text);
    }
    if (forest->predicted)
        write_key(stream, x, y, "point pt 12 ps P*1.5 lw 1 lc rgb c_mut", "what the laws say");
}

static bool write_picture(FILE *stream, const struct forest *forest, const struct ub_term *term,
                          const struct ub_plot_options *options, const char *output, struct ub_error *err)
{
    const double height = ABOVE + forest->row_px * (double)forest->row_count + BELOW;
    const double left = EDGE + forest->names_px + 14, right = WIDTH - (is_pair(forest) ? WORDS : 0) - EDGE;
    char place[64];
    ub_script_head(stream, term->terminal, options->dark, WIDTH, height, output);
    if (!ub_script_template(stream, "style.gp", err))
        return false;
    write_points(stream, forest);
    fprintf(stream, "LM = %.6f; RM = %.6f; TM = %.6f; BM = %.6f; ROWS = %zu; MARGIN = %.9g; X_LO = %.9g; X_HI = %.9g\n",
            left / WIDTH, right / WIDTH, 1 - ABOVE / height, BELOW / height, forest->row_count,
            forest->comparison->tested ? forest->comparison->margin : 0, forest->scale.lo, forest->scale.hi);
    write_ticks(stream, forest, right - left);
    snprintf(place, sizeof place, "screen %.6f,%.6f", (double)EDGE / WIDTH, 1 - 30 / height);
    write_label(stream, forest->title, place, "left font FB(13) tc rgb c_fg");
    snprintf(place, sizeof place, "screen %.6f,%.6f", (double)EDGE / WIDTH, 1 - 56 / height);
    write_label(stream, forest->below, place, "left font \"\".F(9.5) tc rgb c_mut");
    write_keys(stream, forest, left, 1 - 84 / height);
    write_names(stream, forest, left - 12);
    if (is_pair(forest))
        write_words(stream, forest, right + 12);
    if (!ub_script_template(stream, "compare.gp", err))
        return false;
    fputs("unset output\n", stream);
    return true;
}

/* The same in characters: a dot a row, names on the left. */
static bool write_dumb(FILE *stream, const struct forest *forest, const struct ub_term *term,
                       const struct ub_plot_options *options, const char *output, struct ub_error *err)
{
    const int columns = ub_plot_columns(options);
    const struct ub_measure cells = {.cells = true};
    char title[UB_LINE_BYTES];
    size_t widest = 0;
    ub_script_head(stream, term->terminal, options->dark, columns, (double)forest->row_count + DUMB_ABOVE, output);
    if (!ub_script_template(stream, "style.gp", err))
        return false;
    write_points(stream, forest);
    fputs("set ytics (", stream);
    for (size_t row = 0; row < forest->row_count; row++) {
        char name[300];
        name_row(forest, row, name, sizeof name);
        ub_text_to_ascii(name);
        ub_text_shorten(name, sizeof name, columns * 0.45, cells);
        ub_text_to_ascii(name);
        widest = strlen(name) > widest ? strlen(name) : widest;
        fputs(row ? ", " : "", stream);
        ub_text_quote(stream, name);
        fprintf(stream, " %zu", place_of(forest, row));
    }
    fputs(") noenhanced\nset title ", stream);
    snprintf(title, sizeof title, "%s", forest->title);
    ub_text_to_ascii(title);
    ub_text_shorten(title, sizeof title, columns - 4, cells);
    ub_text_to_ascii(title);
    ub_text_quote(stream, title);
    fprintf(stream, " noenhanced\nset lmargin %zu\nROWS = %zu; X_LO = %.9g; X_HI = %.9g\n", widest + 2,
            forest->row_count, forest->scale.lo, forest->scale.hi);
    return ub_script_template(stream, "compare_dumb.gp", err);
}

static bool write_chart(FILE *stream, const void *subject, const struct ub_plot_options *options, const char *output,
                        struct ub_error *err)
{
    const struct ub_term *term = ub_term_find(options->term, output, err);
    struct forest *forest = malloc(sizeof *forest);
    bool ok = term && (forest || ub_fail(err, UB_INTERNAL, "out of memory while making a chart"));
    ok = ok && make_forest(subject, forest, err) &&
         (strcmp(term->name, "dumb") == 0 ? write_dumb : write_picture)(stream, forest, term, options, output, err);
    free(forest);
    return ok && (!ferror(stream) || ub_fail(err, UB_CANNOT_WRITE, "cannot write the script of a chart"));
}

bool ub_plot_comparison(const struct ub_comparison *comparison, const struct ub_plot_options *options, const char *path,
                        struct ub_error *err)
{
    return ub_plot_with(write_chart, comparison, options, path, err);
}
