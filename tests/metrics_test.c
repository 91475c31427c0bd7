/* SPDX-License-Identifier: MIT
 *
 * The table of counters in itself; cupti_chips_test asks CUPTI whether it is true. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "cupti/metrics.h"

/* ---- every row is whole ------------------------------------------------------ */

static void rows_are_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < UB_METRIC_COUNT; i++) {
        const struct ub_counter_key *key = &ub_metric_keys[i];
        assert_true(strlen(key->key) > 0 && strlen(key->unit) > 0 && strlen(key->meaning) > 0);
        assert_true(!key->nvprof || strlen(key->nvprof) > 0);
        assert_false(ub_metric_is_raw(key->key));
        assert_int_equal(key->exact, ub_metric_class(i) != UB_ESTIMATE);
        assert_int_equal(ub_metric_index(key->key), (int)i); /* also: no key twice */
    }
    assert_int_equal(ub_metric_index("no_such_key"), -1);
    assert_int_equal(ub_metric_index(""), -1);
}

/* Only sums are compared exactly, and an exact one counts instructions or launches. One key is
 * of the part of the GPU that has most. */
static void raw_names_are_sums(void **state)
{
    (void)state;
    for (size_t i = 0; i < UB_METRIC_COUNT; i++) {
        struct ub_counter_on_chip on_chip;
        assert_true(ub_metric_on_chip("GH100", ub_metric_keys[i].key, &on_chip, NULL));
        assert_non_null(on_chip.raw);
        assert_null(on_chip.reason);
        assert_int_equal(on_chip.passes, 0);
        assert_true(ub_metric_is_raw(on_chip.raw));
        const bool is_of_one = strcmp(ub_metric_keys[i].key, "l2_atomic_cycles_busiest") == 0;
        assert_string_equal(on_chip.raw + strlen(on_chip.raw) - 4, is_of_one ? ".max" : ".sum");
        assert_true(!ub_metric_keys[i].exact || strstr(on_chip.raw, "_sass_") || strstr(on_chip.raw, "launched"));
    }
}

/* The keys that DESIGN section 6 names. */
static void promised_keys(void **state)
{
    static const char *const keys[] = {"global_load_requests",
                                       "global_load_sectors",
                                       "global_load_bytes",
                                       "global_store_requests",
                                       "global_store_sectors",
                                       "global_store_bytes",
                                       "global_lines",
                                       "dram_read_bytes",
                                       "dram_write_bytes",
                                       "shared_load_requests",
                                       "shared_load_wavefronts",
                                       "shared_store_requests",
                                       "shared_store_wavefronts",
                                       "branches_uniform",
                                       "branches_divergent",
                                       "warp_instructions",
                                       "thread_instructions",
                                       "thread_instructions_pred_on",
                                       "local_loads",
                                       "local_stores",
                                       "ffma",
                                       "blocks_launched",
                                       "warps_launched",
                                       "warps_active",
                                       "warps_eligible",
                                       "issue_active",
                                       "stall_long_scoreboard",
                                       "stall_barrier",
                                       "l1_load_hits",
                                       "l1_load_sectors",
                                       "l2_hits",
                                       "l2_sectors",
                                       "sm_cycles_active"};
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (ub_metric_index(keys[i]) < 0)
            fail_msg("%s is missing", keys[i]);
}

/* ---- differences between chips ------------------------------------------------ */

static const struct {
    const char *chip, *name, *raw; /* raw NULL: there is none, with a reason */
} on_chips[] = {
    {"GH100", "dram_read_bytes", "dram__bytes_read.sum"},
    {"GB100", "dram_read_bytes", "dram__bytes_read.sum"},
    {"GB110", "dram_write_bytes", "dram__bytes_write.sum"},
    {"GB202", "dram_read_bytes", "dram__bytes_op_read.sum"},
    {"GB207", "dram_write_bytes", "dram__bytes_op_write.sum"},
    {"GB20B", "dram_read_bytes", NULL},
    {"GB10B", "dram_write_bytes", NULL},
    {"GA10B", "dram_read_bytes", NULL},
    {"GA102", "dram_read_bytes", "dram__bytes_read.sum"},
    {"GH100", "stall_gmma", "smsp__warps_issue_stalled_gmma.sum"},
    {"GA100", "stall_gmma", NULL},
    {"GB100", "stall_gmma", NULL},
    {"AD102", "stall_imc_miss", "smsp__warps_issue_stalled_imc_miss.sum"},
    {"GB202", "stall_imc_miss", NULL},
    {"TU102", "global_async_copies", NULL},
    {"GA100", "global_async_copies", "smsp__sass_inst_executed_op_ldgsts.sum"},
    {"GV11B", "global_load_sectors", NULL},
    {"GV11B", "smsp__inst_executed.sum", NULL},
    {"GV100", "global_load_sectors", "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum"},
    /* raw names pass if they are integers */
    {"GH100", "smsp__inst_executed.sum", "smsp__inst_executed.sum"},
    {"GH100", "gpc__cycles_elapsed.max", "gpc__cycles_elapsed.max"},
    {"GH100", "sm__warps_active.avg.pct_of_peak_sustained_active", NULL},
    {"GH100", "lts__t_sector_hit_rate.pct", NULL},
    {"GH100", "sm__warps_active.avg", NULL},
    {"GH100", "SM_C.TriageCompute.smsp__inst_executed.sum", NULL},
    /* a chip of the future is taken for like the others */
    {"GX999", "global_lines", "smsp__sass_l1tex_tags_mem_global.sum"},
};

static void chips_differ(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof on_chips / sizeof on_chips[0]; i++) {
        struct ub_counter_on_chip on_chip;
        assert_true(ub_metric_on_chip(on_chips[i].chip, on_chips[i].name, &on_chip, NULL));
        if (on_chips[i].raw) {
            assert_non_null(on_chip.raw);
            assert_string_equal(on_chip.raw, on_chips[i].raw);
            assert_null(on_chip.reason);
        } else {
            assert_null(on_chip.raw);
            assert_non_null(on_chip.reason);
        }
    }
}

static void wrong_names_are_named(void **state)
{
    static const char *const names[] = {"globl_lines", "", "smsp__inst_executed", "__.sum", "global_lines.sum"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct ub_counter_on_chip on_chip;
        struct ub_error err = {.text = ""};
        char quoted[64];
        snprintf(quoted, sizeof quoted, "\"%s\"", names[i]);
        assert_false(ub_metric_on_chip("GH100", names[i], &on_chip, &err));
        assert_int_equal(err.status, UB_USAGE);
        assert_non_null(strstr(err.text, quoted));
    }
}

static void chips_are_listed_once(void **state)
{
    const char *const *chips;
    const size_t count = ub_metric_chips(&chips);
    (void)state;
    assert_true(count > 20);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(chips[i], chips[j]);
}

/* ---- the table and the rest of the project ------------------------------------ */

static void rules_use_known_keys(void **state)
{
    (void)state;
    for (size_t e = 0; e < ub_entry_count; e++) {
        const struct ub_micro *micro = ub_entries[e].micro;
        for (size_t k = 0; k < micro->counter_count; k++)
            if (ub_metric_index(micro->counters[k]) < 0)
                fail_msg("rule %s counts %s, which is no key", micro->name, micro->counters[k]);
    }
}

static void the_manual_names_every_key(void **state)
{
    static char manual[65536];
    FILE *file = fopen(UB_SOURCE_DIR "/docs/counters.md", "r");
    (void)state;
    assert_non_null(file);
    manual[fread(manual, 1, sizeof manual - 1, file)] = 0;
    fclose(file);
    for (size_t i = 0; i < UB_METRIC_COUNT; i++) {
        char cell[80];
        snprintf(cell, sizeof cell, "`%s`", ub_metric_keys[i].key);
        if (!strstr(manual, cell))
            fail_msg("docs/counters.md lacks %s", cell);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_whole),        cmocka_unit_test(raw_names_are_sums),
        cmocka_unit_test(promised_keys),         cmocka_unit_test(chips_differ),
        cmocka_unit_test(wrong_names_are_named), cmocka_unit_test(chips_are_listed_once),
        cmocka_unit_test(rules_use_known_keys),  cmocka_unit_test(the_manual_names_every_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
