/* SPDX-License-Identifier: MIT
 *
 * `ubench describe RULE`: all that the tables say of a rule. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "harness/cli/options.h"
#include "harness/cli/page.h"
#include "harness/contract/counters.h"
#include "harness/model/gpu.h"

enum { TEXT_SIZE = 1024, MARGIN = 2 };

struct heading {
    const char *start, *end; /* bold on a terminal that takes colours */
};

static void print_heading(const struct heading *heading, const char *text)
{
    printf("\n%s%s%s\n", heading->start, text, heading->end);
}

static void append(char *text, size_t size, const char *format, ...) UB_PRINTF(3, 4);

static void append(char *text, size_t size, const char *format, ...)
{
    const size_t length = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + length, size - length, format, args);
    va_end(args);
}

static int widest(int columns, const char *text)
{
    const int length = (int)strlen(text);
    return length > columns ? length : columns;
}

/* ---- texts ----------------------------------------------------------------- */

static void print_texts(const struct ub_micro *micro, const struct heading *heading)
{
    const struct {
        const char *title, *text;
    } parts[] = {
        {"Law", micro->text.law},
        {"Where it breaks", micro->text.breaks},
        {"What follows for a kernel", micro->text.consequence},
        {"Folk claims, and what is right", micro->text.folk},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        print_heading(heading, parts[i].title);
        ub_page_text(stdout, MARGIN, parts[i].text);
    }
}

/* ---- axes, sweeps ---------------------------------------------------------- */

/* "--stride 1..1024". */
static void axis_name(const struct ub_axis *axis, char *text, size_t size)
{
    snprintf(text, size, "--%s ", axis->name);
    if (axis->kind == UB_AXIS_WORD) {
        for (size_t i = 0; axis->words[i]; i++)
            append(text, size, "%s%s", i ? "|" : "", axis->words[i]);
        return;
    }
    if (axis->zero_word)
        append(text, size, "%s|", axis->zero_word);
    append(text, size, "%" PRId64 "..%" PRId64, axis->minimum, axis->maximum);
}

static void print_axes(const struct ub_micro *micro, const struct heading *heading)
{
    enum { COLUMN_LIMIT = 24 }; /* longer names stand on a line of their own */
    char name[TEXT_SIZE];
    int columns = 0;
    if (micro->axis_count == 0)
        return;
    for (size_t i = 0; i < micro->axis_count; i++) {
        axis_name(&micro->axes[i], name, sizeof name);
        if (strlen(name) <= COLUMN_LIMIT)
            columns = widest(columns, name);
    }
    print_heading(heading, "Axes");
    for (size_t i = 0; i < micro->axis_count; i++) {
        const struct ub_axis *axis = &micro->axes[i];
        char text[TEXT_SIZE];
        axis_name(axis, name, sizeof name);
        snprintf(text, sizeof text, "%s%s%s%s; default %s", axis->help, *axis->unit ? " (" : "", axis->unit,
                 *axis->unit ? ")" : "", axis->on_command ? axis->on_command : axis->initial);
        ub_page_row(stdout, columns, name, text);
    }
}

/* "the rule itself", then "stride=1..32 op=load,store; 64 points; suites default, full". */
static void sweep_text(const struct ub_micro *micro, const struct ub_sweep *sweep, char *text, size_t size)
{
    static const struct {
        unsigned suite;
        const char *name;
    } suites[] = {{UB_SUITE_DEFAULT, "default"}, {UB_SUITE_QUICK, "quick"}, {UB_SUITE_FULL, "full"}};
    struct ub_values ranges[UB_MAX_AXES];
    const char *separator = "; suites ";
    snprintf(text, size, "%s\n%s", sweep->help, *sweep->axes ? sweep->axes : "the defaults of all axes");
    if (ub_ranges_parse(micro, sweep->axes, ranges, NULL)) {
        const uint64_t points = ub_ranges_points(micro, ranges);
        append(text, size, "; %" PRIu64 " point%s", points, points == 1 ? "" : "s");
        ub_ranges_free(ranges);
    }
    for (size_t i = 0; i < sizeof suites / sizeof suites[0]; i++)
        if (sweep->suites & suites[i].suite) {
            append(text, size, "%s%s", separator, suites[i].name);
            separator = ", ";
        }
}

static void print_sweeps(const struct ub_micro *micro, const struct heading *heading)
{
    int columns = 0;
    for (size_t i = 0; i < micro->sweep_count; i++)
        columns = widest(columns, micro->sweeps[i].name);
    print_heading(heading, "Sweeps");
    for (size_t i = 0; i < micro->sweep_count; i++) {
        char text[TEXT_SIZE];
        sweep_text(micro, &micro->sweeps[i], text, sizeof text);
        ub_page_row(stdout, columns, micro->sweeps[i].name, text);
    }
}

/* ---- counters -------------------------------------------------------------- */

struct classes {
    bool known[UB_MAX_COUNTERS];
    enum ub_counter_class of[UB_MAX_COUNTERS];
};

/* Takes the classes of the counters that the law of one point speaks of. Returns how
 * many of the rule's counters are known by then. */
static size_t learn_classes(const struct ub_micro *micro, const struct ub_law *law, struct classes *classes)
{
    size_t known = 0;
    for (size_t i = 0; i < micro->counter_count; i++) {
        for (size_t j = 0; j < law->counter_count && !classes->known[i]; j++)
            if (strcmp(law->counters[j].key, micro->counters[i]) == 0) {
                classes->known[i] = true;
                classes->of[i] = law->counters[j].class_;
            }
        known += classes->known[i];
    }
    return known;
}

/* The law of a point says the class of each counter; a point of loads says nothing of
 * stores, so points of all suites are asked until all are known. */
static void find_classes(const struct ub_entry *entry, struct classes *classes)
{
    const struct ub_gpu *gpu = ub_gpu_at(0);
    struct ub_constants constants = {0};
    struct ub_plan plan = {0};
    *classes = (struct classes){0};
    ub_gpu_constants(gpu, &constants);
    if (ub_plan_add(&plan, entry, gpu, UB_SUITE_DEFAULT | UB_SUITE_QUICK | UB_SUITE_FULL, NULL, 0, false, false, NULL))
        for (size_t i = 0; i < plan.count; i++) {
            struct ub_law law = {0};
            if (plan.points[i].skip)
                continue;
            entry->micro->law(gpu, &constants, &plan.points[i].point, &law);
            if (learn_classes(entry->micro, &law, classes) == entry->micro->counter_count)
                break;
        }
    ub_plan_free(&plan);
}

static const struct ub_counter_key *find_key(const char *name)
{
    for (size_t i = 0; i < ub_counters.key_count; i++)
        if (strcmp(ub_counters.keys[i].key, name) == 0)
            return &ub_counters.keys[i];
    return NULL;
}

static void print_counters(const struct ub_entry *entry, const struct heading *heading)
{
    const struct ub_micro *micro = entry->micro;
    struct classes classes;
    int columns = 0;
    if (micro->counter_count == 0)
        return;
    find_classes(entry, &classes);
    for (size_t i = 0; i < micro->counter_count; i++)
        columns = widest(columns, micro->counters[i]);
    print_heading(heading, "Counters (see ubench help counters)");
    for (size_t i = 0; i < micro->counter_count; i++) {
        const struct ub_counter_key *key = find_key(micro->counters[i]);
        char text[TEXT_SIZE];
        snprintf(text, sizeof text, "%s%s%s", classes.known[i] ? ub_class_names[classes.of[i]] : "no law",
                 key ? "; " : "", key ? key->meaning : "");
        ub_page_row(stdout, columns, micro->counters[i], text);
    }
}

/* ---- constants, metrics ---------------------------------------------------- */

static void print_constants(const struct ub_micro *micro, const struct heading *heading)
{
    int columns = 0;
    for (size_t i = 0; i < micro->need_count; i++)
        columns = widest(columns, micro->needs[i]);
    for (size_t i = 0; i < micro->provide_count; i++)
        columns = widest(columns, micro->provides[i].constant);
    if (micro->need_count)
        print_heading(heading, "Constants that the law needs");
    for (size_t i = 0; i < micro->need_count; i++)
        printf("%*s%s\n", MARGIN, "", micro->needs[i]);
    if (micro->provide_count)
        print_heading(heading, "Constants that this rule measures");
    for (size_t i = 0; i < micro->provide_count; i++) {
        char text[TEXT_SIZE];
        snprintf(text, sizeof text, "%s at %s", micro->provides[i].metric, micro->provides[i].axes);
        ub_page_row(stdout, columns, micro->provides[i].constant, text);
    }
}

static const char shares_above_one[] =
    "A share is of a ceiling, mostly of DRAM's. Where caches hold the data (level l2 or l1 in the record), it may be "
    "more than 100 %.";

static void print_metrics(const struct ub_micro *micro, const struct heading *heading)
{
    char text[TEXT_SIZE] = "";
    for (size_t i = 0; i < micro->metric_count; i++)
        append(text, sizeof text, "%s%s", i ? ", " : "", micro->metric_keys[i]);
    print_heading(heading, "Metrics");
    ub_page_text(stdout, MARGIN, text);
    if (strstr(text, "ceiling_share") || strstr(text, "copy_share"))
        ub_page_text(stdout, MARGIN, shares_above_one);
}

enum ub_status ub_cmd_describe(struct ub_options *options, struct ub_error *err)
{
    const struct ub_entry *entry = ub_registry_find(options->operands[0], err);
    if (!entry)
        return err->status;
    const bool bold = ub_stdout_colour(options);
    const struct heading heading = {bold ? "\033[1m" : "", bold ? "\033[0m" : ""};
    const struct ub_micro *micro = entry->micro;
    printf("%s%s%s\n", heading.start, micro->name, heading.end);
    ub_page_text(stdout, MARGIN, micro->rule);
    print_texts(micro, &heading);
    print_axes(micro, &heading);
    print_sweeps(micro, &heading);
    print_metrics(micro, &heading);
    print_counters(entry, &heading);
    print_constants(micro, &heading);
    print_heading(&heading, "Sources");
    ub_page_text(stdout, MARGIN, micro->text.sources);
    return UB_OK;
}
