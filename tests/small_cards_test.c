/* SPDX-License-Identifier: MIT
 *
 * Every rule on cards that somebody may describe in a file (`--device model:FILE`) and nobody
 * builds: what such a card has not is refused with a reason, and of what is left nothing that
 * is predicted is nonsense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/rule_fixture.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { MOST_POINTS = 200 /* of a rule on a card, from all of its sweeps */ };

static void one_small_sm(struct ub_gpu *gpu)
{
    gpu->sms = 1;
    gpu->threads_per_block = 256;
    gpu->shared_per_sm_bytes = gpu->shared_per_block_bytes = gpu->shared_per_block_optin_bytes = 16 << 10;
    gpu->shared_reserved_bytes = 0;
    gpu->memory_bytes = UINT64_C(256) << 20;
}

/* Volta: no cp.async, no TMA, no clusters, no redux, and slow. */
static void old_and_slow(struct ub_gpu *gpu)
{
    one_small_sm(gpu);
    gpu->cc_major = 7;
    gpu->cc_minor = 0;
    gpu->warps_per_sm = 8;
    gpu->blocks_per_sm = 1;
    gpu->registers_per_sm = gpu->registers_per_block = 16 << 10;
    gpu->schedulers_per_sm = 1;
    gpu->fp32_lanes_per_sm = 32;
    gpu->fp64_lanes_per_sm = 1;
    gpu->l1_bytes = 32 << 10;
    gpu->l2_bytes = 128 << 10;
    gpu->copy_engines = 0;
    gpu->clock_boost_mhz = 100;
    gpu->dram_bandwidth_bps = 1e9;
}

/* The least of what a file may say. */
static void least(struct ub_gpu *gpu)
{
    old_and_slow(gpu);
    gpu->threads_per_block = 32;
    gpu->warps_per_sm = 1;
    gpu->shared_per_sm_bytes = gpu->shared_per_block_bytes = gpu->shared_per_block_optin_bytes = 1 << 10;
    gpu->registers_per_sm = gpu->registers_per_block = 1 << 10;
    gpu->registers_per_thread_max = 16;
    gpu->fp32_lanes_per_sm = 1;
    gpu->l1_bytes = gpu->l2_bytes = 1 << 10;
    gpu->memory_bytes = 1 << 20;
    gpu->clock_boost_mhz = 1;
}

/* The most. */
static void most(struct ub_gpu *gpu)
{
    gpu->sms = 4096;
    gpu->l2_bytes = UINT64_C(1000000000000);
    gpu->memory_bytes = UINT64_C(1000000000000000);
    gpu->clock_boost_mhz = 20000;
    gpu->dram_bandwidth_bps = 1e15;
}

static const struct {
    const char *name, *base;
    void (*change)(struct ub_gpu *);
} cards[] = {
    {"one small SM of an H200", "h200", one_small_sm},
    {"one small SM of a T4", "t4", one_small_sm},
    {"old and slow", "v100", old_and_slow},
    {"least", "v100", least},
    {"most", "h200", most},
};

/* ---- what may be said of a point --------------------------------------------------------- */

/* NULL, or what is wrong. */
static const char *wrong_time(const struct ub_law *law)
{
    if (isnan(law->time_ns) ? !law->note : !isfinite(law->time_ns) || law->time_ns <= 0)
        return "the time";
    for (size_t i = 0; i < law->term_count; i++)
        if (isinf(law->terms[i].time_ns) || law->terms[i].time_ns < 0)
            return law->terms[i].name;
    for (size_t i = 0; i < law->counter_count; i++)
        if (law->counters[i].known && law->counters[i].predicted > UINT64_C(1) << 62)
            return law->counters[i].key;
    return NULL;
}

/* What is hidden is negative where DRAM takes longer than load and work one after the other. */
static bool may_be_negative(const char *key)
{
    return strcmp(key, "load_hidden") == 0 || strcmp(key, "overlap") == 0;
}

static const char *wrong_metric(const struct ub_micro *micro, const struct ub_gpu *gpu,
                                const struct ub_constants *constants, const struct ub_point *point,
                                const struct ub_law *law)
{
    struct ub_metrics metrics;
    predicted_metrics(micro, gpu, constants, point, law, &metrics);
    for (size_t i = 0; i < metrics.count; i++)
        if (isinf(metrics.items[i].value) || (metrics.items[i].value < 0 && !may_be_negative(metrics.items[i].key)))
            return metrics.items[i].key;
    return NULL;
}

/* Where the kernels are built: what would be launched. A library's launches and copies have no
 * block of their own. */
static const char *wrong_launch(const struct ub_code *code, const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct ub_kernel kernel = {0};
    if (!code || !code->kernel)
        return NULL;
    code->kernel(gpu, point, &kernel);
    const uint64_t threads = (uint64_t)kernel.block[0] * kernel.block[1] * kernel.block[2];
    if (threads > (uint64_t)gpu->threads_per_block)
        return "threads of a block";
    if (kernel.dynamic_shared_bytes > gpu->shared_per_block_optin_bytes)
        return "shared memory of a block";
    if (threads > 0 && (kernel.grid[0] == 0 || kernel.grid[0] > INT32_MAX || kernel.grid[1] == 0 ||
                        kernel.grid[1] > UINT16_MAX || kernel.grid[2] == 0 || kernel.grid[2] > UINT16_MAX))
        return "the grid";
    return NULL;
}

static const char *wrong_small(const struct ub_micro *micro, const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct ub_point small;
    if (!micro->small || !micro->small(gpu, point, &small))
        return NULL;
    return micro->supported(gpu, &small);
}

static void check(const char *card_name, const struct ub_gpu *gpu, const struct ub_constants *constants,
                  const struct ub_planned *planned)
{
    const struct ub_micro *micro = planned->micro;
    const struct ub_point *point = &planned->point;
    struct ub_footprint footprint = {0};
    struct ub_law law = {.time_ns = NAN};
    if (planned->skip) {
        assert_true(strlen(planned->skip) > 10);
        return;
    }
    if (micro->refusal && micro->refusal(gpu, point))
        return;
    micro->footprint(gpu, point, &footprint);
    for (size_t i = 0; i < footprint.count; i++)
        assert_true(footprint.buffers[i].size_bytes > 0);
    micro->law(gpu, constants, point, &law);
    const char *wrongs[] = {wrong_time(&law), wrong_metric(micro, gpu, constants, point, &law),
                            wrong_launch(planned->code, gpu, point), wrong_small(micro, gpu, point)};
    for (size_t i = 0; i < COUNT(wrongs); i++) {
        char axes[512] = "", text[64];
        if (!wrongs[i])
            continue;
        for (size_t k = 0; k < micro->axis_count; k++)
            snprintf(axes + strlen(axes), sizeof axes - strlen(axes), " %s=%s", micro->axes[k].name,
                     ub_axis_text(&micro->axes[k], point->values[k], text, sizeof text));
        fail_msg("%s: %s%s: %s (%g ns)", card_name, micro->name, axes, wrongs[i], law.time_ns);
    }
}

static void nothing_is_nonsense(void **state)
{
    static const unsigned suites[] = {UB_SUITE_DEFAULT, UB_SUITE_QUICK, UB_SUITE_FULL};
    (void)state;
    for (size_t i = 0; i < COUNT(cards) * ub_entry_count; i++) {
        const size_t card_index = i / ub_entry_count;
        const struct ub_entry *entry = &ub_entries[i % ub_entry_count];
        struct ub_gpu gpu = *card(cards[card_index].base);
        struct ub_constants constants;
        struct ub_plan plan = {0};
        struct ub_error err = {0};
        cards[card_index].change(&gpu);
        gpu.name = cards[card_index].name;
        gpu.slug = NULL;
        ub_gpu_constants(&gpu, &constants);
        for (size_t k = 0; k < COUNT(suites); k++)
            if (!ub_plan_add(&plan, entry, &gpu, suites[k], NULL, 0, false, true, &err))
                fail_msg("%s", err.text);
        for (size_t k = 0; k < plan.count; k += 1 + plan.count / MOST_POINTS)
            check(cards[card_index].name, &gpu, &constants, &plan.points[k]);
        ub_plan_free(&plan);
    }
}

static void a_block_must_fit(void **state)
{
    struct ub_gpu gpu = *h200();
    (void)state;
    assert_null(ub_gpu_block_refused(&gpu, 1024, 48 << 10, 0));
    assert_null(ub_gpu_block_refused(&gpu, 1024, 0, 227 << 10));
    assert_non_null(strstr(ub_gpu_block_refused(&gpu, 1025, 0, 0), "fewer threads"));
    assert_non_null(strstr(ub_gpu_block_refused(&gpu, 32, (48 << 10) + 1, 0), "less shared memory"));
    assert_non_null(strstr(ub_gpu_block_refused(&gpu, 32, 0, (227 << 10) + 1), "less shared memory"));
    assert_non_null(strstr(ub_gpu_block_refused(&gpu, 32, 1 << 10, 227 << 10), "less shared memory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_nonsense),
        cmocka_unit_test(a_block_must_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
