/* SPDX-License-Identifier: MIT */
#include "plots/scale.h"

#include <math.h>
#include <stdio.h>

void ub_number_text(double value, char *text, size_t size)
{
    if (fabs(value) < 1e9 && value == floor(value))
        snprintf(text, size, "%.0f", value);
    else
        snprintf(text, size, "%.4g", value);
}

double ub_scale_fraction(const struct ub_scale *scale, double value)
{
    if (scale->kind == UB_SCALE_LOG2)
        return log2(value / scale->lo) / log2(scale->hi / scale->lo);
    return (value - scale->lo) / (scale->hi - scale->lo);
}

double ub_scale_value(const struct ub_scale *scale, double fraction)
{
    if (scale->kind == UB_SCALE_LOG2)
        return scale->lo * pow(scale->hi / scale->lo, fraction);
    return scale->lo + (scale->hi - scale->lo) * fraction;
}

void ub_scale_tick(struct ub_scale *scale, double at, const char *label)
{
    if (scale->tick_count == UB_MAX_TICKS)
        return;
    struct ub_tick *tick = &scale->ticks[scale->tick_count++];
    tick->at = at;
    if (label)
        snprintf(tick->label, sizeof tick->label, "%s", label);
    else
        ub_number_text(at, tick->label, sizeof tick->label);
}

/* The smallest round step that needs at most `ticks` ticks. A quarter of a power of two
 * comes first: hardware counts end at 8, 16, 32. */
static double round_step(double min, double max, size_t ticks, bool whole)
{
    const double octaves = max > 0 ? log2(max) : NAN;
    if (min <= 0 && max >= 3.9 && max <= 4100 && fabs(octaves - round(octaves)) < 0.02)
        return exp2(round(octaves)) / 4;
    const double rough = (max - min) / (double)ticks;
    const double magnitude = pow(10, floor(log10(rough)));
    static const double steps[] = {1, 2, 5, 10};
    double step = 10 * magnitude;
    for (size_t i = sizeof steps / sizeof steps[0]; i-- > 0;)
        if (steps[i] * magnitude >= rough * (1 - 1e-9))
            step = steps[i] * magnitude;
    return whole && step < 1 ? 1 : step;
}

void ub_scale_linear(struct ub_scale *scale, double min, double max, double pad_lo, double pad_hi, size_t ticks,
                     bool whole)
{
    if (!(max > min)) {
        const double room = min == 0 ? 1 : fabs(min) * 0.25;
        min -= min == 0 ? 0 : room;
        max += room;
    }
    *scale = (struct ub_scale){.kind = UB_SCALE_LINEAR};
    scale->lo = min - (max - min) * pad_lo;
    scale->hi = max + (max - min) * pad_hi;
    const double step = round_step(min, max, ticks, whole);
    for (double n = ceil(scale->lo / step - 1e-9); n * step <= scale->hi + step * 1e-9; n++)
        if (scale->tick_count <= ticks + 1)
            ub_scale_tick(scale, n == 0 ? 0 : n * step, NULL);
}

void ub_scale_log2(struct ub_scale *scale, double min, double max, double pad_lo, double pad_hi, size_t ticks)
{
    if (!(max > min)) {
        min /= 2;
        max *= 2;
    }
    const double octaves = log2(max / min);
    *scale = (struct ub_scale){.kind = UB_SCALE_LOG2};
    scale->lo = min * exp2(-octaves * pad_lo);
    scale->hi = max * exp2(octaves * pad_hi);
    const double first = ceil(log2(scale->lo) - 1e-9), last = floor(log2(scale->hi) + 1e-9);
    const double step = fmax(1, ceil((last - first + 1) / (double)ticks));
    for (double power = ceil(first / step) * step; power <= last; power += step)
        ub_scale_tick(scale, exp2(power), NULL);
}

void ub_scale_category(struct ub_scale *scale, size_t count)
{
    *scale = (struct ub_scale){.kind = UB_SCALE_CATEGORY, .lo = -0.5, .hi = (double)count - 0.5};
}
