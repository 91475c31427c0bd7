/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "harness/io/columns.h"
#include "harness/io/json.h"
#include "harness/io/json_text.h"
#include "harness/io/point_read.h"
#include "harness/io/record_fields.h"
#include "harness/io/records.h"
#include "harness/io/text.h"

/* Where the value of each key of "ubench" begins: the schema must be known before
 * the rest is believed, whatever the order of keys. */
enum section { SCHEMA, SOURCE, RUN, DEVICE, CONSTANTS, POINTS, TABLES, WARNINGS, SECTIONS };

static const char *const section_names[] = {"schema",    "source", "run",    "device",
                                            "constants", "points", "tables", "warnings"};

struct reader {
    struct ub_point_reader points;
    size_t begins[SECTIONS]; /* 0: not there */
    size_t inside;           /* where the value of "ubench" begins; 0: not there */
    bool context, benchmarks, meta, devices, line;
    size_t *places;              /* of the points of tables, in the order in which they were read */
    size_t expanded_bytes;       /* that tables became */
    const char *const *unwanted; /* members of a point that are passed over; NULL: none */
};

/* Puts the file's name before what a reader of parsed values said. */
static bool fail_in_file(const struct ub_json_text *text)
{
    char name[120];
    return ub_fail_in(text->err, "%s", ub_text_plain(name, sizeof name, text->name, 110, true));
}

static bool no_memory(const struct reader *reader)
{
    return ub_fail(reader->points.place.err, UB_INTERNAL, "out of memory");
}

static bool read_point(struct reader *reader, const json_t *value)
{
    return ub_point_read(&reader->points, value);
}

/* ---- points as columns ----------------------------------------------------- */

/* Few bytes of a table could become very many. */
static bool limit_expansion(struct reader *reader, json_t *table, size_t rows)
{
    static const size_t most = (size_t)256 << 20;
    reader->expanded_bytes += rows * ub_columns_shared_bytes(table);
    return reader->expanded_bytes <= most ||
           ub_place_fail(&reader->points.place,
                         "its points would take more than %zu MiB: this is not a record of ubench", most >> 20);
}

static bool note_places(struct reader *reader, const json_t *table, size_t rows)
{
    const size_t before = reader->points.record->point_count;
    size_t *grown = realloc(reader->places, (before + rows) * sizeof *grown);
    if (!grown)
        return no_memory(reader);
    reader->places = grown;
    for (size_t i = 0; i < rows; i++)
        reader->places[before + i] = ub_columns_place(table, i);
    return true;
}

/* The same member as that of `sections`; the value is a table of columns. */
static bool read_table(struct reader *reader, const json_t *value)
{
    json_t *table = (json_t *)(uintptr_t)value; /* jansson's iteration takes no const */
    const size_t rows = ub_columns_rows(table, reader->points.place.err);
    if (rows == 0)
        return ub_place_fail(&reader->points.place, "%s", reader->points.place.err->text);
    if (!limit_expansion(reader, table, rows) || !note_places(reader, table, rows))
        return false;
    for (size_t i = 0; i < rows; i++) {
        json_t *point = ub_columns_row(table, i, reader->points.place.err);
        if (!point)
            return ub_place_fail(&reader->points.place, "%s", reader->points.place.err->text);
        const bool good = ub_point_read(&reader->points, point);
        json_decref(point);
        if (!good)
            return false;
    }
    return true;
}

/* Puts each point where its place says; `taken` and `ordered` have room for all. */
static bool put_in_order(const struct reader *reader, bool *taken, struct ub_record_point *ordered)
{
    struct ub_record *record = reader->points.record;
    for (size_t i = 0; i < record->point_count; i++) {
        const size_t place = reader->places[i];
        if (place >= record->point_count || taken[place])
            return false;
        taken[place] = true;
        ordered[place] = record->points[i];
    }
    memcpy(record->points, ordered, record->point_count * sizeof *ordered);
    return true;
}

static bool order_points(struct reader *reader)
{
    const size_t count = reader->points.record->point_count;
    bool *taken = calloc(count + 1, sizeof *taken);
    struct ub_record_point *ordered = calloc(count + 1, sizeof *ordered);
    reader->points.place.depth = 0;
    ub_place_key(&reader->points.place, "tables");
    bool good = (taken && ordered) || no_memory(reader);
    if (good && !put_in_order(reader, taken, ordered))
        good = ub_place_fail(&reader->points.place, "the places of %zu points are not 0 to %zu, each once", count,
                             count - 1);
    free(taken);
    free(ordered);
    return good;
}

/* ---- the other sections -------------------------------------------------- */

static bool read_schema(struct reader *reader, const json_t *value)
{
    if (!json_is_integer(value))
        return ub_place_expected(&reader->points.place, "an integer", value);
    json_int_t schema = json_integer_value(value);
    if (schema > UB_SCHEMA)
        return ub_place_fail(&reader->points.place, "was written by a newer ubench: schema %lld, this one reads %d",
                             (long long)schema, UB_SCHEMA);
    return schema == UB_SCHEMA || ub_place_fail(&reader->points.place, "there is no schema %lld", (long long)schema);
}

static bool read_source(struct reader *reader, const json_t *value)
{
    int word = 0;
    if (!ub_read_word(&reader->points.place, value, ub_source_names, &word))
        return false;
    reader->points.record->source = (enum ub_source)word;
    return true;
}

static bool read_run(struct reader *reader, const json_t *value)
{
    return ub_read_members(&reader->points.place, value, ub_run_fields, &reader->points.record->run);
}

static bool read_device(struct reader *reader, const json_t *value)
{
    return ub_read_members(&reader->points.place, value, ub_device_fields, &reader->points.record->device);
}

static bool read_constant(struct reader *reader, const json_t *value)
{
    struct ub_constants *constants = &reader->points.record->constants;
    struct ub_constant constant = {.value = NAN, .lo = NAN, .hi = NAN};
    if (!ub_read_members(&reader->points.place, value, ub_constant_fields, &constant))
        return false;
    if (constants->count == UB_MAX_CONSTANTS)
        return ub_place_fail(&reader->points.place, "more than %d constants", UB_MAX_CONSTANTS);
    if (ub_constant_find(constants, constant.name))
        return ub_place_fail(&reader->points.place, "a second constant of the name \"%s\"", constant.name);
    constants->items[constants->count++] = constant;
    return true;
}

static bool read_warning(struct reader *reader, const json_t *value)
{
    struct ub_record *record = reader->points.record;
    struct ub_warning warning = {.point = -1};
    bool good = ub_read_members(&reader->points.place, value, ub_warning_fields, &warning);
    if (good && warning.point >= 0 && (size_t)warning.point >= record->point_count)
        good = ub_place_fail(&reader->points.place, "there is no point %ld", warning.point);
    if (good)
        ub_record_warn(record, warning.code, warning.point, "%s", warning.text);
    free(warning.code);
    free(warning.text);
    return good;
}

static const struct {
    bool items; /* an array whose items are read one by one */
    bool required;
    bool (*read)(struct reader *, const json_t *);
} sections[SECTIONS] = {
    [SCHEMA] = {false, true, read_schema},      [SOURCE] = {false, true, read_source},
    [RUN] = {false, false, read_run},           [DEVICE] = {false, false, read_device},
    [CONSTANTS] = {true, false, read_constant}, [POINTS] = {true, false, read_point},
    [TABLES] = {true, false, read_table},       [WARNINGS] = {true, false, read_warning},
};

/* ---- the document -------------------------------------------------------- */

struct item_user {
    struct reader *reader;
    enum section section;
};

/* A point without what nobody wants, member by member. */
struct picked {
    const struct reader *reader;
    json_t *object;
};

static bool pick_member(struct ub_json_text *text, const char *key, void *user)
{
    const struct picked *picked = user;
    for (const char *const *unwanted = picked->reader->unwanted; *unwanted; unwanted++)
        if (strcmp(*unwanted, key) == 0)
            return ub_json_text_skip(text);
    json_t *value = ub_json_text_parse(text);
    return value && (json_object_set_new_nocheck(picked->object, key, value) == 0 ||
                     ub_fail(text->err, UB_INTERNAL, "out of memory"));
}

/* Parses what stands at the walker's place. NULL: err is filled. */
static json_t *parse_piece(struct ub_json_text *text, const struct reader *reader, enum section section)
{
    if (!reader->unwanted || section != POINTS || ub_json_text_peek(text) != '{')
        return ub_json_text_parse(text);
    struct picked picked = {reader, json_object()};
    if (picked.object && ub_json_text_object(text, pick_member, &picked))
        return picked.object;
    if (!picked.object)
        ub_fail(text->err, UB_INTERNAL, "out of memory");
    json_decref(picked.object);
    return NULL;
}

static bool read_piece(struct ub_json_text *text, struct reader *reader, enum section section)
{
    json_t *value = parse_piece(text, reader, section);
    if (!value)
        return false;
    bool good = sections[section].read(reader, value) || fail_in_file(text);
    json_decref(value);
    return good;
}

static bool read_item(struct ub_json_text *text, size_t index, void *user)
{
    const struct item_user *item = user;
    ub_place_index(&item->reader->points.place, index);
    bool good = read_piece(text, item->reader, item->section);
    ub_place_up(&item->reader->points.place);
    return good;
}

static bool read_section(struct ub_json_text *text, struct reader *reader, enum section section)
{
    struct item_user user = {reader, section};
    text->at = reader->begins[section];
    reader->points.place.depth = 0;
    ub_place_key(&reader->points.place, section_names[section]);
    if (!sections[section].items)
        return read_piece(text, reader, section);
    if (ub_json_text_peek(text) == '[')
        return ub_json_text_array(text, read_item, &user);
    json_t *value = ub_json_text_parse(text);
    if (!value)
        return false;
    ub_place_expected(&reader->points.place, "an array", value);
    json_decref(value);
    return fail_in_file(text);
}

/* Notes where known keys begin; unknown ones must at least be JSON. */
static bool note_section(struct ub_json_text *text, const char *key, void *user)
{
    struct reader *reader = user;
    for (size_t i = 0; i < SECTIONS; i++) {
        if (strcmp(key, section_names[i]) == 0) {
            reader->begins[i] = text->at;
            return ub_json_text_skip(text);
        }
    }
    json_t *value = ub_json_text_parse(text);
    json_decref(value);
    return value != NULL;
}

static bool note_top(struct ub_json_text *text, const char *key, void *user)
{
    struct reader *reader = user;
    const struct {
        const char *key;
        bool *seen;
    } foreign[] = {{"context", &reader->context},
                   {"benchmarks", &reader->benchmarks},
                   {"meta", &reader->meta},
                   {"devices", &reader->devices},
                   {"line", &reader->line}};
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        *foreign[i].seen |= strcmp(key, foreign[i].key) == 0;
    if (strcmp(key, "ubench") != 0 || ub_json_text_peek(text) != '{')
        return ub_json_text_skip(text);
    reader->inside = text->at;
    return ub_json_text_object(text, note_section, user);
}

/* Says whose file it is. */
static bool fail_foreign(const struct ub_json_text *text, const struct reader *reader)
{
    const char *what = "this is JSON, but not a record of ubench: it has no \"ubench\" object with a \"schema\"";
    if (reader->context && reader->benchmarks)
        what = "this is a file of Google Benchmark (or of -f gbench); ubench reads its own records, as -f json writes "
               "them";
    else if (reader->meta && reader->devices)
        what = "this is a file of nvbench; ubench reads its own records, as -f json writes them";
    else if (reader->line)
        what = "this is a journal of an unfinished run: finish it with --resume";
    return ub_fail(text->err, UB_BAD_DATA, "%s", what) || fail_in_file(text);
}

/* Points stand in one of two forms. */
static bool check_points(struct ub_json_text *text, const struct reader *reader)
{
    const bool points = reader->begins[POINTS] != 0, tables = reader->begins[TABLES] != 0;
    if (points != tables)
        return true;
    ub_fail(text->err, UB_BAD_DATA, points ? "\"points\" and \"tables\" exclude each other" : "\"points\" is missing");
    return fail_in_file(text);
}

static bool read_sections(struct ub_json_text *text, struct reader *reader)
{
    for (size_t i = 0; i < SECTIONS; i++) {
        if (i == POINTS && !check_points(text, reader))
            return false;
        if (reader->begins[i] == 0) {
            if (!sections[i].required)
                continue;
            ub_fail(text->err, UB_BAD_DATA, "\"%s\" is missing", section_names[i]);
            return fail_in_file(text);
        }
        if (!read_section(text, reader, (enum section)i))
            return false;
        if (i == TABLES && reader->points.record->point_count > 0 && !order_points(reader))
            return fail_in_file(text);
    }
    return true;
}

static bool read_document(struct ub_json_text *text, struct reader *reader)
{
    if (!ub_json_text_object(text, note_top, reader))
        return false;
    if (reader->inside == 0 || reader->begins[SCHEMA] == 0)
        return fail_foreign(text, reader);
    return ub_json_text_end(text) && read_sections(text, reader);
}

bool ub_json_read_without(FILE *stream, const char *name, const char *const *members, struct ub_record *record,
                          struct ub_error *err)
{
    struct ub_error unused;
    struct ub_json_text text;
    if (ub_page_begins(stream))
        return ub_page_read_only(stream, name, members, record, err);
    struct reader reader = {.points = {.record = record, .place = {.err = err ? err : &unused}}, .unwanted = members};
    *record = (struct ub_record){.run = {.jit = -1}};
    ub_device_info_init(&record->device);
    bool good = ub_json_text_read(&text, stream, name, reader.points.place.err) && read_document(&text, &reader);
    ub_json_text_free(&text);
    free(reader.places);
    if (!good)
        ub_record_free(record);
    return good;
}

bool ub_json_read(FILE *stream, const char *name, struct ub_record *record, struct ub_error *err)
{
    return ub_json_read_without(stream, name, NULL, record, err);
}
