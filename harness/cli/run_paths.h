/* SPDX-License-Identifier: MIT
 *
 * Where a run writes: its record, chart and journal, chosen and checked before
 * anything is measured. */
#ifndef UB_CLI_RUN_PATHS_H
#define UB_CLI_RUN_PATHS_H

#include "harness/cli/options.h"
#include "harness/cli/target.h"

enum { UB_PATH_BYTES = 4096 };

/* A record's journal: the name of the record and this. */
#define UB_JOURNAL_ENDING ".part.jsonl"

struct ub_run_paths {
    char record[UB_PATH_BYTES];  /* "-": stdout */
    char chart[UB_PATH_BYTES];   /* "": none; "-": stdout */
    char journal[UB_PATH_BYTES]; /* "": none is kept */
};

/* Chooses names from the options; with several targets each file has the GPU's number.
 * UB_CANNOT_WRITE: a name is too long. */
bool ub_run_paths_choose(const struct ub_options *options, const struct ub_target *target, size_t target_count,
                         struct ub_run_paths *paths, struct ub_error *err);

/* What lies where a record is to be: nothing; the journal of a run that was cut off or lacks
 * points; a record that lacks nothing; one that does, without its journal; one of another
 * command (another `plan`, see ub_plan_hash()); what is no record. */
enum ub_run_found { UB_RUN_NONE, UB_RUN_JOURNAL, UB_RUN_COMPLETE, UB_RUN_LACKING, UB_RUN_OTHER, UB_RUN_UNREADABLE };
enum ub_run_found ub_run_found(const struct ub_options *options, const struct ub_run_paths *paths, uint64_t plan);

/* Refuses now what would be refused after minutes of measuring: outputs that cannot be
 * written, a run to resume that is not there or still going. Sets options->force where
 * an incomplete record is to be replaced. */
bool ub_run_paths_check(struct ub_options *options, const struct ub_target *target, const struct ub_run_paths *paths,
                        uint64_t plan, struct ub_error *err);

/* "a/b.json" and "-x.svg" -> "a/b-x.svg". False: too long. */
bool ub_replace_ending(const char *path, const char *ending, char *out, size_t size);

#endif
