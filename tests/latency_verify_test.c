/* SPDX-License-Identifier: MIT
 *
 * The host's check of `latency`: accepts what the kernels should leave (emulated here
 * through access.h, as kernel.cu does it) and refuses everything else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "micro/latency/access.h"
#include "micro/latency/rule.h"

extern const struct ub_micro ub_micro_latency;

static const uint64_t device_base = UINT64_C(0x7f0012340000); /* of the chain, as the device sees it */

static const struct ub_gpu *h200(void)
{
    const struct ub_gpu *gpu = ub_gpu_find("h200");
    assert_non_null(gpu);
    return gpu;
}

struct run {
    struct ub_point point;
    struct latency_geometry g;
    struct ub_buffers buffers;
};

static uint64_t *node(const struct run *run, uint64_t unit)
{
    const uint64_t apart = latency_in_buffer(&run->g) ? run->g.unit_bytes : LATENCY_NODE_BYTES;
    return (uint64_t *)((unsigned char *)run->buffers.pointers[1] + unit * apart);
}

static void launch(struct run *run, uint64_t end)
{
    const struct latency_geometry *g = &run->g;
    uint64_t *out = run->buffers.pointers[0];
    for (uint64_t i = 0; i < g->cycle && latency_has_chain(g); i++) {
        uint64_t next = latency_next(g, i);
        if (latency_in_buffer(g))
            next = (g->level == LATENCY_CONSTANT ? 0 : device_base) + next * g->unit_bytes;
        node(run, latency_unit(g, i))[0] = next;
        node(run, latency_unit(g, i))[1] = i;
    }
    out[LATENCY_OUT_END] = latency_has_chain(g) ? latency_unit(g, latency_end(g, 1)) : end;
    out[LATENCY_OUT_SM] = g->sm;
}

/* `end`: what an operation's chain comes to. */
static void start(struct run *run, int64_t op, int64_t level, int64_t footprint, uint64_t end)
{
    struct ub_footprint needed;
    *run = (struct run){0};
    run->point.values[LATENCY_OP] = op;
    run->point.values[LATENCY_LEVEL] = level;
    run->point.values[LATENCY_FOOTPRINT] = footprint;
    run->point.values[LATENCY_WAYS] = 1;
    run->point.values[LATENCY_SM] = 7;
    struct ub_point small;
    assert_true(ub_micro_latency.small(h200(), &run->point, &small));
    run->point = small;
    assert_null(latency_resolve(h200(), &run->point, &run->g));
    ub_micro_latency.footprint(h200(), &run->point, &needed);
    run->buffers.count = needed.count;
    for (size_t i = 0; i < needed.count; i++) {
        run->buffers.sizes_bytes[i] = needed.buffers[i].size_bytes;
        run->buffers.pointers[i] = malloc(needed.buffers[i].size_bytes);
        assert_non_null(run->buffers.pointers[i]);
        memset(run->buffers.pointers[i], 0xFF, needed.buffers[i].size_bytes);
    }
    launch(run, end);
}

static void release(struct run *run)
{
    for (size_t i = 0; i < run->buffers.count; i++)
        free(run->buffers.pointers[i]);
}

static bool verify(const struct run *run, struct ub_error *err)
{
    *err = (struct ub_error){0};
    return ub_micro_latency.verify(h200(), &run->point, &run->buffers, 1, 0, err);
}

static void accept(int64_t op, int64_t level, int64_t footprint, uint64_t end)
{
    struct run run;
    struct ub_error err;
    start(&run, op, level, footprint, end);
    if (!verify(&run, &err))
        fail_msg("op %d level %d: %s", (int)op, (int)level, err.text);
    release(&run);
}

/* Refuses the run as it is now, as a wrong answer that says `says`. */
static void refuse(struct run *run, const char *says)
{
    struct ub_error err;
    assert_false(verify(run, &err));
    assert_int_equal(err.status, UB_WRONG_ANSWER);
    if (!strstr(err.text, says))
        fail_msg("'%s' does not say '%s'", err.text, says);
    release(run);
}

static void what_the_kernels_leave_is_accepted(void **state)
{
    static const int64_t footprints[] = {128, 256, 4096, 384 * 128, 1000 * 128, INT64_C(8) << 20};
    (void)state;
    for (size_t i = 0; i < sizeof footprints / sizeof footprints[0]; i++) {
        accept(LATENCY_LOAD, LATENCY_L1, footprints[i], 0);
        accept(LATENCY_LOAD, LATENCY_L2, footprints[i], 0);
        accept(LATENCY_ATOMIC, LATENCY_L1, footprints[i], 0);
    }
    for (int64_t level = 0; level < LATENCY_LEVELS; level++)
        accept(LATENCY_LOAD, level, 0, 0);
    accept(LATENCY_LOAD, LATENCY_CONSTANT, 36 * 64, 0);
    accept(LATENCY_FMA, LATENCY_L1, 0, 192);
    accept(LATENCY_ADD, LATENCY_L1, 0, 192);
    accept(LATENCY_MAD, LATENCY_L1, 0, 192);
    accept(LATENCY_FP64, LATENCY_L1, 0, 192);
    accept(LATENCY_SHUFFLE, LATENCY_L1, 0, 16);
    accept(LATENCY_SHARED_ATOMIC, LATENCY_L1, 0, 0);
}

/* A card with little L2 walks over a part of the footprint. */
static void a_walk_over_some_of_the_lines_is_accepted(void **state)
{
    (void)state;
    struct ub_gpu gpu = *h200();
    struct run run;
    struct ub_error err;
    start(&run, LATENCY_LOAD, LATENCY_L1, 1 << 20, 0);
    gpu.l2_bytes = 1 << 18;
    assert_null(latency_resolve(&gpu, &run.point, &run.g));
    assert_int_equal(run.g.cycle, 4096);
    memset(run.buffers.pointers[1], 0xFF, run.buffers.sizes_bytes[1]);
    launch(&run, 0);
    if (!ub_micro_latency.verify(&gpu, &run.point, &run.buffers, 1, 0, &err))
        fail_msg("%s", err.text);
    release(&run);
}

/* dram is verified with fewer lines, by the kernel of l2. */
static void a_large_footprint_has_a_small_instance(void **state)
{
    (void)state;
    struct ub_point point = {{0}}, small;
    point.values[LATENCY_LEVEL] = LATENCY_DRAM;
    point.values[LATENCY_WAYS] = 1;
    assert_true(ub_micro_latency.small(h200(), &point, &small));
    assert_int_equal(small.values[LATENCY_LEVEL], LATENCY_L2);
    assert_int_equal(small.values[LATENCY_FOOTPRINT], 1 << 20);
    point.values[LATENCY_FOOTPRINT] = 4096; /* too small for dram */
    assert_false(ub_micro_latency.small(h200(), &point, &small));
}

static void wrong_ends_are_refused(void **state)
{
    (void)state;
    struct run run;
    start(&run, LATENCY_LOAD, LATENCY_L1, 4096, 0);
    uint64_t *out = run.buffers.pointers[0];
    out[LATENCY_OUT_END] ^= 1;
    refuse(&run, "the chain ended at");
    start(&run, LATENCY_FMA, LATENCY_L1, 0, 191);
    refuse(&run, "the host expects 192");
    start(&run, LATENCY_SHUFFLE, LATENCY_L1, 0, 15);
    refuse(&run, "the host expects 16");
}

static void the_wrong_sm_is_refused(void **state)
{
    (void)state;
    struct run run;
    start(&run, LATENCY_FMA, LATENCY_L1, 0, 192);
    ((uint64_t *)run.buffers.pointers[0])[LATENCY_OUT_SM] = 8;
    refuse(&run, "SM 8 did the work of SM 7");
    start(&run, LATENCY_FMA, LATENCY_L1, 0, 192);
    ((uint64_t *)run.buffers.pointers[0])[LATENCY_OUT_SM] = UINT64_MAX; /* poison */
    refuse(&run, "no block came to SM 7");
}

static void broken_walks_are_refused(void **state)
{
    (void)state;
    struct run run;
    for (int64_t level = 0; level < LATENCY_LEVELS; level++) {
        if (level == LATENCY_DRAM)
            continue;
        start(&run, LATENCY_LOAD, level, 4096, 0);
        node(&run, latency_unit(&run.g, 5))[0] = node(&run, latency_unit(&run.g, 9))[0]; /* a short cut */
        refuse(&run, "of the walk comes to unit");
        start(&run, LATENCY_LOAD, level, 4096, 0);
        node(&run, latency_unit(&run.g, 3))[0] += run.g.unit_bytes * run.g.units;
        refuse(&run, "leads out of the footprint");
        start(&run, LATENCY_LOAD, level, 4096, 0);
        node(&run, latency_unit(&run.g, 0))[1] = UINT64_MAX; /* never laid */
        refuse(&run, "no first node");
    }
    start(&run, LATENCY_LOAD, LATENCY_L1, 4096, 0);
    node(&run, latency_unit(&run.g, 31))[0] = node(&run, latency_unit(&run.g, 3))[0];
    refuse(&run, "hop 1 of the walk"); /* addresses are counted from what the last node says */
    start(&run, LATENCY_LOAD, LATENCY_L1, 4096, 0);
    node(&run, latency_unit(&run.g, 4))[0] += 8; /* between two lines */
    refuse(&run, "leads out of the footprint");
}

static void missing_buffers_are_our_own_mistake(void **state)
{
    (void)state;
    struct run run;
    struct ub_error err;
    start(&run, LATENCY_LOAD, LATENCY_L1, 4096, 0);
    run.buffers.sizes_bytes[1] = 128;
    assert_false(verify(&run, &err));
    assert_int_equal(err.status, UB_INTERNAL);
    release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_kernels_leave_is_accepted),
        cmocka_unit_test(a_large_footprint_has_a_small_instance),
        cmocka_unit_test(a_walk_over_some_of_the_lines_is_accepted),
        cmocka_unit_test(wrong_ends_are_refused),
        cmocka_unit_test(the_wrong_sm_is_refused),
        cmocka_unit_test(broken_walks_are_refused),
        cmocka_unit_test(missing_buffers_are_our_own_mistake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
