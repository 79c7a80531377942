#include "common/collect/env.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fd.h"
#include "common/base/log.h"
#include "common/collect/shape.h"

static int64_t live_now(clockid_t clock, void *arg)
{
    (void)arg;
    return pfr_clock_ns(clock);
}

/* The kernel's number for the CPU clock of a process, as clock_getcpuclockid() makes it. */
static int64_t live_cpu_clock(pid_t pid, void *arg)
{
    struct timespec t;

    (void)arg;
    if (clock_gettime((clockid_t)(~(unsigned)pid << 3 | 2), &t) < 0)
        return -1;
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t read_mem_total(const struct pfr_env *env)
{
    char path[PATH_MAX + 16], text[8192];
    const char *cursor = text;
    int64_t kb = 0;

    snprintf(path, sizeof(path), "%s/meminfo", env->proc);
    pfr_file_read_text(AT_FDCWD, path, text, sizeof(text));
    return pfr_shape_flat(text, &cursor, "MemTotal:", PFR_KB, &kb) > 0 ? kb : 0;
}

void pfr_env_init(struct pfr_env *env, const char *root)
{
    env->root = root;
    snprintf(env->proc, sizeof(env->proc), "%s/proc", root);
    env->now = live_now;
    env->cpu_clock = root[0] ? NULL : live_cpu_clock;
    env->arg = NULL;
    env->clock_ticks = sysconf(_SC_CLK_TCK);
    if (env->clock_ticks <= 0) {
        env->clock_ticks = 100;
        pfr_info("the clock tick rate is not known; CPU times assume 100 per second");
    }
    env->mem_total = read_mem_total(env);
}
