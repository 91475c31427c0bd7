/* SPDX-License-Identifier: MIT
 *
 * What people and other tools read: tables, CSV, markdown, Google Benchmark's JSON,
 * OpenMetrics. Each format is read back by its own rules, also with hostile text
 * and under a locale with a decimal comma. */
#include "harness/io/formats.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "harness/io/text.h"
#include "tests/io_fixture.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- units --------------------------------------------------------------- */

typedef void (*format_value)(double value, char *text, size_t size);

static void units_have_few_digits(void **state)
{
    (void)state;
    static const struct {
        format_value format;
        double value;
        const char *wanted;
    } cases[] = {
        {ub_format_time, 0, "0.000 ns"},
        {ub_format_time, 0.0004, "0.0004 ns"},
        {ub_format_time, 1, "1.000 ns"},
        {ub_format_time, 999.94, "999.9 ns"},
        {ub_format_time, 999.96, "1.000 us"},
        {ub_format_time, 1234, "1.234 us"},
        {ub_format_time, 458800, "458.8 us"},
        {ub_format_time, 999960, "1.000 ms"},
        {ub_format_time, 12345678, "12.35 ms"},
        {ub_format_time, 1e9, "1.000 s"},
        {ub_format_time, 123456e9, "123456 s"},
        {ub_format_time, 9e23, "900000000000000 s"},
        {ub_format_time, 1.234567e24, "1.235e+15 s"},
        {ub_format_time, 1e308, "1e+299 s"},
        {ub_format_bytes, 1e308, "9.095e+295 TiB"},
        {ub_format_rate, 1e308, "1e+296 TB/s"},
        {ub_format_time, -1234, "-1.234 us"},
        {ub_format_time, NAN, "-"},
        {ub_format_time, INFINITY, "-"},
        {ub_format_bytes, 0, "0 B"},
        {ub_format_bytes, 512, "512 B"},
        {ub_format_bytes, 1023, "1023 B"},
        {ub_format_bytes, 1024, "1 KiB"},
        {ub_format_bytes, 1536, "1.5 KiB"},
        {ub_format_bytes, 0x1p29, "512 MiB"},
        {ub_format_bytes, 0x1p31, "2 GiB"},
        {ub_format_bytes, 150754820096, "140.4 GiB"},
        {ub_format_bytes, 0x1p42, "4 TiB"},
        {ub_format_bytes, NAN, "-"},
        {ub_format_rate, 4.28e12, "4.28 TB/s"},
        {ub_format_rate, 4.683e12, "4.68 TB/s"},
        {ub_format_rate, 999.4e9, "999 GB/s"},
        {ub_format_rate, 999.6e9, "1.00 TB/s"},
        {ub_format_rate, 12.34e9, "12.3 GB/s"},
        {ub_format_rate, 1, "1.00 B/s"},
        {ub_format_rate, 123.4e12, "123 TB/s"},
        {ub_format_rate, NAN, "-"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[40];
        cases[i].format(cases[i].value, text, sizeof text);
        assert_string_equal(text, cases[i].wanted);
    }
}

static void text_is_cut_by_columns(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t columns;
        bool utf8;
        const char *wanted;
    } cases[] = {
        {"abcdef", 6, true, "abcdef"},
        {"abcdef", 5, true, "abc.."},
        {"abcdef", 1, true, "a"},
        {"\x1b[31mred\n", 20, true, "?[31mred?"},
        {"\xe6\xb8\xac\xe5\xae\x9a!", 5, true, "\xe6\xb8\xac\xe5\xae\x9a!"},
        {"\xe6\xb8\xac\xe5\xae\x9a!", 4, true, "\xe6\xb8\xac.."},
        {"\xe6\xb8\xac\xe5\xae\x9a!", 5, false, "?\?!"},
        {"e\xcc\x81", 1, true, "e\xcc\x81"},
        {"a\xe2\x80\xae"
         "b",
         9, true, "a?b"},
        {"a\xff", 9, true, "a\xef\xbf\xbd"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[40];
        ub_text_plain(text, sizeof text, cases[i].text, cases[i].columns, cases[i].utf8);
        assert_string_equal(text, cases[i].wanted);
    }
    char small[6];
    ub_text_plain(small, sizeof small, "abcdefghij", 100, true);
    assert_string_equal(small, "abc");
}

/* ---- records for the tests ----------------------------------------------- */

/* One point of each status, two ceilings, warnings, a broken and a deviating point. */
static void eventful_record(struct ub_record *record)
{
    static const enum ub_point_status lost[] = {UB_POINT_SKIPPED, UB_POINT_FAILED, UB_POINT_TIMEOUT};
    fixture_record(record, UB_MEASURED, 6, 10);
    for (size_t i = 0; i < COUNT(lost); i++) {
        struct ub_record_point *point = &record->points[i + 3];
        point->status = lost[i];
        point->time.n = 0;
        free(point->time.samples);
        point->time.samples = NULL;
    }
    ub_set_string(&record->points[3].reason, "needs 300 GiB, the card has 140 GiB");
    ub_set_string(&record->points[4].reason, "wrong answer at element 7");
    record->points[1].counters[1].measured += 1;
    record->points[1].counter_verdict = UB_COUNTERS_BROKEN;
    record->points[2].time_verdict = UB_TIME_DEVIATES;
    record->points[2].residual = 0.252;
    ub_set_string(&record->points[2].note, "rows of DRAM are known to deviate here");
    fixture_point(record, "ceiling", 1, 10);
    fixture_point(record, "ceiling", 2, 10);
    ub_record_warn(record, "unstable-clock", 2, "the clock fell to 1200 MHz");
    ub_record_warn(record, "other-process", -1, "another process uses the GPU");
}

static char *print_human(const struct ub_record *record, struct ub_print_options options)
{
    char *text = NULL;
    size_t size = 0;
    struct ub_error err;
    FILE *stream = open_memstream(&text, &size);
    assert_true(ub_print_human(stream, record, &options, &err));
    fclose(stream);
    char *copy = strdup(text); /* gcc 12 takes open_memstream()'s own block for the address of `text` */
    free(text);
    return copy;
}

static void expect_has(const char *text, const char *wanted)
{
    if (!strstr(text, wanted))
        fail_msg("\"%s\" is missing in:\n%s", wanted, text);
}

static void expect_not(const char *text, const char *unwanted)
{
    if (strstr(text, unwanted))
        fail_msg("\"%s\" stands in:\n%s", unwanted, text);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

/* ---- the table for people ------------------------------------------------ */

static void a_measured_table_says_all(void **state)
{
    (void)state;
    static const char *const wanted[] = {
        "NVIDIA H200",
        "132 SMs",
        "compute capability 9.0",
        "driver 580.65.06",
        "coalescing, sweep stride: measured on NVIDIA H200",
        "coalescing: ceilings of this run, measured on NVIDIA H200",
        "bytes=4 op=load block=256",
        "working set 256 MiB to 1.5 GiB",
        "cache cold",
        "limited by dram",
        "101.0 us +-0.20 %",
        "2.66 TB/s",
        "##########",
        "95.0 %",
        "4 = 4",
        "+1.0 % holds",
        "+25.2 % deviates",
        "skipped: needs 300 GiB, the card has 140 GiB",
        "failed: wrong answer at element 7",
        "timeout",
        "global_load_sectors: measured 16777217, the law says 16777216",
        "note: rows of DRAM are known to deviate here",
        "8 points: 5 ok, 1 skipped, 1 failed, 1 timeout",
        "counters: the law holds at 4, is broken at 1, not tested at 0",
        "time: the law holds at 4, deviates at 1 (most: +25.2 % at coalescing stride=3 bytes=4 op=load block=256), not "
        "tested at 0",
        "warning: coalescing stride=3 bytes=4 op=load block=256: the clock fell to 1200 MHz [unstable-clock]",
        "warning: another process uses the GPU [other-process]",
    };
    struct ub_record record;
    eventful_record(&record);
    char *text = print_human(&record, (struct ub_print_options){.width = 0});
    for (size_t i = 0; i < COUNT(wanted); i++)
        expect_has(text, wanted[i]);
    expect_not(text, "nan");
    expect_not(text, "PREDICTED");
    expect_not(text, "\033");
    expect_not(text, " \n");
    for (const char *c = text; *c; c++)
        assert_in_range((unsigned char)*c, 1, 0x7E);
    free(text);
    ub_record_free(&record);
}

static void a_predicted_table_measures_nothing(void **state)
{
    (void)state;
    static const char *const unwanted[] = {"measured on", "holds", "= law", "counters", "+-", "against law"};
    struct ub_record record;
    fixture_record(&record, UB_PREDICTED, 4, 0);
    char *text = print_human(&record, (struct ub_print_options){.width = 100});
    expect_has(text, "coalescing, sweep stride: PREDICTED for NVIDIA H200 (no measurement)");
    expect_has(text, "100.0 us pred.");
    expect_has(text, "nothing was measured");
    for (size_t i = 0; i < COUNT(unwanted); i++)
        expect_not(text, unwanted[i]);
    free(text);
    /* Values that stand by mistake under "measured" are not shown either. */
    record.points[0].counters[1].has_measured = true;
    record.points[0].counters[1].measured = 12321;
    text = print_human(&record, (struct ub_print_options){.verbose = true});
    expect_not(text, "12321");
    free(text);
    ub_record_free(&record);
}

static size_t widest_row(const char *text, const char *begin)
{
    size_t widest = 0;
    for (const char *at = text; (at = strstr(at, begin)); at++) {
        char line[1000] = "";
        size_t length = strcspn(at + 1, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, at + 1);
        widest = ub_text_columns(line) > widest ? ub_text_columns(line) : widest;
    }
    return widest;
}

static void a_narrow_terminal_loses_the_least(void **state)
{
    (void)state;
    static const struct {
        int width;
        const char *kept[4], *lost[4];
    } cases[] = {
        {120, {"efficiency", "\u2588", "counters", "against law"}, {NULL}},
        {105, {"\u2588", "against law", "sectors/request", NULL}, {"efficiency", NULL}},
        {94, {"95.0 %", "against law", "sectors/request", NULL}, {"efficiency", "\u2588", NULL}},
        {60, {"counters", "TB/s", "0.20 %", NULL}, {"against law", "sectors/request", "95.0 %", NULL}},
        {40, {"0.20 %", "TB/s", NULL}, {"counters", NULL}},
        {30, {"101.0 us  2.66 TB/s", NULL}, {"0.20 %", "against law", NULL}},
        {20, {"       1  101.0 us\n", NULL}, {"TB/s", NULL}},
        {5, {"101.0", NULL}, {"TB/s", NULL}},
    };
    struct ub_record record;
    fixture_record(&record, UB_MEASURED, 5, 10);
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *text = print_human(&record, (struct ub_print_options){.width = cases[i].width, .utf8 = true});
        char *table = strstr(text, "dram\n"); /* the end of the conditions */
        char *totals = strstr(text, "\n\n5");
        *totals = 0;
        for (size_t k = 0; k < 4 && cases[i].kept[k]; k++)
            expect_has(table, cases[i].kept[k]);
        for (size_t k = 0; k < 4 && cases[i].lost[k]; k++)
            expect_not(table, cases[i].lost[k]);
        if (cases[i].width > 8)
            assert_in_range(widest_row(table, "\n       "), 1, cases[i].width);
        free(text);
    }
    ub_record_free(&record);
}

/* Whatever stands round the tables: no line is wider than the terminal, and no word is lost. */
static void lines_end_where_the_terminal_does(void **state)
{
    (void)state;
    struct ub_record record;
    eventful_record(&record);
    for (int colour = 0; colour < 2; colour++) {
        char *wide = print_human(&record, (struct ub_print_options){.utf8 = true, .colour = colour});
        for (int width = 24; width <= 120; width += 8) {
            char *text = print_human(&record, (struct ub_print_options){.width = width, .utf8 = true});
            assert_in_range(widest_row(text, "\n"), 1, width);
            assert_int_equal(count_of(text, "warning:"), count_of(wide, "warning:"));
            assert_int_equal(count_of(text, "global_load_sectors:"), 1);
            expect_has(text, "[unstable-clock]");
            free(text);
        }
        free(wide);
    }
    /* A colour takes no room: the same breaks with and without. */
    char *plain = print_human(&record, (struct ub_print_options){.width = 40});
    char *toned = print_human(&record, (struct ub_print_options){.width = 40, .colour = true});
    assert_int_equal(count_of(plain, "\n"), count_of(toned, "\n"));
    free(plain);
    free(toned);
    ub_record_free(&record);
}

static void absurd_values_stay_short(void **state)
{
    (void)state;
    struct ub_record record;
    fixture_record(&record, UB_MEASURED, 2, 10);
    struct ub_record_point *point = &record.points[0];
    for (size_t i = 0; i < point->metric_count; i++)
        point->metrics[i].value = 1e308;
    point->residual = -1e300;
    point->time_verdict = UB_TIME_DEVIATES;
    point->time.median = 1e308;
    point->time.ci_lo = 0;
    point->time.ci_hi = 1.7e308;
    point->footprint_bytes = 1e308;
    record.points[1].time.ci_hi = 1e308;
    char *text = print_human(&record, (struct ub_print_options){.width = 0});
    expect_has(text, "1e+296 TB/s");
    expect_has(text, "1e+299 s +-85 %");
    expect_has(text, "> 1e+308 %");
    expect_has(text, "-1e+302 % deviates");
    expect_not(text, "0000000");
    expect_not(text, "inf");
    free(text);
    ub_record_free(&record);
}

/* A ratio that is not the law's: of estimates, unless a counter says that the law is broken. */
static void a_ratio_says_how_near_the_law_is(void **state)
{
    static const struct {
        double sectors; /* of the metric; the law says 4 */
        uint64_t estimate;
        enum ub_counter_verdict verdict;
        const char *expected;
    } rows[] = {
        {4, 1000, UB_COUNTERS_HOLD, "4 = 4"},        {4.5, 1000, UB_COUNTERS_HOLD, "4.5 ~ 4"},
        {4.5, 1100, UB_COUNTERS_HOLD, "4.5 ~ 4"},    {4.5, 1101, UB_COUNTERS_HOLD, "4.5 != 4"},
        {4.5, 1000, UB_COUNTERS_BROKEN, "4.5 != 4"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ub_record record;
        fixture_record(&record, UB_MEASURED, 1, 10);
        struct ub_record_point *point = &record.points[0];
        fixture_counter(point, "dram_read_bytes", "byte", true, 1000);
        struct ub_record_counter *estimate = &point->counters[point->counter_count - 1];
        estimate->class_ = UB_ESTIMATE;
        estimate->tolerance = 0.1;
        estimate->measured = rows[i].estimate;
        point->counter_verdict = rows[i].verdict;
        for (size_t m = 0; m < point->metric_count; m++)
            if (strcmp(point->metrics[m].key, "sectors_per_request") == 0)
                point->metrics[m].value = rows[i].sectors;
        char *text = print_human(&record, (struct ub_print_options){.width = 0});
        expect_has(text, rows[i].expected);
        free(text);
        ub_record_free(&record);
    }
}

/* Every column begins and ends where its neighbours in other rows do. */
static void rows_are_aligned(void **state)
{
    (void)state;
    struct ub_record record;
    fixture_record(&record, UB_MEASURED, 3, 10);
    ub_set_string(&record.points[0].axes[2].word, "\xe6\xb8\xac\xe5\xae\x9a");
    ub_set_string(&record.points[1].axes[2].word, "e\xcc\x81"
                                                  "cole");
    char *text = print_human(&record, (struct ub_print_options){.utf8 = true});
    size_t columns[3] = {0};
    char *row = strstr(text, "limited by dram");
    row = strchr(strchr(strchr(row, '\n') + 1, '\n') + 1, '\n') + 1;
    for (size_t i = 0; i < 3; i++) {
        char *end = strstr(row, " us ");
        *end = 0;
        columns[i] = ub_text_columns(row);
        row = strchr(end + 1, '\n') + 1;
    }
    assert_int_equal(columns[0], columns[1]);
    assert_int_equal(columns[0], columns[2]);
    free(text);
    ub_record_free(&record);
}

static void colours_only_where_asked(void **state)
{
    (void)state;
    struct ub_record record;
    eventful_record(&record);
    char *text = print_human(&record, (struct ub_print_options){.colour = true});
    expect_has(text, "\033[32mholds");
    expect_has(text, "\033[31mbroken");
    expect_has(text, "\033[33m");
    expect_has(text, "\033[31mfailed\033[0m");
    assert_int_equal(count_of(text, "\033["), 2 * count_of(text, "\033[0m"));
    free(text);
    ub_record_free(&record);
}

static void verbose_shows_every_counter(void **state)
{
    (void)state;
    struct ub_record record;
    fixture_record(&record, UB_MEASURED, 2, 10);
    char *text = print_human(&record, (struct ub_print_options){.verbose = true});
    expect_has(text, "2097152 = 2097152");
    expect_has(text, "16777216 = 16777216");
    expect_has(text, "dram_load_ceiling = 4.68 TB/s  (measured in this run, coalescing op=load bytes=16)");
    expect_has(text, "66.67 us");
    free(text);
    ub_record_free(&record);
}

static void missing_counters_are_explained(void **state)
{
    (void)state;
    struct ub_record record;
    fixture_record(&record, UB_MEASURED, 1, 10);
    ub_set_string(&record.run.counters, "no permission; load the driver with NVreg_RestrictProfilingToAdminUsers=0");
    for (size_t i = 0; i < record.points[0].counter_count; i++)
        record.points[0].counters[i].has_measured = false;
    record.points[0].counter_verdict = UB_COUNTERS_NOT_TESTED;
    record.run.complete = false;
    char *text = print_human(&record, (struct ub_print_options){.width = 0});
    expect_has(text, "no counters: no permission; load the driver");
    expect_has(text, "not tested at 1");
    expect_has(text, "incomplete");
    free(text);
    ub_record_free(&record);
}

static void few_samples_have_no_interval(void **state)
{
    (void)state;
    struct ub_record record;
    fixture_record(&record, UB_MEASURED, 1, 3);
    record.points[0].time.ci_lo = record.points[0].time.ci_hi = NAN;
    char *text = print_human(&record, (struct ub_print_options){.width = 0});
    expect_has(text, "101.0 us n=3");
    expect_not(text, "+-");
    free(text);
    ub_record_free(&record);
}

static void bare_records_print(void **state)
{
    (void)state;
    struct ub_record record = {0};
    char *text = print_human(&record, (struct ub_print_options){.utf8 = true});
    expect_has(text, "0 points");
    free(text);
    ub_record_add_point(&record);
    ub_set_string(&record.points[0].rule, "null");
    ub_set_string(&record.points[0].sweep, "default");
    text = print_human(&record, (struct ub_print_options){.verbose = true});
    expect_has(text, "null, sweep default: measured on an unknown GPU");
    expect_not(text, "(null)");
    free(text);
    ub_record_free(&record);
}

/* ---- hostile text -------------------------------------------------------- */

static const char evil[] = "=1+1|`\"$(x)`,</td><script>\x1b[2J\r\n\xff_{}*\\\t;\xe2\x80\xae";

static void evil_record(struct ub_record *record)
{
    fixture_record(record, UB_MEASURED, 3, 6);
    ub_set_string(&record->device.name, evil);
    ub_set_string(&record->device.driver, evil);
    ub_set_string(&record->run.version, evil);
    for (size_t i = 0; i < 2; i++) {
        struct ub_record_point *point = &record->points[i];
        ub_set_string(&point->axes[2].word, evil);
        ub_set_string(&point->note, evil);
        ub_set_string(&point->metrics[0].unit, evil);
        ub_set_string(&point->counters[0].key, evil);
        ub_set_string(&point->metrics[2].key, evil);
        ub_set_string(&point->bottleneck, evil);
    }
    ub_set_string(&record->points[0].reason, evil);
    record->points[0].status = UB_POINT_FAILED;
    ub_record_warn(record, evil, 1, "%s", evil);
}

static void tables_are_harmless(void **state)
{
    (void)state;
    struct ub_record record;
    evil_record(&record);
    ub_set_string(&record.run.started, evil);
    ub_set_string(&record.points[2].sweep, evil);
    for (int i = 0; i < 4; i++) {
        char *text =
            print_human(&record, (struct ub_print_options){.utf8 = i % 2, .verbose = true, .width = i / 2 * 30});
        for (const char *c = text; *c; c++)
            assert_true(*c == '\n' || ((unsigned char)*c >= 0x20 && *c != 0x7F));
        expect_not(text, "\xe2\x80\xae");
        free(text);
    }
    ub_record_free(&record);
}

/* Cells of one line of a markdown table; -1 where it is no row. */
static int cells_of(const char *line, size_t length)
{
    int bars = 0;
    if (line[0] != '|')
        return -1;
    for (size_t i = 0; i < length; i++)
        bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
    return bars - 1;
}

static void markdown_has_whole_rows(void **state)
{
    (void)state;
    for (int hostile = 0; hostile < 2; hostile++) {
        struct ub_record record;
        if (hostile)
            evil_record(&record);
        else
            eventful_record(&record);
        char *text = fixture_text(&record, ub_write_markdown);
        int width = -1, rows = 0;
        for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
            int cells = cells_of(line, strcspn(line, "\n"));
            if (cells > 0 && width > 0)
                assert_int_equal(cells, width);
            rows += cells > 0;
            width = cells;
        }
        assert_int_equal(rows, hostile ? 2 + 3 : 2 + 6 + 2 + 2);
        for (const char *c = text; *c; c++)
            assert_true(*c == '\n' || (unsigned char)*c >= 0x20);
        expect_not(text, "<");
        expect_not(text, "\n#### ");
        expect_has(text, "| failed: ");
        if (hostile)
            expect_has(text, "\\`");
        free(text);
        ub_record_free(&record);
    }
}

/* ---- CSV ----------------------------------------------------------------- */

enum { MOST_FIELDS = 32 };

/* Takes one row by the rules of RFC 4180; returns its number of fields. Fields are
 * unquoted in place. */
static size_t take_row(char **at, char *fields[MOST_FIELDS])
{
    size_t count = 0;
    char *from = *at, *to = *at;
    for (bool more = true; more && count < MOST_FIELDS;) {
        fields[count++] = to;
        bool quoted = *from == '"';
        from += quoted;
        while (quoted ? !(from[0] == '"' && from[1] != '"') : *from != ',' && *from != '\r') {
            assert_true(*from != 0 && (quoted || *from != '"'));
            from += quoted && from[0] == '"';
            *to++ = *from++;
        }
        from += quoted;
        more = *from == ',';
        if (!more)
            assert_true(from[0] == '\r' && from[1] == '\n');
        from += more ? 1 : 2;
        *to++ = 0;
    }
    *at = from;
    return count;
}

static bool is_number(const char *text)
{
    return *text == 0 || text[strspn(text, "0123456789.e+-")] == 0;
}

static void csv_has_whole_rows(void **state)
{
    (void)state;
    for (int hostile = 0; hostile < 2; hostile++) {
        struct ub_record record;
        if (hostile)
            evil_record(&record);
        else
            eventful_record(&record);
        char *text = fixture_text(&record, ub_write_csv), *at = text, *fields[MOST_FIELDS];
        size_t width = take_row(&at, fields), rows = 0;
        assert_int_equal(width, 2 + 4 + 9);
        assert_string_equal(fields[0], "rule");
        assert_string_equal(fields[2], "stride");
        assert_string_equal(fields[6], "quantity");
        assert_string_equal(fields[14], "reason");
        for (; *at; rows++) {
            assert_int_equal(take_row(&at, fields), width);
            for (size_t i = 9; i < 13; i++)
                assert_true(is_number(fields[i]));
            for (size_t i = 0; i < width; i++)
                assert_null(strchr("=@+", fields[i][0] ? fields[i][0] : 'x'));
        }
        /* 2 times, 4 + 4 metrics, 2 + 2 counters a good point, one row a lost one. */
        assert_int_equal(rows, hostile ? 1 + 2 * 14 : 5 * 14 + 3);
        free(text);
        ub_record_free(&record);
    }
}

static void csv_values_are_right(void **state)
{
    (void)state;
    struct ub_record record;
    fixture_record(&record, UB_MEASURED, 1, 6);
    ub_point_add_axis(&record.points[0], "n", NULL, 17);
    char *text = fixture_text(&record, ub_write_csv);
    expect_has(text, "rule,sweep,stride,bytes,op,block,axis_n,quantity,kind,unit,value,lo,hi,n,status,reason\r\n");
    expect_has(text, "coalescing,stride,1,4,load,256,17,time,measured,ns,101000,100798,101202,6,ok,\r\n");
    expect_has(text, "time,predicted,ns,100000,,,,ok,\r\n");
    expect_has(text, "global_load_sectors,measured,sector,8388608,,,,ok,\r\n");
    free(text);
    ub_record_free(&record);
    fixture_record(&record, UB_PREDICTED, 1, 0);
    text = fixture_text(&record, ub_write_csv);
    expect_not(text, "measured");
    assert_int_equal(count_of(text, "\r\n"), 1 + 1 + 4 + 2);
    free(text);
    ub_record_free(&record);
}

/* ---- Google Benchmark ---------------------------------------------------- */

static void expect_text(const json_t *row, const char *key)
{
    if (!json_is_string(json_object_get(row, key)))
        fail_msg("%s is not a string", key);
}

static double number_of(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    if (!json_is_number(value))
        fail_msg("%s is not a number", key);
    return json_number_value(value);
}

/* What each consumer of harness.md 2.1 needs in every row. */
static void expect_row(const json_t *row)
{
    static const char *const strings[] = {"name", "run_name", "run_type", "time_unit"};
    static const char *const numbers[] = {
        "repetitions", "threads", "iterations", "real_time", "cpu_time", "family_index", "per_family_instance_index"};
    for (size_t i = 0; i < COUNT(strings); i++)
        expect_text(row, strings[i]);
    for (size_t i = 0; i < COUNT(numbers); i++)
        number_of(row, numbers[i]);
    assert_string_equal(json_string_value(json_object_get(row, "time_unit")), "ns");
    assert_true(number_of(row, "real_time") > 0);
    assert_true(number_of(row, "real_time") == number_of(row, "cpu_time"));
    assert_true(number_of(row, "threads") == 1);
    assert_true(json_is_integer(json_object_get(row, "iterations")));
    assert_null(json_object_get(row, "error_occurred"));
    const char *type = json_string_value(json_object_get(row, "run_type"));
    const char *name = json_string_value(json_object_get(row, "name"));
    const char *run_name = json_string_value(json_object_get(row, "run_name"));
    assert_non_null(strstr(run_name, "/manual_time"));
    if (strcmp(type, "iteration") == 0) {
        assert_string_equal(name, run_name);
        assert_true(number_of(row, "repetition_index") < number_of(row, "repetitions"));
        assert_null(json_object_get(row, "aggregate_name"));
        return;
    }
    char wanted[600];
    assert_string_equal(type, "aggregate");
    snprintf(wanted, sizeof wanted, "%s_%s", run_name, json_string_value(json_object_get(row, "aggregate_name")));
    assert_string_equal(name, wanted);
    expect_text(row, "aggregate_unit");
    assert_null(json_object_get(row, "repetition_index"));
}

static json_t *read_gbench(const struct ub_record *record)
{
    json_error_t error;
    char *text = fixture_text(record, ub_write_gbench);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        fail_msg("%s in\n%s", error.text, text);
    free(text);
    const json_t *context = json_object_get(root, "context");
    assert_true(json_is_array(json_object_get(context, "caches")));
    assert_int_equal(json_array_size(json_object_get(context, "caches")), 0);
    assert_int_equal(json_integer_value(json_object_get(context, "json_schema_version")), 1);
    size_t i = 0;
    json_t *row = NULL;
    json_array_foreach(json_object_get(root, "benchmarks"), i, row)
    {
        expect_row(row);
    }
    return root;
}

/* The row of an aggregate of the first point. */
static const json_t *aggregate_of(const json_t *root, const char *name)
{
    size_t i = 0;
    json_t *row = NULL;
    json_array_foreach(json_object_get(root, "benchmarks"), i, row)
    {
        const char *found = json_string_value(json_object_get(row, "aggregate_name"));
        if (found && strcmp(found, name) == 0)
            return row;
    }
    fail_msg("no aggregate %s", name);
    return NULL;
}

static void gbench_rows_are_complete(void **state)
{
    (void)state;
    struct ub_record record;
    eventful_record(&record);
    json_t *root = read_gbench(&record);
    const json_t *rows = json_object_get(root, "benchmarks");
    /* 5 points of 10 samples and 6 aggregates. */
    assert_int_equal(json_array_size(rows), 5 * 16);
    const json_t *failed = json_object_get(json_object_get(root, "ubench"), "failed");
    assert_int_equal(json_array_size(failed), 3);
    assert_string_equal(json_string_value(json_object_get(json_array_get(failed, 1), "reason")),
                        "wrong answer at element 7");
    const json_t *first = json_array_get(rows, 0);
    assert_string_equal(json_string_value(json_object_get(first, "name")),
                        "coalescing/stride:1/bytes:4/op:load/block:256/manual_time");
    assert_int_equal(json_integer_value(json_object_get(first, "iterations")), 8);
    assert_true(number_of(first, "global_load_sectors") == 4 << 21);
    assert_true(fabs(number_of(first, "bytes_per_second") * number_of(first, "real_time") / (0x1p28 * 1e9) - 1) <
                1e-12);
    json_decref(root);
    ub_record_free(&record);
}

static void gbench_aggregates_are_right(void **state)
{
    (void)state;
    struct ub_record record;
    fixture_record(&record, UB_MEASURED, 1, 5);
    /* 1, 2, 3, 4, 10: mean 4, sample deviation sqrt(50 / 4). */
    static const double times[] = {1, 2, 3, 4, 10};
    for (size_t i = 0; i < 5; i++)
        record.points[0].time.samples[i].time_ns = times[i];
    record.points[0].time.median = 3;
    record.points[0].time.min = 1;
    record.points[0].time.mad = 1.4826;
    json_t *root = read_gbench(&record);
    assert_true(number_of(aggregate_of(root, "mean"), "real_time") == 4);
    assert_true(number_of(aggregate_of(root, "median"), "real_time") == 3);
    assert_true(fabs(number_of(aggregate_of(root, "stddev"), "real_time") - 3.5355339059327378) < 1e-14);
    assert_true(fabs(number_of(aggregate_of(root, "cv"), "real_time") - 0.88388347648318446) < 1e-14);
    assert_true(number_of(aggregate_of(root, "min"), "real_time") == 1);
    assert_true(number_of(aggregate_of(root, "mad"), "real_time") == 1.4826);
    assert_string_equal(json_string_value(json_object_get(aggregate_of(root, "cv"), "aggregate_unit")), "percentage");
    assert_true(number_of(aggregate_of(root, "mean"), "iterations") == 5);
    json_decref(root);
    ub_record_free(&record);
}

static void gbench_says_what_is_predicted(void **state)
{
    (void)state;
    struct ub_record record;
    fixture_record(&record, UB_PREDICTED, 3, 0);
    record.points[2].predicted_ns = NAN;
    json_t *root = read_gbench(&record);
    const json_t *rows = json_object_get(root, "benchmarks");
    assert_int_equal(json_array_size(rows), 2);
    assert_true(number_of(json_array_get(rows, 1), "real_time") == 200000);
    assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 0), "label")), "predicted");
    assert_string_equal(json_string_value(json_object_get(json_object_get(root, "context"), "ubench_source")),
                        "predicted");
    assert_int_equal(json_array_size(json_object_get(json_object_get(root, "ubench"), "failed")), 1);
    json_decref(root);
    ub_record_free(&record);
}

static void gbench_survives_odd_records(void **state)
{
    (void)state;
    struct ub_record record;
    evil_record(&record);
    ub_set_string(&record.points[2].counters[0].key, "real_time");
    json_t *root = read_gbench(&record);
    assert_int_equal(json_array_size(json_object_get(root, "benchmarks")), 2 * (6 + 6));
    json_decref(root);
    ub_record_free(&record);
    fixture_record(&record, UB_MEASURED, 1, 6); /* as --no-samples leaves it */
    free(record.points[0].time.samples);
    record.points[0].time.samples = NULL;
    root = read_gbench(&record);
    assert_int_equal(json_array_size(json_object_get(root, "benchmarks")), 1);
    json_decref(root);
    ub_record_free(&record);
    record = (struct ub_record){0};
    root = read_gbench(&record);
    json_decref(root);
}

static void gbench_counts_families(void **state)
{
    (void)state;
    static const char *const rules[] = {"a", "b", "a", "c", "b"};
    static const struct {
        const char *rule;
        int family, instance;
    } wanted[] = {{"a/", 0, 0}, {"a/", 0, 1}, {"b/", 1, 0}, {"b/", 1, 1}, {"c/", 2, 0}};
    struct ub_record record;
    fixture_record(&record, UB_MEASURED, COUNT(rules), 1);
    for (size_t i = 0; i < COUNT(rules); i++)
        ub_set_string(&record.points[i].rule, rules[i]);
    json_t *root = read_gbench(&record);
    const json_t *rows = json_object_get(root, "benchmarks");
    assert_int_equal(json_array_size(rows), COUNT(wanted));
    for (size_t i = 0; i < COUNT(wanted); i++) {
        const json_t *row = json_array_get(rows, i);
        assert_int_equal(strncmp(json_string_value(json_object_get(row, "name")), wanted[i].rule, 2), 0);
        assert_true(number_of(row, "family_index") == wanted[i].family);
        assert_true(number_of(row, "per_family_instance_index") == wanted[i].instance);
    }
    json_decref(root);
    ub_record_free(&record);
}

/* ---- OpenMetrics --------------------------------------------------------- */

/* `name{label="value",...} number`: returns what stands behind the name, or fails. */
static void expect_sample(const char *line, const char *family)
{
    size_t name = strlen(family);
    if (strncmp(line, family, name) != 0 || line[name] != '{')
        fail_msg("not a sample of %s: %s", family, line);
    const char *c = line + name;
    do {
        size_t label = strspn(c + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        assert_true(label > 0 && c[label + 1] == '=' && c[label + 2] == '"');
        for (c += label + 3; *c != '"'; c++) {
            assert_true(*c != 0);
            if (*c == '\\') {
                c++;
                assert_non_null(strchr("\\\"n", *c));
            }
        }
        c++;
    } while (*c == ',');
    assert_true(c[0] == '}' && c[1] == ' ' && is_number(c + 2) && c[2]);
}

static void check_openmetrics(const struct ub_record *record, size_t wanted)
{
    char *text = fixture_text(record, ub_write_openmetrics), family[100] = "", seen[2000] = "";
    size_t samples = 0;
    bool ended = false;
    for (char *line = text, *next = NULL; *line; line = next) {
        next = line + strcspn(line, "\n");
        assert_true(*next == '\n');
        *next++ = 0;
        assert_false(ended);
        ended = strcmp(line, "# EOF") == 0;
        if (strncmp(line, "# TYPE ", 7) == 0) {
            assert_int_equal(sscanf(line, "# TYPE %99s gauge", family), 1);
            assert_null(strstr(seen, family));
            strcat(strcat(seen, family), "\n");
        } else if (line[0] == '#') {
            assert_true(ended || strstr(line, family));
        } else {
            expect_sample(line, family);
            samples++;
        }
    }
    assert_true(ended);
    assert_int_equal(samples, wanted);
    free(text);
}

static void openmetrics_is_well_formed(void **state)
{
    (void)state;
    struct ub_record record;
    eventful_record(&record);
    /* Good points: 4 times, 1 prediction, 4 metrics, 4 counts, 2 verdicts; all: a status. */
    check_openmetrics(&record, 5 * 15 + 8);
    ub_record_free(&record);
    fixture_record(&record, UB_PREDICTED, 2, 0);
    check_openmetrics(&record, 2 * (1 + 4 + 2) + 2);
    ub_record_free(&record);
    evil_record(&record);
    ub_set_string(&record.points[1].axes[1].name, "le");
    ub_set_string(&record.points[1].axes[3].name, "9 \"x\"");
    check_openmetrics(&record, 2 * 15 + 3);
    ub_record_free(&record);
    record = (struct ub_record){0};
    check_openmetrics(&record, 0);
}

/* ---- locale -------------------------------------------------------------- */

/* All formats under a locale with a decimal comma are the same bytes as without. */
static void no_locale_changes_a_number(void **state)
{
    (void)state;
    static const char *const locales[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "nl_NL.UTF-8"};
    bool (*const writers[])(FILE *, const struct ub_record *, struct ub_error *) = {
        ub_write_csv, ub_write_markdown, ub_write_gbench, ub_write_openmetrics};
    struct ub_record record;
    char *plain[COUNT(writers)], number[40];
    eventful_record(&record);
    for (size_t i = 0; i < COUNT(writers); i++)
        plain[i] = fixture_text(&record, writers[i]);
    char *table = print_human(&record, (struct ub_print_options){.verbose = true});
    bool found = false;
    for (size_t i = 0; i < COUNT(locales) && !found; i++)
        found = setlocale(LC_ALL, locales[i]) != NULL;
    snprintf(number, sizeof number, "%.1f", 0.5);
    bool comma = strcmp(number, "0,5") == 0;
    for (size_t i = 0; i < COUNT(writers); i++) {
        char *text = fixture_text(&record, writers[i]);
        assert_string_equal(text, plain[i]);
        free(text);
        free(plain[i]);
    }
    char *again = print_human(&record, (struct ub_print_options){.verbose = true});
    assert_string_equal(again, table);
    assert_string_equal(ub_number(number, sizeof number, 12, -1234567.5e-12), "-1.2345675e-06");
    assert_string_equal(ub_fixed(number, sizeof number, 3, 1234567.25), "1234567.250");
    setlocale(LC_ALL, "C");
    free(again);
    free(table);
    ub_record_free(&record);
    if (!comma)
        skip(); /* no locale with a decimal comma is installed: only the C locale was compared */
}

static void a_full_disk_is_noticed(void **state)
{
    (void)state;
    bool (*const writers[])(FILE *, const struct ub_record *, struct ub_error *) = {
        ub_write_csv, ub_write_markdown, ub_write_gbench, ub_write_openmetrics};
    struct ub_record record;
    eventful_record(&record);
    for (size_t i = 0; i < COUNT(writers); i++) {
        struct ub_error err = {.status = UB_OK};
        FILE *full = fopen("/dev/full", "w");
        if (!full)
            break;
        assert_false(writers[i](full, &record, &err));
        assert_int_equal(err.status, UB_CANNOT_WRITE);
        fclose(full);
    }
    ub_record_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_have_few_digits),
        cmocka_unit_test(text_is_cut_by_columns),
        cmocka_unit_test(a_measured_table_says_all),
        cmocka_unit_test(a_predicted_table_measures_nothing),
        cmocka_unit_test(a_narrow_terminal_loses_the_least),
        cmocka_unit_test(lines_end_where_the_terminal_does),
        cmocka_unit_test(absurd_values_stay_short),
        cmocka_unit_test(a_ratio_says_how_near_the_law_is),
        cmocka_unit_test(rows_are_aligned),
        cmocka_unit_test(colours_only_where_asked),
        cmocka_unit_test(verbose_shows_every_counter),
        cmocka_unit_test(missing_counters_are_explained),
        cmocka_unit_test(few_samples_have_no_interval),
        cmocka_unit_test(bare_records_print),
        cmocka_unit_test(tables_are_harmless),
        cmocka_unit_test(markdown_has_whole_rows),
        cmocka_unit_test(csv_has_whole_rows),
        cmocka_unit_test(csv_values_are_right),
        cmocka_unit_test(gbench_rows_are_complete),
        cmocka_unit_test(gbench_aggregates_are_right),
        cmocka_unit_test(gbench_says_what_is_predicted),
        cmocka_unit_test(gbench_survives_odd_records),
        cmocka_unit_test(gbench_counts_families),
        cmocka_unit_test(openmetrics_is_well_formed),
        cmocka_unit_test(no_locale_changes_a_number),
        cmocka_unit_test(a_full_disk_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
