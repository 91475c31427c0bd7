/* SPDX-License-Identifier: MIT
 *
 * From ranges to points. The number of points is known before memory is taken for
 * them; a point is looked for in a hash table, so that large plans stay linear. */
#include "harness/engine/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FORCED_LIMIT = 1000000 /* with force: what still fits into memory */
};

static const char ceiling_sweep[] = "ceiling";
static const char command_sweep[] = "command";

bool ub_plan_names(const char *sweep)
{
    return strcmp(sweep, ceiling_sweep) == 0 || strcmp(sweep, command_sweep) == 0;
}

/* ---- ranges ---------------------------------------------------------------- */

void ub_ranges_free(struct ub_values ranges[UB_MAX_AXES])
{
    for (size_t i = 0; i < UB_MAX_AXES; i++)
        ub_values_free(&ranges[i]);
}

uint64_t ub_ranges_points(const struct ub_micro *micro, const struct ub_values ranges[UB_MAX_AXES])
{
    uint64_t points = 1;
    for (size_t i = 0; i < micro->axis_count; i++) {
        if (points > UINT64_MAX / ranges[i].count)
            return UINT64_MAX;
        points *= ranges[i].count;
    }
    return points;
}

/* Puts "name=range" into its axis. `text` is changed. */
static bool assign(const struct ub_micro *micro, char *text, struct ub_values ranges[UB_MAX_AXES], struct ub_error *err)
{
    char *equals = strchr(text, '=');
    if (!equals)
        return ub_fail(err, UB_USAGE, "'%s' is not AXIS=RANGE", text);
    *equals = 0;
    const int axis = ub_axis_index(micro, text);
    if (axis < 0)
        return ub_fail(err, UB_USAGE, "%s has no axis %s", micro->name, text);
    if (ranges[axis].count)
        return ub_fail(err, UB_USAGE, "%s is given twice", text);
    return ub_axis_parse(&micro->axes[axis], equals + 1, &ranges[axis], err);
}

static bool assign_all(const struct ub_micro *micro, const char *axes, struct ub_values ranges[UB_MAX_AXES],
                       struct ub_error *err)
{
    char *text = strdup(axes);
    if (!text)
        return ub_fail(err, UB_INTERNAL, "out of memory");
    bool ok = true;
    char *rest = text;
    for (char *word; ok && (word = strtok_r(rest, " ", &rest)) != NULL;)
        ok = assign(micro, word, ranges, err);
    free(text);
    return ok;
}

/* Gives the axes that have no values yet their initial one. */
static bool fill_initial(const struct ub_micro *micro, struct ub_values ranges[UB_MAX_AXES], struct ub_error *err)
{
    for (size_t i = 0; i < micro->axis_count; i++)
        if (ranges[i].count == 0 && !ub_axis_parse(&micro->axes[i], micro->axes[i].initial, &ranges[i], err))
            return false;
    return true;
}

bool ub_ranges_parse(const struct ub_micro *micro, const char *axes, struct ub_values ranges[UB_MAX_AXES],
                     struct ub_error *err)
{
    memset(ranges, 0, UB_MAX_AXES * sizeof ranges[0]);
    if (assign_all(micro, axes, ranges, err) && fill_initial(micro, ranges, err))
        return true;
    ub_ranges_free(ranges);
    return false;
}

bool ub_point_parse(const struct ub_micro *micro, const char *axes, struct ub_point *out, struct ub_error *err)
{
    struct ub_values ranges[UB_MAX_AXES];
    if (!ub_ranges_parse(micro, axes, ranges, err))
        return false;
    *out = (struct ub_point){0};
    bool ok = true;
    for (size_t i = 0; ok && i < micro->axis_count; i++) {
        out->values[i] = ranges[i].values[0];
        if (ranges[i].count != 1)
            ok = ub_fail(err, UB_USAGE, "'%s' is not one point: %s has %zu values", axes, micro->axes[i].name,
                         ranges[i].count);
    }
    ub_ranges_free(ranges);
    return ok;
}

/* ---- the set of points that a plan has ------------------------------------- */

/* Open addressing; a slot holds the index of a point + 1, 0 is free. */
struct seen {
    size_t mask;
    size_t *slots;
};

/* FNV-1a over the values of the rule's axes. */
static size_t hash_point(const struct ub_micro *micro, const struct ub_point *point)
{
    uint64_t hash = 14695981039346656037ull;
    for (size_t i = 0; i < micro->axis_count; i++)
        for (unsigned shift = 0; shift < 64; shift += 8)
            hash = (hash ^ (((uint64_t)point->values[i] >> shift) & 0xFF)) * 1099511628211ull;
    return (size_t)(hash ^ (hash >> 32));
}

static bool same_point(const struct ub_micro *micro, const struct ub_point *a, const struct ub_point *b)
{
    return memcmp(a->values, b->values, micro->axis_count * sizeof a->values[0]) == 0;
}

/* The slot of the point: where it stands, or a free one. */
static size_t *find_slot(const struct seen *seen, const struct ub_plan *plan, const struct ub_micro *micro,
                         const struct ub_point *point)
{
    size_t place = hash_point(micro, point) & seen->mask;
    while (seen->slots[place] && !same_point(micro, &plan->points[seen->slots[place] - 1].point, point))
        place = (place + 1) & seen->mask;
    return &seen->slots[place];
}

/* All points of this rule and sweep that the plan has; room for `more`. A point may stand
 * in several sweeps: each is a table and a chart of its own, which needs its baseline. */
static bool seen_init(struct seen *seen, const struct ub_plan *plan, const struct ub_micro *micro, const char *sweep,
                      size_t more, struct ub_error *err)
{
    size_t slots = 16;
    while (slots < 2 * (plan->count + more))
        slots *= 2;
    *seen = (struct seen){.mask = slots - 1, .slots = calloc(slots, sizeof *seen->slots)};
    if (!seen->slots)
        return ub_fail(err, UB_INTERNAL, "out of memory");
    for (size_t i = 0; i < plan->count; i++)
        if (plan->points[i].micro == micro && strcmp(plan->points[i].sweep, sweep) == 0)
            *find_slot(seen, plan, micro, &plan->points[i].point) = i + 1;
    return true;
}

/* ---- adding ---------------------------------------------------------------- */

struct addition {
    struct ub_plan *plan;
    const struct ub_entry *entry;
    const struct ub_gpu *gpu;
    uint64_t limit;
    struct ub_error *err;
};

/* "stride 1024 x offset 128": the axes that have more than one value. */
static void describe_product(const struct ub_micro *micro, const struct ub_values ranges[UB_MAX_AXES], char *text,
                             size_t size)
{
    size_t length = 0;
    text[0] = 0;
    for (size_t i = 0; i < micro->axis_count && length < size; i++)
        if (ranges[i].count > 1)
            length += (size_t)snprintf(text + length, size - length, "%s%s %zu", length ? " x " : "",
                                       micro->axes[i].name, ranges[i].count);
}

/* Fails where the plan would have more points than allowed. */
static bool check_count(const struct addition *addition, const char *sweep, const struct ub_values ranges[UB_MAX_AXES],
                        uint64_t points)
{
    const uint64_t planned = addition->plan->count;
    if (points <= addition->limit && planned <= addition->limit - points)
        return true;
    const char *hint = addition->limit < FORCED_LIMIT ? "--force allows more" : "--force does not allow more";
    const struct ub_micro *micro = addition->entry->micro;
    char product[512];
    describe_product(micro, ranges, product, sizeof product);
    return ub_fail(addition->err, UB_USAGE,
                   "%s, sweep %s: %s = %s%" PRIu64 " points, %" PRIu64 " planned before: the limit is %" PRIu64 " (%s)",
                   micro->name, sweep, product, points == UINT64_MAX ? "over " : "", points, planned, addition->limit,
                   hint);
}

static bool reserve(const struct addition *addition, size_t more)
{
    struct ub_plan *plan = addition->plan;
    struct ub_planned *grown = realloc(plan->points, (plan->count + more) * sizeof *grown);
    if (!grown)
        return ub_fail(addition->err, UB_INTERNAL, "out of memory");
    plan->points = grown;
    return true;
}

/* Appends a point; there is room. */
static void append_point(const struct addition *addition, const char *sweep, const struct ub_point *point,
                         const struct ub_provides *provides)
{
    const struct ub_micro *micro = addition->entry->micro;
    addition->plan->points[addition->plan->count++] = (struct ub_planned){
        .micro = micro,
        .code = addition->entry->code,
        .sweep = sweep,
        .point = *point,
        .skip = micro->supported(addition->gpu, point),
        .provides = provides,
    };
}

/* The `number`th point of the product; the first axis varies fastest. */
static void pick_point(const struct ub_micro *micro, const struct ub_values ranges[UB_MAX_AXES], uint64_t number,
                       struct ub_point *point)
{
    *point = (struct ub_point){0};
    for (size_t i = 0; i < micro->axis_count; i++) {
        point->values[i] = ranges[i].values[number % ranges[i].count];
        number /= ranges[i].count;
    }
}

static bool add_product(const struct addition *addition, const char *sweep, const struct ub_values ranges[UB_MAX_AXES])
{
    const struct ub_micro *micro = addition->entry->micro;
    const uint64_t points = ub_ranges_points(micro, ranges);
    struct seen seen;
    if (!check_count(addition, sweep, ranges, points) || !reserve(addition, (size_t)points) ||
        !seen_init(&seen, addition->plan, micro, sweep, (size_t)points, addition->err))
        return false;
    for (uint64_t i = 0; i < points; i++) {
        struct ub_point point;
        pick_point(micro, ranges, i, &point);
        size_t *slot = find_slot(&seen, addition->plan, micro, &point);
        if (*slot)
            continue;
        append_point(addition, sweep, &point, NULL);
        *slot = addition->plan->count;
    }
    free(seen.slots);
    return true;
}

static bool has_ceiling(const struct ub_plan *plan, const struct ub_provides *provides)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->points[i].provides == provides)
            return true;
    return false;
}

static bool add_ceilings(const struct addition *addition)
{
    const struct ub_micro *micro = addition->entry->micro;
    if (!reserve(addition, micro->provide_count + 1)) /* never 0: realloc would free */
        return false;
    for (size_t i = 0; i < micro->provide_count; i++) {
        struct ub_point point;
        if (has_ceiling(addition->plan, &micro->provides[i]))
            continue;
        if (!ub_point_parse(micro, micro->provides[i].axes, &point, addition->err))
            return ub_fail_in(addition->err, "%s, constant %s", micro->name, micro->provides[i].constant);
        append_point(addition, ceiling_sweep, &point, &micro->provides[i]);
    }
    return true;
}

static bool add_sweeps(const struct addition *addition, unsigned suite)
{
    const struct ub_micro *micro = addition->entry->micro;
    for (size_t i = 0; i < micro->sweep_count; i++) {
        const struct ub_sweep *sweep = &micro->sweeps[i];
        if (!(sweep->suites & suite))
            continue;
        struct ub_values ranges[UB_MAX_AXES];
        if (!ub_ranges_parse(micro, sweep->axes, ranges, addition->err))
            return ub_fail_in(addition->err, "%s, sweep %s", micro->name, sweep->name);
        const bool ok = add_product(addition, sweep->name, ranges);
        ub_ranges_free(ranges);
        if (!ok)
            return false;
    }
    return true;
}

/* The same for a command, where an axis may have more values. */
static bool fill_command(const struct ub_micro *micro, struct ub_values ranges[UB_MAX_AXES], struct ub_error *err)
{
    for (size_t i = 0; i < micro->axis_count; i++) {
        const char *spec = micro->axes[i].on_command;
        if (ranges[i].count == 0 && spec && !ub_axis_parse(&micro->axes[i], spec, &ranges[i], err))
            return false;
    }
    return fill_initial(micro, ranges, err);
}

/* Parses the options that name an axis of the rule. */
static bool read_options(const struct ub_micro *micro, struct ub_axis_option *options, size_t option_count,
                         struct ub_values ranges[UB_MAX_AXES], struct ub_error *err)
{
    for (size_t i = 0; i < option_count; i++) {
        const int axis = ub_axis_index(micro, options[i].name);
        if (axis < 0)
            continue;
        options[i].used = true;
        if (ranges[axis].count)
            return ub_fail(err, UB_USAGE, "--%s given twice", options[i].name);
        if (!ub_axis_parse(&micro->axes[axis], options[i].spec, &ranges[axis], err))
            return ub_fail_in(err, "%s", micro->name); /* of `run all`, which of them */
    }
    return fill_command(micro, ranges, err);
}

static bool add_command(const struct addition *addition, struct ub_axis_option *options, size_t option_count)
{
    struct ub_values ranges[UB_MAX_AXES] = {0};
    const bool ok = read_options(addition->entry->micro, options, option_count, ranges, addition->err) &&
                    add_product(addition, command_sweep, ranges);
    ub_ranges_free(ranges);
    return ok;
}

static bool any_option_applies(const struct ub_micro *micro, const struct ub_axis_option *options, size_t option_count)
{
    for (size_t i = 0; i < option_count; i++)
        if (ub_axis_index(micro, options[i].name) >= 0)
            return true;
    return false;
}

bool ub_plan_add(struct ub_plan *plan, const struct ub_entry *entry, const struct ub_gpu *gpu, unsigned suite,
                 struct ub_axis_option *options, size_t option_count, bool ceilings, bool force, struct ub_error *err)
{
    const struct addition addition = {plan, entry, gpu, force ? FORCED_LIMIT : UB_PLAN_LIMIT, err};
    const size_t before = plan->count;
    bool ok = !ceilings || add_ceilings(&addition);
    if (ok && any_option_applies(entry->micro, options, option_count))
        ok = add_command(&addition, options, option_count);
    else if (ok)
        ok = add_sweeps(&addition, suite);
    if (!ok)
        plan->count = before;
    return ok;
}

void ub_plan_free(struct ub_plan *plan)
{
    free(plan->points);
    *plan = (struct ub_plan){0};
}

double ub_footprint_bytes(const struct ub_micro *micro, const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct ub_footprint footprint = {0};
    double bytes = 0;
    micro->footprint(gpu, point, &footprint);
    for (size_t i = 0; i < footprint.count; i++)
        bytes += (double)footprint.buffers[i].size_bytes;
    return bytes;
}
