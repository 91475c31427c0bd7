/* SPDX-License-Identifier: MIT
 *
 * `ubench doctor`: what works here, what does not, and the fix. Each line is one
 * check. The exit code is 0 whatever is missing: ubench goes on with what there is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/options.h"
#include "harness/cli/target.h"
#include "harness/contract/counters.h"
#include "harness/engine/run.h"
#include "plots/render.h"
#include "ub_version.h"

enum verdict { FINE, MISSING, REMARK };

static void say(enum verdict verdict, const char *what, const char *text)
{
    static const char *const words[] = {"ok", "MISSING", "note"};
    printf("%-8s%-14s%s\n", words[verdict], what, text);
}

static void check_build(void)
{
    char text[256];
    if (UB_NVCC[0]) {
        snprintf(text, sizeof text, "kernels by nvcc %s for %s", UB_NVCC, UB_ARCHS);
        say(FINE, "build", text);
    } else {
        say(MISSING, "build", "made without nvcc: predicts, but cannot measure; build it with the CUDA Toolkit");
    }
}

static void check_gpu(const struct ub_target *target)
{
    const struct ub_device_info *device = &target->device;
    char text[512];
    snprintf(text, sizeof text, "GPU %d: %s, compute capability %d.%d, %s", target->ordinal,
             device->name ? device->name : "?", device->cc_major, device->cc_minor, target->gpu.source);
    say(FINE, "GPU", text);
    snprintf(text, sizeof text, "%s", device->driver ? device->driver : "version unknown");
    say(FINE, "driver", text);
    if (device->throttle_reasons && device->throttle_reasons[0]) {
        snprintf(text, sizeof text, "the clock is held down: %s", device->throttle_reasons);
        say(REMARK, "clock", text);
    }
    if (device->mig == 1)
        say(REMARK, "MIG", "is on: a slice of the card is measured");
}

/* Counters need a context, so a worker finds out. */
static void check_counters(int ordinal)
{
    struct ub_error err = {0};
    struct ub_probe probe = {0};
    char text[512];
    if (!ub_counters.library(text, sizeof text, &err)) {
        say(MISSING, "CUPTI", err.text);
        return;
    }
    say(FINE, "CUPTI", text);
    if (ordinal < 0 || !ub_run_probe(ordinal, true, &probe, &err))
        return;
    snprintf(text, sizeof text, "can be read (chip %.400s)", probe.counters_text);
    say(probe.counters ? FINE : MISSING, "counters", probe.counters ? text : probe.counters_text);
    struct ub_record owner = {.device = probe.device};
    ub_record_free(&owner);
}

static void check_processes(int others)
{
    char text[128];
    if (others < 0) {
        say(REMARK, "processes", "NVML does not say whether other processes use the GPU");
    } else if (others > 0) {
        snprintf(text, sizeof text, "%d other process%s on the GPU: times and DRAM counters will be disturbed", others,
                 others == 1 ? " is" : "es are");
        say(REMARK, "processes", text);
    } else {
        say(FINE, "processes", "no other process uses the GPU");
    }
}

static void check_gnuplot(void)
{
    char text[256];
    struct ub_error err = {0};
    if (ub_gnuplot_version(text, sizeof text, &err))
        say(FINE, "gnuplot", text);
    else
        say(MISSING, "gnuplot", err.text);
}

enum ub_status ub_cmd_doctor(struct ub_options *options, struct ub_error *err)
{
    struct ub_targets targets;
    check_build();
    bool found = ub_targets_resolve(options->device ? options->device : "all", &targets, err);
    enum ub_status status = found || !options->device ? UB_OK : err->status;
    if (!found && options->device) {
        ub_targets_free(&targets);
        return status;
    }
    if (!found)
        say(MISSING, "GPU", err->text);
    err->text[0] = 0;
    for (size_t i = 0; found && i < targets.count; i++) {
        if (!targets.items[i].measured)
            continue;
        check_gpu(&targets.items[i]);
        check_processes(targets.items[i].other_processes);
    }
    check_counters(found && targets.items[0].measured ? targets.items[0].ordinal : -1);
    check_gnuplot();
    ub_targets_free(&targets);
    return status;
}
