/* SPDX-License-Identifier: MIT
 *
 * What a script says of a record: every variant of a chart, what is chosen, what is refused.
 *
 * With UB_CHART_FOLDER=DIR in the environment the program draws every variant into
 * DIR instead and lists what each must show; charts/sweep_test.sh looks at them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/plots/plots.h"

/* ---- variants ------------------------------------------------------------------ */

static const struct ub_axis_option bytes_4_copy[] = {{"bytes", "4", false}, {"op", "copy", false}};
static const struct ub_axis_option bytes_8[] = {{"bytes", "8", false}};
static const struct ub_axis_option bytes_x[] = {{"bytes", "x", false}};
static const struct ub_axis_option bites_4[] = {{"bites", "4", false}};

/* What one chart must show: points in the main panel, and texts (of which some may be
 * broken over two lines: they are then named in parts). */
struct variant {
    const char *name;
    void (*make)(struct ub_record *record);
    struct ub_plot_options options;
    int dots;
    const char *texts[6];
};

static const struct variant variants[] = {
    {"stride",
     make_stride,
     {0},
     32,
     {"Coalescing: useful bandwidth falls as 1/stride, then floors", "NVIDIA H200", "median of 30 samples",
      "measured DRAM load ceiling 4680 GB/s", "law: min(4s, 32)", "measured"}},
    {"predicted", make_predicted, {0}, 32, {"predicted, not measured", "predicted", "law: min(4s, 32)"}},
    {"wide-interval", make_wide_interval, {0}, 32, {"bars: 95 % CI"}},
    {"one", make_one, {0}, 1, {"Strided: useful bandwidth at stride 8 elements", "NVIDIA H200"}},
    {"two", make_two, {0}, 2, {"stride  [elements]"}},
    {"offset", make_offset, {0}, 64, {"4 bytes", "8 bytes", "offset  [elements]"}},
    {"equal", make_equal, {0}, 6, {"Plain: useful bandwidth over block", "block  [threads]"}},
    {"patterns", make_patterns, {0}, 12, {"load", "store", "broadcast", "pattern"}},
    {"pattern", make_pattern, {0}, 6, {"broadcast", "reverse", "pattern"}},
    {"bytes-series", make_bytes_series, {0}, 96, {"4 bytes", "8 bytes", "16 bytes"}},
    {"six-series", make_six_series, {0}, 192, {"4 bytes, load", "16 bytes, copy"}},
    {"six-filtered",
     make_six_series,
     {.axis_count = 2, .axes = bytes_4_copy},
     32,
     {"4 bytes, op copy", "copy ceiling 4270 GB/s"}},
    {"many-series", make_many_series, {0}, 192, {"4 bytes", "block 32 threads (one of 16)"}},
    {"lost",
     make_lost,
     {0},
     27,
     {"timeout: no answer within 10 s  (stride 12, 13)", "failed: CUDA error 700", "skipped: the footprint of 96 GiB"}},
    {"all-lost", make_all_lost, {0}, 0, {"failed: CUDA error 2: out of memory", "and 26 more"}},
    {"no-counters", make_no_counters, {0}, 32, {"the lower panel shows the law alone: no counters"}},
    {"plain", make_plain, {0}, 32, {"Plain: useful bandwidth over stride", "a capacity of 12"}},
    {"4096", make_4096, {0}, 4096, {"stride  [elements]"}},
    {"hostile", make_hostile, {0}, 27, {"`touch hacked` $(touch hacked)"}},
    {"size", make_size, {0}, 18, {"64 Ki", "size"}},
    {"auto", make_auto, {0}, 19, {"auto"}},
    {"sizes", make_sizes, {0}, 13, {"80 Ki", "160 Ki"}},
    {"counts", make_counts, {0}, 10, {"128 Mi", "256 Ki", "stride  [elements]"}},
    {"counter", make_stride, {.y = "global_load_sectors"}, 32, {"Strided: global load sectors over stride"}},
    {"time", make_bytes_series, {.y = "time", .series = "bytes"}, 96, {"time  [µs]"}},
};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

/* ---- drawing for the shell test --------------------------------------------------- */

static int draw_variant(const char *folder, const struct variant *variant, FILE *expected)
{
    static const char *const kinds[] = {".svg", "-dark.svg", ".png", "-dark.png", ".pdf", ".txt"};
    struct ub_record record;
    variant->make(&record);
    int failures = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        char path[1024];
        struct ub_plot_options options = variant->options;
        struct ub_error err = {0};
        options.dark = strstr(kinds[k], "dark") != NULL;
        options.keep_script = k == 0;
        snprintf(path, sizeof path, "%s/%s%s", folder, variant->name, kinds[k]);
        if (!ub_plot(&record, &options, path, &err)) {
            fprintf(stderr, "%s: %s\n", path, err.text);
            failures++;
        }
    }
    fprintf(expected, "%s\t%d", variant->name, variant->dots);
    for (size_t t = 0; t < 6 && variant->texts[t]; t++)
        fprintf(expected, "\t%s", variant->texts[t]);
    fputc('\n', expected);
    ub_record_free(&record);
    return failures;
}

static int draw_all(const char *folder)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/expected.tsv", folder);
    FILE *expected = fopen(path, "w");
    if (!expected) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return 1;
    }
    const char *only = getenv("UB_CHART_ONLY");
    int failures = 0;
    for (size_t i = 0; i < VARIANTS; i++)
        if (!only || strcmp(only, variants[i].name) == 0)
            failures += draw_variant(folder, &variants[i], expected);
    fclose(expected);
    return failures;
}

/* ---- scripts -------------------------------------------------------------------------- */

static void test_scripts(void **state)
{
    (void)state;
    static const char *const outputs[] = {"chart.svg", "chart.txt"};
    for (size_t i = 0; i < VARIANTS; i++)
        for (size_t o = 0; o < 2; o++) {
            struct ub_record record;
            variants[i].make(&record);
            char *script = script_of(&record, &variants[i].options, outputs[o]);
            assert_non_null(strstr(script, "OUT = './chart."));
            if (o == 0 && variants[i].dots > 0)
                assert_int_equal(rows_of(script, "$dots"), variants[i].dots);
            drop_quoted(script);
            /* Nothing from outside is left where gnuplot would read it. */
            static const char *const forbidden[] = {"nan\n", "nan ", "inf\n", "inf ", "`", "touch", "hacked", "Gerät"};
            for (size_t f = 0; f < sizeof forbidden / sizeof forbidden[0]; f++)
                if (strstr(script, forbidden[f]))
                    fail_msg("%s: the script has \"%s\"", variants[i].name, forbidden[f]);
            free(script);
            ub_record_free(&record);
        }
}

/* A point that stands in several sweeps is drawn once, as the chosen sweep measured it. */
static void test_one_sweep_only(void **state)
{
    (void)state;
    struct ub_record record;
    make_stride(&record); /* its stride=1 is also offset=0 */
    for (int64_t offset = 0; offset < 8; offset++) {
        struct ub_point point = initial_point();
        point.values[OFFSET] = offset;
        add_point(&record, &strided, "offset", &point, 0.001);
    }
    char *script = script_of(&record, &(struct ub_plot_options){.x = "offset"}, "chart.svg");
    assert_int_equal(rows_of(script, "$dots"), 8);
    free(script);
    ub_record_free(&record);
}

/* Whose the points without a value are is said where not all series have them, each place once. */
static void test_lost_of_series(void **state)
{
    (void)state;
    static const struct {
        size_t lost[5]; /* of three series with 32 points each, in the order of the record; 0 ends */
        const char *note;
    } rows[] = {
        {{4, 5}, "'× failed: broken  (4 bytes: stride 5, 6)'"},
        {{68, 36, 37}, "'× failed: broken  (8 bytes; 16 bytes: some of stride 5, 6)'"},
        {{4, 36, 68}, "'× failed: broken  (stride 5)'"},
        {{68, 4, 38}, "'× failed: broken  (some of stride 5, 7)'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ub_record record;
        make_bytes_series(&record);
        for (size_t n = 0; rows[i].lost[n]; n++)
            lose_point(&record.points[rows[i].lost[n]], UB_POINT_FAILED, "broken");
        char *script = script_of(&record, &(struct ub_plot_options){0}, "chart.svg");
        if (!strstr(script, rows[i].note))
            fail_msg("row %zu: no %s", i, rows[i].note);
        free(script);
        ub_record_free(&record);
    }
}

static void test_other_metric(void **state)
{
    (void)state;
    struct ub_record record;
    init_record(&record, UB_MEASURED);
    for (int64_t op = 0; op <= 2; op += 2)
        for (int64_t stride = 1; stride <= 8; stride++) {
            struct ub_point point = initial_point();
            point.values[STRIDE] = stride;
            point.values[OP] = op;
            add_point(&record, &folded, op ? "copies" : "loads", &point, 0.001);
        }
    char *loads = script_of(&record, &(struct ub_plot_options){.sweep = "loads"}, "chart.svg");
    char *copies = script_of(&record, &(struct ub_plot_options){.sweep = "copies"}, "chart.svg");
    assert_non_null(strstr(loads, "bandwidth  [GB/s]"));
    assert_null(strstr(loads, "accesses"));
    assert_non_null(strstr(copies, "accesses  [10⁶/s]"));
    assert_int_equal(rows_of(copies, "$dots"), 8);
    free(loads);
    free(copies);
    ub_record_free(&record);
}

static void test_many_points(void **state)
{
    (void)state;
    struct ub_record record;
    make_4096(&record);
    char *script = script_of(&record, &(struct ub_plot_options){0}, "chart.svg");
    assert_int_equal(rows_of(script, "$dots"), 4096);
    free(script);
    ub_record_free(&record);
}

static void test_locale(void **state)
{
    (void)state;
    struct ub_record record;
    make_bytes_series(&record);
    char *plain_script = script_of(&record, &(struct ub_plot_options){0}, "chart.svg");
    /* A locale with a decimal comma, where the system has one. */
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8"};
    bool comma = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !comma; i++)
        comma = setlocale(LC_ALL, names[i]) != NULL;
    if (comma) {
        char number[16];
        snprintf(number, sizeof number, "%.1f", 0.5);
        assert_string_equal(number, "0,5");
        char *script = script_of(&record, &(struct ub_plot_options){0}, "chart.svg");
        assert_string_equal(script, plain_script);
        free(script);
        setlocale(LC_ALL, "C");
    }
    free(plain_script);
    ub_record_free(&record);
    if (!comma)
        skip(); /* charts/sweep_test.sh makes itself such a locale */
}

/* ---- mistakes ------------------------------------------------------------------------- */

static void test_mistakes(void **state)
{
    (void)state;
    static const struct {
        struct ub_plot_options options;
        const char *output;
        enum ub_status status;
        const char *parts[3];
    } rows[] = {
        {{.rule = "stride"}, "a.svg", UB_USAGE, {"stride", "strided, plain, stairs, holed, folded, roofed"}},
        {{.rule = "plain"}, "a.svg", UB_USAGE, {"no points", "plain"}},
        {{.sweep = "ofset"}, "a.svg", UB_USAGE, {"--sweep ofset", "stride"}},
        {{.x = "strid"}, "a.svg", UB_USAGE, {"--x strid", "stride, offset, bytes, op, pattern, block, size"}},
        {{.series = "width"}, "a.svg", UB_USAGE, {"--series width", "stride, offset"}},
        {{.y = "bandwidth"}, "a.svg", UB_USAGE, {"--y bandwidth", "useful_bandwidth", "global_load_sectors"}},
        {{.axis_count = 1, .axes = bites_4}, "a.svg", UB_USAGE, {"--bites"}},
        {{.axis_count = 1, .axes = bytes_x}, "a.svg", UB_USAGE, {"x"}},
        {{.axis_count = 1, .axes = bytes_8}, "a.svg", UB_BAD_DATA, {"nothing to draw", "--bytes 8"}},
        {{.term = "gif"}, "a.svg", UB_USAGE, {"--term gif", "svg, png, pdf or dumb"}},
        {{0}, "a.gif", UB_USAGE, {"a.gif", ".svg, .png, .pdf or .txt"}},
        {{0}, "svg", UB_USAGE, {"svg: the ending"}},
        {{0}, "a\nb.svg", UB_USAGE, {"control character"}},
    };
    struct ub_record record;
    make_stride(&record);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ub_error err = {0};
        FILE *stream = fopen("/dev/null", "w");
        assert_non_null(stream);
        assert_false(ub_plot_script(stream, &record, &rows[i].options, rows[i].output, &err));
        fclose(stream);
        assert_int_equal(err.status, rows[i].status);
        for (size_t p = 0; p < 3 && rows[i].parts[p]; p++)
            if (!strstr(err.text, rows[i].parts[p]))
                fail_msg("row %zu: \"%s\" lacks \"%s\"", i, err.text, rows[i].parts[p]);
    }
    ub_record_free(&record);
}

static void test_nothing_to_draw(void **state)
{
    (void)state;
    struct ub_record record = {0};
    struct ub_error err = {0};
    FILE *stream = fopen("/dev/null", "w");
    assert_non_null(stream);
    assert_false(ub_plot_script(stream, &record, &(struct ub_plot_options){0}, "a.svg", &err));
    assert_int_equal(err.status, UB_BAD_DATA);
    assert_non_null(strstr(err.text, "nothing to draw"));
    /* No point has a value, and without its ceiling the law says nothing either. */
    make_all_lost(&record);
    record.constants.count = 0;
    assert_false(ub_plot_script(stream, &record, &(struct ub_plot_options){0}, "a.svg", &err));
    assert_int_equal(err.status, UB_BAD_DATA);
    assert_non_null(strstr(err.text, "out of memory"));
    fclose(stream);
    ub_record_free(&record);
}

/* No value of a record makes a scale overflow, and the chart says which points lack one. */
static void test_absurd(void **state)
{
    (void)state;
    static const double values[] = {1e308, -1e308, 1e31, INFINITY};
    static const char *const outputs[] = {"chart.svg", "chart.txt"};
    for (size_t v = 0; v < sizeof values / sizeof values[0]; v++)
        for (size_t o = 0; o < 2; o++) {
            struct ub_record record;
            make_stride(&record);
            for (size_t m = 0; m < record.points[4].metric_count; m++)
                record.points[4].metrics[m].value = values[v];
            record.points[5].metrics[0].value = 1e-310;
            record.points[7].time.ci_hi = 1e308;
            char *script = script_of(&record, &(struct ub_plot_options){0}, outputs[o]);
            assert_non_null(strstr(script, "value out of any scale  (stride 5)"));
            if (o == 0)
                assert_int_equal(rows_of(script, "$dots"), 31);
            drop_quoted(script);
            assert_null(strstr(script, "inf"));
            assert_null(strstr(script, "nan"));
            assert_null(strstr(script, "e+2"));
            assert_null(strstr(script, "e+3"));
            free(script);
            /* The same constant in the law. */
            ub_constant_set(&record.constants, "dram_load_ceiling", 1e308, 0, 0, "B/s", "absurd");
            script = script_of(&record, &(struct ub_plot_options){0}, outputs[o]);
            drop_quoted(script);
            assert_null(strstr(script, "inf"));
            assert_null(strstr(script, "nan"));
            assert_null(strstr(script, "e+2"));
            assert_null(strstr(script, "e+3"));
            free(script);
            ub_record_free(&record);
        }
}

/* A record's text in a message moves no cursor. */
static void test_harmless_messages(void **state)
{
    (void)state;
    struct ub_record record;
    make_stride(&record);
    ub_set_string(&record.points[0].sweep, "a\033[2Jb\r\n");
    ub_set_string(&record.points[1].sweep, "\033]0;title\a");
    FILE *stream = fopen("/dev/null", "w");
    assert_non_null(stream);
    for (int foreign = 0; foreign < 2; foreign++) {
        struct ub_error err = {0};
        const struct ub_plot_options options = {.sweep = foreign ? NULL : "none"};
        if (foreign) /* a word that the rule's axis does not have */
            ub_set_string(&record.points[2].axes[OP].word, "\033[2Jload");
        assert_false(ub_plot_script(stream, &record, &options, "a.svg", &err));
        assert_true(strlen(err.text) > 10);
        for (const char *c = err.text; *c; c++)
            assert_true((unsigned char)*c >= 0x20);
    }
    fclose(stream);
    ub_record_free(&record);
}

int main(void)
{
    setlocale(LC_ALL, "");
    const char *folder = getenv("UB_CHART_FOLDER");
    if (folder)
        return draw_all(folder) > 0;
    setlocale(LC_ALL, "C");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scripts),        cmocka_unit_test(test_one_sweep_only),
        cmocka_unit_test(test_lost_of_series), cmocka_unit_test(test_other_metric),
        cmocka_unit_test(test_many_points),    cmocka_unit_test(test_locale),
        cmocka_unit_test(test_mistakes),       cmocka_unit_test(test_nothing_to_draw),
        cmocka_unit_test(test_absurd),         cmocka_unit_test(test_harmless_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
