/* SPDX-License-Identifier: MIT
 *
 * The command line: one table of options (parsing, help, did-you-mean and the
 * UBENCH_* variables all come from it) and one table of verbs. */
#ifndef UB_CLI_OPTIONS_H
#define UB_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "harness/contract/error.h"
#include "harness/contract/record.h"
#include "harness/engine/plan.h"
#include "harness/io/formats.h"
#include "plots/render.h"

enum { UB_MAX_OPERANDS = 256, UB_MAX_AXIS_OPTIONS = 64 };

enum ub_format {
    UB_FORMAT_HUMAN,
    UB_FORMAT_JSON,
    UB_FORMAT_CSV,
    UB_FORMAT_MARKDOWN,
    UB_FORMAT_GBENCH,
    UB_FORMAT_OPENMETRICS
};

/* Everything that the command line, the environment (UBENCH_<OPTION>) and the
 * defaults say; option before environment before default. Strings are borrowed
 * from argv or the environment. */
struct ub_options {
    int argc;
    char **argv;
    const char *verb;
    size_t operand_count;
    const char *operands[UB_MAX_OPERANDS];
    size_t axis_count;
    struct ub_axis_option axes[UB_MAX_AXIS_OPTIONS]; /* --stride 1..32 */

    const char *device;    /* --device, -d: "0", UUID, "all", "model:h200", "model:FILE"; NULL: what is there */
    const char *output;    /* --output, -o: "-" is stdout; NULL: a time-stamped name in human format, else stdout */
    const char *folder;    /* run: what -o named, where each rule has a file of its own (`output`) */
    enum ub_format format; /* --format, -f */
    bool format_given;
    const char *counters; /* --counters: "auto", "off", "require" or KEY,KEY */
    const char *plot;     /* --plot FILE or -; NULL: beside the record in human format */
    const char *suite;    /* --suite quick|full; NULL: the default sweeps */
    const char *data;     /* --data random|zeros */
    const char *color;    /* --color auto|always|never */
    uint64_t seed;        /* --seed */
    int rounds;           /* --rounds; 0: 30 */
    bool cold, hot;       /* --cold, --hot */
    bool dry_run, profile, resume, force, redact, quiet, verbose, json, help, version;
    double timeout_s;    /* --timeout: of a point; default 10 */
    double time_limit_s; /* --time-limit: of the run; default 900 */
    /* plot */
    const char *term, *x, *y, *series, *rule, *sweep;
    bool timeline, dark, keep_script;
    /* compare */
    const char *margin, *fail_on;
    bool explain;
    /* metrics */
    const char *chip;
    /* occupancy */
    const char *regs, *threads, *smem, *want, *barriers, *cc;
};

/* Fills `options`. Fails with UB_USAGE and a text with a suggestion. A long option
 * that is none of the table is an axis option if the verb takes axes and any rule of
 * the program has that axis; whether the chosen rules have it is known after
 * ub_plan_add(), see below. With `help` or `version` the rest is not complete. */
bool ub_options_parse(int argc, char **argv, struct ub_options *options, struct ub_error *err);

/* Refuses an axis option that none of the rules named by the operands ("all": every one)
 * used, with a suggestion among their axes and the options. To be called after
 * ub_plan_add() for all of them. */
bool ub_options_check_axes(const struct ub_options *options, struct ub_error *err);

/* Refuses a word of --counters that is neither a key nor looks like a raw metric name
 * ("smsp__inst_executed.sum"), with a suggestion among the keys. */
bool ub_options_check_key(const char *key, struct ub_error *err);

/* The format that the ending of a file's name means: .json .csv .md; else `otherwise`. */
enum ub_format ub_format_of_path(const char *path, enum ub_format otherwise);

/* A verb returns its exit code; on failure it has filled `err` (main prints it) or
 * has already said all (err->text empty). */
typedef enum ub_status (*ub_verb_run)(struct ub_options *options, struct ub_error *err);

struct ub_verb {
    const char *name, *operands, *summary; /* "run", "RULE...|all", one line */
    bool takes_axes;
    bool hidden;
    ub_verb_run run;
};

extern const struct ub_verb ub_verbs[]; /* ended by a NULL name */

/* One function a file cmd_<verb>.c. */
enum ub_status ub_cmd_run(struct ub_options *options, struct ub_error *err);
enum ub_status ub_cmd_list(struct ub_options *options, struct ub_error *err);
enum ub_status ub_cmd_describe(struct ub_options *options, struct ub_error *err);
enum ub_status ub_cmd_show(struct ub_options *options, struct ub_error *err);
enum ub_status ub_cmd_report(struct ub_options *options, struct ub_error *err);
enum ub_status ub_cmd_plot(struct ub_options *options, struct ub_error *err);
enum ub_status ub_cmd_compare(struct ub_options *options, struct ub_error *err);
enum ub_status ub_cmd_check(struct ub_options *options, struct ub_error *err);
enum ub_status ub_cmd_devices(struct ub_options *options, struct ub_error *err);
enum ub_status ub_cmd_metrics(struct ub_options *options, struct ub_error *err);
enum ub_status ub_cmd_doctor(struct ub_options *options, struct ub_error *err);
enum ub_status ub_cmd_occupancy(struct ub_options *options, struct ub_error *err);
enum ub_status ub_cmd_help(struct ub_options *options, struct ub_error *err);
enum ub_status ub_cmd_worker(struct ub_options *options, struct ub_error *err); /* hidden: __worker */

/* "ubench 0.1.0 (abc1234)" and the facts of the build, one a line, on stdout. */
void ub_print_version(void);

/* Early refusal (UB_CANNOT_WRITE) of a file that could not be written at the end of a
 * long run: it exists and `force` is false, is a folder, or its folder is missing or
 * read-only. NULL and "-" are fine. */
bool ub_output_check(const char *path, bool force, struct ub_error *err);

/* Refusal (UB_USAGE) of a file to be written that is one of those read, under any name; those
 * may be "-", PAGE.html#2 or model:FILE. NULL and "-" are fine. */
bool ub_output_check_inputs(const char *path, size_t count, const char *const *inputs, struct ub_error *err);

/* Writes anything to stdout ("-", NULL) or to a file; a file is written beside its name and
 * renamed, a pipe or a device is written to. UB_CANNOT_WRITE, or what `write` says. */
typedef bool (*ub_output_writer)(FILE *stream, const void *subject, struct ub_error *err);
bool ub_write_output(const char *path, bool force, ub_output_writer write, const void *subject, struct ub_error *err);

/* How a table for people is printed to a stream: colours and width only on stdout. */
struct ub_print_options ub_print_options_for(FILE *stream, const struct ub_options *options);
/* How a chart is drawn; which, is up to the verb. $COLUMNS goes before the terminal's width. */
struct ub_plot_options ub_plot_options_for(const struct ub_options *options);

/* Writes a record to stdout or a file in a format (io/formats.h, io/json.h) as the
 * options say; files are written beside the name and renamed (UB_CANNOT_WRITE). */
bool ub_write_record(const struct ub_record *record, enum ub_format format, const char *path,
                     const struct ub_options *options, struct ub_error *err);

/* Whether stdout takes colours (NO_COLOR, CLICOLOR_FORCE, --color, TERM, tty), and its width (0: not a tty). */
bool ub_stdout_colour(const struct ub_options *options);
int ub_terminal_columns(void);

#endif
