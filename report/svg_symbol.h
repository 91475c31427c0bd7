/* SPDX-License-Identifier: MIT
 *
 * Path data in few bytes: coordinates in tenths of a px, relative to each other, without
 * points that lie on a straight line; and the outlines of gnuplot's point types. */
#ifndef UB_REPORT_SVG_SYMBOL_H
#define UB_REPORT_SVG_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct ub_svg_spot {
    double x, y;
};

/* Writes the line through the spots. */
void ub_svg_line(FILE *out, const struct ub_svg_spot *spots, size_t count, bool closed);

enum ub_svg_fill { UB_SVG_STROKED, UB_SVG_FILLED, UB_SVG_DOT };

/* How point type `number` ("gpPt5": 5) is painted; false: there is no such type. UB_SVG_DOT:
 * as the round end of a line without length, as wide as twice its scale. */
bool ub_svg_symbol_fill(int number, enum ub_svg_fill *fill);
/* Writes its outline round a place. */
void ub_svg_symbol(FILE *out, int number, double x, double y, double scale);

#endif
