/* SPDX-License-Identifier: MIT
 *
 * The table of one sweep's points: the real alternative to its chart. */
#ifndef UB_REPORT_POINTS_H
#define UB_REPORT_POINTS_H

#include <stdio.h>

#include "harness/contract/record.h"

/* Writes the table of rule and sweep of point number `first`, folded up behind a line that
 * says what it holds. Units stand in the headings. False: no memory. */
bool ub_points_write(FILE *out, const struct ub_record *record, size_t first, struct ub_error *err);

#endif
