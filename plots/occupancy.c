/* SPDX-License-Identifier: MIT
 *
 * Data and words of the occupancy charts; their look stands in the templates. */
#include "plots/occupancy.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/gnuplot.h"
#include "plots/templates.h"
#include "plots/text.h"

enum { WIDTH = 900, STEPS_HEIGHT = 520, MAP_HEIGHT = 560, DUMB_ROWS = 26, TICKS = 11, REFUSED = UB_SM_RESOURCES };

/* Titles and axis labels; shared memory is drawn in KiB. */
static const struct {
    const char *label, *one, *unit;
    double scale, tick;
} quantities[] = {
    [UB_VARY_REGISTERS] = {"registers per thread", "registers", "registers", 1, 32},
    [UB_VARY_THREADS] = {"threads per block", "block size", "threads", 1, 128},
    [UB_VARY_SHARED] = {"shared memory per block  [KiB]", "shared memory", "KiB", 1.0 / 1024, 32},
};

void ub_occupancy_vary(struct ub_occupancy_request *request, enum ub_occupancy_quantity quantity, int64_t value)
{
    switch (quantity) {
    case UB_VARY_REGISTERS:
        request->registers = (int)value;
        break;
    case UB_VARY_THREADS:
        request->threads = (int)value;
        break;
    case UB_VARY_SHARED:
        request->shared_bytes = (uint64_t)value;
        break;
    case UB_VARY_QUANTITIES:
        break;
    }
}

size_t ub_occupancy_steps(const struct ub_sm_limits *limits, const struct ub_occupancy_request *request,
                          enum ub_occupancy_quantity quantity, const struct ub_values *values,
                          struct ub_occupancy_step *steps)
{
    size_t count = 0;
    for (size_t i = 0; i < values->count; i++) {
        struct ub_occupancy_request tried = *request;
        struct ub_occupancy_step step = {.first = values->values[i], .last = values->values[i]};
        ub_occupancy_vary(&tried, quantity, values->values[i]);
        ub_occupancy_solve(limits, &tried, &step.occupancy);
        step.refusal = ub_occupancy_refusal(limits, &tried);
        const struct ub_occupancy_step *before = count > 0 ? &steps[count - 1] : NULL;
        if (before && before->occupancy.blocks == step.occupancy.blocks &&
            before->occupancy.warps == step.occupancy.warps && before->occupancy.limiting == step.occupancy.limiting &&
            before->refusal == step.refusal)
            steps[count - 1].last = step.last;
        else
            steps[count++] = step;
    }
    return count;
}

/* ---- parts of a script -------------------------------------------------------- */

static bool write_template(FILE *stream, const char *name, struct ub_error *err)
{
    for (const struct ub_template *t = ub_templates; t->name; t++)
        if (strcmp(t->name, name) == 0) {
            fwrite(t->text, 1, t->size, stream);
            return true;
        }
    return ub_fail(err, UB_INTERNAL, "this build of ubench lacks the chart template %s", name);
}

static void write_string(FILE *stream, const char *name, const char *text)
{
    fprintf(stream, "%s = ", name);
    ub_text_quote(stream, text);
    fputc('\n', stream);
}

/* A label at a place of the screen: `rest` gives font and colour. */
static void write_label(FILE *stream, const char *text, const char *place, const char *rest)
{
    fputs("set label ", stream);
    ub_text_quote(stream, text);
    fprintf(stream, " at %s noenhanced %s\n", place, rest);
}

/* "32 registers, 256 threads, no shared memory": what is not on an axis. */
static void describe_rest(const struct ub_occupancy_chart *chart, char *text, size_t size)
{
    const struct ub_occupancy_request *r = &chart->request;
    const bool map = chart->y_values != NULL;
    text[0] = 0;
    if (chart->x != UB_VARY_REGISTERS && !(map && chart->y == UB_VARY_REGISTERS))
        ub_text_append(text, size, "%d registers per thread · ", r->registers);
    if (chart->x != UB_VARY_THREADS && !(map && chart->y == UB_VARY_THREADS))
        ub_text_append(text, size, "blocks of %d threads · ", r->threads);
    if (chart->x != UB_VARY_SHARED && !(map && chart->y == UB_VARY_SHARED)) {
        if (r->shared_bytes == 0)
            ub_text_append(text, size, "no shared memory · ");
        else
            ub_text_append(text, size, "%" PRIu64 " bytes of shared memory · ", r->shared_bytes);
    }
}

static void make_words(const struct ub_occupancy_chart *chart, char *title, char *below, size_t size)
{
    char rest[UB_LINE_BYTES], card[160];
    describe_rest(chart, rest, sizeof rest);
    ub_text_clean(chart->card, card, sizeof card);
    if (chart->y_values)
        ub_text_set(title, size, "Occupancy is a staircase: %s and %s trade in steps", quantities[chart->x].one,
                    quantities[chart->y].one);
    else
        ub_text_set(title, size, "Occupancy is a staircase along %s", quantities[chart->x].one);
    ub_text_set(below, size, "%s · %scomputed, not measured", card, rest);
    ub_text_shorten(below, size, 800, (struct ub_measure){.size_px = 12.7});
}

static void write_head(FILE *stream, const struct ub_term *term, const struct ub_plot_options *options, double width,
                       double height, const char *output)
{
    fputs("# A chart of ubench. Run it with `gnuplot -d FILE`; -d keeps a personal ~/.gnuplot out.\n", stream);
    write_string(stream, "OUT", output);
    fprintf(stream, "TERM = '%s'; DARK = %d; W = %.0f; H = %.0f\n\n", term->terminal, options->dark, width, height);
}

/* ---- the staircase --------------------------------------------------------------- */

/* Which of several limits gives the colour: first those that no kernel can do without. */
static int colour_of(const struct ub_occupancy_step *step)
{
    static const int order[] = {UB_SM_WARPS, UB_SM_BLOCKS, UB_SM_REGISTERS, UB_SM_SHARED};
    if (step->occupancy.blocks == 0)
        return REFUSED;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if (step->occupancy.limiting & 1u << order[i])
            return order[i];
    return UB_SM_BARRIERS;
}

/* A step reaches half-way to its neighbours. */
static void edges_of(const struct ub_occupancy_step *steps, size_t count, size_t i, double scale, double *lo,
                     double *hi)
{
    *lo = (double)steps[i].first;
    *hi = (double)steps[i].last;
    if (i > 0)
        *lo = (*lo + (double)steps[i - 1].last) / 2;
    if (i + 1 < count)
        *hi = (*hi + (double)steps[i + 1].first) / 2;
    *lo *= scale;
    *hi *= scale;
}

static void write_steps(FILE *stream, const struct ub_occupancy_step *steps, size_t count, double scale)
{
    fputs("$steps << EOD\n", stream);
    for (size_t i = 0; i < count; i++) {
        double lo, hi;
        edges_of(steps, count, i, scale, &lo, &hi);
        fprintf(stream, "%.9g %.9g %.9g %d\n", lo, hi, 100 * steps[i].occupancy.share, colour_of(&steps[i]) + 1);
    }
    fputs("EOD\n$risers << EOD\n", stream);
    for (size_t i = 0; i < count; i++) {
        double lo, hi;
        edges_of(steps, count, i, scale, &lo, &hi);
        fprintf(stream, "%.9g %.9g\n%.9g %.9g\n", lo, 100 * steps[i].occupancy.share, hi,
                100 * steps[i].occupancy.share);
    }
    fputs("EOD\n", stream);
}

/* The last value of each step, over its end, where there is room for it; over the middle
 * of a step of one value. */
static void label_steps(FILE *stream, const struct ub_occupancy_step *steps, size_t count, double scale, double x_lo,
                        double x_hi)
{
    enum { LEAST_PX = 22, PLOT_PX = 756 };
    double last_end = -INFINITY;
    for (size_t i = 0; i + 1 < count; i++) {
        double lo, hi;
        char text[32], place[64];
        const bool single = steps[i].first == steps[i].last;
        edges_of(steps, count, i, scale, &lo, &hi);
        const double end = single ? (lo + hi) / 2 : hi;
        if (steps[i].occupancy.warps == steps[i + 1].occupancy.warps ||
            (end - last_end) / (x_hi - x_lo) * PLOT_PX < LEAST_PX)
            continue;
        last_end = end;
        ub_text_set(text, sizeof text, "%.6g", (double)steps[i].last * scale);
        snprintf(place, sizeof place, "first %.9g,%.9g", end, 100 * steps[i].occupancy.share + 3.2);
        write_label(stream, text, place,
                    single ? "center tc rgb c_fg font \"\".F(8.5)" : "right tc rgb c_fg font \"\".F(8.5)");
    }
}

/* The steps in characters: close enough that they look like lines. */
static void write_dense(FILE *stream, const struct ub_occupancy_step *steps, size_t count, double scale, double step)
{
    fputs("$dense << EOD\n", stream);
    for (size_t i = 0; i < count; i++) {
        double lo, hi;
        edges_of(steps, count, i, scale, &lo, &hi);
        for (double x = lo; x <= hi; x += step)
            fprintf(stream, "%.9g %.9g\n", x, 100 * steps[i].occupancy.share);
    }
    fputs("EOD\n", stream);
}

/* "limited by  registers  warps": the colours that occur. */
static void write_colour_key(FILE *stream, const struct ub_occupancy_step *steps, size_t count)
{
    static const char *const colours[] = {"c_s1", "c_s2", "c_s3", "c_s4", "c_s6", "c_s5"};
    double x = 0.085;
    write_label(stream, "limited by", "screen 0.085,0.84", "left tc rgb c_mut font \"\".F(9.5)");
    x += (ub_text_width("limited by", (struct ub_measure){.size_px = 12.7}) + 14) / WIDTH;
    for (int resource = 0; resource <= REFUSED; resource++) {
        bool used = false;
        for (size_t i = 0; i < count; i++)
            used = used || colour_of(&steps[i]) == resource;
        if (!used)
            continue;
        const char *name = resource == REFUSED ? "does not launch" : ub_sm_resource_names[resource];
        char place[64], rest[80];
        snprintf(place, sizeof place, "screen %.6f,0.84", x);
        snprintf(rest, sizeof rest, "left tc rgb %s font FB(9.5)", colours[resource]);
        write_label(stream, name, place, rest);
        x += (ub_text_width(name, (struct ub_measure){.size_px = 12.7, .bold = true}) + 20) / WIDTH;
    }
}

static bool write_staircase(FILE *stream, const struct ub_occupancy_chart *chart, const struct ub_plot_options *options,
                            const struct ub_term *term, const char *output, struct ub_error *err)
{
    const bool dumb = strcmp(term->name, "dumb") == 0;
    const double scale = quantities[chart->x].scale;
    const struct ub_values *values = chart->x_values;
    char title[UB_LINE_BYTES], below[UB_LINE_BYTES];
    struct ub_occupancy_step *steps = calloc(values->count, sizeof *steps);
    if (!steps)
        return ub_fail(err, UB_INTERNAL, "out of memory while making a chart");
    const size_t count = ub_occupancy_steps(chart->limits, &chart->request, chart->x, values, steps);
    const double lo = (double)values->values[0] * scale, hi = (double)values->values[values->count - 1] * scale;
    make_words(chart, title, below, sizeof title);
    write_head(stream, term, options, dumb ? ub_plot_columns(options) : WIDTH, dumb ? DUMB_ROWS : STEPS_HEIGHT, output);
    bool ok = write_template(stream, "style.gp", err);
    write_string(stream, "X_LABEL", quantities[chart->x].label);
    const double width = hi > lo ? hi - lo : 1, tick = quantities[chart->x].tick;
    fprintf(stream, "X_LO = %.9g; X_HI = %.9g; X_TICK = %.9g; WARPS = %d; IS_MAP = 0; NX = 1; NY = 1\n", lo, lo + width,
            width >= 3 * tick && width <= 12 * tick ? tick : 0, chart->limits->warps);
    write_steps(stream, steps, count, scale);
    if (dumb) {
        write_dense(stream, steps, count, scale, width / (2 * ub_plot_columns(options)));
        fputs("$grid << EOD\n0 0 0 x\nEOD\nset title ", stream);
        ub_text_to_ascii(title);
        ub_text_quote(stream, title);
        fputs(" noenhanced\n", stream);
    } else {
        write_label(stream, title, "screen 0.085,0.95", "font FB(13) tc rgb c_fg");
        write_label(stream, below, "screen 0.085,0.893", "font \"\".F(9.5) tc rgb c_mut");
        write_colour_key(stream, steps, count);
        label_steps(stream, steps, count, scale, lo, lo + width);
    }
    free(steps);
    ok = ok && write_template(stream, dumb ? "occupancy_dumb.gp" : "occupancy_steps.gp", err);
    fputs("unset output\n", stream);
    return ok;
}

/* ---- the heat map ------------------------------------------------------------------ */

static struct ub_occupancy cell_of(const struct ub_occupancy_chart *chart, size_t column, size_t row)
{
    struct ub_occupancy_request tried = chart->request;
    struct ub_occupancy occupancy;
    ub_occupancy_vary(&tried, chart->x, chart->x_values->values[column]);
    ub_occupancy_vary(&tried, chart->y, chart->y_values->values[row]);
    ub_occupancy_solve(chart->limits, &tried, &occupancy);
    return occupancy;
}

/* What a reader may want to find: how far right there are still half of the warps (the
 * middle of the rows where that is so); and where no launch is possible. */
struct found {
    bool half;
    size_t column, row;
    size_t refused;
    double refused_x, refused_y; /* middle of them */
};

static void find_half(const struct ub_occupancy_chart *chart, struct found *found)
{
    for (size_t column = chart->x_values->count; column-- > 0 && !found->half;) {
        size_t count = 0, seen = 0;
        for (size_t row = 0; row < chart->y_values->count; row++)
            count += cell_of(chart, column, row).share >= 0.5;
        for (size_t row = 0; row < chart->y_values->count && !found->half; row++) {
            seen += cell_of(chart, column, row).share >= 0.5;
            if (count == 0 || 2 * seen < count)
                continue;
            found->half = true;
            found->column = column;
            found->row = row;
        }
    }
}

static void write_cells(FILE *stream, const struct ub_occupancy_chart *chart, struct found *found)
{
    static const char shades[] = ".:-=+*#%@";
    *found = (struct found){0};
    find_half(chart, found);
    fputs("$grid << EOD\n", stream);
    for (size_t row = 0; row < chart->y_values->count; row++) {
        for (size_t column = 0; column < chart->x_values->count; column++) {
            const struct ub_occupancy cell = cell_of(chart, column, row);
            const int shade = (int)lround(cell.share * (double)(sizeof shades - 2));
            fprintf(stream, "%zu %zu %.4g %c\n", column, row, 100 * cell.share, cell.blocks ? shades[shade] : 'x');
            if (cell.blocks == 0) {
                found->refused++;
                found->refused_x += (double)column;
                found->refused_y += (double)row;
            }
        }
        fputc('\n', stream);
    }
    fputs("EOD\n", stream);
    if (found->refused) {
        found->refused_x /= (double)found->refused;
        found->refused_y /= (double)found->refused;
    }
}

static void write_value_ticks(FILE *stream, const char *axis, const struct ub_values *values, double scale)
{
    const size_t step = (values->count + TICKS - 1) / TICKS;
    fprintf(stream, "set %stics (", axis);
    for (size_t i = 0; i < values->count; i += step)
        fprintf(stream, "%s'%.6g' %zu", i ? ", " : "", (double)values->values[i] * scale, i);
    fputs(")\n", stream);
}

static void label_found(FILE *stream, const struct ub_occupancy_chart *chart, const struct found *found)
{
    const size_t columns = chart->x_values->count, rows = chart->y_values->count;
    char text[160], place[80];
    if (found->half) {
        const bool right = found->column * 2 > columns, top = found->row * 2 > rows;
        const struct ub_occupancy cell = cell_of(chart, found->column, found->row);
        ub_text_set(text, sizeof text, "%g %s, %g %s: %.4g %%, %d %s",
                    (double)chart->x_values->values[found->column] * quantities[chart->x].scale,
                    quantities[chart->x].unit, (double)chart->y_values->values[found->row] * quantities[chart->y].scale,
                    quantities[chart->y].unit, 100 * cell.share, cell.blocks, cell.blocks == 1 ? "block" : "blocks");
        snprintf(place, sizeof place, "%.4g,%.4g", (double)found->column + (right ? -1.5 : 1.5),
                 (double)found->row + (double)rows * (top ? -0.07 : 0.07));
        write_label(stream, text, place,
                    right ? "right tc rgb c_fg font \"\".F(9) front boxed"
                          : "left tc rgb c_fg font \"\".F(9) front boxed");
    }
    if (found->refused * 16 > columns * rows) {
        snprintf(place, sizeof place, "%.4g,%.4g", found->refused_x, found->refused_y);
        write_label(stream, "does not launch", place, "center tc rgb c_s5 font \"\".F(9) front");
    }
}

static bool write_map(FILE *stream, const struct ub_occupancy_chart *chart, const struct ub_plot_options *options,
                      const struct ub_term *term, const char *output, struct ub_error *err)
{
    const bool dumb = strcmp(term->name, "dumb") == 0;
    char title[UB_LINE_BYTES], below[UB_LINE_BYTES];
    struct found found;
    make_words(chart, title, below, sizeof title);
    write_head(stream, term, options, dumb ? ub_plot_columns(options) : WIDTH, dumb ? DUMB_ROWS : MAP_HEIGHT, output);
    if (!write_template(stream, "style.gp", err))
        return false;
    write_string(stream, "X_LABEL", quantities[chart->x].label);
    write_string(stream, "Y_LABEL", quantities[chart->y].label);
    fprintf(stream, "NX = %zu; NY = %zu; IS_MAP = 1; X_LO = 0; X_HI = 1\n", chart->x_values->count,
            chart->y_values->count);
    write_cells(stream, chart, &found);
    write_value_ticks(stream, "x", chart->x_values, quantities[chart->x].scale);
    write_value_ticks(stream, "y", chart->y_values, quantities[chart->y].scale);
    if (dumb) {
        fputs("$dense << EOD\n0 0\nEOD\n", stream);
        ub_text_set(title, sizeof title, "%s; . to @: 0 to 100 %%, x: does not launch", quantities[chart->y].label);
        fputs("set title ", stream);
        ub_text_quote(stream, title);
        fputs(" noenhanced\n", stream);
        return write_template(stream, "occupancy_dumb.gp", err);
    }
    if (found.half)
        fprintf(stream, "$mark << EOD\n%zu %zu\nEOD\n", found.column, found.row);
    else
        fputs("$mark << EOD\n-9 -9\nEOD\n", stream);
    write_label(stream, title, "screen 0.095,0.95", "font FB(13) tc rgb c_fg");
    write_label(stream, below, "screen 0.095,0.903", "font \"\".F(9.5) tc rgb c_mut");
    label_found(stream, chart, &found);
    const bool ok = write_template(stream, "occupancy_map.gp", err);
    fputs("unset output\n", stream);
    return ok;
}

static bool write_chart(FILE *stream, const void *subject, const struct ub_plot_options *options, const char *output,
                        struct ub_error *err)
{
    const struct ub_occupancy_chart *chart = subject;
    const struct ub_term *term = ub_term_find(options->term, output, err);
    if (!term)
        return false;
    if (!(chart->y_values ? write_map : write_staircase)(stream, chart, options, term, output, err))
        return false;
    return !ferror(stream) || ub_fail(err, UB_CANNOT_WRITE, "cannot write the script of a chart");
}

bool ub_plot_occupancy(const struct ub_occupancy_chart *chart, const struct ub_plot_options *options, const char *path,
                       struct ub_error *err)
{
    return ub_plot_with(write_chart, chart, options, path, err);
}
