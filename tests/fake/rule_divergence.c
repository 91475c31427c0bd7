/* SPDX-License-Identifier: MIT
 *
 * `divergence` over the fake device: each thread's chain on the host, through the same
 * access.h. */
#include <math.h>
#include <stddef.h>

#include "micro/divergence/access.h"
#include "tests/fake/fake.h"

extern const struct ub_micro ub_micro_divergence;
extern const struct ub_code fake_code_divergence;

/* The path of kernel.cu: multiplier(), addend(), walk(). */
static float walk(float x, uint32_t path, uint32_t steps)
{
    const float by = 1.0f - (float)(path + 1) / 4096, plus = (float)((path + 1) * (path + 3)) / 4096;
    for (uint32_t i = 0; i < steps; i++)
        x = fmaf(x, by, plus);
    return x;
}

static float one_thread(const struct divergence_geometry *g, uint32_t block, uint32_t thread)
{
    const uint32_t lane_path = divergence_lane_path(g, thread);
    float x = (float)((block * g->block + thread) % 64);
    switch ((enum divergence_variant)g->variant) {
    case DIVERGENCE_SELECT_THREAD:
        return (float)((thread % 2 + 1) * 100 * g->body);
    case DIVERGENCE_SELECT_WARP:
        return (float)((thread / 32 % 2 + 1) * 100 * g->body);
    case DIVERGENCE_LOOP:
        return walk(x, 0, g->body * (lane_path + 1));
    case DIVERGENCE_CONSTANT:
        return (float)((lane_path + g->body) % DIVERGENCE_PATHS);
    default:
        for (uint32_t row = 0; row < g->rows; row++)
            x = walk(x, divergence_path(g, block, thread, row), g->body);
        return x;
    }
}

/* As many as the law says, after what is fixed: the engine has to find the slope. */
static unsigned long long cycles_of(uint64_t iterations)
{
    const struct ub_micro *micro;
    struct ub_point point;
    struct ub_law law;
    fake_last_launch(&micro, &point, &law);
    return 500 + (unsigned long long)llround(law.time_ns * fake_clock_mhz() * 1e-3 * (double)iterations);
}

static int launch(const struct ub_launch *launch)
{
    struct divergence_geometry g;
    bool execute = false;
    if (divergence_resolve(launch->gpu, launch->point, &g) != NULL)
        return 1;
    if (g.variant == DIVERGENCE_SORTED)
        divergence_sort(&g);
    int code = fake_begin(&ub_micro_divergence, launch, &execute);
    if (code != 0 || !execute)
        return code;
    float *out = launch->buffers->pointers[0];
    for (uint32_t block = 0; block < g.blocks; block++)
        for (uint32_t thread = 0; thread < g.block; thread++)
            out[block * g.block + thread] = one_thread(&g, block, thread);
    if (fake_fault_at("wrong", &ub_micro_divergence, launch->point))
        out[0] += 1;
    launch->results[UB_RESULT_CYCLES] = cycles_of(launch->iterations);
    return 0;
}

static int reference(const struct ub_launch *launch)
{
    (void)launch; /* the small instance, checked on the host, is the proof here */
    return 0;
}

static void kernel(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_kernel *out)
{
    struct divergence_geometry g = {0};
    divergence_resolve(gpu, point, &g);
    *out = (struct ub_kernel){
        .function = &ub_micro_divergence, .name = "divergence", .grid = {g.blocks, 1, 1}, .block = {g.block, 1, 1}};
}

const struct ub_code fake_code_divergence = {.launch = launch, .reference = reference, .kernel = kernel};
