/* SPDX-License-Identifier: MIT
 *
 * How much of the SM's memory is left to cache, and what that does to loads.
 *
 * Division. The documents say: the preference, a percentage of the most shared memory that
 * an SM can have, is rounded up to a size that the generation has, and is a hint. Measured
 * (H200, driver 580, CUDA 13.0; 180 pairs of percentage and size, the same with blocks of 32
 * to 256 threads, and whatever the SMs had been before):
 *   - the percentage is of what blocks themselves can use: as many blocks as fit it each get
 *     their reserved KiB on top, then it is rounded up. 50 % of 228 KiB are 38 blocks of
 *     3 KiB, hence 38 x 4 = 152, hence 164 KiB, not 132;
 *   - one block always fits;
 *   - a kernel without shared memory gets at least the reserved KiB of as many blocks as an
 *     SM can ever hold: 32 KiB. So it is with small blocks, such as the rule launches; one of
 *     1024 threads left 240 KiB to L1 (rule latency, 240 KiB all found, preference 0), hence 8
 *     KiB at most. Why is not known: 16 blocks of 128 threads, which are resident, would need
 *     16 KiB, and have 32.
 * Without a preference it is the least size that takes away no block, and up to twice as
 * much as long as that is under half: 228 sizes with blocks of 128 threads. (Below 512 bytes
 * of shared memory it was less than twice.)
 * What is left is L1's, less `kept_bytes`.
 *
 * Hits. Each load draws its line from all lines of the footprint, whatever was drawn
 * before. What L1 holds at that moment is C of the N lines and depends on earlier draws
 * only, so that the new draw finds its line there with probability C / N, whichever lines
 * they are: the law holds for every replacement policy and for every mapping of lines to
 * sets that is even. No other order has that: going round in turn an LRU cache would have
 * no hit at all as soon as the footprint is too large by a line, and a cache that replaces
 * at random h = exp(-(1 - h) N / C); an H200 does neither (rule.c, `breaks`), so that
 * nothing is predicted there.
 *
 * Time. A warp has one load in flight. The mean of what its loads take is
 *     h x hit + (1 - h) x miss,
 * both measured by this kernel itself: a footprint that fits, and loads past L1. */
#include <math.h>

#include "harness/contract/record.h"
#include "harness/model/coalesce.h"
#include "harness/model/occupancy.h"
#include "harness/model/time.h"
#include "micro/carveout/access.h"
#include "micro/carveout/rule.h"

/* What L1 lacks of the memory that is no carve-out. 7 KiB on an H200: of 132 and of 228 KiB
 * of carve-out 117 and 21 KiB fit to the line, and one line more does not (21 in the record,
 * 117 in earlier runs). Times of draws from 320 KiB say 3 KiB less at 185 KiB, 1 to 1.5 less at
 * 149, 217 and 241. Published capacities are near it for CC 8.0 (172 of 192 - 8 KiB) and 10.0
 * (216, 112 and 16 of 256 - 32, 132 and 228). Turing has 61.5 of 64 KiB: less than 3. */
static uint64_t kept_bytes(const struct ub_gpu *gpu)
{
    return gpu->cc_major == 7 && gpu->cc_minor == 5 ? 2 << 10 : 7 << 10;
}

static const double time_tolerance_assumed = 0.30;
static const double hardware_tolerance = 0.001;
/* Where draws decide, counters and times are those of a sample: 1 % for the law, and four
 * standard deviations. */
static const double law_tolerance = 0.01;
static const double deviations = 4;
enum { LEAST_ITERATIONS = 256 }; /* of a clocked launch; its time is the slope to twice as many */

/* ---- division ------------------------------------------------------------------ */

static uint64_t max_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t min_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The least size that the generation has and that is not less. */
static uint64_t rounded_up(const struct ub_sm_limits *limits, uint64_t wanted_bytes)
{
    for (size_t i = 0; i < limits->carveout_count; i++)
        if (limits->carveouts_bytes[i] >= wanted_bytes)
            return limits->carveouts_bytes[i];
    return limits->shared_bytes;
}

static uint64_t preferred(const struct ub_sm_limits *limits, uint32_t percent, uint64_t block_bytes)
{
    const uint64_t share = limits->shared_bytes * percent / 100;
    const uint64_t used = block_bytes - limits->shared_reserved_bytes;
    const uint64_t blocks = used == 0 ? (uint64_t)limits->blocks : max_of(share / used, 1);
    return rounded_up(limits, max_of(share, blocks * block_bytes));
}

static uint64_t chosen(const struct ub_sm_limits *limits, uint64_t blocks, uint64_t block_bytes)
{
    const uint64_t twice = min_of(2 * blocks, (uint64_t)limits->blocks) * block_bytes;
    return rounded_up(limits, max_of(blocks * block_bytes, min_of(twice, limits->shared_bytes / 2)));
}

void carveout_divide(const struct ub_gpu *gpu, const struct carveout_geometry *g, struct carveout_division *out)
{
    const struct ub_occupancy_request request = {
        .threads = (int)g->threads, .shared_bytes = g->shared_bytes, .opt_in = true, .carveout_percent = -1};
    struct ub_sm_limits limits;
    struct ub_occupancy occupancy;
    ub_sm_limits_of_gpu(gpu, &limits);
    ub_occupancy_solve(&limits, &request, &occupancy);
    out->shared_bytes = g->ask == CARVEOUT_ASK_NOTHING
                            ? chosen(&limits, (uint64_t)occupancy.blocks, occupancy.shared_bytes)
                            : preferred(&limits, g->percent, occupancy.shared_bytes);
    const uint64_t taken = out->shared_bytes + kept_bytes(gpu);
    out->l1_bytes = gpu->l1_bytes > taken ? gpu->l1_bytes - taken : 0;
}

/* ---- hits ----------------------------------------------------------------------- */

uint64_t carveout_loads(const struct carveout_geometry *g)
{
    return (uint64_t)g->warps * (CARVEOUT_WARM + CARVEOUT_UNROLL);
}

double carveout_hit_rate(const struct ub_gpu *gpu, const struct carveout_geometry *g)
{
    struct carveout_division division;
    carveout_divide(gpu, g, &division);
    const double held = (double)division.l1_bytes, footprint = (double)g->lines * CARVEOUT_LINE_BYTES;
    if (g->load == CARVEOUT_CG)
        return 0;
    if (footprint <= held)
        return 1;
    return g->order == CARVEOUT_RANDOM ? held / footprint : NAN;
}

/* ---- counters ------------------------------------------------------------------ */

static void add_estimate(struct ub_law *law, const char *key, double predicted, double tolerance)
{
    ub_law_estimate(law, key, predicted, tolerance,
                    "counted by hardware; where not all loads hit, of a sample of draws",
                    "no hit rate is predicted here (see the point's note)");
}

/* Of a count that is expected to be `share` of the draws. */
static double tolerance_of(double share, double draws)
{
    if (!(share > 0 && share < 1))
        return hardware_tolerance;
    return law_tolerance + deviations * sqrt((1 - share) / (share * draws));
}

/* Every load is like the first of the fill: a warp, a line. */
static void line_traffic(uint64_t loads, struct ub_traffic *out)
{
    uint64_t addresses[UB_WARP_LANES];
    struct ub_traffic one = {0};
    *out = (struct ub_traffic){0};
    for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++)
        addresses[lane] = lane * 4;
    ub_coalesce_warp(addresses, UINT32_MAX, 4, &one);
    ub_traffic_add(out, &one, loads);
}

static void add_counters(const struct carveout_geometry *g, double hit_rate, struct ub_law *law)
{
    struct ub_traffic fill, drawn;
    line_traffic(g->lines, &fill);
    line_traffic(carveout_loads(g), &drawn);
    const double loads = (double)carveout_loads(g);
    ub_law_exact(law, "global_load_requests", UB_STRUCTURAL, fill.requests + drawn.requests);
    ub_law_exact(law, "global_load_sectors", UB_STRUCTURAL, fill.sectors + drawn.sectors);
    ub_law_exact(law, "global_load_bytes", UB_STRUCTURAL, fill.bytes + drawn.bytes);
    /* and the line in which each warp adds up its cycles */
    ub_law_exact(law, "global_lines", UB_STRUCTURAL, fill.lines + drawn.lines + g->warps);
    add_estimate(law, "l1_load_sectors", (double)(fill.sectors + drawn.sectors), hardware_tolerance);
    add_estimate(law, "l1_load_hits", hit_rate * (double)drawn.sectors, tolerance_of(hit_rate, loads));
    add_estimate(law, "l2_read_sectors", (double)fill.sectors + (1 - hit_rate) * (double)drawn.sectors,
                 tolerance_of(1 - hit_rate, loads));
}

/* ---- time ------------------------------------------------------------------------ */

/* What 2 N draws take less what N take has the variance of 3 N: the draws are the same, but
 * what is replaced need not be. */
static double time_tolerance_of(const struct carveout_geometry *g, double hit_rate, double load_ns, double apart_ns)
{
    const double draws = (double)LEAST_ITERATIONS * CARVEOUT_UNROLL * g->warps;
    return law_tolerance + deviations * sqrt(3 * hit_rate * (1 - hit_rate) / draws) * apart_ns / load_ns;
}

void carveout_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                  struct ub_law *out)
{
    *out = (struct ub_law){.time_ns = NAN, .level = "none"};
    struct carveout_geometry g;
    const char *unsupported = carveout_resolve(gpu, point, &g);
    if (unsupported != NULL) {
        out->note = unsupported;
        return;
    }
    const double hit_rate = carveout_hit_rate(gpu, &g);
    const double hit_ns = ub_constant_value(constants, "carveout_hit_ns");
    const double miss_ns = ub_constant_value(constants, "carveout_miss_ns");
    add_counters(&g, hit_rate, out);
    out->level = hit_rate == 1 ? "l1" : "l2";
    ub_time_term(out, "hits", CARVEOUT_UNROLL * hit_rate * hit_ns);
    ub_time_term(out, "misses", CARVEOUT_UNROLL * (1 - hit_rate) * miss_ns);
    ub_time_bottleneck(out, 0);
    /* One after the other, not the larger of them. */
    out->time_ns = CARVEOUT_UNROLL * (hit_rate * hit_ns + (1 - hit_rate) * miss_ns);
    if (!isfinite(hit_rate))
        out->note =
            "not predicted: what L1 keeps of a footprint that is taken in turn and does not fit; the time is that of "
            "a part of a lap";
    else if (!gpu->verified)
        out->note = "assumed: what L1 lacks of the memory that is no carve-out, and both latencies";
    if (isfinite(out->time_ns) && gpu->verified)
        out->tolerance = time_tolerance_of(&g, hit_rate, out->time_ns / CARVEOUT_UNROLL, miss_ns - hit_ns);
    else if (isfinite(out->time_ns))
        out->tolerance = time_tolerance_assumed;
}
