/*
 * The cgroup that profres run makes for its command, where it may: on v1 in
 * each hierarchy that accounts something, on v2 in the nearest place that
 * lets us and has the memory controller. Nothing else of the host is changed.
 */
#ifndef PFR_PROFRES_CAGE_H
#define PFR_PROFRES_CAGE_H

#include <stdbool.h>

#include "common/collect/cgpath.h"

struct pfr_cage {
    bool by_hand;                  /* on v1, too: libcgroup is not used */
    bool v1[PFR_CONTROLLER_COUNT]; /* in which hierarchies it was made */
    char v2[PFR_CGPATH_SIZE + 64]; /* "": not made */
    struct pfr_cgtarget own;       /* where we are */
};

/*
 * Makes what it can; on v1 with libcgroup, or without it where it was not built in, does
 * not work or is not wanted (by_hand). The number of hierarchies, 0 when there is none.
 */
int pfr_cage_make(struct pfr_cage *cage, const struct pfr_env *env, bool by_hand);

/* Puts a process in. 0, or -errno and then it is in none of them for sure. */
int pfr_cage_enter(struct pfr_cage *cage, pid_t pid);

/*
 * Removes it; processes that are still there come to where we are. 0, or
 * -EBUSY when a process was still ending in it after two seconds.
 */
int pfr_cage_remove(struct pfr_cage *cage);

#endif
