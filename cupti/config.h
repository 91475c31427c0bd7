/* SPDX-License-Identifier: MIT
 *
 * The Host API: which metrics a chip has, how many passes they take, and the
 * config image that a session needs. Works without a GPU. A wrong name spoils a
 * host object for good (every later call on it answers UNKNOWN), so names are
 * asked for one by one first, then all good ones are added in one call: four
 * single calls would cost four passes where one call costs two. A host object
 * takes about 0.1 s for the first of a chip and 1 ms afterwards, since CUPTI
 * keeps its tables; so none is kept here. */
#ifndef UB_CUPTI_CONFIG_H
#define UB_CUPTI_CONFIG_H

#include "cupti/library.h"
#include "harness/contract/counters.h"

/* The chip as the Host API sees it. `availability` is the image of the GPU that
 * is there (what its driver and permissions give), NULL: the chip in general. */
struct ub_cupti_chip {
    const struct ub_cupti *cupti;
    const char *name; /* "GH100" */
    const uint8_t *availability;
};

struct ub_cupti_config {
    const struct ub_cupti *cupti;
    CUpti_Profiler_Host_Object *host;
    uint8_t *image; /* owned */
    size_t size_bytes;
    int passes;
};

/* Fails with UB_NO_COUNTERS. `names` must be those of ub_cupti_on_chip(); `config`
 * is to be closed either way. */
bool ub_cupti_config_open(struct ub_cupti_config *config, const struct ub_cupti_chip *chip, size_t count,
                          const char **names, struct ub_error *err);
void ub_cupti_config_close(struct ub_cupti_config *config);

/* What `name` (a key or a raw metric name) is on the chip: by the table, then by
 * CUPTI, which adds the passes of the metric alone. Where there is none, raw is
 * NULL and the reason (static text) is given. Fails with UB_USAGE where `name` is
 * neither, and with UB_NO_COUNTERS where the chip itself is unknown. */
bool ub_cupti_on_chip(const struct ub_cupti_chip *chip, const char *name, struct ub_counter_on_chip *out,
                      struct ub_error *err);

#endif
