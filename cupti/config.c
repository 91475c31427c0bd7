/* SPDX-License-Identifier: MIT */
#include "cupti/config.h"

#include <stdlib.h>
#include <string.h>

#include "cupti/metrics.h"

static bool fail(const struct ub_cupti_chip *chip, const char *stage, CUptiResult code, struct ub_error *err)
{
    return ub_cupti_fail(chip->cupti, stage, code, NULL, chip->name, err);
}

static CUpti_Profiler_Host_Object *open_host(const struct ub_cupti_chip *chip, struct ub_error *err)
{
    CUpti_Profiler_Host_Initialize_Params params = {
        .structSize = UB_CUPTI_SIZE(CUpti_Profiler_Host_Initialize_Params, pHostObject),
        .profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER,
        .pChipName = chip->name,
        .pCounterAvailabilityImage = chip->availability};
    const CUptiResult code = chip->cupti->cuptiProfilerHostInitialize(&params);
    if (code == CUPTI_SUCCESS)
        return params.pHostObject;
    fail(chip, "cuptiProfilerHostInitialize", code, err);
    return NULL;
}

static void close_host(const struct ub_cupti *cupti, CUpti_Profiler_Host_Object *host)
{
    CUpti_Profiler_Host_Deinitialize_Params params = {
        .structSize = UB_CUPTI_SIZE(CUpti_Profiler_Host_Deinitialize_Params, pHostObject), .pHostObject = host};
    /* Only a foreign object makes this fail, and nothing could be done about it. */
    (void)cupti->cuptiProfilerHostDeinitialize(&params);
}

static bool add_metrics(struct ub_cupti_config *config, const struct ub_cupti_chip *chip, size_t count,
                        const char **names, struct ub_error *err)
{
    CUpti_Profiler_Host_ConfigAddMetrics_Params params = {
        .structSize = UB_CUPTI_SIZE(CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics),
        .pHostObject = config->host,
        .ppMetricNames = names,
        .numMetrics = count};
    const CUptiResult code = chip->cupti->cuptiProfilerHostConfigAddMetrics(&params);
    return code == CUPTI_SUCCESS || fail(chip, "cuptiProfilerHostConfigAddMetrics", code, err);
}

static bool take_image(struct ub_cupti_config *config, const struct ub_cupti_chip *chip, struct ub_error *err)
{
    CUpti_Profiler_Host_GetConfigImageSize_Params size = {
        .structSize = UB_CUPTI_SIZE(CUpti_Profiler_Host_GetConfigImageSize_Params, configImageSize),
        .pHostObject = config->host};
    CUptiResult code = chip->cupti->cuptiProfilerHostGetConfigImageSize(&size);
    if (code != CUPTI_SUCCESS)
        return fail(chip, "cuptiProfilerHostGetConfigImageSize", code, err);
    config->size_bytes = size.configImageSize;
    config->image = calloc(1, size.configImageSize + 1);
    if (!config->image)
        return ub_fail(err, UB_INTERNAL, "no memory for a config image of %zu bytes", size.configImageSize);
    CUpti_Profiler_Host_GetConfigImage_Params image = {
        .structSize = UB_CUPTI_SIZE(CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage),
        .pHostObject = config->host,
        .configImageSize = config->size_bytes,
        .pConfigImage = config->image};
    code = chip->cupti->cuptiProfilerHostGetConfigImage(&image);
    return code == CUPTI_SUCCESS || fail(chip, "cuptiProfilerHostGetConfigImage", code, err);
}

static bool count_passes(struct ub_cupti_config *config, const struct ub_cupti_chip *chip, struct ub_error *err)
{
    CUpti_Profiler_Host_GetNumOfPasses_Params params = {
        .structSize = UB_CUPTI_SIZE(CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses),
        .configImageSize = config->size_bytes,
        .pConfigImage = config->image};
    const CUptiResult code = chip->cupti->cuptiProfilerHostGetNumOfPasses(&params);
    config->passes = (int)params.numOfPasses;
    return code == CUPTI_SUCCESS || fail(chip, "cuptiProfilerHostGetNumOfPasses", code, err);
}

bool ub_cupti_config_open(struct ub_cupti_config *config, const struct ub_cupti_chip *chip, size_t count,
                          const char **names, struct ub_error *err)
{
    *config = (struct ub_cupti_config){.cupti = chip->cupti, .host = open_host(chip, err)};
    return config->host && add_metrics(config, chip, count, names, err) && take_image(config, chip, err) &&
           count_passes(config, chip, err);
}

void ub_cupti_config_close(struct ub_cupti_config *config)
{
    if (config->host)
        close_host(config->cupti, config->host);
    free(config->image);
    *config = (struct ub_cupti_config){0};
}

/* Passes of one metric alone; 0 where the chip lacks it or cannot collect it, with
 * the reason. */
static bool ask(const struct ub_cupti_chip *chip, const char *raw, int *passes, const char **reason,
                struct ub_error *err)
{
    struct ub_cupti_config config;
    *passes = 0;
    *reason = NULL;
    CUpti_Profiler_Host_Object *host = open_host(chip, err);
    if (!host)
        return false;
    CUpti_Profiler_Host_GetMetricProperties_Params params = {
        .structSize = UB_CUPTI_SIZE(CUpti_Profiler_Host_GetMetricProperties_Params, metricType),
        .pHostObject = host,
        .pMetricName = raw};
    const CUptiResult code = chip->cupti->cuptiProfilerHostGetMetricProperties(&params);
    close_host(chip->cupti, host);
    if (code == CUPTI_ERROR_INVALID_METRIC_NAME) {
        *reason = "CUPTI has no such metric for this chip";
        return true;
    }
    if (code != CUPTI_SUCCESS)
        return fail(chip, "cuptiProfilerHostGetMetricProperties", code, err);
    /* Some metrics are listed and cannot be collected (names with _realtime): only
     * a config of its own tells, on a host object that may be spoilt. */
    if (ub_cupti_config_open(&config, chip, 1, &raw, NULL))
        *passes = config.passes;
    else
        *reason = "CUPTI lists this metric, but the range profiler cannot collect it here";
    ub_cupti_config_close(&config);
    return true;
}

bool ub_cupti_on_chip(const struct ub_cupti_chip *chip, const char *name, struct ub_counter_on_chip *out,
                      struct ub_error *err)
{
    if (!ub_metric_on_chip(chip->name, name, out, err))
        return false;
    if (!out->raw)
        return true;
    const char *general = ub_metric_general_name(name);
    if (!ask(chip, out->raw, &out->passes, &out->reason, err))
        return false;
    /* CUPTI of CUDA 12 calls the DRAM counters of GB202 as on every other chip. */
    if (out->reason && general && strcmp(general, out->raw) != 0) {
        out->raw = general;
        if (!ask(chip, general, &out->passes, &out->reason, err))
            return false;
    }
    if (out->reason)
        out->raw = NULL;
    return true;
}
