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
UB_RULE(latency_hiding)
UB_RULE(block_size)
UB_RULE(grid)
UB_RULE(spill)
UB_RULE(roofline)
UB_RULE(carveout)
UB_RULE(gemm)
UB_RULE(streams)
UB_RULE(async_copy)
UB_RULE(atomics)
UB_RULE(reduce)
UB_RULE(sync)
UB_RULE(fusion)
