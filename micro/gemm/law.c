/* SPDX-License-Identifier: MIT
 *
 * What `gemm` predicts. Counters: law_count.c. Time: all blocks of an SM one after the other, each of
 * its steps along k as long as the busiest of these takes for it (rules.md section 8),
 *
 *     multiply_add   all multiply-adds, those on zeroes beyond the matrices too / lanes
 *     issue          the instructions of a step, of which a scheduler starts one a cycle
 *     matrix         matrix instructions, for the variants that have them
 *     l1_shared      turns of the one pipe that L1 and shared memory have: 128 bytes a cycle
 *
 * and what a step waits for data and barriers, which the blocks of an SM share; once, filling and
 * emptying the pipeline. The SM that has most blocks decides. What L2 and DRAM take to deliver
 * the panels is less in all of these kernels, and a term of its own. */
#include <math.h>

#include "harness/contract/record.h"
#include "harness/model/time.h"
#include "micro/gemm/rule.h"

/* ---- empirical constants ----------------------------------------------------------
 * From an H200 (driver 580, CUDA 13.0), medians of graph launches of 128 to 4096 elements a side,
 * 52 + 44 points. They are fits; what tests them is a new run. */

/* Of each kernel: instructions of a warp in a step, counted, of sm_90's machine code; cycles that a step
 * waits, were its block alone; cycles of a launch beside all steps. */
struct code {
    double instructions, wait_cycles, start_cycles;
};
static const struct code naive_code = {44.1, 0, 2500};
static const struct code tiled_code[] = {{46.1, 350, 2500}, {63.2, 350, 2500}, {100.5, 350, 2500}}; /* 8, 16, 32 */
/* 4 x 4, 8 x 8; and with single elements, where rows do not begin at 16 bytes */
static const struct code register_code[2][2] = {{{365, 860, 2500}, {631, 560, 2500}},
                                                {{336.4, 600, 2500}, {593.4, 190, 2500}}};
static const struct code async_code[2] = {{2383, 400, 7000}, {2272.6, 0, 7000}};
static const struct code tensor_code[2] = {{709, 4700, 5000}, {150, 0, 5000}};

/* Of its cycles a scheduler starts an instruction in so many where nothing else holds it up: FFMA whose
 * operands lie in one bank of registers are late. register 0.84 to 0.86, async 0.86 to 0.88. */
static const double issue_share = 0.85, issue_share_async = 0.875;

/* Of a pipe's own cycles. naive_col, whose lanes meet in banks: 1.01; where its rows do not, tags decide
 * and it takes 1.0 to 1.3. naive_row's 1.21 to 1.44 has no explanation: L1 has neither more turns nor many
 * misses. wgmma, whose operands come out of shared memory, while the next are written there: 1.3. */
static const double banks_factor = 1.01, tags_factor = 1.25, row_factor = 1.38, wgmma_factor = 1.30;

/* The SM clock under matrix instructions, for the limit of power: 1648 (4096) to 1826 MHz (512) of 1980. */
static const double matrix_clock_share = 0.88;

static const double time_tolerance = 0.15, time_tolerance_odd = 0.30; /* odd: tags, and halves one by one */
static const double time_tolerance_assumed = 0.40;

/* Of the time of a launch: beyond it, nothing is left to be tested. */
static const double mostly_start = 0.75;

/* Multiply-adds of an SM's matrix units in a cycle, fp16 into fp32: data sheets' dense FLOP/s / (2 x SMs x
 * clock) of V100, A100, H100, B200. The last is tcgen05's, which no kernel here has: how much of it the
 * mma.sync that runs there reaches is in none of our sources. */
static const struct {
    int cc_major, cc_minor, per_cycle;
} matrix_rates[] = {{7, 0, 512}, {8, 0, 1024}, {9, 0, 2048}, {10, 0, 4096}};

double gemm_multiply_adds(const struct gemm_geometry *g)
{
    return (double)g->shape.m * (double)g->shape.n * (double)g->shape.k;
}

double gemm_matrix_bytes(const struct gemm_geometry *g)
{
    const double m = (double)g->shape.m, n = (double)g->shape.n, k = (double)g->shape.k;
    return (m * k + k * n) * (g->half ? 2 : 4) + m * n * 4;
}

/* Multiply-adds of an SM in a cycle; NaN: not known. */
static double rate_of(const struct ub_gpu *gpu, const struct gemm_geometry *g)
{
    if (!g->half)
        return gpu->fp32_lanes_per_sm > 0 ? (double)gpu->fp32_lanes_per_sm : (double)NAN;
    for (size_t i = 0; i < sizeof matrix_rates / sizeof matrix_rates[0]; i++)
        if (matrix_rates[i].cc_major == gpu->cc_major && matrix_rates[i].cc_minor == gpu->cc_minor)
            return matrix_rates[i].per_cycle;
    return NAN;
}

/* Whether variant=tensor runs with other instructions than those that reach the rate above. */
static bool is_slower_way(const struct ub_gpu *gpu, const struct gemm_geometry *g)
{
    return g->variant == GEMM_TENSOR && gpu->cc_major >= 9 && !g->wgmma;
}

double gemm_peak(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct gemm_geometry *g)
{
    return 2 * rate_of(gpu, g) * gpu->sms * ub_constant_value(constants, "clock_mhz") * 1e6;
}

/* ---- counters ---------------------------------------------------------------------------- */

static const char not_ours[] = "the library's kernels are its own";

uint64_t gemm_turns(const struct gemm_counts *counts)
{
    return counts->load_turns + counts->stores.requests + counts->shared_loads.turns + counts->shared_stores.turns +
           counts->copy_wavefronts;
}

static void add_exact(struct ub_law *law, const struct gemm_geometry *g, const char *key, enum ub_counter_class class_,
                      uint64_t value)
{
    if (gemm_is_library(g))
        ub_law_unknown(law, key, class_, not_ours);
    else
        ub_law_exact(law, key, class_, value);
}

static void add_exacts(const struct gemm_geometry *g, const struct gemm_counts *counts, struct ub_law *law)
{
    add_exact(law, g, "ffma", UB_STRUCTURAL, counts->multiply_adds);
    add_exact(law, g, "warpgroup_matrix_instructions", UB_STRUCTURAL, g->wgmma ? counts->matrix_instructions : 0);
    add_exact(law, g, "global_load_requests", UB_STRUCTURAL, counts->loads.requests);
    add_exact(law, g, "global_load_sectors", UB_STRUCTURAL, counts->loads.sectors);
    add_exact(law, g, "global_load_bytes", UB_STRUCTURAL, counts->loads.bytes);
    add_exact(law, g, "global_store_requests", UB_STRUCTURAL, counts->stores.requests);
    add_exact(law, g, "global_store_sectors", UB_STRUCTURAL, counts->stores.sectors);
    add_exact(law, g, "global_store_bytes", UB_STRUCTURAL, counts->stores.bytes);
    add_exact(law, g, "global_async_copies", UB_STRUCTURAL, counts->copies.requests);
    add_exact(law, g, "shared_load_wavefronts", UB_STRUCTURAL, counts->shared_loads.wavefronts);
    add_exact(law, g, "shared_store_wavefronts", UB_STRUCTURAL, counts->shared_stores.wavefronts);
    add_exact(law, g, "local_loads", UB_SASS, 0); /* nothing is spilled */
    add_exact(law, g, "local_stores", UB_SASS, 0);
}

/* Whether no tile reaches over an edge. */
static bool is_whole(const struct gemm_geometry *g)
{
    return g->tile_m != 0 && g->shape.m % g->tile_m == 0 && g->shape.n % g->tile_n == 0 && g->shape.k % g->tile_k == 0;
}

static bool is_naive(const struct gemm_geometry *g)
{
    return g->variant == GEMM_NAIVE_COL || g->variant == GEMM_NAIVE_ROW;
}

static bool has_copies(const struct gemm_counts *counts)
{
    return counts->copies.requests > 0;
}

/* Sectors of A and B that all blocks need, were each loaded once a block. */
static double panel_sectors(const struct gemm_geometry *g)
{
    const double rows = (double)g->shape.m * (double)g->blocks_n, columns = (double)g->shape.n * (double)g->blocks_m;
    return (rows + columns) * (double)g->shape.k * (g->half ? 2 : 4) / UB_SECTOR_BYTES;
}

/* What the counters of cp.async say is close to what copies ask for in whole tiles only: of zeroes
 * beyond the matrix they have some, and in `async` about 320 a block whatever k (H200, neither explained). */
static void add_copies(const struct gemm_geometry *g, const struct gemm_counts *counts, struct ub_law *law)
{
    static const char reason[] = "an H200's counter has up to 5 % more in small matrices, about 320 a block";
    const bool known = !gemm_is_library(g) && (is_whole(g) || !has_copies(counts));
    const double sectors = (double)counts->copies.sectors, wavefronts = (double)counts->copy_wavefronts;
    const char *unknown = gemm_is_library(g) ? not_ours : "zeroes beyond a matrix are counted in part";
    ub_law_estimate(law, "async_copy_sectors", known ? sectors : NAN, 0.20, reason, unknown);
    ub_law_estimate(law, "async_copy_wavefronts", known ? wavefronts : NAN, 0.20, reason, unknown);
}

/* Rows shorter than this share their sectors. */
enum { LEAST_SIDE = 64 };

/* What L1 keeps: of kernels without shared memory each sector that a block needs is missed once, and
 * found again by all other warps that want it. Kernels with tiles find next to nothing, but for rows
 * that begin within sectors. */
static void add_caches(const struct gemm_geometry *g, const struct gemm_counts *counts, struct ub_law *law)
{
    static const char reason[] = "a block of 32 x 32 results misses each sector of its rows and columns once";
    static const char unknown[] = "how much of its neighbours' rows a step finds is not modelled";
    const bool known = is_naive(g) && g->shape.n >= LEAST_SIDE && g->shape.k >= LEAST_SIDE;
    const double missed = known ? panel_sectors(g) : NAN;
    ub_law_estimate(law, "l1_load_hits", (double)counts->loads.sectors - missed, 0.02, reason,
                    gemm_is_library(g) ? not_ours : unknown);
    ub_law_estimate(law, "l2_read_sectors", missed, 0.25, reason, gemm_is_library(g) ? not_ours : unknown);
    ub_law_unknown(law, "l2_sectors", UB_ESTIMATE, "those read, and C");
    ub_law_unknown(law, "l2_hits", UB_ESTIMATE, "depends on which blocks run at a time");
}

/* One row of tiles of C after the other, each of which needs all of B: if L2 does not hold that, it comes
 * from DRAM again for each row. Larger tiles have several rows under way at a time. */
static void add_dram(const struct ub_gpu *gpu, const struct gemm_geometry *g, struct ub_law *law)
{
    const double a = 4 * (double)g->shape.m * (double)g->shape.k, b = 4 * (double)g->shape.k * (double)g->shape.n;
    const bool again = (is_naive(g) || g->variant == GEMM_TILED) && b > (double)gpu->l2_bytes;
    ub_law_estimate(law, "dram_read_bytes", again ? a + (double)g->blocks_m * b : NAN, 0.10,
                    "each row of tiles reads B again, which is larger than L2",
                    "L2 holds a part of it, from launch to launch or row of tiles to row of tiles");
}

static void add_counters(const struct ub_gpu *gpu, const struct gemm_geometry *g, const struct gemm_counts *counts,
                         struct ub_law *law)
{
    const bool library = gemm_is_library(g), tensor = g->variant == GEMM_TENSOR;
    const bool odd = !library && (!is_whole(g) || (g->variant == GEMM_TILED && g->tile_k == 8));
    add_exacts(g, counts, law);
    add_copies(g, counts, law);
    ub_law_estimate(law, "matrix_instructions", tensor ? (double)counts->matrix_instructions : NAN, 0.02,
                    "and HFMA2, if the compiler makes constants with it",
                    library ? not_ours : "HFMA2 with which the compiler makes constants, no arithmetic");
    ub_law_estimate(law, "l1_shared_load_wavefronts", library || tensor ? NAN : (double)counts->shared_loads.turns,
                    0.02, "the hardware takes a few turns again",
                    library ? not_ours : "what wgmma reads of shared memory is counted elsewhere");
    ub_law_estimate(law, "l1_wavefronts", library || tensor ? NAN : (double)gemm_turns(counts), odd ? 0.40 : 0.25,
                    odd ? "a request for several lines may take more turns than its banks" : "and a few of other kinds",
                    library ? not_ours : "turns of wgmma are not modelled");
    add_caches(g, counts, law);
    add_dram(gpu, g, law);
    ub_law_unknown(law, "warp_instructions", UB_SASS,
                   library ? not_ours : "follows from the machine code; law.c has what sm_90's step has");
}

/* ---- time ---------------------------------------------------------------------------------- */

static const struct code *code_of(const struct gemm_geometry *g)
{
    switch ((enum gemm_variant)g->variant) {
    case GEMM_TILED:
        return &tiled_code[g->tile_k == 8 ? 0 : g->tile_k == 16 ? 1 : 2];
    case GEMM_REGISTER:
        return &register_code[g->vector][g->side == 8];
    case GEMM_ASYNC:
        return &async_code[g->vector];
    case GEMM_TENSOR:
        return &tensor_code[g->vector];
    case GEMM_NAIVE_COL:
    case GEMM_NAIVE_ROW:
    case GEMM_LIBRARY:
    case GEMM_LIBRARY_TENSOR:
    case GEMM_VARIANTS:
        break;
    }
    return &naive_code;
}

/* Blocks of an SM at a time: registers (128 and 80 a thread) or shared memory hold register, async and
 * tensor to these. */
static double resident_of(const struct ub_gpu *gpu, const struct gemm_geometry *g)
{
    if (g->variant == GEMM_REGISTER)
        return g->side == 8 ? 2 : 3;
    if (g->variant == GEMM_ASYNC || g->variant == GEMM_TENSOR)
        return 1;
    return fmin(gpu->blocks_per_sm, gpu->warps_per_sm * UB_WARP_LANES / (int)g->threads);
}

static bool tags_decide(const struct gemm_counts *counts)
{
    return counts->load_cycles > 1.05 * (double)counts->load_turns;
}

/* Cycles of the pipe of L1 and shared memory, all SMs together. */
static double pipe_cycles(const struct gemm_geometry *g, const struct gemm_counts *counts)
{
    const double shared = (double)(counts->shared_loads.turns + counts->shared_stores.turns + counts->copy_wavefronts);
    const double columns_factor = tags_decide(counts) ? tags_factor : banks_factor;
    const double factor = g->variant == GEMM_NAIVE_ROW ? row_factor : is_naive(g) ? columns_factor : 1;
    return factor * counts->load_cycles + shared;
}

static double matrix_cycles(const struct ub_gpu *gpu, const struct gemm_geometry *g)
{
    const double padded =
        (double)g->blocks_m * g->tile_m * (double)g->blocks_n * g->tile_n * (double)g->steps * g->tile_k;
    return wgmma_factor * padded / rate_of(gpu, g);
}

static double tolerance_of(const struct ub_gpu *gpu, const struct gemm_geometry *g, const struct gemm_counts *counts)
{
    const bool odd = (g->variant == GEMM_NAIVE_COL && tags_decide(counts)) || (g->half && !g->vector);
    return !gpu->verified ? time_tolerance_assumed : odd ? time_tolerance_odd : time_tolerance;
}

/* No product is sooner than its matrices come: thin ones wait for memory, not for a unit. */
static void wait_for_memory(const struct ub_gpu *gpu, const struct gemm_geometry *g, double l2_ns, double dram_ns,
                            struct ub_law *law)
{
    const bool from_dram = gemm_matrix_bytes(g) > (double)gpu->l2_bytes;
    if (l2_ns > law->time_ns) {
        law->time_ns = l2_ns;
        law->bottleneck = "l2";
    }
    if (from_dram && dram_ns > law->time_ns) {
        law->time_ns = dram_ns;
        law->bottleneck = "dram";
    }
}

static void add_time(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct gemm_geometry *g,
                     const struct gemm_counts *counts, struct ub_law *law)
{
    const struct code *code = code_of(g);
    const double clock_share = g->half ? matrix_clock_share : 1;
    const double cycles_per_ns = ub_constant_value(constants, "clock_mhz") * clock_share * 1e-3;
    const double blocks = (double)g->blocks_m * (double)g->blocks_n, of_an_sm = ceil(blocks / gpu->sms);
    /* From a count of all blocks to the time of the SM that has most of them. Where none has two, it is a
     * whole block that decides: those at an edge have fewer warps, if these end there. */
    const double down = (double)g->shape.m / g->tile_m, along = (double)g->shape.n / g->tile_n;
    const double whole =
        g->variant == GEMM_NAIVE_ROW ? down * (double)g->blocks_n : (double)g->blocks_m * along; /* in warps */
    const double ns = of_an_sm / (is_naive(g) && of_an_sm == 1 ? fmax(whole, 1) : blocks) / cycles_per_ns;
    const double share = g->variant == GEMM_ASYNC ? issue_share_async : issue_share;
    const double warp_steps = blocks * (double)g->steps * (g->threads / UB_WARP_LANES);
    ub_time_term(law, "multiply_add", g->half ? NAN : (double)counts->multiply_adds / rate_of(gpu, g) * ns);
    ub_time_term(law, "matrix", g->half ? matrix_cycles(gpu, g) * ns : NAN);
    ub_time_term(law, "issue", warp_steps * code->instructions / gpu->schedulers_per_sm / share * ns);
    ub_time_term(law, "l1_shared", pipe_cycles(g, counts) * ns);
    ub_time_bottleneck(law, 0);
    const double resident = fmin(resident_of(gpu, g), of_an_sm);
    const double wait_ns = of_an_sm * (double)g->steps * code->wait_cycles / resident / cycles_per_ns;
    const double start_ns = code->start_cycles / cycles_per_ns;
    const double l2_ns = panel_sectors(g) * UB_SECTOR_BYTES / ub_constant_value(constants, "l2_load_ceiling") * 1e9;
    const double dram_ns = gemm_matrix_bytes(g) / ub_constant_value(constants, "dram_load_ceiling") * 1e9;
    wait_for_memory(gpu, g, l2_ns, dram_ns, law);
    law->time_ns += wait_ns + start_ns + ub_constant_value(constants, "launch_floor_ns");
    ub_time_term(law, "waiting", wait_ns);
    ub_time_term(law, "start", start_ns);
    ub_time_term(law, "l2", l2_ns);
    ub_time_term(law, "dram", dram_ns);
    if (wait_ns + start_ns > law->time_ns / 2)
        law->bottleneck = wait_ns > start_ns ? "waiting" : "start";
    law->tolerance = tolerance_of(gpu, g, counts);
    if (start_ns + ub_constant_value(constants, "launch_floor_ns") > mostly_start * law->time_ns) {
        law->tolerance = 0;
        law->note = "not tested: a launch as short as this is little but its start";
    } else if (!gpu->verified) {
        law->note = "assumed: the machine code and what a step waits are an H200's";
    }
    if (is_slower_way(gpu, g))
        ub_time_unknown(law, "no time: what mma.sync reaches of this card's matrix units, whose rate is that of other "
                             "instructions, is not known");
    else if (g->half && !isfinite(rate_of(gpu, g)))
        ub_time_unknown(law, "no time: the rate of this card's matrix units is not known");
}

void gemm_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
              struct ub_law *out)
{
    struct gemm_geometry g;
    struct gemm_counts counts;
    *out = (struct ub_law){.time_ns = NAN, .level = "none"};
    const char *unsupported = gemm_resolve(gpu, point, &g);
    if (unsupported != NULL) {
        out->note = unsupported;
        return;
    }
    gemm_count(&g, &counts);
    add_counters(gpu, &g, &counts, out);
    out->level = gemm_matrix_bytes(&g) > (double)gpu->l2_bytes ? "dram" : "l2";
    if (gemm_is_library(&g)) {
        out->note = "not tested: the library's kernels are its own";
        return;
    }
    add_time(gpu, constants, &g, &counts, out);
}
