#include "tools/sampler/leave.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"

static int write_text(const char *path, const char *text)
{
    PFR_AUTO_FD fd = open(path, O_WRONLY | O_CLOEXEC);

    return fd < 0 ? -errno : pfr_fd_write_all(fd, text, strlen(text));
}

/* One hierarchy; 0 also when there is nothing to leave in it. */
static int leave_one(const struct pfr_cgdir *dir, bool v2)
{
    char path[3 * PFR_CGPATH_SIZE], pid[16];
    int r = pfr_cgdir_outside(dir, v2, path, sizeof(path));

    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    return r > 0 ? write_text(path, pid) : r;
}

int pfr_leave_step(const struct pfr_env *env)
{
    PFR_AUTO_FREE struct pfr_cgtarget *own = calloc(1, sizeof(*own));
    int r;

    if (!own)
        return -ENOMEM;
    r = pfr_cgtarget_resolve(env, getpid(), getpid(), PFR_LEVEL_OWN, own);
    for (int i = 0; i < PFR_CONTROLLER_COUNT && r == 0; i++)
        r = leave_one(&own->dirs[i], i == PFR_UNIFIED);
    return r;
}

int pfr_become_user(uid_t uid, gid_t gid, const gid_t *groups, size_t count)
{
    if (setgroups(count, groups) < 0 || setresgid(gid, gid, gid) < 0 ||
        setresuid(uid, uid, uid) < 0)
        return -errno;
    if (uid != 0 && setuid(0) == 0)
        return -EPERM; /* it did not take: nothing is done as root */
    return 0;
}
