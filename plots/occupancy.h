/* SPDX-License-Identifier: MIT
 *
 * Charts of theoretical occupancy: a staircase along one quantity, or a heat map over
 * two. Computed from the law, nothing is measured. */
#ifndef UB_PLOTS_OCCUPANCY_H
#define UB_PLOTS_OCCUPANCY_H

#include "harness/engine/axis.h"
#include "harness/model/occupancy.h"
#include "plots/render.h"

enum ub_occupancy_quantity { UB_VARY_REGISTERS, UB_VARY_THREADS, UB_VARY_SHARED, UB_VARY_QUANTITIES };

/* Sets one quantity of a request. */
void ub_occupancy_vary(struct ub_occupancy_request *request, enum ub_occupancy_quantity quantity, int64_t value);

/* Consecutive values with the same blocks and the same limits. */
struct ub_occupancy_step {
    int64_t first, last;
    struct ub_occupancy occupancy; /* of `first` */
    const char *refusal;           /* name of the error, or NULL */
};

/* Steps along `values`, which must be in ascending order; at most values->count of them
 * are written to `steps`. Returns how many. */
size_t ub_occupancy_steps(const struct ub_sm_limits *limits, const struct ub_occupancy_request *request,
                          enum ub_occupancy_quantity quantity, const struct ub_values *values,
                          struct ub_occupancy_step *steps);

struct ub_occupancy_chart {
    const char *card; /* "NVIDIA H200, compute capability 9.0" */
    const struct ub_sm_limits *limits;
    struct ub_occupancy_request request; /* what is not varied */
    enum ub_occupancy_quantity x, y;
    const struct ub_values *x_values, *y_values; /* ascending; y_values NULL: a staircase */
};

/* Draws as ub_plot() does. */
bool ub_plot_occupancy(const struct ub_occupancy_chart *chart, const struct ub_plot_options *options, const char *path,
                       struct ub_error *err);

#endif
