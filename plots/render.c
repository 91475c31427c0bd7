/* SPDX-License-Identifier: MIT */
#include "plots/render.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plots/file.h"
#include "plots/gnuplot.h"
#include "plots/interrupt.h"
#include "plots/layout.h"
#include "plots/locale.h"
#include "plots/overlay.h"
#include "plots/script.h"

enum { DEFAULT_COLUMNS = 80 };

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

static bool script_of_figure(FILE *stream, const struct ub_runs *runs, const struct ub_plot_options *options,
                             const char *output, struct ub_error *err)
{
    char path[UB_PATH_BYTES];
    const struct ub_term *term = ub_term_find(options->term, output, err);
    if (!term || !plain_path(output, path, sizeof path, err))
        return false;
    struct ub_figure *figure = calloc(1, sizeof *figure);
    if (!figure)
        return ub_fail(err, UB_INTERNAL, "out of memory while making a chart");
    bool ok = ub_figure_of_runs(runs, options, figure, err);
    if (ok) {
        ok = write_script(stream, figure, options, term, path, err);
        ub_figure_free(figure);
    }
    free(figure);
    return ok;
}

bool ub_plot_runs_script(FILE *stream, const struct ub_runs *runs, const struct ub_plot_options *options,
                         const char *output, struct ub_error *err)
{
    struct ub_locale locale;
    ub_locale_enter(&locale);
    const bool ok = script_of_figure(stream, runs, options, output, err);
    ub_locale_leave(&locale);
    return ok;
}

bool ub_plot_script(FILE *stream, const struct ub_record *record, const struct ub_plot_options *options,
                    const char *output, struct ub_error *err)
{
    return ub_plot_runs_script(stream, &(struct ub_runs){1, &record}, options, output, err);
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
    struct ub_locale locale;
    ub_locale_enter(&locale);
    const bool written = drawing->writer(stream, drawing->subject, options, output, err);
    ub_locale_leave(&locale);
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

/* Where the script of "chart.svg" is kept: "chart.gp". */
static void script_name(const char *path, char *name, size_t size)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    const size_t stem = dot && dot > (slash ? slash : path) ? (size_t)(dot - path) : strlen(path);
    snprintf(name, size, "%.*s.gp", (int)stem, path);
}

/* The picture, and the script that stays beside it where `keeps`. */
struct output {
    const struct ub_term *term;
    struct ub_chart_file picture, script;
    bool keeps;
};

static bool find_script(const char *path, const struct ub_plot_options *options, char *name, size_t size,
                        struct ub_chart_file *out, struct ub_error *err)
{
    script_name(path, name, size);
    if (strcmp(name, path) == 0)
        return ub_fail(err, UB_USAGE, "%s: --keep-script would put its script in the place of the chart", path);
    if (!ub_chart_file_find(name, options->force, out, err))
        return false;
    return !out->streams ||
           ub_fail(err, UB_CANNOT_WRITE, "cannot write %s: --keep-script writes only to a plain file", name);
}

/* `script` holds the script's name, which the output borrows. */
static bool find_output(const struct ub_plot_options *options, const char *path, char script[UB_PATH_BYTES],
                        struct output *out, struct ub_error *err)
{
    char plain[UB_PATH_BYTES];
    *out = (struct output){.term = ub_term_find(options->term, path, err)};
    if (!out->term || !plain_path(path, plain, sizeof plain, err) ||
        !ub_chart_file_find(path, options->force, &out->picture, err))
        return false;
    out->keeps = options->keep_script && !out->picture.streams;
    return !out->keeps || find_script(path, options, script, UB_PATH_BYTES, &out->script, err);
}

bool ub_plot_check(const struct ub_plot_options *options, const char *path, struct ub_error *err)
{
    char script[UB_PATH_BYTES];
    struct output output;
    return find_output(options, path, script, &output, err);
}

/* Draws to a fresh file beside the chart, whose name goes to `picture`. */
static bool draw_beside(const struct drawing *drawing, const struct ub_plot_options *options,
                        const struct output *output, char *picture, size_t size, struct ub_error *err)
{
    char base[UB_PATH_BYTES], script[UB_PATH_BYTES];
    if (!plain_path(output->picture.path, base, sizeof base, err) || !create_beside(base, "part", picture, size, err))
        return false;
    bool ok = create_beside(base, "script", script, sizeof script, err);
    if (ok) {
        ok = write_script_file(script, drawing, options, picture, err) &&
             ub_gnuplot_draw(script, picture, output->term, UB_GNUPLOT_TIMEOUT_MS, err) &&
             (strcmp(output->term->name, "dumb") != 0 || trim_text(picture, err));
        unlink(script);
    }
    if (!ok)
        unlink(picture);
    return ok;
}

static bool keep_script(const struct drawing *drawing, const struct ub_plot_options *options,
                        const struct output *output, struct ub_error *err)
{
    char beside[UB_PATH_BYTES];
    if (!create_beside(output->script.path, "script", beside, sizeof beside, err))
        return false;
    const bool ok = write_script_file(beside, drawing, options, output->picture.name, err) &&
                    ub_chart_file_place(beside, &output->script, err);
    if (!ok)
        unlink(beside);
    return ok;
}

/* All that needs temporary files. A stream's picture is left open in *finished, with no
 * name any more: writing it may wait for a reader. */
static bool draw(const struct drawing *drawing, const struct ub_plot_options *options, const struct output *output,
                 FILE **finished, struct ub_error *err)
{
    char picture[UB_PATH_BYTES];
    struct ub_plot_options named = *options;
    named.term = output->term->name;
    if (!draw_beside(drawing, &named, output, picture, sizeof picture, err))
        return false;
    bool ok = true;
    if (output->picture.streams) {
        *finished = fopen(picture, "rb");
        if (!*finished)
            ok = ub_fail(err, UB_CANNOT_WRITE, "cannot read %s: %s", picture, strerror(errno));
        unlink(picture);
        return ok;
    }
    ok = ub_chart_file_place(picture, &output->picture, err);
    if (!ok)
        unlink(picture);
    return ok && (!output->keeps || keep_script(drawing, &named, output, err));
}

bool ub_plot_with(ub_script_writer writer, const void *subject, const struct ub_plot_options *options, const char *path,
                  struct ub_error *err)
{
    const struct drawing drawing = {writer, subject};
    char version[80], script[UB_PATH_BYTES];
    struct output output;
    FILE *finished = NULL;
    sigset_t before;
    if (!find_output(options, path, script, &output, err) || !ub_gnuplot_version(version, sizeof version, err))
        return false;
    ub_interrupt_hold(&before);
    bool ok = draw(&drawing, options, &output, &finished, err);
    ub_interrupt_release(&before);
    if (finished) {
        ok = ub_chart_file_copy(finished, &output.picture, err);
        fclose(finished);
    }
    return ok;
}

static bool write_runs_script(FILE *stream, const void *subject, const struct ub_plot_options *options,
                              const char *output, struct ub_error *err)
{
    return ub_plot_runs_script(stream, subject, options, output, err);
}

bool ub_plot_runs(const struct ub_runs *runs, const struct ub_plot_options *options, const char *path,
                  struct ub_error *err)
{
    return ub_plot_with(write_runs_script, runs, options, path, err);
}

bool ub_plot(const struct ub_record *record, const struct ub_plot_options *options, const char *path,
             struct ub_error *err)
{
    return ub_plot_runs(&(struct ub_runs){1, &record}, options, path, err);
}
