/* SPDX-License-Identifier: MIT
 *
 * One run on one target: what is asked becomes a plan, the plan a record, the record files.
 * cmd_run.c says in which order. */
#ifndef UB_CLI_RUN_JOB_H
#define UB_CLI_RUN_JOB_H

#include <signal.h>

#include "harness/cli/options.h"
#include "harness/cli/run_paths.h"
#include "harness/cli/target.h"
#include "harness/engine/run.h"

enum { UB_MAX_KEYS = 64 };

struct ub_run_job {
    struct ub_options *options;
    struct ub_target *target;
    const volatile sig_atomic_t *interrupted;
    struct ub_plan plan;
    struct ub_run_request request;
    struct ub_record record;
    const char *keys[UB_MAX_KEYS];
    char *key_text; /* owned copy of --counters KEY,KEY */
    struct ub_run_paths paths;
    bool waited;    /* for another run to end: what the probe saw was that one */
    bool undrawn;   /* a chart that was asked for has nothing to show */
    double drawn_s; /* progress */
};

/* ---- run_job.c ---- */

/* Points and counters that the options ask for. UB_USAGE: no such rule, value or key. Which
 * axes no rule used is asked afterwards (ub_options_check_axes). */
bool ub_run_job_plan(struct ub_run_job *job, struct ub_error *err);
/* Fills `request` from options, plan and paths. */
void ub_run_job_request(struct ub_run_job *job);
/* Required counters that cannot be there are refused before anything else: UB_NO_COUNTERS. */
bool ub_run_job_required(const struct ub_run_job *job, struct ub_error *err);
/* Measures, or predicts where the target is a model, and fills the record. Waits for another
 * run on the same GPU. */
bool ub_run_job_measure(struct ub_run_job *job, struct ub_error *err);
void ub_run_job_free(struct ub_run_job *job);

/* Seconds of a clock that only goes forward. */
double ub_run_now_s(void);

/* ---- run_output.c ---- */

/* The record, the table, what was lost, the charts. `undrawn` says of a chart that was asked
 * for and has nothing to show. UB_CANNOT_WRITE, or why a chart could not be drawn. */
bool ub_run_job_write(struct ub_run_job *job, struct ub_error *err);

/* ---- run_dry.c ---- */

/* Prints the points that a run would have, their memory and time. */
void ub_run_job_dry(struct ub_run_job *job);
/* Launches each point once, for another tool to look at. UB_NO_DEVICE: nothing to launch on. */
bool ub_run_job_launch(struct ub_run_job *job, struct ub_error *err);

#endif
