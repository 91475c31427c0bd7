/* SPDX-License-Identifier: MIT
 *
 * `latency_hiding` over the fake device: the walk step by step, and chains that count. */
#include <stddef.h>

#include "micro/latency_hiding/access.h"
#include "tests/fake/fake.h"

extern const struct ub_micro ub_micro_latency_hiding;
extern const struct ub_code fake_code_latency_hiding;

enum { INVALID_VALUE = 1 };

static uint32_t multiply(const struct hiding_geometry *g)
{
    uint32_t sum = 0;
    for (uint32_t block = 0; block < g->blocks; block++)
        for (uint32_t warp = 0; warp < g->block_warps; warp++)
            for (uint32_t lane = 0; lane < HIDING_LANES; lane++)
                for (uint32_t chain = 0; chain < g->ilp; chain++)
                    sum += lane + chain + (block + warp == 0 ? g->tickets * g->steps : 0);
    return sum;
}

static uint32_t load_lane(const struct hiding_geometry *g, const uint32_t *source, uint64_t element)
{
    const uint32_t words = g->bytes / 4;
    uint32_t sum = 0;
    for (uint32_t step = 0; step < g->steps; step++, element += hiding_step(g->ilp, g->block_warps))
        for (uint32_t c = 0; c < g->ilp; c++)
            for (uint32_t word = 0; word < words; word++)
                sum += source[(element + c * HIDING_LANES) * words + word];
    return sum;
}

static uint32_t load(const struct hiding_geometry *g, const uint32_t *source)
{
    uint32_t sum = 0;
    for (uint32_t block = 0; block < g->blocks; block++)
        for (uint32_t warp = 0; warp < g->block_warps; warp++)
            for (uint32_t lane = 0; lane < HIDING_LANES; lane++)
                sum += load_lane(g, source, hiding_first(g->ilp, g->steps, block, g->block_warps, warp, lane));
    return sum;
}

static int launch(const struct ub_launch *launch)
{
    struct hiding_geometry g;
    bool execute = false;
    if (hiding_resolve(launch->gpu, launch->point, &g) != NULL)
        return INVALID_VALUE;
    const int code = fake_begin(&ub_micro_latency_hiding, launch, &execute);
    if (code != 0 || !execute || !launch->checked)
        return code;
    uint32_t sum = g.work == HIDING_MEMORY ? load(&g, launch->buffers->pointers[0]) : multiply(&g);
    if (fake_fault_at("wrong", &ub_micro_latency_hiding, launch->point))
        sum++;
    launch->results[UB_RESULT_CHECKSUM] = sum;
    return 0;
}

/* The small instance is checked on the host by the rule's own verify(); the full one is
 * taken to agree. */
static void describe(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_kernel *out)
{
    struct hiding_geometry g;
    *out = (struct ub_kernel){.function = &ub_micro_latency_hiding, .name = "latency_hiding"};
    if (hiding_resolve(gpu, point, &g) != NULL)
        return;
    fake_shape(out, g.blocks, g.block);
}

const struct ub_code fake_code_latency_hiding = {.launch = launch, .reference = fake_agree, .kernel = describe};
