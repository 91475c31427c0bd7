/* SPDX-License-Identifier: MIT
 *
 * From the axis values of a point to numbers. The launch fills every SM exactly, once:
 * all blocks are there from the beginning to the end. */
#include "micro/occupancy/geometry.h"

static const uint16_t registers_of_variant[OCCUPANCY_VARIANTS] = {32, 40, 48, 64, 72, 96, 128, 168, 256};

/* Tickets an SM. Compute: 1.6 ms of an H200 at its peak, of which the floor of a launch
 * is a thousandth and the last tickets of 16 warps, during which the SM empties, are two
 * hundredths. Latency: 16 MiB an SM, at least eight L2 caches of any card of the table,
 * so that next to nothing is left in the cache from the launch before; 32 tickets for each
 * of 64 warps, so that the SM is full for all but the last hundredths. */
enum { COMPUTE_TICKETS = 3072, LATENCY_TICKETS = 2048, LINE_ELEMENTS = 32, WARP = 32 };

/* The dynamic shared memory with which `blocks` blocks share all that an SM has, so
 * that one more does not fit. */
static uint64_t shared_of_resident(const struct ub_sm_limits *limits, uint32_t blocks)
{
    const struct ub_occupancy_request nothing = {.threads = 1, .opt_in = true, .carveout_percent = -1};
    const int64_t most = ub_occupancy_most_shared(limits, &nothing, (int)blocks);
    return most > 0 ? (uint64_t)most : 0;
}

/* Barriers are not counted: no kernel has one. */
static struct ub_occupancy_request request_of(const struct ub_gpu *gpu, const struct ub_point *point,
                                              struct ub_sm_limits *limits)
{
    const int64_t *v = point->values;
    ub_sm_limits_of_gpu(gpu, limits);
    struct ub_occupancy_request request = {.threads = (int)v[OCCUPANCY_BLOCK],
                                           .registers = registers_of_variant[v[OCCUPANCY_REGISTERS]],
                                           .shared_bytes = (uint64_t)v[OCCUPANCY_SHARED],
                                           .opt_in = v[OCCUPANCY_OPTIN] == OCCUPANCY_OPTIN_YES,
                                           .carveout_percent = -1};
    if (v[OCCUPANCY_RESIDENT] > 0)
        request.shared_bytes = shared_of_resident(limits, (uint32_t)v[OCCUPANCY_RESIDENT]);
    /* 255 registers are given away as 256, which is more than a thread may ask for. */
    if (request.registers > limits->registers_per_thread)
        request.registers = limits->registers_per_thread;
    return request;
}

void occupancy_limits(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_occupancy *out)
{
    struct ub_sm_limits limits;
    const struct ub_occupancy_request request = request_of(gpu, point, &limits);
    ub_occupancy_solve(&limits, &request, out);
}

const char *occupancy_refusal(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct ub_sm_limits limits;
    const struct ub_occupancy_request request = request_of(gpu, point, &limits);
    return ub_occupancy_refusal(&limits, &request);
}

static uint32_t tickets_of_sm(const struct occupancy_geometry *g)
{
    return g->work == OCCUPANCY_COMPUTE ? COMPUTE_TICKETS : LATENCY_TICKETS;
}

static const char *contradiction(const struct ub_point *point, const struct ub_occupancy *occupancy)
{
    const int64_t *v = point->values;
    if (v[OCCUPANCY_RESIDENT] > 0 && v[OCCUPANCY_SHARED] != 0)
        return "resident chooses the shared memory of a block: it needs shared=0";
    if (v[OCCUPANCY_RESIDENT] > 0 && v[OCCUPANCY_OPTIN] != OCCUPANCY_OPTIN_YES)
        return "resident chooses the shared memory of a block: it needs optin=yes";
    if (v[OCCUPANCY_RESIDENT] > 0 && occupancy->blocks > 0 && occupancy->blocks != v[OCCUPANCY_RESIDENT])
        return "no shared memory makes an SM hold just so many of these blocks: warps, registers or the number of "
               "blocks "
               "allow fewer, or shared memory is given away in pieces that are too large";
    if (v[OCCUPANCY_BLOCK] % WARP != 0)
        return "the warps of a launch share its work evenly: block must be a multiple of 32";
    if (v[OCCUPANCY_OPTIN] == OCCUPANCY_OPTIN_NO &&
        (v[OCCUPANCY_WORK] != OCCUPANCY_COMPUTE || v[OCCUPANCY_REGISTERS] != 0 || v[OCCUPANCY_ILP] != 0))
        return "one kernel never opts in: optin=no needs work=compute, registers=32 and ilp=1";
    return NULL;
}

const char *occupancy_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct occupancy_geometry *out)
{
    const int64_t *v = point->values;
    struct ub_sm_limits limits;
    struct ub_occupancy occupancy;
    const struct ub_occupancy_request request = request_of(gpu, point, &limits);
    ub_occupancy_solve(&limits, &request, &occupancy);
    struct occupancy_geometry g = {
        .work = (uint32_t)v[OCCUPANCY_WORK],
        .ilp = 1u << v[OCCUPANCY_ILP],
        .ilp_log2 = (uint32_t)v[OCCUPANCY_ILP],
        .variant = (uint32_t)v[OCCUPANCY_REGISTERS],
        .registers = registers_of_variant[v[OCCUPANCY_REGISTERS]],
        .block = (uint32_t)v[OCCUPANCY_BLOCK],
        .warps_per_block = (uint32_t)occupancy.warps_per_block,
        .resident = (uint32_t)occupancy.blocks,
        .shared_bytes = (uint32_t)request.shared_bytes,
        .opt_in = request.opt_in,
    };
    /* A launch that is refused is tried with a block an SM. */
    g.piles = g.work == OCCUPANCY_LATENCY ? (uint32_t)gpu->sms : 1;
    g.blocks = (uint32_t)gpu->sms * (g.resident > 0 ? g.resident : 1);
    g.warps = g.blocks * g.warps_per_block;
    g.tickets = (uint32_t)gpu->sms * (v[OCCUPANCY_TICKETS] > 0 ? (uint32_t)v[OCCUPANCY_TICKETS] : tickets_of_sm(&g));
    *out = g;
    return contradiction(point, &occupancy);
}

uint64_t occupancy_elements(const struct occupancy_geometry *geometry)
{
    return (uint64_t)geometry->tickets * OCCUPANCY_LOADS * LINE_ELEMENTS;
}
