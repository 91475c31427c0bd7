/* SPDX-License-Identifier: MIT
 *
 * Which points of two records are the same: those with one rule, one value of each axis,
 * one content of the data and one state of the cache. A record may have a point in several
 * sweeps; then sweeps of the same name go together first. What has no partner is kept with
 * the reason. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/engine/compare_parts.h"
#include "harness/engine/law.h"
#include "harness/engine/plan.h"

/* A point with what it is recognised by. */
struct entry {
    const struct ub_record_point *point;
    char *what; /* rule and axes; owned */
    bool taken;
};

/* The points of one run, in the order of the record and in that of their keys. */
struct side {
    size_t count;
    struct entry *entries;
    struct entry **sorted;
};

struct matcher {
    const char *rule;
    struct ub_comparison *comparison;
    struct side sides[UB_MAX_COMPARED];
    struct entry **partners; /* [entry of the first run][run] */
    struct ub_error *err;
};

static bool no_memory(struct ub_error *err)
{
    return ub_fail(err, UB_INTERNAL, "out of memory while comparing");
}

const struct ub_micro *ub_compare_micro(const struct ub_record_point *point)
{
    const struct ub_entry *entry = point->rule ? ub_registry_find(point->rule, NULL) : NULL;
    return entry ? entry->micro : NULL;
}

/* ---- keys -------------------------------------------------------------------- */

/* The axes as the rule counts them, so that an axis that the rule gained since has its
 * initial value; as they stand in the record where this build does not know them. */
static void write_what(FILE *stream, const struct ub_record_point *point)
{
    const struct ub_micro *micro = ub_compare_micro(point);
    struct ub_point values;
    fprintf(stream, "%s", point->rule ? point->rule : "");
    if (micro && ub_point_from_record(micro, point, &values, NULL)) {
        for (size_t i = 0; i < micro->axis_count; i++)
            fprintf(stream, "\n%" PRId64, values.values[i]);
        return;
    }
    for (size_t i = 0; i < point->axis_count; i++)
        fprintf(stream, "\n%s=%s %" PRId64, point->axes[i].name, point->axes[i].word ? point->axes[i].word : "",
                point->axes[i].word ? 0 : point->axes[i].number);
}

static bool make_key(struct entry *entry)
{
    size_t size = 0;
    FILE *stream = open_memstream(&entry->what, &size);
    if (!stream)
        return false;
    write_what(stream, entry->point);
    return fclose(stream) == 0;
}

static int compare_texts(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static int compare_settings(const struct ub_record_point *a, const struct ub_record_point *b)
{
    const int data = compare_texts(a->data, b->data);
    return data ? data : compare_texts(a->cache, b->cache);
}

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = *(struct entry *const *)left, *b = *(struct entry *const *)right;
    const int what = strcmp(a->what, b->what), settings = what ? 0 : compare_settings(a->point, b->point);
    return what ? what : settings ? settings : (a > b) - (a < b);
}

static bool load_side(struct matcher *matcher, size_t run)
{
    const struct ub_record *record = matcher->comparison->runs[run].record;
    struct side *side = &matcher->sides[run];
    side->entries = calloc(record->point_count + 1, sizeof *side->entries);
    side->sorted = calloc(record->point_count + 1, sizeof *side->sorted);
    if (!side->entries || !side->sorted)
        return no_memory(matcher->err);
    for (size_t i = 0; i < record->point_count; i++) {
        const struct ub_record_point *point = &record->points[i];
        if (matcher->rule && !ub_same_text(point->rule, matcher->rule))
            continue;
        struct entry *entry = &side->entries[side->count];
        entry->point = point;
        if (!make_key(entry))
            return no_memory(matcher->err);
        side->sorted[side->count++] = entry;
    }
    qsort(side->sorted, side->count, sizeof *side->sorted, compare_entries);
    return true;
}

/* ---- partners ------------------------------------------------------------------ */

static bool same_point(const struct entry *a, const struct entry *b)
{
    return strcmp(a->what, b->what) == 0 && compare_settings(a->point, b->point) == 0;
}

/* The first entry of a side that does not sort before `wanted`. */
static size_t lower_bound(const struct side *side, const struct entry *wanted, bool settings)
{
    size_t low = 0, high = side->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct entry *entry = side->sorted[middle];
        int order = strcmp(entry->what, wanted->what);
        if (order == 0 && settings)
            order = compare_settings(entry->point, wanted->point);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct entry *free_partner(const struct side *side, const struct entry *wanted, bool same_sweep)
{
    for (size_t i = lower_bound(side, wanted, true); i < side->count && same_point(side->sorted[i], wanted); i++)
        if (!side->sorted[i]->taken &&
            (!same_sweep || compare_texts(side->sorted[i]->point->sweep, wanted->point->sweep) == 0))
            return side->sorted[i];
    return NULL;
}

static struct entry **partner_of(const struct matcher *matcher, size_t index, size_t run)
{
    return &matcher->partners[index * matcher->comparison->run_count + run];
}

static void pair_up(struct matcher *matcher, size_t run, bool same_sweep)
{
    const struct side *first = &matcher->sides[0];
    for (size_t i = 0; i < first->count; i++) {
        struct entry **partner = partner_of(matcher, i, run);
        if (*partner)
            continue;
        *partner = free_partner(&matcher->sides[run], &first->entries[i], same_sweep);
        if (*partner)
            (*partner)->taken = true;
    }
}

/* ---- what has no partner --------------------------------------------------------- */

static bool UB_PRINTF(4, 5)
    add_unmatched(struct matcher *matcher, size_t run, const struct ub_record_point *point, const char *format, ...)
{
    struct ub_comparison *comparison = matcher->comparison;
    const size_t count = comparison->unmatched_count;
    if ((count & (count - 1)) == 0) { /* room for the next power of two */
        void *grown = realloc(comparison->unmatched, (count ? 2 * count : 1) * sizeof *comparison->unmatched);
        if (!grown)
            return no_memory(matcher->err);
        comparison->unmatched = grown;
    }
    char why[400];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    struct ub_unmatched *item = &comparison->unmatched[count];
    *item = (struct ub_unmatched){run, point, strdup(why)};
    comparison->unmatched_count++;
    return item->why || no_memory(matcher->err);
}

static const char *or_none(const char *text)
{
    return text ? text : "none";
}

/* `entry` of run `run` has no partner in run `other`: it has the point under another
 * condition, more seldom, or not at all. */
static bool explain(struct matcher *matcher, size_t run, const struct entry *entry, size_t other)
{
    const struct side *side = &matcher->sides[other];
    const char *name = matcher->comparison->runs[other].name;
    size_t at = lower_bound(side, entry, true);
    if (at < side->count && same_point(side->sorted[at], entry)) {
        matcher->comparison->repeated_count++;
        return true;
    }
    at = lower_bound(side, entry, false);
    if (at == side->count || strcmp(side->sorted[at]->what, entry->what) != 0)
        return add_unmatched(matcher, run, entry->point, "not in %s", name);
    const struct ub_record_point *near = side->sorted[at]->point;
    if (compare_texts(near->data, entry->point->data) != 0)
        return add_unmatched(matcher, run, entry->point, "data %s; in %s %.40s", or_none(entry->point->data), name,
                             or_none(near->data));
    return add_unmatched(matcher, run, entry->point, "cache %s; in %s %.40s", or_none(entry->point->cache), name,
                         or_none(near->cache));
}

static bool explain_rest(struct matcher *matcher, size_t run)
{
    for (size_t i = 0; i < matcher->sides[0].count; i++)
        if (!*partner_of(matcher, i, run) && !explain(matcher, 0, &matcher->sides[0].entries[i], run))
            return false;
    for (size_t i = 0; i < matcher->sides[run].count; i++)
        if (!matcher->sides[run].entries[i].taken && !explain(matcher, run, &matcher->sides[run].entries[i], 0))
            return false;
    return true;
}

/* ---- rows ---------------------------------------------------------------------------- */

static bool is_ok(const struct ub_record_point *point)
{
    return point && point->status == UB_POINT_OK;
}

/* Points that ended without a result are named, unless that is so in every run. */
static bool explain_lost(struct matcher *matcher, const struct ub_record_point *const *points, size_t found,
                         size_t good)
{
    if (good == 0 && found > 1)
        matcher->comparison->lost_count++;
    for (size_t run = 0; run < matcher->comparison->run_count; run++)
        if (good > 0 && points[run] && !is_ok(points[run]) &&
            !add_unmatched(matcher, run, points[run], "%s: %.300s", ub_status_names[points[run]->status],
                           points[run]->reason ? points[run]->reason : "no reason given"))
            return false;
    return true;
}

/* Adds the row of an entry of the first run, if it and another one have a result. */
static bool add_row(struct matcher *matcher, size_t index)
{
    struct ub_comparison *comparison = matcher->comparison;
    const struct ub_record_point *points[UB_MAX_COMPARED] = {matcher->sides[0].entries[index].point};
    size_t found = 1, good = is_ok(points[0]);
    for (size_t run = 1; run < comparison->run_count; run++) {
        const struct entry *partner = *partner_of(matcher, index, run);
        points[run] = partner ? partner->point : NULL;
        found += partner != NULL;
        good += is_ok(points[run]);
    }
    if (found > 1 && !explain_lost(matcher, points, found, good))
        return false;
    if (!is_ok(points[0]) || good < 2)
        return true;
    struct ub_side *sides = &comparison->sides[comparison->point_count * comparison->run_count];
    for (size_t run = 0; run < comparison->run_count; run++)
        sides[run].point = is_ok(points[run]) ? points[run] : NULL;
    comparison->points[comparison->point_count] = (struct ub_compared_point){
        .sides = sides, .contrasts = &comparison->contrasts[comparison->point_count * comparison->run_count]};
    comparison->point_count++;
    return true;
}

static bool make_rows(struct matcher *matcher)
{
    struct ub_comparison *comparison = matcher->comparison;
    const size_t count = matcher->sides[0].count + 1;
    comparison->points = calloc(count, sizeof *comparison->points);
    comparison->sides = calloc(count * comparison->run_count, sizeof *comparison->sides);
    comparison->contrasts = calloc(count * comparison->run_count, sizeof *comparison->contrasts);
    if (!comparison->points || !comparison->sides || !comparison->contrasts)
        return no_memory(matcher->err);
    for (size_t i = 0; i < matcher->sides[0].count; i++)
        if (!add_row(matcher, i))
            return false;
    return true;
}

static bool match(struct matcher *matcher)
{
    const size_t runs = matcher->comparison->run_count;
    for (size_t run = 0; run < runs; run++)
        if (!load_side(matcher, run))
            return false;
    matcher->partners = calloc((matcher->sides[0].count + 1) * runs, sizeof *matcher->partners);
    if (!matcher->partners)
        return no_memory(matcher->err);
    for (size_t run = 1; run < runs; run++) {
        pair_up(matcher, run, true);
        pair_up(matcher, run, false);
        if (!explain_rest(matcher, run))
            return false;
    }
    return make_rows(matcher);
}

bool ub_compare_match(const char *rule, struct ub_comparison *comparison, struct ub_error *err)
{
    struct matcher matcher = {.rule = rule, .comparison = comparison, .err = err};
    const bool ok = match(&matcher);
    for (size_t run = 0; run < comparison->run_count; run++) {
        for (size_t i = 0; matcher.sides[run].entries && i <= matcher.sides[run].count; i++)
            free(matcher.sides[run].entries[i].what);
        free(matcher.sides[run].entries);
        free(matcher.sides[run].sorted);
    }
    free(matcher.partners);
    return ok;
}
