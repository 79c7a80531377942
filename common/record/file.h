/* Files in a user's directory: never through a link, replaced whole or not at all. */
#ifndef PFR_RECORD_FILE_H
#define PFR_RECORD_FILE_H

#include <limits.h>
#include <stddef.h>

/*
 * Makes the directory and those above it. A directory fd, or -errno. The last
 * component must not be a symbolic link.
 */
int pfr_dir_make(const char *path);

/*
 * The directory `name` in that of `path`, both made when missing; neither is
 * followed when it is a symbolic link, for the path of a job's files can be
 * foreseen by others. A path with a '/' at its end says that it may be one.
 */
int pfr_dir_make_in(const char *path, const char *name);

/*
 * A file that takes the place of dirfd/name when it is whole: temporary file,
 * fsync, rename, fsync of the directory (R72). Until the commit, and after a
 * failed one, the old file is as it was.
 */
struct pfr_new_file {
    int dirfd, fd;
    char name[NAME_MAX + 1], temporary[NAME_MAX + 8];
};

/* 0 or -errno. Each open is followed by one commit or one abandon. */
int pfr_new_file_open(struct pfr_new_file *file, int dirfd, const char *name);
int pfr_new_file_commit(struct pfr_new_file *file);
void pfr_new_file_abandon(struct pfr_new_file *file);

/* The same for contents in memory. 0 or -errno. */
int pfr_file_replace(int dirfd, const char *name, const void *data, size_t length);

/*
 * Opens dirfd/name to append and read back, made if need be. -EINVAL when it
 * is no regular file, -EPERM when it is another user's or has a second name.
 */
int pfr_file_append(int dirfd, const char *name);

#endif
