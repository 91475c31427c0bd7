/* SPDX-License-Identifier: MIT
 *
 * The rule `fusion` against closed forms: what each variant asks of global memory, what of
 * it comes from DRAM, where arithmetic takes over and how long an H200 took; and that every
 * group of floats is accessed once. */
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
#include "micro/fusion/access.h"
#include "micro/fusion/rule.h"
#include "tests/rule_fixture.h"

extern const struct ub_micro ub_micro_fusion;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct ub_law law_of(const struct ub_gpu *gpu, const struct ub_point *point)
{
    struct ub_constants constants;
    struct ub_law law;
    ub_gpu_constants(gpu, &constants);
    fusion_law(gpu, &constants, point, &law);
    return law;
}

static struct ub_law law_at(const char *axes)
{
    const struct ub_point point = parse_point(&ub_micro_fusion, axes);
    return law_of(h200(), &point);
}

static uint64_t up(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

/* ---- who accesses what -------------------------------------------------------------- */

static void every_group_of_a_tile_is_accessed_once(void **state)
{
    unsigned char loaded[FUSION_TILE][FUSION_THREADS] = {{0}}, stored[FUSION_TILE][FUSION_THREADS] = {{0}};
    (void)state;
    for (uint32_t thread = 0; thread < FUSION_BLOCK; thread++)
        for (uint32_t k = 0; k < FUSION_GROUP; k++) {
            loaded[fusion_tile_row(thread, k)][fusion_tile_column(thread)]++;
            stored[fusion_own_row(thread) + k][fusion_own_column(thread)]++;
        }
    for (uint32_t row = 0; row < FUSION_TILE; row++)
        for (uint32_t column = 0; column < FUSION_THREADS; column++)
            assert_true(loaded[row][column] == 1 && stored[row][column] == 1);
}

static void groups_and_rows_stand_side_by_side(void **state)
{
    (void)state;
    for (uint32_t block = 0; block < 3; block++)
        for (uint32_t thread = 0; thread < FUSION_BLOCK; thread++)
            assert_int_equal(fusion_group(block, thread), block * 256 + thread);
    assert_int_equal(fusion_group(UINT32_MAX, 255), ((UINT64_C(1) << 32) - 1) * 256 + 255);
    assert_int_equal(fusion_row(12, 5), 15);
    assert_int_equal(fusion_row(1 << 20, 1 << 20), UINT64_C(1) << 38);
    assert_int_equal(fusion_matrix_row(7, 64), 7 * 16);
}

/* ---- counters ------------------------------------------------------------------------- */

static void expect_traffic(const char *axes, const struct ub_law *law, const uint64_t loads[3],
                           const uint64_t stores[3])
{
    static const char *const keys[] = {"global_load_requests",  "global_load_sectors",  "global_load_bytes",
                                       "global_store_requests", "global_store_sectors", "global_store_bytes"};
    for (size_t i = 0; i < COUNT(keys); i++) {
        const uint64_t wanted = i < 3 ? loads[i] : stores[i - 3];
        if (counter(law, keys[i]) != wanted)
            fail_msg("%s: %s is %llu, not %llu", axes, keys[i], (unsigned long long)counter(law, keys[i]),
                     (unsigned long long)wanted);
        assert_int_equal(counter_of(law, keys[i])->class_, UB_STRUCTURAL);
    }
    assert_int_equal(counter(law, "local_loads") + counter(law, "local_stores"), 0);
}

/* Each kernel loads and stores each float once: 128 a request, 8 a sector. */
static void k_kernels_move_k_times_as_much(void **state)
{
    static const uint64_t sizes[] = {4, 100, 128, 132, 1024, 1028, 1000004, UINT64_C(1) << 27, UINT64_C(1) << 36};
    static const uint32_t steps[] = {1, 2, 3, 16, 1024};
    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t s = 0; s < COUNT(steps); s++)
            for (int split = 0; split < 2; split++)
                for (int exponential = 0; exponential < 2; exponential++) {
                    char axes[100];
                    snprintf(axes, sizeof axes, "n=%llu steps=%u variant=%s op=%s", (unsigned long long)sizes[i],
                             steps[s], split ? "split" : "fused", exponential ? "exp" : "fma");
                    const struct ub_law law = law_at(axes);
                    const uint64_t kernels = split ? steps[s] : 1, n = sizes[i];
                    const uint64_t wanted[] = {kernels * up(n, 128), kernels * up(n, 8), kernels * n * 4};
                    expect_traffic(axes, &law, wanted, wanted);
                    assert_int_equal(counter(&law, "ffma"), exponential ? 0 : n * steps[s]);
                    assert_int_equal(counter(&law, "blocks_launched"), kernels * up(n, 1024));
                    assert_int_equal(counter(&law, "l2_read_sectors"), wanted[1]);
                    assert_int_equal(counter(&law, "l2_write_sectors"), wanted[1]);
                }
}

/* Row by row: whole and partial requests of 32 groups, from wherever a row begins. */
static void passes_are_counted_row_by_row(void **state)
{
    static const uint32_t lengths[] = {4, 8, 12, 60, 64, 124, 128, 132, 500, 512, 516, 1020, 1028, 4096, 5000, 16380};
    static const uint32_t rows[] = {1, 2, 7, 8, 9, 37};
    static const char *const variants[] = {"split", "passes", "online", "fused"};
    static const uint64_t passes[] = {3, 3, 2, 1};
    (void)state;
    for (size_t i = 0; i < COUNT(lengths) * COUNT(rows); i++) {
        const uint32_t length = lengths[i / COUNT(rows)], count = rows[i % COUNT(rows)];
        uint64_t one[3] = {0, 0, (uint64_t)length * count * 4};
        for (uint64_t row = 0; row < count; row++)
            for (uint64_t from = row * length * 4, end = from + length * 4; from < end; from += 512) {
                const uint64_t last = (from + 512 < end ? from + 512 : end) - 1;
                one[0]++;
                one[1] += last / 32 - from / 32 + 1;
            }
        for (size_t v = 0; v < COUNT(variants); v++) {
            char axes[100];
            snprintf(axes, sizeof axes, "work=softmax length=%u rows=%u variant=%s", length, count, variants[v]);
            const struct ub_law law = law_at(axes);
            /* split: each warp with a part loads the maximum twice and the sum once, a thread stores each */
            const uint64_t more = v == 0 ? count : 0, warps = up(length, 128) < 8 ? up(length, 128) : 8;
            const uint64_t loads[] = {passes[v] * one[0] + 3 * warps * more, passes[v] * one[1] + 3 * warps * more,
                                      passes[v] * one[2] + 12 * warps * more};
            const uint64_t stores[] = {one[0] + 2 * more, one[1] + 2 * more, one[2] + 8 * more};
            expect_traffic(axes, &law, loads, stores);
            assert_int_equal(counter(&law, "blocks_launched"), v == 0 ? 3 * count : count);
            assert_false(counter_of(&law, "ffma")->known);
            assert_int_equal(counter_of(&law, "l2_write_sectors")->known, length % 8 == 0);
            assert_int_equal(counter_of(&law, "l2_read_sectors")->known, length % 8 == 0 && v == 3);
        }
    }
}

/* A tile of 64 x 64 floats is 16 KiB, 512 sectors, 32 requests. */
static void attention_moves_tiles(void **state)
{
    static const struct {
        uint32_t seq, heads;
    } rows[] = {{64, 1}, {128, 3}, {192, 2}, {1024, 4}, {8192, 1}, {16384, 7}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const uint64_t heads = rows[i].heads, t = rows[i].seq / 64, all = heads * rows[i].seq;
        char axes[100];
        snprintf(axes, sizeof axes, "work=attention seq=%u heads=%u variant=fused", rows[i].seq, rows[i].heads);
        struct ub_law law = law_at(axes);
        /* queries once, keys and values for each 64 queries */
        const uint64_t tiles_in = heads * t * (1 + 2 * t), tiles_out = heads * t;
        const uint64_t in[] = {32 * tiles_in, 512 * tiles_in, 16384 * tiles_in};
        const uint64_t out[] = {32 * tiles_out, 512 * tiles_out, 16384 * tiles_out};
        expect_traffic(axes, &law, in, out);
        assert_int_equal(counter(&law, "blocks_launched"), tiles_out);
        snprintf(axes, sizeof axes, "work=attention seq=%u heads=%u variant=split", rows[i].seq, rows[i].heads);
        law = law_at(axes);
        /* queries and keys, scores, weights and values; scores, weights and result */
        const uint64_t square = heads * t * t, pass = all * up(rows[i].seq, 128);
        const uint64_t split_in[] = {128 * square + pass, 5 * 512 * square, 5 * 16384 * square};
        const uint64_t split_out[] = {32 * (square + tiles_out) + pass, 512 * (2 * square + tiles_out),
                                      16384 * (2 * square + tiles_out)};
        expect_traffic(axes, &law, split_in, split_out);
        assert_int_equal(counter(&law, "blocks_launched"), square + all + tiles_out);
    }
}

static void dram_has_what_caches_do_not_keep(void **state)
{
    static const struct {
        const char *axes;
        double read, write; /* MB; 0: not known */
    } rows[] = {
        {"n=134217728 steps=8 variant=split", 8 * 536.870912, 8 * 536.870912},
        {"n=134217728 steps=8 variant=fused", 536.870912, 536.870912},
        {"n=16Mi steps=4 variant=split", 4 * 67.108864, 4 * 67.108864},
        {"n=8Mi steps=4 variant=split", 0, 0}, /* 64 MiB by the kernel, two L2 caches are 120 */
        {"n=64Ki steps=4 variant=split", 0, 0},
        {"work=softmax length=4096 variant=fused", 536.870912, 536.870912},
        {"work=softmax length=3072 rows=43690 variant=passes", 536.862720, 536.862720},
        {"work=softmax length=8192 variant=passes", 0, 536.870912},
        {"work=softmax length=32768 variant=passes", 3 * 536.870912, 536.870912},
        {"work=softmax length=32768 variant=online", 2 * 536.870912, 536.870912},
        {"work=softmax length=1024 variant=split", 3 * 536.870912, 536.870912},
        {"work=softmax length=1024 rows=8 variant=split", 0, 0},
        {"work=attention seq=512 variant=split", 2 * 268.435456 + 3 * 33.554432, 2 * 268.435456 + 33.554432},
        {"work=attention seq=512 variant=fused", 3 * 33.554432, 33.554432},
        {"work=attention seq=8192 variant=split", 2 * 268.435456 + 3 * 2.097152, 2 * 268.435456 + 2.097152},
        {"work=attention seq=8192 variant=fused", 0, 0}, /* queries, keys and values stay in L2 */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_law law = law_at(rows[i].axes);
        const struct ub_law_counter *read = counter_of(&law, "dram_read_bytes"),
                                    *write = counter_of(&law, "dram_write_bytes");
        if (read->known != (rows[i].read > 0) || write->known != (rows[i].write > 0) ||
            (read->known && fabs((double)read->predicted - rows[i].read * 1e6) > 1) ||
            (write->known && fabs((double)write->predicted - rows[i].write * 1e6) > 1))
            fail_msg("%s: %llu read, %llu written", rows[i].axes, (unsigned long long)read->predicted,
                     (unsigned long long)write->predicted);
        assert_non_null(read->reason);
        assert_non_null(write->reason);
    }
}

/* ---- time ----------------------------------------------------------------------------- */

static void k_kernels_take_k_times_as_long(void **state)
{
    const struct ub_law one = law_at("steps=1 variant=split");
    (void)state;
    for (int steps = 2; steps <= 32; steps++) {
        char axes[64];
        snprintf(axes, sizeof axes, "steps=%d variant=split", steps);
        const struct ub_law split = law_at(axes);
        assert_true(fabs(split.time_ns / (steps * one.time_ns) - 1) < 1e-9);
        assert_string_equal(split.bottleneck, "dram");
        snprintf(axes, sizeof axes, "steps=%d variant=fused", steps);
        const struct ub_law fused = law_at(axes);
        assert_true(steps > 24 || fabs(fused.time_ns / one.time_ns - 1) < 1e-9);
    }
}

/* 128 multiply-adds, 16 exponentials an SM and cycle against 16 bytes of DRAM. */
static void arithmetic_takes_over(void **state)
{
    static const struct {
        const char *op;
        int last_dram, first_arithmetic;
    } rows[] = {{"fma", 36, 40}, {"exp", 7, 8}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        double before = 0;
        for (int steps = 1; steps <= 1024; steps++) {
            char axes[64];
            snprintf(axes, sizeof axes, "op=%s steps=%d", rows[i].op, steps);
            const struct ub_law law = law_at(axes);
            assert_true(law.time_ns >= before && law.tolerance > 0);
            before = law.time_ns;
            if (steps <= rows[i].last_dram)
                assert_string_equal(law.bottleneck, "dram");
            if (steps >= rows[i].first_arithmetic)
                assert_string_equal(law.bottleneck, "arithmetic");
        }
    }
}

/* us; 2^27 floats where nothing else is said. */
static void what_an_h200_did(void **state)
{
    static const struct {
        const char *axes;
        double time_us, tolerance;
    } rows[] = {
        {"steps=1 variant=split", 251.7, 0.02},
        {"steps=4 variant=split", 1009.1, 0.02},
        {"steps=16 variant=split", 4034.0, 0.02},
        {"steps=16 variant=fused", 251.7, 0.02},
        {"steps=24 variant=fused", 254.3, 0.02},
        {"steps=32 variant=fused", 265.1, 0.06},
        {"steps=48 variant=fused", 308.0, 0.05},
        {"steps=64 variant=fused", 373.9, 0.05},
        {"steps=128 variant=fused", 648.0, 0.02},
        {"steps=512 variant=fused", 2336.5, 0.02},
        {"op=exp steps=4", 251.8, 0.02},
        {"op=exp steps=8", 271.4, 0.03},
        {"op=exp steps=12", 394.6, 0.02},
        {"op=exp steps=128", 4147.6, 0.02},
        {"n=16Ki steps=8 variant=split", 7.493, 0.03},
        {"n=256Ki steps=8 variant=split", 9.505, 0.03},
        {"n=1Mi steps=8 variant=split", 15.882, 0.02},
        {"n=16Ki steps=8 variant=fused", 0.986, 0.05},
        {"n=1Mi steps=8 variant=fused", 2.219, 0.05},
        {"n=4Mi steps=8 variant=fused", 5.433, 0.05},
        {"n=16Mi steps=8 variant=split", 263.96, 0.03},
        {"n=16Mi steps=8 variant=fused", 32.94, 0.03},
        {"work=softmax length=4096 variant=split", 502.7, 0.03},
        {"work=softmax length=131072 variant=split", 522.3, 0.03},
        {"work=softmax length=32768 variant=passes", 507.6, 0.03},
        {"work=softmax length=131072 variant=passes", 514.8, 0.03},
        {"work=softmax length=2048 variant=online", 270.8, 0.03},
        {"work=softmax length=32768 variant=online", 391.6, 0.03},
        {"work=softmax length=1024 variant=fused", 269.4, 0.04},
        {"work=softmax length=4096 variant=fused", 261.8, 0.03},
        {"work=softmax length=16384 variant=fused", 260.8, 0.03},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_law law = law_at(rows[i].axes);
        const double residual = rows[i].time_us * 1e3 / law.time_ns - 1;
        if (!(fabs(residual) <= rows[i].tolerance) || !(rows[i].tolerance <= law.tolerance))
            fail_msg("%s: predicted %g us, an H200 took %g, %.1f %%", rows[i].axes, law.time_ns * 1e-3, rows[i].time_us,
                     100 * residual);
    }
}

static void what_no_law_covers_has_no_time(void **state)
{
    static const struct {
        const char *axes, *note;
    } rows[] = {
        {"n=2Mi variant=split", "a part of the arrays"},
        {"n=8Mi variant=fused", "a part of the arrays"},
        {"work=softmax length=2048 variant=split", "short rows"},
        {"work=softmax length=2048 variant=passes", "short rows"},
        {"work=softmax length=1024 variant=online", "short rows"},
        {"work=softmax length=1020 variant=fused", "short rows"},
        {"n=1020", "less than a block"},
        {"n=64Ki op=exp", "chain of exponentials"},
        {"work=softmax length=8192 variant=online", "a part of the rows"},
        {"work=softmax length=16384 variant=passes", "a part of the rows"},
        {"n=1280Ki variant=split", "a part of the arrays"}, /* 1280 blocks, 1056 run at once */
        {"work=softmax length=4096 rows=64 variant=fused", "stay in L2"},
        {"work=attention seq=512 variant=split", "only the bytes hold"},
        {"work=attention seq=8192 variant=fused", "only the bytes hold"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_law law = law_at(rows[i].axes);
        assert_true(isnan(law.time_ns) && law.tolerance == 0 && law.bottleneck == NULL);
        if (law.note == NULL || strstr(law.note, rows[i].note) == NULL)
            fail_msg("%s: %s", rows[i].axes, law.note ? law.note : "no note");
    }
}

/* ---- points --------------------------------------------------------------------------- */

static void points_that_cannot_be_are_refused(void **state)
{
    static const struct {
        const char *axes, *reason;
    } rows[] = {
        {"n=5", "multiple of 4"},
        {"n=104729", "multiple of 4"},
        {"n=4", NULL},
        {"variant=passes", "split or fused"},
        {"length=1024", "work=softmax only (leave it at 4096)"},
        {"rows=1", "work=softmax only"},
        {"seq=1024", "work=attention only (leave it at 2048)"},
        {"heads=1", "work=attention only"},
        {"work=softmax op=exp", "work=elementwise only"},
        {"work=softmax steps=4", "work=elementwise only (leave it at 8)"},
        {"work=attention n=1024", "work=elementwise only"},
        {"work=attention length=1024", "work=softmax only"},
        {"work=softmax length=4096 steps=8 op=fma", NULL},
        {"variant=online", "split or fused"},
        {"work=softmax length=5", "multiple of 4"},
        {"work=softmax length=104729", "multiple of 4"},
        {"work=softmax length=16388", "16384 floats at most"},
        {"work=softmax length=16388 variant=online", NULL},
        {"work=softmax length=1048576 rows=1048576 variant=online", "2^38"},
        {"work=softmax length=4 rows=1", NULL},
        {"work=attention seq=100", "multiple of 64"},
        {"work=attention variant=passes", "split or fused"},
        {"work=attention seq=16384 heads=65535", "2^38"},
        {"work=attention seq=64 heads=1", NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_point point = parse_point(&ub_micro_fusion, rows[i].axes);
        const char *reason = ub_micro_fusion.supported(h200(), &point);
        if ((reason == NULL) != (rows[i].reason == NULL) || (reason && !strstr(reason, rows[i].reason)))
            fail_msg("%s: %s", rows[i].axes, reason ? reason : "accepted");
    }
}

static double metric_of(const struct ub_point *point, const char *key)
{
    struct ub_constants constants;
    struct ub_metrics metrics = {0};
    ub_gpu_constants(h200(), &constants);
    const struct ub_law law = law_of(h200(), point);
    const char *keys[UB_MAX_COUNTERS];
    uint64_t values[UB_MAX_COUNTERS];
    struct ub_facts facts = {.gpu = h200(),
                             .constants = &constants,
                             .point = point,
                             .time_ns = law.time_ns,
                             .counter_keys = keys,
                             .counter_values = values};
    for (size_t i = 0; i < law.counter_count; i++)
        if (law.counters[i].known) {
            keys[facts.counter_count] = law.counters[i].key;
            values[facts.counter_count++] = law.counters[i].predicted;
        }
    ub_micro_fusion.metrics(&facts, &metrics);
    return metric(&metrics, key);
}

static void metrics_are_bytes_of_an_element(void **state)
{
    static const struct {
        const char *axes, *key;
        double wanted;
    } rows[] = {
        {"steps=8 variant=split", "global_bytes_per_element", 64},
        {"steps=8 variant=split", "dram_bytes_per_element", 64},
        {"steps=8 variant=split", "split_bytes", 1},
        {"steps=8 variant=fused", "global_bytes_per_element", 8},
        {"steps=8 variant=fused", "split_bytes", 8},
        {"work=softmax length=4096 variant=passes", "global_bytes_per_element", 16},
        {"work=softmax length=4096 variant=fused", "global_bytes_per_element", 8},
        {"work=softmax length=4096 variant=fused", "split_bytes", 16.0 / 8 + 104.0 / 4096 / 8},
        /* five loads and two stores of a tile of scores against two loads, and the rest */
        {"work=attention seq=4096 variant=fused", "global_bytes_per_element", 8 + 8.0 / 64},
        {"work=attention seq=4096 variant=split", "global_bytes_per_element", 28 + 4.0 / 64},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_point point = parse_point(&ub_micro_fusion, rows[i].axes);
        const double found = metric_of(&point, rows[i].key);
        if (!(fabs(found - rows[i].wanted) < 1e-9))
            fail_msg("%s: %s is %.9g, not %.9g", rows[i].axes, rows[i].key, found, rows[i].wanted);
    }
    const struct ub_point point = parse_point(&ub_micro_fusion, "steps=8 variant=fused");
    assert_true(metric_of(&point, "ceiling_share") > 0.99 && metric_of(&point, "ceiling_share") < 1);
}

static void every_sweep_for_every_card(void **state)
{
    (void)state;
    const struct ub_entry entry = {.micro = &ub_micro_fusion};
    for (size_t i = 0; i < ub_gpu_count(); i++) {
        const struct ub_gpu *gpu = ub_gpu_at(i);
        struct ub_plan plan = {0};
        struct ub_error err = {0};
        if (!ub_plan_add(&plan, &entry, gpu, UB_SUITE_FULL, NULL, 0, true, false, &err))
            fail_msg("%s", err.text);
        for (size_t n = 0; n < plan.count; n++) {
            if (plan.points[n].skip) {
                assert_non_null(strstr(plan.points[n].skip, "16384"));
                continue;
            }
            const struct ub_law law = law_of(gpu, &plan.points[n].point);
            assert_true(counter(&law, "global_load_sectors") > 0);
            assert_true(isfinite(law.time_ns) || law.note != NULL);
            assert_int_equal(isfinite(law.time_ns) != 0, law.tolerance > 0);
            assert_int_equal(isfinite(law.time_ns) != 0, law.bottleneck != NULL);
            if (!gpu->verified && isfinite(law.time_ns))
                assert_non_null(strstr(law.note, "assumed"));
        }
        ub_plan_free(&plan);
    }
}

/* Nobody knows the DRAM bandwidth of this card: arithmetic alone is no time. */
static void without_a_dram_ceiling_there_is_no_time(void **state)
{
    (void)state;
    static const char *const axes[] = {"work=softmax length=1024 variant=fused", "work=softmax variant=split",
                                       "steps=4 variant=fused"};
    for (size_t i = 0; i < COUNT(axes); i++) {
        const struct ub_point point = parse_point(&ub_micro_fusion, axes[i]);
        const struct ub_law law = law_of(card("orin"), &point);
        assert_true(isnan(constant(card("orin"), "dram_copy_ceiling")) && isnan(law.time_ns));
        assert_non_null(law.note);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_group_of_a_tile_is_accessed_once),
        cmocka_unit_test(groups_and_rows_stand_side_by_side),
        cmocka_unit_test(k_kernels_move_k_times_as_much),
        cmocka_unit_test(passes_are_counted_row_by_row),
        cmocka_unit_test(attention_moves_tiles),
        cmocka_unit_test(dram_has_what_caches_do_not_keep),
        cmocka_unit_test(k_kernels_take_k_times_as_long),
        cmocka_unit_test(arithmetic_takes_over),
        cmocka_unit_test(what_an_h200_did),
        cmocka_unit_test(what_no_law_covers_has_no_time),
        cmocka_unit_test(points_that_cannot_be_are_refused),
        cmocka_unit_test(without_a_dram_ceiling_there_is_no_time),
        cmocka_unit_test(metrics_are_bytes_of_an_element),
        cmocka_unit_test(every_sweep_for_every_card),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
