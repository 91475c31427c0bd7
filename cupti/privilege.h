/* SPDX-License-Identifier: MIT
 *
 * Who may read counters here: what the driver demands and what this process has.
 * Effective capabilities are read, not the user id, since root in a container
 * may lack them and others may hold them. */
#ifndef UB_CUPTI_PRIVILEGE_H
#define UB_CUPTI_PRIVILEGE_H

#include <stdbool.h>
#include <stddef.h>

struct ub_cupti_privilege {
    int admin_only;          /* 1: the driver lets only administrators; 0: everybody; -1: not known */
    bool capabilities_known; /* /proc/self/status had a CapEff line */
    bool sys_admin, perfmon; /* CAP_SYS_ADMIN (bit 21), CAP_PERFMON (bit 38) are effective */
    bool container;          /* signs of Docker, Podman, Kubernetes */
};

/* From the texts of /proc/driver/nvidia/params and /proc/self/status; either may
 * be empty. */
void ub_cupti_privilege_parse(const char *params, const char *status, struct ub_cupti_privilege *out);

/* Reads both files and looks for a container. */
void ub_cupti_privilege_read(struct ub_cupti_privilege *out);

/* "as seen here: RmProfilingAdminOnly 1, no CAP_SYS_ADMIN, no CAP_PERFMON; in a
 * container add --cap-add=SYS_ADMIN and be root inside" */
void ub_cupti_privilege_text(const struct ub_cupti_privilege *privilege, char *text, size_t size);

#endif
