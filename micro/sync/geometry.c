/* SPDX-License-Identifier: MIT
 *
 * From the axis values of a point to numbers. */
#include "micro/sync/geometry.h"

#include "harness/model/occupancy.h"

/* Operations of one iteration, and the block where none is named. */
static const struct {
    uint32_t operations, threads;
} defaults[SYNC_OPS] = {
    [SYNC_OP_BLOCK] = {SYNC_STEPS_BLOCK, 256},
    [SYNC_OP_NAMED] = {SYNC_STEPS_BLOCK, 256},
    [SYNC_OP_WARP] = {SYNC_STEPS_WARP, 32},
    [SYNC_OP_SHUFFLE] = {SYNC_STEPS_LANES, 32},
    [SYNC_OP_VOTE] = {SYNC_STEPS_LANES, 32},
    [SYNC_OP_CLUSTER] = {SYNC_STEPS_CLUSTER, 256},
    [SYNC_OP_CLUSTER_RELAXED] = {SYNC_STEPS_CLUSTER, 256},
    [SYNC_OP_GRID] = {SYNC_STEPS_GRID, 256},
    [SYNC_OP_FENCE_BLOCK] = {SYNC_STEPS_FENCE, 64},
    [SYNC_OP_FENCE_DEVICE] = {SYNC_STEPS_FENCE, 64},
    [SYNC_OP_FENCE_SYSTEM] = {SYNC_STEPS_FENCE, 64},
    [SYNC_OP_STREAM] = {1, 32},
    [SYNC_OP_DEVICE] = {1, 32},
    [SYNC_OP_EVENT_SPIN] = {1, 32},
    [SYNC_OP_EVENT_BLOCK] = {1, 32},
    [SYNC_OP_LAUNCH] = {1, 32},
    [SYNC_OP_GRAPH] = {1, 32},
};

bool sync_is_host(const struct sync_geometry *geometry)
{
    return geometry->op >= SYNC_DEVICE_OPS;
}

bool sync_is_barrier_unit(const struct sync_geometry *geometry)
{
    return geometry->op == SYNC_OP_BLOCK || geometry->op == SYNC_OP_NAMED;
}

bool sync_is_cluster(const struct sync_geometry *geometry)
{
    return geometry->op == SYNC_OP_CLUSTER || geometry->op == SYNC_OP_CLUSTER_RELAXED;
}

bool sync_is_crowded(const struct sync_geometry *geometry)
{
    return geometry->resident > 1 || geometry->groups > 1;
}

bool sync_is_fence(const struct sync_geometry *geometry)
{
    return geometry->op >= SYNC_OP_FENCE_BLOCK && geometry->op <= SYNC_OP_FENCE_SYSTEM;
}

uint32_t sync_warps(const struct sync_geometry *geometry)
{
    return geometry->threads / SYNC_LANES;
}

uint32_t sync_resident_most(const struct ub_gpu *gpu, uint32_t threads)
{
    struct ub_sm_limits limits;
    struct ub_occupancy occupancy;
    const struct ub_occupancy_request request = {
        .threads = (int)threads, .registers = SYNC_REGISTERS, .barriers = 1, .carveout_percent = -1};
    ub_sm_limits_of_gpu(gpu, &limits);
    ub_occupancy_solve(&limits, &request, &occupancy);
    return occupancy.blocks > 0 ? (uint32_t)occupancy.blocks : 0;
}

uint64_t sync_slots_bytes(uint32_t threads)
{
    return 2 * sizeof(uint32_t) * (uint64_t)threads;
}

/* Chooses the shared memory of a block so that an SM holds just `resident` of them. */
static bool make_resident(const struct ub_gpu *gpu, struct sync_geometry *g)
{
    struct ub_sm_limits limits;
    struct ub_occupancy occupancy;
    struct ub_occupancy_request request = {.threads = (int)g->threads,
                                           .registers = SYNC_REGISTERS,
                                           .barriers = g->op == SYNC_OP_NAMED ? SYNC_GROUPS_MOST : 1,
                                           .opt_in = true,
                                           .carveout_percent = -1};
    ub_sm_limits_of_gpu(gpu, &limits);
    const int64_t most = ub_occupancy_most_shared(&limits, &request, (int)g->resident);
    request.shared_bytes = most > 0 ? (uint64_t)most : 0;
    ub_occupancy_solve(&limits, &request, &occupancy);
    if (request.shared_bytes < sync_slots_bytes(g->threads))
        return false;
    g->shared_bytes = (uint32_t)request.shared_bytes;
    return occupancy.blocks == (int)g->resident;
}

static uint32_t parties_of(const struct sync_geometry *g)
{
    switch ((enum sync_op)g->op) {
    case SYNC_OP_BLOCK:
    case SYNC_OP_NAMED:
        return sync_warps(g) / g->groups;
    case SYNC_OP_CLUSTER:
    case SYNC_OP_CLUSTER_RELAXED:
        return g->cluster;
    case SYNC_OP_GRID:
        return g->blocks;
    case SYNC_OP_WARP:
    case SYNC_OP_SHUFFLE:
    case SYNC_OP_VOTE:
        return SYNC_LANES;
    default: /* one thread, or the host, waits */
        return 1;
    }
}

static uint32_t blocks_of(const struct ub_gpu *gpu, const struct ub_point *point, const struct sync_geometry *g)
{
    switch ((enum sync_op)g->op) {
    case SYNC_OP_CLUSTER:
    case SYNC_OP_CLUSTER_RELAXED:
        return g->cluster;
    case SYNC_OP_GRID:
        return point->values[SYNC_BLOCKS] > 0 ? (uint32_t)point->values[SYNC_BLOCKS] : (uint32_t)gpu->sms;
    case SYNC_OP_FENCE_BLOCK:
    case SYNC_OP_FENCE_DEVICE:
    case SYNC_OP_FENCE_SYSTEM:
        return 2; /* one that writes and one that reads what was written */
    default:
        return sync_is_host(g) ? g->launches : (uint32_t)gpu->sms * g->resident;
    }
}

/* Which operation each axis is for. */
static const struct ub_axis_owner owners[] = {
#define OP(name) (1u << SYNC_OP_##name)
    {SYNC_RESIDENT, 1, SYNC_OP, OP(BLOCK), "resident is of op=block only (leave it at 1)"},
    {SYNC_GROUPS, 1, SYNC_OP, OP(NAMED), "groups is of op=named only (leave it at 1)"},
    {SYNC_CLUSTER, 0, SYNC_OP, OP(CLUSTER) | OP(CLUSTER_RELAXED),
     "cluster is of op=cluster and cluster_relaxed only (leave it at auto)"},
    {SYNC_BLOCKS, 0, SYNC_OP, OP(GRID), "blocks is of op=grid only (leave it at auto)"},
    {SYNC_LAUNCHES, 1, SYNC_OP, OP(LAUNCH) | OP(GRAPH), "launches is of op=launch and op=graph only (leave it at 1)"},
    {SYNC_BLOCK, 0, SYNC_OP,
     OP(BLOCK) | OP(NAMED) | OP(WARP) | OP(SHUFFLE) | OP(VOTE) | OP(CLUSTER) | OP(CLUSTER_RELAXED) | OP(GRID),
     "fences are of one warp, and the host launches one warp: leave block at auto"},
    {SYNC_BARRIER, SYNC_KEPT, SYNC_OP, OP(BLOCK) | OP(NAMED) | OP(CLUSTER) | OP(GRID) | OP(STREAM),
     "barrier=left_out is for op=block, named, cluster, grid and stream: elsewhere nothing is sure to go wrong"},
};
const struct ub_axis_owners sync_owners = {sizeof owners / sizeof owners[0], owners};

static const char *contradiction(const struct ub_gpu *gpu, const struct ub_point *point, struct sync_geometry *g)
{
    const char *ignored = ub_axis_ignored(&sync_owners, point);
    if (ignored != NULL)
        return ignored;
    if (g->threads % SYNC_LANES != 0)
        return "blocks are whole warps: block must be a multiple of 32";
    if (g->threads > (uint32_t)gpu->threads_per_block)
        return "the GPU has no blocks of so many threads";
    if (g->op == SYNC_OP_NAMED && sync_warps(g) % g->groups != 0)
        return "each group must have the same number of whole warps";
    if (g->left_out && g->parties < 2 && !sync_is_host(g))
        return "one alone waits for nobody: barrier=left_out needs two or more";
    if (sync_is_cluster(g) && gpu->cc_major < 9)
        return "clusters need compute capability 9.0";
    if (sync_is_cluster(g) && (g->cluster & (g->cluster - 1)) != 0)
        return "a cluster has 1, 2, 4, 8 or 16 blocks";
    if (!sync_is_host(g) && g->op < SYNC_OP_CLUSTER && !make_resident(gpu, g))
        return "an SM does not hold so many of these blocks";
    return NULL;
}

const char *sync_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct sync_geometry *out)
{
    const int64_t *v = point->values;
    struct sync_geometry g = {
        .op = (uint32_t)v[SYNC_OP],
        .left_out = v[SYNC_BARRIER] == SYNC_LEFT_OUT,
        .threads = v[SYNC_BLOCK] != 0 ? (uint32_t)v[SYNC_BLOCK] : defaults[v[SYNC_OP]].threads,
        .resident = (uint32_t)v[SYNC_RESIDENT],
        .groups = (uint32_t)v[SYNC_GROUPS],
        .cluster = v[SYNC_CLUSTER] != 0 ? (uint32_t)v[SYNC_CLUSTER] : SYNC_CLUSTER_AUTO,
        .launches = (uint32_t)v[SYNC_LAUNCHES],
        .operations = defaults[v[SYNC_OP]].operations,
    };
    g.blocks = blocks_of(gpu, point, &g);
    g.parties = parties_of(&g);
    const char *why = contradiction(gpu, point, &g);
    *out = g;
    return why;
}

uint64_t sync_answers(const struct sync_geometry *geometry)
{
    return sync_is_host(geometry) ? SYNC_HOST_WORDS : (uint64_t)geometry->blocks * geometry->threads;
}

uint64_t sync_slots(const struct sync_geometry *geometry)
{
    return sync_is_fence(geometry) ? SYNC_FENCE_WORDS : 2 * (uint64_t)geometry->parties;
}
