/* SPDX-License-Identifier: MIT
 *
 * One GPU, opened: its identity, its primary context (current on this thread), a
 * stream. NVML is matched by PCI address, never by index. */
#ifndef UB_CUDA_DEVICE_H
#define UB_CUDA_DEVICE_H

#include "harness/contract/record.h"
#include "harness/cuda/api.h"

struct ub_device {
    struct ub_api api;
    int ordinal, handle; /* driver ordinal and CUdevice */
    void *context;       /* NULL until ub_device_open() */
    void *stream;
    void *nvml; /* NULL: no NVML for this card */
    int sms;
    struct ub_device_info info;
};

/* Number of GPUs that the driver shows; the table is opened in `device->api`. */
bool ub_device_count(struct ub_device *device, int *count, struct ub_error *err);
/* Fills identity and limits of GPU `ordinal`; creates no context. */
bool ub_device_describe(struct ub_device *device, int ordinal, struct ub_error *err);
/* Describes it, makes its primary context current and creates a stream. */
bool ub_device_open(struct ub_device *device, int ordinal, struct ub_error *err);
void ub_device_close(struct ub_device *device);

/* Clocks, power, temperature, throttle reasons as NVML has them now. */
void ub_device_snapshot(struct ub_device *device);
/* Other processes with a compute context on the card; -1: unknown. */
int ub_device_other_processes(struct ub_device *device);
/* The words for NVML's clock-event reasons that lower the clock, "" for none. */
void ub_throttle_text(unsigned long long reasons, char *text, size_t size);

bool ub_device_synchronize(struct ub_device *device, const char *what, struct ub_error *err);

#endif
