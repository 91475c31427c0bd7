/* SPDX-License-Identifier: MIT
 *
 * Figures that others published, beside the model of the same card. A prediction may rest
 * on a constant that comes from the very figure: so the constant that it depends on most
 * is named with its origin. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/engine/compare_parts.h"
#include "harness/engine/law.h"
#include "harness/engine/plan.h"
#include "harness/model/gpu.h"

/* How much a constant is moved to see what depends on it. */
static const double nudge = 0.01;

/* What a figure is predicted from. */
struct model {
    struct ub_gpu gpu;
    struct ub_constants constants;
    const struct ub_micro *micro;
    struct ub_point point;
    const char *key; /* of the metric */
};

/* The metric as the law has it; NaN: it says nothing. */
static double predict(const struct model *model, const struct ub_constants *constants)
{
    struct ub_record_point fresh;
    ub_record_point_init(&fresh);
    ub_law_apply(model->micro, &model->gpu, constants, &model->point, &fresh);
    const struct ub_record_metric *metric = ub_point_predicted_metric(&fresh, model->key);
    const double value = metric ? metric->value : NAN;
    ub_record_point_free(&fresh);
    return value;
}

/* The constant whose change moves the prediction most. */
static void find_rest(const struct model *model, double predicted, struct ub_constant *out)
{
    double most = nudge / 10; /* less is none */
    for (size_t i = 0; i < model->constants.count; i++) {
        struct ub_constants moved = model->constants;
        moved.items[i].value *= 1 + nudge;
        const double change = fabs(predict(model, &moved) / predicted - 1);
        if (change > most) {
            most = change;
            *out = model->constants.items[i];
        }
    }
}

/* False: there is no prediction, and why. */
static bool make_model(const struct ub_record *record, const struct ub_record_point *point, struct model *model,
                       char *why, size_t size)
{
    struct ub_error err = {0};
    const char *unsupported = NULL;
    model->micro = ub_compare_micro(point);
    if (!model->micro)
        snprintf(why, size, "this build has no rule of that name");
    else if (!record->device.slug || !ub_gpu_find(record->device.slug))
        snprintf(why, size, "the model table has no such card");
    else if (!ub_point_from_record(model->micro, point, &model->point, &err))
        snprintf(why, size, "%.150s", err.text);
    if (*why)
        return false;
    model->gpu = *ub_gpu_find(record->device.slug);
    ub_gpu_constants(&model->gpu, &model->constants);
    if (model->micro->supported)
        unsupported = model->micro->supported(&model->gpu, &model->point);
    if (unsupported)
        snprintf(why, size, "%.150s", unsupported);
    return !unsupported;
}

static void predict_figure(struct ub_published_figure *figure)
{
    struct model model = {.key = figure->metric->key};
    if (!make_model(figure->record, figure->point, &model, figure->why, sizeof figure->why))
        return;
    figure->predicted = predict(&model, &model.constants);
    if (!isfinite(figure->predicted)) {
        snprintf(figure->why, sizeof figure->why, "the law says nothing of it");
        return;
    }
    figure->error = figure->predicted / figure->metric->value - 1;
    find_rest(&model, figure->predicted, &figure->rests_on);
}

bool ub_compare_same_card(const struct ub_device_info *a, const struct ub_device_info *b)
{
    if (a->slug && b->slug)
        return strcmp(a->slug, b->slug) == 0;
    return a->name && b->name && strcmp(a->name, b->name) == 0;
}

/* Whether two points of one rule have the same values of all axes. */
static bool is_same_point(const struct ub_micro *micro, const struct ub_record_point *a,
                          const struct ub_record_point *b)
{
    struct ub_point left, right;
    return ub_same_text(a->rule, b->rule) && ub_point_from_record(micro, a, &left, NULL) &&
           ub_point_from_record(micro, b, &right, NULL) &&
           memcmp(left.values, right.values, micro->axis_count * sizeof left.values[0]) == 0;
}

/* Looks for a run of the same card that measured the figure. */
static void find_measured(const struct ub_comparison *comparison, struct ub_published_figure *figure)
{
    const struct ub_micro *micro = ub_compare_micro(figure->point);
    for (size_t run = 0; micro && run < comparison->run_count; run++) {
        const struct ub_record *record = comparison->runs[run].record;
        if (record->source != UB_MEASURED || !ub_compare_same_card(&record->device, &figure->record->device))
            continue;
        for (size_t i = 0; i < record->point_count && figure->measured_by == SIZE_MAX; i++) {
            const struct ub_record_metric *metric = ub_point_metric(&record->points[i], figure->metric->key);
            if (!metric || !isfinite(metric->value) || !is_same_point(micro, &record->points[i], figure->point))
                continue;
            figure->measured_by = run;
            figure->measured = metric->value;
        }
    }
}

bool ub_compare_published(const struct ub_record *record, const char *rule, struct ub_comparison *comparison,
                          struct ub_error *err)
{
    for (size_t i = 0; i < record->point_count; i++) {
        const struct ub_record_point *point = &record->points[i];
        if (rule && !ub_same_text(point->rule, rule))
            continue;
        for (size_t k = 0; k < point->metric_count; k++) {
            void *grown =
                realloc(comparison->published, (comparison->published_count + 1) * sizeof *comparison->published);
            if (!grown)
                return ub_fail(err, UB_INTERNAL, "out of memory while comparing");
            comparison->published = grown;
            struct ub_published_figure *figure = &comparison->published[comparison->published_count++];
            *figure = (struct ub_published_figure){.record = record,
                                                   .point = point,
                                                   .metric = &point->metrics[k],
                                                   .predicted = NAN,
                                                   .error = NAN,
                                                   .measured = NAN,
                                                   .measured_by = SIZE_MAX};
            predict_figure(figure);
            find_measured(comparison, figure);
        }
    }
    return true;
}
