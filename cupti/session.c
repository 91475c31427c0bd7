/* SPDX-License-Identifier: MIT */
#include "cupti/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cupti/config.h"
#include "cupti/target.h"

/* One key of the set-up on this GPU. */
struct session_key {
    char *raw;          /* owned; NULL: there is none */
    const char *reason; /* why there is none (static text) */
    size_t metric;      /* index into `metrics` where raw is not NULL */
};

struct ub_counter_session {
    struct ub_cupti *cupti;
    CUcontext context;
    struct ub_cupti_target target;
    struct ub_cupti_config config; /* empty where no key has a metric */
    size_t range_limit;
    size_t key_count;
    struct session_key *keys;
    size_t metric_count;
    const char **metrics; /* distinct raw names, borrowed from `keys` */
};

/* What one collect() needs. The profiler object lives as long as it does, so that
 * between two chunks nothing holds the GPU's performance monitor. */
struct capture {
    const struct ub_counter_session *session;
    CUpti_RangeProfiler_Object *profiler;
    size_t range_count;
    uint8_t *image; /* counter data; must not move before the profiler is disabled */
    size_t image_size;
};

static bool fail(const struct ub_counter_session *session, const char *stage, CUptiResult code, struct ub_error *err)
{
    return ub_cupti_fail(session->cupti, stage, code, session->target.driver, session->target.chip, err);
}

/* ---- open ---------------------------------------------------------------- */

/* What key number `index` is on this GPU; the name is kept, since a raw name is the caller's. */
static bool resolve_key(struct ub_counter_session *session, size_t index, const char *name, struct ub_error *err)
{
    const struct ub_cupti_chip chip = {session->cupti, session->target.chip, session->target.availability};
    struct session_key *key = &session->keys[index];
    struct ub_counter_on_chip on_chip;
    if (!ub_cupti_on_chip(&chip, name, &on_chip, err))
        return false;
    key->reason = on_chip.reason;
    if (!on_chip.raw)
        return true;
    key->raw = strdup(on_chip.raw);
    return key->raw || ub_fail(err, UB_INTERNAL, "no memory for counter names");
}

/* Two keys may mean the same metric (a key and its raw name): it is added once. */
static void number_metrics(struct ub_counter_session *session)
{
    for (size_t k = 0; k < session->key_count; k++) {
        struct session_key *key = &session->keys[k];
        size_t metric = 0;
        if (!key->raw)
            continue;
        while (metric < session->metric_count && strcmp(session->metrics[metric], key->raw) != 0)
            metric++;
        if (metric == session->metric_count)
            session->metrics[session->metric_count++] = key->raw;
        key->metric = metric;
    }
}

static bool set_up(struct ub_counter_session *session, const struct ub_counter_setup *setup, struct ub_error *err)
{
    session->keys = calloc(setup->key_count + 1, sizeof *session->keys);
    session->metrics = calloc(setup->key_count + 1, sizeof *session->metrics);
    if (!session->keys || !session->metrics)
        return ub_fail(err, UB_INTERNAL, "no memory for %zu counters", setup->key_count);
    session->key_count = setup->key_count;
    if (!ub_cupti_target_open(&session->target, session->cupti, setup->device, session->context, err))
        return false;
    for (size_t k = 0; k < setup->key_count; k++)
        if (!resolve_key(session, k, setup->keys[k], err))
            return false;
    number_metrics(session);
    if (session->metric_count == 0)
        return true;
    const struct ub_cupti_chip chip = {session->cupti, session->target.chip, session->target.availability};
    return ub_cupti_config_open(&session->config, &chip, session->metric_count, session->metrics, err);
}

bool ub_cupti_session_open(struct ub_counter_session **session, struct ub_cupti *cupti,
                           const struct ub_counter_setup *setup, struct ub_error *err)
{
    *session = NULL;
    struct ub_counter_session *opened = calloc(1, sizeof *opened);
    if (!opened)
        return ub_fail(err, UB_INTERNAL, "no memory for a counter session");
    opened->cupti = cupti;
    opened->context = setup->context;
    opened->range_limit = setup->range_count;
    if (!set_up(opened, setup, err)) {
        ub_cupti_session_close(opened);
        return false;
    }
    *session = opened;
    return true;
}

int ub_cupti_session_passes(const struct ub_counter_session *session)
{
    return session->config.passes;
}

const char *ub_cupti_session_raw(const struct ub_counter_session *session, size_t key)
{
    return key < session->key_count ? session->keys[key].raw : NULL;
}

void ub_cupti_session_close(struct ub_counter_session *session)
{
    if (!session)
        return;
    ub_cupti_config_close(&session->config);
    ub_cupti_target_close(&session->target);
    for (size_t k = 0; k < session->key_count; k++)
        free(session->keys[k].raw);
    free(session->keys);
    free(session->metrics);
    free(session);
}

/* ---- collect: the profiler object ----------------------------------------- */

static bool enable(struct capture *capture, struct ub_error *err)
{
    CUpti_RangeProfiler_Enable_Params params = {
        .structSize = UB_CUPTI_SIZE(CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject),
        .ctx = capture->session->context};
    const CUptiResult code = capture->session->cupti->cuptiRangeProfilerEnable(&params);
    if (code != CUPTI_SUCCESS)
        return fail(capture->session, "cuptiRangeProfilerEnable", code, err);
    capture->profiler = params.pRangeProfilerObject;
    return true;
}

/* Also after a failure: an enabled object would keep the performance monitor from
 * everyone else. What Disable answers then no longer matters. */
static void disable(struct capture *capture)
{
    CUpti_RangeProfiler_Disable_Params params = {
        .structSize = UB_CUPTI_SIZE(CUpti_RangeProfiler_Disable_Params, pRangeProfilerObject),
        .pRangeProfilerObject = capture->profiler};
    if (capture->profiler)
        (void)capture->session->cupti->cuptiRangeProfilerDisable(&params);
    capture->profiler = NULL;
    free(capture->image);
    capture->image = NULL;
}

static bool make_image(struct capture *capture, struct ub_error *err)
{
    const struct ub_counter_session *session = capture->session;
    CUpti_RangeProfiler_GetCounterDataSize_Params size = {
        .structSize = UB_CUPTI_SIZE(CUpti_RangeProfiler_GetCounterDataSize_Params, counterDataSize),
        .pRangeProfilerObject = capture->profiler,
        .pMetricNames = session->metrics,
        .numMetrics = session->metric_count,
        .maxNumOfRanges = capture->range_count,
        .maxNumRangeTreeNodes = (uint32_t)capture->range_count};
    CUptiResult code = session->cupti->cuptiRangeProfilerGetCounterDataSize(&size);
    if (code != CUPTI_SUCCESS)
        return fail(session, "cuptiRangeProfilerGetCounterDataSize", code, err);
    capture->image_size = size.counterDataSize;
    capture->image = calloc(1, size.counterDataSize + 1);
    if (!capture->image)
        return ub_fail(err, UB_INTERNAL, "no memory for counter data of %zu bytes", size.counterDataSize);
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params image = {
        .structSize = UB_CUPTI_SIZE(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, pCounterData),
        .pRangeProfilerObject = capture->profiler,
        .counterDataSize = capture->image_size,
        .pCounterData = capture->image};
    code = session->cupti->cuptiRangeProfilerCounterDataImageInitialize(&image);
    return code == CUPTI_SUCCESS || fail(session, "cuptiRangeProfilerCounterDataImageInitialize", code, err);
}

static bool configure(struct capture *capture, struct ub_error *err)
{
    const struct ub_counter_session *session = capture->session;
    CUpti_RangeProfiler_SetConfig_Params params = {
        .structSize = UB_CUPTI_SIZE(CUpti_RangeProfiler_SetConfig_Params, targetNestingLevel),
        .pRangeProfilerObject = capture->profiler,
        .configSize = session->config.size_bytes,
        .pConfig = session->config.image,
        .counterDataImageSize = capture->image_size,
        .pCounterDataImage = capture->image,
        .range = CUPTI_UserRange,
        .replayMode = CUPTI_UserReplay,
        .maxRangesPerPass = capture->range_count,
        .numNestingLevels = 1,
        .minNestingLevel = 1,
        .passIndex = 0,
        .targetNestingLevel = 1};
    const CUptiResult code = session->cupti->cuptiRangeProfilerSetConfig(&params);
    return code == CUPTI_SUCCESS || fail(session, "cuptiRangeProfilerSetConfig", code, err);
}

/* ---- collect: passes ------------------------------------------------------- */

/* Launches one range between Push and Pop. Pop comes also after a failed launch:
 * the ranges of a pass must be balanced before Stop. */
static bool run_range(struct capture *capture, size_t range, ub_counter_run run, void *user, struct ub_error *err)
{
    const struct ub_counter_session *session = capture->session;
    char name[24];
    snprintf(name, sizeof name, "%zu", range);
    CUpti_RangeProfiler_PushRange_Params push = {.structSize =
                                                     UB_CUPTI_SIZE(CUpti_RangeProfiler_PushRange_Params, pRangeName),
                                                 .pRangeProfilerObject = capture->profiler,
                                                 .pRangeName = name};
    CUptiResult code = session->cupti->cuptiRangeProfilerPushRange(&push);
    if (code != CUPTI_SUCCESS)
        return fail(session, "cuptiRangeProfilerPushRange", code, err);
    const bool launched = run(user, range, err);
    CUpti_RangeProfiler_PopRange_Params pop = {
        .structSize = UB_CUPTI_SIZE(CUpti_RangeProfiler_PopRange_Params, pRangeProfilerObject),
        .pRangeProfilerObject = capture->profiler};
    code = session->cupti->cuptiRangeProfilerPopRange(&pop);
    if (!launched)
        return false;
    return code == CUPTI_SUCCESS || fail(session, "cuptiRangeProfilerPopRange", code, err);
}

static bool run_pass(struct capture *capture, ub_counter_run run, void *user, bool *all_submitted, struct ub_error *err)
{
    const struct ub_counter_session *session = capture->session;
    CUpti_RangeProfiler_Start_Params start = {.structSize =
                                                  UB_CUPTI_SIZE(CUpti_RangeProfiler_Start_Params, pRangeProfilerObject),
                                              .pRangeProfilerObject = capture->profiler};
    CUptiResult code = session->cupti->cuptiRangeProfilerStart(&start);
    if (code != CUPTI_SUCCESS)
        return fail(session, "cuptiRangeProfilerStart", code, err);
    bool launched = true;
    for (size_t range = 0; range < capture->range_count && launched; range++)
        launched = run_range(capture, range, run, user, err);
    CUpti_RangeProfiler_Stop_Params stop = {.structSize =
                                                UB_CUPTI_SIZE(CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted),
                                            .pRangeProfilerObject = capture->profiler};
    code = session->cupti->cuptiRangeProfilerStop(&stop);
    if (!launched)
        return false;
    if (code != CUPTI_SUCCESS)
        return fail(session, "cuptiRangeProfilerStop", code, err);
    *all_submitted = stop.isAllPassSubmitted != 0;
    return true;
}

/* CUPTI counts the passes itself; the config image says how many to expect. */
static bool run_passes(struct capture *capture, ub_counter_run run, void *user, struct ub_error *err)
{
    bool all_submitted = false;
    for (int pass = 0; pass < capture->session->config.passes && !all_submitted; pass++)
        if (!run_pass(capture, run, user, &all_submitted, err))
            return false;
    return all_submitted ||
           ub_fail(err, UB_NO_COUNTERS,
                   "counters are not complete after the %d passes that CUPTI announced: measure fewer counters at once "
                   "(--counters KEY,KEY; %s)",
                   capture->session->config.passes, capture->session->cupti->line);
}

/* ---- collect: values -------------------------------------------------------- */

static bool decode(struct capture *capture, struct ub_error *err)
{
    const struct ub_counter_session *session = capture->session;
    CUpti_RangeProfiler_DecodeData_Params data = {
        .structSize = UB_CUPTI_SIZE(CUpti_RangeProfiler_DecodeData_Params, numOfRangeDropped),
        .pRangeProfilerObject = capture->profiler};
    CUptiResult code = session->cupti->cuptiRangeProfilerDecodeData(&data);
    if (code != CUPTI_SUCCESS)
        return fail(session, "cuptiRangeProfilerDecodeData", code, err);
    CUpti_RangeProfiler_GetCounterDataInfo_Params info = {
        .structSize = UB_CUPTI_SIZE(CUpti_RangeProfiler_GetCounterDataInfo_Params, numTotalRanges),
        .pCounterDataImage = capture->image,
        .counterDataImageSize = capture->image_size};
    code = session->cupti->cuptiRangeProfilerGetCounterDataInfo(&info);
    if (code != CUPTI_SUCCESS)
        return fail(session, "cuptiRangeProfilerGetCounterDataInfo", code, err);
    if (data.numOfRangeDropped != 0 || info.numTotalRanges != capture->range_count)
        return ub_fail(err, UB_NO_COUNTERS,
                       "CUPTI returned %zu of %zu ranges and dropped %zu: counters of this chunk are not used (%s)",
                       info.numTotalRanges, capture->range_count, data.numOfRangeDropped, session->cupti->line);
    return true;
}

/* Which of our ranges stands at place `index` of the counter data: the order is
 * CUPTI's, so the name that was pushed decides. */
static bool range_at(const struct capture *capture, size_t index, size_t *range, struct ub_error *err)
{
    const struct ub_counter_session *session = capture->session;
    CUpti_RangeProfiler_CounterData_GetRangeInfo_Params info = {
        .structSize = UB_CUPTI_SIZE(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, rangeName),
        .pCounterDataImage = capture->image,
        .counterDataImageSize = capture->image_size,
        .rangeIndex = index,
        .rangeDelimiter = "/"};
    const CUptiResult code = session->cupti->cuptiRangeProfilerCounterDataGetRangeInfo(&info);
    if (code != CUPTI_SUCCESS)
        return fail(session, "cuptiRangeProfilerCounterDataGetRangeInfo", code, err);
    const char *name = info.rangeName ? info.rangeName : "";
    char *end = NULL;
    const unsigned long long number = strtoull(name, &end, 10);
    if (end == name || *end || number >= capture->range_count)
        return ub_fail(err, UB_NO_COUNTERS, "CUPTI returned a range named \"%s\" that was not launched (%s)", name,
                       session->cupti->line);
    *range = (size_t)number;
    return true;
}

/* A sum of events is a whole number; a ratio of zero by zero or a value out of
 * range is no value, and never 0. */
static struct ub_counter_value value_of(double number)
{
    struct ub_counter_value value = {.known = isfinite(number) && number >= 0 && number < 0x1p63};
    if (value.known)
        value.value = (uint64_t)llround(number);
    else
        snprintf(value.reason, sizeof value.reason, "CUPTI evaluated this metric to %g, which is no count", number);
    return value;
}

static void unknown(const struct ub_counter_session *session, size_t key, struct ub_counter_value *value)
{
    *value = (struct ub_counter_value){.known = false};
    snprintf(value->reason, sizeof value->reason, "not on %s: %s", session->target.chip, session->keys[key].reason);
}

static bool evaluate(const struct capture *capture, size_t index, double *numbers, struct ub_error *err)
{
    const struct ub_counter_session *session = capture->session;
    CUpti_Profiler_Host_EvaluateToGpuValues_Params params = {
        .structSize = UB_CUPTI_SIZE(CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues),
        .pHostObject = session->config.host,
        .pCounterDataImage = capture->image,
        .counterDataImageSize = capture->image_size,
        .rangeIndex = index,
        .ppMetricNames = session->metrics,
        .numMetrics = session->metric_count,
        .pMetricValues = numbers};
    const CUptiResult code = session->cupti->cuptiProfilerHostEvaluateToGpuValues(&params);
    return code == CUPTI_SUCCESS || fail(session, "cuptiProfilerHostEvaluateToGpuValues", code, err);
}

/* `seen` guards against a name that comes twice, which would leave another out. */
static bool read_ranges(const struct capture *capture, double *numbers, bool *seen, struct ub_counter_value *values,
                        struct ub_error *err)
{
    const struct ub_counter_session *session = capture->session;
    for (size_t index = 0; index < capture->range_count; index++) {
        size_t range = 0;
        if (!range_at(capture, index, &range, err))
            return false;
        if (seen[range])
            return ub_fail(err, UB_NO_COUNTERS, "CUPTI returned range %zu twice (%s)", range, session->cupti->line);
        seen[range] = true;
        for (size_t m = 0; m < session->metric_count; m++)
            numbers[m] = NAN;
        if (!evaluate(capture, index, numbers, err))
            return false;
        for (size_t k = 0; k < session->key_count; k++)
            if (session->keys[k].raw)
                values[range * session->key_count + k] = value_of(numbers[session->keys[k].metric]);
    }
    return true;
}

static bool read_values(const struct capture *capture, struct ub_counter_value *values, struct ub_error *err)
{
    double *numbers = calloc(capture->session->metric_count, sizeof *numbers);
    bool *seen = calloc(capture->range_count, sizeof *seen);
    const bool read = numbers && seen ? read_ranges(capture, numbers, seen, values, err)
                                      : ub_fail(err, UB_INTERNAL, "no memory for counter values");
    free(numbers);
    free(seen);
    return read;
}

bool ub_cupti_session_collect(struct ub_counter_session *session, size_t range_count, ub_counter_run run, void *user,
                              struct ub_counter_value *values, struct ub_error *err)
{
    if (range_count > session->range_limit)
        return ub_fail(err, UB_INTERNAL, "%zu ranges in a counter session that was opened for %zu", range_count,
                       session->range_limit);
    for (size_t range = 0; range < range_count; range++)
        for (size_t k = 0; k < session->key_count; k++)
            unknown(session, k, &values[range * session->key_count + k]);
    if (range_count == 0 || session->metric_count == 0)
        return true;
    struct capture capture = {.session = session, .range_count = range_count};
    const bool collected = enable(&capture, err) && make_image(&capture, err) && configure(&capture, err) &&
                           run_passes(&capture, run, user, err) && decode(&capture, err) &&
                           read_values(&capture, values, err);
    disable(&capture);
    return collected;
}
