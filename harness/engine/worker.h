/* SPDX-License-Identifier: MIT
 *
 * The worker: the process that touches the GPU. It reads one job (io/journal.h)
 * and answers in journal lines. A hang or a sticky error costs only this process. */
#ifndef UB_ENGINE_WORKER_H
#define UB_ENGINE_WORKER_H

#include <stdio.h>

#include "harness/contract/error.h"

/* How the reason of a point begins whose kernel computed something else than it should:
 * the exit code 6 of a run follows from it. */
#define UB_WRONG_ANSWER_WORDS "wrong answer"

/* Does the job; returns the exit code. What goes wrong is also said in a line. */
enum ub_status ub_worker_main(FILE *job, FILE *lines);

#endif
