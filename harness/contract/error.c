/* SPDX-License-Identifier: MIT */
#include "harness/contract/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool ub_fail(struct ub_error *err, enum ub_status status, const char *format, ...)
{
    if (!err)
        return false;
    err->status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return false;
}

bool ub_fail_in(struct ub_error *err, const char *format, ...)
{
    if (!err)
        return false;
    char text[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    /* A text that does not fit is cut at its end: the name in front matters most. */
    size_t length = strlen(text);
    const char *parts[] = {": ", err->text};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        for (const char *c = parts[i]; *c && length + 1 < sizeof text; c++)
            text[length++] = *c;
    text[length] = 0;
    memcpy(err->text, text, sizeof text);
    return false;
}
