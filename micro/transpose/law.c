/* SPDX-License-Identifier: MIT
 *
 * What `transpose` predicts. Counters: the accesses of access.h, replayed warp by warp
 * through the models of coalescer and banks, for each kind of tile once: inside, at the
 * right edge, at the bottom, in the corner. The integers must be equal to the hardware's.
 * DRAM bytes: estimates. Time: the slowest of a few resources; the constants that are not
 * derived from anything stand in one place below, each with the measurement it is from. */
#include <math.h>
#include <string.h>

#include "harness/contract/record.h"
#include "harness/model/bank.h"
#include "harness/model/time.h"
#include "micro/transpose/access.h"
#include "micro/transpose/rule.h"

/* ---- empirical constants ----------------------------------------------------------
 * From H200 cards (driver 580, SM clock 1980 MHz), 2 GiB moved (16384 x 16384 elements of 4
 * bytes unless said otherwise), medians of graph launches, answers verified. They are fits:
 * what tests them is a new run. */

/* Time over that of the plain copy, 501 us, where DRAM decides: it is at its best when what
 * is in flight at a time lies in few of its rows. By what is contiguous in both matrices:
 * the row of a tile, or less where the rows of a matrix do not begin at multiples of it.
 * Transposing, by tile=64 and 32 with 8 elements a thread: by row 539, 579, by column 520,
 * 545, diagonal 549, 610 us. 64 bytes and less: tile=16 is launched too slowly to tell, at
 * most 1.27 (diagonal 1.42); rows that begin within sectors 633..670 us. */
enum { PIECES = 4 };
static const double piece_bytes[PIECES] = {32, 64, 128, 256};
static const double transposing[TRANSPOSE_ORDERS][PIECES] = {
    [TRANSPOSE_BY_ROW] = {1.27, 1.27, 1.155, 1.076},
    [TRANSPOSE_BY_COLUMN] = {1.27, 1.27, 1.088, 1.04},
    [TRANSPOSE_DIAGONAL] = {1.42, 1.42, 1.217, 1.095},
};
/* Copying, by what one request has of a row: 128 bytes (elements of 4 bytes) 578, 595,
 * 608 us, 256 bytes (8) 1008 us by row, where the plain copy takes 1001; the last two are
 * those of a prototype without shared memory. */
static const double copying[TRANSPOSE_ORDERS][PIECES] = {
    [TRANSPOSE_BY_ROW] = {1.27, 1.27, 1.15, 1.01},
    [TRANSPOSE_BY_COLUMN] = {1.42, 1.42, 1.19, 1.10},
    [TRANSPOSE_DIAGONAL] = {1.42, 1.42, 1.21, 1.12},
};

/* How long a block stays resident, where neither DRAM nor the launch rate decides:
 *     latency + per_warp * warps  [ns]
 * plus `queue` of the DRAM time of the launch, because queues lengthen before DRAM is
 * full. With a barrier between loads and stores: a prototype of padded, tile=16, 32, 64
 * with 1 to 8 elements a thread (584 to 1361 us), worst 3 %. Without one: rule coalescing. */
struct life {
    double latency, per_warp, queue;
};
static const struct life with_barrier = {770, 7.1, 0.73}, without_barrier = {464, 5.7, 0.67};

/* SM cycles of the memory pipe beyond the turns of the banks, for each turn of 128 bytes
 * that a store takes, the load before it included: naive_write (32 turns of L1 a request)
 * 1099 us = 34.2 cycles a request. Warps that wait at a barrier leave the pipe idle now and
 * then: variant=tile, tile=32, 64 1166, 1267 us, of 8 bytes 1429 us, are 1.00 to 1.10 times
 * the sum of all turns. */
static const double cycles_per_store_turn = 2.2, barrier_factor = 1.08;

/* SM cycles of a store that writes sectors in part, so that neighbours meet in the L2: for
 * each line, each sector. naive_read: tile=16, 32, 64 1827, 3999, 4122 us, of 8 bytes 3937,
 * of flat and tall matrices 3764, 4081 us. */
static const double partial_line_cycles = 2.0, partial_sector_cycles = 1.8;

static const double time_tolerance = 0.10; /* where the constants above were measured */
/* DRAM and memory pipe, one busy for 0.8 of the other's time at least, hinder each other:
 * naive_write of 8 bytes, 9 % above the law. */
static const double time_tolerance_two = 0.15, nearly = 0.8;
static const double time_tolerance_assumed = 0.25; /* elsewhere */
static const double dram_tolerance = 0.05;
/* naive_read: sectors that the L2 evicts half written are read, and written twice. H200: 1 to
 * 4 % more bytes in column order, 23 % in row order and in a tall matrix. */
static const double dram_tolerance_partial = 0.25;

/* ---- counters ------------------------------------------------------------------------ */

struct warp {
    uint64_t addresses[UB_WARP_LANES];            /* global memory */
    struct transpose_place places[UB_WARP_LANES]; /* in the tile */
    uint32_t active;
};

typedef struct transpose_place (*side)(uint32_t variant, struct transpose_place lane);

/* One access of a warp: places within the tile by `where`, those inside the matrix active. */
static void place_warp(const struct transpose_geometry *g, struct transpose_place tile, uint32_t warp, uint32_t k,
                       side where, struct warp *out)
{
    const uint32_t rows = g->tile / g->passes;
    out->active = 0;
    for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++) {
        const uint32_t thread = warp * UB_WARP_LANES + lane;
        out->places[lane] = where(g->variant, transpose_lane(g->tile, g->vector, rows, thread, k));
        const uint64_t x = (uint64_t)tile.x * g->tile + out->places[lane].x;
        const uint64_t y = (uint64_t)tile.y * g->tile + out->places[lane].y;
        out->addresses[lane] = 0;
        if (x >= g->n || y >= g->m)
            continue;
        out->active |= UINT32_C(1) << lane;
        const uint64_t element =
            where == transpose_read ? y * g->n + x : transpose_result(g->variant, g->n, g->m, (uint32_t)x, (uint32_t)y);
        out->addresses[lane] = element << g->bytes_log2;
    }
}

typedef struct transpose_place (*step)(struct transpose_place place, uint32_t vector, uint32_t j);
typedef unsigned (*banks)(const uint32_t addresses_bytes[UB_WARP_LANES], uint32_t active, unsigned access_bytes);

/* Pieces of `unit_bytes` that the active lanes need at least. */
static uint64_t pieces(uint32_t active, uint32_t access_bytes, uint32_t unit_bytes)
{
    uint32_t lanes = 0;
    for (uint32_t rest = active; rest != 0; rest &= rest - 1)
        lanes++;
    return ((uint64_t)lanes * access_bytes + unit_bytes - 1) / unit_bytes;
}

/* The accesses to shared memory that go with one access to global memory: one an element. */
static void add_shared(const struct transpose_geometry *g, const struct warp *warp, step next, banks wavefronts,
                       struct transpose_shared *out)
{
    for (uint32_t j = 0; j < g->vector && warp->active != 0; j++) {
        uint32_t addresses[UB_WARP_LANES];
        for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++)
            addresses[lane] = transpose_slot(g->variant, g->pitch, next(warp->places[lane], g->vector, j))
                              << g->bytes_log2;
        out->requests++;
        out->least += pieces(warp->active, g->bytes, UB_LINE_BYTES);
        out->wavefronts += wavefronts(addresses, warp->active, g->bytes);
    }
}

/* Turns of the 32 banks of L1 that gather what a load asks for (rules.md section 1, "L1-hit
 * cost"): the same rule as in shared memory. The lanes of a warp lie within 4 GiB. */
static uint64_t load_turns(const struct transpose_geometry *g, const struct warp *warp)
{
    uint32_t addresses[UB_WARP_LANES];
    for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++)
        addresses[lane] = (uint32_t)warp->addresses[lane];
    return ub_bank_wavefronts(addresses, warp->active, g->vector * g->bytes);
}

static void count_tile(const struct transpose_geometry *g, struct transpose_place tile, struct transpose_counts *out)
{
    *out = (struct transpose_counts){0};
    for (uint32_t warp = 0; warp * UB_WARP_LANES < g->threads; warp++)
        for (uint32_t k = 0; k < g->passes; k++) {
            struct warp access;
            place_warp(g, tile, warp, k, transpose_read, &access);
            ub_coalesce_warp(access.addresses, access.active, g->vector * g->bytes, &out->loads);
            out->load_sectors_least += pieces(access.active, g->vector * g->bytes, UB_SECTOR_BYTES);
            out->load_turns += load_turns(g, &access);
            if (transpose_has_tile(g))
                add_shared(g, &access, transpose_along_x, ub_bank_wavefronts_store, &out->shared_stores);
            place_warp(g, tile, warp, k, transpose_write, &access);
            ub_coalesce_warp(access.addresses, access.active, g->vector * g->bytes, &out->stores);
            out->store_sectors_least += pieces(access.active, g->vector * g->bytes, UB_SECTOR_BYTES);
            if (transpose_has_tile(g))
                add_shared(g, &access, transpose_along_y, ub_bank_wavefronts_counted, &out->shared_loads);
        }
}

static void add_times(struct transpose_counts *sum, const struct transpose_counts *one, uint64_t times)
{
    ub_traffic_add(&sum->loads, &one->loads, times);
    ub_traffic_add(&sum->stores, &one->stores, times);
    sum->shared_loads.requests += one->shared_loads.requests * times;
    sum->shared_loads.wavefronts += one->shared_loads.wavefronts * times;
    sum->shared_stores.requests += one->shared_stores.requests * times;
    sum->shared_stores.wavefronts += one->shared_stores.wavefronts * times;
    sum->shared_loads.least += one->shared_loads.least * times;
    sum->shared_stores.least += one->shared_stores.least * times;
    sum->load_sectors_least += one->load_sectors_least * times;
    sum->store_sectors_least += one->store_sectors_least * times;
    sum->load_turns += one->load_turns * times;
}

/* Tiles along one direction that are alike: the first of them, and how many. */
struct kind {
    uint32_t first, count;
};
enum { KINDS_MAX = 4 + 1 };

/* Tiles `period` apart begin at the same place of a 128-byte line, in both matrices: to the
 * next tile an address moves by tile * bytes, or by that times the length of a row. */
static size_t kinds_of(const struct transpose_geometry *g, uint32_t side_elements, struct kind kinds[KINDS_MAX])
{
    const uint32_t tile_bytes = g->tile * g->bytes, whole = side_elements / g->tile;
    const uint32_t period = tile_bytes < UB_LINE_BYTES ? UB_LINE_BYTES / tile_bytes : 1;
    size_t count = 0;
    for (uint32_t first = 0; first < period && first < whole; first++)
        kinds[count++] = (struct kind){first, (whole - first + period - 1) / period};
    if (side_elements % g->tile != 0)
        kinds[count++] = (struct kind){whole, 1};
    return count;
}

static void count_tiles(const struct transpose_geometry *g, struct transpose_counts *out)
{
    struct kind along[KINDS_MAX], down[KINDS_MAX];
    const size_t kinds_along = kinds_of(g, g->n, along), kinds_down = kinds_of(g, g->m, down);
    for (size_t x = 0; x < kinds_along; x++)
        for (size_t y = 0; y < kinds_down; y++) {
            struct transpose_counts one;
            count_tile(g, (struct transpose_place){along[x].first, down[y].first}, &one);
            add_times(out, &one, (uint64_t)along[x].count * down[y].count);
        }
}

/* A warp of variant=copy: its 16-byte accesses, then its single ones. */
static void count_copy_warp(const struct transpose_geometry *g, uint64_t first, struct transpose_counts *out)
{
    uint64_t addresses[2][UB_WARP_LANES] = {{0}};
    uint32_t active[2] = {0};
    for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++) {
        const struct transpose_span span = transpose_copied(transpose_elements(g), g->vector, first + lane);
        const int single = span.count == 1;
        addresses[single][lane] = span.element << g->bytes_log2;
        active[single] |= (uint32_t)(span.count != 0) << lane;
    }
    for (int single = 0; single < 2; single++) {
        const unsigned bytes = single ? g->bytes : TRANSPOSE_ACCESS_BYTES;
        ub_coalesce_warp(addresses[single], active[single], bytes, &out->loads);
        ub_coalesce_warp(addresses[single], active[single], bytes, &out->stores);
        out->load_sectors_least += pieces(active[single], bytes, UB_SECTOR_BYTES);
        out->store_sectors_least += pieces(active[single], bytes, UB_SECTOR_BYTES);
    }
}

/* A copied block begins at a line; all that have 256 whole accesses are alike. */
static void count_copy(const struct transpose_geometry *g, struct transpose_counts *out)
{
    const uint64_t whole_blocks = transpose_elements(g) / g->vector / g->threads;
    struct transpose_counts one = {0};
    for (uint32_t first = 0; first < g->threads && whole_blocks > 0; first += UB_WARP_LANES)
        count_copy_warp(g, first, &one);
    add_times(out, &one, whole_blocks);
    for (uint64_t first = whole_blocks * g->threads; first < (uint64_t)g->blocks * g->threads; first += UB_WARP_LANES)
        count_copy_warp(g, first, out);
    out->load_turns = out->loads.requests * TRANSPOSE_ACCESS_BYTES / UB_BANK_BYTES;
}

void transpose_count(const struct transpose_geometry *geometry, struct transpose_counts *out)
{
    *out = (struct transpose_counts){0};
    if (geometry->variant == TRANSPOSE_COPY)
        count_copy(geometry, out);
    else
        count_tiles(geometry, out);
}

static void add_structural(struct ub_law *law, const struct transpose_counts *counts)
{
    ub_law_exact(law, "global_load_requests", UB_STRUCTURAL, counts->loads.requests);
    ub_law_exact(law, "global_load_sectors", UB_STRUCTURAL, counts->loads.sectors);
    ub_law_exact(law, "global_load_bytes", UB_STRUCTURAL, counts->loads.bytes);
    ub_law_exact(law, "global_store_requests", UB_STRUCTURAL, counts->stores.requests);
    ub_law_exact(law, "global_store_sectors", UB_STRUCTURAL, counts->stores.sectors);
    ub_law_exact(law, "global_store_bytes", UB_STRUCTURAL, counts->stores.bytes);
    ub_law_exact(law, "global_lines", UB_STRUCTURAL, counts->loads.lines + counts->stores.lines);
    ub_law_exact(law, "shared_load_requests", UB_STRUCTURAL, counts->shared_loads.requests);
    ub_law_exact(law, "shared_load_wavefronts", UB_STRUCTURAL, counts->shared_loads.wavefronts);
    ub_law_exact(law, "shared_store_requests", UB_STRUCTURAL, counts->shared_stores.requests);
    ub_law_exact(law, "shared_store_wavefronts", UB_STRUCTURAL, counts->shared_stores.wavefronts);
}

/* ---- DRAM ------------------------------------------------------------------------------ */

static double matrix_bytes(const struct transpose_geometry *g)
{
    return (double)transpose_elements(g) * g->bytes;
}

double transpose_moved_bytes(const struct transpose_geometry *geometry)
{
    return 2 * matrix_bytes(geometry);
}

static bool in_dram(const struct ub_gpu *gpu, const struct transpose_geometry *g)
{
    return transpose_moved_bytes(g) >= 4 * (double)gpu->l2_bytes;
}

/* Whether every row of both matrices begins at a sector. */
static bool is_aligned(const struct transpose_geometry *g)
{
    const bool rows = (uint64_t)g->n * g->bytes % UB_SECTOR_BYTES == 0;
    return g->variant == TRANSPOSE_COPY || (rows && (uint64_t)g->m * g->bytes % UB_SECTOR_BYTES == 0);
}

static void add_dram(struct ub_law *law, const struct ub_gpu *gpu, const struct transpose_geometry *g, const char *key,
                     double tolerance)
{
    struct ub_law_counter *counter = &law->counters[law->counter_count++];
    *counter = (struct ub_law_counter){.key = key, .class_ = UB_ESTIMATE, .tolerance = tolerance};
    if (!in_dram(gpu, g)) {
        counter->reason = "the footprint is not larger than four L2 caches: what they keep is not modelled";
        return;
    }
    counter->known = true;
    counter->predicted = (uint64_t)llround(matrix_bytes(g));
    counter->reason = g->variant == TRANSPOSE_NAIVE_READ
                          ? "bytes = matrix; sectors that the L2 evicts half written (1 to 23 % on an H200) come on top"
                          : "bytes = matrix; what the L2 keeps, or still has to write, is not in it";
}

static void add_dram_bytes(struct ub_law *law, const struct ub_gpu *gpu, const struct transpose_geometry *g)
{
    const double tolerance = g->variant == TRANSPOSE_NAIVE_READ ? dram_tolerance_partial : dram_tolerance;
    /* up to half of the L2 stays dirty when the kernel ends */
    add_dram(law, gpu, g, "dram_read_bytes", tolerance);
    add_dram(law, gpu, g, "dram_write_bytes", tolerance + 0.5 * (double)gpu->l2_bytes / matrix_bytes(g));
}

/* ---- time ------------------------------------------------------------------------------ */

double transpose_ceiling(const struct ub_constants *constants)
{
    const double measured = ub_constant_value(constants, "transpose_copy_ceiling");
    return isnan(measured) ? ub_constant_value(constants, "dram_copy_ceiling") : measured;
}

static double copy_ns(const struct ub_constants *constants, const struct transpose_geometry *g)
{
    return transpose_moved_bytes(g) * 1e9 / transpose_ceiling(constants);
}

/* Largest power of two that divides the row of a tile and the rows of both matrices. */
static uint32_t piece_of(const struct transpose_geometry *g)
{
    const uint64_t all = (uint64_t)g->tile * g->bytes | (uint64_t)g->n * g->bytes | (uint64_t)g->m * g->bytes;
    return (uint32_t)(all & (~all + 1));
}

static double locality(const struct ub_gpu *gpu, const struct transpose_geometry *g)
{
    if (!gpu->verified || g->variant == TRANSPOSE_COPY)
        return 1;
    const bool copies = g->variant == TRANSPOSE_COPY_SHARED;
    const double *factors = (copies ? copying : transposing)[g->order];
    uint32_t piece = piece_of(g);
    if (copies && piece > UB_WARP_LANES * g->bytes)
        piece = UB_WARP_LANES * g->bytes;
    int i = 0;
    while (i < PIECES - 1 && piece > piece_bytes[i])
        i++;
    return factors[i];
}

/* Blocks that live at the same time on the whole card. */
static double resident_blocks(const struct ub_gpu *gpu, const struct transpose_geometry *g)
{
    uint64_t blocks = (uint64_t)gpu->warps_per_sm * UB_WARP_LANES / g->threads;
    const uint64_t shared = transpose_shared_bytes(g) + gpu->shared_reserved_bytes;
    if (transpose_has_tile(g) && gpu->shared_per_sm_bytes / shared < blocks)
        blocks = gpu->shared_per_sm_bytes / shared;
    if (blocks > (uint64_t)gpu->blocks_per_sm)
        blocks = (uint64_t)gpu->blocks_per_sm;
    return (double)gpu->sms * (double)(blocks > 0 ? blocks : 1);
}

static double residence_ns(const struct ub_gpu *gpu, const struct transpose_geometry *g, double dram_time_ns)
{
    const struct life *life = transpose_has_tile(g) ? &with_barrier : &without_barrier;
    const double one = life->latency + life->per_warp * g->threads / UB_WARP_LANES;
    return fmax(1, g->blocks / resident_blocks(gpu, g)) * one + life->queue * dram_time_ns;
}

static double pipe_cycles(const struct transpose_geometry *g, const struct transpose_counts *counts)
{
    const uint64_t turns = counts->shared_loads.wavefronts + counts->shared_stores.wavefronts + counts->load_turns;
    const double store_turns = (double)counts->stores.bytes / UB_LINE_BYTES;
    return ((double)turns + store_turns * cycles_per_store_turn) * (transpose_has_tile(g) ? barrier_factor : 1);
}

static double partial_store_cycles(const struct transpose_counts *counts)
{
    return partial_line_cycles * (double)counts->stores.lines + partial_sector_cycles * (double)counts->stores.sectors;
}

static void add_time(struct ub_law *law, const struct ub_gpu *gpu, const struct ub_constants *constants,
                     const struct transpose_geometry *g, const struct transpose_counts *counts)
{
    const double ns_per_cycle = 1e3 / (ub_constant_value(constants, "clock_mhz") * gpu->sms);
    const double copy_time = in_dram(gpu, g) ? copy_ns(constants, g) : 0;
    ub_time_term(law, "dram", copy_time * locality(gpu, g));
    if (!in_dram(gpu, g))
        ub_time_term(law, "l2",
                     (double)(counts->loads.sectors + counts->stores.sectors) * UB_SECTOR_BYTES * 1e9 /
                         ub_constant_value(constants, "l2_load_ceiling"));
    ub_time_term(law, "block_launch", g->blocks * ub_constant_value(constants, "block_launch_ns"));
    ub_time_term(law, "block_life", residence_ns(gpu, g, copy_time));
    ub_time_term(law, "memory_pipe", pipe_cycles(g, counts) * ns_per_cycle);
    if (g->variant == TRANSPOSE_NAIVE_READ)
        ub_time_term(law, "partial_store", partial_store_cycles(counts) * ns_per_cycle);
    ub_time_bottleneck(law, ub_constant_value(constants, "launch_floor_ns"));
}

/* Why the time is not tested, or NULL. */
static const char *untested(const struct ub_gpu *gpu, const struct ub_point *point, const struct transpose_geometry *g)
{
    if (!in_dram(gpu, g))
        return "not tested: the footprint is not larger than four L2 caches; the law has no ceiling for stores in L2 "
               "and no ramp of a short kernel";
    if (g->variant == TRANSPOSE_NAIVE_WRITE && !is_aligned(g))
        return "not tested: rows that begin within sectors have few bank conflicts in L1; what remains is not modelled "
               "(H200, 16387 x 16381: 0.71 of the time of 16384 x 16384)";
    if (!transpose_has_tile(g) && point->values[TRANSPOSE_ROWS] != 0)
        return "not tested: without shared memory the law was fitted to blocks of the automatic size";
    return NULL;
}

static double term_ns(const struct ub_law *law, const char *name)
{
    for (size_t i = 0; i < law->term_count; i++)
        if (strcmp(law->terms[i].name, name) == 0)
            return law->terms[i].time_ns;
    return 0;
}

static double tolerance_of(const struct ub_gpu *gpu, const struct ub_law *law)
{
    const double dram = term_ns(law, "dram"), pipe = term_ns(law, "memory_pipe");
    if (!gpu->verified)
        return time_tolerance_assumed;
    return fmin(dram, pipe) < nearly * fmax(dram, pipe) ? time_tolerance : time_tolerance_two;
}

void transpose_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                   struct ub_law *out)
{
    *out = (struct ub_law){.time_ns = NAN, .level = "none"};
    struct transpose_geometry g;
    const char *unsupported = transpose_resolve(gpu, point, &g);
    if (unsupported != NULL) {
        out->note = unsupported;
        return;
    }
    struct transpose_counts counts;
    transpose_count(&g, &counts);
    out->level = in_dram(gpu, &g) ? "dram" : "l2";
    add_structural(out, &counts);
    add_dram_bytes(out, gpu, &g);
    add_time(out, gpu, constants, &g, &counts);
    if (in_dram(gpu, &g) && isnan(copy_ns(constants, &g))) {
        ub_time_unknown(out, UB_NOTE_NO_DRAM);
        return;
    }
    out->note = untested(gpu, point, &g);
    if (out->note != NULL || !isfinite(out->time_ns))
        return;
    out->tolerance = tolerance_of(gpu, out);
    if (!gpu->verified)
        out->note = "assumed: DRAM's locality, block life, memory pipe and partial stores are an H200's";
}
