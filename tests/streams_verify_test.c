/* SPDX-License-Identifier: MIT
 *
 * The answers of `streams`: what small instances are, and that one wrong element anywhere on
 * the way is found. */
#include <stdlib.h>

#include "micro/streams/rule.h"
#include "tests/rule_fixture.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

extern const struct ub_micro ub_micro_streams;

static const char *const points[] = {
    "",
    "streams=1 segments=1",
    "streams=3 segments=5 size=20Ki work=0",
    "work=6144 order=breadth",
    "work=100 host=pageable",
    "queue=blocking between=kernel work=65",
    "queue=legacy work=1",
    "stages=in streams=1 segments=1",
    "stages=out host=pageable",
    "stages=both streams=2 segments=1",
    "stages=kernel work=65536",
};

static void small_instances_keep_what_matters(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(points); i++) {
        const struct ub_point point = parse_point(&ub_micro_streams, points[i]);
        struct ub_point small;
        struct streams_geometry full, g;
        assert_true(ub_micro_streams.small(h200(), &point, &small));
        assert_null(streams_resolve(h200(), &point, &full));
        assert_null(streams_resolve(h200(), &small, &g));
        assert_int_equal(g.size_bytes, (uint64_t)full.segments * 4096);
        assert_int_equal(g.segments, full.segments);
        assert_int_equal(g.streams, full.streams);
        assert_true(g.stages == full.stages && g.queue == full.queue && g.order == full.order && g.host == full.host);
        assert_int_equal(g.work % 64, full.work % 64);
        assert_true(g.work <= 256 && (g.work >= 64) == (full.work >= 64));
    }
    const struct ub_point impossible = parse_point(&ub_micro_streams, "streams=3 segments=3");
    struct ub_point small;
    assert_false(ub_micro_streams.small(h200(), &impossible, &small));
}

/* x * x - 61/32, from 0.5: -1.65625 and so on, by hand. */
static void results_by_hand(void **state)
{
    static const struct {
        uint32_t work;
        float in, out;
    } rows[] = {
        {0, 0.5F, 0.5F},          {1, 0.5F, -1.65625F}, {1, -0.5F, -1.65625F},
        {2, 0.5F, 0.8369140625F}, {1, 0, -1.90625F},    {2, 0, 1.7275390625F},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ub_point point = parse_point(&ub_micro_streams, "stages=kernel streams=1 segments=1 size=4Ki");
        static float in[1024], out[1024];
        struct ub_error err = {0};
        point.values[STREAMS_WORK] = rows[i].work;
        for (size_t n = 0; n < COUNT(in); n++) {
            in[n] = rows[i].in;
            out[n] = rows[i].out;
        }
        const struct ub_buffers host = {.count = 2, .pointers = {in, out}, .sizes_bytes = {4096, 4096}};
        if (!ub_micro_streams.verify(h200(), &point, &host, 1, 0, &err))
            fail_msg("%s", err.text);
        out[1023] = nextafterf(out[1023], 2);
        assert_false(ub_micro_streams.verify(h200(), &point, &host, 1, 0, &err));
        assert_int_equal(err.status, UB_WRONG_ANSWER);
        assert_non_null(strstr(err.text, "computed: element 1023 is"));
    }
}

static float result_of(float x, uint32_t work)
{
    for (uint32_t i = 0; i < work; i++)
        x = (float)((double)x * (double)x - 1.90625); /* exact but for the last step, as a fused one */
    return x;
}

/* Buffers as a right launch leaves them; the caller frees the pointers. */
static void make_answer(const struct streams_geometry *g, const struct ub_footprint *footprint, struct ub_buffers *out)
{
    float *at[STREAMS_BUFFERS] = {NULL};
    *out = (struct ub_buffers){.count = footprint->count};
    for (int i = 0; i < STREAMS_BUFFERS; i++) {
        const int index = streams_buffer_index(g, (enum streams_buffer)i);
        if (index < 0)
            continue;
        at[i] = malloc(g->size_bytes);
        assert_non_null(at[i]);
        out->pointers[index] = at[i];
        out->sizes_bytes[index] = footprint->buffers[index].size_bytes;
    }
    for (uint64_t n = 0; n < g->size_bytes / sizeof(float); n++) {
        const float x = (float)((int)(n * 2654435761u >> 8 & 2047) - 1024) / 1024;
        const float result = g->has_kernel ? result_of(x, g->work) : x;
        const float values[STREAMS_BUFFERS] = {x, x, result, result};
        for (int i = 0; i < STREAMS_BUFFERS; i++)
            if (at[i])
                at[i][n] = values[i];
    }
}

static void one_wrong_element_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(points); i++) {
        const struct ub_point point = parse_point(&ub_micro_streams, points[i]);
        struct ub_point small;
        struct streams_geometry g;
        struct ub_footprint footprint;
        struct ub_buffers host;
        struct ub_error err = {0};
        assert_true(ub_micro_streams.small(h200(), &point, &small));
        assert_null(streams_resolve(h200(), &small, &g));
        ub_micro_streams.footprint(h200(), &small, &footprint);
        make_answer(&g, &footprint, &host);
        if (!ub_micro_streams.verify(h200(), &small, &host, 1, 0, &err))
            fail_msg("%s: %s", points[i], err.text);
        for (size_t b = 0; b < host.count; b++) {
            const uint64_t places[] = {0, g.size_bytes / 2 + 1, g.size_bytes - 1};
            for (size_t p = 0; p < COUNT(places); p++) {
                unsigned char *byte = (unsigned char *)host.pointers[b] + places[p];
                *byte ^= 0x10;
                assert_false(ub_micro_streams.verify(h200(), &small, &host, 1, 0, &err));
                *byte ^= 0x10;
            }
        }
        host.sizes_bytes[0] = 16;
        assert_false(ub_micro_streams.verify(h200(), &small, &host, 1, 0, &err));
        assert_int_equal(err.status, UB_INTERNAL);
        for (size_t b = 0; b < host.count; b++)
            free(host.pointers[b]);
    }
}

/* What a launch writes is poisoned before; what it reads is filled. */
static void footprints_say_what_is_written(void **state)
{
    static const struct {
        const char *axes;
        size_t count;
        const char *names[4];
        bool output[4];
    } rows[] = {
        {"", 4, {"host in", "device in", "device out", "host out"}, {false, true, true, true}},
        {"stages=in", 2, {"host in", "device in"}, {false, true}},
        {"stages=out", 2, {"device out", "host out"}, {false, true}},
        {"stages=both streams=2", 4, {"host in", "device in", "device out", "host out"}, {false, true, false, true}},
        {"stages=kernel", 2, {"device in", "device out"}, {false, true}},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_point point = parse_point(&ub_micro_streams, rows[i].axes);
        struct ub_footprint footprint;
        ub_micro_streams.footprint(h200(), &point, &footprint);
        assert_int_equal(footprint.count, rows[i].count);
        for (size_t b = 0; b < rows[i].count; b++) {
            const struct ub_buffer_spec *spec = &footprint.buffers[b];
            assert_string_equal(spec->name, rows[i].names[b]);
            assert_int_equal(spec->output, rows[i].output[b]);
            assert_int_equal(spec->fill, rows[i].output[b] ? UB_FILL_POISON : UB_FILL_FLOAT);
            assert_int_equal(spec->size_bytes, 64 << 20);
            assert_int_equal(spec->memory, strncmp(spec->name, "host", 4) == 0 ? UB_PINNED_MEMORY : UB_DEVICE_MEMORY);
        }
    }
    const struct ub_point pageable = parse_point(&ub_micro_streams, "host=pageable");
    struct ub_footprint footprint;
    ub_micro_streams.footprint(h200(), &pageable, &footprint);
    assert_int_equal(footprint.buffers[0].memory, UB_PAGEABLE_MEMORY);
    assert_int_equal(footprint.buffers[3].memory, UB_PAGEABLE_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_instances_keep_what_matters),
        cmocka_unit_test(results_by_hand),
        cmocka_unit_test(one_wrong_element_is_found),
        cmocka_unit_test(footprints_say_what_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
