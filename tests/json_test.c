/* SPDX-License-Identifier: MIT
 *
 * The record as JSON: what is written is read back and written again as the same
 * bytes, whatever stands in it; what is not a record is refused with its place. */
#include "harness/io/json.h"

#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "tests/io_fixture.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct ub_json_options plain = {0};

static char *write_with(const struct ub_record *record, const struct ub_json_options *options)
{
    char *text = NULL;
    size_t size = 0;
    struct ub_error err;
    FILE *stream = open_memstream(&text, &size);
    assert_true(ub_json_write(stream, record, options, &err));
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
    bool good = ub_json_read(stream, "r.json", record, err);
    fclose(stream);
    return good;
}

static bool read_text(const char *text, struct ub_record *record, struct ub_error *err)
{
    return read_bytes(text, strlen(text), record, err);
}

/* Reads and writes again: the same bytes. */
static void expect_stable(const struct ub_record *record)
{
    struct ub_record back;
    struct ub_error err;
    char *text = write_with(record, &plain);
    if (!read_text(text, &back, &err))
        fail_msg("%s", err.text);
    char *again = write_with(&back, &plain);
    assert_string_equal(again, text);
    ub_record_free(&back);
    free(again);
    free(text);
}

static void expect_refused(const char *text, const char *wanted)
{
    struct ub_record record;
    struct ub_error err;
    if (read_text(text, &record, &err))
        fail_msg("was read, but should be refused: %s", wanted);
    assert_int_equal(err.status, UB_BAD_DATA);
    if (strncmp(err.text, "r.json", 6) != 0 || !strstr(err.text, wanted))
        fail_msg("wanted \"%s\", got \"%s\"", wanted, err.text);
    assert_int_equal(record.point_count, 0);
}

/* ---- round trips --------------------------------------------------------- */

static void records_are_stable(void **state)
{
    (void)state;
    static const struct {
        enum ub_source source;
        size_t points, samples;
    } cases[] = {{UB_MEASURED, 3, 30}, {UB_PREDICTED, 3, 0}, {UB_MEASURED, 1, 1},
                 {UB_MEASURED, 0, 0},  {UB_PUBLISHED, 2, 0}, {UB_MEASURED, 33, 100}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct ub_record record;
        fixture_record(&record, cases[i].source, cases[i].points, cases[i].samples);
        expect_stable(&record);
        ub_record_free(&record);
    }
}

/* Replaces the first `from` of a text; the caller frees it. */
static char *replaced(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    if (!at)
        fail_msg("the fixture has no %s", from);
    char *out = malloc(strlen(text) + strlen(to) + 1);
    size_t before = (size_t)(at - text);
    memcpy(out, text, before);
    strcpy(out + before, to);
    strcat(out, at + strlen(from));
    return out;
}

static void expect_change_refused(const char *text, const char *from, const char *to, const char *wanted)
{
    char *changed = replaced(text, from, to);
    expect_refused(changed, wanted);
    free(changed);
}

static void published_figures_say_where_they_are_from(void **state)
{
    (void)state;
    struct ub_record record, back;
    struct ub_error err;
    fixture_record(&record, UB_PUBLISHED, 1, 0);
    char *text = write_with(&record, &plain);
    assert_true(read_text(text, &back, &err));
    assert_string_equal(back.points[0].published.source, "somebody's table 3");
    assert_string_equal(back.points[0].published.conditions, "double, ECC on");
    assert_string_equal(back.points[0].published.kind, "measured");
    ub_record_free(&back);
    /* A figure without a source is none, and a run has no figures of others. */
    expect_change_refused(text, "\"kind\": ", "\"sort\": ", "points[0].published.kind: is missing");
    expect_change_refused(text, "\"published\": {", "\"printed\": {", "points[0]: \"published\" is missing");
    expect_change_refused(text, "\"source\": \"published\"", "\"source\": \"predicted\"",
                          "points[0].published: only a published record");
    free(text);
    ub_record_free(&record);
}

static void the_empty_record_is_stable(void **state)
{
    (void)state;
    struct ub_record record = {0};
    expect_stable(&record);
}

static void values_come_back(void **state)
{
    (void)state;
    struct ub_record record, back;
    struct ub_error err;
    fixture_record(&record, UB_MEASURED, 8, 30);
    struct ub_record_point *point = &record.points[7];
    point->time.samples[3].flags = UB_FLAG_THROTTLED | UB_FLAG_REMEASURED;
    point->time.samples[4].clock_mhz = NAN;
    ub_record_warn(&record, "unstable-clock", 7, "the clock fell");
    char *text = write_with(&record, &plain);
    assert_true(read_text(text, &back, &err));
    const struct ub_record_point *same = &back.points[7];
    assert_int_equal(back.source, UB_MEASURED);
    assert_int_equal(back.run.seed, 42);
    assert_int_equal(back.run.argc, 8);
    assert_string_equal(back.run.argv[0], "/home/someone/build/ubench");
    assert_int_equal(back.run.jit, 0);
    assert_true(back.run.complete);
    assert_int_equal(back.device.sms, 132);
    assert_true(back.device.memory_bytes == 150754820096);
    assert_int_equal(back.device.ecc, 1);
    assert_int_equal(back.device.mig, -1);
    assert_true(isnan(back.device.power_w));
    assert_null(back.device.throttle_reasons);
    assert_int_equal(back.constants.count, 1);
    assert_string_equal(back.constants.items[0].name, "dram_load_ceiling");
    assert_true(fabs(back.constants.items[0].value / 4.683123456789e12 - 1) < 1e-11);
    assert_int_equal(ub_point_axis(same, "stride")->number, 8);
    assert_string_equal(ub_point_axis(same, "op")->word, "load");
    assert_true(same->has_static && same->static_.grid[0] == 65536 && same->static_.resident_blocks == 8);
    assert_int_equal(same->time.n, 30);
    for (size_t i = 0; i < 30; i++)
        assert_true(fabs(same->time.samples[i].time_ns / point->time.samples[i].time_ns - 1) < 1e-11);
    assert_int_equal(same->time.samples[3].flags, UB_FLAG_THROTTLED | UB_FLAG_REMEASURED);
    assert_int_equal(same->time.samples[2].flags, 0);
    assert_true(isnan(same->time.samples[4].clock_mhz) && same->time.samples[5].clock_mhz == 1980);
    assert_true(same->time.drift == -0.125);
    const struct ub_record_counter *sectors = ub_point_counter(same, "global_load_sectors");
    assert_true(sectors->has_measured && sectors->measured == 32u << 21 && sectors->predicted == 32u << 21);
    assert_int_equal(sectors->class_, UB_STRUCTURAL);
    assert_true(isnan(sectors->tolerance));
    assert_int_equal(same->term_count, 2);
    assert_string_equal(same->bottleneck, "dram");
    assert_int_equal(same->time_verdict, UB_TIME_HOLDS);
    assert_true(ub_point_predicted_metric(same, "efficiency")->value == 0.125);
    assert_int_equal(back.warnings[0].point, 7);
    ub_record_free(&back);
    ub_record_free(&record);
    free(text);
}

/* Numbers at the edges of the format, each as the median of a point. */
static void numbers_are_stable(void **state)
{
    (void)state;
    static const double values[] = {0,
                                    -0.0,
                                    1e-300,
                                    5e-324,
                                    0.1,
                                    1.0 / 3,
                                    123456789012.4,
                                    99999999999.96,
                                    99999999999.4,
                                    4683123456789.3,
                                    999999999999999.9,
                                    1e15,
                                    9007199254740993.0,
                                    1.7976931348623157e308,
                                    2.5e-7,
                                    999999999999.5};
    struct ub_record record;
    fixture_record(&record, UB_MEASURED, COUNT(values), 1);
    for (size_t i = 0; i < COUNT(values); i++)
        record.points[i].time.median = values[i];
    record.points[0].time.ci_hi = INFINITY;
    expect_stable(&record);
    struct ub_record back;
    struct ub_error err;
    char *text = write_with(&record, &plain);
    assert_true(read_text(text, &back, &err));
    for (size_t i = 0; i < COUNT(values); i++)
        assert_true(fabs(back.points[i].time.median - values[i]) <= 1e-11 * values[i]);
    assert_true(isnan(back.points[0].time.ci_hi));
    free(text);
    ub_record_free(&back);
    ub_record_free(&record);
}

static void integers_are_exact(void **state)
{
    (void)state;
    static const uint64_t values[] = {0, 1, (1ull << 53) + 1, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
    for (size_t i = 0; i < COUNT(values); i++) {
        struct ub_record record, back;
        struct ub_error err;
        fixture_record(&record, UB_MEASURED, 1, 1);
        record.run.seed = values[i];
        record.points[0].counters[0].measured = values[i];
        record.points[0].axes[0].number = INT64_MIN;
        char *text = write_with(&record, &plain);
        assert_true(read_text(text, &back, &err));
        assert_true(back.run.seed == values[i]);
        assert_true(back.points[0].counters[0].measured == values[i]);
        assert_true(back.points[0].axes[0].number == INT64_MIN);
        free(text);
        ub_record_free(&back);
        ub_record_free(&record);
    }
}

/* Puts a text into every string of a record. */
static void set_all(struct ub_record *record, const char *text)
{
    struct ub_run_info *run = &record->run;
    struct ub_device_info *device = &record->device;
    struct ub_record_point *point = &record->points[0];
    char **strings[] = {&run->id,
                        &run->started,
                        &run->finished,
                        &run->version,
                        &run->nvcc,
                        &run->archs,
                        &run->code_hash,
                        &run->counters,
                        &run->host_cpu,
                        &run->argv[1],
                        &device->name,
                        &device->uuid,
                        &device->pci,
                        &device->chip,
                        &device->slug,
                        &device->driver,
                        &device->runtime,
                        &device->vbios,
                        &device->throttle_reasons,
                        &point->rule,
                        &point->sweep,
                        &point->reason,
                        &point->level,
                        &point->cache,
                        &point->data,
                        &point->bottleneck,
                        &point->note,
                        &point->axes[2].word,
                        &point->axes[2].name,
                        &point->metrics[0].key,
                        &point->metrics[0].unit,
                        &point->predicted_metrics[0].key,
                        &point->counters[0].key,
                        &point->counters[0].unit,
                        &point->counters[0].raw,
                        &point->counters[0].reason,
                        &point->terms[0].name};
    for (size_t i = 0; i < COUNT(strings); i++)
        ub_set_string(strings[i], text);
    ub_record_warn(record, text, 0, "%s", text);
    ub_constant_set(&record->constants, text, 1, 1, 1, text, "%s", text);
}

static const struct ub_span spans[] = {
    {0, 0, "copy in", 0, 1e5}, {0, 0, "kernel", 1e5 + 1.5, 123456.789}, {UB_DEFAULT_STREAM, 1, "barrier", 2e5, 2e5}};

static void timelines_come_back(void **state)
{
    (void)state;
    struct ub_record record, back;
    struct ub_error err;
    fixture_record(&record, UB_MEASURED, 2, 3);
    char *without = write_with(&record, &plain);
    assert_null(strstr(without, "timeline"));
    free(without);
    for (size_t i = 0; i < COUNT(spans); i++)
        assert_true(ub_point_add_span(&record.points[1], &spans[i]));
    expect_stable(&record);
    char *json = write_with(&record, &plain);
    assert_true(read_text(json, &back, &err));
    assert_int_equal(back.points[0].span_count, 0);
    assert_int_equal(back.points[1].span_count, COUNT(spans));
    for (size_t i = 0; i < COUNT(spans); i++) {
        const struct ub_span *span = &back.points[1].spans[i];
        assert_true(span->stream == spans[i].stream && span->segment == spans[i].segment);
        assert_string_equal(span->stage, spans[i].stage);
        assert_true(span->begin_ns == spans[i].begin_ns && span->end_ns == spans[i].end_ns);
    }
    free(json);
    ub_record_free(&back);
    ub_record_free(&record);
}

/* null is as good as nothing; a point holds UB_MAX_SPANS of them and not one more. */
static void timelines_have_limits(void **state)
{
    (void)state;
    struct ub_record record, back;
    struct ub_error err;
    fixture_record(&record, UB_MEASURED, 1, 1);
    char *text = write_with(&record, &plain);
    char *null = replaced(text, "\"metrics\": {", "\"timeline\": null, \"metrics\": {");
    assert_true(read_text(null, &back, &err));
    assert_int_equal(back.points[0].span_count, 0);
    ub_record_free(&back);
    free(null);
    free(text);
    for (int i = 0; i < UB_MAX_SPANS; i++)
        assert_true(ub_point_add_span(&record.points[0], &spans[0]));
    assert_false(ub_point_add_span(&record.points[0], &spans[0]));
    char *full = write_with(&record, &plain);
    assert_true(read_text(full, &back, &err));
    assert_int_equal(back.points[0].span_count, UB_MAX_SPANS);
    char *more = replaced(full, "\"timeline\": [",
                          "\"timeline\": [{\"stream\": 0, \"segment\": 0, \"stage\": "
                          "\"x\", \"begin_ns\": 0, \"end_ns\": 1},");
    expect_refused(more, "points[0].timeline[1024]: a timeline has at most 1024 operations");
    free(more);
    free(full);
    ub_record_free(&back);
    ub_record_free(&record);
}

static void wrong_timelines_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *wanted;
    } cases[] = {
        {"\"timeline\": [", "\"timeline\": 3, \"x\": [", "points[0].timeline: expected an array, found an integer"},
        {"\"timeline\": [", "\"timeline\": [7, ", "points[0].timeline[0]: expected an object, found an integer"},
        {"\"stream\": 0, ", "", "points[0].timeline[0].stream: is missing"},
        {"\"stream\": 0, ", "\"stream\": null, ", "points[0].timeline[0].stream: must not be null"},
        {"\"stream\": 0, ", "\"stream\": 64, ", "points[0].timeline[0]: there is no such stream"},
        {"\"stream\": 0, ", "\"stream\": -2, ", "points[0].timeline[0].stream: -2 is impossible"},
        {"\"segment\": 0", "\"segment\": -1", "points[0].timeline[0].segment: -1 is impossible"},
        {"\"stage\": \"copy in\"", "\"stage\": \"\"", "points[0].timeline[0]: the stage has no name"},
        {"\"stage\": \"copy in\"", "\"stage\": 3", "points[0].timeline[0].stage: expected a string"},
        {"\"end_ns\": 100000", "\"end_ns\": -1", "points[0].timeline[0].end_ns: -1 is impossible"},
        {"\"begin_ns\": 100001.5", "\"begin_ns\": 123457", "points[0].timeline[1]: it must begin at 0 or later"},
        {"\"end_ns\": 100000", "\"end_ns\": 1e308", "points[0].timeline[0]: it must begin at 0 or later"},
        {"\"end_ns\": 100000", "\"end_ns\": \"late\"", "points[0].timeline[0].end_ns: expected a number"},
    };
    struct ub_record record;
    fixture_record(&record, UB_MEASURED, 1, 1);
    for (size_t i = 0; i < COUNT(spans); i++)
        assert_true(ub_point_add_span(&record.points[0], &spans[i]));
    char *text = write_with(&record, &plain);
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *wrong = replaced(text, cases[i].from, cases[i].to);
        expect_refused(wrong, cases[i].wanted);
        free(wrong);
    }
    free(text);
    ub_record_free(&record);
}

/* What a record need not have is not written: files from before it stay as they are. */
static void what_came_later_is_written_where_it_is_known(void **state)
{
    (void)state;
    for (int engines = -1; engines < 3; engines++) {
        struct ub_record record, back;
        struct ub_error err;
        fixture_record(&record, UB_MEASURED, 1, 1);
        record.device.copy_engines = engines;
        ub_set_string(&record.run.host_cpu, engines < 0 ? NULL : "a processor");
        char *json = write_with(&record, &plain);
        assert_int_equal(strstr(json, "copy_engines") != NULL, engines >= 0);
        assert_int_equal(strstr(json, "host_cpu") != NULL, engines >= 0);
        assert_true(read_text(json, &back, &err));
        assert_int_equal(back.device.copy_engines, engines);
        if (engines >= 0)
            assert_string_equal(back.run.host_cpu, "a processor");
        free(json);
        ub_record_free(&back);
        ub_record_free(&record);
    }
}

static const char *const hostile[] = {
    "",
    "\"quotes\" and \\ and 'single'",
    "\x01\x02\x1b[31m\x7f\r\n\t\b\f",
    "</script><script>alert(1)</script><!--",
    "_{}^$`rm -rf`$(true)%s%n%1000d",
    "Gr\xc3\xb6\xc3\x9f"
    "e \xe6\xb8\xac\xe5\xae\x9a \xf0\x9f\x92\xa9",
    "=cmd|' /C calc'!A0",
    "a,b;c|d&e<f>g",
};

static void hostile_strings_come_back(void **state)
{
    (void)state;
    char lengthy[301];
    memset(lengthy, 'x', 300);
    lengthy[300] = 0;
    for (size_t i = 0; i <= COUNT(hostile); i++) {
        const char *text = i < COUNT(hostile) ? hostile[i] : lengthy;
        struct ub_record record, back;
        struct ub_error err;
        fixture_record(&record, UB_MEASURED, 1, 2);
        set_all(&record, text);
        expect_stable(&record);
        char *json = write_with(&record, &plain);
        assert_null(strstr(json, "</script"));
        assert_true(read_text(json, &back, &err));
        assert_string_equal(back.device.name, text);
        assert_string_equal(back.run.argv[1], text);
        assert_string_equal(back.points[0].rule, text);
        assert_string_equal(back.points[0].reason, text);
        assert_string_equal(back.points[0].note, text);
        assert_string_equal(back.points[0].axes[2].name, text);
        assert_string_equal(back.points[0].axes[2].word, text);
        assert_string_equal(back.points[0].counters[0].reason, text);
        assert_string_equal(back.warnings[0].code, text);
        assert_string_equal(back.warnings[0].text, text);
        free(json);
        ub_record_free(&back);
        ub_record_free(&record);
    }
}

static void broken_utf8_is_replaced(void **state)
{
    (void)state;
    static const struct {
        const char *name, *wanted;
    } cases[] = {
        {"H\xff\xfe"
         "200",
         "H\xEF\xBF\xBD\xEF\xBF\xBD"
         "200"},
        {"\xc0\xaf overlong", "\xEF\xBF\xBD\xEF\xBF\xBD overlong"},
        {"\xed\xa0\x80 surrogate", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD surrogate"},
        {"\xf4\x90\x80\x80 too large", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD too large"},
        {"\xe6\xb8x", "\xEF\xBF\xBD\xEF\xBF\xBDx"},
        {"cut \xe6\xb8", "cut "},
        {"Latin \xb5s", "Latin \xEF\xBF\xBDs"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct ub_record record, back;
        struct ub_error err;
        fixture_record(&record, UB_MEASURED, 1, 2);
        set_all(&record, cases[i].name);
        record.constants.count = 1; /* arrays of fixed size have no room for what replaces a byte */
        expect_stable(&record);
        char *json = write_with(&record, &plain);
        assert_true(read_text(json, &back, &err));
        assert_string_equal(back.device.name, cases[i].wanted);
        free(json);
        ub_record_free(&back);
        ub_record_free(&record);
    }
}

/* A name that stands twice would be refused on reading: the first one is written. */
static void doubled_names_are_written_once(void **state)
{
    (void)state;
    struct ub_record record, back;
    struct ub_error err;
    fixture_record(&record, UB_MEASURED, 1, 2);
    struct ub_record_point *point = &record.points[0];
    ub_point_add_counter(point, "global_load_sectors", "sector");
    ub_point_add_metric(point, "efficiency", "1", 7);
    ub_point_add_term(point, "dram", 7);
    ub_point_add_axis(point, "stride", NULL, 7);
    char *json = write_with(&record, &plain);
    assert_true(read_text(json, &back, &err));
    assert_int_equal(back.points[0].counter_count, 2);
    assert_int_equal(ub_point_axis(&back.points[0], "stride")->number, 1);
    assert_true(ub_point_metric(&back.points[0], "efficiency")->value == 1);
    free(json);
    ub_record_free(&back);
    ub_record_free(&record);
}

/* Keys in another order (as `jq -S` leaves them) and unknown ones change nothing. */
static void order_of_keys_does_not_matter(void **state)
{
    (void)state;
    struct ub_record record, back;
    struct ub_error err;
    fixture_record(&record, UB_MEASURED, 3, 6);
    char *text = write_with(&record, &plain);
    json_t *tree = json_loads(text, 0, NULL);
    json_t *inner = json_object_get(tree, "ubench");
    json_object_set_new(inner, "zz_later", json_pack("[i,{s:n}]", 1, "x"));
    json_object_set_new(tree, "aa_later", json_string("}]"));
    json_object_set_new(json_array_get(json_object_get(inner, "points"), 0), "later", json_true());
    char *sorted = json_dumps(tree, JSON_SORT_KEYS | JSON_INDENT(1));
    if (!read_text(sorted, &back, &err))
        fail_msg("%s", err.text);
    /* The order of axes and counters is the file's; their content is the same. */
    assert_int_equal(back.point_count, 3);
    assert_int_equal(ub_point_axis(&back.points[2], "stride")->number, 3);
    assert_true(ub_point_counter(&back.points[2], "global_load_sectors")->measured == 12u << 21);
    assert_int_equal(back.points[2].time.n, 6);
    free(sorted);
    free(text);
    json_decref(tree);
    ub_record_free(&back);
    ub_record_free(&record);
}

static void the_golden_record_is_unchanged(void **state)
{
    (void)state;
    struct ub_record record;
    struct ub_error err;
    FILE *file = fopen("tests/golden/record.json", "rb");
    assert_non_null(file);
    char *golden = calloc(1, 1 << 16);
    size_t size = fread(golden, 1, (1 << 16) - 1, file);
    fclose(file);
    assert_true(size > 1000);
    if (!ub_json_read_file("tests/golden/record.json", &record, &err))
        fail_msg("%s", err.text);
    char *again = write_with(&record, &plain);
    assert_string_equal(again, golden);
    ub_record_free(&record);
    fixture_record(&record, UB_MEASURED, 2, 6);
    char *fixture = write_with(&record, &plain);
    assert_string_equal(fixture, golden);
    ub_record_free(&record);
    free(fixture);
    free(again);
    free(golden);
}

static void lines_are_few(void **state)
{
    (void)state;
    struct ub_record record;
    fixture_record(&record, UB_MEASURED, 500, 30);
    char *text = write_with(&record, &plain);
    size_t lines = 0;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    assert_in_range(lines, 500, 15000);
    free(text);
    ub_record_free(&record);
}

/* ---- options ------------------------------------------------------------- */

static void redaction_leaves_no_trace(void **state)
{
    (void)state;
    static const char *const secrets[] = {"GPU-1111", "1b:00",  "BC.00", "/home",
                                          "someone",  "out/of", "~/x",   "of the way"};
    struct ub_record record, back;
    struct ub_error err;
    fixture_record(&record, UB_MEASURED, 1, 2);
    ub_set_string(&record.points[0].reason,
                  "see /home/someone/log.txt (GPU-11111111-2222-3333-4444-555555555555), 3 B/s");
    ub_record_warn(&record, "x", 0, "~/x/y.json: '/home/someone/z'");
    ub_set_string(&record.run.counters, "libcupti=/home/someone/libcupti.so");
    char *text = write_with(&record, &(struct ub_json_options){.redact = true});
    for (size_t i = 0; i < COUNT(secrets); i++)
        if (strstr(text, secrets[i]))
            fail_msg("\"%s\" is still there", secrets[i]);
    assert_true(read_text(text, &back, &err));
    assert_null(back.device.uuid);
    assert_null(back.device.pci);
    assert_null(back.device.vbios);
    assert_string_equal(back.device.name, "NVIDIA H200");
    assert_string_equal(back.run.argv[0], "ubench");
    assert_string_equal(back.run.argv[4], "1..32");
    assert_string_equal(back.run.argv[6], "r.json");
    assert_string_equal(back.run.argv[7], "--device=model:card.json");
    assert_string_equal(back.points[0].reason, "see log.txt ((uuid)), 3 B/s");
    assert_string_equal(back.warnings[0].text, "y.json: 'z'");
    assert_string_equal(back.run.counters, "libcupti=libcupti.so");
    assert_string_equal(back.constants.items[0].unit, "B/s");
    free(text);
    ub_record_free(&back);
    ub_record_free(&record);
}

static void samples_can_be_left_out(void **state)
{
    (void)state;
    struct ub_record record, back;
    struct ub_error err;
    fixture_record(&record, UB_MEASURED, 1, 30);
    char *text = write_with(&record, &(struct ub_json_options){.no_samples = true});
    assert_true(read_text(text, &back, &err));
    assert_int_equal(back.points[0].time.n, 30);
    assert_null(back.points[0].time.samples);
    assert_true(back.points[0].time.median == record.points[0].time.median);
    assert_true(ub_time_clock_mhz(&back.points[0].time) == ub_time_clock_mhz(&record.points[0].time));
    assert_true(ub_time_clock_mhz(&back.points[0].time) == 1980);
    expect_stable(&back);
    free(text);
    ub_record_free(&back);
    ub_record_free(&record);
}

static void a_full_disk_is_noticed(void **state)
{
    (void)state;
    struct ub_record record;
    struct ub_error err = {.status = UB_OK};
    fixture_record(&record, UB_MEASURED, 3, 30);
    FILE *full = fopen("/dev/full", "w");
    if (full) {
        assert_false(ub_json_write(full, &record, &plain, &err));
        assert_int_equal(err.status, UB_CANNOT_WRITE);
        fclose(full);
    }
    ub_record_free(&record);
    if (!full)
        skip();
}

/* ---- what is refused ----------------------------------------------------- */

static void foreign_files_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {" ", "the file is empty"},
        {"\n\n\t", "the file is empty"},
        {"hello", "line 1, column 1: this is not a JSON record"},
        {"\n  [1]", "line 2, column 3: this is not a JSON record"},
        {"\x1f\x8b\x08", "does not begin with '{'"},
        {"{}", "not a record of ubench"},
        {"{\"ubench\": 3}", "not a record of ubench"},
        {"{\"ubench\": {}}", "not a record of ubench"},
        {"{\"ubench\": {\"version\": \"1\"}}", "not a record of ubench"},
        {"{\"context\": {}, \"benchmarks\": []}", "Google Benchmark"},
        {"{\"context\": {}, \"benchmarks\": [], \"ubench\": {\"failed\": []}}", "Google Benchmark"},
        {"{\"meta\": {}, \"devices\": [], \"benchmarks\": []}", "nvbench"},
        {"{\"line\": \"header\"}\n{\"line\": \"end\"}\n", "journal"},
        {"{\"ubench\": {\"schema\": 2}}", "schema: was written by a newer ubench: schema 2, this one reads 1"},
        {"{\"ubench\": {\"points\": 7, \"schema\": 99}}", "newer ubench: schema 99"},
        {"{\"ubench\": {\"schema\": 0}}", "there is no schema 0"},
        {"{\"ubench\": {\"schema\": -1}}", "there is no schema -1"},
        {"{\"ubench\": {\"schema\": \"1\"}}", "schema: expected an integer, found a string"},
        {"{\"ubench\": {\"schema\": 1.0}}", "schema: expected an integer"},
        {"{\"ubench\": {\"schema\": 1}}", "\"source\" is missing"},
        {"{\"ubench\": {\"schema\": 1, \"source\": \"measured\"}}", "\"points\" is missing"},
        {"{\"ubench\": {\"schema\": 1, \"source\": \"guessed\", \"points\": []}}",
         "source: \"guessed\" is not one of measured, predicted, published"},
        {"{\"ubench\": {\"schema\": 1, \"source\": \"measured\", \"points\": {}}}", "points: expected an array"},
        {"{\"ubench\": {\"schema\": 1, \"source\": \"measured\", \"points\": [3]}}",
         "points[0]: expected an object, found an integer"},
        {"{\"ubench\": {\"schema\": 1, \"source\": \"measured\", \"points\": [{}]}}", "points[0].rule: is missing"},
        {"{\"ubench\": {\"schema\": 1, \"source\": \"measured\", \"points\": []}} x", "more text behind the record"},
        {"{\"ubench\": {\"schema\": 1, \"source\": \"measured\", \"points\": [],}}", "expected '\"', found '}'"},
        {"{\"ubench\": {\"schema\": 1 \"source\": 2}}", "expected '}', found '\"'"},
        {"{\"ubench\": {\"schema\": NaN}}", "line 1, column 25: invalid token near 'NaN'"},
        {"{\"ubench\": {\"schema\": 1, \"schema\": 1}}", "\"schema\" stands twice"},
        {"{\"ubench\": {}, \"ubench\": {}}", "\"ubench\" stands twice"},
        {"{\"ubench\": {\"schema\": 1, \"x\": {\"a\": 1, \"a\": 2}}}", "duplicate"},
        {"{\"a\\u0000b\": 1}", "\\u0000"},
        {"{\"\xff\": 1}", "unable to decode byte 0xff"},
        {"{\"ubench\": {\"schema\": 1, \"x\": [1}}}", "']' expected"},
        {"{3: 4}", "expected '\"', found '3'"},
        {"{\"ubench\": {\"schema\": 1e999}}", "overflow"},
        {"{\"ubench\": {\"schema\": 99999999999999999999}}", "too big"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_refused(cases[i].text, cases[i].wanted);
}

static void wrong_values_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *wanted;
    } cases[] = {
        {"\"median\": 101000", "\"median\": \"fast\"", "points[0].time_ns.median: expected a number, found a string"},
        {"\"median\": 202000", "\"median\": -5", "points[1].time_ns.median: -5 is impossible"},
        {"\"n\": 6", "\"n\": 7", "points[0].time_ns.n: 7 is impossible with 6 samples"},
        {"\"n\": 6", "\"n\": 0", "points[0].time_ns.n: 0 is impossible"},
        {"\"n\": 6", "\"n\": -6", "points[0].time_ns.n: -6 is impossible"},
        {"\"n\": 6", "\"m\": 6", "points[0].time_ns.n: is missing"},
        {"\"measured\": 2097152", "\"measured\": -1",
         "points[0].counters.global_load_requests.measured: -1 is impossible"},
        {"\"measured\": 2097152", "\"measured\": 1.5",
         "points[0].counters.global_load_requests.measured: expected an integer, found a number with a fraction"},
        {"\"measured\": 2097152", "\"measured\": \"12\"", "measured: expected an integer, found a string"},
        {"\"measured\": 2097152", "\"measured\": \"99999999999999999999\"", "measured: expected an integer"},
        {"\"class\": \"structural\"", "\"class\": \"magic\"",
         "class: \"magic\" is not one of structural, sass, estimate"},
        {"\"status\": \"ok\"", "\"status\": \"fine\"", "status: \"fine\" is not one of ok, skipped, failed, timeout"},
        {"\"status\": \"ok\"", "\"status\": null", "points[0].status: must not be null"},
        {"\"rule\": \"coalescing\"", "\"rule\": 5", "points[0].rule: expected a string, found an integer"},
        {"\"stride\": 1", "\"stride\": 1.5", "points[0].axes.stride: expected an integer or a word"},
        {"\"stride\": 1", "\"stride\": null", "points[0].axes.stride: expected an integer or a word, found null"},
        {"\"grid\": [65536, 1, 1]", "\"grid\": [65536, 1]", "points[0].static.grid: expected three sizes"},
        {"\"grid\": [65536, 1, 1]", "\"grid\": [65536, 0, 1]", "points[0].static.grid: 0 is impossible"},
        {"\"registers\": 24", "\"registers\": -7", "points[0].static.registers: -7 is impossible"},
        {"\"registers\": 24", "\"registers\": 4294967296", "points[0].static.registers: 4294967296 is impossible"},
        {"\"clock_mhz\": [1980, ", "\"clock_mhz\": [", "6 samples but 5 clocks"},
        {"\"clock_mhz\": [1980, ", "\"clock_mhz\": [1, 2, ", "more clocks than samples"},
        {"\"flags\": []", "\"flags\": [{\"sample\": 6, \"is\": []}]", "flags[0]: there is no sample 6"},
        {"\"flags\": []", "\"flags\": [{\"sample\": 1, \"is\": [\"odd\"]}]",
         "\"odd\" is not one of throttled, remeasured"},
        {"\"flags\": []", "\"flags\": [1]", "flags[0]: expected {"},
        {"\"seed\": 42", "\"seed\": -42", "run.seed: -42 is impossible"},
        {"\"argv\": [\"", "\"argv\": [3, \"", "run.argv[0]: expected a string, found an integer"},
        {"\"complete\": true", "\"complete\": 1", "run.complete: expected true or false, found an integer"},
        {"\"sms\": 132", "\"sms\": -3", "device.sms: -3 is impossible"},
        {"\"ecc\": true", "\"ecc\": \"on\"", "device.ecc: expected true or false, found a string"},
        {"\"name\": \"dram_load_ceiling\", ", "", "constants[0].name: is missing"},
        {"\"warnings\": []", "\"warnings\": [{\"code\": \"x\", \"text\": \"y\", \"point\": 2}]",
         "warnings[0]: there is no point 2"},
        {"\"warnings\": []", "\"warnings\": [{\"text\": \"y\", \"point\": 2}]", "warnings[0].code: is missing"},
        {"\"dram\": 100000", "\"dram\": -1", "points[0].law.time.terms.dram: -1 is impossible"},
        {"\"verdict\": \"holds\"", "\"verdict\": \"maybe\"", "points[0].law.time.verdict: \"maybe\" is not one of"},
        {"\"source\": \"measured\"", "\"source\": \"predicted\"", "a predicted record cannot have a measured time"},
    };
    struct ub_record record;
    fixture_record(&record, UB_MEASURED, 2, 6);
    char *text = write_with(&record, &plain);
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *wrong = replaced(text, cases[i].from, cases[i].to);
        expect_refused(wrong, cases[i].wanted);
        free(wrong);
    }
    free(text);
    ub_record_free(&record);
}

static void predicted_records_have_no_measured_counter(void **state)
{
    (void)state;
    struct ub_record record;
    fixture_record(&record, UB_PREDICTED, 1, 0);
    char *text = write_with(&record, &plain);
    assert_non_null(strstr(text, "\"source\": \"predicted\""));
    assert_non_null(strstr(text, "\"time_ns\": null"));
    assert_non_null(strstr(text, "\"predicted_ns\": 100000"));
    char *wrong = replaced(text, "\"measured\": null", "\"measured\": 3");
    expect_refused(wrong, "points[0].counters.global_load_requests: a predicted record cannot have a measured value");
    free(wrong);
    free(text);
    ub_record_free(&record);
}

/* A record that is cut anywhere is refused; none of its bytes is read past the end. */
static void every_cut_is_refused(void **state)
{
    (void)state;
    struct ub_record record, back;
    struct ub_error err;
    fixture_record(&record, UB_MEASURED, 2, 6);
    char *text = write_with(&record, &plain);
    size_t length = strlen(text) - 1; /* the last newline is not needed */
    for (size_t cut = 1; cut < length; cut++) {
        char *part = malloc(cut);
        memcpy(part, text, cut);
        if (read_bytes(part, cut, &back, &err))
            fail_msg("cut at %zu was read", cut);
        assert_int_equal(err.status, UB_BAD_DATA);
        free(part);
    }
    expect_refused("{\"ubench\": {\"schema\": 1, \"points\": [{\"rule\": \"coal",
                   "the file ends in the middle of a value");
    free(text);
    ub_record_free(&record);
}

/* One byte changed, everywhere, to what JSON is most sensitive to: read or refused,
 * and if read, then written again without harm. */
static void changed_bytes_do_no_harm(void **state)
{
    (void)state;
    static const char bytes[] = {'"', '{', ']', ',', '-', '9', 'e', '\\', '\0', '\x80'};
    struct ub_record record, back;
    struct ub_error err;
    fixture_record(&record, UB_MEASURED, 1, 3);
    char *text = write_with(&record, &plain);
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) {
        char was = text[i];
        text[i] = bytes[i % COUNT(bytes)];
        if (read_bytes(text, length, &back, &err)) {
            free(write_with(&back, &plain));
            ub_record_free(&back);
        }
        text[i] = was;
    }
    free(text);
    ub_record_free(&record);
}

/* An endless stream of a few bytes; counts what is taken from it. */
struct endless {
    const char *unit, *begin;
    size_t taken, limit;
};

static ssize_t endless_read(void *cookie, char *out, size_t size)
{
    struct endless *endless = cookie;
    size_t begin = strlen(endless->begin), unit = strlen(endless->unit);
    size_t i = 0;
    for (; i < size && endless->taken < endless->limit; i++, endless->taken++)
        out[i] =
            endless->taken < begin ? endless->begin[endless->taken] : endless->unit[(endless->taken - begin) % unit];
    return (ssize_t)i;
}

static void floods_are_refused_early(void **state)
{
    (void)state;
    static const struct {
        const char *begin, *unit, *wanted;
        size_t most;
    } cases[] = {
        {"", "[", "does not begin with '{'", 1 << 17},
        {"{\"ubench\": {\"points\": ", "[", "nested deeper than 64 levels", 1 << 17},
        {"", "{\"a\":", "nested deeper than 64 levels", 1 << 17},
        {"{\"ubench\": {\"schema\": 1, \"source\": \"measured\", \"points\": [[", "1,", "cut off", 20 << 20},
        {"{\"ubench\": {\"schema\": 1, \"x\": \"", "xx", "cut off", 20 << 20},
        {"{", "\xff", "expected '\"', found byte 0xff", 20 << 20},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct endless endless = {cases[i].unit, cases[i].begin, 0, i < 3 ? 100u << 20 : 10u << 20};
        FILE *stream = fopencookie(&endless, "rb", (cookie_io_functions_t){.read = endless_read});
        struct ub_record record = {0};
        struct ub_error err;
        assert_false(ub_json_read(stream, "flood", &record, &err));
        if (!strstr(err.text, cases[i].wanted))
            fail_msg("wanted \"%s\", got \"%s\"", cases[i].wanted, err.text);
        assert_in_range(endless.taken, 1, cases[i].most);
        fclose(stream);
    }
}

/* One point of several megabytes would cost jansson hundreds. */
static void huge_values_are_refused(void **state)
{
    (void)state;
    static const char begin[] = "{\"ubench\": {\"schema\": 1, \"source\": \"measured\", \"points\": [[",
                      end[] = "1]]}}";
    size_t middle = 5 << 20;
    char *text = malloc(sizeof begin + middle + sizeof end);
    strcpy(text, begin);
    for (size_t i = 0; i < middle; i += 2)
        memcpy(text + sizeof begin - 1 + i, "1,", 2);
    strcpy(text + sizeof begin - 1 + middle, end);
    expect_refused(text, "this is not a record of ubench");
    free(text);
}

static void too_many_entries_are_refused(void **state)
{
    (void)state;
    struct ub_record record;
    fixture_record(&record, UB_MEASURED, 1, 2);
    for (int i = 0; i < UB_MAX_AXES; i++) {
        char name[16];
        snprintf(name, sizeof name, "a%d", i);
        ub_point_add_axis(&record.points[0], name, NULL, i);
    }
    char *text = write_with(&record, &plain);
    expect_refused(text, "points[0].axes: 20 entries, at most 16 are possible");
    free(text);
    ub_record_free(&record);
}

static void files_that_cannot_be_read_are_named(void **state)
{
    (void)state;
    static const char *const paths[] = {"tests/golden/no-such-file.json", "tests"};
    for (size_t i = 0; i < COUNT(paths); i++) {
        struct ub_record record;
        struct ub_error err;
        assert_false(ub_json_read_file(paths[i], &record, &err));
        assert_int_equal(err.status, UB_BAD_DATA);
        assert_true(strncmp(err.text, paths[i], strlen(paths[i])) == 0);
        ub_record_free(&record);
    }
}

/* A message goes to a terminal: no byte of a file may steer it. */
static void messages_are_harmless(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"ubench\": {\"schema\": 1, \"source\": \"\\u001b[31m\", \"points\": []}}",
        "{\"ubench\": {\"schema\": 1, \"x\": \x1b[31m}}",
        "{\"ubench\": {\"schema\": 1, \"source\": \"measured\", \"points\": [{\"rule\": \"r\", \"sweep\": \"s\", "
        "\"axes\": {\"\\u001b[2J\": null}}]}}",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct ub_record record;
        struct ub_error err;
        assert_false(read_text(texts[i], &record, &err));
        assert_null(strchr(err.text, '\x1b'));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_stable),
        cmocka_unit_test(published_figures_say_where_they_are_from),
        cmocka_unit_test(the_empty_record_is_stable),
        cmocka_unit_test(values_come_back),
        cmocka_unit_test(numbers_are_stable),
        cmocka_unit_test(integers_are_exact),
        cmocka_unit_test(what_came_later_is_written_where_it_is_known),
        cmocka_unit_test(timelines_come_back),
        cmocka_unit_test(timelines_have_limits),
        cmocka_unit_test(wrong_timelines_are_named),
        cmocka_unit_test(hostile_strings_come_back),
        cmocka_unit_test(broken_utf8_is_replaced),
        cmocka_unit_test(doubled_names_are_written_once),
        cmocka_unit_test(order_of_keys_does_not_matter),
        cmocka_unit_test(the_golden_record_is_unchanged),
        cmocka_unit_test(lines_are_few),
        cmocka_unit_test(redaction_leaves_no_trace),
        cmocka_unit_test(samples_can_be_left_out),
        cmocka_unit_test(a_full_disk_is_noticed),
        cmocka_unit_test(foreign_files_are_named),
        cmocka_unit_test(wrong_values_are_named),
        cmocka_unit_test(predicted_records_have_no_measured_counter),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(changed_bytes_do_no_harm),
        cmocka_unit_test(floods_are_refused_early),
        cmocka_unit_test(huge_values_are_refused),
        cmocka_unit_test(too_many_entries_are_refused),
        cmocka_unit_test(files_that_cannot_be_read_are_named),
        cmocka_unit_test(messages_are_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
