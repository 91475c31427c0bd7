/* SPDX-License-Identifier: MIT
 *
 * Pages of text for people (list, describe, help): paragraphs and two-column lists
 * wrapped to the width of the terminal; and JSON strings for `list --json`. */
#ifndef UB_CLI_PAGE_H
#define UB_CLI_PAGE_H

#include <stdio.h>

/* Columns to fill: those of the terminal, at least 40 and at most 110; 80 where stdout
 * is no terminal. */
int ub_page_width(void);

/* One or more paragraphs, each line behind `indent` spaces. A newline of the text ends a
 * line; a line that begins with spaces is printed as it is, for formulas and tables. */
void ub_page_text(FILE *stream, int indent, const char *text);

/* "  name   text": the text wraps behind the column. `name_columns` is the width of the
 * longest name. */
void ub_page_row(FILE *stream, int name_columns, const char *name, const char *text);

/* The text in double quotes, escaped (RFC 8259); NULL: null. */
void ub_page_json(FILE *stream, const char *text);

#endif
