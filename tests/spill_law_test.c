/* SPDX-License-Identifier: MIT
 *
 * The rule `spill`: counters worked out by hand from what one thread does, on every card
 * and at every point of its sweeps; which launches there are; how long a trip takes and
 * what decides; and its answers against a host that counts. */
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
#include "micro/spill/rule.h"
#include "tests/rule_fixture.h"

extern const struct ub_micro ub_micro_spill;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct ub_point point_of(const char *axes)
{
    return parse_point(&ub_micro_spill, axes);
}

static struct ub_law law_of(const struct ub_gpu *gpu, const char *axes)
{
    const struct ub_point point = point_of(axes);
    struct ub_constants constants;
    struct ub_law law;
    ub_gpu_constants(gpu, &constants);
    spill_law(gpu, &constants, &point, &law);
    return law;
}

static double term(const struct ub_law *law, const char *name)
{
    for (size_t i = 0; i < law->term_count; i++)
        if (strcmp(law->terms[i].name, name) == 0)
            return law->terms[i].time_ns;
    return 0;
}

/* ---- launches ------------------------------------------------------------------------ */

static void warps_are_one_block_or_two(void **state)
{
    static const struct {
        const char *axes;
        uint32_t blocks, block;
    } rows[] = {
        {"warps=1", 132, 32},          {"warps=16", 132, 512},         {"warps=32", 132, 1024},
        {"warps=40 cap=32", 264, 640}, {"warps=64 cap=32", 264, 1024}, {"warps=16 cap=128", 132, 512},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_point point = point_of(rows[i].axes);
        struct spill_geometry g;
        assert_null(spill_resolve(h200(), &point, &g));
        assert_int_equal(g.blocks, rows[i].blocks);
        assert_int_equal(g.block, rows[i].block);
        assert_int_equal(g.threads, rows[i].blocks * rows[i].block);
    }
}

static void what_an_sm_cannot_hold_is_said(void **state)
{
    static const struct {
        const char *gpu, *axes, *reason;
    } rows[] = {
        {"h200", "cap=128 warps=17", "does not have registers"}, /* four a partition */
        {"h200", "cap=64 warps=34", "does not have registers"},  /* eight a partition, in two blocks */
        {"h200", "cap=40 warps=64", "does not have registers"},
        {"h200", "cap=32 warps=33", "must be even"},
        {"rtx4090", "cap=32 warps=64", "holds fewer warps"},
        {"h200", "cap=32 warps=64", NULL},
        {"h200", "cap=64 warps=32", NULL},
        {"h200", "cap=128 warps=16", NULL},
        {"rtx4090", "cap=32 warps=48", NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_point point = point_of(rows[i].axes);
        const char *reason = ub_micro_spill.supported(ub_gpu_find(rows[i].gpu), &point);
        assert_int_equal(reason == NULL, rows[i].reason == NULL);
        if (reason)
            assert_non_null(strstr(reason, rows[i].reason));
        struct ub_footprint footprint = {.count = 9};
        ub_micro_spill.footprint(ub_gpu_find(rows[i].gpu), &point, &footprint);
        assert_int_equal(footprint.count, reason ? 0 : 2);
    }
}

/* ---- counters --------------------------------------------------------------------------- */

/* A thread of 64 registers stores 71 values before the trips or after, 53 in each trip,
 * and four of the first move 8 bytes; 132 x 16 warps. */
static void local_accesses_of_one_thread_times_warps(void **state)
{
    static const struct {
        const char *axes;
        uint64_t loads, stores, load_sectors, store_sectors;
    } rows[] = {
        {"cap=64 warps=16 trips=8", 1045440, 1045440, 4215552, 4215552},
        {"cap=64 warps=16 trips=9", 1157376, 1157376, 4663296, 4663296},
        {"cap=32 warps=64 trips=1", 1613568, 1613568, 6589440, 6589440},
        {"cap=32 use=read warps=64 trips=1", 1537536, 1537536, 6217728, 6217728},
        {"cap=100 warps=16 trips=1", 14784, 14784, 118272, 118272},
        {"cap=100 warps=16 trips=1024", 14784, 14784, 118272, 118272},
        {"cap=103 warps=16 trips=1024", 0, 0, 0, 0},
        {"cap=104 use=read warps=1 trips=10", 132 * 64, 132 * 37, 4 * 132 * 64, 4 * 132 * 37},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_law law = law_of(h200(), rows[i].axes);
        assert_int_equal(counter(&law, "local_loads"), rows[i].loads);
        assert_int_equal(counter(&law, "local_stores"), rows[i].stores);
        assert_int_equal(counter(&law, "local_load_sectors"), rows[i].load_sectors);
        assert_int_equal(counter(&law, "local_store_sectors"), rows[i].store_sectors);
        assert_int_equal(counter_of(&law, "local_loads")->class_, UB_SASS);
        assert_true(law.has_code);
        /* All that is stored goes to L2, and with it four sectors of results a warp. */
        assert_int_equal(counter(&law, "l2_write_sectors"),
                         rows[i].store_sectors + 4 * counter(&law, "warps_launched"));
        assert_true(counter(&law, "l1_local_load_hits") <= rows[i].load_sectors);
    }
}

static void with_registers_enough_nothing_is_spilled_on_any_card(void **state)
{
    static const char *const points[] = {"cap=128 warps=8 trips=3", "cap=128 use=read warps=8 trips=3"};
    static const char *const keys[] = {"local_loads", "local_stores", "local_load_sectors", "local_store_sectors"};
    (void)state;
    for (size_t card = 0; card < ub_gpu_count(); card++)
        for (size_t i = 0; i < COUNT(points); i++) {
            const struct ub_law law = law_of(ub_gpu_at(card), points[i]);
            for (size_t k = 0; k < COUNT(keys); k++) {
                assert_int_equal(counter(&law, keys[k]), 0);
                assert_int_equal(counter_of(&law, keys[k])->class_, UB_STRUCTURAL);
            }
            assert_false(law.has_code);
            const uint64_t threads = (uint64_t)ub_gpu_at(card)->sms * 8 * 32;
            assert_int_equal(counter(&law, "ffma"), threads * 96 * 3);
        }
}

static void what_another_generation_spills_is_not_known(void **state)
{
    (void)state;
    const struct ub_law law = law_of(ub_gpu_find("a100"), "cap=64 warps=16");
    assert_false(counter_of(&law, "local_loads")->known);
    assert_false(counter_of(&law, "l2_write_sectors")->known);
    assert_non_null(counter_of(&law, "local_loads")->reason);
    assert_int_equal(counter(&law, "ffma"), UINT64_C(108) * 16 * 32 * 96 * 16);
    assert_true(isnan(law.time_ns) && law.tolerance == 0);
    assert_non_null(law.note);
}

/* The fewer registers, the more is spilled; and never more registers than there may be. */
static void each_cap_spills_more_than_the_next(void **state)
{
    (void)state;
    for (int use = 0; use < SPILL_USES; use++) {
        uint64_t before = UINT64_MAX;
        int frame = INT32_MAX;
        for (int cap = 0; cap < SPILL_CAPS; cap++) {
            char axes[64];
            snprintf(axes, sizeof axes, "cap=%s use=%s warps=8", ub_micro_spill.axes[SPILL_CAP].words[cap],
                     ub_micro_spill.axes[SPILL_USE].words[use]);
            const struct ub_law law = law_of(h200(), axes);
            const struct ub_point point = point_of(axes);
            struct spill_geometry g;
            assert_null(spill_resolve(h200(), &point, &g));
            assert_int_equal(g.cap, atoi(ub_micro_spill.axes[SPILL_CAP].words[cap]));
            const struct spill_code *code = spill_code(h200(), &g);
            assert_true(counter(&law, "local_loads") <= before && (int)code->local_bytes <= frame);
            before = counter(&law, "local_loads");
            frame = (int)code->local_bytes;
            assert_true(!law.has_code || law.code_registers <= (int)g.cap);
            assert_int_equal(frame % 8, 0);
            if (use == SPILL_CHANGED) /* a value that has no register is loaded and stored */
                assert_int_equal(code->loads, code->stores);
        }
    }
}

/* ---- time ---------------------------------------------------------------------------------- */

static void without_spills_instructions_decide(void **state)
{
    (void)state;
    const struct ub_law law = law_of(h200(), "cap=128 warps=16");
    /* 96 multiply-adds and 4 others, four warps a scheduler */
    assert_true(fabs(term(&law, "issue") * 1.98 / 400 - 1) < 1e-9);
    assert_string_equal(law.bottleneck, "issue");
    assert_true(law.time_ns >= term(&law, "issue") && law.time_ns < 1.1 * term(&law, "issue"));
    assert_true(term(&law, "l2_stores") == 0 && term(&law, "dram") == 0 && term(&law, "store_port") == 0);
    assert_string_equal(law.level, "none");
}

static void stores_go_to_l2_even_where_loads_hit(void **state)
{
    (void)state;
    const struct ub_law law = law_of(h200(), "cap=96 warps=16");
    assert_string_equal(law.bottleneck, "l2_stores");
    assert_string_equal(law.level, "l1");
    assert_true(counter(&law, "l1_local_load_hits") * 100 > counter(&law, "local_load_sectors") * 99);
    /* 8 stores of 16 warps: four cycles each on the way to L2 */
    assert_true(fabs(term(&law, "store_port") * 1.98 / (4 * 8 * 16) - 1) < 1e-9);
}

static void more_warps_take_longer_and_hit_less(void **state)
{
    static const char *const uses[] = {"changed", "read"};
    (void)state;
    for (size_t use = 0; use < COUNT(uses); use++) {
        double time_ns = 0, hit_rate = 1;
        for (int warps = 2; warps <= 64; warps += 2) {
            char axes[64];
            snprintf(axes, sizeof axes, "cap=32 use=%s warps=%d", uses[use], warps);
            const struct ub_law law = law_of(h200(), axes);
            const double rate =
                (double)counter(&law, "l1_local_load_hits") / (double)counter(&law, "local_load_sectors");
            assert_true(law.time_ns > time_ns && rate < hit_rate);
            assert_int_equal(law.tolerance > 0, warps >= 8);
            assert_int_equal(law.note != NULL, warps < 8);
            time_ns = law.time_ns;
            hit_rate = rate;
        }
        assert_true(hit_rate < 0.4);
    }
}

static void every_sweep_for_every_card(void **state)
{
    (void)state;
    const struct ub_entry entry = {.micro = &ub_micro_spill};
    for (size_t i = 0; i < ub_gpu_count(); i++) {
        struct ub_plan plan = {0};
        struct ub_error err = {0};
        if (!ub_plan_add(&plan, &entry, ub_gpu_at(i), UB_SUITE_FULL, NULL, 0, true, false, &err))
            fail_msg("%s", err.text);
        size_t runs = 0;
        for (size_t n = 0; n < plan.count; n++) {
            if (plan.points[n].skip)
                continue;
            struct ub_constants constants;
            struct ub_law law;
            ub_gpu_constants(ub_gpu_at(i), &constants);
            spill_law(ub_gpu_at(i), &constants, &plan.points[n].point, &law);
            assert_true(counter(&law, "ffma") > 0);
            assert_int_equal(counter(&law, "ffma") % (32 * 96), 0);
            runs++;
        }
        assert_true(runs > plan.count / 3);
        ub_plan_free(&plan);
    }
}

/* ---- answers, metrics ---------------------------------------------------------------------- */

static uint32_t bits_of(double value)
{
    const float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return bits;
}

/* What a thread leaves behind, step by step. */
static uint32_t left_by(const struct spill_geometry *g, uint32_t thread)
{
    double values[96], sums[8];
    uint32_t all = 0;
    for (int i = 0; i < 96; i++)
        values[i] = thread + (uint32_t)i;
    for (int i = 0; i < 8; i++)
        sums[i] = i;
    for (uint32_t trip = 0; trip < g->trips; trip++)
        for (int i = 0; i < 96; i++)
            if (g->use == SPILL_READ)
                sums[i % 8] += values[i];
            else
                values[i]++;
    for (int i = 0; i < (g->use == SPILL_READ ? 8 : 96); i++)
        all = all * 3 + bits_of(g->use == SPILL_READ ? sums[i] : values[i]);
    return all;
}

static void answers_are_checked(void **state)
{
    static const char *const points[] = {"cap=64 warps=1 trips=1", "cap=32 use=read warps=3 trips=7",
                                         "cap=32 warps=34 trips=5", "cap=32 use=read warps=64 trips=1024"};
    struct ub_gpu small = *h200();
    (void)state;
    small.sms = 2;
    for (size_t i = 0; i < COUNT(points); i++) {
        const struct ub_point point = point_of(points[i]);
        struct ub_point same;
        struct ub_error err = {0};
        struct spill_geometry g;
        assert_true(ub_micro_spill.small(&small, &point, &same));
        assert_memory_equal(&same, &point, sizeof point);
        assert_null(spill_resolve(&small, &same, &g));
        struct ub_footprint footprint;
        ub_micro_spill.footprint(&small, &same, &footprint);
        assert_int_equal(footprint.count, 2);
        assert_true(footprint.buffers[0].output && footprint.buffers[0].size_bytes >= 4 * g.threads);
        assert_int_equal(footprint.buffers[1].size_bytes, 4 * 96 * g.block);
        uint32_t *out = calloc(1, footprint.buffers[0].size_bytes);
        assert_non_null(out);
        for (uint32_t thread = 0; thread < g.threads; thread++)
            out[thread] = left_by(&g, thread % g.block);
        struct ub_buffers host = {
            .count = 2, .pointers = {out, NULL}, .sizes_bytes = {footprint.buffers[0].size_bytes, 0}};
        if (!ub_micro_spill.verify(&small, &same, &host, 1, 0, &err))
            fail_msg("%s: %s", points[i], err.text);
        out[g.threads - 1] ^= 1;
        assert_false(ub_micro_spill.verify(&small, &same, &host, 1, 0, &err));
        assert_int_equal(err.status, UB_WRONG_ANSWER);
        host.sizes_bytes[0] = 4 * g.threads - 1;
        assert_false(ub_micro_spill.verify(&small, &same, &host, 1, 0, &err));
        free(out);
    }
}

/* A measured point takes the frame that the driver tells, a predicted one the law's. */
static void frames_are_the_drivers_or_the_laws(void **state)
{
    (void)state;
    struct ub_constants constants;
    ub_gpu_constants(h200(), &constants);
    const struct ub_point point = point_of("cap=64 warps=16 trips=10");
    const char *const keys[] = {"local_loads", "local_stores", "local_load_sectors", "l1_local_load_hits"};
    const uint64_t values[] = {2112 * 30, 2112 * 50, 1000, 250};
    const struct ub_static attributes = {.local_bytes = 1000};
    struct ub_facts facts = {.gpu = h200(),
                             .constants = &constants,
                             .point = &point,
                             .time_ns = 1000,
                             .counter_count = COUNT(keys),
                             .counter_keys = keys,
                             .counter_values = values,
                             .attributes = &attributes};
    struct ub_metrics metrics;
    ub_micro_spill.metrics(&facts, &metrics);
    assert_true(metric(&metrics, "local_bytes") == 1000);
    assert_true(metric(&metrics, "spilled_bytes") == 1000 * 32 * 16);
    assert_true(metric(&metrics, "local_loads_per_trip") == 3 && metric(&metrics, "local_stores_per_trip") == 5);
    assert_true(metric(&metrics, "local_instructions") == 8 && metric(&metrics, "l1_hit_rate") == 0.25);
    /* 1980 cycles for 16 warps, of which each needs 24 of the lanes */
    assert_true(fabs(metric(&metrics, "cycles_per_trip") - 1980.0 / 16) < 1e-9);
    assert_true(fabs(metric(&metrics, "peak_share") - 16 * 24 / 1980.0) < 1e-12);
    facts.attributes = NULL;
    ub_micro_spill.metrics(&facts, &metrics);
    assert_true(isnan(metric(&metrics, "local_bytes")));
    facts.predicted = true;
    ub_micro_spill.metrics(&facts, &metrics);
    assert_true(metric(&metrics, "local_bytes") == 288);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warps_are_one_block_or_two),
        cmocka_unit_test(what_an_sm_cannot_hold_is_said),
        cmocka_unit_test(local_accesses_of_one_thread_times_warps),
        cmocka_unit_test(with_registers_enough_nothing_is_spilled_on_any_card),
        cmocka_unit_test(what_another_generation_spills_is_not_known),
        cmocka_unit_test(each_cap_spills_more_than_the_next),
        cmocka_unit_test(without_spills_instructions_decide),
        cmocka_unit_test(stores_go_to_l2_even_where_loads_hit),
        cmocka_unit_test(more_warps_take_longer_and_hit_less),
        cmocka_unit_test(every_sweep_for_every_card),
        cmocka_unit_test(answers_are_checked),
        cmocka_unit_test(frames_are_the_drivers_or_the_laws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
