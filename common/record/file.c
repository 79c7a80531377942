#include "common/record/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"

int pfr_dir_make(const char *path)
{
    char part[PATH_MAX];
    int fd;

    if ((size_t)snprintf(part, sizeof(part), "%s", path) >= sizeof(part))
        return -ENAMETOOLONG;
    for (char *p = part + 1; *p; p++) {
        int error;

        if (*p != '/')
            continue;
        *p = '\0';
        error = mkdir(part, 0777) < 0 ? errno : 0;
        if (error && error != EEXIST && access(part, F_OK) < 0)
            return -error; /* not access's: that says only that it is not there */
        *p = '/';
    }
    if (mkdir(part, 0777) < 0 && errno != EEXIST)
        return -errno;
    fd = open(part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int pfr_dir_make_in(const char *path, const char *name)
{
    PFR_AUTO_FD parent = pfr_dir_make(path);
    int fd;

    if (parent < 0)
        return parent;
    if (mkdirat(parent, name, 0777) < 0 && errno != EEXIST)
        return -errno;
    fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int pfr_new_file_open(struct pfr_new_file *file, int dirfd, const char *name)
{
    file->dirfd = dirfd;
    snprintf(file->name, sizeof(file->name), "%s", name);
    if ((size_t)snprintf(file->temporary, sizeof(file->temporary), ".%s.tmp", name) > NAME_MAX)
        return -ENAMETOOLONG;
    unlinkat(dirfd, file->temporary, 0); /* left by one that was killed */
    file->fd = openat(dirfd, file->temporary,
                      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    return file->fd < 0 ? -errno : 0;
}

void pfr_new_file_abandon(struct pfr_new_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
    unlinkat(file->dirfd, file->temporary, 0);
}

int pfr_new_file_commit(struct pfr_new_file *file)
{
    int r = fsync(file->fd) < 0 ? -errno : 0;

    if (r == 0 && renameat(file->dirfd, file->temporary, file->dirfd, file->name) < 0)
        r = -errno;
    if (r < 0) {
        pfr_new_file_abandon(file);
        return r;
    }
    close(file->fd);
    fsync(file->dirfd); /* some file systems cannot; the rename stands */
    return 0;
}

int pfr_file_replace(int dirfd, const char *name, const void *data, size_t length)
{
    struct pfr_new_file file;
    int r = pfr_new_file_open(&file, dirfd, name);

    if (r < 0)
        return r;
    r = pfr_fd_write_all(file.fd, data, length);
    if (r < 0) {
        pfr_new_file_abandon(&file);
        return r;
    }
    return pfr_new_file_commit(&file);
}

/* O_NONBLOCK: a FIFO put in the file's place must not hold us. */
#define APPEND (O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK)

int pfr_file_append(int dirfd, const char *name)
{
    PFR_AUTO_FD fd = openat(dirfd, name, APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    struct stat st;

    if (fd >= 0)
        return pfr_take_fd(&fd); /* new, so ours: a server may call its owner something else */
    if (errno == EEXIST)
        fd = openat(dirfd, name, APPEND | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode))
        return -EINVAL;
    return st.st_uid == geteuid() && st.st_nlink == 1 ? pfr_take_fd(&fd) : -EPERM;
}
