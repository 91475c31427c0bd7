/* SPDX-License-Identifier: MIT
 *
 * What fills the buffers: seeded words, numbers that both formats hold exactly. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "harness/cuda/fill.h"

enum { WORDS = 20000 };

static float float_of(uint64_t word, int half)
{
    const uint32_t bits = (uint32_t)(word >> (32 * half));
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* IEEE 754 binary16, written out. */
static double value_of_half(unsigned bits)
{
    const int exponent = (int)(bits >> 10 & 31);
    const double fraction = (bits & 1023) / 1024.0;
    const double size = exponent == 0 ? ldexp(fraction, -14) : ldexp(1 + fraction, exponent - 15);
    return bits >> 15 ? -size : size;
}

static void splitmix_is_the_published_one(void **state)
{
    (void)state;
    /* The generator's first outputs from seed 0: gamma is added before each mix. */
    assert_true(ub_fill_mix(0) == 0xE220A8397B1DCDAFu);
    assert_true(ub_fill_mix(0x9E3779B97F4A7C15u) == 0x6E789E6AA1B965F4u);
    assert_true(ub_fill_mix(2 * 0x9E3779B97F4A7C15u) == 0x06C45D188009454Fu);
}

static void random_bytes_are_never_all_ones(void **state)
{
    (void)state;
    assert_true(ub_fill_without_ones(0xFF00FFFF7FFEFFFFu) == 0xFE00FEFE7FFEFEFEu);
    unsigned seen[256] = {0};
    for (uint64_t i = 0; i < WORDS; i++) {
        const uint64_t word = ub_fill_word(UB_FILL_RANDOM, i, 1);
        for (int byte = 0; byte < 8; byte++)
            seen[word >> (8 * byte) & 0xFF]++;
    }
    assert_int_equal(seen[0xFF], 0);
    for (int value = 0; value < 0xFF; value++)
        assert_true(seen[value] > 0);
}

static void numbers_are_steps_of_a_1024th_in_both_formats(void **state)
{
    (void)state;
    for (uint32_t step = 0; step < 2048; step++) {
        const double wanted = step / 1024.0 - 1;
        const uint32_t single = ub_fill_number(step, 23, 127, 31);
        const uint32_t half = ub_fill_number(step, 10, 15, 15);
        assert_true((double)float_of(single, 0) == wanted);
        assert_true(value_of_half(half) == wanted);
        assert_true(half <= 0xFFFF);
    }
}

static void words_hold_numbers_of_the_whole_range(void **state)
{
    (void)state;
    double sum = 0;
    double least = 1;
    double most = -1;
    for (uint64_t i = 0; i < WORDS; i++) {
        const uint64_t floats = ub_fill_word(UB_FILL_FLOAT, i, 7);
        const uint64_t halves = ub_fill_word(UB_FILL_HALF, i, 7);
        for (int part = 0; part < 4; part++) {
            const double value =
                part < 2 ? (double)float_of(floats, part) : value_of_half(halves >> (16 * part) & 0xFFFF);
            assert_true(value >= -1 && value < 1 && value * 1024 == floor(value * 1024));
            least = fmin(least, value);
            most = fmax(most, value);
            sum += value;
        }
        assert_true(value_of_half(halves & 0xFFFF) >= -1);
    }
    assert_true(least == -1 && most == 1023 / 1024.0);
    /* Uniform in -1..1: a standard deviation of 0.577; five of the mean's. */
    assert_true(fabs(sum / (4.0 * WORDS)) < 5 * 0.577 / sqrt(4.0 * WORDS));
}

static void seeds_and_places_differ(void **state)
{
    (void)state;
    assert_true(ub_fill_word(UB_FILL_RANDOM, 0, 1) != ub_fill_word(UB_FILL_RANDOM, 0, 2));
    assert_true(ub_fill_word(UB_FILL_RANDOM, 0, 1) != ub_fill_word(UB_FILL_RANDOM, 1, 1));
    assert_true(ub_fill_word(UB_FILL_POISON, 5, 1) == UINT64_MAX);
    assert_true(ub_fill_word(UB_FILL_ZERO, 5, 1) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splitmix_is_the_published_one),
        cmocka_unit_test(random_bytes_are_never_all_ones),
        cmocka_unit_test(numbers_are_steps_of_a_1024th_in_both_formats),
        cmocka_unit_test(words_hold_numbers_of_the_whole_range),
        cmocka_unit_test(seeds_and_places_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
