/* SPDX-License-Identifier: MIT
 *
 * The GPU as CUPTI sees it: asked in an order in which nothing can crash.
 * Without a driver cuptiDeviceGetChipName and cuptiProfilerGetCounterAvailability
 * do not fail, they fault; so the driver is asked first, through a libcuda that
 * is opened here. The counter availability image is the proof that this process
 * may read counters: the calls that enable profiling succeed without the right. */
#ifndef UB_CUPTI_TARGET_H
#define UB_CUPTI_TARGET_H

#include "cupti/library.h"

struct ub_cupti_target {
    char chip[32];         /* "GH100"; "" until it is known */
    char driver[48];       /* "driver for CUDA 13.0" */
    uint8_t *availability; /* owned: what this GPU, driver and process give */
};

/* `context` is the current context of CUDA device `device`. Fails with
 * UB_NO_COUNTERS (no driver, platform, permission, another tool) and the fix;
 * `target` is to be closed either way, and holds the chip if it came so far. */
bool ub_cupti_target_open(struct ub_cupti_target *target, struct ub_cupti *cupti, int device, CUcontext context,
                          struct ub_error *err);
void ub_cupti_target_close(struct ub_cupti_target *target);

#endif
