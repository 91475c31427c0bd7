/* SPDX-License-Identifier: MIT
 *
 * The time model: named terms of which the largest decides (the bottleneck),
 * plus a floor that every launch pays. */
#ifndef UB_MODEL_TIME_H
#define UB_MODEL_TIME_H

#include "harness/contract/micro.h"

/* Adds a term; one that is not finite or not positive is left out. */
void ub_time_term(struct ub_law *law, const char *name, double time_ns);

/* law->time_ns = the largest term + floor_ns; law->bottleneck = its name. NaN and
 * NULL where there is no term. */
void ub_time_bottleneck(struct ub_law *law, double floor_ns);

#endif
