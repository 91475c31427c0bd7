/* SPDX-License-Identifier: MIT */
#include "cupti/error.h"

#include <stdio.h>

#include "cupti/privilege.h"

struct advice {
    int code;
    const char *name, *text;
};

/* Ends of sentences that several codes share. */
#define OURS  "this is a mistake in ubench: please report it with the text in parentheses"
#define OTHER "run ubench without nsys, ncu, cuda-gdb or compute-sanitizer around it"
#define BUSY                                                                                                           \
    "another program holds the GPU's counters: pause DCGM (`dcgmi profile --pause`, or stop dcgm-exporter), end "      \
    "nsys, "                                                                                                           \
    "ncu or a second ubench, and try again"
#define LEGACY "something in this process used CUPTI's old event API; " OURS
#define UNUSED "CUPTI should not give this code here; " OURS

static const struct advice advices[] = {
    {0, "CUPTI_SUCCESS", "no error"},
    {1, "CUPTI_ERROR_INVALID_PARAMETER",
     "this libcupti does not accept the call as ubench makes it: use the libcupti of CUDA 12.8 or later that ubench "
     "was built with (set UBENCH_CUPTI=/path/to/libcupti.so)"},
    {2, "CUPTI_ERROR_INVALID_DEVICE", "CUPTI does not know this device: check that CUDA_VISIBLE_DEVICES names it"},
    {3, "CUPTI_ERROR_INVALID_CONTEXT", "no CUDA context is current; " OURS},
    {4, "CUPTI_ERROR_INVALID_EVENT_DOMAIN_ID", UNUSED},
    {5, "CUPTI_ERROR_INVALID_EVENT_ID", UNUSED},
    {6, "CUPTI_ERROR_INVALID_EVENT_NAME", UNUSED},
    {7, "CUPTI_ERROR_INVALID_OPERATION", "calls came in a wrong order, or too many ranges in one session; " OURS},
    {8, "CUPTI_ERROR_OUT_OF_MEMORY", "no memory for the counter data: measure fewer points or a smaller --size"},
    {9, "CUPTI_ERROR_HARDWARE",
     "the performance monitor of the GPU failed: look for Xid lines in `dmesg` and reboot if they repeat"},
    {10, "CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT", "a buffer was too small; " OURS},
    {11, "CUPTI_ERROR_API_NOT_IMPLEMENTED", "this libcupti lacks the call: install CUPTI of CUDA 12.8 or later"},
    {12, "CUPTI_ERROR_MAX_LIMIT_REACHED", "another tool in this process uses CUPTI already: " OTHER},
    {13, "CUPTI_ERROR_NOT_READY", "calls came in a wrong order; " OURS},
    {14, "CUPTI_ERROR_NOT_COMPATIBLE", "calls came in a wrong order; " OURS},
    {15, "CUPTI_ERROR_NOT_INITIALIZED",
     "CUPTI cannot load libnvperf_host.so or libnvperf_target.so (both must lie beside libcupti.so), or the driver is "
     "older than CUPTI: install the whole CUPTI package, or update the driver"},
    {16, "CUPTI_ERROR_INVALID_METRIC_ID", UNUSED},
    {17, "CUPTI_ERROR_INVALID_METRIC_NAME",
     "the chip has no such metric: `ubench metrics --chip CHIP` lists the keys that it has"},
    {18, "CUPTI_ERROR_QUEUE_EMPTY", UNUSED},
    {19, "CUPTI_ERROR_INVALID_HANDLE", UNUSED},
    {20, "CUPTI_ERROR_INVALID_STREAM", UNUSED},
    {21, "CUPTI_ERROR_INVALID_KIND", UNUSED},
    {22, "CUPTI_ERROR_INVALID_EVENT_VALUE", UNUSED},
    {23, "CUPTI_ERROR_DISABLED", BUSY},
    {24, "CUPTI_ERROR_INVALID_MODULE", UNUSED},
    {25, "CUPTI_ERROR_INVALID_METRIC_VALUE", UNUSED},
    {26, "CUPTI_ERROR_HARDWARE_BUSY", BUSY},
    {27, "CUPTI_ERROR_NOT_SUPPORTED",
     "counters do not work on this GPU or platform (too old a chip, MPS, an emulated or shared GPU): run on a GPU of "
     "compute capability 7.5 or later, without MPS"},
    {28, "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED", UNUSED},
    {29, "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_DEVICE", UNUSED},
    {30, "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES", UNUSED},
    {31, "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_WITH_MPS", UNUSED},
    {32, "CUPTI_ERROR_CDP_TRACING_NOT_SUPPORTED", UNUSED},
    {33, "CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED",
     "this is a virtual GPU without counters: ask for a whole GPU or a vGPU type that allows profiling"},
    {34, "CUPTI_ERROR_CUDA_COMPILER_NOT_COMPATIBLE", "the kernels were built by too old an nvcc: build again"},
    {35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
     "this process may not read GPU counters: run as root or with CAP_SYS_ADMIN (driver 565 and later: CAP_PERFMON is "
     "enough, but not by setcap), or let everybody with `options nvidia NVreg_RestrictProfilingToAdminUsers=0` in "
     "/etc/modprobe.d/nvidia.conf, then `update-initramfs -u` and a reboot"},
    {36, "CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED", LEGACY},
    {37, "CUPTI_ERROR_OPENACC_UNDEFINED_ROUTINE", UNUSED},
    {38, "CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED", LEGACY},
    {39, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED", "another tool in this process uses CUPTI already: " OTHER},
    {40, "CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES",
     "the hypervisor forbids counters on this vGPU: ask its administrator to set the vGPU's enable_profiling=1"},
    {41, "CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED",
     "the GPU is in confidential-computing mode, which hides its counters: switch that mode off to read them"},
    {42, "CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED", "mining cards (CMP) have no counters: use another GPU"},
    {43, "CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED",
     "counters cannot be read on this MIG instance: use one that owns its whole GPU instance, or switch MIG off"},
    {44, "CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED", "counters cannot be read in SLI mode: switch SLI off"},
    {45, "CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED",
     "counters need Windows 11 and driver 525 or later under WSL: update both"},
    {46, "CUPTI_ERROR_INVALID_CHIP_NAME",
     "this CUPTI does not know the chip: install CUPTI of a newer CUDA Toolkit (set UBENCH_CUPTI to it)"},
    {47, "CUPTI_ERROR_HES_TRACE_NOT_SUPPORTED_ON_MPS", UNUSED},
    {999, "CUPTI_ERROR_UNKNOWN",
     "CUPTI failed without a reason; known causes are no usable driver (libcuda.so.1: CUPTI of CUDA 13.3 and later "
     "needs it even to list metrics) and counters held by DCGM, nsys, ncu or a second ubench: check both"},
};

static const struct advice *find(int code)
{
    for (size_t i = 0; i < sizeof advices / sizeof advices[0]; i++)
        if (advices[i].code == code)
            return &advices[i];
    return NULL;
}

const char *ub_cupti_error_name(int code)
{
    const struct advice *advice = find(code);
    return advice ? advice->name : "an unknown code";
}

const char *ub_cupti_error_advice(int code)
{
    const struct advice *advice = find(code);
    return advice ? advice->text
                  : "this CUPTI is newer than ubench and gives a code that ubench does not know: see CUPTI's "
                    "documentation of CUptiResult, or use CUPTI of the CUDA version that ubench was built with";
}

void ub_cupti_failure_text(const struct ub_cupti_failure *failure, char *text, size_t size)
{
    char state[320] = "";
    if (failure->code == UB_CUPTI_INSUFFICIENT_PRIVILEGES && failure->privilege)
        ub_cupti_privilege_text(failure->privilege, state, sizeof state);
    snprintf(text, size, "%s%s%s (%s answered %d %s; %s%s%s%s%s)", ub_cupti_error_advice(failure->code),
             state[0] ? "; " : "", state, failure->stage, failure->code, ub_cupti_error_name(failure->code),
             failure->library, failure->driver ? "; " : "", failure->driver ? failure->driver : "",
             failure->chip ? "; chip " : "", failure->chip ? failure->chip : "");
}
