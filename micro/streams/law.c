/* SPDX-License-Identifier: MIT
 *
 * What `streams` predicts: a list schedule of what the host issues, over the engines that the
 * card has. Derivation. Operations of a stream run in the order in which they were issued;
 * those of different streams in any order (CUDA C++ Programming Guide, "Streams"). A card
 * with two copy engines and more copies both ways at once and beside kernels, one with one
 * copies one way at a time, one with none (asyncEngineCount 0) does one thing at a time.
 * Kernels that fill the card run one after the other. With n equal segments on enough
 * streams and two engines, the schedule is the textbook's
 *     T = (in + kernel + out) / n + (n - 1) / n x max(in, kernel, out),
 * and max(in, kernel, out) is what no schedule beats. Three costs are added, measured in the
 * same run: the host's for issuing an operation, the copy engine's for beginning one, and
 * what lies between two operations of a stream on different engines. Where a copy in and a
 * copy out run together, each is slower: the link and the host's memory are shared. A copy
 * from or to pageable memory goes through a pinned buffer of the driver's, by the host
 * itself, which is then busy until it has ended (CUDA Runtime API, "API synchronization
 * behavior").
 *
 * What an H200 corrected. Small operations do not show what lies between two engines: a chain of
 * them is as slow as the host that issues it (3.5 us an operation), and from them the law was 4 %
 * too fast on one stream; so that cost is measured on segments of 4 MiB (6.2 us an operation).
 * To begin a copy costs 2.8 us where copies go one way and 4.7 where they go both ways, which
 * showed in 64 segments (10 %). A barrier between blocking streams takes 19 us, not what a
 * kernel takes (12 %). The first three streams are not served in the order of issue; no time
 * depends on it. These last constants were worked out from that run; in the record of reports/h200 the
 * points which now measure them give 6.3 us an operation, 2.9 and 3.6 us a copy, 16 us a barrier. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/contract/record.h"
#include "harness/model/coalesce.h"
#include "harness/model/time.h"
#include "micro/streams/rule.h"

/* Beside multiply-adds that part of the kernel's loads and stores shows which the few blocks
 * of an SM cannot hide: fitted to an H200's times with 256 to 8192 multiply-adds. */
static const double memory_share = 0.42;
/* A loop of 64 x 4 multiply-adds has three instructions more (sm_90). */
static const double loop_share = 3.0 / (STREAMS_UNROLLED * STREAMS_CHUNK_ELEMENTS);

static const double time_tolerance = 0.10;
/* How fast the driver's copies through its buffer are depends on the host's caches, and from run
 * to run: the samples of a point differ by 15 %. */
static const double time_tolerance_pageable = 0.30;
static const double time_tolerance_assumed = 0.5;

static double value(const struct ub_constants *constants, const char *name)
{
    return ub_constant_value(constants, name);
}

/* ---- stages ---------------------------------------------------------------- */

/* What the host's caches were seen to hold: up to here the rate of pageable memory is that of
 * the point that measures it, beyond it is the host's DRAM that decides. */
static const uint64_t cached_bytes = UINT64_C(16) << 20;

static double copy_ns(const struct ub_constants *constants, const struct streams_geometry *g, bool in, uint64_t bytes)
{
    static const char *const names[2][2] = {{"copy_out_bandwidth", "copy_in_bandwidth"},
                                            {"pageable_out_bandwidth", "pageable_in_bandwidth"}};
    return (double)bytes * 1e9 / value(constants, names[g->host == STREAMS_PAGEABLE][in]);
}

/* Multiply-adds at the rate of their lanes, and DRAM for what is loaded and stored. */
static double kernel_ns(const struct ub_gpu *gpu, const struct ub_constants *constants,
                        const struct streams_geometry *g, uint64_t bytes)
{
    const double fmas = (double)bytes / sizeof(float) * g->work * (1 + loop_share);
    const double fmas_per_ns = gpu->fp32_lanes_per_sm * gpu->sms * value(constants, "clock_mhz") * 1e-3;
    const double memory_ns = 2 * (double)bytes * 1e9 / value(constants, "dram_copy_ceiling");
    return fmax(memory_ns, fmas / fmas_per_ns + memory_share * memory_ns);
}

void streams_stage_times(const struct ub_gpu *gpu, const struct ub_constants *constants,
                         const struct streams_geometry *g, struct streams_stage_times *out)
{
    out->in_ns = g->has_in ? copy_ns(constants, g, true, g->size_bytes) : 0;
    out->out_ns = g->has_out ? copy_ns(constants, g, false, g->size_bytes) : 0;
    out->kernel_ns = g->has_kernel ? kernel_ns(gpu, constants, g, g->size_bytes) : 0;
}

double streams_bound_ns(const struct streams_stage_times *t)
{
    if (!isfinite(streams_serial_ns(t)))
        return NAN;
    return fmax(fmax(t->in_ns, t->kernel_ns), t->out_ns);
}

double streams_shared_bound_ns(const struct ub_constants *constants, const struct streams_geometry *g,
                               const struct streams_stage_times *t)
{
    if (g->host != STREAMS_PINNED || !g->has_in || !g->has_out)
        return streams_bound_ns(t);
    return fmax(streams_bound_ns(t), 2 * (double)g->size_bytes * 1e9 / value(constants, "copy_both_bandwidth"));
}

double streams_serial_ns(const struct streams_stage_times *t)
{
    return t->in_ns + t->kernel_ns + t->out_ns;
}

bool streams_fills_card(const struct ub_gpu *gpu, const struct streams_geometry *g)
{
    return streams_blocks(g) >= (uint32_t)gpu->sms;
}

/* ---- the schedule ----------------------------------------------------------- */

/* Each direction's rate while both copy, of that alone. */
static double together(const struct ub_constants *constants)
{
    const double alone = value(constants, "copy_in_bandwidth") + value(constants, "copy_out_bandwidth");
    return fmin(value(constants, "copy_both_bandwidth") / alone, 1);
}

/* What a copy takes beside its bytes: more where copies go both ways, and from pageable memory,
 * which the host waits for. */
static double begin_ns(const struct ub_constants *constants, const struct streams_geometry *g, bool in)
{
    const double alone_ns = value(constants, "copy_cost_ns");
    if (g->host == STREAMS_PAGEABLE)
        return alone_ns +
               (in ? 0 : fmax(value(constants, "pageable_latency_ns") - value(constants, "copy_latency_ns"), 0));
    if (!g->has_in || !g->has_out || g->segments == 1)
        return alone_ns;
    return value(constants, "copy_cost_both_ns") * together(constants);
}

static void make_costs(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct streams_geometry *g,
                       struct streams_costs *out)
{
    const double in_ns = begin_ns(constants, g, true), out_ns = begin_ns(constants, g, false);
    const double launch_ns = value(constants, "launch_floor_ns"), issue_ns = value(constants, "issue_ns");
    const double hand_over_ns = fmax(value(constants, "hop_ns") - (in_ns + launch_ns + out_ns) / 3, 0);
    const bool pageable = g->host == STREAMS_PAGEABLE;
    *out = (struct streams_costs){
        .time_ns = {[STREAMS_IN] = in_ns + copy_ns(constants, g, true, g->segment_bytes),
                    [STREAMS_KERNEL] = launch_ns + kernel_ns(gpu, constants, g, g->segment_bytes),
                    [STREAMS_OUT] = out_ns + copy_ns(constants, g, false, g->segment_bytes),
                    [STREAMS_BARRIER] = launch_ns},
        .issue_ns = {issue_ns, issue_ns, issue_ns, issue_ns},
        .blocks = {[STREAMS_IN] = pageable, [STREAMS_OUT] = pageable},
        .hand_over_ns = hand_over_ns,
        .together = pageable ? 1 : together(constants),
    };
    if (g->queue == STREAMS_BLOCKING)
        out->time_ns[STREAMS_BARRIER] = fmax(value(constants, "barrier_ns") + hand_over_ns, launch_ns);
}

static bool costs_are_known(const struct streams_costs *costs)
{
    double sum = costs->hand_over_ns + costs->together;
    for (int i = 0; i < STREAMS_STAGE_COUNT; i++)
        sum += costs->time_ns[i] + costs->issue_ns[i];
    return isfinite(sum);
}

/* What a launch takes before its first operation begins and after its last has ended: a launch
 * that is one small operation, without that operation. */
static double frame_ns(const struct ub_constants *constants, const struct streams_geometry *g)
{
    const bool kernel = g->stages == STREAMS_ONLY_KERNEL;
    const double latency_ns = value(constants, kernel ? "kernel_latency_ns" : "copy_latency_ns");
    const double operation_ns = value(constants, kernel ? "launch_floor_ns" : "copy_cost_ns");
    return fmax(latency_ns - operation_ns - value(constants, "issue_ns"), 0);
}

static double simulate(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct streams_geometry *g,
                       struct streams_op *ops, uint32_t *count, struct streams_span *spans)
{
    struct streams_costs costs;
    make_costs(gpu, constants, g, &costs);
    *count = streams_plan(g, ops);
    if (!costs_are_known(&costs))
        return NAN;
    return streams_schedule(g, gpu->copy_engines, &costs, ops, *count, spans);
}

void streams_timeline(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                      struct ub_timeline *out)
{
    struct streams_geometry g;
    struct streams_op ops[STREAMS_MAX_OPS];
    struct streams_span *spans = calloc(STREAMS_MAX_OPS, sizeof *spans);
    uint32_t count = 0;
    out->count = 0;
    const bool shown = spans && streams_resolve(gpu, point, &g) == NULL && g.stages == STREAMS_PIPELINE;
    if (shown && isfinite(simulate(gpu, constants, &g, ops, &count, spans)))
        for (uint32_t i = 0; i < count && i < UB_MAX_SPANS; i++) {
            struct ub_span *span = &out->spans[out->count++];
            *span =
                (struct ub_span){.stream = ops[i].stream == STREAMS_DEFAULT_STREAM ? UB_DEFAULT_STREAM : ops[i].stream,
                                 .segment = ops[i].segment,
                                 .begin_ns = spans[i].begin_ns - spans[0].begin_ns,
                                 .end_ns = spans[i].end_ns - spans[0].begin_ns};
            memcpy(span->stage, streams_stage_names[ops[i].stage], strlen(streams_stage_names[ops[i].stage]) + 1);
        }
    free(spans);
}

/* ---- counters ----------------------------------------------------------------- */

/* Of a warp of the kernel, in the machine code of sm_90: 21 outside of its two loops and one
 * before each, 259 for 64 multiply-adds of each element, 7 for one. The empty kernel has two. */
static uint64_t warp_instructions(const struct streams_geometry *g)
{
    const uint64_t warps = g->has_kernel ? g->size_bytes / (STREAMS_CHUNK_BYTES * UB_WARP_LANES) : 0;
    const uint64_t whole = g->work / STREAMS_UNROLLED, rest = g->work % STREAMS_UNROLLED;
    const uint64_t each = 21 + (whole > 0 ? 1 + 259 * whole : 0) + (rest > 0 ? 1 + 7 * rest : 0);
    const uint64_t barriers = !g->barriers                  ? 0
                              : g->order == STREAMS_BREADTH ? (g->segments + g->streams - 1) / g->streams
                                                            : g->segments;
    return warps * each + 2 * barriers;
}

static void add_instructions(const struct ub_gpu *gpu, const struct streams_geometry *g, struct ub_law *law)
{
    enum { REGISTERS_OF_SM_90 = 12 };
    const bool known = gpu->cc_major == 9 && gpu->cc_minor == 0;
    if (known)
        ub_law_exact(law, "warp_instructions", UB_SASS, warp_instructions(g));
    else
        ub_law_unknown(law, "warp_instructions", UB_SASS, "the machine code is known of CC 9.0 only");
    law->has_code = known && g->has_kernel;
    law->code_registers = REGISTERS_OF_SM_90;
}

static void add_counters(const struct ub_gpu *gpu, const struct streams_geometry *g, struct ub_law *law)
{
    const uint64_t bytes = g->has_kernel ? g->size_bytes : 0;
    const uint64_t requests = bytes / (STREAMS_CHUNK_BYTES * UB_WARP_LANES);
    ub_law_exact(law, "ffma", UB_STRUCTURAL, bytes / sizeof(float) * g->work);
    ub_law_exact(law, "global_load_requests", UB_STRUCTURAL, requests);
    ub_law_exact(law, "global_load_sectors", UB_STRUCTURAL, bytes / 32);
    ub_law_exact(law, "global_store_requests", UB_STRUCTURAL, requests);
    ub_law_exact(law, "global_store_sectors", UB_STRUCTURAL, bytes / 32);
    ub_law_exact(law, "local_loads", UB_SASS, 0); /* nothing is spilled */
    add_instructions(gpu, g, law);
}

/* ---- the law -------------------------------------------------------------------- */

static const char *bottleneck_of(const struct streams_stage_times *t)
{
    const double bound_ns = streams_bound_ns(t);
    return bound_ns == t->kernel_ns ? "kernel" : bound_ns == t->in_ns ? "copy_in" : "copy_out";
}

/* NULL where the time is tested. */
static const char *why_untested(const struct ub_gpu *gpu, const struct streams_geometry *g)
{
    if (g->has_kernel && !streams_fills_card(gpu, g))
        return "a segment's kernel has fewer blocks than the card has SMs: kernels of several streams run together";
    if (g->host == STREAMS_PAGEABLE && g->size_bytes > cached_bytes)
        return "more pageable memory than 16 MiB: how fast it is where the host's caches do not hold it is not known";
    return NULL;
}

void streams_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                 struct ub_law *out)
{
    struct streams_geometry g;
    struct streams_op ops[STREAMS_MAX_OPS];
    struct streams_stage_times times;
    uint32_t count = 0;
    *out = (struct ub_law){.time_ns = NAN, .level = "none"};
    const char *unsupported = streams_resolve(gpu, point, &g);
    if (unsupported != NULL) {
        out->note = unsupported;
        return;
    }
    add_counters(gpu, &g, out);
    streams_stage_times(gpu, constants, &g, &times);
    ub_time_term(out, "copy_in", times.in_ns);
    ub_time_term(out, "kernel", times.kernel_ns);
    ub_time_term(out, "copy_out", times.out_ns);
    const double schedule_ns = simulate(gpu, constants, &g, ops, &count, NULL);
    ub_time_term(out, "issue", count * value(constants, "issue_ns"));
    if (!isfinite(schedule_ns)) {
        out->note = "no time: how fast copies between this card and its host are is not known";
        return;
    }
    out->time_ns = schedule_ns + frame_ns(constants, &g);
    out->bottleneck = bottleneck_of(&times);
    out->note = why_untested(gpu, &g);
    if (!out->note)
        out->tolerance = !gpu->verified               ? time_tolerance_assumed
                         : g.host == STREAMS_PAGEABLE ? time_tolerance_pageable
                                                      : time_tolerance;
}
