/* SPDX-License-Identifier: MIT
 *
 * A timeline ready to be drawn: what timeline.c makes of a point, and the two ways to draw it
 * (timeline_picture.c, timeline_dumb.c). Pure. */
#ifndef UB_PLOTS_TIMELINE_PARTS_H
#define UB_PLOTS_TIMELINE_PARTS_H

#include "plots/gnuplot.h"
#include "plots/render.h"
#include "plots/text.h"

enum {
    UB_TIMELINE_WIDTH = 900, /* px */
    UB_TIMELINE_EDGE = 27,   /* px left and right of all */
    UB_TIMELINE_ROWS = UB_MAX_TIMELINE_STREAMS + 1,
    UB_TIMELINE_STAGES = 12, /* that are told apart; all others are "further stages" */
    UB_TIMELINE_TICKS = 9
};

struct ub_timeline_chart {
    const struct ub_span *spans; /* what is drawn in full */
    size_t count;
    struct ub_timeline *law; /* beside what was measured; empty: none */
    bool measured;
    size_t row_count;
    int rows[UB_TIMELINE_ROWS]; /* the stream of each, from above; the default stream is last */
    size_t stage_count;
    const char *stages[UB_TIMELINE_STAGES];
    bool has_further;     /* stages beyond those */
    double end_ns, scale; /* ns x scale is drawn */
    const char *unit;
    char title[UB_LINE_BYTES];
    struct ub_lines below;
};

/* The number of a stage, from 1 on; UB_TIMELINE_STAGES + 1: a further one. */
size_t ub_timeline_stage(const struct ub_timeline_chart *chart, const char *name);
/* The name of stage `index` (from 0 on), clean and cut to a width. */
void ub_timeline_stage_name(const struct ub_timeline_chart *chart, size_t index, double width,
                            struct ub_measure measure, char *text, size_t size);
/* Rows are counted from below: y = 1 is the last. */
size_t ub_timeline_place(const struct ub_timeline_chart *chart, int stream);
/* Label of text from outside: `rest` gives alignment, font and colour. */
void ub_timeline_label(FILE *stream, const char *text, const char *place, const char *rest);
void ub_timeline_ticks(FILE *stream, const struct ub_timeline_chart *chart, double pad, size_t ticks, double *x_hi);

bool ub_timeline_write_picture(FILE *stream, const struct ub_timeline_chart *chart, const struct ub_term *term,
                               bool dark, const char *output, struct ub_error *err);
bool ub_timeline_write_dumb(FILE *stream, const struct ub_timeline_chart *chart, const struct ub_term *term,
                            int columns, const char *output, struct ub_error *err);

#endif
