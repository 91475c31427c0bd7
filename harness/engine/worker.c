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

/* ---- launches --------------------------------------------------------------- */

struct ub_launch ub_task_launch(const struct ub_task *task)
{
    const struct ub_worker *worker = task->worker;
    return (struct ub_launch){.gpu = &worker->gpu,
                              .point = task->point,
                              .buffers = &task->buffers,
                              .iterations = 1,
                              .results = worker->arena.results,
                              .seed = worker->job.seed,
                              .stream = worker->device.stream,
                              .state = task->state};
}

bool ub_launch_enqueue(const struct ub_worker *worker, const struct ub_launch *launch, struct ub_error *err)
{
    int code = worker->entry->code->launch(launch);
    return code == 0 || ub_fail(err, UB_INCOMPLETE, "launch: %s (%d)", ub_runtime_error_name(code), code);
}

static bool enqueue(void *user, uint64_t iterations, struct ub_error *err)
{
    const struct ub_task *task = user;
    struct ub_launch launch = ub_task_launch(task);
    launch.iterations = iterations;
    return ub_launch_enqueue(task->worker, &launch, err);
}

void ub_task_prepare(struct ub_task *task, const char *phase)
{
    const struct ub_code *code = task->worker->entry->code;
    struct ub_launch launch = ub_task_launch(task);
    struct ub_prepared prepared = {0};
    struct ub_error err = {0};
    if (!code->prepare || task->prepared)
        return;
    ub_worker_start(task->worker, task, phase);
    int failed = code->prepare(&launch, &prepared);
    if (failed != 0) {
        ub_fail(&err, UB_INCOMPLETE, "prepare: %s (%d)", ub_runtime_error_name(failed), failed);
        ub_task_fail(task, phase, &err);
    } else if (prepared.skip[0]) {
        ub_task_end(task, phase, UB_POINT_SKIPPED, prepared.skip);
    } else {
        task->prepared = true;
        task->state = prepared.state;
    }
}

void ub_task_release(struct ub_task *task)
{
    if (task->prepared && !task->worker->broken)
        task->worker->entry->code->release(task->state);
    task->prepared = false;
    task->state = NULL;
}

bool ub_task_refused(struct ub_task *task)
{
    struct ub_worker *worker = task->worker;
    const struct ub_micro *micro = worker->entry->micro;
    const char *wanted = micro->refusal ? micro->refusal(&worker->gpu, task->point) : NULL;
    if (!wanted)
        return false;
    struct ub_error err = {0};
    const struct ub_launch launch = ub_task_launch(task);
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

static void skip_too_large(struct ub_task *task, const char *where, uint64_t need, uint64_t free_bytes)
{
    char reason[160];
    char wanted[32];
    char there[32];
    ub_format_bytes((double)need, wanted, sizeof wanted);
    ub_format_bytes((double)free_bytes, there, sizeof there);
    snprintf(reason, sizeof reason, "needs %s of %s memory and 256 MiB to spare, %s are free", wanted, where, there);
    ub_task_end(task, "verify", UB_POINT_SKIPPED, reason);
}

/* Twice the L2, so that no line of before is left whatever the replacement. */
static uint64_t flush_bytes(const struct ub_worker *worker)
{
    return worker->gpu.l2_bytes ? 2 * worker->gpu.l2_bytes : 256u << 20;
}

/* Whether these regions fit on the device and on the host; if not, what lacks. */
static bool fits(struct ub_worker *worker, const struct ub_region_sizes *sizes, const char **where, uint64_t *need,
                 uint64_t *free_bytes)
{
    *where = "GPU";
    *need = ub_region_device_bytes(sizes);
    if (!ub_memory_fits(&worker->device, *need, free_bytes))
        return false;
    *where = "host";
    *need = ub_region_host_bytes(sizes);
    return *need == 0 || ub_host_memory_fits(*need, free_bytes);
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
        const char *where = NULL;
        uint64_t need = 0;
        uint64_t free_bytes = 0;
        alone.flush_bytes = sizes.flush_bytes;
        ub_region_max(&together, &alone);
        if (!task->alive)
            continue;
        if (!fits(worker, &alone, &where, &need, &free_bytes))
            skip_too_large(task, where, need, free_bytes);
        else if (!fits(worker, &together, &where, &need, &free_bytes))
            task->alive = false;
        else
            sizes = together;
    }
    return sizes;
}

static uint64_t footprint_bytes(const struct ub_task *task)
{
    struct ub_region_sizes need = ub_region_need(&task->footprint);
    return ub_region_device_bytes(&need) + ub_region_host_bytes(&need);
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

/* A time on pageable memory is not that of pinned memory: the record has to say so. */
static void warn_not_pinned(const struct ub_task *task)
{
    const struct ub_arena *arena = &task->worker->arena;
    char text[300];
    snprintf(text, sizeof text, "the host's memory could not be pinned (%s): it is pageable at this point",
             arena->not_pinned);
    for (size_t i = 0; i < task->footprint.count && arena->not_pinned[0]; i++)
        if (task->footprint.buffers[i].memory == UB_PINNED_MEMORY) {
            ub_worker_warn(task->worker, task->index, "not-pinned", text);
            return;
        }
}

static void carve_tasks(struct ub_worker *worker)
{
    for (size_t i = 0; i < worker->task_count; i++) {
        struct ub_task *task = &worker->tasks[i];
        if (task->alive && !ub_arena_carve(&worker->arena, &task->footprint, &task->buffers))
            ub_task_end(task, "verify", UB_POINT_FAILED, "the arena is smaller than the footprint");
        else if (task->alive && worker->job.kind == UB_JOB_TIME) /* once, not again for its counters */
            warn_not_pinned(task);
    }
}

static void close_worker(struct ub_worker *worker)
{
    for (size_t i = 0; i < worker->task_count; i++) {
        ub_timed_close(&worker->kit, &worker->tasks[i].timed);
        ub_task_release(&worker->tasks[i]);
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
        ub_task_prepare(task, "launch");
        if (!task->alive)
            continue;
        ub_worker_start(worker, task, "launch");
        if (ub_task_refused(task))
            continue;
        if (enqueue(task, 1, &err) && ub_device_synchronize(&worker->device, "kernel", &err))
            ub_task_end(task, "launch", UB_POINT_OK, NULL);
        else
            ub_task_fail(task, "launch", &err);
        ub_task_release(task);
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
