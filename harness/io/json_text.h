/* SPDX-License-Identifier: MIT
 *
 * A JSON document as bytes, walked without building it: a record of 10,000 points
 * as one tree of jansson's would take a gigabyte. The walker knows where values
 * begin and end; jansson parses them piece by piece and drops each. */
#ifndef UB_IO_JSON_TEXT_H
#define UB_IO_JSON_TEXT_H

#include <stdio.h>

#include <jansson.h>

#include "harness/contract/error.h"

struct ub_json_text {
    const char *name; /* of the file, for messages */
    char *bytes;      /* owned */
    size_t length;
    size_t at; /* where the walker is */
    struct ub_error *err;
};

/* Reads all of a stream. Stops at once, with little memory, at what cannot be a
 * record: no '{' in front, nesting too deep, beyond 1 GiB. */
bool ub_json_text_read(struct ub_json_text *text, FILE *stream, const char *name, struct ub_error *err);
void ub_json_text_free(struct ub_json_text *text);

/* Fails with UB_BAD_DATA and "name, line 3, column 7: text" for the place `at`. */
bool ub_json_text_fail(const struct ub_json_text *text, size_t at, const char *format, ...) UB_PRINTF(3, 4);

/* Takes a value and must leave the walker behind it. */
typedef bool (*ub_json_member)(struct ub_json_text *text, const char *key, void *user);
typedef bool (*ub_json_item)(struct ub_json_text *text, size_t index, void *user);

/* Walk over the object or array at the walker's place and stop behind it. Equal
 * keys are refused. */
bool ub_json_text_object(struct ub_json_text *text, ub_json_member member, void *user);
bool ub_json_text_array(struct ub_json_text *text, ub_json_item item, void *user);

/* The first character of the value here; 0 at the end. */
char ub_json_text_peek(struct ub_json_text *text);
/* Moves behind the value; inside of it only brackets and strings are looked at. */
bool ub_json_text_skip(struct ub_json_text *text);
/* Parses the value and moves behind it. NULL: err is filled (also where the value is
 * longer than any point of a record). The caller has the reference. */
json_t *ub_json_text_parse(struct ub_json_text *text);
/* Only spaces are left, or it fails. */
bool ub_json_text_end(struct ub_json_text *text);

#endif
