/* SPDX-License-Identifier: MIT
 *
 * A comparison for people: who is compared, the rows that say something, what each sweep
 * came to, and last what it all came to. */
#include <stdlib.h>
#include <string.h>

#include "harness/io/compare.h"
#include "harness/io/text.h"
#include "harness/io/wrap.h"

enum { MOST_ROWS = 60, MOST_UNMATCHED = 10 };

struct page {
    FILE *stream;
    const struct ub_print_options *options;
    struct ub_error *err;
};

static void print_sentence(void *user, enum ub_tone tone, const char *sentence)
{
    static const char *const colours[] = {"", "\033[32m", "\033[33m", "\033[31m"};
    const struct page *page = user;
    char text[2400];
    const bool coloured = page->options->colour && tone != UB_TONE_PLAIN;
    ub_text_plain(text, sizeof text, sentence, 1000, page->options->utf8);
    fprintf(page->stream, "%s%s%s\n", coloured ? colours[tone] : "", text, coloured ? "\033[0m" : "");
}

/* A sheet under a heading ("": none), and an empty line; frees it. Nothing for no rows. */
static bool print_sheet(const struct page *page, const char *heading, struct ub_sheet *sheet)
{
    bool ok = true;
    if (ub_sheet_rows(sheet) > 0 || sheet->failed) {
        if (*heading)
            fprintf(page->stream, "%s\n", heading);
        ok = ub_sheet_print(page->stream, sheet, page->options, page->err);
        fputc('\n', page->stream);
    }
    ub_sheet_free(sheet);
    return ok;
}

static bool print_rows(const struct page *page, const struct ub_comparison *comparison, bool explain)
{
    struct ub_sheet sheet = {0};
    const bool all = page->options->verbose || comparison->point_count <= MOST_ROWS;
    const bool news = !all && comparison->tested && comparison->one_card;
    if (!all && !news) {
        fprintf(page->stream, "%zu points; -v shows each\n\n", comparison->point_count);
        return true;
    }
    ub_compare_rows(comparison, explain, news ? ub_compare_is_news : NULL, &sheet);
    const size_t hidden = comparison->point_count - ub_sheet_rows(&sheet);
    const bool ok = print_sheet(page, "", &sheet);
    if (hidden > 0)
        fprintf(page->stream, "and %zu points that are the same; -v shows each\n\n", hidden);
    return ok;
}

static bool print_tables(const struct page *page, const struct ub_comparison *comparison)
{
    struct ub_sheet groups = {0}, constants = {0}, figures = {0};
    ub_compare_groups(comparison, &groups);
    bool ok = print_sheet(page, "by sweep", &groups);
    /* On one card constants are measurements like the others. */
    if (!comparison->one_card || page->options->verbose)
        ub_compare_constants(comparison, page->options->verbose, &constants);
    ok = print_sheet(page, "constants of the laws", &constants) && ok;
    ub_compare_figures(comparison, page->options->verbose, &figures);
    return print_sheet(page, "published figures, and what the model says of the same card", &figures) && ok;
}

static bool print_unmatched(const struct page *page, const struct ub_comparison *comparison)
{
    struct ub_sheet sheet = {0};
    ub_compare_unmatched(comparison, page->options->verbose ? 0 : MOST_UNMATCHED, &sheet);
    const size_t shown = ub_sheet_rows(&sheet);
    const bool ok = print_sheet(page, "not compared", &sheet);
    if (shown < comparison->unmatched_count)
        fprintf(page->stream, "and %zu more; -v names them\n\n", comparison->unmatched_count - shown);
    return ok;
}

static bool print_page(struct page *page, const struct ub_comparison *comparison, bool explain)
{
    ub_compare_legend(comparison, print_sentence, page);
    if (comparison->run_count > 0)
        fputc('\n', page->stream);
    bool ok = true;
    if (comparison->point_count > 0)
        ok = print_rows(page, comparison, explain);
    ok = ok && print_tables(page, comparison) && print_unmatched(page, comparison);
    ub_compare_summary(comparison, print_sentence, page);
    return ok;
}

bool ub_compare_print(FILE *stream, const struct ub_comparison *comparison, const struct ub_print_options *options,
                      bool explain, struct ub_error *err)
{
    char *text = NULL;
    size_t size = 0;
    struct page page = {open_memstream(&text, &size), options, err};
    if (!page.stream)
        return ub_fail(err, UB_INTERNAL, "out of memory");
    bool ok = print_page(&page, comparison, explain);
    if (fclose(page.stream) != 0 && ok)
        ok = ub_fail(err, UB_INTERNAL, "out of memory");
    if (ok && options->width > 0)
        ub_wrap_lines(stream, text, (size_t)options->width);
    else if (ok)
        fwrite(text, 1, size, stream);
    free(text);
    return ok && ub_stream_done(stream, err);
}
