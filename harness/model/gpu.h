/* SPDX-License-Identifier: MIT
 *
 * The table of GPU generations: what a law may know about a card without
 * having it. One row a card, one source a row. Units are in the names. A value
 * that no source gives is 0 (integers) or NaN (doubles).
 *
 * A card that the table lacks is described from its attributes
 * (ub_gpu_from_attributes), each value with its origin. */
#ifndef UB_MODEL_GPU_H
#define UB_MODEL_GPU_H

#include "harness/contract/micro.h"

struct ub_constants;

struct ub_gpu {
    const char *slug;         /* "h200" */
    const char *name;         /* "NVIDIA H200" as the driver names it */
    const char *architecture; /* "Hopper" */
    const char *chip;         /* CUPTI's chip name, "GH100"; NULL where it has none */
    int cc_major, cc_minor;
    int sms;
    int warps_per_sm, blocks_per_sm, threads_per_block;
    int registers_per_sm, registers_per_block, register_unit_per_warp, registers_per_thread_max;
    int schedulers_per_sm;
    int fp32_lanes_per_sm, fp64_lanes_per_sm;
    uint64_t shared_per_sm_bytes, shared_per_block_bytes, shared_per_block_optin_bytes;
    uint64_t shared_reserved_bytes, shared_unit_bytes;
    uint64_t l1_bytes, l2_bytes, memory_bytes;
    int sector_bytes, line_bytes; /* 32, 128 */
    int copy_engines;             /* asyncEngineCount: 0 copies nothing beside a kernel, 1 one way at a time, 2 and
                                     more both ways at once; -1: not known */
    int dram_read_grain_bytes;    /* bytes that one missing sector makes DRAM deliver: 64 measured on GH100 */
    double clock_base_mhz, clock_boost_mhz;
    double dram_bandwidth_bps; /* data sheet, B/s */
    const char *source;        /* where the row is from */
    const char *notes;         /* or NULL */
    bool verified;             /* laws were checked on this card (sm_90); else they are "assumed" */
};

size_t ub_gpu_count(void);
const struct ub_gpu *ub_gpu_at(size_t index);

/* By slug ("h200", "a100-40") or by alias; NULL: unknown. */
const struct ub_gpu *ub_gpu_find(const char *slug);
/* By the driver's device name ("NVIDIA H200", "NVIDIA A100-SXM4-80GB"); NULL: not in the table. */
const struct ub_gpu *ub_gpu_find_by_device_name(const char *device_name);

/* What the driver says of a card. */
struct ub_gpu_attributes {
    const char *name;
    int cc_major, cc_minor, sms, warps_per_sm, blocks_per_sm, registers_per_sm, registers_per_block;
    uint64_t shared_per_sm_bytes, shared_per_block_optin_bytes, shared_reserved_bytes, l2_bytes, memory_bytes;
    double clock_max_mhz, memory_clock_mhz; /* NaN: unknown */
    int memory_bus_bits;
    bool has_copy_engines; /* 0 of them is a count */
    int copy_engines;
};

/* Describes a card in `out`: a table row with the same name gives what
 * attributes do not; else the youngest generation of the table that is not
 * younger than the card does. Strings are borrowed from the table, from `attributes`
 * (which must outlive `out`) or static. `out->source` says which it was. */
void ub_gpu_from_attributes(const struct ub_gpu_attributes *attributes, struct ub_gpu *out);

/* Why the card has no block of so many threads with so much shared memory, in bytes: declared in
 * the kernel, and asked for at launch (where a kernel may opt in to more). Static text; NULL: it
 * has. */
const char *ub_gpu_block_refused(const struct ub_gpu *gpu, uint64_t threads, uint64_t static_bytes,
                                 uint64_t dynamic_bytes);

/* Whether L2 is in two halves, of which one is nearer to an SM than the other: GA100, GH100,
 * GB100 (rules.md section 6). */
bool ub_gpu_has_l2_halves(const struct ub_gpu *gpu);

/* The constants that laws use where nothing was measured (ceilings, floors), each
 * with interval and origin. Names:
 *   dram_load_ceiling, dram_store_ceiling, dram_copy_ceiling   B/s
 *   l2_load_ceiling                                            B/s
 *   block_launch_ns      ns between two block launches, whole device
 *   launch_floor_ns      ns that a launch takes at least, back to back in a graph
 *   load_wait_ns         ns from a load to its data where few wait for DRAM
 *   l1_latency_cycles, shared_latency_cycles
 *                        SM cycles from a load to its data, out of L1, out of shared memory
 *   l2_latency_ns        ns from a load to its data out of L2 (of two halves: the near one)
 *   l2_crossing_ns       ns more from the far half; absent where L2 is in one piece
 *   dram_latency_ns      ns from a load to its data out of an idle DRAM
 *   clock_mhz            SM clock under load
 *   fma_step_ns, select_step_ns, constant_step_ns
 *                        ns of one step of a chain in which each needs the one before
 *   red_int_ns, red_float_ns
 *                        ns from one atomic addition without a result to the next, one lane
 *                        each, all to one word of global memory
 *   block_barrier_cycles SM cycles of a barrier of a block of one warp
 *   host_wait_ns, host_launches_ns, graph_wait_ns
 *                        ns in which the host launches 1 and 256 empty kernels, and a graph of
 *                        one, and waits for their end; of the host, not of the card
 *   carveout_hit_ns, carveout_miss_ns
 *                        the same of a load that L1 has, and of one that only L2 has
 *   copy_in_bandwidth, copy_out_bandwidth, copy_both_bandwidth
 *                        B/s from pinned memory of the host, back, and both together
 *   pageable_in_bandwidth, pageable_out_bandwidth
 *                        B/s from pageable memory that the host's caches hold, and back
 *   copy_latency_ns, kernel_latency_ns, pageable_latency_ns
 *                        ns, seen by the host, of a launch that is one small copy, kernel, or
 *                        copy to pageable memory
 *   copy_cost_ns, copy_cost_both_ns
 *                        ns of a copy beside its bytes, one behind the other; both ways at once
 *   issue_ns             ns that the host takes to issue an operation
 *   hop_ns               ns of an operation beside its stage, its stream on another engine before
 *   barrier_ns           ns of an empty kernel between blocking streams, less three of those
 */
void ub_gpu_constants(const struct ub_gpu *gpu, struct ub_constants *out);

#endif
