/* SPDX-License-Identifier: MIT
 *
 * The host's check of `carveout`: accepts the sum that the kernel should leave (worked out
 * here through access.h, as kernel.cu does it) and refuses every other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "micro/carveout/access.h"
#include "micro/carveout/rule.h"

extern const struct ub_micro ub_micro_carveout;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct ub_gpu *h200(void)
{
    const struct ub_gpu *gpu = ub_gpu_find("h200");
    assert_non_null(gpu);
    return gpu;
}

/* ---- the emulated launch --------------------------------------------------------- */

struct run {
    struct ub_point point;
    struct carveout_geometry g;
    uint32_t *source;
    uint64_t sum;
};

static uint64_t load(const struct run *run, uint32_t line)
{
    uint64_t sum = 0;
    for (uint32_t lane = 0; lane < CARVEOUT_LANES; lane++)
        sum += run->source[line * CARVEOUT_LINE_WORDS + lane];
    return sum;
}

static void launch(struct run *run)
{
    const struct carveout_geometry *g = &run->g;
    run->sum = 0;
    for (uint32_t line = 0; line < g->lines; line++)
        run->sum += load(run, line);
    for (uint32_t warp = 0; warp < g->warps; warp++) {
        uint32_t place = carveout_start(g->order, warp);
        for (uint32_t k = 0; k < CARVEOUT_WARM + CARVEOUT_UNROLL; k++) {
            run->sum += load(run, carveout_line(g->order, place, g->lines));
            place = carveout_next(g->order, place, g->lines);
        }
    }
}

static void start(struct run *run, uint32_t order, uint32_t lines)
{
    *run = (struct run){0};
    run->point.values[CARVEOUT_ORDER] = order;
    run->point.values[CARVEOUT_FOOTPRINT] = (int64_t)lines * 128;
    assert_null(carveout_resolve(h200(), &run->point, &run->g));
    run->source = malloc(lines * 128u);
    assert_non_null(run->source);
    uint32_t state = 12345;
    for (uint32_t word = 0; word < lines * 32; word++)
        run->source[word] = state = state * 1103515245u + 12345u;
    launch(run);
}

static bool verify(const struct run *run, uint64_t sum, uint64_t size_bytes, struct ub_error *err)
{
    const struct ub_buffers host = {.count = 1, .pointers = {run->source}, .sizes_bytes = {size_bytes}};
    *err = (struct ub_error){0};
    return ub_micro_carveout.verify(h200(), &run->point, &host, 1, sum, err);
}

/* ---- tests ------------------------------------------------------------------------- */

/* Also footprints of a prime number of lines, and of no more than there are warps. */
static void what_the_kernel_should_do_is_accepted(void **state)
{
    static const uint32_t lines[] = {4, 5, 7, 8, 127, 1009, 2560, 8192};
    (void)state;
    for (uint32_t order = 0; order < CARVEOUT_ORDERS; order++)
        for (size_t i = 0; i < COUNT(lines); i++) {
            struct run run;
            struct ub_error err;
            start(&run, order, lines[i]);
            if (!verify(&run, run.sum, lines[i] * UINT64_C(128), &err))
                fail_msg("order %u, %u lines: %s", order, lines[i], err.text);
            free(run.source);
        }
}

static void wrong_answers_are_refused(void **state)
{
    (void)state;
    for (uint32_t order = 0; order < CARVEOUT_ORDERS; order++) {
        struct run run, other;
        struct ub_error err;
        start(&run, order, 1009);
        start(&other, 1 - order, 1009);
        const uint64_t wrong[] = {run.sum + 1, 0, run.sum - load(&run, 1008), other.sum};
        for (size_t i = 0; i < COUNT(wrong); i++) {
            assert_false(verify(&run, wrong[i], 1009 * 128, &err));
            assert_int_equal(err.status, UB_WRONG_ANSWER);
            assert_non_null(strstr(err.text, "the sum of what was loaded is"));
        }
        free(run.source);
        free(other.source);
    }
}

static void a_buffer_that_is_too_small_is_refused(void **state)
{
    (void)state;
    struct run run;
    struct ub_error err;
    start(&run, CARVEOUT_RANDOM, 64);
    assert_false(verify(&run, run.sum, 64 * 128 - 1, &err));
    assert_int_equal(err.status, UB_INTERNAL);
    free(run.source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_kernel_should_do_is_accepted),
        cmocka_unit_test(wrong_answers_are_refused),
        cmocka_unit_test(a_buffer_that_is_too_small_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
