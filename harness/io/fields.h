/* SPDX-License-Identifier: MIT
 *
 * Structs as JSON objects by table: a row says the key, where the value lies in
 * the struct and what it may be. The same row writes and reads, so the two cannot
 * differ; order of rows is order of keys. Reading goes by jansson; writing is our
 * own, because a record has its numbers on few lines. */
#ifndef UB_IO_FIELDS_H
#define UB_IO_FIELDS_H

#include <stdio.h>

#include <jansson.h>

#include "harness/contract/record.h"

enum ub_field_kind {
    UB_FIELD_STRING,   /* char *, owned; NULL is null */
    UB_FIELD_CHARS,    /* char [size] */
    UB_FIELD_STRINGS,  /* char **, owned, and at `other` its int count */
    UB_FIELD_REAL,     /* double; not finite is null */
    UB_FIELD_INT,      /* int; the value `absent` is null */
    UB_FIELD_LONG,     /* long; the value `absent` is null */
    UB_FIELD_U64,      /* uint64_t */
    UB_FIELD_MAYBE,    /* uint64_t, and at `other` a bool: false is null */
    UB_FIELD_BOOL,     /* bool */
    UB_FIELD_TRISTATE, /* int; 1, 0 and -1 are true, false and null */
    UB_FIELD_WORD,     /* an enum; one of `words` by index */
    UB_FIELD_SIZES,    /* uint32_t [3]; 0 in the first is null */
    UB_FIELD_OBJECT    /* a struct in place, described by `fields` */
};

struct ub_field {
    const char *key; /* NULL: the end of the table */
    enum ub_field_kind kind;
    size_t offset, other, size;
    const char *const *words;
    const struct ub_field *fields;
    double lowest; /* numbers below it are refused */
    int absent;
    bool required; /* reading fails without it */
    bool secret;   /* --redact writes null */
    bool late;     /* INT, STRING: not written where absent; files from before there was the field stay as they are */
    bool free;     /* text for people: --redact takes paths and the UUID out of it */
    bool command;  /* STRINGS of a command line: --redact leaves the last part of paths */
};

/* Rows; `type` is the struct. */
#define UB_ROW(type, member, kind_) .key = #member, .kind = UB_FIELD_##kind_, .offset = offsetof(struct type, member)
#define UB_ROW_AS(name, type, member, kind_)                                                                           \
    .key = name, .kind = UB_FIELD_##kind_, .offset = offsetof(struct type, member)

/* ---- writing ------------------------------------------------------------- */

struct ub_emit {
    FILE *stream;
    int digits; /* significant digits of a double: 12 in records, 17 where nothing may be lost */
    bool redact;
    const char *uuid; /* what redact takes out of free text, or NULL */
};

void ub_emit(const struct ub_emit *emit, const char *text); /* as it is */
void ub_emit_string(const struct ub_emit *emit, const char *text);
void ub_emit_real(const struct ub_emit *emit, double value);
void ub_emit_u64(const struct ub_emit *emit, uint64_t value);
void ub_emit_key(const struct ub_emit *emit, const char *key);
/* `"key": value` of each row, `separator` between them, no braces. */
void ub_emit_members(const struct ub_emit *emit, const struct ub_field *fields, const void *base,
                     const char *separator);

/* ---- reading ------------------------------------------------------------- */

/* Where in the document the reader is: "points[3].time_ns". Only noted on the way,
 * written out where something is wrong, because there are a million steps. */
struct ub_place {
    struct ub_error *err;
    size_t depth;
    struct ub_step {
        const char *key; /* borrowed; NULL: an item of an array */
        size_t index;
    } steps[16];
};

void ub_place_key(struct ub_place *place, const char *key);
void ub_place_index(struct ub_place *place, size_t index);
void ub_place_up(struct ub_place *place);
/* Fails with UB_BAD_DATA and "path: text". */
bool ub_place_fail(const struct ub_place *place, const char *format, ...) UB_PRINTF(2, 3);
/* "expected WANTED, found a string" */
bool ub_place_expected(const struct ub_place *place, const char *wanted, const json_t *found);

/* Fills the struct at base from an object. Keys without a row are ignored, rows
 * without a key leave the struct as it is. */
bool ub_read_members(struct ub_place *place, const json_t *object, const struct ub_field *fields, void *base);
bool ub_read_real(struct ub_place *place, const json_t *value, double lowest, double *out);
bool ub_read_u64(struct ub_place *place, const json_t *value, uint64_t *out);
bool ub_read_string(struct ub_place *place, const json_t *value, char **out);
/* Index in a NULL-terminated list. */
bool ub_read_word(struct ub_place *place, const json_t *value, const char *const *words, int *out);

/* ---- the tables of what records and journals share ----------------------- */

extern const struct ub_field ub_device_fields[];   /* struct ub_device_info */
extern const struct ub_field ub_run_fields[];      /* struct ub_run_info */
extern const struct ub_field ub_static_fields[];   /* struct ub_static */
extern const struct ub_field ub_constant_fields[]; /* struct ub_constant */
extern const char *const ub_flag_names[];          /* bit 0, bit 1, ... of ub_sample.flags; NULL at the end */

#endif
