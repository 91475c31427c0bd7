/* SPDX-License-Identifier: MIT
 *
 * One's own card from a file: the examples of docs/model-file.md, and whatever a
 * file can have wrong, each with a message that names the thing. */
#include "harness/io/gpu_file.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Opens `length` bytes as a file of their own. */
static bool open_bytes(const char *bytes, size_t length, struct ub_gpu_file *file, struct ub_error *err)
{
    char path[] = "/tmp/ubench-model-XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    FILE *stream = fdopen(descriptor, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, length, stream), length);
    assert_int_equal(fclose(stream), 0);
    const bool opened = ub_gpu_file_open(path, file, err);
    unlink(path);
    return opened;
}

static struct ub_gpu_file open_text(const char *text)
{
    struct ub_gpu_file file = {0};
    struct ub_error err = {0};
    if (!open_bytes(text, strlen(text), &file, &err))
        fail_msg("%s", err.text);
    return file;
}

/* ---- the documented examples ----------------------------------------------- */

/* The number'th ```json block of the page (malloc). */
static char *example(int number)
{
    static const char fence[] = "```json\n";
    FILE *stream = fopen(UB_SOURCE_DIR "/docs/model-file.md", "rb");
    assert_non_null(stream);
    char *page = calloc(1, 1 << 16);
    assert_non_null(page);
    assert_true(fread(page, 1, (1 << 16) - 1, stream) > 0);
    fclose(stream);
    const char *start = page;
    for (int i = 0; i <= number; i++) {
        start = strstr(start, fence);
        assert_non_null(start);
        start += sizeof fence - 1;
    }
    const char *end = strstr(start, "```");
    assert_non_null(end);
    char *text = strndup(start, (size_t)(end - start));
    assert_non_null(text);
    free(page);
    return text;
}

static void the_short_example(void **state)
{
    (void)state;
    char *text = example(0);
    struct ub_gpu_file file = open_text(text);
    free(text);
    const struct ub_gpu *h200 = ub_gpu_find("h200");
    assert_string_equal(file.gpu.name, "H200 with half the SMs");
    assert_int_equal(file.gpu.sms, 66);
    assert_null(file.gpu.slug); /* else a record would be read as an H200's */
    assert_false(file.gpu.verified);
    assert_int_equal(file.gpu.memory_bytes, h200->memory_bytes);
    assert_true(file.gpu.dram_bandwidth_bps == h200->dram_bandwidth_bps);
    assert_string_equal(file.gpu.chip, "GH100");
    assert_non_null(strstr(file.gpu.source, "ubench-model-"));
    assert_null(strchr(file.gpu.source, '/')); /* a record shows no folders */
    assert_non_null(strstr(file.gpu.source, "row h200"));
    ub_gpu_file_close(&file);
    assert_null(file.gpu.name);
    ub_gpu_file_close(&file); /* harmless */
}

static void the_full_example(void **state)
{
    (void)state;
    char *text = example(1);
    struct ub_gpu_file file = open_text(text);
    free(text);
    const struct ub_gpu *gpu = &file.gpu;
    assert_string_equal(gpu->slug, "my-card");
    assert_string_equal(gpu->name, "Card of an example");
    assert_string_equal(gpu->source, "my own reading of a data sheet");
    assert_null(gpu->notes);
    assert_int_equal(gpu->sms, 100);
    assert_int_equal(gpu->shared_per_block_optin_bytes, 232448);
    assert_int_equal(gpu->memory_bytes, 80000000000);
    assert_int_equal(gpu->dram_read_grain_bytes, 64);
    assert_int_equal(gpu->copy_engines, 2);
    assert_true(isnan(gpu->clock_base_mhz));
    assert_true(gpu->clock_boost_mhz == 1700.5);
    assert_true(gpu->dram_bandwidth_bps == 3e12);
    ub_gpu_file_close(&file);
}

#define NEEDED                                                                                                         \
    "\"name\": \"x\", \"sms\": 10, \"l2_bytes\": 1048576, \"memory_bytes\": 4294967296, \"clock_boost_mhz\": 1000, "   \
    "\"dram_bandwidth_bps\": 1e12"

static void a_generation_gives_the_rest(void **state)
{
    (void)state;
    struct ub_gpu_file file = open_text("{" NEEDED ", \"cc_major\": 8, \"cc_minor\": 6}");
    assert_int_equal(file.gpu.warps_per_sm, 48);
    assert_int_equal(file.gpu.shared_per_sm_bytes, 102400);
    assert_string_equal(file.gpu.architecture, "Ampere");
    assert_non_null(strstr(file.gpu.source, "generation"));
    assert_true(file.gpu.clock_boost_mhz == 1000); /* an integer where a number is wanted */
    ub_gpu_file_close(&file);
    file = open_text("{" NEEDED ", \"cc_major\": 13, \"cc_minor\": 0, \"verified\": true}");
    assert_int_equal(file.gpu.cc_major, 13);
    assert_true(file.gpu.verified);
    ub_gpu_file_close(&file);
}

static void a_file_may_change_what_a_base_says(void **state)
{
    (void)state;
    struct ub_gpu_file file = open_text(
        "{\"base\": \"RTX 4090\", \"name\": \"y\", \"chip\": null, \"clock_base_mhz\": null, \"slug\": \"y\"}");
    assert_null(file.gpu.chip);
    assert_true(isnan(file.gpu.clock_base_mhz));
    assert_string_equal(file.gpu.slug, "y");
    assert_non_null(strstr(file.gpu.source, "row rtx4090"));
    ub_gpu_file_close(&file);
}

/* ---- what can be wrong ------------------------------------------------------ */

#define BASED(rest) "{\"base\": \"h200\", \"name\": \"x\", " rest "}"

static void bad_files(void **state)
{
    (void)state;
    static const struct {
        const char *text, *names, *says;
    } rows[] = {
        {"", "line 1", ""},
        {"{\"base\": \"h200\",", "line 1", ""},
        {"nonsense", "line 1", ""},
        {"[]", "one JSON object", ""},
        {"{\"base\": \"h200\", \"name\": NaN}", "line 1", ""},
        {"{\"name\": \"a\", \"name\": \"b\"}", "line 1", "duplicate"},
        {"{}", "'name' is missing", ""},
        {"{\"name\": \"x\"}", "'cc_major' is missing", "\"base\": one of v100, t4"},
        {"{\"base\": \"h200\"}", "'name' is missing", ""},
        {"{" NEEDED ", \"cc_major\": 9}", "'cc_minor' is missing", ""},
        {"{" NEEDED ", \"cc_major\": 6, \"cc_minor\": 1}", "cc_major is 6", "an integer of 7 to 99"},
        {"{\"base\": \"h20\", \"name\": \"x\"}", "base must be", "h200"},
        {"{\"base\": 5, \"name\": \"x\"}", "base must be", "h200"},
        {BASED("\"smz\": 4"), "unknown key 'smz'", "base, slug, name"},
        {BASED("\"\\u001b[31m\": 4"), "unknown key '?[31m'", ""},
        {BASED("\"sms\": 0"), "sms is 0", "an integer of 1 to 4096"},
        {BASED("\"sms\": -4"), "sms is -4", "an integer of 1 to 4096"},
        {BASED("\"sms\": 132.0"), "sms is 132.0", "an integer"},
        {BASED("\"sms\": \"many\""), "sms is \"many\"", "an integer"},
        {BASED("\"sms\": null"), "sms is null", "an integer"},
        {BASED("\"sms\": [1]"), "sms is [1]", "an integer"},
        {BASED("\"sms\": 99999999999999999999"), "line 1", "too big"},
        {BASED("\"sms\": 9223372036854775807"), "sms is 9223372036854775807", "4096"},
        {BASED("\"memory_bytes\": -1"), "memory_bytes is -1", "bytes"},
        {BASED("\"memory_bytes\": 1e11"), "memory_bytes is 1", "an integer"},
        {BASED("\"sector_bytes\": 64"), "sector_bytes is 64", "must be 32 bytes"},
        {BASED("\"copy_engines\": -1"), "copy_engines is -1", "0 to 64"},
        {BASED("\"dram_read_grain_bytes\": 48"), "dram_read_grain_bytes is 48", "a power of two"},
        {BASED("\"clock_boost_mhz\": 1.98e9"), "clock_boost_mhz is 1", "MHz"},
        {BASED("\"clock_boost_mhz\": null"), "clock_boost_mhz is null", "a number"},
        {BASED("\"dram_bandwidth_bps\": 4800"), "dram_bandwidth_bps is 4800", "bytes per second"},
        {BASED("\"dram_bandwidth_bps\": 1e999"), "line 1", "overflow"},
        {BASED("\"chip\": 7"), "chip is 7", "or null"},
        {BASED("\"chip\": \"\""), "chip is \"\"", "a text"},
        {BASED("\"notes\": \"\\u001b[2J\""), "notes is", "control characters"},
        {BASED("\"verified\": 1"), "verified is 1", "true or false"},
        {BASED("\"slug\": \"H200\""), "slug 'H200'", "choose another"},
        {BASED("\"slug\": \"a100-80\""), "slug 'a100-80'", "choose another"},
        {"{\"base\": \"h200\", \"name\": \"NVIDIA A40\"}", "name 'NVIDIA A40'", "choose another"},
        {BASED("\"clock_base_mhz\": 1990"), "clock_base_mhz (1990)", "clock_boost_mhz (1980)"},
        {BASED("\"shared_per_sm_bytes\": 65536"), "shared_per_block_optin_bytes (232448)", "larger than"},
        {BASED("\"registers_per_sm\": 32768"), "registers_per_block (65536)", "registers_per_sm (32768)"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ub_gpu_file file = {0};
        struct ub_error err = {0};
        if (open_bytes(rows[i].text, strlen(rows[i].text), &file, &err))
            fail_msg("accepted: %s", rows[i].text);
        if (!strstr(err.text, rows[i].names) || !strstr(err.text, rows[i].says))
            fail_msg("%s: %s", rows[i].text, err.text);
        assert_int_equal(err.status, UB_BAD_DATA);
        assert_non_null(strstr(err.text, "/tmp/ubench-model-"));
        assert_null(file.gpu.name);
        assert_int_equal(file.string_count, 0);
    }
}

static void files_that_are_no_model(void **state)
{
    (void)state;
    static const size_t size = 1 << 20;
    struct ub_gpu_file file = {0};
    struct ub_error err = {0};
    char *bytes = malloc(size);
    assert_non_null(bytes);
    memset(bytes, '[', size);
    assert_false(open_bytes(bytes, size, &file, &err));
    assert_int_equal(err.status, UB_BAD_DATA);
    assert_non_null(strstr(err.text, "not a model file"));
    assert_false(open_bytes(bytes, 60000, &file, &err)); /* deep nesting */
    assert_int_equal(err.status, UB_BAD_DATA);
    memset(bytes, 0, size);
    assert_false(open_bytes(bytes, 1000, &file, &err));
    assert_int_equal(err.status, UB_BAD_DATA);
    free(bytes);
}

static void files_that_cannot_be_read(void **state)
{
    (void)state;
    static const char *const paths[] = {"/nonexistent/card.json", "/tmp", ""};
    for (size_t i = 0; i < COUNT(paths); i++) {
        struct ub_gpu_file file = {0};
        struct ub_error err = {0};
        assert_false(ub_gpu_file_open(paths[i], &file, &err));
        assert_int_equal(err.status, UB_USAGE);
        assert_non_null(strstr(err.text, "cannot"));
        assert_false(ub_gpu_file_open(paths[i], &file, NULL));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_short_example),
        cmocka_unit_test(the_full_example),
        cmocka_unit_test(a_generation_gives_the_rest),
        cmocka_unit_test(a_file_may_change_what_a_base_says),
        cmocka_unit_test(bad_files),
        cmocka_unit_test(files_that_are_no_model),
        cmocka_unit_test(files_that_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
