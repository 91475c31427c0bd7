/* SPDX-License-Identifier: MIT
 *
 * The time model: the slowest resource decides, all others hide behind it, and
 * the floor is paid on top. */
#include "harness/model/time.h"

#include <assert.h>
#include <math.h>

void ub_time_term(struct ub_law *law, const char *name, double time_ns)
{
    if (!isfinite(time_ns) || time_ns <= 0)
        return;
    assert(law->term_count < UB_MAX_TERMS);
    if (law->term_count == UB_MAX_TERMS)
        return;
    law->terms[law->term_count++] = (struct ub_law_term){.name = name, .time_ns = time_ns};
}

void ub_time_bottleneck(struct ub_law *law, double floor_ns)
{
    const struct ub_law_term *largest = NULL;
    for (size_t i = 0; i < law->term_count; i++)
        if (!largest || law->terms[i].time_ns > largest->time_ns)
            largest = &law->terms[i];
    law->time_ns = largest ? largest->time_ns + floor_ns : NAN;
    law->bottleneck = largest ? largest->name : NULL;
}

void ub_time_unknown(struct ub_law *law, const char *note)
{
    law->time_ns = NAN;
    law->bottleneck = NULL;
    law->note = note;
}
