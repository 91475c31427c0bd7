/* SPDX-License-Identifier: MIT
 *
 * The answers of a small instance: every number of the third vector is the sum of the two
 * others, one by one and without access.h. */
#include <inttypes.h>

#include "micro/block_size/rule.h"

/* Three blocks and a half, so that the last one has threads without an element. */
enum { SMALL_HALF_BLOCKS = 7 };

bool block_size_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out)
{
    struct block_size_geometry g;
    if (block_size_resolve(gpu, point, &g) != NULL || g.work == BLOCK_SIZE_EMPTY)
        return false; /* an empty kernel has no answer */
    const uint64_t elements = (uint64_t)g.threads * SMALL_HALF_BLOCKS / 2;
    const uint64_t numbers = elements * (g.bytes / BLOCK_SIZE_WORD_BYTES);
    *out = *point;
    out->values[BLOCK_SIZE_N] = (int64_t)(numbers < g.numbers ? numbers : g.numbers);
    return true;
}

bool block_size_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host,
                       uint64_t seed, uint64_t checksum, struct ub_error *err)
{
    (void)seed;
    (void)checksum;
    struct block_size_geometry g;
    const char *unsupported = block_size_resolve(gpu, point, &g);
    if (unsupported != NULL)
        return ub_fail(err, UB_INTERNAL, "%s", unsupported);
    if (host->count != BLOCK_SIZE_VECTORS)
        return ub_fail(err, UB_INTERNAL, "%zu buffers where %d are needed", host->count, BLOCK_SIZE_VECTORS);
    for (size_t i = 0; i < BLOCK_SIZE_VECTORS; i++)
        if (host->sizes_bytes[i] < block_size_vector_bytes(&g))
            return ub_fail(err, UB_INTERNAL, "buffer %zu has %" PRIu64 " bytes, a vector has %" PRIu64, i,
                           host->sizes_bytes[i], block_size_vector_bytes(&g));
    const uint32_t *a = host->pointers[0], *b = host->pointers[1], *c = host->pointers[2];
    uint64_t wrong = 0, first = 0;
    for (uint64_t i = 0; i < g.numbers; i++)
        if (c[i] != (uint32_t)(a[i] + b[i]) && wrong++ == 0)
            first = i;
    if (wrong == 0)
        return true;
    return ub_fail(err, UB_WRONG_ANSWER,
                   "%" PRIu64 " of %" PRIu64 " sums are wrong; the first is number %" PRIu64
                   ": 0x%08X + 0x%08X = 0x%08X",
                   wrong, g.numbers, first, a[first], b[first], c[first]);
}
