/* SPDX-License-Identifier: MIT
 *
 * Journal lines and jobs come back as they were sent; a line that a crash cut is
 * not a line. */
#include "harness/io/journal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/io_fixture.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static char *write_line(const struct ub_line *line)
{
    char *text = NULL;
    size_t size = 0;
    struct ub_error err;
    FILE *stream = open_memstream(&text, &size);
    assert_true(ub_line_write(stream, line, &err));
    fclose(stream);
    assert_true(size > 0 && text[size - 1] == '\n');
    assert_ptr_equal(strchr(text, '\n'), text + size - 1);
    return text;
}

/* Writes, reads and writes again: the same line. */
static void expect_same(const struct ub_line *line, struct ub_line *back)
{
    struct ub_error err;
    char *text = write_line(line);
    if (!ub_line_parse(text, strlen(text) - 1, back, &err))
        fail_msg("%s in %s", err.text, text);
    assert_int_equal(back->type, line->type);
    char *again = write_line(back);
    assert_string_equal(again, text);
    free(again);
    free(text);
}

static char name[] = "global_load_sectors", text[] = "a \"quoted\"\nline\x01</script>\\", raw[] = "smsp__sass.sum",
            phase[] = "verify";

static void all_types_come_back(void **state)
{
    (void)state;
    struct ub_record record;
    fixture_record(&record, UB_MEASURED, 1, 3);
    const struct ub_line lines[] = {
        {.type = UB_LINE_HEADER, .run = record.run, .device = record.device},
        {.type = UB_LINE_DEVICE, .device = record.device},
        {.type = UB_LINE_CONSTANT, .constant = record.constants.items[0]},
        {.type = UB_LINE_START, .point = 3, .phase = phase},
        {.type = UB_LINE_STATIC, .point = 3, .static_ = record.points[0].static_},
        {.type = UB_LINE_VERIFY, .point = 3, .ok = true},
        {.type = UB_LINE_VERIFY, .point = 3, .ok = false, .text = text},
        {.type = UB_LINE_SAMPLE, .point = 3, .sample = {1e5 / 3, 1979.99, 3}, .batch = 64},
        {.type = UB_LINE_SAMPLE, .point = 0, .sample = {-0.25, NAN, 0}, .batch = 1},
        {.type = UB_LINE_SPAN, .point = 3, .span = {UB_DEFAULT_STREAM, 15, "copy out", 1e5 / 3, 5e5 / 3}},
        {.type = UB_LINE_COUNTER,
         .point = 3,
         .key = name,
         .has_value = true,
         .value = (1ull << 53) + 1,
         .raw = raw,
         .passes = 2},
        {.type = UB_LINE_COUNTER, .point = 3, .key = name, .text = text},
        {.type = UB_LINE_POINT, .point = 3, .status = UB_POINT_TIMEOUT, .text = text},
        {.type = UB_LINE_WARNING, .point = -1, .key = name, .text = text},
        {.type = UB_LINE_WARNING, .point = 7, .key = name, .text = text},
        {.type = UB_LINE_ERROR, .status_code = UB_NO_DEVICE, .text = text},
        {.type = UB_LINE_END},
    };
    for (size_t i = 0; i < COUNT(lines); i++) {
        struct ub_line back;
        expect_same(&lines[i], &back);
        ub_line_free(&back);
    }
    ub_record_free(&record);
}

static void values_are_exact(void **state)
{
    (void)state;
    static const double times[] = {0.1, 1e5 / 3, 5e-324, 1.7976931348623157e308, 123456789.123456789, 4683123456789.3};
    for (size_t i = 0; i < COUNT(times); i++) {
        struct ub_line back,
            line = {.type = UB_LINE_SAMPLE, .point = 41, .sample = {times[i], times[i], 2}, .batch = 9};
        expect_same(&line, &back);
        assert_true(back.sample.time_ns == times[i] && back.sample.clock_mhz == times[i]);
        assert_int_equal(back.sample.flags, 2);
        assert_int_equal(back.batch, 9);
        assert_int_equal(back.point, 41);
        ub_line_free(&back);
    }
    struct ub_line back, line = {.type = UB_LINE_COUNTER,
                                 .point = 1,
                                 .key = name,
                                 .has_value = true,
                                 .value = UINT64_MAX,
                                 .passes = 4,
                                 .raw = raw,
                                 .text = text};
    expect_same(&line, &back);
    assert_true(back.has_value && back.value == UINT64_MAX);
    assert_int_equal(back.passes, 4);
    assert_string_equal(back.key, name);
    assert_string_equal(back.raw, raw);
    assert_string_equal(back.text, text);
    ub_line_free(&back);
}

static void the_header_comes_back(void **state)
{
    (void)state;
    struct ub_record record;
    fixture_record(&record, UB_MEASURED, 0, 0);
    record.run.seed = UINT64_MAX;
    struct ub_line back, line = {.type = UB_LINE_HEADER, .run = record.run, .device = record.device};
    expect_same(&line, &back);
    assert_true(back.run.seed == UINT64_MAX);
    assert_string_equal(back.run.argv[7], record.run.argv[7]);
    assert_string_equal(back.device.uuid, record.device.uuid);
    assert_int_equal(back.device.mig, -1);
    assert_true(isnan(back.device.power_w));
    ub_line_free(&back);
    ub_record_free(&record);
}

static void a_cut_line_is_no_line(void **state)
{
    (void)state;
    struct ub_record record;
    fixture_record(&record, UB_MEASURED, 1, 3);
    const struct ub_line lines[] = {
        {.type = UB_LINE_HEADER, .run = record.run, .device = record.device},
        {.type = UB_LINE_SAMPLE, .point = 3, .sample = {1e5 / 3, 1979.99, 3}, .batch = 64},
        {.type = UB_LINE_END},
    };
    for (size_t i = 0; i < COUNT(lines); i++) {
        char *line = write_line(&lines[i]);
        for (size_t cut = 0; cut + 1 < strlen(line); cut++) {
            struct ub_line back;
            struct ub_error err;
            char *part = malloc(cut + 1);
            memcpy(part, line, cut);
            assert_false(ub_line_parse(part, cut, &back, &err));
            assert_int_equal(err.status, UB_BAD_DATA);
            free(part);
        }
        free(line);
    }
    ub_record_free(&record);
}

static void what_is_no_line_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *line, *wanted;
    } cases[] = {
        {"", "not a line of a journal"},
        {"{}", "it has no \"line\""},
        {"[]", "it has no \"line\""},
        {"7", "not a line of a journal"},
        {"{\"line\": 7}", "expected a word"},
        {"{\"line\": \"party\"}", "\"party\" is not one of header, device"},
        {"{\"line\": \"sample\"}", "point: is missing"},
        {"{\"line\": \"sample\", \"point\": \"x\"}", "point: expected an integer, found a string"},
        {"{\"line\": \"sample\", \"point\": -2}", "point: -2 is impossible"},
        {"{\"line\": \"sample\", \"point\": 1}", "sample: is missing"},
        {"{\"line\": \"sample\", \"point\": 1, \"sample\": {\"time_ns\": null}}", "sample.time_ns: must not be null"},
        {"{\"line\": \"counter\", \"point\": 1, \"key\": \"k\", \"value\": -4}", "value: -4 is impossible"},
        {"{\"line\": \"counter\", \"point\": 1, \"value\": 4}", "key: is missing"},
        {"{\"line\": \"point\", \"point\": 1, \"status\": \"lost\"}", "\"lost\" is not one of ok"},
        {"{\"line\": \"end\", \"line\": \"end\"}", "duplicate"},
        {"{\"line\": \"header\", \"run\": {\"argv\": [\"a\", 3]}, \"device\": {}}", "run.argv[1]: expected a string"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct ub_line line;
        struct ub_error err = {.text = ""};
        assert_false(ub_line_parse(cases[i].line, strlen(cases[i].line), &line, &err));
        assert_int_equal(err.status, UB_BAD_DATA);
        if (!strstr(err.text, cases[i].wanted))
            fail_msg("wanted \"%s\", got \"%s\"", cases[i].wanted, err.text);
        assert_false(ub_line_parse(cases[i].line, strlen(cases[i].line), &line, NULL));
    }
}

static void a_full_disk_is_noticed(void **state)
{
    (void)state;
    struct ub_error err = {.status = UB_OK};
    FILE *full = fopen("/dev/full", "w");
    if (!full)
        skip();
    setvbuf(full, NULL, _IONBF, 0);
    assert_false(ub_line_write(full, &(struct ub_line){.type = UB_LINE_END}, &err));
    assert_int_equal(err.status, UB_CANNOT_WRITE);
    fclose(full);
}

/* ---- jobs ---------------------------------------------------------------- */

static char rule[] = "coalescing \"x\"\n", key_a[] = "global_load_sectors", key_b[] = "dram__bytes_read.sum";
static char *keys[] = {key_a, key_b};
static long indices[] = {0, 7, 9999};
static struct ub_point points[] = {{{1, 2, 3}}, {{INT64_MIN, 0, INT64_MAX}}, {{-1, 5, 1024}}};

static const struct ub_job full_job = {.kind = UB_JOB_TIME,
                                       .rule = rule,
                                       .device = 1,
                                       .seed = UINT64_MAX,
                                       .rounds = 30,
                                       .min_sample_ns = 1e6,
                                       .point_timeout_s = 0.1,
                                       .zeros = true,
                                       .key_count = 2,
                                       .keys = keys,
                                       .point_count = 3,
                                       .indices = indices,
                                       .points = points,
                                       .axis_count = 3};

static void expect_full_job(const struct ub_job *job)
{
    assert_int_equal(job->kind, UB_JOB_TIME);
    assert_string_equal(job->rule, rule);
    assert_int_equal(job->device, 1);
    assert_true(job->seed == UINT64_MAX && job->min_sample_ns == 1e6 && job->point_timeout_s == 0.1);
    assert_int_equal(job->rounds, 30);
    assert_true(job->zeros && !job->cold);
    assert_int_equal(job->key_count, 2);
    assert_string_equal(job->keys[1], key_b);
    assert_int_equal(job->point_count, 3);
    assert_int_equal(job->axis_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(job->indices[i], indices[i]);
        for (size_t k = 0; k < 3; k++)
            assert_true(job->points[i].values[k] == points[i].values[k]);
    }
}

/* The parent may keep the pipe open: reading must not wait for its end. */
static void a_job_goes_through_a_pipe(void **state)
{
    (void)state;
    int ends[2];
    struct ub_error err;
    struct ub_job job;
    assert_int_equal(pipe(ends), 0);
    FILE *to = fdopen(ends[1], "w"), *from = fdopen(ends[0], "r");
    assert_true(ub_job_write(to, &full_job, &err));
    if (!ub_job_read(from, &job, &err))
        fail_msg("%s", err.text);
    expect_full_job(&job);
    ub_job_free(&job);
    fclose(to);
    fclose(from);
}

static void an_empty_job_comes_back(void **state)
{
    (void)state;
    char *json = NULL;
    size_t size = 0;
    struct ub_error err;
    struct ub_job job;
    FILE *stream = open_memstream(&json, &size);
    assert_true(ub_job_write(stream, &(struct ub_job){.kind = UB_JOB_PROBE, .device = 0}, &err));
    fclose(stream);
    stream = fmemopen(json, size, "r");
    assert_true(ub_job_read(stream, &job, &err));
    assert_int_equal(job.kind, UB_JOB_PROBE);
    assert_null(job.rule);
    assert_int_equal(job.point_count, 0);
    fclose(stream);
    ub_job_free(&job);
    free(json);
}

static void what_is_no_job_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *json, *wanted;
    } cases[] = {
        {"x", "not a job of a worker"},
        {"{\"kind\": \"time\"", "not a job of a worker"},
        {"{}", "kind: is missing"},
        {"{\"kind\": \"dance\", \"seed\": 1}", "\"dance\" is not one of probe, time, count"},
        {"{\"kind\": \"time\", \"seed\": 1}", "keys of the job are missing"},
        {"{\"kind\": \"time\", \"seed\": 1, \"keys\": [3]}", "expected a counter's key, found an integer"},
        {"{\"kind\": \"time\", \"seed\": 1, \"keys\": []}", "points of the job are missing"},
        {"{\"kind\": \"time\", \"seed\": 1, \"keys\": [\"a\"], \"axes\": 17, \"points\": []}", "points of the job"},
        {"{\"kind\": \"time\", \"seed\": 1, \"keys\": [\"a\"], \"axes\": 2, \"points\": [[1, 2, 3], [1, 2]]}",
         "point 1 of the job does not have 2 axes"},
        {"{\"kind\": \"time\", \"seed\": 1, \"keys\": [\"a\"], \"axes\": 1, \"points\": [[1, 2.5]]}",
         "expected an integer, found a number with a fraction"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct ub_job job;
        struct ub_error err = {.text = ""};
        FILE *stream = fmemopen((void *)(uintptr_t)cases[i].json, strlen(cases[i].json), "r");
        assert_false(ub_job_read(stream, &job, &err));
        fclose(stream);
        assert_int_equal(err.status, UB_BAD_DATA);
        if (!strstr(err.text, cases[i].wanted))
            fail_msg("wanted \"%s\", got \"%s\"", cases[i].wanted, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_types_come_back),        cmocka_unit_test(values_are_exact),
        cmocka_unit_test(the_header_comes_back),      cmocka_unit_test(a_cut_line_is_no_line),
        cmocka_unit_test(what_is_no_line_is_refused), cmocka_unit_test(a_full_disk_is_noticed),
        cmocka_unit_test(a_job_goes_through_a_pipe),  cmocka_unit_test(an_empty_job_comes_back),
        cmocka_unit_test(what_is_no_job_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
