/* SPDX-License-Identifier: MIT
 *
 * The answers of `reduce` against a host that adds up thread by thread, block by block: the
 * right sum is taken; one that lacks an element, a row or a block, and a buffer that is too
 * small, are not. And how far a sum of floats may be off. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "micro/reduce/access.h"
#include "micro/reduce/rule.h"
#include "tests/rule_fixture.h"

extern const struct ub_micro ub_micro_reduce;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

struct instance {
    struct ub_point point;
    struct reduce_geometry g;
    struct ub_buffers buffers;
};

/* Multiples of 2^-10 in [-1, 1), as UB_FILL_FLOAT has them, or any bits. */
static uint32_t element_of(uint32_t type, uint64_t i)
{
    const uint32_t bits = ((uint32_t)i + 1) * 2654435761u;
    if (type == REDUCE_INT)
        return bits & 0x7FFFFFFF;
    const float number = ((float)(bits >> 21) - 1024) / 1024;
    uint32_t element;
    memcpy(&element, &number, sizeof element);
    return element;
}

static void open_instance(struct instance *instance, const char *axes)
{
    const struct ub_point point = parse_point(&ub_micro_reduce, axes);
    *instance = (struct instance){.point = point};
    assert_true(reduce_small(h200(), &point, &instance->point));
    assert_null(reduce_resolve(h200(), &instance->point, &instance->g));
    struct ub_footprint footprint;
    ub_micro_reduce.footprint(h200(), &instance->point, &footprint);
    assert_int_equal(footprint.count, reduce_clears(instance->g.variant) ? 2 : 4);
    assert_int_equal(footprint.buffers[0].size_bytes, instance->g.n * 4);
    instance->buffers.count = footprint.count;
    for (size_t b = 0; b < footprint.count; b++) {
        instance->buffers.pointers[b] = calloc(1, footprint.buffers[b].size_bytes);
        instance->buffers.sizes_bytes[b] = footprint.buffers[b].size_bytes;
        assert_non_null(instance->buffers.pointers[b]);
    }
    uint32_t *source = instance->buffers.pointers[0];
    for (uint64_t i = 0; i < instance->g.n; i++)
        source[i] = element_of(instance->g.type, i);
}

static void close_instance(struct instance *instance)
{
    for (size_t b = 0; b < instance->buffers.count; b++)
        free(instance->buffers.pointers[b]);
}

struct sums {
    uint32_t whole;
    float number;
};

static void add(struct sums *sums, uint32_t element)
{
    float number;
    memcpy(&number, &element, sizeof number);
    sums->whole += element;
    sums->number += number;
}

/* Every thread its elements, as in the kernel; `without` says what is left out. */
enum without { NOTHING, LAST_ELEMENT, FIRST_BLOCK, SECOND_ROW };

static struct sums walk(const struct instance *instance, enum without without)
{
    const struct reduce_geometry *g = &instance->g;
    const uint32_t *source = instance->buffers.pointers[0];
    struct sums sums = {0};
    for (uint32_t block = 0; block < g->blocks; block++)
        for (uint32_t thread = 0; thread < g->block; thread++)
            for (uint32_t load = 0; load < g->loads; load++) {
                const uint64_t first = reduce_element(block, thread, load, g->block, g->words, g->block_elements);
                const bool left_out = (without == FIRST_BLOCK && block == 0) || (without == SECOND_ROW && load == 1);
                for (uint64_t i = first; i < first + g->words && i < g->n; i++)
                    if (!left_out && (without != LAST_ELEMENT || i + 1 < g->n))
                        add(&sums, source[i]);
            }
    return sums;
}

static bool takes(struct instance *instance, const struct sums *sums, struct ub_error *err)
{
    memcpy(instance->buffers.pointers[1],
           instance->g.type == REDUCE_INT ? (const void *)&sums->whole : (const void *)&sums->number, 4);
    return reduce_verify(h200(), &instance->point, &instance->buffers, 1, 0, err);
}

static const char *const points[] = {
    "n=1 bytes=4 loads=1",
    "n=1 bytes=16 loads=7",
    "n=104729 bytes=4 loads=3 block=32",
    "bytes=4 loads=1 variant=shared_interleaved",
    "bytes=16 loads=4 variant=two_kernels",
    "bytes=16 loads=4096 variant=last_block block=1024",
    "bytes=16 loads=16 variant=missing_barrier",
    "type=float bytes=4 loads=1 variant=atomic_thread block=1024",
    "type=float bytes=16 loads=8 variant=shared",
    "type=float n=3 bytes=16",
    "work=block variant=redux block=1024",
    "work=block variant=atomic_shared type=float block=64",
};

static void answers_are_checked(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(points); i++) {
        struct instance instance;
        struct ub_error err = {0};
        open_instance(&instance, points[i]);
        const struct sums right = walk(&instance, NOTHING);
        if (!takes(&instance, &right, &err))
            fail_msg("%s: %s", points[i], err.text);
        const struct sums near = {right.whole + 1, right.number + 1.0f / 1024};
        const struct sums lacks = walk(&instance, LAST_ELEMENT), block = walk(&instance, FIRST_BLOCK);
        const struct sums *const wrong[] = {&near, &lacks, &block};
        for (size_t w = 0; w < COUNT(wrong); w++) {
            assert_false(takes(&instance, wrong[w], &err));
            assert_int_equal(err.status, UB_WRONG_ANSWER);
        }
        instance.buffers.sizes_bytes[0] -= 4;
        assert_false(takes(&instance, &right, &err));
        assert_int_equal(err.status, UB_INTERNAL);
        close_instance(&instance);
    }
}

static void a_row_that_is_lost_is_seen(void **state)
{
    struct instance instance;
    struct ub_error err = {0};
    (void)state;
    open_instance(&instance, "variant=missing_barrier loads=2");
    const struct sums lost = walk(&instance, SECOND_ROW);
    assert_false(takes(&instance, &lost, &err));
    assert_int_equal(err.status, UB_WRONG_ANSWER);
    close_instance(&instance);
}

/* A small instance has what its point has: a part of a block too few, and not more elements. */
static void small_instances_are_small(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(points); i++) {
        const struct ub_point point = parse_point(&ub_micro_reduce, points[i]);
        struct ub_point small;
        struct reduce_geometry g, all;
        assert_true(reduce_small(h200(), &point, &small));
        assert_null(reduce_resolve(h200(), &small, &g));
        assert_null(reduce_resolve(h200(), &point, &all));
        assert_true(g.n <= all.n && g.blocks <= 512 && g.n * 4 <= UINT64_C(64) << 20);
        assert_int_equal(g.variant, all.variant);
        if (all.n > 1 << 20)
            assert_true(g.n % g.block_elements != 0 && g.blocks > 1);
    }
}

/* Worked out by hand: 8 x sqrt(n / 3) is the largest sum; a float holds multiples of 2^-10
 * below 2^14, beyond that half a place is 2^(exponent - 24). */
static void floats_may_be_off_by_their_rounding(void **state)
{
    static const struct {
        const char *axes;
        double bound;
    } rows[] = {
        {"type=int n=512Mi", 0},
        {"type=float n=16Ki", 0},
        {"type=float n=12Mi variant=atomic_thread bytes=4 loads=1", 0}, /* 8 x 2048 = 16384 */
        {"type=float n=16Mi bytes=16 loads=4", 8 * 64 * 0x1p-10},       /* 18919; 4096 blocks */
        {"type=float n=16Mi variant=atomic_warp bytes=16 loads=4 block=128", 8 * 181.01933598375618 * 0x1p-10},
        {"type=float n=16Mi variant=atomic_thread bytes=4 loads=1", 8 * 4096 * 0x1p-10},
        {"type=float n=512Mi bytes=16 loads=4", 8 * 362.03867196751236 * 0x1p-8}, /* 107020 */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_point point = parse_point(&ub_micro_reduce, rows[i].axes);
        struct reduce_geometry g;
        assert_null(reduce_resolve(h200(), &point, &g));
        if (fabs(reduce_bound(&g) - rows[i].bound) > 1e-12 * rows[i].bound)
            fail_msg("%s: %.17g", rows[i].axes, reduce_bound(&g));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_checked),
        cmocka_unit_test(a_row_that_is_lost_is_seen),
        cmocka_unit_test(small_instances_are_small),
        cmocka_unit_test(floats_may_be_off_by_their_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
