/* SPDX-License-Identifier: MIT
 *
 * The table of cards: complete, consistent with the limits of each compute
 * capability, found by the names that drivers give and by no other; cards that it
 * lacks; the constants with their intervals and origins. */
#include "harness/model/gpu.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/contract/record.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* CUDA C++ Programming Guide, technical specifications per compute capability,
 * and cuda_occupancy.h of CUDA 13.0. */
static const struct limits {
    int cc_major, cc_minor, warps, blocks;
    uint64_t shared, optin, reserved, unit;
    int fp32, fp64;
} limits[] = {
    {7, 0, 64, 32, 98304, 98304, 0, 256, 64, 32},       {7, 5, 32, 16, 65536, 65536, 0, 256, 64, 2},
    {8, 0, 64, 32, 167936, 166912, 1024, 128, 64, 32},  {8, 6, 48, 16, 102400, 101376, 1024, 128, 128, 2},
    {8, 7, 48, 16, 167936, 166912, 1024, 128, 128, 2},  {8, 9, 48, 24, 102400, 101376, 1024, 128, 128, 2},
    {9, 0, 64, 32, 233472, 232448, 1024, 128, 128, 64}, {10, 0, 64, 32, 233472, 232448, 1024, 128, 128, 64},
    {12, 0, 48, 24, 102400, 101376, 1024, 128, 128, 2},
};

static const struct limits *limits_of(const struct ub_gpu *gpu)
{
    for (size_t i = 0; i < COUNT(limits); i++)
        if (limits[i].cc_major == gpu->cc_major && limits[i].cc_minor == gpu->cc_minor)
            return &limits[i];
    return NULL;
}

static void check_limits(const struct ub_gpu *gpu)
{
    const struct limits *wanted = limits_of(gpu);
    assert_non_null(wanted);
    assert_int_equal(gpu->warps_per_sm, wanted->warps);
    assert_int_equal(gpu->blocks_per_sm, wanted->blocks);
    assert_int_equal(gpu->shared_per_sm_bytes, wanted->shared);
    assert_int_equal(gpu->shared_per_block_optin_bytes, wanted->optin);
    assert_int_equal(gpu->shared_reserved_bytes, wanted->reserved);
    assert_int_equal(gpu->shared_unit_bytes, wanted->unit);
    assert_int_equal(gpu->fp32_lanes_per_sm, wanted->fp32);
    assert_int_equal(gpu->fp64_lanes_per_sm, wanted->fp64);
    assert_int_equal(gpu->threads_per_block, 1024);
    assert_int_equal(gpu->registers_per_sm, 65536);
    assert_int_equal(gpu->registers_per_block, 65536);
    assert_int_equal(gpu->register_unit_per_warp, 256);
    assert_int_equal(gpu->registers_per_thread_max, 255);
    assert_int_equal(gpu->schedulers_per_sm, 4);
    assert_int_equal(gpu->shared_per_block_bytes, 49152);
    assert_int_equal(gpu->sector_bytes, 32);
    assert_int_equal(gpu->line_bytes, 128);
}

static void every_row_is_complete(void **state)
{
    (void)state;
    assert_true(ub_gpu_count() >= 17);
    assert_null(ub_gpu_at(ub_gpu_count()));
    for (size_t i = 0; i < ub_gpu_count(); i++) {
        const struct ub_gpu *gpu = ub_gpu_at(i);
        check_limits(gpu);
        assert_ptr_equal(ub_gpu_find(gpu->slug), gpu); /* no slug or alias twice */
        assert_ptr_equal(ub_gpu_find_by_device_name(gpu->name), gpu);
        assert_non_null(gpu->architecture);
        assert_non_null(gpu->chip);
        assert_true(strlen(gpu->source) > 10);
        assert_true(gpu->sms > 0 && gpu->sms < 1000);
        assert_true(gpu->l1_bytes >= gpu->shared_per_sm_bytes);
        assert_true(gpu->l2_bytes >= 1 << 20 && gpu->memory_bytes > gpu->l2_bytes);
        assert_true(gpu->clock_boost_mhz > 1000 && gpu->clock_boost_mhz < 3000);
        assert_true(isnan(gpu->clock_base_mhz) || gpu->clock_base_mhz < gpu->clock_boost_mhz);
        assert_true(isnan(gpu->dram_bandwidth_bps) || gpu->dram_bandwidth_bps > 1e11);
        assert_int_equal(gpu->verified, strcmp(gpu->slug, "h200") == 0);
        /* Only GH100's grain was measured. */
        assert_true((strcmp(gpu->chip, "GH100") == 0) != (strstr(gpu->notes, "grain_bytes is assumed") != NULL));
    }
}

static void the_h200_is_as_its_driver_reports_it(void **state)
{
    (void)state;
    const struct ub_gpu *h200 = ub_gpu_find("h200");
    assert_non_null(h200);
    assert_string_equal(h200->chip, "GH100");
    assert_int_equal(h200->sms, 132);
    assert_int_equal(h200->l2_bytes, 62914560);
    assert_int_equal(h200->memory_bytes, 150109880320);
    assert_int_equal(h200->dram_read_grain_bytes, 64);
    assert_int_equal(h200->copy_engines, 3);
    assert_true(h200->clock_boost_mhz == 1980 && h200->dram_bandwidth_bps == 4800e9);
}

/* slug, SMs, L2, bandwidth in GB/s, of the data sheets. */
static void cards_have_their_own_figures(void **state)
{
    (void)state;
    static const struct {
        const char *slug, *chip;
        int sms;
        uint64_t l2_bytes;
        double bandwidth_gbps;
    } rows[] = {
        {"v100", "GV100", 80, 6291456, 900},       {"t4", "TU104", 40, 4194304, 320},
        {"rtx2080ti", "TU102", 68, 5767168, 616},  {"a100", "GA100", 108, 41943040, 2039},
        {"a100-40", "GA100", 108, 41943040, 1555}, {"a10", "GA102", 72, 6291456, 600},
        {"rtx3090", "GA102", 82, 6291456, 935.8},  {"a40", "GA102", 84, 6291456, 695.8},
        {"l4", "AD104", 58, 50331648, 300},        {"rtx4090", "AD102", 128, 75497472, 1008},
        {"l40s", "AD102", 142, 100663296, 864.1},  {"h100-pcie", "GH100", 114, 52428800, 2039},
        {"h100", "GH100", 132, 52428800, 3352},    {"gh200", "GH100", 132, 62914560, 4023},
        {"b200", "GB100", 148, 132644864, 8000},   {"rtx5090", "GB202", 170, 100663296, 1792},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ub_gpu *gpu = ub_gpu_find(rows[i].slug);
        assert_non_null(gpu);
        assert_string_equal(gpu->chip, rows[i].chip);
        assert_int_equal(gpu->sms, rows[i].sms);
        assert_int_equal(gpu->l2_bytes, rows[i].l2_bytes);
        assert_true(fabs(gpu->dram_bandwidth_bps / 1e9 - rows[i].bandwidth_gbps) < 1e-6);
    }
}

struct naming {
    const char *name, *slug; /* slug NULL: not in the table */
};

static void check_naming(const struct naming *row, const struct ub_gpu *found)
{
    if (!row->slug)
        assert_null(found);
    else
        assert_string_equal(found ? found->slug : row->name, row->slug);
}

static void slugs_and_aliases(void **state)
{
    (void)state;
    static const struct naming rows[] = {
        {"h200", "h200"},
        {"H200", "h200"},
        {"h100", "h100"},
        {"h100-sxm5", "h100"},
        {"h100_pcie", "h100-pcie"},
        {"RTX 4090", "rtx4090"},
        {"rtx-5090", "rtx5090"},
        {"rtx-2080-ti", "rtx2080ti"},
        {"a100-80", "a100"},
        {"a100-sxm4-40", "a100-40"},
        {"agx-orin", "orin"},
        {"h20", NULL},
        {"h2000", NULL},
        {"", NULL},
        {"a100-", NULL},
        {"NVIDIA H200", NULL},
        {NULL, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        check_naming(&rows[i], ub_gpu_find(rows[i].name));
}

static void device_names(void **state)
{
    (void)state;
    static const struct naming rows[] = {
        {"NVIDIA H200", "h200"},
        {"NVIDIA H200 NVL", NULL},
        {"NVIDIA H200 MIG 1g.18gb", NULL},
        {"NVIDIA A100-SXM4-80GB", "a100"},
        {"A100-SXM4-80GB", "a100"}, /* before R470 */
        {"NVIDIA A100-SXM4-40GB", "a100-40"},
        {"NVIDIA A100 80GB PCIe", NULL},
        {"Tesla T4", "t4"},
        {"Tesla V100-SXM2-16GB", "v100"},
        {"Tesla V100-SXM2-32GB", NULL},
        {"NVIDIA GeForce RTX 4090", "rtx4090"},
        {"NVIDIA GeForce RTX 4090 D", NULL},
        {"NVIDIA GeForce RTX 4090 Laptop GPU", NULL},
        {"GeForce RTX 2080 Ti", "rtx2080ti"},
        {"NVIDIA H100 80GB HBM3", "h100"},
        {"NVIDIA H100 PCIe", "h100-pcie"},
        {"NVIDIA H100 NVL", NULL},
        {"NVIDIA GH200 480GB", "gh200"},
        {"NVIDIA L40", NULL},
        {"NVIDIA L40S", "l40s"},
        {"NVIDIA B200", "b200"},
        {"Orin", NULL}, /* the name of every Orin module */
        {"nvidia h200", NULL},
        {"h200", NULL},
        {"NVIDIA ", NULL},
        {"", NULL},
        {NULL, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        check_naming(&rows[i], ub_gpu_find_by_device_name(rows[i].name));
}

/* ---- cards described from their attributes -------------------------------- */

static const struct ub_gpu_attributes nothing = {.clock_max_mhz = NAN, .memory_clock_mhz = NAN};

static void attributes_win_over_the_row(void **state)
{
    (void)state;
    struct ub_gpu_attributes card = nothing;
    card.name = "NVIDIA H200";
    card.cc_major = 9;
    card.sms = 130;
    card.l2_bytes = 1 << 20;
    card.clock_max_mhz = 1500;
    struct ub_gpu gpu;
    ub_gpu_from_attributes(&card, &gpu);
    assert_string_equal(gpu.slug, "h200");
    assert_string_equal(gpu.source, "attributes of the card; what they lack from the table's row of that name");
    assert_int_equal(gpu.sms, 130);
    assert_int_equal(gpu.l2_bytes, 1 << 20);
    assert_true(gpu.clock_boost_mhz == 1500);
    assert_int_equal(gpu.memory_bytes, 150109880320);
    assert_true(gpu.dram_bandwidth_bps == 4800e9);
    assert_true(gpu.verified);
    check_limits(&gpu);
}

static void no_copy_engine_is_a_number_of_them(void **state)
{
    static const struct {
        const char *name;
        bool has;
        int engines, expected;
    } rows[] = {
        {"NVIDIA H200", false, 0, 3}, {"NVIDIA H200", true, 0, 0}, {"NVIDIA H200", true, 1, 1},
        {"a card", false, 0, -1},     {"a card", true, 0, 0},      {"a card", true, 7, 7},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ub_gpu_attributes card = nothing;
        struct ub_gpu gpu;
        card.name = rows[i].name;
        card.cc_major = 9;
        card.has_copy_engines = rows[i].has;
        card.copy_engines = rows[i].engines;
        ub_gpu_from_attributes(&card, &gpu);
        assert_int_equal(gpu.copy_engines, rows[i].expected);
    }
}

static void an_unknown_compute_capability_does_not_hide_a_row(void **state)
{
    (void)state;
    struct ub_gpu_attributes card = nothing;
    card.name = "NVIDIA H200";
    card.cc_major = card.cc_minor = card.sms = -1; /* as a record says "absent" */
    struct ub_gpu gpu;
    ub_gpu_from_attributes(&card, &gpu);
    assert_string_equal(gpu.slug, "h200");
    assert_int_equal(gpu.sms, 132);
    assert_int_equal(gpu.cc_major, 9);
}

static void a_foreign_card_takes_its_generation(void **state)
{
    (void)state;
    struct ub_gpu_attributes card = {.name = "NVIDIA H200 NVL",
                                     .cc_major = 9,
                                     .sms = 132,
                                     .warps_per_sm = 64,
                                     .l2_bytes = 62914560,
                                     .memory_bytes = UINT64_C(150000000000),
                                     .clock_max_mhz = 1785,
                                     .memory_clock_mhz = 3201,
                                     .memory_bus_bits = 6144};
    struct ub_gpu gpu;
    ub_gpu_from_attributes(&card, &gpu);
    assert_null(gpu.slug);
    assert_string_equal(gpu.name, "NVIDIA H200 NVL");
    assert_string_equal(gpu.source, "attributes of the card; what they lack from the sm_90 generation of the table");
    assert_string_equal(gpu.architecture, "Hopper");
    assert_string_equal(gpu.chip, "GH100");
    assert_int_equal(gpu.dram_read_grain_bytes, 64);
    assert_true(gpu.dram_bandwidth_bps == 4916.736e9); /* 3201 MHz x 2 x 6144 / 8 */
    assert_true(gpu.clock_boost_mhz == 1785);
    assert_true(isnan(gpu.clock_base_mhz));
    assert_false(gpu.verified);
    check_limits(&gpu);
}

static void generations_by_age(void **state)
{
    (void)state;
    static const struct {
        int cc_major, cc_minor;
        const char *source, *architecture, *chip;
        int warps;
    } rows[] = {
        {7, 0, "sm_70 generation", "Volta", "GV100", 64},    {7, 2, "sm_70 generation", "Volta", NULL, 64},
        {7, 5, "sm_75 generation", "Turing", NULL, 32},      {8, 6, "sm_86 generation", "Ampere", NULL, 48},
        {8, 8, "sm_87 generation", "Ampere", NULL, 48},      {8, 9, "sm_89 generation", "Ada Lovelace", NULL, 48},
        {10, 0, "sm_100 generation", "Blackwell", NULL, 64}, {10, 3, "sm_103 generation", "Blackwell", NULL, 64},
        {11, 0, "sm_110 generation", "Blackwell", NULL, 48}, {12, 1, "sm_120 generation", "Blackwell", NULL, 48},
        {13, 0, "sm_120 generation", "unknown", NULL, 48},   {6, 1, "oldest generation", "unknown", NULL, 64},
        {0, 0, "oldest generation", "unknown", NULL, 64},    {-1, -1, "oldest generation", "unknown", NULL, 64},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ub_gpu_attributes card = nothing;
        card.cc_major = rows[i].cc_major;
        card.cc_minor = rows[i].cc_minor;
        struct ub_gpu gpu;
        ub_gpu_from_attributes(&card, &gpu);
        assert_non_null(strstr(gpu.source, rows[i].source));
        assert_string_equal(gpu.architecture, rows[i].architecture);
        assert_true(gpu.chip ? rows[i].chip && strcmp(gpu.chip, rows[i].chip) == 0 : !rows[i].chip);
        assert_int_equal(gpu.warps_per_sm, rows[i].warps);
        assert_int_equal(gpu.cc_major, rows[i].cc_major > 0 ? rows[i].cc_major : 0);
        assert_int_equal(gpu.cc_minor, rows[i].cc_minor > 0 ? rows[i].cc_minor : 0);
        assert_string_equal(gpu.name, "unnamed GPU");
        assert_int_equal(gpu.sms, 0); /* no source: 0 */
        assert_true(isnan(gpu.dram_bandwidth_bps) && isnan(gpu.clock_boost_mhz));
        assert_non_null(strstr(gpu.notes, "laws"));
    }
}

static void a_name_alone_does_not_make_a_card(void **state)
{
    (void)state;
    struct ub_gpu_attributes card = nothing;
    card.name = "NVIDIA H200";
    card.cc_major = 10;
    struct ub_gpu gpu;
    ub_gpu_from_attributes(&card, &gpu);
    assert_null(gpu.slug);
    assert_string_equal(gpu.architecture, "Blackwell");
    card.name = "";
    ub_gpu_from_attributes(&card, &gpu);
    assert_string_equal(gpu.name, "unnamed GPU");
}

/* ---- constants ------------------------------------------------------------ */

static void close_to(const struct ub_constants *constants, const char *name, double wanted)
{
    const double got = ub_constant_value(constants, name);
    if (!(fabs(got - wanted) <= 1e-9 * wanted))
        fail_msg("%s is %g, not %g", name, got, wanted);
}

static void the_h200_has_measured_ceilings(void **state)
{
    (void)state;
    struct ub_constants constants = {.count = 7}; /* what was there is replaced */
    ub_gpu_constants(ub_gpu_find("h200"), &constants);
    assert_int_equal(constants.count, 37);
    close_to(&constants, "dram_load_ceiling", 4.68e12);
    close_to(&constants, "dram_store_ceiling", 4.69e12);
    close_to(&constants, "dram_copy_ceiling", 4.27e12);
    close_to(&constants, "l2_load_ceiling", 9.8e12);
    close_to(&constants, "block_launch_ns", 0.604);
    close_to(&constants, "launch_floor_ns", 503);
    close_to(&constants, "clock_mhz", 1980);
    close_to(&constants, "fma_step_ns", 4.22 / 1.98);
    close_to(&constants, "select_step_ns", 6.84 / 1.98);
    close_to(&constants, "constant_step_ns", 34 / 1.98);
    close_to(&constants, "carveout_hit_ns", 46.6 / 1.98);
    close_to(&constants, "carveout_miss_ns", 301 / 1.98);
    close_to(&constants, "l1_latency_cycles", 32);
    close_to(&constants, "l2_latency_ns", 141.5);
    close_to(&constants, "l2_crossing_ns", 89);
    close_to(&constants, "dram_latency_ns", 335);
    close_to(&constants, "shared_latency_cycles", 23);
    close_to(&constants, "block_barrier_cycles", 14);
    close_to(&constants, "host_wait_ns", 9800);
    close_to(&constants, "host_launches_ns", 860000);
    close_to(&constants, "graph_wait_ns", 6100);
    const struct ub_constant *load = ub_constant_find(&constants, "dram_load_ceiling");
    assert_non_null(strstr(load->origin, "measured on an H200 by ubench"));
    assert_true(fabs(load->lo / load->value - 0.983) < 1e-3 && fabs(load->hi / load->value - 1.011) < 1e-3);
}

static void other_cards_take_published_shares(void **state)
{
    (void)state;
    struct ub_constants constants;
    ub_gpu_constants(ub_gpu_find("a100"), &constants);
    close_to(&constants, "dram_load_ceiling", 0.87 * 2039e9);
    close_to(&constants, "dram_store_ceiling", 0.93 * 2039e9);
    close_to(&constants, "l2_load_ceiling", 5.2e12);
    close_to(&constants, "launch_floor_ns", 1340);
    close_to(&constants, "block_launch_ns", 1.196 / 1.410); /* SM cycles / GHz */
    assert_true(ub_constant_find(&constants, "clock_mhz")->lo == 1275);
    ub_gpu_constants(ub_gpu_find("rtx3090"), &constants); /* nothing published */
    close_to(&constants, "dram_load_ceiling", 0.92 * 935.8e9);
    close_to(&constants, "dram_copy_ceiling", 0.88 * 935.8e9);
    assert_null(ub_constant_find(&constants, "l2_load_ceiling"));
    close_to(&constants, "l1_latency_cycles", 34);
    assert_null(ub_constant_find(&constants, "l2_crossing_ns")); /* in one piece */
}

static void l2_is_in_halves_on_large_dies_only(void **state)
{
    (void)state;
    static const char *const halved[] = {"a100", "a100-40", "h100", "h100-pcie", "h200", "gh200", "b200"};
    size_t found = 0;
    for (size_t i = 0; i < ub_gpu_count(); i++)
        found += ub_gpu_has_l2_halves(ub_gpu_at(i));
    assert_int_equal(found, sizeof halved / sizeof halved[0]);
    for (size_t i = 0; i < found; i++)
        assert_true(ub_gpu_has_l2_halves(ub_gpu_find(halved[i])));
}

static void a_foreign_card_takes_a_share_of_its_pin_rate(void **state)
{
    (void)state;
    struct ub_gpu_attributes card = nothing;
    card.cc_major = 9;
    card.memory_clock_mhz = 1000;
    card.memory_bus_bits = 4000;
    struct ub_gpu gpu;
    ub_gpu_from_attributes(&card, &gpu);
    struct ub_constants constants;
    ub_gpu_constants(&gpu, &constants);
    close_to(&constants, "dram_load_ceiling", 0.92e12);
    assert_non_null(strstr(ub_constant_find(&constants, "dram_load_ceiling")->origin, "peak bandwidth x 0.92"));
}

/* By card where something was published, else by the generation of PCIe. */
static void the_link_to_the_host_has_a_rate(void **state)
{
    static const struct {
        const char *slug;
        double in, both;
    } rows[] = {
        {"v100", 12.4e9, 0.8 * 24.8e9}, {"t4", 12.4e9, 0.8 * 24.8e9},    {"a100", 25.7e9, 0.8 * 51.5e9},
        {"a10", 25.2e9, 0.8 * 50.4e9},  {"h100", 55.4e9, 0.8 * 110.6e9}, {"gh200", 335e9, 0.8 * 627e9},
        {"b200", 55e9, 0.8 * 110e9},    {"h200", 55.2e9, 99.9e9},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ub_constants constants = {0};
        ub_gpu_constants(ub_gpu_find(rows[i].slug), &constants);
        close_to(&constants, "copy_in_bandwidth", rows[i].in);
        close_to(&constants, "copy_both_bandwidth", rows[i].both);
    }
}

static void unknown_values_are_absent(void **state)
{
    (void)state;
    struct ub_constants constants;
    ub_gpu_constants(ub_gpu_find("orin"), &constants);
    assert_null(ub_constant_find(&constants, "dram_load_ceiling"));
    assert_non_null(ub_constant_find(&constants, "clock_mhz"));
    struct ub_gpu gpu;
    ub_gpu_from_attributes(&nothing, &gpu);
    ub_gpu_constants(&gpu, &constants);
    assert_int_equal(constants.count, 20); /* what other cards have */
    assert_string_equal(constants.items[0].name, "launch_floor_ns");
    assert_string_equal(constants.items[1].name, "load_wait_ns");
}

static void every_constant_has_interval_and_origin(void **state)
{
    (void)state;
    for (size_t i = 0; i < ub_gpu_count(); i++) {
        struct ub_constants constants;
        ub_gpu_constants(ub_gpu_at(i), &constants);
        for (size_t k = 0; k < constants.count; k++) {
            const struct ub_constant *constant = &constants.items[k];
            assert_true(constant->lo > 0 && constant->lo <= constant->value && constant->value <= constant->hi);
            assert_true(constant->lo < constant->hi);
            assert_true(constant->unit[0]);
            assert_true(strlen(constant->origin) + 1 < sizeof constant->origin); /* not cut */
            const bool measured = strstr(constant->origin, "measured on an H200") != NULL;
            assert_true(measured != (strstr(constant->origin, "assumed") != NULL));
            if (measured)
                assert_true(ub_gpu_at(i)->verified);
        }
        const double load = ub_constant_value(&constants, "dram_load_ceiling");
        assert_true(isnan(load) || load < ub_gpu_at(i)->dram_bandwidth_bps);
    }
}

/* A record of `run all` holds those of the card, those that rules measure, and what the
 * instrument says of itself (engine/calibrate.c); one that did not fit would be lost. */
static void all_that_a_run_measures_has_room(void **state)
{
    (void)state;
    enum { CALIBRATED = 5 };
    struct ub_constants constants = {0};
    ub_gpu_constants(ub_gpu_find("h200"), &constants);
    for (size_t i = 0; i < ub_entry_count; i++)
        for (size_t k = 0; k < ub_entries[i].micro->provide_count; k++)
            assert_true(ub_constant_set(&constants, ub_entries[i].micro->provides[k].constant, 1, 1, 1, "1", "a test"));
    print_message("%zu constants of %d\n", constants.count, UB_MAX_CONSTANTS);
    assert_true(constants.count + CALIBRATED <= UB_MAX_CONSTANTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_complete),
        cmocka_unit_test(the_h200_is_as_its_driver_reports_it),
        cmocka_unit_test(cards_have_their_own_figures),
        cmocka_unit_test(slugs_and_aliases),
        cmocka_unit_test(device_names),
        cmocka_unit_test(attributes_win_over_the_row),
        cmocka_unit_test(no_copy_engine_is_a_number_of_them),
        cmocka_unit_test(an_unknown_compute_capability_does_not_hide_a_row),
        cmocka_unit_test(a_foreign_card_takes_its_generation),
        cmocka_unit_test(generations_by_age),
        cmocka_unit_test(a_name_alone_does_not_make_a_card),
        cmocka_unit_test(the_h200_has_measured_ceilings),
        cmocka_unit_test(other_cards_take_published_shares),
        cmocka_unit_test(l2_is_in_halves_on_large_dies_only),
        cmocka_unit_test(a_foreign_card_takes_a_share_of_its_pin_rate),
        cmocka_unit_test(the_link_to_the_host_has_a_rate),
        cmocka_unit_test(unknown_values_are_absent),
        cmocka_unit_test(every_constant_has_interval_and_origin),
        cmocka_unit_test(all_that_a_run_measures_has_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
