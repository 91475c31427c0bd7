/* SPDX-License-Identifier: MIT
 *
 * Fills struct ub_api from the installed driver. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "harness/cuda/api.h"
#include "harness/cuda/runtime.h"

struct symbol {
    size_t offset;            /* in struct ub_api */
    const char *name, *older; /* older: what drivers before the rename export */
};

#define SYMBOL(field, name)                                                                                            \
    {                                                                                                                  \
        offsetof(struct ub_api, field), name, NULL                                                                     \
    }

static const struct symbol cuda_symbols[] = {
    SYMBOL(init, "cuInit"),
    SYMBOL(driver_version, "cuDriverGetVersion"),
    SYMBOL(device_count, "cuDeviceGetCount"),
    SYMBOL(device_get, "cuDeviceGet"),
    SYMBOL(device_name, "cuDeviceGetName"),
    SYMBOL(device_attribute, "cuDeviceGetAttribute"),
    SYMBOL(device_memory, "cuDeviceTotalMem_v2"),
    {offsetof(struct ub_api, device_uuid), "cuDeviceGetUuid_v2", "cuDeviceGetUuid"},
    SYMBOL(device_pci, "cuDeviceGetPCIBusId"),
    SYMBOL(context_retain, "cuDevicePrimaryCtxRetain"),
    SYMBOL(context_current, "cuCtxSetCurrent"),
    {offsetof(struct ub_api, context_release), "cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRelease"},
    SYMBOL(context_reset_persisting_l2, "cuCtxResetPersistingL2Cache"),
    SYMBOL(memory_info, "cuMemGetInfo_v2"),
    SYMBOL(memory_allocate, "cuMemAlloc_v2"),
    SYMBOL(memory_free, "cuMemFree_v2"),
    SYMBOL(host_allocate, "cuMemAllocHost_v2"),
    SYMBOL(host_free, "cuMemFreeHost"),
    SYMBOL(copy_to_host, "cuMemcpyDtoH_v2"),
    SYMBOL(copy_to_device, "cuMemcpyHtoD_v2"),
    SYMBOL(copy_device_async, "cuMemcpyDtoDAsync_v2"),
    SYMBOL(set_async, "cuMemsetD8Async"),
    SYMBOL(stream_create, "cuStreamCreate"),
    SYMBOL(stream_destroy, "cuStreamDestroy_v2"),
    SYMBOL(stream_synchronize, "cuStreamSynchronize"),
    SYMBOL(event_create, "cuEventCreate"),
    SYMBOL(event_destroy, "cuEventDestroy_v2"),
    SYMBOL(event_record, "cuEventRecord"),
    SYMBOL(event_elapsed_ms, "cuEventElapsedTime"),
    {offsetof(struct ub_api, capture_begin), "cuStreamBeginCapture_v2", "cuStreamBeginCapture"},
    SYMBOL(capture_end, "cuStreamEndCapture"),
    SYMBOL(graph_instantiate, "cuGraphInstantiateWithFlags"),
    SYMBOL(graph_launch, "cuGraphLaunch"),
    SYMBOL(graph_exec_destroy, "cuGraphExecDestroy"),
    SYMBOL(graph_destroy, "cuGraphDestroy"),
    SYMBOL(error_name, "cuGetErrorName"),
    SYMBOL(error_string, "cuGetErrorString"),
};

static const struct symbol nvml_symbols[] = {
    SYMBOL(nvml_init, "nvmlInit_v2"),
    SYMBOL(nvml_shutdown, "nvmlShutdown"),
    SYMBOL(nvml_by_pci, "nvmlDeviceGetHandleByPciBusId_v2"),
    SYMBOL(nvml_driver_version, "nvmlSystemGetDriverVersion"),
    SYMBOL(nvml_vbios, "nvmlDeviceGetVbiosVersion"),
    SYMBOL(nvml_clock_mhz, "nvmlDeviceGetClockInfo"),
    SYMBOL(nvml_max_clock_mhz, "nvmlDeviceGetMaxClockInfo"),
    SYMBOL(nvml_temperature_c, "nvmlDeviceGetTemperature"),
    SYMBOL(nvml_power_mw, "nvmlDeviceGetPowerUsage"),
    SYMBOL(nvml_power_limit_mw, "nvmlDeviceGetEnforcedPowerLimit"),
    {offsetof(struct ub_api, nvml_throttle_reasons), "nvmlDeviceGetCurrentClocksEventReasons",
     "nvmlDeviceGetCurrentClocksThrottleReasons"},
    SYMBOL(nvml_mig_mode, "nvmlDeviceGetMigMode"),
    SYMBOL(nvml_processes, "nvmlDeviceGetComputeRunningProcesses_v3"),
};

/* Returns the name of the first symbol that the library lacks, or NULL. A NULL
 * library has none. */
static const char *bind(struct ub_api *api, void *library, const struct symbol *symbols, size_t count)
{
    const char *missing = NULL;
    for (size_t i = 0; i < count; i++) {
        void *address = library ? dlsym(library, symbols[i].name) : NULL;
        if (!address && library && symbols[i].older)
            address = dlsym(library, symbols[i].older);
        if (!address && !missing)
            missing = symbols[i].name;
        /* ISO C has no conversion from an object to a function pointer: the bytes are copied. */
        memcpy((char *)api + symbols[i].offset, &address, sizeof address);
    }
    return missing;
}

static bool check_version(const struct ub_api *api, struct ub_error *err)
{
    int driver = 0;
    int built = ub_runtime_version();
    int code = api->driver_version(&driver);
    if (code != 0)
        return ub_api_fail(api, code, "cuDriverGetVersion", err);
    if (built != 0 && driver / 1000 < built / 1000)
        return ub_fail(err, UB_NO_DEVICE,
                       "the NVIDIA driver is too old: it supports CUDA %d.%d, this build needs CUDA %d; update the "
                       "driver, or build ubench with a toolkit of CUDA %d",
                       driver / 1000, driver % 1000 / 10, built / 1000, driver / 1000);
    return true;
}

bool ub_api_open(struct ub_api *api, struct ub_error *err)
{
    memset(api, 0, sizeof *api);
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!cuda)
        return ub_fail(err, UB_NO_DEVICE,
                       "no NVIDIA driver: libcuda.so.1 was not found; install the driver, or predict with "
                       "--device model:h200");
    const char *missing = bind(api, cuda, cuda_symbols, sizeof cuda_symbols / sizeof cuda_symbols[0]);
    if (missing)
        return ub_fail(err, UB_NO_DEVICE, "the NVIDIA driver is too old: libcuda.so.1 has no %s; update the driver",
                       missing);
    void *nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (nvml) {
        bind(api, nvml, nvml_symbols, sizeof nvml_symbols / sizeof nvml_symbols[0]);
        if (api->nvml_init && api->nvml_init() != 0)
            bind(api, cuda, nvml_symbols,
                 sizeof nvml_symbols / sizeof nvml_symbols[0]); /* all NULL: NVML is unusable */
    }
    int code = api->init(0);
    if (code == UB_CUDA_NO_DEVICE)
        return ub_fail(err, UB_NO_DEVICE,
                       "the NVIDIA driver is there, but it finds no GPU; look at nvidia-smi and at "
                       "CUDA_VISIBLE_DEVICES");
    if (code != 0)
        return ub_api_fail(api, code, "cuInit", err);
    return check_version(api, err);
}
