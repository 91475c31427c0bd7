/* SPDX-License-Identifier: MIT
 *
 * The law of `carveout` against capacities written out by hand, and its hit rate against
 * caches that are simulated here, with the very order in which the kernel loads. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/contract/record.h"
#include "micro/carveout/access.h"
#include "micro/carveout/rule.h"
#include "tests/rule_fixture.h"

extern const struct ub_micro ub_micro_carveout;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define KIB(n)       (UINT64_C(1024) * (n))

static struct ub_point point_of(int64_t percent, uint64_t footprint, uint64_t shared, int64_t ask, int64_t order,
                                int64_t load)
{
    struct ub_point point = {{0}};
    point.values[CARVEOUT_PERCENT] = percent;
    point.values[CARVEOUT_FOOTPRINT] = (int64_t)footprint;
    point.values[CARVEOUT_SHARED] = (int64_t)shared;
    point.values[CARVEOUT_ASK] = ask;
    point.values[CARVEOUT_ORDER] = order;
    point.values[CARVEOUT_LOAD] = load;
    return point;
}

static struct carveout_division divide(const char *slug, int64_t percent, uint64_t shared, int64_t ask)
{
    struct carveout_geometry g;
    struct carveout_division division;
    const struct ub_point point = point_of(percent, KIB(320), shared, ask, CARVEOUT_RANDOM, CARVEOUT_CA);
    assert_null(carveout_resolve(card(slug), &point, &g));
    carveout_divide(card(slug), &g, &division);
    return division;
}

/* ---- the division ------------------------------------------------------------------ */

/* Without shared memory: 228 KiB x percent (CC 9.0), rounded up to a size that exists; the
 * reserved KiB of 32 blocks keep it from less than 32. */
static void a_preference_is_rounded_up(void **state)
{
    static const struct {
        const char *slug;
        int from, to; /* percent */
        uint64_t shared_kib, l1_kib;
    } rows[] = {
        {"h200", 0, 14, 32, 217},   {"h200", 15, 28, 64, 185},   {"h200", 29, 43, 100, 149},
        {"h200", 44, 57, 132, 117}, {"h200", 58, 71, 164, 85},   {"h200", 72, 85, 196, 53},
        {"h200", 86, 100, 228, 21}, {"b200", 0, 14, 32, 217},    {"b200", 44, 57, 132, 117},
        {"b200", 86, 100, 228, 21}, {"a100", 0, 19, 32, 153},    {"a100", 40, 60, 100, 85}, /* 192 KiB in all */
        {"a100", 81, 100, 164, 21}, {"rtx3090", 0, 16, 16, 105}, {"l4", 0, 32, 32, 89},     /* 128; 16, 24 blocks */
        {"l4", 65, 100, 100, 21},   {"v100", 0, 0, 0, 121},      {"v100", 67, 100, 96, 25}, /* nothing is reserved */
        {"t4", 0, 50, 32, 62},      {"t4", 51, 100, 64, 30},                                /* two sizes of 96 KiB */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int percent = rows[i].from; percent <= rows[i].to; percent++)
            for (int64_t ask = CARVEOUT_ASK_LAUNCH; ask <= CARVEOUT_ASK_FUNCTION; ask++) {
                const struct carveout_division division = divide(rows[i].slug, percent, 0, ask);
                if (division.shared_bytes != KIB(rows[i].shared_kib) || division.l1_bytes != KIB(rows[i].l1_kib))
                    fail_msg("%s, %d %%: %u KiB of shared memory, %u of L1", rows[i].slug, percent,
                             (unsigned)(division.shared_bytes / 1024), (unsigned)(division.l1_bytes / 1024));
            }
}

/* What an H200 did: KiB, rounded to a size that exists. */
static void shared_memory_moves_the_preference(void **state)
{
    static const int percents[] = {0, 10, 20, 35, 50, 65, 80, 95, 100};
    static const struct {
        uint64_t shared_bytes;
        uint16_t kib[COUNT(percents)];
    } rows[] = {
        {0, {32, 32, 64, 100, 132, 164, 196, 228, 228}},
        {1, {8, 228, 228, 228, 228, 228, 228, 228, 228}},
        {512, {8, 100, 164, 228, 228, 228, 228, 228, 228}},
        {KIB(1), {8, 64, 100, 164, 228, 228, 228, 228, 228}},
        {KIB(2), {8, 64, 100, 132, 196, 228, 228, 228, 228}},
        {KIB(3), {8, 32, 64, 132, 164, 196, 228, 228, 228}},
        {KIB(4), {8, 32, 64, 100, 164, 196, 228, 228, 228}},
        {KIB(5), {8, 32, 64, 100, 132, 196, 228, 228, 228}},
        {KIB(6), {8, 32, 64, 100, 164, 196, 228, 228, 228}},
        {KIB(7), {8, 32, 64, 100, 132, 196, 228, 228, 228}},
        {KIB(8), {16, 32, 64, 100, 132, 164, 228, 228, 228}},
        {KIB(15), {16, 32, 64, 100, 132, 164, 196, 228, 228}},
        {KIB(16), {32, 32, 64, 100, 132, 164, 196, 228, 228}},
        {KIB(31), {32, 32, 64, 100, 132, 164, 196, 228, 228}},
        {KIB(32), {64, 64, 64, 100, 132, 164, 196, 228, 228}},
        {KIB(48), {64, 64, 64, 100, 132, 164, 196, 228, 228}},
        {KIB(64), {100, 100, 100, 100, 132, 164, 196, 228, 228}},
        {KIB(100), {132, 132, 132, 132, 132, 164, 196, 228, 228}},
        {KIB(128), {132, 132, 132, 132, 132, 164, 196, 228, 228}},
        {KIB(200), {228, 228, 228, 228, 228, 228, 228, 228, 228}},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t p = 0; p < COUNT(percents); p++) {
            const struct carveout_division division =
                divide("h200", percents[p], rows[i].shared_bytes, CARVEOUT_ASK_LAUNCH);
            if (division.shared_bytes != KIB(rows[i].kib[p]))
                fail_msg("%u bytes, %d %%: %u KiB, not %u", (unsigned)rows[i].shared_bytes, percents[p],
                         (unsigned)(division.shared_bytes / 1024), rows[i].kib[p]);
        }
}

/* What an H200 did with blocks of 128 threads, of which an SM holds 16 at most. */
static void without_a_preference_all_blocks_fit(void **state)
{
    static const struct {
        uint64_t shared_kib, carveout_kib;
    } rows[] = {
        {0, 32},    {1, 64},    {2, 100},   {3, 132},   {4, 132},   {7, 132},   {8, 164},   {9, 164},   {10, 196},
        {11, 196},  {12, 228},  {15, 228},  {16, 228},  {32, 228},  {48, 196},  {64, 196},  {80, 164},  {96, 196},
        {112, 228}, {128, 132}, {131, 132}, {132, 164}, {160, 164}, {192, 196}, {208, 228}, {227, 228},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct carveout_division division = divide("h200", 0, KIB(rows[i].shared_kib), CARVEOUT_ASK_NOTHING);
        if (division.shared_bytes != KIB(rows[i].carveout_kib))
            fail_msg("%u KiB: %u KiB", (unsigned)rows[i].shared_kib, (unsigned)(division.shared_bytes / 1024));
        assert_int_equal(division.l1_bytes, KIB(249) - division.shared_bytes);
    }
}

/* ---- hits: caches of every kind have the same ---------------------------------------- */

#define NOTHING UINT32_MAX

enum policy { LRU, FIFO, BY_CHANCE, POLICIES };

struct cache {
    uint32_t sets, ways;
    enum policy policy;
    uint32_t *lines; /* sets x ways; newest first (LRU, FIFO); NOTHING: none yet */
    uint32_t chance;
};

static bool look_up(struct cache *cache, uint32_t line)
{
    uint32_t *set = cache->lines + line % cache->sets * cache->ways;
    uint32_t way = 0;
    while (way < cache->ways && set[way] != line)
        way++;
    const bool hit = way < cache->ways;
    if (hit && cache->policy != LRU)
        return true;
    if (cache->policy == BY_CHANCE) {
        cache->chance = cache->chance * 69069u + 1u;
        for (way = 0; way < cache->ways && set[way] != NOTHING;)
            way++;
        set[way < cache->ways ? way : (uint64_t)cache->chance * cache->ways >> 32] = line;
        return false;
    }
    const uint32_t last = hit ? way : cache->ways - 1;
    memmove(set + 1, set, last * sizeof *set);
    set[0] = line;
    return hit;
}

/* Hit rate of the kernel's loads once every line was brought in. */
static double simulate(enum policy policy, uint32_t sets, uint32_t ways, uint32_t order, uint32_t lines)
{
    struct cache cache = {.sets = sets, .ways = ways, .policy = policy, .chance = 1};
    uint32_t places[CARVEOUT_WARPS], hits = 0;
    const uint32_t rounds = 32768;
    cache.lines = malloc((size_t)sets * ways * sizeof *cache.lines);
    assert_non_null(cache.lines);
    memset(cache.lines, 0xFF, (size_t)sets * ways * sizeof *cache.lines);
    for (uint32_t line = 0; line < lines; line++)
        look_up(&cache, line);
    const uint32_t warps = order == CARVEOUT_RANDOM ? CARVEOUT_WARPS : 1;
    for (uint32_t warp = 0; warp < warps; warp++)
        places[warp] = carveout_start(order, warp);
    for (uint32_t round = 0; round < rounds; round++)
        for (uint32_t warp = 0; warp < warps; warp++) {
            hits += look_up(&cache, carveout_line(order, places[warp], lines));
            places[warp] = carveout_next(order, places[warp], lines);
        }
    free(cache.lines);
    return (double)hits / (rounds * warps);
}

static void random_draws_hit_as_often_in_any_cache(void **state)
{
    static const uint32_t shapes[][2] = {{480, 4}, {60, 32}, {1, 1920}}; /* 240 KiB each: sets, ways */
    (void)state;
    for (size_t shape = 0; shape < COUNT(shapes); shape++)
        for (enum policy policy = LRU; policy < POLICIES; policy++)
            for (uint32_t lines = 1920; lines <= 3840; lines += 960) {
                const double hits = simulate(policy, shapes[shape][0], shapes[shape][1], CARVEOUT_RANDOM, lines);
                if (fabs(hits - 1920.0 / lines) > 0.005)
                    fail_msg("policy %d, %u ways, %u lines: %.4f", (int)policy, shapes[shape][1], lines, hits);
            }
}

static void taking_turns_does_not(void **state)
{
    (void)state;
    assert_true(simulate(LRU, 1, 1920, CARVEOUT_CYCLIC, 1920) == 1);
    assert_true(simulate(LRU, 1, 1920, CARVEOUT_CYCLIC, 1921) == 0);
    assert_true(simulate(FIFO, 480, 4, CARVEOUT_CYCLIC, 2400) == 0);
    const double hits = simulate(BY_CHANCE, 1, 1920, CARVEOUT_CYCLIC, 2400);
    assert_true(fabs(hits - exp(-(1 - hits) * 2400 / 1920)) < 0.01); /* law.c */
}

static void turns_take_every_line_once(void **state)
{
    (void)state;
    for (uint32_t lines = 4; lines <= 100; lines++) {
        uint32_t place = carveout_start(CARVEOUT_CYCLIC, 0);
        for (uint32_t k = 0; k < 3 * lines; k++) {
            assert_int_equal(carveout_line(CARVEOUT_CYCLIC, place, lines), k % lines);
            place = carveout_next(CARVEOUT_CYCLIC, place, lines);
        }
        for (uint32_t draw = 0; draw < 1000; draw++)
            assert_true(carveout_line(CARVEOUT_RANDOM, draw * 4294967u, lines) < lines);
        assert_int_equal(carveout_line(CARVEOUT_RANDOM, UINT32_MAX, lines), lines - 1);
    }
}

/* ---- the law ------------------------------------------------------------------------ */

static struct ub_law law_of(const char *slug, const struct ub_point *point)
{
    struct ub_constants constants = {0};
    struct ub_law law;
    ub_gpu_constants(card(slug), &constants);
    assert_true(ub_constant_set(&constants, "carveout_hit_ns", 20, 20, 20, "ns", "test"));
    assert_true(ub_constant_set(&constants, "carveout_miss_ns", 160, 160, 160, "ns", "test"));
    ub_micro_carveout.law(card(slug), &constants, point, &law);
    return law;
}

static void close_to(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-9 * wanted))
        fail_msg("%.12g, not %.12g", value, wanted);
}

/* 16448 draws: four warps, 4096 and 16 each. */
static void counters_and_times_by_hand(void **state)
{
    (void)state;
    const struct ub_point fits = point_of(0, KIB(217), 0, CARVEOUT_ASK_LAUNCH, CARVEOUT_RANDOM, CARVEOUT_CA);
    struct ub_law law = law_of("h200", &fits);
    assert_int_equal(counter(&law, "global_load_requests"), 1736 + 16448);
    assert_int_equal(counter(&law, "global_load_sectors"), 4 * (1736 + 16448));
    assert_int_equal(counter(&law, "global_load_bytes"), 128 * (1736 + 16448));
    assert_int_equal(counter(&law, "global_lines"), 1736 + 16448 + 4);
    assert_int_equal(counter(&law, "l1_load_hits"), 4 * 16448);
    assert_int_equal(counter(&law, "l2_read_sectors"), 4 * 1736); /* each line once */
    close_to(law.time_ns, 16 * 20);
    assert_string_equal(law.level, "l1");
    close_to(law.tolerance, 0.01);

    const struct ub_point half = point_of(28, KIB(370), 0, CARVEOUT_ASK_FUNCTION, CARVEOUT_RANDOM, CARVEOUT_CA);
    law = law_of("h200", &half); /* 185 of 370 KiB */
    assert_int_equal(counter(&law, "l1_load_hits"), 2 * 16448);
    assert_int_equal(counter(&law, "l2_read_sectors"), 4 * 2960 + 2 * 16448);
    close_to(law.time_ns, 16 * (20 + 160) / 2.0);
    assert_string_equal(law.bottleneck, "misses");
    assert_string_equal(law.level, "l2");
    close_to(counter_of(&law, "l1_load_hits")->tolerance, 0.01 + 4 / sqrt(16448));
    /* half of 16384 draws and of the 140 ns between hit and miss, of 90 */
    close_to(law.tolerance, 0.01 + 4 * sqrt(3 * 0.25 / 16384) * 140 / 90);

    const struct ub_point past = point_of(28, KIB(16), 0, CARVEOUT_ASK_LAUNCH, CARVEOUT_CYCLIC, CARVEOUT_CG);
    law = law_of("h200", &past); /* one warp */
    assert_int_equal(counter(&law, "global_lines"), 128 + 4112 + 1);
    assert_int_equal(counter(&law, "l1_load_hits"), 0);
    assert_int_equal(counter(&law, "l2_read_sectors"), 4 * (128 + 4112));
    close_to(law.time_ns, 16 * 160);
}

static void what_is_not_known_is_not_predicted(void **state)
{
    (void)state;
    const struct ub_point fits = point_of(0, KIB(217), 0, CARVEOUT_ASK_LAUNCH, CARVEOUT_CYCLIC, CARVEOUT_CA);
    struct ub_law law = law_of("h200", &fits);
    close_to(law.time_ns, 16 * 20);
    const struct ub_point beyond = point_of(0, KIB(217) + 128, 0, CARVEOUT_ASK_LAUNCH, CARVEOUT_CYCLIC, CARVEOUT_CA);
    law = law_of("h200", &beyond);
    assert_true(isnan(law.time_ns));
    assert_true(law.tolerance == 0);
    assert_non_null(strstr(law.note, "taken in turn"));
    assert_false(counter_of(&law, "l1_load_hits")->known);
    assert_false(counter_of(&law, "l2_read_sectors")->known);
    assert_int_equal(counter(&law, "global_load_requests"), 1737 + 4112);
}

static void what_cannot_run_is_refused(void **state)
{
    static const struct {
        const char *slug;
        uint64_t footprint, shared;
        int percent;
        enum carveout_ask ask;
        const char *reason; /* a part; NULL: runs */
    } rows[] = {
        {"h200", 1024, 0, 0, CARVEOUT_ASK_LAUNCH, NULL},
        {"h200", 1031, 0, 0, CARVEOUT_ASK_LAUNCH, "multiple of 128"},
        {"h200", 1 << 20, KIB(227), 100, CARVEOUT_ASK_FUNCTION, NULL},
        {"h200", 1 << 20, KIB(227) + 1, 0, CARVEOUT_ASK_LAUNCH, "so much shared memory"},
        {"t4", 4096, KIB(64), 0, CARVEOUT_ASK_LAUNCH, NULL},
        {"t4", 4096, KIB(65), 0, CARVEOUT_ASK_LAUNCH, "so much shared memory"},
        {"h200", 4096, 0, 50, CARVEOUT_ASK_NOTHING, "needs carveout=0"},
        {"h200", 4096, 0, 0, CARVEOUT_ASK_NOTHING, NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_point point =
            point_of(rows[i].percent, rows[i].footprint, rows[i].shared, rows[i].ask, CARVEOUT_RANDOM, CARVEOUT_CA);
        const char *reason = ub_micro_carveout.supported(card(rows[i].slug), &point);
        if ((reason == NULL) != (rows[i].reason == NULL) || (reason && !strstr(reason, rows[i].reason)))
            fail_msg("row %zu: %s", i, reason ? reason : "runs");
    }
    struct ub_gpu pascal = *card("h200");
    pascal.cc_major = 6;
    const struct ub_point plain = point_of(0, 4096, 0, CARVEOUT_ASK_LAUNCH, CARVEOUT_RANDOM, CARVEOUT_CA);
    assert_non_null(strstr(ub_micro_carveout.supported(&pascal, &plain), "before compute capability 7.0"));
    struct ub_gpu unknown = *card("h200");
    unknown.l1_bytes = 0;
    assert_non_null(strstr(ub_micro_carveout.supported(&unknown, &plain), "not known"));
}

/* ---- metrics -------------------------------------------------------------------------- */

/* From times and counters back to what L1 holds. */
static void the_capacity_comes_back(void **state)
{
    (void)state;
    for (int percent = 0; percent <= 100; percent++) {
        const struct ub_point point = point_of(percent, KIB(320), 0, CARVEOUT_ASK_LAUNCH, CARVEOUT_RANDOM, CARVEOUT_CA);
        const struct ub_law law = law_of("h200", &point);
        const char *keys[UB_MAX_COUNTERS];
        uint64_t values[UB_MAX_COUNTERS];
        for (size_t i = 0; i < law.counter_count; i++) {
            keys[i] = law.counters[i].key;
            values[i] = law.counters[i].predicted;
        }
        struct ub_constants constants = {0};
        assert_true(ub_constant_set(&constants, "carveout_hit_ns", 20, 20, 20, "ns", "test"));
        assert_true(ub_constant_set(&constants, "carveout_miss_ns", 160, 160, 160, "ns", "test"));
        assert_true(ub_constant_set(&constants, "clock_mhz", 2000, 2000, 2000, "MHz", "test"));
        const struct ub_facts facts = {.gpu = card("h200"),
                                       .constants = &constants,
                                       .point = &point,
                                       .time_ns = law.time_ns,
                                       .counter_count = law.counter_count,
                                       .counter_keys = keys,
                                       .counter_values = values};
        struct ub_metrics metrics;
        ub_micro_carveout.metrics(&facts, &metrics);
        const double held = (double)divide("h200", percent, 0, CARVEOUT_ASK_LAUNCH).l1_bytes;
        close_to(metric(&metrics, "held_bytes"), held);
        close_to(metric(&metrics, "hit_rate_by_time"), held / (double)KIB(320));
        assert_true(fabs(metric(&metrics, "hit_rate") - held / (double)KIB(320)) < 1e-4);
        close_to(metric(&metrics, "cycles_per_load"), metric(&metrics, "load_ns") * 2);
    }
}

/* Loads past L1 have the time of a miss by definition: a share of 0 would be rounding
 * alone. Where the parts of a lap differ, a slope is no mean. */
static void no_share_of_hits_where_time_has_none(void **state)
{
    static const struct {
        uint64_t footprint;
        enum carveout_order order;
        enum carveout_load load;
        bool known;
    } rows[] = {{KIB(320), CARVEOUT_RANDOM, CARVEOUT_CA, true},
                {KIB(320), CARVEOUT_RANDOM, CARVEOUT_CG, false},
                {KIB(217), CARVEOUT_CYCLIC, CARVEOUT_CA, true},
                {KIB(218), CARVEOUT_CYCLIC, CARVEOUT_CA, false}};
    (void)state;
    struct ub_constants constants = {0};
    assert_true(ub_constant_set(&constants, "carveout_hit_ns", 20, 20, 20, "ns", "test"));
    assert_true(ub_constant_set(&constants, "carveout_miss_ns", 160, 160, 160, "ns", "test"));
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_point point =
            point_of(0, rows[i].footprint, 0, CARVEOUT_ASK_LAUNCH, rows[i].order, rows[i].load);
        const struct ub_facts facts = {
            .gpu = card("h200"), .constants = &constants, .point = &point, .time_ns = 16 * 90.0};
        struct ub_metrics metrics;
        ub_micro_carveout.metrics(&facts, &metrics);
        assert_int_equal(isfinite(metric(&metrics, "held_bytes")), rows[i].known);
        assert_int_equal(isfinite(metric(&metrics, "hit_rate_by_time")), rows[i].known);
        close_to(metric(&metrics, "load_ns"), 90);
    }
}

static void every_card_of_the_table_has_a_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < ub_gpu_count(); i++) {
        const struct ub_gpu *gpu = ub_gpu_at(i);
        struct ub_constants constants = {0};
        struct ub_law law;
        ub_gpu_constants(gpu, &constants);
        const struct ub_point point = point_of(50, KIB(320), 0, CARVEOUT_ASK_LAUNCH, CARVEOUT_RANDOM, CARVEOUT_CA);
        ub_micro_carveout.law(gpu, &constants, &point, &law);
        assert_true(law.time_ns > 0 && law.tolerance > 0);
        assert_int_equal(law.note == NULL, gpu->verified);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_preference_is_rounded_up),
        cmocka_unit_test(shared_memory_moves_the_preference),
        cmocka_unit_test(without_a_preference_all_blocks_fit),
        cmocka_unit_test(random_draws_hit_as_often_in_any_cache),
        cmocka_unit_test(taking_turns_does_not),
        cmocka_unit_test(turns_take_every_line_once),
        cmocka_unit_test(counters_and_times_by_hand),
        cmocka_unit_test(what_is_not_known_is_not_predicted),
        cmocka_unit_test(what_cannot_run_is_refused),
        cmocka_unit_test(the_capacity_comes_back),
        cmocka_unit_test(no_share_of_hits_where_time_has_none),
        cmocka_unit_test(every_card_of_the_table_has_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
