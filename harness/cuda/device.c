/* SPDX-License-Identifier: MIT */
#include "harness/cuda/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STREAM_NON_BLOCKING = 1, NVML_CLOCK_SM = 1, NVML_MAX_PROCESSES = 64 };

/* nvmlProcessInfo_t of NVML 11 and later (nvml.h). */
struct nvml_process {
    unsigned pid;
    unsigned long long used_memory;
    unsigned gpu_instance, compute_instance;
};

static int attribute(struct ub_device *device, int which)
{
    int value = -1;
    if (device->api.device_attribute(&value, which, device->handle) != 0)
        return -1;
    return value;
}

static double positive(int value, double scale)
{
    return value > 0 ? value * scale : NAN;
}

bool ub_device_count(struct ub_device *device, int *count, struct ub_error *err)
{
    if (!device->api.init && !ub_api_open(&device->api, err))
        return false;
    int code = device->api.device_count(count);
    if (code != 0)
        return ub_api_fail(&device->api, code, "cuDeviceGetCount", err);
    return true;
}

static void uuid_text(const unsigned char uuid[16], char *text, size_t size)
{
    static const char hex[] = "0123456789abcdef";
    static const char dash_after[] = {3, 5, 7, 9};
    size_t used = (size_t)snprintf(text, size, "GPU-");
    for (size_t i = 0; i < 16 && used + 3 < size; i++) {
        text[used++] = hex[uuid[i] >> 4];
        text[used++] = hex[uuid[i] & 15];
        if (memchr(dash_after, (int)i, sizeof dash_after))
            text[used++] = '-';
    }
    text[used] = 0;
}

static void describe_nvml(struct ub_device *device)
{
    struct ub_api *api = &device->api;
    struct ub_device_info *info = &device->info;
    char text[128];
    unsigned current = 0;
    unsigned pending = 0;
    if (api->nvml_driver_version && api->nvml_driver_version(text, sizeof text) == 0)
        ub_set_string(&info->driver, text);
    if (!api->nvml_by_pci || !info->pci || api->nvml_by_pci(info->pci, &device->nvml) != 0) {
        device->nvml = NULL;
        return;
    }
    if (api->nvml_vbios && api->nvml_vbios(device->nvml, text, sizeof text) == 0)
        ub_set_string(&info->vbios, text);
    if (api->nvml_mig_mode && api->nvml_mig_mode(device->nvml, &current, &pending) == 0)
        info->mig = current != 0;
    if (api->nvml_max_clock_mhz && api->nvml_max_clock_mhz(device->nvml, NVML_CLOCK_SM, &current) == 0)
        info->clock_max_mhz = current;
    if (api->nvml_power_limit_mw && api->nvml_power_limit_mw(device->nvml, &current) == 0)
        info->power_limit_w = current / 1000.0;
}

bool ub_device_describe(struct ub_device *device, int ordinal, struct ub_error *err)
{
    struct ub_api *api = &device->api;
    struct ub_device_info *info = &device->info;
    int count = 0;
    if (!ub_device_count(device, &count, err))
        return false;
    if (ordinal < 0 || ordinal >= count)
        return ub_fail(err, UB_NO_DEVICE, "there is no GPU %d: the driver shows %d (0 to %d)", ordinal, count,
                       count - 1);
    int code = api->device_get(&device->handle, ordinal);
    if (code != 0)
        return ub_api_fail(api, code, "cuDeviceGet", err);
    device->ordinal = ordinal;
    ub_device_info_init(info);
    char text[512] = "";
    unsigned char uuid[16];
    size_t memory = 0;
    int version = 0;
    if (api->device_name(text, (int)sizeof text, device->handle) == 0)
        ub_set_string(&info->name, text);
    if (api->device_uuid(uuid, device->handle) == 0) {
        uuid_text(uuid, text, sizeof text);
        ub_set_string(&info->uuid, text);
    }
    if (api->device_pci(text, (int)sizeof text, device->handle) == 0)
        ub_set_string(&info->pci, text);
    if (api->device_memory(&memory, device->handle) == 0)
        info->memory_bytes = (double)memory;
    if (api->driver_version(&version) == 0) {
        snprintf(text, sizeof text, "CUDA %d.%d", version / 1000, version % 1000 / 10);
        ub_set_string(&info->driver, text);
        ub_set_string(&info->runtime, text);
    }
    device->sms = attribute(device, UB_ATTRIBUTE_SMS);
    info->sms = device->sms;
    info->cc_major = attribute(device, UB_ATTRIBUTE_CC_MAJOR);
    info->cc_minor = attribute(device, UB_ATTRIBUTE_CC_MINOR);
    info->l2_bytes = positive(attribute(device, UB_ATTRIBUTE_L2_BYTES), 1);
    info->memory_bus_bits = positive(attribute(device, UB_ATTRIBUTE_MEMORY_BUS_BITS), 1);
    info->memory_clock_mhz = positive(attribute(device, UB_ATTRIBUTE_MEMORY_CLOCK_KHZ), 1e-3);
    info->clock_max_mhz = positive(attribute(device, UB_ATTRIBUTE_CLOCK_KHZ), 1e-3);
    info->shared_per_sm_bytes = positive(attribute(device, UB_ATTRIBUTE_SHARED_PER_SM_BYTES), 1);
    info->registers_per_sm = positive(attribute(device, UB_ATTRIBUTE_REGISTERS_PER_SM), 1);
    info->warps_per_sm = positive(attribute(device, UB_ATTRIBUTE_THREADS_PER_SM), 1.0 / 32);
    info->copy_engines = attribute(device, UB_ATTRIBUTE_COPY_ENGINES);
    info->ecc = attribute(device, UB_ATTRIBUTE_ECC);
    describe_nvml(device);
    ub_device_snapshot(device);
    info->clock_idle_mhz = info->clock_load_mhz;
    info->clock_load_mhz = NAN;
    return true;
}

void ub_device_snapshot(struct ub_device *device)
{
    struct ub_api *api = &device->api;
    unsigned value = 0;
    unsigned long long reasons = 0;
    if (!device->nvml)
        return;
    if (api->nvml_clock_mhz && api->nvml_clock_mhz(device->nvml, NVML_CLOCK_SM, &value) == 0)
        device->info.clock_load_mhz = value;
    if (api->nvml_temperature_c && api->nvml_temperature_c(device->nvml, 0, &value) == 0)
        device->info.temperature_c = value;
    if (api->nvml_power_mw && api->nvml_power_mw(device->nvml, &value) == 0)
        device->info.power_w = value / 1000.0;
    if (api->nvml_throttle_reasons && api->nvml_throttle_reasons(device->nvml, &reasons) == 0) {
        char text[256];
        ub_throttle_text(reasons, text, sizeof text);
        ub_set_string(&device->info.throttle_reasons, text);
    }
}

void ub_throttle_text(unsigned long long reasons, char *text, size_t size)
{
    /* nvmlClocksEventReason* that mean a lower clock than asked for; idle (1) and
     * application settings (2) do not. NVML API reference, "NvmlClocksEventReasons". */
    static const struct {
        unsigned long long bit;
        const char *words;
    } names[] = {
        {0x04, "software power cap"},     {0x08, "hardware slowdown"},         {0x10, "sync boost"},
        {0x20, "software thermal limit"}, {0x40, "hardware thermal slowdown"}, {0x80, "hardware power brake"},
    };
    text[0] = 0;
    size_t used = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && used < size; i++)
        if (reasons & names[i].bit)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", names[i].words);
}

int ub_device_other_processes(struct ub_device *device)
{
    struct nvml_process processes[NVML_MAX_PROCESSES];
    unsigned count = NVML_MAX_PROCESSES;
    if (!device->nvml || !device->api.nvml_processes ||
        device->api.nvml_processes(device->nvml, &count, processes) != 0)
        return -1;
    int others = 0;
    for (unsigned i = 0; i < count; i++)
        if (processes[i].pid != (unsigned)getpid() && processes[i].pid != (unsigned)getppid())
            others++;
    return others;
}

bool ub_device_open(struct ub_device *device, int ordinal, struct ub_error *err)
{
    if (!ub_device_describe(device, ordinal, err))
        return false;
    struct ub_api *api = &device->api;
    int code = api->context_retain(&device->context, device->handle);
    if (code != 0) {
        device->context = NULL;
        return ub_api_fail(api, code, "cannot open the GPU (cuDevicePrimaryCtxRetain)", err);
    }
    code = api->context_current(device->context);
    if (code != 0)
        return ub_api_fail(api, code, "cuCtxSetCurrent", err);
    /* Lines that another program asked to persist in L2 would change what is cold (nvbench #459). */
    if (api->context_reset_persisting_l2)
        api->context_reset_persisting_l2();
    code = api->stream_create(&device->stream, STREAM_NON_BLOCKING);
    if (code != 0)
        return ub_api_fail(api, code, "cuStreamCreate", err);
    return true;
}

void ub_device_close(struct ub_device *device)
{
    if (device->stream)
        device->api.stream_destroy(device->stream);
    if (device->context)
        device->api.context_release(device->handle);
    if (device->nvml)
        device->api.nvml_shutdown();
    device->stream = device->context = device->nvml = NULL;
}

bool ub_device_synchronize(struct ub_device *device, const char *what, struct ub_error *err)
{
    int code = device->api.stream_synchronize(device->stream);
    return code == 0 || ub_api_fail(&device->api, code, what, err);
}
