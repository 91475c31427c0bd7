/* SPDX-License-Identifier: MIT
 *
 * What a reader must know before a number is believed. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "harness/engine/law.h"
#include "harness/model/gpu.h"
#include "report/draft.h"
#include "report/html.h"

enum { TEXT_BYTES = 1200, LISTED = 200 };

/* Items of the list, kept until all are known. */
struct list {
    size_t count;
    FILE *out;
};

static void add(struct list *list, const char *head, const char *format, ...) UB_PRINTF(3, 4);

static void add(struct list *list, const char *head, const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ub_html(list->out, "<li><strong>%s</strong> %s</li>\n", head, text);
    list->count++;
}

static const char *rule_of_record(const struct ub_record *record)
{
    return record->point_count ? ub_rule_of(&record->points[0]) : "no rule";
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
    if (record->device.throttle_reasons && *record->device.throttle_reasons)
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

static const char *code_of(const struct ub_warning *warning)
{
    return warning->code ? warning->code : "warning";
}

static bool is_first_of_code(const struct ub_record *record, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(code_of(&record->warnings[i]), code_of(&record->warnings[index])) == 0)
            return false;
    return true;
}

static void write_warning(FILE *out, const struct ub_record *record, const struct ub_warning *warning)
{
    const bool has_point = warning->point >= 0 && (size_t)warning->point < record->point_count;
    const struct ub_record_point *point = has_point ? &record->points[warning->point] : NULL;
    char label[300] = "the run";
    if (point)
        ub_point_short_label(record, point, label, sizeof label);
    ub_html(out, "<li>%s%s%s: %s</li>\n", point ? point->sweep : "", point ? ": " : "", label, warning->text);
}

/* All warnings of one code: one by itself, several behind their number. */
static void write_code(struct list *list, const struct ub_record *record, size_t first)
{
    const struct ub_warning *model = &record->warnings[first];
    size_t count = 0, listed = 0;
    for (size_t i = first; i < record->warning_count; i++)
        count += strcmp(code_of(&record->warnings[i]), code_of(model)) == 0;
    list->count++;
    ub_html(list->out, "<li><strong>%s</strong> (%s): ", code_of(model), rule_of_record(record));
    if (count == 1) {
        ub_html(list->out, "%s</li>\n", model->text);
        return;
    }
    ub_html(list->out, "%zu times, for instance: %s\n<details><summary>all %zu</summary><ul>\n", count, model->text,
            count);
    for (size_t i = first; i < record->warning_count && listed < LISTED; i++)
        if (strcmp(code_of(&record->warnings[i]), code_of(model)) == 0) {
            write_warning(list->out, record, &record->warnings[i]);
            listed++;
        }
    if (listed < count)
        ub_html(list->out, "<li>and %zu more, in the record at the end of this page</li>\n", count - listed);
    fputs("</ul></details></li>\n", list->out);
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
    char *text = NULL;
    size_t size = 0;
    struct list list = {.out = open_memstream(&text, &size)};
    if (!list.out)
        return ub_fail(err, UB_INTERNAL, "out of memory while writing a report");
    for (size_t i = 0; i < draft->records->count; i++) {
        const struct ub_record *record = &draft->records->items[i];
        warn_of_source(&list, record);
        warn_of_run(&list, record);
        warn_of_lost(&list, record);
        warn_of_check(&list, record);
        for (size_t w = 0; w < record->warning_count; w++)
            if (is_first_of_code(record, w))
                write_code(&list, record, w);
    }
    warn_of_charts(&list, draft);
    fclose(list.out);
    fputs("<section class=\"warnings\" aria-labelledby=\"warnings\">\n<h2 id=\"warnings\">Warnings</h2>\n", out);
    if (list.count > 0)
        fprintf(out, "<ul>\n%s</ul>\n", text);
    else
        fputs("<p>None.</p>\n", out);
    fputs("</section>\n", out);
    free(text);
    return true;
}
