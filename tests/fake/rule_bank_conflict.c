/* SPDX-License-Identifier: MIT
 *
 * The rule bank_conflict over the fake device: its kernel as loops on the host,
 * through the same access.h. */
#include <stdlib.h>
#include <string.h>

#include "micro/bank_conflict/access.h"
#include "tests/fake/fake.h"

extern const struct ub_micro ub_micro_bank_conflict;
extern const struct ub_code fake_code_bank_conflict;

static uint32_t word_of(const struct bank_conflict_geometry *g, uint32_t warp, uint32_t lane, uint32_t k)
{
    return (bank_conflict_element(g, warp, lane) * g->unit_bytes + k * BANK_CONFLICT_APART_BYTES) / 4;
}

/* What word i of access k of a thread is: ldmatrix takes it from another lane's row. */
static uint32_t loaded(const struct bank_conflict_geometry *g, const uint32_t *memory, uint32_t thread, uint32_t k,
                       uint32_t i)
{
    const uint32_t warp = thread / BANK_CONFLICT_LANES, lane = thread % BANK_CONFLICT_LANES;
    if (g->op == BANK_CONFLICT_LDMATRIX)
        return memory[word_of(g, warp, 8 * i + lane / 4, k) + lane % 4];
    return memory[word_of(g, warp, lane, k) + i];
}

static void load(const struct ub_launch *launch, const struct bank_conflict_geometry *g)
{
    const uint32_t *memory = launch->buffers->pointers[0];
    uint32_t *sums = launch->buffers->pointers[1];
    for (uint32_t thread = 0; thread < BANK_CONFLICT_THREADS; thread++)
        for (uint32_t i = 0; i < g->words; i++) {
            uint32_t sum = 0;
            for (uint32_t k = 0; k < BANK_CONFLICT_UNROLL; k++)
                sum += loaded(g, memory, thread, k, i);
            sums[thread * BANK_CONFLICT_SUMS + i] = sum * (uint32_t)launch->iterations;
        }
}

static void store(const struct ub_launch *launch, const struct bank_conflict_geometry *g)
{
    uint32_t *memory = launch->buffers->pointers[0];
    memset(memory, 0xFF, g->region_bytes);
    for (uint32_t thread = 0; thread < BANK_CONFLICT_THREADS; thread++)
        for (uint32_t k = 0; k < BANK_CONFLICT_UNROLL; k++)
            for (uint32_t i = 0; i < g->words; i++) {
                const uint32_t word = word_of(g, thread / BANK_CONFLICT_LANES, thread % BANK_CONFLICT_LANES, k) + i;
                memory[word] = bank_conflict_key(launch->seed) + word;
            }
}

static int launch(const struct ub_launch *launch)
{
    struct bank_conflict_geometry g;
    struct ub_law law;
    bool execute = false;
    if (bank_conflict_resolve(launch->gpu, launch->point, &g) != NULL)
        return 1;
    int code = fake_begin(&ub_micro_bank_conflict, launch, &execute);
    if (code != 0 || !execute)
        return code;
    const struct ub_micro *micro = NULL;
    struct ub_point point;
    fake_last_launch(&micro, &point, &law);
    if (g.op == BANK_CONFLICT_STORE)
        store(launch, &g);
    else
        load(launch, &g);
    if (fake_fault_at("wrong", &ub_micro_bank_conflict, launch->point))
        *(unsigned char *)launch->buffers->pointers[g.op == BANK_CONFLICT_STORE ? 0 : 1] ^= 1;
    const double cycles = law.time_ns * fake_clock_mhz() * 1e-3 * (double)launch->iterations;
    launch->results[UB_RESULT_CYCLES] = 100 + (unsigned long long)cycles;
    return 0;
}

static void kernel(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_kernel *out)
{
    struct bank_conflict_geometry g;
    bank_conflict_resolve(gpu, point, &g);
    *out = (struct ub_kernel){.function = &ub_micro_bank_conflict,
                              .name = "bank_conflict",
                              .grid = {1, 1, 1},
                              .block = {BANK_CONFLICT_THREADS, 1, 1},
                              .dynamic_shared_bytes = g.region_bytes};
}

const struct ub_code fake_code_bank_conflict = {.launch = launch, .kernel = kernel};
