/* SPDX-License-Identifier: MIT */
#include "harness/engine/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/engine/compare_parts.h"
#include "harness/engine/law.h"

static const double confidence = 0.95;

/* ---- constants ----------------------------------------------------------------- */

static void add_constant(struct ub_comparison *comparison, const char *name)
{
    const size_t most = sizeof comparison->constants / sizeof comparison->constants[0];
    struct ub_compared_constant row = {0};
    for (size_t i = 0; i < comparison->constant_count; i++)
        if (strcmp(comparison->constants[i].name, name) == 0)
            return;
    for (size_t run = 0; run < comparison->run_count; run++) {
        const struct ub_constant *constant = ub_constant_find(&comparison->runs[run].record->constants, name);
        row.values[run] = constant;
        if (constant && !row.name) {
            row.name = constant->name;
            row.unit = constant->unit;
        }
    }
    if (row.name && comparison->constant_count < most)
        comparison->constants[comparison->constant_count++] = row;
}

/* Those that the laws of the rules compared need, and those that the rules measure. */
static void add_constants(struct ub_comparison *comparison)
{
    const struct ub_micro *last = NULL;
    for (size_t i = 0; i < comparison->point_count; i++) {
        const struct ub_micro *micro = ub_compare_micro(comparison->points[i].sides[0].point);
        if (!micro || micro == last)
            continue;
        last = micro;
        for (size_t k = 0; k < micro->need_count; k++)
            add_constant(comparison, micro->needs[k]);
        for (size_t k = 0; k < micro->provide_count; k++)
            add_constant(comparison, micro->provides[k].constant);
    }
}

/* ---- labels ------------------------------------------------------------------------ */

static bool same_value(const struct ub_axis_value *a, const struct ub_axis_value *b)
{
    return a && b && ub_same_text(a->word, b->word) && (a->word || a->number == b->number);
}

/* Whether the points of a group differ in an axis. */
static bool varies(const struct ub_comparison *comparison, size_t group, const char *axis)
{
    const struct ub_axis_value *value = ub_point_axis(ub_compared_first(comparison, group), axis);
    for (size_t i = group; i < comparison->point_count; i++)
        if (comparison->points[i].group == group &&
            !same_value(ub_point_axis(ub_compared_first(comparison, i), axis), value))
            return true;
    return false;
}

static bool same_group(const struct ub_record_point *a, const struct ub_record_point *b)
{
    return ub_same_text(a->rule, b->rule) && ub_same_text(a->sweep, b->sweep);
}

static bool label_point(const struct ub_record_point *point, const char *const *axes, size_t count, char **label)
{
    struct ub_record_point shown = {0}; /* borrows its strings */
    struct ub_axis_value values[UB_MAX_AXES];
    char text[1024];
    for (size_t i = 0; i < count; i++) {
        const struct ub_axis_value *value = ub_point_axis(point, axes[i]);
        if (value && shown.axis_count < UB_MAX_AXES)
            values[shown.axis_count++] = *value;
    }
    shown.rule = (char *)"";
    shown.axes = values;
    ub_point_label(&shown, text, sizeof text);
    *label = strdup(*text == ' ' ? text + 1 : text);
    return *label != NULL;
}

static bool label_group(struct ub_comparison *comparison, size_t group)
{
    const struct ub_record_point *first = ub_compared_first(comparison, group);
    const char *axes[UB_MAX_AXES];
    size_t count = 0;
    for (size_t i = 0; i < first->axis_count && count < UB_MAX_AXES; i++)
        if (varies(comparison, group, first->axes[i].name))
            axes[count++] = first->axes[i].name;
    for (size_t i = group; i < comparison->point_count; i++)
        if (comparison->points[i].group == group &&
            !label_point(ub_compared_first(comparison, i), axes, count, &comparison->points[i].label))
            return false;
    return true;
}

/* The first point of the group of a point: mostly that of its neighbour. */
static size_t group_of(const struct ub_comparison *comparison, size_t index)
{
    const struct ub_record_point *point = ub_compared_first(comparison, index);
    const size_t near = index > 0 ? comparison->points[index - 1].group : 0;
    if (same_group(ub_compared_first(comparison, near), point))
        return near;
    for (size_t k = 0; k < index; k++)
        if (comparison->points[k].group == k && same_group(ub_compared_first(comparison, k), point))
            return k;
    return index;
}

static bool add_labels(struct ub_comparison *comparison, struct ub_error *err)
{
    for (size_t i = 0; i < comparison->point_count; i++)
        comparison->points[i].group = group_of(comparison, i);
    for (size_t i = 0; i < comparison->point_count; i++)
        if (comparison->points[i].group == i && !label_group(comparison, i))
            return ub_fail(err, UB_INTERNAL, "out of memory while comparing");
    return true;
}

/* ---- nothing in common ------------------------------------------------------------ */

/* "369 points of coalescing, null", or "no points". */
static void describe_points(const struct ub_record *record, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%zu point%s", record->point_count, record->point_count == 1 ? "" : "s");
    for (size_t i = 0; i < record->point_count && used < size; i++) {
        const char *rule = record->points[i].rule;
        bool known = !rule;
        for (size_t k = 0; k < i && !known; k++)
            known = ub_same_text(record->points[k].rule, rule);
        if (!known)
            used += (size_t)snprintf(text + used, size - used, "%s %.40s", i ? "," : " of", rule);
    }
}

static bool fail_disjoint(const struct ub_compare_request *request, const struct ub_comparison *comparison,
                          struct ub_error *err)
{
    char first[200], other[200];
    if (comparison->lost_count > 0 && comparison->unmatched_count == 0)
        return ub_fail(err, UB_BAD_DATA, "nothing to compare: no point that the runs share has a result");
    describe_points(comparison->runs[0].record, first, sizeof first);
    describe_points(comparison->runs[1].record, other, sizeof other);
    return ub_fail(err, UB_BAD_DATA,
                   "nothing to compare%s%.60s: no point has a result in both (same rule, axes, data and cache)\n"
                   "  %.80s has %s\n  %.80s has %s",
                   request->rule ? " of the rule " : "", request->rule ? request->rule : "", comparison->runs[0].name,
                   first, comparison->runs[1].name, other);
}

/* ---- the whole ----------------------------------------------------------------------- */

static bool compare_runs(const struct ub_compare_request *request, struct ub_comparison *out, struct ub_error *err)
{
    out->one_card = true;
    for (size_t run = 0; run < out->run_count; run++)
        out->measured |= out->runs[run].record->source == UB_MEASURED;
    for (size_t run = 1; run < out->run_count; run++)
        out->one_card &= ub_compare_same_card(&out->runs[0].record->device, &out->runs[run].record->device);
    if (!ub_compare_match(request->rule, out, err))
        return false;
    if (out->point_count == 0 && out->published_count == 0)
        return fail_disjoint(request, out, err);
    add_constants(out);
    return add_labels(out, err) && ub_compare_judge(out, err);
}

static bool compare(const struct ub_compare_request *request, struct ub_comparison *out, struct ub_error *err)
{
    for (size_t i = 0; i < request->run_count; i++)
        if (request->runs[i].record->source != UB_PUBLISHED)
            out->runs[out->run_count++] = request->runs[i];
    for (size_t i = 0; i < request->run_count; i++)
        if (request->runs[i].record->source == UB_PUBLISHED &&
            !ub_compare_published(request->runs[i].record, request->rule, out, err))
            return false;
    if (out->run_count >= 2)
        return compare_runs(request, out, err);
    return out->published_count > 0 ||
           ub_fail(err, UB_BAD_DATA, "nothing to compare: no published figure%s%.60s",
                   request->rule ? " of the rule " : "", request->rule ? request->rule : "");
}

bool ub_compare(const struct ub_compare_request *request, struct ub_comparison *out, struct ub_error *err)
{
    *out = (struct ub_comparison){.margin = request->margin, .confidence = confidence, .seed = request->seed};
    const bool ok = compare(request, out, err);
    if (!ok)
        ub_comparison_free(out);
    return ok;
}
