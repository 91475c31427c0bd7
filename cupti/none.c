/* SPDX-License-Identifier: MIT
 *
 * The counter provider of a build without CUPTI's headers: it knows the table of
 * keys and says at every other question how to get counters. */
#include "cupti/metrics.h"

static bool refuse(struct ub_error *err)
{
    return ub_fail(
        err, UB_NO_COUNTERS,
        "this ubench was built without CUPTI, so it reads no hardware counters: install CUPTI's headers (part "
        "of the CUDA Toolkit 12.8 or later; package cuda-cupti-dev) and build again");
}

static bool none_library(char *text, size_t size, struct ub_error *err)
{
    if (size)
        text[0] = 0;
    return refuse(err);
}

static bool none_passes(const char *chip, size_t key_count, const char *const *keys, int *passes, struct ub_error *err)
{
    (void)chip, (void)key_count, (void)keys;
    *passes = 0;
    return refuse(err);
}

static bool none_probe(int device, void *context, char *chip, size_t chip_size, struct ub_error *err)
{
    (void)device, (void)context;
    if (chip_size)
        chip[0] = 0;
    return refuse(err);
}

static bool none_open(struct ub_counter_session **session, const struct ub_counter_setup *setup, struct ub_error *err)
{
    (void)setup;
    *session = NULL;
    return refuse(err);
}

static int none_session_passes(const struct ub_counter_session *session)
{
    (void)session;
    return 0;
}

static const char *none_session_raw(const struct ub_counter_session *session, size_t key)
{
    (void)session, (void)key;
    return NULL;
}

static bool none_collect(struct ub_counter_session *session, size_t range_count, ub_counter_run run, void *user,
                         struct ub_counter_value *values, struct ub_error *err)
{
    (void)session, (void)range_count, (void)run, (void)user, (void)values;
    return refuse(err);
}

static void none_close(struct ub_counter_session *session)
{
    (void)session;
}

const struct ub_counter_provider ub_counters = {
    .name = "none",
    .key_count = UB_METRIC_COUNT,
    .keys = ub_metric_keys,
    .library = none_library,
    .chips = ub_metric_chips,
    .on_chip = ub_metric_on_chip,
    .passes = none_passes,
    .probe = none_probe,
    .open = none_open,
    .session_passes = none_session_passes,
    .session_raw = none_session_raw,
    .collect = none_collect,
    .close = none_close,
};
