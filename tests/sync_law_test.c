/* SPDX-License-Identifier: MIT
 *
 * The law of `sync` against numbers worked out by hand, against what was published of other
 * cards, and what cannot run. */
#include <stdio.h>

#include "micro/sync/access.h"
#include "micro/sync/rule.h"
#include "tests/rule_fixture.h"

extern const struct ub_micro ub_micro_sync;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct ub_law law_on(const struct ub_gpu *gpu, const char *axes)
{
    struct ub_constants constants;
    struct ub_law law;
    const struct ub_point point = parse_point(&ub_micro_sync, axes);
    ub_gpu_constants(gpu, &constants);
    ub_micro_sync.law(gpu, &constants, &point, &law);
    return law;
}

static struct ub_law law_of(const char *axes)
{
    return law_on(h200(), axes);
}

static double predicted(const struct ub_gpu *gpu, const char *axes, const char *key)
{
    struct ub_constants constants;
    const struct ub_point point = parse_point(&ub_micro_sync, axes);
    ub_gpu_constants(gpu, &constants);
    const struct ub_law law = law_on(gpu, axes);
    const struct ub_facts facts = {
        .gpu = gpu, .constants = &constants, .point = &point, .time_ns = law.time_ns, .predicted = true};
    struct ub_metrics metrics = {0};
    ub_micro_sync.metrics(&facts, &metrics);
    return metric(&metrics, key);
}

static void close_to(const char *what, double got, double wanted, double share)
{
    if (!(fabs(got - wanted) <= share * wanted))
        fail_msg("%s: %g, not %g", what, got, wanted);
}

static const char *refusal_of(const struct ub_gpu *gpu, const char *axes)
{
    struct sync_geometry g;
    const struct ub_point point = parse_point(&ub_micro_sync, axes);
    return sync_resolve(gpu, &point, &g);
}

/* ---- cycles ----------------------------------------------------------------------- */

static void barriers_of_a_block_take_two_cycles_a_warp(void **state)
{
    (void)state;
    static const struct {
        const char *axes;
        double h200, a100; /* cycles; A100: published */
    } rows[] = {
        {"block=32", 14, 23},  {"block=64", 16, 25},  {"block=128", 20, 29},
        {"block=256", 28, 37}, {"block=512", 44, 53}, {"block=1024", 76, 85},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        close_to(rows[i].axes, predicted(h200(), rows[i].axes, "cycles"), rows[i].h200, 1e-9);
        close_to(rows[i].axes, predicted(card("a100"), rows[i].axes, "cycles"), rows[i].a100, 1e-9);
    }
}

/* 12 + 2 w for one block, 2 w r for all. */
static void the_blocks_of_an_sm_share_its_unit(void **state)
{
    (void)state;
    for (uint32_t warps = 1; warps <= 32; warps *= 2)
        for (uint32_t resident = 1; resident * warps <= 64 && resident <= 32; resident *= 2) {
            char axes[64];
            snprintf(axes, sizeof axes, "block=%u resident=%u", 32 * warps, resident);
            const double alone = 12 + 2 * warps, all = 2 * warps * resident;
            close_to(axes, predicted(h200(), axes, "cycles"), alone > all ? alone : all, 1e-9);
            const struct ub_law law = law_of(axes);
            if (alone != all)
                assert_string_equal(law.bottleneck, alone > all ? "latency" : "arrivals");
        }
}

static void named_barriers_cost_three_instructions_more(void **state)
{
    (void)state;
    close_to("one group", predicted(h200(), "op=named block=256", "cycles"), 12 + 16 + 12, 1e-9);
    close_to("small groups", predicted(h200(), "op=named block=256 groups=2", "cycles"), 12 + 8 + 12, 1e-9);
    close_to("fit", predicted(h200(), "op=named block=1024 groups=16", "cycles"), 64 + 2 + 27.2, 1e-9);
}

static void warps_that_meet_nobody(void **state)
{
    (void)state;
    static const struct {
        const char *axes;
        double cycles;
    } rows[] = {
        {"op=warp block=32", 1},     {"op=warp block=128", 1},     {"op=warp block=1024", 8},
        {"op=shuffle block=32", 26}, {"op=shuffle block=512", 26}, {"op=shuffle block=1024", 32},
        {"op=vote block=32", 17},    {"op=vote block=1024", 32},   {"op=fence_block", 14.9},
        {"op=fence_system", 1030},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        close_to(rows[i].axes, predicted(h200(), rows[i].axes, "cycles"), rows[i].cycles, 1e-9);
    assert_true(law_of("op=warp block=512").tolerance > 0);
    assert_true(law_of("op=warp block=1024").tolerance == 0); /* nobody knows how their code is fetched */
    assert_non_null(law_of("op=warp block=1024").note);
}

/* 141.5 ns near, 89 more to the far half, 1980 MHz. */
static void clusters_grids_and_fences_make_trips_to_l2(void **state)
{
    (void)state;
    const double clock = 1.98, near = 141.5, far = near + 89;
    close_to("relaxed 2", predicted(h200(), "op=cluster_relaxed block=32 cluster=2", "cycles"), 14 + 60, 1e-9);
    close_to("relaxed 8", predicted(h200(), "op=cluster_relaxed block=256 cluster=8", "cycles"), 28 + 68, 1e-9);
    close_to("relaxed 16", predicted(h200(), "op=cluster_relaxed block=256 cluster=16", "cycles"), 28 + 68, 1e-9);
    close_to("cluster", predicted(h200(), "op=cluster block=32 cluster=2", "cycles"), 74 + near * clock, 1e-9);
    close_to("cluster of 32 warps", predicted(h200(), "op=cluster block=1024 cluster=2", "cycles"),
             76 + 60 + 8.5 * 32 - 60 + near * clock, 1e-9);
    close_to("fence", predicted(h200(), "op=fence_device", "each_ns"), near + 89 / 2.0, 1e-9);
    close_to("grid of 1", predicted(h200(), "op=grid blocks=1", "each_ns"), 3 * far + 56 / clock, 1e-9);
    close_to("grid of 132", predicted(h200(), "op=grid", "each_ns"), 4 * far + 56 / clock, 1e-9);
    close_to("grid of 1056", predicted(h200(), "op=grid blocks=1056", "each_ns"), 2.1 * 1056, 1e-9);
}

/* Zhang et al. (SC23): 1122 ns of an A100, 643 of an RTX 3090, which the law knows nothing of but
 * the latency of L2. */
static void published_grids_are_near(void **state)
{
    (void)state;
    close_to("A100", predicted(card("a100"), "op=grid", "each_ns"), 1122, 0.10);
    close_to("RTX 3090", predicted(card("rtx3090"), "op=grid", "each_ns"), 643, 0.10);
}

/* ---- the host ------------------------------------------------------------------------ */

/* 9800 ns for one, 860000 for 256; a graph 6100 and 503 a node. */
static void launches_cost_what_two_points_say(void **state)
{
    (void)state;
    const double each = (860000 - 9800) / 255.0;
    static const uint32_t launches[] = {1, 2, 16, 256};
    for (size_t i = 0; i < COUNT(launches); i++) {
        char axes[64];
        snprintf(axes, sizeof axes, "op=launch launches=%u", launches[i]);
        close_to(axes, predicted(h200(), axes, "total_ns"), 9800 + (launches[i] - 1) * each, 1e-9);
        snprintf(axes, sizeof axes, "op=graph launches=%u", launches[i]);
        close_to(axes, predicted(h200(), axes, "total_ns"), 6100 + (launches[i] - 1) * 503.0, 1e-9);
        close_to(axes, predicted(h200(), axes, "each_ns"), (6100 + (launches[i] - 1) * 503.0) / launches[i], 1e-9);
    }
    close_to("stream", predicted(h200(), "op=stream", "total_ns"), 9800, 1e-9);
    assert_true(law_of("op=event_block").tolerance == 0);
    /* Of another host nothing is known. */
    assert_true(isnan(law_on(card("a100"), "op=stream").time_ns));
}

/* ---- counters ------------------------------------------------------------------------- */

static void counters_follow_from_the_launch(void **state)
{
    (void)state;
    static const struct {
        const char *axes;
        uint64_t blocks, warps, atomics, adu;
    } rows[] = {
        {"block=32", 132, 132, 0, 132 * 200},
        {"block=1024", 132, 4224, 0, 132 * (32 * 199 + 1)},
        {"block=64 resident=32", 4224, 8448, 0, 4224 * (2 * 199 + 1)},
        {"op=named block=1024 groups=16", 132, 4224, 0, 132 * (32 * 202 + 16)},
        {"op=warp", 132, 132, 0, 132 * 8},
        {"op=cluster cluster=16", 16, 128, 0, 16 * (8 * 56 + 1)},
        {"op=grid blocks=264", 264, 2112, 3168, 264 * 277},
        {"op=fence_device", 2, 4, 0, 34},
        {"op=graph launches=100", 100, 100, 0, 100},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_law law = law_of(rows[i].axes);
        assert_int_equal(counter(&law, "blocks_launched"), rows[i].blocks);
        assert_int_equal(counter(&law, "warps_launched"), rows[i].warps);
        assert_int_equal(counter(&law, "global_atomics"), rows[i].atomics);
        assert_int_equal(counter(&law, "adu_instructions"), rows[i].adu);
    }
}

static void instructions_are_those_of_the_machine_code(void **state)
{
    (void)state;
    const struct ub_law one = law_of("block=32"), two = law_of("block=256 resident=2");
    assert_int_equal(counter(&one, "warp_instructions"), 132 * 246);
    assert_int_equal(counter(&two, "warp_instructions"), 264 * (8 * 236 + 25));
    const struct ub_law named = law_of("op=named block=1024 groups=4");
    assert_int_equal(counter(&named, "warp_instructions"), 132 * (32 * 839 + 4 * 25));
    const struct ub_law launches = law_of("op=launch launches=7");
    assert_int_equal(counter(&launches, "warp_instructions"), 49);
    const struct ub_law grid = law_of("op=grid"), graph = law_of("op=graph");
    assert_false(counter_of(&grid, "warp_instructions")->known);
    assert_false(counter_of(&graph, "warp_instructions")->known);
    assert_true(one.has_code);
}

/* What 193 barriers of 8 warps of 132 blocks wait: 28 cycles each, less 5 and 1.9. */
static void warps_wait_at_barriers(void **state)
{
    (void)state;
    const struct ub_law law = law_of("block=256");
    close_to("stall", (double)counter(&law, "stall_barrier"), 193 * 8 * 132 * (28 - 5 - 1.9), 1e-6);
    assert_int_equal(counter(&law, "stall_membar"), 0);
    const struct ub_law cluster = law_of("op=cluster");
    assert_false(counter_of(&cluster, "stall_membar")->known);
}

/* ---- what cannot run ------------------------------------------------------------------- */

static void what_cannot_go_together_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *axes, *says;
    } rows[] = {
        {"block=33", "whole warps"},
        {"block=1024 resident=3", "does not hold so many"},
        {"op=named block=96 groups=2", "same number of whole warps"},
        {"op=named block=32 groups=2", "same number of whole warps"},
        {"op=cluster cluster=3", "1, 2, 4, 8 or 16"},
        {"op=grid resident=2", "op=block only"},
        {"op=grid groups=2", "op=named only"},
        {"op=grid cluster=2", "op=cluster"},
        {"blocks=7", "op=grid only"},
        {"op=stream launches=2", "op=launch and op=graph"},
        {"op=graph block=64", "leave block at auto"},
        {"op=fence_block block=64", "leave block at auto"},
        {"op=shuffle barrier=left_out", "nothing is sure to go wrong"},
        {"block=32 barrier=left_out", "waits for nobody"},
        {"op=grid blocks=1 barrier=left_out", "waits for nobody"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *why = refusal_of(h200(), rows[i].axes);
        if (why == NULL || strstr(why, rows[i].says) == NULL)
            fail_msg("%s: '%s' does not say '%s'", rows[i].axes, why != NULL ? why : "(runs)", rows[i].says);
    }
    assert_null(refusal_of(h200(), "op=stream barrier=left_out"));
    assert_non_null(strstr(refusal_of(card("a100"), "op=cluster"), "9.0"));
    assert_non_null(strstr(refusal_of(card("t4"), "block=1024 resident=2"), "does not hold so many"));
    assert_null(refusal_of(card("t4"), "block=1024"));
}

/* 2048 threads of an SM of an H200, 1024 of a T4, 32 (16) blocks. */
static void grids_must_be_resident_as_a_whole(void **state)
{
    (void)state;
    static const struct {
        const char *card, *axes;
        bool refused;
    } rows[] = {
        {"h200", "op=grid block=256 blocks=1056", false},
        {"h200", "op=grid block=256 blocks=1057", true},
        {"h200", "op=grid block=1024 blocks=264", false},
        {"h200", "op=grid block=1024 blocks=265", true},
        {"h200", "op=grid block=32 blocks=4224", false},
        {"h200", "op=grid block=32 blocks=4225", true},
        {"t4", "op=grid block=256 blocks=160", false},
        {"t4", "op=grid block=256 blocks=161", true},
        {"rtx4090", "op=grid block=512 blocks=384", false},
        {"rtx4090", "op=grid block=512 blocks=385", true},
        {"h200", "block=1024", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_point point = parse_point(&ub_micro_sync, rows[i].axes);
        const char *error = ub_micro_sync.refusal(card(rows[i].card), &point);
        if (!rows[i].refused)
            assert_null(error);
        else
            assert_string_equal(error, "cudaErrorCooperativeLaunchTooLarge");
    }
}

static void mistakes_are_told(void **state)
{
    (void)state;
    const struct ub_point right = parse_point(&ub_micro_sync, "block=256");
    const struct ub_point wrong = parse_point(&ub_micro_sync, "block=256 barrier=left_out");
    const struct ub_point host = parse_point(&ub_micro_sync, "op=stream barrier=left_out");
    assert_null(ub_micro_sync.mistake(h200(), &right));
    assert_string_equal(ub_micro_sync.mistake(h200(), &wrong), "there is no barrier between writing and reading");
    assert_string_equal(ub_micro_sync.mistake(h200(), &host), "the host does not wait");
}

/* The sum of all that a thread reads, of every shape, against a count over all times. */
static void numbers_grow_and_never_meet(void **state)
{
    (void)state;
    for (uint32_t parties = 1; parties <= 40; parties++) {
        uint32_t last = 0;
        for (uint32_t time = 0; time < SYNC_LOOPS * SYNC_ROUNDS; time++)
            for (uint32_t party = 0; party < parties; party++) {
                assert_int_equal(sync_number(party, parties, time), ++last);
                assert_true(sync_slot(party, parties, time) < 2 * parties);
                assert_int_not_equal(sync_slot(party, parties, time), sync_slot(party, parties, time + 1));
            }
        for (uint32_t lane = 0; lane < 32; lane++)
            assert_true(sync_peer(parties - 1, parties, lane) == lane % parties);
    }
}

static void other_generations_have_the_same_law(void **state)
{
    (void)state;
    for (size_t i = 0; i < ub_gpu_count(); i++) {
        const struct ub_gpu *gpu = ub_gpu_at(i);
        const struct ub_law one = law_on(gpu, "block=32"), most = law_on(gpu, "block=1024");
        if (!isfinite(one.time_ns))
            continue;
        const double cycle_ns = 1e3 / constant(gpu, "clock_mhz");
        close_to(gpu->slug, (most.time_ns - one.time_ns) / SYNC_STEPS_BLOCK / cycle_ns, 62, 1e-6);
        assert_true(gpu->verified || (one.note != NULL && strstr(one.note, "assumed") != NULL));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(barriers_of_a_block_take_two_cycles_a_warp),
        cmocka_unit_test(the_blocks_of_an_sm_share_its_unit),
        cmocka_unit_test(named_barriers_cost_three_instructions_more),
        cmocka_unit_test(warps_that_meet_nobody),
        cmocka_unit_test(clusters_grids_and_fences_make_trips_to_l2),
        cmocka_unit_test(published_grids_are_near),
        cmocka_unit_test(launches_cost_what_two_points_say),
        cmocka_unit_test(counters_follow_from_the_launch),
        cmocka_unit_test(instructions_are_those_of_the_machine_code),
        cmocka_unit_test(warps_wait_at_barriers),
        cmocka_unit_test(what_cannot_go_together_is_refused),
        cmocka_unit_test(grids_must_be_resident_as_a_whole),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(numbers_grow_and_never_meet),
        cmocka_unit_test(other_generations_have_the_same_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
