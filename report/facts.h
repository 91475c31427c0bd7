/* SPDX-License-Identifier: MIT
 *
 * What a record says of one rule: how many values were compared with its law, how many
 * agree, and the verdict that follows. Pure. */
#ifndef UB_REPORT_FACTS_H
#define UB_REPORT_FACTS_H

#include "harness/contract/record.h"

/* From the worst to the best that can be said. */
enum ub_law_verdict {
    UB_LAW_CONTRADICTS, /* the record says other than its own values do */
    UB_LAW_BROKEN,
    UB_LAW_DEVIATES,
    UB_LAW_NOT_CHECKED, /* this build cannot compute it again */
    UB_LAW_HOLDS,
    UB_LAW_NOT_TESTED,
    UB_LAW_VERDICTS
};

/* A word and a mark, so that colour never stands alone. */
extern const char *const ub_law_words[UB_LAW_VERDICTS]; /* "broken", "deviates", ... */
extern const char *const ub_law_marks[UB_LAW_VERDICTS]; /* UTF-8 */

struct ub_rule_facts {
    const char *rule;             /* borrowed from the record */
    const struct ub_micro *micro; /* NULL: a rule that this build does not know */
    size_t points, status[4];
    size_t exact, equal;                    /* exact counters that were compared with the law, and that are equal */
    size_t estimates;                       /* of estimated counters, those outside their tolerance */
    size_t time[3];                         /* points by enum ub_time_verdict */
    double least_tolerance, most_tolerance; /* of the times that were tested; NaN: none */
    const struct ub_record_point *worst;    /* of those, the one that is farthest off; or NULL */
    enum ub_law_verdict verdict;
};

/* Every law and verdict of the rule computed again, as `ubench check` does. */
struct ub_rule_check {
    size_t problems, refuted;  /* all; of them those by which the card contradicts a law, not the record itself */
    size_t untestable;         /* points that this build cannot compute again */
    char first[600], why[256]; /* the first problem; why the first of those cannot be */
};
void ub_rule_check_of(const struct ub_record *record, const char *rule, struct ub_rule_check *out);
/* A verdict of a record counts only where it was found again. */
enum ub_law_verdict ub_checked_verdict(const struct ub_record *record, const struct ub_rule_facts *facts,
                                       const struct ub_rule_check *check);

/* A point without a rule counts for the rule "". */
const char *ub_rule_of(const struct ub_record_point *point);
/* NULL: this build does not know it. */
const struct ub_micro *ub_micro_of(const char *rule);

void ub_rule_facts_of(const struct ub_record *record, const char *rule, struct ub_rule_facts *out);

/* The test in one line: "2576 of 2576 exact counters equal the law; ..." */
void ub_rule_facts_text(const struct ub_record *record, const struct ub_rule_facts *facts, char *text, size_t size);

/* "stride=8 op=load": the axes that vary in the point's sweep; "its only point" where none does. */
void ub_point_short_label(const struct ub_record *record, const struct ub_record_point *point, char *text, size_t size);

/* "2026-11-29 22:01 UTC" of an RFC 3339 time; what is none is left as it is. */
void ub_date_text(const char *time, char *text, size_t size);

/* "NVIDIA H200", without what could disturb a line. */
void ub_device_text(const struct ub_record *record, char *text, size_t size);

#endif
