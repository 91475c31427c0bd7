/* SPDX-License-Identifier: MIT
 *
 * The records of a file: a JSON record, or a report (a page of HTML), which carries a
 * record for each run that it shows. "report.html#2" is the second of them. */
#ifndef UB_IO_RECORDS_H
#define UB_IO_RECORDS_H

#include <stdio.h>

#include "harness/contract/record.h"

/* `= {0}` is an empty list. */
struct ub_records {
    size_t count;
    struct ub_record *items; /* owned */
};

/* Appends the records of a file ("-": standard input). Fails as ub_json_read() does,
 * and for a page that is no report of ubench; `out` keeps what it had. */
bool ub_records_read(const char *path, struct ub_records *out, struct ub_error *err);
void ub_records_free(struct ub_records *records);
/* "#1 coalescing on NVIDIA H200, #2 null on NVIDIA H200": from item `first` on, counted from 1. */
void ub_records_list(const struct ub_records *records, size_t first, char *text, size_t size);

/* ---- inside of a page ------------------------------------------------------ */

/* Writes the element that holds a record, number `number` from 1, without its samples. */
bool ub_page_record_write(FILE *stream, const struct ub_record *record, size_t number, struct ub_error *err);

/* Whether the stream begins as a page does. Takes nothing from it. */
bool ub_page_begins(FILE *stream);
/* Reads the only record of a page, without the unwanted members of its points (NULL: with
 * all). Fails where it has several, and names them. */
bool ub_page_read_only(FILE *stream, const char *name, const char *const *unwanted, struct ub_record *record,
                       struct ub_error *err);

#endif
