/* SPDX-License-Identifier: MIT
 *
 * How much a point changed, and whether that can be told from noise. The rules are those
 * of harness.md 1.3: the ratio of medians with a bootstrap interval, a margin below which
 * nothing is worth speaking of, and the cycles as a second opinion. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/engine/compare_parts.h"
#include "harness/engine/law.h"
#include "harness/engine/stats.h"
#include "harness/engine/two_samples.h"

enum { FEWEST = 6 /* samples that have an interval */ };

/* More rounds than any run has. */
static const double most_rounds = 10000;
/* The host's speed differs from process to process by as much as its times scatter: so
 * many (scaled) MADs of both runs together a difference must exceed. */
static const double host_mads = 3;

/* Values of one side in ascending order. */
struct sorted {
    size_t n, room;
    double *values;
};

struct judge {
    struct ub_comparison *comparison;
    size_t drawn;
    struct drawn {
        uint64_t stream;
        struct ub_resamples draws;
    } * draws; /* by size and side */
    struct sorted first, other;
    double *pairs; /* room of the bootstrap */
    struct ub_error *err;
};

static bool no_memory(const struct judge *judge)
{
    return ub_fail(judge->err, UB_INTERNAL, "out of memory while comparing");
}

/* ---- one side ------------------------------------------------------------------ */

/* "ceiling_share", "copy_share", "peak_share": what a rule calls the share of its ceiling. */
static double share_of(const struct ub_record_point *point)
{
    static const char ending[] = "_share";
    for (size_t i = 0; i < point->metric_count; i++) {
        const struct ub_record_metric *metric = &point->metrics[i];
        const size_t length = strlen(metric->key), tail = sizeof ending - 1;
        if (length > tail && strcmp(metric->key + length - tail, ending) == 0 && ub_same_text(metric->unit, "1"))
            return metric->value;
    }
    return NAN;
}

static void fill_side(const struct ub_record *record, struct ub_side *side)
{
    const struct ub_record_point *point = side->point;
    side->time_ns = side->lo_ns = side->hi_ns = side->share = NAN;
    if (!point)
        return;
    side->share = share_of(point);
    if (record->source == UB_PREDICTED) {
        side->time_ns = point->predicted_ns;
    } else if (point->time.n > 0) {
        side->time_ns = point->time.median;
        side->lo_ns = point->time.ci_lo;
        side->hi_ns = point->time.ci_hi;
    }
}

/* What a launch does, in the unit of a rate that the rule gives: bytes or operations. It
 * differs where a size is chosen to suit the card. NaN: the rule counts none. */
static double work_of(const struct ub_record_point *point)
{
    if (point->useful_bytes > 0)
        return point->useful_bytes;
    for (size_t i = 0; i < point->predicted_metric_count; i++) {
        const struct ub_record_metric *metric = &point->predicted_metrics[i];
        if ((ub_same_text(metric->unit, "B/s") || ub_same_text(metric->unit, "FLOP/s")) && isfinite(metric->value))
            return metric->value * point->predicted_ns * 1e-9;
    }
    return NAN;
}

static bool nearly(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* ---- samples ------------------------------------------------------------------- */

static int ascending(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Times or cycles of a point. Leaves n at 0 where they are not all known. */
static bool sort_samples(const struct judge *judge, const struct ub_time *time, bool cycles, struct sorted *out)
{
    out->n = 0;
    if (!time->samples)
        return true;
    if (time->n > out->room) {
        double *grown = realloc(out->values, time->n * sizeof *grown);
        if (!grown)
            return no_memory(judge);
        out->values = grown;
        out->room = time->n;
    }
    for (size_t i = 0; i < time->n; i++) {
        const struct ub_sample *sample = &time->samples[i];
        out->values[i] = sample->time_ns * (cycles ? sample->clock_mhz * 1e-3 : 1);
        if (!isfinite(out->values[i]))
            return true;
    }
    out->n = time->n;
    qsort(out->values, out->n, sizeof *out->values, ascending);
    return true;
}

static const struct ub_resamples *draws_for(struct judge *judge, size_t n, uint64_t stream)
{
    for (size_t i = 0; i < judge->drawn; i++)
        if (judge->draws[i].draws.n == n && judge->draws[i].stream == stream)
            return &judge->draws[i].draws;
    struct drawn *grown = realloc(judge->draws, (judge->drawn + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    judge->draws = grown;
    struct drawn *drawn = &judge->draws[judge->drawn];
    drawn->stream = stream;
    if (!ub_resamples_draw(n, UB_RESAMPLES, judge->comparison->seed, stream, &drawn->draws))
        return NULL;
    judge->drawn++;
    return &drawn->draws;
}

/* The ratio of the medians of what is sorted, with its interval. */
static bool bootstrap(struct judge *judge, struct ub_interval *out)
{
    *out = (struct ub_interval){NAN, NAN, NAN};
    if (judge->first.n < FEWEST || judge->other.n < FEWEST)
        return true;
    /* The second call may move what the first returned. */
    if (!draws_for(judge, judge->first.n, 0) || !draws_for(judge, judge->other.n, 1))
        return no_memory(judge);
    *out = ub_ratio_of_medians(judge->first.values, draws_for(judge, judge->first.n, 0), judge->other.values,
                               draws_for(judge, judge->other.n, 1), judge->comparison->confidence, judge->pairs);
    return true;
}

/* ---- the ratio ------------------------------------------------------------------- */

/* A timer that ticks makes intervals too narrow: half a tick more at either end. */
static double half_tick(const struct ub_record *record, const struct ub_record_point *point)
{
    return ub_tick_of(&record->constants, point) / 2 / point->time.median;
}

/* Hodges-Lehmann on logarithms: the median of all ratios of a pair. */
static void fill_shift(struct judge *judge, struct ub_contrast *contrast)
{
    if (judge->first.n == 0 || judge->other.n == 0 || !(judge->first.values[0] > 0) || !(judge->other.values[0] > 0))
        return;
    for (size_t i = 0; i < judge->first.n; i++)
        judge->first.values[i] = log(judge->first.values[i]);
    for (size_t i = 0; i < judge->other.n; i++)
        judge->other.values[i] = log(judge->other.values[i]);
    contrast->shift = exp(ub_hodges_lehmann(judge->first.values, judge->first.n, judge->other.values, judge->other.n));
}

static bool fill_times(struct judge *judge, size_t run, const struct ub_side *first, const struct ub_side *other,
                       struct ub_contrast *contrast)
{
    const struct ub_compared_run *runs = judge->comparison->runs;
    struct ub_interval ratio;
    if (!sort_samples(judge, &first->point->time, false, &judge->first) ||
        !sort_samples(judge, &other->point->time, false, &judge->other) || !bootstrap(judge, &ratio))
        return false;
    contrast->from_summaries = judge->first.n == 0 || judge->other.n == 0;
    if (contrast->from_summaries) {
        contrast->lo = first->lo_ns / other->hi_ns;
        contrast->hi = first->hi_ns / other->lo_ns;
        return true;
    }
    const double ticks = half_tick(runs[0].record, first->point) + half_tick(runs[run].record, other->point);
    contrast->lo = ratio.lo * (1 - ticks);
    contrast->hi = ratio.hi * (1 + ticks);
    if (!judge->comparison->one_card)
        return true; /* two cards differ, no test is needed to know */
    contrast->p = ub_mann_whitney(judge->first.values, judge->first.n, judge->other.values, judge->other.n).p;
    fill_shift(judge, contrast);
    return true;
}

/* The ratio alone, which costs little. */
static bool fill_cycles(struct judge *judge, const struct ub_side *first, const struct ub_side *other, double factor,
                        struct ub_contrast *contrast)
{
    if (!sort_samples(judge, &first->point->time, true, &judge->first) ||
        !sort_samples(judge, &other->point->time, true, &judge->other))
        return false;
    contrast->cycles = ub_quantile_sorted(judge->first.values, judge->first.n, 0.5) /
                       ub_quantile_sorted(judge->other.values, judge->other.n, 0.5) * factor;
    return true;
}

/* Its interval, where the times claim a change. */
static bool ask_cycles(struct judge *judge, double factor, struct ub_contrast *contrast)
{
    struct ub_interval ratio;
    if (!bootstrap(judge, &ratio))
        return false;
    contrast->cycles_lo = ratio.lo * factor;
    contrast->cycles_hi = ratio.hi * factor;
    return true;
}

/* ---- the verdict ------------------------------------------------------------------ */

static enum ub_change change_of(double ratio, double lo, double hi, double margin)
{
    if (!isfinite(ratio) || !isfinite(lo) || !isfinite(hi))
        return UB_CHANGE_UNSURE;
    if (lo >= 1 - margin && hi <= 1 + margin)
        return UB_CHANGE_SAME;
    if ((lo > 1 || hi < 1) && fabs(ratio - 1) >= margin)
        return ratio > 1 ? UB_CHANGE_FASTER : UB_CHANGE_SLOWER;
    return UB_CHANGE_UNSURE;
}

/* An interval narrows with the root of the rounds. It must leave out 1 where the ratio is
 * outside the margin, and fit into the margin where it is inside. */
static double rounds_to_settle(const struct ub_contrast *contrast, double margin, size_t n)
{
    const double half = (contrast->hi - contrast->lo) / 2, away = fabs(contrast->ratio - 1);
    const double room = away >= margin ? away : margin - away;
    const double rounds = ceil((double)n * (half / room) * (half / room)) + 1 - (double)n;
    return rounds <= most_rounds ? fmax(rounds, 1) : INFINITY;
}

/* Whether a difference of host times is within what they scatter. */
static bool is_host_noise(const struct ub_side *first, const struct ub_side *other, double ratio)
{
    const struct ub_time *a = &first->point->time, *b = &other->point->time;
    return first->point->timer == UB_TIMER_HOST &&
           !(fabs(log(ratio)) > host_mads * hypot(a->mad / a->median, b->mad / b->median));
}

static bool is_changed(const struct ub_contrast *contrast)
{
    return contrast->change == UB_CHANGE_FASTER || contrast->change == UB_CHANGE_SLOWER;
}

static void judge_times(const struct ub_comparison *comparison, const struct ub_side *first,
                        const struct ub_side *other, struct ub_contrast *contrast)
{
    const size_t n = first->point->time.n < other->point->time.n ? first->point->time.n : other->point->time.n;
    const double margin = comparison->margin;
    contrast->change = change_of(contrast->ratio, contrast->lo, contrast->hi, margin);
    if (contrast->change == UB_CHANGE_UNSURE) {
        contrast->because = n < FEWEST ? UB_BECAUSE_FEW : UB_BECAUSE_SPREAD;
        contrast->more_rounds = n < FEWEST ? (double)(FEWEST - n) : rounds_to_settle(contrast, margin, n);
    } else if (is_changed(contrast) && is_host_noise(first, other, contrast->ratio)) {
        contrast->change = UB_CHANGE_UNSURE;
        contrast->because = UB_BECAUSE_HOST;
        contrast->more_rounds = INFINITY;
    }
}

/* Why there is nothing to compare, or nothing to test. */
static enum ub_change_reason obstacle(const struct ub_comparison *comparison, size_t run, const struct ub_side *first,
                                      const struct ub_side *other)
{
    const struct ub_record *a = comparison->runs[0].record, *b = comparison->runs[run].record;
    if (!other->point)
        return UB_BECAUSE_ABSENT;
    if (isnan(first->time_ns) || isnan(other->time_ns))
        return UB_BECAUSE_NO_TIME;
    if (!(first->time_ns > 0) || !(other->time_ns > 0))
        return UB_BECAUSE_ZERO;
    if (first->point->timer != other->point->timer)
        return UB_BECAUSE_TIMER;
    if (comparison->one_card && a->source == b->source && isnan(work_of(first->point)) &&
        first->point->footprint_bytes > 0 && other->point->footprint_bytes > 0 &&
        !nearly(first->point->footprint_bytes, other->point->footprint_bytes))
        return UB_BECAUSE_SIZES;
    return a->source == UB_MEASURED && b->source == UB_MEASURED ? UB_BECAUSE_NOTHING : UB_BECAUSE_PREDICTED;
}

static void init_contrast(struct ub_contrast *contrast)
{
    *contrast = (struct ub_contrast){.ratio = NAN,
                                     .lo = NAN,
                                     .hi = NAN,
                                     .cycles = NAN,
                                     .cycles_lo = NAN,
                                     .cycles_hi = NAN,
                                     .predicted = NAN,
                                     .shift = NAN,
                                     .p = NAN,
                                     .rate = NAN,
                                     .more_rounds = NAN};
}

/* Throughputs instead of times: ratios get the factor of the work done. */
static double work_factor(const struct ub_side *first, const struct ub_side *other, struct ub_contrast *contrast)
{
    const double factor = work_of(other->point) / work_of(first->point);
    if (!isfinite(factor) || !(factor > 0) || nearly(factor, 1))
        return 1;
    double *ratios[] = {&contrast->ratio, &contrast->lo, &contrast->hi, &contrast->predicted, &contrast->shift};
    for (size_t i = 0; i < sizeof ratios / sizeof ratios[0]; i++)
        *ratios[i] *= factor;
    contrast->by_work = true;
    return factor;
}

/* On one card a difference is a change; the clock may have made it. */
static bool judge_change(struct judge *judge, const struct ub_side *first, const struct ub_side *other, double factor,
                         struct ub_contrast *contrast)
{
    const struct ub_comparison *comparison = judge->comparison;
    judge_times(comparison, first, other, contrast);
    if (!comparison->one_card)
        return true;
    if (!fill_cycles(judge, first, other, factor, contrast) ||
        (is_changed(contrast) && !ask_cycles(judge, factor, contrast)))
        return false;
    if (is_changed(contrast) &&
        change_of(contrast->cycles, contrast->cycles_lo, contrast->cycles_hi, comparison->margin) == UB_CHANGE_SAME)
        contrast->because = UB_BECAUSE_CLOCK;
    return true;
}

static bool judge_run(struct judge *judge, const struct ub_compared_point *point, size_t run)
{
    const struct ub_comparison *comparison = judge->comparison;
    const struct ub_side *first = &point->sides[0], *other = &point->sides[run];
    struct ub_contrast *contrast = &point->contrasts[run];
    init_contrast(contrast);
    contrast->because = obstacle(comparison, run, first, other);
    const bool tested = contrast->because == UB_BECAUSE_NOTHING;
    if (!tested && contrast->because != UB_BECAUSE_PREDICTED)
        return true;
    contrast->ratio = first->time_ns / other->time_ns;
    contrast->predicted = first->point->predicted_ns / other->point->predicted_ns;
    if (tested && !fill_times(judge, run, first, other, contrast))
        return false;
    const double factor = work_factor(first, other, contrast);
    return !tested || judge_change(judge, first, other, factor, contrast);
}

/* ---- all points ----------------------------------------------------------------------- */

static bool fill_rates(struct ub_comparison *comparison, size_t run)
{
    const size_t count = comparison->point_count;
    double *room = malloc((2 * count + 1) * sizeof *room);
    if (!room)
        return false;
    for (size_t i = 0; i < count; i++)
        room[i] = comparison->points[i].contrasts[run].p;
    const bool ok = ub_false_discovery_rates(room, count, room + count);
    for (size_t i = 0; i < count && ok; i++)
        comparison->points[i].contrasts[run].rate = room[count + i];
    free(room);
    return ok;
}

static bool judge_all(struct judge *judge)
{
    struct ub_comparison *comparison = judge->comparison;
    for (size_t i = 0; i < comparison->point_count; i++) {
        const struct ub_compared_point *point = &comparison->points[i];
        for (size_t run = 0; run < comparison->run_count; run++)
            fill_side(comparison->runs[run].record, &point->sides[run]);
        init_contrast(&point->contrasts[0]);
        for (size_t run = 1; run < comparison->run_count; run++) {
            if (!judge_run(judge, point, run))
                return false;
            comparison->tested |= point->contrasts[run].change != UB_CHANGE_UNTESTED;
        }
    }
    for (size_t run = 1; run < comparison->run_count; run++)
        if (!fill_rates(comparison, run))
            return no_memory(judge);
    return true;
}

bool ub_compare_judge(struct ub_comparison *comparison, struct ub_error *err)
{
    struct judge judge = {.comparison = comparison, .err = err};
    judge.pairs = malloc(UB_RESAMPLES * sizeof *judge.pairs);
    const bool ok = judge.pairs ? judge_all(&judge) : no_memory(&judge);
    for (size_t i = 0; i < judge.drawn; i++)
        ub_resamples_free(&judge.draws[i].draws);
    free(judge.draws);
    free(judge.first.values);
    free(judge.other.values);
    free(judge.pairs);
    return ok;
}
