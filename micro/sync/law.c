/* SPDX-License-Identifier: MIT
 *
 * The law of `sync`: what a wait takes at each level, and what counters see of it. w: warps of a
 * block. Where nothing else is said, numbers are an H200's.
 *
 * Block. The barrier unit of an SM takes the arrival of a warp every two cycles; the last of w
 * arrives 2 (w - 1) cycles after the first. With what one warp alone takes, 14 cycles, that is
 * 12 + 2 w. An A100 takes 21 + 2 w: 23, 25, 29, 37, 53, 85 cycles for 1, 2, 4, ... 32 warps
 * (Burtchell and Burtscher, IISWC 2024), exactly so. The blocks of an SM share the unit: with r
 * of them none has its turn sooner than after 2 w r. They are timed together, until the last has
 * ended (kernel.cu), and with the counter and the jump of the loop.
 *
 * Named. Number and threads stand in registers, and ptxas puts them together anew for each
 * barrier: SHF, SHF, LOP3, of which each waits for the one before, 4 cycles each (measured: 13
 * in all). g groups of w / g warps share the unit as blocks do: 2 w, and 1.7 g + 2 more, of
 * which the reason is not known: a fit to g = 2 ... 16 with 32 warps. It foresaw g = 4 and 8 with
 * 16 warps within 1.2 %; with 8 warps, where latency and arrivals are alike, it is 8 and 13 % low.
 *
 * Warp. __syncwarp() of a warp that the compiler knows to be together is a NOP: an issue slot.
 * A shuffle answers after 26 cycles, LOP3 and VOTE after 17, and the unit of either takes one
 * warp a cycle: so does that of LOP3 and VOTE together (16 lanes a scheduler, two
 * instructions). Eight warps of a scheduler, each at another NOP of the loops, took 10.7 cycles
 * instead of 8, and 7.9 where the loops had half as many: that they wait for instructions is
 * presumed, not seen.
 *
 * Cluster. Its barrier is one of a block and a way to where the blocks meet: 56 cycles and 4 for
 * each doubling up to 8 blocks, a fit. An arrival releases what was written before: a fence of
 * the device, which takes one trip to L2 even if nothing is under way. Warps that fence together
 * wait for each other: 2 cycles each, 8.5 each from nine on (a fit, w = 1 ... 32).
 *
 * Grid. A thread of each block fences (one trip), adds 1 to a word in L2 (one trip), and reads
 * it until all have come (one trip). Where more than a few blocks take part, that comes too
 * early for some, and all wait for another trip. A trip goes to the far half of L2, where there
 * are two. Two block barriers come on top. Slower than that is the word itself once so many ask
 * for it: 2.1 ns for each block (fitted to 792 and 1056 blocks; 2112 and 4224, of 32 threads,
 * take 2.3 and 2.15).
 *
 * Fences. After a store, a fence of the device waits for its answer from L2, from one half or
 * the other. One of the block (15 cycles) and one of the system (1030) were measured only.
 *
 * Host. Launching and waiting takes what the driver and the bus take: measured by this rule
 * itself, at one launch and at 256 (graph: at one). In between the law is fixed + launches x
 * each; for the nodes of a graph `each` is the harness's own launch_floor_ns. A host is not
 * steady: one point differed by 11 % between its two measurements within a run, and so do the
 * constants from what they predict. */
#include <math.h>

#include "harness/contract/record.h"
#include "harness/model/gpu.h"
#include "harness/model/time.h"
#include "micro/sync/rule.h"

enum { LOOPED = 3 /* of both loops together: twice as many and once */ };

/* ---- counters ------------------------------------------------------------------- */

/* What is executed beside the barriers themselves in a launch of one iteration: by each warp, by
 * the one warp of each block, or group, that writes down the time, by the launch. */
struct share {
    uint32_t warp, speaker, launch;
};

/* The machine code of CUDA 13.0 for sm_90a. `adu`: the unit that has the barriers of a block;
 * those themselves come on top. */
static const struct machine_code {
    struct share instructions, adu;
    int registers;
} codes[SYNC_OPS] = {
    [SYNC_OP_BLOCK] = {{236, 10, 0}, {6, 1, 0}, 17},
    [SYNC_OP_NAMED] = {{839, 10, 0}, {9, 1, 0}, 21},
    [SYNC_OP_WARP] = {{140, 10, 0}, {7, 1, 0}, 17},
    [SYNC_OP_SHUFFLE] = {{99, 10, 0}, {7, 1, 0}, 21},
    [SYNC_OP_VOTE] = {{149, 10, 0}, {7, 1, 0}, 16},
    [SYNC_OP_CLUSTER] = {{280, 10, 0}, {56, 1, 0}, 16},
    [SYNC_OP_CLUSTER_RELAXED] = {{208, 10, 0}, {32, 1, 0}, 16},
    [SYNC_OP_GRID] = {{0, 0, 0}, {33, 13, 0}, 24},
    [SYNC_OP_FENCE_BLOCK] = {{0, 0, 177}, {0, 0, 13}, 20},
    [SYNC_OP_FENCE_DEVICE] = {{0, 0, 243}, {0, 0, 34}, 18},
    [SYNC_OP_FENCE_SYSTEM] = {{0, 0, 243}, {0, 0, 34}, 18},
    [SYNC_OP_STREAM] = {{7, 0, 0}, {1, 0, 0}, 12},
    [SYNC_OP_DEVICE] = {{7, 0, 0}, {1, 0, 0}, 12},
    [SYNC_OP_EVENT_SPIN] = {{7, 0, 0}, {1, 0, 0}, 12},
    [SYNC_OP_EVENT_BLOCK] = {{7, 0, 0}, {1, 0, 0}, 12},
    [SYNC_OP_LAUNCH] = {{7, 0, 0}, {1, 0, 0}, 12},
    [SYNC_OP_GRAPH] = {{7, 0, 0}, {1, 0, 0}, 12},
};

/* More of the speaker's, where all of the time counts: it is divided by three. */
enum { DIVIDING = 15 };

/* One before the loops, which only those have that need no other. */
uint64_t sync_barriers(const struct sync_geometry *g)
{
    const uint64_t looped = LOOPED * (uint64_t)g->operations;
    if (sync_is_barrier_unit(g))
        return looped + 1;
    return sync_is_cluster(g) || g->op == SYNC_OP_GRID ? looped : 0;
}

static uint64_t executed(const struct sync_geometry *g, const struct share *share, uint32_t dividing)
{
    const uint64_t speakers = (uint64_t)g->blocks * g->groups, warps = (uint64_t)g->blocks * sync_warps(g);
    return share->launch + warps * share->warp + speakers * (share->speaker + (sync_is_crowded(g) ? dividing : 0));
}

static void add_instructions(struct ub_law *law, const struct sync_geometry *g)
{
    const struct machine_code *code = &codes[g->op];
    const uint64_t warps = (uint64_t)g->blocks * sync_warps(g);
    const uint64_t barriers = sync_is_barrier_unit(g) ? warps * sync_barriers(g) : 0;
    if (g->left_out)
        ub_law_unknown(law, "warp_instructions", UB_SASS, "what is wrong is not counted");
    else if (g->op == SYNC_OP_GRID)
        ub_law_unknown(law, "warp_instructions", UB_SASS, "a block looks again and again whether all have come");
    else if (g->op == SYNC_OP_GRAPH)
        ub_law_unknown(law, "warp_instructions", UB_SASS, "kernels of a graph made before are not instrumented");
    else
        ub_law_exact(law, "warp_instructions", UB_SASS, executed(g, &code->instructions, DIVIDING));
    if (g->left_out)
        ub_law_unknown(law, "adu_instructions", UB_SASS, "what is wrong is not counted");
    else
        ub_law_exact(law, "adu_instructions", UB_SASS, executed(g, &code->adu, 0) + barriers);
    law->has_code = true;
    law->code_registers = code->registers;
    law->code_local_bytes = 0;
}

/* ---- waits ------------------------------------------------------------------------ */

/* What one operation takes. */
struct wait {
    struct part {
        const char *term;
        double ns;
    } parts[4];       /* a term of NULL ends */
    bool largest;     /* of the parts, not their sum */
    double tolerance; /* on the card that the law was checked on; 0: not tested */
    const char *level, *note;
};

static double constant_of(const struct ub_constants *constants, const char *name)
{
    return ub_constant_value(constants, name);
}

static double cycles_ns(const struct ub_constants *constants, double cycles)
{
    return cycles * 1e3 / constant_of(constants, "clock_mhz");
}

/* Cycles between two arrivals. */
static const double arrival_cycles = 2;

static double block_cycles(const struct ub_constants *constants, uint32_t warps)
{
    return constant_of(constants, "block_barrier_cycles") + arrival_cycles * (warps - 1);
}

static struct wait block_wait(const struct ub_constants *constants, const struct sync_geometry *g)
{
    const double all = arrival_cycles * sync_warps(g) * g->resident;
    return (struct wait){.parts = {{"latency", cycles_ns(constants, block_cycles(constants, sync_warps(g)))},
                                   {"arrivals", cycles_ns(constants, all)}},
                         .largest = true,
                         .tolerance = sync_is_crowded(g) ? 0.08 : 0.01};
}

static struct wait named_wait(const struct ub_constants *constants, const struct sync_geometry *g)
{
    const double register_cycles = 3 * 4, group_cycles = 1.7, loop_cycles = 2;
    const double alone = block_cycles(constants, sync_warps(g) / g->groups) + register_cycles;
    const double more = g->groups > 1 ? group_cycles * g->groups + loop_cycles : 0;
    return (struct wait){.parts = {{"latency", cycles_ns(constants, alone)},
                                   {"arrivals", cycles_ns(constants, arrival_cycles * sync_warps(g) + more)}},
                         .largest = true,
                         .tolerance = sync_is_crowded(g) ? 0.15 : 0.05};
}

static struct wait warp_wait(const struct ub_constants *constants, const struct sync_geometry *g)
{
    enum { warps_in_step = 16 };
    static const struct {
        const char *term;
        double alone, warps_a_cycle, tolerance, tolerance_full;
    } rows[] = {
        [SYNC_OP_WARP] = {"issue", 1, 4, 0.10, 0.15},
        [SYNC_OP_SHUFFLE] = {"shuffle", 26, 1, 0.03, 0.06},
        [SYNC_OP_VOTE] = {"vote", 17, 1, 0.03, 0.16},
    };
    const double together = sync_warps(g) / rows[g->op].warps_a_cycle;
    const double alone = rows[g->op].alone;
    struct wait wait = {
        .parts = {{rows[g->op].term, cycles_ns(constants, alone)}, {"unit", cycles_ns(constants, together)}},
        .largest = true,
        .tolerance = together > alone ? rows[g->op].tolerance_full : rows[g->op].tolerance};
    if (g->op == SYNC_OP_WARP && sync_warps(g) > warps_in_step) {
        wait.tolerance = 0;
        wait.note = "so many warps are not at one place of the loop and presumably wait for instructions: the time is "
                    "not tested";
    }
    return wait;
}

static struct wait cluster_wait(const struct ub_constants *constants, const struct sync_geometry *g)
{
    const double way_cycles = 56, doubling_cycles = 4, most = 8, few = 2, many = 8.5, many_less = 60;
    const double warps = sync_warps(g);
    const double way = way_cycles + doubling_cycles * log2(fmin(g->cluster, most));
    const double together = fmax(few * (warps - 1), many * warps - many_less);
    struct wait wait = {.parts = {{"arrivals", cycles_ns(constants, block_cycles(constants, sync_warps(g)))},
                                  {"cluster", cycles_ns(constants, way)}},
                        .tolerance = 0.13};
    if (g->op == SYNC_OP_CLUSTER) {
        wait.parts[2] = (struct part){"fence", constant_of(constants, "l2_latency_ns")};
        wait.parts[3] = (struct part){"fences", cycles_ns(constants, together)};
        wait.level = "l2";
    }
    return wait;
}

/* To the far half of L2 and back, where there are two. */
static double trip_ns(const struct ub_gpu *gpu, const struct ub_constants *constants)
{
    return constant_of(constants, "l2_latency_ns") +
           (ub_gpu_has_l2_halves(gpu) ? constant_of(constants, "l2_crossing_ns") : 0);
}

static struct wait grid_wait(const struct ub_gpu *gpu, const struct ub_constants *constants,
                             const struct sync_geometry *g)
{
    enum { FEW = 8, MORE = 12 };
    static const double word_ns = 2.1, bend_from = 0.7, bend_to = 1.3;
    const double trips = (g->blocks <= FEW ? 3 : 4) * trip_ns(gpu, constants);
    const double barriers = cycles_ns(constants, 2 * block_cycles(constants, sync_warps(g)));
    const double word = word_ns * g->blocks;
    struct wait wait = {.level = "l2"};
    if (word > trips + barriers) {
        wait.parts[0] = (struct part){"word", word};
        wait.tolerance = 0.12;
    } else {
        wait.parts[0] = (struct part){"trips", trips};
        wait.parts[1] = (struct part){"barriers", barriers};
        wait.tolerance = 0.15;
    }
    if (word > bend_from * (trips + barriers) && word < bend_to * (trips + barriers)) {
        wait.tolerance = 0;
        wait.note = "between waiting for trips and waiting for the word: the time is not tested";
    }
    if (g->blocks > FEW && g->blocks < MORE) {
        wait.tolerance = 0;
        wait.note = "whether the first look comes too early is not known for so many blocks: the time is not tested";
    }
    return wait;
}

static struct wait fence_wait(const struct ub_gpu *gpu, const struct ub_constants *constants,
                              const struct sync_geometry *g)
{
    const double block_fence_cycles = 14.9, system_fence_cycles = 1030;
    const double near = constant_of(constants, "l2_latency_ns"), far = trip_ns(gpu, constants);
    switch ((enum sync_op)g->op) {
    case SYNC_OP_FENCE_BLOCK:
        return (struct wait){.parts = {{"fence", cycles_ns(constants, block_fence_cycles)}}, .tolerance = 0.05};
    case SYNC_OP_FENCE_DEVICE:
        return (struct wait){.parts = {{"fence", (near + far) / 2}}, .tolerance = 0.26, .level = "l2"};
    default:
        return (struct wait){.parts = {{"fence", cycles_ns(constants, system_fence_cycles)}}, .tolerance = 0.10};
    }
}

/* Of all launches; the terms are of one. */
static struct wait host_wait(const struct ub_constants *constants, const struct sync_geometry *g)
{
    const double first = constant_of(constants, "host_wait_ns"), many = constant_of(constants, "host_launches_ns");
    const double more = (g->launches - 1.0) / g->launches;
    switch ((enum sync_op)g->op) {
    case SYNC_OP_LAUNCH:
        return (struct wait){
            .parts = {{"wait", first / g->launches}, {"launches", more * (many - first) / (SYNC_LAUNCHES_MANY - 1)}},

            .tolerance = 0.20};
    case SYNC_OP_GRAPH:
        return (struct wait){.parts = {{"wait", constant_of(constants, "graph_wait_ns") / g->launches},
                                       {"nodes", more * constant_of(constants, "launch_floor_ns")}},
                             .tolerance = 0.20};
    case SYNC_OP_EVENT_BLOCK:
        return (struct wait){.parts = {{"wait", first}},
                             .note = "how soon the operating system wakes a thread is not known: at least the wait "
                                     "without sleep; the time is not tested"};
    default:
        return (struct wait){.parts = {{"wait", first}}, .tolerance = 0.30};
    }
}

static struct wait wait_of(const struct ub_gpu *gpu, const struct ub_constants *constants,
                           const struct sync_geometry *g)
{
    switch ((enum sync_op)g->op) {
    case SYNC_OP_BLOCK:
        return block_wait(constants, g);
    case SYNC_OP_NAMED:
        return named_wait(constants, g);
    case SYNC_OP_WARP:
    case SYNC_OP_SHUFFLE:
    case SYNC_OP_VOTE:
        return warp_wait(constants, g);
    case SYNC_OP_CLUSTER:
    case SYNC_OP_CLUSTER_RELAXED:
        return cluster_wait(constants, g);
    case SYNC_OP_GRID:
        return grid_wait(gpu, constants, g);
    case SYNC_OP_FENCE_BLOCK:
    case SYNC_OP_FENCE_DEVICE:
    case SYNC_OP_FENCE_SYSTEM:
        return fence_wait(gpu, constants, g);
    default:
        return host_wait(constants, g);
    }
}

/* The sum of the parts, or the largest. */
static double whole_of(const struct wait *wait, const char **bottleneck)
{
    double sum = 0, largest = 0;
    for (size_t i = 0; i < sizeof wait->parts / sizeof wait->parts[0] && wait->parts[i].term != NULL; i++) {
        const double ns = wait->parts[i].ns;
        sum += ns;
        if (isnan(ns) || ns > largest) {
            largest = isnan(largest) ? largest : ns;
            *bottleneck = wait->parts[i].term;
        }
    }
    return wait->largest ? largest : sum;
}

double sync_each_ns(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point)
{
    struct sync_geometry g;
    const char *bottleneck = NULL;
    if (sync_resolve(gpu, point, &g) != NULL)
        return NAN;
    const struct wait wait = wait_of(gpu, constants, &g);
    return whole_of(&wait, &bottleneck);
}

/* ---- stalls, time --------------------------------------------------------------------- */

/* A warp does not count as waiting for the last five cycles, nor while those of its scheduler
 * that may go on as well are issued before it: 1.9 cycles each. */
static double stalled_cycles(const struct ub_constants *constants, uint32_t warps)
{
    const double issuing = 5, each = 1.9;
    return block_cycles(constants, warps) - issuing - each * fmax(0, warps / 4.0 - 1);
}

/* Waiting at barriers is foreseen for one barrier on an SM, waiting at fences where there are
 * none and in clusters. */
static void add_stalls(struct ub_law *law, const struct ub_constants *constants, const struct sync_geometry *g)
{
    static const char estimated[] = "a warp that may go on and is not issued yet counts as something else";
    const double meetings = (double)sync_barriers(g) * g->blocks * sync_warps(g);
    const bool fences = g->op >= SYNC_OP_CLUSTER && g->op != SYNC_OP_CLUSTER_RELAXED && g->op != SYNC_OP_FENCE_BLOCK &&
                        !sync_is_host(g);
    const bool one = g->op == SYNC_OP_BLOCK && !sync_is_crowded(g) && !g->left_out;
    ub_law_estimate(law, "stall_barrier", one ? meetings * stalled_cycles(constants, sync_warps(g)) : NAN, 0.12,
                    estimated, "only for one block on an SM is it known how its warps are issued");
    ub_law_estimate(law, "stall_membar", fences ? NAN : 0, 0, "no fence is executed",
                    "how long a fence takes depends on where in L2 its line lies");
}

static void add_counters(struct ub_law *law, const struct ub_constants *constants, const struct sync_geometry *g)
{
    ub_law_exact(law, "blocks_launched", UB_STRUCTURAL, g->blocks);
    ub_law_exact(law, "warps_launched", UB_STRUCTURAL, (uint64_t)g->blocks * sync_warps(g));
    ub_law_exact(law, "global_atomics", UB_STRUCTURAL,
                 g->op == SYNC_OP_GRID && !g->left_out ? LOOPED * (uint64_t)g->operations * g->blocks : 0);
    add_instructions(law, g);
    add_stalls(law, constants, g);
}

static const double tolerance_assumed = 0.35;

void sync_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
              struct ub_law *out)
{
    *out = (struct ub_law){.time_ns = NAN, .level = "none"};
    struct sync_geometry g;
    const char *unsupported = sync_resolve(gpu, point, &g);
    if (unsupported != NULL) {
        out->note = unsupported;
        return;
    }
    add_counters(out, constants, &g);
    const struct wait wait = wait_of(gpu, constants, &g);
    const double operations = sync_is_host(&g) ? g.launches : g.operations;
    const double each_ns = whole_of(&wait, &out->bottleneck);
    out->level = wait.level != NULL ? wait.level : "none";
    out->note = wait.note;
    if (!isfinite(each_ns)) {
        out->bottleneck = NULL;
        out->note = "how long this takes on this card, or with this host, is not known";
        return;
    }
    for (size_t i = 0; i < sizeof wait.parts / sizeof wait.parts[0] && wait.parts[i].term != NULL; i++)
        ub_time_term(out, wait.parts[i].term, wait.parts[i].ns * operations);
    out->time_ns = each_ns * operations;
    out->tolerance = gpu->verified || wait.tolerance == 0 ? wait.tolerance : tolerance_assumed;
    if (!gpu->verified && out->note == NULL)
        out->note = "assumed: cycles of an H200 and published figures of other cards";
}
