/* SPDX-License-Identifier: MIT
 *
 * The host's check of `latency`: it walks the chain that the kernel laid. The walk must
 * come to every unit once and then to its beginning, and the timed hops must have ended
 * where as many hops lead. Of the order itself it knows nothing. One iteration. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "micro/latency/rule.h"

enum { SMALL_BYTES = 1 << 20 };

struct node {
    uint64_t next, label;
};

bool latency_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out)
{
    struct latency_geometry g;
    if (latency_resolve(gpu, point, &g) != NULL)
        return false;
    *out = *point;
    if (g.footprint_bytes <= SMALL_BYTES)
        return true;
    /* dram is l2 with another footprint: the same kernel. */
    if (g.level == LATENCY_DRAM)
        out->values[LATENCY_LEVEL] = LATENCY_L2;
    out->values[LATENCY_FOOTPRINT] = SMALL_BYTES;
    return true;
}

static struct node node_at(const struct latency_geometry *g, const unsigned char *chain, uint64_t unit)
{
    struct node node;
    const uint64_t apart = latency_in_buffer(g) ? g->unit_bytes : sizeof node;
    memcpy(&node, chain + unit * apart, sizeof node);
    return node;
}

/* The unit that has node `label`, or the number of units: none has. */
static uint64_t unit_of_label(const struct latency_geometry *g, const unsigned char *chain, uint64_t label)
{
    uint64_t unit = 0;
    while (unit < g->units && node_at(g, chain, unit).label != label)
        unit++;
    return unit;
}

static bool walk(const struct latency_geometry *g, const unsigned char *chain, uint64_t *end, struct ub_error *err)
{
    const uint64_t first = unit_of_label(g, chain, 0), last = unit_of_label(g, chain, g->cycle - 1);
    if (first == g->units || last == g->units)
        return ub_fail(err, UB_WRONG_ANSWER, "the walk has no first node or no last one");
    /* Addresses begin where the device knows and the host does not: the last node has that
     * of the first. */
    const uint64_t apart = latency_in_buffer(g) ? g->unit_bytes : 1;
    const uint64_t base = node_at(g, chain, last).next - first * apart;
    const uint64_t timed = latency_end(g, 1);
    uint64_t unit = first;
    for (uint64_t hop = 0; hop < g->cycle; hop++) {
        const struct node node = node_at(g, chain, unit);
        if (node.label != hop)
            return ub_fail(err, UB_WRONG_ANSWER,
                           "hop %" PRIu64 " of the walk comes to unit %" PRIu64 ", which is node %" PRIu64, hop, unit,
                           node.label);
        if (hop == timed)
            *end = unit;
        unit = (node.next - base) / apart;
        if ((node.next - base) % apart != 0 || unit >= g->units)
            return ub_fail(err, UB_WRONG_ANSWER, "node %" PRIu64 " leads out of the footprint", hop);
    }
    return true;
}

/* What lane 0 has after one iteration, of 0. */
static uint64_t expected(const struct latency_geometry *g)
{
    switch ((enum latency_op)g->op) {
    case LATENCY_FMA: /* + 1 each, in a loop of 128 and one of 64 */
    case LATENCY_ADD:
    case LATENCY_MAD:
    case LATENCY_FP64:
        return 3 * LATENCY_STEPS;
    case LATENCY_SHUFFLE: /* the value of the lane so many further on */
        return LATENCY_HOPS % LATENCY_LANES;
    case LATENCY_SHARED_ATOMIC: /* the cell still holds its own address */
    case LATENCY_ATOMIC:
    case LATENCY_LOAD:
    case LATENCY_OPS:
        break;
    }
    return 0;
}

bool latency_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host,
                    uint64_t seed, uint64_t checksum, struct ub_error *err)
{
    (void)seed; /* nothing is drawn from it */
    (void)checksum;
    struct latency_geometry g;
    const char *unsupported = latency_resolve(gpu, point, &g);
    if (unsupported != NULL)
        return ub_fail(err, UB_INTERNAL, "%s", unsupported);
    if (host->count != 2 || host->sizes_bytes[0] < 8 * LATENCY_OUT_WORDS ||
        (latency_has_chain(&g) && host->sizes_bytes[1] < g.units * LATENCY_NODE_BYTES))
        return ub_fail(err, UB_INTERNAL, "a buffer is missing or too small");
    const uint64_t *out = host->pointers[0];
    uint64_t wanted = expected(&g);
    if (out[LATENCY_OUT_SM] == UINT64_MAX)
        return ub_fail(err, UB_WRONG_ANSWER, "no block came to SM %" PRIu32, g.sm);
    if (out[LATENCY_OUT_SM] != g.sm)
        return ub_fail(err, UB_WRONG_ANSWER, "SM %" PRIu64 " did the work of SM %" PRIu32, out[LATENCY_OUT_SM], g.sm);
    if (latency_has_chain(&g) && !walk(&g, host->pointers[1], &wanted, err))
        return false;
    if (out[LATENCY_OUT_END] != wanted)
        return ub_fail(err, UB_WRONG_ANSWER, "the chain ended at %" PRIu64 ", the host expects %" PRIu64,
                       out[LATENCY_OUT_END], wanted);
    return true;
}
