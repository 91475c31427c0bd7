/* SPDX-License-Identifier: MIT
 *
 * The law of occupancy against the cases that textbooks print, worked out by hand;
 * against NVIDIA's own calculator on random configurations; and its way back (how much
 * of a resource leaves room for so many blocks) against trying every value. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/model/gpu.h"
#include "harness/model/occupancy.h"

#ifdef __has_include
#if __has_include(<cuda_occupancy.h>)
#include <cuda_occupancy.h>
#define HAVE_REFEREE 1
#endif
#endif

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum {
    REGISTERS = 1 << UB_SM_REGISTERS,
    SHARED = 1 << UB_SM_SHARED,
    WARPS = 1 << UB_SM_WARPS,
    BLOCKS = 1 << UB_SM_BLOCKS
};

static struct ub_sm_limits limits_of(int cc_major, int cc_minor)
{
    struct ub_sm_limits limits;
    if (!ub_sm_limits_of_cc(cc_major, cc_minor, &limits))
        fail_msg("no limits for CC %d.%d", cc_major, cc_minor);
    return limits;
}

static struct ub_occupancy solve(const struct ub_sm_limits *limits, int registers, int threads, uint64_t shared_bytes)
{
    const struct ub_occupancy_request request = {.threads = threads,
                                                 .registers = registers,
                                                 .shared_bytes = shared_bytes,
                                                 .barriers = 1,
                                                 .opt_in = true,
                                                 .carveout_percent = -1};
    struct ub_occupancy occupancy;
    ub_occupancy_solve(limits, &request, &occupancy);
    return occupancy;
}

/* ---- textbook cases ------------------------------------------------------------ */

struct textbook {
    int cc_major, cc_minor, registers, threads;
    uint64_t shared_bytes;
    int blocks, warps;
    double percent;
    unsigned limiting;
};

/* rules.md section 4, "Checked values"; 65536 registers an SM everywhere. 96 registers
 * are 3072 a warp, so 5 warps in each of four parts of 16384: 20 warps, 2 blocks of 8. */
static const struct textbook textbook_cases[] = {
    {9, 0, 96, 256, 0, 2, 16, 25, REGISTERS},
    {8, 0, 96, 256, 0, 2, 16, 25, REGISTERS},
    {7, 5, 96, 256, 0, 2, 16, 50, REGISTERS},
    {8, 6, 96, 256, 0, 2, 16, 100.0 / 3, REGISTERS},
    {9, 0, 64, 512, 16384, 2, 32, 50, REGISTERS},
    {7, 5, 64, 512, 16384, 2, 32, 100, REGISTERS | WARPS},
    {8, 9, 64, 512, 16384, 2, 32, 200.0 / 3, REGISTERS},
    {9, 0, 65, 512, 0, 1, 16, 25, REGISTERS},
    {9, 0, 32, 1024, 0, 2, 64, 100, REGISTERS | WARPS},
    {8, 6, 32, 1024, 0, 1, 32, 200.0 / 3, WARPS},
    {9, 0, 33, 1024, 0, 1, 32, 50, REGISTERS},
    {9, 0, 32, 32, 0, 32, 32, 50, BLOCKS},
    {8, 6, 32, 32, 0, 16, 16, 100.0 / 3, BLOCKS},
    {8, 9, 32, 32, 0, 24, 24, 50, BLOCKS},
    {9, 0, 40, 128, 0, 12, 48, 75, REGISTERS},
    {9, 0, 255, 256, 0, 1, 8, 12.5, REGISTERS},
    {9, 0, 255, 1024, 0, 0, 0, 0, REGISTERS},
    {9, 0, 65, 1024, 0, 0, 0, 0, REGISTERS},
    /* 48 KiB and the reserve are 49 KiB: 4 blocks of 228 KiB. */
    {9, 0, 32, 128, 48 << 10, 4, 16, 25, SHARED},
    {9, 0, 32, 128, 227 << 10, 1, 4, 6.25, SHARED},
    {9, 0, 32, 128, (227 << 10) + 1, 0, 0, 0, SHARED},
    {9, 0, 32, 1025, 0, 0, 0, 0, WARPS},
};

static void textbook_cases_come_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(textbook_cases); i++) {
        const struct textbook *c = &textbook_cases[i];
        const struct ub_sm_limits limits = limits_of(c->cc_major, c->cc_minor);
        const struct ub_occupancy got = solve(&limits, c->registers, c->threads, c->shared_bytes);
        if (got.blocks != c->blocks || got.warps != c->warps || got.limiting != c->limiting ||
            got.share * 100 < c->percent - 1e-9 || got.share * 100 > c->percent + 1e-9)
            fail_msg("CC %d.%d, %d registers, %d threads, %" PRIu64 " bytes: %d blocks, %d warps, %g %%, limited by %x",
                     c->cc_major, c->cc_minor, c->registers, c->threads, c->shared_bytes, got.blocks, got.warps,
                     got.share * 100, got.limiting);
    }
}

/* "An SM with 100 KB, 32 blocks and 64 warps", which no card has: shared memory alone
 * would allow 5 blocks of 16 KiB and the reserve (6 without one). */
static void the_textbook_sm_of_100_kb(void **state)
{
    (void)state;
    struct ub_gpu gpu = *ub_gpu_find("h200");
    gpu.shared_per_sm_bytes = 100 << 10;
    gpu.shared_per_block_optin_bytes = 99 << 10;
    struct ub_sm_limits limits;
    ub_sm_limits_of_gpu(&gpu, &limits);
    struct ub_occupancy got = solve(&limits, 64, 512, 16384);
    assert_int_equal(got.blocks, 2);
    assert_int_equal(got.warps, 32);
    assert_int_equal(got.limiting, REGISTERS);
    assert_int_equal(got.limits[UB_SM_SHARED], 5);
    assert_int_equal(got.limits[UB_SM_WARPS], 4);
    assert_int_equal(got.limits[UB_SM_BLOCKS], 32);
    limits.shared_reserved_bytes = 0;
    got = solve(&limits, 64, 512, 16384);
    assert_int_equal(got.limits[UB_SM_SHARED], 6);
}

static void refusals_have_names(void **state)
{
    static const struct {
        int registers, threads;
        uint64_t shared_bytes;
        bool opt_in;
        const char *error;
    } cases[] = {
        {64, 1024, 0, true, NULL},
        {65, 1024, 0, true, "cudaErrorLaunchOutOfResources"},
        {65, 896, 0, true, NULL},
        {65, 897, 0, true, "cudaErrorLaunchOutOfResources"},
        {255, 256, 0, true, NULL},
        {255, 257, 0, true, "cudaErrorLaunchOutOfResources"},
        {32, 1025, 0, true, "cudaErrorInvalidValue"},
        {72, 1056, 0, true, "cudaErrorInvalidValue"},
        {72, 1024, 64 << 10, false, "cudaErrorInvalidValue"},
        {32, 32, 227 << 10, true, NULL},
        {32, 32, (227 << 10) + 1, true, "cudaErrorInvalidValue"},
        {32, 32, 48 << 10, false, NULL},
        {32, 32, (48 << 10) + 1, false, "cudaErrorInvalidValue"},
    };
    (void)state;
    const struct ub_sm_limits limits = limits_of(9, 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct ub_occupancy_request request = {.threads = cases[i].threads,
                                                     .registers = cases[i].registers,
                                                     .shared_bytes = cases[i].shared_bytes,
                                                     .opt_in = cases[i].opt_in,
                                                     .carveout_percent = -1};
        const char *error = ub_occupancy_refusal(&limits, &request);
        struct ub_occupancy occupancy;
        ub_occupancy_solve(&limits, &request, &occupancy);
        assert_int_equal(occupancy.blocks == 0, error != NULL);
        assert_string_equal(error ? error : "", cases[i].error ? cases[i].error : "");
    }
}

/* ---- the referee ----------------------------------------------------------------- */

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* Whole warps and others, small and large, some too large. 256 registers are left out:
 * the calculator takes them from CC 7.0 on, but an instruction can name only 255 (CUDA
 * C++ Programming Guide, compute capabilities). */
static struct ub_occupancy_request random_request(uint64_t *seed)
{
    struct ub_occupancy_request request = {.carveout_percent = -1};
    request.threads = 1 + (int)(next_random(seed) % 1100);
    if (next_random(seed) % 2)
        request.threads = 32 * (1 + (int)(next_random(seed) % 33));
    request.registers = (int)(next_random(seed) % 270);
    if (request.registers == 256)
        request.registers = 0;
    request.shared_bytes = next_random(seed) % (250 << 10);
    if (next_random(seed) % 2)
        request.shared_bytes %= 20 << 10;
    if (next_random(seed) % 4 == 0)
        request.shared_bytes = request.shared_bytes / 1024 * 1024;
    request.barriers = (int)(next_random(seed) % 17);
    request.opt_in = next_random(seed) % 4 != 0;
    if (next_random(seed) % 3 == 0)
        request.carveout_percent = (int)(next_random(seed) % 101);
    return request;
}

#ifdef HAVE_REFEREE

static cudaOccDeviceProp properties_of(const struct ub_sm_limits *limits)
{
    cudaOccDeviceProp properties = {0};
    properties.computeMajor = limits->cc_major;
    properties.computeMinor = limits->cc_minor;
    properties.maxThreadsPerBlock = limits->threads_per_block;
    properties.maxThreadsPerMultiprocessor = limits->warps * 32;
    properties.regsPerBlock = limits->registers_per_block;
    properties.regsPerMultiprocessor = limits->registers;
    properties.warpSize = 32;
    properties.sharedMemPerBlock = limits->shared_per_block_bytes;
    properties.sharedMemPerMultiprocessor = limits->shared_bytes;
    properties.numSms = 1;
    properties.sharedMemPerBlockOptin = limits->shared_per_block_optin_bytes;
    properties.reservedSharedMemPerBlock = limits->shared_reserved_bytes;
    return properties;
}

/* Part of the shared memory as static, the rest as dynamic: only the sum counts. The
 * state is the calculator's own default; one of zeros would mean "prefer L1". */
static cudaOccResult ask_referee(const struct ub_sm_limits *limits, const struct ub_occupancy_request *request)
{
    const cudaOccDeviceProp properties = properties_of(limits);
    cudaOccFuncAttributes attributes = {0};
    attributes.maxThreadsPerBlock = INT_MAX;
    attributes.numRegs = request->registers;
    attributes.sharedSizeBytes = request->shared_bytes / 3;
    attributes.numBlockBarriers = request->barriers;
    const size_t dynamic = request->shared_bytes - attributes.sharedSizeBytes;
    attributes.shmemLimitConfig = request->opt_in ? FUNC_SHMEM_LIMIT_OPTIN : FUNC_SHMEM_LIMIT_DEFAULT;
    attributes.maxDynamicSharedSizeBytes = dynamic;
    const cudaOccDeviceState state = {.cacheConfig = CACHE_PREFER_NONE, .carveoutConfig = request->carveout_percent};
    cudaOccResult result;
    const cudaOccError error =
        cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state, request->threads, dynamic);
    if (error != CUDA_OCC_SUCCESS)
        fail_msg("the calculator fails for CC %d.%d: %d", limits->cc_major, limits->cc_minor, (int)error);
    return result;
}

static void compare(const struct ub_sm_limits *limits, const struct ub_occupancy_request *request)
{
    struct ub_occupancy ours;
    ub_occupancy_solve(limits, request, &ours);
    const cudaOccResult theirs = ask_referee(limits, request);
    const struct {
        const char *name;
        long long ours, theirs;
    } pairs[] = {
        {"blocks", ours.blocks, theirs.activeBlocksPerMultiprocessor},
        {"registers", ours.limits[UB_SM_REGISTERS], theirs.blockLimitRegs},
        {"shared memory", ours.limits[UB_SM_SHARED], theirs.blockLimitSharedMem},
        {"warps", ours.limits[UB_SM_WARPS], theirs.blockLimitWarps},
        {"the limit of blocks", ours.limits[UB_SM_BLOCKS], theirs.blockLimitBlocks},
        {"barriers", ours.limits[UB_SM_BARRIERS], theirs.blockLimitBarriers},
        {"shared bytes of a block", (long long)ours.shared_bytes, (long long)theirs.allocatedSharedMemPerBlock},
        {"registers of a block", ours.registers_per_warp * ours.warps_per_block, theirs.allocatedRegistersPerBlock},
        {"limiting: registers", ours.limiting >> UB_SM_REGISTERS & 1, !!(theirs.limitingFactors & OCC_LIMIT_REGISTERS)},
        {"limiting: warps", ours.limiting >> UB_SM_WARPS & 1, !!(theirs.limitingFactors & OCC_LIMIT_WARPS)},
    };
    for (size_t i = 0; i < COUNT(pairs); i++)
        /* Its limiting factors are those before barriers are looked at. */
        if (pairs[i].ours != pairs[i].theirs &&
            !(strncmp(pairs[i].name, "limiting", 8) == 0 && ours.limiting == 1u << UB_SM_BARRIERS))
            fail_msg("CC %d.%d, %d registers, %d threads, %" PRIu64
                     " bytes, %d barriers, opt in %d, carve-out %d: %s: %lld, the calculator says %lld",
                     limits->cc_major, limits->cc_minor, request->registers, request->threads, request->shared_bytes,
                     request->barriers, request->opt_in, request->carveout_percent, pairs[i].name, pairs[i].ours,
                     pairs[i].theirs);
}

static void the_calculator_agrees(void **state)
{
    enum { CONFIGURATIONS = 100000 };
    (void)state;
    int major, minor;
    for (size_t i = 0; ub_sm_limits_cc_at(i, &major, &minor); i++) {
        const struct ub_sm_limits limits = limits_of(major, minor);
        uint64_t seed = i + 1;
        size_t fit = 0;
        for (int n = 0; n < CONFIGURATIONS; n++) {
            const struct ub_occupancy_request request = random_request(&seed);
            compare(&limits, &request);
            fit += ub_occupancy_refusal(&limits, &request) == NULL;
        }
        assert_true(fit > CONFIGURATIONS / 8); /* most would be refused: nothing was tested */
    }
}

#else

static void the_calculator_agrees(void **state)
{
    (void)state;
    print_message(
        "SKIP: cuda_occupancy.h was not found where this test was compiled (it comes with the CUDA Toolkit)\n");
    skip();
}

#endif

/* ---- the way back ------------------------------------------------------------------ */

static void check_most_registers(const struct ub_sm_limits *limits, const struct ub_occupancy_request *request,
                                 int blocks)
{
    int most = -1;
    for (int registers = 1; registers <= limits->registers_per_thread; registers++) {
        struct ub_occupancy_request tried = *request;
        struct ub_occupancy occupancy;
        tried.registers = registers;
        ub_occupancy_solve(limits, &tried, &occupancy);
        if (occupancy.limits[UB_SM_REGISTERS] >= blocks)
            most = registers;
    }
    assert_int_equal(ub_occupancy_most_registers(limits, request, blocks), most);
}

/* The most fits, and a byte more does not. */
static void check_most_shared(const struct ub_sm_limits *limits, const struct ub_occupancy_request *request, int blocks)
{
    const int64_t most = ub_occupancy_most_shared(limits, request, blocks);
    for (int more = 0; more <= 1; more++) {
        struct ub_occupancy_request tried = *request;
        struct ub_occupancy occupancy;
        if (most + more < 0)
            continue;
        tried.shared_bytes = (uint64_t)(most + more);
        ub_occupancy_solve(limits, &tried, &occupancy);
        assert_int_equal(occupancy.limits[UB_SM_SHARED] >= blocks, more == 0);
    }
}

static void the_way_back_is_the_way(void **state)
{
    (void)state;
    int major, minor;
    for (size_t i = 0; ub_sm_limits_cc_at(i, &major, &minor); i++) {
        const struct ub_sm_limits limits = limits_of(major, minor);
        uint64_t seed = 7 * i + 3;
        for (int n = 0; n < 300; n++) {
            struct ub_occupancy_request request = random_request(&seed);
            const int blocks = 1 + (int)(next_random(&seed) % (uint32_t)limits.blocks);
            check_most_registers(&limits, &request, blocks);
            request.carveout_percent = -1; /* a preference is raised for one large block: then more can fit than less */
            check_most_shared(&limits, &request, blocks);
        }
    }
}

/* ---- limits -------------------------------------------------------------------------- */

static void cards_and_generations_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < ub_gpu_count(); i++) {
        const struct ub_gpu *gpu = ub_gpu_at(i);
        struct ub_sm_limits of_card;
        ub_sm_limits_of_gpu(gpu, &of_card);
        const struct ub_sm_limits of_cc = limits_of(gpu->cc_major, gpu->cc_minor);
        for (int registers = 8; registers <= 255; registers += 13) {
            const struct ub_occupancy a = solve(&of_card, registers, 192, 5000);
            const struct ub_occupancy b = solve(&of_cc, registers, 192, 5000);
            assert_memory_equal(a.limits, b.limits, sizeof a.limits);
        }
    }
}

static void unknown_generations_are_said(void **state)
{
    (void)state;
    struct ub_sm_limits limits;
    assert_false(ub_sm_limits_of_cc(2, 0, &limits));
    assert_false(ub_sm_limits_of_cc(8, 8, &limits));
    assert_false(ub_sm_limits_of_cc(13, 0, &limits));
    int major, minor;
    assert_false(ub_sm_limits_cc_at(1000, &major, &minor));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(textbook_cases_come_out),      cmocka_unit_test(the_textbook_sm_of_100_kb),
        cmocka_unit_test(refusals_have_names),          cmocka_unit_test(the_calculator_agrees),
        cmocka_unit_test(the_way_back_is_the_way),      cmocka_unit_test(cards_and_generations_agree),
        cmocka_unit_test(unknown_generations_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
