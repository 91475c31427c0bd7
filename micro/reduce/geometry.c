/* SPDX-License-Identifier: MIT
 *
 * From the axis values of a point to numbers. */
#include "micro/reduce/geometry.h"

#include <math.h>
#include <stddef.h>

enum { SIZE_L2_CACHES = 20, REDUX_CC_MAJOR = 8 };

static const uint64_t size_min_bytes = UINT64_C(1) << 30;

/* A power of two, so far beyond L2 that next to nothing is left in it from one launch to
 * the next. */
static uint64_t elements_auto(const struct ub_gpu *gpu)
{
    uint64_t size = size_min_bytes;
    while (size < SIZE_L2_CACHES * gpu->l2_bytes)
        size *= 2;
    return size / REDUCE_ELEMENT_BYTES;
}

static bool power_of_two(int64_t value)
{
    return (value & (value - 1)) == 0;
}

/* What a whole sum has and the block phase alone has not. */
static const struct ub_axis_owner owners[] = {
    {REDUCE_N, 0, REDUCE_WORK, 1u << REDUCE_SUM,
     "n is of work=sum only: work=block adds up one element a thread (leave it at auto)"},
    {REDUCE_BYTES, 16, REDUCE_WORK, 1u << REDUCE_SUM,
     "bytes is of work=sum only: work=block loads one element (leave it at 16)"},
    {REDUCE_LOADS, 4, REDUCE_WORK, 1u << REDUCE_SUM,
     "loads is of work=sum only: work=block loads one element (leave it at 4)"},
};
const struct ub_axis_owners reduce_owners = {sizeof owners / sizeof owners[0], owners};

/* The block phase alone: one block, one element a thread, one load of it. */
static const char *resolve_phase(struct reduce_geometry *g)
{
    if (g->variant >= REDUCE_PHASES)
        return "the block phase alone: only of variants that have one of their own (shared_interleaved, "
               "shared_strided, shared, shuffle, redux, atomic_shared)";
    g->n = g->block;
    g->bytes = REDUCE_ELEMENT_BYTES;
    g->words = g->loads = 1;
    return NULL;
}

static const char *unsupported(const struct ub_gpu *gpu, const struct reduce_geometry *g)
{
    if (g->block < REDUCE_LANES || !power_of_two(g->block))
        return "a tree halves what is left: block must be a power of two from 32 to 1024";
    const char *no_block = ub_gpu_block_refused(gpu, g->block, REDUCE_BLOCK_MAX * REDUCE_ELEMENT_BYTES, 0);
    if (no_block != NULL)
        return no_block;
    if (g->bytes != 4 && g->bytes != 16)
        return "a thread loads 4 or 16 bytes at a time";
    if (g->variant == REDUCE_REDUX && g->type == REDUCE_FLOAT)
        return "redux.sync adds whole numbers only: choose type=int";
    if (g->variant == REDUCE_REDUX && gpu->cc_major < REDUX_CC_MAJOR)
        return "redux.sync needs compute capability 8.0 or later";
    if (g->variant == REDUCE_MISSING_BARRIER && g->n <= (uint64_t)g->block * g->bytes / 4)
        return "the missing barrier needs a second row: n above block x bytes / 4";
    if (g->variant == REDUCE_MISSING_BARRIER && (g->block < REDUCE_TAIL_ELEMENTS || g->loads < 2))
        return "the missing barrier needs a second warp and a second row: block of 64 or more, loads of 2 or more";
    return NULL;
}

const char *reduce_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct reduce_geometry *out)
{
    const int64_t *v = point->values;
    struct reduce_geometry g = {
        .work = (uint32_t)v[REDUCE_WORK],
        .variant = (uint32_t)v[REDUCE_VARIANT],
        .type = (uint32_t)v[REDUCE_TYPE],
        .block = (uint32_t)v[REDUCE_BLOCK],
        .warps = (uint32_t)v[REDUCE_BLOCK] / REDUCE_LANES,
        .bytes = (uint32_t)v[REDUCE_BYTES],
        .words = (uint32_t)v[REDUCE_BYTES] / REDUCE_ELEMENT_BYTES,
        .loads = (uint32_t)v[REDUCE_LOADS],
        .n = v[REDUCE_N] != 0 ? (uint64_t)v[REDUCE_N] : elements_auto(gpu),
    };
    const char *reason = ub_axis_ignored(&reduce_owners, point);
    const char *no_phase = g.work == REDUCE_BLOCK_PHASE ? resolve_phase(&g) : NULL;
    if (reason == NULL)
        reason = no_phase;
    g.block_elements = g.block * g.words * g.loads; /* 2^24 at most */
    *out = g;
    if (reason == NULL)
        reason = unsupported(gpu, &g);
    if (reason != NULL)
        return reason;
    const uint64_t blocks = (g.n + g.block_elements - 1) / g.block_elements;
    out->blocks = (uint32_t)blocks;
    if (blocks > INT32_MAX)
        return "a grid has 2^31 - 1 blocks at most: choose fewer elements, or more of them a thread";
    return NULL;
}

/* Values that are added one after the other to a sum over blocks. */
static double additions(const struct reduce_geometry *g)
{
    if (g->variant == REDUCE_ATOMIC_THREAD)
        return (double)g->blocks * g->block;
    if (g->variant == REDUCE_ATOMIC_WARP)
        return (double)g->blocks * g->warps;
    return g->blocks;
}

/* The numbers are multiples of 2^-10 in [-1, 1), all equally likely: their sum of n has a
 * standard deviation of sqrt(n / 3), and as long as it is less than 2^14 a float holds it
 * exactly, in whatever order it was made: always up to 2^14 numbers (those of a block), and
 * up to 12 million within eight standard deviations. Beyond, an addition may be rounded, by
 * half of the last place of the largest sum at most; such errors are as often up as down, so
 * that of k additions they come to that times sqrt(k), here with a factor of eight again. */
double reduce_bound(const struct reduce_geometry *g)
{
    const double deviations = 8, largest = deviations * sqrt((double)g->n / 3);
    const int mantissa_bits = 24, exact_exponent = 14;
    if (g->type == REDUCE_INT || g->n <= UINT64_C(1) << exact_exponent || largest <= ldexp(1, exact_exponent))
        return 0;
    const double half_place = ldexp(1, ilogb(largest) - mantissa_bits);
    return deviations * sqrt(additions(g)) * half_place;
}
