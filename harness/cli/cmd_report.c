/* SPDX-License-Identifier: MIT
 *
 * ubench report RUN.json...: saved records as one page. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/cli/options.h"
#include "harness/io/json.h"
#include "harness/io/records.h"
#include "report/report.h"

enum { PATH_BYTES = 4096 };

/* The page's name where none is given: beside a single RUN.json RUN.html, else report.html here. */
static const char *choose_output(const struct ub_options *options, char *name, size_t size)
{
    static const char json[] = ".json";
    const char *path = options->operands[0];
    const size_t length = strlen(path), stem = length - strlen(json);
    if (options->output)
        return options->output;
    if (options->operand_count > 1 || length <= strlen(json) || strcmp(path + stem, json) != 0)
        return "report.html";
    snprintf(name, size, "%.*s.html", (int)stem, path);
    return name;
}

/* What is redacted must not stand in the text of the page either: the record is written
 * without it and read back. */
static bool redact(struct ub_record *record, struct ub_error *err)
{
    const struct ub_json_options options = {.redact = true};
    struct ub_record plain = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    bool ok = memory && ub_json_write(memory, record, &options, err);
    if (memory)
        fclose(memory);
    memory = ok ? fmemopen(text, size, "rb") : NULL;
    ok = memory && ub_json_read(memory, "redacted", &plain, err);
    if (memory)
        fclose(memory);
    free(text);
    if (!ok)
        return ub_fail(err, UB_INTERNAL, "a record cannot be redacted");
    ub_record_free(record);
    *record = plain;
    return true;
}

/* Whether an earlier operand is the same file. */
static bool stands_earlier(const struct ub_options *options, size_t index)
{
    struct stat own, other;
    if (strcmp(options->operands[index], "-") == 0 || stat(options->operands[index], &own) != 0 ||
        !S_ISREG(own.st_mode))
        return false;
    for (size_t i = 0; i < index; i++)
        if (stat(options->operands[i], &other) == 0 && other.st_dev == own.st_dev && other.st_ino == own.st_ino)
            return true;
    return false;
}

static bool read_records(const struct ub_options *options, struct ub_records *records, struct ub_error *err)
{
    for (size_t i = 0; i < options->operand_count; i++) {
        const bool again = stands_earlier(options, i);
        if (again && !options->quiet)
            fprintf(stderr, "ubench: %s is given twice and taken once\n", options->operands[i]);
        if (!again && !ub_records_read(options->operands[i], records, err))
            return false;
    }
    for (size_t i = 0; i < records->count && options->redact; i++)
        if (!redact(&records->items[i], err))
            return false;
    return true;
}

/* A finished page. It is made before its file is begun: drawing takes a while, and a signal in
 * the meantime leaves nothing behind. */
struct page {
    char *text;
    size_t size;
    struct ub_report_outcome outcome;
};

static bool make_page(const struct ub_records *records, struct page *page, struct ub_error *err)
{
    FILE *memory = open_memstream(&page->text, &page->size);
    if (!memory)
        return ub_fail(err, UB_INTERNAL, "out of memory while making a report");
    const bool ok = ub_report_write(memory, records, &page->outcome, err);
    return (fclose(memory) == 0 || ub_fail(err, UB_INTERNAL, "out of memory while making a report")) && ok;
}

static bool write_page(FILE *stream, const void *subject, struct ub_error *err)
{
    const struct page *page = subject;
    return fwrite(page->text, 1, page->size, stream) == page->size ||
           ub_fail(err, UB_CANNOT_WRITE, "cannot write: %s", strerror(errno));
}

static bool write_report(const struct ub_options *options, const struct ub_records *records, const char *output,
                         struct ub_error *err)
{
    struct page page = {0};
    const bool ok = make_page(records, &page, err) && ub_write_output(output, options->force, write_page, &page, err);
    free(page.text);
    if (!ok)
        return false;
    if (page.outcome.missing > 0 && !options->quiet)
        fprintf(stderr, "ubench: %zu of %zu charts are missing: %s\n", page.outcome.missing, page.outcome.charts,
                page.outcome.why);
    if (strcmp(output, "-") != 0 && !options->quiet)
        fprintf(stderr, "ubench: wrote %s\n", output);
    return true;
}

enum ub_status ub_cmd_report(struct ub_options *options, struct ub_error *err)
{
    char name[PATH_BYTES];
    struct ub_records records = {0};
    const char *output = choose_output(options, name, sizeof name);
    bool ok = ub_output_check_inputs(output, options->operand_count, options->operands, err) &&
              ub_output_check(output, options->force, err) && read_records(options, &records, err);
    if (ok && options->dry_run)
        printf("would write a report of %zu record%s to %s\n", records.count, records.count == 1 ? "" : "s", output);
    else if (ok)
        ok = write_report(options, &records, output, err);
    ub_records_free(&records);
    return ok ? UB_OK : err->status;
}
