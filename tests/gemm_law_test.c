/* SPDX-License-Identifier: MIT
 *
 * The rule `gemm` against values worked out by hand, and its replay of a few kinds of blocks
 * and steps against one of all of them; that every tile is covered; where which term decides;
 * and what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/contract/record.h"
#include "harness/engine/plan.h"
#include "micro/gemm/access.h"
#include "micro/gemm/async.h"
#include "micro/gemm/law_count.h"
#include "micro/gemm/tensor.h"
#include "tests/rule_fixture.h"

extern const struct ub_micro ub_micro_gemm;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct ub_point point_of(const char *axes)
{
    return parse_point(&ub_micro_gemm, axes);
}

static struct gemm_geometry geometry_of(const struct ub_gpu *gpu, const char *axes)
{
    const struct ub_point point = point_of(axes);
    struct gemm_geometry g;
    assert_null(gemm_resolve(gpu, &point, &g));
    return g;
}

static struct ub_law law_of(const struct ub_gpu *gpu, const char *axes)
{
    const struct ub_point point = point_of(axes);
    struct ub_constants constants;
    struct ub_law law;
    ub_gpu_constants(gpu, &constants);
    gemm_law(gpu, &constants, &point, &law);
    return law;
}

/* ---- places ------------------------------------------------------------------------- */

/* Counts how often each of rows x columns places is touched. */
struct board {
    uint32_t rows, columns;
    unsigned char *seen;
};

static struct board board_of(uint32_t rows, uint32_t columns)
{
    struct board board = {rows, columns, calloc((size_t)rows * columns, 1)};
    assert_non_null(board.seen);
    return board;
}

static void touch(struct board *board, uint32_t row, uint32_t column, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        assert_true(row < board->rows && column + i < board->columns);
        board->seen[row * board->columns + column + i]++;
    }
}

static void expect_each_once(struct board *board)
{
    for (size_t i = 0; i < (size_t)board->rows * board->columns; i++)
        assert_int_equal(board->seen[i], 1);
    free(board->seen);
}

static void register_tiles_are_covered_once(void **state)
{
    (void)state;
    for (uint32_t side = 4; side <= 8; side += 4) {
        const uint32_t tile = 16 * side, steps = side == 8 ? 8 : 16;
        struct board a = board_of(tile, steps), b = board_of(steps, tile), c = board_of(tile, tile);
        struct board slots_a = board_of(steps, gemm_pitch_of_a(tile));
        for (uint32_t thread = 0; thread < 256; thread++) {
            const struct gemm_place of_a = gemm_chunk_of_a(tile, thread), of_b = gemm_chunk_of_b(tile, thread);
            touch(&a, of_a.row, of_a.column, 4);
            touch(&b, of_b.row, of_b.column, 4);
            for (uint32_t i = 0; i < 4; i++) {
                const uint32_t slot = gemm_slot_of_a(tile, gemm_place_of(of_a.row, of_a.column + i));
                touch(&slots_a, slot / gemm_pitch_of_a(tile), slot % gemm_pitch_of_a(tile), 1);
            }
            for (uint32_t i = 0; i < side / 4; i++)
                for (uint32_t j = 0; j < side / 4; j++)
                    for (uint32_t y = 0; y < 4; y++) {
                        const struct gemm_place corner = gemm_corner_of(side, thread, i, j);
                        touch(&c, corner.row + y, corner.column, 4);
                    }
        }
        for (uint32_t row = 0; row < steps; row++) /* the pad */
            touch(&slots_a, row, tile, 4);
        expect_each_once(&a);
        expect_each_once(&b);
        expect_each_once(&c);
        expect_each_once(&slots_a);
    }
}

static void async_tiles_are_covered_once(void **state)
{
    (void)state;
    struct board a = board_of(GEMM_ASYNC_M, GEMM_ASYNC_K), c = board_of(GEMM_ASYNC_M, GEMM_ASYNC_N);
    struct board b[] = {board_of(GEMM_ASYNC_K, GEMM_ASYNC_N), board_of(GEMM_ASYNC_K, GEMM_ASYNC_N)};
    for (uint32_t thread = 0; thread < GEMM_ASYNC_THREADS; thread++) {
        for (uint32_t copy = 0; copy < GEMM_ASYNC_COPIES_OF_A; copy++) {
            const struct gemm_place place = gemm_async_a(thread, copy);
            touch(&a, place.row, place.column, 1);
        }
        for (uint32_t wide = 0; wide < 2; wide++)
            for (uint32_t copy = 0; copy < gemm_async_copies_of_b(wide ? 4 : 1); copy++) {
                const struct gemm_place place = gemm_async_b(wide ? 4 : 1, thread, copy);
                touch(&b[wide], place.row, place.column, wide ? 4 : 1);
            }
        for (uint32_t i = 0; i < GEMM_ASYNC_OWN_M; i++)
            for (uint32_t j = 0; j < GEMM_ASYNC_OWN_N; j++) {
                const struct gemm_place place = gemm_async_result(thread, i, j);
                touch(&c, place.row, place.column, 1);
            }
    }
    expect_each_once(&a);
    expect_each_once(&b[0]);
    expect_each_once(&b[1]);
    expect_each_once(&c);
}

static void tensor_tiles_are_covered_once(void **state)
{
    static const struct {
        uint32_t height, width;
    } tiles[] = {
        {GEMM_WGMMA_M, GEMM_WGMMA_K}, {GEMM_WGMMA_K, GEMM_WGMMA_N}, {GEMM_MMA_M, GEMM_MMA_K}, {GEMM_MMA_K, GEMM_MMA_N}};
    (void)state;
    for (size_t t = 0; t < COUNT(tiles); t++) {
        struct board board = board_of(tiles[t].height, tiles[t].width);
        for (uint32_t thread = 0; thread < GEMM_TENSOR_THREADS; thread++)
            for (uint32_t copy = 0; copy < gemm_tensor_copies(tiles[t].height, tiles[t].width); copy++) {
                const struct gemm_place place = gemm_tensor_chunk(tiles[t].width, thread, copy);
                touch(&board, place.row, place.column, GEMM_TENSOR_CHUNK);
            }
        expect_each_once(&board);
    }
    struct board wgmma = board_of(GEMM_WGMMA_M, GEMM_WGMMA_N), mma = board_of(GEMM_MMA_M, GEMM_MMA_N);
    for (uint32_t thread = 0; thread < GEMM_TENSOR_THREADS; thread++) {
        for (uint32_t i = 0; i < GEMM_WGMMA_RESULTS; i++) {
            const struct gemm_place place = gemm_wgmma_result(thread, i);
            touch(&wgmma, place.row, place.column, 1);
        }
        for (uint32_t down = 0; down < GEMM_MMA_WARP_M / 16; down++)
            for (uint32_t across = 0; across < GEMM_MMA_WARP_N / 8; across++)
                for (uint32_t i = 0; i < 4; i++) {
                    const struct gemm_place place = gemm_mma_result(thread, down, across, i);
                    touch(&mma, place.row, place.column, 1);
                }
    }
    expect_each_once(&wgmma);
    expect_each_once(&mma);
}

/* Blocks in bands: each tile is some block's. */
static void every_tile_is_some_blocks(void **state)
{
    (void)state;
    for (uint32_t rows = 1; rows <= 19; rows++)
        for (uint32_t columns = 1; columns <= 5; columns++) {
            struct board board = board_of(rows, columns);
            for (uint32_t block = 0; block < rows * columns; block++) {
                const struct gemm_place tile = gemm_tile_of(rows, columns, 8, block);
                touch(&board, tile.row, tile.column, 1);
            }
            expect_each_once(&board);
        }
}

/* ---- counters by hand --------------------------------------------------------------------- */

/* One whole block of each kernel. naive: 32 warps x 32 places along k, of each an element of A
 * (or 32 sectors of them) and 128 bytes of B (or an element). tiled: 8 loads of 16 bytes at one
 * address (2 wavefronts as counted) and 32 of 4 bytes for each of 32 warps. register: a step of 8 (of 16)
 * is 8 + 8 accesses of 512 bytes, 4 x 8 stores of A without a conflict and 8 of B of four turns, and 8 x 8 x 4
 * (8 x 16 x 2) loads of two turns. */
static void whole_blocks_by_hand(void **state)
{
    static const struct {
        const char *axes, *key;
        uint64_t value;
    } rows[] = {
        {"variant=naive_row n=32", "ffma", 32 * 32 * 32},
        {"variant=naive_row n=32", "global_load_requests", 2 * 32 * 32},
        {"variant=naive_row n=32", "global_load_sectors", (1 + 4) * 32 * 32},
        {"variant=naive_row n=32", "global_load_bytes", (4 + 128) * 32 * 32},
        {"variant=naive_row n=32", "global_store_sectors", 4 * 32},
        {"variant=naive_row n=32", "shared_load_wavefronts", 0},
        {"variant=naive_row n=32", "l1_wavefronts", 2 * 32 * 32 + 32},
        {"variant=naive_col n=32", "global_load_sectors", (32 + 1) * 32 * 32},
        {"variant=naive_col n=32", "global_load_bytes", (4 + 128) * 32 * 32},
        {"variant=naive_col n=32", "global_store_sectors", 32 * 32},
        {"variant=naive_col n=32", "l1_wavefronts", (32 + 1) * 32 * 32 + 32},
        {"variant=naive_col n=33 m=32", "l1_wavefronts", (1 + 1) * 33 * 33 + 33}, /* odd rows: no conflict */
        {"variant=tiled n=32", "ffma", 32 * 32 * 32},
        {"variant=tiled n=32", "global_load_requests", 2 * 32},
        {"variant=tiled n=32", "global_load_sectors", 2 * 32 * 4},
        {"variant=tiled n=32", "shared_load_wavefronts", 32 * (8 * 2 + 32)},
        {"variant=tiled n=32", "shared_store_wavefronts", 2 * 32},
        {"variant=tiled n=32", "global_store_bytes", 32 * 32 * 4},
        {"variant=tiled tile=8 n=8", "global_load_requests", 2 * 2},
        {"variant=tiled tile=8 n=8", "global_load_sectors", 2 * 2 * 4},
        {"variant=tiled tile=8 n=8", "shared_load_wavefronts", 2 * (2 * 2 + 8)},
        {"variant=tiled tile=16 n=16", "shared_load_wavefronts", 8 * (4 * 2 + 16)},
        {"variant=register n=128 k=8", "ffma", 128 * 128 * 8},
        {"variant=register n=128 k=8", "global_load_requests", 8 + 8},
        {"variant=register n=128 k=8", "global_load_sectors", 16 * 16},
        {"variant=register n=128 k=8", "shared_load_wavefronts", 8 * 8 * 4 * 2},
        {"variant=register n=128 k=8", "shared_store_wavefronts", 8 * 4 + 8 * 4},
        {"variant=register n=128 k=8", "global_store_requests", 8 * 8 * 2},
        {"variant=register n=128 k=8", "global_store_sectors", 128 * 128 * 4 / 32},
        {"variant=register per_thread=4 n=64 k=16", "ffma", 64 * 64 * 16},
        {"variant=register per_thread=4 n=64 k=16", "shared_load_wavefronts", 8 * 16 * 2 * 2},
        {"variant=register per_thread=4 n=64 k=16", "shared_store_wavefronts", 8 * 4 + 8 * 4},
        {"variant=async m=128 n=256 k=16", "ffma", 128 * 256 * 16},
        {"variant=async m=128 n=256 k=16", "global_load_requests", 0},
        {"variant=async m=128 n=256 k=16", "global_async_copies", 8 * (8 + 4)},
        {"variant=async m=128 n=256 k=16", "async_copy_sectors", 8 * (8 * 4 + 4 * 16)},
        {"variant=async m=128 n=256 k=16", "async_copy_wavefronts",
         8 * (8 * 2 + 4 * 4)}, /* 4 rows of A, 64 bytes apart */
        {"variant=async m=128 n=256 k=16", "shared_load_wavefronts", 8 * 6 * (16 + 1) * 2},
        {"variant=async m=128 n=256 k=16", "shared_store_wavefronts", 0},
        {"variant=async m=128 n=256 k=16", "global_store_requests", 8 * 8 * 4},
        {"variant=tensor m=128 n=256 k=64", "ffma", 0},
        {"variant=tensor m=128 n=256 k=64", "warpgroup_matrix_instructions", 8 * 4},
        {"variant=tensor m=128 n=256 k=64", "global_async_copies", 8 * (4 + 8)},
        {"variant=tensor m=128 n=256 k=64", "async_copy_sectors", 8 * (4 + 8) * 16},
        {"variant=tensor m=128 n=256 k=64", "async_copy_wavefronts", 8 * (4 + 8) * 4},
        {"variant=tensor m=128 n=256 k=64", "global_store_requests", 16 * 32},
        {"variant=tensor m=128 n=256 k=64", "global_store_sectors", 16 * 32 * 8},
        /* many blocks and steps are many times one; checked with ncu on an H200 */
        {"variant=async n=2048", "shared_load_wavefronts", 25178112},
        {"variant=async n=2048", "async_copy_wavefronts", 128 * 128 * 8 * (8 * 4 + 4 * 4)},
        {"variant=async n=2048", "global_async_copies", 128 * 128 * 8 * 12},
        {"variant=tensor n=2048", "warpgroup_matrix_instructions", 131072},
        {"variant=naive_col n=2048", "l1_wavefronts", 8858370048 + 131072},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_law law = law_of(h200(), rows[i].axes);
        if (counter(&law, rows[i].key) != rows[i].value)
            fail_msg("%s: %s is %llu, not %llu", rows[i].axes, rows[i].key,
                     (unsigned long long)counter(&law, rows[i].key), (unsigned long long)rows[i].value);
    }
}

/* What an H200 counted (ncu) at sides that no tile divides: 1021 x 1031 x 1033. */
static void what_an_h200_counted(void **state)
{
    static const struct {
        const char *axes, *key;
        uint64_t value;
    } rows[] = {
        {"variant=naive_col", "global_load_sectors", 1121469219},
        {"variant=naive_row", "global_load_sectors", 201153336},
        {"variant=tiled tile=8", "global_load_sectors", 63933303},
        {"variant=tiled tile=16", "global_load_sectors", 24619002},
        {"variant=tiled", "global_load_sectors", 10536762},
        {"variant=register per_thread=4", "global_load_sectors", 22533275},
        {"variant=register", "global_load_sectors", 11530179},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char axes[96];
        snprintf(axes, sizeof axes, "%s m=1021 n=1031 k=1033", rows[i].axes);
        const struct ub_law law = law_of(h200(), axes);
        assert_int_equal(counter(&law, rows[i].key), rows[i].value);
    }
}

/* ---- all blocks and steps, one by one ------------------------------------------------------- */

/* The counts of one tile of C at one step are those of a product that is cut out of the larger
 * one; what differs is where its rows begin. So every block and step is counted for itself here,
 * at its own place, and the sum compared. */
static void add(struct ub_traffic *sum, const struct ub_traffic *one)
{
    ub_traffic_add(sum, one, 1);
}

static void count_each(const struct gemm_geometry *g, struct gemm_counts *out)
{
    *out = (struct gemm_counts){0};
    for (uint64_t top = 0; top < g->shape.m; top += g->tile_m)
        for (uint64_t left = 0; left < g->shape.n; left += g->tile_n) {
            for (uint64_t first = 0; first <= g->shape.k; first += g->tile_k) {
                struct gemm_counts one = {0};
                const struct gemm_part part = {g, top, left, first, &one};
                if (first < g->shape.k)
                    gemm_count_step(&part);
                if (first == 0)
                    gemm_count_results(&part);
                out->multiply_adds += one.multiply_adds;
                out->matrix_instructions += one.matrix_instructions;
                add(&out->loads, &one.loads);
                add(&out->stores, &one.stores);
                add(&out->copies, &one.copies);
                out->copy_wavefronts += one.copy_wavefronts;
                out->load_turns += one.load_turns;
                out->shared_loads.wavefronts += one.shared_loads.wavefronts;
                out->shared_stores.wavefronts += one.shared_stores.wavefronts;
                out->shared_loads.turns += one.shared_loads.turns;
            }
        }
}

static void replay_of_kinds_is_replay_of_all(void **state)
{
    static const char *const variants[] = {"naive_col", "naive_row", "tiled tile=8",          "tiled tile=16",
                                           "tiled",     "register",  "register per_thread=4", "async",
                                           "tensor"};
    static const char *const sides[] = {"n=1",
                                        "n=7 m=33 k=5",
                                        "n=64 m=32 k=16",
                                        "n=131 m=97 k=41",
                                        "n=260 m=132 k=20",
                                        "n=300 m=264 k=136",
                                        "n=513 m=259 k=129",
                                        "n=256 m=256 k=128"};
    (void)state;
    for (size_t v = 0; v < COUNT(variants); v++)
        for (size_t s = 0; s < COUNT(sides); s++)
            for (int other = 0; other < 2; other++) {
                char axes[96];
                struct gemm_counts kinds, all;
                snprintf(axes, sizeof axes, "variant=%s %s", variants[v], sides[s]);
                const struct gemm_geometry g = geometry_of(other ? card("a100") : h200(), axes);
                gemm_count(&g, &kinds);
                count_each(&g, &all);
                assert_int_equal(kinds.multiply_adds, all.multiply_adds);
                assert_int_equal(kinds.matrix_instructions, all.matrix_instructions);
                assert_memory_equal(&kinds.loads.requests, &all.loads.requests, sizeof all.loads.requests);
                assert_int_equal(kinds.loads.sectors, all.loads.sectors);
                assert_int_equal(kinds.loads.bytes, all.loads.bytes);
                assert_int_equal(kinds.stores.requests, all.stores.requests);
                assert_int_equal(kinds.stores.sectors, all.stores.sectors);
                assert_int_equal(kinds.stores.bytes, all.stores.bytes);
                assert_int_equal(kinds.copies.requests, all.copies.requests);
                assert_int_equal(kinds.copies.sectors, all.copies.sectors);
                assert_int_equal(kinds.copy_wavefronts, all.copy_wavefronts);
                assert_int_equal(kinds.shared_loads.wavefronts, all.shared_loads.wavefronts);
                assert_int_equal(kinds.shared_loads.turns, all.shared_loads.turns);
                assert_int_equal(kinds.shared_stores.wavefronts, all.shared_stores.wavefronts);
                /* each element of C is stored once */
                assert_int_equal(kinds.stores.bytes, 4 * g.shape.m * g.shape.n);
            }
}

/* Guarded loops do m n k multiply-adds and no more; tiles do those of whole tiles. */
static void multiply_adds_are_padded_to_tiles(void **state)
{
    static const int sides[] = {1, 2, 31, 32, 33, 100, 127, 128, 129, 1021};
    (void)state;
    for (size_t i = 0; i < COUNT(sides); i++)
        for (size_t j = 0; j < COUNT(sides); j++) {
            const uint64_t n = (uint64_t)sides[i], k = (uint64_t)sides[j];
            char axes[96];
            snprintf(axes, sizeof axes, "variant=naive_row n=%d k=%d", sides[i], sides[j]);
            struct ub_law law = law_of(h200(), axes);
            assert_int_equal(counter(&law, "ffma"), n * n * k);
            snprintf(axes, sizeof axes, "variant=tiled n=%d k=%d tile=16", sides[i], sides[j]);
            law = law_of(h200(), axes);
            const uint64_t whole = (n + 15) / 16 * 16;
            assert_int_equal(counter(&law, "ffma"), whole * whole * ((k + 15) / 16 * 16));
        }
}

/* ---- sides, axes ------------------------------------------------------------------------------ */

static void m_and_k_follow_n(void **state)
{
    (void)state;
    struct gemm_geometry g = geometry_of(h200(), "n=300");
    assert_true(g.shape.m == 300 && g.shape.n == 300 && g.shape.k == 300);
    g = geometry_of(h200(), "n=300 m=5");
    assert_true(g.shape.m == 5 && g.shape.n == 300 && g.shape.k == 300);
    g = geometry_of(h200(), "n=300 k=7");
    assert_true(g.shape.m == 300 && g.shape.n == 300 && g.shape.k == 7);
}

static void what_cannot_be_is_refused(void **state)
{
    static const struct {
        const char *axes, *gpu, *reason;
    } rows[] = {
        {"variant=register tile=8", "h200", "tile applies to variant=tiled"},
        {"variant=tiled tile=9", "h200", "tile is 8, 16 or 32"},
        {"variant=tiled per_thread=4", "h200", "per_thread applies to variant=register"},
        {"variant=register per_thread=5", "h200", "per_thread is 4 or 8"},
        {"variant=tiled tile=8 n=1048576", "h200", "more tiles than a grid has blocks"},
        {"variant=async", "t4", "need compute capability 8.0"},
        {"variant=tensor", "v100", "need compute capability 8.0"},
        {"variant=async", "a100", NULL},
        {"variant=library_tensor", "v100", NULL},
        {"variant=naive_row n=1", "h200", NULL},
        {"variant=tiled n=1048576", "h200", NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_point point = point_of(rows[i].axes);
        const char *reason = ub_micro_gemm.supported(card(rows[i].gpu), &point);
        assert_int_equal(reason == NULL, rows[i].reason == NULL);
        if (reason)
            assert_non_null(strstr(reason, rows[i].reason));
    }
}

/* A B200's data sheet is of tcgen05, an A100's of mma.sync itself. */
static void no_time_by_the_rate_of_other_instructions(void **state)
{
    static const struct {
        const char *gpu;
        bool known;
    } rows[] = {{"a100", true}, {"h200", true}, {"b200", false}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_point point = point_of("variant=tensor n=4096");
        struct ub_constants constants;
        struct ub_law law;
        ub_gpu_constants(card(rows[i].gpu), &constants);
        ub_micro_gemm.law(card(rows[i].gpu), &constants, &point, &law);
        assert_int_equal(isfinite(law.time_ns) != 0, rows[i].known);
        assert_true(rows[i].known || strstr(law.note, "mma.sync"));
    }
}

static void zero_and_more_are_no_sides(void **state)
{
    static const char *const bad[] = {"n=0", "m=0", "k=0", "n=1048577", "n=-3"};
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct ub_point point;
        struct ub_error err = {0};
        assert_false(ub_point_parse(&ub_micro_gemm, bad[i], &point, &err));
        assert_int_equal(err.status, UB_USAGE);
    }
}

/* ---- time ---------------------------------------------------------------------------------------- */

/* An H200, us; its clock was 1980 MHz, under matrix instructions less. */
static void what_an_h200_took(void **state)
{
    static const struct {
        const char *axes;
        double time_us;
    } rows[] = {
        {"variant=naive_col n=256", 140.2},      {"variant=naive_col n=2048", 35306},
        {"variant=naive_col n=2001", 11987},     {"variant=naive_row n=128", 6.92},
        {"variant=naive_row n=1000", 360.2},     {"variant=naive_row n=4096", 23751},
        {"variant=tiled n=128", 5.60},           {"variant=tiled n=768", 117.1},
        {"variant=tiled n=4096", 16319},         {"variant=tiled tile=8 n=4096", 26857},
        {"variant=tiled tile=16 n=4096", 17006}, {"variant=register n=128", 14.88},
        {"variant=register n=1024", 104.6},      {"variant=register n=4096", 3113},
        {"variant=register n=2001", 470.4},      {"variant=register per_thread=4 n=4096", 4146},
        {"variant=async n=256", 45.88},          {"variant=async n=2048", 342.3},
        {"variant=async n=4096", 2689},          {"variant=async n=1031 m=1021 k=1033", 196.8},
        {"variant=tensor n=256", 6.27},          {"variant=tensor n=2048", 28.97},
        {"variant=tensor n=4096", 210.0},        {"variant=tensor n=1031 m=1021 k=1033", 73.0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_law law = law_of(h200(), rows[i].axes);
        if (!(fabs(rows[i].time_us * 1e3 / law.time_ns - 1) <= law.tolerance))
            fail_msg("%s: predicted %g ns, an H200 took %g us", rows[i].axes, law.time_ns, rows[i].time_us);
    }
}

/* Of 128 lanes, a pipe of 128 bytes and four schedulers. */
static void the_slowest_decides(void **state)
{
    static const struct {
        const char *axes, *gpu, *bottleneck;
    } rows[] = {
        {"variant=naive_col", "h200", "l1_shared"},   {"variant=naive_row", "h200", "l1_shared"},
        {"variant=tiled", "h200", "l1_shared"},       {"variant=register", "h200", "issue"},
        {"variant=register", "a100", "multiply_add"}, {"variant=async", "h200", "issue"},
        {"variant=tensor n=4096", "h200", "matrix"},  {"variant=tiled", "v100", "l1_shared"},
        {"variant=tensor n=4096", "a100", "matrix"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_law law = law_of(card(rows[i].gpu), rows[i].axes);
        assert_non_null(law.bottleneck);
        if (strcmp(law.bottleneck, rows[i].bottleneck) != 0)
            fail_msg("%s on %s: %s", rows[i].axes, rows[i].gpu, law.bottleneck);
    }
}

/* No version is faster than all multiply-adds at the rate of their units, nor than its turns. */
static void no_roof_is_passed(void **state)
{
    static const char *const variants[] = {"naive_col", "naive_row", "tiled", "register", "async", "tensor"};
    (void)state;
    for (size_t v = 0; v < COUNT(variants); v++)
        for (int n = 1; n <= 5000; n = n * 5 / 4 + 1) {
            char axes[64];
            snprintf(axes, sizeof axes, "variant=%s n=%d", variants[v], n);
            const struct ub_law law = law_of(h200(), axes);
            const double cycles = law.time_ns * 1.98 * 132, macs = (double)n * n * n;
            assert_true(cycles > macs / (v == 5 ? 2048 : 128));
            if (v != 5)
                assert_true(cycles >
                            0.99 * (double)(counter(&law, "l1_wavefronts") - counter(&law, "global_store_requests")));
        }
}

static void every_sweep_for_every_card(void **state)
{
    (void)state;
    const struct ub_entry entry = {.micro = &ub_micro_gemm};
    for (size_t i = 0; i < ub_gpu_count(); i++) {
        struct ub_plan plan = {0};
        struct ub_error err = {0};
        if (!ub_plan_add(&plan, &entry, ub_gpu_at(i), UB_SUITE_DEFAULT | UB_SUITE_QUICK, NULL, 0, true, false, &err))
            fail_msg("%s", err.text);
        for (size_t n = 0; n < plan.count; n++) {
            struct ub_constants constants;
            struct ub_law law;
            if (plan.points[n].skip != NULL)
                continue; /* cp.async before Ampere */
            ub_gpu_constants(ub_gpu_at(i), &constants);
            gemm_law(ub_gpu_at(i), &constants, &plan.points[n].point, &law);
            const int64_t variant = plan.points[n].point.values[GEMM_VARIANT];
            const bool library = variant == GEMM_LIBRARY || variant == GEMM_LIBRARY_TENSOR;
            assert_int_equal(law.counter_count, ub_micro_gemm.counter_count);
            assert_int_equal(law.time_ns > 0, law.bottleneck != NULL);
            assert_true(!library || (isnan(law.time_ns) && law.note != NULL));
            if (variant != GEMM_TENSOR && !library)
                assert_true(law.time_ns > 0 && law.tolerance > 0);
        }
        ub_plan_free(&plan);
    }
}

/* B does not fit L2: it is read again for each row of tiles. */
static void what_l2_does_not_hold_is_read_again(void **state)
{
    (void)state;
    struct ub_law law = law_of(h200(), "variant=tiled n=4096");
    assert_int_equal(counter(&law, "dram_read_bytes"), UINT64_C(129) * 4096 * 4096 * 4); /* H200: 125 */
    law = law_of(h200(), "variant=tiled n=2048");
    assert_false(counter_of(&law, "dram_read_bytes")->known);
    law = law_of(h200(), "variant=async n=4096");
    assert_false(counter_of(&law, "dram_read_bytes")->known);
}

/* 1275068416 of an H200's 1275069321. */
static void l1_finds_what_other_warps_loaded(void **state)
{
    (void)state;
    const struct ub_law law = law_of(h200(), "variant=naive_row n=2048");
    assert_int_equal(counter(&law, "l1_load_hits"), 1275068416);
    assert_int_equal(counter(&law, "l2_read_sectors"), 67108864);
}

static void metrics_are_ratios_of_what_was_counted(void **state)
{
    static const char *const keys[] = {"ffma",
                                       "l1_wavefronts",
                                       "global_load_sectors",
                                       "async_copy_sectors",
                                       "global_store_sectors",
                                       "l1_load_hits",
                                       "l2_sectors",
                                       "l2_hits",
                                       "dram_read_bytes"};
    static const uint64_t values[] = {2000000, 31250, 125000, 0, 0, 100000, 50000, 40000, 160000};
    const struct ub_point point = point_of("variant=tiled n=100");
    struct ub_constants constants;
    struct ub_metrics found = {0};
    (void)state;
    ub_gpu_constants(h200(), &constants);
    const struct ub_facts facts = {.gpu = h200(),
                                   .constants = &constants,
                                   .point = &point,
                                   .time_ns = 1e4,
                                   .counter_count = COUNT(keys),
                                   .counter_keys = keys,
                                   .counter_values = values};
    ub_micro_gemm.metrics(&facts, &found);
    assert_int_equal(found.count, ub_micro_gemm.metric_count);
    assert_true(fabs(metric(&found, "flops") - 2e11) < 1);
    assert_true(fabs(metric(&found, "useful_share") - 0.5) < 1e-12);
    assert_true(fabs(metric(&found, "intensity") - 0.5) < 1e-12);
    assert_true(fabs(metric(&found, "bytes_per_fma") - 4) < 1e-12);
    assert_true(fabs(metric(&found, "l1_hit_rate") - 0.8) < 1e-12);
    assert_true(fabs(metric(&found, "l2_hit_rate") - 0.8) < 1e-12);
    assert_true(fabs(metric(&found, "dram_excess") - 2) < 1e-12);
    assert_true(fabs(metric(&found, "pipe_busy") - 31250 / (132 * 1e4 * 1.98)) < 1e-9);
}

static void thin_products_wait_for_memory(void **state)
{
    (void)state;
    /* 128 x 32768 x 32768: B has 2 GiB, which no unit of an H200 is slower than DRAM with. */
    const struct ub_law law = law_of(h200(), "variant=tensor m=128 n=32768 k=32768");
    const double bytes = 2.0 * (128.0 * 32768 + 32768.0 * 32768) + 4.0 * 128 * 32768;
    assert_string_equal(law.bottleneck, "dram");
    assert_true(law.time_ns >= bytes / constant(h200(), "dram_load_ceiling") * 1e9);
    assert_string_equal(law_of(h200(), "variant=tensor n=4096").bottleneck, "matrix");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(register_tiles_are_covered_once),
        cmocka_unit_test(async_tiles_are_covered_once),
        cmocka_unit_test(tensor_tiles_are_covered_once),
        cmocka_unit_test(every_tile_is_some_blocks),
        cmocka_unit_test(whole_blocks_by_hand),
        cmocka_unit_test(what_an_h200_counted),
        cmocka_unit_test(replay_of_kinds_is_replay_of_all),
        cmocka_unit_test(multiply_adds_are_padded_to_tiles),
        cmocka_unit_test(m_and_k_follow_n),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(no_time_by_the_rate_of_other_instructions),
        cmocka_unit_test(zero_and_more_are_no_sides),
        cmocka_unit_test(what_an_h200_took),
        cmocka_unit_test(the_slowest_decides),
        cmocka_unit_test(no_roof_is_passed),
        cmocka_unit_test(thin_products_wait_for_memory),
        cmocka_unit_test(every_sweep_for_every_card),
        cmocka_unit_test(what_l2_does_not_hold_is_read_again),
        cmocka_unit_test(l1_finds_what_other_warps_loaded),
        cmocka_unit_test(metrics_are_ratios_of_what_was_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
