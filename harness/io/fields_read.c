/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "harness/io/fields.h"
#include "harness/io/text.h"

static void go_down(struct ub_place *place, struct ub_step step)
{
    if (place->depth < sizeof place->steps / sizeof place->steps[0])
        place->steps[place->depth] = step;
    place->depth++;
}

void ub_place_key(struct ub_place *place, const char *key)
{
    go_down(place, (struct ub_step){key, 0});
}

void ub_place_index(struct ub_place *place, size_t index)
{
    go_down(place, (struct ub_step){NULL, index});
}

void ub_place_up(struct ub_place *place)
{
    place->depth--;
}

/* Hostile keys are made harmless and short. */
static void write_path(const struct ub_place *place, char *path, size_t size)
{
    *path = 0;
    for (size_t i = 0; i < place->depth && i < sizeof place->steps / sizeof place->steps[0]; i++) {
        const struct ub_step *step = &place->steps[i];
        size_t used = strlen(path);
        char key[100];
        if (step->key)
            snprintf(path + used, size - used, "%s%s", i ? "." : "",
                     ub_text_plain(key, sizeof key, step->key, 60, true));
        else
            snprintf(path + used, size - used, "[%zu]", step->index);
    }
}

bool ub_place_fail(const struct ub_place *place, const char *format, ...)
{
    char text[500], path[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    write_path(place, path, sizeof path);
    return ub_fail(place->err, UB_BAD_DATA, "%s%s%s", path, *path ? ": " : "", text);
}

static const char *kind_of(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a number with a fraction";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    case JSON_NULL:
        break;
    }
    return "null";
}

bool ub_place_expected(const struct ub_place *place, const char *wanted, const json_t *found)
{
    return ub_place_fail(place, "expected %s, found %s", wanted, kind_of(found));
}

bool ub_read_real(struct ub_place *place, const json_t *value, double lowest, double *out)
{
    if (json_is_null(value)) {
        *out = NAN;
        return true;
    }
    if (!json_is_number(value))
        return ub_place_expected(place, "a number", value);
    *out = json_number_value(value);
    char found[32], least[32];
    if (*out < lowest)
        return ub_place_fail(place, "%s is impossible: it cannot be below %s", ub_number(found, sizeof found, 12, *out),
                             ub_number(least, sizeof least, 6, lowest));
    return true;
}

static bool read_integer(struct ub_place *place, const json_t *value, long long lowest, long long highest,
                         long long absent, long long *out)
{
    if (json_is_null(value)) {
        *out = absent;
        return true;
    }
    if (!json_is_integer(value))
        return ub_place_expected(place, "an integer", value);
    *out = json_integer_value(value);
    if (*out < lowest || *out > highest)
        return ub_place_fail(place, "%lld is impossible: it must be in %lld..%lld", *out, lowest, highest);
    return true;
}

/* Only what ub_emit_u64() writes as a string: digits of a number beyond 2^63 - 1. */
static bool read_large(struct ub_place *place, const char *text, uint64_t *out)
{
    uint64_t number = 0;
    bool good = text[0] != '0' && text[0] != 0;
    for (const char *c = text; *c && good; c++) {
        good = *c >= '0' && *c <= '9' && number <= (UINT64_MAX - (uint64_t)(*c - '0')) / 10;
        number = number * 10 + (uint64_t)(*c - '0');
    }
    if (!good || number <= INT64_MAX)
        return ub_place_fail(place, "expected an integer, found a string");
    *out = number;
    return true;
}

bool ub_read_u64(struct ub_place *place, const json_t *value, uint64_t *out)
{
    if (json_is_string(value))
        return read_large(place, json_string_value(value), out);
    if (!json_is_integer(value))
        return ub_place_expected(place, "an integer", value);
    if (json_integer_value(value) < 0)
        return ub_place_fail(place, "%" JSON_INTEGER_FORMAT " is impossible: it cannot be below 0",
                             json_integer_value(value));
    *out = (uint64_t)json_integer_value(value);
    return true;
}

bool ub_read_string(struct ub_place *place, const json_t *value, char **out)
{
    if (!json_is_string(value) && !json_is_null(value))
        return ub_place_expected(place, "a string", value);
    ub_set_string(out, json_string_value(value));
    if (json_is_string(value) && !*out)
        return ub_fail(place->err, UB_INTERNAL, "out of memory");
    return true;
}

bool ub_read_word(struct ub_place *place, const json_t *value, const char *const *words, int *out)
{
    if (!json_is_string(value))
        return ub_place_expected(place, "a word", value);
    char allowed[200] = "", found[80];
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], json_string_value(value)) == 0) {
            *out = i;
            return true;
        }
        size_t used = strlen(allowed);
        snprintf(allowed + used, sizeof allowed - used, "%s%s", i ? ", " : "", words[i]);
    }
    return ub_place_fail(place, "\"%s\" is not one of %s",
                         ub_text_plain(found, sizeof found, json_string_value(value), 40, true), allowed);
}

/* Cuts at a whole character where the text is longer than the array. */
static bool read_chars(struct ub_place *place, const json_t *value, char *out, size_t size)
{
    if (!json_is_string(value))
        return ub_place_expected(place, "a string", value);
    const char *text = json_string_value(value);
    size_t used = 0;
    struct ub_char c;
    while (ub_next_char(&text, &c) && used + c.length < size) {
        memcpy(out + used, c.bytes, c.length);
        used += c.length;
    }
    out[used] = 0;
    return true;
}

static bool read_strings(struct ub_place *place, const json_t *value, char ***strings, int *count)
{
    if (!json_is_array(value))
        return ub_place_expected(place, "an array of strings", value);
    size_t size = json_array_size(value);
    *strings = calloc(size + 1, sizeof **strings);
    if (!*strings)
        return ub_fail(place->err, UB_INTERNAL, "out of memory");
    for (size_t i = 0; i < size && i < INT_MAX; i++) {
        const json_t *item = json_array_get(value, i);
        ub_place_index(place, i);
        if (!json_is_string(item))
            return ub_place_expected(place, "a string", item);
        if (!ub_read_string(place, item, &(*strings)[i]))
            return false;
        ub_place_up(place);
        *count += 1;
    }
    return true;
}

static bool read_sizes(struct ub_place *place, const json_t *value, uint32_t *sizes)
{
    if (json_is_null(value)) {
        memset(sizes, 0, 3 * sizeof *sizes);
        return true;
    }
    if (!json_is_array(value) || json_array_size(value) != 3)
        return ub_place_fail(place, "expected three sizes, [x, y, z]");
    for (size_t i = 0; i < 3; i++) {
        const json_t *item = json_array_get(value, i);
        long long size = 0;
        if (json_is_null(item))
            return ub_place_expected(place, "an integer", item);
        if (!read_integer(place, item, 1, UINT32_MAX, 0, &size))
            return false;
        sizes[i] = (uint32_t)size;
    }
    return true;
}

static bool read_bool(struct ub_place *place, const json_t *value, bool *out)
{
    if (!json_is_boolean(value))
        return ub_place_expected(place, "true or false", value);
    *out = json_is_true(value);
    return true;
}

static bool read_tristate(struct ub_place *place, const json_t *value, int *out)
{
    bool yes = false;
    *out = -1;
    if (json_is_null(value))
        return true;
    if (!read_bool(place, value, &yes))
        return false;
    *out = yes;
    return true;
}

static bool read_value(struct ub_place *place, const json_t *value, const struct ub_field *field, void *base)
{
    void *at = (char *)base + field->offset;
    void *other = (char *)base + field->other;
    long long integer = 0;
    int word = 0;
    switch (field->kind) {
    case UB_FIELD_STRING:
        return ub_read_string(place, value, at);
    case UB_FIELD_CHARS:
        return read_chars(place, value, at, field->size);
    case UB_FIELD_STRINGS:
        return read_strings(place, value, at, other);
    case UB_FIELD_REAL:
        return ub_read_real(place, value, field->lowest, at);
    case UB_FIELD_INT:
        if (!read_integer(place, value, (long long)field->lowest, INT_MAX, field->absent, &integer))
            return false;
        *(int *)at = (int)integer;
        return true;
    case UB_FIELD_LONG:
        if (!read_integer(place, value, (long long)field->lowest, LONG_MAX, field->absent, &integer))
            return false;
        *(long *)at = (long)integer;
        return true;
    case UB_FIELD_U64:
        return ub_read_u64(place, value, at);
    case UB_FIELD_MAYBE:
        *(bool *)other = !json_is_null(value);
        return json_is_null(value) || ub_read_u64(place, value, at);
    case UB_FIELD_BOOL:
        return read_bool(place, value, at);
    case UB_FIELD_TRISTATE:
        return read_tristate(place, value, at);
    case UB_FIELD_WORD:
        if (!ub_read_word(place, value, field->words, &word))
            return false;
        memcpy(at, &word, sizeof word);
        return true;
    case UB_FIELD_SIZES:
        return read_sizes(place, value, at);
    case UB_FIELD_OBJECT:
        return ub_read_members(place, value, field->fields, at);
    }
    return false;
}

bool ub_read_members(struct ub_place *place, const json_t *object, const struct ub_field *fields, void *base)
{
    if (!json_is_object(object))
        return ub_place_expected(place, "an object", object);
    for (const struct ub_field *field = fields; field->key; field++) {
        const json_t *value = json_object_get(object, field->key);
        ub_place_key(place, field->key);
        if (!value && field->required)
            return ub_place_fail(place, "is missing");
        if (field->required && json_is_null(value))
            return ub_place_fail(place, "must not be null");
        if (value && !read_value(place, value, field, base))
            return false;
        ub_place_up(place);
    }
    return true;
}
