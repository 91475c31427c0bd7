/* SPDX-License-Identifier: MIT
 *
 * The host's check of `block_size`: right answers pass, and each way of being wrong is
 * found and named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/engine/plan.h"
#include "micro/block_size/access.h"
#include "micro/block_size/rule.h"

extern const struct ub_micro ub_micro_block_size;

struct instance {
    struct ub_point point;
    struct block_size_geometry g;
    uint32_t *vectors[BLOCK_SIZE_VECTORS];
    struct ub_buffers buffers;
};

static const struct ub_gpu *gpu(void)
{
    return ub_gpu_find("h200");
}

/* The small instance of a point, computed thread by thread as the kernel does. */
static void open_instance(struct instance *instance, const char *axes)
{
    struct ub_point point;
    struct ub_error err = {0};
    *instance = (struct instance){.buffers = {.count = BLOCK_SIZE_VECTORS}};
    if (!ub_point_parse(&ub_micro_block_size, axes, &point, &err))
        fail_msg("%s: %s", axes, err.text);
    assert_true(block_size_small(gpu(), &point, &instance->point));
    assert_null(block_size_resolve(gpu(), &instance->point, &instance->g));
    const struct block_size_geometry *g = &instance->g;
    for (size_t i = 0; i < BLOCK_SIZE_VECTORS; i++) {
        uint32_t *vector = malloc(block_size_vector_bytes(g));
        assert_non_null(vector);
        for (uint64_t n = 0; n < g->numbers; n++)
            vector[n] = i == 2 ? UINT32_MAX : (uint32_t)((n + 1) * (i == 0 ? 2654435761u : 2246822519u));
        instance->vectors[i] = vector;
        instance->buffers.pointers[i] = vector;
        instance->buffers.sizes_bytes[i] = block_size_vector_bytes(g);
    }
    const uint32_t words = g->bytes / 4;
    for (uint32_t block = 0; block < g->blocks; block++)
        for (uint32_t thread = 0; thread < g->threads; thread++) {
            const uint64_t element = block_size_element(g->threads, block, thread);
            for (uint32_t w = 0; w < words && element < g->elements; w++) {
                const uint64_t n = element * words + w;
                instance->vectors[2][n] = instance->vectors[0][n] + instance->vectors[1][n];
            }
        }
}

static bool verify(struct instance *instance, struct ub_error *err)
{
    *err = (struct ub_error){0};
    return block_size_verify(gpu(), &instance->point, &instance->buffers, 1, 0, err);
}

static void close_instance(struct instance *instance)
{
    for (size_t i = 0; i < BLOCK_SIZE_VECTORS; i++)
        free(instance->vectors[i]);
}

static void wrong_sums_are_found(void **state)
{
    static const char *const points[] = {"",        "block=1",          "block=33",         "block=1000",
                                         "block=7", "bytes=16 block=5", "bytes=16 block=64"};
    (void)state;
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        struct instance instance;
        struct ub_error err;
        open_instance(&instance, points[i]);
        if (!verify(&instance, &err))
            fail_msg("%s: %s", points[i], err.text);
        const uint64_t places[] = {0, instance.g.numbers / 2, instance.g.numbers - 1};
        for (size_t place = 0; place < 3; place++) {
            uint32_t *number = &instance.vectors[2][places[place]];
            const uint32_t right = *number;
            *number = right ^ 0x80000000u;
            assert_false(verify(&instance, &err));
            assert_int_equal(err.status, UB_WRONG_ANSWER);
            assert_non_null(strstr(err.text, "1 of "));
            *number = right;
        }
        close_instance(&instance);
    }
}

/* The last of the small instance's blocks has threads without an element. */
static void the_small_instance_ends_inside_a_block(void **state)
{
    (void)state;
    struct instance instance;
    open_instance(&instance, "block=256");
    assert_int_equal(instance.g.numbers, 3 * 256 + 128);
    assert_int_equal(instance.g.blocks, 4);
    close_instance(&instance);
    open_instance(&instance, "bytes=16 block=96");
    assert_int_equal(instance.g.numbers, 4 * (3 * 96 + 48));
    close_instance(&instance);
    open_instance(&instance, "block=1024 n=5"); /* never larger than the point itself */
    assert_int_equal(instance.g.numbers, 5);
    close_instance(&instance);
}

static void what_cannot_be_checked_is_said(void **state)
{
    (void)state;
    struct instance instance;
    struct ub_error err;
    struct ub_point empty, small;
    assert_true(ub_point_parse(&ub_micro_block_size, "work=empty", &empty, &err));
    assert_false(block_size_small(gpu(), &empty, &small));
    open_instance(&instance, "block=64");
    instance.buffers.sizes_bytes[1] -= 4;
    assert_false(verify(&instance, &err));
    assert_int_equal(err.status, UB_INTERNAL);
    instance.buffers.sizes_bytes[1] += 4;
    instance.buffers.count = 2;
    assert_false(verify(&instance, &err));
    assert_int_equal(err.status, UB_INTERNAL);
    close_instance(&instance);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_sums_are_found),
        cmocka_unit_test(the_small_instance_ends_inside_a_block),
        cmocka_unit_test(what_cannot_be_checked_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
