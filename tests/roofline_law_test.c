/* SPDX-License-Identifier: MIT
 *
 * The rule `roofline` against closed forms: what is loaded and computed, where the ridge
 * lies, how long it takes on either side of it; that each part of the source is loaded
 * once; and its answers, halves included, against a host that looks for the nearest. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/contract/record.h"
#include "harness/engine/plan.h"
#include "micro/roofline/access.h"
#include "micro/roofline/rule.h"
#include "tests/rule_fixture.h"

extern const struct ub_micro ub_micro_roofline;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct ub_point point_of(const char *axes)
{
    return parse_point(&ub_micro_roofline, axes);
}

static struct ub_law law_of(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct ub_constants constants;
    struct ub_law law;
    ub_gpu_constants(gpu, &constants);
    roofline_law(gpu, &constants, point, &law);
    return law;
}

static double metric_at(const struct ub_gpu *gpu, const struct ub_point *point, double time_ns, const char *key)
{
    struct ub_constants constants;
    struct ub_metrics metrics = {0};
    ub_gpu_constants(gpu, &constants);
    const char *const keys[] = {"warp_instructions"};
    const uint64_t values[] = {1000000};
    const struct ub_facts facts = {.gpu = gpu,
                                   .constants = &constants,
                                   .point = point,
                                   .time_ns = time_ns,
                                   .counter_count = 1,
                                   .counter_keys = keys,
                                   .counter_values = values};
    ub_micro_roofline.metrics(&facts, &metrics);
    assert_int_equal(metrics.count, ub_micro_roofline.metric_count);
    for (size_t i = 0; i < metrics.count; i++)
        if (strcmp(metrics.items[i].key, key) == 0)
            return metrics.items[i].value;
    fail_msg("no metric %s", key);
    return NAN;
}

static bool near_to(double value, double wanted, double tolerance)
{
    return fabs(value / wanted - 1) <= tolerance;
}

/* ---- what is loaded ---------------------------------------------------------------- */

static void every_chunk_is_loaded_once(void **state)
{
    enum { BLOCKS = 5, CHUNKS = BLOCKS * ROOFLINE_BLOCK_BYTES / ROOFLINE_CHUNK_BYTES };
    unsigned char *seen = calloc(CHUNKS, 1);
    (void)state;
    assert_non_null(seen);
    for (uint32_t block = 0; block < BLOCKS; block++)
        for (uint32_t thread = 0; thread < ROOFLINE_BLOCK; thread++)
            for (uint32_t step = 0; step < ROOFLINE_STEPS; step++)
                for (uint32_t c = 0; c < ROOFLINE_CHUNKS; c++) {
                    const uint64_t chunk =
                        roofline_first(block, thread) + (uint64_t)step * roofline_step() + c * ROOFLINE_BLOCK;
                    assert_true(chunk < CHUNKS);
                    assert_int_equal(seen[chunk]++, 0);
                }
    for (size_t i = 0; i < CHUNKS; i++)
        assert_int_equal(seen[i], 1);
    free(seen);
}

static void counters_follow_from_size_and_fmas(void **state)
{
    static const int fmas[] = {0, 1, 2, 7, 31, 64, 97, 1023, 1024};
    static const struct {
        const char *type, *key;
        uint64_t bytes;
    } types[] = {{"fp32", "ffma", 4}, {"fp64", "dfma", 8}, {"half2", "hfma2", 4}};
    (void)state;
    for (size_t t = 0; t < COUNT(types); t++)
        for (size_t i = 0; i < COUNT(fmas); i++) {
            char axes[64];
            snprintf(axes, sizeof axes, "type=%s fmas=%d", types[t].type, fmas[i]);
            const struct ub_point point = point_of(axes);
            const struct ub_law law = law_of(h200(), &point);
            const uint64_t size = UINT64_C(2) << 30; /* 20 L2 caches of 50 MB are 1 GB; of 60 MB, 1.2 */
            uint64_t all = 0;
            for (size_t other = 0; other < COUNT(types); other++)
                all += counter(&law, types[other].key);
            const uint64_t threads = counter(&law, "global_load_bytes") / 128;
            /* constants, by HFMA2: two a thread, but for fp64 */
            const uint64_t constants = t == 1 || fmas[i] == 0 ? 0 : 2 * threads;
            const uint64_t found = counter(&law, "global_load_bytes");
            assert_true(found == size || found == size / 2);
            const uint64_t wanted = found / types[t].bytes * (uint64_t)fmas[i];
            assert_int_equal(counter(&law, types[t].key), wanted + (t == 2 ? constants : 0));
            assert_int_equal(all, wanted + constants);
            assert_int_equal(counter_of(&law, "hfma2")->class_, UB_SASS);
            assert_int_equal(counter(&law, "global_load_requests"), found / 512);
            assert_int_equal(counter(&law, "global_load_sectors"), found / 32);
            assert_int_equal(counter(&law, "dram_read_bytes"), found);
            assert_int_equal(counter(&law, "local_loads") + counter(&law, "local_stores"), 0);
            assert_false(counter_of(&law, "warp_instructions")->known);
        }
}

/* ---- the ridge and the time ---------------------------------------------------------- */

/* 512 bytes of elements go through an SM's units in a cycle, whatever the type. */
static void the_ridge_of_an_h200_is_the_same_for_all_types(void **state)
{
    static const char *const types[] = {"type=fp32", "type=fp64", "type=half2"};
    static const double peaks[] = {66.908e12, 33.454e12, 133.816e12}; /* data sheet: 67, 34, 134 */
    (void)state;
    for (size_t t = 0; t < COUNT(types); t++) {
        const struct ub_point point = point_of(types[t]);
        const double ridge = 512 * 132 * 1.98e9 / 4.68e12;
        assert_true(near_to(metric_at(h200(), &point, 1e6, "ridge_fmas"), ridge, 1e-9)); /* 28.6 */
        const double flops = metric_at(h200(), &point, 1e6, "flops");
        assert_true(near_to(flops / metric_at(h200(), &point, 1e6, "peak_share"), peaks[t], 1e-4));
    }
    /* An A100 has half the lanes of fp32 and fp64, but not of half2. */
    const struct ub_gpu *a100 = ub_gpu_find("a100");
    const struct ub_point fp32 = point_of("type=fp32"), half2 = point_of("type=half2");
    assert_true(
        near_to(metric_at(a100, &half2, 1e6, "ridge_fmas"), 2 * metric_at(a100, &fp32, 1e6, "ridge_fmas"), 1e-9));
}

static void intensity_is_operations_for_each_byte(void **state)
{
    static const struct {
        const char *axes;
        double flop_per_byte;
    } rows[] = {
        {"type=fp32 fmas=1", 0.5},    {"type=fp64 fmas=1", 0.25},   {"type=half2 fmas=1", 1},
        {"type=fp32 fmas=28", 14},    {"type=fp64 fmas=28", 7},     {"type=half2 fmas=28", 28},
        {"type=fp32 fmas=1024", 512}, {"type=fp64 fmas=1024", 256}, {"type=half2 fmas=0", 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_point point = point_of(rows[i].axes);
        assert_true(fabs(metric_at(h200(), &point, 1e6, "intensity") - rows[i].flop_per_byte) < 1e-12);
    }
}

/* The lower roof is reached where DRAM decides, the upper one where the lanes do, and no
 * time is less than either. */
static void both_roofs_are_reached_and_never_passed(void **state)
{
    static const char *const types[] = {"fp32", "fp64", "half2"};
    (void)state;
    for (size_t t = 0; t < COUNT(types); t++) {
        double before = 0;
        for (int fmas = 1; fmas <= 1024; fmas++) {
            char axes[64];
            snprintf(axes, sizeof axes, "type=%s fmas=%d", types[t], fmas);
            const struct ub_point point = point_of(axes);
            const struct ub_law law = law_of(h200(), &point);
            assert_true(law.time_ns >= before && law.tolerance > 0);
            before = law.time_ns;
            const double share = metric_at(h200(), &point, law.time_ns, "roof_share");
            assert_true(share < 1);
            assert_true(share > 0.7);
            if (fmas <= 4 || fmas >= 512)
                assert_true(share > 0.975);
            if (fmas <= 21 || fmas >= 28)
                assert_string_equal(law.bottleneck, fmas < 28 ? "dram" : "arithmetic");
        }
    }
}

/* An H200 whose DRAM gives 4.69 TB/s: ms for 2 GiB. */
static void what_an_h200_did(void **state)
{
    static const struct {
        const char *axes;
        double time_ms;
    } rows[] = {
        {"type=fp32 fmas=1", 0.4574},     {"type=fp32 fmas=20", 0.4591},     {"type=fp32 fmas=22", 0.4874},
        {"type=fp32 fmas=24", 0.5107},    {"type=fp32 fmas=28", 0.5690},     {"type=fp32 fmas=64", 1.1460},
        {"type=fp32 fmas=1024", 16.7854}, {"type=fp64 fmas=24", 0.4586},     {"type=fp64 fmas=28", 0.5077},
        {"type=fp64 fmas=64", 1.0822},    {"type=fp64 fmas=1024", 16.5025},  {"type=half2 fmas=24", 0.5107},
        {"type=half2 fmas=64", 1.1312},   {"type=half2 fmas=1024", 16.7276},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ub_point point = point_of(rows[i].axes);
        point.values[ROOFLINE_SIZE] = INT64_C(2) << 30;
        const struct ub_law law = law_of(h200(), &point);
        if (!near_to(rows[i].time_ms * 1e6, law.time_ns, 0.04))
            fail_msg("%s: predicted %g ns, an H200 took %g ms", rows[i].axes, law.time_ns, rows[i].time_ms);
    }
}

static void what_no_law_covers_has_no_time(void **state)
{
    (void)state;
    const struct ub_point small = point_of("size=16Mi fmas=8");
    struct ub_law law = law_of(h200(), &small);
    assert_true(isnan(law.time_ns) && law.tolerance == 0);
    assert_non_null(law.note);
    assert_string_equal(law.level, "l2");
    assert_false(counter_of(&law, "dram_read_bytes")->known);
    assert_int_equal(counter(&law, "ffma"), (16 << 20) / 4 * 8);
    struct ub_gpu strange = *h200();
    strange.cc_major = 99;
    const struct ub_point half2 = point_of("type=half2"), fp32 = point_of("type=fp32");
    law = law_of(&strange, &half2);
    assert_true(isnan(law.time_ns) && law.bottleneck == NULL);
    assert_false(counter_of(&law, "hfma2")->known || law.has_code);
    assert_non_null(law.note);
    assert_true(isfinite(law_of(&strange, &fp32).time_ns));
}

static void sizes_that_cannot_be_are_refused(void **state)
{
    static const struct {
        const char *axes, *reason;
    } rows[] = {
        {"size=1", "multiple of 32 KiB"},
        {"size=32767", "multiple of 32 KiB"},
        {"size=104729", "multiple of 32 KiB"},
        {"size=64Ti", "choose a smaller size"},
        {"size=32Ki", NULL},
        {"size=1Ti", NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ub_point point = point_of("fmas=1");
        point = strcmp(rows[i].axes, "size=64Ti") == 0 ? point : point_of(rows[i].axes);
        if (strcmp(rows[i].axes, "size=64Ti") == 0)
            point.values[ROOFLINE_SIZE] = INT64_C(1) << 46;
        const char *reason = ub_micro_roofline.supported(h200(), &point);
        assert_int_equal(reason == NULL, rows[i].reason == NULL);
        if (reason)
            assert_non_null(strstr(reason, rows[i].reason));
    }
}

static void every_sweep_for_every_card(void **state)
{
    (void)state;
    const struct ub_entry entry = {.micro = &ub_micro_roofline};
    for (size_t i = 0; i < ub_gpu_count(); i++) {
        struct ub_plan plan = {0};
        struct ub_error err = {0};
        if (!ub_plan_add(&plan, &entry, ub_gpu_at(i), UB_SUITE_FULL, NULL, 0, true, false, &err))
            fail_msg("%s", err.text);
        for (size_t n = 0; n < plan.count; n++) {
            assert_null(plan.points[n].skip);
            const struct ub_law law = law_of(ub_gpu_at(i), &plan.points[n].point);
            assert_true(counter(&law, "global_load_sectors") > 0);
            const bool in_dram = strcmp(law.level, "dram") == 0;
            assert_int_equal(isfinite(law.time_ns) != 0, in_dram && ub_gpu_at(i)->dram_bandwidth_bps > 0);
            assert_int_equal(law.time_ns > 0, law.bottleneck != NULL);
        }
        ub_plan_free(&plan);
    }
}

/* ---- answers ---------------------------------------------------------------------------- */

/* The value of a finite half. */
static double half_value(uint32_t half)
{
    const uint32_t exponent = half >> 10 & 31, mantissa = half & 1023;
    const double magnitude = exponent == 0 ? ldexp(mantissa, -24) : ldexp(1024 + mantissa, (int)exponent - 25);
    return half >> 15 ? -magnitude : magnitude;
}

/* The half nearest to `wanted`: of all, the one that is least away; of two, the even one. */
static uint32_t nearest_half(double wanted)
{
    uint32_t best = 0;
    for (uint32_t half = 0; half < 0x10000; half++) {
        if ((half & 0x7C00) == 0x7C00 || half == 0x8000)
            continue;
        const double away = fabs(half_value(half) - wanted), least = fabs(half_value(best) - wanted);
        if (away < least || (away == least && half % 2 == 0))
            best = half;
    }
    return best;
}

static uint64_t sum_of_word(uint32_t type, uint32_t word, uint32_t fmas)
{
    static uint32_t source[2];
    source[0] = word;
    source[1] = 0;
    const struct roofline_geometry g = {
        .type = type, .element_bytes = 4, .flops = 2, .fmas = fmas, .blocks = 1, .size_bytes = 4};
    return roofline_sum(&g, source);
}

static void halves_are_rounded_to_the_nearest(void **state)
{
    (void)state;
    /* every 37th of all halves, and those round the places where something changes */
    static const uint32_t special[] = {0,      1,      0x3FF,  0x400,  0x3BFF, 0x3C00, 0x3C01, 0x67FF, 0x6800, 0x6801,
                                       0x6BFF, 0x6C00, 0x7BFF, 0x8000, 0x8001, 0xBBFF, 0xBC00, 0xBC01, 0xC000, 0xFBFF};
    for (uint32_t i = 0; i < 0x10000 / 37 + COUNT(special); i++) {
        const uint32_t half = i < COUNT(special) ? special[i] : (i - (uint32_t)COUNT(special)) * 37;
        if ((half & 0x7C00) == 0x7C00)
            continue;
        const uint64_t got = sum_of_word(ROOFLINE_HALF2, half, 1) - 0x3C00; /* the other half was 0 */
        if (got != nearest_half(half_value(half) + 1))
            fail_msg("%04x + 1: %04x, expected %04x", half, (unsigned)got, nearest_half(half_value(half) + 1));
    }
    /* 1024 times: counts to 2048, where 1 is lost; infinity and no number stay */
    assert_int_equal(sum_of_word(ROOFLINE_HALF2, 0, 1024), 2 * 0x6400);
    assert_int_equal(sum_of_word(ROOFLINE_HALF2, 0x6800, 1024), 0x6800 + 0x6400);
    assert_int_equal(sum_of_word(ROOFLINE_HALF2, 0x7C00, 5), 0x7C00 + 0x4500);
    assert_int_equal(sum_of_word(ROOFLINE_HALF2, 0xFC00, 5), 0xFC00 + 0x4500);
    assert_int_equal(sum_of_word(ROOFLINE_HALF2, 0x7C01, 5), 1 + 0x4500);
    assert_int_equal(sum_of_word(ROOFLINE_HALF2, 0xFE00, 0), 1);
}

static void floats_count_what_is_done_to_them(void **state)
{
    (void)state;
    assert_int_equal(sum_of_word(ROOFLINE_FP32, 0, 0), 0);
    assert_int_equal(sum_of_word(ROOFLINE_FP32, 0, 1), 0x3F800000);
    assert_int_equal(sum_of_word(ROOFLINE_FP32, 0x3F800000, 1023), 0x44800000);
    assert_int_equal(sum_of_word(ROOFLINE_FP32, 0x4B800000, 1023), 0x4B800000); /* 2^24 */
    assert_int_equal(sum_of_word(ROOFLINE_FP32, 0x7FC00001, 3), 1);
    assert_int_equal(sum_of_word(ROOFLINE_FP32, 0xFF800000, 3), 0xFF800000);
    const double minus_five = -5;
    const struct roofline_geometry g = {.type = ROOFLINE_FP64, .element_bytes = 8, .fmas = 7, .size_bytes = 8};
    double two = 2;
    uint64_t bits;
    memcpy(&bits, &two, sizeof bits);
    assert_int_equal(roofline_sum(&g, &minus_five), bits);
}

static void answers_are_checked(void **state)
{
    static const char *const points[] = {"type=fp32 fmas=0", "type=fp32 fmas=13", "type=fp64 fmas=100",
                                         "type=half2 fmas=1"};
    (void)state;
    for (size_t i = 0; i < COUNT(points); i++) {
        const struct ub_point point = point_of(points[i]);
        struct ub_point small;
        struct ub_error err = {0};
        assert_true(ub_micro_roofline.small(h200(), &point, &small));
        struct ub_footprint footprint;
        ub_micro_roofline.footprint(h200(), &small, &footprint);
        assert_int_equal(footprint.count, 1);
        assert_int_equal(footprint.buffers[0].size_bytes, 3 * 32768);
        uint32_t *source = malloc(footprint.buffers[0].size_bytes);
        assert_non_null(source);
        for (uint32_t n = 0; n < footprint.buffers[0].size_bytes / 4; n++)
            source[n] = n * 2654435761u & 0x7EFEFEFE;
        const struct ub_buffers host = {
            .count = 1, .pointers = {source}, .sizes_bytes = {footprint.buffers[0].size_bytes}};
        struct roofline_geometry g;
        assert_null(roofline_resolve(h200(), &small, &g));
        const uint64_t sum = roofline_sum(&g, source);
        assert_true(ub_micro_roofline.verify(h200(), &small, &host, 1, sum, &err));
        assert_false(ub_micro_roofline.verify(h200(), &small, &host, 1, sum + 1, &err));
        assert_int_equal(err.status, UB_WRONG_ANSWER);
        /* one multiply-add too few is another sum */
        g.fmas++;
        assert_true(roofline_sum(&g, source) != sum);
        free(source);
    }
}

static void instructions_beside_are_counted_for_each_element(void **state)
{
    (void)state;
    const struct ub_point point = point_of("size=32Ki fmas=8");
    /* 8192 elements are 256 of a warp */
    assert_true(fabs(metric_at(h200(), &point, 1e6, "other_instructions") - (1e6 / 256 - 8)) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_chunk_is_loaded_once),
        cmocka_unit_test(counters_follow_from_size_and_fmas),
        cmocka_unit_test(the_ridge_of_an_h200_is_the_same_for_all_types),
        cmocka_unit_test(intensity_is_operations_for_each_byte),
        cmocka_unit_test(both_roofs_are_reached_and_never_passed),
        cmocka_unit_test(what_an_h200_did),
        cmocka_unit_test(what_no_law_covers_has_no_time),
        cmocka_unit_test(sizes_that_cannot_be_are_refused),
        cmocka_unit_test(every_sweep_for_every_card),
        cmocka_unit_test(halves_are_rounded_to_the_nearest),
        cmocka_unit_test(floats_count_what_is_done_to_them),
        cmocka_unit_test(answers_are_checked),
        cmocka_unit_test(instructions_beside_are_counted_for_each_element),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
