/* SPDX-License-Identifier: MIT */
#include "harness/cuda/timer.h"

#include <math.h>
#include <time.h>

#include "harness/cuda/runtime.h"

enum { CAPTURE_THREAD_LOCAL = 1, MAX_BATCH = 4096, HOST_TRIALS = 5 };
/* The untimed replay fills the caches with this point's data and hides the host's launch
 * latency; more would only cost time. */
static const double WARM_NS = 1e5;
static const uint64_t MIN_ITERATIONS = 256;
static const uint64_t MAX_ITERATIONS = 1u << 22;

static bool call(struct ub_timer_kit *kit, int code, const char *what, struct ub_error *err)
{
    return code == 0 || ub_api_fail(&kit->device->api, code, what, err);
}

bool ub_timer_open(struct ub_timer_kit *kit, struct ub_device *device, struct ub_arena *arena, struct ub_error *err)
{
    *kit = (struct ub_timer_kit){.device = device, .arena = arena};
    return call(kit, device->api.event_create(&kit->before, 0), "cuEventCreate", err) &&
           call(kit, device->api.event_create(&kit->after, 0), "cuEventCreate", err);
}

void ub_timer_close(struct ub_timer_kit *kit)
{
    if (kit->before)
        kit->device->api.event_destroy(kit->before);
    if (kit->after)
        kit->device->api.event_destroy(kit->after);
    *kit = (struct ub_timer_kit){0};
}

static bool capture(struct ub_timer_kit *kit, struct ub_timed *timed, int launches, void **executable,
                    struct ub_error *err)
{
    struct ub_api *api = &kit->device->api;
    void *graph = NULL;
    if (!call(kit, api->capture_begin(kit->device->stream, CAPTURE_THREAD_LOCAL), "cuStreamBeginCapture", err))
        return false;
    bool ok = true;
    for (int i = 0; i < launches && ok; i++)
        ok = timed->enqueue(timed->user, 1, err);
    /* The capture must end even if a launch failed, or the stream stays unusable. */
    int code = api->capture_end(kit->device->stream, &graph);
    ok = ok && call(kit, code, "cuStreamEndCapture", err) &&
         call(kit, api->graph_instantiate(executable, graph, 0), "cuGraphInstantiate", err);
    if (graph)
        api->graph_destroy(graph);
    return ok;
}

bool ub_timed_events(struct ub_timer_kit *kit, struct ub_timed *timed, double *time_ns, struct ub_error *err)
{
    struct ub_api *api = &kit->device->api;
    void *stream = kit->device->stream;
    float milliseconds = 0;
    if (!call(kit, api->event_record(kit->before, stream), "cuEventRecord", err) ||
        (timed->graph && !call(kit, api->graph_launch(timed->graph, stream), "cuGraphLaunch", err)) ||
        (!timed->graph && timed->enqueue && !timed->enqueue(timed->user, 1, err)) ||
        !call(kit, api->event_record(kit->after, stream), "cuEventRecord", err) ||
        !ub_device_synchronize(kit->device, "kernel", err) ||
        !call(kit, api->event_elapsed_ms(&milliseconds, kit->before, kit->after), "cuEventElapsedTime", err))
        return false;
    *time_ns = (double)milliseconds * 1e6;
    return true;
}

static double host_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Cycles that the kernel counted for `iterations`. */
static bool clocked(struct ub_timer_kit *kit, struct ub_timed *timed, uint64_t iterations, double *cycles,
                    struct ub_error *err)
{
    unsigned long long results[UB_RESULT_WORDS];
    if ((kit->cold && !ub_arena_flush(kit->arena, err)) || !ub_results_clear(kit->arena, err) ||
        !timed->enqueue(timed->user, iterations, err) || !ub_results_read(kit->arena, results, err))
        return false;
    *cycles = (double)results[UB_RESULT_CYCLES];
    return true;
}

/* Launches that last about `wanted_ns`, if one lasts `launch_ns`. */
static int launches_for(double wanted_ns, double launch_ns)
{
    double launches = launch_ns > 0 ? ceil(wanted_ns / launch_ns) : MAX_BATCH;
    return launches < 1 ? 1 : launches > MAX_BATCH ? MAX_BATCH : (int)launches;
}

static bool open_event(struct ub_timer_kit *kit, struct ub_timed *timed, double min_sample_ns, struct ub_error *err)
{
    const bool cold = kit->cold;
    double time_ns = 0;
    /* The second launch counts: the first pays for loading the module. */
    for (int i = 0; i < 2; i++)
        if (!ub_timed_events(kit, timed, &time_ns, err))
            return false;
    timed->batch = cold ? 1 : launches_for(min_sample_ns, time_ns);
    /* The event pair round one launch holds microseconds of overhead: for short kernels
     * only the graph itself says how long a launch is. */
    for (;;) {
        if (!capture(kit, timed, timed->batch, &timed->graph, err))
            return false;
        if (!ub_timed_events(kit, timed, &time_ns, err) || !ub_timed_events(kit, timed, &time_ns, err))
            return false;
        if (cold || timed->batch == MAX_BATCH || time_ns >= 0.9 * min_sample_ns)
            break;
        int longer = launches_for(min_sample_ns, 0.95 * time_ns / timed->batch);
        ub_timed_close(kit, timed);
        timed->batch = longer > timed->batch ? longer : timed->batch + 1;
    }
    int warm = launches_for(WARM_NS, time_ns / timed->batch);
    return cold || capture(kit, timed, warm < timed->batch ? warm : timed->batch, &timed->warm_graph, err);
}

static bool open_clock(struct ub_timer_kit *kit, struct ub_timed *timed, double min_sample_ns, struct ub_error *err)
{
    /* At about 1 GHz or more, cycles >= ns. */
    for (timed->iterations = MIN_ITERATIONS; timed->iterations < MAX_ITERATIONS; timed->iterations *= 2) {
        double cycles = 0;
        if (!clocked(kit, timed, timed->iterations, &cycles, err))
            return false;
        if (cycles >= min_sample_ns / 10)
            break;
    }
    return true;
}

/* `launches` of them, each of which is waited for; ns of one. */
static bool waited(struct ub_timer_kit *kit, struct ub_timed *timed, int launches, double *time_ns,
                   struct ub_error *err)
{
    const double start = host_now_ns();
    for (int i = 0; i < launches; i++)
        if (!timed->enqueue(timed->user, 1, err) || !ub_device_synchronize(kit->device, "kernel", err))
            return false;
    *time_ns = (host_now_ns() - start) / launches;
    return true;
}

/* The shortest counts: the first pays for loading the module, and any may be interrupted. */
static bool open_host(struct ub_timer_kit *kit, struct ub_timed *timed, double min_sample_ns, struct ub_error *err)
{
    double shortest_ns = INFINITY;
    for (int i = 0; i < HOST_TRIALS; i++) {
        double time_ns = 0;
        if (!waited(kit, timed, 1, &time_ns, err))
            return false;
        shortest_ns = fmin(shortest_ns, time_ns);
    }
    timed->batch = kit->cold ? 1 : launches_for(min_sample_ns, shortest_ns);
    return true;
}

bool ub_timed_open(struct ub_timer_kit *kit, struct ub_timed *timed, double min_sample_ns, struct ub_error *err)
{
    timed->batch = 1;
    timed->iterations = 1;
    if (timed->timer == UB_TIMER_EVENT)
        return open_event(kit, timed, min_sample_ns, err);
    if (timed->timer == UB_TIMER_SM_CLOCK)
        return open_clock(kit, timed, min_sample_ns, err);
    return open_host(kit, timed, min_sample_ns, err);
}

void ub_timed_close(struct ub_timer_kit *kit, struct ub_timed *timed)
{
    if (timed->graph)
        kit->device->api.graph_exec_destroy(timed->graph);
    if (timed->warm_graph)
        kit->device->api.graph_exec_destroy(timed->warm_graph);
    timed->graph = timed->warm_graph = NULL;
}

static bool stamp(struct ub_timer_kit *kit, unsigned long long *where, struct ub_error *err)
{
    /* A stamp that did not come to SM 0 must not show the one of before. */
    int code =
        kit->device->api.set_async((ub_device_pointer)(uintptr_t)where, 0, 2 * sizeof *where, kit->device->stream);
    if (code != 0)
        return ub_api_fail(&kit->device->api, code, "cuMemsetD8Async", err);
    code = ub_runtime_stamp(where, kit->device->sms, kit->device->stream);
    return code == 0 || ub_fail(err, UB_INCOMPLETE, "clock stamp: %s", ub_runtime_error_name(code));
}

/* SM clock between the two stamps, MHz; NaN where the stamps say nothing sensible. */
static bool stamped_clock(struct ub_timer_kit *kit, double *mhz, struct ub_error *err)
{
    unsigned long long stamps[4];
    if (!call(kit,
              kit->device->api.copy_to_host(stamps, (ub_device_pointer)(uintptr_t)kit->arena->stamps, sizeof stamps),
              "cuMemcpyDtoH", err))
        return false;
    double cycles = (double)(stamps[2] - stamps[0]);
    double ns = (double)(stamps[3] - stamps[1]);
    bool both = stamps[0] > 0 && stamps[2] > stamps[0] && stamps[3] > stamps[1];
    *mhz = both ? cycles / ns * 1e3 : NAN;
    return true;
}

static bool before_sample(struct ub_timer_kit *kit, struct ub_timed *timed, struct ub_error *err)
{
    if (kit->cold)
        return ub_arena_flush(kit->arena, err);
    return call(kit, kit->device->api.graph_launch(timed->warm_graph, kit->device->stream), "cuGraphLaunch", err);
}

static bool sample_event(struct ub_timer_kit *kit, struct ub_timed *timed, struct ub_sample *sample,
                         struct ub_error *err)
{
    struct ub_api *api = &kit->device->api;
    double time_ns = 0;
    /* All is queued while the untimed replay runs, so the host's launch latency is hidden. */
    if (!before_sample(kit, timed, err) || !stamp(kit, kit->arena->stamps, err) ||
        !call(kit, api->event_record(kit->before, kit->device->stream), "cuEventRecord", err) ||
        !call(kit, api->graph_launch(timed->graph, kit->device->stream), "cuGraphLaunch", err) ||
        !call(kit, api->event_record(kit->after, kit->device->stream), "cuEventRecord", err) ||
        !stamp(kit, kit->arena->stamps + 2, err) || !ub_device_synchronize(kit->device, "kernel", err))
        return false;
    float milliseconds = 0;
    if (!call(kit, api->event_elapsed_ms(&milliseconds, kit->before, kit->after), "cuEventElapsedTime", err))
        return false;
    time_ns = (double)milliseconds * 1e6;
    sample->time_ns = time_ns / timed->batch;
    return stamped_clock(kit, &sample->clock_mhz, err);
}

static bool sample_clock(struct ub_timer_kit *kit, struct ub_timed *timed, struct ub_sample *sample,
                         struct ub_error *err)
{
    double once = 0;
    double twice = 0;
    if (!stamp(kit, kit->arena->stamps, err) || !clocked(kit, timed, timed->iterations, &once, err) ||
        !clocked(kit, timed, 2 * timed->iterations, &twice, err) || !stamp(kit, kit->arena->stamps + 2, err) ||
        !ub_device_synchronize(kit->device, "kernel", err) || !stamped_clock(kit, &sample->clock_mhz, err))
        return false;
    double cycles = (twice - once) / (double)timed->iterations;
    sample->time_ns = cycles / sample->clock_mhz * 1e3;
    return true;
}

static bool sample_host(struct ub_timer_kit *kit, struct ub_timed *timed, struct ub_sample *sample,
                        struct ub_error *err)
{
    double warm_ns = 0;
    if (kit->cold ? !ub_arena_flush(kit->arena, err) || !ub_device_synchronize(kit->device, "flush", err)
                  : !waited(kit, timed, 1, &warm_ns, err))
        return false;
    if (!waited(kit, timed, timed->batch, &sample->time_ns, err))
        return false;
    sample->clock_mhz = NAN;
    return true;
}

bool ub_timed_sample(struct ub_timer_kit *kit, struct ub_timed *timed, struct ub_sample *sample, struct ub_error *err)
{
    *sample = (struct ub_sample){0};
    switch (timed->timer) {
    case UB_TIMER_EVENT:
        return sample_event(kit, timed, sample, err);
    case UB_TIMER_SM_CLOCK:
        return sample_clock(kit, timed, sample, err);
    case UB_TIMER_HOST:
        return sample_host(kit, timed, sample, err);
    }
    return ub_fail(err, UB_INTERNAL, "unknown timer %d", (int)timed->timer);
}
