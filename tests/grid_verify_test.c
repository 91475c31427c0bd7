/* SPDX-License-Identifier: MIT
 *
 * The host's check of `grid`: right answers pass, each way of being wrong is found and
 * named, wherever in the ring the launch before had ended. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/engine/plan.h"
#include "micro/grid/access.h"
#include "micro/grid/rule.h"

extern const struct ub_micro ub_micro_grid;

struct instance {
    unsigned char sink[GRID_SINK_BYTES];
    uint32_t counter[GRID_COUNTER_BYTES / 4];
    uint32_t *ring;
    struct ub_buffers buffers;
    struct ub_point point;
    struct grid_geometry g;
};

static const struct ub_gpu *gpu(void)
{
    return ub_gpu_find("h200");
}

static void open_instance(struct instance *instance, const char *axes)
{
    struct ub_point point;
    struct ub_error err = {0};
    *instance = (struct instance){0};
    if (!ub_point_parse(&ub_micro_grid, axes, &point, &err))
        fail_msg("%s: %s", axes, err.text);
    assert_true(grid_small(gpu(), &point, &instance->point));
    assert_null(grid_resolve(gpu(), &instance->point, &instance->g));
    const bool loads = instance->g.work == GRID_DRAM;
    const uint64_t words = loads ? instance->g.chunks * grid_chunk_elements(&instance->g) * 4 : 0;
    instance->ring = malloc(words * 4 + 1);
    assert_non_null(instance->ring);
    for (uint64_t i = 0; i < words; i++)
        instance->ring[i] = (uint32_t)(i * 2654435761u) & 0x7FFFFFFF;
    instance->buffers = (struct ub_buffers){.count = loads ? 3 : 2,
                                            .pointers = {instance->sink, instance->counter, instance->ring},
                                            .sizes_bytes = {GRID_SINK_BYTES, GRID_COUNTER_BYTES, words * 4}};
}

/* As the kernels do it: block after block. */
static uint64_t run_instance(struct instance *instance)
{
    const struct grid_geometry *g = &instance->g;
    uint64_t sum = 0;
    for (uint32_t block = 0; block < g->blocks; block++) {
        const uint32_t ticket = g->work == GRID_DRAM ? instance->counter[0]++ : 0;
        for (uint32_t thread = 0; thread < g->threads; thread++) {
            float value = (float)(thread % 32);
            for (uint32_t i = 0; i < g->rounds * GRID_FMAS && g->work != GRID_DRAM; i++)
                value = fmaf(value, 1, 1);
            sum += g->work != GRID_DRAM ? (uint64_t)value : 0;
            uint64_t e = grid_first(g->rounds, g->threads, g->chunks > 0 ? g->chunks : 1, ticket, thread);
            for (uint32_t i = 0; i < g->rounds * GRID_LOADS && g->work == GRID_DRAM; i++, e += g->threads) {
                const uint32_t *v = instance->ring + 4 * e;
                sum += (uint64_t)(v[0] + 3 * v[1] + 5 * v[2] + 7 * v[3]) * (2 * (uint32_t)e + 1);
            }
        }
    }
    return sum;
}

static void answers_are_checked(void **state)
{
    static const char *const points[] = {"work=latency",
                                         "work=latency blocks=1 length=1",
                                         "work=throughput",
                                         "work=throughput resident=1 blocks=792",
                                         "work=dram",
                                         "work=dram blocks=1",
                                         "work=dram length=2000",
                                         "work=dram blocks=3 length=1"};
    static const uint32_t starts[] = {0, 3, 1000001, UINT32_MAX - 2};
    (void)state;
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++)
        for (size_t s = 0; s < sizeof starts / sizeof starts[0]; s++) {
            struct instance instance;
            struct ub_error err = {0};
            open_instance(&instance, points[i]);
            instance.counter[0] = starts[s];
            const uint64_t sum = run_instance(&instance);
            if (!grid_verify(gpu(), &instance.point, &instance.buffers, 1, sum, &err))
                fail_msg("%s: %s", points[i], err.text);
            assert_false(grid_verify(gpu(), &instance.point, &instance.buffers, 1, sum + 1, &err));
            assert_int_equal(err.status, UB_WRONG_ANSWER);
            instance.sink[9] = 1;
            assert_false(grid_verify(gpu(), &instance.point, &instance.buffers, 1, sum, &err));
            assert_non_null(strstr(err.text, "byte 9 of the sink"));
            free(instance.ring);
        }
}

/* A chunk too many or too few moves the counter, and then the sum is another one. */
static void chunks_are_those_that_were_taken(void **state)
{
    (void)state;
    struct instance instance;
    struct ub_error err = {0};
    open_instance(&instance, "work=dram blocks=3");
    assert_int_equal(instance.g.chunks, 4);
    const uint64_t sum = run_instance(&instance);
    instance.counter[0]++;
    assert_false(grid_verify(gpu(), &instance.point, &instance.buffers, 1, sum, &err));
    assert_int_equal(err.status, UB_WRONG_ANSWER);
    free(instance.ring);
}

static void small_instances_are_small(void **state)
{
    (void)state;
    struct instance instance;
    open_instance(&instance, "work=dram per_sm=64 side=above length=64");
    assert_int_equal(instance.g.blocks, 5);
    assert_int_equal(instance.g.chunks, 4); /* one chunk is read twice */
    assert_int_equal(instance.buffers.sizes_bytes[2], 4 * 3 * 32768);
    instance.buffers.sizes_bytes[2]--;
    struct ub_error err = {0};
    assert_false(grid_verify(gpu(), &instance.point, &instance.buffers, 1, 0, &err));
    assert_int_equal(err.status, UB_INTERNAL);
    instance.buffers.count = 2;
    assert_false(grid_verify(gpu(), &instance.point, &instance.buffers, 1, 0, &err));
    assert_int_equal(err.status, UB_INTERNAL);
    free(instance.ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_checked),
        cmocka_unit_test(chunks_are_those_that_were_taken),
        cmocka_unit_test(small_instances_are_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
