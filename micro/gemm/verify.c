/* SPDX-License-Identifier: MIT
 *
 * Checks on the host what a small instance of a point computed: each element of C is the
 * sum of k products, worked out in fp64. It knows nothing of tiles. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "micro/gemm/rule.h"

/* Whole tiles of the small instance: more steps along k than any kernel has under way. */
enum { TILES_DOWN = 1, TILES_ALONG = 2, STEPS = 5 };

/* A few tiles, and the same part of a tile at the edge as the matrix has. */
static int64_t small_side(uint64_t side, uint32_t tile, uint32_t tiles)
{
    const uint64_t small = (uint64_t)tiles * tile + side % tile;
    return (int64_t)(side < small ? side : small);
}

/* A library starts anew for each instance, which takes longer than all else of its points: there the
 * device's reference kernel, which looks at the point itself, is enough. */
bool gemm_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out)
{
    struct gemm_geometry g;
    *out = *point;
    if (gemm_resolve(gpu, point, &g) != NULL || gemm_is_library(&g))
        return false;
    out->values[GEMM_M] = small_side(g.shape.m, g.tile_m, TILES_DOWN);
    out->values[GEMM_N] = small_side(g.shape.n, g.tile_n, TILES_ALONG);
    out->values[GEMM_K] = small_side(g.shape.k, g.tile_k, STEPS);
    return true;
}

/* Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.1: k additions,
 * each of which rounds by u at most, are off by gamma_k = k u / (1 - k u) times the sum of the
 * absolute values, in any order. fp32 rounds to the nearest: u = 2^-24. Matrix instructions cut
 * off (Fasi, Higham, Mikaitis, Pranesh, PeerJ Comput. Sci. 7:e330, 2021): u = 2^-23, for each
 * product and once more for the sum so far, of which there is one every 8 products at most.
 * Products of the inputs are exact in either (22 bits). */
double gemm_error_bound(const struct gemm_geometry *g)
{
    const double k = (double)g->shape.k;
    const double error = g->half ? (k + ceil(k / 8)) * ldexp(1, -23) : k * ldexp(1, -24);
    return error < 1 ? error / (1 - error) : INFINITY;
}

/* The value of a finite half. */
static double half_value(uint16_t half)
{
    const int exponent = half >> 10 & 31, mantissa = half & 1023;
    const double magnitude = exponent == 0 ? ldexp(mantissa, -24) : ldexp(1024 + mantissa, exponent - 25);
    return half >> 15 ? -magnitude : magnitude;
}

static double element(const struct gemm_geometry *g, const void *matrix, uint64_t index)
{
    return g->half ? half_value(((const uint16_t *)matrix)[index]) : (double)((const float *)matrix)[index];
}

/* Sums and sums of absolute values of one row of the product. B is in fp64, the row's part of
 * A is turned into it here. */
static void row_of_product(const struct gemm_geometry *g, const void *a, const double *b, uint64_t row, double *sums,
                           double *absolutes)
{
    const uint64_t n = g->shape.n, k = g->shape.k;
    for (uint64_t column = 0; column < n; column++)
        sums[column] = absolutes[column] = 0;
    for (uint64_t i = 0; i < k; i++) {
        const double factor = element(g, a, row * k + i);
        for (uint64_t column = 0; column < n; column++) {
            const double product = factor * b[i * n + column];
            sums[column] += product;
            absolutes[column] += fabs(product);
        }
    }
}

struct finding {
    uint64_t wrong, row, column; /* how many, and the first */
    double got, expected, bound;
};

static void check_row(const struct gemm_geometry *g, const float *c, uint64_t row, const double *sums,
                      const double *absolutes, struct finding *found)
{
    for (uint64_t column = 0; column < g->shape.n; column++) {
        const double got = (double)c[row * g->shape.n + column], bound = gemm_error_bound(g) * absolutes[column];
        if (fabs(got - sums[column]) <= bound) /* false for what is no number */
            continue;
        if (found->wrong++ == 0)
            *found = (struct finding){1, row, column, got, sums[column], bound};
    }
}

static bool check_product(const struct gemm_geometry *g, const struct ub_buffers *host, struct ub_error *err)
{
    const uint64_t n = g->shape.n, elements = g->shape.k * n;
    double *numbers = malloc((elements + 2 * n) * sizeof *numbers);
    if (!numbers)
        return ub_fail(err, UB_INTERNAL, "out of memory");
    struct finding found = {0};
    for (uint64_t i = 0; i < elements; i++)
        numbers[i] = element(g, host->pointers[1], i);
    for (uint64_t row = 0; row < g->shape.m; row++) {
        row_of_product(g, host->pointers[0], numbers, row, numbers + elements, numbers + elements + n);
        check_row(g, host->pointers[2], row, numbers + elements, numbers + elements + n, &found);
    }
    free(numbers);
    if (found.wrong == 0)
        return true;
    return ub_fail(err, UB_WRONG_ANSWER,
                   "%" PRIu64 " of %" PRIu64 " elements of C are wrong; the first, in row %" PRIu64 ", column %" PRIu64
                   ", is %.9g, not %.9g within %.2g",
                   found.wrong, g->shape.m * n, found.row, found.column, found.got, found.expected, found.bound);
}

static bool check_rest(const struct gemm_geometry *g, const struct ub_buffers *host, struct ub_error *err)
{
    const unsigned char *c = host->pointers[2];
    const uint64_t size_bytes = g->shape.m * g->shape.n * sizeof(float);
    for (uint64_t i = size_bytes; i < host->sizes_bytes[2]; i++)
        if (c[i] != 0xFF)
            return ub_fail(err, UB_WRONG_ANSWER, "byte %" PRIu64 " behind C was written: 0x%02X", i - size_bytes, c[i]);
    return true;
}

bool gemm_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host, uint64_t seed,
                 uint64_t checksum, struct ub_error *err)
{
    (void)seed, (void)checksum; /* the product is the answer */
    struct gemm_geometry g;
    const char *unsupported = gemm_resolve(gpu, point, &g);
    if (unsupported != NULL)
        return ub_fail(err, UB_INTERNAL, "%s", unsupported);
    const uint64_t element_bytes = g.half ? 2 : 4;
    const uint64_t needed[] = {g.shape.m * g.shape.k * element_bytes, g.shape.k * g.shape.n * element_bytes,
                               g.shape.m * g.shape.n * 4};
    if (host->count != 3)
        return ub_fail(err, UB_INTERNAL, "%zu buffers where 3 are needed", host->count);
    for (size_t i = 0; i < host->count; i++)
        if (host->sizes_bytes[i] < needed[i])
            return ub_fail(err, UB_INTERNAL, "buffer %zu has %" PRIu64 " bytes, the matrix %" PRIu64, i,
                           host->sizes_bytes[i], needed[i]);
    return check_product(&g, host, err) && check_rest(&g, host, err);
}
