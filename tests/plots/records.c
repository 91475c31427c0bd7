/* SPDX-License-Identifier: MIT
 *
 * Records of those rules, one a function, and the script that is made of one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/engine/axis.h"
#include "harness/engine/law.h"
#include "harness/model/gpu.h"
#include "tests/plots/plots.h"

/* A device name that would do harm wherever text is not only text. */
static const char hostile_name[] =
    "`touch hacked` $(touch hacked) \"touch\" 'x' _a^b {c} @ ~ & <b> % %d \\n \xff Gerät 中";

void init_record(struct ub_record *record, enum ub_source source)
{
    *record = (struct ub_record){.source = source};
    ub_device_info_init(&record->device);
    ub_set_string(&record->device.name, "NVIDIA H200");
    ub_set_string(&record->device.slug, "h200");
    ub_set_string(&record->run.counters, "cupti");
    ub_constant_set(&record->constants, "dram_load_ceiling", 4.68e12, 4.67e12, 4.69e12, "B/s", "measured in this run");
    ub_constant_set(&record->constants, "dram_store_ceiling", 4.69e12, 4.68e12, 4.7e12, "B/s", "measured in this run");
    ub_constant_set(&record->constants, "dram_copy_ceiling", 4.27e12, 4.26e12, 4.28e12, "B/s", "measured in this run");
}

struct ub_point initial_point(void)
{
    return (struct ub_point){.values = {[STRIDE] = 1, [BYTES] = 4, [BLOCK] = 256}};
}

static void set_axes(struct ub_record_point *record, const struct ub_point *point)
{
    for (size_t a = 0; a < AXES; a++) {
        char text[32];
        const bool word = axes[a].kind == UB_AXIS_WORD || (axes[a].zero_word && point->values[a] == 0);
        ub_point_add_axis(record, axes[a].name,
                          word ? ub_axis_text(&axes[a], point->values[a], text, sizeof text) : NULL, point->values[a]);
    }
}

/* Times that scatter about the law by less than 1 %, with an interval of `width` either side. */
static void set_time(struct ub_record_point *record, double law_ns, double width)
{
    const double median = law_ns * (1.004 + 0.004 * sin((double)record->axis_count + 7 * law_ns));
    record->time = (struct ub_time){.n = 0,
                                    .median = median,
                                    .ci_lo = median * (1 - width),
                                    .ci_hi = median * (1 + width),
                                    .min = median,
                                    .p05 = median,
                                    .p95 = median,
                                    .batch = 8};
    for (int i = 0; i < 30; i++)
        ub_point_add_sample(record, (struct ub_sample){.time_ns = median, .clock_mhz = 1980});
}

struct ub_record_point *add_point(struct ub_record *record, const struct ub_micro *micro, const char *sweep,
                                  const struct ub_point *point, double width)
{
    struct ub_gpu gpu;
    ub_gpu_of_record(record, &gpu);
    struct ub_law law;
    micro->law(&gpu, &record->constants, point, &law);
    struct ub_record_point *added = ub_record_add_point(record);
    assert_non_null(added);
    ub_set_string(&added->rule, micro->name);
    ub_set_string(&added->sweep, sweep);
    set_axes(added, point);
    if (record->source == UB_MEASURED) {
        set_time(added, law.time_ns, width);
        for (size_t i = 0; i < law.counter_count; i++) {
            struct ub_record_counter *counter = ub_point_add_counter(added, law.counters[i].key, "sector");
            counter->has_measured = true;
            counter->measured = law.counters[i].predicted;
        }
    }
    ub_law_apply(micro, &gpu, &record->constants, point, added);
    ub_law_judge(micro, &gpu, &record->constants, point, false, record->source, added);
    return added;
}

void lose_point(struct ub_record_point *point, enum ub_point_status status, const char *reason)
{
    point->status = status;
    ub_set_string(&point->reason, reason);
    point->time = (struct ub_time){.samples = point->time.samples, .median = NAN, .ci_lo = NAN, .ci_hi = NAN};
    for (size_t i = 0; i < point->metric_count; i++)
        point->metrics[i].value = NAN;
}

void add_strides(struct ub_record *record, const struct ub_micro *micro, int64_t last, struct ub_point point,
                 double width)
{
    for (int64_t stride = 1; stride <= last; stride++) {
        point.values[STRIDE] = stride;
        add_point(record, micro, "stride", &point, width);
    }
}

void make_stride(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    add_strides(record, &strided, 32, initial_point(), 0.001);
}

void make_predicted(struct ub_record *record)
{
    init_record(record, UB_PREDICTED);
    add_strides(record, &strided, 32, initial_point(), 0);
}

void make_wide_interval(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    add_strides(record, &strided, 32, initial_point(), 0.12);
}

void make_one(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    struct ub_point point = initial_point();
    point.values[STRIDE] = 8;
    add_point(record, &strided, "command", &point, 0.01);
}

void make_two(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    struct ub_point point = initial_point();
    add_point(record, &strided, "command", &point, 0.01);
    point.values[STRIDE] = 2;
    add_point(record, &strided, "command", &point, 0.01);
}

void make_offset(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    for (int64_t offset = 0; offset < 32; offset++)
        for (int64_t bytes = 4; bytes <= 8; bytes *= 2) {
            struct ub_point point = initial_point();
            point.values[OFFSET] = offset;
            point.values[BYTES] = bytes;
            add_point(record, &strided, "offset", &point, 0.002);
        }
}

void make_equal(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    for (int64_t block = 32; block <= 1024; block *= 2) {
        struct ub_point point = initial_point();
        point.values[BLOCK] = block;
        add_point(record, &plain, "block", &point, 0.002);
    }
}

void make_patterns(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    for (int64_t pattern = 0; patterns[pattern]; pattern++)
        for (int64_t op = 0; op < 2; op++) {
            struct ub_point point = initial_point();
            point.values[PATTERN] = pattern;
            point.values[OP] = op;
            add_point(record, &strided, "pattern", &point, 0.002);
        }
}

void make_pattern(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    for (int64_t pattern = 0; patterns[pattern]; pattern++) {
        struct ub_point point = initial_point();
        point.values[PATTERN] = pattern;
        add_point(record, &strided, "pattern", &point, 0.002);
    }
}

void make_bytes_series(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    for (int64_t bytes = 4; bytes <= 16; bytes *= 2) {
        struct ub_point point = initial_point();
        point.values[BYTES] = bytes;
        add_strides(record, &strided, 32, point, 0.002);
    }
}

void make_six_series(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    for (int64_t op = 0; op < 2; op++)
        for (int64_t bytes = 4; bytes <= 16; bytes *= 2) {
            struct ub_point point = initial_point();
            point.values[BYTES] = bytes;
            point.values[OP] = op == 0 ? 0 : 2;
            add_strides(record, &strided, 32, point, 0.002);
        }
}

void make_many_series(struct ub_record *record)
{
    init_record(record, UB_PREDICTED);
    for (int64_t block = 32; block <= 1024; block += 64)
        for (int64_t bytes = 4; bytes <= 16; bytes *= 2) {
            struct ub_point point = initial_point();
            point.values[BLOCK] = block;
            point.values[BYTES] = bytes;
            add_strides(record, &strided, 64, point, 0.002);
        }
}

void make_lost(struct ub_record *record)
{
    make_stride(record);
    lose_point(&record->points[11], UB_POINT_TIMEOUT, "no answer within 10 s");
    lose_point(&record->points[12], UB_POINT_TIMEOUT, "no answer within 10 s");
    lose_point(&record->points[19], UB_POINT_FAILED, "CUDA error 700: an illegal memory access was encountered");
    lose_point(&record->points[27], UB_POINT_SKIPPED, "the footprint of 96 GiB is above the 79.2 GiB that are free");
    record->points[4].metrics[0].value = NAN;
}

void make_all_lost(struct ub_record *record)
{
    make_stride(record);
    for (size_t i = 0; i < record->point_count; i++)
        lose_point(&record->points[i], UB_POINT_FAILED, "CUDA error 2: out of memory");
}

void make_no_counters(struct ub_record *record)
{
    make_stride(record);
    ub_set_string(&record->run.counters, "the driver allows counters to administrators only (ERR_NVGPUCTRPERM)");
    for (size_t i = 0; i < record->point_count; i++) {
        for (size_t c = 0; c < record->points[i].counter_count; c++)
            record->points[i].counters[c].has_measured = false;
        record->points[i].metrics[2].value = NAN;
    }
}

void make_plain(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    add_strides(record, &plain, 32, initial_point(), 0.001);
}

void make_4096(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    add_strides(record, &strided, 4096, initial_point(), 0.01);
}

void make_hostile(struct ub_record *record)
{
    make_lost(record);
    char name[301];
    snprintf(name, sizeof name, "%s", hostile_name);
    memset(name + strlen(name), 'N', sizeof name - 1 - strlen(name));
    name[300] = 0;
    ub_set_string(&record->device.name, name);
    ub_set_string(&record->points[11].reason, hostile_name);
    ub_set_string(&record->points[12].reason, hostile_name);
}

void make_size(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    for (int64_t size = 1 << 16; size <= INT64_C(1) << 33; size *= 2) {
        struct ub_point point = initial_point();
        point.values[SIZE] = size;
        add_point(record, &strided, "size", &point, 0.03);
    }
}

void make_auto(struct ub_record *record)
{
    make_size(record);
    struct ub_point point = initial_point();
    add_point(record, &strided, "size", &point, 0.03);
}

/* Not bytes, but as many powers of two. */
void make_counts(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    for (int64_t stride = 1; stride <= INT64_C(1) << 27; stride *= 8) {
        struct ub_point point = initial_point();
        point.values[STRIDE] = stride;
        add_point(record, &strided, "stride", &point, 0.03);
    }
}

/* Sizes on a linear axis. */
void make_sizes(struct ub_record *record)
{
    init_record(record, UB_MEASURED);
    for (int64_t kib = 64; kib <= 160; kib += 8) {
        struct ub_point point = initial_point();
        point.values[SIZE] = kib << 10;
        add_point(record, &strided, "size", &point, 0.03);
    }
}

/* ---- scripts ----------------------------------------------------------------- */

char *script_of(const struct ub_record *record, const struct ub_plot_options *options, const char *output)
{
    char *text = NULL;
    size_t size = 0;
    struct ub_error err = {0};
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    if (!ub_plot_script(stream, record, options, output, &err))
        fail_msg("%s", err.text);
    fclose(stream);
    /* gcc 12 at -O3 takes a memstream's text for a dangling pointer once it leaves here. */
    char *script = strdup(text);
    free(text);
    assert_non_null(script);
    return script;
}

/* Takes out what stands in single quotes and after #. */
void drop_quoted(char *script)
{
    bool quoted = false, comment = false, doubled = false;
    char *to = script;
    for (const char *c = script; *c; c++) {
        if (*c == '\n')
            quoted = comment = doubled = false;
        else if (*c == '#' && !quoted && !doubled)
            comment = true;
        else if (*c == '"' && !quoted && !comment)
            doubled = !doubled;
        else if (*c == '\'' && !comment && !doubled)
            quoted = !quoted;
        if (!quoted && !comment)
            *to++ = *c;
    }
    *to = 0;
}

/* Rows of a datablock that begin with a number. */
int rows_of(const char *script, const char *block)
{
    char start[64];
    snprintf(start, sizeof start, "%s << EOD\n", block);
    const char *line = strstr(script, start);
    assert_non_null(line);
    int rows = 0;
    for (line = strchr(line, '\n') + 1; strncmp(line, "EOD", 3) != 0; line = strchr(line, '\n') + 1)
        rows += *line == '-' || (*line >= '0' && *line <= '9');
    return rows;
}
