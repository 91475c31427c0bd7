/* SPDX-License-Identifier: MIT
 *
 * The answers of `latency_hiding` against a host that computes them step by step: the
 * right sum is taken, a wrong one, a counter that was left running and a buffer that is
 * too small are not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/engine/plan.h"
#include "micro/latency_hiding/access.h"
#include "micro/latency_hiding/rule.h"

extern const struct ub_micro ub_micro_latency_hiding;

struct instance {
    struct ub_gpu gpu;
    struct ub_point point;
    struct hiding_geometry g;
    struct ub_buffers buffers;
};

static void open_instance(struct instance *instance, const char *axes)
{
    struct ub_point point;
    struct ub_error err = {0};
    const struct ub_gpu *h200 = ub_gpu_find("h200");
    assert_non_null(h200);
    *instance = (struct instance){.gpu = *h200};
    instance->gpu.sms = 3;
    if (!ub_point_parse(&ub_micro_latency_hiding, axes, &point, &err))
        fail_msg("%s: %s", axes, err.text);
    assert_true(hiding_small(&instance->gpu, &point, &instance->point));
    assert_null(hiding_resolve(&instance->gpu, &instance->point, &instance->g));
    struct ub_footprint footprint;
    ub_micro_latency_hiding.footprint(&instance->gpu, &instance->point, &footprint);
    assert_int_equal(footprint.count, 1);
    const uint64_t size_bytes = footprint.buffers[0].size_bytes;
    uint32_t *words = calloc(1, size_bytes);
    assert_non_null(words);
    for (uint64_t w = 0; w < size_bytes / 4 && footprint.buffers[0].fill == UB_FILL_RANDOM; w++)
        words[w] = (uint32_t)(w * 2654435761u) & 0x7FFFFFFF;
    instance->buffers = (struct ub_buffers){.count = 1, .pointers = {words}, .sizes_bytes = {size_bytes}};
}

/* Every warp walks its steps, as in the kernel. */
static uint32_t walk(const struct instance *instance)
{
    const struct hiding_geometry *g = &instance->g;
    const unsigned char *bytes = instance->buffers.pointers[0];
    uint32_t sum = 0;
    for (uint32_t i = 0; i < g->all_warps * 32 * g->steps * g->ilp; i++) {
        const uint32_t load = i % g->ilp, step = i / g->ilp % g->steps, lane = i / g->ilp / g->steps % 32;
        const uint32_t number = i / g->ilp / g->steps / 32, block = number / g->block_warps;
        const uint64_t element = hiding_first(g->ilp, g->steps, block, g->block_warps, number % g->block_warps, lane) +
                                 (uint64_t)step * hiding_step(g->ilp, g->block_warps) + load * 32;
        for (uint32_t word = 0; word < g->bytes / 4; word++) {
            uint32_t value;
            memcpy(&value, bytes + element * g->bytes + 4 * (uint64_t)word, 4);
            sum += value;
        }
    }
    return sum;
}

/* Warps take tickets in turn; a chain counts its multiply-adds. */
static uint32_t multiply(const struct hiding_geometry *g)
{
    uint32_t sum = 0;
    for (uint32_t warp = 0; warp < g->all_warps; warp++)
        for (uint32_t lane = 0; lane < 32; lane++)
            for (uint32_t c = 0; c < g->ilp; c++) {
                float chain = (float)(lane + c);
                for (uint32_t ticket = warp; ticket < g->tickets; ticket += g->all_warps)
                    for (uint32_t step = 0; step < g->steps; step++)
                        chain = fmaf(chain, 1, 1);
                sum += (uint32_t)chain;
            }
    return sum;
}

static void answers_are_checked(void **state)
{
    static const char *const points[] = {
        "warps=1",
        "warps=5 ilp=2 bytes=8",
        "warps=34 ilp=8 bytes=16",
        "warps=64 ilp=4",
        "work=arithmetic warps=1",
        "work=arithmetic warps=5 ilp=8",
        "work=arithmetic warps=34 ilp=2",
    };
    (void)state;
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        struct instance instance;
        struct ub_error err = {0};
        open_instance(&instance, points[i]);
        const bool loads = instance.g.work == HIDING_MEMORY;
        const uint64_t sum = loads ? walk(&instance) : multiply(&instance.g);
        if (!hiding_verify(&instance.gpu, &instance.point, &instance.buffers, 1, sum, &err))
            fail_msg("%s: %s", points[i], err.text);
        assert_false(hiding_verify(&instance.gpu, &instance.point, &instance.buffers, 1, sum + 1, &err));
        assert_int_equal(err.status, UB_WRONG_ANSWER);
        unsigned char *first = instance.buffers.pointers[0];
        *first ^= 1; /* another word, or a counter that was not put back */
        assert_false(hiding_verify(&instance.gpu, &instance.point, &instance.buffers, 1, sum, &err));
        assert_int_equal(err.status, UB_WRONG_ANSWER);
        *first ^= 1;
        instance.buffers.sizes_bytes[0] -= 4;
        assert_false(hiding_verify(&instance.gpu, &instance.point, &instance.buffers, 1, sum, &err));
        assert_int_equal(err.status, UB_INTERNAL);
        free(instance.buffers.pointers[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
