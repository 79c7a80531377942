#include "common/collect/peak.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"
#include "common/collect/shape.h"

/* Any text will do. */
static int reset(int fd)
{
    if (pwrite(fd, "reset\n", 6, 0) == 6)
        return 1;
    return errno == EINVAL ? -EOPNOTSUPP : -errno;
}

int pfr_peak_open(const char *path)
{
    PFR_AUTO_FD fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
    struct statfs fs;
    struct stat st;

    if (fd < 0 && errno == EACCES && stat(path, &st) == 0 && !(st.st_mode & S_IWUSR))
        return -EOPNOTSUPP; /* one that root can open all the same, but not write to */
    if (fd < 0)
        return -errno;
    if (fstatfs(fd, &fs) < 0)
        return -errno;
    return fs.f_type == CGROUP2_SUPER_MAGIC ? pfr_take_fd(&fd) : -EOPNOTSUPP;
}

int pfr_peak_begin(struct pfr_peak *peak, int fd)
{
    int r = reset(fd);

    *peak = (struct pfr_peak){ .fd = r > 0 ? fd : -1, .most = -1 };
    if (r < 0)
        close(fd);
    return r;
}

void pfr_peak_release(struct pfr_peak *peak)
{
    if (peak->fd >= 0)
        close(peak->fd);
    peak->fd = -1;
}

int pfr_peak_read(struct pfr_peak *peak)
{
    char text[32];
    int64_t value;
    int r = (int)pfr_fd_pread_text(peak->fd, text, sizeof(text));

    if (r <= 0)
        return r < 0 ? r : -ENODATA;
    if (pfr_shape_single(text, &value) <= 0)
        return -EINVAL;
    if (value > peak->most)
        peak->most = value;
    return 1;
}

/* The cgroup may have gone: then what was read before it did is the peak. */
int pfr_peak_take(struct pfr_peak *peak, int64_t *value)
{
    if (pfr_peak_read(peak) > 0)
        reset(peak->fd);
    if (peak->most < 0)
        return 0;
    *value = peak->most;
    peak->most = -1;
    return 1;
}
