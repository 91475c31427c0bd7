/* SPDX-License-Identifier: MIT
 *
 * The colours of charts, light and dark, as plots/style.gp names them: a page that draws
 * a chart with names instead of colours follows the reader's choice. */
#ifndef UB_REPORT_PALETTE_H
#define UB_REPORT_PALETTE_H

#include <stddef.h>
#include <stdint.h>

enum { UB_PALETTE_COLOURS = 24 };

struct ub_colour {
    char name[16];        /* "law" of c_law */
    uint32_t light, dark; /* 0xRRGGBB */
};

struct ub_palette {
    size_t count;
    struct ub_colour colours[UB_PALETTE_COLOURS];
};

/* Reads the embedded style.gp. */
void ub_palette_load(struct ub_palette *out);

/* The first colour that is light where `rgb` is; NULL: not one of the palette. */
const struct ub_colour *ub_palette_find(const struct ub_palette *palette, uint32_t rgb);

#endif
