/* SPDX-License-Identifier: MIT
 *
 * From the axis values of a point to numbers. */
#include "micro/latency/geometry.h"

#define KIB (UINT64_C(1) << 10)
#define GIB (UINT64_C(1) << 30)

/* The footprint of footprint=auto: well inside the level. L2: an eighth of it, so that the
 * half of it next to the SM holds it on cards whose L2 is in two halves. */
static uint64_t automatic_bytes(const struct ub_gpu *gpu, uint32_t level)
{
    switch ((enum latency_level)level) {
    case LATENCY_L1:
        return 32 * KIB;
    case LATENCY_L2:
        return gpu->l2_bytes / 8 / LATENCY_ROW_BYTES * LATENCY_ROW_BYTES;
    case LATENCY_DRAM:
        return GIB;
    case LATENCY_SHARED:
        return 16 * KIB;
    case LATENCY_CONSTANT:
        return KIB;
    case LATENCY_LOCAL:
    case LATENCY_LEVELS:
        break;
    }
    return LATENCY_LOCAL_WORDS * LATENCY_ROW_BYTES;
}

static uint64_t limit_bytes(const struct ub_gpu *gpu, uint32_t level)
{
    switch ((enum latency_level)level) {
    case LATENCY_SHARED:
        return gpu->shared_per_block_optin_bytes;
    case LATENCY_CONSTANT:
        return LATENCY_CONSTANT_BYTES;
    case LATENCY_LOCAL:
        return LATENCY_LOCAL_WORDS * LATENCY_ROW_BYTES;
    case LATENCY_L1:
    case LATENCY_L2:
    case LATENCY_DRAM:
    case LATENCY_LEVELS:
        break;
    }
    return gpu->memory_bytes;
}

/* Bits of the number of the last unit. */
static uint32_t bits_of(uint64_t units)
{
    uint32_t bits = 0;
    while (bits < 63 && units > UINT64_C(1) << bits)
        bits++;
    return bits;
}

/* Nodes of the walk. To visit every line of a large footprint would take too long: twice
 * as many as L2 holds are enough that none is still there when its turn comes again. */
static uint64_t cycle_of(const struct ub_gpu *gpu, uint64_t units)
{
    const uint64_t most = gpu->l2_bytes > 0 ? 2 * gpu->l2_bytes / LATENCY_ROW_BYTES : UINT64_C(1) << 20;
    return units < most ? units : most;
}

static const struct ub_axis_owner owners[] = {
    {LATENCY_LEVEL, LATENCY_L1, LATENCY_OP, 1u << LATENCY_LOAD,
     "level says where loads go: op=load only (leave it at l1)"},
    {LATENCY_FOOTPRINT, 0, LATENCY_OP, 1u << LATENCY_LOAD | 1u << LATENCY_ATOMIC,
     "only op=load and op=atomic have a footprint (leave it at auto)"},
    {LATENCY_BYTES, 0, LATENCY_LEVEL, 1u << LATENCY_SHARED, "bytes applies to level=shared only (leave it at auto)"},
    {LATENCY_WAYS, 1, LATENCY_LEVEL, 1u << LATENCY_SHARED, "ways applies to level=shared only (leave it at 1)"},
};
const struct ub_axis_owners latency_owners = {sizeof owners / sizeof owners[0], owners};

static const char *contradiction(const struct ub_gpu *gpu, const struct ub_point *point,
                                 const struct latency_geometry *g)
{
    const int64_t *v = point->values;
    if (g->sm >= (uint32_t)gpu->sms)
        return "the GPU has no SM of this number";
    const char *ignored = ub_axis_ignored(&latency_owners, point);
    if (ignored != NULL)
        return ignored;
    if (v[LATENCY_BYTES] != 0 && g->bytes != 4 && g->bytes != 8 && g->bytes != 16)
        return "a lane loads 4, 8 or 16 bytes";
    if (v[LATENCY_FOOTPRINT] == 0 && g->footprint_bytes == 0)
        return "how large L2 is on this GPU is not known: give a footprint";
    if (g->units == 0 || g->footprint_bytes % g->unit_bytes != 0)
        return "the footprint must be whole units: lines of 128 bytes (shared: x ways; constant: 64 bytes)";
    if (limit_bytes(gpu, g->level) == 0)
        return "how large this memory is on this GPU is not known";
    if (g->footprint_bytes > limit_bytes(gpu, g->level))
        return "the footprint is larger than this memory of the GPU (shared: of a block; constant: 64 KiB; local: 16 "
               "KiB)";
    if (g->level == LATENCY_DRAM && gpu->l2_bytes > 0 && g->footprint_bytes < 4 * gpu->l2_bytes)
        return "level=dram needs a footprint of four times L2 at least";
    return NULL;
}

static uint32_t unit_bytes(const struct latency_geometry *g)
{
    if (g->level == LATENCY_CONSTANT)
        return LATENCY_CONSTANT_UNIT_BYTES;
    return g->level == LATENCY_SHARED ? g->ways * LATENCY_ROW_BYTES : LATENCY_ROW_BYTES;
}

static bool is_arithmetic(uint32_t op)
{
    return op >= LATENCY_FMA && op <= LATENCY_FP64;
}

const char *latency_resolve(const struct ub_gpu *gpu, const struct ub_point *point, struct latency_geometry *out)
{
    const int64_t *v = point->values;
    struct latency_geometry g = {
        .op = (uint32_t)v[LATENCY_OP],
        .level = (uint32_t)v[LATENCY_LEVEL],
        .bytes = (uint32_t)v[LATENCY_BYTES],
        .ways = (uint32_t)v[LATENCY_WAYS],
        .sm = (uint32_t)v[LATENCY_SM],
        .footprint_bytes = (uint64_t)v[LATENCY_FOOTPRINT],
    };
    if (g.op == LATENCY_ATOMIC) /* L2 does them */
        g.level = LATENCY_L2;
    if (g.bytes == 0) /* pointers in global memory, offsets elsewhere */
        g.bytes = g.level <= LATENCY_DRAM ? 8 : 4;
    g.unit_bytes = unit_bytes(&g);
    if (g.footprint_bytes == 0)
        g.footprint_bytes = automatic_bytes(gpu, g.level) / g.unit_bytes * g.unit_bytes;
    g.operations = is_arithmetic(g.op) ? LATENCY_STEPS : LATENCY_HOPS;
    g.units = g.footprint_bytes / g.unit_bytes;
    g.cycle = cycle_of(gpu, g.units);
    g.low_bits = (bits_of(g.units) + 1) / 2;
    g.high_bits = bits_of(g.units) / 2;
    *out = g;
    const char *refused = ub_gpu_block_refused(gpu, LATENCY_BLOCK, 0, 0);
    return refused != NULL ? refused : contradiction(gpu, point, &g);
}

bool latency_has_chain(const struct latency_geometry *geometry)
{
    return geometry->op == LATENCY_LOAD || geometry->op == LATENCY_ATOMIC;
}

bool latency_in_buffer(const struct latency_geometry *geometry)
{
    return latency_has_chain(geometry) && geometry->level != LATENCY_SHARED && geometry->level != LATENCY_LOCAL;
}
