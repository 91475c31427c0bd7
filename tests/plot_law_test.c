/* SPDX-License-Identifier: MIT
 *
 * The law in a chart: where its curves run and break, on which axes, and what stands beside them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/figure.h"
#include "plots/text.h"
#include "tests/plots/plots.h"

/* How many rows of a datablock follow on each other, of each piece: "8 2 6". */
static void pieces_of(const char *script, const char *block, char *text, size_t size)
{
    char start[64];
    snprintf(start, sizeof start, "%s << EOD\n", block);
    const char *line = strstr(script, start);
    assert_non_null(line);
    *text = 0;
    for (int rows = 0; strncmp(line, "EOD\n", 4) != 0;) {
        line = strchr(line, '\n') + 1;
        rows += *line != '\n' && strncmp(line, "EOD", 3) != 0;
        if (*line == '\n' && rows > 0) {
            ub_text_append(text, size, "%s%d", *text ? " " : "", rows);
            rows = 0;
        }
    }
}

static void make_holed(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    add_strides(record, &holed, 20, initial_point(), 0.001);
}

/* Widths that no launch can have lie between those swept. */
static void make_widths(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    for (int64_t bytes = 1; bytes <= 16; bytes *= 2) {
        struct ub_point point = initial_point();
        point.values[BYTES] = bytes;
        add_point(record, &strided, "bytes", &point, 0.001);
    }
}

static void make_refused_width(struct ub_record *record)
{
    make_widths(record);
    struct ub_point point = initial_point();
    point.values[BYTES] = 6;
    lose_point(add_point(record, &strided, "bytes", &point, 0.001), UB_POINT_SKIPPED, "an access is 4 or 8 bytes");
}

static void make_roofed(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    for (int64_t pattern = 0; patterns[pattern]; pattern++) {
        struct ub_point point = initial_point();
        point.values[PATTERN] = pattern;
        add_point(record, &roofed, "roofed", &point, 0.001);
    }
}

/* A law in stairs is drawn on linear axes, however far it rises; the same law without
 * stairs is not. */
static void test_stairs(void **state)
{
    (void)state;
    static const struct {
        const struct ub_micro *micro;
        int64_t farthest; /* one more stride */
        const char *x, *y;
    } rows[] = {{&stairs, 65, "X_LOG = 0;", "Y_LOG = 0\n"},
                {&strided, 65, "X_LOG = 1;", "Y_LOG = 1\n"},
                {&stairs, 4000, "X_LOG = 1;", "Y_LOG = 1\n"}}; /* a linear axis would show the last alone */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ub_record record;
        init_record(&record, UB_MEASURED);
        add_strides(&record, rows[i].micro, 64, initial_point(), 0.001);
        struct ub_point point = initial_point();
        point.values[STRIDE] = rows[i].farthest;
        add_point(&record, rows[i].micro, "stride", &point, 0.001);
        char *script = script_of(&record, &(struct ub_plot_options){0}, "chart.svg");
        assert_non_null(strstr(script, rows[i].x));
        assert_non_null(strstr(script, rows[i].y));
        free(script);
        ub_record_free(&record);
    }
}

/* Where the law has no value its line breaks, and a value alone is a dash of two rows; what lies
 * between the values of an axis, and the spots of a roof, break nothing. */
static void test_breaks(void **state)
{
    (void)state;
    static const struct {
        void (*make)(struct ub_record *record);
        const char *block, *pieces;
    } rows[] = {
        {make_holed, "$law", "8 2 6"},       {make_holed, "$panel_law", "20"},
        {make_widths, "$law", "5"},          {make_widths, "$panel_law", "5"},
        {make_refused_width, "$law", "3 2"}, {make_refused_width, "$panel_law", "3 2"},
        {make_roofed, "$law", "5"},          {make_roofed, "$second", "132"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ub_record record;
        char pieces[200];
        rows[i].make(&record);
        char *script = script_of(&record, &(struct ub_plot_options){0}, "chart.svg");
        pieces_of(script, rows[i].block, pieces, sizeof pieces);
        if (strcmp(pieces, rows[i].pieces) != 0)
            fail_msg("row %zu: %s has %s rows, not %s", i, rows[i].block, pieces, rows[i].pieces);
        free(script);
        ub_record_free(&record);
    }
}

/* In a terminal too no dot of the law stands where it says nothing, and all between values of an axis do. */
static void test_breaks_in_characters(void **state)
{
    (void)state;
    static const struct {
        void (*make)(struct ub_record *record);
        double from, to;
        bool empty;
    } rows[] = {{make_holed, 8.01, 12.9, true},
                {make_holed, 13.1, 14.9, true},
                {make_holed, 15.01, 19.9, false},
                {make_widths, 8.1, 15.9, false},
                {make_refused_width, 4.01, 7.9, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ub_record record;
        bool empty = true;
        rows[i].make(&record);
        char *script = script_of(&record, &(struct ub_plot_options){0}, "chart.txt");
        const char *line = strchr(strstr(script, "$law << EOD\n"), '\n') + 1;
        for (; strncmp(line, "EOD", 3) != 0; line = strchr(line, '\n') + 1)
            if (*line != '\n' && strtod(line, NULL) > rows[i].from && strtod(line, NULL) < rows[i].to)
                empty = false;
        if (empty != rows[i].empty)
            fail_msg("row %zu: %s", i, empty ? "nothing is drawn" : "something is drawn");
        free(script);
        ub_record_free(&record);
    }
}

/* The law is a function of the record's constants: a ceiling half as high halves it. */
static void test_law_follows_constants(void **state)
{
    (void)state;
    double value[2];
    for (int i = 0; i < 2; i++) {
        struct ub_record record;
        make_stride(&record);
        if (i == 1)
            ub_constant_set(&record.constants, "dram_load_ceiling", 2.34e12, 0, 0, "B/s", "half");
        char *script = script_of(&record, &(struct ub_plot_options){0}, "chart.svg");
        const char *row = strstr(strstr(script, "$law << EOD\n"), "\n32 ");
        assert_non_null(row);
        value[i] = strtod(row + 4, NULL);
        /* 4194304 x 4 bytes in 3 us + 4194304 x 64 bytes / ceiling, in GB/s */
        const double ceiling = i == 0 ? 4.68e12 : 2.34e12, time = 3e-6 + 4194304.0 * 64 / ceiling;
        assert_true(fabs(value[i] / (4194304.0 * 4 / time * 1e-9) - 1) < 1e-6);
        free(script);
        ub_record_free(&record);
    }
    assert_true(value[0] > 1.9 * value[1]);
}

/* Points stand at a metric of theirs: series that it makes alike share their places. */
static void test_place_by_metric(void **state)
{
    (void)state;
    struct ub_record record;
    init_record(&record, UB_MEASURED);
    for (int64_t bytes = 4; bytes <= 8; bytes += 4)
        for (int64_t stride = 1; stride <= 64; stride *= 2) {
            struct ub_point point = initial_point();
            point.values[STRIDE] = stride;
            point.values[BYTES] = bytes;
            add_point(&record, &folded, "stride", &point, 0.001);
        }
    char *script = script_of(&record, &(struct ub_plot_options){0}, "chart.svg");
    const char *dots = strstr(script, "$dots << EOD\n"), *law = strstr(script, "$law << EOD\n");
    const char *second = strstr(dots, "\n\n") + 3;
    assert_int_equal(rows_of(script, "$dots"), 14);
    assert_true(strtod(strchr(dots, '\n') + 1, NULL) == 4096);
    assert_true(strtod(second, NULL) == 8192); /* 8 bytes at stride 1: as 4 bytes at stride 2 */
    assert_true(strtod(strchr(law, '\n') + 1, NULL) == 4096);
    assert_non_null(strstr(script, "in flight  [bytes]"));
    assert_non_null(strstr(script, "4 Ki"));
    assert_null(strstr(script, "stride  [elements]"));
    free(script);
    ub_record_free(&record);
}

/* Words stand at their metric in the sweep that asks for it, each with its name beside it; the one
 * without a place is left out; the roof has its bend. In any other sweep they are words. */
static void test_words_under_a_roof(void **state)
{
    (void)state;
    for (int named = 0; named < 2; named++) {
        struct ub_record record;
        struct ub_figure figure;
        struct ub_error err = {0};
        init_record(&record, UB_MEASURED);
        for (int64_t pattern = 0; pattern < 6; pattern++) {
            struct ub_point point = initial_point();
            point.values[PATTERN] = pattern;
            add_point(&record, &roofed, named ? "roofed" : "words", &point, 0.001);
        }
        const struct ub_plot_options options = {0};
        assert_true(ub_figure_make(&record, &options, &figure, &err));
        assert_int_equal(figure.words, !named);
        assert_int_equal(figure.has_roof, named);
        assert_int_equal(figure.series[0].dot_count, named ? 5 : 6);
        assert_int_equal(figure.word_count, named ? 5 : 6);
        for (size_t i = 0; i < 5 && named; i++)
            assert_string_equal(figure.word[i], patterns[i + 1]);
        double highest = 0, before = 0;
        size_t predicted = 0;
        for (size_t i = 0; i < figure.series[0].law_count && named; i++) {
            const struct ub_law_spot *spot = &figure.series[0].law[i];
            assert_true(spot->x >= before);
            assert_true(fabs(spot->second / (1e3 * fmin(spot->x, 8)) - 1) < 1e-9);
            before = spot->x;
            highest = fmax(highest, spot->second);
            predicted += isfinite(spot->y);
        }
        assert_true(!named || (predicted == 5 && fabs(highest - 8e3) < 1e-6 && figure.has_second));
        ub_figure_free(&figure);
        ub_record_free(&record);
    }
}

static void test_marks(void **state)
{
    (void)state;
    struct ub_record record;
    make_plain(&record);
    char *script = script_of(&record, &(struct ub_plot_options){0}, "chart.svg");
    assert_non_null(strstr(script, "$mark << EOD\n12\nEOD\nN_MARK = 1\n"));
    assert_non_null(strstr(script, "'a capacity of 12'"));
    assert_null(strstr(script, "far"));
    free(script);
    ub_record_free(&record);
    make_stride(&record); /* a rule that marks nothing */
    script = script_of(&record, &(struct ub_plot_options){0}, "chart.svg");
    assert_non_null(strstr(script, "N_MARK = 0\n"));
    free(script);
    ub_record_free(&record);
}

/* What nobody counted is missed below the chart; what does not exist there is not. */
static void test_panel(void **state)
{
    (void)state;
    struct ub_record record;
    make_no_counters(&record);
    char *missed = script_of(&record, &(struct ub_plot_options){0}, "chart.svg");
    assert_non_null(strstr(missed, "the lower panel shows the law alone"));
    for (size_t i = 0; i < record.point_count; i++)
        for (size_t k = 0; k < record.points[i].predicted_metric_count; k++)
            if (strcmp(record.points[i].predicted_metrics[k].key, metric_keys[2]) == 0)
                record.points[i].predicted_metrics[k].value = NAN;
    char *absent = script_of(&record, &(struct ub_plot_options){0}, "chart.svg");
    assert_null(strstr(absent, "lower panel"));
    free(missed);
    free(absent);
    ub_record_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stairs),
        cmocka_unit_test(test_breaks),
        cmocka_unit_test(test_breaks_in_characters),
        cmocka_unit_test(test_law_follows_constants),
        cmocka_unit_test(test_place_by_metric),
        cmocka_unit_test(test_words_under_a_roof),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_panel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
