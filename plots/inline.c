/* SPDX-License-Identifier: MIT */
#include "plots/inline.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
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
#include "plots/timeline.h"

enum { MOST_AT_ONCE = 8 };

/* Where scripts and pictures stand while they are made. */
struct workshop {
    char folder[UB_PATH_BYTES - 16];
    char script[UB_PATH_BYTES], picture[UB_PATH_BYTES];
    const struct ub_term *svg;
};

static bool open_workshop(struct workshop *out, struct ub_error *err)
{
    const char *folder = getenv("TMPDIR");
    out->svg = ub_term_find("svg", "", err);
    const int length = snprintf(out->folder, sizeof out->folder, "%s/ubench-charts-XXXXXX",
                                folder && *folder == '/' ? folder : "/tmp");
    if (!out->svg)
        return false;
    if (length < 0 || (size_t)length >= sizeof out->folder || !mkdtemp(out->folder))
        return ub_fail(err, UB_CANNOT_WRITE, "cannot make a folder for charts among the temporary files: %s",
                       strerror(errno));
    snprintf(out->script, sizeof out->script, "%s/chart.gp", out->folder);
    snprintf(out->picture, sizeof out->picture, "%s/chart.svg", out->folder);
    return true;
}

static void close_workshop(const struct workshop *workshop)
{
    unlink(workshop->script);
    unlink(workshop->picture);
    rmdir(workshop->folder);
}

static bool write_figure(FILE *stream, const struct workshop *workshop, const struct ub_figure *figure,
                         struct ub_error *err)
{
    struct ub_layout *layout = malloc(sizeof *layout);
    const bool ok = (layout || ub_fail(err, UB_INTERNAL, "out of memory while laying out a chart")) &&
                    ub_layout_make(figure, layout, err) &&
                    ub_script_write(stream, figure, layout, workshop->svg->terminal, false, workshop->picture, err);
    free(layout);
    return ok;
}

/* `figure` NULL: the chart is a timeline. */
static bool write_script(const struct workshop *workshop, const struct ub_figure *figure,
                         const struct ub_inline_chart *chart, struct ub_error *err)
{
    struct ub_plot_options options = chart->options;
    options.term = workshop->svg->name;
    FILE *stream = fopen(workshop->script, "w");
    if (!stream)
        return ub_fail(err, UB_CANNOT_WRITE, "cannot write %s: %s", workshop->script, strerror(errno));
    bool ok = figure ? write_figure(stream, workshop, figure, err)
                     : ub_plot_timeline_script(stream, chart->runs.records[0], &options, workshop->picture, err);
    if (fclose(stream) != 0 && ok)
        ok = ub_fail(err, UB_CANNOT_WRITE, "cannot write %s: %s", workshop->script, strerror(errno));
    return ok;
}

/* The whole file as text; NULL: unreadable. */
static char *load(const char *path)
{
    char *text = NULL;
    FILE *file = fopen(path, "rb");
    if (file && fseek(file, 0, SEEK_END) == 0) {
        const long size = ftell(file);
        rewind(file);
        text = size > 0 ? malloc((size_t)size + 1) : NULL;
        if (text)
            text[fread(text, 1, (size_t)size, file)] = 0;
    }
    if (file)
        fclose(file);
    return text;
}

static bool draw(const struct workshop *workshop, const struct ub_figure *figure, struct ub_inline_chart *chart,
                 struct ub_error *err)
{
    unlink(workshop->picture);
    if (!write_script(workshop, figure, chart, err) ||
        !ub_gnuplot_draw(workshop->script, workshop->picture, workshop->svg, UB_GNUPLOT_TIMEOUT_MS, err))
        return false;
    chart->svg = load(workshop->picture);
    return chart->svg || ub_fail(err, UB_CANNOT_WRITE, "cannot read %s", workshop->picture);
}

/* What the options ask for; where they name no quantity and no point has the chart's own, the
 * time. */
static bool make_figure(const struct ub_inline_chart *chart, struct ub_figure *figure, struct ub_error *err)
{
    struct ub_error none = {.text = ""};
    struct ub_plot_options of_time = chart->options;
    of_time.y = "time";
    if (ub_figure_of_runs(&chart->runs, &chart->options, figure, err))
        return true;
    return !chart->options.y && err->status == UB_BAD_DATA && ub_figure_of_runs(&chart->runs, &of_time, figure, &none);
}

static void make_timeline(const struct workshop *workshop, const struct ub_error *missing,
                          struct ub_inline_chart *chart)
{
    struct ub_error err = {.text = ""};
    bool ok = ub_timeline_describe(chart->runs.records[0], &chart->options, chart->title, sizeof chart->title,
                                   chart->words, sizeof chart->words, &err);
    if (ok && !workshop)
        err = *missing;
    ok = ok && workshop && draw(workshop, NULL, chart, &err);
    if (!ok)
        ub_text_clean(err.text, chart->why, sizeof chart->why);
}

/* `workshop` NULL: in words only, and why. */
static void make(const struct workshop *workshop, const struct ub_error *missing, struct ub_inline_chart *chart)
{
    struct ub_error err = {.text = ""};
    struct ub_figure *figure = calloc(1, sizeof *figure);
    bool ok =
        figure ? make_figure(chart, figure, &err) : ub_fail(&err, UB_INTERNAL, "out of memory while making a chart");
    if (ok) {
        memcpy(chart->title, figure->title, sizeof chart->title);
        ub_figure_describe(figure, chart->words, sizeof chart->words);
        ub_figure_describe_law(figure, chart->law, sizeof chart->law);
        ok = workshop && draw(workshop, figure, chart, &err);
        ub_figure_free(figure);
        err = workshop ? err : *missing;
    }
    if (!ok)
        ub_text_clean(err.text, chart->why, sizeof chart->why);
    free(figure);
}

/* ---- several at once ------------------------------------------------------------- */

/* What those who draw share: each takes the next chart that nobody has. */
struct crew {
    struct ub_inline_chart *charts;
    size_t count;
    atomic_size_t next;
    bool can_draw;
    struct ub_error missing; /* why not */
};

/* One of them, with a workshop of its own. */
static void *take_charts(void *user)
{
    struct crew *crew = user;
    struct ub_error missing = crew->missing;
    struct workshop *workshop = calloc(1, sizeof *workshop);
    struct ub_locale locale;
    const bool open = crew->can_draw && workshop && open_workshop(workshop, &missing);
    ub_locale_enter(&locale);
    for (size_t i; (i = atomic_fetch_add(&crew->next, 1)) < crew->count;)
        (crew->charts[i].timeline ? make_timeline : make)(open ? workshop : NULL, &missing, &crew->charts[i]);
    ub_locale_leave(&locale);
    if (open)
        close_workshop(workshop);
    free(workshop);
    return NULL;
}

/* As many as there are processors, this thread among them. */
static void draw_together(struct crew *crew)
{
    pthread_t others[MOST_AT_ONCE - 1];
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t wanted = processors > 1 ? (size_t)processors - 1 : 0, started = 0;
    wanted = wanted < MOST_AT_ONCE - 1 ? wanted : MOST_AT_ONCE - 1;
    while (started < wanted && started + 1 < crew->count &&
           pthread_create(&others[started], NULL, take_charts, crew) == 0)
        started++;
    take_charts(crew);
    for (size_t i = 0; i < started; i++)
        pthread_join(others[i], NULL);
}

void ub_inline_draw(struct ub_inline_chart *charts, size_t count)
{
    struct crew crew = {.charts = charts, .count = count, .missing = {.text = ""}};
    char version[80];
    sigset_t before;
    ub_interrupt_hold(&before); /* in the threads too: they inherit it */
    crew.can_draw = ub_gnuplot_version(version, sizeof version, &crew.missing);
    draw_together(&crew);
    ub_interrupt_release(&before);
}

void ub_inline_free(struct ub_inline_chart *chart)
{
    free(chart->svg);
    chart->svg = NULL;
}
