/* SPDX-License-Identifier: MIT
 *
 * contact_sheet OUT.svg CHART.svg...: all charts small, on one sheet, each under its file's
 * name. For the gallery of reports/ (reports/gallery.sh). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/html.h"
#include "report/svg.h"

enum { ACROSS = 3, CELL_PX = 420, GAP_PX = 20, NAME_PX = 22 };

struct chart {
    const char *path;
    char *svg; /* owned */
    double height_px;
};

/* The whole file as text; NULL: unreadable. */
static char *load(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "rb"), *memory = file ? open_memstream(&text, &size) : NULL;
    char bytes[4096];
    for (size_t got; memory && (got = fread(bytes, 1, sizeof bytes, file)) > 0;)
        fwrite(bytes, 1, got, memory);
    if (file)
        fclose(file);
    return memory && fclose(memory) == 0 ? text : NULL;
}

static bool read_chart(struct chart *chart)
{
    double width = 0, height = 0;
    chart->svg = load(chart->path);
    if (!chart->svg || !ub_svg_size(chart->svg, &width, &height)) {
        fprintf(stderr, "contact_sheet: %s is no chart\n", chart->path);
        return false;
    }
    chart->height_px = CELL_PX * height / width;
    return true;
}

static double row_height(const struct chart *charts, size_t count, size_t first)
{
    double height = 0;
    for (size_t i = first; i < count && i < first + ACROSS; i++)
        height = charts[i].height_px > height ? charts[i].height_px : height;
    return height + NAME_PX + GAP_PX;
}

static bool write_chart(FILE *out, const struct ub_palette *palette, const struct chart *chart, double x, double y)
{
    const char *slash = strrchr(chart->path, '/');
    const struct ub_svg_frame frame = {
        .nested = true, .literal_colours = true, .x = x, .y = y + NAME_PX, .width = CELL_PX};
    struct ub_error err = {.text = ""};
    fprintf(out, "<text x=\"%g\" y=\"%g\" fill=\"#6B7075\" font-size=\"13\">", x + 4, y + NAME_PX - 7);
    ub_html(out, "%s</text>\n", slash ? slash + 1 : chart->path);
    if (ub_svg_write(out, chart->svg, palette, &frame, &err))
        return true;
    fprintf(stderr, "contact_sheet: %s: %s\n", chart->path, err.text);
    return false;
}

static bool write_sheet(FILE *out, const struct chart *charts, size_t count)
{
    const double width = ACROSS * CELL_PX + (ACROSS + 1) * GAP_PX;
    double height = GAP_PX;
    struct ub_palette palette;
    ub_palette_load(&palette);
    for (size_t i = 0; i < count; i += ACROSS)
        height += row_height(charts, count, i);
    fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" height=\"%g\" ", width,
            height, width, height);
    fputs("font-family=\"DejaVu Sans,Verdana,sans-serif\">\n<path fill=\"#FFFFFF\" d=\"M0 0h100000v100000H0z\"/>\n",
          out);
    double y = GAP_PX;
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        good = write_chart(out, &palette, &charts[i], GAP_PX + (double)(i % ACROSS) * (CELL_PX + GAP_PX), y) && good;
        if (i % ACROSS == ACROSS - 1)
            y += row_height(charts, count, i - i % ACROSS);
    }
    fputs("</svg>\n", out);
    return good && !ferror(out);
}

int main(int argc, char **argv)
{
    const size_t count = argc > 2 ? (size_t)argc - 2 : 0;
    struct chart *charts = calloc(count + 1, sizeof *charts);
    if (count == 0 || !charts) {
        fputs("usage: contact_sheet OUT.svg CHART.svg...\n", stderr);
        return 2;
    }
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        charts[i].path = argv[i + 2];
        good = read_chart(&charts[i]);
    }
    FILE *out = good ? fopen(argv[1], "w") : NULL;
    good = out && write_sheet(out, charts, count);
    if (out && fclose(out) != 0)
        good = false;
    if (!good)
        fprintf(stderr, "contact_sheet: %s was not written\n", argv[1]);
    for (size_t i = 0; i < count; i++)
        free(charts[i].svg);
    free(charts);
    return good ? 0 : 1;
}
