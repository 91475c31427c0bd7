/* SPDX-License-Identifier: MIT
 *
 * Runs gnuplot, never through a shell, and believes its picture only when all is
 * well: exit status 0, nothing on its standard error, a file that begins and ends as
 * its format does. A failing gnuplot leaves broken files behind. It
 * has a process group of its own, which is stopped with it. */
#ifndef UB_PLOTS_GNUPLOT_H
#define UB_PLOTS_GNUPLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/contract/error.h"

enum { UB_GNUPLOT_TIMEOUT_MS = 30000 };

struct ub_term {
    const char *name;     /* "png" */
    const char *ending;   /* ".png" */
    const char *terminal; /* gnuplot's: "pngcairo" */
    const char *package;  /* what brings it */
};

/* By name or, where that is NULL, by the ending of `path`; UB_USAGE with what there is. */
const struct ub_term *ub_term_find(const char *name, const char *path, struct ub_error *err);

/* Runs `gnuplot -d script` and checks the picture. UB_MISSING_PROGRAM, UB_CANNOT_WRITE. */
bool ub_gnuplot_draw(const char *script, const char *picture, const struct ub_term *term, int timeout_ms,
                     struct ub_error *err);

#endif
