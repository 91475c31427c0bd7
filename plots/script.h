/* SPDX-License-Identifier: MIT
 *
 * A figure and its layout as a complete gnuplot script: it needs no other file.
 * Text from outside stands only in single quotes, numbers only in datablocks. */
#ifndef UB_PLOTS_SCRIPT_H
#define UB_PLOTS_SCRIPT_H

#include <stdio.h>

#include "plots/layout.h"

/* Writes one of the embedded templates. */
bool ub_script_template(FILE *stream, const char *name, struct ub_error *err);

/* How every script begins: what it is, the variables of style.gp. */
void ub_script_head(FILE *stream, const char *terminal, bool dark, double width, double height, const char *output);

/* `terminal`: gnuplot's name. `output` must not begin with '|'. */
bool ub_script_write(FILE *stream, const struct ub_figure *figure, const struct ub_layout *layout, const char *terminal,
                     bool dark, const char *output, struct ub_error *err);

/* The reduced chart of a terminal of `columns`; `utf8`: it shows more than ASCII. */
bool ub_script_write_dumb(FILE *stream, const struct ub_figure *figure, int columns, bool utf8, const char *output,
                          struct ub_error *err);

#endif
