/* SPDX-License-Identifier: MIT */
#include "report/draft.h"

#include <stdlib.h>
#include <string.h>

#include "harness/io/table.h"

static bool out_of_memory(struct ub_error *err)
{
    return ub_fail(err, UB_INTERNAL, "out of memory while making a report");
}

const char *ub_report_file(const char *path)
{
    for (const struct ub_template *file = ub_report_files; file->name; file++)
        if (strcmp(file->name, path) == 0)
            return file->text;
    return NULL;
}

/* A name of a record may be anything; those of the program are words. */
void ub_draft_anchor(const struct ub_draft *draft, const struct ub_draft_rule *rule, char *text, size_t size)
{
    if (rule->micro)
        snprintf(text, size, "rule-%s", rule->micro->name);
    else
        snprintf(text, size, "rule-%zu", (size_t)(rule - draft->rules) + 1);
}

/* ---- rules ----------------------------------------------------------------------- */

static bool has_rule(const struct ub_record *record, const char *rule)
{
    for (size_t i = 0; i < record->point_count; i++)
        if (strcmp(ub_rule_of(&record->points[i]), rule) == 0)
            return true;
    return false;
}

static bool add_rule(struct ub_draft *draft, const char *name, struct ub_error *err)
{
    const struct ub_records *records = draft->records;
    for (size_t i = 0; i < draft->rule_count; i++)
        if (strcmp(draft->rules[i].rule, name) == 0)
            return true;
    struct ub_draft_rule *grown = realloc(draft->rules, (draft->rule_count + 1) * sizeof *grown);
    if (!grown)
        return out_of_memory(err);
    draft->rules = grown;
    struct ub_draft_rule *rule = &draft->rules[draft->rule_count];
    *rule = (struct ub_draft_rule){.rule = name, .micro = ub_micro_of(name), .verdict = UB_LAW_NOT_TESTED};
    rule->entries = calloc(records->count, sizeof *rule->entries);
    if (!rule->entries)
        return out_of_memory(err);
    draft->rule_count++;
    for (size_t i = 0; i < records->count; i++) {
        if (!has_rule(&records->items[i], name))
            continue;
        struct ub_draft_entry *entry = &rule->entries[rule->entry_count++];
        entry->record = i;
        ub_rule_facts_of(&records->items[i], name, &entry->facts);
        ub_rule_check_of(&records->items[i], name, &entry->check);
        entry->verdict = ub_checked_verdict(&records->items[i], &entry->facts, &entry->check);
        if (entry->verdict < rule->verdict)
            rule->verdict = entry->verdict;
    }
    return true;
}

/* Known rules in teaching order, then what else the records have. */
static bool find_rules(struct ub_draft *draft, struct ub_error *err)
{
    const struct ub_records *records = draft->records;
    for (size_t e = 0; e < ub_entry_count; e++)
        for (size_t i = 0; i < records->count; i++)
            if (has_rule(&records->items[i], ub_entries[e].micro->name) &&
                !add_rule(draft, ub_entries[e].micro->name, err))
                return false;
    for (size_t i = 0; i < records->count; i++)
        for (size_t p = 0; p < records->items[i].point_count; p++)
            if (!add_rule(draft, ub_rule_of(&records->items[i].points[p]), err))
                return false;
    return true;
}

/* ---- charts ---------------------------------------------------------------------- */

static const char *sweep_of(const struct ub_record_point *point)
{
    return point->sweep ? point->sweep : "";
}

static size_t sweep_size(const struct ub_record *record, size_t first)
{
    const struct ub_record_point *model = &record->points[first];
    size_t count = 0;
    for (size_t i = first; i < record->point_count; i++)
        count += strcmp(ub_rule_of(&record->points[i]), ub_rule_of(model)) == 0 &&
                 strcmp(sweep_of(&record->points[i]), sweep_of(model)) == 0;
    return count;
}

/* Points that measure a constant are no sweep: they have a table alone. */
static bool is_ceiling(const struct ub_record_point *point)
{
    return strcmp(sweep_of(point), "ceiling") == 0;
}

/* A rule's sweeps stand in the order of its table, the one that shows its law first. The
 * largest may be one that goes through everything; one of a few points shows no law. */
size_t ub_draft_main_sweep(const struct ub_record *record, const char *rule)
{
    enum { ENOUGH = 5 };
    size_t best = 0, most = 0;
    for (size_t i = 0; i < record->point_count && most <= ENOUGH; i++) {
        if (strcmp(ub_rule_of(&record->points[i]), rule) != 0 || !ub_table_begins(record, i))
            continue;
        const size_t size = is_ceiling(&record->points[i]) ? 1 : 1 + sweep_size(record, i);
        if (size > most) {
            most = size;
            best = i;
        }
    }
    return best;
}

static bool add_chart(struct ub_draft *draft, struct ub_draft_chart chart, struct ub_error *err)
{
    struct ub_draft_chart *grown = realloc(draft->charts, (draft->chart_count + 1) * sizeof *grown);
    if (grown)
        draft->charts = grown;
    if (grown && chart.runs)
        draft->charts[draft->chart_count++] = chart;
    else
        free(chart.runs);
    return (grown && chart.runs) || out_of_memory(err);
}

static bool add_one(struct ub_draft *draft, const struct ub_draft_rule *rule, const struct ub_draft_entry *entry,
                    size_t first, struct ub_error *err)
{
    struct ub_draft_chart chart = {
        .rule = rule, .entry = entry, .first = first, .run_count = 1, .runs = malloc(sizeof *chart.runs)};
    if (chart.runs)
        chart.runs[0] = &draft->records->items[entry->record];
    return add_chart(draft, chart, err);
}

static bool has_timeline(const struct ub_record *record, const char *rule)
{
    for (size_t i = 0; i < record->point_count; i++)
        if (record->points[i].span_count > 0 && strcmp(ub_rule_of(&record->points[i]), rule) == 0)
            return true;
    return false;
}

static bool add_sweeps(struct ub_draft *draft, const struct ub_draft_rule *rule, const struct ub_draft_entry *entry,
                       struct ub_error *err)
{
    const struct ub_record *record = &draft->records->items[entry->record];
    for (size_t i = 0; i < record->point_count; i++) {
        if (strcmp(ub_rule_of(&record->points[i]), rule->rule) != 0 || is_ceiling(&record->points[i]) ||
            !ub_table_begins(record, i))
            continue;
        if (!add_one(draft, rule, entry, i, err))
            return false;
    }
    return !has_timeline(record, rule->rule) || add_one(draft, rule, entry, UB_DRAFT_TIMELINE, err);
}

bool ub_draft_is_run(const struct ub_draft *draft, const struct ub_draft_entry *entry)
{
    return draft->records->items[entry->record].source != UB_PUBLISHED;
}

size_t ub_draft_run_count(const struct ub_draft *draft, const struct ub_draft_rule *rule)
{
    size_t count = 0;
    for (size_t i = 0; i < rule->entry_count; i++)
        count += ub_draft_is_run(draft, &rule->entries[i]);
    return count;
}

/* All runs in one chart. */
static bool add_overlay(struct ub_draft *draft, const struct ub_draft_rule *rule, struct ub_error *err)
{
    struct ub_draft_chart chart = {.rule = rule, .runs = calloc(rule->entry_count, sizeof *chart.runs)};
    for (size_t i = 0; chart.runs && i < rule->entry_count; i++)
        if (ub_draft_is_run(draft, &rule->entries[i]))
            chart.runs[chart.run_count++] = &draft->records->items[rule->entries[i].record];
    return add_chart(draft, chart, err);
}

static bool find_charts(struct ub_draft *draft, struct ub_error *err)
{
    for (size_t r = 0; r < draft->rule_count; r++) {
        const struct ub_draft_rule *rule = &draft->rules[r];
        if (!rule->micro)
            continue;
        if (ub_draft_run_count(draft, rule) > 1 && !add_overlay(draft, rule, err))
            return false;
        for (size_t e = 0; e < rule->entry_count; e++)
            if (ub_draft_is_run(draft, &rule->entries[e]) && !add_sweeps(draft, rule, &rule->entries[e], err))
                return false;
    }
    return true;
}

static bool draw_charts(struct ub_draft *draft, struct ub_error *err)
{
    draft->drawings = calloc(draft->chart_count + 1, sizeof *draft->drawings);
    if (!draft->drawings)
        return out_of_memory(err);
    for (size_t i = 0; i < draft->chart_count; i++) {
        const struct ub_draft_chart *chart = &draft->charts[i];
        struct ub_inline_chart *drawing = &draft->drawings[i];
        drawing->runs = (struct ub_runs){chart->run_count, chart->runs};
        drawing->options.rule = chart->rule->rule;
        drawing->timeline = chart->first == UB_DRAFT_TIMELINE;
        if (drawing->timeline)
            continue;
        drawing->options.sweep = chart->entry ? sweep_of(&chart->runs[0]->points[chart->first]) : NULL;
    }
    ub_inline_draw(draft->drawings, draft->chart_count);
    return true;
}

const struct ub_inline_chart *ub_draft_chart(const struct ub_draft *draft, const struct ub_draft_rule *rule,
                                             const struct ub_draft_entry *entry, size_t first)
{
    for (size_t i = 0; i < draft->chart_count; i++) {
        const struct ub_draft_chart *chart = &draft->charts[i];
        if (chart->rule == rule && chart->entry == entry && (!entry || chart->first == first))
            return &draft->drawings[i];
    }
    return NULL;
}

bool ub_draft_make(const struct ub_records *records, struct ub_draft *out, struct ub_error *err)
{
    *out = (struct ub_draft){.records = records};
    ub_palette_load(&out->palette);
    const bool ok = find_rules(out, err) && find_charts(out, err) && draw_charts(out, err);
    if (!ok)
        ub_draft_free(out);
    return ok;
}

void ub_draft_free(struct ub_draft *draft)
{
    for (size_t i = 0; i < draft->rule_count; i++)
        free(draft->rules[i].entries);
    for (size_t i = 0; i < draft->chart_count; i++) {
        free(draft->charts[i].runs);
        if (draft->drawings)
            ub_inline_free(&draft->drawings[i]);
    }
    free(draft->rules);
    free(draft->charts);
    free(draft->drawings);
    *draft = (struct ub_draft){0};
}
