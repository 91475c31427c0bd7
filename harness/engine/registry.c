/* SPDX-License-Identifier: MIT
 *
 * The registry check: a rule is complete or it is refused, at the start of the
 * program and before anything is measured. What is checked here need not be
 * checked again by those who use a rule. */
#include "harness/engine/plan.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_LIMIT = 128 }; /* rules among which a misspelt one is looked for */

struct part {
    const char *name;
    bool there;
};

static bool has_text(const char *text)
{
    return text && *text;
}

static bool refuse_missing(size_t count, const struct part *parts, struct ub_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (!parts[i].there)
            return ub_fail(err, UB_INTERNAL, "%s is missing", parts[i].name);
    return true;
}

/* Names are words of the command line and keys of the record. */
static bool is_name(const char *text)
{
    if (!has_text(text) || !islower((unsigned char)text[0]))
        return false;
    for (const char *c = text; *c; c++)
        if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) && *c != '_')
            return false;
    return true;
}

static bool listed(const char *word, size_t count, const char *const *words)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

/* A list of keys: none empty, none twice. */
static bool check_keys(const char *what, size_t count, size_t limit, const char *const *keys, struct ub_error *err)
{
    if (count > limit)
        return ub_fail(err, UB_INTERNAL, "%zu %s, at most %zu are possible", count, what, limit);
    if (count && !keys)
        return ub_fail(err, UB_INTERNAL, "the list of %s is missing", what);
    for (size_t i = 0; i < count; i++) {
        if (!has_text(keys[i]))
            return ub_fail(err, UB_INTERNAL, "%s: number %zu is empty", what, i);
        if (listed(keys[i], i, keys))
            return ub_fail(err, UB_INTERNAL, "%s: %s stands twice", what, keys[i]);
    }
    return true;
}

/* ---- axes ------------------------------------------------------------------ */

static bool check_integer_axis(const struct ub_axis *axis, struct ub_error *err)
{
    if (!has_text(axis->unit))
        return ub_fail(err, UB_INTERNAL, "unit is missing");
    if (axis->minimum > axis->maximum)
        return ub_fail(err, UB_INTERNAL, "its limits %" PRId64 "..%" PRId64 " run backwards", axis->minimum,
                       axis->maximum);
    if (!axis->zero_word)
        return true;
    if (!is_name(axis->zero_word))
        return ub_fail(err, UB_INTERNAL, "'%s' cannot stand for 0", axis->zero_word);
    if (axis->minimum <= 0 && axis->maximum >= 0)
        return ub_fail(err, UB_INTERNAL, "0 is inside its limits, so %s cannot stand for it", axis->zero_word);
    return true;
}

static bool check_word_axis(const struct ub_axis *axis, struct ub_error *err)
{
    if (!axis->words || !axis->words[0])
        return ub_fail(err, UB_INTERNAL, "words is missing");
    for (size_t i = 0; axis->words[i]; i++) {
        const char *word = axis->words[i];
        if (!*word || strpbrk(word, " ,:*=") || strstr(word, "..") || strcmp(word, "all") == 0)
            return ub_fail(err, UB_INTERNAL, "'%s' cannot be a word of an axis", word);
        if (listed(word, i, axis->words))
            return ub_fail(err, UB_INTERNAL, "%s stands twice", word);
    }
    return true;
}

static bool check_axis(const struct ub_axis *axis, struct ub_error *err)
{
    const struct part parts[] = {
        {"unit", axis->unit != NULL},
        {"help", has_text(axis->help)},
        {"initial", has_text(axis->initial)},
    };
    if (!refuse_missing(sizeof parts / sizeof parts[0], parts, err))
        return false;
    if (!(axis->kind == UB_AXIS_WORD ? check_word_axis : check_integer_axis)(axis, err))
        return false;
    struct ub_values values;
    if (!ub_axis_parse(axis, axis->initial, &values, err))
        return ub_fail_in(err, "initial");
    const size_t count = values.count;
    ub_values_free(&values);
    if (count != 1)
        return ub_fail(err, UB_INTERNAL, "initial: '%s' is not one value", axis->initial);
    if (axis->on_command && !ub_axis_parse(axis, axis->on_command, &values, err))
        return ub_fail_in(err, "on_command");
    if (axis->on_command)
        ub_values_free(&values);
    return true;
}

static bool check_axes(const struct ub_micro *micro, struct ub_error *err)
{
    if (micro->axis_count > UB_MAX_AXES)
        return ub_fail(err, UB_INTERNAL, "%zu axes, at most %d are possible", micro->axis_count, UB_MAX_AXES);
    if (micro->axis_count && !micro->axes)
        return ub_fail(err, UB_INTERNAL, "axes is missing");
    for (size_t i = 0; i < micro->axis_count; i++) {
        const char *name = micro->axes[i].name;
        if (!is_name(name))
            return ub_fail(err, UB_INTERNAL, "axis %zu: '%s' is not a name (a-z, 0-9, _)", i, name ? name : "");
        if (ub_axis_index(micro, name) != (int)i)
            return ub_fail(err, UB_INTERNAL, "axis %s stands twice", name);
        if (!check_axis(&micro->axes[i], err))
            return ub_fail_in(err, "axis %s", name);
    }
    return true;
}

/* ---- sweeps ---------------------------------------------------------------- */

static bool check_sweep(const struct ub_micro *micro, const struct ub_sweep *sweep, struct ub_error *err)
{
    const unsigned all_suites = UB_SUITE_DEFAULT | UB_SUITE_QUICK | UB_SUITE_FULL;
    const struct part parts[] = {{"axes", sweep->axes != NULL}, {"help", has_text(sweep->help)}};
    if (!refuse_missing(sizeof parts / sizeof parts[0], parts, err))
        return false;
    if (sweep->suites == 0 || (sweep->suites & ~all_suites) != 0)
        return ub_fail(err, UB_INTERNAL, "suites 0x%x is no set of UB_SUITE_*", sweep->suites);
    struct ub_values ranges[UB_MAX_AXES];
    if (!ub_ranges_parse(micro, sweep->axes, ranges, err))
        return false;
    const uint64_t points = ub_ranges_points(micro, ranges);
    ub_ranges_free(ranges);
    if (points > UB_PLAN_LIMIT)
        return ub_fail(err, UB_INTERNAL, "%" PRIu64 " points are more than a plan takes (%d)", points, UB_PLAN_LIMIT);
    return true;
}

static bool holds(const struct ub_values *all, const struct ub_values *some)
{
    for (size_t i = 0; i < some->count; i++) {
        size_t at = 0;
        while (at < all->count && all->values[at] != some->values[i])
            at++;
        if (at == all->count)
            return false;
    }
    return true;
}

/* Whether one of two sweeps has all points of the other. */
static bool nest(const struct ub_micro *micro, const struct ub_sweep *one, const struct ub_sweep *other)
{
    struct ub_values a[UB_MAX_AXES], b[UB_MAX_AXES];
    if (!ub_ranges_parse(micro, one->axes, a, NULL))
        return false;
    if (!ub_ranges_parse(micro, other->axes, b, NULL)) {
        ub_ranges_free(a);
        return false;
    }
    bool in_other = true, in_one = true;
    for (size_t i = 0; i < micro->axis_count; i++) {
        in_other = in_other && holds(&b[i], &a[i]);
        in_one = in_one && holds(&a[i], &b[i]);
    }
    ub_ranges_free(a);
    ub_ranges_free(b);
    return in_other || in_one;
}

/* A name may stand for fewer points in one suite than in another, never for other ones. */
static bool check_namesake(const struct ub_micro *micro, const struct ub_sweep *sweep, const struct ub_sweep *before,
                           struct ub_error *err)
{
    if (strcmp(before->name, sweep->name) != 0)
        return true;
    if ((before->suites & sweep->suites) != 0)
        return ub_fail(err, UB_INTERNAL, "sweep %s stands twice in a suite", sweep->name);
    return nest(micro, sweep, before) ||
           ub_fail(err, UB_INTERNAL, "sweep %s has other points in one suite than in another", sweep->name);
}

static bool check_sweeps(const struct ub_micro *micro, struct ub_error *err)
{
    unsigned suites = 0;
    for (size_t i = 0; i < micro->sweep_count; i++) {
        const struct ub_sweep *sweep = &micro->sweeps[i];
        if (!is_name(sweep->name) || ub_plan_names(sweep->name))
            return ub_fail(err, UB_INTERNAL, "sweep %zu: '%s' cannot be its name", i, sweep->name ? sweep->name : "");
        if (!check_sweep(micro, sweep, err))
            return ub_fail_in(err, "sweep %s", sweep->name);
        for (size_t j = 0; j < i; j++)
            if (!check_namesake(micro, sweep, &micro->sweeps[j], err))
                return false;
        suites |= sweep->suites;
    }
    if (!(suites & UB_SUITE_DEFAULT))
        return ub_fail(err, UB_INTERNAL, "no sweep is in the default suite");
    return true;
}

/* ---- constants, chart ------------------------------------------------------ */

static bool check_metric(const struct ub_micro *micro, const char *what, const char *metric, struct ub_error *err)
{
    if (!has_text(metric) || !listed(metric, micro->metric_count, micro->metric_keys))
        return ub_fail(err, UB_INTERNAL, "%s: '%s' is none of the rule's metrics", what, metric ? metric : "");
    return true;
}

static bool check_provides(const struct ub_micro *micro, struct ub_error *err)
{
    for (size_t i = 0; i < micro->provide_count; i++) {
        const struct ub_provides *provides = &micro->provides[i];
        struct ub_point point;
        if (!has_text(provides->constant) || !provides->axes)
            return ub_fail(err, UB_INTERNAL, "provides, number %zu: its constant or axes is missing", i);
        for (size_t j = 0; j < i; j++)
            if (strcmp(micro->provides[j].constant, provides->constant) == 0)
                return ub_fail(err, UB_INTERNAL, "provides: %s stands twice", provides->constant);
        if (!ub_point_parse(micro, provides->axes, &point, err) ||
            !check_metric(micro, "metric", provides->metric, err))
            return ub_fail_in(err, "provides %s", provides->constant);
    }
    return true;
}

static bool has_sweep(const struct ub_micro *micro, const char *name)
{
    for (size_t i = 0; i < micro->sweep_count; i++)
        if (micro->sweeps[i].name && strcmp(micro->sweeps[i].name, name) == 0)
            return true;
    return false;
}

static bool check_chart_texts(const struct ub_micro *micro, struct ub_error *err)
{
    const struct ub_chart *chart = &micro->chart;
    for (size_t i = 0; i < chart->text_count; i++) {
        const char *axis = chart->texts[i].axis;
        if (!axis || (*axis && ub_axis_index(micro, axis) < 0 && !has_sweep(micro, axis)))
            return ub_fail(err, UB_INTERNAL, "chart: text %zu is for '%s', which is neither an axis nor a sweep", i,
                           axis ? axis : "");
        if (!has_text(chart->texts[i].finding))
            return ub_fail(err, UB_INTERNAL, "chart: the finding of text %zu is missing", i);
    }
    return true;
}

static bool check_chart(const struct ub_micro *micro, struct ub_error *err)
{
    const struct ub_chart *chart = &micro->chart;
    const struct part parts[] = {
        {"chart.kind", has_text(chart->kind)},
        {"chart.metric_label", has_text(chart->metric_label)},
        {"chart.metric_scale", chart->metric_scale > 0},
        {"chart.other_label", !chart->other_metric || has_text(chart->other_label)},
        {"chart.other_scale", !chart->other_metric || chart->other_scale > 0},
        {"chart.x_label", !chart->x_metric || has_text(chart->x_label)},
        {"chart.x_sweep", !chart->x_sweep || has_sweep(micro, chart->x_sweep)},
        {"chart.x_axis", !chart->x_metric || (chart->x_axis && ub_axis_index(micro, chart->x_axis) >= 0)},
        {"chart.share_label", !chart->share_metric || has_text(chart->share_label)},
        {"chart.panel_label", !chart->panel_metric || has_text(chart->panel_label)},
        {"chart.panel_counter", !chart->panel_metric || has_text(chart->panel_counter)},
        {"chart.second_label", (!chart->second && !chart->roof) || has_text(chart->second_label)},
        {"chart.texts", chart->text_count > 0 && chart->texts},
    };
    return refuse_missing(sizeof parts / sizeof parts[0], parts, err) &&
           check_metric(micro, "chart.metric", chart->metric, err) &&
           (!chart->other_metric || check_metric(micro, "chart.other_metric", chart->other_metric, err)) &&
           (!chart->x_metric || check_metric(micro, "chart.x_metric", chart->x_metric, err)) &&
           (!chart->share_metric || check_metric(micro, "chart.share_metric", chart->share_metric, err)) &&
           (!chart->panel_metric || check_metric(micro, "chart.panel_metric", chart->panel_metric, err)) &&
           check_chart_texts(micro, err);
}

/* ---- the whole rule -------------------------------------------------------- */

static bool check_parts(const struct ub_micro *micro, struct ub_error *err)
{
    const struct part parts[] = {
        {"rule (the sentence)", has_text(micro->rule)},
        {"text.law", has_text(micro->text.law)},
        {"text.breaks", has_text(micro->text.breaks)},
        {"text.consequence", has_text(micro->text.consequence)},
        {"text.folk", has_text(micro->text.folk)},
        {"text.sources", has_text(micro->text.sources)},
        {"sweeps", micro->sweep_count > 0 && micro->sweeps},
        {"provides", micro->provide_count == 0 || micro->provides},
        {"metric_keys", micro->metric_count > 0},
        {"timer()", micro->timer != NULL},
        {"supported()", micro->supported != NULL},
        {"footprint()", micro->footprint != NULL},
        {"law()", micro->law != NULL},
        {"metrics()", micro->metrics != NULL},
        {"small()", micro->small != NULL},
        {"verify()", micro->verify != NULL},
    };
    return refuse_missing(sizeof parts / sizeof parts[0], parts, err);
}

static bool check_code(const struct ub_code *code, struct ub_error *err)
{
    if (!code)
        return true; /* a build without nvcc */
    const struct part parts[] = {{"code.launch()", code->launch != NULL},
                                 {"code.kernel()", code->kernel != NULL},
                                 {"code.release()", code->release || !code->prepare}};
    return refuse_missing(sizeof parts / sizeof parts[0], parts, err);
}

bool ub_entry_check(const struct ub_entry *entry, struct ub_error *err)
{
    const struct ub_micro *micro = entry->micro;
    if (!micro || !is_name(micro->name))
        return ub_fail(err, UB_INTERNAL, "a rule's name '%s' is not a name (a-z, 0-9, _)",
                       micro && micro->name ? micro->name : "");
    const bool ok = check_parts(micro, err) && check_axes(micro, err) && check_sweeps(micro, err) &&
                    check_keys("counters", micro->counter_count, UB_MAX_COUNTERS, micro->counters, err) &&
                    check_keys("needs", micro->need_count, UB_MAX_CONSTANTS, micro->needs, err) &&
                    check_keys("metric_keys", micro->metric_count, UB_MAX_METRICS, micro->metric_keys, err) &&
                    check_provides(micro, err) && check_chart(micro, err) && check_code(entry->code, err);
    if (ok)
        return true;
    if (err)
        err->status = UB_INTERNAL; /* our mistake, also where a range of the rule's does not parse */
    return ub_fail_in(err, "rule %s is incomplete", micro->name);
}

/* Of two rules that measure one constant, the last to run would silently decide. */
static bool check_pair(const struct ub_micro *earlier, const struct ub_micro *later, struct ub_error *err)
{
    if (strcmp(earlier->name, later->name) == 0)
        return ub_fail(err, UB_INTERNAL, "rule %s stands twice in the list", later->name);
    for (size_t i = 0; i < earlier->provide_count; i++)
        for (size_t j = 0; j < later->provide_count; j++)
            if (strcmp(earlier->provides[i].constant, later->provides[j].constant) == 0)
                return ub_fail(err, UB_INTERNAL, "rules %s and %s both provide %s", earlier->name, later->name,
                               later->provides[j].constant);
    return true;
}

bool ub_entries_check(size_t count, const struct ub_entry *entries, struct ub_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!ub_entry_check(&entries[i], err))
            return false;
        for (size_t j = 0; j < i; j++)
            if (!check_pair(entries[j].micro, entries[i].micro, err))
                return false;
    }
    return true;
}

bool ub_registry_check(struct ub_error *err)
{
    return ub_entries_check(ub_entry_count, ub_entries, err);
}

const struct ub_entry *ub_registry_find(const char *name, struct ub_error *err)
{
    for (size_t i = 0; i < ub_entry_count; i++)
        if (strcmp(ub_entries[i].micro->name, name) == 0)
            return &ub_entries[i];
    const char *names[NAMES_LIMIT];
    size_t count = 0;
    for (; count < ub_entry_count && count < NAMES_LIMIT; count++)
        names[count] = ub_entries[count].micro->name;
    const char *near = ub_suggest(name, count, names);
    if (near)
        ub_fail(err, UB_USAGE, "unknown rule '%.60s'; did you mean %s?", name, near);
    else
        ub_fail(err, UB_USAGE, "unknown rule '%.60s' (ubench list shows all rules)", name);
    return NULL;
}
