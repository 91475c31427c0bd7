/* SPDX-License-Identifier: MIT
 *
 * What `reduce` predicts. Counters: the elements, trees and atomics of access.h, replayed
 * through the models of coalescer and banks, one block of those that are alike; the integers
 * must be equal to the hardware's. Time: what a launch takes alone, and the larger of what
 * keeps the SMs busy (their loads from DRAM or L2, blocks that wait, issue slots, launches) and
 * of what keeps the part of L2 busy in which the result lies (its loads, and all atomics one
 * after the other). A block phase alone: steps times latency and issue slots. Constants are
 * other rules' (ceilings, latencies, launches), this rule's own points (atomics), or fits to
 * an H200, which say so. */
#include <math.h>

#include "harness/contract/record.h"
#include "harness/model/bank.h"
#include "harness/model/time.h"
#include "micro/reduce/access.h"
#include "micro/reduce/rule.h"

enum { IN_DRAM_L2_CACHES = 4, TREE_STEPS_MAX = 10 };

/* ---- elements -------------------------------------------------------------------- */

/* One warp's load of a whole chunk by each lane that has one. */
static void add_chunks(const struct reduce_geometry *g, uint32_t block, uint32_t warp, uint32_t load, bool whole,
                       struct ub_traffic *out)
{
    uint64_t addresses[UB_WARP_LANES] = {0};
    uint32_t active = 0;
    for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++) {
        const uint64_t element =
            reduce_element(block, warp * UB_WARP_LANES + lane, load, g->block, g->words, g->block_elements);
        addresses[lane] = element * REDUCE_ELEMENT_BYTES;
        if (whole || element + g->words <= g->n)
            active |= UINT32_C(1) << lane;
    }
    ub_coalesce_warp(addresses, active, g->bytes, out);
}

/* What is left of a chunk that the array cuts goes element by element: one lane of the grid
 * does that. */
static void add_rest(const struct reduce_geometry *g, struct ub_traffic *out)
{
    for (uint64_t element = g->n - g->n % g->words; element < g->n; element++) {
        const uint64_t addresses[UB_WARP_LANES] = {element * REDUCE_ELEMENT_BYTES};
        ub_coalesce_warp(addresses, 1, REDUCE_ELEMENT_BYTES, out);
    }
}

/* Blocks that have all of their elements are alike, and so are their warps and loads. */
void reduce_traffic(const struct reduce_geometry *g, struct ub_traffic *out)
{
    const uint64_t whole_blocks = g->n / g->block_elements;
    struct ub_traffic one = {0};
    *out = (struct ub_traffic){0};
    add_chunks(g, 0, 0, 0, true, &one);
    ub_traffic_add(out, &one, whole_blocks * g->warps * g->loads);
    for (uint64_t block = whole_blocks; block < g->blocks; block++)
        for (uint32_t load = 0; load < g->loads; load++)
            for (uint32_t warp = 0; warp < g->warps; warp++)
                add_chunks(g, (uint32_t)block, warp, load, false, out);
    add_rest(g, out);
}

/* ---- shared memory ------------------------------------------------------------------ */

struct warp_words {
    uint32_t active;
    uint32_t words[UB_WARP_LANES];
};

/* In one step of a tree: which lanes of a warp add, and to which words. */
static struct warp_words words_of(uint32_t variant, uint32_t warp, uint32_t apart, uint32_t threads)
{
    struct warp_words out = {0};
    for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++) {
        const uint32_t thread = warp * UB_WARP_LANES + lane;
        const uint32_t word = variant == REDUCE_STRIDED ? reduce_word_strided(thread, apart) : thread;
        const bool adds = variant == REDUCE_STRIDED       ? word < threads
                          : variant == REDUCE_INTERLEAVED ? reduce_adds_interleaved(thread, apart)
                                                          : reduce_adds_sequential(thread, apart);
        out.words[lane] = word;
        out.active |= (uint32_t)adds << lane;
    }
    return out;
}

static void add_step_of_warp(const struct warp_words *warp, uint32_t apart, struct reduce_shared *out)
{
    uint32_t near[UB_WARP_LANES], far[UB_WARP_LANES];
    if (warp->active == 0)
        return;
    for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++) {
        near[lane] = warp->words[lane] * REDUCE_ELEMENT_BYTES;
        far[lane] = near[lane] + apart * REDUCE_ELEMENT_BYTES;
    }
    out->load_requests += 2;
    out->store_requests += 1;
    out->load_wavefronts += ub_bank_wavefronts(near, warp->active, REDUCE_ELEMENT_BYTES) +
                            ub_bank_wavefronts(far, warp->active, REDUCE_ELEMENT_BYTES);
    out->store_wavefronts += ub_bank_wavefronts_store(near, warp->active, REDUCE_ELEMENT_BYTES);
}

static void add_step(const struct reduce_geometry *g, uint32_t variant, uint32_t apart, struct reduce_shared *out)
{
    for (uint32_t warp = 0; warp < g->warps; warp++) {
        const struct warp_words words = words_of(variant, warp, apart, g->block);
        add_step_of_warp(&words, apart, out);
    }
}

/* Loads and stores without conflicts. */
static void add_plain(struct reduce_shared *out, uint64_t loads, uint64_t stores)
{
    out->load_requests += loads;
    out->load_wavefronts += loads;
    out->store_requests += stores;
    out->store_wavefronts += stores;
}

/* Each thread stores, the tree, the first thread reads. */
static void add_tree(const struct reduce_geometry *g, struct reduce_shared *out)
{
    add_plain(out, 1, g->warps);
    for (uint32_t apart = 1; apart < g->block; apart *= 2)
        add_step(g, g->variant, apart, out);
}

/* The steps of the tree down to two words a lane of the first warp, which reads those. */
static void add_row(const struct reduce_geometry *g, struct reduce_shared *out)
{
    add_plain(out, g->block >= REDUCE_TAIL_ELEMENTS ? 2 : 1, g->warps);
    for (uint32_t apart = g->block / 2; apart >= REDUCE_TAIL_ELEMENTS; apart /= 2)
        add_step(g, REDUCE_SEQUENTIAL, apart, out);
}

/* The compiler makes one atomic a warp of those of whole numbers (redux.sync before it), and
 * a loop of compare-and-swap of those of floats, which takes as many turns as it has to. */
static void add_atomics(const struct reduce_geometry *g, struct reduce_shared *out)
{
    add_plain(out, 1, 1);
    out->atomics += g->warps;
}

void reduce_shared_of_block(const struct reduce_geometry *g, struct reduce_shared *out)
{
    *out = (struct reduce_shared){0};
    switch ((enum reduce_variant)g->variant) {
    case REDUCE_INTERLEAVED:
    case REDUCE_STRIDED:
    case REDUCE_SEQUENTIAL:
        add_tree(g, out);
        break;
    case REDUCE_SHUFFLE:
    case REDUCE_REDUX:
    case REDUCE_TWO_KERNELS:
        add_plain(out, 1, g->warps);
        break;
    case REDUCE_LAST_BLOCK: /* and whether this is the last block: a byte */
        add_plain(out, 1 + g->warps, g->warps + 1);
        break;
    case REDUCE_ATOMIC_SHARED:
        add_atomics(g, out);
        break;
    case REDUCE_REUSE:
    case REDUCE_MISSING_BARRIER:
        for (uint32_t load = 0; load < g->loads; load++)
            add_row(g, out);
        break;
    case REDUCE_ATOMIC_THREAD:
    case REDUCE_ATOMIC_WARP:
    case REDUCE_VARIANTS:
        break;
    }
}

/* ---- the launches -------------------------------------------------------------------- */

struct totals {
    struct ub_traffic loads;
    struct reduce_shared shared;
    uint64_t stores, reductions, atomics, blocks, warps;
};

/* One block adds up the sums of all blocks. */
static void add_final(const struct reduce_geometry *g, uint32_t warps, struct totals *t)
{
    for (uint64_t first = 0; first < g->blocks; first += UB_WARP_LANES) {
        uint64_t addresses[UB_WARP_LANES];
        const uint64_t left = g->blocks - first;
        const uint32_t active = left < UB_WARP_LANES ? (UINT32_C(1) << left) - 1 : UINT32_MAX;
        for (uint32_t lane = 0; lane < UB_WARP_LANES; lane++)
            addresses[lane] = (first + lane) * REDUCE_ELEMENT_BYTES;
        ub_coalesce_warp(addresses, active, REDUCE_ELEMENT_BYTES, &t->loads);
    }
    add_plain(&t->shared, 1, warps);
    t->stores += 1;
}

static void scale_shared(struct reduce_shared *shared, uint64_t times)
{
    shared->load_requests *= times;
    shared->store_requests *= times;
    shared->load_wavefronts *= times;
    shared->store_wavefronts *= times;
    shared->atomics *= times;
}

static uint64_t reductions_of(const struct reduce_geometry *g)
{
    switch ((enum reduce_variant)g->variant) {
    case REDUCE_ATOMIC_THREAD:
    case REDUCE_ATOMIC_WARP:
        return (uint64_t)g->blocks * g->warps;
    case REDUCE_TWO_KERNELS:
    case REDUCE_LAST_BLOCK:
        return 0;
    default:
        return g->blocks;
    }
}

static void count_sum(const struct reduce_geometry *g, struct totals *t)
{
    reduce_traffic(g, &t->loads);
    reduce_shared_of_block(g, &t->shared);
    scale_shared(&t->shared, g->blocks);
    t->reductions = reductions_of(g);
    t->blocks = g->blocks;
    t->warps = (uint64_t)g->blocks * g->warps;
    if (reduce_clears(g->variant)) {
        t->stores += 1;
        t->blocks += 1;
        t->warps += 1;
        return;
    }
    t->stores += g->blocks;
    if (g->variant == REDUCE_LAST_BLOCK) {
        t->atomics = g->blocks;
        add_final(g, g->warps, t);
        return;
    }
    t->blocks += 1;
    t->warps += REDUCE_FINAL_BLOCK / UB_WARP_LANES;
    add_final(g, REDUCE_FINAL_BLOCK / UB_WARP_LANES, t);
}

/* One iteration of one block; cycles and sum are stored. */
static void count_phase(const struct reduce_geometry *g, struct totals *t)
{
    reduce_traffic(g, &t->loads);
    reduce_shared_of_block(g, &t->shared);
    t->stores = 2;
    t->blocks = 1;
    t->warps = g->warps;
}

/* ---- counters ---------------------------------------------------------------------- */

/* From where the array comes: from L2, where it is left from the launch before; from DRAM,
 * where it is larger; in between some of it. */
enum level { IN_L2, BETWEEN, IN_DRAM };

static enum level level_of(const struct ub_gpu *gpu, const struct reduce_geometry *g)
{
    const double share = (double)g->n * REDUCE_ELEMENT_BYTES / (double)gpu->l2_bytes;
    return share <= 0.75 ? IN_L2 : share < 1.05 ? BETWEEN : IN_DRAM;
}

/* Divergent executions of the branches round the loads of the last block, which tests each
 * load: whole chunk or not; if not, whether anything of it is left. */
static uint64_t divergent_in_rest(const struct reduce_geometry *g)
{
    uint64_t divergent = 0;
    for (uint64_t block = g->n / g->block_elements; block < g->blocks; block++)
        for (uint32_t first = 0; first < g->loads * g->block; first += UB_WARP_LANES) {
            const uint64_t element = block * g->block_elements + (uint64_t)first * g->words;
            const uint64_t left = element < g->n ? g->n - element : 0;
            const uint64_t chunks = left / g->words, rest = left % g->words;
            divergent += chunks > 0 && chunks < UB_WARP_LANES;
            divergent += rest > 0 && chunks + 1 < UB_WARP_LANES;
        }
    return divergent;
}

/* Of the loop over all block sums: none where its warps are full. */
static bool divergent_in_final(const struct reduce_geometry *g, uint64_t *out)
{
    const uint32_t threads = g->variant == REDUCE_TWO_KERNELS ? (uint32_t)REDUCE_FINAL_BLOCK : g->block;
    *out = g->blocks % UB_WARP_LANES != 0;
    return *out == 0 || g->blocks < (REDUCE_FINAL_AHEAD - 1) * threads;
}

/* The steps of all trees are predicated: none of their branches diverges, not even that of the
 * tree which textbooks call divergent. What is left is the last block's, and the thread that
 * takes the ticket. */
static void add_divergent(const struct reduce_geometry *g, struct ub_law *law)
{
    uint64_t final = 0;
    if (g->work == REDUCE_BLOCK_PHASE || reduce_clears(g->variant)) {
        /* the loop of compare-and-swap: as often as it has to */
        if (g->variant == REDUCE_ATOMIC_SHARED && g->type == REDUCE_FLOAT)
            ub_law_unknown(law, "branches_divergent", UB_SASS, "lanes leave the loop of compare-and-swap one by one");
        else
            ub_law_exact(law, "branches_divergent", UB_SASS, g->work == REDUCE_SUM ? divergent_in_rest(g) : 0);
        return;
    }
    if (!divergent_in_final(g, &final)) {
        ub_law_unknown(law, "branches_divergent", UB_SASS, "follows from the loop over the block sums");
        return;
    }
    const uint64_t tickets = g->variant == REDUCE_LAST_BLOCK ? g->blocks : 0;
    ub_law_exact(law, "branches_divergent", UB_SASS, divergent_in_rest(g) + final + tickets);
}

/* Of floats in shared memory: not one a warp, but as many turns as its lanes get in the way
 * of each other; each also loads. */
static void add_shared(const struct reduce_geometry *g, const struct reduce_shared *shared, struct ub_law *law)
{
    static const char *const why = "floats: a loop of compare-and-swap, as often as lanes get in each other's way";
    const bool loops = g->variant == REDUCE_ATOMIC_SHARED && g->type == REDUCE_FLOAT;
    ub_law_exact(law, "shared_store_requests", UB_STRUCTURAL, shared->store_requests);
    ub_law_exact(law, "shared_store_wavefronts", UB_STRUCTURAL, shared->store_wavefronts);
    if (loops) {
        ub_law_unknown(law, "shared_load_requests", UB_SASS, why);
        ub_law_unknown(law, "shared_load_wavefronts", UB_SASS, why);
        ub_law_unknown(law, "shared_atomics", UB_SASS, why);
        return;
    }
    ub_law_exact(law, "shared_load_requests", UB_STRUCTURAL, shared->load_requests);
    ub_law_exact(law, "shared_load_wavefronts", UB_STRUCTURAL, shared->load_wavefronts);
    ub_law_exact(law, "shared_atomics", UB_SASS, shared->atomics);
}

static void add_estimates(const struct ub_gpu *gpu, const struct reduce_geometry *g, struct ub_law *law)
{
    static const char *const code = "follows from the machine code";
    const bool large = (double)g->n * REDUCE_ELEMENT_BYTES > (double)(IN_DRAM_L2_CACHES * gpu->l2_bytes);
    ub_law_unknown(law, "branches_uniform", UB_SASS, code);
    ub_law_unknown(law, "warp_instructions", UB_SASS, code);
    ub_law_unknown(law, "thread_instructions", UB_SASS, code);
    ub_law_unknown(law, "thread_instructions_pred_on", UB_SASS, code);
    ub_law_estimate(law, "dram_read_bytes", large ? (double)g->n * REDUCE_ELEMENT_BYTES : NAN, 0.15,
                    "each byte comes from DRAM once, but for what L2 still has: 12 % of 256 MiB on an H200",
                    "the array is not larger than four L2 caches");
    ub_law_unknown(law, "stall_barrier", UB_ESTIMATE, "how uneven warps are is not modelled");
    ub_law_unknown(law, "stall_long_scoreboard", UB_ESTIMATE, "follows from the latency under load");
}

/* Registers of the kernels, by which the machine code of sm_90 that was looked at is known:
 * of sums for [type][16-byte loads], of block phases. */
static const int code_registers[REDUCE_VARIANTS][REDUCE_TYPES][2] = {
    [REDUCE_INTERLEAVED] = {{17, 30}, {18, 30}},
    [REDUCE_STRIDED] = {{17, 30}, {18, 30}},
    [REDUCE_SEQUENTIAL] = {{17, 30}, {18, 30}},
    [REDUCE_SHUFFLE] = {{17, 30}, {18, 30}},
    [REDUCE_REDUX] = {{17, 30}},
    [REDUCE_ATOMIC_SHARED] = {{17, 30}, {17, 30}},
    [REDUCE_ATOMIC_THREAD] = {{17, 30}, {18, 30}},
    [REDUCE_ATOMIC_WARP] = {{17, 30}, {18, 30}},
    [REDUCE_TWO_KERNELS] = {{17, 30}, {18, 30}},
    [REDUCE_LAST_BLOCK] = {{32, 32}, {32, 32}},
    [REDUCE_REUSE] = {{20, 20}, {20, 20}},
    [REDUCE_MISSING_BARRIER] = {{20, 20}, {20, 20}},
};
static const int phase_registers[REDUCE_PHASES] = {17, 18, 14, 22, 14, 14};

static void add_code(const struct ub_gpu *gpu, const struct reduce_geometry *g, struct ub_law *law)
{
    law->has_code = gpu->cc_major == 9 && gpu->cc_minor == 0;
    law->code_registers = g->work == REDUCE_BLOCK_PHASE ? phase_registers[g->variant]
                                                        : code_registers[g->variant][g->type][g->words == 4];
}

static void add_counters(const struct ub_gpu *gpu, const struct reduce_geometry *g, struct ub_law *law)
{
    struct totals t = {.stores = 0};
    if (g->work == REDUCE_SUM)
        count_sum(g, &t);
    else
        count_phase(g, &t);
    ub_law_exact(law, "global_load_requests", UB_STRUCTURAL, t.loads.requests);
    ub_law_exact(law, "global_load_sectors", UB_STRUCTURAL, t.loads.sectors);
    ub_law_exact(law, "global_load_bytes", UB_STRUCTURAL, t.loads.bytes);
    ub_law_exact(law, "global_store_requests", UB_STRUCTURAL, t.stores);
    add_shared(g, &t.shared, law);
    ub_law_exact(law, "global_reductions", UB_SASS, t.reductions);
    ub_law_exact(law, "global_atomics", UB_STRUCTURAL, t.atomics);
    ub_law_exact(law, "blocks_launched", UB_STRUCTURAL, t.blocks);
    ub_law_exact(law, "warps_launched", UB_STRUCTURAL, t.warps);
    add_divergent(g, law);
    add_estimates(gpu, g, law);
    add_code(gpu, g, law);
}

/* ---- time of a block ----------------------------------------------------------------- */

/* Cycles of the block phase alone on an SM, from its first instruction to the barrier behind
 * it: fixed + steps x (latency + per_warp x warps), where a tree has log2(threads) steps and
 * the others one. A step's latency is that of a chain (a tree: load from shared memory 23,
 * addition 4, store, barrier; shuffles: 2 x 5 x (26 + 4), store, barrier, load), `per_warp`
 * the issue slots of a warp on its scheduler, a quarter of them (machine code: 10
 * instructions of a step, 13 with conflicts, 28 with a division), and its turns at the
 * barrier. Fitted to an H200 with 1 to 32 warps; behind each, how far off it is at most in the
 * record of reports/h200. */
static const struct phase {
    bool steps;
    double fixed, latency, per_warp;
    double tolerance; /* of a time */
} phases[REDUCE_PHASES] = {
    [REDUCE_INTERLEAVED] = {true, 150, 170, 7.6, 0.12},  /* 6.3 % */
    [REDUCE_STRIDED] = {true, 150, 61.5, 4.4, 0.05},     /* 1.8 % */
    [REDUCE_SEQUENTIAL] = {true, 150, 57.2, 3.25, 0.03}, /* 0.9 % */
    [REDUCE_SHUFFLE] = {false, 0, 379.5, 3.05, 0.04},    /* 1.2 % */
    [REDUCE_REDUX] = {false, 0, 175.5, 3.1, 0.05},       /* 2.0 % */
    [REDUCE_ATOMIC_SHARED] = {false, 0, 99, 6.1, 0.12},  /* 6.6 % */
};

static double log2_of(uint32_t power)
{
    double log = 0;
    while (power > 1) {
        power /= 2;
        log++;
    }
    return log;
}

static double phase_latency_cycles(uint32_t variant, uint32_t block)
{
    const struct phase *p = &phases[variant];
    return p->fixed + (p->steps ? log2_of(block) : 1) * p->latency;
}

static double phase_issue_cycles(uint32_t variant, uint32_t block)
{
    const struct phase *p = &phases[variant];
    return (p->steps ? log2_of(block) : 1) * p->per_warp * block / UB_WARP_LANES;
}

/* Of a row: the tree down to 64 words, then half of what shuffles take. */
static double row_cycles(uint32_t block)
{
    const struct phase *tree = &phases[REDUCE_SEQUENTIAL];
    const double steps = block >= 2 * REDUCE_TAIL_ELEMENTS ? log2_of(block / REDUCE_TAIL_ELEMENTS) : 0;
    return tree->fixed + steps * (tree->latency + tree->per_warp * block / UB_WARP_LANES) +
           phases[REDUCE_SHUFFLE].latency / 2;
}

/* Cycles from the sums of the threads to that of the block. */
static double block_cycles(const struct reduce_geometry *g)
{
    if (g->variant == REDUCE_ATOMIC_THREAD)
        return 0;
    if (g->variant == REDUCE_ATOMIC_WARP)
        return phases[REDUCE_SHUFFLE].latency / 2;
    if (reduce_has_rows(g->variant))
        return g->loads * row_cycles(g->block);
    const uint32_t variant = g->variant < REDUCE_PHASES ? g->variant : (uint32_t)REDUCE_SHUFFLE;
    return phase_latency_cycles(variant, g->block) + phase_issue_cycles(variant, g->block);
}

/* ---- time of a sum ------------------------------------------------------------------- */

/* Fitted to an H200's sums of 2 GiB: what a block takes beside its loads and its phase is
 * 272 ns + 6.1 ns a warp (from its launch to its first load, and until its slot is free
 * again). What the last launch takes from its block sums to its end: until an atomic has
 * arrived; two fences and a ticket. And what a ticket costs all blocks: nothing is loaded
 * into a block's slot meanwhile. */
enum { BLOCK_BESIDE_NS = 272, RED_ARRIVES_NS = 370, TICKET_ARRIVES_NS = 927, L2_SLICES = 80 };
static const double warp_beside_ns = 6.1, ticket_ns = 1.15;

/* Instructions of a warp: of one that adds up one element (without its block phase), and of a
 * step of each tree (machine code of sm_90, as counted). Three of a step with a division go
 * through the unit for special functions, 4 lanes of a scheduler wide. */
enum { LOAD_INSTRUCTIONS = 45, SPECIAL_OF_DIVISION = 3, SPECIAL_LANES = 4 };
static const double step_instructions[REDUCE_SEQUENTIAL + 1] = {28.4, 13.5, 10.4};

struct machine {
    const struct ub_gpu *gpu;
    const struct ub_constants *constants;
    double cycle_ns;
};

static double constant(const struct machine *m, const char *name)
{
    return ub_constant_value(m->constants, name);
}

/* AHEAD loads of a thread are on their way at a time; those that are left over one. */
static double trips_of(const struct reduce_geometry *g)
{
    return reduce_has_rows(g->variant) ? g->loads : g->loads / REDUCE_AHEAD + g->loads % REDUCE_AHEAD;
}

/* From a block's launch to its end, each load waiting `wait_ns`. */
static double block_ns(const struct machine *m, const struct reduce_geometry *g, double trips, double wait_ns)
{
    return BLOCK_BESIDE_NS + warp_beside_ns * g->warps + trips * wait_ns + block_cycles(g) * m->cycle_ns;
}

static double resident_blocks(const struct machine *m, const struct reduce_geometry *g)
{
    const double by_warps = m->gpu->warps_per_sm / (int)g->warps, most = m->gpu->blocks_per_sm;
    return (by_warps < most ? by_warps : most) * m->gpu->sms;
}

static double steps_of(const struct reduce_geometry *g)
{
    return g->variant <= REDUCE_SEQUENTIAL ? log2_of(g->block) : 0;
}

static double issue_ns(const struct machine *m, const struct reduce_geometry *g)
{
    const double steps = g->variant <= REDUCE_SEQUENTIAL ? steps_of(g) * step_instructions[g->variant] : 0;
    const double warps = (double)g->blocks * g->warps;
    return warps * (LOAD_INSTRUCTIONS + steps) / m->gpu->schedulers_per_sm / m->gpu->sms * m->cycle_ns;
}

static double special_ns(const struct machine *m, const struct reduce_geometry *g)
{
    if (g->variant != REDUCE_INTERLEAVED)
        return 0;
    const double turns = steps_of(g) * SPECIAL_OF_DIVISION * UB_WARP_LANES / SPECIAL_LANES;
    return (double)g->blocks * g->warps * turns / m->gpu->schedulers_per_sm / m->gpu->sms * m->cycle_ns;
}

/* Atomics to one word are done one after the other by the part of L2 that holds it. Those of
 * whole numbers join the one before, unless a load from DRAM came in between: then one takes
 * as long as one of floats, which never join. (Loads that L2 has do not come in between: by a
 * fit to sums of 4 to 32 MiB.) Loads that could are the sectors that this part of L2 delivers,
 * 1 of 80; that atomics come at random among them makes it s (1 - exp(-atomics / s)) times.
 * Fit of s to sums of 2 GiB: 75 to 80 parts on an H200. */
static double atomics_ns(const struct machine *m, const struct reduce_geometry *g, enum level level)
{
    const double count = (double)reductions_of(g);
    const double joined = constant(m, "red_int_ns"), alone = constant(m, "red_float_ns");
    if (g->type == REDUCE_FLOAT)
        return count * (g->variant == REDUCE_ATOMIC_THREAD ? UB_WARP_LANES : 1) * alone;
    if (level == IN_L2)
        return count * joined;
    const double between = (double)g->n * REDUCE_ELEMENT_BYTES / UB_SECTOR_BYTES / L2_SLICES;
    return count * joined + (alone - joined) * between * (1 - exp(-count / between));
}

/* Tickets: atomics that return a value, between two fences. */
static double tickets_ns(const struct reduce_geometry *g)
{
    return g->variant == REDUCE_LAST_BLOCK ? g->blocks * ticket_ns : 0;
}

static double fourth_power(double x)
{
    return x * x * x * x;
}

/* What keeps SMs busy for a time each: where two take about as long, neither hides all of the
 * other. The fourth root of the sum of fourth powers is a fit (6 %). */
static double together_ns(const double times_ns[], size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += fourth_power(times_ns[i]);
    return sqrt(sqrt(sum));
}

/* From a load to its data in L2, in whichever half that is. */
static double l2_wait_ns(const struct machine *m)
{
    const double crossing_ns = ub_gpu_has_l2_halves(m->gpu) ? constant(m, "l2_crossing_ns") : 0;
    return constant(m, "l2_latency_ns") + (isfinite(crossing_ns) ? crossing_ns : 0);
}

/* What one launch takes at least: its launches' floors, a block from end to end, and what
 * comes behind its sum. */
static double alone_ns(const struct machine *m, const struct reduce_geometry *g)
{
    const double floor_ns = constant(m, "launch_floor_ns"), cycles = phases[REDUCE_SHUFFLE].latency;
    const double wait_ns = l2_wait_ns(m);
    const double first_ns = block_ns(m, g, 1, wait_ns);
    const double warps = REDUCE_FINAL_BLOCK / UB_WARP_LANES;
    if (g->variant == REDUCE_LAST_BLOCK)
        return floor_ns + first_ns + TICKET_ARRIVES_NS + wait_ns + cycles * m->cycle_ns;
    if (g->variant == REDUCE_TWO_KERNELS)
        return 2 * floor_ns + first_ns + BLOCK_BESIDE_NS + warps * warp_beside_ns + wait_ns +
               (cycles + phases[REDUCE_SHUFFLE].per_warp * warps) * m->cycle_ns;
    return 2 * floor_ns + first_ns + RED_ARRIVES_NS;
}

/* One block adds up all block sums: REDUCE_FINAL_AHEAD of a thread wait for L2 at a time. */
static double final_ns(const struct machine *m, const struct reduce_geometry *g)
{
    if (reduce_clears(g->variant))
        return 0;
    const double threads = g->variant == REDUCE_TWO_KERNELS ? REDUCE_FINAL_BLOCK : g->block;
    return floor(g->blocks / (threads * REDUCE_FINAL_AHEAD)) * l2_wait_ns(m);
}

/* With atomics: the same point differs by a tenth from run to run; just above L2's size, where
 * the fit to 2 GiB does not hold as well, by a quarter from the law. Fewer blocks than SMs: a
 * block takes what it takes on a full SM in this law, but its loads meet nobody and may all
 * find the near half of L2: 31 elements were up to 19 % faster on an H200. */
static const double time_tolerance = 0.12, time_tolerance_atomics = 0.20, time_tolerance_near_l2 = 0.30;
static const double time_tolerance_few_blocks = 0.20;
static const double time_tolerance_assumed = 0.50;

static double tolerance_of(const struct machine *m, const struct reduce_geometry *g, bool atomics, enum level level)
{
    if (!m->gpu->verified)
        return time_tolerance_assumed;
    if (!atomics)
        return (int)g->blocks < m->gpu->sms ? time_tolerance_few_blocks : time_tolerance;
    const bool near_l2 =
        level == IN_DRAM && g->type == REDUCE_INT && g->n * REDUCE_ELEMENT_BYTES < IN_DRAM_L2_CACHES * m->gpu->l2_bytes;
    return near_l2 ? time_tolerance_near_l2 : time_tolerance_atomics;
}

/* Times of a sum, each as if it were alone. */
struct parts {
    double loads_ns, waiting_ns, issue_ns, division_ns, launches_ns; /* of the SMs */
    double atomics_ns;                                               /* of the part of L2 with the result */
    double tickets_ns, alone_ns, final_ns;                           /* on top */
};

static struct parts parts_of(const struct machine *m, const struct reduce_geometry *g, enum level level)
{
    const double bytes = (double)g->n * REDUCE_ELEMENT_BYTES, slots = resident_blocks(m, g);
    const double turns = g->blocks > slots ? g->blocks / slots : 0; /* fewer blocks: alone_ns */
    const double wait_ns = constant(m, level == IN_L2 ? "l2_latency_ns" : "load_wait_ns");
    return (struct parts){
        .loads_ns = bytes * 1e9 / constant(m, level == IN_L2 ? "l2_load_ceiling" : "dram_load_ceiling"),
        .waiting_ns = turns * block_ns(m, g, trips_of(g), wait_ns),
        .issue_ns = issue_ns(m, g),
        .division_ns = special_ns(m, g),
        .launches_ns = g->blocks * constant(m, "block_launch_ns"),
        .atomics_ns = atomics_ns(m, g, level),
        .tickets_ns = tickets_ns(g),
        .alone_ns = alone_ns(m, g),
        .final_ns = final_ns(m, g),
    };
}

/* SMs and L2 work at the same time: the slower decides. Atomics and loads are at random in
 * each other's way, which square root of squares fits (9 %). */
static double total_ns(const struct parts *p)
{
    const double sm_ns[] = {p->loads_ns, p->waiting_ns, p->issue_ns, p->division_ns, p->launches_ns};
    const double blocks_ns = together_ns(sm_ns, sizeof sm_ns / sizeof sm_ns[0]) + p->tickets_ns;
    return fmax(blocks_ns, hypot(p->loads_ns, p->atomics_ns)) + p->alone_ns + p->final_ns;
}

static void add_terms(const struct parts *p, enum level level, struct ub_law *law)
{
    ub_time_term(law, level == IN_L2 ? "l2" : "dram", p->loads_ns);
    ub_time_term(law, "waiting", p->waiting_ns);
    ub_time_term(law, "issue", p->issue_ns);
    ub_time_term(law, "division", p->division_ns);
    ub_time_term(law, "block_launch", p->launches_ns);
    ub_time_term(law, "atomics", p->atomics_ns + p->tickets_ns);
    ub_time_term(law, "one_block", p->alone_ns);
    ub_time_term(law, "block_sums", p->final_ns);
    ub_time_bottleneck(law, 0);
}

static void add_time_of_sum(const struct machine *m, const struct reduce_geometry *g, enum level level,
                            struct ub_law *law)
{
    const struct parts parts = parts_of(m, g, level);
    add_terms(&parts, level, law);
    law->time_ns = total_ns(&parts);
    if (!isfinite(law->time_ns)) {
        ub_time_unknown(law, "no time: the bandwidth or the latency of this card's L2 or memory is not known");
        return;
    }
    const bool atomics = parts.atomics_ns + parts.tickets_ns > 0.25 * law->time_ns;
    law->tolerance = tolerance_of(m, g, atomics, level);
    if (!m->gpu->verified)
        law->note = "assumed: what blocks take beside their loads, and how times add up, are an H200's";
    else if (atomics)
        law->note = "how often loads come between two atomics changes from run to run, on an H200 by a tenth of the "
                    "time";
}

static void add_time_of_phase(const struct machine *m, const struct reduce_geometry *g, struct ub_law *law)
{
    if (g->variant == REDUCE_ATOMIC_SHARED && g->type == REDUCE_FLOAT) {
        law->note = "no time: a loop of compare-and-swap, as often as lanes get in each other's way";
        return;
    }
    const double latency_ns = phase_latency_cycles(g->variant, g->block) * m->cycle_ns;
    const double issue = phase_issue_cycles(g->variant, g->block) * m->cycle_ns;
    ub_time_term(law, "latency", latency_ns);
    ub_time_term(law, "issue", issue);
    ub_time_bottleneck(law, 0);
    law->time_ns = latency_ns + issue;
    law->tolerance = m->gpu->verified ? phases[g->variant].tolerance : time_tolerance_assumed;
    if (!m->gpu->verified)
        law->note = "assumed: cycles of an H200";
}

void reduce_law(const struct ub_gpu *gpu, const struct ub_constants *constants, const struct ub_point *point,
                struct ub_law *out)
{
    struct reduce_geometry g;
    *out = (struct ub_law){.time_ns = NAN, .level = "none"};
    const char *unsupported = reduce_resolve(gpu, point, &g);
    if (unsupported != NULL) {
        out->note = unsupported;
        return;
    }
    const struct machine m = {gpu, constants, 1e3 / ub_constant_value(constants, "clock_mhz")};
    const enum level level = level_of(gpu, &g);
    add_counters(gpu, &g, out);
    if (g.work == REDUCE_BLOCK_PHASE) {
        add_time_of_phase(&m, &g, out);
        return;
    }
    out->level = level == IN_DRAM ? "dram" : "l2";
    if (g.variant == REDUCE_ATOMIC_SHARED && g.type == REDUCE_FLOAT)
        out->note = "no time: a loop of compare-and-swap, as often as lanes get in each other's way";
    else if (level == BETWEEN)
        out->note = "no time: L2 holds a part of the array, which one is not modelled";
    else
        add_time_of_sum(&m, &g, level, out);
}
