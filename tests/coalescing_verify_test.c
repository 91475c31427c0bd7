/* SPDX-License-Identifier: MIT
 *
 * The host's check of `coalescing`: accepts what the kernel should do (emulated here
 * through access.h, as kernel.cu does it) and refuses everything else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "micro/coalescing/access.h"
#include "micro/coalescing/rule.h"

extern const struct ub_micro ub_micro_coalescing;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const uint64_t seed = 0x0123456789ABCDEF;

static const struct ub_gpu *h200(void)
{
    const struct ub_gpu *gpu = ub_gpu_find("h200");
    assert_non_null(gpu);
    return gpu;
}

/* ---- the emulated launch --------------------------------------------------------- */

struct run {
    struct ub_point point;
    struct coalescing_geometry g;
    struct ub_buffers buffers;
    uint64_t checksum;
};

/* As enum ub_fill says: random bytes, none of which is 0xFF. */
static void fill(unsigned char *bytes, uint64_t size, enum ub_fill how)
{
    uint64_t state = seed;
    for (uint64_t i = 0; i < size; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (unsigned char)(how == UB_FILL_RANDOM ? (state >> 40) % 255 : how == UB_FILL_POISON ? 0xFF : 0);
    }
}

static void allocate(struct run *run)
{
    struct ub_footprint footprint;
    ub_micro_coalescing.footprint(h200(), &run->point, &footprint);
    run->buffers.count = footprint.count;
    for (size_t i = 0; i < footprint.count; i++) {
        assert_int_equal(footprint.buffers[i].size_bytes % 256, 0);
        run->buffers.sizes_bytes[i] = footprint.buffers[i].size_bytes;
        run->buffers.pointers[i] = malloc(footprint.buffers[i].size_bytes);
        assert_non_null(run->buffers.pointers[i]);
        fill(run->buffers.pointers[i], footprint.buffers[i].size_bytes, footprint.buffers[i].fill);
    }
}

static void release(struct run *run)
{
    for (size_t i = 0; i < run->buffers.count; i++)
        free(run->buffers.pointers[i]);
}

static uint64_t little_endian(const unsigned char *bytes, uint32_t size)
{
    uint64_t value = 0;
    for (uint32_t i = size; i > 0; i--)
        value = value << 8 | bytes[i - 1];
    return value;
}

/* kernel.cu, fold() */
static uint64_t fold(const unsigned char *bytes, uint32_t size)
{
    if (size < 16)
        return little_endian(bytes, size);
    return little_endian(bytes, 8) + 3 * little_endian(bytes + 8, 8);
}

/* kernel.cu, make() */
static void make(unsigned char *bytes, uint32_t size, uint64_t element)
{
    const uint32_t key = (uint32_t)(seed ^ (seed >> 32));
    for (uint32_t number = 0; number * 4 < size; number++) {
        const uint32_t word = ((uint32_t)element * 0x9E3779B9u + key + number * 0x85EBCA6Bu) & 0x7FFFFFFFu;
        for (uint32_t i = 0; i < 4 && i < size; i++)
            bytes[number * 4 + i] = (unsigned char)(word >> (size == 1 ? 24 : size == 2 ? 16 + 8 * i : 8 * i));
    }
}

static void access_one(struct run *run, uint64_t element, uint64_t number)
{
    const struct coalescing_geometry *g = &run->g;
    const uint64_t at = element * g->bytes;
    assert_true(element < g->elements);
    unsigned char *first = run->buffers.pointers[0], *second = run->buffers.pointers[1];
    if (g->op == COALESCING_LOAD)
        run->checksum += fold(first + at, g->bytes) * (2 * number + 1);
    else if (g->op == COALESCING_STORE)
        make(first + at, g->bytes, element);
    else
        memcpy(second + at, first + at, g->bytes);
}

static void launch(struct run *run)
{
    const struct coalescing_geometry *g = &run->g;
    const enum coalescing_pattern pattern = (enum coalescing_pattern)g->pattern;
    for (uint32_t block = 0; block < g->blocks; block++)
        for (uint32_t thread = 0; thread < g->block; thread++)
            for (uint32_t field = 0; field < g->fields; field++)
                for (uint32_t k = 0; k < g->per_thread; k++) {
                    const uint64_t base = coalescing_base(g, pattern, block, thread, field);
                    const uint64_t i = (uint64_t)block * g->per_thread * g->block + thread + (uint64_t)k * g->block;
                    access_one(run, coalescing_element(g, pattern, base, k), i * g->fields + field);
                }
}

/* ---- points ---------------------------------------------------------------------------- */

/* Values by axis; bytes, op, pattern, shape as indices of their words. */
static struct ub_point point_of(int64_t stride, int64_t offset, int64_t bytes, int64_t op, int64_t pattern,
                                int64_t fields, int64_t block, int64_t shape)
{
    struct ub_point point = {{0}};
    point.values[COALESCING_STRIDE] = stride;
    point.values[COALESCING_OFFSET] = offset;
    point.values[COALESCING_BYTES] = bytes;
    point.values[COALESCING_OP] = op;
    point.values[COALESCING_PATTERN] = pattern;
    point.values[COALESCING_FIELDS] = fields;
    point.values[COALESCING_BLOCK] = block;
    point.values[COALESCING_SHAPE] = shape;
    return point;
}

/* A launch of the small instance of `point`. */
static void start(struct run *run, const struct ub_point *point)
{
    *run = (struct run){0};
    assert_true(ub_micro_coalescing.small(h200(), point, &run->point));
    assert_null(coalescing_resolve(h200(), &run->point, &run->g));
    assert_true(run->g.blocks >= 3);
    allocate(run);
    launch(run);
}

static bool verify(const struct run *run, struct ub_error *err)
{
    *err = (struct ub_error){0};
    return ub_micro_coalescing.verify(h200(), &run->point, &run->buffers, seed, run->checksum, err);
}

static void accepts(const struct ub_point *point)
{
    struct run run;
    struct ub_error err;
    start(&run, point);
    const bool ok = verify(&run, &err);
    release(&run);
    if (!ok)
        fail_msg("stride=%lld offset=%lld bytes=%d op=%lld pattern=%lld fields=%lld block=%lld shape=%lld: %s",
                 (long long)point->values[0], (long long)point->values[1], 1 << point->values[2],
                 (long long)point->values[3], (long long)point->values[4], (long long)point->values[5],
                 (long long)point->values[6], (long long)point->values[7], err.text);
}

static void what_the_kernel_should_do_is_accepted(void **state)
{
    static const int64_t linear[][4] = {/* stride offset pattern block */
                                        {1, 0, 0, 256},  {2, 3, 0, 256},   {33, 127, 0, 48}, {1, 0, 2, 33},
                                        {3, 1, 2, 256},  {1, 0, 3, 256},   {5, 2, 3, 33},    {1, 0, 3, 48},
                                        {1, 0, 0, 1024}, {127, 0, 0, 100}, {1, 0, 1, 256},   {1, 0, 1, 48}};
    (void)state;
    for (int64_t bytes = 0; bytes < COALESCING_WIDTHS; bytes++)
        for (int64_t op = 0; op < COALESCING_OPS; op++) {
            for (size_t i = 0; i < COUNT(linear); i++) {
                const struct ub_point point =
                    point_of(linear[i][0], linear[i][1], bytes, op, linear[i][2], 1, linear[i][3], 0);
                accepts(&point);
            }
            for (int64_t fields = 1; fields <= 16; fields += 5)
                for (int64_t pattern = COALESCING_AOS; pattern <= COALESCING_SOA; pattern++) {
                    const struct ub_point point = point_of(1, 0, bytes, op, pattern, fields, 96, 0);
                    accepts(&point);
                }
            for (int64_t shape = 1; shape <= 4; shape++) {
                const struct ub_point point = point_of(1, shape, bytes, op, 0, 1, 256, shape);
                accepts(&point);
            }
        }
}

/* Explicit accesses a thread: 4 bytes x 1, 2, 4. */
static void every_per_thread_is_accepted(void **state)
{
    (void)state;
    for (int64_t per_thread = 1; per_thread <= 4; per_thread *= 2)
        for (int64_t op = 0; op < COALESCING_OPS; op++) {
            struct ub_point point = point_of(3, 1, 2, op, 0, 1, 48, 0);
            point.values[COALESCING_PER_THREAD] = per_thread;
            accepts(&point);
        }
}

/* ---- wrong answers ------------------------------------------------------------------------- */

static unsigned char *destination(struct run *run)
{
    return run->buffers.pointers[run->g.op == COALESCING_STORE ? 0 : 1];
}

static void flip_a_written_bit(struct run *run)
{
    destination(run)[run->g.offset * run->g.bytes] ^= 1;
}

static void write_between(struct run *run) /* stride is 2: the element after the first is a gap */
{
    destination(run)[(run->g.offset + 1) * run->g.bytes] = 0;
}

static void forget_the_last(struct run *run)
{
    memset(destination(run) + (run->g.elements - 1) * run->g.bytes, 0xFF, run->g.bytes);
}

static void write_behind_the_region(struct run *run)
{
    destination(run)[run->g.elements * run->g.bytes] = 0;
}

static void miss_the_checksum(struct run *run)
{
    run->checksum++;
}

static void skip_one_load(struct run *run)
{
    const unsigned char *source = run->buffers.pointers[0];
    run->checksum -= fold(source + run->g.offset * run->g.bytes, run->g.bytes);
}

/* Accesses 0 and 1 exchange their elements: the set of bytes loaded is the same. */
static void swap_two_loads(struct run *run)
{
    const unsigned char *source = run->buffers.pointers[0];
    const uint64_t a = fold(source + run->g.offset * run->g.bytes, run->g.bytes);
    const uint64_t b = fold(source + (run->g.offset + run->g.stride) * run->g.bytes, run->g.bytes);
    run->checksum += (b - a) * 1 + (a - b) * 3;
}

static void write_the_sink(struct run *run)
{
    ((unsigned char *)run->buffers.pointers[1])[17] = 1;
}

static void wrong_answers_are_refused(void **state)
{
    static const struct {
        enum coalescing_op op;
        void (*spoil)(struct run *);
        const char *part; /* of the message */
    } cases[] = {
        {COALESCING_STORE, flip_a_written_bit, "1 of "},
        {COALESCING_STORE, write_between, "instead of 0xFF"},
        {COALESCING_STORE, forget_the_last, "0xFF instead of"},
        {COALESCING_STORE, write_behind_the_region, "instead of 0xFF"},
        {COALESCING_COPY, flip_a_written_bit, "1 of "},
        {COALESCING_COPY, write_between, "instead of 0xFF"},
        {COALESCING_COPY, forget_the_last, "0xFF instead of"},
        {COALESCING_LOAD, miss_the_checksum, "the sum over"},
        {COALESCING_LOAD, skip_one_load, "the sum over"},
        {COALESCING_LOAD, swap_two_loads, "the sum over"},
        {COALESCING_LOAD, write_the_sink, "wrote byte 17"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int64_t bytes = 0; bytes < COALESCING_WIDTHS; bytes++) {
            const struct ub_point point = point_of(2, 5, bytes, cases[i].op, COALESCING_BY_STRIDE, 1, 256, 0);
            struct run run;
            struct ub_error err;
            start(&run, &point);
            cases[i].spoil(&run);
            const bool ok = verify(&run, &err);
            release(&run);
            assert_false(ok);
            assert_int_equal(err.status, UB_WRONG_ANSWER);
            if (strstr(err.text, cases[i].part) == NULL)
                fail_msg("case %zu: '%s' does not say '%s'", i, err.text, cases[i].part);
        }
}

static void buffers_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    const struct ub_point point = point_of(1, 0, 2, COALESCING_COPY, COALESCING_BY_STRIDE, 1, 256, 0);
    struct run run;
    struct ub_error err;
    start(&run, &point);
    run.buffers.count = 1;
    assert_false(verify(&run, &err));
    assert_int_equal(err.status, UB_INTERNAL);
    run.buffers.count = 2;
    run.buffers.sizes_bytes[1] -= 256;
    assert_false(verify(&run, &err));
    assert_int_equal(err.status, UB_INTERNAL);
    release(&run);
}

/* Host memory of the largest small instance stays below 64 MiB a buffer. */
static void small_instances_are_small(void **state)
{
    static const int64_t extremes[][2] = {/* stride block */ {1, 32}, {1, 1024}, {1024, 32}, {1024, 1024}};
    (void)state;
    for (size_t i = 0; i < COUNT(extremes); i++)
        for (int64_t bytes = 0; bytes < COALESCING_WIDTHS; bytes++) {
            const struct ub_point point = point_of(extremes[i][0], 0, bytes, 0, 0, 1, extremes[i][1], 0);
            struct ub_point small;
            struct coalescing_geometry g;
            assert_true(ub_micro_coalescing.small(h200(), &point, &small));
            assert_null(coalescing_resolve(h200(), &small, &g));
            assert_true(coalescing_region_bytes(&g) <= 64u << 20);
            const int64_t size = small.values[COALESCING_SIZE];
            assert_in_range(size, ub_micro_coalescing.axes[COALESCING_SIZE].minimum,
                            ub_micro_coalescing.axes[COALESCING_SIZE].maximum);
        }
    struct ub_point none;
    const struct ub_point impossible = point_of(2, 0, 2, 0, COALESCING_RANDOM, 1, 256, 0);
    assert_false(ub_micro_coalescing.small(h200(), &impossible, &none));
}

/* pattern=random touches every element of its region once. */
static void scatter_is_a_bijection(void **state)
{
    (void)state;
    for (unsigned bits = 1; bits <= 20; bits++) {
        const uint32_t mask = (1u << bits) - 1;
        unsigned char *seen = calloc(mask + 1u, 1);
        assert_non_null(seen);
        for (uint32_t i = 0; i <= mask; i++) {
            const uint32_t element = coalescing_scatter(i, mask);
            assert_true(element <= mask);
            assert_int_equal(seen[element], 0);
            seen[element] = 1;
        }
        free(seen);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_kernel_should_do_is_accepted),
        cmocka_unit_test(every_per_thread_is_accepted),
        cmocka_unit_test(wrong_answers_are_refused),
        cmocka_unit_test(buffers_that_do_not_fit_are_refused),
        cmocka_unit_test(small_instances_are_small),
        cmocka_unit_test(scatter_is_a_bijection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
