/* SPDX-License-Identifier: MIT
 *
 * `ubench help [TOPIC]`: written from the tables of verbs, options, formats and
 * counters, so that it says what the program does. */
#include <stdio.h>
#include <string.h>

#include "harness/cli/option_table.h"
#include "harness/cli/options.h"
#include "harness/cli/page.h"
#include "harness/contract/counters.h"
#include "ub_version.h"

enum { TEXT_SIZE = 512, TOPIC_LIMIT = 256, MARGIN = 2 };

/* ---- topics ---------------------------------------------------------------- */

static void print_rows(const struct ub_named_text *rows)
{
    int columns = 0;
    for (const struct ub_named_text *row = rows; row->name; row++)
        if ((int)strlen(row->name) > columns)
            columns = (int)strlen(row->name);
    for (const struct ub_named_text *row = rows; row->name; row++)
        ub_page_row(stdout, columns, row->name, row->text);
}

static void print_ranges(void)
{
    static const struct ub_named_text rows[] = {
        {"8", "one value"},
        {"1,2,4", "a list; values and ranges may be mixed: 1..4,8"},
        {"1..32", "every value; both ends belong to it"},
        {"1..32:2", "with a step: 1 3 5 ... 31 (the upper end only where a step lands on it)"},
        {"1..1024*2", "with a factor: 1 2 4 ... 1024 (in quotes where the shell expands *)"},
        {"1..1024:x2", "the same without a character that shells expand"},
        {"32..1", "counts down"},
        {"64Ki", "Ki Mi Gi Ti are powers of 1024, k M G T of 1000"},
        {"min, max", "the limits of the axis, also as ends: 16..max"},
        {"load,store", "words, for an axis of words; all takes every one"},
        {NULL, NULL},
    };
    puts("A range says which values an axis takes: ubench run coalescing --stride 1..32\n");
    print_rows(rows);
    puts("");
    ub_page_text(stdout, 0,
                 "Values that stand twice are taken once. Several axes make the product of their values; more than "
                 "10000 points need --force. An axis given to several rules applies to those that have it. "
                 "--dry-run prints the points.");
}

static void print_exit_codes(void)
{
    static const struct ub_named_text rows[] = {
        {"0", "done (also with skipped points)"},
        {"1", "a check that was asked for failed"},
        {"2", "the command line is wrong"},
        {"3", "no usable GPU when one was asked for"},
        {"4", "--counters require, and they cannot be read"},
        {"5", "incomplete: some points failed or ran out of time; the rest is written"},
        {"6", "a kernel computed something else than it should"},
        {"65", "a file is unreadable or not ubench's"},
        {"69", "a program that is needed is missing"},
        {"70", "a mistake of ubench itself, or out of memory"},
        {"74", "an output cannot be written, or the chart of run --plot has nothing to show (its record is kept)"},
        {"130, 143", "ended by SIGINT or SIGTERM; what there was is written"},
        {NULL, NULL},
    };
    print_rows(rows);
    puts("\nWhere several apply, 6 comes before 74, and 74 before 5.");
}

static void print_environment(void)
{
    static const struct ub_named_text others[] = {
        {"NO_COLOR", "not empty: no colours, unless --color says otherwise"},
        {"CLICOLOR_FORCE", "not empty and not 0: colours also where stdout is no terminal"},
        {"TERM, COLUMNS", "kind and width of the terminal; TERM=dumb means no colours and no progress"},
        {"UBENCH_GNUPLOT", "another gnuplot than the one of PATH"},
        {"UBENCH_CUPTI", "another libcupti than the one that is found"},
        {NULL, NULL},
    };
    puts("Each option has a variable; the option wins over it. Flags take 1 or 0.\n");
    for (const struct ub_option *option = ub_option_table; option->name; option++) {
        char name[TEXT_SIZE], text[TEXT_SIZE];
        if (!ub_option_variable(option, name, sizeof name))
            continue;
        snprintf(text, sizeof text, "--%s: %s", option->name, option->help);
        ub_page_row(stdout, 18, name, text);
    }
    puts("");
    print_rows(others);
}

static void print_formats(void)
{
    puts("-f FORMAT chooses how a record is written:\n");
    print_rows(ub_format_table);
    puts("");
    ub_page_text(
        stdout, 0,
        "In the human format `run` prints the table and saves record (json) and chart under a time-stamped "
        "name, or under that of -o. In the others the output goes to stdout, or to the file of -o. What is "
        "saved can be printed in every format later: ubench show RUN.json -f FORMAT.\n"
        "Where -o names a folder (FOLDER/), each rule is a run of its own, with record and chart FOLDER/RULE; one "
        "that fails costs the others nothing, and --resume does what is missing.");
}

static void print_counters(void)
{
    static const struct ub_named_text classes[] = {
        {"structural", "follows from the source alone: must equal the integer of the law"},
        {"sass", "an integer only given the machine code that ran; not tested where code was compiled at load time"},
        {"estimate", "holds within a tolerance, for a stated reason (caches and DRAM)"},
        {NULL, NULL},
    };
    puts("Each counter has a class:\n");
    print_rows(classes);
    puts("");
    ub_page_text(stdout, 0,
                 "--counters KEY,KEY asks for others than the rule's own; a raw metric name is accepted wherever a key "
                 "is. ubench metrics shows raw names and passes for a chip. The keys:");
    puts("");
    for (size_t i = 0; i < ub_counters.key_count; i++)
        ub_page_row(stdout, 28, ub_counters.keys[i].key, ub_counters.keys[i].meaning);
}

struct topic {
    const char *name, *summary;
    void (*print)(void);
};

static const struct topic topics[] = {
    {"ranges", "how the values of an axis are written", print_ranges},
    {"counters", "classes and keys of hardware counters", print_counters},
    {"formats", "what -f takes", print_formats},
    {"exit", "exit codes", print_exit_codes},
    {"environment", "variables", print_environment},
};

enum { TOPIC_COUNT = sizeof topics / sizeof topics[0] };

/* ---- verbs ----------------------------------------------------------------- */

/* "-o, --output FILE". */
static void option_name(const struct ub_option *option, char *text, size_t size)
{
    char letter[8] = "    ";
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(text, size, "%s--%s%s%s", letter, option->name, option->argument ? " " : "",
             option->argument ? option->argument : "");
}

static void print_options(const char *verb)
{
    enum { COLUMN_LIMIT = 26 }; /* longer names stand on a line of their own */
    for (const struct ub_option *option = ub_option_table; option->name; option++) {
        char name[TEXT_SIZE];
        if (!ub_option_is_for(option, verb))
            continue;
        option_name(option, name, sizeof name);
        ub_page_row(stdout, COLUMN_LIMIT, name, option->help);
    }
}

static void print_verb(const struct ub_verb *verb)
{
    printf("ubench %s%s%s%s [OPTION]...\n", verb->name, *verb->operands ? " " : "", verb->operands,
           verb->takes_axes ? " [--AXIS RANGE]..." : "");
    ub_page_text(stdout, MARGIN, verb->summary);
    puts("");
    if (verb->takes_axes)
        ub_page_row(stdout, 26, "    --AXIS RANGE",
                    "values of an axis: --stride 1..32 (ubench describe RULE lists the axes, ubench help ranges the "
                    "forms)");
    print_options(verb->name);
}

static void print_overview(void)
{
    int columns = 0;
    char name[TEXT_SIZE];
    for (const struct ub_verb *verb = ub_verbs; verb->name; verb++)
        if (!verb->hidden && (int)(strlen(verb->name) + 1 + strlen(verb->operands)) > columns)
            columns = (int)(strlen(verb->name) + 1 + strlen(verb->operands));
    puts("ubench proves the hardware rules of a GPU: time, counter and law of each point in one row.\n"
         "\n"
         "  ubench run coalescing --stride 1..32\n");
    for (const struct ub_verb *verb = ub_verbs; verb->name; verb++) {
        if (verb->hidden)
            continue;
        snprintf(name, sizeof name, "%s %s", verb->name, verb->operands);
        ub_page_row(stdout, columns, name, verb->summary);
    }
    puts("\nubench help VERB lists its options. Other topics:\n");
    for (size_t i = 0; i < TOPIC_COUNT; i++)
        ub_page_row(stdout, columns, topics[i].name, topics[i].summary);
}

/* ---- the verb -------------------------------------------------------------- */

static bool print_topic(const char *name)
{
    for (const struct ub_verb *verb = ub_verbs; verb->name; verb++)
        if (!verb->hidden && strcmp(verb->name, name) == 0) {
            print_verb(verb);
            if (ub_registry_find(name, NULL))
                printf("\nThe rule of that name: ubench describe %s, ubench run %s\n", name, name);
            return true;
        }
    for (size_t i = 0; i < TOPIC_COUNT; i++)
        if (strcmp(topics[i].name, name) == 0) {
            topics[i].print();
            return true;
        }
    return false;
}

static enum ub_status refuse_topic(const char *name, struct ub_error *err)
{
    const char *names[TOPIC_LIMIT];
    size_t count = 0;
    for (const struct ub_verb *verb = ub_verbs; verb->name && count < TOPIC_LIMIT; verb++)
        if (!verb->hidden)
            names[count++] = verb->name;
    for (size_t i = 0; i < TOPIC_COUNT && count < TOPIC_LIMIT; i++)
        names[count++] = topics[i].name;
    for (size_t i = 0; i < ub_entry_count && count < TOPIC_LIMIT; i++)
        names[count++] = ub_entries[i].micro->name;
    const char *near = ub_suggest(name, count, names);
    ub_fail(err, UB_USAGE, "there is no help on '%.60s'%s%s%s", name, near ? "; did you mean " : "", near ? near : "",
            near ? "?" : "");
    return UB_USAGE;
}

/* Called for `help TOPIC` and, with the verb as topic, for `VERB --help`. */
enum ub_status ub_cmd_help(struct ub_options *options, struct ub_error *err)
{
    const bool is_help = !options->verb || strcmp(options->verb, "help") == 0;
    const char *topic = !is_help ? options->verb : options->operand_count ? options->operands[0] : NULL;
    if (!topic) {
        print_overview();
        return UB_OK;
    }
    if (print_topic(topic))
        return UB_OK;
    if (!ub_registry_find(topic, NULL))
        return refuse_topic(topic, err);
    options->operands[0] = topic;
    options->operand_count = 1;
    return ub_cmd_describe(options, err);
}

void ub_print_version(void)
{
    printf("ubench %s\n", UB_VERSION);
    printf("compiler  %s, %s\n", UB_C_COMPILER, UB_BUILD_TYPE);
    if (UB_NVCC[0])
        printf("kernels   nvcc %s for %s, code %s\n", UB_NVCC, UB_ARCHS, UB_CODE_HASH);
    else
        puts("kernels   none (built without nvcc: predicts, plots and checks, but does not measure)");
    printf("counters  %s\n", ub_counters.name);
}
