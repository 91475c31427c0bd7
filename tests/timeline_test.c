/* SPDX-License-Identifier: MIT
 *
 * The chart of a timeline: which point it shows, its rows, bars, words and the law beside
 * them, as its script says. charts/timeline_test.sh draws with the real gnuplot. */
#include <stdio.h>
#include <stdlib.h>

#include "plots/timeline.h"
#include "tests/rule_fixture.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

extern const struct ub_micro ub_micro_streams;

/* A point of `streams` with two segments on two streams: 0 to 30 µs, two and a half operations at once. */
static struct ub_record_point *add_point(struct ub_record *record, int64_t streams, const char *sweep)
{
    static const struct ub_span spans[] = {
        {0, 0, "copy in", 0, 10e3},     {1, 1, "copy in", 0, 20e3},     {0, 0, "kernel", 10e3, 20e3},
        {0, 0, "copy out", 20e3, 30e3}, {1, 1, "copy out", 20e3, 30e3}, {UB_DEFAULT_STREAM, 1, "barrier", 15e3, 30e3},
    };
    const struct ub_point point = parse_point(&ub_micro_streams, "");
    struct ub_record_point *added = ub_record_add_point(record);
    ub_set_string(&added->rule, "streams");
    ub_set_string(&added->sweep, sweep);
    for (size_t i = 0; i < ub_micro_streams.axis_count; i++) {
        const struct ub_axis *axis = &ub_micro_streams.axes[i];
        const int64_t value = strcmp(axis->name, "streams") == 0 ? streams : point.values[i];
        const char *word = axis->kind == UB_AXIS_WORD      ? axis->words[value]
                           : axis->zero_word && value == 0 ? axis->zero_word
                                                           : NULL;
        ub_point_add_axis(added, axis->name, word, value);
    }
    for (size_t i = 0; i < COUNT(spans); i++)
        ub_point_add_span(added, &spans[i]);
    return added;
}

static void make_record(struct ub_record *record, enum ub_source source)
{
    *record = (struct ub_record){.source = source};
    ub_device_info_init(&record->device);
    ub_set_string(&record->device.name, "NVIDIA H200");
    ub_set_string(&record->device.slug, "h200");
    ub_gpu_constants(h200(), &record->constants);
}

/* The script, or NULL and `err`. */
static char *script_of(const struct ub_record *record, const struct ub_plot_options *options, struct ub_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    const bool ok = ub_plot_timeline_script(stream, record, options, "out.svg", err);
    fclose(stream);
    if (ok)
        return text;
    free(text);
    return NULL;
}

static void expect_in(const char *script, const char *wanted)
{
    if (!strstr(script, wanted))
        fail_msg("'%s' is not in\n%s", wanted, script);
}

static const struct ub_plot_options svg = {.term = "svg"};

static void every_operation_has_a_bar(void **state)
{
    static const char *const wanted[] = {
        "$bars << EOD\n0 10 3 1\n0 20 2 1\n10 20 3 2\n20 30 3 3\n20 30 2 3\n15 30 1 4\nEOD\n",
        "set label 'stream 0' at screen ",
        "first 3 noenhanced right",
        "set label 'default stream' at screen ",
        "'time  [µs]'",
        "set label '2.5 operations at the same time in the mean: 75 µs of work in 30 µs'",
        "set label 'copy in' at",
        "set label 'barrier' at",
        "NVIDIA H200 · streams · stages pipeline · host pinned · 2 streams · 16 segments",
        "predicted, not measured",
    };
    struct ub_record record;
    struct ub_error err;
    (void)state;
    make_record(&record, UB_PREDICTED);
    add_point(&record, 2, "a");
    char *script = script_of(&record, &svg, &err);
    assert_non_null(script);
    for (size_t i = 0; i < COUNT(wanted); i++)
        expect_in(script, wanted[i]);
    expect_in(script, "N_LAW = 0");
    free(script);
    ub_record_free(&record);
}

/* What was measured has the law under it, in the same units. */
static void the_law_stands_beside_what_was_measured(void **state)
{
    struct ub_record record;
    struct ub_error err;
    (void)state;
    make_record(&record, UB_MEASURED);
    add_point(&record, 2, "a");
    char *script = script_of(&record, &svg, &err);
    assert_non_null(script);
    expect_in(script, "one launch, from events between its operations");
    expect_in(script, "N_LAW = 1");
    expect_in(script, "below: by the law");
    const char *law = strstr(script, "$law << EOD\n");
    assert_non_null(law);
    size_t rows = 0;
    for (const char *c = law + 12; strncmp(c, "EOD", 3) != 0; c = strchr(c, '\n') + 1)
        rows++;
    assert_int_equal(rows, 3 * 16);
    free(script);
    ub_record_free(&record);
}

static void the_point_with_most_at_once_is_shown(void **state)
{
    static const struct {
        const char *streams, *sweep, *wanted;
    } rows[] = {
        {NULL, NULL, "· 3 streams ·"},
        {"2", NULL, "· 2 streams ·"},
        {NULL, "b", "· 4 streams ·"},
        {"4", "b", "· 4 streams ·"},
    };
    struct ub_record record;
    struct ub_error err;
    (void)state;
    make_record(&record, UB_PREDICTED);
    add_point(&record, 2, "a");
    add_point(&record, 3, "a")->spans[1].end_ns = 25e3;
    add_point(&record, 4, "b")->spans[1].end_ns = 15e3;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_axis_option option = {.name = "streams", .spec = rows[i].streams};
        const struct ub_plot_options options = {
            .term = "svg", .sweep = rows[i].sweep, .axis_count = rows[i].streams != NULL, .axes = &option};
        char *script = script_of(&record, &options, &err);
        if (!script)
            fail_msg("%s", err.text);
        expect_in(script, rows[i].wanted);
        free(script);
    }
    ub_record_free(&record);
}

/* Two streams with `operations` each that all run at the same time: more overlap than any other point. */
static void crowd(struct ub_record_point *point, size_t streams, size_t operations)
{
    point->span_count = 0;
    for (size_t i = 0; i < streams * operations; i++) {
        const struct ub_span span = {(int)(i % streams), (int)i, "kernel", 0, 30e3};
        ub_point_add_span(point, &span);
    }
}

/* What can be read comes before what overlaps most. */
static void a_crowded_point_is_not_shown(void **state)
{
    static const struct {
        size_t streams, operations; /* of the point with 8 streams; those of the other can be read */
        const char *wanted;
    } rows[] = {{2, 12, "· 8 streams ·"}, {2, 13, "· 2 streams ·"}, {8, 12, "· 8 streams ·"}, {9, 12, "· 2 streams ·"}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ub_record record;
        struct ub_error err;
        make_record(&record, UB_PREDICTED);
        add_point(&record, 2, "a");
        crowd(add_point(&record, 8, "a"), rows[i].streams, rows[i].operations);
        char *script = script_of(&record, &svg, &err);
        assert_non_null(script);
        expect_in(script, rows[i].wanted);
        free(script);
        ub_record_free(&record);
    }
}

/* Where none can be read the least crowded one is. */
static void of_crowded_points_the_least_is_shown(void **state)
{
    struct ub_record record;
    struct ub_error err;
    (void)state;
    make_record(&record, UB_PREDICTED);
    crowd(add_point(&record, 2, "a"), 2, 64);
    crowd(add_point(&record, 3, "a"), 2, 16);
    crowd(add_point(&record, 4, "a"), 2, 32);
    char *script = script_of(&record, &svg, &err);
    assert_non_null(script);
    expect_in(script, "· 3 streams ·");
    free(script);
    ub_record_free(&record);
}

static void what_cannot_be_drawn_is_said(void **state)
{
    static const struct ub_axis_option eight = {.name = "streams", .spec = "8"}, none = {.name = "wide", .spec = "8"};
    static const struct {
        struct ub_plot_options options;
        enum ub_status status;
        const char *wanted;
    } rows[] = {
        {{.term = "svg", .x = "streams"}, UB_USAGE, "--x belongs to charts of sweeps"},
        {{.term = "svg", .y = "time"}, UB_USAGE, "--y belongs to charts of sweeps"},
        {{.term = "svg", .series = "work"}, UB_USAGE, "--series belongs to charts of sweeps"},
        {{.term = "svg", .sweep = "c"}, UB_USAGE, "has no sweep of that name"},
        {{.term = "svg", .rule = "nothing"}, UB_USAGE, "no rule is called nothing"},
        {{.term = "svg", .axis_count = 1, .axes = &none}, UB_USAGE, "no axis of that name"},
        {{.term = "svg", .axis_count = 1, .axes = &eight}, UB_BAD_DATA, "nothing to draw"},
    };
    struct ub_record record;
    struct ub_error err;
    (void)state;
    make_record(&record, UB_MEASURED);
    assert_null(script_of(&record, &svg, &err));
    assert_non_null(strstr(err.text, "no point of this record has a timeline"));
    add_point(&record, 2, "a");
    for (size_t i = 0; i < COUNT(rows); i++) {
        err = (struct ub_error){0};
        assert_null(script_of(&record, &rows[i].options, &err));
        assert_int_equal(err.status, rows[i].status);
        if (!strstr(err.text, rows[i].wanted))
            fail_msg("%s", err.text);
    }
    record.points[0].span_count = 0;
    assert_null(script_of(&record, &(struct ub_plot_options){.term = "svg", .rule = "streams"}, &err));
    assert_int_equal(err.status, UB_BAD_DATA);
    ub_record_free(&record);
}

/* A launch without overlap says so; no text of a record reaches gnuplot outside of quotes. */
static void odd_records_are_drawn(void **state)
{
    struct ub_record record;
    struct ub_error err;
    (void)state;
    make_record(&record, UB_PREDICTED);
    struct ub_record_point *point = add_point(&record, 2, "a");
    for (size_t i = 0; i < point->span_count; i++) {
        struct ub_span *span = &point->spans[i];
        span->begin_ns = 1e9 * (double)i;
        span->end_ns = 1e9 * (double)(i + 1);
        snprintf(span->stage, sizeof span->stage, "'`x%u`\x01$(y)", (unsigned)i % 8);
    }
    const struct ub_span more = {63, 7, "seventh", 6e9, 6e9};
    ub_point_add_span(point, &more);
    ub_set_string(&record.device.name, "\x1b[31m'; system('touch hacked')\n");
    for (int dumb = 0; dumb < 2; dumb++) {
        const struct ub_plot_options options = {.term = dumb ? "dumb" : "svg", .columns = 60};
        char *script = script_of(&record, &options, &err);
        assert_non_null(script);
        expect_in(script, "One operation after the other: 6 s of work in 6 s");
        assert_null(strchr(script, 0x1b));
        assert_null(strchr(script, 1));
        if (!dumb)
            expect_in(script, "''; system(''touch hacked'')"); /* doubled quotes end nothing */
        free(script);
    }
    ub_record_free(&record);
}

/* One operation a stage, in sequence: their names end in the letters from a on. */
static void add_stages(struct ub_record *record, size_t count, const char *format)
{
    struct ub_record_point *point = add_point(record, 2, "a");
    point->span_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct ub_span span = {(int)(i % 2), (int)i, "", 10e3 * (double)i, 10e3 * (double)(i + 1)};
        snprintf(span.stage, sizeof span.stage, format, (char)('a' + i));
        ub_point_add_span(point, &span);
    }
}

/* Stages that share the last colour have a letter in the bar and in the key; what is beyond twelve says so. */
static void many_stages_are_told_apart(void **state)
{
    static const struct {
        size_t stages;
        const char *format, *wanted[4], *unwanted;
    } rows[] = {
        {6, "stage %c", {"set label 'stage f' at", "set label '5' at", "'number: the segment'"}, "'a stage f'"},
        {7, "stage %c", {"'stage e'", "'a stage f'", "'b stage g'", "'b6'"}, "further stages"},
        {13,
         "stage %c",
         {"'letter: the stage, number: the segment'", "'g stage l'", "'+ further stages'", "'+12'"},
         "stage m"},
        {7, "WWWWWWWWWWWWWW%c", {"'WWWWWWWW…'", "'a WWWWWWWW…'"}, "WWWWWWWWWWWWWW"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ub_record record;
        struct ub_error err;
        make_record(&record, UB_PREDICTED);
        add_stages(&record, rows[i].stages, rows[i].format);
        char *script = script_of(&record, &svg, &err);
        assert_non_null(script);
        for (size_t w = 0; w < COUNT(rows[i].wanted) && rows[i].wanted[w]; w++)
            expect_in(script, rows[i].wanted[w]);
        if (strstr(script, rows[i].unwanted))
            fail_msg("row %zu has %s", i, rows[i].unwanted);
        free(script);
        ub_record_free(&record);
    }
}

/* No key leaves the picture, however many there are. */
static void keys_stay_in_the_picture(void **state)
{
    struct ub_record record;
    struct ub_error err;
    (void)state;
    make_record(&record, UB_PREDICTED);
    add_stages(&record, 13, "WWWWWWWWWWWWWW%c");
    char *script = script_of(&record, &svg, &err);
    assert_non_null(script);
    double lowest = 1;
    size_t keys = 0;
    for (const char *at = script; (at = strstr(at, "…' at screen "));) {
        double x, y;
        at += strlen("…' at screen ");
        assert_int_equal(sscanf(at, "%lf,%lf", &x, &y), 2);
        assert_true(x * 900 + 120 < 900);
        lowest = y < lowest ? y : lowest;
        keys++;
    }
    assert_int_equal(keys, 12);
    const char *frame = strstr(script, "TM = ");
    assert_non_null(frame);
    assert_true(strtod(frame + 5, NULL) < lowest);
    free(script);
    ub_record_free(&record);
}

/* Letters are those of the names as far as none has them yet. */
static void no_letter_stands_for_two_stages(void **state)
{
    static const struct {
        size_t stages;
        const char *format, *wanted;
    } rows[] = {{3, "%c copy", "c a copy, b b copy, o c copy, . nothing"},
                {13, "s %c", "a s a, b s b, c s c, d s d, e s e, f s f, g s g, h s h, i s i, j s j, k s k,"},
                {13, "%c", "l l, + further stages, . nothing"}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ub_record record;
        struct ub_error err;
        make_record(&record, UB_PREDICTED);
        add_stages(&record, rows[i].stages, rows[i].format);
        const struct ub_plot_options options = {.term = "dumb", .columns = 100};
        char *script = script_of(&record, &options, &err);
        assert_non_null(script);
        expect_in(script, rows[i].wanted);
        free(script);
        ub_record_free(&record);
    }
}

/* No line is wider than the terminal, and the rows keep most of a narrow one; below 40 columns
 * none is narrower. */
static void a_narrow_terminal_is_used_well(void **state)
{
    static const struct {
        int columns, width;
        const char *wanted[3];
    } rows[] = {
        {20, 40, {"'2.5 operations at the same time in'", "'the mean: 75 us of work in 30 us'", "W = 40;"}},
        {40, 40, {"'i copy in, k kernel, o copy out,'", "'b barrier, . nothing'", "set lmargin 10; set tmargin 6"}},
        {80,
         80,
         {"'i copy in, k kernel, o copy out, b barrier, . nothing'", "W = 80;", "set lmargin 10; set tmargin 4"}},
    };
    struct ub_record record;
    struct ub_error err;
    (void)state;
    make_record(&record, UB_PREDICTED);
    add_point(&record, 2, "a");
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_plot_options options = {.term = "dumb", .columns = rows[i].columns};
        char *script = script_of(&record, &options, &err);
        assert_non_null(script);
        for (size_t w = 0; w < COUNT(rows[i].wanted); w++)
            expect_in(script, rows[i].wanted[w]);
        for (const char *at = script; (at = strstr(at, "set label '"));) {
            at += strlen("set label '");
            assert_true(strcspn(at, "'") < (size_t)rows[i].width);
        }
        free(script);
    }
    ub_record_free(&record);
}

/* What falls between two cells is counted. */
static void what_is_too_short_is_counted(void **state)
{
    struct ub_record record;
    struct ub_error err;
    (void)state;
    make_record(&record, UB_PREDICTED);
    struct ub_record_point *point = add_point(&record, 2, "a");
    point->spans[0].end_ns = point->spans[2].begin_ns = 1;
    const struct ub_plot_options options = {.term = "dumb", .columns = 100};
    char *script = script_of(&record, &options, &err);
    assert_non_null(script);
    expect_in(script, "; 1 operation too short for a letter");
    free(script);
    ub_record_free(&record);
}

static void a_terminal_shows_letters(void **state)
{
    struct ub_record record;
    struct ub_error err;
    (void)state;
    make_record(&record, UB_PREDICTED);
    add_point(&record, 2, "a");
    const struct ub_plot_options options = {.term = "dumb", .columns = 50};
    char *script = script_of(&record, &options, &err);
    assert_non_null(script);
    expect_in(script, "set label 'iiiiiiiiiiiikkkkkkkkkkkkoooooooooooo' at graph 0,first 3");
    expect_in(script, "set label '..................bbbbbbbbbbbbbbbbbb' at graph 0,first 1");
    expect_in(script, "'i copy in, k kernel, o copy out, b barrier,'");
    expect_in(script, "'. nothing'");
    free(script);
    ub_record_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_has_a_bar),
        cmocka_unit_test(the_law_stands_beside_what_was_measured),
        cmocka_unit_test(the_point_with_most_at_once_is_shown),
        cmocka_unit_test(what_cannot_be_drawn_is_said),
        cmocka_unit_test(odd_records_are_drawn),
        cmocka_unit_test(a_crowded_point_is_not_shown),
        cmocka_unit_test(of_crowded_points_the_least_is_shown),
        cmocka_unit_test(many_stages_are_told_apart),
        cmocka_unit_test(keys_stay_in_the_picture),
        cmocka_unit_test(no_letter_stands_for_two_stages),
        cmocka_unit_test(a_narrow_terminal_is_used_well),
        cmocka_unit_test(what_is_too_short_is_counted),
        cmocka_unit_test(a_terminal_shows_letters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
