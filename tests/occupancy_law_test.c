/* SPDX-License-Identifier: MIT
 *
 * The rule `occupancy` against closed forms at every point of its sweeps and for every
 * card of the table: what is launched, what is counted, how long it takes; that its
 * walk loads every element once; and its answers against a host that computes them
 * step by step. */
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
#include "micro/occupancy/access.h"
#include "micro/occupancy/rule.h"
#include "tests/rule_fixture.h"

extern const struct ub_micro ub_micro_occupancy;

static struct ub_point point_of(const char *axes)
{
    return parse_point(&ub_micro_occupancy, axes);
}

static struct occupancy_geometry geometry_of(const struct ub_gpu *gpu, const char *axes)
{
    const struct ub_point point = point_of(axes);
    struct occupancy_geometry g;
    const char *reason = occupancy_resolve(gpu, &point, &g);
    if (reason)
        fail_msg("%s: %s", axes, reason);
    return g;
}

static struct ub_law law_of(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct ub_constants constants;
    struct ub_law law;
    ub_gpu_constants(gpu, &constants);
    occupancy_law(gpu, &constants, point, &law);
    return law;
}

/* ---- what is launched --------------------------------------------------------------- */

static void resident_chooses_shared_memory_for_just_so_many(void **state)
{
    (void)state;
    for (int resident = 1; resident <= 32; resident++) {
        char axes[64];
        snprintf(axes, sizeof axes, "block=64 resident=%d", resident);
        const struct occupancy_geometry g = geometry_of(h200(), axes);
        assert_int_equal(g.resident, resident);
        assert_int_equal(g.blocks, 132 * resident);
        assert_int_equal(g.warps, 132 * resident * 2);
        /* one more does not fit: 228 KiB, 1 KiB of each block the driver's, pieces of 128 */
        const uint32_t of_block = g.shared_bytes + 1024;
        assert_int_equal(of_block % 128, 0);
        assert_true(of_block * (uint32_t)resident <= 233472 && of_block * (uint32_t)(resident + 1) > 233472);
    }
}

static void registers_leave_the_warps_of_the_table(void **state)
{
    static const struct {
        const char *registers;
        int blocks; /* of 256 threads */
    } rows[] = {{"32", 8}, {"40", 6}, {"48", 5}, {"64", 4}, {"72", 3}, {"96", 2}, {"128", 2}, {"168", 1}, {"255", 1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char axes[64];
        snprintf(axes, sizeof axes, "registers=%s", rows[i].registers);
        assert_int_equal(geometry_of(h200(), axes).resident, rows[i].blocks);
        assert_string_equal(ub_micro_occupancy.axes[OCCUPANCY_REGISTERS].words[i], rows[i].registers);
    }
}

static void contradictions_are_said(void **state)
{
    static const struct {
        const char *axes, *reason;
    } rows[] = {
        {"resident=2 shared=1024", "needs shared=0"},
        {"resident=17 block=128", "an SM hold just so many"},
        {"resident=8 registers=64 block=512", "an SM hold just so many"},
        {"block=48", "a multiple of 32"},
        {"optin=no ilp=2", "optin=no needs"},
        {"optin=no resident=2", "needs optin=yes"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct ub_point point = point_of(rows[i].axes);
        const char *reason = ub_micro_occupancy.supported(h200(), &point);
        assert_non_null(reason);
        assert_non_null(strstr(reason, rows[i].reason));
    }
}

static void refusals_are_those_of_the_card(void **state)
{
    static const struct {
        const char *axes, *error;
    } rows[] = {
        {"block=1024", NULL},
        {"block=1056", "cudaErrorInvalidValue"},
        {"block=1024 registers=64", NULL},
        {"block=896 registers=72", NULL},
        {"block=1024 registers=72", "cudaErrorLaunchOutOfResources"},
        {"block=1056 registers=72", "cudaErrorInvalidValue"},
        {"shared=227Ki", NULL},
        {"shared=232449", "cudaErrorInvalidValue"},
        {"shared=48Ki optin=no", NULL},
        {"shared=49153 optin=no", "cudaErrorInvalidValue"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct ub_point point = point_of(rows[i].axes);
        assert_null(ub_micro_occupancy.supported(h200(), &point));
        const char *error = ub_micro_occupancy.refusal(h200(), &point);
        assert_string_equal(error ? error : "", rows[i].error ? rows[i].error : "");
        const struct ub_law law = law_of(h200(), &point);
        assert_int_equal(law.counter_count == 0, error != NULL);
        assert_int_equal(isnan(law.time_ns), error != NULL);
    }
}

/* ---- counters --------------------------------------------------------------------------- */

static void work_does_not_depend_on_warps(void **state)
{
    (void)state;
    for (int resident = 1; resident <= 16; resident++) {
        char axes[96];
        snprintf(axes, sizeof axes, "work=compute ilp=4 block=128 resident=%d", resident);
        struct ub_point point = point_of(axes);
        struct ub_law law = law_of(h200(), &point);
        assert_int_equal(counter(&law, "ffma"), UINT64_C(132) * 3072 * 4096 * 32);
        assert_int_equal(counter(&law, "global_load_requests"), 0);
        assert_int_equal(counter(&law, "blocks_launched"), 132 * resident);
        assert_int_equal(counter(&law, "warps_launched"), 132 * resident * 4);
        assert_int_equal(counter(&law, "global_atomics"), 132 * 3072 + 132 * resident * 4);
        assert_int_equal(counter(&law, "local_loads") + counter(&law, "local_stores"), 0);
        snprintf(axes, sizeof axes, "work=latency ilp=4 block=128 resident=%d", resident);
        point = point_of(axes);
        law = law_of(h200(), &point);
        /* 16 MiB an SM in lines of 128 bytes, four sectors each */
        assert_int_equal(counter(&law, "global_load_requests"), UINT64_C(132) * (16 << 20) / 128);
        assert_int_equal(counter(&law, "global_load_sectors"), UINT64_C(132) * (16 << 20) / 32);
        assert_int_equal(counter(&law, "ffma"), 0);
    }
}

static void every_element_is_loaded_once(void **state)
{
    static const struct {
        uint32_t ilp, tickets;
    } cases[] = {{1, 1}, {1, 63}, {2, 64}, {4, 65}, {8, 264}, {1, 200}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint32_t ilp = cases[i].ilp, tickets = cases[i].tickets;
        const struct occupancy_geometry g = {.ilp = ilp, .tickets = tickets};
        const uint64_t elements = occupancy_elements(&g);
        unsigned char *seen = calloc(elements, 1);
        assert_non_null(seen);
        for (uint32_t ticket = 0; ticket < tickets; ticket++)
            for (uint32_t lane = 0; lane < 32; lane++) {
                uint64_t element = occupancy_first(ilp, ticket, lane);
                assert_int_equal((element - lane) % 32, 0); /* whole lines */
                for (uint32_t step = 0; step < OCCUPANCY_LOADS / ilp; step++) {
                    for (uint32_t c = 0; c < ilp; c++) {
                        assert_true(element + c * 32 < elements);
                        assert_int_equal(seen[element + c * 32]++, 0);
                    }
                    element += occupancy_step(ilp, ticket, tickets);
                }
            }
        for (uint64_t e = 0; e < elements; e++)
            assert_int_equal(seen[e], 1);
        free(seen);
    }
}

/* ---- time ---------------------------------------------------------------------------------- */

/* What a card does of its peak: warps and chains count the same, until the lanes are full.
 * A round of 1024 multiply-adds costs a warp 76 cycles more, which other warps hide. */
static void warps_times_ilp_fill_the_lanes(void **state)
{
    static const struct {
        const char *axes;
        double share;
    } rows[] = {
        {"block=128 resident=1 ilp=1", 1024.0 / (4096 + 76)},
        {"block=128 resident=1 ilp=2", 1024.0 / (2048 + 76)},
        {"block=128 resident=1 ilp=4", 1024.0 / (1024 + 76)},
        {"block=128 resident=1 ilp=8", 1024.0 / (1024 + 76)},
        {"block=128 resident=2 ilp=1", 2048.0 / (4096 + 76)},
        {"block=128 resident=2 ilp=8", 1},
        {"block=128 resident=3 ilp=1", 3072.0 / (4096 + 76)},
        {"block=128 resident=4 ilp=1", 4096.0 / (4096 + 76)},
        {"block=128 resident=5 ilp=1", 1},
        {"block=128 resident=16 ilp=8", 1},
        {"block=32 resident=1 ilp=1", 256.0 / (4096 + 76)}, /* one of four schedulers, one warp */
        {"block=96 resident=1 ilp=8", 0.75 * 1024 / (1024 + 76)},
        {"block=32 resident=5 ilp=2", (2048.0 + 3 * 1024) / 4 / (2048 + 76)},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct ub_point point = point_of(rows[i].axes);
        const struct ub_law law = law_of(h200(), &point);
        const double full_ns = 3072.0 * 4096 * 32 / 128 / 1.98;
        const double expected_ns = full_ns / rows[i].share + constant(h200(), "launch_floor_ns");
        if (fabs(law.time_ns / expected_ns - 1) > 1e-9)
            fail_msg("%s: %g ns, expected %g", rows[i].axes, law.time_ns, expected_ns);
        assert_true(law.tolerance > 0);
    }
}

/* 64 lanes an SM: a multiply-add keeps its scheduler's busy for two cycles. */
static void half_as_many_lanes_are_full_with_half_as_many_warps(void **state)
{
    (void)state;
    const struct ub_gpu *a100 = ub_gpu_find("a100");
    const struct ub_point one = point_of("block=128 resident=1 ilp=1"), two = point_of("block=128 resident=2 ilp=1");
    const double floor_ns = constant(a100, "launch_floor_ns"), full_ns = 3072.0 * 4096 * 32 / 64 / 1.41;
    assert_true(fabs((law_of(a100, &one).time_ns - floor_ns) / full_ns - (4096.0 + 76) / 2048) < 1e-9);
    assert_true(fabs((law_of(a100, &two).time_ns - floor_ns) / full_ns - (4096.0 + 76) / 4096) < 1e-9);
}

/* Steps x wait where few wait; bytes / ceiling where many do; neither is ever beaten. */
static void loads_wait_or_fill_dram(void **state)
{
    (void)state;
    const double ceiling = constant(h200(), "dram_load_ceiling"), wait_ns = constant(h200(), "load_wait_ns");
    double before = INFINITY;
    for (int resident = 1; resident <= 16; resident++) {
        char axes[96];
        snprintf(axes, sizeof axes, "work=latency ilp=2 block=128 resident=%d", resident);
        const struct ub_point point = point_of(axes);
        const struct ub_law law = law_of(h200(), &point);
        const double time_ns = law.time_ns - constant(h200(), "launch_floor_ns");
        const double waits_ns = 2048.0 * 32 / (4 * resident) * (wait_ns + 9.5);
        const double bytes_ns = 132.0 * (16 << 20) / ceiling * 1e9;
        assert_true(time_ns >= waits_ns && time_ns >= bytes_ns && time_ns < before);
        assert_true(time_ns < waits_ns + bytes_ns);
        assert_string_equal(law.bottleneck, waits_ns > bytes_ns ? "wait" : "dram");
        before = time_ns;
    }
}

/* An H200: bandwidth in TB/s. */
static void what_an_h200_did(void **state)
{
    static const struct {
        const char *axes;
        double bandwidth_tbps;
    } rows[] = {
        {"resident=1 ilp=1", 0.169},  {"resident=4 ilp=1", 0.688}, {"resident=8 ilp=1", 1.332},
        {"resident=16 ilp=1", 2.452}, {"resident=1 ilp=4", 0.644}, {"resident=4 ilp=4", 2.377},
        {"resident=8 ilp=4", 3.967},  {"resident=1 ilp=8", 1.170}, {"resident=4 ilp=8", 3.745},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char axes[96];
        snprintf(axes, sizeof axes, "work=latency block=128 %s", rows[i].axes);
        const struct ub_point point = point_of(axes);
        const struct ub_law law = law_of(h200(), &point);
        const double tbps = 132.0 * (16 << 20) / law.time_ns * 1e-3;
        if (fabs(tbps / rows[i].bandwidth_tbps - 1) > 0.05)
            fail_msg("%s: %g TB/s, an H200 did %g", rows[i].axes, tbps, rows[i].bandwidth_tbps);
    }
}

/* ---- every sweep, every card -------------------------------------------------------------------- */

static void check_point(const struct ub_gpu *gpu, const struct ub_planned *planned)
{
    if (planned->skip || ub_micro_occupancy.refusal(gpu, &planned->point))
        return;
    const struct ub_law law = law_of(gpu, &planned->point);
    struct ub_occupancy o;
    struct occupancy_geometry g;
    occupancy_limits(gpu, &planned->point, &o);
    assert_null(occupancy_resolve(gpu, &planned->point, &g));
    assert_true(o.blocks > 0 && o.warps <= gpu->warps_per_sm && o.blocks <= gpu->blocks_per_sm);
    assert_int_equal(counter(&law, "blocks_launched"), (uint64_t)gpu->sms * (unsigned)o.blocks);
    assert_int_equal(counter(&law, "warps_launched"), (uint64_t)gpu->sms * (unsigned)o.warps);
    if (g.work == OCCUPANCY_COMPUTE)
        assert_true(isfinite(law.time_ns) && law.time_ns > 1e6);
    /* the ratio of the two is the occupancy, whatever the time is */
    if (isfinite(law.time_ns)) {
        const double ratio = (double)counter(&law, "warps_active") / (double)counter(&law, "sm_cycles_active");
        assert_true(fabs(ratio / o.warps - 1) < 1e-6);
    }
}

static void every_sweep_for_every_card(void **state)
{
    (void)state;
    const struct ub_entry entry = {.micro = &ub_micro_occupancy};
    for (size_t i = 0; i < ub_gpu_count(); i++) {
        struct ub_plan plan = {0};
        struct ub_error err = {0};
        if (!ub_plan_add(&plan, &entry, ub_gpu_at(i), UB_SUITE_FULL, NULL, 0, true, false, &err))
            fail_msg("%s", err.text);
        size_t runs = 0;
        for (size_t n = 0; n < plan.count; n++) {
            check_point(ub_gpu_at(i), &plan.points[n]);
            runs += plan.points[n].skip == NULL;
        }
        assert_true(runs > plan.count / 3);
        ub_plan_free(&plan);
    }
}

/* ---- answers -------------------------------------------------------------------------------------- */

struct instance {
    unsigned char sink[OCCUPANCY_SINK_BYTES], counter[OCCUPANCY_COUNTER_BYTES];
    uint32_t *source;
    struct ub_buffers buffers;
    struct ub_gpu gpu;
    struct ub_point point;
    struct occupancy_geometry g;
};

static void open_instance(struct instance *instance, const char *axes)
{
    const struct ub_point point = point_of(axes);
    *instance = (struct instance){.gpu = *h200()};
    instance->gpu.sms = 3;
    assert_true(occupancy_small(&instance->gpu, &point, &instance->point));
    assert_null(occupancy_resolve(&instance->gpu, &instance->point, &instance->g));
    const uint64_t elements = occupancy_elements(&instance->g);
    instance->source = malloc(elements * sizeof *instance->source);
    assert_non_null(instance->source);
    for (uint64_t e = 0; e < elements; e++)
        instance->source[e] = (uint32_t)(e * 2654435761u) & 0x7FFFFFFF;
    instance->buffers = (struct ub_buffers){
        .count = instance->g.work == OCCUPANCY_LATENCY ? 3 : 2,
        .pointers = {instance->sink, instance->counter, instance->source},
        .sizes_bytes = {OCCUPANCY_SINK_BYTES, OCCUPANCY_COUNTER_BYTES, elements * sizeof *instance->source}};
}

/* As the kernels do it: warps take tickets in turn. */
static uint64_t run_instance(const struct instance *instance)
{
    const struct occupancy_geometry *g = &instance->g;
    uint64_t sum = 0;
    for (uint32_t warp = 0; warp < g->warps; warp++)
        for (uint32_t lane = 0; lane < 32; lane++)
            for (uint32_t c = 0; c < g->ilp; c++) {
                float chain = (float)(lane + c);
                for (uint32_t ticket = warp; ticket < g->tickets && g->work == OCCUPANCY_COMPUTE; ticket += g->warps)
                    for (uint32_t step = 0; step < OCCUPANCY_ROUNDS * OCCUPANCY_FMAS / g->ilp; step++)
                        chain = fmaf(chain, 1, 1);
                sum += g->work == OCCUPANCY_COMPUTE ? (uint64_t)chain : 0;
                for (uint32_t ticket = warp; ticket < g->tickets && g->work == OCCUPANCY_LATENCY; ticket += g->warps) {
                    uint64_t e = occupancy_first(g->ilp, ticket, lane) + c * 32;
                    for (uint32_t step = 0; step < OCCUPANCY_LOADS / g->ilp; step++) {
                        sum += (uint64_t)instance->source[e] * (uint32_t)(2 * e + 1);
                        e += occupancy_step(g->ilp, ticket, g->tickets);
                    }
                }
            }
    return sum;
}

static void answers_are_checked(void **state)
{
    static const char *const points[] = {"work=compute ilp=1 block=64 resident=1", "work=compute ilp=8 block=128",
                                         "work=latency ilp=1 block=64 resident=2", "work=latency ilp=4 registers=255"};
    (void)state;
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        struct instance instance;
        struct ub_error err = {0};
        open_instance(&instance, points[i]);
        const uint64_t sum = run_instance(&instance);
        if (!occupancy_verify(&instance.gpu, &instance.point, &instance.buffers, 1, sum, &err))
            fail_msg("%s: %s", points[i], err.text);
        assert_false(occupancy_verify(&instance.gpu, &instance.point, &instance.buffers, 1, sum + 1, &err));
        assert_int_equal(err.status, UB_WRONG_ANSWER);
        instance.counter[0] = 1; /* the launch did not put it back */
        assert_false(occupancy_verify(&instance.gpu, &instance.point, &instance.buffers, 1, sum, &err));
        instance.counter[0] = 0;
        instance.sink[9] = 1;
        assert_false(occupancy_verify(&instance.gpu, &instance.point, &instance.buffers, 1, sum, &err));
        free(instance.source);
    }
}

/* ---- metrics ----------------------------------------------------------------------------------------- */

/* A measured point takes what the driver says of the kernel, a predicted one what the law
 * says, and neither the other's. */
static void residents_are_the_drivers_or_the_laws(void **state)
{
    (void)state;
    struct ub_constants constants;
    ub_gpu_constants(h200(), &constants);
    const struct ub_point point = point_of("registers=64");
    const char *const keys[] = {"warps_active", "sm_cycles_active"};
    const uint64_t values[] = {3100, 100};
    const struct ub_static attributes = {.resident_blocks = 3};
    struct ub_facts facts = {.gpu = h200(),
                             .constants = &constants,
                             .point = &point,
                             .time_ns = 1e6,
                             .counter_count = 2,
                             .counter_keys = keys,
                             .counter_values = values,
                             .attributes = &attributes};
    struct ub_metrics metrics;
    ub_micro_occupancy.metrics(&facts, &metrics);
    assert_true(metric(&metrics, "resident_blocks") == 3);
    assert_true(metric(&metrics, "theoretical_occupancy") == 3 * 8 / 64.0);
    assert_true(fabs(metric(&metrics, "achieved_occupancy") - 31 / 64.0) < 1e-12);
    facts.attributes = NULL;
    ub_micro_occupancy.metrics(&facts, &metrics);
    assert_true(isnan(metric(&metrics, "resident_blocks")));
    facts.predicted = true;
    ub_micro_occupancy.metrics(&facts, &metrics);
    assert_true(metric(&metrics, "resident_blocks") == 4);
    /* 132 x 3072 x 4096 x 32 multiply-adds in a millisecond */
    assert_true(fabs(metric(&metrics, "flops") / (2 * 132.0 * 3072 * 4096 * 32 * 1e3) - 1) < 1e-12);
    assert_true(isnan(metric(&metrics, "useful_bandwidth")) && isnan(metric(&metrics, "wait_ns")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resident_chooses_shared_memory_for_just_so_many),
        cmocka_unit_test(registers_leave_the_warps_of_the_table),
        cmocka_unit_test(contradictions_are_said),
        cmocka_unit_test(refusals_are_those_of_the_card),
        cmocka_unit_test(work_does_not_depend_on_warps),
        cmocka_unit_test(every_element_is_loaded_once),
        cmocka_unit_test(warps_times_ilp_fill_the_lanes),
        cmocka_unit_test(half_as_many_lanes_are_full_with_half_as_many_warps),
        cmocka_unit_test(loads_wait_or_fill_dram),
        cmocka_unit_test(what_an_h200_did),
        cmocka_unit_test(every_sweep_for_every_card),
        cmocka_unit_test(answers_are_checked),
        cmocka_unit_test(residents_are_the_drivers_or_the_laws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
