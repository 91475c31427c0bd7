/* SPDX-License-Identifier: MIT
 *
 * `ubench run RULE...|all`: resolves what is asked, measures or predicts, writes
 * the record, the table and the chart. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "harness/cli/options.h"
#include "harness/cli/run_folder.h"
#include "harness/cli/run_paths.h"
#include "harness/cli/target.h"
#include "harness/contract/counters.h"
#include "harness/engine/lock.h"
#include "harness/engine/run.h"
#include "harness/io/formats.h"
#include "plots/render.h"
#include "ub_version.h"

enum { DEFAULT_ROUNDS = 30, SUITE_ROUNDS = 10, MAX_KEYS = 64, LOSSES_SHOWN = 5 };
/* One graph launch adds some 3 us to a sample: 2 ms keep that under 0.2 %. */
static const double MIN_SAMPLE_NS = 2e6;

/* Everything of one run on one target. */
struct job {
    struct ub_options *options;
    struct ub_target *target;
    struct ub_plan plan;
    struct ub_run_request request;
    struct ub_record record;
    const char *keys[MAX_KEYS];
    char *key_text; /* owned copy of --counters KEY,KEY */
    struct ub_run_paths paths;
    bool waited;    /* for another run to end: what the probe saw was that one */
    bool undrawn;   /* a chart that was asked for has nothing to show */
    double drawn_s; /* progress */
};

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

/* ---- what is asked ----------------------------------------------------------- */

static unsigned suite_of(const struct ub_options *options)
{
    if (!options->suite)
        return UB_SUITE_DEFAULT;
    return strcmp(options->suite, "quick") == 0 ? UB_SUITE_QUICK : UB_SUITE_FULL;
}

static bool plan_rule(struct job *job, const struct ub_entry *entry, struct ub_error *err)
{
    struct ub_options *options = job->options;
    bool ceilings = job->target->measured && !options->profile;
    return ub_plan_add(&job->plan, entry, &job->target->gpu, suite_of(options), options->axes, options->axis_count,
                       ceilings, options->force, err);
}

static bool make_plan(struct job *job, struct ub_error *err)
{
    struct ub_options *options = job->options;
    if (options->operand_count == 0)
        return ub_fail(err, UB_USAGE, "run needs the name of a rule, or all; ubench list names them");
    for (size_t i = 0; i < options->operand_count; i++) {
        const char *name = options->operands[i];
        if (strcmp(name, "all") == 0) {
            for (size_t j = 0; j < ub_entry_count; j++)
                if (!plan_rule(job, &ub_entries[j], err))
                    return false;
            continue;
        }
        const struct ub_entry *entry = ub_registry_find(name, err);
        if (!entry || !plan_rule(job, entry, err))
            return false;
    }
    return true;
}

static bool take_keys(struct job *job, struct ub_error *err)
{
    const char *text = job->options->counters;
    struct ub_run_request *request = &job->request;
    request->counters = UB_COUNT_AUTO;
    if (!text || strcmp(text, "auto") == 0)
        return true;
    /* UBENCH_COUNTERS=0 is the switch that cupti/ knows as well. */
    if (strcmp(text, "off") == 0 || strcmp(text, "0") == 0) {
        request->counters = UB_COUNT_OFF;
        return true;
    }
    if (strcmp(text, "require") == 0) {
        request->counters = UB_COUNT_REQUIRE;
        return true;
    }
    job->key_text = strdup(text);
    for (char *rest = job->key_text, *key; rest && (key = strsep(&rest, ","));) {
        if (*key == 0)
            return ub_fail(err, UB_USAGE, "--counters %s: an empty name; write auto, off, require or KEY,KEY", text);
        if (request->extra_key_count == MAX_KEYS)
            return ub_fail(err, UB_USAGE, "--counters: at most %d keys", MAX_KEYS);
        if (!ub_options_check_key(key, err))
            return false;
        job->keys[request->extra_key_count++] = key;
    }
    request->extra_keys = job->keys;
    return true;
}

/* ---- running ------------------------------------------------------------------ */

static void timestamp(char *text, size_t size, const char *format)
{
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(text, size, format, &utc);
}

static void message(void *user, const char *text)
{
    (void)user;
    fprintf(stderr, "ubench: %s\n", text);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void draw_progress(void *user, const struct ub_progress *progress)
{
    struct job *job = user;
    const double seconds = now_s();
    if (seconds - job->drawn_s < 0.1)
        return;
    job->drawn_s = seconds;
    fprintf(stderr, "\r\033[K%s: %s %zu/%zu", progress->planned->micro->name, progress->phase, progress->done,
            progress->total);
    if (!isnan(progress->clock_mhz))
        fprintf(stderr, "  %.0f MHz", progress->clock_mhz);
    fflush(stderr);
}

static bool progress_wanted(const struct ub_options *options)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && !options->quiet && !getenv("CI") && !(term && strcmp(term, "dumb") == 0);
}

/* "Intel(R) Xeon(R) Platinum 8480C", as the kernel has it; NULL: it does not say. */
static void find_host_cpu(char **out)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            char *name = strchr(line, ':') + 1;
            name += strspn(name, " \t");
            name[strcspn(name, "\n")] = 0;
            ub_set_string(out, *name ? name : NULL);
            break;
        }
    if (file)
        fclose(file);
}

static void fill_run_info(struct job *job)
{
    struct ub_run_info *run = &job->record.run;
    char text[64];
    char when[32];
    timestamp(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ");
    timestamp(when, sizeof when, "%Y%m%dT%H%M%SZ");
    ub_set_string(&run->started, text);
    snprintf(text, sizeof text, "%s-%016llx", when, (unsigned long long)ub_plan_hash(&job->request));
    ub_set_string(&run->id, text);
    run->argv = calloc((size_t)job->options->argc + 1, sizeof *run->argv);
    for (; run->argv && run->argc < job->options->argc; run->argc++)
        run->argv[run->argc] = strdup(run->argc == 0 ? "ubench" : job->options->argv[run->argc]);
    run->seed = job->request.seed;
    run->rounds = job->target->measured ? job->request.rounds : 0;
    run->jit = -1;
    if (job->target->measured)
        find_host_cpu(&run->host_cpu);
    ub_set_string(&run->version, UB_VERSION);
    ub_set_string(&run->nvcc, UB_NVCC[0] ? UB_NVCC : NULL);
    ub_set_string(&run->archs, UB_ARCHS[0] ? UB_ARCHS : NULL);
    ub_set_string(&run->code_hash, UB_CODE_HASH);
}

static void make_request(struct job *job)
{
    const struct ub_options *options = job->options;
    struct ub_run_request *request = &job->request;
    request->plan = &job->plan;
    request->gpu = &job->target->gpu;
    request->device = job->target->ordinal;
    request->seed = options->seed;
    request->rounds = options->rounds ? options->rounds : options->suite ? SUITE_ROUNDS : DEFAULT_ROUNDS;
    request->min_sample_ns = MIN_SAMPLE_NS;
    request->point_timeout_s = options->timeout_s;
    request->time_limit_s = options->time_limit_s;
    request->zeros = options->data && strcmp(options->data, "zeros") == 0;
    request->cold = options->cold;
    request->verbose = options->verbose;
    request->journal = job->paths.journal[0] ? job->paths.journal : NULL;
    request->resume = options->resume;
    request->interrupted = &interrupted;
    request->message = message;
    request->progress = progress_wanted(options) ? draw_progress : NULL;
    request->user = job;
}

static void warn_of_card(struct job *job)
{
    if (job->target->other_processes > 0 && !job->waited)
        ub_record_warn(&job->record, "other-processes", -1,
                       "%d other process(es) had a context on the GPU when the run began: times and DRAM counters may "
                       "be disturbed",
                       job->target->other_processes);
    if (job->record.device.throttle_reasons && job->record.device.throttle_reasons[0])
        ub_record_warn(&job->record, "throttled", -1, "the clock is held down: %s",
                       job->record.device.throttle_reasons);
    if (job->record.device.mig == 1)
        ub_record_warn(&job->record, "mig", -1,
                       "MIG is on: a slice of the card was measured, its ceilings are the slice's");
}

static bool hold_lock(struct job *job, struct ub_lock *lock, struct ub_error *err)
{
    const char *name = job->record.device.uuid ? job->record.device.uuid : "gpu";
    bool said = false;
    lock->file = -1;
    while (!ub_lock_try(lock, name, err)) {
        if (!said)
            message(NULL, "another run uses this GPU; waiting for it to end (Ctrl-C gives up)");
        said = job->waited = true;
        if (interrupted)
            return ub_fail(err, UB_INCOMPLETE, "interrupted while waiting for the GPU");
        usleep(100000);
    }
    if (err->text[0])
        message(NULL, err->text);
    err->text[0] = 0;
    return true;
}

static bool measure(struct job *job, struct ub_error *err)
{
    struct ub_lock lock;
    if (!hold_lock(job, &lock, err))
        return false;
    bool ok = ub_run_measure(&job->request, &job->record, err);
    ub_lock_drop(&lock);
    if (job->request.progress)
        fprintf(stderr, "\r\033[K");
    warn_of_card(job);
    return ok;
}

/* ---- output --------------------------------------------------------------------- */

static bool draw(struct job *job, const char *rule, const char *path, struct ub_error *err)
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
static void say_undrawn(struct job *job, const char *path, struct ub_error *err)
{
    if (job->options->plot) {
        fprintf(stderr, "ubench: no chart%s%s: %s\n", strcmp(path, "-") == 0 ? "" : " in ",
                strcmp(path, "-") == 0 ? "" : path, err->text);
        job->undrawn = true;
    }
    err->text[0] = 0;
}

/* One chart a rule; a chart that was not asked for and cannot be drawn is a sentence, not a failure. */
static bool draw_all(struct job *job, struct ub_error *err)
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
    }
    return true;
}

/* In formats for programs no table shows what was lost: say it on stderr. */
static void say_losses(const struct job *job)
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

/* The journal is for --resume: it stays while there is something that this could settle. */
static void keep_journal_or_not(const struct job *job)
{
    const size_t lost = ub_run_retryable(&job->record);
    if (!job->paths.journal[0] || !job->record.run.complete)
        return;
    if (lost == 0)
        unlink(job->paths.journal);
    else
        fprintf(stderr,
                "ubench: %zu point%s failed or timed out: the same command with --resume -o %s measures %s again\n",
                lost, lost == 1 ? "" : "s", job->paths.record, lost == 1 ? "it" : "them");
}

/* The file first: a reader of stdout that goes away costs only what it did not read. */
static bool write_all(struct job *job, struct ub_error *err)
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

/* ---- the dry run ---------------------------------------------------------------- */

static void dry_run(struct job *job)
{
    struct ub_record record = {0};
    ub_run_predict(&job->request, &record);
    double total_ns = 0;
    double largest = 0;
    for (size_t i = 0; i < record.point_count; i++) {
        const struct ub_record_point *point = &record.points[i];
        char label[512];
        char bytes[32] = "-";
        char time[32] = "-";
        ub_point_label(point, label, sizeof label);
        if (!isnan(point->footprint_bytes))
            ub_format_bytes(point->footprint_bytes, bytes, sizeof bytes);
        if (!isnan(point->predicted_ns))
            ub_format_time(point->predicted_ns, time, sizeof time);
        printf("%s  sweep=%s  memory=%s  time=%s%s%s\n", label, point->sweep, bytes, time,
               point->reason ? "  skipped: " : "", point->reason ? point->reason : "");
        if (!isnan(point->predicted_ns))
            total_ns += job->request.rounds * 1.2 * fmax(point->predicted_ns, MIN_SAMPLE_NS);
        if (!point->reason)
            largest = fmax(largest, point->footprint_bytes);
    }
    char bytes[32];
    char time[32];
    ub_format_bytes(largest, bytes, sizeof bytes);
    ub_format_time(total_ns, time, sizeof time);
    printf("%zu point%s on %s; at most %s of GPU memory; about %s of timing in %d rounds, then counters %s\n",
           record.point_count, record.point_count == 1 ? "" : "s",
           job->target->device.name ? job->target->device.name : "?", bytes, time, job->request.rounds,
           job->options->counters ? job->options->counters : "auto");
    ub_record_free(&record);
}

/* Required counters that cannot be there are refused before anything else. */
static bool check_required(const struct job *job, struct ub_error *err)
{
    if (job->target->measured || job->request.counters != UB_COUNT_REQUIRE)
        return true;
    return ub_fail(err, UB_NO_COUNTERS, "--counters require: nothing is measured here, so no counter can be read");
}

/* ---- under another tool ---------------------------------------------------------- */

static bool launch_only(struct job *job, struct ub_error *err)
{
    size_t launched = 0;
    if (!job->target->measured)
        return ub_fail(err, UB_NO_DEVICE, "--profile launches kernels: it needs a GPU");
    /* Tools that hold a process back while they replay it would look like a hang. */
    job->request.point_timeout_s = 1e6;
    job->request.progress = NULL;
    bool ok = ub_run_launch(&job->request, &job->record, &launched, err);
    for (size_t i = 0; i < job->record.point_count; i++)
        if (job->record.points[i].reason)
            fprintf(stderr, "ubench: point %zu: %s\n", i, job->record.points[i].reason);
    printf("%zu of %zu points launched once\n", launched, job->plan.count);
    return ok;
}

/* ---- the verb ------------------------------------------------------------------- */

static void free_job(struct job *job)
{
    job->record.device = (struct ub_device_info){0}; /* the target's */
    ub_record_free(&job->record);
    ub_plan_free(&job->plan);
    free(job->key_text);
}

/* Of several, 6 comes before 74 and 74 before 5 (DESIGN section 5). */
static enum ub_status worse(enum ub_status a, enum ub_status b)
{
    static const enum ub_status order[] = {UB_WRONG_ANSWER, UB_CANNOT_WRITE, UB_INCOMPLETE};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return a > b ? a : b;
}

static enum ub_status run_target(struct ub_options *options, struct ub_targets *targets, size_t index,
                                 struct ub_error *err)
{
    struct ub_target *target = &targets->items[index];
    struct job job = {.options = options, .target = target};
    bool ok = take_keys(&job, err) && make_plan(&job, err) && ub_options_check_axes(options, err);
    enum ub_status status = UB_OK;
    if (ok && targets->note[0])
        fprintf(stderr, "ubench: %s\n", targets->note);
    ok = ok && ub_run_paths_choose(options, target, targets->count, &job.paths, err);
    if (ok)
        make_request(&job);
    if (ok && options->dry_run) {
        dry_run(&job);
        free_job(&job);
        return UB_OK;
    }
    if (ok && options->profile) {
        ok = launch_only(&job, err);
        status = ok ? ub_run_status(&job.record, UB_COUNT_OFF) : err->status;
        free_job(&job);
        return status;
    }
    ok = ok && check_required(&job, err) && ub_run_paths_check(options, target, &job.paths, err);
    if (ok) {
        job.record.device = target->device;
        fill_run_info(&job);
        if (target->measured)
            ok = measure(&job, err);
        else
            ub_run_predict(&job.request, &job.record);
        char now[32];
        timestamp(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ");
        ub_set_string(&job.record.run.finished, now);
        target->device = job.record.device; /* a worker may have replaced its strings */
    }
    if (ok) {
        status = ub_run_status(&job.record, job.request.counters);
        /* What was measured is written whatever it says. */
        ok = write_all(&job, err);
        /* Where points were lost, that is why there is nothing to draw: it stays the news. */
        if (ok && job.undrawn && status == UB_OK)
            status = UB_CANNOT_WRITE;
    }
    free_job(&job);
    if (!ok)
        status = worse(status, err->status);
    return interrupted ? (enum ub_status)(128 + interrupted) : status;
}

/* ---- into a folder ---------------------------------------------------------------- */

/* One rule of a run into a folder. */
struct part {
    struct ub_options options;
    char record[UB_PATH_BYTES];
    bool done; /* an earlier run, which --resume goes on with, has it */
};

/* Everything that can be refused before anything is measured. */
static bool look_at(struct part *part, struct ub_targets *targets, size_t index, struct ub_error *err)
{
    struct ub_options *options = &part->options;
    struct job job = {.options = options, .target = &targets->items[index]};
    const bool writes = !options->dry_run && !options->profile;
    bool ok = take_keys(&job, err) && make_plan(&job, err) &&
              ub_run_paths_choose(options, job.target, targets->count, &job.paths, err);
    if (ok && writes && options->resume) {
        const enum ub_run_found found = ub_run_folder_found(job.paths.record);
        part->done = found == UB_RUN_COMPLETE;
        options->resume = found == UB_RUN_CUT_OFF;
    }
    ok = ok && check_required(&job, err) &&
         (!writes || part->done || ub_run_paths_check(options, job.target, &job.paths, err));
    free_job(&job);
    return ok;
}

/* Options of a run of this rule alone. */
static bool make_part(const struct ub_options *options, const char *rule, struct part *part, struct ub_error *err)
{
    part->options = *options;
    part->options.operands[0] = rule;
    part->options.operand_count = 1;
    part->options.output = part->record;
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
    const double start_s = now_s();
    for (size_t i = 0; i < count && !interrupted; i++) {
        struct ub_error err = {0};
        struct ub_options *options = &parts[i].options;
        if (parts[i].done) {
            fprintf(stderr, "ubench: %s is complete\n", parts[i].record);
            continue;
        }
        options->time_limit_s -= now_s() - start_s;
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
    bool ok = (rules && parts) || ub_fail(err, UB_INTERNAL, "out of memory");
    if (ok && options->plot)
        ok = ub_fail(err, UB_USAGE, "--plot and -o %s: each rule's chart goes into that folder", options->output);
    if (ok)
        count = ub_run_folder_rules(options, rules, err);
    ok = count > 0 && (options->dry_run || options->profile || ub_run_folder_make(options->output, err));
    for (size_t i = 0; ok && i < count; i++) {
        ok = make_part(options, rules[i], &parts[i], err) && look_at(&parts[i], targets, index, err);
        share_axes(options, &parts[i].options);
    }
    ok = ok && ub_options_check_axes(options, err);
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
