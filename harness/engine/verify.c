/* SPDX-License-Identifier: MIT
 *
 * No number without a check: a small instance is compared on the host with the
 * rule's own formula, the full one on the device with the rule's reference kernel. */
#include <inttypes.h>
#include <stdlib.h>

#include "harness/cuda/runtime.h"
#include "harness/engine/worker_private.h"

static bool checked_launch(struct ub_task *task, const struct ub_point *point, const struct ub_footprint *footprint,
                           const struct ub_buffers *buffers, struct ub_error *err)
{
    struct ub_arena *arena = &task->worker->arena;
    return ub_arena_poison(arena, footprint, buffers, err) && ub_results_clear(arena, err) &&
           ub_task_launch(task, point, buffers, 1, true, err);
}

static bool download(struct ub_device *device, const struct ub_buffers *buffers, struct ub_buffers *host,
                     struct ub_error *err)
{
    *host = (struct ub_buffers){.count = buffers->count};
    for (size_t i = 0; i < buffers->count; i++) {
        host->sizes_bytes[i] = buffers->sizes_bytes[i];
        host->pointers[i] = malloc(buffers->sizes_bytes[i] ? buffers->sizes_bytes[i] : 1);
        if (!host->pointers[i])
            return ub_fail(err, UB_INTERNAL, "out of memory");
        int code = device->api.copy_to_host(host->pointers[i], (ub_device_pointer)(uintptr_t)buffers->pointers[i],
                                            buffers->sizes_bytes[i]);
        if (code != 0)
            return ub_api_fail(&device->api, code, "cuMemcpyDtoH", err);
    }
    return true;
}

static bool verify_small(struct ub_task *task, const struct ub_point *small, struct ub_error *err)
{
    struct ub_worker *worker = task->worker;
    const struct ub_micro *micro = worker->entry->micro;
    struct ub_footprint footprint = {0};
    struct ub_buffers buffers;
    struct ub_buffers host = {0};
    unsigned long long results[UB_RESULT_WORDS];
    micro->footprint(&worker->gpu, small, &footprint);
    if (!ub_arena_carve(&worker->arena, &footprint, &buffers))
        return ub_fail(err, UB_INTERNAL, "the arena is smaller than the small instance");
    bool ok = checked_launch(task, small, &footprint, &buffers, err) && ub_results_read(&worker->arena, results, err) &&
              download(&worker->device, &buffers, &host, err) &&
              micro->verify(&worker->gpu, small, &host, worker->job.seed, results[UB_RESULT_CHECKSUM], err);
    for (size_t i = 0; i < host.count; i++)
        free(host.pointers[i]);
    return ok;
}

static bool verify_full(struct ub_task *task, struct ub_error *err)
{
    struct ub_worker *worker = task->worker;
    unsigned long long results[UB_RESULT_WORDS];
    struct ub_launch launch = {.gpu = &worker->gpu,
                               .point = task->point,
                               .buffers = &task->buffers,
                               .iterations = 1,
                               .results = worker->arena.results,
                               .seed = worker->job.seed,
                               .stream = worker->device.stream};
    if (!checked_launch(task, task->point, &task->footprint, &task->buffers, err))
        return false;
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
