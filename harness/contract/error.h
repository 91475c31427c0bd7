/* SPDX-License-Identifier: MIT
 *
 * How a function says that it failed: it returns false and fills a struct
 * ub_error that its caller lends. The first place that fails writes the text;
 * callers pass it up unchanged or prefix it. The status is the exit code that
 * the program ends with if nobody handles the error (DESIGN section 5). */
#ifndef UB_CONTRACT_ERROR_H
#define UB_CONTRACT_ERROR_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define UB_PRINTF(format_index, first_index) __attribute__((format(printf, format_index, first_index)))
#define UB_MUST_USE                          __attribute__((warn_unused_result))
#else
#define UB_PRINTF(format_index, first_index)
#define UB_MUST_USE
#endif

enum ub_status {
    UB_OK = 0,
    UB_CHECK_FAILED = 1,     /* a check that was asked for failed */
    UB_USAGE = 2,            /* the command line is wrong */
    UB_NO_DEVICE = 3,        /* no usable GPU when one was asked for */
    UB_NO_COUNTERS = 4,      /* required counters cannot be read */
    UB_INCOMPLETE = 5,       /* some points failed or ran out of time */
    UB_WRONG_ANSWER = 6,     /* a kernel computed something else than it should */
    UB_BAD_DATA = 65,        /* unreadable or foreign data */
    UB_MISSING_PROGRAM = 69, /* a program that is needed is missing */
    UB_INTERNAL = 70,        /* a mistake of ours, or out of memory */
    UB_CANNOT_WRITE = 74     /* an output cannot be written */
};

struct ub_error {
    enum ub_status status;
    char text[1024]; /* one sentence or a few lines, no newline at the end */
};

/* Fills `err` (may be NULL) and returns false, so that a caller can write
 * `return ub_fail(err, UB_USAGE, "...")`. */
bool ub_fail(struct ub_error *err, enum ub_status status, const char *format, ...) UB_PRINTF(3, 4);

/* Puts "prefix: " before the text of `err`. Returns false. */
bool ub_fail_in(struct ub_error *err, const char *format, ...) UB_PRINTF(2, 3);

#ifdef __cplusplus
}
#endif
#endif
