/* SPDX-License-Identifier: MIT
 *
 * The counter provider over CUPTI. Without libcupti it still knows the table of
 * keys; with it, passes of every chip; with a GPU, values. */
#include <stdio.h>
#include <string.h>

#include "cupti/config.h"
#include "cupti/library.h"
#include "cupti/metrics.h"
#include "cupti/session.h"
#include "cupti/target.h"

/* The loaded library. A shared library is one a process and the contract's
 * functions take no state, so this is the one variable of cupti/: filled at the
 * first question (also with a failure, so that a search is made once), then only
 * read. The counter worker has one thread. */
struct process {
    bool tried;
    struct ub_cupti cupti;
    struct ub_error failure;
};

static struct process process;

/* The library, or NULL with the reason. */
static struct ub_cupti *library(struct ub_error *err)
{
    const char *off = ub_cupti_switched_off();
    if (off) {
        ub_fail(err, UB_NO_COUNTERS, "%s", off);
        return NULL;
    }
    if (!process.tried) {
        process.tried = true;
        (void)ub_cupti_load(&process.cupti, &process.failure);
    }
    if (process.cupti.handle)
        return &process.cupti;
    ub_fail(err, process.failure.status, "%s", process.failure.text);
    return NULL;
}

/* The library in a process whose GPU no other tool watches, or NULL with the reason. */
static struct ub_cupti *free_library(struct ub_error *err)
{
    const char *occupied = ub_cupti_occupied();
    if (!occupied)
        return library(err);
    ub_fail(err, UB_NO_COUNTERS, "%s", occupied);
    return NULL;
}

static bool provider_library(char *text, size_t size, struct ub_error *err)
{
    const struct ub_cupti *cupti = library(err);
    snprintf(text, size, "%s", cupti ? cupti->line : "");
    return cupti != NULL;
}

/* Without the library: the chips that the table was checked for. */
static size_t provider_chips(const char *const **names)
{
    const struct ub_cupti *cupti = library(NULL);
    if (!cupti)
        return ub_metric_chips(names);
    *names = cupti->chips;
    return cupti->chip_count;
}

static bool check_chip(const struct ub_cupti *cupti, const char *chip, struct ub_error *err)
{
    for (size_t i = 0; i < cupti->chip_count; i++)
        if (strcmp(cupti->chips[i], chip) == 0)
            return true;
    return ub_fail(err, UB_USAGE, "CUPTI knows no chip \"%s\" (%s)", chip, cupti->line);
}

static bool provider_on_chip(const char *chip, const char *key, struct ub_counter_on_chip *out, struct ub_error *err)
{
    const struct ub_cupti *cupti = library(NULL);
    const struct ub_cupti_chip known = {cupti, chip, NULL};
    if (!cupti)
        return ub_metric_on_chip(chip, key, out, err);
    return check_chip(cupti, chip, err) && ub_cupti_on_chip(&known, key, out, err);
}

/* The raw names of those keys that the chip has. A raw name that it lacks is a
 * mistake of the caller, a key that it lacks is a property of the chip. */
static bool collect_names(const char *chip, size_t key_count, const char *const *keys, const char **names,
                          size_t *name_count, struct ub_error *err)
{
    *name_count = 0;
    for (size_t k = 0; k < key_count; k++) {
        struct ub_counter_on_chip on_chip;
        if (!provider_on_chip(chip, keys[k], &on_chip, err))
            return false;
        if (!on_chip.raw && ub_metric_index(keys[k]) < 0)
            return ub_fail(err, UB_USAGE, "counter \"%s\" on %s: %s", keys[k], chip, on_chip.reason);
        if (on_chip.raw)
            names[(*name_count)++] = on_chip.raw;
    }
    return true;
}

static bool count_passes(const struct ub_cupti_chip *chip, size_t count, const char **names, int *passes,
                         struct ub_error *err)
{
    struct ub_cupti_config config;
    const bool opened = ub_cupti_config_open(&config, chip, count, names, err);
    *passes = opened ? config.passes : 0;
    ub_cupti_config_close(&config);
    return opened;
}

static bool provider_passes(const char *chip, size_t key_count, const char *const *keys, int *passes,
                            struct ub_error *err)
{
    enum { LIMIT = 256 };
    const char *names[LIMIT];
    size_t name_count = 0;
    *passes = 0;
    const struct ub_cupti *cupti = library(err);
    if (!cupti)
        return false;
    if (key_count > LIMIT)
        return ub_fail(err, UB_USAGE, "%zu counters at once, at most %d are possible", key_count, LIMIT);
    if (!collect_names(chip, key_count, keys, names, &name_count, err))
        return false;
    const struct ub_cupti_chip known = {cupti, chip, NULL};
    return name_count == 0 || count_passes(&known, name_count, names, passes, err);
}

static bool provider_probe(int device, void *context, char *chip, size_t chip_size, struct ub_error *err)
{
    struct ub_cupti_target target;
    snprintf(chip, chip_size, "%s", "");
    struct ub_cupti *cupti = free_library(err);
    if (!cupti)
        return false;
    const bool opened = ub_cupti_target_open(&target, cupti, device, context, err);
    snprintf(chip, chip_size, "%s", target.chip);
    ub_cupti_target_close(&target);
    return opened;
}

static bool provider_open(struct ub_counter_session **session, const struct ub_counter_setup *setup,
                          struct ub_error *err)
{
    *session = NULL;
    struct ub_cupti *cupti = free_library(err);
    return cupti && ub_cupti_session_open(session, cupti, setup, err);
}

const struct ub_counter_provider ub_counters = {
    .name = "cupti",
    .key_count = UB_METRIC_COUNT,
    .keys = ub_metric_keys,
    .library = provider_library,
    .chips = provider_chips,
    .on_chip = provider_on_chip,
    .passes = provider_passes,
    .probe = provider_probe,
    .open = provider_open,
    .session_passes = ub_cupti_session_passes,
    .session_raw = ub_cupti_session_raw,
    .collect = ub_cupti_session_collect,
    .close = ub_cupti_session_close,
};
