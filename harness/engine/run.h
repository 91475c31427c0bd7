/* SPDX-License-Identifier: MIT
 *
 * A run, seen from the parent: it never touches CUDA. It turns a plan into a
 * record by prediction, or by workers whose lines it collects and keeps in a
 * journal. */
#ifndef UB_ENGINE_RUN_H
#define UB_ENGINE_RUN_H

#include <signal.h>

#include "harness/contract/record.h"
#include "harness/engine/plan.h"
#include "harness/model/gpu.h"

enum ub_counter_mode { UB_COUNT_AUTO, UB_COUNT_OFF, UB_COUNT_REQUIRE };

struct ub_progress {
    const char *phase; /* "verify", "time", "count" */
    const struct ub_planned *planned;
    size_t done, total; /* samples, or points, of this phase */
    double clock_mhz;   /* NaN: unknown */
};

struct ub_run_request {
    const struct ub_plan *plan;
    const struct ub_gpu *gpu;
    int device; /* driver ordinal */
    uint64_t seed;
    int rounds;
    double min_sample_ns;
    double point_timeout_s, time_limit_s;
    bool zeros, cold;
    bool verbose; /* say how long each phase took */
    enum ub_counter_mode counters;
    size_t extra_key_count; /* --counters KEY,KEY: read instead of the rule's own */
    const char *const *extra_keys;
    const char *journal; /* path, or NULL: none is kept */
    bool resume;         /* take over what the journal has */
    bool redact;         /* leave UUID, PCI address and paths out of the journal */
    const volatile sig_atomic_t *interrupted;
    void (*progress)(void *user, const struct ub_progress *progress);
    void (*message)(void *user, const char *text); /* one line for people, on stderr */
    void *user;
};

struct ub_probe {
    struct ub_device_info device; /* owned */
    int other_processes;          /* with a compute context on the card; -1: unknown */
    bool counters;                /* they can be read here */
    char counters_text[1024];     /* the chip, or why not with the fix; "" where not asked */
};

/* Asks a short-lived worker what GPU `ordinal` is; with `counters` also whether
 * counters can be read (that takes a context and loads CUPTI). */
bool ub_run_probe(int ordinal, bool counters, struct ub_probe *probe, struct ub_error *err);

/* Fills the points of `record` with what the law predicts. */
void ub_run_predict(const struct ub_run_request *request, struct ub_record *record);

/* Measures. record->device and record->run are filled by the caller. False only
 * where nothing could be done at all; else the points say how each ended. */
bool ub_run_measure(const struct ub_run_request *request, struct ub_record *record, struct ub_error *err);

/* Launches every point once, in the order of the plan, and nothing else: no timing, no
 * verification, no counters of our own. For use under ncu, nsys or compute-sanitizer.
 * `launched`: how many were. */
bool ub_run_launch(const struct ub_run_request *request, struct ub_record *record, size_t *launched,
                   struct ub_error *err);

/* Exit code of a finished record: 6 before 5 before 0 (DESIGN section 5), 4 where
 * required counters are missing. */
enum ub_status ub_run_status(const struct ub_record *record, enum ub_counter_mode counters);

/* How many points have no result and may have one if they are measured again: those that ran
 * out of time, and those that failed, but for a wrong answer, which stands. */
size_t ub_run_retryable(const struct ub_record *record);

/* A hash of rules, axes and options that a journal must share to be resumed. */
uint64_t ub_plan_hash(const struct ub_run_request *request);

#endif
