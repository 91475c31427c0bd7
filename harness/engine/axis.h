/* SPDX-License-Identifier: MIT
 *
 * Ranges of axis values as text (DESIGN section 5):
 *   axis = item *( "," item )    item = value [ ".." value [ step ] ]
 *   step = ":" value (add) | "*" value or ":x" value (multiply)
 *   value = integer with optional Ki Mi Gi or k M G, or a word of the axis
 * Ends are inclusive, the upper one only if a step lands on it; `32..1` counts
 * down; duplicates are removed, order is kept; "all" (words), "min", "max". */
#ifndef UB_ENGINE_AXIS_H
#define UB_ENGINE_AXIS_H

#include "harness/contract/micro.h"

struct ub_values {
    size_t count;
    int64_t *values; /* owned */
};

/* Fails with UB_USAGE; the text shows the spec with a caret under the place, what
 * is allowed there, and a suggestion for a misspelt word. */
bool ub_axis_parse(const struct ub_axis *axis, const char *spec, struct ub_values *out, struct ub_error *err);
void ub_values_free(struct ub_values *values);

/* The text of one value: "8", "auto", "load". Returns text. */
const char *ub_axis_text(const struct ub_axis *axis, int64_t value, char *text, size_t size);

/* Index of the axis in the rule, or -1. */
int ub_axis_index(const struct ub_micro *micro, const char *name);

/* The nearest of `candidates` by edit distance if it is near enough to be meant, else NULL. */
const char *ub_suggest(const char *word, size_t count, const char *const *candidates);

#endif
