/* SPDX-License-Identifier: MIT */
#include "harness/cuda/api.h"

bool ub_api_fail(const struct ub_api *api, int code, const char *what, struct ub_error *err)
{
    const char *name = NULL;
    const char *text = NULL;
    if (api->error_name)
        api->error_name(code, &name);
    if (api->error_string)
        api->error_string(code, &text);
    enum ub_status status = code == UB_CUDA_NO_DEVICE ? UB_NO_DEVICE : UB_INCOMPLETE;
    return ub_fail(err, status, "%s: %s (%d)%s%s", what, name ? name : "unknown CUDA error", code, text ? ": " : "",
                   text ? text : "");
}
