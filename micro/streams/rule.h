/* SPDX-License-Identifier: MIT
 *
 * What the parts of `streams` share beyond the geometry. */
#ifndef UB_STREAMS_RULE_H
#define UB_STREAMS_RULE_H

#include "micro/streams/schedule.h"

/* What each stage takes for all of the data, alone, without the cost of single operations;
 * 0 where the point lacks the stage, NaN where it is not known. */
struct streams_stage_times {
    double in_ns, kernel_ns, out_ns;
};

void streams_stage_times(const struct ub_gpu *gpu, const struct ub_constants *constants,
                         const struct streams_geometry *geometry, struct streams_stage_times *out);

/* The longest stage: no schedule is shorter. */
double streams_bound_ns(const struct streams_stage_times *times);
/* The same, or both copies together over a link that they share, if that takes longer. */
double streams_shared_bound_ns(const struct ub_constants *constants, const struct streams_geometry *geometry,
                               const struct streams_stage_times *times);
/* One stage after the other. */
double streams_serial_ns(const struct streams_stage_times *times);

/* Whether one segment's kernel gives every SM as many blocks as it holds. */
bool streams_fills_card(const struct ub_gpu *gpu, const struct streams_geometry *geometry);

void streams_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                 struct ub_law *out);
void streams_timeline(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                      struct ub_timeline *out);

bool streams_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out);
bool streams_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host,
                    uint64_t seed, uint64_t checksum, struct ub_error *err);

#endif
