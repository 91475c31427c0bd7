/* SPDX-License-Identifier: MIT
 *
 * The command line: what each line means, and the answer to each wrong one. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/cli/option_table.h"
#include "harness/cli/options.h"
#include "harness/contract/counters.h"

enum { WORD_LIMIT = 32, LINE_SIZE = 512 };

/* A command line, cut at spaces; '' is an empty word. */
struct line {
    char text[LINE_SIZE];
    int argc;
    char *argv[WORD_LIMIT + 1];
};

static void make_line(struct line *line, const char *text)
{
    *line = (struct line){.argc = 0};
    snprintf(line->text, sizeof line->text, "ubench %s", text);
    char *rest = line->text;
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL && line->argc < WORD_LIMIT;)
        line->argv[line->argc++] = strcmp(word, "''") == 0 ? strchr(word, 0) : word;
}

static bool parse(struct line *line, const char *text, struct ub_options *options, struct ub_error *err)
{
    make_line(line, text);
    *err = (struct ub_error){0};
    return ub_options_parse(line->argc, line->argv, options, err);
}

static void parse_good(struct line *line, const char *text, struct ub_options *options)
{
    struct ub_error err;
    if (!parse(line, text, options, &err))
        fail_msg("%s: %s", text, err.text);
}

static void clear_environment(void)
{
    char name[64];
    for (const struct ub_option *option = ub_option_table; option->name; option++)
        if (ub_option_variable(option, name, sizeof name))
            unsetenv(name);
}

static int set_up(void **state)
{
    (void)state;
    clear_environment();
    return 0;
}

static void test_defaults(void **state)
{
    (void)state;
    struct line line;
    struct ub_options options;
    parse_good(&line, "run coalescing", &options);
    assert_string_equal(options.verb, "run");
    assert_int_equal(options.operand_count, 1);
    assert_string_equal(options.operands[0], "coalescing");
    assert_int_equal(options.axis_count, 0);
    assert_int_equal(options.format, UB_FORMAT_HUMAN);
    assert_false(options.format_given);
    assert_null(options.device);
    assert_null(options.output);
    assert_null(options.suite);
    assert_int_equal(options.rounds, 0);
    assert_int_equal(options.seed, 1);
    assert_true(options.timeout_s == 10);
    assert_true(options.time_limit_s == 900);
    assert_false(options.dry_run || options.cold || options.hot || options.quiet || options.verbose || options.help);
}

static void test_everything(void **state)
{
    (void)state;
    struct line line;
    struct ub_options options;
    parse_good(&line,
               "run coalescing null --stride 1..32 --bytes=4,8 --suite quick -d model:h200 -o out.json -f csv "
               "--counters off --plot=- --rounds 50 --data zeros --seed 18446744073709551615 --cold --timeout 500ms "
               "--time-limit 2m --force",
               &options);
    assert_int_equal(options.operand_count, 2);
    assert_string_equal(options.operands[1], "null");
    assert_int_equal(options.axis_count, 2);
    assert_string_equal(options.axes[0].name, "stride");
    assert_string_equal(options.axes[0].spec, "1..32");
    assert_string_equal(options.axes[1].name, "bytes");
    assert_string_equal(options.axes[1].spec, "4,8");
    assert_false(options.axes[0].used);
    assert_string_equal(options.suite, "quick");
    assert_string_equal(options.device, "model:h200");
    assert_string_equal(options.output, "out.json");
    assert_int_equal(options.format, UB_FORMAT_CSV);
    assert_true(options.format_given);
    assert_string_equal(options.counters, "off");
    assert_string_equal(options.plot, "-");
    assert_int_equal(options.rounds, 50);
    assert_string_equal(options.data, "zeros");
    assert_true(options.seed == UINT64_MAX);
    assert_true(options.cold && options.force && !options.hot);
    assert_true(options.timeout_s == 0.5);
    assert_true(options.time_limit_s == 120);
}

static void test_order(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "--dry-run run coalescing -q --device 0", "run --dry-run --device=0 -q coalescing",
        "-q --device 0 run coalescing --dry-run", "-qd 0 run coalescing --dry-run",
        "-qd0 --dry-run run -- coalescing",       "-q --dry-run -d0 -- run coalescing",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct line line;
        struct ub_options options;
        parse_good(&line, lines[i], &options);
        assert_string_equal(options.verb, "run");
        assert_string_equal(options.operands[0], "coalescing");
        assert_string_equal(options.device, "0");
        assert_true(options.dry_run);
        assert_true(options.quiet);
    }
}

static void test_values(void **state)
{
    (void)state;
    struct line line;
    struct ub_options options;
    parse_good(&line, "run coalescing --stride -3", &options); /* the axis will say what it thinks of it */
    assert_string_equal(options.axes[0].spec, "-3");
    parse_good(&line, "run coalescing --stride ''", &options);
    assert_string_equal(options.axes[0].spec, "");
    parse_good(&line, "run coalescing --stride=", &options);
    assert_string_equal(options.axes[0].spec, "");
    parse_good(&line, "run coalescing -o -", &options);
    assert_string_equal(options.output, "-");
    parse_good(&line, "run coalescing --output=--json", &options);
    assert_string_equal(options.output, "--json");
    parse_good(&line, "run coalescing --output=a=b", &options);
    assert_string_equal(options.output, "a=b");
    parse_good(&line, "show -", &options);
    assert_string_equal(options.operands[0], "-");
    parse_good(&line, "show -- -v", &options);
    assert_string_equal(options.operands[0], "-v");
    parse_good(&line, "show -vv x.json -v", &options); /* a flag may stand twice */
    assert_true(options.verbose);
}

static void test_seconds(void **state)
{
    (void)state;
    const struct {
        const char *text;
        double seconds;
    } rows[] = {{"1", 1}, {"2.5", 2.5}, {"10s", 10}, {"500ms", 0.5}, {"15m", 900}, {"1h", 3600}, {".5", 0.5}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct line line;
        struct ub_options options;
        char text[64];
        snprintf(text, sizeof text, "run coalescing --timeout %s", rows[i].text);
        parse_good(&line, text, &options);
        assert_true(options.timeout_s == rows[i].seconds);
    }
}

static void test_formats(void **state)
{
    (void)state;
    static const char *const names[] = {"human", "json", "csv", "md", "gbench", "openmetrics"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct line line;
        struct ub_options options;
        char text[64];
        snprintf(text, sizeof text, "show x.json -f %s", names[i]);
        parse_good(&line, text, &options);
        assert_int_equal(options.format, i);
        assert_true(options.format_given);
    }
    assert_int_equal(ub_format_of_path("a/b.json", UB_FORMAT_HUMAN), UB_FORMAT_JSON);
    assert_int_equal(ub_format_of_path("b.CSV", UB_FORMAT_HUMAN), UB_FORMAT_CSV);
    assert_int_equal(ub_format_of_path("b.md", UB_FORMAT_HUMAN), UB_FORMAT_MARKDOWN);
    assert_int_equal(ub_format_of_path("b", UB_FORMAT_HUMAN), UB_FORMAT_HUMAN);
    assert_int_equal(ub_format_of_path("b.json.gz", UB_FORMAT_GBENCH), UB_FORMAT_GBENCH);
}

/* Help and version are never refused for what stands or lacks beside them. */
static void test_help(void **state)
{
    (void)state;
    static const char *const lines[] = {"--help", "-h", "run --help", "run -h coalescing", "--help show", "list -vh"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct line line;
        struct ub_options options;
        parse_good(&line, lines[i], &options);
        assert_true(options.help);
    }
    struct line line;
    struct ub_options options;
    parse_good(&line, "--version", &options);
    assert_true(options.version);
}

static const struct {
    const char *line, *message;
} bad[] = {
    {"", "no verb given"},
    {"-q", "no verb given"},
    {"rnu coalescing", "unknown verb 'rnu'; did you mean run?"},
    {"frobnicate", "unknown verb 'frobnicate' (ubench help shows all)"},
    {"''", "unknown verb '' (ubench help shows all)"},
    {"__wroker", "unknown verb '__wroker'"}, /* hidden verbs are not offered */
    {"coalescing", "coalescing is a rule, not a verb; did you mean ubench run coalescing?"},
    {"run", "run what? write: ubench run RULE...|all"},
    {"describe", "describe what? write: ubench describe RULE"},
    {"describe coalescing null", "describe takes one argument: 'null' is too much"},
    {"show a.json b.json", "show takes one argument: 'b.json' is too much"},
    {"list coalescing", "list takes no arguments: 'coalescing' is too much"},
    {"run coalescing --strid 1..32", "run has no option --strid; did you mean --stride?"},
    {"run coalescing --strid=1..32", "run has no option --strid; did you mean --stride?"},
    {"run coalescing --verbos", "run has no option --verbos; did you mean --verbose?"},
    {"run coalescing --dev 0", "run has no option --dev; did you mean --device?"},
    {"run coalescing --frobnicate", "run has no option --frobnicate"},
    {"run coalescing --", NULL},
    {"run coalescing --=3", "run has no option --"},
    {"list --stride 1", "list has no option --stride"},
    {"list --jsn", "list has no option --jsn; did you mean --json?"},
    {"--stride 1 run coalescing", "--stride is an axis: write it after the verb"},
    {"--frobnicate run", "ubench has no option --frobnicate"},
    {"list --device 0", "list takes no --device (it is for: run doctor metrics occupancy)"},
    {"--device 0 list", "list takes no --device (it is for: run doctor metrics occupancy)"},
    {"plot x.json --stride 1..4", NULL},
    {"show x.json --stride 1..4", "show has no option --stride"},
    {"run coalescing --stride 1 --stride 2", "--stride given twice"},
    {"run coalescing --stride=1 --stride=2", "--stride given twice"},
    {"run coalescing --rounds 30 --rounds 30", "--rounds given twice"},
    {"run coalescing -o a -o b", "--output given twice"},
    {"-o a run coalescing --output b", "--output given twice"},
    {"run coalescing --stride", "--stride needs a range: --stride 1..32 (ubench help ranges)"},
    {"run coalescing --stride --bytes 4", "--stride needs a range: --stride 1..32 (ubench help ranges)"},
    {"run coalescing -o", "--output needs a value: --output FILE"},
    {"run coalescing -o -v", "--output needs a value: --output FILE"},
    {"run coalescing --rounds --cold", "--rounds needs a value: --rounds N"},
    {"run coalescing --output=", "--output: the value is empty"},
    {"run coalescing -o ''", "--output: the value is empty"},
    {"run coalescing --cold=1", "--cold takes no value"},
    {"run coalescing --rounds 0", "--rounds 0: write a whole number from 1 to 10000"},
    {"run coalescing --rounds 10001", "--rounds 10001: write a whole number from 1 to 10000"},
    {"run coalescing --rounds -1", "--rounds -1: write a whole number from 1 to 10000"},
    {"run coalescing --rounds 1e3", "--rounds 1e3: write a whole number from 1 to 10000"},
    {"run coalescing --rounds 3x", "--rounds 3x: write a whole number from 1 to 10000"},
    {"run coalescing --rounds=", "--rounds : write a whole number from 1 to 10000"},
    {"run coalescing --rounds 99999999999999999999", "--rounds 99999999999999999999: write a whole number from"},
    {"run coalescing --seed 18446744073709551616", "--seed 18446744073709551616: write a whole number from 0 to 1844"},
    {"run coalescing --seed -1", "--seed -1: write a whole number from 0 to 18446744073709551615"},
    {"run coalescing --timeout 0", "--timeout 0: write a time above 0 and up to 1e+06 s"},
    {"run coalescing --timeout 0.0ms", "--timeout 0.0ms: write a time above 0 and up to 1e+06 s"},
    {"run coalescing --timeout 99999999h", "--timeout 99999999h: write a time above 0 and up to 1e+06 s"},
    {"run coalescing --timeout -1", "--timeout -1: write a time such as 10, 2.5s, 500ms, 2m"},
    {"run coalescing --timeout inf", "--timeout inf: write a time such as"},
    {"run coalescing --timeout nan", "--timeout nan: write a time such as"},
    {"run coalescing --timeout 0x10", "--timeout 0x10: write a time such as"},
    {"run coalescing --timeout 1e3", "--timeout 1e3: write a time such as"},
    {"run coalescing --timeout 1.2.3", "--timeout 1.2.3: write a time such as"},
    {"run coalescing --timeout .", "--timeout .: write a time such as"},
    {"run coalescing --time-limit 5x", "--time-limit 5x: write a time such as"},
    {"run coalescing --suite ful", "--suite ful: write one of quick|full"},
    {"run coalescing --suite quick|full", "--suite quick|full: write one of quick|full"},
    {"run coalescing --suite ''", "--suite : write one of quick|full"},
    {"run coalescing --data ones", "--data ones: write one of random|zeros"},
    {"show x.json --color sometimes", "--color sometimes: write one of auto|always|never"},
    {"show x.json -f jsn", "--format jsn: there is no such format; did you mean json?"},
    {"show x.json -f yaml", "--format yaml: there is no such format"},
    {"run coalescing --cold --hot", "--cold and --hot exclude each other"},
    {"run coalescing -q -v", "--quiet and --verbose exclude each other"},
    {"run coalescing -vq", "--quiet and --verbose exclude each other"},
    {"run coalescing -z", "there is no option -z"},
    {"run coalescing -3", "there is no option -3"},
    {"run coalescing -q=1", "there is no option -="},
};

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct line line;
        struct ub_options options;
        struct ub_error err;
        const bool ok = parse(&line, bad[i].line, &options, &err);
        if (ok != (bad[i].message == NULL))
            fail_msg("%s: %s", bad[i].line, ok ? "accepted" : err.text);
        if (ok)
            continue;
        assert_int_equal(err.status, UB_USAGE);
        if (strncmp(err.text, bad[i].message, strlen(bad[i].message)) != 0)
            fail_msg("%s: %s\nexpected %s", bad[i].line, err.text, bad[i].message);
    }
}

static void test_too_many(void **state)
{
    (void)state;
    static char run[] = "run", rule[] = "coalescing", program[] = "ubench";
    char *argv[UB_MAX_OPERANDS + 4] = {program, run};
    struct ub_options options;
    struct ub_error err = {0};
    for (int i = 2; i < UB_MAX_OPERANDS + 3; i++)
        argv[i] = rule;
    assert_true(ub_options_parse(UB_MAX_OPERANDS + 2, argv, &options, &err));
    assert_int_equal(options.operand_count, UB_MAX_OPERANDS);
    assert_false(ub_options_parse(UB_MAX_OPERANDS + 3, argv, &options, &err));
    assert_string_equal(err.text, "more than 256 arguments");
    assert_false(ub_options_parse(0, argv, &options, &err)); /* not even a name */
}

/* Option before variable before default. */
static void test_environment(void **state)
{
    (void)state;
    struct line line;
    struct ub_options options;
    struct ub_error err;
    setenv("UBENCH_ROUNDS", "77", 1);
    setenv("UBENCH_TIME_LIMIT", "3m", 1);
    setenv("UBENCH_COLD", "1", 1);
    setenv("UBENCH_FORCE", "0", 1);
    setenv("UBENCH_DEVICE", "", 1);
    setenv("UBENCH_FORMAT", "json", 1);
    parse_good(&line, "run coalescing", &options);
    assert_int_equal(options.rounds, 77);
    assert_true(options.time_limit_s == 180);
    assert_true(options.cold);
    assert_false(options.force);
    assert_null(options.device);
    assert_int_equal(options.format, UB_FORMAT_JSON);
    assert_true(options.format_given);
    parse_good(&line, "run coalescing --rounds 5 --hot -f human", &options);
    assert_int_equal(options.rounds, 5);
    assert_int_equal(options.format, UB_FORMAT_HUMAN);
    assert_true(options.hot && !options.cold); /* an option wins over its opposite's variable */
    setenv("UBENCH_ROUNDS", "none", 1);
    parse_good(&line, "list", &options); /* not an option of list */
    parse_good(&line, "run coalescing --rounds 5", &options);
    assert_false(parse(&line, "run coalescing", &options, &err));
    assert_string_equal(err.text, "UBENCH_ROUNDS none: write a whole number from 1 to 10000");
    setenv("UBENCH_ROUNDS", "5", 1);
    setenv("UBENCH_HOT", "yes", 1);
    assert_false(parse(&line, "run coalescing", &options, &err));
    assert_string_equal(err.text, "--cold and --hot exclude each other");
    setenv("UBENCH_HOT", "perhaps", 1);
    assert_false(parse(&line, "run coalescing", &options, &err));
    assert_string_equal(err.text, "UBENCH_HOT=perhaps: write 1 or 0");
}

static void test_axes_checked(void **state)
{
    (void)state;
    struct line line;
    struct ub_options options;
    struct ub_error err = {0};
    parse_good(&line, "run null --stride 1..32", &options);
    assert_false(ub_options_check_axes(&options, &err));
    assert_int_equal(err.status, UB_USAGE);
    assert_ptr_equal(strstr(err.text, "null has no axis --stride"), err.text);
    options.axes[0].used = true; /* as ub_plan_add() sets it */
    assert_true(ub_options_check_axes(&options, &err));
}

static void test_keys(void **state)
{
    (void)state;
    const struct {
        const char *key, *message;
    } rows[] = {
        {"global_load_sectors", NULL},
        {"smsp__inst_executed.sum", NULL},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld", NULL},
        {"global_load_sector",
         "--counters global_load_sector: there is no such counter; did you mean global_load_sectors?; "},
        {"on", "--counters on: there is no such counter; write auto, off, require or keys of ubench metrics"},
        {"", "--counters : there is no such counter"},
        {"a__b; rm", "--counters a__b; rm: there is no such counter"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ub_error err = {0};
        assert_int_equal(ub_options_check_key(rows[i].key, &err), rows[i].message == NULL);
        if (rows[i].message && strncmp(err.text, rows[i].message, strlen(rows[i].message)) != 0)
            fail_msg("%s: %s", rows[i].key, err.text);
    }
}

/* ---- the table itself -------------------------------------------------------- */

static bool is_verb(const char *name, size_t length)
{
    for (const struct ub_verb *verb = ub_verbs; verb->name; verb++)
        if (strlen(verb->name) == length && memcmp(verb->name, name, length) == 0)
            return true;
    return false;
}

static const struct ub_option *option_named(const char *name)
{
    const struct ub_option *option = ub_option_table;
    while (option->name && strcmp(option->name, name) != 0)
        option++;
    return option->name ? option : NULL;
}

static void test_table(void **state)
{
    (void)state;
    for (const struct ub_option *option = ub_option_table; option->name; option++) {
        assert_ptr_equal(option_named(option->name), option); /* no name twice */
        for (const struct ub_option *other = ub_option_table; other < option; other++)
            assert_true(option->letter == 0 || option->letter != other->letter);
        assert_true(option->help && *option->help);
        assert_int_equal(option->argument == NULL, option->kind == UB_OPTION_FLAG);
        assert_int_equal(option->choices != NULL, option->kind == UB_OPTION_CHOICE);
        if (option->opposite)
            assert_string_equal(option_named(option->opposite)->opposite, option->name);
        for (const char *verbs = option->verbs; verbs && *verbs;) {
            const size_t length = strcspn(verbs, " ");
            if (!is_verb(verbs, length))
                fail_msg("--%s is for '%s', which is no verb", option->name, verbs);
            verbs += length + (verbs[length] ? 1 : 0);
        }
    }
}

/* An axis with the name of an option could not be swept. */
static void test_no_axis_hidden(void **state)
{
    (void)state;
    for (size_t i = 0; i < ub_entry_count; i++)
        for (size_t j = 0; j < ub_entries[i].micro->axis_count; j++) {
            const char *name = ub_entries[i].micro->axes[j].name;
            if (option_named(name))
                fail_msg("rule %s: axis %s has the name of an option", ub_entries[i].micro->name, name);
        }
}

/* No rule has the name of a verb or of a help topic's verb: `help NAME` must be clear.
 * But for one: what the verb computes, the rule measures, and `help` names both. */
static void test_no_rule_hidden(void **state)
{
    (void)state;
    for (size_t i = 0; i < ub_entry_count; i++) {
        const char *name = ub_entries[i].micro->name;
        assert_true(!is_verb(name, strlen(name)) || strcmp(name, "occupancy") == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_defaults, set_up),
        cmocka_unit_test_setup(test_everything, set_up),
        cmocka_unit_test_setup(test_order, set_up),
        cmocka_unit_test_setup(test_values, set_up),
        cmocka_unit_test_setup(test_seconds, set_up),
        cmocka_unit_test_setup(test_formats, set_up),
        cmocka_unit_test_setup(test_help, set_up),
        cmocka_unit_test_setup(test_bad, set_up),
        cmocka_unit_test_setup(test_too_many, set_up),
        cmocka_unit_test_setup(test_environment, set_up),
        cmocka_unit_test_setup(test_axes_checked, set_up),
        cmocka_unit_test_setup(test_keys, set_up),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_no_axis_hidden),
        cmocka_unit_test(test_no_rule_hidden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
