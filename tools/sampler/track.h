/*
 * Which processes belong to the step, and whether any is left (R20): the
 * members of its cgroup and of all below, or else the descendants of the
 * process that started it.
 */
#ifndef PFR_SAMPLER_TRACK_H
#define PFR_SAMPLER_TRACK_H

#include "common/collect/cgpath.h"
#include "common/collect/subtree.h"

struct pfr_track {
    const struct pfr_env *env;
    bool by_cgroup;
    bool reopen; /* v1: see list_cgroup */
    struct pfr_subtree subtree;
    int proc_fd;
    pid_t root; /* its descendants, but not us */
    pid_t *pids;
    uint32_t count, capacity;
    struct pfr_kin { pid_t pid, parent; int member; } *kin;
    uint32_t kin_count, kin_capacity;
    char text[65536];
};

/*
 * By cgroup when the target has a scoped one, else by descent from root.
 * 0 or -errno.
 */
int pfr_track_open(struct pfr_track *track, const struct pfr_env *env,
                   const struct pfr_cgtarget *target, pid_t root);
void pfr_track_release(struct pfr_track *track);

/* "cgroup v1", "cgroup v2", "process tree" */
const char *pfr_track_source(const struct pfr_track *track, const struct pfr_cgtarget *target);

/* Fills track->pids. 1 when there are any, 0 when there are none, -errno. */
int pfr_track_list(struct pfr_track *track);

#endif
