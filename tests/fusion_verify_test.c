/* SPDX-License-Identifier: MIT
 *
 * The answers of `fusion`: right ones are taken, also where they are rounded otherwise;
 * a number that is off by more, a step too few, a row that is divided by another's sum, no
 * number at all, bytes behind the result and buffers that are too small are not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "micro/fusion/rule.h"
#include "tests/rule_fixture.h"

extern const struct ub_micro ub_micro_fusion;

enum { BEHIND = 64 };

struct instance {
    struct ub_point point;
    struct fusion_geometry g;
    struct ub_buffers buffers;
    float *source, *target;
    uint64_t numbers; /* of the result */
};

/* Multiples of 2^-10 in [-1, 1). */
static float input(uint64_t i)
{
    return (float)((int)(i * 2654435761u >> 8 & 2047) - 1024) / 1024;
}

static void step_all(const struct instance *t)
{
    for (uint64_t i = 0; i < t->numbers; i++) {
        float x = t->source[i];
        for (uint32_t step = 0; step < t->g.steps; step++)
            x = t->g.op == FUSION_FMA ? x + 0.0009765625f : exp2f(-x) + (float)step * 0.0009765625f;
        t->target[i] = x;
    }
}

static void soften_row(const float *row, float *result, uint32_t length, float scale)
{
    float highest = row[0], total = 0;
    for (uint32_t i = 0; i < length; i++)
        highest = fmaxf(highest, row[i]);
    for (uint32_t i = 0; i < length; i++)
        total += result[i] = expf((row[i] - highest) * scale);
    for (uint32_t i = 0; i < length; i++)
        result[i] /= total;
}

static void soften_all(const struct instance *t)
{
    for (uint64_t row = 0; row < t->g.rows; row++)
        soften_row(t->source + row * t->g.length, t->target + row * t->g.length, t->g.length, 16);
}

static void attend(const struct instance *t)
{
    const uint32_t seq = t->g.seq, part = t->g.rows * 64;
    float *scores = malloc(2 * seq * sizeof *scores), *weights = scores + seq;
    assert_non_null(scores);
    for (uint32_t row = 0; row < t->g.rows; row++) {
        const float *query = t->source + row * 64, *keys = t->source + part + row / seq * seq * 64;
        for (uint32_t key = 0; key < seq; key++) {
            scores[key] = 0;
            for (uint32_t d = 0; d < 64; d++)
                scores[key] += query[d] * keys[key * 64 + d];
        }
        soften_row(scores, weights, seq, 0.125f);
        for (uint32_t d = 0; d < 64; d++) {
            float sum = 0;
            for (uint32_t key = 0; key < seq; key++)
                sum += weights[key] * keys[part + key * 64 + d];
            t->target[row * 64 + d] = sum;
        }
    }
    free(scores);
}

static void open_instance(struct instance *t, const char *axes)
{
    static void (*const compute[FUSION_WORKS])(const struct instance *) = {step_all, soften_all, attend};
    const struct ub_point point = parse_point(&ub_micro_fusion, axes);
    *t = (struct instance){.numbers = 0};
    assert_true(fusion_small(h200(), &point, &t->point));
    assert_null(fusion_resolve(h200(), &t->point, &t->g));
    struct ub_footprint small, full;
    ub_micro_fusion.footprint(h200(), &t->point, &small);
    ub_micro_fusion.footprint(h200(), &point, &full);
    assert_int_equal(small.count, full.count);
    for (size_t i = 0; i < small.count; i++)
        assert_true(small.buffers[i].size_bytes <= full.buffers[i].size_bytes);
    assert_int_equal(small.buffers[0].fill, UB_FILL_FLOAT);
    t->source = malloc(small.buffers[0].size_bytes);
    t->target = malloc(small.buffers[1].size_bytes + BEHIND);
    assert_true(t->source != NULL && t->target != NULL);
    for (uint64_t i = 0; i < small.buffers[0].size_bytes / 4; i++)
        t->source[i] = input(i);
    memset(t->target, 0xFF, small.buffers[1].size_bytes + BEHIND);
    t->numbers = small.buffers[1].size_bytes / 4;
    t->buffers =
        (struct ub_buffers){.count = 2,
                            .pointers = {t->source, t->target},
                            .sizes_bytes = {small.buffers[0].size_bytes, small.buffers[1].size_bytes + BEHIND}};
    compute[t->g.work](t);
}

static void expect(struct instance *t, enum ub_status wanted)
{
    struct ub_error err = {0};
    const bool ok = fusion_verify(h200(), &t->point, &t->buffers, 1, 0, &err);
    if (ok != (wanted == UB_OK) || (!ok && err.status != wanted))
        fail_msg("%s", ok ? "taken" : err.text);
}

static void answers_are_checked(void **state)
{
    static const char *const points[] = {
        "steps=1 n=4",
        "steps=3 n=1004 variant=split",
        "steps=1024",
        "op=exp steps=1 n=10004",
        "op=exp steps=100 variant=split",
        "work=softmax length=4 variant=split",
        "work=softmax length=1020 rows=2 variant=passes",
        "work=softmax length=5000 variant=online",
        "work=softmax length=16384",
        "work=attention seq=64 heads=1",
        "work=attention seq=8192 variant=split",
    };
    (void)state;
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        struct instance t;
        open_instance(&t, points[i]);
        expect(&t, UB_OK);
        const uint64_t places[] = {0, t.numbers / 2, t.numbers - 1};
        for (size_t n = 0; n < sizeof places / sizeof places[0]; n++) {
            float *number = t.target + places[n], right = *number;
            *number = right + fmaxf(4e-6f, fabsf(right) * 1e-4f);
            expect(&t, UB_WRONG_ANSWER);
            *number = NAN;
            expect(&t, UB_WRONG_ANSWER);
            *number = right;
        }
        unsigned char *behind = (unsigned char *)(t.target + t.numbers) + BEHIND - 1;
        *behind = 0;
        expect(&t, UB_WRONG_ANSWER);
        *behind = 0xFF;
        expect(&t, UB_OK);
        t.buffers.sizes_bytes[0] -= 4;
        expect(&t, UB_INTERNAL);
        free(t.source);
        free(t.target);
    }
}

/* A step too few or too many is another number, however many there are. */
static void every_step_counts(void **state)
{
    static const char *const points[] = {"steps=2 n=4", "steps=1000 n=4", "op=exp steps=2 n=4", "op=exp steps=16 n=4",
                                         "op=exp steps=1000 n=4"};
    (void)state;
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++)
        for (int other = -1; other <= 1; other++) {
            struct instance t;
            open_instance(&t, points[i]);
            t.g.steps = (uint32_t)((int)t.g.steps + other);
            step_all(&t);
            expect(&t, other == 0 ? UB_OK : UB_WRONG_ANSWER);
            free(t.source);
            free(t.target);
        }
}

/* A sum that is not put right when the maximum grows. */
static void a_row_needs_its_own_sum(void **state)
{
    struct instance t;
    (void)state;
    open_instance(&t, "work=softmax length=1024 rows=2");
    for (uint64_t i = 0; i < t.g.length; i++)
        t.target[i] *= 1 + 1e-4f;
    expect(&t, UB_WRONG_ANSWER);
    free(t.source);
    free(t.target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_checked),
        cmocka_unit_test(every_step_counts),
        cmocka_unit_test(a_row_needs_its_own_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
