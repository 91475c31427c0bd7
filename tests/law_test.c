/* SPDX-License-Identifier: MIT
 *
 * Laws, verdicts and `check` on a small rule made for this test: a warp touches
 * min(4 stride, 32) sectors. Every way in which a saved record can contradict
 * itself or the law is one row of a table. */
#include "harness/engine/law.h"
#include "harness/engine/plan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/contract/counters.h"
#include "harness/engine/stats.h"
#include "harness/model/gpu.h"
#include "harness/model/time.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- the rule ------------------------------------------------------------ */

enum { STRIDE, OP, SIZE, AXES };
enum { REQUESTS = 1000 };

static const char *const op_words[] = {"load", "store", NULL};

static const struct ub_axis axes[AXES] = {
    [STRIDE] = {.name = "stride", .unit = "element", .help = "distance", .minimum = 1, .maximum = 64, .initial = "1"},
    [OP] = {.name = "op", .unit = "", .help = "direction", .kind = UB_AXIS_WORD, .words = op_words, .initial = "load"},
    [SIZE] = {.name = "size",
              .unit = "byte",
              .help = "footprint",
              .minimum = 1024,
              .maximum = 1 << 20,
              .zero_word = "auto",
              .initial = "auto"},
};

static const char *const counters[] = {"global_load_requests", "global_load_sectors", "warp_instructions",
                                       "dram_read_bytes"};
static const char *const metric_keys[] = {"useful_bandwidth", "sectors_per_request"};

static uint64_t sectors_of(const struct ub_point *point)
{
    const int64_t sectors = 4 * point->values[STRIDE];
    return REQUESTS * (uint64_t)(sectors < 32 ? sectors : 32);
}

static void steps_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                      struct ub_law *out)
{
    const bool load = point->values[OP] == 0;
    const struct ub_law_counter rows[] = {
        {.key = "global_load_requests", .class_ = UB_STRUCTURAL, .known = true, .predicted = load ? REQUESTS : 0},
        {.key = "global_load_sectors", .class_ = UB_STRUCTURAL, .known = load, .predicted = sectors_of(point)},
        {.key = "warp_instructions", .class_ = UB_SASS, .known = true, .predicted = 5000},
        {.key = "dram_read_bytes",
         .class_ = UB_ESTIMATE,
         .known = true,
         .predicted = 32 * sectors_of(point),
         .tolerance = 0.05,
         .reason = "the L2 keeps a little"},
    };
    memcpy(out->counters, rows, sizeof rows);
    out->counter_count = COUNT(rows);
    ub_time_term(out, "issue", 1e3 * (double)REQUESTS / gpu->sms);
    ub_time_term(out, "dram", 1e9 * 32 * (double)sectors_of(point) / ub_constant_value(constants, "ceiling"));
    ub_time_bottleneck(out, 100);
    out->tolerance = load ? 0.1 : 0;
    out->note = load ? NULL : "stores are not modelled";
    out->level = "dram";
}

static double fact(const struct ub_facts *facts, const char *key)
{
    for (size_t i = 0; i < facts->counter_count; i++)
        if (strcmp(facts->counter_keys[i], key) == 0)
            return (double)facts->counter_values[i];
    return NAN;
}

static void steps_metrics(const struct ub_facts *facts, struct ub_metrics *out)
{
    out->items[out->count++] = (struct ub_metric){"useful_bandwidth", "B/s", 1e9 * 128 * REQUESTS / facts->time_ns};
    out->items[out->count++] =
        (struct ub_metric){"sectors_per_request", "sector/request",
                           fact(facts, "global_load_sectors") / fact(facts, "global_load_requests")};
}

static const struct ub_provides provides[] = {{"measured_ceiling", "stride=8", "useful_bandwidth"}};

/* This law does not know when anything runs. */
static void steps_timeline(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                           struct ub_timeline *out)
{
    (void)gpu;
    (void)constants;
    (void)point;
    (void)out;
}

/* With and without a tick. */
static enum ub_timer steps_timer(const struct ub_point *point)
{
    return point->values[STRIDE] % 2 == 0 ? UB_TIMER_EVENT : UB_TIMER_HOST;
}

static void steps_footprint(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_footprint *out)
{
    (void)gpu;
    out->count = 1;
    out->buffers[0].size_bytes = (uint64_t)point->values[STRIDE] * 1024;
}

static const struct ub_micro steps = {.name = "steps",
                                      .rule = "A warp touches min(4 stride, 32) sectors.",
                                      .axis_count = AXES,
                                      .axes = axes,
                                      .counter_count = COUNT(counters),
                                      .counters = counters,
                                      .provide_count = COUNT(provides),
                                      .provides = provides,
                                      .metric_count = COUNT(metric_keys),
                                      .metric_keys = metric_keys,
                                      .timer = steps_timer,
                                      .footprint = steps_footprint,
                                      .law = steps_law,
                                      .metrics = steps_metrics,
                                      .timeline = steps_timeline};

/* The same, of which the law knows one machine code. */
static void coded_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                      struct ub_law *out)
{
    steps_law(gpu, constants, point, out);
    out->has_code = true;
    out->code_registers = 40;
    out->code_local_bytes = 16;
}

static const struct ub_micro coded = {.name = "coded",
                                      .rule = "As steps.",
                                      .axis_count = AXES,
                                      .axes = axes,
                                      .counter_count = COUNT(counters),
                                      .counters = counters,
                                      .metric_count = COUNT(metric_keys),
                                      .metric_keys = metric_keys,
                                      .law = coded_law,
                                      .metrics = steps_metrics};

const struct ub_entry ub_entries[] = {{&steps, NULL}};
const size_t ub_entry_count = COUNT(ub_entries);

static const struct ub_counter_key known_keys[] = {
    {.key = "global_load_requests", .unit = "request", .meaning = "requests", .exact = true},
    {.key = "global_load_sectors", .unit = "sector", .meaning = "sectors", .exact = true},
};
const struct ub_counter_provider ub_counters = {.name = "fake", .key_count = COUNT(known_keys), .keys = known_keys};

/* ---- a record as a run leaves it ------------------------------------------ */

enum { POINTS = 10, SAMPLES = 10, TICK_NS = 1 };

/* Events tick; `batch` launches share the tick. */
static void time_point(const struct ub_constants *constants, struct ub_record_point *point)
{
    double times[SAMPLES];
    for (size_t i = 0; i < SAMPLES; i++) {
        times[i] = point->predicted_ns * (1.02 + 0.001 * (double)((i * 7) % SAMPLES));
        assert_true(ub_point_add_sample(point, (struct ub_sample){.time_ns = times[i], .clock_mhz = 1980}));
    }
    struct ub_summary s;
    struct ub_time *time = &point->time;
    time->batch = 2;
    ub_summarise(times, SAMPLES, point->timer == UB_TIMER_EVENT ? TICK_NS / 2.0 : 0, &s);
    assert_true(ub_tick_of(constants, point) == (point->timer == UB_TIMER_EVENT ? TICK_NS / 2.0 : 0));
    time->median = s.median;
    time->ci_lo = s.ci_lo;
    time->ci_hi = s.ci_hi;
    time->min = s.min;
    time->p05 = s.p05;
    time->p95 = s.p95;
    time->mad = s.mad;
    time->cv = s.cv;
    time->drift = s.drift;
    time->outliers = s.outliers;
}

static void count_point(struct ub_record_point *point)
{
    for (size_t i = 0; i < point->counter_count; i++) {
        struct ub_record_counter *counter = &point->counters[i];
        counter->has_measured = true;
        counter->measured = counter->has_predicted ? counter->predicted : 17;
        if (counter->class_ == UB_ESTIMATE)
            counter->measured += counter->measured / 100; /* an estimate is never exact */
    }
}

static void add_point(struct ub_record *record, const struct ub_gpu *gpu, int64_t stride, int64_t op)
{
    const struct ub_point values = {{[STRIDE] = stride, [OP] = op, [SIZE] = 0}};
    struct ub_record_point *point = ub_record_add_point(record);
    assert_non_null(point);
    ub_set_string(&point->rule, "steps");
    ub_set_string(&point->sweep, "stride");
    ub_point_add_axis(point, "stride", NULL, stride);
    ub_point_add_axis(point, "op", op_words[op], op);
    ub_point_add_axis(point, "size", "auto", 0);
    point->timer = steps_timer(&values);
    point->footprint_bytes = ub_footprint_bytes(&steps, gpu, &values);
    ub_law_apply(&steps, gpu, &record->constants, &values, point);
    if (record->source != UB_PREDICTED) {
        time_point(&record->constants, point);
        count_point(point);
    }
    ub_law_judge(&steps, gpu, &record->constants, &values, record->run.jit == 1, record->source, point);
}

static void make_record(struct ub_record *record, enum ub_source source)
{
    *record = (struct ub_record){.source = source};
    ub_device_info_init(&record->device);
    ub_set_string(&record->device.slug, "h200");
    ub_constant_set(&record->constants, "ceiling", 4.7e12, 4.6e12, 4.8e12, "B/s", "made up");
    ub_constant_set(&record->constants, "event_tick_ns", TICK_NS, TICK_NS, TICK_NS, "ns", "made up");
    struct ub_gpu gpu;
    ub_gpu_of_record(record, &gpu);
    for (int64_t stride = 1; stride < POINTS; stride++)
        add_point(record, &gpu, stride, 0);
    add_point(record, &gpu, 3, 1);
    assert_int_equal(record->point_count, POINTS);
}

struct heard {
    size_t count;
    char first[2048], all[8192];
};

static void hear(void *user, const char *text)
{
    struct heard *heard = user;
    if (heard->count++ == 0)
        snprintf(heard->first, sizeof heard->first, "%s", text);
    size_t used = strlen(heard->all);
    snprintf(heard->all + used, sizeof heard->all - used, "%s\n", text);
}

/* ---- applying and judging ------------------------------------------------- */

static void prediction_is_written(void **state)
{
    (void)state;
    struct ub_record record;
    make_record(&record, UB_MEASURED);
    const struct ub_record_point *point = &record.points[2]; /* stride 3 */
    const struct ub_record_counter *sectors = ub_point_counter(point, "global_load_sectors");
    assert_true(sectors->has_predicted && sectors->predicted == 12000);
    assert_string_equal(sectors->unit, "sector");
    assert_string_equal(ub_point_counter(point, "warp_instructions")->unit, "");
    assert_true(isnan(sectors->tolerance));
    const struct ub_record_counter *dram = ub_point_counter(point, "dram_read_bytes");
    assert_true(dram->class_ == UB_ESTIMATE && dram->tolerance == 0.05);
    assert_string_equal(dram->reason, "the L2 keeps a little");
    assert_string_equal(point->level, "dram");
    assert_int_equal(point->term_count, 2);
    /* 1000 requests on 132 SMs take longer than 384,000 bytes at 4.7 TB/s. */
    assert_string_equal(point->bottleneck, "issue");
    assert_true(fabs(point->predicted_ns - (1e6 / 132 + 100)) < 1e-9);
    assert_true(fabs(ub_point_predicted_metric(point, "useful_bandwidth")->value - 1.28e14 / point->predicted_ns) < 1);
    assert_true(ub_point_predicted_metric(point, "sectors_per_request")->value == 12);
    /* Measured metrics come from the measurement. */
    assert_true(fabs(ub_point_metric(point, "useful_bandwidth")->value - 1.28e14 / point->time.median) < 1);
    assert_true(fabs(point->residual - (point->time.median / point->predicted_ns - 1)) < 1e-15);
    /* Where the law says nothing, nothing is predicted. */
    assert_false(ub_point_counter(&record.points[POINTS - 1], "global_load_sectors")->has_predicted);
    assert_true(isnan(record.points[POINTS - 1].time_tolerance));
    assert_string_equal(record.points[POINTS - 1].note, "stores are not modelled");
    ub_record_free(&record);
}

static void applying_twice_changes_nothing(void **state)
{
    (void)state;
    struct ub_record record;
    make_record(&record, UB_MEASURED);
    struct ub_record_point *point = &record.points[4];
    struct ub_gpu gpu;
    ub_gpu_of_record(&record, &gpu);
    const struct ub_point values = {{5, 0, 0}};
    ub_set_string(&point->counters[3].reason, "permission");
    for (int i = 0; i < 2; i++) {
        ub_law_apply(&steps, &gpu, &record.constants, &values, point);
        ub_law_judge(&steps, &gpu, &record.constants, &values, false, UB_MEASURED, point);
    }
    assert_int_equal(point->counter_count, COUNT(counters));
    assert_int_equal(point->term_count, 2);
    assert_int_equal(point->metric_count, 2);
    assert_int_equal(point->predicted_metric_count, 2);
    assert_true(ub_point_counter(point, "global_load_sectors")->measured == 20000);
    assert_string_equal(point->counters[3].reason, "permission"); /* a reason for absence stays */
    ub_record_free(&record);
}

static void verdicts_follow_the_values(void **state)
{
    (void)state;
    enum { KEEP, WRONG, ABSENT };
    static const struct {
        int structural, sass, estimate; /* what is done to those counters */
        bool jit;
        enum ub_point_status status;
        enum ub_counter_verdict wanted;
    } rows[] = {
        {KEEP, KEEP, KEEP, false, UB_POINT_OK, UB_COUNTERS_HOLD},
        {WRONG, KEEP, KEEP, false, UB_POINT_OK, UB_COUNTERS_BROKEN},
        {KEEP, WRONG, KEEP, false, UB_POINT_OK, UB_COUNTERS_BROKEN},
        {KEEP, WRONG, KEEP, true, UB_POINT_OK, UB_COUNTERS_HOLD},
        {KEEP, KEEP, WRONG, false, UB_POINT_OK, UB_COUNTERS_HOLD},
        {ABSENT, KEEP, KEEP, false, UB_POINT_OK, UB_COUNTERS_HOLD},
        {ABSENT, KEEP, KEEP, true, UB_POINT_OK, UB_COUNTERS_NOT_TESTED},
        {ABSENT, ABSENT, KEEP, false, UB_POINT_OK, UB_COUNTERS_NOT_TESTED},
        {ABSENT, ABSENT, ABSENT, false, UB_POINT_OK, UB_COUNTERS_NOT_TESTED},
        {WRONG, KEEP, KEEP, false, UB_POINT_FAILED, UB_COUNTERS_NOT_TESTED},
        {KEEP, KEEP, KEEP, false, UB_POINT_SKIPPED, UB_COUNTERS_NOT_TESTED},
        {WRONG, KEEP, KEEP, false, UB_POINT_TIMEOUT, UB_COUNTERS_BROKEN},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ub_record record;
        make_record(&record, UB_MEASURED);
        struct ub_record_point *point = &record.points[0];
        point->status = rows[i].status;
        for (size_t j = 0; j < point->counter_count; j++) {
            struct ub_record_counter *counter = &point->counters[j];
            const int done[] = {rows[i].structural, rows[i].sass, rows[i].estimate};
            if (done[counter->class_] == WRONG)
                counter->measured *= 2;
            counter->has_measured = done[counter->class_] != ABSENT;
        }
        struct ub_gpu gpu;
        ub_gpu_of_record(&record, &gpu);
        const struct ub_point values = {{1, 0, 0}};
        ub_law_judge(&steps, &gpu, &record.constants, &values, rows[i].jit, UB_MEASURED, point);
        if (point->counter_verdict != rows[i].wanted)
            fail_msg("row %zu: got %s", i, ub_counter_verdict_names[point->counter_verdict]);
        ub_record_free(&record);
    }
}

static void time_verdict_follows_the_tolerance(void **state)
{
    (void)state;
    static const struct {
        double residual, tolerance;
        enum ub_time_verdict wanted;
    } rows[] = {{0.05, 0.1, UB_TIME_HOLDS},       {-0.1, 0.1, UB_TIME_HOLDS},   {0.11, 0.1, UB_TIME_DEVIATES},
                {-0.5, 0.1, UB_TIME_DEVIATES},    {0, NAN, UB_TIME_NOT_TESTED}, {NAN, 0.1, UB_TIME_NOT_TESTED},
                {INFINITY, 0.1, UB_TIME_DEVIATES}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_record_point point = {.residual = rows[i].residual, .time_tolerance = rows[i].tolerance};
        assert_int_equal(ub_time_verdict_of(&point), rows[i].wanted);
    }
}

static void estimates_outside_are_warnings(void **state)
{
    (void)state;
    struct ub_record record;
    make_record(&record, UB_MEASURED);
    for (size_t i = 0; i < record.point_count; i++)
        ub_law_warn_estimates(&record, i);
    assert_int_equal(record.warning_count, 0);
    struct ub_record_counter *dram = &record.points[1].counters[3];
    dram->measured = dram->predicted + dram->predicted / 20; /* just inside 5 % */
    ub_law_warn_estimates(&record, 1);
    assert_int_equal(record.warning_count, 0);
    dram->measured++;
    ub_law_warn_estimates(&record, 1);
    assert_int_equal(record.warning_count, 1);
    assert_int_equal(record.warnings[0].point, 1);
    assert_non_null(strstr(record.warnings[0].text, "dram_read_bytes"));
    ub_record_free(&record);
}

static void predicted_records_judge_nothing(void **state)
{
    (void)state;
    struct ub_record record;
    make_record(&record, UB_PREDICTED);
    for (size_t i = 0; i < record.point_count; i++) {
        const struct ub_record_point *point = &record.points[i];
        assert_int_equal(point->counter_verdict, UB_COUNTERS_NOT_TESTED);
        assert_int_equal(point->time_verdict, UB_TIME_NOT_TESTED);
        assert_true(isnan(point->residual));
        assert_true(ub_point_metric(point, "useful_bandwidth")->value ==
                    ub_point_predicted_metric(point, "useful_bandwidth")->value);
    }
    ub_record_free(&record);
}

/* ---- from the record back ------------------------------------------------- */

static void points_come_back(void **state)
{
    (void)state;
    static const struct {
        const char *name, *word;
        int64_t number;
        const char *refused; /* part of the message, or NULL */
    } rows[] = {
        {"stride", NULL, 8, NULL},
        {"op", "store", 0, NULL},
        {"size", "auto", 99, NULL},
        {"size", NULL, 4096, NULL},
        {"stride", NULL, 0, "stride=0 is outside 1..64"},
        {"stride", NULL, 65, "outside"},
        {"stride", "auto", 1, "no stride \"auto\""},
        {"size", NULL, 0, "outside"},
        {"op", "copy", 1, "no op \"copy\""},
        {"op", NULL, 1, "no op"},
        {"pattern", NULL, 1, "no axis \"pattern\""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ub_record_point record = {0};
        ub_record_point_init(&record);
        ub_point_add_axis(&record, rows[i].name, rows[i].word, rows[i].number);
        struct ub_point point;
        struct ub_error err = {0};
        const bool fine = ub_point_from_record(&steps, &record, &point, &err);
        assert_int_equal(fine, rows[i].refused == NULL);
        if (!fine) {
            assert_int_equal(err.status, UB_BAD_DATA);
            if (!strstr(err.text, rows[i].refused))
                fail_msg("row %zu: \"%s\"", i, err.text);
        }
        ub_record_point_free(&record);
    }
    struct ub_record_point record;
    ub_record_point_init(&record);
    ub_point_add_axis(&record, "op", "store", 0);
    struct ub_point point;
    assert_true(ub_point_from_record(&steps, &record, &point, NULL));
    assert_int_equal(point.values[STRIDE], 1); /* initial */
    assert_int_equal(point.values[OP], 1);     /* the word decides, not the number */
    assert_int_equal(point.values[SIZE], 0);
    ub_record_point_free(&record);
}

static void every_card_of_the_table_comes_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < ub_gpu_count(); i++) {
        const struct ub_gpu *row = ub_gpu_at(i);
        struct ub_record record = {0};
        ub_device_info_init(&record.device);
        ub_set_string(&record.device.slug, row->slug);
        struct ub_gpu gpu;
        ub_gpu_of_record(&record, &gpu);
        assert_string_equal(gpu.slug, row->slug);
        assert_int_equal(gpu.sms, row->sms);
        assert_true(gpu.l2_bytes == row->l2_bytes && gpu.memory_bytes == row->memory_bytes);
        record.device.sms = 12; /* a card with fewer SMs than the table says */
        record.device.l2_bytes = 1 << 20;
        ub_gpu_of_record(&record, &gpu);
        assert_int_equal(gpu.sms, 12);
        assert_int_equal(gpu.l2_bytes, 1 << 20);
        ub_record_free(&record);
    }
    struct ub_record unknown = {0};
    ub_device_info_init(&unknown.device);
    struct ub_gpu gpu;
    ub_gpu_of_record(&unknown, &gpu); /* nothing is known: must not crash */
    assert_non_null(gpu.name);
}

/* ---- check ---------------------------------------------------------------- */

static void sound_records_pass(void **state)
{
    (void)state;
    static const enum ub_source sources[] = {UB_MEASURED, UB_PREDICTED};
    for (size_t i = 0; i < COUNT(sources); i++) {
        struct ub_record record;
        make_record(&record, sources[i]);
        struct heard heard = {0};
        struct ub_check_counts counts;
        const size_t problems = ub_check_record(&record, &counts, hear, &heard);
        if (problems != 0)
            fail_msg("%s", heard.all);
        assert_int_equal(heard.count, 0);
        assert_int_equal(counts.points, POINTS);
        /* Three exact counters a point, of which a store has two. */
        assert_int_equal(counts.counters, sources[i] == UB_MEASURED ? 3 * POINTS - 1 : 0);
        assert_int_equal(counts.not_tested, sources[i] == UB_MEASURED ? 0 : POINTS);
        /* The store's time is not modelled, and one point measures the ceiling itself. */
        assert_int_equal(counts.holding, sources[i] == UB_MEASURED ? POINTS - 2 : 0);
        assert_int_equal(counts.broken + counts.deviating + counts.untestable + counts.estimates, 0);
        ub_record_free(&record);
    }
}

/* Pageable memory in the place of pinned: measured, but not tested. */
static void memory_that_was_not_pinned_is_not_tested(void **state)
{
    struct ub_record record;
    struct heard heard = {0};
    struct ub_check_counts counts;
    (void)state;
    make_record(&record, UB_MEASURED);
    ub_record_warn(&record, "not-pinned", 2, "why");
    assert_true(ub_check_record(&record, &counts, hear, &heard) > 0);
    ub_law_except(&record, 1, &record.points[1]);
    ub_law_except(&record, 2, &record.points[2]);
    assert_true(record.points[1].time_tolerance > 0 && isnan(record.points[2].time_tolerance));
    assert_non_null(strstr(record.points[2].note, "could not be pinned"));
    record.points[2].time_verdict = UB_TIME_NOT_TESTED;
    heard = (struct heard){0};
    if (ub_check_record(&record, &counts, hear, &heard) != 0)
        fail_msg("%s", heard.all);
    ub_record_free(&record);
}

/* Streams overlap each other; one of them does not overlap itself. */
static void timelines_are_in_order(void **state)
{
    static const struct {
        struct ub_span second;
        const char *wanted;
    } rows[] = {
        {{0, 1, "kernel", 1000, 3000}, NULL},
        {{1, 1, "kernel", 500, 3000}, NULL},
        {{0, 1, "kernel", 500, 3000}, NULL}, /* within a tick of the events */
        {{UB_DEFAULT_STREAM, 1, "kernel", 0, 1}, NULL},
        {{0, 1, "kernel", 1999, 3000}, "operation 1 of its timeline begins at 1999 ns, before the one ahead of it"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ub_record record;
        struct heard heard = {0};
        struct ub_check_counts counts;
        const struct ub_span first = {0, 0, "copy in", 0, rows[i].wanted ? 3000 : 1000};
        make_record(&record, UB_MEASURED);
        assert_true(ub_point_add_span(&record.points[2], &first));
        assert_true(ub_point_add_span(&record.points[2], &rows[i].second));
        const size_t problems = ub_check_record(&record, &counts, hear, &heard);
        assert_int_equal(problems, rows[i].wanted != NULL);
        if (rows[i].wanted && !strstr(heard.all, rows[i].wanted))
            fail_msg("%s", heard.all);
        ub_record_free(&record);
    }
}

static struct ub_record_counter *counter(struct ub_record *record, size_t index)
{
    return &record->points[2].counters[index];
}

static void change_measured(struct ub_record *record)
{
    counter(record, 1)->measured++;
}

static void change_predicted(struct ub_record *record)
{
    counter(record, 1)->predicted++;
}

static void change_both(struct ub_record *record)
{
    counter(record, 1)->measured++;
    counter(record, 1)->predicted++;
}

static void change_estimated(struct ub_record *record)
{
    counter(record, 3)->predicted++;
}

static void drop_prediction(struct ub_record *record)
{
    counter(record, 1)->has_predicted = false;
    counter(record, 1)->measured++;
}

static void drop_counter(struct ub_record *record)
{
    ub_set_string(&counter(record, 1)->key, "something_else");
}

static void change_class(struct ub_record *record)
{
    counter(record, 1)->class_ = UB_ESTIMATE;
}

static void widen_tolerance(struct ub_record *record)
{
    counter(record, 3)->tolerance = 0.5;
}

static void change_axis(struct ub_record *record)
{
    record->points[2].axes[0].number = 4;
}

static void change_sample(struct ub_record *record)
{
    for (size_t i = 0; i < SAMPLES; i++)
        record->points[2].time.samples[i].time_ns *= 0.9;
}

static void change_median(struct ub_record *record)
{
    record->points[2].time.median *= 0.99;
}

static void narrow_interval(struct ub_record *record)
{
    record->points[2].time.ci_hi = record->points[2].time.median;
}

static void widen_interval_lopsided(struct ub_record *record)
{
    record->points[2].time.ci_hi += 1;
}

static void widen_interval_far(struct ub_record *record)
{
    record->points[2].time.ci_hi += 5000;
    record->points[2].time.ci_lo -= 5000;
}

/* By what a tick might have done, at a point whose timer has none. */
static void widen_interval_evenly(struct ub_record *record)
{
    record->points[2].time.ci_hi += 900;
    record->points[2].time.ci_lo -= 900;
}

static void change_batch(struct ub_record *record)
{
    record->points[2].time.batch = 0;
}

static void change_clock(struct ub_record *record)
{
    record->points[2].time.samples[1].clock_mhz = -1980;
}

static void change_to_failed(struct ub_record *record)
{
    record->points[2].status = UB_POINT_FAILED;
}

static void change_to_skipped(struct ub_record *record)
{
    record->points[2].status = UB_POINT_SKIPPED;
}

static void change_min(struct ub_record *record)
{
    record->points[2].time.min /= 2;
}

static void change_outliers(struct ub_record *record)
{
    record->points[2].time.outliers = 3;
}

static void change_metric(struct ub_record *record)
{
    record->points[2].metrics[0].value *= 1.001;
}

static void drop_metric(struct ub_record *record)
{
    ub_set_string(&record->points[2].metrics[0].key, "best_bandwidth");
}

static void change_predicted_metric(struct ub_record *record)
{
    record->points[2].predicted_metrics[1].value = 9;
}

static void change_predicted_time(struct ub_record *record)
{
    record->points[2].predicted_ns *= 1.01;
}

static void change_term(struct ub_record *record)
{
    record->points[2].terms[1].time_ns += 1;
}

static void change_residual(struct ub_record *record)
{
    record->points[2].residual += 1e-6;
}

static void change_counter_verdict(struct ub_record *record)
{
    record->points[2].counter_verdict = UB_COUNTERS_NOT_TESTED;
}

static void change_time_verdict(struct ub_record *record)
{
    record->points[2].time_verdict = UB_TIME_DEVIATES;
}

static void change_bottleneck(struct ub_record *record)
{
    ub_set_string(&record->points[2].bottleneck, "dram");
}

static void change_level(struct ub_record *record)
{
    ub_set_string(&record->points[2].level, NULL);
}

static void changes_are_named(void **state)
{
    (void)state;
    static const struct {
        void (*change)(struct ub_record *);
        const char *says;
        size_t broken;
    } rows[] = {
        {change_measured, "global_load_sectors measured 12001, the law says 12000", 1},
        {change_predicted, "global_load_sectors is predicted as 12001 in the record, the law says 12000", 0},
        {change_both, "global_load_sectors measured 12001, the law says 12000", 1},
        {change_estimated, "dram_read_bytes is predicted as 384001", 0},
        {drop_prediction, "global_load_sectors has no prediction in the record, the law says 12000", 1},
        {drop_counter, "the record lacks the counter global_load_sectors", 0},
        {change_class, "global_load_sectors is of class estimate in the record, of class structural", 0},
        {widen_tolerance, "tolerance is 0.5 in the record, 0.05 by the law", 0},
        {change_sample, "median is", 0},
        {change_median, "median is", 0},
        {narrow_interval, "ci_hi is", 0},
        {widen_interval_lopsided, "ci_hi is", 0},
        {widen_interval_far, "ci_lo is", 0},
        {widen_interval_evenly, "ci_lo is", 0},
        {change_batch, "batch is 0: a sample has one launch at least", 0},
        {change_clock, "clock_mhz of sample 1 is -1980", 0},
        {change_to_failed, "is failed, yet global_load_sectors is measured", 0},
        {change_to_failed, "is failed, yet it has a measured time", 0},
        {change_to_skipped, "is skipped, yet it has the metric useful_bandwidth", 0},
        {change_min, "min is", 0},
        {change_outliers, "outliers is 3 in the record, 0 from its samples", 0},
        {change_metric, "the useful_bandwidth is", 0},
        {drop_metric, "the useful_bandwidth is nan in the record", 0},
        {change_predicted_metric, "the predicted sectors_per_request is 9 in the record, 12 recomputed", 0},
        {change_predicted_time, "predicted_ns is", 0},
        {change_term, "the term dram is", 0},
        {change_residual, "residual is", 0},
        {change_counter_verdict, "the verdict on counters is \"not-tested\" in the record, \"holds\"", 0},
        {change_time_verdict, "the verdict on time is \"deviates\" in the record, \"holds\"", 0},
        {change_bottleneck, "the bottleneck is dram in the record, issue by the law", 0},
        {change_level, "the level is null in the record, dram by the law", 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ub_record record;
        make_record(&record, UB_MEASURED);
        rows[i].change(&record);
        struct heard heard = {0};
        struct ub_check_counts counts;
        const size_t problems = ub_check_record(&record, &counts, hear, &heard);
        if (problems == 0 || problems != heard.count || !strstr(heard.all, rows[i].says))
            fail_msg("wanted \"%s\", got %zu problems:\n%s", rows[i].says, problems, heard.all);
        if (strncmp(heard.first, "steps stride=3 op=load size=auto: ", 34) != 0)
            fail_msg("the point is not named: %s", heard.first);
        assert_int_equal(counts.broken, rows[i].broken);
        ub_record_free(&record);
    }
    struct ub_record record;
    make_record(&record, UB_MEASURED);
    change_axis(&record); /* the values of stride 3 under the name of stride 4 */
    struct heard heard = {0};
    struct ub_check_counts counts;
    assert_true(ub_check_record(&record, &counts, hear, &heard) > 0);
    assert_non_null(strstr(heard.all, "steps stride=4 op=load size=auto: global_load_sectors measured 12000, the law"));
    ub_record_free(&record);
}

/* Where the timer ticks, the interval follows from tick and batch. */
static void ticks_are_recomputed(void **state)
{
    (void)state;
    enum { EVEN = 1 }; /* stride 2: events */
    struct ub_check_counts counts;
    for (int i = 0; i < 3; i++) {
        struct ub_record record;
        struct heard heard = {0};
        make_record(&record, UB_MEASURED);
        if (i == 0) {
            record.points[EVEN].time.ci_lo -= 900;
            record.points[EVEN].time.ci_hi += 900;
        } else if (i == 1) {
            record.points[EVEN].time.batch = 3;
        } else {
            ub_constant_set(&record.constants, "event_tick_ns", 2, 2, 2, "ns", "made up");
        }
        ub_check_record(&record, &counts, hear, &heard);
        assert_non_null(strstr(heard.all, "steps stride=2 op=load size=auto: ci_lo is"));
        assert_int_equal(heard.count, i < 2 ? 2 : 2 * (POINTS / 2 - 1));
        ub_record_free(&record);
    }
}

static void constants_come_from_their_points(void **state)
{
    (void)state;
    const struct ub_point wanted = {{8, 0, 0}};
    static const struct {
        double value, lo, hi; /* factors */
        bool drop;            /* the constant, where also no value is given: the point */
        const char *says;
    } rows[] = {
        {1, 1, 1, false, NULL},
        {1.001, 1, 1.01, false, "constants: measured_ceiling is"},
        {1, 0.9, 1, false, "constants: measured_ceiling, lower end, is"},
        {1, 1, 1.1, false, "constants: measured_ceiling, upper end, is"},
        {1, 1, 1, true,
         "constants: measured_ceiling is \"measured in this run: steps stride=8\", but the record has no"},
        {0, 0, 0, false, "constants: measured_ceiling is missing, a point measured"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ub_record record;
        struct ub_gpu gpu;
        struct ub_constant measured;
        make_record(&record, UB_MEASURED);
        ub_gpu_of_record(&record, &gpu);
        add_point(&record, &gpu, 8, 0);
        struct ub_record_point *point = &record.points[POINTS];
        ub_set_string(&point->sweep, rows[i].drop ? "stride" : "ceiling");
        assert_true(ub_constant_of(&steps, &gpu, &record.constants, &provides[0], &wanted, &point->time, &measured));
        assert_true(fabs(measured.value - 1.28e14 / point->time.median) < 1);
        assert_true(fabs(measured.lo - 1.28e14 / point->time.ci_hi) < 1);
        assert_true(fabs(measured.hi - 1.28e14 / point->time.ci_lo) < 1);
        assert_string_equal(measured.unit, "B/s");
        if (rows[i].value > 0)
            ub_constant_set(&record.constants, measured.name, rows[i].value * measured.value, rows[i].lo * measured.lo,
                            rows[i].hi * measured.hi, measured.unit, "%s", measured.origin);
        struct heard heard = {0};
        struct ub_check_counts counts;
        ub_check_record(&record, &counts, hear, &heard);
        if (rows[i].says ? strstr(heard.all, rows[i].says) != heard.all : heard.count != 0)
            fail_msg("wanted \"%s\", got:\n%s", rows[i].says ? rows[i].says : "nothing", heard.all);
        ub_record_free(&record);
    }
    struct ub_record record;
    make_record(&record, UB_MEASURED);
    ub_constant_set(&record.constants, "other", 3, 1, 2, "ns", "made up");
    struct heard heard = {0};
    struct ub_check_counts counts;
    assert_int_equal(ub_check_record(&record, &counts, hear, &heard), 1);
    assert_non_null(strstr(heard.all, "other is 3, outside its own interval 1..2"));
    ub_record_free(&record);
}

static void measured_in_predicted_is_a_problem(void **state)
{
    (void)state;
    struct ub_record record;
    make_record(&record, UB_PREDICTED);
    record.points[1].counters[0].has_measured = true;
    record.points[2].time.n = 30;
    struct heard heard = {0};
    struct ub_check_counts counts;
    assert_int_equal(ub_check_record(&record, &counts, hear, &heard), 2);
    assert_non_null(strstr(heard.all, "stride=2 op=load size=auto: global_load_requests is measured in a predicted"));
    assert_non_null(strstr(heard.all, "stride=3 op=load size=auto: has a measured time in a predicted record"));
    ub_record_free(&record);
}

static void what_this_build_lacks_is_untestable(void **state)
{
    (void)state;
    struct ub_record record;
    make_record(&record, UB_MEASURED);
    ub_set_string(&record.points[0].rule, "gemm");
    ub_set_string(&record.points[1].axes[1].word, "scatter");
    struct heard heard = {0};
    struct ub_check_counts counts;
    assert_int_equal(ub_check_record(&record, &counts, hear, &heard), 0);
    assert_int_equal(counts.untestable, 2);
    assert_string_equal(counts.why, "this build has no rule \"gemm\"");
    assert_int_equal(counts.counters, 3 * (POINTS - 2) - 1);
    /* Its own values still have to agree with its verdict and its samples. */
    record.points[0].counters[0].measured++;
    record.points[1].time.median *= 2;
    assert_int_equal(ub_check_record(&record, &counts, hear, &heard), 4);
    assert_non_null(strstr(heard.all, "gemm stride=1 op=load size=auto: the verdict on counters is \"holds\""));
    assert_non_null(strstr(heard.all, "steps stride=2 op=scatter size=auto: median is"));
    ub_record_free(&record);
}

static void deviations_are_facts_not_problems(void **state)
{
    (void)state;
    struct ub_record record;
    make_record(&record, UB_MEASURED);
    struct ub_gpu gpu;
    ub_gpu_of_record(&record, &gpu);
    const struct ub_point values = {{1, 0, 0}};
    struct ub_record_point *point = &record.points[0];
    free(point->time.samples);
    point->time.samples = NULL; /* as --no-samples leaves it */
    point->time.median *= 3;
    point->counters[3].measured *= 2;
    for (int i = 0; i < 3; i++)
        record.points[1].counters[i].has_measured = false;
    ub_law_judge(&steps, &gpu, &record.constants, &values, false, UB_MEASURED, point);
    const struct ub_point second = {{2, 0, 0}};
    ub_law_judge(&steps, &gpu, &record.constants, &second, false, UB_MEASURED, &record.points[1]);
    struct heard heard = {0};
    struct ub_check_counts counts;
    if (ub_check_record(&record, &counts, hear, &heard) != 0)
        fail_msg("%s", heard.all);
    assert_int_equal(counts.deviating, 1);
    assert_int_equal(counts.estimates, 1);
    assert_int_equal(counts.not_tested, 1);
    assert_int_equal(counts.uncounted, 3);
    assert_int_equal(counts.broken, 0);
    ub_record_free(&record);
}

static void points_that_did_not_run_pass(void **state)
{
    (void)state;
    struct ub_record record = {.source = UB_MEASURED};
    ub_device_info_init(&record.device);
    struct ub_record_point *point = ub_record_add_point(&record);
    ub_set_string(&point->rule, "steps");
    ub_point_add_axis(point, "stride", NULL, 2);
    point->status = UB_POINT_SKIPPED;
    struct heard heard = {0};
    struct ub_check_counts counts;
    assert_int_equal(ub_check_record(&record, &counts, hear, &heard), 0);
    assert_int_equal(counts.not_tested, 1);
    point->counter_verdict = UB_COUNTERS_HOLD;
    assert_int_equal(ub_check_record(&record, &counts, hear, &heard), 1);
    ub_record_free(&record);
}

/* The law of a rule may know the machine code of one kernel only. */
static void other_machine_code_is_not_judged(void **state)
{
    static const struct {
        bool has_code, has_static;
        int registers, local_bytes;
        bool judged;
    } rows[] = {
        {true, true, 40, 16, true}, {true, true, 41, 16, false}, {true, true, 40, 24, false},
        {true, false, 0, 0, true},  {false, true, 41, 24, true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ub_record record = {.source = UB_MEASURED};
        ub_device_info_init(&record.device);
        ub_set_string(&record.device.slug, "h200");
        ub_constant_set(&record.constants, "ceiling", 4.7e12, 4.6e12, 4.8e12, "B/s", "made up");
        const struct ub_point values = {{[STRIDE] = 2}};
        const struct ub_micro *rule = rows[i].has_code ? &coded : &steps;
        struct ub_record_point *point = ub_record_add_point(&record);
        assert_non_null(point);
        point->has_static = rows[i].has_static;
        point->static_.registers = rows[i].registers;
        point->static_.local_bytes = rows[i].local_bytes;
        const struct ub_gpu *gpu = ub_gpu_find("h200");
        ub_law_apply(rule, gpu, &record.constants, &values, point);
        const struct ub_record_counter *sass = ub_point_counter(point, "warp_instructions");
        assert_int_equal(sass->has_predicted, rows[i].judged);
        assert_int_equal(sass->reason == NULL, rows[i].judged);
        assert_true(ub_point_counter(point, "global_load_sectors")->has_predicted);
        assert_int_equal(isnan(point->time_tolerance), !rows[i].judged);
        assert_int_equal(point->note == NULL, rows[i].judged);
        ub_record_free(&record);
    }
}

static void code_compiled_at_load_time_proves_less(void **state)
{
    (void)state;
    struct ub_record record;
    make_record(&record, UB_MEASURED);
    record.run.jit = 1;
    record.points[0].counters[2].measured += 100; /* other machine code, other instructions */
    struct heard heard = {0};
    struct ub_check_counts counts;
    assert_int_equal(ub_check_record(&record, &counts, hear, &heard), 0);
    assert_int_equal(counts.counters, 2 * POINTS - 1);
    record.run.jit = 0;
    assert_true(ub_check_record(&record, &counts, hear, &heard) > 0);
    assert_non_null(strstr(heard.all, "warp_instructions measured 5100, the law says 5000"));
    ub_record_free(&record);
}

/* The clock of a fact is that of its samples; without one it is the constant. */
static void facts_know_their_clock(void **state)
{
    (void)state;
    struct ub_constants constants = {0};
    struct ub_sample samples[] = {{.clock_mhz = 1900}, {.clock_mhz = NAN}, {.clock_mhz = 2000}};
    struct ub_time time = {.n = 3, .samples = samples};
    struct ub_facts facts = {.constants = &constants, .time = &time};
    ub_constant_set(&constants, "clock_mhz", 1500, 1500, 1500, "MHz", "a table");
    assert_true(ub_fact_clock_mhz(&facts) == 1950);
    time.samples = NULL; /* left out of a record */
    assert_true(ub_fact_clock_mhz(&facts) == 1500);
    facts.time = NULL;
    assert_true(ub_fact_clock_mhz(&facts) == 1500);
    constants.count = 0;
    assert_true(isnan(ub_fact_clock_mhz(&facts)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prediction_is_written),
        cmocka_unit_test(applying_twice_changes_nothing),
        cmocka_unit_test(verdicts_follow_the_values),
        cmocka_unit_test(time_verdict_follows_the_tolerance),
        cmocka_unit_test(estimates_outside_are_warnings),
        cmocka_unit_test(predicted_records_judge_nothing),
        cmocka_unit_test(facts_know_their_clock),
        cmocka_unit_test(points_come_back),
        cmocka_unit_test(every_card_of_the_table_comes_back),
        cmocka_unit_test(sound_records_pass),
        cmocka_unit_test(memory_that_was_not_pinned_is_not_tested),
        cmocka_unit_test(timelines_are_in_order),
        cmocka_unit_test(changes_are_named),
        cmocka_unit_test(ticks_are_recomputed),
        cmocka_unit_test(constants_come_from_their_points),
        cmocka_unit_test(measured_in_predicted_is_a_problem),
        cmocka_unit_test(what_this_build_lacks_is_untestable),
        cmocka_unit_test(deviations_are_facts_not_problems),
        cmocka_unit_test(points_that_did_not_run_pass),
        cmocka_unit_test(other_machine_code_is_not_judged),
        cmocka_unit_test(code_compiled_at_load_time_proves_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
