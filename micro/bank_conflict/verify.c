/* SPDX-License-Identifier: MIT
 *
 * The host's check of `bank_conflict`: the sums that loading threads left, and every
 * word of shared memory after stores. Formulas of its own: rows and columns instead
 * of access.h's arithmetic. One iteration. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "micro/bank_conflict/rule.h"

static uint32_t scattered(uint32_t number)
{
    uint32_t x = number * 2654435761u;
    x = (x ^ x >> 15) * 2246822507u;
    return (x ^ x >> 13) % BANK_CONFLICT_WINDOW;
}

/* Groups of lanes that share an element are numbered by their lowest lanes. */
static uint32_t group_of(const struct bank_conflict_geometry *g, uint32_t lane)
{
    const uint32_t lowest = lane - (lane & g->share);
    uint32_t before = 0;
    for (uint32_t other = 0; other < lowest; other++)
        before += (other & g->share) == 0;
    return before;
}

/* First byte of the element of a lane. */
static uint32_t byte_of(const struct bank_conflict_geometry *g, uint32_t warp, uint32_t lane)
{
    const uint32_t row = lane * g->stride / BANK_CONFLICT_ROW, column = lane * g->stride % BANK_CONFLICT_ROW;
    const uint32_t elements[BANK_CONFLICT_PATTERNS] = {
        [BANK_CONFLICT_BY_STRIDE] = row * BANK_CONFLICT_ROW + column,
        [BANK_CONFLICT_PADDED] = row * (BANK_CONFLICT_ROW + g->pad) + column,
        [BANK_CONFLICT_XOR] = row * BANK_CONFLICT_ROW + (column ^ (row & (BANK_CONFLICT_ROW - 1))),
        [BANK_CONFLICT_COLUMN] = warp + lane * BANK_CONFLICT_ROW + lane * g->pad,
        [BANK_CONFLICT_RANDOM] = scattered(warp * BANK_CONFLICT_LANES + lane),
        [BANK_CONFLICT_BROADCAST] = warp,
        [BANK_CONFLICT_MULTICAST] = group_of(g, lane),
    };
    return elements[g->pattern] * g->unit_bytes;
}

/* Where word i of what a lane receives lies: a plain load takes it from the lane's own
 * element; ldmatrix gives lane t the t % 4-th word of row t / 4 of matrix i, and the
 * address of that row comes from lane 8 i + t / 4 (PTX ISA, ldmatrix). */
static uint32_t source_byte(const struct bank_conflict_geometry *g, uint32_t warp, uint32_t lane, uint32_t i)
{
    if (g->op == BANK_CONFLICT_LDMATRIX)
        return byte_of(g, warp, 8 * i + lane / 4) + lane % 4 * 4;
    return byte_of(g, warp, lane) + 4 * i;
}

static bool check_sums(const struct bank_conflict_geometry *g, const struct ub_buffers *host, struct ub_error *err)
{
    const uint32_t *source = host->pointers[0], *sums = host->pointers[1];
    for (uint32_t thread = 0; thread < BANK_CONFLICT_THREADS; thread++)
        for (uint32_t i = 0; i < BANK_CONFLICT_SUMS; i++) {
            uint32_t expected = i < g->words ? 0 : UINT32_MAX; /* what is not written keeps its poison */
            for (uint32_t k = 0; k < BANK_CONFLICT_UNROLL && i < g->words; k++) {
                const uint32_t byte =
                    source_byte(g, thread / BANK_CONFLICT_LANES, thread % BANK_CONFLICT_LANES, i) + 128 * k;
                expected += source[byte / 4];
            }
            const uint32_t sum = sums[thread * BANK_CONFLICT_SUMS + i];
            if (sum != expected)
                return ub_fail(err, UB_WRONG_ANSWER,
                               "thread %" PRIu32 " summed word %" PRIu32 " of its loads to %08" PRIx32
                               ", the host expects %08" PRIx32,
                               thread, i, sum, expected);
        }
    return true;
}

/* A stored word says where it was meant to go. */
static void store(const struct bank_conflict_geometry *g, uint32_t key, uint32_t *memory)
{
    for (uint32_t thread = 0; thread < BANK_CONFLICT_THREADS; thread++)
        for (uint32_t byte = 0; byte < g->bytes * BANK_CONFLICT_UNROLL; byte += 4) {
            const uint32_t k = byte / g->bytes;
            const uint32_t word =
                (byte_of(g, thread / BANK_CONFLICT_LANES, thread % BANK_CONFLICT_LANES) + 128 * k + byte % g->bytes) /
                4;
            memory[word] = key + word;
        }
}

static bool check_memory(const struct bank_conflict_geometry *g, const struct ub_buffers *host, uint64_t seed,
                         struct ub_error *err)
{
    const uint32_t *copied = host->pointers[0];
    const uint32_t words = g->region_bytes / 4;
    uint32_t wrong = 0, first = 0;
    uint32_t *expected = malloc(g->region_bytes);
    if (expected == NULL)
        return ub_fail(err, UB_INTERNAL, "no memory for %" PRIu32 " expected bytes", g->region_bytes);
    memset(expected, 0xFF, g->region_bytes); /* what is not stored */
    store(g, bank_conflict_key(seed), expected);
    for (uint32_t word = 0; word < words; word++)
        if (copied[word] != expected[word] && wrong++ == 0)
            first = word;
    const uint32_t should = expected[first];
    free(expected);
    if (wrong == 0)
        return true;
    return ub_fail(err, UB_WRONG_ANSWER,
                   "%" PRIu32 " of %" PRIu32 " words of shared memory are wrong; the first is word %" PRIu32
                   ": %08" PRIx32 " instead of %08" PRIx32,
                   wrong, words, first, copied[first], should);
}

bool bank_conflict_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host,
                          uint64_t seed, uint64_t checksum, struct ub_error *err)
{
    (void)checksum; /* the buffers say more */
    struct bank_conflict_geometry g;
    const char *unsupported = bank_conflict_resolve(gpu, point, &g);
    if (unsupported != NULL)
        return ub_fail(err, UB_INTERNAL, "%s", unsupported);
    const bool stores = g.op == BANK_CONFLICT_STORE;
    const size_t buffers = stores ? 1 : 2;
    if (host->count != buffers)
        return ub_fail(err, UB_INTERNAL, "%zu buffers where %zu are needed", host->count, buffers);
    if (host->sizes_bytes[0] < g.region_bytes ||
        (!stores && host->sizes_bytes[1] < 4 * BANK_CONFLICT_SUMS * BANK_CONFLICT_THREADS))
        return ub_fail(err, UB_INTERNAL, "a buffer is smaller than %" PRIu32 " bytes of shared memory or than the sums",
                       g.region_bytes);
    return stores ? check_memory(&g, host, seed, err) : check_sums(&g, host, err);
}
