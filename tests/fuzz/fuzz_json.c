/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a record, a journal line and a job. What is read must be writable
 * in every format, and as JSON it must come back as the same bytes.
 *
 * With libFuzzer:
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -DUB_LIBFUZZER -D_GNU_SOURCE -I. \
 *     tests/fuzz/fuzz_json.c harness/contract/error.c harness/contract/record.c harness/io/[!g]*.c \
 *     harness/io/gbench.c -ljansson -lm -o fuzz_json && ./fuzz_json tests/golden/hostile
 * Without it, main() replays the files it is given. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/io/formats.h"
#include "harness/io/journal.h"
#include "harness/io/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "fuzz_json: %s\n", what);
    abort();
}

static char *write_record(const struct ub_record *record, bool redact, size_t *size)
{
    char *text = NULL;
    struct ub_error err;
    const struct ub_json_options options = {.redact = redact};
    FILE *stream = open_memstream(&text, size);
    require(stream && ub_json_write(stream, record, &options, &err), "a record that was read cannot be written");
    fclose(stream);
    return text;
}

static bool read_record(const char *text, size_t size, struct ub_record *record)
{
    struct ub_error err = {.text = ""};
    *record = (struct ub_record){0};
    if (size == 0)
        return false;
    FILE *stream = fmemopen((void *)(uintptr_t)text, size, "rb");
    require(stream != NULL, "fmemopen failed");
    bool good = ub_json_read(stream, "input", record, &err);
    require(good || (err.status == UB_BAD_DATA && *err.text), "refused without a reason");
    fclose(stream);
    return good;
}

static void print_all(const struct ub_record *record)
{
    bool (*const writers[])(FILE *, const struct ub_record *, struct ub_error *) = {
        ub_write_csv, ub_write_markdown, ub_write_gbench, ub_write_openmetrics};
    const struct ub_print_options options[] = {{.width = 80, .utf8 = true, .colour = true}, {.verbose = true}};
    struct ub_error err;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    require(stream != NULL, "open_memstream failed");
    for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++)
        require(writers[i](stream, record, &err), "a format failed");
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        require(ub_print_human(stream, record, &options[i], &err), "the table failed");
    fclose(stream);
    free(text);
}

static void try_record(const char *text, size_t size)
{
    struct ub_record record, back;
    size_t length = 0, again_length = 0, redacted_length = 0;
    if (!read_record(text, size, &record))
        return;
    char *written = write_record(&record, false, &length);
    require(read_record(written, length, &back), "a record that was written cannot be read");
    char *again = write_record(&back, false, &again_length);
    require(length == again_length && memcmp(written, again, length) == 0, "a record changed on the way");
    char *redacted = write_record(&record, true, &redacted_length);
    print_all(&record);
    free(redacted);
    free(again);
    free(written);
    ub_record_free(&back);
    ub_record_free(&record);
}

static void try_line(const char *text, size_t size)
{
    struct ub_line line;
    struct ub_error err;
    if (!ub_line_parse(text, size, &line, &err))
        return;
    char *written = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&written, &length);
    require(stream && ub_line_write(stream, &line, &err), "a line that was read cannot be written");
    fclose(stream);
    require(memchr(written, '\n', length) == written + length - 1, "a line of a journal is not one line");
    ub_line_free(&line);
    require(ub_line_parse(written, length - 1, &line, &err), "a line that was written cannot be read");
    ub_line_free(&line);
    free(written);
}

static void try_job(const char *text, size_t size)
{
    struct ub_job job;
    struct ub_error err;
    if (size == 0)
        return;
    FILE *stream = fmemopen((void *)(uintptr_t)text, size, "rb");
    require(stream != NULL, "fmemopen failed");
    if (ub_job_read(stream, &job, &err))
        ub_job_free(&job);
    fclose(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    try_record(text, size);
    try_line(text, size);
    try_job(text, size);
    return 0;
}

#ifndef UB_LIBFUZZER
/* Returns false where the file cannot be read. */
static bool replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        return false;
    long size = ftell(file);
    rewind(file);
    uint8_t *data = size < 0 ? NULL : malloc((size_t)size + 1);
    bool good = data && fread(data, 1, (size_t)size, file) == (size_t)size;
    if (good)
        LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    fclose(file);
    return good;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        if (replay(argv[i]))
            continue;
        fprintf(stderr, "fuzz_json: cannot read %s\n", argv[i]);
        failed = 1;
    }
    return failed;
}
#endif
