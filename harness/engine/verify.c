/* SPDX-License-Identifier: MIT
 *
 * No number without a check: a small instance is compared on the host with the
 * rule's own formula, the full one on the device with the rule's reference kernel. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cuda/runtime.h"
#include "harness/engine/worker_private.h"

static bool checked_launch(struct ub_worker *worker, struct ub_launch *launch, const struct ub_footprint *footprint,
                           struct ub_error *err)
{
    launch->checked = true;
    return ub_arena_poison(&worker->arena, footprint, launch->buffers, err) && ub_results_clear(&worker->arena, err) &&
           ub_launch_enqueue(worker, launch, err);
}

static bool download(struct ub_device *device, const struct ub_footprint *footprint, const struct ub_buffers *buffers,
                     struct ub_buffers *host, struct ub_error *err)
{
    *host = (struct ub_buffers){.count = buffers->count};
    for (size_t i = 0; i < buffers->count; i++) {
        const uint64_t bytes = buffers->sizes_bytes[i];
        host->sizes_bytes[i] = bytes;
        host->pointers[i] = malloc(bytes ? bytes : 1);
        if (!host->pointers[i])
            return ub_fail(err, UB_INTERNAL, "out of memory");
        if (footprint->buffers[i].memory != UB_DEVICE_MEMORY) {
            memcpy(host->pointers[i], buffers->pointers[i], bytes);
            continue;
        }
        int code =
            device->api.copy_to_host(host->pointers[i], (ub_device_pointer)(uintptr_t)buffers->pointers[i], bytes);
        if (code != 0)
            return ub_api_fail(&device->api, code, "cuMemcpyDtoH", err);
    }
    return true;
}

/* A prepared launch of `small`, and what it left behind against the rule's own formula. */
static bool compare_small(struct ub_worker *worker, struct ub_launch *launch, const struct ub_footprint *footprint,
                          struct ub_error *err)
{
    struct ub_buffers host = {0};
    unsigned long long results[UB_RESULT_WORDS];
    bool ok = checked_launch(worker, launch, footprint, err) && ub_results_read(&worker->arena, results, err) &&
              download(&worker->device, footprint, launch->buffers, &host, err) &&
              worker->entry->micro->verify(&worker->gpu, launch->point, &host, launch->seed,
                                           results[UB_RESULT_CHECKSUM], err);
    for (size_t i = 0; i < host.count; i++)
        free(host.pointers[i]);
    return ok;
}

static bool verify_small(struct ub_task *task, const struct ub_point *small, struct ub_error *err)
{
    struct ub_worker *worker = task->worker;
    const struct ub_code *code = worker->entry->code;
    struct ub_footprint footprint = {0};
    struct ub_buffers buffers;
    struct ub_prepared prepared = {0};
    worker->entry->micro->footprint(&worker->gpu, small, &footprint);
    if (!ub_arena_carve(&worker->arena, &footprint, &buffers))
        return ub_fail(err, UB_INTERNAL, "the arena is smaller than the small instance");
    struct ub_launch launch = ub_task_launch(task);
    launch.point = small;
    launch.buffers = &buffers;
    launch.state = NULL;
    int failed = code->prepare ? code->prepare(&launch, &prepared) : 0;
    if (failed != 0)
        return ub_fail(err, UB_INCOMPLETE, "prepare: %s (%d)", ub_runtime_error_name(failed), failed);
    if (prepared.skip[0])
        return ub_fail(err, UB_INCOMPLETE, "the small instance cannot run: %s", prepared.skip);
    launch.state = prepared.state;
    bool ok = compare_small(worker, &launch, &footprint, err);
    if (code->prepare && !worker->broken)
        code->release(prepared.state);
    return ok;
}

static bool verify_full(struct ub_task *task, struct ub_error *err)
{
    struct ub_worker *worker = task->worker;
    unsigned long long results[UB_RESULT_WORDS];
    struct ub_launch launch = ub_task_launch(task);
    if (!checked_launch(worker, &launch, &task->footprint, err))
        return false;
    launch.checked = false;
    int code = worker->entry->code->reference(&launch);
    if (code != 0)
        return ub_fail(err, UB_INCOMPLETE, "reference kernel: %s (%d)", ub_runtime_error_name(code), code);
    if (!ub_results_read(&worker->arena, results, err))
        return false;
    if (results[UB_RESULT_MISMATCHES] != 0)
        return ub_fail(err, UB_WRONG_ANSWER, "the reference kernel finds %llu wrong elements",
                       results[UB_RESULT_MISMATCHES]);
    if (results[UB_RESULT_CHECKSUM] != results[UB_RESULT_EXPECTED])
        return ub_fail(err, UB_WRONG_ANSWER, "checksum %016llx, expected %016llx", results[UB_RESULT_CHECKSUM],
                       results[UB_RESULT_EXPECTED]);
    return true;
}

bool ub_verify_task(struct ub_task *task, struct ub_error *err)
{
    const struct ub_worker *worker = task->worker;
    struct ub_point small;
    if (worker->entry->micro->small(&worker->gpu, task->point, &small) && !verify_small(task, &small, err))
        return false;
    return !worker->entry->code->reference || verify_full(task, err);
}

const char *ub_task_mistake(const struct ub_task *task)
{
    const struct ub_micro *micro = task->worker->entry->micro;
    return micro->mistake ? micro->mistake(&task->worker->gpu, task->point) : NULL;
}

/* A race may come out right by chance, so one right answer is no proof. */
bool ub_verify_mistake(struct ub_task *task, const char *mistake, struct ub_error *err)
{
    enum { TRIES = 16 };
    char reason[400];
    for (int i = 0; i < TRIES; i++) {
        struct ub_error found = {0};
        if (ub_verify_task(task, &found))
            continue;
        if (found.status != UB_WRONG_ANSWER) {
            *err = found;
            return false;
        }
        snprintf(reason, sizeof reason, "wrong on purpose (%.100s), and found wrong: %.220s", mistake, found.text);
        ub_task_end(task, "verify", UB_POINT_SKIPPED, reason);
        return true;
    }
    return ub_fail(err, UB_INCOMPLETE, "wrong on purpose (%s), but %d verifications found no wrong answer", mistake,
                   TRIES);
}
