/* SPDX-License-Identifier: MIT
 *
 * From the axis values of a point to numbers. All warps of the launch are there from the
 * beginning to the end, the same number on each SM, in as few blocks as hold them. */
#include "micro/spill/geometry.h"

#include <stddef.h>

#include "harness/model/occupancy.h"

static const uint8_t caps[SPILL_CAPS] = {32, 40, 48, 56, 64, 72, 80, 88, 96, 100, 103, 104, 112, 128};

/* Shared memory is not used: all of the SRAM can be L1. */
static int resident_blocks(const struct ub_gpu *gpu, const struct spill_geometry *g)
{
    struct ub_sm_limits limits;
    struct ub_occupancy occupancy;
    const struct ub_occupancy_request request = {
        .threads = (int)g->block, .registers = (int)g->cap, .barriers = 1, .carveout_percent = -1};
    ub_sm_limits_of_gpu(gpu, &limits);
    ub_occupancy_solve(&limits, &request, &occupancy);
    return occupancy.blocks;
}

static const char *contradiction(const struct ub_gpu *gpu, const struct spill_geometry *g)
{
    if (g->warps > (uint32_t)gpu->warps_per_sm)
        return "an SM of this GPU holds fewer warps";
    if (g->warps % g->blocks_of_sm != 0)
        return "more than 32 warps are two blocks of equal size: their number must be even";
    if (resident_blocks(gpu, g) < (int)g->blocks_of_sm)
        return "an SM does not have registers for so many warps: lower cap or warps (ubench occupancy says how far)";
    return NULL;
}

const char *spill_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct spill_geometry *out)
{
    const int64_t *v = point->values;
    struct spill_geometry g = {
        .variant = (uint32_t)v[SPILL_CAP],
        .cap = caps[v[SPILL_CAP]],
        .use = (uint32_t)v[SPILL_USE],
        .warps = (uint32_t)v[SPILL_WARPS],
        .trips = (uint32_t)v[SPILL_TRIPS],
    };
    g.blocks_of_sm = (g.warps + SPILL_BLOCK_WARPS - 1) / SPILL_BLOCK_WARPS;
    g.block = g.warps / g.blocks_of_sm * SPILL_LANES;
    g.blocks = g.blocks_of_sm * (uint32_t)gpu->sms;
    g.threads = g.blocks * g.block;
    g.warps_of_grid = g.threads / SPILL_LANES;
    *out = g;
    return contradiction(gpu, &g);
}
