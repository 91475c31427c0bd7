/* SPDX-License-Identifier: MIT
 *
 * The quantity along y: a metric of the rule, a counter or the time; its value at
 * a point of a record and in a prediction. Pure. */
#ifndef UB_PLOTS_QUANTITY_H
#define UB_PLOTS_QUANTITY_H

#include "harness/contract/record.h"
#include "harness/model/gpu.h"

enum ub_quantity_kind { UB_QUANTITY_METRIC, UB_QUANTITY_COUNTER, UB_QUANTITY_TIME };

struct ub_quantity {
    enum ub_quantity_kind kind;
    const char *key;
    char unit[32];    /* as the record names it; "" where it is not known */
    bool is_main;     /* the quantity that the rule's own chart draws */
    const char *name; /* what the rule's chart calls it, or NULL: made from the key */
    double scale;     /* value x scale is drawn; 0: chosen by ub_quantity_label() */
};

/* What the law says of one point. */
struct ub_prediction {
    struct ub_law law;
    struct ub_metrics metrics;
};

/* `wanted`: NULL (the chart's own), a metric, a counter (key or raw name) or "time".
 * Fails with UB_USAGE and the list of what there is. */
bool ub_quantity_find(const struct ub_record *record, const struct ub_micro *micro, const char *wanted,
                      struct ub_quantity *out, struct ub_error *err);

void ub_predict(const struct ub_micro *micro, const struct ub_gpu *gpu, const struct ub_constants *constants,
                const struct ub_point *point, struct ub_prediction *out);

/* The value, or NaN where it is none that a chart can show: infinite, or so far from all
 * that is measured (beyond 1e30 in any unit of a record) that scales would overflow. */
double ub_drawable(double value);

/* Unscaled and drawable; NaN: none. A measured record gives what was measured, a predicted one
 * what was predicted. */
double ub_quantity_of_point(const struct ub_quantity *quantity, enum ub_source source,
                            const struct ub_record_point *point);
double ub_quantity_of_prediction(const struct ub_quantity *quantity, const struct ub_prediction *prediction);
/* Whether the point has a value that is not drawable. */
bool ub_quantity_is_absurd(const struct ub_quantity *quantity, enum ub_source source,
                           const struct ub_record_point *point);
double ub_metric_of_prediction(const struct ub_prediction *prediction, const char *key);

/* The 95 % interval that follows from that of the time; NaN where there is none. */
void ub_quantity_interval(const struct ub_quantity *quantity, const struct ub_micro *micro, const struct ub_gpu *gpu,
                          const struct ub_constants *constants, const struct ub_point *values,
                          const struct ub_record_point *point, double *lo, double *hi);

/* Chooses the scale where it is open, from the least value above zero and the largest, and writes the axis label
 * "useful bandwidth  [GB/s]". */
void ub_quantity_label(struct ub_quantity *quantity, double least, double largest, char *text, size_t size);

#endif
