/* SPDX-License-Identifier: MIT
 *
 * The timing of a worker: verify, warm up once, visit every point in every round
 * in a fresh seeded shuffle, verify again (harness.md 1.3). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness/cuda/runtime.h"
#include "harness/engine/samples.h"
#include "harness/engine/stats.h"
#include "harness/engine/worker.h"
#include "harness/engine/worker_private.h"

/* Points that share their rounds. Each chunk is verified, timed, verified and done before
 * the next: what a crash or a cut costs is one chunk. */
enum { CHUNK = 64 };
enum { EXTRA_ROUNDS = 10, MAX_ROUNDS = 100, MAX_REMEASURE = 3, PAUSE_US = 50000, WARM_WINDOWS = 100 };
static const double CI_GOAL = 0.005;                    /* half width over median */
static const double STEADY_SHARE = 0.01;                /* three windows of equal clock */
static const unsigned long long WARM_CYCLES = 40000000; /* about 20 ms a window */

/* A slice of the worker's tasks. */
struct chunk {
    struct ub_worker *worker;
    struct ub_task *tasks;
    size_t count;
};

static void verify_all(const struct chunk *chunk, const char *when)
{
    struct ub_worker *worker = chunk->worker;
    for (size_t i = 0; i < chunk->count && !worker->broken; i++) {
        struct ub_task *task = &chunk->tasks[i];
        struct ub_error err = {0};
        if (!task->alive)
            continue;
        ub_task_prepare(task, "verify");
        if (!task->alive)
            continue;
        ub_worker_start(worker, task, when);
        if (ub_task_refused(task))
            continue;
        const char *mistake = ub_task_mistake(task);
        if (mistake) {
            if (!ub_verify_mistake(task, mistake, &err))
                ub_task_fail(task, when, &err);
            continue;
        }
        bool ok = ub_verify_task(task, &err);
        struct ub_line line = {.type = UB_LINE_VERIFY, .point = task->index, .ok = ok, .text = err.text};
        ub_worker_say(worker, &line);
        if (!ok) {
            ub_fail_in(&err, err.status == UB_WRONG_ANSWER ? UB_WRONG_ANSWER_WORDS " %s" : "%s", when);
            ub_task_fail(task, when, &err);
        }
    }
}

static void say_static(struct ub_task *task)
{
    struct ub_worker *worker = task->worker;
    struct ub_kernel kernel = {0};
    struct ub_line line = {.type = UB_LINE_STATIC, .point = task->index};
    struct ub_static *out = &line.static_;
    worker->entry->code->kernel(&worker->gpu, task->point, &kernel);
    if (!kernel.function)
        return;
    if (ub_runtime_attributes(&kernel, &out->registers, &out->local_bytes, &out->shared_bytes, &out->resident_blocks,
                              &out->binary_version, &out->ptx_version) != 0)
        return;
    for (int i = 0; i < 3; i++) {
        out->grid[i] = kernel.grid[i];
        out->block[i] = kernel.block[i];
    }
    ub_worker_say(worker, &line);
}

/* Runs all SMs until three windows in a row show the same clock: the card then
 * has left its idle state. Says the clock that it settled at. */
void ub_warm_up(struct ub_worker *worker)
{
    double last = 0;
    int steady = 0;
    for (int i = 0; i < WARM_WINDOWS && steady < 3; i++) {
        unsigned long long stamps[4];
        struct ub_device *device = &worker->device;
        /* A sign of life: an idle clock makes a window long. */
        ub_worker_say(worker, &(struct ub_line){.type = UB_LINE_START, .point = -1, .phase = (char *)"warm-up"});
        ub_runtime_stamp(worker->arena.stamps, device->sms, device->stream);
        ub_runtime_spin(WARM_CYCLES, device->sms, device->stream);
        ub_runtime_stamp(worker->arena.stamps + 2, device->sms, device->stream);
        if (device->api.stream_synchronize(device->stream) != 0 ||
            device->api.copy_to_host(stamps, (ub_device_pointer)(uintptr_t)worker->arena.stamps, sizeof stamps) != 0 ||
            stamps[3] <= stamps[1])
            return;
        double mhz = (double)(stamps[2] - stamps[0]) / (double)(stamps[3] - stamps[1]) * 1e3;
        steady = fabs(mhz - last) <= STEADY_SHARE * mhz ? steady + 1 : 0;
        last = mhz;
    }
    if (steady < 3)
        ub_worker_warn(worker, -1, "unsteady-clock",
                       "the SM clock did not settle while warming up: times may drift; look at power and temperature");
}

static void open_timers(const struct chunk *chunk)
{
    struct ub_worker *worker = chunk->worker;
    for (size_t i = 0; i < chunk->count && !worker->broken; i++) {
        struct ub_task *task = &chunk->tasks[i];
        struct ub_error err = {0};
        if (!task->alive)
            continue;
        ub_worker_start(worker, task, "time");
        size_t most = (size_t)(worker->job.rounds > MAX_ROUNDS ? worker->job.rounds : MAX_ROUNDS);
        task->sample_times = malloc(most * sizeof *task->sample_times);
        task->sample_clocks = malloc(most * sizeof *task->sample_clocks);
        if (!task->sample_times || !task->sample_clocks)
            ub_task_end(task, "time", UB_POINT_FAILED, "out of memory");
        else if (!ub_timed_open(&worker->kit, &task->timed, worker->job.min_sample_ns, &err))
            ub_task_fail(task, "time", &err);
    }
}

/* Whether the SM clock was well under what this point has had so far. */
static bool throttled(const struct ub_task *task, const struct ub_sample *sample)
{
    return task->sample_count >= UB_CLOCKS_NEED &&
           sample->clock_mhz < ub_throttle_limit_mhz(task->sample_clocks, task->sample_count);
}

static bool take_sample(struct ub_task *task, struct ub_error *err)
{
    struct ub_worker *worker = task->worker;
    struct ub_sample sample;
    ub_worker_start(worker, task, "time");
    if (!ub_timed_sample(&worker->kit, &task->timed, &sample, err))
        return false;
    for (int again = 0; again < MAX_REMEASURE && throttled(task, &sample); again++) {
        usleep(PAUSE_US);
        if (!ub_timed_sample(&worker->kit, &task->timed, &sample, err))
            return false;
        sample.flags |= UB_FLAG_REMEASURED;
    }
    if (throttled(task, &sample))
        sample.flags |= UB_FLAG_THROTTLED;
    task->sample_times[task->sample_count] = sample.time_ns;
    task->sample_clocks[task->sample_count] = sample.clock_mhz;
    task->sample_count++;
    struct ub_line line = {.type = UB_LINE_SAMPLE, .point = task->index, .sample = sample, .batch = task->timed.batch};
    ub_worker_say(worker, &line);
    return true;
}

/* Visits every wanted point once, in a fresh order. */
static void do_round(const struct chunk *chunk, struct ub_random *random)
{
    size_t order[CHUNK];
    size_t count = 0;
    for (size_t i = 0; i < chunk->count; i++)
        if (chunk->tasks[i].alive && chunk->tasks[i].wanted)
            order[count++] = i;
    ub_shuffle(random, order, count);
    for (size_t i = 0; i < count && !chunk->worker->broken; i++) {
        struct ub_error err = {0};
        struct ub_task *task = &chunk->tasks[order[i]];
        if (!take_sample(task, &err))
            ub_task_fail(task, "time", &err);
    }
}

static bool too_wide(const struct ub_task *task)
{
    struct ub_summary summary;
    ub_summarise(task->sample_times, task->sample_count, 0, &summary);
    return !isnan(summary.ci_hi) && summary.ci_hi - summary.ci_lo > 2 * CI_GOAL * summary.median;
}

/* All points get `rounds` samples. Only those whose interval is still too wide get
 * more, always EXTRA_ROUNDS at once: a number of samples that depends on every
 * early look would spoil the interval's coverage. */
static void do_rounds(const struct chunk *chunk, struct ub_random *random)
{
    struct ub_worker *worker = chunk->worker;
    bool more = true;
    int rounds = worker->job.rounds;
    for (size_t i = 0; i < chunk->count; i++)
        chunk->tasks[i].wanted = true;
    for (int done = 0; more && (done == 0 || done + rounds <= MAX_ROUNDS); rounds = EXTRA_ROUNDS) {
        for (int round = 0; round < rounds && !worker->broken; round++)
            do_round(chunk, random);
        done += rounds;
        bool wide = false;
        for (size_t i = 0; i < chunk->count; i++) {
            struct ub_task *task = &chunk->tasks[i];
            task->wanted = task->alive && too_wide(task);
            wide = wide || task->wanted;
        }
        more = wide && !worker->broken;
    }
}

/* With --data zeros the answers are verified on random data all the same: zeroes would
 * hide a wrong element. Only the timing sees the zeroes. */
static void change_data(const struct chunk *chunk, bool zeros)
{
    struct ub_worker *worker = chunk->worker;
    struct ub_error err = {0};
    if (!worker->job.zeros || worker->broken || ub_arena_refill(&worker->arena, worker->job.seed, zeros, &err))
        return;
    for (size_t i = 0; i < chunk->count; i++)
        if (chunk->tasks[i].alive)
            ub_task_fail(&chunk->tasks[i], "time", &err);
}

/* When each operation of a launch ran, in a launch of its own: its timestamps take time. */
/* The point was measured: it lacks its picture, unless the context is lost. */
static void lose_timeline(struct ub_task *task, int code)
{
    struct ub_worker *worker = task->worker;
    struct ub_error err = {0};
    ub_fail(&err, UB_INCOMPLETE, "timeline: %s (%d)", ub_runtime_error_name(code), code);
    if (!ub_device_synchronize(&worker->device, "timeline", NULL))
        ub_task_fail(task, "time", &err);
    else
        ub_worker_warn(worker, task->index, "no-timeline", err.text);
}

static void say_timelines(const struct chunk *chunk)
{
    struct ub_worker *worker = chunk->worker;
    struct ub_timeline *timeline = worker->entry->code->timeline ? malloc(sizeof *timeline) : NULL;
    for (size_t i = 0; timeline && i < chunk->count && !worker->broken; i++) {
        struct ub_task *task = &chunk->tasks[i];
        if (!task->alive)
            continue;
        ub_worker_start(worker, task, "timeline");
        timeline->count = 0;
        const struct ub_launch launch = ub_task_launch(task);
        const int code = worker->entry->code->timeline(&launch, timeline);
        if (code != 0)
            lose_timeline(task, code);
        for (size_t n = 0; code == 0 && n < timeline->count; n++)
            ub_worker_say(worker,
                          &(struct ub_line){.type = UB_LINE_SPAN, .point = task->index, .span = timeline->spans[n]});
    }
    free(timeline);
}

static void measure_chunk(const struct chunk *chunk, struct ub_random *random)
{
    struct ub_worker *worker = chunk->worker;
    verify_all(chunk, "before timing");
    for (size_t i = 0; i < chunk->count && !worker->broken; i++)
        if (chunk->tasks[i].alive)
            say_static(&chunk->tasks[i]);
    change_data(chunk, true);
    open_timers(chunk);
    if (!worker->broken)
        ub_warm_up(worker);
    do_rounds(chunk, random);
    say_timelines(chunk);
    change_data(chunk, false);
    verify_all(chunk, "after timing");
    if (!worker->broken) {
        ub_device_snapshot(&worker->device);
        ub_worker_say(worker, &(struct ub_line){.type = UB_LINE_DEVICE, .point = -1, .device = worker->device.info});
    }
    for (size_t i = 0; i < chunk->count; i++) {
        if (chunk->tasks[i].alive && !worker->broken)
            ub_task_end(&chunk->tasks[i], "time", UB_POINT_OK, NULL);
        ub_timed_close(&worker->kit, &chunk->tasks[i].timed); /* graphs of thousands of launches take memory */
        ub_task_release(&chunk->tasks[i]);
    }
}

void ub_measure(struct ub_worker *worker)
{
    struct ub_random random;
    ub_random_seed(&random, worker->job.seed);
    for (size_t from = 0; from < worker->task_count && !worker->broken; from += CHUNK) {
        size_t left = worker->task_count - from;
        struct chunk chunk = {.worker = worker, .tasks = worker->tasks + from, .count = left < CHUNK ? left : CHUNK};
        measure_chunk(&chunk, &random);
    }
}
