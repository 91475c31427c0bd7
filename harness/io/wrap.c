/* SPDX-License-Identifier: MIT */
#include "harness/io/wrap.h"

#include <stdbool.h>
#include <string.h>

#include "harness/io/text.h"

enum { DEEPER = 2 };

/* Bytes of a colour sequence at `text`; 0: it is none. */
static size_t colour_length(const char *text)
{
    if (strncmp(text, "\033[", 2) != 0)
        return 0;
    size_t length = 2 + strspn(text + 2, "0123456789;");
    return text[length] == 'm' ? length + 1 : 0;
}

/* Columns of a word of `length` bytes. */
static size_t word_columns(const char *word, size_t length)
{
    size_t columns = 0;
    for (size_t i = 0; i < length;) {
        size_t colour = colour_length(word + i);
        const char *at = word + i;
        struct ub_char c;
        if (colour > 0) {
            i += colour;
            continue;
        }
        if (!ub_next_char(&at, &c))
            break;
        char one[8] = "";
        memcpy(one, c.bytes, c.length);
        columns += ub_text_columns(one);
        i = (size_t)(at - word);
    }
    return columns;
}

static void write_line(FILE *stream, const char *line, size_t length, size_t width)
{
    size_t begin = strspn(line, " "), used = 0;
    size_t deeper = begin + DEEPER < width / 2 ? begin + DEEPER : 0;
    for (const char *at = line; at < line + length;) {
        size_t spaces = strspn(at, " ");
        const char *word = at + spaces;
        size_t bytes = strcspn(word, " \n"), columns = word_columns(word, bytes);
        if (at > line && used + spaces + columns > width) {
            fputc('\n', stream);
            used = 0;
            spaces = deeper;
        }
        fprintf(stream, "%*s", (int)spaces, "");
        fwrite(word, 1, bytes, stream);
        used += spaces + columns;
        at = word + bytes;
    }
}

void ub_wrap_lines(FILE *stream, const char *text, size_t width)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        write_line(stream, text, length, width);
        text += length;
        if (*text == '\n') {
            fputc('\n', stream);
            text++;
        }
    }
}
