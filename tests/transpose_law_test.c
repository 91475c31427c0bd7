/* SPDX-License-Identifier: MIT
 *
 * The law of `transpose` against closed forms, against a brute force that replays every
 * block and knows neither kinds of tiles nor the models of coalescer and banks, and
 * against what an H200 counted and took. */
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
#include "harness/model/bank.h"
#include "micro/transpose/access.h"
#include "micro/transpose/rule.h"
#include "tests/rule_fixture.h"

extern const struct ub_micro ub_micro_transpose;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- points ------------------------------------------------------------------------ */

/* Axis values as numbers and words; 0 is "auto". */
struct row {
    char variant[16];
    long long n, m;
    unsigned tile, pad, bytes, rows;
    char order[12];
};

static int64_t word_index(enum transpose_axis axis, const char *word)
{
    const char *const *words = ub_micro_transpose.axes[axis].words;
    for (int64_t i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    fail_msg("axis %s has no word '%s'", ub_micro_transpose.axes[axis].name, word);
    return -1;
}

static struct ub_point point_of(const struct row *row)
{
    struct ub_point point = {{0}};
    point.values[TRANSPOSE_VARIANT] = word_index(TRANSPOSE_VARIANT, row->variant);
    point.values[TRANSPOSE_N] = row->n;
    point.values[TRANSPOSE_M] = row->m;
    point.values[TRANSPOSE_TILE_SIDE] = row->tile;
    point.values[TRANSPOSE_PAD] = row->pad;
    point.values[TRANSPOSE_BYTES] = word_index(TRANSPOSE_BYTES, row->bytes == 4 ? "4" : "8");
    point.values[TRANSPOSE_ROWS] = row->rows;
    point.values[TRANSPOSE_ORDER] = word_index(TRANSPOSE_ORDER, row->order);
    return point;
}

static struct row plain(const char *variant, unsigned tile, unsigned bytes)
{
    struct row row = {.n = 256, .m = 512, .tile = tile, .pad = 1, .bytes = bytes, .order = "auto"};
    snprintf(row.variant, sizeof row.variant, "%s", variant);
    return row;
}

static struct transpose_geometry geometry_of(const struct row *row)
{
    const struct ub_point point = point_of(row);
    struct transpose_geometry g;
    const char *reason = transpose_resolve(h200(), &point, &g);
    if (reason != NULL)
        fail_msg("%s n=%lld m=%lld tile=%u pad=%u bytes=%u rows=%u %s: %s", row->variant, row->n, row->m, row->tile,
                 row->pad, row->bytes, row->rows, row->order, reason);
    return g;
}

static struct transpose_counts counts_of(const struct row *row)
{
    const struct transpose_geometry g = geometry_of(row);
    struct transpose_counts counts;
    transpose_count(&g, &counts);
    return counts;
}

static unsigned gcd(unsigned a, unsigned b)
{
    return b == 0 ? a : gcd(b, a % b);
}

/* ---- closed forms ------------------------------------------------------------------- */

/* Requests = elements / 32; whole sectors along rows, one a lane along columns. */
static void a_column_costs_a_sector_a_lane(void **state)
{
    (void)state;
    for (unsigned bytes = 4; bytes <= 8; bytes += 4)
        for (unsigned tile = 32; tile <= 64; tile *= 2) {
            const struct row read = plain("naive_read", tile, bytes), write = plain("naive_write", tile, bytes);
            struct transpose_counts t = counts_of(&read);
            const uint64_t requests = 256 * 512 / 32;
            assert_int_equal(t.loads.requests, requests);
            assert_int_equal(t.loads.sectors, requests * bytes);
            assert_int_equal(t.stores.sectors, requests * 32);
            assert_int_equal(t.stores.lines, requests * 32);
            assert_int_equal(t.stores.bytes, requests * 32 * bytes);
            t = counts_of(&write);
            assert_int_equal(t.loads.sectors, requests * 32);
            assert_int_equal(t.stores.requests, requests);
            assert_int_equal(t.stores.sectors, requests * bytes);
            assert_int_equal(t.shared_loads.requests + t.shared_stores.requests, 0);
        }
}

/* Read along columns, whose lanes are tile + pad words apart: gcd(tile + pad, 32) turns. */
static void a_pad_leaves_gcd_turns(void **state)
{
    (void)state;
    for (unsigned tile = 32; tile <= 64; tile *= 2)
        for (unsigned pad = 0; pad <= 4; pad++) {
            struct row row = plain("padded", tile, 4);
            row.pad = pad;
            const struct transpose_counts t = counts_of(&row);
            assert_int_equal(t.shared_loads.requests, t.loads.requests);
            assert_int_equal(t.shared_loads.wavefronts, t.shared_loads.requests * gcd(tile + pad, 32));
            assert_int_equal(t.shared_stores.wavefronts, t.shared_stores.requests);
            assert_int_equal(t.loads.sectors, t.loads.requests * 4);
            assert_int_equal(t.stores.sectors, t.stores.requests * 4);
        }
}

static void tile_is_padded_with_nothing(void **state)
{
    (void)state;
    for (unsigned tile = 8; tile <= 64; tile *= 2) {
        struct row padded = plain("padded", tile, 4);
        const struct row bare = plain("tile", tile, 4);
        padded.pad = 0;
        const struct transpose_counts a = counts_of(&padded), b = counts_of(&bare);
        assert_memory_equal(&a, &b, sizeof a);
    }
}

/* Narrow tiles, where a warp holds several rows: no pad helps them wholly, xor does. */
static void xor_has_no_conflict_whatever_the_tile(void **state)
{
    (void)state;
    for (unsigned bytes = 4; bytes <= 8; bytes += 4)
        for (unsigned tile = 8; tile <= 64; tile *= 2) {
            const struct row row = plain("swizzle", tile, bytes);
            const struct transpose_counts t = counts_of(&row);
            assert_int_equal(t.shared_loads.wavefronts, t.shared_loads.requests * (bytes / 4));
            assert_int_equal(t.shared_stores.wavefronts, t.shared_stores.requests * (bytes / 4));
        }
    for (unsigned pad = 0; pad <= 4; pad++) {
        struct row row = plain("padded", 16, 4);
        row.pad = pad;
        const struct transpose_counts t = counts_of(&row);
        assert_true(t.shared_loads.wavefronts + t.shared_stores.wavefronts > 2 * t.loads.requests);
    }
}

static void vectors_take_a_quarter_of_the_requests_and_no_conflict(void **state)
{
    (void)state;
    for (unsigned bytes = 4; bytes <= 8; bytes += 4)
        for (unsigned tile = 32; tile <= 64; tile *= 2) {
            const struct row row = plain("vector", tile, bytes);
            const struct transpose_counts t = counts_of(&row);
            assert_int_equal(t.loads.requests, 256 * 512 * bytes / 512);
            assert_int_equal(t.loads.sectors, t.loads.requests * 16);
            assert_int_equal(t.stores.requests, t.loads.requests);
            assert_int_equal(t.stores.sectors, t.loads.requests * 16);
            assert_int_equal(t.shared_loads.requests, 256 * 512 / 32);
            assert_int_equal(t.shared_loads.wavefronts, t.shared_loads.requests * (bytes / 4));
            assert_int_equal(t.shared_stores.wavefronts, t.shared_stores.requests * (bytes / 4));
        }
}

static void copies_touch_what_they_copy(void **state)
{
    (void)state;
    struct row row = plain("copy", 0, 4);
    row.n = 1023;
    row.m = 511; /* 522,753 elements: 130,688 accesses of 16 bytes and one of 4 */
    const struct transpose_counts t = counts_of(&row);
    assert_int_equal(t.loads.bytes, 522753 * 4);
    assert_int_equal(t.loads.requests, 130688 / 32 + 1);
    assert_int_equal(t.loads.sectors, 522753 * 4 / 32 + 1);
    assert_memory_equal(&t.loads, &t.stores, sizeof t.loads);
    const struct row shared = plain("copy_shared", 32, 4);
    const struct transpose_counts s = counts_of(&shared);
    assert_memory_equal(&s.loads, &s.stores, sizeof s.loads);
    assert_int_equal(s.shared_loads.wavefronts, s.loads.requests);
    assert_int_equal(s.shared_stores.wavefronts, s.loads.requests);
}

/* ---- brute force ------------------------------------------------------------------------ */

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t distinct(uint64_t *numbers, size_t count)
{
    uint64_t result = 0;
    qsort(numbers, count, sizeof *numbers, compare_numbers);
    for (size_t i = 0; i < count; i++)
        result += i == 0 || numbers[i] != numbers[i - 1];
    return result;
}

/* Addresses of the active lanes of one warp's access. */
struct access {
    unsigned lanes, lane[32];
    uint64_t addresses[32];
};

static void count_global(const struct access *access, unsigned width, struct ub_traffic *t)
{
    static const unsigned sizes[] = {1, 32, 128};
    uint64_t *const sums[] = {&t->bytes, &t->sectors, &t->lines};
    if (access->lanes == 0)
        return;
    t->requests++;
    for (size_t s = 0; s < COUNT(sizes); s++) {
        uint64_t numbers[32 * 16];
        size_t count = 0;
        for (unsigned i = 0; i < access->lanes; i++)
            for (unsigned byte = 0; byte < width; byte++)
                numbers[count++] = (access->addresses[i] + byte) / sizes[s];
        *sums[s] += distinct(numbers, count);
    }
}

/* Turns of 4-byte accesses by the definition: the bank with most words. What is merged of
 * wider loads is the bank model's matter and has its own test. */
static void count_shared(const struct access *access, unsigned width, bool loads, struct transpose_shared *t)
{
    if (access->lanes == 0)
        return;
    t->requests++;
    t->least += (access->lanes * width + 127) / 128;
    uint32_t addresses[32] = {0}, active = 0;
    uint64_t deepest = 0;
    for (unsigned i = 0; i < access->lanes; i++) {
        addresses[access->lane[i]] = (uint32_t)access->addresses[i];
        active |= UINT32_C(1) << access->lane[i];
    }
    for (unsigned bank = 0; bank < 32 && width == 4; bank++) {
        uint64_t words[32];
        size_t count = 0;
        for (unsigned i = 0; i < access->lanes; i++)
            if (access->addresses[i] / 4 % 32 == bank)
                words[count++] = access->addresses[i] / 4;
        const uint64_t ways = distinct(words, count);
        deepest = ways > deepest ? ways : deepest;
    }
    if (width == 4)
        t->wavefronts += deepest;
    else if (loads)
        t->wavefronts += ub_bank_wavefronts_counted(addresses, active, width);
    else
        t->wavefronts += ub_bank_wavefronts_store(addresses, active, width);
}

/* The places of one access of a warp that lie inside the matrix. */
static unsigned places_of(const struct transpose_geometry *g, uint32_t block, uint32_t warp, uint32_t k, bool writes,
                          struct transpose_place places[32], unsigned lanes[32], struct transpose_place *corner)
{
    const struct transpose_place tile = transpose_tile_of(g, block);
    unsigned count = 0;
    *corner = (struct transpose_place){tile.x * g->tile, tile.y * g->tile};
    for (uint32_t lane = 0; lane < 32; lane++) {
        struct transpose_place p = transpose_lane(g->tile, g->vector, g->tile / g->passes, warp * 32 + lane, k);
        p = writes ? transpose_write(g->variant, p) : transpose_read(g->variant, p);
        if (corner->x + p.x < g->n && corner->y + p.y < g->m) {
            places[count] = p;
            lanes[count++] = lane;
        }
    }
    return count;
}

static void count_side(const struct transpose_geometry *g, uint32_t block, uint32_t warp, uint32_t k, bool writes,
                       struct transpose_counts *out)
{
    struct transpose_place places[32], corner;
    struct access access;
    access.lanes = places_of(g, block, warp, k, writes, places, access.lane, &corner);
    for (unsigned i = 0; i < access.lanes; i++) {
        const uint64_t x = corner.x + places[i].x, y = corner.y + places[i].y;
        const bool transposes = writes && g->variant != TRANSPOSE_COPY_SHARED;
        access.addresses[i] = (transposes ? x * g->m + y : y * g->n + x) * g->bytes;
    }
    count_global(&access, g->vector * g->bytes, writes ? &out->stores : &out->loads);
    *(writes ? &out->store_sectors_least : &out->load_sectors_least) += (access.lanes * g->vector * g->bytes + 31) / 32;
    for (uint32_t j = 0; j < g->vector && transpose_has_tile(g); j++) {
        for (unsigned i = 0; i < access.lanes; i++) {
            const struct transpose_place p =
                writes ? transpose_along_y(places[i], g->vector, j) : transpose_along_x(places[i], g->vector, j);
            access.addresses[i] = (uint64_t)transpose_slot(g->variant, g->pitch, p) * g->bytes;
        }
        count_shared(&access, g->bytes, writes, writes ? &out->shared_loads : &out->shared_stores);
    }
}

static struct transpose_counts brute_force(const struct transpose_geometry *g)
{
    struct transpose_counts all = {0};
    for (uint32_t block = 0; block < g->blocks; block++)
        for (uint32_t warp = 0; warp < g->threads / 32; warp++)
            for (uint32_t k = 0; k < g->passes; k++)
                for (int writes = 0; writes < 2; writes++)
                    count_side(g, block, warp, k, writes, &all);
    return all;
}

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static struct row random_row(uint64_t *seed)
{
    static const char *const variants[] = {"copy_shared", "naive_read", "naive_write", "tile",
                                           "padded",      "swizzle",    "vector"};
    static const char *const orders[] = {"auto", "row", "column", "diagonal"};
    struct row row =
        plain(variants[next_random(seed) % COUNT(variants)], 8u << next_random(seed) % 4, 4u << next_random(seed) % 2);
    row.n = 1 + next_random(seed) % 300;
    row.m = 1 + next_random(seed) % 300;
    snprintf(row.order, sizeof row.order, "%s", orders[next_random(seed) % COUNT(orders)]);
    if (strcmp(row.variant, "padded") == 0)
        row.pad = next_random(seed) % 5;
    if (strcmp(row.variant, "vector") == 0) {
        row.pad = next_random(seed) % 5;
        row.tile = row.tile == 8 ? 16 : row.tile;
        row.n = (row.n + 3) / 4 * 4;
        row.m = (row.m + 3) / 4 * 4;
    }
    return row;
}

static void replay_of_kinds_is_replay_of_all(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < 150; i++) {
        const struct row row = random_row(&seed);
        const struct transpose_geometry g = geometry_of(&row);
        const struct transpose_counts expected = brute_force(&g);
        struct transpose_counts replayed = counts_of(&row);
        replayed.load_turns = 0; /* no counter: brute force leaves it out */
        if (memcmp(&expected, &replayed, sizeof expected) != 0)
            fail_msg("point %d: %s n=%lld m=%lld tile=%u pad=%u bytes=%u %s: %llu load sectors, %llu store sectors, "
                     "%llu + %llu turns by law; %llu, %llu, %llu + %llu by brute force",
                     i, row.variant, row.n, row.m, row.tile, row.pad, row.bytes, row.order,
                     (unsigned long long)replayed.loads.sectors, (unsigned long long)replayed.stores.sectors,
                     (unsigned long long)replayed.shared_loads.wavefronts,
                     (unsigned long long)replayed.shared_stores.wavefronts, (unsigned long long)expected.loads.sectors,
                     (unsigned long long)expected.stores.sectors, (unsigned long long)expected.shared_loads.wavefronts,
                     (unsigned long long)expected.shared_stores.wavefronts);
        assert_int_equal(expected.loads.bytes, (uint64_t)g.n * g.m * g.bytes);
        assert_int_equal(expected.stores.bytes, (uint64_t)g.n * g.m * g.bytes);
    }
}

static void every_order_takes_every_tile_once(void **state)
{
    static const char *const orders[] = {"row", "column", "diagonal"};
    static const long long sides[][2] = {{100, 300}, {300, 100}, {256, 256}, {1, 999}};
    (void)state;
    for (size_t o = 0; o < COUNT(orders); o++)
        for (size_t s = 0; s < COUNT(sides); s++) {
            struct row row = plain("padded", 16, 4);
            row.n = sides[s][0];
            row.m = sides[s][1];
            snprintf(row.order, sizeof row.order, "%s", orders[o]);
            const struct transpose_geometry g = geometry_of(&row);
            unsigned char *seen = calloc(g.blocks, 1);
            assert_non_null(seen);
            for (uint32_t block = 0; block < g.blocks; block++) {
                const struct transpose_place tile = transpose_tile_of(&g, block);
                assert_true(tile.x < g.tiles_x && tile.y < g.tiles_y);
                assert_int_equal(seen[tile.y * g.tiles_x + tile.x]++, 0);
            }
            free(seen);
        }
}

/* ---- measured ------------------------------------------------------------------------------ */

enum { GOLDEN_COUNTERS = 13, STRUCTURAL = 11 };
static const char *const golden_keys[GOLDEN_COUNTERS] = {
    "global_load_requests",  "global_load_sectors",     "global_load_bytes",
    "global_store_requests", "global_store_sectors",    "global_store_bytes",
    "global_lines",          "shared_load_requests",    "shared_load_wavefronts",
    "shared_store_requests", "shared_store_wavefronts", "dram_read_bytes",
    "dram_write_bytes",
};

enum { FIELDS = 8 + GOLDEN_COUNTERS + 2 };

struct golden {
    struct row row;
    long long counted[GOLDEN_COUNTERS]; /* -1: not to be compared */
    double time_us, copy_us;
};

static long long number_or_auto(const char *text)
{
    return strcmp(text, "auto") == 0 ? 0 : strtoll(text, NULL, 10);
}

static struct golden parse_golden(const char *line)
{
    char text[512], *fields[FIELDS], *rest = text;
    snprintf(text, sizeof text, "%s", line);
    for (size_t i = 0; i < FIELDS; i++) {
        fields[i] = rest;
        rest = strpbrk(rest, ",\n");
        if (rest == NULL)
            fail_msg("too few fields: %s", line);
        *rest++ = '\0';
    }
    struct golden golden = {.row = {.n = number_or_auto(fields[1]), .m = number_or_auto(fields[2])}};
    struct row *row = &golden.row;
    snprintf(row->variant, sizeof row->variant, "%s", fields[0]);
    row->tile = (unsigned)number_or_auto(fields[3]);
    row->pad = (unsigned)number_or_auto(fields[4]);
    row->bytes = (unsigned)number_or_auto(fields[5]);
    row->rows = (unsigned)number_or_auto(fields[6]);
    snprintf(row->order, sizeof row->order, "%s", fields[7]);
    for (size_t i = 0; i < GOLDEN_COUNTERS; i++)
        golden.counted[i] = strtoll(fields[8 + i], NULL, 10);
    golden.time_us = strtod(fields[8 + GOLDEN_COUNTERS], NULL);
    golden.copy_us = strtod(fields[9 + GOLDEN_COUNTERS], NULL);
    return golden;
}

/* The constants of the table, with the copy ceiling of the run that the row is from. */
static struct ub_law law_of(const struct golden *golden)
{
    const struct ub_point point = point_of(&golden->row);
    struct ub_constants constants;
    struct ub_law law;
    ub_gpu_constants(h200(), &constants);
    if (golden->copy_us > 0) {
        const double ceiling_bps = 2.0 * (1u << 30) / (golden->copy_us * 1e-6);
        assert_true(ub_constant_set(&constants, "transpose_copy_ceiling", ceiling_bps, ceiling_bps, ceiling_bps, "B/s",
                                    "tests/golden/transpose_h200.csv"));
    }
    transpose_law(h200(), &constants, &point, &law);
    return law;
}

static void compare_counters(const struct golden *golden, const struct ub_law *law, const char *line)
{
    for (size_t i = 0; i < GOLDEN_COUNTERS; i++) {
        const struct ub_law_counter *counter = &law->counters[i];
        assert_string_equal(counter->key, golden_keys[i]);
        assert_int_equal(counter->class_, i < STRUCTURAL ? UB_STRUCTURAL : UB_ESTIMATE);
        if (golden->counted[i] < 0)
            continue;
        assert_true(counter->known);
        const double residual = (double)golden->counted[i] / (double)counter->predicted - 1;
        const bool agrees =
            i < STRUCTURAL ? (long long)counter->predicted == golden->counted[i] : fabs(residual) <= counter->tolerance;
        if (!agrees)
            fail_msg("%s is %llu by law, not as counted in\n%s", golden_keys[i], (unsigned long long)counter->predicted,
                     line);
    }
}

static void law_agrees_with_an_h200(void **state)
{
    (void)state;
    char line[512];
    unsigned rows = 0, timed = 0;
    FILE *file = fopen(UB_SOURCE_DIR "/tests/golden/transpose_h200.csv", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] == '#' || strncmp(line, "variant", 7) == 0)
            continue;
        const struct golden golden = parse_golden(line);
        const struct ub_law law = law_of(&golden);
        rows++;
        compare_counters(&golden, &law, line);
        if (golden.time_us < 0 || law.tolerance == 0)
            continue;
        timed++;
        const double residual = golden.time_us * 1e3 / law.time_ns - 1;
        if (fabs(residual) > law.tolerance)
            fail_msg("the law says %.1f us (%s), residual %+.1f %%:\n%s", law.time_ns / 1e3, law.bottleneck,
                     residual * 100, line);
    }
    fclose(file);
    assert_true(rows >= 150 && timed >= 60);
}

/* ---- geometry, metrics ------------------------------------------------------------------------ */

/* Not even a matrix of one element has fewer than no conflicts. */
static void the_least_is_that_of_the_active_lanes(void **state)
{
    static const struct {
        uint32_t n, m;
    } sides[] = {{1, 1}, {33, 1}, {1, 33}, {31, 65}, {200, 300}};
    static const char *const variants[] = {"copy",   "copy_shared", "naive_read", "naive_write",
                                           "padded", "swizzle",     "tile"};
    (void)state;
    for (size_t i = 0; i < COUNT(sides); i++)
        for (size_t v = 0; v < COUNT(variants); v++)
            for (unsigned bytes = 4; bytes <= 8; bytes *= 2) {
                struct row row = plain(variants[v], 0, bytes);
                row.n = sides[i].n;
                row.m = sides[i].m;
                const struct transpose_counts t = counts_of(&row);
                assert_true(t.load_sectors_least <= t.loads.sectors && t.store_sectors_least <= t.stores.sectors);
                assert_true(t.load_sectors_least * 32 >= t.loads.bytes);
                assert_true(t.shared_loads.least <= t.shared_loads.wavefronts);
                assert_true(t.shared_stores.least <= t.shared_stores.wavefronts);
                assert_true(t.shared_loads.least >= t.shared_loads.requests);
            }
}

static void what_cannot_run_says_why(void **state)
{
    static const struct {
        struct row row;
        const char *part; /* of the reason; NULL: it runs */
    } cases[] = {
        {{"padded", 0, 0, 0, 1, 4, 0, "auto"}, NULL},
        {{"padded", 31, 1, 8, 4, 8, 0, "diagonal"}, NULL},
        {{"vector", 100, 36, 16, 0, 4, 8, "row"}, NULL},
        {{"copy", 7, 3, 0, 1, 4, 0, "auto"}, NULL},
        {{"padded", 0, 0, 24, 1, 4, 0, "auto"}, "tile is 8"},
        {{"tile", 0, 0, 32, 0, 4, 0, "auto"}, "pad applies"},
        {{"copy", 0, 0, 32, 1, 4, 0, "auto"}, "no tiles"},
        {{"copy", 0, 0, 0, 1, 4, 0, "row"}, "no tiles"},
        {{"padded", 0, 0, 32, 1, 4, 3, "auto"}, "rows is"},
        {{"padded", 0, 0, 32, 1, 4, 64, "auto"}, "rows is"},
        {{"padded", 0, 0, 64, 1, 4, 4, "auto"}, "8 at most"},
        {{"padded", 0, 0, 64, 1, 4, 32, "auto"}, "32 to 1024 threads"},
        {{"naive_read", 0, 0, 8, 1, 4, 2, "auto"}, "32 to 1024 threads"},
        {{"vector", 0, 0, 8, 1, 4, 0, "auto"}, "tile=16 at least"},
        {{"vector", 102, 36, 16, 1, 4, 0, "auto"}, "multiples of"},
        {{"vector", 102, 36, 16, 1, 8, 0, "auto"}, NULL},
        {{"vector", 102, 37, 16, 1, 8, 0, "auto"}, "multiples of"},
        {{"padded", 4 << 20, 4 << 20, 8, 1, 4, 0, "auto"}, "more tiles"},
        {{"copy", 4 << 20, 4 << 20, 0, 1, 8, 0, "auto"}, "more blocks"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct ub_point point = point_of(&cases[i].row);
        const char *reason = ub_micro_transpose.supported(h200(), &point);
        if (cases[i].part == NULL && reason != NULL)
            fail_msg("case %zu: %s", i, reason);
        if (cases[i].part != NULL && (reason == NULL || strstr(reason, cases[i].part) == NULL))
            fail_msg("case %zu: '%s' does not say '%s'", i, reason != NULL ? reason : "(runs)", cases[i].part);
    }
}

/* Whatever the card: above the caches, square, a power of two; blocks of whole warps. */
static void automatic_sizes_are_far_above_the_l2(void **state)
{
    (void)state;
    for (size_t card = 0; card < ub_gpu_count(); card++)
        for (int64_t variant = 0; variant < TRANSPOSE_VARIANTS; variant++)
            for (unsigned bytes = 4; bytes <= 8; bytes += 4) {
                const struct ub_gpu *gpu = ub_gpu_at(card);
                const struct row row = plain(ub_micro_transpose.axes[TRANSPOSE_VARIANT].words[variant], 0, bytes);
                struct ub_point point = point_of(&row);
                struct transpose_geometry g;
                point.values[TRANSPOSE_N] = point.values[TRANSPOSE_M] = 0;
                assert_null(transpose_resolve(gpu, &point, &g));
                assert_int_equal(g.n, g.m);
                assert_int_equal(g.n & (g.n - 1), 0);
                assert_true(transpose_moved_bytes(&g) >= 20 * (double)gpu->l2_bytes);
                assert_true(transpose_moved_bytes(&g) >= 2.0 * (1u << 30));
                assert_int_equal(g.threads % 32, 0);
                assert_true(g.threads >= 64 && g.threads <= 512);
                assert_true(transpose_shared_bytes(&g) <= 48 << 10);
            }
}

static void choices_are_those_that_were_measured(void **state)
{
    static const struct {
        const char *variant;
        unsigned bytes, tile, threads, passes, order;
    } cases[] = {
        {"copy_shared", 4, 64, 512, 8, TRANSPOSE_BY_ROW},    {"naive_read", 4, 32, 256, 4, TRANSPOSE_BY_COLUMN},
        {"naive_write", 8, 32, 512, 2, TRANSPOSE_BY_COLUMN}, {"padded", 4, 64, 512, 8, TRANSPOSE_BY_COLUMN},
        {"padded", 8, 32, 256, 4, TRANSPOSE_BY_COLUMN},      {"vector", 4, 64, 512, 2, TRANSPOSE_BY_COLUMN},
        {"vector", 8, 32, 256, 2, TRANSPOSE_BY_COLUMN},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct row row = plain(cases[i].variant, 0, cases[i].bytes);
        const struct transpose_geometry g = geometry_of(&row);
        assert_int_equal(g.tile, cases[i].tile);
        assert_int_equal(g.threads, cases[i].threads);
        assert_int_equal(g.passes, cases[i].passes);
        assert_int_equal(g.order, cases[i].order);
    }
}

static void what_fits_the_l2_is_not_judged(void **state)
{
    (void)state;
    struct golden small = {.row = plain("padded", 0, 4)};
    const struct ub_law law = law_of(&small);
    assert_string_equal(law.level, "l2");
    assert_true(law.tolerance == 0);
    assert_non_null(law.note);
    assert_false(law.counters[STRUCTURAL].known);
    assert_non_null(law.counters[STRUCTURAL].reason);
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g is not %.12g", value, expected);
}

/* tile=32 without a pad: 4 sectors and 32 turns a request; read and written 2 x 1 MiB in 1 us. */
static void metrics_follow_from_time_and_counters(void **state)
{
    static const uint64_t values[GOLDEN_COUNTERS] = {8192, 32768,  1048576, 8192, 32768,   1048576, 16384,
                                                     8192, 262144, 8192,    8192, 1048576, 1048576};
    (void)state;
    struct row row = plain("tile", 32, 4);
    row.n = row.m = 512;
    const struct ub_point point = point_of(&row);
    struct ub_constants constants;
    ub_gpu_constants(h200(), &constants);
    const struct ub_facts facts = {.gpu = h200(),
                                   .constants = &constants,
                                   .point = &point,
                                   .time_ns = 1000,
                                   .counter_count = GOLDEN_COUNTERS,
                                   .counter_keys = golden_keys,
                                   .counter_values = values};
    struct ub_metrics metrics;
    ub_micro_transpose.metrics(&facts, &metrics);
    assert_int_equal(metrics.count, ub_micro_transpose.metric_count);
    for (size_t i = 0; i < metrics.count; i++)
        assert_string_equal(metrics.items[i].key, ub_micro_transpose.metric_keys[i]);
    assert_near(metric(&metrics, "bandwidth"), 2097152 / 1e-6);
    assert_near(metric(&metrics, "copy_share"), 2097152 / 1e-6 / 4.27e12);
    assert_near(metric(&metrics, "request_excess"), 32);
    assert_near(metric(&metrics, "load_sectors_per_request"), 4);
    assert_near(metric(&metrics, "store_sectors_per_request"), 4);
    assert_near(metric(&metrics, "shared_load_conflicts"), 31);
    assert_near(metric(&metrics, "shared_store_conflicts"), 0);
    assert_near(metric(&metrics, "dram_bandwidth"), 2097152 / 1e-6);
    assert_true(ub_constant_set(&constants, "transpose_copy_ceiling", 4e12, 4e12, 4e12, "B/s", "measured"));
    ub_micro_transpose.metrics(&facts, &metrics);
    assert_near(metric(&metrics, "copy_share"), 2097152 / 1e-6 / 4e12);
    const struct ub_facts nothing = {.gpu = h200(), .constants = &constants, .point = &point, .time_ns = NAN};
    ub_micro_transpose.metrics(&nothing, &metrics);
    for (size_t i = 0; i < metrics.count; i++)
        assert_true(isnan(metrics.items[i].value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_column_costs_a_sector_a_lane),
        cmocka_unit_test(a_pad_leaves_gcd_turns),
        cmocka_unit_test(tile_is_padded_with_nothing),
        cmocka_unit_test(xor_has_no_conflict_whatever_the_tile),
        cmocka_unit_test(vectors_take_a_quarter_of_the_requests_and_no_conflict),
        cmocka_unit_test(copies_touch_what_they_copy),
        cmocka_unit_test(replay_of_kinds_is_replay_of_all),
        cmocka_unit_test(every_order_takes_every_tile_once),
        cmocka_unit_test(law_agrees_with_an_h200),
        cmocka_unit_test(the_least_is_that_of_the_active_lanes),
        cmocka_unit_test(what_cannot_run_says_why),
        cmocka_unit_test(automatic_sizes_are_far_above_the_l2),
        cmocka_unit_test(choices_are_those_that_were_measured),
        cmocka_unit_test(what_fits_the_l2_is_not_judged),
        cmocka_unit_test(metrics_follow_from_time_and_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
