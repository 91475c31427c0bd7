/* SPDX-License-Identifier: MIT */
#include "harness/cli/page.h"

#include <string.h>

#include "harness/cli/options.h"
#include "harness/io/text.h"

enum { NARROWEST = 40, WIDEST = 110, WITHOUT_TERMINAL = 80, MARGIN = 2, GAP = 2 };

int ub_page_width(void)
{
    const int columns = ub_terminal_columns();
    if (columns == 0)
        return WITHOUT_TERMINAL;
    return columns < NARROWEST ? NARROWEST : columns > WIDEST ? WIDEST : columns;
}

/* Columns of the first `length` bytes. */
static int columns_of(const char *text, size_t length)
{
    char word[256];
    const size_t size = length < sizeof word ? length : sizeof word - 1;
    memcpy(word, text, size);
    word[size] = 0;
    return (int)ub_text_columns(word);
}

/* How much of a word goes on a line of `room` columns: all of it; of one that is wider
 * than a line (a list of values) what ends with a comma or a bar and fits. */
static size_t part_that_fits(const char *word, size_t length, int room)
{
    size_t part = length;
    for (size_t i = 1; i < length && columns_of(word, length) > room; i++)
        if ((word[i - 1] == ',' || word[i - 1] == '|') && (part == length || columns_of(word, i) <= room))
            part = i;
    return part;
}

/* One line of the text (up to a newline), wrapped; the cursor stands at `indent`. */
static void wrap_line(FILE *stream, int indent, const char *line, size_t length)
{
    const int width = ub_page_width();
    int column = indent, gap = 0;
    for (const char *at = line, *end = line + length; at < end;) {
        const char *space = memchr(at, ' ', (size_t)(end - at));
        const size_t word = (size_t)((space ? space : end) - at), part = part_that_fits(at, word, width - indent);
        const int columns = columns_of(at, part);
        if (column > indent && column + gap + columns > width) {
            fprintf(stream, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fprintf(stream, "%*s", gap, "");
            column += gap;
        }
        fwrite(at, 1, part, stream);
        column += columns;
        at += part;
        gap = part == word; /* no blank within a word */
        while (at < end && *at == ' ')
            at++;
    }
    fputc('\n', stream);
}

/* All lines of a text; the cursor stands at `indent` already. */
static void wrap(FILE *stream, int indent, const char *text)
{
    for (;;) {
        const size_t length = strcspn(text, "\n");
        if (*text == ' ')
            fprintf(stream, "%.*s\n", (int)length, text);
        else
            wrap_line(stream, indent, text, length);
        if (text[length] == 0 || text[length + 1] == 0)
            return;
        text += length + 1;
        fprintf(stream, "%*s", *text == '\n' ? 0 : indent, "");
    }
}

void ub_page_text(FILE *stream, int indent, const char *text)
{
    fprintf(stream, "%*s", indent, "");
    wrap(stream, indent, text);
}

void ub_page_row(FILE *stream, int name_columns, const char *name, const char *text)
{
    const int indent = MARGIN + name_columns + GAP;
    const int columns = (int)ub_text_columns(name);
    fprintf(stream, "%*s", MARGIN, "");
    if (columns > name_columns) {
        wrap_line(stream, MARGIN, name, strlen(name));
        fprintf(stream, "%*s", indent, "");
    } else {
        fprintf(stream, "%s%*s", name, indent - MARGIN - columns, "");
    }
    wrap(stream, indent, text);
}

void ub_page_json(FILE *stream, const char *text)
{
    if (!text) {
        fputs("null", stream);
        return;
    }
    fputc('"', stream);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(stream, "\\%c", *c);
        else if ((unsigned char)*c < ' ')
            fprintf(stream, "\\u%04x", (unsigned)*c);
        else
            fputc(*c, stream);
    }
    fputc('"', stream);
}
