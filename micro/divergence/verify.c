/* SPDX-License-Identifier: MIT
 *
 * Checks on the host what a small instance of a point computed, with formulas of its
 * own: every thread's chain of fused multiply-adds, step by step. fmaf() rounds once, as
 * the GPU's FFMA does (IEEE 754), so the words must be equal bit by bit. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "micro/divergence/rule.h"

enum { SMALL_BLOCKS = 2, SMALL_BODY = 64 };

bool divergence_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out)
{
    struct divergence_geometry g;
    if (divergence_resolve(gpu, point, &g) != NULL)
        return false;
    *out = *point;
    out->values[DIVERGENCE_BLOCKS] = g.variant == DIVERGENCE_BLOCK_ID && g.ways > SMALL_BLOCKS ? g.ways : SMALL_BLOCKS;
    if (g.body > SMALL_BODY)
        out->values[DIVERGENCE_BODY] = SMALL_BODY;
    return true;
}

uint64_t divergence_out_bytes(const struct divergence_geometry *geometry)
{
    const uint64_t bytes = (uint64_t)geometry->blocks * geometry->block * sizeof(float);
    return (bytes + 255) / 256 * 256;
}

/* Path p: times 1 - (p + 1) / 4096, plus (p + 1)(p + 3) / 4096; both exact. */
static float walked(float x, uint32_t path, uint32_t steps)
{
    const float by = ldexpf((float)(4095 - path), -12);
    const float plus = ldexpf((float)((path + 1) * (path + 3)), -12);
    for (uint32_t i = 0; i < steps; i++)
        x = fmaf(x, by, plus);
    return x;
}

static uint32_t random_number(uint32_t element, uint32_t ways)
{
    const uint64_t words = UINT64_C(1) << 32;
    uint64_t x = (element + UINT64_C(1)) * 2654435761u % words;
    x ^= x / (1 << 15);
    x = x * 2246822507u % words;
    x ^= x / (1 << 13);
    return (uint32_t)(x / 16 % ways);
}

static int by_value(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The data of a block, in order if the variant wants it so. NULL: no memory. */
static uint32_t *make_data(const struct divergence_geometry *g)
{
    const size_t count = (size_t)g->rows * g->block;
    uint32_t *data = malloc(count * sizeof *data);
    if (data == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        data[i] = random_number((uint32_t)i, g->ways);
    if (g->variant == DIVERGENCE_SORTED)
        qsort(data, count, sizeof *data, by_value);
    return data;
}

static float result_of(const struct divergence_geometry *g, const uint32_t *data, uint32_t block, uint32_t thread)
{
    const uint32_t lane = thread % 32, warp = thread / 32;
    float x = (float)((block * g->block + thread) % 64);
    switch ((enum divergence_variant)g->variant) {
    case DIVERGENCE_SELECT_THREAD:
        return (float)(thread % 2 == 0 ? 100 * g->body : 200 * g->body);
    case DIVERGENCE_SELECT_WARP:
        return (float)(warp % 2 == 0 ? 100 * g->body : 200 * g->body);
    case DIVERGENCE_THREAD:
    case DIVERGENCE_SWITCH:
    case DIVERGENCE_TABLE:
        return walked(x, lane % g->ways, g->body);
    case DIVERGENCE_WARP:
        return walked(x, warp % g->ways, g->body);
    case DIVERGENCE_BLOCK_ID:
        return walked(x, block % g->ways, g->body);
    case DIVERGENCE_LOOP:
        return walked(x, 0, (lane % g->ways + 1) * g->body);
    case DIVERGENCE_CONSTANT:
        return (float)((lane % g->ways + g->body) % 32);
    case DIVERGENCE_DATA:
    case DIVERGENCE_SORTED:
        for (uint32_t row = 0; row < g->rows; row++)
            x = walked(x, data[row * g->block + thread], g->body);
        return x;
    case DIVERGENCE_TAIL:
    case DIVERGENCE_VARIANTS:
        break;
    }
    return walked(x, 0, g->body);
}

static bool compare(const struct divergence_geometry *g, const uint32_t *data, const float *out, struct ub_error *err)
{
    for (uint32_t block = 0; block < g->blocks; block++)
        for (uint32_t thread = 0; thread < g->block; thread++) {
            const float wanted = result_of(g, data, block, thread);
            const float got = out[(size_t)block * g->block + thread];
            if (memcmp(&wanted, &got, sizeof got) != 0)
                return ub_fail(err, UB_WRONG_ANSWER,
                               "thread %" PRIu32 " of block %" PRIu32 " computed %.9g instead of %.9g", thread, block,
                               (double)got, (double)wanted);
        }
    return true;
}

bool divergence_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host,
                       uint64_t seed, uint64_t checksum, struct ub_error *err)
{
    (void)seed; /* paths are fixed, so that counters are */
    (void)checksum;
    struct divergence_geometry g;
    const char *unsupported = divergence_resolve(gpu, point, &g);
    if (unsupported != NULL)
        return ub_fail(err, UB_INTERNAL, "%s", unsupported);
    if (host->count != 1 || host->sizes_bytes[0] < divergence_out_bytes(&g))
        return ub_fail(err, UB_INTERNAL, "one buffer of %" PRIu64 " bytes is needed", divergence_out_bytes(&g));
    const unsigned char *bytes = host->pointers[0];
    for (uint64_t i = (uint64_t)g.blocks * g.block * sizeof(float); i < host->sizes_bytes[0]; i++)
        if (bytes[i] != 0xFF)
            return ub_fail(err, UB_WRONG_ANSWER, "byte %" PRIu64 " behind the results was written", i);
    uint32_t *data = make_data(&g);
    if (data == NULL)
        return ub_fail(err, UB_INTERNAL, "no memory for the data of a block");
    const bool equal = compare(&g, data, host->pointers[0], err);
    free(data);
    return equal;
}
