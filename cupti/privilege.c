/* SPDX-License-Identifier: MIT */
#include "cupti/privilege.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CAP_SYS_ADMIN_BIT = 21, CAP_PERFMON_BIT = 38 }; /* linux/capability.h */

/* The text after "name:" at the start of a line, or NULL. */
static const char *value_of(const char *text, const char *name)
{
    const size_t length = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ':')
            return line + length + 1;
    }
    return NULL;
}

/* Current drivers publish RmProfilingAdminOnly, older ones the module option's
 * own name. Either may be absent, so both are looked for. */
static int admin_only(const char *params)
{
    static const char *const names[] = {"RmProfilingAdminOnly", "NVreg_RestrictProfilingToAdminUsers",
                                        "RestrictProfilingToAdminUsers"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = value_of(params, names[i]);
        if (value)
            return strtol(value, NULL, 10) != 0;
    }
    return -1;
}

void ub_cupti_privilege_parse(const char *params, const char *status, struct ub_cupti_privilege *out)
{
    *out = (struct ub_cupti_privilege){.admin_only = admin_only(params)};
    const char *effective = value_of(status, "CapEff");
    if (!effective)
        return;
    const unsigned long long bits = strtoull(effective, NULL, 16);
    out->capabilities_known = true;
    out->sys_admin = bits >> CAP_SYS_ADMIN_BIT & 1;
    out->perfmon = bits >> CAP_PERFMON_BIT & 1;
}

static void read_file(const char *path, char *text, size_t size)
{
    size_t length = 0;
    FILE *file = fopen(path, "r");
    if (file) {
        length = fread(text, 1, size - 1, file);
        fclose(file);
    }
    text[length] = 0;
}

void ub_cupti_privilege_read(struct ub_cupti_privilege *out)
{
    char params[8192], status[8192];
    read_file("/proc/driver/nvidia/params", params, sizeof params);
    read_file("/proc/self/status", status, sizeof status);
    ub_cupti_privilege_parse(params, status, out);
    out->container = access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0 ||
                     getenv("KUBERNETES_SERVICE_HOST") != NULL || getenv("container") != NULL;
}

void ub_cupti_privilege_text(const struct ub_cupti_privilege *privilege, char *text, size_t size)
{
    static const char *const demands[] = {"RmProfilingAdminOnly is not published", "RmProfilingAdminOnly 0",
                                          "RmProfilingAdminOnly 1"};
    const char *admin = !privilege->capabilities_known ? ""
                        : privilege->sys_admin         ? ", CAP_SYS_ADMIN"
                                                       : ", no CAP_SYS_ADMIN";
    const char *perfmon = !privilege->capabilities_known ? ""
                          : privilege->perfmon           ? ", CAP_PERFMON"
                                                         : ", no CAP_PERFMON";
    snprintf(text, size, "as seen here: %s%s%s%s", demands[privilege->admin_only + 1], admin, perfmon,
             privilege->container ? "; in a container add --cap-add=SYS_ADMIN and be root inside, and expect that "
                                    "rented containers never allow it"
                                  : "");
}
