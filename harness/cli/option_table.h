/* SPDX-License-Identifier: MIT
 *
 * The tables behind the command line: options, formats, exit codes. The parser,
 * `ubench help` and the suggestions read them, so none can know what the others do
 * not. */
#ifndef UB_CLI_OPTION_TABLE_H
#define UB_CLI_OPTION_TABLE_H

#include <stddef.h>

#include "harness/contract/error.h"

enum ub_option_kind {
    UB_OPTION_FLAG,   /* bool */
    UB_OPTION_TEXT,   /* const char *, not empty */
    UB_OPTION_CHOICE, /* const char *, one of `choices` */
    UB_OPTION_FORMAT, /* enum ub_format */
    UB_OPTION_COUNT,  /* int, minimum..maximum */
    UB_OPTION_SEED,   /* uint64_t */
    UB_OPTION_SECONDS /* double, > 0; "10", "500ms", "2m" */
};

struct ub_option {
    const char *name; /* "time-limit": --time-limit, and UBENCH_TIME_LIMIT in the environment */
    char letter;      /* 'o': -o; 0: none */
    enum ub_option_kind kind;
    size_t offset;        /* in struct ub_options */
    const char *argument; /* "FILE"; NULL: a flag */
    const char *choices;  /* UB_OPTION_CHOICE: "quick|full" */
    int minimum, maximum; /* UB_OPTION_COUNT */
    const char *verbs;    /* "run show": the verbs that take it; NULL: every one */
    const char *opposite; /* option that cannot stand beside it, or NULL */
    const char *help;     /* one line */
};

extern const struct ub_option ub_option_table[]; /* ended by a NULL name */

bool ub_option_is_for(const struct ub_option *option, const char *verb);
/* "UBENCH_TIME_LIMIT". False: the option has no variable (help, version). */
bool ub_option_variable(const struct ub_option *option, char *text, size_t size);

struct ub_named_text {
    const char *name, *text;
};

extern const struct ub_named_text ub_format_table[]; /* index: enum ub_format; ended by a NULL name */

#endif
