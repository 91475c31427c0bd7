/* SPDX-License-Identifier: MIT
 *
 * Where records go. A file appears whole or not at all: it is written beside its
 * name, synced and renamed. What exists is kept unless --force says otherwise. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/cli/options.h"
#include "harness/io/formats.h"
#include "harness/io/json.h"
#include "harness/io/text.h"

enum { PATH_SIZE = 4096 };

/* ---- the terminal ---------------------------------------------------------- */

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

bool ub_stdout_colour(const struct ub_options *options)
{
    const char *term = getenv("TERM");
    if (options->color && strcmp(options->color, "auto") != 0)
        return strcmp(options->color, "always") == 0;
    if (is_set("NO_COLOR"))
        return false;
    if (is_set("CLICOLOR_FORCE") && strcmp(getenv("CLICOLOR_FORCE"), "0") != 0)
        return true;
    return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

int ub_terminal_columns(void)
{
    struct winsize size;
    if (!isatty(STDOUT_FILENO))
        return 0;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    const char *columns = getenv("COLUMNS");
    const int width = columns ? atoi(columns) : 0;
    return width > 0 && width < 10000 ? width : 80;
}

/* By the variables that name the locale, strongest first. */
static bool is_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        if (!is_set(variables[i]))
            continue;
        const char *locale = getenv(variables[i]);
        return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
    }
    return false;
}

struct ub_plot_options ub_plot_options_for(const struct ub_options *options)
{
    return (struct ub_plot_options){.term = options->term,
                                    .dark = options->dark,
                                    .keep_script = options->keep_script,
                                    .force = options->force,
                                    .columns = getenv("COLUMNS") ? 0 : ub_terminal_columns()};
}

struct ub_print_options ub_print_options_for(FILE *stream, const struct ub_options *options)
{
    const bool terminal = stream == stdout;
    return (struct ub_print_options){
        .colour = terminal && ub_stdout_colour(options),
        .utf8 = is_utf8(),
        .width = terminal ? ub_terminal_columns() : 0,
        .verbose = options->verbose,
    };
}

/* ---- a record -------------------------------------------------------------- */

struct saved {
    const struct ub_record *record;
    enum ub_format format;
    const struct ub_options *options;
};

static bool write_saved(FILE *stream, const void *subject, struct ub_error *err)
{
    const struct saved *saved = subject;
    const struct ub_record *record = saved->record;
    const struct ub_json_options json = {.redact = saved->options->redact};
    const struct ub_print_options print = ub_print_options_for(stream, saved->options);
    switch (saved->format) {
    case UB_FORMAT_HUMAN:
        return ub_print_human(stream, record, &print, err);
    case UB_FORMAT_JSON:
        return ub_json_write(stream, record, &json, err);
    case UB_FORMAT_CSV:
        return ub_write_csv(stream, record, err);
    case UB_FORMAT_MARKDOWN:
        return ub_write_markdown(stream, record, err);
    case UB_FORMAT_GBENCH:
        return ub_write_gbench(stream, record, err);
    case UB_FORMAT_OPENMETRICS:
        return ub_write_openmetrics(stream, record, err);
    }
    return ub_fail(err, UB_INTERNAL, "unknown format %d", (int)saved->format);
}

/* ---- files ----------------------------------------------------------------- */

static bool cannot_write(const char *path, int code, struct ub_error *err)
{
    return ub_fail(err, UB_CANNOT_WRITE, "cannot write %s: %s", path, strerror(code));
}

/* The folder of a path: "." where it has none. False: too long. */
static bool folder_of(const char *path, char *folder, size_t size)
{
    const char *slash = strrchr(path, '/');
    const int length = !slash ? 1 : slash == path ? 1 : (int)(slash - path);
    return (size_t)snprintf(folder, size, "%.*s", length, slash ? path : ".") < size;
}

static bool is_stdout(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

bool ub_output_check(const char *path, bool force, struct ub_error *err)
{
    char folder[PATH_SIZE];
    struct stat status;
    if (is_stdout(path))
        return true;
    if (lstat(path, &status) == 0) {
        if (stat(path, &status) != 0)
            return cannot_write(path, errno, err);
        if (S_ISDIR(status.st_mode))
            return ub_fail(err, UB_CANNOT_WRITE, "cannot write %s: it is a folder", path);
        if (!S_ISREG(status.st_mode))
            return access(path, W_OK) == 0 || cannot_write(path, errno, err);
        if (!force)
            return ub_fail(err, UB_CANNOT_WRITE, "%s exists; --force overwrites it", path);
    } else if (errno != ENOENT) {
        return cannot_write(path, errno, err);
    }
    if (!folder_of(path, folder, sizeof folder))
        return cannot_write(path, ENAMETOOLONG, err);
    if (access(folder, F_OK) != 0)
        return ub_fail(err, UB_CANNOT_WRITE, "cannot write %s: the folder %s: %s", path, folder, strerror(errno));
    if (access(folder, W_OK | X_OK) != 0)
        return ub_fail(err, UB_CANNOT_WRITE, "cannot write %s: no file can be made in the folder %s: %s", path, folder,
                       strerror(errno));
    return true;
}

/* The file behind "report.html#2" and "model:gpu.json". False: there is none. */
static bool stat_input(const char *name, struct stat *status)
{
    static const char model[] = "model:";
    char file[PATH_SIZE];
    const char *path = strncmp(name, model, strlen(model)) == 0 ? name + strlen(model) : name;
    const char *mark = strrchr(path, '#');
    if (stat(path, status) == 0)
        return true;
    return mark && (size_t)snprintf(file, sizeof file, "%.*s", (int)(mark - path), path) < sizeof file &&
           stat(file, status) == 0;
}

bool ub_output_check_inputs(const char *path, size_t count, const char *const *inputs, struct ub_error *err)
{
    struct stat written, read;
    if (is_stdout(path) || stat(path, &written) != 0 || !S_ISREG(written.st_mode))
        return true;
    for (size_t i = 0; i < count; i++)
        if (strcmp(inputs[i], "-") != 0 && stat_input(inputs[i], &read) && read.st_dev == written.st_dev &&
            read.st_ino == written.st_ino)
            return ub_fail(err, UB_USAGE, "%.400s is read as %.400s: give what is written another name", path,
                           inputs[i]);
    return true;
}

/* What is written, whatever it is. */
struct document {
    ub_output_writer write;
    const void *subject;
    bool force;
};

/* Writes to an open descriptor and closes it. */
static bool fill(int file, bool sync, const struct document *document, struct ub_error *err)
{
    FILE *stream = fdopen(file, "w");
    if (!stream) {
        close(file);
        return ub_fail(err, UB_CANNOT_WRITE, "cannot write: %s", strerror(errno));
    }
    bool ok = document->write(stream, document->subject, err);
    if (ok && (fflush(stream) != 0 || (sync && fsync(file) != 0)))
        ok = ub_fail(err, UB_CANNOT_WRITE, "cannot write: %s", strerror(errno));
    if (fclose(stream) != 0 && ok)
        ok = ub_fail(err, UB_CANNOT_WRITE, "cannot write: %s", strerror(errno));
    return ok;
}

/* The name of a file becomes lasting with its folder. Some file systems cannot sync a
 * folder; the file itself is safe by then. */
static void sync_folder(const char *path)
{
    char folder[PATH_SIZE];
    if (!folder_of(path, folder, sizeof folder))
        return;
    const int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0)
        return;
    (void)fsync(file);
    close(file);
}

/* Without force an existing file is kept even if it appeared meanwhile; file systems
 * that cannot promise that (EINVAL) get a plain rename. */
static bool move_into_place(const char *from, const char *to, bool force)
{
    if (!force) {
        if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
            return true;
        if (errno != EINVAL && errno != ENOSYS)
            return false;
    }
    return rename(from, to) == 0;
}

/* NAME.tmp.PID beside the file, then a rename. */
static bool write_beside(const char *path, const struct document *document, struct ub_error *err)
{
    char beside[PATH_SIZE];
    if ((size_t)snprintf(beside, sizeof beside, "%s.tmp.%ld", path, (long)getpid()) >= sizeof beside)
        return cannot_write(path, ENAMETOOLONG, err);
    unlink(beside); /* of a process that had our number before and was killed */
    const int file = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0)
        return cannot_write(path, errno, err);
    if (!fill(file, true, document, err)) {
        unlink(beside);
        return ub_fail_in(err, "%s", path);
    }
    if (!move_into_place(beside, path, document->force)) {
        const int code = errno;
        unlink(beside);
        return cannot_write(path, code, err);
    }
    sync_folder(path);
    return true;
}

/* A pipe, a terminal, /dev/null: there is nothing to rename. */
static bool write_into(const char *path, const struct document *document, struct ub_error *err)
{
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return cannot_write(path, errno, err);
    if (!fill(file, false, document, err))
        return ub_fail_in(err, "%s", path);
    return true;
}

/* Through a symbolic link the file behind it is replaced, not the link. */
static bool write_file(const char *path, const struct document *document, struct ub_error *err)
{
    struct stat status;
    if (!ub_output_check(path, document->force, err))
        return false;
    if (stat(path, &status) != 0)
        return write_beside(path, document, err);
    if (!S_ISREG(status.st_mode))
        return write_into(path, document, err);
    char *target = realpath(path, NULL);
    if (!target)
        return cannot_write(path, errno, err);
    const bool ok = write_beside(target, document, err);
    free(target);
    return ok;
}

bool ub_write_output(const char *path, bool force, ub_output_writer write, const void *subject, struct ub_error *err)
{
    const struct document document = {write, subject, force};
    if (!is_stdout(path))
        return write_file(path, &document, err);
    return write(stdout, subject, err) && ub_stream_done(stdout, err);
}

bool ub_write_record(const struct ub_record *record, enum ub_format format, const char *path,
                     const struct ub_options *options, struct ub_error *err)
{
    const struct saved saved = {record, format, options};
    return ub_write_output(path, options->force, write_saved, &saved, err);
}
