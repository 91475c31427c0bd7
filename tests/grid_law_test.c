/* SPDX-License-Identifier: MIT
 *
 * The rule `grid` against closed forms, block by block and for every card of the table:
 * how many blocks an SM is made to hold, where the steps are, that a wave more or fewer is
 * never within tolerance, what is counted. */
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
#include "micro/grid/access.h"
#include "micro/grid/rule.h"
#include "tests/rule_fixture.h"

extern const struct ub_micro ub_micro_grid;

static struct ub_point point_of(const char *axes)
{
    return parse_point(&ub_micro_grid, axes);
}

static struct grid_geometry geometry_of(const struct ub_gpu *gpu, const char *axes)
{
    const struct ub_point point = point_of(axes);
    struct grid_geometry g;
    const char *reason = grid_resolve(gpu, &point, &g);
    if (reason)
        fail_msg("%s: %s", axes, reason);
    return g;
}

static struct ub_law law_of(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct ub_constants constants;
    struct ub_law law;
    ub_gpu_constants(gpu, &constants);
    grid_law(gpu, &constants, point, &law);
    return law;
}

static double metric_of(const struct ub_gpu *gpu, const struct ub_point *point, double time_ns, const char *key)
{
    struct ub_constants constants;
    struct ub_metrics metrics;
    ub_gpu_constants(gpu, &constants);
    const struct ub_facts facts = {
        .gpu = gpu, .constants = &constants, .point = point, .time_ns = time_ns, .predicted = true};
    ub_micro_grid.metrics(&facts, &metrics);
    for (size_t i = 0; i < metrics.count; i++)
        if (strcmp(metrics.items[i].key, key) == 0)
            return metrics.items[i].value;
    fail_msg("no metric %s", key);
    return NAN;
}

/* ---- what is launched --------------------------------------------------------------- */

/* 228 KiB an SM, 1 KiB of each block the driver's, pieces of 128: one more does not fit. */
static void shared_memory_makes_blocks_resident(void **state)
{
    static const struct {
        const char *work;
        uint32_t most; /* by warps: 64 of an SM; latency: 4 of a scheduler */
    } rows[] = {{"latency", 4}, {"throughput", 4}, {"dram", 4}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (uint32_t resident = 1; resident <= GRID_RESIDENT_MAX; resident++) {
            char axes[64];
            struct grid_geometry g;
            snprintf(axes, sizeof axes, "work=%s resident=%u", rows[i].work, resident);
            const struct ub_point point = point_of(axes);
            assert_int_equal(grid_resolve(h200(), &point, &g) == NULL, resident <= rows[i].most);
            if (resident > rows[i].most)
                continue;
            const uint32_t of_block = g.shared_bytes + 1024;
            assert_int_equal(g.resident, resident);
            assert_int_equal(of_block % 128, 0);
            assert_true(of_block * resident <= 233472 && of_block * (resident + 1) > 233472);
        }
}

static void automatic_residents_fit_every_card(void **state)
{
    (void)state;
    for (size_t i = 0; i < ub_gpu_count(); i++) {
        const struct ub_gpu *gpu = ub_gpu_at(i);
        assert_int_equal(geometry_of(gpu, "work=latency").resident, 2);
        assert_int_equal(geometry_of(gpu, "work=throughput").resident, 2);
        const int dram = gpu->warps_per_sm / 16;
        assert_int_equal(geometry_of(gpu, "work=dram").resident, dram < 4 ? dram : 4);
    }
}

static void blocks_are_a_number_or_so_many_an_sm(void **state)
{
    static const struct {
        const char *axes;
        uint32_t blocks;
    } rows[] = {{"", 132},
                {"side=below", 131},
                {"side=above", 133},
                {"per_sm=8 side=above", 8 * 132 + 1},
                {"per_sm=64 side=below", 64 * 132 - 1},
                {"blocks=1", 1},
                {"blocks=65536", 65536}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(geometry_of(h200(), rows[i].axes).blocks, rows[i].blocks);
}

/* A power of two of chunks: as many as the size asked for holds, or 2 GiB and 20 L2. */
static void the_ring_is_far_larger_than_the_cache(void **state)
{
    (void)state;
    for (size_t i = 0; i < ub_gpu_count(); i++)
        for (int rounds = 1; rounds <= 1024; rounds = 3 * rounds + 1) {
            char axes[64];
            snprintf(axes, sizeof axes, "work=dram length=%d", rounds);
            const struct grid_geometry g = geometry_of(ub_gpu_at(i), axes);
            const uint64_t ring = g.chunks * grid_chunk_elements(&g) * 16;
            assert_int_equal(g.chunks & (g.chunks - 1), 0);
            assert_int_equal(grid_chunk_elements(&g) * 16, (uint64_t)rounds * 4 * 16 * 512);
            assert_true(ring >= 2ull << 30 && ring >= 20 * ub_gpu_at(i)->l2_bytes);
            assert_true(ring / 2 < 2ull << 30 || ring / 2 < 20 * ub_gpu_at(i)->l2_bytes);
        }
    assert_int_equal(geometry_of(h200(), "work=dram length=1 size=64Ki").chunks, 2);
    assert_int_equal(geometry_of(h200(), "work=dram length=1 size=98303").chunks, 2);
    assert_int_equal(geometry_of(h200(), "work=dram length=1 size=127Ki").chunks, 2);
    assert_int_equal(geometry_of(h200(), "work=dram length=1 size=128Ki").chunks, 4);
    assert_int_equal(geometry_of(h200(), "work=dram length=16 size=512Ki").chunks, 1);
}

static void contradictions_are_said(void **state)
{
    static const struct {
        const char *slug, *axes, *reason;
    } rows[] = {
        {"h200", "blocks=7 per_sm=2", "need blocks=auto"},
        {"h200", "blocks=7 side=above", "need blocks=auto"},
        {"h200", "size=1Mi", "work=dram"},
        {"h200", "work=throughput size=1Mi", "work=dram"},
        {"h200", "work=dram length=16 size=524287", "smaller than one chunk"},
        {"h200", "work=dram length=8192 size=64Ki", "smaller than one chunk"},
        {"h200", "work=latency resident=5", "fill the FP32 lanes"},
        {"h200", "work=throughput resident=5", "cannot hold"},
        {"a100", "work=latency resident=3", "fill the FP32 lanes"}, /* 64 lanes: two cycles a warp */
        {"rtx4090", "work=throughput resident=4", "cannot hold"},   /* 48 warps */
        {"t4", "work=dram resident=3", "cannot hold"},              /* 32 warps */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct ub_gpu *gpu = ub_gpu_find(rows[i].slug);
        const struct ub_point point = point_of(rows[i].axes);
        const char *reason = ub_micro_grid.supported(gpu, &point);
        if (!reason || !strstr(reason, rows[i].reason))
            fail_msg("%s: %s", rows[i].axes, reason ? reason : "supported");
        const struct ub_law law = law_of(gpu, &point);
        assert_true(law.counter_count == 0 && isnan(law.time_ns) && law.note);
    }
}

/* One block fewer than one an SM is none where there is one SM. */
static void a_card_of_one_sm_launches_a_block(void **state)
{
    struct ub_gpu one = *h200();
    struct grid_geometry g;
    (void)state;
    one.sms = 1;
    for (int work = 0; work < GRID_WORKS; work++) {
        struct ub_point point = point_of("side=below");
        point.values[GRID_WORK] = work;
        const char *reason = ub_micro_grid.supported(&one, &point);
        assert_true(reason && strstr(reason, "is none"));
        assert_true(law_of(&one, &point).note == reason);
        point.values[GRID_PER_SM] = 2;
        assert_null(grid_resolve(&one, &point, &g));
        assert_int_equal(g.blocks, 1);
    }
}

/* A ring that the L2 keeps in part from launch to launch is read faster than from DRAM. */
static void a_ring_in_the_cache_is_not_tested(void **state)
{
    static const struct {
        const char *axes;
        bool dram;
    } rows[] = {{"work=dram", true},
                {"work=dram size=256Mi", true},  /* an L2 has 60 MiB */
                {"work=dram size=255Mi", false}, /* 128 MiB of chunks */
                {"work=dram size=512Ki", false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct ub_point point = point_of(rows[i].axes);
        const struct ub_law law = law_of(h200(), &point);
        assert_true(isfinite(law.time_ns));
        assert_string_equal(law.level, rows[i].dram ? "dram" : "l2");
        assert_int_equal(law.tolerance > 0, rows[i].dram);
        assert_true(rows[i].dram ? law.note == NULL : strstr(law.note, "four L2 caches") != NULL);
    }
}

static void without_bandwidth_or_clock_there_is_no_time(void **state)
{
    static const char *const loads[] = {"work=dram", "work=dram side=above", "work=dram blocks=1",
                                        "work=dram size=1Mi"};
    const struct ub_gpu *orin = ub_gpu_find("orin");
    (void)state;
    assert_non_null(orin);
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++) {
        const struct ub_point point = point_of(loads[i]);
        const struct ub_law law = law_of(orin, &point);
        assert_true(isnan(law.time_ns) && law.tolerance == 0);
        assert_null(law.bottleneck);
        assert_string_equal(law.note, UB_NOTE_NO_DRAM);
        assert_true(counter(&law, "blocks_launched") > 0);
    }
    const struct ub_constants nothing = {0};
    const struct ub_point waits = point_of("");
    struct ub_law law;
    grid_law(h200(), &nothing, &waits, &law);
    assert_true(isnan(law.time_ns) && strstr(law.note, "the clock"));
}

/* ---- steps ------------------------------------------------------------------------------- */

/* 16 rounds of 1024 multiply-adds, 4 cycles each and 28 a round, at 1980 MHz. */
static const double h200_wave_ns = 16 * (1024 * 4 + 28) / 1.98;

static void check_staircase(const struct ub_gpu *gpu, const char *work, uint32_t resident, uint32_t wave_blocks)
{
    for (int64_t blocks = 1; blocks <= 2000; blocks++) {
        char axes[96];
        snprintf(axes, sizeof axes, "work=%s resident=%u blocks=%lld", work, resident, (long long)blocks);
        const struct ub_point point = point_of(axes);
        const struct ub_law law = law_of(gpu, &point);
        const double waves = (double)((blocks + wave_blocks - 1) / wave_blocks);
        const double start_ns = 503 + 0.604 * (double)blocks;
        const double expected_ns = start_ns + waves * h200_wave_ns;
        if (fabs(law.time_ns / expected_ns - 1) > 1e-9)
            fail_msg("%s: %g ns, expected %g", axes, law.time_ns, expected_ns);
        assert_true(fabs(metric_of(gpu, &point, law.time_ns, "waves") / waves - 1) < 1e-9);
        /* one wave more or fewer would be found */
        assert_true(law.tolerance > 0 && law.tolerance * law.time_ns < 0.41 * h200_wave_ns);
    }
}

/* What one wave more costs cannot be told from the error of the law any more. */
static void very_many_waves_are_not_tested(void **state)
{
    (void)state;
    static const struct {
        const char *axes;
        bool tested;
    } rows[] = {{"blocks=10000", true},
                {"blocks=11000", false},
                {"blocks=65536", false},
                {"work=throughput blocks=5000", true},
                {"work=throughput blocks=5500", false},
                {"work=dram blocks=65536", true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct ub_point point = point_of(rows[i].axes);
        const struct ub_law law = law_of(h200(), &point);
        assert_int_equal(law.tolerance > 0, rows[i].tested);
        assert_int_equal(law.note == NULL, rows[i].tested);
    }
}

static void blocks_that_wait_step_with_what_the_card_holds(void **state)
{
    (void)state;
    for (uint32_t resident = 1; resident <= 4; resident++)
        check_staircase(h200(), "latency", resident, 132 * resident);
}

static void blocks_that_compute_step_with_the_sms(void **state)
{
    (void)state;
    for (uint32_t resident = 1; resident <= 4; resident++)
        check_staircase(h200(), "throughput", resident, 132);
}

/* 64 lanes an SM: a multiply-add keeps its scheduler busy for two cycles, so that four
 * warps need eight cycles a step, one warp four. */
static void half_as_many_lanes_take_twice_as_long(void **state)
{
    (void)state;
    const struct ub_gpu *a100 = ub_gpu_find("a100");
    const double cycles_ns = 1e3 / constant(a100, "clock_mhz");
    static const struct {
        const char *axes;
        double step_cycles;
    } rows[] = {{"work=latency", 4}, {"work=throughput", 8}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct ub_point one = point_of(rows[i].axes);
        char axes[64];
        snprintf(axes, sizeof axes, "%s per_sm=3", rows[i].axes);
        const struct ub_point more = point_of(axes);
        const double wave_ns = 16 * (1024 * rows[i].step_cycles + 28) * cycles_ns;
        const double waves = (law_of(a100, &more).time_ns - law_of(a100, &one).time_ns) / wave_ns;
        assert_true(fabs(waves - (i == 0 ? 1 : 2)) < 0.01); /* the launch of more blocks */
    }
}

/* Measured on an H200, us: both sides of each step. */
static void what_an_h200_did(void **state)
{
    static const struct {
        const char *axes;
        double time_us, tolerance;
    } rows[] = {
        {"blocks=132", 33.99, 0.01},
        {"blocks=264", 34.03, 0.01},
        {"blocks=265", 67.38, 0.01},
        {"blocks=528", 67.60, 0.01},
        {"blocks=529", 100.83, 0.01},
        {"work=throughput blocks=132", 34.09, 0.01},
        {"work=throughput blocks=133", 67.51, 0.01},
        {"work=throughput blocks=264", 67.39, 0.01},
        {"work=throughput blocks=265", 100.56, 0.01},
        {"work=throughput blocks=792", 200.56, 0.01},
        {"work=throughput blocks=793", 233.69, 0.01},
        {"work=dram blocks=132", 17.79, 0.05},
        {"work=dram blocks=133", 25.18, 0.05},
        {"work=dram blocks=264", 32.59, 0.05},
        {"work=dram blocks=265", 40.47, 0.05},
        {"work=dram blocks=660", 84.94, 0.07}, /* five an SM of which four fit: not dealt evenly */
        {"work=dram blocks=793", 100.10, 0.05},
        {"work=dram length=1 per_sm=8", 9.630, 0.08},
        {"work=dram length=1 per_sm=8 side=above", 9.641, 0.08},
        {"work=dram length=1 per_sm=64", 62.146, 0.05},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct ub_point point = point_of(rows[i].axes);
        const double off = rows[i].time_us * 1e3 / law_of(h200(), &point).time_ns - 1;
        if (fabs(off) > rows[i].tolerance)
            fail_msg("%s: %.1f %% off", rows[i].axes, 100 * off);
    }
}

/* Blocks that load: more of them are never faster, and none faster than DRAM. */
static void more_blocks_that_load_take_longer(void **state)
{
    static const char *const rounds[] = {"1", "4", "16", "64"};
    (void)state;
    for (size_t i = 0; i < sizeof rounds / sizeof rounds[0]; i++) {
        char axes[64];
        snprintf(axes, sizeof axes, "work=dram length=%s", rounds[i]);
        struct ub_point point = point_of(axes);
        struct ub_constants constants;
        struct grid_geometry g;
        ub_gpu_constants(h200(), &constants);
        assert_null(grid_resolve(h200(), &point, &g));
        const double bytes_ns = 132.0 * (double)grid_chunk_elements(&g) * 16 / 4.68e12 * 1e9;
        double before = 0;
        for (int64_t blocks = 1; blocks <= 2000; blocks++) {
            point.values[GRID_BLOCKS] = blocks;
            const struct ub_law law = law_of(h200(), &point);
            if (!(law.time_ns >= before * (1 - 1e-12)))
                fail_msg("length=%s blocks=%lld: %g ns after %g", rounds[i], (long long)blocks, law.time_ns, before);
            assert_true(law.time_ns >= bytes_ns * (double)blocks / 132);
            before = law.time_ns;
        }
    }
}

/* ---- counters ------------------------------------------------------------------------------ */

static void every_block_does_the_same(void **state)
{
    (void)state;
    for (int64_t blocks = 1; blocks <= 65536; blocks = 3 * blocks + 1)
        for (int rounds = 1; rounds <= 64; rounds *= 4) {
            struct ub_point point = point_of("work=latency");
            point.values[GRID_BLOCKS] = blocks;
            point.values[GRID_LENGTH] = rounds;
            const uint64_t n = (uint64_t)blocks, r = (uint64_t)rounds;
            struct ub_law law = law_of(h200(), &point);
            assert_int_equal(counter(&law, "blocks_launched"), n);
            assert_int_equal(counter(&law, "warps_launched"), 4 * n);
            assert_int_equal(counter(&law, "ffma"), n * 128 * r * 1024);
            assert_int_equal(counter(&law, "global_load_requests") + counter(&law, "global_atomics"), 0);
            point.values[GRID_WORK] = GRID_THROUGHPUT;
            law = law_of(h200(), &point);
            assert_int_equal(counter(&law, "warps_launched"), 16 * n);
            assert_int_equal(counter(&law, "ffma"), n * 512 * r * 1024);
            point.values[GRID_WORK] = GRID_DRAM;
            law = law_of(h200(), &point);
            assert_int_equal(counter(&law, "ffma"), 0);
            assert_int_equal(counter(&law, "global_load_requests"), n * 16 * r * 4);
            assert_int_equal(counter(&law, "global_load_sectors"), n * 16 * r * 4 * 16);
            assert_int_equal(counter(&law, "global_atomics"), n);
            assert_false(counter_of(&law, "sm_cycles_active")->known);
            assert_non_null(counter_of(&law, "sm_cycles_active")->reason);
        }
}

/* In waves of all SMs: what the tail leaves empty. */
static void sms_are_active_while_they_have_blocks(void **state)
{
    static const struct {
        const char *axes;
        double waves; /* NaN: not known */
    } rows[] = {
        {"blocks=1", 1},
        {"blocks=132", 132},
        {"blocks=133", 132},
        {"blocks=264", 132},
        {"blocks=265", 133},
        {"blocks=266", NAN}, /* on one SM or on two */
        {"blocks=528", 264},
        {"resident=1 blocks=133", 133},
        {"resident=1 blocks=200", 200},
        {"resident=1 blocks=264", 264},
        {"work=throughput blocks=133", 133},
        {"work=throughput blocks=397", 397},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct ub_point point = point_of(rows[i].axes);
        const struct ub_law law = law_of(h200(), &point);
        const struct ub_law_counter *active = counter_of(&law, "sm_cycles_active");
        assert_int_equal(active->known, isfinite(rows[i].waves));
        assert_non_null(active->reason);
        if (active->known)
            assert_true(fabs((double)active->predicted / (rows[i].waves * 16 * (1024 * 4 + 28)) - 1) < 1e-6);
        if (point.values[GRID_WORK] == GRID_LATENCY)
            assert_true(fabs((double)counter(&law, "warps_active") /
                                 ((double)point.values[GRID_BLOCKS] * 4 * 16 * (1024 * 4 + 28)) -
                             1) < 1e-6);
    }
}

static void every_chunk_is_read_from_end_to_end(void **state)
{
    enum { ROUNDS = 3, THREADS = 64, CHUNKS = 4, ELEMENTS = CHUNKS * ROUNDS * GRID_LOADS * THREADS };
    static unsigned char seen[ELEMENTS];
    (void)state;
    for (uint32_t ticket = 4294967292u; ticket != 0; ticket++) /* where the counter begins again */
        for (uint32_t thread = 0; thread < THREADS; thread++) {
            uint64_t element = grid_first(ROUNDS, THREADS, CHUNKS, ticket, thread);
            for (uint32_t i = 0; i < ROUNDS * GRID_LOADS; i++, element += THREADS)
                seen[element]++;
        }
    for (size_t i = 0; i < ELEMENTS; i++)
        assert_int_equal(seen[i], 1);
}

/* ---- every sweep, every card -------------------------------------------------------------------- */

static void every_sweep_for_every_card(void **state)
{
    (void)state;
    const struct ub_entry entry = {.micro = &ub_micro_grid};
    for (size_t i = 0; i < ub_gpu_count(); i++) {
        struct ub_plan plan = {0};
        struct ub_error err = {0};
        const struct ub_gpu *gpu = ub_gpu_at(i);
        if (!ub_plan_add(&plan, &entry, gpu, UB_SUITE_FULL, NULL, 0, true, false, &err))
            fail_msg("%s", err.text);
        size_t runs = 0;
        for (size_t n = 0; n < plan.count; n++) {
            if (plan.points[n].skip)
                continue;
            const struct ub_law law = law_of(gpu, &plan.points[n].point);
            const bool loads = plan.points[n].point.values[GRID_WORK] == GRID_DRAM;
            assert_true((loads && !(gpu->dram_bandwidth_bps > 0)) || isfinite(law.time_ns));
            const bool many = law.note && strstr(law.note, "so many waves"); /* of 1188 blocks on few SMs */
            assert_int_equal(law.tolerance > 0, isfinite(law.time_ns) && !many);
            assert_true(!many || gpu->sms < 30);
            assert_int_equal(law.note == NULL, gpu->verified);
            runs++;
        }
        assert_true(runs > plan.count * 9 / 10);
        ub_plan_free(&plan);
    }
}

/* ---- metrics ------------------------------------------------------------------------------------- */

static void one_block_too_many_halves_the_rate(void **state)
{
    (void)state;
    static const struct {
        const char *axes;
        double full_share;
    } rows[] = {{"blocks=264", 1}, {"blocks=265", 265 / 528.0}, {"work=throughput blocks=133", 133 / 264.0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct ub_point point = point_of(rows[i].axes);
        const double share = metric_of(h200(), &point, law_of(h200(), &point).time_ns, "full_share");
        assert_true(fabs(share / rows[i].full_share - 1) < 0.03); /* the start of the launch */
    }
    const struct ub_point point = point_of("resident=3");
    assert_true(metric_of(h200(), &point, 1e6, "resident_blocks") == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_memory_makes_blocks_resident),
        cmocka_unit_test(automatic_residents_fit_every_card),
        cmocka_unit_test(blocks_are_a_number_or_so_many_an_sm),
        cmocka_unit_test(the_ring_is_far_larger_than_the_cache),
        cmocka_unit_test(contradictions_are_said),
        cmocka_unit_test(a_card_of_one_sm_launches_a_block),
        cmocka_unit_test(a_ring_in_the_cache_is_not_tested),
        cmocka_unit_test(without_bandwidth_or_clock_there_is_no_time),
        cmocka_unit_test(very_many_waves_are_not_tested),
        cmocka_unit_test(blocks_that_wait_step_with_what_the_card_holds),
        cmocka_unit_test(blocks_that_compute_step_with_the_sms),
        cmocka_unit_test(half_as_many_lanes_take_twice_as_long),
        cmocka_unit_test(what_an_h200_did),
        cmocka_unit_test(more_blocks_that_load_take_longer),
        cmocka_unit_test(every_block_does_the_same),
        cmocka_unit_test(sms_are_active_while_they_have_blocks),
        cmocka_unit_test(every_chunk_is_read_from_end_to_end),
        cmocka_unit_test(every_sweep_for_every_card),
        cmocka_unit_test(one_block_too_many_halves_the_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
