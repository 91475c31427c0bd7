/* SPDX-License-Identifier: MIT
 *
 * What a reader must know before a number is believed. */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "harness/engine/law.h"
#include "harness/io/text.h"
#include "harness/model/gpu.h"
#include "report/draft.h"
#include "report/html.h"

enum { TEXT_BYTES = 1200, LISTED = 200 };

/* All warnings of one kind: a line of the page, and behind its number the single ones. */
struct group {
    char *head;
    bool of_record; /* a code of a record: after what the page itself says */
    size_t count;
    char *items; /* <li> elements, from `out` */
    size_t size;
    FILE *out;
};

struct list {
    size_t count;
    struct group **groups; /* owned; streams write to their members, so they stay where they are */
    bool failed;           /* out of memory */
};

static void free_list(struct list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct group *group = list->groups[i];
        if (group->out)
            fclose(group->out);
        free(group->head);
        free(group->items);
        free(group);
    }
    free(list->groups);
}

static struct group *group_of(struct list *list, const char *head, bool of_record)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->groups[i]->of_record == of_record && strcmp(list->groups[i]->head, head) == 0)
            return list->groups[i];
    struct group **grown = realloc(list->groups, (list->count + 1) * sizeof *grown);
    list->groups = grown ? grown : list->groups;
    struct group *group = grown ? calloc(1, sizeof *group) : NULL;
    if (!group)
        return NULL;
    list->groups[list->count++] = group;
    group->of_record = of_record;
    group->head = strdup(head);
    group->out = group->head ? open_memstream(&group->items, &group->size) : NULL;
    return group->out ? group : NULL;
}

/* Adds one; `text` is no markup yet. */
static void put(struct list *list, const char *head, bool of_record, const char *text)
{
    struct group *group = list->failed ? NULL : group_of(list, head, of_record);
    list->failed = !group;
    if (group && group->count++ < LISTED)
        ub_html(group->out, "<li>%s</li>\n", text);
}

static void add(struct list *list, const char *head, const char *format, ...) UB_PRINTF(3, 4);

static void add(struct list *list, const char *head, const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put(list, head, false, text);
}

/* One line a kind. */
static void write_group(FILE *out, const struct group *group)
{
    static const char open[] = "<li>", close[] = "</li>\n";
    if (group->count == 1) { /* without its own <li> */
        ub_html(out, "<li><strong>%s</strong> ", group->head);
        fwrite(group->items + strlen(open), 1, group->size - strlen(open) - strlen(close), out);
        fputs(close, out);
        return;
    }
    ub_html(out, "<li><details><summary><strong>%s</strong> %zu times</summary><ul>\n", group->head, group->count);
    fwrite(group->items, 1, group->size, out);
    if (group->count > LISTED)
        ub_html(out, "<li>and %zu more, in the records at the end of this page</li>\n", group->count - LISTED);
    fputs("</ul></details></li>\n", out);
}

static const char *rule_of_record(const struct ub_record *record)
{
    return record->point_count ? ub_rule_of(&record->points[0]) : "no rule";
}

static const char *code_of(const struct ub_warning *warning)
{
    return warning->code ? warning->code : "warning";
}

static bool has_code(const struct ub_record *record, const char *code)
{
    for (size_t i = 0; i < record->warning_count; i++)
        if (strcmp(code_of(&record->warnings[i]), code) == 0)
            return true;
    return false;
}

/* ---- the run --------------------------------------------------------------------- */

static void warn_of_source(struct list *list, const struct ub_record *record)
{
    char name[80];
    struct ub_gpu gpu;
    ub_device_text(record, name, sizeof name);
    ub_gpu_of_record(record, &gpu);
    if (record->source == UB_PREDICTED)
        add(list, "Predicted, not measured.", "The values of %s for %s follow from the laws alone.",
            rule_of_record(record), name);
    if (record->source != UB_PUBLISHED && !gpu.verified)
        add(list, "Laws assumed.",
            "The laws were verified on compute capability 9.0; for %s they are the documented "
            "rule with assumed constants.",
            name);
}

static void warn_of_run(struct list *list, const struct ub_record *record)
{
    const char *counters = record->run.counters;
    if (record->source != UB_MEASURED)
        return;
    if (!record->run.complete)
        add(list, "Incomplete.", "The run of %s ended early; what it had is here.", rule_of_record(record));
    if (record->run.jit == 1)
        add(list, "Compiled at load time.",
            "The driver compiled the kernels of %s itself: counters that follow from "
            "the machine code are not tested.",
            rule_of_record(record));
    if (counters && strcmp(counters, "cupti") != 0)
        add(list, "No counters.", "%s: hardware counters were not read (%s). Time and law stand alone.",
            rule_of_record(record), counters);
    if (record->device.throttle_reasons && *record->device.throttle_reasons && !has_code(record, "throttled"))
        add(list, "Throttled.", "The card held its clock back at the start of %s: %s.", rule_of_record(record),
            record->device.throttle_reasons);
}

static void warn_of_lost(struct list *list, const struct ub_record *record)
{
    for (size_t i = 0; i < record->point_count; i++) {
        const struct ub_record_point *point = &record->points[i];
        size_t again = 0;
        bool told = false;
        if (point->status != UB_POINT_FAILED && point->status != UB_POINT_TIMEOUT)
            continue;
        for (size_t j = 0; j < record->point_count; j++) {
            const struct ub_record_point *other = &record->points[j];
            const bool same = other->status == point->status && ub_same_text(other->reason, point->reason) &&
                              ub_same_text(other->rule, point->rule);
            told = told || (same && j < i);
            again += same && j > i;
        }
        char label[300];
        ub_point_label(point, label, sizeof label);
        if (!told)
            add(list, point->status == UB_POINT_FAILED ? "Failed." : "Timed out.", "%s%s: %s", label,
                again ? " and others" : "", point->reason ? point->reason : "no reason is given");
    }
}

/* ---- the record against itself ------------------------------------------------------- */

struct problems {
    size_t count;
    char first[600];
};

static void note_problem(void *user, const char *text)
{
    struct problems *problems = user;
    if (problems->count++ == 0)
        snprintf(problems->first, sizeof problems->first, "%s", text);
}

/* Every law, verdict and statistic computed again, as `ubench check` does. */
static void warn_of_check(struct list *list, const struct ub_record *record)
{
    struct problems problems = {0};
    struct ub_check_counts counts;
    ub_check_record(record, &counts, note_problem, &problems);
    if (problems.count > 0)
        add(list, "The record contradicts itself.", "ubench check finds %zu problem%s in %s; the first: %s",
            problems.count, problems.count == 1 ? "" : "s", rule_of_record(record), problems.first);
    if (counts.untestable > 0)
        add(list, "Not checked.", "%zu point%s of %s cannot be computed again by this build: %s", counts.untestable,
            counts.untestable == 1 ? "" : "s", rule_of_record(record), counts.why);
}

/* ---- warnings of the record -------------------------------------------------------- */

static bool is_part_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* The length of a number with a point ("0.0312345678", "2.14043e+06") that stands by itself; 0: none. */
static size_t decimal_at(const char *text)
{
    static const char digits[] = "0123456789";
    const size_t whole = strspn(text, digits);
    if (whole == 0 || text[whole] != '.')
        return 0;
    size_t length = whole + 1 + strspn(text + whole + 1, digits);
    if (length == whole + 1)
        return 0;
    if (text[length] == 'e') {
        const size_t sign = text[length + 1] == '+' || text[length + 1] == '-';
        const size_t exponent = strspn(text + length + 1 + sign, digits);
        length += exponent ? 1 + sign + exponent : 0;
    }
    const bool ended =
        !is_part_of_word(text[length]) || (text[length] == '.' && !isdigit((unsigned char)text[length + 1]));
    return ended ? length : 0;
}

/* Decimal fractions to four digits; integers are exact and stay. */
static void round_numbers(const char *text, char *out, size_t size)
{
    size_t used = 0;
    for (const char *at = text; *at && used + 1 < size;) {
        const size_t length = at == text || !is_part_of_word(at[-1]) ? decimal_at(at) : 0;
        char number[60], token[60];
        if (length == 0 || length >= sizeof token) {
            out[used++] = *at++;
            continue;
        }
        memcpy(token, at, length);
        token[length] = 0;
        const double value = strtod(token, NULL);
        const bool large = value >= 1e3 && value < 1e15;
        if (large)
            ub_fixed(number, sizeof number, 0, value);
        else
            ub_number(number, sizeof number, 4, value);
        used += (size_t)snprintf(out + used, size - used, "%s", strlen(number) < length ? number : token);
        at += length;
    }
    out[used < size ? used : size - 1] = 0;
}

/* "coalescing, stride: stride=8 op=load: 4 of 30 samples are far from the median" */
static void add_warning(struct list *list, const struct ub_record *record, const struct ub_warning *warning)
{
    const bool has_point = warning->point >= 0 && (size_t)warning->point < record->point_count;
    const struct ub_record_point *point = has_point ? &record->points[warning->point] : NULL;
    char label[300] = "the run", rounded[TEXT_BYTES], text[2 * TEXT_BYTES];
    if (point)
        ub_point_short_label(record, point, label, sizeof label);
    round_numbers(warning->text ? warning->text : "", rounded, sizeof rounded);
    const char *sweep = point && point->sweep ? point->sweep : "";
    snprintf(text, sizeof text, "%.200s, %.200s%s%s: %s", point ? ub_rule_of(point) : rule_of_record(record), sweep,
             *sweep ? ": " : "", label, rounded);
    put(list, code_of(warning), true, text);
}

/* ---- charts ---------------------------------------------------------------------- */

static void warn_of_charts(struct list *list, const struct ub_draft *draft)
{
    size_t missing = 0;
    const struct ub_inline_chart *first = NULL;
    for (size_t i = 0; i < draft->chart_count; i++) {
        missing += draft->drawings[i].svg == NULL;
        first = !first && !draft->drawings[i].svg ? &draft->drawings[i] : first;
    }
    if (missing > 0)
        add(list, "Charts are missing.", "%zu of %zu were not drawn (%s). Every table is here all the same.", missing,
            draft->chart_count, first->why);
}

bool ub_warnings_write(FILE *out, const struct ub_draft *draft, struct ub_error *err)
{
    struct list list = {0};
    for (size_t i = 0; i < draft->records->count; i++) {
        const struct ub_record *record = &draft->records->items[i];
        warn_of_source(&list, record);
        warn_of_run(&list, record);
        warn_of_lost(&list, record);
        warn_of_check(&list, record);
        for (size_t w = 0; w < record->warning_count; w++)
            add_warning(&list, record, &record->warnings[w]);
    }
    warn_of_charts(&list, draft);
    if (list.failed) {
        free_list(&list);
        return ub_fail(err, UB_INTERNAL, "out of memory while writing a report");
    }
    fputs("<section class=\"warnings\" aria-labelledby=\"warnings\">\n<h2 id=\"warnings\">Warnings</h2>\n", out);
    fputs(list.count > 0 ? "<ul>\n" : "<p>None.</p>\n", out);
    for (int of_record = 0; of_record < 2; of_record++)
        for (size_t i = 0; i < list.count; i++)
            if (list.groups[i]->of_record == of_record) {
                fflush(list.groups[i]->out);
                write_group(out, list.groups[i]);
            }
    fputs(list.count > 0 ? "</ul>\n</section>\n" : "</section>\n", out);
    free_list(&list);
    return true;
}
