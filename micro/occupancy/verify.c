/* SPDX-License-Identifier: MIT
 *
 * The answers of a small instance, from what a point means and not from how the kernel
 * finds its elements: a chain of multiply-adds by 1 and 1 counts its own steps, and all
 * warps together have loaded each element of the region exactly once. */
#include <inttypes.h>

#include "micro/occupancy/rule.h"

/* Tickets an SM of a small instance: each has steps enough that addresses have depended
 * on loads. */
enum { SMALL_TICKETS = 2, WARP_THREADS = 32 };

bool occupancy_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out)
{
    (void)gpu;
    *out = *point;
    out->values[OCCUPANCY_TICKETS] = SMALL_TICKETS;
    return true;
}

/* Chain c of lane l begins at l + c; whatever warp takes a ticket, each of its lanes does
 * the ticket's multiply-adds. */
static uint64_t counted(const struct occupancy_geometry *g)
{
    uint64_t sum = (uint64_t)g->tickets * WARP_THREADS * OCCUPANCY_ROUNDS * OCCUPANCY_FMAS;
    for (uint32_t lane = 0; lane < WARP_THREADS; lane++)
        for (uint32_t chain = 0; chain < g->ilp; chain++)
            sum += (uint64_t)g->warps * (lane + chain);
    return sum;
}

static uint64_t loaded(const struct occupancy_geometry *g, const uint32_t *source)
{
    uint64_t sum = 0;
    for (uint64_t element = 0; element < occupancy_elements(g); element++)
        sum += (uint64_t)source[element] * (uint32_t)(2 * element + 1);
    return sum;
}

bool occupancy_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host,
                      uint64_t seed, uint64_t checksum, struct ub_error *err)
{
    (void)seed;
    struct occupancy_geometry g;
    const char *unsupported = occupancy_resolve(gpu, point, &g);
    if (unsupported != NULL)
        return ub_fail(err, UB_INTERNAL, "%s", unsupported);
    const bool loads = g.work == OCCUPANCY_LATENCY;
    if (host->count != (loads ? 3u : 2u))
        return ub_fail(err, UB_INTERNAL, "%zu buffers where %d are needed", host->count, loads ? 3 : 2);
    if (loads && host->sizes_bytes[2] < occupancy_elements(&g) * sizeof(uint32_t))
        return ub_fail(err, UB_INTERNAL, "the source has %" PRIu64 " bytes, the walk covers %" PRIu64 " elements",
                       host->sizes_bytes[2], occupancy_elements(&g));
    /* Neither is anything in the sink, nor were the counters of tickets left as they ran. */
    static const char *const names[] = {"the sink", "the counters of tickets"};
    for (size_t buffer = 0; buffer < 2; buffer++)
        for (uint64_t i = 0; i < host->sizes_bytes[buffer]; i++)
            if (((const unsigned char *)host->pointers[buffer])[i] != 0)
                return ub_fail(err, UB_WRONG_ANSWER, "byte %" PRIu64 " of %s is not 0", i, names[buffer]);
    const uint64_t expected = loads ? loaded(&g, host->pointers[2]) : counted(&g);
    if (checksum == expected)
        return true;
    return ub_fail(err, UB_WRONG_ANSWER, "the sum of %s is %016" PRIx64 ", the host expects %016" PRIx64,
                   loads ? "what was loaded" : "where the chains ended", checksum, expected);
}
