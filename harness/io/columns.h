/* SPDX-License-Identifier: MIT
 *
 * A list of JSON objects as columns: in a page, a thousand points that have the same keys
 * write each key once. Objects with the same leaves stand in one table, which looks like one
 * of them with a column in the place of each leaf:
 *
 *   {"points": [0, 1, 2], "point": {"rule": "coalescing", "axes": {"stride": {"*": [1, 2, 3]}}}}
 *
 * `points` are their places in the list. A column is one of
 *
 *   "coalescing"                        a number, a word or null: that of all points
 *   {"*": [1, 2, 3]}                    one value a point
 *   {"*": ["a", "b"], "at": [0, 1, 0]}  few different values, and which of them each point has
 *   {"*": [[1, 2]], "at": 0}            the same where all have it
 *
 * A leaf is a number, a word, null, an array or an empty object. */
#ifndef UB_IO_COLUMNS_H
#define UB_IO_COLUMNS_H

#include <stdio.h>

#include <jansson.h>

#include "harness/contract/error.h"

enum { UB_COLUMNS_ROWS = 1024 }; /* of a table, at most: what is parsed at once stays small */

/* Writes object number `index` of the list as JSON. */
typedef void (*ub_columns_item)(FILE *stream, const void *user, size_t index);

/* Writes the list as an array of tables. Objects with different values of a leaf in
 * `together` (pointers, ended by NULL) never share a table. */
bool ub_columns_write(FILE *stream, size_t count, ub_columns_item item, const void *user, const char *const *together,
                      struct ub_error *err);

/* The rows of a table, or 0 with UB_BAD_DATA and what is wrong with it. */
size_t ub_columns_rows(json_t *table, struct ub_error *err);
/* The place in the list of a row that ub_columns_rows() counted. */
size_t ub_columns_place(const json_t *table, size_t row);
/* The object of such a row; the caller has the reference. NULL: err is filled. */
json_t *ub_columns_row(json_t *table, size_t row, struct ub_error *err);
/* About how many bytes a row takes out of what all rows share. */
size_t ub_columns_shared_bytes(json_t *table);

#endif
