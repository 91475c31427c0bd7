/* SPDX-License-Identifier: MIT
 *
 * The timeline of one point: a row a stream, a bar an operation, from the timestamps of the
 * record, and under it what the law says. */
#ifndef UB_PLOTS_TIMELINE_H
#define UB_PLOTS_TIMELINE_H

#include "plots/render.h"

/* Draws as ub_plot() does. Of the points that the options name (rule, sweep, axes) and that
 * have a timeline with few enough operations to be read, the one on which most runs at the same
 * time. UB_USAGE: an option that
 * belongs to charts of sweeps; UB_BAD_DATA: no such point has a timeline. */
bool ub_plot_timeline(const struct ub_record *record, const struct ub_plot_options *options, const char *path,
                      struct ub_error *err);

/* Its title, and in words what it shows: as many bytes as fit. False as above. */
bool ub_timeline_describe(const struct ub_record *record, const struct ub_plot_options *options, char *title,
                          size_t title_size, char *words, size_t words_size, struct ub_error *err);

/* The script alone. */
bool ub_plot_timeline_script(FILE *stream, const struct ub_record *record, const struct ub_plot_options *options,
                             const char *output, struct ub_error *err);

#endif
