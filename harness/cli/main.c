/* SPDX-License-Identifier: MIT
 *
 * Start and end of the program: the only place that exits. Results go to stdout,
 * everything else to stderr; output that could not be written is never a success. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/cli/options.h"
#include "harness/io/text.h"

/* Where a standard stream is closed, the next file opened would take its number, and
 * results would be written into it. A /dev/null of the wrong direction keeps the
 * number taken and lets reading and writing fail as on a closed one. */
static void keep_standard_streams(void)
{
    static const int direction[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int file = 0; file < 3; file++)
        if (fcntl(file, F_GETFD) < 0 && open("/dev/null", direction[file]) < 0)
            abort();
}

static const struct ub_verb *find_verb(const char *name)
{
    const struct ub_verb *verb = ub_verbs;
    while (verb->name && (!name || strcmp(verb->name, name) != 0))
        verb++;
    return verb->name ? verb : NULL;
}

/* A worker must not outlive the pipe to its parent; everybody else wants to know that a
 * write failed, because a run has more to save than its standard output. */
static void choose_broken_pipe(const struct ub_verb *verb)
{
    signal(SIGPIPE, verb && verb->hidden ? SIG_DFL : SIG_IGN);
}

static enum ub_status dispatch(struct ub_options *options, struct ub_error *err)
{
    const struct ub_verb *verb = find_verb(options->verb);
    choose_broken_pipe(verb);
    if (options->version) {
        ub_print_version();
        return UB_OK;
    }
    if (options->help || !verb)
        return ub_cmd_help(options, err);
    return verb->run(options, err);
}

/* True where nobody reads our standard output any more (`ubench list | head -1`). */
static bool reader_is_gone(void)
{
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

/* What a shell reports of a program that SIGPIPE ended. */
static const int broken_pipe = 128 + SIGPIPE;

static void print_error(const struct ub_error *err, const char *verb)
{
    const bool help_on_verb = verb && strcmp(verb, "help") != 0;
    fputs("ubench: ", stderr);
    /* What a user typed or a file held may stand in the text: nothing of it reaches the
     * terminal as a command. */
    for (const char *c = err->text; *c; c++)
        fputc((unsigned char)*c < ' ' && *c != '\n' ? '?' : *c == 0x7F ? '?' : *c, stderr);
    fputc('\n', stderr);
    if (err->status == UB_USAGE)
        fprintf(stderr, "try: ubench help%s%s\n", help_on_verb ? " " : "", help_on_verb ? verb : "");
}

static int finish(enum ub_status status, const struct ub_options *options, struct ub_error *err)
{
    struct ub_error output = {0};
    const bool written = ub_stream_done(stdout, &output);
    if (!written && reader_is_gone())
        return broken_pipe;
    if (status != UB_OK && err->text[0])
        print_error(err, options->verb);
    if (!written && (status == UB_OK || status == UB_INCOMPLETE)) {
        print_error(&output, NULL);
        return UB_CANNOT_WRITE;
    }
    return (int)status;
}

int main(int argc, char **argv)
{
    struct ub_options options = {0};
    struct ub_error err = {0};
    enum ub_status status;
    keep_standard_streams();
    if (!ub_registry_check(&err) || !ub_options_parse(argc, argv, &options, &err))
        status = err.status;
    else
        status = dispatch(&options, &err);
    return finish(status, &options, &err);
}
