/* SPDX-License-Identifier: MIT
 *
 * One sweep of one rule as columns and rows, for people: which columns there are,
 * what each says of a point, and how good that is. The printers decide how it looks. */
#ifndef UB_IO_TABLE_H
#define UB_IO_TABLE_H

#include "harness/contract/record.h"

enum { UB_TABLE_COLUMNS = 48, UB_CELL_SIZE = 160, UB_CELL_COLUMNS = 40 };

enum ub_tone { UB_TONE_PLAIN, UB_TONE_GOOD, UB_TONE_DOUBTFUL, UB_TONE_BAD };

/* What a narrow terminal keeps longest: never dropped are axes and the time. */
enum ub_rank {
    UB_RANK_AXIS,
    UB_RANK_TIME,
    UB_RANK_HEADLINE,
    UB_RANK_VERDICT,
    UB_RANK_RATIO,
    UB_RANK_LAW,
    UB_RANK_SHARE,
    UB_RANK_MORE,
    UB_RANK_LEAST
};

struct ub_table;
struct ub_column;

/* Writes the cell of a point into text; "-" where there is nothing. */
typedef void (*ub_cell)(const struct ub_table *, const struct ub_column *, const struct ub_record_point *, char *text,
                        size_t size);

struct ub_column {
    char title[UB_CELL_SIZE];
    const char *key; /* axis, metric or counter; borrowed from the record */
    ub_cell cell;
    enum ub_tone (*tone)(const struct ub_record_point *); /* NULL: plain */
    bool left;                                            /* words stand left, numbers right */
    bool bar;                                             /* a share that is also drawn as a bar */
    enum ub_rank rank;                                    /* a narrow terminal loses the highest first */
};

struct ub_table {
    const struct ub_record *record;
    const char *rule, *sweep;
    bool utf8, verbose;
    bool brief; /* times without their interval: set by a printer that lacks the room */
    size_t point_count;
    const struct ub_record_point **points; /* owned */
    size_t column_count;
    struct ub_column columns[UB_TABLE_COLUMNS];
    size_t fixed_count;
    const char *fixed[UB_MAX_AXES]; /* axes with one value in the whole table */
};

/* The table of rule and sweep of point number `first`. Columns in which no point
 * has anything are left out. False: no memory. */
bool ub_table_build(struct ub_table *table, const struct ub_record *record, size_t first, bool utf8, bool verbose,
                    struct ub_error *err);
void ub_table_free(struct ub_table *table);

/* Whether point number `index` is the first of its rule and sweep. */
bool ub_table_begins(const struct ub_record *record, size_t index);

/* The word at `offset` (a char * of struct ub_record_point) that all points with one
 * share, or NULL. */
const char *ub_table_common(const struct ub_table *table, size_t offset);

/* Value of an axis as text, harmless for a terminal. */
void ub_axis_cell(const struct ub_axis_value *axis, bool utf8, char *text, size_t size);
/* A metric's or constant's value with its unit: "4.68 TB/s", "97.3 %". */
void ub_value_cell(double value, const char *unit, char *text, size_t size);
/* Counted over counted, so that the law can be met exactly. What has a time in it never is: it
 * is shown as measured. */
bool ub_metric_is_ratio(const struct ub_record_metric *metric);
/* The share a column with a bar draws; NaN: none. */
double ub_column_share(const struct ub_table *table, const struct ub_column *column,
                       const struct ub_record_point *point);

/* "measured on NVIDIA H200", "predicted for NVIDIA H200 (no measurement)". */
void ub_origin_text(const struct ub_record *record, bool utf8, char *text, size_t size);

/* What a record's laws came to. */
struct ub_totals {
    size_t points, status[4], counters[3], time[3];
    const struct ub_record_point *worst; /* of those whose time deviates; or NULL */
};
void ub_totals_of(const struct ub_record *record, struct ub_totals *totals);
/* The totals as sentences; `print` is called once for each. */
void ub_totals_text(const struct ub_record *record, const struct ub_totals *totals, bool utf8,
                    void (*print)(void *user, enum ub_tone tone, const char *sentence), void *user);

#endif
