/* SPDX-License-Identifier: MIT
 *
 * The host's check of `sync`: accepts what threads read that left numbers, met at a barrier and
 * read (played here step by step through access.h, with slots as in kernel.cu), and refuses what
 * they read without the barrier, or whatever else is not as it should be. */
#include <stdio.h>
#include <stdlib.h>

#include "micro/sync/access.h"
#include "micro/sync/rule.h"
#include "tests/rule_fixture.h"

extern const struct ub_micro ub_micro_sync;

enum { TIMES = SYNC_LOOPS * SYNC_ROUNDS };

struct run {
    struct ub_point point;
    struct sync_geometry g;
    struct ub_buffers buffers;
    uint64_t *answers;
};

static void start(struct run *run, const char *axes)
{
    *run = (struct run){.point = parse_point(&ub_micro_sync, axes)};
    struct ub_point small;
    const char *why = sync_resolve(h200(), &run->point, &run->g);
    if (why != NULL)
        fail_msg("%s: %s", axes, why);
    assert_true(ub_micro_sync.small(h200(), &run->point, &small));
    assert_memory_equal(&small, &run->point, sizeof small);
    struct ub_footprint footprint;
    ub_micro_sync.footprint(h200(), &run->point, &footprint);
    run->buffers.count = footprint.count;
    for (size_t i = 0; i < footprint.count; i++) {
        run->buffers.sizes_bytes[i] = footprint.buffers[i].size_bytes;
        run->buffers.pointers[i] = malloc(footprint.buffers[i].size_bytes);
        assert_non_null(run->buffers.pointers[i]);
        memset(run->buffers.pointers[i], 0xFF, footprint.buffers[i].size_bytes);
    }
    run->answers = run->buffers.pointers[0];
}

static void stop(struct run *run)
{
    for (size_t i = 0; i < run->buffers.count; i++)
        free(run->buffers.pointers[i]);
}

static bool verify(const struct run *run, struct ub_error *err)
{
    *err = (struct ub_error){0};
    return ub_micro_sync.verify(h200(), &run->point, &run->buffers, 1, 0, err);
}

static void accept(struct run *run)
{
    struct ub_error err;
    if (!verify(run, &err))
        fail_msg("%s", err.text);
    stop(run);
}

static void refuse(struct run *run, const char *says)
{
    struct ub_error err;
    assert_false(verify(run, &err));
    assert_int_equal(err.status, UB_WRONG_ANSWER);
    if (strstr(err.text, says) == NULL)
        fail_msg("'%s' does not say '%s'", err.text, says);
    stop(run);
}

/* ---- threads that leave numbers ---------------------------------------------------- */

/* The party of a thread, and which set of parties it is of. */
static uint32_t party_of(const struct sync_geometry *g, uint64_t thread, uint64_t *set)
{
    const uint64_t block = thread / g->threads, warp = thread % g->threads / SYNC_LANES;
    *set = 0;
    switch ((enum sync_op)g->op) {
    case SYNC_OP_WARP:
        *set = thread / SYNC_LANES;
        return (uint32_t)(thread % SYNC_LANES);
    case SYNC_OP_BLOCK:
    case SYNC_OP_NAMED:
        *set = block * g->groups + warp / g->parties;
        return (uint32_t)(warp % g->parties);
    default:
        return (uint32_t)block;
    }
}

static uint64_t sets_of(const struct sync_geometry *g)
{
    const uint64_t warps = (uint64_t)g->blocks * sync_warps(g);
    return g->op == SYNC_OP_WARP ? warps : sync_is_barrier_unit(g) ? (uint64_t)g->blocks * g->groups : 1;
}

/* Every round: all but the late party leave their numbers; then, with the barrier, the late one
 * too before anybody reads; without it everybody reads first. */
static void play(struct run *run, bool barrier)
{
    const struct sync_geometry *g = &run->g;
    uint32_t *slots = calloc(sets_of(g) * 2 * g->parties, sizeof *slots);
    assert_non_null(slots);
    memset(run->answers, 0, run->buffers.sizes_bytes[0]);
    for (uint32_t time = 0; time < TIMES; time++) {
        for (uint64_t set = 0; set < sets_of(g); set++)
            for (uint32_t party = 0; party < g->parties; party++)
                if (barrier || !sync_is_late(party, g->parties, time))
                    slots[set * 2 * g->parties + sync_slot(party, g->parties, time)] =
                        sync_number(party, g->parties, time);
        for (uint64_t thread = 0; thread < sync_answers(g); thread++) {
            uint64_t set;
            const uint32_t party = party_of(g, thread, &set);
            const uint32_t lane = g->op == SYNC_OP_WARP ? 0 : (uint32_t)(thread % SYNC_LANES);
            const uint32_t peer = sync_peer(party, g->parties, lane);
            run->answers[thread] += slots[set * 2 * g->parties + sync_slot(peer, g->parties, time)];
        }
        for (uint64_t set = 0; set < sets_of(g); set++) /* the late one comes at last */
            for (uint32_t party = 0; party < g->parties; party++)
                slots[set * 2 * g->parties + sync_slot(party, g->parties, time)] = sync_number(party, g->parties, time);
    }
    free(slots);
}

static const char *const meetings[] = {
    "block=64",
    "block=96",
    "block=1024",
    "block=256 resident=4",
    "op=named block=1024 groups=16",
    "op=named block=384 groups=3",
    "op=cluster cluster=2 block=32",
    "op=cluster cluster=16 block=1024",
    "op=grid blocks=2",
    "op=grid blocks=132 block=32",
    "op=grid blocks=7 block=1024",
};

static void what_was_left_before_a_barrier_is_read_after_it(void **state)
{
    (void)state;
    struct run run;
    for (size_t i = 0; i < sizeof meetings / sizeof meetings[0]; i++) {
        start(&run, meetings[i]);
        play(&run, true);
        accept(&run);
    }
    start(&run, "op=warp block=1024");
    play(&run, true);
    accept(&run);
    start(&run, "block=32"); /* one warp reads its own numbers */
    play(&run, true);
    accept(&run);
}

static void a_missing_barrier_is_found(void **state)
{
    (void)state;
    struct run run;
    for (size_t i = 0; i < sizeof meetings / sizeof meetings[0]; i++) {
        start(&run, meetings[i]);
        play(&run, false);
        refuse(&run, "in all, the host expects");
    }
    start(&run, "op=warp block=64");
    play(&run, false);
    refuse(&run, "in all, the host expects");
}

/* Two rounds that are mixed up, one thread that did not run, a number read twice. */
static void one_wrong_thread_is_found(void **state)
{
    (void)state;
    static const uint64_t changes[] = {1, 2, UINT64_MAX};
    struct run run;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        start(&run, "op=grid blocks=132 block=64");
        play(&run, true);
        run.answers[131 * 64 + 63] += changes[i];
        refuse(&run, "thread 63 of block 131");
    }
    start(&run, "block=128");
    play(&run, true);
    run.answers[5] = UINT64_MAX; /* poison */
    refuse(&run, "thread 5 of block 0");
}

/* ---- shuffles, votes, fences, the host -------------------------------------------------- */

static void lanes_hand_their_values_on(void **state)
{
    (void)state;
    struct run run;
    start(&run, "op=shuffle block=64");
    for (uint32_t thread = 0; thread < sync_answers(&run.g); thread++)
        run.answers[thread] = thread % 64 / 32 * 32 + (thread + 144) % 32 + 1;
    run.answers[40] -= 1;
    refuse(&run, "thread 40 of block 0");
    start(&run, "op=shuffle block=64");
    for (uint32_t thread = 0; thread < sync_answers(&run.g); thread++)
        run.answers[thread] = thread % 64 / 32 * 32 + (thread + 144) % 32 + 1;
    accept(&run);
    uint32_t votes = SYNC_VOTES;
    for (int i = 0; i < 144; i++) /* bit i of the next is bit i + 1 of this */
        votes = votes >> 1 | votes << 31;
    start(&run, "op=vote block=32");
    for (uint32_t thread = 0; thread < sync_answers(&run.g); thread++)
        run.answers[thread] = votes;
    accept(&run);
    start(&run, "op=vote block=32");
    for (uint32_t thread = 0; thread < sync_answers(&run.g); thread++)
        run.answers[thread] = SYNC_VOTES;
    refuse(&run, "thread 0 of block 0");
}

static void what_a_fence_orders_is_read_in_order(void **state)
{
    (void)state;
    static const char *const fences[] = {"op=fence_block", "op=fence_device", "op=fence_system"};
    for (size_t i = 0; i < 3; i++)
        for (int stale = 0; stale < 2; stale++) {
            struct run run;
            start(&run, fences[i]);
            uint64_t *reader = run.answers + (i == 0 ? 32 : 64);
            for (uint64_t lane = 0; lane < 32; lane++) {
                run.answers[lane] = 6;
                reader[lane] = 6 * (lane + 1) + 32 * (0 + 1 + 2 + 3 + 4 + 5);
            }
            if (stale) {
                reader[9] -= 32; /* a number of the time before */
                refuse(&run, "lane 9");
            } else {
                accept(&run);
            }
        }
}

static void the_host_must_have_waited_for_all_kernels_in_order(void **state)
{
    (void)state;
    struct run run;
    const char *ops[] = {"op=stream", "op=device", "op=event_spin", "op=event_block", "op=launch", "op=graph"};
    for (size_t i = 0; i < 6; i++) {
        start(&run, ops[i]);
        run.answers[0] = UINT64_MAX * 3 + 1;
        run.answers[1] = 1;
        accept(&run);
    }
    start(&run, "op=graph launches=3");
    run.answers[0] = ((UINT64_MAX * 3 + 1) * 3 + 2) * 3 + 3;
    run.answers[1] = 1;
    accept(&run);
    start(&run, "op=graph launches=3"); /* the last two in the other order */
    run.answers[0] = ((UINT64_MAX * 3 + 1) * 3 + 3) * 3 + 2;
    run.answers[1] = 1;
    refuse(&run, "3 kernels left");
    start(&run, "op=launch launches=3"); /* one is missing */
    run.answers[0] = (UINT64_MAX * 3 + 1) * 3 + 2;
    run.answers[1] = 1;
    refuse(&run, "3 kernels left");
    start(&run, "op=stream");
    run.answers[0] = UINT64_MAX * 3 + 1;
    run.answers[1] = 0;
    refuse(&run, "went on before");
}

static void missing_buffers_are_our_own_mistake(void **state)
{
    (void)state;
    struct run run;
    struct ub_error err;
    start(&run, "block=64");
    run.buffers.sizes_bytes[0] = 8;
    assert_false(verify(&run, &err));
    assert_int_equal(err.status, UB_INTERNAL);
    stop(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_left_before_a_barrier_is_read_after_it),
        cmocka_unit_test(a_missing_barrier_is_found),
        cmocka_unit_test(one_wrong_thread_is_found),
        cmocka_unit_test(lanes_hand_their_values_on),
        cmocka_unit_test(what_a_fence_orders_is_read_in_order),
        cmocka_unit_test(the_host_must_have_waited_for_all_kernels_in_order),
        cmocka_unit_test(missing_buffers_are_our_own_mistake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
