/* SPDX-License-Identifier: MIT
 *
 * What `latency` predicts: how long one link of a chain takes, which is what a thread
 * waits for it (rules.md sections 5 and 6). Cycles are the SM's.
 *
 * L1 keeps 15/16 of its SRAM's lines (240 of 256 KiB on an H200; the rest is shared
 * memory's least; so it is for one block of 1024 threads without shared memory, for small
 * blocks it is less: rule carveout). Of a walk over `touched` bytes beyond that capacity it
 * still serves
 *     exp(-4.2 (touched / capacity - 1)):
 * sets of few lines with a replacement that is nearly random, not least recently used.
 * 4.2 was fitted to 248, 256, 320, 384 and 512 KiB on an H200, where the record is 4.4 % off
 * at most (320 KiB); at the others from 244 to 288 KiB it is up to 9.6 % off (252 KiB), and in
 * another run 256 KiB was 13 % off in one of five rounds: which lines stay is partly chance.
 * The tolerance there was 10 % first; it was widened to 15 % after that run.
 *
 * L2 of GA100, GH100 and GB100 is in two halves. An SM asks the half beside it, which
 * also keeps lines whose home is the other half: while the footprint fits into half of
 * L2, all is near. Beyond, a walk finds nothing near that was there before (the half
 * replaces the least recently used). Lines at home there (half of all) come from DRAM;
 * the others lie in the other half, x further away, which still holds them: it has only
 * those. DRAM itself is measured over lines of both halves, so that with x/2 for the way
 * of the average line to its home
 *     far = 1/2 (dram - x/2) + 1/2 (l2 + x) = 1/2 (l2 + dram) + x/4.
 * x is 156 cycles of an H800 at 1755 MHz, 149 of an A100 at 1410 (far hit less near hit:
 * Luo et al. 2025, Table 4, who also give DRAM behind the near and the far half, 148
 * apart). The same table gives 416 cycles for an A100; RRZE's chase shows 412.
 *
 * How the steps bend (from where to where, in capacities) was fitted on an H200 at 26 to
 * 40 and 56 to 72 MiB; in the bends of L2 no time is tested.
 *
 * The GPU finds the pages of 64 GiB without a walk through page tables in memory (H200;
 * pages of 2 MiB). Of loads that wander through more, 1 - 64 GiB / footprint walk, and wait
 * 47 ns longer. Both numbers were fitted to 80, 96, 112 and 128 GiB, which took 20, 31, 41
 * and 46 cycles more than 64; later runs are new measurements of the same footprints. */
#include <math.h>

#include "harness/contract/record.h"
#include "harness/model/bank.h"
#include "harness/model/coalesce.h"
#include "harness/model/occupancy.h"
#include "harness/model/time.h"
#include "micro/latency/access.h"
#include "micro/latency/rule.h"

/* ---- counters -------------------------------------------------------------- */

static bool is_global(const struct latency_geometry *g)
{
    return latency_in_buffer(g) && g->level != LATENCY_CONSTANT;
}

/* What the loads of the first walk, and the stores that lay the chain, ask for: all
 * warps but the last are like the first. */
static void walk_traffic(const struct latency_geometry *g, unsigned bytes, struct ub_traffic *out)
{
    uint64_t addresses[UB_WARP_LANES] = {0};
    struct ub_traffic full = {0};
    const uint64_t rest = g->cycle % UB_WARP_LANES;
    *out = (struct ub_traffic){0};
    for (uint64_t lane = 0; lane < UB_WARP_LANES && lane < g->cycle; lane++)
        addresses[lane] = latency_unit(g, lane) * g->unit_bytes;
    if (g->cycle >= UB_WARP_LANES) {
        ub_coalesce_warp(addresses, UINT32_MAX, bytes, &full);
        ub_traffic_add(out, &full, g->cycle / UB_WARP_LANES);
    }
    for (uint64_t lane = 0; lane < rest; lane++)
        addresses[lane] = latency_unit(g, g->cycle - rest + lane) * g->unit_bytes;
    if (rest > 0)
        ub_coalesce_warp(addresses, (UINT32_C(1) << rest) - 1, bytes, out);
}

/* Where in shared memory the lanes of a warp read, at any node. */
static void shared_addresses(const struct latency_geometry *g, uint32_t addresses[LATENCY_LANES])
{
    for (uint32_t lane = 0; lane < LATENCY_LANES; lane++)
        addresses[lane] = latency_row(g, lane);
}

static void add_global(struct ub_law *law, const struct latency_geometry *g)
{
    enum { ANSWERS = 3 }; /* stores: cycles, end, SM */
    struct ub_traffic laid = {0}, walked = {0};
    uint64_t hops = 0;
    if (latency_in_buffer(g))
        walk_traffic(g, LATENCY_NODE_BYTES, &laid);
    if (is_global(g)) {
        walk_traffic(g, sizeof(uint64_t), &walked);
        hops = 1 + (g->op == LATENCY_LOAD ? LATENCY_HOPS : 0); /* the first is not timed */
    }
    ub_law_exact(law, "global_load_requests", UB_STRUCTURAL, walked.requests + hops);
    ub_law_exact(law, "global_load_sectors", UB_STRUCTURAL, walked.sectors + hops);
    ub_law_exact(law, "global_store_requests", UB_STRUCTURAL, laid.requests + ANSWERS);
    ub_law_exact(law, "global_store_sectors", UB_STRUCTURAL, laid.sectors + ANSWERS);
    ub_law_exact(law, "global_atomics", UB_STRUCTURAL, g->op == LATENCY_ATOMIC ? LATENCY_HOPS : 0);
}

static void add_shared(struct ub_law *law, const struct latency_geometry *g)
{
    uint32_t addresses[LATENCY_LANES];
    uint64_t requests = 0, wavefronts = 0;
    if (g->op == LATENCY_LOAD && g->level == LATENCY_SHARED) {
        shared_addresses(g, addresses);
        requests = LATENCY_HOPS;
        wavefronts = LATENCY_HOPS * ub_bank_wavefronts_counted(addresses, UINT32_MAX, g->bytes);
    } else if (g->op == LATENCY_SHARED_ATOMIC) {
        requests = wavefronts = 2; /* the cell is read before and after */
    }
    ub_law_exact(law, "shared_load_requests", UB_STRUCTURAL, requests);
    ub_law_exact(law, "shared_load_wavefronts", UB_STRUCTURAL, wavefronts);
    ub_law_exact(law, "shared_atomics", UB_STRUCTURAL, g->op == LATENCY_SHARED_ATOMIC ? LATENCY_HOPS : 0);
}

/* ---- caches ------------------------------------------------------------------- */

/* What the levels serve of a walk, as shares of its loads. */
struct shares {
    double l1, l2, far, dram;
};

static const double l1_usable = 0.9375, l1_decay = 4.2;
static const struct {
    double from, to; /* in capacities */
} near_bend = {0.88, 1.22}, l2_bend = {0.95, 1.10};

static const double pages_found_bytes = 64.0 * (1 << 30), page_walk_ns = 47;

/* Bytes of cache that the lines of the walk take. */
static double touched_bytes(const struct latency_geometry *g)
{
    return (double)(g->cycle * g->unit_bytes);
}

/* 0 before a bend, 1 after it. */
static double risen(double touched, double capacity, double from, double to)
{
    return fmin(1, fmax(0, (touched / capacity - from) / (to - from)));
}

/* Some of the SRAM is kept for the management of L1; Turing leaves 32 KiB at least to
 * shared memory (CUDA C++ Programming Guide, compute capability 7.5). */
static double l1_capacity(const struct ub_gpu *gpu)
{
    struct ub_sm_limits limits;
    ub_sm_limits_of_gpu(gpu, &limits);
    const double least_shared = limits.carveout_count > 0 ? (double)limits.carveouts_bytes[0] : 0;
    return fmin(l1_usable * (double)gpu->l1_bytes, (double)gpu->l1_bytes - least_shared);
}

static double l1_share(const struct ub_gpu *gpu, const struct latency_geometry *g)
{
    const double capacity = l1_capacity(gpu), touched = touched_bytes(g);
    if (g->level != LATENCY_L1 || !(capacity > 0))
        return 0;
    return touched <= capacity ? 1 : exp(-l1_decay * (touched / capacity - 1));
}

static struct shares shares_of(const struct ub_gpu *gpu, const struct latency_geometry *g)
{
    const double touched = touched_bytes(g), l2_bytes = (double)gpu->l2_bytes;
    const double l1 = l1_share(gpu, g), rest = 1 - l1;
    const double out_of_l2 = risen(touched, l2_bytes, l2_bend.from, l2_bend.to);
    const double out_of_near =
        ub_gpu_has_l2_halves(gpu) ? risen(touched, l2_bytes / 2, near_bend.from, near_bend.to) : 0;
    return (struct shares){.l1 = l1,
                           .l2 = rest * (1 - out_of_near) * (1 - out_of_l2),
                           .far = rest * out_of_near * (1 - out_of_l2),
                           .dram = rest * out_of_l2};
}

static const double caches_tolerance = 0.01;

static void add_caches(struct ub_law *law, const struct ub_gpu *gpu, const struct latency_geometry *g)
{
    static const char other[] = "counted by hardware; on an H200 it was equal at all points but one";
    static const char both[] = "constants are copied by a kernel of the driver, which is counted as well";
    static const char bend[] = "the first walk finds some of what the stores before it left in L1";
    const double l1 = l1_share(gpu, g);
    const double sectors = (double)law->counters[1].predicted; /* global_load_sectors */
    const bool constant = g->level == LATENCY_CONSTANT;
    ub_law_estimate(law, "l1_load_sectors", constant ? NAN : sectors, caches_tolerance, other, both);
    const double hits = constant || (l1 > 0.01 && l1 < 1) ? NAN : l1 == 1 ? sectors : 0;
    ub_law_estimate(law, "l1_load_hits", hits, caches_tolerance, other, constant ? both : bend);
}

static void add_counters(struct ub_law *law, const struct ub_gpu *gpu, const struct latency_geometry *g)
{
    const bool local = g->op == LATENCY_LOAD && g->level == LATENCY_LOCAL;
    add_global(law, g);
    add_shared(law, g);
    law->counters[law->counter_count++] = (struct ub_law_counter){
        .key = "local_loads", .class_ = UB_SASS, .known = true, .predicted = local ? g->cycle + LATENCY_HOPS : 0};
    ub_law_exact(law, "ffma", UB_STRUCTURAL, g->op == LATENCY_FMA ? 3 * LATENCY_STEPS * LATENCY_LANES : 0);
    add_caches(law, gpu, g);
}

/* ---- time ------------------------------------------------------------------------ */

/* What one link takes and how sure that is. */
struct link {
    struct part {
        const char *term;
        double ns;
    } parts[5];       /* their sum; a term of NULL ends */
    double tolerance; /* on the card that the law was checked on; 0: not tested */
    const char *level, *note;
};

static double cycles_ns(const struct ub_constants *constants, double cycles)
{
    return cycles * 1e3 / ub_constant_value(constants, "clock_mhz");
}

static struct link simple_link(const char *term, double ns, double tolerance)
{
    return (struct link){.parts = {{term, ns}}, .tolerance = tolerance, .level = "none"};
}

/* A share of nothing takes no time, whatever is not known of it. */
static double part_ns(double share, double ns)
{
    return share > 0 ? share * ns : 0;
}

/* Fewer lie in a few places of L2, some near and some far. */
enum { ENOUGH_LINES = 1024 };
static const char few[] = "few lines: where in L2 they lie decides, the time is not tested";

static struct link cache_link(const struct ub_gpu *gpu, const struct ub_constants *constants,
                              const struct latency_geometry *g)
{
    static const char bend[] = "in the bend of a step: how L2 replaces lines decides, the time is not tested";
    const struct shares s = shares_of(gpu, g);
    const double lost = fmax(0, 1 - pages_found_bytes / (double)g->footprint_bytes);
    const double l2_ns = ub_constant_value(constants, "l2_latency_ns");
    const double dram_ns = ub_constant_value(constants, "dram_latency_ns");
    const double far_ns = (l2_ns + dram_ns) / 2 + ub_constant_value(constants, "l2_crossing_ns") / 4;
    struct link link = {
        .parts = {{"l1", part_ns(s.l1, cycles_ns(constants, ub_constant_value(constants, "l1_latency_cycles")))},
                  {"l2", part_ns(s.l2, l2_ns)},
                  {"l2_far", part_ns(s.far, far_ns)},
                  {"dram", part_ns(s.dram, dram_ns)},
                  {"page_walk", part_ns(s.dram, lost * page_walk_ns)}},
        .level = s.l1 >= 0.5     ? "l1"
                 : s.dram >= 0.5 ? "dram"
                                 : "l2"};
    const double rest = 1 - s.l1, most = fmax(fmax(s.l2, s.far), s.dram);
    if (s.l1 == 1)
        link.tolerance = 0.01;
    else if (g->cycle < ENOUGH_LINES)
        link.note = few;
    else if (most < 0.999 * rest)
        link.note = bend;
    else
        link.tolerance = s.l1 > 0.01 ? 0.15 : 0.06; /* SMs differ by -4 to +5 % */
    return link;
}

/* At the home of the line, in either half of L2; the addition takes 11 ns, fitted to
 * one mean of an H200. */
static struct link atomic_link(const struct ub_gpu *gpu, const struct ub_constants *constants,
                               const struct latency_geometry *g)
{
    const double addition_ns = 11;
    const double way_ns = ub_gpu_has_l2_halves(gpu) ? ub_constant_value(constants, "l2_crossing_ns") / 2 : 0;
    struct link link =
        simple_link("atomic", ub_constant_value(constants, "l2_latency_ns") + way_ns + addition_ns, 0.06);
    link.level = "l2";
    if (touched_bytes(g) > (double)gpu->l2_bytes) {
        link.parts[0].ns = NAN;
        link.note = "beyond L2 the line has to come from DRAM first, of which this law knows nothing";
        return link;
    }
    if (g->cycle < ENOUGH_LINES || touched_bytes(g) > near_bend.from / 2 * (double)gpu->l2_bytes) {
        link.tolerance = 0;
        link.note = g->cycle < ENOUGH_LINES ? few : "more than half of L2: the time is not tested";
    }
    return link;
}

/* 21 cycles and two for each turn of the data pipe. A load of 8 or 16 bytes is served in
 * two or four phases, of which the bank model says whether they are merged: one cycle for
 * each but the first. Fits all 21 points of an H200 (4, 8, 16 bytes x 1, 2, 3, 4, 8, 16, 32
 * ways) exactly; A100, 4 bytes, 1 to 8 ways: 23, 25, 29, 37 (Sun et al. 2023, Table 10). */
static double shared_cycles(const struct ub_constants *constants, const struct latency_geometry *g)
{
    uint32_t addresses[LATENCY_LANES];
    shared_addresses(g, addresses);
    const unsigned turns = ub_bank_wavefronts(addresses, UINT32_MAX, g->bytes);
    const bool merged = turns < ub_bank_wavefronts_store(addresses, UINT32_MAX, g->bytes);
    const unsigned phases = g->bytes / 4 / (merged ? 2 : 1);
    return ub_constant_value(constants, "shared_latency_cycles") + 2.0 * (turns - 1) + (phases - 1);
}

/* The first cache of constants: 8 sets of 4 lines of 64 bytes. Of a walk over units side
 * by side, all of a set that has more than four miss, the others hit; what misses is found
 * in the next cache up to 64 KiB at least. An H200 takes 28 and 102 cycles, and 69.1 for
 * 36 units, of which 20 share four sets: exactly so. */
static double constant_cycles(const struct latency_geometry *g)
{
    enum { SETS = 8, LINES = 4 };
    const double hit = 28, miss = 102;
    uint64_t missing = 0;
    for (uint64_t set = 0; set < SETS; set++) {
        const uint64_t units = g->units / SETS + (set < g->units % SETS);
        missing += units > LINES ? units : 0;
    }
    return hit + (miss - hit) * (double)missing / (double)g->units;
}

/* Cycles of the others: FMA, add and integer multiply-add take 4 from Volta on (Jia et al.
 * 2018, Abdelkhalik et al. 2022, Chips and Cheese); fp64 8 where an SM has lanes for it
 * (V100: RRZE cuda-incore), 40 on Turing (Arafa et al. 2019) and assumed so on all cards
 * that have two; the rest are an H200's (shuffle: A100 25, V100 22). */
static struct link operation_link(const struct ub_gpu *gpu, const struct ub_constants *constants, uint32_t op)
{
    const double fp64 = gpu->fp64_lanes_per_sm >= 32 ? 8 : gpu->fp64_lanes_per_sm > 0 ? 40 : NAN;
    const struct {
        const char *term;
        double cycles, tolerance;
    } rows[LATENCY_OPS] = {
        [LATENCY_FMA] = {"fma", 4, 0.002},          [LATENCY_ADD] = {"add", 4, 0.002},
        [LATENCY_MAD] = {"mad", 4, 0.002},          [LATENCY_FP64] = {"fp64", fp64, 0.002},
        [LATENCY_SHUFFLE] = {"shuffle", 26, 0.005}, [LATENCY_SHARED_ATOMIC] = {"shared_atomic", 26, 0.005},
    };
    return simple_link(rows[op].term, cycles_ns(constants, rows[op].cycles), rows[op].tolerance);
}

static struct link link_of(const struct ub_gpu *gpu, const struct ub_constants *constants,
                           const struct latency_geometry *g)
{
    const double local_cycles = 29; /* LDL from L1, H200 */
    if (g->op == LATENCY_ATOMIC)
        return atomic_link(gpu, constants, g);
    if (g->op != LATENCY_LOAD)
        return operation_link(gpu, constants, g->op);
    switch ((enum latency_level)g->level) {
    case LATENCY_SHARED:
        return simple_link("shared", cycles_ns(constants, shared_cycles(constants, g)), 0.01);
    case LATENCY_CONSTANT:
        return simple_link("constant", cycles_ns(constants, constant_cycles(g)), 0.01);
    case LATENCY_LOCAL:
        return simple_link("local", cycles_ns(constants, local_cycles), 0.01);
    case LATENCY_L1:
    case LATENCY_L2:
    case LATENCY_DRAM:
    case LATENCY_LEVELS:
        break;
    }
    return cache_link(gpu, constants, g);
}

static const double tolerance_assumed = 0.30;

/* The links of an iteration wait for each other: their times add up. */
static void set_time(struct ub_law *law, const struct ub_gpu *gpu, const struct link *link, uint32_t operations)
{
    double sum = 0, largest = 0;
    for (size_t i = 0; i < sizeof link->parts / sizeof link->parts[0] && link->parts[i].term; i++) {
        const double ns = link->parts[i].ns * operations;
        ub_time_term(law, link->parts[i].term, ns);
        sum += ns;
        if (ns > largest) {
            largest = ns;
            law->bottleneck = link->parts[i].term;
        }
    }
    law->level = link->level;
    law->note = link->note;
    if (!isfinite(sum)) {
        law->term_count = 0;
        law->bottleneck = NULL;
        law->note = link->note != NULL ? link->note : "how long this takes on this GPU is not known";
        return;
    }
    law->time_ns = sum;
    law->tolerance = gpu->verified || link->tolerance == 0 ? link->tolerance : tolerance_assumed;
    if (!gpu->verified && law->note == NULL)
        law->note = "assumed: cycles of an H200 and published figures of other cards";
}

void latency_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                 struct ub_law *out)
{
    *out = (struct ub_law){.time_ns = NAN, .level = "none"};
    struct latency_geometry g;
    const char *unsupported = latency_resolve(gpu, point, &g);
    if (unsupported != NULL) {
        out->note = unsupported;
        return;
    }
    add_counters(out, gpu, &g);
    const struct link link = link_of(gpu, constants, &g);
    set_time(out, gpu, &link, g.operations);
}
