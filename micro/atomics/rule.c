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
    {"global", USUAL, "space=global result=all addresses=1,4,8,32,256,1024,4096,16384,65536,1048576",
     "how many addresses integer adds in global memory need"},
    {"few", USUAL, "space=global addresses=2,9,12,16,24",
     "nine addresses, in two sectors, are slower than eight in one"},
    {"float", USUAL, "space=global type=float addresses=1,8,16,32,1024,1048576", "the same of floats"},
    {"double", USUAL, "space=global type=double addresses=1,4,32,4096,1048576", "the same of doubles"},
    {"wide", USUAL, "space=global type=long addresses=1,32,1048576", "the same of 64-bit integers"},
    {"half2", USUAL, "space=global type=half2 addresses=1048576", "pairs of halves"},
    {"lines", USUAL, "space=global addresses=32768 lanes=1,2,8,32 apart=packed,32,128",
     "what a warp's instruction costs: addresses that lanes share, sectors and lines"},
    {"shared", USUAL, "space=shared addresses=1,2,4,8,12,32,1024",
     "integer adds in shared memory: lanes that share a bank take turns"},
    {"shared_used", USUAL, "space=shared result=used addresses=1,32", "the same where the old value is used"},
    {"loop", USUAL, "space=shared type=float addresses=1,4,32,128,1024",
     "floating-point adds in shared memory: the compiler's loop of compare-and-swap"},
    {"loop_wide", USUAL, "space=shared type=long,double addresses=1,1024", "the same of 64 bits"},
    {"one", USUAL, "space=shared way=one addresses=1,32 apart=packed,128",
     "the constant 1 in shared memory: another instruction"},
    {"compiler", USUAL, "space=global way=compiler addresses=1,33,132",
     "an address that the compiler knows to be the block's: it adds up the warp"},
    {"compiler_shared", USUAL, "space=shared way=compiler addresses=1", "the same in shared memory"},
    {"cas", USUAL, "space=global way=cas addresses=1024,16384,1048576", "a loop of compare-and-swap"},
    {"private", USUAL, "space=global way=plain,private addresses=1,32,1024,16384",
     "each block in shared memory first, against all in global memory"},
    {"private_float", USUAL, "space=global way=private type=float addresses=1,32", "the same of floats"},
    {"warps", USUAL, "space=global result=all addresses=1048576 warps=1,2,4,8,32", "how many warps it takes"},
    {"every", UB_SUITE_FULL,
     "space=global type=int,long,float,double result=all "
     "addresses=1,2,4,8,16,32,64,128,256,512,1024,2048,4096,8192,16384,32768,65536,131072,262144,524288,1048576,"
     "2097152",
     "all types, addresses doubling"},
    {"every_line", UB_SUITE_FULL, "space=global addresses=32768 lanes=1,2,4,8,16,32 apart=packed,8,16,32,64,128,256",
     "all distances"},
    {"every_bank", UB_SUITE_FULL, "space=shared result=all addresses=1..32",
     "all numbers of addresses up to the banks"},
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
    {"global", "Atomics: adds queue at one address, and at one slice of L2", "the busiest slice"},
    {"shared", "Atomics in shared memory: lanes take turns at a bank, also at the same word", "max(turns, 2) cycles"},
    {"lines", "Atomics: what counts is sectors, and lanes that share an address", NULL},
    {"private", "Atomics: a copy for each block in shared memory ends the queue", NULL},
    {"loop", "Atomics in shared memory: a loop adds floats, try after try", NULL},
    {"warps", "Atomics: few warps suffice where nobody waits for the old value", NULL},
    {"", "Atomics: throughput is what the busiest place can take", NULL},
};

const struct ub_micro ub_micro_atomics = {
    .name = "atomics",
    .rule = "Atomic adds are as fast as the place that takes most of them: an address, a slice of L2, a bank.",
    .text =
        {
            .law = "An atomic add is done where its address lives, in a slice of L2 or in a bank of an SM, one "
                   "after the other.\n"
                   "Global memory: L1 cuts an instruction of a warp into packets, one for each line of 128 bytes, and "
                   "once more for each further lane that shares an address of it. Each sector of 32 bytes in a packet "
                   "is a part: 32 lanes at one address are 32 parts, 32 lanes side by side are 4. A slice of L2 takes "
                   "a part a cycle if it fills its sector, else one in 1.25; of doubles two addresses a cycle. A "
                   "floating-point add waits for the one before it on its sector, 3 cycles; an integer does not. Two "
                   "neighbouring lines (256 bytes) share a slice. The time is the largest of\n"
                   "parts of the hottest sector x 3 cycles (floating-point numbers); parts of the busiest slice x 1 "
                   "to 2 cycles; what all packets take of the whole card x (1 + 169 / pairs of lines), since the "
                   "busiest of 94 slices has 1/94 + 1.8/pairs of all; where the old value is used, 0.0148 ns a part x "
                   "(1 + 103 / pairs), the way back.\n"
                   "Shared memory: an instruction takes max(2, turns) cycles; a turn does one lane a bank, also where "
                   "lanes share a word. That is for 32-bit integers. Everything else is a loop of compare-and-swap "
                   "that the compiler writes: where all threads add to one address it takes an add every 22 ns (64 "
                   "bits: 32 to 33).",
            .breaks = "Which slice a line is in is a hash that is not told. The formula for the busiest one is "
                      "within 26 % of its counter, times between 512 bytes and a MiB of addresses therefore up to 36 "
                      "% off; addresses that are pages apart do better (16 of them, 4 KiB apart, have 16 slices). How "
                      "often a loop of compare-and-swap tries depends on who comes in between; in global memory its "
                      "time is not in the law. Times are in ns, since L2 has a clock of its own (an H200's 1.70 GHz "
                      "while its SMs ran at 1.98): with another SM clock cycles of an SM change and ns do not. The "
                      "compiler adds up a warp only where it sees that the address is the same: a division of 64 bits "
                      "on the way, a call, is enough to hide it. Sums that do not fit in L2 are in no sweep. Other "
                      "cards: the rates and slices are an H200's, scaled by clock and number of SMs.",
            .consequence =
                "Measured on an H200. One counter for all threads takes 1.36 x 10^9 integer adds a second (0.73 ns "
                "each) and 0.57 x 10^9 of floats; a MiB of sums or more 920 to 940 x 10^9, 680 times as many.\n"
                "Add up the warp first: 32 times as fast at one address (44 x 10^9). nvcc does it (REDUX) for 32-bit "
                "integers where it sees that the address is the same for the warp; otherwise write it, with "
                "__reduce_add_sync(), or shuffles for floats.\n"
                "Keep a copy for each block in shared memory and add it at last: of integers 190 times as fast for "
                "one sum, 320 for 32, 47 for 1024, 5.5 for 16384 (3.6 to 4.2 x 10^12 a second from 32 sums on). Of "
                "floats only 10.5 times for one sum and 14.5 for 32, since shared memory adds them in a loop.\n"
                "Do not use the old value where you need not: spread, 534 against 927 x 10^9; without it two warps an "
                "SM reach 776 x 10^9, with it 111.\n"
                "Lay sums that a warp adds to side by side: 32 lanes in one line are four parts, in 32 lines 32, 6 "
                "times the time. Eight counters in one sector are twice as fast as nine in two.",
            .folk = "\"Atomics are slow\": at one address. Spread, an H200 adds 930 x 10^9 numbers of 32 bits a "
                    "second, 470 a cycle of its SMs.\n"
                    "\"The hardware combines the lanes that add to one address\": it does not, 32 lanes are 32 parts "
                    "(the counter says so). The compiler combines them where it knows the address, and only integers "
                    "of 32 bits; ATOMS.POPC.INC, which shared memory has for the constant 1, is the one exception.\n"
                    "\"Lanes that use the same word have no bank conflict\": loads have none. Adds take a turn each, "
                    "32 cycles.\n"
                    "\"Atomics in shared memory are faster than in global memory\": integers are. A float at one "
                    "address takes 22 ns there and 1.76 ns in L2; only that each SM has its own copy makes up for "
                    "it.\n"
                    "\"atomicAdd() is one instruction\": of floats, doubles and 64-bit integers in shared memory it "
                    "is a loop. On two halves in global memory it is an ATOM beside such a loop, since nvcc takes the "
                    "address for a generic one; red.global.add.noftz.f16x2 is one instruction.\n"
                    "\"Give every counter a line of its own\": two lines side by side still share a slice, and a warp "
                    "that adds to many of them sends a packet for each.",
            .sources = "CUDA C++ Programming Guide, \"Atomic Functions\"; PTX ISA, atom and red\n"
                       "CUDA C++ Best Practices Guide, \"Shared Memory\": banks\n"
                       "NVIDIA, CUDA Pro Tip: Optimized Filtering with Warp-Aggregated Atomics (2014)\n"
                       "Jia et al. 2018 and 2019 (arXiv:1804.06826, 1903.07486): latency of atomics, with contention\n"
                       "Chips and Cheese: just short of 512 global adds a cycle on a B200 (here an H200: 470); in "
                       "shared memory an SM of a B200 does 32 a cycle, one of an RTX PRO 6000 16 (of an H200 here 16 "
                       "to 17: an instruction of 32 lanes every 1.88 to 2 cycles)\n"
                       "Measured for the rates, the slices and the figures above: an H200, driver 580, CUDA 13.0, by "
                       "these kernels",
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
