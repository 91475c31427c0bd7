/* SPDX-License-Identifier: MIT
 *
 * What the tests of charts share: rules of their own (rules.c), so that expected values can be
 * worked out by hand, and records of these (records.c). */
#ifndef UB_TESTS_PLOTS_H
#define UB_TESTS_PLOTS_H

#include "harness/contract/micro.h"
#include "harness/contract/record.h"
#include "plots/render.h"

enum { STRIDE, OFFSET, BYTES, OP, PATTERN, BLOCK, SIZE, AXES };

extern const struct ub_axis axes[AXES];
extern const char *const patterns[], *const metric_keys[];
extern const struct ub_micro strided, plain, stairs, holed, folded, roofed;

/* A record without points; the point that most others differ from in one value. */
void init_record(struct ub_record *record, enum ub_source source);
struct ub_point initial_point(void);

/* Adds a point as the law has it, with an interval of `width` either side; strides 1 to `last`. */
struct ub_record_point *add_point(struct ub_record *record, const struct ub_micro *micro, const char *sweep,
                                  const struct ub_point *point, double width);
void add_strides(struct ub_record *record, const struct ub_micro *micro, int64_t last, struct ub_point point,
                 double width);
void lose_point(struct ub_record_point *point, enum ub_point_status status, const char *reason);

/* Whole records. */
void make_stride(struct ub_record *record);
void make_predicted(struct ub_record *record);
void make_wide_interval(struct ub_record *record);
void make_one(struct ub_record *record);
void make_two(struct ub_record *record);
void make_offset(struct ub_record *record);
void make_equal(struct ub_record *record);
void make_patterns(struct ub_record *record);
void make_pattern(struct ub_record *record);
void make_bytes_series(struct ub_record *record);
void make_six_series(struct ub_record *record);
void make_many_series(struct ub_record *record);
void make_lost(struct ub_record *record);
void make_all_lost(struct ub_record *record);
void make_no_counters(struct ub_record *record);
void make_plain(struct ub_record *record);
void make_4096(struct ub_record *record);
void make_hostile(struct ub_record *record);
void make_size(struct ub_record *record);
void make_auto(struct ub_record *record);
void make_counts(struct ub_record *record);
void make_sizes(struct ub_record *record);

/* The script of a chart; to be freed. */
char *script_of(const struct ub_record *record, const struct ub_plot_options *options, const char *output);
/* Takes out what stands in single quotes and after #. */
void drop_quoted(char *script);
/* Rows of a datablock that begin with a number. */
int rows_of(const char *script, const char *block);

#endif
