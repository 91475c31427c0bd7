/* SPDX-License-Identifier: MIT
 *
 * What a chart shows, in the units that it is drawn in: points, law curves and
 * words, out of a record. The law is evaluated from the constants of the record;
 * nothing is fitted. Pure: no file, no gnuplot. */
#ifndef UB_PLOTS_FIGURE_H
#define UB_PLOTS_FIGURE_H

#include "harness/model/gpu.h"
#include "plots/select.h"
#include "plots/text.h"

enum { UB_FIGURE_EVALUATIONS = 1024, UB_FIGURE_NOTES = 6 };

/* A point that has a value. lo and hi are its 95 % interval, NaN where there is none;
 * panel is the value of the lower panel, NaN where there is none. untested: measured, but no
 * tolerance is stated for its time, on which y rests. */
struct ub_dot {
    double x, y, lo, hi, panel;
    bool untested;
};

/* The law at one x; each value is NaN where the law says nothing: its curve breaks there. Of
 * roof_only the other curves have no spot, so that they run on. */
struct ub_law_spot {
    double x, y, second, panel;
    bool roof_only;
};

enum ub_curve { UB_CURVE_LAW, UB_CURVE_SECOND, UB_CURVE_PANEL };

double ub_law_spot_value(const struct ub_law_spot *spot, enum ub_curve curve);
/* Whether the spot is one of the curve's, with a value or without. */
bool ub_law_spot_is_of(const struct ub_law_spot *spot, enum ub_curve curve);

struct ub_series {
    char label[96]; /* "4 bytes, load"; "" for the only series */
    enum ub_source source;
    size_t colour, variant; /* first axis of the series, all others; of several runs: the GPU, and its series */
    size_t shape;           /* of the symbol: series that coincide nest */
    size_t dot_count, law_count;
    struct ub_dot *dots;
    struct ub_law_spot *law;
    double ceiling; /* what is 100 % in the unit of y; NaN: not known */
};

struct ub_figure {
    enum ub_source source; /* of all series, unless `mixed` */
    bool mixed, of_runs;   /* of_runs: each colour is a GPU */
    double scale;          /* value x scale is what y says */
    /* Along x: numbers, or the places 0.. of words. Words beside numbers name the dots of the only
     * series. */
    bool words, whole_y, share_y; /* share_y: of a whole, in per cent */
    size_t word_count;
    char (*word)[48];
    bool bytes_x; /* ticks as Ki, Mi, Gi */
    /* Words. All are clean UTF-8 without control characters. */
    char title[UB_LINE_BYTES], conditions[2 * UB_LINE_BYTES];
    size_t subject_bytes;                /* of `conditions`: the GPU */
    size_t settings_bytes;               /* of `conditions`: GPU and axes, without the samples */
    size_t fewest_samples, most_samples; /* of a point; 0: nothing was measured */
    char x_label[160], y_label[160], panel_label[160], share_label[160];
    char law_label[160], panel_law_label[160], panel_dot_label[160], second_label[160], gap_label[160];
    char ceiling_label[320];
    char ceiling_names[UB_CHART_SERIES][64]; /* as `ceilings`: "DRAM load ceiling" */
    size_t note_count;
    char notes[UB_FIGURE_NOTES][UB_LINE_BYTES];
    /* What there is. */
    bool has_panel, has_share, has_second, has_ci;
    bool has_roof;        /* the second curve is one: both axes are log */
    size_t ceiling_count; /* distinct ones of the series, highest first; has_share: exactly one */
    double ceilings[UB_CHART_SERIES];
    double data_sheet; /* NaN: none */
    size_t series_count;
    struct ub_series series[UB_CHART_SERIES];
    size_t mark_count; /* upright lines, each within the range of x */
    struct ub_mark marks[UB_MAX_MARKS];
    size_t lost_count; /* points that failed, in x */
    double *lost;
};

bool ub_figure_make(const struct ub_record *record, const struct ub_plot_options *options, struct ub_figure *out,
                    struct ub_error *err);
void ub_figure_free(struct ub_figure *figure);

/* Multiplies all values along y. */
void ub_figure_scale(struct ub_figure *figure, double scale);
/* Adds a ceiling unless it stands there already, so that the highest stands first. */
void ub_figure_add_ceiling(struct ub_figure *figure, double ceiling);

#endif
