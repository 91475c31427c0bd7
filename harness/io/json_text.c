/* SPDX-License-Identifier: MIT */
#include "harness/io/json_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "harness/io/text.h"

enum {
    CHUNK = 1 << 16,
    DEEPEST = 64,           /* a record nests 8 deep; the rest is for keys to come */
    LONGEST_PIECE = 4 << 20 /* a point of 30 samples has 5 kB; jansson needs up to 80 times as much */
};
static const size_t longest_text = (size_t)1 << 30;

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Without the line and column: for what concerns the file as a whole. */
static bool fail(const struct ub_json_text *text, const char *reason)
{
    char name[120];
    return ub_fail(text->err, UB_BAD_DATA, "%s: %s", ub_text_plain(name, sizeof name, text->name, 110, true), reason);
}

bool ub_json_text_fail(const struct ub_json_text *text, size_t at, const char *format, ...)
{
    char reason[300], clean[400], name[120];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    size_t line = 1, begin = 0;
    if (at > text->length)
        at = text->length;
    for (const char *found; (found = memchr(text->bytes + begin, '\n', at - begin)); line++)
        begin = (size_t)(found - text->bytes) + 1;
    return ub_fail(text->err, UB_BAD_DATA, "%s, line %zu, column %zu: %s",
                   ub_text_plain(name, sizeof name, text->name, 110, true), line, at - begin + 1,
                   ub_text_plain(clean, sizeof clean, reason, 300, true));
}

static bool fail_cut(const struct ub_json_text *text)
{
    return ub_json_text_fail(text, text->length, "the file ends in the middle of a value: it was cut off");
}

/* ---- reading the bytes --------------------------------------------------- */

/* What has been seen so far, byte by byte. */
struct guard {
    bool started, in_string, escaped;
    int depth;
};

static bool guard_bytes(struct guard *guard, const struct ub_json_text *text, size_t from)
{
    for (size_t i = from; i < text->length; i++) {
        char c = text->bytes[i];
        if (guard->in_string) {
            guard->in_string = guard->escaped || c != '"';
            guard->escaped = !guard->escaped && c == '\\';
            continue;
        }
        if (!guard->started && !is_space(c)) {
            guard->started = true;
            if (c != '{')
                return ub_json_text_fail(text, i, "this is not a JSON record: it does not begin with '{'");
        }
        guard->in_string = c == '"';
        guard->depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        if (guard->depth > DEEPEST)
            return ub_json_text_fail(text, i, "nested deeper than %d levels: this is not a record of ubench", DEEPEST);
    }
    return true;
}

/* Room for one more chunk; the size doubles. */
static bool grow(struct ub_json_text *text, size_t *capacity)
{
    if (text->length + CHUNK <= *capacity)
        return true;
    size_t wanted = *capacity ? *capacity * 2 : 4 * (size_t)CHUNK;
    char *bytes = realloc(text->bytes, wanted);
    if (!bytes)
        return ub_fail(text->err, UB_INTERNAL, "%s: out of memory after %zu bytes", text->name, text->length);
    text->bytes = bytes;
    *capacity = wanted;
    return true;
}

static bool read_all(struct ub_json_text *text, FILE *stream)
{
    struct guard guard = {0};
    size_t capacity = 0, got = 0;
    do {
        if (!grow(text, &capacity))
            return false;
        errno = 0;
        got = fread(text->bytes + text->length, 1, CHUNK, stream);
        if (ferror(stream))
            return ub_fail(text->err, UB_BAD_DATA, "%s: cannot read: %s", text->name, strerror(errno ? errno : EIO));
        size_t from = text->length;
        text->length += got;
        if (text->length > longest_text)
            return fail(text, "longer than 1 GiB: this is not a record of ubench");
        if (!guard_bytes(&guard, text, from))
            return false;
    } while (got > 0);
    if (!guard.started)
        return fail(text, "the file is empty");
    return true;
}

bool ub_json_text_read(struct ub_json_text *text, FILE *stream, const char *name, struct ub_error *err)
{
    *text = (struct ub_json_text){.name = name, .err = err};
    return read_all(text, stream);
}

void ub_json_text_free(struct ub_json_text *text)
{
    free(text->bytes);
    *text = (struct ub_json_text){0};
}

/* ---- walking ------------------------------------------------------------- */

char ub_json_text_peek(struct ub_json_text *text)
{
    while (text->at < text->length && is_space(text->bytes[text->at]))
        text->at++;
    return text->at < text->length ? text->bytes[text->at] : '\0';
}

/* One byte for a message. */
static const char *shown(char c, char *text, size_t size)
{
    bool printable = c >= 0x20 && c < 0x7F;
    snprintf(text, size, printable ? "'%c'" : "byte 0x%02x", (unsigned char)c);
    return text;
}

static bool expect(struct ub_json_text *text, char wanted)
{
    char found = ub_json_text_peek(text), byte[16];
    if (text->at >= text->length)
        return fail_cut(text);
    if (found != wanted)
        return ub_json_text_fail(text, text->at, "expected '%c', found %s", wanted, shown(found, byte, sizeof byte));
    text->at++;
    return true;
}

/* Behind the string that begins here, or behind the last byte. */
static size_t string_end(const struct ub_json_text *text, size_t at)
{
    for (at++; at < text->length && text->bytes[at] != '"'; at++)
        if (text->bytes[at] == '\\')
            at++;
    return at + 1;
}

static size_t word_end(const struct ub_json_text *text, size_t at)
{
    while (at < text->length && !is_space(text->bytes[at]) && !strchr(",:{}[]\"", text->bytes[at]))
        at++;
    return at;
}

/* The first byte from `at` on that begins or ends a string, an object or an array. A
 * large record is walked more than once, and nearly all of its bytes are others. */
static size_t next_mark(const struct ub_json_text *text, size_t at)
{
    static const bool marks[256] = {['"'] = true, ['{'] = true, ['}'] = true, ['['] = true, [']'] = true};
    while (at < text->length && !marks[(unsigned char)text->bytes[at]])
        at++;
    return at;
}

/* Behind the value that begins here; beyond the last byte where it is cut off. */
static size_t value_end(const struct ub_json_text *text, size_t at)
{
    size_t depth = 0;
    do {
        at = next_mark(text, at);
        if (at >= text->length)
            return text->length + 1;
        const char c = text->bytes[at];
        if (c == '"') {
            at = string_end(text, at);
        } else {
            depth += c == '{' || c == '[';
            depth -= c == '}' || c == ']';
            at++;
        }
    } while (depth > 0);
    return at;
}

static bool find_end(const struct ub_json_text *text, size_t *end)
{
    char first = text->bytes[text->at], byte[16];
    bool bracketed = first == '{' || first == '[' || first == '"';
    *end = bracketed ? value_end(text, text->at) : word_end(text, text->at);
    if (*end > text->length)
        return fail_cut(text);
    if (*end == text->at)
        return ub_json_text_fail(text, text->at, "expected a value, found %s", shown(first, byte, sizeof byte));
    return true;
}

bool ub_json_text_skip(struct ub_json_text *text)
{
    size_t end = 0;
    ub_json_text_peek(text);
    if (text->at >= text->length)
        return fail_cut(text);
    if (!find_end(text, &end))
        return false;
    text->at = end;
    return true;
}

json_t *ub_json_text_parse(struct ub_json_text *text)
{
    json_error_t error;
    ub_json_text_peek(text);
    size_t begin = text->at;
    if (!ub_json_text_skip(text))
        return NULL;
    size_t length = text->at - begin;
    if (length > LONGEST_PIECE) {
        ub_json_text_fail(text, begin, "a value of %zu bytes: this is not a record of ubench", length);
        return NULL;
    }
    json_t *value = json_loadb(text->bytes + begin, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (!value)
        ub_json_text_fail(text, begin + (error.position > 0 ? (size_t)error.position - 1 : 0), "%s", error.text);
    return value;
}

/* Parses a key and its colon; *keys holds it, so that a second one is found. */
static const char *take_key(struct ub_json_text *text, json_t *keys)
{
    if (ub_json_text_peek(text) != '"') {
        if (expect(text, '"'))
            text->at--;
        return NULL;
    }
    size_t begin = text->at;
    json_t *value = ub_json_text_parse(text);
    if (!value)
        return NULL;
    const char *key = json_string_value(value);
    bool known = json_object_get(keys, key) != NULL;
    bool kept = !known && json_object_set(keys, key, value) == 0;
    if (known)
        ub_json_text_fail(text, begin, "the key \"%s\" stands twice in one object", key);
    json_t *held = json_object_get(keys, key);
    json_decref(value);
    if (!kept || !expect(text, ':'))
        return NULL;
    return json_string_value(held);
}

static bool walk_members(struct ub_json_text *text, json_t *keys, ub_json_member member, void *user)
{
    bool more = ub_json_text_peek(text) != '}';
    while (more) {
        const char *key = take_key(text, keys);
        if (!key)
            return false;
        ub_json_text_peek(text);
        if (!member(text, key, user))
            return false;
        more = ub_json_text_peek(text) == ',';
        text->at += more;
    }
    return expect(text, '}');
}

bool ub_json_text_object(struct ub_json_text *text, ub_json_member member, void *user)
{
    if (!expect(text, '{'))
        return false;
    json_t *keys = json_object();
    if (!keys)
        return ub_fail(text->err, UB_INTERNAL, "out of memory");
    bool good = walk_members(text, keys, member, user);
    json_decref(keys);
    return good;
}

bool ub_json_text_array(struct ub_json_text *text, ub_json_item item, void *user)
{
    if (!expect(text, '['))
        return false;
    bool more = ub_json_text_peek(text) != ']';
    for (size_t index = 0; more; index++) {
        ub_json_text_peek(text);
        if (!item(text, index, user))
            return false;
        more = ub_json_text_peek(text) == ',';
        text->at += more;
    }
    return expect(text, ']');
}

bool ub_json_text_end(struct ub_json_text *text)
{
    ub_json_text_peek(text);
    if (text->at < text->length)
        return ub_json_text_fail(text, text->at,
                                 "more text behind the record (a journal, NAME.part.jsonl, is not one)");
    return true;
}
