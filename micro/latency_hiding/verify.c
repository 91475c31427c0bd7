/* SPDX-License-Identifier: MIT
 *
 * The answers of a small instance, from what a point means and not from how the kernel
 * finds its elements: a chain of multiply-adds by 1 and 1 counts its own steps, and all
 * warps together have loaded each word of the region exactly once. */
#include <inttypes.h>

#include "micro/latency_hiding/rule.h"

/* Of a small instance: enough steps that addresses have depended on loads. */
enum { SMALL_LENGTH = 2, WARP_THREADS = 32 };

bool hiding_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out)
{
    (void)gpu;
    *out = *point;
    out->values[HIDING_LENGTH] = SMALL_LENGTH;
    return true;
}

/* Chain c of lane l begins at l + c; whatever warp takes a ticket, each of its lanes does
 * the ticket's multiply-adds. */
static uint32_t counted(const struct hiding_geometry *g)
{
    uint32_t sum = g->tickets * WARP_THREADS * (HIDING_LOOPS * HIDING_FMAS);
    for (uint32_t lane = 0; lane < WARP_THREADS; lane++)
        for (uint32_t chain = 0; chain < g->ilp; chain++)
            sum += g->all_warps * (lane + chain);
    return sum;
}

static uint32_t loaded(const uint32_t *source, uint64_t bytes)
{
    uint32_t sum = 0;
    for (uint64_t word = 0; word < bytes / sizeof *source; word++)
        sum += source[word];
    return sum;
}

bool hiding_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host, uint64_t seed,
                   uint64_t checksum, struct ub_error *err)
{
    (void)seed;
    struct hiding_geometry g;
    const char *unsupported = hiding_resolve(gpu, point, &g);
    if (unsupported != NULL)
        return ub_fail(err, UB_INTERNAL, "%s", unsupported);
    const bool loads = g.work == HIDING_MEMORY;
    const uint64_t needed = loads ? hiding_bytes(&g) : HIDING_COUNTER_BYTES;
    if (host->count != 1 || host->sizes_bytes[0] < needed)
        return ub_fail(err, UB_INTERNAL, "no buffer has the %" PRIu64 " bytes that the launch uses", needed);
    for (uint64_t i = 0; i < host->sizes_bytes[0] && !loads; i++)
        if (((const unsigned char *)host->pointers[0])[i] != 0)
            return ub_fail(err, UB_WRONG_ANSWER, "byte %" PRIu64 " of the counter of tickets is not 0", i);
    const uint32_t expected = loads ? loaded(host->pointers[0], hiding_bytes(&g)) : counted(&g);
    if (checksum == expected)
        return true;
    return ub_fail(err, UB_WRONG_ANSWER, "the sum of %s is %08" PRIx64 ", the host expects %08" PRIx32,
                   loads ? "what was loaded" : "where the chains ended", checksum, expected);
}
