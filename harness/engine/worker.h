/* SPDX-License-Identifier: MIT
 *
 * The worker: the process that touches the GPU. It reads one job (io/journal.h)
 * and answers in journal lines. A hang or a sticky error costs only this process. */
#ifndef UB_ENGINE_WORKER_H
#define UB_ENGINE_WORKER_H

#include <stdio.h>

#include "harness/contract/error.h"

/* Does the job; returns the exit code. What goes wrong is also said in a line. */
enum ub_status ub_worker_main(FILE *job, FILE *lines);

#endif
