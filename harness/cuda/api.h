/* SPDX-License-Identifier: MIT
 *
 * Every driver-side call of ubench, CUDA driver and NVML, as one table of
 * function pointers. driver.c fills it from libcuda.so.1 and libnvidia-ml.so.1
 * by dlopen, so the binary starts on a machine that has neither; the tests fill
 * it with a fake device. No CUDA header is needed: the prototypes are the stable
 * C ABI of the driver (CUDA Driver API; NVML API reference).
 *
 * A call returns the driver's own code, 0 is success. Kernels are launched by
 * cudart (kernel.cu) into the same primary context and streams. */
#ifndef UB_CUDA_API_H
#define UB_CUDA_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/contract/error.h"

/* CUdevice_attribute values that are used (cuda.h). */
enum ub_attribute {
    UB_ATTRIBUTE_REGISTERS_PER_BLOCK = 12,
    UB_ATTRIBUTE_CLOCK_KHZ = 13,
    UB_ATTRIBUTE_SMS = 16,
    UB_ATTRIBUTE_ECC = 32,
    UB_ATTRIBUTE_MEMORY_CLOCK_KHZ = 36,
    UB_ATTRIBUTE_MEMORY_BUS_BITS = 37,
    UB_ATTRIBUTE_L2_BYTES = 38,
    UB_ATTRIBUTE_THREADS_PER_SM = 39,
    UB_ATTRIBUTE_COPY_ENGINES = 40, /* ASYNC_ENGINE_COUNT */
    UB_ATTRIBUTE_CC_MAJOR = 75,
    UB_ATTRIBUTE_CC_MINOR = 76,
    UB_ATTRIBUTE_SHARED_PER_SM_BYTES = 81,
    UB_ATTRIBUTE_REGISTERS_PER_SM = 82,
    UB_ATTRIBUTE_SHARED_OPTIN_BYTES = 97,
    UB_ATTRIBUTE_BLOCKS_PER_SM = 106,
    UB_ATTRIBUTE_SHARED_RESERVED_BYTES = 111
};

/* CUresult values that are told apart. */
enum { UB_CUDA_OUT_OF_MEMORY = 2, UB_CUDA_NO_DEVICE = 100 };

typedef uint64_t ub_device_pointer; /* CUdeviceptr */

struct ub_api {
    /* CUDA driver */
    int (*init)(unsigned flags);
    int (*driver_version)(int *version); /* 13000 = CUDA 13.0 */
    int (*device_count)(int *count);
    int (*device_get)(int *device, int ordinal);
    int (*device_name)(char *name, int size, int device);
    int (*device_attribute)(int *value, int attribute, int device);
    int (*device_memory)(size_t *bytes, int device);
    int (*device_uuid)(unsigned char uuid[16], int device);
    int (*device_pci)(char *text, int size, int device);
    int (*context_retain)(void **context, int device);
    int (*context_current)(void *context);
    int (*context_release)(int device);
    int (*context_reset_persisting_l2)(void);
    int (*memory_info)(size_t *free_bytes, size_t *total_bytes);
    int (*memory_allocate)(ub_device_pointer *pointer, size_t bytes);
    int (*memory_free)(ub_device_pointer pointer);
    int (*host_allocate)(void **pointer, size_t bytes); /* pinned */
    int (*host_free)(void *pointer);
    int (*copy_to_host)(void *host, ub_device_pointer device, size_t bytes);
    int (*copy_to_device)(ub_device_pointer device, const void *host, size_t bytes);
    int (*copy_device_async)(ub_device_pointer to, ub_device_pointer from, size_t bytes, void *stream);
    int (*set_async)(ub_device_pointer pointer, unsigned char value, size_t bytes, void *stream);
    int (*stream_create)(void **stream, unsigned flags);
    int (*stream_destroy)(void *stream);
    int (*stream_synchronize)(void *stream);
    int (*event_create)(void **event, unsigned flags);
    int (*event_destroy)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*event_elapsed_ms)(float *milliseconds, void *start, void *stop);
    int (*capture_begin)(void *stream, int mode);
    int (*capture_end)(void *stream, void **graph);
    int (*graph_instantiate)(void **executable, void *graph, unsigned long long flags);
    int (*graph_launch)(void *executable, void *stream);
    int (*graph_exec_destroy)(void *executable);
    int (*graph_destroy)(void *graph);
    int (*error_name)(int code, const char **text);
    int (*error_string)(int code, const char **text);

    /* NVML; any of them may be NULL */
    int (*nvml_init)(void);
    int (*nvml_shutdown)(void);
    int (*nvml_by_pci)(const char *pci, void **handle);
    int (*nvml_driver_version)(char *text, unsigned size);
    int (*nvml_vbios)(void *handle, char *text, unsigned size);
    int (*nvml_clock_mhz)(void *handle, int type, unsigned *mhz); /* 1 SM, 2 memory */
    int (*nvml_max_clock_mhz)(void *handle, int type, unsigned *mhz);
    int (*nvml_temperature_c)(void *handle, int sensor, unsigned *celsius);
    int (*nvml_power_mw)(void *handle, unsigned *milliwatt);
    int (*nvml_power_limit_mw)(void *handle, unsigned *milliwatt);
    int (*nvml_throttle_reasons)(void *handle, unsigned long long *reasons);
    int (*nvml_mig_mode)(void *handle, unsigned *current, unsigned *pending);
    int (*nvml_processes)(void *handle, unsigned *count, void *infos);
};

/* Fills the table; defined by driver.c, or by a test's fake. UB_NO_DEVICE with the
 * fix where there is no driver, it is too old for this build, or init fails. */
bool ub_api_open(struct ub_api *api, struct ub_error *err);

/* "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory" into err. Returns false. */
bool ub_api_fail(const struct ub_api *api, int code, const char *what, struct ub_error *err);

#endif
