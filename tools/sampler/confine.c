#include "tools/sampler/confine.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"

/* Measured with 4,096 processes: see docs/security.md. */
#define MOST_MEMORY (512 << 20)

/* The largest file is a series with that of an earlier run before it: 21 MB. */
#define MOST_FILE (64 << 20)

/* Below the tasks, if they are not below us already. */
#define NICE 5

/* The sanitizers map terabytes; nothing else needs to be told from them. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BOUND_MEMORY 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define BOUND_MEMORY 0
#endif
#endif
#ifndef BOUND_MEMORY
#define BOUND_MEMORY 1
#endif

void pfr_confine_early(const struct pfr_env *env)
{
    char path[sizeof(env->proc) + 32];
    PFR_AUTO_FD fd = -1;

    /* slurmstepd, whose this is, is exempt from the OOM killer */
    snprintf(path, sizeof(path), "%s/self/oom_score_adj", env->proc);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0)
        pfr_fd_write_all(fd, "1000", 4);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    for (unsigned long capability = 0; capability < 64; capability++)
        prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
}

/* Never above what it is. */
static void bound(__rlimit_resource_t resource, rlim_t most)
{
    struct rlimit limit;

    if (getrlimit(resource, &limit) < 0)
        return;
    if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > most)
        limit.rlim_max = most;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(resource, &limit);
}

void pfr_confine(void)
{
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* fs.suid_dumpable may have made us traceable */
    signal(SIGALRM, SIG_DFL); /* it may have come to us ignored */
    bound(RLIMIT_CORE, 0);
    bound(RLIMIT_NPROC, 0);
    bound(RLIMIT_FSIZE, MOST_FILE);
    bound(RLIMIT_NOFILE, PFR_CONFINE_FDS);
    if (BOUND_MEMORY)
        bound(RLIMIT_AS, MOST_MEMORY);
    if (getpriority(PRIO_PROCESS, 0) < NICE)
        setpriority(PRIO_PROCESS, 0, NICE);
}

void pfr_confine_deadline(unsigned seconds)
{
    alarm(seconds);
}
