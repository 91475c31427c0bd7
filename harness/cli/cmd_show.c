/* SPDX-License-Identifier: MIT
 *
 * `ubench show RUN.json [--rule RULE] [-f FORMAT] [-o FILE]`: a saved run once more, or what
 * it has of one rule. */
#include <stdio.h>
#include <string.h>

#include "harness/cli/option_table.h"
#include "harness/cli/options.h"
#include "harness/engine/plan.h"
#include "harness/io/json.h"

static bool read_record(const char *path, struct ub_record *record, struct ub_error *err)
{
    if (strcmp(path, "-") == 0)
        return ub_json_read(stdin, "standard input", record, err);
    return ub_json_read_file(path, record, err);
}

static bool needs(const struct ub_micro *micro, const char *constant)
{
    for (size_t i = 0; i < micro->need_count; i++)
        if (strcmp(micro->needs[i], constant) == 0)
            return true;
    return false;
}

/* What other rules measured in the run is of no use here, but where this rule's law needs it. */
static void keep_constants(struct ub_constants *constants, const struct ub_micro *micro)
{
    static const char measured[] = "measured in this run: ";
    const size_t own = strlen(micro->name);
    size_t kept = 0;
    for (size_t i = 0; i < constants->count; i++) {
        const struct ub_constant *constant = &constants->items[i];
        const char *by = constant->origin + strlen(measured);
        if (strncmp(constant->origin, measured, strlen(measured)) != 0 || needs(micro, constant->name) ||
            (strncmp(by, micro->name, own) == 0 && by[own] == ' '))
            constants->items[kept++] = *constant;
    }
    constants->count = kept;
}

static bool pick_rule(struct ub_record *record, const char *rule, struct ub_error *err)
{
    if (!rule)
        return true;
    if (ub_record_keep_rule(record, rule) == 0)
        return ub_fail(err, UB_USAGE, "the record has no points of a rule %s", rule);
    const struct ub_entry *entry = ub_registry_find(rule, NULL);
    if (entry)
        keep_constants(&record->constants, entry->micro);
    return true;
}

/* What -f says, else what the ending of -o means, else the table for people. */
static enum ub_format choose_format(const struct ub_options *options)
{
    if (options->format_given || !options->output)
        return options->format;
    return ub_format_of_path(options->output, UB_FORMAT_HUMAN);
}

enum ub_status ub_cmd_show(struct ub_options *options, struct ub_error *err)
{
    struct ub_record record = {0};
    bool ok = ub_output_check_inputs(options->output, 1, options->operands, err) &&
              ub_output_check(options->output, options->force, err) &&
              read_record(options->operands[0], &record, err) && pick_rule(&record, options->rule, err);
    if (ok && options->dry_run)
        printf("would write %zu points as %s to %s\n", record.point_count, ub_format_table[choose_format(options)].name,
               options->output ? options->output : "standard output");
    else if (ok)
        ok = ub_write_record(&record, choose_format(options), options->output, options, err);
    ub_record_free(&record);
    return ok ? UB_OK : err->status;
}
