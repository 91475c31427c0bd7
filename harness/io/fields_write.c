/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "harness/io/fields.h"
#include "harness/io/text.h"

void ub_emit(const struct ub_emit *emit, const char *text)
{
    fputs(text, emit->stream);
}

/* The escaped form of a character, or NULL where it stands for itself. '<' is
 * escaped so that a record can stand in a <script> of a page, whatever a string says. */
static const char *escape(uint32_t code, char *text, size_t size)
{
    static const char plain[] = "\"\\\b\f\n\r\t", escaped[] = "\"\\bfnrt";
    if (code > 0x7F || (code >= 0x20 && !strchr("\"\\<\x7F", (int)code)))
        return NULL;
    const char *found = strchr(plain, (int)code);
    if (found)
        snprintf(text, size, "\\%c", escaped[found - plain]);
    else
        snprintf(text, size, "\\u%04x", (unsigned)code);
    return text;
}

/* Writes what lies inside of the quotes: long runs as they are. */
static void emit_characters(const struct ub_emit *emit, const char *text, size_t length)
{
    const char *end = text + length, *run = text, *at = text;
    struct ub_char c;
    for (; text < end && ub_next_char(&text, &c); at = text) {
        char escaped[8];
        const char *instead = escape(c.code, escaped, sizeof escaped);
        if (!instead && c.bytes == at)
            continue;
        fwrite(run, 1, (size_t)(at - run), emit->stream);
        if (instead)
            ub_emit(emit, instead);
        else
            fwrite(c.bytes, 1, c.length, emit->stream);
        run = text;
    }
    fwrite(run, 1, (size_t)(at - run), emit->stream);
}

void ub_emit_string(const struct ub_emit *emit, const char *text)
{
    if (!text) {
        ub_emit(emit, "null");
        return;
    }
    putc_unlocked('"', emit->stream);
    emit_characters(emit, text, strlen(text));
    putc_unlocked('"', emit->stream);
}

/* Behind the last '/' of text[0..length), if there is one. */
static const char *base_name(const char *text, size_t length)
{
    const char *base = text;
    for (size_t i = 0; i < length; i++)
        if (text[i] == '/')
            base = text + i + 1;
    return base;
}

/* Writes `text` with only the last part of each path. `separators` are the
 * characters at which a path begins and ends; with `absolute`, only words that
 * begin with '/' or '~' are paths ("B/s" and "sectors/request" are not). */
static void emit_without_paths(const struct ub_emit *emit, const char *text, const char *separators, bool absolute)
{
    size_t uuid = emit->uuid ? strlen(emit->uuid) : 0;
    while (*text) {
        size_t length = strcspn(text, separators);
        const char *from = text;
        if (!absolute || *text == '/' || *text == '~')
            from = base_name(text, length);
        const char *found = uuid ? strstr(from, emit->uuid) : NULL;
        if (found && found + uuid <= text + length) {
            emit_characters(emit, from, (size_t)(found - from));
            ub_emit(emit, "(uuid)");
            text = found + uuid;
            continue;
        }
        emit_characters(emit, from, (size_t)(text + length - from));
        text += length;
        size_t between = strspn(text, separators);
        emit_characters(emit, text, between);
        text += between;
    }
}

static void emit_free_text(const struct ub_emit *emit, const char *text)
{
    if (!emit->redact || !text) {
        ub_emit_string(emit, text);
        return;
    }
    putc_unlocked('"', emit->stream);
    emit_without_paths(emit, text, " \t\n\"'`()[]{}<>,;:=|", true);
    putc_unlocked('"', emit->stream);
}

static void emit_argument(const struct ub_emit *emit, const char *text)
{
    if (!emit->redact || !text) {
        ub_emit_string(emit, text);
        return;
    }
    putc_unlocked('"', emit->stream);
    emit_without_paths(emit, text, "=:,", false);
    putc_unlocked('"', emit->stream);
}

/* The text must read back as a number that is written the same way again. So an
 * integer is written as one, and from 1e11 up, where twelve digits leave no
 * fraction, the nearest one is. */
void ub_emit_real(const struct ub_emit *emit, double value)
{
    char text[40];
    double whole = nearbyint(value);
    bool as_integer = fabs(whole) < 1e15 && (whole == value || (emit->digits < 17 && fabs(whole) >= 1e11));
    if (!isfinite(value))
        ub_emit(emit, "null");
    else if (as_integer)
        fprintf(emit->stream, "%" PRId64, (int64_t)whole);
    else
        ub_emit(emit, ub_number(text, sizeof text, emit->digits, value));
}

/* jansson and most readers have no integer beyond 2^63 - 1: such a one (a seed) is
 * written as a string of its digits. */
void ub_emit_u64(const struct ub_emit *emit, uint64_t value)
{
    fprintf(emit->stream, value <= INT64_MAX ? "%" PRIu64 : "\"%" PRIu64 "\"", value);
}

void ub_emit_key(const struct ub_emit *emit, const char *key)
{
    ub_emit_string(emit, key);
    ub_emit(emit, ": ");
}

static void emit_long(const struct ub_emit *emit, long value, long absent)
{
    if (value == absent)
        ub_emit(emit, "null");
    else
        fprintf(emit->stream, "%ld", value);
}

static void emit_sizes(const struct ub_emit *emit, const uint32_t *sizes)
{
    if (sizes[0] == 0)
        ub_emit(emit, "null");
    else
        fprintf(emit->stream, "[%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]", sizes[0], sizes[1], sizes[2]);
}

static void emit_strings(const struct ub_emit *emit, const struct ub_field *field, char *const *strings, int count)
{
    ub_emit(emit, "[");
    for (int i = 0; i < count; i++) {
        ub_emit(emit, i ? ", " : "");
        if (field->command)
            emit_argument(emit, strings[i]);
        else
            ub_emit_string(emit, strings[i]);
    }
    ub_emit(emit, "]");
}

static void emit_text(const struct ub_emit *emit, const struct ub_field *field, const char *text)
{
    if (field->free)
        emit_free_text(emit, text);
    else
        ub_emit_string(emit, text);
}

/* Enums are read through int: they have its size. */
_Static_assert(sizeof(enum ub_point_status) == sizeof(int), "an enum is as wide as an int");

static void emit_value(const struct ub_emit *emit, const struct ub_field *field, const void *base)
{
    static const char *const tristate[] = {"null", "false", "true"};
    const void *at = (const char *)base + field->offset;
    const void *other = (const char *)base + field->other;
    int number = 0;
    switch (field->kind) {
    case UB_FIELD_STRING:
        emit_text(emit, field, *(char *const *)at);
        break;
    case UB_FIELD_CHARS:
        emit_text(emit, field, at);
        break;
    case UB_FIELD_STRINGS:
        emit_strings(emit, field, *(char *const *const *)at, *(const int *)other);
        break;
    case UB_FIELD_REAL:
        ub_emit_real(emit, *(const double *)at);
        break;
    case UB_FIELD_INT:
        emit_long(emit, *(const int *)at, field->absent);
        break;
    case UB_FIELD_LONG:
        emit_long(emit, *(const long *)at, field->absent);
        break;
    case UB_FIELD_U64:
        ub_emit_u64(emit, *(const uint64_t *)at);
        break;
    case UB_FIELD_MAYBE:
        if (*(const bool *)other)
            ub_emit_u64(emit, *(const uint64_t *)at);
        else
            ub_emit(emit, "null");
        break;
    case UB_FIELD_BOOL:
        ub_emit(emit, *(const bool *)at ? "true" : "false");
        break;
    case UB_FIELD_TRISTATE:
        number = *(const int *)at;
        ub_emit(emit, tristate[number < 0 ? 0 : number == 0 ? 1 : 2]);
        break;
    case UB_FIELD_WORD:
        memcpy(&number, at, sizeof number);
        ub_emit_string(emit, field->words[number]);
        break;
    case UB_FIELD_SIZES:
        emit_sizes(emit, at);
        break;
    case UB_FIELD_OBJECT:
        ub_emit(emit, "{");
        ub_emit_members(emit, field->fields, at, ", ");
        ub_emit(emit, "}");
        break;
    }
}

static bool is_absent(const struct ub_field *field, const void *base)
{
    const void *at = (const char *)base + field->offset;
    return field->kind == UB_FIELD_STRING ? !*(char *const *)at : *(const int *)at == field->absent;
}

void ub_emit_members(const struct ub_emit *emit, const struct ub_field *fields, const void *base, const char *separator)
{
    for (const struct ub_field *field = fields; field->key; field++) {
        if (field->late && is_absent(field, base))
            continue;
        ub_emit(emit, field == fields ? "" : separator);
        ub_emit_key(emit, field->key);
        if (field->secret && emit->redact)
            ub_emit(emit, "null");
        else
            emit_value(emit, field, base);
    }
}
