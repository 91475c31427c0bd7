/* SPDX-License-Identifier: MIT */
#include "harness/io/columns.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "harness/io/fields.h"
#include "harness/io/json_text.h"

enum { DEEPEST = 8, PATH_BYTES = 512, MOST_WORDS = 64 };

/* Takes the next key of a pointer; false: longer than any of ours. */
static bool next_key(const char **path, char *key, size_t size)
{
    size_t used = 0;
    if (**path != '/')
        return false;
    for ((*path)++; **path && **path != '/'; (*path)++) {
        char c = **path;
        if (c == '~') {
            (*path)++;
            if (**path != '0' && **path != '1')
                return false;
            c = **path == '0' ? '~' : '/';
        }
        if (used + 1 >= size)
            return false;
        key[used++] = c;
    }
    key[used] = 0;
    return true;
}

/* ---- writing: one object as leaves ------------------------------------------ */

struct leaf {
    char path[PATH_BYTES];
    const char *value; /* in the text of the object */
    size_t length;
};

struct row {
    size_t count, capacity;
    struct leaf *leaves;
};

/* Where the walk through an object is. */
struct walk {
    struct row *row;
    char path[PATH_BYTES];
    size_t depth;
};

static bool no_memory(struct ub_error *err)
{
    return ub_fail(err, UB_INTERNAL, "out of memory while writing columns");
}

/* Appends a key to the pointer at `used`; returns the new length, or 0: too long. */
static size_t append_key(char *path, size_t used, const char *key)
{
    path[used++] = '/';
    for (; *key; key++) {
        const char *escaped = *key == '~' ? "~0" : *key == '/' ? "~1" : NULL;
        if (used + 3 > PATH_BYTES)
            return 0;
        path[used++] = escaped ? escaped[0] : *key;
        if (escaped)
            path[used++] = escaped[1];
    }
    path[used] = 0;
    return used;
}

static bool add_leaf(struct ub_json_text *text, struct walk *walk)
{
    struct row *row = walk->row;
    if (row->count == row->capacity) {
        const size_t wanted = row->capacity ? 2 * row->capacity : 64;
        struct leaf *grown = realloc(row->leaves, wanted * sizeof *grown);
        if (!grown)
            return no_memory(text->err);
        row->leaves = grown;
        row->capacity = wanted;
    }
    struct leaf *leaf = &row->leaves[row->count++];
    memcpy(leaf->path, walk->path, sizeof leaf->path);
    leaf->value = text->bytes + text->at;
    if (!ub_json_text_skip(text))
        return false;
    leaf->length = (size_t)(text->bytes + text->at - leaf->value);
    return true;
}

static bool is_empty_object(const struct ub_json_text *text)
{
    return text->at + 1 < text->length && text->bytes[text->at + 1] == '}';
}

static bool walk_member(struct ub_json_text *text, const char *key, void *user)
{
    struct walk *walk = user;
    const size_t before = strlen(walk->path);
    if (append_key(walk->path, before, key) == 0 || walk->depth == DEEPEST)
        return ub_fail(text->err, UB_BAD_DATA, "the key \"%.60s\" is too long or too deep for columns", key);
    bool ok;
    if (ub_json_text_peek(text) == '{' && !is_empty_object(text)) {
        walk->depth++;
        ok = ub_json_text_object(text, walk_member, walk);
        walk->depth--;
    } else {
        ok = add_leaf(text, walk);
    }
    walk->path[before] = 0;
    return ok;
}

/* ---- writing: tables ---------------------------------------------------------- */

/* Values of one leaf, one behind the other. */
struct column {
    char *path; /* owned */
    char *text; /* owned */
    size_t length, capacity;
    size_t *ends; /* where each row's value ends in `text`; owned, UB_COLUMNS_ROWS of them */
};

struct table {
    uint64_t kind; /* hash of the paths and of what must be the same */
    size_t column_count, count;
    struct column *columns;
    size_t *places;
};

struct tables {
    size_t count, capacity;
    struct table *items;
};

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001B3);
    return (hash ^ 0xFF) * UINT64_C(0x100000001B3);
}

static bool is_named(const char *const *names, const char *path)
{
    for (; *names; names++)
        if (strcmp(*names, path) == 0)
            return true;
    return false;
}

static uint64_t kind_of(const struct row *row, const char *const *together)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < row->count; i++) {
        hash = hash_bytes(hash, row->leaves[i].path, strlen(row->leaves[i].path));
        if (is_named(together, row->leaves[i].path))
            hash = hash_bytes(hash, row->leaves[i].value, row->leaves[i].length);
    }
    return hash;
}

struct slice {
    const char *bytes;
    size_t length;
};

static struct slice value_at(const struct column *column, size_t row)
{
    const size_t begin = row == 0 ? 0 : column->ends[row - 1];
    return (struct slice){column->text + begin, column->ends[row] - begin};
}

static bool equal(struct slice a, struct slice b)
{
    return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

static bool holds(const struct column *column, const struct leaf *leaf)
{
    return equal(value_at(column, 0), (struct slice){leaf->value, leaf->length});
}

/* A hash may lie: a row fits where its paths and what must be the same really are. */
static bool fits(const struct table *table, const struct row *row, const char *const *together)
{
    if (table->column_count != row->count || table->count == UB_COLUMNS_ROWS)
        return false;
    for (size_t i = 0; i < row->count; i++)
        if (strcmp(table->columns[i].path, row->leaves[i].path) != 0 ||
            (is_named(together, row->leaves[i].path) && !holds(&table->columns[i], &row->leaves[i])))
            return false;
    return true;
}

static bool append_bytes(struct column *column, const char *bytes, size_t length)
{
    if (column->length + length > column->capacity) {
        const size_t wanted = 2 * (column->length + length) + 64;
        char *grown = realloc(column->text, wanted);
        if (!grown)
            return false;
        column->text = grown;
        column->capacity = wanted;
    }
    memcpy(column->text + column->length, bytes, length);
    column->length += length;
    return true;
}

static bool append_value(struct column *column, size_t row, const struct leaf *leaf)
{
    if (!append_bytes(column, leaf->value, leaf->length))
        return false;
    column->ends[row] = column->length;
    return true;
}

static struct table *new_table(struct tables *tables, const struct row *row, uint64_t kind)
{
    if (tables->count == tables->capacity) {
        const size_t wanted = tables->capacity ? 2 * tables->capacity : 16;
        struct table *grown = realloc(tables->items, wanted * sizeof *grown);
        if (!grown)
            return NULL;
        tables->items = grown;
        tables->capacity = wanted;
    }
    struct table *table = &tables->items[tables->count++];
    *table = (struct table){.kind = kind,
                            .columns = calloc(row->count + 1, sizeof *table->columns),
                            .places = malloc(UB_COLUMNS_ROWS * sizeof *table->places)};
    if (!table->columns || !table->places)
        return NULL;
    table->column_count = row->count;
    for (size_t i = 0; i < row->count; i++) {
        table->columns[i].path = strdup(row->leaves[i].path);
        table->columns[i].ends = malloc(UB_COLUMNS_ROWS * sizeof *table->columns[i].ends);
        if (!table->columns[i].path || !table->columns[i].ends)
            return NULL;
    }
    return table;
}

static bool add_row(struct tables *tables, const struct row *row, const char *const *together, size_t place)
{
    const uint64_t kind = kind_of(row, together);
    struct table *table = NULL;
    for (size_t i = tables->count; i-- > 0 && !table;)
        if (tables->items[i].kind == kind && fits(&tables->items[i], row, together))
            table = &tables->items[i];
    if (!table)
        table = new_table(tables, row, kind);
    if (!table)
        return false;
    for (size_t i = 0; i < row->count; i++)
        if (!append_value(&table->columns[i], table->count, &row->leaves[i]))
            return false;
    table->places[table->count++] = place;
    return true;
}

static void free_tables(struct tables *tables)
{
    for (size_t t = 0; t < tables->count; t++) {
        struct table *table = &tables->items[t];
        for (size_t i = 0; i < table->column_count; i++) {
            free(table->columns[i].path);
            free(table->columns[i].text);
            free(table->columns[i].ends);
        }
        free(table->columns);
        free(table->places);
    }
    free(tables->items);
}

/* The different values of a column in the order in which they appear, while they are few. */
struct words {
    size_t count;
    struct slice items[MOST_WORDS];
    unsigned char at[UB_COLUMNS_ROWS];
};

/* False: they are too many to be worth it. */
static bool find_words(const struct column *column, size_t rows, struct words *out)
{
    out->count = 0;
    for (size_t row = 0; row < rows; row++) {
        const struct slice value = value_at(column, row);
        size_t word = 0;
        while (word < out->count && !equal(out->items[word], value))
            word++;
        if (word == MOST_WORDS)
            return false;
        if (word == out->count)
            out->items[out->count++] = value;
        out->at[row] = (unsigned char)word;
    }
    return true;
}

/* Bytes of both forms without what they share. */
static bool words_are_shorter(const struct column *column, const struct words *words, size_t rows)
{
    enum { FRAME = sizeof ",\"at\":[]", COMMA = 1 };
    size_t bytes = FRAME;
    for (size_t i = 0; i < words->count; i++)
        bytes += words->items[i].length + COMMA;
    for (size_t row = 0; row < rows; row++)
        bytes += (words->at[row] > 9 ? 2u : 1u) + COMMA;
    return bytes < column->length + rows * COMMA;
}

static void write_values(FILE *stream, const struct column *column, size_t rows)
{
    for (size_t row = 0; row < rows; row++) {
        const struct slice value = value_at(column, row);
        fputs(row ? "," : "{\"*\":[", stream);
        fwrite(value.bytes, 1, value.length, stream);
    }
    fputs("]}", stream);
}

static void write_words(FILE *stream, const struct words *words, size_t rows)
{
    for (size_t i = 0; i < words->count; i++) {
        fputs(i ? "," : "{\"*\":[", stream);
        fwrite(words->items[i].bytes, 1, words->items[i].length, stream);
    }
    for (size_t row = 0; row < rows; row++)
        fprintf(stream, "%s%d", row ? "," : "],\"at\":[", words->at[row]);
    fputs("]}", stream);
}

static bool is_scalar(struct slice value)
{
    return *value.bytes != '[' && *value.bytes != '{';
}

static void write_column(FILE *stream, const struct table *table, const struct column *column)
{
    struct words words;
    const bool few = find_words(column, table->count, &words);
    if (few && words.count == 1) {
        const char *before = is_scalar(words.items[0]) ? "" : "{\"*\":[";
        fputs(before, stream);
        fwrite(words.items[0].bytes, 1, words.items[0].length, stream);
        fputs(*before ? "],\"at\":0}" : "", stream);
        return;
    }
    if (few && words_are_shorter(column, &words, table->count))
        write_words(stream, &words, table->count);
    else
        write_values(stream, column, table->count);
}

/* Bytes that two pointers share up to a key that is in both; both begin with '/'. */
static size_t common_bytes(const char *a, const char *b)
{
    size_t common = 0;
    for (size_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '/')
            common = i;
    return common;
}

static size_t count_keys(const char *path)
{
    size_t count = 0;
    for (; *path; path++)
        count += *path == '/';
    return count;
}

/* Opens the objects on the way to a leaf that are not open yet, and writes its key. */
static void write_keys(FILE *stream, const char *path, size_t open)
{
    const struct ub_emit emit = {.stream = stream};
    for (const char *at = path + open; *at;) {
        char key[PATH_BYTES];
        next_key(&at, key, sizeof key);
        ub_emit_string(&emit, key);
        fputs(*at ? ":{" : ":", stream);
    }
}

/* The object that a table looks like: its leaves stand in the order of their keys. */
static void write_table(FILE *stream, const struct table *table)
{
    const char *before = "/";
    fputs("{\"points\":[", stream);
    for (size_t i = 0; i < table->count; i++)
        fprintf(stream, "%s%zu", i ? "," : "", table->places[i]);
    fputs("],\n\"point\":{", stream);
    for (size_t i = 0; i < table->column_count; i++) {
        const char *path = table->columns[i].path;
        const size_t open = common_bytes(before, path);
        for (size_t close = count_keys(before + open); i > 0 && close > 1; close--)
            fputc('}', stream);
        fputs(i ? ",\n" : "", stream);
        write_keys(stream, path, open);
        write_column(stream, table, &table->columns[i]);
        before = path;
    }
    for (size_t close = count_keys(before); close > 0; close--)
        fputc('}', stream);
    fputs("}", stream);
}

/* Takes object number `index` apart and puts its leaves into a table. */
static bool take_item(struct tables *tables, struct row *row, size_t index, ub_columns_item item, const void *user,
                      const char *const *together, struct ub_error *err)
{
    struct ub_json_text text = {.name = "columns", .err = err};
    struct walk walk = {.row = row};
    FILE *stream = open_memstream(&text.bytes, &text.length);
    if (!stream)
        return no_memory(err);
    item(stream, user, index);
    bool ok = fclose(stream) == 0 || no_memory(err);
    row->count = 0;
    ok = ok && ub_json_text_object(&text, walk_member, &walk) &&
         (add_row(tables, row, together, index) || no_memory(err));
    free(text.bytes);
    return ok;
}

bool ub_columns_write(FILE *stream, size_t count, ub_columns_item item, const void *user, const char *const *together,
                      struct ub_error *err)
{
    struct tables tables = {0};
    struct row row = {0};
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++)
        ok = take_item(&tables, &row, i, item, user, together, err);
    fputs("[", stream);
    for (size_t i = 0; i < tables.count && ok; i++) {
        fputs(i ? ",\n" : "", stream);
        write_table(stream, &tables.items[i]);
    }
    fputs("]", stream);
    free(row.leaves);
    free_tables(&tables);
    return ok;
}
