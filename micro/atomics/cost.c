/* SPDX-License-Identifier: MIT
 *
 * What an atomic instruction of a warp is cut into, from its addresses. Seen in the counters of
 * an H200 at every pattern that was tried (lanes 1 to 32, apart 4 to 4096 bytes).
 *
 * Global memory. L1 sends packets to L2: a packet goes to one line of 128 bytes and holds each
 * address at most once. What it has for one sector of 32 bytes is a part. Lanes that add to the
 * same address are not added up on the way: they are so many packets (32 where all lanes share
 * an address; l1tex__t_sectors_..._op_red counts parts, lts__t_requests_op_red packets, those
 * that cross from one half of L2 to the other twice).
 *
 * Shared memory. A turn does one lane a bank, also where lanes share a word. Only ATOMS.POPC.INC,
 * which adds the constant 1, does all lanes of a word at once. */
#include "harness/model/bank.h"
#include "harness/model/coalesce.h"
#include "micro/atomics/rule.h"

enum { SECTOR = UB_SECTOR_BYTES, LINE = UB_LINE_BYTES, SECTORS = LINE / SECTOR };

/* Packets of one line: packet p holds the addresses that more than p lanes share. */
static void add_line(const struct atomics_geometry *g, const struct atomics_warp_addresses *line,
                     struct atomics_cost *cost)
{
    for (uint32_t packet = 0;; packet++) {
        uint32_t sectors[SECTORS] = {0}, all = 0, parts = 0;
        for (uint32_t i = 0; i < line->count; i++)
            if (line->lanes[i] > packet) {
                sectors[line->bytes[i] / SECTOR % SECTORS]++;
                all++;
            }
        for (uint32_t s = 0; s < SECTORS; s++) {
            parts += sectors[s] > 0;
            cost->full_parts += sectors[s] * g->bytes == SECTOR;
            cost->long_parts += sectors[s] > 2;
        }
        if (all == 0)
            return;
        cost->sectors += packet == 0 ? parts : 0;
        cost->parts += parts;
        cost->packets += 1;
        cost->single_packets += all == 1;
    }
}

static void add_lines(const struct atomics_geometry *g, const struct atomics_warp_addresses *warp,
                      struct atomics_cost *cost)
{
    struct atomics_warp_addresses line = {0};
    for (uint32_t i = 0; i < warp->count; i++) { /* in order, and so are their lines */
        if (i > 0 && warp->bytes[i] / LINE != warp->bytes[i - 1] / LINE) {
            add_line(g, &line, cost);
            line.count = 0;
        }
        line.bytes[line.count] = warp->bytes[i];
        line.lanes[line.count++] = warp->lanes[i];
    }
    add_line(g, &line, cost);
}

static void add_turns(const struct atomics_geometry *g, const struct atomics_warp_addresses *warp,
                      struct atomics_cost *cost)
{
    uint32_t lanes[UB_BANK_COUNT] = {0}, most = 0;
    for (uint32_t i = 0; i < warp->count; i++) {
        const uint32_t bank = (uint32_t)(warp->bytes[i] / UB_BANK_BYTES % UB_BANK_COUNT);
        lanes[bank] += g->way == ATOMICS_ONE || g->way == ATOMICS_COMPILER ? 1 : warp->lanes[i];
        most = lanes[bank] > most ? lanes[bank] : most;
    }
    cost->turns += most;
}

void atomics_cost_of_warp(const struct atomics_geometry *g, const struct atomics_warp_addresses *warp,
                          struct atomics_cost *out)
{
    *out = (struct atomics_cost){0};
    add_lines(g, warp, out);
    add_turns(g, warp, out);
}
