/* SPDX-License-Identifier: MIT
 *
 * The command line. One row of a table says all about an option; the parser has no
 * branch for any single one. What is on the command line wins over the environment,
 * which wins over the default. */
#include "harness/cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "harness/cli/option_table.h"
#include "harness/contract/counters.h"

enum {
    OPTION_LIMIT = 64,    /* rows of the table, at most */
    CANDIDATE_LIMIT = 256 /* names among which a misspelt one is looked for */
};

static const double longest_timeout_s = 1e6; /* eleven days; more is a mistake */

#define AT(member) offsetof(struct ub_options, member)
#define FLAG(name, letter, member, verbs, opposite, help)                                                              \
    {                                                                                                                  \
        name, letter, UB_OPTION_FLAG, AT(member), NULL, NULL, 0, 0, verbs, opposite, help                              \
    }
#define TEXT(name, letter, member, argument, verbs, help)                                                              \
    {                                                                                                                  \
        name, letter, UB_OPTION_TEXT, AT(member), argument, NULL, 0, 0, verbs, NULL, help                              \
    }
#define CHOICE(name, member, choices, verbs, help)                                                                     \
    {                                                                                                                  \
        name, 0, UB_OPTION_CHOICE, AT(member), choices, choices, 0, 0, verbs, NULL, help                               \
    }

const struct ub_option ub_option_table[] = {
    CHOICE("suite", suite, "quick|full", "run",
           "the sweeps of a suite instead of the default ones (where no --AXIS is given)"),
    TEXT("device", 'd', device, "DEVICE", "run doctor metrics occupancy",
         "0, a UUID, all, model:h200 (predict for a card of the table) or model:FILE (for a card of one's own)"),
    TEXT("output", 'o', output, "FILE", "run show plot report compare",
         "where to write; - is standard output; run: FOLDER/ for a record and a chart of each rule"),
    {"format", 'f', UB_OPTION_FORMAT, AT(format), "FORMAT", NULL, 0, 0, "run show metrics compare", NULL,
     "human, json, csv, md, gbench or openmetrics (ubench help formats); compare: human, json or md"},
    TEXT("counters", 0, counters, "auto|off|require|KEY,...", "run check",
         "hardware counters: those of the rule where they can be read (auto), none, or those keys; require: an error "
         "without them (check: a problem, exit 1)"),
    TEXT("plot", 0, plot, "FILE", "run occupancy compare",
         "chart to FILE (svg, png, pdf), or - for one in the terminal"),
    {"rounds", 0, UB_OPTION_COUNT, AT(rounds), "N", NULL, 1, 10000, "run", NULL,
     "samples of each point, 1 to 10000; default 30, of a suite 10, and more where they spread"},
    CHOICE("data", data, "random|zeros", "run", "what the inputs hold; zeros need less power and may run faster"),
    {"seed", 0, UB_OPTION_SEED, AT(seed), "N", NULL, 0, 0, "run compare", NULL,
     "of the inputs and the order of the rounds (compare: of the bootstrap); default 1"},
    FLAG("cold", 0, cold, "run", "hot", "empty the caches before each launch"),
    FLAG("hot", 0, hot, "run", "cold", "launch after launch on the same data"),
    {"timeout", 0, UB_OPTION_SECONDS, AT(timeout_s), "TIME", NULL, 0, 0, "run", NULL,
     "of one point: 10, 500ms, 2m; default 10 s"},
    {"time-limit", 0, UB_OPTION_SECONDS, AT(time_limit_s), "TIME", NULL, 0, 0, "run", NULL,
     "of the whole run; default 15m"},
    FLAG("profile", 0, profile, "run", NULL,
         "launch each point once and nothing else: for use under ncu, nsys or compute-sanitizer"),
    FLAG("resume", 0, resume, "run", NULL,
         "measure only what the record of -o FILE lacks: a run cut off, points that failed or timed out"),
    FLAG("force", 0, force, "run show plot report occupancy compare", NULL,
         "overwrite files; allow more than 10000 points"),
    FLAG("redact", 0, redact, "run show report", NULL, "leave UUID, PCI address and paths out of the record"),
    TEXT("term", 0, term, "svg|png|pdf|dumb", "run plot occupancy compare",
         "kind of picture; default: by the ending of FILE"),
    TEXT("x", 0, x, "AXIS", "plot", "axis of the chart"),
    TEXT("y", 0, y, "METRIC", "plot", "metric or counter that is drawn"),
    TEXT("series", 0, series, "AXIS", "plot", "axis whose values are the curves"),
    TEXT("rule", 0, rule, "RULE", "plot compare show", "which rule of the record"),
    TEXT("sweep", 0, sweep, "SWEEP", "plot", "which sweep of the record"),
    FLAG("timeline", 0, timeline, "plot", NULL,
         "operations of one launch, a row a stream, instead of a sweep; axes choose the point"),
    FLAG("dark", 0, dark, "run plot occupancy compare", NULL, "light lines on a dark ground"),
    FLAG("keep-script", 0, keep_script, "run plot occupancy compare", NULL,
         "leave the gnuplot script beside the picture"),
    TEXT("margin", 0, margin, "PERCENT", "compare",
         "less than that is no change, with its sign: 2%, which is the default"),
    CHOICE("fail-on", fail_on, "slower|unsure", "compare",
           "exit 1 if a point is slower (and not by the clock alone), or unsure: slower or not to be told"),
    FLAG("explain", 0, explain, "compare", NULL,
         "what each verdict rests on: cycles, Hodges-Lehmann shift, Mann-Whitney p, false discovery rate"),
    TEXT("chip", 0, chip, "CHIP", "metrics", "raw names on this chip, for instance GH100"),
    TEXT("regs", 0, regs, "RANGE", "occupancy", "registers of a thread, as ptxas -v reports them; default 32"),
    TEXT("threads", 0, threads, "RANGE", "occupancy", "threads of a block; default 256"),
    TEXT("smem", 0, smem, "RANGE", "occupancy", "shared memory of a block, static and dynamic: 16Ki; default 0"),
    TEXT("want", 0, want, "BLOCKS", "occupancy", "what so many blocks an SM would need; default: one more than fit"),
    TEXT("barriers", 0, barriers, "N", "occupancy", "barriers of a block; default 1, which __syncthreads() is"),
    TEXT("cc", 0, cc, "CC", "occupancy", "a compute capability instead of a card: 6.1"),
    FLAG("json", 0, json, "list metrics occupancy", NULL, "as JSON"),
    CHOICE("color", color, "auto|always|never", "run describe show compare help",
           "default: on a terminal, unless NO_COLOR is set"),
    FLAG("quiet", 'q', quiet, "run plot report compare", "verbose", "say nothing but results and errors"),
    FLAG("verbose", 'v', verbose, "run show compare", "quiet", "every counter, every term of a law, every step"),
    FLAG("dry-run", 0, dry_run, NULL, NULL, "say what would be done, and do nothing"),
    FLAG("help", 'h', help, NULL, NULL, "help on the verb"),
    FLAG("version", 0, version, NULL, NULL, "version and facts of the build"),
    {NULL, 0, UB_OPTION_FLAG, 0, NULL, NULL, 0, 0, NULL, NULL, NULL},
};

const struct ub_named_text ub_format_table[] = {
    [UB_FORMAT_HUMAN] = {"human", "a table for people, with verdicts; the default"},
    [UB_FORMAT_JSON] = {"json", "the record, schema 1: complete, read back by show, plot and check"},
    [UB_FORMAT_CSV] = {"csv", "RFC 4180, long form: one quantity a row"},
    [UB_FORMAT_MARKDOWN] = {"md", "a table for a pull request"},
    [UB_FORMAT_GBENCH] = {"gbench", "Google Benchmark's JSON, for its tools"},
    [UB_FORMAT_OPENMETRICS] = {"openmetrics", "OpenMetrics text, for Prometheus and the like"},
    {NULL, NULL},
};

/* ---- tables ---------------------------------------------------------------- */

bool ub_option_is_for(const struct ub_option *option, const char *verb)
{
    if (!option->verbs)
        return true;
    const size_t length = strlen(verb);
    for (const char *at = option->verbs; (at = strstr(at, verb)) != NULL; at += length)
        if ((at == option->verbs || at[-1] == ' ') && (at[length] == 0 || at[length] == ' '))
            return true;
    return false;
}

bool ub_option_variable(const struct ub_option *option, char *text, size_t size)
{
    if (strcmp(option->name, "help") == 0 || strcmp(option->name, "version") == 0)
        return false;
    snprintf(text, size, "UBENCH_%s", option->name);
    for (char *c = text; *c; c++)
        *c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
    return true;
}

static const struct ub_option *find_long(const char *name, size_t length)
{
    for (const struct ub_option *option = ub_option_table; option->name; option++)
        if (strlen(option->name) == length && memcmp(option->name, name, length) == 0)
            return option;
    return NULL;
}

static const struct ub_option *find_short(char letter)
{
    for (const struct ub_option *option = ub_option_table; option->name; option++)
        if (option->letter == letter)
            return option;
    return NULL;
}

static const struct ub_verb *find_verb(const char *name)
{
    for (const struct ub_verb *verb = ub_verbs; verb->name; verb++)
        if (strcmp(verb->name, name) == 0)
            return verb;
    return NULL;
}

/* ---- candidates for suggestions -------------------------------------------- */

struct candidates {
    size_t count;
    const char *names[CANDIDATE_LIMIT];
};

static void add_candidate(struct candidates *candidates, const char *name)
{
    if (candidates->count < CANDIDATE_LIMIT)
        candidates->names[candidates->count++] = name;
}

/* The options of a verb; NULL: all. */
static void add_options(struct candidates *candidates, const char *verb)
{
    for (const struct ub_option *option = ub_option_table; option->name; option++)
        if (!verb || ub_option_is_for(option, verb))
            add_candidate(candidates, option->name);
}

static void add_axes(struct candidates *candidates, const struct ub_micro *micro)
{
    for (size_t i = 0; i < micro->axis_count; i++)
        add_candidate(candidates, micro->axes[i].name);
}

/* "; did you mean --stride?", or nothing. Returns text. */
static const char *hint(const struct candidates *candidates, const char *name, char *text, size_t size)
{
    const char *near = ub_suggest(name, candidates->count, candidates->names);
    text[0] = 0;
    if (near)
        snprintf(text, size, "; did you mean --%s?", near);
    return text;
}

/* ---- values ---------------------------------------------------------------- */

/* In what follows `place` is where the value stands, for messages: "--rounds" or
 * "UBENCH_ROUNDS". */

static bool read_choice(const struct ub_option *option, const char *place, const char *value, const char **out,
                        struct ub_error *err)
{
    const size_t length = strlen(value);
    for (const char *at = option->choices; length; at += strcspn(at, "|") + 1) {
        const size_t end = strcspn(at, "|");
        if (end == length && memcmp(at, value, length) == 0) {
            *out = value;
            return true;
        }
        if (at[end] == 0)
            break;
    }
    return ub_fail(err, UB_USAGE, "%s %.60s: write one of %s", place, value, option->choices);
}

static bool read_format(const char *place, const char *value, enum ub_format *out, struct ub_error *err)
{
    const char *names[CANDIDATE_LIMIT];
    size_t count = 0;
    for (; ub_format_table[count].name; count++) {
        names[count] = ub_format_table[count].name;
        if (strcmp(names[count], value) == 0) {
            *out = (enum ub_format)count;
            return true;
        }
    }
    const char *near = ub_suggest(value, count, names);
    if (near)
        return ub_fail(err, UB_USAGE, "%s %.60s: there is no such format; did you mean %s?", place, value, near);
    return ub_fail(err, UB_USAGE, "%s %.60s: there is no such format (ubench help formats)", place, value);
}

/* Decimal digits alone, up to `maximum`. */
static bool read_unsigned(const char *value, uint64_t maximum, uint64_t *out)
{
    if (!*value || strspn(value, "0123456789") != strlen(value))
        return false;
    errno = 0;
    const unsigned long long number = strtoull(value, NULL, 10);
    *out = number;
    return errno == 0 && number <= maximum;
}

static bool read_count(const struct ub_option *option, const char *place, const char *value, int *out,
                       struct ub_error *err)
{
    uint64_t number;
    if (!read_unsigned(value, (uint64_t)option->maximum, &number) || number < (uint64_t)option->minimum)
        return ub_fail(err, UB_USAGE, "%s %.60s: write a whole number from %d to %d", place, value, option->minimum,
                       option->maximum);
    *out = (int)number;
    return true;
}

static bool read_seed(const char *place, const char *value, uint64_t *out, struct ub_error *err)
{
    if (!read_unsigned(value, UINT64_MAX, out))
        return ub_fail(err, UB_USAGE, "%s %.60s: write a whole number from 0 to %" PRIu64, place, value, UINT64_MAX);
    return true;
}

static bool read_seconds(const char *place, const char *value, double *out, struct ub_error *err)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"min", 60}, {"h", 3600}};
    const size_t digits = strspn(value, "0123456789.");
    char *end = NULL;
    const double number = digits ? strtod(value, &end) : NAN; /* strtod alone would take "inf" and "0x" */
    const bool whole = digits && end == value + digits;
    for (size_t i = 0; whole && i < sizeof units / sizeof units[0]; i++) {
        const double seconds = number * units[i].seconds;
        if (strcmp(end, units[i].name) != 0)
            continue;
        if (!(seconds > 0 && seconds <= longest_timeout_s))
            return ub_fail(err, UB_USAGE, "%s %.60s: write a time above 0 and up to %g s", place, value,
                           longest_timeout_s);
        *out = seconds;
        return true;
    }
    return ub_fail(err, UB_USAGE, "%s %.60s: write a time such as 10, 2.5s, 500ms, 2m", place, value);
}

static bool read_text(const char *place, const char *value, const char **out, struct ub_error *err)
{
    if (!*value)
        return ub_fail(err, UB_USAGE, "%s: the value is empty", place);
    *out = value;
    return true;
}

/* Puts a value into its member of struct ub_options. */
static bool store(const struct ub_option *option, const char *place, const char *value, struct ub_options *options,
                  struct ub_error *err)
{
    void *member = (char *)options + option->offset;
    switch (option->kind) {
    case UB_OPTION_FLAG:
        *(bool *)member = true;
        return true;
    case UB_OPTION_TEXT:
        return read_text(place, value, member, err);
    case UB_OPTION_CHOICE:
        return read_choice(option, place, value, member, err);
    case UB_OPTION_FORMAT:
        options->format_given = true;
        return read_format(place, value, member, err);
    case UB_OPTION_COUNT:
        return read_count(option, place, value, member, err);
    case UB_OPTION_SEED:
        return read_seed(place, value, member, err);
    case UB_OPTION_SECONDS:
        return read_seconds(place, value, member, err);
    }
    return ub_fail(err, UB_INTERNAL, "%s: unknown kind of option", place);
}

/* ---- the command line ------------------------------------------------------ */

struct parser {
    struct ub_options *options;
    const struct ub_verb *verb;
    int next;                 /* index of the next argument */
    bool given[OPTION_LIMIT]; /* by row of the table: on the command line or in the environment */
    struct ub_error *err;
};

static size_t row_of(const struct ub_option *option)
{
    return (size_t)(option - ub_option_table);
}

/* The next argument as the value of `name`, unless it looks like an option. "-" and
 * "-3" are values. */
static const char *take_value(struct parser *parser)
{
    if (parser->next >= parser->options->argc)
        return NULL;
    const char *value = parser->options->argv[parser->next];
    if (value[0] == '-' && value[1] != 0 && !isdigit((unsigned char)value[1]))
        return NULL;
    parser->next++;
    return value;
}

/* `value` NULL: not in the same argument. */
static bool take_option(struct parser *parser, const struct ub_option *option, const char *value)
{
    char name[64];
    snprintf(name, sizeof name, "--%s", option->name);
    if (option->kind == UB_OPTION_FLAG && value)
        return ub_fail(parser->err, UB_USAGE, "%s takes no value", name);
    if (parser->given[row_of(option)] && option->kind != UB_OPTION_FLAG)
        return ub_fail(parser->err, UB_USAGE, "%s given twice", name);
    if (option->kind != UB_OPTION_FLAG && !value && (value = take_value(parser)) == NULL)
        return ub_fail(parser->err, UB_USAGE, "%s needs a value: %s %s", name, name, option->argument);
    parser->given[row_of(option)] = true;
    return store(option, name, value, parser->options, parser->err);
}

static bool is_axis(const char *name)
{
    for (size_t i = 0; i < ub_entry_count; i++)
        if (ub_axis_index(ub_entries[i].micro, name) >= 0)
            return true;
    return false;
}

static bool refuse_unknown(const struct parser *parser, const char *name)
{
    struct candidates candidates = {0};
    char text[128];
    add_options(&candidates, parser->verb ? parser->verb->name : NULL);
    for (size_t i = 0; parser->verb && parser->verb->takes_axes && i < ub_entry_count; i++)
        add_axes(&candidates, ub_entries[i].micro);
    return ub_fail(parser->err, UB_USAGE, "%s has no option --%.60s%s", parser->verb ? parser->verb->name : "ubench",
                   name, hint(&candidates, name, text, sizeof text));
}

/* `name` is not in the table: an axis, or a mistake. It is the argument's own text, cut at '='. */
static bool take_axis(struct parser *parser, const char *name, const char *value)
{
    struct ub_options *options = parser->options;
    if (!parser->verb && is_axis(name))
        return ub_fail(parser->err, UB_USAGE, "--%s is an axis: write it after the verb", name);
    if (!parser->verb || !parser->verb->takes_axes || !is_axis(name))
        return refuse_unknown(parser, name);
    for (size_t i = 0; i < options->axis_count; i++)
        if (strcmp(options->axes[i].name, name) == 0)
            return ub_fail(parser->err, UB_USAGE, "--%s given twice", name);
    if (!value && (value = take_value(parser)) == NULL)
        return ub_fail(parser->err, UB_USAGE, "--%s needs a range: --%s 1..32 (ubench help ranges)", name, name);
    if (options->axis_count == UB_MAX_AXIS_OPTIONS)
        return ub_fail(parser->err, UB_USAGE, "more than %d axis options", UB_MAX_AXIS_OPTIONS);
    options->axes[options->axis_count++] = (struct ub_axis_option){.name = name, .spec = value};
    return true;
}

/* The name of an axis as a string that lives on: that of the rule's own row. */
static const char *axis_name(const char *text, size_t length)
{
    for (size_t i = 0; i < ub_entry_count; i++) {
        const struct ub_micro *micro = ub_entries[i].micro;
        for (size_t j = 0; j < micro->axis_count; j++)
            if (strlen(micro->axes[j].name) == length && memcmp(micro->axes[j].name, text, length) == 0)
                return micro->axes[j].name;
    }
    return NULL;
}

/* "--name" or "--name=value". */
static bool take_long(struct parser *parser, const char *text)
{
    const size_t length = strcspn(text, "=");
    const char *value = text[length] ? text + length + 1 : NULL;
    const struct ub_option *option = find_long(text, length);
    if (option)
        return take_option(parser, option, value);
    const char *axis = axis_name(text, length);
    if (axis)
        return take_axis(parser, axis, value);
    char name[64];
    snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : (int)sizeof name - 1, text);
    return refuse_unknown(parser, name);
}

/* "-q", "-qf json", "-fjson". */
static bool take_letters(struct parser *parser, const char *letters)
{
    for (; *letters; letters++) {
        const struct ub_option *option = find_short(*letters);
        if (!option)
            return ub_fail(parser->err, UB_USAGE, "there is no option -%c (values that begin with - : --option=VALUE)",
                           isprint((unsigned char)*letters) ? *letters : '?');
        if (option->kind != UB_OPTION_FLAG)
            return take_option(parser, option, letters[1] ? letters + 1 : NULL);
        if (!take_option(parser, option, NULL))
            return false;
    }
    return true;
}

static bool refuse_verb(const struct parser *parser, const char *name)
{
    const char *names[CANDIDATE_LIMIT];
    size_t count = 0;
    for (const struct ub_verb *verb = ub_verbs; verb->name; verb++)
        if (!verb->hidden)
            names[count++] = verb->name;
    if (ub_registry_find(name, NULL))
        return ub_fail(parser->err, UB_USAGE, "%s is a rule, not a verb; did you mean ubench run %s?", name, name);
    const char *near = ub_suggest(name, count, names);
    if (near)
        return ub_fail(parser->err, UB_USAGE, "unknown verb '%.60s'; did you mean %s?", name, near);
    return ub_fail(parser->err, UB_USAGE, "unknown verb '%.60s' (ubench help shows all)", name);
}

static bool take_operand(struct parser *parser, const char *text)
{
    struct ub_options *options = parser->options;
    if (!parser->verb) {
        parser->verb = find_verb(text);
        if (!parser->verb)
            return refuse_verb(parser, text);
        options->verb = parser->verb->name;
        return true;
    }
    if (options->operand_count == UB_MAX_OPERANDS)
        return ub_fail(parser->err, UB_USAGE, "more than %d arguments", UB_MAX_OPERANDS);
    options->operands[options->operand_count++] = text;
    return true;
}

static bool take_arguments(struct parser *parser)
{
    bool options_ended = false;
    while (parser->next < parser->options->argc) {
        const char *text = parser->options->argv[parser->next++];
        bool ok = true;
        if (options_ended || text[0] != '-' || text[1] == 0)
            ok = take_operand(parser, text);
        else if (strcmp(text, "--") == 0)
            options_ended = true;
        else
            ok = text[1] == '-' ? take_long(parser, text + 2) : take_letters(parser, text + 1);
        if (!ok)
            return false;
    }
    return true;
}

/* ---- after the arguments --------------------------------------------------- */

static bool is_given(const struct parser *parser, const char *name)
{
    const struct ub_option *option = name ? find_long(name, strlen(name)) : NULL;
    return option && parser->given[row_of(option)];
}

/* "1", "yes", "true", "on": true. "0", "no", "false", "off": false. */
static bool read_switch(const char *place, const char *value, bool *out, struct ub_error *err)
{
    static const char *const words[] = {"0", "1", "no", "yes", "false", "true", "off", "on"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i], value) == 0) {
            *out = i % 2 == 1;
            return true;
        }
    return ub_fail(err, UB_USAGE, "%s=%.60s: write 1 or 0", place, value);
}

static bool take_variable(struct parser *parser, const struct ub_option *option)
{
    char name[64];
    if (!ub_option_variable(option, name, sizeof name))
        return true;
    const char *value = getenv(name);
    if (!value || !*value)
        return true;
    bool wanted = true;
    if (option->kind == UB_OPTION_FLAG && !read_switch(name, value, &wanted, parser->err))
        return false;
    if (!wanted)
        return true;
    parser->given[row_of(option)] = true;
    return store(option, name, value, parser->options, parser->err);
}

/* The environment fills what the command line leaves open; an option wins over the
 * variable of its opposite too. */
static bool take_environment(struct parser *parser)
{
    bool on_line[OPTION_LIMIT];
    memcpy(on_line, parser->given, sizeof on_line);
    for (const struct ub_option *option = ub_option_table; option->name; option++) {
        const struct ub_option *opposite =
            option->opposite ? find_long(option->opposite, strlen(option->opposite)) : NULL;
        if (on_line[row_of(option)] || (opposite && on_line[row_of(opposite)]) ||
            !ub_option_is_for(option, parser->verb->name))
            continue;
        if (!take_variable(parser, option))
            return false;
    }
    return true;
}

static bool check_verb_takes(const struct parser *parser)
{
    for (const struct ub_option *option = ub_option_table; option->name; option++)
        if (parser->given[row_of(option)] && !ub_option_is_for(option, parser->verb->name))
            return ub_fail(parser->err, UB_USAGE, "%s takes no --%s (it is for: %s)", parser->verb->name, option->name,
                           option->verbs);
    return true;
}

static bool check_opposites(const struct parser *parser)
{
    for (const struct ub_option *option = ub_option_table; option->name; option++)
        if (parser->given[row_of(option)] && is_given(parser, option->opposite))
            return ub_fail(parser->err, UB_USAGE, "--%s and --%s exclude each other", option->name, option->opposite);
    return true;
}

/* The verb's `operands` says how many it takes: "" none, "RULE" one, "[TOPIC]" one or
 * none, with "..." any number. */
static bool check_operands(const struct parser *parser)
{
    const struct ub_options *options = parser->options;
    const char *operands = parser->verb->operands;
    const bool many = strstr(operands, "...") != NULL;
    const size_t most = many ? UB_MAX_OPERANDS : *operands ? 1 : 0;
    if (!many && options->operand_count > most)
        return ub_fail(parser->err, UB_USAGE, "%s takes %s: '%.60s' is too much", parser->verb->name,
                       most ? "one argument" : "no arguments", options->operands[most]);
    if (options->operand_count == 0 && *operands && *operands != '[')
        return ub_fail(parser->err, UB_USAGE, "%s what? write: ubench %s %s", parser->verb->name, parser->verb->name,
                       operands);
    return true;
}

bool ub_options_parse(int argc, char **argv, struct ub_options *options, struct ub_error *err)
{
    _Static_assert(sizeof ub_option_table / sizeof ub_option_table[0] <= OPTION_LIMIT, "raise OPTION_LIMIT");
    *options = (struct ub_options){
        .argc = argc,
        .argv = argv,
        .seed = 1,
        .timeout_s = 10,
        .time_limit_s = 900,
    };
    struct parser parser = {.options = options, .next = 1, .err = err};
    if (!take_arguments(&parser))
        return false;
    if (options->help || options->version)
        return true;
    if (!parser.verb)
        return ub_fail(err, UB_USAGE, "no verb given");
    return check_verb_takes(&parser) && take_environment(&parser) && check_opposites(&parser) &&
           check_operands(&parser);
}

/* ---- what is known only later ---------------------------------------------- */

static bool is_chosen(const struct ub_options *options, const struct ub_micro *micro)
{
    for (size_t i = 0; i < options->operand_count; i++)
        if (strcmp(options->operands[i], "all") == 0 || strcmp(options->operands[i], micro->name) == 0)
            return true;
    return false;
}

bool ub_options_check_axes(const struct ub_options *options, struct ub_error *err)
{
    struct candidates candidates = {0};
    const char *rule = NULL;
    size_t rules = 0;
    for (size_t i = 0; i < ub_entry_count; i++)
        if (is_chosen(options, ub_entries[i].micro)) {
            rule = ub_entries[i].micro->name;
            rules++;
            add_axes(&candidates, ub_entries[i].micro);
        }
    add_options(&candidates, options->verb);
    for (size_t i = 0; i < options->axis_count; i++) {
        const char *name = options->axes[i].name;
        char text[128];
        if (options->axes[i].used)
            continue;
        hint(&candidates, name, text, sizeof text);
        if (rules == 1)
            return ub_fail(err, UB_USAGE, "%s has no axis --%s%s", rule, name, text);
        return ub_fail(err, UB_USAGE, "none of the %zu rules has an axis --%s%s", rules, name, text);
    }
    return true;
}

bool ub_options_check_key(const char *key, struct ub_error *err)
{
    struct candidates candidates = {0};
    for (size_t i = 0; i < ub_counters.key_count; i++) {
        if (strcmp(ub_counters.keys[i].key, key) == 0)
            return true;
        add_candidate(&candidates, ub_counters.keys[i].key);
    }
    const size_t plain = strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
    if (strstr(key, "__") && key[plain] == 0)
        return true;
    const char *near = ub_suggest(key, candidates.count, candidates.names);
    return ub_fail(err, UB_USAGE,
                   "--counters %.60s: there is no such counter%s%s%s; write auto, off, require or keys of "
                   "ubench metrics",
                   key, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

enum ub_format ub_format_of_path(const char *path, enum ub_format otherwise)
{
    static const struct {
        const char *ending;
        enum ub_format format;
    } endings[] = {{".json", UB_FORMAT_JSON}, {".csv", UB_FORMAT_CSV}, {".md", UB_FORMAT_MARKDOWN}};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof endings[0]; i++)
        if (strcasecmp(dot, endings[i].ending) == 0)
            return endings[i].format;
    return otherwise;
}
