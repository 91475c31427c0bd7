/* SPDX-License-Identifier: MIT
 *
 * The part of `check` that is about timelines: a stream does one thing after the other,
 * and a launch has the operations of its law. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/engine/check_private.h"

/* A stream does one thing after the other; the events that say so tick in half microseconds. */
void ub_check_order(struct ub_checker *check)
{
    static const double tick_ns = 1000;
    double ends_ns[UB_MAX_TIMELINE_STREAMS + 1] = {0};
    for (size_t i = 0; i < check->point->span_count; i++) {
        const struct ub_span *span = &check->point->spans[i];
        double *end_ns = &ends_ns[span->stream - UB_DEFAULT_STREAM];
        if (span->begin_ns < *end_ns - tick_ns) {
            ub_check_problem(
                check,
                "operation %zu of its timeline begins at %.12g ns, before the one ahead of it in its stream "
                "has ended (%.12g ns)",
                i, span->begin_ns, *end_ns);
            return;
        }
        *end_ns = fmax(*end_ns, span->end_ns);
    }
}

/* What the law says, where it stands in the place of timestamps. */
static bool same_operation(const struct ub_span *a, const struct ub_span *b)
{
    return a->stream == b->stream && a->segment == b->segment && strcmp(a->stage, b->stage) == 0;
}

/* Takes one such operation out of the law's; false: it has none left. */
static bool take_operation(struct ub_timeline *law, const struct ub_span *span)
{
    for (size_t i = 0; i < law->count; i++)
        if (same_operation(&law->spans[i], span)) {
            law->spans[i] = law->spans[--law->count];
            return true;
        }
    return false;
}

/* A measured timeline has the operations of the law, each once; when they ran is the card's
 * affair (docs/method.md). */
void ub_check_measured_timeline(struct ub_checker *check, const struct ub_micro *micro, const struct ub_point *point)
{
    const struct ub_record_point *stored = check->point;
    struct ub_timeline *law = calloc(1, sizeof *law);
    if (law && micro->timeline)
        micro->timeline(&check->gpu, &check->record->constants, point, law);
    const size_t wanted = law ? law->count : 0;
    bool known = true;
    for (size_t i = 0; i < stored->span_count; i++)
        known = known && law && take_operation(law, &stored->spans[i]);
    if (!law)
        ub_check_problem(check, "its timeline was not checked: out of memory");
    else if (!micro->timeline)
        ub_check_problem(check, "has a timeline, and %s has none", micro->name);
    else if (wanted > 0 && (!known || law->count > 0))
        ub_check_problem(check, "its timeline has other operations than the launch of the law");
    free(law);
}

void ub_check_predicted_timeline(struct ub_checker *check, const struct ub_micro *micro, const struct ub_point *point)
{
    const struct ub_record_point *stored = check->point;
    struct ub_timeline *law = calloc(1, sizeof *law);
    if (law && micro->timeline)
        micro->timeline(&check->gpu, &check->record->constants, point, law);
    if (!law)
        ub_check_problem(check, "its timeline was not checked: out of memory");
    else if (stored->span_count != law->count)
        ub_check_problem(check, "its timeline has %zu operations, by the law %zu", stored->span_count, law->count);
    for (size_t i = 0; law && stored->span_count == law->count && i < law->count; i++) {
        const struct ub_span *a = &stored->spans[i], *b = &law->spans[i];
        if (!same_operation(a, b) || !ub_check_same(a->begin_ns, b->begin_ns, b->end_ns) ||
            !ub_check_same(a->end_ns, b->end_ns, b->end_ns)) {
            ub_check_problem(check, "operation %zu of its timeline is not what the law says", i);
            break;
        }
    }
    free(law);
}
