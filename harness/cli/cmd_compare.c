/* SPDX-License-Identifier: MIT
 *
 * `ubench compare A.json B.json...`: what changed between runs of one card, or how cards
 * differ. `model:NAME` stands wherever a file can. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/operands.h"
#include "harness/cli/option_table.h"
#include "harness/cli/options.h"
#include "harness/engine/compare.h"
#include "harness/engine/law.h"
#include "harness/io/compare.h"
#include "plots/compare.h"

static const double default_margin = 0.02, largest_margin = 0.5;

/* "2%", "0.5 %". A number without its sign could mean twice or 2 %. */
static bool read_margin(const char *text, double *out, struct ub_error *err)
{
    char *end = NULL;
    if (!text)
        return true;
    const size_t digits = strspn(text, "0123456789.");
    const double number = digits ? strtod(text, &end) : NAN;
    const char *rest = digits && end == text + digits ? end + strspn(end, " ") : "";
    *out = number / 100;
    if (strcmp(rest, "%") != 0 || !(*out >= 0 && *out <= largest_margin))
        return ub_fail(err, UB_USAGE, "--margin %.60s: write a share from 0%% to %.0f%%, such as 2%%", text,
                       100 * largest_margin);
    return true;
}

/* What -f says, else what the ending of -o means, else the table for people. */
static enum ub_format format_of(const struct ub_options *options)
{
    if (options->format_given || !options->output)
        return options->format;
    return ub_format_of_path(options->output, UB_FORMAT_HUMAN);
}

/* All that can be refused before a file is read. */
static bool check_options(const struct ub_options *options, double *margin, struct ub_error *err)
{
    const enum ub_format format = format_of(options);
    const struct ub_plot_options plot = ub_plot_options_for(options);
    if (options->operand_count > UB_MAX_COMPARED)
        return ub_fail(err, UB_USAGE, "compare takes at most %d runs: %zu were given", UB_MAX_COMPARED,
                       options->operand_count);
    if (format != UB_FORMAT_HUMAN && format != UB_FORMAT_JSON && format != UB_FORMAT_MARKDOWN)
        return ub_fail(err, UB_USAGE, "compare writes human, json or md, not %s", ub_format_table[format].name);
    return read_margin(options->margin, margin, err) &&
           ub_output_check_inputs(options->output, options->operand_count, options->operands, err) &&
           ub_output_check_inputs(options->plot, options->operand_count, options->operands, err) &&
           ub_output_check(options->output, options->force, err) &&
           (!options->plot || ub_plot_check(&plot, options->plot, err));
}

/* ---- output -------------------------------------------------------------------- */

struct report {
    const struct ub_comparison *comparison;
    const struct ub_options *options;
};

static bool write_report(FILE *stream, const void *subject, struct ub_error *err)
{
    const struct report *report = subject;
    const struct ub_print_options print = ub_print_options_for(stream, report->options);
    switch (format_of(report->options)) {
    case UB_FORMAT_JSON:
        return ub_compare_json(stream, report->comparison, err);
    case UB_FORMAT_MARKDOWN:
        return ub_compare_markdown(stream, report->comparison, report->options->explain, err);
    default:
        return ub_compare_print(stream, report->comparison, &print, report->options->explain, err);
    }
}

static bool draw(const struct ub_options *options, const struct ub_comparison *comparison, struct ub_error *err)
{
    const struct ub_plot_options plot = ub_plot_options_for(options);
    if (!ub_plot_comparison(comparison, &plot, options->plot, err))
        return false;
    if (strcmp(options->plot, "-") != 0 && !options->quiet)
        fprintf(stderr, "ubench: chart in %s\n", options->plot);
    return true;
}

/* ---- --fail-on ------------------------------------------------------------------- */

/* Why no point of a run could be tested; NULL: some could. Fewer samples than an interval needs
 * test nothing either. */
static const char *why_untested(const struct ub_comparison *comparison, size_t run)
{
    bool few = false;
    for (size_t i = 0; i < comparison->point_count; i++) {
        const struct ub_contrast *contrast = &comparison->points[i].contrasts[run];
        if (contrast->change != UB_CHANGE_UNTESTED && contrast->because != UB_BECAUSE_FEW)
            return NULL;
        few = few || contrast->because == UB_BECAUSE_FEW;
    }
    return few ? ub_change_reason_texts[UB_BECAUSE_FEW] : "";
}

/* A run of which nothing can be told must not pass for one that is no slower. */
static bool check_tested(const char *fail_on, const struct ub_comparison *comparison, struct ub_error *err)
{
    for (size_t run = 1; run < comparison->run_count; run++) {
        const char *why = why_untested(comparison, run);
        const bool counted = why && *why && strcmp(fail_on, "unsure") == 0; /* they are unsure */
        if (why && !counted)
            return ub_fail(err, UB_BAD_DATA, "--fail-on %s: no point could be tested in %.200s%s%s", fail_on,
                           comparison->runs[run].name, *why ? ": " : "", why);
    }
    return true;
}

static bool check_fail_on(const struct ub_options *options, const struct ub_comparison *comparison,
                          struct ub_error *err)
{
    if (!options->fail_on)
        return true;
    for (size_t run = 0; run < comparison->run_count; run++)
        if (comparison->runs[run].record->source != UB_MEASURED)
            return ub_fail(err, UB_USAGE, "--fail-on %s: %s is %s, and only measured times can be tested",
                           options->fail_on, comparison->runs[run].name,
                           ub_source_names[comparison->runs[run].record->source]);
    if (!comparison->one_card)
        return ub_fail(err, UB_USAGE, "--fail-on %s: the runs are of different cards, which is no change",
                       options->fail_on);
    if (comparison->run_count < 2)
        return ub_fail(err, UB_USAGE, "--fail-on %s needs two measured runs", options->fail_on);
    return check_tested(options->fail_on, comparison, err);
}

/* What the clock alone made slower is no change of the code. */
static enum ub_status status_of(const struct ub_options *options, const struct ub_comparison *comparison)
{
    size_t slower = 0, unsure = 0;
    if (!options->fail_on)
        return UB_OK;
    for (size_t run = 1; run < comparison->run_count; run++) {
        struct ub_change_counts counts;
        ub_change_count(comparison, run, &counts);
        slower += counts.changes[UB_CHANGE_SLOWER] - counts.by_clock;
        unsure += counts.changes[UB_CHANGE_UNSURE];
    }
    if (strcmp(options->fail_on, "slower") == 0)
        unsure = 0;
    if (slower + unsure == 0)
        return UB_OK;
    fprintf(stderr, "ubench: --fail-on %s: %zu slower", options->fail_on, slower);
    fprintf(stderr, unsure ? ", %zu unsure\n" : "\n", unsure);
    return UB_CHECK_FAILED;
}

/* ---- the verb ----------------------------------------------------------------------- */

static bool report(const struct ub_options *options, const struct ub_comparison *comparison, struct ub_error *err)
{
    const struct report subject = {comparison, options};
    if (!check_fail_on(options, comparison, err))
        return false;
    if (options->plot && comparison->point_count == 0)
        return ub_fail(
            err, UB_BAD_DATA,
            "--plot: there are only published figures to compare with, which are no runs and cannot be drawn");
    if (options->dry_run) {
        printf("would compare %zu points and %zu published figures; %zu points have no partner\n",
               comparison->point_count, comparison->published_count, comparison->unmatched_count);
        return true;
    }
    return ub_write_output(options->output, options->force, write_report, &subject, err) &&
           (!options->plot || draw(options, comparison, err));
}

static enum ub_status compare(const struct ub_options *options, const struct ub_operands *operands, double margin,
                              struct ub_error *err)
{
    /* Published figures have the model of their card to be compared with. */
    if (operands->count == 1 && operands->records[0].source != UB_PUBLISHED) {
        ub_fail(err, UB_USAGE, "compare takes two runs or more: ubench compare %s B.json", options->operands[0]);
        return UB_USAGE;
    }
    struct ub_compare_request request = {
        .run_count = operands->count, .rule = options->rule, .margin = margin, .seed = options->seed};
    for (size_t i = 0; i < operands->count; i++)
        request.runs[i] = (struct ub_compared_run){options->operands[i], &operands->records[i]};
    struct ub_comparison comparison;
    if (!ub_compare(&request, &comparison, err))
        return err->status;
    const enum ub_status status = report(options, &comparison, err) ? status_of(options, &comparison) : err->status;
    ub_comparison_free(&comparison);
    return status;
}

static void pass_over(void *user, const char *text)
{
    (void)user;
    (void)text;
}

/* A comparison of records that contradict themselves is one all the same, but not unsaid. */
static void warn_of_check(const struct ub_options *options, const struct ub_operands *operands)
{
    for (size_t i = 0; i < operands->count && !options->quiet; i++) {
        struct ub_check_counts counts;
        const bool model = strncmp(options->operands[i], "model:", 6) == 0;
        const size_t problems = model ? 0 : ub_check_record(&operands->records[i], &counts, pass_over, NULL);
        if (problems > 0)
            fprintf(stderr, "ubench: %s does not pass ubench check: %zu problem%s\n", options->operands[i], problems,
                    problems == 1 ? "" : "s");
    }
}

enum ub_status ub_cmd_compare(struct ub_options *options, struct ub_error *err)
{
    double margin = default_margin;
    struct ub_operands operands;
    if (!check_options(options, &margin, err) ||
        !ub_operands_load(options->operand_count, options->operands, options->rule, &operands, err))
        return err->status;
    warn_of_check(options, &operands);
    const enum ub_status status = compare(options, &operands, margin, err);
    ub_operands_free(&operands);
    return status;
}
