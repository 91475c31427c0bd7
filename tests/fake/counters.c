/* SPDX-License-Identifier: MIT
 *
 * Fake counters: what the law of the rule predicts for the launch that ran, so
 * that the path from provider to verdict is tested; faults make them differ. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cupti/keys.h"
#include "harness/contract/counters.h"
#include "harness/model/gpu.h"
#include "tests/fake/fake.h"

#define ROW(key, raw, unit, class_, nvprof, meaning) {key, unit, meaning, nvprof, class_ != UB_ESTIMATE},
static const struct ub_counter_key keys[] = {UB_METRIC_KEYS(ROW)};
#undef ROW

struct ub_counter_session {
    size_t key_count;
    const char *const *keys;
};

static bool library(char *text, size_t size, struct ub_error *err)
{
    (void)err;
    snprintf(text, size, "fake counters");
    return true;
}

static size_t chips(const char *const **names)
{
    static const char *const all[] = {"FAKE1"};
    *names = all;
    return 1;
}

static bool on_chip(const char *chip, const char *key, struct ub_counter_on_chip *out, struct ub_error *err)
{
    (void)chip, (void)err;
    *out = (struct ub_counter_on_chip){.raw = key, .passes = 1};
    return true;
}

static bool passes(const char *chip, size_t key_count, const char *const *names, int *count, struct ub_error *err)
{
    (void)chip, (void)key_count, (void)names, (void)err;
    *count = 1;
    return true;
}

static bool probe(int device, void *context, char *chip, size_t size, struct ub_error *err)
{
    char text[32];
    (void)device, (void)context;
    const char *refused = fake_setting("counters", text, sizeof text);
    if (refused)
        return ub_fail(err, UB_NO_COUNTERS, "counters are refused (fake code %s); run as root", refused);
    snprintf(chip, size, "FAKE1");
    return true;
}

static bool open_session(struct ub_counter_session **session, const struct ub_counter_setup *setup,
                         struct ub_error *err)
{
    *session = malloc(sizeof **session);
    if (!*session)
        return ub_fail(err, UB_INTERNAL, "out of memory");
    **session = (struct ub_counter_session){.key_count = setup->key_count, .keys = setup->keys};
    return true;
}

static int session_passes(const struct ub_counter_session *session)
{
    (void)session;
    return 1;
}

static const char *session_raw(const struct ub_counter_session *session, size_t key)
{
    return session->keys[key];
}

static void value_of(const struct ub_law *law, const char *key, struct ub_counter_value *value)
{
    snprintf(value->reason, sizeof value->reason, "the fake device does not count %.100s", key);
    for (size_t i = 0; i < law->counter_count; i++)
        if (strcmp(law->counters[i].key, key) == 0 && law->counters[i].known)
            *value = (struct ub_counter_value){.known = true, .value = law->counters[i].predicted};
}

/* A counter of what the hardware did, in each rule's own words */
static bool miscounts(const char *key)
{
    return strstr(key, "sectors") || strstr(key, "wavefronts") || strstr(key, "divergent");
}

static bool collect(struct ub_counter_session *session, size_t range_count, ub_counter_run run, void *user,
                    struct ub_counter_value *values, struct ub_error *err)
{
    for (size_t range = 0; range < range_count; range++) {
        if (!run(user, range, err))
            return false;
        struct ub_law law = {0};
        const struct ub_micro *micro = NULL;
        struct ub_point point;
        fake_last_launch(&micro, &point, &law);
        for (size_t key = 0; key < session->key_count; key++) {
            struct ub_counter_value *value = &values[range * session->key_count + key];
            value_of(&law, session->keys[key], value);
            if (miscounts(session->keys[key]) && fake_fault_at("miscount", micro, &point))
                value->value++;
        }
    }
    return true;
}

static void close_session(struct ub_counter_session *session)
{
    free(session);
}

const struct ub_counter_provider ub_counters = {.name = "fake",
                                                .key_count = sizeof keys / sizeof keys[0],
                                                .keys = keys,
                                                .library = library,
                                                .chips = chips,
                                                .on_chip = on_chip,
                                                .passes = passes,
                                                .probe = probe,
                                                .open = open_session,
                                                .session_passes = session_passes,
                                                .session_raw = session_raw,
                                                .collect = collect,
                                                .close = close_session};
