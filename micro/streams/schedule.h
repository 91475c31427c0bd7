/* SPDX-License-Identifier: MIT
 *
 * The list schedule behind the law of `streams`: the host issues operations one after the
 * other, each stream keeps its order, and an engine that falls free takes, of the operations
 * that may begin, the one that was issued first. */
#ifndef UB_STREAMS_SCHEDULE_H
#define UB_STREAMS_SCHEDULE_H

#include "micro/streams/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What one operation of each stage costs. */
struct streams_costs {
    double time_ns[STREAMS_STAGE_COUNT];  /* on its engine, alone */
    double issue_ns[STREAMS_STAGE_COUNT]; /* of the host, before the device sees it */
    bool blocks[STREAMS_STAGE_COUNT];     /* the host goes on only when it has ended */
    double hand_over_ns;                  /* from the end of one to the next of its stream that is of another kind */
    double together;                      /* the rate of a copy while another goes the other way, of that alone */
};

/* When an operation ran, from the host's first call on. */
struct streams_span {
    double begin_ns, end_ns;
};

/* When the last operation has ended. `copy_engines`: asyncEngineCount. `spans`: one for each
 * operation, or NULL. */
double streams_schedule(const struct streams_geometry *geometry, int copy_engines, const struct streams_costs *costs,
                        const struct streams_op *ops, uint32_t count, struct streams_span *spans);

/* An event before an operation says when its stream came to it, not when its engine did: an
 * operation begins no earlier than the one before it of its stage, in the order of their ends,
 * has ended. */
void streams_take_turns(struct ub_timeline *timeline);

#ifdef __cplusplus
}
#endif
#endif
