/* SPDX-License-Identifier: MIT
 *
 * What the card can do at most: measured ceilings beside the data sheet. */
#include <math.h>
#include <string.h>

#include "harness/engine/law.h"
#include "harness/io/table.h"
#include "harness/model/gpu.h"
#include "report/draft.h"
#include "report/html.h"

static const char measured[] = "measured in this run";

static bool is_ceiling(const struct ub_constant *constant)
{
    return strstr(constant->name, "ceiling") || strstr(constant->name, "bandwidth");
}

static bool is_measured(const struct ub_constant *constant)
{
    return strncmp(constant->origin, measured, strlen(measured)) == 0 || strstr(constant->origin, "in this run");
}

static bool same_card(const struct ub_record *a, const struct ub_record *b)
{
    return a->source == b->source && ub_same_text(a->device.name, b->device.name) &&
           ub_same_text(a->device.uuid, b->device.uuid);
}

/* Whether an earlier record of the card has this constant as good as here, or a later one
 * has it measured and this one has not. */
static bool stands_elsewhere(const struct ub_records *records, size_t record, const struct ub_constant *constant)
{
    for (size_t i = 0; i < records->count; i++) {
        const struct ub_constant *other = ub_constant_find(&records->items[i].constants, constant->name);
        if (i == record || !other || !same_card(&records->items[i], &records->items[record]))
            continue;
        if (is_measured(other) > is_measured(constant) || (is_measured(other) == is_measured(constant) && i < record))
            return true;
    }
    return false;
}

/* What the data sheet says of the same quantity; NaN: nothing. */
static double data_sheet(const struct ub_gpu *gpu, const struct ub_constant *constant)
{
    const bool dram = strncmp(constant->name, "dram_", 5) == 0 || strcmp(constant->name, "memcpy_bandwidth") == 0;
    return dram && gpu->dram_bandwidth_bps > 0 ? gpu->dram_bandwidth_bps : NAN;
}

static void write_share(FILE *out, double share)
{
    char text[60], width[40];
    if (!isfinite(share)) {
        fputs("<td></td>", out);
        return;
    }
    ub_value_cell(share, "1", text, sizeof text);
    snprintf(width, sizeof width, "%d", (int)lround(100 * fmin(1, fmax(0, share))));
    ub_html(out,
            "<td>%s <svg class=\"bar\" viewBox=\"0 0 100 10\" aria-hidden=\"true\">"
            "<path class=\"f_grid\" d=\"M0 0h100v10H0z\"/><path class=\"f_s1\" d=\"M0 0h%sv10H0z\"/></svg></td>",
            text, width);
}

static void write_ceiling(FILE *out, const struct ub_record *record, const struct ub_constant *constant)
{
    struct ub_gpu gpu;
    char name[80], value[60], lo[60], hi[60], most_text[60];
    ub_gpu_of_record(record, &gpu);
    ub_device_text(record, name, sizeof name);
    ub_value_cell(constant->value, constant->unit, value, sizeof value);
    ub_value_cell(constant->lo, constant->unit, lo, sizeof lo);
    ub_value_cell(constant->hi, constant->unit, hi, sizeof hi);
    const double most = data_sheet(&gpu, constant);
    ub_value_cell(most, constant->unit, most_text, sizeof most_text);
    ub_html(out, "<tr><th scope=\"row\">%s</th><td class=\"l\">%s%s</td><td>%s</td><td>%s to %s</td>", constant->name,
            name, record->source == UB_PREDICTED ? " (predicted)" : "", value, lo, hi);
    ub_html(out, "<td>%s</td>", most_text);
    write_share(out, constant->value / most);
    ub_html(out, "<td class=\"l\">%s</td></tr>\n", constant->origin);
}

void ub_ceilings_write(FILE *out, const struct ub_draft *draft)
{
    const struct ub_records *records = draft->records;
    fputs("<section class=\"card\" aria-labelledby=\"ceilings\">\n<h2 id=\"ceilings\">Ceilings</h2>\n"
          "<p>What each operation reaches at most. Shares in this report are shares of these, not of the data "
          "sheet.</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"table\"><table>\n"
          "<caption>Ceilings and their share of the data sheet</caption>\n<thead><tr><th scope=\"col\">ceiling</th>"
          "<th scope=\"col\" class=\"l\">GPU</th><th scope=\"col\">value</th><th scope=\"col\">interval</th>"
          "<th scope=\"col\">data sheet</th><th scope=\"col\">share</th><th scope=\"col\" class=\"l\">from</th></tr>"
          "</thead>\n<tbody>\n",
          out);
    for (size_t i = 0; i < records->count; i++) {
        const struct ub_constants *constants = &records->items[i].constants;
        for (size_t c = 0; c < constants->count; c++)
            if (is_ceiling(&constants->items[c]) && !stands_elsewhere(records, i, &constants->items[c]))
                write_ceiling(out, &records->items[i], &constants->items[c]);
    }
    fputs("</tbody></table></div>\n</section>\n", out);
}
