/* SPDX-License-Identifier: MIT
 *
 * The model file: one table of fields says for each key its type, its limits and
 * where it goes; everything else (reading, refusing, the lists in messages) walks
 * that table. Strict, because a slip in a key or a unit would quietly predict
 * another card. */
#include "harness/io/gpu_file.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE_BYTES = 64 * 1024 };

enum kind { TEXT, COUNT, SIZE, NUMBER, FLAG };

enum {
    NULLABLE = 1, /* null says that it is not known */
    NEEDED = 2,   /* without a base */
    ALWAYS = 4,   /* needed even with a base */
    POWER_OF_TWO = 8,
};

struct field {
    const char *key;
    enum kind kind;
    unsigned flags;
    size_t offset;           /* in struct ub_gpu */
    double minimum, maximum; /* COUNT, SIZE, NUMBER */
    const char *unit;
};

#define AT(member) offsetof(struct ub_gpu, member)

/* The limits refuse what no card can be and most slips of a unit (GB/s for B/s). */
static const struct field fields[] = {
    {"slug", TEXT, NULLABLE, AT(slug), 0, 0, ""},
    {"name", TEXT, ALWAYS, AT(name), 0, 0, ""},
    {"architecture", TEXT, 0, AT(architecture), 0, 0, ""},
    {"chip", TEXT, NULLABLE, AT(chip), 0, 0, ""},
    {"cc_major", COUNT, NEEDED, AT(cc_major), 7, 99, ""},
    {"cc_minor", COUNT, NEEDED, AT(cc_minor), 0, 9, ""},
    {"sms", COUNT, NEEDED, AT(sms), 1, 4096, ""},
    {"warps_per_sm", COUNT, 0, AT(warps_per_sm), 1, 1024, ""},
    {"blocks_per_sm", COUNT, 0, AT(blocks_per_sm), 1, 1024, ""},
    {"threads_per_block", COUNT, 0, AT(threads_per_block), 32, 32768, ""},
    {"registers_per_sm", COUNT, 0, AT(registers_per_sm), 1024, 1 << 24, ""},
    {"registers_per_block", COUNT, 0, AT(registers_per_block), 1024, 1 << 24, ""},
    {"register_unit_per_warp", COUNT, 0, AT(register_unit_per_warp), 32, 8192, ""},
    {"registers_per_thread_max", COUNT, 0, AT(registers_per_thread_max), 16, 4096, ""},
    {"schedulers_per_sm", COUNT, 0, AT(schedulers_per_sm), 1, 64, ""},
    {"fp32_lanes_per_sm", COUNT, 0, AT(fp32_lanes_per_sm), 1, 4096, ""},
    {"fp64_lanes_per_sm", COUNT, 0, AT(fp64_lanes_per_sm), 0, 4096, ""},
    {"shared_per_sm_bytes", SIZE, 0, AT(shared_per_sm_bytes), 1024, 1 << 30, " bytes"},
    {"shared_per_block_bytes", SIZE, 0, AT(shared_per_block_bytes), 1024, 1 << 30, " bytes"},
    {"shared_per_block_optin_bytes", SIZE, 0, AT(shared_per_block_optin_bytes), 1024, 1 << 30, " bytes"},
    {"shared_reserved_bytes", SIZE, 0, AT(shared_reserved_bytes), 0, 1 << 20, " bytes"},
    {"shared_unit_bytes", SIZE, POWER_OF_TWO, AT(shared_unit_bytes), 1, 1 << 16, " bytes"},
    {"l1_bytes", SIZE, 0, AT(l1_bytes), 1024, 1 << 30, " bytes"},
    {"l2_bytes", SIZE, NEEDED, AT(l2_bytes), 1024, 1e12, " bytes"},
    {"memory_bytes", SIZE, NEEDED, AT(memory_bytes), 1 << 20, 1e15, " bytes"},
    {"sector_bytes", COUNT, 0, AT(sector_bytes), 32, 32, " bytes"}, /* the laws hold for these two only */
    {"line_bytes", COUNT, 0, AT(line_bytes), 128, 128, " bytes"},
    {"dram_read_grain_bytes", COUNT, POWER_OF_TWO, AT(dram_read_grain_bytes), 32, 128, " bytes"},
    {"copy_engines", COUNT, 0, AT(copy_engines), 0, 64, ""},
    {"clock_base_mhz", NUMBER, NULLABLE, AT(clock_base_mhz), 1, 20000, " MHz"},
    {"clock_boost_mhz", NUMBER, NEEDED, AT(clock_boost_mhz), 1, 20000, " MHz"},
    {"dram_bandwidth_bps", NUMBER, NEEDED, AT(dram_bandwidth_bps), 1e9, 1e15, " bytes per second"},
    {"source", TEXT, NULLABLE, AT(source), 0, 0, ""},
    {"notes", TEXT, NULLABLE, AT(notes), 0, 0, ""},
    {"verified", FLAG, 0, AT(verified), 0, 0, ""},
};

enum { FIELD_COUNT = sizeof fields / sizeof fields[0] };

/* The first may not be larger than the second. */
static const struct {
    const char *small, *large;
} ordered[] = {
    {"shared_per_block_bytes", "shared_per_block_optin_bytes"},
    {"shared_per_block_optin_bytes", "shared_per_sm_bytes"},
    {"registers_per_thread_max", "registers_per_block"},
    {"registers_per_block", "registers_per_sm"},
    {"clock_base_mhz", "clock_boost_mhz"},
};

/* What is being read, and where messages go. */
struct reader {
    const char *path;
    json_t *root;
    struct ub_gpu_file *file;
    struct ub_error *err;
};

/* Appends to a text of fixed size; what does not fit is cut. */
static void append(char *text, size_t size, const char *word)
{
    const size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%s", length ? ", " : "", word);
}

static const struct field *find_field(const char *key)
{
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (strcmp(fields[i].key, key) == 0)
            return &fields[i];
    return NULL;
}

static void *member(struct ub_gpu *gpu, const struct field *field)
{
    return (char *)gpu + field->offset;
}

/* Takes over `text` (malloc), which lives until the file is closed. */
static const char *own(struct reader *reader, char *text)
{
    struct ub_gpu_file *file = reader->file;
    if (text)
        file->strings[file->string_count++] = text;
    else
        ub_fail(reader->err, UB_INTERNAL, "%s: out of memory", reader->path);
    return text;
}

/* ---- one value ----------------------------------------------------------- */

static void describe(const struct field *field, char *text, size_t size)
{
    static const char *const words[] = {
        [TEXT] = "a text without control characters",
        [COUNT] = "an integer",
        [SIZE] = "an integer",
        [NUMBER] = "a number",
        [FLAG] = "true or false",
    };
    const char *null = field->flags & NULLABLE ? ", or null" : "";
    if (field->kind == TEXT || field->kind == FLAG)
        snprintf(text, size, "%s%s", words[field->kind], null);
    else if (field->minimum >= field->maximum)
        snprintf(text, size, "%.15g%s", field->minimum, field->unit);
    else
        snprintf(text, size, "%s%s of %.15g to %.15g%s%s", field->flags & POWER_OF_TWO ? "a power of two, " : "",
                 words[field->kind], field->minimum, field->maximum, field->unit, null);
}

static bool refuse(const struct reader *reader, const struct field *field, const json_t *value)
{
    char allowed[160];
    describe(field, allowed, sizeof allowed);
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(15));
    ub_fail(reader->err, UB_BAD_DATA, "%s: %s is %.60s, but must be %s", reader->path, field->key,
            text ? text : "something else", allowed);
    free(text);
    return false;
}

/* A name is printed on terminals: an escape sequence in it would be obeyed. */
static bool is_printable(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

static bool in_range(const struct field *field, double value)
{
    if (!(value >= field->minimum && value <= field->maximum))
        return false;
    /* Powers of two only for integers, which are small here. */
    return !(field->flags & POWER_OF_TWO) || ((uint64_t)value & ((uint64_t)value - 1)) == 0;
}

static bool read_text(struct reader *reader, const struct field *field, const json_t *value)
{
    const char *text = json_string_value(value);
    if (!text || !*text || !is_printable(text))
        return refuse(reader, field, value);
    const char *owned = own(reader, strdup(text));
    memcpy(member(&reader->file->gpu, field), &owned, sizeof owned);
    return owned != NULL;
}

static bool read_integer(struct reader *reader, const struct field *field, const json_t *value)
{
    const json_int_t integer = json_integer_value(value);
    if (!json_is_integer(value) || !in_range(field, (double)integer))
        return refuse(reader, field, value);
    void *where = member(&reader->file->gpu, field);
    if (field->kind == COUNT)
        *(int *)where = (int)integer;
    else
        *(uint64_t *)where = (uint64_t)integer;
    return true;
}

static bool read_number(struct reader *reader, const struct field *field, const json_t *value)
{
    if (!json_is_number(value) || !in_range(field, json_number_value(value)))
        return refuse(reader, field, value);
    *(double *)member(&reader->file->gpu, field) = json_number_value(value);
    return true;
}

static bool read_flag(struct reader *reader, const struct field *field, const json_t *value)
{
    if (!json_is_boolean(value))
        return refuse(reader, field, value);
    *(bool *)member(&reader->file->gpu, field) = json_is_true(value);
    return true;
}

static void read_null(struct reader *reader, const struct field *field)
{
    void *where = member(&reader->file->gpu, field);
    if (field->kind == NUMBER)
        *(double *)where = NAN;
    else
        memset(where, 0, sizeof(char *));
}

/* The value of the field, if the file has one. */
static bool read_field(struct reader *reader, const struct field *field)
{
    static bool (*const readers[])(struct reader *, const struct field *, const json_t *) = {
        [TEXT] = read_text, [COUNT] = read_integer, [SIZE] = read_integer, [NUMBER] = read_number, [FLAG] = read_flag,
    };
    const json_t *value = json_object_get(reader->root, field->key);
    if (!value)
        return true;
    if (!json_is_null(value) || !(field->flags & NULLABLE))
        return readers[field->kind](reader, field, value);
    read_null(reader, field);
    return true;
}

/* ---- the whole file ------------------------------------------------------ */

static bool check_keys(const struct reader *reader)
{
    const char *key;
    json_t *value;
    json_object_foreach(reader->root, key, value)
    {
        if (strcmp(key, "base") == 0 || find_field(key))
            continue;
        char allowed[800] = "base";
        for (size_t i = 0; i < FIELD_COUNT; i++)
            append(allowed, sizeof allowed, fields[i].key);
        return ub_fail(reader->err, UB_BAD_DATA, "%s: unknown key '%.40s'; allowed are: %s", reader->path, key,
                       allowed);
    }
    return true;
}

static void list_slugs(char *text, size_t size)
{
    text[0] = 0;
    for (size_t i = 0; i < ub_gpu_count(); i++)
        append(text, size, ub_gpu_at(i)->slug);
}

static bool check_missing(const struct reader *reader, unsigned flags)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (!(fields[i].flags & flags) || json_object_get(reader->root, fields[i].key))
            continue;
        char slugs[400];
        list_slugs(slugs, sizeof slugs);
        return ub_fail(reader->err, UB_BAD_DATA, "%s: key '%s' is missing%s%s", reader->path, fields[i].key,
                       flags & NEEDED ? "; give it, or \"base\": one of " : "", flags & NEEDED ? slugs : "");
    }
    return true;
}

/* The row that gives what the file does not say; its identity is not this card's. */
static bool start_from_base(struct reader *reader, const json_t *base)
{
    const struct ub_gpu *row = ub_gpu_find(json_string_value(base));
    if (!row) {
        char slugs[400];
        list_slugs(slugs, sizeof slugs);
        return ub_fail(reader->err, UB_BAD_DATA, "%s: base must be a card of the table: %s", reader->path, slugs);
    }
    struct ub_gpu *gpu = &reader->file->gpu;
    *gpu = *row;
    gpu->slug = NULL;
    gpu->notes = "one's own card: laws are assumed";
    gpu->verified = false;
    return check_missing(reader, ALWAYS);
}

static bool start_from_generation(struct reader *reader)
{
    struct ub_gpu *gpu = &reader->file->gpu;
    if (!check_missing(reader, ALWAYS | NEEDED) || !read_field(reader, find_field("cc_major")) ||
        !read_field(reader, find_field("cc_minor")))
        return false;
    const struct ub_gpu_attributes card = {
        .cc_major = gpu->cc_major, .cc_minor = gpu->cc_minor, .clock_max_mhz = NAN, .memory_clock_mhz = NAN};
    ub_gpu_from_attributes(&card, gpu);
    return true;
}

static bool set_source(struct reader *reader, const json_t *base)
{
    const char *slash = strrchr(reader->path, '/');
    char text[256];
    snprintf(text, sizeof text, "model file %.100s; what it lacks from the table's %s",
             slash ? slash + 1 : reader->path, base ? "row " : "generation of its compute capability");
    const size_t length = strlen(text);
    if (base)
        snprintf(text + length, sizeof text - length, "%s", ub_gpu_find(json_string_value(base))->slug);
    reader->file->gpu.source = own(reader, strdup(text));
    return reader->file->gpu.source != NULL;
}

static double value_of(struct ub_gpu *gpu, const char *key)
{
    const struct field *field = find_field(key);
    const void *where = member(gpu, field);
    return field->kind == COUNT  ? (double)*(const int *)where
           : field->kind == SIZE ? (double)*(const uint64_t *)where
                                 : *(const double *)where;
}

static bool check_order(const struct reader *reader)
{
    struct ub_gpu *gpu = &reader->file->gpu;
    for (size_t i = 0; i < sizeof ordered / sizeof ordered[0]; i++) {
        const double small = value_of(gpu, ordered[i].small), large = value_of(gpu, ordered[i].large);
        if (small > large)
            return ub_fail(reader->err, UB_BAD_DATA, "%s: %s (%.15g) is larger than %s (%.15g)", reader->path,
                           ordered[i].small, small, ordered[i].large, large);
    }
    return true;
}

static bool check_identity(const struct reader *reader)
{
    const struct ub_gpu *gpu = &reader->file->gpu;
    const bool slug = ub_gpu_find(gpu->slug) != NULL;
    if (slug || ub_gpu_find_by_device_name(gpu->name))
        return ub_fail(reader->err, UB_BAD_DATA,
                       "%s: %s '%s' is that of a card of the table; choose another, or a record of this card would be "
                       "read as one of that",
                       reader->path, slug ? "slug" : "name", slug ? gpu->slug : gpu->name);
    return true;
}

static bool read_card(struct reader *reader)
{
    const json_t *base = json_object_get(reader->root, "base");
    if (!check_keys(reader) || !(base ? start_from_base(reader, base) : start_from_generation(reader)))
        return false;
    if (!set_source(reader, base))
        return false;
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (!read_field(reader, &fields[i]))
            return false;
    return check_order(reader) && check_identity(reader);
}

/* ---- the bytes ----------------------------------------------------------- */

static bool read_bytes(const char *path, char *bytes, size_t size, size_t *length, struct ub_error *err)
{
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return ub_fail(err, UB_USAGE, "%s: cannot open: %s", path, strerror(errno));
    *length = fread(bytes, 1, size, stream);
    const int failure = ferror(stream) ? errno : 0;
    fclose(stream);
    return failure ? ub_fail(err, UB_USAGE, "%s: cannot read: %s", path, strerror(failure)) : true;
}

static json_t *parse(const char *path, struct ub_error *err)
{
    char bytes[MAX_FILE_BYTES + 1];
    size_t length = 0;
    if (!read_bytes(path, bytes, sizeof bytes, &length, err))
        return NULL;
    if (length > MAX_FILE_BYTES) {
        ub_fail(err, UB_BAD_DATA, "%s: more than %d bytes: this is not a model file", path, MAX_FILE_BYTES);
        return NULL;
    }
    json_error_t error;
    json_t *root = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        ub_fail(err, UB_BAD_DATA, "%s: line %d, column %d: %s", path, error.line, error.column, error.text);
        return NULL;
    }
    if (json_is_object(root))
        return root;
    ub_fail(err, UB_BAD_DATA, "%s: must be one JSON object, { \"name\": ..., ... }", path);
    json_decref(root);
    return NULL;
}

/* Keys and snippets of the file stand in messages, which go to a terminal. */
static void make_printable(struct ub_error *err)
{
    for (char *c = err ? err->text : NULL; c && *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
}

bool ub_gpu_file_open(const char *path, struct ub_gpu_file *file, struct ub_error *err)
{
    struct reader reader = {.path = path, .root = parse(path, err), .file = file, .err = err};
    const bool read = reader.root && read_card(&reader);
    json_decref(reader.root);
    if (read)
        return true;
    make_printable(err);
    ub_gpu_file_close(file);
    return false;
}

void ub_gpu_file_close(struct ub_gpu_file *file)
{
    for (size_t i = 0; i < file->string_count; i++)
        free(file->strings[i]);
    *file = (struct ub_gpu_file){0};
}
