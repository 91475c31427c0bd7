/* SPDX-License-Identifier: MIT
 *
 * Where a label may stand: a raster of what a panel already holds, and the free
 * box nearest to what the label names. Pure; units are px from the top left. */
#ifndef UB_PLOTS_PLACE_H
#define UB_PLOTS_PLACE_H

#include <stdbool.h>
#include <stddef.h>

enum { UB_CELL_PX = 2 };

struct ub_place {
    double left, top, width, height; /* of the panel */
    size_t columns, rows;
    unsigned char *taken; /* owned */
};

struct ub_spot {
    double x, y;
};

/* The polyline or the points that a label belongs to. A spot that is not a number breaks the line. */
struct ub_path {
    bool joined; /* a line runs from each spot to the next */
    size_t count;
    const struct ub_spot *spots;
};

bool ub_place_init(struct ub_place *place, double left, double top, double width, double height);
/* A second raster with the same content. */
bool ub_place_copy(const struct ub_place *place, struct ub_place *out);
void ub_place_free(struct ub_place *place);

void ub_place_box(struct ub_place *place, double left, double top, double width, double height);
/* Marks the straight line from one spot to the next. */
void ub_place_line(struct ub_place *place, struct ub_spot from, struct ub_spot to);

/* The free box of the size that lies nearest to `own`, no farther than `reach`, and
 * nearer to it than to any of `others`. Of equals the rightmost. */
bool ub_place_near(const struct ub_place *place, double width, double height, double reach, const struct ub_path *own,
                   size_t other_count, const struct ub_path *others, struct ub_spot *corner);

/* The free box of the size whose nearest obstacle is farthest away, within the polygon
 * between two paths with the same x: `upper` and `lower`. */
bool ub_place_between(const struct ub_place *place, double width, double height, const struct ub_path *upper,
                      const struct ub_path *lower, struct ub_spot *corner);

#endif
