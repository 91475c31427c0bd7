/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "harness/io/columns.h"
#include "harness/io/json.h"
#include "harness/io/json_text.h"
#include "harness/io/record_fields.h"
#include "harness/io/records.h"
#include "harness/io/text.h"

/* Where the value of each key of "ubench" begins: the schema must be known before
 * the rest is believed, whatever the order of keys. */
enum section { SCHEMA, SOURCE, RUN, DEVICE, CONSTANTS, POINTS, TABLES, WARNINGS, SECTIONS };

static const char *const section_names[] = {"schema",    "source", "run",    "device",
                                            "constants", "points", "tables", "warnings"};

struct reader {
    struct ub_record *record;
    struct ub_place place;
    size_t begins[SECTIONS]; /* 0: not there */
    size_t inside;           /* where the value of "ubench" begins; 0: not there */
    bool context, benchmarks, meta, devices, line;
    size_t *places;        /* of the points of tables, in the order in which they were read */
    size_t expanded_bytes; /* that tables became */
};

/* Puts the file's name before what a reader of parsed values said. */
static bool fail_in_file(const struct ub_json_text *text)
{
    char name[120];
    return ub_fail_in(text->err, "%s", ub_text_plain(name, sizeof name, text->name, 110, true));
}

static bool no_memory(struct reader *reader)
{
    return ub_fail(reader->place.err, UB_INTERNAL, "out of memory");
}

/* ---- a point ------------------------------------------------------------- */

static bool limit(struct reader *reader, size_t found, size_t most)
{
    return found <= most || ub_place_fail(&reader->place, "%zu entries, at most %zu are possible", found, most);
}

static bool read_axis(struct reader *reader, struct ub_record_point *point, const char *name, const json_t *value)
{
    if (!json_is_integer(value) && !json_is_string(value))
        return ub_place_expected(&reader->place, "an integer or a word", value);
    const char *word = json_string_value(value);
    int64_t number = word ? -1 : (int64_t)json_integer_value(value);
    return ub_point_add_axis(point, name, word, number) || no_memory(reader);
}

static bool read_metric(struct reader *reader, struct ub_record_point *point, const char *key, const json_t *value)
{
    struct ub_record_metric *metric = ub_point_add_metric(point, key, "", NAN);
    return metric ? ub_read_members(&reader->place, value, ub_metric_fields, metric) : no_memory(reader);
}

static bool read_predicted_metric(struct reader *reader, struct ub_record_point *point, const char *key,
                                  const json_t *value)
{
    struct ub_record_metric *metric = ub_point_add_predicted_metric(point, key, "", NAN);
    return metric ? ub_read_members(&reader->place, value, ub_metric_fields, metric) : no_memory(reader);
}

static bool read_counter(struct reader *reader, struct ub_record_point *point, const char *key, const json_t *value)
{
    struct ub_record_counter *counter = ub_point_add_counter(point, key, "");
    if (!counter)
        return no_memory(reader);
    if (!ub_read_members(&reader->place, value, ub_counter_fields, counter))
        return false;
    if (reader->record->source == UB_PREDICTED && counter->has_measured)
        return ub_place_fail(&reader->place, "a predicted record cannot have a measured value");
    return true;
}

static bool read_term(struct reader *reader, struct ub_record_point *point, const char *name, const json_t *value)
{
    double time_ns = NAN;
    if (!ub_read_real(&reader->place, value, 0, &time_ns))
        return false;
    return ub_point_add_term(point, name, time_ns) || no_memory(reader);
}

/* Objects whose keys are names: each member goes to `read`. */
static const struct named {
    const char *key;
    size_t most;
    bool (*read)(struct reader *, struct ub_record_point *, const char *key, const json_t *value);
} axes = {"axes", UB_MAX_AXES, read_axis}, metrics = {"metrics", UB_MAX_METRICS, read_metric},
  predicted_metrics = {"predicted_metrics", UB_MAX_METRICS, read_predicted_metric},
  counters = {"counters", SIZE_MAX, read_counter}, terms = {"terms", UB_MAX_TERMS, read_term};

static bool read_named(struct reader *reader, struct ub_record_point *point, const json_t *parent,
                       const struct named *named)
{
    json_t *object = json_object_get(parent, named->key);
    if (!object)
        return true;
    ub_place_key(&reader->place, named->key);
    if (!json_is_object(object))
        return ub_place_expected(&reader->place, "an object", object);
    if (!limit(reader, json_object_size(object), named->most))
        return false;
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(object, key, value)
    {
        ub_place_key(&reader->place, key);
        if (!named->read(reader, point, key, value))
            return false;
        ub_place_up(&reader->place);
    }
    ub_place_up(&reader->place);
    return true;
}

static bool read_flags(struct reader *reader, const json_t *item, struct ub_time *time)
{
    const json_t *which = json_object_get(item, "sample"), *words = json_object_get(item, "is");
    if (!json_is_integer(which) || !json_is_array(words))
        return ub_place_fail(&reader->place, "expected {\"sample\": number, \"is\": [words]}");
    json_int_t sample = json_integer_value(which);
    if (sample < 0 || (size_t)sample >= time->n)
        return ub_place_fail(&reader->place, "there is no sample %lld", (long long)sample);
    for (size_t i = 0; i < json_array_size(words); i++) {
        int bit = 0;
        if (!ub_read_word(&reader->place, json_array_get(words, i), ub_flag_names, &bit))
            return false;
        time->samples[sample].flags |= 1u << bit;
    }
    return true;
}

static bool read_sample(struct reader *reader, const json_t *item, struct ub_record_point *point)
{
    struct ub_sample sample = {.clock_mhz = NAN};
    if (!ub_read_real(&reader->place, item, 0, &sample.time_ns))
        return false;
    return ub_point_add_sample(point, sample) || no_memory(reader);
}

/* Calls `read` for each item of an array of the time; null and absent are empty. */
static bool for_items(struct reader *reader, const json_t *object, const char *key, size_t *count,
                      bool (*read)(struct reader *, const json_t *item, size_t index, struct ub_record_point *),
                      struct ub_record_point *point)
{
    const json_t *array = json_object_get(object, key);
    *count = json_array_size(array);
    if (!array || json_is_null(array))
        return true;
    ub_place_key(&reader->place, key);
    if (!json_is_array(array))
        return ub_place_expected(&reader->place, "an array", array);
    for (size_t i = 0; i < *count; i++) {
        ub_place_index(&reader->place, i);
        if (!read(reader, json_array_get(array, i), i, point))
            return false;
        ub_place_up(&reader->place);
    }
    ub_place_up(&reader->place);
    return true;
}

static bool item_sample(struct reader *reader, const json_t *item, size_t index, struct ub_record_point *point)
{
    (void)index;
    return read_sample(reader, item, point);
}

static bool item_clock(struct reader *reader, const json_t *item, size_t index, struct ub_record_point *point)
{
    if (index >= point->time.n)
        return ub_place_fail(&reader->place, "more clocks than samples");
    return ub_read_real(&reader->place, item, 0, &point->time.samples[index].clock_mhz);
}

static bool item_flags(struct reader *reader, const json_t *item, size_t index, struct ub_record_point *point)
{
    (void)index;
    return read_flags(reader, item, &point->time);
}

static bool read_samples(struct reader *reader, const json_t *object, struct ub_record_point *point)
{
    size_t samples = 0, clocks = 0, flagged = 0;
    uint64_t n = 0;
    const json_t *stated = json_object_get(object, "n");
    if (!for_items(reader, object, "samples", &samples, item_sample, point) ||
        !for_items(reader, object, "clock_mhz", &clocks, item_clock, point) ||
        !for_items(reader, object, "flags", &flagged, item_flags, point))
        return false;
    if (clocks != 0 && clocks != samples)
        return ub_place_fail(&reader->place, "%zu samples but %zu clocks", samples, clocks);
    ub_place_key(&reader->place, "n");
    if (!stated)
        return ub_place_fail(&reader->place, "is missing");
    if (!ub_read_u64(&reader->place, stated, &n))
        return false;
    bool left_out = json_is_null(json_object_get(object, "samples"));
    if (n < 1 || n > INT32_MAX || (!left_out && n != samples))
        return ub_place_fail(&reader->place, "%llu is impossible with %zu samples", (unsigned long long)n, samples);
    point->time.n = (size_t)n;
    ub_place_up(&reader->place);
    return true;
}

static bool read_time(struct reader *reader, const json_t *value, struct ub_record_point *point)
{
    const json_t *object = json_object_get(value, "time_ns");
    if (!object || json_is_null(object))
        return true;
    ub_place_key(&reader->place, "time_ns");
    if (reader->record->source == UB_PREDICTED)
        return ub_place_fail(&reader->place, "a predicted record cannot have a measured time");
    if (!ub_read_members(&reader->place, object, ub_time_fields, &point->time) || !read_samples(reader, object, point))
        return false;
    ub_place_up(&reader->place);
    return true;
}

static bool read_static(struct reader *reader, const json_t *value, struct ub_record_point *point)
{
    const json_t *object = json_object_get(value, "static");
    point->has_static = object && !json_is_null(object);
    if (!point->has_static)
        return true;
    ub_place_key(&reader->place, "static");
    if (!ub_read_members(&reader->place, object, ub_static_fields, &point->static_))
        return false;
    ub_place_up(&reader->place);
    return true;
}

static bool read_law(struct reader *reader, const json_t *value, struct ub_record_point *point)
{
    struct ub_place *place = &reader->place;
    const json_t *law = json_object_get(value, "law");
    if (!law || json_is_null(law))
        return true;
    ub_place_key(place, "law");
    if (!ub_read_members(place, law, ub_law_counter_fields, point))
        return false;
    const json_t *time = json_object_get(law, "time");
    if (time) {
        ub_place_key(place, "time");
        if (!ub_read_members(place, time, ub_law_prediction_fields, point) ||
            !ub_read_members(place, time, ub_law_verdict_fields, point) || !read_named(reader, point, time, &terms))
            return false;
        ub_place_up(place);
    }
    ub_place_up(place);
    return true;
}

/* A unit is always a text: tables print it as it is. */
static bool complete_units(struct ub_record_point *point)
{
    bool good = true;
    for (size_t i = 0; i < point->metric_count; i++)
        if (!point->metrics[i].unit)
            good &= (point->metrics[i].unit = strdup("")) != NULL;
    for (size_t i = 0; i < point->predicted_metric_count; i++)
        if (!point->predicted_metrics[i].unit)
            good &= (point->predicted_metrics[i].unit = strdup("")) != NULL;
    for (size_t i = 0; i < point->counter_count; i++)
        if (!point->counters[i].unit)
            good &= (point->counters[i].unit = strdup("")) != NULL;
    return good;
}

static bool read_point(struct reader *reader, const json_t *value)
{
    struct ub_record_point *point = ub_record_add_point(reader->record);
    struct ub_place *place = &reader->place;
    if (!point)
        return no_memory(reader);
    return ub_read_members(place, value, ub_point_name_fields, point) && read_named(reader, point, value, &axes) &&
           ub_read_members(place, value, ub_point_state_fields, point) &&
           ub_read_members(place, value, ub_point_setting_fields, point) && read_static(reader, value, point) &&
           read_time(reader, value, point) && read_named(reader, point, value, &metrics) &&
           read_named(reader, point, value, &predicted_metrics) && read_named(reader, point, value, &counters) &&
           read_law(reader, value, point) && (complete_units(point) || no_memory(reader));
}

/* ---- points as columns ----------------------------------------------------- */

/* Few bytes of a table could become very many. */
static bool limit_expansion(struct reader *reader, json_t *table, size_t rows)
{
    static const size_t most = (size_t)256 << 20;
    reader->expanded_bytes += rows * ub_columns_shared_bytes(table);
    return reader->expanded_bytes <= most ||
           ub_place_fail(&reader->place, "its points would take more than %zu MiB: this is not a record of ubench",
                         most >> 20);
}

static bool note_places(struct reader *reader, const json_t *table, size_t rows)
{
    const size_t before = reader->record->point_count;
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
    const size_t rows = ub_columns_rows(table, reader->place.err);
    if (rows == 0)
        return ub_place_fail(&reader->place, "%s", reader->place.err->text);
    if (!limit_expansion(reader, table, rows) || !note_places(reader, table, rows))
        return false;
    for (size_t i = 0; i < rows; i++) {
        json_t *point = ub_columns_row(table, i, reader->place.err);
        if (!point)
            return ub_place_fail(&reader->place, "%s", reader->place.err->text);
        const bool good = read_point(reader, point);
        json_decref(point);
        if (!good)
            return false;
    }
    return true;
}

/* Puts each point where its place says; `taken` and `ordered` have room for all. */
static bool put_in_order(const struct reader *reader, bool *taken, struct ub_record_point *ordered)
{
    struct ub_record *record = reader->record;
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
    const size_t count = reader->record->point_count;
    bool *taken = calloc(count + 1, sizeof *taken);
    struct ub_record_point *ordered = calloc(count + 1, sizeof *ordered);
    reader->place.depth = 0;
    ub_place_key(&reader->place, "tables");
    bool good = (taken && ordered) || no_memory(reader);
    if (good && !put_in_order(reader, taken, ordered))
        good = ub_place_fail(&reader->place, "the places of %zu points are not 0 to %zu, each once", count, count - 1);
    free(taken);
    free(ordered);
    return good;
}

/* ---- the other sections -------------------------------------------------- */

static bool read_schema(struct reader *reader, const json_t *value)
{
    if (!json_is_integer(value))
        return ub_place_expected(&reader->place, "an integer", value);
    json_int_t schema = json_integer_value(value);
    if (schema > UB_SCHEMA)
        return ub_place_fail(&reader->place, "was written by a newer ubench: schema %lld, this one reads %d",
                             (long long)schema, UB_SCHEMA);
    return schema == UB_SCHEMA || ub_place_fail(&reader->place, "there is no schema %lld", (long long)schema);
}

static bool read_source(struct reader *reader, const json_t *value)
{
    int word = 0;
    if (!ub_read_word(&reader->place, value, ub_source_names, &word))
        return false;
    reader->record->source = (enum ub_source)word;
    return true;
}

static bool read_run(struct reader *reader, const json_t *value)
{
    return ub_read_members(&reader->place, value, ub_run_fields, &reader->record->run);
}

static bool read_device(struct reader *reader, const json_t *value)
{
    return ub_read_members(&reader->place, value, ub_device_fields, &reader->record->device);
}

static bool read_constant(struct reader *reader, const json_t *value)
{
    struct ub_constants *constants = &reader->record->constants;
    struct ub_constant constant = {.value = NAN, .lo = NAN, .hi = NAN};
    if (!ub_read_members(&reader->place, value, ub_constant_fields, &constant))
        return false;
    if (constants->count == UB_MAX_CONSTANTS)
        return ub_place_fail(&reader->place, "more than %d constants", UB_MAX_CONSTANTS);
    if (ub_constant_find(constants, constant.name))
        return ub_place_fail(&reader->place, "a second constant of the name \"%s\"", constant.name);
    constants->items[constants->count++] = constant;
    return true;
}

static bool read_warning(struct reader *reader, const json_t *value)
{
    struct ub_record *record = reader->record;
    struct ub_warning warning = {.point = -1};
    bool good = ub_read_members(&reader->place, value, ub_warning_fields, &warning);
    if (good && warning.point >= 0 && (size_t)warning.point >= record->point_count)
        good = ub_place_fail(&reader->place, "there is no point %ld", warning.point);
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

static bool read_piece(struct ub_json_text *text, struct reader *reader, enum section section)
{
    json_t *value = ub_json_text_parse(text);
    if (!value)
        return false;
    bool good = sections[section].read(reader, value) || fail_in_file(text);
    json_decref(value);
    return good;
}

static bool read_item(struct ub_json_text *text, size_t index, void *user)
{
    const struct item_user *item = user;
    ub_place_index(&item->reader->place, index);
    bool good = read_piece(text, item->reader, item->section);
    ub_place_up(&item->reader->place);
    return good;
}

static bool read_section(struct ub_json_text *text, struct reader *reader, enum section section)
{
    struct item_user user = {reader, section};
    text->at = reader->begins[section];
    reader->place.depth = 0;
    ub_place_key(&reader->place, section_names[section]);
    if (!sections[section].items)
        return read_piece(text, reader, section);
    if (ub_json_text_peek(text) == '[')
        return ub_json_text_array(text, read_item, &user);
    json_t *value = ub_json_text_parse(text);
    if (!value)
        return false;
    ub_place_expected(&reader->place, "an array", value);
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
        if (i == TABLES && reader->record->point_count > 0 && !order_points(reader))
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

bool ub_json_read(FILE *stream, const char *name, struct ub_record *record, struct ub_error *err)
{
    struct ub_error unused;
    struct ub_json_text text;
    if (ub_page_begins(stream))
        return ub_page_read_only(stream, name, record, err);
    struct reader reader = {.record = record, .place = {.err = err ? err : &unused}};
    *record = (struct ub_record){.run = {.jit = -1}};
    ub_device_info_init(&record->device);
    bool good = ub_json_text_read(&text, stream, name, reader.place.err) && read_document(&text, &reader);
    ub_json_text_free(&text);
    free(reader.places);
    if (!good)
        ub_record_free(record);
    return good;
}
