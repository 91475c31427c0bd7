/* SPDX-License-Identifier: MIT */
#include "harness/engine/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

bool ub_lock_try(struct ub_lock *lock, const char *gpu, struct ub_error *err)
{
    char path[512];
    /* One folder for all users, so not TMPDIR, which may be a user's own. */
    const char *folder = getenv("UBENCH_LOCK_DIR");
    snprintf(path, sizeof path, "%s/ubench-%s.lock", folder && *folder ? folder : "/tmp", gpu);
    for (char *c = strrchr(path, '/') + 1; *c; c++)
        if (*c == '/' || *c == ':')
            *c = '_';
    if (lock->file < 0) {
        /* Readable by all, so that runs of different users see each other. A file that is
         * there is opened without O_CREAT: in a sticky folder the kernel refuses that for
         * another user's file (fs.protected_regular). */
        lock->file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (lock->file < 0)
            lock->file = open(path, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0444);
        if (lock->file < 0) {
            ub_fail(err, UB_OK, "cannot open the lock file %s (%s): runs at the same time are not noticed", path,
                    strerror(errno));
            return true;
        }
    }
    return flock(lock->file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

void ub_lock_drop(struct ub_lock *lock)
{
    if (lock->file >= 0)
        close(lock->file);
    lock->file = -1;
}
