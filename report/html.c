/* SPDX-License-Identifier: MIT */
#include "report/html.h"

#include <stdarg.h>
#include <string.h>

#include "harness/io/text.h"

/* What stands for a character that means something in HTML; NULL: itself. */
static const char *entity(uint32_t code)
{
    static const struct {
        uint32_t code;
        const char *text;
    } table[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].code == code)
            return table[i].text;
    return NULL;
}

/* XML forbids U+FFFE and U+FFFF. */
static bool is_unwanted(uint32_t code)
{
    return (code != '\n' && code != '\t' && ub_char_is_control(code)) || (code & 0xFFFE) == 0xFFFE;
}

static void write_characters(FILE *out, const char *text, const char *end)
{
    struct ub_char c;
    while (text < end && ub_next_char(&text, &c)) {
        const char *instead = is_unwanted(c.code) ? "?" : entity(c.code);
        if (instead)
            fputs(instead, out);
        else
            fwrite(c.bytes, 1, c.length, out);
    }
}

void ub_html_text(FILE *out, const char *text)
{
    if (text)
        write_characters(out, text, text + strlen(text));
}

void ub_html(FILE *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    for (const char *at = format; *at;) {
        const size_t plain = strcspn(at, "%");
        fwrite(at, 1, plain, out);
        at += plain;
        if (strncmp(at, "%s", 2) == 0) {
            ub_html_text(out, va_arg(args, const char *));
            at += 2;
        } else if (strncmp(at, "%zu", 3) == 0) {
            fprintf(out, "%zu", va_arg(args, size_t));
            at += 3;
        } else if (*at == '%') {
            fputc('%', out);
            at += strncmp(at, "%%", 2) == 0 ? 2 : 1;
        }
    }
    va_end(args);
}

void ub_html_paragraphs(FILE *out, const char *text)
{
    bool formulas = false; /* lines of one formula stand in one block */
    for (const char *line = text ? text : ""; *line;) {
        const size_t length = strcspn(line, "\n");
        const bool formula = *line == ' ';
        if (formula != formulas)
            fputs(formula ? "<pre>" : "</pre>\n", out);
        formulas = formula;
        if (length > 0)
            fputs(formula ? "" : "<p>", out);
        write_characters(out, line, line + length);
        if (length > 0)
            fputs(formula ? "\n" : "</p>\n", out);
        line += length + (line[length] == '\n');
    }
    fputs(formulas ? "</pre>\n" : "", out);
}

void ub_html_items(FILE *out, const char *text)
{
    fputs("<ul>\n", out);
    for (const char *line = text ? text : ""; *line;) {
        const size_t length = strcspn(line, "\n");
        fputs("<li>", out);
        write_characters(out, line, line + length);
        fputs("</li>\n", out);
        line += length + (line[length] == '\n');
    }
    fputs("</ul>\n", out);
}
