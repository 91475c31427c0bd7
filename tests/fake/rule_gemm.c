/* SPDX-License-Identifier: MIT
 *
 * `gemm` over the fake device: A*B in the precision of the variant, element by element. What
 * is tested is the path around: footprint, small instance, verification, counters. */
#include <stdlib.h>
#include <string.h>

#include "micro/gemm/rule.h"
#include "tests/fake/fake.h"

extern const struct ub_micro ub_micro_gemm;
extern const struct ub_code fake_code_gemm;

enum { INVALID_VALUE = 1 };

/* A finite half; the fill has no others. */
static float half_value(uint16_t half)
{
    const uint32_t exponent = half >> 10 & 31, mantissa = half & 1023;
    if (exponent == 0)
        return (half >> 15 ? -1.0f : 1.0f) * (float)mantissa / 16777216.0f;
    const uint32_t bits = (uint32_t)(half >> 15) << 31 | (exponent + 112) << 23 | mantissa << 13;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float element(const struct gemm_geometry *g, const void *matrix, uint64_t index)
{
    return g->half ? half_value(((const uint16_t *)matrix)[index]) : ((const float *)matrix)[index];
}

static void multiply(const struct gemm_geometry *g, const void *a, const void *b, float *c)
{
    const uint64_t m = g->shape.m, n = g->shape.n, k = g->shape.k;
    memset(c, 0, m * n * sizeof *c);
    for (uint64_t row = 0; row < m; row++)
        for (uint64_t i = 0; i < k; i++) {
            const float factor = element(g, a, row * k + i);
            for (uint64_t column = 0; column < n; column++)
                c[row * n + column] += factor * element(g, b, i * n + column);
        }
}

static int launch(const struct ub_launch *launch)
{
    struct gemm_geometry g;
    bool execute = false;
    if (gemm_resolve(launch->gpu, launch->point, &g) != NULL)
        return INVALID_VALUE;
    const int code = fake_begin(&ub_micro_gemm, launch, &execute);
    if (code != 0 || !execute || !launch->checked)
        return code;
    float *c = launch->buffers->pointers[2];
    multiply(&g, launch->buffers->pointers[0], launch->buffers->pointers[1], c);
    if (fake_fault_at("wrong", &ub_micro_gemm, launch->point))
        c[0] += 1;
    return 0;
}

static int reference(const struct ub_launch *launch)
{
    (void)launch; /* what launch() computed was compared with the host's own */
    return 0;
}

static void describe(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_kernel *out)
{
    struct gemm_geometry g;
    *out = (struct ub_kernel){.function = &ub_micro_gemm, .name = "gemm"};
    if (gemm_resolve(gpu, point, &g) != NULL || gemm_is_library(&g))
        return;
    fake_shape(out, (uint32_t)(g.blocks_m * g.blocks_n), g.threads);
}

static int prepare(const struct ub_launch *launch, struct ub_prepared *out)
{
    struct gemm_geometry g;
    if (gemm_resolve(launch->gpu, launch->point, &g) == NULL && gemm_is_library(&g))
        strcpy(out->skip, "cuBLAS cannot be loaded: this device is a fake");
    return 0;
}

static void release(void *state)
{
    (void)state;
}

const struct ub_code fake_code_gemm = {
    .launch = launch, .reference = reference, .kernel = describe, .prepare = prepare, .release = release};
