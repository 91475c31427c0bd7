/* SPDX-License-Identifier: MIT */
#include "harness/cli/run_job.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/io/formats.h"
#include "plots/render.h"

enum { LOSSES_SHOWN = 5 };

static bool draw(struct ub_run_job *job, const char *rule, const char *path, struct ub_error *err)
{
    struct ub_plot_options plot = ub_plot_options_for(job->options);
    plot.rule = rule;
    if (!ub_plot(&job->record, &plot, path, err))
        return false;
    if (strcmp(path, "-") != 0 && !job->options->quiet)
        fprintf(stderr, "ubench: chart in %s\n", path);
    return true;
}

/* A chart that has nothing to show stops neither those of other rules nor the run, which went well: it is an
 * output that was asked for and is not there. Unasked (a rule with one number) it is no news. */
static void say_undrawn(struct ub_run_job *job, const char *path, struct ub_error *err)
{
    if (job->options->plot) {
        fprintf(stderr, "ubench: no chart%s%s: %s\n", strcmp(path, "-") == 0 ? "" : " in ",
                strcmp(path, "-") == 0 ? "" : path, err->text);
        job->undrawn = true;
    }
    err->text[0] = 0;
}

/* One chart a rule; a chart that was not asked for and cannot be drawn is a sentence, not a failure. */
static bool draw_all(struct ub_run_job *job, struct ub_error *err)
{
    size_t rules = 0;
    for (size_t i = 0; i < job->plan.count; i++)
        rules += i == 0 || job->plan.points[i].micro != job->plan.points[i - 1].micro;
    for (size_t i = 0; i < job->plan.count; i++) {
        const struct ub_micro *micro = job->plan.points[i].micro;
        char path[UB_PATH_BYTES];
        char ending[96];
        const char *dot = strrchr(job->paths.chart, '.');
        if (i > 0 && micro == job->plan.points[i - 1].micro)
            continue;
        snprintf(ending, sizeof ending, "-%.60s%.30s", micro->name, dot ? dot : "");
        if (rules > 1 && strcmp(job->paths.chart, "-") != 0)
            ub_replace_ending(job->paths.chart, ending, path, sizeof path);
        else
            snprintf(path, sizeof path, "%s", job->paths.chart);
        if (draw(job, micro->name, path, err))
            continue;
        if (err->status == UB_BAD_DATA) {
            say_undrawn(job, path, err);
            continue;
        }
        if (job->options->plot)
            return false;
        fprintf(stderr, "ubench: no chart: %s\n", err->text);
        err->text[0] = 0;
        if (err->status == UB_MISSING_PROGRAM) /* a missing program is missing for all: said once */
            break;
    }
    return true;
}

/* In formats for programs no table shows what was lost: say it on stderr. */
static void say_losses(const struct ub_run_job *job)
{
    size_t lost = 0;
    for (size_t i = 0; i < job->record.point_count; i++) {
        const struct ub_record_point *point = &job->record.points[i];
        char label[256];
        if (point->status != UB_POINT_FAILED && point->status != UB_POINT_TIMEOUT)
            continue;
        ub_point_label(point, label, sizeof label);
        if (lost++ < LOSSES_SHOWN)
            fprintf(stderr, "ubench: %s: %s: %s\n", label, ub_status_names[point->status],
                    point->reason ? point->reason : "");
    }
    if (lost > LOSSES_SHOWN)
        fprintf(stderr, "ubench: and %zu more points\n", lost - LOSSES_SHOWN);
    if (job->request.counters == UB_COUNT_REQUIRE && job->record.run.counters)
        fprintf(stderr, "ubench: counters: %s\n", job->record.run.counters);
}

/* What -o has to name for this run to go on. */
static const char *named_output(const struct ub_run_job *job)
{
    if (job->options->folder)
        return job->options->folder;
    return job->options->output ? job->options->output : job->paths.record;
}

/* The journal is for --resume: it stays while there is something that this could settle. */
static void keep_journal_or_not(const struct ub_run_job *job)
{
    const size_t lost = ub_run_retryable(&job->record);
    if (!job->paths.journal[0] || !job->record.run.complete)
        return;
    if (lost == 0)
        unlink(job->paths.journal);
    else
        fprintf(stderr,
                "ubench: %zu point%s failed or timed out: the same command with --resume -o %s measures %s again\n",
                lost, lost == 1 ? "" : "s", named_output(job), lost == 1 ? "it" : "them");
}

/* The file first: a reader of stdout that goes away costs only what it did not read. */
bool ub_run_job_write(struct ub_run_job *job, struct ub_error *err)
{
    const struct ub_options *options = job->options;
    const bool human = options->format == UB_FORMAT_HUMAN;
    const bool to_file = strcmp(job->paths.record, "-") != 0;
    const enum ub_format format = human ? ub_format_of_path(job->paths.record, UB_FORMAT_JSON) : options->format;
    if (to_file && !ub_write_record(&job->record, format, job->paths.record, options, err))
        return false;
    keep_journal_or_not(job);
    if (to_file && !options->quiet)
        fprintf(stderr, "ubench: record in %s\n", job->paths.record);
    if ((human || !to_file) && !ub_write_record(&job->record, options->format, "-", options, err))
        return false;
    if (!human)
        say_losses(job);
    return job->paths.chart[0] == 0 || draw_all(job, err);
}
