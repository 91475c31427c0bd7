/* SPDX-License-Identifier: MIT
 *
 * The host's check of `bank_conflict`: accepts what the kernel should do (emulated here
 * through access.h, as kernel.cu does it) and refuses everything else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "micro/bank_conflict/access.h"
#include "micro/bank_conflict/rule.h"

extern const struct ub_micro ub_micro_bank_conflict;

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
    struct bank_conflict_geometry g;
    struct ub_buffers buffers;
};

static void allocate(struct run *run)
{
    struct ub_footprint footprint;
    ub_micro_bank_conflict.footprint(h200(), &run->point, &footprint);
    run->buffers.count = footprint.count;
    for (size_t i = 0; i < footprint.count; i++) {
        const uint64_t size = footprint.buffers[i].size_bytes;
        unsigned char *bytes = malloc(size);
        assert_non_null(bytes);
        uint64_t state = seed;
        for (uint64_t b = 0; b < size; b++) { /* as enum ub_fill says */
            state = state * 6364136223846793005u + 1442695040888963407u;
            bytes[b] = (unsigned char)(footprint.buffers[i].fill == UB_FILL_RANDOM ? (state >> 40) % 255 : 0xFF);
        }
        run->buffers.pointers[i] = bytes;
        run->buffers.sizes_bytes[i] = size;
    }
}

static void release(struct run *run)
{
    for (size_t i = 0; i < run->buffers.count; i++)
        free(run->buffers.pointers[i]);
}

static uint32_t word_of(const struct run *run, uint32_t thread, uint32_t k)
{
    const struct bank_conflict_geometry *g = &run->g;
    return (bank_conflict_element(g, thread / 32, thread % 32) * g->unit_bytes + k * BANK_CONFLICT_APART_BYTES) / 4;
}

static uint32_t loaded(const struct run *run, uint32_t thread, uint32_t k, uint32_t i)
{
    const uint32_t *source = run->buffers.pointers[0];
    if (run->g.op != BANK_CONFLICT_LDMATRIX)
        return source[word_of(run, thread, k) + i];
    const uint32_t lane = thread % 32;
    return source[word_of(run, thread - lane + 8 * i + lane / 4, k) + lane % 4];
}

static void launch(struct run *run)
{
    uint32_t *out = run->buffers.pointers[run->buffers.count - 1];
    const bool stores = run->g.op == BANK_CONFLICT_STORE;
    for (uint32_t thread = 0; thread < BANK_CONFLICT_THREADS; thread++)
        for (uint32_t i = 0; i < run->g.words; i++) {
            uint32_t sum = 0;
            for (uint32_t k = 0; k < BANK_CONFLICT_UNROLL; k++)
                if (stores)
                    out[word_of(run, thread, k) + i] = bank_conflict_key(seed) + word_of(run, thread, k) + i;
                else
                    sum += loaded(run, thread, k, i);
            if (!stores)
                out[thread * BANK_CONFLICT_SUMS + i] = sum;
        }
}

static void start(struct run *run, const struct ub_point *point)
{
    *run = (struct run){.point = *point};
    assert_null(bank_conflict_resolve(h200(), point, &run->g));
    allocate(run);
    launch(run);
}

static bool verify(const struct run *run, struct ub_error *err)
{
    *err = (struct ub_error){0};
    return ub_micro_bank_conflict.verify(h200(), &run->point, &run->buffers, seed, 0, err);
}

static struct ub_point point_of(int64_t op, int64_t bytes, int64_t pattern, int64_t stride, int64_t pad, int64_t share)
{
    struct ub_point point = {{0}};
    point.values[BANK_CONFLICT_OP] = op;
    point.values[BANK_CONFLICT_BYTES] = bytes;
    point.values[BANK_CONFLICT_PATTERN] = pattern;
    point.values[BANK_CONFLICT_STRIDE] = stride;
    point.values[BANK_CONFLICT_PAD] = pad;
    point.values[BANK_CONFLICT_SHARE] = share;
    return point;
}

/* ---- tests ------------------------------------------------------------------------- */

static void what_the_kernel_should_do_is_accepted(void **state)
{
    static const int64_t rows[][4] = {
        /* pattern, stride, pad, share */
        {BANK_CONFLICT_BY_STRIDE, 0, 1, 1},  {BANK_CONFLICT_BY_STRIDE, 1, 1, 1}, {BANK_CONFLICT_BY_STRIDE, 33, 1, 1},
        {BANK_CONFLICT_BY_STRIDE, 64, 1, 1}, {BANK_CONFLICT_PADDED, 32, 1, 1},   {BANK_CONFLICT_PADDED, 64, 8, 1},
        {BANK_CONFLICT_PADDED, 7, 3, 1},     {BANK_CONFLICT_XOR, 32, 1, 1},      {BANK_CONFLICT_XOR, 64, 1, 1},
        {BANK_CONFLICT_XOR, 5, 1, 1},        {BANK_CONFLICT_COLUMN, 1, 0, 1},    {BANK_CONFLICT_COLUMN, 1, 1, 1},
        {BANK_CONFLICT_RANDOM, 1, 1, 1},     {BANK_CONFLICT_BROADCAST, 1, 1, 1}, {BANK_CONFLICT_MULTICAST, 1, 1, 0},
        {BANK_CONFLICT_MULTICAST, 1, 1, 1},  {BANK_CONFLICT_MULTICAST, 1, 1, 6}, {BANK_CONFLICT_MULTICAST, 1, 1, 31},
    };
    (void)state;
    for (size_t r = 0; r < COUNT(rows); r++)
        for (int64_t op = 0; op < BANK_CONFLICT_OPS; op++)
            for (int64_t bytes = 0; bytes < BANK_CONFLICT_WIDTHS; bytes++) {
                const struct ub_point point = point_of(op, bytes, rows[r][0], rows[r][1], rows[r][2], rows[r][3]);
                struct run run;
                struct ub_error err;
                start(&run, &point);
                if (!verify(&run, &err))
                    fail_msg("row %zu op %d width %d: %s", r, (int)op, (int)bytes, err.text);
                release(&run);
            }
}

static uint32_t *out_of(struct run *run)
{
    return run->buffers.pointers[run->buffers.count - 1];
}

static void flip_a_bit(struct run *run)
{
    out_of(run)[0] ^= 1u << 30;
}

static void swap_two_lanes(struct run *run)
{
    const uint32_t first = out_of(run)[0];
    out_of(run)[0] = out_of(run)[BANK_CONFLICT_SUMS];
    out_of(run)[BANK_CONFLICT_SUMS] = first;
}

static void forget_the_last_load(struct run *run)
{
    out_of(run)[0] -= loaded(run, 0, BANK_CONFLICT_UNROLL - 1, 0);
}

static void write_behind_the_words(struct run *run)
{
    out_of(run)[run->g.words] = 5; /* of thread 0 */
}

static void forget_the_last_store(struct run *run)
{
    out_of(run)[word_of(run, BANK_CONFLICT_THREADS - 1, BANK_CONFLICT_UNROLL - 1)] = 0xFFFFFFFF;
}

static void store_where_nothing_belongs(struct run *run)
{
    out_of(run)[run->g.region_bytes / 4 - 1] = bank_conflict_key(seed) + run->g.region_bytes / 4 - 1;
}

static void store_one_word_off(struct run *run)
{
    out_of(run)[word_of(run, 3, 2)] += 1;
}

static void wrong_answers_are_refused(void **state)
{
    static const struct {
        enum bank_conflict_op op;
        void (*spoil)(struct run *);
        const char *part; /* of the message */
    } cases[] = {
        {BANK_CONFLICT_LOAD, flip_a_bit, "thread 0 summed word 0"},
        {BANK_CONFLICT_LOAD, swap_two_lanes, "thread 0 summed word 0"},
        {BANK_CONFLICT_LOAD, forget_the_last_load, "the host expects"},
        {BANK_CONFLICT_LOAD, write_behind_the_words, "thread 0 summed word 2"},
        {BANK_CONFLICT_LDMATRIX, flip_a_bit, "thread 0 summed word 0"},
        {BANK_CONFLICT_LDMATRIX, swap_two_lanes, "thread 0 summed word 0"},
        {BANK_CONFLICT_STORE, flip_a_bit, "1 of "},
        {BANK_CONFLICT_STORE, forget_the_last_store, "ffffffff instead of"},
        {BANK_CONFLICT_STORE, store_where_nothing_belongs, "instead of ffffffff"},
        {BANK_CONFLICT_STORE, store_one_word_off, "1 of "},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct ub_point point = point_of(cases[i].op, 1, BANK_CONFLICT_BY_STRIDE, 3, 1, 1);
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
    const struct ub_point point = point_of(BANK_CONFLICT_LOAD, 0, BANK_CONFLICT_BY_STRIDE, 1, 1, 1);
    struct run run;
    struct ub_error err;
    start(&run, &point);
    run.buffers.count = 1;
    assert_false(verify(&run, &err));
    assert_int_equal(err.status, UB_INTERNAL);
    run.buffers.count = 2;
    run.buffers.sizes_bytes[1] -= 4;
    assert_false(verify(&run, &err));
    assert_int_equal(err.status, UB_INTERNAL);
    release(&run);
}

/* The whole point is what the host checks; there is no reference kernel. */
static void the_small_instance_is_the_point(void **state)
{
    (void)state;
    struct ub_point small;
    const struct ub_point point = point_of(BANK_CONFLICT_STORE, 2, BANK_CONFLICT_BY_STRIDE, 64, 1, 1);
    assert_true(ub_micro_bank_conflict.small(h200(), &point, &small));
    assert_memory_equal(&point, &small, sizeof point);
    const struct ub_point impossible = point_of(BANK_CONFLICT_LOAD, 0, BANK_CONFLICT_COLUMN, 2, 1, 1);
    assert_false(ub_micro_bank_conflict.small(h200(), &impossible, &small));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_kernel_should_do_is_accepted),
        cmocka_unit_test(wrong_answers_are_refused),
        cmocka_unit_test(buffers_that_do_not_fit_are_refused),
        cmocka_unit_test(the_small_instance_is_the_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
