/* SPDX-License-Identifier: MIT
 *
 * What `coalescing` predicts. Counters: the pattern of access.h, replayed warp by
 * warp through the model of the coalescer; the integers must be equal to the
 * hardware's. DRAM bytes: estimates, by the grain in which DRAM delivers. Time: the
 * slowest of a few resources. Constants that are not derived from anything stand in
 * one place below, each with the measurement it is from. */
#include <math.h>

#include "harness/contract/record.h"
#include "harness/model/time.h"
#include "micro/coalescing/access.h"
#include "micro/coalescing/rule.h"

const char *const coalescing_ceilings[COALESCING_OPS] = {"dram_load_ceiling", "dram_store_ceiling",
                                                         "dram_copy_ceiling"};

/* ---- empirical constants ----------------------------------------------------------
 * From H200 cards (driver 580, SM clock 1980 MHz), 2 GiB walked, medians of 7 graph
 * launches; 760 points, checksums verified. They are fits: what tests them is a new
 * run. Cards differ: 1.5 % in the ceiling of loads, up to 9 % at 256 bytes apart. */

/* Sparse DRAM accesses cost more than their bytes, because a row of DRAM that was
 * opened serves fewer of them. Factor on the time by bytes, against the distance of
 * two accesses; the last one holds for all larger distances and for pattern=random.
 * Loads: stride 1..1024 of 4, 8 and 16 bytes (spread over the widths +-5 %); stores
 * of part of a sector and copies of such: the same sweeps (+-9 %). */
enum { KNOTS = 14 };
static const double sparse_distance_bytes[KNOTS] = {32, 48, 64, 80, 96, 112, 128, 160, 192, 256, 512, 1024, 2048, 4096};
static const double sparse_factor[COALESCING_OPS][KNOTS] = {
    {1, 1, 1, 1.008, 1.034, 1.087, 1.164, 1.232, 1.30, 1.50, 1.60, 1.68, 1.74, 1.74},
    {1.01, 1.12, 1.36, 1.70, 2.01, 2.36, 2.72, 3.18, 3.42, 3.70, 3.90, 4.05, 4.17, 4.17},
    {0.98, 1.00, 1.05, 1.207, 1.28, 1.45, 1.63, 1.94, 2.09, 2.47, 2.66, 2.77, 2.86, 2.86},
};

/* How long a block stays resident, where neither DRAM nor the launch rate decides:
 *     latency + per_warp * warps + per_request * warps * accesses  [ns]
 * plus `queue` of the DRAM time of the launch, because queues lengthen before DRAM is
 * full. Fit over bytes 1..16, per_thread 1..16, block 256..1024: loads 34 points,
 * worst 6.5 %; stores 10, worst 7.7 %; copies 37, worst 15 %. */
struct life {
    double latency, per_warp, per_request, queue;
};
static const struct life life[COALESCING_OPS] = {
    {497, 4.6, 1.0, 0.376},
    {271, 0, 1.63, 0.073},
    {464, 4.6, 1.1, 0.67},
};

/* SM cycles a request keeps the load/store unit busy: bytes=1 per_thread=16, where
 * nothing else decides (loads 739 us, stores 637 us for 2^26 requests); stores of all
 * lanes to one element: pattern=broadcast op=store bytes=1, 2261 us. */
static const double load_cycles = 2.85, store_cycles = 2.5, same_store_cycles = 8.9;

/* SM cycles of a store request whose sectors are written in part, so that neighbours
 * meet in the L2: for each line, each sector written in part, each whole sector.
 * op=store offset=1 bytes=4, 8, 16 (694, 561, 496 us by law; 734, 546, 476 measured),
 * shape=1x256 bytes=1, 2, 4 (within 4 %), pattern=aos where nothing meets in L1. */
static const double partial_line_cycles = 1.9, partial_sector_cycles = 1.7, whole_sector_cycles = 1.2;

static const double time_tolerance = 0.10; /* where the constants above were measured */
/* Stores that leave gaps, on the same cards: at equal distance, widths of 4 and 16 bytes
 * and odd and even strides differ by up to 15 %, which one factor a distance cannot say. */
static const double time_tolerance_gaps = 0.15;
static const double time_tolerance_assumed = 0.25; /* elsewhere */
static const double dram_tolerance = 0.05;

/* ---- counters ------------------------------------------------------------------------ */

static uint64_t slices(const struct coalescing_geometry *g)
{
    return (uint64_t)g->blocks * g->per_thread;
}

/* Bytes by which the addresses of a slice differ from those of the one before. */
static uint64_t slice_bytes(const struct coalescing_geometry *g)
{
    if (g->pattern == COALESCING_TILE)
        return (uint64_t)g->bytes << g->tile_width_log2;
    const uint32_t apart = g->pattern == COALESCING_AOS ? g->fields : g->stride;
    return (uint64_t)g->block * apart * g->bytes;
}

uint64_t coalescing_period(const struct coalescing_geometry *geometry)
{
    if (geometry->pattern == COALESCING_RANDOM)
        return slices(geometry);
    /* UB_LINE_BYTES / gcd(UB_LINE_BYTES, bytes): the greatest power of two that divides both */
    uint64_t period = UB_LINE_BYTES;
    for (uint64_t bytes = slice_bytes(geometry); period > 1 && bytes % 2 == 0; bytes /= 2)
        period /= 2;
    return period;
}

static void add_warp(const struct coalescing_geometry *g, uint64_t slice, uint32_t warp, uint32_t field,
                     struct ub_traffic *traffic)
{
    const uint32_t block = (uint32_t)(slice / g->per_thread), k = (uint32_t)(slice % g->per_thread);
    const enum coalescing_pattern pattern = (enum coalescing_pattern)g->pattern;
    const uint32_t first = warp * UB_WARP_LANES;
    const uint32_t lanes = g->block - first < UB_WARP_LANES ? g->block - first : UB_WARP_LANES;
    uint64_t addresses[UB_WARP_LANES] = {0};
    for (uint32_t lane = 0; lane < lanes; lane++) {
        const uint64_t base = coalescing_base(g, pattern, block, first + lane, field);
        addresses[lane] = coalescing_element(g, pattern, base, k) << g->bytes_log2;
    }
    ub_coalesce_warp(addresses, UINT32_MAX >> (UB_WARP_LANES - lanes), g->bytes, traffic);
}

static void add_slices(const struct coalescing_geometry *g, uint64_t count, struct ub_traffic *traffic)
{
    for (uint64_t slice = 0; slice < count; slice++)
        for (uint32_t warp = 0; warp * UB_WARP_LANES < g->block; warp++)
            for (uint32_t field = 0; field < g->fields; field++)
                add_warp(g, slice, warp, field, traffic);
}

void coalescing_traffic(const struct coalescing_geometry *geometry, struct ub_traffic *out)
{
    const uint64_t all = slices(geometry), period = coalescing_period(geometry);
    *out = (struct ub_traffic){0};
    if (all >= period) {
        struct ub_traffic whole = {0};
        add_slices(geometry, period, &whole);
        ub_traffic_add(out, &whole, all / period);
    }
    if (all % period != 0)
        add_slices(geometry, all % period, out);
}

/* Cycles that L1 needs to gather what one load request asks for: it reads 32 banks of
 * 4 bytes at a time, so lanes that want different words of one bank wait for each
 * other (rules.md section 1, "L1-hit cost"); 8 and 16 bytes a lane are served as two
 * half and four quarter warps. All requests of a pattern are alike: counts the first.
 * H200: shape=1x256 bytes=1, 2, 4, 8 (32 ways) within 9 %, pattern=aos fields=8, 16
 * (8, 16 ways) within 8 %; odd numbers of fields have no conflict. */
static uint64_t wavefronts(const struct coalescing_geometry *g)
{
    enum { BANKS = 32, WORD_BYTES = 4 };
    const enum coalescing_pattern pattern = (enum coalescing_pattern)g->pattern;
    const uint32_t words = g->bytes > WORD_BYTES ? g->bytes / WORD_BYTES : 1, lanes = UB_WARP_LANES / words;
    uint64_t cycles = 0;
    for (uint32_t first = 0; first < UB_WARP_LANES; first += lanes) {
        uint64_t last_word[BANKS], deepest = 0;
        uint64_t ways[BANKS] = {0};
        for (uint32_t i = 0; i < lanes * words; i++) {
            const uint64_t base = coalescing_base(g, pattern, 0, first + i / words, 0);
            const uint64_t address = coalescing_element(g, pattern, base, 0) << g->bytes_log2;
            const uint64_t word = address / WORD_BYTES + i % words, bank = word % BANKS;
            if (ways[bank] == 0 || last_word[bank] != word) /* equal words of neighbours are one */
                ways[bank]++;
            last_word[bank] = word;
            deepest = ways[bank] > deepest ? ways[bank] : deepest;
        }
        cycles += deepest;
    }
    return cycles;
}

static void add_structural(struct ub_law *law, const struct ub_traffic *loads, const struct ub_traffic *stores)
{
    ub_law_exact(law, "global_load_requests", UB_STRUCTURAL, loads->requests);
    ub_law_exact(law, "global_load_sectors", UB_STRUCTURAL, loads->sectors);
    ub_law_exact(law, "global_load_bytes", UB_STRUCTURAL, loads->bytes);
    ub_law_exact(law, "global_store_requests", UB_STRUCTURAL, stores->requests);
    ub_law_exact(law, "global_store_sectors", UB_STRUCTURAL, stores->sectors);
    ub_law_exact(law, "global_store_bytes", UB_STRUCTURAL, stores->bytes);
    ub_law_exact(law, "global_lines", UB_STRUCTURAL, loads->lines + stores->lines);
}

/* ---- DRAM ---------------------------------------------------------------------------- */

/* The walk as DRAM sees it. */
struct walk {
    double visits;         /* places that are visited: elements, or contiguous bytes / bytes */
    double distance_bytes; /* between two of them; INFINITY: random */
    bool gaps;             /* bytes between the visits are never touched */
};

static struct walk walk_of(const struct coalescing_geometry *g)
{
    struct walk walk = {(double)g->accesses * g->fields, g->bytes, false};
    switch ((enum coalescing_pattern)g->pattern) {
    case COALESCING_BY_STRIDE:
    case COALESCING_REVERSE:
        walk.distance_bytes = (double)g->stride * g->bytes;
        walk.gaps = g->stride > 1;
        break;
    case COALESCING_BROADCAST: {
        const uint32_t warps = (g->block + UB_WARP_LANES - 1) / UB_WARP_LANES;
        walk.visits = (double)slices(g) * warps;
        walk.distance_bytes = (double)g->accesses / walk.visits * g->stride * g->bytes;
        walk.gaps = true;
        break;
    }
    case COALESCING_RANDOM:
        walk.distance_bytes = INFINITY;
        walk.gaps = true;
        break;
    case COALESCING_AOS:
    case COALESCING_SOA:
    case COALESCING_TILE:
    case COALESCING_PATTERNS:
        break;
    }
    return walk;
}

/* Bytes that move where each visit moves the grain it lies in: visits that are nearer
 * than a grain share one. */
static double moved_bytes(const struct walk *walk, double grain_bytes)
{
    return walk->visits * fmin(walk->distance_bytes, grain_bytes);
}

struct dram {
    double load, fill, store; /* bytes read for loads, read to complete sectors, written */
};

static struct dram dram_of(const struct ub_gpu *gpu, const struct coalescing_geometry *g, const struct walk *walk)
{
    const double grain_bytes = gpu->dram_read_grain_bytes > 0 ? gpu->dram_read_grain_bytes : UB_SECTOR_BYTES;
    struct dram dram = {0};
    if (g->op != COALESCING_STORE)
        dram.load = moved_bytes(walk, grain_bytes);
    if (g->op != COALESCING_LOAD) {
        dram.store = moved_bytes(walk, UB_SECTOR_BYTES);
        dram.fill = walk->gaps ? dram.store : 0;
    }
    return dram;
}

static bool in_dram(const struct ub_gpu *gpu, const struct coalescing_geometry *g)
{
    return coalescing_touched_bytes(gpu, g) >= 4 * gpu->l2_bytes;
}

/* `unknown`: why nothing is predicted, or NULL. */
static void add_estimate(struct ub_law *law, const char *key, double bytes, double tolerance, const char *unknown,
                         const char *reason)
{
    ub_law_estimate(law, key, unknown == NULL ? bytes : NAN, tolerance, reason, unknown);
}

static void add_dram(struct ub_law *law, const struct ub_gpu *gpu, const struct coalescing_geometry *g)
{
    const struct walk walk = walk_of(g);
    const struct dram dram = dram_of(gpu, g, &walk);
    const double read = dram.load + dram.fill;
    /* up to half of the L2 stays dirty when the kernel ends */
    const double dirty = dram.store > 0 ? 0.5 * (double)gpu->l2_bytes / dram.store : 0;
    const char *no_read = NULL, *no_write = NULL;
    if (read == 0)
        no_read = "whole sectors are stored: DRAM is read only where the L2 evicts one half written";
    if (dram.store == 0)
        no_write = "nothing is stored: what DRAM is written is left over from launches before";
    if (!in_dram(gpu, g))
        no_read = no_write = "the footprint is not larger than four L2 caches: what they keep is not modelled";
    add_estimate(law, "dram_read_bytes", read, dram_tolerance, no_read,
                 "bytes = places x DRAM's grain; what the L2 keeps and other traffic of the card are not in it");
    add_estimate(law, "dram_write_bytes", dram.store, dram_tolerance + dirty, no_write,
                 "bytes = sectors x 32; sectors still dirty in the L2 when the kernel ends are not counted");
}

/* ---- time ------------------------------------------------------------------------------ */

static double sparse(const struct ub_gpu *gpu, uint32_t op, double distance_bytes)
{
    const double *x = sparse_distance_bytes, *y = sparse_factor[op];
    if (!gpu->verified || distance_bytes <= x[0])
        return gpu->verified ? y[0] : 1;
    int i = 1;
    while (i < KNOTS - 1 && distance_bytes > x[i])
        i++;
    if (distance_bytes >= x[i])
        return y[i];
    return y[i - 1] + (y[i] - y[i - 1]) * (distance_bytes - x[i - 1]) / (x[i] - x[i - 1]);
}

/* Stores that leave gaps read as much as they write, so the copy ceiling is theirs. */
static double dram_ns(const struct ub_gpu *gpu, const struct ub_constants *constants,
                      const struct coalescing_geometry *g, const struct walk *walk)
{
    const struct dram dram = dram_of(gpu, g, walk);
    const uint32_t ceiling = g->op == COALESCING_STORE && walk->gaps ? COALESCING_COPY : g->op;
    const double ns =
        (dram.load + dram.fill + dram.store) * 1e9 / ub_constant_value(constants, coalescing_ceilings[ceiling]);
    return walk->gaps ? ns * sparse(gpu, g->op, walk->distance_bytes) : ns;
}

/* Blocks that live at the same time on the whole card. */
static double resident_blocks(const struct ub_gpu *gpu, const struct coalescing_geometry *g)
{
    const int warps = (int)((g->block + UB_WARP_LANES - 1) / UB_WARP_LANES);
    const int by_warps = gpu->warps_per_sm / warps;
    return (double)gpu->sms * (by_warps < gpu->blocks_per_sm ? by_warps : gpu->blocks_per_sm);
}

static double residence_ns(const struct ub_gpu *gpu, const struct coalescing_geometry *g, double dram_time_ns)
{
    const struct life *l = &life[g->op];
    const double warps = (g->block + UB_WARP_LANES - 1) / UB_WARP_LANES;
    const double one = l->latency + l->per_warp * warps + l->per_request * warps * g->per_thread * g->fields;
    const double generations = fmax(1, g->blocks / resident_blocks(gpu, g));
    return generations * one + l->queue * dram_time_ns;
}

static double lsu_cycles(const struct coalescing_geometry *g, const struct ub_traffic *loads,
                         const struct ub_traffic *stores)
{
    const double a_store = g->pattern == COALESCING_BROADCAST ? same_store_cycles : store_cycles;
    return (double)loads->requests * load_cycles + (double)stores->requests * a_store;
}

/* 0 where every request writes whole sectors; those that leave gaps are DRAM's matter. */
static double partial_store_cycles(const struct coalescing_geometry *g, const struct ub_traffic *stores)
{
    if (stores->sectors * UB_SECTOR_BYTES == stores->bytes)
        return 0;
    /* contiguous lanes write two sectors in part, at their ends */
    const bool contiguous = g->pattern == COALESCING_BY_STRIDE || g->pattern == COALESCING_REVERSE;
    const uint64_t ends = 2 * stores->requests;
    const uint64_t partial = contiguous && ends < stores->sectors ? ends : stores->sectors;
    return partial_line_cycles * (double)stores->lines + partial_sector_cycles * (double)partial +
           whole_sector_cycles * (double)(stores->sectors - partial);
}

static void add_time(struct ub_law *law, const struct ub_gpu *gpu, const struct ub_constants *constants,
                     const struct coalescing_geometry *g, const struct ub_traffic *loads,
                     const struct ub_traffic *stores)
{
    const struct walk walk = walk_of(g);
    const bool dram_level = in_dram(gpu, g);
    const double dram_time = dram_level ? dram_ns(gpu, constants, g, &walk) : 0;
    const double ns_per_cycle = 1e3 / (ub_constant_value(constants, "clock_mhz") * gpu->sms);
    ub_time_term(law, "dram", dram_time);
    if (!dram_level)
        ub_time_term(law, "l2",
                     (double)(loads->sectors + stores->sectors) * UB_SECTOR_BYTES * 1e9 /
                         ub_constant_value(constants, "l2_load_ceiling"));
    ub_time_term(law, "block_launch", g->blocks * ub_constant_value(constants, "block_launch_ns"));
    ub_time_term(law, "block_life", residence_ns(gpu, g, dram_time));
    ub_time_term(law, "load_store_unit", lsu_cycles(g, loads, stores) * ns_per_cycle);
    ub_time_term(law, "l1_banks", (double)(loads->requests * wavefronts(g)) * ns_per_cycle);
    if (!walk.gaps)
        ub_time_term(law, "partial_store", partial_store_cycles(g, stores) * ns_per_cycle);
    ub_time_bottleneck(law, ub_constant_value(constants, "launch_floor_ns"));
}

/* Structures that are stored: some parts of a sector meet in L1 before they go to the
 * L2, others do not, and time follows that. */
static bool may_meet_in_l1(const struct coalescing_geometry *g)
{
    return g->pattern == COALESCING_AOS && g->op != COALESCING_LOAD && g->fields > 1;
}

/* Why the time is not tested, or what is known to differ from it and by how much;
 * NULL: nothing. */
static const char *note_of(const struct ub_gpu *gpu, const struct coalescing_geometry *g)
{
    const bool stores = g->op != COALESCING_LOAD;
    if (!in_dram(gpu, g))
        return "not tested: the footprint is not larger than four L2 caches; the law has no ceiling for stores in L2 "
               "and no ramp of a short kernel";
    if (may_meet_in_l1(g))
        return "not tested: how many parts of a sector meet in L1 before they go to the L2 is not modelled (H200, "
               "4-byte "
               "stores: 4 fields 0.5 ms, 3 fields 1.7 ms, 8 fields 4.3 ms)";
    if (!gpu->verified)
        return "assumed: block life, load/store unit and partial stores are an H200's; sparse DRAM accesses are not "
               "slowed down";
    if (stores && g->bytes < 4 && g->stride > 1 && g->stride * g->bytes % 4 != 0)
        return "narrow stores whose gaps are not whole words take 1.2 to 1.8 times as long on an H200; why is not "
               "known";
    if (g->pattern == COALESCING_TILE && g->bytes == 16 && g->tile_width_log2 == 0)
        return "16-byte accesses of a column take 1.7 to 2.1 times as long on an H200: a scattered miss costs L1 two "
               "cycles";
    if (stores && (g->pattern == COALESCING_TILE || g->pattern == COALESCING_BROADCAST))
        return "the cycles of partial and of equal stores are rough: 28 % faster to 13 % slower was measured on an "
               "H200";
    return NULL;
}

static double tolerance_of(const struct ub_gpu *gpu, const struct coalescing_geometry *g,
                           const struct ub_traffic *stores)
{
    if (!gpu->verified)
        return time_tolerance_assumed;
    const bool gaps = g->op != COALESCING_LOAD && stores->sectors * UB_SECTOR_BYTES != stores->bytes;
    return gaps ? time_tolerance_gaps : time_tolerance;
}

void coalescing_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                    struct ub_law *out)
{
    *out = (struct ub_law){.time_ns = NAN, .level = "none"};
    struct coalescing_geometry g;
    const char *unsupported = coalescing_resolve(gpu, point, &g);
    if (unsupported != NULL) {
        out->note = unsupported;
        return;
    }
    struct ub_traffic one, none = {0};
    coalescing_traffic(&g, &one); /* both sides of a copy have the same indices */
    const struct ub_traffic *loads = g.op == COALESCING_STORE ? &none : &one;
    const struct ub_traffic *stores = g.op == COALESCING_LOAD ? &none : &one;
    out->level = in_dram(gpu, &g) ? "dram" : "l2";
    add_structural(out, loads, stores);
    add_dram(out, gpu, &g);
    add_time(out, gpu, constants, &g, loads, stores);
    if (in_dram(gpu, &g) && isnan(ub_constant_value(constants, coalescing_ceilings[g.op]))) {
        ub_time_unknown(out, UB_NOTE_NO_DRAM);
        return;
    }
    out->note = note_of(gpu, &g);
    if (in_dram(gpu, &g) && !may_meet_in_l1(&g) && isfinite(out->time_ns))
        out->tolerance = tolerance_of(gpu, &g, stores);
}

double coalescing_useful_bytes(const struct coalescing_geometry *geometry)
{
    const struct walk walk = walk_of(geometry);
    return walk.visits * geometry->bytes * (geometry->op == COALESCING_COPY ? 2 : 1);
}

double coalescing_bandwidth_by_grain(const struct ub_gpu *gpu, const struct ub_constants *constants,
                                     const struct ub_point *point, int grain_bytes)
{
    struct coalescing_geometry g;
    if (coalescing_resolve(gpu, point, &g) != NULL || g.op != COALESCING_LOAD)
        return NAN;
    const struct walk walk = walk_of(&g);
    if (walk.distance_bytes < grain_bytes)
        return NAN; /* every grain is used whole: nothing to compare with */
    return coalescing_useful_bytes(&g) / moved_bytes(&walk, grain_bytes) *
           ub_constant_value(constants, coalescing_ceilings[g.op]);
}
