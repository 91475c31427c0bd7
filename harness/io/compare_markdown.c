/* SPDX-License-Identifier: MIT
 *
 * A comparison as a comment of a pull request: the verdict, what changed, and the rest
 * folded away as far as it fits. */
#include <string.h>

#include "harness/io/compare.h"
#include "harness/io/text.h"

struct comment {
    FILE *stream;
    size_t left; /* bytes */
};

static void write_item(void *user, enum ub_tone tone, const char *sentence)
{
    struct comment *comment = user;
    const char *mark = tone == UB_TONE_BAD ? "**" : "";
    fprintf(comment->stream, "- %s", mark);
    ub_markdown_text(comment->stream, sentence);
    fprintf(comment->stream, "%s\n", mark);
    comment->left -= comment->left > strlen(sentence) ? strlen(sentence) : comment->left - 1;
}

/* A table as far as it fits, folded where it is not news; frees it. `total` is how many
 * rows there would be. */
static bool write_sheet(struct comment *comment, const char *heading, bool folded, struct ub_sheet *sheet, size_t total)
{
    enum { FRAME = 200 /* bytes round a table */ };
    const bool ok = !sheet->failed;
    const size_t rows = ub_sheet_rows(sheet);
    if (ok && rows > 0 && comment->left > FRAME) {
        comment->left -= FRAME;
        fprintf(comment->stream, folded ? "\n<details><summary>%s</summary>\n\n" : "\n%s:\n\n", heading);
        const size_t written = ub_sheet_markdown(comment->stream, sheet, 0, &comment->left);
        if (written < total)
            fprintf(comment->stream, "\nand %zu more\n", total - written);
        fputs(folded ? "\n</details>\n" : "", comment->stream);
    }
    ub_sheet_free(sheet);
    return ok;
}

static bool is_no_news(const struct ub_comparison *comparison, size_t index)
{
    return !ub_compare_is_news(comparison, index);
}

static bool write_tables(struct comment *comment, const struct ub_comparison *comparison, bool explain)
{
    struct ub_sheet news = {0}, groups = {0}, constants = {0}, figures = {0}, unmatched = {0}, same = {0};
    const bool tested = comparison->tested && comparison->one_card;
    ub_compare_rows(comparison, explain, ub_compare_is_news, &news);
    ub_compare_groups(comparison, &groups);
    if (!comparison->one_card)
        ub_compare_constants(comparison, false, &constants);
    ub_compare_figures(comparison, true, &figures);
    ub_compare_unmatched(comparison, 0, &unmatched);
    ub_compare_rows(comparison, explain, is_no_news, &same);
    bool ok = write_sheet(comment, tested ? "What is not the same" : "Points", false, &news, ub_sheet_rows(&news));
    ok = write_sheet(comment, "By sweep", tested, &groups, ub_sheet_rows(&groups)) && ok;
    ok = write_sheet(comment, "Constants of the laws", false, &constants, ub_sheet_rows(&constants)) && ok;
    ok = write_sheet(comment, "Published figures, and what the model says of the same card", false, &figures,
                     ub_sheet_rows(&figures)) &&
         ok;
    ok = write_sheet(comment, "Not compared", true, &unmatched, ub_sheet_rows(&unmatched)) && ok;
    return write_sheet(comment, "What is the same", true, &same, ub_sheet_rows(&same)) && ok;
}

bool ub_compare_markdown(FILE *stream, const struct ub_comparison *comparison, bool explain, struct ub_error *err)
{
    struct comment comment = {stream, UB_COMMENT_BYTES};
    if (comparison->point_count > 0) {
        fputs("### ubench compare\n\n", stream);
        ub_compare_summary(comparison, write_item, &comment);
        fputc('\n', stream);
    }
    ub_compare_legend(comparison, write_item, &comment);
    if (!write_tables(&comment, comparison, explain))
        return ub_fail(err, UB_INTERNAL, "out of memory while making a table");
    return ub_stream_done(stream, err);
}
