/* SPDX-License-Identifier: MIT
 *
 * `ubench run RULE...|all`: each target, and into a folder each rule, is a job
 * (run_job.h); here is their order, and what a signal or a failure means for the rest. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/cli/run_folder.h"
#include "harness/cli/run_job.h"

static volatile sig_atomic_t interrupted; /* the signal; written by the handler only */

static void on_signal(int number)
{
    if (interrupted)
        _exit(128 + number);
    interrupted = number;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- one target ------------------------------------------------------------------ */

/* Of several, 6 comes before 74 and 74 before 5 (DESIGN section 5). */
static enum ub_status worse(enum ub_status a, enum ub_status b)
{
    static const enum ub_status order[] = {UB_WRONG_ANSWER, UB_CANNOT_WRITE, UB_INCOMPLETE};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return a > b ? a : b;
}

/* What was measured is written whatever it says. */
static enum ub_status write_down(struct ub_run_job *job, struct ub_error *err)
{
    const enum ub_status status = ub_run_status(&job->record, job->request.counters);
    if (!ub_run_job_write(job, err))
        return worse(status, err->status);
    /* Where points were lost, that is why there is nothing to draw: it stays the news. */
    return job->undrawn && status == UB_OK ? UB_CANNOT_WRITE : status;
}

static enum ub_status run_target(struct ub_options *options, struct ub_targets *targets, size_t index,
                                 struct ub_error *err)
{
    struct ub_target *target = &targets->items[index];
    struct ub_run_job job = {.options = options, .target = target, .interrupted = &interrupted};
    bool ok = ub_run_job_plan(&job, err) && ub_options_check_axes(options, err);
    enum ub_status status = UB_OK;
    if (ok && targets->note[0])
        fprintf(stderr, "ubench: %s\n", targets->note);
    ok = ok && ub_run_paths_choose(options, target, targets->count, &job.paths, err);
    if (ok)
        ub_run_job_request(&job);
    if (ok && options->dry_run) {
        ub_run_job_dry(&job);
    } else if (ok && options->profile) {
        ok = ub_run_job_launch(&job, err);
        status = ok ? ub_run_status(&job.record, UB_COUNT_OFF) : err->status;
    } else {
        ok = ok && ub_run_job_required(&job, err) &&
             ub_run_paths_check(options, target, &job.paths, ub_plan_hash(&job.request), err) &&
             ub_run_job_measure(&job, err);
        if (ok)
            status = write_down(&job, err);
        else
            status = err->status;
    }
    ub_run_job_free(&job);
    return interrupted ? (enum ub_status)(128 + interrupted) : status;
}

/* ---- into a folder ---------------------------------------------------------------- */

/* One rule of a run into a folder. */
struct part {
    struct ub_options options;
    char record[UB_PATH_BYTES];
    bool done; /* an earlier run, which --resume goes on with, has it */
};

/* What --resume means for this rule: what is complete stays, what was not begun is, and the
 * chart that may be left of it is replaced; the rest is for ub_run_paths_check(). */
static void see_what_is_left(struct part *part, const struct ub_run_job *job, uint64_t plan)
{
    const enum ub_run_found found = ub_run_found(&part->options, &job->paths, plan);
    part->done = found == UB_RUN_COMPLETE;
    if (found == UB_RUN_NONE) {
        part->options.resume = false;
        part->options.force = true;
    }
}

/* Everything that can be refused before anything is measured. */
static bool look_at(struct part *part, struct ub_targets *targets, size_t index, struct ub_error *err)
{
    struct ub_options *options = &part->options;
    struct ub_run_job job = {.options = options, .target = &targets->items[index], .interrupted = &interrupted};
    const bool writes = !options->dry_run && !options->profile;
    bool ok = ub_run_job_plan(&job, err) && ub_run_paths_choose(options, job.target, targets->count, &job.paths, err) &&
              ub_run_job_required(&job, err);
    if (ok && writes) {
        ub_run_job_request(&job);
        const uint64_t plan = ub_plan_hash(&job.request);
        if (options->resume && job.target->measured)
            see_what_is_left(part, &job, plan);
        ok = part->done || ub_run_paths_check(options, job.target, &job.paths, plan, err);
    }
    ub_run_job_free(&job);
    return ok;
}

/* Options of a run of this rule alone. */
static bool make_part(const struct ub_options *options, const char *rule, struct part *part, struct ub_error *err)
{
    part->options = *options;
    part->options.operands[0] = rule;
    part->options.operand_count = 1;
    part->options.output = part->record;
    part->options.folder = options->output;
    return ub_run_folder_record(options, rule, part->record, sizeof part->record, err);
}

/* Leaves the axes that the rule has; what none has is refused for all of them. */
static void share_axes(struct ub_options *options, struct ub_options *of_part)
{
    size_t kept = 0;
    for (size_t i = 0; i < options->axis_count; i++) {
        options->axes[i].used = options->axes[i].used || of_part->axes[i].used;
        if (of_part->axes[i].used)
            of_part->axes[kept++] = of_part->axes[i];
    }
    of_part->axis_count = kept;
}

/* The time limit is that of all rules together. */
static enum ub_status run_parts(struct part *parts, size_t count, struct ub_targets *targets, size_t index)
{
    enum ub_status worst = UB_OK;
    const double start_s = ub_run_now_s();
    for (size_t i = 0; i < count && !interrupted; i++) {
        struct ub_error err = {0};
        struct ub_options *options = &parts[i].options;
        if (parts[i].done) {
            fprintf(stderr, "ubench: %s is complete\n", parts[i].record);
            continue;
        }
        options->time_limit_s -= ub_run_now_s() - start_s;
        enum ub_status status = UB_INCOMPLETE;
        if (options->time_limit_s > 0)
            status = run_target(options, targets, index, &err);
        else
            ub_fail(&err, status, "not begun within the time limit; --resume does it");
        worst = worse(worst, status);
        if (err.text[0]) /* the other rules go on */
            fprintf(stderr, "ubench: %s: %s\n", options->operands[0], err.text);
    }
    return worst;
}

static enum ub_status run_into_folder(struct ub_options *options, struct ub_targets *targets, size_t index,
                                      struct ub_error *err)
{
    const char **rules = calloc(ub_entry_count, sizeof *rules);
    struct part *parts = calloc(ub_entry_count, sizeof *parts);
    size_t count = 0;
    bool made = false;
    bool ok = (rules && parts) || ub_fail(err, UB_INTERNAL, "out of memory");
    if (ok && options->plot)
        ok = ub_fail(err, UB_USAGE, "--plot and -o %s: each rule's chart goes into that folder", options->output);
    if (ok)
        count = ub_run_folder_rules(options, rules, err);
    ok = count > 0 && (options->dry_run || options->profile || ub_run_folder_make(options->output, &made, err));
    for (size_t i = 0; ok && i < count; i++) {
        ok = make_part(options, rules[i], &parts[i], err) && look_at(&parts[i], targets, index, err);
        share_axes(options, &parts[i].options);
    }
    ok = ok && ub_options_check_axes(options, err);
    if (!ok && made)
        rmdir(options->output); /* nothing was measured */
    const enum ub_status status = ok ? run_parts(parts, count, targets, index) : err->status;
    free(parts);
    free(rules);
    return status;
}

enum ub_status ub_cmd_run(struct ub_options *options, struct ub_error *err)
{
    struct ub_targets targets;
    enum ub_status worst = UB_OK;
    if (!ub_targets_resolve(options->device, &targets, err)) {
        ub_targets_free(&targets);
        return err->status;
    }
    const bool folder = ub_run_folder_named(options);
    catch_signals();
    for (size_t i = 0; i < targets.count && !interrupted; i++) {
        for (size_t j = 0; j < options->axis_count; j++)
            options->axes[j].used = false;
        worst =
            worse(worst, folder ? run_into_folder(options, &targets, i, err) : run_target(options, &targets, i, err));
        if (err->text[0] && targets.count > 1) { /* the other GPUs go on */
            fprintf(stderr, "ubench: GPU %d: %s\n", targets.items[i].ordinal, err->text);
            err->text[0] = 0;
        }
    }
    if (interrupted)
        worst = (enum ub_status)(128 + interrupted);
    ub_targets_free(&targets);
    return worst;
}
