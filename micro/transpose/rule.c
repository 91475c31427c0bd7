/* SPDX-License-Identifier: MIT
 *
 * The rule `transpose` as data: axes, sweeps, counters, metrics, chart and texts. */
#include <math.h>

#include "harness/contract/record.h"
#include "micro/transpose/rule.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const variants[] = {"copy",   "copy_shared", "naive_read", "naive_write", "tile",
                                       "padded", "swizzle",     "vector",     NULL};
static const char *const widths[] = {"4", "8", NULL};
static const char *const orders[] = {"auto", "row", "column", "diagonal", NULL};

static const struct ub_axis axes[TRANSPOSE_AXES] = {
    [TRANSPOSE_VARIANT] = {.name = "variant",
                           .unit = "",
                           .help = "how the matrix is moved; naive_read: coalesced reads, naive_write: coalesced "
                                   "writes; tile, padded, swizzle, vector: through shared memory",
                           .kind = UB_AXIS_WORD,
                           .words = variants,
                           .initial = "padded"},
    [TRANSPOSE_N] = {.name = "n",
                     .unit = "element",
                     .help = "columns of the source; auto: a power of two with which both matrices have 2 GiB and 20 "
                             "L2 caches at least",
                     .kind = UB_AXIS_INTEGER,
                     .minimum = 1,
                     .maximum = 4 << 20,
                     .zero_word = "auto",
                     .initial = "auto"},
    [TRANSPOSE_M] = {.name = "m",
                     .unit = "element",
                     .help = "rows of the source; auto: as many as columns",
                     .kind = UB_AXIS_INTEGER,
                     .minimum = 1,
                     .maximum = 4 << 20,
                     .zero_word = "auto",
                     .initial = "auto"},
    [TRANSPOSE_TILE_SIDE] = {.name = "tile",
                             .unit = "element",
                             .help = "side of a tile: 8, 16, 32 or 64; auto: rows of 256 bytes, without shared memory "
                                     "32 elements",
                             .kind = UB_AXIS_INTEGER,
                             .minimum = 8,
                             .maximum = TRANSPOSE_SIDE_MAX,
                             .zero_word = "auto",
                             .initial = "auto"},
    [TRANSPOSE_PAD] = {.name = "pad",
                       .unit = "element",
                       .help = "by which rows of the tile are longer in shared memory (variant=padded, vector)",
                       .kind = UB_AXIS_INTEGER,
                       .minimum = 0,
                       .maximum = 4,
                       .initial = "1"},
    [TRANSPOSE_BYTES] = {.name = "bytes",
                         .unit = "byte",
                         .help = "width of an element",
                         .kind = UB_AXIS_WORD,
                         .words = widths,
                         .initial = "4"},
    [TRANSPOSE_ROWS] = {.name = "rows",
                        .unit = "thread",
                        .help = "threads of a block one below the other, each of which moves tile / rows elements; "
                                "auto: 32 bytes in flight a thread, 16 without shared memory",
                        .kind = UB_AXIS_INTEGER,
                        .minimum = 2,
                        .maximum = TRANSPOSE_SIDE_MAX,
                        .zero_word = "auto",
                        .initial = "auto"},
    [TRANSPOSE_ORDER] = {.name = "order",
                         .unit = "",
                         .help = "how blocks walk over the tiles of the source; auto: so that they write the result "
                                 "row by row",
                         .kind = UB_AXIS_WORD,
                         .words = orders,
                         .initial = "auto"},
};

static const struct ub_sweep sweeps[] = {
    {"variant", UB_SUITE_DEFAULT | UB_SUITE_QUICK | UB_SUITE_FULL, "variant=all",
     "the ways to transpose, against a copy"},
    {"bytes", UB_SUITE_DEFAULT | UB_SUITE_FULL, "variant=all bytes=8", "the same for elements of 8 bytes"},
    {"pad", UB_SUITE_DEFAULT | UB_SUITE_FULL, "pad=0..4 tile=8,16,32,64 variant=padded",
     "a pad removes bank conflicts if it is odd"},
    {"tile", UB_SUITE_DEFAULT | UB_SUITE_FULL, "tile=8,16,32,64 variant=naive_read,naive_write,tile,swizzle",
     "small tiles have fewer conflicts, but blocks are launched too slowly"},
    {"order", UB_SUITE_DEFAULT | UB_SUITE_FULL, "order=row,column,diagonal variant=copy_shared,padded,vector",
     "the order of blocks decides how well DRAM's rows are used"},
    {"textbook", UB_SUITE_DEFAULT | UB_SUITE_FULL, "order=row,column rows=8 tile=32 variant=padded",
     "the block of the textbook: 32 x 8 threads with four elements each"},
    {"edge", UB_SUITE_DEFAULT | UB_SUITE_FULL, "n=16387 m=16381 variant=naive_read,naive_write,tile,padded,swizzle",
     "rows that no tile divides and that begin within sectors"},
    {"edge_copy", UB_SUITE_DEFAULT | UB_SUITE_FULL, "n=16387 m=16381 variant=copy,copy_shared",
     "copies of the same matrix"},
    {"flat", UB_SUITE_DEFAULT | UB_SUITE_FULL, "n=1048576 m=256 variant=naive_read,naive_write,padded,vector",
     "few long rows"},
    {"tall", UB_SUITE_DEFAULT | UB_SUITE_FULL, "n=256 m=1048576 variant=naive_read,naive_write,padded,vector",
     "many short rows"},
    {"edge_vector", UB_SUITE_FULL, "n=16388 m=16412 variant=vector bytes=4,8",
     "16-byte accesses where no tile divides the sides"},
    {"edge_small", UB_SUITE_FULL, "n=1,1000 m=33,1500 tile=8,32,64 variant=padded,swizzle,naive_read",
     "matrices smaller than a tile, and a little larger"},
    {"rows", UB_SUITE_FULL, "rows=4,8,16,32 tile=32 variant=copy_shared,tile,padded,swizzle",
     "accesses in flight of a thread that has to wait for its block"},
    {"rows_vector", UB_SUITE_FULL, "rows=8,16,32,64 tile=64 variant=vector", "the same with 16 bytes an access"},
    {"pad_bytes", UB_SUITE_FULL, "pad=0..4 tile=8,16,32,64 variant=padded,vector bytes=8",
     "pads for elements of 8 bytes"},
    {"n", UB_SUITE_FULL, "n=256..16384*2 variant=copy,naive_read,padded,vector", "from what fits the L2 to DRAM"},
};

static const char *const counters[] = {
    "global_load_requests",  "global_load_sectors",     "global_load_bytes",
    "global_store_requests", "global_store_sectors",    "global_store_bytes",
    "global_lines",          "shared_load_requests",    "shared_load_wavefronts",
    "shared_store_requests", "shared_store_wavefronts", "dram_read_bytes",
    "dram_write_bytes",
};

static const char *const needs[] = {
    "transpose_copy_ceiling", "dram_copy_ceiling", "l2_load_ceiling", "block_launch_ns", "launch_floor_ns", "clock_mhz",
};

static const struct ub_provides provides[] = {
    {"transpose_copy_ceiling", "variant=copy", "bandwidth"},
};

static const char *const metric_keys[] = {
    "bandwidth",
    "copy_share",
    "request_excess",
    "load_sectors_per_request",
    "store_sectors_per_request",
    "shared_load_conflicts",
    "shared_store_conflicts",
    "dram_bandwidth",
};

/* ---- functions ----------------------------------------------------------------------------- */

static const char *supported(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct transpose_geometry g;
    return transpose_resolve(gpu, point, &g);
}

static void footprint(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_footprint *out)
{
    struct transpose_geometry g;
    *out = (struct ub_footprint){0};
    if (transpose_resolve(gpu, point, &g) != NULL)
        return;
    const uint64_t region = transpose_region_bytes(&g);
    out->buffers[0] = (struct ub_buffer_spec){"source", UB_DEVICE_MEMORY, UB_FILL_RANDOM, false, region};
    out->buffers[1] = (struct ub_buffer_spec){"destination", UB_DEVICE_MEMORY, UB_FILL_POISON, true, region};
    out->count = 2;
}

/* Of two counters; NaN where there are no requests. */
static double per_request(const struct ub_facts *facts, const char *key, const char *requests_key)
{
    const double requests = ub_fact(facts, requests_key);
    return requests > 0 ? ub_fact(facts, key) / requests : NAN;
}

/* A counter over the least that its requests could take, of which the law's replay knows
 * how many lanes are active; NaN where there are none. */
static double over_least(const struct ub_facts *facts, const char *key, uint64_t least)
{
    return least > 0 ? ub_fact(facts, key) / (double)least : NAN;
}

/* Turns of a request beyond the least. */
static double conflicts(const struct ub_facts *facts, const char *key, const struct transpose_shared *shared)
{
    if (shared->requests == 0)
        return NAN;
    return (ub_fact(facts, key) - (double)shared->least) / (double)shared->requests;
}

static void metrics(const struct ub_facts *facts, struct ub_metrics *out)
{
    struct transpose_geometry g;
    out->count = 0;
    if (transpose_resolve(facts->gpu, facts->point, &g) != NULL)
        return;
    const double bandwidth_bps = transpose_moved_bytes(&g) / facts->time_ns * 1e9;
    const double loads = per_request(facts, "global_load_sectors", "global_load_requests");
    const double stores = per_request(facts, "global_store_sectors", "global_store_requests");
    struct transpose_counts counts;
    transpose_count(&g, &counts);
    /* fmax() passes over what is NaN: a variant without shared memory has two ratios only */
    const double excess = fmax(fmax(over_least(facts, "global_load_sectors", counts.load_sectors_least),
                                    over_least(facts, "global_store_sectors", counts.store_sectors_least)),
                               fmax(over_least(facts, "shared_load_wavefronts", counts.shared_loads.least),
                                    over_least(facts, "shared_store_wavefronts", counts.shared_stores.least)));
    ub_metric_add(out, "bandwidth", "B/s", bandwidth_bps);
    ub_metric_add(out, "copy_share", "1", bandwidth_bps / transpose_ceiling(facts->constants));
    ub_metric_add(out, "request_excess", "1", excess);
    ub_metric_add(out, "load_sectors_per_request", "sector/request", loads);
    ub_metric_add(out, "store_sectors_per_request", "sector/request", stores);
    ub_metric_add(out, "shared_load_conflicts", "wavefront/request",
                  conflicts(facts, "shared_load_wavefronts", &counts.shared_loads));
    ub_metric_add(out, "shared_store_conflicts", "wavefront/request",
                  conflicts(facts, "shared_store_wavefronts", &counts.shared_stores));
    ub_metric_add(out, "dram_bandwidth", "B/s",
                  (ub_fact(facts, "dram_read_bytes") + ub_fact(facts, "dram_write_bytes")) / facts->time_ns * 1e9);
}

/* ---- chart and texts ------------------------------------------------------------------------- */

static const struct ub_chart_text chart_texts[] = {
    {"variant", "Transpose: whole sectors, no bank conflicts: almost a copy", NULL},
    {"n", "The L2 does not forgive half-written sectors", NULL},
    {"m", "A good transpose cares little for the shape of the matrix", NULL},
    {"tile", "Small tiles are launched too slowly, whatever their conflicts", NULL},
    {"pad", "One element of pad removes the conflicts of a tile 32 wide", NULL},
    {"bytes", "Wider elements make wider pieces of a row", NULL},
    {"rows", "A thread that waits for its block needs 32 bytes in flight", NULL},
    {"order", "Blocks should write, not read, along the rows of DRAM", NULL},
    {"", "Transpose: sectors on both sides, banks between", NULL},
};

const struct ub_micro ub_micro_transpose = {
    .name = "transpose",
    .rule = "A transpose is as fast as a copy if both sides touch whole sectors and its tile has no bank conflicts.",
    .text =
        {
            .law =
                "A warp that reads along a row and writes along a column makes 32 half-written sectors of a request; "
                "the other way round it reads 32 sectors. Through a tile in shared memory both sides go along rows: 4 "
                "sectors a request of 4-byte elements. The tile is then read along its columns: of a tile of 32 "
                "columns all 32 lanes want one bank, 32 turns a request; gcd(32 + pad, 32) turns with a pad, 1 with "
                "an odd one or with column x of row y kept at x xor y. Tiles at the edges are counted lane by lane. "
                "request_excess is the largest ratio of what a request costs, in sectors or turns, to the least. "
                "Time: the slowest of DRAM (bytes / copy ceiling, times a factor for the order of blocks), launch of "
                "blocks, life of blocks that wait at a barrier, turns of the memory pipe, partial stores.",
            .breaks =
                "Rows that do not begin at a sector: neighbouring tiles share sectors, and the best variants take 1.2 "
                "to 1.3 times as long (H200, 16387 x 16381), while naive_write takes 0.7 of its time, because such "
                "rows have few conflicts in L1. Tiles of 8 x 8 touch whole sectors and have few conflicts, yet 4 "
                "million blocks take 2.5 ms to launch, five times a copy. naive_write is better than its 32 sectors a "
                "request: L1 keeps them for the next 7 requests, and what remains is a bank conflict in L1. How many "
                "half-written sectors the L2 evicts before they are complete depends on order and shape: naive_read "
                "moved 0.4 to 4 % more bytes than square matrices have, 21 % more than a tall one. No pad helps tiles "
                "of 8 and 16 wholly, where a warp holds several rows; xor does. A tile of 32 without pad takes 1.2 "
                "and 1.5 times the law's time with 16 and 32 rows of threads, vector 0.9 times on sides that no tile "
                "divides.",
            .consequence =
                "Move tiles with 256 bytes a row through shared memory, pad their rows by one element, give a thread "
                "32 bytes in flight, and let neighbouring blocks write neighbouring addresses. On an H200, of a "
                "copy's 4.30 TB/s (16384 x 16384 floats): naive_read 12.7 %, naive_write 45 %, a tile without pad 39 "
                "%, padded and vector 96 %. The textbook's 32 x 8 threads with 4 floats each stay at 81 % in row "
                "order and 85 % in column order.",
            .folk =
                "\"Uncoalesced reads are as bad as uncoalesced writes\": a copy is 8 times as fast as naive_read, but "
                "only 2.2 times as naive_write, because L1 serves reads again and merges no writes. With 16 x 16 "
                "tiles naive_write is as fast as a padded tile.\n"
                "\"Bank conflicts cost 1.2 times\": where DRAM hides them. Here 32 turns a request are 2.4 times.\n"
                "\"Diagonal block order avoids partition camping\": true of CC 1.x, whose partitions were not hashed; "
                "here it is the slowest of three orders.\n"
                "\"Padding wastes memory, swizzling is faster\": both have the same turns; the time is the same in "
                "tiles of 32, and swizzling takes 3.4 % longer in tiles of 64.",
            .sources =
                "Ruetsch, Micikevicius, Optimizing Matrix Transpose in CUDA (NVIDIA, 2009): tiles, pad, diagonal "
                "order\n"
                "NVIDIA developer blog, An Efficient Matrix Transpose in CUDA C/C++ (2013): 32 x 8 threads\n"
                "CUDA C++ Best Practices Guide, \"Shared memory\": banks, and the pad of one column\n"
                "CUDA C++ Best Practices Guide, \"Coalesced access to global memory\"\n"
                "Measured for the constants of law.c: an H200, driver 580, CUDA 13.0; before the record of "
                "reports/h200",
        },
    .axis_count = TRANSPOSE_AXES,
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
            .metric = "bandwidth",
            .metric_label = "bandwidth, read + written  [GB/s]",
            .metric_scale = 1e-9,
            .share_metric = "copy_share",
            .share_label = "share of a copy",
            .panel_metric = "request_excess",
            .panel_label = "request / least",
            .panel_counter = "counter: sectors or wavefronts of a request over the least possible",
            .text_count = COUNT(chart_texts),
            .texts = chart_texts,
        },
    .timer = ub_timer_event,
    .supported = supported,
    .footprint = footprint,
    .law = transpose_law,
    .metrics = metrics,
    .small = transpose_small,
    .verify = transpose_verify,
};
