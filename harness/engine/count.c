/* SPDX-License-Identifier: MIT
 *
 * The counters of a worker: all points as ranges of one session, in chunks. */
#include <stdio.h>
#include <stdlib.h>

#include "harness/contract/counters.h"
#include "harness/engine/worker_private.h"

enum { CHUNK = 64 };

struct chunk {
    struct ub_worker *worker;
    struct ub_task *tasks[CHUNK];
    size_t count;
};

static bool run_range(void *user, size_t range, struct ub_error *err)
{
    struct chunk *chunk = user;
    struct ub_task *task = chunk->tasks[range];
    const struct ub_launch launch = ub_task_launch(task);
    ub_worker_start(chunk->worker, task, "count");
    return ub_launch_enqueue(chunk->worker, &launch, err) &&
           ub_device_synchronize(&chunk->worker->device, "kernel under the profiler", err);
}

static void say_counter(const struct chunk *chunk, size_t range, const char *key, const char *raw, int passes,
                        const struct ub_counter_value *value)
{
    struct ub_line line = {.type = UB_LINE_COUNTER,
                           .point = chunk->tasks[range]->index,
                           .key = (char *)key,
                           .raw = (char *)raw,
                           .passes = passes,
                           .has_value = value->known,
                           .value = value->value,
                           .text = value->known ? NULL : (char *)value->reason};
    ub_worker_say(chunk->worker, &line);
}

/* Kernels are loaded lazily, and loading inside a range would be counted. A point whose
 * launch fails here is taken out, so that it does not cost the others their counters. */
static bool load_kernels(struct chunk *chunk)
{
    size_t kept = 0;
    for (size_t i = 0; i < chunk->count && !chunk->worker->broken; i++) {
        struct ub_error err = {0};
        struct ub_task *task = chunk->tasks[i];
        chunk->tasks[kept] = task;
        ub_task_prepare(task, "count");
        if (!task->alive)
            continue;
        if (run_range(chunk, kept, &err))
            kept++;
        else
            ub_task_fail(task, "count", &err);
    }
    chunk->count = kept;
    return !chunk->worker->broken;
}

static bool count_chunk(struct chunk *chunk, struct ub_counter_session *session, struct ub_error *err)
{
    struct ub_job *job = &chunk->worker->job;
    struct ub_counter_value *values = calloc(chunk->count * job->key_count + 1, sizeof *values);
    if (!values)
        return ub_fail(err, UB_INTERNAL, "out of memory");
    bool ok = load_kernels(chunk) || ub_fail(err, UB_INCOMPLETE, "the GPU's context was lost");
    ok = ok && ub_counters.collect(session, chunk->count, run_range, chunk, values, err);
    for (size_t range = 0; range < chunk->count && ok; range++) {
        for (size_t key = 0; key < job->key_count; key++)
            say_counter(chunk, range, job->keys[key], ub_counters.session_raw(session, key),
                        ub_counters.session_passes(session), &values[range * job->key_count + key]);
        ub_task_end(chunk->tasks[range], "count", UB_POINT_OK, NULL);
    }
    for (size_t range = 0; range < chunk->count; range++)
        ub_task_release(chunk->tasks[range]);
    free(values);
    return ok;
}

static size_t fill_chunk(struct chunk *chunk, size_t from)
{
    struct ub_worker *worker = chunk->worker;
    chunk->count = 0;
    while (from < worker->task_count && chunk->count < CHUNK) {
        if (worker->tasks[from].alive)
            chunk->tasks[chunk->count++] = &worker->tasks[from];
        from++;
    }
    return from;
}

static bool count_all(struct ub_worker *worker, struct ub_counter_session *session, struct ub_error *err)
{
    struct chunk chunk = {.worker = worker};
    for (size_t from = 0; from < worker->task_count;) {
        from = fill_chunk(&chunk, from);
        if (chunk.count > 0 && !count_chunk(&chunk, session, err))
            return false;
    }
    return true;
}

void ub_count(struct ub_worker *worker)
{
    struct ub_error err = {0};
    struct ub_counter_session *session = NULL;
    char chip[64];
    struct ub_counter_setup setup = {.device = worker->device.ordinal,
                                     .context = worker->device.context,
                                     .key_count = worker->job.key_count,
                                     .keys = (const char *const *)worker->job.keys,
                                     .range_count = CHUNK};
    bool ok = ub_counters.probe(setup.device, setup.context, chip, sizeof chip, &err) &&
              ub_counters.open(&session, &setup, &err) && count_all(worker, session, &err);
    if (session)
        ub_counters.close(session);
    if (!ok)
        ub_worker_warn(worker, -1, "no-counters", err.text);
}
