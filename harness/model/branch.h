/* SPDX-License-Identifier: MIT
 *
 * Branches of one warp: its lanes grouped by the path that each takes. A branch
 * executes once a warp (once for each group of lanes that is apart from the others);
 * the execution is divergent if its active lanes go different ways, else uniform.
 * Law (CUDA C++ Programming Guide, "SIMT architecture"; rules.md 3): a warp executes
 * one after the other every path that at least one of its lanes takes. */
#ifndef UB_MODEL_BRANCH_H
#define UB_MODEL_BRANCH_H

#include <stdint.h>

enum { UB_BRANCH_LANES = 32 };

/* Executions, summed over warps. */
struct ub_branches {
    uint64_t uniform, divergent;
};

/* In all functions lane i takes part where bit i of `active` is set. */

/* Distinct paths among the active lanes: how many the warp executes. */
unsigned ub_paths_taken(const uint32_t paths[UB_BRANCH_LANES], uint32_t active);

/* Adds `if (path == 0) ...; if (path == 1) ...; ... if (path == tests - 1) ...`: every
 * active lane executes every test. */
void ub_branch_if_chain(const uint32_t paths[UB_BRANCH_LANES], uint32_t active, uint32_t tests,
                        struct ub_branches *branches);

/* Adds `switch (path)` as a tree of two-way branches, whatever its shape: each divergent
 * execution splits one group of lanes in two until every path is a group of its own.
 * Uniform executions depend on the shape and are not added. */
void ub_branch_switch(const uint32_t paths[UB_BRANCH_LANES], uint32_t active, struct ub_branches *branches);

/* Adds the branch that closes `do ... while (--trips != 0)`, trips >= 1 in each active
 * lane: it executes as often as the longest lane asks for. */
void ub_branch_loop(const uint32_t trips[UB_BRANCH_LANES], uint32_t active, struct ub_branches *branches);

#endif
