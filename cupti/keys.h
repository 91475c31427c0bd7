/* SPDX-License-Identifier: MIT
 *
 * The counters that ubench knows by name, one line each: key, raw metric of
 * CUPTI, unit, class, old nvprof name, meaning. Every raw metric is a sum (one is
 * a maximum), so every value is an integer; ratios (hit rate, efficiency, occupancy) are
 * metrics that a rule derives from two sums.
 *
 * Where a family exists both as instruction counts that the driver patches into
 * the code (smsp__sass_*) and as a hardware counter (l1tex__*), the first is
 * taken: all of them fit in one pass, so one launch gives all of them.
 * Class: a sass counter follows from the machine code; of those, UB_STRUCTURAL
 * marks what usually follows from the source alone. A rule's law has the last
 * word. Chips that lack a metric or name it otherwise: metrics.c. */
#ifndef UB_CUPTI_KEYS_H
#define UB_CUPTI_KEYS_H

#define UB_METRIC_STALL(X, reason, nvprof, meaning)                                                                    \
    X("stall_" #reason, "smsp__warps_issue_stalled_" #reason ".sum", "warp cycle", UB_ESTIMATE, nvprof,                \
      "cycles x warps that waited " meaning)

/* clang-format off */
#define UB_METRIC_KEYS(X) \
    X("global_load_requests", "smsp__sass_inst_executed_op_global_ld.sum", "request", UB_STRUCTURAL, "inst_executed_global_loads", \
      "warp instructions that load from global memory") \
    X("global_store_requests", "smsp__sass_inst_executed_op_global_st.sum", "request", UB_STRUCTURAL, "inst_executed_global_stores", \
      "warp instructions that store to global memory") \
    X("global_load_sectors", "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector", UB_STRUCTURAL, "gld_transactions", \
      "32-byte sectors that global loads ask for") \
    X("global_store_sectors", "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum", "sector", UB_STRUCTURAL, "gst_transactions", \
      "32-byte sectors that global stores write") \
    X("global_load_bytes", "smsp__sass_data_bytes_mem_global_op_ld.sum", "byte", UB_STRUCTURAL, "gld_requested_throughput", \
      "distinct bytes per request, summed: a broadcast counts once") \
    X("global_store_bytes", "smsp__sass_data_bytes_mem_global_op_st.sum", "byte", UB_STRUCTURAL, "gst_requested_throughput", \
      "distinct bytes per request, summed") \
    X("global_lines", "smsp__sass_l1tex_tags_mem_global.sum", "line", UB_STRUCTURAL, NULL, \
      "128-byte lines touched per request, loads and stores together (no chip splits them)") \
    X("dram_read_bytes", "dram__bytes_read.sum", "byte", UB_ESTIMATE, "dram_read_bytes", \
      "bytes read from DRAM, by every client of the GPU") \
    X("dram_write_bytes", "dram__bytes_write.sum", "byte", UB_ESTIMATE, "dram_write_bytes", \
      "bytes written to DRAM, by every client of the GPU") \
    X("shared_load_requests", "smsp__sass_inst_executed_op_shared_ld.sum", "request", UB_STRUCTURAL, "inst_executed_shared_loads", \
      "warp instructions that load from shared memory") \
    X("shared_store_requests", "smsp__sass_inst_executed_op_shared_st.sum", "request", UB_STRUCTURAL, "inst_executed_shared_stores", \
      "warp instructions that store to shared memory") \
    X("shared_load_wavefronts", "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "wavefront", UB_STRUCTURAL, \
      "shared_load_transactions", "turns that shared loads take: more than requests means bank conflicts") \
    X("shared_store_wavefronts", "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "wavefront", UB_STRUCTURAL, \
      "shared_store_transactions", "turns that shared stores take") \
    X("shared_load_bytes", "smsp__sass_data_bytes_mem_shared_op_ld.sum", "byte", UB_STRUCTURAL, NULL, \
      "distinct bytes per shared load, summed") \
    X("shared_store_bytes", "smsp__sass_data_bytes_mem_shared_op_st.sum", "byte", UB_STRUCTURAL, NULL, \
      "distinct bytes per shared store, summed") \
    X("matrix_load_requests", "smsp__sass_inst_executed_op_ldsm.sum", "request", UB_STRUCTURAL, NULL, \
      "warp instructions that load matrices from shared memory (ldmatrix); no shared load counts them") \
    X("matrix_load_wavefronts", "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum", "wavefront", UB_STRUCTURAL, \
      NULL, "turns that matrix loads take: one a matrix of 128 bytes without bank conflicts") \
    X("matrix_load_bytes", "smsp__sass_data_bytes_mem_shared_op_ldsm.sum", "byte", UB_STRUCTURAL, NULL, \
      "distinct bytes per matrix load, summed") \
    X("l1_shared_load_wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "wavefront", UB_ESTIMATE, \
      "shared_load_transactions", "turns that shared loads and matrix loads took (hardware counter: what is merged shows)") \
    X("l1_shared_store_wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "wavefront", UB_ESTIMATE, \
      "shared_store_transactions", "turns that shared stores took (hardware counter)") \
    X("branches_uniform", "smsp__sass_branch_targets_threads_uniform.sum", "branch", UB_SASS, "branch_efficiency", \
      "branch executions in which all active threads go the same way") \
    X("branches_divergent", "smsp__sass_branch_targets_threads_divergent.sum", "branch", UB_STRUCTURAL, "divergent_branch", \
      "branch executions in which active threads go different ways") \
    X("warp_instructions", "smsp__sass_inst_executed.sum", "instruction", UB_SASS, "inst_executed", \
      "instructions executed, per warp") \
    X("thread_instructions", "smsp__sass_thread_inst_executed.sum", "instruction", UB_SASS, "thread_inst_executed", \
      "instructions executed, per active thread") \
    X("thread_instructions_pred_on", "smsp__sass_thread_inst_executed_pred_on.sum", "instruction", UB_SASS, \
      "not_predicated_off_thread_inst_executed", "the same, without the threads that a predicate switches off") \
    X("local_loads", "smsp__sass_inst_executed_op_local_ld.sum", "request", UB_SASS, "inst_executed_local_loads", \
      "warp instructions that load from local memory (spills, indexed arrays)") \
    X("local_stores", "smsp__sass_inst_executed_op_local_st.sum", "request", UB_SASS, "inst_executed_local_stores", \
      "warp instructions that store to local memory") \
    X("local_load_sectors", "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_local_op_ld.sum", "sector", UB_SASS, \
      "local_load_transactions", "32-byte sectors that local loads ask for") \
    X("local_store_sectors", "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_local_op_st.sum", "sector", UB_SASS, \
      "local_store_transactions", "32-byte sectors that local stores write") \
    X("global_atomics", "smsp__sass_inst_executed_op_global_atom.sum", "request", UB_STRUCTURAL, "inst_executed_global_atomics", \
      "warp instructions: atomics on global memory that return a value") \
    X("global_reductions", "smsp__sass_inst_executed_op_global_red.sum", "request", UB_STRUCTURAL, "inst_executed_global_reductions", \
      "warp instructions: atomics on global memory whose value is not used") \
    X("shared_atomics", "smsp__sass_inst_executed_op_shared_atom.sum", "request", UB_STRUCTURAL, "inst_executed_shared_atomics", \
      "warp instructions: atomics on shared memory") \
    X("global_atomic_sectors", "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_atom.sum", "sector", UB_STRUCTURAL, \
      NULL, "32-byte sectors that atomics on global memory which return a value go to") \
    X("global_reduction_sectors", "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_red.sum", "sector", UB_STRUCTURAL, \
      NULL, "32-byte sectors that atomics on global memory whose value is not used go to") \
    X("shared_atomic_wavefronts", "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", "wavefront", \
      UB_STRUCTURAL, NULL, "turns that atomics on shared memory take") \
    X("l1_shared_atomic_wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", "wavefront", UB_ESTIMATE, \
      NULL, "turns that atomics on shared memory took (hardware counter)") \
    X("l1_atomic_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "sector", UB_ESTIMATE, NULL, \
      "parts that L1 sends to L2 of atomics which return a value: a sector once for each lane that shares an address") \
    X("l1_reduction_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", "sector", UB_ESTIMATE, NULL, \
      "the same of atomics whose value is not used") \
    X("l2_atomic_cycles", "lts__d_atomic_input_cycles_active.sum", "cycle", UB_ESTIMATE, NULL, \
      "L2 cycles in which an atomic unit took something in, over all slices") \
    X("l2_atomic_cycles_busiest", "lts__d_atomic_input_cycles_active.max", "cycle", UB_ESTIMATE, NULL, \
      "the same of the slice that took most") \
    X("global_async_copies", "smsp__sass_inst_executed_op_ldgsts.sum", "request", UB_STRUCTURAL, NULL, \
      "warp instructions that copy from global to shared memory (cp.async); no global load counts them") \
    X("async_copy_sectors", "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum", "sector", UB_STRUCTURAL, NULL, \
      "32-byte sectors that copies from global to shared memory (cp.async) ask for") \
    X("async_copy_wavefronts", "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum", "wavefront", \
      UB_STRUCTURAL, NULL, "turns in which copies from global memory (cp.async) write shared memory") \
    X("bulk_copies", "smsp__sass_inst_executed_op_tma_ld.sum", "request", UB_STRUCTURAL, NULL, \
      "warp instructions that ask the TMA to load into shared memory (cp.async.bulk), with a tensor or without") \
    X("bulk_copy_bytes", "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum", "byte", UB_ESTIMATE, NULL, \
      "bytes that the TMA loaded from L2 (hardware counter)") \
    X("l1_wavefronts", "l1tex__data_pipe_lsu_wavefronts.sum", "wavefront", UB_ESTIMATE, NULL, \
      "turns of the pipe that L1 and shared memory have in common, of whatever instruction (hardware counter)") \
    X("matrix_instructions", "smsp__inst_executed_pipe_tensor_op_hmma.sum", "instruction", UB_ESTIMATE, NULL, \
      "warp instructions of the matrix units on 16-bit floating point: HMMA, HGMMA, and HFMA2.MMA too, with which " \
      "compilers make constants") \
    X("warpgroup_matrix_instructions", "smsp__sass_inst_executed_op_shared_gmma.sum", "instruction", UB_STRUCTURAL, NULL, \
      "warp instructions of the matrix units that a warpgroup starts together (wgmma), each counted in four warps") \
    X("adu_instructions", "smsp__inst_executed_pipe_adu.sum", "instruction", UB_ESTIMATE, NULL, \
      "warp instructions of the unit that has barriers of a block and indexed constants (hardware counter)") \
    X("ffma", "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "instruction", UB_STRUCTURAL, "flop_count_sp_fma", \
      "single-precision fused multiply-adds, per thread") \
    X("dfma", "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", "instruction", UB_STRUCTURAL, "flop_count_dp_fma", \
      "double-precision fused multiply-adds, per thread") \
    X("hfma2", "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", "instruction", UB_STRUCTURAL, "flop_count_hp_fma", \
      "half-precision fused multiply-adds, per thread: one for both halves of a half2") \
    X("blocks_launched", "sm__ctas_launched.sum", "block", UB_STRUCTURAL, "sm_cta_launched", \
      "thread blocks launched") \
    X("warps_launched", "smsp__warps_launched.sum", "warp", UB_STRUCTURAL, "warps_launched", \
      "warps launched") \
    X("threads_launched", "smsp__threads_launched.sum", "thread", UB_STRUCTURAL, "threads_launched", \
      "threads launched") \
    X("warps_active", "sm__warps_active.sum", "warp cycle", UB_ESTIMATE, "achieved_occupancy", \
      "cycles x resident warps, over all SMs; / sm_cycles_active = resident warps of an SM") \
    X("sm_cycles_active", "sm__cycles_active.sum", "cycle", UB_ESTIMATE, "active_cycles", \
      "cycles with at least one resident warp, over all SMs") \
    X("scheduler_cycles_active", "smsp__cycles_active.sum", "cycle", UB_ESTIMATE, NULL, \
      "cycles with at least one resident warp, over all schedulers (four an SM)") \
    X("warps_eligible", "smsp__warps_eligible.sum", "warp cycle", UB_ESTIMATE, "eligible_warps_per_cycle", \
      "cycles x warps ready to issue; / scheduler_cycles_active = ready warps of a scheduler") \
    X("issue_active", "smsp__issue_active.sum", "cycle", UB_ESTIMATE, "issue_slot_utilization", \
      "cycles in which a scheduler issued, over all schedulers") \
    X("l1_load_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector", UB_ESTIMATE, "gld_transactions", \
      "sectors that global loads looked up in L1 (hardware counter)") \
    X("l1_load_hits", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", "sector", UB_ESTIMATE, "global_hit_rate", \
      "those found in L1; hit rate = l1_load_hits / l1_load_sectors") \
    X("l1_local_load_hits", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_hit.sum", "sector", UB_ESTIMATE, \
      "local_hit_rate", "sectors that local loads found in L1; hit rate = l1_local_load_hits / local_load_sectors") \
    X("l2_sectors", "lts__t_sectors_srcunit_tex.sum", "sector", UB_ESTIMATE, "l2_tex_transactions", \
      "sectors that the SMs' L1 caches asked of L2") \
    X("l2_hits", "lts__t_sectors_srcunit_tex_lookup_hit.sum", "sector", UB_ESTIMATE, "l2_tex_hit_rate", \
      "those found in L2; hit rate = l2_hits / l2_sectors (another pass: over 1 by a little is noise)") \
    X("l2_read_sectors", "lts__t_sectors_srcunit_tex_op_read.sum", "sector", UB_ESTIMATE, "l2_tex_read_transactions", \
      "sectors that the SMs read from L2") \
    X("l2_write_sectors", "lts__t_sectors_srcunit_tex_op_write.sum", "sector", UB_ESTIMATE, "l2_tex_write_transactions", \
      "sectors that the SMs write to L2") \
    UB_METRIC_STALL(X, barrier, "stall_sync", "for the other warps of their block at a barrier") \
    UB_METRIC_STALL(X, branch_resolving, NULL, "for a branch target") \
    UB_METRIC_STALL(X, dispatch_stall, NULL, "because the dispatcher held issue back") \
    UB_METRIC_STALL(X, drain, "stall_memory_throttle", "after EXIT for their stores to leave") \
    UB_METRIC_STALL(X, gmma, NULL, "for a warpgroup matrix instruction") \
    UB_METRIC_STALL(X, imc_miss, "stall_constant_memory_dependency", "for a constant that missed its cache") \
    UB_METRIC_STALL(X, lg_throttle, "stall_memory_throttle", "for room in the queue of local and global accesses") \
    UB_METRIC_STALL(X, long_scoreboard, "stall_memory_dependency", "for data of a global, local or texture access") \
    UB_METRIC_STALL(X, math_pipe_throttle, "stall_pipe_busy", "for a busy arithmetic pipe") \
    UB_METRIC_STALL(X, membar, NULL, "at a memory fence") \
    UB_METRIC_STALL(X, mio_throttle, "stall_pipe_busy", "for room in the queue of shared memory and special functions") \
    UB_METRIC_STALL(X, misc, "stall_other", "for another reason") \
    UB_METRIC_STALL(X, no_instruction, "stall_inst_fetch", "for instructions to be fetched") \
    UB_METRIC_STALL(X, not_selected, "stall_not_selected", "although ready: another warp was issued") \
    UB_METRIC_STALL(X, selected, NULL, "not at all: they were issued") \
    UB_METRIC_STALL(X, short_scoreboard, "stall_exec_dependency", "for data of shared memory or a special function") \
    UB_METRIC_STALL(X, sleeping, NULL, "in nanosleep") \
    UB_METRIC_STALL(X, tex_throttle, "stall_texture", "for room in the texture queue") \
    UB_METRIC_STALL(X, wait, "stall_exec_dependency", "for the fixed latency of their previous instruction")
/* clang-format on */

#endif
