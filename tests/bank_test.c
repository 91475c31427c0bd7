/* SPDX-License-Identifier: MIT
 *
 * The model of shared-memory banks against closed forms, against a count that
 * sorts words, and against what an H200 counted. */
#include "harness/model/bank.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { LANES = 32 };
static const uint32_t all = UINT32_MAX;

static unsigned gcd(unsigned a, unsigned b)
{
    return b == 0 ? a : gcd(b, a % b);
}

static void by_stride(unsigned stride, unsigned unit_bytes, uint32_t *addresses)
{
    for (unsigned lane = 0; lane < LANES; lane++)
        addresses[lane] = lane * stride * unit_bytes;
}

/* ---- closed forms ------------------------------------------------------------- */

/* Distance s in elements: 8 and 16 bytes have their minimum of 2 and 4 turns, and the
 * banks then look like 16 of 8 bytes and 8 of 16 bytes. */
static void strides_cost_their_gcd_with_the_banks(void **state)
{
    (void)state;
    for (unsigned words = 1; words <= 4; words *= 2)
        for (unsigned stride = 1; stride <= 1024; stride++) {
            uint32_t addresses[LANES];
            by_stride(stride, 4 * words, addresses);
            const unsigned expected = words * gcd(stride, 32 / words);
            assert_int_equal(ub_bank_wavefronts(addresses, all, 4 * words), expected);
            assert_int_equal(ub_bank_wavefronts_store(addresses, all, 4 * words), expected);
            assert_int_equal(ub_bank_wavefronts_counted(addresses, all, 4 * words), expected);
        }
}

static void the_table_of_the_rules(void **state)
{
    static const unsigned strides[] = {0, 1, 2, 3, 4, 5, 6, 8, 16, 17, 32, 33};
    static const struct {
        unsigned bytes, load[12], store[12];
    } rows[] = {
        {4, {1, 1, 2, 1, 4, 1, 2, 8, 16, 1, 32, 1}, {1, 1, 2, 1, 4, 1, 2, 8, 16, 1, 32, 1}},
        {8, {1, 2, 4, 2, 8, 2, 4, 16, 32, 2, 32, 2}, {2, 2, 4, 2, 8, 2, 4, 16, 32, 2, 32, 2}},
        {16, {2, 4, 8, 4, 16, 4, 8, 32, 32, 4, 32, 4}, {4, 4, 8, 4, 16, 4, 8, 32, 32, 4, 32, 4}},
    };
    (void)state;
    for (size_t r = 0; r < COUNT(rows); r++)
        for (size_t s = 0; s < COUNT(strides); s++) {
            uint32_t addresses[LANES];
            by_stride(strides[s], rows[r].bytes, addresses);
            assert_int_equal(ub_bank_wavefronts(addresses, all, rows[r].bytes), rows[r].load[s]);
            assert_int_equal(ub_bank_wavefronts_store(addresses, all, rows[r].bytes), rows[r].store[s]);
        }
}

/* Groups of lanes n ^ x share an address; the groups' elements follow each other. */
static void only_neighbours_and_next_but_one_are_merged(void **state)
{
    static const struct {
        unsigned share, bytes, load, counted, store;
    } rows[] = {
        {0, 8, 2, 2, 2},  {1, 8, 1, 1, 2},  {2, 8, 1, 1, 2},  {4, 8, 2, 2, 2},   {8, 8, 2, 2, 2},  {16, 8, 2, 2, 2},
        {3, 8, 1, 1, 2},  {31, 8, 1, 1, 2}, {0, 16, 4, 4, 4}, {1, 16, 2, 2, 4},  {2, 16, 2, 2, 4}, {4, 16, 4, 4, 4},
        {8, 16, 4, 4, 4}, {3, 16, 2, 2, 4}, {6, 16, 2, 2, 4}, {31, 16, 2, 2, 4}, {31, 4, 1, 1, 1}, {1, 4, 1, 1, 1},
    };
    (void)state;
    for (size_t r = 0; r < COUNT(rows); r++) {
        uint32_t addresses[LANES];
        for (unsigned lane = 0; lane < LANES; lane++) { /* squeeze the shared bits out of the number */
            unsigned element = 0, place = 0;
            for (unsigned bit = 0; bit < 5; bit++)
                if (!(rows[r].share >> bit & 1))
                    element |= (lane >> bit & 1) << place++;
            addresses[lane] = element * rows[r].bytes;
        }
        assert_int_equal(ub_bank_wavefronts(addresses, all, rows[r].bytes), rows[r].load);
        assert_int_equal(ub_bank_wavefronts_counted(addresses, all, rows[r].bytes), rows[r].counted);
        assert_int_equal(ub_bank_wavefronts_store(addresses, all, rows[r].bytes), rows[r].store);
    }
}

static void one_pair_that_differs_undoes_the_merging(void **state)
{
    (void)state;
    uint32_t addresses[LANES] = {0};
    assert_int_equal(ub_bank_wavefronts(addresses, all, 16), 2);
    addresses[31] = 16; /* also for lanes 0 to 15, */
    assert_int_equal(ub_bank_wavefronts(addresses, all, 16), 4);
    assert_int_equal(ub_bank_wavefronts_counted(addresses, all, 16), 3); /* which the instrumentation does not see */
    assert_int_equal(ub_bank_wavefronts(addresses, all >> 1, 16), 2);    /* unless it is not there */
}

static void inactive_lanes(void **state)
{
    (void)state;
    uint32_t addresses[LANES];
    memset(addresses, 0xFF, sizeof addresses);
    for (unsigned bytes = 4; bytes <= 16; bytes *= 2) {
        assert_int_equal(ub_bank_wavefronts(addresses, 0, bytes), 0);
        assert_int_equal(ub_bank_wavefronts_store(addresses, 0, bytes), 0);
        assert_int_equal(ub_bank_wavefronts_counted(addresses, 0, bytes), 0);
    }
    addresses[0] = 0;
    addresses[31] = 128;
    assert_int_equal(ub_bank_wavefronts(addresses, 0x80000001, 4), 2);
    addresses[31] = 132;
    assert_int_equal(ub_bank_wavefronts(addresses, 0x80000001, 4), 1);
}

static void a_matrix_is_a_phase(void **state)
{
    (void)state;
    for (unsigned matrices = 1; matrices <= 4; matrices *= 2)
        for (unsigned stride = 0; stride <= 64; stride++) {
            uint32_t addresses[LANES];
            by_stride(stride, 16, addresses);
            for (unsigned lane = 8 * matrices; lane < LANES; lane++)
                addresses[lane] = 0xFFFFFFF0u - 128 * lane; /* not looked at */
            const unsigned degree = stride == 0 ? 1 : gcd(stride, 8);
            assert_int_equal(ub_bank_wavefronts_matrix(addresses, matrices), matrices * degree);
        }
}

/* ---- against sorted words ------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static unsigned sorted_turns(const uint32_t *addresses, uint32_t active, unsigned bytes, unsigned first, unsigned count)
{
    uint32_t words[LANES * 4];
    unsigned used = 0, depth[32] = {0}, deepest = 0;
    for (unsigned lane = first; lane < first + count; lane++)
        for (uint32_t byte = addresses[lane]; active >> lane & 1 && byte < addresses[lane] + bytes; byte += 4)
            words[used++] = byte >> 2;
    qsort(words, used, sizeof words[0], by_value);
    for (unsigned i = 0; i < used; i++)
        if ((i == 0 || words[i] != words[i - 1]) && ++depth[words[i] & 31] > deepest)
            deepest = depth[words[i] & 31];
    return deepest;
}

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static void random_stores_equal_sorted_words(void **state)
{
    uint64_t random = 7;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        const unsigned bytes = 4u << next_random(&random) % 3, phase = 128 / bytes;
        const uint32_t window = 1u << next_random(&random) % 12;
        const uint32_t active = next_random(&random) % 3 ? all : next_random(&random) << 1;
        uint32_t addresses[LANES];
        for (unsigned lane = 0; lane < LANES; lane++)
            addresses[lane] = next_random(&random) % window * bytes;
        unsigned expected = 0;
        for (unsigned first = 0; first < LANES; first += phase)
            expected += sorted_turns(addresses, active, bytes, first, phase);
        assert_int_equal(ub_bank_wavefronts_store(addresses, active, bytes), expected);
        const unsigned load = ub_bank_wavefronts(addresses, active, bytes);
        assert_true(load <= expected); /* merging never costs */
        if (bytes == 4)
            assert_int_equal(load, expected);
    }
}

/* ---- measured ------------------------------------------------------------------- */

struct row {
    char op[8];
    unsigned bytes, hardware, counted;
    uint32_t active, addresses[LANES];
};

static bool parse(const char *line, struct row *row)
{
    unsigned distinct;
    int used = 0;
    if (sscanf(line, "%7[a-z],%u,%x,%u,%u,%u,%n", row->op, &row->bytes, &row->active, &row->hardware, &row->counted,
               &distinct, &used) != 6 ||
        strlen(line + used) < 3 * LANES)
        return false;
    const unsigned unit = strcmp(row->op, "matrix") == 0 ? 16 : row->bytes;
    for (unsigned lane = 0; lane < LANES; lane++) {
        char digits[4] = {0};
        memcpy(digits, line + used + 3 * lane, 3);
        row->addresses[lane] = (uint32_t)strtoul(digits, NULL, 16) * unit;
    }
    return true;
}

struct score {
    unsigned rows, partial_16, partial_16_counted_otherwise;
};

static void check_row(const struct row *row, const char *line, struct score *score)
{
    unsigned hardware, counted;
    if (strcmp(row->op, "matrix") == 0) {
        hardware = counted = ub_bank_wavefronts_matrix(row->addresses, row->bytes / 4);
    } else if (strcmp(row->op, "store") == 0) {
        hardware = counted = ub_bank_wavefronts_store(row->addresses, row->active, row->bytes);
    } else {
        hardware = ub_bank_wavefronts(row->addresses, row->active, row->bytes);
        counted = ub_bank_wavefronts_counted(row->addresses, row->active, row->bytes);
    }
    if (hardware != row->hardware)
        fail_msg("%u wavefronts, not %u: %s", row->hardware, hardware, line);
    const bool partial_16 = row->bytes == 16 && row->active != all && strcmp(row->op, "load") == 0;
    if (counted != row->counted && !partial_16)
        fail_msg("%u counted, not %u: %s", row->counted, counted, line);
    score->rows++;
    score->partial_16 += partial_16;
    score->partial_16_counted_otherwise += partial_16 && counted != row->counted;
}

static void equal_to_the_counters_of_an_h200(void **state)
{
    char line[512];
    struct score score = {0};
    (void)state;
    FILE *file = fopen(UB_SOURCE_DIR "/tests/golden/bank_h200.csv", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        struct row row;
        if (line[0] == '#' || strncmp(line, "op,", 3) == 0)
            continue;
        if (!parse(line, &row))
            fail_msg("not a row: %s", line);
        check_row(&row, line, &score);
    }
    fclose(file);
    assert_int_equal(score.rows, 1664);
    assert_int_equal(score.partial_16, 84); /* bank.h: one in six is counted otherwise */
    assert_int_equal(score.partial_16_counted_otherwise, 14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strides_cost_their_gcd_with_the_banks),
        cmocka_unit_test(the_table_of_the_rules),
        cmocka_unit_test(only_neighbours_and_next_but_one_are_merged),
        cmocka_unit_test(one_pair_that_differs_undoes_the_merging),
        cmocka_unit_test(inactive_lanes),
        cmocka_unit_test(a_matrix_is_a_phase),
        cmocka_unit_test(random_stores_equal_sorted_words),
        cmocka_unit_test(equal_to_the_counters_of_an_h200),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
