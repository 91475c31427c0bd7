/* SPDX-License-Identifier: MIT
 *
 * From the axis values of a point to numbers. The walk is cut so that no thread
 * needs a guard: accesses are a multiple of threads x accesses a thread, and
 * bytes counted equal bytes claimed. */
#include "micro/coalescing/geometry.h"

/* An automatic walk covers 1 GiB and 20 L2 caches at least (so that what a cache
 * keeps from launch to launch is below 5 %), and touches four L2 caches at least
 * where it is sparse. */
static const uint64_t walk_min_bytes = 1ull << 30;
enum { WALK_L2_CACHES = 20, TOUCHED_L2_CACHES = 4 };

/* Access numbers fit 32 bits with room for rounding up. */
static const uint64_t accesses_limit = 1ull << 32;
static const uint64_t accesses_auto_max = 1ull << 31;

static const uint32_t tile_width_log2[] = {0, 5, 4, 3, 0}; /* linear 32x8 16x16 8x32 1x256 */

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static uint64_t power_of_two_from(uint64_t value)
{
    uint64_t power = 1;
    while (power < value)
        power *= 2;
    return power;
}

/* Accesses in flight that make 16 bytes a thread: what DRAM's ceiling needs (Little's
 * law). A thread of pattern=aos brings in whole structures with its first access; more
 * of them than needed would only push each other out of L1. */
static uint32_t per_thread_auto(const struct coalescing_geometry *g)
{
    const uint32_t bytes = g->pattern == COALESCING_AOS ? g->bytes * g->fields : g->bytes;
    uint32_t accesses = 1;
    while (accesses * bytes < 16)
        accesses *= 2;
    return accesses;
}

static uint32_t step(const struct coalescing_geometry *g)
{
    if (g->pattern == COALESCING_TILE) /* the tiles of a thread lie in one row of tiles */
        return 1u << g->tile_width_log2;
    return g->block * (g->pattern == COALESCING_AOS ? g->fields : g->stride);
}

static bool has_fields(const struct coalescing_geometry *g)
{
    return g->pattern == COALESCING_AOS || g->pattern == COALESCING_SOA;
}

#define PATTERN(name) (1u << COALESCING_##name)
static const struct ub_axis_owner owners[] = {
    {COALESCING_STRIDE, 1, COALESCING_PATTERN, PATTERN(BY_STRIDE) | PATTERN(REVERSE) | PATTERN(BROADCAST),
     "stride and offset apply to pattern=stride, reverse and broadcast only"},
    {COALESCING_OFFSET, 0, COALESCING_PATTERN, PATTERN(BY_STRIDE) | PATTERN(REVERSE) | PATTERN(BROADCAST),
     "stride and offset apply to pattern=stride, reverse and broadcast only"},
    {COALESCING_FIELDS, 1, COALESCING_PATTERN, PATTERN(AOS) | PATTERN(SOA),
     "fields applies to pattern=aos and pattern=soa only"},
};
const struct ub_axis_owners coalescing_owners = {sizeof owners / sizeof owners[0], owners};

/* Why the values contradict each other, or NULL. */
static const char *contradiction(const struct ub_point *point, const struct coalescing_geometry *g)
{
    const int64_t *v = point->values;
    const uint32_t most = per_thread_auto(g);
    if (v[COALESCING_SHAPE] != 0 && (v[COALESCING_PATTERN] != COALESCING_BY_STRIDE || g->stride != 1))
        return "a 2D shape walks a matrix without gaps: it needs pattern=stride and stride=1";
    if (v[COALESCING_SHAPE] != 0 && g->block != COALESCING_TILE_THREADS)
        return "a 2D shape has 256 threads: it needs block=256";
    const char *ignored = ub_axis_ignored(&coalescing_owners, point);
    if (ignored != NULL)
        return ignored;
    if ((g->per_thread & (g->per_thread - 1)) != 0 || g->per_thread > most)
        return "per_thread is 1, 2, 4, 8 or 16, and at most 16 bytes a thread: per_thread * bytes <= 16";
    if (g->pattern != COALESCING_BY_STRIDE && g->per_thread != most)
        return "per_thread can be chosen with pattern=stride and shape=linear only";
    return NULL;
}

static uint64_t accesses_in(const struct coalescing_geometry *g, uint64_t size_bytes)
{
    uint64_t accesses = size_bytes / ((uint64_t)g->stride * g->bytes * g->fields);
    if (g->pattern == COALESCING_RANDOM && accesses > COALESCING_RANDOM_MAX)
        accesses = COALESCING_RANDOM_MAX;
    return accesses;
}

/* Bytes that come into the L2 for `accesses` access numbers where one visit brings
 * `grain` bytes: neighbours share a grain, sparse visits do not. */
static uint64_t touched(const struct coalescing_geometry *g, uint64_t accesses, uint64_t grain)
{
    uint64_t visits = accesses;
    uint64_t apart = (uint64_t)g->stride * g->bytes;
    if (has_fields(g))
        visits = accesses * g->fields;
    if (g->pattern == COALESCING_BROADCAST) {
        visits = accesses / 32;
        apart *= 32;
    }
    if (g->pattern == COALESCING_RANDOM || apart > grain)
        apart = grain;
    return visits * apart;
}

static uint64_t touched_by_op(const struct ub_gpu *gpu, const struct coalescing_geometry *g, uint64_t accesses)
{
    const uint64_t grain = gpu->dram_read_grain_bytes > 0 ? (uint64_t)gpu->dram_read_grain_bytes : 32;
    uint64_t bytes = 0;
    if (g->op != COALESCING_STORE)
        bytes += touched(g, accesses, grain);
    if (g->op != COALESCING_LOAD)
        bytes += touched(g, accesses, 32);
    return bytes;
}

static bool is_large(const struct ub_gpu *gpu, const struct coalescing_geometry *g, uint64_t accesses)
{
    return accesses * g->fields >= COALESCING_ACCESSES_MIN &&
           touched_by_op(gpu, g, accesses) >= TOUCHED_L2_CACHES * gpu->l2_bytes;
}

/* Doubles the region until it is large; pattern=random stops at its own limit. */
static uint64_t size_auto(const struct ub_gpu *gpu, const struct coalescing_geometry *g)
{
    uint64_t size = power_of_two_from(WALK_L2_CACHES * gpu->l2_bytes);
    if (size < walk_min_bytes)
        size = walk_min_bytes;
    while (!is_large(gpu, g, accesses_in(g, size)) &&
           !(g->pattern == COALESCING_RANDOM && accesses_in(g, size) == COALESCING_RANDOM_MAX))
        size *= 2;
    return size;
}

static uint64_t region_elements(const struct coalescing_geometry *g)
{
    const uint64_t last = g->accesses - 1;
    if (g->pattern == COALESCING_RANDOM)
        return (uint64_t)g->mask + 1;
    if (has_fields(g))
        return (uint64_t)g->accesses * g->fields;
    if (g->pattern == COALESCING_TILE) {
        const uint64_t height = g->block >> g->tile_width_log2;
        return round_up(g->accesses, height << COALESCING_ROW_LOG2) + g->offset;
    }
    return last * g->stride + g->offset + 1;
}

const char *coalescing_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct coalescing_geometry *out)
{
    const int64_t *v = point->values;
    struct coalescing_geometry g = {0};
    g.op = (uint32_t)v[COALESCING_OP];
    g.pattern = v[COALESCING_SHAPE] != 0 && v[COALESCING_PATTERN] == COALESCING_BY_STRIDE
                    ? COALESCING_TILE
                    : (uint32_t)v[COALESCING_PATTERN];
    g.bytes_log2 = (uint32_t)v[COALESCING_BYTES];
    g.bytes = 1u << g.bytes_log2;
    g.stride = (uint32_t)v[COALESCING_STRIDE];
    g.offset = (uint32_t)v[COALESCING_OFFSET];
    g.fields = (uint32_t)v[COALESCING_FIELDS];
    g.block = (uint32_t)v[COALESCING_BLOCK];
    g.per_thread = v[COALESCING_PER_THREAD] != 0 ? (uint32_t)v[COALESCING_PER_THREAD] : per_thread_auto(&g);
    g.tile_width_log2 = tile_width_log2[v[COALESCING_SHAPE]];
    g.step = step(&g);
    *out = g;
    const char *reason = ub_gpu_block_refused(gpu, g.block, 0, 0);
    if (reason == NULL)
        reason = contradiction(point, &g);
    if (reason != NULL)
        return reason;

    const bool automatic = v[COALESCING_SIZE] == 0;
    const uint64_t size = automatic ? size_auto(gpu, &g) : (uint64_t)v[COALESCING_SIZE];
    uint64_t accesses = accesses_in(&g, size);
    if (automatic && accesses > accesses_auto_max)
        accesses = accesses_auto_max;
    const uint64_t unit = (uint64_t)g.block * g.per_thread;
    accesses = accesses < unit ? unit : round_up(accesses, unit);
    if (accesses >= accesses_limit)
        return "the size holds 2^32 accesses or more: choose a smaller size, wider bytes or a larger stride";
    g.accesses = (uint32_t)accesses;
    g.blocks = (uint32_t)(accesses / unit);
    if (g.pattern == COALESCING_RANDOM) {
        const uint64_t elements = size / g.bytes;
        const uint64_t domain = power_of_two_from(elements > accesses ? elements : accesses);
        if (domain > accesses_limit)
            return "pattern=random covers 2^32 elements at most: choose a smaller size or wider bytes";
        g.mask = (uint32_t)(domain - 1);
    }
    g.elements = region_elements(&g);
    *out = g;
    return NULL;
}

uint64_t coalescing_region_bytes(const struct coalescing_geometry *geometry)
{
    return round_up(geometry->elements * geometry->bytes, 256);
}

uint64_t coalescing_touched_bytes(const struct ub_gpu *gpu, const struct coalescing_geometry *geometry)
{
    return touched_by_op(gpu, geometry, geometry->accesses);
}
