/* SPDX-License-Identifier: MIT
 *
 * What `roofline` predicts. Roofline model (Williams, Waterman, Patterson, CACM 52(4),
 * 2009): a kernel that does I operations for each byte from DRAM runs at
 *     min(peak, I x bandwidth),
 * and the ridge, I = peak / bandwidth, parts those that wait for DRAM from those that
 * wait for arithmetic. Both roofs are what other rules reach: the lanes of the SMs at
 * their clock (occupancy), DRAM's ceiling of loads (coalescing).
 *
 * A loop is not made of multiply-adds alone: the others are issued between them and take
 * their time from the lanes. With these, the ridge is as sharp as the model has it: loads
 * that are on their way while multiply-adds run hide all of the one behind the other. */
#include <math.h>

#include "harness/contract/record.h"
#include "harness/model/time.h"
#include "micro/roofline/access.h"
#include "micro/roofline/rule.h"

enum { WARPS = ROOFLINE_BLOCK / UB_WARP_LANES, IN_DRAM_L2_CACHES = 4 };

/* What a warp's step costs its scheduler beside its multiply-adds, in cycles: the other
 * instructions in the machine code of sm_90 (loads, addresses, the search for all ones,
 * branches), 28 without multiply-adds, 41 (fp64: 47) with up to 64 of them, 52 (58) with 256,
 * 88 (94) with 1024; and the registers that the loads fill. Multiply-adds of fp64 leave every
 * other cycle free, so that less of it shows. Fitted to an H200's times beyond the ridge, in
 * earlier runs; it is no constant: the record has 56, 69 and 104 cycles in fp32 at 40, 256 and
 * 1024 multiply-adds, 27, 25 and 17 in fp64, 52, 64 and 106 in half2. */
static const double cycles_beside[ROOFLINE_TYPES] = {[ROOFLINE_FP32] = 58, [ROOFLINE_FP64] = 28, [ROOFLINE_HALF2] = 54};

/* HFMA2 that the machine code of sm_90 has beside the source's, a thread: nvcc makes the
 * constants 0 and 4 with them. Registers of the kernels, by which that code is known. */
static const uint32_t hfma2_beside[ROOFLINE_TYPES] = {[ROOFLINE_FP32] = 2, [ROOFLINE_HALF2] = 2};
static const int registers_of_sm_90[ROOFLINE_TYPES][2] = {{30, 32}, {28, 28}, {30, 28}}; /* fmas = 0, more */

/* Near the ridge an H200 comes to its limit of power and lowers its clock, in the record to
 * 1848 MHz (half2, 20 multiply-adds); the times are 5.8 % off at most (half2, 24: 1894 MHz). */
static const double time_tolerance = 0.10;
static const double time_tolerance_assumed = 0.30;

/* Multiply-add instructions on two halves that an SM does in a cycle, in threads: half of
 * the results that the CUDA C++ Programming Guide lists ("Arithmetic instructions",
 * 16-bit floating-point multiply-add). */
static const struct {
    int cc_major, cc_minor, lanes;
} half2_rows[] = {
    {5, 3, 128}, {6, 0, 64}, {6, 1, 1},  {6, 2, 128}, {7, 0, 64},   {7, 2, 64},   {7, 5, 64},  {8, 0, 128},
    {8, 6, 64},  {8, 7, 64}, {8, 9, 64}, {9, 0, 128}, {10, 0, 128}, {10, 3, 128}, {12, 0, 64},
};

static double half2_lanes(const struct ub_gpu *gpu)
{
    for (size_t i = 0; i < sizeof half2_rows / sizeof half2_rows[0]; i++)
        if (half2_rows[i].cc_major == gpu->cc_major && half2_rows[i].cc_minor == gpu->cc_minor)
            return half2_rows[i].lanes;
    return NAN;
}

/* Multiply-add instructions that an SM does in a cycle, in threads. */
static double lanes_of(const struct ub_gpu *gpu, uint32_t type)
{
    const int known = type == ROOFLINE_FP32 ? gpu->fp32_lanes_per_sm : gpu->fp64_lanes_per_sm;
    if (type == ROOFLINE_HALF2)
        return half2_lanes(gpu);
    if (known <= 0)
        return NAN;
    return known;
}

static double fmas_per_ns(const struct ub_gpu *gpu, const struct ub_constants *constants, uint32_t type)
{
    return lanes_of(gpu, type) * gpu->sms * ub_constant_value(constants, "clock_mhz") * 1e-3;
}

double roofline_peak(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct roofline_geometry *g)
{
    return g->flops * fmas_per_ns(gpu, constants, g->type) * 1e9;
}

double roofline_bandwidth(const struct ub_constants *constants)
{
    return ub_constant_value(constants, "dram_load_ceiling");
}

/* ---- counters ---------------------------------------------------------------- */

/* Every request is like the first: 32 chunks side by side, from a line's start. */
void roofline_traffic(const struct roofline_geometry *g, struct ub_traffic *out)
{
    uint64_t addresses[UB_WARP_LANES];
    struct ub_traffic one = {0};
    for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++)
        addresses[lane] = roofline_first(0, lane) * ROOFLINE_CHUNK_BYTES;
    ub_coalesce_warp(addresses, 0xFFFFFFFFu, ROOFLINE_CHUNK_BYTES, &one);
    *out = (struct ub_traffic){0};
    ub_traffic_add(out, &one, (uint64_t)g->blocks * WARPS * ROOFLINE_STEPS * ROOFLINE_CHUNKS);
}

static bool in_dram(const struct ub_gpu *gpu, const struct roofline_geometry *g)
{
    return g->size_bytes > IN_DRAM_L2_CACHES * gpu->l2_bytes;
}

static uint64_t fmas_of(const struct roofline_geometry *g, uint32_t type)
{
    return type == g->type ? roofline_elements(g) * g->fmas : 0;
}

/* The compiler uses HFMA2 for what is no arithmetic at all: an integer only given the
 * machine code. */
static void add_hfma2(struct ub_law *law, const struct ub_gpu *gpu, const struct roofline_geometry *g)
{
    const bool known = gpu->cc_major == 9 && gpu->cc_minor == 0;
    const uint64_t threads = (uint64_t)g->blocks * ROOFLINE_BLOCK;
    law->counters[law->counter_count++] = (struct ub_law_counter){
        .key = "hfma2",
        .class_ = UB_SASS,
        .known = known,
        .predicted = fmas_of(g, ROOFLINE_HALF2) + (g->fmas > 0 ? threads * hfma2_beside[g->type] : 0),
        .reason = known ? "with those by which nvcc makes constants: 2 a thread"
                        : "the compiler makes constants with it, how many is known of CC 9.0 only"};
    law->has_code = known;
    law->code_registers = registers_of_sm_90[g->type][g->fmas > 0];
}

static void add_counters(const struct ub_gpu *gpu, const struct roofline_geometry *g, struct ub_law *law)
{
    static const char *const keys[] = {"ffma", "dfma"};
    struct ub_traffic traffic;
    roofline_traffic(g, &traffic);
    for (uint32_t type = 0; type < ROOFLINE_HALF2; type++)
        ub_law_exact(law, keys[type], UB_STRUCTURAL, fmas_of(g, type));
    add_hfma2(law, gpu, g);
    ub_law_exact(law, "global_load_requests", UB_STRUCTURAL, traffic.requests);
    ub_law_exact(law, "global_load_sectors", UB_STRUCTURAL, traffic.sectors);
    ub_law_exact(law, "global_load_bytes", UB_STRUCTURAL, traffic.bytes);
    ub_law_exact(law, "local_loads", UB_SASS, 0); /* nothing is spilled */
    ub_law_exact(law, "local_stores", UB_SASS, 0);
    law->counters[law->counter_count++] =
        (struct ub_law_counter){.key = "dram_read_bytes",
                                .class_ = UB_ESTIMATE,
                                .known = in_dram(gpu, g),
                                .predicted = g->size_bytes,
                                .tolerance = 0.05,
                                .reason = in_dram(gpu, g) ? "each byte comes from DRAM once, but for what L2 still has"
                                                          : "the source is not larger than four L2 caches"};
    law->counters[law->counter_count++] =
        (struct ub_law_counter){.key = "warp_instructions",
                                .class_ = UB_SASS,
                                .reason = "follows from the machine code; on sm_90 28 (no multiply-adds) to 94 (1024, "
                                          "fp64) of a warp's step beside these"};
}

/* ---- time -------------------------------------------------------------------- */

static void add_time(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct roofline_geometry *g,
                     struct ub_law *law)
{
    const double cycles_per_ns = ub_constant_value(constants, "clock_mhz") * 1e-3;
    const double steps = (double)g->blocks * WARPS * ROOFLINE_STEPS;
    const double dram_ns = (double)g->size_bytes * 1e9 / roofline_bandwidth(constants);
    const double lanes_ns = (double)roofline_elements(g) * g->fmas / fmas_per_ns(gpu, constants, g->type);
    const double beside_ns = steps * cycles_beside[g->type] / gpu->schedulers_per_sm / gpu->sms / cycles_per_ns;
    ub_time_term(law, "dram", dram_ns);
    ub_time_term(law, "arithmetic", lanes_ns);
    ub_time_term(law, "other_instructions", beside_ns);
    if (!isfinite(dram_ns) || !isfinite(lanes_ns))
        return;
    law->bottleneck = dram_ns >= lanes_ns + beside_ns ? "dram" : "arithmetic";
    law->time_ns = fmax(dram_ns, lanes_ns + beside_ns) + ub_constant_value(constants, "launch_floor_ns");
}

void roofline_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                  struct ub_law *out)
{
    struct roofline_geometry g;
    *out = (struct ub_law){.time_ns = NAN, .level = "none"};
    const char *unsupported = roofline_resolve(gpu, point, &g);
    if (unsupported != NULL) {
        out->note = unsupported;
        return;
    }
    add_counters(gpu, &g, out);
    out->level = in_dram(gpu, &g) ? "dram" : "l2";
    if (!in_dram(gpu, &g)) {
        out->note = "no time: the source is not larger than four L2 caches";
        return;
    }
    add_time(gpu, constants, &g, out);
    if (!isfinite(out->time_ns)) {
        out->note = "no time: how fast its units for this type are, or its DRAM, is not known";
        return;
    }
    out->tolerance = gpu->verified ? time_tolerance : time_tolerance_assumed;
    if (!gpu->verified)
        out->note = "assumed: the machine code, and how both times add up near the ridge, are an H200's";
}
