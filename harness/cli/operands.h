/* SPDX-License-Identifier: MIT
 *
 * The records that a verb is given: files, and `model:NAME` in the place of one. */
#ifndef UB_CLI_OPERANDS_H
#define UB_CLI_OPERANDS_H

#include "harness/contract/record.h"

struct ub_operands {
    size_t count;
    struct ub_record *records; /* owned */
};

/* Reads all files; then predicts for each `model:NAME` (or model:FILE) the points of the
 * first record that is not of published figures, or, where only models are given, the
 * default sweeps of all rules (`rule`: of this one alone). UB_BAD_DATA as ub_json_read(),
 * UB_USAGE: no such card, or no such rule. */
bool ub_operands_load(size_t count, const char *const *names, const char *rule, struct ub_operands *out,
                      struct ub_error *err);
void ub_operands_free(struct ub_operands *operands);

#endif
