/* SPDX-License-Identifier: MIT
 *
 * The host's check of `transpose`: accepts the transpose (or the copy), worked out here
 * element by element, and refuses everything else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "micro/transpose/rule.h"

extern const struct ub_micro ub_micro_transpose;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

struct run {
    struct ub_point point;
    struct transpose_geometry g;
    struct ub_buffers buffers;
};

static const struct ub_gpu *h200(void)
{
    const struct ub_gpu *gpu = ub_gpu_find("h200");
    assert_non_null(gpu);
    return gpu;
}

static struct ub_point point_of(int64_t variant, int64_t n, int64_t m, int64_t bytes)
{
    struct ub_point point = {{0}};
    point.values[TRANSPOSE_VARIANT] = variant;
    point.values[TRANSPOSE_N] = n;
    point.values[TRANSPOSE_M] = m;
    point.values[TRANSPOSE_PAD] = 1;
    point.values[TRANSPOSE_BYTES] = bytes;
    return point;
}

static unsigned char *result_of(struct run *run)
{
    return run->buffers.pointers[1];
}

/* As a kernel would leave it: random source without a byte 0xFF, the result in poisoned memory. */
static void start(struct run *run, const struct ub_point *point)
{
    struct ub_footprint footprint;
    *run = (struct run){.point = *point};
    assert_null(transpose_resolve(h200(), point, &run->g));
    ub_micro_transpose.footprint(h200(), point, &footprint);
    assert_int_equal(footprint.count, 2);
    run->buffers.count = 2;
    uint64_t state = 5;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(footprint.buffers[i].output, i == 1);
        assert_int_equal(footprint.buffers[i].size_bytes % 256, 0);
        run->buffers.sizes_bytes[i] = footprint.buffers[i].size_bytes;
        unsigned char *bytes = run->buffers.pointers[i] = malloc(footprint.buffers[i].size_bytes);
        assert_non_null(bytes);
        for (uint64_t b = 0; b < footprint.buffers[i].size_bytes; b++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            bytes[b] = i == 1 ? 0xFF : (unsigned char)((state >> 40) % 255);
        }
    }
    const struct transpose_geometry *g = &run->g;
    const unsigned char *source = run->buffers.pointers[0];
    for (uint64_t y = 0; y < g->m; y++)
        for (uint64_t x = 0; x < g->n; x++) {
            const bool copies = g->variant <= TRANSPOSE_COPY_SHARED;
            const uint64_t to = copies ? y * g->n + x : x * g->m + y;
            memcpy(result_of(run) + to * g->bytes, source + (y * g->n + x) * g->bytes, g->bytes);
        }
}

static bool finish(struct run *run, struct ub_error *err)
{
    const bool ok = ub_micro_transpose.verify(h200(), &run->point, &run->buffers, 1, 0, err);
    for (size_t i = 0; i < 2; i++)
        free(run->buffers.pointers[i]);
    return ok;
}

static void right_answers_are_accepted(void **state)
{
    static const int64_t sides[][2] = {{128, 64}, {1, 1}, {100, 36}, {36, 100}};
    (void)state;
    for (int64_t variant = 0; variant < TRANSPOSE_VARIANTS; variant++)
        for (size_t s = 0; s < COUNT(sides); s++)
            for (int64_t bytes = 0; bytes < 2; bytes++) {
                if (variant == TRANSPOSE_VECTOR && sides[s][0] == 1)
                    continue;
                const struct ub_point point = point_of(variant, sides[s][0], sides[s][1], bytes);
                struct run run;
                struct ub_error err = {0};
                start(&run, &point);
                if (!finish(&run, &err))
                    fail_msg("variant %d: %s", (int)variant, err.text);
            }
}

static void flip_a_bit(struct run *run)
{
    result_of(run)[3 * run->g.bytes] ^= 1;
}

static void forget_the_last(struct run *run)
{
    memset(result_of(run) + (transpose_elements(&run->g) - 1) * run->g.bytes, 0xFF, run->g.bytes);
}

static void write_behind(struct run *run)
{
    result_of(run)[transpose_elements(&run->g) * run->g.bytes] = 0;
}

/* What a kernel does that forgets to transpose. */
static void leave_it_as_it_was(struct run *run)
{
    memcpy(result_of(run), run->buffers.pointers[0], transpose_elements(&run->g) * run->g.bytes);
}

static void swap_two(struct run *run)
{
    unsigned char first[8], *at = result_of(run);
    memcpy(first, at, run->g.bytes);
    memcpy(at, at + run->g.bytes, run->g.bytes);
    memcpy(at + run->g.bytes, first, run->g.bytes);
}

static void wrong_answers_are_refused(void **state)
{
    static const struct {
        void (*spoil)(struct run *);
        const char *part; /* of the message */
    } cases[] = {
        {flip_a_bit, "1 of 3003 elements of the result are wrong; the first is in row 0, column 3"},
        {forget_the_last, "the first is in row 76, column 38"},
        {write_behind, "byte 0 behind the result was written"},
        {leave_it_as_it_was, "elements of the result are wrong"},
        {swap_two, "2 of 3003"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int64_t bytes = 0; bytes < 2; bytes++) {
            const struct ub_point point = point_of(TRANSPOSE_SWIZZLE, 77, 39, bytes);
            struct run run;
            struct ub_error err = {0};
            start(&run, &point);
            cases[i].spoil(&run);
            assert_false(finish(&run, &err));
            assert_int_equal(err.status, UB_WRONG_ANSWER);
            if (strstr(err.text, cases[i].part) == NULL)
                fail_msg("case %zu: '%s' does not say '%s'", i, err.text, cases[i].part);
        }
}

static void buffers_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    const struct ub_point point = point_of(TRANSPOSE_PADDED, 64, 64, 0);
    struct run run;
    struct ub_error err = {0};
    start(&run, &point);
    run.buffers.sizes_bytes[1] -= 256;
    assert_false(finish(&run, &err));
    assert_int_equal(err.status, UB_INTERNAL);
    start(&run, &point);
    run.buffers.count = 1;
    assert_false(finish(&run, &err));
    assert_int_equal(err.status, UB_INTERNAL);
}

/* A few tiles, the edges as in the matrix, rows and columns not alike. */
static void small_instances_have_the_same_edges(void **state)
{
    (void)state;
    for (int64_t variant = 0; variant < TRANSPOSE_VARIANTS; variant++) {
        const struct ub_point point = point_of(variant, 16388, 16412, 0);
        struct ub_point small;
        struct transpose_geometry g, s;
        assert_true(ub_micro_transpose.small(h200(), &point, &small));
        assert_null(transpose_resolve(h200(), &point, &g));
        assert_null(transpose_resolve(h200(), &small, &s));
        assert_true(transpose_region_bytes(&s) <= 1 << 20);
        assert_int_not_equal(s.n, s.m);
        assert_int_equal(s.tile, g.tile);
        if (g.tile != 0) {
            assert_int_equal(s.n % s.tile, g.n % g.tile);
            assert_int_equal(s.m % s.tile, g.m % g.tile);
        }
    }
    const struct ub_point tiny = point_of(TRANSPOSE_PADDED, 5, 3, 0);
    struct ub_point same, none;
    assert_true(ub_micro_transpose.small(h200(), &tiny, &same));
    assert_memory_equal(&tiny, &same, sizeof tiny);
    const struct ub_point impossible = point_of(TRANSPOSE_VECTOR, 5, 3, 0);
    assert_false(ub_micro_transpose.small(h200(), &impossible, &none));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_answers_are_accepted),
        cmocka_unit_test(wrong_answers_are_refused),
        cmocka_unit_test(buffers_that_do_not_fit_are_refused),
        cmocka_unit_test(small_instances_have_the_same_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
