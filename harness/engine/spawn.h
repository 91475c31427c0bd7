/* SPDX-License-Identifier: MIT
 *
 * A worker as a child process: this same binary with the hidden verb `__worker`,
 * its job on standard input, its journal lines on file descriptor 3. It dies with
 * its parent. */
#ifndef UB_ENGINE_SPAWN_H
#define UB_ENGINE_SPAWN_H

#include <stddef.h>
#include <sys/types.h>

#include "harness/io/journal.h"

enum { UB_WORKER_LINES_FD = 3 };

struct ub_child {
    pid_t pid; /* 0: none */
    int lines; /* pipe end */
    int job;   /* pipe end until the job is sent, else -1 */
    char *buffer;
    size_t used, capacity;
};

enum ub_child_event {
    UB_CHILD_LINE,  /* *line is filled (ub_line_free) */
    UB_CHILD_QUIET, /* nothing within the time asked */
    UB_CHILD_ENDED, /* the pipe was closed: reap it */
    UB_CHILD_INTERRUPTED
};

/* Starts a worker that waits for its job. `kind` (or NULL) lets it prepare: "count" loads
 * the counter library. */
bool ub_child_spawn(struct ub_child *child, const char *kind, struct ub_error *err);
bool ub_child_send(struct ub_child *child, const struct ub_job *job, struct ub_error *err);
/* Both. */
bool ub_child_start(struct ub_child *child, const char *kind, const struct ub_job *job, struct ub_error *err);
enum ub_child_event ub_child_next(struct ub_child *child, int timeout_ms, struct ub_line *line);
/* Waits for the end (after `kill`, if asked) and says how it ended: "exit code 3", "signal 11 (Segmentation fault)".
 * Returns its exit code, or -1 for a signal. */
int ub_child_reap(struct ub_child *child, bool kill_it, char *how, size_t size);

#endif
