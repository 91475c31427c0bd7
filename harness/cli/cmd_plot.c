/* SPDX-License-Identifier: MIT
 *
 * ubench plot RUN.json: draws a saved record. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/options.h"
#include "harness/io/json.h"
#include "plots/render.h"

enum { PATH_BYTES = 4096 };

/* The chart's name where none is given: RUN.json becomes RUN.svg in the same folder. */
static bool name_beside(const char *record_path, const char *term, char *name, size_t size, struct ub_error *err)
{
    static const char json[] = ".json";
    size_t stem = strlen(record_path);
    if (stem > strlen(json) && strcmp(record_path + stem - strlen(json), json) == 0)
        stem -= strlen(json);
    const int length = snprintf(name, size, "%.*s.%s", (int)stem, record_path, term ? term : "svg");
    return (length > 0 && (size_t)length < size) || ub_fail(err, UB_USAGE, "the name of the record is too long");
}

static const char *choose_output(const struct ub_options *options, char *name, size_t size, struct ub_error *err)
{
    if (options->output)
        return options->output;
    if (options->term && strcmp(options->term, "dumb") == 0)
        return "-";
    return name_beside(options->operands[0], options->term, name, size, err) ? name : NULL;
}

/* All but gnuplot: whether there is something to draw, and where it would go. */
static bool rehearse(const struct ub_record *record, const struct ub_plot_options *plot, const char *output,
                     struct ub_error *err)
{
    FILE *nowhere = fopen("/dev/null", "w");
    if (!nowhere)
        return ub_fail(err, UB_INTERNAL, "cannot open /dev/null: %s", strerror(errno));
    const bool ok = ub_plot_script(nowhere, record, plot, output, err);
    fclose(nowhere);
    if (ok)
        printf("would draw %s\n", strcmp(output, "-") == 0 ? "to the terminal" : output);
    return ok;
}

static bool draw(const struct ub_options *options, const struct ub_record *record, struct ub_error *err)
{
    char name[PATH_BYTES];
    const char *output = choose_output(options, name, sizeof name, err);
    const struct ub_plot_options plot = {.rule = options->rule,
                                         .sweep = options->sweep,
                                         .x = options->x,
                                         .y = options->y,
                                         .series = options->series,
                                         .axis_count = options->axis_count,
                                         .axes = options->axes,
                                         .term = options->term,
                                         .dark = options->dark,
                                         .keep_script = options->keep_script,
                                         .force = options->force,
                                         .columns = getenv("COLUMNS") ? 0 : ub_terminal_columns()};
    if (!output || !ub_plot_check(&plot, output, err))
        return false;
    if (options->dry_run)
        return rehearse(record, &plot, output, err);
    if (!ub_plot(record, &plot, output, err))
        return false;
    if (strcmp(output, "-") != 0 && !options->quiet)
        fprintf(stderr, "ubench: wrote %s\n", output);
    return true;
}

enum ub_status ub_cmd_plot(struct ub_options *options, struct ub_error *err)
{
    if (options->operand_count != 1) {
        ub_fail(err, UB_USAGE, "plot takes one record: ubench plot RUN.json [-o CHART.svg]");
        return UB_USAGE;
    }
    struct ub_record record = {0};
    const bool ok = ub_json_read_file(options->operands[0], &record, err) && draw(options, &record, err);
    ub_record_free(&record);
    return ok ? UB_OK : err->status;
}
