/* SPDX-License-Identifier: MIT
 *
 * A chart as gnuplot writes it, made fit for a page: only shapes and texts are kept, in a
 * fifth of the room, without ids; colours of the palette are classes, so that one drawing
 * serves light and dark. Whatever else stands in the file is not taken over. */
#ifndef UB_REPORT_SVG_H
#define UB_REPORT_SVG_H

#include <stdio.h>

#include "harness/contract/error.h"
#include "report/palette.h"

/* Where a drawing goes. */
struct ub_svg_frame {
    const char *label; /* what it shows, in words: its alternative text */
    bool nested;       /* within another SVG, at x, y, as wide as `width` */
    double x, y, width;
    bool literal_colours; /* as they are, instead of classes */
};

/* Writes one <svg> element. Fails with UB_BAD_DATA where the file is not what gnuplot's
 * svg terminal writes; nothing is written then. */
bool ub_svg_write(FILE *out, const char *svg, const struct ub_palette *palette, const struct ub_svg_frame *frame,
                  struct ub_error *err);

/* Width and height of the drawing. */
bool ub_svg_size(const char *svg, double *width, double *height);

#endif
