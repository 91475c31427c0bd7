/* SPDX-License-Identifier: MIT
 *
 * Waves (rules.md section 10): how long a grid takes, against how many blocks it has.
 *
 * Blocks that wait. Each scheduler has `resident` warps, each with one chain of
 * multiply-adds, of which one is ready every 4 cycles: they do not notice each other. A
 * block takes the same time whatever else its SM does, and slots = SMs x resident of them
 * run at a time: ceil(blocks / slots) waves.
 *
 * Blocks that compute. One block fills the lanes; what runs beside it takes its share. An
 * SM is then a server that does one block after another, and the launch takes as many
 * blocks as the SM with the most of them has: ceil(blocks / SMs), because blocks are
 * dealt to SMs evenly. That they are is not the law's but the hardware's doing, seen with
 * %smid on an H200: see the text `breaks`.
 *
 * Blocks that load. DRAM serves all SMs alike, so that SMs with as many blocks end
 * together; but a block that is left over then has the card to itself, and takes only as
 * long as one SM needs to bring its bytes in: steps at the same places, a third to a half as
 * high. */
#include <math.h>
#include <stddef.h>

#include "harness/contract/record.h"
#include "harness/model/time.h"
#include "micro/grid/access.h"
#include "micro/grid/rule.h"

/* SM cycles that a round of 1024 multiply-adds takes longer than these: the branch back. */
static const double round_cycles = 28;

/* Of work=dram, measured on an H200 (driver 580), 1 to 16 rounds a block, 1 to 64 blocks an
 * SM: what a launch pays once (the first ticket and loads, the last ones); a wave over its
 * bytes at DRAM's ceiling; a round of a block that has the card to itself, from the
 * beginning or after the others, which it meets while they end one after another; how the
 * rest of a wave grows from one block to all. 1.4 to 2.1 us were seen for the first, 1.02 to
 * 1.06 for the second. All are fitted to sweeps like those of the record, which repeats them
 * and is no test of their own. The tolerance is wider than the step from the fourth wave on. */
static const double dram_start_ns = 1600, dram_wave = 1.05;
static const double alone_round_ns = 525, left_over_round_ns = 430, left_over_hidden_ns = 300;
static const double rest_power = 1.5;

static const double time_tolerance = 0.04;
static const double dram_tolerance = 0.10;
static const double time_tolerance_assumed = 0.15;
static const double dram_tolerance_assumed = 0.30;
/* Of a wave: a time that is off by one wave is never within tolerance. Below the second
 * number the law itself is not exact enough for that. */
static const double wave_tolerance = 0.4, least_tolerance = 0.01;
static const double cycles_tolerance = 0.05;

/* Every request is like the first: 32 elements of 16 bytes side by side. */
void grid_traffic(const struct grid_geometry *g, struct ub_traffic *out)
{
    *out = (struct ub_traffic){0};
    if (g->work != GRID_DRAM)
        return;
    uint64_t addresses[UB_WARP_LANES];
    struct ub_traffic one = {0};
    for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++)
        addresses[lane] = grid_first(g->rounds, g->threads, g->chunks, 0, lane) * GRID_LOAD_BYTES;
    ub_coalesce_warp(addresses, 0xFFFFFFFFu, GRID_LOAD_BYTES, &one);
    ub_traffic_add(out, &one, (uint64_t)g->blocks * g->warps * g->rounds * GRID_LOADS);
}

uint64_t grid_fmas(const struct grid_geometry *g)
{
    return g->work == GRID_DRAM ? 0 : (uint64_t)g->blocks * g->threads * g->rounds * GRID_FMAS;
}

uint32_t grid_wave_blocks(const struct ub_gpu *gpu, const struct grid_geometry *g)
{
    return (uint32_t)gpu->sms * (g->work == GRID_LATENCY ? g->resident : 1);
}

/* Cycles from one multiply-add of a warp to its next. */
static double step_cycles(const struct ub_gpu *gpu, const struct grid_geometry *g)
{
    const double of_scheduler = (double)g->warps / gpu->schedulers_per_sm * grid_busy_cycles(gpu);
    return fmax(GRID_FMA_CYCLES, of_scheduler);
}

double grid_wave_ns(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct grid_geometry *g)
{
    if (g->work == GRID_DRAM)
        return dram_wave * gpu->sms * (double)(grid_chunk_elements(g) * GRID_LOAD_BYTES) * 1e9 /
               ub_constant_value(constants, "dram_load_ceiling");
    return g->rounds * (GRID_FMAS * step_cycles(gpu, g) + round_cycles) * 1e3 /
           ub_constant_value(constants, "clock_mhz");
}

/* Blocks are launched one after another, hence end so, and the next wave starts so. */
double grid_start_ns(const struct ub_constants *constants, const struct grid_geometry *g)
{
    const double launch_ns = g->blocks * ub_constant_value(constants, "block_launch_ns");
    return ub_constant_value(constants, "launch_floor_ns") + (g->work == GRID_DRAM ? dram_start_ns : launch_ns);
}

/* ---- counters ---------------------------------------------------------------- */

/* NaN: not known, for `reason`. */
static void add_cycles(struct ub_law *law, const char *key, double predicted, const char *unknown)
{
    ub_law_estimate(law, key, predicted, cycles_tolerance,
                    "cycles of its multiply-adds; what its launch and its end take are not in them", unknown);
}

/* Of all SMs, in waves: an SM that has no block is not active. Which SMs take the last
 * blocks is known where all blocks are there at once, or each SM holds one. */
static double active_waves(const struct ub_gpu *gpu, const struct grid_geometry *g)
{
    const uint32_t sms = (uint32_t)gpu->sms, slots = sms * g->resident, rest = g->blocks % slots;
    if (g->work == GRID_THROUGHPUT)
        return g->blocks;
    if (g->blocks > slots && rest > 1 && g->resident > 1)
        return NAN;
    return (double)(g->blocks / slots) * sms + (rest < sms ? rest : sms);
}

static void add_counters(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct grid_geometry *g,
                         struct ub_law *law)
{
    struct ub_traffic traffic;
    grid_traffic(g, &traffic);
    const bool computes = g->work != GRID_DRAM;
    const double cycles = grid_wave_ns(gpu, constants, g) * ub_constant_value(constants, "clock_mhz") * 1e-3;
    ub_law_exact(law, "blocks_launched", UB_STRUCTURAL, g->blocks);
    ub_law_exact(law, "warps_launched", UB_STRUCTURAL, (uint64_t)g->blocks * g->warps);
    ub_law_exact(law, "ffma", UB_STRUCTURAL, grid_fmas(g));
    ub_law_exact(law, "global_load_requests", UB_STRUCTURAL, traffic.requests);
    ub_law_exact(law, "global_load_sectors", UB_STRUCTURAL, traffic.sectors);
    ub_law_exact(law, "global_atomics", UB_STRUCTURAL, computes ? 0 : g->blocks); /* each asks for its chunk */
    add_cycles(law, "warps_active", g->work == GRID_LATENCY ? (double)g->blocks * g->warps * cycles : NAN,
               "how long a warp is there depends on when the scheduler serves it");
    add_cycles(law, "sm_cycles_active", computes ? active_waves(gpu, g) * cycles : NAN,
               computes ? "which SMs take the last blocks depends on which have room first"
                        : "what an SM waits for DRAM depends on the others");
}

/* ---- time -------------------------------------------------------------------- */

/* Four L2 caches and more: as good as nothing is left there of the launches before. */
static bool in_dram(const struct ub_gpu *gpu, const struct grid_geometry *g)
{
    return grid_ring_bytes(g) >= 4 * gpu->l2_bytes;
}

static void add_wave_time(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct grid_geometry *g,
                          struct ub_law *law)
{
    const uint32_t wave_blocks = grid_wave_blocks(gpu, g), waves = (g->blocks + wave_blocks - 1) / wave_blocks;
    ub_time_term(law, g->work == GRID_LATENCY ? "waves_of_resident" : "waves_of_sms",
                 waves * grid_wave_ns(gpu, constants, g));
    ub_time_bottleneck(law, grid_start_ns(constants, g));
}

static void add_dram_time(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct grid_geometry *g,
                          struct ub_law *law)
{
    const uint32_t sms = (uint32_t)gpu->sms, full = g->blocks / sms, rest = g->blocks % sms;
    const double wave_ns = grid_wave_ns(gpu, constants, g);
    const double share = (double)rest / sms;
    const double one_ns =
        full > 0 ? fmax(0, g->rounds * left_over_round_ns - left_over_hidden_ns) : g->rounds * alone_round_ns;
    const double rest_ns = rest > 0 ? fmax(one_ns + (wave_ns - one_ns) * pow(share, rest_power), wave_ns * share) : 0;
    ub_time_term(law, "dram", full * wave_ns);
    ub_time_term(law, "left_over", rest_ns);
    ub_time_bottleneck(law, 0);
    law->time_ns = grid_start_ns(constants, g) + full * wave_ns + rest_ns;
}

/* 0: so many waves that one more would not be seen, or a ring that the L2 holds in part. */
static double tolerance_of(const struct ub_gpu *gpu, const struct ub_constants *constants,
                           const struct grid_geometry *g, double time_ns)
{
    if (g->work == GRID_DRAM && !in_dram(gpu, g))
        return 0;
    if (g->work == GRID_DRAM)
        return gpu->verified ? dram_tolerance : dram_tolerance_assumed;
    const double of_wave = wave_tolerance * grid_wave_ns(gpu, constants, g) / time_ns;
    if (of_wave < least_tolerance)
        return 0;
    return fmin(gpu->verified ? time_tolerance : time_tolerance_assumed, of_wave);
}

static const char *note_of(const struct ub_gpu *gpu, const struct grid_geometry *g, const struct ub_law *law)
{
    if (g->work == GRID_DRAM && !in_dram(gpu, g))
        return "not tested: the ring is smaller than four L2 caches, which keep what earlier launches have read";
    if (isfinite(law->time_ns) && law->tolerance == 0)
        return "not tested: of so many waves one more or fewer is within the error of the law";
    if (!gpu->verified)
        return "assumed: that blocks are dealt to SMs evenly, and how fast one SM loads, are an H200's";
    return NULL;
}

void grid_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
              struct ub_law *out)
{
    struct grid_geometry g;
    *out = (struct ub_law){.time_ns = NAN, .level = "none"};
    const char *unsupported = grid_resolve(gpu, point, &g);
    if (unsupported != NULL) {
        out->note = unsupported;
        return;
    }
    if (g.work == GRID_DRAM)
        out->level = in_dram(gpu, &g) ? "dram" : "l2";
    add_counters(gpu, constants, &g, out);
    if (g.work == GRID_DRAM)
        add_dram_time(gpu, constants, &g, out);
    else
        add_wave_time(gpu, constants, &g, out);
    if (isnan(grid_wave_ns(gpu, constants, &g))) {
        ub_time_unknown(out, g.work == GRID_DRAM ? UB_NOTE_NO_DRAM : "no time: the clock of this card is not known");
        return;
    }
    if (isfinite(out->time_ns))
        out->tolerance = tolerance_of(gpu, constants, &g, out->time_ns);
    out->note = note_of(gpu, &g, out);
}
