/* SPDX-License-Identifier: MIT
 *
 * Ranges as text. Whatever stands on the command line, the answer is a list that
 * lies inside the limits of its axis, or an error that shows the place. Sizes are
 * checked before memory is taken: 0..1000000000000000000 costs nothing. */
#include "harness/engine/axis.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    VALUES_LIMIT = 1000000, /* of one axis; a plan is far smaller, see UB_PLAN_LIMIT */
    SHOWN_COLUMNS = 60,     /* how much of a long text an error shows */
    WORD_LIMIT = 63         /* longer words are never a misspelling of ours */
};

/* A piece of the text; not terminated. */
struct token {
    const char *text;
    size_t length;
};

struct parser {
    const struct ub_axis *axis;
    const char *spec;
    struct ub_values *out;
    struct ub_error *err;
};

struct suffix {
    const char *name;
    uint64_t factor;
};

static const struct suffix suffixes[] = {
    {"", 1},        {"Ki", 1ull << 10}, {"Mi", 1ull << 20},   {"Gi", 1ull << 30},      {"Ti", 1ull << 40},
    {"k", 1000ull}, {"M", 1000000ull},  {"G", 1000000000ull}, {"T", 1000000000000ull},
};

/* ---- errors ---------------------------------------------------------------- */

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* The part of the text round `at`, with control characters shown as '?', and the
 * column of `at` in it. */
static void window(const char *spec, const char *at, char *text, size_t size, int *column)
{
    const char *start = spec;
    if (at - spec > SHOWN_COLUMNS / 2)
        start = at - SHOWN_COLUMNS / 2;
    while (is_continuation(*start))
        start++;
    const size_t limit = size - 1 < SHOWN_COLUMNS ? size - 1 : SHOWN_COLUMNS;
    size_t length = 0;
    *column = 0;
    for (const char *c = start; *c && length < limit; c++) {
        if (c < at && !is_continuation(*c))
            ++*column;
        text[length++] = iscntrl((unsigned char)*c) ? '?' : *c;
    }
    text[length] = 0;
}

static void append(char *text, size_t size, const char *format, ...) UB_PRINTF(3, 4);

static void append(char *text, size_t size, const char *format, ...)
{
    const size_t length = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + length, size - length, format, args);
    va_end(args);
}

/* "--op takes load, store, copy or all". */
static void describe_allowed(const struct ub_axis *axis, char *text, size_t size)
{
    snprintf(text, size, "--%s takes ", axis->name);
    if (axis->kind == UB_AXIS_WORD) {
        for (size_t i = 0; axis->words[i]; i++)
            append(text, size, "%s%s", i ? ", " : "", axis->words[i]);
        append(text, size, " or all");
        return;
    }
    if (axis->zero_word)
        append(text, size, "%s or ", axis->zero_word);
    append(text, size, "%" PRId64 "..%" PRId64 " (%s): A, A,B,C, LO..HI, LO..HI:STEP or LO..HI*FACTOR", axis->minimum,
           axis->maximum, axis->unit);
}

/* Fails: what is wrong, the text with a caret under `at`, what is allowed. */
static bool complain(const struct parser *parser, const char *at, const char *format, ...) UB_PRINTF(3, 4);

static bool complain(const struct parser *parser, const char *at, const char *format, ...)
{
    char reason[256], shown[SHOWN_COLUMNS + 1], head[SHOWN_COLUMNS + 1], allowed[384];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    int column, unused;
    window(parser->spec, at, shown, sizeof shown, &column);
    window(parser->spec, parser->spec, head, sizeof head, &unused);
    describe_allowed(parser->axis, allowed, sizeof allowed);
    return ub_fail(parser->err, UB_USAGE, "--%s %s: %s\n  %s\n  %*s\n  %s (see: ubench help ranges)",
                   parser->axis->name, head, reason, shown, column + 1, "^", allowed);
}

/* A token for a message, cut where it is long. */
static int shown_length(struct token token)
{
    return token.length > 40 ? 40 : (int)token.length;
}

static bool equals(struct token token, const char *word)
{
    return strlen(word) == token.length && memcmp(token.text, word, token.length) == 0;
}

/* Fails with the nearest of `candidates` where one is near. */
static bool complain_word(const struct parser *parser, struct token token, const char *what, size_t count,
                          const char *const *candidates)
{
    char word[WORD_LIMIT + 2];
    snprintf(word, sizeof word, "%.*s", token.length < sizeof word ? (int)token.length : (int)sizeof word - 1,
             token.text);
    const char *near = ub_suggest(word, count, candidates);
    if (near)
        return complain(parser, token.text, "'%.*s' %s; did you mean %s?", shown_length(token), token.text, what, near);
    return complain(parser, token.text, "'%.*s' %s", shown_length(token), token.text, what);
}

/* ---- values ---------------------------------------------------------------- */

static bool multiply(uint64_t a, uint64_t b, uint64_t *product)
{
    if (b != 0 && a > UINT64_MAX / b)
        return false;
    *product = a * b;
    return true;
}

/* Decimal digits; false: beyond 64 bits. */
static bool read_digits(const char *text, size_t length, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < length; i++) {
        const uint64_t digit = (uint64_t)(text[i] - '0');
        if (!multiply(*value, 10, value) || *value > UINT64_MAX - digit)
            return false;
        *value += digit;
    }
    return true;
}

static size_t digits_in(struct token token)
{
    size_t count = 0;
    while (count < token.length && isdigit((unsigned char)token.text[count]))
        count++;
    return count;
}

static bool complain_limit(const struct parser *parser, struct token token, bool above)
{
    const struct ub_axis *axis = parser->axis;
    const bool zero = axis->zero_word && equals(token, "0");
    return complain(parser, token.text, "%.*s is %s this axis's limit of %" PRId64 "%s%s", shown_length(token),
                    token.text, above ? "above" : "below", above ? axis->maximum : axis->minimum,
                    zero ? "; write " : "", zero ? axis->zero_word : "");
}

/* What may be meant by "1e9": the number in digits, where it is a whole one. */
static bool complain_exponent(const struct parser *parser, struct token token)
{
    char text[48];
    snprintf(text, sizeof text, "%.*s", shown_length(token), token.text);
    char *end;
    const double value = strtod(text, &end);
    if (*end == 0 && isfinite(value) && value == nearbyint(value) && fabs(value) < 0x1p63)
        return complain(parser, token.text, "an exponent is not understood; write %.0f", value);
    return complain(parser, token.text, "an exponent is not understood; write a whole number");
}

/* "64K" may mean 65536 or 64000: says how to write each. */
static bool complain_suffix(const struct parser *parser, struct token token, size_t digits)
{
    const char *rest = token.text + digits;
    static const char letters[] = "kmgt";
    const char *letter = memchr(letters, tolower((unsigned char)*rest), sizeof letters - 1);
    const size_t index = letter ? (size_t)(letter - letters) : 0;
    const struct suffix *binary = &suffixes[1 + index], *decimal = &suffixes[5 + index];
    uint64_t value, in_binary, in_decimal;
    if (!letter || token.length - digits > 3 || !read_digits(token.text, digits, &value) ||
        !multiply(value, binary->factor, &in_binary) || !multiply(value, decimal->factor, &in_decimal))
        return complain(parser, token.text, "'%.*s' is not a whole number", shown_length(token), token.text);
    if (token.length - digits > 1 && tolower((unsigned char)rest[1]) == 'i')
        return complain(parser, rest, "write %" PRIu64 "%s (%" PRIu64 ")", value, binary->name, in_binary);
    return complain(parser, rest, "write %" PRIu64 "%s (%" PRIu64 ") or %" PRIu64 "%s (%" PRIu64 ")", value,
                    binary->name, in_binary, value, decimal->name, in_decimal);
}

/* Says why a token is no whole number. `digits`: how many it begins with. */
static bool complain_number(const struct parser *parser, struct token token, size_t digits)
{
    const struct token rest = {token.text + digits, token.length - digits};
    if (digits == 0) {
        const char *const words[] = {"min", "max", parser->axis->zero_word};
        return complain_word(parser, token, "is not a whole number", parser->axis->zero_word ? 3 : 2, words);
    }
    size_t fraction = rest.text[0] == '.' ? 1 : 0;
    fraction += digits_in((struct token){rest.text + fraction, rest.length - fraction});
    if (fraction < rest.length && tolower((unsigned char)rest.text[fraction]) == 'e')
        return complain_exponent(parser, token);
    return complain_suffix(parser, token, digits);
}

/* A number with its suffix, without the axis's limits. `*fits` is false where it lies
 * beyond 63 bits; then *value is not set. */
static bool read_number(const struct parser *parser, struct token token, int64_t *value, bool *fits)
{
    const size_t sign = token.length > 1 && token.text[0] == '-' ? 1 : 0;
    const struct token unsigned_part = {token.text + sign, token.length - sign};
    const size_t digits = digits_in(unsigned_part);
    if (digits == 0)
        return complain_number(parser, token, 0);
    const struct token rest = {unsigned_part.text + digits, unsigned_part.length - digits};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (!equals(rest, suffixes[i].name))
            continue;
        uint64_t magnitude;
        *fits = read_digits(unsigned_part.text, digits, &magnitude) &&
                multiply(magnitude, suffixes[i].factor, &magnitude) && magnitude <= INT64_MAX;
        if (*fits)
            *value = sign ? -(int64_t)magnitude : (int64_t)magnitude;
        return true;
    }
    return complain_number(parser, unsigned_part, digits);
}

/* One value of an integer axis: inside its limits. */
static bool read_value(const struct parser *parser, struct token token, int64_t *value)
{
    const struct ub_axis *axis = parser->axis;
    if (equals(token, "min") || equals(token, "max")) {
        *value = equals(token, "min") ? axis->minimum : axis->maximum;
        return true;
    }
    if (equals(token, "all"))
        return complain(parser, token.text, "'all' is for axes of words; write min..max");
    bool fits;
    if (!read_number(parser, token, value, &fits))
        return false;
    const bool negative = token.text[0] == '-';
    if (fits ? *value > axis->maximum : !negative)
        return complain_limit(parser, token, true);
    if (fits ? *value < axis->minimum : negative)
        return complain_limit(parser, token, false);
    return true;
}

/* ---- ranges ---------------------------------------------------------------- */

/* The room that a list of so many values has: the next power of two. */
static size_t capacity_of(size_t count)
{
    size_t capacity = count ? 1 : 0;
    while (capacity < count)
        capacity *= 2;
    return capacity;
}

static bool add_values(const struct parser *parser, const char *at, uint64_t count, int64_t **where)
{
    struct ub_values *out = parser->out;
    if (count > VALUES_LIMIT - out->count)
        return complain(parser, at, "more than %d values; take a larger step", VALUES_LIMIT);
    const size_t capacity = capacity_of(out->count + (size_t)count);
    if (capacity > capacity_of(out->count)) {
        int64_t *grown = realloc(out->values, capacity * sizeof *grown);
        if (!grown)
            return ub_fail(parser->err, UB_INTERNAL, "out of memory");
        out->values = grown;
    }
    *where = out->values + out->count;
    out->count += (size_t)count;
    return true;
}

static bool add_value(const struct parser *parser, const char *at, int64_t value)
{
    int64_t *where;
    if (!add_values(parser, at, 1, &where))
        return false;
    *where = value;
    return true;
}

/* first, first +- step, ... up to and with `last`. The distance is taken in 64 bits
 * without sign: it never overflows. */
static bool add_steps(const struct parser *parser, const char *at, int64_t first, int64_t last, uint64_t step)
{
    const bool up = last >= first;
    const uint64_t distance = up ? (uint64_t)last - (uint64_t)first : (uint64_t)first - (uint64_t)last;
    const uint64_t steps = distance / step;
    if (steps >= VALUES_LIMIT)
        return complain(parser, at, "more than %d values; take a larger step", VALUES_LIMIT);
    int64_t *where;
    if (!add_values(parser, at, steps + 1, &where))
        return false;
    for (uint64_t i = 0; i <= steps; i++)
        where[i] = (int64_t)(up ? (uint64_t)first + i * step : (uint64_t)first - i * step);
    return true;
}

/* first, first * factor, ... up to and with `last`; downwards it divides. */
static bool add_factors(const struct parser *parser, const char *at, int64_t first, int64_t last, int64_t factor)
{
    if (first < 1 || last < 1)
        return complain(parser, at, "a factor needs a range that begins at 1 or more");
    if (first <= last) {
        for (int64_t value = first;; value *= factor) {
            if (!add_value(parser, at, value))
                return false;
            if (value > last / factor)
                return true;
        }
    }
    for (int64_t value = first;; value /= factor) {
        if (!add_value(parser, at, value))
            return false;
        if (value / factor < last)
            return true;
        if (value % factor != 0)
            return complain(parser, at, "%" PRId64 " cannot be divided by %" PRId64 "; write the lower end first",
                            value, factor);
    }
}

/* A value ends at a comma, a step or "..". */
static struct token next_token(const char *text)
{
    size_t length = 0;
    while (text[length] && !strchr(",:*", text[length]) && !(text[length] == '.' && text[length + 1] == '.'))
        length++;
    return (struct token){text, length};
}

/* ":STEP", "*FACTOR" or ":xFACTOR" at *at; moves behind it. */
static bool read_step(const struct parser *parser, const char **at, int64_t *step, bool *factor)
{
    *factor = **at == '*' || (*at)[1] == 'x';
    const char *start = *at + (**at == ':' && *factor ? 2 : 1);
    const struct token token = next_token(start);
    const char *const name = *factor ? "factor" : "step";
    if (token.length == 0)
        return complain(parser, start, "the %s is missing", name);
    bool fits;
    if (!read_number(parser, token, step, &fits))
        return false;
    if (!fits)
        return complain(parser, start, "the %s is too large", name);
    if (*factor && *step < 2)
        return complain(parser, start, "the factor must be 2 or more");
    if (*step == 0)
        return complain(parser, start, "the step must not be 0");
    if (*step < 0)
        return complain(parser, start, "the step must be positive (HI..LO counts down)");
    *at = token.text + token.length;
    return true;
}

/* What stands behind an item must be a comma or the end. */
static bool end_item(const struct parser *parser, const char *at)
{
    if (*at == 0 || *at == ',')
        return true;
    if (*at == '.')
        return complain(parser, at, "a range has two ends");
    return complain(parser, at, "a range has one step");
}

static bool read_range(const struct parser *parser, const char *start, int64_t first, const char **at)
{
    *at += 2; /* ".." */
    const struct token token = next_token(*at);
    int64_t last, step = 1;
    if (token.length == 0)
        return complain(parser, *at, "the upper end is missing");
    if (parser->axis->zero_word && equals(token, parser->axis->zero_word))
        return complain(parser, *at, "%s has no place in a range", parser->axis->zero_word);
    if (!read_value(parser, token, &last))
        return false;
    *at += token.length;
    bool factor = false;
    if ((**at == ':' || **at == '*') && !read_step(parser, at, &step, &factor))
        return false;
    if (!end_item(parser, *at))
        return false;
    if (factor)
        return add_factors(parser, start, first, last, step);
    return add_steps(parser, start, first, last, (uint64_t)step);
}

/* One item of an integer axis; moves *at behind it. */
static bool read_item(const struct parser *parser, const char **at)
{
    const char *start = *at;
    const struct token token = next_token(start);
    if (token.length == 0)
        return complain(parser, start, *start == '.' ? "the lower end is missing" : "a value is missing");
    const bool zero_word = parser->axis->zero_word && equals(token, parser->axis->zero_word);
    int64_t first = 0;
    if (!zero_word && !read_value(parser, token, &first))
        return false;
    *at += token.length;
    if (**at == '.' && zero_word)
        return complain(parser, start, "%s has no place in a range", parser->axis->zero_word);
    if (**at == '.')
        return read_range(parser, start, first, at);
    if (**at == ':' || **at == '*')
        return complain(parser, *at, "a step needs a range LO..HI before it");
    return add_value(parser, start, first);
}

/* ---- words ----------------------------------------------------------------- */

static size_t word_count(const struct ub_axis *axis)
{
    size_t count = 0;
    while (axis->words[count])
        count++;
    return count;
}

/* One item of an axis of words; moves *at behind it. */
static bool read_word(const struct parser *parser, const char **at)
{
    const struct token token = {*at, strcspn(*at, ",")};
    const size_t count = word_count(parser->axis);
    *at += token.length;
    if (token.length == 0)
        return complain(parser, token.text, "a word is missing");
    if (equals(token, "all"))
        return add_steps(parser, token.text, 0, (int64_t)count - 1, 1);
    for (size_t i = 0; i < count; i++)
        if (equals(token, parser->axis->words[i]))
            return add_value(parser, token.text, (int64_t)i);
    if (next_token(token.text).length < token.length)
        return complain(parser, token.text, "words have no ranges; write A,B,C or all");
    return complain_word(parser, token, "is not a value of this axis", count, parser->axis->words);
}

/* ---- duplicates ------------------------------------------------------------ */

struct placed {
    int64_t value;
    size_t place;
};

static int by_value(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static int by_place(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Keeps the first of equal values, in the order of the text. */
static bool remove_duplicates(struct ub_values *values, struct ub_error *err)
{
    struct placed *sorted = malloc(values->count * sizeof *sorted);
    if (!sorted)
        return ub_fail(err, UB_INTERNAL, "out of memory");
    for (size_t i = 0; i < values->count; i++)
        sorted[i] = (struct placed){values->values[i], i};
    qsort(sorted, values->count, sizeof *sorted, by_value);
    size_t kept = 1;
    for (size_t i = 1; i < values->count; i++)
        if (sorted[i].value != sorted[kept - 1].value)
            sorted[kept++] = sorted[i];
    qsort(sorted, kept, sizeof *sorted, by_place);
    for (size_t i = 0; i < kept; i++)
        values->values[i] = sorted[i].value;
    values->count = kept;
    free(sorted);
    return true;
}

/* ---- public ---------------------------------------------------------------- */

bool ub_axis_parse(const struct ub_axis *axis, const char *spec, struct ub_values *out, struct ub_error *err)
{
    *out = (struct ub_values){0};
    const struct parser parser = {axis, spec, out, err};
    bool (*const read)(const struct parser *, const char **) = axis->kind == UB_AXIS_WORD ? read_word : read_item;
    const char *at = spec;
    bool ok = read(&parser, &at);
    while (ok && *at == ',') {
        at++;
        ok = read(&parser, &at);
    }
    if (ok)
        ok = remove_duplicates(out, err);
    if (!ok)
        ub_values_free(out);
    return ok;
}

void ub_values_free(struct ub_values *values)
{
    free(values->values);
    *values = (struct ub_values){0};
}

const char *ub_axis_text(const struct ub_axis *axis, int64_t value, char *text, size_t size)
{
    if (axis->kind == UB_AXIS_WORD && value >= 0 && (uint64_t)value < word_count(axis))
        snprintf(text, size, "%s", axis->words[value]);
    else if (axis->kind == UB_AXIS_INTEGER && value == 0 && axis->zero_word)
        snprintf(text, size, "%s", axis->zero_word);
    else
        snprintf(text, size, "%" PRId64, value);
    return text;
}

int ub_axis_index(const struct ub_micro *micro, const char *name)
{
    for (size_t i = 0; i < micro->axis_count; i++)
        if (strcmp(micro->axes[i].name, name) == 0)
            return (int)i;
    return -1;
}

static size_t smallest(size_t a, size_t b, size_t c)
{
    const size_t least = a < b ? a : b;
    return least < c ? least : c;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Edits (insert, drop, replace, swap two neighbours) from a to b, letter case aside. */
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][WORD_LIMIT + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        last[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            const size_t replaced = last[j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0 : 1);
            row[j] = smallest(replaced, last[j] + 1, row[j - 1] + 1);
            const bool swapped = i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]);
            if (swapped && before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
        size_t *const free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[b_length];
}

/* One edit for each three letters begun; the first letters of a longer word ("coal")
 * count as near too. */
const char *ub_suggest(const char *word, size_t count, const char *const *candidates)
{
    const size_t length = strlen(word);
    if (length == 0 || length > WORD_LIMIT)
        return NULL;
    const char *best = NULL;
    size_t best_distance = (length + 2) / 3 + 1;
    for (size_t i = 0; i < count; i++) {
        const size_t other = strlen(candidates[i]);
        if (other > WORD_LIMIT)
            continue;
        size_t distance = edit_distance(word, length, candidates[i], other);
        if (length >= 3 && strncmp(word, candidates[i], length) == 0)
            distance = 1;
        if (distance < best_distance && distance < other) {
            best = candidates[i];
            best_distance = distance;
        }
    }
    return best;
}
