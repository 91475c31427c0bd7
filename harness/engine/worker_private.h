/* SPDX-License-Identifier: MIT
 *
 * Shared by the parts of the worker: worker.c (set-up), calibrate.c, verify.c,
 * measure.c (time) and count.c (counters). */
#ifndef UB_ENGINE_WORKER_PRIVATE_H
#define UB_ENGINE_WORKER_PRIVATE_H

#include <stdio.h>

#include "harness/cuda/buffer.h"
#include "harness/cuda/device.h"
#include "harness/cuda/timer.h"
#include "harness/engine/plan.h"
#include "harness/io/journal.h"
#include "harness/model/gpu.h"

struct ub_worker;

/* One point of the job with its launch. */
struct ub_task {
    struct ub_worker *worker;
    long index; /* in the plan */
    const struct ub_point *point;
    struct ub_footprint footprint;
    struct ub_buffers buffers;
    struct ub_timed timed;
    bool prepared; /* `state` is what the rule's prepare() left, to be released */
    void *state;
    bool alive;  /* not failed, not skipped */
    bool wanted; /* takes part in the rounds that run now */
    size_t sample_count;
    double *sample_times, *sample_clocks;
};

struct ub_worker {
    FILE *lines;
    struct ub_job job;
    const struct ub_entry *entry;
    struct ub_device device;
    struct ub_gpu gpu;
    struct ub_arena arena;
    struct ub_timer_kit kit;
    struct ub_task *tasks;
    size_t task_count;
    bool broken; /* the context is lost: nothing more can run here */
};

bool ub_worker_say(struct ub_worker *worker, const struct ub_line *line);
/* The parent starts its clock for this point. */
void ub_worker_start(struct ub_worker *worker, const struct ub_task *task, const char *phase);
void ub_worker_warn(struct ub_worker *worker, long point, const char *code, const char *text);
/* Ends the task's phase; anything but UB_POINT_OK takes it out. */
void ub_task_end(struct ub_task *task, const char *phase, enum ub_point_status status, const char *reason);
/* Ends it as failed for `err`, and finds out whether the context survived. */
void ub_task_fail(struct ub_task *task, const char *phase, const struct ub_error *err);

/* One launch of the task's own point and buffers, one iteration, not checked. */
struct ub_launch ub_task_launch(const struct ub_task *task);
/* Enqueues it. */
bool ub_launch_enqueue(const struct ub_worker *worker, const struct ub_launch *launch, struct ub_error *err);

/* Has the rule prepare the task before anything of it is launched; where it cannot, the
 * task ends as skipped or failed. Nothing happens where a rule has no prepare(). */
void ub_task_prepare(struct ub_task *task, const char *phase);
/* After the last launch; harmless where nothing was prepared. */
void ub_task_release(struct ub_task *task);

/* Where the rule says that the card refuses this launch: tries it, and ends the task as
 * skipped, or as failed where the card does otherwise. False: nothing was said or done. */
bool ub_task_refused(struct ub_task *task);

/* Runs all SMs until the clock is steady. */
void ub_warm_up(struct ub_worker *worker);

/* The instrument itself: event tick and overhead, graph node, globaltimer tick,
 * cudaMemcpy device to device. One UB_LINE_CONSTANT each. */
bool ub_calibrate(struct ub_worker *worker, struct ub_error *err);

/* Small instance on the host, full one against the reference kernel. */
bool ub_verify_task(struct ub_task *task, struct ub_error *err);
/* What is wrong with the task's kernel on purpose, or NULL. */
const char *ub_task_mistake(const struct ub_task *task);
/* Verifies such a task until an answer is wrong, and ends it as skipped, with what was
 * found. False: it could not run, or was right each time. */
bool ub_verify_mistake(struct ub_task *task, const char *mistake, struct ub_error *err);

void ub_measure(struct ub_worker *worker);
void ub_count(struct ub_worker *worker);

#endif
