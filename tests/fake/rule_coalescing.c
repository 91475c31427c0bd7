/* SPDX-License-Identifier: MIT
 *
 * The rule `coalescing` over the fake device: its kernels as loops on the host,
 * through the same access.h. */
#include <string.h>

#include "micro/coalescing/access.h"
#include "tests/fake/fake.h"

extern const struct ub_micro ub_micro_coalescing;
extern const struct ub_code fake_code_coalescing;

/* What a store writes: the formula of kernel.cu, `word`. */
static void make_value(unsigned char *to, uint32_t bytes, uint64_t element, uint64_t seed)
{
    uint32_t key = (uint32_t)(seed ^ (seed >> 32));
    uint32_t words[4];
    for (uint32_t i = 0; i < 4; i++)
        words[i] = ((uint32_t)element * 0x9E3779B9u + key + i * 0x85EBCA6Bu) & 0x7FFFFFFFu;
    if (bytes < 4)
        words[0] >>= 32 - 8 * bytes;
    memcpy(to, words, bytes);
}

/* One number of a loaded value: the formula of kernel.cu, `fold`. */
static uint64_t fold(const unsigned char *from, uint32_t bytes)
{
    uint32_t words[4] = {0};
    memcpy(words, from, bytes);
    uint64_t low = words[0] + ((uint64_t)words[1] << 32);
    return bytes == 16 ? low + 3 * (words[2] + ((uint64_t)words[3] << 32)) : low;
}

static void one_access(const struct ub_launch *launch, const struct coalescing_geometry *g, uint64_t element,
                       uint64_t weight)
{
    unsigned char *source = launch->buffers->pointers[0];
    unsigned char *destination = launch->buffers->pointers[g->op == COALESCING_STORE ? 0 : 1];
    uint64_t at = element * g->bytes;
    if (g->op == COALESCING_STORE)
        make_value(destination + at, g->bytes, element, launch->seed);
    else if (g->op == COALESCING_COPY)
        memcpy(destination + at, source + at, g->bytes);
    else if (launch->checked)
        launch->results[UB_RESULT_CHECKSUM] += fold(source + at, g->bytes) * weight;
}

static void one_thread(const struct ub_launch *launch, const struct coalescing_geometry *g, uint32_t block,
                       uint32_t thread)
{
    enum coalescing_pattern pattern = (enum coalescing_pattern)g->pattern;
    for (uint32_t field = 0; field < g->fields; field++) {
        uint64_t base = coalescing_base(g, pattern, block, thread, field);
        for (uint32_t k = 0; k < g->per_thread; k++) {
            uint64_t access = (uint64_t)block * g->per_thread * g->block + k * g->block + thread;
            one_access(launch, g, coalescing_element(g, pattern, base, k), 2 * (access * g->fields + field) + 1);
        }
    }
}

static void spoil(const struct ub_launch *launch, const struct coalescing_geometry *g)
{
    if (g->op == COALESCING_LOAD)
        launch->results[UB_RESULT_CHECKSUM] ^= 1;
    else
        *(unsigned char *)launch->buffers->pointers[g->op == COALESCING_STORE ? 0 : 1] ^= 1;
}

static int coalescing_launch(const struct ub_launch *launch)
{
    struct coalescing_geometry g;
    bool execute = false;
    if (coalescing_resolve(launch->gpu, launch->point, &g) != NULL)
        return 1;
    int code = fake_begin(&ub_micro_coalescing, launch, &execute);
    if (code != 0 || !execute)
        return code;
    for (uint32_t block = 0; block < g.blocks; block++)
        for (uint32_t thread = 0; thread < g.block; thread++)
            one_thread(launch, &g, block, thread);
    if (fake_fault_at("wrong", &ub_micro_coalescing, launch->point))
        spoil(launch, &g);
    return 0;
}

/* The small instance, checked on the host by the rule's own verify(), is the proof
 * here; the full one is taken to agree. */
static int coalescing_reference(const struct ub_launch *launch)
{
    launch->results[UB_RESULT_EXPECTED] = launch->results[UB_RESULT_CHECKSUM];
    return 0;
}

static void coalescing_kernel(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_kernel *out)
{
    struct coalescing_geometry g = {0};
    coalescing_resolve(gpu, point, &g);
    *out = (struct ub_kernel){
        .function = &ub_micro_coalescing, .name = "coalescing", .grid = {g.blocks, 1, 1}, .block = {g.block, 1, 1}};
}

const struct ub_code fake_code_coalescing = {
    .launch = coalescing_launch, .reference = coalescing_reference, .kernel = coalescing_kernel};
