/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of `check`: check.c (laws, constants), check_samples.c (what follows
 * from the samples of a point alone) and check_timeline.c. */
#ifndef UB_ENGINE_CHECK_PRIVATE_H
#define UB_ENGINE_CHECK_PRIVATE_H

#include "harness/engine/law.h"
#include "harness/model/gpu.h"

struct ub_checker {
    const struct ub_record *record;
    const struct ub_record_point *point; /* the one being checked; NULL: none */
    const char *part;                    /* of the record, where it is no point */
    struct ub_gpu gpu;
    bool jit;
    struct ub_check_counts *counts;
    ub_check_report report;
    void *user;
    size_t problems;
};

struct ub_check_pair {
    const char *name;
    double stored, computed, scale;
};

/* One sentence that names the thing and its values; point or part stand before it. */
void ub_check_problem(struct ub_checker *check, const char *format, ...) UB_PRINTF(2, 3);
/* Equal, but for the way through decimal text. `scale` is the size that an error is relative to,
 * where the value itself may be near 0. */
bool ub_check_same(double a, double b, double scale);
void ub_check_pairs(struct ub_checker *check, const struct ub_check_pair *pairs, size_t count,
                    const char *computed_from);

/* Summary, flags and warnings of the point from its samples; nothing where these were left out. */
void ub_check_samples(struct ub_checker *check);

void ub_check_order(struct ub_checker *check);
void ub_check_measured_timeline(struct ub_checker *check, const struct ub_micro *micro, const struct ub_point *point);
void ub_check_predicted_timeline(struct ub_checker *check, const struct ub_micro *micro, const struct ub_point *point);

#endif
