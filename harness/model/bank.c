/* SPDX-License-Identifier: MIT */
#include "harness/model/bank.h"

#include <stdbool.h>

enum { LANES = 32, PHASE_BYTES = UB_BANK_COUNT * UB_BANK_BYTES };

/* The words that one turn, or several, must bring: distinct ones, bank by bank. */
struct demand {
    uint32_t words[UB_BANK_COUNT][LANES]; /* a lane asks a bank for one word at most */
    unsigned depth[UB_BANK_COUNT];
};

static void ask(struct demand *demand, uint32_t word)
{
    const unsigned bank = word % UB_BANK_COUNT;
    for (unsigned i = 0; i < demand->depth[bank]; i++)
        if (demand->words[bank][i] == word)
            return;
    demand->words[bank][demand->depth[bank]++] = word;
}

/* Turns of the lanes first .. first + count - 1 if they are served together: the
 * largest number of distinct words of one bank. */
static unsigned turns(const uint32_t *addresses_bytes, uint32_t active, unsigned access_bytes, unsigned first,
                      unsigned count)
{
    struct demand demand = {.depth = {0}};
    unsigned deepest = 0;
    for (unsigned lane = first; lane < first + count; lane++)
        for (unsigned i = 0; i < access_bytes / UB_BANK_BYTES && (active >> lane & 1); i++)
            ask(&demand, addresses_bytes[lane] / UB_BANK_BYTES + i);
    for (unsigned bank = 0; bank < UB_BANK_COUNT; bank++)
        if (demand.depth[bank] > deepest)
            deepest = demand.depth[bank];
    return deepest;
}

/* The lanes are served in phases of `lanes`, one after the other. */
static unsigned in_phases(const uint32_t *addresses_bytes, uint32_t active, unsigned access_bytes, unsigned lanes)
{
    unsigned wavefronts = 0;
    for (unsigned first = 0; first < LANES; first += lanes)
        wavefronts += turns(addresses_bytes, active, access_bytes, first, lanes);
    return wavefronts;
}

/* Lanes whose data are 128 bytes, what all banks give in a turn: the warp, half of it
 * (8 bytes a lane) or a quarter (16 bytes). */
static unsigned phase_lanes(unsigned access_bytes)
{
    return PHASE_BYTES / access_bytes;
}

/* Whether no two active lanes n and n ^ apart ask for different addresses. */
static bool pairs_agree(const uint32_t *addresses_bytes, uint32_t active, unsigned first, unsigned count,
                        unsigned apart)
{
    for (unsigned lane = first; lane < first + count; lane++) {
        const bool both = (active >> lane & 1) && (active >> (lane ^ apart) & 1);
        if (both && addresses_bytes[lane] != addresses_bytes[lane ^ apart])
            return false;
    }
    return true;
}

/* Neighbours, or the next but one. */
static bool pairs(const uint32_t *addresses_bytes, uint32_t active, unsigned first, unsigned count)
{
    return pairs_agree(addresses_bytes, active, first, count, 1) ||
           pairs_agree(addresses_bytes, active, first, count, 2);
}

/* Where all pairs (n, n ^ 1) of the warp have one address, or all pairs (n, n ^ 2), a
 * phase holds twice the lanes: half of them ask for nothing new. One pair that differs
 * anywhere in the warp undoes it; pairs (n, n ^ 4) and farther apart do not count.
 * NVIDIA has said so of compute capability 7 (rules.md section 2, forum thread 77228);
 * on an H200 the hardware's counter agrees for 8 and 16 bytes. */
unsigned ub_bank_wavefronts(const uint32_t addresses_bytes[32], uint32_t active, unsigned access_bytes)
{
    unsigned lanes = phase_lanes(access_bytes);
    if (lanes < LANES && pairs(addresses_bytes, active, 0, LANES))
        lanes *= 2;
    return in_phases(addresses_bytes, active, access_bytes, lanes);
}

unsigned ub_bank_wavefronts_store(const uint32_t addresses_bytes[32], uint32_t active, unsigned access_bytes)
{
    return in_phases(addresses_bytes, active, access_bytes, phase_lanes(access_bytes));
}

/* The instrumentation looks at two phases at a time (never at the whole warp of a
 * 16-byte access), and takes them for merged only if one turn is enough for both. */
unsigned ub_bank_wavefronts_counted(const uint32_t addresses_bytes[32], uint32_t active, unsigned access_bytes)
{
    const unsigned lanes = phase_lanes(access_bytes);
    if (lanes == LANES)
        return turns(addresses_bytes, active, access_bytes, 0, LANES);
    unsigned wavefronts = 0;
    for (unsigned first = 0; first < LANES; first += 2 * lanes) {
        const unsigned merged = turns(addresses_bytes, active, access_bytes, first, 2 * lanes);
        if (merged == 1 && pairs(addresses_bytes, active, first, 2 * lanes))
            wavefronts += 1;
        else
            wavefronts += turns(addresses_bytes, active, access_bytes, first, lanes) +
                          turns(addresses_bytes, active, access_bytes, first + lanes, lanes);
    }
    return wavefronts;
}

/* A matrix is a phase: 8 rows of 16 bytes are 128 bytes. */
unsigned ub_bank_wavefronts_matrix(const uint32_t row_addresses_bytes[32], unsigned matrices)
{
    const unsigned lanes = UB_MATRIX_ROWS * matrices;
    const uint32_t active = lanes < LANES ? (UINT32_C(1) << lanes) - 1 : UINT32_MAX;
    return in_phases(row_addresses_bytes, active, UB_MATRIX_ROW_BYTES, UB_MATRIX_ROWS);
}
