/* SPDX-License-Identifier: MIT
 *
 * No axis of any rule is ignored in silence: whatever two words the others have, another value of it changes what the
 * rule says of the point (whether and how it is timed, its buffers, its law), or is refused with a reason. An axis that
 * does something else than change a prediction stands in a table, with what it does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/rule_fixture.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum {
    MAX_VALUES = 64,
    MOST_WORDS = 2,  /* that are not the initial ones, at a time */
    MOST_POINTS = 24 /* of a rule, from one end of its combinations to the other */
};

/* Each makes the launch another one, of which the law says that it takes as long, or nothing. */
static const struct {
    const char *rule, *axis, *what;
} launched_otherwise[] = {
    {"coalescing", "per_thread", "accesses of a thread before it uses the first"},
    {"transpose", "rows", "fewer threads with more elements each"},
    {"bank_conflict", "pad", "rows of a matrix elsewhere, free of conflicts as before"},
    {"divergence", "ways", "different paths of warps, which cost nothing"},
    {"occupancy", "resident", "more shared memory, where registers hold but one block"},
    {"occupancy", "optin", "a limit that is raised, which blocks without shared memory do not meet"},
    {"latency", "sm", "another SM: the law is of all"},
    {"spill", "use", "stores as well as loads, where nothing is spilled"},
    {"carveout", "carveout", "a preference, of which loads that L2 answers feel nothing"},
    {"carveout", "ask", "the same, stated elsewhere"},
    {"carveout", "shared", "shared memory, of which loads that L2 answers feel nothing"},
    {"streams", "streams", "copies or kernels in more streams, one engine all the same"},
    {"streams", "order", "of issue, where stages wait for each other anyway"},
    {"streams", "queue", "streams that wait, where one engine has all the work"},
    {"atomics", "result", "kernels that use the old value, which takes shared memory nothing"},
    {"reduce", "type", "adds of another type, which take as long"},
    {"atomics", "lanes", "addresses of a warp, where the busiest place is another's"},
};

static bool is_launched_otherwise(const struct ub_micro *micro, const struct ub_axis *axis)
{
    for (size_t i = 0; i < COUNT(launched_otherwise); i++)
        if (strcmp(launched_otherwise[i].rule, micro->name) == 0 && strcmp(launched_otherwise[i].axis, axis->name) == 0)
            return true;
    return false;
}

/* ---- what a rule says of a point, in one number ------------------------------------------- */

/* FNV-1a. */
static void mix(uint64_t *hash, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < size; i++)
        *hash = (*hash ^ byte[i]) * UINT64_C(1099511628211);
}

static void mix_text(uint64_t *hash, const char *text)
{
    mix(hash, text ? text : "", text ? strlen(text) + 1 : 1);
}

static void mix_law(uint64_t *hash, const struct ub_law *law)
{
    for (size_t i = 0; i < law->counter_count; i++) {
        mix_text(hash, law->counters[i].key);
        mix(hash, &law->counters[i].known, sizeof law->counters[i].known);
        mix(hash, &law->counters[i].predicted, sizeof law->counters[i].predicted);
    }
    for (size_t i = 0; i < law->term_count; i++) {
        mix_text(hash, law->terms[i].name);
        mix(hash, &law->terms[i].time_ns, sizeof law->terms[i].time_ns);
    }
    mix(hash, &law->time_ns, sizeof law->time_ns);
    mix_text(hash, law->note);
    mix_text(hash, law->level);
}

static void mix_metrics(uint64_t *hash, const struct ub_micro *micro, const struct ub_constants *constants,
                        const struct ub_point *point, const struct ub_law *law)
{
    struct ub_metrics metrics;
    predicted_metrics(micro, h200(), constants, point, law, &metrics);
    for (size_t i = 0; i < metrics.count; i++) {
        mix_text(hash, metrics.items[i].key);
        mix(hash, &metrics.items[i].value, sizeof metrics.items[i].value);
    }
}

static uint64_t said_of(const struct ub_micro *micro, const struct ub_constants *constants,
                        const struct ub_point *point)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    const enum ub_timer timer = micro->timer(point);
    struct ub_footprint footprint = {0};
    struct ub_law law = {0};
    mix(&hash, &timer, sizeof timer);
    mix_text(&hash, micro->refusal ? micro->refusal(h200(), point) : NULL);
    mix_text(&hash, micro->mistake ? micro->mistake(h200(), point) : NULL);
    micro->footprint(h200(), point, &footprint);
    for (size_t i = 0; i < footprint.count; i++) {
        mix_text(&hash, footprint.buffers[i].name);
        mix(&hash, &footprint.buffers[i].memory, sizeof footprint.buffers[i].memory);
        mix(&hash, &footprint.buffers[i].size_bytes, sizeof footprint.buffers[i].size_bytes);
    }
    micro->law(h200(), constants, point, &law);
    mix_law(&hash, &law);
    mix_metrics(&hash, micro, constants, point, &law);
    return hash;
}

/* ---- points and values --------------------------------------------------------------------- */

struct values {
    size_t count;
    int64_t items[MAX_VALUES];
};

static void add_value(struct values *values, int64_t value)
{
    for (size_t i = 0; i < values->count; i++)
        if (values->items[i] == value)
            return;
    if (values->count < MAX_VALUES)
        values->items[values->count++] = value;
}

/* Of a word axis all; of numbers the limits, what is round the initial one, and what sweeps have. */
static void values_of(const struct ub_micro *micro, size_t axis, const struct ub_plan *plan,
                      const struct ub_point *initial, struct values *out)
{
    const struct ub_axis *of = &micro->axes[axis];
    const int64_t value = initial->values[axis];
    *out = (struct values){0};
    if (of->kind == UB_AXIS_WORD) {
        for (int64_t word = 0; of->words[word]; word++)
            add_value(out, word);
        return;
    }
    if (2 * value <= of->maximum)
        add_value(out, 2 * value);
    add_value(out, of->minimum);
    add_value(out, of->maximum);
    for (size_t i = 0; i < plan->count; i++)
        add_value(out, plan->points[i].point.values[axis]);
}

/* The `number`th combination of words, the numbers as they are at first. Returns how many words
 * are not the initial ones; SIZE_MAX: there is no such combination. */
static size_t combine(const struct ub_micro *micro, const struct ub_point *initial, size_t number, struct ub_point *out)
{
    size_t others = 0;
    *out = *initial;
    for (size_t i = 0; i < micro->axis_count; i++) {
        size_t words = 0;
        if (micro->axes[i].kind != UB_AXIS_WORD)
            continue;
        while (micro->axes[i].words[words])
            words++;
        out->values[i] = (int64_t)(number % words);
        others += out->values[i] != initial->values[i];
        number /= words;
    }
    return number == 0 ? others : SIZE_MAX;
}

/* Whether some other value is taken, and none that is changes what is said. */
static bool is_ignored(const struct ub_micro *micro, const struct ub_constants *constants, const struct ub_point *point,
                       uint64_t said, size_t axis, const struct values *values)
{
    bool taken = false;
    for (size_t i = 0; i < values->count; i++) {
        struct ub_point other = *point;
        other.values[axis] = values->items[i];
        if (values->items[i] == point->values[axis] || micro->supported(h200(), &other) != NULL)
            continue;
        if (said_of(micro, constants, &other) != said)
            return false;
        taken = true;
    }
    return taken;
}

static void check_point(const struct ub_micro *micro, const struct ub_constants *constants,
                        const struct ub_point *point, const struct values *values)
{
    const uint64_t said = said_of(micro, constants, point);
    for (size_t axis = 0; axis < micro->axis_count; axis++) {
        char words[512] = "";
        if (is_launched_otherwise(micro, &micro->axes[axis]) ||
            !is_ignored(micro, constants, point, said, axis, &values[axis]))
            continue;
        for (size_t i = 0; i < micro->axis_count; i++)
            if (micro->axes[i].kind == UB_AXIS_WORD)
                snprintf(words + strlen(words), sizeof words - strlen(words), " %s=%s", micro->axes[i].name,
                         micro->axes[i].words[point->values[i]]);
        fail_msg("%s: --%s is ignored with%s", micro->name, micro->axes[axis].name, words);
    }
}

static void check_rule(const struct ub_entry *entry, const struct ub_constants *constants)
{
    const struct ub_micro *micro = entry->micro;
    const struct ub_point initial = parse_point(micro, "");
    struct values values[UB_MAX_AXES];
    struct ub_plan plan = {0};
    struct ub_error err = {0};
    struct ub_point point;
    if (!ub_plan_add(&plan, entry, h200(), UB_SUITE_DEFAULT, NULL, 0, false, true, &err))
        fail_msg("%s: %s", micro->name, err.text);
    for (size_t axis = 0; axis < micro->axis_count; axis++)
        values_of(micro, axis, &plan, &initial, &values[axis]);
    size_t others, combinations = 0, seen = 0;
    for (size_t i = 0; (others = combine(micro, &initial, i, &point)) != SIZE_MAX; i++)
        combinations += others <= MOST_WORDS && micro->supported(h200(), &point) == NULL;
    for (size_t i = 0; (others = combine(micro, &initial, i, &point)) != SIZE_MAX; i++)
        if (others <= MOST_WORDS && micro->supported(h200(), &point) == NULL &&
            seen++ % (1 + combinations / MOST_POINTS) == 0)
            check_point(micro, constants, &point, values);
    ub_plan_free(&plan);
}

static void no_axis_is_ignored_in_silence(void **state)
{
    struct ub_constants constants;
    (void)state;
    ub_gpu_constants(h200(), &constants);
    for (size_t i = 0; i < ub_entry_count; i++)
        check_rule(&ub_entries[i], &constants);
}

static void the_table_names_axes_that_are_there(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(launched_otherwise); i++) {
        struct ub_error err;
        const struct ub_entry *entry = ub_registry_find(launched_otherwise[i].rule, &err);
        assert_non_null(entry);
        assert_true(ub_axis_index(entry->micro, launched_otherwise[i].axis) >= 0);
    }
}

/* Where an axis does not count its initial value is taken, and not shown by charts; another is
 * refused, as one of its rows says. */
static void check_owner(const struct ub_micro *micro, const struct ub_axis_owner *owner, int64_t value)
{
    const struct ub_axis *axis = &micro->axes[owner->axis];
    const struct ub_point initial = parse_point(micro, "");
    struct ub_point point = initial;
    assert_int_equal(owner->initial, initial.values[owner->axis]);
    point.values[owner->of] = value;
    assert_null(ub_axis_ignored(micro->owners, &point));
    if (value < 64 && (owner->values >> value & 1) != 0)
        return;
    assert_false(ub_axis_counts(micro->owners, &point, owner->axis));
    point.values[owner->axis] = owner->initial == axis->minimum ? owner->initial + 1 : axis->minimum;
    assert_string_equal(ub_axis_ignored(micro->owners, &point), owner->why);
    assert_non_null(micro->supported(h200(), &point));
}

static void check_owners(const struct ub_micro *micro)
{
    for (size_t n = 0; n < micro->owners->count; n++) {
        const struct ub_axis_owner *owner = &micro->owners->items[n];
        const struct ub_axis *of = &micro->axes[owner->of];
        for (int64_t word = 0; of->kind == UB_AXIS_WORD && of->words[word]; word++)
            check_owner(micro, owner, word);
        if (of->kind == UB_AXIS_INTEGER) {
            check_owner(micro, owner, of->minimum);
            check_owner(micro, owner, of->maximum);
        }
    }
}

static void an_axis_counts_or_is_refused(void **state)
{
    size_t rules = 0;
    (void)state;
    for (size_t i = 0; i < ub_entry_count; i++) {
        const struct ub_micro *micro = ub_entries[i].micro;
        rules += micro->owners != NULL;
        if (micro->owners != NULL)
            check_owners(micro);
        else
            assert_true(ub_axis_counts(micro->owners, &(struct ub_point){{0}}, 0));
    }
    assert_true(rules >= 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_axis_counts_or_is_refused),
        cmocka_unit_test(no_axis_is_ignored_in_silence),
        cmocka_unit_test(the_table_names_axes_that_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
