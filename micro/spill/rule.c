/* SPDX-License-Identifier: MIT
 *
 * The rule `spill` as data: axes, sweeps, counters, metrics, chart and texts. */
#include "micro/spill/rule.h"

#include <math.h>

#include "harness/contract/record.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const caps[] = {"32", "40",  "48",  "56",  "64",  "72",  "80", "88",
                                   "96", "100", "103", "104", "112", "128", NULL}; /* geometry.c has the numbers */
static const char *const uses[] = {"changed", "read", NULL};                       /* enum spill_use */

static const struct ub_axis axes[SPILL_AXES] = {
    [SPILL_CAP] = {.name = "cap",
                   .unit = "register",
                   .help = "registers of a thread at most (__maxnreg__)",
                   .kind = UB_AXIS_WORD,
                   .words = caps,
                   .initial = "64"},
    [SPILL_USE] = {.name = "use",
                   .unit = "",
                   .help = "changed: each trip changes all 96 values; read: it only adds them up",
                   .kind = UB_AXIS_WORD,
                   .words = uses,
                   .initial = "changed"},
    [SPILL_WARPS] = {.name = "warps",
                     .unit = "warp",
                     .help = "of an SM, all SMs alike; above 32 in two blocks",
                     .kind = UB_AXIS_INTEGER,
                     .minimum = 1,
                     .maximum = 64,
                     .initial = "16"},
    [SPILL_TRIPS] = {.name = "trips",
                     .unit = "trip",
                     .help = "of the launch that is counted, each using every value once; a time is of one",
                     .kind = UB_AXIS_INTEGER,
                     .minimum = 1,
                     .maximum = SPILL_TRIPS_MAX,
                     .initial = "16"},
};

enum { USUAL = UB_SUITE_DEFAULT | UB_SUITE_FULL };

static const struct ub_sweep sweeps[] = {
    {"cap", USUAL, "cap=all use=all", "registers taken away step by step, 16 warps an SM"},
    {"cap_quick", UB_SUITE_QUICK, "cap=32,64,88,96,104,128 use=changed", "the same in larger steps"},
    {"warps", USUAL, "cap=32 use=all warps=8..64:8", "how many bytes of spills an SM has, and where they fit"},
    {"warps64", USUAL, "cap=64 use=all warps=8..32:4", "the same where the bytes of all warps nearly fit into L1"},
    {"trips", USUAL, "cap=32,64,96 use=all trips=1,64", "what a trip costs, as a slope of the counters"},
    {"few", UB_SUITE_FULL, "cap=32,96 use=all warps=1..7:2", "warps that wait for their own reloads"},
    {"all", UB_SUITE_FULL, "cap=all use=all warps=8..64:8", "every cap with every number of warps that fits"},
};

static const char *const counters[] = {
    "ffma",
    "warps_launched",
    "local_loads",
    "local_stores",
    "local_load_sectors",
    "local_store_sectors",
    "l1_local_load_hits",
    "l2_write_sectors",
};

static const char *const needs[] = {"clock_mhz", "l2_load_ceiling", "dram_copy_ceiling"};

static const char *const metric_keys[] = {
    "cycles_per_trip",       "peak_share",  "local_instructions", "local_loads_per_trip",
    "local_stores_per_trip", "local_bytes", "l1_hit_rate",        "spilled_bytes",
};

/* ---- functions ---------------------------------------------------------------- */

static const char *supported(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct spill_geometry g;
    return spill_resolve(gpu, point, &g);
}

static void footprint(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_footprint *out)
{
    struct spill_geometry g;
    *out = (struct ub_footprint){0};
    if (spill_resolve(gpu, point, &g) != NULL)
        return;
    out->buffers[out->count++] =
        (struct ub_buffer_spec){"out", UB_DEVICE_MEMORY, UB_FILL_POISON, true, spill_out_bytes(&g)};
    out->buffers[out->count++] =
        (struct ub_buffer_spec){"zeroes", UB_DEVICE_MEMORY, UB_FILL_ZERO, false, spill_zeroes_bytes(&g)};
}

/* Bytes of local memory a thread: as the driver says of the kernel, or as the law does. */
static double local_bytes(const struct ub_facts *facts, const struct spill_code *code)
{
    if (facts->predicted && code != NULL)
        return code->local_bytes;
    if (!facts->predicted && facts->attributes != NULL && facts->attributes->local_bytes >= 0)
        return facts->attributes->local_bytes;
    return NAN;
}

static void metrics(const struct ub_facts *facts, struct ub_metrics *out)
{
    struct spill_geometry g;
    out->count = 0;
    if (spill_resolve(facts->gpu, facts->point, &g) != NULL)
        return;
    const double cycles_per_ns = ub_constant_value(facts->constants, "clock_mhz") * 1e-3;
    const double cycles = facts->time_ns * cycles_per_ns;
    const double warp_trips = (double)g.warps_of_grid * g.trips;
    const double loads = ub_fact(facts, "local_loads") / warp_trips,
                 stores = ub_fact(facts, "local_stores") / warp_trips;
    const double bytes = local_bytes(facts, spill_code(facts->gpu, &g));
    ub_metric_add(out, "cycles_per_trip", "cycle", cycles / g.warps);
    ub_metric_add(out, "peak_share", "1", (double)g.warps * 32 * SPILL_VALUES / facts->gpu->fp32_lanes_per_sm / cycles);
    ub_metric_add(out, "local_instructions", "instruction", loads + stores);
    ub_metric_add(out, "local_loads_per_trip", "instruction", loads);
    ub_metric_add(out, "local_stores_per_trip", "instruction", stores);
    ub_metric_add(out, "local_bytes", "B", bytes);
    ub_metric_add(out, "l1_hit_rate", "1", ub_fact(facts, "l1_local_load_hits") / ub_fact(facts, "local_load_sectors"));
    ub_metric_add(out, "spilled_bytes", "B", bytes * g.warps * SPILL_LANES);
}

/* ---- chart and texts ------------------------------------------------------------ */

static const struct ub_chart_text chart_texts[] = {
    {"cap", "Spills: what has no register is stored, and every store goes to L2", "as in the machine code"},
    {"warps", "Spills: from L1 to L2 to DRAM, the more warps there are", "as in the machine code"},
    {"use", "Spills: what a spilled value costs depends on whether it changes", "as in the machine code"},
    {"trips", "Spills: what is put aside once, outside of the loop, is shared by its trips", NULL},
    {"", "Spills: registers that are missing become memory traffic", NULL},
};

const struct ub_micro ub_micro_spill = {
    .name = "spill",
    .rule = "Values for which there is no register live in local memory: each use of one is a load through L1, each "
            "change a store that L1 writes through to L2.",
    .text =
        {
            .law =
                "A value that is used again needs a register. With fewer registers than values (__maxnreg__, "
                "__launch_bounds__, -maxrregcount) the compiler puts some aside in local memory: a store where the "
                "value changes, a load where it is used, each a line of 128 bytes for a warp. This loop works on 96 "
                "values and takes 104 registers: with 103 and more local instructions are 0, and at 96, 88, 80, 64 "
                "and 32 registers 8, 24, 37, 53 and 85 loads and as many stores a trip, by the machine code. With "
                "use=read it takes 122 and spills below 112: at 104, 96, 88, 64 and 32 registers 6, 22, 36, 60 and 92 "
                "loads and 3, 11, 17, 17 and 17 stores. \"Local instructions a trip\" is all of a launch divided by "
                "its trips, so that what is spilled once outside of the loop counts: 57.4 loads at 64 registers and "
                "16 trips, of which 53 are in the loop. L1 keeps lines for the loads while warps x bytes fit (208 "
                "KiB, fitted to its hits; see carveout for what L1 has); it writes every store through: sectors "
                "written to L2 = sectors stored. Time of a trip: 4-norm of instructions, L1 (1.09 cycles a load, "
                "twice that a store), the SM's way to L2 (4 cycles a store), what L2 takes of all SMs (8 cycles a "
                "store of each), what it gives where L1 missed, DRAM, and a warp's own wait. 14 constants of the time "
                "and 4 of the hits in L1 were fitted to earlier runs of the same points; what is tested is that they "
                "still hold: times within 25 % (outside at one point: use=read, 40 registers, 40 warps, 25.03 % "
                "less), hits within 35 % (outside at five points, of 40 and 48 registers with 40 and 48 warps: up to "
                "1.9 times as many).",
            .breaks =
                "What is spilled is the compiler's decision: the numbers are those of nvcc 13.0 for sm_90, and "
                "another machine code, known by its registers and frame, is not predicted. With values that change it "
                "takes up to 13 values more than registers are missing, because what is loaded ahead of its use needs "
                "registers as well. Spills outside of loops cost nothing (100 registers: 7 loads and 7 stores of 8 "
                "bytes a thread, once). What is quickly computed again is not spilled, hence values that change here, "
                "or come from memory. Below 8 warps an SM the stores of all SMs meet in the same parts of L2 as "
                "chance has it. Arrays with indices that are not known at compile time live in local memory whatever "
                "the registers.",
            .consequence =
                "On an H200, 16 warps an SM, a trip of a warp took 27 SM cycles with 104 registers, 81 with 96 (8 "
                "values spilled) and 435 with 64 (53 values). Capping it at 64 so that 32 warps fit instead of 16 "
                "made the same work 15.5 times as long: 418 cycles. Values that are only read cost less where many "
                "are spilled: 189 at 64 registers, 164 at 88 (changed: 435, 224). That loop needs more registers, "
                "however, so that from 96 on it is the slower one: 136 at 96, 74 at 100, 36 at 104 (changed: 81, 27, "
                "27). Look for \"spill\" in nvcc -Xptxas -v, and for STL in loops before all else; lower a cap in "
                "steps of 8; put what does not fit into shared memory, where a store stays in the SM.",
            .folk =
                "\"L1 catches spills, so they are cheap\": it catches loads. 99.5 % of them hit at 64 registers, and "
                "the loop was 16.2 times as slow, for its stores.\n"
                "\"Local memory is slow because it is DRAM\": only when the warps of all SMs have more of it than L2 "
                "holds; what costs before that is the way to L2.\n"
                "\"More occupancy by fewer registers is faster\": it is if nothing in the loop is spilled. This loop "
                "does 89 % of the peak with 16 warps.\n"
                "\"Each register less gives more warps\": registers are given away 8 a thread at a time; 103 are as "
                "many as 104.",
            .sources =
                "CUDA C++ Programming Guide, device memory accesses, \"Local memory\"; __maxnreg__\n"
                "CUDA C++ Best Practices Guide, \"Register pressure\"\n"
                "Chips and Cheese, H100: 208 KiB of L1 with nothing in shared memory\n"
                "Machine code of nvcc 13.0, sm_90 and sm_90a, kept by tests/sass/spill_test.sh\n"
                "Measured for the constants, which are fits: an H200, driver 580, CUDA 13.0, 140 times with these "
                "kernels in two earlier runs; single SMs with the same loop alone",
        },
    .axis_count = SPILL_AXES,
    .axes = axes,
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
            .metric = "cycles_per_trip",
            .metric_label = "SM cycles / trip of a warp",
            .metric_scale = 1,
            .panel_metric = "local_instructions",
            .panel_label = "local instr. / trip",
            .panel_counter = "counter: local loads and stores",
            .text_count = COUNT(chart_texts),
            .texts = chart_texts,
        },
    .timer = ub_timer_sm_clock,
    .supported = supported,
    .footprint = footprint,
    .law = spill_law,
    .metrics = metrics,
    .small = spill_small,
    .verify = spill_verify,
};
