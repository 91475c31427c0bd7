/* SPDX-License-Identifier: MIT
 *
 * What an SM holds, and what that does for time (rules.md sections 4 and 5).
 *
 * Compute. A scheduler issues one instruction a cycle; a warp's FMA keeps the FP32
 * lanes of its scheduler busy for 32 x schedulers / lanes cycles (1, or 2 where an SM
 * has 64 lanes), and the next one of the same chain waits for its result. n warps of a
 * scheduler with i chains each hence do one step of all chains in
 *     max(latency, n i busy) cycles,
 * which is i n busy / latency of the peak until that is 1: warps and chains count the
 * same. Once in OCCUPANCY_FMAS multiply-adds a warp goes back to the head of its loop,
 * which costs it `round_cycles`; other warps hide that, too.
 *
 * Latency. A warp waits for its i loads, then starts the next i: bytes in flight are
 * warps x i x 128, and Little's law gives the time of a step (the wait) until DRAM's
 * ceiling is reached. Near the ceiling the wait grows before it is: both times are
 * added as powers of `soft`. */
#include <math.h>
#include <stddef.h>

#include "harness/contract/record.h"
#include "harness/model/time.h"
#include "micro/occupancy/access.h"
#include "micro/occupancy/rule.h"

/* Cycles from one FMA to the next that needs it: 4 from Volta to Blackwell (Abdelkhalik
 * et al. 2022 for the A100, Chips and Cheese for Ampere and Ada; rules.md section 5). */
static const double fma_latency_cycles = 4;

/* Measured on an H200: cycles that a warp which is alone on its scheduler takes for a
 * round of the loop beyond its multiply-adds (1, 2, 4, 8 chains: 74, 76, 94, 88). */
static const double round_cycles = 76;

/* Fitted on an H200, 52 points of 4 to 64 warps an SM and 1 to 8 loads in flight: with
 * these two no time was more than 4.6 % off, and none of the record is more than 5.7 %. A further load of the same warp
 * takes 19 cycles more to come. */
static const double soft = 3;
static const double further_load_ns = 9.5;

/* What is left out: the issue slots of the loop itself (1.5 % at the peak), the last
 * tickets, that 64 warps with 8 loads each get 5 % less than the ceiling, and that cards
 * differ. */
static const double time_tolerance = 0.08;
static const double time_tolerance_assumed = 0.30;
static const double cycles_tolerance = 0.15;

enum { WORD_BYTES = 4 };

/* Every request is like the first: 32 elements side by side, from a line's start. */
void occupancy_traffic(const struct occupancy_geometry *g, struct ub_traffic *out)
{
    *out = (struct ub_traffic){0};
    if (g->work != OCCUPANCY_LATENCY)
        return;
    uint64_t addresses[UB_WARP_LANES];
    struct ub_traffic one = {0};
    for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++)
        addresses[lane] = occupancy_first(g->ilp, 0, lane) * WORD_BYTES;
    ub_coalesce_warp(addresses, 0xFFFFFFFFu, WORD_BYTES, &one);
    ub_traffic_add(out, &one, (uint64_t)g->tickets * OCCUPANCY_LOADS);
}

uint64_t occupancy_fmas(const struct occupancy_geometry *g)
{
    return g->work == OCCUPANCY_COMPUTE ? (uint64_t)g->tickets * OCCUPANCY_ROUNDS * OCCUPANCY_FMAS * UB_WARP_LANES : 0;
}

uint64_t occupancy_bytes(const struct occupancy_geometry *g)
{
    return g->work == OCCUPANCY_LATENCY ? occupancy_elements(g) * WORD_BYTES : 0;
}

double occupancy_steps(const struct occupancy_geometry *g)
{
    return (double)g->tickets * OCCUPANCY_LOADS / g->ilp / g->warps;
}

double occupancy_peak(const struct ub_gpu *gpu, const struct ub_constants *constants,
                      const struct occupancy_geometry *g)
{
    if (g->work == OCCUPANCY_COMPUTE)
        return (double)gpu->fp32_lanes_per_sm * gpu->sms * ub_constant_value(constants, "clock_mhz") * 1e6;
    return ub_constant_value(constants, "dram_load_ceiling");
}

/* ---- counters ---------------------------------------------------------------- */

/* Cycles follow from a time; under the profiler the clock may be another one, which
 * changes the cycles that DRAM takes. Their ratio, the achieved occupancy, does not care. */
static void add_cycles(struct ub_law *law, const char *key, double predicted)
{
    ub_law_estimate(law, key, predicted, cycles_tolerance, "cycles = predicted time x clock",
                    "no time is predicted, hence no cycles");
}

static void add_counters(const struct ub_gpu *gpu, const struct ub_constants *constants,
                         const struct occupancy_geometry *g, double busy_ns, struct ub_law *law)
{
    struct ub_traffic traffic;
    occupancy_traffic(g, &traffic);
    const double cycles = busy_ns * ub_constant_value(constants, "clock_mhz") * 1e-3;
    ub_law_exact(law, "blocks_launched", UB_STRUCTURAL, g->blocks);
    ub_law_exact(law, "warps_launched", UB_STRUCTURAL, g->warps);
    ub_law_exact(law, "ffma", UB_STRUCTURAL, occupancy_fmas(g));
    ub_law_exact(law, "global_load_requests", UB_STRUCTURAL, traffic.requests);
    ub_law_exact(law, "global_load_sectors", UB_STRUCTURAL, traffic.sectors);
    /* a warp asks for each of its tickets, and for one that is not there any more */
    ub_law_exact(law, "global_atomics", UB_STRUCTURAL, (uint64_t)g->tickets + g->warps);
    ub_law_exact(law, "local_loads", UB_SASS, 0); /* nothing is spilled */
    ub_law_exact(law, "local_stores", UB_SASS, 0);
    add_cycles(law, "warps_active", cycles * g->warps);
    add_cycles(law, "sm_cycles_active", cycles * gpu->sms);
}

/* ---- time -------------------------------------------------------------------- */

/* Multiply-adds of a warp that is alone, in a cycle: `most` is what the lanes of its
 * scheduler do. */
static double fmas_of_warp(const struct occupancy_geometry *g, double most)
{
    const double cycles = OCCUPANCY_FMAS / fmin(g->ilp / fma_latency_cycles, most);
    return OCCUPANCY_FMAS / (cycles + round_cycles);
}

/* Multiply-adds that an SM issues in a cycle: its warps are dealt to the schedulers in
 * turn, so that some may have one more than others. */
static double fmas_per_cycle(const struct ub_gpu *gpu, const struct occupancy_geometry *g)
{
    const int schedulers = gpu->schedulers_per_sm;
    const int warps = (int)(g->resident * g->warps_per_block), more = warps % schedulers;
    const double most = (double)gpu->fp32_lanes_per_sm / UB_WARP_LANES / schedulers;
    const double of_warp = fmas_of_warp(g, most);
    const int each = warps / schedulers;
    return more * fmin((each + 1) * of_warp, most) + (schedulers - more) * fmin(each * of_warp, most);
}

static void add_compute_time(const struct ub_gpu *gpu, const struct ub_constants *constants,
                             const struct occupancy_geometry *g, struct ub_law *law)
{
    const double ns_per_cycle = 1e3 / ub_constant_value(constants, "clock_mhz");
    const double of_sm = (double)occupancy_fmas(g) / UB_WARP_LANES / gpu->sms;
    const double warps = (double)g->resident * g->warps_per_block;
    ub_time_term(law, "fma_latency", of_sm / (warps * g->ilp) * fma_latency_cycles * ns_per_cycle);
    ub_time_term(law, "loop", of_sm / warps / OCCUPANCY_FMAS * round_cycles * ns_per_cycle);
    ub_time_term(law, "fp32_lanes", of_sm * UB_WARP_LANES / gpu->fp32_lanes_per_sm * ns_per_cycle);
    ub_time_bottleneck(law, 0);
    law->time_ns = of_sm / fmas_per_cycle(gpu, g) * ns_per_cycle;
}

static void add_latency_time(const struct ub_constants *constants, const struct occupancy_geometry *g,
                             struct ub_law *law)
{
    const double wait_ns =
        occupancy_steps(g) * (ub_constant_value(constants, "load_wait_ns") + further_load_ns * (g->ilp - 1));
    const double dram_ns = (double)occupancy_bytes(g) * 1e9 / ub_constant_value(constants, "dram_load_ceiling");
    ub_time_term(law, "wait", wait_ns);
    ub_time_term(law, "dram", dram_ns);
    ub_time_bottleneck(law, 0);
    law->time_ns = pow(pow(wait_ns, soft) + pow(dram_ns, soft), 1 / soft);
}

static const char *note_of(const struct ub_gpu *gpu, const struct ub_point *point)
{
    const int64_t *v = point->values;
    if (v[OCCUPANCY_TICKETS] > 0)
        return "not tested: with a chosen number of tickets the launch itself may be a large part of the time";
    if (!gpu->verified)
        return "assumed: the cost of a loop's round and of a further load, and how the wait grows near DRAM's ceiling, "
               "are an H200's";
    return NULL;
}

void occupancy_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                   struct ub_law *out)
{
    struct occupancy_geometry g;
    *out = (struct ub_law){.time_ns = NAN, .level = "none"};
    const char *unsupported = occupancy_resolve(gpu, point, &g);
    const char *refusal = occupancy_refusal(gpu, point);
    if (unsupported != NULL || refusal != NULL) {
        out->note = unsupported != NULL ? unsupported : refusal;
        return;
    }
    if (g.work == OCCUPANCY_COMPUTE)
        add_compute_time(gpu, constants, &g, out);
    else
        add_latency_time(constants, &g, out);
    out->level = g.work == OCCUPANCY_LATENCY ? "dram" : "none";
    add_counters(gpu, constants, &g, out->time_ns, out);
    out->time_ns += ub_constant_value(constants, "launch_floor_ns");
    out->note = note_of(gpu, point);
    if (point->values[OCCUPANCY_TICKETS] == 0 && isfinite(out->time_ns))
        out->tolerance = gpu->verified ? time_tolerance : time_tolerance_assumed;
}
