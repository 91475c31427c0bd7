/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "harness/io/fields.h"
#include "harness/io/journal.h"

static const char *const kind_names[] = {"probe", "time", "count", "launch", NULL};

static const struct ub_field job_fields[] = {
    {UB_ROW(ub_job, kind, WORD), .words = kind_names, .required = true},
    {UB_ROW(ub_job, rule, STRING)},
    {UB_ROW(ub_job, device, INT), .absent = -1},
    {UB_ROW(ub_job, seed, U64), .required = true},
    {UB_ROW(ub_job, rounds, INT)},
    {UB_ROW(ub_job, min_sample_ns, REAL)},
    {UB_ROW(ub_job, point_timeout_s, REAL)},
    {UB_ROW(ub_job, zeros, BOOL)},
    {UB_ROW(ub_job, cold, BOOL)},
    {0},
};

static void write_point(FILE *stream, const struct ub_job *job, size_t i)
{
    fprintf(stream, "%s[%ld", i ? ", " : "", job->indices[i]);
    for (size_t axis = 0; axis < job->axis_count; axis++)
        fprintf(stream, ", %" PRId64, job->points[i].values[axis]);
    putc(']', stream);
}

/* A point is [index, value of the first axis, ...]. */
bool ub_job_write(FILE *stream, const struct ub_job *job, struct ub_error *err)
{
    const struct ub_emit emit = {.stream = stream, .digits = 17};
    ub_emit(&emit, "{");
    ub_emit_members(&emit, job_fields, job, ", ");
    ub_emit(&emit, ", \"keys\": [");
    for (size_t i = 0; i < job->key_count; i++) {
        ub_emit(&emit, i ? ", " : "");
        ub_emit_string(&emit, job->keys[i]);
    }
    fprintf(stream, "], \"axes\": %zu, \"points\": [", job->axis_count);
    for (size_t i = 0; i < job->point_count; i++)
        write_point(stream, job, i);
    ub_emit(&emit, "]}\n");
    if (fflush(stream) == 0 && !ferror(stream))
        return true;
    return ub_fail(err, UB_CANNOT_WRITE, "cannot hand a job to the worker");
}

static bool read_keys(struct ub_place *place, const json_t *keys, struct ub_job *job)
{
    size_t count = json_array_size(keys);
    if (!json_is_array(keys))
        return ub_place_fail(place, "the keys of the job are missing");
    job->keys = calloc(count + 1, sizeof *job->keys);
    if (!job->keys)
        return ub_fail(place->err, UB_INTERNAL, "out of memory");
    for (size_t i = 0; i < count; i++) {
        const json_t *key = json_array_get(keys, i);
        if (!json_is_string(key))
            return ub_place_expected(place, "a counter's key", key);
        if (!ub_read_string(place, key, &job->keys[i]))
            return false;
        job->key_count++;
    }
    return true;
}

static bool read_point(struct ub_place *place, const json_t *item, const struct ub_job *job, size_t i)
{
    if (json_array_size(item) != job->axis_count + 1)
        return ub_place_fail(place, "point %zu of the job does not have %zu axes", i, job->axis_count);
    for (size_t k = 0; k <= job->axis_count; k++) {
        const json_t *value = json_array_get(item, k);
        if (!json_is_integer(value))
            return ub_place_expected(place, "an integer", value);
        if (k == 0)
            job->indices[i] = (long)json_integer_value(value);
        else
            job->points[i].values[k - 1] = json_integer_value(value);
    }
    return true;
}

static bool read_points(struct ub_place *place, const json_t *object, struct ub_job *job)
{
    const json_t *points = json_object_get(object, "points"), *axes = json_object_get(object, "axes");
    size_t count = json_array_size(points);
    json_int_t axis_count = json_integer_value(axes);
    if (!json_is_array(points) || !json_is_integer(axes) || axis_count < 0 || axis_count > UB_MAX_AXES)
        return ub_place_fail(place, "the points of the job are missing");
    job->axis_count = (size_t)axis_count;
    job->indices = calloc(count + 1, sizeof *job->indices);
    job->points = calloc(count + 1, sizeof *job->points);
    if (!job->indices || !job->points)
        return ub_fail(place->err, UB_INTERNAL, "out of memory");
    for (size_t i = 0; i < count; i++) {
        if (!read_point(place, json_array_get(points, i), job, i))
            return false;
        job->point_count++;
    }
    return true;
}

/* Ends with the object, without waiting for the end of the stream: a pipe may stay open. */
bool ub_job_read(FILE *stream, struct ub_job *job, struct ub_error *err)
{
    struct ub_error unused;
    struct ub_place place = {.err = err ? err : &unused};
    json_error_t error;
    *job = (struct ub_job){.device = -1};
    json_t *object = json_loadf(stream, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &error);
    if (!object)
        return ub_fail(err, UB_BAD_DATA, "this is not a job of a worker: %s", error.text);
    bool good = ub_read_members(&place, object, job_fields, job) &&
                read_keys(&place, json_object_get(object, "keys"), job) && read_points(&place, object, job);
    json_decref(object);
    if (!good)
        ub_job_free(job);
    return good;
}

void ub_job_free(struct ub_job *job)
{
    for (size_t i = 0; i < job->key_count; i++)
        free(job->keys[i]);
    free(job->keys);
    free(job->rule);
    free(job->indices);
    free(job->points);
    *job = (struct ub_job){0};
}
