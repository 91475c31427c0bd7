/* SPDX-License-Identifier: MIT
 *
 * The law of `divergence` against closed forms, against a replay of every warp of every
 * block that shares no code with the model of branches, and against what an H200
 * counted. */
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
#include "micro/divergence/access.h"
#include "micro/divergence/rule.h"
#include "tests/rule_fixture.h"

extern const struct ub_micro ub_micro_divergence;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- points ---------------------------------------------------------------------- */

static struct ub_point point_of(enum divergence_variant variant, int64_t ways, int64_t body, int64_t block)
{
    struct ub_point point = {{0}};
    point.values[DIVERGENCE_VARIANT] = variant;
    point.values[DIVERGENCE_WAYS] = ways;
    point.values[DIVERGENCE_BODY] = body;
    point.values[DIVERGENCE_BLOCK] = block;
    return point;
}

static struct divergence_geometry geometry_of(const struct ub_point *point)
{
    struct divergence_geometry g;
    const char *reason = divergence_resolve(h200(), point, &g);
    if (reason != NULL)
        fail_msg("%s", reason);
    if (g.variant == DIVERGENCE_SORTED)
        divergence_sort(&g);
    return g;
}

static struct divergence_count count_of(enum divergence_variant variant, int64_t ways, int64_t body, int64_t block)
{
    const struct ub_point point = point_of(variant, ways, body, block);
    const struct divergence_geometry g = geometry_of(&point);
    struct divergence_count count;
    divergence_replay(h200(), &g, &count);
    return count;
}

static struct ub_law law_of(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct ub_constants constants = {0};
    struct ub_law law;
    ub_gpu_constants(gpu, &constants);
    ub_micro_divergence.law(gpu, &constants, point, &law);
    return law;
}

static double time_of(enum divergence_variant variant, int64_t ways, int64_t body, int64_t block)
{
    const struct ub_point point = point_of(variant, ways, body, block);
    return law_of(h200(), &point).time_ns;
}

static void near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("%.12g instead of %.12g", got, wanted);
}

/* ---- closed forms ------------------------------------------------------------------ */

enum { SMS = 132, WARPS = 4 }; /* of an H200; of a block of 128 threads */

static void a_branch_on_the_lane_diverges_once_a_path(void **state)
{
    (void)state;
    for (int64_t ways = 1; ways <= 32; ways++) {
        const struct divergence_count count = count_of(DIVERGENCE_THREAD, ways, 64, 128);
        assert_int_equal(count.warps, SMS * WARPS);
        assert_int_equal(count.divergent, ways == 1 ? 0 : SMS * WARPS * ways);
        assert_int_equal(count.longest_warp, ways);
        assert_int_equal(count.busiest_scheduler, ways);
        assert_int_equal(count.ffma, SMS * 128 * 64);
    }
}

static void branches_between_warps_and_look_ups_never_diverge(void **state)
{
    static const enum divergence_variant variants[] = {DIVERGENCE_WARP, DIVERGENCE_BLOCK_ID, DIVERGENCE_TABLE,
                                                       DIVERGENCE_CONSTANT};
    (void)state;
    for (size_t i = 0; i < COUNT(variants); i++)
        for (int64_t ways = 1; ways <= 32; ways++)
            for (int64_t block = 32; block <= 1024; block += 31) {
                const struct divergence_count count = count_of(variants[i], ways, 32, block);
                assert_int_equal(count.divergent, 0);
                assert_int_equal(count.longest_warp, 1);
                assert_int_equal(count.ffma, variants[i] == DIVERGENCE_CONSTANT ? 0 : SMS * block * 32);
            }
}

static void a_switch_diverges_once_less_than_it_has_paths(void **state)
{
    (void)state;
    for (int64_t ways = 1; ways <= 32; ways++) {
        const struct divergence_count count = count_of(DIVERGENCE_SWITCH, ways, 64, 128);
        assert_int_equal(count.divergent, SMS * WARPS * (ways - 1));
        assert_int_equal(count.longest_warp, ways);
    }
}

/* Lane p of 32 makes p % ways + 1 times the trips. */
static void a_loop_takes_as_long_as_its_longest_lane(void **state)
{
    (void)state;
    for (int64_t ways = 1; ways <= 32; ways++) {
        const struct divergence_count count = count_of(DIVERGENCE_LOOP, ways, 64, 128);
        int64_t bodies = 0;
        for (int64_t lane = 0; lane < 32; lane++)
            bodies += lane % ways + 1;
        assert_int_equal(count.divergent, SMS * WARPS * (ways - 1));
        assert_int_equal(count.longest_warp, ways);
        assert_int_equal(count.ffma, SMS * WARPS * bodies * 64);
    }
}

/* Each boundary between two paths lies in at most one row of 32. */
static void data_in_order_hardly_diverges(void **state)
{
    (void)state;
    for (int64_t ways = 2; ways <= 32; ways++) {
        const struct divergence_count random = count_of(DIVERGENCE_DATA, ways, 64, 128);
        const struct divergence_count sorted = count_of(DIVERGENCE_SORTED, ways, 64, 128);
        assert_true(sorted.divergent <= (uint64_t)(SMS * 2 * (ways - 1)));
        assert_true(sorted.longest_warp <= (uint64_t)(DIVERGENCE_ROWS + ways - 1));
        assert_true(random.divergent > 20 * sorted.divergent);
        assert_int_equal(random.ffma, sorted.ffma);
    }
    /* 32 lanes of 2 ways are never all alike here: both paths in each of the 16 rows. */
    assert_int_equal(count_of(DIVERGENCE_DATA, 2, 64, 128).longest_warp, 32);
    assert_int_equal(count_of(DIVERGENCE_SORTED, 2, 64, 128).longest_warp, 17);
}

static void lanes_that_are_missing_are_idle_not_divergent(void **state)
{
    (void)state;
    for (int64_t block = 33; block < 1024; block++) {
        if (block % 32 == 0)
            continue;
        const struct divergence_count count = count_of(DIVERGENCE_TAIL, 1, 32, block);
        assert_int_equal(count.divergent, 0);
        assert_int_equal(count.warps, SMS * ((block + 31) / 32));
        assert_int_equal(count.ffma, SMS * block * 32);
        assert_int_equal(count.longest_warp, 1);
    }
    /* 33 threads: of two ways, the second warp's single lane takes one. */
    assert_int_equal(count_of(DIVERGENCE_THREAD, 2, 32, 33).divergent, SMS * 2);
}

/* ---- every warp of every block -------------------------------------------------------- */

/* How many lanes of a warp answer yes and no to a test; one of the 32 in a row. */
static void walk_tests(const uint32_t *paths, uint32_t lanes, struct divergence_count *count)
{
    for (uint32_t test = 0; test < DIVERGENCE_PATHS; test++) {
        uint32_t yes = 0;
        for (uint32_t lane = 0; lane < lanes; lane++)
            yes += paths[lane] == test;
        count->divergent += yes != 0 && yes != lanes;
    }
}

static void brute_force(const struct divergence_geometry *g, struct divergence_count *count)
{
    *count = (struct divergence_count){0};
    for (uint32_t block = 0; block < g->blocks; block++)
        for (uint32_t first = 0; first < g->block; first += 32) {
            const uint32_t lanes = g->block - first < 32 ? g->block - first : 32;
            count->warps++;
            for (uint32_t row = 0; row < g->rows; row++) {
                uint32_t paths[32];
                for (uint32_t lane = 0; lane < lanes; lane++)
                    paths[lane] = divergence_path(g, block, first + lane, row);
                walk_tests(paths, lanes, count);
                count->ffma += (uint64_t)lanes * g->body;
            }
        }
}

static void one_block_stands_for_all(void **state)
{
    static const enum divergence_variant variants[] = {DIVERGENCE_THREAD, DIVERGENCE_WARP, DIVERGENCE_BLOCK_ID,
                                                       DIVERGENCE_DATA, DIVERGENCE_SORTED};
    static const int64_t blocks[] = {32, 33, 48, 128, 250};
    (void)state;
    for (size_t v = 0; v < COUNT(variants); v++)
        for (size_t b = 0; b < COUNT(blocks); b++)
            for (int64_t ways = 1; ways <= 32; ways += ways < 4 ? 1 : 7) {
                struct ub_point point = point_of(variants[v], ways, 32, blocks[b]);
                point.values[DIVERGENCE_BLOCKS] = 37;
                const struct divergence_geometry g = geometry_of(&point);
                struct divergence_count wanted, got;
                brute_force(&g, &wanted);
                divergence_replay(h200(), &g, &got);
                assert_int_equal(got.warps, wanted.warps);
                assert_int_equal(got.divergent, wanted.divergent);
                assert_int_equal(got.ffma, wanted.ffma);
            }
}

/* Sorting moves the data and changes none of it. */
static void sorted_data_is_the_same_data(void **state)
{
    (void)state;
    for (int64_t ways = 1; ways <= 32; ways++)
        for (int64_t block = 32; block <= 1024; block += 124) {
            const struct ub_point point = point_of(DIVERGENCE_SORTED, ways, 32, block);
            const struct divergence_geometry g = geometry_of(&point);
            uint32_t of_random[32] = {0}, of_sorted[32] = {0}, before = 0;
            for (uint32_t element = 0; element < g.rows * g.block; element++) {
                const uint32_t path = divergence_sorted_path(&g, element);
                assert_true(path >= before && path < ways);
                of_sorted[path]++;
                of_random[divergence_random_path(element, (uint32_t)ways)]++;
                before = path;
            }
            assert_memory_equal(of_random, of_sorted, sizeof of_random);
        }
}

/* ---- counters of the law ------------------------------------------------------------------ */

/* branches_divergent and ffma as CUPTI and ncu counted them: H200, driver 580, CUDA 13.0,
 * one block of 128 threads an SM, 132 SMs. */
static void law_equals_what_an_h200_counted(void **state)
{
    static const struct {
        enum divergence_variant variant;
        int64_t ways, body;
        uint64_t divergent, ffma;
    } rows[] = {
        {DIVERGENCE_THREAD, 1, 64, 0, 1081344},      {DIVERGENCE_THREAD, 2, 64, 1056, 1081344},
        {DIVERGENCE_THREAD, 3, 64, 1584, 1081344},   {DIVERGENCE_THREAD, 17, 64, 8976, 1081344},
        {DIVERGENCE_THREAD, 32, 64, 16896, 1081344}, {DIVERGENCE_WARP, 32, 64, 0, 1081344},
        {DIVERGENCE_BLOCK_ID, 2, 64, 0, 1081344},    {DIVERGENCE_LOOP, 1, 64, 0, 1081344},
        {DIVERGENCE_LOOP, 3, 64, 1056, 2128896},     {DIVERGENCE_LOOP, 32, 64, 16368, 17842176},
        {DIVERGENCE_SWITCH, 2, 64, 528, 1081344},    {DIVERGENCE_SWITCH, 32, 64, 16368, 1081344},
        {DIVERGENCE_DATA, 2, 64, 16896, 17301504},   {DIVERGENCE_DATA, 3, 64, 25344, 17301504},
        {DIVERGENCE_DATA, 32, 64, 171336, 17301504}, {DIVERGENCE_SORTED, 2, 64, 264, 17301504},
        {DIVERGENCE_SORTED, 3, 64, 528, 17301504},   {DIVERGENCE_SORTED, 32, 64, 7392, 17301504},
        {DIVERGENCE_SELECT_WARP, 2, 64, 0, 0},       {DIVERGENCE_CONSTANT, 32, 64, 0, 0},
        {DIVERGENCE_THREAD, 2, 512, 1056, 8650752},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_point point = point_of(rows[i].variant, rows[i].ways, rows[i].body, 128);
        const struct ub_law law = law_of(h200(), &point);
        const struct ub_law_counter *divergent = counter_of(&law, "branches_divergent");
        const struct ub_law_counter *ffma = counter_of(&law, "ffma");
        assert_true(divergent->known && ffma->known);
        assert_int_equal(divergent->predicted, rows[i].divergent);
        assert_int_equal(ffma->predicted, rows[i].ffma);
        assert_int_equal(ffma->class_, UB_STRUCTURAL);
    }
}

/* Only where the compiler has a choice is the number of divergent branches not structural. */
static void classes_say_what_the_compiler_decides(void **state)
{
    (void)state;
    for (int variant = 0; variant < DIVERGENCE_VARIANTS; variant++) {
        const bool tail = variant == DIVERGENCE_TAIL;
        const struct ub_point point = point_of((enum divergence_variant)variant, tail ? 1 : 2, 64, tail ? 100 : 128);
        const struct ub_law law = law_of(h200(), &point);
        const bool free_choice =
            variant == DIVERGENCE_SELECT_THREAD || variant == DIVERGENCE_SELECT_WARP || variant == DIVERGENCE_SWITCH;
        const struct ub_law_counter *divergent = counter_of(&law, "branches_divergent");
        assert_int_equal(divergent->class_, free_choice ? UB_SASS : UB_STRUCTURAL);
        assert_int_equal(divergent->reason != NULL, free_choice);
        assert_int_equal(law.counter_count, ub_micro_divergence.counter_count);
        for (size_t i = 0; i < law.counter_count; i++) {
            assert_string_equal(law.counters[i].key, ub_micro_divergence.counters[i]);
            assert_true(law.counters[i].known || law.counters[i].reason != NULL);
        }
    }
}

/* ---- time -------------------------------------------------------------------------------- */

static void time_is_the_sum_of_the_paths(void **state)
{
    (void)state;
    const double one = time_of(DIVERGENCE_WARP, 1, 64, 128);
    for (int64_t ways = 1; ways <= 32; ways++) {
        near(time_of(DIVERGENCE_THREAD, ways, 64, 128), (double)ways * one);
        near(time_of(DIVERGENCE_WARP, ways, 64, 128), one);
        near(time_of(DIVERGENCE_BLOCK_ID, ways, 64, 128), one);
        near(time_of(DIVERGENCE_SWITCH, ways, 64, 128), (double)ways * one);
        near(time_of(DIVERGENCE_LOOP, ways, 64, 128), (double)ways * one);
        near(time_of(DIVERGENCE_TABLE, ways, 64, 128), one);
    }
    near(time_of(DIVERGENCE_THREAD, 2, 1024, 128), 32 * one);
    near(time_of(DIVERGENCE_SELECT_THREAD, 2, 64, 128), time_of(DIVERGENCE_SELECT_WARP, 2, 64, 128));
    assert_true(time_of(DIVERGENCE_DATA, 2, 64, 128) >= 1.8 * time_of(DIVERGENCE_SORTED, 2, 64, 128));
}

/* H200: 34, 45, 375 cycles a look-up at 1, 2, 32 indices of a warp; 512 with 8 warps an SM. */
static void constant_memory_answers_one_index_at_a_time(void **state)
{
    static const struct {
        int64_t ways, block;
        double cycles;
    } rows[] = {{1, 128, 34}, {2, 128, 45}, {8, 32, 111}, {32, 128, 375}, {32, 256, 512}, {16, 256, 256}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        near(time_of(DIVERGENCE_CONSTANT, rows[i].ways, 64, rows[i].block), rows[i].cycles * 64 / 1.98);
}

/* 8 warps a scheduler with 35 instructions for 32 FMAs: issue decides, and divergence
 * doubles what is issued. */
static void crowded_schedulers_are_limited_by_issue(void **state)
{
    (void)state;
    const struct ub_point point = point_of(DIVERGENCE_THREAD, 2, 64, 1024);
    const struct ub_law law = law_of(h200(), &point);
    assert_string_equal(law.bottleneck, "issue");
    near(law.time_ns, 2 * 8 * 64 * (35.0 / 32) / 1.98);
    assert_non_null(law.note);
    const struct ub_point small = point_of(DIVERGENCE_THREAD, 2, 64, 128);
    assert_string_equal(law_of(h200(), &small).bottleneck, "paths");
    assert_null(law_of(h200(), &small).note);
}

static void tolerance_says_what_is_tested(void **state)
{
    (void)state;
    const struct ub_point usual = point_of(DIVERGENCE_THREAD, 32, 64, 128);
    assert_true(law_of(h200(), &usual).tolerance <= 0.03);
    struct ub_point many = usual;
    many.values[DIVERGENCE_BLOCKS] = 200;
    assert_true(law_of(h200(), &many).tolerance == 0);
    const struct ub_gpu *a100 = ub_gpu_find("a100");
    assert_non_null(strstr(law_of(a100, &usual).note, "assumed"));
    assert_true(law_of(a100, &usual).tolerance > 0.03);
}

/* ---- metrics, points ---------------------------------------------------------------------- */

static double metric_of(const struct ub_metrics *metrics, const char *key)
{
    for (size_t i = 0; i < metrics->count; i++)
        if (strcmp(metrics->items[i].key, key) == 0)
            return metrics->items[i].value;
    fail_msg("no metric %s", key);
    return NAN;
}

static struct ub_metrics metrics_of(const struct ub_point *point, double time_ns, const uint64_t *values)
{
    struct ub_constants constants = {0};
    assert_true(ub_constant_set(&constants, "fma_step_ns", 2, 2, 2, "ns", "test"));
    const struct ub_facts facts = {.gpu = h200(),
                                   .constants = &constants,
                                   .point = point,
                                   .time_ns = time_ns,
                                   .counter_count = values != NULL ? ub_micro_divergence.counter_count : 0,
                                   .counter_keys = ub_micro_divergence.counters,
                                   .counter_values = values};
    struct ub_metrics metrics;
    ub_micro_divergence.metrics(&facts, &metrics);
    assert_int_equal(metrics.count, ub_micro_divergence.metric_count);
    for (size_t i = 0; i < metrics.count; i++)
        assert_string_equal(metrics.items[i].key, ub_micro_divergence.metric_keys[i]);
    return metrics;
}

static void metrics_follow_from_time_and_counters(void **state)
{
    (void)state;
    const struct ub_point point = point_of(DIVERGENCE_THREAD, 2, 64, 128);
    /* divergent, uniform, ffma, warp, thread, predicated on */
    const uint64_t values[] = {1056, 3168, 0, 1000, 24000, 21000};
    const struct ub_metrics metrics = metrics_of(&point, 256, values);
    near(metric_of(&metrics, "slowdown"), 2);
    near(metric_of(&metrics, "step_ns"), 4);
    near(metric_of(&metrics, "divergent_branches"), 2);
    near(metric_of(&metrics, "branch_efficiency"), 0.75);
    near(metric_of(&metrics, "average_active_lanes"), 24);
    near(metric_of(&metrics, "predicated_off"), 0.125);
    const struct ub_point data = point_of(DIVERGENCE_DATA, 2, 64, 128);
    const uint64_t data_values[] = {16896, 0, 0, 1, 1, 1};
    const struct ub_metrics rows = metrics_of(&data, 16 * 256, data_values);
    near(metric_of(&rows, "slowdown"), 2); /* 16 rows */
    near(metric_of(&rows, "divergent_branches"), 2);
    const struct ub_metrics uncounted = metrics_of(&point, 256, NULL);
    assert_true(isnan(metric_of(&uncounted, "divergent_branches")));
}

/* "No branch" is no efficiency, neither 0 nor 100 %. */
static void without_a_branch_there_is_no_efficiency(void **state)
{
    (void)state;
    const struct ub_point point = point_of(DIVERGENCE_TABLE, 2, 64, 128);
    const uint64_t values[] = {0, 0, 0, 1000, 32000, 32000};
    const struct ub_metrics metrics = metrics_of(&point, 128, values);
    assert_true(isnan(metric_of(&metrics, "branch_efficiency")));
    near(metric_of(&metrics, "average_active_lanes"), 32);
}

static void what_cannot_run_says_why(void **state)
{
    static const struct {
        enum divergence_variant variant;
        int64_t ways, body, block;
        const char *part; /* of the reason; NULL: it runs */
    } rows[] = {
        {DIVERGENCE_SELECT_THREAD, 3, 64, 128, "needs ways=2"},
        {DIVERGENCE_SELECT_WARP, 1, 64, 128, "needs ways=2"},
        {DIVERGENCE_TAIL, 2, 64, 100, "needs ways=1"},
        {DIVERGENCE_TAIL, 1, 64, 128, "not a multiple of 32 threads"},
        {DIVERGENCE_THREAD, 2, 65, 128, "multiple of 32"},
        {DIVERGENCE_THREAD, 32, 1024, 1024, NULL},
        {DIVERGENCE_TAIL, 1, 32, 33, NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_point point = point_of(rows[i].variant, rows[i].ways, rows[i].body, rows[i].block);
        const char *reason = ub_micro_divergence.supported(h200(), &point);
        assert_int_equal(reason == NULL, rows[i].part == NULL);
        if (reason != NULL && strstr(reason, rows[i].part) == NULL)
            fail_msg("'%s' does not say '%s'", reason, rows[i].part);
        const struct ub_law law = law_of(h200(), &point);
        assert_int_equal(isnan(law.time_ns), reason != NULL);
    }
}

static void blocks_are_one_an_sm_unless_said(void **state)
{
    (void)state;
    struct ub_point point = point_of(DIVERGENCE_THREAD, 2, 64, 128);
    assert_int_equal(geometry_of(&point).blocks, 132);
    point.values[DIVERGENCE_BLOCKS] = 7;
    assert_int_equal(geometry_of(&point).blocks, 7);
}

/* What checks the kernel must not share its formula (tests/arrows_test.sh: no include). */
static void checks_do_not_use_the_pattern(void **state)
{
    (void)state;
    FILE *file = fopen(UB_SOURCE_DIR "/micro/divergence/verify.c", "r");
    assert_non_null(file);
    char line[256];
    while (fgets(line, sizeof line, file) != NULL)
        assert_null(strstr(line, "access.h"));
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_branch_on_the_lane_diverges_once_a_path),
        cmocka_unit_test(branches_between_warps_and_look_ups_never_diverge),
        cmocka_unit_test(a_switch_diverges_once_less_than_it_has_paths),
        cmocka_unit_test(a_loop_takes_as_long_as_its_longest_lane),
        cmocka_unit_test(data_in_order_hardly_diverges),
        cmocka_unit_test(lanes_that_are_missing_are_idle_not_divergent),
        cmocka_unit_test(one_block_stands_for_all),
        cmocka_unit_test(sorted_data_is_the_same_data),
        cmocka_unit_test(law_equals_what_an_h200_counted),
        cmocka_unit_test(classes_say_what_the_compiler_decides),
        cmocka_unit_test(time_is_the_sum_of_the_paths),
        cmocka_unit_test(constant_memory_answers_one_index_at_a_time),
        cmocka_unit_test(crowded_schedulers_are_limited_by_issue),
        cmocka_unit_test(tolerance_says_what_is_tested),
        cmocka_unit_test(metrics_follow_from_time_and_counters),
        cmocka_unit_test(without_a_branch_there_is_no_efficiency),
        cmocka_unit_test(what_cannot_run_says_why),
        cmocka_unit_test(blocks_are_one_an_sm_unless_said),
        cmocka_unit_test(checks_do_not_use_the_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
