/* SPDX-License-Identifier: MIT
 *
 * The gnuplot templates of this folder, embedded in the binary by cmake/Embed.cmake. */
#ifndef UB_PLOTS_TEMPLATES_H
#define UB_PLOTS_TEMPLATES_H

#include <stddef.h>

struct ub_template {
    const char *name; /* "style.gp" */
    const char *text; /* NUL-terminated */
    size_t size;
};

extern const struct ub_template ub_templates[]; /* ended by a NULL name */

#endif
