/* SPDX-License-Identifier: MIT
 *
 * The rule `null` over the fake device. */
#include "tests/fake/fake.h"

extern const struct ub_micro ub_micro_null;
extern const struct ub_code fake_code_null;

static int null_launch(const struct ub_launch *launch)
{
    bool execute = false;
    int code = fake_begin(&ub_micro_null, launch, &execute);
    if (code == 0 && execute && launch->results)
        launch->results[UB_RESULT_CYCLES] = 40 + 2 * launch->iterations;
    return code;
}

static void null_kernel(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_kernel *out)
{
    (void)gpu, (void)point;
    *out = (struct ub_kernel){.function = &ub_micro_null, .name = "null", .grid = {1, 1, 1}, .block = {32, 1, 1}};
}

const struct ub_code fake_code_null = {.launch = null_launch, .kernel = null_kernel};
