/* SPDX-License-Identifier: MIT
 *
 * Running gnuplot: stand-ins that fail in every way, and where a chart may be written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plots/gnuplot.h"
#include "tests/plots/plots.h"

/* A folder with a program `gnuplot` made of `body`, named by UBENCH_GNUPLOT. */
struct stand_in {
    char folder[64], program[128], chart[128];
};

static void make_stand_in(struct stand_in *in, const char *body)
{
    snprintf(in->folder, sizeof in->folder, "/tmp/ubench-plot-test-XXXXXX");
    assert_non_null(mkdtemp(in->folder));
    snprintf(in->program, sizeof in->program, "%s/gnuplot", in->folder);
    snprintf(in->chart, sizeof in->chart, "%s/chart.svg", in->folder);
    FILE *file = fopen(in->program, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\nif [ \"$1\" = --version ]; then %s\n",
            strstr(body, "--version") ? body : "echo 'gnuplot 5.4 patchlevel 4'; exit; fi");
    /* The picture's name stands in the script's second line. */
    fprintf(file, "out=$(sed -n \"s/^OUT = '\\(.*\\)'$/\\1/p\" \"$2\")\n%s\n", strstr(body, "--version") ? "" : body);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(in->program, 0755), 0);
    setenv("UBENCH_GNUPLOT", in->program, 1);
}

static int files_in(const char *folder)
{
    int count = 0;
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing));)
        count += entry->d_name[0] != '.';
    closedir(listing);
    return count;
}

static void remove_stand_in(struct stand_in *in)
{
    unlink(in->chart);
    unlink(in->program);
    assert_int_equal(rmdir(in->folder), 0);
    unsetenv("UBENCH_GNUPLOT");
}

static void test_stand_ins(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        enum ub_status status; /* UB_OK: drawn */
        const char *part;
    } rows[] = {
        {"printf '<?xml version=\"1.0\"?><svg></svg>\\n' > \"$out\"", UB_OK, ""},
        {"printf '<?xml version=\"1.0\"?><svg></svg>\\n' > \"$out\"; echo 'Fontconfig error: no cache' >&2", UB_OK, ""},
        {"printf '<?xml version=\"1.0\"?><svg></svg>\\n' > \"$out\"; exit 3", UB_CANNOT_WRITE, "exit status 3"},
        {"printf '<?xml version=\"1.0\"?><svg></svg>\\n' > \"$out\"; echo 'warning: odd' >&2", UB_CANNOT_WRITE,
         "warning: odd"},
        {"printf '<?xml version=\"1.0\"?><svg>' > \"$out\"", UB_CANNOT_WRITE, "no complete svg"},
        {": > \"$out\"", UB_CANNOT_WRITE, "no complete svg"},
        {"rm -f \"$out\"", UB_CANNOT_WRITE, "no complete svg"},
        {"kill -9 $$", UB_CANNOT_WRITE, "signal 9"},
        {"echo 'ubench: missing terminal svg' >&2", UB_MISSING_PROGRAM, "terminal svg is missing"},
        {"echo 'gnuplot 5.0 patchlevel 1'; exit; fi # --version", UB_MISSING_PROGRAM, "5.2 or later"},
        {"echo 'something else'; exit; fi # --version", UB_MISSING_PROGRAM, "no gnuplot"},
    };
    struct ub_record record;
    make_stride(&record);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct stand_in in;
        struct ub_error err = {0};
        make_stand_in(&in, rows[i].body);
        const bool drawn = ub_plot(&record, &(struct ub_plot_options){0}, in.chart, &err);
        if (drawn != (rows[i].status == UB_OK) || (!drawn && err.status != rows[i].status) ||
            (!drawn && !strstr(err.text, rows[i].part)))
            fail_msg("row %zu: drawn %d, status %d, \"%s\"", i, drawn, err.status, err.text);
        /* The program, and the chart only if it is whole. */
        assert_int_equal(files_in(in.folder), drawn ? 2 : 1);
        remove_stand_in(&in);
    }
    ub_record_free(&record);
}

static void test_hanging(void **state)
{
    (void)state;
    struct stand_in in;
    struct ub_error err = {0};
    make_stand_in(&in, "exec tail -f /dev/null");
    assert_false(ub_gnuplot_draw("script.gp", in.chart, ub_term_find("svg", in.chart, NULL), 100, &err));
    assert_int_equal(err.status, UB_CANNOT_WRITE);
    assert_non_null(strstr(err.text, "did not end within 100 ms"));
    remove_stand_in(&in);
}

/* A chart is written to a pipe or a device, never put in its place; a link is followed. */
static void test_targets(void **state)
{
    (void)state;
    static const char good[] = "printf '<?xml version=\"1.0\"?><svg></svg>\\n' > \"$out\"";
    struct stand_in in;
    struct ub_record record;
    struct ub_error err = {0};
    struct stat status;
    struct ub_plot_options options = {.term = "svg", .keep_script = true};
    char said[80] = "", target[160];
    make_stride(&record);
    make_stand_in(&in, good);
    setenv("TMPDIR", in.folder, 1);
    assert_int_equal(mkfifo(in.chart, 0600), 0);
    const int reader = open(in.chart, O_RDONLY | O_NONBLOCK);
    assert_true(ub_plot(&record, &options, in.chart, &err));
    assert_true(read(reader, said, sizeof said - 1) > 0);
    assert_string_equal(said, "<?xml version=\"1.0\"?><svg></svg>\n");
    close(reader);
    assert_int_equal(stat(in.chart, &status), 0);
    assert_true(S_ISFIFO(status.st_mode));
    assert_int_equal(files_in(in.folder), 2);
    unlink(in.chart);
    /* The device that is always full: written into by way of a link of our own. */
    assert_int_equal(symlink("/dev/full", in.chart), 0);
    if (access("/dev/full", W_OK) == 0) {
        assert_false(ub_plot(&record, &options, in.chart, &err));
        assert_int_equal(err.status, UB_CANNOT_WRITE);
        assert_non_null(strstr(err.text, "No space left"));
        assert_int_equal(files_in(in.folder), 2);
    }
    unlink(in.chart);
    /* The file behind a link is replaced, the link stays. */
    snprintf(target, sizeof target, "%s/behind", in.folder);
    fclose(fopen(target, "w"));
    assert_int_equal(symlink("behind", in.chart), 0);
    assert_false(ub_plot(&record, &options, in.chart, &err));
    options = (struct ub_plot_options){.force = true};
    assert_true(ub_plot(&record, &options, in.chart, &err));
    assert_int_equal(lstat(in.chart, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(stat(target, &status), 0);
    assert_int_equal(status.st_size, (off_t)strlen(said));
    unlink(target);
    assert_false(ub_plot(&record, &options, in.chart, &err)); /* now it hangs in the air */
    assert_int_equal(err.status, UB_CANNOT_WRITE);
    unsetenv("TMPDIR");
    remove_stand_in(&in);
    ub_record_free(&record);
}

static void test_check(void **state)
{
    (void)state;
    struct stand_in in;
    char script[160], missing[160];
    make_stand_in(&in, "exit 1");
    snprintf(script, sizeof script, "%s/chart.gp", in.folder);
    snprintf(missing, sizeof missing, "%s/none/chart.svg", in.folder);
    fclose(fopen(in.chart, "w"));
    fclose(fopen(script, "w"));
    char other[160];
    snprintf(other, sizeof other, "%s/chart.png", in.folder);
    const struct {
        struct ub_plot_options options;
        const char *path;
        enum ub_status status; /* UB_OK: it could be drawn */
        const char *part;
    } rows[] = {
        {{0}, in.chart, UB_CANNOT_WRITE, "chart.svg exists; --force overwrites it"},
        {{.force = true}, in.chart, UB_OK, ""},
        {{0}, other, UB_OK, ""},
        {{.keep_script = true}, other, UB_CANNOT_WRITE, "chart.gp exists; --force overwrites it"},
        {{.keep_script = true, .force = true}, other, UB_OK, ""},
        {{.keep_script = true, .force = true, .term = "svg"}, script, UB_USAGE, "in the place of the chart"},
        {{.keep_script = true}, "-", UB_OK, ""},
        {{0}, missing, UB_CANNOT_WRITE, "none: No such file"},
        {{.term = "svg", .force = true}, in.folder, UB_CANNOT_WRITE, "it is a folder"},
        {{.term = "gif"}, other, UB_USAGE, "--term gif"},
        {{0}, "a.gif", UB_USAGE, ".svg, .png, .pdf or .txt"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ub_error err = {0};
        const bool good = ub_plot_check(&rows[i].options, rows[i].path, &err);
        if (good != (rows[i].status == UB_OK) ||
            (!good && (err.status != rows[i].status || !strstr(err.text, rows[i].part))))
            fail_msg("row %zu: %d, status %d, \"%s\"", i, good, err.status, err.text);
    }
    struct ub_error err = {0};
    struct ub_record record;
    struct stat status;
    make_stride(&record);
    assert_false(ub_plot(&record, &(struct ub_plot_options){0}, in.chart, &err));
    assert_false(ub_plot(&record, &(struct ub_plot_options){.keep_script = true}, other, &err));
    assert_int_equal(stat(in.chart, &status) + stat(script, &status), 0);
    assert_int_equal(status.st_size, 0);
    assert_int_equal(files_in(in.folder), 3);
    unlink(script);
    remove_stand_in(&in);
    ub_record_free(&record);
}

static void test_missing(void **state)
{
    (void)state;
    char text[80];
    struct ub_error err = {0};
    setenv("UBENCH_GNUPLOT", "/nonexistent/gnuplot", 1);
    assert_false(ub_gnuplot_version(text, sizeof text, &err));
    assert_int_equal(err.status, UB_MISSING_PROGRAM);
    assert_non_null(strstr(err.text, "apt install gnuplot-nox"));
    unsetenv("UBENCH_GNUPLOT");
}

static void test_no_folder(void **state)
{
    (void)state;
    struct stand_in in;
    struct ub_record record;
    struct ub_error err = {0};
    make_stride(&record);
    make_stand_in(&in, "exit 1");
    assert_false(ub_plot(&record, &(struct ub_plot_options){0}, "/nonexistent/folder/chart.svg", &err));
    assert_int_equal(err.status, UB_CANNOT_WRITE);
    assert_non_null(
        strstr(err.text, "/nonexistent/folder/chart.svg: the folder /nonexistent/folder: No such file or directory"));
    remove_stand_in(&in);
    ub_record_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stand_ins), cmocka_unit_test(test_hanging), cmocka_unit_test(test_targets),
        cmocka_unit_test(test_check),     cmocka_unit_test(test_missing), cmocka_unit_test(test_no_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
