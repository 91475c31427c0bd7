/* SPDX-License-Identifier: MIT
 *
 * The rule carveout over the fake device: its kernel as loops on the host, through the
 * same access.h. */
#include <math.h>

#include "micro/carveout/access.h"
#include "tests/fake/fake.h"

extern const struct ub_micro ub_micro_carveout;
extern const struct ub_code fake_code_carveout;

static uint64_t line_sum(const uint32_t *source, uint32_t line)
{
    uint64_t sum = 0;
    for (uint32_t lane = 0; lane < CARVEOUT_LANES; lane++)
        sum += source[line * CARVEOUT_LINE_WORDS + lane];
    return sum;
}

static uint64_t walk(const struct carveout_geometry *g, const uint32_t *source, uint64_t iterations)
{
    uint64_t sum = 0;
    for (uint32_t line = 0; line < g->lines; line++)
        sum += line_sum(source, line);
    for (uint32_t warp = 0; warp < g->warps; warp++) {
        uint32_t place = carveout_start(g->order, warp);
        for (uint64_t k = 0; k < CARVEOUT_WARM + iterations * CARVEOUT_UNROLL; k++) {
            sum += line_sum(source, carveout_line(g->order, place, g->lines));
            place = carveout_next(g->order, place, g->lines);
        }
    }
    return sum;
}

static int launch(const struct ub_launch *launch)
{
    struct carveout_geometry g;
    struct ub_law law;
    bool execute = false;
    if (carveout_resolve(launch->gpu, launch->point, &g) != NULL)
        return 1;
    int code = fake_begin(&ub_micro_carveout, launch, &execute);
    if (code != 0 || !execute)
        return code;
    const struct ub_micro *micro = NULL;
    struct ub_point point;
    fake_last_launch(&micro, &point, &law);
    if (launch->checked) /* nobody else sees the sum */
        launch->results[UB_RESULT_CHECKSUM] += walk(&g, launch->buffers->pointers[0], launch->iterations) +
                                               fake_fault_at("wrong", &ub_micro_carveout, launch->point);
    const double iteration_ns = isfinite(law.time_ns) ? law.time_ns : 1500; /* where nothing is predicted */
    launch->results[UB_RESULT_CYCLES] +=
        100 + (unsigned long long)(iteration_ns * fake_clock_mhz() * 1e-3 * (double)launch->iterations);
    return 0;
}

static void kernel(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_kernel *out)
{
    struct carveout_geometry g;
    carveout_resolve(gpu, point, &g);
    *out = (struct ub_kernel){.function = &ub_micro_carveout,
                              .name = "carveout",
                              .grid = {1, 1, 1},
                              .block = {g.threads, 1, 1},
                              .dynamic_shared_bytes = g.shared_bytes};
}

const struct ub_code fake_code_carveout = {.launch = launch, .kernel = kernel};
