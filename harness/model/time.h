/* SPDX-License-Identifier: MIT
 *
 * The time model: named terms of which the largest decides (the bottleneck),
 * plus a floor that every launch pays. */
#ifndef UB_MODEL_TIME_H
#define UB_MODEL_TIME_H

#include "harness/contract/micro.h"

/* Adds a term; one that is not finite or not positive is left out. */
void ub_time_term(struct ub_law *law, const char *name, double time_ns);

/* A term that is not known although it may decide: there is no time, and `note` says why.
 * Called after ub_time_bottleneck(). */
void ub_time_unknown(struct ub_law *law, const char *note);
#define UB_NOTE_NO_DRAM "no time: the bandwidth of this card's memory is not known"

/* law->time_ns = the largest term + floor_ns; law->bottleneck = its name. NaN and
 * NULL where there is no term. */
void ub_time_bottleneck(struct ub_law *law, double floor_ns);

#endif
