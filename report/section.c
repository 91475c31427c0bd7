/* SPDX-License-Identifier: MIT
 *
 * A rule's section: its claim, the verdict, the chart, the law with its constants, what follows
 * for a kernel, and all that this rests on. */
#include <stdlib.h>
#include <string.h>

#include "harness/io/table.h"
#include "plots/text.h"
#include "report/draft.h"
#include "report/html.h"
#include "report/points.h"
#include "report/svg.h"

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* What a record that contradicts itself says of its laws is not repeated. */
static void write_verdict(FILE *out, const struct ub_record *record, const struct ub_draft_entry *entry)
{
    const struct ub_rule_check *check = &entry->check;
    char text[1024];
    ub_rule_facts_text(record, &entry->facts, text, sizeof text);
    ub_html(out, "<p class=\"verdict\"><strong class=\"v%zu\">%s %s</strong> ", (size_t)entry->verdict,
            ub_law_marks[entry->verdict], ub_law_words[entry->verdict]);
    if (entry->verdict == UB_LAW_CONTRADICTS)
        ub_html(
            out,
            "ubench check finds %zu problem%s, so what the record says of its law is not repeated here; the first: %s",
            check->problems, plural(check->problems), check->first);
    else if (entry->verdict == UB_LAW_NOT_CHECKED)
        ub_html(out, "%zu point%s cannot be computed again by this build (%s). The record says of itself: %s",
                check->untestable, plural(check->untestable), check->why, text);
    else
        ub_html(out, "%s", text);
    fputs("</p>\n", out);
}

/* ---- charts ---------------------------------------------------------------------- */

/* In the place of a chart that is missing: why, and what it would show. */
static void write_missing(FILE *out, const struct ub_inline_chart *chart, const char *why)
{
    ub_html(out, "<p class=\"missing\"><strong>No chart:</strong> %s</p>\n", why);
    if (*chart->words)
        ub_html(out, "<p>%s</p>\n", chart->words);
}

static void write_chart(FILE *out, const struct ub_draft *draft, const struct ub_inline_chart *chart)
{
    const struct ub_svg_frame frame = {.label = chart->words};
    struct ub_error err = {.text = ""};
    char *svg = NULL;
    size_t size = 0;
    FILE *memory = chart->svg ? open_memstream(&svg, &size) : NULL;
    const bool drawn = memory && ub_svg_write(memory, chart->svg, &draft->palette, &frame, &err);
    if (memory)
        fclose(memory);
    if (drawn) {
        fputs("<figure class=\"chart\"><div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"chart\">\n",
              out);
        fputs(svg, out);
        ub_html(out, "</div><figcaption>%s %s</figcaption></figure>\n",
                chart->timeline
                    ? "A row a stream, a bar an operation. Thin bars: the law, computed from the constants below."
                    : "Lines: the law, computed from the constants below, not drawn through the points.",
                chart->law);
    } else {
        write_missing(out, chart, chart->svg ? err.text : chart->why);
    }
    free(svg);
}

/* ---- constants and counters -------------------------------------------------------- */

static void write_constant(FILE *out, const struct ub_constant *constant)
{
    char value[60], lo[60], hi[60];
    ub_value_cell(constant->value, constant->unit, value, sizeof value);
    ub_value_cell(constant->lo, constant->unit, lo, sizeof lo);
    ub_value_cell(constant->hi, constant->unit, hi, sizeof hi);
    ub_html(out, "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s to %s</td><td class=\"l\">%s</td></tr>\n",
            constant->name, value, lo, hi, constant->origin);
}

/* The constants of a law, where each is from, and how well it is known. */
static void write_constants(FILE *out, const struct ub_record *record, const struct ub_micro *micro)
{
    size_t found = 0;
    for (size_t i = 0; i < micro->need_count; i++)
        found += ub_constant_find(&record->constants, micro->needs[i]) != NULL;
    if (found == 0)
        return;
    fputs("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"table\"><table>\n"
          "<caption>Constants of the law</caption>\n<thead><tr><th scope=\"col\">constant</th><th "
          "scope=\"col\">value</th>"
          "<th scope=\"col\">interval</th><th scope=\"col\" class=\"l\">from</th></tr></thead>\n<tbody>\n",
          out);
    for (size_t i = 0; i < micro->need_count; i++) {
        const struct ub_constant *constant = ub_constant_find(&record->constants, micro->needs[i]);
        if (constant)
            write_constant(out, constant);
    }
    fputs("</tbody></table></div>\n", out);
}

/* One counter over all points of a rule. */
struct tally {
    size_t measured, compared, equal;
    const struct ub_record_counter *sample;
};

static struct tally tally_of(const struct ub_record *record, const char *rule, const char *key)
{
    struct tally tally = {0};
    for (size_t i = 0; i < record->point_count; i++) {
        const struct ub_record_point *point = &record->points[i];
        const struct ub_record_counter *counter =
            strcmp(ub_rule_of(point), rule) == 0 ? ub_point_counter(point, key) : NULL;
        if (!counter)
            continue;
        tally.measured += counter->has_measured;
        tally.compared += counter->has_measured && counter->has_predicted;
        tally.equal += counter->has_measured && counter->has_predicted && counter->measured == counter->predicted;
        if (!tally.sample || (!tally.sample->raw && counter->raw))
            tally.sample = counter;
    }
    return tally;
}

static void write_counter(FILE *out, const char *key, const struct tally *tally)
{
    ub_html(out, "<tr><th scope=\"row\">%s</th><td class=\"l\">%s</td>", key, ub_class_names[tally->sample->class_]);
    ub_html(out, "<td>%zu</td><td>%zu</td><td>%zu</td><td class=\"l\"><code>%s</code></td></tr>\n", tally->measured,
            tally->compared, tally->equal, tally->sample->raw ? tally->sample->raw : "");
}

static void write_counters(FILE *out, const struct ub_record *record, const struct ub_micro *micro)
{
    size_t measured = 0;
    for (size_t i = 0; i < micro->counter_count; i++)
        measured += tally_of(record, micro->name, micro->counters[i]).measured;
    if (measured == 0)
        return;
    fputs("<details><summary>Counters against the law</summary>\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" "
          "aria-label=\"table\"><table>\n<caption>Points at which each counter was measured, at which the law names a "
          "value, and at which both are the same integer. Structural counters must be; estimates have a "
          "tolerance.</caption>\n<thead><tr><th scope=\"col\">counter</th><th scope=\"col\" class=\"l\">class</th>"
          "<th scope=\"col\">measured</th><th scope=\"col\">with a law</th><th scope=\"col\">equal</th>"
          "<th scope=\"col\" class=\"l\">raw metric</th></tr></thead>\n<tbody>\n",
          out);
    for (size_t i = 0; i < micro->counter_count; i++) {
        const struct tally tally = tally_of(record, micro->name, micro->counters[i]);
        if (tally.measured > 0)
            write_counter(out, micro->counters[i], &tally);
    }
    fputs("</tbody></table></div></details>\n", out);
}

/* ---- sweeps ---------------------------------------------------------------------- */

static const char *help_of(const struct ub_micro *micro, const char *sweep)
{
    for (size_t i = 0; micro && i < micro->sweep_count; i++)
        if (strcmp(micro->sweeps[i].name, sweep) == 0)
            return micro->sweeps[i].help;
    return NULL;
}

static void write_chart_of(FILE *out, const struct ub_draft *draft, const struct ub_draft_rule *rule,
                           const struct ub_draft_entry *entry, size_t first)
{
    const struct ub_inline_chart *chart = ub_draft_chart(draft, rule, entry, first);
    if (chart)
        write_chart(out, draft, chart);
}

/* The sweeps beside the main one, each folded up behind its name. */
static bool write_others(FILE *out, const struct ub_draft *draft, const struct ub_draft_rule *rule,
                         const struct ub_draft_entry *entry, size_t main, struct ub_error *err)
{
    const struct ub_record *record = &draft->records->items[entry->record];
    for (size_t i = 0; i < record->point_count; i++) {
        if (i == main || strcmp(ub_rule_of(&record->points[i]), rule->rule) != 0 || !ub_table_begins(record, i))
            continue;
        const char *sweep = record->points[i].sweep ? record->points[i].sweep : "";
        const char *help = help_of(rule->micro, sweep);
        if (strcmp(sweep, "ceiling") == 0)
            help = "points whose results are constants of laws";
        ub_html(out, "<details class=\"sweep\"><summary>Sweep <strong>%s</strong>%s%s</summary>\n", sweep,
                help ? ": " : "", help);
        write_chart_of(out, draft, rule, entry, i);
        if (!ub_points_write(out, record, i, err))
            return false;
        fputs("</details>\n", out);
    }
    return true;
}

/* ---- texts ----------------------------------------------------------------------- */

static void write_texts(FILE *out, const struct ub_micro *micro)
{
    const struct {
        const char *title, *text;
    } rows[] = {
        {"Law", micro->text.law}, {"In your kernel", micro->text.consequence}, {"Where it breaks", micro->text.breaks}};
    fputs("<dl>\n", out);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ub_html(out, "<dt>%s</dt>\n<dd>", rows[i].title);
        ub_html_paragraphs(out, rows[i].text);
        fputs("</dd>\n", out);
    }
    fputs("<dt>Said, and what is right</dt>\n<dd>", out);
    ub_html_items(out, micro->text.folk);
    fputs("</dd>\n</dl>\n", out);
}

static void write_source(FILE *out, const struct ub_template *file)
{
    ub_html(out, "<details><summary>Source of the kernel: <code>%s</code></summary>\n", file->name);
    ub_html(out,
            "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"source\"><pre class=\"source\">%s</pre>",
            file->text);
    fputs("</div></details>\n", out);
}

/* The files of the rule's folder with that ending. */
static void write_sources_of(FILE *out, const char *rule, const char *ending)
{
    char folder[200];
    snprintf(folder, sizeof folder, "micro/%s/", rule);
    for (const struct ub_template *file = ub_report_files; file->name; file++)
        if (strncmp(file->name, folder, strlen(folder)) == 0 && ub_text_ends(file->name, ending))
            write_source(out, file);
}

static void write_sources(FILE *out, const struct ub_micro *micro)
{
    fputs("<details><summary>Sources</summary>\n", out);
    ub_html_items(out, micro->text.sources);
    fputs("</details>\n", out);
    write_sources_of(out, micro->name, ".cu");
    write_sources_of(out, micro->name, "/access.h");
}

/* ---- the section ------------------------------------------------------------------- */

/* What one run says of the rule; the first also says the rule's texts, below its chart. */
static bool write_entry(FILE *out, const struct ub_draft *draft, const struct ub_draft_rule *rule,
                        const struct ub_draft_entry *entry, bool first, struct ub_error *err)
{
    const struct ub_record *record = &draft->records->items[entry->record];
    const size_t main = ub_draft_main_sweep(record, rule->rule);
    if (ub_draft_run_count(draft, rule) > 1) {
        char origin[300];
        ub_origin_text(record, true, origin, sizeof origin);
        char date[60] = "";
        if (record->run.started && record->source == UB_MEASURED)
            ub_date_text(record->run.started, date, sizeof date);
        ub_html(out, "<h3>%s%s%s</h3>\n", origin, *date ? ", " : "", date);
    }
    write_verdict(out, record, entry);
    write_chart_of(out, draft, rule, entry, main);
    write_chart_of(out, draft, rule, entry, UB_DRAFT_TIMELINE);
    if (rule->micro && first)
        write_texts(out, rule->micro);
    if (rule->micro)
        write_constants(out, record, rule->micro);
    if (!ub_points_write(out, record, main, err))
        return false;
    if (rule->micro && record->source == UB_MEASURED)
        write_counters(out, record, rule->micro);
    return write_others(out, draft, rule, entry, main, err);
}

bool ub_section_write(FILE *out, const struct ub_draft *draft, const struct ub_draft_rule *rule, struct ub_error *err)
{
    const struct ub_inline_chart *overlay = ub_draft_chart(draft, rule, NULL, 0);
    char anchor[80];
    ub_draft_anchor(draft, rule, anchor, sizeof anchor);
    ub_html(out, "<section class=\"card\" id=\"%s\" aria-labelledby=\"%s-claim\">\n", anchor, anchor);
    ub_html(out, "<p class=\"name\">%s</p>\n<h2 id=\"%s-claim\">%s</h2>\n", rule->rule, anchor,
            rule->micro ? rule->micro->rule : "A rule that this build of ubench does not know");
    if (overlay)
        write_chart(out, draft, overlay);
    bool first = true;
    for (size_t i = 0; i < rule->entry_count; i++) {
        if (!ub_draft_is_run(draft, &rule->entries[i]))
            continue;
        if (!write_entry(out, draft, rule, &rule->entries[i], first, err))
            return false;
        first = false;
    }
    if (rule->micro && first)
        write_texts(out, rule->micro);
    if (!ub_published_write(out, draft, rule, err))
        return false;
    if (rule->micro)
        write_sources(out, rule->micro);
    fputs("</section>\n", out);
    return true;
}
