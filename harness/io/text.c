/* SPDX-License-Identifier: MIT */
#include "harness/io/text.h"

#include <errno.h>
#include <string.h>

static const char replacement[] = "\xEF\xBF\xBD"; /* U+FFFD */

enum { REPLACEMENT = 0xFFFD };

/* By the lead byte (RFC 3629): bytes of the sequence, its payload bits, and the
 * smallest code that needs so many bytes (below it the sequence is overlong). */
static const struct lead {
    unsigned char mask, value, payload;
    unsigned length;
    uint32_t smallest;
} leads[] = {
    {0x80, 0x00, 0x7F, 1, 0},
    {0xE0, 0xC0, 0x1F, 2, 0x80},
    {0xF0, 0xE0, 0x0F, 3, 0x800},
    {0xF8, 0xF0, 0x07, 4, 0x10000},
};

static const struct lead *find_lead(unsigned char byte)
{
    for (size_t i = 0; i < sizeof leads / sizeof leads[0]; i++)
        if ((byte & leads[i].mask) == leads[i].value)
            return &leads[i];
    return NULL;
}

static bool is_character(const struct lead *lead, uint32_t code)
{
    return code >= lead->smallest && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
}

bool ub_next_char(const char **text, struct ub_char *out)
{
    const unsigned char *byte = (const unsigned char *)*text;
    if (!*byte)
        return false;
    *out = (struct ub_char){REPLACEMENT, replacement, sizeof replacement - 1};
    const struct lead *lead = find_lead(*byte);
    *text += 1;
    if (!lead)
        return true;
    uint32_t code = *byte & lead->payload;
    for (unsigned i = 1; i < lead->length; i++) {
        if (!byte[i])
            return false;
        if ((byte[i] & 0xC0) != 0x80)
            return true;
        code = code << 6 | (byte[i] & 0x3Fu);
    }
    if (!is_character(lead, code))
        return true;
    *out = (struct ub_char){code, *text - 1, lead->length};
    *text += lead->length - 1;
    return true;
}

struct range {
    uint32_t first, last;
};

static bool in_ranges(const struct range *ranges, size_t count, uint32_t code)
{
    for (size_t i = 0; i < count; i++)
        if (code >= ranges[i].first && code <= ranges[i].last)
            return true;
    return false;
}

bool ub_char_is_control(uint32_t code)
{
    static const struct range controls[] = {{0x00, 0x1F},     {0x7F, 0x9F},     {0x200E, 0x200F},
                                            {0x2028, 0x202E}, {0x2066, 0x2069}, {0xFEFF, 0xFEFF}};
    return in_ranges(controls, sizeof controls / sizeof controls[0], code);
}

/* The blocks of Unicode's EastAsianWidth.txt that are W or F, and the common
 * combining blocks; wcwidth() would depend on the locale. */
static size_t columns_of(uint32_t code)
{
    static const struct range none[] = {{0x300, 0x36F}, {0x200B, 0x200D}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}};
    static const struct range wide[] = {{0x1100, 0x115F},   {0x2E80, 0xA4CF},   {0xAC00, 0xD7A3},  {0xF900, 0xFAFF},
                                        {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F},
                                        {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
    if (code < 0x300)
        return 1;
    if (in_ranges(none, sizeof none / sizeof none[0], code))
        return 0;
    return in_ranges(wide, sizeof wide / sizeof wide[0], code) ? 2 : 1;
}

size_t ub_text_columns(const char *text)
{
    size_t columns = 0;
    struct ub_char c;
    while (ub_next_char(&text, &c))
        columns += columns_of(c.code);
    return columns;
}

char *ub_text_plain(char *out, size_t size, const char *text, size_t columns, bool utf8)
{
    static const char cut[] = "..";
    enum { CUT = sizeof cut - 1 };
    bool fits = ub_text_columns(text) <= columns;
    size_t room = fits || columns < CUT ? columns : columns - CUT;
    size_t used = 0, wide = 0;
    struct ub_char c;
    while (ub_next_char(&text, &c)) {
        if (ub_char_is_control(c.code) || (c.code > 0x7E && !utf8))
            c = (struct ub_char){'?', "?", 1};
        wide += columns_of(c.code);
        if (wide > room || used + c.length + sizeof cut > size)
            break;
        memcpy(out + used, c.bytes, c.length);
        used += c.length;
    }
    out[used] = 0;
    if (!fits && columns >= CUT && used + sizeof cut <= size)
        memcpy(out + used, cut, sizeof cut);
    return out;
}

/* A number's text has digits, signs and letters; anything else in it is the
 * locale's decimal point, which may have several bytes. */
static void use_point(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        bool radix = !strchr("0123456789+-einfa", *from);
        if (!radix)
            *to++ = *from;
        else if (to == text || to[-1] != '.')
            *to++ = '.';
    }
    *to = 0;
}

char *ub_number(char *text, size_t size, int digits, double value)
{
    snprintf(text, size, "%.*g", digits, value);
    use_point(text);
    return text;
}

char *ub_fixed(char *text, size_t size, int decimals, double value)
{
    snprintf(text, size, "%.*f", decimals, value);
    use_point(text);
    return text;
}

bool ub_stream_done(FILE *stream, struct ub_error *err)
{
    errno = 0;
    if (fflush(stream) == 0 && !ferror(stream))
        return true;
    return ub_fail(err, UB_CANNOT_WRITE, "cannot write the output: %s",
                   errno ? strerror(errno) : "an earlier write failed");
}
