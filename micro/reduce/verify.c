/* SPDX-License-Identifier: MIT
 *
 * The answer of a small instance: the sum from one end of the array to the other. Whole
 * numbers wrap round; floats are multiples of 2^-10, whose sum is exact in units of that. */
#include <inttypes.h>
#include <string.h>

#include "micro/reduce/rule.h"

/* More than one block, and a last one that lacks some elements, whatever the axes are; with a
 * missing barrier many rows, so that the race shows. */
enum { SMALL_BLOCKS = 3, SMALL_LACKS = 5, SMALL_LOADS = 16, RACE_BLOCKS = 512 };

bool reduce_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out)
{
    struct reduce_geometry g;
    *out = *point;
    if (reduce_resolve(gpu, point, &g) != NULL)
        return false;
    if (g.work == REDUCE_BLOCK_PHASE)
        return true;
    if (g.loads > SMALL_LOADS) {
        out->values[REDUCE_LOADS] = SMALL_LOADS;
        g.block_elements = g.block_elements / g.loads * SMALL_LOADS;
    }
    const uint64_t blocks = g.variant == REDUCE_MISSING_BARRIER ? RACE_BLOCKS : SMALL_BLOCKS;
    const uint64_t elements = blocks * g.block_elements - SMALL_LACKS;
    if (elements < g.n)
        out->values[REDUCE_N] = (int64_t)elements;
    return true;
}

static bool wrong_whole(uint32_t sum, uint32_t expected, struct ub_error *err)
{
    return ub_fail(err, UB_WRONG_ANSWER, "the sum is %08" PRIx32 ", the host expects %08" PRIx32, sum, expected);
}

static bool verify_whole(const struct reduce_geometry *g, const uint32_t *source, uint32_t sum, struct ub_error *err)
{
    uint32_t expected = 0;
    for (uint64_t i = 0; i < g->n; i++)
        expected += source[i];
    return sum == expected || wrong_whole(sum, expected, err);
}

static bool verify_float(const struct reduce_geometry *g, const float *source, float sum, struct ub_error *err)
{
    int64_t units = 0;
    for (uint64_t i = 0; i < g->n; i++)
        units += (int64_t)(source[i] * REDUCE_UNITS_OF_ONE);
    const double expected = (double)units / REDUCE_UNITS_OF_ONE, bound = reduce_bound(g);
    const double away = (double)sum - expected;
    if (away >= -bound && away <= bound)
        return true;
    return ub_fail(err, UB_WRONG_ANSWER, "the sum is %.9g, the host expects %.9g, %s", (double)sum, expected,
                   bound > 0 ? "and so far off no rounding is" : "exactly");
}

bool reduce_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host, uint64_t seed,
                   uint64_t checksum, struct ub_error *err)
{
    (void)seed;
    (void)checksum; /* the sum is in a buffer */
    struct reduce_geometry g;
    const char *unsupported = reduce_resolve(gpu, point, &g);
    if (unsupported != NULL)
        return ub_fail(err, UB_INTERNAL, "%s", unsupported);
    if (host->count < 2 || host->sizes_bytes[0] < g.n * REDUCE_ELEMENT_BYTES ||
        host->sizes_bytes[1] < REDUCE_ELEMENT_BYTES)
        return ub_fail(err, UB_INTERNAL, "there is no array of %" PRIu64 " elements, or no sum", g.n);
    if (g.type == REDUCE_INT) {
        uint32_t sum;
        memcpy(&sum, host->pointers[1], sizeof sum);
        return verify_whole(&g, host->pointers[0], sum, err);
    }
    float sum;
    memcpy(&sum, host->pointers[1], sizeof sum);
    return verify_float(&g, host->pointers[0], sum, err);
}
