/* SPDX-License-Identifier: MIT
 *
 * The rule `latency_hiding` against closed forms, at every point of its sweeps and for
 * every card of the table: what is launched, what is counted, how long it takes and where
 * the knee is; that its walk loads every element once; that its text says what the model
 * says of each generation. */
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
#include "micro/latency_hiding/access.h"
#include "micro/latency_hiding/rule.h"
#include "tests/rule_fixture.h"

extern const struct ub_micro ub_micro_latency_hiding;

/* ((1 / 0.9)^2.6 - 1)^(-1 / 2.6): how far beyond in flight = ceiling x wait 90 % is */
static const double beyond = 1.559147809;

static struct ub_point point_of(const char *axes)
{
    return parse_point(&ub_micro_latency_hiding, axes);
}

static const char *refusal_of(const struct ub_gpu *gpu, const char *axes)
{
    const struct ub_point point = point_of(axes);
    return ub_micro_latency_hiding.supported(gpu, &point);
}

static struct hiding_geometry geometry_of(const struct ub_gpu *gpu, const char *axes)
{
    const struct ub_point point = point_of(axes);
    struct hiding_geometry g;
    const char *reason = hiding_resolve(gpu, &point, &g);
    if (reason)
        fail_msg("%s: %s", axes, reason);
    return g;
}

static struct ub_law law_of(const struct ub_gpu *gpu, const struct ub_constants *constants, const char *axes)
{
    const struct ub_point point = point_of(axes);
    struct ub_law law;
    hiding_law(gpu, constants, &point, &law);
    return law;
}

/* Round numbers, as if measured: a launch costs nothing, loads wait 400 ns whatever they
 * are, the ceiling is 4 TB/s; a multiply-add takes 2 ns, the ceiling is 64 TFLOP/s. */
static struct ub_constants round_constants(void)
{
    struct ub_constants constants = {0};
    ub_constant_set(&constants, "clock_mhz", 2000, 2000, 2000, "MHz", "test");
    ub_constant_set(&constants, "launch_floor_ns", 0, 0, 0, "ns", "test");
    ub_constant_set(&constants, "steady_load_ceiling", 4e12, 4e12, 4e12, "B/s", "test");
    ub_constant_set(&constants, "steady_flops_ceiling", 64e12, 64e12, 64e12, "FLOP/s", "test");
    ub_constant_set(&constants, "fma_wait_ns", 2, 2, 2, "ns", "test");
    for (int width = 0; width < HIDING_WIDTHS; width++)
        for (int ilp = 0; ilp < HIDING_ILPS; ilp++)
            ub_constant_set(&constants, hiding_wait_names[width][ilp], 400, 400, 400, "ns", "test");
    return constants;
}

/* ---- what is launched --------------------------------------------------------------- */

static bool is_prime(int n)
{
    for (int i = 2; i * i <= n; i++)
        if (n % i == 0)
            return false;
    return n > 1;
}

static void an_sm_holds_just_so_many_warps(void **state)
{
    (void)state;
    for (int warps = 1; warps <= 64; warps++) {
        char axes[48];
        snprintf(axes, sizeof axes, "warps=%d", warps);
        const char *refused = refusal_of(card("h200"), axes);
        assert_int_equal(refused != NULL, warps > 32 && is_prime(warps));
        if (refused) {
            assert_non_null(strstr(refused, "a prime number"));
            continue;
        }
        const struct hiding_geometry g = geometry_of(card("h200"), axes);
        assert_int_equal(g.block_warps * g.resident, warps);
        assert_int_equal(g.block, 32 * g.block_warps);
        assert_true(g.block <= 1024 && (warps > 32 || g.resident == 1));
        assert_int_equal(g.blocks, 132 * g.resident);
        assert_int_equal(g.all_warps, 132 * warps);
        /* 228 KiB, 1 KiB of each block the driver's, pieces of 128 bytes: one more block
         * does not fit, with 128 bytes less it would */
        const uint32_t of_block = g.shared_bytes + 1024;
        assert_int_equal(of_block % 128, 0);
        assert_true(of_block * g.resident <= 233472 && of_block * (g.resident + 1) > 233472);
        assert_true((of_block - 128) * (g.resident + 1) <= 233472);
    }
}

static void contradictions_are_said(void **state)
{
    static const struct {
        const char *slug, *axes, *reason;
    } rows[] = {
        {"h200", "work=arithmetic bytes=8", "needs bytes=4"},
        {"t4", "warps=33", "holds fewer warps"},
        {"rtx4090", "warps=49", "holds fewer warps"},
        {"h200", "warps=61", "a prime number"},
        {"h200", "ilp=8 bytes=16 warps=64", "too few registers"},
        {"h200", "ilp=8 bytes=16 warps=42", "too few registers"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *reason = refusal_of(card(rows[i].slug), rows[i].axes);
        if (!reason || !strstr(reason, rows[i].reason))
            fail_msg("%s: %s", rows[i].axes, reason ? reason : "taken");
        struct ub_constants constants;
        ub_gpu_constants(card(rows[i].slug), &constants);
        const struct ub_law law = law_of(card(rows[i].slug), &constants, rows[i].axes);
        assert_true(isnan(law.time_ns) && law.counter_count == 0 && law.note == reason);
        struct ub_footprint footprint;
        const struct ub_point point = point_of(rows[i].axes);
        ub_micro_latency_hiding.footprint(card(rows[i].slug), &point, &footprint);
        assert_int_equal(footprint.count, 0);
    }
    assert_null(refusal_of(card("h200"), "ilp=8 bytes=16 warps=40"));
    assert_null(refusal_of(card("h200"), "ilp=4 bytes=16 warps=64"));
    assert_null(refusal_of(card("t4"), "warps=32"));
}

/* A card of one's own (model:FILE) that lacks something else than registers. */
static void what_an_own_card_lacks_is_named(void **state)
{
    (void)state;
    struct ub_gpu few_threads = *card("h200"), one_block = *card("h200"), two_blocks = *card("h200"),
                  little_shared = *card("h200");
    few_threads.threads_per_block = 512;
    one_block.blocks_per_sm = 1;
    two_blocks.blocks_per_sm = 2;
    little_shared.shared_per_block_optin_bytes = 48 << 10;
    const struct {
        const struct ub_gpu *gpu;
        const char *axes, *reason; /* NULL: taken */
    } rows[] = {
        {&few_threads, "warps=17", "fewer threads"},
        {&few_threads, "warps=64", "fewer threads"},
        {&few_threads, "warps=16", NULL},
        {&one_block, "warps=34", "too few blocks"},
        {&one_block, "warps=64", "too few blocks"},
        {&one_block, "warps=37", "a prime number"},
        {&one_block, "warps=32", NULL},
        {&two_blocks, "warps=35", "too few blocks"}, /* five of seven warps */
        {&two_blocks, "warps=34", NULL},
        {&little_shared, "warps=16", "shared memory"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *reason = refusal_of(rows[i].gpu, rows[i].axes);
        if ((reason == NULL) != (rows[i].reason == NULL) || (reason && !strstr(reason, rows[i].reason)))
            fail_msg("row %zu, %s: %s", i, rows[i].axes, reason ? reason : "taken");
    }
}

/* No card of the table has an L2 that holds half of the usual loads; one of one's own may. */
static void loads_that_the_cache_holds_are_not_tested(void **state)
{
    (void)state;
    struct ub_gpu huge = *card("h200");
    huge.l2_bytes = UINT64_C(1) << 40;
    struct ub_constants constants;
    ub_gpu_constants(&huge, &constants);
    struct ub_law law = law_of(&huge, &constants, "");
    assert_true(isfinite(law.time_ns) && law.tolerance == 0 && strstr(law.note, "two L2 caches"));
    assert_string_equal(law.level, "l2");
    assert_false(counter_of(&law, "dram_read_bytes")->known);
    assert_non_null(counter_of(&law, "dram_read_bytes")->reason);
    law = law_of(&huge, &constants, "work=arithmetic");
    assert_true(law.tolerance > 0 && law.note == NULL);
    assert_string_equal(law.level, "none");
    law = law_of(card("h200"), &constants, "");
    assert_true(law.tolerance > 0 && law.note == NULL);
    assert_string_equal(law.level, "dram");
}

/* A card of little memory is not asked for more than it has. */
static void a_small_card_is_not_overrun(void **state)
{
    (void)state;
    struct ub_gpu small = *card("h200");
    small.memory_bytes = UINT64_C(1) << 30;
    struct hiding_geometry g;
    const struct ub_point many = point_of("warps=64 bytes=16 ilp=4"),
                          all = point_of("warps=64 bytes=16 ilp=4 length=70");
    assert_null(hiding_resolve(&small, &many, &g));
    assert_int_equal(g.steps, 31); /* of 17301504 bytes, in half a GiB */
    const char *reason = ub_micro_latency_hiding.supported(&small, &all);
    assert_non_null(reason);
    assert_non_null(strstr(reason, "memory"));
}

/* ---- counters --------------------------------------------------------------------------- */

/* 256 steps of each warp, more where 256 MiB are not reached. */
static void loads_are_counted(void **state)
{
    static const struct {
        const char *axes;
        uint64_t steps, warps, ilp, bytes;
    } rows[] = {
        {"warps=64 ilp=8 bytes=4", 256, 64, 8, 4},   {"warps=40 ilp=8 bytes=16", 256, 40, 8, 16},
        {"warps=32 ilp=4 bytes=8", 256, 32, 4, 8},   {"warps=1 ilp=1 bytes=4", 15888, 1, 1, 4},
        {"warps=1 ilp=8 bytes=16", 497, 1, 8, 16},   {"warps=3 ilp=2 bytes=8", 1324, 3, 2, 8},
        {"warps=40 ilp=1 bytes=16", 256, 40, 1, 16}, {"warps=16 length=7", 7, 16, 1, 4},
    };
    (void)state;
    const struct ub_constants constants = round_constants();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct ub_law law = law_of(card("h200"), &constants, rows[i].axes);
        const uint64_t requests = rows[i].steps * 132 * rows[i].warps * rows[i].ilp;
        assert_int_equal(counter(&law, "global_load_requests"), requests);
        assert_int_equal(counter(&law, "global_load_sectors"), requests * rows[i].bytes); /* 32 lanes x bytes / 32 */
        const bool usual = !strstr(rows[i].axes, "length"); /* seven steps are 1.9 MB, which L2 holds */
        assert_int_equal(counter_of(&law, "dram_read_bytes")->known, usual);
        assert_true(!usual || counter(&law, "dram_read_bytes") == requests * rows[i].bytes * 32);
        assert_int_equal(counter(&law, "ffma") + counter(&law, "global_atomics"), 0);
        assert_int_equal(counter(&law, "local_loads") + counter(&law, "local_stores"), 0);
        assert_true(!usual || requests * rows[i].bytes * 32 >= 256 << 20);
        assert_false(counter_of(&law, "issue_active")->known);
    }
}

static void multiply_adds_are_counted(void **state)
{
    (void)state;
    const struct ub_constants constants = round_constants();
    for (int warps = 1; warps <= 64; warps++) {
        char axes[64];
        snprintf(axes, sizeof axes, "work=arithmetic ilp=%d warps=%d", 1 << warps % 4, warps);
        if (refusal_of(card("h200"), axes))
            continue;
        const struct ub_law law = law_of(card("h200"), &constants, axes);
        const uint32_t blocks = geometry_of(card("h200"), axes).resident;
        const uint64_t tickets = UINT64_C(132) * 1024;
        assert_int_equal(counter(&law, "ffma"), tickets * 4096 * 32);
        assert_int_equal(counter(&law, "issue_active"), tickets * 4096);
        assert_int_equal(counter(&law, "global_atomics"), tickets + 132 * (unsigned)warps);
        assert_int_equal(counter(&law, "blocks_launched"), 132 * blocks);
        assert_int_equal(counter(&law, "global_load_requests") + counter(&law, "global_load_sectors"), 0);
        assert_false(counter_of(&law, "dram_read_bytes")->known);
    }
}

/* Also the last 4-byte word is only just inside a region that may pass 2^32 bytes. */
static void every_element_is_loaded_once(void **state)
{
    static const struct {
        uint32_t ilp, steps, blocks, block_warps;
    } cases[] = {{1, 1, 1, 1}, {1, 7, 3, 5}, {2, 4, 2, 32}, {4, 3, 6, 1}, {8, 2, 4, 17}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint32_t ilp = cases[i].ilp, steps = cases[i].steps, warps = cases[i].block_warps;
        const uint64_t elements = (uint64_t)cases[i].blocks * warps * steps * ilp * 32;
        unsigned char *seen = calloc(elements, 1);
        assert_non_null(seen);
        for (uint32_t block = 0; block < cases[i].blocks; block++)
            for (uint32_t warp = 0; warp < warps; warp++)
                for (uint32_t lane = 0; lane < 32; lane++) {
                    uint64_t element = hiding_first(ilp, steps, block, warps, warp, lane);
                    assert_int_equal((element - lane) % 32, 0); /* whole lines */
                    for (uint32_t step = 0; step < steps; step++, element += hiding_step(ilp, warps))
                        for (uint32_t c = 0; c < ilp; c++) {
                            assert_true(element + c * 32 < elements);
                            assert_int_equal(seen[element + c * 32]++, 0);
                        }
                }
        for (uint64_t e = 0; e < elements; e++)
            assert_int_equal(seen[e], 1);
        free(seen);
    }
    const struct hiding_geometry g = geometry_of(card("h200"), "warps=40 ilp=8 bytes=16");
    const uint64_t last = hiding_first(8, g.steps, g.blocks - 1, g.block_warps, g.block_warps - 1, 31) +
                          (uint64_t)(g.steps - 1) * hiding_step(8, g.block_warps) + 7 * 32;
    assert_true((last + 1) * 16 == hiding_bytes(&g) && hiding_bytes(&g) > UINT32_MAX);
}

/* ---- time ---------------------------------------------------------------------------------- */

static double bandwidth(const struct ub_gpu *gpu, const struct ub_constants *constants, const char *axes)
{
    const struct hiding_geometry g = geometry_of(gpu, axes);
    const double time_ns = law_of(gpu, constants, axes).time_ns - ub_constant_value(constants, "launch_floor_ns");
    return (double)hiding_bytes(&g) / time_ns * 1e9;
}

/* With 4 TB/s and 400 ns, 132 SMs are at the corner with 12121 bytes in flight each. */
static void loads_wait_or_fill_dram(void **state)
{
    static const struct {
        const char *axes;
        double in_flight;
        const char *bottleneck;
    } rows[] = {
        {"warps=1", 128, "wait"},
        {"warps=64", 8192, "wait"},
        {"warps=64 ilp=2", 16384, "dram"},
        {"warps=12 bytes=16 ilp=2", 12288, "dram"},
        {"warps=11 bytes=16 ilp=2", 11264, "wait"},
        {"warps=16 bytes=8 ilp=8", 32768, "dram"},
        {"warps=40 bytes=16 ilp=8", 163840, "dram"},
    };
    (void)state;
    const struct ub_constants constants = round_constants();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const double waiting = rows[i].in_flight * 132 / 400e-9, is = bandwidth(card("h200"), &constants, rows[i].axes);
        const double expected = pow(pow(waiting / 4e12, -2.6) + 1, -1 / 2.6) * 4e12;
        if (fabs(is / expected - 1) > 1e-9)
            fail_msg("%s: %g B/s, expected %g", rows[i].axes, is, expected);
        assert_true(is < waiting && is < 4e12);
        const struct ub_law law = law_of(card("h200"), &constants, rows[i].axes);
        assert_string_equal(law.bottleneck, rows[i].bottleneck);
        assert_string_equal(law.level, "dram");
        assert_true(law.tolerance == 0.10);
    }
    /* far from the corner each limit alone; at it 2^(-1/2.6) of both */
    assert_true(fabs(bandwidth(card("h200"), &constants, "warps=1") / (128 * 132 / 400e-9) - 1) < 1e-4);
    assert_true(fabs(bandwidth(card("h200"), &constants, "warps=40 bytes=16 ilp=8") / 4e12 - 1) < 1e-3);
    struct ub_constants corner = constants;
    ub_constant_set(&corner, "steady_load_ceiling", 16384 * 132 / 400e-9, 0, 0, "B/s", "test");
    assert_true(fabs(bandwidth(card("h200"), &corner, "warps=64 ilp=2") / (16384 * 132 / 400e-9) - 0.7659832) < 1e-6);
}

/* What is in flight decides, not how it is cut; unless the wait is another one. */
static void warps_loads_and_bytes_count_alike(void **state)
{
    static const char *const alike[] = {"warps=32 ilp=1 bytes=4", "warps=16 ilp=2 bytes=4", "warps=4 ilp=8 bytes=4",
                                        "warps=16 ilp=1 bytes=8", "warps=1 ilp=8 bytes=16", "warps=8 ilp=1 bytes=16"};
    (void)state;
    struct ub_constants constants = round_constants();
    const double first = bandwidth(card("h200"), &constants, alike[0]);
    for (size_t i = 1; i < sizeof alike / sizeof alike[0]; i++)
        assert_true(fabs(bandwidth(card("h200"), &constants, alike[i]) / first - 1) < 1e-9);
    ub_constant_set(&constants, "load_wait_8x16_ns", 500, 500, 500, "ns", "test");
    assert_true(bandwidth(card("h200"), &constants, "warps=1 ilp=8 bytes=16") < 0.85 * first);
}

/* Warps and chains of a scheduler count alike, until it is full: 2 ns a multiply-add, 32
 * of them, are 16 lane operations a ns; the ceiling, 32e12 a second, is 242.4 a ns and SM. */
static void warps_times_ilp_fill_the_lanes(void **state)
{
    static const struct {
        const char *axes;
        double rate; /* multiply-adds of an SM in a ns */
    } rows[] = {
        {"warps=1 ilp=1", 16},           {"warps=4 ilp=1", 64},
        {"warps=2 ilp=2", 64},           {"warps=15 ilp=1", 3 * 60.60606061 + 48},
        {"warps=16 ilp=1", 242.4242424}, {"warps=1 ilp=4", 60.60606061}, /* one scheduler, full */
        {"warps=1 ilp=8", 60.60606061},  {"warps=6 ilp=2", 2 * 60.60606061 + 2 * 32},
        {"warps=64 ilp=8", 242.4242424}, {"warps=5 ilp=1", 80},
    };
    (void)state;
    const struct ub_constants constants = round_constants();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char axes[64];
        snprintf(axes, sizeof axes, "work=arithmetic %s", rows[i].axes);
        const struct ub_law law = law_of(card("h200"), &constants, axes);
        const struct hiding_geometry g = geometry_of(card("h200"), axes);
        const double rate = (double)hiding_fmas(&g) / 132 / law.time_ns;
        if (fabs(rate / rows[i].rate - 1) > 1e-8)
            fail_msg("%s: %g, expected %g", axes, rate, rows[i].rate);
        assert_string_equal(law.level, "none");
    }
}

/* ---- the knee ------------------------------------------------------------------------------- */

static double knee(const struct ub_gpu *gpu, const struct ub_constants *constants, const char *axes)
{
    const struct hiding_geometry g = geometry_of(gpu, axes);
    return hiding_knee_warps(gpu, constants, &g);
}

static void the_knee_is_where_nine_tenths_are_reached(void **state)
{
    static const char *const shapes[] = {"bytes=4 ilp=8", "bytes=8 ilp=4", "bytes=16 ilp=1", "bytes=16 ilp=4"};
    (void)state;
    const struct ub_constants constants = round_constants();
    /* 4e12 x 400e-9 / 132 bytes, and so many times a warp's */
    assert_true(fabs(knee(card("h200"), &constants, "bytes=16 ilp=1") / (beyond * 1.6e6 / 132 / 512) - 1) < 1e-5);
    /* 0.9 x 32e12 x 2e-9 / 132 / 32 */
    assert_true(fabs(knee(card("h200"), &constants, "work=arithmetic ilp=1") / 13.63636364 - 1) < 1e-8);
    assert_true(fabs(knee(card("h200"), &constants, "work=arithmetic ilp=2") / 6.81818182 - 1) < 1e-8);
    /* with four chains and more a warp fills its scheduler, of which there are four */
    assert_true(fabs(knee(card("h200"), &constants, "work=arithmetic ilp=4") / 3.6 - 1) < 1e-8);
    assert_true(fabs(knee(card("h200"), &constants, "work=arithmetic ilp=8") / 3.6 - 1) < 1e-8);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const int warps = (int)floor(knee(card("h200"), &constants, shapes[i]));
        char below[64], above[64];
        snprintf(below, sizeof below, "%s warps=%d", shapes[i], warps % 2 ? warps - 1 : warps);
        snprintf(above, sizeof above, "%s warps=%d", shapes[i], warps % 2 ? warps + 1 : warps + 2);
        assert_true(bandwidth(card("h200"), &constants, below) < 0.9 * 4e12);
        assert_true(bandwidth(card("h200"), &constants, above) >= 0.9 * 4e12);
    }
}

/* "V100 42, 11 and 8": warps for 90 % with one load of 4 bytes, one of 16, one chain. */
static void the_text_says_what_the_model_says(void **state)
{
    static const struct {
        const char *slug, *name;
    } cards[] = {{"v100", "V100"}, {"t4", "T4"},     {"a100", "A100"}, {"a40", "A40"},
                 {"l40s", "L40S"}, {"h100", "H100"}, {"h200", "H200"}, {"b200", "B200"}};
    (void)state;
    for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++) {
        struct ub_constants constants;
        const struct ub_gpu *gpu = card(cards[i].slug);
        ub_gpu_constants(gpu, &constants);
        char row[64];
        snprintf(row, sizeof row, "%s %.0f, %.0f and %.0f", cards[i].name, ceil(knee(gpu, &constants, "bytes=4")),
                 ceil(knee(gpu, &constants, "bytes=16")), ceil(knee(gpu, &constants, "work=arithmetic")));
        if (!strstr(ub_micro_latency_hiding.text.law, row))
            fail_msg("the law's text does not say \"%s\"", row);
    }
}

/* Some of the fitting set of law.c, as an H200 did it: TB/s. */
static void what_an_h200_did(void **state)
{
    static const struct {
        const char *axes;
        double tbps;
    } rows[] = {
        {"warps=16 bytes=4 ilp=1", 0.717},  {"warps=64 bytes=4 ilp=1", 2.529},  {"warps=32 bytes=8 ilp=1", 2.495},
        {"warps=48 bytes=8 ilp=1", 3.376},  {"warps=4 bytes=16 ilp=1", 0.668},  {"warps=32 bytes=16 ilp=1", 3.779},
        {"warps=48 bytes=16 ilp=1", 4.282}, {"warps=8 bytes=16 ilp=2", 2.333},  {"warps=16 bytes=16 ilp=2", 3.731},
        {"warps=32 bytes=16 ilp=2", 4.469}, {"warps=4 bytes=16 ilp=4", 2.205},  {"warps=8 bytes=16 ilp=4", 3.561},
        {"warps=12 bytes=16 ilp=4", 4.196}, {"warps=48 bytes=16 ilp=4", 4.571},
    };
    static const struct {
        const char *name;
        double wait_ns;
    } waits[] = {{"load_wait_1x4_ns", 376.5},
                 {"load_wait_1x8_ns", 386.7},
                 {"load_wait_1x16_ns", 406.5},
                 {"load_wait_2x16_ns", 415.4},
                 {"load_wait_4x16_ns", 434.9}};
    (void)state;
    struct ub_constants constants;
    ub_gpu_constants(card("h200"), &constants);
    ub_constant_set(&constants, "steady_load_ceiling", 4.563e12, 0, 0, "B/s", "test");
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++)
        ub_constant_set(&constants, waits[i].name, waits[i].wait_ns, 0, 0, "ns", "test");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const double tbps = bandwidth(card("h200"), &constants, rows[i].axes) * 1e-12;
        if (fabs(tbps / rows[i].tbps - 1) > 0.06)
            fail_msg("%s: %g TB/s, an H200 did %g", rows[i].axes, tbps, rows[i].tbps);
    }
}

/* ---- every sweep, every card -------------------------------------------------------------------- */

static void check_point(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point)
{
    struct ub_law law;
    struct hiding_geometry g;
    assert_null(hiding_resolve(gpu, point, &g));
    hiding_law(gpu, constants, point, &law);
    assert_int_equal(law.counter_count, ub_micro_latency_hiding.counter_count);
    assert_true(hiding_bytes(&g) <= gpu->memory_bytes || gpu->memory_bytes == 0);
    if (!isfinite(law.time_ns)) {
        assert_true(law.bottleneck == NULL && strncmp(law.note, "no time", 7) == 0);
        return;
    }
    assert_true(law.time_ns > 0 && law.term_count == 2);
    assert_true(law.tolerance == (gpu->verified ? 0.10 : 0.30));
    for (size_t i = 0; i < law.term_count; i++)
        assert_true(law.time_ns >= law.terms[i].time_ns * (1 - 1e-9));
    /* the ratio of the two is the warps of an SM, whatever the time is */
    const double ratio = (double)counter(&law, "warps_active") / (double)counter(&law, "sm_cycles_active");
    assert_true(fabs(ratio / g.warps - 1) < 1e-6);
}

static void every_sweep_for_every_card(void **state)
{
    const struct ub_entry entry = {.micro = &ub_micro_latency_hiding};
    (void)state;
    for (size_t i = 0; i < ub_gpu_count(); i++) {
        const struct ub_gpu *gpu = ub_gpu_at(i);
        struct ub_plan plan = {0};
        struct ub_error err = {0};
        struct ub_constants constants;
        ub_gpu_constants(gpu, &constants);
        if (!ub_plan_add(&plan, &entry, gpu, UB_SUITE_FULL, NULL, 0, true, false, &err))
            fail_msg("%s", err.text);
        size_t runs = 0;
        for (size_t n = 0; n < plan.count; n++) {
            if (plan.points[n].skip)
                continue;
            check_point(gpu, &constants, &plan.points[n].point);
            runs++;
        }
        assert_true(runs > plan.count / 2);
        if (strcmp(gpu->slug, "h200") == 0) /* a record of it has no gaps */
            assert_int_equal(runs, plan.count);
        ub_plan_free(&plan);
    }
}

/* ---- metrics ----------------------------------------------------------------------------------------- */

/* 16 warps of two 8-byte loads, 256 steps: 8 KiB in flight in an SM. */
static void littles_law_is_read_backwards(void **state)
{
    static const char *const keys[] = {"warps_active", "sm_cycles_active",      "warps_eligible",
                                       "issue_active", "stall_long_scoreboard", "stall_wait"};
    static const uint64_t values[] = {16000, 1000, 1600, 1200, 12000, 1600};
    (void)state;
    const struct ub_constants constants = round_constants();
    const struct ub_point point = point_of("warps=16 ilp=2 bytes=8");
    struct ub_facts facts = {.gpu = card("h200"),
                             .constants = &constants,
                             .point = &point,
                             .time_ns = 256 * 500,
                             .counter_count = 6,
                             .counter_keys = keys,
                             .counter_values = values};
    struct ub_metrics m;
    ub_micro_latency_hiding.metrics(&facts, &m);
    assert_int_equal(m.count, ub_micro_latency_hiding.metric_count);
    assert_true(metric(&m, "in_flight") == 8192);
    assert_true(fabs(metric(&m, "latency_ns") - 500) < 1e-9);
    assert_true(fabs(metric(&m, "useful_bandwidth") / (8192 * 132 / 500e-9) - 1) < 1e-12);
    assert_true(fabs(metric(&m, "ceiling_share") / (8192 * 132 / 500e-9 / 4e12) - 1) < 1e-12);
    assert_true(isnan(metric(&m, "flops")) && isnan(metric(&m, "knee_warps")));
    assert_true(fabs(metric(&m, "step_cycles") / (16000.0 / (132 * 16 * 256)) - 1) < 1e-12);
    assert_true(metric(&m, "issue_slots_used") == 0.3 && metric(&m, "eligible_warps") == 0.4);
    assert_true(metric(&m, "waits_for_data") == 0.75 && metric(&m, "waits_for_result") == 0.1);
    assert_true(fabs(metric(&m, "states_told") - 0.95) < 1e-12);
    facts.predicted = true;
    ub_micro_latency_hiding.metrics(&facts, &m);
    assert_true(fabs(metric(&m, "knee_warps") / (beyond * 1.6e6 / 132 / 512) - 1) < 1e-5);
    /* a multiply-add is two operations; 16 x 2 x 32 of them are in flight */
    const struct ub_point arithmetic = point_of("work=arithmetic warps=16 ilp=2");
    facts.point = &arithmetic;
    ub_micro_latency_hiding.metrics(&facts, &m);
    assert_true(isnan(metric(&m, "useful_bandwidth")) && metric(&m, "in_flight") == 1024);
    assert_true(fabs(metric(&m, "flops") / (2 * 132.0 * 1024 * 4096 * 32 / 128e-6) - 1) < 1e-12);
    assert_true(fabs(metric(&m, "latency_ns") / (1024 * 128e3 / (1024.0 * 4096 * 32)) - 1) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_sm_holds_just_so_many_warps),
        cmocka_unit_test(contradictions_are_said),
        cmocka_unit_test(what_an_own_card_lacks_is_named),
        cmocka_unit_test(loads_that_the_cache_holds_are_not_tested),
        cmocka_unit_test(a_small_card_is_not_overrun),
        cmocka_unit_test(loads_are_counted),
        cmocka_unit_test(multiply_adds_are_counted),
        cmocka_unit_test(every_element_is_loaded_once),
        cmocka_unit_test(loads_wait_or_fill_dram),
        cmocka_unit_test(warps_loads_and_bytes_count_alike),
        cmocka_unit_test(warps_times_ilp_fill_the_lanes),
        cmocka_unit_test(the_knee_is_where_nine_tenths_are_reached),
        cmocka_unit_test(the_text_says_what_the_model_says),
        cmocka_unit_test(what_an_h200_did),
        cmocka_unit_test(every_sweep_for_every_card),
        cmocka_unit_test(littles_law_is_read_backwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
