/* SPDX-License-Identifier: MIT
 *
 * The coalescer as a set of bytes: each 128-byte line that a warp touches is one
 * entry with one bit a byte, found by its number in a small hash table. Sectors
 * and lines are what the bits cover. Exact for any addresses, and fast enough to
 * replay every warp of a random pattern (16 Mi lanes in a fraction of a second). */
#include "harness/model/coalesce.h"

#include <assert.h>
#include <string.h>

enum {
    SECTORS_PER_LINE = UB_LINE_BYTES / UB_SECTOR_BYTES,
    MAX_LINES = 2 * UB_WARP_LANES, /* an unaligned access may straddle two lines */
    SLOTS = 2 * MAX_LINES,         /* half full at most: short chains */
    SLOT_BITS = 7,
};
_Static_assert(SLOTS == 1 << SLOT_BITS, "a hash is SLOT_BITS bits");

struct line {
    uint64_t number;
    uint32_t bytes[SECTORS_PER_LINE]; /* bit i: byte i of the sector */
};

struct line_set {
    unsigned count;
    uint8_t slots[SLOTS]; /* index into lines, plus 1; 0: free */
    struct line lines[MAX_LINES];
};

/* The line of that number, added if it is new. */
static struct line *find_line(struct line_set *set, uint64_t number)
{
    /* Fibonacci hashing: neighbouring lines spread over the whole table. */
    unsigned slot = (unsigned)(number * UINT64_C(0x9E3779B97F4A7C15) >> (64 - SLOT_BITS));
    for (; set->slots[slot]; slot = (slot + 1) % SLOTS) {
        struct line *line = &set->lines[set->slots[slot] - 1];
        if (line->number == number)
            return line;
    }
    struct line *line = &set->lines[set->count++];
    set->slots[slot] = (uint8_t)set->count;
    *line = (struct line){.number = number};
    return line;
}

/* `line` is the one of the lane before: in most patterns it is this lane's too. */
static struct line *add_access(struct line_set *set, struct line *line, uint64_t address, unsigned access_bytes)
{
    const uint64_t number = address / UB_LINE_BYTES;
    if (!line || line->number != number)
        line = find_line(set, number);
    const unsigned sector = (unsigned)(address % UB_LINE_BYTES) / UB_SECTOR_BYTES;
    const uint64_t bytes = ((UINT64_C(1) << access_bytes) - 1) << (address % UB_SECTOR_BYTES);
    line->bytes[sector] |= (uint32_t)bytes;
    const uint32_t next = (uint32_t)(bytes >> UB_SECTOR_BYTES);
    if (!next)
        return line;
    if (sector + 1 < SECTORS_PER_LINE) {
        line->bytes[sector + 1] |= next;
        return line;
    }
    /* Addresses wrap at 2^64 as pointers do. */
    line = find_line(set, (address + UB_LINE_BYTES) / UB_LINE_BYTES);
    line->bytes[0] |= next;
    return line;
}

/* The compiler's builtin calls a library where the target has no instruction for it. */
static unsigned count_bits(uint64_t bits)
{
    bits -= bits >> 1 & UINT64_C(0x5555555555555555);
    bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
    bits = (bits + (bits >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return (unsigned)(bits * UINT64_C(0x0101010101010101) >> 56);
}

static void add_line(struct ub_traffic *traffic, const struct line *line)
{
    for (int i = 0; i < SECTORS_PER_LINE; i += 2) {
        traffic->sectors += (unsigned)(line->bytes[i] != 0) + (unsigned)(line->bytes[i + 1] != 0);
        traffic->bytes += count_bits((uint64_t)line->bytes[i] << 32 | line->bytes[i + 1]);
    }
}

void ub_coalesce_warp(const uint64_t addresses_bytes[UB_WARP_LANES], uint32_t active, unsigned access_bytes,
                      struct ub_traffic *traffic)
{
    assert(access_bytes >= 1 && access_bytes <= 16);
    if (!active)
        return;
    struct line_set set;
    set.count = 0;
    memset(set.slots, 0, sizeof set.slots);
    struct line *line = NULL;
    for (unsigned lane = 0; lane < UB_WARP_LANES; lane++)
        if (active >> lane & 1)
            line = add_access(&set, line, addresses_bytes[lane], access_bytes);
    traffic->requests++;
    traffic->lines += set.count;
    for (unsigned i = 0; i < set.count; i++)
        add_line(traffic, &set.lines[i]);
}

void ub_traffic_add(struct ub_traffic *traffic, const struct ub_traffic *period, uint64_t times)
{
    traffic->requests += times * period->requests;
    traffic->sectors += times * period->sectors;
    traffic->lines += times * period->lines;
    traffic->bytes += times * period->bytes;
}
