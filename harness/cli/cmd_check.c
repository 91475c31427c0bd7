/* SPDX-License-Identifier: MIT
 *
 * `ubench check RUN.json...`: computes each law of a saved record again, from the
 * record's own device and constants, and says what does not agree. It proves only
 * what was measured: a file without one exact counter is told so. */
#include <stdio.h>
#include <string.h>

#include "harness/cli/options.h"
#include "harness/engine/law.h"
#include "harness/io/records.h"

enum outcome { SOUND, PROBLEMS, UNTESTABLE, UNREADABLE, OUTCOMES };

/* Text of a foreign file must not steer the terminal. */
static void print_plain(FILE *stream, const char *text)
{
    for (const char *c = text; *c; c++)
        fputc((unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c, stream);
}

static void print_problem(void *user, const char *text)
{
    (void)user;
    fputs("  ", stdout);
    print_plain(stdout, text);
    fputc('\n', stdout);
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void print_measured(const struct ub_check_counts *counts, const char *source)
{
    if (counts->counters == 0)
        printf("%s; no exact counter was measured, so this file proves no law", source);
    else
        printf("%s; %zu exact counter%s tested, %zu broken", source, counts->counters, plural(counts->counters),
               counts->broken);
    if (counts->counters > 0 && counts->not_tested > 0)
        printf(" (%zu point%s without one)", counts->not_tested, plural(counts->not_tested));
    printf("; time holds at %zu point%s, deviates at %zu", counts->holding, plural(counts->holding), counts->deviating);
    if (counts->estimates > 0)
        printf("; %zu estimate%s outside tolerance", counts->estimates, plural(counts->estimates));
}

static void print_summary(const char *path, const struct ub_record *record, const struct ub_check_counts *counts,
                          size_t problems)
{
    print_plain(stdout, path);
    printf(": %zu point%s, ", counts->points, plural(counts->points));
    if (record->source == UB_PREDICTED)
        fputs("predicted; nothing was measured, so no law is proved", stdout);
    else if (record->source == UB_PUBLISHED)
        fputs("published by others; figures prove no law (ubench compare shows how far the model is from them)",
              stdout);
    else
        print_measured(counts, ub_source_names[record->source]);
    if (counts->untestable > 0) {
        printf("; %zu untestable here (", counts->untestable);
        print_plain(stdout, counts->why);
        fputc(')', stdout);
    }
    printf("; %zu problem%s\n", problems, plural(problems));
}

/* What --counters require asks for: every exact counter of the laws, and at least one. */
static size_t require_counters(const struct ub_check_counts *counts)
{
    char text[128];
    if (counts->counters > 0 && counts->uncounted == 0)
        return 0;
    snprintf(text, sizeof text, "%zu exact counter%s tested, %zu not measured (--counters require)", counts->counters,
             plural(counts->counters), counts->uncounted);
    print_problem(NULL, text);
    return 1;
}

static enum outcome check_record(const char *name, const struct ub_record *record, bool require)
{
    struct ub_check_counts counts;
    size_t problems = ub_check_record(record, &counts, print_problem, NULL);
    problems += require ? require_counters(&counts) : 0;
    print_summary(name, record, &counts, problems);
    return problems > 0 ? PROBLEMS : counts.untestable > 0 ? UNTESTABLE : SOUND;
}

/* All records of a file: a report has several. */
static void check_file(const char *path, bool require, bool met[OUTCOMES])
{
    struct ub_records records = {0};
    struct ub_error err = {0};
    if (!ub_records_read(path, &records, &err)) {
        fprintf(stderr, "ubench: %s\n", err.text);
        met[UNREADABLE] = true;
    }
    for (size_t i = 0; i < records.count; i++) {
        char name[4200];
        snprintf(name, sizeof name, records.count > 1 ? "%s#%zu" : "%s", path, i + 1);
        met[check_record(name, &records.items[i], require)] = true;
    }
    ub_records_free(&records);
}

/* A file has the counters that it has: only whether they must be there can be asked. */
static bool read_counters(const char *text, bool *require, struct ub_error *err)
{
    static const char *const others[] = {"auto", "off", "0"};
    *require = text && strcmp(text, "require") == 0;
    bool known = !text || *require;
    for (size_t i = 0; !known && i < sizeof others / sizeof others[0]; i++)
        known = strcmp(text, others[i]) == 0;
    return known || ub_fail(err, UB_USAGE, "check --counters %.60s: write require, auto or off", text);
}

/* A problem that was found weighs more than a file that could not be read. */
enum ub_status ub_cmd_check(struct ub_options *options, struct ub_error *err)
{
    bool met[OUTCOMES] = {false};
    bool require = false;
    if (!read_counters(options->counters, &require, err))
        return UB_USAGE;
    for (size_t i = 0; i < options->operand_count; i++)
        check_file(options->operands[i], require, met);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        ub_fail(err, UB_CANNOT_WRITE, "cannot write to standard output");
        return UB_CANNOT_WRITE;
    }
    if (met[PROBLEMS])
        return UB_CHECK_FAILED;
    return met[UNREADABLE] || met[UNTESTABLE] ? UB_BAD_DATA : UB_OK;
}
