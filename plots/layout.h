/* SPDX-License-Identifier: MIT
 *
 * Where everything of a chart stands, in px of the logical size (the svg terminal's
 * px; the other terminals scale): panels, scales, labels, key. All of it is computed
 * from the data, so that words neither collide nor leave the picture. Pure. */
#ifndef UB_PLOTS_LAYOUT_H
#define UB_PLOTS_LAYOUT_H

#include "plots/figure.h"
#include "plots/scale.h"

enum { UB_MAX_LABELS = 48, UB_MAX_KEYS = 16 };

enum ub_font { UB_FONT_TITLE, UB_FONT_BODY, UB_FONT_SMALL, UB_FONT_ITALIC, UB_FONT_BOLD };
enum ub_align { UB_LEFT, UB_CENTRE, UB_RIGHT };

/* x, y: the middle of the line's height, at its left end, centre or right end. */
struct ub_label {
    double x, y;
    enum ub_align align;
    enum ub_font font;
    bool upright, boxed; /* upright: turned by 90 degrees */
    char colour[12];     /* a colour of style.gp: "c_fg" */
    char text[UB_LINE_BYTES];
};

enum ub_key_kind { UB_KEY_DOT, UB_KEY_LINE, UB_KEY_SERIES, UB_KEY_SECOND, UB_KEY_GAP };

/* A sample beside a label of the key row. */
struct ub_key {
    enum ub_key_kind kind;
    size_t series;
    double x, y; /* left end */
};

struct ub_panel {
    double left, top, width, height;
    struct ub_scale y;
};

struct ub_layout {
    double width, height;
    bool has_lower, rotated_ticks;
    struct ub_panel main, lower;
    struct ub_scale x, share; /* share: right-hand axis of the main panel */
    double dot_size;          /* of gnuplot's point size */
    bool draws_ci, halo;
    size_t label_count;
    struct ub_label labels[UB_MAX_LABELS];
    size_t key_count;
    struct ub_key keys[UB_MAX_KEYS];
};

enum { UB_KEY_SAMPLE_PX = 24, UB_LONE_LAW_PX = 12 /* the dash of a law's value that stands alone */ };

bool ub_layout_make(const struct ub_figure *figure, struct ub_layout *out, struct ub_error *err);

/* The scales alone, for a panel of a terminal: `ticks` along y, `x_ticks` along x. */
void ub_layout_scales(const struct ub_figure *figure, size_t x_ticks, size_t ticks, struct ub_layout *out);

/* Where series `series` stands round its word: series of one word stand side by side. */
double ub_layout_dodge(const struct ub_figure *figure, size_t series);

/* "c_s1": the colour of a series; "measured" or "predicted". */
void ub_layout_series_colour(const struct ub_figure *figure, size_t series, char *text, size_t size);
const char *ub_layout_dot_name(const struct ub_figure *figure);

#endif
