/* SPDX-License-Identifier: MIT
 *
 * The forest chart of a comparison: a row a point, its ratio with the interval, the margin
 * as a band, what the laws say as a diamond, and the numbers in words beside. */
#ifndef UB_PLOTS_COMPARE_H
#define UB_PLOTS_COMPARE_H

#include "harness/contract/comparison.h"
#include "plots/render.h"

enum { UB_FOREST_ROWS = 40 };

/* Draws as ub_plot() does; of more than UB_FOREST_ROWS points those that changed most.
 * UB_BAD_DATA: no point has a ratio. */
bool ub_plot_comparison(const struct ub_comparison *comparison, const struct ub_plot_options *options, const char *path,
                        struct ub_error *err);

#endif
