/* SPDX-License-Identifier: MIT
 *
 * What all warps of a launch do: the accesses of access.h, replayed through the models of
 * coalescer and banks for each kind of block (inside, at the right edge, at the lower one, in
 * the corner) and each kind of step along k (whole, the last one), and taken as often as there
 * are such. Every side of a tile is a multiple of 8 elements, 32 bytes: a tile begins at the
 * same place of a sector as the first one does, whatever the lengths of rows. */
#include "micro/gemm/law_count.h"
#include "harness/model/bank.h"
#include "micro/gemm/access.h"

enum { ELEMENT_BYTES = 4, CHUNK_BYTES = GEMM_CHUNK * ELEMENT_BYTES };

void gemm_lane_at(struct gemm_access *access, uint32_t lane, const struct gemm_matrix *matrix, uint64_t row,
                  uint64_t column)
{
    const bool inside = row < matrix->rows && column < matrix->columns;
    access->addresses[lane] = inside ? (row * matrix->columns + column) * matrix->element_bytes : 0;
    access->active |= (uint32_t)inside << lane;
}

struct gemm_matrix gemm_matrix_a(const struct gemm_geometry *g)
{
    return (struct gemm_matrix){g->shape.m, g->shape.k, g->half ? 2 : 4};
}
struct gemm_matrix gemm_matrix_b(const struct gemm_geometry *g)
{
    return (struct gemm_matrix){g->shape.k, g->shape.n, g->half ? 2 : 4};
}
struct gemm_matrix gemm_matrix_c(const struct gemm_geometry *g)
{
    return (struct gemm_matrix){g->shape.m, g->shape.n, 4};
}

unsigned gemm_turns_of(const struct gemm_access *access, unsigned bytes)
{
    uint32_t addresses[UB_WARP_LANES];
    for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++)
        addresses[lane] = (uint32_t)access->addresses[lane] & ~(uint32_t)(UB_BANK_BYTES - 1);
    return ub_bank_wavefronts(addresses, access->active, bytes < UB_BANK_BYTES ? UB_BANK_BYTES : bytes);
}

/* A load that finds its data in L1 takes as long as these turns, or as its tags, of which four are
 * looked up at a time (rules.md section 1, "L1-hit cost"). */
void gemm_add_load(struct gemm_counts *out, const struct gemm_access *access, unsigned bytes, uint64_t times)
{
    struct ub_traffic one = {0};
    ub_coalesce_warp(access->addresses, access->active, bytes, &one);
    if (one.requests == 0)
        return;
    const unsigned turns = gemm_turns_of(access, bytes);
    const double tags = 0.6 + (double)one.lines / 4;
    ub_traffic_add(&out->loads, &one, times);
    out->load_turns += times * turns;
    out->load_cycles += (double)times * ((double)turns > tags ? (double)turns : tags);
}

void gemm_add_store(struct gemm_counts *out, const struct gemm_access *access, unsigned bytes)
{
    ub_coalesce_warp(access->addresses, access->active, bytes, &out->stores);
}

void gemm_add_shared_load(struct gemm_shared *out, const uint32_t addresses[UB_WARP_LANES], unsigned bytes,
                          uint64_t times)
{
    out->requests += times;
    out->wavefronts += times * ub_bank_wavefronts_counted(addresses, 0xFFFFFFFFu, bytes);
    out->turns += times * ub_bank_wavefronts(addresses, 0xFFFFFFFFu, bytes);
}

void gemm_add_shared_store(struct gemm_shared *out, const uint32_t addresses[UB_WARP_LANES], unsigned bytes)
{
    const unsigned wavefronts = ub_bank_wavefronts_store(addresses, 0xFFFFFFFFu, bytes);
    out->requests++;
    out->wavefronts += wavefronts;
    out->turns += wavefronts;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- naive --------------------------------------------------------------------------- */

/* Rows and columns of C that a block of the kind has inside the matrix. */
static uint64_t rows_inside(const struct gemm_part *p)
{
    return least(p->g->tile_m, p->g->shape.m - p->top);
}
static uint64_t columns_inside(const struct gemm_part *p)
{
    return least(p->g->tile_n, p->g->shape.n - p->left);
}

/* A warp's lanes are along one side of the block; its warps, along the other, do the same but
 * for the line of one of the matrices that all lanes share. */
static void naive_step(const struct gemm_part *p)
{
    const struct gemm_geometry *g = p->g;
    const bool turned = g->variant == GEMM_NAIVE_COL;
    const struct gemm_matrix of_a = gemm_matrix_a(g), of_b = gemm_matrix_b(g);
    const uint64_t warps = turned ? columns_inside(p) : rows_inside(p);
    const uint64_t end = least(p->first + g->tile_k, g->shape.k);
    for (uint64_t i = p->first; i < end; i++) {
        struct gemm_access a = {.active = 0}, b = {.active = 0};
        for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++) {
            const struct gemm_place place = gemm_result_of(turned, GEMM_NAIVE_ALONG, lane);
            const uint64_t row = p->top + place.row, column = p->left + place.column;
            if (row >= g->shape.m || column >= g->shape.n)
                continue;
            gemm_lane_at(&a, lane, &of_a, row, i);
            gemm_lane_at(&b, lane, &of_b, i, column);
        }
        gemm_add_load(p->out, &a, ELEMENT_BYTES, warps);
        gemm_add_load(p->out, &b, ELEMENT_BYTES, warps);
    }
    p->out->multiply_adds += rows_inside(p) * columns_inside(p) * (end - p->first);
}

/* The results of a block with one a thread. */
static void single_results(const struct gemm_part *p)
{
    const struct gemm_geometry *g = p->g;
    const bool turned = g->variant == GEMM_NAIVE_COL;
    const struct gemm_matrix of_c = gemm_matrix_c(g);
    const uint32_t along = g->variant == GEMM_TILED ? g->tile_n : GEMM_NAIVE_ALONG;
    for (uint32_t first = 0; first < g->threads; first += UB_WARP_LANES) {
        struct gemm_access c = {.active = 0};
        for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++) {
            const struct gemm_place place = gemm_result_of(turned, along, first + lane);
            gemm_lane_at(&c, lane, &of_c, p->top + place.row, p->left + place.column);
        }
        gemm_add_store(p->out, &c, ELEMENT_BYTES);
    }
}

/* ---- tiled ------------------------------------------------------------------------------ */

/* All warps and all four-element pieces of a step read shared memory alike: from one to the
 * next all addresses of a warp move by the same number of words. */
static void tiled_shared(const struct gemm_part *p)
{
    const struct gemm_geometry *g = p->g;
    const uint64_t warps = g->threads / UB_WARP_LANES;
    uint32_t a[UB_WARP_LANES], b[UB_WARP_LANES], store[UB_WARP_LANES];
    for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++) {
        const struct gemm_place place = gemm_result_of(false, g->tile_n, lane);
        a[lane] = place.row * g->tile_k * ELEMENT_BYTES;
        b[lane] = place.column * ELEMENT_BYTES;
        store[lane] = (place.row * g->tile_k + place.column) * ELEMENT_BYTES;
    }
    gemm_add_shared_load(&p->out->shared_loads, a, CHUNK_BYTES, warps * (g->tile_k / GEMM_CHUNK));
    gemm_add_shared_load(&p->out->shared_loads, b, ELEMENT_BYTES, warps * g->tile_k);
    for (uint64_t i = 0; i < 2 * warps; i++) /* A's tile and B's */
        gemm_add_shared_store(&p->out->shared_stores, store, ELEMENT_BYTES);
}

static void tiled_step(const struct gemm_part *p)
{
    const struct gemm_geometry *g = p->g;
    const struct gemm_matrix of_a = gemm_matrix_a(g), of_b = gemm_matrix_b(g);
    for (uint32_t first = 0; first < g->threads; first += UB_WARP_LANES) {
        struct gemm_access a = {.active = 0}, b = {.active = 0};
        for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++) {
            const struct gemm_place place = gemm_result_of(false, g->tile_n, first + lane);
            gemm_lane_at(&a, lane, &of_a, p->top + place.row, p->first + place.column);
            gemm_lane_at(&b, lane, &of_b, p->first + place.row, p->left + place.column);
        }
        gemm_add_load(p->out, &a, ELEMENT_BYTES, 1);
        gemm_add_load(p->out, &b, ELEMENT_BYTES, 1);
    }
    tiled_shared(p);
    p->out->multiply_adds += (uint64_t)g->tile_m * g->tile_n * g->tile_k;
}

/* ---- register ----------------------------------------------------------------------------- */

/* A chunk of four elements a lane: one access of 16 bytes, or four of 4. */
static void chunk_access(const struct gemm_geometry *g, const struct gemm_matrix *matrix,
                         const struct gemm_place places[UB_WARP_LANES], uint64_t top, uint64_t left, bool store,
                         struct gemm_counts *out)
{
    const uint32_t pieces = g->vector ? 1 : GEMM_CHUNK;
    const unsigned bytes = g->vector ? CHUNK_BYTES : ELEMENT_BYTES;
    for (uint32_t i = 0; i < pieces; i++) {
        struct gemm_access access = {.active = 0};
        for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++)
            gemm_lane_at(&access, lane, matrix, top + places[lane].row, left + places[lane].column + i);
        if (store)
            gemm_add_store(out, &access, bytes);
        else
            gemm_add_load(out, &access, bytes, 1);
    }
}

static void register_stores(const struct gemm_part *p, const struct gemm_place a[UB_WARP_LANES],
                            const struct gemm_place b[UB_WARP_LANES])
{
    const struct gemm_geometry *g = p->g;
    uint32_t addresses[UB_WARP_LANES];
    for (uint32_t i = 0; i < GEMM_CHUNK; i++) {
        for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++) {
            const struct gemm_place place = {a[lane].row, a[lane].column + i};
            addresses[lane] = gemm_slot_of_a(g->tile_m, place) * ELEMENT_BYTES;
        }
        gemm_add_shared_store(&p->out->shared_stores, addresses, ELEMENT_BYTES);
    }
    for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++)
        addresses[lane] = gemm_slot_of_b(g->tile_n, b[lane]) * ELEMENT_BYTES;
    gemm_add_shared_store(&p->out->shared_stores, addresses, CHUNK_BYTES);
}

/* What a warp needs for one place along k, of A and of B; the same in all warps and at all places. */
static void register_loads(const struct gemm_part *p)
{
    const struct gemm_geometry *g = p->g;
    const uint64_t times = (uint64_t)(g->threads / UB_WARP_LANES) * g->tile_k * (g->side / GEMM_CHUNK);
    uint32_t a[UB_WARP_LANES], b[UB_WARP_LANES];
    for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++) {
        const struct gemm_place corner = gemm_corner_of(g->side, lane, 0, 0);
        const struct gemm_place of_a = {corner.row, 0}, of_b = {0, corner.column};
        a[lane] = gemm_slot_of_a(g->tile_m, of_a) * ELEMENT_BYTES;
        b[lane] = gemm_slot_of_b(g->tile_n, of_b) * ELEMENT_BYTES;
    }
    gemm_add_shared_load(&p->out->shared_loads, a, CHUNK_BYTES, times);
    gemm_add_shared_load(&p->out->shared_loads, b, CHUNK_BYTES, times);
}

static void register_step(const struct gemm_part *p)
{
    const struct gemm_geometry *g = p->g;
    const struct gemm_matrix of_a = gemm_matrix_a(g), of_b = gemm_matrix_b(g);
    for (uint32_t first = 0; first < g->threads; first += UB_WARP_LANES) {
        struct gemm_place a[UB_WARP_LANES], b[UB_WARP_LANES];
        for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++) {
            a[lane] = gemm_chunk_of_a(g->tile_m, first + lane);
            b[lane] = gemm_chunk_of_b(g->tile_n, first + lane);
        }
        chunk_access(g, &of_a, a, p->top, p->first, false, p->out);
        chunk_access(g, &of_b, b, p->first, p->left, false, p->out);
        register_stores(p, a, b);
    }
    register_loads(p);
    p->out->multiply_adds += (uint64_t)g->tile_m * g->tile_n * g->tile_k;
}

static void register_results(const struct gemm_part *p)
{
    const struct gemm_geometry *g = p->g;
    const struct gemm_matrix of_c = gemm_matrix_c(g);
    for (uint32_t first = 0; first < g->threads; first += UB_WARP_LANES)
        for (uint32_t y = 0; y < g->side; y++)
            for (uint32_t j = 0; j < g->side / GEMM_CHUNK; j++) {
                struct gemm_place places[UB_WARP_LANES];
                for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++) {
                    places[lane] = gemm_corner_of(g->side, first + lane, y / GEMM_CHUNK, j);
                    places[lane].row += y % GEMM_CHUNK;
                }
                chunk_access(g, &of_c, places, p->top, p->left, true, p->out);
            }
}

/* ---- all blocks ---------------------------------------------------------------------------- */

static const struct {
    void (*step)(const struct gemm_part *);
    void (*results)(const struct gemm_part *);
} variants[GEMM_VARIANTS] = {
    [GEMM_NAIVE_COL] = {naive_step, single_results},      [GEMM_NAIVE_ROW] = {naive_step, single_results},
    [GEMM_TILED] = {tiled_step, single_results},          [GEMM_REGISTER] = {register_step, register_results},
    [GEMM_ASYNC] = {gemm_async_step, gemm_async_results}, [GEMM_TENSOR] = {gemm_tensor_step, gemm_tensor_results},
};

void gemm_count_step(const struct gemm_part *p)
{
    variants[p->g->variant].step(p);
}

void gemm_count_results(const struct gemm_part *p)
{
    variants[p->g->variant].results(p);
}

static void add_shared_times(struct gemm_shared *sum, const struct gemm_shared *one, uint64_t times)
{
    sum->requests += one->requests * times;
    sum->wavefronts += one->wavefronts * times;
    sum->turns += one->turns * times;
}

static void add_times(struct gemm_counts *sum, const struct gemm_counts *one, uint64_t times)
{
    sum->multiply_adds += one->multiply_adds * times;
    ub_traffic_add(&sum->loads, &one->loads, times);
    ub_traffic_add(&sum->stores, &one->stores, times);
    ub_traffic_add(&sum->copies, &one->copies, times);
    sum->load_turns += one->load_turns * times;
    sum->load_cycles += one->load_cycles * (double)times;
    sum->matrix_instructions += one->matrix_instructions * times;
    sum->copy_wavefronts += one->copy_wavefronts * times;
    add_shared_times(&sum->shared_loads, &one->shared_loads, times);
    add_shared_times(&sum->shared_stores, &one->shared_stores, times);
}

/* Tiles along one side that are alike: where the first of them begins, and how many. */
struct kind {
    uint64_t first, count;
};
enum { KINDS_MAX = 2 };

static size_t kinds_of(uint64_t side, uint32_t tile, struct kind kinds[KINDS_MAX])
{
    size_t count = 0;
    if (side / tile > 0)
        kinds[count++] = (struct kind){0, side / tile};
    if (side % tile != 0)
        kinds[count++] = (struct kind){side / tile * tile, 1};
    return count;
}

void gemm_count(const struct gemm_geometry *g, struct gemm_counts *out)
{
    struct kind down[KINDS_MAX], along[KINDS_MAX], steps[KINDS_MAX];
    *out = (struct gemm_counts){0};
    if (g->tile_m == 0 || variants[g->variant].step == NULL)
        return;
    const size_t kinds_down = kinds_of(g->shape.m, g->tile_m, down),
                 kinds_along = kinds_of(g->shape.n, g->tile_n, along);
    const size_t kinds_steps = kinds_of(g->shape.k, g->tile_k, steps);
    for (size_t y = 0; y < kinds_down; y++)
        for (size_t x = 0; x < kinds_along; x++) {
            struct gemm_counts block = {0}, one = {0};
            struct gemm_part part = {.g = g, .top = down[y].first, .left = along[x].first, .out = &block};
            gemm_count_results(&part);
            part.out = &one;
            for (size_t s = 0; s < kinds_steps; s++) {
                one = (struct gemm_counts){0};
                part.first = steps[s].first;
                gemm_count_step(&part);
                add_times(&block, &one, steps[s].count);
            }
            add_times(out, &block, down[y].count * along[x].count);
        }
}
