/* SPDX-License-Identifier: MIT
 *
 * The loaded libcupti: found, checked and opened at run time, never linked, so
 * that one binary starts on machines with and without it. Nothing here touches a
 * GPU. What is asked of CUPTI goes through the table of functions below.
 *
 * Sizes of parameter structs: CUPTI takes exactly those sizes that a struct has
 * ever had, so ubench announces each at its first published size (CUDA 12.8),
 * whatever the headers it is built with; later fields stay unused. */
#ifndef UB_CUPTI_LIBRARY_H
#define UB_CUPTI_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include "harness/contract/error.h"

/* Every function of CUPTI that ubench calls. */
#define UB_CUPTI_FUNCTIONS(X)                                                                                          \
    X(cuptiGetVersion)                                                                                                 \
    X(cuptiProfilerHostGetSupportedChips)                                                                              \
    X(cuptiProfilerHostInitialize)                                                                                     \
    X(cuptiProfilerHostDeinitialize)                                                                                   \
    X(cuptiProfilerHostGetMetricProperties)                                                                            \
    X(cuptiProfilerHostConfigAddMetrics)                                                                               \
    X(cuptiProfilerHostGetConfigImageSize)                                                                             \
    X(cuptiProfilerHostGetConfigImage)                                                                                 \
    X(cuptiProfilerHostGetNumOfPasses)                                                                                 \
    X(cuptiProfilerHostEvaluateToGpuValues)                                                                            \
    X(cuptiProfilerInitialize)                                                                                         \
    X(cuptiProfilerDeviceSupported)                                                                                    \
    X(cuptiProfilerGetCounterAvailability)                                                                             \
    X(cuptiDeviceGetChipName)                                                                                          \
    X(cuptiRangeProfilerEnable)                                                                                        \
    X(cuptiRangeProfilerDisable)                                                                                       \
    X(cuptiRangeProfilerGetCounterDataSize)                                                                            \
    X(cuptiRangeProfilerCounterDataImageInitialize)                                                                    \
    X(cuptiRangeProfilerSetConfig)                                                                                     \
    X(cuptiRangeProfilerStart)                                                                                         \
    X(cuptiRangeProfilerStop)                                                                                          \
    X(cuptiRangeProfilerPushRange)                                                                                     \
    X(cuptiRangeProfilerPopRange)                                                                                      \
    X(cuptiRangeProfilerDecodeData)                                                                                    \
    X(cuptiRangeProfilerGetCounterDataInfo)                                                                            \
    X(cuptiRangeProfilerCounterDataGetRangeInfo)

enum { UB_CUPTI_COMPANIONS = 2 };

struct ub_cupti {
    void *handle;                          /* NULL: not loaded */
    void *companions[UB_CUPTI_COMPANIONS]; /* libnvperf_*.so, NULL where CUPTI finds them itself */
    char path[512];                        /* the file that was loaded */
    char line[640];                        /* "CUPTI 13.0 (API 130001), /.../libcupti.so.13" */
    uint32_t version;                      /* of the API: 130001, or 26 for CUDA 12.8 */
    bool initialized; /* cuptiProfilerInitialize was called: once a process, and only with a driver */
    size_t chip_count;
    const char *const *chips; /* the library's own list */
#define UB_CUPTI_MEMBER(name) __typeof__(&name) name;
    UB_CUPTI_FUNCTIONS(UB_CUPTI_MEMBER)
#undef UB_CUPTI_MEMBER
};

/* The size of `type` up to and including `last`, the last field of CUDA 12.8. */
#define UB_CUPTI_SIZE(type, last) (offsetof(type, last) + sizeof(((type *)NULL)->last))

/* Loads libcupti: UBENCH_CUPTI (then only that file), the folder known at
 * configure time, the loader's own search, $CUDA_HOME, $CUDA_PATH,
 * /usr/local/cuda, /opt/cuda, pip wheels of $VIRTUAL_ENV, $CONDA_PREFIX and
 * ~/.local. Fails with UB_NO_COUNTERS: what was tried, and the fix. `cupti` must
 * be zero. */
bool ub_cupti_load(struct ub_cupti *cupti, struct ub_error *err);
void ub_cupti_unload(struct ub_cupti *cupti);

/* Why libcupti is not to be loaded in this process at all, or NULL: the switch
 * UBENCH_COUNTERS=0, or a sanitizer that CUPTI cannot run under. */
const char *ub_cupti_switched_off(void);

/* Why no GPU counters can be read in this process, or NULL: another tool was
 * injected, and CUPTI serves one tool a process. The Host API is not affected. */
const char *ub_cupti_occupied(void);

/* Fails with UB_NO_COUNTERS and the text of error.h for a code of CUPTI; `driver`
 * and `chip` may be NULL. */
bool ub_cupti_fail(const struct ub_cupti *cupti, const char *stage, CUptiResult code, const char *driver,
                   const char *chip, struct ub_error *err);

#endif
