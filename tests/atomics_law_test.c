/* SPDX-License-Identifier: MIT
 *
 * The rule `atomics` against closed forms: what an instruction is cut into, at every number of
 * lanes and distance that can be worked out by hand, what is counted, how long it takes, and
 * what cannot go together. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "micro/atomics/access.h"
#include "micro/atomics/rule.h"
#include "tests/rule_fixture.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

extern const struct ub_micro ub_micro_atomics;

static struct ub_point point_of(const char *axes)
{
    return parse_point(&ub_micro_atomics, axes);
}

static const char *refusal_of(const struct ub_gpu *gpu, const char *axes)
{
    const struct ub_point point = point_of(axes);
    return ub_micro_atomics.supported(gpu, &point);
}

static struct atomics_geometry geometry_of(const struct ub_gpu *gpu, const char *axes)
{
    const struct ub_point point = point_of(axes);
    struct atomics_geometry g;
    const char *reason = atomics_resolve(gpu, &point, &g);
    if (reason)
        fail_msg("%s: %s", axes, reason);
    return g;
}

/* Round numbers, as if measured. */
static struct ub_constants round_constants(void)
{
    static const struct {
        const char *name;
        double value;
    } rows[] = {
        {"clock_mhz", 2000},          {"launch_floor_ns", 0},       {"atomic_part_ns", 0.5},
        {"atomic_address_ns", 0.625}, {"atomic_float_ns", 1.5},     {"packet_line_ns", 0.032},
        {"packet_sector_ns", 0.014},  {"packet_address_ns", 0.010}, {"atomic_reply_ns", 0.016},
        {"atomic_wait_ns", 300},      {"reduction_wait_ns", 50},    {"shared_loop_ns", 20},
        {"shared_loop_64_ns", 25},    {"shared_loop_spread_ns", 2}, {"shared_loop_64_spread_ns", 3},
        {"cas_spread_ns", 0.2},
    };
    struct ub_constants constants = {0};
    for (size_t i = 0; i < COUNT(rows); i++)
        ub_constant_set(&constants, rows[i].name, rows[i].value, rows[i].value, rows[i].value, "ns", "test");
    return constants;
}

static struct ub_law law_of(const struct ub_gpu *gpu, const char *axes)
{
    const struct ub_constants constants = round_constants();
    const struct ub_point point = point_of(axes);
    struct ub_law law;
    atomics_law(gpu, &constants, &point, &law);
    return law;
}

/* ---- addresses ---------------------------------------------------------------------- */

/* A step of all warps goes on where the last has ended: 0, 1, 2, ... round and round. */
static void addresses_follow_each_other(void **state)
{
    static const struct {
        uint32_t blocks, block_warps, lanes, addresses, steps;
    } rows[] = {{1, 1, 1, 1, 3}, {3, 2, 1, 3, 5}, {2, 3, 32, 32, 4}, {3, 5, 7, 35, 9}, {4, 2, 32, 992, 8}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const uint32_t warps = rows[i].blocks * rows[i].block_warps;
        for (uint32_t block = 0; block < rows[i].blocks; block++)
            for (uint32_t w = 0; w < rows[i].block_warps; w++)
                for (uint32_t lane = 0; lane < 32; lane++) {
                    const uint32_t number = w * rows[i].blocks + block; /* warp 0 of all blocks comes first */
                    uint32_t address =
                        atomics_first(atomics_warp(block, rows[i].blocks, w), lane, rows[i].lanes, rows[i].addresses);
                    for (uint32_t step = 0; step < rows[i].steps; step++) {
                        const uint64_t place = ((uint64_t)step * warps + number) * rows[i].lanes + lane % rows[i].lanes;
                        assert_int_equal(address, place % rows[i].addresses);
                        address = atomics_next(address, atomics_step(warps, rows[i].lanes, rows[i].addresses),
                                               rows[i].addresses);
                    }
                }
    }
}

/* What the words "one a block" and "one a warp" mean. */
static void a_block_or_a_warp_may_have_its_own(void **state)
{
    (void)state;
    const uint32_t blocks = 132, warps = 132 * 32;
    for (uint32_t block = 0; block < blocks; block++)
        for (uint32_t w = 0; w < 32; w++) {
            const uint32_t warp = atomics_warp(block, blocks, w);
            assert_int_equal(atomics_first(warp, 31, 1, blocks), block);
            assert_int_equal(atomics_first(warp, 31, 1, warps), warp);
        }
    assert_int_equal(atomics_step(warps, 1, blocks) + atomics_step(warps, 1, warps), 0); /* and it stays so */
}

/* ---- parts and turns --------------------------------------------------------------------- */

static struct atomics_cost cost_of(const char *axes)
{
    const struct atomics_geometry g = geometry_of(h200(), axes);
    struct atomics_cost cost;
    atomics_cost(&g, &cost);
    return cost;
}

/* Of one instruction, as the counters of an H200 have them (lanes that divide 32; addresses that
 * are a multiple of them). */
static void parts_of_an_instruction(void **state)
{
    static const struct {
        const char *axes;
        double sectors, parts, full, longs, turns;
    } rows[] = {
        {"addresses=1", 1, 32, 0, 0, 32},
        {"addresses=2", 1, 16, 0, 0, 16},
        {"addresses=4", 1, 8, 0, 8, 8},
        {"addresses=8", 1, 4, 4, 4, 4},
        {"addresses=16", 2, 4, 4, 4, 2},
        {"addresses=32", 4, 4, 4, 4, 1},
        {"addresses=1024", 4, 4, 4, 4, 1},
        {"addresses=1024 lanes=1", 1, 32, 0, 0, 32},
        {"addresses=1024 lanes=8 apart=32", 8, 32, 0, 0, 8},
        {"addresses=1024 lanes=32 apart=32", 32, 32, 0, 0, 8},
        {"addresses=1024 lanes=32 apart=128", 32, 32, 0, 0, 32},
        {"addresses=1024 lanes=16 apart=8", 4, 8, 0, 8, 2},
        {"type=long addresses=4", 1, 8, 8, 8, 8},
        {"type=long addresses=32", 8, 8, 8, 8, 2},
        {"type=double addresses=2", 1, 16, 0, 0, 16},
        {"type=double addresses=16", 4, 8, 8, 8, 2},
        {"way=compiler addresses=1", 1, 1, 0, 0, 1},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct atomics_geometry g = geometry_of(h200(), rows[i].axes);
        const struct atomics_cost cost = cost_of(rows[i].axes);
        const double all = (double)atomics_instructions(&g);
        const double found[] = {(double)cost.sectors / all, (double)cost.parts / all, (double)cost.full_parts / all,
                                (double)cost.long_parts / all, (double)cost.turns / all};
        const double expected[] = {rows[i].sectors, rows[i].parts, rows[i].full, rows[i].longs, rows[i].turns};
        for (size_t k = 0; k < COUNT(found); k++)
            if (found[k] != expected[k])
                fail_msg("%s: number %zu is %g, expected %g", rows[i].axes, k, found[k], expected[k]);
    }
}

/* Lane by lane, instruction by instruction, without classes or periods: the sectors, and of each
 * the lanes of the address that most share. */
static void count_plainly(const struct atomics_geometry *g, uint64_t *sectors, uint64_t *parts, uint64_t *turns)
{
    *sectors = *parts = *turns = 0;
    for (uint64_t i = 0; i < (uint64_t)g->warps * g->steps; i++) {
        uint64_t at[32], banks[32] = {0}, most = 0;
        for (uint32_t lane = 0; lane < 32; lane++) {
            at[lane] = (i * g->lanes + lane % g->lanes) % g->addresses * g->apart;
            const uint64_t in_bank = ++banks[at[lane] / 4 % 32];
            most = in_bank > most ? in_bank : most;
        }
        *turns += most;
        for (uint32_t lane = 0; lane < 32; lane++) {
            uint32_t sharing = 0;
            bool first = true;
            for (uint32_t a = 0; a < 32; a++) {
                uint32_t same = 0;
                for (uint32_t b = 0; b < 32; b++)
                    same += at[b] == at[a];
                if (at[a] / 32 == at[lane] / 32 && same > sharing)
                    sharing = same;
                first = first && !(a < lane && at[a] / 32 == at[lane] / 32);
            }
            *sectors += first;
            *parts += first ? sharing : 0;
        }
    }
}

static void any_addresses_and_lanes_are_counted(void **state)
{
    static const int addresses[] = {1, 2, 3, 5, 7, 13, 31, 32, 33, 39, 62, 64, 93, 100, 127, 130, 160, 224};
    static const int lanes[] = {1, 2, 3, 5, 8, 13, 31, 32}, aparts[] = {4, 8, 12, 32, 36, 128};
    (void)state;
    for (size_t a = 0; a < COUNT(addresses); a++)
        for (size_t l = 0; l < COUNT(lanes); l++)
            for (size_t p = 0; p < COUNT(aparts); p++) {
                char axes[96];
                if (addresses[a] % lanes[l] != 0)
                    continue;
                snprintf(axes, sizeof axes, "addresses=%d lanes=%d apart=%d warps=3 length=1", addresses[a], lanes[l],
                         aparts[p]);
                struct ub_gpu gpu = *h200();
                gpu.sms = 5;
                const struct atomics_geometry g = geometry_of(&gpu, axes);
                struct atomics_cost cost;
                uint64_t sectors, parts, turns;
                atomics_cost(&g, &cost);
                count_plainly(&g, &sectors, &parts, &turns);
                if (cost.sectors != sectors || cost.parts != parts || cost.turns != turns)
                    fail_msg("%s: %g sectors, %g parts, %g turns; plainly %g, %g, %g", axes, (double)cost.sectors,
                             (double)cost.parts, (double)cost.turns, (double)sectors, (double)parts, (double)turns);
            }
}

/* ---- counters ------------------------------------------------------------------------------ */

static void counters_follow(void **state)
{
    const uint64_t n = 132 * 32; /* warps */
    const struct {
        const char *axes;
        uint64_t atomics, reductions, sectors, parts, shared, turns;
    } rows[] = {
        {"addresses=32 length=2", 0, 8 * n, 32 * n, 32 * n, 0, 0},
        {"addresses=32 length=2 result=used", 8 * n, 0, 32 * n, 32 * n, 0, 0},
        {"addresses=1 length=1 result=used", 4 * n, 0, 4 * n, 128 * n, 0, 0},
        {"addresses=1 length=1 way=compiler", 0, 4 * n, 4 * n, 4 * n, 0, 0},
        {"space=shared addresses=1 length=1", 0, 0, 0, 0, 4 * n, 128 * n},
        {"space=shared addresses=1 length=1 way=one", 0, 0, 0, 0, 4 * n, 4 * n},
        {"space=shared addresses=1 length=1 way=compiler", 0, 0, 0, 0, 4 * n, 4 * n},
        {"space=shared addresses=1024 length=3 result=used", 0, 0, 0, 0, 12 * n, 12 * n},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_law law = law_of(h200(), rows[i].axes);
        assert_int_equal(counter(&law, "global_atomics"), rows[i].atomics);
        assert_int_equal(counter(&law, "global_reductions"), rows[i].reductions);
        assert_int_equal(counter(&law, "global_atomic_sectors") + counter(&law, "global_reduction_sectors"),
                         rows[i].sectors);
        assert_int_equal(counter(&law, "l1_atomic_sectors") + counter(&law, "l1_reduction_sectors"), rows[i].parts);
        assert_int_equal(counter(&law, "l2_atomic_cycles"), rows[i].parts);
        assert_int_equal(counter(&law, "shared_atomics"), rows[i].shared);
        assert_int_equal(counter(&law, "shared_atomic_wavefronts"), rows[i].turns);
        if (strstr(rows[i].axes, "space=shared addresses=1 length=1 way=compiler"))
            assert_non_null(counter_of(&law, "l1_shared_atomic_wavefronts")->reason);
        else
            assert_int_equal(counter(&law, "l1_shared_atomic_wavefronts"), rows[i].turns);
        assert_int_equal(counter(&law, "blocks_launched"), 132);
        assert_int_equal(counter(&law, "local_loads") + counter(&law, "local_stores"), 0);
    }
}

/* Doubles of which a part has more than two take two cycles of the atomic unit. */
static void doubles_take_two_cycles(void **state)
{
    (void)state;
    assert_int_equal(counter((struct ub_law[]){law_of(h200(), "type=double addresses=2 length=1")}, "l2_atomic_cycles"),
                     4224 * 4 * 16);
    assert_int_equal(
        counter((struct ub_law[]){law_of(h200(), "type=double addresses=32 length=1")}, "l2_atomic_cycles"),
        4224 * 4 * 16);
    assert_int_equal(counter((struct ub_law[]){law_of(h200(), "type=long addresses=32 length=1")}, "l2_atomic_cycles"),
                     4224 * 4 * 8);
}

/* A loop tries as often as lanes share an address, if nobody else adds to it. */
static void tries_are_known_where_nobody_comes_in_between(void **state)
{
    (void)state;
    struct ub_law law = law_of(h200(), "space=shared type=float addresses=1024 length=1");
    assert_int_equal(counter(&law, "shared_atomics"), 4224 * 4);
    law = law_of(h200(), "space=shared type=float addresses=32 lanes=1 length=1");
    assert_int_equal(counter(&law, "shared_atomics"), 4224 * 4 * 32);
    assert_false(counter_of(&law, "shared_atomic_wavefronts")->known);
    law = law_of(h200(), "space=shared type=float addresses=992 length=1");
    assert_false(counter_of(&law, "shared_atomics")->known);
    law = law_of(h200(), "way=cas addresses=1048576 length=1");
    assert_false(counter_of(&law, "global_atomics")->known);
    assert_int_equal(counter(&law, "global_reductions"), 0);
}

/* A block of way=private adds its sums 32 at a time. */
static void private_sums_are_flushed(void **state)
{
    static const struct {
        int addresses;
        uint64_t flushes;
    } rows[] = {{1, 1}, {31, 1}, {32, 1}, {64, 2}, {992, 31}, {16384, 512}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char axes[64];
        snprintf(axes, sizeof axes, "way=private addresses=%d length=1", rows[i].addresses);
        const struct ub_law law = law_of(h200(), axes);
        assert_int_equal(counter(&law, "global_reductions"), 132 * rows[i].flushes);
        assert_int_equal(counter(&law, "shared_atomics"), 4224 * 4);
        assert_false(counter_of(&law, "l1_reduction_sectors")->known);
    }
}

/* ---- time ------------------------------------------------------------------------------------ */

/* ns of an instruction of a warp, the launch taken for nothing. */
static double instruction_ns(const char *axes)
{
    const struct atomics_geometry g = geometry_of(h200(), axes);
    return law_of(h200(), axes).time_ns / (double)atomics_instructions(&g);
}

/* 0.5 ns a full part, 0.625 another, 1.5 a float after a float. Of the card: a line 0.032 ns, two
 * sectors 0.020, one 0.014, one address 0.010, a part that comes back 0.016; times 1 + 169.2 or
 * 103.4 over the pairs of lines. */
static void the_busiest_place_decides(void **state)
{
    const double slices = 169.2, back = 103.4;
    const struct {
        const char *axes;
        double ns;
        const char *bottleneck;
    } rows[] = {
        {"addresses=1", 32 * 0.625, "hot_slice"},
        {"addresses=4", 8 * 0.625, "hot_slice"},
        {"addresses=8", 4 * 0.5, "hot_slice"},
        {"addresses=9", 3 * 0.5 + 4 * 0.625, "hot_slice"}, /* two sectors: four parts, the last not full, and three */
        {"addresses=64", 4 * 0.5, "hot_slice"},            /* 256 bytes: one slice */
        {"addresses=128", 4 * 0.5 / 2, "hot_slice"},       /* 512 bytes: two */
        {"addresses=256", 2 * (1 / 94.0 + 1.8 / 4), "hot_slice"},
        {"addresses=1024", 0.032 * (1 + slices / 32 * 2), "packets"},
        {"addresses=1024 result=used", 4 * 0.016 * (1 + back / 16), "replies"},
        {"addresses=1048576", 0.032 * (1 + slices / 16384), "packets"},
        {"addresses=1048576 result=used", 4 * 0.016 * (1 + back / 16384), "replies"},
        {"addresses=1024 lanes=1 apart=256", 32 * 0.010 * (1 + slices / 1024), "packets"},
        {"addresses=65536 lanes=4", 8 * 0.014 * (1 + slices / 1024), "packets"},
        {"addresses=65536 lanes=16", 2 * 0.020 * (1 + slices / 1024), "packets"},
        {"addresses=65536 lanes=4 apart=32", 8 * 0.032 * (1 + slices / 8192), "packets"},
        {"type=float addresses=1", 32 * 1.5, "hot_sector"},
        {"type=float addresses=8", 4 * 1.5, "hot_sector"},
        {"type=float addresses=16", 2 * 1.5, "hot_sector"}, /* two sectors, two parts each */
        {"type=float addresses=32", 4 * 0.5, "hot_slice"},
        {"type=half2 addresses=1048576", 0.032 * (1 + slices / 16384), "packets"},
        {"type=double addresses=2", 16 * 1.5, "hot_sector"},
        {"type=double addresses=4", 8 * 2.0, "hot_sector"},
        {"type=double addresses=32", 8 * 2 * 0.5, "hot_slice"},
        {"type=double addresses=1048576", 8 * (1 / 94.0 + 1.8 / 32768), "hot_slice"},
        {"type=double addresses=1048576 result=used", 8 * 0.016 * (1 + back / 32768), "replies"},
        {"type=long addresses=32", 8 * 0.5, "hot_slice"},
        {"type=long addresses=1048576", 2 * 0.032 * (1 + slices / 32768), "packets"},
        {"way=compiler addresses=1", 0.625, "hot_slice"},
        {"way=compiler addresses=132", 0.625 / 2, "hot_slice"}, /* 528 bytes: three pairs, the last almost empty */
        {"addresses=1048576 warps=1", 50 / 4.0 / 132, "wait"},
        {"addresses=1048576 warps=2 result=used", 300 / 4.0 / 264, "wait"},
        {"space=shared addresses=1", 16.0 / 132, "shared_turns"}, /* 32 cycles of 0.5 ns, in each SM */
        {"space=shared addresses=8", 2.0 / 132, "shared_turns"},
        {"space=shared addresses=32", 1.0 / 132, "shared_turns"},
        {"space=shared way=one addresses=1", 1.0 / 132, "shared_turns"},
        {"space=shared way=one addresses=32 apart=128", 16.0 / 132, "shared_turns"},
        {"space=shared type=float addresses=1", 32 * 20.0 / 132, "hot_address"},
        {"space=shared type=float addresses=2048", 2.0 / 132, "shared_loop"},
        {"space=shared type=double addresses=1", 32 * 25.0 / 132, "hot_address"},
        {"space=shared type=long addresses=2048", 3.0 / 132, "shared_loop"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const double found = instruction_ns(rows[i].axes);
        if (fabs(found / rows[i].ns - 1) > 1e-9)
            fail_msg("%s: %g ns an instruction, expected %g", rows[i].axes, found, rows[i].ns);
        assert_string_equal(law_of(h200(), rows[i].axes).bottleneck, rows[i].bottleneck);
    }
}

/* As an H200's counters have it: pairs, and pairs of the busiest slice. */
static void the_busiest_slice_is_near_its_counter(void **state)
{
    static const struct {
        int addresses;
        double of_busiest;
    } rows[] = {{1, 1},
                {64, 1},
                {256, 0.5},
                {1024, 2.0 / 16},
                {4096, 2.0 / 64},
                {16384, 4.0 / 256},
                {32768, 8.0 / 512},
                {65536, 12.0 / 1024},
                {262144, 44.0 / 4096}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char axes[64];
        snprintf(axes, sizeof axes, "addresses=%d length=1", rows[i].addresses);
        const struct ub_law law = law_of(h200(), axes);
        const double share =
            (double)counter(&law, "l2_atomic_cycles_busiest") / (double)counter(&law, "l2_atomic_cycles");
        if (fabs(share / rows[i].of_busiest - 1) > 0.26)
            fail_msg("%d addresses: %g, counted %g", rows[i].addresses, share, rows[i].of_busiest);
    }
    assert_false(counter_of((struct ub_law[]){law_of(card("a100"), "addresses=1")}, "l2_atomic_cycles_busiest")->known);
}

/* The adds in shared memory, and what 132 blocks add at last to 32 addresses: 132 instructions of
 * four parts. */
static void private_is_shared_and_then_global(void **state)
{
    (void)state;
    const double steps = 1024, shared = 32 * steps * 1.0, flush = 132 * 4 * 0.5;
    const double found = law_of(h200(), "way=private addresses=32").time_ns;
    if (fabs(found / (shared + flush) - 1) > 1e-9)
        fail_msg("%g ns, expected %g", found, shared + flush);
    /* one address: 132 parts of one add */
    const double one = law_of(h200(), "way=private addresses=1").time_ns;
    if (fabs(one / (32 * steps * 16 + 132 * 0.625) - 1) > 1e-9)
        fail_msg("%g ns", one);
}

static void more_addresses_are_never_slower(void **state)
{
    static const char *const series[] = {"result=unused", "result=used",  "type=float", "type=double",
                                         "type=long",     "space=shared", "lanes=1"};
    (void)state;
    for (size_t s = 0; s < COUNT(series); s++) {
        double before = INFINITY;
        for (int log2 = 0; log2 <= (s >= 5 ? 15 : 22); log2++) {
            char axes[64];
            snprintf(axes, sizeof axes, "%s addresses=%d", series[s], 1 << log2);
            const double ns = instruction_ns(axes);
            if (!(ns <= before * 1.5)) /* from 512 bytes on packets cost more than their parts */
                fail_msg("%s: %g after %g", axes, ns, before);
            before = ns;
        }
    }
}

static void what_is_tested(void **state)
{
    static const struct {
        const char *slug, *axes, *note; /* NULL: tested, without a word */
        double tolerance;
    } rows[] = {
        {"h200", "addresses=1", NULL, 0.10},
        {"h200", "addresses=1024", NULL, 0.35},
        {"h200", "addresses=1048576", NULL, 0.10},
        {"h200", "addresses=1048576 lanes=4", NULL, 0.35},
        {"h200", "addresses=32768 apart=128", NULL, 0.35},
        {"h200", "space=shared addresses=5", NULL, 0.10},
        {"h200", "space=shared type=float addresses=1", NULL, 0.10},
        {"h200", "space=shared type=float addresses=32", NULL, 0.35},
        {"h200", "space=shared type=float addresses=1024", NULL, 0.10},
        {"h200", "space=shared warps=31", "few warps", 0},
        {"h200", "way=cas addresses=1048576", "who comes in between", 0},
        {"h200", "addresses=1 length=1", "chosen length", 0},
        {"h200", "addresses=1 warps=31", NULL, 0.35},
        {"a100", "addresses=1", "assumed", 0.50},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_law law = law_of(card(rows[i].slug), rows[i].axes);
        if (law.tolerance != rows[i].tolerance || (law.note != NULL) != (rows[i].note != NULL) ||
            (law.note && !strstr(law.note, rows[i].note)))
            fail_msg("%s: %g, %s", rows[i].axes, law.tolerance, law.note ? law.note : "no note");
    }
}

/* Without measured rates: those of an H200, by clock and number of SMs. */
static void other_cards_are_assumed(void **state)
{
    static const char *const slugs[] = {"v100", "t4", "a100", "rtx4090", "h100", "h200", "b200"};
    (void)state;
    for (size_t i = 0; i < COUNT(slugs); i++) {
        const struct ub_gpu *gpu = card(slugs[i]);
        struct ub_constants constants;
        struct ub_law law;
        ub_gpu_constants(gpu, &constants);
        const struct ub_point one = point_of("addresses=1 length=16"), spread = point_of("addresses=1048576 length=64");
        const double floor_ns = ub_constant_value(&constants, "launch_floor_ns");
        const double slower = 1980 / gpu->clock_boost_mhz;
        atomics_law(gpu, &constants, &one, &law);
        assert_true(fabs((law.time_ns - floor_ns) / (gpu->sms * 32.0 * 64 * 32 * 0.733 * slower) - 1) < 1e-9);
        atomics_law(gpu, &constants, &spread, &law);
        const double spread_ns = 0.0341 * 132 / gpu->sms * (1 + 169.2 / 16384);
        assert_true(fabs((law.time_ns - floor_ns) / (gpu->sms * 32.0 * 256 * spread_ns * slower) - 1) < 1e-9);
    }
}

/* ---- what cannot be ---------------------------------------------------------------------------- */

static void contradictions_are_said(void **state)
{
    static const struct {
        const char *axes, *reason; /* NULL: taken */
    } rows[] = {
        {"addresses=1 lanes=2", "than there are"},
        {"addresses=33", "multiple of lanes"},
        {"addresses=33 lanes=11", NULL},
        {"addresses=31", NULL},
        {"addresses=2 lanes=2", NULL},
        {"addresses=32 apart=6", "multiple"},
        {"type=double addresses=32 apart=4", "multiple"},
        {"addresses=4194304 apart=4096", "1 GiB"},
        {"addresses=262144 apart=4096", NULL},
        {"type=half2 addresses=1", "2048"},
        {"type=half2 addresses=1048576 result=used", "half2"},
        {"type=half2 space=shared addresses=1", "half2"},
        {"type=float addresses=1 length=32", "2^24"}, /* 132 x 1024 x 128 = 17301504 */
        {"type=float addresses=1 length=31", NULL},   /* 16760832 */
        {"type=float addresses=2 length=32", NULL},
        {"way=one addresses=1", "space=shared"},
        {"way=one space=shared type=float", "type=int"},
        {"way=cas type=float addresses=1048576", "type=int"},
        {"way=cas addresses=16", "8192 threads"}, /* 135168 / 16 = 8448 */
        {"way=cas addresses=31", NULL},
        {"way=cas addresses=1 warps=1", NULL},
        {"way=cas addresses=1024 result=used", "way=plain"},
        {"way=compiler type=float", "no other type"},
        {"way=compiler addresses=5", "divide"},
        {"way=compiler addresses=12", NULL},
        {"way=compiler addresses=32 lanes=32", "divide"},
        {"way=compiler space=shared addresses=2", "addresses=1"},
        {"way=private space=shared", "space=global"},
        {"space=shared addresses=58112", NULL}, /* 227 KiB */
        {"space=shared addresses=58144", "less shared memory"},
        {"way=private addresses=58144", "less shared memory"},
        {"space=shared addresses=32 apart=4096 warps=1", NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *reason = refusal_of(h200(), rows[i].axes);
        if ((reason == NULL) != (rows[i].reason == NULL) || (reason && !strstr(reason, rows[i].reason)))
            fail_msg("%s: %s", rows[i].axes, reason ? reason : "taken");
        if (!reason)
            continue;
        const struct ub_law law = law_of(h200(), rows[i].axes);
        const struct ub_point point = point_of(rows[i].axes);
        struct ub_footprint footprint;
        ub_micro_atomics.footprint(h200(), &point, &footprint);
        assert_true(isnan(law.time_ns) && law.counter_count == 0 && law.note == reason && footprint.count == 0);
    }
    struct ub_gpu few_threads = *h200();
    few_threads.threads_per_block = 512;
    assert_non_null(strstr(refusal_of(&few_threads, "warps=17"), "fewer threads"));
    assert_null(refusal_of(&few_threads, "warps=16"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_follow_each_other),
        cmocka_unit_test(a_block_or_a_warp_may_have_its_own),
        cmocka_unit_test(parts_of_an_instruction),
        cmocka_unit_test(any_addresses_and_lanes_are_counted),
        cmocka_unit_test(counters_follow),
        cmocka_unit_test(doubles_take_two_cycles),
        cmocka_unit_test(tries_are_known_where_nobody_comes_in_between),
        cmocka_unit_test(private_sums_are_flushed),
        cmocka_unit_test(the_busiest_place_decides),
        cmocka_unit_test(the_busiest_slice_is_near_its_counter),
        cmocka_unit_test(private_is_shared_and_then_global),
        cmocka_unit_test(more_addresses_are_never_slower),
        cmocka_unit_test(what_is_tested),
        cmocka_unit_test(other_cards_are_assumed),
        cmocka_unit_test(contradictions_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
