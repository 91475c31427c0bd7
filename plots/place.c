/* SPDX-License-Identifier: MIT */
#include "plots/place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Steps of the search; finer ones look no better. */
enum { STEP_X_PX = 4, STEP_Y_PX = 3 };

bool ub_place_init(struct ub_place *place, double left, double top, double width, double height)
{
    *place = (struct ub_place){.left = left, .top = top, .width = width, .height = height};
    place->columns = (size_t)(width / UB_CELL_PX) + 1;
    place->rows = (size_t)(height / UB_CELL_PX) + 1;
    place->taken = calloc(place->columns * place->rows, 1);
    return place->taken != NULL;
}

bool ub_place_copy(const struct ub_place *place, struct ub_place *out)
{
    if (!ub_place_init(out, place->left, place->top, place->width, place->height))
        return false;
    memcpy(out->taken, place->taken, place->columns * place->rows);
    return true;
}

void ub_place_free(struct ub_place *place)
{
    free(place->taken);
    place->taken = NULL;
}

static size_t cell(double px, double origin, size_t count)
{
    const double index = (px - origin) / UB_CELL_PX;
    return index < 0 ? 0 : index >= (double)count ? count - 1 : (size_t)index;
}

void ub_place_box(struct ub_place *place, double left, double top, double width, double height)
{
    if (left > place->left + place->width || left + width < place->left || top > place->top + place->height ||
        top + height < place->top)
        return;
    const size_t first = cell(left, place->left, place->columns),
                 last = cell(left + width, place->left, place->columns);
    const size_t bottom = cell(top + height, place->top, place->rows);
    for (size_t row = cell(top, place->top, place->rows); row <= bottom; row++)
        memset(place->taken + row * place->columns + first, 1, last - first + 1);
}

void ub_place_line(struct ub_place *place, struct ub_spot from, struct ub_spot to)
{
    const double length = hypot(to.x - from.x, to.y - from.y);
    const int steps = (int)(length / UB_CELL_PX) + 1;
    for (int i = 0; i <= steps; i++) {
        const double t = (double)i / steps;
        ub_place_box(place, from.x + (to.x - from.x) * t - 1, from.y + (to.y - from.y) * t - 1, 2, 2);
    }
}

static bool is_free(const struct ub_place *place, double left, double top, double width, double height)
{
    const size_t first = cell(left, place->left, place->columns),
                 last = cell(left + width, place->left, place->columns);
    const size_t bottom = cell(top + height, place->top, place->rows);
    for (size_t row = cell(top, place->top, place->rows); row <= bottom; row++)
        if (memchr(place->taken + row * place->columns + first, 1, last - first + 1))
            return false;
    return true;
}

static double clamp(double value, double lo, double hi)
{
    return value < lo ? lo : value > hi ? hi : value;
}

/* Distance from a box to the nearest place on a path, both as spots and along the lines
 * between them (sampled: the nearest spot of each straight piece to the box's centre). */
static double distance(double left, double top, double width, double height, const struct ub_path *path)
{
    double nearest = INFINITY;
    const double centre_x = left + width / 2, centre_y = top + height / 2;
    for (size_t i = 0; i < path->count; i++) {
        if (isnan(path->spots[i].x))
            continue;
        const size_t next = path->joined && i + 1 < path->count && !isnan(path->spots[i + 1].x) ? i + 1 : i;
        const struct ub_spot a = path->spots[i], b = path->spots[next];
        const double dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
        const double t = square > 0 ? clamp(((centre_x - a.x) * dx + (centre_y - a.y) * dy) / square, 0, 1) : 0;
        const struct ub_spot spots[] = {a, {a.x + dx * t, a.y + dy * t}};
        for (size_t s = 0; s < 2; s++) {
            const double off_x = spots[s].x - clamp(spots[s].x, left, left + width);
            const double off_y = spots[s].y - clamp(spots[s].y, top, top + height);
            const double away = off_x * off_x + off_y * off_y;
            nearest = away < nearest ? away : nearest;
        }
    }
    return sqrt(nearest);
}

static bool is_nearest(double left, double top, double width, double height, double own, size_t other_count,
                       const struct ub_path *others)
{
    for (size_t i = 0; i < other_count; i++)
        if (distance(left, top, width, height, &others[i]) < own + 4)
            return false;
    return true;
}

bool ub_place_near(const struct ub_place *place, double width, double height, double reach, const struct ub_path *own,
                   size_t other_count, const struct ub_path *others, struct ub_spot *corner)
{
    double best = reach;
    bool found = false;
    for (double y = place->top + 3; y + height + 3 <= place->top + place->height; y += STEP_Y_PX)
        for (double x = place->left + 5; x + width + 5 <= place->left + place->width; x += STEP_X_PX) {
            if (!is_free(place, x - 3, y - 2, width + 6, height + 4))
                continue;
            const double gap = distance(x, y, width, height, own);
            if (gap > best || !is_nearest(x, y, width, height, gap, other_count, others))
                continue;
            best = gap;
            found = true;
            *corner = (struct ub_spot){x, y};
        }
    return found;
}

/* y of a path at x, straight between its spots; NaN outside. */
static double height_at(const struct ub_path *path, double x)
{
    for (size_t i = 0; i + 1 < path->count; i++) {
        const struct ub_spot a = path->spots[i], b = path->spots[i + 1];
        if (x >= a.x && x <= b.x)
            return b.x > a.x ? a.y + (b.y - a.y) * (x - a.x) / (b.x - a.x) : a.y;
    }
    return NAN;
}

bool ub_place_between(const struct ub_place *place, double width, double height, const struct ub_path *upper,
                      const struct ub_path *lower, struct ub_spot *corner)
{
    double best = 0;
    for (double y = place->top + 3; y + height + 3 <= place->top + place->height; y += STEP_Y_PX)
        for (double x = place->left + 5; x + width + 5 <= place->left + place->width; x += STEP_X_PX) {
            double room = INFINITY;
            for (int i = 0; i <= 8; i++) {
                const double at = x + width * i / 8;
                const double over = y - height_at(upper, at), under = height_at(lower, at) - y - height;
                room = isnan(over) || isnan(under) ? -1 : fmin(room, fmin(over, under));
            }
            if (room > best && is_free(place, x - 2, y - 2, width + 4, height + 4)) {
                best = room;
                *corner = (struct ub_spot){x, y};
            }
        }
    return best > 0;
}
