/* SPDX-License-Identifier: MIT
 *
 * Writing HTML that is XML as well. Whatever a text holds, it stays text: only the
 * formats in our own source are markup. */
#ifndef UB_REPORT_HTML_H
#define UB_REPORT_HTML_H

#include <stddef.h>
#include <stdio.h>

#include "harness/contract/error.h"

/* As printf with %s (escaped: as text and in quotes, NULL is nothing), %zu and %%. No other
 * conversion is known; the format itself is written as it is. */
void ub_html(FILE *out, const char *format, ...) UB_PRINTF(2, 3);

/* One text, escaped. Controls become '?', line breaks stay, bytes that are not UTF-8 U+FFFD. */
void ub_html_text(FILE *out, const char *text);

/* Each line a paragraph; lines that begin with a blank are kept as they are (formulas), in one
 * block where they follow each other. */
void ub_html_paragraphs(FILE *out, const char *text);

/* Each line an item. */
void ub_html_items(FILE *out, const char *text);

#endif
