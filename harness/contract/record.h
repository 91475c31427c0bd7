/* SPDX-License-Identifier: MIT
 *
 * The record: all that is known about a run. Filled once (by the engine, or by
 * io/json from a file), then only read: by the printers, the charts, `check`.
 * All strings are owned by the record (malloc) unless said; NULL = absent.
 * Numbers that may be absent are NaN (double) or -1 (integers) and become null
 * in JSON, "-" in tables. `= {0}` is a valid empty record. */
#ifndef UB_CONTRACT_RECORD_H
#define UB_CONTRACT_RECORD_H

#include "harness/contract/micro.h"

enum { UB_SCHEMA = 1 };

enum ub_source { UB_MEASURED, UB_PREDICTED, UB_PUBLISHED };
enum ub_point_status { UB_POINT_OK, UB_POINT_SKIPPED, UB_POINT_FAILED, UB_POINT_TIMEOUT };
enum ub_counter_verdict { UB_COUNTERS_HOLD, UB_COUNTERS_BROKEN, UB_COUNTERS_NOT_TESTED };
enum ub_time_verdict { UB_TIME_HOLDS, UB_TIME_DEVIATES, UB_TIME_NOT_TESTED };

/* Names as they stand in JSON; index is the enum. */
extern const char *const ub_source_names[];          /* measured predicted published */
extern const char *const ub_status_names[];          /* ok skipped failed timeout */
extern const char *const ub_class_names[];           /* structural sass estimate */
extern const char *const ub_counter_verdict_names[]; /* holds broken not-tested */
extern const char *const ub_time_verdict_names[];    /* holds deviates not-tested */
extern const char *const ub_timer_names[];           /* event sm_clock host */

struct ub_axis_value {
    char *name;
    char *word;     /* word axes and zero words; NULL: `number` is the value */
    int64_t number; /* UB_AXIS_WORD: index of the word where it is known */
};

struct ub_static {
    int registers, shared_bytes, local_bytes; /* -1: not known */
    uint32_t grid[3], block[3];               /* 0: not known */
    int resident_blocks;                      /* per SM */
    int binary_version, ptx_version;          /* 90; differs from the card's: compiled at load time */
};

enum ub_sample_flag { UB_FLAG_THROTTLED = 1, UB_FLAG_REMEASURED = 2 };

struct ub_sample {
    double time_ns;
    double clock_mhz; /* SM clock over the sample; NaN: not stamped */
    unsigned flags;   /* enum ub_sample_flag */
};

struct ub_time {
    size_t n;                                                   /* 0: no time; everything below is NaN */
    double median, ci_lo, ci_hi, min, p05, p95, mad, cv, drift; /* ns, but cv and drift (Kendall tau) */
    int outliers;                                               /* beyond 5 scaled MADs */
    int batch;                                                  /* launches per sample */
    struct ub_sample *samples;
    double mean_clock_mhz; /* of the samples' clocks, where these were left out; 0 or NaN: not known */
};

/* Mean SM clock of the samples that were stamped; NaN: none was. */
double ub_time_clock_mhz(const struct ub_time *time);

struct ub_record_metric {
    char *key, *unit;
    double value;
};

struct ub_record_counter {
    char *key, *unit, *raw, *reason; /* reason: why measured is absent, or why it is an estimate */
    bool has_measured, has_predicted;
    uint64_t measured, predicted;
    enum ub_counter_class class_;
    int passes;       /* 0: not known */
    double tolerance; /* NaN: exact */
};

struct ub_record_term {
    char *name;
    double time_ns;
};

/* Where the metrics of a point that others measured come from. */
struct ub_publication {
    char *source, *conditions;
    char *kind; /* "measured", "derived", "secondary", "vendor spec" */
};

struct ub_record_point {
    char *rule, *sweep;
    size_t axis_count;
    struct ub_axis_value *axes;
    enum ub_point_status status;
    char *reason; /* why not ok */
    char *level;  /* "dram", "l2", "l1", "none" */
    char *cache;  /* "cold", "hot" */
    char *data;   /* "random", "zeros" */
    enum ub_timer timer;
    double footprint_bytes, useful_bytes; /* NaN: unknown */
    struct ub_publication published;      /* of a published record */
    bool has_static;
    struct ub_static static_;
    struct ub_time time;
    size_t metric_count;
    struct ub_record_metric *metrics; /* measured in a measured record, else predicted */
    size_t predicted_metric_count;
    struct ub_record_metric *predicted_metrics; /* what the law says of the same keys */
    size_t counter_count;
    struct ub_record_counter *counters;
    enum ub_counter_verdict counter_verdict;
    enum ub_time_verdict time_verdict;
    double predicted_ns, residual, time_tolerance; /* residual = measured / predicted - 1 */
    size_t span_count;                             /* 0: no timeline */
    struct ub_span *spans;
    char *bottleneck, *note;
    size_t term_count;
    struct ub_record_term *terms;
};

/* The card, as measured from or as the model table has it. Absent: NULL, -1, NaN. */
struct ub_device_info {
    char *name, *uuid, *pci, *chip, *slug; /* slug: model table ("h200"), or NULL */
    int cc_major, cc_minor, sms;
    double l2_bytes, memory_bytes, memory_bus_bits, memory_clock_mhz, clock_max_mhz;
    double shared_per_sm_bytes, registers_per_sm, warps_per_sm;
    double power_limit_w, temperature_c, power_w, clock_idle_mhz, clock_load_mhz;
    int copy_engines; /* asyncEngineCount; -1: not known */
    int ecc, mig;     /* 0, 1, -1 unknown */
    char *driver, *runtime, *vbios, *throttle_reasons;
};

struct ub_run_info {
    char *id;
    int argc;
    char **argv;
    uint64_t seed;
    char *started, *finished; /* RFC 3339, UTC */
    bool complete;
    int rounds;
    char *version;  /* of ubench: "0.1.0 (abc1234)" */
    char *host_cpu; /* what copies between host and GPU depend on: "Intel(R) Xeon(R) ..." */
    char *nvcc, *archs, *code_hash;
    int jit;        /* 1: code was compiled at load time; -1: unknown */
    char *counters; /* "cupti", "off", or why there are none */
};

struct ub_warning {
    char *code; /* "unstable-clock" */
    long point; /* index of the point, -1: the run */
    char *text;
};

struct ub_record {
    enum ub_source source;
    struct ub_run_info run;
    struct ub_device_info device;
    struct ub_constants constants;
    size_t point_count;
    struct ub_record_point *points;
    size_t warning_count;
    struct ub_warning *warnings;
};

void ub_record_free(struct ub_record *record);
void ub_record_point_free(struct ub_record_point *point); /* its content, not the struct */

/* Appends an empty point (all numbers absent) and returns it; NULL: no memory.
 * Pointers to earlier points become invalid. */
struct ub_record_point *ub_record_add_point(struct ub_record *record);
void ub_record_warn(struct ub_record *record, const char *code, long point, const char *format, ...) UB_PRINTF(4, 5);

bool ub_record_has_rule(const struct ub_record *record, const char *rule);
/* Leaves the points of one rule, and the warnings of these and of the run. Of a run that was
 * cut off, that part may be complete. Returns how many points are left. */
size_t ub_record_keep_rule(struct ub_record *record, const char *rule);

/* All numbers absent, as ub_record_add_point() leaves it. */
void ub_record_point_init(struct ub_record_point *point);
void ub_device_info_init(struct ub_device_info *device);

/* Append to a point. The strings are copied. Return NULL where memory is out. */
struct ub_axis_value *ub_point_add_axis(struct ub_record_point *point, const char *name, const char *word,
                                        int64_t number);
struct ub_record_metric *ub_point_add_metric(struct ub_record_point *point, const char *key, const char *unit,
                                             double value);
struct ub_record_metric *ub_point_add_predicted_metric(struct ub_record_point *point, const char *key, const char *unit,
                                                       double value);
struct ub_record_counter *ub_point_add_counter(struct ub_record_point *point, const char *key, const char *unit);
struct ub_record_term *ub_point_add_term(struct ub_record_point *point, const char *name, double time_ns);
/* False: out of memory, or UB_MAX_SPANS are there. */
bool ub_point_add_span(struct ub_record_point *point, const struct ub_span *span);
/* NULL, or what no operation of a device can be: it ends before it begins, a stage without a name. */
const char *ub_span_wrong(const struct ub_span *span);
bool ub_point_add_sample(struct ub_record_point *point, struct ub_sample sample);

const struct ub_axis_value *ub_point_axis(const struct ub_record_point *point, const char *name);
const struct ub_record_metric *ub_point_metric(const struct ub_record_point *point, const char *key);
const struct ub_record_metric *ub_point_predicted_metric(const struct ub_record_point *point, const char *key);
/* Whether the driver holds another number of blocks of the kernel on an SM than the law
 * says (its metric `resident_blocks`): a law as exact as a structural counter. False where
 * one of both is not known. Code that was compiled at load time may have other registers. */
bool ub_resident_differs(const struct ub_record_point *point);
const struct ub_record_counter *ub_point_counter(const struct ub_record_point *point, const char *key);
/* Whether an estimate is outside its tolerance; false where one value is absent. */
bool ub_estimate_deviates(const struct ub_record_counter *counter);

/* "coalescing stride=8 bytes=4 op=load" into text: the name of a point in messages. */
void ub_point_label(const struct ub_record_point *point, char *text, size_t size);

/* strdup that takes NULL; replaces *where, freeing what was there. */
void ub_set_string(char **where, const char *text);

const struct ub_constant *ub_constant_find(const struct ub_constants *constants, const char *name);
/* The value, or NaN where there is none. */
double ub_constant_value(const struct ub_constants *constants, const char *name);
/* Adds or replaces. False: full. */
bool ub_constant_set(struct ub_constants *constants, const char *name, double value, double lo, double hi,
                     const char *unit, const char *origin_format, ...) UB_PRINTF(7, 8);

#endif
