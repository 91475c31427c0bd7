/* SPDX-License-Identifier: MIT
 *
 * Checks on the host what a small instance of a point computed. The formulas here
 * are this file's own, with plain divisions: a mistake in the pattern that kernel
 * and law share cannot hide behind itself. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "micro/coalescing/rule.h"

/* A small walk: 1 MiB, or three blocks where that is more; within the axis limits. */
static const uint64_t small_walk_bytes = 1 << 20;
enum { SMALL_BLOCKS = 3 };

bool coalescing_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out)
{
    struct coalescing_geometry g;
    if (coalescing_resolve(gpu, point, &g) != NULL)
        return false;
    const uint64_t blocks = (uint64_t)SMALL_BLOCKS * g.block * g.per_thread * g.stride * g.bytes * g.fields;
    *out = *point;
    out->values[COALESCING_SIZE] = (int64_t)(blocks > small_walk_bytes ? blocks : small_walk_bytes);
    return true;
}

static uint64_t scattered(uint64_t i, uint64_t elements)
{
    uint64_t x = i * 2654435761u % elements;
    x ^= x / 32768;
    x = x * 2246822507u % elements;
    x ^= x / 8192;
    x = x * 3266489909u % elements;
    return x ^ (x / 65536);
}

static uint64_t tiled(const struct coalescing_geometry *g, uint64_t i)
{
    static const uint64_t row_length = 4096;
    const uint64_t width = 1ull << g->tile_width_log2, height = 256 / width;
    const uint64_t tile = i / 256, thread = i % 256;
    const uint64_t column = tile * width % row_length + thread % width;
    const uint64_t row = tile * width / row_length * height + thread / width;
    return row * row_length + column + g->offset;
}

static uint64_t element_of(const struct coalescing_geometry *g, uint64_t i, uint64_t field)
{
    switch ((enum coalescing_pattern)g->pattern) {
    case COALESCING_BY_STRIDE:
        return g->offset + i * g->stride;
    case COALESCING_RANDOM:
        return scattered(i, g->elements);
    case COALESCING_REVERSE:
        return g->offset + (g->accesses - 1 - i) * g->stride;
    case COALESCING_BROADCAST:
        return g->offset + (i - i % g->block % 32) * g->stride;
    case COALESCING_AOS:
        return i * g->fields + field;
    case COALESCING_SOA:
        return field * g->accesses + i;
    case COALESCING_TILE:
        return tiled(g, i);
    case COALESCING_PATTERNS:
        break;
    }
    return 0;
}

/* The number that stands for an element in the sum: its bytes as a little-endian
 * integer; of 16 bytes the lower half + 3 times the upper one. */
static uint64_t number_at(const unsigned char *bytes, uint32_t size)
{
    uint64_t halves[2] = {0};
    memcpy(halves, bytes, size);
    return halves[0] + 3 * halves[1];
}

/* What a store writes: words of 31 bits that depend on element and seed; a narrow
 * element is the top of such a word. */
static void put_stored(unsigned char *bytes, uint32_t size, uint64_t element, uint64_t seed)
{
    const uint32_t key = (uint32_t)(seed ^ (seed >> 32));
    uint32_t words[4];
    for (uint32_t i = 0; i < 4; i++)
        words[i] = ((uint32_t)element * 2654435769u + key + i * 2246822507u) & 0x7FFFFFFFu;
    if (size < sizeof words[0])
        words[0] >>= 32 - 8 * size;
    memcpy(bytes, words, size);
}

static bool check_loads(const struct coalescing_geometry *g, const struct ub_buffers *host, uint64_t checksum,
                        struct ub_error *err)
{
    const unsigned char *source = host->pointers[0], *sink = host->pointers[1];
    uint64_t sum = 0;
    for (uint64_t i = 0; i < g->accesses; i++)
        for (uint64_t field = 0; field < g->fields; field++)
            sum += number_at(source + element_of(g, i, field) * g->bytes, g->bytes) * (2 * (i * g->fields + field) + 1);
    if (sum != checksum)
        return ub_fail(err, UB_WRONG_ANSWER,
                       "the sum over %" PRIu32 " loads is %016" PRIx64 ", the host expects %016" PRIx64, g->accesses,
                       checksum, sum);
    for (uint64_t i = 0; i < host->sizes_bytes[1]; i++)
        if (sink[i] != 0)
            return ub_fail(err, UB_WRONG_ANSWER, "a load-only kernel wrote byte %" PRIu64 " of its sink", i);
    return true;
}

static void fill_expected(const struct coalescing_geometry *g, const unsigned char *source, uint64_t seed,
                          unsigned char *expected)
{
    for (uint64_t i = 0; i < g->accesses; i++)
        for (uint64_t field = 0; field < g->fields; field++) {
            const uint64_t element = element_of(g, i, field);
            if (source != NULL)
                memcpy(expected + element * g->bytes, source + element * g->bytes, g->bytes);
            else
                put_stored(expected + element * g->bytes, g->bytes, element, seed);
        }
}

static bool compare(const struct coalescing_geometry *g, const unsigned char *expected, const unsigned char *stored,
                    uint64_t size_bytes, struct ub_error *err)
{
    uint64_t wrong = 0, first = 0;
    for (uint64_t i = 0; i < size_bytes; i++)
        if (expected[i] != stored[i] && wrong++ == 0)
            first = i;
    if (wrong == 0)
        return true;
    return ub_fail(err, UB_WRONG_ANSWER,
                   "%" PRIu64 " of %" PRIu64 " bytes of the destination are wrong; the first is byte %" PRIu64
                   " (element %" PRIu64 "): 0x%02X instead of 0x%02X",
                   wrong, size_bytes, first, first / g->bytes, stored[first], expected[first]);
}

static bool check_stores(const struct coalescing_geometry *g, const struct ub_buffers *host, uint64_t seed,
                         struct ub_error *err)
{
    const bool copies = g->op == COALESCING_COPY;
    const unsigned char *source = copies ? host->pointers[0] : NULL;
    const unsigned char *stored = host->pointers[copies ? 1 : 0];
    const uint64_t size_bytes = host->sizes_bytes[copies ? 1 : 0];
    unsigned char *expected = malloc(size_bytes);
    if (expected == NULL)
        return ub_fail(err, UB_INTERNAL, "no memory for %" PRIu64 " expected bytes", size_bytes);
    memset(expected, 0xFF, size_bytes); /* what is not written keeps its poison */
    fill_expected(g, source, seed, expected);
    const bool equal = compare(g, expected, stored, size_bytes, err);
    free(expected);
    return equal;
}

bool coalescing_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host,
                       uint64_t seed, uint64_t checksum, struct ub_error *err)
{
    struct coalescing_geometry g;
    const char *unsupported = coalescing_resolve(gpu, point, &g);
    if (unsupported != NULL)
        return ub_fail(err, UB_INTERNAL, "%s", unsupported);
    const size_t buffers = g.op == COALESCING_STORE ? 1 : 2;
    if (host->count != buffers)
        return ub_fail(err, UB_INTERNAL, "%zu buffers where %zu are needed", host->count, buffers);
    const uint64_t region = coalescing_region_bytes(&g);
    for (size_t i = 0; i < (g.op == COALESCING_COPY ? 2u : 1u); i++)
        if (host->sizes_bytes[i] < region)
            return ub_fail(err, UB_INTERNAL, "buffer %zu has %" PRIu64 " bytes, the walk covers %" PRIu64, i,
                           host->sizes_bytes[i], region);
    return g.op == COALESCING_LOAD ? check_loads(&g, host, checksum, err) : check_stores(&g, host, seed, err);
}
