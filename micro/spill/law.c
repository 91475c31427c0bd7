/* SPDX-License-Identifier: MIT
 *
 * What `spill` predicts.
 *
 * How many loads and stores there are is the compiler's decision; the law has them from
 * the machine code that was shipped (table below, kept by tests/sass/spill_test.sh): 0
 * with registers enough; below that, for use=changed, each register that is taken away
 * makes one more value that is loaded and stored in each trip, and up to 13 more, because
 * what is loaded ahead of its use needs registers as well.
 *
 * Where they end up (rules.md section 9; CUDA C++ Programming Guide, "Local memory"): a
 * local load or store of a warp is one line of 128 bytes, four sectors. L1 keeps the line
 * for the load, but it writes every store through to L2: what an H200 counted as sectors
 * written to L2 is what was stored, whatever fits into L1.
 *
 * Time. Of each trip of an SM the slowest of
 *   issue       all instructions, one a cycle and scheduler, or its multiply-adds in its lanes
 *   l1          wavefronts of L1: one a load, two a store
 *   store_port  the SM's way to L2, 32 bytes a cycle: 4 cycles a store
 *   l2_stores   all stores of all SMs, at the rate at which L2 takes them
 *   l2_loads    reloads that L1 did not have, at the rate at which L2 gives
 *   dram        what L2 does not hold either
 *   latency     a warp that waits for its own reloads
 * decides, and close to each other they add: the 4-norm of them. The constants below, 14 of
 * the time and 4 of the hits in L1, were fitted to 140 times of an H200, of two runs of the
 * same points that are in no record. */
#include <math.h>
#include <stddef.h>

#include "harness/contract/record.h"
#include "harness/model/coalesce.h"
#include "harness/model/time.h"
#include "micro/spill/rule.h"

enum { LINE_BYTES = 128, LINE_SECTORS = 4, OUT_SECTORS = 4, LOOP_INSTRUCTIONS = 4 };

/* sm_90 and sm_90a, nvcc 13.0: loads and stores of a trip; before and after all trips;
 * how many of the latter move 8 bytes; bytes of the frame. In the order of the axis cap. */
static const struct spill_code codes_of_sm_90[SPILL_USES][SPILL_CAPS] =
    {
        [SPILL_CHANGED] =
            {
                {85, 85, 106, 106, 4, 4, 424}, /* 32 */
                {77, 77, 97, 97, 6, 6, 400},   /* 40 */
                {69, 69, 87, 87, 4, 4, 352},   /* 48 */
                {61, 61, 79, 79, 4, 4, 320},   /* 56 */
                {53, 53, 71, 71, 4, 4, 288},   /* 64 */
                {45, 45, 62, 62, 7, 7, 264},   /* 72 */
                {37, 37, 46, 46, 7, 7, 200},   /* 80 */
                {24, 24, 30, 30, 7, 7, 136},   /* 88 */
                {8, 8, 14, 14, 7, 7, 72},      /* 96 */
                {0, 0, 7, 7, 7, 7, 40},        /* 100 */
            },
        [SPILL_READ] =
            {
                {92, 17, 90, 165, 2, 2, 576}, /* 32 */
                {84, 17, 68, 135, 1, 1, 536}, /* 40 */
                {76, 17, 60, 119, 1, 1, 504}, /* 48 */
                {68, 17, 52, 103, 1, 1, 472}, /* 56 */
                {60, 17, 44, 87, 1, 1, 424},  /* 64 */
                {52, 17, 39, 74, 1, 1, 376},  /* 72 */
                {44, 17, 31, 58, 1, 1, 312},  /* 80 */
                {36, 17, 23, 42, 1, 1, 248},  /* 88 */
                {22, 11, 14, 25, 1, 1, 152},  /* 96 */
                {14, 7, 7, 14, 0, 0, 88},     /* 100 */
                {8, 4, 5, 9, 0, 0, 56},       /* 103 */
                {6, 3, 4, 7, 0, 0, 40},       /* 104 */
            },
};
/* What both kernels take where they may. */
static const uint32_t registers_of_sm_90[SPILL_USES] = {[SPILL_CHANGED] = 104, [SPILL_READ] = 122};

/* Cycles of an SM. With one SM alone a store takes its four cycles, on the way to L2; L1
 * takes 1.09 for each wavefront. */
static const double cycles_of_wavefront = 1.09, store_wavefronts = 2, cycles_of_store_port = 4;
/* One warp alone: its multiply-adds, and what a value that is stored, or only loaded, adds. */
static const double alone_cycles = 131, stored_value_cycles = 11.6, loaded_value_cycles = 4.2;
/* L2 takes stores at this share of the rate at which it gives, 4.2 of 9.8 TB/s; and a value
 * that is reloaded soon after it was stored waits, up to so many cycles a trip. */
static const double l2_store_share = 0.427, reload_cycles = 45;
static const double reloads_cycles_most[SPILL_USES] = {[SPILL_CHANGED] = 200, [SPILL_READ] = 500};

/* What is found in a cache is min(1, capacity / bytes), rounded where both are near. Of L1
 * without shared memory 208 of 256 KiB count: a fit (Chips and Cheese found as much; the
 * rule carveout measures 217 and more). Of L2 less than half counts for what is written,
 * because the other partition keeps a copy. Values that are only read are gone round in a
 * ring: where it is twice as long as L1, little is left of one trip in the next. */
static const double l1_share = 208.0 / 256, l1_soft = 4, l2_soft = 5, ring_of_l1 = 2, left_of_ring = 0.35;
static const double l2_share[SPILL_USES] = {[SPILL_CHANGED] = 0.38, [SPILL_READ] = 0.8};

static const double norm = 4;
static const double time_tolerance = 0.25;
static const double time_tolerance_assumed = 0.50;
static const double hits_tolerance = 0.35;
/* With fewer warps all SMs write to the same parts of L2 at the same time, as chance has it. */
enum { FEW_WARPS = 8 };

const struct spill_code *spill_code(const struct ub_gpu *gpu, const struct spill_geometry *g)
{
    static const struct spill_code nothing = {0};
    if (g->cap >= SPILL_ENOUGH)
        return &nothing;
    return gpu->cc_major == 9 && gpu->cc_minor == 0 ? &codes_of_sm_90[g->use][g->variant] : NULL;
}

double spill_bytes_of_warp(const struct spill_code *code)
{
    return (double)code->loads * LINE_BYTES;
}

static double share_found(double capacity, double bytes, double soft)
{
    return pow(1 + pow(bytes / capacity, soft), -1 / soft);
}

double spill_l1_hits(const struct ub_gpu *gpu, const struct spill_geometry *g, const struct spill_code *code)
{
    const double capacity = (double)gpu->l1_bytes * l1_share, bytes = spill_bytes_of_warp(code) * g->warps;
    const bool is_ring = g->use == SPILL_READ && bytes > ring_of_l1 * capacity;
    return share_found(capacity, bytes, l1_soft) * (is_ring ? left_of_ring : 1);
}

/* ---- counters ---------------------------------------------------------------- */

static void add_exact(struct ub_law *law, const char *key, enum ub_counter_class class_, uint64_t predicted)
{
    law->counters[law->counter_count++] =
        (struct ub_law_counter){.key = key, .class_ = class_, .known = true, .predicted = predicted};
}

static void add_unknown(struct ub_law *law)
{
    static const char *const sass[] = {"local_loads", "local_stores", "local_load_sectors", "local_store_sectors"};
    static const char *const estimates[] = {"l1_local_load_hits", "l2_write_sectors"};
    static const char reason[] = "follows from the machine code, which the law knows of CC 9.0 only";
    for (size_t i = 0; i < sizeof sass / sizeof sass[0]; i++)
        law->counters[law->counter_count++] =
            (struct ub_law_counter){.key = sass[i], .class_ = UB_SASS, .reason = reason};
    for (size_t i = 0; i < sizeof estimates / sizeof estimates[0]; i++)
        law->counters[law->counter_count++] =
            (struct ub_law_counter){.key = estimates[i], .class_ = UB_ESTIMATE, .reason = reason};
}

static void add_local(struct ub_law *law, const struct ub_gpu *gpu, const struct spill_geometry *g,
                      const struct spill_code *code)
{
    const enum ub_counter_class class_ = g->cap >= SPILL_ENOUGH ? UB_STRUCTURAL : UB_SASS;
    const uint64_t warps = g->warps_of_grid;
    const uint64_t loads = warps * (code->once_loads + (uint64_t)g->trips * code->loads);
    const uint64_t stores = warps * (code->once_stores + (uint64_t)g->trips * code->stores);
    const uint64_t load_sectors = LINE_SECTORS * (loads + warps * code->wide_loads);
    const uint64_t store_sectors = LINE_SECTORS * (stores + warps * code->wide_stores);
    add_exact(law, "local_loads", class_, loads);
    add_exact(law, "local_stores", class_, stores);
    add_exact(law, "local_load_sectors", class_, load_sectors);
    add_exact(law, "local_store_sectors", class_, store_sectors);
    ub_law_estimate(law, "l1_local_load_hits", (double)load_sectors * spill_l1_hits(gpu, g, code), hits_tolerance,
                    "which lines L1 keeps is its own decision", NULL);
    ub_law_estimate(law, "l2_write_sectors", (double)(store_sectors + OUT_SECTORS * warps), 0.02,
                    "L1 writes through: all that is stored goes to L2", NULL);
}

/* ---- time -------------------------------------------------------------------- */

/* Cycles that an SM takes to move `lines` a trip at a rate of all SMs, bytes a second. */
static double cycles_at(const struct ub_gpu *gpu, double lines, double bytes_per_second, double cycles_per_ns)
{
    return lines > 0 ? lines * LINE_BYTES * gpu->sms / bytes_per_second * 1e9 * cycles_per_ns : 0;
}

/* For which a multiply-add keeps the lanes of its scheduler: two where an SM has 64. */
static double fma_cycles(const struct ub_gpu *gpu)
{
    return (double)UB_WARP_LANES * gpu->schedulers_per_sm / gpu->fp32_lanes_per_sm;
}

static void add_time(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct spill_geometry *g,
                     const struct spill_code *code, struct ub_law *law)
{
    const double cycles_per_ns = ub_constant_value(constants, "clock_mhz") * 1e-3;
    const double l2_bps = ub_constant_value(constants, "l2_load_ceiling");
    const double loads = (double)code->loads * g->warps, stores = (double)code->stores * g->warps;
    const double missed = loads * (1 - spill_l1_hits(gpu, g, code));
    /* use=read: what is stored is stored again before it would leave L2 */
    const double written = g->use == SPILL_CHANGED ? stores : 0;
    const double all_bytes = spill_bytes_of_warp(code) * g->warps * gpu->sms;
    const double beyond_l2 = 1 - share_found((double)gpu->l2_bytes * l2_share[g->use], all_bytes, l2_soft);
    const struct {
        const char *name;
        double cycles;
    } terms[] = {
        {"issue", fmax((SPILL_VALUES + LOOP_INSTRUCTIONS) * (double)g->warps + loads + stores,
                       SPILL_VALUES * g->warps * fma_cycles(gpu)) /
                      gpu->schedulers_per_sm},
        {"l1", cycles_of_wavefront * (loads + store_wavefronts * stores)},
        {"store_port", cycles_of_store_port * stores},
        {"l2_stores", cycles_at(gpu, stores, l2_bps * l2_store_share, cycles_per_ns) +
                          fmin(reload_cycles * code->stores, reloads_cycles_most[g->use])},
        {"l2_loads", cycles_at(gpu, missed, l2_bps, cycles_per_ns)},
        {"dram", cycles_at(gpu, (written + missed) * beyond_l2, ub_constant_value(constants, "dram_copy_ceiling"),
                           cycles_per_ns)},
        {"latency",
         alone_cycles + stored_value_cycles * code->stores + loaded_value_cycles * (code->loads - code->stores)},
    };
    double sum = 0;
    for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++) {
        const double time_ns = terms[i].cycles / cycles_per_ns;
        ub_time_term(law, terms[i].name, time_ns);
        sum += pow(time_ns, norm);
    }
    ub_time_bottleneck(law, 0);
    law->time_ns = pow(sum, 1 / norm);
}

static void set_tolerance(const struct ub_gpu *gpu, const struct spill_geometry *g, const struct spill_code *code,
                          struct ub_law *law)
{
    if (!isfinite(law->time_ns)) {
        law->note = "no time: how fast this GPU's L2 is, is not known";
        law->bottleneck = NULL;
    } else if (code->stores > 0 && g->warps < FEW_WARPS) {
        law->note = "not tested: with few warps the SMs meet in the same parts of L2 as chance has it";
    } else {
        law->tolerance = gpu->verified ? time_tolerance : time_tolerance_assumed;
        law->note = gpu->verified ? NULL : "assumed: the rates of L1 and of the SM's way to L2 are an H200's";
    }
}

void spill_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
               struct ub_law *out)
{
    struct spill_geometry g;
    *out = (struct ub_law){.time_ns = NAN, .level = "none"};
    const char *unsupported = spill_resolve(gpu, point, &g);
    if (unsupported != NULL) {
        out->note = unsupported;
        return;
    }
    const struct spill_code *code = spill_code(gpu, &g);
    add_exact(out, "ffma", UB_STRUCTURAL, (uint64_t)g.threads * g.trips * SPILL_VALUES);
    add_exact(out, "warps_launched", UB_STRUCTURAL, g.warps_of_grid);
    if (code == NULL) {
        add_unknown(out);
        out->note = "no time: what this generation's compiler spills is not known";
        return;
    }
    add_local(out, gpu, &g, code);
    add_time(gpu, constants, &g, code, out);
    set_tolerance(gpu, &g, code, out);
    if (code->loads > 0)
        out->level = spill_bytes_of_warp(code) * g.warps < (double)gpu->l1_bytes * l1_share ? "l1" : "l2";
    if (g.cap < SPILL_ENOUGH) {
        out->has_code = true;
        out->code_registers = (int)(g.cap < registers_of_sm_90[g.use] ? g.cap : registers_of_sm_90[g.use]);
        out->code_local_bytes = (int)code->local_bytes;
    }
}
