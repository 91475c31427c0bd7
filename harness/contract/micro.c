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
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; facts->time && facts->time->samples && i < facts->time->n; i++)
        if (isfinite(facts->time->samples[i].clock_mhz)) {
            sum += facts->time->samples[i].clock_mhz;
            count++;
        }
    return count > 0 ? sum / (double)count : ub_constant_value(facts->constants, "clock_mhz");
}

void ub_metric_add(struct ub_metrics *metrics, const char *key, const char *unit, double value)
{
    metrics->items[metrics->count++] = (struct ub_metric){key, unit, value};
}
