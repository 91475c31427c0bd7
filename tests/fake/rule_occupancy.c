/* SPDX-License-Identifier: MIT
 *
 * `occupancy` over the fake device: tickets are taken one after another by a single
 * warp, and launches are refused as an H200 refuses them, by plain numbers and not by
 * the model. $UBENCH_FAKE may have `accept:AXIS=V`: a launch that should be refused is
 * taken. */
#include <stddef.h>

#include "micro/occupancy/access.h"
#include "tests/fake/fake.h"

extern const struct ub_micro ub_micro_occupancy;
extern const struct ub_code fake_code_occupancy;

enum { INVALID_VALUE = 1, LAUNCH_OUT_OF_RESOURCES = 701 };

static int refusal(const struct occupancy_geometry *g)
{
    if (g->block > 1024 || g->shared_bytes > (g->opt_in ? 227u : 48u) << 10)
        return INVALID_VALUE;
    return g->block * g->registers > 65536 ? LAUNCH_OUT_OF_RESOURCES : 0;
}

static uint64_t compute(const struct occupancy_geometry *g)
{
    uint64_t sum = 0;
    for (uint32_t warp = 0; warp < g->warps; warp++)
        for (uint32_t lane = 0; lane < OCCUPANCY_LANES; lane++)
            for (uint32_t chain = 0; chain < g->ilp; chain++) {
                const uint32_t steps = warp == 0 ? g->tickets * OCCUPANCY_ROUNDS * OCCUPANCY_FMAS / g->ilp : 0;
                sum += lane + chain + steps;
            }
    return sum;
}

static uint64_t latency(const struct occupancy_geometry *g, const uint32_t *source)
{
    uint64_t sum = 0;
    for (uint32_t ticket = 0; ticket < g->tickets; ticket++)
        for (uint32_t lane = 0; lane < OCCUPANCY_LANES; lane++) {
            uint64_t element = occupancy_first(g->ilp, ticket, lane);
            for (uint32_t step = 0; step < OCCUPANCY_LOADS / g->ilp;
                 step++, element += occupancy_step(g->ilp, ticket, g->tickets))
                for (uint32_t c = 0; c < g->ilp; c++) {
                    const uint64_t e = element + c * OCCUPANCY_LANES;
                    sum += (uint64_t)source[e] * (uint32_t)(2 * e + 1);
                }
        }
    return sum;
}

static int launch(const struct ub_launch *launch)
{
    struct occupancy_geometry g;
    bool execute = false;
    if (occupancy_resolve(launch->gpu, launch->point, &g) != NULL)
        return INVALID_VALUE;
    int code = fake_fault_at("accept", &ub_micro_occupancy, launch->point) ? 0 : refusal(&g);
    if (code == 0)
        code = fake_begin(&ub_micro_occupancy, launch, &execute);
    if (code != 0 || !execute || !launch->checked)
        return code;
    const bool loads = g.work == OCCUPANCY_LATENCY;
    uint64_t sum = loads ? latency(&g, launch->buffers->pointers[2]) : compute(&g);
    if (fake_fault_at("wrong", &ub_micro_occupancy, launch->point))
        sum++;
    launch->results[UB_RESULT_CHECKSUM] = sum;
    return 0;
}

/* The small instance is checked on the host by the rule's own verify(); the full one is
 * taken to agree. */
/* A word for each kernel: its address is the function, its value its registers. */
static const int registers_of[OCCUPANCY_VARIANTS] = {32, 40, 48, 64, 72, 96, 128, 168, 255};

int fake_registers(const void *function)
{
    for (size_t i = 0; i < OCCUPANCY_VARIANTS; i++)
        if (function == &registers_of[i])
            return registers_of[i];
    return 24;
}

static void describe(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_kernel *out)
{
    struct occupancy_geometry g;
    *out = (struct ub_kernel){.function = &registers_of[0], .name = "occupancy"};
    if (occupancy_resolve(gpu, point, &g) != NULL)
        return;
    const bool other = fake_fault_at("resident", &ub_micro_occupancy, point);
    out->function = &registers_of[other ? OCCUPANCY_VARIANTS - 1 : g.variant];
    out->dynamic_shared_bytes = g.shared_bytes;
    fake_shape(out, g.blocks, g.block);
}

const struct ub_code fake_code_occupancy = {.launch = launch, .reference = fake_agree, .kernel = describe};
