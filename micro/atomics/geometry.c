/* SPDX-License-Identifier: MIT
 *
 * From the axis values of a point to numbers. An SM holds one block, so that all warps of the
 * launch add from its beginning to its end. */
#include "micro/atomics/geometry.h"

enum {
    /* Adds to one address that its number holds exactly: of a float, and of a half. */
    FLOAT_ADDS = 1 << 24,
    HALF_ADDS = 1 << 11,
    /* A loop of compare-and-swap by so many threads at one address: each add makes all others
     * try again, which takes them microseconds. */
    CONTENDERS_MAX = 1 << 13
};

static const uint64_t region_bytes = UINT64_C(1) << 30; /* offsets have 32 bits */

bool atomics_in_shared(const struct atomics_geometry *g)
{
    return g->space == ATOMICS_SHARED || g->way == ATOMICS_PRIVATE;
}

bool atomics_loops(const struct atomics_geometry *g)
{
    return g->way == ATOMICS_CAS || (atomics_in_shared(g) && g->type != ATOMICS_INT);
}

uint64_t atomics_adds(const struct atomics_geometry *g)
{
    return (uint64_t)g->blocks * g->block_warps * ATOMICS_WARP * g->steps;
}

uint64_t atomics_copy_bytes(const struct atomics_geometry *g)
{
    return (uint64_t)g->addresses * g->apart;
}

uint64_t atomics_buffer_bytes(const struct atomics_geometry *g)
{
    return g->copies * atomics_copy_bytes(g);
}

/* ---- what cannot go together ------------------------------------------------------- */

static const char *refuse_way(const struct atomics_geometry *g)
{
    if (g->type == ATOMICS_HALF2 && (g->space != ATOMICS_GLOBAL || g->way != ATOMICS_PLAIN || g->used))
        return "type=half2 is there as space=global way=plain result=unused only";
    if (g->used && g->way != ATOMICS_PLAIN)
        return "result=used is there with way=plain only (a loop of compare-and-swap always uses it)";
    if (g->way == ATOMICS_ONE && (g->space != ATOMICS_SHARED || g->type != ATOMICS_INT))
        return "way=one is there as space=shared type=int only: elsewhere the constant 1 is added as any number is";
    if (g->way == ATOMICS_CAS && g->type != ATOMICS_INT)
        return "way=cas is there with type=int only: a sum that grows from launch to launch, which a float's does not";
    if (g->way == ATOMICS_COMPILER && g->type != ATOMICS_INT)
        return "way=compiler is there with type=int only: the compiler adds up no other type over a warp";
    if (g->way == ATOMICS_PRIVATE && g->space != ATOMICS_GLOBAL)
        return "way=private is there with space=global only: its sums end in global memory";
    return NULL;
}

static const char *refuse_addresses(const struct atomics_geometry *g)
{
    if (g->lanes > g->addresses)
        return "the lanes of a warp cannot add to more addresses than there are";
    if (g->addresses % g->lanes != 0)
        return "addresses must be a multiple of lanes, which is 32 where nothing is said: a warp takes so many side by "
               "side";
    if (g->apart % g->bytes != 0)
        return "addresses are a multiple of their type's size apart";
    if (atomics_copy_bytes(g) > region_bytes)
        return "addresses x apart would be more than 1 GiB";
    if (g->way == ATOMICS_COMPILER && (g->lanes != 1 || g->blocks % g->addresses != 0))
        return "way=compiler: all threads of a block share an address: addresses must divide the number of SMs";
    if (g->way == ATOMICS_COMPILER && g->space == ATOMICS_SHARED && g->addresses != 1)
        return "way=compiler with space=shared: all threads of a block share an address: it needs addresses=1";
    return NULL;
}

static uint64_t threads_of(const struct atomics_geometry *g)
{
    return (uint64_t)g->warps * ATOMICS_WARP;
}

static const char *refuse_contention(const struct atomics_geometry *g)
{
    const uint64_t adds = (threads_of(g) * g->steps + g->addresses - 1) / g->addresses;
    if (g->type == ATOMICS_HALF2 && adds > HALF_ADDS)
        return "more than 2048 adds to an address: a half does not count so far, its sums could not be checked";
    if (g->type == ATOMICS_FLOAT && adds > FLOAT_ADDS)
        return "more than 2^24 adds to an address: a float does not count so far, its sums could not be checked";
    if (g->way == ATOMICS_CAS && threads_of(g) > (uint64_t)CONTENDERS_MAX * g->addresses)
        return "more than 8192 threads round an address: a loop of compare-and-swap would take seconds";
    return NULL;
}

/* ---- sizes ------------------------------------------------------------------------------ */

static const uint32_t bytes_of_type[ATOMICS_TYPES] = {4, 8, 4, 8, 4};

/* Turns of the loop with all warps: enough adds that the launch itself is a small part, few
 * enough that contended points end. An H200 takes 20 us to 4 ms. */
static uint32_t turns_of(const struct atomics_geometry *g)
{
    if (g->way == ATOMICS_CAS)
        return g->addresses >= threads_of(g) ? 16 : 1;
    if (atomics_in_shared(g))
        return !atomics_loops(g) ? 256 : g->addresses < g->block_warps * ATOMICS_WARP ? 16 : 128;
    if (g->way == ATOMICS_COMPILER)
        return 64;
    return g->addresses < ATOMICS_WARP ? 4 : g->addresses < 1024 ? 16 : 64;
}

/* The adds are as many, however many warps they are dealt to. */
static uint32_t usual_turns(const struct atomics_geometry *g)
{
    return turns_of(g) * ATOMICS_WARPS_MAX / g->block_warps;
}

static uint32_t usual_lanes(uint32_t addresses)
{
    return addresses < ATOMICS_WARP ? addresses : ATOMICS_WARP;
}

static const char *fit_shared(const struct ub_gpu *gpu, struct atomics_geometry *g)
{
    if (!atomics_in_shared(g))
        return NULL;
    if (atomics_copy_bytes(g) > gpu->shared_per_block_optin_bytes)
        return "a block of this card has less shared memory than addresses x apart";
    g->shared_bytes = (uint32_t)atomics_copy_bytes(g);
    return NULL;
}

const char *atomics_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct atomics_geometry *out)
{
    const int64_t *v = point->values;
    struct atomics_geometry g = {.space = (uint32_t)v[ATOMICS_SPACE],
                                 .way = (uint32_t)v[ATOMICS_WAY],
                                 .type = (uint32_t)v[ATOMICS_TYPE],
                                 .used = (uint32_t)v[ATOMICS_RESULT],
                                 .addresses = (uint32_t)v[ATOMICS_ADDRESSES],
                                 .block_warps = (uint32_t)v[ATOMICS_WARPS],
                                 .blocks = (uint32_t)gpu->sms};
    *out = g;
    g.bytes = bytes_of_type[g.type];
    g.apart = v[ATOMICS_APART] > 0 ? (uint32_t)v[ATOMICS_APART] : g.bytes;
    g.lanes = v[ATOMICS_LANES] > 0        ? (uint32_t)v[ATOMICS_LANES]
              : g.way == ATOMICS_COMPILER ? 1
                                          : usual_lanes(g.addresses);
    g.warps = g.space == ATOMICS_SHARED ? g.block_warps : g.block_warps * g.blocks;
    g.copies = g.space == ATOMICS_SHARED ? g.blocks : 1;
    g.varied = !g.used && (g.type == ATOMICS_INT || g.type == ATOMICS_LONG) && g.way != ATOMICS_ONE;
    g.steps = ATOMICS_UNROLL * (v[ATOMICS_LENGTH] > 0 ? (uint32_t)v[ATOMICS_LENGTH] : usual_turns(&g));
    if (g.block_warps * ATOMICS_WARP > (uint32_t)gpu->threads_per_block)
        return "a block of this card has fewer threads than so many warps";
    const char *reasons[] = {refuse_way(&g), refuse_addresses(&g), refuse_contention(&g), fit_shared(gpu, &g)};
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i] != NULL)
            return reasons[i];
    *out = g;
    return NULL;
}
