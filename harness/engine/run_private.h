/* SPDX-License-Identifier: MIT
 *
 * Shared by run.c (who runs what, when) and collect.c (what a line means for the
 * record, and the journal file). */
#ifndef UB_ENGINE_RUN_PRIVATE_H
#define UB_ENGINE_RUN_PRIVATE_H

#include <stdio.h>

#include "harness/engine/run.h"
#include "harness/engine/spawn.h"
#include "harness/engine/stats.h"
#include "harness/io/journal.h"

/* What has been done of a planned point. */
struct ub_state {
    bool timed, counted;
};

struct ub_run {
    const struct ub_run_request *request;
    struct ub_record *record;
    struct ub_state *states; /* one a planned point */
    enum ub_job_kind kind;
    const char *phase;
    long current; /* point that the worker is at, -1: none yet */
    size_t steps_done, steps_total;
    struct ub_child spare;        /* started, waits for its job */
    struct ub_error worker_error; /* a worker gave up: why */
    char *no_counters;            /* why there are none; owned */
    FILE *journal;
    double journal_synced_s;
    double phase_start_s, opened_s, first_launch_s; /* of the newest worker, for --verbose */
    double deadline_s;
    bool out_of_time;
};

/* Monotonic seconds. */
double ub_now_s(void);

/* Opens request->journal: new, or read first (resume) and then appended to. */
bool ub_journal_open(struct ub_run *run, struct ub_error *err);
void ub_journal_add(struct ub_run *run, const struct ub_line *line);
bool ub_journal_close(struct ub_run *run, struct ub_error *err);

/* Whether a point that ended so did because its kernel computed something else. */
bool ub_is_wrong_answer(enum ub_point_status status, const char *reason);

/* Puts a line into the record. */
void ub_run_apply(struct ub_run *run, const struct ub_line *line);
void ub_run_no_counters(struct ub_run *run, const char *reason);
/* Points that no worker came to: they are failed as "not reached". */
void ub_run_mark_unfinished(struct ub_run *run);
/* Every counter that a rule names stands in the record, if only with the reason of its absence. */
void ub_run_complete_counters(struct ub_run *run);
void ub_run_take_constant(struct ub_run *run, const struct ub_planned *planned, const struct ub_record_point *point);
/* Statistics of time->samples into time and *summary; `tick_ns` as in ub_summarise(). */
void ub_time_summarise(struct ub_time *time, double tick_ns, struct ub_summary *summary);

#endif
