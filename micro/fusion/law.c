/* SPDX-License-Identifier: MIT
 *
 * What `fusion` predicts. Whatever one kernel hands on to the next, or one pass over a row to
 * the one after it, is stored and loaded again: K element-wise steps as K kernels move K
 * times what they move as one, softmax reads its row three times, two or once, and attention
 * stores and loads the scores, seq^2 floats, three times more than not at all. These bytes
 * are exact: they follow from the source. Where they go follows from what fits where, and
 * time from the bytes and the ceiling of that place:
 *     time = kernels x floor + bytes / ceiling
 * until arithmetic takes longer. Fused, arithmetic is all that grows. */
#include <math.h>

#include "harness/contract/record.h"
#include "harness/model/time.h"
#include "micro/fusion/access.h"
#include "micro/fusion/rule.h"

enum { WARPS = FUSION_BLOCK / UB_WARP_LANES, FLOAT_BYTES = 4, MUFU_LANES = 16 };

/* ---- empirical constants ------------------------------------------------------------
 * From an H200 (driver 580, CUDA 13.0, 1980 MHz), medians of graph launches. They are fits: what
 * tests them is a new run. */

/* What an element-wise kernel takes beside the floor of a launch and its bytes, from the first
 * load to the last store, wherever its bytes are; and what it reaches of L2's ceiling of loads
 * where it finds all there. steps=1, n=16Ki..4Mi: 0.96, 1.00, 1.20, 1.98, 5.34 us; by law
 * 0.96, 1.01, 1.20, 2.01, 5.20. */
static const double kernel_ns = 437, l2_copy_share = 0.806;

/* Instructions of a warp in a step of its threads' four floats: four multiply-adds and an
 * eighth of the three that a loop over eight steps has; and those around the steps. */
static const double step_instructions = 4.375, other_instructions = 33;

/* Of the time that DRAM takes, what is not hidden behind arithmetic that takes longer: no
 * thread loads ahead, so that some of an SM's warps always wait. op=fma, steps=48..512:
 * 52 to 64 us of 252; op=exp, 8..32: 12 to 16, of which units the loads and stores use none. */
static const double exposed_share[FUSION_OPS] = {[FUSION_FMA] = 0.22, [FUSION_EXP] = 0.05};

/* Of DRAM's ceilings, what blocks reach that have a row each, wait for each other at
 * barriers and are replaced when they end: three kernels 503 to 522 us where the ceilings
 * would be 481; three passes that all miss 508 to 515 (503), two 392 to 400 (377); with one
 * pass from DRAM 260 to 271 (251). */
static const double row_share[FUSION_VARIANTS] = {0.94, 0.97, 0.945, 0.97};

/* Exponentials for each float of a row: online has, in its first pass, one more for each
 * group of four. */
static const double exponentials[FUSION_VARIANTS] = {2, 2, 2.25, 1};

static const double time_tolerance = 0.05;            /* DRAM decides */
static const double time_tolerance_arithmetic = 0.08; /* arithmetic decides */
static const double time_tolerance_l2 = 0.12;
static const double time_tolerance_assumed = 0.30;
static const double dram_tolerance = 0.05, l2_tolerance = 0.01;

/* ---- what is asked of global memory ----------------------------------------------------- */

/* `groups` groups side by side, from group `first` on: 32 for each request. */
static void add_groups(struct ub_traffic *traffic, uint64_t first, uint64_t groups, uint64_t times)
{
    const uint64_t counts[2] = {groups / UB_WARP_LANES, 1};
    const uint32_t lanes[2] = {UB_WARP_LANES, (uint32_t)(groups % UB_WARP_LANES)};
    for (int part = 0; part < 2; part++) {
        uint64_t addresses[UB_WARP_LANES] = {0};
        struct ub_traffic one = {0};
        if (lanes[part] == 0)
            continue;
        for (uint32_t lane = 0; lane < lanes[part]; lane++)
            addresses[lane] = (first + lane) * FUSION_GROUP_BYTES;
        ub_coalesce_warp(addresses, UINT32_MAX >> (UB_WARP_LANES - lanes[part]), FUSION_GROUP_BYTES, &one);
        ub_traffic_add(traffic, &one, counts[part] * times);
    }
}

/* A pass over all rows. A row begins at a multiple of 16 bytes: every eighth one at the
 * same place of a line. */
static void add_pass(const struct fusion_geometry *g, struct ub_traffic *traffic)
{
    enum { PERIOD = UB_LINE_BYTES / FUSION_GROUP_BYTES };
    for (uint32_t row = 0; row < PERIOD && row < g->rows; row++)
        add_groups(traffic, fusion_row(g->length, row), g->length / FUSION_GROUP,
                   (g->rows - row + PERIOD - 1) / PERIOD);
}

/* One float, the same for all lanes, by so many warps. */
static void add_single(struct ub_traffic *traffic, uint64_t warps)
{
    const struct ub_traffic one = {.requests = 1, .sectors = 1, .lines = 1, .bytes = FLOAT_BYTES};
    ub_traffic_add(traffic, &one, warps);
}

/* A tile of 64 x 64 floats, of a matrix with rows of `width`: loaded, or stored by those who
 * computed it. */
static void add_tiles(struct ub_traffic *traffic, uint32_t width, bool stored, uint64_t tiles)
{
    for (uint32_t warp = 0; warp < WARPS; warp++)
        for (uint32_t k = 0; k < FUSION_GROUP; k++) {
            uint64_t addresses[UB_WARP_LANES];
            struct ub_traffic one = {0};
            for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++) {
                const uint32_t thread = warp * UB_WARP_LANES + lane;
                const uint32_t row = stored ? fusion_own_row(thread) + k : fusion_tile_row(thread, k);
                const uint32_t group = stored ? fusion_own_column(thread) : fusion_tile_column(thread);
                addresses[lane] = (fusion_matrix_row(row, width) + group) * FUSION_GROUP_BYTES;
            }
            ub_coalesce_warp(addresses, UINT32_MAX, FUSION_GROUP_BYTES, &one);
            ub_traffic_add(traffic, &one, tiles);
        }
}

static void count_elementwise(const struct fusion_geometry *g, struct fusion_traffic *out)
{
    add_groups(&out->loads, fusion_group(0, 0), g->elements / FUSION_GROUP, g->kernels);
    out->stores = out->loads;
}

static void count_softmax(const struct fusion_geometry *g, struct fusion_traffic *out)
{
    static const int passes[FUSION_VARIANTS] = {3, 3, 2, 1};
    for (int pass = 0; pass < passes[g->variant]; pass++)
        add_pass(g, &out->loads);
    add_pass(g, &out->stores);
    if (g->variant != FUSION_SPLIT)
        return;
    const uint64_t row_warps = (g->length / FUSION_GROUP + UB_WARP_LANES - 1) / UB_WARP_LANES;
    const uint64_t warps = row_warps < WARPS ? row_warps : WARPS; /* that have a part of the row */
    add_single(&out->loads, 3 * warps * g->rows);                 /* the maximum twice, the sum once */
    add_single(&out->stores, UINT64_C(2) * g->rows);
}

static void count_attention(const struct fusion_geometry *g, struct fusion_traffic *out)
{
    const uint64_t blocks = (uint64_t)g->tiles * g->heads, tiles = blocks * g->tiles;
    add_tiles(&out->loads, FUSION_DIM, false, 2 * tiles + (g->variant == FUSION_FUSED ? blocks : 0));
    add_tiles(&out->stores, FUSION_DIM, true, blocks);
    if (g->variant != FUSION_SPLIT)
        return;
    add_tiles(&out->loads, FUSION_DIM, false, tiles); /* queries and keys once, values once: three */
    add_tiles(&out->stores, g->seq, true, tiles);     /* scores */
    add_pass(g, &out->loads);
    add_pass(g, &out->stores);
    add_tiles(&out->loads, g->seq, false, tiles); /* weights */
}

void fusion_count(const struct fusion_geometry *geometry, struct fusion_traffic *out)
{
    static void (*const count[FUSION_WORKS])(const struct fusion_geometry *, struct fusion_traffic *) = {
        count_elementwise, count_softmax, count_attention};
    *out = (struct fusion_traffic){{0}, {0}};
    count[geometry->work](geometry, out);
}

/* ---- where it is ------------------------------------------------------------------------ */

/* What is touched between a byte and the same byte again is more than L2 keeps. */
static bool beyond_l2(const struct ub_gpu *gpu, uint64_t between_bytes)
{
    return between_bytes >= 2 * gpu->l2_bytes;
}

/* Everything stays in L2, from one launch to the next too. Where kernels hand on what they
 * write, only as long as all blocks run at once: then a block is on the same SM each time, and
 * an H200 finds what it wrote in the half of L2 beside it: all of 8 MiB that a kernel loads and
 * stores (1024 blocks), but seven eighths of 10 MiB (1280), and it takes 20 % longer by the
 * kernel; nothing of it comes from DRAM. */
static bool within_l2(const struct ub_gpu *gpu, const struct fusion_geometry *g)
{
    const uint64_t all_bytes = fusion_source_bytes(g) + fusion_target_bytes(g) + fusion_scratch_bytes(g);
    const uint64_t at_once = (uint64_t)gpu->sms * (uint64_t)gpu->warps_per_sm * UB_WARP_LANES * FUSION_GROUP;
    return all_bytes <= gpu->l2_bytes * 5 / 8 && (fusion_scratch_bytes(g) == 0 || g->elements <= at_once);
}

enum level { NOT_KNOWN, IN_L2, IN_DRAM };

static enum level level_of(const struct ub_gpu *gpu, const struct fusion_geometry *g)
{
    const bool scores = g->work == FUSION_ATTENTION && g->variant == FUSION_SPLIT;
    if (beyond_l2(gpu, scores ? fusion_scratch_bytes(g) : fusion_source_bytes(g) + fusion_target_bytes(g)))
        return IN_DRAM;
    return within_l2(gpu, g) ? IN_L2 : NOT_KNOWN;
}

/* How often the rows come from DRAM: the rows that are worked on at the same time are read
 * again where caches keep them all, and are not where they pass L2 by half. Between both it is
 * neither (H200, three passes of 8192 and 16384 floats, 0.55 and 1.1 of L2: 1.8 and 2.9
 * times): NaN. */
static double row_reads(const struct ub_gpu *gpu, const struct fusion_geometry *g)
{
    const uint64_t resident = (uint64_t)gpu->sms * (uint64_t)(gpu->warps_per_sm / WARPS);
    const uint64_t bytes = (g->rows < resident ? g->rows : resident) * g->length * FLOAT_BYTES;
    if (g->variant == FUSION_SPLIT)
        return 3;
    if (g->variant == FUSION_FUSED || bytes <= gpu->l2_bytes / 4)
        return 1;
    if (bytes < gpu->l2_bytes * 3 / 2)
        return NAN;
    return g->variant == FUSION_ONLINE ? 2 : 3;
}

/* Bytes that DRAM reads and writes; NaN: not known. */
struct dram {
    double read, write;
};

static struct dram dram_of(const struct ub_gpu *gpu, const struct fusion_geometry *g)
{
    const double row_bytes = (double)g->elements * FLOAT_BYTES;
    if (level_of(gpu, g) != IN_DRAM)
        return (struct dram){NAN, NAN};
    if (g->work == FUSION_ATTENTION) {
        const double scores = g->variant == FUSION_SPLIT ? 2 * row_bytes : 0;
        return (struct dram){scores + (double)fusion_source_bytes(g), scores + (double)fusion_target_bytes(g)};
    }
    if (g->work == FUSION_SOFTMAX)
        return (struct dram){row_reads(gpu, g) * row_bytes, row_bytes};
    return (struct dram){g->kernels * row_bytes, g->kernels * row_bytes};
}

/* ---- counters ----------------------------------------------------------------------------- */

static uint64_t blocks_of(const struct fusion_geometry *g)
{
    const uint64_t groups = g->elements / FUSION_GROUP, tiles = (uint64_t)g->tiles * g->heads;
    if (g->work == FUSION_ELEMENTWISE)
        return g->kernels * ((groups + FUSION_BLOCK - 1) / FUSION_BLOCK);
    if (g->work == FUSION_SOFTMAX)
        return (uint64_t)g->kernels * g->rows;
    return g->variant == FUSION_SPLIT ? tiles * g->tiles + g->rows + tiles : tiles;
}

static void add_exact(const struct fusion_geometry *g, struct ub_law *law)
{
    struct fusion_traffic traffic;
    fusion_count(g, &traffic);
    ub_law_exact(law, "global_load_requests", UB_STRUCTURAL, traffic.loads.requests);
    ub_law_exact(law, "global_load_sectors", UB_STRUCTURAL, traffic.loads.sectors);
    ub_law_exact(law, "global_load_bytes", UB_STRUCTURAL, traffic.loads.bytes);
    ub_law_exact(law, "global_store_requests", UB_STRUCTURAL, traffic.stores.requests);
    ub_law_exact(law, "global_store_sectors", UB_STRUCTURAL, traffic.stores.sectors);
    ub_law_exact(law, "global_store_bytes", UB_STRUCTURAL, traffic.stores.bytes);
    ub_law_exact(law, "blocks_launched", UB_STRUCTURAL, blocks_of(g));
    ub_law_exact(law, "local_loads", UB_SASS, 0); /* nothing is spilled */
    ub_law_exact(law, "local_stores", UB_SASS, 0);
    if (g->work == FUSION_ELEMENTWISE)
        ub_law_exact(law, "ffma", UB_STRUCTURAL, g->op == FUSION_FMA ? g->elements * g->steps : 0);
    else
        ub_law_unknown(law, "ffma", UB_SASS, "which products and sums become one instruction, the compiler decides");
    ub_law_unknown(law, "warp_instructions", UB_SASS, "follows from the machine code");
}

static void add_estimates(const struct ub_gpu *gpu, const struct fusion_geometry *g, struct ub_law *law)
{
    static const char partly[] = "what caches keep of arrays of this size from one pass, kernel or launch to the next "
                                 "is not modelled";
    const struct dram dram = dram_of(gpu, g);
    /* up to half of L2 is still to be written when the launch ends, and as much is from before it */
    const double dirty = 0.5 * (double)gpu->l2_bytes / dram.write;
    ub_law_estimate(law, "dram_read_bytes", dram.read, dram_tolerance,
                    "what L2 keeps from launch to launch, and other traffic of the card, are not in it", partly);
    ub_law_estimate(law, "dram_write_bytes", dram.write, dram_tolerance + dirty,
                    "what L2 has not written back when the launch ends is not counted", partly);
}

static void add_l2(const struct fusion_geometry *g, struct ub_law *law)
{
    struct fusion_traffic traffic;
    fusion_count(g, &traffic);
    const bool once = g->work == FUSION_ELEMENTWISE || (g->work == FUSION_SOFTMAX && g->variant == FUSION_FUSED);
    const bool shared = g->work == FUSION_SOFTMAX && g->length * FLOAT_BYTES % UB_SECTOR_BYTES != 0;
    static const char rows[] = "neighbouring rows share sectors, some of which meet on their way";
    ub_law_estimate(law, "l2_read_sectors", once && !shared ? (double)traffic.loads.sectors : NAN, l2_tolerance,
                    "no kernel loads a sector twice: L1 has none",
                    once ? rows : "what L1 has of what is loaded again is not modelled");
    ub_law_estimate(law, "l2_write_sectors", !shared ? (double)traffic.stores.sectors : NAN, l2_tolerance,
                    "L1 hands on every store", rows);
}

/* ---- time ------------------------------------------------------------------------------------ */

static double rate(const struct ub_constants *constants, const char *ceiling)
{
    return ub_constant_value(constants, ceiling) * 1e-9; /* B/ns */
}

/* What the schedulers take for `warps` warps with so many cycles each. */
static double issue_ns(const struct ub_gpu *gpu, const struct ub_constants *constants, double warps, double cycles)
{
    const double cycles_per_ns = ub_constant_value(constants, "clock_mhz") * 1e-3;
    return warps * cycles / gpu->schedulers_per_sm / gpu->sms / cycles_per_ns;
}

/* A scheduler's cycles for a step of a warp: multiply-adds at the rate of its lanes but not
 * faster than all instructions are issued; exponentials at four lanes. */
static double step_cycles(const struct ub_gpu *gpu, uint32_t op)
{
    const double lanes = (op == FUSION_EXP ? MUFU_LANES : gpu->fp32_lanes_per_sm) / (double)gpu->schedulers_per_sm;
    return fmax(step_instructions, FUSION_GROUP * UB_WARP_LANES / lanes);
}

/* Exponentials leave the other instructions room to be issued between them. */
static double warp_cycles(const struct ub_gpu *gpu, const struct fusion_geometry *g)
{
    const double steps = (double)g->steps / g->kernels;
    return steps * step_cycles(gpu, g->op) + (g->op == FUSION_FMA ? other_instructions : 0);
}

static double start_ns(const struct ub_constants *constants)
{
    return ub_constant_value(constants, "launch_floor_ns") + kernel_ns;
}

static void time_elementwise_in_dram(const struct ub_gpu *gpu, const struct ub_constants *constants,
                                     const struct fusion_geometry *g, struct ub_law *law)
{
    const double warps = (double)g->elements / FUSION_GROUP / UB_WARP_LANES, kernels = g->kernels;
    const double dram_ns =
        (double)(fusion_source_bytes(g) + fusion_target_bytes(g)) / rate(constants, "dram_copy_ceiling");
    const double arithmetic_ns = issue_ns(gpu, constants, warps, warp_cycles(gpu, g));
    const double beyond_ns = arithmetic_ns + exposed_share[g->op] * dram_ns;
    ub_time_term(law, "dram", kernels * dram_ns);
    ub_time_term(law, "arithmetic", kernels * arithmetic_ns);
    ub_time_term(law, "kernels", kernels * start_ns(constants));
    law->time_ns = kernels * (fmax(dram_ns, beyond_ns) + start_ns(constants));
    law->bottleneck = dram_ns >= beyond_ns ? "dram" : "arithmetic";
    law->tolerance = beyond_ns < 0.85 * dram_ns ? time_tolerance : time_tolerance_arithmetic;
}

/* The last warps of so short a launch have no others to hide behind: their steps come on top. */
static void time_elementwise_in_l2(const struct ub_gpu *gpu, const struct ub_constants *constants,
                                   const struct fusion_geometry *g, struct ub_law *law)
{
    const double warps = (double)g->elements / FUSION_GROUP / UB_WARP_LANES, kernels = g->kernels;
    const double at_once = fmin(warps, (double)gpu->sms * gpu->warps_per_sm);
    const double l2_ns = (double)(fusion_source_bytes(g) + fusion_target_bytes(g)) /
                         (l2_copy_share * rate(constants, "l2_load_ceiling"));
    const double steps_ns =
        issue_ns(gpu, constants, at_once, ((double)g->steps / kernels - 1) * step_cycles(gpu, g->op));
    ub_time_term(law, "l2", kernels * l2_ns);
    ub_time_term(law, "kernels", kernels * start_ns(constants));
    ub_time_term(law, "arithmetic", kernels * steps_ns);
    law->time_ns = kernels * (l2_ns + start_ns(constants) + steps_ns);
    law->bottleneck = l2_ns > start_ns(constants) ? "l2" : "kernels";
    law->tolerance = time_tolerance_l2;
}

/* Passes that only read go at the ceiling of loads where they are a kernel of their own; where
 * others write meanwhile, all goes at that of copies. */
static void time_softmax(const struct ub_gpu *gpu, const struct ub_constants *constants,
                         const struct fusion_geometry *g, struct ub_law *law)
{
    const double row_bytes = (double)g->elements * FLOAT_BYTES, reads = row_reads(gpu, g);
    const double copy = rate(constants, "dram_copy_ceiling"), load = rate(constants, "dram_load_ceiling");
    const double ns =
        g->variant == FUSION_SPLIT ? 2 * row_bytes / load + 2 * row_bytes / copy : (reads + 1) * row_bytes / copy;
    const double warps = (double)g->elements / UB_WARP_LANES;
    const double exp_cycles = exponentials[g->variant] * UB_WARP_LANES * gpu->schedulers_per_sm / MUFU_LANES;
    ub_time_term(law, "dram", ns / row_share[g->variant]);
    ub_time_term(law, "arithmetic", issue_ns(gpu, constants, warps, exp_cycles));
    ub_time_term(law, "block_launch", (double)blocks_of(g) * ub_constant_value(constants, "block_launch_ns"));
    ub_time_bottleneck(law, g->kernels * ub_constant_value(constants, "launch_floor_ns"));
    law->tolerance = time_tolerance;
    if (!isfinite(ns)) /* what is left of the terms is no time of a softmax */
        law->time_ns = NAN;
}

/* Groups that a thread has of a row at least: with fewer, barriers and the change of blocks
 * take longer than the bytes (H200, length=1024: three kernels 608 us, three passes 310). */
static const uint32_t long_row_groups[FUSION_VARIANTS] = {3, 3, 2, 1};

static const char *untimed_in_l2(const struct fusion_geometry *g)
{
    if (g->elements < FUSION_BLOCK * FUSION_GROUP)
        return "not tested: less than a block: where so few warps run, loads and stores take less long";
    if (g->op == FUSION_EXP && g->steps > g->kernels)
        return "not tested: how a chain of exponentials overlaps with the loads of so few warps is not modelled";
    return NULL;
}

static const char *untimed(const struct ub_gpu *gpu, const struct fusion_geometry *g)
{
    const enum level level = level_of(gpu, g);
    if (g->work == FUSION_ATTENTION)
        return "not tested: arithmetic and shared memory decide, not DRAM: of the law only the bytes hold";
    if (level == NOT_KNOWN)
        return "not tested: caches hold a part of the arrays from one kernel or launch to the next";
    if (g->work == FUSION_ELEMENTWISE)
        return level == IN_L2 ? untimed_in_l2(g) : NULL;
    if (level == IN_L2)
        return "not tested: source and result stay in L2 from launch to launch";
    if (g->length < long_row_groups[g->variant] * FUSION_BLOCK * FUSION_GROUP)
        return "not tested: in short rows (split and passes below 3072 floats, online 2048, fused 1024) barriers "
               "decide";
    if (!isfinite(row_reads(gpu, g)))
        return "not tested: caches hold a part of the rows until they are read again";
    return NULL;
}

static void add_time(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct fusion_geometry *g,
                     struct ub_law *law)
{
    law->note = untimed(gpu, g);
    if (law->note != NULL)
        return;
    if (g->work == FUSION_SOFTMAX)
        time_softmax(gpu, constants, g, law);
    else if (level_of(gpu, g) == IN_DRAM)
        time_elementwise_in_dram(gpu, constants, g, law);
    else
        time_elementwise_in_l2(gpu, constants, g, law);
    if (!isfinite(law->time_ns)) {
        law->tolerance = 0;
        ub_time_unknown(law, "no time: the bandwidth of this card's L2 or memory is not known");
    } else if (!gpu->verified) {
        law->tolerance = time_tolerance_assumed;
        law->note = "assumed: what a kernel reaches of the ceilings, and what of DRAM shows beside arithmetic, are an "
                    "H200's";
    }
}

void fusion_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                struct ub_law *out)
{
    static const char *const levels[] = {[NOT_KNOWN] = "l2", [IN_L2] = "l2", [IN_DRAM] = "dram"};
    struct fusion_geometry g;
    *out = (struct ub_law){.time_ns = NAN, .level = "none"};
    const char *unsupported = fusion_resolve(gpu, point, &g);
    if (unsupported != NULL) {
        out->note = unsupported;
        return;
    }
    out->level = levels[level_of(gpu, &g)];
    add_exact(&g, out);
    add_estimates(gpu, &g, out);
    add_l2(&g, out);
    add_time(gpu, constants, &g, out);
}
