/* SPDX-License-Identifier: MIT
 *
 * `ubench occupancy`: how many blocks of a launch an SM holds, what limits them, and
 * what would have to change for one more; along ranges, the staircase or the heat map.
 * Computed: no kernel runs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/options.h"
#include "harness/cli/page.h"
#include "harness/cli/target.h"
#include "harness/io/formats.h"
#include "plots/occupancy.h"

enum { WARP = 32, CARD_BYTES = 200, TEXT_BYTES = 256, KNOWN_CC_BYTES = 256 };

/* The three quantities that may be ranges: option, limits, what nothing said means. */
static const struct ub_axis quantity_axes[UB_VARY_QUANTITIES] = {
    [UB_VARY_REGISTERS] = {.name = "regs", .unit = "register", .minimum = 0, .maximum = 255, .initial = "32"},
    [UB_VARY_THREADS] = {.name = "threads", .unit = "thread", .minimum = 1, .maximum = 4096, .initial = "256"},
    [UB_VARY_SHARED] = {.name = "smem", .unit = "byte", .minimum = 0, .maximum = 1 << 20, .initial = "0"},
};
static const struct ub_axis barrier_axis = {
    .name = "barriers", .unit = "barrier", .minimum = 0, .maximum = 16, .initial = "1"};
static const struct ub_axis want_axis = {.name = "want", .unit = "block", .minimum = 1, .maximum = 64};

struct question {
    char card[CARD_BYTES];
    struct ub_sm_limits limits;
    struct ub_occupancy_request request; /* with the first value of each range */
    struct ub_values values[UB_VARY_QUANTITIES];
    size_t range_count;
    enum ub_occupancy_quantity ranges[2]; /* what varies: x, y */
    int goal;                             /* --want; 0: one more than fit */
};

/* ---- what is asked ------------------------------------------------------------ */

static int compare_values(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool parse_quantity(const char *spec, enum ub_occupancy_quantity quantity, struct question *question,
                           struct ub_error *err)
{
    struct ub_values *values = &question->values[quantity];
    const struct ub_axis *axis = &quantity_axes[quantity];
    if (!ub_axis_parse(axis, spec ? spec : axis->initial, values, err))
        return false;
    qsort(values->values, values->count, sizeof *values->values, compare_values);
    ub_occupancy_vary(&question->request, quantity, values->values[0]);
    if (values->count == 1)
        return true;
    if (question->range_count == 2)
        return ub_fail(err, UB_USAGE, "--%s: two ranges at most can be drawn or listed", axis->name);
    question->ranges[question->range_count++] = quantity;
    return true;
}

static bool parse_number(const char *spec, const struct ub_axis *axis, int *out, struct ub_error *err)
{
    struct ub_values values;
    if (!spec && !axis->initial)
        return true;
    if (!ub_axis_parse(axis, spec ? spec : axis->initial, &values, err))
        return false;
    const size_t count = values.count;
    *out = (int)values.values[0];
    ub_values_free(&values);
    return count == 1 || ub_fail(err, UB_USAGE, "--%s %s: one number is needed", axis->name, spec);
}

static bool resolve_cc(const char *cc, struct question *question, struct ub_error *err)
{
    int major = 0, minor = 0, length = 0;
    char known[KNOWN_CC_BYTES] = "";
    if (sscanf(cc, "%2d.%1d%n", &major, &minor, &length) == 2 && cc[length] == 0 &&
        ub_sm_limits_of_cc(major, minor, &question->limits)) {
        snprintf(question->card, sizeof question->card, "compute capability %d.%d", major, minor);
        return true;
    }
    for (size_t i = 0; ub_sm_limits_cc_at(i, &major, &minor); i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%d.%d", i ? " " : "", major, minor);
    return ub_fail(err, UB_USAGE, "--cc %.40s: known are %s", cc, known);
}

static bool resolve_card(const struct ub_options *options, struct question *question, struct ub_error *err)
{
    struct ub_targets targets;
    if (options->cc && options->device)
        return ub_fail(err, UB_USAGE, "--cc and --device exclude each other");
    if (options->cc)
        return resolve_cc(options->cc, question, err);
    if (!ub_targets_resolve(options->device, &targets, err))
        return false;
    const struct ub_gpu *gpu = &targets.items[0].gpu;
    ub_sm_limits_of_gpu(gpu, &question->limits);
    snprintf(question->card, sizeof question->card, "%.120s, compute capability %d.%d", gpu->name, gpu->cc_major,
             gpu->cc_minor);
    ub_targets_free(&targets);
    return true;
}

static bool make_question(const struct ub_options *options, struct question *question, struct ub_error *err)
{
    *question = (struct question){.request = {.opt_in = true, .carveout_percent = -1}};
    const char *const specs[] = {options->regs, options->threads, options->smem};
    for (int i = 0; i < UB_VARY_QUANTITIES; i++)
        if (!parse_quantity(specs[i], (enum ub_occupancy_quantity)i, question, err))
            return false;
    return parse_number(options->barriers, &barrier_axis, &question->request.barriers, err) &&
           parse_number(options->want, &want_axis, &question->goal, err) && resolve_card(options, question, err);
}

/* ---- one launch: a row a resource ------------------------------------------------ */

struct row {
    char has[48], takes[80], blocks[16], goal[96];
    bool limits;
};

static void list_limiting(const struct ub_occupancy *occupancy, char *text, size_t size)
{
    text[0] = 0;
    for (int i = 0; i < UB_SM_RESOURCES; i++)
        if (occupancy->limiting & 1u << i)
            snprintf(text + strlen(text), size - strlen(text), "%s%s", text[0] ? ", " : "", ub_sm_resource_names[i]);
}

static void fill_has_takes(const struct question *q, const struct ub_occupancy *o, struct row rows[UB_SM_RESOURCES])
{
    const struct ub_sm_limits *l = &q->limits;
#define ROW(resource, has_format, has_value, ...)                                                                      \
    snprintf(rows[resource].has, sizeof rows[resource].has, has_format, has_value);                                    \
    snprintf(rows[resource].takes, sizeof rows[resource].takes, __VA_ARGS__)
    ROW(UB_SM_REGISTERS, "%d", l->registers, "%d (%d a warp)", o->registers_per_warp * o->warps_per_block,
        o->registers_per_warp);
    if (l->shared_reserved_bytes > 0) {
        ROW(UB_SM_SHARED, "%" PRIu64 " B", o->carveout_bytes, "%" PRIu64 " B (%" PRIu64 " of them the driver's)",
            o->shared_bytes, l->shared_reserved_bytes);
    } else {
        ROW(UB_SM_SHARED, "%" PRIu64 " B", o->carveout_bytes, "%" PRIu64 " B", o->shared_bytes);
    }
    ROW(UB_SM_WARPS, "%d", l->warps, "%d", o->warps_per_block);
    ROW(UB_SM_BLOCKS, "%d", l->blocks, "%d", 1);
    ROW(UB_SM_BARRIERS, "%d", l->barriers, "%d", q->request.barriers);
#undef ROW
}

/* What each resource would have to be for `goal` blocks. */
static void fill_goal(const struct question *q, int goal, struct row rows[UB_SM_RESOURCES])
{
    const struct ub_sm_limits *l = &q->limits;
    const int registers = ub_occupancy_most_registers(l, &q->request, goal);
    const int64_t shared = ub_occupancy_most_shared(l, &q->request, goal);
    const int warps = l->warps / goal;
#define GOAL(resource, possible, ...)                                                                                  \
    if (possible)                                                                                                      \
        snprintf(rows[resource].goal, sizeof rows[resource].goal, __VA_ARGS__);                                        \
    else                                                                                                               \
        snprintf(rows[resource].goal, sizeof rows[resource].goal, "impossible")
    GOAL(UB_SM_REGISTERS, registers > 0, "at most %d a thread", registers);
    GOAL(UB_SM_SHARED, shared >= 0, "at most %" PRId64 " B", shared);
    GOAL(UB_SM_WARPS, warps > 0, "at most %d threads",
         warps * WARP < l->threads_per_block ? warps * WARP : l->threads_per_block);
    GOAL(UB_SM_BLOCKS, goal <= l->blocks, "enough");
    GOAL(UB_SM_BARRIERS, !l->barriers_limit || l->barriers / goal > 0, l->barriers_limit ? "at most %d" : "no limit",
         l->barriers / goal < 16 ? l->barriers / goal : 16);
#undef GOAL
}

static void print_rows(const struct row rows[UB_SM_RESOURCES], const char *goal)
{
    int has = (int)strlen("an SM has"), takes = (int)strlen("a block takes");
    for (int i = 0; i < UB_SM_RESOURCES; i++) {
        has = (int)strlen(rows[i].has) > has ? (int)strlen(rows[i].has) : has;
        takes = (int)strlen(rows[i].takes) > takes ? (int)strlen(rows[i].takes) : takes;
    }
    printf("\n%-13s  %*s  %-*s  %6s         %s\n", "resource", has, "an SM has", takes, "a block takes", "blocks",
           goal);
    for (int i = 0; i < UB_SM_RESOURCES; i++)
        printf("%-13s  %*s  %-*s  %6s  %-5s  %s\n", ub_sm_resource_names[i], has, rows[i].has, takes, rows[i].takes,
               rows[i].blocks, rows[i].limits ? "limit" : "", rows[i].goal);
}

/* The block size with which an SM has most warps, all else equal; of several the largest
 * that is not larger than now, else the smallest. */
static void print_best_block(const struct question *q, const struct ub_occupancy *now)
{
    struct ub_occupancy best = *now;
    int threads = 0;
    for (int tried = WARP; tried <= q->limits.threads_per_block; tried += WARP) {
        struct ub_occupancy_request request = q->request;
        struct ub_occupancy occupancy;
        request.threads = tried;
        ub_occupancy_solve(&q->limits, &request, &occupancy);
        if (occupancy.warps > best.warps ||
            (threads > 0 && occupancy.warps == best.warps && tried <= q->request.threads)) {
            best = occupancy;
            threads = tried;
        }
    }
    if (threads > 0)
        printf("another block size: %d threads give %d %s, %d warps, %.1f %%\n", threads, best.blocks,
               best.blocks == 1 ? "block" : "blocks", best.warps, 100 * best.share);
}

static void print_launch(const struct question *q, const struct ub_occupancy *o)
{
    char limiting[TEXT_BYTES];
    list_limiting(o, limiting, sizeof limiting);
    printf("%s\n%d registers a thread, %d threads a block, %" PRIu64 " bytes of shared memory\n", q->card,
           q->request.registers, q->request.threads, q->request.shared_bytes);
    const char *refusal = ub_occupancy_refusal(&q->limits, &q->request);
    if (refusal)
        printf("0 blocks: a launch ends with %s; the limit: %s\n", refusal, limiting);
    else
        printf("%d %s an SM, %d of %d warps: %.1f %% occupancy; the limit: %s\n", o->blocks,
               o->blocks == 1 ? "block" : "blocks", o->warps, q->limits.warps, 100 * o->share, limiting);
}

static void print_table(const struct question *q)
{
    struct ub_occupancy o;
    struct row rows[UB_SM_RESOURCES] = {0};
    char head[TEXT_BYTES];
    ub_occupancy_solve(&q->limits, &q->request, &o);
    const int goal = q->goal > 0 ? q->goal : o.blocks + 1;
    const int warps = goal * o.warps_per_block;
    for (int i = 0; i < UB_SM_RESOURCES; i++) {
        rows[i].limits = (o.limiting & 1u << i) != 0;
        if (o.limits[i] == UB_BLOCKS_UNLIMITED)
            snprintf(rows[i].blocks, sizeof rows[i].blocks, "any");
        else
            snprintf(rows[i].blocks, sizeof rows[i].blocks, "%d", o.limits[i]);
    }
    fill_has_takes(q, &o, rows);
    fill_goal(q, goal, rows);
    snprintf(head, sizeof head, "for %d %s", goal, goal == 1 ? "block" : "blocks");
    if (warps <= q->limits.warps)
        snprintf(head + strlen(head), sizeof head - strlen(head), ": %d warps, %.1f %%", warps,
                 100.0 * warps / q->limits.warps);
    print_launch(q, &o);
    print_rows(rows, head);
    fputc('\n', stdout);
    if (o.warps == q->limits.warps)
        fputs("nothing to gain: all warps of the SM are there\n", stdout);
    else
        print_best_block(q, &o);
    if (q->request.shared_bytes > q->limits.shared_per_block_bytes && o.blocks > 0)
        printf("more than %" PRIu64 " bytes of dynamic shared memory need "
               "cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)\n",
               q->limits.shared_per_block_bytes);
}

/* ---- a range: the staircase ------------------------------------------------------- */

static void print_step(const struct ub_occupancy_step *step, int width)
{
    char values[48], limiting[TEXT_BYTES];
    if (step->first == step->last)
        snprintf(values, sizeof values, "%" PRId64, step->first);
    else
        snprintf(values, sizeof values, "%" PRId64 "..%" PRId64, step->first, step->last);
    list_limiting(&step->occupancy, limiting, sizeof limiting);
    if (step->refusal)
        printf("%*s  %6d  %5d  %8s   %s: %s\n", width, values, 0, 0, "-", step->refusal, limiting);
    else
        printf("%*s  %6d  %5d  %6.1f %%   %s\n", width, values, step->occupancy.blocks, step->occupancy.warps,
               100 * step->occupancy.share, limiting);
}

static bool print_staircase(const struct question *q, struct ub_error *err)
{
    enum { WIDTH = 16 };
    const struct ub_values *values = &q->values[q->ranges[0]];
    struct ub_occupancy_step *steps = calloc(values->count, sizeof *steps);
    if (!steps)
        return ub_fail(err, UB_INTERNAL, "out of memory");
    const size_t count = ub_occupancy_steps(&q->limits, &q->request, q->ranges[0], values, steps);
    printf("%*s  %6s  %5s  %8s   %s\n", WIDTH, quantity_axes[q->ranges[0]].name, "blocks", "warps", "occupancy",
           "limited by");
    for (size_t i = 0; i < count; i++)
        print_step(&steps[i], WIDTH);
    free(steps);
    return true;
}

/* ---- two ranges: the map ------------------------------------------------------------ */

static struct ub_occupancy cell_of(const struct question *q, int64_t x, int64_t y)
{
    struct ub_occupancy_request request = q->request;
    struct ub_occupancy occupancy;
    ub_occupancy_vary(&request, q->ranges[0], x);
    ub_occupancy_vary(&request, q->ranges[1], y);
    ub_occupancy_solve(&q->limits, &request, &occupancy);
    return occupancy;
}

/* Occupancy in per cent, the first range along the lines; as many columns as the page has
 * room for. */
static void print_map(const struct question *q)
{
    enum { LEFT = 10, CELL = 7 };
    const struct ub_values *x = &q->values[q->ranges[0]], *y = &q->values[q->ranges[1]];
    const size_t room = (size_t)(ub_page_width() - LEFT) / CELL;
    const size_t step = (x->count + room - 1) / room;
    printf("%% of %d warps; across: %s, down: %s\n%*s", q->limits.warps, quantity_axes[q->ranges[0]].name,
           quantity_axes[q->ranges[1]].name, LEFT, "");
    for (size_t i = 0; i < x->count; i += step)
        printf("%*" PRId64, CELL, x->values[i]);
    for (size_t j = 0; j < y->count; j++) {
        printf("\n%*" PRId64, LEFT, y->values[j]);
        for (size_t i = 0; i < x->count; i += step) {
            const struct ub_occupancy cell = cell_of(q, x->values[i], y->values[j]);
            if (cell.blocks)
                printf("%*.1f", CELL, 100 * cell.share);
            else
                printf("%*s", CELL, "-");
        }
    }
    printf("\n");
    if (step > 1)
        printf("one column in %zu is shown; --json and --plot have all\n", step);
}

/* ---- for programs --------------------------------------------------------------------- */

static void json_point(const struct question *q, const struct ub_occupancy_request *request, bool first)
{
    struct ub_occupancy o;
    ub_occupancy_solve(&q->limits, request, &o);
    printf("%s\n    {\"registers\": %d, \"threads\": %d, \"shared_bytes\": %" PRIu64 ", \"barriers\": %d, ",
           first ? "" : ",", request->registers, request->threads, request->shared_bytes, request->barriers);
    printf("\"blocks\": %d, \"warps\": %d, \"occupancy\": %.6g, \"limits\": {", o.blocks, o.warps, o.share);
    for (int i = 0; i < UB_SM_RESOURCES; i++) {
        printf("%s\"%s\": ", i ? ", " : "", ub_sm_resource_names[i]);
        printf(o.limits[i] == UB_BLOCKS_UNLIMITED ? "null" : "%d", o.limits[i]);
    }
    fputs("}, \"limited_by\": [", stdout);
    bool any = false;
    for (int i = 0; i < UB_SM_RESOURCES; i++)
        if (o.limiting & 1u << i) {
            printf("%s\"%s\"", any ? ", " : "", ub_sm_resource_names[i]);
            any = true;
        }
    fputs("], \"error\": ", stdout);
    ub_page_json(stdout, ub_occupancy_refusal(&q->limits, request));
    fputc('}', stdout);
}

static void print_json(const struct question *q)
{
    bool first = true;
    fputs("{\n  \"card\": ", stdout);
    ub_page_json(stdout, q->card);
    printf(",\n  \"warps\": %d,\n  \"points\": [", q->limits.warps);
    for (size_t r = 0; r < q->values[UB_VARY_REGISTERS].count; r++)
        for (size_t t = 0; t < q->values[UB_VARY_THREADS].count; t++)
            for (size_t s = 0; s < q->values[UB_VARY_SHARED].count; s++) {
                struct ub_occupancy_request request = q->request;
                request.registers = (int)q->values[UB_VARY_REGISTERS].values[r];
                request.threads = (int)q->values[UB_VARY_THREADS].values[t];
                request.shared_bytes = (uint64_t)q->values[UB_VARY_SHARED].values[s];
                json_point(q, &request, first);
                first = false;
            }
    fputs("\n  ]\n}\n", stdout);
}

/* ---- the verb --------------------------------------------------------------------------- */

/* What --plot cannot do is said before anything is printed. */
static bool check_plot(const struct ub_options *options, const struct question *q, struct ub_error *err)
{
    if (q->range_count == 0)
        return ub_fail(err, UB_USAGE, "--plot draws a range: --regs 16..255, --threads 32..1024:32, or both");
    const struct ub_plot_options plot = ub_plot_options_for(options);
    return ub_plot_check(&plot, options->plot, err);
}

static bool draw(const struct ub_options *options, const struct question *q, struct ub_error *err)
{
    const struct ub_occupancy_chart chart = {.card = q->card,
                                             .limits = &q->limits,
                                             .request = q->request,
                                             .x = q->ranges[0],
                                             .y = q->ranges[1],
                                             .x_values = &q->values[q->ranges[0]],
                                             .y_values = q->range_count == 2 ? &q->values[q->ranges[1]] : NULL};
    const struct ub_plot_options plot = ub_plot_options_for(options);
    if (!ub_plot_occupancy(&chart, &plot, options->plot, err))
        return false;
    if (strcmp(options->plot, "-") != 0)
        fprintf(stderr, "ubench: chart in %s\n", options->plot);
    return true;
}

static bool answer(const struct ub_options *options, const struct question *q, struct ub_error *err)
{
    if (options->plot && !check_plot(options, q, err))
        return false;
    if (options->dry_run) {
        printf("would compute %s%s%s\n", q->card, options->plot ? ", and draw a chart to " : "",
               options->plot ? options->plot : "");
        return true;
    }
    if (options->json) {
        print_json(q);
    } else if (q->range_count == 0) {
        print_table(q);
    } else {
        printf("%s\n", q->card);
        if (q->range_count == 2)
            print_map(q);
        else if (!print_staircase(q, err))
            return false;
    }
    return !options->plot || draw(options, q, err);
}

enum ub_status ub_cmd_occupancy(struct ub_options *options, struct ub_error *err)
{
    struct question question;
    const bool ok = make_question(options, &question, err) && answer(options, &question, err);
    for (int i = 0; i < UB_VARY_QUANTITIES; i++)
        ub_values_free(&question.values[i]);
    return ok ? UB_OK : err->status;
}
