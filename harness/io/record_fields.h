/* SPDX-License-Identifier: MIT
 *
 * The tables of a record's points, in the order in which their keys are written. */
#ifndef UB_IO_RECORD_FIELDS_H
#define UB_IO_RECORD_FIELDS_H

#include "harness/io/fields.h"

/* struct ub_record_point; axes stand between name and state. */
extern const struct ub_field ub_point_name_fields[];    /* rule, sweep */
extern const struct ub_field ub_point_state_fields[];   /* status, reason */
extern const struct ub_field ub_point_setting_fields[]; /* level, cache, data, timer, bytes */
/* Inside of "law" and "law.time"; terms stand between prediction and verdict. */
extern const struct ub_field ub_law_counter_fields[];
extern const struct ub_field ub_law_prediction_fields[];
extern const struct ub_field ub_law_verdict_fields[];

extern const struct ub_field ub_time_fields[];        /* struct ub_time, without n and samples */
extern const struct ub_field ub_time_clock_fields[];  /* of a time whose samples were left out */
extern const struct ub_field ub_publication_fields[]; /* struct ub_publication */
extern const struct ub_field ub_metric_fields[];      /* struct ub_record_metric, without the key */
extern const struct ub_field ub_counter_fields[];     /* struct ub_record_counter, without the key */
extern const struct ub_field ub_warning_fields[];     /* struct ub_warning */
extern const struct ub_field ub_span_fields[];        /* struct ub_span */

#endif
