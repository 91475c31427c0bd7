/* SPDX-License-Identifier: MIT */
#include "harness/io/fields.h"

#include <math.h>

#define REAL(type, member)                                                                                             \
    {                                                                                                                  \
        UB_ROW(type, member, REAL)                                                                                     \
    }
#define TEXT(type, member)                                                                                             \
    {                                                                                                                  \
        UB_ROW(type, member, STRING)                                                                                   \
    }
#define INT(type, member)                                                                                              \
    {                                                                                                                  \
        UB_ROW(type, member, INT), .absent = -1                                                                        \
    }

const char *const ub_flag_names[] = {"throttled", "remeasured", NULL};

const struct ub_field ub_device_fields[] = {
    TEXT(ub_device_info, name),
    {UB_ROW(ub_device_info, uuid, STRING), .secret = true},
    {UB_ROW(ub_device_info, pci, STRING), .secret = true},
    TEXT(ub_device_info, chip),
    TEXT(ub_device_info, slug),
    INT(ub_device_info, cc_major),
    INT(ub_device_info, cc_minor),
    INT(ub_device_info, sms),
    REAL(ub_device_info, l2_bytes),
    REAL(ub_device_info, memory_bytes),
    REAL(ub_device_info, memory_bus_bits),
    REAL(ub_device_info, memory_clock_mhz),
    REAL(ub_device_info, clock_max_mhz),
    REAL(ub_device_info, shared_per_sm_bytes),
    REAL(ub_device_info, registers_per_sm),
    REAL(ub_device_info, warps_per_sm),
    REAL(ub_device_info, power_limit_w),
    {UB_ROW(ub_device_info, temperature_c, REAL), .lowest = -273.15},
    REAL(ub_device_info, power_w),
    REAL(ub_device_info, clock_idle_mhz),
    REAL(ub_device_info, clock_load_mhz),
    {UB_ROW(ub_device_info, copy_engines, INT), .absent = -1, .late = true},
    {UB_ROW(ub_device_info, ecc, TRISTATE)},
    {UB_ROW(ub_device_info, mig, TRISTATE)},
    TEXT(ub_device_info, driver),
    TEXT(ub_device_info, runtime),
    {UB_ROW(ub_device_info, vbios, STRING), .secret = true},
    {UB_ROW(ub_device_info, throttle_reasons, STRING), .free = true},
    {0},
};

static const struct ub_field build_fields[] = {
    TEXT(ub_run_info, nvcc),
    TEXT(ub_run_info, archs),
    TEXT(ub_run_info, code_hash),
    {UB_ROW(ub_run_info, jit, TRISTATE)},
    {0},
};

const struct ub_field ub_run_fields[] = {
    TEXT(ub_run_info, id),
    {UB_ROW(ub_run_info, argv, STRINGS), .other = offsetof(struct ub_run_info, argc), .command = true},
    {UB_ROW(ub_run_info, seed, U64)},
    TEXT(ub_run_info, started),
    TEXT(ub_run_info, finished),
    {UB_ROW(ub_run_info, complete, BOOL)},
    {UB_ROW(ub_run_info, rounds, INT)},
    TEXT(ub_run_info, version),
    {UB_ROW(ub_run_info, host_cpu, STRING), .late = true},
    {UB_ROW(ub_run_info, counters, STRING), .free = true},
    {.key = "build", .kind = UB_FIELD_OBJECT, .fields = build_fields},
    {0},
};

const struct ub_field ub_static_fields[] = {
    INT(ub_static, registers),
    INT(ub_static, shared_bytes),
    INT(ub_static, local_bytes),
    {UB_ROW(ub_static, grid, SIZES)},
    {UB_ROW(ub_static, block, SIZES)},
    INT(ub_static, resident_blocks),
    {UB_ROW(ub_static, binary_version, INT)},
    {UB_ROW(ub_static, ptx_version, INT)},
    {0},
};

const struct ub_field ub_constant_fields[] = {
    {UB_ROW(ub_constant, name, CHARS), .size = sizeof((struct ub_constant *)0)->name, .required = true},
    {UB_ROW(ub_constant, value, REAL), .lowest = -INFINITY},
    {UB_ROW(ub_constant, lo, REAL), .lowest = -INFINITY},
    {UB_ROW(ub_constant, hi, REAL), .lowest = -INFINITY},
    {UB_ROW(ub_constant, unit, CHARS), .size = sizeof((struct ub_constant *)0)->unit},
    {UB_ROW(ub_constant, origin, CHARS), .size = sizeof((struct ub_constant *)0)->origin, .free = true},
    {0},
};
