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

/* One line of the text (up to a newline), wrapped; the cursor stands at `indent`. */
static void wrap_line(FILE *stream, int indent, const char *line, size_t length)
{
    const int width = ub_page_width();
    int column = indent;
    for (const char *at = line, *end = line + length; at < end;) {
        const char *space = memchr(at, ' ', (size_t)(end - at));
        const size_t word = (size_t)((space ? space : end) - at);
        const int columns = columns_of(at, word);
        if (column > indent && column + 1 + columns > width) {
            fprintf(stream, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', stream);
            column++;
        }
        fwrite(at, 1, word, stream);
        column += columns;
        at += word;
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
    fprintf(stream, "%*s%s", MARGIN, "", name);
    if (columns > name_columns)
        fprintf(stream, "\n%*s", indent, "");
    else
        fprintf(stream, "%*s", indent - MARGIN - columns, "");
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
