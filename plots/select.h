/* SPDX-License-Identifier: MIT
 *
 * Which points of a record one chart shows: the rule, the axis along x, the axes
 * that make series, and one value of every other axis. Pure. */
#ifndef UB_PLOTS_SELECT_H
#define UB_PLOTS_SELECT_H

#include "plots/render.h"

enum { UB_CHART_SERIES = 6 };

struct ub_selected {
    const struct ub_record_point *record;
    struct ub_point values;
    size_t series;
    int64_t x; /* value along x */
};

struct ub_selection {
    const struct ub_micro *micro;
    int x;       /* index of the axis along x */
    bool varies; /* false: one value along x */
    size_t series_axis_count;
    int series_axes[UB_MAX_AXES]; /* the one with most values first */
    size_t series_count;
    struct ub_point series[UB_CHART_SERIES]; /* in order; all axes but x hold */
    /* Where not all values of an axis that varies are shown: how many of how many. */
    size_t shown[UB_MAX_AXES], present[UB_MAX_AXES];
    size_t count;
    struct ub_selected *points; /* by series, then along x */
};

/* Fails with UB_USAGE (an unknown rule, sweep or axis; the text lists what there is)
 * or UB_BAD_DATA (nothing to draw). */
bool ub_select(const struct ub_record *record, const struct ub_plot_options *options, struct ub_selection *out,
               struct ub_error *err);
/* All points that the options name by rule, sweep and axes, whatever differs among them, in the
 * order of the record; `series` and `x` of each are 0. *points is to be freed. */
bool ub_select_all(const struct ub_record *record, const struct ub_plot_options *options, const struct ub_micro **micro,
                   struct ub_selected **points, size_t *count, struct ub_error *err);
void ub_selection_free(struct ub_selection *selection);

#endif
