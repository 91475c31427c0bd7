/* SPDX-License-Identifier: MIT */
#include "harness/io/journal.h"

#include <math.h>
#include <string.h>

#include "harness/io/fields.h"
#include "harness/io/record_fields.h"

static const char *const type_names[] = {"header", "device",  "constant", "start",   "static", "verify", "sample",
                                         "span",   "counter", "point",    "warning", "error",  "end",    NULL};

/* Rows that several types have. */
#define POINT                                                                                                          \
    {                                                                                                                  \
        UB_ROW(ub_line, point, LONG), .lowest = -1, .absent = -1, .required = true                                     \
    }
#define TEXT                                                                                                           \
    {                                                                                                                  \
        UB_ROW(ub_line, text, STRING), .free = true                                                                    \
    }
#define KEY                                                                                                            \
    {                                                                                                                  \
        UB_ROW(ub_line, key, STRING), .required = true                                                                 \
    }

static const struct ub_field sample_members[] = {
    {UB_ROW(ub_sample, time_ns, REAL), .lowest = -INFINITY, .required = true},
    {UB_ROW(ub_sample, clock_mhz, REAL)},
    {0},
};

static const struct ub_field header_fields[] = {
    {UB_ROW(ub_line, run, OBJECT), .fields = ub_run_fields, .required = true},
    {UB_ROW(ub_line, device, OBJECT), .fields = ub_device_fields, .required = true},
    {0},
};
static const struct ub_field device_fields[] = {
    {UB_ROW(ub_line, device, OBJECT), .fields = ub_device_fields, .required = true},
    {0},
};
static const struct ub_field constant_fields[] = {
    {UB_ROW(ub_line, constant, OBJECT), .fields = ub_constant_fields, .required = true},
    {0},
};
static const struct ub_field start_fields[] = {POINT, {UB_ROW(ub_line, phase, STRING)}, {0}};
static const struct ub_field static_fields[] = {
    POINT,
    {UB_ROW_AS("static", ub_line, static_, OBJECT), .fields = ub_static_fields, .required = true},
    {0},
};
static const struct ub_field verify_fields[] = {POINT, {UB_ROW(ub_line, ok, BOOL), .required = true}, TEXT, {0}};
static const struct ub_field sample_fields[] = {
    POINT,
    {UB_ROW(ub_line, sample, OBJECT), .fields = sample_members, .required = true},
    {UB_ROW_AS("flags", ub_line, sample.flags, INT)},
    {UB_ROW(ub_line, batch, INT)},
    {0},
};
static const struct ub_field span_line_fields[] = {
    POINT,
    {UB_ROW(ub_line, span, OBJECT), .fields = ub_span_fields, .required = true},
    {0},
};
static const struct ub_field counter_fields[] = {
    POINT,
    KEY,
    {UB_ROW(ub_line, value, MAYBE), .other = offsetof(struct ub_line, has_value)},
    {UB_ROW(ub_line, raw, STRING)},
    {UB_ROW(ub_line, passes, INT)},
    TEXT,
    {0},
};
static const struct ub_field point_fields[] = {
    POINT,
    {UB_ROW(ub_line, status, WORD), .words = ub_status_names, .required = true},
    TEXT,
    {0},
};
static const struct ub_field warning_fields[] = {{UB_ROW(ub_line, point, LONG), .absent = -1}, KEY, TEXT, {0}};
static const struct ub_field error_fields[] = {
    {UB_ROW_AS("status", ub_line, status_code, INT), .required = true},
    TEXT,
    {0},
};
static const struct ub_field end_fields[] = {{0}};

static const struct ub_field *const fields_of[] = {
    [UB_LINE_HEADER] = header_fields, [UB_LINE_DEVICE] = device_fields,   [UB_LINE_CONSTANT] = constant_fields,
    [UB_LINE_START] = start_fields,   [UB_LINE_STATIC] = static_fields,   [UB_LINE_VERIFY] = verify_fields,
    [UB_LINE_SAMPLE] = sample_fields, [UB_LINE_SPAN] = span_line_fields,  [UB_LINE_COUNTER] = counter_fields,
    [UB_LINE_POINT] = point_fields,   [UB_LINE_WARNING] = warning_fields, [UB_LINE_ERROR] = error_fields,
    [UB_LINE_END] = end_fields,
};

static bool write_line(const struct ub_emit *emit, const struct ub_line *line, struct ub_error *err)
{
    const struct ub_field *fields = fields_of[line->type];
    fprintf(emit->stream, "{\"line\": \"%s\"", type_names[line->type]);
    ub_emit(emit, fields->key ? ", " : "");
    ub_emit_members(emit, fields, line, ", ");
    ub_emit(emit, "}\n");
    return !ferror(emit->stream) || ub_fail(err, UB_CANNOT_WRITE, "cannot write a line of the journal");
}

bool ub_line_write(FILE *stream, const struct ub_line *line, struct ub_error *err)
{
    return write_line(&(struct ub_emit){.stream = stream, .digits = 17}, line, err);
}

bool ub_line_write_redacted(FILE *stream, const struct ub_line *line, const char *uuid, struct ub_error *err)
{
    const struct ub_emit emit = {.stream = stream, .digits = 17, .redact = true, .uuid = uuid && *uuid ? uuid : NULL};
    return write_line(&emit, line, err);
}

static void line_init(struct ub_line *line)
{
    *line = (struct ub_line){
        .point = -1,
        .sample = {.time_ns = NAN, .clock_mhz = NAN},
        .static_ = {.registers = -1, .shared_bytes = -1, .local_bytes = -1, .resident_blocks = -1},
        .constant = {.value = NAN, .lo = NAN, .hi = NAN},
        .run = {.jit = -1},
    };
    ub_device_info_init(&line->device);
}

static bool parse_object(const json_t *object, struct ub_line *line, struct ub_error *err)
{
    struct ub_place place = {.err = err};
    const json_t *name = json_object_get(object, "line");
    int type = 0;
    if (!name)
        return ub_fail(err, UB_BAD_DATA, "not a line of a journal: it has no \"line\"");
    if (!ub_read_word(&place, name, type_names, &type))
        return false;
    line->type = (enum ub_line_type)type;
    return ub_read_members(&place, object, fields_of[type], line);
}

bool ub_line_parse(const char *text, size_t length, struct ub_line *line, struct ub_error *err)
{
    struct ub_error unused;
    json_error_t error;
    line_init(line);
    json_t *object = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!object)
        return ub_fail(err, UB_BAD_DATA, "not a line of a journal: %s", error.text);
    bool good = parse_object(object, line, err ? err : &unused);
    json_decref(object);
    if (!good)
        ub_line_free(line);
    return good;
}

void ub_line_free(struct ub_line *line)
{
    struct ub_record owner = {.run = line->run, .device = line->device};
    ub_record_free(&owner);
    ub_set_string(&line->key, NULL);
    ub_set_string(&line->text, NULL);
    ub_set_string(&line->raw, NULL);
    ub_set_string(&line->phase, NULL);
    *line = (struct ub_line){.point = -1};
}
