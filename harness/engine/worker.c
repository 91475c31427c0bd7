/* SPDX-License-Identifier: MIT */
#include "harness/engine/worker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/contract/counters.h"
#include "harness/cuda/runtime.h"
#include "harness/engine/law.h"
#include "harness/engine/worker_private.h"
#include "harness/io/formats.h"

bool ub_worker_say(struct ub_worker *worker, const struct ub_line *line)
{
    /* The parent is gone if this fails; the kernel then ends us (PR_SET_PDEATHSIG). */
    return ub_line_write(worker->lines, line, NULL) && fflush(worker->lines) == 0;
}

void ub_worker_start(struct ub_worker *worker, const struct ub_task *task, const char *phase)
{
    ub_worker_say(worker, &(struct ub_line){.type = UB_LINE_START, .point = task->index, .phase = (char *)phase});
}

void ub_worker_warn(struct ub_worker *worker, long point, const char *code, const char *text)
{
    ub_worker_say(
        worker, &(struct ub_line){.type = UB_LINE_WARNING, .point = point, .key = (char *)code, .text = (char *)text});
}

void ub_task_end(struct ub_task *task, const char *phase, enum ub_point_status status, const char *reason)
{
    ub_worker_say(task->worker, &(struct ub_line){.type = UB_LINE_POINT,
                                                  .point = task->index,
                                                  .phase = (char *)phase,
                                                  .status = status,
                                                  .text = (char *)reason});
    if (status != UB_POINT_OK)
        task->alive = false;
}

void ub_task_fail(struct ub_task *task, const char *phase, const struct ub_error *err)
{
    /* A sticky error answers every later call; the process must end then (CUDA Runtime
     * API, "error handling"). */
    struct ub_device *device = &task->worker->device;
    size_t unused = 0;
    if (device->api.stream_synchronize(device->stream) != 0 || device->api.memory_info(&unused, &unused) != 0)
        task->worker->broken = true;
    ub_task_end(task, phase, UB_POINT_FAILED, err->text);
}

bool ub_task_launch(struct ub_task *task, const struct ub_point *point, const struct ub_buffers *buffers,
                    uint64_t iterations, bool checked, struct ub_error *err)
{
    struct ub_worker *worker = task->worker;
    struct ub_launch launch = {.gpu = &worker->gpu,
                               .point = point,
                               .buffers = buffers,
                               .iterations = iterations,
                               .results = worker->arena.results,
                               .checked = checked,
                               .seed = worker->job.seed,
                               .stream = worker->device.stream};
    int code = worker->entry->code->launch(&launch);
    if (code != 0)
        return ub_fail(err, UB_INCOMPLETE, "launch: %s (%d)", ub_runtime_error_name(code), code);
    return true;
}

bool ub_task_refused(struct ub_task *task)
{
    struct ub_worker *worker = task->worker;
    const struct ub_micro *micro = worker->entry->micro;
    const char *wanted = micro->refusal ? micro->refusal(&worker->gpu, task->point) : NULL;
    if (!wanted)
        return false;
    struct ub_error err = {0};
    struct ub_launch launch = {.gpu = &worker->gpu,
                               .point = task->point,
                               .buffers = &task->buffers,
                               .iterations = 1,
                               .results = worker->arena.results,
                               .seed = worker->job.seed,
                               .stream = worker->device.stream};
    const int code = worker->entry->code->launch(&launch);
    const char *name = code != 0 ? ub_runtime_error_name(code) : "no error";
    char reason[200];
    snprintf(reason, sizeof reason, "refused: %s (%d), as the law says", name, code);
    if (strcmp(name, wanted) == 0) {
        ub_task_end(task, "verify", UB_POINT_SKIPPED, reason);
    } else {
        ub_fail(&err, UB_INCOMPLETE, "launch: %s (%d), but the law says that %s refuses it", name, code, wanted);
        ub_task_fail(task, "verify", &err);
    }
    return true;
}

static bool enqueue(void *user, uint64_t iterations, struct ub_error *err)
{
    struct ub_task *task = user;
    return ub_task_launch(task, task->point, &task->buffers, iterations, false, err);
}

/* ---- set-up --------------------------------------------------------------- */

/* What verification needs as well: the small instance has to fit beside. */
static struct ub_region_sizes need_of(const struct ub_task *task)
{
    const struct ub_worker *worker = task->worker;
    const struct ub_micro *micro = worker->entry->micro;
    struct ub_region_sizes need = ub_region_need(&task->footprint);
    struct ub_point small;
    if (micro->small(&worker->gpu, task->point, &small)) {
        struct ub_footprint footprint = {0};
        micro->footprint(&worker->gpu, &small, &footprint);
        struct ub_region_sizes small_need = ub_region_need(&footprint);
        ub_region_max(&need, &small_need);
    }
    return need;
}

static void skip_too_large(struct ub_task *task, uint64_t need, uint64_t free_bytes)
{
    char reason[160];
    char wanted[32];
    char there[32];
    ub_format_bytes((double)need, wanted, sizeof wanted);
    ub_format_bytes((double)free_bytes, there, sizeof there);
    snprintf(reason, sizeof reason, "needs %s of GPU memory and 256 MiB to spare, %s are free", wanted, there);
    ub_task_end(task, "verify", UB_POINT_SKIPPED, reason);
}

/* Twice the L2, so that no line of before is left whatever the replacement. */
static uint64_t flush_bytes(const struct ub_worker *worker)
{
    return worker->gpu.l2_bytes ? 2 * worker->gpu.l2_bytes : 256u << 20;
}

/* Points that do not fit alone are skipped. Those that do not fit beside the ones before
 * are left: they stay pending, and the parent starts another worker for them. */
static struct ub_region_sizes size_arena(struct ub_worker *worker)
{
    struct ub_region_sizes sizes = {.flush_bytes = worker->job.cold ? flush_bytes(worker) : 0};
    for (size_t i = 0; i < worker->task_count; i++) {
        struct ub_task *task = &worker->tasks[i];
        struct ub_region_sizes alone = need_of(task);
        struct ub_region_sizes together = sizes;
        uint64_t free_bytes = 0;
        alone.flush_bytes = sizes.flush_bytes;
        ub_region_max(&together, &alone);
        if (!task->alive)
            continue;
        if (!ub_memory_fits(&worker->device, ub_region_total(&alone), &free_bytes))
            skip_too_large(task, ub_region_total(&alone), free_bytes);
        else if (!ub_memory_fits(&worker->device, ub_region_total(&together), &free_bytes))
            task->alive = false;
        else
            sizes = together;
    }
    return sizes;
}

static uint64_t footprint_bytes(const struct ub_task *task)
{
    struct ub_region_sizes need = ub_region_need(&task->footprint);
    return ub_region_total(&need);
}

/* Fails the tasks with the largest footprint; false: there is none left. */
static bool drop_largest(struct ub_worker *worker, const struct ub_error *err)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < worker->task_count; i++)
        if (worker->tasks[i].alive && footprint_bytes(&worker->tasks[i]) > largest)
            largest = footprint_bytes(&worker->tasks[i]);
    for (size_t i = 0; i < worker->task_count; i++)
        if (worker->tasks[i].alive && footprint_bytes(&worker->tasks[i]) == largest)
            ub_task_end(&worker->tasks[i], "verify", UB_POINT_SKIPPED, err->text);
    for (size_t i = 0; i < worker->task_count; i++)
        if (worker->tasks[i].alive)
            return true;
    return false;
}

/* False with an empty text: no point is left, and each has said why. */
static bool open_arena(struct ub_worker *worker, struct ub_error *err)
{
    for (;;) {
        struct ub_region_sizes sizes = size_arena(worker);
        if (ub_arena_open(&worker->arena, &worker->device, &sizes, worker->job.seed, err))
            return true;
        bool smaller_may_do = worker->arena.out_of_memory;
        ub_arena_close(&worker->arena);
        if (!smaller_may_do)
            return false;
        bool left = drop_largest(worker, err);
        err->text[0] = 0;
        if (!left)
            return false;
    }
}

static bool make_tasks(struct ub_worker *worker, struct ub_error *err)
{
    worker->task_count = worker->job.point_count;
    worker->tasks = calloc(worker->task_count ? worker->task_count : 1, sizeof *worker->tasks);
    if (!worker->tasks)
        return ub_fail(err, UB_INTERNAL, "out of memory");
    for (size_t i = 0; i < worker->task_count; i++) {
        struct ub_task *task = &worker->tasks[i];
        *task = (struct ub_task){
            .worker = worker, .index = worker->job.indices[i], .point = &worker->job.points[i], .alive = true};
        worker->entry->micro->footprint(&worker->gpu, task->point, &task->footprint);
        task->timed =
            (struct ub_timed){.timer = worker->entry->micro->timer(task->point), .enqueue = enqueue, .user = task};
    }
    return true;
}

static void carve_tasks(struct ub_worker *worker)
{
    for (size_t i = 0; i < worker->task_count; i++) {
        struct ub_task *task = &worker->tasks[i];
        if (task->alive && !ub_arena_carve(&worker->arena, &task->footprint, &task->buffers))
            ub_task_end(task, "verify", UB_POINT_FAILED, "the arena is smaller than the footprint");
    }
}

static void close_worker(struct ub_worker *worker)
{
    for (size_t i = 0; i < worker->task_count; i++) {
        ub_timed_close(&worker->kit, &worker->tasks[i].timed);
        free(worker->tasks[i].sample_times);
        free(worker->tasks[i].sample_clocks);
    }
    free(worker->tasks);
    if (worker->kit.device)
        ub_timer_close(&worker->kit);
    ub_arena_close(&worker->arena);
    ub_device_close(&worker->device);
    struct ub_record owner = {.device = worker->device.info};
    ub_record_free(&owner);
    ub_job_free(&worker->job);
}

static void say_device(struct ub_worker *worker)
{
    ub_worker_say(worker, &(struct ub_line){.type = UB_LINE_DEVICE, .point = -1, .device = worker->device.info});
}

/* Who is there, and (if the job names keys) whether its counters can be read. */
static bool probe(struct ub_worker *worker, struct ub_error *err)
{
    char text[64];
    struct ub_error why = {0};
    if (!ub_device_describe(&worker->device, worker->job.device, err))
        return false;
    say_device(worker);
    snprintf(text, sizeof text, "%d", ub_device_other_processes(&worker->device));
    ub_worker_warn(worker, -1, "processes", text);
    if (worker->job.key_count == 0)
        return true;
    struct ub_record described = {.device = worker->device.info}; /* described a second time below */
    ub_record_free(&described);
    ub_device_info_init(&worker->device.info);
    bool ok = ub_device_open(&worker->device, worker->job.device, &why) &&
              ub_counters.probe(worker->device.ordinal, worker->device.context, text, sizeof text, &why);
    ub_worker_warn(worker, -1, ok ? "counters" : "no-counters", ok ? text : why.text);
    return true;
}

static bool open_worker(struct ub_worker *worker, struct ub_error *err)
{
    if (worker->job.kind == UB_JOB_PROBE)
        return probe(worker, err);
    worker->entry = ub_registry_find(worker->job.rule, err);
    if (!worker->entry)
        return false;
    if (!worker->entry->code || ub_runtime_version() == 0)
        return ub_fail(err, UB_NO_DEVICE,
                       "this build has no kernels (it was made without nvcc): it predicts, but cannot measure; build "
                       "it with the CUDA Toolkit, or use --device model:h200");
    if (!ub_device_open(&worker->device, worker->job.device, err))
        return false;
    struct ub_record about = {.device = worker->device.info};
    ub_gpu_of_record(&about, &worker->gpu);
    say_device(worker);
    return make_tasks(worker, err);
}

static void launch_all(struct ub_worker *worker)
{
    for (size_t i = 0; i < worker->task_count && !worker->broken; i++) {
        struct ub_task *task = &worker->tasks[i];
        struct ub_error err = {0};
        if (!task->alive)
            continue;
        ub_worker_start(worker, task, "launch");
        if (ub_task_refused(task))
            continue;
        if (ub_task_launch(task, task->point, &task->buffers, 1, false, &err) &&
            ub_device_synchronize(&worker->device, "kernel", &err))
            ub_task_end(task, "launch", UB_POINT_OK, NULL);
        else
            ub_task_fail(task, "launch", &err);
    }
}

static bool do_job(struct ub_worker *worker, struct ub_error *err)
{
    if (!open_worker(worker, err))
        return false;
    if (worker->job.kind == UB_JOB_PROBE)
        return true;
    if (!open_arena(worker, err))
        return err->text[0] == 0;
    carve_tasks(worker);
    if (!ub_timer_open(&worker->kit, &worker->device, &worker->arena, err))
        return false;
    worker->kit.cold = worker->job.cold;
    if (worker->job.kind == UB_JOB_COUNT) {
        ub_count(worker);
        return true;
    }
    if (worker->job.kind == UB_JOB_LAUNCH) {
        launch_all(worker);
        return true;
    }
    if (!ub_calibrate(worker, err))
        return false;
    ub_measure(worker);
    return true;
}

enum ub_status ub_worker_main(FILE *job, FILE *lines)
{
    struct ub_error err = {0};
    struct ub_worker worker = {.lines = lines};
    bool ok = ub_job_read(job, &worker.job, &err) && do_job(&worker, &err);
    if (!ok)
        ub_worker_say(
            &worker,
            &(struct ub_line){.type = UB_LINE_ERROR, .point = -1, .status_code = (int)err.status, .text = err.text});
    else if (!worker.broken)
        ub_worker_say(&worker, &(struct ub_line){.type = UB_LINE_END, .point = -1});
    if (!worker.broken)
        close_worker(&worker);
    return ok ? UB_OK : err.status;
}
