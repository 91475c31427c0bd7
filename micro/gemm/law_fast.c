/* SPDX-License-Identifier: MIT
 *
 * What a step and the end of a block do in the kernels that copy from global to shared memory
 * in the background: async.cu, tensor.cu. A copy of what lies beyond a matrix reads nothing and
 * writes zeroes: the instructions are the same at edges. */
#include "harness/model/bank.h"
#include "micro/gemm/async.h"
#include "micro/gemm/law_count.h"
#include "micro/gemm/tensor.h"

enum { FLOAT_BYTES = 4, WIDE_BYTES = 16, PAIR_BYTES = 8 };

/* A copy takes as many turns as the slower of what it writes into shared memory and, where it goes
 * through L1 (4 bytes), what it reads there (H200: eight elements of four rows that lie a power of
 * two apart take four turns). */
static void add_copy(struct gemm_counts *out, const struct gemm_access *access, const uint32_t to_bytes[UB_WARP_LANES],
                     unsigned bytes)
{
    struct ub_traffic one = {0};
    ub_coalesce_warp(access->addresses, access->active, bytes, &one);
    one.requests = 1; /* executed even where no lane has anything to read */
    ub_traffic_add(&out->copies, &one, 1);
    const unsigned writes = ub_bank_wavefronts_store(to_bytes, 0xFFFFFFFFu, bytes);
    const unsigned reads = bytes < WIDE_BYTES ? gemm_turns_of(access, bytes) : 0;
    out->copy_wavefronts += reads > writes ? reads : writes;
}

/* ---- async --------------------------------------------------------------------------- */

static void async_copy_of_a(const struct gemm_part *p, uint32_t first, uint32_t copy)
{
    const struct gemm_matrix matrix = gemm_matrix_a(p->g);
    struct gemm_access access = {.active = 0};
    uint32_t to[UB_WARP_LANES];
    for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++) {
        const struct gemm_place place = gemm_async_a(first + lane, copy);
        gemm_lane_at(&access, lane, &matrix, p->top + place.row, p->first + place.column);
        to[lane] = gemm_async_slot_of_a(place) * FLOAT_BYTES;
    }
    add_copy(p->out, &access, to, FLOAT_BYTES);
}

static uint32_t async_width(const struct gemm_part *p)
{
    return p->g->vector ? GEMM_ASYNC_WORDS : 1;
}

static void async_copy_of_b(const struct gemm_part *p, uint32_t first, uint32_t copy)
{
    const struct gemm_matrix matrix = gemm_matrix_b(p->g);
    struct gemm_access access = {.active = 0};
    uint32_t to[UB_WARP_LANES];
    for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++) {
        const struct gemm_place place = gemm_async_b(async_width(p), first + lane, copy);
        gemm_lane_at(&access, lane, &matrix, p->first + place.row, p->left + place.column);
        to[lane] = gemm_async_slot_of_b(place) * FLOAT_BYTES;
    }
    add_copy(p->out, &access, to, async_width(p) * FLOAT_BYTES);
}

/* The operands of `columns` places along k, in all warps, which are alike. */
static void async_loads(const struct gemm_part *p, uint64_t columns)
{
    const uint64_t times = GEMM_ASYNC_THREADS / UB_WARP_LANES * columns;
    uint32_t a[UB_WARP_LANES], b[UB_WARP_LANES];
    for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++) {
        const struct gemm_place own = gemm_async_result(lane, 0, 0);
        a[lane] = gemm_async_slot_of_a(gemm_place_of(own.row, 0)) * FLOAT_BYTES;
        b[lane] = gemm_async_slot_of_b(gemm_place_of(0, own.column)) * FLOAT_BYTES;
    }
    gemm_add_shared_load(&p->out->shared_loads, a, WIDE_BYTES, times * (GEMM_ASYNC_OWN_M / GEMM_ASYNC_WORDS));
    gemm_add_shared_load(&p->out->shared_loads, b, WIDE_BYTES, times * (GEMM_ASYNC_OWN_N / GEMM_ASYNC_WORDS));
}

void gemm_async_step(const struct gemm_part *p)
{
    for (uint32_t first = 0; first < GEMM_ASYNC_THREADS; first += UB_WARP_LANES) {
        for (uint32_t copy = 0; copy < GEMM_ASYNC_COPIES_OF_A; copy++)
            async_copy_of_a(p, first, copy);
        for (uint32_t copy = 0; copy < gemm_async_copies_of_b(async_width(p)); copy++)
            async_copy_of_b(p, first, copy);
    }
    async_loads(p, GEMM_ASYNC_K);
    p->out->multiply_adds += (uint64_t)GEMM_ASYNC_M * GEMM_ASYNC_N * GEMM_ASYNC_K;
}

/* Results (i, j) of a warp, or those from j on that one access has. */
static void async_result(const struct gemm_part *p, uint32_t first, uint32_t i, uint32_t j)
{
    const struct gemm_matrix matrix = gemm_matrix_c(p->g);
    struct gemm_access access = {.active = 0};
    for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++) {
        const struct gemm_place place = gemm_async_result(first + lane, i, j);
        gemm_lane_at(&access, lane, &matrix, p->top + place.row, p->left + place.column);
    }
    gemm_add_store(p->out, &access, async_width(p) * FLOAT_BYTES);
}

/* Before the first step, the operands of its first place are loaded. */
void gemm_async_results(const struct gemm_part *p)
{
    async_loads(p, 1);
    for (uint32_t first = 0; first < GEMM_ASYNC_THREADS; first += UB_WARP_LANES)
        for (uint32_t i = 0; i < GEMM_ASYNC_OWN_M; i++)
            for (uint32_t j = 0; j < GEMM_ASYNC_OWN_N; j += async_width(p))
                async_result(p, first, i, j);
}

/* ---- tensor --------------------------------------------------------------------------- */

enum { HALF_BYTES = 2, HALVES = GEMM_TENSOR_CHUNK };

/* Where a chunk of 16 bytes of a tile goes, in bytes: rows of 128 bytes whose chunks are in
 * the order of their number xor the row's (wgmma), or rows that are one chunk longer. */
typedef uint32_t (*layout)(struct gemm_place place);

static uint32_t swizzled(struct gemm_place place)
{
    const uint32_t chunk = place.column / HALVES, panel_bytes = GEMM_WGMMA_K * 128;
    return place.row * 128 + ((chunk ^ place.row) % 8) * WIDE_BYTES + chunk / 8 * panel_bytes;
}
static uint32_t padded_a(struct gemm_place place)
{
    return place.row * GEMM_MMA_PITCH_OF_A_BYTES + place.column * HALF_BYTES;
}
static uint32_t padded_b(struct gemm_place place)
{
    return place.row * GEMM_MMA_PITCH_OF_B_BYTES + place.column * HALF_BYTES;
}

/* A tile of a matrix that the threads of a block bring to shared memory. */
struct tile {
    struct gemm_matrix matrix;
    uint64_t row, column; /* of its corner */
    uint32_t height, width;
    layout place;
};

/* Of one warp: a copy of 16 bytes, or, where rows do not begin at 16 bytes, single halves and a store. */
static void bring_chunk(const struct gemm_part *p, const struct tile *tile, uint32_t first, uint32_t copy)
{
    struct gemm_access access[HALVES] = {{.active = 0}};
    uint32_t to[UB_WARP_LANES];
    for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++) {
        const struct gemm_place place = gemm_tensor_chunk(tile->width, first + lane, copy);
        for (uint32_t i = 0; i < HALVES; i++)
            gemm_lane_at(&access[i], lane, &tile->matrix, tile->row + place.row, tile->column + place.column + i);
        to[lane] = tile->place(place);
    }
    if (p->g->vector) {
        add_copy(p->out, &access[0], to, WIDE_BYTES);
        return;
    }
    for (uint32_t i = 0; i < HALVES; i++)
        gemm_add_load(p->out, &access[i], HALF_BYTES, 1);
    gemm_add_shared_store(&p->out->shared_stores, to, WIDE_BYTES);
}

static void bring(const struct gemm_part *p, const struct tile *tile)
{
    for (uint32_t first = 0; first < GEMM_TENSOR_THREADS; first += UB_WARP_LANES)
        for (uint32_t copy = 0; copy < gemm_tensor_copies(tile->height, tile->width); copy++)
            bring_chunk(p, tile, first, copy);
}

/* wgmma makes 64 x 256 results of a warpgroup and counts in its four warps; mma 16 x 8 of a warp. */
void gemm_tensor_step(const struct gemm_part *p)
{
    const struct gemm_geometry *g = p->g;
    const struct tile a = {gemm_matrix_a(g), p->top, p->first, g->tile_m, g->tile_k, g->wgmma ? swizzled : padded_a};
    const struct tile b = {gemm_matrix_b(g), p->first, p->left, g->tile_k, g->tile_n, g->wgmma ? swizzled : padded_b};
    bring(p, &a);
    bring(p, &b);
    const uint32_t results = g->wgmma ? 64 * 256 / 4 : 16 * 8;
    const uint32_t of_one = g->wgmma ? GEMM_WGMMA_K_OF_ONE : GEMM_MMA_K_OF_ONE;
    p->out->matrix_instructions += (uint64_t)g->tile_m * g->tile_n / results * (g->tile_k / of_one);
}

/* 8 x 8 results of a warp: two neighbours a lane, one access or, where rows are not whole, two. */
static void tensor_results(const struct gemm_part *p, struct gemm_place corner)
{
    const struct gemm_matrix matrix = gemm_matrix_c(p->g);
    for (uint32_t i = 0; i < (p->g->vector ? 1u : 2u); i++) {
        struct gemm_access access = {.active = 0};
        for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++)
            gemm_lane_at(&access, lane, &matrix, p->top + corner.row + lane / 4,
                         p->left + corner.column + lane % 4 * 2 + i);
        gemm_add_store(p->out, &access, p->g->vector ? PAIR_BYTES : FLOAT_BYTES);
    }
}

/* Matrix instructions leave 8 x 8 results in a warp at a time, whichever warp has them. */
void gemm_tensor_results(const struct gemm_part *p)
{
    for (uint32_t row = 0; row < p->g->tile_m; row += 8)
        for (uint32_t column = 0; column < p->g->tile_n; column += 8)
            tensor_results(p, gemm_place_of(row, column));
}
