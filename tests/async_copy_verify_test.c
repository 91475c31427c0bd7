/* SPDX-License-Identifier: MIT
 *
 * The answers of `async_copy` against a host that fills a ring tile by tile: the right sum is
 * taken; a wrong one, a tile that was worked on before it had come, and a buffer that is too
 * small are not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "micro/async_copy/access.h"
#include "micro/async_copy/rule.h"
#include "tests/rule_fixture.h"

extern const struct ub_micro ub_micro_async_copy;

struct instance {
    struct ub_gpu gpu;
    struct ub_point point;
    struct copy_geometry g;
    struct ub_buffers buffers;
};

static void open_instance(struct instance *instance, const char *axes)
{
    *instance = (struct instance){.gpu = *h200()};
    instance->gpu.sms = 3;
    const struct ub_point point = parse_point(&ub_micro_async_copy, axes);
    assert_true(copy_small(&instance->gpu, &point, &instance->point));
    assert_null(copy_resolve(&instance->gpu, &instance->point, &instance->g));
    struct ub_footprint footprint;
    ub_micro_async_copy.footprint(&instance->gpu, &instance->point, &footprint);
    assert_int_equal(footprint.count, 1);
    assert_int_equal(footprint.buffers[0].fill, UB_FILL_FLOAT);
    const uint64_t size_bytes = footprint.buffers[0].size_bytes;
    float *numbers = malloc(size_bytes);
    assert_non_null(numbers);
    for (uint64_t n = 0; n < size_bytes / sizeof *numbers; n++)
        numbers[n] = (float)((int)(n * 2654435761u % 2048) - 1024) / 1024;
    instance->buffers = (struct ub_buffers){.count = 1, .pointers = {numbers}, .sizes_bytes = {size_bytes}};
}

/* The tiles of a block go through the places of its ring. `late`: each is worked on while
 * its place still has what was there before. */
static uint32_t sum_of_block(const struct instance *instance, uint32_t block, bool late)
{
    const struct copy_geometry *g = &instance->g;
    const uint32_t chunk_floats = COPY_CHUNK_BYTES / sizeof(float), tile_floats = g->chunks * COPY_BLOCK * chunk_floats;
    const float *source = instance->buffers.pointers[0];
    float *ring = calloc((size_t)copy_places(g) * tile_floats, sizeof *ring);
    uint32_t sum = 0;
    assert_non_null(ring);
    for (uint32_t step = 0; step < g->tiles; step++) {
        float *place = ring + (uint64_t)(step % copy_places(g)) * tile_floats;
        const float *from = source + (uint64_t)copy_tile(block, step, g->blocks) * tile_floats;
        if (!late)
            memcpy(place, from, tile_floats * sizeof *place);
        for (uint32_t i = 0; i < tile_floats; i++) {
            const uint32_t thread = i / chunk_floats % COPY_BLOCK, c = i / chunk_floats / COPY_BLOCK;
            float x = place[copy_read(thread, c, g->chunks) * chunk_floats + i % chunk_floats];
            uint32_t bits;
            for (uint32_t n = 0; n < g->fmas; n++)
                x = fmaf(x, 1, 1);
            memcpy(&bits, &x, sizeof bits);
            sum += bits;
        }
        if (late)
            memcpy(place, from, tile_floats * sizeof *place);
    }
    free(ring);
    return sum;
}

static uint32_t sum_of(const struct instance *instance, bool late)
{
    uint32_t sum = 0;
    for (uint32_t block = 0; block < instance->g.blocks; block++)
        sum += sum_of_block(instance, block, late);
    return sum;
}

static void answers_are_checked(void **state)
{
    static const char *const points[] = {
        "way=synchronous stages=1 fmas=0",      "way=synchronous stages=3 fmas=16 tile=8Ki",
        "way=registers fmas=64 tile=16Ki",      "way=cp_async stages=1 fmas=1024",
        "way=cp_async stages=4 tile=16Ki",      "way=bulk stages=2 resident=3",
        "way=bulk_1d stages=4 fmas=0 tile=8Ki", "way=cp_async stages=4 tiles=1",
    };
    (void)state;
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        struct instance instance;
        struct ub_error err = {0};
        open_instance(&instance, points[i]);
        const uint32_t sum = sum_of(&instance, false);
        if (!copy_verify(&instance.gpu, &instance.point, &instance.buffers, 1, sum, &err))
            fail_msg("%s: %s", points[i], err.text);
        assert_false(copy_verify(&instance.gpu, &instance.point, &instance.buffers, 1, sum_of(&instance, true), &err));
        assert_int_equal(err.status, UB_WRONG_ANSWER);
        assert_false(copy_verify(&instance.gpu, &instance.point, &instance.buffers, 1, sum + 1, &err));
        instance.buffers.sizes_bytes[0] -= 4;
        assert_false(copy_verify(&instance.gpu, &instance.point, &instance.buffers, 1, sum, &err));
        assert_int_equal(err.status, UB_INTERNAL);
        free(instance.buffers.pointers[0]);
    }
}

/* As the smallest instance has nine tiles a block, each place of a ring is filled twice. */
static void small_instances_fill_each_place_again(void **state)
{
    (void)state;
    struct ub_point small;
    const struct ub_point usual = parse_point(&ub_micro_async_copy, "stages=4"),
                          few = parse_point(&ub_micro_async_copy, "stages=4 tiles=3"),
                          never = parse_point(&ub_micro_async_copy, "fmas=17");
    assert_true(copy_small(h200(), &usual, &small));
    assert_int_equal(small.values[COPY_TILES], 9);
    assert_true(copy_small(h200(), &few, &small));
    assert_int_equal(small.values[COPY_TILES], 3);
    assert_false(copy_small(h200(), &never, &small));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_checked),
        cmocka_unit_test(small_instances_fill_each_place_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
