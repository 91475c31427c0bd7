/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "harness/io/formats.h"
#include "harness/io/sheet.h"
#include "harness/io/table.h"
#include "harness/io/text.h"

static void write_heading(FILE *stream, const struct ub_table *table)
{
    char origin[300];
    ub_origin_text(table->record, true, origin, sizeof origin);
    fputs("### ", stream);
    ub_markdown_text(stream, table->rule);
    if (strcmp(table->sweep, "ceiling") == 0) {
        fputs(", ceilings of this run: ", stream);
    } else {
        fputs(", sweep ", stream);
        ub_markdown_text(stream, table->sweep);
        fputs(": ", stream);
    }
    ub_markdown_text(stream, origin);
    fputs("\n\n", stream);
    for (size_t i = 0; i < table->fixed_count; i++) {
        char value[UB_CELL_SIZE];
        ub_axis_cell(ub_point_axis(table->points[0], table->fixed[i]), true, value, sizeof value);
        fputs(i ? ", " : "", stream);
        ub_markdown_text(stream, table->fixed[i]);
        fputs(" = ", stream);
        ub_markdown_text(stream, value);
    }
    fputs(table->fixed_count ? "\n\n" : "", stream);
}

static void write_titles(FILE *stream, const struct ub_table *table)
{
    for (size_t i = 0; i < table->column_count; i++) {
        fputs(i ? " " : "| ", stream);
        ub_markdown_text(stream, table->columns[i].title);
        fputs(" |", stream);
    }
    fputs("\n|", stream);
    for (size_t i = 0; i < table->column_count; i++)
        fputs(table->columns[i].left ? ":---|" : "---:|", stream);
    fputc('\n', stream);
}

/* A point without a result says why in the first column that is no axis. */
static void write_row(FILE *stream, const struct ub_table *table, const struct ub_record_point *point)
{
    bool said = false;
    fputc('|', stream);
    for (size_t i = 0; i < table->column_count; i++) {
        const struct ub_column *column = &table->columns[i];
        char text[UB_CELL_SIZE] = "";
        bool lost = point->status != UB_POINT_OK && column->rank > 0;
        if (!lost)
            column->cell(table, column, point, text, sizeof text);
        fputc(' ', stream);
        ub_markdown_text(stream, lost && !said ? ub_status_names[point->status] : text);
        if (lost && !said && point->reason) {
            fputs(": ", stream);
            ub_markdown_text(stream, point->reason);
        }
        said |= lost;
        fputs(" |", stream);
    }
    fputc('\n', stream);
}

static void write_table(FILE *stream, const struct ub_table *table)
{
    write_heading(stream, table);
    write_titles(stream, table);
    for (size_t i = 0; i < table->point_count; i++)
        write_row(stream, table, table->points[i]);
    fputc('\n', stream);
}

static void write_total(void *user, enum ub_tone tone, const char *sentence)
{
    FILE *stream = user;
    (void)tone;
    fputs("- ", stream);
    ub_markdown_text(stream, sentence);
    fputc('\n', stream);
}

static void write_warnings(FILE *stream, const struct ub_record *record)
{
    for (size_t i = 0; i < record->warning_count; i++) {
        fputs("- warning: ", stream);
        ub_markdown_text(stream, record->warnings[i].text);
        fputc('\n', stream);
    }
}

bool ub_write_markdown(FILE *stream, const struct ub_record *record, struct ub_error *err)
{
    for (size_t i = 0; i < record->point_count; i++) {
        struct ub_table table;
        if (!ub_table_begins(record, i))
            continue;
        if (!ub_table_build(&table, record, i, true, false, err))
            return false;
        write_table(stream, &table);
        ub_table_free(&table);
    }
    struct ub_totals totals;
    ub_totals_of(record, &totals);
    ub_totals_text(record, &totals, true, write_total, stream);
    write_warnings(stream, record);
    return ub_stream_done(stream, err);
}
