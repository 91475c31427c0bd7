/* SPDX-License-Identifier: MIT
 *
 * Checks on the host what a small instance of a point computed, in double precision and from
 * what a chain of steps, a softmax, an attention are: access.h is not used here.
 *
 * How far a result may be from it (an H200 kept to a quarter of it, but for 12 of 2^24 numbers of
 * an online softmax):
 * - multiply-adds: not at all. Inputs and what is added are multiples of 2^-10, and stay below 2^11.
 * - exponentials: ex2.approx is good to 2^-22 of a value below 2; a step halves the error of the
 *   one before (its slope is at most ln 2 / sqrt 2): 2 x 2^-22 x 2 = 1e-6, and rounding.
 * - softmax, relative: exponents of up to 32 log2 e = 46 are rounded (2^-19), and so is their scale;
 *   sums have as many roundings as a thread has floats, which go either way: their square root.
 * - attention, absolute: weights add up to 1 and values are below 1. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "micro/fusion/rule.h"

enum { SMALL_GROUPS = 3 * FUSION_BLOCK, SMALL_ROWS = 5, SMALL_SEQ = 3 * FUSION_TILE, SMALL_HEADS = 2 };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A few blocks, and the same part of one at the end; a few rows; a few tiles. */
bool fusion_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out)
{
    struct fusion_geometry g;
    *out = *point;
    if (fusion_resolve(gpu, point, &g) != NULL)
        return false;
    if (g.work == FUSION_ELEMENTWISE) {
        const uint64_t groups = g.elements / FUSION_GROUP;
        out->values[FUSION_N] =
            FUSION_GROUP * (groups < SMALL_GROUPS ? (int64_t)groups : SMALL_GROUPS + (int64_t)(groups % FUSION_BLOCK));
    } else if (g.work == FUSION_SOFTMAX) {
        out->values[FUSION_ROWS] = least(g.rows, SMALL_ROWS);
    } else {
        out->values[FUSION_SEQ] = least(g.seq, SMALL_SEQ);
        out->values[FUSION_HEADS] = least(g.heads, SMALL_HEADS);
    }
    return true;
}

/* What is found wrong first. */
struct findings {
    uint64_t wrong, first;
    double expected, found;
};

static void compare(struct findings *findings, uint64_t at, float found, double expected, double bound)
{
    if (fabs(found - expected) <= bound) /* not so where it is no number */
        return;
    if (findings->wrong++ == 0) {
        findings->first = at;
        findings->expected = expected;
        findings->found = found;
    }
}

static double stepped(const struct fusion_geometry *g, double x)
{
    for (uint32_t step = 0; step < g->steps; step++)
        x = g->op == FUSION_FMA ? x + 1.0 / 1024 : exp2(-x) + step / 1024.0;
    return x;
}

static bool check_elementwise(const struct fusion_geometry *g, const float *source, const float *target,
                              struct findings *findings)
{
    const double bound = fusion_bound(g);
    for (uint64_t i = 0; i < g->elements; i++)
        compare(findings, i, target[i], stepped(g, source[i]), bound);
    return true;
}

static bool check_softmax(const struct fusion_geometry *g, const float *source, const float *target,
                          struct findings *findings)
{
    const double bound = fusion_bound(g);
    for (uint32_t row = 0; row < g->rows; row++) {
        const uint64_t first = (uint64_t)row * g->length;
        double total = 0;
        for (uint32_t i = 0; i < g->length; i++)
            total += exp(source[first + i] * (double)fusion_softmax_scale);
        for (uint32_t i = 0; i < g->length; i++) {
            const double expected = exp(source[first + i] * (double)fusion_softmax_scale) / total;
            compare(findings, first + i, target[first + i], expected, bound * expected);
        }
    }
    return true;
}

/* One query: its weights, then what it takes of the values. */
static void check_query(const struct fusion_geometry *g, const float *source, const float *target, uint32_t row,
                        double *weights, struct findings *findings)
{
    const uint64_t part = (uint64_t)g->rows * FUSION_DIM, head = (uint64_t)(row / g->seq) * g->seq * FUSION_DIM;
    const float *query = source + (uint64_t)row * FUSION_DIM, *keys = source + part + head, *values = keys + part;
    double total = 0;
    for (uint32_t key = 0; key < g->seq; key++) {
        double score = 0;
        for (uint32_t d = 0; d < FUSION_DIM; d++)
            score += (double)query[d] * keys[(uint64_t)key * FUSION_DIM + d];
        weights[key] = exp(score / sqrt(FUSION_DIM));
        total += weights[key];
    }
    for (uint32_t d = 0; d < FUSION_DIM; d++) {
        double expected = 0;
        for (uint32_t key = 0; key < g->seq; key++)
            expected += weights[key] / total * values[(uint64_t)key * FUSION_DIM + d];
        const uint64_t at = (uint64_t)row * FUSION_DIM + d;
        compare(findings, at, target[at], expected, fusion_bound(g));
    }
}

static bool check_attention(const struct fusion_geometry *g, const float *source, const float *target,
                            struct findings *findings)
{
    double *weights = malloc(g->seq * sizeof *weights);
    if (!weights)
        return false;
    for (uint32_t row = 0; row < g->rows; row++)
        check_query(g, source, target, row, weights, findings);
    free(weights);
    return true;
}

static bool check_rest(const unsigned char *target, uint64_t used_bytes, uint64_t size_bytes, struct ub_error *err)
{
    for (uint64_t i = used_bytes; i < size_bytes; i++)
        if (target[i] != 0xFF)
            return ub_fail(err, UB_WRONG_ANSWER, "byte %" PRIu64 " behind the result was written: 0x%02X",
                           i - used_bytes, target[i]);
    return true;
}

bool fusion_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host, uint64_t seed,
                   uint64_t checksum, struct ub_error *err)
{
    (void)seed, (void)checksum; /* nothing is made up and nothing is summed: the result is the answer */
    static bool (*const check[FUSION_WORKS])(const struct fusion_geometry *, const float *, const float *,
                                             struct findings *) = {check_elementwise, check_softmax, check_attention};
    struct fusion_geometry g;
    struct findings findings = {0};
    const char *unsupported = fusion_resolve(gpu, point, &g);
    if (unsupported != NULL)
        return ub_fail(err, UB_INTERNAL, "%s", unsupported);
    if (host->count < 2 || host->sizes_bytes[0] < fusion_source_bytes(&g) ||
        host->sizes_bytes[1] < fusion_target_bytes(&g))
        return ub_fail(err, UB_INTERNAL, "there are no buffers of %" PRIu64 " and %" PRIu64 " bytes",
                       fusion_source_bytes(&g), fusion_target_bytes(&g));
    if (!check[g.work](&g, host->pointers[0], host->pointers[1], &findings))
        return ub_fail(err, UB_INTERNAL, "out of memory");
    if (findings.wrong > 0)
        return ub_fail(err, UB_WRONG_ANSWER,
                       "%" PRIu64 " numbers of the result are wrong; the first is number %" PRIu64
                       ": %.9g, expected %.9g",
                       findings.wrong, findings.first, findings.found, findings.expected);
    return check_rest(host->pointers[1], fusion_target_bytes(&g), host->sizes_bytes[1], err);
}
