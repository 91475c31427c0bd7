/* SPDX-License-Identifier: MIT
 *
 * Charts for a page: SVG in memory, with what they show in words. */
#ifndef UB_PLOTS_INLINE_H
#define UB_PLOTS_INLINE_H

#include "plots/describe.h"
#include "plots/render.h"

struct ub_inline_chart {
    /* What is to be drawn; borrowed. */
    struct ub_runs runs;
    struct ub_plot_options options;
    bool timeline; /* of the first of the runs, in the place of a sweep */
    /* What became of it. Title and words do not need gnuplot. */
    char title[UB_LINE_BYTES];
    char words[UB_DESCRIPTION_BYTES];
    char law[UB_LINE_BYTES]; /* of `words`, how far points and law lie apart */
    char *svg;               /* owned, as gnuplot wrote it; NULL: not drawn */
    char why[400];           /* it was not */
};

/* Draws all charts, for a light ground. A chart that cannot be drawn does not stop the
 * others. A signal that ends the program first takes the temporary files away. */
void ub_inline_draw(struct ub_inline_chart *charts, size_t count);
void ub_inline_free(struct ub_inline_chart *chart);

#endif
