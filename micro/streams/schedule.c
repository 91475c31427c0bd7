/* SPDX-License-Identifier: MIT
 *
 * An event simulation: between two events (an operation ends, the host has issued one) every
 * engine works at a constant rate. */
#include "micro/streams/schedule.h"

#include <math.h>
#include <string.h>

enum { NONE = -1, STREAM_COUNT = STREAMS_MAX_STREAMS + 1, COPY_IN = 0, COPY_OUT = 1, COMPUTE = 2, ENGINES = 3 };

/* Half a femtosecond: what is left of an operation by rounding. */
static const double nothing_left_ns = 0.5e-6;

struct simulation {
    const struct streams_geometry *g;
    const struct streams_costs *costs;
    const struct streams_op *ops;
    int count;
    int engine_of[STREAMS_STAGE_COUNT];
    struct streams_span *spans;
    double now_ns;
    /* The host: how many it has issued, when the device sees the next one, and the operation for
     * whose end it waits. */
    int issued, awaited;
    double visible_ns;
    /* The device. */
    int head[STREAM_COUNT];              /* the next operation of each stream */
    double ready_ns[STREAM_COUNT];       /* before which it cannot begin */
    int next[STREAMS_MAX_OPS];           /* behind each operation in its stream */
    int default_before[STREAMS_MAX_OPS]; /* the last one before it in the legacy default stream */
    bool done[STREAMS_MAX_OPS];
    int done_count, done_prefix;
    int running[ENGINES];
    double left_ns[ENGINES];
};

/* By the number of copy engines. Without one that works beside kernels, all is done one after
 * the other. */
enum { MOST_COPY_ENGINES = 2 };
static const int engines[MOST_COPY_ENGINES + 1][STREAMS_STAGE_COUNT] = {
    {COMPUTE, COMPUTE, COMPUTE, COMPUTE}, {COPY_IN, COMPUTE, COPY_IN, COMPUTE}, {COPY_IN, COMPUTE, COPY_OUT, COMPUTE}};

static void choose_engines(struct simulation *s, int copy_engines)
{
    const bool all = copy_engines < 0 || copy_engines > MOST_COPY_ENGINES;
    memcpy(s->engine_of, engines[all ? MOST_COPY_ENGINES : copy_engines], sizeof s->engine_of);
}

/* From one to the next of its stream: where another kind of work begins, also if one engine does
 * both. Else a card would be the faster the fewer engines it had. */
static bool is_handed_over(const struct simulation *s, int from, int to)
{
    const int *const kinds = engines[MOST_COPY_ENGINES];
    return kinds[s->ops[from].stage] != kinds[s->ops[to].stage];
}

static void link_streams(struct simulation *s)
{
    int last[STREAM_COUNT], last_default = NONE;
    for (int i = 0; i < STREAM_COUNT; i++)
        s->head[i] = last[i] = NONE;
    for (int i = 0; i < s->count; i++) {
        const int stream = s->ops[i].stream;
        s->next[i] = NONE;
        s->default_before[i] = last_default;
        if (last[stream] == NONE)
            s->head[stream] = i;
        else
            s->next[last[stream]] = i;
        last[stream] = i;
        if (stream == STREAMS_DEFAULT_STREAM)
            last_default = i;
    }
}

/* Blocking streams and the legacy default stream wait for each other ("default stream" of the
 * CUDA Runtime API): an operation of the one for all that was issued before it in the other. */
static bool may_begin(const struct simulation *s, int op)
{
    if (op >= s->issued || s->ready_ns[s->ops[op].stream] > s->now_ns + nothing_left_ns)
        return false;
    if (s->g->queue != STREAMS_BLOCKING)
        return true;
    if (s->ops[op].stream == STREAMS_DEFAULT_STREAM)
        return s->done_prefix >= op;
    return s->default_before[op] == NONE || s->done[s->default_before[op]];
}

static void begin_on(struct simulation *s, int engine)
{
    int first = NONE;
    for (int stream = 0; stream < STREAM_COUNT; stream++) {
        const int op = s->head[stream];
        if (op != NONE && s->engine_of[s->ops[op].stage] == engine && (first == NONE || op < first) && may_begin(s, op))
            first = op;
    }
    if (first == NONE)
        return;
    s->running[engine] = first;
    s->left_ns[engine] = s->costs->time_ns[s->ops[first].stage];
    if (s->spans)
        s->spans[first].begin_ns = s->now_ns;
}

static double rate_of(const struct simulation *s, int engine)
{
    const bool both_ways = s->running[COPY_IN] != NONE && s->running[COPY_OUT] != NONE;
    return both_ways && engine != COMPUTE ? s->costs->together : 1;
}

/* When the next event is, from now on; infinite: there is none. */
static double until_event(const struct simulation *s)
{
    double wait_ns = INFINITY;
    if (s->issued < s->count && s->awaited == NONE)
        wait_ns = fmax(s->visible_ns - s->now_ns, 0);
    for (int engine = 0; engine < ENGINES; engine++)
        if (s->running[engine] != NONE)
            wait_ns = fmin(wait_ns, s->left_ns[engine] / rate_of(s, engine));
    for (int stream = 0; stream < STREAM_COUNT; stream++)
        if (s->head[stream] != NONE && s->ready_ns[stream] > s->now_ns + nothing_left_ns)
            wait_ns = fmin(wait_ns, s->ready_ns[stream] - s->now_ns);
    return wait_ns;
}

static void host_goes_on(struct simulation *s)
{
    s->awaited = NONE;
    if (s->issued < s->count)
        s->visible_ns = s->now_ns + s->costs->issue_ns[s->ops[s->issued].stage];
}

static void end_on(struct simulation *s, int engine)
{
    const int op = s->running[engine];
    s->running[engine] = NONE;
    s->done[op] = true;
    s->done_count++;
    while (s->done_prefix < s->count && s->done[s->done_prefix])
        s->done_prefix++;
    const int next = s->head[s->ops[op].stream] = s->next[op];
    if (next != NONE && is_handed_over(s, op, next))
        s->ready_ns[s->ops[op].stream] = s->now_ns + s->costs->hand_over_ns;
    if (s->spans)
        s->spans[op].end_ns = s->now_ns;
    if (s->awaited == op)
        host_goes_on(s);
}

static void issue_next(struct simulation *s)
{
    const int op = s->issued++;
    if (s->costs->blocks[s->ops[op].stage])
        s->awaited = op;
    else
        host_goes_on(s);
}

static void advance(struct simulation *s, double wait_ns)
{
    double rates[ENGINES];
    for (int engine = 0; engine < ENGINES; engine++)
        rates[engine] = rate_of(s, engine);
    s->now_ns += wait_ns;
    const bool issues = s->issued < s->count && s->awaited == NONE && s->visible_ns <= s->now_ns + nothing_left_ns;
    for (int engine = 0; engine < ENGINES; engine++)
        if (s->running[engine] != NONE) {
            s->left_ns[engine] -= wait_ns * rates[engine];
            if (s->left_ns[engine] <= nothing_left_ns)
                end_on(s, engine);
        }
    if (issues)
        issue_next(s);
}

double streams_schedule(const struct streams_geometry *g, int copy_engines, const struct streams_costs *costs,
                        const struct streams_op *ops, uint32_t count, struct streams_span *spans)
{
    struct simulation s = {.g = g,
                           .costs = costs,
                           .ops = ops,
                           .count = (int)count,
                           .spans = spans,
                           .awaited = NONE,
                           .running = {NONE, NONE, NONE}};
    choose_engines(&s, copy_engines);
    link_streams(&s);
    host_goes_on(&s);
    while (s.done_count < s.count) {
        for (int engine = 0; engine < ENGINES; engine++)
            if (s.running[engine] == NONE)
                begin_on(&s, engine);
        const double wait_ns = until_event(&s);
        if (!isfinite(wait_ns))
            return NAN;
        advance(&s, wait_ns);
    }
    return s.now_ns;
}

void streams_take_turns(struct ub_timeline *timeline)
{
    for (size_t i = 0; i < timeline->count; i++) {
        struct ub_span *span = &timeline->spans[i];
        for (size_t k = 0; k < timeline->count; k++) {
            const struct ub_span *other = &timeline->spans[k];
            const bool before = other->end_ns < span->end_ns || (other->end_ns == span->end_ns && k < i);
            if (before && strcmp(other->stage, span->stage) == 0)
                span->begin_ns = fmax(span->begin_ns, other->end_ns);
        }
    }
}
