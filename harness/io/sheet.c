/* SPDX-License-Identifier: MIT */
#include "harness/io/sheet.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "harness/io/text.h"

enum { GAP = 2, WIDEST_CELL = 200 };

void ub_sheet_free(struct ub_sheet *sheet)
{
    for (size_t i = 0; i < sheet->cell_count; i++)
        free(sheet->cells[i].text);
    free(sheet->cells);
    *sheet = (struct ub_sheet){0};
}

void ub_sheet_column(struct ub_sheet *sheet, bool left, const char *format, ...)
{
    if (sheet->column_count == UB_SHEET_COLUMNS)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(sheet->columns[sheet->column_count].title, UB_CELL_SIZE, format, args);
    va_end(args);
    sheet->columns[sheet->column_count++].left = left;
}

static bool make_room(struct ub_sheet *sheet)
{
    const size_t count = sheet->cell_count;
    if ((count & (count - 1)) != 0) /* there is room up to the next power of two */
        return true;
    void *grown = realloc(sheet->cells, (count ? 2 * count : 1) * sizeof *sheet->cells);
    if (grown)
        sheet->cells = grown;
    return grown != NULL;
}

void ub_sheet_cell(struct ub_sheet *sheet, enum ub_tone tone, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    const int length = vasprintf(&text, format, args);
    va_end(args);
    if (sheet->failed || length < 0 || !make_room(sheet)) {
        sheet->failed = true;
        if (length >= 0)
            free(text);
        return;
    }
    sheet->cells[sheet->cell_count++] = (struct ub_sheet_cell){text, tone};
}

size_t ub_sheet_rows(const struct ub_sheet *sheet)
{
    return sheet->column_count ? sheet->cell_count / sheet->column_count : 0;
}

static const struct ub_sheet_cell *cell_at(const struct ub_sheet *sheet, size_t row, size_t column)
{
    return &sheet->cells[row * sheet->column_count + column];
}

/* ---- for a terminal ------------------------------------------------------------ */

static const char *plain(char *room, size_t size, const char *text, bool utf8)
{
    return ub_text_plain(room, size, text, WIDEST_CELL, utf8);
}

/* The width of a column; 0: nothing stands in it. */
static size_t width_of(const struct ub_sheet *sheet, size_t column, bool utf8)
{
    char room[4 * WIDEST_CELL + 8];
    size_t widest = 0;
    for (size_t row = 0; row < ub_sheet_rows(sheet); row++) {
        const size_t width = ub_text_columns(plain(room, sizeof room, cell_at(sheet, row, column)->text, utf8));
        widest = width > widest ? width : widest;
    }
    const size_t title = ub_text_columns(plain(room, sizeof room, sheet->columns[column].title, utf8));
    return widest == 0 ? 0 : widest > title ? widest : title;
}

static void print_cell(FILE *stream, const char *text, bool left, size_t width, enum ub_tone tone,
                       const struct ub_print_options *options, size_t *pending)
{
    static const char *const colours[] = {"", "\033[32m", "\033[33m", "\033[31m"};
    char room[4 * WIDEST_CELL + 8];
    const char *shown = plain(room, sizeof room, text, options->utf8);
    const size_t space = width - ub_text_columns(shown);
    const bool coloured = options->colour && tone != UB_TONE_PLAIN;
    *pending += GAP + (left ? 0 : space);
    if (*shown) {
        fprintf(stream, "%*s%s%s%s", (int)*pending, "", coloured ? colours[tone] : "", shown,
                coloured ? "\033[0m" : "");
        *pending = 0;
    }
    *pending += left ? space : 0;
}

bool ub_sheet_print(FILE *stream, const struct ub_sheet *sheet, const struct ub_print_options *options,
                    struct ub_error *err)
{
    size_t widths[UB_SHEET_COLUMNS];
    if (sheet->failed)
        return ub_fail(err, UB_INTERNAL, "out of memory while making a table");
    for (size_t column = 0; column < sheet->column_count; column++)
        widths[column] = width_of(sheet, column, options->utf8);
    for (size_t row = 0; row <= ub_sheet_rows(sheet); row++) {
        size_t pending = 0; /* spaces, printed where something follows */
        for (size_t column = 0; column < sheet->column_count; column++) {
            if (widths[column] == 0)
                continue;
            const struct ub_sheet_cell *cell = row ? cell_at(sheet, row - 1, column) : NULL;
            print_cell(stream, cell ? cell->text : sheet->columns[column].title, sheet->columns[column].left,
                       widths[column], cell ? cell->tone : UB_TONE_PLAIN, options, &pending);
        }
        fputc('\n', stream);
    }
    return true;
}

/* ---- as markdown ------------------------------------------------------------------ */

void ub_markdown_text(FILE *stream, const char *text)
{
    struct ub_char c;
    while (ub_next_char(&text, &c)) {
        if (c.code == '\n' || c.code == '\t' || c.code == '\r')
            fputc(' ', stream);
        else if (ub_char_is_control(c.code))
            fputc('?', stream);
        else if (c.code == '<' || c.code == '>' || c.code == '&')
            fprintf(stream, "&#%d;", (int)c.code);
        else if (c.code == '@')
            fputs("@&#8203;", stream); /* calls nobody */
        else if (c.code < 0x80 && strchr("\\`*_{}[]()#|~!$", (int)c.code))
            fprintf(stream, "\\%c", (int)c.code);
        else
            fwrite(c.bytes, 1, c.length, stream);
    }
}

static bool is_empty(const struct ub_sheet *sheet, size_t column)
{
    for (size_t row = 0; row < ub_sheet_rows(sheet); row++)
        if (*cell_at(sheet, row, column)->text)
            return false;
    return true;
}

static void write_titles(FILE *stream, const struct ub_sheet *sheet, const bool *shown)
{
    fputc('|', stream);
    for (size_t column = 0; column < sheet->column_count; column++) {
        if (!shown[column])
            continue;
        fputc(' ', stream);
        ub_markdown_text(stream, sheet->columns[column].title);
        fputs(" |", stream);
    }
    fputs("\n|", stream);
    for (size_t column = 0; column < sheet->column_count; column++)
        if (shown[column])
            fputs(sheet->columns[column].left ? ":---|" : "---:|", stream);
    fputc('\n', stream);
}

static void write_row(FILE *stream, const struct ub_sheet *sheet, size_t row, const bool *shown)
{
    fputc('|', stream);
    for (size_t column = 0; column < sheet->column_count; column++) {
        const struct ub_sheet_cell *cell = cell_at(sheet, row, column);
        const char *mark = cell->tone == UB_TONE_BAD && *cell->text ? "**" : "";
        if (!shown[column])
            continue;
        fprintf(stream, " %s", mark);
        ub_markdown_text(stream, cell->text);
        fprintf(stream, "%s |", mark);
    }
    fputc('\n', stream);
}

/* The titles (row SIZE_MAX) or a row, as a text whose length is known before it is
 * written. Caller frees; NULL: no memory. */
static char *markdown_lines(const struct ub_sheet *sheet, size_t row, const bool *shown, size_t *size)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, size);
    if (!stream)
        return NULL;
    if (row == SIZE_MAX)
        write_titles(stream, sheet, shown);
    else
        write_row(stream, sheet, row, shown);
    return fclose(stream) == 0 ? text : NULL;
}

size_t ub_sheet_markdown(FILE *stream, const struct ub_sheet *sheet, size_t first, size_t *budget)
{
    bool shown[UB_SHEET_COLUMNS];
    size_t written = 0;
    for (size_t column = 0; column < sheet->column_count; column++)
        shown[column] = !is_empty(sheet, column);
    for (size_t row = first; row <= ub_sheet_rows(sheet); row++) {
        size_t size = 0;
        char *text = markdown_lines(sheet, row == first ? SIZE_MAX : row - 1, shown, &size);
        if (!text || (*budget > 0 && size >= *budget)) {
            free(text);
            break;
        }
        *budget -= *budget > 0 ? size : 0;
        fwrite(text, 1, size, stream);
        written += row > first;
        free(text);
    }
    return written;
}
