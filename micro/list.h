/* SPDX-License-Identifier: MIT
 *
 * The rules in teaching order. One line a rule: UB_RULE(folder). CMake reads the
 * same lines. Adding a rule = its folder + one line here. */
UB_RULE(null)
UB_RULE(coalescing)
UB_RULE(transpose)
UB_RULE(bank_conflict)
UB_RULE(divergence)
UB_RULE(occupancy)
UB_RULE(latency)
