/* SPDX-License-Identifier: MIT
 *
 * `roofline` over the fake device: each block walks its own part of the source, step by
 * step, through the same access.h. Elements become what the rule's own verification says,
 * so that what is tested is which of them are loaded, and the path around. */
#include <stdlib.h>
#include <string.h>

#include "micro/roofline/access.h"
#include "micro/roofline/rule.h"
#include "tests/fake/fake.h"

extern const struct ub_micro ub_micro_roofline;
extern const struct ub_code fake_code_roofline;

enum { INVALID_VALUE = 1 };

/* Copies the chunks in the order in which threads load them. */
static void gather(const struct roofline_geometry *g, const char *source, char *out)
{
    for (uint32_t block = 0; block < g->blocks; block++)
        for (uint32_t thread = 0; thread < ROOFLINE_BLOCK; thread++)
            for (uint32_t step = 0; step < ROOFLINE_STEPS; step++)
                for (uint32_t c = 0; c < ROOFLINE_CHUNKS; c++, out += ROOFLINE_CHUNK_BYTES) {
                    const uint64_t chunk =
                        roofline_first(block, thread) + (uint64_t)step * roofline_step() + c * ROOFLINE_BLOCK;
                    memcpy(out, source + chunk * ROOFLINE_CHUNK_BYTES, ROOFLINE_CHUNK_BYTES);
                }
}

static uint64_t sum_of(const struct roofline_geometry *g, const char *source)
{
    char *gathered = malloc(g->size_bytes);
    if (!gathered)
        return 0;
    gather(g, source, gathered);
    const uint64_t sum = roofline_sum(g, gathered);
    free(gathered);
    return sum;
}

static int launch(const struct ub_launch *launch)
{
    struct roofline_geometry g;
    bool execute = false;
    if (roofline_resolve(launch->gpu, launch->point, &g) != NULL)
        return INVALID_VALUE;
    const int code = fake_begin(&ub_micro_roofline, launch, &execute);
    if (code != 0 || !execute || !launch->checked)
        return code;
    uint64_t sum = sum_of(&g, launch->buffers->pointers[0]);
    if (fake_fault_at("wrong", &ub_micro_roofline, launch->point))
        sum++;
    launch->results[UB_RESULT_CHECKSUM] = sum;
    return 0;
}

static void describe(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_kernel *out)
{
    struct roofline_geometry g;
    *out = (struct ub_kernel){.function = &ub_micro_roofline, .name = "roofline"};
    if (roofline_resolve(gpu, point, &g) != NULL)
        return;
    fake_shape(out, g.blocks, ROOFLINE_BLOCK);
}

const struct ub_code fake_code_roofline = {.launch = launch, .reference = fake_agree, .kernel = describe};
