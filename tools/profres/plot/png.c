#include "tools/profres/plot/png.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/fd.h"
#include "common/base/log.h"

/* A picture takes a second or two. */
#define WAIT_NS (60 * INT64_C(1000000000))

extern char **environ;

static int start(int in, int out, pid_t *pid)
{
    char name[] = "rsvg-convert", format[] = "--format=png", zoom[] = "--zoom=1.5";
    char *argv[] = { name, format, zoom, NULL };
    posix_spawn_file_actions_t actions;
    int r = posix_spawn_file_actions_init(&actions);

    if (r != 0)
        return -r;
    posix_spawn_file_actions_adddup2(&actions, in, 0);
    posix_spawn_file_actions_adddup2(&actions, out, 1);
    r = posix_spawnp(pid, name, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return -r;
}

static int await(pid_t pid)
{
    int64_t end = pfr_clock_ns(CLOCK_MONOTONIC) + WAIT_NS;
    int status;
    pid_t r;

    while ((r = waitpid(pid, &status, WNOHANG)) == 0 || (r < 0 && errno == EINTR)) {
        if (pfr_clock_ns(CLOCK_MONOTONIC) > end)
            kill(pid, SIGKILL);
        poll(NULL, 0, 5);
    }
    if (r > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    return r > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127 ? -ENOENT : -EIO;
}

static int read_all(int fd, char **data, size_t *size)
{
    struct stat st;
    char *picture;

    if (fstat(fd, &st) < 0)
        return -errno;
    picture = malloc((size_t)st.st_size + 1);
    if (!picture)
        return -ENOMEM;
    if (st.st_size == 0 || pread(fd, picture, (size_t)st.st_size, 0) != st.st_size) {
        free(picture);
        return -EIO;
    }
    free(*data);
    *data = picture;
    *size = (size_t)st.st_size;
    return 0;
}

int pfr_png_make(char **data, size_t *size)
{
    PFR_AUTO_FD in = memfd_create("svg", MFD_CLOEXEC);
    PFR_AUTO_FD out = memfd_create("png", MFD_CLOEXEC);
    pid_t pid;
    int r = in < 0 || out < 0 ? -errno : pfr_fd_write_all(in, *data, *size);

    if (r == 0 && lseek(in, 0, SEEK_SET) < 0)
        r = -errno;
    if (r == 0)
        r = start(in, out, &pid);
    if (r == 0)
        r = await(pid);
    if (r == 0)
        r = read_all(out, data, size);
    if (r == -ENOENT)
        fputs("profres: PNG is made by rsvg-convert, which is not here; install librsvg2-bin "
              "(Debian)\nor librsvg2-tools (Fedora, RHEL), or write a .svg file instead\n",
              stderr);
    else if (r < 0)
        pfr_error("rsvg-convert could not make the picture: %s; a .svg file can be written",
                  strerror(-r));
    return r;
}
