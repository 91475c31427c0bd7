/* SPDX-License-Identifier: MIT
 *
 * Checks on the host what a small instance of a point computed. It knows what a
 * transpose is and nothing of tiles: the access pattern that kernel and law share is
 * not used here, so a mistake in it cannot hide behind itself. */
#include <inttypes.h>
#include <string.h>

#include "micro/transpose/rule.h"

/* Whole tiles of the small matrix; different, so that rows and columns cannot be confused. */
enum { SMALL_TILES_ALONG = 3, SMALL_TILES_DOWN = 2, COPY_SIDE = 64 };

/* A few tiles, and the same part of a tile at the edges as the matrix has. */
static int64_t small_side(uint32_t side, uint32_t tile, uint32_t tiles)
{
    return side < tiles * tile ? side : tiles * tile + side % tile;
}

bool transpose_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out)
{
    struct transpose_geometry g;
    if (transpose_resolve(gpu, point, &g) != NULL)
        return false;
    const uint32_t tile = g.variant == TRANSPOSE_COPY ? COPY_SIDE : g.tile;
    *out = *point;
    out->values[TRANSPOSE_N] = small_side(g.n, tile, SMALL_TILES_ALONG);
    out->values[TRANSPOSE_M] = small_side(g.m, tile, SMALL_TILES_DOWN);
    return true;
}

static bool copies(const struct transpose_geometry *g)
{
    return g->variant == TRANSPOSE_COPY || g->variant == TRANSPOSE_COPY_SHARED;
}

/* Elements of the result that are not what they should be; the first of them by row and column. */
static bool check_result(const struct transpose_geometry *g, const unsigned char *source, const unsigned char *result,
                         struct ub_error *err)
{
    const uint64_t columns = copies(g) ? g->n : g->m, rows = copies(g) ? g->m : g->n;
    uint64_t wrong = 0, first = 0;
    for (uint64_t row = 0; row < rows; row++)
        for (uint64_t column = 0; column < columns; column++) {
            const uint64_t here = row * columns + column;
            const uint64_t there = copies(g) ? here : column * g->n + row;
            if (memcmp(result + here * g->bytes, source + there * g->bytes, g->bytes) != 0 && wrong++ == 0)
                first = here;
        }
    if (wrong == 0)
        return true;
    return ub_fail(err, UB_WRONG_ANSWER,
                   "%" PRIu64 " of %" PRIu64 " elements of the result are wrong; the first is in row %" PRIu64
                   ", column %" PRIu64,
                   wrong, rows * columns, first / columns, first % columns);
}

static bool check_rest(const struct transpose_geometry *g, const unsigned char *result, uint64_t size_bytes,
                       struct ub_error *err)
{
    for (uint64_t i = transpose_elements(g) * g->bytes; i < size_bytes; i++)
        if (result[i] != 0xFF)
            return ub_fail(err, UB_WRONG_ANSWER, "byte %" PRIu64 " behind the result was written: 0x%02X",
                           i - transpose_elements(g) * g->bytes, result[i]);
    return true;
}

bool transpose_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host,
                      uint64_t seed, uint64_t checksum, struct ub_error *err)
{
    (void)seed, (void)checksum; /* nothing is made up and nothing is summed: the result is the answer */
    struct transpose_geometry g;
    const char *unsupported = transpose_resolve(gpu, point, &g);
    if (unsupported != NULL)
        return ub_fail(err, UB_INTERNAL, "%s", unsupported);
    if (host->count != 2)
        return ub_fail(err, UB_INTERNAL, "%zu buffers where 2 are needed", host->count);
    for (size_t i = 0; i < host->count; i++)
        if (host->sizes_bytes[i] < transpose_region_bytes(&g))
            return ub_fail(err, UB_INTERNAL, "buffer %zu has %" PRIu64 " bytes, the matrix %" PRIu64, i,
                           host->sizes_bytes[i], transpose_region_bytes(&g));
    const unsigned char *source = host->pointers[0], *result = host->pointers[1];
    return check_result(&g, source, result, err) && check_rest(&g, result, host->sizes_bytes[1], err);
}
