/* SPDX-License-Identifier: MIT
 *
 * Records in pages: what stands in a report comes back as the same record without its
 * samples, whatever its strings hold; what is malformed is refused with its place. */
#include "harness/io/records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/io/columns.h"
#include "harness/io/json.h"
#include "tests/io_fixture.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct ub_json_options without_samples = {.no_samples = true};

static char *json_of(const struct ub_record *record, const struct ub_json_options *options)
{
    char *text = NULL;
    size_t size = 0;
    struct ub_error err;
    FILE *stream = open_memstream(&text, &size);
    assert_true(ub_json_write(stream, record, options, &err));
    fclose(stream);
    return text;
}

/* A page with these records; the caller frees it. */
static char *page_of(const struct ub_record *records, size_t count)
{
    char *text = NULL;
    size_t size = 0;
    struct ub_error err;
    FILE *stream = open_memstream(&text, &size);
    fputs("<!DOCTYPE html>\n<html><body><p>1 &lt; 2</p>\n", stream);
    for (size_t i = 0; i < count; i++)
        assert_true(ub_page_record_write(stream, &records[i], i + 1, &err));
    fputs("</body></html>\n", stream);
    fclose(stream);
    assert_int_equal(strlen(text), size);
    return text;
}

static bool read_bytes(const char *bytes, size_t length, struct ub_record *record, struct ub_error *err)
{
    FILE *stream = fmemopen((void *)(uintptr_t)bytes, length, "rb");
    assert_non_null(stream);
    *record = (struct ub_record){0};
    *err = (struct ub_error){.text = ""};
    const bool good = ub_json_read(stream, "r.html", record, err);
    fclose(stream);
    return good;
}

static void expect_same(const struct ub_record *a, const struct ub_record *b)
{
    char *one = json_of(a, &without_samples), *two = json_of(b, &without_samples);
    assert_string_equal(one, two);
    free(one);
    free(two);
}

/* ---- there and back --------------------------------------------------------- */

static void expect_back(const struct ub_record *record)
{
    struct ub_record back;
    struct ub_error err;
    char *page = page_of(record, 1);
    if (!read_bytes(page, strlen(page), &back, &err))
        fail_msg("%s", err.text);
    expect_same(record, &back);
    ub_record_free(&back);
    free(page);
}

static void records_come_back(void **state)
{
    (void)state;
    static const struct {
        enum ub_source source;
        size_t points, samples;
    } cases[] = {{UB_MEASURED, 3, 30}, {UB_PREDICTED, 3, 0},   {UB_MEASURED, 1, 1},  {UB_MEASURED, 0, 0},
                 {UB_PUBLISHED, 2, 0}, {UB_MEASURED, 1024, 3}, {UB_MEASURED, 33, 7}, {UB_MEASURED, 2 * 1024 + 1, 1}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct ub_record record;
        fixture_record(&record, cases[i].source, cases[i].points, cases[i].samples);
        expect_back(&record);
        ub_record_free(&record);
    }
}

/* Tables are by kind; the order of points is that of the record all the same. */
static void mixed_points_keep_their_order(void **state)
{
    (void)state;
    struct ub_record record;
    fixture_record(&record, UB_MEASURED, 0, 0);
    for (size_t i = 0; i < 40; i++) {
        fixture_point(&record, i % 3 ? "stride" : "other", i + 1, 6);
        struct ub_record_point *point = &record.points[i];
        if (i % 5 == 0) {
            point->status = UB_POINT_SKIPPED;
            ub_set_string(&point->reason, "out of memory");
            free(point->time.samples);
            point->time = (struct ub_time){0};
            point->has_static = false;
        }
        if (i % 7 == 0)
            ub_point_add_term(point, "extra", (double)i);
    }
    ub_record_warn(&record, "unstable-clock", 17, "the clock of point 17");
    expect_back(&record);
    ub_record_free(&record);
}

static void hostile_strings_come_back(void **state)
{
    (void)state;
    static const char *const texts[] = {"</script><script>alert(1)</script>",
                                        "<!-- <script>",
                                        "]]>",
                                        "&lt;&amp;&#60;",
                                        "`touch x` $(touch x)",
                                        "a/b~c~1/~0",
                                        "\"'\\\n\t",
                                        "*",
                                        "at",
                                        "points",
                                        "<script type=\"application/json\" class=\"ubench-record\">{}</script>"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct ub_record record;
        fixture_record(&record, UB_MEASURED, 2, 6);
        ub_set_string(&record.device.name, texts[i]);
        ub_set_string(&record.run.version, texts[i]);
        ub_set_string(&record.points[0].rule, texts[i]);
        ub_set_string(&record.points[1].sweep, texts[i]);
        ub_set_string(&record.points[1].axes[0].name, texts[i]);
        ub_set_string(&record.points[0].counters[0].key, texts[i]);
        ub_record_warn(&record, texts[i], 1, "%s", texts[i]);
        char *page = page_of(&record, 1);
        const char *json = strchr(strstr(page, "ubench-record"), '>') + 1;
        const size_t length = (size_t)(strstr(json, "</script>\n</body>") - json);
        assert_null(memchr(json, '<', length));
        assert_null(memchr(json, '>', length));
        assert_null(memchr(json, '&', length));
        free(page);
        expect_back(&record);
        ub_record_free(&record);
    }
}

static void columns_are_small(void **state)
{
    (void)state;
    struct ub_record record;
    fixture_record(&record, UB_MEASURED, 500, 1);
    char *plain = json_of(&record, &without_samples), *page = page_of(&record, 1);
    assert_true(strlen(page) * 5 < strlen(plain));
    free(plain);
    free(page);
    ub_record_free(&record);
}

/* ---- several records ----------------------------------------------------------- */

/* Writes a file that the caller frees the name of. */
static char *file_of(const char *text)
{
    char *name = strdup("/tmp/ubench-records-XXXXXX");
    const int file = mkstemp(name);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    return name;
}

static void a_page_of_three(void **state)
{
    (void)state;
    struct ub_record records[3], one;
    struct ub_records all = {0};
    struct ub_error err;
    for (size_t i = 0; i < 3; i++)
        fixture_record(&records[i], UB_MEASURED, i + 1, 6);
    char *page = page_of(records, 3), *name = file_of(page), numbered[64];
    assert_true(ub_records_read(name, &all, &err));
    assert_int_equal(all.count, 3);
    for (size_t i = 0; i < 3; i++)
        expect_same(&records[i], &all.items[i]);
    assert_true(ub_records_read(name, &all, &err));
    assert_int_equal(all.count, 6);
    ub_records_free(&all);

    snprintf(numbered, sizeof numbered, "%s#2", name);
    assert_true(ub_records_read(numbered, &all, &err));
    assert_int_equal(all.count, 1);
    assert_int_equal(all.items[0].point_count, 2);
    assert_true(ub_json_read_file(numbered, &one, &err));
    expect_same(&one, &records[1]);
    ub_record_free(&one);

    assert_false(ub_json_read_file(name, &one, &err));
    assert_int_equal(err.status, UB_BAD_DATA);
    assert_non_null(strstr(err.text, "holds 3 records; write "));
    assert_non_null(strstr(err.text, "#3 coalescing on NVIDIA H200"));
    snprintf(numbered, sizeof numbered, "%s#4", name);
    assert_false(ub_records_read(numbered, &all, &err));
    assert_non_null(strstr(err.text, "it holds 3 records: there is no #4"));
    assert_int_equal(all.count, 1);
    ub_records_free(&all);
    unlink(name);
    free(name);
    free(page);
    for (size_t i = 0; i < 3; i++)
        ub_record_free(&records[i]);
}

/* ---- what is refused -------------------------------------------------------------- */

#define HEAD     "<p><script type=\"application/json\" class=\"ubench-record\" id=\"record-1\">"
#define RECORD   "{\"ubench\": {\"schema\": 1, \"source\": \"measured\", "
#define TABLE    HEAD RECORD "\"tables\": ["
#define ONE(p)   "{\"points\": [0], \"point\": " p "}]}}"
#define POINT(n) "{\"points\": [" n "], \"point\": {\"rule\": \"r\", \"sweep\": {\"*\": [\"s\"]}, \"status\": \"ok\"}}"

static void malformed_pages_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {"<", "no report of ubench"},
        {"<html>hello</html>", "no report of ubench: there is no record in it"},
        {HEAD, "r.html, record 1: this is no JSON"},
        {HEAD "<script>", "r.html, record 1: this is no JSON"},
        {HEAD HEAD HEAD, "r.html, record 1: this is no JSON"},
        {HEAD " x", "r.html, record 1, line 1, column 2: this is not a JSON record"},
        {HEAD RECORD, "cut off"},
        {TABLE "{}]}}</script>", "expected {\"points\": [...], \"point\": {...}}"},
        {HEAD RECORD "\"tables\": {}}}</script>", "tables: expected an array"},
        {HEAD RECORD "\"tables\": [], \"points\": []}}</script>", "exclude each other"},
        {TABLE "{\"points\": [], \"point\": {}}]}}", "a table has 1 to 1024 points"},
        {TABLE "{\"points\": [-1], \"point\": {}}]}}", "whole numbers from 0"},
        {TABLE ONE("{\"a\": [1, 2]}"), "the column \"a\" has not as many values"},
        {TABLE ONE("{\"a\": {\"*\": []}}"), "not as many values"},
        {TABLE ONE("{\"a\": {\"*\": [1, 2]}}"), "not as many values"},
        {TABLE ONE("{\"a\": {\"*\": [1, 2], \"at\": [0, 1]}}"), "not as many values"},
        {TABLE ONE("{\"a\": {\"*\": [1, 2], \"at\": [2]}}"), "not as many values"},
        {TABLE ONE("{\"a\": {\"*\": [1, 2], \"at\": [-1]}}"), "not as many values"},
        {TABLE ONE("{\"a\": {\"*\": [1, 2], \"at\": \"0\"}}"), "not as many values"},
        {TABLE ONE("{\"a\": {\"*\": [1, 2], \"at\": 2}}"), "not as many values"},
        {TABLE ONE("{\"a\": {\"b\": {\"c\": {\"d\": {\"e\": {\"f\": {\"g\": {\"h\": {\"i\": 1}}}}}}}}}"),
         "its point has objects more than 8 deep"},
        {TABLE ONE("{\"sweep\": 1}"), "tables[0].rule: is missing"},
        {TABLE ONE("{\"rule\": {\"x\": 1}, \"sweep\": \"s\"}"), "tables[0].rule: expected a string"},
        {TABLE POINT("0") ", " POINT("0") "]}}", "are not 0 to 1, each once"},
        {TABLE POINT("1") "]}}", "are not 0 to 0, each once"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct ub_record record;
        struct ub_error err;
        if (read_bytes(cases[i].text, strlen(cases[i].text), &record, &err))
            fail_msg("was read, but should be refused: %s", cases[i].wanted);
        assert_int_equal(err.status, UB_BAD_DATA);
        if (strncmp(err.text, "r.html", 6) != 0 || !strstr(err.text, cases[i].wanted))
            fail_msg("wanted \"%s\", got \"%s\"", cases[i].wanted, err.text);
        assert_int_equal(record.point_count, 0);
    }
}

/* A few bytes must not become gigabytes: 1024 points share one long text. */
static void swelling_tables_are_refused(void **state)
{
    (void)state;
    static const char *const forms[][2] = {{"{\"rule\": \"", "\"}"}, {"{\"rule\": {\"*\": [[\"", "\"]], \"at\": 0}}"}};
    for (size_t f = 0; f < COUNT(forms); f++) {
        char *text = NULL;
        size_t size = 0;
        struct ub_record record;
        struct ub_error err;
        FILE *stream = open_memstream(&text, &size);
        fputs(TABLE "{\"points\": [0", stream);
        for (size_t i = 1; i < 1024; i++)
            fprintf(stream, ",%zu", i);
        fprintf(stream, "], \"point\": %s", forms[f][0]);
        for (size_t i = 0; i < 1 << 20; i++)
            fputc('x', stream);
        fprintf(stream, "%s}]}}</script>", forms[f][1]);
        fclose(stream);
        assert_false(read_bytes(text, size, &record, &err));
        if (!strstr(err.text, "would take more than 256 MiB"))
            fail_msg("%s", err.text);
        free(text);
    }
}

static void every_cut_and_change_does_no_harm(void **state)
{
    (void)state;
    struct ub_record record, back;
    struct ub_error err;
    fixture_record(&record, UB_MEASURED, 3, 6);
    char *page = page_of(&record, 1);
    const size_t length = strlen(page);
    for (size_t cut = 1; cut < length; cut += 7)
        if (read_bytes(page, cut, &back, &err))
            ub_record_free(&back);
    for (size_t at = 0; at < length; at += 3) {
        const char before = page[at];
        page[at] = (char)(before ^ 0x15);
        if (read_bytes(page, length, &back, &err))
            ub_record_free(&back);
        page[at] = before;
    }
    free(page);
    ub_record_free(&record);
}

static void files_are_named(void **state)
{
    (void)state;
    struct ub_records records = {0};
    struct ub_error err;
    assert_false(ub_records_read("/nonexistent/r.html#2", &records, &err));
    assert_non_null(strstr(err.text, "/nonexistent/r.html#2: cannot open"));
    char *name = file_of("{}"), numbered[64];
    snprintf(numbered, sizeof numbered, "%s#1", name);
    assert_false(ub_records_read(numbered, &records, &err));
    assert_non_null(strstr(err.text, "#1 is for a report"));
    assert_int_equal(records.count, 0);
    ub_records_free(&records);
    unlink(name);
    free(name);
}

static void warnings_follow_their_points(void **state)
{
    (void)state;
    static const char *const rules[] = {"a", "b", "a", "b"};
    struct ub_record record = {0};
    for (size_t i = 0; i < 4; i++)
        ub_set_string(&ub_record_add_point(&record)->rule, rules[i]);
    for (long point = -1; point < 4; point++)
        ub_record_warn(&record, "w", point, "of point %ld", point);
    assert_int_equal(ub_record_keep_rule(&record, "b"), 2);
    assert_int_equal(record.warning_count, 3);
    assert_string_equal(record.warnings[0].text, "of point -1");
    assert_int_equal(record.warnings[0].point, -1);
    assert_string_equal(record.warnings[1].text, "of point 1");
    assert_int_equal(record.warnings[1].point, 0);
    assert_string_equal(record.warnings[2].text, "of point 3");
    assert_int_equal(record.warnings[2].point, 1);
    assert_int_equal(ub_record_keep_rule(&record, "c"), 0);
    assert_int_equal(record.warning_count, 1);
    ub_record_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_back),
        cmocka_unit_test(mixed_points_keep_their_order),
        cmocka_unit_test(hostile_strings_come_back),
        cmocka_unit_test(columns_are_small),
        cmocka_unit_test(a_page_of_three),
        cmocka_unit_test(malformed_pages_are_refused),
        cmocka_unit_test(swelling_tables_are_refused),
        cmocka_unit_test(every_cut_and_change_does_no_harm),
        cmocka_unit_test(files_are_named),
        cmocka_unit_test(warnings_follow_their_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
