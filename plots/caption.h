/* SPDX-License-Identifier: MIT
 *
 * The words of a chart: title, conditions, labels and notes. Pure. */
#ifndef UB_PLOTS_CAPTION_H
#define UB_PLOTS_CAPTION_H

#include "plots/figure.h"
#include "plots/quantity.h"

/* "4 bytes", "block 256 threads", "op load" (`brief`: "load"). */
void ub_caption_axis(const struct ub_axis *axis, int64_t value, bool brief, char *text, size_t size);

/* "8", "64 KiB", "auto" */
void ub_caption_value(const struct ub_axis *axis, int64_t value, char *text, size_t size);

/* "stride  [elements]" */
void ub_caption_x(const struct ub_axis *axis, char *text, size_t size);

/* "in flight  [bytes]" */
void ub_caption_x_metric(const char *name, const char *unit, char *text, size_t size);

/* The label of one series: its value of each series axis. */
void ub_caption_series(const struct ub_selection *selection, size_t series, char *text, size_t size);

/* Title, conditions and the labels of curves. The figure's dots and y_label stand already. */
void ub_caption_figure(const struct ub_record *record, const struct ub_plot_options *options,
                       const struct ub_selection *selection, const struct ub_quantity *quantity,
                       struct ub_figure *figure);

/* The line under the chart for points that are not drawn: one note for each reason, with the series that it
 * concerns unless that is all of them. The labels of the series stand already. False: out of memory. */
bool ub_caption_lost(const struct ub_record *record, const struct ub_selection *selection,
                     const struct ub_quantity *quantity, struct ub_figure *figure);

/* Completes the conditions by the number of samples: " · median of 1 to 30 samples". */
void ub_caption_samples(struct ub_figure *figure);

/* "measured DRAM load ceiling 4680 GB/s, data sheet 4800 GB/s" */
void ub_caption_ceiling(const struct ub_record *record, const struct ub_quantity *quantity, struct ub_figure *figure);

#endif
