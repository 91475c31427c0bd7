/* SPDX-License-Identifier: MIT
 *
 * What a person reads when CUPTI refuses: every code has a sentence with a fix,
 * and the permission text says what is the case here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "cupti/error.h"
#include "cupti/privilege.h"
#include "harness/contract/error.h"

static const char *text_of(const struct ub_cupti_failure *failure)
{
    static char text[sizeof((struct ub_error *)NULL)->text];
    ub_cupti_failure_text(failure, text, sizeof text);
    return text;
}

/* Codes whose fix must be found in the text (cupti.md 2.3). */
static const struct {
    int code;
    const char *name, *words;
} fixes[] = {
    {0, "CUPTI_SUCCESS", "no error"},
    {1, "CUPTI_ERROR_INVALID_PARAMETER", "UBENCH_CUPTI"},
    {3, "CUPTI_ERROR_INVALID_CONTEXT", "report it"},
    {7, "CUPTI_ERROR_INVALID_OPERATION", "report it"},
    {8, "CUPTI_ERROR_OUT_OF_MEMORY", "--size"},
    {9, "CUPTI_ERROR_HARDWARE", "dmesg"},
    {12, "CUPTI_ERROR_MAX_LIMIT_REACHED", "without nsys"},
    {15, "CUPTI_ERROR_NOT_INITIALIZED", "libnvperf_host.so"},
    {15, "CUPTI_ERROR_NOT_INITIALIZED", "update the driver"},
    {17, "CUPTI_ERROR_INVALID_METRIC_NAME", "ubench metrics"},
    {23, "CUPTI_ERROR_DISABLED", "dcgmi profile --pause"},
    {26, "CUPTI_ERROR_HARDWARE_BUSY", "dcgmi profile --pause"},
    {27, "CUPTI_ERROR_NOT_SUPPORTED", "MPS"},
    {33, "CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED", "vGPU"},
    {35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", "CAP_PERFMON"},
    {35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", "NVreg_RestrictProfilingToAdminUsers=0"},
    {36, "CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED", "event API"},
    {38, "CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED", "event API"},
    {39, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED", "compute-sanitizer"},
    {40, "CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES", "hypervisor"},
    {41, "CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED", "confidential"},
    {42, "CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED", "CMP"},
    {43, "CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED", "MIG"},
    {44, "CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED", "SLI"},
    {45, "CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED", "WSL"},
    {46, "CUPTI_ERROR_INVALID_CHIP_NAME", "newer CUDA Toolkit"},
    {999, "CUPTI_ERROR_UNKNOWN", "libcuda.so.1"},
};

static void codes_have_fixes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof fixes / sizeof fixes[0]; i++) {
        const struct ub_cupti_failure failure = {.stage = "cuptiStage", .code = fixes[i].code, .library = "CUPTI X"};
        const char *text = text_of(&failure);
        assert_string_equal(ub_cupti_error_name(fixes[i].code), fixes[i].name);
        if (!strstr(text, fixes[i].words))
            fail_msg("code %d: \"%s\" is not in: %s", fixes[i].code, fixes[i].words, text);
    }
}

/* CUPTI numbers its codes 0 to 47 (13.5) and 999 without a gap; the names are its own. */
static void every_code_is_known(void **state)
{
    (void)state;
    for (int code = 0; code <= 47; code++) {
        const char *advice = ub_cupti_error_advice(code);
        assert_int_equal(strncmp(ub_cupti_error_name(code), "CUPTI_", 6), 0);
        assert_true(strlen(advice) > 5);
        assert_int_not_equal(advice[strlen(advice) - 1], '.'); /* parentheses follow */
        for (int other = 0; other < code; other++)
            assert_string_not_equal(ub_cupti_error_name(code), ub_cupti_error_name(other));
    }
}

static void unknown_codes_are_shown(void **state)
{
    static const int codes[] = {48, 998, 1000, -1, 0x7fffffff};
    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        const struct ub_cupti_failure failure = {
            .stage = "cuptiStage", .code = codes[i], .library = "CUPTI 14.2 (API 140200), /x/libcupti.so.14"};
        char number[16];
        snprintf(number, sizeof number, "%d", codes[i]);
        assert_non_null(strstr(text_of(&failure), number));
        assert_non_null(strstr(text_of(&failure), "an unknown code"));
    }
}

/* Stage, code, name, library, driver and chip: what a report of a failure needs. */
static void all_parts_are_said(void **state)
{
    (void)state;
    const struct ub_cupti_failure failure = {.stage = "cuptiRangeProfilerStart",
                                             .code = 26,
                                             .library = "CUPTI 13.0 (API 130001), /x/libcupti.so.13",
                                             .driver = "driver for CUDA 13.0",
                                             .chip = "GH100"};
    assert_non_null(strstr(text_of(&failure),
                           "(cuptiRangeProfilerStart answered 26 CUPTI_ERROR_HARDWARE_BUSY; CUPTI 13.0 (API 130001), "
                           "/x/libcupti.so.13; driver for CUDA 13.0; chip GH100)"));
}

/* The longest text fits into an error, with a long path. */
static void texts_fit(void **state)
{
    char library[256];
    const struct ub_cupti_privilege privilege = {1, true, false, false, true};
    (void)state;
    memset(library, 'p', sizeof library);
    library[sizeof library - 1] = 0;
    for (int code = 0; code <= 47; code++) {
        const struct ub_cupti_failure failure = {.stage = "cuptiRangeProfilerCounterDataImageInitialize",
                                                 .code = code,
                                                 .library = library,
                                                 .driver = "driver for CUDA 13.0",
                                                 .chip = "GH100",
                                                 .privilege = &privilege};
        const char *text = text_of(&failure);
        assert_string_equal(text + strlen(text) - 6, "GH100)");
    }
}

/* ---- permission --------------------------------------------------------------- */

#define STATUS(bits) "Name:\tubench\nCapInh:\t0000000000000000\nCapEff:\t" bits "\nCapBnd:\t000001ffffffffff\n"

static const struct {
    const char *params, *status;
    int admin_only;
    bool known, sys_admin, perfmon;
    const char *words;
} privileges[] = {
    {"ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n", STATUS("0000000000000000"), 1, true, false, false,
     "RmProfilingAdminOnly 1, no CAP_SYS_ADMIN, no CAP_PERFMON"},
    {"RmProfilingAdminOnly: 0\n", STATUS("000001ffffffffff"), 0, true, true, true,
     "RmProfilingAdminOnly 0, CAP_SYS_ADMIN, CAP_PERFMON"},
    {"NVreg_RestrictProfilingToAdminUsers: 1\n", STATUS("0000004000000000"), 1, true, false, true,
     "no CAP_SYS_ADMIN, CAP_PERFMON"},
    {"X: 1\n", STATUS("0000000000200000"), -1, true, true, false, "not published, CAP_SYS_ADMIN, no CAP_PERFMON"},
    {"", "", -1, false, false, false, "not published"},
    {"XRmProfilingAdminOnly: 1\nRmProfilingAdminOnlyX: 1", "CapEff", -1, false, false, false, "not published"},
    {"RmProfilingAdminOnly: ", "CapEff:", 0, true, false, false, "RmProfilingAdminOnly 0"},
};

static void privileges_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof privileges / sizeof privileges[0]; i++) {
        struct ub_cupti_privilege privilege;
        char text[320];
        ub_cupti_privilege_parse(privileges[i].params, privileges[i].status, &privilege);
        assert_int_equal(privilege.admin_only, privileges[i].admin_only);
        assert_int_equal(privilege.capabilities_known, privileges[i].known);
        assert_int_equal(privilege.sys_admin, privileges[i].sys_admin);
        assert_int_equal(privilege.perfmon, privileges[i].perfmon);
        ub_cupti_privilege_text(&privilege, text, sizeof text);
        if (!strstr(text, privileges[i].words))
            fail_msg("\"%s\" is not in: %s", privileges[i].words, text);
        assert_null(strstr(text, "--cap-add"));
    }
}

static void containers_get_a_hint(void **state)
{
    const struct ub_cupti_privilege privilege = {.admin_only = 1, .container = true};
    const struct ub_cupti_failure failure = {
        .stage = "cuptiProfilerGetCounterAvailability", .code = 35, .library = "CUPTI X", .privilege = &privilege};
    (void)state;
    assert_non_null(strstr(text_of(&failure), "RmProfilingAdminOnly 1"));
    assert_non_null(strstr(text_of(&failure), "--cap-add=SYS_ADMIN"));
}

/* Only code 35 is about permission: elsewhere the facts would mislead. */
static void other_codes_do_not_mention_permission(void **state)
{
    const struct ub_cupti_privilege privilege = {.admin_only = 1, .container = true};
    const struct ub_cupti_failure failure = {
        .stage = "cuptiRangeProfilerStart", .code = 26, .library = "CUPTI X", .privilege = &privilege};
    (void)state;
    assert_null(strstr(text_of(&failure), "AdminOnly"));
}

/* This process: whatever it is, its facts fit together. */
static void this_process_is_read(void **state)
{
    struct ub_cupti_privilege privilege;
    (void)state;
    ub_cupti_privilege_read(&privilege);
    assert_in_range(privilege.admin_only + 1, 0, 2);
    assert_true(privilege.capabilities_known || (!privilege.sys_admin && !privilege.perfmon));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_have_fixes),
        cmocka_unit_test(every_code_is_known),
        cmocka_unit_test(unknown_codes_are_shown),
        cmocka_unit_test(all_parts_are_said),
        cmocka_unit_test(texts_fit),
        cmocka_unit_test(privileges_are_read),
        cmocka_unit_test(containers_get_a_hint),
        cmocka_unit_test(other_codes_do_not_mention_permission),
        cmocka_unit_test(this_process_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
