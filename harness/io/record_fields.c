/* SPDX-License-Identifier: MIT */
#include "harness/io/record_fields.h"

#include <limits.h>
#include <math.h>

#define REAL(type, member)                                                                                             \
    {                                                                                                                  \
        UB_ROW(type, member, REAL)                                                                                     \
    }
#define TEXT(type, member)                                                                                             \
    {                                                                                                                  \
        UB_ROW(type, member, STRING)                                                                                   \
    }

const struct ub_field ub_point_name_fields[] = {
    {UB_ROW(ub_record_point, rule, STRING), .required = true},
    {UB_ROW(ub_record_point, sweep, STRING), .required = true},
    {0},
};

const struct ub_field ub_point_state_fields[] = {
    {UB_ROW(ub_record_point, status, WORD), .words = ub_status_names, .required = true},
    {UB_ROW(ub_record_point, reason, STRING), .free = true},
    {0},
};

const struct ub_field ub_point_setting_fields[] = {
    TEXT(ub_record_point, level),
    TEXT(ub_record_point, cache),
    TEXT(ub_record_point, data),
    {UB_ROW(ub_record_point, timer, WORD), .words = ub_timer_names},
    REAL(ub_record_point, footprint_bytes),
    REAL(ub_record_point, useful_bytes),
    {0},
};

const struct ub_field ub_law_counter_fields[] = {
    {UB_ROW_AS("counters", ub_record_point, counter_verdict, WORD), .words = ub_counter_verdict_names},
    {0},
};

const struct ub_field ub_law_prediction_fields[] = {
    REAL(ub_record_point, predicted_ns),
    {0},
};

const struct ub_field ub_law_verdict_fields[] = {
    TEXT(ub_record_point, bottleneck),
    {UB_ROW(ub_record_point, residual, REAL), .lowest = -1},
    {UB_ROW_AS("tolerance", ub_record_point, time_tolerance, REAL)},
    {UB_ROW_AS("verdict", ub_record_point, time_verdict, WORD), .words = ub_time_verdict_names},
    {UB_ROW(ub_record_point, note, STRING), .free = true},
    {0},
};

const struct ub_field ub_time_fields[] = {
    REAL(ub_time, median),
    REAL(ub_time, ci_lo),
    REAL(ub_time, ci_hi),
    REAL(ub_time, min),
    REAL(ub_time, p05),
    REAL(ub_time, p95),
    REAL(ub_time, mad),
    REAL(ub_time, cv),
    {UB_ROW(ub_time, outliers, INT), .absent = -1},
    {UB_ROW(ub_time, drift, REAL), .lowest = -1},
    {UB_ROW(ub_time, batch, INT)},
    {0},
};

const struct ub_field ub_time_clock_fields[] = {
    REAL(ub_time, mean_clock_mhz),
    {0},
};

const struct ub_field ub_publication_fields[] = {
    {UB_ROW(ub_publication, source, STRING), .required = true},
    TEXT(ub_publication, conditions),
    {UB_ROW(ub_publication, kind, STRING), .required = true},
    {0},
};

const struct ub_field ub_metric_fields[] = {
    {UB_ROW(ub_record_metric, value, REAL), .lowest = -INFINITY},
    TEXT(ub_record_metric, unit),
    {0},
};

const struct ub_field ub_counter_fields[] = {
    {UB_ROW(ub_record_counter, measured, MAYBE), .other = offsetof(struct ub_record_counter, has_measured)},
    {UB_ROW(ub_record_counter, predicted, MAYBE), .other = offsetof(struct ub_record_counter, has_predicted)},
    {UB_ROW_AS("class", ub_record_counter, class_, WORD), .words = ub_class_names},
    TEXT(ub_record_counter, unit),
    TEXT(ub_record_counter, raw),
    {UB_ROW(ub_record_counter, passes, INT)},
    REAL(ub_record_counter, tolerance),
    {UB_ROW(ub_record_counter, reason, STRING), .free = true},
    {0},
};

const struct ub_field ub_warning_fields[] = {
    {UB_ROW(ub_warning, code, STRING), .required = true},
    {UB_ROW(ub_warning, point, LONG), .absent = -1},
    {UB_ROW(ub_warning, text, STRING), .required = true, .free = true},
    {0},
};

const struct ub_field ub_span_fields[] = {
    {UB_ROW(ub_span, stream, INT), .lowest = UB_DEFAULT_STREAM, .absent = INT_MIN, .required = true},
    {UB_ROW(ub_span, segment, INT), .absent = INT_MIN, .required = true},
    {UB_ROW(ub_span, stage, CHARS), .size = UB_STAGE_BYTES, .required = true},
    {UB_ROW(ub_span, begin_ns, REAL), .required = true},
    {UB_ROW(ub_span, end_ns, REAL), .required = true},
    {0},
};
