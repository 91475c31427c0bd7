/* SPDX-License-Identifier: MIT */
#include "harness/cli/run_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "harness/contract/counters.h"
#include "harness/engine/lock.h"
#include "ub_version.h"

enum { DEFAULT_ROUNDS = 30, SUITE_ROUNDS = 10 };
/* One graph launch adds some 3 us to a sample: 2 ms keep that under 0.2 %. */
static const double MIN_SAMPLE_NS = 2e6;

/* ---- what is asked ----------------------------------------------------------- */

static unsigned suite_of(const struct ub_options *options)
{
    if (!options->suite)
        return UB_SUITE_DEFAULT;
    return strcmp(options->suite, "quick") == 0 ? UB_SUITE_QUICK : UB_SUITE_FULL;
}

static bool plan_rule(struct ub_run_job *job, const struct ub_entry *entry, struct ub_error *err)
{
    struct ub_options *options = job->options;
    bool ceilings = job->target->measured && !options->profile;
    return ub_plan_add(&job->plan, entry, &job->target->gpu, suite_of(options), options->axes, options->axis_count,
                       ceilings, options->force, err);
}

static bool plan_rules(struct ub_run_job *job, struct ub_error *err)
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

static bool take_keys(struct ub_run_job *job, struct ub_error *err)
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
        if (request->extra_key_count == UB_MAX_KEYS)
            return ub_fail(err, UB_USAGE, "--counters: at most %d keys", UB_MAX_KEYS);
        if (!ub_options_check_key(key, err))
            return false;
        job->keys[request->extra_key_count++] = key;
    }
    request->extra_keys = job->keys;
    return true;
}

bool ub_run_job_plan(struct ub_run_job *job, struct ub_error *err)
{
    return take_keys(job, err) && plan_rules(job, err);
}

/* Required counters that cannot be there are refused before anything else. */
bool ub_run_job_required(const struct ub_run_job *job, struct ub_error *err)
{
    if (job->target->measured || job->request.counters != UB_COUNT_REQUIRE)
        return true;
    return ub_fail(err, UB_NO_COUNTERS, "--counters require: nothing is measured here, so no counter can be read");
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

double ub_run_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void draw_progress(void *user, const struct ub_progress *progress)
{
    struct ub_run_job *job = user;
    const double seconds = ub_run_now_s();
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

static void fill_run_info(struct ub_run_job *job)
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

/* A rule of which axes are named has no points of a suite. */
static bool has_suite(const struct ub_run_job *job)
{
    for (size_t i = 0; i < job->plan.count; i++)
        if (job->options->suite && !ub_plan_names(job->plan.points[i].sweep))
            return true;
    return false;
}

void ub_run_job_request(struct ub_run_job *job)
{
    const struct ub_options *options = job->options;
    struct ub_run_request *request = &job->request;
    request->plan = &job->plan;
    request->gpu = &job->target->gpu;
    request->device = job->target->ordinal;
    request->seed = options->seed;
    request->rounds = options->rounds ? options->rounds : has_suite(job) ? SUITE_ROUNDS : DEFAULT_ROUNDS;
    request->min_sample_ns = MIN_SAMPLE_NS;
    request->point_timeout_s = options->timeout_s;
    request->time_limit_s = options->time_limit_s;
    request->zeros = options->data && strcmp(options->data, "zeros") == 0;
    request->cold = options->cold;
    request->verbose = options->verbose;
    request->journal = job->paths.journal[0] ? job->paths.journal : NULL;
    request->resume = options->resume;
    request->redact = options->redact;
    request->interrupted = job->interrupted;
    request->message = message;
    request->progress = progress_wanted(options) ? draw_progress : NULL;
    request->user = job;
}

static void warn_of_card(struct ub_run_job *job)
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

static bool hold_lock(struct ub_run_job *job, struct ub_lock *lock, struct ub_error *err)
{
    const char *name = job->record.device.uuid ? job->record.device.uuid : "gpu";
    bool said = false;
    lock->file = -1;
    while (!ub_lock_try(lock, name, err)) {
        if (!said)
            message(NULL, "another run uses this GPU; waiting for it to end (Ctrl-C gives up)");
        said = job->waited = true;
        if (*job->interrupted)
            return ub_fail(err, UB_INCOMPLETE, "interrupted while waiting for the GPU");
        usleep(100000);
    }
    if (err->text[0])
        message(NULL, err->text);
    err->text[0] = 0;
    return true;
}

static bool measure(struct ub_run_job *job, struct ub_error *err)
{
    struct ub_lock lock;
    if (!hold_lock(job, &lock, err))
        return false;
    /* The run that this one waited for may have written what this one is to write. */
    bool ok = !job->waited || ub_output_check(job->paths.record, job->options->force, err);
    ok = ok && ub_run_measure(&job->request, &job->record, err);
    ub_lock_drop(&lock);
    if (job->request.progress)
        fprintf(stderr, "\r\033[K");
    warn_of_card(job);
    return ok;
}

bool ub_run_job_measure(struct ub_run_job *job, struct ub_error *err)
{
    bool ok = true;
    job->record.device = job->target->device;
    fill_run_info(job);
    if (job->target->measured)
        ok = measure(job, err);
    else
        ub_run_predict(&job->request, &job->record);
    char now[32];
    timestamp(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ");
    ub_set_string(&job->record.run.finished, now);
    job->target->device = job->record.device; /* a worker may have replaced its strings */
    return ok;
}

void ub_run_job_free(struct ub_run_job *job)
{
    job->record.device = (struct ub_device_info){0}; /* the target's */
    ub_record_free(&job->record);
    ub_plan_free(&job->plan);
    free(job->key_text);
}
