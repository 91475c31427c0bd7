/* SPDX-License-Identifier: MIT
 *
 * From the axis values of a point to numbers. */
#include "micro/grid/geometry.h"

/* One code for both kinds of multiply-adds. A block that waits gives each scheduler one
 * warp, which uses one cycle of four; one that computes gives it four warps, which fill
 * the lanes however many blocks there are. A block that loads has 32 KiB in flight.
 * Four chains a thread would fill the lanes with fewer warps, but then blocks that share an
 * SM end together, the next ones are not dealt evenly, and on an H200 396 blocks of 256
 * threads took four waves of 132 instead of three. */
static const struct {
    uint32_t threads, resident; /* resident: of resident=auto, at most */
} blocks_of_work[GRID_WORKS] = {
    [GRID_LATENCY] = {128, 2},
    [GRID_THROUGHPUT] = {512, 2},
    [GRID_DRAM] = {512, 4},
};

/* The ring of chunks: what is left of it in the L2 from one launch to the next is small. */
static const uint64_t ring_min_bytes = 2ull << 30;
enum { RING_L2_CACHES = 20, WARP = 32 };

uint32_t grid_busy_cycles(const struct ub_gpu *gpu)
{
    const int cycles = gpu->schedulers_per_sm * WARP / gpu->fp32_lanes_per_sm;
    return cycles > 1 ? (uint32_t)cycles : 1;
}

uint64_t grid_chunk_elements(const struct grid_geometry *geometry)
{
    return (uint64_t)geometry->rounds * GRID_LOADS * geometry->threads;
}

uint64_t grid_ring_bytes(const struct grid_geometry *geometry)
{
    return geometry->chunks * grid_chunk_elements(geometry) * GRID_LOAD_BYTES;
}

/* The greatest power of two of chunks in a ring of the size asked for, or the smallest
 * that is as large as an automatic ring. */
static uint32_t chunks_of(const struct ub_gpu *gpu, const struct grid_geometry *g, uint64_t size_bytes)
{
    const uint64_t chunk_bytes = grid_chunk_elements(g) * GRID_LOAD_BYTES, caches = RING_L2_CACHES * gpu->l2_bytes;
    const uint64_t least = caches > ring_min_bytes ? caches : ring_min_bytes;
    uint64_t chunks = 1;
    while (size_bytes > 0 ? 2 * chunks * chunk_bytes <= size_bytes : chunks * chunk_bytes < least)
        chunks *= 2;
    return (uint32_t)chunks;
}

static uint32_t blocks_of(const struct ub_gpu *gpu, const struct ub_point *point)
{
    const int64_t *v = point->values;
    if (v[GRID_BLOCKS] > 0)
        return (uint32_t)v[GRID_BLOCKS];
    return (uint32_t)(gpu->sms * v[GRID_PER_SM] + v[GRID_SIDE] - GRID_AT);
}

/* Chooses the shared memory of a block so that an SM holds just `resident` of them. */
static bool make_resident(const struct ub_gpu *gpu, uint32_t resident, struct grid_geometry *g)
{
    struct ub_sm_limits limits;
    struct ub_occupancy occupancy;
    struct ub_occupancy_request request = {
        .threads = (int)g->threads, .registers = GRID_REGISTERS, .opt_in = true, .carveout_percent = -1};
    ub_sm_limits_of_gpu(gpu, &limits);
    const int64_t most = ub_occupancy_most_shared(&limits, &request, (int)resident);
    request.shared_bytes = most > 0 ? (uint64_t)most : 0;
    ub_occupancy_solve(&limits, &request, &occupancy);
    g->shared_bytes = (uint32_t)request.shared_bytes;
    g->resident = (uint32_t)occupancy.blocks;
    return g->resident == resident;
}

/* As many as asked for; of resident=auto, what fits up to the number of the table. */
static bool choose_resident(const struct ub_gpu *gpu, int64_t asked, struct grid_geometry *g)
{
    if (asked > 0)
        return make_resident(gpu, (uint32_t)asked, g);
    uint32_t resident = blocks_of_work[g->work].resident;
    while (resident > 1 && !make_resident(gpu, resident, g))
        resident--;
    return make_resident(gpu, resident, g);
}

static const struct ub_axis_owner owners[] = {
    {GRID_PER_SM, 1, GRID_BLOCKS, 1, "blocks says how many there are: per_sm and side need blocks=auto"},
    {GRID_SIDE, GRID_AT, GRID_BLOCKS, 1, "blocks says how many there are: per_sm and side need blocks=auto"},
    {GRID_SIZE, 0, GRID_WORK, 1u << GRID_DRAM, "size is that of the ring which work=dram reads"},
};
const struct ub_axis_owners grid_owners = {sizeof owners / sizeof owners[0], owners};

static const char *contradiction(const struct ub_gpu *gpu, const struct ub_point *point, const struct grid_geometry *g)
{
    const int64_t *v = point->values;
    if (g->blocks == 0)
        return "one block fewer than one is none: side=below needs per_sm=2 on a card of one SM";
    const char *ignored = ub_axis_ignored(&grid_owners, point);
    if (ignored != NULL)
        return ignored;
    if (v[GRID_SIZE] != 0 && (uint64_t)v[GRID_SIZE] < grid_chunk_elements(g) * GRID_LOAD_BYTES)
        return "the ring is smaller than one chunk: a block reads length x 32 KiB, and size must hold that once";
    if (g->work == GRID_LATENCY &&
        g->resident * g->warps * grid_busy_cycles(gpu) > GRID_FMA_CYCLES * (uint32_t)gpu->schedulers_per_sm)
        return "so many resident blocks fill the FP32 lanes and do not only wait: work=latency needs fewer";
    return NULL;
}

const char *grid_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct grid_geometry *out)
{
    const int64_t *v = point->values;
    struct grid_geometry g = {
        .work = (uint32_t)v[GRID_WORK],
        .threads = blocks_of_work[v[GRID_WORK]].threads,
        .blocks = blocks_of(gpu, point),
        .rounds = (uint32_t)v[GRID_LENGTH],
    };
    g.warps = g.threads / WARP;
    const bool fits = choose_resident(gpu, v[GRID_RESIDENT], &g);
    if (g.work == GRID_DRAM)
        g.chunks = chunks_of(gpu, &g, (uint64_t)v[GRID_SIZE]);
    *out = g;
    if (!fits)
        return "an SM cannot hold just so many of these blocks: warps or shared memory allow fewer";
    return contradiction(gpu, point, &g);
}
