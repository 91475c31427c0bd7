/* SPDX-License-Identifier: MIT
 *
 * Charts: writes a gnuplot script (data, titles, the embedded template) and runs
 * gnuplot on it. Text from outside stands only in single quotes or in datablocks. */
#ifndef UB_PLOTS_RENDER_H
#define UB_PLOTS_RENDER_H

#include <stdio.h>

#include "harness/contract/record.h"
#include "harness/engine/plan.h"

struct ub_plot_options {
    const char *rule;   /* NULL: the first rule of the record with points */
    const char *sweep;  /* NULL: the first that gives the x axis four values, else the one that gives it most */
    const char *x;      /* axis; NULL: the axis with most values */
    const char *y;      /* metric or counter key; NULL: the rule's chart */
    const char *series; /* axis of the series; NULL: the other axis that varies */
    size_t axis_count;  /* only points with these values: --bytes 4 */
    const struct ub_axis_option *axes;
    const char *term; /* svg png pdf dumb; NULL: by the file's ending (.svg .png .pdf .txt), "-": dumb */
    bool dark;
    bool keep_script; /* leave the complete script beside the picture, unless that is a stream */
    bool force;       /* overwrite files */
    int columns;      /* dumb: width of the terminal; 0: $COLUMNS, else 80 */
    /* Set by what draws several runs into one chart (overlay.h). */
    size_t series_limit; /* 0: as many as a chart can hold */
    bool overlaid;       /* a run may have one value along x */
    bool words;          /* x as words, whatever its values */
};

/* Runs drawn into one chart, one colour a GPU. */
struct ub_runs {
    size_t count;
    const struct ub_record *const *records;
};

/* Whether ub_plot() could write to `path`, before there is a record: UB_USAGE (no such
 * terminal or ending), UB_CANNOT_WRITE (the chart or its script exists and `force` is
 * false, its folder is missing or read-only). Writes nothing. */
bool ub_plot_check(const struct ub_plot_options *options, const char *path, struct ub_error *err);

/* Draws to `path` ("-": reduced chart as text on stdout). Writes beside the file and
 * renames, so that a failure, SIGHUP, SIGINT or SIGTERM leaves nothing; a pipe or a device is
 * written to. As ub_plot_check(), and UB_MISSING_PROGRAM: no gnuplot or older than 5.2
 * (text says how to get it); UB_CANNOT_WRITE; UB_BAD_DATA: nothing to draw. */
bool ub_plot(const struct ub_record *record, const struct ub_plot_options *options, const char *path,
             struct ub_error *err);
/* The same for several runs. UB_USAGE: more than a chart can hold. */
bool ub_plot_runs(const struct ub_runs *runs, const struct ub_plot_options *options, const char *path,
                  struct ub_error *err);

/* The script alone, complete: runs with `gnuplot -d FILE`. */
bool ub_plot_script(FILE *stream, const struct ub_record *record, const struct ub_plot_options *options,
                    const char *output, struct ub_error *err);
bool ub_plot_runs_script(FILE *stream, const struct ub_runs *runs, const struct ub_plot_options *options,
                         const char *output, struct ub_error *err);

/* What ub_plot() does, for any subject: `writer` writes a complete script that draws to
 * `output` with the terminal of options->term (one of svg png pdf dumb, never NULL). */
typedef bool (*ub_script_writer)(FILE *stream, const void *subject, const struct ub_plot_options *options,
                                 const char *output, struct ub_error *err);
bool ub_plot_with(ub_script_writer writer, const void *subject, const struct ub_plot_options *options, const char *path,
                  struct ub_error *err);

/* Columns of a reduced chart, and whether its terminal shows UTF-8. */
int ub_plot_columns(const struct ub_plot_options *options);
bool ub_plot_utf8(void);

/* "gnuplot 5.4 patchlevel 4" into text; false: not there, with the fix. $UBENCH_GNUPLOT names another one. */
bool ub_gnuplot_version(char *text, size_t size, struct ub_error *err);

#endif
