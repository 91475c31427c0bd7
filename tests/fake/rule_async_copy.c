/* SPDX-License-Identifier: MIT
 *
 * `async_copy` over the fake device: each block takes its tiles, puts them into the places of
 * its ring and works on what lies there, through the same access.h. Elements become what the
 * rule's own verification says, so that what is tested is which of them are copied, and the
 * path around. */
#include <stdlib.h>
#include <string.h>

#include "micro/async_copy/access.h"
#include "micro/async_copy/rule.h"
#include "tests/fake/fake.h"

extern const struct ub_micro ub_micro_async_copy;
extern const struct ub_code fake_code_async_copy;

enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2 };

/* Copies a tile as the threads of a block do. */
static void copy(const struct copy_geometry *g, const char *source, char *place)
{
    for (uint32_t thread = 0; thread < COPY_BLOCK; thread++)
        for (uint32_t c = 0; c < g->chunks; c++) {
            const uint64_t at = (uint64_t)copy_written(thread, c) * COPY_CHUNK_BYTES;
            memcpy(place + at, source + at, COPY_CHUNK_BYTES);
        }
}

static uint32_t work(const struct copy_geometry *g, const char *place)
{
    const struct copy_geometry one = {.fmas = g->fmas, .size_bytes = COPY_CHUNK_BYTES};
    uint32_t sum = 0;
    for (uint32_t thread = 0; thread < COPY_BLOCK; thread++)
        for (uint32_t c = 0; c < g->chunks; c++)
            sum += copy_sum(&one, place + (uint64_t)copy_read(thread, c, g->chunks) * COPY_CHUNK_BYTES);
    return sum;
}

static uint32_t run_block(const struct copy_geometry *g, uint32_t block, const char *source, char *ring)
{
    const uint32_t places = copy_places(g);
    uint32_t sum = 0;
    for (uint32_t step = 0; step < g->tiles; step++) {
        char *place = ring + (uint64_t)(step % places) * g->tile_bytes;
        copy(g, source + (uint64_t)copy_tile(block, step, g->blocks) * g->tile_bytes, place);
        sum += work(g, place);
    }
    return sum;
}

static int launch(const struct ub_launch *launch)
{
    struct copy_geometry g;
    bool execute = false;
    if (copy_resolve(launch->gpu, launch->point, &g) != NULL)
        return INVALID_VALUE;
    const int code = fake_begin(&ub_micro_async_copy, launch, &execute);
    if (code != 0 || !execute || !launch->checked)
        return code;
    char *ring = malloc((size_t)copy_places(&g) * g.tile_bytes);
    if (!ring)
        return OUT_OF_MEMORY;
    uint32_t sum = 0;
    for (uint32_t block = 0; block < g.blocks; block++)
        sum += run_block(&g, block, launch->buffers->pointers[0], ring);
    free(ring);
    if (fake_fault_at("wrong", &ub_micro_async_copy, launch->point))
        sum++;
    launch->results[UB_RESULT_CHECKSUM] = sum;
    return 0;
}

static void describe(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_kernel *out)
{
    struct copy_geometry g;
    *out = (struct ub_kernel){.function = &ub_micro_async_copy, .name = "async_copy"};
    if (copy_resolve(gpu, point, &g) != NULL)
        return;
    fake_shape(out, g.blocks, COPY_BLOCK);
    out->dynamic_shared_bytes = g.shared_bytes;
}

const struct ub_code fake_code_async_copy = {.launch = launch, .reference = fake_agree, .kernel = describe};
