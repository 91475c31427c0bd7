/* SPDX-License-Identifier: MIT */
#include "harness/contract/micro.h"

#include <math.h>
#include <string.h>

#include "harness/contract/record.h"

double ub_fact(const struct ub_facts *facts, const char *key)
{
    for (size_t i = 0; i < facts->counter_count; i++)
        if (strcmp(facts->counter_keys[i], key) == 0)
            return (double)facts->counter_values[i];
    return NAN;
}

double ub_fact_clock_mhz(const struct ub_facts *facts)
{
    const double stamped = facts->time ? ub_time_clock_mhz(facts->time) : NAN;
    return isfinite(stamped) ? stamped : ub_constant_value(facts->constants, "clock_mhz");
}

void ub_metric_add(struct ub_metrics *metrics, const char *key, const char *unit, double value)
{
    metrics->items[metrics->count++] = (struct ub_metric){key, unit, value};
}

static struct ub_law_counter *next_counter(struct ub_law *law, const char *key, enum ub_counter_class class_)
{
    struct ub_law_counter *counter = &law->counters[law->counter_count++];
    *counter = (struct ub_law_counter){.key = key, .class_ = class_};
    return counter;
}

void ub_law_exact(struct ub_law *law, const char *key, enum ub_counter_class class_, uint64_t predicted)
{
    struct ub_law_counter *counter = next_counter(law, key, class_);
    counter->known = true;
    counter->predicted = predicted;
}

void ub_law_estimate(struct ub_law *law, const char *key, double predicted, double tolerance, const char *reason,
                     const char *unknown)
{
    struct ub_law_counter *counter = next_counter(law, key, UB_ESTIMATE);
    counter->known = isfinite(predicted) && predicted >= 0;
    counter->predicted = counter->known ? (uint64_t)llround(predicted) : 0;
    counter->tolerance = tolerance;
    counter->reason = counter->known ? reason : unknown;
}

void ub_law_unknown(struct ub_law *law, const char *key, enum ub_counter_class class_, const char *reason)
{
    next_counter(law, key, class_)->reason = reason;
}

static bool counts(const struct ub_axis_owner *owner, const struct ub_point *point)
{
    const int64_t value = point->values[owner->of];
    return value >= 0 && value < 64 && (owner->values >> value & 1) != 0;
}

const char *ub_axis_ignored(const struct ub_axis_owners *owners, const struct ub_point *point)
{
    for (size_t i = 0; i < owners->count; i++)
        if (point->values[owners->items[i].axis] != owners->items[i].initial && !counts(&owners->items[i], point))
            return owners->items[i].why;
    return NULL;
}

bool ub_axis_counts(const struct ub_axis_owners *owners, const struct ub_point *point, size_t axis)
{
    for (size_t i = 0; owners != NULL && i < owners->count; i++)
        if (owners->items[i].axis == axis && !counts(&owners->items[i], point))
            return false;
    return true;
}

enum ub_timer ub_timer_event(const struct ub_point *point)
{
    (void)point;
    return UB_TIMER_EVENT;
}

enum ub_timer ub_timer_sm_clock(const struct ub_point *point)
{
    (void)point;
    return UB_TIMER_SM_CLOCK;
}

enum ub_timer ub_timer_host(const struct ub_point *point)
{
    (void)point;
    return UB_TIMER_HOST;
}
