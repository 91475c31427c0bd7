/* SPDX-License-Identifier: MIT
 *
 * The report: records as one page of HTML that needs nothing but itself. It reads without
 * a script and without a network, in light and dark, on a telephone and on paper, and
 * carries its records, so that it is a record itself (harness/io/records.h). */
#ifndef UB_REPORT_REPORT_H
#define UB_REPORT_REPORT_H

#include <stdio.h>

#include "harness/io/records.h"

/* Why charts are missing; "" where none is. */
struct ub_report_outcome {
    size_t charts, missing;
    char why[400]; /* the first of them */
};

/* Writes the page. Charts need gnuplot; without it (or where one cannot be drawn) the page
 * says so in their place, and has every table all the same. */
bool ub_report_write(FILE *out, const struct ub_records *records, struct ub_report_outcome *outcome,
                     struct ub_error *err);

#endif
