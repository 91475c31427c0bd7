/* SPDX-License-Identifier: MIT */
#include "plots/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool cannot_write(const char *name, int code, struct ub_error *err)
{
    return ub_fail(err, UB_CANNOT_WRITE, "cannot write %s: %s", name, strerror(code));
}

static bool is_stdout(const char *name)
{
    return strcmp(name, "-") == 0;
}

/* A stream's picture is drawn among the temporary files. */
static bool find_stream(struct ub_chart_file *out)
{
    const char *folder = getenv("TMPDIR");
    const int length =
        snprintf(out->path, sizeof out->path, "%s/ubench-chart", folder && *folder == '/' ? folder : "/tmp");
    out->streams = true;
    return length > 0 && (size_t)length < sizeof out->path;
}

static bool find_existing(struct ub_chart_file *out, struct ub_error *err)
{
    struct stat status;
    if (stat(out->name, &status) != 0)
        return cannot_write(out->name, errno, err);
    if (S_ISDIR(status.st_mode))
        return ub_fail(err, UB_CANNOT_WRITE, "cannot write %s: it is a folder", out->name);
    if (!S_ISREG(status.st_mode))
        return (access(out->name, W_OK) == 0 || cannot_write(out->name, errno, err)) &&
               (find_stream(out) || cannot_write(out->name, ENAMETOOLONG, err));
    if (!out->force)
        return ub_fail(err, UB_CANNOT_WRITE, "%s exists; --force overwrites it", out->name);
    char *target = realpath(out->name, NULL);
    if (!target)
        return cannot_write(out->name, errno, err);
    const int length = snprintf(out->path, sizeof out->path, "%s", target);
    free(target);
    return (size_t)length < sizeof out->path || cannot_write(out->name, ENAMETOOLONG, err);
}

/* Whether a file can be made where `path` says. */
static bool check_folder(const struct ub_chart_file *file, struct ub_error *err)
{
    char folder[UB_PATH_BYTES];
    const char *slash = strrchr(file->path, '/');
    const int length = !slash || slash == file->path ? 1 : (int)(slash - file->path);
    snprintf(folder, sizeof folder, "%.*s", length, slash ? file->path : ".");
    if (access(folder, F_OK) != 0)
        return ub_fail(err, UB_CANNOT_WRITE, "cannot write %s: the folder %s: %s", file->name, folder, strerror(errno));
    return access(folder, W_OK | X_OK) == 0 ||
           ub_fail(err, UB_CANNOT_WRITE, "cannot write %s: no file can be made in the folder %s: %s", file->name,
                   folder, strerror(errno));
}

bool ub_chart_file_find(const char *name, bool force, struct ub_chart_file *out, struct ub_error *err)
{
    struct stat status;
    *out = (struct ub_chart_file){.force = force, .name = name};
    if (is_stdout(name))
        return find_stream(out) || cannot_write("a chart", ENAMETOOLONG, err);
    if ((size_t)snprintf(out->path, sizeof out->path, "%s", name) >= sizeof out->path)
        return cannot_write(name, ENAMETOOLONG, err);
    if (lstat(name, &status) == 0) {
        if (!find_existing(out, err))
            return false;
    } else if (errno != ENOENT) {
        return cannot_write(name, errno, err);
    }
    return out->streams || check_folder(out, err);
}

bool ub_chart_file_place(const char *from, const struct ub_chart_file *file, struct ub_error *err)
{
    /* What appeared meanwhile stays too, where the file system can promise that. */
    if (!file->force) {
        if (renameat2(AT_FDCWD, from, AT_FDCWD, file->path, RENAME_NOREPLACE) == 0)
            return true;
        if (errno != EINVAL && errno != ENOSYS)
            return cannot_write(file->name, errno, err);
    }
    return rename(from, file->path) == 0 || cannot_write(file->name, errno, err);
}

bool ub_chart_file_copy(FILE *from, const struct ub_chart_file *file, struct ub_error *err)
{
    char bytes[16 * 1024];
    const bool to_stdout = is_stdout(file->name);
    const char *name = to_stdout ? "the chart to standard output" : file->name;
    const int opened = to_stdout ? -1 : open(file->name, O_WRONLY | O_CLOEXEC);
    FILE *to = to_stdout ? stdout : opened >= 0 ? fdopen(opened, "w") : NULL;
    if (!to)
        return cannot_write(name, errno, err);
    bool ok = true;
    int code = 0;
    for (size_t got; ok && (got = fread(bytes, 1, sizeof bytes, from)) > 0;)
        ok = fwrite(bytes, 1, got, to) == got;
    ok = ok && !ferror(from) && fflush(to) == 0;
    code = errno;
    if (!to_stdout && fclose(to) != 0 && ok) {
        ok = false;
        code = errno;
    }
    return ok || cannot_write(name, code, err);
}
