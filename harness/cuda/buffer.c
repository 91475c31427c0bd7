/* SPDX-License-Identifier: MIT */
#include "harness/cuda/buffer.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cuda/fill.h"
#include "harness/cuda/runtime.h"

/* cudaMalloc aligns to 256 bytes (Best Practices Guide); 512 keeps every buffer on
 * a line and a DRAM grain of any generation. Host memory begins on a page. */
enum { ALIGNMENT = 512, SCRATCH_BYTES = 4096, PAGE_BYTES = 4096 };

/* How each region is filled; those before UB_REGION_ZERO are seeded. */
static const enum ub_fill region_fills[UB_REGIONS] = {[UB_REGION_RANDOM] = UB_FILL_RANDOM,
                                                      [UB_REGION_FLOAT] = UB_FILL_FLOAT,
                                                      [UB_REGION_HALF] = UB_FILL_HALF,
                                                      [UB_REGION_ZERO] = UB_FILL_ZERO,
                                                      [UB_REGION_OUTPUT] = UB_FILL_POISON};

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static enum ub_region region_of(const struct ub_buffer_spec *spec)
{
    static const enum ub_region regions[] = {[UB_FILL_RANDOM] = UB_REGION_RANDOM,
                                             [UB_FILL_POISON] = UB_REGION_OUTPUT,
                                             [UB_FILL_ZERO] = UB_REGION_ZERO,
                                             [UB_FILL_FLOAT] = UB_REGION_FLOAT,
                                             [UB_FILL_HALF] = UB_REGION_HALF};
    return spec->output ? UB_REGION_OUTPUT : regions[spec->fill];
}

struct ub_region_sizes ub_region_need(const struct ub_footprint *footprint)
{
    struct ub_region_sizes need = {0};
    for (size_t i = 0; i < footprint->count; i++) {
        const struct ub_buffer_spec *spec = &footprint->buffers[i];
        need.bytes[spec->memory][region_of(spec)] += rounded(spec->size_bytes);
    }
    return need;
}

void ub_region_max(struct ub_region_sizes *sizes, const struct ub_region_sizes *need)
{
    for (size_t memory = 0; memory < UB_MEMORIES; memory++)
        for (size_t region = 0; region < UB_REGIONS; region++)
            if (need->bytes[memory][region] > sizes->bytes[memory][region])
                sizes->bytes[memory][region] = need->bytes[memory][region];
    if (need->flush_bytes > sizes->flush_bytes)
        sizes->flush_bytes = need->flush_bytes;
}

/* Bytes of the regions of one memory that lie before `end`. */
static uint64_t offset_of(const struct ub_region_sizes *sizes, int memory, int end)
{
    uint64_t bytes = 0;
    for (int region = 0; region < end; region++)
        bytes += sizes->bytes[memory][region];
    return bytes;
}

uint64_t ub_region_device_bytes(const struct ub_region_sizes *sizes)
{
    return offset_of(sizes, UB_DEVICE_MEMORY, UB_REGIONS) + rounded(sizes->flush_bytes) + SCRATCH_BYTES;
}

uint64_t ub_region_host_bytes(const struct ub_region_sizes *sizes)
{
    return offset_of(sizes, UB_PINNED_MEMORY, UB_REGIONS) + offset_of(sizes, UB_PAGEABLE_MEMORY, UB_REGIONS);
}

static void *at(ub_device_pointer pointer)
{
    return (void *)(uintptr_t)pointer;
}

static void fill_host(void *where, uint64_t bytes, enum ub_fill how, uint64_t seed)
{
    uint64_t *words = where;
    for (uint64_t i = 0; i < bytes / sizeof *words; i++)
        words[i] = ub_fill_word(how, i, seed);
}

static bool fill(struct ub_arena *arena, int memory, ub_device_pointer where, uint64_t bytes, enum ub_fill how,
                 uint64_t seed, struct ub_error *err)
{
    if (bytes == 0)
        return true;
    if (memory != UB_DEVICE_MEMORY) {
        fill_host(at(where), bytes, how, seed);
        return true;
    }
    int code = ub_runtime_fill(at(where), bytes, how, seed, arena->device->stream);
    if (code != 0)
        return ub_fail(err, UB_INCOMPLETE, "cannot fill device memory: %s", ub_runtime_error_name(code));
    return true;
}

static bool fill_region(struct ub_arena *arena, int memory, int region, enum ub_fill how, uint64_t seed,
                        struct ub_error *err)
{
    return fill(arena, memory, arena->bases[memory] + offset_of(&arena->sizes, memory, region),
                arena->sizes.bytes[memory][region], how, seed, err);
}

/* Puts before what the driver says how much was asked for, rounded up: never "0 MiB". */
static bool cannot_allocate(uint64_t bytes, const char *where, struct ub_error *err)
{
    enum { KIB_SHIFT = 10, MIB_SHIFT = 20 };
    const bool small = bytes >> MIB_SHIFT == 0;
    const int shift = small ? KIB_SHIFT : MIB_SHIFT;
    const uint64_t units = (bytes + (UINT64_C(1) << shift) - 1) >> shift;
    return ub_fail_in(err, "cannot allocate %" PRIu64 " %s on the %s", units, small ? "KiB" : "MiB", where);
}

static bool allocate_device(struct ub_arena *arena, struct ub_error *err)
{
    struct ub_api *api = &arena->device->api;
    const uint64_t total = ub_region_device_bytes(&arena->sizes);
    int code = api->memory_allocate(&arena->bases[UB_DEVICE_MEMORY], total);
    if (code != 0) {
        arena->bases[UB_DEVICE_MEMORY] = 0;
        arena->out_of_memory = code == UB_CUDA_OUT_OF_MEMORY;
        ub_api_fail(api, code, "cuMemAlloc", err);
        return cannot_allocate(total, "GPU", err);
    }
    arena->results = at(arena->bases[UB_DEVICE_MEMORY] + total - SCRATCH_BYTES);
    arena->stamps = arena->results + UB_RESULT_WORDS;
    return true;
}

static bool allocate_pageable(struct ub_arena *arena, int memory, uint64_t bytes, struct ub_error *err)
{
    void *pointer = NULL;
    if (posix_memalign(&pointer, PAGE_BYTES, bytes) != 0) {
        arena->out_of_memory = true;
        ub_fail(err, UB_INCOMPLETE, "out of memory");
        return cannot_allocate(bytes, "host", err);
    }
    arena->bases[memory] = (uintptr_t)pointer;
    return true;
}

static bool allocate_host(struct ub_arena *arena, struct ub_error *err)
{
    struct ub_api *api = &arena->device->api;
    for (int memory = UB_PINNED_MEMORY; memory < UB_MEMORIES; memory++) {
        const uint64_t bytes = offset_of(&arena->sizes, memory, UB_REGIONS);
        void *pointer = NULL;
        if (bytes == 0)
            continue;
        int code = memory == UB_PINNED_MEMORY ? api->host_allocate(&pointer, bytes) : 0;
        if (code != 0) {
            struct ub_error why = {0};
            ub_api_fail(api, code, "cuMemAllocHost", &why);
            snprintf(arena->not_pinned, sizeof arena->not_pinned, "%.199s", why.text);
        }
        if (pointer && code == 0)
            arena->bases[memory] = (uintptr_t)pointer;
        else if (!allocate_pageable(arena, memory, bytes, err))
            return false;
    }
    return true;
}

/* The flush region, with the scratch words behind it. */
static ub_device_pointer flush_start(const struct ub_arena *arena)
{
    return arena->bases[UB_DEVICE_MEMORY] + offset_of(&arena->sizes, UB_DEVICE_MEMORY, UB_REGIONS);
}

bool ub_arena_open(struct ub_arena *arena, struct ub_device *device, const struct ub_region_sizes *sizes, uint64_t seed,
                   struct ub_error *err)
{
    *arena = (struct ub_arena){.device = device, .sizes = *sizes};
    if (!allocate_device(arena, err) || !allocate_host(arena, err) || !ub_arena_refill(arena, seed, false, err))
        return false;
    for (int memory = 0; memory < UB_MEMORIES; memory++)
        for (int region = UB_REGION_ZERO; region < UB_REGIONS; region++)
            if (!fill_region(arena, memory, region, region_fills[region], 0, err))
                return false;
    return fill(arena, UB_DEVICE_MEMORY, flush_start(arena), rounded(sizes->flush_bytes) + SCRATCH_BYTES, UB_FILL_ZERO,
                0, err) &&
           ub_device_synchronize(device, "filling device memory", err);
}

bool ub_arena_refill(struct ub_arena *arena, uint64_t seed, bool zeros, struct ub_error *err)
{
    for (int memory = 0; memory < UB_MEMORIES; memory++)
        for (int region = 0; region < UB_REGION_ZERO; region++)
            if (!fill_region(arena, memory, region, zeros ? UB_FILL_ZERO : region_fills[region], seed, err))
                return false;
    return true;
}

ub_device_pointer ub_arena_region(const struct ub_arena *arena, enum ub_memory memory, enum ub_region region,
                                  uint64_t *size_bytes)
{
    *size_bytes = arena->sizes.bytes[memory][region];
    return arena->bases[memory] + offset_of(&arena->sizes, memory, region);
}

bool ub_arena_flush(struct ub_arena *arena, struct ub_error *err)
{
    const ub_device_pointer start = flush_start(arena);
    int code =
        ub_runtime_read(at(start), arena->sizes.flush_bytes, arena->results + UB_RESULT_CYCLES, arena->device->stream);
    return code == 0 || ub_fail(err, UB_INCOMPLETE, "flushing the caches: %s", ub_runtime_error_name(code));
}

void ub_arena_close(struct ub_arena *arena)
{
    if (arena->bases[UB_DEVICE_MEMORY])
        arena->device->api.memory_free(arena->bases[UB_DEVICE_MEMORY]);
    if (arena->bases[UB_PINNED_MEMORY] && !arena->not_pinned[0])
        arena->device->api.host_free(at(arena->bases[UB_PINNED_MEMORY]));
    else
        free(at(arena->bases[UB_PINNED_MEMORY]));
    free(at(arena->bases[UB_PAGEABLE_MEMORY]));
    *arena = (struct ub_arena){0};
}

bool ub_arena_carve(const struct ub_arena *arena, const struct ub_footprint *footprint, struct ub_buffers *out)
{
    struct ub_region_sizes used = {0};
    *out = (struct ub_buffers){.count = footprint->count};
    for (size_t i = 0; i < footprint->count; i++) {
        const struct ub_buffer_spec *spec = &footprint->buffers[i];
        const enum ub_region region = region_of(spec);
        uint64_t *offset = &used.bytes[spec->memory][region];
        out->pointers[i] = at(arena->bases[spec->memory] + offset_of(&arena->sizes, spec->memory, region) + *offset);
        out->sizes_bytes[i] = spec->size_bytes;
        *offset += rounded(spec->size_bytes);
        if (*offset > arena->sizes.bytes[spec->memory][region])
            return false;
    }
    return true;
}

bool ub_arena_poison(struct ub_arena *arena, const struct ub_footprint *footprint, const struct ub_buffers *buffers,
                     struct ub_error *err)
{
    for (size_t i = 0; i < footprint->count; i++) {
        const struct ub_buffer_spec *spec = &footprint->buffers[i];
        if (!spec->output)
            continue;
        if (spec->memory != UB_DEVICE_MEMORY)
            memset(buffers->pointers[i], 0xFF, buffers->sizes_bytes[i]);
        else if (!fill(arena, UB_DEVICE_MEMORY, (ub_device_pointer)(uintptr_t)buffers->pointers[i],
                       buffers->sizes_bytes[i], UB_FILL_POISON, 0, err))
            return false;
    }
    return true;
}

bool ub_results_clear(struct ub_arena *arena, struct ub_error *err)
{
    struct ub_device *device = arena->device;
    int code = device->api.set_async((ub_device_pointer)(uintptr_t)arena->results, 0,
                                     UB_RESULT_WORDS * sizeof *arena->results, device->stream);
    return code == 0 || ub_api_fail(&device->api, code, "cuMemsetD8Async", err);
}

bool ub_results_read(struct ub_arena *arena, unsigned long long out[UB_RESULT_WORDS], struct ub_error *err)
{
    struct ub_device *device = arena->device;
    if (!ub_device_synchronize(device, "kernel", err))
        return false;
    int code =
        device->api.copy_to_host(out, (ub_device_pointer)(uintptr_t)arena->results, UB_RESULT_WORDS * sizeof *out);
    return code == 0 || ub_api_fail(&device->api, code, "cuMemcpyDtoH", err);
}

bool ub_memory_fits(struct ub_device *device, uint64_t bytes, uint64_t *free_bytes)
{
    size_t free_now = 0;
    size_t total = 0;
    if (device->api.memory_info(&free_now, &total) != 0)
        return true;
    *free_bytes = free_now;
    return bytes + UB_SPARE_BYTES <= free_now;
}

/* Linux gives memory that it does not have: only the kernel's own estimate of what can be
 * had without swapping (proc(5), MemAvailable) says whether a size would end the process. */
bool ub_host_memory_fits(uint64_t bytes, uint64_t *free_bytes)
{
    char line[128];
    uint64_t available_kib = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "MemAvailable: %" SCNu64, &available_kib) != 1)
        continue;
    if (file)
        fclose(file);
    if (available_kib == 0)
        return true;
    *free_bytes = available_kib << 10;
    return bytes + UB_SPARE_BYTES <= *free_bytes;
}
