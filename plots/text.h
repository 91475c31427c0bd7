/* SPDX-License-Identifier: MIT
 *
 * Text of a chart: made safe, measured, cut and quoted. What comes from outside
 * (a device name, a file name) is cleaned here, so that neither gnuplot, nor
 * SVG, nor a terminal ever sees a byte that means something to it. */
#ifndef UB_PLOTS_TEXT_H
#define UB_PLOTS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { UB_LINE_BYTES = 512, UB_WRAP_LINES = 4 };

/* Lines of one paragraph. */
struct ub_lines {
    size_t count;
    char text[UB_WRAP_LINES][UB_LINE_BYTES];
};

/* How wide a piece of text may be, and in which unit: a font of `size_px` (DejaVu
 * Sans) or, where `cells` is set, the cells of a terminal. */
struct ub_measure {
    double size_px;
    bool bold;
    bool cells;
};

/* Copies `text` (NULL: "") as valid UTF-8 without control characters: bytes that are
 * not UTF-8 become U+FFFD, controls and line breaks a space. Cuts at a character. */
void ub_text_clean(const char *text, char *out, size_t size);

/* Replaces what is not ASCII: the punctuation that charts use by its ASCII likeness,
 * all else by '?'. In place. */
void ub_text_to_ascii(char *text);

/* Width in px (or cells). */
double ub_text_width(const char *text, struct ub_measure measure);

/* Cuts `text` in place so that it is at most `width` wide, with an ellipsis where it was. */
void ub_text_shorten(char *text, size_t size, double width, struct ub_measure measure);

/* Breaks at spaces, best at " · ", into at most `limit` lines; what does not fit ends in an ellipsis. */
void ub_text_wrap(const char *text, double width, struct ub_measure measure, size_t limit, struct ub_lines *out);

/* Writes or appends printf-like text, as much as fits in whole characters. */
void ub_text_set(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
void ub_text_append(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Writes 'text' in gnuplot's single quotes, in which nothing is expanded. */
void ub_text_quote(FILE *stream, const char *text);

bool ub_text_ends(const char *text, const char *ending);

#endif
