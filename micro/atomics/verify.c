/* SPDX-License-Identifier: MIT
 *
 * The answers of a small instance, from what a point means and not from how a kernel finds
 * its addresses: what each address must hold, number by number, and of what came back the sum
 * of the squares, which is that of 0, 1, 2, ... in whatever order the adds were done. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "micro/atomics/rule.h"

enum { WARP_LANES = 32, SMALL_LENGTH = 1, VALUE_COUNT = 7 };

static const int64_t small_bytes = 16 << 20;

bool atomics_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out)
{
    struct atomics_geometry g;
    *out = *point;
    out->values[ATOMICS_LENGTH] = SMALL_LENGTH;
    if (atomics_resolve(gpu, point, &g) != NULL)
        return false;
    if (g.space == ATOMICS_GLOBAL && g.addresses > small_bytes / g.apart)
        out->values[ATOMICS_ADDRESSES] = small_bytes / g.apart;
    return true;
}

/* What the adds of one set of warps come to: of each address the sum, and how many. */
struct totals {
    uint64_t *sums, *counts;
};

static void add_up(const struct atomics_geometry *g, const struct totals *totals)
{
    uint64_t number = 0;
    for (uint64_t turn = 0; turn < (uint64_t)g->warps * g->steps; turn++) {
        for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
            const uint64_t address = (number + lane % g->lanes) % g->addresses;
            totals->sums[address] += g->varied ? 1 + lane % VALUE_COUNT : 1;
            totals->counts[address]++;
        }
        number += g->lanes;
    }
}

/* What a buffer holds at an address, as a double: exact up to 2^53. */
static double number_at(const struct atomics_geometry *g, const char *at)
{
    uint32_t word;
    uint64_t words;
    float single;
    double number;
    memcpy(&word, at, sizeof word);
    memcpy(&single, at, sizeof single);
    switch (g->type) {
    case ATOMICS_INT:
        return word;
    case ATOMICS_FLOAT:
        return (double)single;
    case ATOMICS_LONG:
        memcpy(&words, at, sizeof words);
        return (double)words;
    default:
        memcpy(&number, at, sizeof number);
        return number;
    }
}

/* An IEEE half that is a whole number up to 2048; both halves of a word hold it. */
static uint32_t half2_of(uint64_t number)
{
    uint32_t exponent = 0;
    if (number == 0)
        return 0;
    while (number >> (exponent + 1) != 0)
        exponent++;
    const uint32_t half = (exponent + 15) << 10 | ((uint32_t)(number << 10 >> exponent) & 0x3FF);
    return half << 16 | half;
}

static bool holds(const struct atomics_geometry *g, const char *at, uint64_t sum)
{
    if (g->type != ATOMICS_HALF2)
        return number_at(g, at) == (double)(g->type == ATOMICS_INT ? (uint32_t)sum : sum);
    const uint32_t expected = half2_of(sum);
    return memcmp(at, &expected, sizeof expected) == 0;
}

static bool check_memory(const struct atomics_geometry *g, const struct totals *totals, const char *buffer,
                         struct ub_error *err)
{
    for (uint32_t copy = 0; copy < g->copies; copy++)
        for (uint32_t a = 0; a < g->addresses; a++)
            if (!holds(g, buffer + ((uint64_t)copy * g->addresses + a) * g->apart, totals->sums[a]))
                return ub_fail(err, UB_WRONG_ANSWER,
                               "address %" PRIu32 " of copy %" PRIu32 " does not hold %" PRIu64 ", the sum of its adds",
                               a, copy, totals->sums[a]);
    return true;
}

static uint32_t squares_of(const struct atomics_geometry *g, const struct totals *totals)
{
    uint32_t squares = 0;
    for (uint32_t a = 0; a < g->addresses && g->used; a++)
        for (uint64_t old = 0; old < totals->counts[a]; old++)
            squares += (uint32_t)(old * old);
    return squares * g->copies;
}

static bool check(const struct atomics_geometry *g, const struct totals *totals, const char *buffer, uint64_t checksum,
                  struct ub_error *err)
{
    add_up(g, totals);
    if (!check_memory(g, totals, buffer, err))
        return false;
    const uint32_t expected = squares_of(g, totals);
    return checksum == expected ||
           ub_fail(err, UB_WRONG_ANSWER,
                   "what came back is not 0, 1, 2, ...: the sum of the squares is %08" PRIx64 ", not %08" PRIx32,
                   checksum, expected);
}

bool atomics_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host,
                    uint64_t seed, uint64_t checksum, struct ub_error *err)
{
    (void)seed;
    struct atomics_geometry g;
    const char *unsupported = atomics_resolve(gpu, point, &g);
    if (unsupported != NULL)
        return ub_fail(err, UB_INTERNAL, "%s", unsupported);
    if (host->count != 1 || host->sizes_bytes[0] < atomics_buffer_bytes(&g))
        return ub_fail(err, UB_INTERNAL, "no buffer has the %" PRIu64 " bytes that the launch uses",
                       atomics_buffer_bytes(&g));
    const struct totals totals = {calloc(g.addresses, sizeof *totals.sums), calloc(g.addresses, sizeof *totals.counts)};
    const bool ok = totals.sums && totals.counts ? check(&g, &totals, host->pointers[0], checksum, err)
                                                 : ub_fail(err, UB_INTERNAL, "out of memory");
    free(totals.sums);
    free(totals.counts);
    return ok;
}
