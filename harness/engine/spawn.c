/* SPDX-License-Identifier: MIT */
#include "harness/engine/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { JOB_PIPE_BYTES = 1 << 20 };

/* In the child: nothing but system calls between fork and exec. */
static void become_worker(int job, int lines, pid_t parent, const char *kind)
{
    signal(SIGINT, SIG_IGN); /* the parent decides what an interrupt means */
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(UB_INTERNAL);
    /* `lines` may be 0 where the caller had closed its standard input: move both away first. */
    int high_job = fcntl(job, F_DUPFD, 10);
    int high_lines = fcntl(lines, F_DUPFD, 10);
    int null = open("/dev/null", O_WRONLY);
    if (high_job < 0 || high_lines < 0 || null < 0 || dup2(high_job, STDIN_FILENO) < 0 ||
        dup2(null, STDOUT_FILENO) < 0 || dup2(high_lines, UB_WORKER_LINES_FD) < 0)
        _exit(UB_INTERNAL);
    close(high_job);
    close(high_lines);
    execl("/proc/self/exe", "ubench", "__worker", kind, (char *)NULL); /* a NULL kind ends the list */
    _exit(UB_INTERNAL);
}

bool ub_child_send(struct ub_child *child, const struct ub_job *job, struct ub_error *err)
{
    FILE *stream = fdopen(child->job, "w");
    if (!stream)
        return ub_fail(err, UB_INTERNAL, "fdopen: %s", strerror(errno));
    child->job = -1;
    bool ok = ub_job_write(stream, job, err);
    if (fclose(stream) != 0 && ok)
        return ub_fail(err, UB_INTERNAL, "the worker does not read its job: %s", strerror(errno));
    return ok;
}

bool ub_child_spawn(struct ub_child *child, const char *kind, struct ub_error *err)
{
    int job_pipe[2];
    int line_pipe[2];
    *child = (struct ub_child){.lines = -1, .job = -1};
    if (pipe2(job_pipe, O_CLOEXEC) != 0)
        return ub_fail(err, UB_INTERNAL, "pipe: %s", strerror(errno));
    if (pipe2(line_pipe, O_CLOEXEC) != 0) {
        close(job_pipe[0]);
        close(job_pipe[1]);
        return ub_fail(err, UB_INTERNAL, "pipe: %s", strerror(errno));
    }
    /* A job of 10,000 points fits in, so that a worker that does not read cannot hold us. */
    fcntl(job_pipe[1], F_SETPIPE_SZ, JOB_PIPE_BYTES);
    pid_t parent = getpid();
    child->pid = fork();
    if (child->pid == 0)
        become_worker(job_pipe[0], line_pipe[1], parent, kind);
    close(job_pipe[0]);
    close(line_pipe[1]);
    child->job = job_pipe[1];
    child->lines = line_pipe[0];
    return child->pid > 0 || ub_fail(err, UB_INTERNAL, "fork: %s", strerror(errno));
}

bool ub_child_start(struct ub_child *child, const char *kind, const struct ub_job *job, struct ub_error *err)
{
    return ub_child_spawn(child, kind, err) && ub_child_send(child, job, err);
}

/* Takes one whole line out of the buffer. */
static bool take_line(struct ub_child *child, struct ub_line *line)
{
    for (;;) {
        char *end = child->used ? memchr(child->buffer, '\n', child->used) : NULL;
        if (!end)
            return false;
        size_t length = (size_t)(end - child->buffer);
        bool ok = ub_line_parse(child->buffer, length, line, NULL);
        child->used -= length + 1;
        memmove(child->buffer, end + 1, child->used);
        if (ok)
            return true;
    }
}

static bool room(struct ub_child *child)
{
    if (child->capacity - child->used >= 4096)
        return true;
    size_t capacity = child->capacity ? child->capacity * 2 : 65536;
    char *buffer = realloc(child->buffer, capacity);
    if (!buffer)
        return false;
    child->buffer = buffer;
    child->capacity = capacity;
    return true;
}

enum ub_child_event ub_child_next(struct ub_child *child, int timeout_ms, struct ub_line *line)
{
    while (!take_line(child, line)) {
        struct pollfd wait = {.fd = child->lines, .events = POLLIN};
        int ready = poll(&wait, 1, timeout_ms);
        if (ready == 0)
            return UB_CHILD_QUIET;
        if (ready < 0)
            return UB_CHILD_INTERRUPTED;
        if (!room(child)) {
            kill(child->pid, SIGKILL); /* out of memory: it could not be listened to */
            return UB_CHILD_ENDED;
        }
        ssize_t got = read(child->lines, child->buffer + child->used, child->capacity - child->used);
        if (got < 0 && errno == EINTR)
            return UB_CHILD_INTERRUPTED;
        if (got <= 0)
            return UB_CHILD_ENDED;
        child->used += (size_t)got;
    }
    return UB_CHILD_LINE;
}

int ub_child_reap(struct ub_child *child, bool kill_it, char *how, size_t size)
{
    int status = 0;
    snprintf(how, size, "not started");
    if (child->pid > 0) {
        if (kill_it)
            kill(child->pid, SIGKILL);
        while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR) {
        }
        if (WIFSIGNALED(status))
            snprintf(how, size, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
        else
            snprintf(how, size, "exit code %d", WEXITSTATUS(status));
    }
    if (child->job >= 0)
        close(child->job);
    if (child->lines >= 0)
        close(child->lines);
    free(child->buffer);
    bool exited = child->pid > 0 && WIFEXITED(status);
    *child = (struct ub_child){.lines = -1, .job = -1};
    return exited ? WEXITSTATUS(status) : -1;
}
