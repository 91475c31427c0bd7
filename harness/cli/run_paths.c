/* SPDX-License-Identifier: MIT */
#include "harness/cli/run_paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "harness/engine/run.h"
#include "harness/io/json.h"
#include "plots/render.h"

static bool is_stdout(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* The length of a path without its ending. */
static int stem_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    const char *slash = strrchr(path, '/');
    return dot && (!slash || dot > slash) ? (int)(dot - path) : (int)strlen(path);
}

bool ub_replace_ending(const char *path, const char *ending, char *out, size_t size)
{
    return (size_t)snprintf(out, size, "%.*s%s", stem_of(path), path, ending) < size;
}

/* "out.json" and GPU 1 of several -> "out-1.json". */
static bool numbered(const char *path, const struct ub_target *target, size_t count, char *out)
{
    if (count == 1 || is_stdout(path))
        return (size_t)snprintf(out, UB_PATH_BYTES, "%s", path) < UB_PATH_BYTES;
    int stem = stem_of(path);
    return (size_t)snprintf(out, UB_PATH_BYTES, "%.*s-%d%s", stem, path, target->ordinal, path + stem) < UB_PATH_BYTES;
}

/* A time-stamped name in the current folder; two runs in one second get two names. */
static bool default_name(const struct ub_options *options, const struct ub_target *target, size_t count, char *out)
{
    const char *slug = target->gpu.slug ? target->gpu.slug : "gpu";
    const char *rules = options->operand_count == 1 ? options->operands[0] : "rules";
    char when[32];
    char base[256];
    char again[16] = "";
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", &utc);
    for (int i = 2; i < 100; i++) {
        snprintf(base, sizeof base, "ubench-%.60s-%.40s%s-%s%s.json", rules, slug, target->measured ? "" : "-predicted",
                 when, again);
        if (!numbered(base, target, count, out) || access(out, F_OK) != 0)
            break;
        snprintf(again, sizeof again, "-%d", i);
    }
    return true;
}

/* Only a file that can be appended to and renamed has a journal: no device, no pipe. */
static bool takes_journal(const char *path)
{
    struct stat status;
    return !is_stdout(path) && (stat(path, &status) != 0 || S_ISREG(status.st_mode));
}

bool ub_run_paths_choose(const struct ub_options *options, const struct ub_target *target, size_t target_count,
                         struct ub_run_paths *paths, struct ub_error *err)
{
    const bool human = options->format == UB_FORMAT_HUMAN;
    bool fits = true;
    *paths = (struct ub_run_paths){.record = "-"};
    if (options->output)
        fits = numbered(options->output, target, target_count, paths->record);
    else if (human)
        fits = default_name(options, target, target_count, paths->record);
    if (options->plot)
        fits = fits && numbered(options->plot, target, target_count, paths->chart);
    else if (human && takes_journal(paths->record))
        fits = fits && ub_replace_ending(paths->record, ".svg", paths->chart, sizeof paths->chart);
    if (target->measured && takes_journal(paths->record))
        fits = fits && (size_t)snprintf(paths->journal, sizeof paths->journal, "%s" UB_JOURNAL_ENDING, paths->record) <
                           sizeof paths->journal;
    return fits || ub_fail(err, UB_CANNOT_WRITE, "cannot write %.60s...: %s", paths->record, strerror(ENAMETOOLONG));
}

/* A journal that a run holds locked is being written now. */
static bool is_alive(const char *journal)
{
    int file = open(journal, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool alive = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(file);
    return alive;
}

/* A record's id ends in the hash of its plan (fill_run_info() in run_job.c). */
static bool is_of_plan(const struct ub_record *record, uint64_t plan)
{
    const char *hash = strrchr(record->run.id ? record->run.id : "", '-');
    char ours[32];
    snprintf(ours, sizeof ours, "-%016llx", (unsigned long long)plan);
    return hash && strcmp(hash, ours) == 0;
}

enum ub_run_found ub_run_found(const struct ub_options *options, const struct ub_run_paths *paths, uint64_t plan)
{
    struct ub_record record = {0};
    enum ub_run_found found = UB_RUN_COMPLETE;
    if (paths->journal[0] && access(paths->journal, F_OK) == 0)
        return UB_RUN_JOURNAL;
    if (access(paths->record, F_OK) != 0)
        return UB_RUN_NONE;
    if (options->format != UB_FORMAT_HUMAN && options->format != UB_FORMAT_JSON)
        return UB_RUN_COMPLETE; /* nothing reads the other formats back */
    if (!ub_json_read_file(paths->record, &record, NULL))
        return UB_RUN_UNREADABLE;
    if (!is_of_plan(&record, plan))
        found = UB_RUN_OTHER;
    else if (!record.run.complete || ub_run_retryable(&record) > 0)
        found = UB_RUN_LACKING;
    ub_record_free(&record);
    return found;
}

static bool check_resume(const struct ub_options *options, const struct ub_target *target,
                         const struct ub_run_paths *paths, uint64_t plan, struct ub_error *err)
{
    if (!target->measured)
        return ub_fail(err, UB_USAGE, "--resume goes on with a measured run, and nothing is measured here");
    if (!options->output || !paths->journal[0])
        return ub_fail(err, UB_USAGE, "--resume needs -o FILE, the file of the run that was cut off");
    switch (ub_run_found(options, paths, plan)) {
    case UB_RUN_JOURNAL:
        return true;
    case UB_RUN_COMPLETE:
        return ub_fail(err, UB_USAGE, "%s has no point to measure again: there is nothing to resume", paths->record);
    case UB_RUN_LACKING:
        return ub_fail(err, UB_USAGE, "%s lacks points, but there is no %s to resume from; start afresh with --force",
                       paths->record, paths->journal);
    case UB_RUN_OTHER:
        return ub_fail(err, UB_USAGE,
                       "cannot resume %s: axes, rules or options are not as in that run; start afresh with --force",
                       paths->record);
    case UB_RUN_UNREADABLE:
        return ub_fail(err, UB_USAGE, "cannot resume %s: it is no record of ubench; start afresh with --force",
                       paths->record);
    case UB_RUN_NONE:
        break;
    }
    return ub_fail(err, UB_USAGE, "there is no %s to resume from", paths->journal);
}

static bool check_chart(const struct ub_options *options, const struct ub_run_paths *paths, struct ub_error *err)
{
    if (options->plot && is_stdout(paths->chart) && is_stdout(paths->record) && options->format != UB_FORMAT_HUMAN)
        return ub_fail(err, UB_USAGE, "--plot - and -f both write to standard output: give one of them a file");
    if (paths->chart[0] && !is_stdout(paths->chart) && strcmp(paths->chart, paths->record) == 0)
        return ub_fail(err, UB_USAGE, "%s is the record and the chart at once: give --plot another name", paths->chart);
    struct ub_plot_options plot = ub_plot_options_for(options);
    plot.force = options->force || options->resume;
    /* A chart that nobody asked for is not worth refusing a run. */
    return !options->plot || ub_plot_check(&plot, paths->chart, err);
}

bool ub_run_paths_check(struct ub_options *options, const struct ub_target *target, const struct ub_run_paths *paths,
                        uint64_t plan, struct ub_error *err)
{
    if (!check_chart(options, paths, err))
        return false;
    if (paths->journal[0] && is_alive(paths->journal))
        return ub_fail(err, UB_CANNOT_WRITE, "%s is being written by a run that still goes on", paths->record);
    if (options->resume) {
        options->force = true; /* the incomplete record is replaced */
        return check_resume(options, target, paths, plan, err);
    }
    if (paths->journal[0] && access(paths->journal, F_OK) == 0 && !options->force)
        return ub_fail(
            err, UB_USAGE,
            "%s is left from a run that was cut off or lacks points: --resume goes on with it, --force starts afresh",
            paths->journal);
    return ub_output_check(paths->record, options->force, err);
}
