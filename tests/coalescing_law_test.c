/* SPDX-License-Identifier: MIT
 *
 * The law of `coalescing` against closed forms over the whole range, against a brute
 * force that knows neither periods nor the coalescer, and against what an H200
 * counted and took. */
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
#include "micro/coalescing/access.h"
#include "micro/coalescing/rule.h"
#include "tests/rule_fixture.h"

extern const struct ub_micro ub_micro_coalescing;

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- points ------------------------------------------------------------------------ */

/* One line of a golden file: axis values as their words. */
struct row {
    unsigned stride, offset, bytes, fields, block;
    char op[8], pattern[12], shape[8], per_thread[8], size[24];
};

static int64_t word_index(enum coalescing_axis axis, const char *word)
{
    const char *const *words = ub_micro_coalescing.axes[axis].words;
    for (int64_t i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    fail_msg("axis %s has no word '%s'", ub_micro_coalescing.axes[axis].name, word);
    return -1;
}

static int64_t number_or_auto(const char *text)
{
    return strcmp(text, "auto") == 0 ? 0 : strtoll(text, NULL, 10);
}

static struct ub_point point_of(const struct row *row)
{
    struct ub_point point = {{0}};
    char bytes[8];
    snprintf(bytes, sizeof bytes, "%u", row->bytes);
    point.values[COALESCING_STRIDE] = row->stride;
    point.values[COALESCING_OFFSET] = row->offset;
    point.values[COALESCING_BYTES] = word_index(COALESCING_BYTES, bytes);
    point.values[COALESCING_OP] = word_index(COALESCING_OP, row->op);
    point.values[COALESCING_PATTERN] = word_index(COALESCING_PATTERN, row->pattern);
    point.values[COALESCING_FIELDS] = row->fields;
    point.values[COALESCING_BLOCK] = row->block;
    point.values[COALESCING_SHAPE] = word_index(COALESCING_SHAPE, row->shape);
    point.values[COALESCING_PER_THREAD] = number_or_auto(row->per_thread);
    point.values[COALESCING_SIZE] = number_or_auto(row->size);
    return point;
}

static struct row plain(unsigned bytes, const char *op, const char *pattern)
{
    struct row row = {.stride = 1, .bytes = bytes, .fields = 1, .block = 256};
    snprintf(row.op, sizeof row.op, "%s", op);
    snprintf(row.pattern, sizeof row.pattern, "%s", pattern);
    strcpy(row.shape, "linear");
    strcpy(row.per_thread, "auto");
    strcpy(row.size, "auto");
    return row;
}

static struct coalescing_geometry geometry_of(const struct row *row)
{
    const struct ub_point point = point_of(row);
    struct coalescing_geometry g;
    const char *reason = coalescing_resolve(h200(), &point, &g);
    if (reason != NULL)
        fail_msg("stride=%u offset=%u bytes=%u %s %s fields=%u block=%u %s: %s", row->stride, row->offset, row->bytes,
                 row->op, row->pattern, row->fields, row->block, row->shape, reason);
    return g;
}

static struct ub_traffic traffic_of(const struct row *row)
{
    const struct coalescing_geometry g = geometry_of(row);
    struct ub_traffic traffic;
    coalescing_traffic(&g, &traffic);
    return traffic;
}

/* ---- closed forms ------------------------------------------------------------------- */

static const unsigned widths[] = {1, 2, 4, 8, 16};

static void stride_costs_min_of_bytes_times_stride_and_32(void **state)
{
    (void)state;
    for (size_t w = 0; w < COUNT(widths); w++)
        for (unsigned stride = 1; stride <= 1024; stride++) {
            struct row row = plain(widths[w], "load", "stride");
            row.stride = stride;
            const struct ub_traffic t = traffic_of(&row);
            const uint64_t n = geometry_of(&row).accesses, reach = (uint64_t)stride * widths[w];
            assert_int_equal(t.requests, n / 32);
            assert_int_equal(t.sectors, t.requests * (reach < 32 ? reach : 32));
            assert_int_equal(t.bytes, n * widths[w]);
            if (reach % 4 == 0) /* else warps start in the middle of a line */
                assert_int_equal(t.lines, t.requests * (reach < 128 ? reach / 4 : 32));
        }
}

/* 32 contiguous elements from byte `start` on. */
static void offset_costs_one_more_sector_where_it_is_not_aligned(void **state)
{
    (void)state;
    for (size_t w = 0; w < COUNT(widths); w++)
        for (unsigned offset = 0; offset < 128; offset++) {
            struct row row = plain(widths[w], "store", "stride");
            row.offset = offset;
            const struct ub_traffic t = traffic_of(&row);
            const unsigned start = offset * widths[w], sectors = widths[w] + (start % 32 != 0);
            assert_int_equal(t.sectors, t.requests * sectors);
            assert_int_equal(t.bytes, t.requests * 32 * widths[w]);
            if (widths[w] >= 4) /* whole lines a warp */
                assert_int_equal(t.lines, t.requests * (widths[w] / 4 + (start % 128 != 0)));
        }
}

static void order_and_duplicates_are_free(void **state)
{
    (void)state;
    for (size_t w = 0; w < COUNT(widths); w++) {
        struct row row = plain(widths[w], "load", "reverse");
        struct ub_traffic t = traffic_of(&row);
        assert_int_equal(t.sectors, t.requests * widths[w]);
        row = plain(widths[w], "load", "broadcast");
        t = traffic_of(&row);
        assert_int_equal(t.sectors, t.requests);
        assert_int_equal(t.lines, t.requests);
        assert_int_equal(t.bytes, t.requests * widths[w]);
    }
}

static void structures_cost_their_fields_arrays_do_not(void **state)
{
    (void)state;
    for (size_t w = 0; w < COUNT(widths); w++)
        for (unsigned fields = 1; fields <= 16; fields++) {
            struct row row = plain(widths[w], "load", "aos");
            row.fields = fields;
            const uint64_t n = geometry_of(&row).accesses, reach = (uint64_t)fields * widths[w];
            struct ub_traffic t = traffic_of(&row);
            assert_int_equal(t.requests, n / 32 * fields);
            assert_int_equal(t.sectors, t.requests * (reach < 32 ? reach : 32));
            strcpy(row.pattern, "soa");
            t = traffic_of(&row);
            assert_int_equal(t.requests, geometry_of(&row).accesses / 32 * fields);
            assert_int_equal(t.sectors, t.requests * widths[w]);
        }
}

static void blocks_coalesce_along_their_first_dimension(void **state)
{
    static const struct {
        const char *shape;
        unsigned width;
    } shapes[] = {{"32x8", 32}, {"16x16", 16}, {"8x32", 8}, {"1x256", 1}};
    (void)state;
    for (size_t w = 0; w < COUNT(widths); w++)
        for (size_t i = 0; i < COUNT(shapes); i++) {
            struct row row = plain(widths[w], "store", "stride");
            strcpy(row.shape, shapes[i].shape);
            const struct ub_traffic t = traffic_of(&row);
            const unsigned rows = 32 / shapes[i].width, row_bytes = shapes[i].width * widths[w];
            assert_int_equal(t.sectors, t.requests * rows * (row_bytes < 32 ? 1 : row_bytes / 32));
            assert_int_equal(t.lines, t.requests * rows * (row_bytes < 128 ? 1 : row_bytes / 128));
        }
}

/* 48 = a full warp and half a one; 33 = a full one and a lane. Aligned starts of the
 * first kind alternate between byte 0 and 64 of a line: never in mid-sector. */
static void partial_warps_are_requests(void **state)
{
    (void)state;
    struct row row = plain(4, "load", "stride");
    row.block = 48;
    struct ub_traffic t = traffic_of(&row);
    const uint64_t n = geometry_of(&row).accesses;
    assert_int_equal(t.requests, n / 48 * 2);
    assert_int_equal(t.sectors, n / 48 * (4 + 2));
    row.block = 33;
    t = traffic_of(&row);
    assert_int_equal(t.requests, geometry_of(&row).accesses / 33 * 2);
    assert_int_equal(t.bytes, (uint64_t)geometry_of(&row).accesses * 4);
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

static void count_warp(const uint64_t *addresses, unsigned lanes, unsigned width, struct ub_traffic *t)
{
    uint64_t bytes[32 * 16], numbers[32 * 16];
    size_t count = 0;
    for (unsigned lane = 0; lane < lanes; lane++)
        for (unsigned byte = 0; byte < width; byte++)
            bytes[count++] = addresses[lane] + byte;
    t->requests++;
    static const unsigned sizes[] = {1, 32, 128};
    uint64_t *const sums[] = {&t->bytes, &t->sectors, &t->lines};
    for (size_t s = 0; s < COUNT(sizes); s++) {
        for (size_t i = 0; i < count; i++)
            numbers[i] = bytes[i] / sizes[s];
        *sums[s] += distinct(numbers, count);
    }
}

/* Every warp of a launch. */
static struct ub_traffic brute_force(const struct coalescing_geometry *g)
{
    struct ub_traffic t = {0};
    for (uint32_t block = 0; block < g->blocks; block++)
        for (uint32_t k = 0; k < g->per_thread; k++)
            for (uint32_t field = 0; field < g->fields; field++)
                for (uint32_t first = 0; first < g->block; first += 32) {
                    uint64_t addresses[32];
                    unsigned lanes = 0;
                    for (; lanes < 32 && first + lanes < g->block; lanes++) {
                        const enum coalescing_pattern pattern = (enum coalescing_pattern)g->pattern;
                        const uint64_t base = coalescing_base(g, pattern, block, first + lanes, field);
                        addresses[lanes] = coalescing_element(g, pattern, base, k) * g->bytes;
                    }
                    count_warp(addresses, lanes, g->bytes, &t);
                }
    return t;
}

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* A point of any kind whose walk is small. */
static struct row random_row(uint64_t *seed)
{
    static const char *const patterns[] = {"stride", "reverse", "broadcast", "random", "aos", "soa", "stride"};
    static const char *const shapes[] = {"32x8", "16x16", "8x32", "1x256"};
    static const unsigned blocks[] = {32, 33, 48, 64, 100, 256, 257, 480};
    const unsigned kind = next_random(seed) % COUNT(patterns);
    struct row row = plain(widths[next_random(seed) % COUNT(widths)], "load", patterns[kind]);
    row.block = blocks[next_random(seed) % COUNT(blocks)];
    if (kind <= 2) {
        row.stride = 1 + next_random(seed) % 40;
        row.offset = next_random(seed) % 128;
    }
    if (kind == 4 || kind == 5)
        row.fields = 1 + next_random(seed) % 16;
    if (kind == 6) {
        strcpy(row.shape, shapes[next_random(seed) % COUNT(shapes)]);
        row.block = 256;
        row.offset = next_random(seed) % 128;
    }
    /* up to 300 slices: more than two periods of 128, and a rest */
    const unsigned long long slice = (unsigned long long)row.block * row.stride * row.bytes * row.fields;
    const unsigned long long size = slice * (1 + next_random(seed) % 300);
    snprintf(row.size, sizeof row.size, "%llu", size < 65536 ? 65536 : size);
    return row;
}

static void replay_of_one_period_is_replay_of_all(void **state)
{
    (void)state;
    uint64_t seed = 2;
    unsigned several = 0;
    for (int i = 0; i < 300; i++) {
        const struct row row = random_row(&seed);
        const struct coalescing_geometry g = geometry_of(&row);
        const struct ub_traffic expected = brute_force(&g);
        struct ub_traffic replayed;
        coalescing_traffic(&g, &replayed);
        several += (uint64_t)g.blocks * g.per_thread > coalescing_period(&g);
        if (memcmp(&expected, &replayed, sizeof expected) != 0)
            fail_msg(
                "seed point %d (%s stride=%u offset=%u bytes=%u fields=%u block=%u size=%s): %llu sectors, not %llu", i,
                row.pattern, row.stride, row.offset, row.bytes, row.fields, row.block, row.size,
                (unsigned long long)replayed.sectors, (unsigned long long)expected.sectors);
    }
    assert_true(several > 100); /* else the test does not see periods */
}

/* ---- measured ------------------------------------------------------------------------------ */

static FILE *open_golden(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/tests/golden/%s", UB_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("cannot open %s", path);
    return file;
}

static bool parse_row(const char *line, struct row *row, int *used)
{
    return sscanf(line, "%u,%u,%u,%7[^,],%11[^,],%u,%u,%7[^,],%7[^,],%23[^,]%n", &row->stride, &row->offset,
                  &row->bytes, row->op, row->pattern, &row->fields, &row->block, row->shape, row->per_thread, row->size,
                  used) == 10;
}

enum { GOLDEN_COUNTERS = 7 };
static const char *const golden_keys[GOLDEN_COUNTERS] = {
    "global_load_requests", "global_load_sectors", "global_load_bytes", "global_store_requests",
    "global_store_sectors", "global_store_bytes",  "global_lines",
};

static uint64_t predicted(const struct ub_law *law, const char *key)
{
    for (size_t i = 0; i < law->counter_count; i++)
        if (strcmp(law->counters[i].key, key) == 0) {
            assert_true(law->counters[i].known);
            return law->counters[i].predicted;
        }
    fail_msg("the law says nothing of %s", key);
    return 0;
}

static void compare_law(const struct row *row, unsigned accesses, const unsigned long long *counted, const char *line)
{
    const struct ub_point point = point_of(row);
    struct ub_constants constants;
    struct ub_law law;
    ub_gpu_constants(h200(), &constants);
    assert_int_equal(geometry_of(row).accesses, accesses);
    coalescing_law(h200(), &constants, &point, &law);
    for (size_t i = 0; i < GOLDEN_COUNTERS; i++)
        if (predicted(&law, golden_keys[i]) != counted[i])
            fail_msg("%s is %llu by law, not as counted in\n%s", golden_keys[i],
                     (unsigned long long)predicted(&law, golden_keys[i]), line);
}

/* The prototype's random rows (size 0): 2^20 accesses of a scatter over 512 MiB or 1 GiB. */
static void compare_scatter(const struct row *row, unsigned accesses, const unsigned long long *counted)
{
    struct row any = *row;
    strcpy(any.size, "auto");
    struct coalescing_geometry g = geometry_of(&any);
    g.mask = (1u << (row->bytes == 4 ? 27 : 26)) - 1;
    g.accesses = accesses;
    g.blocks = accesses / (g.block * g.per_thread);
    struct ub_traffic t;
    coalescing_traffic(&g, &t);
    const bool stores = strcmp(row->op, "store") == 0;
    assert_int_equal(t.requests, counted[stores ? 3 : 0]);
    assert_int_equal(t.sectors, counted[stores ? 4 : 1]);
    assert_int_equal(t.bytes, counted[stores ? 5 : 2]);
    assert_int_equal(t.lines, counted[6]);
}

static void law_equals_what_an_h200_counted(void **state)
{
    (void)state;
    FILE *file = open_golden("coalescing_ncu_h200.csv");
    char line[512];
    unsigned rows = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        struct row row;
        int used = 0;
        if (line[0] == '#' || !parse_row(line, &row, &used))
            continue;
        unsigned accesses;
        unsigned long long c[GOLDEN_COUNTERS];
        assert_int_equal(sscanf(line + used, ",%u,%llu,%llu,%llu,%llu,%llu,%llu,%llu", &accesses, &c[0], &c[1], &c[2],
                                &c[3], &c[4], &c[5], &c[6]),
                         1 + GOLDEN_COUNTERS);
        rows++;
        if (strcmp(row.size, "0") == 0)
            compare_scatter(&row, accesses, c);
        else
            compare_law(&row, accesses, c, line);
    }
    fclose(file);
    assert_true(rows >= 240);
}

/* Rows whose law is known to be wrong by more than its tolerance (rule.c, "breaks",
 * and the notes of law.c), by how they are wrong. */
static bool known_to_deviate(const struct row *row)
{
    const bool stores = strcmp(row->op, "load") != 0, narrow = row->bytes < 4;
    if (stores && narrow && row->stride > 1 && row->stride * row->bytes % 4 != 0)
        return true; /* gaps of part of a word: up to 82 % */
    if (stores && row->bytes == 1 && row->stride == 128)
        return true; /* 11 % */
    if (stores && (strcmp(row->pattern, "broadcast") == 0 || strcmp(row->shape, "linear") != 0))
        return true; /* equal and partial stores are rough: -27 to +99 % */
    if (narrow && (strcmp(row->pattern, "aos") == 0 || strcmp(row->pattern, "soa") == 0))
        return true; /* instructions and registers of narrow fields: -14 to +30 % */
    if (narrow && (strcmp(row->shape, "linear") != 0 || strcmp(row->pattern, "reverse") == 0))
        return true; /* 17 % */
    if (row->bytes == 1 && row->block == 1024)
        return true; /* broadcast, 38 registers: one block a SM */
    if (row->bytes == 16 && (strcmp(row->shape, "1x256") == 0 || row->fields == 8))
        return true;                                                      /* 110 %, 14 % */
    return row->fields >= 15 || (row->fields == 3 && row->block == 1024); /* 14 % */
}

static void time_law_agrees_with_what_an_h200_took(void **state)
{
    (void)state;
    FILE *file = open_golden("coalescing_time_h200.csv");
    char line[512];
    unsigned rows = 0, tested = 0;
    struct ub_constants constants;
    ub_gpu_constants(h200(), &constants);
    while (fgets(line, sizeof line, file) != NULL) {
        struct row row;
        int used = 0;
        double time_us, load_gbps;
        if (line[0] == '#' || !parse_row(line, &row, &used))
            continue;
        assert_int_equal(sscanf(line + used, ",%lf,%lf", &time_us, &load_gbps), 2);
        assert_true(ub_constant_set(&constants, "dram_load_ceiling", load_gbps * 1e9, NAN, NAN, "B/s", "the same run"));
        const struct ub_point point = point_of(&row);
        struct ub_law law;
        coalescing_law(h200(), &constants, &point, &law);
        rows++;
        if (law.tolerance == 0 || known_to_deviate(&row))
            continue;
        tested++;
        const double residual = time_us * 1e3 / law.time_ns - 1;
        if (fabs(residual) > law.tolerance)
            fail_msg("the law says %.1f us (%s), residual %+.1f %%:\n%s", law.time_ns / 1e3, law.bottleneck,
                     residual * 100, line);
    }
    fclose(file);
    assert_true(rows >= 850 && tested >= 650);
}

/* ---- geometry ---------------------------------------------------------------------------------- */

static void what_cannot_run_says_why(void **state)
{
    static const struct {
        struct row row;
        const char *part; /* of the reason; NULL: it runs */
    } cases[] = {
        {{1, 0, 4, 1, 256, "load", "stride", "linear", "auto", "auto"}, NULL},
        {{1, 0, 4, 1, 256, "load", "aos", "linear", "auto", "auto"}, NULL},
        {{1, 0, 4, 1, 256, "load", "stride", "linear", "4", "auto"}, NULL},
        {{1, 0, 4, 1, 256, "load", "reverse", "linear", "4", "auto"}, NULL},
        {{2, 0, 4, 1, 256, "load", "random", "linear", "auto", "auto"}, "stride and offset"},
        {{1, 3, 4, 2, 256, "load", "soa", "linear", "auto", "auto"}, "stride and offset"},
        {{1, 0, 4, 2, 256, "load", "stride", "linear", "auto", "auto"}, "fields applies"},
        {{1, 0, 4, 1, 128, "load", "stride", "32x8", "auto", "auto"}, "block=256"},
        {{2, 0, 4, 1, 256, "load", "stride", "32x8", "auto", "auto"}, "stride=1"},
        {{1, 0, 4, 1, 256, "load", "reverse", "8x32", "auto", "auto"}, "pattern=stride"},
        {{1, 0, 4, 1, 256, "load", "stride", "linear", "3", "auto"}, "per_thread is"},
        {{1, 0, 4, 1, 256, "load", "stride", "linear", "8", "auto"}, "per_thread is"},
        {{1, 0, 4, 1, 256, "load", "reverse", "linear", "2", "auto"}, "per_thread can"},
        {{1, 0, 1, 1, 256, "load", "stride", "linear", "auto", "8589934592"}, "2^32"},
        {{1, 0, 1, 1, 256, "load", "random", "linear", "auto", "8589934592"}, "2^32"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct ub_point point = point_of(&cases[i].row);
        const char *reason = ub_micro_coalescing.supported(h200(), &point);
        if (cases[i].part == NULL)
            assert_null(reason);
        else if (reason == NULL || strstr(reason, cases[i].part) == NULL)
            fail_msg("case %zu: '%s' does not say '%s'", i, reason != NULL ? reason : "(runs)", cases[i].part);
    }
}

/* At least 4 Mi accesses, more than four L2 caches, whole blocks, and no access beyond
 * the region, whatever the card and the axes. */
static void automatic_sizes_never_shrink_into_a_cache(void **state)
{
    static const unsigned strides[] = {1, 2, 31, 32, 33, 127, 512, 1024};
    static const char *const all_ops[] = {"load", "store", "copy"};
    static const char *const linear[] = {"stride", "reverse", "broadcast"};
    (void)state;
    for (size_t card = 0; card < ub_gpu_count(); card++)
        for (size_t w = 0; w < COUNT(widths); w++)
            for (size_t s = 0; s < COUNT(strides); s++)
                for (size_t o = 0; o < COUNT(all_ops); o++)
                    for (size_t p = 0; p < COUNT(linear); p++) {
                        struct row row = plain(widths[w], all_ops[o], linear[p]);
                        row.stride = strides[s];
                        row.block = 48;
                        const struct ub_gpu *gpu = ub_gpu_at(card);
                        const struct ub_point point = point_of(&row);
                        struct coalescing_geometry g;
                        assert_null(coalescing_resolve(gpu, &point, &g));
                        assert_true(g.accesses >= 4u << 20);
                        assert_int_equal((uint64_t)g.blocks * g.block * g.per_thread, g.accesses);
                        assert_true(coalescing_touched_bytes(gpu, &g) >= 4 * gpu->l2_bytes);
                        assert_true((g.accesses - 1ull) * g.stride < g.elements);
                    }
}

static void size_on_an_h200_is_2_gib(void **state)
{
    (void)state;
    struct row row = plain(16, "load", "stride");
    assert_int_equal(geometry_of(&row).accesses, 1u << 27);
    assert_int_equal(geometry_of(&row).per_thread, 1);
    row = plain(4, "load", "aos");
    row.fields = 2;
    assert_int_equal(geometry_of(&row).per_thread, 2);
    row.fields = 3;
    assert_int_equal(geometry_of(&row).per_thread, 2);
    row.fields = 4;
    assert_int_equal(geometry_of(&row).per_thread, 1);
    row = plain(4, "load", "random");
    assert_int_equal(geometry_of(&row).accesses, 1u << 24);
    assert_int_equal(geometry_of(&row).elements, 1u << 29);
}

/* ---- estimates, metrics ------------------------------------------------------------------------- */

static struct ub_law law_of(const struct row *row)
{
    const struct ub_point point = point_of(row);
    struct ub_constants constants;
    struct ub_law law;
    ub_gpu_constants(h200(), &constants);
    coalescing_law(h200(), &constants, &point, &law);
    return law;
}

/* Bytes of an H200 under ncu, 2 GiB walked; read and written, 0: not predicted. */
static void dram_bytes_are_near_what_an_h200_moved(void **state)
{
    static const struct {
        struct row row;
        double read, written;
    } cases[] = {
        {{1, 0, 4, 1, 256, "load", "stride", "linear", "auto", "auto"}, 2147495680.0, 0},
        {{16, 0, 4, 1, 256, "load", "stride", "linear", "auto", "auto"}, 2147501568.0, 0},
        {{24, 0, 4, 1, 256, "load", "stride", "linear", "auto", "auto"}, 1431715840.0, 0},
        {{127, 0, 4, 1, 256, "load", "stride", "linear", "auto", "auto"}, 270612480.0, 0},
        {{8, 0, 16, 1, 256, "load", "stride", "linear", "auto", "auto"}, 1073760256.0, 0},
        {{1, 0, 4, 1, 256, "store", "stride", "linear", "auto", "auto"}, 0, 2141310208.0},
        {{2, 0, 4, 1, 256, "store", "stride", "linear", "auto", "auto"}, 2138802432.0, 2132622592.0},
        {{32, 0, 4, 1, 256, "store", "stride", "linear", "auto", "auto"}, 534581248.0, 534653440.0},
        {{1, 0, 4, 1, 256, "copy", "stride", "linear", "auto", "auto"}, 2147495936.0, 2144884992.0},
        {{2, 0, 4, 1, 256, "copy", "stride", "linear", "auto", "auto"}, 4287460864.0, 2141121024.0},
        {{16, 0, 4, 1, 256, "copy", "stride", "linear", "auto", "auto"}, 3217137664.0, 1070755840.0},
        {{1, 0, 4, 1, 256, "load", "random", "linear", "auto", "auto"}, 1063990272.0, 0},
        {{1, 0, 4, 1, 256, "store", "random", "linear", "auto", "auto"}, 531578880.0, 553845760.0},
        {{1, 0, 4, 1, 256, "load", "broadcast", "linear", "auto", "auto"}, 1073780992.0, 0},
        {{1, 0, 4, 1, 256, "store", "broadcast", "linear", "auto", "auto"}, 534866944.0, 557041664.0},
        {{1, 0, 4, 3, 256, "load", "soa", "linear", "auto", "auto"}, 2147502848.0, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct ub_law law = law_of(&cases[i].row);
        const double moved[] = {cases[i].read, cases[i].written};
        assert_string_equal(law.level, "dram");
        for (size_t j = 0; j < 2; j++) {
            const struct ub_law_counter *counter = &law.counters[GOLDEN_COUNTERS + j];
            assert_string_equal(counter->key, j == 0 ? "dram_read_bytes" : "dram_write_bytes");
            assert_int_equal(counter->class_, UB_ESTIMATE);
            assert_non_null(counter->reason);
            assert_int_equal(counter->known, moved[j] > 0);
            if (counter->known && fabs(moved[j] / (double)counter->predicted - 1) > counter->tolerance)
                fail_msg("case %zu: %s is %llu by law, an H200 moved %.0f", i, counter->key,
                         (unsigned long long)counter->predicted, moved[j]);
        }
    }
}

static void small_footprints_are_not_judged(void **state)
{
    (void)state;
    struct row row = plain(16, "load", "stride");
    strcpy(row.size, "16777216");
    const struct ub_law law = law_of(&row);
    assert_string_equal(law.level, "l2");
    assert_true(law.tolerance == 0);
    assert_non_null(law.note);
    assert_false(law.counters[GOLDEN_COUNTERS].known);
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g is not %.12g", value, expected);
}

static void metrics_follow_from_time_and_counters(void **state)
{
    static const char *const keys[] = {"global_load_requests", "global_load_sectors", "global_load_bytes",
                                       "dram_read_bytes"};
    static const uint64_t values[] = {8388608, 67108864, 1073741824, 2147483648};
    (void)state;
    struct row row = plain(4, "load", "stride");
    row.stride = 2;
    const struct ub_point point = point_of(&row);
    struct ub_constants constants;
    ub_gpu_constants(h200(), &constants);
    const struct ub_facts facts = {.gpu = h200(),
                                   .constants = &constants,
                                   .point = &point,
                                   .time_ns = 460210,
                                   .counter_count = COUNT(keys),
                                   .counter_keys = keys,
                                   .counter_values = values};
    struct ub_metrics metrics;
    ub_micro_coalescing.metrics(&facts, &metrics);
    assert_int_equal(metrics.count, ub_micro_coalescing.metric_count);
    for (size_t i = 0; i < metrics.count; i++)
        assert_string_equal(metrics.items[i].key, ub_micro_coalescing.metric_keys[i]);
    assert_near(metric(&metrics, "useful_bandwidth"), 1073741824 / 460210e-9);
    assert_near(metric(&metrics, "ceiling_share"), 1073741824 / 460210e-9 / 4.68e12);
    assert_near(metric(&metrics, "sectors_per_request"), 8);
    assert_near(metric(&metrics, "efficiency"), 0.5);
    assert_near(metric(&metrics, "dram_bandwidth"), 2147483648 / 460210e-9);
    const struct ub_facts nothing = {.gpu = h200(), .constants = &constants, .point = &point, .time_ns = NAN};
    ub_micro_coalescing.metrics(&nothing, &metrics);
    for (size_t i = 0; i < metrics.count; i++)
        assert_true(isnan(metrics.items[i].value));
}

/* An element that a warp shares is useful once; a copy counts both sides. */
static void useful_bytes_are_distinct(void **state)
{
    (void)state;
    struct row row = plain(4, "load", "broadcast");
    struct coalescing_geometry g = geometry_of(&row);
    assert_near(coalescing_useful_bytes(&g), g.accesses / 32.0 * 4);
    row = plain(4, "copy", "aos");
    row.fields = 3;
    g = geometry_of(&row);
    assert_near(coalescing_useful_bytes(&g), g.accesses * 24.0);
}

/* Loads of 4 bytes: 1/8 of the ceiling from a step of 32 bytes on. */
static void second_curve_is_the_law_of_32_byte_sectors(void **state)
{
    static const struct {
        unsigned stride;
        double share;
    } cases[] = {{8, 0.125}, {16, 0.125}, {32, 0.125}};
    (void)state;
    struct ub_constants constants;
    ub_gpu_constants(h200(), &constants);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct row row = plain(4, "load", "stride");
        row.stride = cases[i].stride;
        const struct ub_point point = point_of(&row);
        assert_near(ub_micro_coalescing.chart.second(h200(), &constants, &point) / 4.68e12, cases[i].share);
    }
    const struct row none[] = {plain(4, "store", "stride"), plain(4, "load", "stride"), plain(4, "load", "reverse")};
    for (size_t i = 0; i < COUNT(none); i++) {
        const struct ub_point point = point_of(&none[i]);
        assert_true(isnan(ub_micro_coalescing.chart.second(h200(), &constants, &point)));
    }
}

/* Kernel and law share access.h; what checks them must not. */
static void checks_do_not_use_the_pattern(void **state)
{
    static const char *const files[] = {"rule.c", "verify.c", "geometry.c", "geometry.h", "rule.h"};
    (void)state;
    for (size_t i = 0; i < COUNT(files); i++) {
        char path[512], line[512];
        snprintf(path, sizeof path, "%s/micro/coalescing/%s", UB_SOURCE_DIR, files[i]);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        while (fgets(line, sizeof line, file) != NULL)
            if (strstr(line, "#include") != NULL && strstr(line, "access.h") != NULL)
                fail_msg("%s includes access.h", files[i]);
        fclose(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stride_costs_min_of_bytes_times_stride_and_32),
        cmocka_unit_test(offset_costs_one_more_sector_where_it_is_not_aligned),
        cmocka_unit_test(order_and_duplicates_are_free),
        cmocka_unit_test(structures_cost_their_fields_arrays_do_not),
        cmocka_unit_test(blocks_coalesce_along_their_first_dimension),
        cmocka_unit_test(partial_warps_are_requests),
        cmocka_unit_test(replay_of_one_period_is_replay_of_all),
        cmocka_unit_test(law_equals_what_an_h200_counted),
        cmocka_unit_test(time_law_agrees_with_what_an_h200_took),
        cmocka_unit_test(what_cannot_run_says_why),
        cmocka_unit_test(automatic_sizes_never_shrink_into_a_cache),
        cmocka_unit_test(size_on_an_h200_is_2_gib),
        cmocka_unit_test(dram_bytes_are_near_what_an_h200_moved),
        cmocka_unit_test(small_footprints_are_not_judged),
        cmocka_unit_test(metrics_follow_from_time_and_counters),
        cmocka_unit_test(useful_bytes_are_distinct),
        cmocka_unit_test(second_curve_is_the_law_of_32_byte_sectors),
        cmocka_unit_test(checks_do_not_use_the_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
