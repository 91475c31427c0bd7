/* SPDX-License-Identifier: MIT
 *
 * Lines broken at spaces, so that a narrow terminal cuts no word in two. Pure. */
#ifndef UB_IO_WRAP_H
#define UB_IO_WRAP_H

#include <stddef.h>
#include <stdio.h>

/* Writes `text` in lines of at most `width` columns. What a line has too much goes on
 * below, two columns deeper than it began; a word that is wider than a line stays whole.
 * Colours (ESC [ ... m) take no columns. */
void ub_wrap_lines(FILE *stream, const char *text, size_t width);

#endif
