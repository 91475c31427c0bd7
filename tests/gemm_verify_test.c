/* SPDX-License-Identifier: MIT
 *
 * What verification of `gemm` accepts and what not: rounding within its bound and nothing
 * beyond it, wherever in C, in fp32 and with fp16 inputs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "micro/gemm/rule.h"
#include "tests/rule_fixture.h"

extern const struct ub_micro ub_micro_gemm;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* A multiple of 2^-10 in [-1, 1), as the fill has them. */
static double value_at(uint64_t index, uint32_t seed)
{
    return (double)(((uint32_t)index * 2654435761u + seed) >> 7 & 2047) / 1024 - 1;
}

/* The half that is exactly such a value. */
static uint16_t half_of(double value)
{
    int exponent;
    const double fraction = frexp(fabs(value), &exponent); /* 0.5 <= fraction < 1 */
    if (value == 0)
        return 0;
    const uint32_t mantissa = (uint32_t)ldexp(fraction, 11) - 1024;
    return (uint16_t)((value < 0 ? 0x8000u : 0) | (uint32_t)(exponent + 14) << 10 | mantissa);
}

struct product {
    struct ub_point small;
    struct gemm_geometry g;
    struct ub_buffers host;
};

static void fill(struct product *p, int buffer, uint64_t count, uint32_t seed)
{
    for (uint64_t i = 0; i < count; i++) {
        const double value = value_at(i, seed);
        if (p->g.half)
            ((uint16_t *)p->host.pointers[buffer])[i] = half_of(value);
        else
            ((float *)p->host.pointers[buffer])[i] = (float)value;
    }
}

/* A small instance with its product, rounded to fp32. */
static void make(struct product *p, const char *axes)
{
    const struct ub_point point = parse_point(&ub_micro_gemm, axes);
    struct ub_footprint footprint;
    assert_true(ub_micro_gemm.small(h200(), &point, &p->small));
    assert_null(gemm_resolve(h200(), &p->small, &p->g));
    ub_micro_gemm.footprint(h200(), &p->small, &footprint);
    p->host = (struct ub_buffers){.count = footprint.count};
    for (size_t i = 0; i < footprint.count; i++) {
        p->host.sizes_bytes[i] = footprint.buffers[i].size_bytes;
        p->host.pointers[i] = malloc(footprint.buffers[i].size_bytes);
        assert_non_null(p->host.pointers[i]);
        memset(p->host.pointers[i], 0xFF, footprint.buffers[i].size_bytes);
    }
    const uint64_t m = p->g.shape.m, n = p->g.shape.n, k = p->g.shape.k;
    fill(p, 0, m * k, 1);
    fill(p, 1, k * n, 2);
    for (uint64_t row = 0; row < m; row++)
        for (uint64_t column = 0; column < n; column++) {
            double sum = 0;
            for (uint64_t i = 0; i < k; i++)
                sum += value_at(row * k + i, 1) * value_at(i * n + column, 2);
            ((float *)p->host.pointers[2])[row * n + column] = (float)sum;
        }
}

static void drop(struct product *p)
{
    for (size_t i = 0; i < p->host.count; i++)
        free(p->host.pointers[i]);
}

static bool accepted(const struct product *p, struct ub_error *err)
{
    *err = (struct ub_error){0};
    return ub_micro_gemm.verify(h200(), &p->small, &p->host, 1, 0, err);
}

static const char *const points[] = {
    "variant=naive_row n=1",       "variant=naive_col n=70 m=33 k=5", "variant=tiled n=500",
    "variant=register n=1021",     "variant=async n=300 k=50",        "variant=tensor n=264 m=130 k=72",
    "variant=tensor n=5 m=3 k=70",
};

static void products_are_accepted(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(points); i++) {
        struct product p;
        struct ub_error err;
        make(&p, points[i]);
        if (!accepted(&p, &err))
            fail_msg("%s: %s", points[i], err.text);
        drop(&p);
    }
}

/* One product of the k left out of one element, a column that stands in the place of its neighbour,
 * an element that was not written, a number beyond C. */
static void what_is_wrong_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(points); i++) {
        struct product p;
        struct ub_error err;
        make(&p, points[i]);
        const uint64_t last = p.g.shape.m * p.g.shape.n - 1, k = p.g.shape.k;
        float *c = p.host.pointers[2];
        const float right = c[last];
        c[last] -= (float)(value_at(p.g.shape.m * k - 1, 1) * value_at(k * p.g.shape.n - 1, 2));
        assert_false(accepted(&p, &err));
        assert_int_equal(err.status, UB_WRONG_ANSWER);
        c[last] = right;
        memset(&c[last], 0xFF, sizeof c[last]);
        assert_false(accepted(&p, &err));
        assert_non_null(strstr(err.text, "of C are wrong"));
        c[last] = right;
        assert_true(accepted(&p, &err));
        if (p.host.sizes_bytes[2] > (last + 1) * sizeof *c) {
            c[last + 1] = 0;
            assert_false(accepted(&p, &err));
            assert_non_null(strstr(err.text, "behind C"));
        }
        drop(&p);
    }
}

/* gamma_k of fp32; twice that and an eighth more where matrix instructions cut off. */
static void the_bound_is_that_of_the_type(void **state)
{
    (void)state;
    struct gemm_geometry g = {.shape = {1, 1, 1024}};
    assert_true(fabs(gemm_error_bound(&g) - 0x1p-14 / (1 - 0x1p-14)) < 1e-15);
    g.half = true;
    assert_true(fabs(gemm_error_bound(&g) - 0x1.2p-13 / (1 - 0x1.2p-13)) < 1e-15);
    g.shape.k = UINT64_C(1) << 23;
    assert_true(isinf(gemm_error_bound(&g)));
}

/* The small instance has the same part of a tile at each edge, and is never larger than the point. */
static void small_instances_have_the_same_edges(void **state)
{
    static const char *const axes[] = {
        "variant=naive_col n=1021 m=1031 k=1033", "variant=tiled n=4096",  "variant=register n=4097 k=3",
        "variant=async n=1 m=1000 k=1000",        "variant=tensor n=2001",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(axes); i++) {
        const struct ub_point point = parse_point(&ub_micro_gemm, axes[i]);
        struct ub_point small;
        struct gemm_geometry g, s;
        assert_true(ub_micro_gemm.small(h200(), &point, &small));
        assert_null(gemm_resolve(h200(), &point, &g));
        assert_null(gemm_resolve(h200(), &small, &s));
        assert_true(s.shape.m <= g.shape.m && s.shape.n <= g.shape.n && s.shape.k <= g.shape.k);
        assert_int_equal(s.vector, g.vector);
        assert_int_equal(s.shape.m % s.tile_m, g.shape.m % g.tile_m);
        assert_int_equal(s.shape.n % s.tile_n, g.shape.n % g.tile_n);
        assert_int_equal(s.shape.k % s.tile_k, g.shape.k % g.tile_k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_accepted),
        cmocka_unit_test(what_is_wrong_is_found),
        cmocka_unit_test(the_bound_is_that_of_the_type),
        cmocka_unit_test(small_instances_have_the_same_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
