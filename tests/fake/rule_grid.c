/* SPDX-License-Identifier: MIT
 *
 * `grid` over the fake device: blocks one after another, which take their chunks in turn. */
#include <stddef.h>

#include "micro/grid/access.h"
#include "tests/fake/fake.h"

extern const struct ub_micro ub_micro_grid;
extern const struct ub_code fake_code_grid;

enum { INVALID_VALUE = 1 };

static uint64_t multiply_add(const struct grid_geometry *g)
{
    uint64_t sum = 0;
    for (uint64_t thread = 0; thread < (uint64_t)g->blocks * g->threads; thread++)
        sum += thread % 32 + (uint64_t)g->rounds * GRID_FMAS;
    return sum;
}

static uint64_t load(const struct grid_geometry *g, const uint32_t *ring, uint32_t *next)
{
    uint64_t sum = 0;
    for (uint32_t block = 0; block < g->blocks; block++) {
        const uint32_t ticket = (*next)++;
        for (uint32_t thread = 0; thread < g->threads; thread++) {
            uint64_t e = grid_first(g->rounds, g->threads, g->chunks, ticket, thread);
            for (uint32_t i = 0; i < g->rounds * GRID_LOADS; i++, e += g->threads) {
                const uint32_t *v = ring + 4 * e;
                sum += (uint64_t)(v[0] + 3 * v[1] + 5 * v[2] + 7 * v[3]) * (2 * (uint32_t)e + 1);
            }
        }
    }
    return sum;
}

static int launch(const struct ub_launch *launch)
{
    struct grid_geometry g;
    bool execute = false;
    if (grid_resolve(launch->gpu, launch->point, &g) != NULL)
        return INVALID_VALUE;
    const int code = fake_begin(&ub_micro_grid, launch, &execute);
    if (code != 0 || !execute || !launch->checked)
        return code;
    uint64_t sum =
        g.work == GRID_DRAM ? load(&g, launch->buffers->pointers[2], launch->buffers->pointers[1]) : multiply_add(&g);
    if (fake_fault_at("wrong", &ub_micro_grid, launch->point))
        sum++;
    launch->results[UB_RESULT_CHECKSUM] = sum;
    return 0;
}

/* The small instance is checked on the host by the rule's own verify(); the full one is
 * taken to agree. */
static void describe(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_kernel *out)
{
    struct grid_geometry g;
    *out = (struct ub_kernel){.function = &ub_micro_grid, .name = "grid"};
    if (grid_resolve(gpu, point, &g) != NULL)
        return;
    fake_shape(out, g.blocks, g.threads);
    out->dynamic_shared_bytes = g.shared_bytes;
}

const struct ub_code fake_code_grid = {.launch = launch, .reference = fake_agree, .kernel = describe};
