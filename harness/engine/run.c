/* SPDX-License-Identifier: MIT */
#include "harness/engine/run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "harness/engine/axis.h"
#include "harness/engine/law.h"
#include "harness/engine/run_private.h"
#include "harness/engine/samples.h"
#include "harness/engine/spawn.h"
#include "harness/engine/stats.h"
#include "harness/engine/worker.h"

/* ---- the record before anything ran ---------------------------------------- */

static void add_planned(const struct ub_planned *planned, bool zeros, bool cold, const struct ub_gpu *gpu,
                        struct ub_record *record)
{
    const struct ub_micro *micro = planned->micro;
    struct ub_record_point *point = ub_record_add_point(record);
    if (!point)
        return;
    ub_set_string(&point->rule, micro->name);
    ub_set_string(&point->sweep, planned->sweep);
    ub_set_string(&point->data, zeros ? "zeros" : "random");
    ub_set_string(&point->cache, cold ? "cold" : "hot");
    point->timer = micro->timer(&planned->point);
    for (size_t i = 0; i < micro->axis_count; i++) {
        const struct ub_axis *axis = &micro->axes[i];
        int64_t value = planned->point.values[i];
        char text[64];
        bool word = axis->kind == UB_AXIS_WORD || (axis->zero_word && value == 0);
        ub_point_add_axis(point, axis->name, word ? ub_axis_text(axis, value, text, sizeof text) : NULL, value);
    }
    if (planned->skip) {
        point->status = UB_POINT_SKIPPED;
        ub_set_string(&point->reason, planned->skip);
        return;
    }
    point->footprint_bytes = ub_footprint_bytes(micro, gpu, &planned->point);
}

static void add_plan(const struct ub_run_request *request, struct ub_record *record)
{
    for (size_t i = 0; i < request->plan->count; i++)
        add_planned(&request->plan->points[i], request->zeros, request->cold, request->gpu, record);
}

double ub_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- prediction ------------------------------------------------------------ */

/* What the law says of each operation stands where the timestamps of a measurement stand. */
static void predict_timeline(const struct ub_run_request *request, const struct ub_planned *planned,
                             const struct ub_constants *constants, struct ub_record_point *point)
{
    struct ub_timeline *timeline = planned->micro->timeline ? calloc(1, sizeof *timeline) : NULL;
    if (!timeline)
        return;
    planned->micro->timeline(request->gpu, constants, &planned->point, timeline);
    for (size_t i = 0; i < timeline->count; i++)
        ub_point_add_span(point, &timeline->spans[i]);
    free(timeline);
}

static void predict_point(const struct ub_run_request *request, size_t index, struct ub_record *record)
{
    const struct ub_planned *planned = &request->plan->points[index];
    struct ub_record_point *point = &record->points[index];
    if (point->status == UB_POINT_SKIPPED)
        return;
    const struct ub_micro *micro = planned->micro;
    const char *refusal = micro->refusal ? micro->refusal(request->gpu, &planned->point) : NULL;
    const char *mistake = micro->mistake ? micro->mistake(request->gpu, &planned->point) : NULL;
    if (refusal || mistake) {
        char reason[200];
        snprintf(reason, sizeof reason, refusal ? "refused: %s, the law says" : "wrong on purpose (%s)",
                 refusal ? refusal : mistake);
        point->status = UB_POINT_SKIPPED;
        ub_set_string(&point->reason, reason);
        return;
    }
    ub_law_apply(planned->micro, request->gpu, &record->constants, &planned->point, point);
    ub_law_judge(planned->micro, request->gpu, &record->constants, &planned->point, false, UB_PREDICTED, point);
    predict_timeline(request, planned, &record->constants, point);
}

static bool fits(const struct ub_run_request *request, struct ub_record_point *point)
{
    char reason[160];
    if (!(point->footprint_bytes > (double)request->gpu->memory_bytes))
        return true;
    snprintf(reason, sizeof reason, "needs %.1f GiB of GPU memory, %s has %.1f GiB",
             point->footprint_bytes / 1073741824.0, request->gpu->slug ? request->gpu->slug : "the card",
             (double)request->gpu->memory_bytes / 1073741824.0);
    point->status = UB_POINT_SKIPPED;
    ub_set_string(&point->reason, reason);
    return false;
}

void ub_run_predict(const struct ub_run_request *request, struct ub_record *record)
{
    const double deadline_s = ub_now_s() + request->time_limit_s;
    record->source = UB_PREDICTED;
    record->run.complete = true;
    ub_gpu_constants(request->gpu, &record->constants);
    add_plan(request, record);
    for (size_t i = 0; i < record->point_count; i++) {
        struct ub_record_point *point = &record->points[i];
        if (point->status != UB_POINT_OK || !fits(request, point))
            continue;
        if ((request->interrupted && *request->interrupted) || ub_now_s() > deadline_s) {
            record->run.complete = false;
            point->status = UB_POINT_TIMEOUT;
            ub_set_string(&point->reason, "not finished: interrupted, or over the time limit of the run");
            continue;
        }
        predict_point(request, i, record);
    }
}

/* ---- workers --------------------------------------------------------------- */

static bool interrupted(const struct ub_run *run)
{
    return (run->request->interrupted && *run->request->interrupted) || run->out_of_time;
}

static void say(const struct ub_run *run, const char *text)
{
    if (run->request->message)
        run->request->message(run->request->user, text);
}

static void end_point(struct ub_run *run, size_t index, enum ub_point_status status, const char *reason)
{
    struct ub_line line = {.type = UB_LINE_POINT,
                           .point = (long)index,
                           .phase = (char *)run->phase,
                           .status = status,
                           .text = (char *)reason};
    ub_journal_add(run, &line);
    ub_run_apply(run, &line);
}

/* The points of one rule that this phase still has to do. */
static size_t pending(const struct ub_run *run, const struct ub_micro *micro, long *indices)
{
    size_t count = 0;
    for (size_t i = 0; i < run->request->plan->count; i++) {
        const struct ub_state *state = &run->states[i];
        if (run->request->plan->points[i].micro != micro || run->record->points[i].status != UB_POINT_OK)
            continue;
        if (run->kind == UB_JOB_COUNT ? !state->timed || state->counted : state->timed)
            continue;
        indices[count++] = (long)i;
    }
    return count;
}

static bool make_job(struct ub_run *run, const struct ub_micro *micro, struct ub_job *job, struct ub_error *err)
{
    const struct ub_run_request *request = run->request;
    *job = (struct ub_job){.kind = run->kind,
                           .rule = strdup(micro->name),
                           .device = request->device,
                           .seed = request->seed,
                           .rounds = request->rounds,
                           .min_sample_ns = request->min_sample_ns,
                           .point_timeout_s = request->point_timeout_s,
                           .zeros = request->zeros,
                           .cold = request->cold,
                           .axis_count = micro->axis_count,
                           .indices = calloc(request->plan->count + 1, sizeof *job->indices),
                           .points = calloc(request->plan->count + 1, sizeof *job->points)};
    size_t keys = request->extra_key_count ? request->extra_key_count : micro->counter_count;
    const char *const *names = request->extra_key_count ? request->extra_keys : micro->counters;
    job->keys = calloc(keys + 1, sizeof *job->keys);
    if (!job->rule || !job->indices || !job->points || !job->keys)
        return ub_fail(err, UB_INTERNAL, "out of memory");
    for (; job->key_count < keys; job->key_count++)
        job->keys[job->key_count] = strdup(names[job->key_count]);
    job->point_count = pending(run, micro, job->indices);
    for (size_t i = 0; i < job->point_count; i++)
        job->points[i] = request->plan->points[job->indices[i]].point;
    return true;
}

static void report_progress(struct ub_run *run, const struct ub_line *line)
{
    if (!run->request->progress || line->point < 0 || (size_t)line->point >= run->request->plan->count)
        return;
    struct ub_progress progress = {.phase = line->phase ? line->phase : run->phase,
                                   .planned = &run->request->plan->points[line->point],
                                   .done = run->steps_done,
                                   .total = run->steps_total,
                                   .clock_mhz = line->type == UB_LINE_SAMPLE ? line->sample.clock_mhz : NAN};
    run->request->progress(run->request->user, &progress);
}

static void take_line(struct ub_run *run, struct ub_line *line)
{
    if (line->type == UB_LINE_DEVICE && run->opened_s == 0)
        run->opened_s = ub_now_s();
    if (line->type == UB_LINE_START && line->point >= 0 && run->current < 0)
        run->first_launch_s = ub_now_s();
    if (line->type == UB_LINE_START && line->point >= 0)
        run->current = line->point;
    if (line->type == UB_LINE_SAMPLE || (line->type == UB_LINE_POINT && run->kind == UB_JOB_COUNT))
        run->steps_done++;
    ub_journal_add(run, line);
    ub_run_apply(run, line);
    report_progress(run, line);
}

enum outcome { WORKER_DONE, WORKER_DIED, WORKER_HUNG, WORKER_STOPPED };

/* Reads a worker's lines until it ends. */
static enum outcome listen(struct ub_run *run, struct ub_child *child)
{
    /* Opening the GPU and its first module takes seconds on some machines; a point's own
     * limit counts from its first line. */
    const double start_limit_s = 60;
    double last = ub_now_s();
    bool ended = false;
    for (;;) {
        struct ub_line line = {0};
        enum ub_child_event event = ub_child_next(child, 50, &line);
        if (ub_now_s() > run->deadline_s)
            run->out_of_time = true;
        /* A line that is here counts, also if the interrupt came while it was read. */
        if (event == UB_CHILD_LINE) {
            last = ub_now_s();
            ended = ended || line.type == UB_LINE_END;
            take_line(run, &line);
            ub_line_free(&line);
        }
        if (interrupted(run))
            return WORKER_STOPPED;
        if (event == UB_CHILD_LINE)
            continue;
        if (event == UB_CHILD_ENDED)
            return ended ? WORKER_DONE : WORKER_DIED;
        double limit = run->current >= 0 ? run->request->point_timeout_s : start_limit_s;
        if (event == UB_CHILD_QUIET && ub_now_s() - last > limit)
            return ended ? WORKER_DONE : WORKER_HUNG;
    }
}

/* The first counter worker was started ahead of its job (ub_run_measure). */
static bool start_worker(struct ub_run *run, struct ub_child *child, const struct ub_job *job, struct ub_error *err)
{
    if (job->kind != UB_JOB_COUNT || run->spare.pid <= 0)
        return ub_child_start(child, NULL, job, err);
    *child = run->spare;
    run->spare = (struct ub_child){.lines = -1, .job = -1};
    return ub_child_send(child, job, err);
}

static bool is_done(const struct ub_run *run, long point)
{
    const struct ub_state *state = &run->states[point];
    return run->kind == UB_JOB_COUNT ? state->counted : state->timed;
}

/* A worker hung or died: the point that it was at is ended, or, where it was at none, the
 * phase has an error. A worker that had answered for its point is only replaced. */
static void blame(struct ub_run *run, enum outcome outcome, const char *how, const struct ub_error *err)
{
    char reason[256];
    if (run->worker_error.text[0])
        return; /* it has said why itself */
    if (run->current >= 0 && is_done(run, run->current))
        return;
    if (run->current >= 0 && outcome == WORKER_HUNG) {
        snprintf(reason, sizeof reason, "no answer within %g s (%s); the worker was ended",
                 run->request->point_timeout_s, run->phase);
        end_point(run, (size_t)run->current, UB_POINT_TIMEOUT, reason);
    } else if (run->current >= 0) {
        snprintf(reason, sizeof reason, "the worker ended early: %s", how);
        end_point(run, (size_t)run->current, UB_POINT_FAILED, reason);
    } else if (outcome == WORKER_HUNG) {
        ub_fail(&run->worker_error, UB_INCOMPLETE, "the GPU could not be opened within a minute");
    } else {
        ub_fail(&run->worker_error, UB_INCOMPLETE, "the worker could not start: %s%s%s", how, err->text[0] ? ", " : "",
                err->text);
    }
}

/* One worker for all that is pending of a rule. Returns whether another one should
 * go on with the rest: each that ends early has ended at least one point. */
static bool one_worker(struct ub_run *run, const struct ub_micro *micro, struct ub_error *err)
{
    struct ub_job job = {0};
    struct ub_child child = {.lines = -1, .job = -1};
    char how[128];
    bool ok = make_job(run, micro, &job, err);
    size_t before = job.point_count;
    if (ok && before == 0) {
        ub_job_free(&job);
        return false;
    }
    run->current = -1;
    run->worker_error.text[0] = 0;
    ok = ok && start_worker(run, &child, &job, err);
    enum outcome outcome = ok ? listen(run, &child) : WORKER_DIED;
    ub_child_reap(&child, outcome != WORKER_DIED, how, sizeof how);
    if (outcome != WORKER_STOPPED && outcome != WORKER_DONE)
        blame(run, outcome, how, err);
    /* A worker that leaves as much undone as it found would be started for ever. */
    bool again = !run->worker_error.text[0] && pending(run, micro, job.indices) < before;
    ub_job_free(&job);
    return again;
}

static void fail_pending(struct ub_run *run, const struct ub_micro *micro, const char *reason)
{
    long *indices = calloc(run->request->plan->count + 1, sizeof *indices);
    size_t count = indices ? pending(run, micro, indices) : 0;
    for (size_t i = 0; i < count; i++)
        end_point(run, (size_t)indices[i], UB_POINT_FAILED, reason);
    free(indices);
}

static void say_duration(struct ub_run *run, const struct ub_micro *micro)
{
    static const char *const doing[] = {
        [UB_JOB_TIME] = "verifying and timing", [UB_JOB_COUNT] = "reading counters", [UB_JOB_LAUNCH] = "launching"};
    char text[256];
    double start = run->phase_start_s;
    snprintf(text, sizeof text, "%s: %s took %.2f s (GPU open after %.2f s, first launch after %.2f s)", micro->name,
             doing[run->kind], ub_now_s() - start, run->opened_s - start, run->first_launch_s - start);
    say(run, text);
}

static void phase(struct ub_run *run, const struct ub_micro *micro, enum ub_job_kind kind, const char *name)
{
    long *indices = calloc(run->request->plan->count + 1, sizeof *indices);
    run->kind = kind;
    run->phase = name;
    run->steps_done = 0;
    run->steps_total = indices ? pending(run, micro, indices) : 0;
    if (kind == UB_JOB_TIME)
        run->steps_total *= (size_t)run->request->rounds;
    free(indices);
    struct ub_error err = {0};
    run->phase_start_s = ub_now_s();
    run->opened_s = run->first_launch_s = 0;
    while (!interrupted(run) && one_worker(run, micro, &err)) {
    }
    if (run->request->verbose)
        say_duration(run, micro);
    /* A counter phase that fails leaves the times as they are. */
    if (kind == UB_JOB_TIME && !interrupted(run))
        fail_pending(run, micro, run->worker_error.text[0] ? run->worker_error.text : "no worker came to this point");
    if (kind == UB_JOB_COUNT && run->worker_error.text[0])
        ub_run_no_counters(run, run->worker_error.text);
}

/* ---- after the workers ------------------------------------------------------ */

static void warn_of_samples(struct ub_record *record, size_t index, const struct ub_summary *summary)
{
    struct ub_sample_warning warnings[UB_SAMPLE_WARNINGS];
    ub_sample_warnings(&record->points[index].time, summary, warnings);
    for (size_t i = 0; i < UB_SAMPLE_WARNINGS; i++)
        if (warnings[i].due)
            ub_record_warn(record, warnings[i].code, (long)index, "%s", warnings[i].text);
}

static void summarise(struct ub_run *run, size_t index)
{
    struct ub_record_point *point = &run->record->points[index];
    struct ub_summary summary;
    if (point->time.n == 0)
        return;
    ub_flag_throttled(&point->time);
    ub_time_summarise(&point->time, ub_tick_of(&run->record->constants, point), &summary);
    warn_of_samples(run->record, index, &summary);
}

/* Constants that ceiling points measured, over those of the table. */
static void take_constants(struct ub_run *run)
{
    struct ub_record *record = run->record;
    struct ub_constants table;
    ub_gpu_constants(run->request->gpu, &table);
    for (size_t i = 0; i < table.count; i++)
        if (!ub_constant_find(&record->constants, table.items[i].name))
            ub_constant_set(&record->constants, table.items[i].name, table.items[i].value, table.items[i].lo,
                            table.items[i].hi, table.items[i].unit, "%s", table.items[i].origin);
    for (size_t i = 0; i < record->point_count; i++) {
        const struct ub_planned *planned = &run->request->plan->points[i];
        if (planned->provides && record->points[i].status == UB_POINT_OK && record->points[i].time.n > 0)
            ub_run_take_constant(run, planned, &record->points[i]);
    }
}

static void judge(struct ub_run *run)
{
    for (size_t i = 0; i < run->record->point_count; i++) {
        struct ub_record_point *point = &run->record->points[i];
        const struct ub_planned *planned = &run->request->plan->points[i];
        if (point->status != UB_POINT_OK)
            continue;
        ub_law_apply(planned->micro, run->request->gpu, &run->record->constants, &planned->point, point);
        ub_law_except(run->record, i, point);
        ub_law_judge(planned->micro, run->request->gpu, &run->record->constants, &planned->point,
                     run->record->run.jit == 1, UB_MEASURED, point);
        ub_law_warn_estimates(run->record, i);
    }
}

static void each_rule(struct ub_run *run, enum ub_job_kind kind, const char *name)
{
    const struct ub_plan *plan = run->request->plan;
    for (size_t i = 0; i < plan->count && !interrupted(run); i++)
        if (i == 0 || plan->points[i].micro != plan->points[i - 1].micro) {
            const struct ub_micro *micro = plan->points[i].micro;
            if (kind != UB_JOB_COUNT || micro->counter_count > 0 || run->request->extra_key_count > 0)
                phase(run, micro, kind, name);
        }
}

bool ub_run_measure(const struct ub_run_request *request, struct ub_record *record, struct ub_error *err)
{
    struct ub_run run = {.request = request, .record = record, .current = -1};
    record->source = UB_MEASURED;
    record->run.jit = -1;
    add_plan(request, record);
    run.states = calloc(request->plan->count + 1, sizeof *run.states);
    if (!run.states || record->point_count != request->plan->count) {
        free(run.states);
        return ub_fail(err, UB_INTERNAL, "out of memory");
    }
    run.deadline_s = ub_now_s() + request->time_limit_s;
    if (!ub_journal_open(&run, err)) {
        free(run.states);
        return false;
    }
    /* Loading CUPTI takes no GPU: a worker does it while another one times. */
    char how[128];
    run.spare = (struct ub_child){.lines = -1, .job = -1};
    if (request->counters != UB_COUNT_OFF && !ub_child_spawn(&run.spare, "count", err))
        err->text[0] = 0;
    each_rule(&run, UB_JOB_TIME, "time");
    if (request->counters != UB_COUNT_OFF)
        each_rule(&run, UB_JOB_COUNT, "count");
    else
        ub_run_no_counters(&run, "not asked for (--counters off)");
    ub_child_reap(&run.spare, true, how, sizeof how);
    ub_run_mark_unfinished(&run);
    for (size_t i = 0; i < record->point_count; i++)
        summarise(&run, i);
    take_constants(&run);
    judge(&run);
    ub_run_complete_counters(&run);
    record->run.complete = !interrupted(&run);
    if (run.out_of_time)
        say(&run, "the time limit of the run is over (--time-limit): what is missing can be done with --resume");
    /* The record is whole without its journal: a full disk costs only --resume. */
    struct ub_error journal = {0};
    if (!ub_journal_close(&run, &journal)) {
        say(&run, journal.text);
        ub_record_warn(record, "journal", -1, "%s; the run cannot be resumed", journal.text);
    }
    free(run.states);
    free(run.no_counters);
    return true;
}

bool ub_run_launch(const struct ub_run_request *request, struct ub_record *record, size_t *launched,
                   struct ub_error *err)
{
    struct ub_run run = {.request = request, .record = record, .current = -1, .deadline_s = INFINITY};
    add_plan(request, record);
    run.states = calloc(request->plan->count + 1, sizeof *run.states);
    if (!run.states || record->point_count != request->plan->count) {
        free(run.states);
        return ub_fail(err, UB_INTERNAL, "out of memory");
    }
    each_rule(&run, UB_JOB_LAUNCH, "launch");
    record->run.complete = !interrupted(&run);
    *launched = 0;
    for (size_t i = 0; i < record->point_count; i++)
        *launched += record->points[i].status == UB_POINT_OK && run.states[i].timed;
    bool ok = !run.worker_error.text[0] || ub_fail(err, run.worker_error.status, "%s", run.worker_error.text);
    free(run.states);
    free(run.no_counters);
    return ok;
}

bool ub_is_wrong_answer(enum ub_point_status status, const char *reason)
{
    return status == UB_POINT_FAILED && reason &&
           strncmp(reason, UB_WRONG_ANSWER_WORDS, strlen(UB_WRONG_ANSWER_WORDS)) == 0;
}

size_t ub_run_retryable(const struct ub_record *record)
{
    size_t count = 0;
    for (size_t i = 0; i < record->point_count; i++) {
        const struct ub_record_point *point = &record->points[i];
        const bool lost = point->status == UB_POINT_FAILED || point->status == UB_POINT_TIMEOUT;
        count += lost && !ub_is_wrong_answer(point->status, point->reason);
    }
    return count;
}

enum ub_status ub_run_status(const struct ub_record *record, enum ub_counter_mode counters)
{
    bool incomplete = !record->run.complete;
    bool missing = false;
    for (size_t i = 0; i < record->point_count; i++) {
        const struct ub_record_point *point = &record->points[i];
        if (ub_is_wrong_answer(point->status, point->reason))
            return UB_WRONG_ANSWER;
        incomplete = incomplete || point->status == UB_POINT_FAILED || point->status == UB_POINT_TIMEOUT;
        for (size_t j = 0; j < point->counter_count; j++)
            missing = missing || (point->status == UB_POINT_OK && !point->counters[j].has_measured);
    }
    if (record->source == UB_MEASURED && counters == UB_COUNT_REQUIRE && missing)
        return UB_NO_COUNTERS;
    return incomplete ? UB_INCOMPLETE : UB_OK;
}

/* ---- probe ------------------------------------------------------------------ */

static void take_probe_line(struct ub_probe *probe, struct ub_line *line, bool *found, struct ub_error *said)
{
    const char *text = line->text ? line->text : "";
    if (line->type == UB_LINE_ERROR)
        ub_fail(said, (enum ub_status)line->status_code, "%s", text);
    if (line->type == UB_LINE_DEVICE && !*found) {
        probe->device = line->device;
        line->device = (struct ub_device_info){0};
        *found = true;
    }
    if (line->type != UB_LINE_WARNING || !line->key)
        return;
    if (strcmp(line->key, "processes") == 0)
        probe->other_processes = atoi(text);
    if (strcmp(line->key, "counters") == 0 || strcmp(line->key, "no-counters") == 0) {
        probe->counters = line->key[0] == 'c';
        snprintf(probe->counters_text, sizeof probe->counters_text, "%s", text);
    }
}

bool ub_run_probe(int ordinal, bool counters, struct ub_probe *probe, struct ub_error *err)
{
    char *no_keys[] = {(char *)"probe"};
    struct ub_job job = {
        .kind = UB_JOB_PROBE, .rule = (char *)"", .device = ordinal, .key_count = counters, .keys = no_keys};
    struct ub_child child = {.lines = -1, .job = -1};
    struct ub_error said = {0};
    char how[128];
    bool found = false;
    bool over = false;
    double start = ub_now_s();
    *probe = (struct ub_probe){.other_processes = -1};
    bool ok = ub_child_start(&child, NULL, &job, err);
    while (ok && !over && ub_now_s() - start < 60) {
        struct ub_line line = {0};
        enum ub_child_event event = ub_child_next(&child, 500, &line);
        over = event == UB_CHILD_ENDED;
        if (event != UB_CHILD_LINE)
            continue;
        over = line.type == UB_LINE_END || line.type == UB_LINE_ERROR;
        take_probe_line(probe, &line, &found, &said);
        ub_line_free(&line);
    }
    int exit_code = ub_child_reap(&child, !over, how, sizeof how);
    if (found)
        return true;
    if (said.text[0])
        return ub_fail(err, said.status, "%s", said.text);
    if (!ok)
        return false;
    /* A worker that could not even start is a fault of this system, not a missing GPU. */
    enum ub_status status = exit_code == UB_INTERNAL ? UB_INTERNAL : UB_NO_DEVICE;
    return ub_fail(err, status, "the GPU did not answer (the worker ended with %s)", how);
}
