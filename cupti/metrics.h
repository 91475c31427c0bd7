/* SPDX-License-Identifier: MIT
 *
 * The table of counters: what a key of ubench is called on a chip. Pure data, no
 * CUPTI: it is also what a build without CUPTI knows. That the table is right
 * for every chip is proved by tests/cupti_chips_test.c, which asks CUPTI. */
#ifndef UB_CUPTI_METRICS_H
#define UB_CUPTI_METRICS_H

#include "cupti/keys.h"
#include "harness/contract/counters.h"
#include "harness/contract/micro.h"

#define UB_METRIC_COUNT_ONE(key, raw, unit, class, nvprof, meaning) +1
enum { UB_METRIC_COUNT = 0 UB_METRIC_KEYS(UB_METRIC_COUNT_ONE) };

extern const struct ub_counter_key ub_metric_keys[UB_METRIC_COUNT];

/* Index of a key, or -1. */
int ub_metric_index(const char *key);

/* What the counter usually is (a rule's law decides); index below UB_METRIC_COUNT. */
enum ub_counter_class ub_metric_class(size_t index);

/* Whether `name` has the form of a raw metric name: unit__quantity.rollup. */
bool ub_metric_is_raw(const char *name);

/* What the table says of `name` (a key or a raw metric name) on `chip`: raw name
 * or the reason why there is none; passes stay 0, only CUPTI knows them. A raw
 * name is passed through if it stands for an integer. Fails with UB_USAGE where
 * `name` is neither. */
bool ub_metric_on_chip(const char *chip, const char *name, struct ub_counter_on_chip *out, struct ub_error *err);

/* The raw name of a key on chips that keys.h has no difference for, or NULL: not a
 * key. An older CUPTI may still use it where a newer one has another name. */
const char *ub_metric_general_name(const char *key);

/* The chips for which the table was checked, oldest first; returns their number. */
size_t ub_metric_chips(const char *const **names);

#endif
