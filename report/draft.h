/* SPDX-License-Identifier: MIT
 *
 * What the parts of a report share: its rules, what is known of each, and the charts. */
#ifndef UB_REPORT_DRAFT_H
#define UB_REPORT_DRAFT_H

#include <stdint.h>
#include <stdio.h>

#include "harness/io/records.h"
#include "plots/inline.h"
#include "plots/templates.h"
#include "report/facts.h"
#include "report/palette.h"

/* One rule in one record. */
struct ub_draft_entry {
    size_t record;
    struct ub_rule_facts facts;
    struct ub_rule_check check;
    enum ub_law_verdict verdict; /* of both */
};

/* A section of the page. */
struct ub_draft_rule {
    const char *rule;             /* borrowed from a record */
    const struct ub_micro *micro; /* NULL: unknown to this build */
    size_t entry_count;
    struct ub_draft_entry *entries; /* owned */
    enum ub_law_verdict verdict;    /* the worst of what was measured */
};

/* As the first point of a chart: it shows no sweep, but when each operation of a launch ran. */
#define UB_DRAFT_TIMELINE SIZE_MAX

/* A chart of the page: of one sweep of one record, of all runs of a rule, or a timeline. */
struct ub_draft_chart {
    const struct ub_draft_rule *rule;
    const struct ub_draft_entry *entry; /* NULL: all of them */
    size_t first;                       /* point that begins the sweep, or UB_DRAFT_TIMELINE */
    size_t run_count;
    const struct ub_record **runs; /* owned */
};

struct ub_draft {
    const struct ub_records *records;
    struct ub_palette palette;
    size_t rule_count;
    struct ub_draft_rule *rules; /* known ones first, in teaching order; owned */
    size_t chart_count;
    struct ub_draft_chart *charts;    /* owned */
    struct ub_inline_chart *drawings; /* one for each chart; owned */
};

/* Finds rules and charts, and draws these. */
bool ub_draft_make(const struct ub_records *records, struct ub_draft *out, struct ub_error *err);
void ub_draft_free(struct ub_draft *draft);

/* The chart of a sweep (`first`: its first point) or, with entry NULL, of all runs; NULL: none. */
const struct ub_inline_chart *ub_draft_chart(const struct ub_draft *draft, const struct ub_draft_rule *rule,
                                             const struct ub_draft_entry *entry, size_t first);

/* The first point of the sweep that stands for the rule: the first of at least five points,
 * else that with most of them; not the ceilings. */
size_t ub_draft_main_sweep(const struct ub_record *record, const char *rule);

/* Published figures are single values of others: they make a table, no curve. */
bool ub_draft_is_run(const struct ub_draft *draft, const struct ub_draft_entry *entry);
size_t ub_draft_run_count(const struct ub_draft *draft, const struct ub_draft_rule *rule);

/* "rule-coalescing": where the section begins. */
void ub_draft_anchor(const struct ub_draft *draft, const struct ub_draft_rule *rule, char *text, size_t size);

/* Files of the program: kernels and styles, by their path; NULL: there is none. */
extern const struct ub_template ub_report_files[];
const char *ub_report_file(const char *path);

/* ---- the parts, in the order of the page ------------------------------------ */

bool ub_warnings_write(FILE *out, const struct ub_draft *draft, struct ub_error *err);
void ub_context_write(FILE *out, const struct ub_draft *draft);
bool ub_section_write(FILE *out, const struct ub_draft *draft, const struct ub_draft_rule *rule, struct ub_error *err);
/* Within a section: figures of others. Nothing where there are none. */
bool ub_published_write(FILE *out, const struct ub_draft *draft, const struct ub_draft_rule *rule,
                        struct ub_error *err);
void ub_ceilings_write(FILE *out, const struct ub_draft *draft);

#endif
