/* SPDX-License-Identifier: MIT
 *
 * The law of occupancy, and what a compute capability decides about it beyond the
 * table of cards. Source of all numbers: cuda_occupancy.h of CUDA 13.0 (named here by
 * its functions); what it takes from the device, for CC 3.5 to 6.1: the
 * compute-capability table of the CUDA C++ Programming Guide. */
#include "harness/model/occupancy.h"

#include <math.h>
#include <string.h>

#include "harness/model/gpu.h"

enum { WARP = 32, KIB = 1024 };

const char *const ub_sm_resource_names[] = {"registers", "shared memory", "warps", "blocks", "barriers"};

/* ---- limits ---------------------------------------------------------------- */

/* cudaOccAlignUpShmemSizeVoltaPlus; cudaOccMaxBlocksPerSMBlockBarrierLimit for the
 * barriers: twice the blocks, or as many. */
struct generation {
    int cc_major, cc_minor;
    int barriers_per_block;
    uint16_t carveouts_kib[UB_CARVEOUTS]; /* ends with the first that is not larger than the one before */
};

#define VOLTA                                                                                                          \
    {                                                                                                                  \
        0, 8, 16, 32, 64, 96                                                                                           \
    }
#define TURING                                                                                                         \
    {                                                                                                                  \
        32, 64                                                                                                         \
    }
#define SMALL                                                                                                          \
    {                                                                                                                  \
        0, 8, 16, 32, 64, 100                                                                                          \
    }
#define AMPERE_100                                                                                                     \
    {                                                                                                                  \
        0, 8, 16, 32, 64, 100, 132, 164                                                                                \
    }
#define LARGE                                                                                                          \
    {                                                                                                                  \
        0, 8, 16, 32, 64, 100, 132, 164, 196, 228                                                                      \
    }

static const struct generation generations[] = {
    {7, 0, 2, VOLTA},      {7, 2, 2, VOLTA},  {7, 5, 2, TURING}, {8, 0, 2, AMPERE_100}, {8, 6, 1, SMALL},
    {8, 7, 1, AMPERE_100}, {8, 9, 1, SMALL},  {9, 0, 2, LARGE},  {10, 0, 2, LARGE},     {10, 3, 2, LARGE},
    {11, 0, 1, LARGE},     {12, 0, 1, SMALL}, {12, 1, 1, SMALL},
};
enum { GENERATIONS = sizeof generations / sizeof generations[0] };

/* Before Volta, which the table of cards does not go back to. */
#define BEFORE_VOLTA                                                                                                   \
    .warps = 64, .threads_per_block = 1024, .registers_per_block = 65536, .register_unit_per_warp = 256,               \
    .registers_per_thread = 255, .shared_per_block_bytes = 48 * KIB, .shared_per_block_optin_bytes = 48 * KIB,         \
    .shared_unit_bytes = 256

static const struct ub_sm_limits before_volta[] = {
    {BEFORE_VOLTA, .cc_major = 3, .cc_minor = 5, .blocks = 16, .registers = 65536, .partitions = 4, .barriers = 16,
     .shared_bytes = 48 * KIB},
    {BEFORE_VOLTA, .cc_major = 3, .cc_minor = 7, .blocks = 16, .registers = 131072, .partitions = 4, .barriers = 16,
     .shared_bytes = 112 * KIB},
    {BEFORE_VOLTA, .cc_major = 5, .cc_minor = 0, .blocks = 32, .registers = 65536, .partitions = 4, .barriers = 64,
     .shared_bytes = 64 * KIB},
    {BEFORE_VOLTA, .cc_major = 5, .cc_minor = 2, .blocks = 32, .registers = 65536, .partitions = 4, .barriers = 64,
     .shared_bytes = 96 * KIB},
    {BEFORE_VOLTA, .cc_major = 6, .cc_minor = 0, .blocks = 32, .registers = 65536, .partitions = 2, .barriers = 64,
     .shared_bytes = 64 * KIB},
    {BEFORE_VOLTA, .cc_major = 6, .cc_minor = 1, .blocks = 32, .registers = 65536, .partitions = 4, .barriers = 64,
     .shared_bytes = 96 * KIB},
};
enum { OLD_ONES = sizeof before_volta / sizeof before_volta[0] };

/* The youngest that is not younger than the card: what a new one is assumed to be. */
static const struct generation *generation_of(int cc_major, int cc_minor)
{
    const struct generation *found = &generations[0];
    for (size_t i = 0; i < GENERATIONS; i++)
        if (generations[i].cc_major < cc_major ||
            (generations[i].cc_major == cc_major && generations[i].cc_minor <= cc_minor))
            found = &generations[i];
    return found;
}

/* The sizes of the generation that the card has room for, and all of its shared memory. */
static void set_carveouts(const struct generation *generation, struct ub_sm_limits *out)
{
    out->carveout_count = 0;
    for (size_t i = 0; i < UB_CARVEOUTS; i++) {
        const uint64_t size = (uint64_t)generation->carveouts_kib[i] * KIB;
        if (size >= out->shared_bytes || (i > 0 && size <= out->carveouts_bytes[i - 1]))
            break;
        out->carveouts_bytes[out->carveout_count++] = size;
    }
    if (out->carveout_count == UB_CARVEOUTS)
        out->carveout_count--;
    out->carveouts_bytes[out->carveout_count++] = out->shared_bytes;
}

void ub_sm_limits_of_gpu(const struct ub_gpu *gpu, struct ub_sm_limits *out)
{
    const struct generation *generation = generation_of(gpu->cc_major, gpu->cc_minor);
    *out = (struct ub_sm_limits){
        .cc_major = gpu->cc_major,
        .cc_minor = gpu->cc_minor,
        .warps = gpu->warps_per_sm,
        .blocks = gpu->blocks_per_sm,
        .threads_per_block = gpu->threads_per_block,
        .registers = gpu->registers_per_sm,
        .registers_per_block = gpu->registers_per_block,
        .register_unit_per_warp = gpu->register_unit_per_warp,
        .registers_per_thread = gpu->registers_per_thread_max,
        .partitions = gpu->schedulers_per_sm,
        .barriers = gpu->blocks_per_sm * generation->barriers_per_block,
        .barriers_limit = gpu->cc_major >= 9,
        .shared_bytes = gpu->shared_per_sm_bytes,
        .shared_per_block_bytes = gpu->shared_per_block_bytes,
        .shared_per_block_optin_bytes = gpu->shared_per_block_optin_bytes,
        .shared_reserved_bytes = gpu->shared_reserved_bytes,
        .shared_unit_bytes = gpu->shared_unit_bytes,
    };
    set_carveouts(generation, out);
}

bool ub_sm_limits_of_cc(int cc_major, int cc_minor, struct ub_sm_limits *out)
{
    for (size_t i = 0; i < OLD_ONES; i++)
        if (before_volta[i].cc_major == cc_major && before_volta[i].cc_minor == cc_minor) {
            *out = before_volta[i];
            return true;
        }
    const struct generation *generation = generation_of(cc_major, cc_minor);
    if (generation->cc_major != cc_major || generation->cc_minor != cc_minor)
        return false;
    struct ub_gpu gpu;
    ub_gpu_from_attributes(
        &(struct ub_gpu_attributes){
            .cc_major = cc_major, .cc_minor = cc_minor, .clock_max_mhz = NAN, .memory_clock_mhz = NAN},
        &gpu);
    ub_sm_limits_of_gpu(&gpu, out);
    return true;
}

bool ub_sm_limits_cc_at(size_t index, int *cc_major, int *cc_minor)
{
    if (index >= OLD_ONES + GENERATIONS)
        return false;
    *cc_major = index < OLD_ONES ? before_volta[index].cc_major : generations[index - OLD_ONES].cc_major;
    *cc_minor = index < OLD_ONES ? before_volta[index].cc_minor : generations[index - OLD_ONES].cc_minor;
    return true;
}

/* ---- the law ----------------------------------------------------------------- */

static int round_up(int value, int unit)
{
    return (value + unit - 1) / unit * unit;
}

static int warps_of(int threads)
{
    return (threads + WARP - 1) / WARP;
}

static int registers_of_warp(const struct ub_sm_limits *limits, int registers)
{
    return round_up(WARP * registers, limits->register_unit_per_warp);
}

/* Registers are given away a warp at a time out of the part that the warp's partition
 * has, so that both divisions round down: 96 registers leave 5 warps a partition, 20 an
 * SM, not 65536 / 3072 = 21. Whether one block fits is checked as if its warps filled
 * all partitions evenly (cudaOccMaxBlocksPerSMRegsLimit). */
static int by_registers(const struct ub_sm_limits *limits, int partitions, const struct ub_occupancy_request *request)
{
    const int warps = warps_of(request->threads), of_warp = registers_of_warp(limits, request->registers);
    if (request->registers > limits->registers_per_thread ||
        (int64_t)of_warp * round_up(warps, partitions) > limits->registers_per_block)
        return 0;
    if (of_warp == 0)
        return UB_BLOCKS_UNLIMITED;
    return limits->registers / partitions / of_warp * partitions / warps;
}

/* GP100 has two partitions, but what does not fit the four of its sisters is refused
 * there too (cudaOccMaxActiveBlocksPerMultiprocessor). */
static int registers_limit(const struct ub_sm_limits *limits, const struct ub_occupancy_request *request)
{
    const bool is_gp100 = limits->cc_major == 6 && limits->cc_minor == 0;
    if (is_gp100 && by_registers(limits, 4, request) == 0)
        return 0;
    return by_registers(limits, limits->partitions, request);
}

static uint64_t shared_of_block(const struct ub_sm_limits *limits, uint64_t shared_bytes)
{
    const uint64_t unit = limits->shared_unit_bytes;
    return (shared_bytes + limits->shared_reserved_bytes + unit - 1) / unit * unit;
}

/* The carve-out that the driver chooses: the preferred one rounded up to a size that
 * exists, but never one that a single block does not fit in
 * (cudaOccSMemPreferenceVoltaPlus, cudaOccMaxBlocksPerSMSmemLimit). */
static uint64_t carveout_of(const struct ub_sm_limits *limits, int percent, uint64_t block_bytes)
{
    if (limits->carveout_count == 0)
        return limits->shared_bytes;
    uint64_t wanted = percent < 0 ? limits->shared_bytes : limits->shared_bytes * (uint64_t)percent / 100;
    if (wanted < block_bytes)
        wanted = block_bytes;
    for (size_t i = 0; i < limits->carveout_count; i++)
        if (limits->carveouts_bytes[i] >= wanted)
            return limits->carveouts_bytes[i];
    return limits->shared_bytes;
}

/* The reserve is on top of what a block may have. */
static bool shared_fits_block(const struct ub_sm_limits *limits, const struct ub_occupancy_request *request)
{
    const uint64_t most = request->opt_in ? limits->shared_per_block_optin_bytes : limits->shared_per_block_bytes;
    return request->shared_bytes <= most &&
           shared_of_block(limits, request->shared_bytes) <= most + limits->shared_reserved_bytes;
}

static int shared_limit(const struct ub_sm_limits *limits, const struct ub_occupancy_request *request,
                        const struct ub_occupancy *occupancy)
{
    if (!shared_fits_block(limits, request))
        return 0;
    if (occupancy->shared_bytes == 0)
        return UB_BLOCKS_UNLIMITED;
    return (int)(occupancy->carveout_bytes / occupancy->shared_bytes);
}

static int warps_limit(const struct ub_sm_limits *limits, const struct ub_occupancy_request *request)
{
    return request->threads > limits->threads_per_block ? 0 : limits->warps / warps_of(request->threads);
}

static int barriers_limit(const struct ub_sm_limits *limits, const struct ub_occupancy_request *request)
{
    if (!limits->barriers_limit || request->barriers <= 0)
        return UB_BLOCKS_UNLIMITED;
    return limits->barriers / request->barriers;
}

void ub_occupancy_solve(const struct ub_sm_limits *limits, const struct ub_occupancy_request *request,
                        struct ub_occupancy *out)
{
    *out = (struct ub_occupancy){
        .warps_per_block = warps_of(request->threads),
        .registers_per_warp = registers_of_warp(limits, request->registers),
        .shared_bytes = shared_of_block(limits, request->shared_bytes),
    };
    out->carveout_bytes = carveout_of(limits, request->carveout_percent, out->shared_bytes);
    out->limits[UB_SM_REGISTERS] = registers_limit(limits, request);
    out->limits[UB_SM_SHARED] = shared_limit(limits, request, out);
    out->limits[UB_SM_WARPS] = warps_limit(limits, request);
    out->limits[UB_SM_BLOCKS] = limits->blocks;
    out->limits[UB_SM_BARRIERS] = barriers_limit(limits, request);
    out->blocks = limits->blocks;
    for (int i = 0; i < UB_SM_RESOURCES; i++)
        if (out->limits[i] < out->blocks)
            out->blocks = out->limits[i];
    for (int i = 0; i < UB_SM_RESOURCES; i++)
        if (out->limits[i] == out->blocks)
            out->limiting |= 1u << i;
    out->warps = out->blocks * out->warps_per_block;
    out->share = (double)out->warps / limits->warps;
}

const char *ub_occupancy_refusal(const struct ub_sm_limits *limits, const struct ub_occupancy_request *request)
{
    if (request->threads > limits->threads_per_block || !shared_fits_block(limits, request))
        return "cudaErrorInvalidValue";
    if (registers_limit(limits, request) == 0)
        return "cudaErrorLaunchOutOfResources";
    return NULL;
}

/* ---- the other way round ------------------------------------------------------- */

int ub_occupancy_most_registers(const struct ub_sm_limits *limits, const struct ub_occupancy_request *request,
                                int blocks)
{
    for (int registers = limits->registers_per_thread; registers > 0; registers--) {
        struct ub_occupancy_request tried = *request;
        tried.registers = registers;
        if (registers_limit(limits, &tried) >= blocks)
            return registers;
    }
    return -1;
}

int64_t ub_occupancy_most_shared(const struct ub_sm_limits *limits, const struct ub_occupancy_request *request,
                                 int blocks)
{
    const uint64_t unit = limits->shared_unit_bytes, reserved = limits->shared_reserved_bytes;
    const uint64_t most = request->opt_in ? limits->shared_per_block_optin_bytes : limits->shared_per_block_bytes;
    /* From the top down in whole pieces: what lies between two of them is the same. */
    for (uint64_t of_block = (most + reserved) / unit * unit; of_block >= reserved; of_block -= unit) {
        if (carveout_of(limits, request->carveout_percent, of_block) >= of_block * (uint64_t)blocks)
            return (int64_t)(of_block - reserved);
        if (of_block < unit)
            break;
    }
    return -1;
}
