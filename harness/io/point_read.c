/* SPDX-License-Identifier: MIT */
#include "harness/io/point_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/io/record_fields.h"

static bool no_memory(struct ub_point_reader *reader)
{
    return ub_fail(reader->place.err, UB_INTERNAL, "out of memory");
}

static bool limit(struct ub_point_reader *reader, size_t found, size_t most)
{
    return found <= most || ub_place_fail(&reader->place, "%zu entries, at most %zu are possible", found, most);
}

static bool read_axis(struct ub_point_reader *reader, struct ub_record_point *point, const char *name,
                      const json_t *value)
{
    if (!json_is_integer(value) && !json_is_string(value))
        return ub_place_expected(&reader->place, "an integer or a word", value);
    const char *word = json_string_value(value);
    int64_t number = word ? -1 : (int64_t)json_integer_value(value);
    return ub_point_add_axis(point, name, word, number) || no_memory(reader);
}

static bool read_metric(struct ub_point_reader *reader, struct ub_record_point *point, const char *key,
                        const json_t *value)
{
    struct ub_record_metric *metric = ub_point_add_metric(point, key, "", NAN);
    return metric ? ub_read_members(&reader->place, value, ub_metric_fields, metric) : no_memory(reader);
}

static bool read_predicted_metric(struct ub_point_reader *reader, struct ub_record_point *point, const char *key,
                                  const json_t *value)
{
    struct ub_record_metric *metric = ub_point_add_predicted_metric(point, key, "", NAN);
    return metric ? ub_read_members(&reader->place, value, ub_metric_fields, metric) : no_memory(reader);
}

static bool read_counter(struct ub_point_reader *reader, struct ub_record_point *point, const char *key,
                         const json_t *value)
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

static bool read_term(struct ub_point_reader *reader, struct ub_record_point *point, const char *name,
                      const json_t *value)
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
    bool (*read)(struct ub_point_reader *, struct ub_record_point *, const char *key, const json_t *value);
} axes = {"axes", UB_MAX_AXES, read_axis}, metrics = {"metrics", UB_MAX_METRICS, read_metric},
  predicted_metrics = {"predicted_metrics", UB_MAX_METRICS, read_predicted_metric},
  counters = {"counters", SIZE_MAX, read_counter}, terms = {"terms", UB_MAX_TERMS, read_term};

static bool read_named(struct ub_point_reader *reader, struct ub_record_point *point, const json_t *parent,
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

static bool read_flags(struct ub_point_reader *reader, const json_t *item, struct ub_time *time)
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

static bool read_sample(struct ub_point_reader *reader, const json_t *item, struct ub_record_point *point)
{
    struct ub_sample sample = {.clock_mhz = NAN};
    if (!ub_read_real(&reader->place, item, 0, &sample.time_ns))
        return false;
    return ub_point_add_sample(point, sample) || no_memory(reader);
}

/* Calls `read` for each item of an array of the time; null and absent are empty. */
static bool for_items(struct ub_point_reader *reader, const json_t *object, const char *key, size_t *count,
                      bool (*read)(struct ub_point_reader *, const json_t *item, size_t index,
                                   struct ub_record_point *),
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

static bool item_sample(struct ub_point_reader *reader, const json_t *item, size_t index, struct ub_record_point *point)
{
    (void)index;
    return read_sample(reader, item, point);
}

static bool item_clock(struct ub_point_reader *reader, const json_t *item, size_t index, struct ub_record_point *point)
{
    if (index >= point->time.n)
        return ub_place_fail(&reader->place, "more clocks than samples");
    return ub_read_real(&reader->place, item, 0, &point->time.samples[index].clock_mhz);
}

static bool item_flags(struct ub_point_reader *reader, const json_t *item, size_t index, struct ub_record_point *point)
{
    (void)index;
    return read_flags(reader, item, &point->time);
}

static bool read_samples(struct ub_point_reader *reader, const json_t *object, struct ub_record_point *point)
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

static bool read_time(struct ub_point_reader *reader, const json_t *value, struct ub_record_point *point)
{
    const json_t *object = json_object_get(value, "time_ns");
    if (!object || json_is_null(object))
        return true;
    ub_place_key(&reader->place, "time_ns");
    if (reader->record->source == UB_PREDICTED)
        return ub_place_fail(&reader->place, "a predicted record cannot have a measured time");
    if (!ub_read_members(&reader->place, object, ub_time_fields, &point->time) ||
        !ub_read_members(&reader->place, object, ub_time_clock_fields, &point->time) ||
        !read_samples(reader, object, point))
        return false;
    ub_place_up(&reader->place);
    return true;
}

static bool item_span(struct ub_point_reader *reader, const json_t *item, size_t index, struct ub_record_point *point)
{
    struct ub_span span = {.begin_ns = NAN, .end_ns = NAN};
    (void)index;
    if (!ub_read_members(&reader->place, item, ub_span_fields, &span))
        return false;
    const char *wrong = ub_span_wrong(&span);
    if (wrong)
        return ub_place_fail(&reader->place, "%s", wrong);
    return ub_point_add_span(point, &span) ||
           (point->span_count < UB_MAX_SPANS
                ? no_memory(reader)
                : ub_place_fail(&reader->place, "a timeline has at most %d operations", UB_MAX_SPANS));
}

static bool read_timeline(struct ub_point_reader *reader, const json_t *value, struct ub_record_point *point)
{
    size_t count = 0;
    return for_items(reader, value, "timeline", &count, item_span, point);
}

static bool read_static(struct ub_point_reader *reader, const json_t *value, struct ub_record_point *point)
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

static bool read_publication(struct ub_point_reader *reader, const json_t *value, struct ub_record_point *point)
{
    const json_t *object = json_object_get(value, "published");
    if (!object || json_is_null(object))
        return reader->record->source != UB_PUBLISHED || ub_place_fail(&reader->place, "\"published\" is missing");
    ub_place_key(&reader->place, "published");
    if (reader->record->source != UB_PUBLISHED)
        return ub_place_fail(&reader->place, "only a published record has a source for each value");
    if (!ub_read_members(&reader->place, object, ub_publication_fields, &point->published))
        return false;
    ub_place_up(&reader->place);
    return true;
}

static bool read_law(struct ub_point_reader *reader, const json_t *value, struct ub_record_point *point)
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

bool ub_point_read(struct ub_point_reader *reader, const json_t *value)
{
    struct ub_record_point *point = ub_record_add_point(reader->record);
    struct ub_place *place = &reader->place;
    if (!point)
        return no_memory(reader);
    return ub_read_members(place, value, ub_point_name_fields, point) && read_named(reader, point, value, &axes) &&
           ub_read_members(place, value, ub_point_state_fields, point) &&
           ub_read_members(place, value, ub_point_setting_fields, point) && read_publication(reader, value, point) &&
           read_static(reader, value, point) && read_time(reader, value, point) &&
           read_timeline(reader, value, point) && read_named(reader, point, value, &metrics) &&
           read_named(reader, point, value, &predicted_metrics) && read_named(reader, point, value, &counters) &&
           read_law(reader, value, point) && (complete_units(point) || no_memory(reader));
}
