/* SPDX-License-Identifier: MIT */
#include "plots/render.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plots/figure.h"
#include "plots/gnuplot.h"
#include "plots/layout.h"
#include "plots/script.h"

enum { PATH_BYTES = 4096, DEFAULT_COLUMNS = 80 };

/* Whether the terminal shows UTF-8, by the variables that decide it for every program. */
bool ub_plot_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

int ub_plot_columns(const struct ub_plot_options *options)
{
    if (options->columns > 0)
        return options->columns;
    const char *columns = getenv("COLUMNS");
    const long given = columns ? strtol(columns, NULL, 10) : 0;
    return given > 0 && given <= 10000 ? (int)given : DEFAULT_COLUMNS;
}

static bool write_script(FILE *stream, const struct ub_figure *figure, const struct ub_plot_options *options,
                         const struct ub_term *term, const char *output, struct ub_error *err)
{
    if (strcmp(term->name, "dumb") == 0)
        return ub_script_write_dumb(stream, figure, ub_plot_columns(options), ub_plot_utf8(), output, err);
    struct ub_layout *layout = malloc(sizeof *layout);
    if (!layout)
        return ub_fail(err, UB_INTERNAL, "out of memory while laying out a chart");
    const bool ok = ub_layout_make(figure, layout, err) &&
                    ub_script_write(stream, figure, layout, term->terminal, options->dark, output, err);
    free(layout);
    return ok;
}

/* gnuplot takes an output that begins with '|' for a command: a plain name gets "./". */
static bool plain_path(const char *path, char *out, size_t size, struct ub_error *err)
{
    for (const char *c = path; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            return ub_fail(err, UB_USAGE, "a chart cannot have a name with a control character in it");
    const int length = snprintf(out, size, "%s%s", *path == '/' || *path == '.' ? "" : "./", path);
    return (length > 0 && (size_t)length < size) || ub_fail(err, UB_USAGE, "the chart's file name is too long");
}

/* Numbers of a script have a decimal point whatever the locale of the program. */
static locale_t enter_c_locale(locale_t *before)
{
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    *before = uselocale(plain ? plain : (locale_t)0);
    return plain;
}

static void leave_c_locale(locale_t plain, locale_t before)
{
    uselocale(before);
    if (plain)
        freelocale(plain);
}

static bool script_of_figure(FILE *stream, const struct ub_record *record, const struct ub_plot_options *options,
                             const char *output, struct ub_error *err)
{
    char path[PATH_BYTES];
    const struct ub_term *term = ub_term_find(options->term, output, err);
    if (!term || !plain_path(output, path, sizeof path, err))
        return false;
    struct ub_figure *figure = calloc(1, sizeof *figure);
    if (!figure)
        return ub_fail(err, UB_INTERNAL, "out of memory while making a chart");
    bool ok = ub_figure_make(record, options, figure, err);
    if (ok) {
        ok = write_script(stream, figure, options, term, path, err);
        ub_figure_free(figure);
    }
    free(figure);
    return ok;
}

bool ub_plot_script(FILE *stream, const struct ub_record *record, const struct ub_plot_options *options,
                    const char *output, struct ub_error *err)
{
    locale_t before;
    const locale_t plain = enter_c_locale(&before);
    const bool ok = script_of_figure(stream, record, options, output, err);
    leave_c_locale(plain, before);
    return ok;
}

/* Creates a fresh file beside `path`, under the umask as any file. */
static bool create_beside(const char *path, const char *what, char *name, size_t size, struct ub_error *err)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        if (snprintf(name, size, "%s.%s%ld.%d", path, what, (long)getpid(), attempt) >= (int)size)
            return ub_fail(err, UB_USAGE, "the chart's file name is too long");
        const int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0) {
            close(file);
            return true;
        }
        if (errno != EEXIST)
            break;
    }
    return ub_fail(err, UB_CANNOT_WRITE, "cannot write a chart to %s: %s", path, strerror(errno));
}

/* What is drawn, and by what. */
struct drawing {
    ub_script_writer writer;
    const void *subject;
};

static bool write_script_file(const char *name, const struct drawing *drawing, const struct ub_plot_options *options,
                              const char *output, struct ub_error *err)
{
    FILE *stream = fopen(name, "w");
    if (!stream)
        return ub_fail(err, UB_CANNOT_WRITE, "cannot write %s: %s", name, strerror(errno));
    locale_t before;
    const locale_t plain = enter_c_locale(&before);
    const bool written = drawing->writer(stream, drawing->subject, options, output, err);
    leave_c_locale(plain, before);
    if (fclose(stream) != 0 && written)
        return ub_fail(err, UB_CANNOT_WRITE, "cannot write %s: %s", name, strerror(errno));
    return written;
}

/* Takes off the form feed before a picture of the dumb terminal and the blanks to which it
 * pads lines, so that a narrow window does not wrap, and ends the last line. */
static bool trim_text(const char *path, struct ub_error *err)
{
    enum { MOST = 1 << 20 };
    char *text = malloc(MOST), *to = text;
    FILE *file = text ? fopen(path, "r") : NULL;
    const size_t size = file ? fread(text, 1, MOST - 1, file) : 0;
    if (file)
        fclose(file);
    if (text)
        text[size] = 0;
    for (char *line = text; line && *line;) {
        line += strspn(line, "\f");
        const size_t length = strcspn(line, "\n");
        size_t kept = length;
        while (kept > 0 && line[kept - 1] == ' ')
            kept--;
        const bool more = line[length] != 0;
        memmove(to, line, kept);
        to[kept] = '\n';
        to += kept + 1;
        line += length + more;
    }
    file = size > 0 ? fopen(path, "w") : NULL;
    bool ok = file && fwrite(text, 1, (size_t)(to - text), file) == (size_t)(to - text);
    if (file)
        ok = fclose(file) == 0 && ok;
    free(text);
    return ok || ub_fail(err, UB_CANNOT_WRITE, "cannot write %s: %s", path, strerror(errno));
}

static bool copy_bytes(const char *from, FILE *to)
{
    char bytes[16 * 1024];
    FILE *file = fopen(from, "rb");
    if (!file)
        return false;
    for (size_t got; (got = fread(bytes, 1, sizeof bytes, file)) > 0;)
        fwrite(bytes, 1, got, to);
    const bool ok = !ferror(file);
    fclose(file);
    return ok;
}

/* Puts the finished picture where it belongs. */
static bool deliver(const char *picture, const char *path, struct ub_error *err)
{
    if (strcmp(path, "-") != 0)
        return rename(picture, path) == 0 ||
               ub_fail(err, UB_CANNOT_WRITE, "cannot write %s: %s", path, strerror(errno));
    return (copy_bytes(picture, stdout) && fflush(stdout) == 0) ||
           ub_fail(err, UB_CANNOT_WRITE, "cannot write the chart to standard output: %s", strerror(errno));
}

/* Where the script of "chart.svg" is kept: "chart.gp". */
static void script_name(const char *path, char *name, size_t size)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    const size_t stem = dot && dot > (slash ? slash : path) ? (size_t)(dot - path) : strlen(path);
    snprintf(name, size, "%.*s.gp", (int)stem, path);
}

static bool keep_script(const char *path, const struct drawing *drawing, const struct ub_plot_options *options,
                        const struct ub_term *term, struct ub_error *err)
{
    char name[PATH_BYTES];
    struct ub_plot_options named = *options;
    named.term = term->name;
    script_name(path, name, sizeof name);
    return write_script_file(name, drawing, &named, path, err);
}

static bool draw(const struct drawing *drawing, const struct ub_plot_options *options, const struct ub_term *term,
                 const char *path, const char *base, struct ub_error *err)
{
    char picture[PATH_BYTES], script[PATH_BYTES];
    struct ub_plot_options named = *options;
    named.term = term->name;
    if (!create_beside(base, "part", picture, sizeof picture, err))
        return false;
    bool ok = create_beside(base, "script", script, sizeof script, err);
    if (ok) {
        ok = write_script_file(script, drawing, &named, picture, err) &&
             ub_gnuplot_draw(script, picture, term, UB_GNUPLOT_TIMEOUT_MS, err) &&
             (strcmp(term->name, "dumb") != 0 || trim_text(picture, err)) && deliver(picture, path, err);
        unlink(script);
    }
    unlink(picture);
    return ok && (!options->keep_script || strcmp(path, "-") == 0 || keep_script(path, drawing, options, term, err));
}

bool ub_plot_with(ub_script_writer writer, const void *subject, const struct ub_plot_options *options, const char *path,
                  struct ub_error *err)
{
    const struct drawing drawing = {writer, subject};
    char version[80], base[PATH_BYTES];
    const struct ub_term *term = ub_term_find(options->term, path, err);
    const char *folder = getenv("TMPDIR");
    char scratch[PATH_BYTES];
    snprintf(scratch, sizeof scratch, "%s/ubench-chart", folder && *folder == '/' ? folder : "/tmp");
    return term && plain_path(strcmp(path, "-") == 0 ? scratch : path, base, sizeof base, err) &&
           ub_gnuplot_version(version, sizeof version, err) && draw(&drawing, options, term, path, base, err);
}

static bool write_record_script(FILE *stream, const void *subject, const struct ub_plot_options *options,
                                const char *output, struct ub_error *err)
{
    return ub_plot_script(stream, subject, options, output, err);
}

bool ub_plot(const struct ub_record *record, const struct ub_plot_options *options, const char *path,
             struct ub_error *err)
{
    return ub_plot_with(write_record_script, record, options, path, err);
}
