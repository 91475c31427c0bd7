/* SPDX-License-Identifier: MIT
 *
 * The rule `async_copy` against closed forms: each chunk of the source is copied once and
 * worked on once, by another thread; which counter has a copy, by way; how long a tile takes
 * where load, work or DRAM decides, and how stages and blocks stand in for each other. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "micro/async_copy/access.h"
#include "micro/async_copy/rule.h"
#include "tests/rule_fixture.h"

extern const struct ub_micro ub_micro_async_copy;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const ways[] = {"synchronous", "registers", "cp_async", "bulk", "bulk_1d"};

static struct ub_point point_of(const char *axes)
{
    return parse_point(&ub_micro_async_copy, axes);
}

static struct ub_law law_of(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct ub_constants constants;
    struct ub_law law;
    ub_gpu_constants(gpu, &constants);
    copy_law(gpu, &constants, point, &law);
    return law;
}

static struct copy_geometry geometry(const struct ub_gpu *gpu, const char *axes)
{
    struct copy_geometry g;
    const struct ub_point point = point_of(axes);
    assert_null(copy_resolve(gpu, &point, &g));
    return g;
}

/* As the law has it, of an H200 with the constants of the table. */
static double period(const char *axes)
{
    struct ub_constants constants;
    const struct copy_geometry g = geometry(h200(), axes);
    ub_gpu_constants(h200(), &constants);
    return copy_period_ns(h200(), &constants, &g);
}

static double load(const char *axes)
{
    struct ub_constants constants;
    const struct copy_geometry g = geometry(h200(), axes);
    ub_gpu_constants(h200(), &constants);
    return copy_load_ns(&constants, &g);
}

static double work(const char *axes)
{
    struct ub_constants constants;
    const struct copy_geometry g = geometry(h200(), axes);
    ub_gpu_constants(h200(), &constants);
    return copy_fmas_ns(h200(), &constants, &g) + copy_beside_ns(&constants, &g);
}

static bool near_to(double value, double wanted, double tolerance)
{
    return fabs(value / wanted - 1) <= tolerance;
}

/* ---- what is copied and worked on -------------------------------------------------- */

static void mark(unsigned char *seen, uint64_t at, uint64_t count)
{
    assert_true(at < count);
    assert_int_equal(seen[at]++, 0);
}

static void every_chunk_is_copied_and_worked_on_once(void **state)
{
    enum { BLOCKS = 7, TILES = 5 };
    (void)state;
    for (uint32_t chunks = 1; chunks <= COPY_CHUNKS_MAX; chunks *= 2) {
        const uint64_t of_tile = (uint64_t)chunks * COPY_BLOCK, count = of_tile * BLOCKS * TILES;
        unsigned char *copied = calloc(count, 1), *worked = calloc(count, 1);
        assert_true(copied && worked);
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t thread = i % COPY_BLOCK, c = i / COPY_BLOCK % chunks;
            const uint32_t block = i / (uint32_t)of_tile % BLOCKS, step = i / (uint32_t)of_tile / BLOCKS;
            const uint64_t tile = copy_tile(block, step, BLOCKS) * of_tile;
            mark(copied, tile + copy_written(thread, c), count);
            mark(worked, tile + copy_read(thread, c, chunks), count);
            /* what another warp has copied: 256 threads, counted from the other end */
            assert_int_not_equal(copy_read(thread, c, chunks) % COPY_BLOCK / 32, thread / 32);
        }
        free(copied);
        free(worked);
    }
}

/* ---- counters ------------------------------------------------------------------------ */

/* 256 threads copy 16 bytes each: 8 requests of 16 sectors, in 4 turns, for 4 KiB. */
static void each_way_has_its_counters(void **state)
{
    static const char *const sizes[] = {"tile=4Ki tiles=3", "tile=8Ki tiles=1 resident=3",
                                        "tile=16Ki resident=2 tiles=7"};
    static const uint64_t bytes[] = {UINT64_C(132) * 3 * 4096, UINT64_C(132) * 3 * 8192, UINT64_C(264) * 7 * 16384};
    static const uint64_t tiles[] = {132 * 3, 132 * 3, 264 * 7};
    (void)state;
    for (size_t w = 0; w < COUNT(ways); w++)
        for (size_t i = 0; i < COUNT(sizes); i++) {
            char axes[96];
            snprintf(axes, sizeof axes, "way=%s fmas=48 %s", ways[w], sizes[i]);
            const struct ub_point point = point_of(axes);
            const struct ub_law law = law_of(h200(), &point);
            const bool loads = w <= COPY_REGISTERS, asynchronous = w == COPY_CP_ASYNC, bulk = w >= COPY_BULK;
            const uint64_t requests = bytes[i] / 512;
            assert_int_equal(counter(&law, "global_load_requests"), loads ? requests : 0);
            assert_int_equal(counter(&law, "global_load_sectors"), loads ? bytes[i] / 32 : 0);
            assert_int_equal(counter(&law, "shared_store_requests"), loads ? requests : 0);
            assert_int_equal(counter(&law, "shared_store_wavefronts"), loads ? 4 * requests : 0);
            assert_int_equal(counter(&law, "global_async_copies"), asynchronous ? requests : 0);
            assert_int_equal(counter_of(&law, "async_copy_sectors")->known, !asynchronous); /* too few tiles */
            assert_int_equal(counter_of(&law, "async_copy_wavefronts")->known, !asynchronous);
            assert_int_equal(counter(&law, "bulk_copies"), bulk ? tiles[i] : 0);
            assert_int_equal(counter(&law, "bulk_copy_bytes"), bulk ? bytes[i] : 0);
            assert_int_equal(counter(&law, "shared_load_requests"), requests);
            assert_int_equal(counter(&law, "shared_load_wavefronts"), 4 * requests);
            assert_int_equal(counter(&law, "ffma"), bytes[i] / 4 * 48);
            assert_int_equal(counter(&law, "blocks_launched"), i == 0 ? 132 : i == 1 ? 396 : 264);
            assert_int_equal(counter(&law, "local_loads") + counter(&law, "local_stores"), 0);
            assert_int_equal(law.counter_count, ub_micro_async_copy.counter_count);
        }
}

/* Of 132 blocks of 8 warps: 50 tiles of 38 instructions and a loop of 64 multiply-adds and 3
 * others, and 13 once. */
static void instructions_are_those_of_the_machine_code(void **state)
{
    static const struct {
        const char *axes;
        uint64_t of_warp;
    } rows[] = {
        {"way=synchronous tiles=50 fmas=16", 50 * (38 + 67) + 13},
        {"way=synchronous tiles=50 fmas=0 tile=16Ki", 50 * 66 + 13},
        {"way=registers tiles=51 fmas=32 tile=8Ki", 51 * (37 + 2 * 131) + 26},
        {"way=cp_async tiles=50 fmas=0 stages=1", 50 * 29 + 35},
        {"way=cp_async tiles=50 fmas=16 stages=4", 50 * (38 + 67) + 65},
        {"way=cp_async tiles=50 fmas=48 stages=2 tile=16Ki", 50 * (69 + 3 * 259) + 20},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_point point = point_of(rows[i].axes);
        struct ub_law law = law_of(h200(), &point);
        assert_int_equal(counter(&law, "warp_instructions"), rows[i].of_warp * 132 * 8);
        assert_true(law.has_code && law.code_registers > 0);
        law = law_of(card("b200"), &point);
        assert_false(law.has_code || counter_of(&law, "warp_instructions")->known);
    }
    const struct ub_point bulk = point_of("way=bulk"), few = point_of("stages=4 tiles=3");
    struct ub_law law = law_of(h200(), &bulk);
    assert_true(law.has_code && !counter_of(&law, "warp_instructions")->known);
    law = law_of(h200(), &few);
    assert_false(counter_of(&law, "warp_instructions")->known);
}

static void a_chosen_number_of_tiles_is_not_timed(void **state)
{
    (void)state;
    const struct ub_point few = point_of("tiles=2000"), usual = point_of("stages=3");
    struct ub_law law = law_of(h200(), &few);
    assert_true(law.tolerance == 0);
    assert_non_null(strstr(law.note, "chosen number"));
    assert_string_equal(law.level, "dram");
    assert_int_equal(counter(&law, "async_copy_wavefronts"), UINT64_C(132) * 2000 * 8 * 4);
    assert_int_equal(counter(&law, "async_copy_sectors"), UINT64_C(132) * 2000 * 8 * 16);
    law = law_of(h200(), &usual);
    assert_true(law.tolerance > 0 && law.note == NULL);
    const struct ub_point in_l2 = point_of("tiles=20");
    law = law_of(h200(), &in_l2);
    assert_string_equal(law.level, "l2");
    assert_false(counter_of(&law, "dram_read_bytes")->known);
}

/* ---- time ---------------------------------------------------------------------------- */

/* 1024 elements, 128 lanes, 1980 MHz: 8 cycles a multiply-add, and 3 instructions of 64. */
static void the_work_is_that_of_the_lanes(void **state)
{
    (void)state;
    assert_true(near_to(work("fmas=64") - work("fmas=0"), 64 * 8 * (1 + 3. / 64) / 1.98, 1e-9));
    assert_true(near_to(work("tile=16Ki fmas=64") - work("tile=16Ki fmas=0"), 64 * 32 * (1 + 3. / 256) / 1.98, 1e-9));
    /* 64 lanes need two cycles for a warp, the other instructions one */
    struct ub_constants constants;
    const struct ub_gpu *a100 = card("a100");
    const struct copy_geometry g = geometry(a100, "fmas=64");
    ub_gpu_constants(a100, &constants);
    assert_true(near_to(copy_fmas_ns(a100, &constants, &g), 64 * 8 * (2 + 3. / 64) / 1.41, 1e-9));
}

static void without_overlap_a_tile_takes_the_sum(void **state)
{
    static const char *const ones[] = {"way=cp_async stages=1", "way=bulk stages=1", "way=synchronous stages=1",
                                       "way=synchronous stages=4"};
    (void)state;
    for (size_t i = 0; i < COUNT(ones); i++)
        for (int fmas = 0; fmas <= COPY_FMAS_MAX; fmas += 16) {
            char axes[96];
            snprintf(axes, sizeof axes, "%s fmas=%d", ones[i], fmas);
            const double sum = load(axes) + work(axes);
            assert_true(period(axes) >= sum && period(axes) < 1.01 * sum);
        }
}

/* Never less than any of the three, and not much more than the largest. */
static void with_stages_it_takes_the_longest(void **state)
{
    const double dram = 4096. * 132 / constant(h200(), "dram_load_ceiling") * 1e9;
    (void)state;
    for (int stages = 2; stages <= COPY_STAGES_MAX; stages++)
        for (int fmas = 0; fmas <= COPY_FMAS_MAX; fmas += 16) {
            char axes[96];
            snprintf(axes, sizeof axes, "way=cp_async stages=%d fmas=%d", stages, fmas);
            const double places = (load(axes) + work(axes)) / stages, longest = fmax(fmax(places, work(axes)), dram);
            assert_true(period(axes) >= longest);
            assert_true(period(axes) < 1.35 * longest);
            if (work(axes) > 1.3 * (places + 25))
                assert_true(near_to(period(axes), work(axes), 0.005));
        }
    /* enough stages: 1 + load / work = 1 + 423 / 247 = 2.7 */
    assert_true(period("stages=2 fmas=32") > 1.3 * work("fmas=32"));
    assert_true(near_to(period("stages=3 fmas=32"), work("fmas=32"), 0.08));
}

static void more_never_takes_longer(void **state)
{
    (void)state;
    for (size_t w = COPY_CP_ASYNC; w < COUNT(ways); w++)
        for (int fmas = 0; fmas <= 256; fmas += 16) {
            double before = INFINITY;
            for (int stages = 1; stages <= COPY_STAGES_MAX; stages++) {
                char axes[96];
                snprintf(axes, sizeof axes, "way=%s stages=%d fmas=%d", ways[w], stages, fmas);
                assert_true(period(axes) < before);
                before = period(axes);
            }
            before = INFINITY;
            for (int resident = 1; resident <= 8; resident *= 2) {
                char axes[96];
                snprintf(axes, sizeof axes, "way=%s stages=2 fmas=%d resident=%d", ways[w], fmas, resident);
                assert_true(period(axes) < before);
                before = period(axes);
            }
        }
}

/* Little's law: what is on its way decides, in stages or in blocks. */
static void blocks_stand_in_for_stages(void **state)
{
    (void)state;
    assert_true(near_to(period("stages=4 fmas=0"), period("stages=1 resident=4 fmas=0"), 0.15));
    assert_true(near_to(period("stages=2 fmas=0"), period("way=synchronous resident=2 fmas=0"), 0.10));
    /* with eight blocks two stages gain little, with one they halve the time */
    assert_true(period("way=synchronous resident=8 fmas=64") < 1.10 * period("stages=2 resident=8 fmas=64"));
    assert_true(period("way=synchronous fmas=64") > 1.8 * period("stages=2 fmas=64"));
}

static void registers_hide_one_tile(void **state)
{
    (void)state;
    const double alone = period("way=registers fmas=0");
    assert_true(near_to(period("way=registers fmas=32"), alone, 0.01));
    assert_true(near_to(period("way=registers fmas=256"), work("way=registers fmas=256"), 0.001));
    /* its load begins with the work, that of a ring when its place is free */
    assert_true(alone > 1.5 * period("way=cp_async stages=2 fmas=0"));
}

/* An H200 with these kernels: ns of a tile, those with one stage as a prototype timed them. */
static void what_an_h200_did(void **state)
{
    static const struct {
        const char *axes;
        double time_ns;
    } rows[] = {
        {"way=synchronous stages=1 fmas=0", 531.2},           {"way=synchronous stages=1 fmas=256", 1618.6},
        {"way=cp_async stages=1 fmas=128", 1084.5},           {"way=bulk stages=1 fmas=32", 672.5},
        {"way=synchronous resident=2 fmas=128", 804.7},       {"way=cp_async stages=1 resident=2 fmas=128", 628.8},
        {"way=bulk stages=1 resident=2 fmas=128", 799.2},     {"way=synchronous resident=8 fmas=0", 126.0},
        {"way=cp_async stages=1 resident=8 fmas=128", 608.0}, {"way=bulk stages=1 resident=4 fmas=256", 1199.0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (!near_to(period(rows[i].axes), rows[i].time_ns, 0.07))
            fail_msg("%s: predicted %g ns, an H200 took %g", rows[i].axes, period(rows[i].axes), rows[i].time_ns);
}

/* ---- metrics ----------------------------------------------------------------------------- */

static void metrics_at(const char *axes, double tile_ns, struct ub_metrics *out)
{
    static const char *const keys[] = {"warps_active", "stall_long_scoreboard", "stall_barrier"};
    static const uint64_t values[] = {1000, 250, 100};
    struct ub_constants constants;
    const struct ub_point point = point_of(axes);
    const struct copy_geometry g = geometry(h200(), axes);
    ub_gpu_constants(h200(), &constants);
    const struct ub_facts facts = {.gpu = h200(),
                                   .constants = &constants,
                                   .point = &point,
                                   .time_ns = tile_ns * g.tiles * g.resident + constant(h200(), "launch_floor_ns"),
                                   .counter_count = COUNT(keys),
                                   .counter_keys = keys,
                                   .counter_values = values};
    *out = (struct ub_metrics){0};
    ub_micro_async_copy.metrics(&facts, out);
    assert_int_equal(out->count, ub_micro_async_copy.metric_count);
}

static void what_is_hidden_is_a_share_of_the_load(void **state)
{
    static const char axes[] = "way=cp_async stages=2 fmas=64";
    struct ub_metrics metrics;
    (void)state;
    const double load_ns = load(axes), work_ns = work(axes);
    const double times[] = {load_ns + work_ns, work_ns, work_ns + load_ns / 4}, shares[] = {0, 1, 0.75};
    for (size_t i = 0; i < COUNT(times); i++) {
        metrics_at(axes, times[i], &metrics);
        assert_true(fabs(metric(&metrics, "load_hidden") - shares[i]) < 1e-9);
        assert_true(fabs(metric(&metrics, "overlap") - shares[i] * load_ns / fmin(load_ns, work_ns)) < 1e-4);
        assert_true(near_to(metric(&metrics, "tile_ns"), times[i], 1e-9));
    }
    assert_true(near_to(metric(&metrics, "useful_bandwidth"), 132 * 4096 / times[2] * 1e9, 0.001));
    assert_true(near_to(metric(&metrics, "in_flight"), 8192, 1e-12));
    assert_true(fabs(metric(&metrics, "waits_for_data") - 0.25) < 1e-12);
    assert_true(fabs(metric(&metrics, "waits_at_barrier") - 0.1) < 1e-12);
}

/* ---- what cannot be ------------------------------------------------------------------------ */

static void what_cannot_be_is_refused(void **state)
{
    static const struct {
        const char *slug, *axes, *reason;
    } rows[] = {
        {"h200", "fmas=1", "multiple of 16"},
        {"h200", "fmas=1009", "multiple of 16"},
        {"h200", "fmas=1024", NULL},
        {"h200", "tile=12Ki", "4, 8 or 16 KiB"},
        {"h200", "tile=4099", "4, 8 or 16 KiB"},
        {"h200", "tile=16Ki stages=4", NULL},
        {"h200", "tile=8Ki resident=5", "32 KiB at most"},
        {"h200", "resident=7", NULL},
        {"h200", "tiles=1 stages=4", NULL},
        {"h200", "way=registers stages=1", "only stages=2"},
        {"h200", "way=registers stages=3", "only stages=2"},
        {"a100", "way=cp_async", NULL},
        {"a100", "way=bulk", "9.0 or later"},
        {"a100", "way=bulk_1d", "9.0 or later"},
        {"rtx4090", "way=bulk", "9.0 or later"},
        {"rtx4090", "resident=8", "has not so many warps"},
        {"v100", "way=cp_async", "8.0 or later"},
        {"v100", "way=registers", NULL},
        {"t4", "way=synchronous tile=16Ki stages=4", "shared memory"},
        {"t4", "way=synchronous stages=4", NULL},
        {"b200", "way=bulk resident=8", NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_point point = point_of(rows[i].axes);
        const char *reason = ub_micro_async_copy.supported(card(rows[i].slug), &point);
        if ((reason == NULL) != (rows[i].reason == NULL) || (reason && !strstr(reason, rows[i].reason)))
            fail_msg("%s %s: %s", rows[i].slug, rows[i].axes, reason ? reason : "not refused");
    }
}

/* The shared memory that a block is given leaves room for the others that it should have
 * beside it, and for no further one. */
static void no_more_blocks_than_said(void **state)
{
    (void)state;
    for (size_t n = 0; n < ub_gpu_count(); n++) {
        const struct ub_gpu *gpu = ub_gpu_at(n);
        for (int resident = 1; resident <= 8; resident++)
            for (int stages = 1; stages <= 4; stages++) {
                char axes[96];
                struct copy_geometry g;
                snprintf(axes, sizeof axes, "way=synchronous resident=%d stages=%d", resident, stages);
                const struct ub_point point = point_of(axes);
                if (copy_resolve(gpu, &point, &g) != NULL)
                    continue;
                const uint64_t each = g.shared_bytes + gpu->shared_reserved_bytes;
                assert_true(each * g.resident <= gpu->shared_per_sm_bytes);
                assert_true(each * (g.resident + 1) > gpu->shared_per_sm_bytes);
                assert_true(g.shared_bytes >= g.stages * (g.tile_bytes + 8));
                assert_int_equal(g.shared_bytes % gpu->shared_unit_bytes, 0);
            }
    }
}

static void every_sweep_for_every_card(void **state)
{
    (void)state;
    const struct ub_entry entry = {.micro = &ub_micro_async_copy};
    for (size_t i = 0; i < ub_gpu_count(); i++) {
        const struct ub_gpu *gpu = ub_gpu_at(i);
        struct ub_plan plan = {0};
        struct ub_error err = {0};
        size_t run = 0;
        if (!ub_plan_add(&plan, &entry, gpu, UB_SUITE_FULL, NULL, 0, true, false, &err))
            fail_msg("%s", err.text);
        for (size_t n = 0; n < plan.count; n++) {
            const struct ub_law law = law_of(gpu, &plan.points[n].point);
            run += plan.points[n].skip == NULL;
            if (plan.points[n].skip != NULL)
                continue;
            assert_string_equal(law.level, "dram");
            assert_int_equal(isfinite(law.time_ns) != 0, gpu->dram_bandwidth_bps > 0);
            assert_int_equal(law.time_ns > 0, law.bottleneck != NULL);
            assert_int_equal(law.tolerance > 0, isfinite(law.time_ns) != 0);
            assert_true(gpu->verified || law.note != NULL);
        }
        assert_true(run > 20);
        ub_plan_free(&plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_chunk_is_copied_and_worked_on_once),
        cmocka_unit_test(each_way_has_its_counters),
        cmocka_unit_test(instructions_are_those_of_the_machine_code),
        cmocka_unit_test(a_chosen_number_of_tiles_is_not_timed),
        cmocka_unit_test(the_work_is_that_of_the_lanes),
        cmocka_unit_test(without_overlap_a_tile_takes_the_sum),
        cmocka_unit_test(with_stages_it_takes_the_longest),
        cmocka_unit_test(more_never_takes_longer),
        cmocka_unit_test(blocks_stand_in_for_stages),
        cmocka_unit_test(registers_hide_one_tile),
        cmocka_unit_test(what_an_h200_did),
        cmocka_unit_test(what_is_hidden_is_a_share_of_the_load),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(no_more_blocks_than_said),
        cmocka_unit_test(every_sweep_for_every_card),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
