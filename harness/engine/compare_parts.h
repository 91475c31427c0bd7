/* SPDX-License-Identifier: MIT
 *
 * The parts of ub_compare(), each in a file of its own. */
#ifndef UB_ENGINE_COMPARE_PARTS_H
#define UB_ENGINE_COMPARE_PARTS_H

#include "harness/engine/compare.h"

/* compare_match.c: fills points (with the point of each side), unmatched and the counts of
 * what is not compared. UB_INTERNAL: no memory. */
bool ub_compare_match(const char *rule, struct ub_comparison *comparison, struct ub_error *err);

/* compare_judge.c: fills sides and contrasts of all points. UB_INTERNAL: no memory. */
bool ub_compare_judge(struct ub_comparison *comparison, struct ub_error *err);

/* compare_published.c: adds the figures of a published record, beside what the model of
 * its card predicts and what a run of that card measured. UB_INTERNAL: no memory. */
bool ub_compare_published(const struct ub_record *record, const char *rule, struct ub_comparison *comparison,
                          struct ub_error *err);

/* The rule of a point; NULL: this build has none of that name. */
const struct ub_micro *ub_compare_micro(const struct ub_record_point *point);
/* Whether two cards are of one kind, by name or slug. */
bool ub_compare_same_card(const struct ub_device_info *a, const struct ub_device_info *b);

#endif
