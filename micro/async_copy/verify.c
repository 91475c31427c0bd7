/* SPDX-License-Identifier: MIT
 *
 * The answer of a small instance: the sum of what all elements have become, from one end
 * of the source to the other. Inputs are multiples of 2^-10 below 1 (micro.h,
 * UB_FILL_FLOAT), so that each multiply-add adds exactly 1. */
#include <inttypes.h>
#include <string.h>

#include "micro/async_copy/rule.h"

enum { SMALL_TILES = 2 * COPY_STAGES_MAX + 1 }; /* each place is filled more than once, and not equally often */

bool copy_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out)
{
    struct copy_geometry g;
    *out = *point;
    if (out->values[COPY_TILES] == 0 || out->values[COPY_TILES] > SMALL_TILES)
        out->values[COPY_TILES] = SMALL_TILES;
    return copy_resolve(gpu, out, &g) == NULL;
}

uint32_t copy_sum(const struct copy_geometry *g, const void *source)
{
    const char *bytes = source;
    const float more = (float)g->fmas;
    uint32_t sum = 0;
    for (uint64_t element = 0; element < copy_elements(g); element++) {
        float x;
        uint32_t bits;
        memcpy(&x, bytes + element * COPY_ELEMENT_BYTES, sizeof x);
        x += more;
        memcpy(&bits, &x, sizeof bits);
        sum += bits;
    }
    return sum;
}

bool copy_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host, uint64_t seed,
                 uint64_t checksum, struct ub_error *err)
{
    (void)seed;
    struct copy_geometry g;
    const char *unsupported = copy_resolve(gpu, point, &g);
    if (unsupported != NULL)
        return ub_fail(err, UB_INTERNAL, "%s", unsupported);
    if (host->count != 1 || host->sizes_bytes[0] < g.size_bytes)
        return ub_fail(err, UB_INTERNAL, "there is no source of %" PRIu64 " bytes", g.size_bytes);
    const uint32_t expected = copy_sum(&g, host->pointers[0]);
    if (checksum == expected)
        return true;
    return ub_fail(err, UB_WRONG_ANSWER, "the sum of all results is %08" PRIx64 ", the host expects %08" PRIx32,
                   checksum, expected);
}
