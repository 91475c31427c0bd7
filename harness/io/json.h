/* SPDX-License-Identifier: MIT
 *
 * The record as JSON, schema 1 (DESIGN section 6): written by ubench and read
 * back by it. Key order is fixed, so that two files differ only where the runs do. */
#ifndef UB_IO_JSON_H
#define UB_IO_JSON_H

#include <stdio.h>

#include "harness/contract/record.h"

struct ub_json_options {
    bool redact;     /* drop UUID, PCI address, paths and argv's paths */
    bool no_samples; /* leave out samples and their clocks */
    bool columns;    /* "tables" of columns (io/columns.h) in the place of "points": a tenth of the size */
};

bool ub_json_write(FILE *stream, const struct ub_record *record, const struct ub_json_options *options,
                   struct ub_error *err);

/* Safe on any bytes. Fails with UB_BAD_DATA and a message that names `name`, what
 * is wrong and where (line, column or key): not JSON, cut off, NaN, too deep, not
 * ubench's (says which tool's file it looks like: Google Benchmark, nvbench), a
 * higher schema. Unknown keys are ignored. A page of HTML (a report) is read too, where it
 * holds one record. `record` must be empty. */
bool ub_json_read(FILE *stream, const char *name, struct ub_record *record, struct ub_error *err);
/* `path` may be "report.html#2" (see records.h). */
bool ub_json_read_file(const char *path, struct ub_record *record, struct ub_error *err);

/* The same, but passing over the named members of each point (a list that ends with NULL):
 * counters are most of a large record, and who compares times needs none. */
bool ub_json_read_without(FILE *stream, const char *name, const char *const *members, struct ub_record *record,
                          struct ub_error *err);
bool ub_json_read_file_without(const char *path, const char *const *members, struct ub_record *record,
                               struct ub_error *err);

#endif
