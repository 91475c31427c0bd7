/* SPDX-License-Identifier: MIT
 *
 * Text that may come from anywhere, and numbers with a decimal point. Every
 * writer of io/ takes its characters and digits from here, so that no byte of a
 * GPU's name and no locale can break a format. */
#ifndef UB_IO_TEXT_H
#define UB_IO_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "harness/contract/error.h"

/* One character and the bytes to write for it; `bytes` points into the text, or
 * to U+FFFD where the text has a byte that is not UTF-8. */
struct ub_char {
    uint32_t code;
    const char *bytes;
    size_t length;
};

/* Takes the next character and moves *text behind it. False at the end; a sequence
 * that the end cuts (a string that a fixed array shortened) counts as the end. */
bool ub_next_char(const char **text, struct ub_char *out);

/* Control and direction-changing characters: they move a terminal's cursor or turn
 * text round, and never belong into a table. */
bool ub_char_is_control(uint32_t code);

/* Columns of a terminal that the text takes (0 for combining, 2 for wide characters). */
size_t ub_text_columns(const char *text);

/* Copies text for a person: controls become '?', characters beyond ASCII too
 * unless `utf8`; a text wider than `columns` is cut and ends in "..". Returns out. */
char *ub_text_plain(char *out, size_t size, const char *text, size_t columns, bool utf8);

/* printf's %.*g and %.*f with a '.' in every locale. Returns text. */
char *ub_number(char *text, size_t size, int digits, double value);
char *ub_fixed(char *text, size_t size, int decimals, double value);

/* Flushes; false where something could not be written. */
bool ub_stream_done(FILE *stream, struct ub_error *err);

#endif
