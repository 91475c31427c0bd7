/* SPDX-License-Identifier: MIT */
#include "report/svg.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/locale.h"
#include "report/html.h"
#include "report/svg_symbol.h"

enum { DEEPEST = 32, VALUE_BYTES = 160, STYLE_BYTES = 256, LONGEST_PATH = 1 << 16 };

static const double default_font_px = 14.67, default_line_px = 1.2;

/* What a shape or a text is painted with: kept on a stack, as groups nest. */
struct state {
    uint32_t colour;      /* "currentColor" */
    bool stroked, filled; /* by the group, for what says nothing itself */
    uint32_t stroke, fill;
    double width, font_px, x, y, turn;
    bool bold, italic, boxed;
    char anchor[8], dash[48];
};

/* One tag: <name attributes>. */
struct tag {
    const char *name, *attributes, *end; /* `end`: its '>' */
    size_t name_length;
    bool closes, empty; /* </name>, <name/> */
};

struct reader {
    const struct ub_palette *palette;
    const struct ub_svg_frame *frame;
    const char *at;
    double view_width, view_height;
    size_t depth;
    struct state states[DEEPEST];
    FILE *grid, *shapes, *texts;
    char style[STYLE_BYTES]; /* of the path that is open in `shapes`; "": none */
    char last_text[VALUE_BYTES];
    struct ub_error *err;
};

static bool refuse(struct reader *reader, const char *what)
{
    return ub_fail(reader->err, UB_BAD_DATA, "the chart is not what gnuplot's svg terminal writes: %s", what);
}

/* ---- tags ------------------------------------------------------------------------ */

static bool next_tag(struct reader *reader, struct tag *tag)
{
    const char *open = strchr(reader->at, '<'), *end = open ? strchr(open, '>') : NULL;
    if (!end)
        return false;
    *tag = (struct tag){.closes = open[1] == '/', .empty = end[-1] == '/', .end = end};
    tag->name = open + 1 + tag->closes;
    tag->name_length = strcspn(tag->name, " \t\n\r/>");
    tag->attributes = tag->name + tag->name_length;
    reader->at = end + 1;
    return true;
}

static bool is(const struct tag *tag, const char *name)
{
    return strlen(name) == tag->name_length && memcmp(tag->name, name, tag->name_length) == 0;
}

/* Where the value of an attribute begins, and how long it is; NULL: it is not there. */
static const char *find_attribute(const struct tag *tag, const char *name, size_t *length)
{
    const size_t wanted = strlen(name);
    for (const char *at = tag->attributes; at < tag->end; at++) {
        at += strspn(at, " \t\n\r");
        const size_t found = strcspn(at, "= \t\n\r>");
        const char *sign = at + found + strspn(at + found, " \t\n\r");
        if (at >= tag->end || *sign != '=')
            return NULL;
        const char *quote = sign + 1 + strspn(sign + 1, " \t\n\r");
        const char *close = *quote == '"' || *quote == '\'' ? strchr(quote + 1, *quote) : NULL;
        if (!close || close > tag->end)
            return NULL;
        if (found == wanted && memcmp(at, name, wanted) == 0) {
            *length = (size_t)(close - quote - 1);
            return quote + 1;
        }
        at = close;
    }
    return NULL;
}

/* A copy of a short value; "": not there, or too long to be one that we know. */
static const char *attribute(const struct tag *tag, const char *name, char *value, size_t size)
{
    size_t length = 0;
    const char *found = find_attribute(tag, name, &length);
    *value = 0;
    if (found && length < size)
        snprintf(value, size, "%.*s", (int)length, found);
    return value;
}

static double number(const struct tag *tag, const char *name, double otherwise)
{
    char text[VALUE_BYTES], *end = NULL;
    const double value = strtod(attribute(tag, name, text, sizeof text), &end);
    return end != text && isfinite(value) ? value : otherwise;
}

static bool read_colour(const char *text, uint32_t *rgb)
{
    unsigned r, g, b;
    if (sscanf(text, "rgb( %u , %u , %u )", &r, &g, &b) == 3 && r < 256 && g < 256 && b < 256)
        *rgb = r << 16 | g << 8 | b;
    else if (*text == '#' && strlen(text) == 7)
        *rgb = (uint32_t)strtoul(text + 1, NULL, 16);
    else if (strcmp(text, "black") == 0)
        *rgb = 0;
    else
        return false;
    return true;
}

/* Takes "none", "currentColor" or a colour; anything else leaves what was. */
static void read_paint(const struct tag *tag, const char *name, const struct state *state, bool *painted, uint32_t *rgb)
{
    char text[VALUE_BYTES];
    attribute(tag, name, text, sizeof text);
    if (strcmp(text, "none") == 0) {
        *painted = false;
    } else if (strcmp(text, "currentColor") == 0) {
        *painted = true;
        *rgb = state->colour;
    } else if (read_colour(text, rgb)) {
        *painted = true;
    }
}

static void read_transform(const struct tag *tag, double *x, double *y, double *turn, double *scale)
{
    char text[VALUE_BYTES];
    attribute(tag, "transform", text, sizeof text);
    const char *rotate = strstr(text, "rotate("), *scales = strstr(text, "scale(");
    if (sscanf(text, "translate( %lf , %lf", x, y) != 2)
        *x = *y = 0;
    *turn = rotate ? strtod(rotate + strlen("rotate("), NULL) : 0;
    *scale = scales ? strtod(scales + strlen("scale("), NULL) : 1;
}

static void read_state(const struct tag *tag, struct state *state)
{
    char text[VALUE_BYTES];
    double scale;
    read_colour(attribute(tag, "color", text, sizeof text), &state->colour);
    read_paint(tag, "stroke", state, &state->stroked, &state->stroke);
    read_paint(tag, "fill", state, &state->filled, &state->fill);
    state->width = number(tag, "stroke-width", state->width);
    state->font_px = number(tag, "font-size", state->font_px);
    if (*attribute(tag, "transform", text, sizeof text))
        read_transform(tag, &state->x, &state->y, &state->turn, &scale);
    if (*attribute(tag, "font-weight", text, sizeof text))
        state->bold = strcmp(text, "bold") == 0;
    if (*attribute(tag, "font-style", text, sizeof text))
        state->italic = strcmp(text, "italic") == 0;
    if (strlen(attribute(tag, "text-anchor", text, sizeof text)) < sizeof state->anchor && *text)
        memcpy(state->anchor, text, strlen(text) + 1);
    state->boxed = strstr(attribute(tag, "style", text, sizeof text), "#textbox") != NULL;
}

/* Digits and commas alone. */
static void read_dash(const struct tag *tag, char *dash, size_t size)
{
    char text[VALUE_BYTES];
    attribute(tag, "stroke-dasharray", text, sizeof text);
    const bool plain = strspn(text, "0123456789., ") == strlen(text) && strlen(text) < size;
    snprintf(dash, size, "%.*s", plain ? (int)strlen(text) : 0, text);
}

/* ---- writing --------------------------------------------------------------------- */

/* ` class="s_law"` or ` stroke="#C25400"`; black, gnuplot's default, is the foreground. */
static void paint_text(const struct reader *reader, const char *attribute_name, uint32_t rgb, char *text, size_t size)
{
    const struct ub_colour *colour = ub_palette_find(reader->palette, rgb);
    if (rgb == 0 && reader->palette->count > 0)
        colour = &reader->palette->colours[0];
    if (colour && !reader->frame->literal_colours)
        snprintf(text, size, " class=\"%c_%s\"", *attribute_name, colour->name);
    else
        snprintf(text, size, " %s=\"#%06X\"", attribute_name, (unsigned)(colour ? colour->light : rgb));
}

static void close_path(struct reader *reader)
{
    if (*reader->style)
        fputs("\"/>\n", reader->shapes);
    *reader->style = 0;
}

/* The path with this style: that which is open, or a new one. */
static FILE *path_of(struct reader *reader, const char *style)
{
    if (strcmp(style, reader->style) != 0) {
        close_path(reader);
        snprintf(reader->style, sizeof reader->style, "%s", style);
        fprintf(reader->shapes, "<path%s d=\"", style);
    }
    return reader->shapes;
}

static FILE *stroked_path(struct reader *reader, uint32_t rgb, double width, const char *dash)
{
    char style[STYLE_BYTES], paint[80];
    paint_text(reader, "stroke", rgb, paint, sizeof paint);
    int used = snprintf(style, sizeof style, "%s", paint);
    if (fabs(width - default_line_px) > 1e-3)
        used += snprintf(style + used, sizeof style - (size_t)used, " stroke-width=\"%.4g\"", width);
    if (*dash)
        snprintf(style + used, sizeof style - (size_t)used, " stroke-dasharray=\"%s\"", dash);
    return path_of(reader, style);
}

static FILE *filled_path(struct reader *reader, uint32_t rgb, double opacity)
{
    char style[STYLE_BYTES], paint[80];
    paint_text(reader, "fill", rgb, paint, sizeof paint);
    const int used = snprintf(style, sizeof style, "%s", paint);
    if (opacity < 1)
        snprintf(style + used, sizeof style - (size_t)used, " fill-opacity=\"%.3g\"", opacity);
    return path_of(reader, style);
}

/* ---- shapes ---------------------------------------------------------------------- */

/* Takes "x,y" and what is blank before it. */
static bool read_spot(const char **at, struct ub_svg_spot *spot)
{
    char *end = NULL;
    spot->x = strtod(*at, &end);
    if (end == *at)
        return false;
    const char *next = end + strspn(end, " \t\n\r,");
    spot->y = strtod(next, &end);
    if (end == next || !isfinite(spot->x) || !isfinite(spot->y))
        return false;
    *at = end;
    return true;
}

/* Lines of M, L and z, with absolute coordinates; `polygon`: spots alone. */
static bool write_lines(struct reader *reader, FILE *out, const char *data, size_t length, bool polygon)
{
    const char *end = data + length;
    struct ub_svg_spot *spots = malloc((length / 3 + 2) * sizeof *spots);
    size_t count = 0;
    bool good = spots != NULL && length < LONGEST_PATH;
    for (const char *at = data; good && (at += strspn(at, " \t\n\r"), at < end);) {
        const bool starts = *at == 'M', closes = *at == 'z' || *at == 'Z';
        if (starts || closes) {
            ub_svg_line(out, spots, count, closes);
            count = 0;
        }
        at += starts || closes || *at == 'L';
        if (!closes)
            good = read_spot(&at, &spots[count++]) && at <= end;
    }
    if (good)
        ub_svg_line(out, spots, count, polygon);
    free(spots);
    return good || refuse(reader, "a path");
}

static bool take_path(struct reader *reader, const struct tag *tag, const struct state *state)
{
    struct state own = *state;
    char text[VALUE_BYTES];
    size_t length = 0;
    const char *data = find_attribute(tag, "d", &length);
    if (!data)
        return refuse(reader, "a path without data");
    read_paint(tag, "stroke", state, &own.stroked, &own.stroke);
    read_paint(tag, "fill", state, &own.filled, &own.fill);
    read_dash(tag, own.dash, sizeof own.dash);
    if (strcmp(attribute(tag, "class", text, sizeof text), "gridline") == 0)
        return write_lines(reader, reader->grid, data, length, false);
    if (own.filled &&
        !write_lines(reader, filled_path(reader, own.fill, number(tag, "fill-opacity", 1)), data, length, true))
        return false;
    return !own.stroked ||
           write_lines(reader, stroked_path(reader, own.stroke, own.width, own.dash), data, length, false);
}

static bool take_polygon(struct reader *reader, const struct tag *tag, const struct state *state)
{
    struct state own = *state;
    size_t length = 0;
    const char *points = find_attribute(tag, "points", &length);
    read_paint(tag, "fill", state, &own.filled, &own.fill);
    return points && own.filled ? write_lines(reader, filled_path(reader, own.fill, number(tag, "fill-opacity", 1)),
                                              points, length, true)
                                : refuse(reader, "a polygon");
}

/* The ground of the whole picture is the page's. */
static bool take_rect(struct reader *reader, const struct tag *tag, const struct state *state)
{
    struct state own = *state;
    const double x = number(tag, "x", 0), y = number(tag, "y", 0), w = number(tag, "width", 0),
                 h = number(tag, "height", 0);
    read_paint(tag, "fill", state, &own.filled, &own.fill);
    const bool ground = w >= reader->view_width && h >= reader->view_height;
    const struct ub_svg_spot corners[] = {{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}};
    if (own.filled && !ground)
        ub_svg_line(filled_path(reader, own.fill, number(tag, "fill-opacity", 1)), corners, 4, true);
    return true;
}

static bool take_symbol(struct reader *reader, const struct tag *tag, const struct state *state)
{
    static const double hollow_line = 0.3; /* of the scale; gnuplot's own is hard to see */
    char name[VALUE_BYTES], text[VALUE_BYTES];
    uint32_t rgb = state->colour;
    double x, y, turn, scale;
    int symbol = -1;
    enum ub_svg_fill fill;
    attribute(tag, "xlink:href", name, sizeof name);
    read_colour(attribute(tag, "color", text, sizeof text), &rgb);
    read_transform(tag, &x, &y, &turn, &scale);
    if (sscanf(name, "#gpPt%d", &symbol) != 1 || !ub_svg_symbol_fill(symbol, &fill) || !(scale > 0 && scale < 100))
        return refuse(reader, "a symbol");
    if (fill == UB_SVG_FILLED) {
        ub_svg_symbol(filled_path(reader, rgb, 1), symbol, x, y, scale);
    } else if (fill == UB_SVG_STROKED) {
        ub_svg_symbol(stroked_path(reader, rgb, fmax(1, hollow_line * scale), ""), symbol, x, y, scale);
    } else {
        char style[STYLE_BYTES], paint[80];
        paint_text(reader, "stroke", rgb, paint, sizeof paint);
        snprintf(style, sizeof style, "%s stroke-width=\"%.3g\" stroke-linecap=\"round\"", paint, 2 * scale);
        ub_svg_symbol(path_of(reader, style), symbol, x, y, scale);
    }
    return true;
}

/* ---- texts ----------------------------------------------------------------------- */

/* The element's words: entities as they are, tspan's tags left out; the reader moves behind
 * </text>. Nothing but entities can begin with '&' or '<' in what is copied. */
static bool take_words(struct reader *reader, char *words, size_t size)
{
    size_t used = 0;
    for (;;) {
        const size_t length = strcspn(reader->at, "<");
        if (used + length + 1 > size)
            return refuse(reader, "a text that is too long");
        memcpy(words + used, reader->at, length);
        used += length;
        words[used] = 0;
        struct tag tag;
        if (!next_tag(reader, &tag))
            return refuse(reader, "a text without end");
        if (tag.closes && is(&tag, "text"))
            return true;
        if (!is(&tag, "tspan"))
            return refuse(reader, "something in a text");
    }
}

/* Only the entities that gnuplot writes. */
static bool has_only_entities(const char *words)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
    for (const char *at = words; (at = strchr(at, '&')) != NULL; at++) {
        bool good = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            good = good || strncmp(at, known[i], strlen(known[i])) == 0;
        if (!good)
            return false;
    }
    return strchr(words, '<') == NULL;
}

/* gnuplot leaves '>' as it is. */
static void write_words(FILE *out, const char *words)
{
    for (const char *at = words; *at; at++)
        if (*at == '>')
            fputs("&gt;", out);
        else
            fputc(*at, out);
}

static void write_text_place(struct reader *reader, const struct state *state)
{
    FILE *out = reader->texts;
    char paint[80];
    paint_text(reader, "fill", state->fill, paint, sizeof paint);
    if (state->turn == 0)
        fprintf(out, "<text x=\"%.4g\" y=\"%.4g\"", state->x, state->y);
    else
        fprintf(out, "<text transform=\"translate(%.4g %.4g) rotate(%.4g)\"", state->x, state->y, state->turn);
    fputs(paint, out);
    if (strcmp(state->anchor, "middle") == 0 || strcmp(state->anchor, "end") == 0)
        fprintf(out, " text-anchor=\"%s\"", state->anchor);
    if (fabs(state->font_px - default_font_px) > 1e-3)
        fprintf(out, " font-size=\"%.4g\"", state->font_px);
    fputs(state->bold ? " font-weight=\"bold\"" : "", out);
    fputs(state->italic ? " font-style=\"italic\"" : "", out);
}

/* A boxed label stands twice in the file, first for its box. Here its letters are outlined in
 * the colour of the ground instead. */
static bool take_text(struct reader *reader, const struct state *state)
{
    char words[4096], place[VALUE_BYTES];
    if (!take_words(reader, words, sizeof words))
        return false;
    if (!has_only_entities(words))
        return refuse(reader, "an entity");
    snprintf(place, sizeof place, "%.2f %.2f %.100s", state->x, state->y, words);
    if (*words == 0 || strcmp(place, reader->last_text) == 0)
        return true;
    memcpy(reader->last_text, place, sizeof place);
    write_text_place(reader, state);
    if (state->boxed) {
        char paint[80];
        paint_text(reader, "stroke", 0xFFFFFF, paint, sizeof paint);
        fputs(reader->frame->literal_colours ? paint : " style=\"stroke:var(--bg)\"", reader->texts);
        fputs(" stroke-width=\"5\" paint-order=\"stroke\"", reader->texts);
    }
    fputc('>', reader->texts);
    write_words(reader->texts, words);
    fputs("</text>\n", reader->texts);
    return true;
}

/* ---- the whole --------------------------------------------------------------------- */

static bool skip_to_end(struct reader *reader, const struct tag *opened)
{
    struct tag tag;
    if (opened->empty)
        return true;
    while (next_tag(reader, &tag))
        if (tag.closes && tag.name_length == opened->name_length &&
            memcmp(tag.name, opened->name, tag.name_length) == 0)
            return true;
    return refuse(reader, "an element without end");
}

static bool take_group(struct reader *reader, const struct tag *tag)
{
    if (tag->closes) {
        reader->depth -= reader->depth > 0;
        return true;
    }
    if (reader->depth + 1 == DEEPEST)
        return refuse(reader, "too many groups in each other");
    reader->states[reader->depth + 1] = reader->states[reader->depth];
    reader->depth++;
    read_state(tag, &reader->states[reader->depth]);
    return true;
}

static bool take_nothing(struct reader *reader, const struct tag *tag, const struct state *state)
{
    (void)reader;
    (void)tag;
    (void)state;
    return true;
}

static bool take_tag(struct reader *reader, const struct tag *tag)
{
    static const struct {
        const char *name;
        bool (*take)(struct reader *, const struct tag *, const struct state *);
    } shapes[] = {{"path", take_path},  {"polygon", take_polygon}, {"rect", take_rect},
                  {"use", take_symbol}, {"svg", take_nothing},     {"?xml", take_nothing}};
    const struct state *state = &reader->states[reader->depth];
    if (is(tag, "g"))
        return take_group(reader, tag);
    if (is(tag, "text"))
        return tag->closes || take_text(reader, state);
    if (is(tag, "title") || is(tag, "desc") || is(tag, "defs"))
        return skip_to_end(reader, tag);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        if (is(tag, shapes[i].name))
            return tag->closes || shapes[i].take(reader, tag, state);
    return refuse(reader, "an element that it does not know");
}

bool ub_svg_size(const char *svg, double *width, double *height)
{
    const char *view = strstr(svg, "viewBox=");
    return view && sscanf(view, "viewBox=%*[\"']0 0 %lf %lf", width, height) == 2 && *width > 0 && *height > 0 &&
           *width < 1e5 && *height < 1e5;
}

static void write_frame(FILE *out, const struct reader *reader)
{
    const struct ub_svg_frame *frame = reader->frame;
    fputs("<svg", out);
    if (frame->nested)
        fprintf(out, " x=\"%.5g\" y=\"%.5g\" width=\"%.5g\" height=\"%.5g\"", frame->x, frame->y, frame->width,
                frame->width * reader->view_height / reader->view_width);
    else
        ub_html(out, " role=\"img\" aria-label=\"%s\"", frame->label);
    fprintf(out, " viewBox=\"0 0 %.5g %.5g\" fill=\"none\" stroke-width=\"%.3g\" font-size=\"%.4g\">\n",
            reader->view_width, reader->view_height, default_line_px, default_font_px);
}

static bool read_all(struct reader *reader)
{
    struct tag tag;
    while (next_tag(reader, &tag))
        if (!take_tag(reader, &tag))
            return false;
    close_path(reader);
    return true;
}

static uint32_t grid_colour(const struct ub_palette *palette)
{
    for (size_t i = 0; i < palette->count; i++)
        if (strcmp(palette->colours[i].name, "grid") == 0)
            return palette->colours[i].light;
    return 0xE3E5E8;
}

/* Grid below, words on top. */
static void write_parts(FILE *out, struct reader *reader, const char *const parts[3])
{
    char paint[80];
    write_frame(out, reader);
    paint_text(reader, "stroke", grid_colour(reader->palette), paint, sizeof paint);
    if (reader->frame->literal_colours)
        fprintf(out, "<path fill=\"#FFFFFF\" d=\"M0 0h%.5gv%.5gH0z\"/>\n", reader->view_width, reader->view_height);
    if (*parts[0])
        fprintf(out, "<path%s d=\"%s\"/>\n", paint, parts[0]);
    fprintf(out, "%s%s</svg>\n", parts[1], parts[2]);
}

bool ub_svg_write(FILE *out, const char *svg, const struct ub_palette *palette, const struct ub_svg_frame *frame,
                  struct ub_error *err)
{
    struct reader reader = {.palette = palette, .frame = frame, .at = svg, .err = err};
    char *parts[3] = {NULL};
    size_t sizes[3];
    FILE **streams[] = {&reader.grid, &reader.shapes, &reader.texts};
    reader.states[0] = (struct state){.width = default_line_px, .font_px = default_font_px};
    bool good = ub_svg_size(svg, &reader.view_width, &reader.view_height) || refuse(&reader, "its size");
    for (size_t i = 0; i < 3 && good; i++) {
        *streams[i] = open_memstream(&parts[i], &sizes[i]);
        good = *streams[i] != NULL || ub_fail(err, UB_INTERNAL, "out of memory");
    }
    struct ub_locale locale;
    ub_locale_enter(&locale);
    good = good && read_all(&reader);
    for (size_t i = 0; i < 3; i++)
        if (*streams[i])
            fclose(*streams[i]);
    if (good)
        write_parts(out, &reader, (const char *const *)parts);
    ub_locale_leave(&locale);
    for (size_t i = 0; i < 3; i++)
        free(parts[i]);
    return good;
}
