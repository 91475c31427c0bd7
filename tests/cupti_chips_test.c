/* SPDX-License-Identifier: MIT
 *
 * The table of counters is true for every chip that libcupti lists: each key has
 * its metric there or a recorded reason, at the recorded number of passes. No GPU
 * is needed, so this also catches what a new CUDA Toolkit renames. Skipped, with
 * the reason, where libcupti cannot be used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/contract/counters.h"

enum { CHIP_LIMIT = 64 };

/* Skips the test where there is no library. */
static void need_library(void)
{
    char line[640];
    struct ub_error err = {.text = ""};
    if (ub_counters.library(line, sizeof line, &err))
        return;
    print_message("[  SKIP  ] %s\n", err.text);
    skip();
}

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* ---- single keys ---------------------------------------------------------------- */

/* The numbers of passes are those of CUDA 13; CUPTI of CUDA 12 needs as many or fewer. */
static bool as_recorded(int passes, int recorded)
{
    char line[640];
    const bool recorded_version = ub_counters.library(line, sizeof line, NULL) && begins(line, "CUPTI 13");
    return recorded_version ? passes == recorded : passes <= recorded && (passes > 0) == (recorded > 0);
}

/* One pass, but for these. */
static const struct {
    const char *chip, *key;
    int passes;
} single_passes[] = {{"GV100", "l1_load_sectors", 2},
                     {"GV100", "l1_wavefronts", 2},
                     {"GV100", "l1_atomic_sectors", 2},
                     {"GV100", "l1_reduction_sectors", 2}};

/* What chips lack, recorded here a second time and by hand: a key that vanishes
 * from another chip is a finding. */
static const struct {
    const char *chip_prefix, *key;
} absent[] = {
    {"GA10B", "dram_read_bytes"},
    {"GA10B", "dram_write_bytes"},
    {"GB10B", "dram_read_bytes"},
    {"GB10B", "dram_write_bytes"},
    {"GB20B", "dram_read_bytes"},
    {"GB20B", "dram_write_bytes"},
    {"GB20C", "dram_read_bytes"},
    {"GB20C", "dram_write_bytes"},
    {"GV", "stall_gmma"},
    {"TU", "stall_gmma"},
    {"GA", "stall_gmma"},
    {"AD", "stall_gmma"},
    {"GB", "stall_gmma"},
    {"GB", "stall_imc_miss"},
    {"GV", "global_async_copies"},
    {"TU", "global_async_copies"},
    {"GV", "matrix_load_requests"},
    {"GV", "matrix_load_wavefronts"},
    {"GV", "matrix_load_bytes"},
    {"GV", "async_copy_sectors"},
    {"TU", "async_copy_sectors"},
    {"GV", "async_copy_wavefronts"},
    {"TU", "async_copy_wavefronts"},
    {"GV", "warpgroup_matrix_instructions"},
    {"TU", "warpgroup_matrix_instructions"},
    {"GA", "warpgroup_matrix_instructions"},
    {"AD", "warpgroup_matrix_instructions"},
    {"GB", "warpgroup_matrix_instructions"},
    {"GV", "bulk_copies"},
    {"TU", "bulk_copies"},
    {"GA", "bulk_copies"},
    {"AD", "bulk_copies"},
    {"GV", "bulk_copy_bytes"},
    {"TU", "bulk_copy_bytes"},
    {"GA", "bulk_copy_bytes"},
    {"AD", "bulk_copy_bytes"},
};

static int expected_passes(const char *chip, const char *key)
{
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++)
        if (begins(chip, absent[i].chip_prefix) && strcmp(key, absent[i].key) == 0)
            return 0;
    for (size_t i = 0; i < sizeof single_passes / sizeof single_passes[0]; i++)
        if (strcmp(chip, single_passes[i].chip) == 0 && strcmp(key, single_passes[i].key) == 0)
            return single_passes[i].passes;
    return 1;
}

/* Xavier is listed by CUPTI 12 and 13.0, which cannot serve it. */
static bool is_xavier(const char *chip)
{
    return strcmp(chip, "GV11B") == 0;
}

static void every_key_on_every_chip(void **state)
{
    const char *const *chips;
    (void)state;
    need_library();
    const size_t count = ub_counters.chips(&chips);
    assert_in_range(count, 20, CHIP_LIMIT);
    for (size_t c = 0; c < count; c++)
        for (size_t k = 0; k < ub_counters.key_count; k++) {
            const char *key = ub_counters.keys[k].key;
            const int expected = is_xavier(chips[c]) ? 0 : expected_passes(chips[c], key);
            struct ub_counter_on_chip on_chip;
            struct ub_error err = {.text = ""};
            if (!ub_counters.on_chip(chips[c], key, &on_chip, &err))
                fail_msg("%s on %s: %s", key, chips[c], err.text);
            if (!as_recorded(on_chip.passes, expected) || (on_chip.raw != NULL) != (expected > 0))
                fail_msg("%s on %s: %d passes (%s), expected %d", key, chips[c], on_chip.passes,
                         on_chip.reason ? on_chip.reason : on_chip.raw, expected);
            assert_true((on_chip.raw == NULL) == (on_chip.reason != NULL));
        }
}

/* ---- sets -------------------------------------------------------------------------- */

/* Passes of counters that are collected together; chips of other numbers below. */
static const struct {
    const char *name;
    int passes;
    const char *keys[12]; /* ended by NULL */
} sets[] = {
    {"coalescing",
     1,
     {"global_load_requests", "global_store_requests", "global_load_sectors", "global_store_sectors",
      "global_load_bytes", "global_store_bytes", "global_lines"}},
    {"coalescing with DRAM",
     2,
     {"global_load_requests", "global_store_requests", "global_load_sectors", "global_store_sectors",
      "global_load_bytes", "global_store_bytes", "global_lines", "dram_read_bytes", "dram_write_bytes"}},
    {"DRAM", 1, {"dram_read_bytes", "dram_write_bytes"}},
    {"banks",
     1,
     {"shared_load_requests", "shared_store_requests", "shared_load_wavefronts", "shared_store_wavefronts",
      "shared_load_bytes", "shared_store_bytes"}},
    {"banks with hardware",
     2,
     {"shared_load_requests", "shared_store_requests", "shared_load_wavefronts", "shared_store_wavefronts",
      "shared_load_bytes", "shared_store_bytes", "matrix_load_requests", "matrix_load_wavefronts", "matrix_load_bytes",
      "l1_shared_load_wavefronts", "l1_shared_store_wavefronts"}},
    {"divergence",
     1,
     {"branches_uniform", "branches_divergent", "warp_instructions", "thread_instructions",
      "thread_instructions_pred_on"}},
    {"occupancy", 1, {"blocks_launched", "warps_launched", "threads_launched", "warps_active", "sm_cycles_active"}},
    {"latency", 1, {"warps_active", "sm_cycles_active", "warps_eligible", "issue_active", "scheduler_cycles_active"}},
    /* of latency_hiding: its hardware counters are to be one pass, so that they add up, and
     * instrumented ones never share a pass with them */
    {"states",
     1,
     {"warps_active", "sm_cycles_active", "warps_eligible", "issue_active", "stall_long_scoreboard", "stall_wait",
      "blocks_launched", "dram_read_bytes"}},
    {"states with instructions",
     2,
     {"warps_active", "sm_cycles_active", "warps_eligible", "issue_active", "stall_long_scoreboard", "stall_wait",
      "blocks_launched", "dram_read_bytes", "ffma", "global_load_requests", "global_load_sectors"}},
    {"spills and ffma", 1, {"local_loads", "local_stores", "ffma", "global_load_requests", "shared_load_requests"}},
    {"async copies",
     1,
     {"global_async_copies", "async_copy_sectors", "async_copy_wavefronts", "bulk_copies", "shared_store_requests",
      "global_load_requests", "ffma"}},
    {"L1", 1, {"l1_load_sectors", "l1_load_hits"}},
    {"L2 hits", 2, {"l2_sectors", "l2_hits"}},
    {"L2 traffic", 1, {"l2_read_sectors", "l2_write_sectors"}},
    /* of atomics: what it counts by instrumentation is one pass */
    {"atomics",
     1,
     {"global_atomics", "global_reductions", "global_atomic_sectors", "global_reduction_sectors", "shared_atomics",
      "shared_atomic_wavefronts", "local_loads", "local_stores"}},
    {"atomics with hardware",
     4,
     {"global_atomics", "global_reductions", "shared_atomics", "l1_atomic_sectors", "l1_reduction_sectors",
      "l1_shared_atomic_wavefronts", "l2_atomic_cycles", "l2_atomic_cycles_busiest"}},
    {"stalls",
     3,
     {"stall_long_scoreboard", "stall_short_scoreboard", "stall_barrier", "stall_wait", "stall_not_selected",
      "stall_selected", "stall_math_pipe_throttle", "stall_mio_throttle"}},
};

static const struct {
    const char *chip_prefix, *name;
    int passes;
} other_passes[] = {
    {"GV100", "L1", 2},
    {"GV100", "L2 traffic", 2},
    {"GA102", "states", 2},
    {"GA102", "states with instructions", 3},
    {"GA103", "states", 2},
    {"GA103", "states with instructions", 3},
    {"GA104", "states", 2},
    {"GA104", "states with instructions", 3},
    {"GA106", "states", 2},
    {"GA106", "states with instructions", 3},
    {"GA107", "states", 2},
    {"GA107", "states with instructions", 3},
    {"GA10B", "states", 2},
    {"GA10B", "states with instructions", 3},
    {"AD10", "states", 2},
    {"AD10", "states with instructions", 3},
    {"GB20", "states", 2},
    {"GB20", "states with instructions", 3},
    {"GV100", "atomics with hardware", 6},
    {"GH100", "atomics with hardware", 3},
    {"GB", "atomics with hardware", 3},
    {"TU116", "stalls", 2},
    {"TU117", "stalls", 2},
    {"GB20", "stalls", 4},
    {"GA10B", "coalescing with DRAM", 1}, /* no DRAM counters */
    {"GB10B", "coalescing with DRAM", 1},
    {"GB20B", "coalescing with DRAM", 1},
    {"GB20C", "coalescing with DRAM", 1},
    {"GA10B", "DRAM", 0},
    {"GB10B", "DRAM", 0},
    {"GB20B", "DRAM", 0},
    {"GB20C", "DRAM", 0},
};

static int set_passes(const char *chip, size_t set)
{
    for (size_t i = 0; i < sizeof other_passes / sizeof other_passes[0]; i++)
        if (begins(chip, other_passes[i].chip_prefix) && strcmp(sets[set].name, other_passes[i].name) == 0)
            return other_passes[i].passes;
    return sets[set].passes;
}

static void sets_on_every_chip(void **state)
{
    const char *const *chips;
    (void)state;
    need_library();
    const size_t count = ub_counters.chips(&chips);
    for (size_t c = 0; c < count; c++)
        for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++) {
            size_t key_count = 0;
            int passes = -1;
            struct ub_error err = {.text = ""};
            while (sets[s].keys[key_count])
                key_count++;
            if (!ub_counters.passes(chips[c], key_count, sets[s].keys, &passes, &err))
                fail_msg("%s on %s: %s", sets[s].name, chips[c], err.text);
            if (!as_recorded(passes, is_xavier(chips[c]) ? 0 : set_passes(chips[c], s)))
                fail_msg("%s on %s: %d passes, expected %d", sets[s].name, chips[c], passes, set_passes(chips[c], s));
        }
}

/* ---- wrong questions ------------------------------------------------------------------ */

static void wrong_names_are_named(void **state)
{
    static const struct {
        const char *chip, *key, *words;
    } rows[] = {
        {"GH100", "globl_lines", "globl_lines"},
        {"GH100", "smsp__no_such_metric.sum", "smsp__no_such_metric.sum"},
        {"GH100", "sm__warps_active.avg", "not an integer"},
        {"GH10O", "global_lines", "GH10O"},
        {"gh100", "global_lines", "gh100"},
        {"", "global_lines", "\"\""},
    };
    (void)state;
    need_library();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *keys[] = {"global_load_sectors", rows[i].key};
        int passes = -1;
        struct ub_error err = {.text = ""};
        assert_false(ub_counters.passes(rows[i].chip, 2, keys, &passes, &err));
        assert_int_equal(passes, 0);
        assert_int_equal(err.status, UB_USAGE);
        if (!strstr(err.text, rows[i].words))
            fail_msg("\"%s\" is not in: %s", rows[i].words, err.text);
    }
}

/* One wrong name must not spoil the next question. */
static void a_wrong_name_leaves_no_trace(void **state)
{
    const char *wrong[] = {"smsp__no_such_metric.sum"};
    const char *right[] = {"global_load_sectors", "smsp__inst_executed.sum"};
    int passes = -1;
    (void)state;
    need_library();
    assert_false(ub_counters.passes("GH100", 1, wrong, &passes, NULL));
    assert_true(ub_counters.passes("GH100", 2, right, &passes, NULL));
    assert_int_equal(passes, 2);
    assert_true(ub_counters.passes("GH100", 0, NULL, &passes, NULL));
    assert_int_equal(passes, 0);
}

/* ---- the search for the library, in processes of their own ------------------------------ */

struct answer {
    int exit_code;
    char text[4096];
};

/* This program again as `probe`, with `variable=value`; its output is what library() says. */
static void ask_again(const char *variable, const char *value, const char *path_variable, const char *path,
                      struct answer *answer)
{
    int ends[2];
    char self[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        setenv(variable, value, 1);
        if (path_variable)
            setenv(path_variable, path, 1);
        execl(self, self, "probe", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    size_t used = 0;
    ssize_t got;
    while (used + 1 < sizeof answer->text &&
           (got = read(ends[0], answer->text + used, sizeof answer->text - 1 - used)) > 0)
        used += (size_t)got;
    answer->text[used] = 0;
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    answer->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int probe(void)
{
    char line[640];
    struct ub_error err = {.text = ""};
    const bool found = ub_counters.library(line, sizeof line, &err);
    printf("%s\n", found ? line : err.text);
    return found ? 0 : (int)err.status;
}

static void expect_refusal(const struct answer *answer, const char *words)
{
    assert_int_equal(answer->exit_code, UB_NO_COUNTERS);
    if (!strstr(answer->text, words))
        fail_msg("\"%s\" is not in: %s", words, answer->text);
}

static void refused_files(void **state)
{
    static const struct {
        const char *variable, *value, *words;
    } rows[] = {
        {"UBENCH_CUPTI", "/nowhere/libcupti.so.13", "/nowhere/libcupti.so.13"},
        {"UBENCH_CUPTI", "libc.so.6", "cuptiGetVersion"},
        {"UBENCH_COUNTERS", "0", "UBENCH_COUNTERS=0"},
    };
    (void)state;
    need_library();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct answer answer;
        ask_again(rows[i].variable, rows[i].value, NULL, NULL, &answer);
        expect_refusal(&answer, rows[i].words);
    }
}

/* libcupti in a folder without libnvperf_host.so, and the loader's own copy hidden
 * by a file that is no library: the message names what is missing and where. */
static void hidden_companion(void **state)
{
    char folder[] = "/tmp/ubench-cupti-XXXXXX";
    char link[PATH_MAX], hidden[PATH_MAX], line[640];
    struct answer answer;
    (void)state;
    need_library();
    assert_true(ub_counters.library(line, sizeof line, NULL));
    assert_non_null(mkdtemp(folder));
    snprintf(link, sizeof link, "%s/libcupti.so", folder);
    snprintf(hidden, sizeof hidden, "%s/libnvperf_host.so", folder);
    FILE *file = fopen(hidden, "w");
    assert_non_null(file);
    fputs("not a library\n", file);
    fclose(file);
    /* A copy, not a link: ubench would look beside the real file too. */
    char command[3 * PATH_MAX];
    snprintf(command, sizeof command, "cp -L '%s' '%s'", strchr(line, '/'), link);
    assert_int_equal(system(command), 0);
    ask_again("UBENCH_CUPTI", link, "LD_LIBRARY_PATH", folder, &answer);
    unlink(link);
    unlink(hidden);
    rmdir(folder);
    expect_refusal(&answer, "libnvperf_host.so");
    expect_refusal(&answer, "beside libcupti.so");
    expect_refusal(&answer, folder);
}

/* Without the library the table still answers, without passes. */
static void table_without_library(void **state)
{
    struct answer answer;
    (void)state;
    ask_again("UBENCH_CUPTI", "/nowhere/libcupti.so.13", "UB_PROBE_TABLE", "1", &answer);
    assert_int_equal(answer.exit_code, 0);
    assert_string_equal(answer.text, "smsp__sass_l1tex_tags_mem_global.sum 0\n");
}

static int probe_table(void)
{
    struct ub_counter_on_chip on_chip;
    const char *const *chips;
    if (ub_counters.chips(&chips) < 20 || !ub_counters.on_chip("GH100", "global_lines", &on_chip, NULL))
        return 1;
    printf("%s %d\n", on_chip.raw, on_chip.passes);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_on_every_chip), cmocka_unit_test(sets_on_every_chip),
        cmocka_unit_test(wrong_names_are_named),   cmocka_unit_test(a_wrong_name_leaves_no_trace),
        cmocka_unit_test(refused_files),           cmocka_unit_test(hidden_companion),
        cmocka_unit_test(table_without_library),
    };
    if (argc == 2 && strcmp(argv[1], "probe") == 0)
        return getenv("UB_PROBE_TABLE") ? probe_table() : probe();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
