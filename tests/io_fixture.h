/* SPDX-License-Identifier: MIT
 *
 * Records for the tests of io/: of the shape that the rule "coalescing" gives, with
 * numbers that can be worked out by hand. No random number: point i of a sweep has
 * stride i + 1 and a time of 100 us x (i + 1). */
#ifndef UB_TESTS_IO_FIXTURE_H
#define UB_TESTS_IO_FIXTURE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/contract/record.h"

/* min(4 s, 32) sectors a request of 4-byte loads: the law of the stride. */
static inline uint64_t fixture_sectors(size_t stride)
{
    return 4 * stride < 32 ? 4 * stride : 32;
}

static inline void fixture_counter(struct ub_record_point *point, const char *key, const char *unit, bool measured,
                                   uint64_t value)
{
    struct ub_record_counter *counter = ub_point_add_counter(point, key, unit);
    counter->has_measured = measured;
    counter->measured = measured ? value : 0;
    counter->has_predicted = true;
    counter->predicted = value;
    counter->class_ = UB_STRUCTURAL;
    counter->passes = measured ? 1 : 0;
    if (measured)
        ub_set_string(&counter->raw, "smsp__sass_inst_executed_op_global_ld.sum");
}

static inline void fixture_metrics(struct ub_record_point *point, bool predicted, double bandwidth, double share,
                                   double sectors)
{
    struct ub_record_metric *(*add)(struct ub_record_point *, const char *, const char *, double) =
        predicted ? ub_point_add_predicted_metric : ub_point_add_metric;
    add(point, "useful_bandwidth", "B/s", bandwidth);
    add(point, "share_of_ceiling", "1", share);
    add(point, "sectors_per_request", "sector/request", sectors);
    add(point, "efficiency", "1", 4 / sectors);
}

/* Only published figures say where each is from. */
static inline void fixture_publication(struct ub_record_point *point)
{
    ub_set_string(&point->published.source, "somebody's table 3");
    ub_set_string(&point->published.conditions, "double, ECC on");
    ub_set_string(&point->published.kind, "measured");
}

static inline void fixture_time(struct ub_record_point *point, double median, size_t samples)
{
    struct ub_time *time = &point->time;
    for (size_t i = 0; i < samples; i++)
        ub_point_add_sample(
            point, (struct ub_sample){median * (1 + 0.001 * ((double)i - (double)(samples - 1) / 2)), 1980, 0});
    time->median = median;
    time->ci_lo = median * 0.998;
    time->ci_hi = median * 1.002;
    time->min = median * 0.99;
    time->p05 = median * 0.991;
    time->p95 = median * 1.009;
    time->mad = median / 3000;
    time->cv = 0.005;
    time->drift = -0.125;
    time->batch = 8;
}

static inline void fixture_point(struct ub_record *record, const char *sweep, size_t stride, size_t samples)
{
    bool measured = record->source == UB_MEASURED;
    double law_ns = 1e5 * (double)stride, median = law_ns * 1.01, bytes = 0x1p28;
    uint64_t requests = 1 << 21;
    struct ub_record_point *point = ub_record_add_point(record);
    ub_set_string(&point->rule, "coalescing");
    ub_set_string(&point->sweep, sweep);
    ub_point_add_axis(point, "stride", NULL, (int64_t)stride);
    ub_point_add_axis(point, "bytes", NULL, 4);
    ub_point_add_axis(point, "op", "load", 0);
    ub_point_add_axis(point, "block", NULL, 256);
    ub_set_string(&point->level, "dram");
    ub_set_string(&point->cache, "cold");
    ub_set_string(&point->data, "random");
    ub_set_string(&point->bottleneck, "dram");
    point->footprint_bytes = bytes * (double)stride;
    point->useful_bytes = bytes;
    point->predicted_ns = law_ns;
    point->time_tolerance = 0.05;
    ub_point_add_term(point, "dram", law_ns);
    ub_point_add_term(point, "issue", law_ns / 3);
    fixture_counter(point, "global_load_requests", "request", measured, requests);
    fixture_counter(point, "global_load_sectors", "sector", measured, requests * fixture_sectors(stride));
    fixture_metrics(point, true, bytes / law_ns * 1e9, 0.96, (double)fixture_sectors(stride));
    fixture_metrics(point, false, bytes / (measured ? median : law_ns) * 1e9, 0.95, (double)fixture_sectors(stride));
    if (record->source == UB_PUBLISHED)
        fixture_publication(point);
    if (!measured)
        return;
    fixture_time(point, median, samples);
    point->has_static = true;
    point->static_ = (struct ub_static){.registers = 24,
                                        .shared_bytes = 0,
                                        .local_bytes = 0,
                                        .grid = {65536, 1, 1},
                                        .block = {256, 1, 1},
                                        .resident_blocks = 8,
                                        .binary_version = 90,
                                        .ptx_version = 90};
    point->residual = 0.01;
    point->counter_verdict = UB_COUNTERS_HOLD;
    point->time_verdict = UB_TIME_HOLDS;
}

static inline void fixture_run(struct ub_record *record)
{
    static const char *const argv[] = {"/home/someone/build/ubench",
                                       "run",
                                       "coalescing",
                                       "--stride",
                                       "1..32",
                                       "-o",
                                       "out/of the way/r.json",
                                       "--device=model:/home/someone/card.json"};
    struct ub_run_info *run = &record->run;
    run->argc = sizeof argv / sizeof argv[0];
    run->argv = calloc((size_t)run->argc, sizeof *run->argv);
    for (int i = 0; i < run->argc; i++)
        run->argv[i] = strdup(argv[i]);
    run->seed = 42;
    run->complete = true;
    run->rounds = 30;
    run->jit = 0;
    ub_set_string(&run->id, "0123abcd");
    ub_set_string(&run->started, "2026-01-02T03:04:05Z");
    ub_set_string(&run->finished, "2026-01-02T03:04:09Z");
    ub_set_string(&run->version, "0.1.0 (abc1234)");
    ub_set_string(&run->counters, "cupti");
}

static inline void fixture_device(struct ub_device_info *device)
{
    ub_device_info_init(device);
    ub_set_string(&device->name, "NVIDIA H200");
    ub_set_string(&device->uuid, "GPU-11111111-2222-3333-4444-555555555555");
    ub_set_string(&device->pci, "00000000:1b:00.0");
    ub_set_string(&device->chip, "GH100");
    ub_set_string(&device->slug, "h200");
    ub_set_string(&device->driver, "580.65.06");
    ub_set_string(&device->vbios, "96.00.BC.00.01");
    device->cc_major = 9;
    device->cc_minor = 0;
    device->sms = 132;
    device->memory_bytes = 150754820096;
    device->l2_bytes = 0x1p20 * 50;
    device->temperature_c = 34;
    device->ecc = 1;
}

/* `points` points of one sweep; a record of the source "predicted" has no times. */
static inline void fixture_record(struct ub_record *record, enum ub_source source, size_t points, size_t samples)
{
    *record = (struct ub_record){.source = source};
    fixture_run(record);
    fixture_device(&record->device);
    ub_constant_set(&record->constants, "dram_load_ceiling", 4.683123456789e12, 4.67e12, 4.69e12, "B/s",
                    "measured in this run, coalescing op=load bytes=16");
    for (size_t i = 0; i < points; i++)
        fixture_point(record, "stride", i + 1, samples);
}

/* The whole of what `write` writes; the caller frees it. */
static inline char *fixture_text(const struct ub_record *record,
                                 bool (*write)(FILE *, const struct ub_record *, struct ub_error *))
{
    char *text = NULL;
    size_t size = 0;
    struct ub_error err;
    FILE *stream = open_memstream(&text, &size);
    bool good = write(stream, record, &err);
    fclose(stream);
    if (good)
        return text;
    free(text);
    return NULL;
}

#endif
