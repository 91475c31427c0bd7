/* SPDX-License-Identifier: MIT
 *
 * The coalescer against the law's tables (CUDA C++ Best Practices Guide, and
 * counters of an H200) and against a set of bytes built the slow way. */
#include "harness/model/coalesce.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const uint32_t all_lanes = UINT32_MAX;

static void check(const struct ub_traffic *got, uint64_t requests, uint64_t sectors, uint64_t lines, uint64_t bytes)
{
    assert_int_equal(got->requests, requests);
    assert_int_equal(got->sectors, sectors);
    assert_int_equal(got->lines, lines);
    assert_int_equal(got->bytes, bytes);
}

static struct ub_traffic strided(uint64_t base, uint64_t stride_bytes, uint32_t active, unsigned access_bytes)
{
    uint64_t addresses[UB_WARP_LANES];
    for (unsigned lane = 0; lane < UB_WARP_LANES; lane++)
        addresses[lane] = base + lane * stride_bytes;
    struct ub_traffic traffic = {0};
    ub_coalesce_warp(addresses, active, access_bytes, &traffic);
    return traffic;
}

/* 32 active lanes, base aligned to 128 bytes, stride in elements. */
static void strides(void **state)
{
    (void)state;
    static const struct {
        unsigned access_bytes, stride;
        uint64_t sectors, lines, bytes;
    } rows[] = {
        {4, 0, 1, 1, 4},      {4, 1, 4, 1, 128},    {4, 2, 8, 2, 128},    {4, 3, 12, 3, 128},   {4, 4, 16, 4, 128},
        {4, 5, 20, 5, 128},   {4, 6, 24, 6, 128},   {4, 7, 28, 7, 128},   {4, 8, 32, 8, 128},   {4, 9, 32, 9, 128},
        {4, 16, 32, 16, 128}, {4, 31, 32, 31, 128}, {4, 32, 32, 32, 128}, {4, 33, 32, 32, 128}, {4, 1024, 32, 32, 128},
        {8, 1, 8, 2, 256},    {8, 2, 16, 4, 256},   {8, 3, 24, 6, 256},   {8, 4, 32, 8, 256},   {8, 5, 32, 10, 256},
        {16, 1, 16, 4, 512},  {16, 2, 32, 8, 512},  {16, 3, 32, 12, 512}, {16, 0, 1, 1, 16},    {2, 1, 2, 1, 64},
        {2, 2, 4, 1, 64},     {2, 16, 32, 8, 64},   {2, 64, 32, 32, 64},  {1, 1, 1, 1, 32},     {1, 2, 2, 1, 32},
        {1, 32, 32, 8, 32},   {1, 0, 1, 1, 1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_traffic got =
            strided(1 << 20, (uint64_t)rows[i].stride * rows[i].access_bytes, all_lanes, rows[i].access_bytes);
        check(&got, 1, rows[i].sectors, rows[i].lines, rows[i].bytes);
    }
}

/* Unit stride, float: 4 sectors where the offset is a multiple of 8 elements, else 5. */
static void offsets(void **state)
{
    (void)state;
    for (uint64_t offset = 0; offset < 128; offset++) {
        const struct ub_traffic got = strided((1 << 20) + offset * 4, 4, all_lanes, 4);
        check(&got, 1, offset % 8 ? 5 : 4, offset % 32 ? 2 : 1, 128);
    }
}

static void reversed_lanes_cost_the_same(void **state)
{
    (void)state;
    const struct ub_traffic got = strided((1 << 20) + 31 * 4, (uint64_t)-4, all_lanes, 4);
    check(&got, 1, 4, 1, 128);
}

/* Three fields of 4 bytes in a structure: each of the three loads touches all 12 sectors. */
static void an_array_of_structures(void **state)
{
    (void)state;
    struct ub_traffic traffic = {0};
    for (uint64_t field = 0; field < 3; field++) {
        const struct ub_traffic one = strided(4096 + 4 * field, 12, all_lanes, 4);
        ub_traffic_add(&traffic, &one, 1);
    }
    check(&traffic, 3, 36, 9, 3 * 128);
}

static void inactive_lanes_cost_nothing(void **state)
{
    (void)state;
    static const struct {
        uint32_t active;
        uint64_t requests, sectors, lines, bytes;
    } rows[] = {
        {0, 0, 0, 0, 0},           {1, 1, 1, 1, 4},           {UINT32_C(1) << 31, 1, 1, 1, 4}, {0x80000001, 1, 2, 1, 8},
        {0x0000FFFF, 1, 2, 1, 64}, {0x01010101, 1, 4, 1, 16}, {0x000000FF, 1, 1, 1, 32},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_traffic got = strided(1 << 20, 4, rows[i].active, 4);
        check(&got, rows[i].requests, rows[i].sectors, rows[i].lines, rows[i].bytes);
    }
}

static void the_address_of_an_inactive_lane_is_not_looked_at(void **state)
{
    (void)state;
    uint64_t addresses[UB_WARP_LANES];
    memset(addresses, 0xFF, sizeof addresses);
    addresses[5] = 64;
    struct ub_traffic got = {0};
    ub_coalesce_warp(addresses, 1 << 5, 8, &got);
    check(&got, 1, 1, 1, 8);
}

static void unaligned_accesses_straddle(void **state)
{
    (void)state;
    static const struct {
        uint64_t address;
        unsigned access_bytes;
        uint64_t sectors, lines;
    } rows[] = {
        {28, 4, 1, 1},   {29, 4, 2, 1},  {31, 2, 2, 1},  {63, 16, 2, 1}, {112, 16, 1, 1},
        {113, 16, 2, 2}, {127, 1, 1, 1}, {127, 2, 2, 2}, {126, 4, 2, 2},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_traffic got = strided(rows[i].address, 0, all_lanes, rows[i].access_bytes);
        check(&got, 1, rows[i].sectors, rows[i].lines, rows[i].access_bytes);
    }
}

static void the_largest_footprint_fits(void **state)
{
    (void)state;
    /* 32 accesses that straddle 64 different lines. */
    const struct ub_traffic got = strided(120, 4096, all_lanes, 16);
    check(&got, 1, 64, 64, 512);
}

static void high_addresses(void **state)
{
    (void)state;
    struct ub_traffic got = strided((UINT64_C(1) << 63) - 64, 4, all_lanes, 4);
    check(&got, 1, 4, 2, 128);
    got = strided(UINT64_MAX - 7, 0, all_lanes, 16); /* wraps to 0, as a pointer does */
    check(&got, 1, 2, 2, 16);
}

static void sums_add_up(void **state)
{
    (void)state;
    struct ub_traffic traffic = strided(0, 128, all_lanes, 4);
    const struct ub_traffic period = {1, 4, 2, 128};
    ub_traffic_add(&traffic, &period, UINT64_C(1) << 32);
    check(&traffic, 1 + (UINT64_C(1) << 32), 32 + (UINT64_C(4) << 32), 32 + (UINT64_C(2) << 32),
          128 + (UINT64_C(128) << 32));
    ub_traffic_add(&traffic, &period, 0);
    assert_int_equal(traffic.requests, 1 + (UINT64_C(1) << 32));
    uint64_t addresses[UB_WARP_LANES] = {0};
    ub_coalesce_warp(addresses, 0, 4, &traffic); /* no lane: no request */
    assert_int_equal(traffic.requests, 1 + (UINT64_C(1) << 32));
}

/* ---- against a set of bytes ------------------------------------------------ */

enum { MAX_BYTES = UB_WARP_LANES * 16 };

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Distinct values of sorted / grain. */
static uint64_t distinct(const uint64_t *sorted, size_t count, uint64_t grain)
{
    uint64_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += i == 0 || sorted[i] / grain != sorted[i - 1] / grain;
    return found;
}

static void reference(const uint64_t *addresses, uint32_t active, unsigned access_bytes, struct ub_traffic *out)
{
    uint64_t bytes[MAX_BYTES];
    size_t count = 0;
    for (unsigned lane = 0; lane < UB_WARP_LANES; lane++)
        for (unsigned i = 0; i < access_bytes && (active >> lane & 1); i++)
            bytes[count++] = addresses[lane] + i;
    qsort(bytes, count, sizeof bytes[0], by_value);
    *out = (struct ub_traffic){active != 0, distinct(bytes, count, UB_SECTOR_BYTES),
                               distinct(bytes, count, UB_LINE_BYTES), distinct(bytes, count, 1)};
}

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* Windows of 2^5 .. 2^36 bytes: all lanes in one sector up to all far apart. */
static void random_addresses(uint64_t *random, unsigned access_bytes, uint64_t *addresses)
{
    const uint64_t base = next_random(random) >> (next_random(random) % 2 ? 1 : 20);
    const uint64_t window = UINT64_C(1) << (5 + next_random(random) % 32);
    const bool aligned = next_random(random) % 2;
    for (unsigned lane = 0; lane < UB_WARP_LANES; lane++) {
        const uint64_t address = base + next_random(random) % window;
        addresses[lane] = aligned ? address / access_bytes * access_bytes : address;
    }
}

static uint32_t random_mask(uint64_t *random)
{
    const uint32_t mask = (uint32_t)next_random(random);
    switch (next_random(random) % 4) {
    case 0:
        return all_lanes;
    case 1:
        return mask & (uint32_t)next_random(random) & (uint32_t)next_random(random);
    default:
        return mask;
    }
}

static void random_warps_equal_the_set_of_bytes(void **state)
{
    (void)state;
    uint64_t random = 20240229;
    for (int i = 0; i < 6000; i++) {
        const unsigned access_bytes = 1u << next_random(&random) % 5;
        const uint32_t active = random_mask(&random);
        uint64_t addresses[UB_WARP_LANES];
        random_addresses(&random, access_bytes, addresses);
        struct ub_traffic wanted, got = {0};
        reference(addresses, active, access_bytes, &wanted);
        ub_coalesce_warp(addresses, active, access_bytes, &got);
        check(&got, wanted.requests, wanted.sectors, wanted.lines, wanted.bytes);
    }
}

static void every_small_stride_equals_the_set_of_bytes(void **state)
{
    (void)state;
    for (unsigned access_bytes = 1; access_bytes <= 16; access_bytes *= 2)
        for (uint64_t stride_bytes = 0; stride_bytes <= 300; stride_bytes++) {
            uint64_t addresses[UB_WARP_LANES];
            for (unsigned lane = 0; lane < UB_WARP_LANES; lane++)
                addresses[lane] = 1000 + lane * stride_bytes;
            struct ub_traffic wanted, got = {0};
            reference(addresses, all_lanes, access_bytes, &wanted);
            ub_coalesce_warp(addresses, all_lanes, access_bytes, &got);
            check(&got, wanted.requests, wanted.sectors, wanted.lines, wanted.bytes);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strides),
        cmocka_unit_test(offsets),
        cmocka_unit_test(reversed_lanes_cost_the_same),
        cmocka_unit_test(an_array_of_structures),
        cmocka_unit_test(inactive_lanes_cost_nothing),
        cmocka_unit_test(the_address_of_an_inactive_lane_is_not_looked_at),
        cmocka_unit_test(unaligned_accesses_straddle),
        cmocka_unit_test(the_largest_footprint_fits),
        cmocka_unit_test(high_addresses),
        cmocka_unit_test(sums_add_up),
        cmocka_unit_test(random_warps_equal_the_set_of_bytes),
        cmocka_unit_test(every_small_stride_equals_the_set_of_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
