/* SPDX-License-Identifier: MIT
 *
 * The system that the records are of, their runs, and the instrument. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "harness/io/table.h"
#include "harness/io/text.h"
#include "report/draft.h"
#include "report/html.h"

enum { CELL_BYTES = 300 };

static const char scroll[] = "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"table\">";

/* What one record says in a row. */
typedef void (*write_fact)(const struct ub_record *record, char *text, size_t size);

static void number_text(double value, const char *unit, char *text, size_t size)
{
    char number[60];
    if (isfinite(value))
        snprintf(text, size, "%s%s%s", ub_number(number, sizeof number, 6, value), *unit ? " " : "", unit);
    else
        *text = 0;
}

static void copy_text(const char *from, char *text, size_t size)
{
    ub_text_plain(text, size, from ? from : "", 200, true);
}

static void flag_text(int flag, char *text, size_t size)
{
    snprintf(text, size, "%s", flag < 0 ? "" : flag ? "on" : "off");
}

#define FACT(name, body)                                                                                               \
    static void name(const struct ub_record *record, char *text, size_t size)                                          \
    {                                                                                                                  \
        const struct ub_device_info *device = &record->device;                                                         \
        const struct ub_run_info *run = &record->run;                                                                  \
        (void)device;                                                                                                  \
        (void)run;                                                                                                     \
        body;                                                                                                          \
    }

FACT(fact_source, copy_text(ub_source_names[record->source], text, size))
FACT(fact_rule, copy_text(record->point_count ? ub_rule_of(record->points) : "", text, size))
FACT(fact_points, snprintf(text, size, "%zu", record->point_count))
FACT(fact_gpu, ub_device_text(record, text, size))
FACT(fact_chip, copy_text(device->chip, text, size))
FACT(fact_cc, snprintf(text, size, device->cc_major < 0 ? "" : "%d.%d", device->cc_major, device->cc_minor))
FACT(fact_sms, snprintf(text, size, device->sms < 0 ? "" : "%d", device->sms))
FACT(fact_l2, ub_value_cell(device->l2_bytes, "B", text, size))
FACT(fact_memory, ub_value_cell(device->memory_bytes, "B", text, size))
FACT(fact_bus, number_text(device->memory_bus_bits, "bit", text, size))
FACT(fact_memory_clock, number_text(device->memory_clock_mhz, "MHz", text, size))
FACT(fact_clock_max, number_text(device->clock_max_mhz, "MHz", text, size))
FACT(fact_clock_idle, number_text(device->clock_idle_mhz, "MHz", text, size))
FACT(fact_clock_load, number_text(device->clock_load_mhz, "MHz", text, size))
FACT(fact_shared, ub_value_cell(device->shared_per_sm_bytes, "B", text, size))
FACT(fact_registers, number_text(device->registers_per_sm, "", text, size))
FACT(fact_warps, number_text(device->warps_per_sm, "", text, size))
FACT(fact_limit, number_text(device->power_limit_w, "W", text, size))
FACT(fact_power, number_text(device->power_w, "W", text, size))
FACT(fact_temperature, number_text(device->temperature_c, "\u00B0C", text, size))
FACT(fact_engines, snprintf(text, size, device->copy_engines < 0 ? "" : "%d", device->copy_engines))
FACT(fact_ecc, flag_text(device->ecc, text, size))
FACT(fact_mig, flag_text(device->mig, text, size))
FACT(fact_driver, copy_text(device->driver, text, size))
FACT(fact_runtime, copy_text(device->runtime, text, size))
FACT(fact_vbios, copy_text(device->vbios, text, size))
FACT(fact_uuid, copy_text(device->uuid, text, size))
FACT(fact_pci, copy_text(device->pci, text, size))
FACT(fact_throttle, copy_text(device->throttle_reasons, text, size))
FACT(fact_started, copy_text(run->started, text, size))
FACT(fact_finished, copy_text(run->finished, text, size))
FACT(fact_complete, copy_text(run->complete ? "yes" : "no", text, size))
FACT(fact_rounds, snprintf(text, size, run->rounds > 0 ? "%d" : "", run->rounds))
FACT(fact_seed, snprintf(text, size, "%" PRIu64, run->seed))
FACT(fact_host, copy_text(run->host_cpu, text, size))
FACT(fact_version, copy_text(run->version, text, size))
FACT(fact_nvcc, copy_text(run->nvcc, text, size))
FACT(fact_archs, copy_text(run->archs, text, size))
FACT(fact_hash, copy_text(run->code_hash, text, size))
FACT(fact_jit, copy_text(run->jit < 0 ? "" : run->jit ? "yes" : "no", text, size))
FACT(fact_counters, copy_text(run->counters, text, size))
FACT(fact_id, copy_text(run->id, text, size))

struct row {
    const char *title;
    write_fact write;
};

static const struct row system_rows[] = {
    {"GPU", fact_gpu},
    {"chip", fact_chip},
    {"compute capability", fact_cc},
    {"SMs", fact_sms},
    {"warps an SM holds", fact_warps},
    {"registers of an SM", fact_registers},
    {"shared memory of an SM", fact_shared},
    {"L2", fact_l2},
    {"memory", fact_memory},
    {"memory bus", fact_bus},
    {"memory clock", fact_memory_clock},
    {"copy engines", fact_engines},
    {"SM clock, highest", fact_clock_max},
    {"SM clock, idle", fact_clock_idle},
    {"SM clock, under load", fact_clock_load},
    {"power limit", fact_limit},
    {"power at the start", fact_power},
    {"temperature at the start", fact_temperature},
    {"clock held back by", fact_throttle},
    {"ECC", fact_ecc},
    {"MIG", fact_mig},
    {"driver", fact_driver},
    {"runtime", fact_runtime},
    {"VBIOS", fact_vbios},
    {"UUID", fact_uuid},
    {"PCI", fact_pci},
};

static const struct row run_rows[] = {
    {"rule", fact_rule},
    {"source", fact_source},
    {"points", fact_points},
    {"started", fact_started},
    {"finished", fact_finished},
    {"complete", fact_complete},
    {"rounds", fact_rounds},
    {"seed", fact_seed},
    {"processor of the host", fact_host},
    {"counters", fact_counters},
    {"ubench", fact_version},
    {"nvcc", fact_nvcc},
    {"architectures", fact_archs},
    {"hash of the kernels", fact_hash},
    {"compiled at load time", fact_jit},
    {"id", fact_id},
};

/* ---- tables: a row a fact, a column a record ------------------------------------------- */

/* Figures of others have no run and no system of ours. */
static bool is_run(const struct ub_record *record)
{
    return record->source != UB_PUBLISHED;
}

static size_t count_runs(const struct ub_records *records)
{
    size_t count = 0;
    for (size_t i = 0; i < records->count; i++)
        count += is_run(&records->items[i]);
    return count;
}

/* A fact that all records share stands once, over all columns. */
static void write_row(FILE *out, const struct ub_records *records, const struct row *row)
{
    char first[CELL_BYTES], text[CELL_BYTES];
    bool same = true, any = false, begun = false;
    for (size_t i = 0; i < records->count; i++) {
        if (!is_run(&records->items[i]))
            continue;
        row->write(&records->items[i], text, sizeof text);
        if (!begun)
            memcpy(first, text, sizeof first);
        begun = true;
        same = same && strcmp(text, first) == 0;
        any = any || *text;
    }
    if (!any)
        return;
    ub_html(out, "<tr><th scope=\"row\">%s</th>", row->title);
    if (same)
        ub_html(out, "<td class=\"l\" colspan=\"%zu\">%s</td>", count_runs(records), first);
    for (size_t i = 0; i < records->count && !same; i++) {
        if (!is_run(&records->items[i]))
            continue;
        row->write(&records->items[i], text, sizeof text);
        ub_html(out, "<td class=\"l\">%s</td>", text);
    }
    fputs("</tr>\n", out);
}

static void write_numbers(FILE *out, const struct ub_records *records)
{
    fputs("<thead><tr><th scope=\"col\" class=\"l\">record</th>", out);
    for (size_t i = 0; i < records->count; i++)
        if (is_run(&records->items[i]))
            ub_html(out, "<th scope=\"col\" class=\"l\">%zu</th>", i + 1);
    fputs("</tr></thead>\n<tbody>\n", out);
}

static void write_rows(FILE *out, const struct ub_records *records, const char *caption, const struct row *rows,
                       size_t count)
{
    fputs(scroll, out);
    ub_html(out, "<table>\n<caption>%s</caption>\n", caption);
    write_numbers(out, records);
    for (size_t i = 0; i < count; i++)
        write_row(out, records, &rows[i]);
    fputs("</tbody></table></div>\n", out);
}

/* What the instrument measured of itself. */
static void write_calibration(FILE *out, const struct ub_records *records)
{
    static const char *const names[] = {"event_tick_ns", "event_overhead_ns", "launch_floor_ns", "globaltimer_tick_ns",
                                        "memcpy_bandwidth"};
    fputs(scroll, out);
    fputs("<table>\n<caption>Calibration: what the instrument measured of itself</caption>\n", out);
    write_numbers(out, records);
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        ub_html(out, "<tr><th scope=\"row\">%s</th>", names[n]);
        for (size_t i = 0; i < records->count; i++) {
            const struct ub_constant *constant = ub_constant_find(&records->items[i].constants, names[n]);
            char text[CELL_BYTES];
            if (!is_run(&records->items[i]))
                continue;
            ub_value_cell(constant ? constant->value : NAN, constant ? constant->unit : NULL, text, sizeof text);
            ub_html(out, "<td class=\"l\">%s</td>", text);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

/* ---- the commands ------------------------------------------------------------------ */

static bool is_plain(const char *word)
{
    return *word &&
           strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,@%+-") == strlen(word);
}

/* As a shell takes it. */
static void write_word(FILE *out, const char *word)
{
    if (is_plain(word)) {
        ub_html_text(out, word);
        return;
    }
    ub_html_text(out, "'");
    for (const char *at = word; *at;) {
        const size_t length = strcspn(at, "'");
        char part[512];
        snprintf(part, sizeof part, "%.*s", (int)(length < sizeof part ? length : sizeof part - 1), at);
        ub_html_text(out, part);
        at += length;
        if (*at == '\'') {
            ub_html_text(out, "'\\''");
            at++;
        }
    }
    ub_html_text(out, "'");
}

static void write_commands(FILE *out, const struct ub_records *records)
{
    fputs("<p>Made by:</p>\n<pre>", out);
    for (size_t i = 0; i < records->count; i++) {
        const struct ub_run_info *run = &records->items[i].run;
        for (int a = 0; a < run->argc; a++) {
            fputs(a ? " " : "", out);
            write_word(out, run->argv[a] ? run->argv[a] : "");
        }
        fputs(run->argc > 0 ? "\n" : "", out);
    }
    fputs("</pre>\n", out);
}

void ub_context_write(FILE *out, const struct ub_draft *draft)
{
    const struct ub_records *records = draft->records;
    if (count_runs(records) == 0)
        return;
    fputs("<details class=\"context\"><summary>System and runs</summary>\n", out);
    write_rows(out, records, "The system", system_rows, sizeof system_rows / sizeof system_rows[0]);
    write_rows(out, records, "The runs", run_rows, sizeof run_rows / sizeof run_rows[0]);
    write_calibration(out, records);
    write_commands(out, records);
    fputs("</details>\n", out);
}
