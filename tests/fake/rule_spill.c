/* SPDX-License-Identifier: MIT
 *
 * `spill` over the fake device: each thread's values count the trips, in an array. */
#include <math.h>
#include <string.h>

#include "micro/spill/geometry.h"
#include "tests/fake/fake.h"

extern const struct ub_micro ub_micro_spill;
extern const struct ub_code fake_code_spill;

enum { INVALID_VALUE = 1 };

static uint32_t fold(uint32_t count, const float *values)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        all = all * 3 + bits;
    }
    return all;
}

static uint32_t run_thread(const struct spill_geometry *g, uint32_t thread, uint64_t trips)
{
    float values[SPILL_VALUES], sums[SPILL_SUMS];
    for (uint32_t i = 0; i < SPILL_VALUES; i++)
        values[i] = (float)(thread % g->block + i);
    for (uint32_t i = 0; i < SPILL_SUMS; i++)
        sums[i] = (float)i;
    for (uint64_t trip = 0; trip < trips; trip++)
        for (uint32_t i = 0; i < SPILL_VALUES; i++) {
            if (g->use == SPILL_CHANGED)
                values[i] += 1;
            else
                sums[i % SPILL_SUMS] += values[i];
        }
    return g->use == SPILL_CHANGED ? fold(SPILL_VALUES, values) : fold(SPILL_SUMS, sums);
}

static int launch(const struct ub_launch *launch)
{
    struct spill_geometry g;
    bool execute = false;
    if (spill_resolve(launch->gpu, launch->point, &g) != NULL)
        return INVALID_VALUE;
    const int code = fake_begin(&ub_micro_spill, launch, &execute);
    if (code != 0 || !execute)
        return code;
    const struct ub_micro *micro = NULL;
    struct ub_point point;
    struct ub_law law;
    fake_last_launch(&micro, &point, &law);
    uint32_t *out = launch->buffers->pointers[0];
    for (uint32_t thread = 0; thread < g.threads && launch->checked; thread++)
        out[thread] = run_thread(&g, thread, g.trips - 1 + launch->iterations);
    if (fake_fault_at("wrong", &ub_micro_spill, launch->point))
        out[0]++;
    const double trip_ns = isfinite(law.time_ns) ? law.time_ns : 1500;
    const double cycles = trip_ns * fake_clock_mhz() * 1e-3 * (double)launch->iterations;
    launch->results[UB_RESULT_CYCLES] = 100 + (unsigned long long)cycles;
    return 0;
}

static void describe(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_kernel *out)
{
    struct spill_geometry g;
    *out = (struct ub_kernel){.function = &ub_micro_spill, .name = "spill"};
    if (spill_resolve(gpu, point, &g) != NULL)
        return;
    fake_shape(out, g.blocks, g.block);
}

const struct ub_code fake_code_spill = {.launch = launch, .kernel = describe};
