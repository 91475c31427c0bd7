/* SPDX-License-Identifier: MIT
 *
 * `block_size` over the fake device: thread after thread. */
#include <stddef.h>

#include "micro/block_size/access.h"
#include "tests/fake/fake.h"

extern const struct ub_micro ub_micro_block_size;
extern const struct ub_code fake_code_block_size;

enum { INVALID_VALUE = 1 };

static void add(const struct block_size_geometry *g, const struct ub_buffers *buffers)
{
    const uint32_t *a = buffers->pointers[0], *b = buffers->pointers[1];
    uint32_t *c = buffers->pointers[2];
    const uint32_t words = g->bytes / BLOCK_SIZE_WORD_BYTES;
    for (uint32_t block = 0; block < g->blocks; block++)
        for (uint32_t thread = 0; thread < g->threads; thread++) {
            const uint64_t element = block_size_element(g->threads, block, thread);
            for (uint64_t i = element * words; element < g->elements && i < (element + 1) * words; i++)
                c[i] = a[i] + b[i];
        }
}

static int launch(const struct ub_launch *launch)
{
    struct block_size_geometry g;
    bool execute = false;
    if (block_size_resolve(launch->gpu, launch->point, &g) != NULL)
        return INVALID_VALUE;
    const int code = fake_begin(&ub_micro_block_size, launch, &execute);
    if (code != 0 || !execute || !launch->checked || g.work == BLOCK_SIZE_EMPTY)
        return code;
    add(&g, launch->buffers);
    if (fake_fault_at("wrong", &ub_micro_block_size, launch->point))
        ((uint32_t *)launch->buffers->pointers[2])[g.numbers / 2]++;
    return 0;
}

static int reference(const struct ub_launch *launch)
{
    struct block_size_geometry g;
    if (block_size_resolve(launch->gpu, launch->point, &g) != NULL)
        return INVALID_VALUE;
    const uint32_t *const *vectors = (const uint32_t *const *)launch->buffers->pointers;
    for (uint64_t i = 0; g.work == BLOCK_SIZE_ADD && i < g.numbers; i++)
        launch->results[UB_RESULT_MISMATCHES] += vectors[2][i] - vectors[1][i] != vectors[0][i];
    return 0;
}

static void describe(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_kernel *out)
{
    struct block_size_geometry g;
    *out = (struct ub_kernel){.function = &ub_micro_block_size, .name = "block_size"};
    if (block_size_resolve(gpu, point, &g) != NULL)
        return;
    fake_shape(out, g.blocks, g.threads);
}

const struct ub_code fake_code_block_size = {.launch = launch, .reference = reference, .kernel = describe};
