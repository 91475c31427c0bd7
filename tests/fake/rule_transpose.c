/* SPDX-License-Identifier: MIT
 *
 * `transpose` over the fake device: its kernels as loops on the host, through the same
 * access.h, with a real tile between the two passes of a block. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "micro/transpose/access.h"
#include "tests/fake/fake.h"

extern const struct ub_micro ub_micro_transpose;
extern const struct ub_code fake_code_transpose;

enum { TILE_BYTES_MAX = TRANSPOSE_SIDE_MAX * (TRANSPOSE_SIDE_MAX + 4) * 8 };

struct block {
    const struct transpose_geometry *g;
    struct transpose_place tile;
    const unsigned char *source;
    unsigned char *destination;
    unsigned char shared[TILE_BYTES_MAX];
};

/* Place of the first element of access k in the matrix; false: outside. */
static bool inside(const struct block *block, struct transpose_place place, uint64_t *x, uint64_t *y)
{
    *x = (uint64_t)block->tile.x * block->g->tile + place.x;
    *y = (uint64_t)block->tile.y * block->g->tile + place.y;
    return *x < block->g->n && *y < block->g->m;
}

static struct transpose_place lane_of(const struct transpose_geometry *g, uint32_t thread, uint32_t k)
{
    return transpose_lane(g->tile, g->vector, g->tile / g->passes, thread, k);
}

static void read_into_tile(struct block *block, uint32_t thread, uint32_t k)
{
    const struct transpose_geometry *g = block->g;
    const struct transpose_place from = transpose_read(g->variant, lane_of(g, thread, k));
    uint64_t x, y;
    for (uint32_t j = 0; j < g->vector && inside(block, from, &x, &y); j++) {
        const struct transpose_place place = transpose_along_x(from, g->vector, j);
        const uint64_t element = y * g->n + x + (place.x - from.x);
        memcpy(block->shared + transpose_slot(g->variant, g->pitch, place) * g->bytes,
               block->source + element * g->bytes, g->bytes);
    }
}

static void write_from_tile(struct block *block, uint32_t thread, uint32_t k)
{
    const struct transpose_geometry *g = block->g;
    const struct transpose_place to = transpose_write(g->variant, lane_of(g, thread, k));
    uint64_t x, y;
    for (uint32_t j = 0; j < g->vector && inside(block, to, &x, &y); j++) {
        const struct transpose_place place = transpose_along_y(to, g->vector, j);
        const uint64_t first = transpose_result(g->variant, g->n, g->m, (uint32_t)x, (uint32_t)y);
        memcpy(block->destination + (first + (place.y - to.y)) * g->bytes,
               block->shared + transpose_slot(g->variant, g->pitch, place) * g->bytes, g->bytes);
    }
}

/* Without a tile a thread keeps what it read. */
static void move_directly(struct block *block, uint32_t thread, uint32_t k)
{
    const struct transpose_geometry *g = block->g;
    uint64_t x, y;
    if (!inside(block, transpose_read(g->variant, lane_of(g, thread, k)), &x, &y))
        return;
    const unsigned char *from = block->source + (y * g->n + x) * g->bytes;
    if (inside(block, transpose_write(g->variant, lane_of(g, thread, k)), &x, &y))
        memcpy(block->destination + transpose_result(g->variant, g->n, g->m, (uint32_t)x, (uint32_t)y) * g->bytes, from,
               g->bytes);
}

static void each_access(struct block *block, void (*access)(struct block *, uint32_t thread, uint32_t k))
{
    for (uint32_t thread = 0; thread < block->g->threads; thread++)
        for (uint32_t k = 0; k < block->g->passes; k++)
            access(block, thread, k);
}

static void move_tiles(struct block *block)
{
    for (uint32_t i = 0; i < block->g->blocks; i++) {
        block->tile = transpose_tile_of(block->g, i);
        if (!transpose_has_tile(block->g)) {
            each_access(block, move_directly);
            continue;
        }
        memset(block->shared, 0xFF, sizeof block->shared);
        each_access(block, read_into_tile);
        each_access(block, write_from_tile);
    }
}

static void copy(const struct block *block)
{
    const struct transpose_geometry *g = block->g;
    for (uint64_t i = 0; i < (uint64_t)g->blocks * g->threads; i++) {
        const struct transpose_span span = transpose_copied(transpose_elements(g), g->vector, i);
        if (span.count > 0)
            memcpy(block->destination + span.element * g->bytes, block->source + span.element * g->bytes,
                   span.count * g->bytes);
    }
}

static int launch(const struct ub_launch *launch)
{
    struct transpose_geometry g;
    bool execute = false;
    if (transpose_resolve(launch->gpu, launch->point, &g) != NULL)
        return 1;
    int code = fake_begin(&ub_micro_transpose, launch, &execute);
    if (code != 0 || !execute)
        return code;
    struct block *block = malloc(sizeof *block);
    if (!block)
        return 2;
    block->g = &g;
    block->source = launch->buffers->pointers[0];
    block->destination = launch->buffers->pointers[1];
    if (g.variant == TRANSPOSE_COPY)
        copy(block);
    else
        move_tiles(block);
    if (fake_fault_at("wrong", &ub_micro_transpose, launch->point))
        block->destination[0] ^= 1;
    free(block);
    return 0;
}

/* The small instance, checked on the host by the rule's own verify(), is the proof here. */
static void describe(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_kernel *out)
{
    struct transpose_geometry g = {0};
    transpose_resolve(gpu, point, &g);
    *out = (struct ub_kernel){.function = &ub_micro_transpose,
                              .name = "transpose",
                              .grid = {g.blocks, 1, 1},
                              .block = {g.threads, 1, 1},
                              .dynamic_shared_bytes = transpose_shared_bytes(&g)};
}

const struct ub_code fake_code_transpose = {.launch = launch, .reference = fake_agree, .kernel = describe};
