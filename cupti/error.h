/* SPDX-License-Identifier: MIT
 *
 * What to tell a person when CUPTI says no. CUPTI 13.0 has real sentences for
 * four of its codes only, so ubench keeps its own: one sentence with the fix for
 * each code. Pure: numbers and texts in, text out; no CUPTI header, no file is
 * read (privilege.h reads them). */
#ifndef UB_CUPTI_ERROR_H
#define UB_CUPTI_ERROR_H

#include <stddef.h>

struct ub_cupti_privilege; /* cupti/privilege.h */

/* Codes that ubench itself acts on; the numbers are CUPTI's CUptiResult. */
enum {
    UB_CUPTI_SUCCESS = 0,
    UB_CUPTI_NOT_INITIALIZED = 15,
    UB_CUPTI_INVALID_METRIC_NAME = 17,
    UB_CUPTI_INSUFFICIENT_PRIVILEGES = 35,
    UB_CUPTI_UNKNOWN = 999
};

struct ub_cupti_failure {
    const char *stage;                          /* the call: "cuptiRangeProfilerStart" */
    int code;                                   /* CUptiResult */
    const char *library;                        /* "CUPTI 13.0 (API 130001), /.../libcupti.so.13" */
    const char *driver;                         /* "driver for CUDA 13.0", or NULL: not asked */
    const char *chip;                           /* "GH100", or NULL */
    const struct ub_cupti_privilege *privilege; /* for code 35; NULL: not looked up */
};

/* "CUPTI_ERROR_HARDWARE_BUSY"; a code that is not in the table: "an unknown code". */
const char *ub_cupti_error_name(int code);

/* The sentence with the fix. Never NULL. */
const char *ub_cupti_error_advice(int code);

/* All of it: advice first (a text may be cut at its end), then stage, code, name,
 * library, driver and chip in parentheses. */
void ub_cupti_failure_text(const struct ub_cupti_failure *failure, char *text, size_t size);

#endif
