/*
 * Where a process is in the cgroup trees: per controller on v1, one place on
 * v2, both on a hybrid host (R39, R40). Found from the process and the mount
 * table, never built from a job id.
 */
#ifndef PFR_COLLECT_CGPATH_H
#define PFR_COLLECT_CGPATH_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/collect/env.h"

enum pfr_controller {
    PFR_UNIFIED, /* all of v2, or the v2 side of a hybrid host */
    PFR_MEMORY,
    PFR_CPU,
    PFR_CPUACCT,
    PFR_BLKIO,
    PFR_PIDS,
    PFR_FREEZER,
    PFR_CPUSET,
    PFR_DEVICES,
    PFR_CONTROLLER_COUNT
};

#define PFR_CGPATH_SIZE 1024

struct pfr_cgdir {
    char path[PFR_CGPATH_SIZE];  /* as in /proc/PID/cgroup; "" = no such hierarchy */
    char dir[PFR_CGPATH_SIZE];   /* the directory, root included; "" = not reachable */
    char mount[PFR_CGPATH_SIZE]; /* where its hierarchy is mounted, root included */
    bool scoped;                 /* holds the step and not us: may be read */
    char reason[96];             /* why it is not scoped */
};

/* Files of a target that were opened by someone who may do more than we. */
struct pfr_handed {
    struct {
        char name[32];
        int fd; /* -1 once it is in use */
    } files[4];
    int count;
};

struct pfr_cgtarget {
    struct pfr_cgdir dirs[PFR_CONTROLLER_COUNT];
    struct pfr_handed *handed; /* NULL: none */
};

const char *pfr_controller_name(enum pfr_controller controller);

/* "none", "v1", "v2" or "hybrid", by what the scoped directories are. */
const char *pfr_cgtarget_mode(const struct pfr_cgtarget *target);

enum pfr_level {
    PFR_LEVEL_OWN,  /* the process's own cgroup */
    PFR_LEVEL_STEP, /* the Slurm step's above it, where there is one (level.h) */
};

/*
 * The cgroups of pid. A cgroup that also holds `outsider` (the profiler), be
 * it the root or one they share, would measure others too: it is not scoped.
 * 0 or -errno when the process or the mount table cannot be read.
 */
int pfr_cgtarget_resolve(const struct pfr_env *env, pid_t pid, pid_t outsider,
                         enum pfr_level level, struct pfr_cgtarget *target);

/* What is not narrower than in `wider` is not scoped: a task without a cgroup of its own. */
void pfr_cgtarget_narrow(struct pfr_cgtarget *target, const struct pfr_cgtarget *wider);

/*
 * The cgroup.procs file of the place outside the step that this directory is
 * in (level.h): 1 and path, 0 when there is nothing to leave, -EXDEV when the
 * place is not below what is mounted.
 */
int pfr_cgdir_outside(const struct pfr_cgdir *dir, bool v2, char *path, size_t size);

#endif
