/* SPDX-License-Identifier: MIT
 *
 * Branches of a warp against values worked out by hand and against a walk lane by lane
 * that knows no groups. */
#include "harness/model/branch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const uint32_t all_lanes = UINT32_MAX;

static void by_lane(uint32_t ways, uint32_t paths[UB_BRANCH_LANES])
{
    for (uint32_t lane = 0; lane < UB_BRANCH_LANES; lane++)
        paths[lane] = lane % ways;
}

static void check(const struct ub_branches *got, uint64_t uniform, uint64_t divergent)
{
    assert_int_equal(got->uniform, uniform);
    assert_int_equal(got->divergent, divergent);
}

static void paths_are_counted_once(void **state)
{
    (void)state;
    uint32_t paths[UB_BRANCH_LANES];
    for (uint32_t ways = 1; ways <= 32; ways++) {
        by_lane(ways, paths);
        assert_int_equal(ub_paths_taken(paths, all_lanes), ways);
    }
    by_lane(4, paths);
    assert_int_equal(ub_paths_taken(paths, 0), 0);
    assert_int_equal(ub_paths_taken(paths, 0x00000001), 1);
    assert_int_equal(ub_paths_taken(paths, 0x11111111), 1); /* lanes 0, 4, 8 ...: all path 0 */
    assert_int_equal(ub_paths_taken(paths, 0x80000001), 2); /* lanes 0 and 31: paths 0 and 3 */
}

/* An H200 counts `ways` divergent executions of 32 independent tests, none for one way. */
static void a_chain_diverges_once_a_path(void **state)
{
    (void)state;
    uint32_t paths[UB_BRANCH_LANES];
    for (uint32_t ways = 1; ways <= 32; ways++) {
        struct ub_branches got = {0};
        by_lane(ways, paths);
        ub_branch_if_chain(paths, all_lanes, 32, &got);
        const uint64_t divergent = ways == 1 ? 0 : ways;
        check(&got, 32 - divergent, divergent);
    }
}

static void lanes_that_are_missing_do_not_diverge(void **state)
{
    static const struct {
        uint32_t active;
        uint64_t uniform, divergent; /* of two tests over paths 0, 1, 0, 1 ... */
    } rows[] = {
        {0, 0, 0}, {1, 2, 0}, {0x55555555, 2, 0}, {0xAAAAAAAA, 2, 0}, {3, 0, 2}, {UINT32_MAX, 0, 2},
    };
    (void)state;
    uint32_t paths[UB_BRANCH_LANES];
    by_lane(2, paths);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ub_branches got = {0};
        ub_branch_if_chain(paths, rows[i].active, 2, &got);
        check(&got, rows[i].uniform, rows[i].divergent);
    }
}

static void a_path_that_nobody_tests_is_uniform(void **state)
{
    (void)state;
    uint32_t paths[UB_BRANCH_LANES];
    struct ub_branches got = {0};
    for (uint32_t lane = 0; lane < UB_BRANCH_LANES; lane++)
        paths[lane] = 40;
    ub_branch_if_chain(paths, all_lanes, 32, &got);
    check(&got, 32, 0);
}

static void a_switch_splits_until_all_are_apart(void **state)
{
    (void)state;
    uint32_t paths[UB_BRANCH_LANES];
    for (uint32_t ways = 1; ways <= 32; ways++) {
        struct ub_branches got = {0};
        by_lane(ways, paths);
        ub_branch_switch(paths, all_lanes, &got);
        check(&got, 0, ways - 1);
    }
    struct ub_branches none = {0};
    ub_branch_switch(paths, 0, &none);
    check(&none, 0, 0);
}

static void a_loop_diverges_when_some_leave(void **state)
{
    static const struct {
        uint32_t a, b, active; /* trips of even and of odd lanes */
        uint64_t uniform, divergent;
    } rows[] = {
        {1, 1, UINT32_MAX, 1, 0}, {8, 8, UINT32_MAX, 8, 0},  {8, 16, UINT32_MAX, 15, 1},
        {1, 2, UINT32_MAX, 1, 1}, {8, 16, 0x55555555, 8, 0}, {8, 16, 0, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint32_t trips[UB_BRANCH_LANES];
        struct ub_branches got = {0};
        for (uint32_t lane = 0; lane < UB_BRANCH_LANES; lane++)
            trips[lane] = lane % 2 == 0 ? rows[i].a : rows[i].b;
        ub_branch_loop(trips, rows[i].active, &got);
        check(&got, rows[i].uniform, rows[i].divergent);
    }
}

static void sums_add_up(void **state)
{
    (void)state;
    uint32_t paths[UB_BRANCH_LANES], trips[UB_BRANCH_LANES];
    struct ub_branches got = {100, 10};
    by_lane(3, paths);
    for (uint32_t lane = 0; lane < UB_BRANCH_LANES; lane++)
        trips[lane] = 5;
    ub_branch_if_chain(paths, all_lanes, 4, &got); /* 3 divergent, 1 uniform */
    ub_branch_switch(paths, all_lanes, &got);      /* 2 divergent */
    ub_branch_loop(trips, all_lanes, &got);        /* 5 uniform */
    check(&got, 106, 15);
}

/* ---- lane by lane ----------------------------------------------------------- */

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* One execution of a branch: yes and no are how many lanes go each way. */
static void execute(unsigned yes, unsigned no, struct ub_branches *branches)
{
    if (yes + no == 0)
        return;
    if (yes != 0 && no != 0)
        branches->divergent++;
    else
        branches->uniform++;
}

static void walk_chain(const uint32_t *paths, uint32_t active, uint32_t tests, struct ub_branches *branches)
{
    for (uint32_t test = 0; test < tests; test++) {
        unsigned yes = 0, no = 0;
        for (unsigned lane = 0; lane < UB_BRANCH_LANES; lane++)
            if (active >> lane & 1)
                paths[lane] == test ? yes++ : no++;
        execute(yes, no, branches);
    }
}

static void walk_loop(const uint32_t *trips, uint32_t active, struct ub_branches *branches)
{
    uint32_t left[UB_BRANCH_LANES];
    for (unsigned lane = 0; lane < UB_BRANCH_LANES; lane++)
        left[lane] = active >> lane & 1 ? trips[lane] : 0;
    for (bool more = true; more;) {
        unsigned stay = 0, leave = 0;
        for (unsigned lane = 0; lane < UB_BRANCH_LANES; lane++)
            if (left[lane] != 0)
                --left[lane] != 0 ? stay++ : leave++;
        execute(stay, leave, branches);
        more = stay != 0;
    }
}

static void random_warps_equal_the_walk(void **state)
{
    (void)state;
    uint64_t random = 20240229;
    for (int i = 0; i < 4000; i++) {
        const uint32_t ways = 1 + (uint32_t)(next_random(&random) % 40);
        const uint32_t active = i % 2 ? (uint32_t)next_random(&random) : all_lanes;
        uint32_t paths[UB_BRANCH_LANES], trips[UB_BRANCH_LANES];
        for (unsigned lane = 0; lane < UB_BRANCH_LANES; lane++) {
            paths[lane] = (uint32_t)(next_random(&random) % ways);
            trips[lane] = paths[lane] + 1;
        }
        struct ub_branches wanted = {0}, got = {0};
        walk_chain(paths, active, 32, &wanted);
        ub_branch_if_chain(paths, active, 32, &got);
        check(&got, wanted.uniform, wanted.divergent);
        wanted = got = (struct ub_branches){0};
        walk_loop(trips, active, &wanted);
        ub_branch_loop(trips, active, &got);
        check(&got, wanted.uniform, wanted.divergent);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_counted_once),
        cmocka_unit_test(a_chain_diverges_once_a_path),
        cmocka_unit_test(lanes_that_are_missing_do_not_diverge),
        cmocka_unit_test(a_path_that_nobody_tests_is_uniform),
        cmocka_unit_test(a_switch_splits_until_all_are_apart),
        cmocka_unit_test(a_loop_diverges_when_some_leave),
        cmocka_unit_test(sums_add_up),
        cmocka_unit_test(random_warps_equal_the_walk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
