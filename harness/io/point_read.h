/* SPDX-License-Identifier: MIT
 *
 * One point of a record out of its JSON object. */
#ifndef UB_IO_POINT_READ_H
#define UB_IO_POINT_READ_H

#include "harness/io/fields.h"

struct ub_point_reader {
    struct ub_record *record; /* gets the point; its source decides what a point may have */
    struct ub_place place;    /* of the object in the document */
};

/* Appends a point. Fails with UB_BAD_DATA and its place. */
bool ub_point_read(struct ub_point_reader *reader, const json_t *value);

#endif
