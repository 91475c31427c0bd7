/* SPDX-License-Identifier: MIT
 *
 * The rules over the fake device. Each rule of micro/list.h has its kernels here as
 * loops on the host: rule_<rule>.c defines `fake_code_<rule>`. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "harness/model/gpu.h"
#include "tests/fake/fake.h"

/* The point that was launched last: what the fake counters count. */
static struct {
    const struct ub_micro *micro;
    struct ub_point point;
    struct ub_law law;
} last;

void fake_last_launch(const struct ub_micro **micro, struct ub_point *point, struct ub_law *law)
{
    *micro = last.micro;
    *point = last.point;
    *law = last.law;
}

int fake_begin(const struct ub_micro *micro, const struct ub_launch *launch, bool *execute)
{
    struct ub_constants constants = {0};
    *execute = false;
    int code = fake_launch_fault(micro, launch->point);
    if (code != 0)
        return code;
    /* Batches launch one point again and again, and some laws take their time. */
    if (last.micro != micro || memcmp(&last.point, launch->point, sizeof last.point) != 0) {
        last.micro = micro;
        last.point = *launch->point;
        last.law = (struct ub_law){.time_ns = NAN};
        ub_gpu_constants(launch->gpu, &constants);
        micro->law(launch->gpu, &constants, launch->point, &last.law);
    }
    *execute = fake_stream_launch(isfinite(last.law.time_ns) ? last.law.time_ns : 1500);
    return 0;
}

int fake_agree(const struct ub_launch *launch)
{
    launch->results[UB_RESULT_EXPECTED] = launch->results[UB_RESULT_CHECKSUM];
    return 0;
}

void fake_shape(struct ub_kernel *kernel, uint32_t blocks, uint32_t threads)
{
    for (int i = 0; i < 3; i++)
        kernel->grid[i] = kernel->block[i] = 1;
    kernel->grid[0] = blocks;
    kernel->block[0] = threads;
}

#define UB_RULE(name)                                                                                                  \
    extern const struct ub_micro ub_micro_##name;                                                                      \
    extern const struct ub_code fake_code_##name;
#include "micro/list.h"
#undef UB_RULE

const struct ub_entry ub_entries[] = {
#define UB_RULE(name) {&ub_micro_##name, &fake_code_##name},
#include "micro/list.h"
#undef UB_RULE
};
const size_t ub_entry_count = sizeof ub_entries / sizeof ub_entries[0];
