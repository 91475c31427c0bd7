/* SPDX-License-Identifier: MIT
 *
 * The answers of a small instance, from what a point means and not from how the kernel
 * finds its elements: a chain of multiply-adds by 1 and 1 counts its own steps, and the
 * blocks together have loaded the last chunks before the counter, each element once. */
#include <inttypes.h>

#include "micro/grid/rule.h"

/* Of a small instance: blocks enough that some follow others in the ring, which is so
 * short that they go round it. */
enum { SMALL_BLOCKS = 5, SMALL_ROUNDS = 3, SMALL_CHUNKS = 4, WARP_THREADS = 32 };

bool grid_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out)
{
    struct grid_geometry g;
    if (grid_resolve(gpu, point, &g) != NULL)
        return false;
    *out = *point;
    out->values[GRID_PER_SM] = 1;
    out->values[GRID_SIDE] = GRID_AT;
    out->values[GRID_BLOCKS] = g.blocks < SMALL_BLOCKS ? g.blocks : SMALL_BLOCKS;
    out->values[GRID_LENGTH] = g.rounds < SMALL_ROUNDS ? g.rounds : SMALL_ROUNDS;
    g.rounds = (uint32_t)out->values[GRID_LENGTH];
    if (g.work == GRID_DRAM)
        out->values[GRID_SIZE] = (int64_t)(SMALL_CHUNKS * grid_chunk_elements(&g) * GRID_LOAD_BYTES);
    return true;
}

/* Lane l begins at l; each thread of each block does the same multiply-adds. */
static uint64_t counted(const struct grid_geometry *g)
{
    uint64_t sum = 0;
    for (uint32_t lane = 0; lane < WARP_THREADS; lane++)
        sum += lane + (uint64_t)g->rounds * GRID_FMAS;
    return sum * g->blocks * (g->threads / WARP_THREADS);
}

static uint64_t loaded(const struct grid_geometry *g, const uint32_t *words, uint32_t next)
{
    const uint64_t chunk = (uint64_t)g->rounds * GRID_LOADS * g->threads;
    uint64_t sum = 0;
    for (uint32_t block = 0; block < g->blocks; block++) {
        const uint64_t first = (next - 1 - block) % g->chunks * chunk;
        for (uint64_t element = first; element < first + chunk; element++) {
            const uint32_t *w = words + 4 * element;
            sum += (uint64_t)(w[0] + 3 * w[1] + 5 * w[2] + 7 * w[3]) * (uint32_t)(2 * element + 1);
        }
    }
    return sum;
}

bool grid_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host, uint64_t seed,
                 uint64_t checksum, struct ub_error *err)
{
    (void)seed;
    struct grid_geometry g;
    const char *unsupported = grid_resolve(gpu, point, &g);
    if (unsupported != NULL)
        return ub_fail(err, UB_INTERNAL, "%s", unsupported);
    const bool loads = g.work == GRID_DRAM;
    if (host->count != (loads ? 3u : 2u))
        return ub_fail(err, UB_INTERNAL, "%zu buffers where %d are needed", host->count, loads ? 3 : 2);
    const uint64_t ring_bytes = grid_ring_bytes(&g);
    if (loads && host->sizes_bytes[2] < ring_bytes)
        return ub_fail(err, UB_INTERNAL, "the ring has %" PRIu64 " bytes, its chunks need %" PRIu64,
                       host->sizes_bytes[2], ring_bytes);
    for (uint64_t i = 0; i < host->sizes_bytes[0]; i++)
        if (((const unsigned char *)host->pointers[0])[i] != 0)
            return ub_fail(err, UB_WRONG_ANSWER, "byte %" PRIu64 " of the sink is not 0", i);
    const uint64_t expected = loads ? loaded(&g, host->pointers[2], *(const uint32_t *)host->pointers[1]) : counted(&g);
    if (checksum == expected)
        return true;
    return ub_fail(err, UB_WRONG_ANSWER, "the sum of %s is %016" PRIx64 ", the host expects %016" PRIx64,
                   loads ? "what was loaded" : "where the chains ended", checksum, expected);
}
