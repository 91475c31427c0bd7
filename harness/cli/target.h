/* SPDX-License-Identifier: MIT
 *
 * What `--device` means: a GPU of this machine to measure, or a card of the model
 * table (or of one's own file) to predict. */
#ifndef UB_CLI_TARGET_H
#define UB_CLI_TARGET_H

#include "harness/cli/options.h"
#include "harness/contract/record.h"
#include "harness/io/gpu_file.h"
#include "harness/model/gpu.h"

enum { UB_MAX_TARGETS = 64 };

struct ub_target {
    bool measured;
    int ordinal;                  /* measured */
    struct ub_device_info device; /* owned; of a predicted card: from its row */
    int other_processes;          /* measured; -1: unknown */
    struct ub_gpu gpu;
    struct ub_gpu_file file; /* model:FILE */
};

struct ub_targets {
    size_t count;
    struct ub_target items[UB_MAX_TARGETS];
    char note[1200]; /* to be said once: why this predicts although nobody asked; "" */
};

/* Resolves `device` (NULL: the first GPU, or a prediction for an H200 where there is
 * none). UB_NO_DEVICE where a GPU was asked for that is not usable; UB_USAGE with a
 * suggestion for an unknown model. */
bool ub_targets_resolve(const char *device, struct ub_targets *targets, struct ub_error *err);
void ub_targets_free(struct ub_targets *targets);

#endif
