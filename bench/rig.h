/* A session driven by hand: no loop, no sleeping, and a clock that is told the time. */
#ifndef PFR_BENCH_RIG_H
#define PFR_BENCH_RIG_H

#include "tools/sampler/session.h"

struct pfr_rig {
    struct pfr_session session;
    int64_t base[16]; /* by clock id, when the rig was made */
    int64_t passed;   /* simulated nanoseconds since then */
};

/*
 * Starts a session on the cgroups (or else the descendants) of pid with the
 * sampler's own defaults; files go below dir. Says why not on stderr and ends
 * the program.
 */
void pfr_rig_start(struct pfr_rig *rig, pid_t pid, const char *dir, int64_t interval);

/* Moves the clock to the sampler's next deadline and samples, as loop.c does. */
void pfr_rig_tick(struct pfr_rig *rig);

void pfr_rig_release(struct pfr_rig *rig);

/* CPU time of this process so far, in nanoseconds. */
int64_t pfr_rig_cpu(void);

#endif
