/* SPDX-License-Identifier: MIT
 *
 * The rule latency over the fake device: its kernels as loops on the host, through the
 * same access.h. A chain is laid as the kernel lays it; where it ends is worked out. */
#include <string.h>

#include "micro/latency/access.h"
#include "tests/fake/fake.h"

extern const struct ub_micro ub_micro_latency;
extern const struct ub_code fake_code_latency;

static void lay(const struct ub_launch *launch, const struct latency_geometry *g)
{
    unsigned char *chain = launch->buffers->pointers[1];
    const bool in_buffer = latency_in_buffer(g), offsets = g->level == LATENCY_CONSTANT;
    const uint64_t apart = in_buffer ? g->unit_bytes : LATENCY_NODE_BYTES;
    const uint64_t base = in_buffer && !offsets ? (uint64_t)(uintptr_t)chain : 0;
    for (uint64_t i = 0; i < g->cycle; i++) {
        const uint64_t next = latency_next(g, i);
        const uint64_t node[] = {in_buffer ? base + next * g->unit_bytes : next, i};
        memcpy(chain + latency_unit(g, i) * apart, node, sizeof node);
    }
}

static uint64_t end_of(const struct latency_geometry *g, uint64_t iterations)
{
    switch ((enum latency_op)g->op) {
    case LATENCY_LOAD:
    case LATENCY_ATOMIC:
        return latency_unit(g, latency_end(g, iterations));
    case LATENCY_FMA:
    case LATENCY_ADD:
    case LATENCY_MAD:
    case LATENCY_FP64:
        return iterations * 3 * LATENCY_STEPS;
    case LATENCY_SHUFFLE:
        return iterations * LATENCY_HOPS % LATENCY_LANES;
    case LATENCY_SHARED_ATOMIC:
    case LATENCY_OPS:
        break;
    }
    return 0;
}

static int launch(const struct ub_launch *launch)
{
    struct latency_geometry g;
    struct ub_law law;
    bool execute = false;
    if (latency_resolve(launch->gpu, launch->point, &g) != NULL)
        return 1;
    int code = fake_begin(&ub_micro_latency, launch, &execute);
    if (code != 0 || !execute)
        return code;
    const struct ub_micro *micro = NULL;
    struct ub_point point;
    fake_last_launch(&micro, &point, &law);
    uint64_t *out = launch->buffers->pointers[0];
    if (latency_has_chain(&g) && launch->checked)
        lay(launch, &g);
    out[LATENCY_OUT_END] = end_of(&g, launch->iterations);
    out[LATENCY_OUT_SM] = g.sm;
    if (fake_fault_at("wrong", &ub_micro_latency, launch->point))
        out[LATENCY_OUT_END] ^= 1;
    const double cycles = law.time_ns * fake_clock_mhz() * 1e-3 * (double)launch->iterations;
    launch->results[UB_RESULT_CYCLES] = 100 + (unsigned long long)cycles;
    return 0;
}

static void kernel(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_kernel *out)
{
    struct latency_geometry g;
    latency_resolve(gpu, point, &g);
    *out = (struct ub_kernel){.function = &ub_micro_latency,
                              .name = "latency",
                              .grid = {(uint32_t)gpu->sms, 1, 1},
                              .block = {LATENCY_BLOCK, 1, 1}};
}

const struct ub_code fake_code_latency = {.launch = launch, .kernel = kernel};
