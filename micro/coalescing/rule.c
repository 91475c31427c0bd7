/* SPDX-License-Identifier: MIT
 *
 * The rule `coalescing` as data: axes, sweeps, counters, metrics, chart and texts. */
#include <math.h>

#include "harness/contract/record.h"
#include "micro/coalescing/rule.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const widths[] = {"1", "2", "4", "8", "16", NULL};
static const char *const ops[] = {"load", "store", "copy", NULL};
static const char *const patterns[] = {"stride", "random", "reverse", "broadcast", "aos", "soa", NULL};
static const char *const shapes[] = {"linear", "32x8", "16x16", "8x32", "1x256", NULL};

static const struct ub_axis axes[COALESCING_AXES] = {
    [COALESCING_STRIDE] = {.name = "stride",
                           .unit = "element",
                           .help = "distance of neighbouring threads (pattern=stride, reverse, broadcast)",
                           .kind = UB_AXIS_INTEGER,
                           .minimum = 1,
                           .maximum = 1024,
                           .initial = "1"},
    [COALESCING_OFFSET] = {.name = "offset",
                           .unit = "element",
                           .help = "where the first thread starts (pattern=stride, reverse, broadcast)",
                           .kind = UB_AXIS_INTEGER,
                           .minimum = 0,
                           .maximum = 127,
                           .initial = "0"},
    [COALESCING_BYTES] = {.name = "bytes",
                          .unit = "byte",
                          .help = "width of an element: one vector access",
                          .kind = UB_AXIS_WORD,
                          .words = widths,
                          .initial = "4"},
    [COALESCING_OP] = {.name = "op",
                       .unit = "",
                       .help = "what a thread does; a copy has the same index on both sides",
                       .kind = UB_AXIS_WORD,
                       .words = ops,
                       .initial = "load"},
    [COALESCING_PATTERN] = {.name = "pattern",
                            .unit = "",
                            .help =
                                "which element a thread takes; aos: arrays of structures, soa: structures of arrays",
                            .kind = UB_AXIS_WORD,
                            .words = patterns,
                            .initial = "stride"},
    [COALESCING_FIELDS] = {.name = "fields",
                           .unit = "field",
                           .help = "elements of a structure, all of which a thread accesses (pattern=aos, soa)",
                           .kind = UB_AXIS_INTEGER,
                           .minimum = 1,
                           .maximum = 16,
                           .initial = "1"},
    [COALESCING_BLOCK] = {.name = "block",
                          .unit = "thread",
                          .help = "threads of a block; 48 or 33 leave a warp in part empty",
                          .kind = UB_AXIS_INTEGER,
                          .minimum = 32,
                          .maximum = 1024,
                          .initial = "256"},
    [COALESCING_SHAPE] = {.name = "shape",
                          .unit = "",
                          .help = "columns x rows of a 2D block over a row-major matrix 4096 elements wide",
                          .kind = UB_AXIS_WORD,
                          .words = shapes,
                          .initial = "linear"},
    [COALESCING_PER_THREAD] = {.name = "per_thread",
                               .unit = "access",
                               .help = "independent accesses of a thread; auto: 16 bytes in flight, which DRAM needs",
                               .kind = UB_AXIS_INTEGER,
                               .minimum = 1,
                               .maximum = COALESCING_PER_THREAD_MAX,
                               .zero_word = "auto",
                               .initial = "auto"},
    [COALESCING_SIZE] = {.name = "size",
                         .unit = "byte",
                         .help =
                             "region that is walked; auto: 1 GiB and 20 L2 caches at least, more where it is sparse",
                         .kind = UB_AXIS_INTEGER,
                         .minimum = 64ll << 10,
                         .maximum = 1ll << 40,
                         .zero_word = "auto",
                         .initial = "auto"},
};

static const struct ub_sweep sweeps[] = {
    {"stride", UB_SUITE_DEFAULT, "stride=1..32 op=load,store",
     "the rule itself: threads that are 1 to 32 elements apart"},
    {"stride", UB_SUITE_FULL, "stride=1..32 bytes=4,8,16 op=load,store",
     "the rule itself: threads that are 1 to 32 elements apart"},
    {"stride_wide", UB_SUITE_DEFAULT, "stride=1..32*2 bytes=16", "the same for vectors of four words"},
    {"stride_quick", UB_SUITE_QUICK, "stride=1..32*2 bytes=4,16 op=load,store", "the rule at powers of two"},
    {"offset", UB_SUITE_DEFAULT, "offset=0..8 op=load,store", "threads in order, but not from a sector on"},
    {"offset", UB_SUITE_FULL, "offset=0..31 bytes=4,8 op=load,store", "threads in order, but not from a sector on"},
    {"offset_quick", UB_SUITE_QUICK, "offset=0,1,8", "aligned, misaligned, aligned to a sector"},
    {"pattern", UB_SUITE_DEFAULT | UB_SUITE_QUICK | UB_SUITE_FULL,
     "pattern=stride,random,reverse,broadcast op=load,store",
     "the order of lanes is free, duplicates are free, scatter is not"},
    {"fields", UB_SUITE_DEFAULT, "pattern=aos,soa fields=2,3,4,8,16",
     "an array of structures against a structure of arrays"},
    {"fields", UB_SUITE_FULL, "pattern=aos,soa fields=2,3,4,8,16 op=load,store",
     "an array of structures against a structure of arrays"},
    {"fields_quick", UB_SUITE_QUICK, "pattern=aos,soa fields=3,8", "the same for three and eight fields"},
    {"shape", UB_SUITE_DEFAULT | UB_SUITE_FULL, "shape=all", "how a 2D block is cut into warps"},
    {"block", UB_SUITE_DEFAULT | UB_SUITE_FULL, "block=32,33,48,64,96,128,192,256,384,512,768,1024",
     "warps that are not full, and blocks that are launched too slowly"},
    {"copy", UB_SUITE_FULL, "stride=1..8,10..32:2 bytes=4,8,16 op=copy", "the rule for copies"},
    {"narrow", UB_SUITE_FULL, "stride=1,3,4,32,128 bytes=1,2 op=load,store,copy", "elements of 1 and 2 bytes"},
    {"far", UB_SUITE_FULL, "stride=33,48,64,127,128,256 op=load,store",
     "distances beyond a line, also such that no sector repeats"},
    {"per_thread", UB_SUITE_FULL, "per_thread=1,2,4 op=load,store,copy", "bytes in flight: Little's law at stride 1"},
    {"patterns", UB_SUITE_FULL, "pattern=random,reverse,broadcast bytes=all op=load,store,copy",
     "the patterns for every width and operation"},
    {"shapes", UB_SUITE_FULL, "shape=all bytes=1,4,16 op=load,store,copy", "the shapes for narrow and wide elements"},
};

static const char *const counters[] = {
    "global_load_requests", "global_load_sectors", "global_load_bytes", "global_store_requests", "global_store_sectors",
    "global_store_bytes",   "global_lines",        "dram_read_bytes",   "dram_write_bytes",
};

static const char *const needs[] = {
    "dram_load_ceiling", "dram_store_ceiling", "dram_copy_ceiling", "l2_load_ceiling",
    "block_launch_ns",   "launch_floor_ns",    "clock_mhz",
};

static const struct ub_provides provides[] = {
    {"dram_load_ceiling", "op=load bytes=16 stride=1", "useful_bandwidth"},
    {"dram_store_ceiling", "op=store bytes=16 stride=1", "useful_bandwidth"},
    {"dram_copy_ceiling", "op=copy bytes=16 stride=1 block=128", "useful_bandwidth"},
};

static const char *const metric_keys[] = {
    "useful_bandwidth", "ceiling_share", "sectors_per_request", "efficiency", "dram_bandwidth",
};

/* ---- functions ----------------------------------------------------------------------------- */

static const char *supported(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct coalescing_geometry g;
    return coalescing_resolve(gpu, point, &g);
}

static void add_buffer(struct ub_footprint *footprint, const char *name, enum ub_fill fill, bool output,
                       uint64_t size_bytes)
{
    footprint->buffers[footprint->count++] = (struct ub_buffer_spec){name, UB_DEVICE_MEMORY, fill, output, size_bytes};
}

static void footprint(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_footprint *out)
{
    struct coalescing_geometry g;
    *out = (struct ub_footprint){0};
    if (coalescing_resolve(gpu, point, &g) != NULL)
        return;
    const uint64_t region = coalescing_region_bytes(&g);
    if (g.op != COALESCING_STORE)
        add_buffer(out, "source", UB_FILL_RANDOM, false, region);
    if (g.op == COALESCING_LOAD)
        add_buffer(out, "sink", UB_FILL_ZERO, false, COALESCING_SINK_BYTES);
    else
        add_buffer(out, "destination", UB_FILL_POISON, true, region);
}

/* Loads and copies are judged by their loads, stores by their stores. */
static double side(const struct ub_facts *facts, const struct coalescing_geometry *g, const char *load,
                   const char *store)
{
    return ub_fact(facts, g->op == COALESCING_STORE ? store : load);
}

/* Bytes that DRAM moved. A law that says nothing about one direction, because it is
 * next to nothing, counts it as 0; what the operation itself moves must be known. */
static double dram_bytes(const struct ub_facts *facts, const struct coalescing_geometry *g)
{
    const double read = ub_fact(facts, "dram_read_bytes"), written = ub_fact(facts, "dram_write_bytes");
    if (g->op == COALESCING_LOAD)
        return read + (isnan(written) ? 0 : written);
    if (g->op == COALESCING_STORE)
        return written + (isnan(read) ? 0 : read);
    return read + written;
}

static void metrics(const struct ub_facts *facts, struct ub_metrics *out)
{
    struct coalescing_geometry g;
    out->count = 0;
    if (coalescing_resolve(facts->gpu, facts->point, &g) != NULL)
        return;
    const double useful_bps = coalescing_useful_bytes(&g) / facts->time_ns * 1e9;
    const double requests = side(facts, &g, "global_load_requests", "global_store_requests");
    const double sectors = side(facts, &g, "global_load_sectors", "global_store_sectors");
    const double bytes = side(facts, &g, "global_load_bytes", "global_store_bytes");
    ub_metric_add(out, "useful_bandwidth", "B/s", useful_bps);
    ub_metric_add(out, "ceiling_share", "1",
                  useful_bps / ub_constant_value(facts->constants, coalescing_ceilings[g.op]));
    ub_metric_add(out, "sectors_per_request", "sector/request", sectors / requests);
    ub_metric_add(out, "efficiency", "1", bytes / (UB_SECTOR_BYTES * sectors));
    ub_metric_add(out, "dram_bandwidth", "B/s", dram_bytes(facts, &g) / facts->time_ns * 1e9);
}

/* ---- chart and texts ------------------------------------------------------------------------- */

static double by_sectors(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point)
{
    return coalescing_bandwidth_by_grain(gpu, constants, point, UB_SECTOR_BYTES);
}

static const struct ub_chart_text chart_texts[] = {
    {"stride", "Coalescing: a warp pays for whole sectors, used or not", "min(bytes x s, 32) sectors"},
    {"offset", "Misalignment: a fifth sector; loads hide it, stores pay for it",
     "4 sectors, 5 if offset % 8 > 0 (4 bytes)"},
    {"bytes", "Wider elements need fewer requests for the same bytes", NULL},
    {"op", "Loads, stores and copies have ceilings of their own", NULL},
    {"pattern", "Order is free, duplicates are free, scatter costs a sector a lane", NULL},
    {"fields", "Array of structures: sectors a request grow with the fields", "min(bytes x fields, 32) sectors (aos)"},
    {"block", "Small blocks are launched too slowly to keep DRAM busy", NULL},
    {"shape", "A 2D block coalesces along its first dimension only", NULL},
    {"per_thread", "DRAM's ceiling needs 16 bytes in flight a thread", NULL},
    {"size", "What fits the L2 does not see DRAM", NULL},
    {"", "Coalescing: a request costs the 32-byte sectors it touches", NULL},
};

const struct ub_micro ub_micro_coalescing = {
    .name = "coalescing",
    .rule = "A warp's access to global memory costs as many 32-byte sectors as its active lanes touch.",
    .text =
        {
            .law =
                "sectors a request = number of distinct 32-byte sectors that hold a byte of an active lane; the order "
                "of lanes and duplicates are free. For elements of b bytes at stride s from an aligned start: min(b "
                "s, 32). Lines a request = distinct 128-byte lines. efficiency = distinct bytes / (32 sectors). Time: "
                "DRAM delivers loads in grains (64 bytes on GH100), so loads cost accesses x min(b s, 64) / ceiling; "
                "stores that leave gaps read every sector before they write it, so they cost twice 32 bytes a sector "
                "at the ceiling of a copy. Below that: blocks x time of a block launch, and the time that blocks stay "
                "resident (Little's law).",
            .breaks =
                "Beyond 96 bytes a step, DRAM itself gets slower (few bytes of each row it opens): a factor from a "
                "table measured on an H200, up to 1.74 for loads (of 2 and 4 bytes 10 to 17 % more from 256 bytes on) "
                "and 4.17 for stores in part of a sector. The time of a misaligned load does not follow its fifth "
                "sector, and L1 hides the stride of an array of structures unless its size is a power of two from 32 "
                "bytes on (bank conflicts in L1: 16 fields of 4 bytes take 2.3 times as long; 2 fields took 1.2 times "
                "as long on one of two H200, why is not known). Nothing hides either for stores: a misaligned 4-byte "
                "store takes 1.6 times as long. Stores of 1 and 2 bytes that leave gaps of part of a word take up to "
                "1.8 times as long as predicted; why is not known. Blocks of 8 columns (shape=8x32) take 10 % longer "
                "than predicted, columns of 16-byte elements (1x256) 1.7 to 2.1 times as long. Generations before CC "
                "6.0 have other segments (128 bytes where L1 cached). useful_bandwidth counts an element that a whole "
                "warp shares once.",
            .consequence = "Let neighbouring threads touch neighbouring elements. On an H200 4-byte loads of stride 2 "
                           "halve the useful bandwidth (4.60 to 2.30 TB/s), stride 8 leaves 0.58, stride 32 0.24 "
                           "TB/s; 4-byte stores of stride 2 leave 1.06 of 4.68 TB/s, because half-written sectors are "
                           "read first. Give a thread 16 bytes in flight: one 4-byte load a thread reaches 1.7 of 4.6 "
                           "TB/s.",
            .folk =
                "\"Stride 4 uses 4 of 128 bytes, 3.1 %\": wrong since CC 6.0; 16 sectors, 25 %, and the floor for "
                "scattered 4-byte accesses is 4/32 = 12.5 %. 3.1 % needs 128-byte transactions with one word each.\n"
                "\"An offset of one element costs 20 % of the bandwidth\": the request has 5 sectors instead of 4, "
                "but the time of a load does not follow: on an H200 every offset from 1 to 31 takes 0.3 to 0.5 % "
                "longer than 0, those with 4 sectors (8, 16, 24) as much as those with 5. A store pays: 1.6 times.\n"
                "\"B[k*N + col] is uncoalesced, so L1 hits are few\": with col = lane it is perfectly coalesced; a "
                "low hit rate means that there is no reuse, or that row and column are swapped.\n"
                "\"Threads must access in order\": reverse order has the same sectors and the same time.",
            .sources =
                "CUDA C++ Best Practices Guide, \"Coalesced access to global memory\": the law, offset and stride\n"
                "Nsight Compute Profiling Guide, memory tables: request, sector, 128-byte line of four sectors\n"
                "NVIDIA/cutlass issue 328: 8- and 16-byte accesses in parts of 128 bytes\n"
                "RRZE-HPC/gpu-benches gpu-strides: cycles of strided loads that hit in L1\n"
                "Measured for the constants of law.c: an H200, driver 580, CUDA 13.0, 760 points",
        },
    .axis_count = COALESCING_AXES,
    .axes = axes,
    .owners = &coalescing_owners,
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
            .metric = "useful_bandwidth",
            .metric_label = "useful bandwidth  [GB/s]",
            .metric_scale = 1e-9,
            .share_metric = "ceiling_share",
            .share_label = "share of the ceiling",
            .panel_metric = "sectors_per_request",
            .panel_label = "sectors / request",
            .panel_counter = "counter: l1tex sectors per request",
            .second = by_sectors,
            .second_label = "law, 32-byte sectors",
            .second_gap = "lost to the second half of each 64-byte access",
            .text_count = COUNT(chart_texts),
            .texts = chart_texts,
        },
    .timer = ub_timer_event,
    .supported = supported,
    .footprint = footprint,
    .law = coalescing_law,
    .metrics = metrics,
    .small = coalescing_small,
    .verify = coalescing_verify,
};
