/* SPDX-License-Identifier: MIT
 *
 * The other formats of a record: each reads the record and writes bytes.
 * Numbers have a decimal point whatever the locale. */
#ifndef UB_IO_FORMATS_H
#define UB_IO_FORMATS_H

#include <stdio.h>

#include "harness/contract/record.h"

struct ub_print_options {
    bool colour;  /* ANSI colours for verdicts (which also carry words) */
    bool utf8;    /* block characters for bars; otherwise ASCII */
    int width;    /* columns of the terminal; 0: unlimited */
    bool verbose; /* every counter and term */
};

/* The table for people: a header that says where it comes from, one row a point
 * (only axes that vary are columns, the others stand in the header), verdicts, the
 * law in one line, a summary sentence. */
bool ub_print_human(FILE *stream, const struct ub_record *record, const struct ub_print_options *options,
                    struct ub_error *err);
/* RFC 4180, long form, header row: rule,sweep,axes...,quantity,kind,unit,value,lo,hi,n,status,reason */
bool ub_write_csv(FILE *stream, const struct ub_record *record, struct ub_error *err);
/* A table for a pull request. */
bool ub_write_markdown(FILE *stream, const struct ub_record *record, struct ub_error *err);
/* Google Benchmark's JSON, schema 1 (harness.md 2.1). */
bool ub_write_gbench(FILE *stream, const struct ub_record *record, struct ub_error *err);
/* OpenMetrics text, gauges, ends with # EOF. */
bool ub_write_openmetrics(FILE *stream, const struct ub_record *record, struct ub_error *err);

/* "1.234 us", "512 MiB", "4.28 TB/s": three or four significant digits with a unit prefix. */
void ub_format_time(double time_ns, char *text, size_t size);
void ub_format_bytes(double bytes, char *text, size_t size);
void ub_format_rate(double bytes_per_second, char *text, size_t size);

#endif
