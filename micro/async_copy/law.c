/* SPDX-License-Identifier: MIT
 *
 * What `async_copy` predicts.
 *
 * A tile takes `load` from the request until the slowest of its lines is there, and then
 * `work`: its multiply-adds at the rate of the lanes, and what stands beside them (barriers,
 * reads of shared memory, the request for another tile). Where the block does one after the
 * other, a tile takes
 *     load + work.
 * Else, as soon as the block is through with a tile, its place is asked for the one that
 * belongs there next. A place is taken for load + work; of s of them, by Little's law
 * (rules.md section 5), one is ready every (load + work) / s. The threads need `work` for each
 * tile, DRAM its bytes / bandwidth. So a tile takes
 *     max((load + work) / s, work, dram),
 * and all of the load is hidden from s = 1 + load / work on. (With one barrier a tile, not
 * two, a request can only go out once the next tile has come, and the first term is
 * (load + beside) / (s - 1): a prototype took 508, 283 and 206 ns on an H200 with 2, 3 and 4
 * stages and no multiply-adds, where two barriers take 289, 210 and 176; where the work
 * decides one barrier saves 10 ns a tile.) `registers` has its second tile in registers
 * and asks for it at the beginning of the work: max(load + beside, work, dram).
 *
 * r blocks of an SM run in step: they wait together, their multiply-adds share the lanes, and
 * what stands beside these overlaps, as far as the schedulers have room for its instructions.
 * A round, in which each block has a tile, has r times the multiply-adds, and the rest once:
 *     max(((load + beside) / r + multiply-adds) / s, multiply-adds + max(beside / r, issue), dram).
 * Where the load decides, blocks and stages are alike: r s tiles are on their way. Only with
 * cp.async and one stage did blocks of an H200 fall out of step, so that one works while the
 * other waits: max((load + work) / r, ...). Why these and no others was not found out.
 *
 * Both constants of a way, load + beside and beside, are measured in the run for tiles of
 * 4 KiB: with one stage, and with four, at 256 multiply-adds, where little is asked of DRAM.
 * What larger tiles take more is an H200's (below).
 *
 * Four numbers are fitted, to 986 points of one run of a prototype with these kernels on an
 * H200 (all ways, 1 to 4 stages, 0 to 512 multiply-adds, all tiles, 1 to 8 blocks): the two
 * exponents, `late`, `issue`. There the error is 2.1 % (root mean square), at worst 11.2 % (bulk
 * copies, one stage, four blocks, 32 multiply-adds), and within 10 % at all others but one. */
#include <math.h>
#include <stddef.h>

#include "harness/contract/record.h"
#include "harness/model/bank.h"
#include "harness/model/time.h"
#include "micro/async_copy/access.h"
#include "micro/async_copy/rule.h"

enum {
    WARPS = COPY_BLOCK / UB_WARP_LANES,
    IN_DRAM_L2_CACHES = 4,
    WIDTHS = 3,
    SEEN_REQUESTS = 200, /* of a warp: so many that what a counter adds or omits is little */
    FMAS_PROLOGUE = 2    /* instructions before the loop of multiply-adds, if there are any */
};

/* Loads queue before DRAM is full: a soft minimum with the exponent that rules.md has for all
 * cards. Not all loads take the same time: where load and work are nearly equal a few are late
 * although most are early; and with several on their way they come late by turns. */
static const double soft_dram = 3;
static const double soft_corner = 14;
static const double late_ns = 25;

/* Of a scheduler, for each warp and tile: what the other instructions take (39 to 60 in the
 * machine code of sm_90) at the least, and more of it for each further chunk. */
static const double issue_cycles = 60, issue_per_chunk = 0.3;

/* Instructions of a warp between two branches of its multiply-adds, beside these: count,
 * compare, branch. */
enum { BRANCH_INSTRUCTIONS = 3 };

static const double time_tolerance = 0.12;
static const double time_tolerance_assumed = 0.35;
static const double bytes_tolerance = 0.05;
static const double cycles_tolerance = 0.20; /* another clock changes the cycles that DRAM takes */
static const double wait_tolerance = 0.25;
static const double copies_tolerance = 0.05;
static const double bulk_bytes_tolerance = 0.001;

const char *const copy_wait_names[COPY_WAYS] = {
    "tile_wait_synchronous_ns", "tile_wait_registers_ns", "tile_wait_cp_async_ns",
    "tile_wait_bulk_ns",        "tile_wait_bulk_ns",
};

/* The work of `synchronous` is that of `registers`, and cannot be seen without its loads. Both
 * bulk copies are alike, within 2 % on an H200. */
const char *const copy_beside_names[COPY_WAYS] = {
    "tile_beside_registers_ns", "tile_beside_registers_ns", "tile_beside_cp_async_ns",
    "tile_beside_bulk_ns",      "tile_beside_bulk_ns",
};

/* Load + beside, and beside, of tiles of 4, 8 and 16 KiB. Of an H200. */
static const struct {
    double wait_ns[WIDTHS], beside_ns[WIDTHS];
} h200[COPY_WAYS] = {
    [COPY_SYNCHRONOUS] = {{536, 632, 752}, {121, 142, 218}}, [COPY_REGISTERS] = {{486, 592, 715}, {121, 142, 218}},
    [COPY_CP_ASYNC] = {{535, 626, 716}, {112, 155, 203}},    [COPY_BULK] = {{547, 637, 703}, {166, 187, 195}},
    [COPY_BULK_1D] = {{547, 637, 703}, {166, 187, 195}},
};

/* With what other cards have of these, an H200's times are scaled. */
static const double h200_load_wait_ns = 399, h200_clock_mhz = 1980;

/* The measured value of a tile of 4 KiB, and what a larger one takes more. */
static double figure_of(const struct ub_constants *constants, const char *name, const double by_tile[WIDTHS],
                        double scale, const struct copy_geometry *g)
{
    const double measured = ub_constant_value(constants, name);
    const double of_unit = isfinite(measured) ? measured : scale * by_tile[0];
    return of_unit + scale * (by_tile[copy_width(g)] - by_tile[0]);
}

double copy_beside_ns(const struct ub_constants *constants, const struct copy_geometry *g)
{
    const double scale = h200_clock_mhz / ub_constant_value(constants, "clock_mhz");
    return figure_of(constants, copy_beside_names[g->way], h200[g->way].beside_ns, scale, g);
}

double copy_load_ns(const struct ub_constants *constants, const struct copy_geometry *g)
{
    const double scale = ub_constant_value(constants, "load_wait_ns") / h200_load_wait_ns;
    const double load_ns =
        figure_of(constants, copy_wait_names[g->way], h200[g->way].wait_ns, scale, g) - copy_beside_ns(constants, g);
    return load_ns < 0 ? 0 : load_ns; /* of a card with a slow clock, as far as these two are known of it */
}

/* Each warp has its share of the elements; a scheduler issues one instruction a cycle. */
double copy_fmas_ns(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct copy_geometry *g)
{
    const double elements = (double)g->tile_bytes / COPY_ELEMENT_BYTES / UB_WARP_LANES / gpu->schedulers_per_sm;
    const double fma_cycles = (double)UB_WARP_LANES * gpu->schedulers_per_sm / gpu->fp32_lanes_per_sm;
    const double branch_cycles = BRANCH_INSTRUCTIONS / (COPY_FMAS_STEP * 4.0 * g->chunks);
    return elements * g->fmas * (fma_cycles + branch_cycles) / ub_constant_value(constants, "clock_mhz") * 1e3;
}

/* ---- time -------------------------------------------------------------------- */

struct tile_times {
    double load_ns, fmas_ns, beside_ns, issue_ns, dram_ns;
};

static struct tile_times times_of(const struct ub_gpu *gpu, const struct ub_constants *constants,
                                  const struct copy_geometry *g)
{
    const double cycle_ns = 1e3 / ub_constant_value(constants, "clock_mhz");
    const double more = 1 + issue_per_chunk * (g->chunks - 1);
    return (struct tile_times){
        .load_ns = copy_load_ns(constants, g),
        .fmas_ns = copy_fmas_ns(gpu, constants, g),
        .beside_ns = copy_beside_ns(constants, g),
        .issue_ns = issue_cycles * more * WARPS / gpu->schedulers_per_sm * cycle_ns,
        .dram_ns = (double)g->tile_bytes * gpu->sms / ub_constant_value(constants, "dram_load_ceiling") * 1e9,
    };
}

static double soft_maximum(double a, double b, double exponent)
{
    return pow(pow(a, exponent) + pow(b, exponent), 1 / exponent);
}

/* What a tile of the SM takes as far as the threads decide, */
static double work_ns(const struct tile_times *t, const struct copy_geometry *g)
{
    return t->fmas_ns + fmax(t->beside_ns / g->resident, g->resident > 1 ? t->issue_ns : 0);
}

/* and as far as its places do. */
static double place_ns(const struct tile_times *t, const struct copy_geometry *g)
{
    const double once_ns = (t->load_ns + t->beside_ns) / g->resident;
    if (g->way == COPY_REGISTERS)
        return once_ns;
    if (copy_overlaps(g))
        return (once_ns + t->fmas_ns) / g->stages + late_ns / g->resident;
    if (g->way == COPY_CP_ASYNC && g->resident > 1)
        return soft_maximum(once_ns + t->fmas_ns / g->resident, work_ns(t, g), soft_corner);
    return once_ns + t->fmas_ns;
}

static double period_ns(const struct tile_times *t, const struct copy_geometry *g)
{
    const double loads_ns = soft_maximum(place_ns(t, g), t->dram_ns, soft_dram);
    return copy_overlaps(g) ? soft_maximum(loads_ns, work_ns(t, g), soft_corner) : loads_ns;
}

double copy_period_ns(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct copy_geometry *g)
{
    const struct tile_times t = times_of(gpu, constants, g);
    return period_ns(&t, g);
}

double copy_sum_ns(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct copy_geometry *g)
{
    const struct tile_times t = times_of(gpu, constants, g);
    return t.load_ns + t.fmas_ns + t.beside_ns;
}

static void add_time(const struct copy_geometry *g, const struct tile_times *t, double floor_ns, struct ub_law *law)
{
    const double tiles = (double)g->tiles * g->resident;
    ub_time_term(law, "places", tiles * place_ns(t, g));
    ub_time_term(law, "work", tiles * work_ns(t, g));
    ub_time_term(law, "dram", tiles * t->dram_ns);
    ub_time_bottleneck(law, 0);
    law->time_ns = tiles * period_ns(t, g) + floor_ns;
    if (isnan(law->time_ns))
        ub_time_unknown(law, isnan(t->dram_ns) ? UB_NOTE_NO_DRAM : "no time: the clock of this card is not known");
}

/* ---- counters ---------------------------------------------------------------- */

/* Every request is like the first: 32 chunks side by side, from a line's start. */
void copy_traffic(const struct copy_geometry *g, struct ub_traffic *out)
{
    uint64_t addresses[UB_WARP_LANES];
    struct ub_traffic one = {0};
    *out = (struct ub_traffic){0};
    if (g->way >= COPY_BULK)
        return;
    for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++)
        addresses[lane] = (uint64_t)copy_written(lane, 0) * COPY_CHUNK_BYTES;
    ub_coalesce_warp(addresses, 0xFFFFFFFFu, COPY_CHUNK_BYTES, &one);
    ub_traffic_add(out, &one, copy_tiles(g) * WARPS * g->chunks);
}

static bool in_dram(const struct ub_gpu *gpu, const struct copy_geometry *g)
{
    return g->size_bytes > IN_DRAM_L2_CACHES * gpu->l2_bytes;
}

/* The instrumented counters of what cp.async touches go wrong where a copy is switched off by a
 * predicate, as at the last tiles of a block: on an H200 by -32 to 48 sectors and -8 to 36
 * turns a warp. (That of requests is right.) */
static void add_instrumented(struct ub_law *law, const char *key, const struct copy_geometry *g, uint64_t predicted)
{
    const bool seen = predicted == 0 || g->tiles * g->chunks >= SEEN_REQUESTS;
    ub_law_estimate(law, key, seen ? (double)predicted : NAN, copies_tolerance,
                    "the counter adds or omits some of a copy that a predicate switches off",
                    "what the counter adds or omits of copies that are switched off is too much of so few tiles");
}

/* A copy has one counter of requests, sectors and turns if it passes registers, another if not. */
static void add_copies(const struct copy_geometry *g, struct ub_law *law)
{
    struct ub_traffic all, none = {0};
    copy_traffic(g, &all);
    const bool asynchronous = g->way == COPY_CP_ASYNC;
    const struct ub_traffic *loads = asynchronous ? &none : &all, *copies = asynchronous ? &all : &none;
    uint32_t written[UB_WARP_LANES];
    for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++)
        written[lane] = copy_written(lane, 0) * COPY_CHUNK_BYTES;
    const unsigned turns = ub_bank_wavefronts_store(written, 0xFFFFFFFFu, COPY_CHUNK_BYTES);
    ub_law_exact(law, "global_load_requests", UB_STRUCTURAL, loads->requests);
    ub_law_exact(law, "global_load_sectors", UB_STRUCTURAL, loads->sectors);
    ub_law_exact(law, "shared_store_requests", UB_STRUCTURAL, loads->requests);
    ub_law_exact(law, "shared_store_wavefronts", UB_STRUCTURAL, loads->requests * turns);
    ub_law_exact(law, "global_async_copies", UB_STRUCTURAL, copies->requests);
    add_instrumented(law, "async_copy_sectors", g, copies->sectors);
    add_instrumented(law, "async_copy_wavefronts", g, copies->requests * turns);
    ub_law_exact(law, "bulk_copies", UB_STRUCTURAL, g->way >= COPY_BULK ? copy_tiles(g) : 0);
    ub_law_estimate(law, "bulk_copy_bytes", g->way >= COPY_BULK ? (double)g->size_bytes : 0, bulk_bytes_tolerance,
                    "a hardware counter; it has been exact", NULL);
}

static void add_work(const struct copy_geometry *g, struct ub_law *law)
{
    uint32_t read[UB_WARP_LANES];
    for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++)
        read[lane] = copy_read(lane, 0, g->chunks) * COPY_CHUNK_BYTES;
    const uint64_t requests = copy_tiles(g) * WARPS * g->chunks;
    const unsigned turns = ub_bank_wavefronts_counted(read, 0xFFFFFFFFu, COPY_CHUNK_BYTES);
    ub_law_exact(law, "ffma", UB_STRUCTURAL, copy_elements(g) * g->fmas);
    ub_law_exact(law, "shared_load_requests", UB_STRUCTURAL, requests);
    ub_law_exact(law, "shared_load_wavefronts", UB_STRUCTURAL, requests * turns);
    ub_law_exact(law, "local_loads", UB_SASS, 0); /* nothing is spilled */
    ub_law_exact(law, "local_stores", UB_SASS, 0);
}

/* Instructions of a warp for each tile beside the loop of multiply-adds, and once, in the machine
 * code of CC 9.0, by tile; registers, by which that code is known. */
struct machine_code {
    uint32_t of_tile, once;
    int registers;
};

static const struct machine_code codes[COPY_WAYS][WIDTHS] = {
    [COPY_SYNCHRONOUS] = {{36, 13, 16}, {46, 13, 25}, {66, 13, 28}},
    [COPY_REGISTERS] = {{27, 20, 20}, {35, 26, 32}, {52, 19, 48}},
    [COPY_BULK] = {{0, 0, 14}, {0, 0, 20}, {0, 0, 31}},
    [COPY_BULK_1D] = {{0, 0, 14}, {0, 0, 20}, {0, 0, 31}},
};

static const struct machine_code codes_of_cp_async[COPY_STAGES_MAX][WIDTHS] = {
    {{29, 35, 16}, {38, 41, 25}, {59, 21, 32}},
    {{37, 42, 22}, {48, 56, 32}, {67, 20, 31}},
    {{36, 58, 22}, {47, 80, 32}, {66, 28, 32}},
    {{36, 65, 32}, {47, 95, 40}, {66, 32, 32}},
};

static void add_instructions(const struct ub_gpu *gpu, const struct copy_geometry *g, struct ub_law *law)
{
    const uint32_t width = copy_width(g);
    const struct machine_code *code =
        g->way == COPY_CP_ASYNC ? &codes_of_cp_async[g->stages - 1][width] : &codes[g->way][width];
    const uint64_t loop = g->fmas / COPY_FMAS_STEP * (COPY_FMAS_STEP * 4 * g->chunks + BRANCH_INSTRUCTIONS);
    const uint64_t of_tile = code->of_tile + loop + (g->fmas > 0 ? FMAS_PROLOGUE : 0);
    law->has_code = gpu->cc_major == 9 && gpu->cc_minor == 0;
    law->code_registers = code->registers;
    if (!law->has_code)
        ub_law_unknown(law, "warp_instructions", UB_SASS, "the machine code is known of CC 9.0 only");
    else if (g->way >= COPY_BULK)
        ub_law_unknown(law, "warp_instructions", UB_SASS, "a warp tries again at the mbarrier, as often as it happens");
    else if (g->tiles < g->stages)
        ub_law_unknown(law, "warp_instructions", UB_SASS, "with fewer tiles than stages some copies are left out");
    else
        ub_law_exact(law, "warp_instructions", UB_SASS,
                     (uint64_t)g->blocks * WARPS * (g->tiles * of_tile + code->once));
}

static void add_states(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct copy_geometry *g,
                       const struct tile_times *t, double busy_ns, struct ub_law *law)
{
    static const char by_time[] = "cycles = predicted time x clock, which the profiler may change";
    static const char lone[] = "one block that waits for each tile: the load less what its warps spend at barriers";
    static const char stall[] = "which stall a warp is counted under is not in the law";
    const double cycles = busy_ns * ub_constant_value(constants, "clock_mhz") * 1e-3 * gpu->sms;
    const bool waits = !copy_overlaps(g) && g->way != COPY_REGISTERS && g->resident == 1;
    ub_law_estimate(law, "dram_read_bytes", in_dram(gpu, g) ? (double)g->size_bytes : NAN, bytes_tolerance,
                    "each byte comes from DRAM once, but for what L2 still has",
                    "the source is not larger than four L2 caches");
    ub_law_estimate(law, "sm_cycles_active", cycles, cycles_tolerance, by_time, by_time);
    ub_law_estimate(law, "warps_active", g->resident == 1 ? cycles * WARPS : NAN, cycles_tolerance, by_time,
                    "of several blocks of an SM some end before others");
    ub_law_estimate(law, "stall_long_scoreboard", waits ? cycles * WARPS * t->load_ns / place_ns(t, g) : NAN,
                    wait_tolerance, lone, stall);
    ub_law_unknown(law, "stall_barrier", UB_ESTIMATE, stall);
}

/* ---- the law ------------------------------------------------------------------ */

static bool is_tested(const struct ub_gpu *gpu, const struct ub_point *point, const struct copy_geometry *g)
{
    return point->values[COPY_TILES] == 0 && in_dram(gpu, g);
}

static const char *note_of(const struct ub_gpu *gpu, const struct ub_point *point, const struct copy_geometry *g)
{
    if (!in_dram(gpu, g))
        return "not tested: L2 holds a part of the source, from which tiles come sooner";
    if (point->values[COPY_TILES] != 0)
        return "not tested: with a chosen number of tiles the first load and the launch may be a large part of the "
               "time";
    if (!gpu->verified)
        return "assumed: what a tile waits for, and what stands beside the work, are an H200's";
    return NULL;
}

void copy_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
              struct ub_law *out)
{
    struct copy_geometry g;
    *out = (struct ub_law){.time_ns = NAN, .level = "none"};
    const char *unsupported = copy_resolve(gpu, point, &g);
    if (unsupported != NULL) {
        out->note = unsupported;
        return;
    }
    const struct tile_times t = times_of(gpu, constants, &g);
    const double floor_ns = ub_constant_value(constants, "launch_floor_ns");
    out->level = in_dram(gpu, &g) ? "dram" : "l2";
    add_time(&g, &t, floor_ns, out);
    ub_law_exact(out, "blocks_launched", UB_STRUCTURAL, g.blocks);
    add_copies(&g, out);
    add_work(&g, out);
    add_instructions(gpu, &g, out);
    add_states(gpu, constants, &g, &t, out->time_ns - floor_ns, out);
    if (out->note == NULL)
        out->note = note_of(gpu, point, &g);
    if (is_tested(gpu, point, &g) && isfinite(out->time_ns))
        out->tolerance = gpu->verified ? time_tolerance : time_tolerance_assumed;
}
