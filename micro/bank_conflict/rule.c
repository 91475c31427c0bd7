/* SPDX-License-Identifier: MIT
 *
 * The rule `bank_conflict` as data: axes, sweeps, counters, metrics, chart and texts. */
#include <math.h>

#include "harness/contract/record.h"
#include "micro/bank_conflict/rule.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const widths[] = {"4", "8", "16", NULL};
static const char *const ops[] = {"load", "store", "ldmatrix", NULL};
static const char *const patterns[] = {"stride", "padded", "xor", "column", "random", "broadcast", "multicast", NULL};

static const struct ub_axis axes[BANK_CONFLICT_AXES] = {
    [BANK_CONFLICT_STRIDE] = {.name = "stride",
                              .unit = "element",
                              .help = "distance of neighbouring lanes: words of 4 bytes where bytes=4",
                              .kind = UB_AXIS_INTEGER,
                              .minimum = 0,
                              .maximum = 64,
                              .initial = "1"},
    [BANK_CONFLICT_BYTES] = {.name = "bytes",
                             .unit = "byte",
                             .help = "that a lane moves; ldmatrix: 4 of each of 1, 2, 4 matrices, elements are rows",
                             .kind = UB_AXIS_WORD,
                             .words = widths,
                             .initial = "4"},
    [BANK_CONFLICT_OP] = {.name = "op",
                          .unit = "",
                          .help = "the instruction: LDS, STS or LDSM",
                          .kind = UB_AXIS_WORD,
                          .words = ops,
                          .initial = "load"},
    [BANK_CONFLICT_PATTERN] = {.name = "pattern",
                               .unit = "",
                               .help = "stride, the same padded or xor-ed by rows of 32; a column of a tile, ...",
                               .kind = UB_AXIS_WORD,
                               .words = patterns,
                               .initial = "stride"},
    [BANK_CONFLICT_PAD] = {.name = "pad",
                           .unit = "element",
                           .help = "left out behind each row of 32 (pattern=padded, column)",
                           .kind = UB_AXIS_INTEGER,
                           .minimum = 0,
                           .maximum = 8,
                           .initial = "1"},
    [BANK_CONFLICT_SHARE] = {.name = "share",
                             .unit = "lane",
                             .help = "lanes whose numbers differ in these bits only take one element (multicast)",
                             .kind = UB_AXIS_INTEGER,
                             .minimum = 0,
                             .maximum = 31,
                             .initial = "1"},
};

static const struct ub_sweep sweeps[] = {
    {"stride", UB_SUITE_DEFAULT | UB_SUITE_FULL, "stride=0..33 bytes=4,8,16 op=load,store",
     "the rule itself: lanes that are 0 to 33 elements apart"},
    {"stride_quick", UB_SUITE_QUICK, "stride=0,1,2,3,4,8,16,32,33 bytes=4,16 op=load,store",
     "the rule at powers of two and beside them"},
    {"ldmatrix", UB_SUITE_DEFAULT | UB_SUITE_FULL, "op=ldmatrix stride=0..9,16 bytes=4,8,16",
     "matrices whose rows are 0 to 16 rows apart"},
    {"ldmatrix_quick", UB_SUITE_QUICK, "op=ldmatrix stride=1,8 bytes=16", "rows side by side, rows 128 bytes apart"},
    {"padding", UB_SUITE_DEFAULT | UB_SUITE_QUICK | UB_SUITE_FULL, "pattern=column pad=0..4",
     "a column of a tile of 32 x (32 + pad): the textbook's remedy"},
    {"remedy", UB_SUITE_DEFAULT | UB_SUITE_FULL, "pattern=stride,padded,xor stride=32 bytes=4,8,16 op=load,store",
     "a stride of 32 as it is, with padding, with xor"},
    {"pattern", UB_SUITE_DEFAULT | UB_SUITE_FULL,
     "pattern=stride,random,broadcast,multicast bytes=4,8,16 op=load,store",
     "order is free and so are duplicates; random addresses are not"},
    {"share", UB_SUITE_DEFAULT | UB_SUITE_FULL, "pattern=multicast share=0,1,2,3,4,8,16,31 bytes=4,8,16 op=load,store",
     "which lanes that share an element are merged"},
    {"share_quick", UB_SUITE_QUICK, "pattern=multicast share=0,1,2,4 bytes=16", "pairs n, n^1; n, n^2; n, n^4"},
    {"far", UB_SUITE_FULL, "stride=34..64 bytes=4,8,16 op=load,store", "lanes that are farther apart than the banks"},
    {"columns", UB_SUITE_FULL, "pattern=column,padded pad=0..8 bytes=4,8,16 op=load,store",
     "every padding for every width"},
    {"matrices", UB_SUITE_FULL, "op=ldmatrix pattern=all bytes=4,8,16", "the patterns for the rows of matrices"},
};

static const char *const counters[] = {
    "shared_load_requests",    "shared_load_wavefronts",    "shared_load_bytes",          "shared_store_requests",
    "shared_store_wavefronts", "shared_store_bytes",        "matrix_load_requests",       "matrix_load_wavefronts",
    "matrix_load_bytes",       "l1_shared_load_wavefronts", "l1_shared_store_wavefronts",
};

static const char *const needs[] = {"clock_mhz"};

static const char *const metric_keys[] = {
    "cycles_per_access",
    "wavefronts_per_access",
    "conflicts_per_access",
    "bytes_per_cycle",
};

/* ---- functions ------------------------------------------------------------------- */

static const char *supported(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct bank_conflict_geometry g;
    return bank_conflict_resolve(gpu, point, &g);
}

static void footprint(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_footprint *out)
{
    struct bank_conflict_geometry g;
    *out = (struct ub_footprint){0};
    if (bank_conflict_resolve(gpu, point, &g) != NULL)
        return;
    const uint64_t sums_bytes = 4 * BANK_CONFLICT_SUMS * BANK_CONFLICT_THREADS;
    if (g.op == BANK_CONFLICT_STORE) {
        out->buffers[0] = (struct ub_buffer_spec){"copied", UB_DEVICE_MEMORY, UB_FILL_POISON, true, g.region_bytes};
        out->count = 1;
        return;
    }
    out->buffers[0] = (struct ub_buffer_spec){"source", UB_DEVICE_MEMORY, UB_FILL_RANDOM, false, g.region_bytes};
    out->buffers[1] = (struct ub_buffer_spec){"sums", UB_DEVICE_MEMORY, UB_FILL_POISON, true, sums_bytes};
    out->count = 2;
}

/* What the hardware took for the accesses under the lens. */
static double wavefronts_per_access(const struct ub_facts *facts, const struct bank_conflict_geometry *g)
{
    const double fill = (double)bank_conflict_passes(g);
    switch ((enum bank_conflict_op)g->op) {
    case BANK_CONFLICT_LOAD:
        return ub_fact(facts, "l1_shared_load_wavefronts") / ub_fact(facts, "shared_load_requests");
    case BANK_CONFLICT_STORE:
        return (ub_fact(facts, "l1_shared_store_wavefronts") - fill) / (ub_fact(facts, "shared_store_requests") - fill);
    case BANK_CONFLICT_LDMATRIX:
        return ub_fact(facts, "l1_shared_load_wavefronts") / ub_fact(facts, "matrix_load_requests");
    case BANK_CONFLICT_OPS:
        break;
    }
    return NAN;
}

static void metrics(const struct ub_facts *facts, struct ub_metrics *out)
{
    struct bank_conflict_geometry g;
    out->count = 0;
    if (bank_conflict_resolve(facts->gpu, facts->point, &g) != NULL)
        return;
    const double cycles_per_ns = ub_constant_value(facts->constants, "clock_mhz") * 1e-3;
    const double cycles = facts->time_ns * cycles_per_ns / (double)bank_conflict_accesses();
    const double wavefronts = wavefronts_per_access(facts, &g);
    ub_metric_add(out, "cycles_per_access", "cycle", cycles);
    ub_metric_add(out, "wavefronts_per_access", "wavefront", wavefronts);
    ub_metric_add(out, "conflicts_per_access", "1", wavefronts / bank_conflict_least(&g));
    ub_metric_add(out, "bytes_per_cycle", "B/cycle", (double)(BANK_CONFLICT_LANES * g.bytes) / cycles);
}

/* The point is small: all of it is checked. */
static bool small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out)
{
    *out = *point;
    return supported(gpu, point) == NULL;
}

/* ---- chart and texts --------------------------------------------------------------- */

static const struct ub_chart_text chart_texts[] = {
    {"stride", "Bank conflicts: a stride costs what it shares with the 32 banks", "gcd(s, 32) (4 bytes)"},
    {"bytes", "Wider accesses take more turns for more bytes", "bytes / 4"},
    {"op", "Loads, stores and ldmatrix have the same banks", NULL},
    {"pattern", "Order is free, sharing is free, chance costs three turns", NULL},
    {"pad", "One element of padding removes the conflicts of a column", "gcd(32 + pad, 32) (4 bytes)"},
    {"padding", "One element of padding removes the conflicts of a column", NULL},
    {"ldmatrix", "Bank conflicts: a stride costs what it shares with the 32 banks", NULL},
    {"share", "Wide loads are merged for lane pairs n, n^1 or n, n^2 only", NULL},
    {"", "Bank conflicts: the busiest bank decides", NULL},
};

const struct ub_micro ub_micro_bank_conflict = {
    .name = "bank_conflict",
    .rule =
        "A warp's access to shared memory takes as many cycles as the busiest of 32 banks has distinct words to give.",
    .text =
        {
            .law =
                "bank of a word = its number mod 32. Wavefronts of an access = the largest number of distinct words "
                "that its active lanes ask of one bank; lanes that ask for the same word share it, in any order and "
                "any groups. At stride s words: gcd(s, 32); s = 0: 1. Accesses of 8 bytes are served in two halves of "
                "the warp, of 16 bytes in four quarters, each with its own conflicts: 2 gcd(s, 16) and 4 gcd(s, 8) at "
                "a stride of s elements. Loads of 8 and 16 bytes are merged: where all lane pairs n, n^1 of the warp "
                "have one address, or all pairs n, n^2, two phases become one (a uniform address: 1 and 2 "
                "wavefronts). Stores and ldmatrix are never merged; ldmatrix takes each 8 x 16-byte matrix by itself. "
                "Time: a wavefront is a cycle of the SM.",
            .breaks =
                "The law is of throughput, with enough accesses in flight: a chain of dependent loads pays the "
                "latency (23 cycles on an H200) and two cycles for each further way. A pair of lanes that differs "
                "anywhere in the warp undoes the merging of all of it. A partial warp takes a cycle for each of its "
                "1, 2 or 4 phases at least, even one without an active lane, though no counter counts that. Merged "
                "loads take 1.2 to 2.0 % longer than their wavefronts; why is not known. NVIDIA's instrumented "
                "counter (shared_load_wavefronts) imitates merging in part only: it wants a single wavefront for both "
                "phases, and looks at halves of the warp for 16 bytes; l1_shared_load_wavefronts is what the hardware "
                "did. Before compute capability 5.0 the banks were others (16, or 8 bytes wide). That other "
                "generations merge the same pairs is assumed.",
            .consequence =
                "Walk a 32-wide tile along its columns with a pitch of 33, or xor the column with the row: 1.00 "
                "cycles an access on an H200 instead of 32.0. An odd stride is free, a stride of 2 costs 2, of 32 "
                "costs 32; random words cost 3.4. Structures of 3 or 5 words need no padding, of 4 or 8 do. Wide "
                "accesses without conflicts move the same 128 bytes a cycle as narrow ones: they save instructions.",
            .folk = "\"Bank conflicts cost 1.2x\": measured where DRAM or latency hides them, or where the compiler "
                    "removed the loop (it merges equal shared loads, asm volatile or not); alone they cost up to "
                    "32x.\n"
                    "\"Two lanes in one bank are a conflict\": only if they want different words; the same word is "
                    "shared, by 2 lanes as by 32.\n"
                    "\"float4 accesses conflict, because lanes 0 and 8 hit the same bank\": they are served in "
                    "different phases; 4 wavefronts for 512 bytes are the full rate.\n"
                    "\"A broadcast of any width is one wavefront\": as a load 1 for 4 and 8 bytes and 2 for 16, as a "
                    "store 1, 2 and 4, with ldmatrix one a matrix.",
            .sources =
                "CUDA C++ Programming Guide, compute capability 5.x, shared memory: 32 banks, one word a cycle\n"
                "forums.developer.nvidia.com/t/77228: pairs (n, n^1), (n, n^2) of 64- and 128-bit loads (CC 7.x)\n"
                "NVIDIA GTC 2019 S9593: phases of 8- and 16-byte accesses\n"
                "Sun et al., arXiv:2206.02874, Table 10: two cycles of latency for each further way, A100\n"
                "PTX ISA, ldmatrix: which lane gives the address of which row\n"
                "Measured for phases and merging: an H200, driver 580: hardware counters of 3393 address patterns, "
                "cycles of 53980 (within 8 % of max(wavefronts, phases) at all but 6)",
        },
    .axis_count = BANK_CONFLICT_AXES,
    .axes = axes,
    .owners = &bank_conflict_owners,
    .sweep_count = COUNT(sweeps),
    .sweeps = sweeps,
    .counter_count = COUNT(counters),
    .counters = counters,
    .need_count = COUNT(needs),
    .needs = needs,
    .metric_count = COUNT(metric_keys),
    .metric_keys = metric_keys,
    .chart =
        {
            .kind = "sweep",
            .metric = "cycles_per_access",
            .metric_label = "cycles / access",
            .metric_scale = 1,
            .panel_metric = "wavefronts_per_access",
            .panel_label = "wavefronts / access",
            .panel_counter = "counter: l1tex wavefronts per access",
            .text_count = COUNT(chart_texts),
            .texts = chart_texts,
        },
    .timer = ub_timer_sm_clock,
    .supported = supported,
    .footprint = footprint,
    .law = bank_conflict_law,
    .metrics = metrics,
    .small = small,
    .verify = bank_conflict_verify,
};
