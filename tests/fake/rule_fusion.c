/* SPDX-License-Identifier: MIT
 *
 * `fusion` over the fake device: the groups that the kernels of the GPU load and store, in
 * the order of access.h; what is computed of them is the rule's own arithmetic, in plain C. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "micro/fusion/access.h"
#include "micro/fusion/rule.h"
#include "tests/fake/fake.h"

extern const struct ub_micro ub_micro_fusion;
extern const struct ub_code fake_code_fusion;

enum { INVALID_VALUE = 1 };

/* `steps` steps of every group of a kernel, the first of them number `first`. */
static void run_steps(const struct fusion_geometry *g, const float *source, float *target, uint32_t first,
                      uint32_t steps)
{
    const uint64_t groups = g->elements / FUSION_GROUP;
    for (uint32_t block = 0; block <= groups / FUSION_BLOCK; block++)
        for (uint32_t thread = 0; thread < FUSION_BLOCK && fusion_group(block, thread) < groups; thread++)
            for (uint32_t i = 0; i < FUSION_GROUP; i++) {
                const uint64_t at = fusion_group(block, thread) * FUSION_GROUP + i;
                float x = source[at];
                for (uint32_t step = first; step < first + steps; step++)
                    x = g->op == FUSION_FMA ? x + 1.0f / 1024 : exp2f(-x) + (float)step / 1024;
                target[at] = x;
            }
}

static void run_elementwise(const struct fusion_geometry *g, void *const *buffers)
{
    const float *from = buffers[0];
    for (uint32_t kernel = 0; kernel < g->kernels; kernel++) {
        float *to = buffers[(g->kernels - kernel) % 2 == 1 ? 1 : 2];
        run_steps(g, from, to, kernel, g->steps / g->kernels);
        from = to;
    }
}

static void softmax_row(const float *row, float *result, uint32_t length, double scale)
{
    double total = 0;
    for (uint32_t i = 0; i < length; i++)
        total += exp(row[i] * scale);
    for (uint32_t i = 0; i < length; i++)
        result[i] = (float)(exp(row[i] * scale) / total);
}

static void run_softmax(const struct fusion_geometry *g, void *const *buffers)
{
    for (uint32_t block = 0; block < g->rows; block++) {
        const uint64_t first = fusion_row(g->length, block) * FUSION_GROUP;
        softmax_row((const float *)buffers[0] + first, (float *)buffers[1] + first, g->length,
                    (double)fusion_softmax_scale);
    }
}

/* A thread's part of a tile, as the kernels load it. */
static void load_tile(const float *matrix, uint64_t first_row, float *tile)
{
    for (uint32_t thread = 0; thread < FUSION_BLOCK; thread++)
        for (uint32_t k = 0; k < FUSION_GROUP; k++) {
            const uint32_t row = fusion_tile_row(thread, k), column = fusion_tile_column(thread);
            memcpy(tile + (row * FUSION_THREADS + column) * FUSION_GROUP,
                   matrix + (fusion_matrix_row(first_row + row, FUSION_DIM) + column) * FUSION_GROUP,
                   FUSION_GROUP_BYTES);
        }
}

static double product(const float *a, const float *b)
{
    double sum = 0;
    for (uint32_t d = 0; d < FUSION_DIM; d++)
        sum += (double)a[d] * b[d];
    return sum;
}

/* 64 queries of a head. */
static void attend(const struct fusion_geometry *g, const float *source, float *target, uint64_t head, uint32_t block)
{
    static float query[FUSION_TILE_FLOATS], key[FUSION_TILE_FLOATS], value[FUSION_TILE_FLOATS];
    static double sums[FUSION_TILE_FLOATS], totals[FUSION_TILE];
    const uint64_t part = (uint64_t)g->rows * FUSION_DIM, first = head + (uint64_t)block * FUSION_TILE;
    memset(sums, 0, sizeof sums);
    memset(totals, 0, sizeof totals);
    load_tile(source, first, query);
    for (uint32_t tile = 0; tile < g->tiles; tile++) {
        load_tile(source + part, head + (uint64_t)tile * FUSION_TILE, key);
        load_tile(source + 2 * part, head + (uint64_t)tile * FUSION_TILE, value);
        for (uint32_t q = 0; q < FUSION_TILE; q++)
            for (uint32_t k = 0; k < FUSION_TILE; k++) {
                const double weight =
                    exp(product(query + q * FUSION_DIM, key + k * FUSION_DIM) * (double)fusion_attention_scale);
                totals[q] += weight;
                for (uint32_t d = 0; d < FUSION_DIM; d++)
                    sums[q * FUSION_DIM + d] += weight * value[k * FUSION_DIM + d];
            }
    }
    for (uint32_t thread = 0; thread < FUSION_BLOCK; thread++)
        for (uint32_t i = 0; i < FUSION_GROUP; i++)
            for (uint32_t j = 0; j < FUSION_GROUP; j++) {
                const uint32_t row = fusion_own_row(thread) + i, column = fusion_own_column(thread) * FUSION_GROUP + j;
                target[fusion_matrix_row(first + row, FUSION_DIM) * FUSION_GROUP + column] =
                    (float)(sums[row * FUSION_DIM + column] / totals[row]);
            }
}

static void run_attention(const struct fusion_geometry *g, void *const *buffers)
{
    for (uint32_t head = 0; head < g->heads; head++)
        for (uint32_t block = 0; block < g->tiles; block++)
            attend(g, buffers[0], buffers[1], (uint64_t)head * g->seq, block);
}

static int launch(const struct ub_launch *launch)
{
    static void (*const run[FUSION_WORKS])(const struct fusion_geometry *,
                                           void *const *) = {run_elementwise, run_softmax, run_attention};
    struct fusion_geometry g;
    bool execute = false;
    if (fusion_resolve(launch->gpu, launch->point, &g) != NULL)
        return INVALID_VALUE;
    const int code = fake_begin(&ub_micro_fusion, launch, &execute);
    if (code != 0 || !execute || !launch->checked)
        return code;
    run[g.work](&g, launch->buffers->pointers);
    if (fake_fault_at("wrong", &ub_micro_fusion, launch->point))
        ((float *)launch->buffers->pointers[1])[0] += 1;
    return 0;
}

/* The small instance, checked on the host by the rule's own verify(), is the proof here. */
static void describe(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_kernel *out)
{
    struct fusion_geometry g = {0};
    *out = (struct ub_kernel){
        .function = &ub_micro_fusion, .name = "fusion", .grid = {1, 1, 1}, .block = {FUSION_BLOCK, 1, 1}};
    if (fusion_resolve(gpu, point, &g) == NULL && g.work == FUSION_SOFTMAX)
        out->grid[0] = g.rows;
}

const struct ub_code fake_code_fusion = {.launch = launch, .reference = fake_agree, .kernel = describe};
