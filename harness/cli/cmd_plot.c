/* SPDX-License-Identifier: MIT
 *
 * ubench plot RUN.json...: draws saved records, several into one chart. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/options.h"
#include "harness/io/records.h"
#include "plots/render.h"
#include "plots/timeline.h"

enum { PATH_BYTES = 4096 };

/* The chart's name where none is given: RUN.json becomes RUN.svg in the same folder. */
static bool name_beside(const char *record_path, const char *term, char *name, size_t size, struct ub_error *err)
{
    static const char *const endings[] = {".json", ".html"};
    const char *mark = strrchr(record_path, '#'); /* report.html#2 */
    const bool numbered = mark && mark[1 + strspn(mark + 1, "0123456789")] == 0;
    size_t stem = numbered ? (size_t)(mark - record_path) : strlen(record_path);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        const size_t ending = strlen(endings[i]);
        if (stem > ending && strncmp(record_path + stem - ending, endings[i], ending) == 0) {
            stem -= ending;
            break;
        }
    }
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
static bool rehearse(const struct ub_runs *runs, bool timeline, const struct ub_plot_options *plot, const char *output,
                     struct ub_error *err)
{
    FILE *nowhere = fopen("/dev/null", "w");
    if (!nowhere)
        return ub_fail(err, UB_INTERNAL, "cannot open /dev/null: %s", strerror(errno));
    const bool ok = timeline ? ub_plot_timeline_script(nowhere, runs->records[0], plot, output, err)
                             : ub_plot_runs_script(nowhere, runs, plot, output, err);
    fclose(nowhere);
    if (ok)
        printf("would draw %s\n", strcmp(output, "-") == 0 ? "to the terminal" : output);
    return ok;
}

static bool draw(const struct ub_options *options, const struct ub_runs *runs, struct ub_error *err)
{
    char name[PATH_BYTES];
    const char *output = choose_output(options, name, sizeof name, err);
    struct ub_plot_options plot = ub_plot_options_for(options);
    plot.rule = options->rule;
    plot.sweep = options->sweep;
    plot.x = options->x;
    plot.y = options->y;
    plot.series = options->series;
    plot.axis_count = options->axis_count;
    plot.axes = options->axes;
    if (options->timeline && runs->count != 1)
        return ub_fail(err, UB_USAGE, "--timeline shows one point of one record, not of %zu", runs->count);
    if (!output || !ub_output_check_inputs(output, options->operand_count, options->operands, err) ||
        !ub_plot_check(&plot, output, err))
        return false;
    if (options->dry_run)
        return rehearse(runs, options->timeline, &plot, output, err);
    if (!(options->timeline ? ub_plot_timeline(runs->records[0], &plot, output, err)
                            : ub_plot_runs(runs, &plot, output, err)))
        return false;
    if (strcmp(output, "-") != 0 && !options->quiet)
        fprintf(stderr, "ubench: wrote %s\n", output);
    return true;
}

/* Draws all records of all operands into one chart. */
static bool draw_records(const struct ub_options *options, const struct ub_records *records, struct ub_error *err)
{
    const struct ub_record **runs = calloc(records->count, sizeof *runs);
    if (!runs)
        return ub_fail(err, UB_INTERNAL, "out of memory");
    for (size_t i = 0; i < records->count; i++)
        runs[i] = &records->items[i];
    const bool ok = draw(options, &(struct ub_runs){records->count, runs}, err);
    free(runs);
    return ok;
}

/* Of the records of a page, from item `first` on, --rule picks the runs that have it. */
static void pick_rule(struct ub_records *records, size_t first, const char *rule)
{
    size_t kept = first;
    for (size_t i = first; i < records->count; i++) {
        const struct ub_record record = records->items[i];
        if (record.source != UB_PUBLISHED && ub_record_has_rule(&record, rule)) {
            records->items[i] = records->items[kept];
            records->items[kept++] = record;
        }
    }
    while (records->count > kept)
        ub_record_free(&records->items[--records->count]);
}

/* A page may hold records of several rules, and a chart shows one. */
static bool read_operand(const struct ub_options *options, const char *path, struct ub_records *records,
                         struct ub_error *err)
{
    const size_t first = records->count;
    if (!ub_records_read(path, records, err))
        return false;
    const size_t count = records->count - first;
    if (count < 2)
        return true;
    const struct ub_record *model = &records->items[first];
    const char *rule = options->rule ? options->rule : model->point_count ? model->points[0].rule : NULL;
    char list[700];
    ub_records_list(records, first, list, sizeof list);
    for (size_t i = first; i < records->count && !options->rule; i++)
        if (!rule || records->items[i].source == UB_PUBLISHED || !ub_record_has_rule(&records->items[i], rule))
            return ub_fail(err, UB_USAGE,
                           "%.100s holds %zu records; write %.100s#NUMBER for one of them, or --rule: %s", path, count,
                           path, list);
    if (options->rule)
        pick_rule(records, first, options->rule);
    return records->count > first ||
           ub_fail(err, UB_USAGE, "%.100s holds no run of the rule %.60s: %s", path, options->rule, list);
}

enum ub_status ub_cmd_plot(struct ub_options *options, struct ub_error *err)
{
    struct ub_records records = {0};
    bool ok = true;
    for (size_t i = 0; i < options->operand_count && ok; i++)
        ok = read_operand(options, options->operands[i], &records, err);
    ok = ok && draw_records(options, &records, err);
    ub_records_free(&records);
    return ok ? UB_OK : err->status;
}
