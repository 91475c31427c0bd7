/* SPDX-License-Identifier: MIT
 *
 * How long the packets and parts (cost.c) of all adds take. What follows is how the times and
 * counters of an H200 fit together, in cycles of L2, whose clock is its own (1.70 GHz while an
 * SM had 1.98; times are therefore in ns).
 *
 * Every address lives in one slice of L2, of which there are 94. The slice's atomic unit takes a
 * part a cycle if the part fills its sector, and one in 1.25 cycles if it does not: 32 lanes that
 * add integers to one address are 40 cycles, 32 lanes with an address each (one line, four full
 * parts) are 4. Of doubles it takes two addresses a cycle. Integers follow each other at that
 * rate on one address too; a floating-point add must wait for the one before it on its sector, 3
 * cycles (4 in a part of more than two doubles).
 *     hot_sector: parts on it x 3 or 4 cycles (float, double, half2)
 *     hot_slice:  its parts x 1, 1.25 or 2 cycles
 * Two neighbouring lines (256 bytes) share a slice, two such pairs have two. Of more pairs, the
 * busiest slice has 1/94 + 1.8/pairs: fitted to its counter (lts__d_atomic_input_cycles_active,
 * .max / .sum), within 26 % from 4 to 4096 pairs: 2 pairs of 4 to 64, then 4 of 128 and 256, 8
 * of 512, 12 of 1024, 44 of 4096. It is a hash of the address and no accident: two sessions
 * have the same integers.
 *
 * With more than a few slices at work a packet costs more than its parts (measured where
 * addresses are spread over 2 MiB, of the whole card): a line (four parts) 0.034 ns, one sector
 * 0.0145, one address 0.0113; two and three parts are taken to lie between on a line. That of all
 * packets, times the busiest slice against the mean one:
 *     packets: all packets' ns x (1 + 94 x 1.8 / pairs)
 * Where the value is used it must come back. Two slices share the way: the same with 0.0148 ns a
 * part and half as many places, fitted to the times of five numbers of addresses:
 *     replies: all parts' ns x (1 + 47 x 2.2 / pairs)
 * and a warp that waits for its four adds takes at least as long as one that is alone (`wait`).
 * What no fit has used: 24 points of one address a warp, 132 to 65536 of them, 4 to 128 bytes
 * apart (29 % off at most, 12 % in the mean), and 9, 12 and 24 addresses (3 %).
 *
 * Shared memory. max(turns, 2) SM cycles an instruction for 32-bit integers. All other adds are
 * a loop of LDS, add and ATOMS.CAST.SPIN (the machine code says so). Where each warp has its own
 * addresses it goes round as often as lanes share one. Where all warps add to the same ones, an
 * address takes an add every so many ns (measured with 32 warps, which try 23 times for each add:
 * they fill the pipe). Between, who comes in between decides. */
#include <math.h>
#include <stddef.h>

#include "harness/contract/record.h"
#include "harness/model/time.h"
#include "micro/atomics/access.h"
#include "micro/atomics/rule.h"

enum { PAIR_BYTES = 256, SECTOR_BYTES = 32, SECTORS_OF_LINE = 4, SHARED_CYCLES_LEAST = 2 };

/* Places that share the work, and how many pairs of lines the busiest has beyond its share. */
struct places {
    double count, extra_pairs;
};
static const struct places slices = {94, 1.8}, ways_back = {47, 2.2};

static const double long_part_wait = 4.0 / 3; /* cycles: four against three */
static const double double_part_cycles = 2;

static const double time_tolerance = 0.10;
static const double time_tolerance_hash = 0.35;    /* where the hash, or who comes in between, decides too */
static const double time_tolerance_assumed = 0.50; /* other cards */
static const double hardware_tolerance = 0.001;
static const double hash_tolerance = 0.35;

/* ---- constants --------------------------------------------------------------------- */

/* Of an H200 (1980 MHz, 132 SMs), in ns: for a card that has not measured its own. What one unit
 * does is assumed to scale with the clock, what the whole card does with the number of SMs too. */
enum rate {
    PART,
    ADDRESS,
    FLOAT_ADDRESS,
    PACKET_LINE,
    PACKET_SECTOR,
    PACKET_ADDRESS,
    REPLY,
    WAIT,
    ISSUE,
    LOOP,
    LOOP_SPREAD,
    LOOP_64,
    LOOP_64_SPREAD,
    CAS_SPREAD,
    RATES
};

static const struct {
    const char *name;
    double h200_ns;
    bool of_card;
} rates[RATES] = {
    [PART] = {"atomic_part_ns", 0.587, false},
    [ADDRESS] = {"atomic_address_ns", 0.733, false},
    [FLOAT_ADDRESS] = {"atomic_float_ns", 1.758, false},
    [PACKET_LINE] = {"packet_line_ns", 0.0341, true},
    [PACKET_SECTOR] = {"packet_sector_ns", 0.0145, true},
    [PACKET_ADDRESS] = {"packet_address_ns", 0.0113, true},
    [REPLY] = {"atomic_reply_ns", 0.0148, true},
    [WAIT] = {"atomic_wait_ns", 300, false},
    [ISSUE] = {"reduction_wait_ns", 43, false},
    [LOOP] = {"shared_loop_ns", 22.1, false},
    [LOOP_SPREAD] = {"shared_loop_spread_ns", 2.42, false},
    [LOOP_64] = {"shared_loop_64_ns", 32.6, false},
    [LOOP_64_SPREAD] = {"shared_loop_64_spread_ns", 3.18, false},
    [CAS_SPREAD] = {"cas_spread_ns", 0.139, true},
};

static double rate_ns(const struct ub_gpu *gpu, const struct ub_constants *constants, enum rate rate)
{
    static const double h200_mhz = 1980, h200_sms = 132;
    const double measured = ub_constant_value(constants, rates[rate].name);
    if (isfinite(measured))
        return measured;
    const double of_card = rates[rate].of_card ? h200_sms / gpu->sms : 1;
    return rates[rate].h200_ns * of_card * h200_mhz / ub_constant_value(constants, "clock_mhz");
}

/* ---- counts ------------------------------------------------------------------------- */

uint64_t atomics_instructions(const struct atomics_geometry *g)
{
    return (uint64_t)g->warps * g->copies * g->steps;
}

uint32_t atomics_sharing(const struct atomics_geometry *g)
{
    return (ATOMICS_WARP + g->lanes - 1) / g->lanes;
}

bool atomics_contended(const struct atomics_geometry *g)
{
    const uint64_t at_once = (uint64_t)g->warps * g->lanes;
    return (g->space == ATOMICS_GLOBAL ? 2 * at_once : at_once) > g->addresses; /* some warps run ahead */
}

static uint64_t pieces_of(const struct atomics_geometry *g, uint32_t bytes)
{
    return g->apart >= bytes ? g->addresses : (atomics_copy_bytes(g) + bytes - 1) / bytes;
}

/* ---- what the launch is cut into ------------------------------------------------------- */

static void add_times(struct atomics_cost *sum, const struct atomics_cost *one, uint64_t times)
{
    sum->sectors += one->sectors * times;
    sum->packets += one->packets * times;
    sum->single_packets += one->single_packets * times;
    sum->parts += one->parts * times;
    sum->full_parts += one->full_parts * times;
    sum->long_parts += one->long_parts * times;
    sum->turns += one->turns * times;
}

/* The addresses of warp number `warp` in step 0. Lanes 0 to lanes - 1 have one each; one lane of
 * way=compiler adds for all. */
static void find_addresses(const struct atomics_geometry *g, uint32_t warp, struct atomics_warp_addresses *out)
{
    out->count = g->lanes;
    for (uint32_t lane = 0; lane < g->lanes; lane++) {
        out->bytes[lane] = (uint64_t)atomics_first(warp, lane, g->lanes, g->addresses) * g->apart;
        out->lanes[lane] = g->way == ATOMICS_COMPILER ? 1 : (ATOMICS_WARP - lane + g->lanes - 1) / g->lanes;
    }
}

/* The warps of a copy, step after step, take what warps 0, 1, 2, ... take in step 0, again and
 * again after `period`. What a warp costs depends on where in a line it begins. */
void atomics_cost(const struct atomics_geometry *g, struct atomics_cost *out)
{
    enum { CLASSES = SECTOR_BYTES * SECTORS_OF_LINE };
    const uint64_t all = (uint64_t)g->warps * g->steps;
    const uint32_t period = g->addresses / g->lanes;
    struct atomics_cost known[CLASSES];
    bool is_known[CLASSES] = {false};
    *out = (struct atomics_cost){0};
    for (uint32_t warp = 0; warp < period && warp < all; warp++) {
        const uint64_t first = atomics_first(warp, 0, g->lanes, g->addresses);
        const uint64_t class_ = first * g->apart % CLASSES;
        if (!is_known[class_]) {
            struct atomics_warp_addresses addresses;
            find_addresses(g, warp, &addresses);
            atomics_cost_of_warp(g, &addresses, &known[class_]);
        }
        is_known[class_] = true;
        add_times(out, &known[class_], g->copies * (all / period + (warp < all % period)));
    }
}

/* ---- global memory -------------------------------------------------------------------- */

static bool is_floating(const struct atomics_geometry *g)
{
    return g->type == ATOMICS_FLOAT || g->type == ATOMICS_DOUBLE || g->type == ATOMICS_HALF2;
}

/* The busiest place against the mean one. */
static double imbalance(const struct places *places, double pairs)
{
    return fmin(1 + places->count * places->extra_pairs / pairs, places->count);
}

/* What the busiest slice has of all. */
static double busiest_slice(double pairs)
{
    return pairs <= 1 ? 1 : fmin(imbalance(&slices, pairs) / slices.count, 0.5);
}

/* Floating-point adds on the sector that gets most, an equal share of all. */
static double sector_ns(const struct ub_gpu *gpu, const struct ub_constants *constants,
                        const struct atomics_geometry *g, const struct atomics_cost *cost)
{
    const double longs = g->type == ATOMICS_DOUBLE ? (double)cost->long_parts : 0;
    const double steps = (double)cost->parts + longs * (long_part_wait - 1);
    return steps * rate_ns(gpu, constants, FLOAT_ADDRESS) / (double)pieces_of(g, SECTOR_BYTES);
}

/* As if one slice had all parts. */
static double unit_ns(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct atomics_geometry *g,
                      const struct atomics_cost *cost)
{
    const double full_ns = rate_ns(gpu, constants, PART), other_ns = rate_ns(gpu, constants, ADDRESS);
    const double longs = g->type == ATOMICS_DOUBLE ? (double)cost->long_parts : 0;
    const double full = g->type == ATOMICS_DOUBLE ? 0 : (double)cost->full_parts;
    const double other = (double)cost->parts - full - longs;
    return longs * double_part_cycles * full_ns + full * full_ns + other * other_ns;
}

/* All packets, spread over all slices: what a packet costs grows evenly with its parts. */
static double packets_ns(const struct ub_gpu *gpu, const struct ub_constants *constants,
                         const struct atomics_cost *cost)
{
    const double sector_ns = rate_ns(gpu, constants, PACKET_SECTOR), line_ns = rate_ns(gpu, constants, PACKET_LINE);
    const double more_ns = (line_ns - sector_ns) / (SECTORS_OF_LINE - 1);
    const double singles = (double)cost->single_packets, others = (double)cost->packets - singles;
    const double parts = (double)cost->parts - singles;
    return singles * rate_ns(gpu, constants, PACKET_ADDRESS) + others * (sector_ns - more_ns) + parts * more_ns;
}

static void add_global(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct atomics_geometry *g,
                       const struct atomics_cost *cost, struct ub_law *law)
{
    static const double few_pairs = 4; /* two slices: their units decide */
    const double pairs = (double)pieces_of(g, PAIR_BYTES), turns = (double)g->steps / ATOMICS_UNROLL;
    if (is_floating(g))
        ub_time_term(law, "hot_sector", sector_ns(gpu, constants, g, cost));
    ub_time_term(law, "hot_slice", unit_ns(gpu, constants, g, cost) * busiest_slice(pairs));
    if (pairs > few_pairs)
        ub_time_term(law, "packets", packets_ns(gpu, constants, cost) * imbalance(&slices, pairs));
    if (pairs > few_pairs && g->used)
        ub_time_term(law, "replies",
                     (double)cost->parts * rate_ns(gpu, constants, REPLY) * imbalance(&ways_back, pairs));
    ub_time_term(law, "wait", turns * rate_ns(gpu, constants, g->used ? WAIT : ISSUE));
}

/* ---- shared memory ----------------------------------------------------------------------- */

static void add_loop(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct atomics_geometry *g,
                     struct ub_law *law)
{
    const bool wide = g->bytes == 8;
    const double instructions = (double)g->block_warps * g->steps;
    const double adds = instructions * ATOMICS_WARP / g->addresses;
    const double one_ns = rate_ns(gpu, constants, wide ? LOOP_64 : LOOP);
    const double spread_ns = rate_ns(gpu, constants, wide ? LOOP_64_SPREAD : LOOP_SPREAD);
    ub_time_term(law, "hot_address", adds * one_ns);
    ub_time_term(law, "shared_loop", instructions * atomics_sharing(g) * spread_ns);
}

static void add_shared(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct atomics_geometry *g,
                       const struct atomics_cost *cost, struct ub_law *law)
{
    const double cycle_ns = 1e3 / ub_constant_value(constants, "clock_mhz");
    const double instructions = (double)g->block_warps * g->steps, turns = (double)cost->turns / g->blocks;
    if (atomics_loops(g))
        add_loop(gpu, constants, g, law);
    else
        ub_time_term(law, "shared_turns", fmax(turns, SHARED_CYCLES_LEAST * instructions) * cycle_ns);
}

/* What the blocks add at last, each all addresses, 32 side by side. */
static double flush_ns(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct atomics_geometry *g)
{
    struct atomics_geometry flush = *g;
    struct atomics_cost cost;
    struct ub_law law = {.time_ns = NAN};
    flush.way = ATOMICS_PLAIN;
    flush.lanes = g->addresses < ATOMICS_WARP ? g->addresses : ATOMICS_WARP;
    flush.steps = 1;
    flush.warps = g->blocks * ((g->addresses + ATOMICS_WARP - 1) / ATOMICS_WARP);
    atomics_cost(&flush, &cost);
    if (g->addresses < ATOMICS_WARP) { /* only so many lanes are there: no address is shared */
        const uint32_t sharing = atomics_sharing(&flush);
        cost.packets /= sharing;
        cost.single_packets /= sharing;
        cost.parts /= sharing;
        cost.long_parts /= sharing;
        cost.full_parts /= sharing;
    }
    add_global(gpu, constants, &flush, &cost, &law);
    ub_time_bottleneck(&law, 0);
    return law.time_ns;
}

/* ---- counters ---------------------------------------------------------------------------- */

static void add_hardware(struct ub_law *law, const char *key, double predicted, const char *unknown)
{
    ub_law_estimate(law, key, unknown ? NAN : predicted, hardware_tolerance, "counted by hardware", unknown);
}

static const char tries_unknown[] = "how often a loop of compare-and-swap tries depends on who comes in between";

/* Why the tries of a loop are not known; NULL where they are. */
static const char *unknown_tries(const struct atomics_geometry *g)
{
    return atomics_loops(g) && (atomics_contended(g) || g->way == ATOMICS_CAS) ? tries_unknown : NULL;
}

static void add_exact(struct ub_law *law, const char *key, enum ub_counter_class class_, uint64_t predicted,
                      const char *unknown)
{
    if (unknown == NULL)
        ub_law_exact(law, key, class_, predicted);
    else
        ub_law_unknown(law, key, class_, unknown);
}

/* Instructions of way=private that add the sums of a block: 32 addresses at a time. */
static uint64_t flushes_of(const struct atomics_geometry *g)
{
    return g->way == ATOMICS_PRIVATE ? (uint64_t)g->blocks * ((g->addresses + ATOMICS_WARP - 1) / ATOMICS_WARP) : 0;
}

static void add_global_counters(const struct ub_gpu *gpu, const struct atomics_geometry *g,
                                const struct atomics_cost *cost, struct ub_law *law)
{
    const struct atomics_cost none = {0};
    const bool inside = atomics_in_shared(g), returns = g->used || g->way == ATOMICS_CAS;
    const struct atomics_cost *of = inside ? &none : cost;
    const uint64_t instructions = inside ? 0 : atomics_instructions(g), flushes = flushes_of(g);
    const char *unknown = inside ? NULL : unknown_tries(g);
    const char *flushed = flushes > 0 ? "the sums of the blocks are added too" : NULL;
    add_exact(law, "global_atomics", UB_STRUCTURAL, returns ? instructions : 0, returns ? unknown : NULL);
    add_exact(law, "global_reductions", UB_STRUCTURAL, returns ? flushes : instructions + flushes, NULL);
    add_exact(law, "global_atomic_sectors", UB_STRUCTURAL, returns ? of->sectors : 0, returns ? unknown : NULL);
    add_exact(law, "global_reduction_sectors", UB_STRUCTURAL, returns ? 0 : of->sectors, flushed);
    add_hardware(law, "l1_atomic_sectors", returns ? (double)of->parts : 0, returns ? unknown : NULL);
    add_hardware(law, "l1_reduction_sectors", returns ? 0 : (double)of->parts, flushed);
    const uint64_t longs = g->type == ATOMICS_DOUBLE ? of->long_parts : 0;
    ub_law_estimate(law, "l2_atomic_cycles", unknown || flushed ? NAN : (double)(of->parts + longs), hardware_tolerance,
                    "counted by hardware", unknown ? unknown : flushed);
    const char *no_hash = gpu->verified ? NULL : "the slices of L2 and their hash are an H200's";
    const char *no_busiest = unknown ? unknown : flushed ? flushed : no_hash;
    ub_law_estimate(law, "l2_atomic_cycles_busiest",
                    no_busiest ? NAN : (double)(of->parts + longs) * busiest_slice((double)pieces_of(g, PAIR_BYTES)),
                    hash_tolerance, "which slice a line is in is a hash that is not told", no_busiest);
}

static void add_shared_counters(const struct atomics_geometry *g, const struct atomics_cost *cost, struct ub_law *law)
{
    const bool inside = atomics_in_shared(g), loops = atomics_loops(g);
    const uint64_t instructions = inside ? atomics_instructions(g) : 0;
    const char *unknown = inside ? unknown_tries(g) : NULL;
    const char *no_turns = inside && loops ? "the turns of the compiler's loop are not in the law" : NULL;
    add_exact(law, "shared_atomics", loops ? UB_SASS : UB_STRUCTURAL, instructions * (loops ? atomics_sharing(g) : 1),
              unknown);
    add_exact(law, "shared_atomic_wavefronts", UB_STRUCTURAL, inside ? cost->turns : 0, no_turns);
    const char *elected = inside && g->way == ATOMICS_COMPILER
                              ? "an H200 counts 1.28 turns for an instruction of one lane; why is not known"
                              : no_turns;
    add_hardware(law, "l1_shared_atomic_wavefronts", inside ? (double)cost->turns : 0, elected);
}

static void add_counters(const struct ub_gpu *gpu, const struct atomics_geometry *g, const struct atomics_cost *cost,
                         struct ub_law *law)
{
    ub_law_exact(law, "blocks_launched", UB_STRUCTURAL, g->blocks);
    ub_law_exact(law, "local_loads", UB_SASS, 0); /* nothing is spilled */
    ub_law_exact(law, "local_stores", UB_SASS, 0);
    add_global_counters(gpu, g, cost, law);
    add_shared_counters(g, cost, law);
}

/* ---- all together -------------------------------------------------------------------------- */

static const char *not_tested(const struct ub_point *point, const struct atomics_geometry *g)
{
    if (point->values[ATOMICS_LENGTH] > 0)
        return "not tested: with a chosen length the launch itself may be a large part of the time";
    if (g->way == ATOMICS_CAS)
        return "not tested: how often a loop of compare-and-swap tries depends on who comes in between";
    if (atomics_in_shared(g) && g->block_warps < ATOMICS_WARPS_MAX)
        return "not tested: so few warps may wait for their own adds, which is not in the law of shared memory";
    return NULL;
}

/* Where a measured rate decides, and neither the hash of addresses nor who comes in between. */
static bool is_sharp(const struct atomics_geometry *g)
{
    static const uint64_t spread_pairs = 8192;
    const uint64_t pairs = pieces_of(g, PAIR_BYTES);
    const bool loops_between = atomics_loops(g) && atomics_contended(g) && g->addresses > 1;
    if (g->block_warps < ATOMICS_WARPS_MAX || loops_between)
        return false;
    const bool packed = g->apart == g->bytes && g->lanes == ATOMICS_WARP;
    return atomics_in_shared(g) || pairs <= 1 || (pairs >= spread_pairs && packed);
}

static void add_time(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct atomics_geometry *g,
                     const struct atomics_cost *cost, struct ub_law *law)
{
    if (g->way == ATOMICS_CAS)
        ub_time_term(law, "spread_tries", (double)atomics_instructions(g) * rate_ns(gpu, constants, CAS_SPREAD));
    else if (atomics_in_shared(g))
        add_shared(gpu, constants, g, cost, law);
    else
        add_global(gpu, constants, g, cost, law);
    ub_time_bottleneck(law, ub_constant_value(constants, "launch_floor_ns"));
    if (g->way == ATOMICS_PRIVATE)
        law->time_ns += flush_ns(gpu, constants, g);
    if (g->way == ATOMICS_CAS && atomics_contended(g))
        ub_time_unknown(law, tries_unknown);
}

void atomics_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                 struct ub_law *out)
{
    struct atomics_geometry g;
    struct atomics_cost cost;
    *out = (struct ub_law){.time_ns = NAN, .level = "none"};
    const char *unsupported = atomics_resolve(gpu, point, &g);
    if (unsupported != NULL) {
        out->note = unsupported;
        return;
    }
    out->level = atomics_in_shared(&g) ? "none" : "l2";
    atomics_cost(&g, &cost);
    add_counters(gpu, &g, &cost, out);
    add_time(gpu, constants, &g, &cost, out);
    if (out->note == NULL)
        out->note = not_tested(point, &g);
    if (out->note != NULL || !isfinite(out->time_ns))
        return;
    if (!gpu->verified)
        out->note = "assumed: rates and the hash of an H200";
    out->tolerance = !gpu->verified ? time_tolerance_assumed : is_sharp(&g) ? time_tolerance : time_tolerance_hash;
}
