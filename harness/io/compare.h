/* SPDX-License-Identifier: MIT
 *
 * A comparison as text: for people, for a pull request, for programs. */
#ifndef UB_IO_COMPARE_H
#define UB_IO_COMPARE_H

#include "harness/contract/comparison.h"
#include "harness/io/formats.h"
#include "harness/io/sheet.h"

/* `explain`: what the verdicts rest on (cycles, Hodges-Lehmann, Mann-Whitney). Without
 * options->verbose rows that say nothing new are left out, and counted. */
bool ub_compare_print(FILE *stream, const struct ub_comparison *comparison, const struct ub_print_options *options,
                      bool explain, struct ub_error *err);

/* Fits a comment of a pull request: at most UB_COMMENT_BYTES; what changed comes first. */
enum { UB_COMMENT_BYTES = 60000 };
bool ub_compare_markdown(FILE *stream, const struct ub_comparison *comparison, bool explain, struct ub_error *err);

/* Everything, as one object with the key "ubench_compare" (its version, 1). */
bool ub_compare_json(FILE *stream, const struct ub_comparison *comparison, struct ub_error *err);

/* ---- what the first two are made of ------------------------------------------ */

/* Sentences, one call each, without markup. */
typedef void (*ub_sentence)(void *user, enum ub_tone tone, const char *sentence);
/* "A  a.json: measured on NVIDIA H200, 53 points, 2026-11-29T23:28:17Z, ubench 0.1.0". */
void ub_compare_legend(const struct ub_comparison *comparison, ub_sentence print, void *user);
/* What it came to, and what the numbers are. */
void ub_compare_summary(const struct ub_comparison *comparison, ub_sentence print, void *user);

/* Whether a row says something that the summary does not: a change, or no test. */
bool ub_compare_is_news(const struct ub_comparison *comparison, size_t index);

/* Rows of the points for which `choose` is true (NULL: all). */
void ub_compare_rows(const struct ub_comparison *comparison, bool explain,
                     bool (*choose)(const struct ub_comparison *, size_t index), struct ub_sheet *out);
void ub_compare_groups(const struct ub_comparison *comparison, struct ub_sheet *out);
void ub_compare_constants(const struct ub_comparison *comparison, bool origins, struct ub_sheet *out);
void ub_compare_figures(const struct ub_comparison *comparison, bool sources, struct ub_sheet *out);
/* At most `most` of what has no partner (0: all). */
void ub_compare_unmatched(const struct ub_comparison *comparison, size_t most, struct ub_sheet *out);

#endif
