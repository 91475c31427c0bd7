/* SPDX-License-Identifier: MIT
 *
 * What a journal line means for the record, and the journal file itself: appended
 * to while a run goes, read by --resume. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "harness/engine/law.h"
#include "harness/engine/run_private.h"
#include "harness/engine/stats.h"

static const double SYNC_INTERVAL_S = 0.1;

/* ---- lines into the record --------------------------------------------------- */

static bool valid_point(const struct ub_run *run, long point)
{
    return point >= 0 && (size_t)point < run->record->point_count;
}

/* A worker starts a point over: what an earlier one left of it is not mixed in. */
static void start_over(struct ub_run *run, size_t index)
{
    struct ub_record_point *point = &run->record->points[index];
    free(point->time.samples);
    point->time.samples = NULL;
    point->time.n = 0;
    free(point->spans);
    point->spans = NULL;
    point->span_count = 0;
}

static void apply_start(struct ub_run *run, const struct ub_line *line)
{
    if (line->phase && strcmp(line->phase, "before timing") == 0)
        start_over(run, (size_t)line->point);
}

static void apply_sample(struct ub_run *run, const struct ub_line *line)
{
    struct ub_record_point *point = &run->record->points[line->point];
    ub_point_add_sample(point, line->sample);
    point->time.batch = line->batch;
}

static void apply_static(struct ub_run *run, const struct ub_line *line)
{
    struct ub_record_point *point = &run->record->points[line->point];
    point->has_static = true;
    point->static_ = line->static_;
    /* Machine code from the build has the version it was compiled to; code that the driver
     * made from PTX has the card's, and the PTX that it came from an older one. */
    if (line->static_.binary_version > 0 && line->static_.ptx_version > 0)
        run->record->run.jit = run->record->run.jit == 1 || line->static_.ptx_version != line->static_.binary_version;
}

static void apply_counter(struct ub_run *run, const struct ub_line *line)
{
    struct ub_record_point *point = &run->record->points[line->point];
    struct ub_record_counter *counter = (struct ub_record_counter *)(uintptr_t)ub_point_counter(point, line->key);
    if (!counter)
        counter = ub_point_add_counter(point, line->key, ub_counter_unit(line->key));
    if (!counter)
        return;
    counter->has_measured = line->has_value;
    counter->measured = line->value;
    counter->passes = line->passes;
    ub_set_string(&counter->raw, line->raw);
    ub_set_string(&counter->reason, line->text);
}

static void apply_point(struct ub_run *run, const struct ub_line *line)
{
    struct ub_record_point *point = &run->record->points[line->point];
    struct ub_state *state = &run->states[line->point];
    bool counting = line->phase && strcmp(line->phase, "count") == 0;
    if (counting) {
        /* A time that stands is not lost because its counters could not be read. */
        state->counted = true;
        if (line->status != UB_POINT_OK)
            ub_record_warn(run->record, "no-counters", line->point, "%s", line->text ? line->text : "");
        return;
    }
    state->timed = true;
    point->status = line->status;
    /* A wrong answer has no time, nor has what cannot run now, though an earlier run began with it. */
    if (line->status == UB_POINT_FAILED || line->status == UB_POINT_SKIPPED)
        start_over(run, (size_t)line->point);
    ub_set_string(&point->reason, line->text);
}

static void apply_device(struct ub_run *run, const struct ub_line *line)
{
    /* The parent knows the card already; a worker adds what it saw under load. */
    struct ub_device_info *device = &run->record->device;
    if (!isnan(line->device.clock_load_mhz))
        device->clock_load_mhz = line->device.clock_load_mhz;
    if (!isnan(line->device.power_w))
        device->power_w = line->device.power_w;
    if (!isnan(line->device.temperature_c))
        device->temperature_c = line->device.temperature_c;
    if (line->device.throttle_reasons)
        ub_set_string(&device->throttle_reasons, line->device.throttle_reasons);
}

void ub_run_apply(struct ub_run *run, const struct ub_line *line)
{
    bool on_point = valid_point(run, line->point);
    switch (line->type) {
    case UB_LINE_DEVICE:
        apply_device(run, line);
        break;
    case UB_LINE_CONSTANT:
        ub_constant_set(&run->record->constants, line->constant.name, line->constant.value, line->constant.lo,
                        line->constant.hi, line->constant.unit, "%s", line->constant.origin);
        break;
    case UB_LINE_START:
        if (on_point)
            apply_start(run, line);
        break;
    case UB_LINE_STATIC:
        if (on_point)
            apply_static(run, line);
        break;
    case UB_LINE_SAMPLE:
        if (on_point)
            apply_sample(run, line);
        break;
    case UB_LINE_SPAN:
        if (on_point && !ub_span_wrong(&line->span))
            ub_point_add_span(&run->record->points[line->point], &line->span);
        break;
    case UB_LINE_COUNTER:
        if (on_point && line->key)
            apply_counter(run, line);
        break;
    case UB_LINE_POINT:
        if (on_point)
            apply_point(run, line);
        break;
    case UB_LINE_WARNING:
        if (line->key && strcmp(line->key, "no-counters") == 0 && line->point < 0)
            ub_run_no_counters(run, line->text);
        else
            ub_record_warn(run->record, line->key ? line->key : "warning", line->point, "%s",
                           line->text ? line->text : "");
        break;
    case UB_LINE_ERROR:
        ub_fail(&run->worker_error, (enum ub_status)line->status_code, "%s", line->text ? line->text : "");
        break;
    case UB_LINE_HEADER:
    case UB_LINE_VERIFY: /* a failed one is followed by its POINT line */
    case UB_LINE_END:
        break;
    }
}

void ub_run_no_counters(struct ub_run *run, const char *reason)
{
    ub_set_string(&run->no_counters, reason);
    ub_set_string(&run->record->run.counters, reason);
}

void ub_run_mark_unfinished(struct ub_run *run)
{
    for (size_t i = 0; i < run->record->point_count; i++) {
        struct ub_record_point *point = &run->record->points[i];
        if (point->status == UB_POINT_OK && run->states[i].timed && point->time.n == 0) {
            point->status = UB_POINT_FAILED;
            ub_set_string(&point->reason, "the journal has no samples of this point");
        }
        if (point->status != UB_POINT_OK || run->states[i].timed)
            continue;
        /* An interrupted point keeps the samples that it has; below six there is no interval. */
        point->status = UB_POINT_TIMEOUT;
        ub_set_string(&point->reason,
                      run->out_of_time ? "not finished within the time limit of the run" : "not finished: interrupted");
    }
}

void ub_run_complete_counters(struct ub_run *run)
{
    bool any = false;
    for (size_t i = 0; i < run->record->point_count; i++) {
        struct ub_record_point *point = &run->record->points[i];
        for (size_t j = 0; j < point->counter_count; j++) {
            struct ub_record_counter *counter = &point->counters[j];
            any = any || counter->has_measured;
            if (!counter->has_measured && !counter->reason)
                ub_set_string(&counter->reason, run->no_counters ? run->no_counters : "not read");
        }
    }
    if (any)
        ub_set_string(&run->record->run.counters, "cupti");
    if (run->no_counters && run->request->counters != UB_COUNT_OFF)
        ub_record_warn(run->record, "no-counters", -1, "%s", run->no_counters);
}

void ub_run_take_constant(struct ub_run *run, const struct ub_planned *planned, const struct ub_record_point *point)
{
    struct ub_constants *constants = &run->record->constants;
    struct ub_constant one;
    if (ub_law_excepts(run->record, (size_t)(point - run->record->points)))
        return;
    if (ub_constant_of(planned->micro, run->request->gpu, constants, planned->provides, &planned->point, &point->time,
                       &one))
        ub_constant_set(constants, one.name, one.value, one.lo, one.hi, one.unit, "%s", one.origin);
}

void ub_time_summarise(struct ub_time *time, double tick_ns, struct ub_summary *summary)
{
    double *values = malloc((time->n + 1) * sizeof *values);
    *summary = (struct ub_summary){.median = NAN};
    if (!values)
        return;
    for (size_t i = 0; i < time->n; i++)
        values[i] = time->samples[i].time_ns;
    ub_summarise(values, time->n, tick_ns, summary);
    free(values);
    time->median = summary->median;
    time->ci_lo = summary->ci_lo;
    time->ci_hi = summary->ci_hi;
    time->min = summary->min;
    time->p05 = summary->p05;
    time->p95 = summary->p95;
    time->mad = summary->mad;
    time->cv = summary->cv;
    time->drift = summary->drift;
    time->outliers = summary->outliers;
}

/* ---- the journal file --------------------------------------------------------- */

/* FNV-1a, 64 bit (Fowler, Noll, Vo): an identity, not a defence. */
static uint64_t hashed(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * 1099511628211u;
    return hash;
}

uint64_t ub_plan_hash(const struct ub_run_request *request)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < request->plan->count; i++) {
        const struct ub_planned *planned = &request->plan->points[i];
        hash = hashed(hash, planned->micro->name, strlen(planned->micro->name) + 1);
        hash = hashed(hash, planned->point.values, planned->micro->axis_count * sizeof planned->point.values[0]);
    }
    hash = hashed(hash, &request->rounds, sizeof request->rounds);
    hash = hashed(hash, &request->zeros, sizeof request->zeros);
    return hashed(hash, &request->cold, sizeof request->cold);
}

/* What of a journal's header is not as in this run; NULL: all agrees. */
static const char *difference(const struct ub_run *run, const struct ub_line *header)
{
    const struct ub_run_info *ours = &run->record->run;
    const char *our_plan = strrchr(ours->id ? ours->id : "", '-');
    const char *their_plan = strrchr(header->run.id ? header->run.id : "", '-');
    /* A redacted journal does not say which card of its name it was. */
    if (!ub_same_text(header->device.name, run->record->device.name) ||
        (header->device.uuid && !ub_same_text(header->device.uuid, run->record->device.uuid)))
        return "the GPU is";
    if (!ub_same_text(header->device.driver, run->record->device.driver))
        return "the driver is";
    if (!ub_same_text(header->run.version, ours->version) || !ub_same_text(header->run.code_hash, ours->code_hash))
        return "the version of ubench is";
    if (header->run.seed != ours->seed)
        return "the seed is";
    if (!ub_same_text(our_plan, their_plan))
        return "the axes, rules or options are";
    return NULL;
}

/* What failed or warned then is tried again now. A wrong answer stands: that the next one is
 * right would prove nothing. */
static bool worth_replaying(const struct ub_line *line)
{
    if (line->type == UB_LINE_POINT)
        return line->status == UB_POINT_OK || line->status == UB_POINT_SKIPPED ||
               ub_is_wrong_answer(line->status, line->text);
    return line->type != UB_LINE_ERROR && line->type != UB_LINE_WARNING;
}

/* Reads the lines of an earlier run; a header that disagrees refuses. Returns the
 * length of the sound part: a crash may have cut the last line. */
static bool read_back(struct ub_run *run, FILE *file, long *sound, struct ub_error *err)
{
    char *text = NULL;
    size_t capacity = 0;
    ssize_t length;
    long number = 0;
    bool ok = true;
    *sound = 0;
    while (ok && (length = getline(&text, &capacity, file)) > 0) {
        struct ub_line line = {0};
        const bool whole = text[length - 1] == '\n';
        const bool parsed = whole && ub_line_parse(text, (size_t)length - 1, &line, NULL);
        number++;
        if (!whole && text[0] == '{')
            break; /* cut by a crash: the last one */
        if (!parsed || (number == 1 && line.type != UB_LINE_HEADER)) {
            ub_line_free(&line);
            ok = ub_fail(err, UB_BAD_DATA, "%s: line %ld is not of a journal of ubench: nothing was changed",
                         run->request->journal, number);
            break;
        }
        const char *what = number == 1 ? difference(run, &line) : NULL;
        if (what)
            ok = ub_fail(err, UB_USAGE, "cannot resume from %s: %s not as in that run; start afresh with --force",
                         run->request->journal, what);
        if (ok && worth_replaying(&line))
            ub_run_apply(run, &line);
        *sound += (long)length;
        ub_line_free(&line);
    }
    free(text);
    run->worker_error.text[0] = 0;
    return ok;
}

static void write_header(struct ub_run *run)
{
    struct ub_line header = {
        .type = UB_LINE_HEADER, .point = -1, .run = run->record->run, .device = run->record->device};
    ub_journal_add(run, &header);
}

bool ub_journal_open(struct ub_run *run, struct ub_error *err)
{
    const char *path = run->request->journal;
    long sound = 0;
    if (!path)
        return true;
    FILE *old = run->request->resume ? fopen(path, "re") : NULL;
    if (old) {
        bool ok = read_back(run, old, &sound, err);
        fclose(old);
        if (!ok)
            return false;
    }
    run->journal = fopen(path, sound > 0 ? "r+e" : "we");
    if (!run->journal)
        return ub_fail(err, UB_CANNOT_WRITE, "cannot write %s: %s", path, strerror(errno));
    flock(fileno(run->journal), LOCK_EX | LOCK_NB); /* says that this run is alive; harness/cli/run_paths.c asks */
    if (sound == 0)
        write_header(run);
    else if (ftruncate(fileno(run->journal), sound) != 0 || fseek(run->journal, 0, SEEK_END) != 0)
        return ub_fail(err, UB_CANNOT_WRITE, "cannot append to %s: %s", path, strerror(errno));
    return true;
}

void ub_journal_add(struct ub_run *run, const struct ub_line *line)
{
    if (!run->journal)
        return;
    if (run->request->redact)
        ub_line_write_redacted(run->journal, line, run->record->device.uuid, NULL);
    else
        ub_line_write(run->journal, line, NULL);
    double now = ub_now_s();
    if (now - run->journal_synced_s < SYNC_INTERVAL_S)
        return;
    fflush(run->journal);
    fdatasync(fileno(run->journal));
    run->journal_synced_s = now;
}

bool ub_journal_close(struct ub_run *run, struct ub_error *err)
{
    if (!run->journal)
        return true;
    bool bad = ferror(run->journal) != 0;
    bad = fclose(run->journal) != 0 || bad;
    run->journal = NULL;
    return !bad || ub_fail(err, UB_CANNOT_WRITE, "cannot write %s: is the disk full?", run->request->journal);
}
