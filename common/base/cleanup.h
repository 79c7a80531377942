/* Scope-bound cleanup, so that no function needs a ladder of gotos. */
#ifndef PFR_BASE_CLEANUP_H
#define PFR_BASE_CLEANUP_H

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Keeps errno: a cleanup must not change the error that is being returned. */
static inline void pfr_cleanup_fd(int *fd)
{
    if (*fd >= 0) {
        int saved = errno;

        close(*fd);
        errno = saved;
    }
}

static inline void pfr_cleanup_free(void *pointer)
{
    free(*(void **)pointer);
}

static inline void pfr_cleanup_file(FILE **file)
{
    if (*file)
        fclose(*file);
}

static inline void pfr_cleanup_dir(DIR **dir)
{
    if (*dir)
        closedir(*dir);
}

#define PFR_CLEANUP(function) __attribute__((cleanup(function)))
#define PFR_AUTO_FD PFR_CLEANUP(pfr_cleanup_fd) int
#define PFR_AUTO_FREE PFR_CLEANUP(pfr_cleanup_free)
#define PFR_AUTO_FILE PFR_CLEANUP(pfr_cleanup_file) FILE
#define PFR_AUTO_DIR PFR_CLEANUP(pfr_cleanup_dir) DIR

/* Hands the fd to the caller; the variable's cleanup then does nothing. */
static inline int pfr_take_fd(int *fd)
{
    int taken = *fd;

    *fd = -1;
    return taken;
}

#define PFR_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
