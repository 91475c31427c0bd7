/* SPDX-License-Identifier: MIT
 *
 * `ubench metrics [KEY...] [--chip NAME]`: what can be counted on a chip, what it
 * is called there, and how many passes it takes. Needs no GPU; without libcupti
 * the table still stands, but nobody knows the passes. A chip may be named as
 * CUPTI does (GH100) or by a card of the model table (h200). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/options.h"
#include "harness/contract/counters.h"
#include "harness/contract/micro.h"
#include "harness/engine/axis.h"
#include "harness/io/text.h"
#include "harness/model/gpu.h"

/* The card that ubench predicts where nothing is said (DESIGN 1.2). */
static const char *const default_chip = "GH100";

struct row {
    struct ub_counter_key key; /* of a raw metric: key.key is that name, the rest empty */
    struct ub_counter_on_chip on_chip;
};

struct listing {
    const char *chip;
    bool has_library;
    char library[1024]; /* or why there is none */
    size_t row_count;
    struct row *rows; /* owned */
    size_t raw_count; /* rows that the chip has */
    int total_passes; /* of those in one session; 0: not known */
};

/* ---- which chip ----------------------------------------------------------- */

static bool is_chip(const char *name)
{
    const char *const *chips;
    const size_t count = ub_counters.chips(&chips);
    for (size_t i = 0; i < count; i++)
        if (strcmp(chips[i], name) == 0)
            return true;
    return false;
}

static void append(char *text, size_t size, const char *more)
{
    const size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%s", length ? " " : "", more);
}

static bool unknown_chip(const char *name, struct ub_error *err)
{
    const char *const *chips;
    const size_t count = ub_counters.chips(&chips);
    const char *meant = ub_suggest(name, count, chips);
    char list[512] = "";
    for (size_t i = 0; i < count; i++)
        append(list, sizeof list, chips[i]);
    return ub_fail(err, UB_USAGE,
                   "--chip: there is no chip \"%s\"%s%s%s; known: %s, and the cards that `ubench devices` lists", name,
                   meant ? " (did you mean " : "", meant ? meant : "", meant ? "?)" : "", list);
}

/* "GH100", "h200" or "model:h200" into the chip's name. */
static bool choose_chip(const struct ub_options *options, const char **chip, struct ub_error *err)
{
    static const char model[] = "model:";
    const bool by_device = !options->chip && options->device && strncmp(options->device, model, sizeof model - 1) == 0;
    const char *name = options->chip ? options->chip : by_device ? options->device : default_chip;
    if (strncmp(name, model, sizeof model - 1) == 0)
        name += sizeof model - 1;
    const struct ub_gpu *gpu = ub_gpu_find(name);
    *chip = is_chip(name) ? name : gpu && gpu->chip ? gpu->chip : NULL;
    return *chip || unknown_chip(name, err);
}

/* ---- what is on it --------------------------------------------------------- */

static const struct ub_counter_key *find_key(const char *name)
{
    for (size_t i = 0; i < ub_counters.key_count; i++)
        if (strcmp(ub_counters.keys[i].key, name) == 0)
            return &ub_counters.keys[i];
    return NULL;
}

/* Raw metric names pass; a word that looks like a key gets a suggestion. */
static bool unknown_key(const char *name, struct ub_error *err)
{
    const char **keys = calloc(ub_counters.key_count + 1, sizeof *keys);
    if (!keys)
        return ub_fail(err, UB_INTERNAL, "no memory for %zu keys", ub_counters.key_count);
    for (size_t i = 0; i < ub_counters.key_count; i++)
        keys[i] = ub_counters.keys[i].key;
    const char *meant = ub_suggest(name, ub_counters.key_count, keys);
    free(keys);
    return ub_fail(err, UB_USAGE,
                   "there is no counter \"%s\"%s%s%s; `ubench metrics` lists the keys, and a raw metric name is "
                   "accepted too",
                   name, meant ? " (did you mean " : "", meant ? meant : "", meant ? "?)" : "");
}

static bool fill_row(const char *chip, const char *name, struct row *row, struct ub_error *err)
{
    const struct ub_counter_key *key = find_key(name);
    if (!key && !strstr(name, "__"))
        return unknown_key(name, err);
    row->key = key ? *key : (struct ub_counter_key){.key = name, .unit = "", .meaning = ""};
    return ub_counters.on_chip(chip, name, &row->on_chip, err);
}

/* A raw name that the chip lacks has no place in a session; a key that it lacks is left out by itself. */
static bool count_total(struct listing *listing, struct ub_error *err)
{
    const char **names = calloc(listing->row_count + 1, sizeof *names);
    size_t count = 0;
    if (!names)
        return ub_fail(err, UB_INTERNAL, "no memory for %zu counters", listing->row_count);
    for (size_t i = 0; i < listing->row_count; i++)
        if (listing->rows[i].on_chip.raw)
            names[count++] = listing->rows[i].key.key;
    listing->raw_count = count;
    const bool counted = ub_counters.passes(listing->chip, count, names, &listing->total_passes, err);
    free(names);
    return counted;
}

static bool fill(const struct ub_options *options, struct listing *listing, struct ub_error *err)
{
    struct ub_error why = {.text = ""};
    const size_t chosen = options->operand_count;
    listing->has_library = ub_counters.library(listing->library, sizeof listing->library, &why);
    if (!listing->has_library)
        snprintf(listing->library, sizeof listing->library, "%s", why.text);
    listing->row_count = chosen ? chosen : ub_counters.key_count;
    listing->rows = calloc(listing->row_count + 1, sizeof *listing->rows);
    if (!listing->rows)
        return ub_fail(err, UB_INTERNAL, "no memory for %zu counters", listing->row_count);
    for (size_t i = 0; i < listing->row_count; i++)
        if (!fill_row(listing->chip, chosen ? options->operands[i] : ub_counters.keys[i].key, &listing->rows[i], err))
            return false;
    return !listing->has_library || count_total(listing, err);
}

/* Passes of a rule's counters in one session; 0: not known. */
static bool rule_passes(const struct listing *listing, const struct ub_micro *micro, int *passes, struct ub_error *err)
{
    *passes = 0;
    return !listing->has_library ||
           ub_counters.passes(listing->chip, micro->counter_count, micro->counters, passes, err);
}

/* ---- for people ------------------------------------------------------------ */

static const char *or_dash(const char *text)
{
    return text && text[0] ? text : "-";
}

static void print_passes(int passes, int width)
{
    if (passes)
        printf("%*d", width, passes);
    else
        printf("%*s", width, "-");
}

static int widest(const struct listing *listing, bool raw)
{
    size_t width = 10;
    for (size_t i = 0; i < listing->row_count; i++) {
        const char *text = or_dash(raw ? listing->rows[i].on_chip.raw : listing->rows[i].key.key);
        width = strlen(text) > width ? strlen(text) : width;
    }
    return (int)width;
}

static void print_rows(const struct listing *listing)
{
    const int key_width = widest(listing, false);
    const int raw_width = widest(listing, true);
    printf("%-*s  %-*s  %-11s  %6s  %-39s  %s\n", key_width, "key", raw_width, "raw metric", "unit", "passes",
           "old nvprof name", "meaning");
    for (size_t i = 0; i < listing->row_count; i++) {
        const struct row *row = &listing->rows[i];
        printf("%-*s  %-*s  %-11s  ", key_width, row->key.key, raw_width, or_dash(row->on_chip.raw),
               or_dash(row->key.unit));
        print_passes(row->on_chip.passes, 6);
        printf("  %-39s  %s%s%s\n", or_dash(row->key.nvprof), or_dash(row->key.meaning),
               row->on_chip.reason ? "; none here: " : "", row->on_chip.reason ? row->on_chip.reason : "");
    }
}

static bool print_rules(const struct listing *listing, struct ub_error *err)
{
    if (!listing->has_library)
        return true;
    for (size_t i = 0; i < ub_entry_count; i++) {
        const struct ub_micro *micro = ub_entries[i].micro;
        int passes = 0;
        if (micro->counter_count == 0)
            continue;
        if (!rule_passes(listing, micro, &passes, err))
            return false;
        printf("%-20s  %2zu counters together: %d %s\n", micro->name, micro->counter_count, passes,
               passes == 1 ? "pass" : "passes");
    }
    return true;
}

static bool print_human(const struct ub_options *options, const struct listing *listing, struct ub_error *err)
{
    printf("Counters of chip %s%s\n", listing->chip,
           options->chip || options->device ? "" : " (H100, H200, GH200; --chip names another)");
    if (listing->has_library)
        printf("%s\n\n", listing->library);
    else
        printf("passes are not known: %s\n\n", listing->library);
    print_rows(listing);
    printf("\n");
    if (listing->has_library)
        printf("%-20s  %2zu counters together: %d %s\n", options->operand_count ? "those above" : "all keys",
               listing->raw_count, listing->total_passes, listing->total_passes == 1 ? "pass" : "passes");
    return options->operand_count > 0 || print_rules(listing, err);
}

/* ---- for programs ---------------------------------------------------------- */

/* RFC 8259; bytes that are no UTF-8 (a path may have any) become U+FFFD. */
static void print_json_string(const char *text)
{
    struct ub_char c;
    if (!text) {
        printf("null");
        return;
    }
    putchar('"');
    while (ub_next_char(&text, &c)) {
        if (c.code < 0x20)
            printf("\\u%04x", (unsigned)c.code);
        else
            printf("%s%.*s", c.code == '"' || c.code == '\\' ? "\\" : "", (int)c.length, c.bytes);
    }
    putchar('"');
}

static void print_json_member(const char *name, const char *text, const char *end)
{
    printf("\"%s\": ", name);
    print_json_string(text);
    printf("%s", end);
}

static void print_json_number(const char *name, int number, const char *end)
{
    if (number)
        printf("\"%s\": %d%s", name, number, end);
    else
        printf("\"%s\": null%s", name, end);
}

static void print_json_row(const struct row *row)
{
    printf("    {");
    print_json_member("key", row->key.key, ", ");
    print_json_member("raw", row->on_chip.raw, ", ");
    print_json_member("unit", row->key.unit, ", ");
    print_json_number("passes", row->on_chip.passes, ", ");
    printf("\"exact\": %s, ", row->key.exact ? "true" : "false");
    print_json_member("nvprof", row->key.nvprof, ", ");
    print_json_member("meaning", row->key.meaning, ", ");
    print_json_member("reason", row->on_chip.reason, "}");
}

static bool print_json(const struct ub_options *options, const struct listing *listing, struct ub_error *err)
{
    (void)options;
    printf("{\n  ");
    print_json_member("chip", listing->chip, ",\n  ");
    print_json_member("library", listing->has_library ? listing->library : NULL, ",\n  ");
    print_json_member("reason", listing->has_library ? NULL : listing->library, ",\n  ");
    print_json_number("passes", listing->total_passes, ",\n  \"counters\": [\n");
    for (size_t i = 0; i < listing->row_count; i++) {
        print_json_row(&listing->rows[i]);
        printf("%s\n", i + 1 < listing->row_count ? "," : "");
    }
    printf("  ],\n  \"rules\": [");
    for (size_t i = 0; i < ub_entry_count; i++) {
        int passes = 0;
        if (!rule_passes(listing, ub_entries[i].micro, &passes, err))
            return false;
        printf("%s\n    {", i ? "," : "");
        print_json_member("rule", ub_entries[i].micro->name, ", ");
        print_json_number("passes", passes, "}");
    }
    printf("\n  ]\n}\n");
    return true;
}

/* RFC 4180: a field with a comma or a quote is quoted. */
static void print_csv_field(const char *text, char end)
{
    const char *field = text ? text : "";
    const bool quoted = strpbrk(field, ",\"\r\n") != NULL;
    if (quoted)
        putchar('"');
    for (; *field; field++)
        printf("%s%c", *field == '"' ? "\"" : "", *field);
    printf("%s%c", quoted ? "\"" : "", end);
}

static bool print_csv(const struct ub_options *options, const struct listing *listing, struct ub_error *err)
{
    (void)options, (void)err;
    printf("chip,key,raw,unit,passes,exact,nvprof,meaning,reason\n");
    for (size_t i = 0; i < listing->row_count; i++) {
        const struct row *row = &listing->rows[i];
        char passes[16] = "";
        if (row->on_chip.passes)
            snprintf(passes, sizeof passes, "%d", row->on_chip.passes);
        print_csv_field(listing->chip, ',');
        print_csv_field(row->key.key, ',');
        print_csv_field(row->on_chip.raw, ',');
        print_csv_field(row->key.unit, ',');
        print_csv_field(passes, ',');
        print_csv_field(row->key.exact ? "true" : "false", ',');
        print_csv_field(row->key.nvprof, ',');
        print_csv_field(row->key.meaning, ',');
        print_csv_field(row->on_chip.reason, '\n');
    }
    return true;
}

typedef bool (*print_listing)(const struct ub_options *, const struct listing *, struct ub_error *);

static print_listing printer_of(const struct ub_options *options)
{
    static const struct {
        enum ub_format format;
        print_listing print;
    } printers[] = {{UB_FORMAT_HUMAN, print_human}, {UB_FORMAT_JSON, print_json}, {UB_FORMAT_CSV, print_csv}};
    const enum ub_format format = options->json ? UB_FORMAT_JSON : options->format;
    for (size_t i = 0; i < sizeof printers / sizeof printers[0]; i++)
        if (printers[i].format == format)
            return printers[i].print;
    return NULL;
}

enum ub_status ub_cmd_metrics(struct ub_options *options, struct ub_error *err)
{
    struct listing listing = {.chip = NULL};
    const print_listing print = printer_of(options);
    if (!print)
        ub_fail(err, UB_USAGE, "metrics prints human, json or csv (-f)");
    const bool printed = print && choose_chip(options, &listing.chip, err) && fill(options, &listing, err) &&
                         print(options, &listing, err) && ub_stream_done(stdout, err);
    free(listing.rows);
    return printed ? UB_OK : err->status;
}
