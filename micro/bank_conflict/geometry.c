/* SPDX-License-Identifier: MIT
 *
 * From the axis values of a point to numbers. */
#include "micro/bank_conflict/geometry.h"

#include <stddef.h>

#define PATTERN(name) (1u << BANK_CONFLICT_##name)
static const struct ub_axis_owner owners[] = {
    {BANK_CONFLICT_STRIDE, 1, BANK_CONFLICT_PATTERN, PATTERN(BY_STRIDE) | PATTERN(PADDED) | PATTERN(XOR),
     "stride applies to pattern=stride, padded and xor only"},
    {BANK_CONFLICT_PAD, 1, BANK_CONFLICT_PATTERN, PATTERN(PADDED) | PATTERN(COLUMN),
     "pad applies to pattern=padded and column only"},
    {BANK_CONFLICT_SHARE, 1, BANK_CONFLICT_PATTERN, PATTERN(MULTICAST), "share applies to pattern=multicast only"},
};
const struct ub_axis_owners bank_conflict_owners = {sizeof owners / sizeof owners[0], owners};

static const char *contradiction(const struct ub_gpu *gpu, const struct ub_point *point,
                                 const struct bank_conflict_geometry *g)
{
    if (gpu->cc_major < 5)
        return "before compute capability 5.0 banks are otherwise: 16 of them, or 8 bytes wide";
    if (g->op == BANK_CONFLICT_LDMATRIX && (gpu->cc_major < 7 || (gpu->cc_major == 7 && gpu->cc_minor < 5)))
        return "ldmatrix needs compute capability 7.5 (Turing) or later";
    return ub_axis_ignored(&bank_conflict_owners, point);
}

/* A bound: no element of the pattern has this number or a higher one. */
static uint32_t elements(const struct bank_conflict_geometry *g)
{
    const uint32_t last = (BANK_CONFLICT_LANES - 1) * g->stride;
    switch ((enum bank_conflict_pattern)g->pattern) {
    case BANK_CONFLICT_BY_STRIDE:
        return last + 1;
    case BANK_CONFLICT_PADDED:
        return last + last / BANK_CONFLICT_ROW * g->pad + 1;
    case BANK_CONFLICT_XOR: /* moves within a row */
        return (last / BANK_CONFLICT_ROW + 1) * BANK_CONFLICT_ROW;
    case BANK_CONFLICT_COLUMN: /* as many columns as warps */
        return (BANK_CONFLICT_LANES - 1) * (BANK_CONFLICT_ROW + g->pad) + BANK_CONFLICT_WARPS;
    case BANK_CONFLICT_RANDOM:
        return BANK_CONFLICT_WINDOW;
    case BANK_CONFLICT_BROADCAST: /* one a warp */
        return BANK_CONFLICT_WARPS;
    case BANK_CONFLICT_MULTICAST:
    case BANK_CONFLICT_PATTERNS:
        break;
    }
    return BANK_CONFLICT_LANES;
}

static uint32_t region_bytes(const struct bank_conflict_geometry *g)
{
    const uint32_t unit = BANK_CONFLICT_REGION_UNIT_BYTES;
    const uint32_t used = elements(g) * g->unit_bytes + (BANK_CONFLICT_UNROLL - 1) * BANK_CONFLICT_APART_BYTES;
    return (used + unit - 1) / unit * unit;
}

const char *bank_conflict_resolve(const struct ub_gpu *gpu, const struct ub_point *point,
                                  struct bank_conflict_geometry *out)
{
    const int64_t *v = point->values;
    struct bank_conflict_geometry g = {0};
    g.op = (uint32_t)v[BANK_CONFLICT_OP];
    g.pattern = (uint32_t)v[BANK_CONFLICT_PATTERN];
    g.bytes_log2 = 2 + (uint32_t)v[BANK_CONFLICT_BYTES];
    g.bytes = 1u << g.bytes_log2;
    g.words = g.bytes / 4;
    g.unit_bytes = g.op == BANK_CONFLICT_LDMATRIX ? 16 : g.bytes;
    g.stride = (uint32_t)v[BANK_CONFLICT_STRIDE];
    g.pad = (uint32_t)v[BANK_CONFLICT_PAD];
    g.share = (uint32_t)v[BANK_CONFLICT_SHARE];
    g.region_bytes = region_bytes(&g);
    *out = g;
    const char *refused = ub_gpu_block_refused(gpu, BANK_CONFLICT_WARPS * BANK_CONFLICT_LANES, 0, g.region_bytes);
    return refused != NULL ? refused : contradiction(gpu, point, &g);
}

uint64_t bank_conflict_accesses(void)
{
    return (uint64_t)BANK_CONFLICT_WARPS * BANK_CONFLICT_UNROLL;
}

uint32_t bank_conflict_key(uint64_t seed)
{
    return (uint32_t)(seed ^ seed >> 32) & BANK_CONFLICT_STORED_MAX;
}
