/* SPDX-License-Identifier: MIT
 *
 * One run at a time on a GPU: two would disturb each other's times, and the
 * counters are exclusive. A lock file a GPU in /tmp (UBENCH_LOCK_DIR names another folder); the kernel
 * drops the lock when its holder ends, however it ends. */
#ifndef UB_ENGINE_LOCK_H
#define UB_ENGINE_LOCK_H

#include "harness/contract/error.h"

struct ub_lock {
    int file; /* -1: not held */
};

/* Tries once. True: held, or (with a warning text in err) no lock file can be made:
 * then nothing is locked. False: another run holds it. */
bool ub_lock_try(struct ub_lock *lock, const char *gpu, struct ub_error *err);
void ub_lock_drop(struct ub_lock *lock);

#endif
