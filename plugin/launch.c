#include "plugin/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* All above `first`: an inherited pipe would keep srun waiting for us. */
static void close_from(unsigned first)
{
    struct rlimit limit;

#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, ~0u, 0) == 0)
        return;
#endif
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur > 65536)
        limit.rlim_cur = 65536;
    for (unsigned fd = first; fd < limit.rlim_cur; fd++)
        close((int)fd);
}

/* slurmstepd blocks some signals, which ones depends on its version. */
static void reset_signals(void)
{
    struct sigaction action = { .sa_handler = SIG_DFL };
    sigset_t none;

    for (int i = 1; i < 32; i++)
        sigaction(i, &action, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Only calls that are safe after the fork of a threaded process. */
static void become_sampler(const char *path, char *const argv[], int control)
{
    char *environment[] = { NULL };
    int null;

    setsid();
    reset_signals();
    if (dup2(control, 3) < 0) /* lint: cloexec: to be inherited */
        _exit(127);
    /* lint: cloexec: to be inherited */
    null = open("/dev/null", O_RDWR);
    if (null < 0)
        _exit(127);
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd); /* lint: cloexec: to be inherited */
    close_from(4);
    if (chdir("/") < 0)
        _exit(127);
    execve(path, argv, environment);
    _exit(127);
}

/* "0" is the writer itself. Only calls that are safe here. */
static bool move_out(const struct pfr_outside *outside)
{
    for (int i = 0; i < outside->count; i++) {
        int fd = open(outside->path[i], O_WRONLY | O_CLOEXEC);

        if (fd < 0 || write(fd, "0", 1) != 1)
            return false;
        close(fd);
    }
    return true;
}

int pfr_launch(const char *path, char *const argv[], int control,
               const struct pfr_outside *outside)
{
    pid_t child = fork();
    int status = 0;

    if (child < 0)
        return -errno;
    if (child == 0) {
        if (!move_out(outside))
            _exit(1);
        /* slurmstepd would take a child of its own for a task: make it init's */
        if (fork() == 0)
            become_sampler(path, argv, control);
        _exit(0);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EBUSY;
}
