/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include <string.h>

#include "harness/io/text.h"
#include "report/draft.h"
#include "report/html.h"
#include "ub_version.h"

enum { LINE_BYTES = 600, NAMED = 3 };

/* ---- the head -------------------------------------------------------------------- */

static bool same_card(const struct ub_record *a, const struct ub_record *b)
{
    char one[80], two[80];
    ub_device_text(a, one, sizeof one);
    ub_device_text(b, two, sizeof two);
    return a->source == b->source && strcmp(one, two) == 0;
}

static bool has_runs(const struct ub_records *records)
{
    for (size_t i = 0; i < records->count; i++)
        if (records->items[i].source != UB_PUBLISHED)
            return true;
    return false;
}

/* "NVIDIA H200, NVIDIA A100 (predicted)": the cards of runs; of figures of others only where
 * there is nothing else. */
static void name_cards(const struct ub_records *records, char *text, size_t size)
{
    static const char *const kinds[] = {"", " (predicted)", " (published)"};
    size_t used = 0, cards = 0;
    *text = 0;
    for (size_t i = 0; i < records->count && used < size; i++) {
        bool again = has_runs(records) && records->items[i].source == UB_PUBLISHED;
        char name[80];
        for (size_t j = 0; j < i; j++)
            again = again || same_card(&records->items[j], &records->items[i]);
        if (again || ++cards > NAMED)
            continue;
        ub_device_text(&records->items[i], name, sizeof name);
        used += (size_t)snprintf(text + used, size - used, "%s%s%s", cards > 1 ? ", " : "", name,
                                 kinds[records->items[i].source]);
    }
    if (cards > NAMED && used < size)
        snprintf(text + used, size - used, " and %zu more", cards - NAMED);
}

static const char *ending(size_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

/* "2 of 4 laws hold, 1 deviates, 1 is not tested". A rule of which there are only figures of
 * others is not counted beside those that were run. */
static void tell_laws(const struct ub_draft *draft, char *text, size_t size)
{
    size_t counts[UB_LAW_VERDICTS] = {0}, all = 0;
    for (size_t i = 0; i < draft->rule_count; i++) {
        const bool counted = !has_runs(draft->records) || ub_draft_run_count(draft, &draft->rules[i]) > 0;
        all += counted;
        counts[draft->rules[i].verdict] += counted;
    }
    const char *laws = ending(all, "law", "laws");
    if (counts[UB_LAW_NOT_TESTED] == all) {
        snprintf(text, size, "%zu %s, none tested", all, laws);
        return;
    }
    const bool one = all == 1 || counts[UB_LAW_HOLDS] == 1;
    int used = snprintf(text, size, "%zu of %zu %s %s", counts[UB_LAW_HOLDS], all, laws, one ? "holds" : "hold");
    if (counts[UB_LAW_CONTRADICTS])
        used += snprintf(text + used, size - (size_t)used, ", %zu %s", counts[UB_LAW_CONTRADICTS],
                         ending(counts[UB_LAW_CONTRADICTS], "contradicts itself", "contradict themselves"));
    if (counts[UB_LAW_NOT_CHECKED])
        used += snprintf(text + used, size - (size_t)used, ", %zu %s not checked", counts[UB_LAW_NOT_CHECKED],
                         ending(counts[UB_LAW_NOT_CHECKED], "is", "are"));
    if (counts[UB_LAW_DEVIATES])
        used += snprintf(text + used, size - (size_t)used, ", %zu %s", counts[UB_LAW_DEVIATES],
                         ending(counts[UB_LAW_DEVIATES], "deviates", "deviate"));
    if (counts[UB_LAW_BROKEN])
        used += snprintf(text + used, size - (size_t)used, ", %zu %s broken", counts[UB_LAW_BROKEN],
                         ending(counts[UB_LAW_BROKEN], "is", "are"));
    if (counts[UB_LAW_NOT_TESTED])
        snprintf(text + used, size - (size_t)used, ", %zu %s not tested", counts[UB_LAW_NOT_TESTED],
                 ending(counts[UB_LAW_NOT_TESTED], "is", "are"));
}

static void write_variables(FILE *out, const struct ub_palette *palette, bool dark)
{
    for (size_t i = 0; i < palette->count; i++)
        fprintf(out, "--%s:#%06X;", palette->colours[i].name,
                (unsigned)(dark ? palette->colours[i].dark : palette->colours[i].light));
}

/* The colours of charts come from their own style, the rest from style.css. Paper is light. */
static void write_style(FILE *out, const struct ub_palette *palette)
{
    const char *css = ub_report_file("report/style.css");
    fputs("<style>\n:root{", out);
    write_variables(out, palette, false);
    fputs("}\n@media screen and (prefers-color-scheme:dark){:root{", out);
    write_variables(out, palette, true);
    fputs("}}\n", out);
    for (size_t i = 0; i < palette->count; i++)
        fprintf(out, ".s_%s{stroke:var(--%s)}.f_%s{fill:var(--%s)}\n", palette->colours[i].name,
                palette->colours[i].name, palette->colours[i].name, palette->colours[i].name);
    fputs(css ? css : "", out);
    fputs("</style>\n", out);
}

static void write_head(FILE *out, const struct ub_draft *draft, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
          "img-src data:\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
          "<meta name=\"color-scheme\" content=\"light dark\"/>\n",
          out);
    ub_html(out, "<meta name=\"generator\" content=\"ubench %s\"/>\n<title>%s</title>\n", UB_VERSION, title);
    write_style(out, &draft->palette);
    fputs("</head>\n<body>\n<a class=\"skip\" href=\"#rules\">Skip to the rules</a>\n", out);
}

/* One link a law, with its verdict in a word and a mark. */
static void write_links(FILE *out, const struct ub_draft *draft)
{
    fputs("<nav aria-label=\"Rules\"><ul class=\"chips\">\n", out);
    for (size_t i = 0; i < draft->rule_count; i++) {
        const struct ub_draft_rule *rule = &draft->rules[i];
        char anchor[80];
        ub_draft_anchor(draft, rule, anchor, sizeof anchor);
        const char *word = ub_draft_run_count(draft, rule) > 0 ? ub_law_words[rule->verdict] : "published figures";
        ub_html(out, "<li><a href=\"#%s\"><strong class=\"v%zu\">%s %s</strong> %s</a></li>\n", anchor,
                (size_t)rule->verdict, ub_law_marks[rule->verdict], word, rule->rule);
    }
    fputs("</ul></nav>\n", out);
}

static void write_dates(FILE *out, const char *first, const char *last)
{
    char one[60], two[60];
    ub_date_text(first, one, sizeof one);
    ub_date_text(last, two, sizeof two);
    const bool same = strcmp(one, two) == 0;
    ub_html(out, "measured %s%s%s \u00B7 ", one, same ? "" : " to ", same ? "" : two);
}

/* What the verdicts of all rules rest on: one time of hundreds makes a law "deviate". What was
 * not found again does not count. */
static void write_sums(FILE *out, const struct ub_draft *draft)
{
    size_t exact = 0, equal = 0, times = 0, within = 0;
    for (size_t i = 0; i < draft->rule_count; i++)
        for (size_t j = 0; j < draft->rules[i].entry_count; j++) {
            const struct ub_draft_entry *entry = &draft->rules[i].entries[j];
            const struct ub_rule_facts *facts = &entry->facts;
            if (entry->verdict == UB_LAW_CONTRADICTS || entry->verdict == UB_LAW_NOT_CHECKED)
                continue;
            exact += facts->exact;
            equal += facts->equal;
            within += facts->time[UB_TIME_HOLDS];
            times += facts->time[UB_TIME_HOLDS] + facts->time[UB_TIME_DEVIATES];
        }
    if (exact == 0 && times == 0)
        return;
    ub_html(out, "<p class=\"meta\">%zu of %zu exact counters equal the laws\u2019 integers, ", equal, exact);
    ub_html(out, "%zu of %zu times are within the laws\u2019 tolerance</p>\n", within, times);
}

static void write_header(FILE *out, const struct ub_draft *draft, const char *title)
{
    const struct ub_records *records = draft->records;
    const char *first = NULL, *last = NULL;
    size_t points = 0, runs = 0, published = 0;
    for (size_t i = 0; i < records->count; i++) {
        const char *started = records->items[i].run.started;
        const bool figures = records->items[i].source == UB_PUBLISHED;
        published += figures;
        runs += !figures;
        points += figures ? 0 : records->items[i].point_count;
        if (!started || records->items[i].source != UB_MEASURED)
            continue;
        first = !first || strcmp(started, first) < 0 ? started : first;
        last = !last || strcmp(started, last) > 0 ? started : last;
    }
    ub_html(out, "<header>\n<h1>%s</h1>\n<p class=\"meta\">", title);
    if (first)
        write_dates(out, first, last);
    if (runs > 0)
        ub_html(out, "%zu record%s, %zu point%s", runs, ending(runs, "", "s"), points, ending(points, "", "s"));
    if (published > 0)
        ub_html(out, "%s%zu%s of published figures", runs ? ", and " : "", published,
                runs ? "" : ending(published, " record", " records"));
    ub_html(out, " \u00B7 page by ubench %s</p>\n", UB_VERSION);
    write_sums(out, draft);
    write_links(out, draft);
    fputs("</header>\n<main>\n", out);
}

/* ---- the end --------------------------------------------------------------------- */

static bool write_records(FILE *out, const struct ub_records *records, struct ub_error *err)
{
    fputs("<section class=\"card\" aria-labelledby=\"data\">\n<h2 id=\"data\">Data</h2>\n"
          "<p>This page carries its records, all but the single samples: <code>ubench check</code>, "
          "<code>show</code>, <code>plot</code>, <code>compare</code> and <code>report</code> read it as they read a "
          "record (<code>PAGE.html#2</code> is the second one).</p>\n"
          "<p><code>ubench check PAGE.html</code> proves the records that are embedded here: counters, predictions, "
          "medians (against their rates and residuals) and verdicts. It proves neither the text that is seen above nor "
          "the statistics of spread, whose samples are left out here: for those check the records themselves.</p>\n"
          "</section>\n</main>\n",
          out);
    for (size_t i = 0; i < records->count; i++)
        if (!ub_page_record_write(out, &records->items[i], i + 1, err))
            return false;
    fputs("</body>\n</html>\n", out);
    return ub_stream_done(out, err);
}

static bool write_page(FILE *out, const struct ub_draft *draft, struct ub_error *err)
{
    char cards[LINE_BYTES / 2], laws[LINE_BYTES / 3], title[LINE_BYTES];
    const char *method = ub_report_file("report/method.html");
    name_cards(draft->records, cards, sizeof cards);
    tell_laws(draft, laws, sizeof laws);
    snprintf(title, sizeof title, "%s: %s", cards, laws);
    write_head(out, draft, title);
    write_header(out, draft, title);
    if (!ub_warnings_write(out, draft, err))
        return false;
    ub_context_write(out, draft);
    fputs("<div id=\"rules\">\n", out);
    for (size_t i = 0; i < draft->rule_count; i++)
        if (!ub_section_write(out, draft, &draft->rules[i], err))
            return false;
    fputs("</div>\n", out);
    ub_ceilings_write(out, draft);
    fputs(method ? method : "", out);
    return write_records(out, draft->records, err);
}

static void count_charts(const struct ub_draft *draft, struct ub_report_outcome *outcome)
{
    *outcome = (struct ub_report_outcome){.charts = draft->chart_count};
    for (size_t i = 0; i < draft->chart_count; i++)
        if (!draft->drawings[i].svg && outcome->missing++ == 0)
            snprintf(outcome->why, sizeof outcome->why, "%s", draft->drawings[i].why);
}

bool ub_report_write(FILE *out, const struct ub_records *records, struct ub_report_outcome *outcome,
                     struct ub_error *err)
{
    struct ub_draft draft;
    if (records->count == 0)
        return ub_fail(err, UB_USAGE, "a report needs a record");
    if (!ub_draft_make(records, &draft, err))
        return false;
    count_charts(&draft, outcome);
    const bool ok = write_page(out, &draft, err);
    ub_draft_free(&draft);
    return ok;
}
