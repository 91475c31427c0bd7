/* SPDX-License-Identifier: MIT
 *
 * The table of generations and of cards. What a compute capability determines
 * stands once, in the table of generations; a card's row adds what is its own.
 * Sources of the generations: cuda_occupancy.h of CUDA 13.0 (limits, reserve,
 * units) and the compute-capability chapter of the CUDA C++ Programming Guide
 * (lanes, size of L1 and shared memory). Sources of a card stand in its row. */
#include "harness/model/gpu.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#define KIB(n) (UINT64_C(1024) * (n))
#define MIB(n) (UINT64_C(1048576) * (n))
/* Memory as deviceQuery logs print it, rounded to 0.01 GiB. */
#define GIB(n) ((uint64_t)((n)*1073741824.0))

/* The same from CC 7.0 to 12.0: 256 registers a warp at a time (8 a thread), a
 * block of 1024 threads, four schedulers an SM, 48 KiB of shared memory a block
 * without opt-in, 128-byte lines of four sectors. */
#define SINCE_VOLTA                                                                                                    \
    .threads_per_block = 1024, .registers_per_sm = 65536, .registers_per_block = 65536, .register_unit_per_warp = 256, \
    .registers_per_thread_max = 255, .schedulers_per_sm = 4, .shared_per_block_bytes = KIB(48), .sector_bytes = 32,    \
    .line_bytes = 128

#define GENERATION(family, major, minor, warps, blocks, shared_kib, optin_kib, reserved, unit, l1_kib, fp32, fp64,     \
                   grain)                                                                                              \
    SINCE_VOLTA, .architecture = (family), .cc_major = (major), .cc_minor = (minor), .warps_per_sm = (warps),          \
                 .blocks_per_sm = (blocks), .shared_per_sm_bytes = KIB(shared_kib),                                    \
                 .shared_per_block_optin_bytes = KIB(optin_kib), .shared_reserved_bytes = (reserved),                  \
                 .shared_unit_bytes = (unit), .l1_bytes = KIB(l1_kib), .fp32_lanes_per_sm = (fp32),                    \
                 .fp64_lanes_per_sm = (fp64), .dram_read_grain_bytes = (grain)

/* clang-format off */
/* shared, opt-in and L1 (L1 and shared memory together) in KiB; reserve and unit
 * of shared memory in bytes; grain: bytes that DRAM delivers for one missing
 * sector, 64 measured on an H200 and assumed for GA100, which has HBM too; 32
 * (one sector) is assumed elsewhere. 0: no source.
 *                                               warps blocks shared opt-in reserve unit   L1 fp32 fp64 grain */
#define SM_70  GENERATION("Volta",         7, 0,  64,   32,    96,    96,      0,  256, 128,  64,  32,   32)
#define SM_75  GENERATION("Turing",        7, 5,  32,   16,    64,    64,      0,  256,  96,  64,   2,   32)
#define SM_80  GENERATION("Ampere",        8, 0,  64,   32,   164,   163,   1024,  128, 192,  64,  32,   64)
#define SM_86  GENERATION("Ampere",        8, 6,  48,   16,   100,    99,   1024,  128, 128, 128,   2,   32)
#define SM_87  GENERATION("Ampere",        8, 7,  48,   16,   164,   163,   1024,  128, 192, 128,   2,   32)
#define SM_89  GENERATION("Ada Lovelace",  8, 9,  48,   24,   100,    99,   1024,  128, 128, 128,   2,   32)
#define SM_90  GENERATION("Hopper",        9, 0,  64,   32,   228,   227,   1024,  128, 256, 128,  64,   64)
#define SM_100 GENERATION("Blackwell",    10, 0,  64,   32,   228,   227,   1024,  128, 256, 128,  64,   32)
#define SM_103 GENERATION("Blackwell",    10, 3,  64,   32,   228,   227,   1024,  128, 256, 128,   0,   32)
#define SM_110 GENERATION("Blackwell",    11, 0,  48,   24,   228,   227,   1024,  128, 256, 128,   0,   32)
#define SM_120 GENERATION("Blackwell",    12, 0,  48,   24,   100,    99,   1024,  128, 128, 128,   2,   32)
/* clang-format on */

#define FROM_GENERATION(sm)                                                                                            \
    .source = "attributes of the card; what they lack from the " sm " generation of the table", .copy_engines = -1,    \
    .clock_base_mhz = NAN, .clock_boost_mhz = NAN, .dram_bandwidth_bps = NAN

/* Oldest first. A chip stands where a compute capability has only one. */
static const struct ub_gpu generations[] = {
    {SM_70, .chip = "GV100", FROM_GENERATION("sm_70")},
    {SM_75, FROM_GENERATION("sm_75")},
    {SM_80, .chip = "GA100", FROM_GENERATION("sm_80")},
    {SM_86, FROM_GENERATION("sm_86")},
    {SM_87, .chip = "GA10B", FROM_GENERATION("sm_87")},
    {SM_89, FROM_GENERATION("sm_89")},
    {SM_90, .chip = "GH100", FROM_GENERATION("sm_90")},
    {SM_100, FROM_GENERATION("sm_100")},
    {SM_103, FROM_GENERATION("sm_103")},
    {SM_110, FROM_GENERATION("sm_110")},
    {SM_120, FROM_GENERATION("sm_120")},
};

static const char before_volta[] =
    "attributes of the card; what they lack from sm_70, the oldest generation of the table";
static const char before_volta_note[] =
    "older than the table, or of unknown compute capability: the laws hold from 7.0 on";
static const char foreign_cc_note[] =
    "the table lacks this compute capability: limits of an SM that the driver does not "
    "report, and all laws, are assumed";
static const char foreign_card_note[] = "the table lacks this card: laws are assumed";
static const char from_row[] = "attributes of the card; what they lack from the table's row of that name";

#define DEVICE_QUERY "deviceQuery logs; Wikipedia, List of Nvidia graphics processing units"
#define GRAIN        "dram_read_grain_bytes is assumed"
#define GRAIN_GH100  "dram_read_grain_bytes measured on an H200, the same chip"

/* In order of compute capability, then of size. Copy engines are asyncEngineCount of deviceQuery logs. */
static const struct ub_gpu cards[] = {
    {.slug = "v100",
     .name = "Tesla V100-SXM2-16GB",
     .chip = "GV100",
     SM_70,
     .sms = 80,
     .l2_bytes = MIB(6),
     .memory_bytes = GIB(15.77),
     .copy_engines = 4,
     .clock_base_mhz = NAN,
     .clock_boost_mhz = 1530,
     .dram_bandwidth_bps = 900e9,
     .source = DEVICE_QUERY "; V100 whitepaper",
     .notes = GRAIN "; sources disagree on the base clock (1230 to 1290 MHz); no CUPTI from CUDA 13 on"},
    {.slug = "t4",
     .name = "Tesla T4",
     .chip = "TU104",
     SM_75,
     .sms = 40,
     .l2_bytes = MIB(4),
     .memory_bytes = GIB(14.76),
     .copy_engines = -1,
     .clock_base_mhz = 585,
     .clock_boost_mhz = 1590,
     .dram_bandwidth_bps = 320e9,
     .source = DEVICE_QUERY,
     .notes = GRAIN "; 70 W: seldom holds its boost clock"},
    {.slug = "rtx2080ti",
     .name = "NVIDIA GeForce RTX 2080 Ti",
     .chip = "TU102",
     SM_75,
     .sms = 68,
     .l2_bytes = KIB(5632),
     .memory_bytes = GIB(10.57),
     .copy_engines = -1,
     .clock_base_mhz = 1350,
     .clock_boost_mhz = 1545,
     .dram_bandwidth_bps = 616e9,
     .source = DEVICE_QUERY "; caps-tum/mt4g sample results",
     .notes = GRAIN},
    {.slug = "a100",
     .name = "NVIDIA A100-SXM4-80GB",
     .chip = "GA100",
     SM_80,
     .sms = 108,
     .l2_bytes = MIB(40),
     .memory_bytes = GIB(79.15),
     .copy_engines = 3,
     .clock_base_mhz = 1275,
     .clock_boost_mhz = 1410,
     .dram_bandwidth_bps = 2039e9,
     .source = DEVICE_QUERY "; A100 data sheet, June 2021",
     .notes = GRAIN " (as GH100); L2 is two partitions of 20 MiB"},
    {.slug = "a100-40",
     .name = "NVIDIA A100-SXM4-40GB",
     .chip = "GA100",
     SM_80,
     .sms = 108,
     .l2_bytes = MIB(40),
     .memory_bytes = GIB(39.49),
     .copy_engines = 3,
     .clock_base_mhz = 1095,
     .clock_boost_mhz = 1410,
     .dram_bandwidth_bps = 1555e9,
     .source = DEVICE_QUERY "; A100 data sheet; caps-tum/mt4g sample results",
     .notes = GRAIN " (as GH100); L2 is two partitions of 20 MiB; memory size is the PCIe card's"},
    {.slug = "a10",
     .name = "NVIDIA A10",
     .chip = "GA102",
     SM_86,
     .sms = 72,
     .l2_bytes = MIB(6),
     .memory_bytes = GIB(21.99),
     .copy_engines = -1,
     .clock_base_mhz = 885,
     .clock_boost_mhz = 1695,
     .dram_bandwidth_bps = 600e9,
     .source = DEVICE_QUERY,
     .notes = GRAIN},
    {.slug = "rtx3090",
     .name = "NVIDIA GeForce RTX 3090",
     .chip = "GA102",
     SM_86,
     .sms = 82,
     .l2_bytes = MIB(6),
     .memory_bytes = GIB(23.55),
     .copy_engines = 2,
     .clock_base_mhz = 1395,
     .clock_boost_mhz = 1695,
     .dram_bandwidth_bps = 935.8e9,
     .source = DEVICE_QUERY,
     .notes = GRAIN},
    {.slug = "a40",
     .name = "NVIDIA A40",
     .chip = "GA102",
     SM_86,
     .sms = 84,
     .l2_bytes = MIB(6),
     .memory_bytes = GIB(44.34),
     .copy_engines = -1,
     .clock_base_mhz = 1305,
     .clock_boost_mhz = 1740,
     .dram_bandwidth_bps = 695.8e9,
     .source = DEVICE_QUERY,
     .notes = GRAIN "; L2 as every GA102"},
    {.slug = "orin",
     .name = "Jetson AGX Orin 64GB",
     .chip = "GA10B",
     SM_87,
     .sms = 16,
     .l2_bytes = MIB(4),
     .memory_bytes = GIB(61.37),
     .copy_engines = -1,
     .clock_base_mhz = NAN,
     .clock_boost_mhz = 1300,
     .dram_bandwidth_bps = NAN,
     .source = "deviceQuery log; trtexec log",
     .notes = GRAIN "; the driver names every Orin module \"Orin\": this row is never taken for one; SMs depend on the "
                    "power mode; shares LPDDR5 with the host"},
    {.slug = "l4",
     .name = "NVIDIA L4",
     .chip = "AD104",
     SM_89,
     .sms = 58,
     .l2_bytes = MIB(48),
     .memory_bytes = GIB(21.99),
     .copy_engines = 2,
     .clock_base_mhz = 795,
     .clock_boost_mhz = 2040,
     .dram_bandwidth_bps = 300e9,
     .source = DEVICE_QUERY,
     .notes = GRAIN "; 72 W: seldom holds its boost clock"},
    {.slug = "rtx4090",
     .name = "NVIDIA GeForce RTX 4090",
     .chip = "AD102",
     SM_89,
     .sms = 128,
     .l2_bytes = MIB(72),
     .memory_bytes = GIB(23.52),
     .copy_engines = 2,
     .clock_base_mhz = 2235,
     .clock_boost_mhz = 2520,
     .dram_bandwidth_bps = 1008e9,
     .source = DEVICE_QUERY,
     .notes = GRAIN},
    {.slug = "l40s",
     .name = "NVIDIA L40S",
     .chip = "AD102",
     SM_89,
     .sms = 142,
     .l2_bytes = MIB(96),
     .memory_bytes = GIB(44.31),
     .copy_engines = -1,
     .clock_base_mhz = NAN,
     .clock_boost_mhz = 2520,
     .dram_bandwidth_bps = 864.1e9,
     .source = "deviceQuery log",
     .notes = GRAIN "; bandwidth = 9001 MHz x 2 x 384 bits"},
    {.slug = "h100-pcie",
     .name = "NVIDIA H100 PCIe",
     .chip = "GH100",
     SM_90,
     .sms = 114,
     .l2_bytes = MIB(50),
     .memory_bytes = UINT64_C(80000000000),
     .copy_engines = 3,
     .clock_base_mhz = 1065,
     .clock_boost_mhz = 1755,
     .dram_bandwidth_bps = 2039e9,
     .source = DEVICE_QUERY "; Chips and Cheese, Nvidia's H100",
     .notes = GRAIN_GH100 "; L2 is two partitions of 25 MiB; memory size is the nominal one"},
    {.slug = "h100",
     .name = "NVIDIA H100 80GB HBM3",
     .chip = "GH100",
     SM_90,
     .sms = 132,
     .l2_bytes = MIB(50),
     .memory_bytes = GIB(79.19),
     .copy_engines = 3,
     .clock_base_mhz = NAN,
     .clock_boost_mhz = 1980,
     .dram_bandwidth_bps = 3352e9,
     .source = DEVICE_QUERY "; caps-tum/mt4g sample results",
     .notes = GRAIN_GH100 "; L2 is two partitions of 25 MiB; sources disagree on the base clock (1065, 1590 MHz)"},
    {.slug = "h200",
     .name = "NVIDIA H200",
     .chip = "GH100",
     SM_90,
     .sms = 132,
     .l2_bytes = UINT64_C(62914560),
     .memory_bytes = UINT64_C(150109880320),
     .copy_engines = 3,
     .clock_base_mhz = NAN,
     .clock_boost_mhz = 1980,
     .dram_bandwidth_bps = 4800e9,
     .source = "attributes of an H200 (driver 580); bandwidth: H200 data sheet",
     .notes = "dram_read_grain_bytes measured; sources disagree on the base clock (1590, 1665 MHz); "
              "3201 MHz x 2 x 6144 bits would be 4917 GB/s, the data sheet says 4800",
     .verified = true},
    {.slug = "gh200",
     .name = "NVIDIA GH200 480GB",
     .chip = "GH100",
     SM_90,
     .sms = 132,
     .l2_bytes = MIB(60),
     .memory_bytes = GIB(95.00),
     .copy_engines = 2,
     .clock_base_mhz = NAN,
     .clock_boost_mhz = 1980,
     .dram_bandwidth_bps = 4023e9,
     .source = "deviceQuery log; RRZE-HPC/gpu-benches gpu-latency",
     .notes = GRAIN_GH100 "; the 96 GB HBM3 card; bandwidth = 2619 MHz x 2 x 6144 bits; host link is NVLink-C2C"},
    {.slug = "b200",
     .name = "NVIDIA B200",
     .chip = "GB100",
     SM_100,
     .sms = 148,
     .l2_bytes = UINT64_C(132644864),
     .memory_bytes = GIB(179.1),
     .copy_engines = -1,
     .clock_base_mhz = NAN,
     .clock_boost_mhz = 1965,
     .dram_bandwidth_bps = 8000e9,
     .source = "Chips and Cheese, Nvidia's B200; ProjectPhysX/OpenCL-Benchmark; markdewing/AI_kernels",
     .notes = GRAIN "; L2 is two partitions of about 63 MiB, one a die; boost is the clock that OpenCL reports"},
    {.slug = "rtx5090",
     .name = "NVIDIA GeForce RTX 5090",
     .chip = "GB202",
     SM_120,
     .sms = 170,
     .l2_bytes = MIB(96),
     .memory_bytes = GIB(31.36),
     .copy_engines = -1,
     .clock_base_mhz = 2010,
     .clock_boost_mhz = 2407,
     .dram_bandwidth_bps = 1792e9,
     .source = DEVICE_QUERY "; Chips and Cheese, Blackwell: Nvidia's Massive GPU",
     .notes = GRAIN},
};

enum {
    CARD_COUNT = sizeof cards / sizeof cards[0],
    GENERATION_COUNT = sizeof generations / sizeof generations[0],
};

static const struct {
    const char *alias, *slug;
} aliases[] = {
    {"v100-sxm2", "v100"},        {"a100-80", "a100"},         {"a100-sxm4", "a100"},   {"a100-sxm4-80", "a100"},
    {"a100-sxm4-40", "a100-40"},  {"h100-sxm", "h100"},        {"h100-sxm5", "h100"},   {"h200-sxm", "h200"},
    {"rtx-2080-ti", "rtx2080ti"}, {"rtx-2080ti", "rtx2080ti"}, {"rtx-3090", "rtx3090"}, {"rtx-4090", "rtx4090"},
    {"rtx-5090", "rtx5090"},      {"agx-orin", "orin"},
};

size_t ub_gpu_count(void)
{
    return CARD_COUNT;
}

bool ub_gpu_has_l2_halves(const struct ub_gpu *gpu)
{
    return (gpu->cc_minor == 0 && (gpu->cc_major == 8 || gpu->cc_major == 9)) || gpu->cc_major == 10;
}

const struct ub_gpu *ub_gpu_at(size_t index)
{
    return index < CARD_COUNT ? &cards[index] : NULL;
}

static int slug_letter(char c)
{
    return c == '_' || c == ' ' ? '-' : tolower((unsigned char)c);
}

/* "RTX 4090", "rtx_4090" and "rtx-4090" are the same. */
static bool same_slug(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (slug_letter(*a) != slug_letter(*b))
            return false;
    return *a == *b;
}

static const struct ub_gpu *find_by_slug(const char *slug)
{
    for (size_t i = 0; i < CARD_COUNT; i++)
        if (same_slug(cards[i].slug, slug))
            return &cards[i];
    return NULL;
}

const struct ub_gpu *ub_gpu_find(const char *slug)
{
    if (!slug)
        return NULL;
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (same_slug(aliases[i].alias, slug))
            return find_by_slug(aliases[i].slug);
    return find_by_slug(slug);
}

/* Drivers before R470 leave "NVIDIA " out ("A100-SXM4-80GB"). */
static const char *without_vendor(const char *name)
{
    static const char vendor[] = "NVIDIA ";
    const size_t length = sizeof vendor - 1;
    return strncmp(name, vendor, length) == 0 ? name + length : name;
}

/* The whole name must agree: an "NVIDIA H200 NVL" is another card than an "NVIDIA
 * H200", and so is a MIG slice of one. */
const struct ub_gpu *ub_gpu_find_by_device_name(const char *device_name)
{
    if (!device_name)
        return NULL;
    for (size_t i = 0; i < CARD_COUNT; i++)
        if (strcmp(without_vendor(cards[i].name), without_vendor(device_name)) == 0)
            return &cards[i];
    return NULL;
}

/* 9.0 -> 900, 10.3 -> 1003: in order of age. */
static int age(int cc_major, int cc_minor)
{
    return cc_major * 100 + cc_minor;
}

/* The youngest generation that is not younger than the card; NULL: it is older than all. */
static const struct ub_gpu *generation_of(const struct ub_gpu_attributes *card)
{
    const struct ub_gpu *found = NULL;
    for (size_t i = 0; i < GENERATION_COUNT; i++)
        if (age(generations[i].cc_major, generations[i].cc_minor) <= age(card->cc_major, card->cc_minor))
            found = &generations[i];
    return found;
}

/* A row of the same name, unless the compute capability contradicts it. */
static const struct ub_gpu *row_of(const struct ub_gpu_attributes *card)
{
    const struct ub_gpu *row = ub_gpu_find_by_device_name(card->name);
    if (!row || card->cc_major <= 0)
        return row;
    return age(row->cc_major, row->cc_minor) == age(card->cc_major, card->cc_minor) ? row : NULL;
}

static double bandwidth_of(const struct ub_gpu_attributes *card)
{
    if (!(card->memory_clock_mhz > 0) || card->memory_bus_bits <= 0)
        return NAN;
    /* Two transfers a clock, as the driver counts clocks for GDDR and HBM alike. */
    return card->memory_clock_mhz * 1e6 * 2 * card->memory_bus_bits / 8;
}

static void start_from_row(const struct ub_gpu *row, struct ub_gpu *out)
{
    *out = *row;
    out->source = from_row;
}

static void start_from_generation(const struct ub_gpu_attributes *card, struct ub_gpu *out)
{
    const struct ub_gpu *generation = generation_of(card);
    *out = generation ? *generation : generations[0];
    const bool same = generation && age(out->cc_major, out->cc_minor) == age(card->cc_major, card->cc_minor);
    out->notes = !generation ? before_volta_note : same ? foreign_card_note : foreign_cc_note;
    if (!generation)
        out->source = before_volta;
    if (!same)
        out->chip = NULL;
    if (out->cc_major != card->cc_major)
        out->architecture = "unknown";
    out->name = card->name && *card->name ? card->name : "unnamed GPU";
    out->cc_major = card->cc_major > 0 ? card->cc_major : 0;
    out->cc_minor = card->cc_major > 0 && card->cc_minor > 0 ? card->cc_minor : 0;
    out->dram_bandwidth_bps = bandwidth_of(card);
}

/* What the driver does not say is 0, negative or NaN there. */
static void take_int(int *value, int attribute)
{
    if (attribute > 0)
        *value = attribute;
}

static void take_size(uint64_t *value, uint64_t attribute)
{
    if (attribute > 0)
        *value = attribute;
}

void ub_gpu_from_attributes(const struct ub_gpu_attributes *attributes, struct ub_gpu *out)
{
    const struct ub_gpu *row = row_of(attributes);
    if (row)
        start_from_row(row, out);
    else
        start_from_generation(attributes, out);
    take_int(&out->sms, attributes->sms);
    take_int(&out->warps_per_sm, attributes->warps_per_sm);
    take_int(&out->blocks_per_sm, attributes->blocks_per_sm);
    take_int(&out->registers_per_sm, attributes->registers_per_sm);
    take_int(&out->registers_per_block, attributes->registers_per_block);
    take_size(&out->shared_per_sm_bytes, attributes->shared_per_sm_bytes);
    take_size(&out->shared_per_block_optin_bytes, attributes->shared_per_block_optin_bytes);
    take_size(&out->shared_reserved_bytes, attributes->shared_reserved_bytes);
    take_size(&out->l2_bytes, attributes->l2_bytes);
    take_size(&out->memory_bytes, attributes->memory_bytes);
    if (attributes->has_copy_engines)
        out->copy_engines = attributes->copy_engines;
    if (isfinite(attributes->clock_max_mhz) && attributes->clock_max_mhz > 0)
        out->clock_boost_mhz = attributes->clock_max_mhz;
}

const char *ub_gpu_block_refused(const struct ub_gpu *gpu, uint64_t threads, uint64_t static_bytes,
                                 uint64_t dynamic_bytes)
{
    if (threads > (uint64_t)gpu->threads_per_block)
        return "a block of this card has fewer threads";
    if (static_bytes > gpu->shared_per_block_bytes || static_bytes + dynamic_bytes > gpu->shared_per_block_optin_bytes)
        return "a block of this card has less shared memory";
    return NULL;
}
