/* SPDX-License-Identifier: MIT */
#include "harness/cli/run_folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/engine/plan.h"

bool ub_run_folder_named(const struct ub_options *options)
{
    const char *path = options->output;
    struct stat status;
    const size_t length = path ? strlen(path) : 0;
    return length > 0 && (path[length - 1] == '/' || (stat(path, &status) == 0 && S_ISDIR(status.st_mode)));
}

bool ub_run_folder_make(const char *folder, bool *made, struct ub_error *err)
{
    struct stat status;
    *made = mkdir(folder, 0777) == 0;
    if (*made || (errno == EEXIST && stat(folder, &status) == 0 && S_ISDIR(status.st_mode)))
        return true;
    return ub_fail(err, UB_CANNOT_WRITE, "cannot make the folder %s: %s", folder, strerror(errno));
}

static size_t add_once(const char **rules, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rules[i], name) == 0)
            return count;
    rules[count] = name;
    return count + 1;
}

size_t ub_run_folder_rules(const struct ub_options *options, const char **rules, struct ub_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < options->operand_count; i++) {
        if (strcmp(options->operands[i], "all") == 0) {
            for (size_t j = 0; j < ub_entry_count; j++)
                count = add_once(rules, count, ub_entries[j].micro->name);
            continue;
        }
        const struct ub_entry *entry = ub_registry_find(options->operands[i], err);
        if (!entry)
            return 0;
        count = add_once(rules, count, entry->micro->name);
    }
    if (count == 0)
        ub_fail(err, UB_USAGE, "run needs the name of a rule, or all; ubench list names them");
    return count;
}

bool ub_run_folder_record(const struct ub_options *options, const char *rule, char *path, size_t size,
                          struct ub_error *err)
{
    static const char *const endings[] = {
        [UB_FORMAT_HUMAN] = "json",  [UB_FORMAT_JSON] = "json",   [UB_FORMAT_CSV] = "csv",
        [UB_FORMAT_MARKDOWN] = "md", [UB_FORMAT_GBENCH] = "json", [UB_FORMAT_OPENMETRICS] = "txt"};
    const char *folder = options->output;
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    if ((size_t)snprintf(path, size, "%s%s%s.%s", folder, slash, rule, endings[options->format]) < size)
        return true;
    return ub_fail(err, UB_CANNOT_WRITE, "cannot write into %.60s...: %s", folder, strerror(ENAMETOOLONG));
}
