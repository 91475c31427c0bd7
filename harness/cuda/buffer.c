/* SPDX-License-Identifier: MIT */
#include "harness/cuda/buffer.h"

#include <stdint.h>

#include "harness/cuda/runtime.h"

/* cudaMalloc aligns to 256 bytes (Best Practices Guide); 512 keeps every buffer on
 * a line and a DRAM grain of any generation. */
enum { ALIGNMENT = 512, SCRATCH_BYTES = 4096 };

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static uint64_t *region_of(struct ub_region_sizes *sizes, const struct ub_buffer_spec *spec)
{
    if (spec->output)
        return &sizes->output_bytes;
    return spec->fill == UB_FILL_RANDOM ? &sizes->random_bytes : &sizes->zero_bytes;
}

struct ub_region_sizes ub_region_need(const struct ub_footprint *footprint)
{
    struct ub_region_sizes need = {0};
    for (size_t i = 0; i < footprint->count; i++)
        *region_of(&need, &footprint->buffers[i]) += rounded(footprint->buffers[i].size_bytes);
    return need;
}

void ub_region_max(struct ub_region_sizes *sizes, const struct ub_region_sizes *need)
{
    if (need->random_bytes > sizes->random_bytes)
        sizes->random_bytes = need->random_bytes;
    if (need->zero_bytes > sizes->zero_bytes)
        sizes->zero_bytes = need->zero_bytes;
    if (need->output_bytes > sizes->output_bytes)
        sizes->output_bytes = need->output_bytes;
    if (need->flush_bytes > sizes->flush_bytes)
        sizes->flush_bytes = need->flush_bytes;
}

uint64_t ub_region_total(const struct ub_region_sizes *sizes)
{
    return sizes->random_bytes + sizes->zero_bytes + sizes->output_bytes + rounded(sizes->flush_bytes) + SCRATCH_BYTES;
}

static void *at(ub_device_pointer pointer)
{
    return (void *)(uintptr_t)pointer;
}

static bool fill(struct ub_arena *arena, ub_device_pointer where, uint64_t bytes, enum ub_fill how, uint64_t seed,
                 struct ub_error *err)
{
    if (bytes == 0)
        return true;
    int code = ub_runtime_fill(at(where), bytes, how, seed, arena->device->stream);
    if (code != 0)
        return ub_fail(err, UB_INCOMPLETE, "cannot fill device memory: %s", ub_runtime_error_name(code));
    return true;
}

bool ub_arena_open(struct ub_arena *arena, struct ub_device *device, const struct ub_region_sizes *sizes, uint64_t seed,
                   struct ub_error *err)
{
    *arena = (struct ub_arena){.device = device, .sizes = *sizes};
    uint64_t total = ub_region_total(sizes);
    int code = device->api.memory_allocate(&arena->base, total);
    if (code != 0) {
        arena->base = 0;
        arena->out_of_memory = code == UB_CUDA_OUT_OF_MEMORY;
        ub_api_fail(&device->api, code, "cuMemAlloc", err);
        return ub_fail_in(err, "cannot allocate %llu MiB on the GPU", (unsigned long long)(total >> 20));
    }
    ub_device_pointer scratch = arena->base + total - SCRATCH_BYTES;
    ub_device_pointer outputs = arena->base + sizes->random_bytes + sizes->zero_bytes;
    arena->results = at(scratch);
    arena->stamps = arena->results + UB_RESULT_WORDS;
    return fill(arena, scratch, SCRATCH_BYTES, UB_FILL_ZERO, 0, err) && ub_arena_refill(arena, seed, false, err) &&
           fill(arena, arena->base + sizes->random_bytes, sizes->zero_bytes, UB_FILL_ZERO, 0, err) &&
           fill(arena, outputs, sizes->output_bytes, UB_FILL_POISON, 0, err) &&
           fill(arena, outputs + sizes->output_bytes, sizes->flush_bytes, UB_FILL_ZERO, 0, err) &&
           ub_device_synchronize(device, "filling device memory", err);
}

bool ub_arena_refill(struct ub_arena *arena, uint64_t seed, bool zeros, struct ub_error *err)
{
    return fill(arena, arena->base, arena->sizes.random_bytes, zeros ? UB_FILL_ZERO : UB_FILL_RANDOM, seed, err);
}

bool ub_arena_flush(struct ub_arena *arena, struct ub_error *err)
{
    const struct ub_region_sizes *sizes = &arena->sizes;
    ub_device_pointer start = arena->base + sizes->random_bytes + sizes->zero_bytes + sizes->output_bytes;
    int code = ub_runtime_read(at(start), sizes->flush_bytes, arena->results + UB_RESULT_CYCLES, arena->device->stream);
    return code == 0 || ub_fail(err, UB_INCOMPLETE, "flushing the caches: %s", ub_runtime_error_name(code));
}

void ub_arena_close(struct ub_arena *arena)
{
    if (arena->base)
        arena->device->api.memory_free(arena->base);
    *arena = (struct ub_arena){0};
}

bool ub_arena_carve(const struct ub_arena *arena, const struct ub_footprint *footprint, struct ub_buffers *out)
{
    struct ub_region_sizes used = {0};
    *out = (struct ub_buffers){.count = footprint->count};
    for (size_t i = 0; i < footprint->count; i++) {
        const struct ub_buffer_spec *spec = &footprint->buffers[i];
        ub_device_pointer start = arena->base;
        if (spec->output)
            start += arena->sizes.random_bytes + arena->sizes.zero_bytes;
        else if (spec->fill != UB_FILL_RANDOM)
            start += arena->sizes.random_bytes;
        uint64_t *offset = region_of(&used, spec);
        out->pointers[i] = at(start + *offset);
        out->sizes_bytes[i] = spec->size_bytes;
        *offset += rounded(spec->size_bytes);
    }
    return used.random_bytes <= arena->sizes.random_bytes && used.zero_bytes <= arena->sizes.zero_bytes &&
           used.output_bytes <= arena->sizes.output_bytes;
}

bool ub_arena_poison(struct ub_arena *arena, const struct ub_footprint *footprint, const struct ub_buffers *buffers,
                     struct ub_error *err)
{
    for (size_t i = 0; i < footprint->count; i++)
        if (footprint->buffers[i].output && !fill(arena, (ub_device_pointer)(uintptr_t)buffers->pointers[i],
                                                  buffers->sizes_bytes[i], UB_FILL_POISON, 0, err))
            return false;
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
    const uint64_t spare = 256u << 20;
    size_t free_now = 0;
    size_t total = 0;
    if (device->api.memory_info(&free_now, &total) != 0)
        return true; /* the allocation itself will say */
    *free_bytes = free_now;
    return bytes + spare <= free_now;
}
