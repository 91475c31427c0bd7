/* SPDX-License-Identifier: MIT */
#include "report/palette.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "plots/templates.h"

static const char *style_text(void)
{
    for (const struct ub_template *file = ub_templates; file->name; file++)
        if (strcmp(file->name, "style.gp") == 0)
            return file->text;
    return "";
}

static struct ub_colour *colour_of(struct ub_palette *palette, const char *name, size_t length)
{
    for (size_t i = 0; i < palette->count; i++)
        if (strlen(palette->colours[i].name) == length && memcmp(palette->colours[i].name, name, length) == 0)
            return &palette->colours[i];
    if (palette->count == UB_PALETTE_COLOURS || length >= sizeof palette->colours[0].name)
        return NULL;
    struct ub_colour *colour = &palette->colours[palette->count++];
    *colour = (struct ub_colour){0};
    memcpy(colour->name, name, length);
    return colour;
}

/* Takes each c_NAME="#RRGGBB" from `text` up to `end`. */
static void take(struct ub_palette *palette, const char *text, const char *end, bool dark)
{
    static const char sign[] = "=\"#";
    for (const char *at = text; at < end && (at = strstr(at, "c_")) != NULL && at < end;) {
        at += strlen("c_");
        const size_t length = strcspn(at, "= \n");
        if (strncmp(at + length, sign, strlen(sign)) != 0)
            continue;
        struct ub_colour *colour = colour_of(palette, at, length);
        const uint32_t rgb = (uint32_t)strtoul(at + length + strlen(sign), NULL, 16);
        if (colour && dark)
            colour->dark = rgb;
        else if (colour)
            colour->light = rgb;
    }
}

void ub_palette_load(struct ub_palette *out)
{
    *out = (struct ub_palette){0};
    const char *dark = strstr(style_text(), "if (DARK) {");
    const char *light = dark ? strstr(dark, "} else {") : NULL;
    const char *end = light ? strstr(light + 1, "\n}") : NULL;
    if (!end)
        return;
    take(out, dark, light, true);
    take(out, light, end, false);
}

const struct ub_colour *ub_palette_find(const struct ub_palette *palette, uint32_t rgb)
{
    for (size_t i = 0; i < palette->count; i++)
        if (palette->colours[i].light == rgb)
            return &palette->colours[i];
    return NULL;
}
