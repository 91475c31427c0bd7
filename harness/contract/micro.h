/* SPDX-License-Identifier: MIT
 *
 * The contract of a rule: what a folder of micro/ gives to the harness.
 *
 * A rule is two constants. `struct ub_micro` (rule.c, law.c: pure C, links
 * without CUDA) says what is swept, what is counted, what the law predicts and
 * how an answer is checked. `struct ub_code` (kernel.cu) launches the kernels;
 * in a build without nvcc it is absent and everything but measuring works.
 * Types only; no CUDA header. The engine owns all memory, streams and timing. */
#ifndef UB_CONTRACT_MICRO_H
#define UB_CONTRACT_MICRO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/contract/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ub_gpu;    /* harness/model/gpu.h */
struct ub_static; /* harness/contract/record.h */
struct ub_time;   /* the same */

enum {
    UB_MAX_AXES = 16,
    UB_MAX_BUFFERS = 4,
    UB_MAX_COUNTERS = 24, /* counters of one rule */
    UB_MAX_TERMS = 8,     /* terms of a time law */
    UB_MAX_METRICS = 12,
    UB_MAX_CONSTANTS = 128
};

/* ---- axes, points, sweeps ------------------------------------------------ */

enum ub_axis_kind { UB_AXIS_INTEGER, UB_AXIS_WORD };

/* One swept parameter: the option of the command line, the key of the record
 * and the label of the chart's axis all come from this row. */
struct ub_axis {
    const char *name; /* "stride": also the option --stride */
    const char *unit; /* "element", "byte", "thread"; "" where the values are words */
    const char *help; /* one line */
    enum ub_axis_kind kind;
    int64_t minimum, maximum; /* UB_AXIS_INTEGER: inclusive limits */
    const char *zero_word;    /* UB_AXIS_INTEGER: the word that stands for 0 ("auto"), or NULL;
                                 then 0 is accepted by that word beside minimum..maximum */
    const char *const *words; /* UB_AXIS_WORD: NULL-terminated; the value is the index */
    const char *initial;      /* the single value used where nothing is said, as text */
    const char *on_command;   /* the values where a command names other axes of the rule and not this
                                 one ("all"), as text; NULL: the initial one */
};

/* One combination of axis values, in the order of ub_micro.axes. */
struct ub_point {
    int64_t values[UB_MAX_AXES];
};

/* An axis that counts only where the axis `of` has some of its values. Elsewhere its own value
 * would be ignored in silence: a point that has another than the initial one there is refused.
 * An axis may have several rows; it counts where each of them lets it. */
struct ub_axis_owner {
    size_t axis;
    int64_t initial;
    size_t of;
    uint64_t values; /* a bit for each value of `of` below 64: the index of a word, 0 of "auto" */
    const char *why; /* "length is of work=softmax only (leave it at 4096)" */
};

struct ub_axis_owners {
    size_t count;
    const struct ub_axis_owner *items;
};

/* Of the first axis that has not its initial value although it does not count: why the point
 * is refused. NULL: there is none. */
const char *ub_axis_ignored(const struct ub_axis_owners *owners, const struct ub_point *point);

/* Whether the value of `axis` counts in this point; `owners` NULL: of every axis it does. */
bool ub_axis_counts(const struct ub_axis_owners *owners, const struct ub_point *point, size_t axis);

enum { UB_SUITE_DEFAULT = 1, UB_SUITE_QUICK = 2, UB_SUITE_FULL = 4 };

/* A named sweep: the product of a few axis ranges; axes not named keep their
 * initial value. One of another suite may have the same name and fewer or more points: the
 * default suite a part of what the full one has. */
struct ub_sweep {
    const char *name; /* "stride" */
    unsigned suites;  /* which suites it belongs to: UB_SUITE_* */
    const char *axes; /* "stride=1..32 bytes=4,8,16 op=load,store" (syntax: engine/axis.h) */
    const char *help;
};

/* ---- constants ----------------------------------------------------------- */

/* A number that a law needs and that is not a law itself: a ceiling, a latency.
 * `origin` says where the value is from ("measured in this run, coalescing
 * op=load bytes=16", "data sheet x 0.92, see model/gpu.c"). */
struct ub_constant {
    char name[48];
    double value, lo, hi; /* lo..hi: 95 % interval, or the known error of a table value */
    char unit[16];
    char origin[160];
};

struct ub_constants {
    size_t count;
    struct ub_constant items[UB_MAX_CONSTANTS];
};

/* A constant that a point of this rule measures. The engine runs those points
 * first (sweep "ceiling") and takes `metric` of the point as the value. */
struct ub_provides {
    const char *constant; /* "dram_load_ceiling" */
    const char *axes;     /* "op=load bytes=16": must resolve to one point */
    const char *metric;   /* key of a metric of this rule */
};

/* ---- counters, metrics, law --------------------------------------------- */

enum ub_counter_class {
    UB_STRUCTURAL, /* follows from the source alone: must equal the law's integer */
    UB_SASS,       /* an integer only given the machine code that ran */
    UB_ESTIMATE    /* holds within a tolerance, for a stated reason */
};

struct ub_law_counter {
    const char *key; /* see cupti/metrics.c; one of ub_micro.counters */
    enum ub_counter_class class_;
    bool known; /* false: this law predicts no value here (then it is not tested) */
    uint64_t predicted;
    double tolerance;   /* UB_ESTIMATE: relative, 0.05 = 5 %; otherwise 0 */
    const char *reason; /* UB_ESTIMATE: why it is one; or why it is not known; or NULL */
};

struct ub_law_term {
    const char *name; /* "dram", "issue", "block_launch": what would take this long alone */
    double time_ns;
};

/* What a rule predicts for one point. */
struct ub_law {
    size_t counter_count;
    struct ub_law_counter counters[UB_MAX_COUNTERS];
    size_t term_count;
    struct ub_law_term terms[UB_MAX_TERMS];
    double time_ns;         /* predicted time of one launch (UB_TIMER_SM_CLOCK: of one iteration);
                               NaN where the law says nothing about time */
    const char *bottleneck; /* name of the term that decides, or NULL */
    double tolerance;       /* of the time, relative; 0: the time is not tested */
    const char *note;       /* why time is not tested, or a known deviation; or NULL */
    /* UB_SASS counters and the time are of one machine code, that of a kernel with so many
     * registers and so many bytes of local memory a thread. Where another ran (another
     * compiler made it), they are not tested. */
    bool has_code;
    int code_registers, code_local_bytes;
    const char *level; /* where the footprint sits: "dram", "l2", "l1", "none" */
};

/* What law() adds to `law`, which holds UB_MAX_COUNTERS and not more: a rule adds each of its
 * `counters` once at most, and the registry checks their number. An integer that follows from
 * the source (UB_STRUCTURAL) or the machine code (UB_SASS); one that holds within `tolerance`
 * for `reason`, or, where `predicted` is not finite or negative, is not known for the reason
 * `unknown`;
 * one of which nothing is predicted. */
void ub_law_exact(struct ub_law *law, const char *key, enum ub_counter_class class_, uint64_t predicted);
void ub_law_estimate(struct ub_law *law, const char *key, double predicted, double tolerance, const char *reason,
                     const char *unknown);
void ub_law_unknown(struct ub_law *law, const char *key, enum ub_counter_class class_, const char *reason);

struct ub_metric {
    const char *key;  /* "useful_bandwidth" */
    const char *unit; /* "B/s", "1" for shares, "sector/request" */
    double value;     /* NaN: unknown here */
};

struct ub_metrics {
    size_t count;
    struct ub_metric items[UB_MAX_METRICS];
};

/* What a metric may be derived from: all measured, or all predicted, never mixed. */
struct ub_facts {
    const struct ub_gpu *gpu;
    const struct ub_constants *constants;
    const struct ub_point *point;
    double time_ns; /* NaN: no time */
    size_t counter_count;
    const char *const *counter_keys; /* only those that have a value */
    const uint64_t *counter_values;
    bool predicted;                     /* all of the above is what the law says */
    const struct ub_static *attributes; /* of the kernel that ran; NULL: predicted, or not known */
    const struct ub_time *time;         /* the samples behind time_ns; NULL: predicted, or not known */
};

/* The SM clock that goes with time_ns: mean of the samples; predicted, or where none was
 * stamped, the constant clock_mhz. NaN: not known. */
double ub_fact_clock_mhz(const struct ub_facts *facts);

/* The value of the counter `key`; NaN where it is not known. */
double ub_fact(const struct ub_facts *facts, const char *key);

/* Puts one metric at the end of `metrics`, which holds UB_MAX_METRICS and not more:
 * a rule adds at most one for each of its metric_keys, whose number the registry checks. */
void ub_metric_add(struct ub_metrics *metrics, const char *key, const char *unit, double value);

/* ---- timelines ----------------------------------------------------------- */

enum { UB_MAX_SPANS = 1024, UB_MAX_TIMELINE_STREAMS = 64, UB_STAGE_BYTES = 16, UB_DEFAULT_STREAM = -1 };

/* What one operation of a launch took, from the beginning of the first one on. */
struct ub_span {
    int stream;  /* the legacy default stream is UB_DEFAULT_STREAM; others are below UB_MAX_TIMELINE_STREAMS */
    int segment; /* of the data, from 0 on */
    char stage[UB_STAGE_BYTES]; /* "copy in" */
    double begin_ns, end_ns;
};

struct ub_timeline {
    size_t count;
    struct ub_span spans[UB_MAX_SPANS];
};

/* ---- device side -------------------------------------------------------- */

/* Where a buffer is. Where the host cannot pin memory, a buffer of UB_PINNED_MEMORY is
 * pageable all the same, and the record says so at each point that has one. */
enum ub_memory { UB_DEVICE_MEMORY, UB_PINNED_MEMORY, UB_PAGEABLE_MEMORY };

/* UB_FILL_RANDOM writes seeded random bytes none of which is 0xFF, so that an
 * element of any width never equals the all-ones pattern: a load-only kernel
 * compares what it loaded with all-ones and can never take the branch.
 * UB_FILL_POISON writes 0xFF everywhere: what a kernel did not write shows.
 * UB_FILL_FLOAT and UB_FILL_HALF write seeded numbers of 32 (IEEE single) and 16 bits
 * (IEEE half): multiples of 2^-10 in [-1, 1), so that both formats hold the same values
 * exactly, and so does a product of two of them in 32 bits. */
enum ub_fill { UB_FILL_RANDOM, UB_FILL_POISON, UB_FILL_ZERO, UB_FILL_FLOAT, UB_FILL_HALF };

struct ub_buffer_spec {
    const char *name; /* "source" */
    enum ub_memory memory;
    enum ub_fill fill;
    bool output; /* poisoned before each verification */
    uint64_t size_bytes;
};

struct ub_footprint {
    size_t count;
    struct ub_buffer_spec buffers[UB_MAX_BUFFERS];
};

struct ub_buffers {
    size_t count;
    void *pointers[UB_MAX_BUFFERS]; /* in the order of the footprint */
    uint64_t sizes_bytes[UB_MAX_BUFFERS];
};

/* Device memory, four 64-bit words, zeroed by the engine before a checked
 * launch or a clocked one. */
enum ub_result_word {
    UB_RESULT_CHECKSUM,   /* sum of what the kernel loaded (checked launch) */
    UB_RESULT_EXPECTED,   /* the same sum, by the reference kernel */
    UB_RESULT_MISMATCHES, /* outputs that the reference kernel finds wrong */
    UB_RESULT_CYCLES,     /* UB_TIMER_SM_CLOCK: SM cycles of `iterations` iterations */
    UB_RESULT_WORDS
};

struct ub_launch {
    const struct ub_gpu *gpu;
    const struct ub_point *point;
    const struct ub_buffers *buffers;
    uint64_t iterations;         /* UB_TIMER_SM_CLOCK: work inside the kernel, N or 2N; otherwise 1 */
    unsigned long long *results; /* device, UB_RESULT_WORDS words */
    bool checked;                /* add up what is loaded; the same machine code runs either way */
    uint64_t seed;
    void *stream; /* cudaStream_t */
    void *state;  /* what prepare() left for this point and these buffers; NULL without it */
};

/* What prepare() gives back. */
struct ub_prepared {
    void *state;    /* the rule's own: streams, events, an executable graph, a library's handle */
    char skip[200]; /* not empty: why the point cannot run on this machine ("libcublas.so.13 cannot
                       be loaded: ..."); it is then skipped with this reason, and `state` is not used */
};

/* What a launch of a point looks like. */
struct ub_kernel {
    const void *function; /* for cudaFuncGetAttributes; NULL: none */
    const char *name;     /* "coalescing load 4 B stride" */
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
};

/* A member that kernel.cu may leave out of its initialiser: C++ before 20 has none by name. */
#ifdef __cplusplus
#define UB_OPTIONAL = NULL
#else
#define UB_OPTIONAL
#endif

/* kernel.cu. Each function returns a cudaError_t as int, 0 is success. */
struct ub_code {
    /* All work is on the stream of the launch, or joined with it again by events before
     * launch() returns, and, unless the timer is UB_TIMER_HOST, can be captured in a graph. */
    int (*launch)(const struct ub_launch *);
    /* Independent of access.h: sums what should have been loaded into
     * UB_RESULT_EXPECTED and counts wrong outputs into UB_RESULT_MISMATCHES.
     * NULL where a rule has no answer to check (null). */
    int (*reference)(const struct ub_launch *);
    /* Fills `out`; the grid and block are those of launch(). */
    void (*kernel)(const struct ub_gpu *, const struct ub_point *, struct ub_kernel *out);
    /* NULL where launches need nothing but their arguments. Else prepare() is called once for a
     * point and its buffers before it is launched, never while a graph is captured, and release()
     * after its last launch. The small instance of a point is prepared for itself. What only
     * the machine knows (no library, no such feature) prepare() says in `skip`; a code other than
     * 0 fails the point, and release() is called only after 0 and no `skip`. */
    int (*prepare)(const struct ub_launch *, struct ub_prepared *out) UB_OPTIONAL;
    void (*release)(void *state) UB_OPTIONAL;
    /* NULL where no launch has more than one operation to show. Else called once for a point,
     * after its timing: launches it with timestamps between its operations, waits, and fills
     * `out` (no span: this point has nothing to show). */
    int (*timeline)(const struct ub_launch *, struct ub_timeline *out) UB_OPTIONAL;
};

/* ---- charts ------------------------------------------------------------- */

/* What a chart of this rule says when a given axis is swept. */
struct ub_chart_text {
    const char *axis;    /* sweep that is drawn, else axis swept, or "" for any other */
    const char *finding; /* the title: the finding in words */
    const char *law;     /* the law's formula as a label: "min(4s, 32)"-like, or NULL */
};

enum { UB_MAX_MARKS = 8 };

/* A value of the swept axis at which something of the GPU ends: a capacity. */
struct ub_mark {
    double at; /* in the axis' unit */
    char label[32];
};

struct ub_chart {
    const char *kind;         /* template of plots/: "sweep" */
    const char *metric;       /* main panel: key of a metric */
    const char *metric_label; /* "useful bandwidth  [GB/s]" */
    double metric_scale;      /* value x scale is drawn: 1e-9 */
    /* Drawn in its place where no point of the chart has `metric`, because it does other
     * work: "flops". NULL: nothing. */
    const char *other_metric, *other_label;
    double other_scale;
    /* Where `x_axis` is swept, a point stands at the value of its metric `x_metric`, which
     * follows from its axes alone: "in_flight". Series that the rule takes for alike then
     * lie on one another. `x_label` has no unit: that is the metric's. NULL: at the value
     * of the axis. The words of an axis of words then stand beside their points. Where
     * `x_sweep` is not NULL, only that sweep is drawn so. */
    const char *x_axis, *x_metric, *x_label, *x_sweep;
    /* What `metric` can be at most where `x_metric` is x: a roof, drawn as the second curve of
     * the only series, from end to end. NULL: none. */
    double (*roof)(const struct ub_gpu *, const struct ub_constants *, double x);
    const char *share_metric; /* right-hand scale: the same data as a share of a ceiling, or NULL */
    const char *share_label;
    const char *panel_metric;  /* lower panel: metric that comes from a counter, or NULL */
    const char *panel_label;   /* "sectors / request" */
    const char *panel_counter; /* "counter: l1tex sectors per request" */
    /* A second curve to compare the law with ("32-byte sectors"), in the unit of
     * `metric`; NaN where it does not apply. NULL: none. */
    double (*second)(const struct ub_gpu *, const struct ub_constants *, const struct ub_point *);
    const char *second_label;
    const char *second_gap; /* what the area between both curves means, or NULL */
    /* Fills in what is to be marked where the axis of this index is swept (the others as in
     * the point), and returns how many. NULL: nothing. */
    size_t (*marks)(const struct ub_gpu *, const struct ub_point *, size_t axis, struct ub_mark marks[UB_MAX_MARKS]);
    size_t text_count;
    const struct ub_chart_text *texts;
};

/* ---- the rule ------------------------------------------------------------ */

enum ub_timer {
    UB_TIMER_EVENT,    /* CUDA events round a graph of K launches; per launch */
    UB_TIMER_SM_CLOCK, /* clock64() inside the kernel, slope from N to 2N iterations; per iteration */
    UB_TIMER_HOST      /* host clock round launch and synchronise; per launch */
};

/* For rules all of whose points have one timer. */
enum ub_timer ub_timer_event(const struct ub_point *point);
enum ub_timer ub_timer_sm_clock(const struct ub_point *point);
enum ub_timer ub_timer_host(const struct ub_point *point);

struct ub_text {
    const char *law;         /* the law in a paragraph, formulas included */
    const char *breaks;      /* where it breaks */
    const char *consequence; /* for one's own kernel, with a number */
    const char *folk;        /* folk claims and what is right */
    const char *sources;     /* documents with sections, one a line */
};

struct ub_micro {
    const char *name; /* "coalescing": folder, command-line word, record key */
    const char *rule; /* the rule in one sentence */
    struct ub_text text;
    size_t axis_count;
    const struct ub_axis *axes;
    const struct ub_axis_owners *owners; /* NULL: every axis counts in every point */
    size_t sweep_count;
    const struct ub_sweep *sweeps;
    size_t counter_count;
    const char *const *counters; /* keys of cupti/metrics.c; empty: no counters */
    size_t need_count;
    const char *const *needs; /* names of constants; see harness/model/gpu.h for their table values */
    size_t provide_count;
    const struct ub_provides *provides;
    size_t metric_count;
    const char *const *metric_keys; /* every key that metrics() may return, headline first */
    struct ub_chart chart;
    enum ub_timer (*timer)(const struct ub_point *);
    /* NULL where the point can run on this GPU, else why not (static text). */
    const char *(*supported)(const struct ub_gpu *, const struct ub_point *);
    /* NULL where no point of the rule is meant to be refused. Else the name of the error
     * with which the card must refuse the launch of this point ("cudaErrorInvalidValue"),
     * or NULL where it must take it. The engine launches it: refused with that error it
     * is skipped, with the name as the reason; with another or not at all, it has failed. */
    const char *(*refusal)(const struct ub_gpu *, const struct ub_point *);
    /* NULL where no point of the rule is wrong on purpose. Else what is wrong with the kernel of
     * this point ("no barrier before the second use of shared memory"), or NULL where its
     * answers must be right. Verification must then find a wrong answer: the point is skipped
     * with what it found as the reason, and has no time; where it finds none, it has failed. */
    const char *(*mistake)(const struct ub_gpu *, const struct ub_point *);
    void (*footprint)(const struct ub_gpu *, const struct ub_point *, struct ub_footprint *out);
    void (*law)(const struct ub_gpu *, const struct ub_constants *, const struct ub_point *, struct ub_law *out);
    void (*metrics)(const struct ub_facts *, struct ub_metrics *out);
    /* When each operation runs by the law. NULL where ub_code has no timeline() either; no span
     * where the law does not know. */
    void (*timeline)(const struct ub_gpu *, const struct ub_constants *, const struct ub_point *,
                     struct ub_timeline *out);
    /* A small instance of the same point, for verification on the host. Returns
     * false where there is nothing to verify. */
    bool (*small)(const struct ub_gpu *, const struct ub_point *, struct ub_point *out);
    /* Checks what a checked launch of `small` left behind: host copies of all
     * buffers, inputs as they were before, and the checksum. Never uses access.h. */
    bool (*verify)(const struct ub_gpu *, const struct ub_point *, const struct ub_buffers *host, uint64_t seed,
                   uint64_t checksum, struct ub_error *);
};

struct ub_entry {
    const struct ub_micro *micro;
    const struct ub_code *code; /* NULL in a build without nvcc */
};

/* The rules in teaching order; defined by micro/registry.c from micro/list.h
 * (tests define their own). */
extern const struct ub_entry ub_entries[];
extern const size_t ub_entry_count;

#ifdef __cplusplus
}
#endif
#endif
