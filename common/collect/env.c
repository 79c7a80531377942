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
    env->arg = NULL;
    env->clock_ticks = sysconf(_SC_CLK_TCK);
    if (env->clock_ticks <= 0) {
        env->clock_ticks = 100;
        pfr_info("the clock tick rate is not known; CPU times assume 100 per second");
    }
    env->mem_total = read_mem_total(env);
}
