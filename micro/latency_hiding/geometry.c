/* SPDX-License-Identifier: MIT
 *
 * From the axis values of a point to numbers. The launch fills every SM exactly, once: all
 * warps are there from the beginning to the end. */
#include "micro/latency_hiding/geometry.h"

#include "harness/model/occupancy.h"

enum {
    /* Tickets of an SM: 0.5 ms of an H200 at its peak. The floor of the launch is a
     * thousandth of that, the end, when the SMs empty, half a ticket of their warps: three
     * hundredths where they hold 64. */
    TICKETS_OF_SM = 1024,
    MEMORY_STEPS = 256, /* of a warp, unless that is too few bytes */
    BLOCK_WARPS_MAX = 32
};

/* Bytes that a launch loads at least: more than any L2 cache of the table holds twice, so
 * that nothing is left there from the launch before; the counter of DRAM bytes says so. */
static const uint64_t least_bytes = UINT64_C(256) << 20;

/* The fewest blocks of equal size, of 32 warps at most, that are `warps` warps; 0: none. */
static uint32_t blocks_of(uint32_t warps, uint32_t most)
{
    for (uint32_t blocks = (warps + BLOCK_WARPS_MAX - 1) / BLOCK_WARPS_MAX; blocks <= most; blocks++)
        if (warps % blocks == 0)
            return blocks;
    return 0;
}

/* The least dynamic shared memory of a block with which one more than `blocks` does not
 * fit an SM: else some SMs could be given more blocks than others. The least, because L1
 * gets the rest: with all of it taken, an H200 loads 3 % slower at most. */
static uint32_t shared_of(const struct ub_sm_limits *limits, uint32_t blocks)
{
    const struct ub_occupancy_request nothing = {.threads = 1, .opt_in = true, .carveout_percent = -1};
    const int64_t most = ub_occupancy_most_shared(limits, &nothing, (int)blocks + 1);
    return most < 0 ? 0 : (uint32_t)most + (uint32_t)limits->shared_unit_bytes;
}

/* What one step of all warps loads. */
static uint64_t step_bytes(const struct hiding_geometry *g)
{
    return (uint64_t)g->all_warps * HIDING_LANES * g->bytes * g->ilp;
}

/* Half of a small card's memory is enough. */
static uint32_t memory_steps(const struct ub_gpu *gpu, const struct hiding_geometry *g)
{
    const uint64_t of_step = step_bytes(g), least = (least_bytes + of_step - 1) / of_step;
    const uint64_t most = gpu->memory_bytes > 0 ? gpu->memory_bytes / 2 / of_step : UINT32_MAX;
    const uint64_t steps = least > MEMORY_STEPS ? least : MEMORY_STEPS;
    return (uint32_t)(steps < most ? steps : most);
}

/* Why warps cannot be cut into blocks that this card holds; the first if no card could. */
static const char *why_not_cut(uint32_t warps)
{
    if (blocks_of(warps, warps - 1) == 0)
        return "more than 32 warps are several blocks of equal size: a prime number of them cannot be";
    return "more than 32 warps are several blocks of equal size: an SM of this card holds too few blocks for so many";
}

/* Blocks of which an SM holds just `resident`: NULL, or why it cannot. */
static const char *fit_blocks(const struct ub_sm_limits *limits, struct hiding_geometry *g)
{
    if (g->block > (uint32_t)limits->threads_per_block)
        return "a block of this card has fewer threads than so many warps need";
    const uint32_t words = g->work == HIDING_MEMORY ? g->ilp * g->bytes / 4 : 1;
    g->shared_bytes = shared_of(limits, g->resident);
    const struct ub_occupancy_request request = {.threads = (int)g->block,
                                                 .registers = HIDING_REGISTERS(words),
                                                 .shared_bytes = g->shared_bytes,
                                                 .opt_in = true,
                                                 .carveout_percent = -1};
    struct ub_occupancy occupancy;
    ub_occupancy_solve(limits, &request, &occupancy);
    if (occupancy.blocks == (int)g->resident)
        return NULL;
    if (occupancy.limits[UB_SM_REGISTERS] < (int)g->resident)
        return "an SM has too few registers for what so many warps would have in flight";
    return "with the shared memory of this card an SM cannot be made to hold just so many blocks";
}

static void cut_work(const struct ub_gpu *gpu, int64_t length, struct hiding_geometry *g)
{
    if (g->work == HIDING_MEMORY) {
        g->steps = length > 0 ? (uint32_t)length : memory_steps(gpu, g);
        return;
    }
    g->steps = HIDING_LOOPS * HIDING_FMAS / g->ilp;
    g->tickets = length > 0 ? (uint32_t)length * g->all_warps : TICKETS_OF_SM * (g->blocks / g->resident);
}

const char *hiding_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct hiding_geometry *out)
{
    const int64_t *v = point->values;
    struct ub_sm_limits limits;
    ub_sm_limits_of_gpu(gpu, &limits);
    struct hiding_geometry g = {.work = (uint32_t)v[HIDING_WORK],
                                .ilp = 1u << v[HIDING_ILP],
                                .ilp_log2 = (uint32_t)v[HIDING_ILP],
                                .bytes = 4u << v[HIDING_BYTES],
                                .width = (uint32_t)v[HIDING_BYTES],
                                .warps = (uint32_t)v[HIDING_WARPS]};
    *out = g;
    if (g.work == HIDING_ARITHMETIC && g.bytes != 4)
        return "the multiply-adds of work=arithmetic are those of 4-byte numbers: it needs bytes=4";
    if (g.warps > (uint32_t)gpu->warps_per_sm)
        return "an SM of this card holds fewer warps";
    g.resident = blocks_of(g.warps, (uint32_t)limits.blocks);
    if (g.resident == 0)
        return why_not_cut(g.warps);
    g.block_warps = g.warps / g.resident;
    g.block = g.block_warps * HIDING_LANES;
    g.blocks = (uint32_t)gpu->sms * g.resident;
    g.all_warps = (uint32_t)gpu->sms * g.warps;
    const char *no_room = fit_blocks(&limits, &g);
    if (no_room != NULL)
        return no_room;
    cut_work(gpu, v[HIDING_LENGTH], &g);
    *out = g;
    if (gpu->memory_bytes > 0 && hiding_bytes(&g) > gpu->memory_bytes / 10 * 9)
        return "the launch would load more than nine tenths of the card's memory";
    return NULL;
}

uint64_t hiding_bytes(const struct hiding_geometry *geometry)
{
    return geometry->work == HIDING_MEMORY ? step_bytes(geometry) * geometry->steps : 0;
}

uint64_t hiding_steps(const struct hiding_geometry *geometry)
{
    const uint64_t takers = geometry->work == HIDING_MEMORY ? geometry->all_warps : geometry->tickets;
    return takers * geometry->steps;
}

uint64_t hiding_fmas(const struct hiding_geometry *geometry)
{
    return geometry->work == HIDING_ARITHMETIC ? hiding_steps(geometry) * geometry->ilp * HIDING_LANES : 0;
}

uint64_t hiding_in_flight(const struct hiding_geometry *geometry)
{
    const uint64_t operations = (uint64_t)geometry->warps * HIDING_LANES * geometry->ilp;
    return geometry->work == HIDING_MEMORY ? operations * geometry->bytes : operations;
}
