/* SPDX-License-Identifier: MIT
 *
 * The rule `atomics` as data: axes, sweeps, counters, metrics, chart and texts. */
#include "micro/atomics/rule.h"

#include <math.h>

#include "harness/contract/record.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const spaces[] = {"global", "shared", NULL};                         /* enum atomics_space */
static const char *const ways[] = {"plain", "one", "cas", "compiler", "private", NULL}; /* enum atomics_way */
static const char *const types[] = {"int", "long", "float", "double", "half2", NULL};   /* enum atomics_type */
static const char *const results[] = {"unused", "used", NULL};                          /* enum atomics_result */

static const struct ub_axis axes[ATOMICS_AXES] = {
    [ATOMICS_SPACE] = {.name = "space",
                       .unit = "",
                       .help = "memory that is added to; shared: each block for itself",
                       .kind = UB_AXIS_WORD,
                       .words = spaces,
                       .initial = "global"},
    [ATOMICS_WAY] = {.name = "way",
                     .unit = "",
                     .help = "plain: atomicAdd(); one: of the constant 1; cas: a loop of atomicCAS(); compiler: at an "
                             "address of the block, where the compiler adds up a warp first; private: in shared "
                             "memory, each block's sums at last in global memory",
                     .kind = UB_AXIS_WORD,
                     .words = ways,
                     .initial = "plain"},
    [ATOMICS_TYPE] = {.name = "type",
                      .unit = "",
                      .help = "of the numbers: 32 and 64 bits, integer and floating-point; two halves",
                      .kind = UB_AXIS_WORD,
                      .words = types,
                      .initial = "int"},
    [ATOMICS_RESULT] = {.name = "result",
                        .unit = "",
                        .help = "the old value that comes back",
                        .kind = UB_AXIS_WORD,
                        .words = results,
                        .initial = "unused"},
    [ATOMICS_ADDRESSES] = {.name = "addresses",
                           .unit = "address",
                           .help = "distinct ones, of the launch; space=shared: of each block",
                           .kind = UB_AXIS_INTEGER,
                           .minimum = 1,
                           .maximum = ATOMICS_ADDRESSES_MAX,
                           .initial = "1"},
    [ATOMICS_LANES] = {.name = "lanes",
                       .unit = "address",
                       .help = "distinct addresses of a warp's instruction; auto: 32 if there are so many",
                       .kind = UB_AXIS_INTEGER,
                       .minimum = 1,
                       .maximum = ATOMICS_WARP,
                       .zero_word = "auto",
                       .initial = "auto"},
    [ATOMICS_APART] = {.name = "apart",
                       .unit = "byte",
                       .help = "from an address to the next; packed: the size of the type",
                       .kind = UB_AXIS_INTEGER,
                       .minimum = 4,
                       .maximum = ATOMICS_APART_MAX,
                       .zero_word = "packed",
                       .initial = "packed"},
    [ATOMICS_WARPS] = {.name = "warps",
                       .unit = "warp",
                       .help = "of an SM: one block",
                       .kind = UB_AXIS_INTEGER,
                       .minimum = 1,
                       .maximum = ATOMICS_WARPS_MAX,
                       .initial = "32"},
    [ATOMICS_LENGTH] = {.name = "length",
                        .unit = "turn",
                        .help = "turns of the loop, four adds of each thread in each; auto: as many as make the launch "
                                "itself a small part",
                        .kind = UB_AXIS_INTEGER,
                        .minimum = 1,
                        .maximum = ATOMICS_LENGTH_MAX,
                        .zero_word = "auto",
                        .initial = "auto"},
};

enum { USUAL = UB_SUITE_DEFAULT | UB_SUITE_FULL };

static const struct ub_sweep sweeps[] = {
    {"global", USUAL,
     "space=global result=all addresses=1,2,4,8,9,12,16,32,64,256,1024,4096,16384,65536,262144,1048576",
     "how many addresses integer adds in global memory need"},
    {"float", USUAL, "space=global type=float,double addresses=1,2,4,8,16,32,256,4096,1048576",
     "the same of floating-point numbers"},
    {"wide", USUAL, "space=global type=long addresses=1,32,4096,1048576", "the same of 64-bit integers"},
    {"half2", USUAL, "space=global type=half2 addresses=1048576", "pairs of halves"},
    {"lines", USUAL, "space=global addresses=32768 lanes=1,2,4,8,16,32 apart=packed,32,128",
     "what a warp's instruction costs: addresses that lanes share, sectors and lines"},
    {"shared", USUAL, "space=shared result=all addresses=1,2,4,8,16,32,1024",
     "integer adds in shared memory: lanes that share a bank take turns"},
    {"loop", USUAL, "space=shared type=float addresses=1,2,4,8,16,32,128,1024,4096",
     "floating-point adds in shared memory: the compiler's loop of compare-and-swap"},
    {"loop_wide", USUAL, "space=shared type=long,double addresses=1,32,1024", "the same of 64 bits"},
    {"one", USUAL, "space=shared way=one addresses=1,8,32 apart=packed,128",
     "the constant 1 in shared memory: another instruction"},
    {"compiler", USUAL, "space=global way=compiler addresses=1,4,33,132",
     "an address that the compiler knows to be the block's: it adds up the warp"},
    {"compiler_shared", USUAL, "space=shared way=compiler addresses=1", "the same in shared memory"},
    {"cas", USUAL, "space=global way=cas addresses=1024,16384,262144,1048576", "a loop of compare-and-swap"},
    {"private", USUAL, "way=private type=int,float addresses=1,32,1024,16384",
     "each block in shared memory first: against sweep global"},
    {"warps", USUAL, "result=all addresses=1048576 warps=1,2,4,8,16,32", "how many warps it takes"},
    {"quick", UB_SUITE_QUICK, "space=global addresses=1,32,1048576", "integer adds, at three points"},
    {"quick_shared", UB_SUITE_QUICK, "space=shared addresses=1,32", "the same in shared memory"},
};

static const char *const counters[] = {
    "global_atomics",
    "global_reductions",
    "global_atomic_sectors",
    "global_reduction_sectors",
    "shared_atomics",
    "blocks_launched",
    "shared_atomic_wavefronts",
    "local_loads",
    "local_stores",
    "l1_atomic_sectors",
    "l1_reduction_sectors",
    "l2_atomic_cycles",
    "l2_atomic_cycles_busiest",
    "l1_shared_atomic_wavefronts",
};

static const char *const needs[] = {
    "clock_mhz",         "launch_floor_ns",  "atomic_part_ns",        "atomic_address_ns", "atomic_float_ns",
    "packet_line_ns",    "packet_sector_ns", "packet_address_ns",     "atomic_reply_ns",   "atomic_wait_ns",
    "reduction_wait_ns", "shared_loop_ns",   "shared_loop_spread_ns", "shared_loop_64_ns", "shared_loop_64_spread_ns",
    "cas_spread_ns",
};

static const struct ub_provides provides[] = {
    {"atomic_part_ns", "addresses=64", "part_ns"},
    {"atomic_address_ns", "addresses=1", "address_ns"},
    {"atomic_float_ns", "type=float addresses=1", "address_ns"},
    {"packet_line_ns", "addresses=524288", "packet_ns"},
    {"packet_sector_ns", "addresses=524288 lanes=8", "packet_ns"},
    {"packet_address_ns", "addresses=524288 lanes=1", "packet_ns"},
    {"atomic_reply_ns", "result=used addresses=524288", "part_ns"},
    {"atomic_wait_ns", "result=used addresses=1048576 warps=1", "turn_ns"},
    {"reduction_wait_ns", "addresses=1048576 warps=1", "turn_ns"},
    {"shared_loop_ns", "space=shared type=float addresses=1", "address_ns"},
    {"shared_loop_spread_ns", "space=shared type=float addresses=2048", "instruction_ns"},
    {"shared_loop_64_ns", "space=shared type=long addresses=1", "address_ns"},
    {"shared_loop_64_spread_ns", "space=shared type=long addresses=2048", "instruction_ns"},
    {"cas_spread_ns", "way=cas addresses=524288", "card_instruction_ns"},
};

static const char *const metric_keys[] = {
    "adds_per_second",     "address_ns", "instruction_cycles", "parts",   "tries",
    "busiest_slice",       "part_ns",    "packet_ns",          "turn_ns", "instruction_ns",
    "card_instruction_ns",
};

/* ---- points ---------------------------------------------------------------------- */

static const char *supported(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct atomics_geometry g;
    return atomics_resolve(gpu, point, &g);
}

static void footprint(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_footprint *out)
{
    struct atomics_geometry g;
    *out = (struct ub_footprint){0};
    if (atomics_resolve(gpu, point, &g) == NULL)
        out->buffers[out->count++] =
            (struct ub_buffer_spec){"sums", UB_DEVICE_MEMORY, UB_FILL_ZERO, true, atomics_buffer_bytes(&g)};
}

/* ---- metrics ------------------------------------------------------------------------ */

/* What an instruction of a warp is cut into: parts that L1 sends to L2, or turns of shared memory. */
static double parts_of(const struct ub_facts *facts, const struct atomics_geometry *g)
{
    const double parts = atomics_in_shared(g)
                             ? ub_fact(facts, "l1_shared_atomic_wavefronts")
                             : ub_fact(facts, "l1_atomic_sectors") + ub_fact(facts, "l1_reduction_sectors");
    return parts / (double)atomics_instructions(g);
}

static double tries_of(const struct ub_facts *facts, const struct atomics_geometry *g)
{
    if (!atomics_loops(g))
        return NAN;
    return ub_fact(facts, atomics_in_shared(g) ? "shared_atomics" : "global_atomics") / (double)atomics_instructions(g);
}

static void metrics(const struct ub_facts *facts, struct ub_metrics *out)
{
    struct atomics_geometry g;
    struct atomics_cost cost;
    out->count = 0;
    if (atomics_resolve(facts->gpu, facts->point, &g) != NULL)
        return;
    atomics_cost(&g, &cost);
    const double of_sm_ns = facts->time_ns / ((double)g.block_warps * g.steps);
    const double of_address = (double)atomics_adds(&g) / g.copies / g.addresses;
    const bool global = !atomics_in_shared(&g);
    ub_metric_add(out, "adds_per_second", "1/s", (double)atomics_adds(&g) / facts->time_ns * 1e9);
    ub_metric_add(out, "address_ns", "ns", facts->time_ns / of_address);
    ub_metric_add(out, "instruction_cycles", "cycle", of_sm_ns * ub_fact_clock_mhz(facts) * 1e-3);
    ub_metric_add(out, "parts", "part", parts_of(facts, &g));
    ub_metric_add(out, "tries", "try", tries_of(facts, &g));
    ub_metric_add(out, "busiest_slice", "1",
                  ub_fact(facts, "l2_atomic_cycles_busiest") / ub_fact(facts, "l2_atomic_cycles"));
    ub_metric_add(out, "part_ns", "ns", global ? facts->time_ns / (double)cost.parts : NAN);
    ub_metric_add(out, "packet_ns", "ns", global ? facts->time_ns / (double)cost.packets : NAN);
    ub_metric_add(out, "turn_ns", "ns", facts->time_ns * ATOMICS_UNROLL / g.steps);
    ub_metric_add(out, "instruction_ns", "ns", of_sm_ns);
    ub_metric_add(out, "card_instruction_ns", "ns", facts->time_ns / (double)atomics_instructions(&g));
}

/* ---- chart and texts -------------------------------------------------------------------- */

static const struct ub_chart_text chart_texts[] = {
    {"global", "Atomics: adds to one address stand in a queue, and so do those to one slice of L2",
     "hot slice, then the card"},
    {"shared", "Atomics in shared memory: lanes take turns at a bank, also at the same word", "max(turns, 2) cycles"},
    {"lines", "Atomics: a warp's instruction is cut into sectors, once for each lane that shares an address", NULL},
    {"warps", "Atomics: few warps suffice where nobody waits for the old value", NULL},
    {"", "Atomics: throughput is what the busiest place can take", NULL},
};

const struct ub_micro ub_micro_atomics = {
    .name = "atomics",
    .rule = "Atomic adds are as fast as the place that takes most of them: an address, a slice of L2, a bank.",
    .text =
        {
            .law = "An atomic add is done where its address lives, in a slice of L2 or in the banks of an SM, one after the "
                   "other.\n"
                   "Global memory: L1 cuts an instruction of a warp into parts, one for each sector of 32 bytes, and once "
                   "more for each further lane that shares an address of it: 32 lanes at one address are 32 parts, 32 "
                   "lanes side by side are 4. A slice of L2 takes a part a cycle if it fills its sector, else one in 1.25; "
                   "of doubles, two addresses a cycle. A floating-point add waits for the one before it on its sector, 3 "
                   "cycles, an integer does not. Two neighbouring lines (256 bytes) share a slice. Hence the time is the "
                   "largest of\n"
                   "parts of the hottest sector x 3 cycles (floating-point); parts of the hottest slice x 1 to 2 cycles; and, "
                   "beyond 512 bytes of addresses, all parts x (part of the card + 2 / pairs of lines x part of a slice).\n"
                   "Shared memory: an instruction takes max(2, turns) cycles; a turn does one lane a bank, also where lanes "
                   "share a word. That is for 32-bit integers; everything else is a loop of compare-and-swap that the "
                   "compiler writes.",
            .breaks = "Which slice a line is in is a hash that is not told: between 512 bytes and a MiB of addresses the law, which "
                "gives the busiest slice two pairs of lines more than its share, is up to 30 % off, and further where "
                "addresses are pages apart (4 KiB apart 16 addresses have 16 slices: twice as fast). How often a loop of "
                "compare-and-swap tries depends on who comes in between; only its ends are in the law. Few warps may wait "
                "for their own adds. Times are in ns since L2 has a clock of its own (an H200's 1.70 GHz, while its SMs ran "
                "at 1.98): with another SM clock the cycles change, the ns do not. Sums that do not fit in L2 are not in "
                "the sweeps. Other cards: the rates are an H200's, by clock and number of SMs.",
            .consequence = "TODO",
            .folk = "TODO",
            .sources = "CUDA C++ Programming Guide, \"Atomic Functions\"; PTX ISA, atom and red\n"
                       "CUDA C++ Best Practices Guide, \"Shared Memory\": banks\n"
                       "NVIDIA, CUDA Pro Tip: Optimized Filtering with Warp-Aggregated Atomics (2014)\n"
                       "Jia et al. 2018 and 2019 (arXiv:1804.06826, 1903.07486): latency of atomics, with contention\n"
                       "Chips and Cheese: 512 global and 32 shared adds a cycle on a B200, 16 shared on an RTX PRO 6000\n"
                       "Measured for the rates, the two pairs of lines and the figures above: an H200, driver 580, CUDA 13.0, "
                       "by these kernels",
        },
    .axis_count = ATOMICS_AXES,
    .axes = axes,
    .sweep_count = COUNT(sweeps),
    .sweeps = sweeps,
    .counter_count = COUNT(counters),
    .counters = counters,
    .need_count = COUNT(needs),
    .needs = needs,
    .provide_count = COUNT(provides),
    .provides = provides,
    .metric_count = COUNT(metric_keys),
    .metric_keys = metric_keys,
    .chart =
        {
            .kind = "sweep",
            .metric = "adds_per_second",
            .metric_label = "atomic adds  [10^9/s]",
            .metric_scale = 1e-9,
            .panel_metric = "parts",
            .panel_label = "parts / instruction",
            .panel_counter = "counter: sectors, or turns of shared memory, of an instruction",
            .text_count = COUNT(chart_texts),
            .texts = chart_texts,
        },
    .timer = ub_timer_event,
    .supported = supported,
    .footprint = footprint,
    .law = atomics_law,
    .metrics = metrics,
    .small = atomics_small,
    .verify = atomics_verify,
};
