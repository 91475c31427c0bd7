/* SPDX-License-Identifier: MIT */
#include "harness/model/branch.h"

#include <stdbool.h>

static bool is_active(uint32_t active, unsigned lane)
{
    return active >> lane & 1;
}

/* Whether an active lane before `lane` has the same value. */
static bool seen_before(const uint32_t values[UB_BRANCH_LANES], uint32_t active, unsigned lane)
{
    for (unsigned earlier = 0; earlier < lane; earlier++)
        if (is_active(active, earlier) && values[earlier] == values[lane])
            return true;
    return false;
}

unsigned ub_paths_taken(const uint32_t paths[UB_BRANCH_LANES], uint32_t active)
{
    unsigned taken = 0;
    for (unsigned lane = 0; lane < UB_BRANCH_LANES; lane++)
        taken += is_active(active, lane) && !seen_before(paths, active, lane);
    return taken;
}

void ub_branch_if_chain(const uint32_t paths[UB_BRANCH_LANES], uint32_t active, uint32_t tests,
                        struct ub_branches *branches)
{
    for (uint32_t test = 0; test < tests; test++) {
        uint32_t takes = 0;
        for (unsigned lane = 0; lane < UB_BRANCH_LANES; lane++)
            takes |= (uint32_t)(paths[lane] == test) << lane;
        takes &= active;
        if (takes != 0 && takes != active)
            branches->divergent++;
        else if (active != 0)
            branches->uniform++;
    }
}

void ub_branch_switch(const uint32_t paths[UB_BRANCH_LANES], uint32_t active, struct ub_branches *branches)
{
    const unsigned taken = ub_paths_taken(paths, active);
    if (taken > 1)
        branches->divergent += taken - 1;
}

/* Lanes leave together that have the same number of trips: every departure but the last
 * leaves somebody behind. */
void ub_branch_loop(const uint32_t trips[UB_BRANCH_LANES], uint32_t active, struct ub_branches *branches)
{
    uint32_t longest = 0;
    for (unsigned lane = 0; lane < UB_BRANCH_LANES; lane++)
        if (is_active(active, lane) && trips[lane] > longest)
            longest = trips[lane];
    if (longest == 0)
        return;
    const unsigned departures = ub_paths_taken(trips, active);
    branches->divergent += departures - 1;
    branches->uniform += longest - (departures - 1);
}
