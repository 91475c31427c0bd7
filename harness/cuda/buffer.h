/* SPDX-License-Identifier: MIT
 *
 * The arena: one allocation of each kind of memory that serves every point of a worker.
 * It has regions, by what their content must be: seeded inputs, zeroes, outputs. Kernels
 * write outputs only, so the inputs stay what they were from the first verification to
 * the last, whatever the order of the points. */
#ifndef UB_CUDA_BUFFER_H
#define UB_CUDA_BUFFER_H

#include "harness/contract/micro.h"
#include "harness/cuda/device.h"

enum { UB_MEMORIES = 3 }; /* of enum ub_memory */

enum ub_region {
    UB_REGION_RANDOM,
    UB_REGION_FLOAT,
    UB_REGION_HALF,
    UB_REGION_ZERO,
    UB_REGION_OUTPUT, /* poisoned */
    UB_REGIONS
};

struct ub_region_sizes {
    uint64_t bytes[UB_MEMORIES][UB_REGIONS];
    uint64_t flush_bytes; /* device; belongs to no point: read to empty the caches (cold) */
};

struct ub_arena {
    struct ub_device *device;
    ub_device_pointer bases[UB_MEMORIES];
    struct ub_region_sizes sizes;
    bool out_of_memory;          /* why ub_arena_open() failed */
    char not_pinned[200];        /* why pinned memory is pageable here; empty: it is pinned, or none is wanted */
    unsigned long long *results; /* device, UB_RESULT_WORDS words */
    unsigned long long *stamps;  /* device, two pairs of clock and globaltimer */
};

/* What one footprint needs, each buffer rounded up to 512 bytes. */
struct ub_region_sizes ub_region_need(const struct ub_footprint *footprint);
void ub_region_max(struct ub_region_sizes *sizes, const struct ub_region_sizes *need);
/* Bytes to allocate on the device, and on the host (pinned and pageable together). */
uint64_t ub_region_device_bytes(const struct ub_region_sizes *sizes);
uint64_t ub_region_host_bytes(const struct ub_region_sizes *sizes);

/* Allocates and fills (seeded). Host memory that cannot be pinned is pageable, and
 * arena->not_pinned says why. UB_INCOMPLETE with the driver's name; arena->out_of_memory
 * says whether a smaller one may succeed. */
bool ub_arena_open(struct ub_arena *arena, struct ub_device *device, const struct ub_region_sizes *sizes, uint64_t seed,
                   struct ub_error *err);
/* Fills the seeded inputs again, as at the start, or with zeroes (--data zeros). */
bool ub_arena_refill(struct ub_arena *arena, uint64_t seed, bool zeros, struct ub_error *err);
/* Reads the flush region: nothing of a point is left in the caches. Asynchronous. */
bool ub_arena_flush(struct ub_arena *arena, struct ub_error *err);
void ub_arena_close(struct ub_arena *arena);

/* Where a region begins, and its size. */
ub_device_pointer ub_arena_region(const struct ub_arena *arena, enum ub_memory memory, enum ub_region region,
                                  uint64_t *size_bytes);

/* Carves the buffers of a footprint out of the arena; false: it is too small. */
bool ub_arena_carve(const struct ub_arena *arena, const struct ub_footprint *footprint, struct ub_buffers *out);

/* Poisons every output buffer (0xFF); on the device asynchronously, on its stream. */
bool ub_arena_poison(struct ub_arena *arena, const struct ub_footprint *footprint, const struct ub_buffers *buffers,
                     struct ub_error *err);

bool ub_results_clear(struct ub_arena *arena, struct ub_error *err);
/* Waits for the stream and fetches UB_RESULT_WORDS words. */
bool ub_results_read(struct ub_arena *arena, unsigned long long out[UB_RESULT_WORDS], struct ub_error *err);

/* Whether free memory of the device, or of the host, holds `bytes`, with UB_SPARE_BYTES
 * left for others. True where it cannot be known: the allocation itself will say. */
enum { UB_SPARE_BYTES = 256 << 20 };
bool ub_memory_fits(struct ub_device *device, uint64_t bytes, uint64_t *free_bytes);
bool ub_host_memory_fits(uint64_t bytes, uint64_t *free_bytes);

#endif
