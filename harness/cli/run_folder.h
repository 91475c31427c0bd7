/* SPDX-License-Identifier: MIT
 *
 * `run -o FOLDER/`: each rule is a run of its own, with its record and its chart under its
 * name in that folder. What this module knows is names and what lies there already. */
#ifndef UB_CLI_RUN_FOLDER_H
#define UB_CLI_RUN_FOLDER_H

#include "harness/cli/options.h"

/* Whether -o names a folder: it ends in a slash, or it is one. */
bool ub_run_folder_named(const struct ub_options *options);

/* Makes the folder if there is none, but not what it lies in; `made` says whether it did.
 * UB_CANNOT_WRITE. */
bool ub_run_folder_make(const char *folder, bool *made, struct ub_error *err);

/* The rules that the operands name, each once, in their order. `rules` has room for all
 * that there are; returns how many, 0 with UB_USAGE for a name that is no rule. */
size_t ub_run_folder_rules(const struct ub_options *options, const char **rules, struct ub_error *err);

/* "FOLDER/RULE.json", or with the ending of the chosen format. UB_CANNOT_WRITE: too long. */
bool ub_run_folder_record(const struct ub_options *options, const char *rule, char *path, size_t size,
                          struct ub_error *err);

#endif
