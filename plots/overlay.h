/* SPDX-License-Identifier: MIT
 *
 * Several runs in one figure: the same rule, axis and values of all, one colour a GPU.
 * What the first run shows decides; the others show the same points. Pure. */
#ifndef UB_PLOTS_OVERLAY_H
#define UB_PLOTS_OVERLAY_H

#include "plots/figure.h"

/* One run is ub_figure_make(). Fails as that does, naming the GPU, and with UB_USAGE where
 * there are more runs than colours. */
bool ub_figure_of_runs(const struct ub_runs *runs, const struct ub_plot_options *options, struct ub_figure *out,
                       struct ub_error *err);

#endif
