/* SPDX-License-Identifier: MIT
 *
 * The contract of a counter provider: reads hardware counters by key. cupti/
 * defines `ub_counters` (over CUPTI, or as "none" where its headers are
 * missing); tests define a fake. Only the counter worker opens a session, in a
 * process of its own, after all timing.
 *
 * A key ("global_load_sectors") or a raw metric name
 * ("smsp__inst_executed.sum") may stand wherever `key` does. */
#ifndef UB_CONTRACT_COUNTERS_H
#define UB_CONTRACT_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/contract/error.h"

struct ub_counter_key {
    const char *key;     /* "global_load_sectors" */
    const char *unit;    /* "sector" */
    const char *meaning; /* one line */
    const char *nvprof;  /* the old nvprof name, or NULL */
    bool exact;          /* an integer that the machine code determines */
};

/* What one key is on one chip; strings live as long as the program. */
struct ub_counter_on_chip {
    const char *raw;    /* raw metric name, or NULL: the chip has none */
    int passes;         /* passes of this metric alone; 0: not known (no CUPTI) */
    const char *reason; /* why there is none, or NULL */
};

struct ub_counter_value {
    bool known;
    uint64_t value;   /* rounded from the double that CUPTI gives; exact below 2^53 */
    char reason[256]; /* why not known: a sentence with the fix */
};

struct ub_counter_session; /* the provider's */

struct ub_counter_setup {
    int device;    /* CUDA driver ordinal; its primary context is current */
    void *context; /* CUcontext */
    size_t key_count;
    const char *const *keys;
    size_t range_count; /* ranges of one session, at most */
};

/* Runs the launch of range `range` once and waits for it. False: stop. */
typedef bool (*ub_counter_run)(void *user, size_t range, struct ub_error *err);

struct ub_counter_provider {
    const char *name; /* "cupti", "none", "fake" */

    /* Without a GPU: the table of keys, the chips the library knows, and what a
     * key is on a chip ("GH100"). `library` fills a line such as
     * "CUPTI 13.0 (API 130001), /usr/.../libcupti.so.13", false with the reason
     * and the fix where it cannot be loaded. */
    size_t key_count;
    const struct ub_counter_key *keys;
    bool (*library)(char *text, size_t size, struct ub_error *err);
    size_t (*chips)(const char *const **names);
    bool (*on_chip)(const char *chip, const char *key, struct ub_counter_on_chip *out, struct ub_error *err);
    /* Passes that all `keys` together need on a chip, in one session. */
    bool (*passes)(const char *chip, size_t key_count, const char *const *keys, int *passes, struct ub_error *err);

    /* With a GPU: false with one sentence and the fix where counters cannot be
     * read here (permission, DCGM, MIG ...); also used by `ubench doctor`. */
    bool (*probe)(int device, void *context, char *chip, size_t chip_size, struct ub_error *err);
    /* Keys that the chip lacks do not fail the session: collect() says why for each. */
    bool (*open)(struct ub_counter_session **session, const struct ub_counter_setup *setup, struct ub_error *err);
    int (*session_passes)(const struct ub_counter_session *session);
    /* Raw name of key number `key`, or NULL. */
    const char *(*session_raw)(const struct ub_counter_session *session, size_t key);
    /* Runs all ranges as often as there are passes; values[range * key_count + key]. */
    bool (*collect)(struct ub_counter_session *session, size_t range_count, ub_counter_run run, void *user,
                    struct ub_counter_value *values, struct ub_error *err);
    void (*close)(struct ub_counter_session *session);
};

extern const struct ub_counter_provider ub_counters;

#endif
