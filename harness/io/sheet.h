/* SPDX-License-Identifier: MIT
 *
 * A table of texts, filled cell by cell and printed for a terminal or as markdown. Cells
 * may hold anything: the printers make it harmless. */
#ifndef UB_IO_SHEET_H
#define UB_IO_SHEET_H

#include <stdio.h>

#include "harness/io/formats.h"
#include "harness/io/table.h"

enum { UB_SHEET_COLUMNS = 160 };

struct ub_sheet {
    size_t column_count;
    struct {
        char title[UB_CELL_SIZE];
        bool left; /* words stand left, numbers right */
    } columns[UB_SHEET_COLUMNS];
    size_t cell_count; /* row by row */
    struct ub_sheet_cell {
        char *text; /* owned */
        enum ub_tone tone;
    } * cells;   /* owned */
    bool failed; /* out of memory: a cell is missing */
};

void ub_sheet_free(struct ub_sheet *sheet);

/* Columns first, then cells from left to right; a sheet of all columns holds no more. */
void ub_sheet_column(struct ub_sheet *sheet, bool left, const char *format, ...) UB_PRINTF(3, 4);
void ub_sheet_cell(struct ub_sheet *sheet, enum ub_tone tone, const char *format, ...) UB_PRINTF(3, 4);
size_t ub_sheet_rows(const struct ub_sheet *sheet);

/* UB_INTERNAL where a cell is missing. Columns without a single text are left out. */
bool ub_sheet_print(FILE *stream, const struct ub_sheet *sheet, const struct ub_print_options *options,
                    struct ub_error *err);
/* Rows from `first` on, until `budget` bytes are used (0: no limit); returns how many rows
 * were written. Takes what it used off the budget. */
size_t ub_sheet_markdown(FILE *stream, const struct ub_sheet *sheet, size_t first, size_t *budget);

/* Text as markdown that shows it and nothing else: marks are escaped, HTML is written as
 * entities, a line stays a line, and @ calls nobody. */
void ub_markdown_text(FILE *stream, const char *text);

#endif
