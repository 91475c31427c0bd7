/* SPDX-License-Identifier: MIT
 *
 * `ubench devices`: the GPUs of this machine, and the cards of the model table. */
#include <math.h>
#include <stdio.h>

#include "harness/cli/options.h"
#include "harness/cli/target.h"
#include "harness/io/formats.h"

static void print_gpu(const struct ub_target *target)
{
    const struct ub_device_info *device = &target->device;
    char memory[32] = "-";
    char l2[32] = "-";
    if (!isnan(device->memory_bytes))
        ub_format_bytes(device->memory_bytes, memory, sizeof memory);
    if (!isnan(device->l2_bytes))
        ub_format_bytes(device->l2_bytes, l2, sizeof l2);
    printf("%d  %s\n", target->ordinal, device->name ? device->name : "?");
    printf("   UUID %s, PCI %s, driver %s\n", device->uuid ? device->uuid : "-", device->pci ? device->pci : "-",
           device->driver ? device->driver : "-");
    printf("   compute capability %d.%d, %d SMs, %s of memory, %s of L2, SM clock up to %.0f MHz\n", device->cc_major,
           device->cc_minor, device->sms, memory, l2, device->clock_max_mhz);
    printf("   model: %s\n", target->gpu.source ? target->gpu.source : "-");
}

static void print_row(const struct ub_gpu *gpu)
{
    char memory[32], bandwidth[32] = "-";
    ub_format_bytes((double)gpu->memory_bytes, memory, sizeof memory);
    if (!isnan(gpu->dram_bandwidth_bps))
        snprintf(bandwidth, sizeof bandwidth, "%.0f GB/s", gpu->dram_bandwidth_bps * 1e-9);
    printf("  model:%-14s %-28s %d.%d  %3d SMs  %9s  %11s%s\n", gpu->slug, gpu->name, gpu->cc_major, gpu->cc_minor,
           gpu->sms, memory, bandwidth, gpu->verified ? "  laws verified" : "");
}

enum ub_status ub_cmd_devices(struct ub_options *options, struct ub_error *err)
{
    struct ub_targets targets;
    (void)options;
    if (ub_targets_resolve("all", &targets, err))
        for (size_t i = 0; i < targets.count; i++)
            print_gpu(&targets.items[i]);
    else
        printf("no GPU to measure: %s\n", err->text);
    err->text[0] = 0;
    ub_targets_free(&targets);
    printf("\ncards of the model table (--device model:NAME predicts without a GPU):\n");
    for (size_t i = 0; i < ub_gpu_count(); i++)
        print_row(ub_gpu_at(i));
    return UB_OK;
}
