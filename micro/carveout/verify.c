/* SPDX-License-Identifier: MIT
 *
 * The host's check of `carveout`: what all warps together have loaded, summed again with
 * formulas of its own. One iteration. */
#include <inttypes.h>
#include <stdlib.h>

#include "micro/carveout/rule.h"

/* What the 32 lanes of a load of this line bring, together. */
static uint64_t sum_of_line(const uint32_t *source, uint64_t line)
{
    uint64_t sum = 0;
    for (uint32_t lane = 0; lane < CARVEOUT_LANES; lane++)
        sum += source[line * CARVEOUT_LANES + lane];
    return sum;
}

/* Warp w begins at w + 1 times a prime near the golden section of 2^32; each draw takes the share of
 * 2^32 at which the generator stands. */
static uint64_t drawn(const struct carveout_geometry *g, const uint64_t *sums, uint64_t loads)
{
    uint64_t total = 0;
    for (uint64_t warp = 1; warp <= CARVEOUT_WARPS; warp++) {
        uint64_t state = warp * 2654435761u % 4294967296u;
        for (uint64_t k = 0; k < loads; k++) {
            total += sums[state * g->lines / 4294967296u];
            state = (state * 1664525u + 1013904223u) % 4294967296u;
        }
    }
    return total;
}

/* One warp takes the lines in turn. */
static uint64_t in_turn(const struct carveout_geometry *g, const uint64_t *sums, uint64_t loads)
{
    uint64_t total = 0;
    for (uint64_t k = 0; k < loads; k++)
        total += sums[k % g->lines];
    return total;
}

bool carveout_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host,
                     uint64_t seed, uint64_t checksum, struct ub_error *err)
{
    (void)seed;
    struct carveout_geometry g;
    const char *unsupported = carveout_resolve(gpu, point, &g);
    if (unsupported != NULL)
        return ub_fail(err, UB_INTERNAL, "%s", unsupported);
    if (host->count != 1 || host->sizes_bytes[0] < (uint64_t)g.lines * CARVEOUT_LINE_BYTES)
        return ub_fail(err, UB_INTERNAL, "there is no buffer of %" PRIu32 " lines", g.lines);
    uint64_t *sums = malloc(g.lines * sizeof *sums);
    if (sums == NULL)
        return ub_fail(err, UB_INTERNAL, "no memory for the sums of %" PRIu32 " lines", g.lines);
    uint64_t expected = 0; /* each line is brought in once */
    for (uint64_t line = 0; line < g.lines; line++)
        expected += sums[line] = sum_of_line(host->pointers[0], line);
    const uint64_t loads = CARVEOUT_WARM + CARVEOUT_UNROLL;
    expected += g.order == CARVEOUT_RANDOM ? drawn(&g, sums, loads) : in_turn(&g, sums, loads);
    free(sums);
    if (checksum == expected)
        return true;
    return ub_fail(err, UB_WRONG_ANSWER, "the sum of what was loaded is %016" PRIx64 ", the host expects %016" PRIx64,
                   checksum, expected);
}
