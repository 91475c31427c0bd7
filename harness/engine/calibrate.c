/* SPDX-License-Identifier: MIT
 *
 * The instrument measures itself first (harness.md 1.2): what a difference between
 * two event times can resolve, what a launch costs, how fast the card copies. */
#include <math.h>
#include <string.h>

#include "harness/contract/record.h"
#include "harness/cuda/runtime.h"
#include "harness/engine/stats.h"
#include "harness/engine/worker_private.h"

enum { EVENT_PAIRS = 200, COPIES = 12, EMPTY_BATCH = 512 };

static bool say_constant(struct ub_worker *worker, const char *name, const double *values, size_t n, double scale,
                         const char *unit, const char *origin, struct ub_error *err)
{
    struct ub_summary summary;
    struct ub_constants one = {0};
    ub_summarise(values, n, 0, &summary);
    double lo = isnan(summary.ci_lo) ? summary.median : summary.ci_lo;
    double hi = isnan(summary.ci_hi) ? summary.median : summary.ci_hi;
    ub_constant_set(&one, name, summary.median * scale, lo * scale, hi * scale, unit, "%s", origin);
    struct ub_line line = {.type = UB_LINE_CONSTANT, .point = -1, .constant = one.items[0]};
    return ub_worker_say(worker, &line) || ub_fail(err, UB_INTERNAL, "the parent has gone");
}

/* Smallest step between distinct event times; their median is the overhead. */
static bool event_pairs(struct ub_worker *worker, struct ub_error *err)
{
    double times[EVENT_PAIRS];
    double tick = INFINITY;
    struct ub_timed nothing = {.timer = UB_TIMER_EVENT};
    for (size_t i = 0; i < EVENT_PAIRS; i++)
        if (!ub_timed_events(&worker->kit, &nothing, &times[i], err))
            return false;
    for (size_t i = 0; i < EVENT_PAIRS; i++)
        for (size_t j = 0; j < i; j++)
            if (fabs(times[i] - times[j]) > 0.5 && fabs(times[i] - times[j]) < tick)
                tick = fabs(times[i] - times[j]);
    if (!isfinite(tick))
        tick = 0;
    return say_constant(worker, "event_tick_ns", &tick, 1, 1, "ns",
                        "smallest step of 200 empty event pairs in this run", err) &&
           say_constant(worker, "event_overhead_ns", times, EVENT_PAIRS, 1, "ns",
                        "median of 200 empty event pairs in this run", err);
}

static bool enqueue_empty(void *user, uint64_t iterations, struct ub_error *err)
{
    (void)iterations;
    int code = ub_runtime_empty(((struct ub_worker *)user)->device.stream);
    return code == 0 || ub_fail(err, UB_INCOMPLETE, "empty kernel: %s", ub_runtime_error_name(code));
}

static bool graph_node(struct ub_worker *worker, struct ub_error *err)
{
    double times[COPIES];
    struct ub_timed empty = {.timer = UB_TIMER_EVENT, .enqueue = enqueue_empty, .user = worker};
    bool ok = ub_timed_open(&worker->kit, &empty, 1e6, err);
    for (size_t i = 0; i < COPIES && ok; i++) {
        ok = ub_timed_events(&worker->kit, &empty, &times[i], err);
        times[i] /= empty.batch;
    }
    ub_timed_close(&worker->kit, &empty);
    return ok && say_constant(worker, "launch_floor_ns", times, COPIES, 1, "ns",
                              "empty kernels back to back in a graph, in this run", err);
}

static bool globaltimer(struct ub_worker *worker, struct ub_error *err)
{
    unsigned long long words[UB_RESULT_WORDS];
    int code = ub_runtime_globaltimer_tick(worker->arena.results, worker->device.stream);
    if (code != 0)
        return ub_fail(err, UB_INCOMPLETE, "globaltimer: %s", ub_runtime_error_name(code));
    if (!ub_results_read(&worker->arena, words, err))
        return false;
    double tick = (double)words[0];
    return say_constant(worker, "globaltimer_tick_ns", &tick, 1, 1, "ns", "smallest step of %globaltimer in this run",
                        err);
}

/* cudaMemcpy device to device over half the arena each way: bytes read + written. */
static bool memcpy_bandwidth(struct ub_worker *worker, struct ub_error *err)
{
    struct ub_device *device = &worker->device;
    uint64_t bytes = 0;
    uint64_t output_bytes = 0;
    const ub_device_pointer from = ub_arena_region(&worker->arena, UB_DEVICE_MEMORY, UB_REGION_RANDOM, &bytes);
    const ub_device_pointer to = ub_arena_region(&worker->arena, UB_DEVICE_MEMORY, UB_REGION_OUTPUT, &output_bytes);
    if (output_bytes < bytes)
        bytes = output_bytes;
    if (!((double)bytes >= 4 * device->info.l2_bytes))
        return true; /* would measure L2, or its size is not known: say nothing */
    double times[COPIES];
    for (size_t i = 0; i < COPIES; i++) {
        float milliseconds = 0;
        int code = device->api.copy_device_async(to, from, bytes, device->stream);
        if (code == 0)
            code = device->api.event_record(worker->kit.before, device->stream);
        if (code == 0)
            code = device->api.copy_device_async(to, from, bytes, device->stream);
        if (code == 0)
            code = device->api.event_record(worker->kit.after, device->stream);
        if (code == 0)
            code = device->api.stream_synchronize(device->stream);
        if (code == 0)
            code = device->api.event_elapsed_ms(&milliseconds, worker->kit.before, worker->kit.after);
        if (code != 0)
            return ub_api_fail(&device->api, code, "cuMemcpyDtoDAsync", err);
        times[i] = 2.0 * (double)bytes / ((double)milliseconds * 1e-3);
    }
    return say_constant(worker, "memcpy_bandwidth", times, COPIES, 1, "B/s",
                        "cudaMemcpy device to device in this run, bytes read + written", err);
}

bool ub_calibrate(struct ub_worker *worker, struct ub_error *err)
{
    ub_warm_up(worker); /* at an idle clock everything below would be too long */
    return event_pairs(worker, err) && graph_node(worker, err) && globaltimer(worker, err) &&
           memcpy_bandwidth(worker, err);
}
