/* Whole-file reads and writes on file descriptors. */
#ifndef PFR_BASE_FD_H
#define PFR_BASE_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Read from offset 0 up to end of file into buf, NUL-terminated.
 * > 0 the length, 0 what it spoke of has gone (ENOENT, ESRCH, ENODEV),
 * < 0 -errno: -ENODATA for an empty file, -ENOBUFS when it does not fit (buf
 * then holds the beginning).
 */
ssize_t pfr_fd_pread_text(int fd, char *buf, size_t size);

/* The same for a path relative to dirfd, opened and closed. */
ssize_t pfr_file_read_text(int dirfd, const char *path, char *buf, size_t size);

struct stat;

/*
 * Opens a file of somebody else for reading. The descriptor and its status, or
 * -errno: -EINVAL for what is no regular file, also a link, which may lead to a
 * device: opening one can act on it.
 */
int pfr_file_open_foreign(int dirfd, const char *path, struct stat *status);

/* 0 or -errno; short writes are continued. */
int pfr_fd_write_all(int fd, const void *data, size_t length);

/* ENOENT, ESRCH, ENODEV: the thing has gone, which is not an error here. */
bool pfr_errno_is_gone(int error);

/* Reads done by the two functions above since the program's start. */
unsigned long pfr_fd_reads(void);

#endif
