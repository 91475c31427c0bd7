/* SPDX-License-Identifier: MIT */
#include "harness/io/columns.h"

#include <stdint.h>
#include <string.h>

enum { DEEPEST = 8 };

static size_t refuse(struct ub_error *err, const char *what)
{
    ub_fail(err, UB_BAD_DATA, "%s", what);
    return 0;
}

/* Objects with an array "*" are columns; all other objects have columns inside. */
static json_t *values_of(const json_t *column)
{
    json_t *values = json_object_get(column, "*");
    return json_is_array(values) ? values : NULL;
}

/* The value of a row; NULL: the column has none. */
static json_t *value_of(json_t *column, size_t row)
{
    json_t *values = values_of(column);
    const json_t *at = json_object_get(column, "at");
    if (!values)
        return column;
    if (json_is_array(at))
        at = json_array_get(at, row);
    else if (!at)
        return json_array_get(values, row);
    const json_int_t word = json_is_integer(at) ? json_integer_value(at) : -1;
    return word >= 0 ? json_array_get(values, (size_t)word) : NULL;
}

/* As many values as rows, neither more nor less. */
static bool check_column(const char *key, json_t *column, size_t rows, struct ub_error *err)
{
    const json_t *values = values_of(column), *at = json_object_get(column, "at");
    const json_t *counted = json_is_array(at) ? at : at ? NULL : values;
    bool good = !json_is_array(column) && (!counted || json_array_size(counted) == rows);
    for (size_t row = 0; row < rows && good; row++)
        good = value_of(column, row) != NULL;
    return good || ub_fail(err, UB_BAD_DATA, "the column \"%.80s\" has not as many values as there are points", key);
}

static bool check_columns(json_t *object, size_t rows, size_t depth, struct ub_error *err)
{
    const char *key = NULL;
    json_t *column = NULL;
    if (depth == 0)
        return ub_fail(err, UB_BAD_DATA, "its point has objects more than %d deep", DEEPEST);
    json_object_foreach(object, key, column)
    {
        const bool inside = json_is_object(column) && !values_of(column);
        if (!(inside ? check_columns(column, rows, depth - 1, err) : check_column(key, column, rows, err)))
            return false;
    }
    return true;
}

size_t ub_columns_rows(json_t *table, struct ub_error *err)
{
    const json_t *places = json_object_get(table, "points");
    json_t *point = json_object_get(table, "point");
    const size_t rows = json_array_size(places);
    if (!json_is_array(places) || !json_is_object(point))
        return refuse(err, "expected {\"points\": [...], \"point\": {...}}");
    if (rows == 0 || rows > UB_COLUMNS_ROWS)
        return refuse(err, "a table has 1 to 1024 points");
    for (size_t i = 0; i < rows; i++)
        if (!json_is_integer(json_array_get(places, i)) || json_integer_value(json_array_get(places, i)) < 0)
            return refuse(err, "\"points\" are the places of points: whole numbers from 0");
    return check_columns(point, rows, DEEPEST, err) ? rows : 0;
}

size_t ub_columns_place(const json_t *table, size_t row)
{
    return (size_t)json_integer_value(json_array_get(json_object_get(table, "points"), row));
}

static json_t *row_of(json_t *point, size_t row)
{
    json_t *object = json_object(), *column = NULL;
    const char *key = NULL;
    bool good = object != NULL;
    json_object_foreach(point, key, column)
    {
        const bool inside = json_is_object(column) && !values_of(column);
        json_t *value = inside ? row_of(column, row) : json_incref(value_of(column, row));
        good = good && value && json_object_set_new(object, key, value) == 0;
    }
    if (good)
        return object;
    json_decref(object);
    return NULL;
}

json_t *ub_columns_row(json_t *table, size_t row, struct ub_error *err)
{
    json_t *object = row_of(json_object_get(table, "point"), row);
    if (!object)
        ub_fail(err, UB_INTERNAL, "out of memory");
    return object;
}

static size_t shared_bytes(const json_t *value)
{
    enum { OVERHEAD = 64 };
    size_t bytes = OVERHEAD + json_string_length(value);
    const char *key = NULL;
    json_t *inner = NULL;
    for (size_t i = 0; i < json_array_size(value); i++)
        bytes += shared_bytes(json_array_get(value, i));
    json_object_foreach((json_t *)(uintptr_t)value, key, inner)
    {
        bytes += strlen(key) + shared_bytes(inner);
    }
    return bytes;
}

/* A column's longest value may be that of every row. */
static size_t shared_by_rows(json_t *point)
{
    size_t bytes = 0;
    const char *key = NULL;
    json_t *column = NULL;
    json_object_foreach(point, key, column)
    {
        const json_t *values = values_of(column);
        size_t longest = 0;
        for (size_t i = 0; json_object_get(column, "at") && i < json_array_size(values); i++) {
            const size_t size = shared_bytes(json_array_get(values, i));
            longest = size > longest ? size : longest;
        }
        const bool inside = json_is_object(column) && !values;
        bytes += strlen(key) + (inside ? shared_by_rows(column) : values ? longest : shared_bytes(column));
    }
    return bytes;
}

size_t ub_columns_shared_bytes(json_t *table)
{
    return shared_by_rows(json_object_get(table, "point"));
}
