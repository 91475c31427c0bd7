/* SPDX-License-Identifier: MIT
 *
 * What `divergence` predicts. Counters: the paths of access.h, replayed warp by warp
 * through the model of branches; the integers must be equal to the hardware's. Time:
 * a warp executes, one after the other, every path that a lane of it takes (CUDA C++
 * Programming Guide, "SIMT architecture"; rules.md 3), so it takes as long as their
 * sum; what one path takes is measured, or comes from the table of constants. */
#include <math.h>

#include "harness/contract/record.h"
#include "harness/model/branch.h"
#include "harness/model/time.h"
#include "micro/divergence/access.h"
#include "micro/divergence/rule.h"

/* ---- counters ------------------------------------------------------------------- */

struct warp {
    uint32_t active;
    uint32_t paths[UB_BRANCH_LANES];
};

static struct warp warp_at(const struct divergence_geometry *g, uint32_t number, uint32_t row)
{
    const uint32_t first = number * UB_BRANCH_LANES;
    const uint32_t lanes = g->block - first < UB_BRANCH_LANES ? g->block - first : UB_BRANCH_LANES;
    struct warp warp = {.active = UINT32_MAX >> (UB_BRANCH_LANES - lanes)};
    for (uint32_t lane = 0; lane < lanes; lane++)
        warp.paths[lane] = divergence_path(g, 0, first + lane, row);
    return warp;
}

/* Trips of each lane's loop where body steps make `trips` of them. */
static void loop_trips(const struct warp *warp, uint32_t trips, uint32_t out[UB_BRANCH_LANES])
{
    for (unsigned lane = 0; lane < UB_BRANCH_LANES; lane++)
        out[lane] = trips * (warp->paths[lane] + 1);
}

static uint64_t divergent_of(const struct divergence_geometry *g, const struct warp *warp)
{
    struct ub_branches branches = {0};
    uint32_t trips[UB_BRANCH_LANES];
    switch ((enum divergence_variant)g->variant) {
    case DIVERGENCE_THREAD:
    case DIVERGENCE_WARP:
    case DIVERGENCE_BLOCK_ID:
    case DIVERGENCE_DATA:
    case DIVERGENCE_SORTED:
    case DIVERGENCE_TAIL:
        ub_branch_if_chain(warp->paths, warp->active, DIVERGENCE_PATHS, &branches);
        break;
    case DIVERGENCE_SWITCH:
        ub_branch_switch(warp->paths, warp->active, &branches);
        break;
    case DIVERGENCE_LOOP:
        loop_trips(warp, g->body / DIVERGENCE_STEPS, trips);
        ub_branch_loop(trips, warp->active, &branches);
        break;
    case DIVERGENCE_SELECT_THREAD:
    case DIVERGENCE_SELECT_WARP:
    case DIVERGENCE_TABLE:
    case DIVERGENCE_CONSTANT:
    case DIVERGENCE_VARIANTS:
        break;
    }
    return branches.divergent;
}

/* Bodies that the warp executes one after the other for one row. */
static uint64_t bodies_of(const struct divergence_geometry *g, const struct warp *warp)
{
    uint64_t longest = 0;
    switch ((enum divergence_variant)g->variant) {
    case DIVERGENCE_SELECT_THREAD:
    case DIVERGENCE_SELECT_WARP:
    case DIVERGENCE_TABLE:
    case DIVERGENCE_CONSTANT:
        return 1;
    case DIVERGENCE_LOOP: /* lane by lane path + 1 bodies: the warp stays for the longest */
        for (unsigned lane = 0; lane < UB_BRANCH_LANES; lane++)
            if ((warp->active >> lane & 1) && warp->paths[lane] + 1 > longest)
                longest = warp->paths[lane] + 1;
        return longest;
    default:
        return ub_paths_taken(warp->paths, warp->active);
    }
}

/* FMAs of all lanes in units of the body. */
static uint64_t lane_bodies_of(const struct divergence_geometry *g, const struct warp *warp)
{
    uint64_t bodies = 0;
    for (unsigned lane = 0; lane < UB_BRANCH_LANES; lane++)
        if (warp->active >> lane & 1)
            bodies += g->variant == DIVERGENCE_LOOP ? warp->paths[lane] + 1 : 1;
    return bodies;
}

static bool has_fma(uint32_t variant)
{
    return variant != DIVERGENCE_SELECT_THREAD && variant != DIVERGENCE_SELECT_WARP && variant != DIVERGENCE_CONSTANT;
}

void divergence_replay(const struct ub_gpu *gpu, const struct divergence_geometry *geometry,
                       struct divergence_count *out)
{
    struct divergence_geometry g = *geometry;
    if (g.variant == DIVERGENCE_SORTED)
        divergence_sort(&g);
    enum { SCHEDULERS = 4 };
    const uint32_t schedulers = gpu->schedulers_per_sm > 0 && gpu->schedulers_per_sm < SCHEDULERS
                                    ? (uint32_t)gpu->schedulers_per_sm
                                    : SCHEDULERS;
    const uint32_t warps = (g.block + UB_BRANCH_LANES - 1) / UB_BRANCH_LANES;
    uint64_t busy[SCHEDULERS] = {0}, lane_bodies = 0;
    *out = (struct divergence_count){.warps = (uint64_t)warps * g.blocks};
    for (uint32_t number = 0; number < warps; number++) {
        uint64_t bodies = 0;
        for (uint32_t row = 0; row < g.rows; row++) {
            const struct warp warp = warp_at(&g, number, row);
            bodies += bodies_of(&g, &warp);
            lane_bodies += lane_bodies_of(&g, &warp);
            out->divergent += divergent_of(&g, &warp);
        }
        if (bodies > out->longest_warp)
            out->longest_warp = bodies;
        busy[number % schedulers] += bodies; /* warps are dealt to the schedulers in turn */
    }
    for (uint32_t i = 0; i < schedulers; i++)
        if (busy[i] > out->busiest_scheduler)
            out->busiest_scheduler = busy[i];
    out->divergent *= g.blocks;
    out->ffma = has_fma(g.variant) ? lane_bodies * g.body * g.blocks : 0;
}

static void add_exact(struct ub_law *law, const char *key, enum ub_counter_class class_, uint64_t predicted,
                      const char *reason)
{
    law->counters[law->counter_count++] =
        (struct ub_law_counter){.key = key, .class_ = class_, .known = true, .predicted = predicted, .reason = reason};
}

/* What the compiler makes of a conditional without loops in its arms, or of a switch, is
 * not in the source: those two are exact only for machine code that was looked at. */
static void add_divergent(struct ub_law *law, const struct divergence_geometry *g, uint64_t predicted)
{
    enum ub_counter_class class_ = UB_STRUCTURAL;
    const char *reason = NULL;
    if (g->variant == DIVERGENCE_SELECT_THREAD || g->variant == DIVERGENCE_SELECT_WARP) {
        class_ = UB_SASS;
        reason = "the compiler makes a select of the if: there is no branch that could diverge";
    }
    if (g->variant == DIVERGENCE_SWITCH) {
        class_ = UB_SASS;
        reason = "the switch is compiled into a tree of two-way branches: paths - 1 of them diverge";
    }
    add_exact(law, "branches_divergent", class_, predicted, reason);
}

static void add_counters(struct ub_law *law, const struct divergence_geometry *g, const struct divergence_count *count)
{
    static const char by_code[] = "follows from the machine code; on sm_90 its slope over body is 35 instructions of a "
                                  "warp for 32 FMAs of a path, with no lane predicated off in them";
    add_divergent(law, g, count->divergent);
    ub_law_unknown(law, "branches_uniform", UB_SASS,
                   "follows from the machine code: loops and tests that no lane or every lane passes");
    add_exact(law, "ffma", UB_STRUCTURAL, count->ffma, NULL);
    ub_law_unknown(law, "warp_instructions", UB_SASS, by_code);
    ub_law_unknown(law, "thread_instructions", UB_SASS, by_code);
    ub_law_unknown(law, "thread_instructions_pred_on", UB_SASS, by_code);
}

/* ---- time ------------------------------------------------------------------------ */

/* SM cycles by which each further index of a warp lengthens a look-up in constant memory,
 * and for which each index keeps the SM's port to it. H200, 32 to 256 threads, 1 to 32
 * indices: 34.0 cycles for one index, 375.0 for 32 with up to 4 warps, 512.0 with 8. */
static const double index_cycles = 11, port_cycles = 2;

static const double time_tolerance = 0.03;
/* More than one warp a scheduler: neither the latency of one nor the issue of all decides
 * alone, warps wait for each other. H200, blocks of 256, 512, 1024: 3, 7, 1 % more. */
static const double time_tolerance_crowded = 0.12;
static const double time_tolerance_assumed = 0.25;

const char *divergence_step_constant(uint32_t variant)
{
    if (variant == DIVERGENCE_SELECT_THREAD || variant == DIVERGENCE_SELECT_WARP)
        return "select_step_ns";
    return variant == DIVERGENCE_CONSTANT ? "constant_step_ns" : "fma_step_ns";
}

/* Cycles for which a step keeps its scheduler, the loop's three instructions shared out
 * over the steps of a trip; counted in the machine code for sm_90. An FMA takes two
 * cycles where a scheduler has 16 lanes for it. Of the five instructions of a select
 * three (mask, compare, select) take two, on the 16 integer lanes, beside which the two
 * additions go: H200, 4 and 8 warps a scheduler, 6.4 cycles. */
static double issue_cycles(const struct ub_gpu *gpu, uint32_t variant)
{
    const double lanes = (double)gpu->fp32_lanes_per_sm / gpu->schedulers_per_sm;
    const double loop = 3.0 / DIVERGENCE_STEPS;
    if (variant == DIVERGENCE_SELECT_THREAD || variant == DIVERGENCE_SELECT_WARP)
        return 6 + loop;
    return variant == DIVERGENCE_CONSTANT ? 2 + loop : UB_BRANCH_LANES / lanes + loop;
}

/* In a block of a warp a scheduler or less nobody waits for another's instructions. */
static bool has_crowd(const struct ub_gpu *gpu, const struct divergence_geometry *g)
{
    return g->block > (uint32_t)gpu->schedulers_per_sm * UB_BRANCH_LANES;
}

static void add_time(struct ub_law *law, const struct ub_gpu *gpu, const struct ub_constants *constants,
                     const struct divergence_geometry *g, const struct divergence_count *count)
{
    const double cycle_ns = 1e3 / ub_constant_value(constants, "clock_mhz");
    const double blocks_per_sm = ceil((double)g->blocks / gpu->sms);
    const double warps_per_sm = blocks_per_sm * ((g->block + UB_BRANCH_LANES - 1) / UB_BRANCH_LANES);
    double step_ns = ub_constant_value(constants, divergence_step_constant(g->variant));
    if (g->variant == DIVERGENCE_CONSTANT) {
        step_ns += (g->ways - 1) * index_cycles * cycle_ns;
        ub_time_term(law, "constant_port", warps_per_sm * g->ways * g->body * port_cycles * cycle_ns);
    }
    ub_time_term(law, "paths", (double)count->longest_warp * g->body * step_ns);
    ub_time_term(law, "issue",
                 (double)count->busiest_scheduler * blocks_per_sm * g->body * issue_cycles(gpu, g->variant) * cycle_ns);
    ub_time_bottleneck(law, 0);
}

static const char *note_of(const struct ub_gpu *gpu, const struct divergence_geometry *g)
{
    if (g->blocks > (uint32_t)gpu->sms)
        return "not tested: blocks that share an SM start and end at different times";
    if (!gpu->verified)
        return "assumed: the cycles of a path are an H200's";
    if (has_crowd(gpu, g))
        return "more than one warp a scheduler: they wait for each other, which the law of the larger term leaves out";
    return NULL;
}

static double tolerance_of(const struct ub_gpu *gpu, const struct divergence_geometry *g)
{
    if (!gpu->verified)
        return time_tolerance_assumed;
    return has_crowd(gpu, g) ? time_tolerance_crowded : time_tolerance;
}

void divergence_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                    struct ub_law *out)
{
    *out = (struct ub_law){.time_ns = NAN, .level = "none"};
    struct divergence_geometry g;
    const char *unsupported = divergence_resolve(gpu, point, &g);
    if (unsupported != NULL) {
        out->note = unsupported;
        return;
    }
    struct divergence_count count;
    divergence_replay(gpu, &g, &count);
    add_counters(out, &g, &count);
    add_time(out, gpu, constants, &g, &count);
    out->note = note_of(gpu, &g);
    if (isfinite(out->time_ns) && g.blocks <= (uint32_t)gpu->sms)
        out->tolerance = tolerance_of(gpu, &g);
}
