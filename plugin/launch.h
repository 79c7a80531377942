/* Starting the sampler from a process with many threads, and letting it go. */
#ifndef PFR_PLUGIN_LAUNCH_H
#define PFR_PLUGIN_LAUNCH_H

#include <sys/types.h>

#define PFR_OUTSIDE_MAX 12

/* Files to write oneself into to be out of the step, one for each hierarchy. */
struct pfr_outside {
    char path[PFR_OUTSIDE_MAX][2048];
    int count;
};

/*
 * Executes path with argv as a grandchild that was born outside: the child
 * between us moves before it forks, and we wait for that child, so nothing of
 * ours is in the step when this returns. When it cannot move, nothing runs.
 * The grandchild is in a session of its own, without
 * our descriptors (but control, as its descriptor 3), signal mask, directory
 * or environment. Its pid, or -errno (-EBUSY: it could not move); that it could
 * not be executed is seen by the closing of the other end of control. The pid is
 * nobody else's as long as that has not closed.
 */
pid_t pfr_launch(const char *path, char *const argv[], int control,
                 const struct pfr_outside *outside);

#define PFR_LAUNCH_CONTROL "3"

/*
 * What is executed has so many seconds to prove that it is a sampler, by turning
 * its alarm off: a program that is none, and would stay for ever, is ended by it.
 */
#define PFR_LAUNCH_SECONDS 10

#endif
