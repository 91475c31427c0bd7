/* SPDX-License-Identifier: MIT
 *
 * The rule `reduce` against closed forms: each element is loaded once by one thread, whatever
 * the shape; loads, wavefronts and atomics of each way; which of them decides the time, and
 * what an H200 took. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/engine/plan.h"
#include "micro/reduce/access.h"
#include "micro/reduce/rule.h"
#include "tests/rule_fixture.h"

extern const struct ub_micro ub_micro_reduce;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct ub_point point_of(const char *axes)
{
    return parse_point(&ub_micro_reduce, axes);
}

static struct ub_law law_at(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct ub_constants constants;
    struct ub_law law;
    ub_gpu_constants(gpu, &constants);
    reduce_law(gpu, &constants, point, &law);
    return law;
}

static struct ub_law law_of(const char *axes)
{
    const struct ub_point point = point_of(axes);
    return law_at(h200(), &point);
}

static struct reduce_geometry geometry_of(const char *axes)
{
    const struct ub_point point = point_of(axes);
    struct reduce_geometry g;
    const char *reason = reduce_resolve(h200(), &point, &g);
    if (reason)
        fail_msg("%s: %s", axes, reason);
    return g;
}

/* ---- elements ----------------------------------------------------------------------- */

static void every_element_is_loaded_once(void **state)
{
    static const char *const shapes[] = {
        "n=1 bytes=4 loads=1 block=32",
        "n=1 bytes=16 loads=7 block=1024",
        "n=10007 bytes=16 loads=3 block=64",
        "n=65536 bytes=16 loads=4",
        "n=65537 bytes=4 loads=5",
        "n=99991 bytes=16 loads=1 block=32",
        "n=131071 bytes=16 loads=16 block=512",
    };
    (void)state;
    for (size_t s = 0; s < COUNT(shapes); s++) {
        const struct reduce_geometry g = geometry_of(shapes[s]);
        unsigned char *seen = calloc(g.n, 1);
        assert_non_null(seen);
        for (uint32_t block = 0; block < g.blocks; block++)
            for (uint32_t thread = 0; thread < g.block; thread++)
                for (uint32_t load = 0; load < g.loads; load++) {
                    const uint64_t first = reduce_element(block, thread, load, g.block, g.words, g.block_elements);
                    assert_int_equal(first % g.words, 0);
                    assert_true(!reduce_whole(block, g.block_elements, g.n) || first + g.words <= g.n);
                    for (uint64_t i = first; i < first + g.words && i < g.n; i++)
                        assert_int_equal(seen[i]++, 0);
                }
        for (uint64_t i = 0; i < g.n; i++)
            assert_int_equal(seen[i], 1);
        free(seen);
    }
}

/* Chunks of 4 or 16 bytes, 32 to a request, and what the end of the array cuts off a chunk
 * one by one. */
static void loads_follow_from_n(void **state)
{
    static const uint64_t sizes[] = {1, 2, 3, 4, 5, 31, 32, 33, 127, 128, 129, 1009, 4096, 10007, 65537, 1048573};
    static const uint32_t words[] = {1, 4}, loads[] = {1, 3, 8}, blocks[] = {32, 256, 1024};
    (void)state;
    for (size_t i = 0; i < COUNT(sizes) * COUNT(words) * COUNT(loads) * COUNT(blocks); i++) {
        const uint64_t n = sizes[i % COUNT(sizes)];
        const uint32_t w = words[i / COUNT(sizes) % 2], l = loads[i / COUNT(sizes) / 2 % 3];
        const uint32_t b = blocks[i / COUNT(sizes) / 6];
        char axes[96];
        snprintf(axes, sizeof axes, "n=%d bytes=%u loads=%u block=%u", (int)n, 4 * w, l, b);
        const struct ub_law law = law_of(axes);
        const uint64_t chunks = n / w, rest = n % w;
        assert_int_equal(counter(&law, "global_load_requests"), (chunks + 31) / 32 + rest);
        assert_int_equal(counter(&law, "global_load_sectors"), (chunks * w + 7) / 8 + rest);
        assert_int_equal(counter(&law, "global_load_bytes"), 4 * n);
        const uint64_t grid = (n + (uint64_t)b * w * l - 1) / ((uint64_t)b * w * l);
        assert_int_equal(counter(&law, "blocks_launched"), grid + 1); /* and the one that clears */
        assert_int_equal(counter(&law, "warps_launched"), grid * b / 32 + 1);
        assert_int_equal(counter(&law, "global_reductions"), grid);
        assert_int_equal(counter(&law, "global_store_requests"), 1);
    }
}

/* ---- shared memory ------------------------------------------------------------------- */

/* Of a block of 256 threads, 8 warps, by hand. Sequential: 128, 64, 32, 16, 8, 4, 2, 1
 * threads, that is 4 + 2 + 1 x 6 = 12 warps, two loads and a store each. Interleaved: all 8
 * warps in the five steps up to 16 apart, then 4, 2, 1... of those that hold a multiple: 32
 * apart 4 warps, 64: 2, 128: 1; that is 8 x 5 + 7 = 47. Strided: as many warps as
 * sequential, in the same order, with conflicts: words 2 x apart from each other. */
static void trees_of_256_threads(void **state)
{
    static const struct {
        const char *variant;
        uint64_t loads, stores, load_wavefronts, store_wavefronts;
    } rows[] = {
        {"shared", 24 + 1, 12 + 8, 24 + 1, 12 + 8},
        {"shared_interleaved", 94 + 1, 47 + 8, 94 + 1, 47 + 8},
        /* 128 threads 2 words apart: 4 warps x 2 turns; 64, 4 apart: 2 x 4; 32: 8; 16 threads 16
         * words apart are in 2 banks: 8; then 8, 4, 2, 1 threads in one bank: 47 in all */
        {"shared_strided", 24 + 1, 12 + 8, 94 + 1, 47 + 8},
        {"shuffle", 1, 8, 1, 8},
        {"redux", 1, 8, 1, 8},
        {"atomic_shared", 1, 1, 1, 1},
        {"atomic_thread", 0, 0, 0, 0},
        {"two_kernels", 1, 8, 1, 8},
        {"last_block", 1 + 8, 8 + 1, 1 + 8, 8 + 1},
        /* a row: 128 and 64 apart 4 + 2 warps, then two loads of the first one */
        {"reuse", 4 * (12 + 2), 4 * (6 + 8), 4 * (12 + 2), 4 * (6 + 8)},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char axes[64];
        struct reduce_shared shared;
        snprintf(axes, sizeof axes, "variant=%s loads=4", rows[i].variant);
        const struct reduce_geometry g = geometry_of(axes);
        reduce_shared_of_block(&g, &shared);
        if (shared.load_requests != rows[i].loads || shared.store_requests != rows[i].stores ||
            shared.load_wavefronts != rows[i].load_wavefronts || shared.store_wavefronts != rows[i].store_wavefronts)
            fail_msg("%s: %d %d %d %d", axes, (int)shared.load_requests, (int)shared.store_requests,
                     (int)shared.load_wavefronts, (int)shared.store_wavefronts);
    }
}

/* Over all block sizes: the trees that waste warps and those that have conflicts pay the same
 * number of wavefronts, and the sequential one pays the least. */
static void conflicts_cost_as_many_turns_as_idle_lanes(void **state)
{
    (void)state;
    for (uint32_t block = 32; block <= 1024; block *= 2) {
        struct reduce_shared of[3];
        static const char *const variants[] = {"shared_interleaved", "shared_strided", "shared"};
        for (size_t v = 0; v < 3; v++) {
            char axes[64];
            snprintf(axes, sizeof axes, "variant=%s block=%u", variants[v], block);
            const struct reduce_geometry g = geometry_of(axes);
            reduce_shared_of_block(&g, &of[v]);
        }
        assert_int_equal(of[0].load_wavefronts, of[1].load_wavefronts);
        assert_int_equal(of[1].load_requests, of[2].load_requests);
        /* 5 steps of one warp, and block / 32 - 1 warps before these */
        assert_int_equal(of[2].load_requests, 2 * (5 + block / 32 - 1) + 1);
        assert_int_equal(of[2].load_wavefronts, of[2].load_requests);
        assert_int_equal(of[0].load_requests, 2 * (5 * block / 32 + block / 32 - 1) + 1);
    }
}

/* ---- the grid ------------------------------------------------------------------------- */

static void blocks_are_brought_together(void **state)
{
    (void)state;
    struct ub_law law = law_of("variant=atomic_thread n=1Mi bytes=4 loads=1");
    assert_int_equal(counter(&law, "global_reductions"), 32768); /* requests: one a warp */
    law = law_of("variant=atomic_warp n=1Mi bytes=16 loads=4 type=float");
    assert_int_equal(counter(&law, "global_reductions"), 2048);
    law = law_of("variant=two_kernels n=1Mi bytes=16 loads=4");
    assert_int_equal(counter(&law, "global_reductions"), 0);
    assert_int_equal(counter(&law, "global_store_requests"), 256 + 1);
    assert_int_equal(counter(&law, "global_load_requests"), 8192 + 8); /* 256 block sums */
    assert_int_equal(counter(&law, "warps_launched"), 2048 + 32);
    law = law_of("variant=last_block n=1Mi bytes=16 loads=4");
    assert_int_equal(counter(&law, "global_atomics"), 256);
    assert_int_equal(counter(&law, "blocks_launched"), 256);
    assert_int_equal(counter(&law, "branches_divergent"), 256);
    law = law_of("variant=shuffle n=1Mi");
    assert_int_equal(counter(&law, "branches_divergent"), 0);
    /* the last block: some lanes have a whole chunk; of the others one has an element more */
    law = law_of("variant=shuffle n=1009 bytes=16");
    assert_int_equal(counter(&law, "branches_divergent"), 2);
    law = law_of("variant=shuffle n=1 bytes=16");
    assert_int_equal(counter(&law, "branches_divergent"), 1);
    law = law_of("variant=shuffle n=1024 bytes=16 loads=4");
    assert_int_equal(counter(&law, "branches_divergent"), 0);
    law = law_of("variant=atomic_shared type=float n=1Mi");
    assert_false(counter_of(&law, "shared_atomics")->known || counter_of(&law, "branches_divergent")->known);
}

/* ---- time ---------------------------------------------------------------------------- */

static void expect_time(const char *axes, double measured_ns)
{
    const struct ub_law law = law_of(axes);
    assert_true(law.tolerance > 0 && law.tolerance <= 0.3);
    if (fabs(measured_ns / law.time_ns - 1) > law.tolerance)
        fail_msg("%s: predicted %g ns, an H200 took %g", axes, law.time_ns, measured_ns);
}

/* us, of two H200 whose DRAM differs by 2 %. */
static void what_an_h200_did(void **state)
{
    static const struct {
        const char *axes;
        double time_us;
    } rows[] = {
        {"bytes=4 loads=1 variant=shared_interleaved", 5435.6},
        {"bytes=4 loads=1 variant=shared_strided", 3230.3},
        {"bytes=4 loads=1 variant=shared", 2579.1},
        {"bytes=4 loads=1 variant=shuffle", 2374.2},
        {"bytes=4 loads=1 variant=atomic_warp", 13334.8},
        {"bytes=4 loads=1 variant=two_kernels", 1995.4},
        {"bytes=4 loads=1 variant=last_block", 4365.4},
        {"bytes=4 loads=1 variant=atomic_thread type=float", 942200},
        {"bytes=4 loads=1 variant=atomic_warp type=float", 29630.7},
        {"bytes=16 loads=16 variant=shared_interleaved", 459.3},
        {"bytes=16 loads=16 variant=shuffle", 467.8},
        {"bytes=16 loads=16 variant=shuffle type=float block=512", 458.8},
        {"bytes=16 loads=16 variant=atomic_thread", 621.2},
        {"bytes=16 loads=16 variant=last_block", 494.7},
        {"bytes=16 loads=16 variant=reuse", 533.1},
        {"bytes=16 loads=1 variant=shuffle", 931.1},
        {"bytes=16 loads=1 variant=shuffle type=float", 1032.8},
        {"bytes=16 loads=2 variant=shuffle", 623.5},
        {"bytes=16 loads=4 variant=shuffle", 499.0},
        {"bytes=4 loads=8 variant=shuffle", 622.4},
        {"n=1 loads=8", 2.098},
        {"n=1 loads=8 variant=two_kernels", 2.612},
        {"n=1 loads=8 variant=last_block", 2.578},
        {"n=1Mi loads=8", 2.430},
        {"n=8Mi loads=8", 5.775},
        {"n=8Mi loads=1", 10.254},
        {"n=8Mi loads=1 variant=shared", 11.996},
        {"n=1Mi loads=4 variant=atomic_warp", 3.484},
        {"n=1Mi loads=1 variant=atomic_thread", 7.940},
        {"n=16Mi loads=4 variant=atomic_thread", 37.75},
        {"n=64Mi loads=8", 60.89},
        {"n=256Mi loads=8 variant=last_block", 273.7},
        {"n=16Mi bytes=16 loads=1 variant=atomic_thread type=float", 7362.8},
        {"n=16Mi bytes=16 loads=4 variant=atomic_warp type=float", 61.87},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        expect_time(rows[i].axes, rows[i].time_us * 1e3);
}

/* Cycles of the block phase alone. */
static void what_a_block_did(void **state)
{
    static const struct {
        const char *variant;
        double cycles[6]; /* 32 .. 1024 threads */
    } rows[] = {
        {"shared_interleaved", {1102.1, 1314.7, 1545.9, 1889.9, 2751.3, 4551.7}},
        {"shared_strided", {477.9, 571.6, 702.6, 939.6, 1311.7, 2208.1}},
        {"shared", {454.4, 535.6, 639.7, 809.7, 1125.3, 1758.7}},
        {"shuffle", {386.4, 388.2, 391.9, 401.6, 423.3, 482.7}},
        {"redux", {181.8, 184, 188, 196.8, 225.3, 280.1}},
        {"atomic_shared", {112.1, 115.9, 123.2, 140, 184.9, 312.8}},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int size = 0; size < 6; size++) {
            char axes[64];
            snprintf(axes, sizeof axes, "work=block variant=%s block=%d", rows[i].variant, 32 << size);
            expect_time(axes, rows[i].cycles[size] / 1.98);
        }
}

/* DRAM decides where threads have enough to load, whatever the block does; atomics where
 * there is one for each warp; the floor of two launches for one element. */
static void what_decides(void **state)
{
    static const char *const ways[] = {"shared_interleaved", "shared_strided", "shared", "shuffle", "redux",
                                       "atomic_shared"};
    (void)state;
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < COUNT(ways); i++) {
        char axes[64];
        snprintf(axes, sizeof axes, "loads=16 variant=%s", ways[i]);
        const struct ub_law law = law_of(axes);
        assert_string_equal(law.bottleneck, "dram");
        assert_string_equal(law.level, "dram");
        least = fmin(least, law.time_ns);
        most = fmax(most, law.time_ns);
    }
    assert_true(most / least < 1.01);
    struct ub_law law = law_of("variant=atomic_warp bytes=4 loads=1");
    assert_string_equal(law.bottleneck, "atomics");
    law = law_of("n=1");
    assert_string_equal(law.bottleneck, "one_block");
    assert_string_equal(law.level, "l2");
    law = law_of("n=15728640"); /* 60 MiB: as large as L2 */
    assert_true(isnan(law.time_ns) && law.note != NULL);
    /* a number more never takes less time, within a level */
    double before = 0;
    for (uint64_t n = 20000003; n < UINT64_C(1) << 33; n = n * 9 / 8) {
        struct ub_point point = point_of("variant=two_kernels");
        point.values[REDUCE_N] = (int64_t)n;
        law = law_at(h200(), &point);
        assert_true(law.time_ns >= before);
        before = law.time_ns;
    }
}

/* ---- what cannot be ------------------------------------------------------------------- */

static void what_cannot_be_is_refused(void **state)
{
    static const struct {
        const char *card, *axes, *reason;
    } rows[] = {
        {"h200", "block=1", "power of two from 32"},
        {"h200", "block=16", "power of two from 32"},
        {"h200", "block=101", "power of two from 32"},
        {"h200", "block=96", "power of two from 32"},
        {"h200", "bytes=1", "4 or 16 bytes"},
        {"h200", "bytes=8", "4 or 16 bytes"},
        {"h200", "variant=redux type=float", "whole numbers only"},
        {"t4", "variant=redux", "8.0 or later"},
        {"h200", "variant=missing_barrier block=32", "second warp"},
        {"h200", "variant=missing_barrier loads=1", "second row"},
        {"h200", "variant=missing_barrier n=1", "second row"},
        {"h200", "variant=missing_barrier bytes=4 block=64 n=64", "second row"},
        {"h200", "variant=missing_barrier bytes=4 block=64 n=65", NULL},
        {"h200", "work=block variant=two_kernels", "block phase alone"},
        {"h200", "work=block n=1024", "n is of work=sum only"},
        {"h200", "work=block bytes=4", "bytes is of work=sum only"},
        {"h200", "work=block loads=1", "loads is of work=sum only"},
        {"h200", "work=block bytes=16 loads=4 block=32", NULL},
        {"h200", "n=256Gi bytes=4 loads=1 block=32", "2^31 - 1 blocks"},
        {"h200", "n=1", NULL},
        {"h200", "n=104729", NULL},
        {"h200", "n=256Gi loads=4096 block=1024", NULL},
        {"a100", "variant=redux", NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_point point = point_of(rows[i].axes);
        const char *reason = ub_micro_reduce.supported(card(rows[i].card), &point);
        assert_int_equal(reason == NULL, rows[i].reason == NULL);
        if (reason && !strstr(reason, rows[i].reason))
            fail_msg("%s: %s", rows[i].axes, reason);
    }
}

static void one_variant_is_wrong_on_purpose(void **state)
{
    (void)state;
    for (int64_t variant = 0; variant < REDUCE_VARIANTS; variant++) {
        struct ub_point point = point_of("loads=4");
        point.values[REDUCE_VARIANT] = variant;
        const char *mistake = ub_micro_reduce.mistake(h200(), &point);
        assert_int_equal(mistake != NULL, variant == REDUCE_MISSING_BARRIER);
    }
}

static void every_sweep_for_every_card(void **state)
{
    (void)state;
    const struct ub_entry entry = {.micro = &ub_micro_reduce};
    for (size_t i = 0; i < ub_gpu_count(); i++) {
        const struct ub_gpu *gpu = ub_gpu_at(i);
        struct ub_plan plan = {0};
        struct ub_error err = {0};
        if (!ub_plan_add(&plan, &entry, gpu, UB_SUITE_FULL, NULL, 0, true, false, &err))
            fail_msg("%s", err.text);
        for (size_t n = 0; n < plan.count; n++) {
            if (plan.points[n].skip)
                continue;
            const struct ub_law law = law_at(gpu, &plan.points[n].point);
            assert_true(law.counter_count == ub_micro_reduce.counter_count);
            assert_true(counter(&law, "global_load_sectors") > 0);
            assert_int_equal(isfinite(law.time_ns) != 0, law.bottleneck != NULL);
            assert_true(isfinite(law.time_ns) || law.note != NULL);
            assert_int_equal(law.has_code, gpu->cc_major == 9);
        }
        ub_plan_free(&plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_element_is_loaded_once),
        cmocka_unit_test(loads_follow_from_n),
        cmocka_unit_test(trees_of_256_threads),
        cmocka_unit_test(conflicts_cost_as_many_turns_as_idle_lanes),
        cmocka_unit_test(blocks_are_brought_together),
        cmocka_unit_test(what_an_h200_did),
        cmocka_unit_test(what_a_block_did),
        cmocka_unit_test(what_decides),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(one_variant_is_wrong_on_purpose),
        cmocka_unit_test(every_sweep_for_every_card),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
