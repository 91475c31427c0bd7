/* SPDX-License-Identifier: MIT */
#include "plots/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

/* Advance widths of DejaVu Sans, regular and bold, U+0020 to U+007E, in thousandths
 * of the font size (table hmtx of the font files, version 2.37). A viewer without this font
 * takes another; nearly all are narrower. */
static const unsigned short widths[2][95] = {
    {318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
     636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
     575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635,  611, 732, 684, 989, 685,
     611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
     278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838},
    {348, 456,  521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415,  380, 365, 696, 696,  696,
     696, 696,  696, 696, 696, 696,  696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734, 830,  683,
     683, 821,  837, 372, 372, 775,  637, 995, 837, 850, 733, 850, 770, 720,  682, 812, 774, 1103, 771,
     724, 725,  457, 365, 457, 838,  500, 500, 675, 716, 593, 716, 678, 435,  716, 712, 343, 343,  665,
     343, 1042, 712, 687, 716, 716,  493, 595, 478, 712, 652, 924, 645, 652,  582, 712, 365, 712,  838},
};

enum { REPLACEMENT = 0xFFFD };

/* Length of a well-formed UTF-8 sequence at `text` and its character; 0: not one
 * (RFC 3629: no overlong form, no surrogate, nothing above U+10FFFF). */
static size_t decode(const char *text, uint32_t *character)
{
    const unsigned char *bytes = (const unsigned char *)text;
    if (bytes[0] < 0x80) {
        *character = bytes[0];
        return 1;
    }
    const size_t length = bytes[0] >= 0xF0 ? 4 : bytes[0] >= 0xE0 ? 3 : 2;
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t value = bytes[0] & (0xFFu >> (length + 1));
    if (bytes[0] < 0xC2 || bytes[0] > 0xF4)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xC0) != 0x80)
            return 0;
        value = value << 6 | (bytes[i] & 0x3Fu);
    }
    if (value < least[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
        return 0;
    *character = value;
    return length;
}

/* C0 and C1 controls, DEL, and what turns the direction of writing: they could hide
 * or reorder what a reader sees. XML forbids U+FFFE and U+FFFF. */
static bool is_unwanted(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF || (c & 0xFFFE) == 0xFFFE;
}

void ub_text_clean(const char *text, char *out, size_t size)
{
    size_t used = 0;
    for (const char *at = text ? text : ""; *at;) {
        uint32_t character = REPLACEMENT;
        const size_t length = decode(at, &character);
        const char *from = length == 0 ? "\xEF\xBF\xBD" : is_unwanted(character) ? " " : at;
        const size_t bytes = length == 0 ? 3 : is_unwanted(character) ? 1 : length;
        if (used + bytes + 1 > size)
            break;
        memcpy(out + used, from, bytes);
        used += bytes;
        at += length == 0 ? 1 : length;
    }
    if (size > 0)
        out[used] = 0;
}

void ub_text_to_ascii(char *text)
{
    static const struct {
        uint32_t character;
        char likeness;
    } table[] = {{0xB7, '|'},   {0xD7, 'x'}, {0xF7, '/'}, {0x2212, '-'},
                 {0x2026, '~'}, {0xB5, 'u'}, {0xB1, '~'}, {0xA0, ' '}};
    char *to = text;
    for (const char *at = text; *at;) {
        uint32_t character = REPLACEMENT;
        size_t length = decode(at, &character);
        char likeness = character < 0x80 ? (char)character : '?';
        for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
            if (table[i].character == character)
                likeness = table[i].likeness;
        *to++ = likeness;
        at += length == 0 ? 1 : length;
    }
    *to = 0;
}

/* East Asian wide characters and emoji: two cells of a terminal, a full em of a font. */
static bool is_wide(uint32_t c)
{
    return (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
           (c >= 0x1F300 && c <= 0x1FAFF) || (c >= 0x20000 && c <= 0x3FFFD);
}

static double advance(uint32_t c, struct ub_measure measure)
{
    if (measure.cells)
        return is_wide(c) ? 2 : 1;
    if (c >= 0x20 && c < 0x7F)
        return measure.size_px * widths[measure.bold][c - 0x20] / 1000.0;
    if (c == 0xB7) /* middle dot */
        return measure.size_px * (measure.bold ? 0.38 : 0.318);
    if (c < 0x370) /* Latin letters */
        return measure.size_px * 0.70;
    return measure.size_px * 1.03;
}

double ub_text_width(const char *text, struct ub_measure measure)
{
    double width = 0;
    for (const char *at = text; *at;) {
        uint32_t character = REPLACEMENT;
        const size_t length = decode(at, &character);
        width += advance(character, measure);
        at += length == 0 ? 1 : length;
    }
    return width;
}

static void cut_last_character(char *text)
{
    size_t length = strlen(text);
    if (length == 0)
        return;
    do
        length--;
    while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80);
    text[length] = 0;
}

void ub_text_shorten(char *text, size_t size, double width, struct ub_measure measure)
{
    static const char ellipsis[] = "…";
    if (ub_text_width(text, measure) <= width)
        return;
    const double room = width - ub_text_width(ellipsis, measure);
    while (*text && (ub_text_width(text, measure) > room || strlen(text) + sizeof ellipsis > size))
        cut_last_character(text);
    while (*text && text[strlen(text) - 1] == ' ')
        cut_last_character(text);
    ub_text_append(text, size, "%s", ellipsis);
}

/* The mark between the parts of a line: the best place to break it. */
static const char mark[] = " · ";

/* Bytes of `text` up to the last mark, else the last space, before it gets wider than
 * `width`; the whole text where it fits. A single word that is too wide is left whole,
 * and a mark that would leave the line half empty is passed over. */
static size_t fitting_bytes(const char *text, double width, struct ub_measure measure)
{
    size_t fitting = 0, marked = 0;
    for (size_t end = 1;; end++) {
        if (text[end] != 0 && text[end] != ' ')
            continue;
        char part[UB_LINE_BYTES];
        snprintf(part, sizeof part, "%.*s", (int)(end < sizeof part ? end : sizeof part - 1), text);
        const double wide = ub_text_width(part, measure);
        if (fitting > 0 && wide > width)
            return marked > 0 ? marked : fitting;
        fitting = end;
        if (text[end] == 0 || end >= sizeof part - 1)
            return fitting;
        if (strncmp(text + end, mark, strlen(mark)) == 0 && wide > width * 0.4)
            marked = end;
    }
}

void ub_text_wrap(const char *text, double width, struct ub_measure measure, size_t limit, struct ub_lines *out)
{
    out->count = 0;
    while (*text == ' ')
        text++;
    while (*text && out->count < limit && out->count < UB_WRAP_LINES) {
        char *line = out->text[out->count++];
        const bool last = out->count == limit || out->count == UB_WRAP_LINES;
        const size_t bytes = last ? strlen(text) : fitting_bytes(text, width, measure);
        snprintf(line, UB_LINE_BYTES, "%.*s", (int)(bytes < UB_LINE_BYTES ? bytes : UB_LINE_BYTES - 1), text);
        ub_text_shorten(line, UB_LINE_BYTES, width, measure);
        text += bytes;
        if (strncmp(text, mark, strlen(mark)) == 0)
            text += strlen(mark);
        while (*text == ' ')
            text++;
    }
}

/* A character that was cut in the middle would not be UTF-8. */
static void drop_cut_character(char *text)
{
    size_t start = strlen(text);
    while (start > 0 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
        start--;
    uint32_t character = 0;
    if (start > 0 && (unsigned char)text[start - 1] >= 0xC0 && decode(text + start - 1, &character) == 0)
        text[start - 1] = 0;
}

void ub_text_set(char *out, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(out, size, format, args);
    va_end(args);
    drop_cut_character(out);
}

void ub_text_append(char *out, size_t size, const char *format, ...)
{
    const size_t used = strlen(out);
    va_list args;
    va_start(args, format);
    vsnprintf(out + used, size - used, format, args);
    va_end(args);
    drop_cut_character(out);
}

void ub_text_quote(FILE *stream, const char *text)
{
    fputc('\'', stream);
    /* gnuplot 5.4 takes two quotes at the very beginning for an empty string. */
    if (*text == '\'')
        fputc(' ', stream);
    for (const char *c = text; *c; c++) {
        if (*c == '\'')
            fputc('\'', stream);
        fputc(*c, stream);
    }
    fputc('\'', stream);
}

bool ub_text_ends(const char *text, const char *ending)
{
    const size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && strcmp(text + length - tail, ending) == 0;
}
