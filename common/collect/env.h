/*
 * Where the kernel is: the roots that every reader starts from, and the clock.
 * Fixtures and the live system run the same code; only this differs.
 */
#ifndef PFR_COLLECT_ENV_H
#define PFR_COLLECT_ENV_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct pfr_env {
    const char *root;    /* put before every absolute path; "" is the live system */
    char proc[PATH_MAX]; /* root + "/proc" */
    int64_t (*now)(clockid_t clock, void *arg);
    int64_t (*cpu_clock)(pid_t pid, void *arg); /* ns or -1; NULL in a fixture */
    void *arg;
    int64_t clock_ticks; /* per second, of /proc/PID/stat (R48, R49) */
    int64_t mem_total;   /* bytes of the node; 0 = not known */
};

/* root must outlive env. Reads the tick rate and the node's memory. */
void pfr_env_init(struct pfr_env *env, const char *root);

static inline int64_t pfr_env_now(const struct pfr_env *env, clockid_t clock)
{
    return env->now(clock, env->arg);
}

#endif
