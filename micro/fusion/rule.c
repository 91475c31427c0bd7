/* SPDX-License-Identifier: MIT
 *
 * The rule `fusion` as data: axes, sweeps, counters, metrics, chart and texts. */
#include "micro/fusion/rule.h"

#include <math.h>

#include "harness/contract/record.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const works[] = {"elementwise", "softmax", "attention", NULL};   /* enum fusion_work */
static const char *const variants[] = {"split", "passes", "online", "fused", NULL}; /* enum fusion_variant */
static const char *const ops[] = {"fma", "exp", NULL};                              /* enum fusion_op */

static const struct ub_axis axes[FUSION_AXES] = {
    [FUSION_WORK] = {.name = "work",
                     .unit = "",
                     .help = "a chain of element-wise steps, the softmax of rows, attention over one or more heads",
                     .kind = UB_AXIS_WORD,
                     .words = works,
                     .initial = "elementwise"},
    [FUSION_VARIANT] = {.name = "variant",
                        .unit = "",
                        .help = "split: a kernel a step; passes, online: one kernel, a row read three times, twice; "
                                "fused: one kernel that keeps what it needs again",
                        .kind = UB_AXIS_WORD,
                        .words = variants,
                        .initial = "fused"},
    [FUSION_OP] = {.name = "op",
                   .unit = "",
                   .help = "what a step does: multiply and add, or an exponential (work=elementwise)",
                   .kind = UB_AXIS_WORD,
                   .words = ops,
                   .initial = "fma"},
    [FUSION_STEPS] = {.name = "steps",
                      .unit = "step",
                      .help = "one after the other (work=elementwise)",
                      .kind = UB_AXIS_INTEGER,
                      .minimum = 1,
                      .maximum = FUSION_STEPS_MAX,
                      .initial = "8"},
    [FUSION_N] = {.name = "n",
                  .unit = "float",
                  .help = "of the source, a multiple of 4; auto: at least 512 MiB and 8 L2 caches (work=elementwise)",
                  .kind = UB_AXIS_INTEGER,
                  .minimum = 4,
                  .maximum = INT64_C(1) << 38,
                  .zero_word = "auto",
                  .initial = "auto"},
    [FUSION_LENGTH] = {.name = "length",
                       .unit = "float",
                       .help = "of a row, a multiple of 4 (work=softmax)",
                       .kind = UB_AXIS_INTEGER,
                       .minimum = 4,
                       .maximum = 1 << 20,
                       .initial = "4096"},
    [FUSION_ROWS] = {.name = "rows",
                     .unit = "row",
                     .help = "auto: as many as make 512 MiB and 8 L2 caches (work=softmax)",
                     .kind = UB_AXIS_INTEGER,
                     .minimum = 1,
                     .maximum = INT32_MAX,
                     .zero_word = "auto",
                     .initial = "auto"},
    [FUSION_SEQ] = {.name = "seq",
                    .unit = "token",
                    .help = "queries, and as many keys, of a head; a multiple of 64 (work=attention)",
                    .kind = UB_AXIS_INTEGER,
                    .minimum = FUSION_TILE,
                    .maximum = FUSION_KEPT_MAX,
                    .initial = "2048"},
    [FUSION_HEADS] = {.name = "heads",
                      .unit = "head",
                      .help = "auto: as many as make scores of 256 MiB and 4 L2 caches (work=attention)",
                      .kind = UB_AXIS_INTEGER,
                      .minimum = 1,
                      .maximum = UINT16_MAX,
                      .zero_word = "auto",
                      .initial = "auto"},
};

static const struct ub_sweep sweeps[] = {
    {"steps", UB_SUITE_DEFAULT | UB_SUITE_FULL, "steps=1,2,3,4,6,8,12,16 variant=split,fused",
     "element-wise steps as kernels and as one"},
    {"arithmetic", UB_SUITE_DEFAULT | UB_SUITE_FULL, "steps=2,4,8,12,16,24,32,48,64,128 op=fma,exp",
     "so many steps in one kernel that arithmetic takes over"},
    {"n", UB_SUITE_DEFAULT | UB_SUITE_FULL, "n=16Ki,64Ki,256Ki,1Mi,2Mi,4Mi,8Mi,16Mi,32Mi,128Mi variant=split,fused",
     "eight steps over arrays that L2 holds, and over such that it does not"},
    {"length", UB_SUITE_DEFAULT | UB_SUITE_FULL, "work=softmax length=1024..131072*2 variant=all",
     "softmax of rows that registers, L1, L2 or nothing holds"},
    {"seq", UB_SUITE_DEFAULT | UB_SUITE_FULL, "work=attention seq=512..8192*2 variant=split,fused",
     "attention with and without scores in global memory"},
    {"heads", UB_SUITE_DEFAULT | UB_SUITE_FULL, "work=attention seq=1024 heads=1..16*2 variant=split,fused",
     "few heads: fused has few blocks"},
    {"quick", UB_SUITE_QUICK, "steps=1,4,16 variant=split,fused", "the rule with three numbers of steps"},
    {"length_quick", UB_SUITE_QUICK, "work=softmax length=2048,32768 variant=all", "short and long rows"},
    {"every_n", UB_SUITE_FULL, "n=16Ki..256Mi*2 variant=split,fused", "the same sweep as n, with every power of two"},
    {"every_length", UB_SUITE_FULL, "work=softmax length=256..262144*2 variant=all",
     "the same sweep as length, with every power of two"},
    {"steps_exp", UB_SUITE_FULL, "op=exp steps=1..16*2 variant=split,fused", "exponentials, split and fused"},
};

static const char *const counters[] = {
    "global_load_requests", "global_load_sectors", "global_load_bytes", "global_store_requests", "global_store_sectors",
    "global_store_bytes",   "blocks_launched",     "local_loads",       "local_stores",          "ffma",
    "warp_instructions",    "dram_read_bytes",     "dram_write_bytes",  "l2_read_sectors",       "l2_write_sectors",
};

static const char *const needs[] = {"dram_load_ceiling", "dram_copy_ceiling", "l2_load_ceiling",
                                    "block_launch_ns",   "launch_floor_ns",   "clock_mhz"};

static const char *const metric_keys[] = {
    "useful_bandwidth", "ceiling_share", "global_bytes_per_element", "l2_bytes_per_element", "dram_bytes_per_element",
    "split_bytes",      "flops",         "instructions_per_element",
};

/* ---- functions ---------------------------------------------------------------- */

static const char *supported(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct fusion_geometry g;
    return fusion_resolve(gpu, point, &g);
}

static void footprint(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_footprint *out)
{
    struct fusion_geometry g;
    *out = (struct ub_footprint){0};
    if (fusion_resolve(gpu, point, &g) != NULL)
        return;
    const struct ub_buffer_spec buffers[] = {
        {"source", UB_DEVICE_MEMORY, UB_FILL_FLOAT, false, fusion_source_bytes(&g)},
        {"target", UB_DEVICE_MEMORY, UB_FILL_POISON, true, fusion_target_bytes(&g)},
        {"between", UB_DEVICE_MEMORY, UB_FILL_POISON, true, fusion_scratch_bytes(&g)},
    };
    for (size_t i = 0; i < COUNT(buffers); i++)
        if (buffers[i].size_bytes > 0)
            out->buffers[out->count++] = buffers[i];
}

/* Bytes that the same work asks of global memory when it is split, for one that this point
 * asks for. */
static double split_bytes(const struct fusion_geometry *g, const struct ub_gpu *gpu, const struct ub_point *point,
                          double bytes)
{
    struct ub_point other = *point;
    struct fusion_geometry split;
    struct fusion_traffic traffic;
    other.values[FUSION_VARIANT] = FUSION_SPLIT;
    if (g->variant == FUSION_SPLIT)
        return 1;
    if (fusion_resolve(gpu, &other, &split) != NULL)
        return NAN;
    fusion_count(&split, &traffic);
    return (double)(traffic.loads.bytes + traffic.stores.bytes) / bytes;
}

/* Two products of matrices, of which each score has 64 multiply-adds. */
static double flops_of(const struct fusion_geometry *g)
{
    return g->work == FUSION_ATTENTION ? 4.0 * FUSION_DIM * (double)g->elements : NAN;
}

static void metrics(const struct ub_facts *facts, struct ub_metrics *out)
{
    struct fusion_geometry g;
    out->count = 0;
    if (fusion_resolve(facts->gpu, facts->point, &g) != NULL)
        return;
    const double elements = (double)g.elements;
    const double bandwidth = (double)(fusion_source_bytes(&g) + fusion_target_bytes(&g)) / facts->time_ns * 1e9;
    const double global = ub_fact(facts, "global_load_bytes") + ub_fact(facts, "global_store_bytes");
    const double l2 = ub_fact(facts, "l2_read_sectors") + ub_fact(facts, "l2_write_sectors");
    const double dram = ub_fact(facts, "dram_read_bytes") + ub_fact(facts, "dram_write_bytes");
    /* of attention it is another thing: in and out is next to nothing of what it moves */
    if (g.work != FUSION_ATTENTION) {
        ub_metric_add(out, "useful_bandwidth", "B/s", bandwidth);
        ub_metric_add(out, "ceiling_share", "1", bandwidth / ub_constant_value(facts->constants, "dram_copy_ceiling"));
    }
    ub_metric_add(out, "global_bytes_per_element", "B/element", global / elements);
    ub_metric_add(out, "l2_bytes_per_element", "B/element", l2 * UB_SECTOR_BYTES / elements);
    ub_metric_add(out, "dram_bytes_per_element", "B/element", dram / elements);
    ub_metric_add(out, "split_bytes", "B/B", split_bytes(&g, facts->gpu, facts->point, global));
    if (g.work == FUSION_ATTENTION)
        ub_metric_add(out, "flops", "FLOP/s", flops_of(&g) / facts->time_ns * 1e9);
    ub_metric_add(out, "instructions_per_element", "instruction",
                  ub_fact(facts, "warp_instructions") * UB_WARP_LANES / elements);
}

/* ---- chart and texts ------------------------------------------------------------ */

static const struct ub_chart_text chart_texts[] = {
    {"steps", "K steps take K kernels K times as long, one kernel until arithmetic decides", NULL},
    {"steps_exp", "K steps take K kernels K times as long, one kernel until arithmetic decides", NULL},
    {"arithmetic", "Fused steps cost nothing until arithmetic takes longer than DRAM", NULL},
    {"n", "Fusion pays in L2 too: there it saves kernels and L2 bytes", NULL},
    {"length", "Reading a row again costs little while a cache has it", NULL},
    {"seq", "Attention without scores in memory saves DRAM bytes, not arithmetic", NULL},
    {"heads", "Fused attention has a block for 64 queries: few heads, few blocks", NULL},
    {"", "What stays on the chip between steps costs no bytes", NULL},
};

const struct ub_micro ub_micro_fusion = {
    .name = "fusion",
    .rule =
        "What one kernel or pass hands on to the next is stored and loaded again: fused, it costs neither bytes nor "
        "time, until arithmetic takes longer than the bytes that are left.",
    .text =
        {
            .law =
                "Bytes, exact: K element-wise steps in K kernels load and store each float K times (8 K bytes), in "
                "one kernel once (8). Softmax in three kernels or three passes of one kernel loads each float three "
                "times (16 bytes with the store), with a running maximum twice (12), with the row in registers once "
                "(8). Attention moves 28 bytes for each of seq x seq scores in three kernels: 8 for tiles of queries "
                "and keys, 4 four times for scores that are stored, loaded, stored as weights and loaded, 4 for "
                "values; fused it is 8, all of it queries, keys and values. Where they go: what is touched between "
                "two accesses to a byte stays in a cache or, from two L2 caches on, comes from DRAM. Time, "
                "element-wise = kernels x (floor of a launch + 0.44 us) + bytes / ceiling; the ceiling is DRAM's of "
                "copies or, if L2 holds all, 0.81 of L2's of loads (7.9 TB/s on an H200; fitted). Softmax: bytes / "
                "DRAM's ceilings / 0.94 to 0.97 (fitted: barriers and the change of blocks). So a fused chain gains "
                "the ratio of its bytes, until arithmetic takes over: 128 multiply-adds or 16 exponentials an SM and "
                "cycle, and what of DRAM's time is not hidden beside them (0.22 and 0.05 of it; fitted). By the law "
                "that is at 37 multiply-adds or 8 exponentials a float.",
            .breaks =
                "Between the caches: three arrays in L2 that kernels write in turn keep to the law while all their "
                "blocks run at once (here up to 1.03 Mi floats). Beyond it L2 finds 7 of 8 sectors at once, nothing "
                "of the rest comes from DRAM (2 Mi floats), and a kernel takes 16 to 32 % longer: as if it crossed to "
                "the other half of L2. Of rows read twice or three times DRAM delivers a part again where the rows of "
                "all resident blocks are 1/4 to 3/2 of L2 (4096 to 16384 floats): the record has 8.2, 11.4 and 15.8 "
                "bytes a float for three passes. In short rows barriers decide. The time of attention is not "
                "predicted: it waits for multiply-adds and shared memory. Near the ridge no thread loads ahead: 32 "
                "multiply-adds take 4 % longer than by the law. A counter is of one launch after those of other "
                "points: below L2 its DRAM bytes are what L2 had of them. With --cold (not in the record) nothing is "
                "in L2: of 1 Mi floats, 8 kernels then took 3.4 times as long as one, of 4 Mi 5.2 times.",
            .consequence =
                "Sixteen multiply-adds a float in 16 kernels took an H200 4.02 ms for 2^27 floats, in one 0.250 ms, "
                "as long as one of them; 24 cost 1 % more, 8 exponentials 8 %. Keep the row of a softmax in registers "
                "while it fits (16384 floats in a block of 256 threads): 4.1 TB/s of source and result, against 2.1 "
                "in three kernels. For longer rows take the running maximum: 2.7 TB/s. At 2048 floats passes over "
                "global memory in one kernel are nearly as good (3.9 and 4.0 TB/s): caches have the row. Fusing "
                "attention spares its scores, 256 MiB of memory here, and makes the DRAM bytes 9.5 (seq=512) to 170 "
                "times fewer (8192); in fp32 the time is but 1.03 to 1.21 times shorter. Mind the number of blocks: "
                "one head of 1024 queries has 16, and took 1.9 times as long as three kernels with 256 and more.",
            .folk =
                "\"Fusion pays only if intermediate results do not fit in L2\": it saves no DRAM bytes there, but "
                "time: 8 steps in one kernel were 7.2 to 7.7 times as fast as 8 kernels at 64 KiB to 4 MiB, 8.8 and "
                "10 at 8 and 16 MiB, 8.0 from 64 MiB on. A trip to L2 costs half of one to DRAM, and each kernel "
                "nearly a microsecond. At 16 MiB two arrays fit where three do not.\n"
                "\"Fusion is K times as fast\": in steps that only move bytes, and up to the ridge: 128 multiply-adds "
                "in one kernel take 2.6 times as long as one. Of a softmax half the bytes is all there is to gain.\n"
                "\"Three passes cost three times\": in three kernels, or beyond L2. In one kernel with rows of 2048 "
                "floats 6 % more than one pass, because L1 and L2 have what was just read; with 131072 floats 2.0 "
                "times, as have the bytes.\n"
                "\"Online softmax reads its data once\": twice. The result needs the row again, unless it was kept; "
                "12 bytes for 16 are 0.77 of the time (400 for 517 us).\n"
                "\"Fused attention is faster by the bytes it saves\": only where bytes decide. Here multiply-adds do, "
                "at 31 to 40 % of the FP32 peak; on tensor cores, with 15 times their rate, that is another matter, "
                "which is not measured here.",
            .sources = "Milakov, Gimelshein: Online normalizer calculation for softmax, arXiv:1805.02867, 2018\n"
                       "Dao, Fu, Ermon, Rudra, Re: FlashAttention, NeurIPS 2022: tiles, bytes against seq\n"
                       "CUDA C++ Programming Guide, arithmetic instructions: multiply-adds and exponentials a cycle\n"
                       "PTX ISA, ex2.approx.ftz.f32: one MUFU.EX2, and its error\n"
                       "Measured for what is a fit: an H200, driver 580, CUDA 13.0, these kernels",
        },
    .axis_count = FUSION_AXES,
    .axes = axes,
    .owners = &fusion_owners,
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
            .metric_label = "source and result once / time  [GB/s]",
            .metric_scale = 1e-9,
            .other_metric = "flops",
            .other_label = "performance  [TFLOP/s]",
            .other_scale = 1e-12,
            .share_metric = "ceiling_share",
            .share_label = "share of DRAM's ceiling of copies",
            .panel_metric = "dram_bytes_per_element",
            .panel_label = "DRAM bytes / element",
            .panel_counter = "counter: DRAM bytes an element",
            .text_count = COUNT(chart_texts),
            .texts = chart_texts,
        },
    .timer = ub_timer_event,
    .supported = supported,
    .footprint = footprint,
    .law = fusion_law,
    .metrics = metrics,
    .small = fusion_small,
    .verify = fusion_verify,
};
