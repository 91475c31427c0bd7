/* SPDX-License-Identifier: MIT
 *
 * The rule `block_size` against closed forms, for every block size and for every card of
 * the table: how vectors are cut, what is counted, how long it takes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "harness/contract/record.h"
#include "harness/engine/plan.h"
#include "harness/model/time.h"
#include "micro/block_size/rule.h"
#include "tests/rule_fixture.h"

extern const struct ub_micro ub_micro_block_size;

static struct ub_point point_of(const char *axes)
{
    return parse_point(&ub_micro_block_size, axes);
}

static struct ub_law law_of(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct ub_constants constants;
    struct ub_law law;
    ub_gpu_constants(gpu, &constants);
    block_size_law(gpu, &constants, point, &law);
    return law;
}

static struct ub_law law_at(const char *axes)
{
    const struct ub_point point = point_of(axes);
    return law_of(h200(), &point);
}

static uint64_t structural(const struct ub_law *law, const char *key)
{
    assert_int_equal(counter_of(law, key)->class_, UB_STRUCTURAL);
    return counter(law, key);
}

/* ---- how vectors are cut ---------------------------------------------------------------- */

static void an_sm_holds_whole_blocks(void **state)
{
    static const struct {
        int64_t block;
        uint32_t warps, resident;
    } rows[] = {
        /* 32 blocks at most, 64 warps at most */
        {1, 1, 32},   {32, 1, 32},  {33, 2, 32},  {64, 2, 32},  {65, 3, 21},   {96, 3, 21},   {128, 4, 16},
        {129, 5, 12}, {160, 5, 12}, {256, 8, 8},  {257, 9, 7},  {288, 9, 7},   {352, 11, 5},  {512, 16, 4},
        {513, 17, 3}, {672, 21, 3}, {673, 22, 2}, {704, 22, 2}, {1000, 32, 2}, {1024, 32, 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ub_point point = point_of("");
        struct block_size_geometry g;
        point.values[BLOCK_SIZE_BLOCK] = rows[i].block;
        assert_null(block_size_resolve(h200(), &point, &g));
        assert_int_equal(g.warps, rows[i].warps);
        assert_int_equal(g.resident, rows[i].resident);
        assert_int_equal(g.blocks, ((1 << 27) + rows[i].block - 1) / rows[i].block);
    }
}

/* Three vectors are 1.5 GiB, and 20 L2 caches. */
static void automatic_vectors_are_far_larger_than_the_cache(void **state)
{
    (void)state;
    for (size_t i = 0; i < ub_gpu_count(); i++) {
        const struct ub_point point = point_of("");
        struct block_size_geometry g;
        assert_null(block_size_resolve(ub_gpu_at(i), &point, &g));
        assert_true(g.numbers >= 1u << 27 && g.numbers * 12 >= 20 * ub_gpu_at(i)->l2_bytes);
        assert_true(g.numbers == 1u << 27 || g.numbers * 6 < 20 * ub_gpu_at(i)->l2_bytes);
    }
}

static void what_cannot_be_is_said(void **state)
{
    static const struct {
        const char *axes, *reason;
    } rows[] = {
        {"bytes=16 n=1", "multiple of 4"},
        {"bytes=16 n=1000003", "multiple of 4"},
        {"block=1 n=2147483648", "2^31 - 1 blocks"},
        {"block=2 n=8Gi", "2^31 - 1 blocks"},
        {"block=1 n=2147483647", NULL},
        {"bytes=16 block=1 n=8Gi", "2^31 - 1 blocks"},
        {"bytes=16 n=4", NULL},
        {"n=1", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct ub_point point = point_of(rows[i].axes);
        const char *reason = ub_micro_block_size.supported(h200(), &point);
        if ((reason == NULL) != (rows[i].reason == NULL) || (reason && !strstr(reason, rows[i].reason)))
            fail_msg("%s: %s", rows[i].axes, reason ? reason : "supported");
        assert_int_equal(law_of(h200(), &point).counter_count == 0, reason != NULL);
    }
}

/* ---- counters --------------------------------------------------------------------------- */

/* Side by side, aligned: a request of 32 x 4 bytes has 4 sectors, one of 32 x 16 bytes 16. */
static void whole_warps_ask_for_whole_sectors(void **state)
{
    (void)state;
    for (int block = 32; block <= 1024; block += 32) {
        char axes[64];
        snprintf(axes, sizeof axes, "block=%d n=%d", block, 10 * 32 * block);
        const struct ub_law law = law_at(axes);
        assert_int_equal(structural(&law, "blocks_launched"), 320);
        assert_int_equal(structural(&law, "warps_launched"), 10 * block);
        assert_int_equal(structural(&law, "threads_launched"), 320 * block);
        assert_int_equal(structural(&law, "global_load_requests"), 2 * 10 * block);
        assert_int_equal(structural(&law, "global_load_sectors"), 2 * 4 * 10 * block);
        assert_int_equal(structural(&law, "global_store_requests"), 10 * block);
        assert_int_equal(structural(&law, "global_store_sectors"), 4 * 10 * block);
        snprintf(axes, sizeof axes, "bytes=16 block=%d n=%d", block, 4 * 10 * 32 * block);
        const struct ub_law wide = law_at(axes);
        assert_int_equal(structural(&wide, "blocks_launched"), 320);
        assert_int_equal(structural(&wide, "global_store_requests"), 10 * block);
        assert_int_equal(structural(&wide, "global_load_sectors"), 2 * 16 * 10 * block);
    }
}

/* Any block: a warp's lanes are side by side from element `first` on, in sectors of 8
 * elements (4 bytes) or 2 (16 bytes); the last block ends where the vector ends. */
static void count_warps(uint64_t block, uint64_t elements, uint64_t in_sector, uint64_t *requests, uint64_t *sectors)
{
    *requests = *sectors = 0;
    for (uint64_t start = 0; start < elements; start += block)
        for (uint64_t first = start; first < start + block && first < elements; first += 32) {
            uint64_t end = first + 32 < start + block ? first + 32 : start + block;
            end = end < elements ? end : elements;
            ++*requests;
            *sectors += (end - 1) / in_sector - first / in_sector + 1;
        }
}

static void any_block_and_any_end(void **state)
{
    static const uint64_t ends[] = {1, 31, 97, 1000, 100003};
    (void)state;
    for (int64_t block = 1; block <= 1024; block++)
        for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
            for (int wide = 0; wide < 2; wide++) {
                struct ub_point point = point_of("");
                point.values[BLOCK_SIZE_BLOCK] = block;
                point.values[BLOCK_SIZE_BYTES] = wide;
                point.values[BLOCK_SIZE_N] = (int64_t)(wide ? 4 * ends[i] : ends[i]);
                const struct ub_law law = law_of(h200(), &point);
                uint64_t requests, sectors;
                count_warps((uint64_t)block, ends[i], wide ? 2 : 8, &requests, &sectors);
                assert_int_equal(structural(&law, "global_store_requests"), requests);
                assert_int_equal(structural(&law, "global_store_sectors"), sectors);
                assert_int_equal(structural(&law, "global_load_requests"), 2 * requests);
                assert_int_equal(structural(&law, "global_load_sectors"), 2 * sectors);
                const uint64_t blocks = (ends[i] + (uint64_t)block - 1) / (uint64_t)block;
                assert_int_equal(structural(&law, "blocks_launched"), blocks);
                assert_int_equal(structural(&law, "warps_launched"), blocks * (((uint64_t)block + 31) / 32));
                assert_int_equal(structural(&law, "threads_launched"), blocks * (uint64_t)block);
            }
}

static void an_empty_grid_asks_for_nothing(void **state)
{
    (void)state;
    const struct ub_law law = law_at("work=empty block=96");
    assert_int_equal(structural(&law, "blocks_launched"), 1398102);
    assert_int_equal(structural(&law, "warps_launched"), 3 * 1398102);
    assert_int_equal(structural(&law, "global_load_requests") + structural(&law, "global_store_sectors"), 0);
}

/* ---- time ---------------------------------------------------------------------------------- */

/* An H200 by hand: 0.604 ns a block; 1.5 GiB at 3 / (2 / 4.27 + 1 / 4.68) TB/s; generations x (400 ns + 7 ns a
 * warp) + 0.66 x that. */
static void the_largest_of_three(void **state)
{
    static const double dram_us = 1610.612736 / 4.398446;
    static const struct {
        const char *axes, *bottleneck;
        double time_us;
    } rows[] = {
        {"block=32", "block_launch", 4194304 * 0.604e-3},
        {"block=33", "block_launch", 4067204 * 0.604e-3},
        {"block=128", "block_launch", 1048576 * 0.604e-3},
        {"block=256", "block_life", 524288 / (132 * 8.0) * (400 + 7.0 * 8) * 1e-3 + 0.66 * dram_us},
        {"block=704", "block_life", 190651 / (132 * 2.0) * (400 + 7.0 * 22) * 1e-3 + 0.66 * dram_us},
        {"block=1024", "block_life", 131072 / (132 * 2.0) * (400 + 7.0 * 32) * 1e-3 + 0.66 * dram_us},
        {"bytes=16 block=32", "block_launch", 1048576 * 0.604e-3},
        {"bytes=16 block=64", "dram", dram_us},
        {"bytes=16 block=1024", "dram", dram_us},
        {"work=empty block=256", "block_launch", 524288 * 0.604e-3},
        {"work=empty block=1024", "block_life", 131072 / (132 * 2.0) * (150 + 0.93 * 32) * 1e-3},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct ub_law law = law_at(rows[i].axes);
        const double expected_ns = rows[i].time_us * 1e3 + 503;
        if (fabs(law.time_ns / expected_ns - 1) > 1e-5)
            fail_msg("%s: %g ns, expected %g", rows[i].axes, law.time_ns, expected_ns);
        assert_string_equal(law.bottleneck, rows[i].bottleneck);
        assert_true(law.tolerance == 0.07);
    }
}

/* Measured on an H200, us: one of two cards, which differ by 2 %. */
static void what_an_h200_did(void **state)
{
    static const struct {
        const char *axes;
        double time_us;
    } rows[] = {
        {"block=32", 2532.6},          {"block=65", 1244.3},           {"block=128", 636.8},
        {"block=192", 464.2},          {"block=256", 468.3},           {"block=257", 523.6},
        {"block=512", 496.6},          {"block=513", 601.4},           {"block=704", 654.9},
        {"block=1024", 536.9},         {"bytes=16 block=32", 633.0},   {"bytes=16 block=64", 366.4},
        {"bytes=16 block=256", 366.5}, {"bytes=16 block=1024", 366.0}, {"work=empty block=1024", 89.55},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const double off = rows[i].time_us * 1e3 / law_at(rows[i].axes).time_ns - 1;
        if (fabs(off) > 0.05)
            fail_msg("%s: %.1f %% off", rows[i].axes, 100 * off);
    }
}

/* Of two blocks that fill an SM with 64 warps the larger one lives longer. */
static void large_blocks_lose(void **state)
{
    (void)state;
    const double small_ns = law_at("block=256").time_ns, middle_ns = law_at("block=512").time_ns,
                 large_ns = law_at("block=1024").time_ns;
    assert_true(small_ns < middle_ns && middle_ns < large_ns);
}

static void vectors_in_the_cache_are_not_tested(void **state)
{
    (void)state;
    const struct ub_law law = law_at("n=1Mi");
    assert_true(law.tolerance == 0 && strstr(law.note, "not tested"));
    assert_string_equal(law.level, "l2");
    assert_string_equal(law_at("").level, "dram");
    assert_string_equal(law_at("work=empty").level, "none");
    assert_true(law_at("work=empty n=1Mi").tolerance > 0);
}

/* The bandwidth of an Orin's memory is not known: what is left of the law is no time. */
static void without_a_bandwidth_there_is_no_time(void **state)
{
    static const char *const axes[] = {"", "block=32", "bytes=16 block=1024", "n=1Ki"};
    const struct ub_gpu *orin = ub_gpu_find("orin");
    (void)state;
    assert_non_null(orin);
    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++) {
        const struct ub_point point = point_of(axes[i]);
        const struct ub_law law = law_of(orin, &point);
        assert_true(isnan(law.time_ns) && law.tolerance == 0);
        assert_null(law.bottleneck);
        assert_string_equal(law.note, UB_NOTE_NO_DRAM);
        assert_true(structural(&law, "blocks_launched") > 0);
    }
    const struct ub_point empty = point_of("work=empty");
    const struct ub_law law = law_of(orin, &empty);
    assert_true(isfinite(law.time_ns) && law.tolerance > 0);
}

static void every_sweep_for_every_card(void **state)
{
    (void)state;
    const struct ub_entry entry = {.micro = &ub_micro_block_size};
    for (size_t i = 0; i < ub_gpu_count(); i++) {
        struct ub_plan plan = {0};
        struct ub_error err = {0};
        if (!ub_plan_add(&plan, &entry, ub_gpu_at(i), UB_SUITE_FULL, NULL, 0, true, false, &err))
            fail_msg("%s", err.text);
        for (size_t n = 0; n < plan.count; n++) {
            assert_null(plan.points[n].skip);
            const struct ub_law law = law_of(ub_gpu_at(i), &plan.points[n].point);
            const bool has_bandwidth = ub_gpu_at(i)->dram_bandwidth_bps > 0;
            const bool loads = plan.points[n].point.values[BLOCK_SIZE_WORK] == BLOCK_SIZE_ADD;
            assert_int_equal(isfinite(law.time_ns), has_bandwidth || !loads);
            assert_true(structural(&law, "warps_launched") >= structural(&law, "blocks_launched"));
        }
        ub_plan_free(&plan);
    }
}

/* ---- metrics ----------------------------------------------------------------------------------------- */

/* What a point has, the rule says that it has: charts and checks of records ask there. */
static void every_metric_is_listed(void **state)
{
    (void)state;
    struct ub_constants constants;
    struct ub_metrics metrics;
    ub_gpu_constants(h200(), &constants);
    const struct ub_point point = point_of("");
    const struct ub_facts facts = {
        .gpu = h200(), .constants = &constants, .point = &point, .time_ns = 1e6, .predicted = true};
    ub_micro_block_size.metrics(&facts, &metrics);
    assert_int_equal(metrics.count, ub_micro_block_size.metric_count);
    for (size_t i = 0; i < metrics.count; i++)
        assert_string_equal(metrics.items[i].key, ub_micro_block_size.metric_keys[i]);
}

static void metrics_are_the_facts(void **state)
{
    (void)state;
    struct ub_constants constants;
    ub_gpu_constants(h200(), &constants);
    const struct ub_point point = point_of("block=48");
    const char *const keys[] = {"warps_active", "sm_cycles_active"};
    const uint64_t values[] = {1600, 100};
    const struct ub_static attributes = {.resident_blocks = 31};
    struct ub_facts facts = {.gpu = h200(),
                             .constants = &constants,
                             .point = &point,
                             .time_ns = 1e6,
                             .counter_count = 2,
                             .counter_keys = keys,
                             .counter_values = values,
                             .attributes = &attributes};
    struct ub_metrics metrics;
    ub_micro_block_size.metrics(&facts, &metrics);
    assert_true(fabs(metric(&metrics, "useful_bandwidth") / 1.610612736e12 - 1) < 1e-12);
    assert_true(metric(&metrics, "achieved_occupancy") == 0.25);
    assert_true(metric(&metrics, "theoretical_occupancy") == 31 * 2 / 64.0);
    assert_true(metric(&metrics, "resident_blocks") == 31);
    assert_true(metric(&metrics, "lanes_used") == 0.75);
    assert_true(fabs(metric(&metrics, "time_per_block_ns") / (1e6 / 2796203) - 1) < 1e-12);
    facts.attributes = NULL;
    ub_micro_block_size.metrics(&facts, &metrics);
    assert_true(isnan(metric(&metrics, "theoretical_occupancy")));
    facts.predicted = true;
    ub_micro_block_size.metrics(&facts, &metrics);
    assert_true(metric(&metrics, "theoretical_occupancy") == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_sm_holds_whole_blocks),   cmocka_unit_test(automatic_vectors_are_far_larger_than_the_cache),
        cmocka_unit_test(what_cannot_be_is_said),     cmocka_unit_test(whole_warps_ask_for_whole_sectors),
        cmocka_unit_test(any_block_and_any_end),      cmocka_unit_test(an_empty_grid_asks_for_nothing),
        cmocka_unit_test(the_largest_of_three),       cmocka_unit_test(what_an_h200_did),
        cmocka_unit_test(large_blocks_lose),          cmocka_unit_test(vectors_in_the_cache_are_not_tested),
        cmocka_unit_test(every_sweep_for_every_card), cmocka_unit_test(metrics_are_the_facts),
        cmocka_unit_test(every_metric_is_listed),     cmocka_unit_test(without_a_bandwidth_there_is_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
