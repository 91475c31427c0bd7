/* SPDX-License-Identifier: MIT
 *
 * What the files of the layout share: layout.c (the frame and the words around it),
 * layout_scales.c (ranges and ticks), layout_traces.c (where curves and dots run, what they
 * cover) and layout_labels.c (names beside curves). Pure. */
#ifndef UB_PLOTS_LAYOUT_PARTS_H
#define UB_PLOTS_LAYOUT_PARTS_H

#include "plots/layout.h"
#include "plots/place.h"

enum { UB_LAYOUT_WIDTH = 900 }; /* px of the picture */

extern const struct ub_measure ub_layout_fonts[]; /* by enum ub_font */

/* NULL: the text is empty, or there is no room for more labels. */
struct ub_label *ub_layout_add_label(struct ub_layout *out, enum ub_font font, enum ub_align align, const char *colour,
                                     double x, double y, const char *text);

/* The place of a value, in px. */
double ub_layout_px_x(const struct ub_layout *layout, double value);
double ub_layout_px_y(const struct ub_panel *panel, double value);

/* ---- traces: layout_traces.c -------------------------------------------------- */

/* A curve's or a series' spots in the panel, allocated once for each. */
struct ub_trace {
    size_t count;
    struct ub_spot *spots; /* owned */
};

struct ub_traces {
    struct ub_trace law[UB_CHART_SERIES], dots[UB_CHART_SERIES], second, panel[UB_CHART_SERIES],
        panel_dots[UB_CHART_SERIES];
};

/* False: out of memory; what there is is to be freed all the same. */
bool ub_traces_make(const struct ub_layout *out, const struct ub_figure *figure, struct ub_traces *traces);
void ub_traces_free(struct ub_traces *traces);

/* Thins a trace to what the search for a place can afford. */
struct ub_path ub_trace_path(struct ub_trace *trace, bool joined);

/* Marks what is drawn as taken. */
void ub_block_curve(struct ub_place *place, const struct ub_figure *figure, const struct ub_trace *trace);
void ub_block_dots(struct ub_place *place, const struct ub_figure *figure, const struct ub_layout *layout,
                   const struct ub_trace *trace, const struct ub_panel *panel);
void ub_block_intervals(struct ub_place *place, const struct ub_layout *layout, const struct ub_figure *figure,
                        size_t s);
void ub_block_ceilings(struct ub_place *place, const struct ub_layout *out, const struct ub_figure *figure);
void ub_block_lost(struct ub_place *place, const struct ub_layout *out, const struct ub_figure *figure);

/* ---- labels: layout_labels.c -------------------------------------------------- */

/* A label that names a curve: where it may stand, or its sample in the key row. */
struct ub_label_caption {
    const char *text;
    enum ub_font font;
    char colour[12];
    struct ub_key key;
};

/* Texts of the key row, in order; NULL text ends. */
struct ub_key_row {
    size_t count;
    struct ub_label_caption captions[UB_MAX_KEYS];
};

/* Names what a panel shows, beside it or in the key row. False: out of memory. */
bool ub_label_main(struct ub_layout *out, const struct ub_figure *figure, struct ub_traces *traces,
                   struct ub_key_row *row);
bool ub_label_lower(struct ub_layout *out, const struct ub_figure *figure, struct ub_traces *traces);

#endif
