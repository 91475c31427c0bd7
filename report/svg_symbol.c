/* SPDX-License-Identifier: MIT */
#include "report/svg_symbol.h"

#include <math.h>
#include <stdlib.h>

/* A spot in tenths of a px. */
struct tenths {
    long x, y;
};

static struct tenths rounded(struct ub_svg_spot spot)
{
    return (struct tenths){lround(spot.x * 10), lround(spot.y * 10)};
}

static void write_number(FILE *out, long tenths, bool separated)
{
    const long size = labs(tenths);
    if (tenths < 0)
        fputc('-', out);
    else if (separated)
        fputc(' ', out);
    fprintf(out, "%ld", size / 10);
    if (size % 10)
        fprintf(out, ".%ld", size % 10);
}

/* Distance of a spot from the straight line between two others. */
static double off_line(struct ub_svg_spot spot, struct ub_svg_spot from, struct ub_svg_spot to)
{
    const double dx = to.x - from.x, dy = to.y - from.y, square = dx * dx + dy * dy;
    double t = square > 0 ? ((spot.x - from.x) * dx + (spot.y - from.y) * dy) / square : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypot(from.x + t * dx - spot.x, from.y + t * dy - spot.y);
}

/* The farthest spot to which a straight line from `first` leaves out nothing that shows. */
static size_t reach(const struct ub_svg_spot *spots, size_t count, size_t first)
{
    static const double visible_px = 0.12;
    enum { FARTHEST = 200 };
    size_t last = first + 1;
    while (last + 1 < count && last - first < FARTHEST) {
        for (size_t i = first + 1; i <= last; i++)
            if (off_line(spots[i], spots[first], spots[last + 1]) > visible_px)
                return last;
        last++;
    }
    return last;
}

void ub_svg_line(FILE *out, const struct ub_svg_spot *spots, size_t count, bool closed)
{
    if (count == 0)
        return;
    struct tenths at = rounded(spots[0]);
    fputc('M', out);
    write_number(out, at.x, false);
    write_number(out, at.y, true);
    bool begun = false;
    for (size_t i = 0; i + 1 < count;) {
        i = reach(spots, count, i);
        const struct tenths next = rounded(spots[i]);
        if (next.x == at.x && next.y == at.y)
            continue;
        if (!begun)
            fputc('l', out);
        write_number(out, next.x - at.x, begun);
        write_number(out, next.y - at.y, true);
        at = next;
        begun = true;
    }
    if (!begun)
        fputs("h0", out);
    if (closed)
        fputc('z', out);
}

/* ---- symbols --------------------------------------------------------------------- */

/* Unit outlines; lines of two spots where `open`. */
struct outline {
    bool open;
    size_t count;
    struct ub_svg_spot spots[8];
};

enum outline_kind { PLUS, CROSS, STAR, SQUARE, CIRCLE, UP, DOWN, DIAMOND, PENTAGON };

static const struct outline outlines[] = {
    [PLUS] = {true, 4, {{-1, 0}, {1, 0}, {0, -1}, {0, 1}}},
    [CROSS] = {true, 4, {{-1, -1}, {1, 1}, {1, -1}, {-1, 1}}},
    [STAR] = {true, 8, {{-1, 0}, {1, 0}, {0, -1}, {0, 1}, {-1, -1}, {1, 1}, {-1, 1}, {1, -1}}},
    [SQUARE] = {false, 4, {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}},
    [UP] = {false, 3, {{0, -1.33}, {-1.33, 0.67}, {1.33, 0.67}}},
    [DOWN] = {false, 3, {{0, 1.33}, {1.33, -0.67}, {-1.33, -0.67}}},
    [DIAMOND] = {false, 4, {{0, -1.41}, {1.41, 0}, {0, 1.41}, {-1.41, 0}}},
    [PENTAGON] = {false, 5, {{0, 1.33}, {1.265, 0.411}, {0.782, -1.067}, {-0.782, -1.076}, {-1.265, 0.411}}},
};

/* By the number in gnuplot's "gpPt6". */
static const struct symbol {
    enum outline_kind kind;
    enum ub_svg_fill fill;
} symbols[] = {
    {PLUS, UB_SVG_STROKED},   {CROSS, UB_SVG_STROKED},    {STAR, UB_SVG_STROKED},    {SQUARE, UB_SVG_STROKED},
    {SQUARE, UB_SVG_FILLED},  {CIRCLE, UB_SVG_STROKED},   {CIRCLE, UB_SVG_DOT},      {UP, UB_SVG_STROKED},
    {UP, UB_SVG_FILLED},      {DOWN, UB_SVG_STROKED},     {DOWN, UB_SVG_FILLED},     {DIAMOND, UB_SVG_STROKED},
    {DIAMOND, UB_SVG_FILLED}, {PENTAGON, UB_SVG_STROKED}, {PENTAGON, UB_SVG_FILLED},
};
enum { SYMBOLS = sizeof symbols / sizeof symbols[0] };

bool ub_svg_symbol_fill(int number, enum ub_svg_fill *fill)
{
    if (number < 0 || number >= SYMBOLS)
        return false;
    *fill = symbols[number].fill;
    return true;
}

static void write_circle(FILE *out, double x, double y, double radius)
{
    const long r = lround(radius * 10);
    const struct tenths left = rounded((struct ub_svg_spot){x - radius, y});
    fputc('M', out);
    write_number(out, left.x, false);
    write_number(out, left.y, true);
    for (int half = 0; half < 2; half++) {
        fputc('a', out);
        write_number(out, r, false);
        write_number(out, r, true);
        fputs(" 0 1 0", out);
        write_number(out, half ? -2 * r : 2 * r, true);
        fputs(" 0", out);
    }
}

void ub_svg_symbol(FILE *out, int number, double x, double y, double scale)
{
    const struct symbol *symbol = &symbols[number];
    const struct outline *outline = &outlines[symbol->kind];
    struct ub_svg_spot spots[8];
    if (symbol->fill == UB_SVG_DOT)
        ub_svg_line(out, &(struct ub_svg_spot){x, y}, 1, false);
    else if (symbol->kind == CIRCLE)
        write_circle(out, x, y, scale);
    for (size_t i = 0; i < outline->count; i++)
        spots[i] = (struct ub_svg_spot){x + scale * outline->spots[i].x, y + scale * outline->spots[i].y};
    if (!outline->open)
        ub_svg_line(out, spots, outline->count, outline->count > 0);
    for (size_t i = 0; outline->open && i < outline->count; i += 2)
        ub_svg_line(out, spots + i, 2, false);
}
