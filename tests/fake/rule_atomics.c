/* SPDX-License-Identifier: MIT
 *
 * `atomics` over the fake device: one add after the other. */
#include <stddef.h>
#include <string.h>

#include "micro/atomics/access.h"
#include "tests/fake/fake.h"

extern const struct ub_micro ub_micro_atomics;
extern const struct ub_code fake_code_atomics;

enum { INVALID_VALUE = 1 };

/* Both halves are whole numbers: 2^e (1 + m / 1024). */
static uint32_t half_of(uint32_t number)
{
    uint32_t exponent = 0;
    while (number >> (exponent + 1) != 0)
        exponent++;
    return number == 0 ? 0 : (exponent + 15) << 10 | ((number << 10 >> exponent) & 0x3FF);
}

static uint32_t number_of(uint32_t half)
{
    return half == 0 ? 0 : (1024 + (half & 0x3FF)) << (half >> 10) >> 25;
}

/* Adds and returns what was there before. */
static uint32_t add_one(uint32_t type, char *at, uint32_t value)
{
    uint32_t word, half;
    uint64_t words;
    float single;
    double number;
    memcpy(&word, at, sizeof word);
    switch (type) {
    case ATOMICS_LONG:
        memcpy(&words, at, sizeof words);
        words += value;
        memcpy(at, &words, sizeof words);
        return (uint32_t)words - value;
    case ATOMICS_FLOAT:
        memcpy(&single, at, sizeof single);
        single += (float)value;
        memcpy(at, &single, sizeof single);
        return (uint32_t)single - value;
    case ATOMICS_DOUBLE:
        memcpy(&number, at, sizeof number);
        number += (double)value;
        memcpy(at, &number, sizeof number);
        return (uint32_t)number - value;
    case ATOMICS_HALF2:
        half = half_of(number_of(word & 0xFFFF) + value);
        half |= half << 16;
        memcpy(at, &half, sizeof half);
        return 0;
    default:
        word += value;
        memcpy(at, &word, sizeof word);
        return word - value;
    }
}

static uint32_t add_warp(const struct atomics_geometry *g, uint32_t copy, uint32_t warp, char *buffer)
{
    const uint32_t step = atomics_step(g->warps, g->lanes, g->addresses);
    uint32_t squares = 0;
    for (uint32_t lane = 0; lane < ATOMICS_WARP; lane++) {
        uint32_t address = atomics_first(warp, lane, g->lanes, g->addresses);
        for (uint32_t i = 0; i < g->steps; i++, address = atomics_next(address, step, g->addresses)) {
            const uint32_t value = g->varied ? 1 + lane % ATOMICS_VALUES : 1;
            const uint32_t old = add_one(g->type, buffer + ((uint64_t)copy * g->addresses + address) * g->apart, value);
            squares += old * old;
        }
    }
    return squares;
}

static uint32_t add_all(const struct atomics_geometry *g, char *buffer)
{
    uint32_t squares = 0;
    memset(buffer, 0, atomics_buffer_bytes(g));
    for (uint32_t copy = 0; copy < g->copies; copy++)
        for (uint32_t warp = 0; warp < g->warps; warp++)
            squares += add_warp(g, copy, warp, buffer);
    return g->used ? squares : 0;
}

static int launch(const struct ub_launch *launch)
{
    struct atomics_geometry g;
    bool execute = false;
    if (atomics_resolve(launch->gpu, launch->point, &g) != NULL)
        return INVALID_VALUE;
    const int code = fake_begin(&ub_micro_atomics, launch, &execute);
    if (code != 0 || !execute || !launch->checked)
        return code;
    char *buffer = launch->buffers->pointers[0];
    launch->results[UB_RESULT_CHECKSUM] = add_all(&g, buffer);
    if (fake_fault_at("wrong", &ub_micro_atomics, launch->point))
        buffer[0] ^= 1;
    return 0;
}

/* The small instance is checked on the host by the rule's own verify(); the full one is
 * taken to agree. */
static void describe(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_kernel *out)
{
    struct atomics_geometry g;
    *out = (struct ub_kernel){.function = &ub_micro_atomics, .name = "add_all"};
    if (atomics_resolve(gpu, point, &g) != NULL)
        return;
    fake_shape(out, g.blocks, g.block_warps * ATOMICS_WARP);
    out->dynamic_shared_bytes = g.shared_bytes;
}

const struct ub_code fake_code_atomics = {.launch = launch, .reference = fake_agree, .kernel = describe};
