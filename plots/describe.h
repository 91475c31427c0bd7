/* SPDX-License-Identifier: MIT
 *
 * What a chart shows, in words: for those who do not see it. Pure. */
#ifndef UB_PLOTS_DESCRIBE_H
#define UB_PLOTS_DESCRIBE_H

#include "plots/figure.h"

enum { UB_DESCRIPTION_BYTES = 2048 };

/* The finding, the conditions, first and last value of each series, and how far the points
 * lie from the law. Clean UTF-8 without line breaks. */
void ub_figure_describe(const struct ub_figure *figure, char *text, size_t size);

/* The last part of it: how far the points lie from the law; "" where there is none. */
void ub_figure_describe_law(const struct ub_figure *figure, char *text, size_t size);

#endif
