/* SPDX-License-Identifier: MIT */
#include "cupti/metrics.h"

#include <string.h>

#define CONTRACT_ROW(key, raw, unit, class, nvprof, meaning) {key, unit, meaning, nvprof, class != UB_ESTIMATE},
const struct ub_counter_key ub_metric_keys[UB_METRIC_COUNT] = {UB_METRIC_KEYS(CONTRACT_ROW)};

#define RAW_ROW(key, raw, unit, class, nvprof, meaning) raw,
static const char *const raw_names[UB_METRIC_COUNT] = {UB_METRIC_KEYS(RAW_ROW)};

#define CLASS_ROW(key, raw, unit, class, nvprof, meaning) class,
static const enum ub_counter_class classes[UB_METRIC_COUNT] = {UB_METRIC_KEYS(CLASS_ROW)};

/* Where a chip differs from keys.h: the longest prefix that fits decides. A NULL
 * key stands for all of them, a NULL raw name for "this chip has none". */
struct difference {
    const char *key, *chip_prefix, *raw, *reason;
};

#define NO_DRAM  "this chip shares the memory of its CPU and has no counter of DRAM bytes"
#define NO_GMMA  "only Hopper (GH100) counts waits for warpgroup matrix instructions"
#define NO_IMC   "Blackwell does not tell misses of the constant cache apart"
#define NO_LDSM  "matrix loads (ldmatrix) exist from Turing on"
#define NO_WGMMA "matrix instructions of a warpgroup (wgmma) exist on Hopper (GH100) only"
#define NO_CPA   "asynchronous copies (cp.async) exist from Ampere on"
#define NO_TMA   "bulk copies (TMA) exist from Hopper on"

static const struct difference differences[] = {
    {NULL, "GV11B", NULL, "CUPTI has no range profiler for Xavier (GV11B)"},
    {"dram_read_bytes", "GB20", "dram__bytes_op_read.sum", NULL},
    {"dram_write_bytes", "GB20", "dram__bytes_op_write.sum", NULL},
    {"dram_read_bytes", "GA10B", NULL, NO_DRAM},
    {"dram_write_bytes", "GA10B", NULL, NO_DRAM},
    {"dram_read_bytes", "GB10B", NULL, NO_DRAM},
    {"dram_write_bytes", "GB10B", NULL, NO_DRAM},
    {"dram_read_bytes", "GB20B", NULL, NO_DRAM},
    {"dram_write_bytes", "GB20B", NULL, NO_DRAM},
    {"dram_read_bytes", "GB20C", NULL, NO_DRAM},
    {"dram_write_bytes", "GB20C", NULL, NO_DRAM},
    {"stall_gmma", "", NULL, NO_GMMA},
    {"stall_gmma", "GH100", "smsp__warps_issue_stalled_gmma.sum", NULL},
    {"stall_imc_miss", "GB", NULL, NO_IMC},
    {"global_async_copies", "GV", NULL, NO_CPA},
    {"global_async_copies", "TU", NULL, NO_CPA},
    {"async_copy_sectors", "GV", NULL, NO_CPA},
    {"async_copy_sectors", "TU", NULL, NO_CPA},
    {"async_copy_wavefronts", "GV", NULL, NO_CPA},
    {"async_copy_wavefronts", "TU", NULL, NO_CPA},
    {"matrix_instructions", "GB", "smsp__inst_executed_pipe_tensor_subpipe_hmma.sum", NULL},
    {"warpgroup_matrix_instructions", "", NULL, NO_WGMMA},
    {"warpgroup_matrix_instructions", "GH100", "smsp__sass_inst_executed_op_shared_gmma.sum", NULL},
    {"bulk_copies", "GV", NULL, NO_TMA},
    {"bulk_copies", "TU", NULL, NO_TMA},
    {"bulk_copies", "GA", NULL, NO_TMA},
    {"bulk_copies", "AD", NULL, NO_TMA},
    {"bulk_copy_bytes", "GV", NULL, NO_TMA},
    {"bulk_copy_bytes", "TU", NULL, NO_TMA},
    {"bulk_copy_bytes", "GA", NULL, NO_TMA},
    {"bulk_copy_bytes", "AD", NULL, NO_TMA},
    {"matrix_load_requests", "GV", NULL, NO_LDSM},
    {"matrix_load_wavefronts", "GV", NULL, NO_LDSM},
    {"matrix_load_bytes", "GV", NULL, NO_LDSM},
};

/* As CUPTI 13.0 lists them, and GB112 and GB20C of 13.1. */
static const char *const chips[] = {
    "GV100", "GV11B", "TU102", "TU104", "TU106", "TU116", "TU117", "GA100", "GA102", "GA103", "GA104",
    "GA106", "GA107", "GA10B", "GH100", "AD102", "AD103", "AD104", "AD106", "AD107", "GB100", "GB102",
    "GB110", "GB112", "GB10B", "GB202", "GB203", "GB205", "GB206", "GB207", "GB20B", "GB20C",
};

int ub_metric_index(const char *key)
{
    for (int i = 0; i < UB_METRIC_COUNT; i++)
        if (strcmp(ub_metric_keys[i].key, key) == 0)
            return i;
    return -1;
}

enum ub_counter_class ub_metric_class(size_t index)
{
    return classes[index];
}

bool ub_metric_is_raw(const char *name)
{
    const char *quantity = strstr(name, "__");
    return quantity && quantity != name && strchr(quantity, '.');
}

/* Which rollups are integers: sums and extremes of counts. Averages, rates and
 * shares would have to be rounded, and a rounded ratio proves nothing. */
static bool is_integer(const char *raw)
{
    static const char *const rollups[] = {".sum", ".min", ".max"};
    const size_t length = strlen(raw);
    for (size_t i = 0; i < sizeof rollups / sizeof rollups[0]; i++)
        if (length > 4 && strcmp(raw + length - 4, rollups[i]) == 0)
            return true;
    return false;
}

static const struct difference *difference_of(const char *chip, const char *key)
{
    const struct difference *best = NULL;
    for (size_t i = 0; i < sizeof differences / sizeof differences[0]; i++) {
        const struct difference *row = &differences[i];
        const size_t length = strlen(row->chip_prefix);
        const bool fits = strncmp(chip, row->chip_prefix, length) == 0 && (!row->key || strcmp(row->key, key) == 0);
        if (fits && (!best || length > strlen(best->chip_prefix)))
            best = row;
    }
    return best;
}

static void raw_on_chip(const char *raw, struct ub_counter_on_chip *out)
{
    if (strstr(raw, "Triage"))
        out->reason = "metrics named Triage belong to PM sampling; the range profiler cannot read them";
    else if (!is_integer(raw))
        out->reason = "not an integer: take the .sum of its parts and divide";
    else
        out->raw = raw;
}

bool ub_metric_on_chip(const char *chip, const char *name, struct ub_counter_on_chip *out, struct ub_error *err)
{
    *out = (struct ub_counter_on_chip){0};
    const struct difference *difference = difference_of(chip, name);
    const int index = ub_metric_index(name);
    if (index < 0 && !ub_metric_is_raw(name))
        return ub_fail(err, UB_USAGE,
                       "\"%s\" is no counter: neither a key (`ubench metrics` lists them) nor a raw metric name "
                       "such as smsp__inst_executed.sum",
                       name);
    if (difference) {
        out->raw = difference->raw;
        out->reason = difference->reason;
    } else if (index < 0) {
        raw_on_chip(name, out);
    } else {
        out->raw = raw_names[index];
    }
    return true;
}

const char *ub_metric_general_name(const char *key)
{
    const int index = ub_metric_index(key);
    return index < 0 ? NULL : raw_names[index];
}

size_t ub_metric_chips(const char *const **names)
{
    *names = chips;
    return sizeof chips / sizeof chips[0];
}
