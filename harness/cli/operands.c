/* SPDX-License-Identifier: MIT */
#include "harness/cli/operands.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/target.h"
#include "harness/engine/law.h"
#include "harness/engine/run.h"
#include "harness/io/json.h"
#include "ub_version.h"

static bool is_model(const char *name)
{
    return strncmp(name, "model:", 6) == 0;
}

/* ---- a plan of the points of a record ------------------------------------------- */

static bool add_point(struct ub_plan *plan, const struct ub_gpu *gpu, const struct ub_record_point *point)
{
    const struct ub_entry *entry = point->rule ? ub_registry_find(point->rule, NULL) : NULL;
    struct ub_planned planned = {.sweep = point->sweep};
    if (!entry || !ub_point_from_record(entry->micro, point, &planned.point, NULL))
        return false; /* it stays without a partner, and is named so */
    planned.micro = entry->micro;
    planned.skip = entry->micro->supported ? entry->micro->supported(gpu, &planned.point) : NULL;
    plan->points[plan->count++] = planned;
    return true;
}

/* The plan's points are those of `base` that this build knows; `of` says which. */
static bool plan_like(const struct ub_record *base, const char *rule, const struct ub_gpu *gpu, struct ub_plan *plan,
                      const struct ub_record_point **of, struct ub_error *err)
{
    plan->points = calloc(base->point_count + 1, sizeof *plan->points);
    if (!plan->points)
        return ub_fail(err, UB_INTERNAL, "out of memory");
    for (size_t i = 0; i < base->point_count; i++)
        if ((!rule || ub_same_text(base->points[i].rule, rule)) && add_point(plan, gpu, &base->points[i]))
            of[plan->count - 1] = &base->points[i];
    return true;
}

static bool plan_default(const char *rule, const struct ub_gpu *gpu, struct ub_plan *plan, struct ub_error *err)
{
    if (rule && !ub_registry_find(rule, err))
        return false;
    for (size_t i = 0; i < ub_entry_count; i++)
        if ((!rule || strcmp(ub_entries[i].micro->name, rule) == 0) &&
            !ub_plan_add(plan, &ub_entries[i], gpu, UB_SUITE_DEFAULT, NULL, 0, false, true, err))
            return false;
    return true;
}

/* ---- a prediction in the place of a file -------------------------------------------- */

static void predict_plan(const struct ub_plan *plan, struct ub_target *target, struct ub_record *record)
{
    const struct ub_run_request request = {.plan = plan, .gpu = &target->gpu, .time_limit_s = 900};
    ub_run_predict(&request, record);
    record->device = target->device;
    target->device = (struct ub_device_info){0};
    record->run.jit = -1;
    ub_set_string(&record->run.version, UB_VERSION);
}

/* A law knows neither the data nor the state of the cache: the prediction is for those of
 * the record. */
static void copy_settings(struct ub_record *record, const struct ub_record_point *const *of)
{
    for (size_t i = 0; i < record->point_count; i++) {
        ub_set_string(&record->points[i].data, of[i]->data);
        ub_set_string(&record->points[i].cache, of[i]->cache);
    }
}

static bool predict_like(const struct ub_record *base, const char *rule, struct ub_target *target,
                         struct ub_record *record, struct ub_error *err)
{
    struct ub_plan plan = {0};
    const struct ub_record_point **of = base ? calloc(base->point_count + 1, sizeof *of) : NULL;
    bool ok = !base || of || ub_fail(err, UB_INTERNAL, "out of memory");
    ok = ok &&
         (base ? plan_like(base, rule, &target->gpu, &plan, of, err) : plan_default(rule, &target->gpu, &plan, err));
    if (ok)
        predict_plan(&plan, target, record);
    if (ok && base)
        copy_settings(record, of);
    ub_plan_free(&plan);
    free(of);
    return ok;
}

static bool load_model(const char *name, const struct ub_record *base, const char *rule, struct ub_record *record,
                       struct ub_error *err)
{
    struct ub_targets *targets = calloc(1, sizeof *targets);
    if (!targets)
        return ub_fail(err, UB_INTERNAL, "out of memory");
    const bool ok = ub_targets_resolve(name, targets, err) && predict_like(base, rule, &targets->items[0], record, err);
    ub_targets_free(targets);
    free(targets);
    return ok;
}

/* ---- all ---------------------------------------------------------------------------- */

static const struct ub_record *find_base(size_t count, const char *const *names, const struct ub_operands *operands)
{
    for (size_t i = 0; i < count; i++)
        if (!is_model(names[i]) && operands->records[i].source != UB_PUBLISHED)
            return &operands->records[i];
    return NULL;
}

/* ---- files --------------------------------------------------------------------------- */

struct reading {
    const char *name;
    struct ub_record *record;
    struct ub_error err;
    bool ok, threaded;
    pthread_t thread;
};

static void *read_one(void *user)
{
    struct reading *reading = user;
    reading->ok = ub_json_read_file(reading->name, reading->record, &reading->err);
    return NULL;
}

/* Each in a thread of its own, since reading takes longer than comparing. Of several that
 * cannot be read the first is named. */
static bool read_files(struct reading *readings, size_t count, struct ub_error *err)
{
    bool ok = true;
    for (size_t i = 0; i < count; i++)
        readings[i].threaded = i + 1 < count && pthread_create(&readings[i].thread, NULL, read_one, &readings[i]) == 0;
    for (size_t i = 0; i < count; i++)
        if (!readings[i].threaded)
            read_one(&readings[i]);
    for (size_t i = 0; i < count; i++) {
        if (readings[i].threaded)
            pthread_join(readings[i].thread, NULL);
        if (!readings[i].ok && ok)
            *err = readings[i].err;
        ok = ok && readings[i].ok;
    }
    return ok;
}

/* All files before any model, which may stand before its record. */
static bool load_files(size_t count, const char *const *names, struct ub_operands *out, struct ub_error *err)
{
    struct reading *readings = calloc(count + 1, sizeof *readings);
    size_t files = 0;
    if (!readings)
        return ub_fail(err, UB_INTERNAL, "out of memory");
    for (size_t i = 0; i < count; i++)
        if (!is_model(names[i]))
            readings[files++] = (struct reading){.name = names[i], .record = &out->records[i]};
    const bool ok = read_files(readings, files, err);
    free(readings);
    return ok;
}

static bool load(size_t count, const char *const *names, const char *rule, struct ub_operands *out,
                 struct ub_error *err)
{
    if (!load_files(count, names, out, err))
        return false;
    const struct ub_record *base = find_base(count, names, out);
    for (size_t i = 0; i < count; i++)
        if (is_model(names[i]) && !load_model(names[i], base, rule, &out->records[i], err))
            return false;
    return true;
}

bool ub_operands_load(size_t count, const char *const *names, const char *rule, struct ub_operands *out,
                      struct ub_error *err)
{
    *out = (struct ub_operands){count, calloc(count ? count : 1, sizeof *out->records)};
    if (!out->records)
        return ub_fail(err, UB_INTERNAL, "out of memory");
    const bool ok = load(count, names, rule, out, err);
    if (!ok)
        ub_operands_free(out);
    return ok;
}

void ub_operands_free(struct ub_operands *operands)
{
    for (size_t i = 0; i < operands->count; i++)
        ub_record_free(&operands->records[i]);
    free(operands->records);
    *operands = (struct ub_operands){0};
}
