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
