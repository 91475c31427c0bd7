/* SPDX-License-Identifier: MIT
 *
 * The rule reduce over the fake device: its kernels as loops on the host, through the same
 * access.h. A barrier that is missing loses the second half of a row. */
#include <string.h>

#include "micro/reduce/access.h"
#include "micro/reduce/rule.h"
#include "tests/fake/fake.h"

extern const struct ub_micro ub_micro_reduce;
extern const struct ub_code fake_code_reduce;

enum { INVALID_VALUE = 1, CYCLES_BESIDE = 100 };

struct sum {
    uint32_t whole;
    float number;
};

static void add(struct sum *sum, const uint32_t *element)
{
    float number;
    memcpy(&number, element, sizeof number);
    sum->whole += *element;
    sum->number += number;
}

static struct sum sum_of(const struct reduce_geometry *g, const uint32_t *source)
{
    struct sum sum = {0};
    const bool races = g->variant == REDUCE_MISSING_BARRIER;
    for (uint32_t block = 0; block < g->blocks; block++)
        for (uint32_t load = 0; load < g->loads; load++)
            for (uint32_t thread = 0; thread < g->block; thread++) {
                const uint64_t first = reduce_element(block, thread, load, g->block, g->words, g->block_elements);
                for (uint64_t i = first; i < first + g->words && i < g->n; i++)
                    if (!races || thread < g->block / 2)
                        add(&sum, source + i);
            }
    return sum;
}

static int launch(const struct ub_launch *launch)
{
    struct reduce_geometry g;
    struct ub_law law;
    const struct ub_micro *micro = NULL;
    struct ub_point point;
    bool execute = false;
    if (reduce_resolve(launch->gpu, launch->point, &g) != NULL)
        return INVALID_VALUE;
    const int code = fake_begin(&ub_micro_reduce, launch, &execute);
    if (code != 0 || !execute)
        return code;
    fake_last_launch(&micro, &point, &law);
    const double cycles = law.time_ns * fake_clock_mhz() * 1e-3 * (double)launch->iterations;
    launch->results[UB_RESULT_CYCLES] = CYCLES_BESIDE + (unsigned long long)(cycles > 0 ? cycles : 0);
    if (!launch->checked)
        return 0;
    struct sum sum = sum_of(&g, launch->buffers->pointers[0]);
    if (fake_fault_at("wrong", &ub_micro_reduce, launch->point))
        sum.whole ^= 1;
    memcpy(launch->buffers->pointers[1], g.type == REDUCE_INT ? (void *)&sum.whole : (void *)&sum.number,
           REDUCE_ELEMENT_BYTES);
    return 0;
}

static void describe(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_kernel *out)
{
    struct reduce_geometry g;
    *out = (struct ub_kernel){.function = &ub_micro_reduce, .name = "reduce"};
    if (reduce_resolve(gpu, point, &g) != NULL)
        return;
    fake_shape(out, g.blocks, g.block);
}

const struct ub_code fake_code_reduce = {.launch = launch, .reference = fake_agree, .kernel = describe};
