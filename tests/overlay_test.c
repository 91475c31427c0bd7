/* SPDX-License-Identifier: MIT
 *
 * Several runs in one figure, and what a figure says in words. */
#include "plots/overlay.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plots/describe.h"
#include "plots/layout.h"
#include "plots/quantity.h"
#include "tests/io_fixture.h"

enum { RUNS = 8 };

/* A run of the rule `coalescing` on a card of this name. */
static void make_run(struct ub_record *record, const char *name, enum ub_source source, size_t points)
{
    fixture_record(record, source, points, source == UB_MEASURED ? 6 : 0);
    ub_set_string(&record->device.name, name);
    for (size_t i = 0; i < points; i++)
        ub_set_string(&record->points[i].axes[1].word, "4"); /* the rule's widths are words */
}

static bool overlay(const struct ub_record *records, size_t count, const struct ub_plot_options *options,
                    struct ub_figure *figure, struct ub_error *err)
{
    const struct ub_record *runs[RUNS];
    for (size_t i = 0; i < count; i++)
        runs[i] = &records[i];
    *err = (struct ub_error){.text = ""};
    return ub_figure_of_runs(&(struct ub_runs){count, runs}, options, figure, err);
}

static void free_runs(struct ub_record *records, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ub_record_free(&records[i]);
}

static const struct ub_plot_options plain = {0};

static void one_run_is_a_chart_of_its_own(void **state)
{
    (void)state;
    struct ub_record record;
    struct ub_figure alone, overlaid;
    struct ub_error err;
    make_run(&record, "NVIDIA H200", UB_MEASURED, 8);
    assert_true(ub_figure_make(&record, &plain, &alone, &err));
    assert_true(overlay(&record, 1, &plain, &overlaid, &err));
    assert_string_equal(alone.conditions, overlaid.conditions);
    assert_int_equal(alone.series_count, overlaid.series_count);
    assert_false(overlaid.of_runs);
    ub_figure_free(&alone);
    ub_figure_free(&overlaid);
    free_runs(&record, 1);
}

static void one_colour_a_gpu(void **state)
{
    (void)state;
    struct ub_record runs[4];
    struct ub_figure figure;
    struct ub_error err;
    make_run(&runs[0], "NVIDIA H200", UB_MEASURED, 8);
    make_run(&runs[1], "NVIDIA A100", UB_MEASURED, 8);
    make_run(&runs[2], "NVIDIA H200", UB_MEASURED, 8);
    make_run(&runs[3], "NVIDIA L40", UB_PREDICTED, 8);
    if (!overlay(runs, 4, &plain, &figure, &err))
        fail_msg("%s", err.text);
    static const struct {
        const char *label;
        size_t colour, variant;
        enum ub_source source;
    } wanted[] = {{"NVIDIA H200, run 1", 0, 0, UB_MEASURED},
                  {"NVIDIA A100", 1, 0, UB_MEASURED},
                  {"NVIDIA H200, run 2", 0, 1, UB_MEASURED},
                  {"NVIDIA L40 (predicted)", 2, 0, UB_PREDICTED}};
    assert_int_equal(figure.series_count, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct ub_series *series = &figure.series[i];
        assert_string_equal(series->label, wanted[i].label);
        assert_int_equal(series->colour, wanted[i].colour);
        assert_int_equal(series->variant, wanted[i].variant);
        assert_int_equal(series->source, wanted[i].source);
        assert_int_equal(series->shape, i);
        assert_int_equal(series->dot_count, 8);
        assert_true(series->law_count >= 8);
    }
    assert_true(figure.mixed);
    assert_string_equal(ub_layout_dot_name(&figure), "values");
    assert_non_null(
        strstr(figure.conditions, "NVIDIA H200, run 1, NVIDIA A100, NVIDIA H200, run 2, NVIDIA L40 (predicted)"));
    ub_figure_free(&figure);
    free_runs(runs, 4);
}

static void all_have_one_unit(void **state)
{
    (void)state;
    struct ub_record runs[2];
    struct ub_figure figure;
    struct ub_error err;
    make_run(&runs[0], "fast", UB_MEASURED, 4);
    make_run(&runs[1], "slow", UB_MEASURED, 4);
    for (size_t i = 0; i < 4; i++)
        runs[1].points[i].time.median *= 1e3;
    if (!overlay(runs, 2, &(struct ub_plot_options){.y = "time"}, &figure, &err))
        fail_msg("%s", err.text);
    assert_non_null(strstr(figure.y_label, "[ms]"));
    const double ratio = figure.series[1].dots[0].y / figure.series[0].dots[0].y;
    assert_true(fabs(ratio / 1e3 - 1) < 1e-9);
    ub_figure_free(&figure);
    free_runs(runs, 2);
}

/* Words along x are joined; a run that lacks one has no point there. */
static void words_are_joined(void **state)
{
    (void)state;
    static const char *const ops[2][2] = {{"load", "store"}, {"store", "copy"}};
    struct ub_record runs[2];
    struct ub_figure figure;
    struct ub_error err;
    for (size_t r = 0; r < 2; r++) {
        make_run(&runs[r], r ? "B" : "A", UB_MEASURED, 2);
        for (size_t i = 0; i < 2; i++) {
            runs[r].points[i].axes[0].number = 1;
            ub_set_string(&runs[r].points[i].axes[2].word, ops[r][i]);
        }
    }
    if (!overlay(runs, 2, &(struct ub_plot_options){.x = "op"}, &figure, &err))
        fail_msg("%s", err.text);
    assert_true(figure.words);
    assert_int_equal(figure.word_count, 3);
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < 2; i++)
            assert_string_equal(figure.word[(size_t)figure.series[s].dots[i].x], ops[s][i]);
    ub_figure_free(&figure);
    free_runs(runs, 2);
}

/* A single point lies among the numbers of the others. */
static void one_point_against_a_sweep(void **state)
{
    (void)state;
    struct ub_record runs[2];
    struct ub_figure figure;
    struct ub_error err;
    make_run(&runs[0], "A", UB_MEASURED, 8);
    make_run(&runs[1], "B", UB_MEASURED, 1);
    if (!overlay(runs, 2, &plain, &figure, &err))
        fail_msg("%s", err.text);
    assert_false(figure.words);
    assert_int_equal(figure.series[1].dot_count, 1);
    assert_true(figure.series[1].dots[0].x == 1);
    ub_figure_free(&figure);
    free_runs(runs, 2);
}

static void what_cannot_be_overlaid(void **state)
{
    (void)state;
    struct ub_record runs[RUNS];
    struct ub_figure figure;
    struct ub_error err;
    for (size_t i = 0; i < RUNS; i++)
        make_run(&runs[i], "NVIDIA H200", UB_MEASURED, 4);
    assert_false(overlay(runs, 7, &plain, &figure, &err));
    assert_int_equal(err.status, UB_USAGE);
    assert_non_null(strstr(err.text, "1 to 6 runs, and these are 7"));
    assert_false(overlay(runs, 0, &plain, &figure, &err));
    assert_int_equal(err.status, UB_USAGE);

    ub_set_string(&runs[1].device.name, "NVIDIA A100");
    for (size_t i = 0; i < 4; i++)
        ub_set_string(&runs[1].points[i].rule, "null");
    assert_false(overlay(runs, 2, &plain, &figure, &err));
    assert_non_null(strstr(err.text, "NVIDIA A100: this record has no points of the rule coalescing"));

    /* The same axis, but not the same points. */
    for (size_t i = 0; i < 4; i++)
        ub_set_string(&runs[2].points[i].axes[2].word, "store");
    assert_false(overlay(&runs[2], 2, &(struct ub_plot_options){.x = "stride"}, &figure, &err));
    assert_int_equal(err.status, UB_BAD_DATA);
    assert_non_null(strstr(err.text, "run 2: nothing to draw"));
    free_runs(runs, RUNS);
}

static void names_are_harmless(void **state)
{
    (void)state;
    char longest[301];
    struct ub_record runs[2];
    struct ub_figure figure;
    struct ub_error err;
    memset(longest, 'G', 300);
    longest[300] = 0;
    make_run(&runs[0], longest, UB_MEASURED, 4);
    make_run(&runs[1], "\x1b[31m\xff\n", UB_MEASURED, 4);
    if (!overlay(runs, 2, &plain, &figure, &err))
        fail_msg("%s", err.text);
    assert_in_range(strlen(figure.series[0].label), 1, 40);
    assert_null(strpbrk(figure.series[1].label, "\x1b\n\xff"));
    ub_figure_free(&figure);
    free_runs(runs, 2);
}

static void figures_speak(void **state)
{
    (void)state;
    struct ub_record runs[2];
    struct ub_figure figure;
    struct ub_error err;
    char text[UB_DESCRIPTION_BYTES];
    make_run(&runs[0], "NVIDIA H200", UB_MEASURED, 8);
    make_run(&runs[1], "NVIDIA A100", UB_PREDICTED, 8);
    assert_true(overlay(runs, 1, &plain, &figure, &err));
    ub_figure_describe(&figure, text, sizeof text);
    assert_non_null(strstr(text, "NVIDIA H200 \u00B7 4 bytes, op load"));
    assert_non_null(strstr(text, "useful bandwidth in GB/s, measured: 2658 at stride 1, 332.2 at stride 8."));
    assert_non_null(strstr(text, "Lower panel: sectors / request equals the law at every point."));
    assert_null(strchr(text, '\n'));
    ub_figure_free(&figure);

    assert_true(overlay(runs, 2, &plain, &figure, &err));
    ub_figure_describe(&figure, text, sizeof text);
    assert_non_null(strstr(text, " NVIDIA A100 (predicted): "));
    ub_figure_free(&figure);

    assert_true(overlay(&runs[1], 1, &plain, &figure, &err));
    ub_figure_describe(&figure, text, sizeof text);
    assert_non_null(strstr(text, "All of it follows from the law; nothing was measured."));
    ub_figure_free(&figure);
    free_runs(runs, 2);
}

/* What the law does not test is no part of how far the points lie from it. */
static void untested_times_are_left_out(void **state)
{
    (void)state;
    static struct ub_figure figure;
    struct ub_dot dots[] = {{.x = 1, .y = 101, .panel = NAN}, {.x = 2, .y = 412, .panel = NAN}};
    struct ub_law_spot law[] = {{.x = 1, .y = 100, .second = NAN, .panel = NAN},
                                {.x = 2, .y = 100, .second = NAN, .panel = NAN}};
    char text[UB_DESCRIPTION_BYTES];
    figure = (struct ub_figure){.source = UB_MEASURED, .y_label = "useful bandwidth  [GB/s]", .series_count = 1};
    figure.series[0] = (struct ub_series){.dot_count = 2, .dots = dots, .law_count = 2, .law = law};
    ub_figure_describe_law(&figure, text, sizeof text);
    assert_string_equal(text, "The points lie within 312 % of the law (useful bandwidth).");
    dots[1].untested = true;
    snprintf(figure.y_label, sizeof figure.y_label, "time  [ns]");
    ub_figure_describe_law(&figure, text, sizeof text);
    assert_string_equal(text, "The points lie within 1 % of the law; left out: 1 point whose time is not tested.");
    dots[0].untested = true;
    ub_figure_describe_law(&figure, text, sizeof text);
    assert_string_equal(text, "Shown: 2 points whose time is not tested.");
    dots[0] = dots[1] = (struct ub_dot){.x = 1, .y = 100.00001, .panel = NAN};
    ub_figure_describe_law(&figure, text, sizeof text);
    assert_string_equal(text, "The points lie within 0.01 % of the law.");
}

/* What is said of all runs is true of each. */
static void what_differs_is_said(void **state)
{
    (void)state;
    struct ub_record runs[2];
    struct ub_figure figure;
    struct ub_error err;
    make_run(&runs[0], "A", UB_MEASURED, 8);
    make_run(&runs[1], "B", UB_MEASURED, 8);
    for (size_t i = 0; i < 8; i++) {
        runs[0].points[i].time.n = 1;
        runs[1].points[i].time.n = 30;
    }
    if (!overlay(runs, 2, &plain, &figure, &err))
        fail_msg("%s", err.text);
    assert_non_null(strstr(figure.conditions, "median of 1 to 30 samples"));
    ub_figure_free(&figure);

    for (size_t i = 4; i < 8; i++)
        for (size_t r = 0; r < 2; r++) {
            runs[r].points[i].axes[0].number -= 4;
            ub_set_string(&runs[r].points[i].axes[2].word, r ? "load" : "store");
        }
    if (!overlay(runs, 2, &(struct ub_plot_options){.x = "stride", .series = "op"}, &figure, &err))
        fail_msg("%s", err.text);
    assert_int_equal(figure.series_count, 3);
    bool told = false;
    for (size_t i = 0; i < figure.note_count; i++)
        told = told || strcmp(figure.notes[i], "B has no points of: store") == 0;
    assert_true(told);
    ub_figure_free(&figure);

    const struct ub_record *turned[] = {&runs[1], &runs[0]};
    if (!ub_figure_of_runs(&(struct ub_runs){2, turned}, &(struct ub_plot_options){.x = "stride"}, &figure, &err))
        fail_msg("%s", err.text);
    assert_true(figure.note_count > 0);
    assert_string_equal(figure.notes[figure.note_count - 1], "not drawn, because only A has it: op store");
    ub_figure_free(&figure);
    assert_false(overlay(runs, 2, &(struct ub_plot_options){.x = "op", .series = "op"}, &figure, &err));
    assert_int_equal(err.status, UB_USAGE);
    assert_non_null(strstr(err.text, "--series op is --x"));
    free_runs(runs, 2);
}

static void bytes_have_a_unit_that_suits_the_least(void **state)
{
    (void)state;
    static const struct {
        double least, largest;
        const char *label;
    } cases[] = {{0x1p15, 0x1p24, "in flight  [KiB]"}, {0x1p30, 0x1p34, "in flight  [GiB]"},
                 {0x1p10, 0x1p34, "in flight  [KiB]"}, {0x1p19, 0x1p20, "in flight  [MiB]"},
                 {16, 0x1p36, "in flight  [KiB]"},     {INFINITY, 0, "in flight  [byte]"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ub_quantity quantity = {.key = "in_flight", .unit = "byte"};
        char label[160];
        ub_quantity_label(&quantity, cases[i].least, cases[i].largest, label, sizeof label);
        assert_string_equal(label, cases[i].label);
    }
}

static void a_key_does_not_name_its_unit_twice(void **state)
{
    (void)state;
    static const struct {
        const char *key, *unit, *label;
    } cases[] = {{"time_per_block_ns", "ns", "time per block  [µs]"},
                 {"copied_bytes", "byte", "copied  [KiB]"},
                 {"time_ns", "1", "time ns  [%]"},
                 {"_ns", "ns", " ns  [µs]"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ub_quantity quantity = {.key = cases[i].key};
        char label[160];
        snprintf(quantity.unit, sizeof quantity.unit, "%s", cases[i].unit);
        ub_quantity_label(&quantity, 2000, 4000, label, sizeof label);
        assert_string_equal(label, cases[i].label);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_run_is_a_chart_of_its_own),
        cmocka_unit_test(one_colour_a_gpu),
        cmocka_unit_test(all_have_one_unit),
        cmocka_unit_test(words_are_joined),
        cmocka_unit_test(one_point_against_a_sweep),
        cmocka_unit_test(what_cannot_be_overlaid),
        cmocka_unit_test(names_are_harmless),
        cmocka_unit_test(figures_speak),
        cmocka_unit_test(untested_times_are_left_out),
        cmocka_unit_test(what_differs_is_said),
        cmocka_unit_test(bytes_have_a_unit_that_suits_the_least),
        cmocka_unit_test(a_key_does_not_name_its_unit_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
