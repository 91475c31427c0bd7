/* SPDX-License-Identifier: MIT
 *
 * The rule sync over the fake device: what its kernels leave, as loops on the host through the
 * same access.h. Every barrier holds here; one that is left out lets each party but the late one
 * read what the round before the last left, which is nothing at first. */
#include "micro/sync/access.h"
#include "tests/fake/fake.h"

extern const struct ub_micro ub_micro_sync;
extern const struct ub_code fake_code_sync;

enum { TIMES = SYNC_LOOPS * SYNC_ROUNDS, SHUFFLED = 16 };

/* What a thread adds up. */
static uint64_t sum_of(const struct sync_geometry *g, uint32_t party, uint32_t lane)
{
    uint64_t sum = 0;
    for (uint32_t time = 0; time < TIMES; time++) {
        const uint32_t peer = sync_peer(party, g->parties, lane);
        const bool missed = g->left_out && sync_is_late(peer, g->parties, time);
        sum += missed ? 0 : sync_number(peer, g->parties, time);
    }
    return sum;
}

static uint64_t answer_of(const struct sync_geometry *g, uint32_t block, uint32_t thread)
{
    const uint32_t warp = thread / SYNC_LANES, lane = thread % SYNC_LANES;
    switch ((enum sync_op)g->op) {
    case SYNC_OP_SHUFFLE:
        return warp * SYNC_LANES + (lane + SHUFFLED) % SYNC_LANES + 1;
    case SYNC_OP_VOTE:
        return SYNC_VOTES << SHUFFLED | SYNC_VOTES >> (32 - SHUFFLED);
    case SYNC_OP_WARP:
        return sum_of(g, lane, 0);
    case SYNC_OP_BLOCK:
    case SYNC_OP_NAMED:
        return sum_of(g, warp % g->parties, lane);
    default:
        return sum_of(g, block, lane);
    }
}

static void run_fence(const struct sync_geometry *g, uint64_t *answers)
{
    uint64_t *reader = answers + (g->op == SYNC_OP_FENCE_BLOCK ? SYNC_LANES : g->threads);
    for (uint32_t lane = 0; lane < SYNC_LANES; lane++) {
        answers[lane] = TIMES;
        reader[lane] = 0;
        for (uint32_t time = 0; time < TIMES; time++)
            reader[lane] += lane + 1 + time * SYNC_LANES;
    }
}

static void run_host(const struct sync_geometry *g, uint64_t *answers)
{
    answers[SYNC_HOST_CHAIN] = UINT64_MAX;
    for (uint32_t i = 0; i < g->launches; i++)
        answers[SYNC_HOST_CHAIN] = answers[SYNC_HOST_CHAIN] * 3 + i + 1;
    answers[SYNC_HOST_DONE] = !g->left_out;
}

static void run(const struct sync_geometry *g, uint64_t *answers)
{
    if (sync_is_host(g))
        run_host(g, answers);
    else if (sync_is_fence(g))
        run_fence(g, answers);
    else
        for (uint32_t block = 0; block < g->blocks; block++)
            for (uint32_t thread = 0; thread < g->threads; thread++)
                answers[(uint64_t)block * g->threads + thread] = answer_of(g, block, thread);
}

static int launch(const struct ub_launch *launch)
{
    enum { TOO_LARGE = 720 }; /* cudaErrorCooperativeLaunchTooLarge */
    struct sync_geometry g;
    struct ub_law law;
    bool execute = false;
    if (sync_resolve(launch->gpu, launch->point, &g) != NULL)
        return 1;
    if (ub_micro_sync.refusal(launch->gpu, launch->point) != NULL)
        return TOO_LARGE;
    int code = fake_begin(&ub_micro_sync, launch, &execute);
    if (code != 0 || !execute)
        return code;
    const struct ub_micro *micro = NULL;
    struct ub_point point;
    fake_last_launch(&micro, &point, &law);
    uint64_t *answers = launch->buffers->pointers[0];
    if (launch->checked)
        run(&g, answers);
    if (launch->checked && fake_fault_at("wrong", &ub_micro_sync, launch->point))
        answers[0] ^= 1;
    if (!sync_is_host(&g)) {
        const double cycles = law.time_ns * fake_clock_mhz() * 1e-3 * (double)launch->iterations;
        launch->results[UB_RESULT_CYCLES] = 100 + (unsigned long long)cycles;
    }
    return 0;
}

/* A state for each point, so that a launch without prepare() is found. */
static int prepare(const struct ub_launch *launch, struct ub_prepared *out)
{
    *out = (struct ub_prepared){.state = (void *)launch->gpu};
    return 0;
}

static void release(void *state)
{
    (void)state;
}

static void kernel(const struct ub_gpu *gpu, const struct ub_point *point, struct ub_kernel *out)
{
    struct sync_geometry g;
    sync_resolve(gpu, point, &g);
    *out = (struct ub_kernel){.function = &ub_micro_sync,
                              .name = "sync",
                              .grid = {sync_is_host(&g) ? 1 : g.blocks, 1, 1},
                              .block = {g.threads, 1, 1}};
}

const struct ub_code fake_code_sync = {.launch = launch, .kernel = kernel, .prepare = prepare, .release = release};
