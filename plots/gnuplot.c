/* SPDX-License-Identifier: MIT */
#include "plots/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "plots/interrupt.h"
#include "plots/render.h"
#include "plots/text.h"

#define INSTALL                                                                                                        \
    "install gnuplot (Debian, Ubuntu: apt install gnuplot-nox; Fedora: dnf install gnuplot), "                         \
    "or name one with UBENCH_GNUPLOT"

static const struct ub_term terms[] = {
    {"svg", ".svg", "svg", "gnuplot-nox"},
    {"png", ".png", "pngcairo", "gnuplot-nox"},
    {"pdf", ".pdf", "pdfcairo", "gnuplot-nox"},
    {"dumb", ".txt", "dumb", "gnuplot-nox"},
};
enum { TERM_COUNT = sizeof terms / sizeof terms[0], OUTPUT_BYTES = 4096 };

const struct ub_term *ub_term_find(const char *name, const char *path, struct ub_error *err)
{
    if (!name && strcmp(path, "-") == 0)
        name = "dumb";
    const size_t length = strlen(path);
    for (size_t i = 0; i < TERM_COUNT; i++) {
        const size_t ending = strlen(terms[i].ending);
        if (name ? strcmp(terms[i].name, name) == 0
                 : length > ending && strcmp(path + length - ending, terms[i].ending) == 0)
            return &terms[i];
    }
    if (name)
        ub_fail(err, UB_USAGE, "--term %s: a chart can be svg, png, pdf or dumb (text)", name);
    else
        ub_fail(err, UB_USAGE, "%s: the ending of a chart's file says its kind: .svg, .png, .pdf or .txt", path);
    return NULL;
}

static const char *program(void)
{
    const char *named = getenv("UBENCH_GNUPLOT");
    return named && *named ? named : "gnuplot";
}

static long long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The environment without what would change gnuplot's behaviour (its default terminal, its
 * start-up and library paths) and with a UTF-8 locale, of which it asks only the
 * encoding. The array is owned by the caller, its texts are not. */
static char **clean_environment(void)
{
    static const char *const dropped[] = {"GNUTERM=", "GNUPLOT_LIB=", "GNUPLOT_DRIVER_DIR=", "LC_ALL="};
    static char utf8[] = "LC_ALL=C.UTF-8";
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **copy = calloc(count + 2, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++) {
        bool drop = false;
        for (size_t d = 0; d < sizeof dropped / sizeof dropped[0]; d++)
            drop = drop || strncmp(environ[i], dropped[d], strlen(dropped[d])) == 0;
        if (!drop)
            copy[kept++] = environ[i];
    }
    if (copy)
        copy[kept] = utf8;
    return copy;
}

/* In a process group of its own, so that its children can be stopped with it (gnuplot may be
 * a wrapper script), and with the signals that we hold back let through again. */
static void set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t held, mask;
    ub_interrupt_signals(&held);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (int signal = 1; signal < SIGRTMIN; signal++)
        if (sigismember(&held, signal) == 1)
            sigdelset(&mask, signal);
    posix_spawnattr_init(attributes);
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setsigmask(attributes, &mask);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
}

/* Starts gnuplot with both outputs on one pipe, whose reading end goes to *reading. */
static bool start(char *const arguments[], pid_t *child, int *reading, struct ub_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return ub_fail(err, UB_INTERNAL, "cannot make a pipe for gnuplot: %s", strerror(errno));
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    set_attributes(&attributes);
    char **environment = clean_environment();
    const int failed =
        environment ? posix_spawnp(child, arguments[0], &actions, &attributes, arguments, environment) : ENOMEM;
    free(environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *reading = ends[0];
    if (failed == 0)
        return true;
    close(ends[0]);
    if (failed == ENOENT || failed == EACCES)
        return ub_fail(err, UB_MISSING_PROGRAM, "charts need gnuplot, and %s is not there: " INSTALL, arguments[0]);
    return ub_fail(err, UB_MISSING_PROGRAM, "cannot start %s: %s", arguments[0], strerror(failed));
}

/* A running gnuplot. */
struct child {
    pid_t process;
    int reading; /* what it says */
    int signals; /* a signalfd: readable where a signal waits that is to end us */
    long long deadline_ms;
};

enum wait { WAIT_READY, WAIT_TIMEOUT, WAIT_SIGNAL };

/* Waits until `file` can be read or, where that is -1, for `pause_ms`. */
static enum wait wait_for(const struct child *child, int file, long long pause_ms)
{
    for (;;) {
        const long long left = child->deadline_ms - now_ms();
        struct pollfd waiting[] = {{.fd = child->signals, .events = POLLIN}, {.fd = file, .events = POLLIN}};
        if (left <= 0)
            return WAIT_TIMEOUT;
        const int ready = poll(waiting, 2, (int)(file >= 0 || left < pause_ms ? left : pause_ms));
        if (ready > 0)
            return waiting[0].revents ? WAIT_SIGNAL : WAIT_READY;
        if (ready < 0 && errno != EINTR)
            return WAIT_TIMEOUT;
        if (file < 0)
            return WAIT_READY;
    }
}

/* Reads what gnuplot says until it closes the pipe. */
static enum wait listen_to(const struct child *child, char *text, size_t size)
{
    size_t used = 0;
    for (;;) {
        const enum wait waited = wait_for(child, child->reading, 0);
        if (waited != WAIT_READY)
            return waited;
        char chunk[512];
        const ssize_t got = read(child->reading, chunk, sizeof chunk);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got <= 0)
            return WAIT_READY;
        for (ssize_t i = 0; i < got && used + 1 < size; i++)
            text[used++] = chunk[i];
        text[used] = 0;
    }
}

/* Waits for the end of the child. */
static enum wait wait_for_end(const struct child *child, int *status)
{
    enum { PAUSE_MS = 2 };
    for (;;) {
        const pid_t ended = waitpid(child->process, status, WNOHANG);
        if (ended == child->process)
            return WAIT_READY;
        if (ended < 0 && errno != EINTR)
            return WAIT_TIMEOUT;
        const enum wait waited = wait_for(child, -1, PAUSE_MS);
        if (waited != WAIT_READY)
            return waited;
    }
}

/* Listens to the child and waits for its end, or stops it with all that it started. */
static bool attend(const struct child *child, const char *name, int timeout_ms, char *text, size_t size, int *status,
                   struct ub_error *err)
{
    enum wait waited = listen_to(child, text, size);
    if (waited == WAIT_READY)
        waited = wait_for_end(child, status);
    if (waited == WAIT_READY)
        return true;
    kill(-child->process, SIGKILL);
    while (waitpid(child->process, status, 0) < 0 && errno == EINTR)
        ;
    if (waited == WAIT_SIGNAL)
        return ub_fail(err, UB_CANNOT_WRITE, "a signal stopped %s; no chart was drawn", name);
    return ub_fail(err, UB_CANNOT_WRITE, "%s did not end within %d ms and was stopped; no chart was drawn", name,
                   timeout_ms);
}

/* Runs gnuplot with one or two arguments; fills `text` with all that it said. */
static bool run(const char *first, const char *second, int timeout_ms, char *text, size_t size, int *status,
                struct ub_error *err)
{
    char name[4096], one[64], two[4200];
    snprintf(name, sizeof name, "%s", program());
    snprintf(one, sizeof one, "%s", first);
    snprintf(two, sizeof two, "%s", second ? second : "");
    char *arguments[] = {name, one, second ? two : NULL, NULL};
    struct child child = {.deadline_ms = now_ms() + timeout_ms};
    sigset_t before, held;
    *text = 0;
    ub_interrupt_signals(&held);
    ub_interrupt_hold(&before);
    bool ok = start(arguments, &child.process, &child.reading, err);
    if (ok) {
        child.signals = signalfd(-1, &held, SFD_CLOEXEC);
        ok = attend(&child, name, timeout_ms, text, size, status, err);
        close(child.reading);
        if (child.signals >= 0)
            close(child.signals);
    }
    ub_interrupt_release(&before);
    return ok;
}

bool ub_gnuplot_version(char *text, size_t size, struct ub_error *err)
{
    char said[OUTPUT_BYTES];
    int status = 0, major = 0, minor = 0;
    if (!run("--version", NULL, UB_GNUPLOT_TIMEOUT_MS, said, sizeof said, &status, err))
        return false;
    said[strcspn(said, "\n")] = 0;
    if (sscanf(said, "gnuplot %d.%d", &major, &minor) != 2)
        return ub_fail(err, UB_MISSING_PROGRAM, "%s --version says \"%.80s\", which is no gnuplot: " INSTALL, program(),
                       said);
    if (major < 5 || (major == 5 && minor < 2))
        return ub_fail(err, UB_MISSING_PROGRAM, "charts need gnuplot 5.2 or later, and %s is %.80s: " INSTALL,
                       program(), said);
    ub_text_clean(said, text, size);
    return true;
}

/* Drops the lines that say nothing of the picture: fontconfig cannot write its cache (a
 * container without a home folder); the system has no UTF-8 locale, so that gnuplot
 * cannot convert the degree sign, which no chart has. */
static void drop_harmless_warnings(char *text)
{
    static const char *const harmless[] = {"Fontconfig", "iconv failed to convert degree sign"};
    char *to = text;
    for (char *line = text; *line;) {
        const size_t length = strcspn(line, "\n"), next = length + (line[length] == '\n');
        bool drop = false;
        for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
            drop = drop || memmem(line, length, harmless[i], strlen(harmless[i]));
        if (!drop) {
            memmove(to, line, length);
            to += length;
            *to++ = ' ';
        }
        line += next;
    }
    while (to > text && to[-1] == ' ')
        to--;
    *to = 0;
}

static bool ends_with(const char *tail, size_t size, const char *wanted, size_t length)
{
    for (size_t at = 0; at + length <= size; at++)
        if (memcmp(tail + at, wanted, length) == 0)
            return true;
    return false;
}

/* First and last bytes of a well-formed file, in which a cut-off one would differ. */
static bool is_well_formed(const char *path, const struct ub_term *term)
{
    static const struct {
        const char *name, *head, *tail;
        size_t head_size, tail_size;
    } signatures[] = {{"svg", "<?xml", "</svg>", 5, 6},
                      {"png", "\x89PNG\r\n\x1a\n", "IEND", 8, 4},
                      {"pdf", "%PDF-", "%%EOF", 5, 5},
                      {"dumb", "", "", 0, 0}};
    char head[8] = "", tail[32] = "";
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    const size_t got = fread(head, 1, sizeof head, file);
    if (fseek(file, -(long)sizeof tail, SEEK_END) != 0)
        rewind(file);
    const size_t tail_got = fread(tail, 1, sizeof tail, file);
    fclose(file);
    for (size_t i = 0; i < sizeof signatures / sizeof signatures[0]; i++)
        if (strcmp(signatures[i].name, term->name) == 0)
            return got > 0 && got >= signatures[i].head_size &&
                   memcmp(head, signatures[i].head, signatures[i].head_size) == 0 &&
                   ends_with(tail, tail_got, signatures[i].tail, signatures[i].tail_size);
    return false;
}

bool ub_gnuplot_draw(const char *script, const char *picture, const struct ub_term *term, int timeout_ms,
                     struct ub_error *err)
{
    char said[OUTPUT_BYTES], clean[600];
    int status = 0;
    if (!run("-d", script, timeout_ms, said, sizeof said, &status, err))
        return false;
    drop_harmless_warnings(said);
    if (strstr(said, "ubench: missing terminal"))
        return ub_fail(err, UB_MISSING_PROGRAM,
                       "this gnuplot cannot write %s (its terminal %s is missing): install %s, "
                       "or take another ending: .svg, .png, .pdf, .txt",
                       term->name, term->terminal, term->package);
    ub_text_clean(said, clean, sizeof clean);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || *clean)
        return ub_fail(err, UB_CANNOT_WRITE, "gnuplot failed (%s %d)%s%s",
                       WIFSIGNALED(status) ? "signal" : "exit status",
                       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), *clean ? ": " : "", clean);
    if (!is_well_formed(picture, term))
        return ub_fail(err, UB_CANNOT_WRITE, "gnuplot wrote no complete %s file", term->name);
    return true;
}
