/* SPDX-License-Identifier: MIT
 *
 * The host's check of `divergence`: accepts what the kernels should do (emulated here
 * through access.h, as kernel.cu does it) and refuses everything else. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "micro/divergence/access.h"
#include "micro/divergence/rule.h"

extern const struct ub_micro ub_micro_divergence;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct ub_gpu *h200(void)
{
    const struct ub_gpu *gpu = ub_gpu_find("h200");
    assert_non_null(gpu);
    return gpu;
}

/* ---- the emulated launch ------------------------------------------------------------ */

struct run {
    struct ub_point point;
    struct divergence_geometry g;
    struct ub_buffers buffers;
};

/* kernel.cu: multiplier(), addend(), walk() */
static float walk(float x, uint32_t path, uint32_t trips)
{
    const float by = (float)(4095 - path) * (1.0f / 4096), plus = (float)((path + 1) * (path + 3)) * (1.0f / 4096);
    for (uint32_t trip = 0; trip < trips; trip++)
        for (int i = 0; i < DIVERGENCE_STEPS; i++)
            x = fmaf(x, by, plus);
    return x;
}

/* kernel.cu: selects() */
static float sum_of_selects(uint32_t id, uint32_t body)
{
    float sum = 0;
    for (uint32_t i = 0; i < body; i++) {
        id += 2;
        sum += id % 2 == 0 ? 100.0f : 200.0f;
    }
    return sum;
}

static float one_thread(const struct divergence_geometry *g, uint32_t block, uint32_t thread)
{
    const uint32_t trips = g->body / DIVERGENCE_STEPS;
    float x = (float)((block * g->block + thread) % 64);
    uint32_t place = divergence_lane_path(g, thread);
    switch ((enum divergence_variant)g->variant) {
    case DIVERGENCE_SELECT_THREAD:
        return sum_of_selects(thread, g->body);
    case DIVERGENCE_SELECT_WARP:
        return sum_of_selects(thread / DIVERGENCE_LANES, g->body);
    case DIVERGENCE_LOOP:
        return walk(x, 0, trips * (place + 1));
    case DIVERGENCE_CONSTANT:
        for (uint32_t i = 0; i < g->body; i++)
            place = (place + 1) % DIVERGENCE_PATHS; /* the ring */
        return (float)place;
    default:
        for (uint32_t row = 0; row < g->rows; row++)
            x = walk(x, divergence_path(g, block, thread, row), trips);
        return x;
    }
}

static void launch(struct run *run)
{
    struct divergence_geometry *g = &run->g;
    if (g->variant == DIVERGENCE_SORTED)
        divergence_sort(g);
    float *out = run->buffers.pointers[0];
    for (uint32_t block = 0; block < g->blocks; block++)
        for (uint32_t thread = 0; thread < g->block; thread++)
            out[block * g->block + thread] = one_thread(g, block, thread);
}

/* A launch of the small instance of `point`, on poisoned memory. */
static void start(struct run *run, const struct ub_point *point)
{
    *run = (struct run){0};
    assert_true(ub_micro_divergence.small(h200(), point, &run->point));
    assert_null(divergence_resolve(h200(), &run->point, &run->g));
    struct ub_footprint footprint;
    ub_micro_divergence.footprint(h200(), &run->point, &footprint);
    assert_int_equal(footprint.count, 1);
    assert_true(footprint.buffers[0].output);
    const uint64_t size_bytes = footprint.buffers[0].size_bytes;
    assert_int_equal(size_bytes % 256, 0);
    run->buffers = (struct ub_buffers){.count = 1, .sizes_bytes = {size_bytes}, .pointers = {malloc(size_bytes)}};
    assert_non_null(run->buffers.pointers[0]);
    memset(run->buffers.pointers[0], 0xFF, size_bytes);
    launch(run);
}

static bool verify(const struct run *run, struct ub_error *err)
{
    *err = (struct ub_error){0};
    return ub_micro_divergence.verify(h200(), &run->point, &run->buffers, 1, 0, err);
}

/* ---- points ---------------------------------------------------------------------------- */

static struct ub_point point_of(int64_t variant, int64_t ways, int64_t body, int64_t block)
{
    struct ub_point point = {{0}};
    point.values[DIVERGENCE_VARIANT] = variant;
    point.values[DIVERGENCE_WAYS] = ways;
    point.values[DIVERGENCE_BODY] = body;
    point.values[DIVERGENCE_BLOCK] = block;
    return point;
}

static void accepts(const struct ub_point *point)
{
    struct run run;
    struct ub_error err;
    start(&run, point);
    const bool ok = verify(&run, &err);
    free(run.buffers.pointers[0]);
    if (!ok)
        fail_msg("variant=%s ways=%lld body=%lld block=%lld: %s",
                 ub_micro_divergence.axes[DIVERGENCE_VARIANT].words[point->values[DIVERGENCE_VARIANT]],
                 (long long)point->values[1], (long long)point->values[2], (long long)point->values[3], err.text);
}

static void what_the_kernel_should_do_is_accepted(void **state)
{
    static const int64_t sizes[][3] = {/* ways body block */ {2, 64, 128},
                                       {1, 32, 33},
                                       {3, 96, 48},
                                       {17, 64, 100},
                                       {32, 32, 256},
                                       {31, 128, 1000},
                                       {8, 1024, 64}};
    (void)state;
    for (int64_t variant = 0; variant < DIVERGENCE_VARIANTS; variant++)
        for (size_t i = 0; i < COUNT(sizes); i++) {
            const struct ub_point point = point_of(variant, sizes[i][0], sizes[i][1], sizes[i][2]);
            if (ub_micro_divergence.supported(h200(), &point) == NULL)
                accepts(&point);
        }
}

/* ---- wrong answers ------------------------------------------------------------------------ */

static void flip_the_last_bit(struct run *run)
{
    ((uint32_t *)run->buffers.pointers[0])[7] ^= 1;
}

static void forget_the_last_thread(struct run *run)
{
    memset((float *)run->buffers.pointers[0] + run->g.blocks * run->g.block - 1, 0xFF, sizeof(float));
}

static void write_behind_the_results(struct run *run)
{
    memset((float *)run->buffers.pointers[0] + run->g.blocks * run->g.block, 0, sizeof(float));
}

/* Thread 1 takes the path of thread 0. */
static void take_another_path(struct run *run)
{
    ((float *)run->buffers.pointers[0])[1] = walk(1, 0, run->g.body / DIVERGENCE_STEPS);
}

static void make_one_trip_more(struct run *run)
{
    ((float *)run->buffers.pointers[0])[2] = walk(2, 0, run->g.body / DIVERGENCE_STEPS + 1);
}

static void wrong_answers_are_refused(void **state)
{
    static const struct {
        void (*spoil)(struct run *);
        const char *part; /* of the message */
    } cases[] = {
        {flip_the_last_bit, "thread 7 of block 0"},       {forget_the_last_thread, "thread 99 of block 1"},
        {write_behind_the_results, "behind the results"}, {take_another_path, "thread 1 of block 0"},
        {make_one_trip_more, "thread 2 of block 0"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct ub_point point = point_of(DIVERGENCE_THREAD, 2, 64, 100);
        struct run run;
        struct ub_error err;
        start(&run, &point);
        cases[i].spoil(&run);
        const bool ok = verify(&run, &err);
        free(run.buffers.pointers[0]);
        assert_false(ok);
        assert_int_equal(err.status, UB_WRONG_ANSWER);
        if (strstr(err.text, cases[i].part) == NULL)
            fail_msg("case %zu: '%s' does not say '%s'", i, err.text, cases[i].part);
    }
}

static void buffers_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    const struct ub_point point = point_of(DIVERGENCE_THREAD, 2, 64, 128);
    struct run run;
    struct ub_error err;
    start(&run, &point);
    run.buffers.sizes_bytes[0] -= 256;
    assert_false(verify(&run, &err));
    assert_int_equal(err.status, UB_INTERNAL);
    run.buffers.count = 0;
    assert_false(verify(&run, &err));
    assert_int_equal(err.status, UB_INTERNAL);
    free(run.buffers.pointers[0]);
}

/* Enough blocks that variant=block takes each of its paths; few steps for the host. */
static void small_instances_are_small_and_whole(void **state)
{
    (void)state;
    struct ub_point small;
    const struct ub_point large = point_of(DIVERGENCE_LOOP, 32, 1024, 1024);
    assert_true(ub_micro_divergence.small(h200(), &large, &small));
    assert_true(small.values[DIVERGENCE_BLOCKS] * small.values[DIVERGENCE_BODY] <= 128);
    const struct ub_point blocks = point_of(DIVERGENCE_BLOCK_ID, 32, 64, 128);
    assert_true(ub_micro_divergence.small(h200(), &blocks, &small));
    assert_int_equal(small.values[DIVERGENCE_BLOCKS], 32);
    const struct ub_point impossible = point_of(DIVERGENCE_TAIL, 1, 64, 128);
    assert_false(ub_micro_divergence.small(h200(), &impossible, &small));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_kernel_should_do_is_accepted),
        cmocka_unit_test(wrong_answers_are_refused),
        cmocka_unit_test(buffers_that_do_not_fit_are_refused),
        cmocka_unit_test(small_instances_are_small_and_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
