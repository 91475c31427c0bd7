/* SPDX-License-Identifier: MIT
 *
 * Compares runs: which points they share, how much faster one is than the other, and
 * whether that can be told from noise (harness.md 1.3). Pure: records in, a comparison
 * out. */
#ifndef UB_ENGINE_COMPARE_H
#define UB_ENGINE_COMPARE_H

#include "harness/contract/comparison.h"

struct ub_compare_request {
    size_t run_count;
    struct ub_compared_run runs[UB_MAX_COMPARED]; /* the first is what the others are compared with */
    const char *rule;                             /* only this one; NULL: all */
    double margin;                                /* 0.02: less than 2 % is not worth speaking of */
    uint64_t seed;                                /* of the bootstrap */
};

/* Published figures among the runs go to comparison->published, all others are matched by
 * rule, axes, data and cache. The records must outlive the comparison. UB_BAD_DATA: no two
 * runs have a point in common (the text says what each has); UB_INTERNAL: no memory. */
bool ub_compare(const struct ub_compare_request *request, struct ub_comparison *out, struct ub_error *err);

#endif
