/* SPDX-License-Identifier: MIT
 *
 * The law of `bank_conflict` against closed forms, and against what an H200 counted
 * and took. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/contract/record.h"
#include "micro/bank_conflict/access.h"
#include "micro/bank_conflict/rule.h"
#include "tests/rule_fixture.h"

extern const struct ub_micro ub_micro_bank_conflict;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static int64_t word_index(enum bank_conflict_axis axis, const char *word)
{
    const char *const *words = ub_micro_bank_conflict.axes[axis].words;
    for (int64_t i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    fail_msg("axis %s has no word '%s'", ub_micro_bank_conflict.axes[axis].name, word);
    return -1;
}

static struct ub_point point_of(const char *op, unsigned bytes, const char *pattern, unsigned stride, unsigned pad,
                                unsigned share)
{
    struct ub_point point = {{0}};
    char width[8];
    snprintf(width, sizeof width, "%u", bytes);
    point.values[BANK_CONFLICT_OP] = word_index(BANK_CONFLICT_OP, op);
    point.values[BANK_CONFLICT_BYTES] = word_index(BANK_CONFLICT_BYTES, width);
    point.values[BANK_CONFLICT_PATTERN] = word_index(BANK_CONFLICT_PATTERN, pattern);
    point.values[BANK_CONFLICT_STRIDE] = stride;
    point.values[BANK_CONFLICT_PAD] = pad;
    point.values[BANK_CONFLICT_SHARE] = share;
    return point;
}

static struct bank_conflict_cost cost_of(const struct ub_point *point)
{
    struct bank_conflict_geometry g;
    struct bank_conflict_cost cost;
    assert_null(bank_conflict_resolve(card("h200"), point, &g));
    bank_conflict_cost(&g, &cost);
    assert_int_equal(cost.requests, 256);
    return cost;
}

/* Wavefronts of an access where all warps cost the same. */
static unsigned wavefronts(const char *op, unsigned bytes, const char *pattern, unsigned stride, unsigned pad,
                           unsigned share)
{
    const struct ub_point point = point_of(op, bytes, pattern, stride, pad, share);
    const struct bank_conflict_cost cost = cost_of(&point);
    assert_int_equal(cost.wavefronts % 256, 0);
    return (unsigned)(cost.wavefronts / 256);
}

static unsigned gcd(unsigned a, unsigned b)
{
    return b == 0 ? a : gcd(b, a % b);
}

/* ---- closed forms ---------------------------------------------------------------- */

static void a_stride_costs_its_gcd_with_the_banks(void **state)
{
    (void)state;
    for (unsigned words = 1; words <= 4; words *= 2)
        for (unsigned stride = 1; stride <= 64; stride++) {
            const unsigned turns = words * gcd(stride, 32 / words);
            assert_int_equal(wavefronts("load", 4 * words, "stride", stride, 1, 1), turns);
            assert_int_equal(wavefronts("store", 4 * words, "stride", stride, 1, 1), turns);
            assert_int_equal(wavefronts("ldmatrix", 4 * words, "stride", stride, 1, 1), words * gcd(stride, 8));
        }
}

static void padding_and_xor_are_remedies(void **state)
{
    (void)state;
    for (unsigned pad = 0; pad <= 8; pad++) /* the pitch of a tile is a stride of 32 + pad */
        for (unsigned words = 1; words <= 4; words *= 2)
            assert_int_equal(wavefronts("load", 4 * words, "column", 1, pad, 1), words * gcd(32 + pad, 32 / words));
    for (unsigned words = 1; words <= 4; words *= 2) { /* a row a lane */
        assert_int_equal(wavefronts("load", 4 * words, "padded", 32, 1, 1), words);
        assert_int_equal(wavefronts("store", 4 * words, "xor", 32, 1, 1), words);
        assert_int_equal(wavefronts("load", 4 * words, "padded", 32, 0, 1), 32);
    }
    for (unsigned stride = 1; stride <= 32; stride *= 2) { /* the strides that have the worst conflicts */
        assert_int_equal(wavefronts("load", 4, "padded", stride, 1, 1), 1);
        assert_int_equal(wavefronts("load", 4, "padded", stride, 0, 1), stride);
    }
    assert_int_equal(wavefronts("load", 8, "padded", 2, 1, 1), 4); /* half a warp stays within a row of 32 */
}

static void sharing_is_free_and_merges_wide_loads(void **state)
{
    static const struct {
        unsigned bytes, share, load, store;
    } rows[] = {
        {4, 0, 1, 1},  {4, 31, 1, 1}, {8, 0, 2, 2},  {8, 1, 1, 2},   {8, 2, 1, 2},
        {8, 4, 2, 2},  {8, 24, 2, 2}, {8, 31, 1, 2}, {16, 0, 4, 4},  {16, 1, 2, 4},
        {16, 2, 2, 4}, {16, 3, 2, 4}, {16, 4, 4, 4}, {16, 16, 4, 4}, {16, 31, 2, 4},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(wavefronts("load", rows[i].bytes, "multicast", 1, 1, rows[i].share), rows[i].load);
        assert_int_equal(wavefronts("store", rows[i].bytes, "multicast", 1, 1, rows[i].share), rows[i].store);
    }
    for (unsigned words = 1; words <= 4; words *= 2) {
        assert_int_equal(wavefronts("load", 4 * words, "broadcast", 1, 1, 1), words == 4 ? 2 : 1);
        assert_int_equal(wavefronts("load", 4 * words, "stride", 0, 1, 1), words == 4 ? 2 : 1);
        assert_int_equal(wavefronts("store", 4 * words, "broadcast", 1, 1, 1), words);
        assert_int_equal(wavefronts("ldmatrix", 4 * words, "broadcast", 1, 1, 1), words);
    }
}

/* 32 words thrown at 32 banks: the fullest bank has 3.5 of them on average; of 32 warps
 * drawn at random the mean lies within 0.4 of it. */
static void random_words_meet_in_threes(void **state)
{
    (void)state;
    const struct ub_point point = point_of("load", 4, "random", 1, 1, 1);
    const double mean = (double)cost_of(&point).wavefronts / 256;
    assert_true(mean > 3.1 && mean < 3.9);
}

static uint64_t predicted(const struct ub_law *law, const char *key)
{
    for (size_t i = 0; i < law->counter_count; i++)
        if (strcmp(law->counters[i].key, key) == 0 && law->counters[i].known)
            return law->counters[i].predicted;
    fail_msg("no prediction of %s", key);
    return 0;
}

static void distinct_bytes_and_the_filling(void **state)
{
    struct ub_constants constants = {0};
    struct ub_law law;
    (void)state;
    ub_gpu_constants(card("h200"), &constants);
    const struct ub_point store = point_of("store", 8, "stride", 32, 1, 1);
    ub_micro_bank_conflict.law(card("h200"), &constants, &store, &law);
    /* 31 * 32 + 1 elements of 8 bytes and 896 bytes for the accesses that follow: 12288 */
    assert_int_equal(predicted(&law, "shared_load_requests"), 12288 / 128);
    assert_int_equal(predicted(&law, "shared_load_bytes"), 12288);
    assert_int_equal(predicted(&law, "shared_store_requests"), 256 + 12288 / 128);
    assert_int_equal(predicted(&law, "shared_store_wavefronts"), 256 * 32 + 12288 / 128);
    assert_int_equal(predicted(&law, "shared_store_bytes"), 256 * 32 * 8 + 12288);
    const struct ub_point matrix = point_of("ldmatrix", 8, "broadcast", 1, 1, 1);
    ub_micro_bank_conflict.law(card("h200"), &constants, &matrix, &law);
    assert_int_equal(predicted(&law, "matrix_load_requests"), 256);
    assert_int_equal(predicted(&law, "matrix_load_bytes"), 256 * 16);
    assert_int_equal(predicted(&law, "shared_load_requests"), 0);
}

/* ---- geometry ---------------------------------------------------------------------- */

static bool next_point(struct ub_point *point)
{
    for (size_t axis = 0; axis < ub_micro_bank_conflict.axis_count; axis++) {
        const struct ub_axis *a = &ub_micro_bank_conflict.axes[axis];
        int64_t last = a->maximum;
        if (a->kind == UB_AXIS_WORD)
            for (last = 0; a->words[last + 1] != NULL; last++) {
            }
        if (point->values[axis] < last) {
            point->values[axis]++;
            return true;
        }
        point->values[axis] = a->kind == UB_AXIS_WORD ? 0 : a->minimum;
    }
    return false;
}

/* Every point that can run stays inside its shared memory, which no launch needs to ask
 * for (48 KiB), and is aligned. */
static void every_access_lies_in_shared_memory(void **state)
{
    (void)state;
    unsigned points = 0;
    struct ub_point point = {{0}};
    do {
        struct bank_conflict_geometry g;
        if (bank_conflict_resolve(card("h200"), &point, &g) != NULL)
            continue;
        points++;
        assert_int_equal(g.region_bytes % 4096, 0);
        assert_true(g.region_bytes <= 48 << 10);
        for (uint32_t warp = 0; warp < BANK_CONFLICT_WARPS; warp++)
            for (uint32_t lane = 0; lane < BANK_CONFLICT_LANES; lane++) {
                const uint32_t end = (bank_conflict_element(&g, warp, lane) + 1) * g.unit_bytes + 7 * 128;
                if (end > g.region_bytes)
                    fail_msg("pattern %u stride %u pad %u share %u: byte %u of %u", g.pattern, g.stride, g.pad, g.share,
                             end, g.region_bytes);
            }
    } while (next_point(&point));
    /* (stride, xor: 65; padded: 65 x 9; column: 9; multicast: 32; random, broadcast) x 9 */
    assert_int_equal(points, (65 + 65 + 65 * 9 + 9 + 32 + 2) * 9);
}

static void what_contradicts_itself_is_refused(void **state)
{
    static const struct {
        const char *slug, *op, *pattern;
        unsigned stride, pad, share;
        const char *reason; /* a part; NULL: runs */
    } rows[] = {
        {"h200", "load", "column", 2, 1, 1, "stride applies"},
        {"h200", "load", "stride", 2, 0, 1, "pad applies"},
        {"h200", "load", "broadcast", 1, 1, 2, "share applies"},
        {"h200", "load", "padded", 2, 0, 1, NULL},
        {"v100", "ldmatrix", "stride", 1, 1, 1, "Turing"},
        {"t4", "ldmatrix", "stride", 1, 1, 1, NULL},
        {"v100", "load", "stride", 1, 1, 1, NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_point point =
            point_of(rows[i].op, 4, rows[i].pattern, rows[i].stride, rows[i].pad, rows[i].share);
        const char *reason = ub_micro_bank_conflict.supported(card(rows[i].slug), &point);
        assert_int_equal(reason == NULL, rows[i].reason == NULL);
        if (reason != NULL)
            assert_non_null(strstr(reason, rows[i].reason));
    }
    struct ub_gpu kepler = *card("h200");
    kepler.cc_major = 3;
    const struct ub_point plain = point_of("load", 4, "stride", 1, 1, 1);
    assert_non_null(strstr(ub_micro_bank_conflict.supported(&kepler, &plain), "banks are otherwise"));
}

/* ---- other cards --------------------------------------------------------------------- */

static void every_card_of_the_table_has_a_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < ub_gpu_count(); i++) {
        const struct ub_gpu *gpu = ub_gpu_at(i);
        struct ub_constants constants = {0};
        struct ub_law law;
        ub_gpu_constants(gpu, &constants);
        const struct ub_point point = point_of("load", 4, "stride", 32, 1, 1);
        ub_micro_bank_conflict.law(gpu, &constants, &point, &law);
        const double cycles = law.time_ns * ub_constant_value(&constants, "clock_mhz") * 1e-3;
        assert_true(fabs(cycles - 256 * 32) < 1e-6 * cycles);
        assert_string_equal(law.bottleneck, "wavefronts");
        assert_true(law.tolerance > 0);
        assert_int_equal(law.note == NULL, gpu->verified);
    }
}

/* ---- measured ------------------------------------------------------------------------ */

static void check_counters(const struct ub_law *law, const char *values, const char *line)
{
    for (size_t i = 0; i < ub_micro_bank_conflict.counter_count; i++) {
        const struct ub_law_counter *counter = &law->counters[i];
        char *end;
        assert_string_equal(counter->key, ub_micro_bank_conflict.counters[i]);
        const unsigned long long measured = strtoull(values, &end, 10);
        if (*values == '-') {
            assert_false(counter->known);
            end = (char *)values + 1;
        } else if (!counter->known || measured != counter->predicted) {
            fail_msg("%s: %llu measured, %llu predicted: %s", counter->key, measured,
                     (unsigned long long)counter->predicted, line);
        }
        values = end + 1;
    }
}

static void equal_to_an_h200(void **state)
{
    char line[512], op[16], pattern[16];
    unsigned stride, bytes, pad, share, rows = 0, merged = 0;
    double cycles;
    int used;
    struct ub_constants constants = {0};
    (void)state;
    ub_gpu_constants(card("h200"), &constants);
    FILE *file = fopen(UB_SOURCE_DIR "/tests/golden/bank_conflict_h200.csv", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#' || strncmp(line, "stride,", 7) == 0)
            continue;
        if (sscanf(line, "%u,%u,%15[a-z],%15[a-z],%u,%u,%lf,%n", &stride, &bytes, op, pattern, &pad, &share, &cycles,
                   &used) != 7)
            fail_msg("not a row: %s", line);
        struct ub_law law;
        const struct ub_point point = point_of(op, bytes, pattern, stride, pad, share);
        ub_micro_bank_conflict.law(card("h200"), &constants, &point, &law);
        check_counters(&law, line + used, line);
        const double expected = law.time_ns * 1.98 / 256;
        if (fabs(cycles - expected) > law.tolerance * expected)
            fail_msg("%.4f cycles, %.4f predicted within %.3f: %s", cycles, expected, law.tolerance, line);
        rows++;
        merged += law.note != NULL; /* a wider tolerance, and it says so */
    }
    fclose(file);
    assert_int_equal(rows, 314);
    assert_int_equal(merged, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stride_costs_its_gcd_with_the_banks),
        cmocka_unit_test(padding_and_xor_are_remedies),
        cmocka_unit_test(sharing_is_free_and_merges_wide_loads),
        cmocka_unit_test(random_words_meet_in_threes),
        cmocka_unit_test(distinct_bytes_and_the_filling),
        cmocka_unit_test(every_access_lies_in_shared_memory),
        cmocka_unit_test(what_contradicts_itself_is_refused),
        cmocka_unit_test(every_card_of_the_table_has_a_time),
        cmocka_unit_test(equal_to_an_h200),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
