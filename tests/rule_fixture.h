/* SPDX-License-Identifier: MIT
 *
 * What the tests of the rules' laws share: cards, points, and what a law or a rule says
 * of one key. Whatever is not there fails the test. */
#ifndef UB_TESTS_RULE_FIXTURE_H
#define UB_TESTS_RULE_FIXTURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "harness/contract/record.h"
#include "harness/engine/plan.h"
#include "harness/model/gpu.h"

static inline const struct ub_gpu *card(const char *slug)
{
    const struct ub_gpu *gpu = ub_gpu_find(slug);
    assert_non_null(gpu);
    return gpu;
}

static inline const struct ub_gpu *h200(void)
{
    return card("h200");
}

/* The table's value of a constant. */
static inline double constant(const struct ub_gpu *gpu, const char *name)
{
    struct ub_constants constants;
    ub_gpu_constants(gpu, &constants);
    return ub_constant_value(&constants, name);
}

/* "stride=8 bytes=4"; axes that are not named have their initial value. */
static inline struct ub_point parse_point(const struct ub_micro *micro, const char *axes)
{
    struct ub_point point = {{0}};
    struct ub_error err = {0};
    if (!ub_point_parse(micro, axes, &point, &err))
        fail_msg("%s: %s", axes, err.text);
    return point;
}

static inline const struct ub_law_counter *counter_of(const struct ub_law *law, const char *key)
{
    for (size_t i = 0; i < law->counter_count; i++)
        if (strcmp(law->counters[i].key, key) == 0)
            return &law->counters[i];
    fail_msg("the law has no %s", key);
    return NULL;
}

/* What the law predicts of it. */
static inline uint64_t counter(const struct ub_law *law, const char *key)
{
    const struct ub_law_counter *found = counter_of(law, key);
    assert_true(found->known);
    return found->predicted;
}

static inline double metric(const struct ub_metrics *metrics, const char *key)
{
    for (size_t i = 0; i < metrics->count; i++)
        if (strcmp(metrics->items[i].key, key) == 0)
            return metrics->items[i].value;
    fail_msg("no metric %s", key);
    return NAN;
}

/* The rule's metrics of what the law says of a point. */
static inline void predicted_metrics(const struct ub_micro *micro, const struct ub_gpu *gpu,
                                     const struct ub_constants *constants, const struct ub_point *point,
                                     const struct ub_law *law, struct ub_metrics *out)
{
    const char *keys[UB_MAX_COUNTERS];
    uint64_t values[UB_MAX_COUNTERS];
    struct ub_facts facts = {.gpu = gpu,
                             .constants = constants,
                             .point = point,
                             .time_ns = law->time_ns,
                             .counter_keys = keys,
                             .counter_values = values,
                             .predicted = true};
    for (size_t i = 0; i < law->counter_count; i++)
        if (law->counters[i].known) {
            keys[facts.counter_count] = law->counters[i].key;
            values[facts.counter_count++] = law->counters[i].predicted;
        }
    *out = (struct ub_metrics){0};
    micro->metrics(&facts, out);
}

#endif
