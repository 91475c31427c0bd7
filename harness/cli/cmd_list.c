/* SPDX-License-Identifier: MIT
 *
 * `ubench list`: the rules. `--json` gives a program all that the command line needs
 * to know of a rule: axes with limits and defaults, sweeps, counters, constants. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "harness/cli/options.h"
#include "harness/cli/page.h"

/* ---- JSON ------------------------------------------------------------------ */

static void json_member(const char *name, const char *text)
{
    ub_page_json(stdout, name);
    fputs(": ", stdout);
    ub_page_json(stdout, text);
}

static void json_list(const char *name, size_t count, const char *const *words)
{
    ub_page_json(stdout, name);
    fputs(": [", stdout);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", stdout);
        ub_page_json(stdout, words[i]);
    }
    fputc(']', stdout);
}

static size_t count_words(const char *const *words)
{
    size_t count = 0;
    while (words[count])
        count++;
    return count;
}

static void json_axis(const struct ub_axis *axis)
{
    fputs("        {", stdout);
    json_member("name", axis->name);
    fputs(", ", stdout);
    json_member("unit", axis->unit);
    fputs(", ", stdout);
    if (axis->kind == UB_AXIS_WORD)
        json_list("words", count_words(axis->words), axis->words);
    else
        printf("\"minimum\": %" PRId64 ", \"maximum\": %" PRId64, axis->minimum, axis->maximum);
    if (axis->kind == UB_AXIS_INTEGER && axis->zero_word) {
        fputs(", ", stdout);
        json_member("zero_word", axis->zero_word);
    }
    fputs(", ", stdout);
    json_member("default", axis->on_command ? axis->on_command : axis->initial);
    fputs(", ", stdout);
    json_member("help", axis->help);
    fputc('}', stdout);
}

static void json_sweep(const struct ub_sweep *sweep)
{
    static const struct {
        unsigned suite;
        const char *name;
    } suites[] = {{UB_SUITE_DEFAULT, "default"}, {UB_SUITE_QUICK, "quick"}, {UB_SUITE_FULL, "full"}};
    const char *names[sizeof suites / sizeof suites[0]];
    size_t count = 0;
    for (size_t i = 0; i < sizeof suites / sizeof suites[0]; i++)
        if (sweep->suites & suites[i].suite)
            names[count++] = suites[i].name;
    fputs("        {", stdout);
    json_member("name", sweep->name);
    fputs(", ", stdout);
    json_list("suites", count, names);
    fputs(", ", stdout);
    json_member("axes", sweep->axes);
    fputs(", ", stdout);
    json_member("help", sweep->help);
    fputc('}', stdout);
}

static void json_rule(const struct ub_micro *micro)
{
    fputs("    {", stdout);
    json_member("name", micro->name);
    fputs(",\n      ", stdout);
    json_member("rule", micro->rule);
    fputs(",\n      \"axes\": [", stdout);
    for (size_t i = 0; i < micro->axis_count; i++) {
        fputs(i ? ",\n" : "\n", stdout);
        json_axis(&micro->axes[i]);
    }
    fputs("],\n      \"sweeps\": [", stdout);
    for (size_t i = 0; i < micro->sweep_count; i++) {
        fputs(i ? ",\n" : "\n", stdout);
        json_sweep(&micro->sweeps[i]);
    }
    fputs("],\n      ", stdout);
    json_list("counters", micro->counter_count, micro->counters);
    fputs(",\n      ", stdout);
    json_list("needs", micro->need_count, micro->needs);
    fputs(",\n      ", stdout);
    json_list("metrics", micro->metric_count, micro->metric_keys);
    fputc('}', stdout);
}

static void print_json(void)
{
    fputs("{\n  \"rules\": [", stdout);
    for (size_t i = 0; i < ub_entry_count; i++) {
        fputs(i ? ",\n" : "\n", stdout);
        json_rule(ub_entries[i].micro);
    }
    fputs("\n  ]\n}\n", stdout);
}

/* ---- the table ------------------------------------------------------------- */

static void print_table(void)
{
    int columns = 0;
    for (size_t i = 0; i < ub_entry_count; i++)
        if ((int)strlen(ub_entries[i].micro->name) > columns)
            columns = (int)strlen(ub_entries[i].micro->name);
    for (size_t i = 0; i < ub_entry_count; i++)
        ub_page_row(stdout, columns, ub_entries[i].micro->name, ub_entries[i].micro->rule);
    fputs("\nubench describe RULE  tells all of one: its law, axes, counters and sources\n", stdout);
}

enum ub_status ub_cmd_list(struct ub_options *options, struct ub_error *err)
{
    (void)err;
    (options->json ? print_json : print_table)();
    return UB_OK;
}
