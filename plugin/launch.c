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
    alarm(PFR_LAUNCH_SECONDS);
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

/* slurmstepd would take a child of its own for a task: make it init's. */
static void fork_outside(const char *path, char *const argv[], int control, int tell,
                         const struct pfr_outside *outside)
{
    pid_t child = -1;

    if (move_out(outside) && (child = fork()) == 0)
        become_sampler(path, argv, control);
    if (child > 0 && write(tell, &child, sizeof(child)) < 0)
        _exit(1);
    _exit(0);
}

pid_t pfr_launch(const char *path, char *const argv[], int control,
                 const struct pfr_outside *outside)
{
    pid_t child, sampler = -EBUSY;
    int fds[2];

    if (pipe2(fds, O_CLOEXEC) < 0)
        return -errno;
    child = fork();
    if (child == 0)
        fork_outside(path, argv, control, fds[1], outside);
    if (child < 0)
        sampler = -errno;
    close(fds[1]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    if (child > 0 && read(fds[0], &sampler, sizeof(sampler)) != sizeof(sampler))
        sampler = -EBUSY;
    close(fds[0]);
    return sampler;
}
