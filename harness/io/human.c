/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/io/formats.h"
#include "harness/io/table.h"
#include "harness/io/text.h"
#include "harness/io/wrap.h"

enum {
    BAR = 10,        /* columns of a full bar */
    GAP = 2,         /* between columns */
    MOST_BROKEN = 4, /* counters named under a row, without -v */
    MOST_NOTES = 3,  /* notes under a table, without -v */
    MOST_WARNINGS = 10
};

struct printer {
    FILE *stream;
    const struct ub_record *record;
    const struct ub_print_options *options;
};

/* Which columns a table shows, and how wide their cells are. */
struct layout {
    bool shown[UB_TABLE_COLUMNS], bars;
    size_t last; /* column shown */
    size_t cells[UB_TABLE_COLUMNS];
};

static void print_toned(const struct printer *printer, enum ub_tone tone, const char *text)
{
    static const char *const colours[] = {"", "\033[32m", "\033[33m", "\033[31m"};
    bool coloured = printer->options->colour && tone != UB_TONE_PLAIN;
    fprintf(printer->stream, "%s%s%s", coloured ? colours[tone] : "", text, coloured ? "\033[0m" : "");
}

/* Text from outside, made harmless. */
static void print_plain(const struct printer *printer, const char *text)
{
    char plain[2048];
    fputs(ub_text_plain(plain, sizeof plain, text ? text : "-", 1000, printer->options->utf8), printer->stream);
}

static void print_spaces(const struct printer *printer, size_t count)
{
    fprintf(printer->stream, "%*s", (int)count, "");
}

static const char *dot(const struct printer *printer)
{
    return printer->options->utf8 ? " \u00B7 " : ", ";
}

/* ---- bars ---------------------------------------------------------------- */

/* Eighths of a block; a share above 1 fills the bar, its number stands beside it. */
static void print_bar(const struct printer *printer, double share)
{
    static const char *const blocks[] = {"", "\u258F", "\u258E", "\u258D", "\u258C", "\u258B", "\u258A", "\u2589"};
    bool utf8 = printer->options->utf8;
    double filled = isfinite(share) ? fmin(fmax(share, 0), 1) * BAR : 0;
    int eighths = (int)lround(filled * (utf8 ? 8 : 1)) * (utf8 ? 1 : 8);
    for (int i = 0; i < eighths / 8; i++)
        fputs(utf8 ? "\u2588" : "#", printer->stream);
    fputs(blocks[eighths % 8], printer->stream);
    for (int i = (eighths + 7) / 8; i < BAR; i++)
        fputs(utf8 ? " " : ".", printer->stream);
    fputc(' ', printer->stream);
}

/* ---- layout -------------------------------------------------------------- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* A title stands on two lines: where it is best broken (its length: it is not). */
static size_t title_break(const char *title)
{
    size_t length = strlen(title), best = length, longest = length;
    for (size_t i = 0; i < length; i++) {
        if (title[i] == ' ' && larger(i, length - i - 1) < longest) {
            longest = larger(i, length - i - 1);
            best = i;
        }
    }
    return best;
}

/* One of the two lines; a title of one part stands on the second. */
static void title_line(const char *title, int line, char *text, size_t size)
{
    size_t at = title_break(title);
    bool whole = title[at] == 0;
    if (line == 0)
        snprintf(text, size, "%.*s", whole ? 0 : (int)at, title);
    else
        snprintf(text, size, "%s", whole ? title : title + at + 1);
}

static size_t bar_width(const struct layout *layout, const struct ub_column *column)
{
    return layout->bars && column->bar ? BAR + 1 : 0;
}

static size_t cells_width(const struct ub_table *table, const struct ub_column *column)
{
    char text[UB_CELL_SIZE];
    size_t width = 0;
    for (size_t i = 0; i < table->point_count; i++) {
        if (table->points[i]->status != UB_POINT_OK && column->rank != UB_RANK_AXIS)
            continue;
        column->cell(table, column, table->points[i], text, sizeof text);
        width = larger(width, ub_text_columns(text));
    }
    return width;
}

static void measure_cells(const struct ub_table *table, struct layout *layout)
{
    for (size_t i = 0; i < table->column_count; i++)
        layout->cells[i] = cells_width(table, &table->columns[i]);
}

static size_t column_width(const struct layout *layout, const struct ub_table *table, size_t index)
{
    char first[UB_CELL_SIZE], second[UB_CELL_SIZE];
    const struct ub_column *column = &table->columns[index];
    title_line(column->title, 0, first, sizeof first);
    title_line(column->title, 1, second, sizeof second);
    size_t title = larger(ub_text_columns(first), ub_text_columns(second));
    return larger(title, layout->cells[index] + bar_width(layout, column));
}

static size_t total_width(const struct ub_table *table, const struct layout *layout)
{
    size_t total = 0;
    for (size_t i = 0; i < table->column_count; i++)
        if (layout->shown[i])
            total += GAP + column_width(layout, table, i);
    return total;
}

/* Takes away the least important thing; false where nothing is left to take. Of the
 * axes, the time and the headline only the time's interval and, last, the headline go. */
static bool narrow(struct ub_table *table, struct layout *layout)
{
    size_t least = table->column_count;
    for (size_t i = 0; i < table->column_count; i++)
        if (layout->shown[i] && table->columns[i].rank > UB_RANK_TIME &&
            (least == table->column_count || table->columns[i].rank >= table->columns[least].rank))
            least = i;
    bool only_headline = least == table->column_count || table->columns[least].rank == UB_RANK_HEADLINE;
    if (only_headline && !table->brief) {
        table->brief = true;
        measure_cells(table, layout);
    } else if (least == table->column_count) {
        return false;
    } else if (table->columns[least].bar && layout->bars) {
        layout->bars = false;
    } else {
        layout->shown[least] = false;
    }
    return true;
}

static void lay_out(const struct printer *printer, struct ub_table *table, struct layout *layout)
{
    *layout = (struct layout){.bars = true};
    for (size_t i = 0; i < table->column_count; i++)
        layout->shown[i] = true;
    measure_cells(table, layout);
    size_t most = printer->options->width > 0 ? (size_t)printer->options->width : SIZE_MAX;
    while (total_width(table, layout) > most && narrow(table, layout))
        continue;
    for (size_t i = 0; i < table->column_count; i++)
        layout->last = layout->shown[i] ? i : layout->last;
}

/* ---- rows ---------------------------------------------------------------- */

/* No spaces at the end of a line. */
static void print_cell(const struct printer *printer, bool left, bool last, size_t width, enum ub_tone tone,
                       const char *text)
{
    size_t used = ub_text_columns(text);
    size_t space = width > used ? width - used : 0;
    print_spaces(printer, left ? 0 : space);
    print_toned(printer, tone, text);
    print_spaces(printer, left && !last ? space : 0);
}

static void print_titles(const struct printer *printer, const struct ub_table *table, const struct layout *layout)
{
    for (int line = 0; line < 2; line++) {
        size_t pending = 0; /* spaces, printed where something follows */
        for (size_t i = 0; i < table->column_count; i++) {
            char text[UB_CELL_SIZE];
            if (!layout->shown[i])
                continue;
            title_line(table->columns[i].title, line, text, sizeof text);
            size_t space = column_width(layout, table, i) - ub_text_columns(text);
            bool left = table->columns[i].left || *text == 0;
            pending += GAP + (left ? 0 : space);
            if (*text) {
                print_spaces(printer, pending);
                fputs(text, printer->stream);
                pending = 0;
            }
            pending += left ? space : 0;
        }
        fputc('\n', printer->stream);
    }
}

static void print_point_cell(const struct printer *printer, const struct ub_table *table, const struct layout *layout,
                             size_t index, const struct ub_record_point *point)
{
    const struct ub_column *column = &table->columns[index];
    char text[UB_CELL_SIZE];
    column->cell(table, column, point, text, sizeof text);
    print_spaces(printer, GAP);
    if (bar_width(layout, column) > 0)
        print_bar(printer, ub_column_share(table, column, point));
    print_cell(printer, column->left, index == layout->last,
               column_width(layout, table, index) - bar_width(layout, column),
               column->tone ? column->tone(point) : UB_TONE_PLAIN, text);
}

/* A point without a result: its axes, its status and why. */
static void print_lost_row(const struct printer *printer, const struct ub_table *table, const struct layout *layout,
                           const struct ub_record_point *point)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (layout->shown[i] && table->columns[i].rank == UB_RANK_AXIS)
            print_point_cell(printer, table, layout, i, point);
    print_spaces(printer, GAP);
    print_toned(printer, point->status == UB_POINT_SKIPPED ? UB_TONE_DOUBTFUL : UB_TONE_BAD,
                ub_status_names[point->status]);
    if (point->reason) {
        fputs(": ", printer->stream);
        print_plain(printer, point->reason);
    }
    fputc('\n', printer->stream);
}

static void print_broken(const struct printer *printer, const struct ub_record_point *point)
{
    size_t said = 0;
    for (size_t i = 0; i < point->counter_count; i++) {
        const struct ub_record_counter *counter = &point->counters[i];
        bool broken = counter->has_measured && counter->has_predicted && counter->class_ != UB_ESTIMATE &&
                      counter->measured != counter->predicted;
        if (!broken || (said == MOST_BROKEN && !printer->options->verbose))
            continue;
        print_spaces(printer, 2 * GAP);
        print_plain(printer, counter->key);
        fprintf(printer->stream, ": measured %llu, the law says %llu\n", (unsigned long long)counter->measured,
                (unsigned long long)counter->predicted);
        said++;
    }
    if (ub_resident_differs(point)) {
        print_spaces(printer, 2 * GAP);
        fprintf(printer->stream, "resident blocks: the driver says %d, the law %g\n", point->static_.resident_blocks,
                ub_point_predicted_metric(point, "resident_blocks")->value);
    }
}

static void print_row(const struct printer *printer, const struct ub_table *table, const struct layout *layout,
                      const struct ub_record_point *point)
{
    if (point->status != UB_POINT_OK) {
        print_lost_row(printer, table, layout, point);
        return;
    }
    for (size_t i = 0; i < table->column_count; i++)
        if (layout->shown[i])
            print_point_cell(printer, table, layout, i, point);
    fputc('\n', printer->stream);
    if (point->counter_verdict == UB_COUNTERS_BROKEN && printer->record->source != UB_PREDICTED)
        print_broken(printer, point);
}

/* ---- what stands round a table ------------------------------------------- */

/* Goes on in the line below a heading. */
static void separate(const struct printer *printer, bool *any)
{
    fputs(*any ? dot(printer) : "  ", printer->stream);
    *any = true;
}

/* "working set 2 GiB to 4 GiB" of points that have one. */
static void print_footprint(const struct printer *printer, const struct ub_table *table, bool *any)
{
    double least = INFINITY, most = 0;
    char from[40], to[40];
    for (size_t i = 0; i < table->point_count; i++) {
        double bytes = table->points[i]->footprint_bytes;
        if (!(bytes > 0))
            continue;
        least = fmin(least, bytes);
        most = fmax(most, bytes);
    }
    if (most <= 0)
        return;
    ub_format_bytes(least, from, sizeof from);
    ub_format_bytes(most, to, sizeof to);
    bool one = strcmp(from, to) == 0;
    separate(printer, any);
    fprintf(printer->stream, "working set %s%s%s", from, one ? "" : " to ", one ? "" : to);
}

/* A word that all points share, such as the cache's state. */
static void print_common(const struct printer *printer, const struct ub_table *table, size_t offset, const char *label,
                         bool *any)
{
    const char *word = ub_table_common(table, offset);
    if (!word)
        return;
    separate(printer, any);
    fprintf(printer->stream, "%s ", label);
    print_plain(printer, word);
}

static void print_fixed(const struct printer *printer, const struct ub_table *table, bool *any)
{
    for (size_t i = 0; i < table->fixed_count; i++) {
        char text[UB_CELL_SIZE];
        ub_axis_cell(ub_point_axis(table->points[0], table->fixed[i]), table->utf8, text, sizeof text);
        fputs(*any ? " " : "  ", printer->stream);
        *any = true;
        print_plain(printer, table->fixed[i]);
        fprintf(printer->stream, "=%s", text);
    }
}

/* What all points have in common. */
static void print_conditions(const struct printer *printer, const struct ub_table *table)
{
    bool any = false;
    print_fixed(printer, table, &any);
    print_footprint(printer, table, &any);
    print_common(printer, table, offsetof(struct ub_record_point, level), "in", &any);
    print_common(printer, table, offsetof(struct ub_record_point, cache), "cache", &any);
    print_common(printer, table, offsetof(struct ub_record_point, data), "data", &any);
    print_common(printer, table, offsetof(struct ub_record_point, bottleneck), "limited by", &any);
    fputs(any ? "\n" : "", printer->stream);
}

static void print_heading(const struct printer *printer, const struct ub_table *table)
{
    char origin[300];
    bool ceiling = strcmp(table->sweep, "ceiling") == 0;
    ub_origin_text(printer->record, table->utf8, origin, sizeof origin);
    print_plain(printer, table->rule);
    if (ceiling) {
        fprintf(printer->stream, ": ceilings of this run, %s", origin);
    } else {
        fputs(", sweep ", printer->stream);
        print_plain(printer, table->sweep);
        fprintf(printer->stream, ": %s", origin);
    }
    fputc('\n', printer->stream);
    print_conditions(printer, table);
}

static bool noted_before(const struct ub_table *table, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (table->points[i]->note && strcmp(table->points[i]->note, table->points[index]->note) == 0)
            return true;
    return false;
}

static void print_notes(const struct printer *printer, const struct ub_table *table)
{
    size_t said = 0;
    for (size_t i = 0; i < table->point_count && (said < MOST_NOTES || printer->options->verbose); i++) {
        if (!table->points[i]->note || noted_before(table, i))
            continue;
        fputs("  note: ", printer->stream);
        print_plain(printer, table->points[i]->note);
        fputc('\n', printer->stream);
        said++;
    }
}

static void print_table(const struct printer *printer, struct ub_table *table)
{
    struct layout layout;
    lay_out(printer, table, &layout);
    print_heading(printer, table);
    print_titles(printer, table, &layout);
    for (size_t i = 0; i < table->point_count; i++)
        print_row(printer, table, &layout, table->points[i]);
    print_notes(printer, table);
    fputc('\n', printer->stream);
}

/* ---- the whole ----------------------------------------------------------- */

static void print_device(const struct printer *printer)
{
    const struct ub_device_info *device = &printer->record->device;
    fputs("ubench ", printer->stream);
    print_plain(printer, printer->record->run.version ? printer->record->run.version : "of unknown version");
    fputs(dot(printer), printer->stream);
    print_plain(printer, device->name ? device->name : "unknown GPU");
    if (device->sms > 0)
        fprintf(printer->stream, "%s%d SMs", dot(printer), device->sms);
    if (device->cc_major >= 0 && device->cc_minor >= 0)
        fprintf(printer->stream, "%scompute capability %d.%d", dot(printer), device->cc_major, device->cc_minor);
    if (device->driver) {
        fprintf(printer->stream, "%sdriver ", dot(printer));
        print_plain(printer, device->driver);
    }
    if (printer->record->run.started) {
        fputs(dot(printer), printer->stream);
        print_plain(printer, printer->record->run.started);
    }
    fputs("\n\n", printer->stream);
}

static void print_constants(const struct printer *printer)
{
    const struct ub_constants *constants = &printer->record->constants;
    if (constants->count == 0 || !printer->options->verbose)
        return;
    fputs("constants of the laws\n", printer->stream);
    for (size_t i = 0; i < constants->count; i++) {
        char value[UB_CELL_SIZE];
        ub_value_cell(constants->items[i].value, constants->items[i].unit, value, sizeof value);
        fputs("  ", printer->stream);
        print_plain(printer, constants->items[i].name);
        fprintf(printer->stream, " = %s  (", value);
        print_plain(printer, constants->items[i].origin);
        fputs(")\n", printer->stream);
    }
    fputc('\n', printer->stream);
}

static void print_warnings(const struct printer *printer)
{
    const struct ub_record *record = printer->record;
    size_t shown = printer->options->verbose ? record->warning_count : MOST_WARNINGS;
    for (size_t i = 0; i < record->warning_count && i < shown; i++) {
        const struct ub_warning *warning = &record->warnings[i];
        char label[400];
        print_toned(printer, UB_TONE_DOUBTFUL, "warning: ");
        if (warning->point >= 0 && (size_t)warning->point < record->point_count) {
            ub_point_label(&record->points[warning->point], label, sizeof label);
            print_plain(printer, label);
            fputs(": ", printer->stream);
        }
        print_plain(printer, warning->text);
        fputs(" [", printer->stream);
        print_plain(printer, warning->code);
        fputs("]\n", printer->stream);
    }
    if (record->warning_count > shown)
        fprintf(printer->stream, "and %zu more warnings (-v shows all)\n", record->warning_count - shown);
}

static void print_total(void *user, enum ub_tone tone, const char *sentence)
{
    const struct printer *printer = user;
    print_toned(printer, tone, sentence);
    fputc('\n', printer->stream);
}

/* Why a measured record has no counters, once. */
static void print_counter_state(const struct printer *printer)
{
    const struct ub_record *record = printer->record;
    bool any = record->source != UB_MEASURED || !record->run.counters;
    for (size_t i = 0; i < record->point_count && !any; i++)
        for (size_t k = 0; k < record->points[i].counter_count && !any; k++)
            any = record->points[i].counters[k].has_measured;
    if (any)
        return;
    fputs("no counters: ", printer->stream);
    print_plain(printer, record->run.counters);
    fputc('\n', printer->stream);
}

static bool print_record(const struct printer *printer, struct ub_error *err)
{
    const struct ub_record *record = printer->record;
    bool utf8 = printer->options->utf8;
    print_device(printer);
    for (size_t i = 0; i < record->point_count; i++) {
        struct ub_table table;
        if (!ub_table_begins(record, i))
            continue;
        if (!ub_table_build(&table, record, i, utf8, printer->options->verbose, err))
            return false;
        print_table(printer, &table);
        ub_table_free(&table);
    }
    print_constants(printer);
    struct ub_totals totals;
    ub_totals_of(record, &totals);
    struct printer copy = *printer; /* the callback's argument has no const */
    ub_totals_text(record, &totals, utf8, print_total, &copy);
    print_counter_state(printer);
    print_warnings(printer);
    return true;
}

/* The lines that are too long for the terminal go on below: those round a table, and a
 * row that says why its point was lost. */
static bool print_wrapped(const struct printer *printer, struct ub_error *err)
{
    char *text = NULL;
    size_t size = 0;
    struct printer inner = *printer;
    inner.stream = open_memstream(&text, &size);
    if (!inner.stream)
        return ub_fail(err, UB_INTERNAL, "out of memory");
    bool ok = print_record(&inner, err);
    if (fclose(inner.stream) != 0 && ok)
        ok = ub_fail(err, UB_INTERNAL, "out of memory");
    if (ok)
        ub_wrap_lines(printer->stream, text, (size_t)printer->options->width);
    free(text);
    return ok;
}

bool ub_print_human(FILE *stream, const struct ub_record *record, const struct ub_print_options *options,
                    struct ub_error *err)
{
    struct printer printer = {stream, record, options};
    bool ok = options->width > 0 ? print_wrapped(&printer, err) : print_record(&printer, err);
    return ok && ub_stream_done(stream, err);
}
