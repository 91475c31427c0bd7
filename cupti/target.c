/* SPDX-License-Identifier: MIT */
#include "cupti/target.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRIVER_FUNCTIONS(X) X(cuInit) X(cuDriverGetVersion) X(cuDeviceGetCount) X(cuDeviceGet) X(cuCtxGetCurrent)

struct driver {
#define MEMBER(name) __typeof__(&name) name;
    DRIVER_FUNCTIONS(MEMBER)
#undef MEMBER
};

static bool fail(const struct ub_cupti_target *target, const struct ub_cupti *cupti, const char *stage,
                 CUptiResult code, struct ub_error *err)
{
    return ub_cupti_fail(cupti, stage, code, target->driver, target->chip[0] ? target->chip : NULL, err);
}

/* libcuda stays open: a driver that was initialised must not be unloaded. */
static bool open_driver(struct driver *driver, struct ub_error *err)
{
    static const struct {
        const char *name;
        size_t offset;
    } functions[] = {
#define ROW(name) {#name, offsetof(struct driver, name)},
        DRIVER_FUNCTIONS(ROW)
#undef ROW
    };
    void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return ub_fail(err, UB_NO_COUNTERS,
                       "no counters: the NVIDIA driver's libcuda.so.1 was not found; install the driver (in a "
                       "container: start it with --gpus all)");
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *symbol = dlsym(handle, functions[i].name);
        if (!symbol)
            return ub_fail(err, UB_NO_COUNTERS, "no counters: libcuda.so.1 has no %s; update the NVIDIA driver",
                           functions[i].name);
        memcpy((char *)driver + functions[i].offset, &symbol, sizeof symbol);
    }
    return true;
}

/* A usable driver, a device of that number, and the context that is current. */
static bool check_driver(struct ub_cupti_target *target, int device, CUcontext context, CUdevice *handle,
                         struct ub_error *err)
{
    struct driver driver;
    int version = 0, count = 0;
    CUcontext current = NULL;
    if (!open_driver(&driver, err))
        return false;
    CUresult code = driver.cuInit(0);
    if (code == CUDA_SUCCESS)
        code = driver.cuDriverGetVersion(&version);
    if (code == CUDA_SUCCESS)
        code = driver.cuDeviceGetCount(&count);
    if (code != CUDA_SUCCESS)
        return ub_fail(err, UB_NO_COUNTERS,
                       "no counters: the NVIDIA driver does not work (error %d of the driver API); `nvidia-smi` says "
                       "more",
                       (int)code);
    snprintf(target->driver, sizeof target->driver, "driver for CUDA %d.%d", version / 1000, version % 1000 / 10);
    if (device < 0 || device >= count || driver.cuDeviceGet(handle, device) != CUDA_SUCCESS)
        return ub_fail(err, UB_NO_COUNTERS, "no counters: there is no CUDA device %d (%d in all)", device, count);
    if (!context || driver.cuCtxGetCurrent(&current) != CUDA_SUCCESS || current != context)
        return ub_fail(err, UB_INTERNAL, "no counters: the context of device %d is not the current one of this thread",
                       device);
    return true;
}

static bool initialize(struct ub_cupti_target *target, struct ub_cupti *cupti, struct ub_error *err)
{
    if (cupti->initialized)
        return true;
    CUpti_Profiler_Initialize_Params params = {.structSize = UB_CUPTI_SIZE(CUpti_Profiler_Initialize_Params, pPriv)};
    const CUptiResult code = cupti->cuptiProfilerInitialize(&params);
    if (code != CUPTI_SUCCESS)
        return fail(target, cupti, "cuptiProfilerInitialize", code, err);
    cupti->initialized = true;
    return true;
}

/* Each feature that can forbid profiling, with what to do about it. */
static bool check_features(const CUpti_Profiler_DeviceSupported_Params *answer, const struct ub_cupti_target *target,
                           const struct ub_cupti *cupti, struct ub_error *err)
{
    const struct {
        CUpti_Profiler_Support_Level level;
        const char *reason;
    } features[] = {
        {answer->architecture, "the GPU is older than CUPTI supports (compute capability 7.5 from CUDA 13 on): use "
                               "CUPTI of an older CUDA Toolkit or a newer GPU"},
        {answer->vGpu, "this is a virtual GPU whose host does not allow profiling: ask its administrator to set "
                       "enable_profiling=1 for the vGPU"},
        {answer->confidentialCompute, "the GPU is in confidential-computing mode, which hides its counters: switch "
                                      "that mode off to read them"},
        {answer->sli, "the GPU is in SLI mode: switch SLI off"},
        {answer->cmp, "mining cards (CMP) have no counters: use another GPU"},
        {answer->wsl, "WSL does not allow it here: counters need Windows 11 and driver 525 or later"},
        {answer->isSupported, "CUPTI does not say why"},
    };
    if (answer->isSupported != CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED &&
        answer->isSupported != CUPTI_PROFILER_CONFIGURATION_DISABLED)
        return true; /* also "unknown": the availability image tells */
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++)
        if (features[i].level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED ||
            features[i].level == CUPTI_PROFILER_CONFIGURATION_DISABLED)
            return ub_fail(err, UB_NO_COUNTERS, "no counters on this GPU: %s (cuptiProfilerDeviceSupported; %s; %s)",
                           features[i].reason, cupti->line, target->driver);
    return true;
}

static bool check_support(struct ub_cupti_target *target, const struct ub_cupti *cupti, CUdevice device,
                          struct ub_error *err)
{
    CUpti_Profiler_DeviceSupported_Params params = {.structSize =
                                                        UB_CUPTI_SIZE(CUpti_Profiler_DeviceSupported_Params, api),
                                                    .cuDevice = device,
                                                    .api = CUPTI_PROFILER_RANGE_PROFILING};
    const CUptiResult code = cupti->cuptiProfilerDeviceSupported(&params);
    if (code != CUPTI_SUCCESS)
        return fail(target, cupti, "cuptiProfilerDeviceSupported", code, err);
    return check_features(&params, target, cupti, err);
}

static bool name_chip(struct ub_cupti_target *target, const struct ub_cupti *cupti, int device, struct ub_error *err)
{
    CUpti_Device_GetChipName_Params params = {.structSize = UB_CUPTI_SIZE(CUpti_Device_GetChipName_Params, pChipName),
                                              .deviceIndex = (size_t)device};
    const CUptiResult code = cupti->cuptiDeviceGetChipName(&params);
    if (code != CUPTI_SUCCESS)
        return fail(target, cupti, "cuptiDeviceGetChipName", code, err);
    snprintf(target->chip, sizeof target->chip, "%s", params.pChipName ? params.pChipName : "");
    return true;
}

static bool take_availability(struct ub_cupti_target *target, const struct ub_cupti *cupti, CUcontext context,
                              struct ub_error *err)
{
    /* Asked twice: without a buffer for the size, then with one. */
    CUpti_Profiler_GetCounterAvailability_Params params = {
        .structSize = UB_CUPTI_SIZE(CUpti_Profiler_GetCounterAvailability_Params, pCounterAvailabilityImage),
        .ctx = context};
    CUptiResult code = cupti->cuptiProfilerGetCounterAvailability(&params);
    if (code != CUPTI_SUCCESS)
        return fail(target, cupti, "cuptiProfilerGetCounterAvailability", code, err);
    target->availability = calloc(1, params.counterAvailabilityImageSize + 1);
    if (!target->availability)
        return ub_fail(err, UB_INTERNAL, "no memory for a counter availability image of %zu bytes",
                       params.counterAvailabilityImageSize);
    params.pCounterAvailabilityImage = target->availability;
    code = cupti->cuptiProfilerGetCounterAvailability(&params);
    return code == CUPTI_SUCCESS || fail(target, cupti, "cuptiProfilerGetCounterAvailability", code, err);
}

bool ub_cupti_target_open(struct ub_cupti_target *target, struct ub_cupti *cupti, int device, CUcontext context,
                          struct ub_error *err)
{
    CUdevice handle = 0;
    *target = (struct ub_cupti_target){.chip = ""};
    return check_driver(target, device, context, &handle, err) && initialize(target, cupti, err) &&
           check_support(target, cupti, handle, err) && name_chip(target, cupti, device, err) &&
           take_availability(target, cupti, context, err);
}

void ub_cupti_target_close(struct ub_cupti_target *target)
{
    free(target->availability);
    target->availability = NULL;
}
