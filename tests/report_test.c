/* SPDX-License-Identifier: MIT
 *
 * The parts of a report: texts stay texts, drawings stay drawings, verdicts follow from
 * the record. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/draft.h"
#include "report/facts.h"
#include "report/html.h"
#include "report/palette.h"
#include "report/report.h"
#include "report/svg.h"
#include "report/svg_symbol.h"
#include "tests/io_fixture.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What is written to a stream in memory; the caller frees it. */
struct written {
    char *text;
    size_t size;
    FILE *out;
};

static struct written begin(void)
{
    struct written written = {0};
    return written;
}

static FILE *stream_of(struct written *written)
{
    written->out = open_memstream(&written->text, &written->size);
    assert_non_null(written->out);
    return written->out;
}

static void expect(struct written *written, const char *wanted)
{
    fclose(written->out);
    assert_string_equal(written->text, wanted);
    free(written->text);
    *written = (struct written){0};
}

/* ---- html ------------------------------------------------------------------------ */

static void texts_stay_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {"<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"},
        {"\"' onload='x", "&quot;&#39; onload=&#39;x"},
        {"a & b &amp; &#60;", "a &amp; b &amp;amp; &amp;#60;"},
        {"`touch x` $(touch x) %s %n %zu", "`touch x` $(touch x) %s %n %zu"},
        {"tab\tline\n", "tab\tline\n"},
        {"\x1b[31m\x07\x7f", "?[31m??"},
        {"\xff\xc3(", "\xEF\xBF\xBD\xEF\xBF\xBD("},
        {"\xEF\xBF\xBE\xE2\x80\xAE", "??"}, /* U+FFFE, and one that turns the direction */
        {"\xE6\xB8\xAC\xC2\xB5", "\xE6\xB8\xAC\xC2\xB5"},
        {"", ""},
        {NULL, ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct written written = begin();
        ub_html(stream_of(&written), "%s", cases[i].text);
        expect(&written, cases[i].wanted);
    }
}

static void formats_are_markup(void **state)
{
    (void)state;
    struct written written = begin();
    ub_html(stream_of(&written), "<p class=\"%s\">%zu of %zu, 100 %%</p>", "a\"b", (size_t)3, (size_t)4);
    expect(&written, "<p class=\"a&quot;b\">3 of 4, 100 %</p>");
    ub_html_paragraphs(stream_of(&written), "one <1>\n\n  x = y & z\n  z = 1\ntwo");
    expect(&written, "<p>one &lt;1&gt;</p>\n<pre>  x = y &amp; z\n  z = 1\n</pre>\n<p>two</p>\n");
    ub_html_items(stream_of(&written), "a\nb");
    expect(&written, "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n");
}

/* ---- palette --------------------------------------------------------------------- */

static void the_palette_is_that_of_charts(void **state)
{
    (void)state;
    struct ub_palette palette;
    ub_palette_load(&palette);
    assert_int_equal(palette.count, 12);
    const struct ub_colour *law = ub_palette_find(&palette, 0xC25400);
    assert_non_null(law);
    assert_string_equal(law->name, "law");
    assert_int_equal(law->dark, 0xF0803C);
    assert_string_equal(ub_palette_find(&palette, 0xFFFFFF)->name, "bg");
    assert_null(ub_palette_find(&palette, 0x123456));
    for (size_t i = 0; i < palette.count; i++)
        assert_true(palette.colours[i].light != palette.colours[i].dark);
}

/* ---- drawings -------------------------------------------------------------------- */

#define SVG    "<?xml version=\"1.0\"?>\n<svg \n viewBox=\"0 0 900 600\"\n xmlns=\"http://www.w3.org/2000/svg\">\n"
#define GROUND "<rect x=\"0\" y=\"0\" width=\"900\" height=\"600\" fill=\"#ffffff\"/>\n"
#define DEFS   "<defs><filter id='textbox'><feFlood/></filter><path id='gpPt0' d='M-1,0'/></defs>"
#define INK    "<g fill=\"none\" color=\"black\" stroke=\"currentColor\" stroke-width=\"1.20\">"
#define WORDS(x)                                                                                                       \
    "<g transform=\"translate(77.88,416.78)\" stroke=\"none\" fill=\"rgb(34,34,34)\" font-size=\"14.67\" " x ">"

static char *inlined(const char *svg, struct ub_error *err)
{
    struct ub_palette palette;
    struct written written = begin();
    const struct ub_svg_frame frame = {.label = "a \"chart\" of <things>"};
    ub_palette_load(&palette);
    *err = (struct ub_error){.text = ""};
    const bool good = ub_svg_write(stream_of(&written), svg, &palette, &frame, err);
    fclose(written.out);
    if (!good) {
        assert_int_equal(written.size, 0);
        free(written.text);
        return NULL;
    }
    return written.text;
}

static void shapes_become_few_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *body, *wanted;
    } cases[] = {
        {INK "<path stroke='rgb(194,  84,   0)'  d='M10.04,20 L30,40.02 L50,60  '/></g>",
         "<path class=\"s_law\" d=\"M10 20l40 40\"/>"},
        {INK "<path stroke='rgb(107, 112, 117)' stroke-dasharray='4.8,3.0' d='M1,2 L3,2'/></g>",
         "<path class=\"s_mut\" stroke-dasharray=\"4.8,3.0\" d=\"M1 2l2 0\"/>"},
        {INK "<path d='M1,2 L3,2'/></g>", "<path class=\"s_fg\" d=\"M1 2l2 0\"/>"},
        {INK "<path stroke='rgb(0,114,178)' d='M1,1 L2,1'/><path stroke='rgb(0,114,178)' d='M5,5 L6,5'/></g>",
         "<path class=\"s_s1\" d=\"M1 1l1 0M5 5l1 0\"/>"},
        {"<use xlink:href='#gpPt6' transform='translate(10.26,20.5) scale(2.77)' color='rgb(  0, 114, 178)'/>",
         "<path class=\"s_s1\" stroke-width=\"5.54\" stroke-linecap=\"round\" d=\"M10.3 20.5h0\"/>"},
        {"<use xlink:href='#gpPt4' transform='translate(10,20) scale(2)' color='#00805D'/>",
         "<path class=\"f_second\" d=\"M8 18l4 0 0 4-4 0z\"/>"},
        {"<use xlink:href='#gpPt5' transform='translate(10,20) scale(2)' color='rgb(1,2,3)'/>",
         "<path stroke=\"#010203\" stroke-width=\"1\" d=\"M8 20a2 2 0 1 0 4 0a2 2 0 1 0-4 0\"/>"},
        {"<polygon fill = 'rgb(194,  84,   0)' fill-opacity = '0.100000' points = '1,1 5,1 5,5'/>",
         "<path class=\"f_law\" fill-opacity=\"0.1\" d=\"M1 1l4 0 0 4z\"/>"},
        {WORDS("text-anchor=\"end\"") "<text>512</text></g>",
         "<text x=\"77.88\" y=\"416.8\" class=\"f_fg\" text-anchor=\"end\">512</text>"},
        {WORDS("font-weight=\"bold\"") "<text>a &lt;b> &amp; c</text></g>",
         "<text x=\"77.88\" y=\"416.8\" class=\"f_fg\" font-weight=\"bold\">a &lt;b&gt; &amp; c</text>"},
        {WORDS("style='filter:url(#textbox)'") "<text>law</text></g>" WORDS("") "<text>law</text></g>",
         " style=\"stroke:var(--bg)\" stroke-width=\"5\" paint-order=\"stroke\">law</text>\n</svg>"},
        {WORDS("") "<text><tspan>two</tspan> <tspan font-size=\"9\">parts</tspan></text></g>", ">two parts</text>"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char svg[2000];
        struct ub_error err;
        snprintf(svg, sizeof svg, "%s%s%s%s</svg>\n", SVG, DEFS, GROUND, cases[i].body);
        char *text = inlined(svg, &err);
        if (!text)
            fail_msg("%zu: %s", i, err.text);
        if (!strstr(text, cases[i].wanted))
            fail_msg("wanted %s, got %s", cases[i].wanted, text);
        assert_non_null(strstr(
            text, "<svg role=\"img\" aria-label=\"a &quot;chart&quot; of &lt;things&gt;\" viewBox=\"0 0 900 600\""));
        assert_null(strstr(text, " id="));
        free(text);
    }
}

static void what_is_no_drawing_is_refused(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "<script>alert(1)</script>",
        "<a href=\"http://x/\">x</a>",
        "<image href=\"http://x/\"/>",
        "<foreignObject><p>x</p></foreignObject>",
        "<text>a<script>alert(1)</script></text>",
        "<text>a &hellip; b</text>",
        "<text>never ends",
        "<desc>never ends",
        "<use xlink:href='http://x/y#gpPt3' transform='translate(1,1) scale(2)'/>",
        "<use xlink:href='#gpPt99' transform='translate(1,1) scale(2)'/>",
        "<use xlink:href='#gpPt3' transform='translate(1,1) scale(nan)'/>",
        "<path d='M1,1 C1,2 3,4 5,6' stroke='#000000'/>",
        "<path d='Mnan,1' stroke='#000000'/>",
        "<path stroke='#000000'/>",
        "<polygon points='1,1'/>",
        "<g><g><g><g><g><g><g><g><g><g><g><g><g><g><g><g><g><g><g><g><g><g><g><g><g><g><g><g><g><g><g><g><g>",
    };
    struct ub_error err;
    for (size_t i = 0; i < COUNT(bodies); i++) {
        char svg[2000];
        snprintf(svg, sizeof svg, "%s%s</svg>", SVG, bodies[i]);
        char *text = inlined(svg, &err);
        if (text)
            fail_msg("was taken: %s", bodies[i]);
        assert_int_equal(err.status, UB_BAD_DATA);
        assert_non_null(strstr(err.text, "is not what gnuplot's svg terminal writes"));
    }
    assert_null(inlined("<svg>", &err));
    assert_null(inlined("", &err));
    assert_null(inlined("<svg viewBox='0 0 -1 5'>", &err));
}

/* Attributes that nobody asked for are left behind. */
static void attributes_are_chosen(void **state)
{
    (void)state;
    struct ub_error err;
    char *text =
        inlined(SVG "<g onload=\"alert(1)\" stroke=\"currentColor\" color=\"url(http://x)\">"
                    "<path onclick='alert(1)' id='x' style='fill:url(http://x)' stroke-dasharray='1\" onload=\"x' "
                    "d='M1,1 L2,2'/></g></svg>",
                &err);
    assert_non_null(text);
    assert_non_null(strstr(text, "d=\"M1 1l1 1\""));
    assert_null(strstr(text, "onload"));
    assert_null(strstr(text, "onclick"));
    assert_null(strstr(text, "url("));
    assert_null(strstr(text, "http"));
    free(text);
}

static void lines_keep_their_shape(void **state)
{
    (void)state;
    struct written written = begin();
    struct ub_svg_spot line[] = {{0, 0}, {10, 0}, {20, 0.05}, {30, 0}, {30, 30}, {30, 30.01}};
    ub_svg_line(stream_of(&written), line, COUNT(line), false);
    expect(&written, "M0 0l30 0 0 30");
    /* A gentle curve is not one straight line, though no step of it bends much. */
    struct ub_svg_spot curve[101];
    for (size_t i = 0; i < COUNT(curve); i++)
        curve[i] = (struct ub_svg_spot){(double)i, 100 - 0.01 * (double)(i * i)};
    ub_svg_line(stream_of(&written), curve, COUNT(curve), false);
    fclose(written.out);
    size_t numbers = 0;
    for (const char *c = written.text; *c; c++)
        numbers += *c == ' ' || *c == '-' || *c == 'l';
    assert_in_range(numbers, 14, 80);
    free(written.text);
}

/* A record of the program's own rule: there the width is a word. */
static void make_record(struct ub_record *record, enum ub_source source, size_t points, size_t samples)
{
    fixture_record(record, source, points, samples);
    for (size_t i = 0; i < points; i++)
        ub_set_string(&record->points[i].axes[1].word, "4");
}

/* ---- verdicts -------------------------------------------------------------------- */

static void verdicts_follow_from_the_record(void **state)
{
    (void)state;
    struct ub_record record;
    struct ub_rule_facts facts;
    char text[1024];
    make_record(&record, UB_MEASURED, 4, 6);
    ub_rule_facts_of(&record, "coalescing", &facts);
    assert_int_equal(facts.verdict, UB_LAW_HOLDS);
    ub_rule_facts_text(&record, &facts, text, sizeof text);
    assert_string_equal(text, "8 of 8 exact counters equal the law\u2019s integers. The time lies within its tolerance "
                              "(5 %) at 4 of 4 points; the farthest is off by +1.0 % (stride: stride=1).");

    record.points[2].time_verdict = UB_TIME_DEVIATES;
    record.points[2].residual = -0.125;
    ub_rule_facts_of(&record, "coalescing", &facts);
    assert_int_equal(facts.verdict, UB_LAW_DEVIATES);
    ub_rule_facts_text(&record, &facts, text, sizeof text);
    assert_non_null(strstr(text, "at 3 of 4 points; the farthest is off by -12.5 % (stride: stride=3)."));

    record.points[1].counters[1].measured++;
    ub_rule_facts_of(&record, "coalescing", &facts);
    assert_int_equal(facts.verdict, UB_LAW_BROKEN);
    ub_rule_facts_text(&record, &facts, text, sizeof text);
    assert_non_null(strstr(text, "7 of 8 exact counters"));

    record.points[1].counters[0].class_ = UB_ESTIMATE;
    record.points[1].counters[0].tolerance = 0.01;
    record.points[1].counters[0].measured = 2 * record.points[1].counters[0].predicted;
    ub_rule_facts_of(&record, "coalescing", &facts);
    ub_rule_facts_text(&record, &facts, text, sizeof text);
    assert_non_null(strstr(text, " 1 estimated counter lies outside its tolerance."));
    record.points[1].counters[0].class_ = UB_STRUCTURAL;
    record.points[1].counters[0].measured = record.points[1].counters[0].predicted;

    record.points[3].status = UB_POINT_FAILED;
    ub_rule_facts_of(&record, "coalescing", &facts);
    ub_rule_facts_text(&record, &facts, text, sizeof text);
    assert_non_null(strstr(text, "5 of 6 exact counters"));
    assert_non_null(strstr(text, "1 point failed."));
    ub_record_free(&record);

    make_record(&record, UB_PREDICTED, 3, 0);
    ub_rule_facts_of(&record, "coalescing", &facts);
    assert_int_equal(facts.verdict, UB_LAW_NOT_TESTED);
    ub_rule_facts_text(&record, &facts, text, sizeof text);
    assert_string_equal(text, "Predicted at 3 points: nothing was measured, so no law was tested.");
    ub_record_free(&record);
}

struct sweep_size {
    const char *name;
    int points;
};

/* Points of the sweeps, each as many as stand beside its name. */
static void add_sweeps(struct ub_record *record, size_t count, const struct sweep_size *sweeps)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++)
        for (int j = 0; j < sweeps[i].points; j++, at++)
            ub_set_string(&record->points[at].sweep, sweeps[i].name);
}

static void the_first_sweep_of_some_size_stands_for_a_rule(void **state)
{
    (void)state;
    static const struct {
        struct sweep_size sweeps[3];
        size_t first; /* point of the sweep that is wanted */
    } cases[] = {
        {{{"ceiling", 9}, {"law", 5}, {"every", 6}}, 9},
        {{{"ceiling", 2}, {"law", 4}, {"every", 14}}, 6},
        {{{"ceiling", 12}, {"law", 4}, {"other", 4}}, 12},
        {{{"law", 18}, {"ceiling", 1}, {"every", 1}}, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct ub_record record;
        make_record(&record, UB_MEASURED, 20, 1);
        add_sweeps(&record, 3, cases[i].sweeps);
        assert_int_equal(ub_draft_main_sweep(&record, record.points[0].rule), cases[i].first);
        ub_record_free(&record);
    }
}

static void labels_are_short(void **state)
{
    (void)state;
    struct ub_record record;
    char text[200];
    make_record(&record, UB_MEASURED, 3, 6);
    ub_point_short_label(&record, &record.points[1], text, sizeof text);
    assert_string_equal(text, "stride=2");
    ub_record_free(&record);
    make_record(&record, UB_MEASURED, 1, 6);
    ub_point_short_label(&record, &record.points[0], text, sizeof text);
    assert_string_equal(text, "its only point");
    ub_record_free(&record);
    ub_date_text("2026-11-29T22:01:23Z", text, sizeof text);
    assert_string_equal(text, "2026-11-29 22:01 UTC");
    ub_date_text("yesterday\x1b", text, sizeof text);
    assert_string_equal(text, "yesterday?");
}

/* ---- the page -------------------------------------------------------------------- */

static char *page_of(struct ub_record *record, struct ub_report_outcome *outcome)
{
    struct ub_records records = {1, record};
    struct ub_error err;
    struct written written = begin();
    if (!ub_report_write(stream_of(&written), &records, outcome, &err))
        fail_msg("%s", err.text);
    fclose(written.out);
    return written.text;
}

static void a_page_without_gnuplot(void **state)
{
    (void)state;
    struct ub_record record;
    struct ub_report_outcome outcome;
    setenv("UBENCH_GNUPLOT", "/nonexistent/gnuplot", 1);
    make_record(&record, UB_MEASURED, 9, 6);
    char *page = page_of(&record, &outcome);
    assert_int_equal(outcome.charts, 1);
    assert_int_equal(outcome.missing, 1);
    if (!strstr(outcome.why, "apt install gnuplot-nox"))
        fail_msg("%s", outcome.why);
    assert_non_null(strstr(page, "<strong>No chart:</strong> charts need gnuplot"));
    assert_non_null(strstr(page, "<summary>Table of 9 points</summary>"));
    assert_non_null(
        strstr(page, "<h1>NVIDIA H200: 0 of 1 law holds, 1 contradicts itself</h1>")); /* its laws are made up */
    assert_null(strstr(page, "exact counters equal the laws"));                        /* and do not count */
    assert_null(strstr(page, "role=\"img\""));
    free(page);
    ub_record_free(&record);
}

static void pages_of_little(void **state)
{
    (void)state;
    setenv("UBENCH_GNUPLOT", "/nonexistent/gnuplot", 1);
    static const struct {
        enum ub_source source;
        size_t points, samples;
        const char *wanted;
    } cases[] = {
        {UB_MEASURED, 0, 0, "<h1>NVIDIA H200: 0 laws, none tested</h1>"},
        {UB_MEASURED, 1, 1, "<h1>NVIDIA H200: 0 of 1 law holds, 1 contradicts itself</h1>"},
        {UB_PREDICTED, 2, 0, "<h1>NVIDIA H200 (predicted): 0 of 1 law holds, 1 contradicts itself</h1>"},
        {UB_PUBLISHED, 2, 0, "<h1>NVIDIA H200 (published): 1 law, none tested</h1>"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct ub_record record;
        struct ub_report_outcome outcome;
        make_record(&record, cases[i].source, cases[i].points, cases[i].samples);
        char *page = page_of(&record, &outcome);
        if (!strstr(page, cases[i].wanted))
            fail_msg("%zu: wanted %s, got %.120s", i, cases[i].wanted, strstr(page, "<h1>"));
        free(page);
        ub_record_free(&record);
    }
}

static void a_rule_that_nobody_knows(void **state)
{
    (void)state;
    struct ub_record record;
    struct ub_report_outcome outcome;
    setenv("UBENCH_GNUPLOT", "/nonexistent/gnuplot", 1);
    make_record(&record, UB_MEASURED, 3, 6);
    for (size_t i = 0; i < 3; i++)
        ub_set_string(&record.points[i].rule, "</section><script>");
    char *page = page_of(&record, &outcome);
    assert_int_equal(outcome.charts, 0);
    assert_non_null(strstr(page, "A rule that this build of ubench does not know"));
    assert_non_null(strstr(page, "<p class=\"name\">&lt;/section&gt;&lt;script&gt;</p>"));
    assert_non_null(strstr(page, "Table of 3 points"));
    assert_null(strstr(page, "</section><script>"));
    free(page);
    ub_record_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_stay_texts),
        cmocka_unit_test(formats_are_markup),
        cmocka_unit_test(the_palette_is_that_of_charts),
        cmocka_unit_test(shapes_become_few_bytes),
        cmocka_unit_test(what_is_no_drawing_is_refused),
        cmocka_unit_test(attributes_are_chosen),
        cmocka_unit_test(lines_keep_their_shape),
        cmocka_unit_test(verdicts_follow_from_the_record),
        cmocka_unit_test(the_first_sweep_of_some_size_stands_for_a_rule),
        cmocka_unit_test(labels_are_short),
        cmocka_unit_test(a_page_without_gnuplot),
        cmocka_unit_test(pages_of_little),
        cmocka_unit_test(a_rule_that_nobody_knows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
