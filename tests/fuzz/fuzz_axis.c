/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a range: either values inside the limits of the axis, none twice, that
 * read back as themselves, or a usage error with a text. Built with a fuzzer
 * (clang -fsanitize=fuzzer -DUB_FUZZER) it takes its inputs from there; built alone it
 * changes known texts by a fixed sequence of random edits: fuzz_axis [ROUNDS]. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/engine/axis.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const words[] = {"load", "store", "copy", "32x8", NULL};
static const struct ub_axis axes[] = {
    {.name = "a", .unit = "x", .help = "h", .minimum = 1, .maximum = 1024, .zero_word = "auto", .initial = "1"},
    {.name = "b", .unit = "x", .help = "h", .minimum = INT64_MIN, .maximum = INT64_MAX, .initial = "0"},
    {.name = "c", .unit = "x", .help = "h", .minimum = -5, .maximum = 5, .initial = "0"},
    {.name = "d", .unit = "", .help = "h", .kind = UB_AXIS_WORD, .words = words, .initial = "load"},
};

static void require(bool held, const char *what, const char *spec)
{
    if (held)
        return;
    fprintf(stderr, "%s: '%s'\n", what, spec);
    abort();
}

static bool is_allowed(const struct ub_axis *axis, int64_t value)
{
    if (axis->kind == UB_AXIS_WORD)
        return value >= 0 && value < 4;
    return (value >= axis->minimum && value <= axis->maximum) || (value == 0 && axis->zero_word);
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void check_round_trip(const struct ub_axis *axis, int64_t value, const char *spec)
{
    char text[64];
    struct ub_values again;
    if (value == INT64_MIN)
        return; /* its digits lie beyond 63 bits; written "min" */
    require(ub_axis_parse(axis, ub_axis_text(axis, value, text, sizeof text), &again, NULL), "does not read back",
            spec);
    require(again.count == 1 && again.values[0] == value, "reads back as another value", spec);
    ub_values_free(&again);
}

static void check_values(const struct ub_axis *axis, struct ub_values *values, const char *spec)
{
    require(values->count > 0, "no values", spec);
    for (size_t i = 0; i < values->count; i++)
        require(is_allowed(axis, values->values[i]), "value outside the limits", spec);
    check_round_trip(axis, values->values[0], spec);
    check_round_trip(axis, values->values[values->count - 1], spec);
    qsort(values->values, values->count, sizeof values->values[0], compare);
    for (size_t i = 1; i < values->count; i++)
        require(values->values[i] != values->values[i - 1], "value twice", spec);
}

static void check_spec(const struct ub_axis *axis, const char *spec)
{
    struct ub_values values;
    struct ub_error err = {0};
    if (ub_axis_parse(axis, spec, &values, &err)) {
        check_values(axis, &values, spec);
        ub_values_free(&values);
        return;
    }
    require(err.status == UB_USAGE && err.text[0], "failed without saying why", spec);
    require(!values.values && values.count == 0, "failed, but left values", spec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *spec = malloc(size + 1);
    if (!spec)
        return 0;
    memcpy(spec, data, size);
    spec[size] = 0;
    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++)
        check_spec(&axes[i], spec);
    free(spec);
    return 0;
}

#ifndef UB_FUZZER

enum { LONGEST = 64 };

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 33;
}

/* One to four edits: a byte put in, taken out or replaced. */
static size_t mutate(char *text, size_t length, uint64_t *random)
{
    static const char letters[] = "0123456789..,:*xkKMGTie-+maxinutoldsrcpy \n\x80";
    for (uint64_t edits = 1 + next_random(random) % 4; edits > 0; edits--) {
        const size_t place = next_random(random) % (length + 1);
        const char letter = letters[next_random(random) % (sizeof letters - 1)];
        const uint64_t kind = next_random(random) % 3;
        if (kind == 0 && length < LONGEST) {
            memmove(text + place + 1, text + place, length - place);
            text[place] = letter;
            length++;
        } else if (kind == 1 && place < length) {
            memmove(text + place, text + place + 1, length - place - 1);
            length--;
        } else if (place < length) {
            text[place] = letter;
        }
    }
    return length;
}

int main(int argc, char **argv)
{
    static const char *const seeds[] = {
        "1..32",     "1..1024*2", "1..1024:x2", "32..1:3", "64Ki,4k,auto", "min..max:9223372036854775807",
        "load,copy", "all",       "-5..5:2",    "1e9",     "64K",          "99999999999999999999",
    };
    uint64_t random = 1;
    const long rounds = argc > 1 ? atol(argv[1]) : 200000;
    for (long i = 0; i < rounds; i++) {
        char text[LONGEST + 1];
        const char *seed = seeds[next_random(&random) % (sizeof seeds / sizeof seeds[0])];
        const size_t seed_length = strlen(seed);
        memcpy(text, seed, seed_length);
        LLVMFuzzerTestOneInput((const uint8_t *)text, mutate(text, seed_length, &random));
    }
    printf("%ld rounds, nothing found\n", rounds);
    return 0;
}

#endif
