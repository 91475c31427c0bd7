/* SPDX-License-Identifier: MIT
 *
 * The rule `block_size` as data: axes, sweeps, counters, metrics, chart and texts. */
#include "micro/block_size/rule.h"

#include <math.h>

#include "harness/contract/record.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const works[] = {"add", "empty", NULL}; /* enum block_size_work */
static const char *const widths[] = {"4", "16", NULL};

static const struct ub_axis axes[BLOCK_SIZE_AXES] = {
    [BLOCK_SIZE_WORK] = {.name = "work",
                         .unit = "",
                         .help = "add: c = a + b; empty: a grid of the same shape that does nothing",
                         .kind = UB_AXIS_WORD,
                         .words = works,
                         .initial = "add"},
    [BLOCK_SIZE_BLOCK] = {.name = "block",
                          .unit = "thread",
                          .help = "threads of a block",
                          .kind = UB_AXIS_INTEGER,
                          .minimum = 1,
                          .maximum = 1024,
                          .initial = "256"},
    [BLOCK_SIZE_BYTES] = {.name = "bytes",
                          .unit = "byte",
                          .help = "of each access of a thread: one number or four",
                          .kind = UB_AXIS_WORD,
                          .words = widths,
                          .initial = "4"},
    [BLOCK_SIZE_N] = {.name = "n",
                      .unit = "number",
                      .help = "4-byte numbers of a vector; auto: 128 Mi, and all three at least 20 L2 caches",
                      .kind = UB_AXIS_INTEGER,
                      .minimum = 1,
                      .maximum = INT64_C(1) << 33,
                      .zero_word = "auto",
                      .initial = "auto"},
};

enum { USUAL = UB_SUITE_DEFAULT | UB_SUITE_FULL };

static const struct ub_sweep sweeps[] = {
    {"block", USUAL, "work=add bytes=4,16 block=32..1024:32", "whole warps: launch rate, life of a block, DRAM"},
    {"odd", USUAL,
     "work=add block=24,31,33,48,63,65,80,100,127,129,144,200,255,257,300,333,500,511,513,600,700,767,769,1000,1023",
     "lanes left over in the last warp, and blocks that start inside a sector"},
    {"empty", USUAL, "work=empty block=32..1024:32", "the rate at which blocks are launched"},
    {"quick", UB_SUITE_QUICK, "work=add bytes=4,16 block=32..1024*2", "powers of two"},
    {"tiny", UB_SUITE_FULL, "work=add,empty block=1..16*2", "blocks of less than a warp"},
    {"ends", UB_SUITE_FULL, "work=add block=32,100,256,1000 n=1,31,97,1000003,67108859",
     "vectors that no block size divides: the last block"},
};

static const char *const counters[] = {
    "blocks_launched",       "warps_launched",       "threads_launched", "global_load_requests", "global_load_sectors",
    "global_store_requests", "global_store_sectors", "warps_active",     "sm_cycles_active",
};

static const char *const needs[] = {"dram_load_ceiling", "dram_copy_ceiling", "block_launch_ns", "launch_floor_ns"};

static const char *const metric_keys[] = {
    "useful_bandwidth",   "ceiling_share", "theoretical_occupancy", "resident_blocks",
    "achieved_occupancy", "lanes_used",    "time_per_block_ns",
};

/* ---- functions ---------------------------------------------------------------- */

static const char *supported(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct block_size_geometry g;
    return block_size_resolve(gpu, point, &g);
}

static void footprint(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_footprint *out)
{
    struct block_size_geometry g;
    *out = (struct ub_footprint){0};
    if (block_size_resolve(gpu, point, &g) != NULL || g.work == BLOCK_SIZE_EMPTY)
        return;
    const uint64_t bytes = block_size_vector_bytes(&g);
    out->buffers[out->count++] = (struct ub_buffer_spec){"a", UB_DEVICE_MEMORY, UB_FILL_RANDOM, false, bytes};
    out->buffers[out->count++] = (struct ub_buffer_spec){"b", UB_DEVICE_MEMORY, UB_FILL_RANDOM, false, bytes};
    out->buffers[out->count++] = (struct ub_buffer_spec){"c", UB_DEVICE_MEMORY, UB_FILL_POISON, true, bytes};
}

/* What the driver says of the kernel, or what the law says; never one for the other. */
static double resident_blocks(const struct ub_facts *facts, const struct block_size_geometry *g)
{
    if (facts->predicted)
        return g->resident;
    return facts->attributes != NULL ? (double)facts->attributes->resident_blocks : NAN;
}

static void metrics(const struct ub_facts *facts, struct ub_metrics *out)
{
    struct block_size_geometry g;
    out->count = 0;
    if (block_size_resolve(facts->gpu, facts->point, &g) != NULL)
        return;
    const double bytes = (double)BLOCK_SIZE_VECTORS * (double)block_size_vector_bytes(&g);
    const double bandwidth = g.work == BLOCK_SIZE_ADD ? bytes / facts->time_ns * 1e9 : NAN;
    const double warps_per_sm = facts->gpu->warps_per_sm;
    ub_metric_add(out, "useful_bandwidth", "B/s", bandwidth);
    ub_metric_add(out, "ceiling_share", "1", bandwidth / block_size_ceiling(facts->constants));
    ub_metric_add(out, "theoretical_occupancy", "1", resident_blocks(facts, &g) * g.warps / warps_per_sm);
    ub_metric_add(out, "resident_blocks", "block", resident_blocks(facts, &g));
    ub_metric_add(out, "achieved_occupancy", "1",
                  ub_fact(facts, "warps_active") / ub_fact(facts, "sm_cycles_active") / warps_per_sm);
    ub_metric_add(out, "lanes_used", "1", (double)g.threads / (g.warps * UB_WARP_LANES));
    ub_metric_add(out, "time_per_block_ns", "ns", facts->time_ns / g.blocks);
}

/* The bandwidth if the launch of blocks alone took time; nothing above the ceiling. */
static double by_launch_rate(const struct ub_gpu *gpu, const struct ub_constants *constants,
                             const struct ub_point *point)
{
    struct block_size_geometry g;
    if (block_size_resolve(gpu, point, &g) != NULL || g.work == BLOCK_SIZE_EMPTY)
        return NAN;
    const double launch_ns = g.blocks * ub_constant_value(constants, "block_launch_ns");
    const double bandwidth = (double)BLOCK_SIZE_VECTORS * (double)block_size_vector_bytes(&g) / launch_ns * 1e9;
    return bandwidth <= block_size_ceiling(constants) ? bandwidth : NAN;
}

/* ---- chart and texts ------------------------------------------------------------ */

static const struct ub_chart_text chart_texts[] = {
    {"empty", "An empty grid: one block after the other, and large ones wait for room", NULL},
    {"odd", "A last warp that is not full costs as much as a full one", NULL},
    {"block", "Small blocks wait to be launched, large ones for their last warp", NULL},
    {"bytes", "More bytes a thread need fewer blocks", NULL},
    {"", "What a block size costs where a thread does little", NULL},
};

const struct ub_micro ub_micro_block_size = {
    .name = "block_size",
    .rule = "A block is launched whole, at one rate for the card, and leaves whole: small blocks wait for the launch, "
            "large ones for their last warp.",
    .text =
        {
            .law = "A vector is cut into ceil(elements / block) blocks of ceil(block / 32) warps; each warp with an "
                   "element makes two load requests and one store request, of as many 32-byte sectors as its lanes "
                   "touch. An SM holds min(32, floor(64 / warps)) blocks (CC 9.0): resident. Time is the largest of\n"
                   "  dram          bytes of three vectors / ceiling\n"
                   "  block_launch  blocks x block_launch_ns, whatever their size\n"
                   "  block_life    blocks / (SMs x resident) x life + 0.66 x dram\n"
                   "  life          400 ns + 7 ns x warps; empty: 150 ns + 0.93 ns x warps\n"
                   "because a block keeps its place until its last warp has ended. Of the three vectors two move as "
                   "in a copy, one as in a load: that is the ceiling.",
            .breaks =
                "From 200 threads on, blocks that are no multiple of 32 take 2 to 9 % longer than the next multiple, "
                "which has as many warps: there are more of them, and 1 to 3 % are not in the law (their warps begin "
                "inside a sector). Where a thread does more than one access the launch rate no longer shows, and life "
                "is the work's. A block with barriers keeps its warps together and loses more when it is large; "
                "registers and shared memory may allow fewer blocks than warps do (rule occupancy). Vectors that four "
                "L2 caches hold are not tested: the law is that of DRAM.",
            .consequence =
                "c = a + b, 4 bytes a thread, an H200: 0.64 TB/s with 32 threads a block (the launch of 4.2 million "
                "blocks takes 2.53 ms), 2.54 with 128, 3.49 with 256, 3.05 with 1024 and 2.51 with 704, of 4.40. 256 "
                "and 1024 both fill an SM with 64 warps, but 74 % of them are there on average with 256 and 64 % with "
                "1024: half an SM waits for the last warp of each block. With 16 bytes a thread every size from 64 to "
                "1024 reaches 99 %: fewer, fatter threads make the block size a matter of taste.",
            .folk = "\"1024 threads are full occupancy\": in theory as full as 256, and 15 % slower here.\n"
                    "\"A block that is no multiple of 32 wastes its last lanes\": of 65 threads a third of the lanes "
                    "is left over, and the time is that of 64, because the launch decides. 257 cost 12 % and 513 cost "
                    "21 % more than 256 and 512, because an SM holds one block fewer.\n"
                    "\"Small blocks are slow because of occupancy\": 64 threads allow full occupancy; the card "
                    "launches one block every 0.6 ns, and that is all.\n"
                    "\"Larger blocks take longer to launch\": not up to 672 threads, 0.604 ns each; 1024 take 0.68 "
                    "ns, because only two places an SM come free in turn.",
            .sources =
                "CUDA C++ Best Practices Guide, Thread and Block Heuristics\n"
                "CUDA C++ Programming Guide, compute capabilities: blocks, warps and threads of an SM\n"
                "RRZE-HPC/gpu-benches gpu-stream: one element a thread, 3.5 TB/s triad on an H200\n"
                "Measured for the life of a block: an H200, driver 580, CUDA 13.0, on cards that differ by 2 %. 400 "
                "ns, 7 ns and 0.66 are fitted to such points of earlier runs, 150 ns and 0.93 ns to two of empty "
                "blocks: the record repeats them (-4.3 to 2.3 % off where block_life decides) and is no independent "
                "test",
        },
    .axis_count = BLOCK_SIZE_AXES,
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
            .metric = "useful_bandwidth",
            .metric_label = "useful bandwidth  [GB/s]",
            .metric_scale = 1e-9,
            .share_metric = "ceiling_share",
            .share_label = "share of the ceiling  [%]",
            .panel_metric = "achieved_occupancy",
            .panel_label = "occupancy",
            .panel_counter = "counter: active warps / cycles / 64",
            .second = by_launch_rate,
            .second_label = "launch rate alone",
            .text_count = COUNT(chart_texts),
            .texts = chart_texts,
        },
    .timer = ub_timer_event,
    .supported = supported,
    .footprint = footprint,
    .law = block_size_law,
    .metrics = metrics,
    .small = block_size_small,
    .verify = block_size_verify,
};
