/* SPDX-License-Identifier: MIT
 *
 * Figures that others published, beside what the model says of the same card and what was
 * measured here: three kinds, each in a column of its own. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "harness/engine/compare_parts.h"
#include "harness/io/table.h"
#include "report/draft.h"
#include "report/html.h"

/* The runs of this rule: where they have the same point, what was measured stands beside. */
static void note_runs(const struct ub_draft *draft, const struct ub_draft_rule *rule, struct ub_comparison *comparison)
{
    for (size_t i = 0; i < rule->entry_count && comparison->run_count < UB_MAX_COMPARED; i++) {
        const struct ub_record *record = &draft->records->items[rule->entries[i].record];
        if (record->source == UB_MEASURED)
            comparison->runs[comparison->run_count++].record = record;
    }
}

static bool find_figures(const struct ub_draft *draft, const struct ub_draft_rule *rule,
                         struct ub_comparison *comparison, struct ub_error *err)
{
    note_runs(draft, rule, comparison);
    for (size_t i = 0; i < rule->entry_count; i++) {
        const struct ub_record *record = &draft->records->items[rule->entries[i].record];
        if (record->source == UB_PUBLISHED && !ub_compare_published(record, rule->rule, comparison, err))
            return false;
    }
    return true;
}

/* "op=load bytes=16": the axes that the figure names. */
static void write_point(FILE *out, const struct ub_published_figure *figure)
{
    fputs("<td class=\"l\">", out);
    for (size_t i = 0; i < figure->point->axis_count; i++) {
        char value[UB_CELL_SIZE];
        ub_axis_cell(&figure->point->axes[i], true, value, sizeof value);
        ub_html(out, "%s%s=%s", i ? " " : "", figure->point->axes[i].name, value);
    }
    ub_html(out, ": %s</td>", figure->metric->key);
}

static void write_source(FILE *out, const struct ub_published_figure *figure)
{
    const struct ub_publication *from = &figure->point->published;
    ub_html(out, "<td class=\"l\">%s", from->source);
    if (from->conditions && *from->conditions)
        ub_html(out, "; %s", from->conditions);
    if (*figure->why)
        ub_html(out, "; no prediction: %s", figure->why);
    else if (*figure->rests_on.name) /* which may come from this very figure */
        ub_html(out, "; the model rests on %s: %s", figure->rests_on.name, figure->rests_on.origin);
    fputs("</td></tr>\n", out);
}

static void write_figure(FILE *out, const struct ub_published_figure *figure)
{
    const char *kind = figure->point->published.kind;
    char name[80], value[60], model[60], error[60] = "", measured[60];
    ub_device_text(figure->record, name, sizeof name);
    ub_value_cell(figure->metric->value, figure->metric->unit, value, sizeof value);
    ub_value_cell(figure->predicted, figure->metric->unit, model, sizeof model);
    ub_value_cell(figure->measured, figure->metric->unit, measured, sizeof measured);
    if (isfinite(figure->error))
        ub_value_cell(figure->error, "1", error, sizeof error);
    ub_html(out, "<tr><th scope=\"row\">%s</th>", name);
    write_point(out, figure);
    ub_html(out, "<td>%s</td><td class=\"l\">%s</td><td>%s</td><td>%s%s</td><td>%s</td>", value, kind ? kind : "",
            model, figure->error > 0 ? "+" : "", error, measured);
    write_source(out, figure);
}

bool ub_published_write(FILE *out, const struct ub_draft *draft, const struct ub_draft_rule *rule, struct ub_error *err)
{
    struct ub_comparison comparison = {0};
    const bool ok = find_figures(draft, rule, &comparison, err);
    if (ok && comparison.published_count > 0) {
        fputs(
            "<h3>Figures that others published</h3>\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" "
            "aria-label=\"table\"><table>\n<caption>ubench did not measure these; beside them stands what the model "
            "says of the same card, and what this page measured of it</caption>\n<thead><tr><th scope=\"col\">GPU</th>"
            "<th scope=\"col\" class=\"l\">figure</th><th scope=\"col\">published</th><th scope=\"col\" "
            "class=\"l\">kind</th><th scope=\"col\">model</th><th scope=\"col\">model is off by</th><th "
            "scope=\"col\">measured here</th><th scope=\"col\" class=\"l\">source and conditions</th></tr></thead>\n"
            "<tbody>\n",
            out);
        for (size_t i = 0; i < comparison.published_count; i++)
            write_figure(out, &comparison.published[i]);
        fputs("</tbody></table></div>\n", out);
    }
    ub_comparison_free(&comparison);
    return ok;
}
