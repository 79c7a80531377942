#include "common/base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"

static unsigned long reads;

unsigned long pfr_fd_reads(void)
{
    return reads;
}

bool pfr_errno_is_gone(int error)
{
    return error == ENOENT || error == ESRCH || error == ENODEV;
}

ssize_t pfr_fd_pread_text(int fd, char *buf, size_t size)
{
    size_t used = 0;

    while (used < size - 1) {
        ssize_t n = pread(fd, buf + used, size - 1 - used, (off_t)used);

        reads++;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            buf[0] = '\0';
            return pfr_errno_is_gone(errno) ? 0 : -errno;
        }
        if (n == 0)
            break;
        used += (size_t)n;
        /*
         * The kernel's text files end with a newline and come whole in one
         * read while they fit a page: the second read, which would only say
         * "end of file", is spared.
         */
        if (buf[used - 1] == '\n' && used < 3072)
            break;
    }
    buf[used] = '\0';
    if (used == 0)
        return -ENODATA;
    return used == size - 1 ? -ENOBUFS : (ssize_t)used;
}

ssize_t pfr_file_read_text(int dirfd, const char *path, char *buf, size_t size)
{
    PFR_AUTO_FD fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        buf[0] = '\0';
        return pfr_errno_is_gone(errno) ? 0 : -errno;
    }
    return pfr_fd_pread_text(fd, buf, size);
}

int pfr_file_open_foreign(int dirfd, const char *path, struct stat *status)
{
    PFR_AUTO_FD fd = -1;

    if (fstatat(dirfd, path, status, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    if (!S_ISREG(status->st_mode))
        return -EINVAL;
    fd = openat(dirfd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return errno == ELOOP ? -EINVAL : -errno;
    if (fstat(fd, status) < 0)
        return -errno;
    return S_ISREG(status->st_mode) ? pfr_take_fd(&fd) : -EINVAL; /* it may have been replaced */
}

int pfr_fd_write_all(int fd, const void *data, size_t length)
{
    const char *p = data;

    while (length > 0) {
        ssize_t n = write(fd, p, length);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        p += n;
        length -= (size_t)n;
    }
    return 0;
}
