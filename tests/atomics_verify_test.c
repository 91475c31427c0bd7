/* SPDX-License-Identifier: MIT
 *
 * The answers of `atomics` against a host that walks every lane as the kernel does, through
 * access.h: right sums and old values are taken; a sum that is one off, a lost add, an old
 * value that came twice and a buffer that is too small are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "micro/atomics/access.h"
#include "micro/atomics/rule.h"
#include "tests/rule_fixture.h"

extern const struct ub_micro ub_micro_atomics;

struct instance {
    struct ub_gpu gpu;
    struct ub_point point;
    struct atomics_geometry g;
    struct ub_buffers buffers;
    uint64_t *numbers; /* of each address and copy: what it holds */
    uint32_t checksum;
};

static void add_lane(struct instance *in, uint32_t copy, uint32_t warp, uint32_t lane)
{
    const struct atomics_geometry *g = &in->g;
    uint32_t address = atomics_first(warp, lane, g->lanes, g->addresses);
    for (uint32_t i = 0; i < g->steps; i++) {
        assert_true(address < g->addresses);
        uint64_t *number = &in->numbers[copy * g->addresses + address];
        if (g->used)
            in->checksum += (uint32_t)(*number * *number);
        *number += g->varied ? 1 + lane % 7 : 1;
        address = atomics_next(address, atomics_step(g->warps, g->lanes, g->addresses), g->addresses);
    }
}

/* Halves of the whole numbers that come up here, written down by hand. */
static uint32_t half2(uint64_t number)
{
    static const uint16_t halves[] = {0, 0x3C00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700, 0x4800};
    assert_true(number < sizeof halves / sizeof halves[0]);
    return (uint32_t)halves[number] << 16 | halves[number];
}

static void put(const struct atomics_geometry *g, char *at, uint64_t number)
{
    const uint32_t word = g->type == ATOMICS_HALF2 ? half2(number) : (uint32_t)number;
    const float single = (float)number;
    const double real = (double)number;
    if (g->type == ATOMICS_LONG)
        memcpy(at, &number, sizeof number);
    else if (g->type == ATOMICS_FLOAT)
        memcpy(at, &single, sizeof single);
    else if (g->type == ATOMICS_DOUBLE)
        memcpy(at, &real, sizeof real);
    else
        memcpy(at, &word, sizeof word);
}

static void open_instance(struct instance *in, const char *axes)
{
    const struct ub_point point = parse_point(&ub_micro_atomics, axes);
    *in = (struct instance){.gpu = *h200()};
    in->gpu.sms = 3;
    assert_true(atomics_small(&in->gpu, &point, &in->point));
    const char *reason = atomics_resolve(&in->gpu, &in->point, &in->g);
    if (reason)
        fail_msg("%s: %s", axes, reason);
    const struct atomics_geometry *g = &in->g;
    in->numbers = calloc((size_t)g->copies * g->addresses, sizeof *in->numbers);
    in->buffers = (struct ub_buffers){1, {calloc(1, atomics_buffer_bytes(g))}, {atomics_buffer_bytes(g)}};
    assert_true(in->numbers && in->buffers.pointers[0]);
    for (uint32_t block = 0; block < g->blocks; block++)
        for (uint32_t w = 0; w < g->block_warps; w++)
            for (uint32_t lane = 0; lane < 32; lane++) {
                const uint32_t own = g->way == ATOMICS_COMPILER ? 0 : w;
                const bool shared = g->space == ATOMICS_SHARED;
                add_lane(in, shared ? block : 0, shared ? own : atomics_warp(block, g->blocks, own), lane);
            }
    for (uint32_t n = 0; n < g->copies * g->addresses; n++)
        put(g, (char *)in->buffers.pointers[0] + (uint64_t)n * g->apart, in->numbers[n]);
}

static bool is_right(struct instance *in, uint32_t checksum, enum ub_status wrong)
{
    struct ub_error err = {0};
    const bool ok = atomics_verify(&in->gpu, &in->point, &in->buffers, 1, checksum, &err);
    assert_true(ok || err.status == wrong);
    return ok;
}

static void answers_are_checked(void **state)
{
    static const char *const points[] = {
        "addresses=1",
        "addresses=7 result=used",
        "addresses=37 lanes=1 warps=5",
        "addresses=999 lanes=3 apart=36 result=used",
        "addresses=4194272",
        "type=long addresses=33 lanes=11",
        "type=long addresses=2 result=used",
        "type=float addresses=96",
        "type=float addresses=5 result=used",
        "type=double addresses=64 apart=128 result=used",
        "type=half2 addresses=4096",
        "space=shared addresses=1 result=used",
        "space=shared addresses=39 lanes=13 warps=3",
        "space=shared type=float addresses=31 result=used",
        "space=shared type=double addresses=6",
        "space=shared way=one addresses=3",
        "space=shared way=compiler",
        "way=compiler addresses=1",
        "way=compiler addresses=3",
        "way=cas addresses=704",
        "way=private addresses=100 lanes=10",
        "way=private type=long addresses=96 apart=16",
    };
    (void)state;
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        struct instance in;
        open_instance(&in, points[i]);
        if (!is_right(&in, in.checksum, UB_WRONG_ANSWER))
            fail_msg("%s", points[i]);
        assert_false(is_right(&in, in.checksum + 1, UB_WRONG_ANSWER)); /* an old value came twice */
        char *last = (char *)in.buffers.pointers[0] + in.buffers.sizes_bytes[0] - in.g.apart;
        last[in.g.bytes - 2] ^= 1; /* the lowest byte that no format lacks */
        assert_false(is_right(&in, in.checksum, UB_WRONG_ANSWER));
        last[in.g.bytes - 2] ^= 1;
        put(&in.g, last, in.numbers[in.g.copies * in.g.addresses - 1] - 1); /* an add was lost */
        assert_false(is_right(&in, in.checksum, UB_WRONG_ANSWER));
        in.buffers.sizes_bytes[0] -= 4;
        assert_false(is_right(&in, in.checksum, UB_INTERNAL));
        free(in.buffers.pointers[0]);
        free(in.numbers);
    }
}

/* The reference of 0 + 1 + 4 + ... by hand: 3 adds of 1 to each of two addresses. */
static void old_values_are_known(void **state)
{
    struct instance in;
    (void)state;
    open_instance(&in, "addresses=32 result=used warps=1");
    in.gpu.sms = 1;
    in.point.values[ATOMICS_LENGTH] = 1;
    uint32_t sums[32];
    for (int a = 0; a < 32; a++)
        sums[a] = 4; /* one warp, four steps */
    in.buffers.pointers[0] = memcpy(in.buffers.pointers[0], sums, sizeof sums);
    in.buffers.sizes_bytes[0] = sizeof sums;
    assert_true(is_right(&in, 32 * (0 + 1 + 4 + 9), UB_WRONG_ANSWER));
    assert_false(is_right(&in, 32 * (0 + 1 + 4 + 4), UB_WRONG_ANSWER));
    free(in.buffers.pointers[0]);
    free(in.numbers);
}

static void a_small_instance_is_small(void **state)
{
    (void)state;
    struct ub_point small;
    struct atomics_geometry g;
    const struct ub_point wide = parse_point(&ub_micro_atomics, "addresses=262144 apart=4096");
    assert_true(atomics_small(h200(), &wide, &small));
    assert_null(atomics_resolve(h200(), &small, &g));
    assert_int_equal(g.addresses, 4096);
    assert_int_equal(g.steps, 4);
    const struct ub_point bad = parse_point(&ub_micro_atomics, "addresses=1 lanes=2");
    assert_false(atomics_small(h200(), &bad, &small));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_checked),
        cmocka_unit_test(old_values_are_known),
        cmocka_unit_test(a_small_instance_is_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
