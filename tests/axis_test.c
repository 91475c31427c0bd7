/* SPDX-License-Identifier: MIT
 *
 * Ranges: what is understood, and how what is not is answered (message, place of the
 * caret, nothing left behind). */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/engine/axis.h"

static const char *const op_words[] = {"load", "store", "copy", NULL};
static const char *const shape_words[] = {"linear", "32x8", "16x16", NULL};

static const struct ub_axis stride = {
    .name = "stride", .unit = "element", .help = "h", .minimum = 1, .maximum = 1024, .initial = "1"};
static const struct ub_axis small = {
    .name = "stride", .unit = "element", .help = "h", .minimum = 1, .maximum = 32, .initial = "1"};
static const struct ub_axis shift = {
    .name = "shift", .unit = "element", .help = "h", .minimum = -8, .maximum = 8, .initial = "0"};
static const struct ub_axis whole = {
    .name = "whole", .unit = "byte", .help = "h", .minimum = INT64_MIN, .maximum = INT64_MAX, .initial = "0"};
static const struct ub_axis size = {.name = "size",
                                    .unit = "byte",
                                    .help = "h",
                                    .minimum = 4096,
                                    .maximum = INT64_C(1) << 42,
                                    .zero_word = "auto",
                                    .initial = "auto"};
static const struct ub_axis op = {
    .name = "op", .unit = "", .help = "h", .kind = UB_AXIS_WORD, .words = op_words, .initial = "load"};
static const struct ub_axis shape = {
    .name = "shape", .unit = "", .help = "h", .kind = UB_AXIS_WORD, .words = shape_words, .initial = "linear"};

static const struct {
    const struct ub_axis *axis;
    const char *spec, *values;
} good[] = {
    {&stride, "8", "8"},
    {&stride, "1..5", "1 2 3 4 5"},
    {&stride, "1..10:3", "1 4 7 10"},
    {&stride, "1..9:3", "1 4 7"}, /* the upper end only where a step lands on it */
    {&stride, "1..64*2", "1 2 4 8 16 32 64"},
    {&stride, "1..100:x3", "1 3 9 27 81"},
    {&stride, "3..48*2", "3 6 12 24 48"},
    {&stride, "1,2,4", "1 2 4"},
    {&stride, "4,1..3,9", "4 1 2 3 9"},
    {&stride, "5..1", "5 4 3 2 1"},
    {&stride, "10..1:4", "10 6 2"},
    {&stride, "16..1*2", "16 8 4 2 1"},
    {&stride, "16..3:x2", "16 8 4"},
    {&stride, "7..7", "7"},
    {&stride, "7..7*2", "7"},
    {&stride, "3..4:100", "3"},
    {&stride, "2,1,2,1,3,3", "2 1 3"}, /* the first of equal ones stays, in order */
    {&stride, "1..4,2..6", "1 2 3 4 5 6"},
    {&stride, "min", "1"},
    {&stride, "max", "1024"},
    {&stride, "1022..max", "1022 1023 1024"},
    {&stride, "min..3", "1 2 3"},
    {&stride, "0008", "8"},
    {&stride, "1Ki", "1024"},
    {&stride, "1..1Ki:x32", "1 32 1024"},
    {&shift, "-3", "-3"},
    {&shift, "-2..2", "-2 -1 0 1 2"},
    {&shift, "-0", "0"},
    {&size, "64Ki", "65536"},
    {&size, "64k", "64000"},
    {&size, "1Mi,1M", "1048576 1000000"},
    {&size, "1Gi,1G", "1073741824 1000000000"},
    {&size, "1Ti,1T", "1099511627776 1000000000000"},
    {&size, "auto", "0"},
    {&size, "auto,4Ki", "0 4096"},
    {&size, "4Ki..16Ki*2", "4096 8192 16384"},
    {&whole, "9223372036854775807", "9223372036854775807"},
    {&whole, "-9223372036854775807", "-9223372036854775807"},
    {&whole, "9223372036854775805..max", "9223372036854775805 9223372036854775806 9223372036854775807"},
    {&whole, "min..max:9223372036854775807", "-9223372036854775808 -1 9223372036854775806"},
    {&whole, "4611686018427387904..max*2", "4611686018427387904"}, /* the next would not fit */
    {&op, "load", "0"},
    {&op, "copy,load", "2 0"},
    {&op, "all", "0 1 2"},
    {&op, "store,all", "1 0 2"},
    {&op, "load,load", "0"},
    {&shape, "32x8,16x16", "1 2"},
};

static void join(const struct ub_values *values, char *text, size_t text_size)
{
    size_t length = 0;
    text[0] = 0;
    for (size_t i = 0; i < values->count; i++)
        length += (size_t)snprintf(text + length, text_size - length, "%s%" PRId64, i ? " " : "", values->values[i]);
}

static void test_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct ub_values values;
        struct ub_error err = {0};
        char text[512];
        if (!ub_axis_parse(good[i].axis, good[i].spec, &values, &err))
            fail_msg("%s: %s", good[i].spec, err.text);
        join(&values, text, sizeof text);
        if (strcmp(text, good[i].values) != 0)
            fail_msg("%s: %s, expected %s", good[i].spec, text, good[i].values);
        ub_values_free(&values);
        assert_null(values.values);
    }
}

/* `column`: where the caret stands, from 0. */
static const struct {
    const struct ub_axis *axis;
    const char *spec, *message;
    int column;
} bad[] = {
    {&stride, "", "a value is missing", 0},
    {&stride, "0", "0 is below this axis's limit of 1", 0},
    {&stride, "-3", "-3 is below this axis's limit of 1", 0},
    {&stride, "1..", "the upper end is missing", 3},
    {&stride, "..8", "the lower end is missing", 0},
    {&stride, "..", "the lower end is missing", 0},
    {&stride, "8..1..2", "a range has two ends", 4},
    {&stride, "1..32:0", "the step must not be 0", 6},
    {&stride, "1..32:-2", "the step must be positive (HI..LO counts down)", 6},
    {&stride, "1..32:", "the step is missing", 6},
    {&stride, "1..32*", "the factor is missing", 6},
    {&stride, "1..32:x", "the factor is missing", 7},
    {&stride, "1..32*1", "the factor must be 2 or more", 6},
    {&stride, "1..32:x0", "the factor must be 2 or more", 7},
    {&stride, "1..32*-2", "the factor must be 2 or more", 6},
    {&stride, "1..32:99999999999999999999", "the step is too large", 6},
    {&stride, "1..32:2:2", "a range has one step", 7},
    {&stride, "1..32:2..4", "a range has two ends", 7},
    {&stride, "8:2", "a step needs a range LO..HI before it", 1},
    {&stride, "8*2", "a step needs a range LO..HI before it", 1},
    {&stride, "1,,2", "a value is missing", 2},
    {&stride, "1,2,", "a value is missing", 4},
    {&stride, ",1", "a value is missing", 0},
    {&stride, "abc", "'abc' is not a whole number", 0},
    {&stride, "mxa", "'mxa' is not a whole number; did you mean max?", 0},
    {&stride, "1e3", "an exponent is not understood; write 1000", 0},
    {&stride, "1e9", "an exponent is not understood; write 1000000000", 0},
    {&stride, "1.5e3", "an exponent is not understood; write 1500", 0},
    {&stride, "1e-3", "an exponent is not understood; write a whole number", 0},
    {&stride, "1e99", "an exponent is not understood; write a whole number", 0},
    {&stride, "1.5", "'1.5' is not a whole number", 0},
    {&stride, "1...8", "'.8' is not a whole number", 3},
    {&stride, "0x10", "'0x10' is not a whole number", 0},
    {&stride, "+3", "'+3' is not a whole number", 0},
    {&stride, "1 2", "'1 2' is not a whole number", 0},
    {&stride, "--3", "'--3' is not a whole number", 0},
    {&stride, "all", "'all' is for axes of words; write min..max", 0},
    {&stride, "12345678901234567890", "12345678901234567890 is above this axis's limit of 1024", 0},
    {&stride, "-12345678901234567890", "-12345678901234567890 is below this axis's limit of 1", 0},
    {&stride, "99999999999999999999Ti", "99999999999999999999Ti is above this axis's limit of 1024", 0},
    {&stride, "10000000Ti", "10000000Ti is above this axis's limit of 1024", 0},
    {&small, "1..64", "64 is above this axis's limit of 32", 3},
    {&stride, "0..1000000000000000000", "0 is below this axis's limit of 1", 0},
    {&size, "64K", "write 64Ki (65536) or 64k (64000)", 2},
    {&size, "64KB", "write 64Ki (65536) or 64k (64000)", 2},
    {&size, "64KiB", "write 64Ki (65536)", 2},
    {&size, "4096..64m", "write 64Mi (67108864) or 64M (64000000)", 8},
    {&size, "2g", "write 2Gi (2147483648) or 2G (2000000000)", 1},
    {&size, "64Q", "'64Q' is not a whole number", 0},
    {&size, "64Kibibytes", "'64Kibibytes' is not a whole number", 0},
    {&size, "atuo", "'atuo' is not a whole number; did you mean auto?", 0},
    {&size, "auto..8Ki", "auto has no place in a range", 0},
    {&size, "4Ki..auto", "auto has no place in a range", 5},
    {&size, "0", "0 is below this axis's limit of 4096; write auto", 0},
    {&size, "100", "100 is below this axis's limit of 4096", 0},
    {&size, "4096..8192:99999999Ki:1", "a range has one step", 21},
    {&shift, "-4..4*2", "a factor needs a range that begins at 1 or more", 0},
    {&shift, "0..8*2", "a factor needs a range that begins at 1 or more", 0},
    {&stride, "30..1*2", "15 cannot be divided by 2; write the lower end first", 0},
    {&whole, "0..1000000000000000000", "more than 1000000 values; take a larger step", 0},
    {&whole, "min..max", "more than 1000000 values; take a larger step", 0},
    {&whole, "0..600000,1000000..1600000", "more than 1000000 values; take a larger step", 10},
    {&op, "", "a word is missing", 0},
    {&op, "load,", "a word is missing", 5},
    {&op, "laod", "'laod' is not a value of this axis; did you mean load?", 0},
    {&op, "load,stor", "'stor' is not a value of this axis; did you mean store?", 5},
    {&op, "LOAD", "'LOAD' is not a value of this axis; did you mean load?", 0},
    {&op, "frobnicate", "'frobnicate' is not a value of this axis", 0},
    {&op, "0", "'0' is not a value of this axis", 0},
    {&op, "load..copy", "words have no ranges; write A,B,C or all", 0},
};

/* The message names option and text; then come the text itself and a caret below the place. */
static void check_message(const struct ub_axis *axis, const char *spec, const char *message, int column,
                          const char *text)
{
    char head[512];
    snprintf(head, sizeof head, "--%s %s: %s\n  %s\n  %*s\n  --%s takes ", axis->name, spec, message, spec, column + 1,
             "^", axis->name);
    if (strncmp(text, head, strlen(head)) != 0)
        fail_msg("%s:\n%s\nexpected\n%s", spec, text, head);
    assert_non_null(strstr(text, "(see: ubench help ranges)"));
}

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct ub_values values;
        struct ub_error err = {0};
        if (ub_axis_parse(bad[i].axis, bad[i].spec, &values, &err))
            fail_msg("'%s' was accepted", bad[i].spec);
        assert_int_equal(err.status, UB_USAGE);
        assert_null(values.values);
        assert_int_equal(values.count, 0);
        check_message(bad[i].axis, bad[i].spec, bad[i].message, bad[i].column, err.text);
    }
}

static void test_allowed(void **state)
{
    (void)state;
    const struct {
        const struct ub_axis *axis;
        const char *allowed;
    } rows[] = {
        {&stride, "\n  --stride takes 1..1024 (element): A, A,B,C, LO..HI, LO..HI:STEP or LO..HI*FACTOR (see"},
        {&size, "\n  --size takes auto or 4096..4398046511104 (byte): A, "},
        {&op, "\n  --op takes load, store, copy or all (see"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ub_values values;
        struct ub_error err = {0};
        assert_false(ub_axis_parse(rows[i].axis, "?", &values, &err));
        if (!strstr(err.text, rows[i].allowed))
            fail_msg("%s", err.text);
    }
}

/* A text of megabytes and one of control characters: the message stays short and plain. */
static void test_hostile(void **state)
{
    (void)state;
    struct ub_values values;
    struct ub_error err = {0};
    const size_t length = 1 << 20;
    char *text = malloc(length + 1);
    assert_non_null(text);
    memset(text, '1', length);
    text[length] = 0;
    assert_false(ub_axis_parse(&stride, text, &values, &err));
    assert_non_null(strstr(err.text, "is above this axis's limit of 1024"));
    for (size_t i = 0; i < length; i += 2)
        memcpy(text + i, "1,", 2);
    assert_false(ub_axis_parse(&stride, text, &values, &err)); /* ends in a comma */
    assert_non_null(strstr(err.text, "a value is missing"));
    text[length - 1] = 0;
    assert_true(ub_axis_parse(&stride, text, &values, &err));
    assert_int_equal(values.count, 1);
    ub_values_free(&values);
    memset(text, 'x', length);
    assert_false(ub_axis_parse(&op, text, &values, &err));
    free(text);
    assert_false(ub_axis_parse(&stride, "1\n\033[2J\177", &values, &err));
    assert_non_null(strstr(err.text, "\n  1??[2J?\n  ^\n"));
    assert_false(ub_axis_parse(&stride, "\xc3\xa9\xe2\x80\xa6,", &values, &err));
    assert_true(strlen(err.text) < 600);
}

/* Continuation bytes take no column: the caret stands below the place. */
static void test_caret_behind_utf8(void **state)
{
    (void)state;
    struct ub_values values;
    struct ub_error err = {0};
    const char *const words[] = {"\xc3\xa9t\xc3\xa9", NULL};
    const struct ub_axis axis = {.name = "w", .unit = "", .help = "h", .kind = UB_AXIS_WORD, .words = words};
    assert_false(ub_axis_parse(&axis, "\xc3\xa9t\xc3\xa9,nope", &values, &err));
    assert_non_null(strstr(err.text, "\n      ^\n"));
}

static void test_no_error_wanted(void **state)
{
    (void)state;
    struct ub_values values;
    assert_false(ub_axis_parse(&stride, "1..32:0", &values, NULL));
}

static void test_text(void **state)
{
    (void)state;
    const struct {
        const struct ub_axis *axis;
        int64_t value;
        const char *text;
    } rows[] = {
        {&stride, 8, "8"},     {&stride, 0, "0"},    {&size, 0, "auto"},
        {&size, 4096, "4096"}, {&op, 1, "store"},    {&op, 3, "3"},
        {&op, -1, "-1"},       {&shape, 2, "16x16"}, {&whole, INT64_MIN, "-9223372036854775808"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[32];
        assert_string_equal(ub_axis_text(rows[i].axis, rows[i].value, text, sizeof text), rows[i].text);
    }
}

static void test_index(void **state)
{
    (void)state;
    const struct ub_axis axes[] = {stride, op};
    const struct ub_micro micro = {.axis_count = 2, .axes = axes};
    assert_int_equal(ub_axis_index(&micro, "stride"), 0);
    assert_int_equal(ub_axis_index(&micro, "op"), 1);
    assert_int_equal(ub_axis_index(&micro, "strid"), -1);
    assert_int_equal(ub_axis_index(&micro, ""), -1);
}

static void test_suggest(void **state)
{
    (void)state;
    static const char *const names[] = {"coalescing", "null", "bank_conflict", "run", "x", "stride", "series"};
    const struct {
        const char *word, *near;
    } rows[] = {
        {"coalescing", "coalescing"},
        {"colaescing", "coalescing"}, /* neighbours swapped: one edit */
        {"coalesing", "coalescing"},
        {"coal", "coalescing"},
        {"strid", "stride"},
        {"STRIDE", "stride"},
        {"nul", "null"},
        {"rnu", "run"},
        {"bankconflict", "bank_conflict"},
        {"y", NULL}, /* one letter is near to nothing */
        {"", NULL},
        {"transpose", NULL},
        {"qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *near = ub_suggest(rows[i].word, sizeof names / sizeof names[0], names);
        if (!near != !rows[i].near || (near && strcmp(near, rows[i].near) != 0))
            fail_msg("%s: %s, expected %s", rows[i].word, near ? near : "nothing",
                     rows[i].near ? rows[i].near : "nothing");
    }
    assert_null(ub_suggest("run", 0, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),    cmocka_unit_test(test_bad),
        cmocka_unit_test(test_allowed), cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_text),    cmocka_unit_test(test_caret_behind_utf8),
        cmocka_unit_test(test_index),   cmocka_unit_test(test_no_error_wanted),
        cmocka_unit_test(test_suggest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
