/* SPDX-License-Identifier: MIT
 *
 * What each thread must have left behind, in whole numbers: use=changed: 96 numbers in a
 * row that have all counted the trips; use=read: 8 sums, each of every eighth of them. */
#include <inttypes.h>
#include <string.h>

#include "micro/spill/rule.h"

uint64_t spill_out_bytes(const struct spill_geometry *g)
{
    enum { UNIT_BYTES = 256 };
    return ((uint64_t)g->threads * sizeof(uint32_t) + UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES;
}

uint64_t spill_zeroes_bytes(const struct spill_geometry *g)
{
    return (uint64_t)g->block * SPILL_VALUES * sizeof(float);
}

/* The point is small: all of it is checked. */
bool spill_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out)
{
    struct spill_geometry g;
    *out = *point;
    return spill_resolve(gpu, point, &g) == NULL;
}

static uint32_t bits_of(uint32_t number)
{
    const float value = (float)number;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t expected_of(const struct spill_geometry *g, uint32_t thread)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < SPILL_VALUES && g->use == SPILL_CHANGED; i++)
        all = 3 * all + bits_of(thread + i + g->trips);
    for (uint32_t j = 0; j < SPILL_SUMS && g->use == SPILL_READ; j++) {
        uint32_t values = 0;
        for (uint32_t i = j; i < SPILL_VALUES; i += SPILL_SUMS)
            values += thread + i;
        all = 3 * all + bits_of(j + g->trips * values);
    }
    return all;
}

bool spill_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host, uint64_t seed,
                  uint64_t checksum, struct ub_error *err)
{
    (void)seed, (void)checksum;
    struct spill_geometry g;
    const char *unsupported = spill_resolve(gpu, point, &g);
    if (unsupported != NULL)
        return ub_fail(err, UB_INTERNAL, "%s", unsupported);
    if (host->count != 2 || host->sizes_bytes[0] < spill_out_bytes(&g))
        return ub_fail(err, UB_INTERNAL, "there is no buffer of %" PRIu64 " bytes to look at", spill_out_bytes(&g));
    const uint32_t *out = host->pointers[0];
    for (uint32_t thread = 0; thread < g.threads; thread++) {
        const uint32_t expected = expected_of(&g, thread % g.block);
        if (out[thread] != expected)
            return ub_fail(err, UB_WRONG_ANSWER, "thread %" PRIu32 " has %08" PRIx32 ", expected %08" PRIx32, thread,
                           out[thread], expected);
    }
    return true;
}
