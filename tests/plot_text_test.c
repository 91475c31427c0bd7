/* SPDX-License-Identifier: MIT
 *
 * Text of charts: cleaned, cut, broken into lines, measured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "plots/text.h"

static void test_clean(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {NULL, ""},
        {"NVIDIA H200", "NVIDIA H200"},
        {"a\nb\tc\x7f", "a b c "},
        {"\xff\xc3", "\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xc0\xaf", "\xEF\xBF\xBD\xEF\xBF\xBD"},                 /* an overlong '/' */
        {"\xed\xa0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"}, /* a surrogate */
        {"\xe2\x80\xae"
         "abc",
         " abc"}, /* right-to-left override */
        {"Gerät 中", "Gerät 中"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[64];
        ub_text_clean(rows[i].text, out, sizeof out);
        assert_string_equal(out, rows[i].expected);
    }
    char small[4];
    ub_text_clean("ab中", small, sizeof small);
    assert_string_equal(small, "ab");
}

static void test_shorten(void **state)
{
    (void)state;
    const struct ub_measure cells = {.cells = true};
    char text[64] = "0123456789";
    ub_text_shorten(text, sizeof text, 10, cells);
    assert_string_equal(text, "0123456789");
    ub_text_shorten(text, sizeof text, 6, cells);
    assert_string_equal(text, "01234…");
    char wide[64] = "中中中中";
    ub_text_shorten(wide, sizeof wide, 5, cells);
    assert_string_equal(wide, "中中…");
    char ascii[64] = "a · b × c… é";
    ub_text_to_ascii(ascii);
    assert_string_equal(ascii, "a | b x c~ ?");
}

static void test_wrap(void **state)
{
    (void)state;
    const struct ub_measure cells = {.cells = true};
    struct ub_lines lines;
    ub_text_wrap("aaaa bbbb cccc", 9, cells, 3, &lines);
    assert_int_equal(lines.count, 2);
    assert_string_equal(lines.text[0], "aaaa bbbb");
    assert_string_equal(lines.text[1], "cccc");
    /* A mark is the better place. */
    ub_text_wrap("aaaa bb · cc dddd", 12, cells, 3, &lines);
    assert_string_equal(lines.text[0], "aaaa bb");
    assert_string_equal(lines.text[1], "cc dddd");
    ub_text_wrap("aaaa bbbb cccc", 5, cells, 2, &lines);
    assert_int_equal(lines.count, 2);
    assert_string_equal(lines.text[1], "bbbb…");
    ub_text_wrap("", 5, cells, 2, &lines);
    assert_int_equal(lines.count, 0);
}

static void test_width(void **state)
{
    (void)state;
    /* Advance widths of DejaVu Sans: 0.636 em a digit, 0.318 em a blank. */
    const struct ub_measure font = {.size_px = 10};
    assert_true(fabs(ub_text_width("10 1", font) - (3 * 6.36 + 3.18)) < 1e-9);
    assert_true(ub_text_width("10 1", (struct ub_measure){.size_px = 10, .bold = true}) > ub_text_width("10 1", font));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_shorten),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
