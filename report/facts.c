/* SPDX-License-Identifier: MIT */
#include "report/facts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "harness/engine/law.h"
#include "harness/io/table.h"
#include "harness/io/text.h"

const char *const ub_law_words[] = {"contradicts itself", "broken", "deviates", "not checked", "holds", "not tested"};
const char *const ub_law_marks[] = {"\u2716", "\u2716", "!", "?", "\u2714", "\u2013"};

const char *ub_rule_of(const struct ub_record_point *point)
{
    return point->rule ? point->rule : "";
}

const struct ub_micro *ub_micro_of(const char *rule)
{
    for (size_t i = 0; i < ub_entry_count; i++)
        if (strcmp(ub_entries[i].micro->name, rule) == 0)
            return ub_entries[i].micro;
    return NULL;
}

/* One counter that is off outweighs all else; a time that is off, the times that are not. */
static enum ub_law_verdict verdict_of(const struct ub_rule_facts *facts, bool broken)
{
    if (broken || facts->equal < facts->exact)
        return UB_LAW_BROKEN;
    if (facts->time[UB_TIME_DEVIATES] > 0)
        return UB_LAW_DEVIATES;
    return facts->exact > 0 || facts->time[UB_TIME_HOLDS] > 0 ? UB_LAW_HOLDS : UB_LAW_NOT_TESTED;
}

static void count_counters(const struct ub_record *record, const struct ub_record_point *point,
                           struct ub_rule_facts *facts)
{
    for (size_t i = 0; i < point->counter_count; i++) {
        const struct ub_record_counter *counter = &point->counters[i];
        facts->estimates += ub_estimate_deviates(counter);
        if (!counter->has_measured || !counter->has_predicted || !ub_counter_is_exact(counter, record->run.jit == 1))
            continue;
        facts->exact++;
        facts->equal += counter->measured == counter->predicted;
    }
}

static void count_time(const struct ub_record_point *point, struct ub_rule_facts *facts)
{
    facts->time[point->time_verdict]++;
    if (point->time_verdict == UB_TIME_NOT_TESTED)
        return;
    facts->least_tolerance = fmin(facts->least_tolerance, point->time_tolerance);
    facts->most_tolerance = fmax(facts->most_tolerance, point->time_tolerance);
    if (isfinite(point->residual) && (!facts->worst || fabs(point->residual) > fabs(facts->worst->residual)))
        facts->worst = point;
}

void ub_rule_facts_of(const struct ub_record *record, const char *rule, struct ub_rule_facts *out)
{
    bool broken = false;
    *out =
        (struct ub_rule_facts){.rule = rule, .micro = ub_micro_of(rule), .least_tolerance = NAN, .most_tolerance = NAN};
    for (size_t i = 0; i < record->point_count; i++) {
        const struct ub_record_point *point = &record->points[i];
        if (strcmp(ub_rule_of(point), rule) != 0)
            continue;
        out->points++;
        out->status[point->status]++;
        if (point->status != UB_POINT_OK)
            continue;
        broken = broken || point->counter_verdict == UB_COUNTERS_BROKEN;
        count_counters(record, point, out);
        count_time(point, out);
    }
    out->verdict = record->source == UB_MEASURED ? verdict_of(out, broken) : UB_LAW_NOT_TESTED;
}

/* ---- computed again -------------------------------------------------------------- */

static void note_problem(void *user, const char *text)
{
    struct ub_rule_check *check = user;
    if (check->problems++ == 0)
        snprintf(check->first, sizeof check->first, "%s", text);
}

void ub_rule_check_of(const struct ub_record *record, const char *rule, struct ub_rule_check *out)
{
    struct ub_check_counts counts;
    *out = (struct ub_rule_check){0};
    ub_check_rule(record, rule, &counts, note_problem, out);
    out->refuted = counts.refuted;
    out->untestable = counts.untestable;
    memcpy(out->why, counts.why, sizeof out->why);
}

enum ub_law_verdict ub_checked_verdict(const struct ub_record *record, const struct ub_rule_facts *facts,
                                       const struct ub_rule_check *check)
{
    if (record->source == UB_PUBLISHED)
        return facts->verdict; /* they state no law */
    if (check->problems > check->refuted)
        return UB_LAW_CONTRADICTS;
    if (record->source != UB_MEASURED)
        return facts->verdict;
    const enum ub_law_verdict verdict = check->refuted > 0 ? UB_LAW_BROKEN : facts->verdict;
    return check->untestable > 0 && verdict > UB_LAW_NOT_CHECKED ? UB_LAW_NOT_CHECKED : verdict;
}

/* ---- names ----------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool same_value(const struct ub_axis_value *a, const struct ub_axis_value *b)
{
    return b && (a->word || b->word ? a->word && b->word && strcmp(a->word, b->word) == 0 : a->number == b->number);
}

static bool varies(const struct ub_record *record, const struct ub_record_point *point,
                   const struct ub_axis_value *axis)
{
    for (size_t i = 0; i < record->point_count; i++) {
        const struct ub_record_point *other = &record->points[i];
        if (same_text(other->rule, point->rule) && same_text(other->sweep, point->sweep) &&
            !same_value(axis, ub_point_axis(other, axis->name)))
            return true;
    }
    return false;
}

void ub_point_short_label(const struct ub_record *record, const struct ub_record_point *point, char *text, size_t size)
{
    size_t used = 0;
    *text = 0;
    for (size_t i = 0; i < point->axis_count && used < size; i++) {
        char value[120], name[60];
        if (!varies(record, point, &point->axes[i]))
            continue;
        ub_axis_cell(&point->axes[i], true, value, sizeof value);
        used += (size_t)snprintf(text + used, size - used, "%s%s=%s", used ? " " : "",
                                 ub_text_plain(name, sizeof name, point->axes[i].name, 40, true), value);
    }
    if (used == 0)
        snprintf(text, size, "its only point");
}

void ub_date_text(const char *time, char *text, size_t size)
{
    int year, month, day, hour, minute, second, length = 0;
    const int parts = sscanf(time, "%4d-%2d-%2dT%2d:%2d:%2dZ%n", &year, &month, &day, &hour, &minute, &second, &length);
    if (parts == 6 && length > 0 && time[length] == 0)
        snprintf(text, size, "%04d-%02d-%02d %02d:%02d UTC", year, month, day, hour, minute);
    else
        ub_text_plain(text, size, time, 40, true);
}

/* ---- in words -------------------------------------------------------------------- */

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static int append(char *text, size_t size, const char *format, ...) UB_PRINTF(3, 4);

static int append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(text + used, size - used, format, args);
    va_end(args);
    return length;
}

static void tell_counters(const struct ub_rule_facts *facts, char *text, size_t size)
{
    if (facts->exact == 0)
        append(text, size, "No exact counter was compared with the law.");
    else
        append(text, size, "%zu of %zu exact counters equal the law\u2019s integers.", facts->equal, facts->exact);
}

static void tell_time(const struct ub_record *record, const struct ub_rule_facts *facts, char *text, size_t size)
{
    const size_t tested = facts->time[UB_TIME_HOLDS] + facts->time[UB_TIME_DEVIATES];
    char least[40], most[40], residual[40], label[300];
    if (tested == 0) {
        append(text, size, " No time was tested.");
        return;
    }
    ub_number(least, sizeof least, 3, 100 * facts->least_tolerance);
    ub_number(most, sizeof most, 3, 100 * facts->most_tolerance);
    append(text, size, " The time lies within its tolerance (%s%s%s %%) at %zu of %zu points", least,
           strcmp(least, most) == 0 ? "" : " to ", strcmp(least, most) == 0 ? "" : most, facts->time[UB_TIME_HOLDS],
           tested);
    if (facts->worst) {
        ub_point_short_label(record, facts->worst, label, sizeof label);
        ub_fixed(residual, sizeof residual, 1, 100 * facts->worst->residual);
        append(text, size, "; the farthest is off by %s%s %% (%s%s%s)", facts->worst->residual < 0 ? "" : "+", residual,
               facts->worst->sweep ? facts->worst->sweep : "", facts->worst->sweep ? ": " : "", label);
    }
    append(text, size, ".");
}

static void tell_lost(const struct ub_rule_facts *facts, char *text, size_t size)
{
    for (size_t i = UB_POINT_OK + 1; i < sizeof facts->status / sizeof facts->status[0]; i++)
        if (facts->status[i] > 0)
            append(text, size, " %zu point%s %s.", facts->status[i], plural(facts->status[i]), ub_status_names[i]);
}

void ub_rule_facts_text(const struct ub_record *record, const struct ub_rule_facts *facts, char *text, size_t size)
{
    *text = 0;
    if (record->source == UB_PREDICTED)
        append(text, size, "Predicted at %zu point%s: nothing was measured, so no law was tested.", facts->points,
               plural(facts->points));
    if (record->source == UB_PUBLISHED)
        append(text, size, "%zu figure%s that others published; ubench did not measure them.", facts->points,
               plural(facts->points));
    if (record->source == UB_MEASURED) {
        tell_counters(facts, text, size);
        tell_time(record, facts, text, size);
        if (facts->estimates > 0)
            append(text, size, " %zu estimated counter%s outside %s tolerance.", facts->estimates,
                   facts->estimates == 1 ? " lies" : "s lie", facts->estimates == 1 ? "its" : "their");
    }
    tell_lost(facts, text, size);
}

void ub_device_text(const struct ub_record *record, char *text, size_t size)
{
    const char *name = record->device.name && *record->device.name ? record->device.name : record->device.slug;
    ub_text_plain(text, size, name ? name : "unnamed GPU", 60, true);
}
