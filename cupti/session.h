/* SPDX-License-Identifier: MIT
 *
 * Counters of launches: user ranges with user replay, all ranges of a chunk in
 * one session. ubench's kernels can be run again at will, so running them once a
 * pass is cheaper and more honest than letting CUPTI save and restore memory;
 * and a range may hold several kernels on several streams. Never time anything
 * while a session collects: the code that runs is instrumented. */
#ifndef UB_CUPTI_SESSION_H
#define UB_CUPTI_SESSION_H

#include "cupti/library.h"
#include "harness/contract/counters.h"

/* The functions of struct ub_counter_provider on a loaded library; `cupti` must
 * outlive the session. */
bool ub_cupti_session_open(struct ub_counter_session **session, struct ub_cupti *cupti,
                           const struct ub_counter_setup *setup, struct ub_error *err);
int ub_cupti_session_passes(const struct ub_counter_session *session);
const char *ub_cupti_session_raw(const struct ub_counter_session *session, size_t key);
bool ub_cupti_session_collect(struct ub_counter_session *session, size_t range_count, ub_counter_run run, void *user,
                              struct ub_counter_value *values, struct ub_error *err);
void ub_cupti_session_close(struct ub_counter_session *session);

#endif
