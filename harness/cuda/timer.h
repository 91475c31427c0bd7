/* SPDX-License-Identifier: MIT
 *
 * Timing of one launch (harness.md 1.3). Event timer: K launches as one CUDA
 * graph between two events, with the SM clock stamped on either side. SM-clock
 * timer: the kernel counts its own cycles for N and 2N iterations; the slope is
 * the time of one. Host timer: launch and wait K times one after the other, seen from
 * the CPU; each is waited for before the next. */
#ifndef UB_CUDA_TIMER_H
#define UB_CUDA_TIMER_H

#include "harness/cuda/buffer.h"

/* A launch that can be repeated: enqueues one launch of `iterations` on the stream. */
typedef bool (*ub_enqueue)(void *user, uint64_t iterations, struct ub_error *err);

struct ub_timer_kit {
    struct ub_device *device;
    struct ub_arena *arena;
    void *before, *after; /* events */
    bool cold;            /* the caches are flushed before each launch that is timed */
};

struct ub_timed {
    enum ub_timer timer;
    ub_enqueue enqueue;
    void *user;
    int batch;           /* launches per sample (event, host) */
    uint64_t iterations; /* N (sm_clock) */
    void *graph;         /* executable graph of `batch` launches */
    void *warm_graph;    /* a shorter one, replayed untimed before each sample */
};

bool ub_timer_open(struct ub_timer_kit *kit, struct ub_device *device, struct ub_arena *arena, struct ub_error *err);
void ub_timer_close(struct ub_timer_kit *kit);

/* Chooses batch (or N) so that a sample lasts at least `min_sample_ns`, and builds
 * the graph. Cold: batch 1. Runs the launch a few times. */
bool ub_timed_open(struct ub_timer_kit *kit, struct ub_timed *timed, double min_sample_ns, struct ub_error *err);
void ub_timed_close(struct ub_timer_kit *kit, struct ub_timed *timed);

/* One sample: an untimed replay to warm up again (cold: a flush instead), then a timed one. */
bool ub_timed_sample(struct ub_timer_kit *kit, struct ub_timed *timed, struct ub_sample *sample, struct ub_error *err);

/* One replay between two events without stamps, ns (calibration). */
bool ub_timed_events(struct ub_timer_kit *kit, struct ub_timed *timed, double *time_ns, struct ub_error *err);

#endif
