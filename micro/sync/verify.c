/* SPDX-License-Identifier: MIT
 *
 * The host's check of `sync`: every thread read what the others had left before the barrier,
 * each time, and nothing of before; what a fence orders was read in order; kernels had run, each
 * once and in order, when the host's wait was over. Formulas of its own: never access.h. */
#include <inttypes.h>

#include "micro/sync/rule.h"

enum { TIMES = SYNC_LOOPS * SYNC_ROUNDS, TIMES_SUM = TIMES * (TIMES - 1) / 2, STEPS_SHUFFLED = 16 };

bool sync_small(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_point *out)
{
    struct sync_geometry g;
    *out = *point;
    return sync_resolve(gpu, point, &g) == NULL;
}

/* The party whose numbers a thread reads. */
static uint64_t peer_of(const struct sync_geometry *g, uint64_t thread)
{
    const uint64_t lane = thread % SYNC_LANES, block = thread / g->threads;
    const uint64_t warp = thread % g->threads / SYNC_LANES;
    if (g->op == SYNC_OP_WARP)
        return (lane + 1) % SYNC_LANES;
    if (sync_is_barrier_unit(g))
        return (warp % g->parties + 1 + lane) % g->parties;
    return (block + 1 + lane) % g->parties;
}

/* Numbers of a party are parties apart, from its rank + 1 on. */
static uint64_t sum_of(const struct sync_geometry *g, uint64_t thread)
{
    return TIMES * (peer_of(g, thread) + 1) + (uint64_t)TIMES_SUM * g->parties;
}

static uint64_t expected(const struct sync_geometry *g, uint64_t thread)
{
    const uint64_t in_block = thread % g->threads, lane = thread % SYNC_LANES;
    switch ((enum sync_op)g->op) {
    case SYNC_OP_SHUFFLE: /* 144 lanes further on, which is 16 */
        return in_block - lane + (lane + STEPS_SHUFFLED) % SYNC_LANES + 1;
    case SYNC_OP_VOTE:
        return (SYNC_VOTES >> STEPS_SHUFFLED | SYNC_VOTES << STEPS_SHUFFLED) & UINT32_MAX;
    default:
        return sum_of(g, thread);
    }
}

static bool verify_threads(const struct sync_geometry *g, const uint64_t *answers, struct ub_error *err)
{
    for (uint64_t thread = 0; thread < sync_answers(g); thread++)
        if (answers[thread] != expected(g, thread))
            return ub_fail(err, UB_WRONG_ANSWER,
                           "thread %" PRIu64 " of block %" PRIu64 " read %" PRIu64 " in all, the host expects %" PRIu64,
                           thread % g->threads, thread / g->threads, answers[thread], expected(g, thread));
    return true;
}

static bool verify_fence(const struct sync_geometry *g, const uint64_t *answers, struct ub_error *err)
{
    const uint64_t *reader = answers + (g->op == SYNC_OP_FENCE_BLOCK ? SYNC_LANES : g->threads);
    for (uint64_t lane = 0; lane < SYNC_LANES; lane++) {
        const uint64_t wanted = TIMES * (lane + 1) + TIMES_SUM * SYNC_LANES;
        if (answers[lane] != TIMES || reader[lane] != wanted)
            return ub_fail(err, UB_WRONG_ANSWER,
                           "after %" PRIu64 " of %d fences, lane %" PRIu64 " had read %" PRIu64
                           " in all, the host expects %" PRIu64,
                           answers[lane], TIMES, lane, reader[lane], wanted);
    }
    return true;
}

static bool verify_host(const struct sync_geometry *g, const uint64_t *answers, struct ub_error *err)
{
    uint64_t chain = UINT64_MAX; /* poison */
    for (uint32_t i = 1; i <= g->launches; i++)
        chain = 3 * chain + i;
    if (answers[SYNC_HOST_DONE] != 1)
        return ub_fail(err, UB_WRONG_ANSWER, "the host went on before the kernels had ended");
    if (answers[SYNC_HOST_CHAIN] != chain)
        return ub_fail(err, UB_WRONG_ANSWER, "%" PRIu32 " kernels left %016" PRIx64 ", the host expects %016" PRIx64,
                       g->launches, answers[SYNC_HOST_CHAIN], chain);
    return true;
}

bool sync_verify(const struct ub_gpu *gpu, const struct ub_point *point, const struct ub_buffers *host, uint64_t seed,
                 uint64_t checksum, struct ub_error *err)
{
    (void)seed; /* nothing is drawn from it */
    (void)checksum;
    struct sync_geometry g;
    const char *unsupported = sync_resolve(gpu, point, &g);
    if (unsupported != NULL)
        return ub_fail(err, UB_INTERNAL, "%s", unsupported);
    if (host->count < 1 || host->sizes_bytes[0] < sync_answers(&g) * sizeof(uint64_t))
        return ub_fail(err, UB_INTERNAL, "there is no room for %" PRIu64 " answers", sync_answers(&g));
    const uint64_t *answers = host->pointers[0];
    if (sync_is_host(&g))
        return verify_host(&g, answers, err);
    return sync_is_fence(&g) ? verify_fence(&g, answers, err) : verify_threads(&g, answers, err);
}
