/* SPDX-License-Identifier: MIT
 *
 * The rule `sync` as data: axes, sweeps, counters, metrics, chart and texts. */
#include <math.h>
#include <stdio.h>

#include "harness/contract/record.h"
#include "micro/sync/rule.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const ops[] = {"block",        "named",           "warp",   "shuffle",     "vote",
                                  "cluster",      "cluster_relaxed", "grid",   "fence_block", "fence_device",
                                  "fence_system", "stream",          "device", "event_spin",  "event_block",
                                  "launch",       "graph",           NULL};
static const char *const barrier_words[] = {"kept", "left_out", NULL};

static const struct ub_axis axes[SYNC_AXES] = {
    [SYNC_OP] = {.name = "op",
                 .unit = "",
                 .help = "what waits: warps of a block, lanes, blocks, a fence; from stream on the host",
                 .kind = UB_AXIS_WORD,
                 .words = ops,
                 .initial = "block"},
    [SYNC_BLOCK] = {.name = "block",
                    .unit = "thread",
                    .help = "threads of a block; auto: 256, where single warps are at work 32",
                    .kind = UB_AXIS_INTEGER,
                    .minimum = SYNC_LANES,
                    .maximum = SYNC_BLOCK_MOST,
                    .zero_word = "auto",
                    .initial = "auto"},
    [SYNC_RESIDENT] = {.name = "resident",
                       .unit = "block",
                       .help = "blocks that each SM holds (op=block)",
                       .kind = UB_AXIS_INTEGER,
                       .minimum = 1,
                       .maximum = 32,
                       .initial = "1"},
    [SYNC_GROUPS] = {.name = "groups",
                     .unit = "group",
                     .help = "of a block's warps, each with a named barrier of its own (op=named)",
                     .kind = UB_AXIS_INTEGER,
                     .minimum = 1,
                     .maximum = SYNC_GROUPS_MOST,
                     .initial = "1"},
    [SYNC_CLUSTER] = {.name = "cluster",
                      .unit = "block",
                      .help = "blocks of a cluster: 1, 2, 4, 8, 16; auto: 2 (op=cluster, cluster_relaxed)",
                      .kind = UB_AXIS_INTEGER,
                      .minimum = 1,
                      .maximum = SYNC_CLUSTER_MOST,
                      .zero_word = "auto",
                      .initial = "auto"},
    [SYNC_BLOCKS] = {.name = "blocks",
                     .unit = "block",
                     .help = "of the cooperative grid; auto: one for each SM (op=grid)",
                     .kind = UB_AXIS_INTEGER,
                     .minimum = 1,
                     .maximum = 65536,
                     .zero_word = "auto",
                     .initial = "auto"},
    [SYNC_LAUNCHES] = {.name = "launches",
                       .unit = "launch",
                       .help = "of an empty kernel before the host waits (op=launch, graph)",
                       .kind = UB_AXIS_INTEGER,
                       .minimum = 1,
                       .maximum = 4096,
                       .initial = "1"},
    [SYNC_BARRIER] = {.name = "barrier",
                      .unit = "",
                      .help = "left_out: without it, to see that verification finds the race",
                      .kind = UB_AXIS_WORD,
                      .words = barrier_words,
                      .initial = "kept"},
};

static const struct ub_sweep sweeps[] = {
    {"block", UB_SUITE_DEFAULT | UB_SUITE_FULL, "block=32,64,96,128,192,256,384,512,768,1024",
     "__syncthreads() by the warps of a block"},
    {"resident", UB_SUITE_DEFAULT | UB_SUITE_FULL, "block=64,256,1024 resident=2", "two blocks on each SM"},
    {"resident_many", UB_SUITE_DEFAULT | UB_SUITE_FULL, "block=64 resident=4,8,16,32", "and more of them"},
    {"groups", UB_SUITE_DEFAULT | UB_SUITE_FULL, "op=named block=1024 groups=1,2,4,8,16", "named barriers of a block"},
    {"groups_few", UB_SUITE_DEFAULT | UB_SUITE_FULL, "op=named block=512 groups=4,8", "and of a smaller one"},
    {"warp", UB_SUITE_DEFAULT | UB_SUITE_FULL, "op=warp,shuffle,vote block=32,512,1024",
     "within warps, by how many are at it"},
    {"cluster", UB_SUITE_DEFAULT | UB_SUITE_FULL, "op=cluster,cluster_relaxed cluster=1,2,4,8,16",
     "blocks of a cluster"},
    {"cluster_block", UB_SUITE_DEFAULT | UB_SUITE_FULL, "op=cluster,cluster_relaxed block=32,128,512,1024",
     "and the warps of its blocks"},
    {"blocks", UB_SUITE_DEFAULT | UB_SUITE_FULL, "op=grid blocks=1,4,8,12,16,32,132,264,396,528,792,1056",
     "grid.sync() by the blocks of the grid"},
    {"grid_block", UB_SUITE_DEFAULT | UB_SUITE_FULL, "op=grid block=32,1024 blocks=132",
     "and by the threads of a block"},
    {"too_large", UB_SUITE_DEFAULT | UB_SUITE_FULL, "op=grid blocks=1057", "a grid that is not resident"},
    {"fence", UB_SUITE_DEFAULT | UB_SUITE_FULL, "op=fence_block,fence_device,fence_system", "a store and a fence"},
    {"wait", UB_SUITE_DEFAULT | UB_SUITE_FULL, "op=stream,device,event_spin,event_block",
     "an empty kernel for which the host waits"},
    {"launches", UB_SUITE_DEFAULT | UB_SUITE_FULL, "op=launch,graph launches=1,2,4,8,16,64,256",
     "empty kernels one by one, and as one graph"},
    {"barrier", UB_SUITE_DEFAULT | UB_SUITE_FULL, "op=block,named,cluster,grid,stream barrier=left_out",
     "what happens without"},
    {"quick", UB_SUITE_QUICK, "op=block,warp,cluster,grid,stream,graph", "one of each"},
    {"groups_more", UB_SUITE_FULL, "op=named block=256,512 groups=1,2,4,8", "groups of one to sixteen warps"},
    {"warps_all", UB_SUITE_FULL, "op=warp,shuffle,vote,cluster,cluster_relaxed block=32..1024*2", "each size of block"},
    {"blocks_more", UB_SUITE_FULL, "op=grid block=32,256 blocks=2,9,10,24,64,96,131,133,300,600,660,924,1055",
     "between those of blocks"},
    {"too_large_more", UB_SUITE_FULL, "op=grid block=32,256,1024 blocks=4225,65536", "grids that are far too large"},
    {"launches_more", UB_SUITE_FULL, "op=launch,graph launches=3,32,128,512,1024",
     "between those of launches, and more"},
};

static const char *const counters[] = {
    "blocks_launched",  "warps_launched", "warp_instructions", "global_atomics",
    "adu_instructions", "stall_barrier",  "stall_membar",
};

static const char *const needs[] = {
    "clock_mhz",       "block_barrier_cycles", "l2_latency_ns",    "l2_crossing_ns",
    "launch_floor_ns", "host_wait_ns",         "host_launches_ns", "graph_wait_ns",
};

static const struct ub_provides provides[] = {
    {"block_barrier_cycles", "block=32", "cycles"},
    {"host_wait_ns", "op=launch", "total_ns"},
    {"host_launches_ns", "op=launch launches=256", "total_ns"},
    {"graph_wait_ns", "op=graph", "total_ns"},
};

static const char *const metric_keys[] = {"cycles", "each_ns", "total_ns", "wait_cycles", "warps"};

/* ---- functions ------------------------------------------------------------------- */

static const char *supported(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct sync_geometry g;
    return sync_resolve(gpu, point, &g);
}

static enum ub_timer timer(const struct ub_point *point)
{
    return point->values[SYNC_OP] >= SYNC_DEVICE_OPS ? UB_TIMER_HOST : UB_TIMER_SM_CLOCK;
}

/* A cooperative grid must be resident as a whole: no block would ever come to the barrier
 * for which another waits on an SM that it does not leave. */
static const char *refusal(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct sync_geometry g;
    if (sync_resolve(gpu, point, &g) != NULL || g.op != SYNC_OP_GRID)
        return NULL;
    return g.blocks > (uint32_t)gpu->sms * sync_resident_most(gpu, g.threads) ? "cudaErrorCooperativeLaunchTooLarge"
                                                                              : NULL;
}

static const char *mistake(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct sync_geometry g;
    if (sync_resolve(gpu, point, &g) != NULL || !g.left_out)
        return NULL;
    return sync_is_host(&g) ? "the host does not wait" : "there is no barrier between writing and reading";
}

static void footprint(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_footprint *out)
{
    struct sync_geometry g;
    *out = (struct ub_footprint){0};
    if (sync_resolve(gpu, point, &g) != NULL)
        return;
    out->buffers[0] = (struct ub_buffer_spec){"answers", UB_DEVICE_MEMORY, UB_FILL_POISON, true, 8 * sync_answers(&g)};
    out->buffers[1] = (struct ub_buffer_spec){"slots", UB_DEVICE_MEMORY, UB_FILL_POISON, true, 4 * sync_slots(&g)};
    out->count = 2;
}

static void metrics(const struct ub_facts *facts, struct ub_metrics *out)
{
    struct sync_geometry g;
    out->count = 0;
    if (sync_resolve(facts->gpu, facts->point, &g) != NULL)
        return;
    const bool host = sync_is_host(&g);
    const double each_ns = facts->time_ns / (host ? g.launches : g.operations);
    const double barriers = (double)sync_barriers(&g) * ub_fact(facts, "warps_launched");
    if (!host && g.op != SYNC_OP_GRID)
        ub_metric_add(out, "cycles", "cycle", each_ns * ub_fact_clock_mhz(facts) * 1e-3);
    ub_metric_add(out, "each_ns", "ns", each_ns);
    if (host)
        ub_metric_add(out, "total_ns", "ns", facts->time_ns);
    if (barriers > 0)
        ub_metric_add(out, "wait_cycles", "cycle", ub_fact(facts, "stall_barrier") / barriers);
    if (!host)
        ub_metric_add(out, "warps", "warp", sync_warps(&g));
}

/* ---- chart and texts --------------------------------------------------------------- */

static const struct ub_chart_text chart_texts[] = {
    {"block", "A barrier of a block takes as long as its warps take to arrive, and a little",
     "7 + 2 warps, less issuing"},
    {"resident_many", "Barriers of all blocks of an SM go through one unit", NULL},
    {"resident", "Barriers of all blocks of an SM go through one unit", NULL},
    {"groups", "Named barriers share the unit; a number in a register costs cycles", NULL},
    {"groups_few", "Named barriers share the unit; a number in a register costs cycles", NULL},
    {"warp", "A warp's barrier is a NOP; a shuffle and a vote take their latency", NULL},
    {"cluster", "A cluster's barrier costs more than a block's, and its fence most of it", NULL},
    {"cluster_block", "The fences of a cluster's barrier cost more the more warps make them", NULL},
    {"blocks", "A grid's barrier is three or four trips to L2, until its one word decides", NULL},
    {"fence", "A fence of the device is a trip to L2; one of the system takes longer", NULL},
    {"wait", "The host waits microseconds for an empty kernel, longer if it sleeps", NULL},
    {"launches", "Each launch costs the host, each node of a graph the GPU, and less", NULL},
    {"grid_block", "What synchronising costs", NULL},
    {"", "What synchronising costs", NULL},
};

const struct ub_micro ub_micro_sync = {
    .name = "sync",
    .rule = "Waiting costs what the way to the meeting point costs: a cycle in a warp, tens in a block, hundreds in a "
            "cluster, two thousand in a grid, twenty thousand from the host.",
    .text =
        {
            .law =
                "Cycles of an H200 (1980 MHz); w: warps of a block. Block: 12 + 2 w, since the barrier unit takes an "
                "arrival every two cycles (14 with one warp is measured, the two are tested); with r blocks on an SM, "
                "which share the unit, max(12 + 2 w, 2 w r). Named barriers of g groups, numbers in registers: max(24 "
                "+ 2 w / g, 2 w + 2 + 1.7 g), the last two a fit. Warp: __syncwarp() is a NOP, max(1, w / 4); shuffle "
                "max(26, w); LOP3 and vote max(17, w). Cluster of c blocks: 12 + 2 w + 56 + 4 log2(min(c, 8)) where "
                "arrivals are relaxed; as cluster.sync() has it a trip to L2's near half more, and 2 (w - 1) or, from "
                "nine warps on, 8.5 w - 60 (fits, as the 56 and the 4 are). Grid: 3 trips to L2's far half up to 8 "
                "blocks (a fence, the addition, a look at the word), 4 beyond (the first look is too early), and two "
                "barriers of a block; 2.1 ns a block where that is more (a fit). A fence of the device after a store: "
                "a trip to L2. The host: first + (launches - 1) x each, from one and 256 launches in this run; for "
                "nodes of a graph `each` is the harness's empty kernel in a graph.",
            .breaks =
                "Barriers that meet nobody late are timed: in a kernel the slowest warp decides, and the barrier's "
                "own cycles vanish behind it. Several blocks, or groups, on an SM are not served in turn: of 32 "
                "blocks of 64 threads the first had a barrier every 40 cycles, all together one every 135. So they "
                "are timed until the last has ended, with counter and jump of the loop (up to 6 %). Where the word of "
                "a grid's barrier lies decides how far it is: two sessions on an H200 had 735 and 795 ns for up to 8 "
                "blocks. Between 300 and 600 blocks trips and word mix, and no time is tested. A fence after a store "
                "waits for the half of L2 that has its line: 395 and 432 cycles in two sessions. How long the host "
                "takes depends on CPU, driver and virtual machine: here an Intel Xeon with 16 cores, where samples "
                "scatter by 1 to 10 %; a thread that sleeps (cudaEventBlockingSync) took 22, 24 and 44 us in three "
                "sessions and is not tested. Every time of the host has the harness's own wait for an idle stream in "
                "it, 1.3 us. The machine code is known of CC 9.0 only; instructions of grids (how often a block "
                "looks) and of graphs (which the profiler does not instrument) are not predicted.",
            .consequence =
                "On an H200 __syncthreads() takes 28 cycles with 256 threads and 76 with 1024: 14 and 38 ns, less "
                "than one load from L2 (142). Blocks of 256 meet in a third of the time, if an SM holds few of them; "
                "eight of 256 need as long as two of 1024. A barrier of a cluster takes 370 or 391 cycles, of which "
                "281 or 302 are its fence: where no memory is exchanged at it, barrier.cluster.arrive.relaxed leaves "
                "that away (89). grid.sync() over 132 blocks takes 0.98 us, with 1056 blocks 2.2: launch one or two "
                "blocks an SM for it. A node of a graph takes half as long (0.50 us), so a grid's barrier pays for "
                "what stays in registers and shared memory, not for the launch that it saves; against a launch by the "
                "host (3.4 us) or its wait (10.0) it does. 256 short kernels took 879 us one by one and 135 us as a "
                "graph.",
            .folk =
                "\"__syncthreads() is expensive\": 28 cycles for 8 warps; what is expensive is the warp that comes "
                "late.\n"
                "\"__syncwarp() costs nothing\": where nvcc knows that the warp is together it is a NOP, one issue "
                "slot. Where lanes have parted it is the point at which they wait for each other.\n"
                "\"A grid-wide barrier costs as much as a kernel launch\": 0.98 us against 3.4 us of the host, but "
                "twice a graph's node.\n"
                "\"cudaDeviceSynchronize() is slower than cudaStreamSynchronize()\": with one stream it was faster by "
                "1 us in every session.\n"
                "\"__threadfence() is a barrier\": it orders what one thread writes and waits for nobody else.",
            .sources =
                "Burtchell and Burtscher, IISWC 2024 (burtscher/SyncPerformance): barriers and shuffles of an A100\n"
                "Zhang et al., IPDPS 2020, arXiv:2004.05371, and SC23: grid barriers, launches; A100 1.12 us, RTX "
                "3090 0.64 (by the law 1.06 and 0.62), V100 1.33 (by the law 0.66: an older grid.sync())\n"
                "CUDA 13.0, cooperative_groups/details/sync.h: what grid.sync() is made of\n"
                "Hazy Research, No Bubbles (2025), H100: 2.1 us a launch, 1.3 in a graph; RRZE-HPC/gpu-benches "
                "gpu-small-kernels, H200: 2.4 and 1.3 us (kernels of 64 KiB)\n"
                "Measured, an H200 (driver 580, CUDA 13.0): all cycles, all times of the host",
        },
    .axis_count = SYNC_AXES,
    .axes = axes,
    .owners = &sync_owners,
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
            .metric = "cycles",
            .metric_label = "one operation  [SM cycles]",
            .metric_scale = 1,
            .x_axis = "block",
            .x_metric = "warps",
            .x_label = "size of a block",
            .other_metric = "each_ns",
            .other_label = "one operation  [µs]",
            .other_scale = 1e-3,
            .panel_metric = "wait_cycles",
            .panel_label = "cycles waited / barrier",
            .panel_counter = "counter: stall_barrier",
            .text_count = COUNT(chart_texts),
            .texts = chart_texts,
        },
    .timer = timer,
    .supported = supported,
    .refusal = refusal,
    .mistake = mistake,
    .footprint = footprint,
    .law = sync_law,
    .metrics = metrics,
    .small = sync_small,
    .verify = sync_verify,
};
