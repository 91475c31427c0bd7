/* SPDX-License-Identifier: MIT */
#include "harness/io/records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/io/json.h"
#include "harness/io/text.h"

enum { CHUNK = 1 << 16, NAME_BYTES = 160, NAME_COLUMNS = 110 };
static const size_t longest_page = (size_t)1 << 30;

/* No text of a page can hold these: '<' is always escaped there. */
static const char opening[] = "<script type=\"application/json\" class=\"ubench-record\"";
static const char closing[] = "</script>";

/* ---- writing ------------------------------------------------------------------ */

/* JSON has '&' and '>' in strings alone, where \u stands for them: what is left means
 * nothing to a parser of HTML or of XML. ('<' is escaped by the writer of records.) */
static void write_escaped(FILE *stream, const char *json, size_t length)
{
    const char *run = json, *end = json + length;
    for (const char *at = json; at < end; at++) {
        if (*at != '&' && *at != '>')
            continue;
        fwrite(run, 1, (size_t)(at - run), stream);
        fprintf(stream, "\\u%04x", (unsigned)*at);
        run = at + 1;
    }
    fwrite(run, 1, (size_t)(end - run), stream);
}

bool ub_page_record_write(FILE *stream, const struct ub_record *record, size_t number, struct ub_error *err)
{
    const struct ub_json_options options = {.no_samples = true, .columns = true};
    char *json = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&json, &length);
    if (!memory)
        return ub_fail(err, UB_INTERNAL, "out of memory while writing a record into a page");
    bool ok = ub_json_write(memory, record, &options, err);
    if (fclose(memory) != 0 && ok)
        ok = ub_fail(err, UB_INTERNAL, "out of memory while writing a record into a page");
    if (ok) {
        fprintf(stream, "%s id=\"record-%zu\">\n", opening, number);
        write_escaped(stream, json, length);
        fprintf(stream, "%s\n", closing);
    }
    free(json);
    return ok;
}

/* ---- reading -------------------------------------------------------------------- */

struct page {
    const char *name;
    const char *const *unwanted; /* members of points; NULL: none */
    char *bytes;                 /* owned, ended by a NUL */
    size_t length, at;
};

bool ub_page_begins(FILE *stream)
{
    const int first = getc(stream);
    if (first != EOF)
        ungetc(first, stream);
    return first == '<';
}

/* Fails with "NAME: text". */
static bool fail_page(const struct page *page, const char *text, struct ub_error *err)
{
    char name[NAME_BYTES];
    return ub_fail(err, UB_BAD_DATA, "%s: %s", ub_text_plain(name, sizeof name, page->name, NAME_COLUMNS, true), text);
}

static bool load(struct page *page, FILE *stream, struct ub_error *err)
{
    size_t capacity = 0, got = 0;
    do {
        if (page->length + CHUNK + 1 > capacity) {
            capacity = 2 * capacity + CHUNK + 1;
            char *grown = capacity > 2 * longest_page ? NULL : realloc(page->bytes, capacity);
            if (!grown)
                return fail_page(page, "longer than this program can hold: this is no report of ubench", err);
            page->bytes = grown;
        }
        got = fread(page->bytes + page->length, 1, CHUNK, stream);
        page->length += got;
    } while (got > 0);
    page->bytes[page->length] = 0;
    return !ferror(stream) || fail_page(page, "cannot be read to its end", err);
}

/* Finds the next record of the page; false: there is none. *json is not ended by a NUL. */
static bool next_record(struct page *page, const char **json, size_t *length)
{
    const char *rest = page->bytes + page->at, *end = page->bytes + page->length;
    const char *found = memmem(rest, (size_t)(end - rest), opening, sizeof opening - 1);
    const char *begin = found ? memchr(found, '>', (size_t)(end - found)) : NULL;
    if (!begin)
        return false;
    begin++;
    const char *close = memmem(begin, (size_t)(end - begin), closing, sizeof closing - 1);
    *json = begin;
    *length = (size_t)((close ? close : end) - begin);
    page->at = (size_t)(begin + *length - page->bytes);
    return true;
}

static struct ub_record *append(struct ub_records *records)
{
    struct ub_record *grown = realloc(records->items, (records->count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    records->items = grown;
    records->items[records->count] = (struct ub_record){0};
    return &records->items[records->count++];
}

static void drop_to(struct ub_records *records, size_t count)
{
    while (records->count > count)
        ub_record_free(&records->items[--records->count]);
}

/* Reads a record of the page; messages name it "report.html, record 2". */
static bool read_record(const struct page *page, size_t number, const char *json, size_t length,
                        struct ub_record *record, struct ub_error *err)
{
    char plain[NAME_BYTES], name[NAME_BYTES + 40];
    ub_text_plain(plain, sizeof plain, page->name, NAME_COLUMNS - 20, true);
    snprintf(name, sizeof name, "%s, record %zu", plain, number);
    if (length == 0 || *json == '<')
        return ub_fail(err, UB_BAD_DATA, "%s: this is no JSON", name);
    FILE *stream = fmemopen((void *)(uintptr_t)json, length, "rb");
    if (!stream)
        return ub_fail(err, UB_INTERNAL, "out of memory while reading %s", name);
    const bool ok = ub_json_read_without(stream, name, page->unwanted, record, err);
    fclose(stream);
    return ok;
}

/* Whether a page that ubench wrote lacks its end: records may have been lost with it. */
static bool is_cut_off(const struct page *page)
{
    static const char mark[] = "<meta name=\"generator\" content=\"ubench ", end[] = "</html>";
    return memmem(page->bytes, page->length, mark, sizeof mark - 1) &&
           !memmem(page->bytes, page->length, end, sizeof end - 1);
}

/* Appends record number `wanted` of the page; 0: all. */
static bool read_page(struct page *page, size_t wanted, struct ub_records *out, struct ub_error *err)
{
    const char *json = NULL;
    size_t length = 0, number = 0;
    if (is_cut_off(page))
        return fail_page(page, "this page is cut off: its end is missing, and records with it", err);
    while (next_record(page, &json, &length)) {
        if (wanted && ++number != wanted)
            continue;
        struct ub_record *record = append(out);
        if (!record)
            return ub_fail(err, UB_INTERNAL, "out of memory while reading %s", page->name);
        if (!read_record(page, wanted ? number : ++number, json, length, record, err))
            return false;
        if (wanted)
            return true;
    }
    if (number == 0)
        return fail_page(page, "this is a page, but no report of ubench: there is no record in it", err);
    char text[80];
    snprintf(text, sizeof text, "it holds %zu record%s: there is no #%zu", number, number == 1 ? "" : "s", wanted);
    return wanted == 0 || fail_page(page, text, err);
}

static bool read_stream(FILE *stream, const char *name, const char *const *unwanted, size_t wanted,
                        struct ub_records *out, struct ub_error *err)
{
    struct page page = {.name = name, .unwanted = unwanted};
    bool ok;
    if (ub_page_begins(stream)) {
        ok = load(&page, stream, err) && read_page(&page, wanted, out, err);
    } else {
        struct ub_record *record = append(out);
        ok = record ? ub_json_read_without(stream, name, unwanted, record, err)
                    : ub_fail(err, UB_INTERNAL, "out of memory");
    }
    free(page.bytes);
    return ok;
}

/* "report.html#2" where no file has that name: the path without the mark, and 2. */
static size_t split_number(const char *path, char *file, size_t size)
{
    const char *mark = strrchr(path, '#');
    char *end = NULL;
    const unsigned long number = mark && mark > path ? strtoul(mark + 1, &end, 10) : 0;
    if (number == 0 || *end != 0 || strspn(mark + 1, "0123456789") != strlen(mark + 1) || (size_t)(mark - path) >= size)
        return 0;
    snprintf(file, size, "%.*s", (int)(mark - path), path);
    return number;
}

static bool read_file(const char *path, const char *const *unwanted, struct ub_records *out, struct ub_error *err)
{
    char file[4096];
    size_t number = 0;
    FILE *stream = fopen(path, "rb");
    const int code = errno;
    if (!stream && (number = split_number(path, file, sizeof file)) != 0)
        stream = fopen(file, "rb");
    if (!stream)
        return ub_fail(err, UB_BAD_DATA, "%s: cannot open: %s", path, strerror(code));
    if (number > 0 && !ub_page_begins(stream)) {
        fclose(stream);
        return ub_fail(err, UB_BAD_DATA, "%s: #%zu is for a report, which may hold several records; %s is none", path,
                       number, file);
    }
    const bool ok = read_stream(stream, number ? file : path, unwanted, number, out, err);
    fclose(stream);
    return ok;
}

bool ub_records_read(const char *path, struct ub_records *out, struct ub_error *err)
{
    const size_t before = out->count;
    const bool ok = strcmp(path, "-") == 0 ? read_stream(stdin, "standard input", NULL, 0, out, err)
                                           : read_file(path, NULL, out, err);
    if (!ok)
        drop_to(out, before);
    return ok;
}

void ub_records_free(struct ub_records *records)
{
    drop_to(records, 0);
    free(records->items);
    *records = (struct ub_records){0};
}

void ub_records_list(const struct ub_records *records, size_t first, char *text, size_t size)
{
    size_t used = 0;
    for (size_t i = first; i < records->count && used < size; i++) {
        const struct ub_record *record = &records->items[i];
        char rule[60], device[60];
        ub_text_plain(rule, sizeof rule, record->point_count ? record->points[0].rule : "no points", 40, true);
        ub_text_plain(device, sizeof device, record->device.name ? record->device.name : "an unnamed GPU", 40, true);
        used += (size_t)snprintf(text + used, size - used, "%s#%zu %s on %s", i > first ? ", " : "", i - first + 1,
                                 rule, device);
    }
}

/* Moves the only record out of the list. */
static bool take_only(struct ub_records *records, const char *name, struct ub_record *record, struct ub_error *err)
{
    char list[700], plain[NAME_BYTES];
    if (records->count == 1) {
        *record = records->items[0];
        records->items[0] = (struct ub_record){0};
        return true;
    }
    ub_records_list(records, 0, list, sizeof list);
    ub_text_plain(plain, sizeof plain, name, NAME_COLUMNS, true);
    return ub_fail(err, UB_BAD_DATA, "%s holds %zu records; write %s#NUMBER for one of them: %s", plain, records->count,
                   plain, list);
}

bool ub_page_read_only(FILE *stream, const char *name, const char *const *unwanted, struct ub_record *record,
                       struct ub_error *err)
{
    struct ub_records records = {0};
    const bool ok = read_stream(stream, name, unwanted, 0, &records, err) && take_only(&records, name, record, err);
    ub_records_free(&records);
    return ok;
}

bool ub_json_read_file_without(const char *path, const char *const *members, struct ub_record *record,
                               struct ub_error *err)
{
    struct ub_records records = {0};
    *record = (struct ub_record){0};
    const bool ok = read_file(path, members, &records, err) && take_only(&records, path, record, err);
    ub_records_free(&records);
    return ok;
}

bool ub_json_read_file(const char *path, struct ub_record *record, struct ub_error *err)
{
    return ub_json_read_file_without(path, NULL, record, err);
}
