/* SPDX-License-Identifier: MIT
 *
 * Where a chart goes, by the rules of records: a file appears whole or not at all, what
 * exists stays unless it is to be overwritten, a symbolic link is followed, and a pipe or a
 * device is written to, never replaced. */
#ifndef UB_PLOTS_FILE_H
#define UB_PLOTS_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "harness/contract/error.h"

enum { UB_PATH_BYTES = 4096 };

struct ub_chart_file {
    bool streams; /* standard output, a pipe, a device: written to when the picture is done */
    bool force;
    const char *name;         /* as it was given; borrowed */
    char path[UB_PATH_BYTES]; /* the file behind `name`; its temporary files stand beside it */
};

/* Looks at `name` ("-": standard output). UB_CANNOT_WRITE: it exists and `force` is false, it
 * is a folder, its folder is missing or read-only. For a stream `path` is a name among
 * temporary files. */
bool ub_chart_file_find(const char *name, bool force, struct ub_chart_file *out, struct ub_error *err);

/* Renames the finished file `from` to what is no stream. */
bool ub_chart_file_place(const char *from, const struct ub_chart_file *file, struct ub_error *err);

/* Copies what is left of `from` to a stream. Waits for the reader of a pipe. */
bool ub_chart_file_copy(FILE *from, const struct ub_chart_file *file, struct ub_error *err);

#endif
