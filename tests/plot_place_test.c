/* SPDX-License-Identifier: MIT
 *
 * Scales, and where a label finds a place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "plots/place.h"
#include "plots/scale.h"
#include "plots/text.h"

static void assert_ticks(const struct ub_scale *scale, const char *expected)
{
    char text[512] = "";
    for (size_t i = 0; i < scale->tick_count; i++)
        ub_text_append(text, sizeof text, "%s%s", i ? " " : "", scale->ticks[i].label);
    assert_string_equal(text, expected);
}

static void test_scales(void **state)
{
    (void)state;
    struct ub_scale scale;
    ub_scale_log2(&scale, 1, 32, 0, 0, 8);
    assert_ticks(&scale, "1 2 4 8 16 32");
    assert_true(fabs(ub_scale_fraction(&scale, 4) - 0.4) < 1e-12);
    ub_scale_log2(&scale, 0.25, 4, 0, 0, 8);
    assert_ticks(&scale, "0.25 0.5 1 2 4");
    ub_scale_log2(&scale, 1, 1 << 20, 0, 0, 8);
    assert_ticks(&scale, "1 8 64 512 4096 32768 262144");
    ub_scale_linear(&scale, 0, 32, 0, 0.1, 5, false);
    assert_ticks(&scale, "0 8 16 24 32");
    ub_scale_linear(&scale, 0, 4680, 0, 0.1, 8, false);
    assert_ticks(&scale, "0 1000 2000 3000 4000 5000");
    assert_true(fabs(ub_scale_fraction(&scale, scale.hi) - 1) < 1e-12);
    ub_scale_linear(&scale, 0, 31, 0, 0, 12, true);
    assert_ticks(&scale, "0 5 10 15 20 25 30");
    ub_scale_linear(&scale, 7, 7, 0, 0, 5, false); /* all values equal */
    assert_true(scale.lo < 7 && scale.hi > 7 && scale.tick_count >= 2);
    ub_scale_linear(&scale, 0, 0, 0, 0, 5, false);
    assert_true(scale.hi > scale.lo);
    ub_scale_category(&scale, 3);
    assert_true(fabs(ub_scale_fraction(&scale, 1) - 0.5) < 1e-12);
}

static void test_places(void **state)
{
    (void)state;
    struct ub_place place;
    assert_true(ub_place_init(&place, 100, 50, 400, 200));
    struct ub_spot line[] = {{100, 150}, {500, 150}}, far_line[] = {{100, 60}, {500, 60}};
    const struct ub_path own = {.joined = true, .count = 2, .spots = line};
    const struct ub_path other = {.joined = true, .count = 2, .spots = far_line};
    ub_place_line(&place, line[0], line[1]);
    struct ub_spot corner;
    assert_true(ub_place_near(&place, 60, 14, 30, &own, 1, &other, &corner));
    /* Beside the line, not on it, and inside. */
    assert_true(corner.y + 14 < 150 || corner.y > 150);
    assert_true(fabs(corner.y + 7 - 150) < 7 + 12);
    assert_true(corner.x >= 100 && corner.x + 60 <= 500);
    /* A label belongs to the curve that is nearest. */
    ub_place_box(&place, 100, 70, 400, 180);
    assert_false(ub_place_near(&place, 60, 14, 300, &own, 1, &other, &corner));
    ub_place_box(&place, 100, 50, 400, 200);
    assert_false(ub_place_near(&place, 60, 14, 300, &own, 0, NULL, &corner));
    ub_place_free(&place);

    /* No curve runs over a break, so that nothing there can be named after it. */
    assert_true(ub_place_init(&place, 0, 0, 600, 200));
    struct ub_spot broken[] = {{0, 100}, {100, 100}, {NAN, NAN}, {500, 100}, {600, 100}};
    const struct ub_path pieces = {.joined = true, .count = 5, .spots = broken};
    ub_place_box(&place, 0, 0, 180, 200);
    ub_place_box(&place, 420, 0, 180, 200);
    assert_false(ub_place_near(&place, 60, 14, 30, &pieces, 0, NULL, &corner));
    assert_true(ub_place_near(&place, 60, 14, 90, &pieces, 0, NULL, &corner));
    ub_place_free(&place);

    assert_true(ub_place_init(&place, 0, 0, 400, 200));
    struct ub_spot upper[] = {{0, 20}, {400, 20}}, lower[] = {{0, 100}, {400, 100}};
    const struct ub_path above = {.joined = true, .count = 2, .spots = upper};
    const struct ub_path below = {.joined = true, .count = 2, .spots = lower};
    assert_true(ub_place_between(&place, 50, 14, &above, &below, &corner));
    assert_true(fabs(corner.y + 7 - 60) < 3); /* in the middle of the gap */
    assert_false(ub_place_between(&place, 50, 90, &above, &below, &corner));
    ub_place_free(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
